/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of the driver.
 */
#ifndef HW_PVRDMA_CMD_H
#define HW_PVRDMA_CMD_H

#include "rnic/pvrdma/regs.h"

typedef struct PvrdmaState PvrdmaState;

/* What is done with a command.  @resp is zeroed but for its header. */
typedef int PvrdmaCmd(PvrdmaState *s, const union pvrdma_cmd_req *req,
                      union pvrdma_cmd_resp *resp);

/* Does what is in the command slot; errno for the register ERR. */
int pvrdma_cmd_run(PvrdmaState *s);

/* Commands. */
PvrdmaCmd pvrdma_cmd_query_port, pvrdma_cmd_query_pkey;

#endif /* HW_PVRDMA_CMD_H */
