/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: transactions of the initiator.  initiator.c takes requests and
 * ends transactions, initiator-tx.c sends them, initiator-retry.c knows responses and
 * retransmits.
 */
#ifndef HW_EXANET_SHM_INITIATOR_INTERNAL_H
#define HW_EXANET_SHM_INITIATOR_INTERNAL_H

#include "qemu/queue.h"
#include "../../core/deadline.h"
#include "initiator.h"
#include "internal.h"
#include "node.h"
#include "timing.h"

#define SLOTS_MAX           64      /* EXANET_STID_SLOT */
/* Slots of each class. */
extern const uint8_t exanet_shm_slots[EXANET_SHM_CLASSES];

typedef struct ExanetTransaction {
    ExanetShmRequest req;           /* data: @data */
    ShmNode *node;                  /* NULL: the slot is free */
    uint64_t serial;                /* in the order of issue */
    int64_t since;                  /* ns, when it was issued ... */
    int64_t sent;                   /* ... its last copy was sent ... */
    int64_t deadline;               /* ... and is looked at again */
    uint16_t tid;                   /* wire TID */
    uint16_t seq;
    uint16_t copies;                /* that were sent */
    uint16_t timeouts;
    uint16_t refusals;
    uint8_t resp;                   /* last refusal */
    bool queued;                    /* for being sent */
    bool refused;                   /* the last copy was; @deadline is another's */
    bool responded;                 /* to its master */
    bool answer;                    /* is in the list of answers */
    bool lost;                      /* at once, with @resp */
    bool told;                      /* its failure; by its master */
    bool early;                     /* is acknowledged when it has left */
    int64_t answer_at;
    ExanetTimingPacket timing;
    bool fenced;                    /* FENCE was written since */
    QTAILQ_ENTRY(ExanetTransaction) send;
    QTAILQ_ENTRY(ExanetTransaction) next_answer;
    uint8_t data[EXANET_MTU];
} ExanetTransaction;

typedef QTAILQ_HEAD(, ExanetTransaction) ExanetTransactions;

struct ExanetInitiator {
    ExanetTransaction slot[EXANET_SHM_CLASSES][SLOTS_MAX];
    unsigned busy[EXANET_SHM_CLASSES];
    ExanetTransactions queue[QUEUES];
    ExanetTransactions answers;
    ShmNodes *nodes;                /* owned */
    uint64_t serial;
    uint32_t turn;
    unsigned row;                   /* loads and stores since an RDMA packet */
    uint64_t stalled[1u << 6];      /* by AXI id: what was refused, and why */
    bool wanted;                    /* a request was refused */
    bool aborting;
    RNicDeadline deadline;          /* of all transactions */
    bool due;                       /* the timer has fired */
};

/* All transactions under way of @ini as @t_, those of class @class_ alone. */
#define EXANET_FOREACH_OF(t_, ini, class_) \
    for (ExanetTransaction *t_ = (ini)->slot[class_]; \
         t_ < (ini)->slot[class_] + exanet_shm_slots[class_]; t_++) \
        if (t_->node)
#define EXANET_FOREACH(t_, ini) \
    for (unsigned class_ = 0; class_ < EXANET_SHM_CLASSES; class_++) \
        EXANET_FOREACH_OF(t_, ini, class_)

static inline bool exanet_transaction_writes(unsigned class)
{
    return class == EXANET_SHM_STORE || class == EXANET_SHM_RDMA_WRITE;
}

static inline unsigned exanet_transaction_queue(unsigned class)
{
    return class < EXANET_SHM_RDMA_WRITE ? QUEUE_SHARED : QUEUE_RDMA;
}

/* --- initiator.c ------------------------------------------------------------ */

/* Returns true if no transaction of the same class to the same node is older. */
bool exanet_transaction_oldest(ExanetInitiator *ini, const ExanetTransaction *t);
/* Sets the time at which the initiator looks at @t again. */
void exanet_transaction_arm(ExanetInitiator *ini, ExanetTransaction *t,
                            int64_t deadline);
/* Adds @t to its queue, behind all others. */
void exanet_transaction_enqueue(ExanetState *s, ExanetTransaction *t);
void exanet_transaction_dequeue(ExanetInitiator *ini, ExanetTransaction *t);
/* Adds @t to the list of early responses. */
void exanet_transaction_answer(ExanetState *s, ExanetTransaction *t);
/* Ends @t: frees its slot, and responds to its master. */
void exanet_transaction_finish(ExanetState *s, ExanetTransaction *t,
                               enum exanet_resp resp, const uint8_t *data);
/* Ends @t in an error; @told is the code in ERR_INFO. */
void exanet_transaction_fail(ExanetState *s, ExanetTransaction *t,
                             enum exanet_resp resp, enum exanet_resp told);

/* --- initiator-tx.c ---------------------------------------------------------- */

/* Sends the transactions in the queues.  Returns true if more could leave now. */
bool exanet_initiator_send(ExanetState *s);

/* --- initiator-retry.c ------------------------------------------------------- */

/*
 * Notes that a copy of RDMA write @t may arrive late, when newer data is in its place.
 * Targets do not execute it any more behind a write with FIRST.  So all transactions
 * under way end before the next write is issued, which has FIRST.
 */
void exanet_transaction_doubt(ExanetInitiator *ini, ExanetTransaction *t);
/* Looks at all transactions whose deadline has passed. */
void exanet_initiator_expire(ExanetState *s);

#endif /* HW_EXANET_SHM_INITIATOR_INTERNAL_H */
