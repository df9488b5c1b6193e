/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: regions of the device, the table of register blocks, and the poll of a
 * process.
 */
#ifndef HW_EXANET_BAR_H
#define HW_EXANET_BAR_H

#include "exanet.h"

/* Creates regs_mr, user_mr and the info pages.  Returns false with @errp on an error. */
bool exanet_bar_init(ExanetState *s, Error **errp);
/* Removes the info pages, so that the device can be freed. */
void exanet_bar_fini(ExanetState *s);

/* The table of register blocks, in blocks.c. */
extern const ExanetRegBlock exanet_reg_blocks[];

/*
 * Takes frames from the netdevs in the thread of a vCPU, because a process of context @c
 * has polled without success.  May release the big lock, and the device may have ended
 * when the function returns.  In poll.c.
 */
void exanet_poll(ExanetState *s, unsigned c);

#endif /* HW_EXANET_BAR_H */
