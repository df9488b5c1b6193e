/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GIDs: the addresses of the port.
 */
#ifndef HW_PVRDMA_WIRE_GID_H
#define HW_PVRDMA_WIRE_GID_H

#include "../base/command.h"
#include "roce.h"

typedef struct PvrdmaGid {
    bool valid;
    uint8_t raw[16];                /* the GID, in wire byte order */
    uint16_t vlan;                  /* VLAN tag, 16 bits; ROCE_NO_VLAN: no tag */
} PvrdmaGid;

/*
 * Builds the path from GID number @index of this port to @dgid with MAC address @dmac.
 * Sets sport, flow_label, traffic_class and hop_limit of @path to 0.  Returns false if
 * GID @index does not exist, or if, for RoCE v2, only one of GID @index and @dgid is an
 * IPv4 address.
 */
bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path);
/* Returns true if @gid is a GID of this port. */
bool pvrdma_gid_local(PvrdmaState *s, const uint8_t gid[16]);

PvrdmaCmd pvrdma_cmd_create_bind, pvrdma_cmd_destroy_bind;

#endif /* HW_PVRDMA_WIRE_GID_H */
