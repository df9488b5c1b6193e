/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Check for QPs that hang.
 */
#ifndef HW_PVRDMA_TRANSPORT_STUCK_H
#define HW_PVRDMA_TRANSPORT_STUCK_H

typedef struct PvrdmaQp PvrdmaQp;

/*
 * Builds with a sanitizer check a QP after each function that may change its work.
 * Other builds do not check: there a hang costs one connection, an abort the machine.
 */
#if defined(QEMU_SANITIZE_ADDRESS) || defined(QEMU_SANITIZE_THREAD)
#define PVRDMA_CHECKS true
#else
#define PVRDMA_CHECKS false
#endif

/*
 * Returns the reason, as text, why @qp will hang, or NULL.  A QP hangs if it has work,
 * but no activation, no timer, and no answer that it may await for ever.  The result is
 * valid for each QP between calls of the device's functions.
 */
const char *pvrdma_qp_stuck(PvrdmaQp *qp);
/* Aborts if @qp will hang. */
void pvrdma_qp_assert(PvrdmaQp *qp);
/* Aborts if @qp will hang, in builds with PVRDMA_CHECKS. */
static inline void pvrdma_qp_check(PvrdmaQp *qp)
{
    if (PVRDMA_CHECKS) {
        pvrdma_qp_assert(qp);
    }
}

#endif /* HW_PVRDMA_TRANSPORT_STUCK_H */
