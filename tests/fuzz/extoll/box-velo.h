/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VELO in extoll-box: operations of a hostile kernel and of hostile processes on BAR 2,
 * on mailboxes and on routes, and one honest process, that of VPID VELO_HONEST.
 *
 * The honest process sends whole messages to itself.  No operation stores to the
 * registers of its VPID, or gives its memory to another mailbox.  The target asserts that
 * its messages arrive with the bytes that it has stored, in order and each at most once,
 * and that one is lost only by a reset, a counted discard, or a change of the route.
 */
#ifndef TESTS_FUZZ_EXTOLL_BOX_VELO_H
#define TESTS_FUZZ_EXTOLL_BOX_VELO_H

#include "../box.h"
#include "hw/rnic/extoll/extoll.h"

#define VELO_HONEST     (EXTOLL_VPIDS - 1)
#define VELO_PAGE       4096            /* mailboxes consist of such pages */

/* Does an operation, which another thread does while a vCPU waits for room. */
typedef void VeloOther(FuzzInput *in);

/* Begins with the device @s.  *@gone is true when the device was unplugged. */
void velo_start(ExtollState *s, const bool *gone);

/* Returns true if a store of @size bytes at @offset of BAR 0 is the honest process'. */
bool velo_is_honest(uint32_t offset, unsigned size);
/* Notes a store of @size bytes at @offset of BAR 0. */
void velo_stored(uint32_t offset, unsigned size);

/* Operations of a program.  Each takes its parameters from @in. */
void velo_op_setup(FuzzInput *in);      /* gives VPIDs mailboxes, routes, and rights */
void velo_op_reg(FuzzInput *in);        /* a store to a register of VELO */
void velo_op_store(FuzzInput *in);      /* a store to BAR 2 */
void velo_op_load(FuzzInput *in);       /* a load from BAR 2 */
void velo_op_honest(FuzzInput *in);     /* messages of the honest process */
/*
 * Whole messages.  If a vCPU that sends them waits for room, and @other is not NULL,
 * @other does the operation in the rest of @in meanwhile.
 */
void velo_op_send(FuzzInput *in, VeloOther *other);

/* Begins an operation: forgets which pages mailboxes have had. */
void velo_begin(void);
/*
 * Ends an operation: takes the messages of the honest process, and asserts that they and
 * the counters are right.
 */
void velo_check(void);
/* Returns true if page @page of RAM was in a mailbox since velo_begin(). */
bool velo_is_mailbox(unsigned page);
/* Asserts, after a reset of the device, that messages arrive. */
void velo_works_check(void);
/* Asserts that the programs of this process have met all events of VELO. */
void velo_reached(void);

#endif /* TESTS_FUZZ_EXTOLL_BOX_VELO_H */
