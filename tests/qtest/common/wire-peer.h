/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test at the other end of `-netdev socket`, by a socket pair, or of `-netdev stream`:
 * whole Ethernet frames in both directions.
 */
#ifndef RNIC_WIRE_PEER_H
#define RNIC_WIRE_PEER_H

typedef struct WirePeer {
    int fd;                         /* our end; -1: closed */
    int dev_fd;                     /* QEMU's end, until it has started */
    bool dgram;                     /* the socket keeps the borders of frames */
    bool closed;                    /* QEMU's end is gone */
    size_t frame_max;
    GByteArray *stream;             /* bytes of a frame that is not complete */
} WirePeer;

/* Gets each frame that comes; it is gone afterwards. */
typedef void WirePeerFrame(void *opaque, const uint8_t *frame, size_t len);

/* @frame_max: longer frames fail the test. */
void wire_peer_init(WirePeer *p, bool dgram, size_t frame_max);
/* Nobody is at this end. */
void wire_peer_init_closed(WirePeer *p);
/* Connects to `-netdev stream,server=on`, which listens at @path, now or soon. */
void wire_peer_connect(WirePeer *p, const char *path, size_t frame_max);
void wire_peer_fini(WirePeer *p);
/* Value of -netdev, without id; to be freed. */
char *wire_peer_netdev(WirePeer *p);
/* QEMU has its end of the socket. */
void wire_peer_started(WirePeer *p);
/* Sends a frame; while QEMU takes nothing, what it sends is given to @fn. */
void wire_peer_send(WirePeer *p, const void *frame, size_t len,
                    WirePeerFrame *fn, void *opaque);
/* Waits up to @ms for frames and gives all there are to @fn; false if none came. */
bool wire_peer_poll(WirePeer *p, int ms, WirePeerFrame *fn, void *opaque);
/* Waits until @fn has filled @queue, and returns the head of the queue. */
void *wire_peer_take(WirePeer *p, GQueue *queue, WirePeerFrame *fn, void *opaque);

#endif /* RNIC_WIRE_PEER_H */
