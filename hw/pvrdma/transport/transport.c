/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the table of functions by which queue pairs use requester and
 * responder.
 */
#include "qemu/osdep.h"
#include "../objects/qp.h"
#include "req.h"
#include "resp.h"
#include "stuck.h"
#include "transport.h"

const PvrdmaTransport pvrdma_transport = {
    .receive_begin = pvrdma_resp_init,
    .receive_flush = pvrdma_resp_flush,
    .receive_answer = pvrdma_resp_run,
    .send_begin = pvrdma_req_init,
    .send_flush = pvrdma_req_flush,
    .send_idle = pvrdma_req_idle,
    .timer = pvrdma_req_timer,
    .end = pvrdma_req_fini,
    .check = pvrdma_qp_check,
};
