/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stubs for unit tests of the responder of pvrdma: one QP with a region, receive WQEs and
 * a CQ. The test is the peer at the other end of the wire, and sets the clock.
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
#define BED_GUARD       4096            /* bytes before and behind the region */
#define BED_VA          0x7f0000001000ull
#define BED_KEY         0x4711
#define BED_LKEY        0x815
#define BED_QPN         0x050003
#define BED_HANDLE      3
#define BED_PEER_QPN    0x123456
#define BED_PSN         0xfffffe        /* first PSN; PSNs wrap after two packets */
#define BED_ACCESS      (PVRDMA_ACCESS_REMOTE_WRITE | \
                         PVRDMA_ACCESS_REMOTE_READ | \
                         PVRDMA_ACCESS_REMOTE_ATOMIC)
#define BED_RNR         14              /* min_rnr_timer of the QP */
#define BED_DEPTH       64              /* WQEs of the receive queue */
#define BED_BUFFER      8192            /* bytes of buffer of a receive WQE */

/* A packet that the device sent.  pkt.payload is NULL; member payload has the bytes. */
typedef struct BedSent {
    RocePath path;
    RocePacket pkt;
    uint8_t payload[ROCE_MTU_MAX];
} BedSent;

typedef struct Bed {
    PvrdmaState s;
    PvrdmaQp qp;
    PvrdmaCq cq;
    RocePath path;                  /* path of frames from the peer */
    /*
     * The region: memory @mem, between two guards in @guarded, and its rights @access.
     * Tests set errors: the region does not exist, or each access fails.  An invalidation
     * sets @mr_gone, too.
     */
    uint8_t *guarded, *mem;
    uint32_t access;
    bool mr_gone, bus_error;
    uint32_t invalidated;           /* last key that SEND_WITH_INV invalidated */
    /* The receive queue: buffers, WQEs, and errors that a test sets. */
    uint8_t buffer[BED_DEPTH][BED_BUFFER];
    PvrdmaRqe rqe[BED_DEPTH];
    unsigned posted, fetched;
    bool rq_broken;
    uint8_t sg_status;
    /* Results: PvrdmaWcs and BedSents that the test has not taken; counts of calls. */
    GQueue wc, sent;
    unsigned events, activations, responses, datagrams;
    enum pvrdma_event event;
    /* Set by a test: the CQ is full; DCQCN forbids the QP to send payload. */
    bool cq_full, congested;
    uint8_t frame[ROCE_FRAME_MAX];  /* frame that the device is building */
    size_t payload_at;
    int64_t now;                    /* virtual time, ns */
} Bed;

/* Creates a Bed with an RC QP in state RTS.  The caller frees the Bed by bed_free(). */
Bed *bed_new(void);
/*
 * Frees @bed.  Asserts that the guards are unchanged, that bed_run() sends nothing, and
 * that the test has taken all packets and completions.
 */
void bed_free(Bed *bed);

/*
 * Returns byte @i of the pattern of packet @seed, which equals byte @i - 1 of the next
 * packet.
 */
uint8_t bed_byte(uint32_t seed, size_t i);

/*
 * Builds a frame of the peer from @pkt, and lets the device receive the frame.  If @pkt
 * has a payload_len but no payload, the payload is the pattern bed_byte() of the packet's
 * PSN.  bed_frame() uses @path, bed_peer() the path of the peer.  PEER() sets QPN and
 * P_Key, but further arguments may set other values.
 */
void bed_peer(Bed *bed, const RocePacket *pkt);
void bed_frame(Bed *bed, const RocePath *path, const RocePacket *pkt);
#define PEER(bed, op, number, ...) \
    bed_peer(bed, &(RocePacket) { \
        .opcode = ROCE_OP_##op, .psn = (number) & ROCE_PSN_MASK, \
        .qpn = BED_QPN, .pkey = ROCE_PKEY_DEFAULT, ##__VA_ARGS__ })

/*
 * Posts a receive WQE with @sges elements of @len bytes.  Its wr_id is the number of WQEs
 * that were posted before.
 */
void bed_receive(Bed *bed, unsigned sges, uint32_t len);
/* Runs the responder once with @budget; returns the result of pvrdma_resp_run(). */
bool bed_run_some(Bed *bed, unsigned budget);
/*
 * Lets the responder send all packets, except those that DCQCN delays; asserts that the
 * port has accepted the packets.
 */
void bed_run(Bed *bed);

/*
 * Takes the oldest packet that the device sent; asserts that such a packet exists.  The
 * caller frees the packet.
 */
BedSent *bed_sent(Bed *bed);
/*
 * Runs the responder and takes the next packet; asserts that it is an acknowledgement or
 * NAK with @syndrome, @psn and @msn.
 */
void bed_expect_answer(Bed *bed, uint8_t syndrome, uint32_t psn, uint32_t msn);
#define EXPECT_ACK(bed, psn, msn) \
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS), \
                      psn, msn)
#define EXPECT_NAK(bed, nak, psn, msn) \
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_##nak), psn, msn)
#define EXPECT_RNR(bed, psn, msn) \
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_RNR_NAK, BED_RNR), psn, msn)
/*
 * Runs the responder and takes the next packet; asserts that it has @opcode and @psn, and
 * that its payload is the @len bytes of the region at @va.
 */
void bed_expect_read(Bed *bed, enum roce_opcode opcode, uint32_t psn,
                     uint64_t va, uint32_t len);
/* Runs the responder; asserts that no packet is left that the test has not taken. */
void bed_expect_quiet(Bed *bed);

/* Takes the oldest completion; asserts that one exists.  The caller frees the result. */
PvrdmaWc *bed_wc(Bed *bed);
/* Takes the oldest completion; asserts that it has @wr_id and @status. */
void bed_expect_failed(Bed *bed, uint64_t wr_id, enum pvrdma_wc_status status);
uint64_t bed_counter(Bed *bed, enum pvrdma_counter counter);
/*
 * Asserts that @len bytes of the region at @va have the pattern of packet @seed, from
 * byte @from of the pattern on.
 */
void bed_expect_memory(Bed *bed, uint64_t va, uint32_t seed, size_t from,
                       size_t len);

#endif
