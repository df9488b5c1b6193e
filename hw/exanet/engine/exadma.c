/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaDMA, the send unit [T §5]: Pending_List, scheduler, output buffers and
 * control-packet windows.
 *
 * The scheduler sends one packet of each active transaction in turn, with two exceptions:
 * a flow with a limited rate (paced) sends block after block, and packets of a block that
 * can travel as a run are sent together.  The unit builds a packet in the buffer of the
 * crossbar, which is usually the frame of a port.  If the route is blocked, the unit
 * builds the packet in an output buffer, where the packet waits, because packets for
 * other routes must continue.  But if the packet can travel as a part of a run later, or
 * if the output buffer is full, the TID waits in the scheduler FIFO.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "context.h"
#include "../net/net.h"
#include "exadma-internal.h"
#include "exadma.h"
#include "../exanet.h"
#include "fault.h"
#include "../net/flow.h"
#include "rtmailbox.h"
#include "segment.h"
#include "../base/wire.h"
#include "../trace.h"

/*
 * Maximal number of TIDs that exadma_schedule() takes from the scheduler FIFO, for each
 * packet of the budget.
 */
#define EXADMA_ATTEMPTS 8

/*
 * Bits of W3 that software cannot set.  A write to an idle descriptor clears those of
 * these bits that the write covers.
 */
#define DESC_W3_RO (EXANET_DESC_W3_SENT | EXANET_DESC_W3_DONE | \
                    EXANET_DESC_W3_ACKED | EXANET_DESC_W3_ERROR)
/* A write starts or kills a transaction only if the write covers all these bits of W3. */
#define DESC_LANE_MASK RNIC_FIELD(63, 32)

/* --- Scheduler FIFO --------------------------------------------------------- */

static void exadma_enqueue(ExanetExadma *e, unsigned tid)
{
    /*
     * a TID that was killed and started again may still be in the FIFO, and stays there
     */
    if (!e->in_fifo[tid]) {
        e->in_fifo[tid] = true;
        e->fifo[rnic_fifo_push(&e->scheduled, EXANET_TIDS)] = tid;
    }
}

/*
 * Puts @tid at the head of the scheduler FIFO, so that the TID sends its next packet
 * before other TIDs.  Does nothing if the TID is in the FIFO.
 */
static void exadma_enqueue_first(ExanetExadma *e, unsigned tid)
{
    if (!e->in_fifo[tid]) {
        e->in_fifo[tid] = true;
        e->fifo[rnic_fifo_push_first(&e->scheduled, EXANET_TIDS)] = tid;
    }
}

static unsigned exadma_dequeue(ExanetExadma *e)
{
    unsigned tid = e->fifo[rnic_fifo_pop(&e->scheduled, EXANET_TIDS)];

    e->in_fifo[tid] = false;
    return tid;
}

/* --- Start and end of transactions ---------------------------------------- */

/*
 * Returns true if the descriptor of @tid passes the checks of [P §2.6]: length,
 * destination, chain, and PDID.  The function does not check W4, because software may
 * write W4 after the start.
 */
static bool exadma_desc_valid(ExanetState *s, unsigned tid)
{
    const uint64_t *d = exadma_desc(s, tid);
    uint32_t len = exadma_length(d);
    uint64_t va = exadma_va(d);

    return len > 0 && len <= EXANET_BLOCK_BYTES &&
           !exanet_block_crosses(va, len) &&
           RNIC_GET(EXANET_VA_WINDOW, va) != EXANET_WINDOW_NI &&
           !((d[2] & EXANET_DESC_W3_CHAINED) &&
             RNIC_GET(EXANET_DESC_W3_DEP, d[2]) == tid) &&
           exanet_context_check(s, RNIC_GET(EXANET_DESC_W3_PDID, d[2]),
                                s->node) == EXANET_RESP_ACK;
}

/*
 * Refuses the descriptor of @tid: sets ERROR in W3, makes the TID idle, and counts and
 * logs the error.
 */
