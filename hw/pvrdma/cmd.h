/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of the driver.
 */
#ifndef HW_PVRDMA_CMD_H
#define HW_PVRDMA_CMD_H

#include "base/command.h"

/*
 * Executes the command in the command slot.  If the command has a response, writes the
 * response to the response slot and raises the interrupt RESPONSE.  After an error only
 * MODIFY_QP has a response.  Returns the value for the register ERR: 0, also if the
 * response contains the error, or a positive errno.  EFAULT: a slot, or memory to
 * which the command refers, cannot be accessed.
 */
int pvrdma_cmd_run(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_query_port, pvrdma_cmd_query_pkey;

#endif /* HW_PVRDMA_CMD_H */
