/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test as the peer of `-netdev socket`, by a socket pair, or of `-netdev stream`.  The
 * peer sends and receives whole Ethernet frames.
 */
#ifndef RNIC_WIRE_PEER_H
#define RNIC_WIRE_PEER_H

typedef struct WirePeer {
    int fd;                         /* the test's end of the socket; -1: closed */
    int dev_fd;                     /* QEMU's end; -1 after wire_peer_started() */
    bool dgram;                     /* each datagram is a frame; false: a stream */
    bool closed;                    /* QEMU has closed its end */
    size_t frame_max;               /* bytes of the longest frame */
    GByteArray *stream;             /* bytes of the frame that has arrived in part */
} WirePeer;

/* Handles one frame that has arrived.  @frame is valid until the function returns. */
typedef void WirePeerFrame(void *opaque, const uint8_t *frame, size_t len);

/*
 * Makes the socket pair.  A frame of more than @frame_max bytes fails the test in a
 * stream.  A datagram of more bytes is cut to @frame_max bytes.
 */
void wire_peer_init(WirePeer *p, bool dgram, size_t frame_max);
/* Initializes a peer without a socket. */
void wire_peer_init_closed(WirePeer *p);
/* Connects to `-netdev stream,server=on` at @path; waits until QEMU listens. */
void wire_peer_connect(WirePeer *p, const char *path, size_t frame_max);
void wire_peer_fini(WirePeer *p);
/* Returns the value of -netdev, without id; to be freed. */
char *wire_peer_netdev(WirePeer *p);
/* Closes the test's copy of QEMU's end, after QEMU has inherited this end. */
void wire_peer_started(WirePeer *p);
/*
 * Sends a frame.  While the socket is full, calls @fn for frames that QEMU sends.  Fails
 * after WAIT_MS.
 */
void wire_peer_send(WirePeer *p, const void *frame, size_t len,
                    WirePeerFrame *fn, void *opaque);
/*
 * Waits at most @ms for bytes of QEMU, and calls @fn for all frames that have arrived.
 * Returns false if no byte has arrived.
 */
bool wire_peer_poll(WirePeer *p, int ms, WirePeerFrame *fn, void *opaque);
/*
 * Takes frames until @fn has put an element into @queue, and pops and returns the head
 * of @queue.  Fails after WAIT_MS, or if QEMU has closed its end.
 */
void *wire_peer_take(WirePeer *p, GQueue *queue, WirePeerFrame *fn, void *opaque);

#endif /* RNIC_WIRE_PEER_H */
