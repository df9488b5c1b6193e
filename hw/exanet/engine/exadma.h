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

/* A packet that waits in an output buffer; @words = 0: dropped by KILL. */
typedef struct ExanetSlot {
    int route;
    uint16_t tid;                   /* index */
    uint16_t words;
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetSlot;

#define EXANET_CONTROL_QUEUE 64
#define EXANET_CONTROL_WORDS 4      /* header, two of payload, footer */

/* A control packet that waits; @dead: dropped by KILL. */
typedef struct ExanetControlSlot {
    uint32_t dst;
    uint16_t tid;                   /* index */
    uint8_t path;
    bool dead;
    uint8_t data[EXANET_CONTROL_WORDS * EXANET_WORD_BYTES];
} ExanetControlSlot;

typedef struct ExanetOutput {
    ExanetSlot slot[EXANET_OUTPUT_SLOTS];
    RNicFifo slots;                 /* of @slot */
    /* the control-packet FSM [T §5.3.1.2], then its queue */
    uint64_t control_word[3];
    unsigned control_stage;
    unsigned control_tid;
    ExanetControlSlot control[EXANET_CONTROL_QUEUE];
    RNicFifo controls;              /* of @control */
} ExanetOutput;

/* A transaction that ExaDMA has stopped, because its source cannot be read. */
typedef struct ExanetStopped {
    uint16_t tid;                   /* index */
    uint8_t resp;                   /* FAULT, DECODE or PROTECTION */
    bool reported;                  /* FAULT: RESOLVE will come */
} ExanetStopped;

typedef struct ExanetExadma {
    uint64_t desc[EXANET_TIDS][4];  /* the Pending_List, host byte order */
    uint8_t state[EXANET_TIDS];     /* see exadma.c */
    uint16_t buffered[EXANET_TIDS]; /* packets in output buffers and queues */
    bool queued[EXANET_TIDS];       /* in @fifo, even if killed since */
    uint16_t fifo[EXANET_TIDS];     /* the scheduler's; each TID at most once */
    RNicFifo scheduled;             /* of @fifo */
    uint16_t paced[EXANET_TIDS];    /* taken out of @fifo for the rest of a run */
    /* Of the transactions since the last look of the firmware. */
    ExanetStopped stopped[EXANET_TIDS];
    RNicFifo stops;                 /* of @stopped */
    bool relieved;                  /* a control queue is not full any more */
    ExanetOutput output[EXANET_OUTPUTS];
} ExanetExadma;

extern const ExanetUnit exanet_exadma_unit;
/* MMIO to Pending_List and control windows; @addr from the start of the block. */
uint64_t exanet_exadma_list_read(ExanetState *s, hwaddr addr, unsigned size);
void exanet_exadma_list_write(ExanetState *s, hwaddr addr, uint64_t value,
                              unsigned size);
void exanet_exadma_control_write(ExanetState *s, hwaddr addr, uint64_t value,
                                 unsigned size);
/* Stores word @w (0..3) of descriptor @tid, as an 8-byte write of the R5 does. */
void exanet_exadma_desc_write(ExanetState *s, unsigned tid, unsigned w,
                              uint64_t value);
/* Takes @tid out of the scheduler and the output buffers; sets its error bit. */
void exanet_exadma_kill(ExanetState *s, unsigned tid);
/* Whether @tid is scheduled or has packets in an output buffer. */
bool exanet_exadma_busy(ExanetState *s, unsigned tid);
/* Whether @tid waits for its predecessor in a chain. */
bool exanet_exadma_armed(ExanetState *s, unsigned tid);
/*
 * Where the transaction of wire TID @wire goes, or went if it was the last one of its
 * descriptor; false when that one has another generation, or never had any.
 */
bool exanet_exadma_target(ExanetState *s, uint16_t wire, uint32_t *dst);
/* Takes the oldest entry of the stopped transactions; false: there is none. */
bool exanet_exadma_pop_stopped(ExanetState *s, ExanetStopped *stopped);
/* Whether @output has room for a control packet. */
bool exanet_exadma_control_room(ExanetState *s, unsigned output);

#endif /* HW_EXANET_ENGINE_EXADMA_H */
