/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the order of stores of another node, and duplicates of them.
 */
#ifndef HW_EXANET_SHM_ORDER_H
#define HW_EXANET_SHM_ORDER_H

#include "qemu/bitmap.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/*
 * Maximal distance between the numbers of stores, and of RDMA writes, that are under
 * way.  Targets know the state of so many requests.
 */
#define EXANET_SHM_SPAN 1024
#define EXANET_SHM_WINDOW 128

/* State of a node that accesses memory of this one; owned by ExanetSource. */
typedef struct ExanetShmSource ExanetShmSource;
struct ExanetShmSource {
    int64_t time;                   /* ns, time of the last store or RDMA write */
    uint16_t store;                 /* SEQ that the next store has */
    uint16_t rdma;                  /* SEQ after the newest RDMA write */
    bool store_valid;
    bool rdma_valid;
    /* Executed RDMA writes, by SEQ modulo the size. */
    DECLARE_BITMAP(rdma_done, EXANET_SHM_WINDOW);
};

typedef enum ExanetShmOrder {
    EXANET_SHM_NEW,
    /* The request was executed before, or was given up. */
    EXANET_SHM_DUPLICATE,
    EXANET_SHM_AHEAD,               /* an older request is missing, or too many are */
} ExanetShmOrder;

/*
 * Classifies the request @pkt, and counts a request that must not be executed.
 * An AHEAD request gets no answer, because ACK would mean that it was executed.
 */
ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt);
/*
 * Updates the order for the refused request @pkt.  Its FIRST still means that the
 * requests before it are over.
 */
void exanet_shm_order_refused(ExanetState *s, ExanetShmSource *o,
                              const ExanetPacket *pkt);
/* Records that @pkt has been executed. */
void exanet_shm_order_note(ExanetState *s, ExanetShmSource *o,
                           const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_ORDER_H */
