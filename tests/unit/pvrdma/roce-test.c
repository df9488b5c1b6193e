/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The RoCE codec against vectors of an independent script, against itself, and against
 * invalid frames.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "net/eth.h"
#include "../../seed.h"
#include "roce-frames.h"

#define RANDOM_ROUNDS   20000
#define HEADERS_MAX     (18 + IPV6_HLEN + UDP_HLEN + sizeof(struct roce_bth))

/* --- Vectors ------------------------------------------------------------- */
static void test_encode(gconstpointer opaque)
{
    const FrameVector *v = opaque;
    uint8_t frame[ROCE_FRAME_MAX];

    /* stale bytes in the buffer must not reach the wire */
    memset(frame, 0x5a, sizeof(frame));
    g_assert_cmpmem(frame, frame_build(frame, &v->path, &v->pkt), v->bytes, v->len);
    g_assert_cmpuint(roce_frame_network_at(frame), ==,
                     v->path.vlan == ROCE_NO_VLAN ? 14 : 18);
}

static void test_decode(gconstpointer opaque)
{
    const FrameVector *v = opaque;
    uint8_t padded[sizeof(v->bytes) + 64] = { };

    frame_assert_parsed(v->bytes, v->len, &v->path, &v->pkt);
    /* Ethernet may append padding to a frame */
    memcpy(padded, v->bytes, v->len);
    memset(padded + v->len, 0xa5, sizeof(padded) - v->len);
    for (unsigned more = 1; more <= 64; more++) {
        frame_assert_parsed(padded, v->len + more, &v->path, &v->pkt);
    }
}

/* A truncated frame is invalid, and the parser does not read behind its end. */
static void test_truncate(gconstpointer opaque)
{
    const FrameVector *v = opaque;

    for (size_t len = 0; len < v->len; len++) {
        g_autofree uint8_t *frame = g_memdup2(v->bytes, len ?: 1);

        g_assert_cmpint(frame_parse(frame, len), !=, ROCE_OK);
    }
}

/* Returns true if a router may change the bit of byte @at, because no ICRC covers it. */
static bool is_free(const FrameVector *v, size_t at, unsigned bit)
{
    size_t network = roce_frame_network_at(v->bytes);
    size_t bth = frame_bth_at(v);

    if (at < 12 || (v->path.vlan != ROCE_NO_VLAN && (at == 14 || at == 15))) {
        return true;            /* MAC addresses, tag control information */
    }
    if (at == bth + offsetof(struct roce_bth, qpn)) {
        return true;
    }
    if (v->path.network == ROCE_NETWORK_IPV4) {
        /* the IPv4 checksum covers the other fields that the ICRC does not cover */
        return at == bth - 2 || at == bth - 1;
    }
    if (v->path.network == ROCE_NETWORK_IPV6 &&
        (at == bth - 2 || at == bth - 1)) {
        return true;
    }
    return (at == network && bit < 4) || at == network + 7 ||
           (at >= network + 1 && at <= network + 3);
}

static void test_flip(gconstpointer opaque)
{
    const FrameVector *v = opaque;
    uint8_t frame[sizeof(v->bytes)];

    memcpy(frame, v->bytes, v->len);
    for (size_t at = 0; at < v->len; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            frame[at] ^= 1 << bit;
            g_assert_cmpint(frame_parse(frame, v->len) == ROCE_OK, ==,
                            is_free(v, at, bit));
            frame[at] ^= 1 << bit;
        }
    }
}

static void test_grh(gconstpointer opaque)
{
    const FrameVector *v = opaque;
    uint8_t grh[ROCE_GRH_BYTES], expected[ROCE_GRH_BYTES] = { };
    const uint8_t *network = v->bytes + roce_frame_network_at(v->bytes);

    memset(grh, 0x5a, sizeof(grh));
    roce_frame_grh(v->bytes, grh);
    if (v->path.network == ROCE_NETWORK_IPV4) {
        memcpy(expected + 20, network, IPV4_HLEN);
    } else {
        memcpy(expected, network, IPV6_HLEN);
    }
    g_assert_cmpmem(grh, sizeof(grh), expected, sizeof(expected));
}

