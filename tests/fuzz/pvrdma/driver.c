/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bed of pvrdma: kernel and processes of the guest; see bed.h. */
#include "bed.h"

#define SQ_RING     0x00                /* offsets in the first page of a QP, SRQ or CQ */
#define RX_RING     0x08
#define VLAN_NONE   0xfff

/* --- Registers -------------------------------------------------------------------- */

void bed_reg_set(enum pvrdma_reg reg, uint32_t value)
{
    uint64_t v = value;

    box_access(BOX_BAR(PVRDMA_BAR_REGS) + reg, &v, 4, true);
}

uint32_t bed_reg_get(enum pvrdma_reg reg)
{
    uint64_t v = 0;

    box_access(BOX_BAR(PVRDMA_BAR_REGS) + reg, &v, 4, false);
    return v;
}

void bed_doorbell(uint32_t uar, unsigned offset, uint32_t value)
{
    uint64_t v = value;

    box_access(BOX_BAR(PVRDMA_BAR_UAR) + uar * PVRDMA_PAGE_BYTES + offset, &v, 4,
               true);
}

/* --- Kernel ----------------------------------------------------------------------- */

uint64_t bed_pdir(unsigned page, unsigned count)
{
    stq_le_p(box_ram + bed_page(BED_PAGE_DIR), bed_page(BED_PAGE_TABLE));
    for (unsigned i = 0; i < count; i++) {
        stq_le_p(box_ram + bed_page(BED_PAGE_TABLE) + 8 * i, bed_page(page + i));
    }
    return bed_page(BED_PAGE_DIR);
}

/*
 * Writes the page directories of the two rings.  The second directory uses the pages of
 * the command slots, which are not in use yet.
 */
static void rings_make(struct pvrdma_device_shared_region *dsr)
{
    const uint64_t table = bed_page(BED_PAGE_CMD), dir = bed_page(BED_PAGE_RESP);

    dsr->async_ring_pages.num_pages = cpu_to_le32(2);
    dsr->async_ring_pages.pdir_dma = cpu_to_le64(bed_pdir(BED_PAGE_ASYNC, 2));
    stq_le_p(box_ram + dir, table);
    stq_le_p(box_ram + table, bed_page(BED_PAGE_CQNE));
    stq_le_p(box_ram + table + 8, bed_page(BED_PAGE_CQNE + 1));
    dsr->cq_ring_pages.num_pages = cpu_to_le32(2);
    dsr->cq_ring_pages.pdir_dma = cpu_to_le64(dir);
}

static int gid_bind(void)
{
    union pvrdma_cmd_req req = {
        .create_bind = {
            .vlan = cpu_to_le32(VLAN_NONE),
            .gid_type = pvrdma_gid_type(bed.s),
        },
    };

    memcpy(req.create_bind.new_gid, bed_gid, sizeof(bed_gid));
    return bed_command(PVRDMA_CMD_CREATE_BIND, &req, NULL);
}

void bed_bring_up(void)
{
    struct pvrdma_device_shared_region dsr = {
        .driver_version = cpu_to_le32(PVRDMA_VERSION),
        .cmd_slot_dma = cpu_to_le64(bed_page(BED_PAGE_CMD)),
        .resp_slot_dma = cpu_to_le64(bed_page(BED_PAGE_RESP)),
        .uar_pfn64 = cpu_to_le64(BOX_BAR(PVRDMA_BAR_UAR) >> PVRDMA_PAGE_SHIFT),
    };

    rings_make(&dsr);
    memcpy(box_ram + bed_page(BED_PAGE_DSR), &dsr, sizeof(dsr));
    bed_reg_set(PVRDMA_REG_DSRLOW, bed_page(BED_PAGE_DSR));
    bed_reg_set(PVRDMA_REG_DSRHIGH, 0);
    g_assert_cmpuint(bed_reg_get(PVRDMA_REG_ERR), ==, 0);
    bed_reg_set(PVRDMA_REG_IMR, 0);
    bed_reg_set(PVRDMA_REG_CTL, PVRDMA_DEVICE_CTL_ACTIVATE);
    g_assert_cmpuint(bed_reg_get(PVRDMA_REG_ERR), ==, 0);
    g_assert_cmpint(gid_bind(), ==, 0);
}

