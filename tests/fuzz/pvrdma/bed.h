/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment of fuzz targets of a whole pvrdma: the device in a box, a kernel, two
 * processes and two nodes.
 *
 * Process EVIL and node EVIL_NODE execute the program.  Process HONEST, in another
 * protection domain, is connected to node HONEST_NODE, which answers requests at once.
 * Node EVIL_NODE keeps requests that want a response, until the target lets the node
 * answer or forget these requests, or until newer requests need the room.
 */
#ifndef TESTS_FUZZ_PVRDMA_BED_H
#define TESTS_FUZZ_PVRDMA_BED_H

#include "../box.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/wire/roce.h"

/* --- Programs: mutate.c --------------------------------------------------- */

/*
 * The input of a target is a program: the first byte has flags, and records of
 * BED_OP_BYTES follow, one for each operation.  The first byte of a record selects the
 * operation.
 */
#define BED_OP_BYTES    32
extern const uint8_t bed_program_flags; /* flags that programs of this target may have */

/* --- Memory: pages of RAM ------------------------------------------------------ */

enum {
    BED_PAGE_DSR = 1, BED_PAGE_CMD, BED_PAGE_RESP,
    BED_PAGE_DIR, BED_PAGE_TABLE, /* page directory and page table of bed_pdir() */
    BED_PAGE_ASYNC = 6, BED_PAGE_CQNE = 8,  /* rings, two pages each */
    BED_PAGE_EVIL = 10,                     /* CQs, QPs, SRQ of EVIL */
    BED_PAGE_EVIL_DATA = 28,
    BED_PAGE_HONEST = 44,                   /* CQ, QP of HONEST */
    BED_PAGE_HONEST_DATA = 49,
    BED_PAGE_END = 53,
};
#define BED_DATA_PAGES  (BED_PAGE_HONEST - BED_PAGE_EVIL_DATA)
#define BED_DATA_BYTES  (BED_DATA_PAGES * PVRDMA_PAGE_BYTES)
#define BED_VA          0x10000000ULL /* virtual address of each region's first byte */

static inline uint64_t bed_page(unsigned page)
{
    return (uint64_t)page * PVRDMA_PAGE_BYTES;
}

/* Content of each aligned 8 bytes of HONEST's data: bit 7 of each byte is 1. */
#define BED_SECRET      0xd7a1f3869cb5e8c2ULL
/*
 * @x without bit 7.  Under an honest kernel, bytes of a program reach the data of EVIL
 * only in this form, so that no program can contain the secret.
 */
#define BED_EVIL_BYTE(x) ((x) & 0x7f)

/* --- Objects ------------------------------------------------------------------- */

#define BED_UAR_EVIL    1                   /* number of EVIL's page of BAR 2 */
#define BED_UAR_HONEST  2

/*
 * In the arrays cq, mr and qp of @bed the objects of EVIL come first, and the object of
 * HONEST is the last one.  BED_x_EVIL is the number of EVIL's objects, BED_x_HONEST is
 * the index of HONEST's object, and BED_xS is the number of all objects (x is CQ, MR or
 * QP).
 */
enum { BED_CQ_EVIL = 2, BED_CQ_HONEST = BED_CQ_EVIL, BED_CQS };
enum { BED_MR_EVIL = 2, BED_MR_HONEST = BED_MR_EVIL, BED_MRS };
enum { BED_QP_EVIL = 4, BED_QP_HONEST = BED_QP_EVIL, BED_QPS };
/*
 * Indices of EVIL's QPs.  PEER is connected to EVIL_NODE; LOOP and SRQ are connected to
 * each other; UD sends datagrams.  SRQ receives by the shared receive queue.
 */
enum { BED_QP_PEER, BED_QP_LOOP, BED_QP_UD, BED_QP_SRQ };

#define BED_WQES        16                  /* number of WQEs of each work queue */
#define BED_SGES        2
#define BED_CQES        64
#define BED_SQE_BYTES   128
#define BED_RQE_BYTES   64

typedef struct BedObject {
    uint32_t handle; /* handle in commands; 0: the object does not exist */
    uint32_t key;                           /* MR: lkey and rkey; QP: QP number */
    unsigned page;                          /* first page of the object in RAM */
    uint8_t type;                           /* QP: enum pvrdma_qp_type */
} BedObject;

/* Attributes of a QP's connection, with the codes of struct pvrdma_qp_attr. */
typedef struct BedConnection {
    uint8_t mtu, timeout, retry_cnt, rnr_retry, rd_atomic, min_rnr_timer;
    bool loop;                              /* the other QP belongs to the device */
    uint32_t qpn;                           /* number of the other QP */
    uint32_t psn;
} BedConnection;

