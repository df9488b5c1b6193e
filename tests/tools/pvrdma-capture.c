/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records each kind of packet that the device sends, at least once, for tests of programs
 * that read captures:
 *
 *   pvrdma-capture FILE
 *
 * drives a device and plays its peer, over IPv4, over IPv6 and in a VLAN, while
 * filter-dump writes FILE.  tests/scripts/roce-wireshark.test lists the expected contents
 * of FILE.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../qtest/pvrdma/verbs.h"

#define MTU         256
/* bytes: first, middle and last packet, and padding */
#define LONG        1001
#define SHORT       57
#define BYTES       4096
#define PEER_QPN    0x123456
#define QKEY        0x11111111
#define IMM         0xcafef00d
#define TAG         0x6123          /* priority 3, VLAN 0x123 */

typedef struct Rig {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
    bool ipv6;
    uint16_t vlan;
    uint64_t wr_id;
    uint32_t psn;                   /* PSN of the peer's next request */
    uint32_t msn;                   /* MSN of the device's last request */
} Rig;

static void peer_send(Rig *r, RocePacket *pkt, uint8_t traffic_class,
                      const void *payload, size_t len)
{
    RocePath path = pvrdma_path(r->ipv6, false);

    path.vlan = r->vlan;
    path.traffic_class = traffic_class;
    pkt->pkey = ROCE_PKEY_DEFAULT;
    pkt->qpn = r->qp.qpn;
    pvrdma_wire_send(r->t, &path, pkt, payload, len);
}

/* --- Requests of the device ---------------------------------------------- */
static void answer_read(Rig *r, const RocePacket *asked)
{
    static const uint8_t data[MTU];
    uint32_t packets = roce_packets(asked->dma_len, MTU);

    for (uint32_t i = 0; i < packets; i++) {
        bool last = i == packets - 1;
        RocePacket pkt = {
            .opcode = packets == 1 ? ROCE_OP_READ_RESP_ONLY :
                      i == 0 ? ROCE_OP_READ_RESP_FIRST :
                      last ? ROCE_OP_READ_RESP_LAST : ROCE_OP_READ_RESP_MIDDLE,
            .psn = roce_psn_add(asked->psn, i), .msn = r->msn,
            .syndrome = ROCE_AETH_NO_CREDITS,
        };

        peer_send(r, &pkt, 0, data, last ? asked->dma_len - i * MTU : MTU);
    }
}

/* Takes all packets of a message of the device, and answers the message. */
static void answer(Rig *r)
{
    g_autofree PvrdmaFrame *f = NULL;
    RocePacket pkt = { .syndrome = ROCE_AETH_NO_CREDITS };
    uint32_t flags;

    do {
        g_free(f);
        f = pvrdma_wire_take(r->t);
        flags = roce_opcode_info(f->pkt.opcode)->flags;
    } while (!(flags & ROCE_IS_LAST));
    r->msn++;
    if (flags & ROCE_IS_READ) {
        answer_read(r, &f->pkt);
        return;
    }
    pkt.opcode = flags & ROCE_IS_ATOMIC ? ROCE_OP_ATOMIC_ACK : ROCE_OP_ACK;
    pkt.psn = f->pkt.psn;
    pkt.msn = r->msn;
    peer_send(r, &pkt, 0, NULL, 0);
}

static void ask(Rig *r, struct pvrdma_sq_wqe_hdr hdr, uint32_t len)
{
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, len);

    hdr.wr_id = cpu_to_le64(++r->wr_id);
    pvrdma_post_send(r->t, &r->qp, &hdr, &sge, 1);
    answer(r);
    pvrdma_cq_expect(r->t, &r->cq, r->wr_id, PVRDMA_WC_SUCCESS);
}

static void ask_all(Rig *r, uint32_t len)
{
    struct pvrdma_sq_wqe_hdr imm = pvrdma_wr(0, PVRDMA_WR_SEND_WITH_IMM);
    struct pvrdma_sq_wqe_hdr inv = pvrdma_wr(0, PVRDMA_WR_SEND_WITH_INV);
    struct pvrdma_sq_wqe_hdr write = pvrdma_wr_rdma(
        0, PVRDMA_WR_RDMA_WRITE_WITH_IMM, 0x1122334455667788, 0x99aabbcc);

    imm.ex.imm_data = cpu_to_be32(IMM);
    inv.ex.invalidate_rkey = cpu_to_le32(0x5a5aa5a5);
    write.ex.imm_data = cpu_to_be32(IMM);
    ask(r, pvrdma_wr(0, PVRDMA_WR_SEND), len);
    ask(r, imm, len);
    ask(r, inv, len);
    ask(r, write, len);
    ask(r, pvrdma_wr_rdma(0, PVRDMA_WR_RDMA_WRITE, 0x5000, 0x77), len);
    ask(r, pvrdma_wr_rdma(0, PVRDMA_WR_RDMA_READ, 0x5000, 0x77), len);
}

static void ask_atomics(Rig *r)
{
    PvrdmaTestMr remote = { .va = 0x5008, .rkey = 0x77 };

    ask(r, pvrdma_wr_atomic(0, PVRDMA_WR_ATOMIC_CMP_AND_SWP, &remote, 1, 2), 8);
    ask(r, pvrdma_wr_atomic(0, PVRDMA_WR_ATOMIC_FETCH_AND_ADD, &remote, 3, 0), 8);
}

/* --- Answers of the device ----------------------------------------------- */
/*
 * Sends a request of the peer, whose answer has @packets packets, and drops the answer.
 */
