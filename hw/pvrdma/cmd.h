/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of the driver.
 */
#ifndef HW_PVRDMA_CMD_H
#define HW_PVRDMA_CMD_H

#include "base/command.h"

/*
 * Executes the command in the command slot, and writes the response and raises its
 * interrupt if the driver waits for them.  Returns a value for the register ERR: 0 or a
 * positive errno.
 */
int pvrdma_cmd_run(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_query_port, pvrdma_cmd_query_pkey;

#endif /* HW_PVRDMA_CMD_H */
