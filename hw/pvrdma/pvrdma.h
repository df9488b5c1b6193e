/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC with a RoCE v2 transport of its own: all state, and what the
 * files of the device offer each other.  Bus-neutral; pvrdma-pci.c is the shell.
 *
 * Numbers here are in host byte order unless they have a type of the formats.
 * Functions that do what a guest asked return 0 or a positive errno, which the driver
 * sees; those of the data path return enum pvrdma_wc_status, which the completion has.
 * Nothing but work() of pvrdma.c sends, in the bottom half or a doorbell: callbacks
 * of the netdev and of timers take notes and call pvrdma_qp_activate().
 */
#ifndef HW_PVRDMA_PVRDMA_H
#define HW_PVRDMA_PVRDMA_H

#include "qemu/host-utils.h"
#include "qemu/queue.h"
#include "qemu/timer.h"
#include "net/net.h"
#include "../core/compat.h"
#include <rdma/vmw_pvrdma-abi.h>
#include "rnic/pvrdma/regs.h"
#include "roce.h"

/* Limits, as the driver is told them. */
#define PVRDMA_QPS          16384       /* handles fit 16 bits: the driver masks so */
#define PVRDMA_CQS          16384
#define PVRDMA_SRQS         4096
#define PVRDMA_PDS          16384
#define PVRDMA_MRS          65536
#define PVRDMA_GIDS         128
#define PVRDMA_PKEYS        1
#define PVRDMA_MAX_WR       16384
#define PVRDMA_MAX_CQE      (1 << 18)
#define PVRDMA_MAX_SGE      32
#define PVRDMA_MAX_RD_ATOMIC 128        /* as soft-RoCE: peers ask for as many */
#define PVRDMA_MAX_MR_BYTES ((uint64_t)PVRDMA_PDIR_MAX_PAGES * PVRDMA_PAGE_BYTES)
/*
 * Pages of all objects together, 8 bytes of ours each: a guest must not have it all.
 * Send queues that have much under way take from the same.
 */
#define PVRDMA_MAX_PAGES    (16u << 20)

typedef struct PvrdmaState PvrdmaState;
typedef struct PvrdmaQp PvrdmaQp;

/* What the bus shell gives. */
typedef struct PvrdmaHost {
    DeviceState *dev;               /* owner of regions and bottom halves */
    AddressSpace *as;               /* for DMA: behind an IOMMU, if there is one */
    bool (*messages)(void *opaque); /* MSI-X is on: irq(), else line() */
    void (*irq)(void *opaque, unsigned vector);
    void (*line)(void *opaque, bool level);
    void *opaque;
    const char *netdev;             /* id of the paired NIC's netdev; not kept */
} PvrdmaHost;

/* --- pages.c: objects in guest memory ------------------------------------ */
/* The page directory is read once, when the object is made. */
typedef struct PvrdmaPages {
    uint64_t *addr;                 /* DMA address of each page; NULL: none */
    uint32_t count;
} PvrdmaPages;

/* EINVAL, ENOMEM (beyond PVRDMA_MAX_PAGES), EFAULT (no such memory). */
int pvrdma_pages_load(PvrdmaState *s, PvrdmaPages *p, uint64_t pdir,
                      uint32_t count);
void pvrdma_pages_free(PvrdmaState *s, PvrdmaPages *p);
/*
 * Copies @len bytes at byte @offset.  False if they are not inside, or the bus refused;
 * then part of them may have been copied.
 */
bool pvrdma_pages_read(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                       void *buf, size_t len);
bool pvrdma_pages_write(PvrdmaState *s, const PvrdmaPages *p, uint64_t offset,
                        const void *buf, size_t len);

/* --- table.c: handles --------------------------------------------------- */
typedef struct PvrdmaTable {
    void **object;
    uint32_t size;
    uint32_t next;                  /* where the search for a free one begins */
    uint32_t used;
} PvrdmaTable;

