/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stubs for unit tests of req.c, req-tx.c and comp.c: the functions of the device's other
 * files, a guest with one QP, and a peer that sends the answers that the test requests.
 */
#ifndef PVRDMA_REQ_DEVICE_H
#define PVRDMA_REQ_DEVICE_H

#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/wire/roce.h"

/* Values that each WQE has.  A test may change RigWqe.remote. */
#define RIG_VA          0x7000000000ULL     /* address in the peer's memory */
#define RIG_RKEY        0x12345678
#define RIG_IMM         0xa1b2c3d4
#define RIG_INV         0x00cafe01
/* Attributes of the QP after rig_start(). */
#define RIG_PEER        0xabcdef
#define RIG_RETRIES     3
#define RIG_RNR_RETRIES 2
#define RIG_TIMEOUT     14

#define RIG_BUDGET      16      /* *@budget of one call of pvrdma_req_run() */
#define RIG_WQES        512
#define RIG_MEMORY      (256 * 1024)

/* A WQE of the guest; rig.wqe[n] has the wr_id n. */
typedef struct RigWqe {
    uint8_t opcode;
    uint8_t flags;              /* PVRDMA_SEND_SIGNALED, unless a test changes @flags */
    uint32_t length;            /* bytes */
    uint32_t at;                /* offset of the WQE's data in rig.memory */
    uint64_t remote;            /* address in the peer's memory */
    uint64_t compare_add, swap;
    uint32_t bad_from;          /* data from this offset on causes LOC_PROT_ERR */
    bool unreadable;            /* the fetch of the WQE fails */
} RigWqe;

/* A packet that the requester sent. */
typedef struct RigPacket {
    RocePacket pkt;
    uint32_t offset;            /* offset of the payload in the message */
    uint32_t len;               /* bytes of payload */
    uint8_t payload[ROCE_MTU_MAX];
} RigPacket;

/* The device and its QP, the state of the guest, settings of the test, and results. */
typedef struct Rig {
    PvrdmaState s;
    PvrdmaQp qp;
    PvrdmaCq cq;
    int64_t now;
    int64_t timer;              /* deadline of the QP's timer, ns; 0: not set */
    unsigned timers;            /* number of times the timer was set */
    bool no_copy;               /* stubs copy no data; messages may exceed @memory */
    uint32_t pages_used;        /* s.pages_used without the requester */
    bool pending_bad;           /* the guest's index is invalid */
    uint8_t local_status;       /* enum pvrdma_wc_status of FAST_REG_MR and LOCAL_INV */
    uint8_t memory[RIG_MEMORY];
    RigWqe wqe[RIG_WQES];
    unsigned posted;            /* WQEs that the guest has posted */
    unsigned consumed;          /* slots that the device has returned to the guest */
    unsigned consumes;          /* number of calls that returned slots */
    GQueue packets;             /* RigPackets that the test has not taken */
    GQueue completions;         /* PvrdmaWcs that the test has not taken */
    unsigned wcs;               /* length of @completions */
    uint64_t written;           /* bytes of READ and atomic responses in memory */
    /* Counts of executed FAST_REG_MR, of executed LOCAL_INV, and of UD sends. */
    unsigned registered, invalidated, datagrams;
    int event;                  /* event with which the QP ended; -1: none */
} Rig;

extern Rig rig;

/* Clears the rig; makes a QP in state RTS with MTU @mtu (bytes) and first PSN @psn. */
void rig_start(uint32_t mtu, uint32_t psn);
/* Asserts that the test has taken all packets and completions; frees the QP. */
void rig_end(void);
/* Posts a signaled WQE, whose wr_id is the number of WQEs posted before. */
RigWqe *rig_post(unsigned opcode, uint32_t length);
/* Runs the requester while the QP is active.  Returns false if the QP was not active. */
bool rig_run(void);
/* Advances the clock by @ns; calls pvrdma_req_timer() at each deadline of the timer. */
void rig_clock(int64_t ns);

/* Returns the oldest packet, which stays in the queue; asserts that there is a packet. */
const RigPacket *rig_peek(void);
/*
 * Takes the oldest packet; asserts its @opcode and @psn.  The result is valid until the
 * next call of rig_sent().
 */
const RigPacket *rig_sent(unsigned opcode, uint32_t psn);
/* As rig_sent(); asserts that the payload is @len bytes of rig.memory from @offset on. */
void rig_sent_data(unsigned opcode, uint32_t psn, uint32_t offset,
                   uint32_t len);
/* As rig_sent(); asserts a READ request for @len bytes from RIG_VA + @offset on. */
void rig_sent_request(uint32_t psn, uint32_t offset, uint32_t len);
/* Drops all packets that the requester sent; returns their number. */
unsigned rig_drop(void);
/* Asserts that no packet is left that the test has not taken. */
void rig_quiet(void);
/*
 * Takes the oldest completion; asserts that it has @wr_id and @status, that a successful
 * WQE was signaled, and that the slot of the WQE was returned before.
 */
void rig_done(uint64_t wr_id, unsigned status);
uint64_t rig_count(enum pvrdma_counter counter);

/* Lets the requester receive an answer of the peer.  Uses only bits 23:0 of @psn. */
void rig_answer(unsigned opcode, uint32_t psn, uint8_t syndrome,
                const void *payload, uint32_t len);
/* Lets the requester receive an ACK of all packets up to and with @psn. */
void rig_ack(uint32_t psn);
/* Lets the requester receive a NAK of packet @psn with NAK code @code. */
void rig_nak(unsigned code, uint32_t psn);
/* Lets the requester receive an RNR NAK of packet @psn with timer code @code. */
void rig_rnr(unsigned code, uint32_t psn);
/*
 * Lets the requester receive a READ response of @len bytes, all of which have the value
 * of the low byte of @psn.
 */
void rig_read(unsigned opcode, uint32_t psn, uint32_t len);
/*
 * Lets the requester receive an atomic response; @original is the value that the peer's
 * memory had before the atomic.
 */
void rig_atomic(uint32_t psn, uint64_t original);

#endif /* PVRDMA_REQ_DEVICE_H */
