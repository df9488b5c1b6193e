/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: how long loads and stores take on the paper's hardware, in
 * virtual time, if the property shm-timing is on [T §5.1, §6.2, §6.3, table 2].
 *
 * Times are in tenths of a nanosecond, because a cycle is 6.4 ns.  An event happens at
 * the nearest nanosecond.  While exanet_timing_run() delivers a packet,
 * exanet_timing_after() counts from the exact time at which the packet was due.  If
 * shm-timing is off, exanet_timing_due() always returns true, and exanet_timing_reached()
 * and exanet_timing_hold() must not be called.
 */
#ifndef HW_EXANET_SHM_TIMING_H
#define HW_EXANET_SHM_TIMING_H

#include "internal.h"

/*
 * A nanosecond and a cycle, in tenths of a nanosecond.  Register PORT_LATENCY has the
 * latency of links.
 */
#define EXANET_TIMING_NS 10
#define EXANET_TIMING_CYCLE (EXANET_SHM_CYCLE_PS * EXANET_TIMING_NS / 1000)
/* Time to allocate a timer, after which a write is acknowledged early [T §6.3]. */
#define EXANET_TIMING_EARLY (2 * EXANET_TIMING_CYCLE)
/*
 * Time from a write to CDMA_BTT until the first piece begins: 1.9 us minus all other
 * steps [D].
 */
#define EXANET_TIMING_CDMA (56 * EXANET_TIMING_CYCLE)
/*
 * Time for 8 bytes in the accelerator: 2.533 s for 40.4 million accesses [D table 5].
 */
#define EXANET_TIMING_BEAT 627

/* Timing of a packet on its way to a cable. */
typedef struct ExanetTimingPacket {
    int64_t ready;                  /* tenths of ns, when the packet may leave */
    unsigned flits;                 /* number of flits of data, 8 bytes each */
    bool joined;                    /* continues the burst of the previous packet */
} ExanetTimingPacket;

/* Creates the timing model if the property shm-timing is on. */
void exanet_timing_init(ExanetState *s);
void exanet_timing_fini(ExanetState *s);
void exanet_timing_reset(ExanetState *s);
/* Delivers the packets that exanet_timing_hold() has kept and that are due now. */
void exanet_timing_run(ExanetState *s);
/* Implements exanet_shm_latency(). */
uint32_t exanet_timing_latency(const ExanetState *s);
/* Returns the number of flits, of 8 bytes each, that hold @size bytes at address @va. */
unsigned exanet_timing_flits(uint64_t va, unsigned size);

/*
 * Returns the time that is @tenths later than now or, while exanet_timing_run() delivers
 * a packet, @tenths later than the exact time at which the packet was due.  Argument and
 * result are in tenths of ns.  Returns 0 if shm-timing is off.
 */
int64_t exanet_timing_after(ExanetState *s, int64_t tenths);
/*
 * Returns true if the time @at, tenths of ns, is reached.  If not, makes the loop run at
 * this time; a caller in the shared memory unit must also set EXANET_AWAKE_SHM, for
 * example by exanet_shm_wake(), so that the loop runs the unit.  The property shm-timing
 * must be on.
 */
bool exanet_timing_reached(ExanetState *s, int64_t at);
/*
 * Returns the end of an operation that takes @tenths, on a serial resource whose last
 * operation ends at @last.  The operation begins now or at @last, whichever is later.
 * All times are in tenths of ns.  Returns 0 if shm-timing is off.
 */
int64_t exanet_timing_next(ExanetState *s, int64_t last, int64_t tenths);

/*
 * Returns the timing of a packet for node @dst, with @flits flits of data, that enters
 * the packetizer now.  @joined: the packet continues the burst of the packet before.
 */
ExanetTimingPacket exanet_timing_enter(ExanetState *s, uint32_t dst,
                                       unsigned flits, bool joined);
/*
 * Occupies the link of @route for the time of packet @p.  Has no effect if shm-timing is
 * off, or if @route has no link.
 */
void exanet_timing_leave(ExanetState *s, int route, const ExanetTimingPacket *p);
/*
 * Keeps a copy of @pkt, which exanet_timing_run() delivers later, and returns true.
 * Returns false if the caller must handle @pkt now, because exanet_timing_run() delivers
 * @pkt, or because too many packets are kept.  The property shm-timing must be on.
 */
bool exanet_timing_hold(ExanetState *s, const ExanetPacket *pkt);

/*
 * Returns true if the time @at, tenths of ns, is reached, or if shm-timing is off.
 * Otherwise makes the loop run at this time, as exanet_timing_reached() does.
 */
static inline bool exanet_timing_due(ExanetState *s, int64_t at)
{
    return likely(!s->shm->timing) || exanet_timing_reached(s, at);
}

#endif /* HW_EXANET_SHM_TIMING_H */