static void exadma_reject(ExanetState *s, unsigned tid)
{
    uint64_t *d = exadma_desc(s, tid);

    d[2] |= EXANET_DESC_W3_ERROR;
    s->exadma.state[tid] = EXANET_EXADMA_IDLE;
    exanet_count(s, BLOCK_REJECTED);
    trace_exanet_exadma_err_rejected(s->node, tid, d[1], d[2]);
    qemu_log_mask(LOG_GUEST_ERROR, "exanet: descriptor %u refused: "
                  "W2 0x%" PRIx64 " W3 0x%" PRIx64 " W4 0x%" PRIx64 "\n",
                  tid, d[1], d[2], d[3]);
}

/*
 * Starts the transaction of @tid.  Returns false if its descriptor is not valid; then the
 * function has set ERROR in W3.
 */
static bool exadma_start(ExanetState *s, unsigned tid)
{
    uint64_t *d = exadma_desc(s, tid);

    d[2] &= ~(DESC_W3_RO | EXANET_DESC_W3_DB);
    trace_exanet_exadma_fetch(s->node, exadma_wire_tid(s, tid), d[0], d[1],
                              exadma_length(d));
    if (!exadma_desc_valid(s, tid)) {
        exadma_reject(s, tid);
        return false;
    }
    trace_exanet_exadma_decode(s->node, exadma_wire_tid(s, tid), exadma_ctx(d),
                               RNIC_GET(EXANET_DESC_W3_NOTIFY, d[2]));
    s->exadma.state[tid] = EXANET_EXADMA_TRIGGERED;
    exadma_enqueue(&s->exadma, tid);
    s->awake |= EXANET_AWAKE_EXADMA;
    exanet_count(s, BLOCK_STARTED);
    return true;
}

/*
 * Adds @tid, which has stopped with @resp, to the list of stopped transactions for the
 * model of the R5, unless the list is full.  @reported: the driver has a report of the
 * page fault, and will write FAULT_RESOLVE.  Does nothing if FW_MODE is not INTERNAL,
 * because an external R5 can read bit ERROR of the descriptor.
 */
static void exadma_stopped(ExanetState *s, unsigned tid, enum exanet_resp resp,
                           bool reported)
{
    ExanetExadma *e = &s->exadma;

    if (s->rt.internal && e->stops.count < EXANET_TIDS) {
        e->stopped[rnic_fifo_push(&e->stops, EXANET_TIDS)] =
            (ExanetStopped) { tid, resp, reported };
        s->awake |= EXANET_AWAKE_R5;
        exanet_schedule(s);
    }
}

bool exanet_exadma_pop_stopped(ExanetState *s, ExanetStopped *stopped)
{
    ExanetExadma *e = &s->exadma;

    if (!e->stops.count) {
        return false;
    }
    *stopped = e->stopped[rnic_fifo_pop(&e->stops, EXANET_TIDS)];
    return true;
}

/*
 * Starts the successor of descriptor @d in a chain, if the successor waits.  The caller
 * has built the last packet of @d [T §5.1].  If the descriptor of the successor is not
 * valid, reports the successor as stopped.
 */
static void exadma_chain(ExanetState *s, const uint64_t *d)
{
    unsigned next = RNIC_GET(EXANET_DESC_W3_DEP, d[2]);

    /* a TID that has run does not wait, so a circular chain ends here */
    if (exanet_exadma_armed(&s->exadma, next) && !exadma_start(s, next)) {
        exadma_stopped(s, next, EXANET_RESP_PROTECTION, false);
    }
}

/* Drops all packets of @tid in output buffers and control queues. */
static void exadma_slots_drop(ExanetState *s, unsigned tid)
{
    ExanetExadma *e = &s->exadma;

    if (e->buffered[tid] == 0) {
        return;
    }
    for (unsigned i = 0; i < EXANET_OUTPUTS; i++) {
        ExanetOutput *o = &e->output[i];

        for (unsigned n = 0; n < o->slots.count; n++) {
            ExanetSlot *slot =
                &o->slot[rnic_fifo_at(&o->slots, n, EXANET_OUTPUT_SLOTS)];

            if (slot->tid == tid) {
                slot->words = 0;
            }
        }
        for (unsigned n = 0; n < o->controls.count; n++) {
            ExanetControlSlot *c =
                &o->control[rnic_fifo_at(&o->controls, n, EXANET_CONTROL_QUEUE)];

            if (c->tid == tid) {
                c->dead = true;
            }
        }
    }
    e->buffered[tid] = 0;
}

