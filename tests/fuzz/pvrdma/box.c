/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pvrdma in a box: programs of work requests, frames, stores, commands and time; see
 * box-program.h.  Besides the sanitizers and pvrdma_qp_check(), the target asserts what
 * bed_settle() and bed_check() assert: work ends, memory is bounded, each WQE ends, no
 * byte of a process reaches another process or another node, an honest process can
 * transfer data, and nothing is left after all objects were destroyed.
 */
#include "bed.h"
#include "box-program.h"
#include "hw/rnic/pvrdma/transport/stuck.h"

#define OPS_MAX     256
#define FRAMES_MAX  2000            /* limit of frames of EVIL_NODE in one program */

const uint8_t bed_program_flags = BED_FLAGS;

static unsigned frames;

/*
 * Returns a number of packets or operations that is likely to be at a limit of the
 * device.
 */
static unsigned often(uint8_t raw)
{
    static const uint8_t counts[] = { 1, 2, 8, 16, 31, 32, 33, 64, 128, 255 };

    return counts[raw % ARRAY_SIZE(counts)];
}

/* Returns the index of a QP of EVIL, mostly of the QP that is connected to EVIL_NODE. */
static unsigned any_qp(uint8_t raw)
{
    return raw & 0xc0 ? BED_QP_PEER : raw % BED_QP_EVIL;
}

static uint32_t any_key(uint8_t raw, uint32_t value)
{
    return raw % 4 == 3 ? value : bed.mr[raw % 4 % BED_MRS].key;
}

/* --- Process ---------------------------------------------------------------------- */

static const uint8_t opcodes[] = {
    PVRDMA_WR_RDMA_READ, PVRDMA_WR_RDMA_READ, PVRDMA_WR_RDMA_READ,
    PVRDMA_WR_RDMA_READ, PVRDMA_WR_RDMA_READ, PVRDMA_WR_RDMA_READ,
    PVRDMA_WR_RDMA_WRITE, PVRDMA_WR_RDMA_WRITE, PVRDMA_WR_SEND, PVRDMA_WR_SEND,
    PVRDMA_WR_RDMA_WRITE_WITH_IMM, PVRDMA_WR_SEND_WITH_IMM,
    PVRDMA_WR_ATOMIC_CMP_AND_SWP, PVRDMA_WR_ATOMIC_FETCH_AND_ADD,
    PVRDMA_WR_SEND_WITH_INV, PVRDMA_WR_LOCAL_INV, PVRDMA_WR_FAST_REG_MR,
    PVRDMA_WR_LSO, PVRDMA_WR_BIND_MW,
};

/* Returns a length in bytes, mostly a multiple of 256, or one byte less. */
static uint32_t any_length(uint8_t how, uint8_t raw)
{
    return how % 4 ? often(raw) * 256u - (how % 4 == 3) : raw;
}

static void ud_fill(struct pvrdma_sq_wqe_hdr *hdr, uint8_t how, unsigned to)
{
    struct pvrdma_av *av = &hdr->wr.ud.av;

    hdr->wr.ud.remote_qpn = cpu_to_le32(how & 1 ? bed.qp[to].key : BED_EVIL_QPN + to);
    hdr->wr.ud.remote_qkey = cpu_to_le32(how & 2 ? 1 : 0);
    av->port_pd = cpu_to_le32(1u << 24 | bed.pd[how >> 2 & 1]);
    av->hop_limit = 64;
    memcpy(av->dgid, how & 1 ? bed_gid : bed_evil_gid, sizeof(av->dgid));
    memcpy(av->dmac, how & 1 ? bed_mac : bed_peer_mac, sizeof(av->dmac));
}

