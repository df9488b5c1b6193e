/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: commands.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

int pvrdma_cmd_run(PvrdmaState *s)
{
    return 0;
}

int pvrdma_cmd_query_port(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_query_pkey(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}
