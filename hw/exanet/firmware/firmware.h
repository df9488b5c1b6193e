/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet firmware, the model of the R5: transfers of the scratchpad and read requests.
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
 * Returns true if @ack, by its sequence number, answers a report of a failed read.
 */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
/*
 * Stores in *@dst the node to which the report of @ack was sent.  Returns false if no
 * such report waits for an answer.
 */
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
/* Computes the registers FW_ACTIVE and FW_RTT_NS before a read. */
void exanet_firmware_reg_sync(ExanetState *s);
/* Acts on a write to register @reg (EXANET_REG_FW_); @top: see ExanetRegBlock. */
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Writes @size (4 or 8) bytes to the scratchpad page of context @c, and starts a transfer
 * if the write is a doorbell.  @privileged: the write came through the alias in BAR 0,
 * and may change all bytes.
 */
void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged);
/*
 * Returns the number of unfinished transfers and waiting read requests of context @c.
 */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/* Returns a list of the transfers under way; the caller owns the reference. */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_FIRMWARE_H */