/* Handles are below @size; 0 is never given to anybody, as drivers take it for none. */
void pvrdma_table_init(PvrdmaTable *t, uint32_t size);
void pvrdma_table_free(PvrdmaTable *t);
/* The handle of @object, or 0 if the table is full. */
uint32_t pvrdma_table_add(PvrdmaTable *t, void *object);
/* Puts @object at @handle, which must be free: for what comes from a snapshot. */
void pvrdma_table_set(PvrdmaTable *t, uint32_t handle, void *object);
void pvrdma_table_remove(PvrdmaTable *t, uint32_t handle);
/* NULL if there is none, whatever @handle is. */
static inline void *pvrdma_table_get(const PvrdmaTable *t, uint32_t handle)
{
    return handle < t->size ? t->object[handle] : NULL;
}

/* --- mr.c: contexts, protection domains, memory regions ----------------- */
typedef struct PvrdmaUc {           /* a process */
    uint32_t handle;
    uint32_t uar;                   /* its page of BAR 2 */
    uint32_t users;                 /* PDs and CQs */
} PvrdmaUc;

typedef struct PvrdmaPd {
    uint32_t handle;
    uint32_t ctx;                   /* handle of its context; 0: the kernel */
    uint32_t uar;                   /* of its context: where doorbells are */
    uint32_t users;                 /* MRs, QPs, SRQs */
} PvrdmaPd;

typedef enum PvrdmaMrKind {
    PVRDMA_MR_USER,
    PVRDMA_MR_DMA,                  /* all memory, addresses are DMA addresses */
    PVRDMA_MR_FAST,                 /* pages come from FAST_REG_MR */
} PvrdmaMrKind;

typedef struct PvrdmaMr {
    uint32_t handle;
    uint32_t key;                   /* lkey and rkey: handle << 8 | changing byte */
    uint32_t pd;
    uint8_t kind;                   /* PvrdmaMrKind */
    bool valid;                     /* FAST: between FAST_REG_MR and invalidation */
    uint32_t access;                /* PVRDMA_ACCESS_ */
    uint32_t max_pages;             /* FAST */
    uint64_t start, length;
    uint64_t offset;                /* of start from the first page */
    PvrdmaPages pages;
} PvrdmaMr;

typedef enum PvrdmaMrStatus {
    PVRDMA_MR_OK,
    PVRDMA_MR_BAD_KEY,
    PVRDMA_MR_BAD_PD,
    PVRDMA_MR_BAD_RANGE,
    PVRDMA_MR_BAD_ACCESS,
    PVRDMA_MR_BUS_ERROR,
} PvrdmaMrStatus;

/*
 * Copies @len bytes at @va of the region with @key, which must belong to @pd and permit
 * all of @access.  All is checked before any byte is copied; but a bus error may come
 * in the middle.  @len 0: any key and address is good.
 */
PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access);
PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access);
/* Whether one from a snapshot is such as commands and work requests make them. */
bool pvrdma_mr_possible(const PvrdmaMr *mr);
/* The check alone, of all of a message. */
PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access);

/* --- wq.c: work queues -------------------------------------------------- */
typedef struct PvrdmaSge {
    uint64_t addr;
    uint32_t length;
    uint32_t lkey;
} PvrdmaSge;

typedef struct PvrdmaWq {
    uint32_t ring_at;               /* byte of its struct pvrdma_ring in the pages */
    uint32_t wqe_at;                /* byte of WQE 0 */
    uint32_t wqe_bytes;
    uint32_t entries;               /* a power of two; 0: there is no such queue */
    uint32_t max_sge;
    uint32_t fetch;                 /* index of the next WQE to be read */
    uint32_t cons;                  /* what cons_head says */
    uint32_t prod;                  /* the guest's index when it was last read */
} PvrdmaWq;

/* Address of a datagram. */
typedef struct PvrdmaAv {
    uint8_t dgid[16];
    uint8_t dmac[6];
    uint8_t gid_index;
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint32_t flow_label;
    uint32_t pd;
    uint8_t port;
} PvrdmaAv;

