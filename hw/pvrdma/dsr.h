/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared region.
 */
#ifndef HW_PVRDMA_DSR_H
#define HW_PVRDMA_DSR_H

typedef struct PvrdmaState PvrdmaState;

/* Reads the one at dsr_addr, and fills in what the device can do; 0 or errno. */
int pvrdma_dsr_load(PvrdmaState *s);

#endif /* HW_PVRDMA_DSR_H */
