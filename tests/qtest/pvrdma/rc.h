/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reliable connection between a QP of the device and the test, which is the peer on the
 * wire.  Functions accept any PSN, and use the PSN modulo 2^24.  "The region" is @rc->mr.
 */
#ifndef PVRDMA_RC_H
#define PVRDMA_RC_H

#include "verbs.h"

#define RC_MTU          1024
#define RC_PEER_QPN     0xabcdef
/* Address and key of the peer's memory that the device accesses. */
#define RC_PEER_VA      0x123456789000ULL
#define RC_PEER_RKEY    0x13572468

typedef struct Rc {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    RocePath path;                  /* addresses in the frames that the peer sends */
    uint8_t *data;                  /* contents of @mr after rc_start() */
} Rc;

typedef struct RcInit {
    uint32_t bytes;                 /* size of the region @mr */
    uint32_t sq_psn;                /* first PSN that the device sends */
    uint32_t rq_psn;                /* first PSN that the device expects */
    uint8_t retry_cnt;              /* as in PvrdmaTestQpAttr: 0 is the default */
} RcInit;

/* Starts a machine, makes the objects of @rc, and connects @rc->qp to the peer. */
void rc_start(Rc *rc, const RcInit *init);
/* Asserts that the test has taken all completions and frames, and ends QEMU. */
void rc_stop(Rc *rc);

/*
 * Posts a send WQE with @opcode for @len bytes of the region from @offset on; the address
 * in the peer's memory is RC_PEER_VA.
 */
void rc_post(Rc *rc, uint64_t wr_id, enum pvrdma_wr_opcode opcode,
             uint32_t offset, uint32_t len);
/*
 * Takes the next packet of the device; asserts its @opcode and @psn, that its payload
 * is the @len bytes of @rc->data from @offset on, and the length of its frame.
 */
void rc_sent(Rc *rc, uint8_t opcode, uint32_t psn, uint32_t offset, uint32_t len);
/*
 * Takes packets @first to @end - 1 of a WRITE of @count packets that starts at @psn, and
 * whose data are the first bytes of the region.
 */
void rc_sent_write(Rc *rc, uint32_t psn, unsigned first, unsigned end, unsigned count);
/*
 * Takes the next packet of the device; asserts that it is a READ request with @psn for
 * @len bytes at RC_PEER_VA + @offset.
 */
void rc_asked(Rc *rc, uint32_t psn, uint32_t offset, uint32_t len);
/*
 * Take the next packet of the device; assert that it is an ACK (acked), or a NAK with
 * @code (naked), of @psn.
 */
void rc_acked(Rc *rc, uint32_t psn);
void rc_naked(Rc *rc, uint32_t psn, enum roce_nak code);
/* Waits for the next completion; asserts @wr_id and @status. */
void rc_done(Rc *rc, uint64_t wr_id, enum pvrdma_wc_status status);
/* Asserts that each of @len bytes of the region from @offset on is @byte. */
void rc_assert_filled(Rc *rc, uint32_t offset, uint8_t byte, uint32_t len);

/*
 * Sends @pkt with @len bytes of @payload as the peer, with the default P_Key.  The
 * destination is @pkt->qpn, or @rc->qp if @pkt->qpn is 0.
 */
void rc_send(Rc *rc, const RocePacket *pkt, const void *payload, size_t len);
/*
 * Sends a packet of RC_MTU bytes @byte that asks for an ACK.  The target of a WRITE is
 * RC_PARTS packets at RC_PART_OFFSET of the region.
 */
#define RC_PARTS        3
#define RC_PART_OFFSET  (64 * RC_MTU)
void rc_send_part(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t byte);
void rc_aeth(Rc *rc, uint32_t psn, enum roce_aeth_kind kind, unsigned value);
void rc_ack(Rc *rc, uint32_t psn);
/*
 * Sends a packet with @opcode of the response to a READ; each of its @len bytes (at most
 * 2 * RC_MTU) is @byte.
 */
void rc_response(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t byte, uint32_t len);

#endif /* PVRDMA_RC_H */
