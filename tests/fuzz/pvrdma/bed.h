/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bed for fuzz targets of a whole pvrdma: the device in a box, a kernel, two processes
 * and two nodes.
 *
 * Process EVIL and node EVIL_NODE do what a target says.  Process HONEST, in another
 * protection domain, is connected to node HONEST_NODE, which answers requests at once.
 * Node EVIL_NODE keeps requests until the target lets the node answer.
 */
#ifndef TESTS_FUZZ_PVRDMA_BED_H
#define TESTS_FUZZ_PVRDMA_BED_H

#include "../box.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/wire/roce.h"

/* --- Programs: mutate.c --------------------------------------------------- */

/*
 * The input of a target is a program: the first byte has flags, records of BED_OP_BYTES
 * follow, one for each operation.  The first byte of a record is the operation.
 */
#define BED_OP_BYTES    32
extern const uint8_t bed_program_flags;     /* of the target */

/* --- Memory: pages of RAM ------------------------------------------------------ */

enum {
    BED_PAGE_DSR = 1, BED_PAGE_CMD, BED_PAGE_RESP,
    BED_PAGE_DIR, BED_PAGE_TABLE,           /* page directory of the next command */
    BED_PAGE_ASYNC = 6, BED_PAGE_CQNE = 8,  /* two pages each */
    BED_PAGE_EVIL = 10,                     /* CQs, QPs, SRQ of the process */
    BED_PAGE_EVIL_DATA = 28,
    BED_PAGE_HONEST = 44,                   /* CQ, QP of the process */
    BED_PAGE_HONEST_DATA = 49,
    BED_PAGE_END = 53,
};
#define BED_DATA_PAGES  (BED_PAGE_HONEST - BED_PAGE_EVIL_DATA)
#define BED_DATA_BYTES  (BED_DATA_PAGES * PVRDMA_PAGE_BYTES)
#define BED_VA          0x10000000ULL       /* of each region's first byte */

static inline uint64_t bed_page(unsigned page)
{
    return (uint64_t)page * PVRDMA_PAGE_BYTES;
}

/* Content of each 8 bytes of HONEST's memory: each byte has bit 7. */
#define BED_SECRET      0xd7a1f3869cb5e8c2ULL
/* Bytes of EVIL, so that no program can contain the secret. */
#define BED_EVIL_BYTE(x) ((x) & 0x7f)

/* --- Objects ------------------------------------------------------------------- */

#define BED_UAR_EVIL    1                   /* pages of BAR 2 */
#define BED_UAR_HONEST  2

/* Objects of EVIL are first. */
enum { BED_CQ_EVIL = 2, BED_CQ_HONEST = BED_CQ_EVIL, BED_CQS };
enum { BED_MR_EVIL = 2, BED_MR_HONEST = BED_MR_EVIL, BED_MRS };
enum { BED_QP_EVIL = 4, BED_QP_HONEST = BED_QP_EVIL, BED_QPS };
/* QPs of EVIL: to EVIL_NODE, to each other (LOOP and SRQ), datagrams. */
enum { BED_QP_PEER, BED_QP_LOOP, BED_QP_UD, BED_QP_SRQ };

#define BED_WQES        16                  /* of each work queue */
#define BED_SGES        2
#define BED_CQES        64
#define BED_SQE_BYTES   128
#define BED_RQE_BYTES   64

typedef struct BedObject {
    uint32_t handle;                        /* 0: does not exist */
    uint32_t key;                           /* MR: lkey and rkey; QP: number */
    unsigned page;                          /* its first page */
    uint8_t type;                           /* QP: enum pvrdma_qp_type */
} BedObject;

/* Attributes of a connection. */
typedef struct BedConnection {
    uint8_t mtu, timeout, retry_cnt, rnr_retry, rd_atomic, min_rnr_timer;
    bool loop;                              /* to a QP of the device */
    uint32_t qpn;                           /* of the peer */
    uint32_t psn;
} BedConnection;

/* --- Node EVIL_NODE ------------------------------------------------------------- */

#define BED_REQUESTS    64
#define BED_EVIL_QPN    0x111               /* + index of the device's QP */

typedef struct BedRequest {
    uint8_t opcode;
    bool ack_req;
    uint32_t psn;
    uint32_t packets, answered;             /* of the answer */
    uint32_t len;                           /* READ */
} BedRequest;

/* State of a connection as EVIL_NODE sees it. */
typedef struct BedPeer {
    BedRequest request[BED_REQUESTS];       /* oldest first */
    unsigned requests;
    uint32_t last_psn;                      /* of the last request */
    uint32_t send_psn;                      /* of the next request of the node */
    uint32_t msn;
} BedPeer;

/* --- State ---------------------------------------------------------------------- */

/* Flags of a bed; the first byte of a program. */
#define BED_DCQCN       0x01
#define BED_ROCE_V1     0x02
#define BED_ACK_DELAY   0x04
#define BED_KERNEL      0x30                /* both bits: the program has its rights */
#define BED_FLAGS       0x37

typedef struct BedNic {
    DeviceState dev;
    PvrdmaState pvrdma;
} BedNic;

