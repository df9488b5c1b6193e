/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reliable connection between the device and the test, which is the peer on the wire.
 * Functions take PSNs modulo 2^24.
 */
#ifndef PVRDMA_RC_H
#define PVRDMA_RC_H

#include "verbs.h"

#define RC_MTU          1024
#define RC_PEER_QPN     0xabcdef
/* Memory of the peer that the device accesses. */
#define RC_PEER_VA      0x123456789000ULL
#define RC_PEER_RKEY    0x13572468

typedef struct Rc {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    RocePath path;                  /* addresses of the frames that the peer sends */
    uint8_t *data;                  /* contents of the region at the start */
} Rc;

typedef struct RcInit {
    uint32_t bytes;                 /* bytes of the region */
    uint32_t sq_psn;                /* first PSN that the device sends */
    uint32_t rq_psn;                /* first PSN that the device expects */
    uint8_t retry_cnt;              /* as in PvrdmaTestQpAttr */
} RcInit;

/* Starts a machine, and connects a QP to the peer. */
void rc_start(Rc *rc, const RcInit *init);
/* Asserts that no completion or frame is left, and ends QEMU. */
void rc_stop(Rc *rc);

/* Posts a send WQE with @opcode for @len bytes of the region. */
void rc_post(Rc *rc, uint64_t wr_id, enum pvrdma_wr_opcode opcode,
             uint32_t offset, uint32_t len);
/* Takes a packet; asserts that it has @len bytes of the region from @offset on. */
void rc_sent(Rc *rc, uint8_t opcode, uint32_t psn, uint32_t offset, uint32_t len);
/* Takes a READ request; asserts its @psn, and @len bytes at RC_PEER_VA + @offset. */
void rc_asked(Rc *rc, uint32_t psn, uint32_t offset, uint32_t len);
/* Take a frame; assert that it is an ACK, or a NAK with @code, of @psn. */
void rc_acked(Rc *rc, uint32_t psn);
void rc_naked(Rc *rc, uint32_t psn, enum roce_nak code);
/* Waits for the next completion; asserts @wr_id and @status. */
void rc_done(Rc *rc, uint64_t wr_id, enum pvrdma_wc_status status);
/* Asserts that @len bytes of the region from @offset on are @byte. */
void rc_assert_filled(Rc *rc, uint32_t offset, uint8_t byte, uint32_t len);

/* Sends @pkt as the peer, to the device's QP unless @pkt has a QPN. */
void rc_send(Rc *rc, const RocePacket *pkt, const void *payload, size_t len);
void rc_aeth(Rc *rc, uint32_t psn, enum roce_aeth_kind kind, unsigned value);
void rc_ack(Rc *rc, uint32_t psn);
/* Sends a packet of the response to a READ: @len bytes of @byte, at most two MTUs. */
void rc_response(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t byte, uint32_t len);

#endif /* PVRDMA_RC_H */
