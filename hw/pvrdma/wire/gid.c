/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: GID table.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/caps.h"
#include "gid.h"
#include "port.h"
#include "../pvrdma.h"
#include "roce.h"

#define VLAN_NONE 0xfff                 /* value in create_bind: the GID has no VLAN */

static bool gid_is_ipv4(const uint8_t gid[16])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    return !memcmp(gid, mapped, sizeof(mapped));
}

bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path)
{
    const PvrdmaGid *gid = &s->gid[index % PVRDMA_GIDS];

    if (index >= PVRDMA_GIDS || !gid->valid) {
        return false;
    }
    *path = (RocePath) {
        .network = s->roce_v1 ? ROCE_NETWORK_V1 :
                   gid_is_ipv4(gid->raw) ? ROCE_NETWORK_IPV4 :
                   ROCE_NETWORK_IPV6,
        .vlan = gid->vlan,
    };
    /* Source and destination of a packet belong to the same version of IP. */
    if (path->network != ROCE_NETWORK_V1 &&
        gid_is_ipv4(dgid) != (path->network == ROCE_NETWORK_IPV4)) {
        return false;
    }
    pvrdma_port_mac(s, path->smac);
    memcpy(path->dmac, dmac, sizeof(path->dmac));
    memcpy(path->sgid, gid->raw, sizeof(path->sgid));
    memcpy(path->dgid, dgid, sizeof(path->dgid));
    return true;
}

bool pvrdma_gid_local(PvrdmaState *s, const uint8_t gid[16])
{
    for (unsigned n = 0; n < PVRDMA_GIDS; n++) {
        /* Begins with the GID that was found last, because most packets have this GID. */
        unsigned i = (s->gid_last + n) % PVRDMA_GIDS;

        if (s->gid[i].valid && !memcmp(s->gid[i].raw, gid, 16)) {
            s->gid_last = i;
            return true;
        }
    }
    return false;
}

int pvrdma_cmd_create_bind(PvrdmaState *s, const union pvrdma_cmd_req *req,
                           union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_create_bind *cmd = &req->create_bind;
    uint32_t index = le32_to_cpu(cmd->index);
    uint32_t vlan = le32_to_cpu(cmd->vlan);
    PvrdmaGid *gid;

    if (index >= PVRDMA_GIDS || vlan > VLAN_NONE ||
        cmd->gid_type != pvrdma_gid_type(s)) {
        return EINVAL;
    }
    gid = &s->gid[index];
    gid->valid = true;
    gid->vlan = vlan == VLAN_NONE ? ROCE_NO_VLAN : vlan;
    memcpy(gid->raw, cmd->new_gid, sizeof(gid->raw));
    return 0;
}

int pvrdma_cmd_destroy_bind(PvrdmaState *s, const union pvrdma_cmd_req *req,
                            union pvrdma_cmd_resp *resp)
{
    const struct pvrdma_cmd_destroy_bind *cmd = &req->destroy_bind;
    uint32_t index = le32_to_cpu(cmd->index);
    PvrdmaGid *gid = &s->gid[index % PVRDMA_GIDS];

    if (index >= PVRDMA_GIDS) {
        return EINVAL;
    }
    if (!gid->valid || memcmp(gid->raw, cmd->dest_gid, sizeof(gid->raw))) {
        return ENOENT;
    }
    *gid = (PvrdmaGid) { 0 };
    return 0;
}
