/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Box of a device: NICs, and the netdevs at their other ends. */
#include "box.h"
#include "qemu/iov.h"

#define QUEUE_MAX 4096
#define FRAME_MAX 65536

typedef struct Nic {
    NICState state;
    NetClientState nc;
} Nic;

typedef struct Wire {
    NetClientState netdev;
    Nic *nic;                       /* NULL: no NIC yet, or the NIC was removed */
    GQueue frames;                  /* GBytes: frames for the device, oldest first */
    NetFilterState *filter;
    bool refused;                   /* the NIC has refused the oldest frame */
    bool blocked;
    bool corked;
    bool polled;                    /* a NIC polls and has not reported the end yet */
    NetPacketSent *kept; /* callback for the kept frame; NULL: no frame is kept */
    size_t kept_len;
} Wire;

static struct {
    Wire wire[BOX_WIRES];
    BoxSent *sent;
} net;

static void frame_free(gpointer frame)
{
    g_bytes_unref(frame);
}

void box_net_reset(BoxSent *sent)
{
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        /* each NIC reports the end of its polls, unless it was removed during a poll */
        g_assert_false(net.wire[i].polled && net.wire[i].nic);
        g_queue_clear_full(&net.wire[i].frames, frame_free);
    }
    memset(&net, 0, sizeof(net));
    net.sent = sent;
}

NetClientState *box_wire(unsigned wire)
{
    /* the buffers of such a netdev are private, so the device need not copy a frame */
    static NetClientInfo info = { .type = NET_CLIENT_DRIVER_STREAM };

    net.wire[wire].netdev.info = &info;
    return &net.wire[wire].netdev;
}

static Wire *wire_of(NetClientState *netdev)
{
    return container_of(netdev, Wire, netdev);
}

/* Returns the wire of the NIC or netdev @nc. */
static Wire *wire_at(NetClientState *nc)
{
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        if (nc == &net.wire[i].netdev) {
            return &net.wire[i];
        }
    }
    return wire_of(nc->peer);
}

void box_frame(unsigned wire, const void *frame, size_t len)
{
    if (net.wire[wire].frames.length < QUEUE_MAX) {
        g_queue_push_tail(&net.wire[wire].frames, g_bytes_new(frame, len));
    }
}

/* Returns true if the netdev has a filter, and the filter has taken the frame. */
static bool wire_filter(Wire *w, const uint8_t *bytes, size_t len)
{
    struct iovec iov = { .iov_base = (void *)bytes, .iov_len = len };

    return w->filter && NETFILTER_GET_CLASS(w->filter)->receive_iov(
        w->filter, &w->netdev, 0, &iov, 1, NULL);
}

static bool wire_deliver(Wire *w)
{
    GBytes *frame = g_queue_peek_head(&w->frames);
    gsize len;
    const uint8_t *bytes;
    bool taken;

    /* QEMU offers no frame to a NIC that refused one until the NIC flushes the queue */
    if (!frame || !w->nic || w->refused) {
        return false;
    }
    bytes = g_bytes_get_data(frame, &len);
    g_queue_pop_head(&w->frames);
    taken = w->nic->nc.link_down || wire_filter(w, bytes, len) ||
            w->nic->nc.info->receive(&w->nic->nc, bytes, len) != 0;
    if (taken) {
        g_bytes_unref(frame);
    } else {
        w->refused = true;
        g_queue_push_head(&w->frames, frame);
    }
    return taken;
}

bool box_net_deliver(void)
{
    bool any = false;

    for (unsigned i = 0; i < BOX_WIRES; i++) {
        any |= wire_deliver(&net.wire[i]);
    }
    return any;
}

static void wire_let_go(Wire *w, ssize_t len)
{
    NetPacketSent *kept = w->kept;

    w->kept = NULL;
    if (kept && w->nic) {
        kept(&w->nic->nc, len);
    }
}

void box_wire_block(unsigned wire, bool on)
{
    net.wire[wire].blocked = on;
    if (!on) {
        wire_let_go(&net.wire[wire], net.wire[wire].kept_len);
    }
}

bool box_wire_refused(unsigned wire)
{
    return net.wire[wire].refused;
}

void box_wire_filter(NetClientState *netdev, NetFilterState *filter)
{
    wire_of(netdev)->filter = filter;
}

void box_wire_link(unsigned wire, bool up)
{
    Wire *w = &net.wire[wire];

    w->netdev.link_down = !up;
    if (w->nic) {
        w->nic->nc.link_down = !up;
        if (w->nic->nc.info->link_status_changed) {
            w->nic->nc.info->link_status_changed(&w->nic->nc);
        }
    }
}

