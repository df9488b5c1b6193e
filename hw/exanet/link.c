/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet link port: one end of a cable, over a QEMU netdev.
 *
 * Packets travel as many to a frame as are there when the units have run, because
 * a netdev costs a system call per frame.  What arrives waits in the RX FIFO until
 * exanet_run() delivers it: a netdev may call us from inside a call of ours.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "system/runstate.h"
#include "exanet.h"
#include "../trace.h"

#define HELLO_INTERVAL_DOWN_NS (50 * SCALE_MS)
#define HELLO_INTERVAL_UP_NS (1000 * SCALE_MS)
/* HELLOs answered at once between two of our own: three nodes make no cable. */
#define HELLO_ANSWERS_MAX 64
/* A peer that never reads must not make us keep its acks for ever. */
#define RESPONSES_MAX (1 * MiB)
/* Delivered in one go, so that the guest's vCPUs get a turn at the BQL. */
#define RX_BUDGET_WORDS (2 * EXANET_FRAME_WORDS)

static void port_count(ExanetPort *p, enum exanet_port_counter c, uint64_t n)
{
    p->counter[c] += n;
}

static void port_mac(uint8_t *mac, uint32_t coord)
{
    stl_be_p(mac + 2, coord);
    mac[0] = EXANET_MAC_PREFIX >> 16;
    mac[1] = (EXANET_MAC_PREFIX >> 8) & 0xff;
    mac[2] = EXANET_MAC_PREFIX & 0xff;
}

static bool port_carrier(ExanetPort *p)
{
    NetClientState *nc = qemu_get_queue(p->nic);

    return p->enabled && !nc->link_down && nc->peer && !nc->peer->link_down;
}

/* --- Sending ------------------------------------------------------------ */

static void port_sent(NetClientState *nc, ssize_t len);

/*
 * Gives @len bytes at @frame to the netdev.  It keeps at most one frame, so that a
 * peer that does not read cannot make us store more; and we keep that one too.
 */
static void port_frame_give(ExanetPort *p, uint8_t *frame, size_t len)
{
    if (qemu_send_packet_async(qemu_get_queue(p->nic), frame, len,
                               port_sent) != 0) {
        return;
    }
    p->blocked = true;
    p->held_len = len;
    if (frame == p->tx) {
        p->tx = p->held;
        p->held = frame;
    } else if (frame != p->held) {
        memcpy(p->held, frame, len);
    }
}

/* Sends the frame at @frame, whose @words words are in place. */
static void port_frame_send(ExanetPort *p, uint8_t *frame,
                            enum exanet_link_kind kind, unsigned words)
{
    struct exanet_frame *f = (struct exanet_frame *)frame;
    size_t len = sizeof(*f) + words * EXANET_WORD_BYTES;

    if (p->peer_known) {
        port_mac(f->dst, p->peer);
    } else {
        memset(f->dst, 0xff, sizeof(f->dst));
    }
    port_mac(f->src, p->s->node);
    f->ethertype = cpu_to_be16(EXANET_ETHERTYPE);
    f->version = EXANET_LINK_VERSION;
    f->kind = kind;
    f->vc = 0;
    f->reserved = 0;
    f->count = cpu_to_le16(words);
    f->seq = cpu_to_le32(p->tx_seq++);
    trace_exanet_link_port_tx(p->s->node, p->index, kind, words);
    port_frame_give(p, frame, len);
}

static void port_control_send(ExanetPort *p, enum exanet_link_kind kind)
{
    struct exanet_frame frame;

    port_frame_send(p, (uint8_t *)&frame, kind, 0);
}

static void port_hello_send(ExanetPort *p)
{
    struct {
        struct exanet_frame frame;
        struct exanet_hello hello;
    } QEMU_PACKED f = {
        .hello = {
            .coord = cpu_to_le32(p->s->node),
            .epoch = p->s->epoch,
            .flags = p->peer_known ? EXANET_HELLO_HEARD : 0,
            .peer_epoch = p->peer_known ? p->peer_epoch : 0,
            .rx_words = cpu_to_le32(p->s->rx_fifo_words),
            .max_words = cpu_to_le32(MIN(p->s->rx_fifo_words,
                                         EXANET_FRAME_WORDS)),
        },
    };

    QEMU_BUILD_BUG_ON(sizeof(f.hello) != EXANET_WORD_BYTES);
    p->hello_due = p->blocked;
    if (!p->blocked) {
        port_frame_send(p, (uint8_t *)&f, EXANET_LINK_HELLO, 1);
    }
}

