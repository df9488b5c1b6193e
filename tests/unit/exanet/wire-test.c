/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ExaNet packet codec against vectors of an independent script, against itself, and
 * against bytes that are no packets.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/exanet/base/wire.h"
#include "exanet-vectors.h"
#include "../../seed.h"

#define RANDOM_ROUNDS 20000

static void fill_payload(uint8_t *buf, uint64_t va, unsigned size)
{
    uint8_t *payload = exanet_packet_payload(buf, va);

    for (unsigned i = 0; i < size; i++) {
        payload[i] = i + 1;
    }
}

/* Returns true if @pkt has a payload.  The size of a load is that of its response. */
static bool has_payload(const ExanetPacket *pkt)
{
    return pkt->size && pkt->type != EXANET_TYPE_AXI_READ;
}

static unsigned encode(uint8_t *buf, const ExanetPacket *pkt)
{
    if (pkt->type == EXANET_TYPE_ACK) {
        exanet_ack_encode(buf, pkt);
        return 1;
    }
    if (pkt->type == EXANET_TYPE_FLOW_RATE) {
        exanet_flow_rate_encode(buf, pkt);
        return 1;
    }
    return exanet_packet_encode(buf, pkt);
}

/* Compares all fields, because fields that a type lacks are zero on both sides. */
static void assert_same(const ExanetPacket *a, const ExanetPacket *b)
{
    g_assert_cmphex(a->type, ==, b->type);
    g_assert_cmphex(a->vc, ==, b->vc);
    g_assert_cmphex(a->dst, ==, b->dst);
    g_assert_cmphex(a->pdid, ==, b->pdid);
    g_assert_cmphex(a->tid, ==, b->tid);
    g_assert_cmphex(a->seq, ==, b->seq);
    g_assert_cmphex(a->path, ==, b->path);
    g_assert_cmphex(a->epoch, ==, b->epoch);
    g_assert_cmphex(a->small, ==, b->small);
    g_assert_cmphex(a->resp, ==, b->resp);
    g_assert_cmphex(a->hops, ==, b->hops);
    g_assert_cmphex(a->flow_dst, ==, b->flow_dst);
    g_assert_cmphex(a->current, ==, b->current);
    g_assert_cmphex(a->desired, ==, b->desired);
    g_assert_cmphex(a->va, ==, b->va);
    g_assert_cmphex(a->size, ==, b->size);
    g_assert_cmphex(a->src, ==, b->src);
    g_assert_cmphex(a->user, ==, b->user);
    g_assert_cmphex(a->ttl, ==, b->ttl);
    g_assert_cmpint(a->first, ==, b->first);
    g_assert_cmpint(a->last, ==, b->last);
    g_assert_cmpint(a->notify, ==, b->notify);
    g_assert_cmpint(a->no_crc, ==, b->no_crc);
}

/* Decodes a packet; asserts that its header is valid and that it has @words words. */
static ExanetWireStatus decode(const uint8_t *buf, unsigned words,
                               ExanetPacket *pkt)
{
    ExanetWireStatus status;

    g_assert_cmpuint(exanet_packet_words(buf, &status), ==, words);
    g_assert_cmpint(status, ==, EXANET_WIRE_OK);
    return exanet_packet_decode(buf, words, pkt);
}

static void test_check_values(void)
{
    g_assert_cmpuint(exanet_payload_words(0, 0), ==, 0);
    g_assert_cmpuint(exanet_payload_words(0, 1), ==, 1);
    g_assert_cmpuint(exanet_payload_words(15, 2), ==, 2);
    g_assert_cmpuint(exanet_payload_words(0, 256), ==, 16);
}

/*
 * Each packet type has a vector, so a new type must appear in the script, which has its
 * own list of types.
 */
static void test_vector_types(void)
{
    uint32_t types = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(exanet_vectors); i++) {
        types |= 1u << exanet_vectors[i].pkt.type;
    }
#define TYPE_BIT(name, value, ...) | 1u << (value)
    g_assert_cmphex(types, ==, 0 EXANET_TYPES(TYPE_BIT));
#undef TYPE_BIT
}

static void test_vector_encode(gconstpointer opaque)
{
    typeof(&exanet_vectors[0]) v = opaque;
    /* stale bytes in the buffer must not reach the wire */
    uint8_t buf[EXANET_PACKET_BYTES];

    memset(buf, 0x5a, sizeof(buf));
    if (has_payload(&v->pkt)) {
        fill_payload(buf, v->pkt.va, v->pkt.size);
    }
    g_assert_cmpuint(encode(buf, &v->pkt), ==, v->words);
    g_assert_cmpmem(buf, v->words * EXANET_WORD_BYTES,
                    v->bytes, v->words * EXANET_WORD_BYTES);
}