void exanet_exadma_kill(ExanetState *s, unsigned tid)
{
    ExanetExadma *e = &s->exadma;
    uint64_t *d = exadma_desc(s, tid);

    if (e->state[tid] != EXANET_EXADMA_IDLE) {
        exanet_count(s, BLOCK_KILLED);
        trace_exanet_exadma_kill(s->node, exadma_wire_tid(s, tid),
                                 RNIC_GET(EXANET_DESC_W3_SENT, d[2]));
    }
    e->state[tid] = EXANET_EXADMA_IDLE;
    d[2] = (d[2] & ~EXANET_DESC_W3_DB) | EXANET_DESC_W3_ERROR;
    exadma_slots_drop(s, tid);
}

bool exanet_exadma_target(ExanetState *s, uint16_t wire, uint32_t *dst)
{
    unsigned tid = RNIC_GET(EXANET_TID_INDEX, wire);

    *dst = exadma_dst(exadma_desc(s, tid));
    return exadma_length(exadma_desc(s, tid)) &&
           exadma_wire_tid(s, tid) == wire;
}

/* --- Pending_List ----------------------------------------------------------- */

/* Returns the mask of bits that an access of @size bytes at @addr covers in its word. */
static uint64_t exadma_strobes(hwaddr addr, unsigned size)
{
    return MAKE_64BIT_MASK((addr & 7) * 8, MIN(size, 8 - (addr & 7)) * 8);
}

uint64_t exanet_exadma_list_read(ExanetState *s, hwaddr addr, unsigned size)
{
    uint64_t word = s->exadma.desc[(addr / 32) % EXANET_TIDS][(addr / 8) % 4];

    return (word & exadma_strobes(addr, size)) >> ((addr & 7) * 8);
}

/*
 * Acts on a write to word @w (0: W1) of a descriptor whose transaction is active.  @value
 * is the whole word with the new bytes.  Kills the transaction if the write covers
 * W3[63:32] (@trigger) and @value has DB = 1 and length 0.  Stores a new W4 until the
 * scheduler first takes @tid from the FIFO.  Ignores, counts in DESC_BUSY and logs any
 * other write.
 */
static void exadma_active_write(ExanetState *s, unsigned tid, unsigned w,
                                uint64_t value, bool trigger)
{
    if (trigger && (value & EXANET_DESC_W3_DB) &&
        RNIC_GET(EXANET_DESC_W3_LENGTH, value) == 0) {
        exanet_exadma_kill(s, tid);
    } else if (w == 3 && s->exadma.state[tid] == EXANET_EXADMA_TRIGGERED) {
        s->exadma.desc[tid][3] = value;
    } else {
        exanet_count(s, DESC_BUSY);
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: write to word %u of the active "
                      "descriptor %u ignored\n", w + 1, tid);
    }
}

void exanet_exadma_list_write(ExanetState *s, hwaddr addr, uint64_t value,
                              unsigned size)
{
    unsigned tid = (addr / 32) % EXANET_TIDS;
    unsigned w = (addr / 8) % 4;
    uint64_t strobes = exadma_strobes(addr, size);
    uint64_t *word = &s->exadma.desc[tid][w];
    uint64_t merged = (*word & ~strobes) |
                      ((value << ((addr & 7) * 8)) & strobes);
    bool trigger = w == 2 && (strobes & DESC_LANE_MASK) == DESC_LANE_MASK;

    if (s->exadma.state[tid] != EXANET_EXADMA_IDLE) {
        exadma_active_write(s, tid, w, merged, trigger);
        return;
    }
    if (w == 2) {
        merged &= ~(strobes & DESC_W3_RO);
    }
    *word = merged;
    if (trigger && !(merged & EXANET_DESC_W3_DB) && exadma_start(s, tid)) {
        exanet_schedule(s);
    }
}

