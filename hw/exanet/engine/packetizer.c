/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packetizer: sends small messages from the registers of a process.  The
 * packetizer retransmits a message with flag PKTZ_ACK until the message is acked or has
 * failed, and sends any other message once.
 *
 * Destination, control word and payload of a message stay in the user page.  These fields
 * cannot change between the checks at GO and the last copy, because stores to a channel
 * are ignored until its message has ended.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/log.h"
#include "../../core/backoff.h"
#include "context.h"
#include "../net/net.h"
#include "../exanet.h"
#include "fault.h"
#include "packetizer-peer.h"
#include "packetizer.h"
#include "../base/wire.h"
#include "../trace.h"

#define TIMEOUT_NS          (20 * SCALE_MS)
#define TIMEOUT_SHIFT_MAX   5
#define TIMEOUTS_MAX        16
#define BACKOFF_NS          (50 * SCALE_US)
#define BACKOFF_MAX_NS      (10 * SCALE_MS)
#define BACKOFF_SHIFT_MAX   8
/* A nack of the last copy later than this time after GO makes the message fail. */
#define NACKED_MAX_NS       (10LL * NANOSECONDS_PER_SECOND)

#define SENDS_PER_RUN       64

/*
 * Context of channel @n, and number of channel @n in its context.  @n counts the channels
 * of all contexts.
 */
#define CHANNEL_CTX(n) ((n) / EXANET_PKTZ_CHANNELS)
#define CHANNEL_NUMBER(n) ((n) % EXANET_PKTZ_CHANNELS)

static struct exanet_pktz_channel *channel_regs(ExanetState *s, unsigned n)
{
    uint8_t *page = exanet_user_page(s, CHANNEL_CTX(n), EXANET_PAGE_PACKETIZER);

    return (struct exanet_pktz_channel *)page + CHANNEL_NUMBER(n);
}

static void channel_status(ExanetState *s, unsigned n,
                           enum exanet_pktz_state state, enum exanet_resp resp,
                           uint64_t flags)
{
    const ExanetPktzChannel *ch = &s->packetizer.channel[n];

    stq_le_p(&channel_regs(s, n)->status,
             RNIC_PREP(EXANET_PKTZSTAT_STATE, state) |
             RNIC_PREP(EXANET_PKTZSTAT_RESP, resp) |
             RNIC_PREP(EXANET_PKTZSTAT_RETRIES, MIN(ch->seq, 255)) |
             RNIC_PREP(EXANET_PKTZSTAT_GEN, ch->gen) | flags);
}

/*
 * Ends the message of channel @n, and writes the final status to the user page.  If GO
 * was refused, there is no message, and the function only writes the status.
 */
static void channel_finish(ExanetState *s, unsigned n,
                           enum exanet_pktz_state state, enum exanet_resp resp,
                           uint64_t flags)
{
    if (test_and_clear_bit(n, s->packetizer.waiting)) {
        exanet_pktz_peer_end(s, n, s->packetizer.channel[n].coord);
    }
    clear_bit(n, s->packetizer.send);
    channel_status(s, n, state, resp, flags);
    trace_exanet_packetizer_complete(s->node, CHANNEL_CTX(n), CHANNEL_NUMBER(n),
                                     ldq_le_p(&channel_regs(s, n)->status));
}

/* Sets the deadline (ns, virtual time) of channel @n. */
static void channel_arm(ExanetState *s, unsigned n, int64_t deadline)
{
    ExanetPacketizer *p = &s->packetizer;

    p->channel[n].deadline = deadline;
    rnic_deadline_at(&p->deadline, deadline);
}

static int64_t timeout_ns(const ExanetPktzChannel *ch)
{
    return rnic_backoff(TIMEOUT_NS, ch->timeouts, TIMEOUT_SHIFT_MAX, INT64_MAX);
}

/* --- Software's side ------------------------------------------------------- */

/*
 * Returns true if size, code and address of a message are valid.  @ctrl and @dst are the
 * registers CTRL and DST of the channel.
 */
