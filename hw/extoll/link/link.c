/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One end of a cable; see link.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/control.h"
#include "../base/flit.h"
#include "../base/packet.h"
#include "link.h"

#define WORD 16                     /* bytes of a word of a cable frame */
/* Bytes from which extoll_packet_measure() tells the length of any packet. */
#define MEASURE_BYTES (EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME)

QEMU_BUILD_BUG_ON(sizeof(struct extoll_control) != WORD);
QEMU_BUILD_BUG_ON(EXTOLL_FLIT_MAX % WORD);

static void count(ExtollLink *l, enum extoll_link_counter c, unsigned n)
{
    l->counter[c] += n;
}

/* --- Begin, up and down ----------------------------------------------------- */

/* Stops START and STATE. */
static void silence(ExtollLink *l)
{
    l->heard = l->start_due = l->ask = false;
    l->start_at = l->answer_at = l->ask_at = INT64_MAX;
    l->unanswered = 0;
}

void extoll_link_init(ExtollLink *l, uint32_t room)
{
    *l = (ExtollLink) { .phase = EXTOLL_LINK_DOWN };
    silence(l);
    extoll_replay_tx_init(&l->tx);
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        QSIMPLEQ_INIT(&l->in[vc].packets);
        l->in[vc].credit.room = room;
    }
}

/* Frees all packets that have arrived; returns their number. */
static unsigned in_drop(ExtollLinkRx *in)
{
    unsigned packets = in->part_flits != 0;
    ExtollArrived *a;

    while ((a = QSIMPLEQ_FIRST(&in->packets))) {
        QSIMPLEQ_REMOVE_HEAD(&in->packets, next);
        g_free(a);
        packets++;
    }
    g_free(in->part);
    in->part = NULL;
    in->part_flits = 0;
    in->credit = (ExtollCreditRx) { .room = in->credit.room };
    return packets;
}

void extoll_link_forget(ExtollLink *l)
{
    unsigned packets = extoll_replay_tx_reset(&l->tx);

    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        packets += in_drop(&l->in[vc]);
        l->tx_credit[vc] = (ExtollCreditTx) { 0 };
    }
    l->rx = (ExtollReplayRx) { 0 };
    l->resume = false;
    count(l, EXTOLL_LINK_DROPPED, packets);
}

void extoll_link_fini(ExtollLink *l)
{
    extoll_link_forget(l);
    extoll_replay_tx_fini(&l->tx);
}

void extoll_link_timer(ExtollLink *l, int64_t round_ns)
{
    l->tx.timer_ns = EXTOLL_TIMER_NS + round_ns;
}

void extoll_link_up(ExtollLink *l)
{
    silence(l);
    l->phase = EXTOLL_LINK_STARTING;
    l->start_due = true;
}

void extoll_link_down(ExtollLink *l)
{
    silence(l);
    /* the timer of retransmissions begins anew with the first flit that leaves */
    l->tx.deadline = INT64_MAX;
    l->resume |= l->phase == EXTOLL_LINK_OPEN;
    l->phase = EXTOLL_LINK_DOWN;
}

/* --- Sending ------------------------------------------------------------------ */

bool extoll_link_can_send(const ExtollLink *l, unsigned vc, unsigned bytes)
{
    unsigned flits = extoll_flits(bytes);

    return l->phase == EXTOLL_LINK_OPEN && flits <= extoll_replay_tx_room(&l->tx) &&
           flits <= extoll_credit_tx_left(&l->tx_credit[vc]);
}

void extoll_link_send(ExtollLink *l, unsigned vc, const uint8_t *packet, unsigned bytes)
{
    unsigned flits = extoll_flits(bytes);
    bool taken = extoll_credit_tx_take(&l->tx_credit[vc], flits);

    assert(taken);
    for (unsigned at = 0; at < bytes; at += EXTOLL_FLIT_DATA) {
        ExtollFlit flit = {
            .vc = vc,
            .bytes = MIN(bytes - at, EXTOLL_FLIT_DATA),
            .first = at == 0,
            .last = at + EXTOLL_FLIT_DATA >= bytes,
        };
        uint8_t *buf = extoll_replay_tx_new(&l->tx, &flit.seq);

        memcpy(buf + EXTOLL_FLIT_HEADER, packet + at, flit.bytes);
        extoll_flit_encode(buf, &flit);
    }
    count(l, EXTOLL_LINK_TX_FLITS, flits);
}

