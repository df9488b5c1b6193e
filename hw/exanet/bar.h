/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: regions of the device, the table of register blocks, and the poll of a
 * process.
 */
#ifndef HW_EXANET_BAR_H
#define HW_EXANET_BAR_H

#include "exanet.h"

/* Creates regs_mr and user_mr.  Returns false with @errp set if there is no memory. */
bool exanet_bar_init(ExanetState *s, Error **errp);
/* Removes the info pages, so that the device can be freed. */
void exanet_bar_fini(ExanetState *s);

/* The table of register blocks, in blocks.c. */
extern const ExanetRegBlock exanet_reg_blocks[];

/*
 * Makes the vCPU of this thread take frames from the netdevs, because a process of
 * context @c has looked for a packet in vain; in poll.c.
 */
void exanet_poll(ExanetState *s, unsigned c);

#endif /* HW_EXANET_BAR_H */
