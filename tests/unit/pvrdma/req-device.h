/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What req.c and comp.c need around them, scripted: the functions of the device's other
 * files, a guest with one QP, and a peer that says what the test wants.
 */
#ifndef PVRDMA_REQ_DEVICE_H
#define PVRDMA_REQ_DEVICE_H

#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/wire/roce.h"

/* What every WQE has, unless the test changes it. */
#define RIG_VA          0x7000000000ULL     /* of the peer */
#define RIG_RKEY        0x12345678
#define RIG_IMM         0xa1b2c3d4
#define RIG_INV         0x00cafe01
/* Attributes of the QP, likewise. */
#define RIG_PEER        0xabcdef
#define RIG_RETRIES     3
#define RIG_RNR_RETRIES 2
#define RIG_TIMEOUT     14

#define RIG_BUDGET      16      /* packets that may be sent at a time */
#define RIG_WQES        512
#define RIG_MEMORY      (256 * 1024)

typedef struct RigWqe {
    uint8_t opcode;
    uint8_t flags;              /* SIGNALED, unless the test changes it */
    uint32_t length;
    uint32_t at;                /* where its data are in memory */
    uint64_t remote;
    uint64_t compare_add, swap;
    uint32_t bad_from;          /* bytes from here on have no memory */
    bool unreadable;
} RigWqe;

typedef struct RigPacket {
    RocePacket pkt;
    uint32_t offset;            /* of its payload in the message */
    uint32_t len;
    uint8_t payload[ROCE_MTU_MAX];
} RigPacket;

/* The guest's side, and what came of it. */
typedef struct Rig {
    PvrdmaState s;
    PvrdmaQp qp;
    PvrdmaCq cq;
    int64_t now;
    int64_t timer;              /* 0: not set */
    unsigned timers;            /* times it was set */
    bool no_copy;               /* messages that are larger than memory */
    uint32_t pages_used;        /* by all else */
    bool pending_bad;           /* the guest's index is impossible */
    uint8_t local_status;       /* of FAST_REG_MR and LOCAL_INV */
    uint8_t memory[RIG_MEMORY];
    RigWqe wqe[RIG_WQES];
    unsigned posted;            /* WQEs */
    unsigned consumed;          /* slots given back, */
    unsigned consumes;          /* in so many calls */
    GQueue packets;             /* RigPacket that were sent and not looked at */
    GQueue completions;         /* PvrdmaWc */
    unsigned wcs;               /* of them */
    uint64_t written;           /* bytes of READ responses */
    unsigned registered, invalidated, datagrams;
    int event;
} Rig;

extern Rig rig;

/* A new QP in RTS. */
void rig_start(uint32_t mtu, uint32_t psn);
/* Nothing is left that was not looked at. */
void rig_end(void);
/* Posts a WQE; its number is its wr_id. */
RigWqe *rig_post(unsigned opcode, uint32_t length);
/* Sends what there is to send; false: the QP had nothing to do. */
bool rig_run(void);
/* Lets time go on, and the timer fire. */
void rig_clock(int64_t ns);

/* The next packet; asserts that there is one. */
const RigPacket *rig_peek(void);
/* Takes it; asserts what it is. */
const RigPacket *rig_sent(unsigned opcode, uint32_t psn);
/* Takes it, with @len bytes of memory from @offset on. */
void rig_sent_data(unsigned opcode, uint32_t psn, uint32_t offset,
                   uint32_t len);
/* Takes it, a request for @len bytes at @offset of the message. */
void rig_sent_request(uint32_t psn, uint32_t offset, uint32_t len);
/* Takes all; returns how many. */
unsigned rig_drop(void);
/* Asserts that nothing was sent. */
void rig_quiet(void);
/* Takes the next completion; asserts what it is. */
void rig_done(uint64_t wr_id, unsigned status);
uint64_t rig_count(enum pvrdma_counter counter);

/* Answers. */
void rig_answer(unsigned opcode, uint32_t psn, uint8_t syndrome,
                const void *payload, uint32_t len);
void rig_ack(uint32_t psn);
void rig_nak(unsigned code, uint32_t psn);
void rig_rnr(unsigned code, uint32_t psn);
void rig_read(unsigned opcode, uint32_t psn, uint32_t len);
void rig_atomic(uint32_t psn, uint64_t original);

#endif /* PVRDMA_REQ_DEVICE_H */