void bed_rings_take(void)
{
    static const unsigned pages[] = { BED_PAGE_ASYNC, BED_PAGE_CQNE };

    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
        uint8_t *ring = box_ram + bed_page(pages[i]) + RX_RING;

        memcpy(ring + 4, ring, 4);
    }
}

int bed_command(enum pvrdma_cmd cmd, union pvrdma_cmd_req *req,
                union pvrdma_cmd_resp *resp)
{
    union pvrdma_cmd_resp answer;
    int err;

    req->hdr.cmd = cpu_to_le32(cmd);
    memcpy(box_ram + bed_page(BED_PAGE_CMD), req, sizeof(*req));
    memset(box_ram + bed_page(BED_PAGE_RESP), 0, sizeof(answer));
    bed_reg_set(PVRDMA_REG_REQUEST, 0);
    err = bed_reg_get(PVRDMA_REG_ERR);
    memcpy(&answer, box_ram + bed_page(BED_PAGE_RESP), sizeof(answer));
    if (resp) {
        *resp = answer;
    }
    return err ?: answer.hdr.err;
}

int bed_uc_make(bool honest)
{
    union pvrdma_cmd_req req = {
        .create_uc.pfn64 = cpu_to_le64(
            (BOX_BAR(PVRDMA_BAR_UAR) >> PVRDMA_PAGE_SHIFT) +
            (honest ? BED_UAR_HONEST : BED_UAR_EVIL)),
    };
    union pvrdma_cmd_resp resp;
    int err = bed_command(PVRDMA_CMD_CREATE_UC, &req, &resp);

    if (err) {
        return err;
    }
    bed.uc[honest] = le32_to_cpu(resp.create_uc.ctx_handle);
    req = (union pvrdma_cmd_req) {
        .create_pd.ctx_handle = resp.create_uc.ctx_handle,
    };
    err = bed_command(PVRDMA_CMD_CREATE_PD, &req, &resp);
    bed.pd[honest] = err ? 0 : le32_to_cpu(resp.create_pd.pd_handle);
    return err;
}

int bed_cq_make(unsigned cq, uint32_t entries)
{
    union pvrdma_cmd_req req = {
        .create_cq = {
            .pdir_dma = cpu_to_le64(bed_pdir(bed.cq[cq].page, 2)),
            .ctx_handle = cpu_to_le32(bed.uc[cq == BED_CQ_HONEST]),
            .cqe = cpu_to_le32(entries),
            .nchunks = cpu_to_le32(2),
        },
    };
    union pvrdma_cmd_resp resp;
    int err;

    memset(box_ram + bed_page(bed.cq[cq].page), 0, PVRDMA_PAGE_BYTES);
    err = bed_command(PVRDMA_CMD_CREATE_CQ, &req, &resp);
    if (!err) {
        bed.cq[cq].handle = le32_to_cpu(resp.create_cq.cq_handle);
        bed.cq_cons[cq] = 0;
    }
    return err;
}

int bed_mr_make(unsigned mr, uint64_t length, uint32_t access)
{
    unsigned pages = mr == BED_MR_HONEST ? BED_PAGE_END - BED_PAGE_HONEST_DATA :
                     BED_DATA_PAGES;
    union pvrdma_cmd_req req = {
        .create_mr = {
            .start = cpu_to_le64(BED_VA),
            .length = cpu_to_le64(length),
            .pdir_dma = cpu_to_le64(bed_pdir(bed.mr[mr].page, pages)),
            .pd_handle = cpu_to_le32(bed.pd[mr == BED_MR_HONEST]),
            .access_flags = cpu_to_le32(access),
            .nchunks = cpu_to_le32(pages),
        },
    };
    union pvrdma_cmd_resp resp;
    int err = bed_command(PVRDMA_CMD_CREATE_MR, &req, &resp);

    if (!err) {
        bed.mr[mr].handle = le32_to_cpu(resp.create_mr.mr_handle);
        bed.mr[mr].key = le32_to_cpu(resp.create_mr.lkey);
    }
    return err;
}

