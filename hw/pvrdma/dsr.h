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
 * region refers, and writes the device's capabilities to the region.  Sets dsr_valid, and
 * stores the addresses of the slots.  Returns 0, or a positive errno, after which the
 * device has no ring.
 */
int pvrdma_dsr_load(PvrdmaState *s);

#endif /* HW_PVRDMA_DSR_H */
