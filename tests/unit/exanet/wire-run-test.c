/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The codec of runs against vectors of an independent script, against the codec of
 * packets, and against bytes that are no runs.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/exanet/base/wire.h"
#include "exanet-vectors.h"
#include "../../seed.h"

#define RUN_BYTES ((EXANET_RUN_MAX * EXANET_PAYLOAD_WORDS + EXANET_RUN_EXTRA) * \
                   EXANET_WORD_BYTES)
#define RANDOM_ROUNDS 20000

static void fill_payload(uint8_t *buf, unsigned packets)
{
    for (unsigned i = 0; i < packets * EXANET_MTU; i++) {
        exanet_run_payload(buf)[i] = i + 1;
    }
}

/* Decodes the run at @buf; asserts that the run is valid and has @packets packets. */
static ExanetWireStatus decode(const uint8_t *buf, unsigned packets, ExanetPacket *run)
{
    ExanetWireStatus status;

    g_assert_true(exanet_run_word(buf));
    g_assert_cmpuint(exanet_run_packets(buf, &status), ==, packets);
    g_assert_cmpint(status, ==, EXANET_WIRE_OK);
    g_assert_true(exanet_run_valid(buf, packets));
    return exanet_run_decode(buf, run);
}

static void test_vector_encode(gconstpointer opaque)
{
    typeof(&exanet_run_vectors[0]) v = opaque;
    g_autofree uint8_t *buf = g_malloc(RUN_BYTES);

    /* stale bytes in the buffer must not reach the wire */
    memset(buf, 0x5a, RUN_BYTES);
    fill_payload(buf, v->pkt.packets);
    g_assert_cmpuint(exanet_run_encode(buf, &v->pkt), ==, v->words);
    g_assert_cmpuint(exanet_run_words(v->pkt.packets), ==, v->words);
    g_assert_cmpmem(buf, v->words * EXANET_WORD_BYTES,
                    v->bytes, v->words * EXANET_WORD_BYTES);
}

static void test_vector_decode(gconstpointer opaque)
{
    typeof(&exanet_run_vectors[0]) v = opaque;
    ExanetPacket run;

    g_assert_cmpint(decode(v->bytes, v->pkt.packets, &run), ==, EXANET_WIRE_OK);
    g_assert_false(run.bad_payload);
    g_assert_cmphex(run.va, ==, v->pkt.va);
    g_assert_cmphex(run.dst, ==, v->pkt.dst);
    g_assert_cmphex(run.src, ==, v->pkt.src);
    g_assert_cmphex(run.pdid, ==, v->pkt.pdid);
    g_assert_cmphex(run.tid, ==, v->pkt.tid);
    g_assert_cmphex(run.seq, ==, v->pkt.seq);
    g_assert_cmphex(run.ttl, ==, v->pkt.ttl);
    g_assert_cmphex(run.epoch, ==, v->pkt.epoch);
    g_assert_cmpuint(run.vc, ==, v->pkt.vc);
    g_assert_cmpuint(run.path, ==, v->pkt.path);
    g_assert_cmpuint(run.size, ==, EXANET_MTU);
    g_assert_cmpuint(run.packets, ==, v->pkt.packets);
    g_assert_cmpint(run.first, ==, v->pkt.first);
    g_assert_cmpint(run.last, ==, v->pkt.last);
    g_assert_cmpint(run.notify, ==, v->pkt.notify);
    g_assert_cmpint(run.no_crc, ==, v->pkt.no_crc);
    g_assert_true(run.payload == v->bytes + 2 * EXANET_WORD_BYTES);
}

/* Packet n of a run is bit for bit the packet that is encoded without a run. */
static void test_vector_split(gconstpointer opaque)
{
    typeof(&exanet_run_vectors[0]) v = opaque;
    ExanetPacket run;

    g_assert_cmpint(decode(v->bytes, v->pkt.packets, &run), ==, EXANET_WIRE_OK);
    for (unsigned n = 0; n < run.packets; n++) {
        uint8_t split[EXANET_PACKET_BYTES], alone[EXANET_PACKET_BYTES];
        ExanetPacket pkt = v->pkt;

        pkt.va += n * EXANET_MTU;
        pkt.first = v->pkt.first && n == 0;
        pkt.last = v->pkt.last && n == run.packets - 1;
        for (unsigned i = 0; i < EXANET_MTU; i++) {
            exanet_packet_payload(alone, pkt.va)[i] = n * EXANET_MTU + i + 1;
        }
        g_assert_cmpuint(exanet_packet_encode(alone, &pkt), ==, EXANET_PACKET_WORDS);
        exanet_run_packet(&run, n, split);
        g_assert_cmpmem(split, sizeof(split), alone, sizeof(alone));
    }
}

/*
 * Adding the payload CRC to a run without one gives the same bytes as encoding the run
 * with the CRC.
 */