static void op_post(FuzzInput *in)
{
    unsigned qp = any_qp(fuzz_u8(in));
    unsigned opcode = opcodes[fuzz_u8(in) % ARRAY_SIZE(opcodes)];
    unsigned count = 1 + fuzz_u8(in) % 3;
    uint8_t flags = fuzz_u8(in), how = fuzz_u8(in);
    uint32_t length = any_length(how, fuzz_u8(in)), offset = fuzz_u8(in);
    uint8_t keys = fuzz_u8(in);
    struct pvrdma_sq_wqe_hdr hdr;

    if (opcode == PVRDMA_WR_ATOMIC_CMP_AND_SWP ||
        opcode == PVRDMA_WR_ATOMIC_FETCH_AND_ADD) {
        length = 8;
        offset &= ~7u;
    }
    hdr = bed_wqe(opcode, BED_VA + offset, any_key(keys >> 2, fuzz_u32(in)));
    hdr.send_flags = cpu_to_le32(flags);
    hdr.ex.imm_data = cpu_to_le32(any_key(keys >> 4, fuzz_u32(in)));
    if (qp == BED_QP_UD) {
        ud_fill(&hdr, how >> 3, keys >> 2 & 3);
    }
    for (unsigned i = 0; i < count; i++) {
        bed_post_send(qp, &hdr, keys % BED_MRS, how & 4 ? offset : 0, length);
    }
    bed_ring_send(qp);
}

static void op_post_recv(FuzzInput *in)
{
    unsigned qp = any_qp(fuzz_u8(in)), count = 1 + fuzz_u8(in) % BED_WQES;
    uint8_t how = fuzz_u8(in), raw = fuzz_u8(in), mr = fuzz_u8(in);

    if (qp == BED_QP_SRQ) {
        qp = BED_QPS;
    }
    for (unsigned i = 0; i < count; i++) {
        bed_post_recv(qp, mr % BED_MRS, 0, any_length(how, raw));
    }
}

static void op_poll(FuzzInput *in)
{
    uint8_t how = fuzz_u8(in);
    unsigned cq = how % BED_CQ_EVIL;
    struct pvrdma_cqe cqe;

    /* the loop has a limit, because EVIL may have written invalid indices */
    for (unsigned n = how & 2 ? 1 : BED_CQES; n && bed_cq_poll(cq, &cqe); n--) {
        bed_assert_no_secret((uint8_t *)&cqe, sizeof(cqe));
    }
    bed_doorbell(BED_UAR_EVIL, PVRDMA_UAR_CQ_OFFSET, bed.cq[cq].handle |
                 (how & 4 ? PVRDMA_UAR_CQ_ARM : how & 8 ? PVRDMA_UAR_CQ_ARM_SOL :
                  PVRDMA_UAR_CQ_POLL));
}

static void op_queue(FuzzInput *in)
{
    const unsigned pages = BED_PAGE_EVIL_DATA - BED_PAGE_EVIL;
    uint8_t bytes[16];
    unsigned page = fuzz_u8(in) % pages, at = fuzz_u16(in), len = 1 + fuzz_u8(in) % 16;

    /*
     * every second offset is in the ring state, because the device ignores most other
     * bytes of an object's first page
     */
    at %= fuzz_u8(in) & 1 ? PVRDMA_PAGE_BYTES : sizeof(struct pvrdma_ring_state);
    len = MIN(len, PVRDMA_PAGE_BYTES - at);
    fuzz_bytes(in, bytes, len);
    memcpy(box_ram + bed_page(BED_PAGE_EVIL + page) + at, bytes, len);
}

/* --- Polls ------------------------------------------------------------------------ */

/*
 * Limit of releases of the big lock in one poll, with the polls of other vCPUs during
 * it.
 */
#define RELEASES_MAX 8

static void op_do(FuzzInput *in, unsigned kind);
static unsigned any_kind(uint8_t raw);

/*
 * The operation that happens while a poll has released the lock.  @now: this operation
 * runs.
 */
static struct {
    FuzzInput in;
    bool now;
} during;

static void other_operation(void)
{
    unsigned kind = any_kind(fuzz_u8(&during.in));

    if (bed.gone) {
        return;
    }
    during.now = true;
    op_do(&during.in, kind);
    during.now = false;
    box_met |= kind == PVRDMA_OP_RESET ? BOX_MET_RESET :
               kind == PVRDMA_OP_UNPLUG ? BOX_MET_UNPLUG :
               kind == PVRDMA_OP_DESTROY ? BOX_MET_CLOSE : 0;
}

/*
 * Stores POLL for a CQ of EVIL by a vCPU, as a process does that has found no
 * completion; the vCPU then takes frames.  The rest of @in is the operation that
 * happens during the poll.
 */
