/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of the port.
 */
#ifndef HW_PVRDMA_WIRE_GID_H
#define HW_PVRDMA_WIRE_GID_H

#include "../cmd.h"
#include "roce.h"

typedef struct PvrdmaGid {
    bool valid;
    uint8_t raw[16];
    uint16_t vlan;                  /* ROCE_NO_VLAN: none */
} PvrdmaGid;

/*
 * The path from our GID @index to @dgid; false if there is no such GID, or it is IPv4
 * and the other not.  What the GIDs do not say is 0: sport, hop_limit, ...
 */
bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path);
/* Whether @gid is one of ours. */
bool pvrdma_gid_ours(PvrdmaState *s, const uint8_t gid[16]);

/* Commands. */
PvrdmaCmd pvrdma_cmd_create_bind, pvrdma_cmd_destroy_bind;

#endif /* HW_PVRDMA_WIRE_GID_H */
