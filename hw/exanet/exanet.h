/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the state of the device, which is the same on any bus.  Each unit has a
 * header of its own.  Formats are in include/rnic/exanet.
 *
 *   scratchpad --> firmware --> exadma --+
 *   packetizer page --> packetizer ------+--> crossbar --> link --> netdev
 *   aperture, CDMA, ... --> shm ---------+        |
 *   mailbox rings <-- mailbox <----------+        +--> sinks of this node:
 *   memory <-- receiver <----------------+             rtmailbox, receiver, mailbox,
 *   firmware <-- rtmailbox <-------------+             packetizer, shm, flow
 *
 * In each round the loop (core/loop.h) runs the input of the ports.  If the device is
 * enabled, the round then runs the units that have work, in the order of exanet.c.  At
 * the end of a run the loop flushes the ports.  A doorbell of a process and the arrival
 * of a frame run the units at once, because a wake-up of the main loop takes longer than
 * a small message.  A run by a doorbell has smaller limits.
 *
 * Functions that return enum exanet_resp return EXANET_RESP_ACK for success, otherwise
 * the reason of the failure.
 */
#ifndef HW_EXANET_EXANET_H
#define HW_EXANET_EXANET_H

#include "../core/compat.h"
#include "../core/host.h"
#include "../core/loop.h"
#include "../core/stats.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "engine/context.h"
#include "engine/exadma.h"
#include "engine/fault.h"
#include "engine/packetizer.h"
#include "../link/port.h"
#include "engine/receiver.h"
#include "base/regs.h"
#include "engine/rtmailbox.h"
#include "net/router.h"
#include "base/series.h"
#include "base/unit.h"
#include "base/wire.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetFirmware ExanetFirmware;

/*
 * Passes a packet for this node to the unit that handles the packet, or counts and drops
 * the packet.  @from is the port by which the packet arrived, or NULL if the packet has
 * passed no port.  The function may change @pkt.
 */
typedef void ExanetSink(ExanetState *s, RNicPort *from, ExanetPacket *pkt);

/* Info page of context @ctx, a memory region inside the user pages. */
typedef struct ExanetInfoPage {
    ExanetState *s;
    MemoryRegion mr;
    unsigned ctx;
} ExanetInfoPage;

struct ExanetState {
    /*
     * @host.as is the physical address space of the CPUs, without a vIOMMU, because the
     * device reads the page tables of the CPUs.
     */
    RNicHost host;
    RNicStats stats;
    MemoryRegion regs_mr;           /* BAR 0 */
    MemoryRegion user_mr;           /* user pages: RAM @user, and the info pages @info */
    MemoryRegion aperture_mr;       /* the aperture, and behind it the block RAM */
    ExanetInfoPage info[EXANET_CONTEXTS];
    uint8_t *user;                  /* RAM of user_mr */

    /* Properties; class.c has the description of each. */
    uint32_t coord;                 /* value of @node after a reset */
    char *dims;                     /* NULL: no rings */
    char *router_name;              /* NULL: torus */
    char *routes;                   /* NULL: no table */
    uint32_t rx_fifo_words;
    uint32_t link_timeout_ms;
    uint32_t link_stall_ms;
    uint32_t link_rate_kbps;
    uint32_t link_latency_ns;
    uint32_t tlb_entries;
    uint8_t user_page_shift;
    uint8_t epoch_fixed;
    uint64_t aperture_size;
    uint32_t aperture_timeout_ms;   /* ms of real time, for one access of a vCPU */
    uint64_t bram_size;
    uint32_t cam_entries;
    bool shm_timing;
    bool runs;
    bool crc;

    RNicLoop loop;                  /* runs all units */
    ExanetSeries polls;             /* polls of all contexts */
    const ExanetUnit *const *units; /* the array ends with NULL */
    unsigned awake;                 /* units with work: enum exanet_awake */
    /*
     * Number of packets for this node that were decoded while the device was enabled,
     * modulo 2^32.  RNicPoll reads this number without the big lock.
     */
    uint32_t arrivals;
    uint32_t irqs_enabled;          /* enabled causes: IRQ_MASK, or 0 if CTRL_IRQ is 0 */
    /*
     * Marked interrupt vectors, one bit for each.  exanet_irq_flush() sends these
     * vectors, or only clears the bits on a bus without interrupt messages.
     */
    uint32_t vectors;
    /* Levels of the interrupt wires, on a bus without interrupt messages. */
    bool line[EXANET_IRQ_LINES];
    bool enabled;                   /* CTRL_ENABLE: the units run */
    bool strict;                    /* CTRL_STRICT: the published protocol is in use */
    uint8_t epoch;                  /* epoch of this node, 1 to 255; 0: no reset yet */
    uint32_t node;                  /* coordinates of this node, register NODE */
    /* ns, virtual time of the last round, reset or request that shm/target.c executed */
    int64_t time;

