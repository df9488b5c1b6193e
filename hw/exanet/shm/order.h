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
 * The sequence numbers of two stores under way to one node differ by less than SPAN, of
 * two RDMA writes by less than WINDOW.  A target can tell whether a copy of one of the
 * last SPAN stores or WINDOW RDMA writes must be executed.
 */
#define EXANET_SHM_SPAN 1024
#define EXANET_SHM_WINDOW 128

/* State of a node that accesses memory of this node; owned by ExanetSource. */
typedef struct ExanetShmSource ExanetShmSource;
struct ExanetShmSource {
    int64_t time;                   /* ns, time of the last write that was new */
    uint16_t store;                 /* SEQ of the next store to execute */
    uint16_t rdma;                  /* SEQ of the newest RDMA write, plus 1 */
    bool store_valid;               /* @store is known */
    bool rdma_valid;                /* @rdma is known */
    /* One bit for each RDMA write that was executed or has ended; SEQ modulo the size. */
    DECLARE_BITMAP(rdma_done, EXANET_SHM_WINDOW);
};

typedef enum ExanetShmOrder {
    EXANET_SHM_NEW,                 /* the request must be executed now */
    /* The write was executed before, or its transaction has ended. */
    EXANET_SHM_DUPLICATE,
    EXANET_SHM_AHEAD,               /* an older store may be missing, or SEQ is too far */
} ExanetShmOrder;

/*
 * Compares request @pkt with the earlier requests of its node.  Advances the order to a
 * NEW write, and counts a request that is not NEW.  The caller must not answer an AHEAD
 * request, because ACK would mean that the request was executed.  Returns NEW for each
 * load and RDMA read.  If ORDER of SHM_CTRL is not in effect, returns NEW for each
 * request, and marks @store and @rdma of @o as not known.
 */
ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt);
/*
 * Advances the order to the refused request @pkt if @pkt is a new write with FIRST, and
 * ORDER of SHM_CTRL is in effect.  FIRST means that all older writes of the same class
 * from the node have ended, even if @pkt is refused.
 */
void exanet_shm_order_refused(ExanetState *s, ExanetShmSource *o,
                              const ExanetPacket *pkt);
/*
 * Records that @pkt has been executed.  Has no effect for loads and RDMA reads, or if
 * ORDER of SHM_CTRL is not in effect.
 */
void exanet_shm_order_note(ExanetState *s, ExanetShmSource *o,
                           const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_ORDER_H */