int bed_srq_make(void)
{
    union pvrdma_cmd_req req = {
        .create_srq = {
            .pdir_dma = cpu_to_le64(bed_pdir(bed.srq.page, 2)),
            .pd_handle = cpu_to_le32(bed.pd[0]),
            .nchunks = cpu_to_le32(2),
            .attrs.max_wr = cpu_to_le32(BED_WQES),
            .attrs.max_sge = cpu_to_le32(BED_SGES),
        },
    };
    union pvrdma_cmd_resp resp;
    int err;

    memset(box_ram + bed_page(bed.srq.page), 0, PVRDMA_PAGE_BYTES);
    err = bed_command(PVRDMA_CMD_CREATE_SRQ, &req, &resp);
    if (!err) {
        bed.srq.handle = le32_to_cpu(resp.create_srq.srqn);
    }
    return err;
}

int bed_qp_make(unsigned qp, uint8_t type, bool srq, bool sig_all)
{
    bool honest = qp == BED_QP_HONEST;
    unsigned pages = srq ? 2 : 3, cq = honest ? BED_CQ_HONEST : qp % BED_CQ_EVIL;
    union pvrdma_cmd_req req = {
        .create_qp = {
            .pdir_dma = cpu_to_le64(bed_pdir(bed.qp[qp].page, pages)),
            .pd_handle = cpu_to_le32(bed.pd[honest]),
            .send_cq_handle = cpu_to_le32(bed.cq[cq].handle),
            .recv_cq_handle = cpu_to_le32(bed.cq[cq].handle),
            .srq_handle = cpu_to_le32(bed.srq.handle),
            .max_send_wr = cpu_to_le32(BED_WQES),
            .max_recv_wr = cpu_to_le32(srq ? 0 : BED_WQES),
            .max_send_sge = cpu_to_le32(BED_SGES),
            .max_recv_sge = cpu_to_le32(srq ? 0 : BED_SGES),
            .access_flags = cpu_to_le32(PVRDMA_ACCESS_LOCAL_WRITE),
            .total_chunks = cpu_to_le16(pages),
            .send_chunks = cpu_to_le16(1),
            .sq_sig_all = sig_all, .qp_type = type, .is_srq = srq,
        },
    };
    union pvrdma_cmd_resp resp;
    int err;

    memset(box_ram + bed_page(bed.qp[qp].page), 0, PVRDMA_PAGE_BYTES);
    err = bed_command(PVRDMA_CMD_CREATE_QP, &req, &resp);
    if (!err) {
        bed.qp[qp].handle = le32_to_cpu(resp.create_qp.qp_handle);
        bed.qp[qp].key = le32_to_cpu(resp.create_qp.qpn);
        bed.qp[qp].type = type;
    }
    return err;
}

int bed_destroy(enum pvrdma_cmd cmd, BedObject *object)
{
    /* the handle is the first member of each DESTROY_ command */
    union pvrdma_cmd_req req = {
        .destroy_qp.qp_handle = cpu_to_le32(object->handle),
    };
    int err = object->handle ? bed_command(cmd, &req, NULL) : 0;

    if (!err) {
        object->handle = 0;
    }
    return err;
}

int bed_qp_modify(unsigned qp, uint32_t mask, const struct pvrdma_qp_attr *attr)
{
    union pvrdma_cmd_req req = {
        .modify_qp = {
            .qp_handle = cpu_to_le32(bed.qp[qp].handle),
            .attr_mask = cpu_to_le32(mask),
            .attrs = *attr,
        },
    };

    return bed_command(PVRDMA_CMD_MODIFY_QP, &req, NULL);
}

