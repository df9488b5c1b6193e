/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saved states of pvrdma.  A state that is loaded and saved again is the same, at any
 * point of the work of its QPs.  A changed state is refused, or gives a device that works
 * and that can be reset.  The test has all of the device except registers and wire.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "io/channel-buffer.h"
#include "migration/vmstate.h"
#include "migration/qemu-file.h"
#include "system/cpu-timers.h"
#include "hw/rnic/pvrdma/base/caps.h"
#include "hw/rnic/pvrdma/transport/comp.h"
#include "hw/rnic/pvrdma/objects/cq.h"
#include "hw/rnic/pvrdma/base/event.h"
#include "hw/rnic/pvrdma/wire/gid.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/migration.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/wire/port.h"
#include "hw/rnic/pvrdma/pvrdma.h"
#include "hw/rnic/pvrdma/objects/qp-attr.h"
#include "hw/rnic/pvrdma/objects/qp.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"
#include "hw/rnic/pvrdma/transport/req.h"
#include "hw/rnic/pvrdma/transport/resp.h"
#include "hw/rnic/pvrdma/wire/roce.h"
#include "hw/rnic/pvrdma/objects/srq.h"
#include "hw/rnic/pvrdma/transport/stuck.h"
#include "hw/rnic/pvrdma/base/table.h"
#include "hw/rnic/pvrdma/transport/transport.h"
#include "hw/rnic/pvrdma/objects/wq.h"

#define RAM_BYTES   (4u << 20)
#define MTU         1024
#define PEER_QPN    0x777777
#define VA          0x40000100ULL
#define ROUNDS      60
#define CHANGES     150                 /* changed copies of each stream */

static struct {
    PvrdmaState s;
    uint8_t *ram;
    uint64_t ram_next;
    uint8_t frame[ROCE_FRAME_MAX];
    uint32_t key;
    uint64_t qp_at[8], srq_at;          /* first pages of the queues */
    int64_t now;
} bed;

/* --- The rest of the device ----------------------------------------------- */
int64_t cpus_get_virtual_clock(void)
{
    return bed.now;
}

void cpus_set_virtual_clock(int64_t new_time)
{
    bed.now = new_time;
}

MemTxResult address_space_read_full(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                    void *buf, hwaddr len)
{
    bool good = addr <= RAM_BYTES && len <= RAM_BYTES - addr;

    if (good) {
        memcpy(buf, bed.ram + addr, len);
    }
    return good ? MEMTX_OK : MEMTX_DECODE_ERROR;
}

MemTxResult address_space_write(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                const void *buf, hwaddr len)
{
    bool good = addr <= RAM_BYTES && len <= RAM_BYTES - addr;

    if (good) {
        memcpy(bed.ram + addr, buf, len);
    }
    return good ? MEMTX_OK : MEMTX_DECODE_ERROR;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    pvrdma_count(s, PVRDMA_CNT_GUEST_ERROR);
}

void rnic_loop_schedule_bh(RNicLoop *l)
{
}

void pvrdma_qp_activate(PvrdmaQp *qp)
{
    if (!qp->active) {
        qp->active = true;
        QTAILQ_INSERT_TAIL(&qp->s->active_qps, qp, active_next);
    }
}

void pvrdma_qp_activate_delayed(PvrdmaQp *qp)
{
    pvrdma_qp_activate(qp);
}

bool runstate_is_running(void)
{
    return true;
}

void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6])
{
    memset(mac, 2, 6);
}

bool pvrdma_port_up(PvrdmaState *s)
{
    return true;
}

/* Builds each frame, and drops it. */
uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt)
{
    s->port.payload_at = roce_frame_begin(bed.frame, path, pkt);
    return bed.frame + s->port.payload_at;
}

void pvrdma_tx_end(PvrdmaState *s, size_t payload_len)
{
    g_assert_cmpuint(roce_frame_end(bed.frame, s->port.payload_at, payload_len),
                     <=, ROCE_FRAME_MAX);
}