/* --- Opcodes ------------------------------------------------------------- */
static void test_opcodes(void)
{
    unsigned known = 0, seen = 0;

    for (unsigned op = 0; op < 256; op++) {
        const RoceOpcodeInfo *info = roce_opcode_info(op);
        uint32_t flags = info->flags;

        if (!info->name) {
            g_assert_cmphex(flags, ==, 0);
            g_assert_cmpuint(info->header_bytes, ==, 0);
            continue;
        }
        known++;
        /* each opcode is a request, a response or a CNP, and has one operation */
        g_assert_cmpuint(ctpop32(flags & (ROCE_IS_REQUEST | ROCE_IS_RESPONSE |
                                          ROCE_IS_CNP)), ==, 1);
        g_assert_cmpuint(ctpop32(flags & (ROCE_IS_SEND | ROCE_IS_WRITE |
                                          ROCE_IS_READ | ROCE_IS_ATOMIC)), ==,
                         op != ROCE_OP_ACK && op != ROCE_OP_CNP);
        /* of WRITE and READ requests, only the first packet has a RETH */
        if (flags & ROCE_IS_REQUEST && flags & (ROCE_IS_WRITE | ROCE_IS_READ)) {
            g_assert_cmpint(!!(flags & ROCE_HAS_RETH), ==,
                            !!(flags & ROCE_IS_FIRST));
        }
        if (flags & (ROCE_HAS_IMM | ROCE_HAS_IETH)) {
            g_assert_true(flags & ROCE_IS_LAST);
        }
    }
    for (unsigned i = 0; i < FRAME_VECTORS; i++) {
        const FrameVector *v = &frame_vectors[i];
        const RoceOpcodeInfo *info = roce_opcode_info(v->pkt.opcode);

        seen += g_str_has_prefix(v->name, "opcode-");
        g_assert_cmpuint(frame_bth_at(v) + info->header_bytes +
                         QEMU_ALIGN_UP(v->pkt.payload_len, 4) +
                         ROCE_ICRC_BYTES, ==, v->len);
    }
    g_assert_cmpuint(known, ==, 26);
    g_assert_cmpuint(seen, ==, known);
}

/* --- Random frames ------------------------------------------------------- */
static void random_bytes(GRand *rand, void *buf, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        ((uint8_t *)buf)[i] = g_rand_int(rand);
    }
}

static RocePath random_path(GRand *rand)
{
    RocePath path = {
        .network = g_rand_int_range(rand, 0, 3),
        .vlan = g_rand_boolean(rand) ? ROCE_NO_VLAN :
                                       g_rand_int_range(rand, 0, 0xffff),
        .traffic_class = g_rand_int(rand),
        .hop_limit = g_rand_int_range(rand, 1, 256),
    };

    random_bytes(rand, path.smac, sizeof(path.smac));
    random_bytes(rand, path.dmac, sizeof(path.dmac));
    random_bytes(rand, path.sgid, sizeof(path.sgid));
    random_bytes(rand, path.dgid, sizeof(path.dgid));
    if (path.network != ROCE_NETWORK_V1) {
        path.sport = g_rand_int(rand);
    }
    if (path.network != ROCE_NETWORK_IPV4) {
        path.flow_label = g_rand_int(rand) & 0xfffff;
        return path;
    }
    memset(path.sgid, 0, 10);
    memset(path.sgid + 10, 0xff, 2);
    memcpy(path.dgid, path.sgid, 12);
    return path;
}

/* Clears the fields for which the opcode of @pkt has no header. */
static void packet_trim(RocePacket *pkt)
{
    uint32_t flags = roce_opcode_info(pkt->opcode)->flags;
    RocePacket all = *pkt;

    *pkt = (RocePacket) {
        .opcode = all.opcode, .solicited = all.solicited,
        .ack_req = all.ack_req, .fecn = all.fecn, .becn = all.becn,
        .pkey = all.pkey, .qpn = all.qpn, .psn = all.psn,
    };
    if (flags & (ROCE_HAS_RETH | ROCE_HAS_ATOMIC)) {
        pkt->va = all.va;
        pkt->rkey = all.rkey;
    }
    pkt->dma_len = flags & ROCE_HAS_RETH ? all.dma_len : 0;
    pkt->swap_add = flags & ROCE_HAS_ATOMIC ? all.swap_add : 0;
    pkt->compare = flags & ROCE_HAS_ATOMIC ? all.compare : 0;
    pkt->original = flags & ROCE_HAS_ATOMIC_ACK ? all.original : 0;
    pkt->syndrome = flags & ROCE_HAS_AETH ? all.syndrome : 0;
    pkt->msn = flags & ROCE_HAS_AETH ? all.msn : 0;
    pkt->qkey = flags & ROCE_HAS_DETH ? all.qkey : 0;
    pkt->src_qpn = flags & ROCE_HAS_DETH ? all.src_qpn : 0;
    pkt->imm = flags & ROCE_HAS_IMM ? all.imm : 0;
    pkt->inv_rkey = flags & ROCE_HAS_IETH ? all.inv_rkey : 0;
    pkt->payload_len = flags & ROCE_HAS_PAYLOAD ? all.payload_len : 0;
}