static void test_no_crc(void)
{
    g_autofree uint8_t *with = g_malloc(RUN_BYTES), *without = g_malloc(RUN_BYTES);
    ExanetPacket pkt = {
        .size = EXANET_MTU, .packets = EXANET_RUN_MAX, .dst = 0x17021, .ttl = 7,
    };
    unsigned words, bytes;
    ExanetPacket run;

    fill_payload(with, EXANET_RUN_MAX);
    words = exanet_run_encode(with, &pkt);
    bytes = words * EXANET_WORD_BYTES;
    pkt.no_crc = true;
    fill_payload(without, EXANET_RUN_MAX);
    exanet_run_encode(without, &pkt);
    without[bytes / 2] ^= 1;
    g_assert_cmpint(decode(without, EXANET_RUN_MAX, &run), ==, EXANET_WIRE_OK);
    g_assert_true(run.no_crc);
    g_assert_false(run.bad_payload);
    without[bytes / 2] ^= 1;
    g_assert_true(exanet_packet_no_crc(exanet_run_header_const(without), words - 1));
    exanet_packet_crc_add(exanet_run_header(without), words - 1);
    g_assert_cmpmem(without, bytes, with, bytes);
}

/* A bit that flips in the run word, the header or the footer is detected. */
static void test_flip(void)
{
    typeof(&exanet_run_vectors[0]) v = &exanet_run_vectors[1];
    unsigned bytes = v->words * EXANET_WORD_BYTES, packets = v->pkt.packets;
    g_autofree uint8_t *buf = g_memdup2(v->bytes, bytes);
    ExanetWireStatus status;
    ExanetPacket run;

    for (unsigned bit = 0; bit < 8 * EXANET_WORD_BYTES; bit++) {
        buf[bit / 8] ^= 1 << bit % 8;
        /* VC is not covered, because routers change it; then the header differs */
        if (bit < 5) {
            g_assert_false(exanet_run_valid(buf, packets));
        } else {
            g_assert_cmpuint(exanet_run_packets(buf, &status), ==, 0);
            /* the CRC of a header does not cover PATH either, which is zero here */
            g_assert_cmpint(status, ==, bit >= 109 && bit < 112 ?
                            EXANET_WIRE_MALFORMED : EXANET_WIRE_BAD_HEADER);
        }
        buf[bit / 8] ^= 1 << bit % 8;
    }
    for (unsigned bit = 5; bit < 8 * EXANET_WORD_BYTES; bit++) {
        uint8_t *header = exanet_run_header(buf);

        if (bit >= 109 && bit < 112) {
            continue;               /* PATH, which routers may change */
        }
        header[bit / 8] ^= 1 << bit % 8;
        g_assert_false(exanet_run_valid(buf, packets));
        header[bit / 8] ^= 1 << bit % 8;
    }
    for (unsigned bit = 0; bit < 88; bit++) {
        uint8_t *footer = buf + bytes - EXANET_WORD_BYTES;

        if (bit >= 61 && bit < 76) {
            continue;               /* TTL */
        }
        footer[bit / 8] ^= 1 << bit % 8;
        g_assert_cmpint(decode(buf, packets, &run), ==, EXANET_WIRE_BAD_FOOTER);
        footer[bit / 8] ^= 1 << bit % 8;
    }
}

/* After damage to any payload byte, each packet of the run has a bad payload. */
static void test_bad_payload(void)
{
    typeof(&exanet_run_vectors[0]) v = &exanet_run_vectors[0];
    unsigned bytes = v->words * EXANET_WORD_BYTES;
    g_autofree uint8_t *buf = g_memdup2(v->bytes, bytes);
    uint8_t packet[EXANET_PACKET_BYTES];
    ExanetPacket run, pkt;

    for (unsigned i = 0; i < v->pkt.packets * EXANET_MTU; i++) {
        exanet_run_payload(buf)[i] ^= 1 << i % 8;
        g_assert_cmpint(decode(buf, v->pkt.packets, &run), ==, EXANET_WIRE_OK);
        g_assert_true(run.bad_payload);
        for (unsigned n = 0; n < run.packets; n++) {
            exanet_run_split(&run, n, &pkt);
            g_assert_true(pkt.bad_payload);
            g_assert_cmpuint(pkt.packets, ==, 1);
            exanet_run_packet(&run, n, packet);
            g_assert_cmpint(exanet_packet_decode(packet, EXANET_PACKET_WORDS, &pkt), ==,
                            EXANET_WIRE_OK);
            g_assert_true(pkt.bad_payload);
        }
        exanet_run_payload(buf)[i] ^= 1 << i % 8;
    }
}

/* Encodes a run of @packets packets with the fields of @pkt at @buf. */
static void make(uint8_t *buf, ExanetPacket pkt, unsigned packets)
{
    pkt.packets = packets;
    exanet_run_encode(buf, &pkt);
}

