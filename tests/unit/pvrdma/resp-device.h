/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the responder of pvrdma needs around it: one QP with a region, receive WQEs and
 * a completion queue, a wire on which the test is the peer, and a clock that it sets.
 */
#ifndef PVRDMA_RESP_DEVICE_H
#define PVRDMA_RESP_DEVICE_H

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/base/event.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/wire/roce.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define BED_MTU         256
#define BED_MEM         (64 * 1024)     /* bytes of the region */
#define BED_GUARD       4096            /* bytes beside it that stay as they are */
#define BED_VA          0x7f0000001000ull
#define BED_KEY         0x4711
#define BED_LKEY        0x815
#define BED_QPN         0x050003
#define BED_HANDLE      3
#define BED_PEER_QPN    0x123456
#define BED_PSN         0xfffffe        /* the wrap is never far */
#define BED_ACCESS      (PVRDMA_ACCESS_REMOTE_WRITE | \
                         PVRDMA_ACCESS_REMOTE_READ | \
                         PVRDMA_ACCESS_REMOTE_ATOMIC)
#define BED_RNR         14              /* min_rnr_timer */
#define BED_DEPTH       64              /* of the receive queue */
#define BED_BUFFER      8192            /* bytes of a receive buffer */

/* What the device sent, payload copied. */
typedef struct BedSent {
    RocePath path;
    RocePacket pkt;
    uint8_t payload[ROCE_MTU_MAX];
} BedSent;

typedef struct Bed {
    PvrdmaState s;
    PvrdmaQp qp;
    PvrdmaCq cq;
    RocePath path;                  /* of the peer's packets */
    /* The region. */
    uint8_t *guarded, *mem;
    uint32_t access;
    bool mr_gone, bus_error;
    uint32_t invalidated;
    /* The receive queue. */
    uint8_t buffer[BED_DEPTH][BED_BUFFER];
    PvrdmaRqe rqe[BED_DEPTH];
    unsigned posted, fetched;
    bool rq_broken;
    uint8_t sg_status;
    /* What came of it. */
    GQueue wc, sent;
    unsigned events, activations, responses, datagrams;
    enum pvrdma_event event;
    bool cq_full, congested;
    uint8_t frame[ROCE_FRAME_MAX];  /* that is being built */
    size_t payload_at;
    int64_t now;
} Bed;

/* A connection in RTS. */
Bed *bed_new(void);
/* Also checks that nothing beside the region was touched, and that all was looked at. */
void bed_free(Bed *bed);

/* Something that tells byte @i of packet @seed from others. */
uint8_t bed_byte(uint32_t seed, size_t i);

/*
 * A packet of the peer, as a frame; without payload but with a length it has
 * bed_byte(PSN).  QPN, P_Key and path are right unless they are set.
 */
void bed_peer(Bed *bed, const RocePacket *pkt);
void bed_frame(Bed *bed, const RocePath *path, const RocePacket *pkt);
#define PEER(bed, op, number, ...) \
    bed_peer(bed, &(RocePacket) { \
        .opcode = ROCE_OP_##op, .psn = (number) & ROCE_PSN_MASK, \
        .qpn = BED_QPN, .pkey = ROCE_PKEY_DEFAULT, ##__VA_ARGS__ })

/* Posts a WQE with @sges elements of @len bytes; its wr_id is its number. */
void bed_receive(Bed *bed, unsigned sges, uint32_t len);
/* Lets the device send up to @budget packets; whether it would go on. */
bool bed_run_some(Bed *bed, unsigned budget);
void bed_run(Bed *bed);

/* The next packet that was sent; the caller frees it. */
BedSent *bed_sent(Bed *bed);
/* The next packet is an acknowledgement that says so. */
void bed_expect_answer(Bed *bed, uint8_t syndrome, uint32_t psn, uint32_t msn);
#define EXPECT_ACK(bed, psn, msn) \
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS), \
                      psn, msn)
#define EXPECT_NAK(bed, nak, psn, msn) \
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_##nak), psn, msn)
#define EXPECT_RNR(bed, psn, msn) \
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_RNR_NAK, BED_RNR), psn, msn)
/* The next packet is of a READ's response, with @len bytes of memory from @va on. */
void bed_expect_read(Bed *bed, enum roce_opcode opcode, uint32_t psn,
                     uint64_t va, uint32_t len);
/* The device has nothing to send, and has not sent anything else. */
void bed_expect_quiet(Bed *bed);

/* The next completion; the caller frees it. */
PvrdmaWc *bed_wc(Bed *bed);
/* The next completion is of WQE @wr_id and not good. */
void bed_expect_failed(Bed *bed, uint64_t wr_id, enum pvrdma_wc_status status);
uint64_t bed_counter(Bed *bed, enum pvrdma_counter counter);
/* @len bytes of the region at @va are those of the packet with @seed, from @from on. */
void bed_expect_memory(Bed *bed, uint64_t va, uint32_t seed, size_t from,
                       size_t len);

#endif