static void cpu_poll(FuzzInput *in, uint8_t how)
{
    uint64_t value = PVRDMA_UAR_CQ_POLL | bed.cq[how % BED_CQ_EVIL].handle;
    uint64_t frames_polled = bed.s->counter[PVRDMA_CNT_RX_POLLED];
    unsigned releases = box_releases();
    bool outer = !during.now;

    if (outer) {
        during.in = *in;
        box_meanwhile(RNIC_GET(PVRDMA_BOX_RELEASES, how), other_operation);
    } else {
        box_met |= BOX_MET_POLL;
    }
    if (outer && how & PVRDMA_BOX_EXCLUSIVE) {
        box_vcpu_exclusive();
    } else {
        box_vcpu(true);
    }
    box_access(BOX_BAR(PVRDMA_BAR_UAR) + bed_page(BED_UAR_EVIL) + PVRDMA_UAR_CQ_OFFSET,
               &value, 4, true);
    box_vcpu(false);
    g_assert_cmpuint(box_releases() - releases, <=, RELEASES_MAX);
    if (outer) {
        box_meanwhile(0, NULL);
    }
    if (!bed.gone && bed.s->counter[PVRDMA_CNT_RX_POLLED] > frames_polled) {
        box_met |= BOX_MET_FRAME;
    }
}

/* Asserts that the corpus has caused each event of BOX_MET_ALL. */
void fuzz_reached(void)
{
    g_assert_cmphex(box_met, ==, BOX_MET_ALL);
}

static void op_doorbell(FuzzInput *in)
{
    uint8_t how = fuzz_u8(in), object = fuzz_u8(in);
    unsigned size = 1 << (how & 3);
    uint64_t at, value;

    if (object & PVRDMA_BOX_POLL) {
        cpu_poll(in, object);
        return;
    }
    at = how & 4 ? fuzz_u16(in) % PVRDMA_PAGE_BYTES : (how >> 3 & 3) * 4;
    value = fuzz_u64(in);
    if (how & 0x20) {
        value &= ~(uint64_t)PVRDMA_UAR_HANDLE_MASK;
        value |= object & 0x10 ? bed.cq[object % BED_CQS].handle :
                 object & 0x20 ? bed.srq.handle : bed.qp[object % BED_QPS].handle;
    }
    box_vcpu(how & 0x40);
    box_access(BOX_BAR(PVRDMA_BAR_UAR) + bed_page(BED_UAR_EVIL) + at, &value, size,
               how & 0x80 ? false : true);
    box_vcpu(false);
}

/* --- Node EVIL_NODE ----------------------------------------------------------------- */

/*
 * Returns the number of response packets from the next one of the oldest request to the
 * last one of the newest request.
 */
static unsigned to_newest_end(unsigned qp)
{
    const BedPeer *peer = &bed.peer[qp];
    const BedRequest *old = &peer->request[0];
    const BedRequest *new = &peer->request[MAX(peer->requests, 1) - 1];

    return (new->psn + new->packets - old->psn - old->answered) & ROCE_PSN_MASK;
}

static void op_answer(FuzzInput *in)
{
    unsigned qp = any_qp(fuzz_u8(in));
    uint8_t raw = fuzz_u8(in);
    unsigned count = raw & 0x80 ? to_newest_end(qp) : often(raw);

    count = MIN(count, FRAMES_MAX - frames);
    frames += count;
    bed_evil_answer(qp, count);
}

/*
 * Returns a PSN at or near one of these: that of EVIL_NODE's next request (bit 0 of
 * @how), that of the oldest request of the QP, or without requests that of the QP's
 * last packet.
 */
static uint32_t any_psn(unsigned qp, uint8_t how, int8_t offset)
{
    const BedPeer *peer = &bed.peer[qp];
    uint32_t base = how & 1 ? peer->send_psn : peer->requests ?
                    peer->request[0].psn : peer->last_psn;

    return roce_psn_add(base, how & 2 ? offset : 0);
}

