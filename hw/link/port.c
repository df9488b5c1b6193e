/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link port: one end of a cable, over a QEMU netdev.
 *
 * A frame carries many packets, because a netdev costs a system call per frame.  Packets
 * that arrive wait in the RX FIFO of their virtual channel until rnic_port_rx_run()
 * delivers the packets, because a netdev may call the port while the device is at work.
 * If the device is idle, the FIFO is empty, and only the netdev can change its buffer,
 * the FIFO borrows the frame instead of a copy.
 * If the RX FIFO of a channel has too many words, the port sends an XOFF, which stops the
 * neighbour in this channel alone.  The FIFO then still accepts the packets that are
 * under way, until all RX FIFOs of the port together have more than RX_WORDS_MAX words.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "../core/netdev.h"
#include "inject.h"
#include "port-fifo.h"
#include "port-internal.h"
#include "port.h"

/* A port with more words in all RX FIFOs refuses the netdev's next frame with packets. */
#define RX_WORDS_MAX (4 * MiB / RNIC_LINK_WORD)

unsigned rnic_link_packets(RNicPort *p, const uint8_t *buf, unsigned words)
{
    unsigned packets = 0;

    while (words) {
        RNicMeasured m = p->group->owner->measure(buf);

        if (m.words == 0 || m.words > words) {
            return packets + 1;
        }
        buf += m.words * RNIC_LINK_WORD;
        words -= m.words;
        packets += m.packets;
    }
    return packets;
}

/*
 * Empties the RX FIFOs.  Returns the number of packets that were in the RX FIFOs, without
 * packets of runs that the owner has accepted (@p->taken).
 */
static unsigned port_rx_drop(RNicPort *p)
{
    unsigned packets = 0;

    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        RNicPortFifo *f = &p->rx[vc];
        const uint8_t *head;

        while ((head = rnic_port_fifo_head(f))) {
            packets += rnic_link_packets(p, head, f->left);
            rnic_port_fifo_skip(f, f->left);
        }
        packets -= p->taken[vc];
        p->taken[vc] = 0;
    }
    return packets;
}

void rnic_link_queues_drop(RNicPort *p)
{
    rnic_port_drop(p, rnic_link_tx_drop(p) + port_rx_drop(p));
    rnic_link_changed(p, RNIC_PORT_EMPTIED);
    p->rx_count = 0;
    p->rx_drops++;
    p->xoff = 0;
    p->xoff_due = 0;
    p->xoff_sent = 0;
    if (p->refused) {
        rnic_link_schedule(p);        /* rnic_port_rx_run() asks for the frame */
    }
}

/* --- Receiving ---------------------------------------------------------- */

/*
 * Sends XOFF if the RX FIFO of channel @vc has too many words and no XOFF stops the
 * channel yet.  After an XOFF, sends XON when the FIFO has few words or none.
 */
static void port_xoff_update(RNicPort *p, unsigned vc)
{
    unsigned count = p->rx[vc].count;
    unsigned bit = BIT(vc);

    if (!(p->xoff & bit)) {
        if (count > p->xoff_above) {
            p->xoff |= bit;
            p->xoff_sent |= bit;
            rnic_link_count(p, RNIC_PORT_CNT_XOFF_SENT, 1);
            rnic_link_xoff_send(p, bit);
        }
    } else if (count < MAX(p->xon_below, 1)) {
        p->xoff &= ~bit;
        rnic_link_xoff_send(p, bit);
    }
}

bool rnic_link_rx_room(RNicPort *p)
{
    unsigned used = 0;

    /*
     * a new frame could move the packet that is being delivered, which take() still reads
     */
    if (p->delivering) {
        return false;
    }
    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        used += rnic_port_fifo_used(&p->rx[vc]);
    }
    return used <= RX_WORDS_MAX;
}

/*
 * Counts @count words of packets that were added to the RX FIFO of channel @vc, and sends
 * XOFF if the FIFO has too many words now.
 */
static void port_rx_added(RNicPort *p, unsigned vc, unsigned count)
{
    p->rx_count += count;
    rnic_link_count(p, RNIC_PORT_CNT_RX_WORDS, count);
    port_xoff_update(p, vc);
}

