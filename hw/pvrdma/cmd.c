/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the command channel.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../core/dma.h"
#include "base/caps.h"
#include "cmd.h"
#include "objects/cq.h"
#include "base/event.h"
#include "wire/gid.h"
#include "base/guest.h"
#include "objects/mr.h"
#include "wire/port.h"
#include "pvrdma.h"
#include "objects/qp.h"
#include "objects/srq.h"
#include "trace.h"

typedef struct PvrdmaCmdInfo {
    const char *name;
    PvrdmaCmd *fn;
    /*
     * True if the driver waits for a response and its interrupt.  Other commands must not
     * raise the interrupt, because the driver would take this interrupt for the interrupt
     * of the next command.
     */
    bool responds;
    bool err_in_response;       /* true: an error is in the response, and ERR is 0 */
} PvrdmaCmdInfo;

static const PvrdmaCmdInfo cmds[PVRDMA_CMD_MAX] = {
    [PVRDMA_CMD_QUERY_PORT] = { "query_port", pvrdma_cmd_query_port, true },
    [PVRDMA_CMD_QUERY_PKEY] = { "query_pkey", pvrdma_cmd_query_pkey, true },
    [PVRDMA_CMD_CREATE_PD] = { "create_pd", pvrdma_cmd_create_pd, true },
    [PVRDMA_CMD_DESTROY_PD] = { "destroy_pd", pvrdma_cmd_destroy_pd },
    [PVRDMA_CMD_CREATE_MR] = { "create_mr", pvrdma_cmd_create_mr, true },
    [PVRDMA_CMD_DESTROY_MR] = { "destroy_mr", pvrdma_cmd_destroy_mr },
    [PVRDMA_CMD_CREATE_CQ] = { "create_cq", pvrdma_cmd_create_cq, true },
    [PVRDMA_CMD_RESIZE_CQ] = { "resize_cq", pvrdma_cmd_resize_cq, true },
    [PVRDMA_CMD_DESTROY_CQ] = { "destroy_cq", pvrdma_cmd_destroy_cq },
    [PVRDMA_CMD_CREATE_QP] = { "create_qp", pvrdma_cmd_create_qp, true },
    [PVRDMA_CMD_MODIFY_QP] = { "modify_qp", pvrdma_cmd_modify_qp, true, true },
    [PVRDMA_CMD_QUERY_QP] = { "query_qp", pvrdma_cmd_query_qp, true },
    [PVRDMA_CMD_DESTROY_QP] = { "destroy_qp", pvrdma_cmd_destroy_qp },
    [PVRDMA_CMD_CREATE_UC] = { "create_uc", pvrdma_cmd_create_uc, true },
    [PVRDMA_CMD_DESTROY_UC] = { "destroy_uc", pvrdma_cmd_destroy_uc },
    [PVRDMA_CMD_CREATE_BIND] = { "create_bind", pvrdma_cmd_create_bind },
    [PVRDMA_CMD_DESTROY_BIND] = { "destroy_bind", pvrdma_cmd_destroy_bind },
    [PVRDMA_CMD_CREATE_SRQ] = { "create_srq", pvrdma_cmd_create_srq, true },
    [PVRDMA_CMD_MODIFY_SRQ] = { "modify_srq", pvrdma_cmd_modify_srq },
    [PVRDMA_CMD_QUERY_SRQ] = { "query_srq", pvrdma_cmd_query_srq, true },
    [PVRDMA_CMD_DESTROY_SRQ] = { "destroy_srq", pvrdma_cmd_destroy_srq },
};

/*
 * Executes @req.  Writes the response and raises its interrupt if the driver waits for a
 * response, but after an error only if the response contains the error.  Returns the
 * value for the register ERR: 0 or a positive errno.
 */
