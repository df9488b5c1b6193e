/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames to test the RoCE codec with; see roce-frames.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "net/eth.h"
#include "roce-frames.h"

FrameVector frame_vectors[FRAME_VECTORS];

void frame_vectors_init(void)
{
    for (unsigned i = 0; i < FRAME_VECTORS; i++) {
        const char *hex = pvrdma_vectors[i].bytes;
        FrameVector *v = &frame_vectors[i];

        v->name = pvrdma_vectors[i].name;
        v->path = pvrdma_vectors[i].path;
        v->pkt = pvrdma_vectors[i].pkt;
        v->len = strlen(hex) / 2;
        g_assert_cmpuint(v->len, <=, sizeof(v->bytes));
        for (size_t at = 0; at < v->len; at++, hex += 2) {
            v->bytes[at] = g_ascii_xdigit_value(hex[0]) << 4 |
                           g_ascii_xdigit_value(hex[1]);
        }
    }
}

const FrameVector *frame_vector(const char *name)
{
    for (unsigned i = 0; i < FRAME_VECTORS; i++) {
        if (g_str_equal(frame_vectors[i].name, name)) {
            return &frame_vectors[i];
        }
    }
    g_assert_not_reached();
}

size_t frame_build(uint8_t *frame, const RocePath *path, const RocePacket *pkt)
{
    size_t at = roce_frame_begin(frame, path, pkt);

    for (unsigned i = 0; i < pkt->payload_len; i++) {
        frame[at + i] = i;
    }
    return roce_frame_end(frame, at, pkt->payload_len);
}

RoceStatus frame_parse(const uint8_t *frame, size_t len)
{
    RocePath path;
    RocePacket pkt;

    return roce_frame_parse(frame, len, &path, &pkt);
}

static void assert_same_path(const RocePath *a, const RocePath *b)
{
    g_assert_cmpmem(a->smac, 6, b->smac, 6);
    g_assert_cmpmem(a->dmac, 6, b->dmac, 6);
    g_assert_cmpmem(a->sgid, 16, b->sgid, 16);
    g_assert_cmpmem(a->dgid, 16, b->dgid, 16);
    g_assert_cmphex(a->flow_label, ==, b->flow_label);
    g_assert_cmphex(a->vlan, ==, b->vlan);
    g_assert_cmphex(a->sport, ==, b->sport);
    g_assert_cmphex(a->network, ==, b->network);
    g_assert_cmphex(a->traffic_class, ==, b->traffic_class);
    g_assert_cmphex(a->hop_limit, ==, b->hop_limit);
}

/*
 * Compares all members, because members that the opcode lacks are zero in both packets.
 */
static void assert_same(const RocePacket *a, const RocePacket *b)
{
    g_assert_cmphex(a->opcode, ==, b->opcode);
    g_assert_cmphex(a->syndrome, ==, b->syndrome);
    g_assert_cmpint(a->solicited, ==, b->solicited);
    g_assert_cmpint(a->ack_req, ==, b->ack_req);
    g_assert_cmpint(a->fecn, ==, b->fecn);
    g_assert_cmpint(a->becn, ==, b->becn);
    g_assert_cmphex(a->pkey, ==, b->pkey);
    g_assert_cmphex(a->qpn, ==, b->qpn);
    g_assert_cmphex(a->psn, ==, b->psn);
    g_assert_cmphex(a->va, ==, b->va);
    g_assert_cmphex(a->rkey, ==, b->rkey);
    g_assert_cmphex(a->dma_len, ==, b->dma_len);
    g_assert_cmphex(a->swap_add, ==, b->swap_add);
    g_assert_cmphex(a->compare, ==, b->compare);
    g_assert_cmphex(a->original, ==, b->original);
    g_assert_cmphex(a->msn, ==, b->msn);
    g_assert_cmphex(a->qkey, ==, b->qkey);
    g_assert_cmphex(a->src_qpn, ==, b->src_qpn);
    g_assert_cmphex(a->imm, ==, b->imm);
    g_assert_cmphex(a->inv_rkey, ==, b->inv_rkey);
    g_assert_cmpuint(a->payload_len, ==, b->payload_len);
}

void frame_assert_parsed(const uint8_t *frame, size_t len, const RocePath *path,
                         const RocePacket *pkt)
{
    RocePath got_path;
    RocePacket got;

    g_assert_true(roce_frame_is(frame, len));
    g_assert_cmpint(roce_frame_parse(frame, len, &got_path, &got), ==, ROCE_OK);
    assert_same_path(&got_path, path);
    assert_same(&got, pkt);
    g_assert_true(got.payload >= frame &&
                  got.payload + got.payload_len <= frame + len);
    for (unsigned i = 0; i < got.payload_len; i++) {
        g_assert_cmphex(got.payload[i], ==, (uint8_t)i);
    }
}

void frame_seal(uint8_t *frame, size_t len)
{
    uint8_t *ip = frame + roce_frame_network_at(frame);

    if (lduw_be_p(ip - 2) == ETH_P_IP) {
        uint32_t sum = 0;

        stw_be_p(ip + offsetof(struct ip_header, ip_sum), 0);
        for (unsigned i = 0; i < (ip[0] & 0xf) * 4; i += 2) {
            sum += lduw_be_p(ip + i);
        }
        while (sum >> 16) {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        stw_be_p(ip + offsetof(struct ip_header, ip_sum), ~sum);
    }
    stl_le_p(frame + len - ROCE_ICRC_BYTES, roce_icrc(frame, len));
}

size_t frame_bth_at(const FrameVector *v)
{
    size_t at = v->path.vlan == ROCE_NO_VLAN ? 14 : 18;

    switch (v->path.network) {
    case ROCE_NETWORK_V1:
        return at + ROCE_GRH_BYTES;
    case ROCE_NETWORK_IPV4:
        return at + IPV4_HLEN + UDP_HLEN;
    default:
        return at + IPV6_HLEN + UDP_HLEN;
    }
}