static bool channel_check(uint64_t ctrl, uint64_t dst)
{
    unsigned size = RNIC_GET(EXANET_PKTZ_SIZE, ctrl);
    unsigned code = RNIC_GET(EXANET_PKTZ_CODE, ctrl);
    uint64_t va = RNIC_GET(EXANET_GVA_VA, dst);

    /*
     * NI addresses are checked too, because a packet whose payload crosses a multiple of
     * 256 B is malformed
     */
    if (size < 1 || size > EXANET_PKTZ_PAYLOAD_MAX ||
        va % EXANET_MTU + size > EXANET_MTU) {
        return false;
    }
    if (RNIC_GET(EXANET_VA_WINDOW, va) != EXANET_WINDOW_NI) {
        return code == EXANET_TYPE_WRITE;
    }
    switch (RNIC_GET(EXANET_VA_NI_INDEX, va)) {
    case EXANET_NI_MAILBOX:
        return code == EXANET_TYPE_WRITE;
    case EXANET_NI_RT_REQUEST:
        return code == EXANET_TYPE_READ_REQ;
    default:
        return false;
    }
}

/*
 * Begins the message in the registers of channel @n.  Sets status FAILED instead if the
 * device is disabled, if the message is not valid or not permitted, or if
 * exanet_pktz_peer_begin() has no room or generation for the message.
 */
static void channel_go(ExanetState *s, unsigned n)
{
    ExanetPacketizer *p = &s->packetizer;
    ExanetPktzChannel *ch = &p->channel[n];
    const struct exanet_pktz_channel *regs = channel_regs(s, n);
    uint64_t ctrl = ldq_le_p(&regs->ctrl);
    uint64_t dst = ldq_le_p(&regs->dst);
    uint32_t coord = RNIC_GET(EXANET_GVA_COORD, dst);
    unsigned c = CHANNEL_CTX(n);
    uint8_t gen;

    trace_exanet_packetizer_doorbell(s->node, c, CHANNEL_NUMBER(n), ctrl, dst);
    ch->seq = 0;
    if (!s->enabled ||
        exanet_context_check(s, s->ctx[c].pdid,
                             RNIC_GET(EXANET_GVA_COORD, dst))) {
        channel_finish(s, n, EXANET_PKTZ_FAILED, EXANET_RESP_PROTECTION, 0);
        return;
    }
    if (!channel_check(ctrl, dst)) {
        qemu_log_mask(LOG_GUEST_ERROR,
                      "exanet: context %u: packetizer channel %u cannot send "
                      "0x%" PRIx64 " to 0x%" PRIx64 "\n",
                      c, CHANNEL_NUMBER(n), ctrl, dst);
        channel_finish(s, n, EXANET_PKTZ_FAILED, EXANET_RESP_MALFORMED, 0);
        return;
    }
    if (!exanet_pktz_peer_begin(s, n, coord, ch->gen, &gen)) {
        channel_finish(s, n, EXANET_PKTZ_FAILED, EXANET_RESP_FULL, 0);
        return;
    }
    *ch = (ExanetPktzChannel) {
        .gen = gen,
        .coord = coord,
        .start = rnic_now(),
    };
    set_bit(n, p->waiting);
    set_bit(n, p->send);
    s->awake |= EXANET_AWAKE_PACKETIZER;
    channel_status(s, n, EXANET_PKTZ_WAITING, 0, 0);
    channel_arm(s, n, ch->start + timeout_ns(ch));
    exanet_schedule(s);
}

void exanet_packetizer_write(ExanetState *s, unsigned c, hwaddr addr,
                             uint64_t value, unsigned size)
{
    unsigned offset = addr % EXANET_PKTZ_BYTES;
    unsigned k = addr / EXANET_PKTZ_BYTES;
    unsigned n = c * EXANET_PKTZ_CHANNELS + k;
    bool ctrl = offset == EXANET_PKTZ_CTRL;
    bool go = ctrl && (value & EXANET_PKTZ_GO);
    uint8_t *reg;

    if (k >= EXANET_PKTZ_CHANNELS || size < 4 || offset % size ||
        !s->ctx[c].enabled) {
        return;
    }
    if (test_bit(n, s->packetizer.waiting)) {
        if (go) {
            exanet_count(s, MSG_BUSY);
        }
        return;
    }
    if (offset >= offsetof(struct exanet_pktz_channel, unused) ||
        (offset >= offsetof(struct exanet_pktz_channel, status) &&
         offset < EXANET_PKTZ_PAYLOAD)) {
        return;
    }
    if (ctrl) {
        value &= ~EXANET_PKTZ_GO;
    }
    reg = (uint8_t *)channel_regs(s, n) + offset;
    if (size == 4) {
        stl_le_p(reg, value);
    } else {
        stq_le_p(reg, value);
    }
    if (go) {
        channel_go(s, n);
    }
}

