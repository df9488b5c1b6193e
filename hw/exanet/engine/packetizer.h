/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packetizer: messages of up to 64 bytes, each retransmitted until it is acked.
 */
#ifndef HW_EXANET_ENGINE_PACKETIZER_H
#define HW_EXANET_ENGINE_PACKETIZER_H

#include "exec/hwaddr.h"
#include "qemu/bitmap.h"
#include "../../core/deadline.h"
#include "rnic/exanet/desc.h"
#include "rnic/exanet/regs.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetPktzPeers ExanetPktzPeers;

/* A channel of the packetizer; its registers and payload are in the user page. */
typedef struct ExanetPktzChannel {
    int64_t start;                  /* ns, time when GO was accepted */
    int64_t deadline;               /* ns, time of the next retransmission */
    uint32_t coord;                 /* destination node of the message */
    uint16_t seq;                   /* sequence number of the last copy */
    uint8_t gen;                    /* generation of the message, 6 bits */
    uint8_t timeouts;               /* timeouts since the start or the last nack */
    uint8_t nacks;                  /* nacks of the message, saturating */
    uint8_t resp;                   /* last nack, enum exanet_resp; 0: no nack yet */
    bool sent;                      /* a copy has been sent */
    bool backoff;                   /* @deadline is the end of the wait after a nack */
} ExanetPktzChannel;

#define EXANET_PKTZ_TOTAL (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)

typedef struct ExanetPacketizer {
    ExanetPktzChannel channel[EXANET_PKTZ_TOTAL];   /* context * CHANNELS + number */
    ExanetPktzPeers *peers[EXANET_CONTEXTS];        /* owned; packetizer-peer.c */
    DECLARE_BITMAP(waiting, EXANET_PKTZ_TOTAL);     /* channels with a message */
    DECLARE_BITMAP(send, EXANET_PKTZ_TOTAL);        /* channels with a copy to send */
    unsigned next;                  /* next channel of the round robin */
    RNicDeadline deadline;          /* earliest deadline of a channel */
    bool due;                       /* @deadline has passed */
} ExanetPacketizer;

extern const ExanetUnit exanet_packetizer_unit;
/*
 * Handles a store by the process of context @c to its packetizer page; @addr counts from
 * the start of the page.
 */
void exanet_packetizer_write(ExanetState *s, unsigned c, hwaddr addr,
                             uint64_t value, unsigned size);
/* Takes an ack for the packetizer: an ack with EXANET_NI_PACKETIZER as small address. */
void exanet_packetizer_response(ExanetState *s, const ExanetPacket *pkt);
/*
 * Stores in *@dst the node that may answer the message of wire TID @wire, also if the
 * message has ended.  Returns false if no node may answer.
 */
bool exanet_packetizer_target(ExanetState *s, uint16_t wire, uint32_t *dst);

#endif /* HW_EXANET_ENGINE_PACKETIZER_H */
