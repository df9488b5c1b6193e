/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet firmware, the model of the R5: transfers of the scratchpad and read requests.
 */
#ifndef HW_EXANET_FIRMWARE_H
#define HW_EXANET_FIRMWARE_H

#include "exec/hwaddr.h"
#include "rnic/exanet/regs.h"
#include "unit.h"
#include "wire.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetFirmware ExanetFirmware;

/*
 * A receiver forgets a TID that was silent for so long; a source neither pauses so
 * long between copies of a block, nor trusts that it is forgotten before twice that.
 */
#define EXANET_TID_AGE_NS (60 * (int64_t)NANOSECONDS_PER_SECOND)
/*
 * Copies of one block have sequence numbers less than EXANET_SEQ_GAP apart.  Those of two
 * blocks of one TID and generation are farther apart [P].
 */
#define EXANET_SEQ_GAP 64

extern const ExanetUnit exanet_firmware_unit;
/* Whether the model plays the R5: EXANET_FW_INTERNAL. */
bool exanet_firmware_internal(ExanetState *s);
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
/*
 * ExaDMA stopped @tid: FAULT (@reported: RESOLVE will come), DECODE or PROTECTION.
 */
void exanet_firmware_source_error(ExanetState *s, unsigned tid,
                                  enum exanet_resp resp, bool reported);
/* Transfers of context @c that are not finished. */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/*
 * Whether the firmware takes another read request for context @owner, if @more
 * messages are already on their way to it.
 */
bool exanet_firmware_request_room(ExanetState *s, unsigned owner,
                                  unsigned more);

/* The transfers that are under way, as a new list. */
QList *exanet_firmware_transfers(ExanetState *s);

#endif /* HW_EXANET_FIRMWARE_H */