/* A WQE of a send queue, decoded, and how far it has come. */
typedef struct PvrdmaSqe {
    uint64_t wr_id;
    uint8_t opcode;                 /* enum pvrdma_wr_opcode */
    uint8_t flags;                  /* PVRDMA_SEND_ */
    uint8_t status;                 /* enum pvrdma_wc_status: what is wrong with it */
    uint32_t imm;                   /* as it is on the wire */
    uint32_t inv_rkey;
    uint64_t remote_addr;           /* RDMA and atomics */
    uint32_t rkey;
    uint64_t compare_add, swap;     /* atomics */
    struct {
        uint64_t iova, pdir;
        uint32_t page_shift, pages, length, access, rkey;
    } fast_reg;
    struct {
        uint32_t qpn, qkey;
        PvrdmaAv av;
    } ud;
    uint32_t length;                /* sum of the elements */
    uint16_t sges;
    PvrdmaSge *sge;                 /* of the queue's owner */
    uint32_t psn, last_psn;         /* first and last packet, or response to a READ */
    bool sent;                      /* psn and last_psn are set */
    bool done;                      /* nothing is waited for any more */
    uint32_t resp_psn;              /* READ: next packet of the response */
} PvrdmaSqe;

/* A WQE of a receive queue. */
typedef struct PvrdmaRqe {
    uint64_t wr_id;
    uint32_t length;                /* sum of the elements */
    uint8_t status;                 /* enum pvrdma_wc_status */
    uint16_t sges;
    PvrdmaSge sge[PVRDMA_MAX_SGE];
} PvrdmaRqe;

/*
 * Lays out a queue.  @ring_at and @wqe_at in bytes; EINVAL if it does not fit into
 * @pages, or is larger than the limits allow.
 */
int pvrdma_wq_init(PvrdmaWq *wq, uint32_t ring_at, uint32_t wqe_at,
                   uint32_t entries, uint32_t max_sge);
int pvrdma_sq_layout(PvrdmaWq *wq, const PvrdmaPages *pages);
int pvrdma_rq_layout(PvrdmaWq *wq, const PvrdmaPages *pages);
/*
 * How many WQEs wait to be read; -1: the guest's index is impossible.  The guest's index
 * is read only when all that it promised was fetched: there may be more, but 0 is 0.
 */
int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq);
/* The same with the index as it is now: the exact number. */
int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq);
/*
 * Reads the next WQE, once, and moves on; there must be one.  @sqe->sge has room for
 * max_sge.  What is wrong with it is in its status.  False: its memory cannot be read;
 * that, too, moves on.
 */
bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe);
bool pvrdma_rq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaRqe *rqe);
/* Gives @count slots back to the guest. */
void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count);
/* As after creation; the driver zeroes its indices itself. */
void pvrdma_wq_reset(PvrdmaWq *wq);
/*
 * Goes on at indices from a snapshot: what was fetched and not given back is fetched
 * again.  False: they are impossible.
 */
bool pvrdma_wq_resume(PvrdmaWq *wq, uint32_t cons, uint32_t prod);

/*
 * Copies between @buf and the bytes from @offset on of a scatter/gather list.  Enum
 * pvrdma_wc_status: LOC_PROT_ERR, LOC_LEN_ERR (beyond its end).
 */
uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len);
uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len);

/* --- cq.c: completion queues -------------------------------------------- */
typedef struct PvrdmaCq {
    uint32_t handle;
    uint32_t ctx;
    uint32_t uar;                   /* of its context: where its doorbell is */
    uint32_t entries;               /* a power of two */
    uint32_t users;                 /* QPs, once for each of their queues */
    uint32_t prod;                  /* index of the next completion */
    uint32_t cons;                  /* the guest's index when it was last read */
    bool armed;                     /* for the next completion */
    bool armed_solicited;           /* for the next solicited one */
    bool overflowed;                /* it takes nothing any more */
    PvrdmaPages pages;
    QLIST_HEAD(, PvrdmaQp) senders, receivers;
} PvrdmaCq;

/* A completion, in host order; what is left 0 is 0 in the guest. */
typedef struct PvrdmaWc {
    uint64_t wr_id;
    uint32_t qp;                    /* handle */
    uint8_t status;                 /* enum pvrdma_wc_status */
    uint8_t opcode;                 /* enum pvrdma_wc_opcode */
    bool solicited;                 /* for CQs that are armed so; errors always are */
    uint32_t byte_len;
    uint32_t imm;                   /* as on the wire; or the invalidated key */
    uint32_t src_qp;
    uint32_t flags;                 /* enum pvrdma_wc_flags */
    uint8_t network_hdr_type;       /* enum pvrdma_network_type */
    uint8_t sl;                     /* UD: what the packet is, see ud.c */
    uint8_t smac[6];
} PvrdmaWc;

