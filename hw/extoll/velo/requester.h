/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VELO requester: makes messages of the stores of processes, and keeps the messages until
 * the crossbar takes them.
 *
 * A VPID without TXIO has write-combining buffers (combine.h): a message leaves when its
 * stores are complete.  A VPID with TXIO has one staged message: the message leaves when
 * a load commits it.
 */
#ifndef HW_EXTOLL_VELO_REQUESTER_H
#define HW_EXTOLL_VELO_REQUESTER_H

#include "qemu/thread.h"
#include "../../core/fifo.h"
#include "combine.h"

typedef struct ExtollState ExtollState;

#define EXTOLL_VELO_FIFO 256        /* messages that wait for the crossbar [P] */
/*
 * Further messages, for stores that can neither wait nor be repeated, because their vCPU
 * must stop.
 */
#define EXTOLL_VELO_RESERVE 64
#define EXTOLL_VELO_QUEUE (EXTOLL_VELO_FIFO + EXTOLL_VELO_RESERVE)

/* The staged message of a VPID with TXIO. */
typedef struct ExtollVeloStaged {
    uint32_t address;               /* of the message; see extoll_velo_address_encode() */
    uint16_t stored;                /* bit n: bytes 4n to 4n + 3 are stored; 0: none */
    bool torn;                      /* a part was stored twice, or at another address */
    uint8_t data[EXTOLL_VELO_BYTES];
} ExtollVeloStaged;

typedef struct ExtollVeloRequester {
    ExtollCombine combine;
    ExtollVeloStaged staged[EXTOLL_VPIDS];
    RNicFifo fifo;
    ExtollVeloMsg queue[EXTOLL_VELO_QUEUE];
    QemuCond cond;                  /* wakes vCPUs that wait for room in @fifo */
    uint32_t sent;                  /* messages that the crossbar took, modulo 2^32 */
} ExtollVeloRequester;

/* Initializes the requester once, and frees it. */
void extoll_velo_requester_init(ExtollState *s);
void extoll_velo_requester_fini(ExtollState *s);
/* Drops all messages, and wakes all vCPUs that wait. */
void extoll_velo_requester_reset(ExtollState *s);

/* Returns true if the FIFO has room for all messages that a store can complete. */
bool extoll_velo_has_room(const ExtollState *s);
/* Returns true if the reserve has room for all messages that a store can complete. */
bool extoll_velo_has_reserve(const ExtollState *s);
/* Returns true if VPID @vpid may use VELO: CTRL and VELO_ENABLE permit it. */
bool extoll_velo_vpid_is_enabled(const ExtollState *s, unsigned vpid);
/* Returns true if the VPID of @address may use VELO. */
bool extoll_velo_is_enabled(const ExtollState *s, uint32_t address);
/* Returns extoll_velo_is_enabled(); if the result is false, counts VELO_NO_VPID. */
bool extoll_velo_may_send(ExtollState *s, uint32_t address);
/*
 * Returns true if stores at @address are staged, because register TXIO of its VPID is
 * set.  Such a store needs no room.
 */
bool extoll_velo_is_staged(const ExtollState *s, uint32_t address);
/*
 * Takes a store of @size bytes, @value, at offset @address of BAR 2, for which
 * extoll_velo_may_send() is true.  Counts and drops a store of a wrong size or place.  If
 * the store completes a message, the FIFO or the reserve must have room.
 */
void extoll_velo_store(ExtollState *s, uint32_t address, const uint8_t *value,
                       unsigned size);
/*
 * Commits the staged message at @address.  Returns ACCEPTED, FULL, which changes nothing,
 * or TORN, which drops the staged message.
 */
enum extoll_txio extoll_velo_commit(ExtollState *s, uint32_t address);
/* Drops the stores of the message at @address, of which a store was lost. */
void extoll_velo_tear(ExtollState *s, uint32_t address);
/* Drops all stores of the VPIDs @vpids, one bit each, that have left no message. */
void extoll_velo_disable(ExtollState *s, uint32_t vpids);

/* Returns the oldest message in the FIFO; NULL: there is none, or VELO may not send. */
const ExtollVeloMsg *extoll_velo_head(const ExtollState *s);
/* Removes the oldest message.  @sent is true if the crossbar has sent the message. */
void extoll_velo_pop(ExtollState *s, bool sent);

#endif /* HW_EXTOLL_VELO_REQUESTER_H */
