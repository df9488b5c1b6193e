/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet mailboxes: rings of messages in the memory of processes.
 */
#ifndef HW_EXANET_ENGINE_MAILBOX_H
#define HW_EXANET_ENGINE_MAILBOX_H

#include "exec/hwaddr.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

extern const ExanetUnit exanet_mailbox_unit;
void exanet_mailbox_write(ExanetState *s, unsigned c, hwaddr addr,
                          uint64_t value, unsigned size);
/*
 * Stores a message in mailbox VA[7:4] of the context of @pkt->pdid.  @data goes to
 * the entry's data field, @irq asks for an interrupt even if the mailbox does not.
 * FULL, FAULT (reported), PROTECTION, DECODE.
 */
enum exanet_resp exanet_mailbox_deliver(ExanetState *s, const ExanetPacket *pkt,
                                        uint64_t data, bool irq);

#endif /* HW_EXANET_ENGINE_MAILBOX_H */