/* Tells the peer whether it may send. */
static void port_xoff_send(ExanetPort *p)
{
    p->xoff_due = p->blocked;
    if (!p->blocked) {
        port_control_send(p, p->xoff ? EXANET_LINK_XOFF : EXANET_LINK_XON);
    }
}

/* The netdev has sent the frame that it kept, or (@len = 0) forgotten it. */
static void port_sent(NetClientState *nc, ssize_t len)
{
    ExanetPort *p = qemu_get_nic_opaque(nc);

    if (!p->blocked) {
        return;
    }
    p->blocked = false;
    if (len == 0) {
        /*
         * The machine stops.  Half of the frame may be in a socket, and the netdev
         * goes on with the other half of whatever it gets next.
         */
        port_frame_give(p, p->held, p->held_len);
        return;
    }
    if (p->hello_due) {
        port_hello_send(p);
    }
    if (p->xoff_due) {
        port_xoff_send(p);
    }
    exanet_port_flush(p);
    exanet_schedule(p->s);
}

static unsigned port_response_words(ExanetPort *p)
{
    return p->responses->len / EXANET_WORD_BYTES;
}

/* Moves responses that wait into the frame, as far as whole packets fit. */
static void port_responses_move(ExanetPort *p)
{
    unsigned done = 0;
    unsigned total = port_response_words(p);

    while (done < total) {
        const uint8_t *buf = p->responses->data + done * EXANET_WORD_BYTES;
        ExanetWireStatus status;
        unsigned words = exanet_packet_words(buf, &status);

        if (p->tx_words + words > p->tx_limit) {
            break;
        }
        memcpy(p->tx + sizeof(struct exanet_frame) +
               p->tx_words * EXANET_WORD_BYTES, buf, words * EXANET_WORD_BYTES);
        p->tx_words += words;
        done += words;
    }
    if (done) {
        g_byte_array_remove_range(p->responses, 0, done * EXANET_WORD_BYTES);
    }
}

void exanet_port_flush(ExanetPort *p)
{
    while (!p->blocked && !p->peer_xoff) {
        unsigned words;

        if (p->responses->len) {
            port_responses_move(p);
        }
        words = p->tx_words;
        if (words == 0) {
            return;
        }
        p->tx_words = 0;
        port_frame_send(p, p->tx, EXANET_LINK_DATA, words);
    }
}

bool exanet_port_ready(ExanetPort *p, unsigned vc)
{
    /* while down, packets are dropped rather than kept */
    if (!p->up) {
        return true;
    }
    /* port_sent() and XON schedule the units that found no room */
    return !p->peer_xoff && p->tx_words + EXANET_PACKET_WORDS <= p->tx_limit;
}

uint8_t *exanet_port_begin(ExanetPort *p, unsigned vc)
{
    return p->tx + sizeof(struct exanet_frame) +
           p->tx_words * EXANET_WORD_BYTES;
}

void exanet_port_commit(ExanetPort *p, unsigned vc, unsigned words)
{
    if (!p->up) {
        port_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return;
    }
    port_count(p, EXANET_PORT_CNT_TX_PACKETS, 1);
    port_count(p, EXANET_PORT_CNT_TX_WORDS, words);
    p->tx_words += words;
    if (p->tx_words + EXANET_PACKET_WORDS > p->tx_limit) {
        exanet_port_flush(p);
    }
}

void exanet_port_respond(ExanetPort *p, unsigned vc, const uint8_t *buf,
                         unsigned words)
{
    if (!p->up || p->responses->len >= RESPONSES_MAX) {
        port_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return;
    }
    port_count(p, EXANET_PORT_CNT_TX_PACKETS, 1);
    port_count(p, EXANET_PORT_CNT_TX_WORDS, words);
    g_byte_array_append(p->responses, buf, words * EXANET_WORD_BYTES);
}

/* --- Up and down -------------------------------------------------------- */

static void port_queues_drop(ExanetPort *p)
{
    p->tx_words = 0;
    g_byte_array_set_size(p->responses, 0);
    p->rx_head = 0;
    p->rx_tail = 0;
    p->rx_count = 0;
    p->xoff = false;
    p->xoff_due = false;
    p->peer_xoff = false;
    if (p->refused) {
        exanet_schedule(p->s);      /* what the netdev has may come now */
    }
}

static void port_up_set(ExanetPort *p, bool up)
{
    if (p->up == up) {
        return;
    }
    p->up = up;
    trace_exanet_link_up(p->s->node, p->index, up, p->peer);
    if (!up) {
        port_queues_drop(p);
    }
    exanet_irq_raise(p->s, EXANET_IRQ_LINK);
    exanet_schedule(p->s);
}