/* Writes a completion and notifies; on overflow the CQ and its QPs end. */
void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc);
/* Whether size and indices of one from a snapshot are possible. */
bool pvrdma_cq_possible(const PvrdmaCq *cq);
/* Doorbell; @value: PVRDMA_UAR_CQ_. */
void pvrdma_cq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);

/* --- srq.c: shared receive queues --------------------------------------- */
typedef struct PvrdmaSrq {
    uint32_t handle;
    uint32_t pd;
    uint32_t uar;                   /* of its context: where its doorbell is */
    uint32_t users;                 /* QPs */
    uint32_t limit;                 /* event when fewer WQEs are left; 0: none */
    bool failed;                    /* the guest's index was impossible */
    PvrdmaPages pages;
    PvrdmaWq rq;
} PvrdmaSrq;

/* Finds the queue in its pages; EINVAL: it is too large. */
int pvrdma_srq_layout(PvrdmaSrq *srq, uint32_t entries, uint32_t max_sge);
void pvrdma_srq_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * The next receive WQE, whose slot the guest has back: 1, 0 if there is none, -1 on
 * error.  Tells the guest if few are left.
 */
int pvrdma_srq_receive(PvrdmaState *s, PvrdmaSrq *srq, PvrdmaRqe *rqe);

/* --- qp.c: queue pairs -------------------------------------------------- */
#include "dcqcn.h"
#include "req.h"
#include "resp.h"

/* Attributes that modify_qp sets, in host order. */
typedef struct PvrdmaQpAttr {
    uint32_t path_mtu;              /* enum pvrdma_mtu */
    uint32_t path_mig_state;
    uint32_t qkey;
    uint32_t rq_psn, sq_psn;
    uint32_t dest_qpn;
    uint32_t access;                /* PVRDMA_ACCESS_ */
    uint16_t pkey_index;
    uint8_t en_sqd_async_notify;
    uint8_t max_rd_atomic, max_dest_rd_atomic;
    uint8_t min_rnr_timer;
    uint8_t port_num;
    uint8_t timeout, retry_cnt, rnr_retry;
    struct pvrdma_ah_attr ah;       /* as the guest gave it */
} PvrdmaQpAttr;

struct PvrdmaQp {
    PvrdmaState *s;
    uint32_t handle;
    uint32_t qpn;                   /* its lower 16 bits are the handle, but of the GSI */
    uint32_t pd;
    uint32_t uar;                   /* of the process: where its doorbell is */
    uint8_t type;                   /* enum pvrdma_qp_type */
    uint8_t state;                  /* enum pvrdma_qp_state */
    bool sq_sig_all;
    bool sq_draining;               /* SQD: what was begun is not complete */
    bool flush_due;                 /* ERR, SQE: not all of its WQEs are flushed */
    bool last_due;                  /* the guest waits for LAST_WQE_REACHED */
    uint32_t ud_psn;                /* of the next datagram */
    PvrdmaCq *send_cq, *recv_cq;
    PvrdmaSrq *srq;                 /* NULL: has a receive queue of its own */
    struct pvrdma_qp_cap cap;       /* as the guest asked */
    PvrdmaPages pages;
    PvrdmaWq sq, rq;
    PvrdmaQpAttr attr;
    RocePath path;                  /* of a connection, from the attributes */
    uint32_t mtu;                   /* bytes */
    QEMUTimer *timer;
    PvrdmaReq req;
    PvrdmaResp resp;
    PvrdmaDcqcn rate;               /* of data, in requests and responses */
    bool active;
    QTAILQ_ENTRY(PvrdmaQp) active_next;
    QTAILQ_ENTRY(PvrdmaQp) flush_next;
    QLIST_ENTRY(PvrdmaQp) send_next, recv_next;     /* of its CQs */
};

/* WQEs of a queue that are flushed at once: others shall have a turn. */
#define PVRDMA_FLUSH_WQES 256

/*
 * Finds the two queues, as large as the QP's cap says, in its pages; the receive queue
 * begins at byte @rq_at.  EINVAL: they do not fit.
 */
