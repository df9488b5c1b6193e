/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link port, one end of a cable: the interface for other units.  port-internal.h has the
 * functions that only the files of the port share.
 *
 * The code of a port handles frames, HELLOs and channels.  For registers, for the content
 * of packets and for the rest of the device the port calls the functions of its owner.
 * In this header the prefix peer_ means the neighbour, as in property peerN.
 */
#ifndef HW_LINK_PORT_H
#define HW_LINK_PORT_H

#include "../core/host.h"
#include "../core/loop.h"
#include "net/net.h"
#include "qemu/timer.h"
#include "rnic/link.h"
#include "port-fifo.h"

typedef struct RNicPort RNicPort;

/* Faults of a cable; see inject.h. */
typedef struct RNicInject RNicInject;

/*
 * Maximal number of parts of a packet in which faults may flip bits; see RNicFaultPart.
 */
#define RNIC_FAULT_PARTS 3

/* Kinds of faults; RNicPort.injected has a counter for each kind. */
enum rnic_injected {
    RNIC_INJECTED_DROP,
    /* flips a bit in the first RNicFaultPart; the kinds for the other parts follow */
    RNIC_INJECTED_PART,
    RNIC_INJECTED_DUPLICATE = RNIC_INJECTED_PART + RNIC_FAULT_PARTS,
    RNIC_INJECTED_REORDER,
    RNIC_INJECTED_DELAY,
    RNIC_INJECTED_KINDS,
};

/* Counters of a port. */
enum rnic_port_counter {
    RNIC_PORT_CNT_TX_PACKETS,
    RNIC_PORT_CNT_TX_WORDS,
    RNIC_PORT_CNT_RX_PACKETS,
    RNIC_PORT_CNT_RX_WORDS,
    RNIC_PORT_CNT_BAD_HEADER,       /* packets with RNicMeasured.damaged */
    RNIC_PORT_CNT_DROPPED,
    RNIC_PORT_CNT_XOFF_SENT,
    RNIC_PORT_CNT_XOFF_RECEIVED,
    RNIC_PORT_COUNTERS,
};

/* Packets that a port has to send in one virtual channel. */
typedef struct RNicPortTx {
    uint8_t *frame;                 /* owned or NULL; room for a header, then packets */
    unsigned words;                 /* words of packets in @frame */
    /* ns, start of the time that port_stalled() counts; 0: counts no time now */
    int64_t stalled;
    /* uint16_t: end of each packet with a bad header, in words from the first packet */
    GArray *bad_headers;
    GByteArray *urgent;             /* packets that need not wait for those in @frame */
    /* a byte for each packet in @urgent: number of words, and flag URGENT_BAD_HEADER */
    GByteArray *urgent_words;
    unsigned urgent_bad;            /* number of packets in @urgent with a bad header */
    bool urgent_sent;               /* urgent packets left alone, so @frame leaves next */
} RNicPortTx;

/* News of a port for its owner, the argument of RNicPortOwner.changed. */
enum rnic_port_change {
    /*
     * A HELLO offers a node as the neighbour, or the port checks the neighbour again.
     * Only for this value the result of changed() has a meaning: the reason why the node
     * cannot be the neighbour, a static text for the user, or NULL if there is no reason.
     */
    RNIC_PORT_OFFER,
    /* a node became the neighbour, or the neighbour advertises a new epoch */
    RNIC_PORT_EPOCH,
    RNIC_PORT_UP_OR_DOWN,           /* the link went up or down */
    /*
     * The port was reset, or rnic_port_control() or rnic_port_admin() has changed
     * neither @enabled nor @loopback of the port.  Other settings, which the owner keeps,
     * may have changed.
     */
    RNIC_PORT_SETTINGS,
    /*
     * The port has dropped all its packets, or the device ends.  The owner must drop the
     * packets that arrived by the port and wait at the owner, count them by
     * rnic_port_drop(), and set @owner_words to 0.  The owner must not send packets
     * now.
     */
    RNIC_PORT_EMPTIED,
    RNIC_PORT_CONFLICT,             /* the neighbour's coordinates were refused */
    /* the rest of a frame was dropped, because the CRC of a packet's header is wrong */
    RNIC_PORT_BAD_HEADER,
    /* the rest of a frame was dropped, because type or length of a packet is not valid */
    RNIC_PORT_MALFORMED,
    /* a frame that the port did not refuse arrived in rnic_port_poll() */
    RNIC_PORT_POLLED,
    /* a fault of an RNicInjectOrder with a count was injected */
    RNIC_PORT_INJECTED,
    /* about a second has passed while the link is up, or 50 ms while it is down */
    RNIC_PORT_TICK,
};