/* Stores a START at @buf.  Without an answer, another START follows. */
static void start_encode(ExtollLink *l, uint8_t *buf, int64_t now)
{
    ExtollControl c = {
        .kind = EXTOLL_CONTROL_START,
        .flags = (l->resume ? EXTOLL_START_RESUME : 0) |
                 (l->phase == EXTOLL_LINK_OPEN ? EXTOLL_START_HEARD : 0) |
                 (l->heard ? 0 : EXTOLL_START_ANSWER),
        .ack = l->rx.next,
        .count = { l->in[0].credit.room, l->in[1].credit.room },
    };

    extoll_control_encode(buf, &c);
    l->start_due = false;
    l->start_at = l->heard ? INT64_MAX : now + l->tx.timer_ns;
}

static void state_encode(ExtollLink *l, uint8_t *buf)
{
    bool nak;
    ExtollControl c = {
        .kind = EXTOLL_CONTROL_STATE,
        .ack = extoll_replay_rx_answer(&l->rx, &nak),
        .count = {
            extoll_credit_rx_advertise(&l->in[0].credit),
            extoll_credit_rx_advertise(&l->in[1].credit),
        },
    };

    if (nak) {
        c.flags = EXTOLL_STATE_NAK;
        count(l, EXTOLL_LINK_TX_NAK, 1);
    }
    if (l->ask) {
        c.flags |= EXTOLL_STATE_ANSWER;
        l->ask = false;
    }
    extoll_control_encode(buf, &c);
    l->answer_at = INT64_MAX;
    l->unanswered = 0;
}

unsigned extoll_link_next(ExtollLink *l, uint8_t *buf, int64_t now)
{
    const uint8_t *flit;
    unsigned bytes, words;
    bool again;

    if (l->start_due) {
        start_encode(l, buf, now);
        return 1;
    }
    /* a flit that leaves takes the acknowledgement along */
    if (l->answer_at <= now ||
        (l->answer_at != INT64_MAX && l->heard && extoll_replay_tx_waits(&l->tx))) {
        state_encode(l, buf);
        return 1;
    }
    if (!extoll_link_is_up(l)) {
        return 0;
    }
    bytes = extoll_replay_tx_take(&l->tx, now, &flit, &again);
    if (!bytes) {
        return 0;
    }
    count(l, EXTOLL_LINK_RESENT, again);
    if (l->ask_at == INT64_MAX) {
        l->ask_at = now + l->tx.timer_ns;
    }
    words = DIV_ROUND_UP(bytes, WORD);
    memcpy(buf, flit, bytes);
    memset(buf + bytes, 0, words * WORD - bytes);
    return words;
}

/* --- Receiving: flits ----------------------------------------------------------- */

static ExtollLinkStatus error(ExtollLink *l)
{
    count(l, EXTOLL_LINK_RX_ERROR, 1);
    return EXTOLL_LINK_BROKEN;
}

/* Makes a STATE leave at the time @at, if not earlier. */
static void answer(ExtollLink *l, int64_t at)
{
    l->answer_at = MIN(l->answer_at, at);
}

void extoll_link_bad(ExtollLink *l, int64_t now)
{
    count(l, EXTOLL_LINK_RX_BAD, 1);
    if (l->phase == EXTOLL_LINK_OPEN) {
        extoll_replay_rx_bad(&l->rx);
        answer(l, now);
    }
}

/* Frees the room of @flits flits. */
static void room_free(ExtollLink *l, ExtollLinkRx *in, unsigned flits, int64_t now)
{
    extoll_credit_rx_free(&in->credit, flits);
    if (l->phase == EXTOLL_LINK_OPEN) {
        answer(l, extoll_credit_rx_due(&in->credit) ? now : now + EXTOLL_ANSWER_NS);
    }
}

/* Begins a packet, whose first flit has the @bytes bytes at @data. */
static void part_begin(ExtollLinkRx *in, const uint8_t *data, unsigned bytes)
{
    ExtollPacketStatus status;
    unsigned whole = extoll_packet_measure(data, MIN(bytes, MEASURE_BYTES), &status);

    if (whole) {
        in->part = g_malloc(sizeof(*in->part) + whole);
        in->part->bytes = whole;
        in->part->filled = 0;
    }
}

/* Adds the @bytes bytes at @data to the packet.  Drops a packet that is too long. */
static void part_add(ExtollLinkRx *in, const uint8_t *data, unsigned bytes)
{
    ExtollArrived *part = in->part;

    if (part && part->filled + bytes > part->bytes) {
        g_free(part);
        in->part = NULL;
    } else if (part) {
        memcpy(part->data + part->filled, data, bytes);
        part->filled += bytes;
    }
}