static bool host_messages(void *opaque)
{
    return true;
}

static void host_irq(void *opaque, unsigned vector)
{
    g_assert_cmpuint(vector, <, PVRDMA_INTR_VECTORS);
}

void pvrdma_reset(PvrdmaState *s)
{
    pvrdma_qp_reset_all(s);
    pvrdma_cq_reset_all(s);
    pvrdma_srq_reset_all(s);
    pvrdma_mr_reset_all(s);
    pvrdma_ring_fini(s, &s->async);
    pvrdma_ring_fini(s, &s->cqne);
    memset(s->gid, 0, sizeof(s->gid));
    s->active = s->dsr_valid = false;
    s->icr = 0;
    g_assert_cmpuint(s->pages_used, ==, 0);
    g_assert_cmpuint(s->uc.used + s->pd.used + s->mr.used + s->cq.used +
                     s->srq.used + s->qp.used, ==, 0);
    g_assert_true(QTAILQ_EMPTY(&s->active_qps));
    g_assert_null(s->gsi);
}

/* --- Guest ---------------------------------------------------------------- */
/*
 * Allocates @count contiguous pages; returns their directory, and the first page in *@at.
 */
static uint64_t pdir(unsigned count, uint64_t *at)
{
    uint64_t dir = bed.ram_next, table = dir + PVRDMA_PAGE_BYTES;

    *at = table + PVRDMA_PAGE_BYTES;
    bed.ram_next = *at + count * PVRDMA_PAGE_BYTES;
    g_assert_cmphex(bed.ram_next, <=, RAM_BYTES);
    stq_le_p(bed.ram + dir, table);
    for (unsigned i = 0; i < count; i++) {
        stq_le_p(bed.ram + table + 8 * i, *at + i * PVRDMA_PAGE_BYTES);
    }
    return dir;
}

static union pvrdma_cmd_resp cmd(PvrdmaCmd *fn, const union pvrdma_cmd_req *req)
{
    union pvrdma_cmd_resp resp = { 0 };

    g_assert_cmpint(fn(&bed.s, req, &resp), ==, 0);
    return resp;
}

static uint32_t mr_make(uint32_t pd, uint32_t flags, uint32_t access)
{
    uint64_t at, dir = pdir(32, &at);

    return cmd(pvrdma_cmd_create_mr, &(union pvrdma_cmd_req) {
        .create_mr = {
            .start = VA, .length = 100 * 1000, .pdir_dma = dir, .pd_handle = pd,
            .access_flags = access, .flags = flags, .nchunks = 32,
        },
    }).create_mr.rkey;
}

static void qp_make(unsigned i, enum pvrdma_qp_type type, uint32_t pd, uint32_t cq,
                    uint32_t srq)
{
    union pvrdma_cmd_req req = {
        .create_qp = {
            .pdir_dma = pdir(9, &bed.qp_at[i]), .pd_handle = pd,
            .send_cq_handle = cq, .recv_cq_handle = cq, .srq_handle = srq,
            .is_srq = srq != 0, .max_send_wr = 64, .max_send_sge = 3,
            .max_recv_wr = srq ? 0 : 16, .max_recv_sge = srq ? 0 : 2,
            .total_chunks = 9, .send_chunks = 4, .qp_type = type,
        },
    };

    cmd(pvrdma_cmd_create_qp, &req);
}