static void test_vector_decode(gconstpointer opaque)
{
    typeof(&exanet_vectors[0]) v = opaque;
    ExanetPacket pkt;

    g_assert_cmpint(decode(v->bytes, v->words, &pkt), ==, EXANET_WIRE_OK);
    assert_same(&pkt, &v->pkt);
    if (v->words == 1) {
        return;
    }
    g_assert_false(pkt.bad_payload);
    for (unsigned i = 0; has_payload(&pkt) && i < pkt.size; i++) {
        g_assert_cmphex(pkt.payload[i], ==, (uint8_t)(i + 1));
    }
}

/* Returns true if switches rewrite bit @bit of the header. */
static bool is_rewritten(unsigned type, unsigned bit)
{
    switch (type) {
    case EXANET_TYPE_FLOW_RATE:
        return bit < 5 || (bit >= 48 && bit <= 53);
    case EXANET_TYPE_ACK:
        if (bit >= 90 && bit <= 95) {
            return true;
        }
        /* fall through */
    default:
        return bit < 5 || (bit >= 109 && bit <= 111);
    }
}

/*
 * Each single-bit error is detected in its part of the packet, except in fields that
 * switches rewrite.
 */
static void test_flip_header(gconstpointer opaque)
{
    typeof(&exanet_vectors[0]) v = opaque;

    for (unsigned bit = 0; bit < 128; bit++) {
        bool rewritten = is_rewritten(v->pkt.type, bit);
        uint8_t buf[EXANET_PACKET_BYTES];
        ExanetWireStatus status;

        memcpy(buf, v->bytes, sizeof(buf));
        buf[bit / 8] ^= 1 << (bit % 8);
        g_assert_cmpuint(exanet_packet_words(buf, &status), ==,
                         rewritten ? v->words : 0);
        g_assert_cmpint(status, ==, rewritten ? EXANET_WIRE_OK :
                                                EXANET_WIRE_BAD_HEADER);
    }
}

static void test_flip_payload(void)
{
    uint8_t buf[EXANET_PACKET_BYTES];
    ExanetPacket pkt;

    memcpy(buf, exanet_vectors[0].bytes, sizeof(buf));
    for (unsigned bit = 128; bit < 384; bit++) {
        buf[bit / 8] ^= 1 << (bit % 8);
        g_assert_cmpint(decode(buf, 4, &pkt), ==, EXANET_WIRE_OK);
        g_assert_true(pkt.bad_payload);
        assert_same(&pkt, &exanet_vectors[0].pkt);
        buf[bit / 8] ^= 1 << (bit % 8);
    }
}

static void test_flip_footer(void)
{
    uint8_t buf[EXANET_PACKET_BYTES];
    ExanetPacket pkt;

    memcpy(buf, exanet_vectors[0].bytes, sizeof(buf));
    for (unsigned bit = 0; bit < 128; bit++) {
        ExanetWireStatus status;

        buf[48 + bit / 8] ^= 1 << (bit % 8);
        status = decode(buf, 4, &pkt);
        if (bit >= 61 && bit < 76) {
            g_assert_cmpint(status, ==, EXANET_WIRE_OK);    /* TTL */
            g_assert_cmphex(pkt.ttl, ==, 0x7fff ^ (1 << (bit - 61)));
        } else if (bit < 96) {
            g_assert_cmpint(status, ==, EXANET_WIRE_BAD_FOOTER);
        } else {
            g_assert_cmpint(status, ==, EXANET_WIRE_OK);
            g_assert_true(pkt.bad_payload);
        }
        buf[48 + bit / 8] ^= 1 << (bit % 8);
    }
}

/*
 * A packet without a payload CRC: no damage of the payload is found.  With the CRC, the
 * packet is the same as if it had been encoded with the CRC.
 */
