/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link port, sending: packets fill a frame for each virtual channel.  The port
 * sends the frame to the netdev or, in loopback, puts the packets into its own RX FIFO.
 *
 *   commit --> frame of the VC ---+--> [rate] --> [latency] --> netdev
 *   respond --> urgent of the VC -+
 *
 * The netdev keeps at most one frame of the port (@blocked).  Further frames wait in
 * RNicPortTx, and units wait until a frame has room.  Rate and latency are virtual time.
 * Every event that permits a frame to leave causes a call of rnic_port_flush().
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../core/pace.h"
#include "port-internal.h"
#include "port.h"

/*
 * Bytes of urgent packets of a channel, from which on the port drops packets of
 * rnic_port_respond(), because the neighbour may accept no frames.
 */
#define URGENT_MAX (1 * MiB)
/*
 * Bytes of urgent packets of a channel, from which on rnic_port_commit() adds packets
 * to the frame instead.
 */
#define URGENT_TRANSIT_MAX (64 * KiB)
/*
 * Longest time that a frame may need on a cable with a rate.  Each frame costs the host
 * about the same time, so on a slow cable a frame of at most FRAME_SLOW_PACKETS full
 * packets may need FRAME_SLOW_NS.  A frame with one full packet may need any time.
 */
#define FRAME_NS (50 * SCALE_US)
#define FRAME_SLOW_NS (250 * SCALE_US)
#define FRAME_SLOW_PACKETS 8
/*
 * Longest delay of @p->tx_timer or of the units that does not reduce the bandwidth of a
 * cable with a rate; see port_rate_take().
 */
#define CATCH_UP_NS (10 * SCALE_MS)
/* Number of words delayed by the latency, from which on frames wait in RNicPortTx. */
#define FLIGHT_WORDS_MAX (1 * MiB / RNIC_LINK_WORD)
/* Flag in RNicPortTx.urgent_words: the packet has a bad header. */
#define URGENT_BAD_HEADER 0x80
/* Time by which each frame that leaves shortens the stall; see port_stall_relieve(). */
#define STALL_FRAME_NS (100 * SCALE_MS)
#define WORD_BITS (8 * RNIC_LINK_WORD)

/* A frame that the latency delays. */
typedef struct RNicFlight {
    int64_t due;                    /* ns, virtual time from which the port may send */
    unsigned vc;
    unsigned words;                 /* words of packets in @frame */
    uint8_t frame[];                /* room for the header, then the packets */
} RNicFlight;

/* --- Frames ------------------------------------------------------------- */

static void port_sent(NetClientState *nc, ssize_t len);
static void port_control_flush(RNicPort *p);

/*
 * Sends @len bytes at @frame to the netdev, and then the control frames that wait.
 * Returns false if the netdev keeps the frame for later; the caller then moves the frame
 * to @p->held.
 */
static bool port_netdev_send(RNicPort *p, const uint8_t *frame, size_t len)
{
    /*
     * @blocked is set first, because a node on a hub may answer before the call returns
     */
    p->blocked = true;
    p->held_len = len;
    if (qemu_send_packet_async(qemu_get_queue(p->nic), frame, len,
                               port_sent) == 0) {
        return false;
    }
    p->blocked = false;
    port_control_flush(p);
    return true;
}

/*
 * Writes the header of the frame at @frame, which has @words words behind the header.
 * Returns the length of the frame in bytes.
 */
static size_t port_header_put(RNicPort *p, uint8_t *frame,
                              enum rnic_link_kind kind, unsigned vc,
                              unsigned words)
{
    const RNicPortOwner *owner = p->group->owner;
    struct rnic_frame *f = (struct rnic_frame *)frame;

    if (p->peer_known) {
        rnic_link_mac(owner, f->dst, p->peer);
    } else {
        memset(f->dst, 0xff, sizeof(f->dst));
    }
    rnic_link_mac(owner, f->src, p->group->node);
    f->ethertype = cpu_to_be16(RNIC_ETHERTYPE);
    f->version = RNIC_LINK_VERSION;
    f->kind = kind;
    f->vc = vc;
    f->family = owner->family;
    f->count = cpu_to_le16(words);
    f->seq = cpu_to_le32(p->tx_seq++);
    rnic_link_trace(p, RNIC_PORT_STEP_TX, kind, vc, words);
    return sizeof(*f) + words * RNIC_LINK_WORD;
}

