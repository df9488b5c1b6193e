/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet link port: one end of a cable, over a QEMU netdev.
 *
 * A frame carries many packets, because a netdev costs a system call per frame.  Packets
 * that arrive wait in the RX FIFO of their virtual channel until exanet_port_rx_run()
 * delivers the packets, because a netdev may call the port while the device is at work.
 * If the device is idle, the FIFO is empty, and only the netdev can change its buffer,
 * the FIFO borrows the frame instead of a copy.
 * If the RX FIFO of a channel has too many words, the port sends an XOFF, which stops the
 * neighbour in this channel alone.  The FIFO then still accepts the packets that are
 * under way, until all RX FIFOs of the port together have more than RX_WORDS_MAX words.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../../core/netdev.h"
#include "inject.h"
#include "link-fifo.h"
#include "link.h"
#include "port.h"

/* A port with more words in all RX FIFOs refuses the netdev's next frame with packets. */
#define RX_WORDS_MAX (4 * MiB / EXANET_LINK_WORD)

unsigned exanet_link_packets(ExanetPort *p, const uint8_t *buf, unsigned words)
{
    unsigned packets = 0;

    while (words) {
        ExanetMeasured m = p->group->owner->measure(buf);

        if (m.words == 0 || m.words > words) {
            return packets + 1;
        }
        buf += m.words * EXANET_LINK_WORD;
        words -= m.words;
        packets += m.packets;
    }
    return packets;
}

/*
 * Empties the RX FIFOs.  Returns the number of packets that were in the RX FIFOs, without
 * packets of runs that the owner has accepted (@p->taken).
 */
static unsigned port_rx_drop(ExanetPort *p)
{
    unsigned packets = 0;

    for (unsigned vc = 0; vc < EXANET_LINK_VCS; vc++) {
        ExanetFifo *f = &p->rx[vc];
        const uint8_t *head;

        while ((head = exanet_fifo_head(f))) {
            packets += exanet_link_packets(p, head, f->left);
            exanet_fifo_skip(f, f->left);
        }
        packets -= p->taken[vc];
        p->taken[vc] = 0;
    }
    return packets;
}

void exanet_link_queues_drop(ExanetPort *p)
{
    exanet_port_drop(p, exanet_link_tx_drop(p) + port_rx_drop(p));
    exanet_link_changed(p, EXANET_PORT_EMPTIED);
    p->rx_count = 0;
    p->rx_drops++;
    p->xoff = 0;
    p->xoff_due = 0;
    p->xoff_sent = 0;
    if (p->refused) {
        exanet_link_schedule(p);      /* exanet_port_rx_run() asks for the frame */
    }
}

/* --- Receiving ---------------------------------------------------------- */

/*
 * Sends XOFF if the RX FIFO of channel @vc has too many words and no XOFF stops the
 * channel yet.  After an XOFF, sends XON when the FIFO has few words or none.
 */
static void port_xoff_update(ExanetPort *p, unsigned vc)
{
    unsigned count = p->rx[vc].count;
    unsigned bit = BIT(vc);

    if (!(p->xoff & bit)) {
        if (count > p->xoff_above) {
            p->xoff |= bit;
            p->xoff_sent |= bit;
            exanet_link_count(p, EXANET_PORT_CNT_XOFF_SENT, 1);
            exanet_link_xoff_send(p, bit);
        }
    } else if (count < MAX(p->xon_below, 1)) {
        p->xoff &= ~bit;
        exanet_link_xoff_send(p, bit);
    }
}

bool exanet_link_rx_room(ExanetPort *p)
{
    unsigned used = 0;

    /*
     * a new frame could move the packet that is being delivered, which take() still reads
     */
    if (p->delivering) {
        return false;
    }
    for (unsigned vc = 0; vc < EXANET_LINK_VCS; vc++) {
        used += exanet_fifo_used(&p->rx[vc]);
    }
    return used <= RX_WORDS_MAX;
}

/*
 * Counts @count words of packets that were added to the RX FIFO of channel @vc, and sends
 * XOFF if the FIFO has too many words now.
 */
static void port_rx_added(ExanetPort *p, unsigned vc, unsigned count)
{
    p->rx_count += count;
    exanet_link_count(p, EXANET_PORT_CNT_RX_WORDS, count);
    port_xoff_update(p, vc);
}