static void packet_fill(FuzzInput *in, RocePacket *pkt, unsigned qp)
{
    uint8_t how = fuzz_u8(in), keys = fuzz_u8(in);
    int8_t offset = fuzz_u8(in);
    uint32_t flags = roce_opcode_info(pkt->opcode)->flags;

    pkt->psn = any_psn(qp, (how & 2) | (flags & ROCE_IS_REQUEST ? 1 : 0), offset);
    pkt->ack_req = how & 4;
    pkt->solicited = how & 8;
    pkt->fecn = how & 0x10;
    pkt->becn = how & 0x20;
    pkt->pkey = how & 0x40 ? fuzz_u16(in) : ROCE_PKEY_DEFAULT;
    pkt->rkey = any_key(keys, fuzz_u32(in));
    pkt->inv_rkey = any_key(keys >> 2, pkt->rkey);
    pkt->va = BED_VA + (keys & 0x10 ? fuzz_u32(in) : 0);
    pkt->dma_len = any_length(keys >> 5, fuzz_u8(in));
    pkt->syndrome = keys & 0x80 ? fuzz_u8(in) : ROCE_AETH_NO_CREDITS;
    pkt->msn = bed.peer[qp].msn;
    pkt->swap_add = pkt->compare = 0x1122334455667788;
    pkt->imm = pkt->rkey;
    pkt->src_qpn = BED_EVIL_QPN;
    if ((flags & ROCE_IS_REQUEST) && !(how & 2)) {
        bed.peer[qp].send_psn = roce_psn_add(pkt->psn, flags & ROCE_IS_READ ?
                                roce_packets(pkt->dma_len, 256) : 1);
    }
}

static void op_frame(FuzzInput *in)
{
    static const uint8_t payload[ROCE_MTU_MAX] = { 0x55 };
    uint8_t raw = fuzz_u8(in);
    unsigned qp = any_qp(raw), count = 1 + fuzz_u8(in) % 8;
    RocePacket pkt = { .opcode = fuzz_u8(in), .qpn = bed.qp[qp].key };
    uint8_t how = fuzz_u8(in);
    uint32_t len = how & 1 ? 256 : often(fuzz_u8(in)), damage_at = 0, damage = 0;
    uint32_t flags;

    if (pkt.opcode != ROCE_OP_CNP) {
        pkt.opcode = pkt.opcode % 32 | (qp == BED_QP_UD ? ROCE_UD << 5 : 0);
    }
    flags = roce_opcode_info(pkt.opcode)->flags;
    if (!roce_opcode_info(pkt.opcode)->name) {
        return;
    }
    if (how & 2) {
        pkt.qpn = how & 4 ? bed.qp[BED_QP_HONEST].key : fuzz_u32(in) & ROCE_QPN_MASK;
    }
    if (how & 8) {
        damage_at = fuzz_u16(in);
        damage = fuzz_u8(in);
    }
    packet_fill(in, &pkt, qp);
    count = MIN(count, FRAMES_MAX - frames);
    frames += count;
    for (unsigned i = 0; i < count; i++) {
        bed_evil_send(&pkt, payload, flags & ROCE_HAS_PAYLOAD ? len : 0, damage_at,
                      damage);
        pkt.psn = roce_psn_add(pkt.psn, how & 0x10 ? 1 : 0);
    }
}

static void op_garbage(FuzzInput *in)
{
    uint8_t frame[128] = { 0 };
    unsigned len = fuzz_u8(in) % sizeof(frame);

    fuzz_bytes(in, frame, sizeof(frame));
    if (len > 14 && frame[13] & 1) {
        memcpy(frame, bed_mac, sizeof(bed_mac));
    }
    box_frame(0, frame, len);
}

/* --- Kernel on behalf of the process ------------------------------------------------ */

static void op_wire(FuzzInput *in)
{
    uint8_t what = fuzz_u8(in);

    switch (what % 3) {
    case 0:
        box_wire_block(0, what & 0x80);
        break;
    case 1:
        box_wire_link(0, what & 0x80);
        break;
    default:
        box_machine_run(what & 0x80);
    }
}

static void op_flip(FuzzInput *in)
{
    uint8_t reads = fuzz_u8(in), value = fuzz_u8(in);
    uint32_t at = fuzz_u32(in);

    if (!bed_is_hostile_kernel()) {
        at = bed_page(BED_PAGE_EVIL) + at % bed_page(BED_PAGE_HONEST - BED_PAGE_EVIL);
        value = BED_EVIL_BYTE(value);
    }
    box_flip(reads, at, value);
}

