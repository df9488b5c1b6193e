/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet link port, one end of a cable, as the other units see it.  What the files of the
 * port share is in link.h.
 *
 * A port knows frames, HELLOs and channels, but neither registers nor packets, nor the
 * device behind it: for these it calls the functions of its owner.
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

/* Faults by kind, as they are counted. */
enum exanet_injected {
    EXANET_INJECTED_DROP,
    EXANET_INJECTED_PART,           /* the first part; the others follow */
    EXANET_INJECTED_DUPLICATE = EXANET_INJECTED_PART + EXANET_FAULT_PARTS,
    EXANET_INJECTED_REORDER,
    EXANET_INJECTED_DELAY,
    EXANET_INJECTED_KINDS,
};

/*
 * The most words of a frame: UDP takes 65507 bytes, which the dgram netdev may
 * have to live with.  Whole full packets fit without a rest.
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

/* What a port has to send in one virtual channel. */
typedef struct ExanetTx {
    uint8_t *frame;                 /* header and words so far; NULL: never used */
    unsigned words;
    int64_t stalled;                /* ns, since when it takes no packets; 0: it does */
    /* uint16_t: ends of packets in @frame whose headers are of no use */
    GArray *spoiled;
    GByteArray *urgent;             /* whole packets that go ahead of data */
    GByteArray *urgent_words;       /* length of each of them */
    bool urgent_sent;               /* ... and have done so in a frame of their own */
} ExanetTx;

/* What a port tells its owner; see ExanetPortOwner.event. */
enum exanet_port_event {
    EXANET_PORT_UP_OR_DOWN,
    EXANET_PORT_CONFLICT,           /* the peer's coordinates were refused */
    EXANET_PORT_BAD_HEADER,         /* the rest of a frame was dropped, because a
                                       packet's header has a CRC error */
    EXANET_PORT_MALFORMED,          /* ... because no packet begins there */
    EXANET_PORT_POLLED,             /* a frame came in exanet_port_poll() */
    EXANET_PORT_INJECTED,           /* an order of exanet_inject_order() was done */
};

/* What a port asks of the device that it belongs to. */
typedef struct ExanetPortOwner {
    /*
     * Returns the words of the packet at @buf, at most EXANET_PACKET_WORDS.  Returns 0
     * if it is not valid; *@damaged: because of a CRC error in its header.
     */
    unsigned (*measure)(const uint8_t *buf, bool *damaged);
    /*
     * Takes the packet of @words words at @buf that came by channel @vc of @p.  Returns
     * false if its route is not open now; then rnic_loop_schedule() is called when it is,
     * and the port offers the packet again.  The function may change the packet.
     */
    bool (*take)(ExanetPort *p, unsigned vc, uint8_t *buf, unsigned words);
    /*
     * Sends packets that came by @p and wait outside of the port.  Returns true if more
     * of them could continue now.
     */
    bool (*held_run)(ExanetPort *p);
    /* Drops these packets; returns how many. */
    unsigned (*held_drop)(ExanetPort *p);
    /* Returns the words of these packets. */
    unsigned (*held_words)(const ExanetPort *p);
    /* @p went up or down, or has another peer or another role by PORT_CTRL. */
    void (*changed)(ExanetPort *p);
    /* The peer of @p, the node at @coord, has a new @epoch. */
    void (*restarted)(ExanetPort *p, uint32_t coord, uint8_t epoch);
    /*
     * Returns the reason why the node at @coord with @epoch cannot be the peer of @p, or
     * NULL.  @known: @p led to this node before.
     */
    const char *(*doubt)(ExanetPort *p, uint32_t coord, uint8_t epoch, bool known);
    /* About once a second. */
    void (*tick)(ExanetPort *p);
    /* Counts, and raises interrupts. */
    void (*event)(ExanetPort *p, enum exanet_port_event event);
} ExanetPortOwner;

/* What the ports of a device have in common; the device keeps it up to date. */
typedef struct ExanetPortGroup {
    const ExanetPortOwner *owner;
    void *opaque;                   /* of the owner */
    DeviceState *dev;
    RNicLoop *loop;
    ExanetPort *port;
    unsigned count;                 /* up to the last port that exists */
    uint32_t node;                  /* own coordinates */
    uint8_t epoch;
    uint32_t rx_words;              /* of a receive FIFO, as HELLO advertises them */
    uint32_t timeout_ms;            /* the link is down after so long a silence; 0: never */
    uint32_t stall_ms;              /* packets for a blocked peer are dropped; 0: never */
} ExanetPortGroup;

/* Value of peerN: the peer may have any coordinates without a conflict. */
#define EXANET_PEER_ANY UINT32_MAX

struct ExanetPort {
    ExanetPortGroup *group;
    unsigned index;
    NICState *nic;
    NICConf conf;
    QEMUTimer *hello_timer;
    int64_t heard;                  /* ns, last valid frame of the peer */
    uint32_t peer_named;            /* property peerN, or EXANET_PEER_ANY */
    uint32_t peer;                  /* peer's coordinates; the last if !peer_known */
    int64_t peer_until;             /* ns, end of reservation; 0: there was none */
    int64_t up_since;               /* ns */
    int64_t yield_until;            /* ns, another port may lead to the peer first */
    uint32_t conflict_coord;        /* coordinates that were refused last */
    uint32_t peer_words;            /* longest frame that it takes */
    uint8_t peer_epoch;
    bool peer_known;
    bool up;
    bool wanted;                    /* by exanet_port_control() */
    bool enabled;                   /* @wanted, and not @admin_down */
    bool admin_down;                /* by exanet_port_admin() */
    bool loopback;                  /* the netdev is not used */
    bool conflict;                  /* the peer's coordinates were refused */
    bool conflict_told;             /* ... and the user knows */
    bool polled;                    /* exanet_port_poll() asks the netdev */
    bool refused;                   /* the netdev waits with a frame for us */
    bool blocked;                   /* the netdev keeps a frame of ours: @held */
    bool lost;                      /* the netdev may have been disconnected */
    bool hello_due;                 /* to be sent when it has gone */
    bool down_due;                  /* ... and so is DOWN */
    unsigned hello_answers;         /* since the last tick */

