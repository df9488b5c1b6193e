/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What regions and queues of pvrdma need around them: the memory of a guest, which is
 * an array, and notes of what the device told the guest.
 */
#ifndef TESTS_UNIT_PVRDMA_MEMORY_H
#define TESTS_UNIT_PVRDMA_MEMORY_H

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/pvrdma/base/event.h"
#include "hw/rnic/pvrdma/pvrdma.h"

#define GUEST_PAGES     2048
#define GUEST_BYTES     (GUEST_PAGES * PVRDMA_PAGE_BYTES)
#define GUEST_UAR_PFN   0xfe000ull  /* of page 0 of BAR 2 */

typedef struct Guest {
    PvrdmaState s;
    AddressSpace as;                /* of the device; not initialized */
    uint8_t *ram;
    unsigned pages;                 /* that were given away */
    unsigned reads, writes;         /* DMA */
    /* What the guest was told last, and how often. */
    unsigned notifications, events, cq_errors;
    uint32_t notified, event_info;
    enum pvrdma_event event;
} Guest;

/* Pages of an object. */
typedef struct GuestObject {
    Guest *g;
    uint64_t pdir;
    uint64_t *page;
    unsigned pages;
} GuestObject;

Guest *guest_new(void);
void guest_free(Guest *g);
/* The byte at DMA address @at. */
void *guest_at(Guest *g, uint64_t at);
unsigned guest_errors(const Guest *g);

/* @pages pages, no two of them side by side, and their directory. */
GuestObject *guest_object_new(Guest *g, unsigned pages);
void guest_object_free(GuestObject *o);
/* The byte at @offset; good up to the end of its page. */
void *guest_object_at(GuestObject *o, uint64_t offset);
/* The index at byte @offset. */
void guest_index_set(GuestObject *o, uint64_t offset, uint32_t index);
uint32_t guest_index(GuestObject *o, uint64_t offset);
/* Bytes that tell their place. */
void guest_fill(GuestObject *o, uint8_t seed);
uint8_t guest_fill_byte(uint64_t offset, uint8_t seed);

/* Commands, with the answer in *@resp if that is not NULL. */
int guest_cmd(Guest *g, PvrdmaCmd *cmd, const union pvrdma_cmd_req *req,
              union pvrdma_cmd_resp *resp);
/* A domain of the kernel. */
uint32_t guest_pd(Guest *g);
/* A region of all of @o but the first @skip bytes, at @va; its handle and *@key. */
uint32_t guest_mr(GuestObject *o, uint32_t pd, uint64_t va, uint32_t access,
                  uint32_t *key);

#endif
