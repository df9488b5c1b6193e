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
 * Returns true if @ack answers a report of a failed read.  The second function stores
 * the coordinates to which the report was sent in @dst, or returns false.
 */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
/* Updates the computed registers of the block EXANET_FW. */
void exanet_firmware_reg_sync(ExanetState *s);
/* Handles a write to register @reg of the block; @top: to its last byte lane. */
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * Writes @size (4 or 8) bytes to the scratchpad page of context @c.  @privileged: the
 * write came through the alias in BAR 0, and may change all bytes.
 */
void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged);
/*
 * Returns the number of unfinished transfers and waiting read requests of context @c.
 */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/* Returns the transfers that are under way, as a new list. */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_FIRMWARE_H */
