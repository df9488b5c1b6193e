/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of a hostile kernel to pvrdma.  A record of the program is a
 * command: fields that the device is likely to accept, then a few bytes that replace any
 * others, and a byte of RAM that changes while the device reads the command or a page
 * directory.
 */
#include "bed.h"

#define OPS_MAX     200
#define HANDLES     16

const uint8_t bed_program_flags = BED_FLAGS;

/*
 * Handles that commands have returned, of objects of all types; a new handle replaces
 * the oldest.
 */
static struct {
    uint32_t handle[HANDLES];
    unsigned next;
} known;

static __le32 any_handle(FuzzInput *in)
{
    return cpu_to_le32(known.handle[fuzz_u8(in) % HANDLES]);
}

/* Returns the address of a directory of 16 pages, from a random page of EVIL's on. */
static __le64 any_pdir(FuzzInput *in)
{
    uint8_t first = fuzz_u8(in);

    return cpu_to_le64(bed_pdir(BED_PAGE_EVIL + first % 32, 16));
}

static __le32 any_size(FuzzInput *in)
{
    return cpu_to_le32(1u << fuzz_u8(in) % 20);
}

static void likely_create(FuzzInput *in, enum pvrdma_cmd cmd, union pvrdma_cmd_req *req)
{
    switch (cmd) {
    case PVRDMA_CMD_CREATE_UC:
        req->create_uc.pfn64 = cpu_to_le64((BOX_BAR(PVRDMA_BAR_UAR) >>
                                            PVRDMA_PAGE_SHIFT) + fuzz_u16(in) % 520);
        break;
    case PVRDMA_CMD_CREATE_PD:
        req->create_pd.ctx_handle = any_handle(in);
        break;
    case PVRDMA_CMD_CREATE_MR:
        req->create_mr.pdir_dma = any_pdir(in);
        req->create_mr.pd_handle = any_handle(in);
        req->create_mr.nchunks = cpu_to_le32(fuzz_u8(in) % 18);
        req->create_mr.length = cpu_to_le64(fuzz_u16(in));
        req->create_mr.access_flags = cpu_to_le32(fuzz_u8(in) % 64);
        req->create_mr.flags = cpu_to_le32(fuzz_u8(in) % 4);
        break;
    case PVRDMA_CMD_CREATE_CQ:
        req->create_cq.pdir_dma = any_pdir(in);
        req->create_cq.ctx_handle = any_handle(in);
        req->create_cq.nchunks = cpu_to_le32(fuzz_u8(in) % 18);
        req->create_cq.cqe = any_size(in);
        break;
    default:
        req->create_srq.pdir_dma = any_pdir(in);
        req->create_srq.pd_handle = any_handle(in);
        req->create_srq.nchunks = cpu_to_le32(fuzz_u8(in) % 18);
        req->create_srq.attrs.max_wr = any_size(in);
        req->create_srq.attrs.max_sge = cpu_to_le32(fuzz_u8(in) % 34);
    }
}

static void likely_qp(FuzzInput *in, struct pvrdma_cmd_create_qp *cmd)
{
    static const uint8_t types[] = { PVRDMA_QPT_RC, PVRDMA_QPT_UD, PVRDMA_QPT_GSI };

    cmd->pdir_dma = any_pdir(in);
    cmd->pd_handle = any_handle(in);
    cmd->send_cq_handle = any_handle(in);
    cmd->recv_cq_handle = any_handle(in);
    cmd->srq_handle = any_handle(in);
    cmd->max_send_wr = any_size(in);
    cmd->max_recv_wr = any_size(in);
    cmd->max_send_sge = cpu_to_le32(fuzz_u8(in) % 34);
    cmd->max_recv_sge = cpu_to_le32(fuzz_u8(in) % 34);
    cmd->total_chunks = cpu_to_le16(fuzz_u8(in) % 18);
    cmd->send_chunks = cpu_to_le16(fuzz_u8(in) % 18);
    cmd->qp_type = types[fuzz_u8(in) % ARRAY_SIZE(types)];
    cmd->is_srq = fuzz_u8(in) % 4 == 3;
}

static void likely_modify(FuzzInput *in, struct pvrdma_cmd_modify_qp *cmd)
{
    static const uint32_t steps[] = {
        PVRDMA_QP_PKEY_INDEX | PVRDMA_QP_PORT | PVRDMA_QP_ACCESS_FLAGS,
        PVRDMA_QP_AV | PVRDMA_QP_PATH_MTU | PVRDMA_QP_DEST_QPN | PVRDMA_QP_RQ_PSN |
            PVRDMA_QP_MAX_DEST_RD_ATOMIC | PVRDMA_QP_MIN_RNR_TIMER,
        PVRDMA_QP_SQ_PSN | PVRDMA_QP_TIMEOUT | PVRDMA_QP_RETRY_CNT |
            PVRDMA_QP_RNR_RETRY | PVRDMA_QP_MAX_QP_RD_ATOMIC,
    };
    unsigned step = fuzz_u8(in) % ARRAY_SIZE(steps);

    cmd->qp_handle = any_handle(in);
    cmd->attr_mask = cpu_to_le32(PVRDMA_QP_STATE | steps[step]);
    cmd->attrs = (struct pvrdma_qp_attr) {
        .qp_state = cpu_to_le32(PVRDMA_QPS_INIT + step),
        .path_mtu = cpu_to_le32(PVRDMA_MTU_256), .port_num = 1,
        .timeout = 14, .retry_cnt = 3, .rnr_retry = 3, .max_rd_atomic = 1,
        .dest_qp_num = cpu_to_le32(BED_EVIL_QPN),
        .ah_attr = { .port_num = 1 },
    };
    memcpy(cmd->attrs.ah_attr.grh.dgid, bed_evil_gid, sizeof(bed_evil_gid));
    memcpy(cmd->attrs.ah_attr.dmac, bed_peer_mac, sizeof(bed_peer_mac));
}

