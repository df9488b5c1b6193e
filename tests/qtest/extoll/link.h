/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The peer at the other end of a cable: a test that speaks the protocol of
 * rnic/extoll/wire.h with a device through a netdev.
 *
 * The peer answers HELLO, START and flits as a NIC does, unless @silent or @mute is set.
 * The peer checks header, sequence and length of each frame, and the CRC, order and
 * credits of each flit.  An arrived packet leaves the peer's room at once, unless @hold
 * is set.  The peer keeps no copy of the flits that it sends.
 */
#ifndef EXTOLL_LINK_H
#define EXTOLL_LINK_H

#include "device.h"
#include "rnic/link.h"
#include "hw/rnic/extoll/base/control.h"
#include "hw/rnic/extoll/base/flit.h"
#include "hw/rnic/extoll/base/route.h"
#include "../common/wait.h"
#include "../common/wire-peer.h"

#define EXTOLL_TEST_MS      1000000LL       /* ns */
#define EXTOLL_PEER_NODE(link)  (10 + (link))   /* node of the peer at @link */
#define EXTOLL_PEER_EPOCH   0x2a
/* Bytes of the packets of extoll_packet_build() with the least and most payload. */
#define EXTOLL_SHORT_BYTES  64
#define EXTOLL_LONG_BYTES   EXTOLL_PACKET_MAX
#define EXTOLL_LONG_FLITS   EXTOLL_PACKET_FLITS
/* Words of a cable frame that the flits of the longest packet need. */
#define EXTOLL_FRAME_WORDS  (EXTOLL_PACKET_FLITS * EXTOLL_FLIT_MAX / RNIC_LINK_WORD)

/* A packet of the device. */
typedef struct ExtollRxPacket {
    unsigned vc;
    unsigned bytes;
    uint8_t buf[EXTOLL_PACKET_MAX];
} ExtollRxPacket;

struct ExtollPeer {
    WirePeer wire;
    uint32_t node;
    uint8_t epoch;
    uint8_t family;                 /* of the frames that the peer sends */
    bool silent;                    /* the peer answers no HELLO */
    bool mute;                      /* the peer answers no START and no flit */
    bool hold;                      /* packets stay in the peer's room */
    bool faults;                    /* flits may be damaged, missing or doubled */
    uint32_t tx_frame, rx_frame;    /* numbers of the next frames */
    GQueue out;                     /* GByteArrays: frames to send */
    bool busy;                      /* frames are being sent or received */
    /* the last HELLO of the device had HEARD and the peer's epoch; false after DOWN */
    bool heard;
    bool heard_sent;                /* the peer's last HELLO had HEARD ... */
    uint8_t heard_epoch;            /* ... and this epoch of the device */
    struct rnic_hello hello;        /* the last HELLO of the device, in host order */
    unsigned hellos, downs, frames; /* numbers of frames received */

    bool open;                      /* the peer has accepted a START */
    bool resume;                    /* flits, counts and sequences are those of before */
    uint32_t room;                  /* of each virtual channel of the peer */
    ExtollControl start, state;     /* the last of the device */
    unsigned starts, states, naks;  /* numbers of these words */
    uint16_t tx_seq, rx_seq;        /* sequences of the next flits */
    uint32_t tx_flits[EXTOLL_VCS];  /* flits sent, modulo 2^32 */
    uint32_t rx_flits[EXTOLL_VCS];  /* flits accepted */
    uint32_t rx_freed[EXTOLL_VCS];  /* flits that left the peer's room */
    unsigned flits;                 /* good flits received, also again */
    unsigned bad;                   /* flits with a wrong CRC */
    unsigned gaps, again;           /* flits with another sequence than the next */
    bool nak_sent;                  /* a NAK for flit @rx_seq has left */
    ExtollRxPacket *part[EXTOLL_VCS];   /* packets without their last flit */
    GQueue packets;                 /* the ExtollRxPackets that the test has not taken */
};

/* --- Machines ------------------------------------------------------------- */

/*
 * Starts a machine whose device has peers at links 0 to @count - 1, and waits for no
 * link.  @props as in extoll_start().
 */
ExtollTest *extoll_start_cold(unsigned count, const char *props);
/* Does extoll_start_cold(), and waits until all links are up. */
ExtollTest *extoll_start_links(unsigned count, const char *props);
/* Returns a new peer with the number EXTOLL_PEER_NODE(@link); extoll_stop() frees it. */
ExtollPeer *extoll_peer_new(unsigned link);
/* Frees the peers of @t. */
void extoll_peers_free(ExtollTest *t);
/* Makes the peer of @link send HELLO, and waits until the link is up. */
void extoll_link_bring_up(ExtollTest *t, unsigned link);