static RocePacket random_packet(GRand *rand)
{
    RocePacket pkt;

    do {
        random_bytes(rand, &pkt, sizeof(pkt));
    } while (!roce_opcode_info(pkt.opcode)->name);
    pkt.solicited = g_rand_boolean(rand);
    pkt.ack_req = g_rand_boolean(rand);
    pkt.fecn = g_rand_boolean(rand);
    pkt.becn = g_rand_boolean(rand);
    pkt.qpn &= ROCE_QPN_MASK;
    pkt.psn &= ROCE_PSN_MASK;
    pkt.msn &= ROCE_PSN_MASK;
    pkt.src_qpn &= ROCE_QPN_MASK;
    pkt.payload_len = g_rand_int_range(rand, 0, ROCE_MTU_MAX + 1);
    packet_trim(&pkt);
    return pkt;
}

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(1));
    uint8_t frame[ROCE_FRAME_MAX];

    for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
        RocePath path = random_path(rand);
        RocePacket pkt = random_packet(rand);
        size_t len = frame_build(frame, &path, &pkt);

        g_assert_cmpuint(len, <=, sizeof(frame));
        frame_assert_parsed(frame, len, &path, &pkt);
    }
}

/* A value that exceeds its field must not change the next field. */
static void test_wide_fields(void)
{
    const FrameVector *v = frame_vector("document-v1");
    RocePacket wide = v->pkt;
    uint8_t frame[ROCE_FRAME_MAX];

    wide.qpn |= 0xff000000;
    wide.psn |= 0xff000000;
    g_assert_cmpmem(frame, frame_build(frame, &v->path, &wide), v->bytes, v->len);
}

/* The payload that the parser returns for random bytes is inside of the frame. */
static void test_garbage(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(2));
    unsigned good = 0;

    for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
        size_t len = g_rand_int_range(rand, 1, 200);
        g_autofree uint8_t *frame = g_malloc(len);
        const FrameVector *v = &frame_vectors[g_rand_int_range(rand, 0,
                                                               FRAME_VECTORS)];
        RocePath path;
        RocePacket pkt;

        random_bytes(rand, frame, len);
        /* the first bytes are valid */
        memcpy(frame, v->bytes, MIN(len, g_rand_int_range(rand, 0, 80)));
        if (len > HEADERS_MAX + ROCE_ICRC_BYTES && roce_frame_is(frame, len)) {
            stl_le_p(frame + len - ROCE_ICRC_BYTES, roce_icrc(frame, len));
        }
        if (roce_frame_parse(frame, len, &path, &pkt) == ROCE_OK) {
            good++;
            g_assert_true(pkt.payload >= frame);
            g_assert_true(pkt.payload + pkt.payload_len + ROCE_ICRC_BYTES <=
                          frame + len);
        }
    }
    g_test_message("%u of the random frames were good", good);
}

/* --- Details ------------------------------------------------------------- */
/* The parser ignores the UDP checksum. */
static void test_udp_checksum(void)
{
    const FrameVector *v = frame_vector("document-v3");
    uint8_t frame[sizeof(v->bytes)];

    memcpy(frame, v->bytes, v->len);
    stw_be_p(frame + 14 + IPV4_HLEN + 6, 0x1234);
    frame_assert_parsed(frame, v->len, &v->path, &v->pkt);
}

/* A path without a hop limit gets the hop limit 64. */
static void test_hop_limit(void)
{
    uint8_t frame[ROCE_FRAME_MAX];
    RocePacket pkt = { };

    for (unsigned network = 0; network < 3; network++) {
        RocePath path = { .network = network, .vlan = ROCE_NO_VLAN }, got;
        size_t len = frame_build(frame, &path, &pkt);

        g_assert_cmpint(roce_frame_parse(frame, len, &got, &pkt), ==, ROCE_OK);
        g_assert_cmpuint(got.hop_limit, ==, 64);
    }
}

/* --- Arithmetic ---------------------------------------------------------- */
static void test_psn(void)
{
    g_assert_cmphex(roce_psn_add(0xffffff, 1), ==, 0);
    g_assert_cmphex(roce_psn_add(0, -1), ==, 0xffffff);
    g_assert_cmphex(roce_psn_add(0xfffff0, 0x20), ==, 0x10);
    g_assert_cmpint(roce_psn_diff(0, 0xffffff), ==, 1);
    g_assert_cmpint(roce_psn_diff(0xffffff, 0), ==, -1);
    g_assert_cmpint(roce_psn_diff(0x7fffff, 0), ==, 0x7fffff);
    g_assert_cmpint(roce_psn_diff(0x800000, 0), ==, -0x800000);
    g_assert_cmpint(roce_psn_diff(5, 5), ==, 0);
    for (uint32_t psn = 0xfff000; psn != 0x1000; psn = roce_psn_add(psn, 1)) {
        g_assert_cmpint(roce_psn_diff(roce_psn_add(psn, 256), psn), ==, 256);
        g_assert_cmpint(roce_psn_diff(psn, roce_psn_add(psn, 256)), ==, -256);
    }
}

