/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the order of the stores of another node, and copies of them.
 */
#ifndef HW_EXANET_SHM_ORDER_H
#define HW_EXANET_SHM_ORDER_H

#include "qemu/bitmap.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/*
 * How far the numbers of stores and of RDMA writes under way may be apart: targets know
 * so many of those that were done.
 */
#define EXANET_SHM_SPAN 1024
#define EXANET_SHM_WINDOW 128

/* What is known of a node that loads and stores here; owned by ExanetSource. */
typedef struct ExanetShmSource ExanetShmSource;
struct ExanetShmSource {
    int64_t time;                   /* of the last store or RDMA write, ns */
    uint16_t store;                 /* SEQ of the next store */
    uint16_t rdma;                  /* SEQ behind the newest RDMA write */
    bool store_known;
    bool rdma_known;
    DECLARE_BITMAP(rdma_done, EXANET_SHM_WINDOW);   /* by SEQ modulo that */
};

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

#endif /* HW_EXANET_SHM_ORDER_H */