void exanet_link_rx_put(ExanetPort *p, unsigned vc, const uint8_t *words,
                        unsigned count)
{
    exanet_fifo_put(&p->rx[vc], words, count);
    port_rx_added(p, vc, count);
}

/*
 * Does the same as exanet_link_rx_put(), but without a copy if the RX FIFO is empty.  The
 * caller calls port_rx_keep() before the words at @words change or vanish.
 */
static void port_rx_lend(ExanetPort *p, unsigned vc, const uint8_t *words,
                         unsigned count)
{
    if (p->rx[vc].count) {
        exanet_fifo_put(&p->rx[vc], words, count);
    } else {
        exanet_fifo_borrow(&p->rx[vc], words, count);
    }
    port_rx_added(p, vc, count);
}

/* Copies the words that port_rx_lend() has lent and that are still in the RX FIFOs. */
static void port_rx_keep(ExanetPort *p)
{
    for (unsigned vc = 0; vc < EXANET_LINK_VCS; vc++) {
        exanet_fifo_keep(&p->rx[vc]);
    }
}

static void port_xon_receive(ExanetPort *p, unsigned vc)
{
    p->peer_xoff &= ~BIT(vc);
    p->tx_allow[vc] = EXANET_TX_ALL;
    p->tx_wanted &= ~BIT(vc);
    exanet_port_flush(p);
    exanet_link_schedule(p);
}

/*
 * Handles a frame of the neighbour with header @f, except a valid HELLO.  Drops and
 * counts the frame if its kind or count is not valid, or if its packets arrive while the
 * link is down.  Returns false if the netdev must offer the frame again, because
 * exanet_link_rx_room() is false.  @lend is true if the RX FIFO may borrow the words.
 */
static bool port_frame_take(ExanetPort *p, const struct exanet_frame *f,
                            const uint8_t *words, bool lend)
{
    unsigned count = le16_to_cpu(f->count);

    switch (f->kind) {
    case EXANET_LINK_DATA:
        if (!p->up || count == 0 || count > p->group->rx_words) {
            break;
        }
        if (!exanet_link_rx_room(p)) {
            return false;
        }
        if (lend) {
            port_rx_lend(p, f->vc, words, count);
        } else {
            exanet_link_rx_put(p, f->vc, words, count);
        }
        exanet_link_schedule(p);
        return true;
    case EXANET_LINK_XOFF:
        exanet_link_count(p, EXANET_PORT_CNT_XOFF_RECEIVED, 1);
        exanet_link_peer_xoff_set(p, p->peer_xoff | BIT(f->vc));
        return true;
    case EXANET_LINK_XON:
        port_xon_receive(p, f->vc);
        return true;
    case EXANET_LINK_DOWN:
        exanet_link_down_receive(p);
        return true;
    }
    exanet_link_count(p, EXANET_PORT_CNT_DROPPED, 1);
    return true;
}

/*
 * Returns true if @f is a valid header, and the frame of @size bytes contains the words
 * that @f announces.
 */
static bool port_header_valid(const ExanetPort *p, const struct exanet_frame *f,
                              size_t size)
{
    const ExanetPortOwner *owner = p->group->owner;

    /* a netdev may pad a short frame, so @size may be more than the header says */
    return f->ethertype == cpu_to_be16(EXANET_ETHERTYPE) &&
           f->version == EXANET_LINK_VERSION && f->vc < owner->vcs &&
           f->reserved == owner->family &&
           size - sizeof(*f) >= le16_to_cpu(f->count) * EXANET_LINK_WORD;
}

/* Returns true if the source address of @f is the address of the neighbour. */
static bool port_from_peer(ExanetPort *p, const struct exanet_frame *f)
{
    uint8_t mac[6];

    exanet_link_mac(p->group->owner, mac, p->peer);
    return p->peer_known && !memcmp(f->src, mac, sizeof(mac));
}

/*
 * Handles or drops a frame of @size bytes.  Returns 0 if the netdev must offer the frame
 * again, otherwise a positive number.  @lend is true if the RX FIFO may borrow the frame.
 */
