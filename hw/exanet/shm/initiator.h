/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the initiator, which executes loads and stores of this node's
 * AXI masters at other nodes.
 */
#ifndef HW_EXANET_SHM_INITIATOR_H
#define HW_EXANET_SHM_INITIATOR_H

#include "../exanet.h"

/*
 * A request of an AXI master of this node.  The initiator copies the request and the
 * data.  The initiator calls the two functions from the units' work, never from
 * exanet_shm_issue(); the functions may issue requests.
 */
typedef struct ExanetShmRequest {
    uint64_t gva;                   /* address at the target, a GVA */
    const void *data;               /* data of stores and RDMA writes, @size bytes */
    uint16_t size;                  /* 1 to 256 bytes, within one block of EXANET_MTU */
    uint16_t pdid;                  /* PDID of the target */
    uint8_t class;                  /* enum exanet_shm_class */
    uint8_t axi_id;                 /* EXANET_AXI_ID_ */
    uint8_t ctx;                    /* context of the request; EXANET_CONTEXTS: none */
    bool early;                     /* early acknowledgement is permitted */
    /* Continues the AXI burst of the previous request. */
    bool joined;
    /*
     * The response of the AXI slave, once for each accepted request.  A read gets @size
     * bytes of data, or NULL if @resp is not ACK.  An aborted transaction has
     * PROTECTION.
     */
    void (*respond)(ExanetState *s, void *opaque, enum exanet_resp resp,
                    const uint8_t *data);
    /*
     * For writes: called once, when the response of the target has arrived or the
     * transaction has failed, after @respond.  May be NULL.  The initiator does not
     * retransmit RDMA transactions: after a timeout @resp is NO_CONTEXT, or FAULT if the
     * target has a page fault that it did not resolve before.
     */
    void (*settled)(ExanetState *s, void *opaque, enum exanet_resp resp);
    void *opaque;
} ExanetShmRequest;

/*
 * Accepts a request.  Returns false if the request must wait for a slot or for older
 * stores; then the caller tries again in each run, and exanet_schedule() is called when
 * the request may be accepted.  A request to a node without a route is accepted, and
 * fails like a request without an answer.
 */
bool exanet_shm_issue(ExanetState *s, const ExanetShmRequest *req);
/*
 * Marks the transaction whose request has @opaque: the master has reported a failure
 * itself, so the initiator reports no failure.
 */
void exanet_shm_reported(ExanetState *s, const void *opaque);
void exanet_initiator_init(ExanetState *s);
void exanet_initiator_fini(ExanetState *s);
void exanet_initiator_reset(ExanetState *s);
bool exanet_initiator_run(ExanetState *s);
/* Computes FENCE, SHM_STATUS and the registers of the timers, before a read. */
void exanet_initiator_reg_sync(ExanetState *s);
/* Handles a write to FENCE: marks the stores and RDMA writes under way. */
void exanet_initiator_fence(ExanetState *s);
/* Ends all transactions of context @c with PROTECTION. */
void exanet_initiator_quiesce(ExanetState *s, unsigned c);
/* Ends all transactions with PROTECTION. */
void exanet_initiator_abort(ExanetState *s);
/* Returns the number of transactions of context @c. */
unsigned exanet_initiator_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_INITIATOR_H */