static void op_create(FuzzInput *in)
{
    uint8_t what = fuzz_u8(in), index = fuzz_u8(in), how = fuzz_u8(in);

    switch (what % 4) {
    case 0:
        if (!bed.cq[index % BED_CQ_EVIL].handle) {
            bed_cq_make(index % BED_CQ_EVIL, 1u << how % 7);
        }
        break;
    case 1:
        if (!bed.mr[index % BED_MR_EVIL].handle) {
            bed_mr_make(index % BED_MR_EVIL, fuzz_u32(in) % (2 * BED_DATA_BYTES), how);
        }
        break;
    case 2:
        if (!bed.srq.handle) {
            bed_srq_make();
        }
        break;
    default:
        if (!bed.qp[index % BED_QP_EVIL].handle) {
            bed_qp_make(index % BED_QP_EVIL, how & 4 ? PVRDMA_QPT_UD : PVRDMA_QPT_RC,
                        how & 1, how & 2);
        }
    }
}

static void op_destroy(FuzzInput *in)
{
    uint8_t what = fuzz_u8(in), index = fuzz_u8(in);

    switch (what % 4) {
    case 0:
        bed_destroy(PVRDMA_CMD_DESTROY_CQ, &bed.cq[index % BED_CQ_EVIL]);
        break;
    case 1:
        bed_destroy(PVRDMA_CMD_DESTROY_MR, &bed.mr[index % BED_MR_EVIL]);
        break;
    case 2:
        bed_destroy(PVRDMA_CMD_DESTROY_SRQ, &bed.srq);
        break;
    default:
        bed_destroy(PVRDMA_CMD_DESTROY_QP, &bed.qp[index % BED_QP_EVIL]);
    }
}

static void op_connect(FuzzInput *in)
{
    unsigned qp = any_qp(fuzz_u8(in)), dest = fuzz_u8(in) % BED_QPS;
    uint8_t how = fuzz_u8(in);
    BedConnection to = { .loop = how & 1, .qpn = BED_EVIL_QPN + qp };

    if (to.loop) {
        to.qpn = bed.qp[dest].key;
    }
    to.mtu = how & 2 ? PVRDMA_MTU_1024 : PVRDMA_MTU_256;
    to.timeout = 1 + fuzz_u8(in) % 18;
    to.retry_cnt = fuzz_u8(in) % 8;
    to.rnr_retry = fuzz_u8(in) % 7;
    to.rd_atomic = how & 4 ? fuzz_u8(in) % (PVRDMA_MAX_RD_ATOMIC + 1) : 1;
    to.min_rnr_timer = fuzz_u8(in) % 32;
    to.psn = how & 8 ? fuzz_u32(in) : 0;
    bed_qp_connect(qp, &to);
}

static void op_modify(FuzzInput *in)
{
    unsigned qp = any_qp(fuzz_u8(in));
    uint8_t state = fuzz_u8(in);
    uint32_t mask = fuzz_u32(in);
    struct pvrdma_qp_attr attr = {
        .qp_state = cpu_to_le32(state % 8), .port_num = 1,
        .ah_attr = { .port_num = 1, .grh.hop_limit = 64 },
    };

    if (state & 0x80) {
        mask = 0;
    }
    attr.qp_access_flags = cpu_to_le32(fuzz_u8(in));
    attr.path_mtu = cpu_to_le32(fuzz_u8(in) % 7);
    attr.dest_qp_num = cpu_to_le32(BED_EVIL_QPN + fuzz_u8(in) % 4);
    attr.rq_psn = attr.sq_psn = cpu_to_le32(fuzz_u32(in));
    attr.timeout = fuzz_u8(in) % 33;
    attr.retry_cnt = fuzz_u8(in) % 9;
    attr.rnr_retry = fuzz_u8(in) % 9;
    attr.max_rd_atomic = attr.max_dest_rd_atomic = fuzz_u8(in) % 130;
    attr.en_sqd_async_notify = fuzz_u8(in);
    memcpy(attr.ah_attr.grh.dgid, state & 0x40 ? bed_gid : bed_evil_gid, 16);
    memcpy(attr.ah_attr.dmac, state & 0x40 ? bed_mac : bed_peer_mac, 6);
    bed_qp_modify(qp, mask | PVRDMA_QP_STATE, &attr);
}

