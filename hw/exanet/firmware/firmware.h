/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet firmware, the model of the R5: executes the transfers that processes start in
 * the scratchpad, and the read requests of other nodes.
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
 * Returns true if the sequence number of @ack is that of reports of failed reads, and
 * FW_MODE is INTERNAL.
 */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
/*
 * Stores in *@dst the node to which the report was sent whose number is the TID of @ack.
 * Returns false, and stores 0, if no such report waits for an answer.
 */
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
/* Computes the registers FW_ACTIVE and FW_RTT_NS before a read. */
void exanet_firmware_reg_sync(ExanetState *s);
/*
 * Applies the values of all firmware registers after a write to register @reg
 * (EXANET_REG_FW_).  If @reg is FW_MODE and the mode is not INTERNAL, ends all transfers
 * and refuses all waiting read requests, with ABORTED.  @top is not used; see
 * ExanetRegBlock.
 */
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Writes @size (4 or 8) bytes of @value, which is in host byte order, to offset @addr of
 * the scratchpad page of context @c.  If FW_MODE is INTERNAL, a write that begins at
 * TOKEN of a write channel is a doorbell: starts, refuses or ignores the transfer of this
 * channel.  @privileged: the write came through the alias in BAR 0, and may change all
 * bytes.  Ignores and logs a write to a part that @addr and @privileged do not permit.
 */
void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged);
/*
 * Returns the number of unfinished transfers and waiting read requests of context @c.
 */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/*
 * Returns a list with a dictionary for each unfinished transfer.  The caller owns the
 * reference.
 */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_FIRMWARE_H */
