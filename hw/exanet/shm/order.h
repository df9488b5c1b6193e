/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: decides which requests of a node must be executed, by the order
 * of the node's writes, and recognizes duplicates of writes.
 */
#ifndef HW_EXANET_SHM_ORDER_H
#define HW_EXANET_SHM_ORDER_H

#include "qemu/bitmap.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;

/*
 * The SEQ of two stores of a node that are under way to the same target differ by less
 * than EXANET_SHM_SPAN, the SEQ of two such RDMA writes by less than EXANET_SHM_WINDOW.
 * So a target can tell for a copy of one of the last EXANET_SHM_SPAN stores or
 * EXANET_SHM_WINDOW RDMA writes of the node whether the copy must be executed.
 */
#define EXANET_SHM_SPAN 1024
#define EXANET_SHM_WINDOW 128

/*
 * The order of the writes of one node to this node; member higher of ExanetSource owns
 * the state.
 */
typedef struct ExanetShmSource ExanetShmSource;
struct ExanetShmSource {
    /* ns, time when the SEQ of a new write was last recorded */
    int64_t time;
    uint16_t store;                 /* SEQ of the next store to execute */
    uint16_t rdma;                  /* SEQ of the newest RDMA write, plus 1 */
    bool store_valid;               /* @store is known */
    bool rdma_valid;                /* @rdma is known */
    /*
     * Bit SEQ % EXANET_SHM_WINDOW is set if the RDMA write with this SEQ was executed, or
     * if a newer write with FIRST shows that the write has ended.  The bits are valid for
     * the last EXANET_SHM_WINDOW numbers before @rdma.
     */
    DECLARE_BITMAP(rdma_done, EXANET_SHM_WINDOW);
};

typedef enum ExanetShmOrder {
    EXANET_SHM_NEW,                 /* the request must be executed now */
    /* the write was executed before, or its transaction has ended */
    EXANET_SHM_DUPLICATE,
    /* an older store may be missing, or SEQ is too far from the expected SEQ */
    EXANET_SHM_AHEAD,
} ExanetShmOrder;

/*
 * Compares request @pkt with the earlier requests of its node, and returns whether @pkt
 * must be executed.  Records the SEQ of a NEW write in @o, and counts a request that is
 * not NEW.  The caller must not answer an AHEAD request, because ACK would mean that the
 * request was executed.  Returns NEW for each load and RDMA read.  If ORDER of SHM_CTRL
 * is not in effect, returns NEW for each request, and marks @store and @rdma of @o as not
 * known.
 */
ExanetShmOrder exanet_shm_order_check(ExanetState *s, ExanetShmSource *o,
                                      const ExanetPacket *pkt);
/*
 * Records the SEQ of the refused request @pkt in @o if @pkt is a new write with FIRST,
 * and ORDER of SHM_CTRL is in effect.  FIRST means that all older writes of the same
 * class from the node have ended, even if @pkt is refused.
 */
void exanet_shm_order_refused(ExanetState *s, ExanetShmSource *o,
                              const ExanetPacket *pkt);
/*
 * Records in @o that @pkt has been executed.  Has no effect for loads and RDMA reads, or
 * if ORDER of SHM_CTRL is not in effect.
 */
void exanet_shm_order_note(ExanetState *s, ExanetShmSource *o,
                           const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_ORDER_H */
