/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Device rnic-cable: a netdev of shared memory between two QEMUs on one host; see
 * rnic/cable.h.  It is a device without a bus, because -netdev accepts only the types
 * of QEMU's schema.  NICs find the netdev by the id of the device, so the option of the
 * cable precedes the option of its NIC.
 *
 * A wake-up is a byte on the socket, not an eventfd, because the other end shares the
 * file description of an eventfd: the other end could make the eventfd blocking, and so
 * stop this QEMU.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/qapi-types-sockets.h"
#include "qemu/error-report.h"
#include "qemu/host-utils.h"
#include "qemu/iov.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "qom/object_interfaces.h"
#include "io/channel-socket.h"
#include "io/net-listener.h"
#include "net/net.h"
#include "../core/compat.h"
#include "../core/netdev.h"
#include "cable-memory.h"
#include "ring.h"
#include "trace.h"
#include <sys/un.h>

OBJECT_DECLARE_SIMPLE_TYPE(RNicCable, RNIC_CABLE)

#define RECONNECT_MS 100        /* between two attempts of a client to connect */
#define HELLO_MS 5000           /* limit for the hello of the other end */
#define POLLED_MS 100           /* time after which a poll ends if its NIC has vanished */
/* bytes and frames after which the main loop runs other work first */
#define RUN_BYTES (256 * 1024)
#define RUN_FRAMES 1024
/* the same limits for one call of qemu_net_busy_poll() */
#define POLL_BYTES (64 * 1024)
#define POLL_FRAMES 64
#define CORK_BYTES (64 * 1024)  /* written bytes at which a corked end sends a wake-up */
/* value of NetClientState.link_down without another end; set_link stores 0 or 1 */
#define LINK_ALONE 2

QEMU_BUILD_BUG_ON(RNIC_CABLE_FRAME_MAX != NET_BUFSIZE);

/* The netdev of a cable. */
typedef struct CableClient {
    NetClientState nc;
    RNicCable *cable;
} CableClient;

struct RNicCable {
    DeviceState parent_obj;

    /* properties */
    char *path;
    bool server;
    char *netdev;               /* id of the netdev to connect to; NULL: none */
    char *dump;                 /* file for a capture of all frames; NULL: none */

    CableClient *client;        /* NULL: QEMU has deleted the netdev */
    QIONetListener *listener;   /* of a server */
    QIOChannelSocket *ioc;      /* NULL: no connection, and no attempt to connect */
    guint watch;                /* id of GLib's source that watches @ioc; 0: none */
    /*
     * While @ioc is NULL, starts the next attempt to connect.  While this end waits for
     * the hello, ends the wait.  While @connected, ends a poll (@polled) if no vCPU
     * does.
     */
    QEMUTimer *timer;
    QEMUBH *bh;                 /* continues cable_work() */

    RNicCableMemory memory;
    RNicRing tx, rx;
    bool connected;             /* both hellos are complete: frames may flow */
    bool admin_down;            /* set_link has taken the netdev down */
    bool asleep;                /* the flag sleeping of @rx is set */
    bool polled;                /* a vCPU looks for frames */
    bool blocked;               /* the NIC has not taken the last frame yet */
    bool waiting;               /* QEMU keeps frames for which @tx had no room */
    bool corked;                /* more frames follow: no wake-up yet */
    uint32_t unannounced;       /* bytes in @tx since the last cable_announce() */
    bool reading;               /* cable_read() runs */
    uint8_t *in;                /* copy of the frame that is delivered */

    uint64_t received;          /* frames since the start */
    uint64_t sent;
    uint64_t violations;        /* connections that the other end has broken */
    uint64_t failures;          /* connections for which this host had no memory */
};

/* Returns the index of the ring to which this end writes. */
static unsigned cable_tx_ring(const RNicCable *c)
{
    return c->server ? 0 : 1;
}

/* Shows @text in "info network". */
static void cable_show(RNicCable *c, const char *text)
{
    qemu_set_info_str(&c->client->nc, "%s, %s %s", text,
                      c->server ? "server at" : "client of", c->path);
}

/*
 * Sets the link of the netdev, which is down without another end: exanet reads it, and
 * QEMU drops the frames of other NICs.
 */
static void cable_link_update(RNicCable *c)
{
    c->client->nc.link_down = c->connected ? c->admin_down : LINK_ALONE;
}