/*
 * Steps that the owner may trace, the argument of RNicPortOwner.trace.  The comments
 * name the further arguments of trace().
 */
enum rnic_port_step {
    RNIC_PORT_STEP_TX,              /* kind, channel and words of a frame that leaves */
    RNIC_PORT_STEP_RX,              /* the same of a frame that has arrived */
    RNIC_PORT_STEP_UP,              /* 1 if the link went up, else 0; the neighbour */
    RNIC_PORT_STEP_FAULT,           /* kind of a fault; type of the packet */
};

/* A node of which a HELLO has brought news. */
typedef struct RNicPortNode {
    uint32_t coord;
    uint8_t epoch;
    /*
     * The node is the neighbour of the port, or the node was the last neighbour and the
     * port reserved its coordinates until @peer_until.  The value stays true when the
     * reservation ends.
     */
    bool known;
} RNicPortNode;

/* Measures of a packet, or of a run: several packets that cross the cable as one. */
typedef struct RNicMeasured {
    unsigned words;                 /* length in words; 0: not valid */
    unsigned packets;               /* 1, or the number of packets in the run */
    unsigned alone;                 /* words that the packets would have without a run */
    bool damaged;                   /* not valid, because the header's CRC is wrong */
} RNicMeasured;

/*
 * The family of a device: its formats and limits, and the functions that a port calls.
 * No function is NULL.
 */
typedef struct RNicPortOwner {
    const char *name;               /* name of the family, in messages to the user */
    uint8_t family;                 /* enum rnic_link_family, in all frames */
    /* MAC address, as a number, of the node with coordinates 0; see rnic_link_mac() */
    uint64_t mac;
    uint32_t coord_mask;            /* bits of coordinates, at most 24 */
    uint8_t vcs;                    /* virtual channels, at most RNIC_LINK_VCS */
    uint8_t packet_words;           /* maximal number of words of a packet, up to 127 */
    /*
     * maximal number of words of a packet that rnic_port_commit() may make an urgent
     * packet; 0: none, so packets of a channel stay in order unless faults act on them
     */
    uint8_t urgent_words;
    /* maximal number of words of packets in a frame that a port sends */
    uint16_t frame_words;

    /* Measures the packet or run at @buf; reads only the first word (16 bytes). */
    RNicMeasured (*measure)(const uint8_t *buf);
    /*
     * Accepts the packet or run of @words words at @buf that arrived by channel @vc of
     * @p: the packet is then delivered, forwarded, kept by the owner (@p->owner_words) or
     * dropped.  Returns false, without accepting the packet, if the packet cannot leave
     * now and the owner does not keep the packet.  After a result of false,
     * rnic_loop_schedule() is called when the packet may be able to leave, and the port
     * offers the packet again.  If the function has accepted only the first packets of a
     * run, the function has stored the number of these packets in @p->taken[@vc], and
     * returns false.
     */
    bool (*take)(RNicPort *p, unsigned vc, const uint8_t *buf, unsigned words);
    /*
     * Reacts to @change: counts, raises an interrupt, updates registers or state.  @node
     * belongs to RNIC_PORT_OFFER and RNIC_PORT_EPOCH, and is NULL for other values.
     * For the result see RNIC_PORT_OFFER; the result is NULL for other values.
     */
    const char *(*changed)(RNicPort *p, enum rnic_port_change change,
                           const RNicPortNode *node);
    /*
     * Sends packets that arrived by @p and wait at the owner.  rnic_port_rx_run() calls
     * this function if @p->owner_words is not 0.  Returns true if the owner could send
     * more of these packets now.
     */
    bool (*work)(RNicPort *p);
    /*
     * Emits the trace event of the family for @step; see enum rnic_port_step for @a, @b
     * and @c.  The port calls this function only if QEMU traces any event.
     */
    void (*trace)(const RNicPort *p, enum rnic_port_step step, unsigned a, unsigned b,
                  unsigned c);
} RNicPortOwner;