/* --- Functions of QEMU that the device calls ---------------------------------- */

NICState *qemu_new_nic(NetClientInfo *info, NICConf *conf, const char *model,
                       const char *name, MemReentrancyGuard *guard, void *opaque)
{
    Nic *nic = g_new0(Nic, 1);
    Wire *w = wire_of(conf->peers.ncs[0]);

    nic->nc.info = info;
    nic->nc.peer = &w->netdev;
    nic->nc.model = (char *)model;
    nic->state = (NICState) {
        .ncs = &nic->nc, .conf = conf, .opaque = opaque,
        .reentrancy_guard = guard,
    };
    w->netdev.peer = &nic->nc;
    w->nic = nic;
    return &nic->state;
}

void qemu_del_nic(NICState *state)
{
    Nic *nic = container_of(state, Nic, state);
    Wire *w = wire_of(nic->nc.peer);

    w->nic = NULL;
    w->refused = false;
    w->kept = NULL;
    w->netdev.peer = NULL;
    g_free(nic);
}

NetClientState *qemu_get_queue(NICState *nic)
{
    return nic->ncs;
}

NICState *qemu_get_nic(NetClientState *nc)
{
    return &container_of(nc, Nic, nc)->state;
}

void *qemu_get_nic_opaque(NetClientState *nc)
{
    return container_of(nc, Nic, nc)->state.opaque;
}

void qemu_format_nic_info_str(NetClientState *nc, uint8_t macaddr[6])
{
}

ssize_t qemu_send_packet_async(NetClientState *nc, const uint8_t *buf, int size,
                               NetPacketSent *sent_cb)
{
    Wire *w = wire_of(nc->peer);

    g_assert_cmpint(size, >, 0);
    if (w->netdev.link_down || nc->link_down) {
        return size;
    }
    /* a kept frame must leave before the device sends the next frame */
    g_assert_null(w->kept);
    net.sent(w - net.wire, buf, size);
    if (w->blocked) {
        w->kept = sent_cb;
        w->kept_len = size;
        return 0;
    }
    return size;
}

void qemu_flush_queued_packets(NetClientState *nc)
{
    Wire *w = wire_at(nc);

    if (nc == &w->netdev) {
        if (!w->blocked) {
            wire_let_go(w, w->kept_len);
        }
    } else {
        w->refused = false;
        wire_deliver(w);
    }
}

void qemu_purge_queued_packets(NetClientState *nc)
{
    wire_let_go(wire_of(nc->peer), 0);
}

ssize_t qemu_sendv_packet_async(NetClientState *nc, const struct iovec *iov,
                                int iovcnt, NetPacketSent *sent_cb)
{
    uint8_t frame[FRAME_MAX];
    size_t len = iov_to_buf(iov, iovcnt, 0, frame, sizeof(frame));

    return qemu_send_packet_async(nc, frame, len, sent_cb);
}

int qemu_get_vnet_hdr_len(NetClientState *nc)
{
    return 0;
}

/* Asserts that corks are not nested.  A cork has no effect: each frame leaves at once. */
void qemu_net_cork(NetClientState *nc, bool cork)
{
    Wire *w = wire_of(nc);

    g_assert_true(w->corked != cork);
    w->corked = cork;
}

/*
 * Offers the oldest queued frame to the NIC; returns true if the frame has left the
 * queue.
 */
bool qemu_net_busy_poll(NetClientState *nc)
{
    Wire *w = wire_of(nc);

    w->polled = true;
    return wire_deliver(w);
}

void qemu_net_busy_poll_begin(NetClientState *nc)
{
    if (nc) {
        wire_of(nc)->polled = true;
    }
}

void qemu_net_busy_poll_end(NetClientState *nc)
{
    if (nc) {
        wire_of(nc)->polled = false;
    }
}

/* --- Another NIC ---------------------------------------------------------------- */

static ssize_t other_receive(NetClientState *nc, const uint8_t *buf, size_t size)
{
    return size;
}

NICState *box_nic(unsigned wire, const uint8_t mac[6])
{
    static NetClientInfo info = {
        .type = NET_CLIENT_DRIVER_NIC, .size = sizeof(NICState),
        .receive = other_receive,
    };
    static NICConf conf[BOX_WIRES];

    conf[wire].peers.ncs[0] = box_wire(wire);
    memcpy(conf[wire].macaddr.a, mac, sizeof(conf[wire].macaddr.a));
    return qemu_new_nic(&info, &conf[wire], "other", NULL, NULL, NULL);
}