static void test_no_crc(void)
{
    ExanetPacket pkt = { .size = 256, .dst = 0x17021, .ttl = 7, .path = 5, .vc = 3 };
    uint8_t with[EXANET_PACKET_BYTES], without[EXANET_PACKET_BYTES];
    ExanetPacket got;

    fill_payload(with, 0, 256);
    encode(with, &pkt);
    pkt.no_crc = true;
    fill_payload(without, 0, 256);
    encode(without, &pkt);
    g_assert_false(exanet_packet_no_crc(with, EXANET_PACKET_WORDS));
    g_assert_true(exanet_packet_no_crc(without, EXANET_PACKET_WORDS));
    without[100] ^= 1;
    g_assert_cmpint(decode(without, EXANET_PACKET_WORDS, &got), ==, EXANET_WIRE_OK);
    g_assert_true(got.no_crc);
    g_assert_false(got.bad_payload);
    without[100] ^= 1;
    exanet_packet_crc_add(without, EXANET_PACKET_WORDS);
    g_assert_cmpmem(without, sizeof(without), with, sizeof(with));
    /* flow-rate packets have another field at the place of the bit */
    for (unsigned i = 0; i < ARRAY_SIZE(exanet_vectors); i++) {
        g_assert_cmpint(exanet_packet_no_crc(exanet_vectors[i].bytes,
                                             exanet_vectors[i].words), ==,
                        exanet_vectors[i].pkt.no_crc);
    }
}

static void assert_malformed(const ExanetPacket *pkt)
{
    /* room for the payload of the largest invalid size */
    g_autofree uint8_t *buf = g_malloc0(1 << 15);
    ExanetWireStatus status;

    exanet_packet_encode(buf, pkt);
    g_assert_cmpuint(exanet_packet_words(buf, &status), ==, 0);
    g_assert_cmpint(status, ==, EXANET_WIRE_MALFORMED);
}

static void test_malformed(void)
{
    /* types with a size, and whether the size may be 0 */
    static const struct {
        uint8_t type;
        bool zero;
    } known[] = {
        { EXANET_TYPE_WRITE }, { EXANET_TYPE_READ_REQ }, { EXANET_TYPE_CONTROL },
        { EXANET_TYPE_NOTIFY }, { EXANET_TYPE_AXI_READ },
        { EXANET_TYPE_AXI_WRITE }, { EXANET_TYPE_AXI_RESPONSE, true },
    };
    uint32_t sized = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
        unsigned type = known[i].type;

        sized |= 1u << type;
        if (!known[i].zero) {
            assert_malformed(&(ExanetPacket) { .type = type });
        }
        assert_malformed(&(ExanetPacket) { .type = type, .size = 257 });
        assert_malformed(&(ExanetPacket) { .type = type, .size = 0x3fff });
        assert_malformed(&(ExanetPacket) { .type = type, .va = 1, .size = 256 });
        assert_malformed(&(ExanetPacket) { .type = type, .va = 0xff, .size = 2 });
    }
    for (unsigned type = 0; type < 32; type++) {
        /* acks and releases have no payload; a flow-rate packet has no size */
        if (!(sized & 1u << type) && type != EXANET_TYPE_FLOW_RATE) {
            assert_malformed(&(ExanetPacket) { .type = type, .size = 16 });
            assert_malformed(&(ExanetPacket) { .type = type, .size = 1 });
        }
    }
}

/* Loads, stores and responses of each valid size at each offset. */
static void test_axi_sizes(gconstpointer opaque)
{
    unsigned type = GPOINTER_TO_UINT(opaque);
    uint8_t buf[EXANET_PACKET_BYTES];

    for (unsigned at = 0; at < EXANET_MTU; at++) {
        for (unsigned size = 0; at + size <= EXANET_MTU; size++) {
            ExanetPacket pkt = { .type = type, .va = at, .size = size }, out;
            unsigned words = 2;

            if (!size && type != EXANET_TYPE_AXI_RESPONSE) {
                continue;
            }
            if (has_payload(&pkt)) {
                fill_payload(buf, at, size);
                words += (at % EXANET_WORD_BYTES + size + EXANET_WORD_BYTES - 1) /
                         EXANET_WORD_BYTES;
            }
            g_assert_cmpuint(encode(buf, &pkt), ==, words);
            g_assert_cmpint(decode(buf, words, &out), ==, EXANET_WIRE_OK);
            assert_same(&out, &pkt);
            g_assert_false(out.bad_payload);
        }
    }
}

static void random_header_only(GRand *rand, ExanetPacket *p)
{
    p->small = g_rand_int(rand) & 0x3ff;
    p->hops = g_rand_int(rand) & EXANET_HOPS_MAX;
    if (p->type == EXANET_TYPE_FLOW_RATE) {
        p->pdid = g_rand_int(rand);
        p->flow_dst = g_rand_int(rand) & EXANET_COORD;
        p->current = g_rand_int(rand);
        p->desired = g_rand_int(rand);
        return;
    }
    p->pdid = g_rand_int(rand) & 0xf;
    p->tid = g_rand_int(rand) & 0x3fff;
    p->seq = g_rand_int(rand) & 0xfff;
    p->resp = g_rand_int(rand) & 0xf;
    p->epoch = g_rand_int(rand);
    p->path = g_rand_int(rand) & 7;
}