void rnic_link_rx_put(RNicPort *p, unsigned vc, const uint8_t *words,
                      unsigned count)
{
    rnic_port_fifo_put(&p->rx[vc], words, count);
    port_rx_added(p, vc, count);
}

/*
 * Does the same as rnic_link_rx_put(), but without a copy if the RX FIFO is empty.  The
 * caller calls port_rx_keep() before the words at @words change or vanish.
 */
static void port_rx_lend(RNicPort *p, unsigned vc, const uint8_t *words,
                         unsigned count)
{
    if (p->rx[vc].count) {
        rnic_port_fifo_put(&p->rx[vc], words, count);
    } else {
        rnic_port_fifo_borrow(&p->rx[vc], words, count);
    }
    port_rx_added(p, vc, count);
}

/* Copies the words that port_rx_lend() has lent and that are still in the RX FIFOs. */
static void port_rx_keep(RNicPort *p)
{
    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        rnic_port_fifo_keep(&p->rx[vc]);
    }
}

static void port_xon_receive(RNicPort *p, unsigned vc)
{
    p->peer_xoff &= ~BIT(vc);
    p->tx_allow[vc] = RNIC_TX_ALL;
    p->tx_wanted &= ~BIT(vc);
    rnic_port_flush(p);
    rnic_link_schedule(p);
}

/*
 * Handles a frame of the neighbour with header @f, except a valid HELLO.  Drops and
 * counts the frame if its kind or count is not valid, or if its packets arrive while the
 * link is down.  Returns false if the netdev must offer the frame again, because
 * rnic_link_rx_room() is false.  @lend is true if the RX FIFO may borrow the words.
 */
static bool port_frame_take(RNicPort *p, const struct rnic_frame *f,
                            const uint8_t *words, bool lend)
{
    unsigned count = le16_to_cpu(f->count);

    switch (f->kind) {
    case RNIC_LINK_DATA:
        if (!p->up || count == 0 || count > p->group->rx_words) {
            break;
        }
        if (!rnic_link_rx_room(p)) {
            return false;
        }
        if (lend) {
            port_rx_lend(p, f->vc, words, count);
        } else {
            rnic_link_rx_put(p, f->vc, words, count);
        }
        rnic_link_schedule(p);
        return true;
    case RNIC_LINK_XOFF:
        rnic_link_count(p, RNIC_PORT_CNT_XOFF_RECEIVED, 1);
        rnic_link_peer_xoff_set(p, p->peer_xoff | BIT(f->vc));
        return true;
    case RNIC_LINK_XON:
        port_xon_receive(p, f->vc);
        return true;
    case RNIC_LINK_DOWN:
        rnic_link_down_receive(p);
        return true;
    }
    rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
    return true;
}

/*
 * Returns true if @f is a valid header, and the frame of @size bytes contains the words
 * that @f announces.
 */
static bool port_header_valid(const RNicPort *p, const struct rnic_frame *f,
                              size_t size)
{
    const RNicPortOwner *owner = p->group->owner;

    /* a netdev may pad a short frame, so @size may be more than the header says */
    return f->ethertype == cpu_to_be16(RNIC_ETHERTYPE) &&
           f->version == RNIC_LINK_VERSION && f->vc < owner->vcs &&
           f->family == owner->family &&
           size - sizeof(*f) >= le16_to_cpu(f->count) * RNIC_LINK_WORD;
}

/* Warns the user once if @f, which is not valid, is a frame of another family. */
static void port_other_family(RNicPort *p, const struct rnic_frame *f)
{
    const RNicPortOwner *owner = p->group->owner;

    if (f->ethertype != cpu_to_be16(RNIC_ETHERTYPE) ||
        f->version != RNIC_LINK_VERSION || f->family == owner->family) {
        return;
    }
    if (!p->other_reported) {
        warn_report("%s: the peer of link%u is a NIC of another family (%u): the link "
                    "stays down", owner->name, p->index, f->family);
    }
    p->other_reported = true;
    p->other_family = true;
}

/* Returns true if the source address of @f is the address of the neighbour. */
static bool port_from_peer(RNicPort *p, const struct rnic_frame *f)
{
    uint8_t mac[6];

    rnic_link_mac(p->group->owner, mac, p->peer);
    return p->peer_known && !memcmp(f->src, mac, sizeof(mac));
}

