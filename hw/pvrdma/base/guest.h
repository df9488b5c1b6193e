/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Services of QEMU for all files: guest memory, the log of guest errors, the loop.
 */
#ifndef HW_PVRDMA_BASE_GUEST_H
#define HW_PVRDMA_BASE_GUEST_H

typedef struct PvrdmaState PvrdmaState;

/* Copy @len bytes from or to DMA address @addr.  Return false if the bus refused. */
bool pvrdma_dma_read(PvrdmaState *s, uint64_t addr, void *buf, size_t len);
bool pvrdma_dma_write(PvrdmaState *s, uint64_t addr, const void *buf, size_t len);

/* Counts an error of the guest, and logs it under -d guest_errors. */
void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

/* Schedules the bottom half, which runs the loop. */
void pvrdma_schedule(PvrdmaState *s);

#endif /* HW_PVRDMA_BASE_GUEST_H */
