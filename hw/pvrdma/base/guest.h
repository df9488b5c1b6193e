/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The log of guest errors.
 */
#ifndef HW_PVRDMA_BASE_GUEST_H
#define HW_PVRDMA_BASE_GUEST_H

typedef struct PvrdmaState PvrdmaState;

/* Counts an error in GUEST_ERROR, and logs the text if QEMU runs with -d guest_errors. */
void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

#endif /* HW_PVRDMA_BASE_GUEST_H */