/*
 * Sends a wake-up.  Ignores errors, because a full socket has wake-ups that the other end
 * has not read yet, and the watch finds a closed connection.
 */
static void cable_wake(RNicCable *c)
{
    char byte = RNIC_CABLE_WAKE;

    trace_rnic_cable_wake(c->client->nc.name);
    qio_channel_write(QIO_CHANNEL(c->ioc), &byte, 1, NULL);
}

/* Sends a wake-up if there are new frames and the other end sleeps. */
static void cable_announce(RNicCable *c)
{
    if (c->unannounced && rnic_ring_must_wake_reader(&c->tx)) {
        cable_wake(c);
    }
    c->unannounced = 0;
}

static void cable_unwatch(RNicCable *c)
{
    if (c->watch) {
        g_source_remove(c->watch);
        c->watch = 0;
    }
}

/* Ends the connection.  Frames that wait for the other end are lost. */
static void cable_disconnect(RNicCable *c)
{
    cable_unwatch(c);
    timer_del(c->timer);
    if (c->ioc) {
        object_unref(OBJECT(c->ioc));
        c->ioc = NULL;
    }
    if (c->connected) {
        c->connected = false;
        trace_rnic_cable_disconnect(c->client->nc.name, c->received, c->sent);
    }
    c->asleep = c->polled = false;
    cable_link_update(c);
    rnic_cable_memory_unmap(&c->memory);
}

/*
 * Ends the connection, and drops the frames that QEMU keeps for it.  If this end is a
 * client, starts the timer of the next attempt to connect.  "info network" shows @why.
 */
static void cable_reconnect(RNicCable *c, const char *why)
{
    cable_disconnect(c);
    cable_show(c, why);
    c->waiting = false;
    qemu_flush_queued_packets(&c->client->nc);
    if (!c->server) {
        timer_mod(c->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + RECONNECT_MS);
    }
}

/*
 * Ends the connection because of @err, and counts that in *@count.  Reports @err only
 * if the new count is 1, 2, 4, 8 and so on, because the other end may connect again
 * without a pause.
 */
static void cable_end(RNicCable *c, uint64_t *count, Error *err)
{
    ++*count;
    if (is_power_of_2(*count)) {
        warn_reportf_err(err, "cable %s: connection ended: ", c->client->nc.name);
    } else {
        error_free(err);
    }
    cable_reconnect(c, "disconnected");
}

/* Ends the connection because the other end has violated the format, as @err says. */
static void cable_violated(RNicCable *c, Error *err)
{
    cable_end(c, &c->violations, err);
}

/* Completion callback of a frame for which the NIC had no room. */
static void cable_delivered(NetClientState *nc, ssize_t size)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;

    c->blocked = false;
    if (c->bh) {
        qemu_bh_schedule(c->bh);
    }
}

/*
 * Gives frames to the NIC, until there is none, the NIC has no room, or @max_bytes or
 * @max_frames are delivered.  Returns true if there was a frame.
 */
static bool cable_read(RNicCable *c, size_t max_bytes, unsigned max_frames)
{
    size_t bytes = 0;
    unsigned frames;
    uint32_t length;

    if (c->reading) {
        return false;
    }
    c->reading = true;
    for (frames = 0; c->connected && !c->blocked && bytes < max_bytes &&
         frames < max_frames; frames++) {
        const uint8_t *frame = rnic_ring_peek(&c->rx, &length);

        if (!frame) {
            break;
        }
        /* the NIC gets a copy, because the other end may change the frame in the ring */
        memcpy(c->in, frame, length);
        rnic_ring_release(&c->rx, length);
        bytes += length;
        c->received++;
        c->blocked = qemu_send_packet_async(&c->client->nc, c->in, length,
                                            cable_delivered) == 0;
    }
    c->reading = false;
    if (c->connected && frames > 0 && rnic_ring_must_wake_writer(&c->rx)) {
        cable_wake(c);
    }
    return frames > 0;
}

/*
 * Waits for the next frame by the watch.  Continues in a bottom half if there is a frame
 * already.  Does nothing while the NIC has no room.
 */
static void cable_sleep(RNicCable *c)
{
    if (c->connected && !c->blocked && !c->asleep) {
        c->asleep = rnic_ring_sleep(&c->rx);
        if (!c->asleep) {
            qemu_bh_schedule(c->bh);
        }
    }
}

