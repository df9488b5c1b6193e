/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Check for QPs that hang.
 */
#ifndef HW_PVRDMA_TRANSPORT_STUCK_H
#define HW_PVRDMA_TRANSPORT_STUCK_H

typedef struct PvrdmaQp PvrdmaQp;

/*
 * PVRDMA_CHECKS is true in builds with the address or thread sanitizer, which check a QP
 * after its visits, timers, send doorbells and MODIFY_QP, and an RC QP after its packets.
 * Other builds do not check, because a hang stops only one connection, but an abort stops
 * the machine.
 */
#if defined(QEMU_SANITIZE_ADDRESS) || defined(QEMU_SANITIZE_THREAD)
#define PVRDMA_CHECKS true
#else
#define PVRDMA_CHECKS false
#endif

/*
 * Returns an error text if @qp will hang, or NULL.  A QP hangs if the QP has work, but is
 * not active and has no timer.  A QP that awaits an answer does not hang if its attribute
 * timeout is 0.  The result is valid only if no function is changing @qp.
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
