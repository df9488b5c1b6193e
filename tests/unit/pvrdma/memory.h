/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stubs for unit tests of regions and queues: a guest memory, which is an array, and a
 * record of the notifications, events and errors that the device reports.
 */
#ifndef TESTS_UNIT_PVRDMA_MEMORY_H
#define TESTS_UNIT_PVRDMA_MEMORY_H

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/pvrdma/base/event.h"
#include "hw/rnic/pvrdma/pvrdma.h"

#define GUEST_PAGES     2048
#define GUEST_BYTES     (GUEST_PAGES * PVRDMA_PAGE_BYTES)
#define GUEST_UAR_PFN   0xfe000ull  /* page frame number of page 0 of BAR 2 */

/* A guest, its device, and records of the actions of the device. */
typedef struct Guest {
    PvrdmaState s;
    AddressSpace as;                /* the device's DMA space; not initialized */
    uint8_t *ram;
    unsigned pages;                 /* number of allocated pages of @ram */
    unsigned reads, writes;         /* numbers of DMA accesses */
    /* numbers of CQ notifications, of events, and of CQs that the device put in error */
    unsigned notifications, events, cq_errors;
    /* CQ of the last notification; info and type of the last event */
    uint32_t notified, event_info;
    enum pvrdma_event event;
} Guest;

/* Pages and page directory of an object.  Addresses are DMA addresses. */
typedef struct GuestObject {
    Guest *g;
    uint64_t pdir;  /* address of the page directory */
    uint64_t *page; /* address of each page */
    unsigned pages;
} GuestObject;

/* Creates a guest with empty tables of objects. */
Guest *guest_new(void);
/*
 * Frees @g with its remaining CQs, SRQs and regions; asserts that the tables are empty
 * then, and that no page is in use.
 */
void guest_free(Guest *g);
/* Returns the host address of DMA address @at; asserts that @at is in memory. */
void *guest_at(Guest *g, uint64_t at);
/* Returns the number of guest errors that the device has counted. */
unsigned guest_errors(const Guest *g);

/*
 * Allocates @pages pages and their page directory.  No page is adjacent in memory to the
 * page that follows it in the object.
 */
GuestObject *guest_object_new(Guest *g, unsigned pages);
/* Frees @o.  Its pages of guest memory stay in use. */
void guest_object_free(GuestObject *o);
/* Returns the host address of byte @offset of @o; valid up to the end of the page. */
void *guest_object_at(GuestObject *o, uint64_t offset);
/* Stores a ring index, little-endian, at byte @offset of @o. */
void guest_index_set(GuestObject *o, uint64_t offset, uint32_t index);
/* Returns the ring index at byte @offset of @o. */
uint32_t guest_index(GuestObject *o, uint64_t offset);
/* Stores guest_fill_byte(offset, @seed) in each byte of @o. */
void guest_fill(GuestObject *o, uint8_t seed);
/* Returns the byte at @offset of the test pattern with number @seed. */
uint8_t guest_fill_byte(uint64_t offset, uint8_t seed);

/*
 * Executes @cmd, stores the response in *@resp unless @resp is NULL, and returns the
 * errno of @cmd.
 */
int guest_cmd(Guest *g, PvrdmaCmd *cmd, const union pvrdma_cmd_req *req,
              union pvrdma_cmd_resp *resp);
/* Creates a protection domain without a user context; returns its handle. */
uint32_t guest_pd(Guest *g);
/*
 * Creates a region at virtual address @va, of the pages of @o without the first @va %
 * PVRDMA_PAGE_BYTES bytes.  Stores the key in *@key, and returns the handle.
 */
uint32_t guest_mr(GuestObject *o, uint32_t pd, uint64_t va, uint32_t access,
                  uint32_t *key);

#endif
