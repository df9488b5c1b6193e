/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the wire of the paired NIC.
 *
 * A filter on that NIC's netdev delivers arriving frames to the device.  The device sends
 * its frames as frames of the NIC, because other filters of the netdev then get the
 * frames of both directions, and the frames of this device and of the NIC keep their
 * order.  If the netdev cannot send a frame, the netdev queues the frame and calls
 * port_sent() later.  Until port_sent() is called, the device sends nothing; after about
 * STUCK_NS the device drops its frames to the netdev.  Each frame is built in the buffer
 * from which the frame is sent, because a netdev copies a frame that consists of several
 * pieces.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/iov.h"
#include "qemu/module.h"
#include "net/eth.h"
#include "net/filter.h"
#include "qom/object_interfaces.h"
#include "system/runstate.h"
#include "../base/event.h"
#include "port.h"
#include "../pvrdma.h"
#include "roce.h"
#include "../trace.h"

#define TYPE_PVRDMA_FILTER "pvrdma-filter"
OBJECT_DECLARE_SIMPLE_TYPE(PvrdmaFilter, PVRDMA_FILTER)

struct PvrdmaFilter {
    NetFilterState parent_obj;
    PvrdmaState *s;
};

/*
 * Interval at which port_tick() checks the link state and a blocked netdev, because QEMU
 * reports a change of the link only to the paired NIC.
 */
#define TICK_NS         (500 * SCALE_MS)
/*
 * A netdev that is blocked for this time, ns, is treated as an unplugged cable: frames
 * are dropped, because a QP must not wait for ever.
 */
#define STUCK_NS        (10 * NANOSECONDS_PER_SECOND)
#define PORT_NUMBER     1

/* List of all ports, because port_sent() gets only the NetClientState. */
static QLIST_HEAD(, PvrdmaPort) ports = QLIST_HEAD_INITIALIZER(ports);

/* Returns the paired NIC, or NULL if the NIC or its netdev was deleted. */
static NetClientState *port_nic(const PvrdmaPort *p)
{
    NetClientState *netdev = p->filter ? p->filter->netdev : NULL;
    NetClientState *nic = netdev ? netdev->peer : NULL;

    return nic && nic->info->type == NET_CLIENT_DRIVER_NIC ? nic : NULL;
}

/* Returns the MAC of the paired NIC, or NULL if port_nic() returns NULL. */
static const uint8_t *port_nic_mac(const PvrdmaPort *p)
{
    NetClientState *nic = port_nic(p);

    return nic ? qemu_get_nic(nic)->conf->macaddr.a : NULL;
}

void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6])
{
    const uint8_t *nic_mac = port_nic_mac(&s->port);

    if (nic_mac) {
        memcpy(mac, nic_mac, ETH_ALEN);
    } else {
        memset(mac, 0, ETH_ALEN);
    }
}

bool pvrdma_port_up(PvrdmaState *s)
{
    NetClientState *nic = port_nic(&s->port);

    return nic && !nic->link_down;
}

/* --- Sending ------------------------------------------------------------- */
/*
 * Callback of the netdev, which has sent or dropped the queued frame of @nic.  Permits
 * the port of @nic to send.  Uses @nic only in comparisons, because the NIC may be freed
 * already.
 */
static void port_sent(NetClientState *nic, ssize_t ret)
{
    PvrdmaPort *p;

    QLIST_FOREACH(p, &ports, next) {
        if ((p->blocked || p->stuck) && p->sender == nic) {
            p->blocked = false;
            p->stuck = false;
            pvrdma_schedule(container_of(p, PvrdmaState, port));
        }
    }
}

static void port_cork(PvrdmaPort *p, bool cork)
{
    NetClientState *nic = port_nic(p);

    if (nic) {
        qemu_net_cork(nic->peer, cork);
    }
}

void pvrdma_port_cork(void *opaque)
{
    port_cork(&((PvrdmaState *)opaque)->port, true);
}

void pvrdma_port_uncork(void *opaque)
{
    port_cork(&((PvrdmaState *)opaque)->port, false);
}