/* Brings a QP to RTS without modify_qp, whose rules have their own test. */
static void qp_start(uint32_t handle, uint32_t psn)
{
    static const uint8_t dgid[16] = { 0xfe, 0x80, [15] = 2 };
    PvrdmaQp *qp = pvrdma_table_get(&bed.s.qp, handle);
    PvrdmaAv av = { .port = 1 };

    memcpy(av.dgid, dgid, sizeof(dgid));
    qp->attr = (PvrdmaQpAttr) {
        .path_mtu = PVRDMA_MTU_1024, .rq_psn = psn, .sq_psn = psn ^ 0x800000,
        .dest_qpn = PEER_QPN, .access = UINT32_MAX, .max_rd_atomic = 4,
        .max_dest_rd_atomic = 4, .port_num = 1, .timeout = 14, .retry_cnt = 7,
        .rnr_retry = 6, .ah.port_num = 1,
    };
    qp->mtu = qp->type == PVRDMA_QPT_RC ? MTU : bed.s.mtu;
    qp->state = PVRDMA_QPS_RTS;
    if (qp->type == PVRDMA_QPT_RC) {
        g_assert_true(pvrdma_qp_path(qp, &av, PEER_QPN, &qp->path));
        pvrdma_resp_init(qp);
    }
    pvrdma_req_init(qp);
}

static void objects_make(void)
{
    const uint32_t all = RNIC_FIELD(3, 0);
    uint32_t uc = cmd(pvrdma_cmd_create_uc, &(union pvrdma_cmd_req) {
        .create_uc.pfn64 = 5 }).create_uc.ctx_handle;
    uint32_t pd = cmd(pvrdma_cmd_create_pd, &(union pvrdma_cmd_req) {
        .create_pd.ctx_handle = uc }).create_pd.pd_handle;
    uint64_t at;
    uint32_t cq = cmd(pvrdma_cmd_create_cq, &(union pvrdma_cmd_req) {
        .create_cq = { .pdir_dma = pdir(17, &at), .ctx_handle = uc, .cqe = 1024,
                       .nchunks = 17 } }).create_cq.cq_handle;
    uint32_t srq = cmd(pvrdma_cmd_create_srq, &(union pvrdma_cmd_req) {
        .create_srq = { .pdir_dma = pdir(2, &bed.srq_at), .pd_handle = pd,
                        .attrs.max_wr = 16, .attrs.max_sge = 2,
                        .nchunks = 2 } }).create_srq.srqn;

    bed.key = mr_make(pd, 0, all);
    mr_make(pd, PVRDMA_MR_FLAG_DMA, 0);
    mr_make(pd, PVRDMA_MR_FLAG_FRMR, all);
    qp_make(1, PVRDMA_QPT_RC, pd, cq, 0);
    qp_make(2, PVRDMA_QPT_RC, pd, cq, srq);
    qp_make(3, PVRDMA_QPT_UD, pd, cq, 0);
    qp_make(4, PVRDMA_QPT_RC, pd, cq, 0);       /* stays in RESET */
    for (unsigned i = 1; i <= 3; i++) {
        qp_start(i, g_test_rand_int() & ROCE_PSN_MASK);
    }
}

static void bed_start(void)
{
    PvrdmaState *s = &bed.s;
    uint64_t at;

    memset(bed.ram, 0, RAM_BYTES);
    bed.ram_next = 0;
    bed.now = 1000000;
    memset(s->gid, 0, sizeof(s->gid));
    s->gid[0] = (PvrdmaGid) { .valid = true, .raw = { 0xfe, 0x80, [15] = 1 },
                              .vlan = ROCE_NO_VLAN };
    s->dsr_valid = s->active = s->qp_handles = true;
    s->qp.next = 1;
    s->uar_pfn = 0;
    s->imr = 0;
    g_assert_cmpint(pvrdma_ring_init(s, &s->async, pdir(4, &at), 4, 8), ==, 0);
    g_assert_cmpint(pvrdma_ring_init(s, &s->cqne, pdir(4, &at), 4, 4), ==, 0);
    objects_make();
}

/* --- Random events -------------------------------------------------------- */
/*
 * Stores a WQE of @hdr and one element, if the ring at @ring has room.  The slots of
 * @bytes bytes begin at @at.
 */
