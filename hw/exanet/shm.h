/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the AXI masters of this node, what carries their loads and
 * stores to other nodes, and what does those of other nodes here.
 *
 *   CPU --> aperture.c --+                                    +--> memory of a process
 *           tgen.c ------+--> shm-initiator.c ==> crossbar ==> shm-target.c
 *           accel.c -----+       ^  responses  <== crossbar <==+--> block RAM
 *           cdma.c ------+-------+
 *
 * shm.c has the registers and the life of the unit, shm-timing.c knows how long all
 * takes.  None of these knows the RDMA engine; [T §n] is the paper of rnic/exanet/shm.h.
 */
#ifndef HW_EXANET_SHM_H
#define HW_EXANET_SHM_H

#include "exanet.h"

typedef struct ExanetAperture ExanetAperture;
typedef struct ExanetInitiator ExanetInitiator;
typedef struct ExanetTarget ExanetTarget;
typedef struct ExanetCdma ExanetCdma;
typedef struct ExanetTgen ExanetTgen;
typedef struct ExanetAccel ExanetAccel;
typedef struct ExanetTiming ExanetTiming;

struct ExanetShm {
    ExanetAperture *aperture;
    ExanetInitiator *initiator;
    ExanetTarget *target;
    ExanetCdma *cdma;
    ExanetTgen *tgen;
    ExanetAccel *accel;
    ExanetTiming *timing;           /* NULL: shm-timing=off */
    uint8_t *bram;                  /* s->bram_size bytes */
    uint32_t errors[EXANET_CONTEXTS];   /* that exanet_shm_error() was told */
};

/* --- The unit: shm.c ----------------------------------------------------- */

/* Makes aperture_mr and all parts; false with @errp set on bad properties. */
bool exanet_shm_init(ExanetState *s, Error **errp);
void exanet_shm_fini(ExanetState *s);
/* What lasts until the last reference to the device is gone. */
void exanet_shm_finalize(ExanetState *s);
void exanet_shm_reset(ExanetState *s);
/* One turn of all parts; true if there is more that could go on now. */
bool exanet_shm_run(ExanetState *s);
/*
 * Answers all that is under way with PROTECTION, and takes nothing meanwhile: the device
 * is about to be reset, or to go.
 */
void exanet_shm_abort(ExanetState *s);
/* As the functions of other units; @offset from the start of the block EXANET_SHM. */
void exanet_shm_reg_sync(ExanetState *s, unsigned offset);
void exanet_shm_reg_written(ExanetState *s, unsigned offset, bool top);
/* Register @reg of the block EXANET_SHM. */
static inline uint32_t exanet_shm_get32(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SHM + reg);
}
/* SHM_CTRL bits that are in effect: without what CTRL_STRICT takes away. */
uint32_t exanet_shm_ctrl(ExanetState *s);
/* Nothing of this unit is under way. */
bool exanet_shm_quiescent(ExanetState *s);
/* Context @c is about to end: its segments go, and what it has under way fails. */
void exanet_shm_quiesce(ExanetState *s, unsigned c);
/* Transactions of context @c under way. */
unsigned exanet_shm_active(ExanetState *s, unsigned c);
/* The driver resolved a fault of unit EXANET_FAULT_SHM. */
void exanet_shm_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);
/*
 * A load or store of context @c to @gva has failed for good with @resp, ACK: there was
 * no answer, after @retries copies: ERR_GVA, ERR_INFO, interrupt, error count.  @c is
 * EXANET_CONTEXTS if it is in no segment.
 */
void exanet_shm_error(ExanetState *s, unsigned c, uint64_t gva,
                      enum exanet_shm_class class, enum exanet_resp resp,
                      unsigned retries);

/* --- Initiator: shm-initiator.c ------------------------------------------ */

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
/* Stores and RDMA writes of context @c that have no genuine response by now. */
unsigned exanet_shm_stores(ExanetState *s, unsigned c);
/* A packet of type AXI_RESPONSE arrived. */
void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt);

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

/* --- Target: shm-target.c; order of stores: shm-order.c -------------------- */

/*
 * How far the numbers of stores and of RDMA writes under way may be apart: targets know
 * so many of those that were done.
 */
#define EXANET_SHM_SPAN 1024
#define EXANET_SHM_WINDOW 128

/* What is known of a node that loads and stores here; part of ExanetSource. */
typedef struct ExanetShmSource {
    int64_t time;                   /* of the last store or RDMA write, ns */
    uint16_t store;                 /* SEQ of the next store */
    uint16_t rdma;                  /* SEQ behind the newest RDMA write */
    bool store_known;
    bool rdma_known;
    DECLARE_BITMAP(rdma_done, EXANET_SHM_WINDOW);   /* by SEQ modulo that */
} ExanetShmSource;

