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
 * Executes a store of @value by the process of context @c to its mailbox page.  @addr is
 * an offset in bytes from the start of the page; @size is in bytes.  Ignores a store that
 * is not aligned or has less than 4 bytes, and all stores if the context is disabled or
 * quiesced.
 */
void exanet_mailbox_write(ExanetState *s, unsigned c, hwaddr addr,
                          uint64_t value, unsigned size);
/*
 * Stores the message @pkt in mailbox VA[7:4] of the context of @pkt->pdid.  @data (host
 * byte order) is the value of the entry's data field.  If @irq is true, raises the
 * context's interrupt even if CTRL of the mailbox does not enable this interrupt.
 * Returns ACK if the message is in the ring, otherwise:
 *   FULL        the ring is full, or the mailbox is disabled
 *   FAULT       a page of the ring is missing; the function has called
 *               exanet_fault_report()
 *   PROTECTION  the context refuses the PDID or the source of @pkt, or a page of the ring
 *               is missing and the context has NO_REPORT
 *   DECODE      there is no such mailbox, or the ring is not in RAM
 *   MALFORMED   the message has no bytes, or more than 64
 */
enum exanet_resp exanet_mailbox_deliver(ExanetState *s, const ExanetPacket *pkt,
                                        uint64_t data, bool irq);

#endif /* HW_EXANET_ENGINE_MAILBOX_H */