static ssize_t port_frame(ExanetPort *p, const uint8_t *buf, size_t size, bool lend)
{
    const uint8_t *words = buf + sizeof(struct exanet_frame);
    struct exanet_frame f;

    if (!p->enabled || p->loopback || size < sizeof(f)) {
        exanet_link_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return MAX(size, 1);        /* 0 would make the netdev keep an empty frame */
    }
    memcpy(&f, buf, sizeof(f));
    if (!port_header_valid(p, &f, size)) {
        exanet_link_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return size;
    }
    exanet_link_trace(p, EXANET_PORT_STEP_RX, f.kind, f.vc, le16_to_cpu(f.count));
    if (f.kind == EXANET_LINK_HELLO && le16_to_cpu(f.count) == 1) {
        struct exanet_hello hello;

        memcpy(&hello, words, sizeof(hello));
        exanet_link_hello_receive(p, &hello);
        return size;
    }
    if (!port_from_peer(p, &f)) {
        exanet_link_count(p, EXANET_PORT_CNT_DROPPED, 1);
        return size;
    }
    p->heard = rnic_now();
    return port_frame_take(p, &f, words, lend) ? size : 0;
}

void exanet_port_poll(ExanetPort *p)
{
    if (p->nic) {
        p->polled = true;
        qemu_net_busy_poll(qemu_get_queue(p->nic)->peer);
        p->polled = false;
    }
}

void exanet_port_watch(ExanetPort *p, bool on)
{
    NetClientState *netdev = p->nic ? qemu_get_queue(p->nic)->peer : NULL;

    if (on) {
        qemu_net_busy_poll_end(netdev);
    } else {
        qemu_net_busy_poll_begin(netdev);
    }
}

/*
 * Returns true if the units may read packets in the netdev's buffer.  Otherwise the port
 * copies the packets first, because a vCPU could change a header after its check.
 */
static bool port_may_lend(const ExanetPort *p)
{
    const NetClientState *netdev = qemu_get_queue(p->nic)->peer;

    return netdev && rnic_netdev_frames_private(netdev);
}

/*
 * Handles a frame from the netdev.  Unless the device is at work already, runs the units
 * at once, because a bottom half would run the units later.  Returns 0 if the netdev must
 * keep the frame.  The caller is the netdev's queue for this NIC, so the NIC must not be
 * freed before the function returns.  If port_may_lend() is true, the RX FIFO gets a copy
 * only of packets that must wait.  A call inside another call of the device always
 * copies, because the units run only after its return.
 */
static ssize_t port_receive(NetClientState *nc, const uint8_t *buf, size_t size)
{
    ExanetPort *p = qemu_get_nic_opaque(nc);
    bool entered = rnic_loop_enter(p->group->loop);
    ssize_t taken = port_frame(p, buf, size, entered && port_may_lend(p));

    rnic_loop_leave(p->group->loop, entered);
    if (entered) {
        port_rx_keep(p);
    }
    if (p->polled && taken) {
        exanet_link_changed(p, EXANET_PORT_POLLED);
    }
    if (!taken) {
        p->refused = true;
        exanet_link_schedule(p);      /* the RX FIFOs may have room soon */
    }
    return taken;
}

/* --- Delivering --------------------------------------------------------- */

/* Removes the first @words words from the RX FIFO of channel @vc. */
static void port_rx_skip(ExanetPort *p, unsigned vc, unsigned words)
{
    exanet_fifo_skip(&p->rx[vc], words);
    p->rx_count -= words;
}

/*
 * Drops the rest of the first frame of channel @vc, because the start of the next packet
 * is not known.  Counts and reports one packet.  @damaged is true if the CRC of the
 * packet's header is wrong.
 */
static void port_rest_drop(ExanetPort *p, unsigned vc, bool damaged)
{
    if (damaged) {
        exanet_link_count(p, EXANET_PORT_CNT_BAD_HEADER, 1);
        exanet_link_changed(p, EXANET_PORT_BAD_HEADER);
    } else {
        exanet_link_count(p, EXANET_PORT_CNT_DROPPED, 1);
        exanet_link_changed(p, EXANET_PORT_MALFORMED);
    }
    port_rx_skip(p, vc, p->rx[vc].left);
}

/*
 * Delivers or drops packets of channel @vc, until the function has processed half of the
 * words of a full frame, a packet must wait, or the RX FIFO is empty.  Returns true if
 * this limit has stopped the function and the RX FIFO is not empty, so that the channel
 * could continue now.  There is a limit, because packets of other channels wait too, and
 * vCPUs wait for the big lock.
 */