void exanet_exadma_desc_write(ExanetState *s, unsigned tid,
                              const uint64_t word[EXANET_DESC_WORDS])
{
    uint64_t *d = exadma_desc(s, tid);

    if (unlikely(s->exadma.state[tid] != EXANET_EXADMA_IDLE)) {
        for (unsigned w = 3; w < 3 + EXANET_DESC_WORDS; w++) {
            exadma_active_write(s, tid, w % 4, word[w % 4], w % 4 == 2);
        }
        return;
    }
    memcpy(d, word, sizeof(struct exanet_desc));
    d[2] &= ~DESC_W3_RO;
    if (!(d[2] & EXANET_DESC_W3_DB) && exadma_start(s, tid)) {
        exanet_schedule(s);
    }
}

/* --- Packets ------------------------------------------------------------------ */

/*
 * Stops @tid with @resp, because its source cannot be read at address @va, or because its
 * context was closed.  If @resp is FAULT, reports the page fault to the driver.  Reports
 * the stop to the model of the R5.
 */
static void exadma_source_error(ExanetState *s, unsigned tid,
                                enum exanet_resp resp, uint64_t va)
{
    const uint64_t *d = exadma_desc(s, tid);
    bool reported = false;

    trace_exanet_exadma_err_source(s->node, exadma_wire_tid(s, tid), va, resp);
    exanet_exadma_kill(s, tid);
    if (resp == EXANET_RESP_FAULT) {
        ExanetPendingFault f = {
            .va = va & ~(uint64_t)(EXANET_SOURCE_PAGE - 1),
            .peer = exadma_dst(d),
            .tid = exadma_wire_tid(s, tid),
            .seq = RNIC_GET(EXANET_DESC_W4_SEQ, d[3]),
            .small = RNIC_GET(EXANET_DESC_W4_RESP, d[3]),
            .ctx = exadma_ctx(d),
            .unit = EXANET_FAULT_RDMA,
        };

        reported = exanet_fault_report(s, &f, d[0] + exadma_length(d) - va);
    }
    exadma_stopped(s, tid, resp, reported);
}

/*
 * Stores in W3 that packets with the first @sent bytes of the block of @tid have been
 * built.  If @last is true, ends the transaction and starts its successor in a chain.
 * Otherwise puts @tid into the scheduler FIFO again.
 */
static inline void exadma_advance(ExanetState *s, unsigned tid, uint32_t sent,
                           bool last)
{
    uint64_t *d = exadma_desc(s, tid);

    d[2] = (d[2] & ~EXANET_DESC_W3_SENT) | RNIC_PREP(EXANET_DESC_W3_SENT, sent);
    if (!last) {
        /*
         * A paced flow sends one block after the other, because each block under way
         * occupies a receiver context of a node that receives from many nodes.
         */
        if (exanet_flow_paced(s, exadma_dst(d))) {
            exadma_enqueue_first(&s->exadma, tid);
        } else {
            exadma_enqueue(&s->exadma, tid);
        }
        return;
    }
    d[2] |= EXANET_DESC_W3_DONE;
    s->exadma.state[tid] = EXANET_EXADMA_IDLE;
    exanet_count(s, BLOCK_DONE);
    if (d[2] & EXANET_DESC_W3_CHAINED) {
        exadma_chain(s, d);
    }
}

/*
 * Reads the payload of the next packet of @tid from memory, builds the packet for @route
 * in @buf, and calls exadma_advance().  Returns the packet's length in words.  If the
 * source cannot be read, stops @tid and returns 0.
 */