/* State that the ports of a device share.  The device sets all members. */
typedef struct RNicPortGroup {
    const RNicPortOwner *owner;
    void *opaque;                   /* pointer for use by the functions of @owner */
    DeviceState *dev;
    RNicLoop *loop;
    RNicPort *port;                 /* all ports; owned by the device */
    unsigned count;                 /* 1 + index of the last port that exists */
    uint32_t node;                  /* coordinates of this node */
    uint8_t epoch;                  /* epoch of this node */
    /* words of an RX FIFO; HELLOs advertise this length */
    uint32_t rx_words;
    /*
     * milliseconds without a valid frame of the neighbour, after which a link goes down;
     * 0: never
     */
    uint32_t timeout_ms;
    /*
     * milliseconds after which port_stalled() makes the port drop new packets; 0: never
     */
    uint32_t stall_ms;
    /*
     * formats of packets that the owner accepts on every cable: bits of
     * rnic_hello.flags without RNIC_HELLO_HEARD
     */
    uint8_t features;
    /*
     * further formats that the owner accepts on an rnic-cable, because an rnic-cable
     * damages no packet
     */
    uint8_t cable_features;
} RNicPortGroup;

/* Value of RNicPort.tx_allow that means "no limit", because no port sends as many. */
#define RNIC_TX_ALL UINT64_MAX

/* Default of property peerN: the user has named no neighbour. */
#define RNIC_PEER_ANY UINT32_MAX

struct RNicPort {
    RNicPortGroup *group;
    unsigned index;
    NICState *nic;
    NICConf conf;
    QEMUTimer *hello_timer;         /* timer that calls rnic_link_hello() */
    int64_t heard;                  /* ns, time of the neighbour's last valid frame */
    uint32_t peer_named;            /* property peerN, or RNIC_PEER_ANY */
    uint32_t peer;                  /* coordinates of the present or last neighbour */
    int64_t peer_until;             /* ns, end of the reservation of @peer; 0: none */
    int64_t up_since;               /* ns, last time when the link went up */
    /* ns, end of the precedence of other ports; see port_waits() */
    int64_t yield_until;
    uint32_t conflict_coord;        /* coordinates that were refused last */
    uint32_t peer_words;            /* longest frame that the neighbour accepts, words */
    uint8_t peer_epoch;             /* epoch of @peer */
    bool peer_known;                /* @peer is the neighbour now */
    /*
     * formats of packets that this device and the neighbour accept by this cable, bits of
     * rnic_hello.flags
     */
    uint8_t features;
    bool up;                        /* the link is up */
    bool wanted;                    /* the guest has not disabled the port */
    bool enabled;                   /* @wanted, and not @admin_down */
    bool admin_down;                /* rnic_port_admin() has taken the link down */
    bool loopback;                  /* the port receives its own packets */
    bool conflict;                  /* the neighbour's coordinates were refused */
    bool conflict_reported;         /* a conflict was reported to the user */
    bool other_family;              /* another family's frame arrived after the reset */
    bool other_reported;            /* such a frame was reported to the user */
    bool polled;                    /* rnic_port_poll() is running */
    bool refused;                   /* the netdev keeps a frame that the port refused */
    bool blocked;                   /* the netdev has not sent frame @held yet */
    bool lost;                      /* the netdev may have been disconnected */
    bool hello_due;                 /* a HELLO is to be sent when @blocked ends */
    bool down_due;                  /* a DOWN is to be sent when @blocked ends */
    /* number of HELLOs that want an answer since the last rnic_link_hello() */
    unsigned hello_answers;

