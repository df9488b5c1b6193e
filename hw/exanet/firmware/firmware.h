/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet firmware, the model of the R5: executes the transfers that processes start in
 * the scratchpad, and the read requests that nodes send to this node.
 */
#ifndef HW_EXANET_FIRMWARE_FIRMWARE_H
#define HW_EXANET_FIRMWARE_FIRMWARE_H

#include "exec/hwaddr.h"
#include "rnic/exanet/regs.h"
#include "../base/unit.h"
#include "../base/wire.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetFirmware ExanetFirmware;

extern const ExanetUnit exanet_firmware_unit;
/*
 * Returns true if the sequence number of @ack is FW_SEQ_NO_BLOCK, the sequence number of
 * all reports of failed reads, and FW_MODE is INTERNAL.
 */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
/*
 * Returns true if a report waits for an answer, and the number of this report is the wire
 * TID of @ack.  Stores in *@dst the coordinates of the node to which the report was sent.
 * Returns false, and stores 0, if there is no such report.
 */
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
/* Computes the registers FW_ACTIVE and FW_RTT_NS before software reads them. */
void exanet_firmware_reg_sync(ExanetState *s);
/*
 * Applies the values of all firmware registers after a write to register @reg
 * (EXANET_REG_FW_).  If @reg is FW_MODE and the mode is not INTERNAL, ends all transfers
 * with ABORTED, and also refuses all read requests in the queues of the firmware.  @top
 * is not used; see ExanetRegBlock.
 */
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Writes @size (4 or 8) bytes of @value, which is in host byte order, to offset @addr of
 * the scratchpad page of context @c.  If FW_MODE is INTERNAL, a write that begins at
 * TOKEN of a write channel is a doorbell: starts, refuses or ignores the transfer of this
 * channel.
 *
 * @privileged: the write came through the alias in BAR 0, and may change all members of
 * all channels.  Without @privileged, a write may change only the members before STATUS
 * of the write channels.  Ignores and logs any other write, and a write across the end of
 * a channel.
 */
void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged);
/*
 * Returns the number of unfinished transfers of context @c, plus the number of read
 * requests in the queue of this context.
 */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/*
 * Returns a list with a dictionary for each unfinished transfer.  The caller owns the
 * reference.
 */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_FIRMWARE_H */