static void port_peer_forget(ExanetPort *p)
{
    p->peer_known = false;
    port_up_set(p, false);
}

static void port_hello_arm(ExanetPort *p)
{
    timer_mod(p->hello_timer, exanet_now(p->s) +
              (p->up ? HELLO_INTERVAL_UP_NS : HELLO_INTERVAL_DOWN_NS));
}

static void port_hello_tick(void *opaque)
{
    ExanetPort *p = opaque;
    int64_t timeout = (int64_t)p->s->link_timeout_ms * SCALE_MS;

    p->hello_answers = 0;
    if (!port_carrier(p)) {
        p->lost = true;
        port_peer_forget(p);
    } else {
        if (p->up && timeout && exanet_now(p->s) - p->heard > timeout) {
            p->lost = true;
            port_peer_forget(p);
        }
        if (p->lost && p->blocked) {
            /* a netdev that was disconnected does not tell when it is back */
            qemu_flush_queued_packets(qemu_get_queue(p->nic)->peer);
        }
        p->lost = false;
        port_hello_send(p);
        if (p->up && p->counter[EXANET_PORT_CNT_XOFF_SENT]) {
            port_xoff_send(p);      /* the last one may have been lost */
        }
    }
    port_hello_arm(p);
}

static void port_hello_receive(ExanetPort *p, const struct exanet_hello *h)
{
    ExanetState *s = p->s;
    uint32_t coord = le32_to_cpu(h->coord);
    uint32_t max_words = le32_to_cpu(h->max_words);
    bool was_up = p->up;
    bool heard = (h->flags & EXANET_HELLO_HEARD) && h->peer_epoch == s->epoch;

    if (coord > EXANET_COORD_MASK || max_words < EXANET_PACKET_WORDS) {
        port_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return;
    }
    if (coord == s->node) {
        if (!p->conflict_told) {
            warn_report("exanet: the peer of link%u has the same coordinates "
                        "0x%x: the link stays down", p->index, coord);
        }
        p->conflict_told = true;
        p->conflict = true;
        port_peer_forget(p);
        return;
    }
    p->conflict = false;
    if (!p->peer_known || p->peer != coord || p->peer_epoch != h->epoch) {
        port_up_set(p, false);
        p->peer_known = true;
        p->peer = coord;
        p->peer_epoch = h->epoch;
        exanet_receiver_new_epoch(s, coord, h->epoch);
    }
    p->tx_limit = MIN(max_words, EXANET_FRAME_WORDS);
    p->heard = exanet_now(s);
    port_up_set(p, heard);
    if ((!heard || !was_up) && p->hello_answers++ < HELLO_ANSWERS_MAX) {
        /* the peer is up only once it knows that we have heard it */
        port_hello_send(p);
        timer_mod_anticipate_ns(p->hello_timer,
                                exanet_now(s) + HELLO_INTERVAL_DOWN_NS);
    }
}

/* --- Receiving ---------------------------------------------------------- */

static void port_xoff_update(ExanetPort *p)
{
    unsigned base = EXANET_PORT(p->index);
    uint32_t xoff = exanet_reg_get32(p->s, base + EXANET_REG_PORT_XOFF);
    uint32_t xon = exanet_reg_get32(p->s, base + EXANET_REG_PORT_XON);

    if (!p->xoff && p->rx_count > xoff) {
        p->xoff = true;
        port_count(p, EXANET_PORT_CNT_XOFF_SENT, 1);
        port_xoff_send(p);
    } else if (p->xoff && p->rx_count < xon) {
        p->xoff = false;
        port_xoff_send(p);
    }
}

/* Stores a frame of packets; false when the FIFO has no room now. */
static bool port_data_store(ExanetPort *p, const uint8_t *words, unsigned count)
{
    unsigned size = 2 * p->s->rx_fifo_words;

    if (p->rx_count + count > p->s->rx_fifo_words) {
        return false;
    }
    if (p->rx_tail + 1 + count > size) {
        memmove(p->rx, p->rx + p->rx_head * EXANET_WORD_BYTES,
                (p->rx_tail - p->rx_head) * EXANET_WORD_BYTES);
        p->rx_tail -= p->rx_head;
        p->rx_head = 0;
    }
    stl_he_p(p->rx + p->rx_tail * EXANET_WORD_BYTES, count);
    memcpy(p->rx + (p->rx_tail + 1) * EXANET_WORD_BYTES, words,
           count * EXANET_WORD_BYTES);
    p->rx_tail += 1 + count;
    p->rx_count += count;
    port_count(p, EXANET_PORT_CNT_RX_WORDS, count);
    port_xoff_update(p);
    exanet_run_now(p->s);
    return true;
}

