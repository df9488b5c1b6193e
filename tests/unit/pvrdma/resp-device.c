/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device around the responder of pvrdma, and its peer. */
#include "resp-device.h"
#include "system/cpu-timers.h"
#include "hw/rnic/pvrdma/base/guest.h"
#include "hw/rnic/pvrdma/objects/mr.h"
#include "hw/rnic/pvrdma/transport/comp.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"
#include "hw/rnic/pvrdma/transport/resp.h"
#include "hw/rnic/pvrdma/transport/rx.h"
#include "hw/rnic/pvrdma/transport/stuck.h"
#include "hw/rnic/pvrdma/transport/ud.h"

static const uint8_t our_gid[16] = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 };
static const uint8_t peer_gid[16] = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 2 };
static const uint8_t our_mac[6] = { 0x52, 0x54, 0, 0, 0, 1 };
static const uint8_t peer_mac[6] = { 0x52, 0x54, 0, 0, 0, 2 };

/* the current Bed, because cpu_get_clock() has no argument */
static Bed *the_bed;

static Bed *bed_of(PvrdmaState *s)
{
    return container_of(s, Bed, s);
}

int64_t cpu_get_clock(void)
{
    return the_bed->now;
}

/* --- Memory --------------------------------------------------------------- */
PvrdmaMrStatus pvrdma_mr_check(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               uint64_t len, uint32_t access)
{
    Bed *bed = bed_of(qp->s);

    if (!len) {
        return PVRDMA_MR_OK;
    }
    if (bed->mr_gone || key != BED_KEY) {
        return PVRDMA_MR_BAD_KEY;
    }
    if ((bed->access & access) != access) {
        return PVRDMA_MR_BAD_ACCESS;
    }
    return va >= BED_VA && va - BED_VA <= BED_MEM && len <= BED_MEM - (va - BED_VA)
           ? PVRDMA_MR_OK : PVRDMA_MR_BAD_RANGE;
}

static PvrdmaMrStatus mr_access(PvrdmaQp *qp, uint32_t key, uint64_t va,
                                uint32_t len, uint32_t access)
{
    PvrdmaMrStatus status = pvrdma_mr_check(qp, key, va, len, access);

    return status == PVRDMA_MR_OK && bed_of(qp->s)->bus_error
           ? PVRDMA_MR_BUS_ERROR : status;
}

PvrdmaMrStatus pvrdma_mr_read(PvrdmaQp *qp, uint32_t key, uint64_t va,
                              void *buf, uint32_t len, uint32_t access)
{
    PvrdmaMrStatus status = mr_access(qp, key, va, len, access);

    if (status == PVRDMA_MR_OK) {
        memcpy(buf, bed_of(qp->s)->mem + (va - BED_VA), len);
    }
    return status;
}

PvrdmaMrStatus pvrdma_mr_write(PvrdmaQp *qp, uint32_t key, uint64_t va,
                               const void *buf, uint32_t len, uint32_t access)
{
    PvrdmaMrStatus status = mr_access(qp, key, va, len, access);

    if (status == PVRDMA_MR_OK) {
        memcpy(bed_of(qp->s)->mem + (va - BED_VA), buf, len);
    }
    return status;
}

uint8_t pvrdma_mr_invalidate(PvrdmaQp *qp, uint32_t key)
{
    Bed *bed = bed_of(qp->s);

    if (key != BED_KEY || bed->mr_gone) {
        return PVRDMA_WC_LOC_PROT_ERR;
    }
    bed->invalidated = key;
    bed->mr_gone = true;
    return PVRDMA_WC_SUCCESS;
}

void pvrdma_guest_error(PvrdmaState *s, const char *format, ...)
{
    pvrdma_count(s, PVRDMA_CNT_GUEST_ERROR);
}

