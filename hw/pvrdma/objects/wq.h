/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work queues and scatter/gather lists.
 */
#ifndef HW_PVRDMA_OBJECTS_WQ_H
#define HW_PVRDMA_OBJECTS_WQ_H

#include <rdma/vmw_pvrdma-abi.h>
#include "../base/caps.h"
#include "../base/pages.h"

typedef struct PvrdmaQp PvrdmaQp;

/* An element of a scatter/gather list. */
typedef struct PvrdmaSge {
    uint64_t addr;                  /* virtual address in the region with @lkey */
    uint32_t length;                /* bytes */
    uint32_t lkey;
} PvrdmaSge;

typedef struct PvrdmaWq {
    /* Offset of struct pvrdma_ring in the pages, bytes. */
    uint32_t ring_at;
    uint32_t wqe_at;                /* offset of WQE 0 in the pages, bytes */
    uint32_t wqe_bytes;             /* size of a slot, bytes; a power of two */
    /* Number of slots, a power of two; 0: the queue does not exist. */
    uint32_t entries;
    uint32_t max_sge;               /* maximal number of elements of a WQE */
    /* Indices are modulo 2 * entries. */
    uint32_t fetch;                 /* index of the WQE that is fetched next */
    /* Index of the oldest slot that is not returned to the guest. */
    uint32_t cons;
    /*
     * Index of the next WQE that the guest posts, as the device has read this index last.
     */
    uint32_t prod;
} PvrdmaWq;

/* Address of the peer of a datagram or connection; @pd is valid only for a datagram. */
typedef struct PvrdmaAv {
    uint8_t dgid[16];
    uint8_t dmac[6];
    uint8_t gid_index;
    uint8_t hop_limit;
    uint8_t traffic_class;
    uint32_t flow_label;
    uint32_t pd;                    /* handle of the protection domain */
    uint8_t port;
} PvrdmaAv;

/* A decoded WQE of a send queue, and its progress. */
typedef struct PvrdmaSqe PvrdmaSqe;
struct PvrdmaSqe {
    uint64_t wr_id;
    uint8_t opcode;                 /* enum pvrdma_wr_opcode */
    uint8_t flags;                  /* bits PVRDMA_SEND_* */
    uint8_t status;                 /* enum pvrdma_wc_status; not 0: error of the WQE */
    uint32_t imm;                   /* immediate data in wire byte order */
    uint32_t inv_rkey;              /* SEND_WITH_INV, LOCAL_INV: key to invalidate */
    uint64_t remote_addr;           /* RDMA and atomics: virtual address at the peer */
    uint32_t rkey;
    uint64_t compare_add, swap;     /* operands of an atomic */
    struct {
        uint64_t iova, pdir;        /* virtual address; DMA address of page directory */
        uint32_t page_shift, pages, length, access, rkey;
    } fast_reg;
    struct {
        uint32_t qpn, qkey;
        PvrdmaAv av;
    } ud;
    uint32_t length;                /* sum of the lengths of the elements, bytes */
    uint16_t sges;                  /* number of elements */
    /* Elements.  The owner of the PvrdmaSqe owns this memory. */
    PvrdmaSge *sge;
    /* PSNs of the first and the last packet; of a READ, of the response packets. */
    uint32_t psn, last_psn;
    bool sent;                      /* psn and last_psn are set */
    bool done;                      /* the WQE has ended without an error */
};

/* A decoded WQE of a receive queue. */
typedef struct PvrdmaRqe {
    uint64_t wr_id;
    uint32_t length;                /* sum of the lengths of the elements, bytes */
    uint8_t status;                 /* enum pvrdma_wc_status; not 0: error of the WQE */
    uint16_t sges;                  /* number of elements */
    PvrdmaSge sge[PVRDMA_MAX_SGE];
} PvrdmaRqe;

/*
 * Sets the layout of a queue, and its indices to 0.  @ring_at and @wqe_at are offsets in
 * bytes.  Returns 0, or EINVAL if @entries is neither 0 nor a power of two, or if
 * @entries or @max_sge exceeds its limit.
 */
int pvrdma_wq_init(PvrdmaWq *wq, uint32_t ring_at, uint32_t wqe_at,
                   uint32_t entries, uint32_t max_sge);
/* Compute wqe_bytes.  Return 0, or EINVAL if @pages are too few for the queue. */
int pvrdma_sq_layout(PvrdmaWq *wq, const PvrdmaPages *pages);
int pvrdma_rq_layout(PvrdmaWq *wq, const PvrdmaPages *pages);
/*
 * Returns how many WQEs wait to be fetched, or -1, with a guest error, if the guest's
 * index of the next WQE is not valid or cannot be read.  Reads this index only if all
 * known WQEs were fetched.  So the guest may have posted more WQEs than a positive result
 * says, but the result 0 is exact.
 */
int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq);
/*
 * Reads the guest's index of the next WQE.  Returns the exact number of WQEs that wait to
 * be fetched, or -1, with a guest error, if the index is not valid or cannot be read.
 */
int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq);
/*
 * Read the next WQE once, decode the WQE into @sqe or @rqe, and advance the fetch index.
 * The caller has checked that a WQE waits.  @sqe->sge has room for max_sge elements.  A
 * WQE that is not valid gets an error in status.  Return false if the memory of the WQE
 * cannot be read; then the fetch index has advanced, too.
 */
bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe);
bool pvrdma_rq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaRqe *rqe);
/*
 * Returns @count slots to the guest: advances cons, and writes cons to guest memory.  If
 * the bus refuses this write, logs a guest error.
 */
void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count);
/* Sets the indices to 0.  Does not change the indices in guest memory. */
void pvrdma_wq_reset(PvrdmaWq *wq);
/*
 * Sets the indices from a snapshot.  Sets the fetch index to @cons, because the device
 * must fetch again all WQEs whose slots are not returned to the guest.  Returns false if
 * the indices are not valid.
 */
bool pvrdma_wq_resume(PvrdmaWq *wq, uint32_t cons, uint32_t prod);

/*
 * Copy @len bytes between @buf and a scatter/gather list of @sges elements, from byte
 * @offset of the list on.  Return enum pvrdma_wc_status: SUCCESS; LOC_PROT_ERR if an
 * access to a region fails; LOC_LEN_ERR if bytes are beyond the end of the list.  After
 * an error a part of the bytes may have been copied.
 */
uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len);
uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len);

#endif /* HW_PVRDMA_OBJECTS_WQ_H */
