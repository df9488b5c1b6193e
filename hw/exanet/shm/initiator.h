/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: carries the loads and stores of this node's AXI masters.
 */
#ifndef HW_EXANET_SHM_INITIATOR_H
#define HW_EXANET_SHM_INITIATOR_H

#include "../exanet.h"

/*
 * What an AXI master of this node asks for; copied, @data as well.  The two functions
 * are called from the units' work, never from inside exanet_shm_issue(), and may issue
 * again.
 */
typedef struct ExanetShmRequest {
    uint64_t gva;
    const void *data;               /* stores and RDMA writes: @size bytes */
    uint16_t size;                  /* 1..256, not across a multiple of EXANET_MTU */
    uint16_t pdid;                  /* the target's */
    uint8_t class;                  /* enum exanet_shm_class */
    uint8_t axi_id;                 /* EXANET_AXI_ID_ */
    uint8_t ctx;                    /* whose it is */
    bool early;                     /* may be acknowledged early */
    bool joined;                    /* goes on with the AXI burst of the one before */
    /*
     * The response of the AXI slave, once for each request that was taken: data of a
     * read (@size bytes, NULL if not ACK).  ABORTED transactions have PROTECTION.
     */
    void (*respond)(ExanetState *s, void *opaque, enum exanet_resp resp,
                    const uint8_t *data);
    /*
     * Writes: once, when the genuine response is there or the transaction has failed,
     * after or in place of an early response.  NULL: of no interest.  RDMA
     * transactions are not issued again here: time-outs give @resp NO_CONTEXT, or FAULT
     * when the page was not told to be there in time.
     */
    void (*settled)(ExanetState *s, void *opaque, enum exanet_resp resp);
    void *opaque;
} ExanetShmRequest;

/*
 * Takes a request, if it need not wait: for a slot, a timer, room on the way, or, by
 * SHM_CTRL, for an earlier store.  False: ask again in each turn of the units until
 * it is taken; exanet_schedule() is called when that may have become so.  Requests to
 * nodes that no way leads to are taken, too, and fail like those that are not answered.
 */
bool exanet_shm_issue(ExanetState *s, const ExanetShmRequest *req);
/*
 * The master that gave @opaque, an address, has told of the failure itself: what
 * becomes of the transaction is no error any more.
 */
void exanet_shm_told(ExanetState *s, const void *opaque);
void exanet_initiator_init(ExanetState *s);
void exanet_initiator_fini(ExanetState *s);
void exanet_initiator_reset(ExanetState *s);
bool exanet_initiator_run(ExanetState *s);
/* FENCE, SHM_STATUS and the timers; a write to FENCE. */
void exanet_initiator_reg_sync(ExanetState *s);
void exanet_initiator_fence(ExanetState *s);
void exanet_initiator_quiesce(ExanetState *s, unsigned c);
void exanet_initiator_abort(ExanetState *s);
unsigned exanet_initiator_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_INITIATOR_H */
