/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared region (DSR), by which the driver and the device exchange addresses and
 * capabilities.
 */
#ifndef HW_PVRDMA_DSR_H
#define HW_PVRDMA_DSR_H

typedef struct PvrdmaState PvrdmaState;

/*
 * Reads the shared region at PvrdmaState.dsr_addr, loads the two rings to which the
 * region refers, and writes the device's capabilities to the region.  Then sets cmd_slot,
 * resp_slot, uar_pfn and dsr_valid of @s, and returns 0.  On an error returns a positive
 * errno; in this case the device has no ring, and dsr_valid is unchanged.  Also sets
 * qp_handles, from the driver's version and the property version.
 */
int pvrdma_dsr_load(PvrdmaState *s);

#endif /* HW_PVRDMA_DSR_H */