    /*
     * number of packets that units may still add to the frames of each channel: 0 by an
     * XOFF, RNIC_TX_ALL by an XON
     */
    uint64_t tx_allow[RNIC_LINK_VCS];

    /* Sets of virtual channels, one bit for each. */
    uint8_t peer_xoff;              /* channels that the neighbour has stopped by XOFF */
    uint8_t xoff;                   /* channels that an XOFF of this port stops */
    /* channels in which this port has sent XOFF since the link went up */
    uint8_t xoff_sent;
    /* channels for which XOFF or XON is to be sent when @blocked ends */
    uint8_t xoff_due;
    uint8_t tx_pending;             /* channels with packets that wait to be sent */
    /*
     * channels to which a unit could not add a packet or a run, because the frame does
     * not have enough room or because of XOFF
     */
    uint8_t tx_wanted;

    uint32_t tx_limit;              /* words up to which the port fills a frame */
    /* a frame with at most this number of words has room for any packet */
    uint32_t tx_room;
    uint32_t tx_urgent;             /* copy of RNicPortOwner.urgent_words */
    uint32_t tx_seq;                /* number of the next frame */
    uint32_t rate;                  /* rate of the cable, kb/s; 0: no limit */
    uint32_t latency;               /* ns, time for which the port delays packets */
    unsigned tx_waiting;            /* words of packets in all @tx */
    unsigned tx_vc;                 /* channel of the last frame that was sent */
    RNicPortTx tx[RNIC_LINK_VCS];
    uint8_t *spare;                 /* second frame for port_vc_send(), or NULL */
    uint8_t *held;                  /* copy of the frame that the netdev keeps */
    size_t held_len;                /* bytes of the frame in @held */
    uint32_t xoff_above;            /* an RX FIFO with more words stops the neighbour */
    /* after an XOFF, an RX FIFO with fewer words, or without words, sends XON */
    uint32_t xon_below;
    int64_t tx_free;                /* ns, when the rate permits the next frame */
    QEMUTimer *tx_timer;            /* timer that calls rnic_port_flush() */
    int64_t tx_since;               /* ns, since when only the rate has delayed packets */
    bool tx_refill;                 /* a unit that waited for TX room will run soon */
    bool tx_stopped;                /* packets wait, and not because of the rate */
    GQueue flight;                  /* RNicFlight: frames that the latency delays */
    unsigned flight_words;          /* words of packets in @flight */
    /* RNicDelayed, ordered by @due: packets that faults delay */
    GQueue delayed;

    RNicPortFifo rx[RNIC_LINK_VCS];
    /*
     * number of packets of the run at the head of @rx that the owner has accepted; see
     * RNicPortOwner.take
     */
    unsigned taken[RNIC_LINK_VCS];
    unsigned rx_count;              /* words of packets in all @rx */
    /*
     * number of words of packets that arrived by this port and wait at the owner; the
     * owner sets this member
     */
    unsigned owner_words;
    unsigned rx_drops;              /* number of times that all packets were dropped */
    /* modulo RNIC_LINK_VCS: channel with which rnic_port_rx_run() began last */
    unsigned rx_vc;
    bool delivering;                /* a packet of @rx is being delivered */
    uint64_t counter[RNIC_PORT_COUNTERS];
    RNicInject *inject;             /* NULL: no faults */
    uint64_t injected[RNIC_INJECTED_KINDS];     /* number of faults of each kind */
};

/*
 * Returns true if rnic_port_init() has built the port, and rnic_port_fini() has not
 * ended it.  Most functions of this header require a port that exists.
 */
static inline bool rnic_port_exists(const RNicPort *p)
{
    return p->nic;
}

/*
 * Returns the next existing port of @g after @p, or the first existing port if @p is
 * NULL.  Returns NULL at the end.
 */
