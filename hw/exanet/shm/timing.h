/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: how long loads and stores take on the paper's hardware, in
 * virtual time, if shm-timing= is on [T §5.1, §6.2, §6.3, table 2].
 *
 * Times are in tenths of a nanosecond, as a cycle is 6.4 ns; what happens does so at
 * the nearest whole nanosecond, and what follows counts from the exact time.  Without
 * timing none of these functions has an effect, and everything is due.
 */
#ifndef HW_EXANET_SHM_TIMING_H
#define HW_EXANET_SHM_TIMING_H

#include "internal.h"

/* Beside the links, whose latency is in PORT_LATENCY, and what depends on length. */
#define EXANET_TIMING_NS 10
#define EXANET_TIMING_CYCLE (EXANET_SHM_CYCLE_PS * EXANET_TIMING_NS / 1000)
/* To get a timer [T §6.3]. */
#define EXANET_TIMING_EARLY (2 * EXANET_TIMING_CYCLE)
/* From BTT to the packetizer: what the others leave of 1.9 us [D]. */
#define EXANET_TIMING_CDMA (56 * EXANET_TIMING_CYCLE)
/* For 8 bytes the accelerator takes 2.533 s of 40.4 million accesses [D table 5]. */
#define EXANET_TIMING_BEAT 627

/* A packet on its way to a cable. */
typedef struct ExanetTimingPacket {
    int64_t ready;                  /* when it has passed the packetizer */
    unsigned flits;                 /* of data */
    bool joined;                    /* goes on with the burst before it */
} ExanetTimingPacket;

/* Does nothing unless the property is set. */
void exanet_timing_init(ExanetState *s);
void exanet_timing_fini(ExanetState *s);
void exanet_timing_reset(ExanetState *s);
/* Hands on what has passed the packetizer. */
void exanet_timing_run(ExanetState *s);
/* PORT_LATENCY after reset if nothing else was asked for, ns. */
uint32_t exanet_timing_latency(const ExanetState *s);
/* Flits of @size bytes to or from @va. */
unsigned exanet_timing_flits(uint64_t va, unsigned size);

/* The time @tenths from now on; 0 without timing. */
int64_t exanet_timing_after(ExanetState *s, int64_t tenths);
/* As exanet_timing_due(), with timing. */
bool exanet_timing_reached(ExanetState *s, int64_t at);
/* When what takes @tenths, one after the other, is over; the last one was at @last. */
int64_t exanet_timing_next(ExanetState *s, int64_t last, int64_t tenths);

/* A packet for @dst enters the packetizer. */
ExanetTimingPacket exanet_timing_enter(ExanetState *s, uint32_t dst,
                                       unsigned flits, bool joined);
/* @p leaves by @route, and takes the link for its time. */
void exanet_timing_leave(ExanetState *s, int route, const ExanetTimingPacket *p);
/* Keeps @pkt, a request or response, which comes again later; false: it is time. */
bool exanet_timing_hold(ExanetState *s, const ExanetPacket *pkt);

/* Whether it is time; if not, the units run when it is. */
static inline bool exanet_timing_due(ExanetState *s, int64_t at)
{
    return likely(!s->shm->timing) || exanet_timing_reached(s, at);
}

#endif /* HW_EXANET_SHM_TIMING_H */