/* --- Hostile kernel --------------------------------------------------------------- */

static void op_mmio(FuzzInput *in)
{
    uint8_t how = fuzz_u8(in);
    uint64_t at = fuzz_u32(in), value = fuzz_u64(in);

    if (how & 0x10) {
        at = at % 12 * 4;           /* offset of a register */
    }
    box_vcpu(how & 0x20);
    box_access(BOX_BAR(how & 8 ? PVRDMA_BAR_UAR : PVRDMA_BAR_REGS) + at % (1u << 21),
               &value, 1 << (how & 3), how & 4);
    box_vcpu(false);
}

static void op_command(FuzzInput *in)
{
    union pvrdma_cmd_req req;
    uint8_t cmd = fuzz_u8(in), at = fuzz_u8(in);
    uint8_t *body = (uint8_t *)&req + sizeof(req.hdr);

    /* all other bytes are those of the previous command */
    memcpy(&req, box_ram + bed_page(BED_PAGE_CMD), sizeof(req));
    at %= sizeof(req) - sizeof(req.hdr) - 24;
    fuzz_bytes(in, body + at, 24);
    bed_command(cmd % (PVRDMA_CMD_MAX + 1), &req, NULL);
}

static void op_kernel(FuzzInput *in, PvrdmaBoxOp op)
{
    switch (op) {
    case PVRDMA_OP_MMIO:
        op_mmio(in);
        break;
    case PVRDMA_OP_COMMAND:
        op_command(in);
        break;
    case PVRDMA_OP_RESET:
        if (fuzz_u8(in) & 1) {
            pvrdma_reset(bed.s);
        } else {
            bed_reg_set(PVRDMA_REG_CTL, PVRDMA_DEVICE_CTL_RESET);
        }
        break;
    case PVRDMA_OP_REMAP:
        box_remap(fuzz_u32(in) % (2 * BOX_RAM_BYTES));
        break;
    case PVRDMA_OP_UNPLUG:
        bed_unplug();
        break;
    default:
        bed.irq = fuzz_u8(in);
        bed.irq_reg = fuzz_u32(in);
        bed.irq_value = fuzz_u32(in);
    }
}

/* --- Programs ----------------------------------------------------------------------- */

typedef void Op(FuzzInput *in);

/*
 * Advances the clock, mostly by a step that is about as long as a time limit of the
 * device.
 */
static void op_clock(FuzzInput *in)
{
    static const int64_t steps[] = {
        SCALE_US, SCALE_MS, 70 * SCALE_MS, 70 * SCALE_MS, 140 * SCALE_MS,
        140 * SCALE_MS, 600 * SCALE_MS, 11 * NANOSECONDS_PER_SECOND,
    };
    uint8_t raw = fuzz_u8(in);

    bed_step(raw >= 0xc0 ? 1LL << raw % 34 : steps[raw % ARRAY_SIZE(steps)]);
}

static void op_forget(FuzzInput *in)
{
    unsigned qp = any_qp(fuzz_u8(in));

    bed_evil_forget(qp, often(fuzz_u8(in)));
}

static Op *const ops[PVRDMA_OP_PROCESS_OPS] = {
    [PVRDMA_OP_POST] = op_post,
    [PVRDMA_OP_ANSWER] = op_answer,
    [PVRDMA_OP_CLOCK] = op_clock,
    [PVRDMA_OP_FORGET] = op_forget,
    [PVRDMA_OP_POST_RECV] = op_post_recv,
    [PVRDMA_OP_POLL] = op_poll,
    [PVRDMA_OP_FRAME] = op_frame,
    [PVRDMA_OP_GARBAGE] = op_garbage,
    [PVRDMA_OP_QUEUE] = op_queue,
    [PVRDMA_OP_DOORBELL] = op_doorbell,
    [PVRDMA_OP_WIRE] = op_wire,
    [PVRDMA_OP_FLIP] = op_flip,
    [PVRDMA_OP_CREATE] = op_create,
    [PVRDMA_OP_DESTROY] = op_destroy,
    [PVRDMA_OP_CONNECT] = op_connect,
    [PVRDMA_OP_MODIFY] = op_modify,
};