static bool port_vc_deliver(ExanetPort *p, unsigned vc)
{
    const ExanetPortOwner *owner = p->group->owner;
    unsigned quantum = owner->frame_words / 2;
    ExanetFifo *f = &p->rx[vc];
    unsigned drops = p->rx_drops;
    unsigned done = 0;

    while (done < quantum && f->count) {
        const uint8_t *packet = exanet_fifo_head(f);
        ExanetMeasured m = owner->measure(packet);

        done += m.words ?: 1;
        if (m.words == 0 || m.words > f->left) {
            port_rest_drop(p, vc, m.damaged);
            continue;
        }
        if (!owner->take(p, vc, packet, m.words)) {
            return false;
        }
        if (drops != p->rx_drops) {
            return false;           /* the call of take() has emptied the FIFO */
        }
        p->taken[vc] = 0;
        exanet_link_count(p, EXANET_PORT_CNT_RX_PACKETS, m.packets);
        /*
         * exanet_link_rx_put() has counted the words of a run, which has fewer words than
         * its packets have one by one
         */
        exanet_link_count(p, EXANET_PORT_CNT_RX_WORDS, m.alone - m.words);
        port_rx_skip(p, vc, m.words);
    }
    return f->count != 0;
}

bool exanet_port_rx_run(ExanetPort *p)
{
    bool more = p->owner_words && p->group->owner->work(p);

    if (p->rx_count == 0 && !p->refused) {
        return more;
    }
    p->rx_vc++;
    for (unsigned i = 0; i < EXANET_LINK_VCS; i++) {
        unsigned vc = (p->rx_vc + i) % EXANET_LINK_VCS;

        if (p->rx[vc].count) {
            p->delivering = true;
            more |= port_vc_deliver(p, vc);
            p->delivering = false;
            exanet_fifo_trim(&p->rx[vc]);
            port_xoff_update(p, vc);
        }
    }
    if (p->refused && exanet_link_rx_room(p)) {
        p->refused = false;
        qemu_flush_queued_packets(qemu_get_queue(p->nic));
    }
    return more;
}

/* --- Control ------------------------------------------------------------ */

static void port_link_changed(NetClientState *nc)
{
    ExanetPort *p = qemu_get_nic_opaque(nc);
    bool entered = rnic_loop_enter(p->group->loop);

    exanet_link_hello(p);
    rnic_loop_leave(p->group->loop, entered);
}

static NetClientInfo exanet_port_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .receive = port_receive,
    .link_status_changed = port_link_changed,
};

unsigned exanet_port_rx_words(const ExanetPort *p)
{
    return p->rx_count + p->owner_words;
}

void exanet_port_tune(ExanetPort *p, uint32_t rate, uint32_t latency)
{
    p->rate = rate;
    p->latency = latency;
    exanet_link_tx_limit(p);
}

void exanet_port_reset(ExanetPort *p)
{
    exanet_link_queues_drop(p);
    memset(p->counter, 0, sizeof(p->counter));
    exanet_inject_reset(p);
    p->tx_free = 0;
    p->peer_words = p->group->owner->frame_words;
    exanet_link_tx_limit(p);
    exanet_link_hello_reset(p);
}

void exanet_port_init(ExanetPortGroup *group, unsigned index)
{
    ExanetPort *p = &group->port[index];
    DeviceState *dev = group->dev;

    p->group = group;
    p->index = index;
    p->wanted = true;
    p->enabled = !p->admin_down;
    exanet_link_mac(group->owner, p->conf.macaddr.a, group->node);
    exanet_link_tx_init(p);
    exanet_link_hello_init(p);
    p->nic = qemu_new_nic(&exanet_port_info, &p->conf,
                          object_get_typename(OBJECT(dev)), dev->id,
                          &dev->mem_reentrancy_guard, p);
    qemu_format_nic_info_str(qemu_get_queue(p->nic), p->conf.macaddr.a);
}

void exanet_port_fini(ExanetPort *p)
{
    exanet_link_hello_fini(p);
    p->up = false;                  /* packets that leave by this port are dropped */
    p->enabled = false;
    /* makes port_sent() do nothing if the purge reports the kept frame as dropped */
    p->blocked = false;
    qemu_purge_queued_packets(qemu_get_queue(p->nic));
    qemu_del_nic(p->nic);
    p->nic = NULL;
    exanet_link_tx_fini(p);
    exanet_link_changed(p, EXANET_PORT_EMPTIED);
    for (unsigned vc = 0; vc < EXANET_LINK_VCS; vc++) {
        exanet_fifo_fini(&p->rx[vc]);
    }
}