    ExanetRegs regs;
    uint64_t counter[EXANET_COUNTER_COUNT];

    ExanetContext ctx[EXANET_CONTEXTS];
    ExanetTlb tlb;
    ExanetRam ram;
    ExanetFaultUnit fault;
    ExanetExadma exadma;
    ExanetRtMailbox rt;
    ExanetFirmware *firmware;
    ExanetPacketizer packetizer;
    ExanetReceiver receiver;
    ExanetSink *sink;               /* exanet_sink(), for packets for this node */
    ExanetRouter router;
    struct ExanetFlowUnit *flow;
    unsigned flows_paced;           /* number of destinations with a limited rate */
    struct ExanetShm *shm;          /* see shm.h */
    RNicPort port[EXANET_LINKS];
    RNicPortGroup ports;
    /* buffer of a packet that leaves by no port */
    uint8_t local[EXANET_PACKET_BYTES];
};

#define exanet_count(s, name) ((void)(s)->counter[EXANET_CNT_##name]++)

/* Adds @n to @counter (enum exanet_counter).  EXANET_COUNTER_COUNT counts nothing. */
static inline void exanet_count_by(ExanetState *s, unsigned counter, uint64_t n)
{
    if (counter < EXANET_COUNTER_COUNT) {
        s->counter[counter] += n;
    }
}

/*
 * Returns true, and counts @ack in ACK_STALE, if the epoch of @ack is not the epoch of
 * this node: @ack answers a packet from before the last reset.
 */
static inline bool exanet_ack_stale(ExanetState *s, const ExanetPacket *ack)
{
    if (ack->epoch == s->epoch) {
        return false;
    }
    exanet_count(s, ACK_STALE);
    return true;
}

/*
 * Returns EXANET_RESP_ACK if the context in @pdid is enabled, is not quiesced and has the
 * job in @pdid, and this job is not 0.  Otherwise returns EXANET_RESP_PROTECTION.  @node
 * is the node with which the context communicates.  If the job is local to this node and
 * @node is another node, the result is EXANET_RESP_PROTECTION too.
 */
static inline enum exanet_resp exanet_context_check(const ExanetState *s, uint16_t pdid,
                                                    uint32_t node)
{
    const ExanetContext *ctx = &s->ctx[RNIC_GET(EXANET_PDID_CTX, pdid)];

    return ctx->enabled && !ctx->quiesce && ctx->pdid == pdid &&
           RNIC_GET(EXANET_PDID_JOB, pdid) && (!ctx->local || node == s->node) ?
           EXANET_RESP_ACK : EXANET_RESP_PROTECTION;
}

/*
 * Checks the properties and builds the device.  The function copies @host.  Returns false
 * with @errp set, and does not build the device, if a property is not valid or memory is
 * missing.
 */
bool exanet_init(ExanetState *s, const RNicHost *host, Error **errp);
/*
 * Ends the device.  If functions of the device have not returned yet, the state of the
 * device is freed after these functions have returned; see rnic_loop_fini().
 */
void exanet_fini(ExanetState *s);
/*
 * Resets the device, with a new epoch.  If the device is at work, the reset happens when
 * the work ends.  Does nothing if the device has ended.  Does not reset the generations
 * of the packetizer.  Generations of the firmware begin with a value that depends on the
 * epoch.
 */
void exanet_reset(ExanetState *s);
/*
 * Returns the next existing port after @p, or the first existing port if @p is NULL.
 * Returns NULL at the end.
 */
static inline RNicPort *exanet_port_next(ExanetState *s, const RNicPort *p)
{
    return rnic_port_after(&s->ports, p);
}

/* Returns the device that @p belongs to. */
static inline ExanetState *exanet_port_state(const RNicPort *p)
{
    return p->group->opaque;
}

/* Makes the loop run the units; see rnic_loop_schedule(). */
static inline void exanet_schedule(ExanetState *s)
{
    rnic_loop_schedule(&s->loop);
}

/*
 * Returns the RAM of user page @page (EXANET_PAGE_*) of context @c.  The values in this
 * RAM are little-endian.
 */
static inline uint8_t *exanet_user_page(ExanetState *s, unsigned c, unsigned page)
{
    return s->user +
           ((uint64_t)(c * EXANET_USER_PAGES + page) << s->user_page_shift);
}

#endif /* HW_EXANET_EXANET_H */
