/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet contexts: who may use the NIC, windows, translation of addresses, and access to
 * the memory of processes.
 */
#ifndef HW_EXANET_ENGINE_CONTEXT_H
#define HW_EXANET_ENGINE_CONTEXT_H

#include "../../core/compat.h"
#include "rnic/exanet/wire.h"
#include "walk.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

#define EXANET_TLB_SHIFT 12         /* entries cover 4 KB, whatever the leaf */

/* One cached translation; only pages in RAM are cached. */
typedef struct ExanetTlbEntry {
    uint64_t va;                    /* page address */
    uint64_t stamp;                 /* valid while equal to the context's */
    uint8_t *host;                  /* the page */
    uint8_t ram;                    /* index of the range that @host is in */
    bool write;
} ExanetTlbEntry;

#define EXANET_RAM_RANGES 64

/* A stretch of physical RAM, held by reference until the memory map changes. */
typedef struct ExanetRam {
    hwaddr base;
    hwaddr size;
    MemoryRegionCache cache;
} ExanetRam;

typedef struct ExanetTlb {
    ExanetTlbEntry *entry;          /* sets of two, owned */
    uint64_t mask;                  /* entries - 1 */
    unsigned victim;                /* picks the next entry to be replaced */
    uint64_t stamp;                 /* last one that was given out; never reused */
    ExanetRam ram[EXANET_RAM_RANGES];
    unsigned rams;
    unsigned last;                  /* range that was used last */
    MemoryListener listener;
} ExanetTlb;

/* Decoded registers of a context; the register file keeps the raw ones. */
typedef struct ExanetContext {
    ExanetWalk walk;
    uint64_t stamp;                 /* of its valid TLB entries */
    uint64_t win[EXANET_WINDOW_NI]; /* base | EXANET_WIN_VALID */
    uint16_t pdid;
    bool local;                     /* the context's job is local to this node */
    bool enabled;
    bool quiesce;
    bool no_report;
    unsigned faults;                /* pending ones */
} ExanetContext;

extern const ExanetUnit exanet_context_unit;
/* Returns how many transfers of context @c are not finished, in all units. */
unsigned exanet_context_active(ExanetState *s, unsigned c);
/* Refreshes the computed registers of context @c before a read. */
void exanet_context_reg_sync(ExanetState *s, unsigned c);
/*
 * Register @reg (EXANET_REG_CTX_) of context @c was written; @top tells that the
 * access covered its last lane, which is when a command register acts.
 */
void exanet_context_reg_written(ExanetState *s, unsigned c, unsigned reg,
                                bool top);
/*
 * Returns PROTECTION unless the context of @pdid is enabled and of the same job.  A
 * context with a local job communicates inside this node alone.  @node is the packet's
 * source or its destination.
 */
enum exanet_resp exanet_context_check(ExanetState *s, uint16_t pdid,
                                      uint32_t node);
/*
 * Full address of the 42-bit address @va of context @c; DECODE when the window is
 * not valid or @len bytes would leave it.
 */
enum exanet_resp exanet_context_window(ExanetState *s, unsigned c, uint64_t va,
                                       uint64_t len, uint64_t *full);
/*
 * Copies between @buf and @len bytes (at most EXANET_ACCESS_MAX) of process memory
 * at the full address @va.  All pages are translated before a byte moves.  FAULT
 * sets *fault_va to the first address without translation; DECODE: no RAM there, or
 * tables that make no sense; PROTECTION: the context is disabled or quiesced, or
 * it faulted and wants no reports.  Page boundaries may be crossed.  A write of
 * 8 bytes to an 8-byte aligned address is one store, ordered after all earlier writes.
 */
#define EXANET_ACCESS_MAX 16384
enum exanet_resp exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                     void *buf, size_t len, uint64_t *fault_va);
enum exanet_resp exanet_context_write(ExanetState *s, unsigned c, uint64_t va,
                                      const void *buf, size_t len,
                                      uint64_t *fault_va);
/*
 * The physical address of @va, for devices' memory, which the two above give DECODE
 * for; else as they.  Good for the page of @va, until the next access.
 */
enum exanet_resp exanet_context_physical(ExanetState *s, unsigned c, uint64_t va,
                                         bool write, hwaddr *pa);

#endif /* HW_EXANET_ENGINE_CONTEXT_H */
