/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection of pvrdma with a peer; see rc.h. */
#include "qemu/osdep.h"
#include "rc.h"

/* bytes of the Ethernet, IPv4 and UDP headers */
#define NETWORK_BYTES   (14 + 20 + 8)
#define ETHERNET_MIN    60u

void rc_start(Rc *rc, const RcInit *init)
{
    PvrdmaTestQpInit qp = { .send_wr = 64, .recv_wr = 64 };
    PvrdmaTestQpAttr attr = {
        .mtu = PVRDMA_MTU_1024,
        .sq_psn = init->sq_psn, .rq_psn = init->rq_psn,
        .dest_qpn = RC_PEER_QPN,
        .retry_cnt = init->retry_cnt,
    };

    rc->t = pvrdma_start("");
    rc->pd = pvrdma_pd_create(rc->t, 0);
    rc->cq = pvrdma_cq_create(rc->t, 0, 0, 256);
    qp.pd = rc->pd;
    qp.send_cq = &rc->cq;
    rc->qp = pvrdma_qp_create(rc->t, &qp);
    rc->mr = pvrdma_mr_create(rc->t, rc->pd, 0x40000100, init->bytes,
                              PVRDMA_TEST_ACCESS_ALL);
    rc->data = g_malloc(init->bytes);
    pvrdma_fill(rc->t, rc->mr.pa, rc->data, init->bytes, 1);
    pvrdma_qp_connect(rc->t, &rc->qp, &attr);
    rc->path = pvrdma_path(false, false);
}

void rc_stop(Rc *rc)
{
    pvrdma_cq_assert_empty(rc->t, &rc->cq);
    pvrdma_assert_quiet(rc->t);
    g_free(rc->data);
    pvrdma_stop(rc->t);
}

void rc_post(Rc *rc, uint64_t wr_id, enum pvrdma_wr_opcode opcode,
             uint32_t offset, uint32_t len)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(wr_id, opcode, RC_PEER_VA,
                                                  RC_PEER_RKEY);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&rc->mr, offset, len);

    pvrdma_post_send(rc->t, &rc->qp, &hdr, &sge, 1);
}

/* Takes the next frame; asserts that it has @opcode and @psn. */
static PvrdmaFrame *rc_expect(Rc *rc, uint8_t opcode, uint32_t psn)
{
    return pvrdma_wire_expect(rc->t, opcode, RC_PEER_QPN, psn & ROCE_PSN_MASK);
}

void rc_sent(Rc *rc, uint8_t opcode, uint32_t psn, uint32_t offset, uint32_t len)
{
    g_autofree PvrdmaFrame *f = rc_expect(rc, opcode, psn);
    uint32_t bytes;

    g_assert_cmpmem(f->pkt.payload, f->pkt.payload_len, rc->data + offset, len);
    bytes = NETWORK_BYTES + roce_opcode_info(opcode)->header_bytes +
            ROUND_UP(len, 4) + ROCE_ICRC_BYTES;
    g_assert_cmpuint(f->len, ==, MAX(bytes, ETHERNET_MIN));
}

void rc_sent_write(Rc *rc, uint32_t psn, unsigned first, unsigned end, unsigned count)
{
    for (unsigned i = first; i < end; i++) {
        uint8_t opcode = i == 0 ? ROCE_OP_WRITE_FIRST :
                         i == count - 1 ? ROCE_OP_WRITE_LAST :
                         ROCE_OP_WRITE_MIDDLE;

        rc_sent(rc, opcode, psn + i, i * RC_MTU, RC_MTU);
    }
}

void rc_asked(Rc *rc, uint32_t psn, uint32_t offset, uint32_t len)
{
    g_autofree PvrdmaFrame *f = rc_expect(rc, ROCE_OP_READ_REQUEST, psn);

    g_assert_cmphex(f->pkt.va, ==, RC_PEER_VA + offset);
    g_assert_cmphex(f->pkt.rkey, ==, RC_PEER_RKEY);
    g_assert_cmpuint(f->pkt.dma_len, ==, len);
}

void rc_acked(Rc *rc, uint32_t psn)
{
    g_autofree PvrdmaFrame *f = rc_expect(rc, ROCE_OP_ACK, psn);

    g_assert_cmpuint(RNIC_GET(ROCE_AETH_KIND, f->pkt.syndrome), ==,
                     ROCE_AETH_ACK);
}

void rc_naked(Rc *rc, uint32_t psn, enum roce_nak code)
{
    pvrdma_wire_expect_ack(rc->t, RC_PEER_QPN, psn & ROCE_PSN_MASK,
                           ROCE_AETH_SYN(ROCE_AETH_NAK, code));
}

void rc_done(Rc *rc, uint64_t wr_id, enum pvrdma_wc_status status)
{
    pvrdma_cq_expect(rc->t, &rc->cq, wr_id, status);
}

void rc_assert_filled(Rc *rc, uint32_t offset, uint8_t byte, uint32_t len)
{
    g_autofree uint8_t *want = g_malloc(len);

    memset(want, byte, len);
    pvrdma_assert_mem(rc->t, rc->mr.pa + offset, want, len);
}

void rc_send(Rc *rc, const RocePacket *pkt, const void *payload, size_t len)
{
    RocePacket p = *pkt;

    p.pkey = ROCE_PKEY_DEFAULT;
    p.qpn = p.qpn ?: rc->qp.qpn;
    p.psn &= ROCE_PSN_MASK;
    pvrdma_wire_send(rc->t, &rc->path, &p, payload, len);
}

void rc_send_part(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t byte)
{
    uint8_t payload[RC_MTU];

    memset(payload, byte, sizeof(payload));
    rc_send(rc, &(RocePacket) {
        .opcode = opcode, .psn = psn, .ack_req = true,
        .va = rc->mr.va + RC_PART_OFFSET, .rkey = rc->mr.rkey,
        .dma_len = RC_PARTS * RC_MTU,
    }, payload, sizeof(payload));
}

void rc_aeth(Rc *rc, uint32_t psn, enum roce_aeth_kind kind, unsigned value)
{
    rc_send(rc, &(RocePacket) {
        .opcode = ROCE_OP_ACK, .psn = psn,
        .syndrome = ROCE_AETH_SYN(kind, value),
    }, NULL, 0);
}

void rc_ack(Rc *rc, uint32_t psn)
{
    rc_aeth(rc, psn, ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS);
}

void rc_response(Rc *rc, uint8_t opcode, uint32_t psn, uint8_t byte, uint32_t len)
{
    uint8_t payload[2 * RC_MTU];

    memset(payload, byte, sizeof(payload));
    rc_send(rc, &(RocePacket) { .opcode = opcode, .psn = psn }, payload, len);
}
