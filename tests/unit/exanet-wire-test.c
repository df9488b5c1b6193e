/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ExaNet packet codec against vectors that were made without it, against
 * itself, and against bytes that are no packets.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <libdeflate.h>
#include "hw/rnic/exanet/wire.h"
#include "../vectors/exanet-wire.h"

#define RANDOM_ROUNDS 20000

static void fill_payload(uint8_t *buf, uint64_t va, unsigned size)
{
    uint8_t *payload = exanet_packet_payload(buf, va);

    for (unsigned i = 0; i < size; i++) {
        payload[i] = i + 1;
    }
}

static unsigned encode(uint8_t *buf, const ExanetPacket *pkt)
{
    if (pkt->type == EXANET_TYPE_ACK) {
        exanet_ack_encode(buf, pkt);
        return 1;
    }
    return exanet_packet_encode(buf, pkt);
}

static void assert_same(const ExanetPacket *a, const ExanetPacket *b)
{
    g_assert_cmphex(a->type, ==, b->type);
    g_assert_cmphex(a->vc, ==, b->vc);
    g_assert_cmphex(a->dst, ==, b->dst);
    g_assert_cmphex(a->pdid, ==, b->pdid);
    g_assert_cmphex(a->tid, ==, b->tid);
    g_assert_cmphex(a->seq, ==, b->seq);
    if (a->type == EXANET_TYPE_ACK) {
        g_assert_cmphex(a->small, ==, b->small);
        g_assert_cmphex(a->resp, ==, b->resp);
        return;
    }
    g_assert_cmphex(a->va, ==, b->va);
    g_assert_cmphex(a->size, ==, b->size);
    g_assert_cmphex(a->path, ==, b->path);
    g_assert_cmphex(a->src, ==, b->src);
    g_assert_cmphex(a->epoch, ==, b->epoch);
    g_assert_cmphex(a->user, ==, b->user);
    g_assert_cmphex(a->ttl, ==, b->ttl);
    g_assert_cmpint(a->first, ==, b->first);
    g_assert_cmpint(a->last, ==, b->last);
    g_assert_cmpint(a->notify, ==, b->notify);
}

/* Decodes what must be a packet of exactly @words words. */
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
    g_assert_cmphex(libdeflate_crc32(0, "123456789", 9), ==, 0xcbf43926);
    g_assert_cmpuint(exanet_payload_words(0, 0), ==, 0);
    g_assert_cmpuint(exanet_payload_words(0, 1), ==, 1);
    g_assert_cmpuint(exanet_payload_words(15, 2), ==, 2);
    g_assert_cmpuint(exanet_payload_words(0, 256), ==, 16);
}