/* Stops to wait by the watch. */
static void cable_stay_awake(RNicCable *c)
{
    if (c->asleep) {
        rnic_ring_awake(&c->rx);
        c->asleep = false;
    }
}

/*
 * Does all work of a connection that the main loop does.  While a vCPU polls, leaves the
 * cable awake, because this vCPU looks for the next frame.
 */
static void cable_work(void *opaque)
{
    RNicCable *c = opaque;

    if (!c->connected) {
        return;
    }
    cable_stay_awake(c);
    cable_read(c, RUN_BYTES, RUN_FRAMES);
    if (c->rx.broken || c->tx.broken) {
        Error *err = NULL;

        error_setg(&err, "impossible values in the shared memory");
        cable_violated(c, err);
        return;
    }
    if (c->waiting) {
        /* the other end may have made room */
        c->waiting = false;
        qemu_flush_queued_packets(&c->client->nc);
    }
    if (!c->polled) {
        cable_sleep(c);
    }
}

/* Handles input on the socket of a connection: wake-ups, or the end of the connection. */
static gboolean cable_input(QIOChannel *ioc, GIOCondition condition, gpointer opaque)
{
    RNicCable *c = opaque;
    char bytes[64];
    ssize_t size = qio_channel_read(ioc, bytes, sizeof(bytes), NULL);

    if (size == QIO_CHANNEL_ERR_BLOCK) {
        return G_SOURCE_CONTINUE;
    }
    if (size <= 0) {
        /*
         * Frames that the other end has sent before its end arrive, unless the NIC has no
         * room.  The limits are those of a full ring, because a hostile process may still
         * write.
         */
        cable_read(c, RNIC_CABLE_RING_BYTES, RNIC_CABLE_RING_BYTES / RNIC_CABLE_ALIGN);
        c->watch = 0;
        cable_reconnect(c, "disconnected");
        return G_SOURCE_REMOVE;
    }
    cable_work(c);
    return c->watch ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* Begins to send and receive frames.  The memory is mapped. */
static void cable_begin(RNicCable *c)
{
    unsigned tx = cable_tx_ring(c);

    timer_del(c->timer);
    rnic_ring_init(&c->tx, c->memory.control[tx], c->memory.data[tx]);
    rnic_ring_init(&c->rx, c->memory.control[!tx], c->memory.data[!tx]);
    c->connected = true;
    c->asleep = c->polled = c->corked = false;
    c->unannounced = 0;
    cable_link_update(c);
    cable_show(c, "connected");
    trace_rnic_cable_connect(c->client->nc.name, c->server);
    c->watch = qio_channel_add_watch(QIO_CHANNEL(c->ioc), G_IO_IN, cable_input, c, NULL);
    qemu_bh_schedule(c->bh);
}

/*
 * Sends the hello, with the file descriptor @fd if @fd is not negative.  Returns false if
 * the other end has gone.
 */
static bool cable_hello_send(RNicCable *c, int fd)
{
    struct rnic_cable_hello hello = {
        .magic = RNIC_CABLE_MAGIC,
        .version = RNIC_CABLE_VERSION,
        .ring_bytes = RNIC_CABLE_RING_BYTES,
    };
    struct iovec iov = { &hello, sizeof(hello) };

    return qio_channel_writev_full(QIO_CHANNEL(c->ioc), &iov, 1, &fd, fd < 0 ? 0 : 1, 0,
                                   NULL) == sizeof(hello);
}

/* Sets @errp and returns false unless @hello is the hello of this version. */
static bool cable_hello_check(const struct rnic_cable_hello *hello, Error **errp)
{
    if (hello->magic != RNIC_CABLE_MAGIC) {
        error_setg(errp, "the other end is no rnic-cable");
        return false;
    }
    if (hello->version != RNIC_CABLE_VERSION ||
        hello->ring_bytes != RNIC_CABLE_RING_BYTES) {
        error_setg(errp, "the other end has version %u with rings of %u bytes, not %u "
                   "with %u", hello->version, hello->ring_bytes, RNIC_CABLE_VERSION,
                   RNIC_CABLE_RING_BYTES);
        return false;
    }
    return true;
}

/*
 * Maps the memory file of the server, the only one of the @count descriptors at @fds.
 * Sets @errp and returns false on an error.
 */
static bool cable_memory_take(RNicCable *c, const int *fds, size_t count, Error **errp)
{
    if (count != 1) {
        error_setg(errp, "the hello has %zu file descriptors, not one", count);
        return false;
    }
    return rnic_cable_memory_map(&c->memory, fds[0], errp);
}

/* Receives the hello of the other end. */
static gboolean cable_hello_input(QIOChannel *ioc, GIOCondition condition,
                                  gpointer opaque)
{
    RNicCable *c = opaque;
    struct rnic_cable_hello hello;
    struct iovec iov = { &hello, sizeof(hello) };
    g_autofree int *fds = NULL;
    Error *err = NULL;
    size_t count = 0;
    /* a server needs no descriptors, and close() of a foreign file may take long */
    ssize_t size = qio_channel_readv_full(ioc, &iov, 1, c->server ? NULL : &fds,
                                          c->server ? NULL : &count, 0, NULL);
    bool good;

    if (size == QIO_CHANNEL_ERR_BLOCK) {
        return G_SOURCE_CONTINUE;
    }
    c->watch = 0;
    if (size <= 0) {
        cable_reconnect(c, "disconnected");
        return G_SOURCE_REMOVE;
    }
    if (size != sizeof(hello)) {
        error_setg(&err, "the hello has %zd bytes, not %zu", size, sizeof(hello));
    }
    good = !err && cable_hello_check(&hello, &err) &&
           (c->server || cable_memory_take(c, fds, count, &err));
    for (size_t i = 0; i < count; i++) {
        close(fds[i]);
    }
    if (!good) {
        cable_violated(c, err);
    } else if (c->server || cable_hello_send(c, -1)) {
        cable_begin(c);
    } else {
        cable_reconnect(c, "disconnected");
    }
    return G_SOURCE_REMOVE;
}

/* Waits for the hello of the other end of @ioc, for at most HELLO_MS. */
static void cable_hello_wait(RNicCable *c)
{
    timer_mod(c->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + HELLO_MS);
    c->watch = qio_channel_add_watch(QIO_CHANNEL(c->ioc), G_IO_IN, cable_hello_input, c,
                                     NULL);
}

/* Returns the address of the socket, which the caller frees. */
static SocketAddress *cable_address(const RNicCable *c)
{
    SocketAddress *addr = g_new0(SocketAddress, 1);

    addr->type = SOCKET_ADDRESS_TYPE_UNIX;
    addr->u.q_unix.path = g_strdup(c->path);
    return addr;
}

/* Handles a client that connects to this server. */
static void cable_accept(QIONetListener *listener, QIOChannelSocket *ioc, gpointer opaque)
{
    RNicCable *c = opaque;
    Error *err = NULL;
    int fd;

    if (c->ioc) {
        trace_rnic_cable_refuse(c->client->nc.name);
        return;
    }
    c->ioc = ioc;
    object_ref(OBJECT(ioc));
    qio_channel_set_blocking(QIO_CHANNEL(ioc), false, NULL);
    fd = rnic_cable_memory_new(&err);
    if (fd < 0 || !rnic_cable_memory_map(&c->memory, fd, &err)) {
        cable_end(c, &c->failures, err);
    } else if (cable_hello_send(c, fd)) {
        cable_hello_wait(c);
    } else {
        cable_reconnect(c, "disconnected");
    }
    if (fd >= 0) {
        close(fd);
    }
}

/*
 * Handles the end of an attempt to connect.  Drops the reference that the attempt holds
 * to @opaque.
 */
static void cable_connected(QIOTask *task, gpointer opaque)
{
    RNicCable *c = opaque;
    Error *err = NULL;

    if (c->client && qio_task_propagate_error(task, &err)) {
        cable_reconnect(c, error_get_pretty(err));
        error_free(err);
    } else if (c->client) {
        qio_channel_set_blocking(QIO_CHANNEL(c->ioc), false, NULL);
        cable_hello_wait(c);
    }
    object_unref(OBJECT(c));
}

/* Begins an attempt to connect, in a thread, because connect() may block. */
static void cable_connect(RNicCable *c)
{
    g_autoptr(SocketAddress) addr = cable_address(c);

    c->ioc = qio_channel_socket_new();
    object_ref(OBJECT(c));
    qio_channel_socket_connect_async(c->ioc, addr, cable_connected, c, NULL, NULL);
}

/*
 * Handles the timer: a poll may have no end, the other end is silent, or a client tries
 * again to connect.
 */
static void cable_timeout(void *opaque)
{
    RNicCable *c = opaque;

    if (c->connected) {
        c->polled = false;
        cable_work(c);
    } else if (c->ioc) {
        cable_reconnect(c, "no hello from the other end");
    } else {
        cable_connect(c);
    }
}

/*
 * Sends a frame of the NIC.  Returns 0 if the ring has no room: QEMU keeps the frame
 * until qemu_flush_queued_packets().  A frame is lost if there is no other end.
 */
static ssize_t cable_send(NetClientState *nc, const struct iovec *iov, int count)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;
    size_t size = iov_size(iov, count);
    uint8_t *frame;

    if (!c->connected || size == 0 || size > RNIC_CABLE_FRAME_MAX) {
        /* QEMU would keep a frame for which this function returned 0 */
        return MAX(size, 1);
    }
    frame = rnic_ring_reserve(&c->tx, size);
    if (!frame) {
        if (c->tx.broken) {
            /* not now, because the end of the connection flushes the NIC's frames */
            qemu_bh_schedule(c->bh);
            return size;
        }
        c->waiting = true;
        return 0;
    }
    iov_to_buf(iov, count, 0, frame, size);
    rnic_ring_commit(&c->tx, size);
    c->sent++;
    c->unannounced += size;
    if (!c->corked || c->unannounced >= CORK_BYTES) {
        cable_announce(c);
    }
    return size;
}