/* Takes a frame; false: offer it again later. */
static bool port_frame_take(ExanetPort *p, const struct exanet_frame *f,
                            const uint8_t *words)
{
    unsigned count = le16_to_cpu(f->count);
    uint8_t mac[6];

    if (f->kind == EXANET_LINK_HELLO && count == 1) {
        struct exanet_hello hello;

        memcpy(&hello, words, sizeof(hello));
        port_hello_receive(p, &hello);
        return true;
    }
    port_mac(mac, p->peer);
    if (!p->peer_known || memcmp(f->src, mac, sizeof(mac))) {
        port_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return true;
    }
    p->heard = exanet_now(p->s);
    switch (f->kind) {
    case EXANET_LINK_DATA:
        if (!p->up || count == 0 || count > p->s->rx_fifo_words) {
            break;
        }
        return port_data_store(p, words, count);
    case EXANET_LINK_XOFF:
        port_count(p, EXANET_PORT_CNT_XOFF_RECEIVED, 1);
        p->peer_xoff = true;
        return true;
    case EXANET_LINK_XON:
        p->peer_xoff = false;
        exanet_port_flush(p);
        exanet_schedule(p->s);
        return true;
    case EXANET_LINK_DOWN:
        port_peer_forget(p);
        port_hello_arm(p);
        return true;
    }
    port_count(p, EXANET_PORT_CNT_DROPPED, 1);
    return true;
}

static ssize_t port_receive(NetClientState *nc, const uint8_t *buf, size_t size)
{
    ExanetPort *p = qemu_get_nic_opaque(nc);
    struct exanet_frame f;

    if (!p->enabled || size < sizeof(f)) {
        port_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return size;
    }
    memcpy(&f, buf, sizeof(f));
    /* netdevs may pad short frames, never cut them */
    if (f.ethertype != cpu_to_be16(EXANET_ETHERTYPE) ||
        f.version != EXANET_LINK_VERSION || f.reserved != 0 ||
        size - sizeof(f) < le16_to_cpu(f.count) * EXANET_WORD_BYTES) {
        port_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return size;
    }
    trace_exanet_link_port_rx(p->s->node, p->index, f.kind,
                              le16_to_cpu(f.count));
    p->refused = !port_frame_take(p, &f, buf + sizeof(f));
    return p->refused ? 0 : size;
}

/* Delivers the packets of the frame of @count words at @buf. */
static void port_frame_deliver(ExanetPort *p, uint8_t *buf,
                               unsigned count)
{
    unsigned done = 0;

    while (done < count) {
        uint8_t *packet = buf + done * EXANET_WORD_BYTES;
        ExanetWireStatus status;
        unsigned words = exanet_packet_words(packet, &status);

        if (words == 0 || words > count - done) {
            /* where the next packet begins is not known: the rest is lost */
            port_count(p, status == EXANET_WIRE_BAD_HEADER ?
                       EXANET_PORT_CNT_BAD_HEADER : EXANET_PORT_CNT_DROPPED, 1);
            if (status == EXANET_WIRE_BAD_HEADER) {
                exanet_count(p->s, DROP_HEADER_CRC);
            } else {
                exanet_count(p->s, DROP_MALFORMED);
                exanet_irq_raise(p->s, EXANET_IRQ_PROTOCOL);
            }
            return;
        }
        port_count(p, EXANET_PORT_CNT_RX_PACKETS, 1);
        exanet_crossbar_take(p->s, p, 0, packet, words);
        done += words;
    }
}

bool exanet_port_rx_run(ExanetPort *p)
{
    unsigned budget = RX_BUDGET_WORDS;

    if (p->rx_count == 0 && !p->refused) {
        return false;
    }
    while (p->rx_head < p->rx_tail && budget) {
        uint8_t *frame = p->rx + p->rx_head * EXANET_WORD_BYTES;
        unsigned count = ldl_he_p(frame);

        p->rx_head += 1 + count;
        p->rx_count -= count;
        budget -= MIN(budget, count);
        port_frame_deliver(p, frame + EXANET_WORD_BYTES, count);
    }
    if (p->rx_head == p->rx_tail) {
        p->rx_head = 0;
        p->rx_tail = 0;
    }
    port_xoff_update(p);
    if (p->refused) {
        p->refused = false;
        qemu_flush_queued_packets(qemu_get_queue(p->nic));
    }
    return p->rx_count != 0;
}

/* --- Control ------------------------------------------------------------ */

static void port_link_changed(NetClientState *nc)
{
    ExanetPort *p = qemu_get_nic_opaque(nc);

    port_hello_tick(p);
}