/* Writes the header of the frame at @frame, and sends the frame with its @words words. */
static void port_short_send(RNicPort *p, uint8_t *frame,
                            enum rnic_link_kind kind, unsigned vc,
                            unsigned words)
{
    size_t len = port_header_put(p, frame, kind, vc, words);

    if (!port_netdev_send(p, frame, len)) {
        memcpy(p->held, frame, len);
    }
}

void rnic_link_control_send(RNicPort *p, enum rnic_link_kind kind,
                            unsigned vc)
{
    struct rnic_frame frame;

    port_short_send(p, (uint8_t *)&frame, kind, vc, 0);
}

void rnic_link_hello_send(RNicPort *p)
{
    struct {
        struct rnic_frame frame;
        struct rnic_hello hello;
    } QEMU_PACKED f = {
        .hello = {
            .coord = cpu_to_le32(p->group->node),
            .epoch = p->group->epoch,
            .flags = (p->peer_known ? RNIC_HELLO_HEARD : 0) |
                     rnic_link_features(p),
            .peer_epoch = p->peer_known ? p->peer_epoch : 0,
            .rx_words = cpu_to_le32(p->group->rx_words),
            .max_words = cpu_to_le32(MIN(p->group->rx_words,
                                         p->group->owner->frame_words)),
        },
    };

    QEMU_BUILD_BUG_ON(sizeof(f.hello) != RNIC_LINK_WORD);
    p->hello_due = p->blocked;
    if (!p->blocked) {
        port_short_send(p, (uint8_t *)&f, RNIC_LINK_HELLO, 0, 1);
    }
}

void rnic_link_down_send(RNicPort *p)
{
    p->down_due = p->blocked;
    if (!p->blocked) {
        rnic_link_control_send(p, RNIC_LINK_DOWN, 0);
    }
}

void rnic_link_xoff_send(RNicPort *p, unsigned vcs)
{
    if (p->loopback) {
        rnic_link_peer_xoff_set(p, p->xoff);
        rnic_link_schedule(p);
        return;
    }
    p->xoff_due |= vcs;
    for (unsigned vc = 0; vc < RNIC_LINK_VCS && !p->blocked; vc++) {
        if (p->xoff_due & BIT(vc)) {
            p->xoff_due &= ~BIT(vc);
            rnic_link_control_send(p, p->xoff & BIT(vc) ? RNIC_LINK_XOFF :
                                   RNIC_LINK_XON, vc);
        }
    }
}

/* Sends the control frames that have waited because of @p->blocked. */
static void port_control_flush(RNicPort *p)
{
    if (p->down_due && !p->blocked) {
        rnic_link_down_send(p);
    }
    if (p->hello_due && !p->blocked) {
        rnic_link_hello_send(p);
    }
    if (p->xoff_due && !p->blocked) {
        rnic_link_xoff_send(p, 0);
    }
}

/*
 * The netdev calls this function when the netdev has sent the frame that the netdev kept,
 * or (@len = 0) has dropped that frame.
 */
static void port_sent(NetClientState *nc, ssize_t len)
{
    RNicPort *p = qemu_get_nic_opaque(nc);
    bool entered;

    if (!p->blocked) {
        return;
    }
    entered = rnic_loop_enter(p->group->loop);
    p->blocked = false;
    if (len == 0) {
        /*
         * The netdev drops its frames when the machine stops.  The first half of the
         * dropped frame may be in a socket already, and the netdev will send only the
         * second half of the next frame.  So the next frame must be the dropped frame
         * again.
         */
        port_netdev_send(p, p->held, p->held_len);
    } else {
        port_control_flush(p);
        rnic_port_flush(p);
        rnic_link_schedule(p);
    }
    rnic_loop_leave(p->group->loop, entered);
}

/* --- Packets to the cable ----------------------------------------------- */