/* --- Node EVIL_NODE ------------------------------------------------------------- */

#define BED_REQUESTS    64
/* QP BED_EVIL_QPN + n of a node is the peer of bed.qp[n], except of LOOP and SRQ. */
#define BED_EVIL_QPN    0x111

typedef struct BedRequest {
    uint8_t opcode;
    bool ack_req;
    uint32_t psn;
    uint32_t packets, answered; /* packets of the response: all, and sent ones */
    uint32_t len;                           /* bytes that a READ requests, else 0 */
} BedRequest;

/* State of EVIL_NODE for one QP of EVIL. */
typedef struct BedPeer {
    /* requests that want a response, oldest first */
    BedRequest request[BED_REQUESTS];
    unsigned requests;
    uint32_t last_psn;                      /* PSN of the device's last request packet */
    uint32_t send_psn;                      /* PSN of the node's next request */
    uint32_t msn;
} BedPeer;

/* --- State ---------------------------------------------------------------------- */

/* Flags in the first byte of a program. */
#define BED_DCQCN       0x01
#define BED_ROCE_V1     0x02
#define BED_ACK_DELAY   0x04
#define BED_KERNEL      0x30 /* both bits set: the program has the kernel's rights */
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
    bool gone;                              /* the device was unplugged */
    bool line; /* the device interrupts by INTx, not by MSI-X */
    bool line_high;                         /* level of INTx */
    bool ending;                            /* bed_unplug() runs pvrdma_fini() */
    uint8_t irq; /* effect of the next interrupt, see host_irq() */
    uint32_t irq_reg, irq_value;
    uint32_t uc[2], pd[2]; /* context and PD handles: [0] EVIL's, [1] HONEST's */
    BedObject cq[BED_CQS], mr[BED_MRS], srq, qp[BED_QPS];
    uint32_t cq_cons[BED_CQS];
    BedPeer peer[BED_QP_EVIL];
    /* State of HONEST_NODE. */
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

/*
 * Starts the device with the flags BED_* in @flags, makes all objects, and connects the
 * QPs.
 */
void bed_start(uint8_t flags);
/*
 * Removes the device unless it was unplugged, and resets netdevs and memory of the box.
 * Asserts, unless bed_unplug() was called, that no reference to the device is left.
 */
void bed_end(void);
/*
 * Removes the device as a loss of power of its slot does; bed_end() must still be
 * called.
 */
void bed_unplug(void);
/* Starts the device like bed_start(), but without objects. */
void bed_start_empty(uint8_t flags);
/*
 * Makes all objects of both processes, connects the QPs, and fills the memory of HONEST
 * with the secret.
 */
void bed_objects_make(void);
/*
 * Checks the device after a program; does nothing if the device was unplugged.  Calls
 * bed_restart() if the kernel was hostile.  Else asserts that the send WQEs of EVIL end,
 * of each QP in state RTS that limits its retries; that no byte of HONEST's data has
 * changed; and that no 4 bytes of the secret have reached the data of EVIL.  In both
 * cases then asserts that HONEST can transfer data, and that nothing is left after all
 * objects were destroyed.
 */
void bed_check(void);
/*
 * Makes the kernel honest, clears RAM, resets the device by register CTL, and makes all
 * objects again.
 */
void bed_restart(void);
/*
 * bed_settle() runs the device until all work has ended, and asserts that the work ends,
 * unless the kernel is hostile, and that the allocated memory is limited.  bed_step()
 * advances the clock by @ns, and asserts that the work ends, unless the kernel is
 * hostile.  If the kernel is not hostile, the two functions finally call
 * bed_rings_take().
 */
void bed_settle(void);
void bed_step(int64_t ns);

/* --- Kernel: driver.c ------------------------------------------------------ */

void bed_reg_set(enum pvrdma_reg reg, uint32_t value);
uint32_t bed_reg_get(enum pvrdma_reg reg);
/* Writes @value to byte @offset of page @uar of BAR 2. */
void bed_doorbell(uint32_t uar, unsigned offset, uint32_t value);
/*
 * Gives the address of the shared region to the device, unmasks the device's interrupts,
 * activates the device and binds GID 0.  Asserts that the device reports no error.
 */
void bed_bring_up(void);
/*
 * Takes all events and CQ notifications: sets the consumer index of each of the two rings
 * to the producer index.
 */
void bed_rings_take(void);
/*
 * Writes a page directory of the @count pages from @page on; returns the address of the
 * directory.  The next call overwrites this directory.
 */
