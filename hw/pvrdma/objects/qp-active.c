/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the list of queue pairs that have work.
 */
#include "qemu/osdep.h"
#include "../pvrdma.h"
#include "qp.h"

void pvrdma_qp_activate(PvrdmaQp *qp)
{
    PvrdmaState *s = qp->s;

    if (!qp->active) {
        qp->active = true;
        QTAILQ_INSERT_TAIL(&s->active_qps, qp, active_next);
    }
    pvrdma_schedule(s);
}

void pvrdma_qp_activate_delayed(PvrdmaQp *qp)
{
    PvrdmaState *s = qp->s;

    if (!s->ack_delay_us) {
        pvrdma_qp_activate(qp);
    } else if (!qp->active) {
        qp->active = true;
        QTAILQ_INSERT_TAIL(&s->active_qps, qp, active_next);
        if (!timer_pending(s->ack_timer)) {
            timer_mod(s->ack_timer,
                      rnic_now() + s->ack_delay_us * (int64_t)SCALE_US);
        }
    }
}