static void port_send(PvrdmaState *s, uint8_t *frame, size_t len)
{
    PvrdmaPort *p = &s->port;
    NetClientState *nic = port_nic(p);
    size_t vnet = nic ? qemu_get_vnet_hdr_len(nic->peer) : 0;
    struct iovec iov = {
        .iov_base = frame - vnet,
        .iov_len = len + vnet,
    };

    if (!nic || nic->link_down || p->stuck || vnet > PVRDMA_VNET_BYTES) {
        /* The frame is lost, as on an unplugged cable. */
        return;
    }
    memset(iov.iov_base, 0, vnet);
    pvrdma_count(s, PVRDMA_CNT_TX_FRAMES);
    s->counter[PVRDMA_CNT_TX_BYTES] += len;
    if (qemu_sendv_packet_async(nic, &iov, 1, port_sent) == 0) {
        trace_pvrdma_port_blocked(p->netdev);
        p->blocked = true;
        p->blocked_at = rnic_now();
        p->sender = nic;
    }
}

void pvrdma_port_poll(PvrdmaState *s)
{
    NetClientState *nic = port_nic(&s->port);
    uint64_t before = s->counter[PVRDMA_CNT_RX_FRAMES];

    if (nic && qemu_net_busy_poll(nic->peer)) {
        s->counter[PVRDMA_CNT_RX_POLLED] +=
            s->counter[PVRDMA_CNT_RX_FRAMES] - before;
    }
}

void pvrdma_port_poll_end(PvrdmaState *s)
{
    NetClientState *nic = port_nic(&s->port);

    if (nic) {
        qemu_net_busy_poll_end(nic->peer);
    }
}

static uint8_t *loop_slot(PvrdmaPort *p, unsigned index)
{
    return p->loop + index * ROCE_FRAME_MAX;
}

/* Returns true if the destination of @path is this device. */
static bool port_is_loop(const PvrdmaPort *p, const RocePath *path)
{
    const uint8_t *mac = port_nic_mac(p);

    return mac && !memcmp(path->dmac, mac, ETH_ALEN);
}

uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt)
{
    PvrdmaPort *p = &s->port;

    p->looped = port_is_loop(p, path);
    p->building = p->buf + PVRDMA_VNET_BYTES;
    if (p->looped && p->loop_fifo.count < PVRDMA_LOOP_FRAMES) {
        if (!p->loop) {
            p->loop = g_malloc(PVRDMA_LOOP_FRAMES * ROCE_FRAME_MAX);
        }
        p->building = loop_slot(p, rnic_fifo_at(&p->loop_fifo, p->loop_fifo.count,
                                                 PVRDMA_LOOP_FRAMES));
    }
    p->payload_at = roce_frame_begin(p->building, path, pkt);
    return p->building + p->payload_at;
}

void pvrdma_tx_end(PvrdmaState *s, size_t payload_len)
{
    PvrdmaPort *p = &s->port;
    size_t len = roce_frame_end(p->building, p->payload_at, payload_len);

    trace_pvrdma_port_tx(p->netdev, len, p->looped);
    if (!p->looped) {
        if (len < ETH_ZLEN) {
            memset(p->building + len, 0, ETH_ZLEN - len);
            len = ETH_ZLEN;
        }
        port_send(s, p->building, len);
    } else if (p->loop_fifo.count < PVRDMA_LOOP_FRAMES) {
        p->loop_len[rnic_fifo_push(&p->loop_fifo, PVRDMA_LOOP_FRAMES)] = len;
        pvrdma_count(s, PVRDMA_CNT_TX_FRAMES);
        s->counter[PVRDMA_CNT_TX_BYTES] += len;
        pvrdma_schedule(s);
    }
}

/* --- Receiving ----------------------------------------------------------- */
/*
 * Handles a frame.  The loop sends answers and interrupts after the return of this
 * function, because more frames may follow, and because an interrupt may reset the
 * device.
 */
