/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reliable connection between the device and the test, which is the peer on the wire.
 * PSNs may be too large by a few: they wrap.
 */
#ifndef PVRDMA_RC_H
#define PVRDMA_RC_H

#include "verbs.h"

#define RC_MTU          1024
#define RC_PEER_QPN     0xabcdef
/* What the device is asked to access. */
#define RC_PEER_VA      0x123456789000ULL
#define RC_PEER_RKEY    0x13572468

typedef struct Rc {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    RocePath path;                  /* of what the peer sends */
    uint8_t *data;                  /* what is in the region at the start */
} Rc;

typedef struct RcInit {
    uint32_t bytes;                 /* of the region */
    uint32_t sq_psn;                /* the device sends from here on, */
    uint32_t rq_psn;                /* and expects this */
    uint8_t retry_cnt;              /* as in PvrdmaTestQpAttr */
} RcInit;

/* Starts a machine, too. */
void rc_start(Rc *rc, const RcInit *init);
/* Nothing is left in the CQ or on the wire. */
void rc_stop(Rc *rc);

/* The device is asked to do @opcode with @len bytes of its region. */
void rc_post(Rc *rc, uint64_t wr_id, enum pvrdma_wr_opcode opcode,
             uint32_t offset, uint32_t len);
/* The device sent this packet, and it has @len bytes of the region from @offset on. */
void rc_sent(Rc *rc, uint8_t opcode, uint32_t psn, uint32_t offset, uint32_t len);
/* The device asked for @len bytes at @offset. */
void rc_asked(Rc *rc, uint32_t psn, uint32_t offset, uint32_t len);
/* It acknowledged; or refused. */
void rc_acked(Rc *rc, uint32_t psn);
void rc_naked(Rc *rc, uint32_t psn, enum roce_nak code);
/* The next completion. */
void rc_done(Rc *rc, uint64_t wr_id, enum pvrdma_wc_status status);
/* @len bytes of the region from @offset on are @byte. */
void rc_assert_filled(Rc *rc, uint32_t offset, uint8_t byte, uint32_t len);

/* The peer sends @pkt, whose QPN is the device's unless it is set. */
void rc_send(Rc *rc, const RocePacket *pkt, const void *payload, size_t len);
void rc_aeth(Rc *rc, uint32_t psn, enum roce_aeth_kind kind, unsigned value);
void rc_ack(Rc *rc, uint32_t psn);
/* A part of the response to a READ: up to two MTUs of @byte. */
void rc_response(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t byte, uint32_t len);

#endif /* PVRDMA_RC_H */