int pvrdma_qp_layout(PvrdmaQp *qp, uint32_t rq_at);
/* A QP that has all it is made of is in use: counted by these, with a timer. */
void pvrdma_qp_begin(PvrdmaQp *qp);
/* The QP with the number that is on the wire, or NULL. */
PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn);
void pvrdma_qp_doorbell(PvrdmaState *s, uint32_t uar, uint32_t value);
/*
 * Ends a QP: state ERR, all WQEs are flushed.  @event: enum pvrdma_event that the guest
 * gets, or -1.
 */
void pvrdma_qp_error(PvrdmaQp *qp, int event);
/*
 * After a WQE of the send queue was completed in error: a connection ends, a datagram QP
 * only stops sending (SQE).  What else is in the send queue is flushed.
 */
void pvrdma_qp_send_error(PvrdmaQp *qp);
/*
 * Ends all QPs that use @cq.  Their state is ERR at once, but WQEs are flushed later: the
 * caller of pvrdma_cq_push() may be in the middle of one of them.
 */
void pvrdma_qp_cq_error(PvrdmaState *s, PvrdmaCq *cq);
/* The bottom half flushes what @qp has. */
void pvrdma_qp_flush_later(PvrdmaQp *qp);
/* Goes on with that, a part of it; true: there is more. */
bool pvrdma_qp_flush_run(PvrdmaState *s);
/* Something was completed: the guest is told if that was what SQD waited for. */
void pvrdma_qp_drained(PvrdmaQp *qp);
/*
 * The next receive WQE, of the QP or its SRQ, whose slot the guest has back: 1, 0 if
 * there is none, -1 on error: then the QP has ended.
 */
int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe);
/* Sets the QP's timer, which calls pvrdma_req_timer(); 0: never. */
void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline);

/* --- qp-attr.c: states and attributes of queue pairs -------------------- */
/*
 * Checks that modify_qp may do what it asks for, then takes the attributes; not the
 * state, which is @state.  EINVAL: nothing has changed.
 */
int pvrdma_qp_attr_set(PvrdmaQp *qp, uint32_t mask,
                       const struct pvrdma_qp_attr *attr, uint8_t *state);
/*
 * The path to QP @dest_qpn of a peer, by an address that the guest gave; its PD does not
 * count.  False: no such GID or port.
 */
bool pvrdma_qp_path(PvrdmaQp *qp, const PvrdmaAv *av, uint32_t dest_qpn,
                    RocePath *path);
/*
 * Whether state, attributes and path from a snapshot are such as modify_qp leaves
 * behind; if so, sets what follows from them.
 */
bool pvrdma_qp_attr_resume(PvrdmaQp *qp);
/* As query_qp gives them. */
void pvrdma_qp_attr_get(const PvrdmaQp *qp, struct pvrdma_qp_attr *attr);

/* --- req.c, req-tx.c and comp.c: the sending side ------------------------ */
/*
 * Gets and sends WQEs while the port takes frames and @budget packets last.  True: it
 * could go on now.
 */
bool pvrdma_req_run(PvrdmaQp *qp, unsigned *budget);
/* State for RTS, from the attributes; forgets what was under way. */
void pvrdma_req_init(PvrdmaQp *qp);
void pvrdma_req_fini(PvrdmaQp *qp);
/*
 * Completes WQEs, posted or under way, with WR_FLUSH_ERR; the first that failed has been
 * completed by the caller.  True: there are more, for another call.
 */
bool pvrdma_req_flush(PvrdmaQp *qp);
/* Nothing is under way any more. */
bool pvrdma_req_idle(const PvrdmaQp *qp);
void pvrdma_req_timer(PvrdmaQp *qp);
/* Congestion forbids to send data now; the QP is activated when it may. */
bool pvrdma_req_congested(PvrdmaQp *qp);
/* Acknowledgements and responses from the peer. */
void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/* Completes @sqe; signalled or in error also to the CQ. */
void pvrdma_comp_wqe(PvrdmaQp *qp, const PvrdmaSqe *sqe, uint8_t status);

/* --- stuck.c: check for QPs that hang --------------------------------------- */
/*
 * Builds with a sanitizer check a QP after each function that may change its work.
 * Other builds do not check: there a hang costs one connection, an abort the machine.
 */