static ExanetPacket random_packet(GRand *rand)
{
    static const uint8_t types[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
        EXANET_TYPE_NOTIFY, EXANET_TYPE_RELEASE, EXANET_TYPE_ACK,
        EXANET_TYPE_FLOW_RATE, EXANET_TYPE_AXI_READ, EXANET_TYPE_AXI_WRITE,
        EXANET_TYPE_AXI_RESPONSE,
    };
    ExanetPacket p = {
        .type = types[g_rand_int_range(rand, 0, ARRAY_SIZE(types))],
        .vc = g_rand_int(rand) & 0x1f,
        .dst = g_rand_int(rand) & EXANET_COORD,
    };

    if (EXANET_TYPE_SHORT(p.type)) {
        random_header_only(rand, &p);
        return p;
    }
    p.tid = g_rand_int(rand) & 0x3fff;
    p.va = ((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)) &
           EXANET_GVA_VA;
    if (p.type == EXANET_TYPE_RELEASE) {
        p.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    } else {
        p.size = g_rand_int_range(rand, 1, EXANET_MTU -
                                  (p.va & (EXANET_MTU - 1)) + 1);
    }
    p.pdid = g_rand_int(rand);
    p.src = g_rand_int(rand) & EXANET_COORD;
    p.seq = g_rand_int(rand) & 0x3fff;
    p.user = g_rand_int(rand) & 0xfff;
    p.ttl = g_rand_int(rand) & EXANET_TTL_MAX;
    p.path = g_rand_int(rand) & 7;
    p.epoch = g_rand_int(rand);
    p.first = g_rand_boolean(rand);
    p.last = g_rand_boolean(rand);
    p.notify = g_rand_boolean(rand);
    return p;
}

/* Checks what a switch reads of a packet, and that its changes keep the packet valid. */
static void check_switch(GRand *rand, uint8_t *buf, unsigned words,
                         ExanetPacket *pkt)
{
    bool has_footer = words > 1;
    ExanetPacket out;
    bool passed;

    g_assert_cmphex(exanet_packet_dst(buf), ==, pkt->dst);
    g_assert_cmphex(exanet_packet_type(buf), ==, pkt->type);
    g_assert_cmphex(exanet_packet_path(buf), ==, pkt->path);
    pkt->vc = g_rand_int_range(rand, 0, EXANET_VCS);
    exanet_packet_vc_set(buf, pkt->vc);
    passed = exanet_packet_hop(buf, words);
    g_assert_cmpint(passed, ==, has_footer ? pkt->ttl > 0 :
                                             pkt->hops < EXANET_HOPS_MAX);
    pkt->ttl -= has_footer && passed;
    pkt->hops += !has_footer && passed;
    g_assert_cmpint(decode(buf, words, &out), ==, EXANET_WIRE_OK);
    g_assert_false(out.bad_payload);
    assert_same(&out, pkt);
}

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(1));
    uint8_t buf[EXANET_PACKET_BYTES];

    for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
        ExanetPacket in = random_packet(rand), out;
        unsigned words;

        memset(buf, g_rand_int(rand), sizeof(buf));
        if (has_payload(&in)) {
            fill_payload(buf, in.va, in.size);
        }
        words = encode(buf, &in);
        g_assert_cmpint(decode(buf, words, &out), ==, EXANET_WIRE_OK);
        assert_same(&out, &in);
        if (words > 2) {
            g_assert_false(out.bad_payload);
            g_assert_true(out.payload == exanet_packet_payload(buf, in.va));
            g_assert_cmphex(out.payload[in.size - 1], ==, (uint8_t)in.size);
        }
        check_switch(rand, buf, words, &in);
    }
}

/* A packet passes as many switches as its hop limit allows, and no more. */
static void test_hops(gconstpointer opaque)
{
    typeof(&exanet_vectors[0]) v = opaque;
    unsigned may = v->words > 1 ? v->pkt.ttl : EXANET_HOPS_MAX - v->pkt.hops;
    uint8_t buf[EXANET_PACKET_BYTES], last[EXANET_PACKET_BYTES];
    ExanetPacket pkt;

    memcpy(buf, v->bytes, sizeof(buf));
    for (unsigned hop = 0; hop < may; hop++) {
        g_assert_true(exanet_packet_hop(buf, v->words));
    }
    memcpy(last, buf, sizeof(buf));
    g_assert_false(exanet_packet_hop(buf, v->words));
    g_assert_cmpmem(buf, sizeof(buf), last, sizeof(last));
    g_assert_cmpint(decode(buf, v->words, &pkt), ==, EXANET_WIRE_OK);
    g_assert_cmphex(pkt.ttl, ==, 0);
    g_assert_cmphex(pkt.hops, ==, v->words > 1 ? 0 : EXANET_HOPS_MAX);
}

