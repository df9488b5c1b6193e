/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory file of an rnic-cable; see cable-memory.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/memfd.h"
#include "cable-memory.h"
#include <sys/mman.h>

/* Address space: the controls, then the data of each ring twice. */
#define MAPPED_BYTES (RNIC_CABLE_DATA + 4 * (size_t)RNIC_CABLE_RING_BYTES)

int rnic_cable_memory_new(Error **errp)
{
    return qemu_memfd_create("rnic-cable", RNIC_CABLE_BYTES, false, 0,
                             F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL, errp);
}

/* Sets @errp and returns false unless the file @fd has the right size and keeps it. */
static bool memory_check(int fd, Error **errp)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    if (seals < 0 || !(seals & F_SEAL_SHRINK)) {
        error_setg(errp, "the memory file may become shorter");
        return false;
    }
    if (fstat(fd, &st) < 0 || st.st_size != RNIC_CABLE_BYTES) {
        error_setg(errp, "the memory file has another size than %u bytes",
                   RNIC_CABLE_BYTES);
        return false;
    }
    return true;
}

/*
 * Maps @size bytes of the file @fd from @offset at address @at.  Returns true on
 * success.
 */
static bool memory_map_at(uint8_t *at, size_t size, int fd, off_t offset)
{
    return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) !=
           MAP_FAILED;
}

bool rnic_cable_memory_map(RNicCableMemory *m, int fd, Error **errp)
{
    void *base;
    bool good;

    if (!memory_check(fd, errp)) {
        return false;
    }
    base = mmap(NULL, MAPPED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        error_setg_errno(errp, errno, "no address space for the memory file");
        return false;
    }
    m->base = base;
    good = memory_map_at(m->base, RNIC_CABLE_DATA, fd, 0);
    for (unsigned ring = 0; ring < 2; ring++) {
        off_t offset = RNIC_CABLE_DATA + ring * RNIC_CABLE_RING_BYTES;

        m->control[ring] = (struct rnic_cable_control *)m->base + ring;
        m->data[ring] = m->base + RNIC_CABLE_DATA + ring * 2 * RNIC_CABLE_RING_BYTES;
        for (unsigned copy = 0; copy < 2; copy++) {
            good = good && memory_map_at(m->data[ring] + copy * RNIC_CABLE_RING_BYTES,
                                         RNIC_CABLE_RING_BYTES, fd, offset);
        }
    }
    if (!good) {
        error_setg_errno(errp, errno, "the memory file cannot be mapped");
        rnic_cable_memory_unmap(m);
    }
    return good;
}

void rnic_cable_memory_unmap(RNicCableMemory *m)
{
    if (m->base) {
        munmap(m->base, MAPPED_BYTES);
        m->base = NULL;
    }
}
