/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared region (DSR), by which the driver and the device exchange addresses and
 * capabilities.
 */
#ifndef HW_PVRDMA_DSR_H
#define HW_PVRDMA_DSR_H

typedef struct PvrdmaState PvrdmaState;

/*
 * Reads the shared region at dsr_addr, loads the rings to which it refers, and writes
 * the device's capabilities to it.  Returns 0 or a positive errno, after which no ring
 * is loaded.
 */
int pvrdma_dsr_load(PvrdmaState *s);

#endif /* HW_PVRDMA_DSR_H */