static void post(uint64_t ring, uint64_t at, uint32_t entries, uint32_t bytes,
                 const void *hdr, size_t hdr_bytes)
{
    uint32_t tail = ldl_le_p(bed.ram + ring);
    uint32_t head = ldl_le_p(bed.ram + ring + 4);
    struct pvrdma_sge sge = { .addr = VA + 64, .length = 9000, .lkey = bed.key };
    uint8_t *slot = bed.ram + at + (tail & (entries - 1)) * bytes;

    if ((tail ^ entries) != head) {
        memcpy(slot, hdr, hdr_bytes);
        memcpy(slot + hdr_bytes, &sge, sizeof(sge));
        stl_le_p(bed.ram + ring, (tail + 1) & (2 * entries - 1));
    }
}

static void post_send(unsigned i)
{
    struct pvrdma_sq_wqe_hdr hdr = {
        .wr_id = g_test_rand_int(), .num_sge = 1,
        .opcode = g_test_rand_int_range(0, PVRDMA_WR_FAST_REG_MR + 1),
        .send_flags = PVRDMA_SEND_SIGNALED,
    };

    hdr.wr.rdma.remote_addr = VA;
    hdr.wr.rdma.rkey = 99;
    post(bed.qp_at[i], bed.qp_at[i] + PVRDMA_PAGE_BYTES, 64, 128, &hdr,
         sizeof(hdr));
}

static void post_receive(unsigned i)
{
    struct pvrdma_rq_wqe_hdr hdr = { .wr_id = g_test_rand_int(), .num_sge = 1 };

    if (i == 2) {
        post(bed.srq_at + 8, bed.srq_at + PVRDMA_PAGE_BYTES, 16, 64, &hdr,
             sizeof(hdr));
    } else {
        post(bed.qp_at[i] + 8, bed.qp_at[i] + 5 * PVRDMA_PAGE_BYTES, 16, 64, &hdr,
             sizeof(hdr));
    }
}

/* Receives a request of the peer; most requests have the expected PSN and opcode. */
static void request(PvrdmaQp *qp)
{
    static const uint8_t opcodes[] = {
        ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE, ROCE_OP_SEND_LAST,
        ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_MIDDLE, ROCE_OP_READ_REQUEST,
        ROCE_OP_READ_REQUEST, ROCE_OP_FETCH_ADD, ROCE_OP_COMPARE_SWAP,
    };
    static const uint8_t payload[MTU];
    bool begun = qp->resp.message, sending = qp->resp.message & ROCE_IS_SEND;
    RocePacket pkt = {
        .opcode = !begun ? opcodes[g_test_rand_int_range(0, ARRAY_SIZE(opcodes))] :
                  sending ? ROCE_OP_SEND_MIDDLE : ROCE_OP_WRITE_MIDDLE,
        .psn = roce_psn_add(qp->resp.epsn, g_test_rand_int_range(-3, 2)),
        .va = VA + 8 * g_test_rand_int_range(0, 100), .rkey = bed.key,
        .dma_len = g_test_rand_int_range(2 * MTU, 9 * MTU), .payload = payload,
        .ack_req = g_test_rand_bit(),
    };

    if (roce_opcode_info(pkt.opcode)->flags & ROCE_HAS_PAYLOAD) {
        pkt.payload_len = MTU;
    }
    pvrdma_resp_rx(qp, &pkt);
}

static void answer(PvrdmaQp *qp)
{
    static const uint8_t syndromes[] = { 0x1f, 0x1f, 0x1f, 0x60, 0x2c };
    uint32_t sent = pvrdma_req_distance(qp->req.una_psn, qp->req.next_psn);

    pvrdma_comp_rx(qp, &(RocePacket) {
        .opcode = ROCE_OP_ACK,
        .psn = roce_psn_add(qp->req.una_psn, g_test_rand_int_range(0, sent + 1)),
        .syndrome = syndromes[g_test_rand_int_range(0, ARRAY_SIZE(syndromes))],
    });
}