/* Returns true if the netdev or, in loopback, the RX FIFO can accept a frame now. */
static bool port_output_open(RNicPort *p)
{
    return p->loopback ? rnic_link_rx_room(p) : !p->blocked;
}

/* Returns true if the port can send the next frame or add the frame to @p->flight now. */
static bool port_frame_may_leave(RNicPort *p)
{
    if (p->latency || p->flight.length) {
        if (p->flight_words >= FLIGHT_WORDS_MAX) {
            return false;
        }
    } else if (!port_output_open(p)) {
        return false;
    }
    return !p->rate || rnic_now() >= p->tx_free;
}

/*
 * Sends the @words words of packets in the frame at @frame to the netdev or, in loopback,
 * copies the words to the port's RX FIFO.  Returns false if the netdev keeps the frame.
 */
static bool port_packets_send(RNicPort *p, uint8_t *frame, unsigned vc,
                              unsigned words)
{
    if (p->loopback) {
        rnic_link_rx_put(p, vc, frame + sizeof(struct rnic_frame), words);
        rnic_link_schedule(p);
        return true;
    }
    return port_netdev_send(p, frame, port_header_put(p, frame, RNIC_LINK_DATA, vc,
                                                      words));
}

/* Adds a copy of the frame at @frame to @p->flight. */
static void port_flight_start(RNicPort *p, const uint8_t *frame, unsigned vc,
                              unsigned words)
{
    size_t len = sizeof(struct rnic_frame) + words * RNIC_LINK_WORD;
    RNicFlight *f = g_malloc(sizeof(*f) + len);
    RNicFlight *last = g_queue_peek_tail(&p->flight);

    /* the maximum keeps the frames in order after the latency has become shorter */
    f->due = MAX(rnic_now() + p->latency, last ? last->due : 0);
    f->vc = vc;
    f->words = words;
    memcpy(f->frame, frame, len);
    g_queue_push_tail(&p->flight, f);
    p->flight_words += words;
}

/* Sends the frames of @p->flight whose latency has passed, while the output is open. */
static void port_flight_land(RNicPort *p)
{
    RNicFlight *f;

    while ((f = g_queue_peek_head(&p->flight)) &&
           f->due <= rnic_now() && port_output_open(p)) {
        g_queue_pop_head(&p->flight);
        p->flight_words -= f->words;
        if (!port_packets_send(p, f->frame, f->vc, f->words)) {
            memcpy(p->held, f->frame, p->held_len);
        }
        g_free(f);
    }
}

/* Sets @p->tx_free to the time when the cable has carried @words words more. */
static void port_rate_take(RNicPort *p, unsigned words)
{
    /*
     * a frame may begin up to CATCH_UP_NS in the past, because a late timer or a late
     * unit must not reduce the bandwidth if only the rate has delayed packets since that
     * time
     */
    int64_t start = MAX(p->tx_since, rnic_now() - CATCH_UP_NS);

    p->tx_free = rnic_pace(p->tx_free, start,
                           (uint64_t)words * WORD_BITS * SCALE_MS / p->rate);
}

/*
 * Sends the frame at *@frame with @words words, or adds a copy of the frame to @p->flight
 * if there is a latency.  If the netdev keeps the frame, exchanges *@frame and @p->held.
 */
static void port_frame_send(RNicPort *p, uint8_t **frame, unsigned vc,
                            unsigned words)
{
    uint8_t *full = *frame;

    if (p->rate) {
        port_rate_take(p, words);
    }
    if (p->latency || p->flight.length) {
        port_flight_start(p, full, vc, words);
    } else if (!port_packets_send(p, full, vc, words)) {
        *frame = p->held;
        p->held = full;
    }
}

/*
 * Moves the first packets of @tx->frame to the frame at @frame, up to and with the first
 * packet that has a bad header, because the neighbour cannot find packets behind a bad
 * header.  Returns the number of moved words.
 */
