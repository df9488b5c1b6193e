/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: how long loads and stores take on the paper's hardware, in
 * virtual time, if shm-timing= is on [T §5.1, §6.2, §6.3, table 2].
 *
 * Times are in tenths of a nanosecond, because a cycle is 6.4 ns.  An event happens at
 * the nearest nanosecond.  While a packet is delivered, exanet_timing_after() counts from
 * the exact time of the delivery.  Without timing, exanet_timing_due() always returns
 * true, and exanet_timing_reached() and exanet_timing_hold() must not be called.
 */
#ifndef HW_EXANET_SHM_TIMING_H
#define HW_EXANET_SHM_TIMING_H

#include "internal.h"

/* Units, in tenths of a nanosecond.  The latency of links is in PORT_LATENCY. */
#define EXANET_TIMING_NS 10
#define EXANET_TIMING_CYCLE (EXANET_SHM_CYCLE_PS * EXANET_TIMING_NS / 1000)
/* Time to allocate a timer [T §6.3]. */
#define EXANET_TIMING_EARLY (2 * EXANET_TIMING_CYCLE)
/* Time from the write of BTT to the packetizer: 1.9 us minus all other steps [D]. */
#define EXANET_TIMING_CDMA (56 * EXANET_TIMING_CYCLE)
/*
 * Time for 8 bytes in the accelerator: 2.533 s for 40.4 million accesses [D table 5].
 */
#define EXANET_TIMING_BEAT 627

/* Timing of a packet on its way to a cable. */
typedef struct ExanetTimingPacket {
    int64_t ready;                  /* tenths of ns, when the packet may leave */
    unsigned flits;                 /* flits of data, 8 bytes each */
    bool joined;                    /* continues the burst of the previous packet */
} ExanetTimingPacket;

/* Creates the timing model if the property is set. */
void exanet_timing_init(ExanetState *s);
void exanet_timing_fini(ExanetState *s);
void exanet_timing_reset(ExanetState *s);
/* Delivers the packets of exanet_timing_hold() that are due now. */
void exanet_timing_run(ExanetState *s);
/* Returns the default of PORT_LATENCY, ns; 0 without timing. */
uint32_t exanet_timing_latency(const ExanetState *s);
/* Returns the number of flits, of 8 bytes each, that hold @size bytes at address @va. */
unsigned exanet_timing_flits(uint64_t va, unsigned size);

/*
 * Returns the time, tenths of ns, @tenths after now, or after the exact time of the
 * packet that is being delivered.  Returns 0 without timing.
 */
int64_t exanet_timing_after(ExanetState *s, int64_t tenths);
/*
 * Returns true if the time @at, tenths of ns, is reached.  If not, makes the loop run at
 * that time; the caller must also keep its unit awake, see exanet_shm_wake().  The
 * property shm-timing must be on.
 */
bool exanet_timing_reached(ExanetState *s, int64_t at);
/*
 * Returns the end, tenths of ns, of an operation of @tenths on a serial resource whose
 * last operation ends at @last; 0 without timing.  The operation begins now or at @last,
 * whichever is later.
 */
int64_t exanet_timing_next(ExanetState *s, int64_t last, int64_t tenths);

/*
 * Returns the timing of a packet for node @dst, with @flits flits of data, that enters
 * the packetizer now.  @joined: the packet continues the burst of the previous packet.
 */
ExanetTimingPacket exanet_timing_enter(ExanetState *s, uint32_t dst,
                                       unsigned flits, bool joined);
/*
 * Occupies the link of @route with packet @p.  Has no effect without timing, or if @route
 * has no link.
 */
void exanet_timing_leave(ExanetState *s, int route, const ExanetTimingPacket *p);
/*
 * Keeps a copy of @pkt, which exanet_timing_run() delivers later, and returns true.
 * Returns false if the caller must handle @pkt now.  The property shm-timing must be on.
 */
bool exanet_timing_hold(ExanetState *s, const ExanetPacket *pkt);

/*
 * Returns true if the time @at, tenths of ns, is reached, and always without timing.
 * Otherwise makes the loop run at that time, as exanet_timing_reached().
 */
static inline bool exanet_timing_due(ExanetState *s, int64_t at)
{
    return likely(!s->shm->timing) || exanet_timing_reached(s, at);
}

#endif /* HW_EXANET_SHM_TIMING_H */
