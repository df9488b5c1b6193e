/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of VELO: messages in write-combining buffers, staged messages, the FIFO and
 * the counts.
 */
#ifndef HW_EXTOLL_VELO_VELO_MIGRATION_H
#define HW_EXTOLL_VELO_VELO_MIGRATION_H

#include "migration/vmstate.h"

/*
 * An ExtollVeloRequester, which is member @velo of ExtollState.  If the stream is
 * refused, or ends early, the requester is empty.
 */
extern const VMStateInfo extoll_velo_info;
extern const VMStateDescription extoll_mailboxes_vmstate;   /* an ExtollMailboxes */

#endif /* HW_EXTOLL_VELO_VELO_MIGRATION_H */