/* The payload that the codec returns for random bytes is inside of the buffer. */
static void test_garbage(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(2));
    unsigned packets = 0;

    for (unsigned round = 0; round < 200 * RANDOM_ROUNDS; round++) {
        uint64_t header[2] = {
            (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand),
            (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand),
        };
        ExanetWireStatus status;
        unsigned words = exanet_packet_words((uint8_t *)header, &status);
        uint8_t buf[EXANET_PACKET_BYTES];
        ExanetPacket pkt;

        g_assert_cmpuint(words, <=, EXANET_PACKET_WORDS);
        if (words == 2) {
            unsigned type = exanet_packet_type((uint8_t *)header);

            g_assert_true(type == EXANET_TYPE_RELEASE ||
                          type == EXANET_TYPE_AXI_READ ||
                          type == EXANET_TYPE_AXI_RESPONSE);
        }
        g_assert_true((words != 0) == (status == EXANET_WIRE_OK));
        if (!words) {
            continue;
        }
        packets++;
        memcpy(buf, header, sizeof(header));
        memset(buf + sizeof(header), g_rand_int(rand),
               sizeof(buf) - sizeof(header));
        if (exanet_packet_decode(buf, words, &pkt) == EXANET_WIRE_OK &&
            words > 1 && has_payload(&pkt)) {
            g_assert_true(pkt.payload >= buf + EXANET_WORD_BYTES);
            g_assert_true(pkt.payload + pkt.size <=
                          buf + (words - 1) * EXANET_WORD_BYTES);
        }
    }
    g_test_message("%u of the random headers were packets", packets);
}

/* Adds the tests that run on one packet of each format. */
static void add_flips(typeof(&exanet_vectors[0]) v)
{
    static const char *const names[] = {
        "document", "document-ack", "ack-far", "release", "flow-rate", "load",
        "store", "response", "response-data",
    };

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (g_str_equal(v->name, names[i])) {
            g_autofree char *flip = g_strdup_printf(
                "/exanet/wire/flip-header-%s-t09", v->name);
            g_autofree char *hops = g_strdup_printf(
                "/exanet/wire/hops-%s", v->name);

            g_test_add_data_func(flip, v, test_flip_header);
            g_test_add_data_func(hops, v, test_hops);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/wire/check-values-t09", test_check_values);
    g_test_add_func("/exanet/wire/vector-types", test_vector_types);
    for (unsigned i = 0; i < ARRAY_SIZE(exanet_vectors); i++) {
        g_autofree char *enc = g_strdup_printf("/exanet/wire/encode-%s-t09",
                                               exanet_vectors[i].name);
        g_autofree char *dec = g_strdup_printf("/exanet/wire/decode-%s-t09",
                                               exanet_vectors[i].name);

        g_test_add_data_func(enc, &exanet_vectors[i], test_vector_encode);
        g_test_add_data_func(dec, &exanet_vectors[i], test_vector_decode);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(exanet_vectors); i++) {
        add_flips(&exanet_vectors[i]);
    }
    g_test_add_func("/exanet/wire/flip-payload-t09", test_flip_payload);
    g_test_add_func("/exanet/wire/flip-footer-t09", test_flip_footer);
    g_test_add_func("/exanet/wire/no-crc", test_no_crc);
    g_test_add_func("/exanet/wire/malformed", test_malformed);
    g_test_add_data_func("/exanet/wire/sizes-load",
                         GUINT_TO_POINTER(EXANET_TYPE_AXI_READ), test_axi_sizes);
    g_test_add_data_func("/exanet/wire/sizes-store",
                         GUINT_TO_POINTER(EXANET_TYPE_AXI_WRITE), test_axi_sizes);
    g_test_add_data_func("/exanet/wire/sizes-response",
                         GUINT_TO_POINTER(EXANET_TYPE_AXI_RESPONSE), test_axi_sizes);
    g_test_add_func("/exanet/wire/random", test_random);
    g_test_add_func("/exanet/wire/garbage", test_garbage);
    return g_test_run();
}