static unsigned exadma_packet_build(ExanetState *s, unsigned tid, int route, uint8_t *buf)
{
    const uint64_t *d = exadma_desc(s, tid);
    uint32_t len = exadma_length(d);
    uint32_t off = RNIC_GET(EXANET_DESC_W3_SENT, d[2]);
    uint64_t src = d[0] + off, fault_va = src;
    enum exanet_resp resp;
    ExanetPacket pkt;

    exadma_packet_init(s, tid, &pkt);
    pkt.va = exadma_va(d) + off;
    pkt.size = exanet_packetize(exadma_va(d), len, off);
    resp = exanet_context_read(s, exadma_ctx(d), src,
                               exanet_packet_payload(buf, pkt.va), pkt.size,
                               &fault_va);
    if (resp != EXANET_RESP_ACK) {
        exadma_source_error(s, tid, resp, fault_va);
        return 0;
    }
    trace_exanet_exadma_gather(s->node, pkt.tid, src, pkt.size);
    if (exanet_source_reads(src, pkt.size) == 1) {
        exanet_count(s, PKT_ONE_READ);
    } else {
        exanet_count(s, PKT_TWO_READS);
    }
    pkt.type = EXANET_TYPE_WRITE;
    pkt.first = off == 0;
    pkt.last = off + pkt.size == len;
    pkt.notify = RNIC_GET(EXANET_DESC_W3_NOTIFY, d[2]);
    pkt.no_crc = exanet_net_no_crc(s, route);
    trace_exanet_exadma_build(s->node, pkt.tid, pkt.seq, pkt.va, pkt.size);
    exadma_advance(s, tid, off + pkt.size, pkt.last);
    return exanet_packet_encode(buf, &pkt);
}

/* --- Output buffers ----------------------------------------------------------- */

/* Returns true if a packet for @route waits in the output buffer of @o. */
static bool exadma_output_holds(const ExanetOutput *o, int route)
{
    for (unsigned n = 0; n < o->slots.count; n++) {
        if (o->slot[rnic_fifo_at(&o->slots, n, EXANET_OUTPUT_SLOTS)].route == route) {
            return true;
        }
    }
    return false;
}

/*
 * Sends the control packets of @o, oldest first, up to the first whose route is blocked;
 * then sends the data packets of @o in the same way.  Removes a packet that
 * exanet_exadma_kill() dropped when this packet is the oldest of its queue.
 */
static void exadma_output_drain(ExanetState *s, ExanetOutput *o)
{
    ExanetExadma *e = &s->exadma;

    while (o->controls.count) {
        ExanetControlSlot *c = &o->control[o->controls.head];
        ExanetOpen place;

        if (!c->dead) {
            if (!exanet_net_open(s, c->dst, c->path, &place)) {
                break;
            }
            memcpy(place.buf, c->data, sizeof(c->data));
            e->buffered[c->tid]--;
        }
        e->control_freed |= o->controls.count == EXANET_CONTROL_QUEUE;
        rnic_fifo_pop(&o->controls, EXANET_CONTROL_QUEUE);
        if (!c->dead) {
            exanet_net_send(s, &place, EXANET_CONTROL_WORDS);
        }
    }
    while (o->slots.count) {
        ExanetSlot *slot = &o->slot[o->slots.head];
        ExanetOpen place;

        if (slot->words) {
            if (!exanet_net_open_route(s, slot->route, &place)) {
                break;
            }
            memcpy(place.buf, slot->data, slot->words * EXANET_WORD_BYTES);
            e->buffered[slot->tid]--;
        }
        rnic_fifo_pop(&o->slots, EXANET_OUTPUT_SLOTS);
        if (slot->words) {
            exanet_net_send(s, &place, slot->words);
        }
    }
}

/*
 * Returns true if ExaDMA may send runs.  Returns false in the published protocol
 * (CTRL_STRICT), without the model of the R5, and while the rate of a flow is limited.
 */
static bool exadma_runs(ExanetState *s)
{
    return !s->strict && s->rt.internal && !s->flows_paced;
}

/*
 * Builds a run of the next packets of @tid, at most @budget packets, at @place, and sends
 * the run.  Returns the number of packets.  Returns 0 if the next packet must be sent
 * alone.
 */