static void test_packets(void)
{
    g_assert_cmpuint(roce_packets(0, 1024), ==, 1);
    g_assert_cmpuint(roce_packets(1, 1024), ==, 1);
    g_assert_cmpuint(roce_packets(1024, 1024), ==, 1);
    g_assert_cmpuint(roce_packets(1025, 1024), ==, 2);
    g_assert_cmpuint(roce_packets(ROCE_MSG_MAX, 256), ==, 1 << 23);
    g_assert_cmpuint(roce_packets(ROCE_MSG_MAX - 1, 4096), ==, 1 << 19);
}

static void test_times(void)
{
    g_assert_cmpint(roce_rnr_ns(0), ==, 655360000);
    g_assert_cmpint(roce_rnr_ns(1), ==, 10000);
    g_assert_cmpint(roce_rnr_ns(12), ==, 640000);
    g_assert_cmpint(roce_rnr_ns(31), ==, 491520000);
    g_assert_cmpint(roce_rnr_ns(32), ==, roce_rnr_ns(0));
    for (unsigned code = 2; code < 30; code++) {
        g_assert_cmpint(roce_rnr_ns(code + 2), ==, 2 * roce_rnr_ns(code));
    }
    g_assert_cmpint(roce_timeout_ns(0), ==, 0);
    g_assert_cmpint(roce_timeout_ns(1), ==, 8192);
    g_assert_cmpint(roce_timeout_ns(14), ==, 67108864);
    g_assert_cmpint(roce_timeout_ns(31), ==, 4096LL << 31);
}

/* --- Cost ---------------------------------------------------------------- */
/* With -m perf: measures the time to build and to parse a full frame. */
static void test_cost(void)
{
    const unsigned rounds = 1000000;
    const FrameVector *v = frame_vector("document-v3");
    RocePacket pkt = v->pkt;
    uint8_t frame[ROCE_FRAME_MAX] = { };
    size_t sizes[] = { 0, 64, 1024, ROCE_MTU_MAX };

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        size_t at = 0, len = 0;
        double built;

        g_test_timer_start();
        for (unsigned n = 0; n < rounds; n++) {
            at = roce_frame_begin(frame, &v->path, &pkt);
            len = roce_frame_end(frame, at, sizes[i]);
        }
        built = g_test_timer_elapsed();
        g_test_timer_start();
        for (unsigned n = 0; n < rounds; n++) {
            g_assert_cmpint(frame_parse(frame, len), ==, ROCE_OK);
        }
        g_test_message("%zu bytes: %.0f ns to build, %.0f ns to parse",
                       sizes[i], built * 1e9 / rounds,
                       g_test_timer_elapsed() * 1e9 / rounds);
    }
}

static void add_vector_tests(const FrameVector *v)
{
    static const struct {
        const char *name;
        GTestDataFunc fn;
    } tests[] = {
        { "encode", test_encode }, { "decode", test_decode },
        { "truncate", test_truncate }, { "flip", test_flip },
        { "grh", test_grh },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(tests); i++) {
        /* The vectors of the document are a row of the acceptance list [T §11]. */
        const char *row = g_str_has_prefix(v->name, "document-") ? "-a06" : "";
        g_autofree char *path = g_strdup_printf("/pvrdma/roce/%s-%s%s",
                                                tests[i].name, v->name, row);

        g_test_add_data_func(path, v, tests[i].fn);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    frame_vectors_init();
    for (unsigned i = 0; i < FRAME_VECTORS; i++) {
        add_vector_tests(&frame_vectors[i]);
    }
    g_test_add_func("/pvrdma/roce/opcodes", test_opcodes);
    g_test_add_func("/pvrdma/roce/random", test_random);
    g_test_add_func("/pvrdma/roce/wide-fields", test_wide_fields);
    g_test_add_func("/pvrdma/roce/garbage", test_garbage);
    g_test_add_func("/pvrdma/roce/udp-checksum", test_udp_checksum);
    g_test_add_func("/pvrdma/roce/hop-limit", test_hop_limit);
    g_test_add_func("/pvrdma/roce/psn", test_psn);
    g_test_add_func("/pvrdma/roce/packets", test_packets);
    g_test_add_func("/pvrdma/roce/times", test_times);
    if (g_test_perf()) {
        g_test_add_func("/pvrdma/roce/cost", test_cost);
    }
    return g_test_run();
}
