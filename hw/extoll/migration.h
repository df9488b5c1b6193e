/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of an EXTOLL NIC: the format of the device's state.
 */
#ifndef HW_EXTOLL_MIGRATION_H
#define HW_EXTOLL_MIGRATION_H

#include "migration/vmstate.h"

/*
 * Format of an ExtollState, without the bus shell.  The bus shell resets the device
 * before the state is loaded.
 */
extern const VMStateDescription extoll_vmstate;

#endif /* HW_EXTOLL_MIGRATION_H */
