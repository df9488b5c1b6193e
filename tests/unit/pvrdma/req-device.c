/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stubs of the device's other files, for the requester alone. */
#include "qemu/osdep.h"
#include "system/cpu-timers.h"
#include "req-device.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/transport/comp.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"
#include "hw/rnic/pvrdma/transport/resp-internal.h"
#include "hw/rnic/pvrdma/transport/stuck.h"
#include "hw/rnic/pvrdma/transport/ud.h"

Rig rig;

static RigPacket building;

/* Asserts that the QP does not hang.  Called after each action of a test. */
static void rig_check(void)
{
    g_assert_cmpstr(pvrdma_qp_stuck(&rig.qp), ==, NULL);
}

/* --- Clock ------------------------------------------------------------------- */

int64_t cpus_get_virtual_clock(void)
{
    return rig.now;
}

void cpus_set_virtual_clock(int64_t new_time)
{
    rig.now = new_time;
}

void pvrdma_qp_timer(PvrdmaQp *qp, int64_t deadline)
{
    rig.timer = deadline;
    rig.timers += deadline != 0;
}

void rig_clock(int64_t ns)
{
    int64_t end = rig.now + ns;

    while (rig.timer && rig.timer <= end) {
        rig.now = MAX(rig.now, rig.timer);
        rig.timer = 0;
        pvrdma_req_timer(&rig.qp);
        /* A timer that is set to the present would fire without end. */
        g_assert_true(!rig.timer || rig.timer > rig.now);
        rig_check();
    }
    rig.now = end;
}

/* --- Queue ------------------------------------------------------------------- */

RigWqe *rig_post(unsigned opcode, uint32_t length)
{
    RigWqe *w = &rig.wqe[rig.posted++];

    g_assert_cmpuint(rig.posted, <=, RIG_WQES);
    *w = (RigWqe) {
        .opcode = opcode,
        .flags = PVRDMA_SEND_SIGNALED,
        .length = length,
        .remote = RIG_VA,
        .bad_from = UINT32_MAX,
    };
    rig.qp.active = true;
    return w;
}

int pvrdma_wq_refresh(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return rig.pending_bad ? -1 : rig.posted - wq->fetch;
}

int pvrdma_wq_pending(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq)
{
    return pvrdma_wq_refresh(s, pages, wq);
}

bool pvrdma_sq_fetch(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                     PvrdmaSqe *sqe)
{
    const RigWqe *w = &rig.wqe[wq->fetch];

    g_assert_cmpuint(wq->fetch, <, rig.posted);
    *sqe = (PvrdmaSqe) {
        .wr_id = wq->fetch++,
        .opcode = w->opcode,
        .flags = w->flags,
        .imm = RIG_IMM,
        .inv_rkey = RIG_INV,
        .remote_addr = w->remote,
        .rkey = RIG_RKEY,
        .compare_add = w->compare_add,
        .swap = w->swap,
        .length = w->length,
        .sges = 1,
        .sge = sqe->sge,
    };
    sqe->sge[0] = (PvrdmaSge) { w->at, w->length, w->bad_from };
    return !w->unreadable;
}

void pvrdma_wq_consume(PvrdmaState *s, const PvrdmaPages *pages, PvrdmaWq *wq,
                       unsigned count)
{
    g_assert_cmpuint(count, >, 0);
    rig.consumed += count;
    rig.consumes++;
    wq->cons += count;
    g_assert_cmpuint(wq->cons, <=, wq->fetch);
}

void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc)
{
    g_assert_true(cq == &rig.cq);
    g_assert_cmpuint(wc->qp, ==, rig.qp.handle);
    g_queue_push_tail(&rig.completions, g_memdup2(wc, sizeof(*wc)));
    rig.wcs++;
}

void rig_done(uint64_t wr_id, unsigned status)
{
    g_autofree PvrdmaWc *wc = g_queue_pop_head(&rig.completions);
    const RigWqe *w = &rig.wqe[wr_id];

    g_assert_nonnull(wc);
    rig.wcs--;
    g_assert_cmpuint(wc->wr_id, ==, wr_id);
    g_assert_cmpuint(wc->status, ==, status);
    if (status == PVRDMA_WC_SUCCESS) {
        g_assert_true(w->flags & PVRDMA_SEND_SIGNALED);
        g_assert_cmpuint(wc->opcode, ==, pvrdma_req_op(w->opcode)->completion);
        g_assert_cmpuint(wc->byte_len, ==, w->length);
    }
    /*
     * The slot is free before the guest sees the completion, because the guest may post
     * again.
     */
    g_assert_cmpuint(rig.consumed, >, wr_id);
}

