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
 * A receiver forgets a TID that was silent for so long; a source neither pauses so
 * long between copies of a block, nor trusts that it is forgotten before twice that.
 */
#define EXANET_TID_AGE_NS (60 * (int64_t)NANOSECONDS_PER_SECOND)
/*
 * Copies of one block have sequence numbers less than EXANET_SEQ_GAP apart.  Those of two
 * blocks of one TID and generation are farther apart [P].
 */
#define EXANET_SEQ_GAP 64

typedef struct ExanetRxContext {
    uint64_t bitmap;
    uint64_t window;                /* full VA of the 16-KB window */
    uint64_t control[4];            /* P0..P3 */
    int64_t time;                   /* last activity, ns */
    uint32_t src;
    uint32_t bytes;
    uint16_t tid;                   /* wire TID */
    uint16_t seq;
    uint16_t pdid;
    uint16_t user;
    uint8_t first_idx;
    uint8_t last_idx;
    uint8_t epoch;
    uint8_t nack;                   /* enum exanet_resp; 0: not nacked */
    bool valid;
    bool first;
    bool last;
    bool notify;
    bool control_seen;
} ExanetRxContext;

/*
 * Delivered notification packets that the receiver remembers for each of its contexts of
 * each node that sends [P].
 */
#define EXANET_RX_REPORTS 32

typedef struct ExanetReceiver {
    ExanetRxContext ctx[EXANET_RX_CONTEXTS];
    uint32_t ways;                  /* property */
    GHashTable *sources;            /* coordinates -> ExanetSource, owned */
    ExanetSource *recent;           /* the one looked up last */
    /* Number of sources by the link of their first packet; EXANET_LINKS: no link. */
    unsigned by_link[EXANET_LINKS + 1];
    int64_t full_until[EXANET_LINKS + 1];   /* ns; no source can be forgotten before */
    int64_t swept;                  /* ns, time of the last sweep of idle sources */
    struct {
        uint64_t key;               /* EXANET_TOMB_ */
        int64_t time;
    } tomb[EXANET_TOMBSTONES];      /* most recent completions, a ring */
    unsigned tomb_next;
} ExanetReceiver;

extern const ExanetUnit exanet_receiver_unit;
void exanet_receiver_reset(ExanetState *s);
/* A packet of a block: data for memory, or a control packet. */
void exanet_receiver_rx(ExanetState *s, const ExanetPacket *pkt);
/* A packet of a packetizer: duplicates, delivery, ack. */
void exanet_receiver_message(ExanetState *s, const ExanetPacket *pkt);
/* A notification packet of others' firmware: duplicates, delivery, ack. */
void exanet_receiver_notification(ExanetState *s, const ExanetPacket *pkt);
/* The source gave a block up: its context goes, unless it is for a newer copy. */
void exanet_receiver_release(ExanetState *s, const ExanetPacket *pkt);
/* HELLO told that the node at @src has a new epoch: forget what it sent before. */
void exanet_receiver_new_epoch(ExanetState *s, uint32_t src, uint8_t epoch);
/*
 * Returns true if the node at @coord has lately sent packets through switches; stores its
 * epoch in *@epoch.
 */
bool exanet_receiver_elsewhere(ExanetState *s, uint32_t coord, uint8_t *epoch);
/* Forgets nodes that have long been silent; the caller calls this periodically. */
void exanet_receiver_sweep(ExanetState *s);
/* Debug windows, @addr from the start of the block, 8-byte aligned. */
uint64_t exanet_receiver_debug_read(ExanetState *s, hwaddr addr);
uint64_t exanet_receiver_tomb_read(ExanetState *s, hwaddr addr);

#endif /* HW_EXANET_ENGINE_RECEIVER_H */