static unsigned port_bad_header_move(RNicPortTx *tx, uint8_t *frame)
{
    uint8_t *own = tx->frame + sizeof(struct rnic_frame);
    unsigned words = g_array_index(tx->bad_headers, uint16_t, 0);

    memcpy(frame + sizeof(struct rnic_frame), own, words * RNIC_LINK_WORD);
    tx->words -= words;
    memmove(own, own + words * RNIC_LINK_WORD,
            tx->words * RNIC_LINK_WORD);
    g_array_remove_index(tx->bad_headers, 0);
    for (unsigned i = 0; i < tx->bad_headers->len; i++) {
        g_array_index(tx->bad_headers, uint16_t, i) -= words;
    }
    return words;
}

static void port_urgent_add(RNicPortTx *tx, const uint8_t *buf, uint8_t words)
{
    g_byte_array_append(tx->urgent, buf, words * RNIC_LINK_WORD);
    g_byte_array_append(tx->urgent_words, &words, 1);
}

/*
 * Moves urgent packets of @tx behind the @words words in the frame at @frame: as many
 * packets as fit, but none behind a packet with a bad header.  Returns the number of
 * words in the frame after the move.
 */
static unsigned port_urgent_move(RNicPort *p, RNicPortTx *tx, uint8_t *frame,
                                 unsigned words)
{
    const uint8_t *list = tx->urgent_words->data;
    unsigned total = tx->urgent->len / RNIC_LINK_WORD;
    unsigned packets = tx->urgent_words->len;
    unsigned done = total;

    if (words + total > p->tx_limit || tx->urgent_bad) {
        done = 0;
        for (packets = 0; done < total && words + done +
             (list[packets] & ~URGENT_BAD_HEADER) <= p->tx_limit; packets++) {
            done += list[packets] & ~URGENT_BAD_HEADER;
            if (list[packets] & URGENT_BAD_HEADER) {
                tx->urgent_bad--;
                packets++;
                break;
            }
        }
    }
    memcpy(frame + sizeof(struct rnic_frame) + words * RNIC_LINK_WORD,
           tx->urgent->data, done * RNIC_LINK_WORD);
    g_byte_array_remove_range(tx->urgent, 0, done * RNIC_LINK_WORD);
    g_byte_array_remove_range(tx->urgent_words, 0, packets);
    return words + done;
}

uint8_t *rnic_port_frame_new(const RNicPort *p)
{
    const RNicPortOwner *owner = p->group->owner;

    /*
     * There is room for one packet more than in a full frame, because a unit may build a
     * packet behind a full frame, which rnic_port_commit() then drops.
     */
    return g_malloc(sizeof(struct rnic_frame) +
                    (owner->frame_words + owner->packet_words) * RNIC_LINK_WORD);
}

/* Returns *@frame.  If *@frame is NULL, first allocates the frame. */
static uint8_t *port_frame_alloc(const RNicPort *p, uint8_t **frame)
{
    if (!*frame) {
        *frame = rnic_port_frame_new(p);
    }
    return *frame;
}

/*
 * Returns true if the neighbour permits a packet of channel @vc, and the channel's frame
 * has room for any packet.
 */
static bool port_room(const RNicPort *p, unsigned vc)
{
    return p->tx_allow[vc] && p->tx[vc].words <= p->tx_room;
}

/*
 * Returns true if the neighbour or the netdev has stopped channel @vc, which has no room,
 * for stall_ms (0: never).  The port then drops new packets of the channel, because
 * packets for other nodes wait behind these packets.  RNicPortTx.stalled is the start of
 * the time; each frame that leaves moves the start, see port_stall_relieve().
 */
static bool port_stalled(RNicPort *p, unsigned vc)
{
    RNicPortTx *tx = &p->tx[vc];
    int64_t limit = (int64_t)p->group->stall_ms * SCALE_MS;

    if (p->tx_allow[vc] && !p->blocked) {
        tx->stalled = 0;            /* the channel waits for rate or latency only */
        return false;
    }
    if (!tx->stalled) {
        tx->stalled = rnic_now();
    }
    return limit && rnic_now() - tx->stalled >= limit;
}

/*
 * Shortens by STALL_FRAME_NS the time that port_stalled() counts for @tx, because a frame
 * leaves.  The channel stays stalled if only few frames leave.
 */