/* Delays the wake-up while the NIC has more frames, for at most CORK_BYTES. */
static void cable_cork(NetClientState *nc, bool cork)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;

    c->corked = cork;
    if (!cork && c->connected) {
        cable_announce(c);
    }
}

static bool cable_busy_poll(NetClientState *nc)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;

    if (!c->connected) {
        return false;
    }
    cable_stay_awake(c);
    c->polled = true;
    if (!timer_pending(c->timer)) {
        timer_mod(c->timer, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + POLLED_MS);
    }
    return cable_read(c, POLL_BYTES, POLL_FRAMES);
}

static void cable_busy_poll_end(NetClientState *nc)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;

    c->polled = false;
    cable_sleep(c);
}

/*
 * Handles set_link of the netdev or of its NIC.  A set_link of the NIC has not changed
 * the link of the netdev.
 */
static void cable_link_changed(NetClientState *nc)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;

    if (nc->link_down != LINK_ALONE) {
        c->admin_down = nc->link_down;
        cable_link_update(c);
    }
}

/* Ends everything: QEMU deletes the netdev. */
static void cable_cleanup(NetClientState *nc)
{
    RNicCable *c = container_of(nc, CableClient, nc)->cable;

    cable_disconnect(c);
    if (c->listener) {
        qio_net_listener_disconnect(c->listener);
        object_unref(OBJECT(c->listener));
        c->listener = NULL;
    }
    timer_free(c->timer);
    c->timer = NULL;
    qemu_bh_delete(c->bh);
    c->bh = NULL;
    g_free(c->in);
    c->in = NULL;
    c->client = NULL;
}