#if defined(QEMU_SANITIZE_ADDRESS) || defined(QEMU_SANITIZE_THREAD)
#define PVRDMA_CHECKS true
#else
#define PVRDMA_CHECKS false
#endif

/*
 * Returns NULL, or as text the reason why @qp will hang.  A QP hangs if it has work,
 * but no activation, no timer, and no answer that it may await for ever.  The result is
 * valid for each QP between calls of the device's functions.
 */
const char *pvrdma_qp_stuck(PvrdmaQp *qp);
/* Aborts if @qp will hang, in builds with PVRDMA_CHECKS. */
void pvrdma_qp_check(PvrdmaQp *qp);

/* --- resp.c: the receiving side of connections -------------------------- */
void pvrdma_resp_init(PvrdmaQp *qp);
void pvrdma_resp_rx(PvrdmaQp *qp, const RocePacket *pkt);
/* Sends answers; as pvrdma_req_run(). */
bool pvrdma_resp_run(PvrdmaQp *qp, unsigned *budget);
/* Completes receive WQEs with WR_FLUSH_ERR, likewise; not those of an SRQ. */
bool pvrdma_resp_flush(PvrdmaQp *qp);

/* --- ud.c: datagrams ---------------------------------------------------- */
/* Sends @sqe; enum pvrdma_wc_status. */
uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe);
void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame);

/* --- gid.c -------------------------------------------------------------- */
typedef struct PvrdmaGid {
    bool valid;
    uint8_t raw[16];
    uint16_t vlan;                  /* ROCE_NO_VLAN: none */
} PvrdmaGid;

/*
 * The path from our GID @index to @dgid; false if there is no such GID, or it is IPv4
 * and the other not.  What the GIDs do not say is 0: sport, hop_limit, ...
 */
bool pvrdma_gid_path(PvrdmaState *s, unsigned index, const uint8_t dgid[16],
                     const uint8_t dmac[6], RocePath *path);
/* Whether @gid is one of ours. */
bool pvrdma_gid_ours(PvrdmaState *s, const uint8_t gid[16]);

/* --- port.c: the wire --------------------------------------------------- */
#define PVRDMA_LOOP_FRAMES  256
#define PVRDMA_VNET_BYTES   32          /* longest header of a netdev before a frame */

typedef struct PvrdmaPort {
    struct NetFilterState *filter;  /* of the paired NIC's netdev; NULL: it is gone */
    char *netdev;                   /* its id, by which traces name the device */
    bool blocked;                   /* the netdev has a frame of ours; it will tell */
    int64_t blocked_at;             /* since when */
    bool stuck;                     /* it has it for too long: others are lost */
    NetClientState *sender;         /* in whose name; may be gone */
    bool link_up;                   /* as the guest was last told */
    QEMUTimer *timer;
    VMChangeStateEntry *vm_state;
    /* Frames to ourselves: a ring of PVRDMA_LOOP_FRAMES, NULL: never used. */
    uint8_t *loop;
    unsigned loop_first, loop_count;
    uint16_t loop_len[PVRDMA_LOOP_FRAMES];
    /* The frame that is being built. */
    uint8_t *building;              /* in the ring, or in buf */
    size_t payload_at;
    bool looped;                    /* it is to ourselves */
    uint8_t buf[PVRDMA_VNET_BYTES + ROCE_FRAME_MAX] QEMU_ALIGNED(8);
    QLIST_ENTRY(PvrdmaPort) next;
} PvrdmaPort;

bool pvrdma_port_init(PvrdmaState *s, const char *netdev, Error **errp);
void pvrdma_port_fini(PvrdmaState *s);
void pvrdma_port_reset(PvrdmaState *s);
bool pvrdma_port_up(PvrdmaState *s);
/* MAC of the paired NIC, as the guest has set it; zeroes if it is gone. */
void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6]);
/* False: send nothing, a call of pvrdma_schedule() will come. */
bool pvrdma_port_ready(PvrdmaState *s);
/* Around what sends several frames: the netdev may write them together. */
void pvrdma_port_cork(PvrdmaState *s, bool cork);
/* Takes frames that are there, for a CPU that waits for one. */
void pvrdma_port_poll(PvrdmaState *s);
/*
 * Begins a frame; returns where up to ROCE_MTU_MAX bytes of payload go.  Nothing is
 * sent before pvrdma_tx_end(): a caller may change its mind.
 */
uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt);
void pvrdma_tx_end(PvrdmaState *s, size_t payload_len);
/* Hands frames to ourselves to pvrdma_rx(); true if there were any. */
bool pvrdma_port_loop_run(PvrdmaState *s);

/* --- rx.c: what came from the wire -------------------------------------- */
/* Checks a RoCE frame, finds its QP, and calls req.c, resp.c or ud.c. */
void pvrdma_rx(PvrdmaState *s, const uint8_t *frame, size_t len);

/* --- event.c: rings of the device, interrupts --------------------------- */
typedef struct PvrdmaRing {         /* that the device fills */
    PvrdmaPages pages;
    uint32_t elements;              /* a power of two; 0: there is no ring */
    uint32_t prod;
    uint8_t elem_bytes;
    GByteArray *late;               /* elements that found it full; NULL: none yet */
} PvrdmaRing;

#define PVRDMA_RING_LATE_BYTES (PVRDMA_CQS * sizeof(struct pvrdma_cqne))

/* How many elements there are in @pages pages, one of which has the indices. */
uint32_t pvrdma_ring_elements(uint32_t pages, unsigned elem_bytes);
/* @elem_bytes: of an element; EINVAL, EFAULT, ENOMEM. */
int pvrdma_ring_init(PvrdmaState *s, PvrdmaRing *ring, uint64_t pdir,
                     uint32_t pages, unsigned elem_bytes);
void pvrdma_ring_fini(PvrdmaState *s, PvrdmaRing *ring);
/* Calls the next one after a while, if something found a ring full. */
void pvrdma_rings_wait(PvrdmaState *s);
/* Puts in what did, now; of a PvrdmaState. */
void pvrdma_rings_again(void *opaque);
/* An asynchronous event; @info: handle or port. */
void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info);
/* Tells the guest to look at a CQ. */
void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq);
void pvrdma_irq_raise(PvrdmaState *s, enum pvrdma_intr_vector vector);
/* Interrupts for all causes that are not masked; while nothing runs. */
void pvrdma_irq_flush(PvrdmaState *s);

/* --- cmd.c: commands ---------------------------------------------------- */
/* What is done with a command.  @resp is zeroed but for its header. */
typedef int PvrdmaCmd(PvrdmaState *s, const union pvrdma_cmd_req *req,
                      union pvrdma_cmd_resp *resp);

/* Does what is in the command slot; errno for the register ERR. */
int pvrdma_cmd_run(PvrdmaState *s);

PvrdmaCmd pvrdma_cmd_create_uc, pvrdma_cmd_destroy_uc;          /* mr.c */
PvrdmaCmd pvrdma_cmd_create_pd, pvrdma_cmd_destroy_pd;
PvrdmaCmd pvrdma_cmd_create_mr, pvrdma_cmd_destroy_mr;
PvrdmaCmd pvrdma_cmd_create_cq, pvrdma_cmd_resize_cq;           /* cq.c */
PvrdmaCmd pvrdma_cmd_destroy_cq;
PvrdmaCmd pvrdma_cmd_create_srq, pvrdma_cmd_modify_srq;         /* srq.c */
PvrdmaCmd pvrdma_cmd_query_srq, pvrdma_cmd_destroy_srq;
PvrdmaCmd pvrdma_cmd_create_qp, pvrdma_cmd_modify_qp;           /* qp.c */
PvrdmaCmd pvrdma_cmd_query_qp, pvrdma_cmd_destroy_qp;
PvrdmaCmd pvrdma_cmd_create_bind, pvrdma_cmd_destroy_bind;      /* gid.c */
PvrdmaCmd pvrdma_cmd_query_port, pvrdma_cmd_query_pkey;         /* cmd.c */
/* Executes FAST_REG_MR and LOCAL_INV, and a peer's invalidation; wc status.  mr.c */
uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe);
uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key);
/* Frees all objects.  qp.c, cq.c, srq.c, mr.c: in this order */
void pvrdma_qp_reset_all(PvrdmaState *s);
void pvrdma_cq_reset_all(PvrdmaState *s);
void pvrdma_srq_reset_all(PvrdmaState *s);
void pvrdma_mr_reset_all(PvrdmaState *s);