/* --- The network's side ---------------------------------------------------- */

/*
 * Returns the path of the next copy to node @dst, after @copies copies of the message.
 * If there are several paths, successive copies use the paths in turn, because a cable of
 * the last path may be cut.  Returns 0 if there is no route.
 */
static unsigned channel_path(ExanetState *s, uint32_t dst, unsigned copies)
{
    bool order;
    unsigned cables = exanet_router_paths(s, dst, &order);

    return cables ? exanet_path_nth(cables, order, copies) : 0;
}

static void channel_packet(ExanetState *s, unsigned n, ExanetPacket *pkt)
{
    const ExanetPktzChannel *ch = &s->packetizer.channel[n];
    const struct exanet_pktz_channel *regs = channel_regs(s, n);
    uint64_t ctrl = ldq_le_p(&regs->ctrl);
    uint64_t dst = ldq_le_p(&regs->dst);
    uint16_t pdid = s->ctx[CHANNEL_CTX(n)].pdid;

    *pkt = (ExanetPacket) {
        .type = RNIC_GET(EXANET_PKTZ_CODE, ctrl),
        .dst = RNIC_GET(EXANET_GVA_COORD, dst),
        .va = RNIC_GET(EXANET_GVA_VA, dst),
        .size = RNIC_GET(EXANET_PKTZ_SIZE, ctrl),
        .src = s->node,
        .epoch = s->epoch,
        .tid = RNIC_PREP(EXANET_PTID_GEN, ch->gen) |
               RNIC_PREP(EXANET_PTID_CTX, CHANNEL_CTX(n)) |
               RNIC_PREP(EXANET_PTID_CHANNEL, CHANNEL_NUMBER(n)),
        .seq = ch->seq,
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .ttl = EXANET_TTL_MAX,
        .first = true,
        .last = true,
        /* the header of a read request has the PDID of the requester */
        .pdid = pdid,
    };
    if (pkt->type == EXANET_TYPE_WRITE) {
        pkt->pdid = (pdid & EXANET_PDID_JOB) |
                    RNIC_PREP(EXANET_PDID_CTX,
                              RNIC_GET(EXANET_PKTZ_DST_CTX, ctrl));
    }
}

/*
 * Sends a copy of the message of channel @n, and ends a message without PKTZ_ACK with
 * status ACKED.  Returns false, without a copy, if the route is blocked.  The function
 * calls exanet_net_send() last, because a response of this node itself may arrive inside
 * that call.
 */
static bool channel_send(ExanetState *s, unsigned n)
{
    ExanetPktzChannel *ch = &s->packetizer.channel[n];
    const struct exanet_pktz_channel *regs = channel_regs(s, n);
    uint32_t dst = RNIC_GET(EXANET_GVA_COORD, ldq_le_p(&regs->dst));
    unsigned path = channel_path(s, dst, ch->sent ? ch->seq + 1 : 0);
    ExanetOpen place;
    ExanetPacket pkt;
    unsigned words;

    if (!exanet_net_open(s, dst, path, &place)) {
        return false;
    }
    if (ch->sent) {
        ch->seq++;
        exanet_count(s, MSG_RETRY);
        channel_status(s, n, EXANET_PKTZ_WAITING, ch->resp, 0);
    }
    ch->sent = true;
    clear_bit(n, s->packetizer.send);
    if (place.route != EXANET_ROUTE_NONE) {
        exanet_pktz_peer_sent(s, n, ch->coord);
    }

    channel_packet(s, n, &pkt);
    pkt.path = path;
    memcpy(exanet_packet_payload(place.buf, pkt.va), regs->payload, pkt.size);
    words = exanet_packet_encode(place.buf, &pkt);
    trace_exanet_packetizer_build(s->node, CHANNEL_CTX(n), CHANNEL_NUMBER(n),
                                  pkt.tid, pkt.seq);
    if (!(ldq_le_p(&regs->ctrl) & EXANET_PKTZ_ACK)) {
        channel_finish(s, n, EXANET_PKTZ_ACKED, EXANET_RESP_ACK, 0);
    }
    exanet_net_send(s, &place, words);
    return true;
}

