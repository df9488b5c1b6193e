/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every file asks of QEMU: memory of the guest, the log of its mistakes, the loop.
 */
#ifndef HW_PVRDMA_BASE_GUEST_H
#define HW_PVRDMA_BASE_GUEST_H

typedef struct PvrdmaState PvrdmaState;

/* False if the bus refused. */
bool pvrdma_dma_read(PvrdmaState *s, uint64_t addr, void *buf, size_t len);
bool pvrdma_dma_write(PvrdmaState *s, uint64_t addr, const void *buf, size_t len);

/* A mistake of the guest: counted, and in the log under guest_errors. */
void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

/* Lets the bottom half run. */
void pvrdma_schedule(PvrdmaState *s);

#endif /* HW_PVRDMA_BASE_GUEST_H */