/* --- dsr.c: shared region ----------------------------------------------- */
/* Reads the one at dsr_addr, and fills in what the device can do; 0 or errno. */
int pvrdma_dsr_load(PvrdmaState *s);

/* --- pvrdma.c: registers, doorbells, work ------------------------------- */
struct PvrdmaState {
    PvrdmaHost host;
    MemoryRegion regs_mr, uar_mr;
    QEMUBH *bh;
    bool running;                   /* something is at work: no interrupts now */
    bool pending;                   /* it shall go on, or reset the device, behind that */
    bool reset_wanted;
    bool irqs_leaving;              /* messages are written, whatever they lead to */
    bool gone;                      /* unplugged: there is no bus any more */
    uint32_t mtu;                   /* property: largest path MTU, bytes */
    uint8_t version;                /* property: of the interface, VERSION */
    bool roce_v1;                   /* property */
    bool dcqcn;                     /* property: slow down when asked to */
    /* Registers. */
    uint64_t dsr_addr;
    bool dsr_valid;                 /* the shared region was accepted */
    bool active;                    /* CTL said so */
    bool qp_handles;                /* the driver knows that they are not numbers */
    uint32_t err, icr, imr;
    uint64_t cmd_slot, resp_slot;
    uint64_t uar_pfn;
    PvrdmaRing async, cqne;
    QEMUTimer *ring_timer;
    /* Objects. */
    PvrdmaTable uc, pd, mr, cq, srq, qp;
    PvrdmaQp *gsi;
    uint8_t qpn_generation;
    uint8_t mr_generation;          /* low byte of the next key */
    PvrdmaGid gid[PVRDMA_GIDS];
    unsigned gid_last;              /* where a GID was found last */
    uint32_t pages_used;
    uint32_t qkey_violations, pkey_violations;
    QTAILQ_HEAD(, PvrdmaQp) active_qps;     /* have something to do */
    QTAILQ_HEAD(, PvrdmaQp) flush_qps;      /* have something to flush */
    PvrdmaPort port;
    uint32_t ack_delay_us;          /* property */
    QEMUTimer *ack_timer;
    uint32_t completions;           /* of all CQs; read without the big lock */
    uint64_t counter[PVRDMA_COUNTER_COUNT];
};

/* migration.c: all of a device but what its bus has; loaded into one that was reset. */
extern const VMStateDescription pvrdma_vmstate;

/* False: @errp says why, and nothing is left behind. */
bool pvrdma_init(PvrdmaState *s, const PvrdmaHost *host, Error **errp);
void pvrdma_fini(PvrdmaState *s);
void pvrdma_reset(PvrdmaState *s);
/* Lets the bottom half run. */
void pvrdma_schedule(PvrdmaState *s);
/* Something of @qp may be sent. */
void pvrdma_qp_activate(PvrdmaQp *qp);
/*
 * The same, but it is an acknowledgement, which has time: it goes with what is sent next,
 * or after ack_delay_us [P].
 */
void pvrdma_qp_activate_late(PvrdmaQp *qp);

static inline int64_t pvrdma_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* The property mtu, as enum pvrdma_mtu. */
static inline enum pvrdma_mtu pvrdma_mtu_code(const PvrdmaState *s)
{
    return ctz32(s->mtu) - 7;
}

/* The only type of GIDs there is. */
static inline uint8_t pvrdma_gid_type(const PvrdmaState *s)
{
    return s->roce_v1 ? PVRDMA_GID_TYPE_FLAG_ROCE_V1 :
                        PVRDMA_GID_TYPE_FLAG_ROCE_V2;
}

static inline void pvrdma_count(PvrdmaState *s, enum pvrdma_counter counter)
{
    s->counter[counter]++;
}

/* False if the bus refused. */
bool pvrdma_dma_read(PvrdmaState *s, uint64_t addr, void *buf, size_t len);
bool pvrdma_dma_write(PvrdmaState *s, uint64_t addr, const void *buf, size_t len);

/* A mistake of the guest: counted, and in the log under guest_errors. */
void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

#endif /* HW_PVRDMA_PVRDMA_H */
