/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet link port, one end of a cable: the interface for other units.  link.h has the
 * functions that only the files of the port share.
 *
 * A port knows frames, HELLOs and channels, but neither registers nor packets, nor the
 * device behind it: for these it calls the functions of its owner.  Names with peer_
 * belong to the neighbour, as PORT_PEER and peerN do.
 */
#ifndef HW_EXANET_LINK_PORT_H
#define HW_EXANET_LINK_PORT_H

#include "../../core/host.h"
#include "../../core/loop.h"
#include "net/net.h"
#include "qemu/timer.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"
#include "link-fifo.h"

typedef struct ExanetPort ExanetPort;

/* Faults of a cable; see inject.h. */
typedef struct ExanetInject ExanetInject;

/* Parts of a packet in which a fault may flip a bit. */
#define EXANET_FAULT_PARTS 3

/* Kinds of faults; each has a counter. */
enum exanet_injected {
    EXANET_INJECTED_DROP,
    EXANET_INJECTED_PART,           /* the first part; the others follow */
    EXANET_INJECTED_DUPLICATE = EXANET_INJECTED_PART + EXANET_FAULT_PARTS,
    EXANET_INJECTED_REORDER,
    EXANET_INJECTED_DELAY,
    EXANET_INJECTED_KINDS,
};

/*
 * Most words of a frame, a multiple of a full packet.  A datagram of UDP, which the dgram
 * netdev may use, has at most 65507 bytes.
 */
#define EXANET_FRAME_WORDS (224 * EXANET_PACKET_WORDS)
#define EXANET_FRAME_BYTES (sizeof(struct exanet_frame) + \
                            EXANET_FRAME_WORDS * EXANET_WORD_BYTES)

/* Counters of a port, in the order of their registers. */
enum exanet_port_counter {
    EXANET_PORT_CNT_TX_PACKETS,
    EXANET_PORT_CNT_TX_WORDS,
    EXANET_PORT_CNT_RX_PACKETS,
    EXANET_PORT_CNT_RX_WORDS,
    EXANET_PORT_CNT_BAD_HEADER,
    EXANET_PORT_CNT_BAD_PAYLOAD,
    EXANET_PORT_CNT_BAD_FOOTER,
    EXANET_PORT_CNT_DROPPED,
    EXANET_PORT_CNT_XOFF_SENT,
    EXANET_PORT_CNT_XOFF_RECEIVED,
    EXANET_PORT_COUNTERS,
};

/* Packets that a port has to send in one virtual channel. */
typedef struct ExanetTx {
    uint8_t *frame;                 /* room for a header, then packets; NULL: not used */
    unsigned words;                 /* words of packets in @frame */
    int64_t stalled;                /* ns, start of the stall; 0: not stalled */
    /* uint16_t: end of each packet in @frame that has a bad header, in words of @frame */
    GArray *bad_headers;
    GByteArray *urgent;             /* whole packets that are sent before @frame */
    GByteArray *urgent_words;       /* length of each packet in @urgent */
    bool urgent_sent;               /* the last frame was urgent; now @frame is sent */
} ExanetTx;

/* Events that a port reports to its owner; see ExanetPortOwner.event. */
enum exanet_port_event {
    EXANET_PORT_UP_OR_DOWN,
    EXANET_PORT_CONFLICT,           /* the neighbour's coordinates were refused */
    /* the rest of a frame was dropped, because the CRC of a packet's header is wrong */
    EXANET_PORT_BAD_HEADER,
    EXANET_PORT_MALFORMED,          /* ... because a packet is not valid */
    EXANET_PORT_POLLED,             /* a frame arrived in exanet_port_poll() */
    EXANET_PORT_INJECTED,           /* an order of exanet_inject_order() was done */
};