static G_NO_INLINE unsigned exadma_run_send(ExanetState *s, unsigned tid,
                                            const ExanetOpen *place, unsigned budget)
{
    uint32_t len = exadma_length(exadma_desc(s, tid)), sent;
    unsigned packets = exadma_runs(s) ? MIN(exanet_net_run_room(s, place), budget) : 0;

    if (packets < 2) {
        return 0;
    }
    packets = exanet_exadma_run_build(s, tid, packets, place, &sent);
    if (packets) {
        exadma_advance(s, tid, sent, sent == len);
        exanet_net_send_run(s, place, packets);
    }
    return packets;
}

/*
 * Builds the next packets of @tid, a run of at most @budget packets or one packet, and
 * sends them.  If the route is blocked, or if older packets for the route wait in the
 * output buffer, stores one packet in the output buffer instead.  Returns the number of
 * packets.  Returns 0, without a packet, if the packet must wait but the output buffer is
 * full, or if the next packets can travel as a run when the route opens.  If the source
 * cannot be read, stops @tid and returns 1.
 */
static unsigned exadma_packets_send(ExanetState *s, unsigned tid, unsigned budget)
{
    ExanetExadma *e = &s->exadma;
    const uint64_t *d = exadma_desc(s, tid);
    ExanetOutput *o = &e->output[exadma_path(d) % EXANET_OUTPUTS];
    ExanetOpen place;
    uint32_t left = exadma_length(d) - RNIC_GET(EXANET_DESC_W3_SENT, d[2]);
    ExanetSlot *slot;
    unsigned words;

    if (unlikely(o->slots.count | o->controls.count)) {
        exadma_output_drain(s, o);
    }
    if (exanet_net_open(s, exadma_dst(d), exadma_path(d), &place) &&
        (!o->slots.count || !exadma_output_holds(o, place.route))) {
        if (left >= 2 * EXANET_MTU && place.route >= 0) {
            unsigned packets = exadma_run_send(s, tid, &place, budget);

            if (packets) {
                return packets;
            }
        }
        words = exadma_packet_build(s, tid, place.route, place.buf);
        if (words) {
            exanet_flow_sent(s, exadma_dst(d), words);
            exanet_net_send(s, &place, words);
        }
        return 1;
    }
    if (o->slots.count == EXANET_OUTPUT_SLOTS ||
        (left >= 2 * EXANET_MTU && exadma_runs(s) &&
         exanet_net_run_later(s, place.route))) {
        return 0;
    }
    slot = &o->slot[rnic_fifo_at(&o->slots, o->slots.count, EXANET_OUTPUT_SLOTS)];
    words = exadma_packet_build(s, tid, place.route, slot->data);
    if (words) {
        exanet_flow_sent(s, exadma_dst(d), words);
        slot->route = place.route;
        slot->tid = tid;
        slot->words = words;
        rnic_fifo_push(&o->slots, EXANET_OUTPUT_SLOTS);
        e->buffered[tid]++;
    }
    return 1;
}

/*
 * Returns true if @tid may send: its path is valid, and exanet_context_check() accepts
 * its PDID.  Otherwise stops @tid.  Only the first call for a transaction checks the
 * path; from this call on, software cannot change W4.
 */
static bool exadma_admit(ExanetState *s, unsigned tid)
{
    ExanetExadma *e = &s->exadma;
    const uint64_t *d = exadma_desc(s, tid);

    if (e->state[tid] == EXANET_EXADMA_TRIGGERED) {
        if (exadma_path(d) >= EXANET_PATHS) {
            exadma_reject(s, tid);
            return false;
        }
        e->state[tid] = EXANET_EXADMA_RUNNING;
    }
    /* the process may have closed its context since the start */
    if (exanet_context_check(s, RNIC_GET(EXANET_DESC_W3_PDID, d[2]),
                             s->node) != EXANET_RESP_ACK) {
        exadma_source_error(s, tid, EXANET_RESP_PROTECTION, d[0]);
        return false;
    }
    return true;
}