static void run(PvrdmaQp *qp)
{
    unsigned budget = g_test_rand_int_range(1, 20);

    if (qp->active) {
        qp->active = false;
        QTAILQ_REMOVE(&qp->s->active_qps, qp, active_next);
    }
    if (pvrdma_resp_run(qp, &budget) | pvrdma_req_run(qp, &budget)) {
        pvrdma_qp_activate(qp);
    }
}

/* Runs a random event of a random QP.  Asserts that the QP does not hang. */
static void happen(void)
{
    unsigned i = g_test_rand_int_range(1, 4);
    PvrdmaQp *qp = pvrdma_table_get(&bed.s.qp, i);
    bool talks = qp && qp->type == PVRDMA_QPT_RC &&
                 qp->state >= PVRDMA_QPS_RTR && qp->state < PVRDMA_QPS_ERR;

    switch (g_test_rand_int_range(0, 8)) {
    case 0:
        post_send(i);
        break;
    case 1:
        post_receive(i);
        break;
    case 2:
    case 3:
        if (talks) {
            request(qp);
        }
        break;
    case 4:
        if (talks && pvrdma_req_running(qp)) {
            answer(qp);
        }
        break;
    case 5:
        bed.now += 1000000;
        qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
        break;
    default:
        if (qp) {
            run(qp);
        }
        break;
    }
    if (qp) {
        g_assert_cmpstr(pvrdma_qp_stuck(qp), ==, NULL);
    }
}

/* --- Streams -------------------------------------------------------------- */
static GByteArray *save(void)
{
    QIOChannelBuffer *ioc = qio_channel_buffer_new(1 << 20);
    QEMUFile *f = qemu_file_new_output(QIO_CHANNEL(ioc));
    GByteArray *bytes = g_byte_array_new();

    g_assert_cmpint(rnic_vmstate_save(f, &pvrdma_vmstate, &bed.s), ==, 0);
    g_assert_cmpint(qemu_fflush(f), ==, 0);
    g_byte_array_append(bytes, ioc->data, ioc->usage);
    qemu_fclose(f);
    object_unref(OBJECT(ioc));
    return bytes;
}

/* Loads @bytes into an empty device; returns false if the device refuses them. */
static bool load(const GByteArray *bytes)
{
    QIOChannelBuffer *ioc = qio_channel_buffer_new(bytes->len + 1);
    QEMUFile *f;
    int ret;

    memcpy(ioc->data, bytes->data, bytes->len);
    ioc->usage = bytes->len;
    f = qemu_file_new_input(QIO_CHANNEL(ioc));
    pvrdma_reset(&bed.s);
    ret = rnic_vmstate_load(f, &pvrdma_vmstate, &bed.s);
    qemu_fclose(f);
    object_unref(OBJECT(ioc));
    return ret == 0;
}

static void assert_same(const GByteArray *a, const GByteArray *b)
{
    for (unsigned i = 0; i < MIN(a->len, b->len); i++) {
        if (a->data[i] != b->data[i]) {
            g_error("byte %u of %u is 0x%02x, and was 0x%02x", i, a->len,
                    b->data[i], a->data[i]);
        }
    }
    g_assert_cmpuint(a->len, ==, b->len);
}

static void stream_change(GByteArray *bytes)
{
    static const uint32_t odd[] = { 0, 1, 0x7fffffff, 0x80000000, UINT32_MAX,
                                    0xffffff, 0x10000, 4096, 64, 7 };
    unsigned at = g_test_rand_int_range(0, bytes->len - 4);

    switch (g_test_rand_int_range(0, 12)) {
    case 0:
        g_byte_array_set_size(bytes, at + 1);
        break;
    case 1 ... 5:
        bytes->data[at] ^= 1 << g_test_rand_int_range(0, 8);
        break;
    case 6 ... 8:
        bytes->data[at] = g_test_rand_int();
        break;
    default:
        stl_be_p(bytes->data + at,
                 odd[g_test_rand_int_range(0, ARRAY_SIZE(odd))]);
        break;
    }
}

