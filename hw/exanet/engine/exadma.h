/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaDMA [T §5.3], the unit that sends blocks: Pending_List, scheduler, output buffers
 * and control-packet windows.
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

/* A data packet in an output buffer; the packet waits until its route opens. */
typedef struct ExanetSlot {
    int route;                      /* route of the packet, from EXANET_ROUTE() */
    uint16_t tid;                   /* TID without generation */
    /* length in words; 0: exanet_exadma_kill() dropped the packet */
    uint16_t words;
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetSlot;

#define EXANET_CONTROL_QUEUE 64     /* control packets that may wait at an output */
#define EXANET_CONTROL_WORDS 4      /* words: header, two of payload, footer */
#define EXANET_CONTROL_STORES 3     /* stores that make one control packet */
#define EXANET_DESC_WORDS 4

/* A control packet that waits until its route opens. */
typedef struct ExanetControlSlot {
    uint32_t dst;                   /* destination coordinates */
    uint16_t tid;                   /* TID without generation */
    uint8_t path;                   /* path, fields EXANET_PATH_* */
    bool dead;                      /* exanet_exadma_kill() dropped the packet */
    uint8_t data[EXANET_CONTROL_WORDS * EXANET_WORD_BYTES];
} ExanetControlSlot;

/* An output: the buffer of data packets, and the queue and window of control packets. */
typedef struct ExanetOutput {
    ExanetSlot slot[EXANET_OUTPUT_SLOTS];
    RNicFifo slots;                 /* head and count of the queue in @slot */
    /* The next three members are the state of the control window [T §5.3.1.2]. */
    uint64_t control_word[EXANET_CONTROL_STORES];   /* words of the next control packet */
    unsigned control_stage;         /* number of words stored in @control_word, 0 to 2 */
    unsigned control_tid;           /* TID of @control_word, without generation */
    ExanetControlSlot control[EXANET_CONTROL_QUEUE];
    RNicFifo controls;              /* head and count of the queue in @control */
} ExanetOutput;

/*
 * A transaction that ExaDMA has stopped: its source could not be read, its context was
 * closed, or its descriptor, which waited in a chain, is not valid.
 */
typedef struct ExanetStopped {
    uint16_t tid;                   /* TID without generation */
    uint8_t resp;                   /* FAULT, DECODE or PROTECTION */
    bool reported;                  /* the driver has a report of the page fault */
} ExanetStopped;

enum exanet_exadma_state {
    EXANET_EXADMA_IDLE = 0,
    EXANET_EXADMA_TRIGGERED,        /* active; software may still write W4 [P Annex E] */
    EXANET_EXADMA_RUNNING,
};

typedef struct ExanetExadma {
    /* the Pending_List, host byte order */
    uint64_t desc[EXANET_TIDS][EXANET_DESC_WORDS];
    uint8_t state[EXANET_TIDS];     /* enum exanet_exadma_state */
    uint16_t buffered[EXANET_TIDS]; /* packets of the TID that wait at outputs */
    bool in_fifo[EXANET_TIDS];      /* the TID, active or killed, is in @fifo */
    uint16_t fifo[EXANET_TIDS];     /* FIFO of the scheduler; has each TID at most once */
    RNicFifo scheduled;             /* head and count of @fifo */
    /* during a run of the unit: TIDs that return to @fifo at the end of the run */
    uint16_t paced[EXANET_TIDS];
    ExanetStopped stopped[EXANET_TIDS];     /* for exanet_exadma_pop_stopped() */
    RNicFifo stops;                 /* head and count of the queue in @stopped */
    bool control_freed;             /* a full queue of control packets has room again */
    ExanetOutput output[EXANET_OUTPUTS];
} ExanetExadma;

extern const ExanetUnit exanet_exadma_unit;
/*
 * Execute a load or store of software in the Pending_List, or a store in the
 * control-packet windows.  @addr is an offset, in bytes, from the start of the
 * Pending_List or of the windows.  @size is 1 to 8 bytes.  An access to the Pending_List
 * ends at the end of a 64-bit word.  A store to a window is ignored unless it has 8 bytes
 * at a multiple of 16.  Values are in host byte order.
 */
uint64_t exanet_exadma_list_read(ExanetState *s, hwaddr addr, unsigned size);
void exanet_exadma_list_write(ExanetState *s, hwaddr addr, uint64_t value,
                              unsigned size);
void exanet_exadma_control_write(ExanetState *s, hwaddr addr, uint64_t value,
                                 unsigned size);
/*
 * Stores descriptor @tid.  The effect is that of four 8-byte writes of software: W4, W1,
 * W2, then W3.
 * @word is W1 to W4, in host byte order.  The transaction of @tid must not be active.  If
 * bit DB of W3 is 0, the write of W3 starts the transaction.  If DB is 1, the transaction
 * starts when the last packet of its predecessor in a chain has been built.  If W2 or W3
 * is not valid at the start, the transaction does not start, and W3 gets ERROR.
 */
void exanet_exadma_desc_write(ExanetState *s, unsigned tid,
                              const uint64_t word[EXANET_DESC_WORDS]);
/*
 * Stores @word (P0 to P2 of struct exanet_control, host byte order) to the control-packet
 * window of @tid at @output.  Returns false, without an effect, if the queue of control
 * packets of @output is full.  Returns true otherwise, even if the packet is dropped and
 * counted because the descriptor of @tid is not valid or has ERROR.  If the queue has
 * room, and software has stored only one or two words of a control packet at @output,
 * drops these words and counts CONTROL_RESTART.
 */
bool exanet_exadma_control_send(ExanetState *s, unsigned output, unsigned tid,
                                const uint64_t word[EXANET_CONTROL_STORES]);
/*
 * Stops the transaction of @tid: drops the packets of @tid in output buffers and control
 * queues, clears DB and sets ERROR in W3.  Counts an active transaction in BLOCK_KILLED.
 */
void exanet_exadma_kill(ExanetState *s, unsigned tid);
/*
 * Returns true if the transaction of @tid is active, or if packets of @tid wait in an
 * output buffer or a control queue.
 */
static inline bool exanet_exadma_busy(const ExanetExadma *e, unsigned tid)
{
    return e->state[tid] != EXANET_EXADMA_IDLE || e->buffered[tid] != 0;
}

/* Returns true if the transaction of @tid waits for its predecessor in a chain. */
static inline bool exanet_exadma_armed(const ExanetExadma *e, unsigned tid)
{
    uint64_t w3 = e->desc[tid][2];

    return e->state[tid] == EXANET_EXADMA_IDLE &&
           (w3 & EXANET_DESC_W3_DB) && !(w3 & EXANET_DESC_W3_ERROR);
}

/*
 * Stores in *@dst the destination coordinates of the transaction with wire TID @wire.
 * Returns true even if the transaction has ended.  Returns false if the descriptor now
 * has another wire TID, or length 0; then *@dst has no meaning.
 */
bool exanet_exadma_target(ExanetState *s, uint16_t wire, uint32_t *dst);
/*
 * Removes the oldest element from the list of stopped transactions, and stores this
 * element in *@stopped.  Returns false if the list is empty.
 */
bool exanet_exadma_pop_stopped(ExanetState *s, ExanetStopped *stopped);

#endif /* HW_EXANET_ENGINE_EXADMA_H */
