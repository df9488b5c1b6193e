/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet contexts: permission to use the NIC, windows, translation of addresses, and
 * access to the memory of processes.
 */
#ifndef HW_EXANET_ENGINE_CONTEXT_H
#define HW_EXANET_ENGINE_CONTEXT_H

#include "../../core/compat.h"
#include "rnic/exanet/wire.h"
#include "ram.h"
#include "tlb.h"
#include "walk.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

/*
 * A context: its registers, decoded, its TLB stamp and its number of pending faults.  The
 * register file has the raw values.
 */
typedef struct ExanetContext {
    ExanetWalk walk;
    uint64_t stamp;                 /* stamp of the context's valid TLB entries */
    uint64_t win[EXANET_WINDOW_NI]; /* base | EXANET_WIN_VALID */
    uint32_t quota;                 /* register CTX_QUOTA */
    uint16_t pdid;
    bool local;                     /* the context's job is local to this node */
    bool enabled;                   /* a process uses the context */
    bool quiesce;                   /* the process is closing the context */
    bool no_report;                 /* faults are not reported to the driver */
    unsigned faults;                /* entries in the table of pending faults */
} ExanetContext;

extern const ExanetUnit exanet_context_unit;
/* Returns the number of unfinished transfers of context @c in all units. */
unsigned exanet_context_active(ExanetState *s, unsigned c);
/* Returns the number of different jobs of the enabled contexts, at least 1. */
unsigned exanet_context_jobs(ExanetState *s);
/* Returns true if contexts @a and @b have the same job. */
bool exanet_context_same_job(ExanetState *s, unsigned a, unsigned b);
/* Computes CTX_STATUS and CTX_PDID of context @c before a read. */
void exanet_context_reg_sync(ExanetState *s, unsigned c);
/*
 * Acts on a write to register @reg (EXANET_REG_CTX_) of context @c.  @top is false if the
 * write had only bits 31:0 of an 8-byte register.  Such a write to INV_CMD has no effect;
 * other registers use their new value in any case.
 */
void exanet_context_reg_written(ExanetState *s, unsigned c, unsigned reg,
                                bool top);
/*
 * Computes *@full, the 64-bit address of the 42-bit address @va of context @c.  Returns
 * DECODE if @va has more bits, if its window is that of the NI or is not valid, or if
 * @len bytes from @va on would leave the window.
 */
enum exanet_resp exanet_context_window(ExanetState *s, unsigned c, uint64_t va,
                                       uint64_t len, uint64_t *full);
/*
 * Copy between @buf and @len bytes (at most EXANET_ACCESS_MAX) of process memory at the
 * 64-bit address @va, also across pages.  All pages are translated before a byte is
 * copied.  A write of 8 bytes to an 8-byte aligned address is one store, ordered after
 * all earlier writes.  Errors, for each of which *@fault_va is set to the first address
 * without translation:
 *   FAULT       there is no page with the right permissions
 *   DECODE      the page is no RAM, or the page tables are not valid
 *   PROTECTION  the context is disabled or quiesced, or has a FAULT and NO_REPORT
 */
#define EXANET_ACCESS_MAX 16384
enum exanet_resp exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                     void *buf, size_t len, uint64_t *fault_va);
enum exanet_resp exanet_context_write(ExanetState *s, unsigned c, uint64_t va,
                                      const void *buf, size_t len,
                                      uint64_t *fault_va);
/*
 * Computes *@pa, the physical address of @va, also if the page is memory of a device, for
 * which the functions above return DECODE.  Returns other errors as the functions above.
 * *@pa is valid up to the end of the page, until the next access to guest memory.
 */
enum exanet_resp exanet_context_physical(ExanetState *s, unsigned c, uint64_t va,
                                         bool write, hwaddr *pa);

#endif /* HW_EXANET_ENGINE_CONTEXT_H */