/* --- Tests ---------------------------------------------------------------- */
static void test_same(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        bed_start();
        for (unsigned i = 0; i < 40; i++) {
            g_autoptr(GByteArray) before = NULL, again = NULL;

            for (int n = g_test_rand_int_range(1, 12); n > 0; n--) {
                happen();
            }
            before = save();
            again = save();
            assert_same(before, again);
            g_assert_true(load(before));
            g_byte_array_unref(again);
            again = save();
            assert_same(before, again);
        }
        pvrdma_reset(&bed.s);
    }
}

/*
 * The event LAST_WQE_REACHED comes once, also if the machine migrates before it or after
 * it.
 */
static void test_last_event(void)
{
    for (int reported = 0; reported < 2; reported++) {
        g_autoptr(GByteArray) bytes = NULL;
        PvrdmaQp *qp;

        bed_start();
        qp = pvrdma_table_get(&bed.s.qp, 2);
        g_assert_nonnull(qp->srq);
        pvrdma_qp_error(qp, -1);
        g_assert_cmpuint(bed.s.async.prod, ==, 1);
        /* a flush of WQEs posted after the event, or of the WQEs before it */
        qp->last_due = !reported;
        pvrdma_qp_flush_schedule(qp);
        bytes = save();
        g_assert_true(load(bytes));
        for (bool more = true; more; ) {
            more = pvrdma_qp_flush_run(&bed.s);
        }
        g_assert_cmpuint(bed.s.async.prod, ==, reported ? 1 : 2);
        pvrdma_reset(&bed.s);
    }
}

/*
 * Events that found the ring full come later, also after a migration.  A limit applies.
 */
static void test_delayed_events(void)
{
    const unsigned kept = PVRDMA_RING_PENDING_BYTES / sizeof(struct pvrdma_eqe);
    g_autoptr(GByteArray) bytes = NULL;
    unsigned room, taken = 0;
    uint64_t ring;

    bed_start();
    room = bed.s.async.elements;
    ring = bed.s.async.pages.addr[0] + offsetof(struct pvrdma_ring_state, rx);
    for (unsigned i = 0; i < room + kept + 3; i++) {
        pvrdma_event(&bed.s, PVRDMA_EVENT_COMM_EST, i);
    }
    g_assert_cmpuint(bed.s.counter[PVRDMA_CNT_EVENT_OVERFLOW], ==, 3);
    bytes = save();
    g_assert_true(load(bytes));
    while (taken < room + kept) {
        uint32_t tail = ldl_le_p(bed.ram + ring);

        g_assert_cmpuint(tail, !=, taken % (2 * room));
        for (; taken % (2 * room) != tail; taken++) {
            uint64_t at = (taken % room) * sizeof(struct pvrdma_eqe);

            g_assert_cmpuint(ldl_le_p(bed.ram + bed.s.async.pages.addr[1] + at + 4),
                             ==, taken);
        }
        stl_le_p(bed.ram + ring + 4, tail);
        bed.now += SCALE_MS;
        qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
    }
    g_assert_false(timer_pending(bed.s.ring_timer));
    bed.s.counter[PVRDMA_CNT_EVENT_OVERFLOW] = 0;
    pvrdma_reset(&bed.s);
}

/* Hides the error messages of refused streams; returns the old stderr. */
static int errors_hide(void)
{
    int old = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

    g_assert_cmpint(dup2(null, STDERR_FILENO), ==, STDERR_FILENO);
    close(null);
    return old;
}

static void errors_show(int old)
{
    g_assert_cmpint(dup2(old, STDERR_FILENO), ==, STDERR_FILENO);
    close(old);
}

/*
 * A responder that refuses a request ends the connection at once, so a stream with a
 * refusal in a QP that is alive is damaged.  In a QP that has ended, the NAK is due.
 */