typedef enum ExanetShmOrder {
    EXANET_SHM_TAKE,
    EXANET_SHM_AGAIN,               /* was done before, or given up */
    EXANET_SHM_EARLY,               /* an older one is missing, or too many are */
} ExanetShmOrder;

/*
 * What to make of the request @pkt; what is not to be done is counted.  Nothing is
 * answered with ACK that is not known to have been done; EARLY ones get no answer.
 */
ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt);
/* @pkt is refused; but what it tells of those before it is true. */
void exanet_shm_order_refused(ExanetState *s, ExanetShmSource *o,
                              const ExanetPacket *pkt);
/* @pkt has been done. */
void exanet_shm_order_note(ExanetState *s, ExanetShmSource *o,
                           const ExanetPacket *pkt);
/* A packet of type AXI_READ or AXI_WRITE arrived, for memory or NI_BRAM. */
void exanet_shm_request(ExanetState *s, const ExanetPacket *pkt);
/* Answers the request @pkt with @resp, and does nothing else. */
void exanet_shm_refuse(ExanetState *s, const ExanetPacket *pkt,
                       enum exanet_resp resp);
/* The driver resolved a fault of another node's load or store. */
void exanet_target_resolved(ExanetState *s, const ExanetPendingFault *f,
                            bool ok);
void exanet_target_init(ExanetState *s);
void exanet_target_fini(ExanetState *s);
void exanet_target_reset(ExanetState *s);
/* Sends responses; true if there are more that could leave. */
bool exanet_target_run(ExanetState *s);
/* The transaction tables. */
void exanet_target_reg_sync(ExanetState *s);

/* --- CPU: aperture.c ----------------------------------------------------- */

void exanet_aperture_init(ExanetState *s);
void exanet_aperture_fini(ExanetState *s);
void exanet_aperture_finalize(ExanetState *s);
void exanet_aperture_reset(ExanetState *s);
bool exanet_aperture_run(ExanetState *s);
/* A register of MAP entry @m was written. */
void exanet_aperture_map_written(ExanetState *s, unsigned m);
void exanet_aperture_quiesce(ExanetState *s, unsigned c);
/* Ends what was not issued yet. */
void exanet_aperture_abort(ExanetState *s);
/* Stores of context @c that were not issued yet. */
unsigned exanet_aperture_stores(ExanetState *s, unsigned c);
/* FENCE was written; whether any of the stores that waited then is not over. */
void exanet_aperture_fence(ExanetState *s);
bool exanet_aperture_fenced(ExanetState *s);
/* A load or store of another node is being done, which must not come back by us. */
void exanet_aperture_guard(ExanetState *s, bool on);

/* --- CDMA and RDMA tracker: cdma.c --------------------------------------- */

void exanet_cdma_init(ExanetState *s);
void exanet_cdma_fini(ExanetState *s);
void exanet_cdma_reset(ExanetState *s);
bool exanet_cdma_run(ExanetState *s);
void exanet_cdma_reg_sync(ExanetState *s, unsigned ch);
void exanet_cdma_reg_written(ExanetState *s, unsigned ch, unsigned reg,
                             bool top);
void exanet_cdma_tracker_sync(ExanetState *s, unsigned ch);
/* The driver resolved a fault of this node's own channel. */
void exanet_cdma_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);
void exanet_cdma_quiesce(ExanetState *s, unsigned c);
unsigned exanet_cdma_active(ExanetState *s, unsigned c);

/* --- Traffic generator: tgen.c ------------------------------------------- */

void exanet_tgen_init(ExanetState *s);
void exanet_tgen_fini(ExanetState *s);
void exanet_tgen_reset(ExanetState *s);
bool exanet_tgen_run(ExanetState *s);
void exanet_tgen_reg_sync(ExanetState *s);
void exanet_tgen_reg_written(ExanetState *s, unsigned reg, bool top);
void exanet_tgen_quiesce(ExanetState *s, unsigned c);
unsigned exanet_tgen_active(ExanetState *s, unsigned c);

/* --- Accelerator: accel.c ------------------------------------------------ */

void exanet_accel_init(ExanetState *s);
void exanet_accel_fini(ExanetState *s);
void exanet_accel_reset(ExanetState *s);
bool exanet_accel_run(ExanetState *s);
void exanet_accel_reg_sync(ExanetState *s);
void exanet_accel_reg_written(ExanetState *s, unsigned reg, bool top);
void exanet_accel_quiesce(ExanetState *s, unsigned c);
unsigned exanet_accel_active(ExanetState *s, unsigned c);

#endif /* HW_EXANET_SHM_H */
