/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaDMA [T §5.3]: Pending_List, scheduler and output buffers.
 */
#ifndef HW_EXANET_ENGINE_EXADMA_H
#define HW_EXANET_ENGINE_EXADMA_H

#include "exec/hwaddr.h"
#include "rnic/exanet/desc.h"
#include "rnic/exanet/regs.h"
#include "../../core/fifo.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

/* A packet in an output buffer, which waits for its route. */
typedef struct ExanetSlot {
    int route;
    uint16_t tid;                   /* TID without generation */
    uint16_t words;                 /* 0: exanet_exadma_kill() has dropped the packet */
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetSlot;

#define EXANET_CONTROL_QUEUE 64
#define EXANET_CONTROL_WORDS 4      /* header, two of payload, footer */
#define EXANET_CONTROL_STORES 3     /* stores to a window that make a control packet */
#define EXANET_DESC_WORDS 4

/* A control packet that waits for its route. */
typedef struct ExanetControlSlot {
    uint32_t dst;
    uint16_t tid;                   /* TID without generation */
    uint8_t path;
    bool dead;                      /* exanet_exadma_kill() has dropped the packet */
    uint8_t data[EXANET_CONTROL_WORDS * EXANET_WORD_BYTES];
} ExanetControlSlot;

typedef struct ExanetOutput {
    ExanetSlot slot[EXANET_OUTPUT_SLOTS];
    RNicFifo slots;                 /* positions in @slot */
    /* state machine of control packets [T §5.3.1.2] */
    uint64_t control_word[EXANET_CONTROL_STORES];   /* words written by software */
    unsigned control_stage;         /* words in @control_word, 0 to 2 between stores */
    unsigned control_tid;           /* TID of @control_word, without generation */
    ExanetControlSlot control[EXANET_CONTROL_QUEUE];
    RNicFifo controls;              /* positions in @control */
} ExanetOutput;

/* A transaction that ExaDMA has stopped because of an error at the source. */
typedef struct ExanetStopped {
    uint16_t tid;                   /* TID without generation */
    uint8_t resp;                   /* FAULT, DECODE or PROTECTION */
    bool reported;                  /* the fault was reported: RESOLVE will follow */
} ExanetStopped;

enum exanet_exadma_state {
    EXANET_EXADMA_IDLE = 0,
    EXANET_EXADMA_TRIGGERED,        /* W4 may still change [P Annex E] */
    EXANET_EXADMA_RUNNING,
};

typedef struct ExanetExadma {
    /* the Pending_List, host byte order */
    uint64_t desc[EXANET_TIDS][EXANET_DESC_WORDS];
    uint8_t state[EXANET_TIDS];     /* enum exanet_exadma_state */
    uint16_t buffered[EXANET_TIDS]; /* packets in output buffers and queues */
    bool in_fifo[EXANET_TIDS];      /* the TID is in @fifo, even if it was killed */
    uint16_t fifo[EXANET_TIDS];     /* FIFO of the scheduler; has each TID at most once */
    RNicFifo scheduled;             /* positions in @fifo */
    uint16_t paced[EXANET_TIDS];    /* TIDs outside of @fifo until the end of a run */
    ExanetStopped stopped[EXANET_TIDS];     /* for exanet_exadma_pop_stopped() */
    RNicFifo stops;                 /* positions in @stopped */
    bool control_freed;             /* a control queue was full, and has room again */
    ExanetOutput output[EXANET_OUTPUTS];
} ExanetExadma;

extern const ExanetUnit exanet_exadma_unit;
/*
 * Do loads and stores of software in the Pending_List and the control windows.  @addr
 * counts from the start of the list or the windows; values are in host byte order.
 */
uint64_t exanet_exadma_list_read(ExanetState *s, hwaddr addr, unsigned size);
void exanet_exadma_list_write(ExanetState *s, hwaddr addr, uint64_t value,
                              unsigned size);
void exanet_exadma_control_write(ExanetState *s, hwaddr addr, uint64_t value,
                                 unsigned size);
/*
 * Stores descriptor @tid with the effect of 8-byte writes by software.  The last write
 * starts the transaction, unless bit DB of W3 makes it wait for its predecessor in a
 * chain.
 */
void exanet_exadma_desc_write(ExanetState *s, unsigned tid,
                              const uint64_t word[EXANET_DESC_WORDS]);
/*
 * Stores @word to the control-packet window of @tid at @output.  Returns false if the
 * queue of @output is full.
 */
bool exanet_exadma_control_send(ExanetState *s, unsigned output, unsigned tid,
                                const uint64_t word[EXANET_CONTROL_STORES]);
/* Stops @tid, drops its packets in output buffers and queues, and sets its error bit. */
void exanet_exadma_kill(ExanetState *s, unsigned tid);
/* Returns true if @tid is scheduled or has packets in an output buffer. */
static inline bool exanet_exadma_busy(const ExanetExadma *e, unsigned tid)
{
    return e->state[tid] != EXANET_EXADMA_IDLE || e->buffered[tid] != 0;
}

/* Returns true if @tid waits for its predecessor in a chain. */
static inline bool exanet_exadma_armed(const ExanetExadma *e, unsigned tid)
{
    uint64_t w3 = e->desc[tid][2];

    return e->state[tid] == EXANET_EXADMA_IDLE &&
           (w3 & EXANET_DESC_W3_DB) && !(w3 & EXANET_DESC_W3_ERROR);
}

/*
 * Stores the destination of the transaction of wire TID @wire in *@dst; the transaction
 * may have ended.  Returns false if the descriptor has another generation, or is unused.
 */
bool exanet_exadma_target(ExanetState *s, uint16_t wire, uint32_t *dst);
/* Takes the oldest stopped transaction.  Returns false if there is none. */
bool exanet_exadma_pop_stopped(ExanetState *s, ExanetStopped *stopped);

#endif /* HW_EXANET_ENGINE_EXADMA_H */