static void port_stall_relieve(RNicPort *p, RNicPortTx *tx)
{
    if (tx->stalled) {
        tx->stalled += STALL_FRAME_NS;
        if (tx->stalled >= rnic_now()) {
            tx->stalled = 0;
        }
    }
}

/*
 * Sends one frame of channel @vc: the packets of RNicPortTx.frame and then the urgent
 * packets, if all fit.  Otherwise the first call sends a frame with only urgent packets,
 * and the next call sends the packets of RNicPortTx.frame.  A packet with a bad header
 * ends the frame.
 */
static void port_vc_send(RNicPort *p, unsigned vc)
{
    RNicPortTx *tx = &p->tx[vc];
    unsigned urgent = tx->urgent->len / RNIC_LINK_WORD;
    uint8_t **frame = &tx->frame;
    unsigned words;

    if (urgent && tx->words && !tx->urgent_sent &&
        tx->words + urgent > p->tx_limit) {
        frame = &p->spare;
        words = port_urgent_move(p, tx, port_frame_alloc(p, frame), 0);
        tx->urgent_sent = true;
    } else if (unlikely(tx->bad_headers->len)) {
        frame = &p->spare;
        words = port_bad_header_move(tx, port_frame_alloc(p, frame));
    } else {
        words = tx->words;
        if (urgent && (!words || words + urgent <= p->tx_limit)) {
            words = port_urgent_move(p, tx, port_frame_alloc(p, frame), words);
        }
        tx->words = 0;
        tx->urgent_sent = false;
    }
    p->tx_waiting -= words;
    if (!tx->words && !tx->urgent->len) {
        p->tx_pending &= ~BIT(vc);
    }
    p->tx_vc = vc;
    port_stall_relieve(p, tx);
    port_frame_send(p, frame, vc, words);
    if ((p->tx_wanted & BIT(vc)) && (!p->up || port_room(p, vc))) {
        p->tx_wanted &= ~BIT(vc);
        p->tx_refill = true;
        rnic_link_schedule(p);
    }
}

/* Returns the first channel of the set @vcs after channel @p->tx_vc, by round robin. */
static unsigned port_vc_next(RNicPort *p, unsigned vcs)
{
    unsigned later = vcs & ~MAKE_64BIT_MASK(0, p->tx_vc + 1);

    return ctz32(later ?: vcs);
}

/* --- Time --------------------------------------------------------------- */

/* Returns true if the port has a rate or a latency, or delays packets now. */
static bool port_timed(RNicPort *p)
{
    return p->rate || p->latency || p->flight.length || p->delayed.length;
}

/* Arms @p->tx_timer for the time when the next delayed packet or frame may leave. */
static void port_timer_arm(RNicPort *p)
{
    const RNicFlight *f = g_queue_peek_head(&p->flight);
    int64_t due = rnic_link_delayed_due(p);

    if (p->rate && (p->tx_pending & ~p->peer_xoff) &&
        rnic_now() < p->tx_free) {
        due = p->tx_free;
    }
    if (f && port_output_open(p)) {
        due = MIN(due, f->due);
    }
    if (due < INT64_MAX) {
        timer_mod(p->tx_timer, due);
    }
}

static void port_timer_tick(void *opaque)
{
    RNicPort *p = opaque;
    bool entered = rnic_loop_enter(p->group->loop);

    rnic_port_flush(p);
    rnic_link_schedule(p);
    rnic_loop_leave(p->group->loop, entered);
}

/* --- Units to the port -------------------------------------------------- */

void rnic_port_flush(RNicPort *p)
{
    bool timed = port_timed(p);
    unsigned vcs;

    if (timed) {
        rnic_link_delayed_run(p);
        port_flight_land(p);
    }
    p->tx_refill &= p->tx_pending != 0;
    if (p->tx_stopped) {
        p->tx_since = rnic_now();
    }
    while ((vcs = p->tx_pending & ~p->peer_xoff) && port_frame_may_leave(p)) {
        port_vc_send(p, port_vc_next(p, vcs));
    }
    if (timed) {
        p->tx_stopped = p->tx_pending && rnic_now() >= p->tx_free;
        port_timer_arm(p);
    }
}