enum exadma_result {
    EXADMA_DONE,                /* packets were sent or buffered, or the TID stopped */
    EXADMA_PUT_BACK,            /* exadma_packets_send() returned 0: the TID waits */
    EXADMA_PACED,               /* the rate of the flow does not permit a packet now */
};

/*
 * Tries to send a packet or a run of @tid, at most *@budget packets.  If the result is
 * DONE, subtracts the packets from *@budget, or 1 if the TID stopped.
 */
static enum exadma_result exadma_try(ExanetState *s, unsigned tid, unsigned *budget)
{
    unsigned packets;

    if (!exadma_admit(s, tid)) {
        --*budget;
        return EXADMA_DONE;
    }
    if (!exanet_flow_may_send(s, exadma_dst(exadma_desc(s, tid)))) {
        return EXADMA_PACED;
    }
    packets = exadma_packets_send(s, tid, *budget);
    if (packets) {
        exanet_count_by(s, EXANET_CNT_SCHED_ROUND, packets);
        *budget -= packets;
        return EXADMA_DONE;
    }
    exanet_count(s, SCHED_NO_SLOT);
    return EXADMA_PUT_BACK;
}

/*
 * Runs the scheduler for at most @budget packets.  A TID whose flow must wait because of
 * its rate leaves the FIFO until the end of this function; flow.c runs the units when the
 * flow may send.  Returns true if the FIFO has TIDs that may be able to send now.
 */
static bool exadma_schedule(ExanetState *s, unsigned budget)
{
    ExanetExadma *e = &s->exadma;
    unsigned attempts = EXADMA_ATTEMPTS * budget;
    /* number of TIDs put back since the last packet; the loop ends if no other is left */
    unsigned put_back = 0;
    unsigned paced = 0;
    bool more;

    while (e->scheduled.count > put_back && budget && attempts--) {
        unsigned tid = exadma_dequeue(e);

        if (e->state[tid] == EXANET_EXADMA_IDLE) {
            continue;
        }
        switch (exadma_try(s, tid, &budget)) {
        case EXADMA_DONE:
            put_back = 0;
            break;
        case EXADMA_PUT_BACK:
            exadma_enqueue(e, tid);
            put_back++;
            break;
        case EXADMA_PACED:
            e->paced[paced++] = tid;
            break;
        }
    }
    more = e->scheduled.count > put_back;
    for (unsigned i = 0; i < paced; i++) {
        exadma_enqueue(e, e->paced[i]);
    }
    return more;
}

/* Returns true if a TID is in the FIFO, or if a packet waits at an output. */
static bool exadma_has_work(const ExanetExadma *e)
{
    bool work = e->scheduled.count;

    for (unsigned i = 0; i < EXANET_OUTPUTS; i++) {
        work |= e->output[i].slots.count | e->output[i].controls.count;
    }
    return work;
}

static bool exadma_run(ExanetState *s, unsigned budget)
{
    ExanetExadma *e = &s->exadma;
    bool more;

    for (unsigned i = 0; i < EXANET_OUTPUTS; i++) {
        if (e->output[i].slots.count | e->output[i].controls.count) {
            exadma_output_drain(s, &e->output[i]);
        }
    }
    more = exadma_schedule(s, budget);
    more |= e->control_freed;
    e->control_freed = false;
    if (exadma_has_work(e)) {
        s->awake |= EXANET_AWAKE_EXADMA;
    }
    return more;
}

/* --- Control-packet windows [T §5.3.1.2] ------------------------------------- */

