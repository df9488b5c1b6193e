/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The type of the functions that execute a command of the driver.  The header of each
 * kind of object declares the functions of its commands; the table of all commands is in
 * cmd.c.
 */
#ifndef HW_PVRDMA_BASE_COMMAND_H
#define HW_PVRDMA_BASE_COMMAND_H

#include "rnic/pvrdma/cmd.h"

typedef struct PvrdmaState PvrdmaState;

/*
 * Executes the command @req, and sets the members of @resp behind the header of @resp.
 * All bytes of @resp are 0 before the call, and the caller sets the header after the
 * call.  @req and @resp have the byte order of guest memory.  Returns 0 or a positive
 * errno.
 */
typedef int PvrdmaCmd(PvrdmaState *s, const union pvrdma_cmd_req *req,
                      union pvrdma_cmd_resp *resp);

#endif /* HW_PVRDMA_BASE_COMMAND_H */
