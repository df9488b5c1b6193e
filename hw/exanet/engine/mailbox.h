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
/*
 * Handles a store by the process of context @c to its mailbox page; @addr counts from the
 * start of the page.
 */
void exanet_mailbox_write(ExanetState *s, unsigned c, hwaddr addr,
                          uint64_t value, unsigned size);
/*
 * Stores the message @pkt in mailbox VA[7:4] of the context of @pkt->pdid.  @data is the
 * entry's data field.  If @irq is true, the interrupt is raised even if CTRL of the
 * mailbox does not enable it.  Returns ACK, FULL, FAULT (which has been reported),
 * PROTECTION, DECODE or MALFORMED.
 */
enum exanet_resp exanet_mailbox_deliver(ExanetState *s, const ExanetPacket *pkt,
                                        uint64_t data, bool irq);

#endif /* HW_EXANET_ENGINE_MAILBOX_H */