/* Ends a packet: the packet waits for extoll_link_pop(), or is dropped. */
static ExtollLinkStatus part_end(ExtollLink *l, ExtollLinkRx *in, int64_t now)
{
    ExtollArrived *part = in->part;
    unsigned flits = in->part_flits;

    in->part = NULL;
    in->part_flits = 0;
    if (part && part->filled == part->bytes) {
        QSIMPLEQ_INSERT_TAIL(&in->packets, part, next);
        return EXTOLL_LINK_OK;
    }
    g_free(part);
    room_free(l, in, flits, now);
    return EXTOLL_LINK_BAD_PACKET;
}

/* Takes the next flit in order, with its bytes at @data. */
static ExtollLinkStatus flit_take(ExtollLink *l, const ExtollFlit *flit,
                                  const uint8_t *data, int64_t now)
{
    ExtollLinkRx *in = &l->in[flit->vc];

    if (flit->first != (in->part_flits == 0) ||
        !extoll_credit_rx_arrive(&in->credit)) {
        return error(l);
    }
    count(l, EXTOLL_LINK_RX_FLITS, 1);
    l->unanswered++;
    answer(l, l->unanswered < EXTOLL_ANSWER_FLITS ? now + EXTOLL_ANSWER_NS : now);
    if (flit->first) {
        part_begin(in, data, flit->bytes);
    }
    in->part_flits++;
    if (in->part_flits > EXTOLL_PACKET_FLITS) {
        return error(l);
    }
    part_add(in, data, flit->bytes);
    return flit->last ? part_end(l, in, now) : EXTOLL_LINK_OK;
}

static ExtollLinkStatus flit_receive(ExtollLink *l, const uint8_t *buf, unsigned bytes,
                                     int64_t now)
{
    ExtollFlit flit;

    if (l->phase != EXTOLL_LINK_OPEN) {
        return EXTOLL_LINK_OK;      /* the other end sends the flit again */
    }
    switch (extoll_flit_decode(buf, bytes, &flit)) {
    case EXTOLL_FLIT_OK:
        break;
    case EXTOLL_FLIT_MALFORMED:
        return error(l);
    default:
        extoll_link_bad(l, now);
        return EXTOLL_LINK_OK;
    }
    switch (extoll_replay_rx_flit(&l->rx, flit.seq)) {
    case EXTOLL_REPLAY_NEW:
        return flit_take(l, &flit, buf + EXTOLL_FLIT_HEADER, now);
    case EXTOLL_REPLAY_AGAIN:
        count(l, EXTOLL_LINK_RX_AGAIN, 1);
        answer(l, now);
        return EXTOLL_LINK_OK;
    case EXTOLL_REPLAY_GAP:
        count(l, EXTOLL_LINK_RX_GAP, 1);
        if (l->rx.nak_due) {
            answer(l, now);
        }
        return EXTOLL_LINK_OK;
    default:
        return error(l);
    }
}

void extoll_link_pop(ExtollLink *l, unsigned vc, int64_t now)
{
    ExtollLinkRx *in = &l->in[vc];
    ExtollArrived *a = QSIMPLEQ_FIRST(&in->packets);

    QSIMPLEQ_REMOVE_HEAD(&in->packets, next);
    room_free(l, in, extoll_flits(a->bytes), now);
    g_free(a);
}

/* --- Receiving: control words ----------------------------------------------------- */

/* Sets the time of a STATE that wants an answer, when credits have come. */
static void ask_arm(ExtollLink *l, int64_t now)
{
    bool used = extoll_credit_tx_used(&l->tx_credit[0]) ||
                extoll_credit_tx_used(&l->tx_credit[1]);

    l->ask_at = used ? now + l->tx.timer_ns : INT64_MAX;
}

/* Takes rooms and place of the other end.  Returns false if they cannot be true. */
static bool start_accept(ExtollLink *l, const ExtollControl *c, int64_t now)
{
    if (extoll_replay_tx_resume(&l->tx, c->ack) != EXTOLL_REPLAY_OK) {
        return false;
    }
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        ExtollCreditTx *credit = &l->tx_credit[vc];

        if (c->count[vc] < extoll_credit_tx_used(credit)) {
            return false;
        }
        credit->room = c->count[vc];
    }
    ask_arm(l, now);
    /* a NAK from before the link was down does not count any more */
    l->rx = (ExtollReplayRx) { .next = l->rx.next };
    return true;
}

