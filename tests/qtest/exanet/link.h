/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port of a device with one cable. */
#ifndef EXANET_LINK_H
#define EXANET_LINK_H

#include "device.h"

/* Returns true if all @bits of PORT_STATUS are set. */
bool exanet_link_is(ExanetTest *t, uint32_t bits);
/* Returns counter @reg of the port. */
uint64_t exanet_link_count(ExanetTest *t, unsigned reg);
/* Sends a block as the peer, and asserts that it arrives and is acked. */
void exanet_link_assert_works(ExanetTest *t, unsigned tid);
/* Sends a frame of @words acks, of one word each, that belong to no packet. */
void exanet_link_send_acks(ExanetTest *t, unsigned words);

#endif /* EXANET_LINK_H */
