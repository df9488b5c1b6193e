/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory file of an rnic-cable; see rnic/cable.h. */
#ifndef HW_LINK_CABLE_MEMORY_H
#define HW_LINK_CABLE_MEMORY_H

#include "rnic/cable.h"

/* A mapped memory file.  Index 0 is the ring from the server to the client. */
typedef struct RNicCableMemory {
    uint8_t *base;                          /* NULL: no file is mapped */
    struct rnic_cable_control *control[2];
    uint8_t *data[2];                       /* each mapped twice, as in RNicRing */
} RNicCableMemory;

/*
 * Makes a memory file with two empty rings, sealed against a change of its size.  Returns
 * the file descriptor, which the caller closes; on an error sets @errp and returns -1.
 */
int rnic_cable_memory_new(Error **errp);

/*
 * Maps the memory file @fd, which may come from an untrusted process.  @fd may be closed
 * afterwards.  Sets @errp and returns false if the file has another size, if its size may
 * change, or if there is no address space.
 */
bool rnic_cable_memory_map(RNicCableMemory *m, int fd, Error **errp);

/* Unmaps the file.  Does nothing if no file is mapped. */
void rnic_cable_memory_unmap(RNicCableMemory *m);

#endif /* HW_LINK_CABLE_MEMORY_H */