static NetClientInfo exanet_port_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .receive = port_receive,
    .link_status_changed = port_link_changed,
};

void exanet_port_reg_sync(ExanetPort *p)
{
    ExanetState *s = p->s;
    unsigned base = EXANET_PORT(p->index);
    unsigned tx = p->tx_words + port_response_words(p);

    exanet_reg_set32(s, base + EXANET_REG_PORT_STATUS,
                     (p->up ? EXANET_PORT_STATUS_UP : 0) |
                     (p->peer_xoff ? EXANET_PORT_STATUS_PEER_XOFF : 0) |
                     (p->xoff ? EXANET_PORT_STATUS_XOFF : 0) |
                     (p->conflict ? EXANET_PORT_STATUS_CONFLICT : 0) |
                     EXANET_PORT_STATUS_PRESENT);
    exanet_reg_set32(s, base + EXANET_REG_PORT_LEVEL,
                     RNIC_PREP(EXANET_PORT_LEVEL_RX, MIN(p->rx_count, 0xffff)) |
                     RNIC_PREP(EXANET_PORT_LEVEL_TX, MIN(tx, 0xffff)));
    exanet_reg_set32(s, base + EXANET_REG_PORT_PEER,
                     p->peer_known ? p->peer : 0);
    for (unsigned i = 0; i < EXANET_PORT_COUNTERS; i++) {
        exanet_reg_set64(s, base + EXANET_REG_PORT_TX_PACKETS + 8 * i,
                         p->counter[i]);
    }
}

void exanet_port_reg_written(ExanetPort *p, unsigned reg, bool top)
{
    bool enable;

    if (reg != EXANET_REG_PORT_CTRL) {
        return;
    }
    enable = exanet_reg_get32(p->s, EXANET_PORT(p->index) + reg) &
             EXANET_PORT_CTRL_ENABLE;
    if (p->enabled == enable) {
        return;
    }
    if (!enable && port_carrier(p) && !p->blocked) {
        port_control_send(p, EXANET_LINK_DOWN);
    }
    p->enabled = enable;
    exanet_port_restart(p);
}

void exanet_port_reset(ExanetPort *p)
{
    port_queues_drop(p);
    memset(p->counter, 0, sizeof(p->counter));
    p->hello_due = false;
    p->peer_known = false;
    p->up = false;
    p->enabled = true;
    p->conflict = false;
    p->tx_limit = EXANET_FRAME_WORDS;
    exanet_reg_set32(p->s, EXANET_PORT(p->index) + EXANET_REG_PORT_XOFF,
                     p->s->rx_fifo_words - EXANET_XOFF_MARGIN);
    /*
     * A frame that the netdev still keeps is left to it: half of it may be in a
     * socket.  It comes before the HELLO, so the peer sees it as of the old epoch.
     * While machine or device are being built a listening netdev may not be ready to
     * be sent to, nor say so.
     */
    if (runstate_is_running() && qdev_is_realized(p->s->host.dev)) {
        port_hello_tick(p);
    } else {
        port_hello_arm(p);
    }
}

void exanet_port_restart(ExanetPort *p)
{
    p->conflict = false;
    port_peer_forget(p);
    port_hello_tick(p);
}

void exanet_port_init(ExanetState *s, unsigned index)
{
    ExanetPort *p = &s->port[index];

    p->s = s;
    p->index = index;
    p->enabled = true;
    port_mac(p->conf.macaddr.a, s->coord);
    p->tx = g_malloc(EXANET_FRAME_BYTES);
    p->held = g_malloc(EXANET_FRAME_BYTES);
    p->rx = g_malloc(2 * s->rx_fifo_words * EXANET_WORD_BYTES);
    p->responses = g_byte_array_new();
    p->hello_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, port_hello_tick, p);
    p->nic = qemu_new_nic(&exanet_port_info, &p->conf,
                          object_get_typename(OBJECT(s->host.dev)),
                          s->host.dev->id,
                          &s->host.dev->mem_reentrancy_guard, p);
    qemu_format_nic_info_str(qemu_get_queue(p->nic), p->conf.macaddr.a);
}

void exanet_port_fini(ExanetPort *p)
{
    if (!p->blocked) {
        port_control_send(p, EXANET_LINK_DOWN);
    }
    timer_free(p->hello_timer);
    /* a frame that the netdev keeps would come back to a NIC that is gone */
    p->blocked = false;
    qemu_purge_queued_packets(qemu_get_queue(p->nic));
    qemu_del_nic(p->nic);
    g_byte_array_unref(p->responses);
    g_free(p->tx);
    g_free(p->held);
    g_free(p->rx);
}
