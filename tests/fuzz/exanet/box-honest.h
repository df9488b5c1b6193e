/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guarantees for honest nodes and processes in exanet-box, which the target asserts.
 * box.c has a list of the guarantees, which hold while the program lacks the
 * kernel's rights.
 */
#ifndef TESTS_FUZZ_EXANET_BOX_HONEST_H
#define TESTS_FUZZ_EXANET_BOX_HONEST_H

#include "box-nic.h"

/*
 * Asserts that the device has not changed the memory of the honest process, and has not
 * copied the secret to hostile processes.
 */
void memory_check(void);
/*
 * Asserts that a block of node @src for the honest process arrives: its first copy if
 * the receiver has room, else a later copy, because receiver contexts become idle.
 */
void honest_block(uint32_t src);
/* Asserts all guarantees, and closes and opens the contexts. */
void honest_check(void);

#endif