bool rnic_port_can_send(RNicPort *p, unsigned vc)
{
    /*
     * while the link is down, rnic_port_commit() drops packets, so units need not wait
     */
    if (!p->up || port_room(p, vc)) {
        return true;
    }
    p->tx_wanted |= BIT(vc);
    return port_stalled(p, vc);
}

static void port_added(RNicPort *p, unsigned vc, unsigned words)
{
    if (p->rate && !p->tx_pending && !p->tx_wanted && !p->tx_refill) {
        p->tx_since = rnic_now();
    }
    p->tx_refill = false;
    p->tx_waiting += words;
    p->tx_pending |= BIT(vc);
}

void rnic_link_append(RNicPort *p, unsigned vc, const uint8_t *buf,
                      unsigned words, bool urgent)
{
    RNicPortTx *tx = &p->tx[vc];
    bool bad_header = p->group->owner->measure(buf).words == 0;

    if (!urgent && tx->words + words <= p->tx_limit) {
        uint16_t end = tx->words + words;

        memmove(rnic_port_place(p, vc), buf, words * RNIC_LINK_WORD);
        tx->words = end;
        if (bad_header) {
            g_array_append_val(tx->bad_headers, end);
        }
    } else {
        port_urgent_add(tx, buf, words);
        if (bad_header) {
            tx->urgent_words->data[tx->urgent_words->len - 1] |= URGENT_BAD_HEADER;
            tx->urgent_bad++;
        }
    }
    port_added(p, vc, words);
}

unsigned rnic_port_run_limit(RNicPort *p, unsigned vc)
{
    /*
     * faults, rate and latency act on single packets or short frames, so runs are not
     * used
     */
    return p->up && p->tx_allow[vc] && !rnic_port_has_faults(p) &&
           !port_timed(p) ? p->tx_limit : 0;
}

unsigned rnic_port_run_room(RNicPort *p, unsigned vc)
{
    unsigned limit = rnic_port_run_limit(p, vc);

    /* the frame may be longer than a limit that was reduced */
    return limit > p->tx[vc].words ? limit - p->tx[vc].words : 0;
}

void rnic_port_want(RNicPort *p, unsigned vc)
{
    p->tx_wanted |= BIT(vc);
}

void rnic_port_commit_run(RNicPort *p, unsigned vc, const RNicMeasured *run)
{
    RNicPortTx *tx = &p->tx[vc];

    assert(run->packets <= p->tx_allow[vc]);
    rnic_link_count(p, RNIC_PORT_CNT_TX_PACKETS, run->packets);
    rnic_link_count(p, RNIC_PORT_CNT_TX_WORDS, run->alone);
    tx->words += run->words;
    p->tx_allow[vc] -= run->packets;
    port_added(p, vc, run->words);
    if (tx->words > p->tx_room) {
        rnic_port_flush(p);
    }
}

void rnic_port_commit(RNicPort *p, unsigned vc, unsigned words)
{
    RNicPortTx *tx = &p->tx[vc];
    bool urgent;

    if (!p->up || unlikely(!port_room(p, vc))) {
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        return;
    }
    rnic_link_count(p, RNIC_PORT_CNT_TX_PACKETS, 1);
    rnic_link_count(p, RNIC_PORT_CNT_TX_WORDS, words);
    p->tx_allow[vc]--;
    urgent = words <= p->tx_urgent && tx->words && tx->urgent->len < URGENT_TRANSIT_MAX;
    if (unlikely(rnic_port_has_faults(p))) {
        rnic_link_fault(p, vc, rnic_port_place(p, vc), words, urgent);
    } else if (urgent) {
        port_urgent_add(tx, rnic_port_place(p, vc), words);
        port_added(p, vc, words);
    } else {
        tx->words += words;
        port_added(p, vc, words);
    }
    if (tx->words > p->tx_room) {
        rnic_port_flush(p);
    }
}