static void request(Rig *r, RocePacket pkt, uint8_t traffic_class, size_t len,
                    unsigned packets)
{
    static const uint8_t data[MTU];

    pkt.psn = r->psn;
    pkt.rkey = r->mr.rkey;
    pkt.ack_req = true;
    peer_send(r, &pkt, traffic_class, data, len);
    for (unsigned i = 0; i < packets; i++) {
        g_free(pvrdma_wire_take(r->t));
    }
    r->psn = roce_psn_add(r->psn, pkt.opcode == ROCE_OP_READ_REQUEST ?
                                  roce_packets(pkt.dma_len, MTU) : 1);
}

static void request_all(Rig *r)
{
    RocePacket read = { .opcode = ROCE_OP_READ_REQUEST, .va = r->mr.va };
    RocePacket add = { .opcode = ROCE_OP_FETCH_ADD, .va = r->mr.va };
    RocePacket write = {
        .opcode = ROCE_OP_WRITE_ONLY, .va = r->mr.va, .dma_len = 4,
    };

    read.dma_len = LONG;
    request(r, read, 0, 0, roce_packets(LONG, MTU));
    read.dma_len = SHORT;
    request(r, read, 0, 0, 1);
    request(r, add, 0, 0, 1);
    request(r, write, 0, 4, 1);
    /* the packet met congestion, so the device also sends a CNP */
    request(r, write, ROCE_ECN_CE, 4, 2);
    pvrdma_step(r->t, 1000000);
    /* three refused requests: a PSN is missing; no receive WQE; an invalid address */
    r->psn = roce_psn_add(r->psn, 1);
    request(r, write, 0, 4, 1);
    r->psn = roce_psn_add(r->psn, -2);
    request(r, (RocePacket) { .opcode = ROCE_OP_SEND_ONLY }, 0, 4, 1);
    r->psn = roce_psn_add(r->psn, -1);
    write.va--;
    request(r, write, 0, 4, 1);
    pvrdma_event_take(r->t, PVRDMA_EVENT_QP_ACCESS_ERR, r->qp.handle);
}

/* --- Datagrams ----------------------------------------------------------- */
static void datagrams(Rig *r)
{
    PvrdmaTestQpAttr to = {
        .dest_qpn = PEER_QPN, .qkey = QKEY, .pd = r->pd, .gid_index = r->ipv6,
    };
    PvrdmaTestQpInit init = {
        .type = PVRDMA_QPT_UD, .pd = r->pd, .send_cq = &r->cq, .recv_cq = &r->cq,
    };
    PvrdmaTestQp qp = pvrdma_qp_create(r->t, &init);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&r->mr, 0, SHORT);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_ud(1, PVRDMA_WR_SEND, &to);

    pvrdma_qp_connect(r->t, &qp, &to);
    pvrdma_post_send(r->t, &qp, &hdr, &sge, 1);
    hdr = pvrdma_wr_ud(2, PVRDMA_WR_SEND_WITH_IMM, &to);
    hdr.ex.imm_data = cpu_to_be32(IMM);
    pvrdma_post_send(r->t, &qp, &hdr, &sge, 1);
    for (unsigned i = 1; i <= 2; i++) {
        g_free(pvrdma_wire_take(r->t));
        pvrdma_cq_expect(r->t, &r->cq, i, PVRDMA_WC_SUCCESS);
    }
    pvrdma_qp_destroy(r->t, &qp);
}

static void talk(PvrdmaTest *t, bool ipv6, uint16_t vlan)
{
    Rig r = { .t = t, .ipv6 = ipv6, .vlan = vlan, .psn = 0xfffffe };
    PvrdmaTestQpAttr attr = {
        .mtu = PVRDMA_MTU_256, .dest_qpn = PEER_QPN, .sq_psn = 0xfffff0,
        .rq_psn = r.psn, .gid_index = ipv6, .timeout = PVRDMA_TEST_NEVER,
    };
    PvrdmaTestQpInit init = { .send_cq = &r.cq, .recv_cq = &r.cq };

    r.pd = pvrdma_pd_create(t, 0);
    init.pd = r.pd;
    r.cq = pvrdma_cq_create(t, 0, 0, 64);
    r.mr = pvrdma_mr_create(t, r.pd, 0x10000000, BYTES, PVRDMA_TEST_ACCESS_ALL);
    r.qp = pvrdma_qp_create(t, &init);
    pvrdma_qp_connect(t, &r.qp, &attr);
    pvrdma_fill(t, r.mr.pa, NULL, BYTES, 1);
    /* the QP takes its VLAN tag from the packets that it receives */
    request(&r, (RocePacket) { .opcode = ROCE_OP_WRITE_ONLY }, 0, 0, 1);
    ask_all(&r, LONG);
    ask_all(&r, SHORT);
    ask_atomics(&r);
    request_all(&r);
    datagrams(&r);
}

int main(int argc, char **argv)
{
    g_autofree char *props = NULL;
    PvrdmaTest *t;

    g_test_init(&argc, &argv, NULL);
    if (argc != 2) {
        fprintf(stderr, "usage: pvrdma-capture FILE\n");
        return 2;
    }
    props = g_strdup_printf(",dcqcn=on -object filter-dump,id=dump,netdev=wire,"
                            "file=%s", argv[1]);
    t = pvrdma_start(props);
    talk(t, false, ROCE_NO_VLAN);
    talk(t, true, ROCE_NO_VLAN);
    talk(t, false, TAG);
    pvrdma_stop(t);
    return 0;
}