static void test_vector_encode(gconstpointer opaque)
{
    typeof(&exanet_vectors[0]) v = opaque;
    /* stale bytes in the buffer must not reach the wire */
    uint8_t buf[EXANET_PACKET_BYTES];

    memset(buf, 0x5a, sizeof(buf));
    if (v->pkt.type != EXANET_TYPE_ACK) {
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
    if (pkt.type == EXANET_TYPE_ACK) {
        return;
    }
    g_assert_false(pkt.bad_payload);
    for (unsigned i = 0; i < pkt.size; i++) {
        g_assert_cmphex(pkt.payload[i], ==, (uint8_t)(i + 1));
    }
}

/*
 * Every single-bit error is seen, in the part where it is, except in the fields
 * that switches rewrite.
 */
static void flip_header(uint8_t *buf, unsigned bit, bool is_ack)
{
    bool rewritten = bit < 5 || (bit >= 109 && bit < 112);
    ExanetWireStatus status;
    unsigned words;

    buf[bit / 8] ^= 1 << (bit % 8);
    words = exanet_packet_words(buf, &status);
    if (rewritten) {
        g_assert_cmpint(status, ==, EXANET_WIRE_OK);
        g_assert_cmpuint(words, ==, is_ack ? 1 : 4);
    } else {
        g_assert_cmpint(status, ==, EXANET_WIRE_BAD_HEADER);
        g_assert_cmpuint(words, ==, 0);
    }
    buf[bit / 8] ^= 1 << (bit % 8);
}

static void test_flip_header(void)
{
    uint8_t buf[EXANET_PACKET_BYTES];

    for (unsigned n = 0; n <= 2; n += 2) {
        memcpy(buf, exanet_vectors[n].bytes, sizeof(buf));
        for (unsigned bit = 0; bit < 128; bit++) {
            flip_header(buf, bit, n == 2);
        }
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

static void assert_malformed(const ExanetPacket *pkt)
{
    /* larger than any size that the encoder may be asked to pad */
    g_autofree uint8_t *buf = g_malloc0(1 << 15);
    ExanetWireStatus status;

    exanet_packet_encode(buf, pkt);
    g_assert_cmpuint(exanet_packet_words(buf, &status), ==, 0);
    g_assert_cmpint(status, ==, EXANET_WIRE_MALFORMED);
}

static void test_malformed(void)
{
    static const uint8_t known[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
        EXANET_TYPE_NOTIFY,
    };

    for (unsigned type = 0; type < 32; type++) {
        ExanetPacket pkt = { .type = type, .size = 16 };

        if (!memchr(known, type, sizeof(known))) {
            assert_malformed(&pkt);     /* an ack has no payload either */
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
        assert_malformed(&(ExanetPacket) { .type = known[i] });
        assert_malformed(&(ExanetPacket) { .type = known[i], .size = 257 });
        assert_malformed(&(ExanetPacket) { .type = known[i], .size = 0x3fff });
        assert_malformed(&(ExanetPacket) {
            .type = known[i], .va = 1, .size = 256 });
        assert_malformed(&(ExanetPacket) {
            .type = known[i], .va = 0xff, .size = 2 });
    }
}

static ExanetPacket random_packet(GRand *rand)
{
    static const uint8_t types[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
        EXANET_TYPE_NOTIFY, EXANET_TYPE_ACK,
    };
    ExanetPacket p = {
        .type = types[g_rand_int_range(rand, 0, ARRAY_SIZE(types))],
        .vc = g_rand_int(rand) & 0x1f,
        .dst = g_rand_int(rand) & EXANET_COORD,
        .tid = g_rand_int(rand) & 0x3fff,
    };

    if (p.type == EXANET_TYPE_ACK) {
        p.pdid = g_rand_int(rand) & 0xf;
        p.seq = g_rand_int(rand) & 0xfff;
        p.small = g_rand_int(rand) & 0x3ff;
        p.resp = g_rand_int(rand) & 0xf;
        return p;
    }
    p.va = ((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)) &
           EXANET_GVA_VA;
    p.size = g_rand_int_range(rand, 1,
                              EXANET_MTU - (p.va & (EXANET_MTU - 1)) + 1);
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

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    uint8_t buf[EXANET_PACKET_BYTES];

    for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
        ExanetPacket in = random_packet(rand), out;
        unsigned words;

        memset(buf, g_rand_int(rand), sizeof(buf));
        if (in.type != EXANET_TYPE_ACK) {
            fill_payload(buf, in.va, in.size);
        }
        words = encode(buf, &in);
        g_assert_cmpint(decode(buf, words, &out), ==, EXANET_WIRE_OK);
        assert_same(&out, &in);
        if (in.type != EXANET_TYPE_ACK) {
            g_assert_false(out.bad_payload);
            g_assert_true(out.payload == exanet_packet_payload(buf, in.va));
            g_assert_cmphex(out.payload[in.size - 1], ==, (uint8_t)in.size);
        }
    }
}

/* What the codec says about arbitrary bytes must stay inside the buffer. */
static void test_garbage(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(2);
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
        g_assert_true(words != 2);
        g_assert_true((words != 0) == (status == EXANET_WIRE_OK));
        if (!words) {
            continue;
        }
        packets++;
        memcpy(buf, header, sizeof(header));
        memset(buf + sizeof(header), g_rand_int(rand),
               sizeof(buf) - sizeof(header));
        if (exanet_packet_decode(buf, words, &pkt) == EXANET_WIRE_OK &&
            words > 1) {
            g_assert_true(pkt.payload >= buf + EXANET_WORD_BYTES);
            g_assert_true(pkt.payload + pkt.size <=
                          buf + (words - 1) * EXANET_WORD_BYTES);
        }
    }
    g_test_message("%u of the random headers were packets", packets);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/wire/t09-check-values", test_check_values);
    for (unsigned i = 0; i < ARRAY_SIZE(exanet_vectors); i++) {
        g_autofree char *enc = g_strdup_printf("/exanet/wire/t09-encode/%s",
                                               exanet_vectors[i].name);
        g_autofree char *dec = g_strdup_printf("/exanet/wire/t09-decode/%s",
                                               exanet_vectors[i].name);

        g_test_add_data_func(enc, &exanet_vectors[i], test_vector_encode);
        g_test_add_data_func(dec, &exanet_vectors[i], test_vector_decode);
    }
    g_test_add_func("/exanet/wire/t09-flip-header", test_flip_header);
    g_test_add_func("/exanet/wire/t09-flip-payload", test_flip_payload);
    g_test_add_func("/exanet/wire/t09-flip-footer", test_flip_footer);
    g_test_add_func("/exanet/wire/malformed", test_malformed);
    g_test_add_func("/exanet/wire/random", test_random);
    g_test_add_func("/exanet/wire/garbage", test_garbage);
    return g_test_run();
}