/* Receives the frames that have arrived at all peers. */
void extoll_pump(ExtollTest *t);
/*
 * Waits in real time until @cond, a C expression, is true, and receives frames of the
 * device meanwhile.  Fails after WAIT_MS.
 */
#define extoll_wait(t, cond) wait_until(cond, extoll_pump(t))
/* Lets the device finish all work that needs no virtual time, and receives its frames. */
void extoll_settle(ExtollTest *t);
/* Moves virtual time by @ns, and settles. */
void extoll_step(ExtollTest *t, int64_t ns);

/* Reads register EXTOLL_REG_PORT_@name of @link, which has 32 or 64 bits. */
#define extoll_port32(t, link, name) \
    extoll_get32(t, EXTOLL_PORT(link) + EXTOLL_REG_PORT_##name)
#define extoll_port64(t, link, name) \
    extoll_get64(t, EXTOLL_PORT(link) + EXTOLL_REG_PORT_##name)
#define extoll_port_set(t, link, name, value) \
    extoll_set32(t, EXTOLL_PORT(link) + EXTOLL_REG_PORT_##name, value)
/* Returns true if @link is up. */
static inline bool extoll_link_up_get(ExtollTest *t, unsigned link)
{
    return extoll_port32(t, link, STATUS) & EXTOLL_PORT_STATUS_UP;
}
/* Sets property faults@link of the device. */
void extoll_faults_set(ExtollTest *t, unsigned link, const char *text);
/*
 * Returns member @name of element @n of the device's view "links"; if @group is not NULL,
 * of its group "counters" or "injected".
 */
uint64_t extoll_link_member(ExtollTest *t, unsigned n, const char *group,
                            const char *name);

/* --- Frames and control words --------------------------------------------- */

/* Sends a frame of @kind with the @words words at @data. */
void extoll_peer_frame(ExtollPeer *p, unsigned kind, const void *data, unsigned words);
void extoll_peer_hello(ExtollPeer *p, bool heard);
/* Sends the control word @c as it is. */
void extoll_peer_control(ExtollPeer *p, const ExtollControl *c);
/* Sends START with the peer's resume, sequence and room, and @flags. */
void extoll_peer_start(ExtollPeer *p, unsigned flags);
/* Sends STATE with the peer's sequence and counts, and @flags. */
void extoll_peer_state(ExtollPeer *p, unsigned flags);
/* Drops all packets, and begins with sequence 0: the peer has lost its state. */
void extoll_peer_forget(ExtollPeer *p);
/* Handles all frames that have arrived; waits at most @ms for the first byte. */
bool extoll_peer_poll(ExtollPeer *p, int ms);

/* --- Packets -------------------------------------------------------------- */

/* Returns the routing string of one hop by link @output in channel @vc, then @rest. */
uint64_t extoll_hop(unsigned output, unsigned vc, uint64_t rest);
/*
 * Stores packet @number, of @bytes bytes with the routing string @route, in @buf.  The
 * content depends on @number.  @bytes is 40 to 4128, a multiple of 8.
 */
void extoll_packet_build(uint8_t *buf, uint64_t route, unsigned bytes, unsigned number);
/*
 * Stores the flits of the @bytes bytes at @packet in @buf, with zeros between them.
 * Returns the words of 16 bytes.
 */
unsigned extoll_peer_flits(ExtollPeer *p, uint8_t *buf, unsigned vc,
                           const uint8_t *packet, unsigned bytes);
/* Returns the number of flits for which the device has room in channel @vc. */
uint32_t extoll_peer_credits(const ExtollPeer *p, unsigned vc);
/*
 * Sends packets @first to @first + @count - 1 in channel @vc, each when there are credits
 * for it.
 */
void extoll_peer_send(ExtollTest *t, unsigned link, unsigned vc, uint64_t route,
                      unsigned bytes, unsigned first, unsigned count);
/* Returns the number of packets that have arrived and that the test has not taken. */
unsigned extoll_peer_arrived(ExtollPeer *p);
/*
 * Takes packets @first to @first + @count - 1; waits for them.  Asserts that all their
 * bytes are right, and that they came in channel @vc.
 */
void extoll_peer_take(ExtollTest *t, unsigned link, unsigned vc, uint64_t route,
                      unsigned bytes, unsigned first, unsigned count);
/* Frees the room of all packets, and sends STATE. */
void extoll_peer_free_room(ExtollPeer *p);
/* Asserts that a packet passes from @from to @to, with number @number. */
void extoll_link_assert_works(ExtollTest *t, unsigned from, unsigned to,
                              unsigned number);

#endif /* EXTOLL_LINK_H */