/* Returns the number, counted through all contexts, of the channel in wire TID @wire. */
static unsigned channel_of(uint16_t wire)
{
    return RNIC_GET(EXANET_PTID_CTX, wire) * EXANET_PKTZ_CHANNELS +
           RNIC_GET(EXANET_PTID_CHANNEL, wire);
}

bool exanet_packetizer_target(ExanetState *s, uint16_t wire, uint32_t *dst)
{
    unsigned n = channel_of(wire), gen = RNIC_GET(EXANET_PTID_GEN, wire);

    if (!test_bit(n, s->packetizer.waiting) ||
        gen != s->packetizer.channel[n].gen) {
        return exanet_pktz_peer_asked(s, n, gen, dst);
    }
    *dst = RNIC_GET(EXANET_GVA_COORD, ldq_le_p(&channel_regs(s, n)->dst));
    return true;
}

void exanet_packetizer_response(ExanetState *s, const ExanetPacket *pkt)
{
    unsigned n = channel_of(pkt->tid);
    ExanetPktzChannel *ch = &s->packetizer.channel[n];
    const uint16_t seq_mask = (1u << EXANET_ACK_SEQ_BITS) - 1;
    int64_t now, delay;

    if (exanet_ack_stale(s, pkt)) {
        return;
    }
    exanet_pktz_peer_answered(s, n, RNIC_GET(EXANET_PTID_GEN, pkt->tid));
    if (!test_bit(n, s->packetizer.waiting) || !ch->sent ||
        RNIC_GET(EXANET_PTID_GEN, pkt->tid) != ch->gen ||
        pkt->seq != (ch->seq & seq_mask)) {
        exanet_count(s, ACK_STALE);
        return;
    }
    switch (pkt->resp) {
    case EXANET_RESP_ACK:
        channel_finish(s, n, EXANET_PKTZ_ACKED, EXANET_RESP_ACK, 0);
        return;
    case EXANET_RESP_CRC:
    case EXANET_RESP_FAULT:
    case EXANET_RESP_NO_CONTEXT:
    case EXANET_RESP_FULL:
    case EXANET_RESP_RESOLVED:
        break;
    case EXANET_RESP_DECODE:
    case EXANET_RESP_PROTECTION:
    case EXANET_RESP_MALFORMED:
        channel_finish(s, n, EXANET_PKTZ_FAILED, pkt->resp, 0);
        return;
    default:
        exanet_count(s, ACK_STALE);
        return;
    }
    now = s->time;
    ch->resp = pkt->resp;
    if (now - ch->start > NACKED_MAX_NS) {
        channel_finish(s, n, EXANET_PKTZ_FAILED, ch->resp,
                       EXANET_PKTZSTAT_TIMEOUT);
        return;
    }
    delay = rnic_backoff(BACKOFF_NS, ch->nacks, BACKOFF_SHIFT_MAX, BACKOFF_MAX_NS);
    ch->nacks += ch->nacks < UINT8_MAX;
    ch->timeouts = 0;
    ch->backoff = true;
    channel_arm(s, n, now + delay);
    trace_exanet_packetizer_retry(s->node, CHANNEL_CTX(n), CHANNEL_NUMBER(n),
                                  ch->resp, delay);
}

/*
 * Handles the deadline of channel @n, which has passed: marks the channel for another
 * copy, or makes the message fail after more than TIMEOUTS_MAX timeouts.  @now: ns.
 */
static void channel_expire(ExanetState *s, unsigned n, int64_t now)
{
    ExanetPktzChannel *ch = &s->packetizer.channel[n];

    if (ch->backoff) {
        ch->backoff = false;
    } else if (++ch->timeouts > TIMEOUTS_MAX) {
        channel_finish(s, n, EXANET_PKTZ_FAILED, ch->resp,
                       EXANET_PKTZSTAT_TIMEOUT);
        return;
    } else {
        trace_exanet_packetizer_retry(s->node, CHANNEL_CTX(n), CHANNEL_NUMBER(n),
                                      ch->resp, 0);
    }
    set_bit(n, s->packetizer.send);
    s->awake |= EXANET_AWAKE_PACKETIZER;
    channel_arm(s, n, now + timeout_ns(ch));
}