typedef struct Bed {
    BedNic *nic;
    PvrdmaState *s;
    NICState *paired;
    uint8_t flags;
    bool gone;                              /* unplugged */
    bool line;                              /* interrupts by INTx */
    bool line_high;
    uint8_t irq;                            /* effect of the next interrupt */
    uint32_t irq_reg, irq_value;
    uint32_t uc[2], pd[2];                  /* EVIL, HONEST */
    BedObject cq[BED_CQS], mr[BED_MRS], srq, qp[BED_QPS];
    uint32_t cq_cons[BED_CQS];
    BedPeer peer[BED_QP_EVIL];
    /* Node HONEST_NODE. */
    uint32_t epsn, msn, honest_psn, write_at;
    unsigned sends, acked;
    uint8_t honest_bytes[PVRDMA_PAGE_BYTES];
} Bed;

extern Bed bed;

static inline bool bed_is_hostile_kernel(void)
{
    return (bed.flags & BED_KERNEL) == BED_KERNEL;
}

/* --- Life ------------------------------------------------------------------------ */

/* Makes the device, brings the device up, and makes all objects. */
void bed_start(uint8_t flags);
/* Removes the device. */
void bed_end(void);
/* The power of the slot goes off; bed_end() must still be called. */
void bed_unplug(void);
/* The same, but without objects; bed_end() ends both. */
void bed_start_empty(uint8_t flags);
/* Makes all objects of both processes. */
void bed_objects_make(void);
/*
 * Resets the device if the kernel was hostile; then asserts that all work ends, that
 * HONEST can transfer data, and that nothing is left after all objects were destroyed.
 */
void bed_check(void);
/* Clears RAM, resets the device by CTL, and makes all objects again. */
void bed_restart(void);
/* Runs the device until all work has ended, and asserts that the work ends. */
void bed_settle(void);
void bed_step(int64_t ns);

/* --- Kernel: driver.c ------------------------------------------------------ */

void bed_reg_set(enum pvrdma_reg reg, uint32_t value);
uint32_t bed_reg_get(enum pvrdma_reg reg);
/* Writes page @uar of BAR 2. */
void bed_doorbell(uint32_t uar, unsigned offset, uint32_t value);
/* Shared region, active, interrupts on, GID 0 bound. */
void bed_bring_up(void);
/* Takes all events and CQ notifications. */
void bed_rings_take(void);
/* Writes a page directory of @count pages from @page on; returns its address. */
uint64_t bed_pdir(unsigned page, unsigned count);
/* Sends a command; returns its errno.  @resp may be NULL. */
int bed_command(enum pvrdma_cmd cmd, union pvrdma_cmd_req *req,
                union pvrdma_cmd_resp *resp);
/* Make an object, whose BedObject has a page; return errno. */
int bed_uc_make(bool honest);
int bed_cq_make(unsigned cq, uint32_t entries);
int bed_mr_make(unsigned mr, uint64_t length, uint32_t access);
int bed_srq_make(void);
int bed_qp_make(unsigned qp, uint8_t type, bool srq, bool sig_all);
/* Destroys an object with @cmd, DESTROY_, and forgets the object on success. */
int bed_destroy(enum pvrdma_cmd cmd, BedObject *object);
/* Changes attributes of a QP. */
int bed_qp_modify(unsigned qp, uint32_t mask, const struct pvrdma_qp_attr *attr);
/* Resets a QP and brings the QP to RTS; returns false if a step is refused. */
bool bed_qp_connect(unsigned qp, const BedConnection *to);
/* Ends a QP's connection and clears its indices, as the driver does. */
void bed_qp_reset(unsigned qp);
/* Returns the state of a QP in the device; NULL if the QP does not exist. */
PvrdmaQp *bed_qp_state(unsigned qp);

/* --- Processes: driver.c --------------------------------------------------- */

struct pvrdma_sq_wqe_hdr bed_wqe(enum pvrdma_wr_opcode opcode, uint64_t remote,
                                 uint32_t rkey);
/* Posts a WQE with @len bytes at @offset of a region; the ring may be full. */
void bed_post_send(unsigned qp, const struct pvrdma_sq_wqe_hdr *hdr, unsigned mr,
                   uint32_t offset, uint32_t len);
/* @qp BED_QPS: to the SRQ. */
void bed_post_recv(unsigned qp, unsigned mr, uint32_t offset, uint32_t len);
void bed_ring_send(unsigned qp);
/* Takes the next completion of a CQ; false: none. */
bool bed_cq_poll(unsigned cq, struct pvrdma_cqe *cqe);

/* --- Nodes: nodes.c -------------------------------------------------------- */

extern const uint8_t bed_mac[6], bed_peer_mac[6];
extern const uint8_t bed_gid[16], bed_honest_gid[16], bed_evil_gid[16];

/* Takes each frame that the device sends. */
void bed_frame_sent(unsigned wire, const uint8_t *frame, size_t len);
/* Sends @pkt from EVIL_NODE; its payload must be of BED_EVIL_BYTE()s. */
void bed_evil_send(const RocePacket *pkt, const uint8_t *payload, uint32_t len,
                   uint16_t damage_at, uint8_t damage);
/* Sends up to @count packets of answers to the oldest requests of a QP. */
void bed_evil_answer(unsigned qp, unsigned count);
/* Forgets the @count oldest requests of a QP. */
void bed_evil_forget(unsigned qp, unsigned count);
/* Sends a message to the QP of HONEST. */
void bed_honest_send(void);
/* Asserts that the @len bytes contain no 4 bytes in a row of the secret. */
void bed_assert_no_secret(const uint8_t *bytes, size_t len);

#endif