    /* Sets of virtual channels, one bit for each. */
    uint8_t peer_xoff;              /* the peer has stopped us */
    uint8_t xoff;                   /* we have stopped the peer */
    uint8_t xoff_told;              /* ... at least once */
    uint8_t xoff_due;               /* to be told, by @xoff, when @held has gone */
    uint8_t tx_pending;             /* there is something to send */
    uint8_t tx_wanted;              /* a unit found no room in the frame */

    uint32_t tx_limit;              /* words of a frame, by both ends and the rate */
    uint32_t tx_seq;
    uint32_t rate;                  /* kb/s; 0: no limit */
    uint32_t latency;               /* ns */
    unsigned tx_queued;             /* words that wait to be sent */
    unsigned tx_vc;                 /* channel that has sent last */
    ExanetTx tx[EXANET_VCS];
    uint8_t *spare;                 /* frame for urgent packets alone, or NULL */
    uint8_t *held;
    size_t held_len;
    uint32_t xoff_above;            /* words in @rx of a channel that stop the peer */
    uint32_t xon_below;             /* ... and let it go on */
    int64_t tx_free;                /* ns, when the cable has room by its rate */
    QEMUTimer *tx_timer;
    int64_t tx_since;               /* ns, since when there is always something */
    bool tx_refill;                 /* who waited for room has been told */
    bool tx_stopped;                /* by something else than the rate */
    GQueue flight;                  /* frames that the latency delays */
    unsigned flight_words;
    GQueue late;                    /* packets that faults delay, by time */

    ExanetFifo rx[EXANET_VCS];
    unsigned rx_count;              /* words of packets in all of them */
    unsigned rx_drops;              /* times that all was dropped */
    unsigned rx_vc;                 /* whose turn it is */
    bool delivering;                /* a packet of @rx is being delivered */
    uint64_t counter[EXANET_PORT_COUNTERS];
    ExanetInject *inject;           /* NULL: no faults */
    uint64_t injected[EXANET_INJECTED_KINDS];
    enum exanet_role role;          /* in use; AUTO while it is not up */
};

/* Whether there is a netdev; all else needs one. */
static inline bool exanet_port_exists(const ExanetPort *p)
{
    return p->nic;
}

/* Returns the existing port of @g after @p, the first one after NULL; NULL: there is none. */
static inline ExanetPort *exanet_port_after(ExanetPortGroup *g, const ExanetPort *p)
{
    for (unsigned i = p ? p->index + 1 : 0; i < g->count; i++) {
        if (exanet_port_exists(&g->port[i])) {
            return &g->port[i];
        }
    }
    return NULL;
}

/* Creates the NIC end of port @index of @group; its netdev is already in conf. */
void exanet_port_init(ExanetPortGroup *group, unsigned index);
void exanet_port_fini(ExanetPort *p);
/*
 * Forgets the peer and all packets and tells the peer so.  The port is enabled, without
 * loopback.
 */
void exanet_port_reset(ExanetPort *p);
/* Enables or disables the port; @loopback: its packets come back to it. */
void exanet_port_control(ExanetPort *p, bool enable, bool loopback);
/* Sets @p->rate and @p->latency. */
void exanet_port_tune(ExanetPort *p, uint32_t rate, uint32_t latency);
/* Takes the link down and starts it anew: coordinates or the enable bit changed. */
void exanet_port_restart(ExanetPort *p);
/*
 * Takes the link down, with a DOWN to the peer, until it is told otherwise; a reset of
 * the device changes nothing.  The port need not exist yet.
 */
void exanet_port_admin(ExanetPort *p, bool up);
/* Takes the frames that the netdev has, if there are any, in the thread of a vCPU. */
void exanet_port_poll(ExanetPort *p);
/*
 * Delivers what has arrived, some packets of each channel; true if there is more that
 * could go on.
 */
bool exanet_port_rx_run(ExanetPort *p);
/* What the crossbar needs to send a packet in channel @vc; see net.c. */
bool exanet_port_ready(ExanetPort *p, unsigned vc);
uint8_t *exanet_port_begin(ExanetPort *p, unsigned vc);
void exanet_port_commit(ExanetPort *p, unsigned vc, unsigned words);
void exanet_port_respond(ExanetPort *p, unsigned vc, const uint8_t *buf,
                         unsigned words);
/* Gives the frames that were filled to the netdev, as far as it takes them. */
void exanet_port_flush(ExanetPort *p);
/*
 * Words that wait to be sent in all channels; not those under way for the latency of
 * the cable.
 */
unsigned exanet_port_queued(const ExanetPort *p);
/* Returns the words of packets that came and wait, here or at the owner. */
unsigned exanet_port_arrived(const ExanetPort *p);

#endif /* HW_EXANET_LINK_PORT_H */
