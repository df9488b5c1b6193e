/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packetizer: sends messages of up to 64 bytes.  The packetizer retransmits a
 * message with flag PKTZ_ACK until the message is acked or has failed.
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
    int64_t deadline;               /* ns, end of the timeout or of the back-off */
    uint32_t coord;                 /* coordinates of the message's destination */
    uint16_t seq;                   /* sequence number of the last copy, from 0 */
    uint8_t gen;                    /* generation of the last message, 6 bits */
    uint8_t timeouts;               /* timeouts since the start or the last nack */
    uint8_t nacks;                  /* nacks of the message, at most 255 */
    uint8_t resp;                   /* last nack, enum exanet_resp; 0: no nack yet */
    bool sent;                      /* a copy was sent or, without a route, dropped */
    bool backoff;                   /* @deadline ends the back-off after a nack */
} ExanetPktzChannel;

#define EXANET_PKTZ_TOTAL (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)

typedef struct ExanetPacketizer {
    /* by context, then by number in the context */
    ExanetPktzChannel channel[EXANET_PKTZ_TOTAL];
    ExanetPktzPeers *peers[EXANET_CONTEXTS];        /* owned; see packetizer-peer.c */
    /* channels with a message that has not ended */
    DECLARE_BITMAP(waiting, EXANET_PKTZ_TOTAL);
    DECLARE_BITMAP(send, EXANET_PKTZ_TOTAL);        /* channels with a copy to send */
    unsigned next;                  /* index of the channel that may send first */
    RNicDeadline deadline;          /* timer for the earliest deadline of all channels */
    bool due;                       /* the timer has fired since the last check */
} ExanetPacketizer;

extern const ExanetUnit exanet_packetizer_unit;
/*
 * Executes a store of @value by software to the packetizer page of context @c.  @addr is
 * an offset in bytes from the start of the page; @size is in bytes.  Ignores a store that
 * is not aligned, has less than 4 bytes, or is not to DST, CTRL or the payload of a
 * channel; a store to a channel whose message has not ended (counts GO in MSG_BUSY); and
 * all stores if the context is disabled.  A store of GO to CTRL begins a message, or sets
 * status FAILED if the message is refused.
 */
void exanet_packetizer_write(ExanetState *s, unsigned c, hwaddr addr,
                             uint64_t value, unsigned size);
/*
 * Processes @pkt, an ack or nack of a message: ends the message, or makes the packetizer
 * send another copy later.  An answer with another epoch than that of this node, with an
 * unknown code, or not to the last copy of a message that waits, does not change a
 * message, and is counted in ACK_STALE.
 */
void exanet_packetizer_response(ExanetState *s, const ExanetPacket *pkt);
/*
 * Stores in *@dst the coordinates of the node that may still answer the message of wire
 * TID @wire, even if the message has ended.  Returns false if no node may still answer.
 */
bool exanet_packetizer_target(ExanetState *s, uint16_t wire, uint32_t *dst);

#endif /* HW_EXANET_ENGINE_PACKETIZER_H */
