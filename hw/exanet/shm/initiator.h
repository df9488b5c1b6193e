/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the initiator, which sends loads and stores of this node's AXI
 * masters to the targets of nodes, also to the target of this node.
 */
#ifndef HW_EXANET_SHM_INITIATOR_H
#define HW_EXANET_SHM_INITIATOR_H

#include "../exanet.h"

/*
 * A request of an AXI master of this node.  The initiator copies the request and the
 * data.  exanet_shm_issue() never calls @respond or @settled.  The initiator calls
 * @respond and @settled in a run of the loop, when a response arrives, when the context
 * is disabled or quiesced, and when the device is reset or unplugged.  @respond and
 * @settled may call exanet_shm_issue().
 */
typedef struct ExanetShmRequest {
    uint64_t gva;                   /* address at the target, a GVA */
    const void *data;               /* @size bytes of a store or RDMA write */
    uint16_t size;                  /* 1 to 256 bytes, within one block of EXANET_MTU */
    uint16_t pdid;                  /* PDID of the target */
    uint8_t class;                  /* enum exanet_shm_class */
    uint8_t axi_id;                 /* fields EXANET_AXI_ID_MASTER and _NUMBER */
    uint8_t ctx;                    /* context of the request; EXANET_CONTEXTS: none */
    bool early;                     /* early acknowledgement of a write is permitted */
    /* The request continues the AXI burst of the previous request; only for timing. */
    bool joined;
    /*
     * Called once for each accepted request, with the result or, for a write, with an
     * early ACK.  The argument @data is the @size bytes of a read, or NULL for a write or
     * if @resp is not ACK.  @resp of an aborted transaction is PROTECTION.  May be NULL.
     */
    void (*respond)(ExanetState *s, void *opaque, enum exanet_resp resp,
                    const uint8_t *data);
    /*
     * Called once for each accepted write, after @respond, when the ACK of the target has
     * arrived or the transaction has failed.  May be NULL.  The initiator does not
     * retransmit RDMA transactions.  After a timeout, @resp of an RDMA write is
     * NO_CONTEXT.  After a page fault at the target, @resp of an RDMA write is FAULT if
     * no second response arrives before the deadline.  The second response is RESOLVED,
     * or DECODE if the driver has no page.
     */
    void (*settled)(ExanetState *s, void *opaque, enum exanet_resp resp);
    void *opaque;                   /* for @respond and @settled */
} ExanetShmRequest;

/*
 * Accepts @req and returns true.  Returns false if @req must wait: for a slot, for its
 * job's share of the slots, for stores to the same 64 bytes, for older writes, or for the
 * end of an abort or quiesce.  Then the caller tries again in each run, and the initiator
 * calls exanet_schedule() when a transaction has ended.  If @req need not wait, but is
 * not permitted, or its node is unreachable or finds no room in the table of nodes, @req
 * is accepted and fails later.
 */
bool exanet_shm_issue(ExanetState *s, const ExanetShmRequest *req);
/*
 * Marks all transactions under way whose request has @opaque.  The master has reported a
 * failure of such a request itself, so the initiator will report no failure.
 */
void exanet_shm_reported(ExanetState *s, const void *opaque);
void exanet_initiator_init(ExanetState *s);
void exanet_initiator_fini(ExanetState *s);
void exanet_initiator_reset(ExanetState *s);
/*
 * Does the initiator's work of a round.  Returns true if work is left that may be
 * possible now.
 */
bool exanet_initiator_run(ExanetState *s);
/* Computes SHM_FENCE, SHM_STATUS and the registers of the timers before a read. */
void exanet_initiator_reg_sync(ExanetState *s);
/*
 * Handles a write of 1 to SHM_FENCE: marks all stores and RDMA writes under way, of all
 * masters, and the stores of the aperture that are not issued yet.
 */
void exanet_initiator_fence(ExanetState *s);
/* Ends all transactions of context @c with PROTECTION. */
void exanet_initiator_quiesce(ExanetState *s, unsigned c);
/* Ends all transactions with PROTECTION. */
void exanet_initiator_abort(ExanetState *s);
/* Returns the number of transactions of context @c that are under way. */
unsigned exanet_initiator_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_INITIATOR_H */