/*
 * Handles or drops a frame of @size bytes.  Returns 0 if the netdev must offer the frame
 * again, otherwise a positive number.  @lend is true if the RX FIFO may borrow the frame.
 */
static ssize_t port_frame(RNicPort *p, const uint8_t *buf, size_t size, bool lend)
{
    const uint8_t *words = buf + sizeof(struct rnic_frame);
    struct rnic_frame f;

    if (!p->enabled || p->loopback || size < sizeof(f)) {
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        return MAX(size, 1);        /* 0 would make the netdev keep an empty frame */
    }
    memcpy(&f, buf, sizeof(f));
    if (!port_header_valid(p, &f, size)) {
        port_other_family(p, &f);
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        return size;
    }
    rnic_link_trace(p, RNIC_PORT_STEP_RX, f.kind, f.vc, le16_to_cpu(f.count));
    if (f.kind == RNIC_LINK_HELLO && le16_to_cpu(f.count) == 1) {
        struct rnic_hello hello;

        memcpy(&hello, words, sizeof(hello));
        rnic_link_hello_receive(p, &hello);
        return size;
    }
    if (!port_from_peer(p, &f)) {
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        return size;
    }
    p->heard = rnic_now();
    return port_frame_take(p, &f, words, lend) ? size : 0;
}

void rnic_port_poll(RNicPort *p)
{
    if (p->nic) {
        p->polled = true;
        qemu_net_busy_poll(qemu_get_queue(p->nic)->peer);
        p->polled = false;
    }
}

void rnic_port_watch(RNicPort *p, bool on)
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
static bool port_may_lend(const RNicPort *p)
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
    RNicPort *p = qemu_get_nic_opaque(nc);
    bool entered = rnic_loop_enter(p->group->loop);
    ssize_t taken = port_frame(p, buf, size, entered && port_may_lend(p));

    rnic_loop_leave(p->group->loop, entered);
    if (entered) {
        port_rx_keep(p);
    }
    if (p->polled && taken) {
        rnic_link_changed(p, RNIC_PORT_POLLED);
    }
    if (!taken) {
        p->refused = true;
        rnic_link_schedule(p);        /* the RX FIFOs may have room soon */
    }
    return taken;
}

/* --- Delivering --------------------------------------------------------- */

/* Removes the first @words words from the RX FIFO of channel @vc. */
static void port_rx_skip(RNicPort *p, unsigned vc, unsigned words)
{
    rnic_port_fifo_skip(&p->rx[vc], words);
    p->rx_count -= words;
}

/*
 * Drops the rest of the first frame of channel @vc, because the start of the next packet
 * is not known.  Counts and reports one packet.  @damaged is true if the CRC of the
 * packet's header is wrong.
 */
