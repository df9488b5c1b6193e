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
 * Executes a store of @value by software to the mailbox page of context @c.  @addr is an
 * offset in bytes from the start of the page; @size is in bytes.  Ignores a store that is
 * not aligned, has less than 4 bytes, or is not to RING, CTRL or HEAD of a mailbox; a
 * store to RING of an enabled mailbox; and all stores if the context is disabled or
 * quiesced.
 */
void exanet_mailbox_write(ExanetState *s, unsigned c, hwaddr addr,
                          uint64_t value, unsigned size);
/*
 * Stores the message @pkt in the mailbox with number @pkt->va[7:4] of the context in
 * @pkt->pdid.  @data (host byte order) is the value of the entry's data field.  If the
 * message was stored, raises the context's interrupt if @irq is true or if CTRL of the
 * mailbox has IRQ.  Returns ACK if the message is in the ring, otherwise:
 *   FULL        the ring is full, HEAD is ahead of TAIL, or the mailbox is disabled
 *   FAULT       exanet_context_write() to the ring returns FAULT; the function has called
 *               exanet_fault_report()
 *   PROTECTION  the context refuses the PDID or the source of @pkt, or
 *               exanet_context_write() returns PROTECTION
 *   DECODE      there is no such mailbox, other bits of the VA are set, or
 *               exanet_context_write() returns DECODE
 *   MALFORMED   the message has no bytes, or more than 64
 */
enum exanet_resp exanet_mailbox_deliver(ExanetState *s, const ExanetPacket *pkt,
                                        uint64_t data, bool irq);

#endif /* HW_EXANET_ENGINE_MAILBOX_H */