static inline RNicPort *rnic_port_after(RNicPortGroup *g, const RNicPort *p)
{
    for (unsigned i = p ? p->index + 1 : 0; i < g->count; i++) {
        if (rnic_port_exists(&g->port[i])) {
            return &g->port[i];
        }
    }
    return NULL;
}

/*
 * Checks the properties faultsN and peerN of port @index, before rnic_port_init().
 * @node_property is the name of the property with the coordinates @node of this node, and
 * coordinates are at most @most.  Returns false with @errp set if a property is not
 * valid.
 */
bool rnic_port_conf_valid(const RNicPort *p, unsigned index, const char *node_property,
                          uint32_t node, uint32_t most, Error **errp);
/* Initializes port @index of @group.  Member @conf of the port names a netdev. */
void rnic_port_init(RNicPortGroup *group, unsigned index);
/*
 * Sends a DOWN if the netdev keeps no frame, and frees the memory of the port except
 * @p->inject, which rnic_inject_fini() frees.
 */
void rnic_port_fini(RNicPort *p);
/*
 * Resets the port: drops all packets except those in a frame that the netdev keeps,
 * forgets the neighbour, clears counters, cancels the order of faults, ends loopback, and
 * enables the port unless @p->admin_down is true.  Then the port sends a HELLO, now or by
 * @p->hello_timer, if there is a carrier.  The neighbour detects the reset by the new
 * epoch in the HELLO.
 */
void rnic_port_reset(RNicPort *p);
/*
 * Enables or disables the port, as far as the guest is concerned (@p->wanted).  If
 * @loopback is true, the port receives its own packets.  A change of @p->enabled or
 * @p->loopback takes the link down, and starts the link anew if the port is enabled.  A
 * port with a carrier that was not in loopback first sends a DOWN.
 */
void rnic_port_control(RNicPort *p, bool enable, bool loopback);
/* Sets @p->rate (kb/s) and @p->latency (ns), and computes @p->tx_limit. */
void rnic_port_tune(RNicPort *p, uint32_t rate, uint32_t latency);
/*
 * Forgets the neighbour, takes the link down, and calls rnic_link_hello(), now or by
 * @p->hello_timer.  The reason is a change of this node's coordinates, of @p->enabled or
 * @p->loopback.
 */
void rnic_port_restart(RNicPort *p);
/*
 * Takes the link down, with a DOWN as in rnic_port_control(), if @up is false.  Permits
 * the link to go up if @up is true.  A reset of the device does not change this setting.
 * The port need not exist yet.
 */
void rnic_port_admin(RNicPort *p, bool up);
/*
 * Reads frames that wait at the netdev, in the thread of a vCPU.  Does nothing if the
 * port does not exist.
 */
void rnic_port_poll(RNicPort *p);
/*
 * Makes the netdev watch for frames (@on), or not watch because rnic_port_poll() will
 * be called.  Does nothing if the port does not exist.
 */
void rnic_port_watch(RNicPort *p, bool on);
/* Returns true if rnic_port_rx_run() may have work to do. */
static inline bool rnic_port_rx_due(const RNicPort *p)
{
    return p->rx_count || p->owner_words || p->refused;
}
/*
 * Calls RNicPortOwner.work(), then delivers packets of the RX FIFOs, of each channel at
 * most about half of RNicPortOwner.frame_words.  If the netdev keeps a frame that the
 * port has refused, and there is room now, asks the netdev for this frame.  Returns true
 * if more packets could continue now.
 */
bool rnic_port_rx_run(RNicPort *p);
/*
 * Returns true if the caller may call rnic_port_commit() for channel @vc.  Returns
 * false if the frame of the channel has no room or the channel has an XOFF; the port then
 * schedules the units when a packet has room.  Also returns true if the link is down or
 * the channel is stalled, because rnic_port_commit() then drops the packet.
 */