static void port_rest_drop(RNicPort *p, unsigned vc, bool damaged)
{
    if (damaged) {
        rnic_link_count(p, RNIC_PORT_CNT_BAD_HEADER, 1);
        rnic_link_changed(p, RNIC_PORT_BAD_HEADER);
    } else {
        rnic_link_count(p, RNIC_PORT_CNT_DROPPED, 1);
        rnic_link_changed(p, RNIC_PORT_MALFORMED);
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
static bool port_vc_deliver(RNicPort *p, unsigned vc)
{
    const RNicPortOwner *owner = p->group->owner;
    unsigned quantum = owner->frame_words / 2;
    RNicPortFifo *f = &p->rx[vc];
    unsigned drops = p->rx_drops;
    unsigned done = 0;

    while (done < quantum && f->count) {
        const uint8_t *packet = rnic_port_fifo_head(f);
        RNicMeasured m = owner->measure(packet);

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
        rnic_link_count(p, RNIC_PORT_CNT_RX_PACKETS, m.packets);
        /*
         * rnic_link_rx_put() has counted the words of a run, which has fewer words than
         * its packets have one by one
         */
        rnic_link_count(p, RNIC_PORT_CNT_RX_WORDS, m.alone - m.words);
        port_rx_skip(p, vc, m.words);
    }
    return f->count != 0;
}

bool rnic_port_rx_run(RNicPort *p)
{
    bool more = p->owner_words && p->group->owner->work(p);

    if (p->rx_count == 0 && !p->refused) {
        return more;
    }
    p->rx_vc++;
    for (unsigned i = 0; i < RNIC_LINK_VCS; i++) {
        unsigned vc = (p->rx_vc + i) % RNIC_LINK_VCS;

        if (p->rx[vc].count) {
            p->delivering = true;
            more |= port_vc_deliver(p, vc);
            p->delivering = false;
            rnic_port_fifo_trim(&p->rx[vc]);
            port_xoff_update(p, vc);
        }
    }
    if (p->refused && rnic_link_rx_room(p)) {
        p->refused = false;
        qemu_flush_queued_packets(qemu_get_queue(p->nic));
    }
    return more;
}

/* --- Control ------------------------------------------------------------ */

static void port_link_changed(NetClientState *nc)
{
    RNicPort *p = qemu_get_nic_opaque(nc);
    bool entered = rnic_loop_enter(p->group->loop);

    rnic_link_hello(p);
    rnic_loop_leave(p->group->loop, entered);
}

static NetClientInfo rnic_port_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .receive = port_receive,
    .link_status_changed = port_link_changed,
};

unsigned rnic_port_rx_words(const RNicPort *p)
{
    return p->rx_count + p->owner_words;
}

void rnic_port_tune(RNicPort *p, uint32_t rate, uint32_t latency)
{
    p->rate = rate;
    p->latency = latency;
    rnic_link_tx_limit(p);
}

void rnic_port_reset(RNicPort *p)
{
    rnic_link_queues_drop(p);
    memset(p->counter, 0, sizeof(p->counter));
    p->other_family = false;
    rnic_inject_reset(p);
    p->tx_free = 0;
    p->peer_words = p->group->owner->frame_words;
    rnic_link_tx_limit(p);
    rnic_link_hello_reset(p);
}

bool rnic_port_conf_valid(const RNicPort *p, unsigned index, const char *node_property,
                          uint32_t node, uint32_t most, Error **errp)
{
    bool named = p->peer_named != RNIC_PEER_ANY;
    const char *unused = p->inject ? "faults" : named ? "peer" : NULL;

    if (unused && !p->conf.peers.ncs[0]) {
        error_setg(errp, "property '%s%u' needs a netdev 'link%u'", unused, index, index);
        return false;
    }
    if (named && p->peer_named > most) {
        error_setg(errp, "property 'peer%u' must be at most 0x%x", index, most);
        return false;
    }
    if (named && p->peer_named == node) {
        error_setg(errp, "property 'peer%u' is 0x%x, as property '%s': a node is not its "
                   "own neighbour", index, node, node_property);
        return false;
    }
    return true;
}

void rnic_port_init(RNicPortGroup *group, unsigned index)
{
    RNicPort *p = &group->port[index];
    DeviceState *dev = group->dev;

    p->group = group;
    p->index = index;
    p->wanted = true;
    p->enabled = !p->admin_down;
    rnic_link_mac(group->owner, p->conf.macaddr.a, group->node);
    rnic_link_tx_init(p);
    rnic_link_hello_init(p);
    p->nic = qemu_new_nic(&rnic_port_info, &p->conf,
                          object_get_typename(OBJECT(dev)), dev->id,
                          &dev->mem_reentrancy_guard, p);
    qemu_format_nic_info_str(qemu_get_queue(p->nic), p->conf.macaddr.a);
}

void rnic_port_fini(RNicPort *p)
{
    rnic_link_hello_fini(p);
    p->up = false;                  /* packets that leave by this port are dropped */
    p->enabled = false;
    /* makes port_sent() do nothing if the purge reports the kept frame as dropped */
    p->blocked = false;
    qemu_purge_queued_packets(qemu_get_queue(p->nic));
    qemu_del_nic(p->nic);
    p->nic = NULL;
    rnic_link_tx_fini(p);
    rnic_link_changed(p, RNIC_PORT_EMPTIED);
    for (unsigned vc = 0; vc < RNIC_LINK_VCS; vc++) {
        rnic_port_fifo_fini(&p->rx[vc]);
    }
}