static void packetizer_expire(ExanetState *s)
{
    ExanetPacketizer *p = &s->packetizer;
    int64_t now = rnic_now();
    int64_t next = INT64_MAX;
    unsigned long n;

    p->due = false;
    rnic_deadline_hold(&p->deadline);
    for (n = find_first_bit(p->waiting, EXANET_PKTZ_TOTAL);
         n < EXANET_PKTZ_TOTAL;
         n = find_next_bit(p->waiting, EXANET_PKTZ_TOTAL, n + 1)) {
        if (p->channel[n].deadline <= now) {
            channel_expire(s, n, now);
        }
        if (test_bit(n, p->waiting)) {
            next = MIN(next, p->channel[n].deadline);
        }
    }
    rnic_deadline_release(&p->deadline, next);
}

/*
 * Handles expired deadlines, then sends at most SENDS_PER_RUN copies, one for each
 * channel in @s->packetizer.send.  Skips a channel whose route is blocked; the units are
 * scheduled when the route opens.  Returns true if the limit was reached, because other
 * channels may be able to send now.
 */
static bool packetizer_run(ExanetState *s, unsigned packets)
{
    ExanetPacketizer *p = &s->packetizer;
    unsigned start = p->next;
    unsigned sent = 0;

    if (p->due) {
        packetizer_expire(s);
    }
    for (unsigned part = 0; part < 2; part++) {
        unsigned long end = part ? start : EXANET_PKTZ_TOTAL;
        unsigned long n = find_next_bit(p->send, end, part ? 0 : start);

        for (; n < end; n = find_next_bit(p->send, end, n + 1)) {
            if (!channel_send(s, n)) {
                continue;
            }
            p->next = (n + 1) % EXANET_PKTZ_TOTAL;
            if (++sent == SENDS_PER_RUN) {
                s->awake |= EXANET_AWAKE_PACKETIZER;
                return true;
            }
        }
    }
    if (!bitmap_empty(p->send, EXANET_PKTZ_TOTAL)) {
        s->awake |= EXANET_AWAKE_PACKETIZER;
    }
    return false;
}

/* --- Life ------------------------------------------------------------------- */

static void packetizer_quiesce(ExanetState *s, unsigned c)
{
    for (unsigned k = 0; k < EXANET_PKTZ_CHANNELS; k++) {
        unsigned n = c * EXANET_PKTZ_CHANNELS + k;

        if (test_bit(n, s->packetizer.waiting)) {
            channel_finish(s, n, EXANET_PKTZ_FAILED, EXANET_RESP_PROTECTION, 0);
        }
    }
}

static unsigned packetizer_active(ExanetState *s, unsigned c)
{
    unsigned active = 0;

    for (unsigned k = 0; k < EXANET_PKTZ_CHANNELS; k++) {
        active += test_bit(c * EXANET_PKTZ_CHANNELS + k, s->packetizer.waiting);
    }
    return active;
}

static void packetizer_timer(void *opaque)
{
    ExanetState *s = opaque;

    s->packetizer.due = true;
    s->awake |= EXANET_AWAKE_PACKETIZER;
    exanet_schedule(s);
}

static void packetizer_init(ExanetState *s)
{
    rnic_deadline_init(&s->packetizer.deadline, packetizer_timer, s);
    exanet_pktz_peers_init(s);
}

static void packetizer_fini(ExanetState *s)
{
    rnic_deadline_fini(&s->packetizer.deadline);
    exanet_pktz_peers_fini(s);
}

static void packetizer_reset(ExanetState *s)
{
    ExanetPacketizer *p = &s->packetizer;

    rnic_deadline_cancel(&p->deadline);
    p->due = false;
    p->next = 0;
    for (unsigned n = 0; n < EXANET_PKTZ_TOTAL; n++) {
        if (test_and_clear_bit(n, p->waiting)) {
            exanet_pktz_peer_end(s, n, p->channel[n].coord);
        }
    }
    bitmap_zero(p->send, EXANET_PKTZ_TOTAL);
    /*
     * Generations are not reset, because epochs repeat after 255 resets.  A receiver that
     * still has records of the same epoch could regard the next message as a duplicate.
     */
}

const ExanetUnit exanet_packetizer_unit = {
    .init = packetizer_init,
    .fini = packetizer_fini,
    .reset = packetizer_reset,
    .run = packetizer_run,
    .awake = EXANET_AWAKE_PACKETIZER,
    .active = packetizer_active,
    .quiesce = packetizer_quiesce,
};
