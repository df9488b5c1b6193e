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
 * A context: decoded values of its registers, its TLB stamp, and its number of pending
 * faults.
 */
typedef struct ExanetContext {
    ExanetWalk walk;
    uint64_t stamp;                 /* stamp of the context's valid TLB entries */
    uint64_t win[EXANET_WINDOW_NI]; /* registers CTX_WIN0 to CTX_WIN6 */
    uint32_t quota;                 /* register CTX_QUOTA */
    uint16_t pdid;
    bool local;                     /* the context's job is local to this node */
    bool enabled;                   /* CTX_CTRL_EN */
    bool quiesce;                   /* CTX_CTRL_QUIESCE: work ends, new work is refused */
    bool no_report;                 /* the driver gets no reports of page faults */
    /* entries of this context in the table of pending faults */
    unsigned faults;
} ExanetContext;

extern const ExanetUnit exanet_context_unit;
/*
 * Returns the number of unfinished transfers, messages and requests of context @c: the
 * sum of active() of all units.
 */
unsigned exanet_context_active(ExanetState *s, unsigned c);
/* Returns the number of different jobs of the enabled contexts, at least 1. */
unsigned exanet_context_jobs(ExanetState *s);
/* Returns the number of the job of context @c. */
unsigned exanet_context_job(ExanetState *s, unsigned c);
/* Returns true if contexts @a and @b have the same job. */
bool exanet_context_same_job(ExanetState *s, unsigned a, unsigned b);
/* Computes CTX_STATUS and CTX_PDID of context @c before a read. */
void exanet_context_reg_sync(ExanetState *s, unsigned c);
/*
 * Acts on a write to the register at offset @reg (EXANET_REG_CTX_*) of context @c.  @top
 * is false if the write had only bits 31:0 of an 8-byte register.  Such a write to
 * INV_CMD has no effect.  A write to any other register takes effect also if @top is
 * false.
 */
void exanet_context_reg_written(ExanetState *s, unsigned c, unsigned reg,
                                bool top);
/*
 * Stores in *@full the 64-bit address of the 42-bit address @va of context @c, and
 * returns ACK.  Returns DECODE, without a store, if @va has more than 42 bits, if its
 * window is that of the NI or is not valid, or if @len bytes from @va on would leave the
 * window.
 */
enum exanet_resp exanet_context_window(ExanetState *s, unsigned c, uint64_t va,
                                       uint64_t len, uint64_t *full);
/*
 * Copy @len bytes (at most EXANET_ACCESS_MAX) between @buf and process memory at the
 * 64-bit address @va of context @c.  The bytes may be in several pages.  The functions
 * translate all pages before the first byte is copied.  A write of 8 bytes to an 8-byte
 * aligned address is one store, which is ordered after all earlier writes.
 *
 * Return ACK if all bytes were copied.  Otherwise no byte was copied, and *@fault_va is
 * the first address without a translation:
 *   FAULT       exanet_walk() returns FAULT (for example, the page is not present), and
 *               the context does not have NO_REPORT
 *   DECODE      the page is not in RAM that devices may write, or exanet_walk() returns
 *               DECODE
 *   PROTECTION  the context is disabled or quiesced, or exanet_walk() returns FAULT and
 *               the context has NO_REPORT
 */
#define EXANET_ACCESS_MAX 16384
enum exanet_resp exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                     void *buf, size_t len, uint64_t *fault_va);
enum exanet_resp exanet_context_write(ExanetState *s, unsigned c, uint64_t va,
                                      const void *buf, size_t len,
                                      uint64_t *fault_va);
/*
 * Returns how many of the @count adjacent pieces of @piece bytes, from @va on, come
 * before the first piece with a page whose translation is not in the TLB or, with @write,
 * does not permit writes.  Changes no counter.  @piece is a power of two, at least 8 and
 * less than a page.
 */
unsigned exanet_context_cached(ExanetState *s, unsigned c, uint64_t va, bool write,
                               size_t piece, unsigned count);
/*
 * Copy @count pieces, for which exanet_context_cached() has just returned at least
 * @count, between @buf and process memory.  Count as many translations as @count calls of
 * exanet_context_read() or exanet_context_write().
 */
void exanet_context_read_cached(ExanetState *s, unsigned c, uint64_t va, void *buf,
                                size_t piece, unsigned count);
void exanet_context_write_cached(ExanetState *s, unsigned c, uint64_t va,
                                 const void *buf, size_t piece, unsigned count);
/*
 * Stores in *@pa the physical address of @va, and returns ACK.  Returns errors as
 * exanet_context_read(), except that a page outside RAM is no error, because the page may
 * be memory of a device.  @write: the page must be writable.  *@pa is valid up to the end
 * of the page.  The caller must use *@pa before another access to guest memory and before
 * a release of the BQL, because other code may then change the page tables.
 */
enum exanet_resp exanet_context_physical(ExanetState *s, unsigned c, uint64_t va,
                                         bool write, hwaddr *pa);

#endif /* HW_EXANET_ENGINE_CONTEXT_H */