static void port_rx(PvrdmaState *s, const uint8_t *frame, size_t len)
{
    bool entered = rnic_loop_enter(&s->loop);

    trace_pvrdma_port_rx(s->port.netdev, len);
    s->port.rx(s, frame, len);
    rnic_loop_leave_deferred(&s->loop, entered);
}

bool pvrdma_port_loop_run(PvrdmaState *s)
{
    PvrdmaPort *p = &s->port;
    unsigned count = p->loop_fifo.count;

    for (unsigned i = 0; i < count && p->loop_fifo.count; i++) {
        unsigned slot = rnic_fifo_at(&p->loop_fifo, 0, PVRDMA_LOOP_FRAMES);

        port_rx(s, loop_slot(p, slot), p->loop_len[slot]);
        rnic_fifo_pop(&p->loop_fifo, PVRDMA_LOOP_FRAMES);
    }
    return count;
}

/*
 * Returns true if the frame is RoCE and its destination MAC is that of the paired NIC or
 * a multicast address.  Handles such a frame, or drops the frame if the machine is
 * stopped.
 */
static bool port_frame_take(PvrdmaState *s, const uint8_t *frame, size_t len)
{
    const uint8_t *mac = port_nic_mac(&s->port);

    if (!mac || !roce_frame_is(frame, len) ||
        (!is_multicast_ether_addr(frame) && memcmp(frame, mac, ETH_ALEN))) {
        return false;
    }
    /* A stopped machine must not change.  The peer of a connection retransmits. */
    if (runstate_is_running()) {
        port_rx(s, frame, len);
    }
    return true;
}

/*
 * Copies at most ROCE_FRAME_MAX bytes of a frame that consists of several pieces, without
 * its first @skip bytes, into one buffer.  Returns the result of port_frame_take().
 * Another NIC on a hub may send such frames.
 */
static bool port_pieces_take(PvrdmaState *s, const struct iovec *iov, int iovcnt,
                             size_t skip)
{
    uint8_t frame[ROCE_FRAME_MAX];
    size_t len = iov_to_buf(iov, iovcnt, skip, frame, sizeof(frame));

    return port_frame_take(s, frame, len);
}

static ssize_t port_filter_receive(NetFilterState *nf, NetClientState *sender,
                                   unsigned flags, const struct iovec *iov,
                                   int iovcnt, NetPacketSent *sent_cb)
{
    /* Uses no checked cast, because a checked cast for each frame would be slow. */
    PvrdmaState *s = container_of(nf, PvrdmaFilter, parent_obj)->s;
    size_t size = iov_size(iov, iovcnt);
    size_t skip = flags & QEMU_NET_PACKET_FLAG_RAW ? 0 :
                  qemu_get_vnet_hdr_len(nf->netdev);
    bool taken;

    if (size <= skip) {
        /* Drops an empty frame, because the paired NIC could not handle the frame. */
        pvrdma_count(s, PVRDMA_CNT_RX_BAD_LENGTH);
        return MAX(size, 1);
    }
    if (!s->active) {
        return 0;
    }
    if (iovcnt == 1) {
        taken = port_frame_take(s, iov->iov_base + skip, size - skip);
    } else {
        taken = port_pieces_take(s, iov, iovcnt, skip);
    }
    return taken ? size : 0;
}

/*
 * Clears the port's pointer to the filter.  QEMU calls this function when it deletes the
 * filter, the netdev or the device.
 */
static void port_filter_cleanup(NetFilterState *nf)
{
    PvrdmaPort *p = &PVRDMA_FILTER(nf)->s->port;

    if (p->filter == nf) {
        p->filter = NULL;
    }
}

static void port_filter_class_init(ObjectClass *oc, RNicClassData *data)
{
    NetFilterClass *nfc = NETFILTER_CLASS(oc);

    nfc->receive_iov = port_filter_receive;
    nfc->cleanup = port_filter_cleanup;
}

static const TypeInfo port_filter_info = {
    .name = TYPE_PVRDMA_FILTER,
    .parent = TYPE_NETFILTER,
    .instance_size = sizeof(PvrdmaFilter),
    .class_init = port_filter_class_init,
};