static NetClientInfo cable_info = {
    /* The nearest type of QEMU's schema; the type appears only in messages. */
    .type = NET_CLIENT_DRIVER_STREAM,
    .size = sizeof(CableClient),
    .receive_iov = cable_send,
    .cork = cable_cork,
    .busy_poll = cable_busy_poll,
    .busy_poll_end = cable_busy_poll_end,
    .link_status_changed = cable_link_changed,
    .cleanup = cable_cleanup,
};

/*
 * Sets *@peer to the netdev of property netdev, or to NULL without the property.  Sets
 * @errp and returns false if the properties are not valid.
 */
static bool cable_check(RNicCable *c, NetClientState **peer, Error **errp)
{
    const char *id = DEVICE(c)->id;

    if (!id || !c->path || !*c->path) {
        error_setg(errp, "id and path are needed");
        return false;
    }
    if (strlen(c->path) >= sizeof_field(struct sockaddr_un, sun_path)) {
        error_setg(errp, "path is longer than %zu bytes",
                   sizeof_field(struct sockaddr_un, sun_path) - 1);
        return false;
    }
    if (qemu_find_netdev(id)) {
        error_setg(errp, "there is another netdev %s", id);
        return false;
    }
    *peer = c->netdev ? qemu_find_netdev(c->netdev) : NULL;
    if (c->netdev && (!*peer || (*peer)->peer)) {
        error_setg(errp, "netdev %s %s", c->netdev,
                   *peer ? "is connected already" : "does not exist");
        return false;
    }
    return true;
}