static void likely_gid(FuzzInput *in, enum pvrdma_cmd cmd, union pvrdma_cmd_req *req)
{
    uint8_t index = fuzz_u8(in) % (PVRDMA_GIDS + 1);

    if (cmd == PVRDMA_CMD_CREATE_BIND) {
        req->create_bind.index = cpu_to_le32(index);
        req->create_bind.gid_type = pvrdma_gid_type(bed.s);
        memcpy(req->create_bind.new_gid, bed_gid, sizeof(bed_gid));
    } else {
        req->destroy_bind.index = cpu_to_le32(index);
        memcpy(req->destroy_bind.dest_gid, bed_gid, sizeof(bed_gid));
    }
}

static void request_fill(FuzzInput *in, enum pvrdma_cmd cmd, union pvrdma_cmd_req *req)
{
    switch (cmd) {
    case PVRDMA_CMD_CREATE_UC:
    case PVRDMA_CMD_CREATE_PD:
    case PVRDMA_CMD_CREATE_MR:
    case PVRDMA_CMD_CREATE_CQ:
    case PVRDMA_CMD_CREATE_SRQ:
        likely_create(in, cmd, req);
        break;
    case PVRDMA_CMD_CREATE_QP:
        likely_qp(in, &req->create_qp);
        break;
    case PVRDMA_CMD_MODIFY_QP:
        likely_modify(in, &req->modify_qp);
        break;
    case PVRDMA_CMD_CREATE_BIND:
    case PVRDMA_CMD_DESTROY_BIND:
        likely_gid(in, cmd, req);
        break;
    case PVRDMA_CMD_QUERY_PORT:
    case PVRDMA_CMD_QUERY_PKEY:
        req->query_pkey.port_num = 1;
        break;
    default:
        /* all other commands begin with a handle */
        req->query_qp.qp_handle = any_handle(in);
        req->modify_srq.attr_mask = cpu_to_le32(PVRDMA_SRQ_LIMIT);
    }
}

static void remember(enum pvrdma_cmd cmd, const union pvrdma_cmd_resp *resp)
{
    switch (cmd) {
    case PVRDMA_CMD_CREATE_UC:
    case PVRDMA_CMD_CREATE_PD:
    case PVRDMA_CMD_CREATE_MR:
    case PVRDMA_CMD_CREATE_CQ:
    case PVRDMA_CMD_CREATE_SRQ:
    case PVRDMA_CMD_CREATE_QP:
        known.handle[known.next++ % HANDLES] =
            le32_to_cpu(cmd == PVRDMA_CMD_CREATE_QP ? resp->create_qp.qp_handle :
                        resp->create_uc.ctx_handle);
        break;
    default:
        break;
    }
}

static void command(FuzzInput *in)
{
    union pvrdma_cmd_req req = { 0 };
    union pvrdma_cmd_resp resp;
    uint8_t raw = fuzz_u8(in), how = fuzz_u8(in);
    enum pvrdma_cmd cmd = raw % (PVRDMA_CMD_MAX + 1);
    uint8_t reads, value, at = fuzz_u8(in);

    request_fill(in, cmd, &req);
    if (how & 1) {
        at %= sizeof(req) - sizeof(req.hdr) - 8;
        fuzz_bytes(in, (uint8_t *)&req + sizeof(req.hdr) + at, 1u << (how >> 1 & 3));
    }
    if (how & 8) {
        reads = fuzz_u8(in);
        value = fuzz_u8(in);
        box_flip(reads, bed_page(how & 16 ? BED_PAGE_TABLE : BED_PAGE_CMD) + at, value);
    }
    if (!bed_command(cmd, &req, &resp)) {
        remember(cmd, &resp);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    bed_start(fuzz_u8(&in));
    bed.flags |= BED_KERNEL;
    memset(&known, 0, sizeof(known));
    known.handle[1] = bed.pd[0];
    known.handle[2] = bed.qp[0].handle;
    known.next = 3;
    for (unsigned i = 0; in.left && i < OPS_MAX; i++) {
        uint8_t record[BED_OP_BYTES];
        FuzzInput op = { record, sizeof(record) };

        fuzz_bytes(&in, record, sizeof(record));
        command(&op);
        bed_settle();
    }
    bed_check();
    bed_end();
    return 0;
}