bool rnic_port_can_send(RNicPort *p, unsigned vc);
/* Counts @packets packets that arrived by @p and that the owner has dropped. */
static inline void rnic_port_drop(RNicPort *p, unsigned packets)
{
    p->counter[RNIC_PORT_CNT_DROPPED] += packets;
}
/* Allocates a frame for rnic_port_place(). */
uint8_t *rnic_port_frame_new(const RNicPort *p);
/*
 * Returns the address, in the frame of channel @vc, at which the caller builds the next
 * packet, or a run of at most rnic_port_run_room() words.
 */
static inline uint8_t *rnic_port_place(RNicPort *p, unsigned vc)
{
    RNicPortTx *tx = &p->tx[vc];

    if (unlikely(!tx->frame)) {
        tx->frame = rnic_port_frame_new(p);
    }
    return tx->frame + sizeof(struct rnic_frame) + tx->words * RNIC_LINK_WORD;
}
/*
 * Adds the packet of @words words that the caller has built at rnic_port_place() to the
 * frame of channel @vc.  If the frame has other packets, a packet of @p->tx_urgent words
 * or less becomes an urgent packet instead, unless many urgent packets wait.  Calls
 * rnic_port_flush() if this frame is full.  Drops and counts the packet if the link is
 * down, the frame has no room or the channel has an XOFF.  Faults of the cable act on the
 * packet.
 */
void rnic_port_commit(RNicPort *p, unsigned vc, unsigned words);
/*
 * Returns the length in words of the longest run for which the frame of channel @vc has
 * room now.  Returns 0 if the frame is full, or if the port must send packets one by one,
 * because the link is down, the channel is stopped, or faults, rate or latency may act on
 * each packet.  The caller has checked that both ends of the cable accept runs.
 */
unsigned rnic_port_run_room(RNicPort *p, unsigned vc);
/*
 * Returns true if a fault of the cable may affect the next packet, or if faults delay
 * packets now.
 */
static inline bool rnic_port_has_faults(const RNicPort *p)
{
    return p->inject || p->delayed.length;
}
/* Returns the same as rnic_port_run_room(), but for an empty frame of channel @vc. */
unsigned rnic_port_run_limit(RNicPort *p, unsigned vc);
/*
 * Adds the run that the caller has built at rnic_port_place() to the frame of channel
 * @vc.  @run has the measures of this run; @run->words is at most rnic_port_run_room().
 * Calls rnic_port_flush() if this frame is full.
 */
void rnic_port_commit_run(RNicPort *p, unsigned vc, const RNicMeasured *run);
/*
 * Makes the port schedule the units when a frame of channel @vc has left and the frame of
 * the channel has room for a packet, at an XON of the channel, or when the link goes
 * down.  Until then, rnic_link_hello() may also schedule the units, because the channel
 * may have become stalled.
 */
void rnic_port_want(RNicPort *p, unsigned vc);
/*
 * Adds the packet at @buf to the urgent packets of channel @vc, which need not wait for
 * packets in the frame of the channel.  Needs no rnic_port_can_send(), and does not
 * change @p->tx_allow.  Drops and counts the packet if the link is down or the channel
 * has too many urgent packets.  Faults of the cable act on the packet.
 */
void rnic_port_respond(RNicPort *p, unsigned vc, const uint8_t *buf,
                       unsigned words);
/*
 * Releases packets whose delay by a fault or the latency has ended.  Then sends, or
 * delays by the latency, frames of the channels that the neighbour has not stopped, until
 * these channels have no packets or the rate forbids the next frame.  If the port has no
 * latency, the function also stops when the netdev keeps a frame or, in loopback, the RX
 * FIFOs have no room.  If the port has a latency, the function also stops when the
 * latency delays a megabyte of packets.
 */
void rnic_port_flush(RNicPort *p);
/*
 * Returns the number of words of packets that wait to be sent, without the packets that
 * the latency or a fault delays, and without the frame that the netdev keeps.
 */
unsigned rnic_port_tx_words(const RNicPort *p);
/*
 * Returns the number of words of packets that have arrived and wait, in @p or at the
 * owner.
 */
unsigned rnic_port_rx_words(const RNicPort *p);

#endif /* HW_LINK_PORT_H */
