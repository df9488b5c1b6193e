/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RDMA receiver: stores blocks, messages and notifications that arrive from other
 * nodes or from this node, and sends acks and nacks.
 */
#ifndef HW_EXANET_ENGINE_RECEIVER_H
#define HW_EXANET_ENGINE_RECEIVER_H

#include "exec/hwaddr.h"
#include "rnic/exanet/regs.h"
#include "fault.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetSource ExanetSource;

/*
 * Time, ns, after which a receiver ignores receiver contexts, tombstones, releases,
 * records of notifications and old epochs, and after which a source without packets is
 * removed.  The firmware of a source limits the timeout of a copy and a back-off to half
 * of this time, and assumes only after twice this time that a receiver that has answered
 * has no state of a TID.
 */
#define EXANET_TID_AGE_NS (60 * (int64_t)NANOSECONDS_PER_SECOND)
/*
 * Distance of sequence numbers by which a receiver distinguishes two blocks of one TID
 * and generation [P].  Copies of a block have successive sequence numbers.  If a source
 * gives up a block and the next block of the TID has the same generation, the source
 * leaves this gap.
 */
#define EXANET_SEQ_GAP 64

/* A receiver context: the state of a block that arrives. */
typedef struct ExanetRxContext {
    uint64_t bitmap;                /* arrived packets, by exanet_packet_bit() */
    uint64_t window;                /* 64-bit address of the 16-KB window of the block */
    uint64_t control[4];            /* P0..P3 of the control packet, host byte order */
    /* ns, arrival of the last packet that was not dropped */
    int64_t time;
    uint32_t src;                   /* coordinates of the source */
    uint32_t bytes;                 /* payload bytes that have arrived */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;                   /* sequence number of the present copy of the block */
    uint16_t pdid;                  /* PDID of the destination */
    uint16_t user;                  /* footer user bits of the packet of @time */
    uint8_t first_idx;              /* bit of the first packet in @bitmap, if @first */
    uint8_t last_idx;               /* bit of the last packet in @bitmap, if @last */
    uint8_t epoch;                  /* epoch of the source */
    uint8_t nack;                   /* nack of copy @seq, enum exanet_resp; 0: none */
    bool valid;                     /* the receiver context is in use */
    bool first;                     /* the first packet has arrived */
    bool last;                      /* the last packet has arrived */
    bool notify;                    /* the block needs a control packet */
    bool control_seen;              /* the control packet has arrived */
} ExanetRxContext;

/*
 * Number of records of delivered notification packets, for each source and each context
 * of this node [P].
 */
#define EXANET_RX_REPORTS 32

typedef struct ExanetReceiver {
    ExanetRxContext ctx[EXANET_RX_CONTEXTS];
    uint32_t ways;                  /* property `ways`: receiver contexts of each set */
    GHashTable *sources;            /* coordinates -> ExanetSource, owned */
    ExanetSource *recent;           /* source that was looked up or added last, or NULL */
    /* Number of sources, by the link of their first packet; EXANET_LINKS: no link. */
    unsigned by_link[EXANET_LINKS + 1];
    /* ns, by link; before this time no source is removed for a new source of the link */
    int64_t full_until[EXANET_LINKS + 1];
    int64_t swept;                  /* ns, last check by exanet_receiver_sweep() */
    struct {
        uint64_t key;               /* fields EXANET_TOMB_* */
        int64_t time;               /* ns, time of the completion */
    } tomb[EXANET_TOMBSTONES];      /* last records of tomb_set(), a ring; debug window */
    unsigned tomb_next;             /* index in @tomb that is written next */
} ExanetReceiver;

extern const ExanetUnit exanet_receiver_unit;
/* Drops all receiver contexts, all tombstones and all sources, without answers. */
void exanet_receiver_reset(ExanetState *s);
/*
 * Processes @pkt, a packet of a block: data for memory, or a control packet.  Sends an
 * ack when the block is complete, another ack for each later copy of a complete block,
 * and a nack if a copy has an error.  Drops and counts other old packets.
 */
void exanet_receiver_rx(ExanetState *s, const ExanetPacket *pkt);
/*
 * Has the effect of exanet_receiver_rx() for each packet of run @pkt.  The payload CRC of
 * the run must be right, and CTRL_STRICT must not be set.
 */
void exanet_receiver_run(ExanetState *s, const ExanetPacket *pkt);
/*
 * Processes @pkt, a message of a packetizer: delivers the message unless the packet is a
 * duplicate, has an error or finds no room, and sends an ack or nack.  Drops and counts
 * without an answer a packet of an older message or of an old epoch.  With CTRL_STRICT,
 * delivers duplicates and older messages too.
 */
void exanet_receiver_message(ExanetState *s, const ExanetPacket *pkt);
/*
 * Processes @pkt, a notification packet of a firmware: delivers the notification unless
 * the packet is a duplicate, has an error or finds no room, and sends an ack or nack.
 * Drops and counts without an answer a packet of a wrong size or of an old epoch.  With
 * CTRL_STRICT, delivers duplicates too.
 */
void exanet_receiver_notification(ExanetState *s, const ExanetPacket *pkt);
/*
 * Processes @pkt, a release packet: frees the receiver context of the released block, if
 * there is one, and records the release.  Ignores @pkt if the source is unknown or has
 * another epoch, or if the receiver context has another block or a later copy.
 */
void exanet_receiver_release(ExanetState *s, const ExanetPacket *pkt);
/*
 * Sets the epoch of the source at coordinates @src to @epoch, which a HELLO advertised.
 * If the epoch differs from the last epoch, drops the state of all blocks, messages,
 * notifications, loads and stores of the source.  Does nothing for an unknown node.
 */
void exanet_receiver_new_epoch(ExanetState *s, uint32_t src, uint8_t epoch);
/*
 * Returns true, and stores the epoch of the node at @coord in *@epoch, if a packet of
 * that node has arrived through a switch within the last EXANET_TID_AGE_NS.  Only packets
 * that passed the check of their context count.
 */
bool exanet_receiver_elsewhere(ExanetState *s, uint32_t coord, uint8_t *epoch);
/*
 * Removes the sources whose member time is older than EXANET_TID_AGE_NS.  Does nothing
 * within a second after the last check, because the timer of each port calls this
 * function.
 */
void exanet_receiver_sweep(ExanetState *s);
/*
 * Return a 64-bit word of the debug window of receiver contexts or of tombstones.  @addr
 * counts from the start of the window, in bytes, and is 8-byte aligned.
 */
uint64_t exanet_receiver_debug_read(ExanetState *s, hwaddr addr);
uint64_t exanet_receiver_tomb_read(ExanetState *s, hwaddr addr);

#endif /* HW_EXANET_ENGINE_RECEIVER_H */