static void port_register_types(void)
{
    type_register_static(&port_filter_info);
}

type_init(port_register_types)

/* --- Control ------------------------------------------------------------- */
/*
 * Marks the netdev as stuck if the netdev is blocked for STUCK_NS or longer.  From then
 * on frames are lost until the netdev sends or drops the queued frame.
 */
static void port_check_stuck(PvrdmaState *s)
{
    PvrdmaPort *p = &s->port;

    if (p->blocked && rnic_now() - p->blocked_at >= STUCK_NS) {
        trace_pvrdma_port_stuck(p->netdev);
        p->blocked = false;
        p->stuck = true;
        pvrdma_schedule(s);
    }
}

static void port_tick(void *opaque)
{
    PvrdmaState *s = opaque;
    PvrdmaPort *p = &s->port;
    bool up = pvrdma_port_up(s);

    port_check_stuck(s);
    if (s->active && up != p->link_up) {
        trace_pvrdma_port_link(p->netdev, up);
        pvrdma_event(s, up ? PVRDMA_EVENT_PORT_ACTIVE : PVRDMA_EVENT_PORT_ERR,
                     PORT_NUMBER);
    }
    p->link_up = up;
    timer_mod(p->timer, rnic_now() + TICK_NS);
}

static void port_vm_state(void *opaque, bool running, RunState state)
{
    PvrdmaState *s = opaque;

    if (running) {
        /*
         * The time of a blocked netdev counts from now, because a snapshot may have set
         * the clock back.
         */
        s->port.blocked_at = rnic_now();
        timer_mod(s->port.timer, rnic_now() + TICK_NS);
        pvrdma_schedule(s);
    }
}

static bool port_filter_create(PvrdmaState *s, const char *netdev, Error **errp)
{
    Object *filter = object_new(TYPE_PVRDMA_FILTER);

    PVRDMA_FILTER(filter)->s = s;
    object_property_set_str(filter, "netdev", netdev, &error_abort);
    /*
     * "tx" is the direction from the netdev to the NIC.  In this direction, filters that
     * were added earlier run first.
     */
    object_property_set_str(filter, "queue", "tx", &error_abort);
    object_property_add_child(OBJECT(s->host.dev), "filter", filter);
    object_unref(filter);
    if (!user_creatable_complete(USER_CREATABLE(filter), errp)) {
        error_prepend(errp, "pvrdma cannot use netdev '%s': ", netdev);
        object_unparent(filter);
        return false;
    }
    s->port.filter = NETFILTER(filter);
    return true;
}

bool pvrdma_port_init(PvrdmaState *s, const char *netdev, Error **errp)
{
    PvrdmaPort *p = &s->port, *other;

    QLIST_FOREACH(other, &ports, next) {
        if (other->filter && !strcmp(other->netdev, netdev)) {
            error_setg(errp, "netdev '%s' already has a pvrdma", netdev);
            return false;
        }
    }
    if (!port_filter_create(s, netdev, errp)) {
        return false;
    }
    p->netdev = g_strdup(netdev);
    QLIST_INSERT_HEAD(&ports, p, next);
    p->vm_state = qemu_add_vm_change_state_handler(port_vm_state, s);
    p->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, port_tick, s);
    port_tick(s);
    return true;
}

void pvrdma_port_fini(PvrdmaState *s)
{
    PvrdmaPort *p = &s->port;

    if (p->filter) {
        object_unparent(OBJECT(p->filter));
    }
    QLIST_REMOVE(p, next);
    qemu_del_vm_change_state_handler(p->vm_state);
    timer_free(p->timer);
    g_free(p->loop);
    g_free(p->netdev);
    p->netdev = NULL;
    p->loop = NULL;
    p->loop_fifo.count = 0;
}

void pvrdma_port_reset(PvrdmaState *s)
{
    s->port.loop_fifo.count = 0;
    s->port.link_up = pvrdma_port_up(s);
}
