/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One end of a cable: retransmission, credits, and packets as flits.
 *
 * The link is above the port that all families share (hw/link/port.h), so faults of the
 * cable hit flits and control words, and the link repeats the flits.  What a cable loses
 * while its link is down is repeated, too: the link keeps the flits that are not
 * acknowledged, and the other end keeps its place, until one of the two is reset.
 *
 * The link knows neither a netdev nor a timer: callers give the time @now, in ns, and ask
 * for the deadline.
 */
#ifndef RNIC_EXTOLL_LINK_LINK_H
#define RNIC_EXTOLL_LINK_LINK_H

#include "qemu/queue.h"
#include "credit.h"
#include "replay.h"

/* Longest time, ns, until an acknowledgement leaves without a flit to accompany it. */
#define EXTOLL_ANSWER_NS 500000
/* Number of flits after which an acknowledgement leaves at once. */
#define EXTOLL_ANSWER_FLITS 64

/* Counters of a link; the comment of register PORT_<NAME> has the meaning. */
enum extoll_link_counter {
    EXTOLL_LINK_TX_FLITS,
    EXTOLL_LINK_RX_FLITS,
    EXTOLL_LINK_RESENT,
    EXTOLL_LINK_TIMEOUTS,
    EXTOLL_LINK_RX_BAD,
    EXTOLL_LINK_RX_GAP,
    EXTOLL_LINK_RX_AGAIN,
    EXTOLL_LINK_TX_NAK,
    EXTOLL_LINK_RX_NAK,
    EXTOLL_LINK_RX_ERROR,
    EXTOLL_LINK_DROPPED,
    EXTOLL_LINK_COUNTERS,
};

typedef enum ExtollLinkPhase {
    EXTOLL_LINK_DOWN,       /* the port is down */
    EXTOLL_LINK_STARTING,   /* this end has not accepted a START yet */
    EXTOLL_LINK_OPEN,
} ExtollLinkPhase;

/* A packet that has arrived; freed by extoll_link_pop(). */
typedef struct ExtollArrived {
    QSIMPLEQ_ENTRY(ExtollArrived) next;
    uint16_t bytes;
    uint16_t filled;        /* bytes that have arrived */
    uint8_t data[];         /* @bytes bytes; the owner of the link may change the route */
} ExtollArrived;

/* Receiver of a virtual channel. */
typedef struct ExtollLinkRx {
    QSIMPLEQ_HEAD(, ExtollArrived) packets;     /* whole packets */
    ExtollArrived *part;    /* packet whose last flit has not arrived; or NULL */
    unsigned part_flits;    /* flits of the unfinished packet; 0: there is none */
    ExtollCreditRx credit;
} ExtollLinkRx;

typedef struct ExtollLink {
    ExtollLinkPhase phase;
    bool resume;            /* flits, counts and sequences are those of the last time */
    bool heard;             /* the other end has accepted a START of this end */
    bool start_due;         /* a START must leave */
    int64_t start_at;       /* time of the next START without an answer, or INT64_MAX */
    int64_t answer_at;      /* time of the next STATE, or INT64_MAX */
    /*
     * time of a STATE that wants an answer, or INT64_MAX: the other end may have sent
     * credits in a STATE that the cable has lost, and has nothing more to say
     */
    int64_t ask_at;
    bool ask;               /* the next STATE wants an answer */
    unsigned unanswered;    /* flits that arrived since the last STATE */
    ExtollReplayTx tx;
    ExtollCreditTx tx_credit[EXTOLL_VCS];
    ExtollReplayRx rx;
    ExtollLinkRx in[EXTOLL_VCS];
    uint64_t counter[EXTOLL_LINK_COUNTERS];
} ExtollLink;

typedef enum ExtollLinkStatus {
    EXTOLL_LINK_OK,
    EXTOLL_LINK_BAD_PACKET, /* a packet was dropped, because its length is not valid */
    EXTOLL_LINK_DEAD,       /* EXTOLL_TRIES retransmissions without progress */
    /*
     * The other end has sent what no end sends: flits without credits, an acknowledgement
     * of a flit that was never sent ...  The caller calls extoll_link_down() and
     * extoll_link_forget(), because nothing that the other end has sent is reliable.
     */
    EXTOLL_LINK_BROKEN,
} ExtollLinkStatus;

/* Initializes @l, which is down, with room for @room flits in each virtual channel. */
void extoll_link_init(ExtollLink *l, uint32_t room);
void extoll_link_fini(ExtollLink *l);

/*
 * Drops and counts all packets, sent and received, and begins anew: the next START has no
 * RESUME.  Does not change the phase.
 */
void extoll_link_forget(ExtollLink *l);
/*
 * Adds @round_ns, the time that the cable delays a flit and its answer on purpose, to the
 * time until a retransmission.
 */
void extoll_link_timer(ExtollLink *l, int64_t round_ns);
/* Notes that the port is up: START leaves. */
void extoll_link_up(ExtollLink *l);
/* Notes that the port is down: packets wait. */
void extoll_link_down(ExtollLink *l);
/* Returns true if packets can pass in both directions. */
static inline bool extoll_link_is_up(const ExtollLink *l)
{
    return l->phase == EXTOLL_LINK_OPEN && l->heard;
}

/*
 * Returns true if extoll_link_send() may take a packet of @bytes bytes for virtual
 * channel @vc: the link is open, and there are credits for all flits, and room in the
 * window.
 */
bool extoll_link_can_send(const ExtollLink *l, unsigned vc, unsigned bytes);
/*
 * Divides the packet of @bytes bytes at @packet into flits of virtual channel @vc, which
 * extoll_link_next() returns later.  The caller has checked extoll_link_can_send().
 */
void extoll_link_send(ExtollLink *l, unsigned vc, const uint8_t *packet, unsigned bytes);

/*
 * Stores the next flit or control word at @buf, which has room for EXTOLL_FLIT_MAX bytes.
 * Returns its words of 16 bytes, or 0 if nothing has to leave now.
 */
unsigned extoll_link_next(ExtollLink *l, uint8_t *buf, int64_t now);

/* Takes the flit or control word of @words words of 16 bytes at @buf. */
ExtollLinkStatus extoll_link_take(ExtollLink *l, const uint8_t *buf, unsigned words,
                                  int64_t now);
/* Notes that words have arrived among which no flit can be found. */
void extoll_link_bad(ExtollLink *l, int64_t now);

/* Does what is due at the time @now.  Returns OK or DEAD. */
ExtollLinkStatus extoll_link_expire(ExtollLink *l, int64_t now);
/* Returns the time of the next extoll_link_expire(), or INT64_MAX. */
int64_t extoll_link_deadline(const ExtollLink *l);

/* Returns the oldest packet that has arrived in virtual channel @vc, or NULL. */
static inline ExtollArrived *extoll_link_head(const ExtollLink *l, unsigned vc)
{
    return QSIMPLEQ_FIRST(&l->in[vc].packets);
}
/* Frees the oldest packet of virtual channel @vc, and its room. */
void extoll_link_pop(ExtollLink *l, unsigned vc, int64_t now);

#endif /* RNIC_EXTOLL_LINK_LINK_H */
