/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VELO completer: stores messages that have arrived in the mailboxes of their VPIDs.
 *
 * A mailbox always accepts: a message without room, or for a VPID that is not enabled, is
 * discarded and counted by cause, so mailboxes never block the network [T §6.5].
 */
#ifndef HW_EXTOLL_VELO_MAILBOX_H
#define HW_EXTOLL_VELO_MAILBOX_H

#include "rnic/extoll/velo.h"

typedef struct ExtollState ExtollState;

typedef struct ExtollMailboxes {
    /*
     * bit v: the next message for VPID v interrupts; a write of the read pointer sets the
     * bit, an interrupt clears it
     */
    uint32_t armed;
    uint32_t received, discarded;   /* messages, modulo 2^32 */
} ExtollMailboxes;

void extoll_mailbox_reset(ExtollState *s);
/* Takes the packet of @bytes bytes at @packet, whose route ends at VELO. */
void extoll_mailbox_take(ExtollState *s, const uint8_t *packet, unsigned bytes);
/*
 * Lets VPID @vpid interrupt again.  Raises an interrupt if its mailbox is not empty,
 * because messages may have arrived since software looked.
 */
void extoll_mailbox_arm(ExtollState *s, unsigned vpid);

#endif /* HW_EXTOLL_VELO_MAILBOX_H */