/* --- Receive and completion queue ----------------------------------------- */
int pvrdma_qp_receive(PvrdmaQp *qp, PvrdmaRqe *rqe)
{
    Bed *bed = bed_of(qp->s);

    if (bed->rq_broken) {
        pvrdma_qp_error(qp, PVRDMA_EVENT_QP_FATAL);
        return -1;
    }
    if (bed->fetched == bed->posted) {
        return 0;
    }
    *rqe = bed->rqe[bed->fetched++ % BED_DEPTH];
    return 1;
}

void bed_receive(Bed *bed, unsigned sges, uint32_t len)
{
    unsigned slot = bed->posted % BED_DEPTH;
    PvrdmaRqe *rqe = &bed->rqe[slot];

    g_assert_cmpuint(bed->posted - bed->fetched, <, BED_DEPTH);
    *rqe = (PvrdmaRqe) {
        .wr_id = bed->posted++,
        .length = sges * len,
        .sges = sges,
    };
    for (unsigned i = 0; i < sges; i++) {
        rqe->sge[i] = (PvrdmaSge) { slot * BED_BUFFER + i * len, len, BED_LKEY };
    }
}

uint8_t pvrdma_sg_write(PvrdmaQp *qp, const PvrdmaSge *sge, unsigned sges,
                        uint32_t offset, const void *buf, uint32_t len)
{
    Bed *bed = bed_of(qp->s);
    const uint8_t *from = buf;

    g_assert_cmpuint(len, >, 0);
    if (bed->sg_status != PVRDMA_WC_SUCCESS) {
        return bed->sg_status;
    }
    for (unsigned i = 0; i < sges && len; i++) {
        uint32_t here = MIN(len, sge[i].length - MIN(offset, sge[i].length));

        memcpy((uint8_t *)bed->buffer + sge[i].addr + offset, from, here);
        offset -= MIN(offset, sge[i].length);
        from += here;
        len -= here;
    }
    g_assert_cmpuint(len, ==, 0);   /* the responder has compared the lengths before */
    return PVRDMA_WC_SUCCESS;
}

void pvrdma_cq_push(PvrdmaState *s, PvrdmaCq *cq, const PvrdmaWc *wc)
{
    Bed *bed = bed_of(s);

    if (bed->cq_full) {
        pvrdma_qp_error(&bed->qp, -1);
        return;
    }
    g_queue_push_tail(&bed->wc, g_memdup2(wc, sizeof(*wc)));
}

/* --- The QP --------------------------------------------------------------- */
PvrdmaQp *pvrdma_qp_find(PvrdmaState *s, uint32_t qpn)
{
    return qpn == BED_QPN ? &bed_of(s)->qp : NULL;
}

void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info)
{
    g_assert_cmpuint(info, ==, BED_HANDLE);
    bed_of(s)->event = type;
    bed_of(s)->events++;
}

void pvrdma_qp_error(PvrdmaQp *qp, int event)
{
    if (qp->state == PVRDMA_QPS_ERR) {
        return;
    }
    qp->state = PVRDMA_QPS_ERR;
    if (event >= 0) {
        pvrdma_event(qp->s, event, qp->handle);
    }
    pvrdma_resp_flush(qp);
}

void pvrdma_qp_activate(PvrdmaQp *qp)
{
    bed_of(qp->s)->activations++;
    qp->active = true;
}

void pvrdma_qp_activate_delayed(PvrdmaQp *qp)
{
    pvrdma_qp_activate(qp);
}

bool pvrdma_gid_local(PvrdmaState *s, const uint8_t gid[16])
{
    return !memcmp(gid, our_gid, 16);
}

/* There is no requester. */
bool pvrdma_req_idle(const PvrdmaQp *qp)
{
    return true;
}

bool pvrdma_req_congested(PvrdmaQp *qp)
{
    return bed_of(qp->s)->congested;
}

void pvrdma_comp_rx(PvrdmaQp *qp, const RocePacket *pkt)
{
    bed_of(qp->s)->responses++;
}