/* --- Memory ------------------------------------------------------------------ */

static bool rig_memory_bad(const PvrdmaSge *sge, uint32_t offset, uint32_t len)
{
    g_assert_cmpuint(offset, <=, sge->length);
    g_assert_cmpuint(len, <=, sge->length - offset);
    return len && offset + len > sge->lkey;
}

uint8_t pvrdma_sg_read(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                       uint32_t offset, void *buf, uint32_t len)
{
    if (rig_memory_bad(sge, offset, len)) {
        return PVRDMA_WC_LOC_PROT_ERR;
    }
    building.offset = offset;
    if (!rig.no_copy) {
        memcpy(buf, rig.memory + sge->addr + offset, len);
    }
    return PVRDMA_WC_SUCCESS;
}

uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len)
{
    if (rig_memory_bad(sge, offset, len)) {
        return PVRDMA_WC_LOC_PROT_ERR;
    }
    rig.written += len;
    if (!rig.no_copy) {
        memcpy(rig.memory + sge->addr + offset, buf, len);
    }
    return PVRDMA_WC_SUCCESS;
}

uint8_t pvrdma_mr_fast_reg(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    rig.registered++;
    return rig.local_status;
}

uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key)
{
    g_assert_cmphex(key, ==, RIG_INV);
    rig.invalidated++;
    return rig.local_status;
}

/* --- Port -------------------------------------------------------------------- */

bool runstate_is_running(void)
{
    return true;
}

uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt)
{
    g_assert_false(rig.s.port.blocked);
    g_assert_true(path == &rig.qp.path);
    building.pkt = *pkt;
    building.offset = 0;
    return building.payload;
}

void pvrdma_tx_end(PvrdmaState *s, size_t payload_len)
{
    building.len = payload_len;
    g_queue_push_tail(&rig.packets, g_memdup2(&building, sizeof(building)));
}

uint8_t pvrdma_ud_send(PvrdmaQp *qp, const PvrdmaSqe *sqe)
{
    g_assert_cmpuint(sqe->length, ==, rig.datagrams);
    rig.datagrams++;
    return PVRDMA_WC_SUCCESS;
}

/* --- QP ---------------------------------------------------------------------- */

void pvrdma_qp_activate(PvrdmaQp *qp)
{
    qp->active = true;
}

void pvrdma_qp_error(PvrdmaQp *qp, int event)
{
    if (qp->state != PVRDMA_QPS_ERR) {
        qp->state = PVRDMA_QPS_ERR;
        rig.event = event;
        pvrdma_req_flush(qp);
    }
}

void pvrdma_qp_send_error(PvrdmaQp *qp)
{
    if (qp->type == PVRDMA_QPT_RC) {
        pvrdma_qp_error(qp, -1);
    } else {
        qp->state = PVRDMA_QPS_SQE;
        pvrdma_req_flush(qp);
    }
}

void pvrdma_qp_drained(PvrdmaQp *qp)
{
    qp->sq_draining &= !pvrdma_req_idle(qp);
}

/* The device has no responder. */
bool pvrdma_resp_has_work(PvrdmaQp *qp)
{
    return false;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    pvrdma_count(s, PVRDMA_CNT_GUEST_ERROR);
}

/* --- The test's side --------------------------------------------------------- */

static void rig_clear(void)
{
    if (rig.qp.s) {
        pvrdma_req_fini(&rig.qp);
        g_assert_cmpuint(rig.s.pages_used, ==, rig.pages_used);
    }
    g_queue_clear_full(&rig.packets, g_free);
    g_queue_clear_full(&rig.completions, g_free);
}

void rig_start(uint32_t mtu, uint32_t psn)
{
    rig_clear();
    memset(&rig, 0, sizeof(rig));
    rig.now = 1000;
    rig.event = -1;
    rig.qp = (PvrdmaQp) {
        .s = &rig.s,
        .handle = 77,
        .type = PVRDMA_QPT_RC,
        .state = PVRDMA_QPS_RTS,
        .send_cq = &rig.cq,
        .mtu = mtu,
        .sq = { .entries = RIG_WQES, .max_sge = 1 },
        .attr = {
            .sq_psn = psn,
            .dest_qpn = RIG_PEER,
            .max_rd_atomic = 16,
            .timeout = RIG_TIMEOUT,
            .retry_cnt = RIG_RETRIES,
            .rnr_retry = RIG_RNR_RETRIES,
        },
    };
    for (unsigned i = 0; i < RIG_MEMORY; i++) {
        rig.memory[i] = i ^ i >> 8 ^ i >> 16;
    }
    pvrdma_req_init(&rig.qp);
}