static void test_malformed(void)
{
    const ExanetPacket good = exanet_run_vectors[0].pkt;
    g_autofree uint8_t *buf = g_malloc0(RUN_BYTES + EXANET_MTU);
    ExanetPacket bad;

    /* a block of 16 KB has no place for the second packet */
    bad = good;
    bad.va = EXANET_BLOCK_BYTES - EXANET_MTU;
    make(buf, bad, 2);
    g_assert_false(exanet_run_valid(buf, 2));
    bad.va = EXANET_BLOCK_BYTES - 2 * EXANET_MTU;
    make(buf, bad, 2);
    g_assert_true(exanet_run_valid(buf, 2));
    bad.va = EXANET_MTU;
    make(buf, bad, 64);
    g_assert_false(exanet_run_valid(buf, 64));
    /* packets with a gap before them, or that are not full */
    bad = good;
    bad.va += EXANET_WORD_BYTES;
    bad.size -= EXANET_WORD_BYTES;
    make(buf, bad, 2);
    g_assert_false(exanet_run_valid(buf, 2));
    bad = good;
    bad.size = EXANET_MTU - EXANET_WORD_BYTES;
    make(buf, bad, 2);
    g_assert_false(exanet_run_valid(buf, 2));
    for (unsigned type = 0; type < EXANET_TYPE_VALUES; type++) {
        bad = good;
        bad.type = type;
        make(buf, bad, 2);
        g_assert_cmpint(exanet_run_valid(buf, 2), ==, type == EXANET_TYPE_WRITE);
    }
}

/*
 * A run word that has a right CRC but is not valid.  The encoder of packets makes such
 * words, because a run word has the form of a header.
 */
static void test_malformed_word(void)
{
    static const struct {
        unsigned packets, reserved;
        bool valid;
    } cases[] = {
        { 2, 0, true }, { 64, 0, true }, { 0, 0 }, { 1, 0 }, { 65, 0 }, { 127, 0 },
        { 2, 1 },
    };
    uint8_t buf[EXANET_PACKET_BYTES] = { 0 };
    ExanetWireStatus status;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        /* the field SIZE of a header has the place of PACKETS */
        const ExanetPacket word = {
            .type = EXANET_RUN_TYPE, .pdid = cases[i].reserved,
            .size = cases[i].packets,
        };
        unsigned packets;

        exanet_packet_encode(buf, &word);
        packets = exanet_run_packets(buf, &status);
        if (cases[i].valid) {
            g_assert_cmpuint(packets, ==, cases[i].packets);
            g_assert_cmpint(status, ==, EXANET_WIRE_OK);
        } else {
            g_assert_cmpuint(packets, ==, 0);
            g_assert_cmpint(status, ==, EXANET_WIRE_MALFORMED);
        }
    }
}

/* Random bits in a run never make the decoder read beyond the run. */
static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(3));

    for (unsigned i = 0; i < RANDOM_ROUNDS; i++) {
        unsigned v = g_rand_int_range(rand, 0, ARRAY_SIZE(exanet_run_vectors) - 1);
        unsigned bytes = exanet_run_vectors[v].words * EXANET_WORD_BYTES;
        g_autofree uint8_t *buf = g_memdup2(exanet_run_vectors[v].bytes, bytes);
        unsigned packets;
        ExanetWireStatus status;
        ExanetPacket run;

        for (unsigned n = g_rand_int_range(rand, 1, 4); n; n--) {
            buf[g_rand_int_range(rand, 0, bytes)] ^= 1 << g_rand_int_range(rand, 0, 8);
        }
        packets = exanet_run_word(buf) ? exanet_run_packets(buf, &status) : 0;
        if (packets && exanet_run_words(packets) * EXANET_WORD_BYTES <= bytes &&
            exanet_run_valid(buf, packets)) {
            exanet_run_decode(buf, &run);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(exanet_run_vectors); i++) {
        static const struct {
            const char *name;
            void (*test)(gconstpointer opaque);
        } tests[] = {
            { "encode", test_vector_encode }, { "decode", test_vector_decode },
            { "split", test_vector_split },
        };

        for (unsigned t = 0; t < ARRAY_SIZE(tests); t++) {
            g_autofree char *path =
                g_strdup_printf("/exanet/wire/run-%s-%s", tests[t].name,
                                exanet_run_vectors[i].name);

            g_test_add_data_func(path, &exanet_run_vectors[i], tests[t].test);
        }
    }
    g_test_add_func("/exanet/wire/run-no-crc", test_no_crc);
    g_test_add_func("/exanet/wire/run-flip", test_flip);
    g_test_add_func("/exanet/wire/run-bad-payload", test_bad_payload);
    g_test_add_func("/exanet/wire/run-malformed", test_malformed);
    g_test_add_func("/exanet/wire/run-malformed-word", test_malformed_word);
    g_test_add_func("/exanet/wire/run-random", test_random);
    return g_test_run();
}
