/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Port 0 of a device with one cable. */
#ifndef EXANET_LINK_H
#define EXANET_LINK_H

#include "device.h"

/* Returns true if all @bits of PORT_STATUS are set. */
bool exanet_link_is(ExanetTest *t, uint32_t bits);
/* Returns the port's counter at register offset @reg (EXANET_REG_PORT_*). */
uint64_t exanet_link_count(ExanetTest *t, unsigned reg);
/*
 * Sends a block with TID @tid as the peer; asserts that the device stores the block and
 * acks the block.
 */
void exanet_link_assert_works(ExanetTest *t, unsigned tid);
/*
 * Sends one frame with @words acks, which have one word each.  The acks answer no packet
 * of the device.
 */
void exanet_link_send_acks(ExanetTest *t, unsigned words);

#endif /* EXANET_LINK_H */
