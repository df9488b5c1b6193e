/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE frames of pvrdma: the target encodes frames, parses them, damages them with a
 * valid ICRC or not, and parses them again.
 */
#include "../fuzz.h"
#include "hw/rnic/pvrdma/wire/roce.h"

static void path_fields(FuzzInput *in, RocePath *path)
{
    uint16_t vlan = fuzz_u16(in);

    *path = (RocePath) {
        .vlan = vlan & 1 ? ROCE_NO_VLAN : vlan & 0x0fff,
    };
    path->flow_label = fuzz_u32(in) & 0xfffff;
    path->sport = fuzz_u16(in);
    path->network = fuzz_u8(in) % 3;
    path->traffic_class = fuzz_u8(in);
    path->hop_limit = fuzz_u8(in) | 1;
    fuzz_bytes(in, path->smac, sizeof(path->smac));
    fuzz_bytes(in, path->dmac, sizeof(path->dmac));
    fuzz_bytes(in, path->sgid, sizeof(path->sgid));
    fuzz_bytes(in, path->dgid, sizeof(path->dgid));
    if (path->network == ROCE_NETWORK_IPV4) {
        static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

        memcpy(path->sgid, mapped, sizeof(mapped));
        memcpy(path->dgid, mapped, sizeof(mapped));
    }
}

static void packet_fields(FuzzInput *in, RocePacket *pkt)
{
    uint8_t flags = fuzz_u8(in);

    *pkt = (RocePacket) {
        .solicited = flags & 1, .ack_req = flags & 2,
        .fecn = flags & 4, .becn = flags & 8,
    };
    pkt->opcode = fuzz_u8(in);
    pkt->syndrome = fuzz_u8(in);
    pkt->pkey = fuzz_u16(in);
    pkt->qpn = fuzz_u32(in) & 0xffffff;
    pkt->psn = fuzz_u32(in) & ROCE_PSN_MASK;
    pkt->va = fuzz_u64(in);
    pkt->rkey = fuzz_u32(in);
    pkt->dma_len = fuzz_u32(in);
    pkt->swap_add = fuzz_u64(in);
    pkt->compare = fuzz_u64(in);
    pkt->original = fuzz_u64(in);
    pkt->msn = fuzz_u32(in) & 0xffffff;
    pkt->qkey = fuzz_u32(in);
    pkt->src_qpn = fuzz_u32(in) & 0xffffff;
    pkt->imm = fuzz_u32(in);
    pkt->inv_rkey = fuzz_u32(in);
}

/*
 * Asserts that the parser returns the encoded members that the headers of the opcode
 * contain.
 */
static void same(const RocePacket *a, const RocePacket *b, size_t payload_len)
{
    uint32_t flags = roce_opcode_info(b->opcode)->flags;

    g_assert_cmphex(a->opcode, ==, b->opcode);
    g_assert_cmphex(a->qpn, ==, b->qpn);
    g_assert_cmphex(a->psn, ==, b->psn);
    g_assert_cmphex(a->pkey, ==, b->pkey);
    g_assert_cmpuint(a->payload_len, ==, payload_len);
    if (flags & ROCE_HAS_RETH) {
        g_assert_cmphex(a->va, ==, b->va);
        g_assert_cmphex(a->rkey, ==, b->rkey);
        g_assert_cmphex(a->dma_len, ==, b->dma_len);
    }
    if (flags & ROCE_HAS_ATOMIC) {
        g_assert_cmphex(a->swap_add, ==, b->swap_add);
        g_assert_cmphex(a->compare, ==, b->compare);
    }
    if (flags & ROCE_HAS_DETH) {
        g_assert_cmphex(a->qkey, ==, b->qkey);
        g_assert_cmphex(a->src_qpn, ==, b->src_qpn);
    }
}

/* Asserts that a parsed packet points into its frame, and reads its network header. */
static void inside(const uint8_t *frame, size_t len, const RocePacket *pkt)
{
    uint8_t grh[ROCE_GRH_BYTES];

    g_assert_cmpuint(pkt->payload_len, <=, ROCE_MTU_MAX);
    if (pkt->payload_len) {
        g_assert_true(pkt->payload > frame);
        g_assert_true(pkt->payload + pkt->payload_len + ROCE_ICRC_BYTES <=
                      frame + len);
    }
    g_assert_cmpuint(roce_frame_network_at(frame), <, len);
    roce_frame_grh(frame, grh);
    g_assert_nonnull(roce_opcode_info(pkt->opcode)->name);
}

/*
 * Parses a copy of the frame in an allocation of @len bytes, so that the sanitizer
 * detects reads behind its end.  If @sent is not NULL, asserts that the parser returns
 * this packet.
 */
static RoceStatus parse(const uint8_t *frame, size_t len, RocePacket *pkt,
                        const RocePacket *sent, size_t payload_len)
{
    g_autofree uint8_t *copy = g_malloc(len ?: 1);
    RocePath path;
    RoceStatus status;

    memcpy(copy, frame, len);
    status = roce_frame_parse(copy, len, &path, pkt);
    if (status == ROCE_OK) {
        g_assert_true(roce_frame_is(copy, len));
        inside(copy, len, pkt);
    }
    if (sent) {
        g_assert_cmpint(status, ==, ROCE_OK);
        same(pkt, sent, payload_len);
    }
    return status;
}

static void made(FuzzInput *in)
{
    static uint8_t frame[ROCE_FRAME_MAX];
    RocePath path;
    RocePacket pkt, got;
    size_t at, len, payload_len = 0;
    unsigned damage;

    path_fields(in, &path);
    packet_fields(in, &pkt);
    if (!roce_opcode_info(pkt.opcode)->name) {
        return;
    }
    memset(frame, 0, sizeof(frame));
    at = roce_frame_begin(frame, &path, &pkt);
    if (roce_opcode_info(pkt.opcode)->flags & ROCE_HAS_PAYLOAD) {
        payload_len = fuzz_u16(in) % (ROCE_MTU_MAX + 1);
    }
    fuzz_bytes(in, frame + at, MIN(payload_len, 16));
    len = roce_frame_end(frame, at, payload_len);
    g_assert_cmpuint(len, <=, ROCE_FRAME_MAX);
    parse(frame, len, &got, &pkt, payload_len);
    damage = fuzz_u8(in) & 7;
    for (unsigned i = 0; i < damage; i++) {
        unsigned where = fuzz_u16(in) % len;

        frame[where] ^= fuzz_u8(in);
    }
    if (damage && fuzz_u8(in) & 1) {
        len -= fuzz_u16(in) % len;
    }
    parse(frame, len, &got, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    RocePacket pkt;

    if (fuzz_u8(&in) & 1) {
        parse(in.at, MIN(in.left, ROCE_FRAME_MAX), &pkt, NULL, 0);
    } else {
        while (in.left) {
            made(&in);
        }
    }
    return 0;
}
