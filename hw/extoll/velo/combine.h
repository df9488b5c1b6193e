/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Write-combining buffers of the VELO requester.
 *
 * A vCPU stores a message in pieces of 4 to 16 bytes.  Four buffers of 64 B for each
 * VPID collect the pieces.  A message leaves when all quadwords are there that its
 * address announces.  A buffer that must make room leaves as fragments, as a message
 * does if the bus splits its write [T §6.4.4].  The VPID then remembers the quadwords
 * that have left, so that the rest of the message completes.
 */
#ifndef RNIC_EXTOLL_VELO_COMBINE_H
#define RNIC_EXTOLL_VELO_COMBINE_H

#include "../base/velo.h"

#define EXTOLL_COMBINE_BUFFERS  4
#define EXTOLL_COMBINE_LEFT     8   /* messages of a VPID of which a part has left */
/*
 * Maximum of fragments that a store causes: four of a buffer that makes room, because a
 * fragment has at least one quadword and is followed by a gap, and two of the message
 * that the store completes, because the property split may divide it.
 */
#define EXTOLL_COMBINE_OUT      6

typedef struct ExtollCombineBuffer {
    ExtollVeloMsg msg;      /* the whole message; the caller knows its node and its id */
    uint16_t stored;        /* bit n: bytes 4n to 4n + 3; 0: the buffer is free */
    uint8_t left;           /* bit n: quadword n has left before */
    uint64_t age;           /* number of the store that took the buffer */
} ExtollCombineBuffer;

/* A message of which a part has left. */
typedef struct ExtollCombineLeft {
    uint32_t address;       /* of the message */
    uint8_t left;           /* bit n: quadword n has left; 0: the entry is free */
    uint64_t age;
} ExtollCombineLeft;

typedef struct ExtollCombine {
    ExtollCombineBuffer buffers[EXTOLL_VPIDS][EXTOLL_COMBINE_BUFFERS];
    ExtollCombineLeft left[EXTOLL_VPIDS][EXTOLL_COMBINE_LEFT];
    uint64_t stores;        /* number of stores */
    uint32_t split;         /* property: each @split-th message is divided; 0: none */
    uint32_t whole;         /* messages since the last one that @split divided */
    uint64_t torn;          /* counter: messages of which a part will never leave */
} ExtollCombine;

/*
 * Takes a store of @size bytes, @value, at offset @address of BAR 2.  Stores the messages
 * and fragments that leave in @out, in their order, and their number in @n.  The caller
 * fills in the source node and the protection id.
 */
ExtollVeloStatus extoll_combine_store(ExtollCombine *c, uint32_t address,
                                      const uint8_t *value, unsigned size,
                                      ExtollVeloMsg out[EXTOLL_COMBINE_OUT], unsigned *n);

/*
 * Drops the stores of the message at @address that is not complete, because a store to
 * @address was lost: the message could only complete with parts of another message.
 */
void extoll_combine_tear(ExtollCombine *c, uint32_t address);

/*
 * Drops all stores of VPID @vpid, because the VPID is disabled.  Returns the number of
 * messages that are lost in whole or in part.
 */
unsigned extoll_combine_drop(ExtollCombine *c, unsigned vpid);

#endif /* RNIC_EXTOLL_VELO_COMBINE_H */