/* Functions of the device that a port calls.  None is NULL. */
typedef struct ExanetPortOwner {
    /*
     * Returns the words of the packet at @buf, at most EXANET_PACKET_WORDS.  Returns 0
     * if the packet is not valid; *@damaged: its header has a CRC error.
     */
    unsigned (*measure)(const uint8_t *buf, bool *damaged);
    /*
     * Takes the packet of @words words at @buf that arrived by channel @vc of @p.
     * Returns false if the output is blocked; then the owner calls rnic_loop_schedule()
     * when the output opens, and the port offers the packet again.  The function may
     * change the packet.
     */
    bool (*take)(ExanetPort *p, unsigned vc, uint8_t *buf, unsigned words);
    /*
     * Sends packets that arrived by @p and wait at the owner.  Returns true if more of
     * them could continue now.
     */
    bool (*held_run)(ExanetPort *p);
    /* Drops these packets; afterwards @p->owner_words is 0.  Returns their number. */
    unsigned (*held_drop)(ExanetPort *p);
    /* Called after the link of @p went up or down, or PORT_CTRL may have set its role. */
    void (*changed)(ExanetPort *p);
    /*
     * Called when @p hears a new neighbour, the node at @coord, or a new @epoch of its
     * neighbour.
     */
    void (*restarted)(ExanetPort *p, uint32_t coord, uint8_t epoch);
    /*
     * Returns the reason why the node at @coord with @epoch cannot be the neighbour of
     * @p, or NULL.  @known: the node was the neighbour of @p before.
     */
    const char *(*refusal)(ExanetPort *p, uint32_t coord, uint8_t epoch, bool known);
    /* Called by a timer: every second while the link is up, otherwise every 50 ms. */
    void (*tick)(ExanetPort *p);
    /* Counts @event, and raises interrupts. */
    void (*event)(ExanetPort *p, enum exanet_port_event event);
} ExanetPortOwner;

/* State that the ports of a device share; the device keeps it up to date. */
typedef struct ExanetPortGroup {
    const ExanetPortOwner *owner;
    void *opaque;                   /* for the functions of @owner */
    DeviceState *dev;
    RNicLoop *loop;
    ExanetPort *port;
    unsigned count;                 /* 1 + index of the last port that exists */
    uint32_t node;                  /* coordinates of this node */
    uint8_t epoch;
    uint32_t rx_words;              /* words of an RX FIFO, as HELLO advertises them */
    uint32_t timeout_ms;            /* silence after which a link is down; 0: never */
    /* time after which packets for a neighbour that takes none are dropped; 0: never */
    uint32_t stall_ms;
} ExanetPortGroup;

/* Value of peerN: the neighbour may have any coordinates that cause no conflict. */
#define EXANET_PEER_ANY UINT32_MAX

struct ExanetPort {
    ExanetPortGroup *group;
    unsigned index;
    NICState *nic;
    NICConf conf;
    QEMUTimer *hello_timer;
    int64_t heard;                  /* ns, last valid frame of the neighbour */
    uint32_t peer_named;            /* property peerN, or EXANET_PEER_ANY */
    uint32_t peer;                  /* coordinates of the neighbour, or of the last one */
    int64_t peer_until;             /* ns, end of reservation; 0: there was none */
    int64_t up_since;               /* ns, last time when the link went up */
    int64_t yield_until;            /* ns, another port takes precedence until then */
    uint32_t conflict_coord;        /* coordinates that were refused last */
    uint32_t peer_words;            /* longest frame that the neighbour takes */
    uint8_t peer_epoch;
    bool peer_known;
    bool up;
    bool wanted;                    /* exanet_port_control() has enabled the port */
    bool enabled;                   /* @wanted, and not @admin_down */
    bool admin_down;                /* exanet_port_admin() has taken the link down */
    bool loopback;                  /* the netdev is not used */
    bool conflict;                  /* the neighbour's coordinates were refused */
    bool conflict_reported;         /* a conflict was reported to the user */
    bool polled;                    /* exanet_port_poll() is running */
    bool refused;                   /* the netdev keeps a frame that the port refused */
    bool blocked;                   /* the netdev has not sent frame @held yet */
    bool lost;                      /* the netdev may have been disconnected */
    bool hello_due;                 /* a HELLO is to be sent when @blocked ends */
    bool down_due;                  /* ... a DOWN */
    unsigned hello_answers;         /* HELLOs answered since the last tick */

    /* Sets of virtual channels, one bit for each. */
    uint8_t peer_xoff;              /* the neighbour has stopped this port */
    uint8_t xoff;                   /* this port has stopped the neighbour */
    uint8_t xoff_sent;              /* ... at least once since the link went up */
    uint8_t xoff_due;               /* XOFF or XON is to be sent when @blocked ends */
    uint8_t tx_pending;             /* packets wait to be sent */
    uint8_t tx_wanted;              /* a unit found no room in the frame */