/* Listens for clients.  Sets @errp and returns false on an error. */
static bool cable_listen(RNicCable *c, Error **errp)
{
    g_autoptr(SocketAddress) addr = cable_address(c);

    c->listener = qio_net_listener_new();
    if (qio_net_listener_open_sync(c->listener, addr, 1, errp) < 0) {
        return false;
    }
    qio_net_listener_set_client_func(c->listener, cable_accept, c, NULL);
    return true;
}

/* Captures all frames of the netdev to the file of property dump. */
static bool cable_capture(RNicCable *c, Error **errp)
{
    const char *id = c->client->nc.name;
    g_autofree char *name = g_strdup_printf("%s-dump", id);
    g_autofree char *most = g_strdup_printf("%u", RNIC_CABLE_FRAME_MAX);

    return !c->dump ||
           object_new_with_props("filter-dump", object_get_objects_root(), name, errp,
                                 "netdev", id, "file", c->dump, "maxlen", most, NULL);
}

static void cable_realize(DeviceState *dev, Error **errp)
{
    RNicCable *c = RNIC_CABLE(dev);
    NetClientState *nc, *peer;

    if (!cable_check(c, &peer, errp)) {
        return;
    }
    nc = qemu_new_net_client(&cable_info, peer, TYPE_RNIC_CABLE, dev->id);
    c->client = container_of(nc, CableClient, nc);
    c->client->cable = c;
    c->in = g_malloc(RNIC_CABLE_FRAME_MAX);
    c->bh = qemu_bh_new(cable_work, c);
    c->timer = timer_new_ms(QEMU_CLOCK_REALTIME, cable_timeout, c);
    if (!cable_capture(c, errp) || (c->server && !cable_listen(c, errp))) {
        qemu_del_net_client(nc);
        return;
    }
    cable_show(c, "waiting");
    cable_link_update(c);
    if (!c->server) {
        cable_connect(c);
    }
}

static void cable_unrealize(DeviceState *dev)
{
    RNicCable *c = RNIC_CABLE(dev);

    if (c->client) {
        qemu_del_net_client(&c->client->nc);
    }
}

static bool cable_get_connected(Object *obj, Error **errp)
{
    return RNIC_CABLE(obj)->connected;
}

static void cable_instance_init(Object *obj)
{
    RNicCable *c = RNIC_CABLE(obj);

    object_property_add_bool(obj, "connected", cable_get_connected, NULL);
    object_property_add_uint64_ptr(obj, "received", &c->received, OBJ_PROP_FLAG_READ);
    object_property_add_uint64_ptr(obj, "sent", &c->sent, OBJ_PROP_FLAG_READ);
    object_property_add_uint64_ptr(obj, "violations", &c->violations, OBJ_PROP_FLAG_READ);
}

static const Property cable_properties[] = {
    DEFINE_PROP_STRING("path", RNicCable, path),
    DEFINE_PROP_BOOL("server", RNicCable, server, false),
    DEFINE_PROP_STRING("netdev", RNicCable, netdev),
    DEFINE_PROP_STRING("dump", RNicCable, dump),
};

static void cable_class_init(ObjectClass *oc, RNicClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->desc = "Ethernet cable of shared memory to another QEMU";
    dc->realize = cable_realize;
    dc->unrealize = cable_unrealize;
    /* no hot-plug and unplug, because a NIC keeps a pointer to the netdev */
    dc->hotpluggable = false;
    device_class_set_props(dc, cable_properties);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo cable_types[] = {
    {
        .name = TYPE_RNIC_CABLE,
        .parent = TYPE_DEVICE,
        .instance_size = sizeof(RNicCable),
        .instance_init = cable_instance_init,
        .class_init = cable_class_init,
    },
};

DEFINE_TYPES(cable_types)