/*
 * Operations that the first byte of a record selects.  A frequent operation has several
 * entries.
 */
static const uint8_t kinds[] = {
    PVRDMA_OP_POST, PVRDMA_OP_POST, PVRDMA_OP_POST, PVRDMA_OP_POST,
    PVRDMA_OP_POST, PVRDMA_OP_POST, PVRDMA_OP_POST, PVRDMA_OP_POST,
    PVRDMA_OP_ANSWER, PVRDMA_OP_ANSWER, PVRDMA_OP_ANSWER, PVRDMA_OP_ANSWER,
    PVRDMA_OP_ANSWER, PVRDMA_OP_ANSWER, PVRDMA_OP_ANSWER, PVRDMA_OP_ANSWER,
    PVRDMA_OP_CLOCK, PVRDMA_OP_CLOCK, PVRDMA_OP_CLOCK, PVRDMA_OP_CLOCK,
    PVRDMA_OP_CLOCK, PVRDMA_OP_CLOCK, PVRDMA_OP_CLOCK, PVRDMA_OP_FORGET,
    PVRDMA_OP_POST_RECV, PVRDMA_OP_POLL, PVRDMA_OP_FRAME, PVRDMA_OP_FRAME,
    PVRDMA_OP_GARBAGE, PVRDMA_OP_QUEUE, PVRDMA_OP_DOORBELL, PVRDMA_OP_WIRE,
    PVRDMA_OP_FLIP, PVRDMA_OP_CREATE, PVRDMA_OP_DESTROY, PVRDMA_OP_CONNECT,
    PVRDMA_OP_MODIFY,
    PVRDMA_OP_MMIO, PVRDMA_OP_COMMAND, PVRDMA_OP_COMMAND, PVRDMA_OP_RESET,
    PVRDMA_OP_REMAP, PVRDMA_OP_IRQ, PVRDMA_OP_UNPLUG,
};
#define PROCESS_KINDS 37

/* Returns the operation that the first byte of a record selects. */
static unsigned any_kind(uint8_t raw)
{
    return kinds[raw % (bed_is_hostile_kernel() ? ARRAY_SIZE(kinds) : PROCESS_KINDS)];
}

static void op_do(FuzzInput *in, unsigned kind)
{
    if (kind < PVRDMA_OP_PROCESS_OPS) {
        ops[kind](in);
    } else {
        op_kernel(in, kind);
    }
}

/*
 * States of requesters that programs have reached.  libFuzzer keeps an input that
 * reaches a new state, although the input runs no new line of code.
 */
#define STATES (BED_QP_EVIL * 1024)
__attribute__((section("__libfuzzer_extra_counters"), used))
static uint8_t states[STATES];

static void state_note(unsigned i, const PvrdmaQp *qp)
{
    const PvrdmaReq *req = &qp->req;
    unsigned state = (req->una_psn == req->psn) | (req->psn == req->next_psn) << 1 |
                     !req->deadline << 2 | req->retrying << 3 | req->waiting << 4 |
                     !req->rnr_until << 5 | (qp->state & 3) << 6 |
                     MIN(req->count, 3) << 8;

    if (i < BED_QP_EVIL) {
        states[i * 1024 + state] = 1;
    }
}

/*
 * Notes the state of each QP, and asserts that no QP hangs.  A QP may seem to hang
 * during an operation, but not after it.
 */
static void qps_alive(void)
{
    for (unsigned i = 0; i < BED_QPS && !bed.gone; i++) {
        PvrdmaQp *qp = bed_qp_state(i);
        const char *why = qp ? pvrdma_qp_stuck(qp) : NULL;

        if (qp) {
            state_note(i, qp);
        }
        if (why) {
            g_error("QP %u hangs: %s", i, why);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    bed_start(fuzz_u8(&in));
    frames = 0;
    for (unsigned i = 0; in.left && !bed.gone && i < OPS_MAX; i++) {
        uint8_t record[BED_OP_BYTES];
        FuzzInput op = { record + 1, sizeof(record) - 1 };

        fuzz_bytes(&in, record, sizeof(record));
        op_do(&op, any_kind(record[0]));
        bed_settle();
        qps_alive();
    }
    bed_check();
    bed_end();
    return 0;
}
