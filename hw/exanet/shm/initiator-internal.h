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

#define SLOTS_MAX           64      /* limit of slots: values of EXANET_STID_SLOT */
/* Number of slots of each class (enum exanet_shm_class). */
extern const uint8_t exanet_shm_slots[EXANET_SHM_CLASSES];

typedef struct ExanetTransaction {
    ExanetShmRequest req;           /* @req.data is @data */
    ShmNode *node;                  /* NULL: the slot is free */
    uint64_t serial;                /* increases in the order of issue */
    int64_t since;                  /* ns, time of issue */
    int64_t sent;                   /* ns, when the last copy was sent */
    /* ns, when the initiator checks the transaction; INT64_MAX: never */
    int64_t deadline;
    uint16_t tid;                   /* wire TID */
    uint16_t seq;                   /* SEQ of the request, the same in all copies */
    uint16_t copies;                /* number of copies that were sent, saturating */
    uint16_t timeouts;              /* number of timeouts, saturating */
    /* number of refusals of a load or store that response_refused() did not ignore */
    uint16_t refusals;
    /* last refusal, enum exanet_resp (FAULT for RESOLVED); see also @rejected */
    uint8_t resp;
    bool queued;                    /* is in ExanetInitiator.queue */
    /*
     * The target has refused the last copy, and no further copy is queued yet.  @deadline
     * ends the delay before the retransmission or, for an RDMA transaction, the wait for
     * a second response.
     */
    bool refused;
    bool responded;                 /* the master has got the early response */
    bool answer;                    /* is in ExanetInitiator.answers */
    bool rejected;                  /* fails with @resp in a later run; is never sent */
    bool reported;                  /* the master has reported the failure itself */
    /* with timing: an early answer follows the first copy */
    bool early;
    /* with timing: time of the early answer, tenths of ns */
    int64_t answer_at;
    ExanetTimingPacket timing;
    /* SHM_FENCE was written while this store or RDMA write was under way. */
    bool fenced;
    QTAILQ_ENTRY(ExanetTransaction) send;
    QTAILQ_ENTRY(ExanetTransaction) next_answer;
    uint8_t data[EXANET_MTU];
} ExanetTransaction;

typedef QTAILQ_HEAD(, ExanetTransaction) ExanetTransactions;

struct ExanetInitiator {
    ExanetTransaction slot[EXANET_SHM_CLASSES][SLOTS_MAX];
    unsigned busy[EXANET_SHM_CLASSES];  /* number of slots in use */
    ExanetTransactions queue[QUEUES];   /* transactions with a copy to send */
    ExanetTransactions answers;     /* early responses and failures for later runs */
    ShmNodes *nodes;                /* owned */
    uint64_t serial;                /* serial of the last transaction */
    uint32_t run;                   /* number of calls of exanet_initiator_send() */
    /* number of packets of QUEUE_SHARED sent since the last packet of QUEUE_RDMA */
    unsigned shared_row;
    /*
     * By AXI ID and context: address and counter of the last stall that was counted (a
     * request that had to wait); 0 after a request that did not have to wait.
     */
    uint64_t stalled[1u << 6][EXANET_CONTEXTS + 1];
    /* A request was not accepted, and no transaction has ended since. */
    bool request_waits;
    bool aborting;                  /* exanet_shm_issue() accepts no request now */
    RNicDeadline deadline;          /* timer for the deadlines of all transactions */
    bool due;                       /* the timer of @deadline has fired */
};

/*
 * EXANET_FOREACH_OF iterates with @t_ over the transactions under way of @ini that have
 * class @class_, EXANET_FOREACH over all transactions under way of @ini.
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

/* Returns the queue for transactions of @class: QUEUE_SHARED or QUEUE_RDMA. */
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
/*
 * Sets the deadline (ns) of @t.  The initiator's timer fires at this time, or earlier for
 * another deadline.
 */
void exanet_transaction_arm(ExanetInitiator *ini, ExanetTransaction *t,
                            int64_t deadline);
/*
 * Adds @t to the end of the queue of its class, or moves @t to the end, so that a copy of
 * @t is sent.  If @t was refused, ends the delay before the retransmission and starts the
 * timeout.
 */
void exanet_transaction_enqueue(ExanetState *s, ExanetTransaction *t);
/* Removes @t from the queue of its class if @t is in this queue. */
void exanet_transaction_dequeue(ExanetInitiator *ini, ExanetTransaction *t);
/* Adds @t to @answers, the early responses and failures that a later run delivers. */
void exanet_transaction_answer(ExanetState *s, ExanetTransaction *t);
/*
 * Ends @t and frees its slot.  Calls ExanetShmRequest.respond with @resp and @data unless
 * the master has got an early response.  For a write, also calls ExanetShmRequest.settled
 * with @resp.
 */
void exanet_transaction_finish(ExanetState *s, ExanetTransaction *t,
                               enum exanet_resp resp, const uint8_t *data);
/*
 * Ends @t with error @resp.  If @t is a load or store, and the master has not reported
 * the failure itself, first reports the failure with @code by exanet_shm_error().
 */
void exanet_transaction_fail(ExanetState *s, ExanetTransaction *t,
                             enum exanet_resp resp, enum exanet_resp code);

/* --- initiator-tx.c ---------------------------------------------------------- */

/*
 * Sends copies of the transactions in the queues, up to a limit.  Returns true if the
 * limit is reached and another copy may be able to leave now.
 */
bool exanet_initiator_send(ExanetState *s);

/* --- initiator-retry.c ------------------------------------------------------- */

/*
 * Records that the copy of the RDMA write @t may still be under way after the end of @t.
 * The copy must not overwrite newer data.  With ORDER of SHM_CTRL, the target does not
 * execute the copy after a newer write with FIRST.  So the initiator issues the next RDMA
 * write to the node only when all RDMA writes that are under way to the node now have
 * ended, and this next write has FIRST.  Has no effect for other transactions, and for a
 * write of which no copy was sent.
 */
void exanet_transaction_drain(ExanetInitiator *ini, ExanetTransaction *t);
/*
 * Handles all transactions whose deadline has passed.  With ORDER, a store that was not
 * refused only gets a new deadline while an older store to the same node is under way.
 */
void exanet_initiator_expire(ExanetState *s);

#endif /* HW_EXANET_SHM_INITIATOR_INTERNAL_H */
