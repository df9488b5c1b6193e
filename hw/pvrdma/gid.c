/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: GID table.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path)
{
    return false;
}

bool pvrdma_gid_ours(PvrdmaState *s, const uint8_t gid[16])
{
    return false;
}

int pvrdma_cmd_create_bind(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}

int pvrdma_cmd_destroy_bind(PvrdmaState *s, const union pvrdma_cmd_req *req,
    union pvrdma_cmd_resp *resp)
{
    return 0;
}