static void attr_fill(struct pvrdma_qp_attr *attr, const BedConnection *to)
{
    *attr = (struct pvrdma_qp_attr) {
        .path_mtu = cpu_to_le32(to->mtu),
        .rq_psn = cpu_to_le32(to->psn), .sq_psn = cpu_to_le32(to->psn),
        .dest_qp_num = cpu_to_le32(to->qpn),
        .qp_access_flags = cpu_to_le32(PVRDMA_ACCESS_LOCAL_WRITE |
            PVRDMA_ACCESS_REMOTE_WRITE | PVRDMA_ACCESS_REMOTE_READ |
            PVRDMA_ACCESS_REMOTE_ATOMIC),
        .max_rd_atomic = to->rd_atomic, .max_dest_rd_atomic = to->rd_atomic,
        .min_rnr_timer = to->min_rnr_timer, .port_num = 1,
        .timeout = to->timeout, .retry_cnt = to->retry_cnt,
        .rnr_retry = to->rnr_retry,
        .ah_attr = { .grh.hop_limit = 64, .ah_flags = 1, .port_num = 1 },
    };
    memcpy(attr->ah_attr.grh.dgid, to->loop ? bed_gid : bed_evil_gid, 16);
    memcpy(attr->ah_attr.dmac, to->loop ? bed_mac : bed_peer_mac, 6);
}

void bed_qp_reset(unsigned qp)
{
    struct pvrdma_qp_attr attr = { .qp_state = cpu_to_le32(PVRDMA_QPS_RESET) };

    if (!bed_qp_modify(qp, PVRDMA_QP_STATE, &attr)) {
        memset(box_ram + bed_page(bed.qp[qp].page), 0,
               sizeof(struct pvrdma_ring_state));
    }
}

bool bed_qp_connect(unsigned qp, const BedConnection *to)
{
    static const uint32_t rc[] = {
        PVRDMA_QP_PKEY_INDEX | PVRDMA_QP_PORT | PVRDMA_QP_ACCESS_FLAGS,
        PVRDMA_QP_AV | PVRDMA_QP_PATH_MTU | PVRDMA_QP_DEST_QPN | PVRDMA_QP_RQ_PSN |
            PVRDMA_QP_MAX_DEST_RD_ATOMIC | PVRDMA_QP_MIN_RNR_TIMER,
        PVRDMA_QP_SQ_PSN | PVRDMA_QP_TIMEOUT | PVRDMA_QP_RETRY_CNT |
            PVRDMA_QP_RNR_RETRY | PVRDMA_QP_MAX_QP_RD_ATOMIC,
    };
    static const uint32_t ud[] = {
        PVRDMA_QP_PKEY_INDEX | PVRDMA_QP_PORT | PVRDMA_QP_QKEY, 0, PVRDMA_QP_SQ_PSN,
    };
    struct pvrdma_qp_attr attr;
    bool good = true;

    bed_qp_reset(qp);
    attr_fill(&attr, to);
    if (qp == BED_QP_HONEST) {
        memcpy(attr.ah_attr.grh.dgid, bed_honest_gid, 16);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(rc) && good; i++) {
        attr.qp_state = cpu_to_le32(PVRDMA_QPS_INIT + i);
        good = !bed_qp_modify(qp, PVRDMA_QP_STATE |
                              (bed.qp[qp].type == PVRDMA_QPT_RC ? rc : ud)[i], &attr);
    }
    if (qp < BED_QP_EVIL) {
        bed.peer[qp] = (BedPeer) { .last_psn = to->psn, .send_psn = to->psn };
    }
    return good;
}

PvrdmaQp *bed_qp_state(unsigned qp)
{
    return bed.qp[qp].handle ? pvrdma_table_get(&bed.s->qp, bed.qp[qp].handle) : NULL;
}

/* --- Processes -------------------------------------------------------------------- */