void pvrdma_ud_rx(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt,
                  const uint8_t *frame)
{
    bed_of(qp->s)->datagrams++;
}

/* --- The wire ------------------------------------------------------------- */
bool runstate_is_running(void)
{
    return true;
}

uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt)
{
    Bed *bed = bed_of(s);

    g_assert_false(s->port.blocked);
    bed->payload_at = roce_frame_begin(bed->frame, path, pkt);
    return bed->frame + bed->payload_at;
}

/* Parses the frame, and asserts that it goes from the device to the peer. */
void pvrdma_tx_end(PvrdmaState *s, size_t payload_len)
{
    Bed *bed = bed_of(s);
    BedSent *sent = g_new0(BedSent, 1);
    size_t len = roce_frame_end(bed->frame, bed->payload_at, payload_len);

    g_assert_cmpint(roce_frame_parse(bed->frame, len, &sent->path, &sent->pkt),
                    ==, ROCE_OK);
    g_assert_cmpmem(sent->path.dgid, 16, peer_gid, 16);
    g_assert_cmpmem(sent->path.sgid, 16, our_gid, 16);
    g_assert_cmphex(sent->pkt.qpn, ==, BED_PEER_QPN);
    g_assert_cmphex(sent->pkt.pkey, ==, ROCE_PKEY_DEFAULT);
    memcpy(sent->payload, sent->pkt.payload, sent->pkt.payload_len);
    sent->pkt.payload = NULL;
    g_queue_push_tail(&bed->sent, sent);
}

uint8_t bed_byte(uint32_t seed, size_t i)
{
    return (seed + i) * 2654435761u >> 13;
}

void bed_frame(Bed *bed, const RocePath *path, const RocePacket *pkt)
{
    uint8_t frame[ROCE_FRAME_MAX];
    size_t at = roce_frame_begin(frame, path, pkt);

    for (uint32_t i = 0; i < pkt->payload_len; i++) {
        frame[at + i] = pkt->payload ? pkt->payload[i] : bed_byte(pkt->psn, i);
    }
    pvrdma_rx(&bed->s, frame, roce_frame_end(frame, at, pkt->payload_len));
}

void bed_peer(Bed *bed, const RocePacket *pkt)
{
    bed_frame(bed, &bed->path, pkt);
}

bool bed_run_some(Bed *bed, unsigned budget)
{
    bool more;

    bed->qp.active = false;
    more = pvrdma_resp_run(&bed->qp, &budget);
    bed->qp.active |= more || bed->congested;
    g_assert_cmpstr(pvrdma_qp_stuck(&bed->qp), ==, NULL);
    return more;
}

void bed_run(Bed *bed)
{
    g_assert_false(bed_run_some(bed, UINT_MAX));
}

BedSent *bed_sent(Bed *bed)
{
    BedSent *sent = g_queue_pop_head(&bed->sent);

    g_assert_nonnull(sent);
    return sent;
}

void bed_expect_answer(Bed *bed, uint8_t syndrome, uint32_t psn, uint32_t msn)
{
    g_autofree BedSent *sent = NULL;

    bed_run(bed);
    sent = bed_sent(bed);
    g_assert_cmphex(sent->pkt.opcode, ==, ROCE_OP_ACK);
    g_assert_cmphex(sent->pkt.syndrome, ==, syndrome);
    g_assert_cmphex(sent->pkt.psn, ==, psn & ROCE_PSN_MASK);
    g_assert_cmpuint(sent->pkt.msn, ==, msn & ROCE_PSN_MASK);
}

void bed_expect_read(Bed *bed, enum roce_opcode opcode, uint32_t psn,
                     uint64_t va, uint32_t len)
{
    g_autofree BedSent *sent = NULL;

    bed_run(bed);
    sent = bed_sent(bed);
    g_assert_cmphex(sent->pkt.opcode, ==, opcode);
    g_assert_cmphex(sent->pkt.psn, ==, psn & ROCE_PSN_MASK);
    g_assert_cmpmem(sent->payload, sent->pkt.payload_len,
                    bed->mem + (va - BED_VA), len);
}

