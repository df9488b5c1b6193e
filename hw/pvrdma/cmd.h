/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of the driver.
 */
#ifndef HW_PVRDMA_CMD_H
#define HW_PVRDMA_CMD_H

#include "rnic/pvrdma/cmd.h"

typedef struct PvrdmaState PvrdmaState;

/*
 * Executes a command.  @resp is zero except for its header.  Returns 0 or a positive
 * errno.
 */
typedef int PvrdmaCmd(PvrdmaState *s, const union pvrdma_cmd_req *req,
                      union pvrdma_cmd_resp *resp);

/*
 * Executes the command in the command slot.  Returns a value for the register ERR: 0 or
 * a positive errno.
 */
int pvrdma_cmd_run(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_query_port, pvrdma_cmd_query_pkey;

#endif /* HW_PVRDMA_CMD_H */
