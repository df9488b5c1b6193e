/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the order of stores of another node, and duplicates of requests.
 */
#ifndef HW_EXANET_SHM_ORDER_H
#define HW_EXANET_SHM_ORDER_H

#include "qemu/bitmap.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/*
 * Limits of the distance between sequence numbers under way to one node: SPAN of stores,
 * WINDOW of RDMA writes.  Targets know the state of so many requests.
 */
#define EXANET_SHM_SPAN 1024
#define EXANET_SHM_WINDOW 128

/* State of a node that accesses memory of this node; owned by ExanetSource. */
typedef struct ExanetShmSource ExanetShmSource;
struct ExanetShmSource {
    int64_t time;                   /* ns, time of the last store or RDMA write */
    uint16_t store;                 /* SEQ that the next store has */
    uint16_t rdma;                  /* SEQ after the newest RDMA write */
    bool store_valid;               /* @store is known */
    bool rdma_valid;                /* @rdma is known */
    /* Executed RDMA writes, by SEQ modulo the size. */
    DECLARE_BITMAP(rdma_done, EXANET_SHM_WINDOW);
};

typedef enum ExanetShmOrder {
    EXANET_SHM_NEW,
    /* The request was executed before, or its node has given it up. */
    EXANET_SHM_DUPLICATE,
    EXANET_SHM_AHEAD,               /* an older request is missing, or SEQ is too far */
} ExanetShmOrder;

/*
 * Returns the class of request @pkt.  Advances the order to a NEW request, and counts any
 * other request.  The caller does not answer an AHEAD request, because ACK would mean
 * that the request was executed.
 */
ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt);
/*
 * Advances the order to the refused request @pkt if it has FIRST, because FIRST means
 * that all older requests have ended, even if @pkt is refused.
 */
void exanet_shm_order_refused(ExanetState *s, ExanetShmSource *o,
                              const ExanetPacket *pkt);
/* Records that @pkt has been executed. */
void exanet_shm_order_note(ExanetState *s, ExanetShmSource *o,
                           const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_ORDER_H */