uint64_t bed_pdir(unsigned page, unsigned count);
/*
 * Gives command @cmd with the parameters @req to the device, and stores the response in
 * *@resp, unless @resp is NULL.  Returns register ERR or, if this is 0, the errno of the
 * response.
 */
int bed_command(enum pvrdma_cmd cmd, union pvrdma_cmd_req *req,
                union pvrdma_cmd_resp *resp);
/*
 * Each function makes one object in the pages of its BedObject, and stores handle and
 * keys in the BedObject.  Returns 0 or the result of bed_command().  bed_uc_make() makes
 * a context and a protection domain, and stores the handles in bed.uc and bed.pd.
 */
int bed_uc_make(bool honest);
int bed_cq_make(unsigned cq, uint32_t entries);
int bed_mr_make(unsigned mr, uint64_t length, uint32_t access);
int bed_srq_make(void);
int bed_qp_make(unsigned qp, uint8_t type, bool srq, bool sig_all);
/*
 * Destroys @object with @cmd, one of PVRDMA_CMD_DESTROY_*, and clears the handle on
 * success; returns the result of bed_command().  Returns 0 if the object does not exist.
 */
int bed_destroy(enum pvrdma_cmd cmd, BedObject *object);
/* Changes the attributes @mask of bed.qp[@qp]; returns the result of bed_command(). */
int bed_qp_modify(unsigned qp, uint32_t mask, const struct pvrdma_qp_attr *attr);
/*
 * Resets bed.qp[@qp] and brings this QP to RTS.  Returns false if a command after the
 * reset fails.
 */
bool bed_qp_connect(unsigned qp, const BedConnection *to);
/*
 * Brings bed.qp[@qp] to RESET and, if this command succeeds, clears the indices of its
 * queues, as the driver does.
 */
void bed_qp_reset(unsigned qp);
/* Returns the device's state of bed.qp[@qp], or NULL if this QP does not exist. */
PvrdmaQp *bed_qp_state(unsigned qp);

/* --- Processes: driver.c --------------------------------------------------- */

struct pvrdma_sq_wqe_hdr bed_wqe(enum pvrdma_wr_opcode opcode, uint64_t remote,
                                 uint32_t rkey);
/*
 * Posts a WQE with header @hdr and one SGE, @len bytes at @offset of region @mr, to the
 * send queue of @qp.  Does not check whether the queue is full, and does not ring the
 * doorbell.
 */
void bed_post_send(unsigned qp, const struct pvrdma_sq_wqe_hdr *hdr, unsigned mr,
                   uint32_t offset, uint32_t len);
/* Posts a receive WQE to QP @qp, or to the SRQ if @qp is BED_QPS. */
void bed_post_recv(unsigned qp, unsigned mr, uint32_t offset, uint32_t len);
void bed_ring_send(unsigned qp);
/* Takes the next completion of bed.cq[@cq]; returns false if the CQ has no completion. */
bool bed_cq_poll(unsigned cq, struct pvrdma_cqe *cqe);

/* --- Nodes: nodes.c -------------------------------------------------------- */

extern const uint8_t bed_mac[6], bed_peer_mac[6];
extern const uint8_t bed_gid[16], bed_honest_gid[16], bed_evil_gid[16];

/*
 * Parses a frame of the device, and asserts that the frame is valid.  HONEST_NODE gets
 * the RC packets from HONEST to the node's GID, unless the kernel is hostile.  EVIL_NODE
 * gets all packets to other GIDs.
 */
void bed_frame_sent(unsigned wire, const uint8_t *frame, size_t len);
/*
 * Sends @pkt with @len bytes of @payload from EVIL_NODE to the device.  @payload must
 * consist of BED_EVIL_BYTE()s.  Inverts the bits @damage of byte @damage_at (modulo the
 * length) of the frame; 0: no damage.
 */
void bed_evil_send(const RocePacket *pkt, const uint8_t *payload, uint32_t len,
                   uint16_t damage_at, uint8_t damage);
/*
 * Sends at most @count packets of responses from EVIL_NODE to the oldest requests of QP
 * @qp.
 */
void bed_evil_answer(unsigned qp, unsigned count);
/* Makes EVIL_NODE forget the @count oldest requests of QP @qp. */
void bed_evil_forget(unsigned qp, unsigned count);
/*
 * Sends the message of HONEST_NODE to the QP of HONEST.  A further call retransmits this
 * message.
 */
void bed_honest_send(void);
/*
 * Asserts that the @len bytes at @bytes do not contain 4 consecutive bytes of the secret.
 */
void bed_assert_no_secret(const uint8_t *bytes, size_t len);

#endif
