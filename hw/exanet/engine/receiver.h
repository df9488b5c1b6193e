/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet RDMA receiver: blocks, messages and notifications of other nodes.
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
 * Time without packets after which a receiver drops the state of a TID.  A source sends
 * copies of a block at shorter intervals, and relies on the drop only after twice this
 * time.
 */
#define EXANET_TID_AGE_NS (60 * (int64_t)NANOSECONDS_PER_SECOND)
/*
 * Copies of one block have sequence numbers less than EXANET_SEQ_GAP apart.  Copies of
 * two blocks of one TID and generation are at least EXANET_SEQ_GAP apart [P].
 */
#define EXANET_SEQ_GAP 64

/* A receiver context: the state of a block that arrives. */
typedef struct ExanetRxContext {
    uint64_t bitmap;                /* arrived packets, by exanet_packet_bit() */
    uint64_t window;                /* 64-bit address of the 16-KB window */
    uint64_t control[4];            /* payload of the control packet, P0..P3 */
    int64_t time;                   /* ns, time of the last packet */
    uint32_t src;                   /* coordinates of the source */
    uint32_t bytes;                 /* payload bytes that have arrived */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;                   /* sequence number of the copy */
    uint16_t pdid;
    uint16_t user;                  /* footer user bits of the last packet */
    uint8_t first_idx;              /* bit number of the first packet; valid if @first */
    uint8_t last_idx;               /* bit number of the last packet; valid if @last */
    uint8_t epoch;                  /* epoch of the source */
    uint8_t nack;                   /* enum exanet_resp; 0: not nacked */
    bool valid;
    bool first;                     /* the first packet has arrived */
    bool last;                      /* the last packet has arrived */
    bool notify;                    /* the block has a control packet */
    bool control_seen;              /* the control packet has arrived */
} ExanetRxContext;

/*
 * Records of delivered notification packets that the receiver keeps for each source and
 * each context of this node [P].
 */
#define EXANET_RX_REPORTS 32

typedef struct ExanetReceiver {
    ExanetRxContext ctx[EXANET_RX_CONTEXTS];
    uint32_t ways;                  /* property: receiver contexts of a set */
    GHashTable *sources;            /* coordinates -> ExanetSource, owned */
    ExanetSource *recent;           /* result of the last lookup, or NULL */
    /* Number of sources by the link of their first packet; EXANET_LINKS: no link. */
    unsigned by_link[EXANET_LINKS + 1];
    /* ns; before this time no source can be removed for a source of the link */
    int64_t full_until[EXANET_LINKS + 1];
    int64_t swept;                  /* ns, time of the last sweep of idle sources */
    struct {
        uint64_t key;               /* fields EXANET_TOMB_ */
        int64_t time;
    } tomb[EXANET_TOMBSTONES];      /* most recent completions, a ring */
    unsigned tomb_next;             /* index of the oldest element of @tomb */
} ExanetReceiver;

extern const ExanetUnit exanet_receiver_unit;
/* Drops all receiver contexts, all tombstones and all sources. */
void exanet_receiver_reset(ExanetState *s);
/* Takes a packet of a block: data for memory, or a control packet.  Sends acks. */
void exanet_receiver_rx(ExanetState *s, const ExanetPacket *pkt);
/* Takes a packet of a packetizer: detects duplicates, delivers, sends the ack. */
void exanet_receiver_message(ExanetState *s, const ExanetPacket *pkt);
/* Takes a notification packet of a firmware: detects duplicates, delivers, acks. */
void exanet_receiver_notification(ExanetState *s, const ExanetPacket *pkt);
/*
 * Takes a release packet: drops the receiver context of its block, unless a later block
 * or copy has arrived.
 */
void exanet_receiver_release(ExanetState *s, const ExanetPacket *pkt);
/*
 * Sets the epoch of the node at @src, which a HELLO advertised.  If the epoch is new,
 * drops the old state of the node.
 */
void exanet_receiver_new_epoch(ExanetState *s, uint32_t src, uint8_t epoch);
/*
 * Returns true if packets of the node at @coord have arrived through switches within
 * EXANET_TID_AGE_NS; stores the node's epoch in *@epoch.
 */
bool exanet_receiver_elsewhere(ExanetState *s, uint32_t coord, uint8_t *epoch);
/* Removes sources without packets for EXANET_TID_AGE_NS; called periodically. */
void exanet_receiver_sweep(ExanetState *s);
/*
 * Return a 64-bit word of the debug window of receiver contexts or of tombstones.  @addr
 * counts from the start of the window, in bytes, and is 8-byte aligned.
 */
uint64_t exanet_receiver_debug_read(ExanetState *s, hwaddr addr);
uint64_t exanet_receiver_tomb_read(ExanetState *s, hwaddr addr);

#endif /* HW_EXANET_ENGINE_RECEIVER_H */