static void test_refusal(void)
{
    for (int ended = 0; ended < 2; ended++) {
        g_autoptr(GByteArray) bytes = NULL;
        PvrdmaQp *qp;
        int old;

        bed_start();
        qp = pvrdma_table_get(&bed.s.qp, 1);
        if (ended) {
            pvrdma_qp_error(qp, -1);
        }
        qp->resp.answer = PVRDMA_ANSWER_REFUSE;
        bytes = save();
        old = errors_hide();
        g_assert_cmpint(load(bytes), ==, ended);
        errors_show(old);
        if (ended) {
            qp = pvrdma_table_get(&bed.s.qp, 1);
            g_assert_true(qp->active);
            g_assert_cmpint(qp->resp.answer, ==, PVRDMA_ANSWER_REFUSE);
        }
        pvrdma_reset(&bed.s);
    }
}

static void test_changed(void)
{
    unsigned good = 0, refused = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        g_autoptr(GByteArray) bytes = NULL;
        int old = errors_hide();

        bed_start();
        for (unsigned i = 0; i < 100; i++) {
            happen();
        }
        bytes = save();
        for (unsigned i = 0; i < CHANGES; i++) {
            g_autoptr(GByteArray) changed = g_byte_array_new();

            g_byte_array_append(changed, bytes->data, bytes->len);
            for (int n = g_test_rand_int_range(1, 4); n > 0 && changed->len > 8;
                 n--) {
                stream_change(changed);
            }
            if (!load(changed)) {
                refused++;
                continue;
            }
            good++;
            for (unsigned k = 0; k < 60; k++) {
                happen();
            }
            pvrdma_irq_flush(&bed.s);
        }
        pvrdma_reset(&bed.s);
        errors_show(old);
    }
    g_assert_cmpuint(good, >, 0);
    g_assert_cmpuint(refused, >, 0);
    g_test_message("%u loaded, %u refused", good, refused);
}

int main(int argc, char **argv)
{
    PvrdmaState *s = &bed.s;
    int ret;

    g_test_init(&argc, &argv, NULL);
    module_call_init(MODULE_INIT_QOM);
    rnic_init_clocks();
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, true);
    bed.ram = g_malloc(RAM_BYTES);
    s->mtu = 4096;
    s->version = PVRDMA_VERSION;
    s->imr = 0;
    s->host.messages = host_messages;
    s->host.irq = host_irq;
    s->transport = &pvrdma_transport;
    QTAILQ_INIT(&s->active_qps);
    QTAILQ_INIT(&s->flush_qps);
    s->ring_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, pvrdma_rings_retry, s);
    pvrdma_table_init(&s->uc, PVRDMA_UARS);
    pvrdma_table_init(&s->pd, PVRDMA_PDS);
    pvrdma_table_init(&s->mr, PVRDMA_MRS);
    pvrdma_table_init(&s->cq, PVRDMA_CQS);
    pvrdma_table_init(&s->srq, PVRDMA_SRQS);
    pvrdma_table_init(&s->qp, PVRDMA_QPS);
    g_test_add_func("/pvrdma/migration/same", test_same);
    g_test_add_func("/pvrdma/migration/last-event", test_last_event);
    g_test_add_func("/pvrdma/migration/delayed-events", test_delayed_events);
    g_test_add_func("/pvrdma/migration/refusal", test_refusal);
    g_test_add_func("/pvrdma/migration/changed", test_changed);
    ret = g_test_run();
    timer_free(s->ring_timer);
    pvrdma_table_free(&s->qp);
    pvrdma_table_free(&s->srq);
    pvrdma_table_free(&s->cq);
    pvrdma_table_free(&s->mr);
    pvrdma_table_free(&s->pd);
    pvrdma_table_free(&s->uc);
    g_free(bed.ram);
    return ret;
}