struct pvrdma_sq_wqe_hdr bed_wqe(enum pvrdma_wr_opcode opcode, uint64_t remote,
                                 uint32_t rkey)
{
    struct pvrdma_sq_wqe_hdr hdr = {
        .wr_id = cpu_to_le64(opcode),
        .opcode = cpu_to_le32(opcode),
        .send_flags = cpu_to_le32(PVRDMA_SEND_SIGNALED),
    };

    if (opcode == PVRDMA_WR_ATOMIC_CMP_AND_SWP ||
        opcode == PVRDMA_WR_ATOMIC_FETCH_AND_ADD) {
        hdr.wr.atomic.remote_addr = cpu_to_le64(remote);
        hdr.wr.atomic.rkey = cpu_to_le32(rkey);
        hdr.wr.atomic.compare_add = cpu_to_le64(1);
    } else {
        hdr.wr.rdma.remote_addr = cpu_to_le64(remote);
        hdr.wr.rdma.rkey = cpu_to_le32(rkey);
    }
    return hdr;
}

/*
 * Writes a WQE with one SGE to the slot of the process' producer index, and increments
 * the index.  Overwrites an older WQE if the queue is full.
 */
static void wqe_put(uint64_t ring, uint64_t queue, unsigned wqe_bytes, const void *hdr,
                    size_t hdr_bytes, const struct pvrdma_sge *sge)
{
    uint32_t tail = ldl_le_p(box_ram + ring) % (2 * BED_WQES);
    uint8_t *wqe = box_ram + queue + tail % BED_WQES * wqe_bytes;

    memcpy(wqe, hdr, hdr_bytes);
    memcpy(wqe + hdr_bytes, sge, sizeof(*sge));
    stl_le_p(box_ram + ring, (tail + 1) % (2 * BED_WQES));
}

static struct pvrdma_sge sge_of(unsigned mr, uint32_t offset, uint32_t len)
{
    return (struct pvrdma_sge) {
        .addr = cpu_to_le64(BED_VA + offset), .length = cpu_to_le32(len),
        .lkey = cpu_to_le32(bed.mr[mr].key),
    };
}

void bed_post_send(unsigned qp, const struct pvrdma_sq_wqe_hdr *hdr, unsigned mr,
                   uint32_t offset, uint32_t len)
{
    struct pvrdma_sge sge = sge_of(mr, offset, len);
    struct pvrdma_sq_wqe_hdr raw = *hdr;

    raw.num_sge = cpu_to_le32(1);
    wqe_put(bed_page(bed.qp[qp].page) + SQ_RING, bed_page(bed.qp[qp].page + 1),
            BED_SQE_BYTES, &raw, sizeof(raw), &sge);
}

void bed_post_recv(unsigned qp, unsigned mr, uint32_t offset, uint32_t len)
{
    const BedObject *o = qp < BED_QPS ? &bed.qp[qp] : &bed.srq;
    struct pvrdma_sge sge = sge_of(mr, offset, len);
    struct pvrdma_rq_wqe_hdr hdr = { .num_sge = cpu_to_le32(1) };

    wqe_put(bed_page(o->page) + RX_RING, bed_page(o->page + (qp < BED_QPS ? 2 : 1)),
            BED_RQE_BYTES, &hdr, sizeof(hdr), &sge);
}

void bed_ring_send(unsigned qp)
{
    bed_doorbell(qp == BED_QP_HONEST ? BED_UAR_HONEST : BED_UAR_EVIL,
                 PVRDMA_UAR_QP_OFFSET, PVRDMA_UAR_QP_SEND | bed.qp[qp].handle);
}

bool bed_cq_poll(unsigned cq, struct pvrdma_cqe *cqe)
{
    uint8_t *ring = box_ram + bed_page(bed.cq[cq].page) + RX_RING;
    uint32_t *cons = &bed.cq_cons[cq];

    if (ldl_le_p(ring) == *cons) {
        return false;
    }
    memcpy(cqe, box_ram + bed_page(bed.cq[cq].page + 1) +
           *cons % BED_CQES * sizeof(*cqe), sizeof(*cqe));
    *cons = (*cons + 1) % (2 * BED_CQES);
    stl_le_p(ring + 4, *cons);
    return true;
}