static int cmd_do(PvrdmaState *s, const PvrdmaCmdInfo *info,
                  const union pvrdma_cmd_req *req)
{
    union pvrdma_cmd_resp resp = { 0 };
    int err = info->fn(s, req, &resp);

    trace_pvrdma_cmd(s->port.netdev, info->name, err);
    if (err) {
        pvrdma_count(s, PVRDMA_CNT_CMD_ERROR);
        pvrdma_guest_error(s, "%s: %s", info->name, strerror(err));
    }
    if (!info->responds || (err && !info->err_in_response)) {
        return err;
    }
    resp.hdr.response = req->hdr.response;
    resp.hdr.ack = cpu_to_le32(PVRDMA_CMD_RESP(le32_to_cpu(req->hdr.cmd)));
    resp.hdr.err = err;
    if (!rnic_dma_write(&s->host, s->resp_slot, &resp, sizeof(resp))) {
        if (!err) {
            pvrdma_count(s, PVRDMA_CNT_CMD_ERROR);
        }
        pvrdma_guest_error(s, "%s: the response slot is not in memory",
                           info->name);
        return EFAULT;
    }
    pvrdma_irq_raise(s, PVRDMA_INTR_VECTOR_RESPONSE);
    return 0;
}

int pvrdma_cmd_run(PvrdmaState *s)
{
    union pvrdma_cmd_req req;
    uint32_t cmd;

    pvrdma_count(s, PVRDMA_CNT_CMD);
    if (!rnic_dma_read(&s->host, s->cmd_slot, &req, sizeof(req))) {
        pvrdma_count(s, PVRDMA_CNT_CMD_ERROR);
        pvrdma_guest_error(s, "the command slot is not in memory");
        return EFAULT;
    }
    cmd = le32_to_cpu(req.hdr.cmd);
    if (cmd >= PVRDMA_CMD_MAX) {
        pvrdma_count(s, PVRDMA_CNT_CMD_ERROR);
        pvrdma_guest_error(s, "no such command: %u", cmd);
        return EINVAL;
    }
    return cmd_do(s, &cmds[cmd], &req);
}

/* --- Port --------------------------------------------------------------- */

int pvrdma_cmd_query_port(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    struct pvrdma_port_attr *attr = &resp->query_port.attrs;
    bool up = pvrdma_port_up(s);

    if (req->query_port.port_num != 1) {
        return EINVAL;
    }
    *attr = (struct pvrdma_port_attr) {
        .state = cpu_to_le32(up ? PVRDMA_PORT_ACTIVE : PVRDMA_PORT_DOWN),
        .max_mtu = cpu_to_le32(pvrdma_mtu_code(s)),
        .active_mtu = cpu_to_le32(pvrdma_mtu_code(s)),
        .gid_tbl_len = cpu_to_le32(PVRDMA_GIDS),
        .port_cap_flags =
            cpu_to_le32(PVRDMA_PORT_CM_SUP | PVRDMA_PORT_IP_BASED_GIDS),
        .max_msg_sz = cpu_to_le32(ROCE_MSG_MAX),
        .bad_pkey_cntr = cpu_to_le32(s->pkey_violations),
        .qkey_viol_cntr = cpu_to_le32(s->qkey_violations),
        .pkey_tbl_len = cpu_to_le16(PVRDMA_PKEYS),
        .max_vl_num = 1,
        .active_width = PVRDMA_WIDTH_4X,
        .active_speed = PVRDMA_SPEED_EDR,
        .phys_state = up ? PVRDMA_PHYS_LINK_UP : PVRDMA_PHYS_DISABLED,
    };
    return 0;
}

int pvrdma_cmd_query_pkey(PvrdmaState *s, const union pvrdma_cmd_req *req,
                          union pvrdma_cmd_resp *resp)
{
    if (req->query_pkey.port_num != 1 ||
        req->query_pkey.index >= PVRDMA_PKEYS) {
        return EINVAL;
    }
    resp->query_pkey.pkey = cpu_to_le16(ROCE_PKEY_DEFAULT);
    return 0;
}