    uint32_t tx_limit;              /* longest frame, in words */
    uint32_t tx_seq;                /* number of the next frame */
    uint32_t rate;                  /* kb/s; 0: no limit */
    uint32_t latency;               /* ns */
    unsigned tx_waiting;            /* words that wait to be sent */
    unsigned tx_vc;                 /* channel that has sent last */
    ExanetTx tx[EXANET_VCS];
    uint8_t *spare;                 /* second frame for port_vc_send(), or NULL */
    uint8_t *held;                  /* frame that the netdev sends while @blocked */
    size_t held_len;                /* bytes */
    uint32_t xoff_above;            /* an RX FIFO with more words stops the neighbour */
    uint32_t xon_below;             /* ... with fewer words lets the neighbour continue */
    int64_t tx_free;                /* ns, the rate permits the next frame from then on */
    QEMUTimer *tx_timer;
    int64_t tx_since;               /* ns, since then only the rate delays packets */
    bool tx_refill;                 /* a unit that waited for room has been scheduled */
    bool tx_stopped;                /* packets wait, but not because of the rate */
    GQueue flight;                  /* frames that the latency delays */
    unsigned flight_words;
    GQueue delayed;                 /* packets that faults delay, by time */

    ExanetFifo rx[EXANET_VCS];
    unsigned rx_count;              /* words of packets in all @rx */
    unsigned owner_words;           /* of packets that wait at the owner, who sets it */
    unsigned rx_drops;              /* number of times that all packets were dropped */
    unsigned rx_vc;                 /* arbitration: first channel of the last run */
    bool delivering;                /* a packet of @rx is being delivered */
    uint64_t counter[EXANET_PORT_COUNTERS];
    ExanetInject *inject;           /* NULL: no faults */
    uint64_t injected[EXANET_INJECTED_KINDS];
    enum exanet_role role;          /* in use; AUTO while the link is down */
};

/* Returns true if the port has a netdev; most functions need one. */
static inline bool exanet_port_exists(const ExanetPort *p)
{
    return p->nic;
}

/* Returns the next existing port after @p, the first one for @p = NULL, or NULL. */
static inline ExanetPort *exanet_port_after(ExanetPortGroup *g, const ExanetPort *p)
{
    for (unsigned i = p ? p->index + 1 : 0; i < g->count; i++) {
        if (exanet_port_exists(&g->port[i])) {
            return &g->port[i];
        }
    }
    return NULL;
}

/* Initializes port @index of @group, whose property `conf` names a netdev. */
void exanet_port_init(ExanetPortGroup *group, unsigned index);
void exanet_port_fini(ExanetPort *p);
/*
 * Resets the port: drops the neighbour and all packets, clears counters, enables the port
 * without loopback, and sends a HELLO, by whose epoch the neighbour detects the reset.
 */
void exanet_port_reset(ExanetPort *p);
/* Enables or disables the port; @loopback: the port receives the packets it sends. */
void exanet_port_control(ExanetPort *p, bool enable, bool loopback);
/* Sets @p->rate and @p->latency. */
void exanet_port_tune(ExanetPort *p, uint32_t rate, uint32_t latency);
/* Takes the link down and starts it anew, because coordinates or control bits changed. */
void exanet_port_restart(ExanetPort *p);
/*
 * Takes the link down, with a DOWN to the neighbour, or permits it to go up (@up).  A
 * reset of the device does not change this.  The port need not exist yet.
 */
void exanet_port_admin(ExanetPort *p, bool up);
/* Takes frames from the netdev, in the thread of a vCPU. */
void exanet_port_poll(ExanetPort *p);
/* Returns true if exanet_port_rx_run() has something to do. */
static inline bool exanet_port_rx_due(const ExanetPort *p)
{
    return p->rx_count || p->owner_words || p->refused;
}
/*
 * Delivers packets that have arrived, a share of each channel.  Returns true if more
 * packets could continue now.
 */
bool exanet_port_rx_run(ExanetPort *p);
/*
 * Returns true if exanet_port_commit() may be called for channel @vc.  Otherwise the
 * units are scheduled when the channel has room.  True for a link that is down, and for a
 * stalled channel: there exanet_port_commit() drops the packet.
 */
bool exanet_port_can_send(ExanetPort *p, unsigned vc);
/* Returns room for a packet of EXANET_PACKET_BYTES, in the frame of channel @vc. */
uint8_t *exanet_port_place(ExanetPort *p, unsigned vc);
/* Sends the packet of @words words that the caller has built in this room. */
void exanet_port_commit(ExanetPort *p, unsigned vc, unsigned words);
/* Sends the packet at @buf ahead of others; never blocks, but may drop the packet. */
void exanet_port_respond(ExanetPort *p, unsigned vc, const uint8_t *buf,
                         unsigned words);
/* Sends frames to the netdev, until it takes no more or the rate delays them. */
void exanet_port_flush(ExanetPort *p);
/* Returns the words that wait to be sent, without those that the latency delays. */
unsigned exanet_port_tx_words(const ExanetPort *p);
/* Returns the words of packets that have arrived and wait, here or at the owner. */
unsigned exanet_port_rx_words(const ExanetPort *p);

#endif /* HW_EXANET_LINK_PORT_H */
