/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test as the peer of a netdev of QEMU: of `-netdev socket`, by a socket pair, of
 * `-netdev stream`, or of a device rnic-cable.  The peer sends and receives whole
 * Ethernet frames.
 */
#ifndef RNIC_WIRE_PEER_H
#define RNIC_WIRE_PEER_H

#include "hw/rnic/link/cable-memory.h"
#include "hw/rnic/link/ring.h"

typedef struct WirePeer {
    int fd;                         /* the test's end of the socket; -1: closed, none */
    int dev_fd;                     /* QEMU's end of the socket pair; -1: closed, none */
    bool dgram;                     /* true: a datagram is a frame; false: a stream */
    bool closed;                    /* wire_peer_poll() has found QEMU's end closed */
    size_t frame_max;               /* maximum bytes of a frame that arrives */
    GByteArray *stream;             /* received bytes of a frame that is not complete */
    /* The rest is for a device rnic-cable. */
    char *folder, *path;            /* of the server's socket; NULL: no rnic-cable */
    int server;                     /* listens at @path; -1: QEMU is connected */
    RNicCableMemory memory;
    RNicRing tx, rx;
    bool corked;                    /* as in wire_peer_cork() */
    unsigned wakes;                 /* number of wake-ups that QEMU has sent */
} WirePeer;

/* Handles one frame that has arrived.  @frame is valid until the function returns. */
typedef void WirePeerFrame(void *opaque, const uint8_t *frame, size_t len);

/*
 * Initializes @p with a socket pair.  In a stream, the arrival of a frame of more
 * than @frame_max bytes fails the test.  A datagram of more bytes is cut to
 * @frame_max bytes.
 */
void wire_peer_init(WirePeer *p, bool dgram, size_t frame_max);
/*
 * Initializes @p as the server of a device rnic-cable.  The arrival of a frame of more
 * than @frame_max bytes fails the test.
 */
void wire_peer_init_cable(WirePeer *p, size_t frame_max);
/* Initializes @p without a socket. */
void wire_peer_init_closed(WirePeer *p);
/*
 * Initializes @p with a connection to `-netdev stream,server=on` at @path.  Waits
 * until QEMU listens.
 */
void wire_peer_connect(WirePeer *p, const char *path, size_t frame_max);
void wire_peer_fini(WirePeer *p);
/*
 * Returns the value of the option -netdev for @p, which has a socket pair, without id;
 * the caller frees the text.
 */
char *wire_peer_netdev(WirePeer *p);
/*
 * Returns the options of QEMU for netdev @id, whose peer is @p with a socket pair or
 * an rnic-cable; the caller frees the text.
 */
char *wire_peer_options(WirePeer *p, const char *id);
/*
 * Closes the test's copy of QEMU's end of the socket pair, after QEMU has inherited
 * this end.  Waits until an rnic-cable is connected.
 */
void wire_peer_started(WirePeer *p);
/*
 * Sends @frame.  While the socket or the ring is full, receives frames of QEMU and calls
 * @fn for each of them.  Fails after WAIT_MS, or if QEMU has closed its end of the
 * socket.
 */
void wire_peer_send(WirePeer *p, const void *frame, size_t len,
                    WirePeerFrame *fn, void *opaque);
/*
 * Corks an rnic-cable, or ends that: the wake-up for frames that the test sends while @p
 * is corked follows at the end.
 */
void wire_peer_cork(WirePeer *p, bool cork);
/*
 * Waits at most @ms milliseconds for bytes of QEMU, and calls @fn for each whole
 * frame that has arrived.  Returns false if no byte has arrived.  Sleeps on an rnic-cable
 * only if @ms is not 0, so QEMU sends no wake-ups between the calls.
 */
bool wire_peer_poll(WirePeer *p, int ms, WirePeerFrame *fn, void *opaque);
/*
 * Receives frames, and calls @fn for each frame, until @queue has an element, which @fn
 * must append.  Removes and returns the head of @queue.  Fails if @queue is still empty
 * after WAIT_MS, or when QEMU has closed its end of the socket.
 */
void *wire_peer_take(WirePeer *p, GQueue *queue, WirePeerFrame *fn, void *opaque);

#endif /* RNIC_WIRE_PEER_H */
