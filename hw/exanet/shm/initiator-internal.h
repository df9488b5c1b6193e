/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: transactions of the initiator.  initiator.c accepts requests
 * and ends transactions, initiator-tx.c sends packets, initiator-retry.c handles
 * responses and retransmits.
 */
#ifndef HW_EXANET_SHM_INITIATOR_INTERNAL_H
#define HW_EXANET_SHM_INITIATOR_INTERNAL_H

#include "qemu/queue.h"
#include "../../core/deadline.h"
#include "initiator.h"
#include "internal.h"
#include "node.h"
#include "timing.h"

#define SLOTS_MAX           64      /* limit of the field EXANET_STID_SLOT */
/* Number of slots of each class. */
extern const uint8_t exanet_shm_slots[EXANET_SHM_CLASSES];

typedef struct ExanetTransaction {
    ExanetShmRequest req;           /* @req.data is @data */
    ShmNode *node;                  /* NULL: the slot is free */
    uint64_t serial;                /* increases in the order of issue */
    int64_t since;                  /* ns, time of issue */
    int64_t sent;                   /* ns, when the last copy was sent */
    int64_t deadline;               /* ns, when the initiator checks the transaction */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;                   /* SEQ, the same in all copies */
    uint16_t copies;                /* number of copies that were sent, saturating */
    uint16_t timeouts;              /* number of timeouts, saturating */
    uint16_t refusals;              /* number of temporary refusals, saturating */
    uint8_t resp;                   /* last refusal, enum exanet_resp; see @rejected */
    bool queued;                    /* is in the queue of packets to send */
    /*
     * The last copy was refused.  @deadline ends the delay before the retransmission, or
     * the wait of an RDMA transaction for RESOLVED.
     */
    bool refused;
    bool responded;                 /* the master has got the early response */
    bool answer;                    /* is in the list of answers */
    bool rejected;                  /* fails with @resp in a later run; is never sent */
    bool reported;                  /* the master has reported the failure itself */
    bool early;                     /* with timing: answered early after the first copy */
    int64_t answer_at;              /* with timing: tenths of ns, of the early answer */
    ExanetTimingPacket timing;
    /* FENCE was written while this store or RDMA write was under way. */
    bool fenced;
    QTAILQ_ENTRY(ExanetTransaction) send;
    QTAILQ_ENTRY(ExanetTransaction) next_answer;
    uint8_t data[EXANET_MTU];
} ExanetTransaction;

typedef QTAILQ_HEAD(, ExanetTransaction) ExanetTransactions;

struct ExanetInitiator {
    ExanetTransaction slot[EXANET_SHM_CLASSES][SLOTS_MAX];
    unsigned busy[EXANET_SHM_CLASSES];  /* slots in use */
    ExanetTransactions queue[QUEUES];   /* transactions with a copy to send */
    ExanetTransactions answers;     /* early responses and failures for the next run */
    ShmNodes *nodes;                /* owned */
    uint64_t serial;                /* serial of the last transaction */
    uint32_t run;                   /* number of calls of exanet_initiator_send() */
    unsigned shared_row;            /* packets of QUEUE_SHARED since one of QUEUE_RDMA */
    /*
     * By AXI ID and context: address and reason of the last stall; 0 after a request was
     * accepted.
     */
    uint64_t stalled[1u << 6][EXANET_CONTEXTS + 1];
    /* A request was not accepted since a transaction ended last. */
    bool request_waits;
    bool aborting;                  /* no request is accepted now */
    RNicDeadline deadline;          /* for all transactions */
    bool due;                       /* the timer of @deadline has fired */
};

/*
 * Iterate with @t_ over the transactions under way of @ini: EXANET_FOREACH_OF over those
 * of class @class_, EXANET_FOREACH over all.
 */
#define EXANET_FOREACH_OF(t_, ini, class_) \
    for (ExanetTransaction *t_ = (ini)->slot[class_]; \
         t_ < (ini)->slot[class_] + exanet_shm_slots[class_]; t_++) \
        if (t_->node)
#define EXANET_FOREACH(t_, ini) \
    for (unsigned class_ = 0; class_ < EXANET_SHM_CLASSES; class_++) \
        EXANET_FOREACH_OF(t_, ini, class_)

/* Returns true if transactions of @class (enum exanet_shm_class) write. */
static inline bool exanet_transaction_writes(unsigned class)
{
    return class == EXANET_SHM_STORE || class == EXANET_SHM_RDMA_WRITE;
}

/* Returns the queue (QUEUE_) for transactions of @class. */
static inline unsigned exanet_transaction_queue(unsigned class)
{
    return class < EXANET_SHM_RDMA_WRITE ? QUEUE_SHARED : QUEUE_RDMA;
}

/* --- initiator.c ------------------------------------------------------------ */

/*
 * Returns true if @t is the oldest transaction of its class to its node.  Rejected
 * transactions do not count.
 */
bool exanet_transaction_oldest(ExanetInitiator *ini, const ExanetTransaction *t);
/* Sets the deadline (ns) of @t, and arms the timer. */
void exanet_transaction_arm(ExanetInitiator *ini, ExanetTransaction *t,
                            int64_t deadline);
/*
 * Adds @t to the end of the queue, or moves @t there, to send a copy.  If @t was refused,
 * ends the back-off and starts the timeout.
 */
void exanet_transaction_enqueue(ExanetState *s, ExanetTransaction *t);
/* Removes @t from the queue if @t is in the queue. */
void exanet_transaction_dequeue(ExanetInitiator *ini, ExanetTransaction *t);
/* Adds @t to the list of early responses and failures for the next run. */
void exanet_transaction_answer(ExanetState *s, ExanetTransaction *t);
/*
 * Ends @t and frees the slot.  Calls ExanetShmRequest.respond with @resp and @data unless
 * the master got an early response.  Calls ExanetShmRequest.settled with @resp for a
 * write.
 */
void exanet_transaction_finish(ExanetState *s, ExanetTransaction *t,
                               enum exanet_resp resp, const uint8_t *data);
/*
 * Ends @t with error @resp.  If @t is a load or store whose master has reported no error,
 * reports @code by exanet_shm_error().
 */
void exanet_transaction_fail(ExanetState *s, ExanetTransaction *t,
                             enum exanet_resp resp, enum exanet_resp code);

/* --- initiator-tx.c ---------------------------------------------------------- */

/*
 * Sends copies of the transactions in the queues, up to a limit.  Returns true if more
 * could be sent now.
 */
bool exanet_initiator_send(ExanetState *s);

/* --- initiator-retry.c ------------------------------------------------------- */

/*
 * Records that a copy of the RDMA write @t may still be under way when @t has ended.  The
 * copy must not overwrite newer data.  With ORDER, the target does not execute the copy
 * after a newer write with FIRST.  So the next RDMA write to the node is issued when all
 * RDMA writes under way to the node have ended, and then has FIRST.  Has no effect for
 * other transactions, and for a write of which no copy was sent.
 */
void exanet_transaction_drain(ExanetInitiator *ini, ExanetTransaction *t);
/*
 * Handles all transactions whose deadline has passed.  With ORDER, if a store was not
 * refused and an older store to its node is under way, the store only gets a new
 * deadline.
 */
void exanet_initiator_expire(ExanetState *s);

#endif /* HW_EXANET_SHM_INITIATOR_INTERNAL_H */
