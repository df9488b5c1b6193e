/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Check for QPs that hang.
 */
#ifndef HW_PVRDMA_TRANSPORT_STUCK_H
#define HW_PVRDMA_TRANSPORT_STUCK_H

typedef struct PvrdmaQp PvrdmaQp;

/*
 * Builds with a sanitizer check a QP after each event that may change its work.  Other
 * builds do not check, because a hang costs one connection, but an abort the machine.
 */
#if defined(QEMU_SANITIZE_ADDRESS) || defined(QEMU_SANITIZE_THREAD)
#define PVRDMA_CHECKS true
#else
#define PVRDMA_CHECKS false
#endif

/*
 * Returns an error text if @qp will hang, or NULL.  A QP hangs if it has work, but is
 * not active and has no timer, unless it awaits an answer and the guest has turned the
 * timeout off.  The result is meaningful only when no function of the device is at
 * work.
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
