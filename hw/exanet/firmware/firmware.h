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
 * Returns true if @ack answers a report of a failed read: the sequence number of @ack is
 * FW_SEQ_NO_BLOCK, which all reports have, and FW_MODE is INTERNAL.
 */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
/*
 * Looks for a report of a failed read that waits for an answer and whose number is the
 * wire TID of @ack.  If there is such a report, stores the coordinates of the node to
 * which the report was sent in *@dst, and returns true.  Otherwise stores 0 in *@dst, and
 * returns false.
 */
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
/* Computes the registers FW_ACTIVE and FW_RTT_NS before software reads them. */
void exanet_firmware_reg_sync(ExanetState *s);
/*
 * Applies the values of all firmware registers after a write to register @reg, one of
 * EXANET_REG_FW_*.  If @reg is FW_MODE and the mode is not INTERNAL, ends all transfers
 * with ABORTED, and refuses with ABORTED all read requests in the queues of the firmware.
 * Ignores @top, which is described at RNicRegBlock.written.
 */
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Writes @size (4 or 8) bytes of @value, which is in host byte order, to offset @addr of
 * the scratchpad page of context @c.  If FW_MODE is INTERNAL, a write that begins at
 * TOKEN of a write channel is a doorbell, by which the function starts, refuses or
 * ignores the transfer of this channel.
 *
 * @privileged: the write came through the alias in BAR 0, and may change all members of
 * all channels.  Without @privileged, a write may change only the members of write
 * channels that are before STATUS.  The function logs and ignores any other write, and a
 * write across the end of a channel.
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
 * Returns a list with a dictionary for each unfinished transfer of all contexts.  The
 * caller owns the reference to the list.
 */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_FIRMWARE_H */
