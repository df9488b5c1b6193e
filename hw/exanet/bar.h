/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: memory regions of the device, the table of register blocks, and the poll of
 * a process.
 */
#ifndef HW_EXANET_BAR_H
#define HW_EXANET_BAR_H

#include "exanet.h"

/*
 * Initializes the memory regions regs_mr and user_mr, and those of the info pages.
 * Returns false with @errp set if there is no memory.
 */
bool exanet_bar_init(ExanetState *s, Error **errp);
/*
 * Removes the info pages from user_mr, because user_mr holds a reference to the device
 * for each info page inside.
 */
void exanet_bar_fini(ExanetState *s);

/* The table of register blocks, in blocks.c. */
extern const RNicRegBlock exanet_reg_blocks[];

/*
 * Reads frames from the netdevs and runs the units, in the thread of a vCPU, because a
 * process of context @c has polled its own memory without success.  Does nothing if the
 * context is disabled or quiesced.  Reads no frames while the device is disabled.  If
 * another vCPU of the machine polls, the function reads no frames and only waits.  May
 * release the big lock.  The device may have ended when the function returns.  In poll.c.
 */
void exanet_poll(ExanetState *s, unsigned c);
/* Calls rnic_port_watch() for all ports of ExanetState @opaque.  In poll.c. */
void exanet_poll_watch(void *opaque, bool on);

#endif /* HW_EXANET_BAR_H */