static void exadma_control_build(ExanetState *s, const ExanetOutput *o,
                                 unsigned tid, ExanetControlSlot *c)
{
    const uint64_t *d = exadma_desc(s, tid);
    uint64_t va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    struct exanet_control control = {
        .target = cpu_to_le64(o->control_word[0]),
        .data = cpu_to_le64(o->control_word[1]),
        .info = cpu_to_le64(o->control_word[2]),
        .block = cpu_to_le64(
            RNIC_PREP(EXANET_CONTROL_OFFSET, exadma_va(d)) |
            RNIC_PREP(EXANET_CONTROL_BLOCK, exadma_length(d)) |
            RNIC_PREP(EXANET_CONTROL_PDID, exadma_dst_pdid(d))),
    };
    ExanetPacket pkt;

    exadma_packet_init(s, tid, &pkt);
    pkt.type = EXANET_TYPE_CONTROL;
    pkt.va = va;
    pkt.size = sizeof(control);
    pkt.notify = true;
    memcpy(exanet_packet_payload(c->data, va), &control, sizeof(control));
    exanet_packet_encode(c->data, &pkt);
    c->dst = pkt.dst;
    c->path = pkt.path;
    c->tid = tid;
    c->dead = false;
    trace_exanet_exadma_control(s->node, pkt.tid, pkt.seq, o->control_word[0]);
}

/*
 * Queues a control packet with the three words in @o->control_word and the fields of the
 * descriptor of @tid.  If the descriptor is not valid or has ERROR, or if the queue is
 * full, drops and logs the packet, and counts the packet in CONTROL_DROPPED.
 */
static void exadma_control_queue(ExanetState *s, ExanetOutput *o, unsigned tid)
{
    uint64_t w3 = s->exadma.desc[tid][2];

    if ((w3 & EXANET_DESC_W3_ERROR) || !exadma_desc_valid(s, tid) ||
        o->controls.count == EXANET_CONTROL_QUEUE) {
        exanet_count(s, CONTROL_DROPPED);
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: control packet of descriptor %u "
                      "dropped\n", tid);
        return;
    }
    exadma_control_build(s, o, tid,
                         &o->control[rnic_fifo_push(&o->controls,
                                                    EXANET_CONTROL_QUEUE)]);
    s->exadma.buffered[tid]++;
    s->awake |= EXANET_AWAKE_EXADMA;
    exanet_schedule(s);
}

void exanet_exadma_control_write(ExanetState *s, hwaddr addr, uint64_t value,
                                 unsigned size)
{
    ExanetOutput *o = &s->exadma.output[(addr >> 14) % EXANET_OUTPUTS];
    unsigned tid = (addr / EXANET_WORD_BYTES) % EXANET_TIDS;

    if (size != 8 || addr % EXANET_WORD_BYTES) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: control window takes 8 bytes at "
                      "multiples of 16, not %u at 0x%" HWADDR_PRIx "\n", size,
                      addr);
        return;
    }
    if (o->control_stage && o->control_tid != tid) {
        exanet_count(s, CONTROL_RESTART);
        o->control_stage = 0;
    }
    o->control_tid = tid;
    o->control_word[o->control_stage++] = value;
    if (o->control_stage == ARRAY_SIZE(o->control_word)) {
        o->control_stage = 0;
        exadma_control_queue(s, o, tid);
    }
}

bool exanet_exadma_control_send(ExanetState *s, unsigned output, unsigned tid,
                                const uint64_t word[EXANET_CONTROL_STORES])
{
    ExanetOutput *o = &s->exadma.output[output];

    if (o->controls.count == EXANET_CONTROL_QUEUE) {
        return false;
    }
    if (o->control_stage) {
        /* drops words that software has stored, because @word is a whole packet */
        exanet_count(s, CONTROL_RESTART);
        o->control_stage = 0;
    }
    for (unsigned i = 0; i < EXANET_CONTROL_STORES; i++) {
        exanet_exadma_control_write(s, EXANET_CONTROL_ADDR(output, tid) -
                                    EXANET_CONTROL_WINDOW, word[i], 8);
    }
    return true;
}

static void exadma_reset(ExanetState *s)
{
    memset(&s->exadma, 0, sizeof(s->exadma));
}

const ExanetUnit exanet_exadma_unit = {
    .reset = exadma_reset,
    .run = exadma_run,
    .awake = EXANET_AWAKE_EXADMA,
};
