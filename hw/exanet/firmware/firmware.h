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
/* Whether @ack answers a report of a failed read, and who was sent that. */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
void exanet_firmware_reg_sync(ExanetState *s);
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * A write of @size (4 or 8) bytes to the scratchpad page of context @c;
 * @privileged when it came through the alias of BAR 0, which may write all of it.
 */
void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged);
/* Transfers of context @c that are not finished. */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/* The transfers that are under way, as a new list. */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_FIRMWARE_H */
