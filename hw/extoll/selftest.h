/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL self-test: lets a driver check interrupts and memory accesses of the device.
 */
#ifndef HW_EXTOLL_SELFTEST_H
#define HW_EXTOLL_SELFTEST_H

#include "extoll.h"

/*
 * Acts on a write of @vector to TEST_IRQ: sends this vector, whatever its mask is.  The
 * vector EVENTS also gets cause TEST.  If no such vector exists, only counts TEST_BAD.
 */
void extoll_selftest_irq(ExtollState *s, uint32_t vector);
/*
 * Acts on a write of @op (enum extoll_test_op) to TEST_OP: the loop will call
 * extoll_selftest_run().
 */
void extoll_selftest_start(ExtollState *s, uint32_t op);
/*
 * Does the operation that was started: changes the memory that TEST_ADDR and TEST_BYTES
 * name, and stores the result in TEST_STATUS.  Counts a result other than OK in TEST_BAD.
 * Does nothing if no operation was started.
 */
void extoll_selftest_run(ExtollState *s);
/* Forgets the operation that was started.  The caller resets the registers. */
void extoll_selftest_reset(ExtollState *s);

#endif /* HW_EXTOLL_SELFTEST_H */
