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
    int64_t start;                  /* ns, when GO was accepted */
    int64_t deadline;               /* ns, when it is sent again */
    uint32_t coord;                 /* destination node of the message */
    uint16_t seq;                   /* of the last packet */
    uint8_t gen;                    /* 6 bits */
    uint8_t timeouts;               /* without any answer in between */
    uint8_t nacks;                  /* answers without success, saturating */
    uint8_t resp;                   /* last answer */
    bool sent;                      /* at least once */
    bool backoff;                   /* @deadline follows a nack */
} ExanetPktzChannel;

#define EXANET_PKTZ_TOTAL (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)

typedef struct ExanetPacketizer {
    ExanetPktzChannel channel[EXANET_PKTZ_TOTAL];   /* by context, then number */
    ExanetPktzPeers *peers[EXANET_CONTEXTS];        /* owned; packetizer-peer.c */
    DECLARE_BITMAP(waiting, EXANET_PKTZ_TOTAL);     /* not done yet */
    DECLARE_BITMAP(send, EXANET_PKTZ_TOTAL);        /* when there is room */
    unsigned next;                  /* the round robin goes on here */
    RNicDeadline deadline;          /* of all channels */
    bool due;                       /* the timer has fired */
} ExanetPacketizer;

extern const ExanetUnit exanet_packetizer_unit;
void exanet_packetizer_write(ExanetState *s, unsigned c, hwaddr addr,
                             uint64_t value, unsigned size);
/* An ack with small address of NI index 3 arrived. */
void exanet_packetizer_response(ExanetState *s, const ExanetPacket *pkt);
/* Where the message of wire TID @wire goes; false when none with it waits. */
bool exanet_packetizer_target(ExanetState *s, uint16_t wire, uint32_t *dst);

#endif /* HW_EXANET_ENGINE_PACKETIZER_H */