void rnic_port_respond(RNicPort *p, unsigned vc, const uint8_t *buf,
                       unsigned words)
{
    RNicPortTx *tx = &p->tx[vc];

    if (!p->up || tx->urgent->len >= URGENT_MAX) {
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        return;
    }
    rnic_link_count(p, RNIC_PORT_CNT_TX_PACKETS, 1);
    rnic_link_count(p, RNIC_PORT_CNT_TX_WORDS, words);
    if (unlikely(rnic_port_has_faults(p))) {
        rnic_link_fault(p, vc, buf, words, true);
    } else {
        port_urgent_add(tx, buf, words);
        port_added(p, vc, words);
    }
}

unsigned rnic_port_tx_words(const RNicPort *p)
{
    return p->tx_waiting;
}

/* --- Control ------------------------------------------------------------ */

/* Returns the number of words that a cable with rate @p->rate carries in @ns. */
static uint64_t port_words_in(const RNicPort *p, unsigned ns)
{
    return (uint64_t)p->rate * ns / (WORD_BITS * SCALE_MS);
}

void rnic_link_tx_limit(RNicPort *p)
{
    const RNicPortOwner *owner = p->group->owner;
    uint32_t limit = MIN(p->peer_words, owner->frame_words);

    if (p->rate) {
        uint64_t words = port_words_in(p, FRAME_NS);
        uint64_t slow = MIN(port_words_in(p, FRAME_SLOW_NS),
                            FRAME_SLOW_PACKETS * owner->packet_words);

        limit = MAX(MIN(limit, MAX(words, slow)), owner->packet_words);
    }
    p->tx_limit = limit;
    p->tx_room = limit - owner->packet_words;
}

static unsigned port_flight_drop(RNicPort *p)
{
    unsigned packets = 0;
    RNicFlight *f;

    while ((f = g_queue_pop_head(&p->flight))) {
        packets += rnic_link_packets(p, f->frame + sizeof(struct rnic_frame),
                                     f->words);
        g_free(f);
    }
    p->flight_words = 0;
    return packets;
}

unsigned rnic_link_tx_drop(RNicPort *p)
{
    unsigned packets = port_flight_drop(p) + rnic_link_delayed_drop(p);

    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        RNicPortTx *tx = &p->tx[vc];

        packets += tx->urgent_words->len;
        if (tx->words) {
            packets += rnic_link_packets(p, tx->frame +
                                         sizeof(struct rnic_frame),
                                         tx->words);
        }
        tx->words = 0;
        tx->urgent_sent = false;
        tx->stalled = 0;
        g_array_set_size(tx->bad_headers, 0);
        g_byte_array_set_size(tx->urgent, 0);
        g_byte_array_set_size(tx->urgent_words, 0);
        tx->urgent_bad = 0;
    }
    p->tx_waiting = 0;
    p->tx_pending = 0;
    p->tx_wanted = 0;
    rnic_link_peer_xoff_set(p, 0);
    timer_del(p->tx_timer);
    return packets;
}

void rnic_link_tx_init(RNicPort *p)
{
    const RNicPortOwner *owner = p->group->owner;

    assert(owner->vcs <= RNIC_LINK_VCS && owner->packet_words &&
           owner->packet_words < URGENT_BAD_HEADER &&
           owner->frame_words >= MAX(owner->packet_words, 2));
    p->held = rnic_port_frame_new(p);
    p->tx_urgent = owner->urgent_words;
    p->peer_words = owner->frame_words;
    rnic_link_peer_xoff_set(p, 0);
    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        p->tx[vc].urgent = g_byte_array_new();
        p->tx[vc].bad_headers = g_array_new(false, false, sizeof(uint16_t));
        p->tx[vc].urgent_words = g_byte_array_new();
    }
    g_queue_init(&p->flight);
    p->tx_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, port_timer_tick, p);
}

void rnic_link_tx_fini(RNicPort *p)
{
    rnic_link_tx_drop(p);
    timer_free(p->tx_timer);
    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        g_byte_array_unref(p->tx[vc].urgent);
        g_array_unref(p->tx[vc].bad_headers);
        g_byte_array_unref(p->tx[vc].urgent_words);
        g_free(p->tx[vc].frame);
    }
    g_free(p->spare);
    g_free(p->held);
}