static ExtollLinkStatus start_receive(ExtollLink *l, const ExtollControl *c, int64_t now)
{
    bool resume = c->flags & EXTOLL_START_RESUME;
    bool heard = c->flags & EXTOLL_START_HEARD;

    if (l->phase == EXTOLL_LINK_STARTING) {
        /*
         * Without RESUME the other end must forget, too.  An end that has HEARD a START
         * of this link is open, so it gets RESUME and accepts that.
         */
        if (resume ? !l->resume : l->resume && heard) {
            l->start_due = true;
            return EXTOLL_LINK_OK;
        }
        if (!resume && l->resume) {
            extoll_link_forget(l);
        }
        if (!start_accept(l, c, now)) {
            return error(l);
        }
        l->phase = EXTOLL_LINK_OPEN;
        /* the last STATE of this end may not have arrived before the link went down */
        answer(l, now + EXTOLL_ANSWER_NS);
    } else if (resume) {
        /*
         * The other end was down, or was moved to another machine, and this end has not
         * noticed: it has all that it needs to resume.
         */
        l->resume = true;
    } else if (l->resume) {
        return error(l);
    }
    l->heard |= heard;
    l->start_due |= !!(c->flags & EXTOLL_START_ANSWER);
    if (l->heard) {
        l->start_at = INT64_MAX;
    }
    return EXTOLL_LINK_OK;
}

static ExtollLinkStatus state_receive(ExtollLink *l, const ExtollControl *c, int64_t now)
{
    bool nak = c->flags & EXTOLL_STATE_NAK;

    if (l->phase != EXTOLL_LINK_OPEN) {
        return EXTOLL_LINK_OK;
    }
    count(l, EXTOLL_LINK_RX_NAK, nak);
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        if (!extoll_credit_tx_return(&l->tx_credit[vc], c->count[vc])) {
            return error(l);
        }
    }
    ask_arm(l, now);
    if (c->flags & EXTOLL_STATE_ANSWER) {
        answer(l, now);
    }
    switch (extoll_replay_tx_ack(&l->tx, c->ack, nak, now)) {
    case EXTOLL_REPLAY_OK:
        return EXTOLL_LINK_OK;
    case EXTOLL_REPLAY_DEAD:
        return EXTOLL_LINK_DEAD;
    default:
        return error(l);
    }
}

ExtollLinkStatus extoll_link_take(ExtollLink *l, const uint8_t *buf, unsigned words,
                                  int64_t now)
{
    ExtollControl c;

    if (l->phase == EXTOLL_LINK_DOWN) {
        return EXTOLL_LINK_OK;
    }
    if (!extoll_control_is(buf)) {
        return flit_receive(l, buf, words * WORD, now);
    }
    switch (extoll_control_decode(buf, &c)) {
    case EXTOLL_CONTROL_OK:
        return c.kind == EXTOLL_CONTROL_START ? start_receive(l, &c, now) :
                                                state_receive(l, &c, now);
    case EXTOLL_CONTROL_BAD_CRC:
        count(l, EXTOLL_LINK_RX_BAD, 1);
        return EXTOLL_LINK_OK;
    default:
        return error(l);
    }
}

/* --- Time ----------------------------------------------------------------------- */

ExtollLinkStatus extoll_link_expire(ExtollLink *l, int64_t now)
{
    if (l->phase == EXTOLL_LINK_DOWN) {
        return EXTOLL_LINK_OK;
    }
    if (l->start_at <= now) {
        l->start_due = true;
        l->start_at = INT64_MAX;
    }
    if (l->ask_at <= now) {
        l->ask_at = now + l->tx.timer_ns;
        /* the answer to a flit also has the credits */
        if (!extoll_replay_tx_kept(&l->tx)) {
            l->ask = true;
            answer(l, now);
        }
    }
    if (l->tx.deadline > now) {
        return EXTOLL_LINK_OK;
    }
    count(l, EXTOLL_LINK_TIMEOUTS, 1);
    return extoll_replay_tx_expire(&l->tx, now) == EXTOLL_REPLAY_DEAD ?
           EXTOLL_LINK_DEAD : EXTOLL_LINK_OK;
}

int64_t extoll_link_deadline(const ExtollLink *l)
{
    if (l->phase == EXTOLL_LINK_DOWN) {
        return INT64_MAX;
    }
    return MIN(MIN(l->start_at, l->answer_at), MIN(l->ask_at, l->tx.deadline));
}
