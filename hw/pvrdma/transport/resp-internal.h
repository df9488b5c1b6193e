/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the responder share.
 */
#ifndef HW_PVRDMA_TRANSPORT_RESP_INTERNAL_H
#define HW_PVRDMA_TRANSPORT_RESP_INTERNAL_H

#include "../objects/mr.h"
#include "../objects/qp.h"

/* The oldest resource that is to be answered, or NULL. */
PvrdmaResource *pvrdma_resp_active(PvrdmaResp *r);
/* Whether there is anything to be sent. */
bool pvrdma_resp_has_work(PvrdmaQp *qp);
/* The READ at @psn cannot be answered: the peer is told, and the connection ends. */
void pvrdma_resp_mr_failed(PvrdmaQp *qp, PvrdmaMrStatus status, uint32_t psn);

#endif /* HW_PVRDMA_TRANSPORT_RESP_INTERNAL_H */