void rig_end(void)
{
    rig_quiet();
    g_assert_cmpuint(rig.wcs, ==, 0);
    rig_clear();
}

bool rig_run(void)
{
    bool worked = rig.qp.active;

    while (rig.qp.active) {
        unsigned budget = RIG_BUDGET;

        rig.qp.active = false;
        if (pvrdma_req_run(&rig.qp, &budget)) {
            rig.qp.active = true;
        }
        rig_check();
    }
    return worked;
}

const RigPacket *rig_peek(void)
{
    const RigPacket *p = g_queue_peek_head(&rig.packets);

    g_assert_nonnull(p);
    return p;
}

const RigPacket *rig_sent(unsigned opcode, uint32_t psn)
{
    static RigPacket taken;
    g_autofree RigPacket *p = g_queue_pop_head(&rig.packets);

    g_assert_nonnull(p);
    taken = *p;
    g_assert_cmphex(taken.pkt.opcode, ==, opcode);
    g_assert_cmphex(taken.pkt.psn, ==, psn);
    return &taken;
}

unsigned rig_drop(void)
{
    unsigned n = rig.packets.length;

    g_queue_clear_full(&rig.packets, g_free);
    return n;
}

void rig_quiet(void)
{
    g_assert_cmpuint(rig.packets.length, ==, 0);
}

void rig_sent_data(unsigned opcode, uint32_t psn, uint32_t offset,
                   uint32_t len)
{
    const RigPacket *p = rig_sent(opcode, psn);

    g_assert_cmpuint(p->len, ==, len);
    g_assert_true(memcmp(p->payload, rig.memory + offset, len) == 0);
}

void rig_sent_request(uint32_t psn, uint32_t offset, uint32_t len)
{
    const RigPacket *p = rig_sent(ROCE_OP_READ_REQUEST, psn);

    g_assert_cmphex(p->pkt.va, ==, RIG_VA + offset);
    g_assert_cmpuint(p->pkt.dma_len, ==, len);
    g_assert_cmphex(p->pkt.rkey, ==, RIG_RKEY);
    g_assert_cmpuint(p->len, ==, 0);
}

uint64_t rig_count(enum pvrdma_counter counter)
{
    return rig.s.counter[counter];
}

/* --- Answers ----------------------------------------------------------------- */

void rig_answer(unsigned opcode, uint32_t psn, uint8_t syndrome,
                const void *payload, uint32_t len)
{
    RocePacket pkt = {
        .opcode = opcode,
        .psn = psn & ROCE_PSN_MASK,
        .syndrome = syndrome,
        .payload = payload,
        .payload_len = len,
    };

    pvrdma_comp_rx(&rig.qp, &pkt);
    rig_check();
}

void rig_ack(uint32_t psn)
{
    rig_answer(ROCE_OP_ACK, psn,
               ROCE_AETH_SYN(ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS), NULL, 0);
}

void rig_nak(unsigned code, uint32_t psn)
{
    rig_answer(ROCE_OP_ACK, psn, ROCE_AETH_SYN(ROCE_AETH_NAK, code), NULL, 0);
}

void rig_rnr(unsigned code, uint32_t psn)
{
    rig_answer(ROCE_OP_ACK, psn,
               ROCE_AETH_SYN(ROCE_AETH_RNR_NAK, code & 31), NULL, 0);
}

void rig_read(unsigned opcode, uint32_t psn, uint32_t len)
{
    static uint8_t data[ROCE_MTU_MAX];

    memset(data, psn, sizeof(data));
    rig_answer(opcode, psn, 0, data, len);
}

void rig_atomic(uint32_t psn, uint64_t original)
{
    RocePacket pkt = {
        .opcode = ROCE_OP_ATOMIC_ACK,
        .psn = psn & ROCE_PSN_MASK,
        .original = original,
    };

    pvrdma_comp_rx(&rig.qp, &pkt);
    rig_check();
}