void bed_expect_quiet(Bed *bed)
{
    bed_run(bed);
    g_assert_cmpuint(bed->sent.length, ==, 0);
}

/* --- Results -------------------------------------------------------------- */
PvrdmaWc *bed_wc(Bed *bed)
{
    PvrdmaWc *wc = g_queue_pop_head(&bed->wc);

    g_assert_nonnull(wc);
    g_assert_cmpuint(wc->qp, ==, BED_HANDLE);
    return wc;
}

void bed_expect_failed(Bed *bed, uint64_t wr_id, enum pvrdma_wc_status status)
{
    g_autofree PvrdmaWc *wc = bed_wc(bed);

    g_assert_cmpuint(wc->wr_id, ==, wr_id);
    g_assert_cmpuint(wc->status, ==, status);
}

uint64_t bed_counter(Bed *bed, enum pvrdma_counter counter)
{
    return bed->s.counter[counter];
}

void bed_expect_memory(Bed *bed, uint64_t va, uint32_t seed, size_t from,
                       size_t len)
{
    for (size_t i = 0; i < len; i++) {
        g_assert_cmphex(bed->mem[va - BED_VA + i], ==,
                        bed_byte(seed & ROCE_PSN_MASK, from + i));
    }
}

Bed *bed_new(void)
{
    Bed *bed = g_new0(Bed, 1);
    PvrdmaQp *qp = &bed->qp;

    the_bed = bed;
    bed->access = BED_ACCESS;
    bed->guarded = g_malloc(BED_MEM + 2 * BED_GUARD);
    bed->mem = bed->guarded + BED_GUARD;
    for (size_t i = 0; i < BED_MEM + 2 * BED_GUARD; i++) {
        bed->guarded[i] = bed_byte(0x5eed, i);
    }
    bed->path = (RocePath) {
        .network = ROCE_NETWORK_IPV4,
        .vlan = ROCE_NO_VLAN,
        .hop_limit = 64,
        .sport = ROCE_UDP_SPORT_MIN,
    };
    qp->path = bed->path;
    memcpy(bed->path.sgid, peer_gid, 16);
    memcpy(bed->path.dgid, our_gid, 16);
    memcpy(bed->path.smac, peer_mac, 6);
    memcpy(bed->path.dmac, our_mac, 6);
    memcpy(qp->path.sgid, our_gid, 16);
    memcpy(qp->path.dgid, peer_gid, 16);
    memcpy(qp->path.smac, our_mac, 6);
    memcpy(qp->path.dmac, peer_mac, 6);
    bed->s.gid[0].vlan = ROCE_NO_VLAN;
    qp->s = &bed->s;
    qp->handle = BED_HANDLE;
    qp->qpn = BED_QPN;
    qp->type = PVRDMA_QPT_RC;
    qp->state = PVRDMA_QPS_RTS;
    qp->recv_cq = qp->send_cq = &bed->cq;
    qp->rq.entries = BED_DEPTH;
    qp->mtu = BED_MTU;
    qp->attr = (PvrdmaQpAttr) {
        .access = BED_ACCESS,
        .rq_psn = BED_PSN,
        .dest_qpn = BED_PEER_QPN,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer = BED_RNR,
    };
    pvrdma_resp_init(qp);
    return bed;
}

void bed_free(Bed *bed)
{
    for (size_t i = 0; i < BED_GUARD; i++) {
        size_t behind = BED_GUARD + BED_MEM + i;

        g_assert_cmphex(bed->guarded[i], ==, bed_byte(0x5eed, i));
        g_assert_cmphex(bed->guarded[behind], ==, bed_byte(0x5eed, behind));
    }
    bed_expect_quiet(bed);
    g_assert_cmpuint(bed->wc.length, ==, 0);
    g_free(bed->guarded);
    g_free(bed);
}
