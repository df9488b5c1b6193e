/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that no NIC sends: invalid headers, HELLOs or packets, and random frames. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "../common/random.h"
#include "link.h"

#define DST EXANET_RAM_DST

typedef void Spoil(ExanetTest *t, uint8_t *frame, size_t *len);

static void spoil_ethertype(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[12] = 0x08;
    frame[13] = 0x00;
}

static void spoil_version(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, version)]++;
}

static void spoil_family(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, family)] = RNIC_LINK_EXTOLL;
}

static void spoil_vc(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, vc)] = EXANET_VCS;
}

static void spoil_kind(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, kind)] = 4;
}

static void spoil_kind_high(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, kind)] = 255;
}

static void spoil_source(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, src) + 5] ^= 1;
}

static void spoil_count(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, count)]++;
}

static void spoil_count_high(ExanetTest *t, uint8_t *frame, size_t *len)
{
    frame[offsetof(struct rnic_frame, count) + 1] = 0xff;
}

static void spoil_short(ExanetTest *t, uint8_t *frame, size_t *len)
{
    *len -= 1;
}

static void spoil_header_cut(ExanetTest *t, uint8_t *frame, size_t *len)
{
    *len = sizeof(struct rnic_frame) - 1;
}

static void spoil_one_byte(ExanetTest *t, uint8_t *frame, size_t *len)
{
    *len = 1;
}

/* Asserts that each bad frame is dropped and counted once, and that the link stays up. */
static void test_bad_frames(void)
{
    static Spoil *const spoil[] = {
        spoil_ethertype, spoil_version, spoil_family, spoil_vc,
        spoil_kind, spoil_kind_high, spoil_source, spoil_count, spoil_count_high,
        spoil_short, spoil_header_cut, spoil_one_byte,
    };
    ExanetTest *t = exanet_start("");
    static const uint8_t data[256];
    ExanetBlock b = {
        .va = DST, .data = data, .len = 256, .tid = 4,
        .pdid = EXANET_TEST_PDID(0),
    };
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

    for (unsigned i = 0; i < ARRAY_SIZE(spoil); i++) {
        uint8_t frame[sizeof(struct rnic_frame) + EXANET_PACKET_BYTES];
        unsigned words =
            exanet_peer_encode(frame + sizeof(struct rnic_frame), &pkt);
        size_t len = exanet_peer_header(t->peer, (void *)frame,
                                        RNIC_LINK_DATA, words);

        spoil[i](t, frame, &len);
        exanet_peer_raw(t->peer, frame, len);
        exanet_wait(t, exanet_link_count(t, EXANET_REG_PORT_DROPPED) == i + 1);
        exanet_assert_quiet(t);
    }
    g_assert_true(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_link_assert_works(t, 4);
    exanet_stop(t);
}

/* A frame of 0 bytes is dropped, and does not stop the link. */
static void test_no_bytes(void)
{
    ExanetTest *t = exanet_start("");

    exanet_peer_raw(t->peer, "", 0);
    exanet_link_assert_works(t, 1);
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_DROPPED), ==, 1);
    exanet_stop(t);
}

/* Frames without words do not fill the FIFO. */
static void test_empty_frames(void)
{
    ExanetTest *t = exanet_start(",rx-fifo-words=256");

    for (unsigned i = 0; i < 5000; i++) {
        exanet_peer_frame(t->peer, RNIC_LINK_DATA, NULL, 0);
    }
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

static void test_bad_hello(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    struct rnic_hello good = {
        .coord = cpu_to_le32(EXANET_TEST_PEER), .epoch = t->peer->epoch,
        .flags = RNIC_HELLO_HEARD, .peer_epoch = EXANET_TEST_EPOCH,
        .rx_words = cpu_to_le32(256), .max_words = cpu_to_le32(256),
    };
    struct rnic_hello bad[2] = { good, good };

    t->peer->silent = true;
    /* coordinates that do not exist */
    bad[0].coord = cpu_to_le32(EXANET_COORD_MASK + 1);
    exanet_peer_frame(t->peer, RNIC_LINK_HELLO, bad, 1);
    /* a maximum length that is less than a packet */
    bad[0] = good;
    bad[0].max_words = cpu_to_le32(EXANET_PACKET_WORDS - 1);
    exanet_peer_frame(t->peer, RNIC_LINK_HELLO, bad, 1);
    /* two words, and no word */
    exanet_peer_frame(t->peer, RNIC_LINK_HELLO, bad, 2);
    exanet_peer_frame(t->peer, RNIC_LINK_HELLO, NULL, 0);
    exanet_wait(t, exanet_link_count(t, EXANET_REG_PORT_DROPPED) == 4);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    /* a wrong epoch of the device */
    bad[0] = good;
    bad[0].peer_epoch++;
    exanet_peer_frame(t->peer, RNIC_LINK_HELLO, bad, 1);
    exanet_settle(t);
    g_assert_false(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    /* DATA from a peer whose link is not up */
    exanet_link_send_acks(t, 1);
    exanet_wait(t, exanet_link_count(t, EXANET_REG_PORT_DROPPED) == 5);
    exanet_peer_frame(t->peer, RNIC_LINK_HELLO, &good, 1);
    exanet_wait(t, exanet_link_is(t, EXANET_PORT_STATUS_UP));
    exanet_stop(t);
}

/* Before the first HELLO the device drops all frames. */
static void test_stranger(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    t->peer->silent = true;
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_link_send_acks(t, 1);
    exanet_peer_frame(t->peer, RNIC_LINK_XOFF, NULL, 0);
    exanet_peer_frame(t->peer, RNIC_LINK_XON, NULL, 0);
    exanet_peer_frame(t->peer, RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, exanet_link_count(t, EXANET_REG_PORT_DROPPED) == 4);
    g_assert_cmpuint(exanet_count(t, RX_ACK), ==, 0);
    t->peer->silent = false;
    exanet_bring_up(t);
    exanet_stop(t);
}

/*
 * A packet that does not end with its frame is dropped; the packets before it are
 * accepted.
 */
static void test_truncated_packet(void)
{
    ExanetTest *t = exanet_start("");
    static const uint8_t data[600] = { 9 };
    ExanetBlock b = {
        .va = DST, .data = data, .len = 512, .tid = 4,
        .pdid = EXANET_TEST_PDID(0),
    };
    uint8_t buf[4 * EXANET_PACKET_BYTES];
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);
    unsigned words = exanet_peer_encode(buf, &pkt);

    pkt = exanet_block_packet(t->peer, &b, 1);
    exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
    for (unsigned cut = 1; cut < EXANET_PACKET_WORDS; cut++) {
        exanet_peer_words(t->peer, buf, words + cut);
        exanet_wait(t, exanet_count(t, DROP_MALFORMED) == cut);
    }
    exanet_assert_quiet(t);
    exanet_assert_mem(t, DST, data, 256);
    exanet_peer_words(t->peer, buf, 2 * words);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 4, 0), ==,
                     EXANET_RESP_ACK);
    exanet_stop(t);
}

/* Types and sizes that no packet has, with a correct header CRC. */
static void test_bad_packets(void)
{
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *buf = g_malloc0(1 << 15);
    unsigned bad = 0;

    for (unsigned type = 0; type < 32; type++) {
        for (unsigned size = 0; size <= 257; size += 257) {
            ExanetPacket pkt = {
                .type = type, .size = size, .dst = EXANET_TEST_NODE,
                .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
            };

            if (type == EXANET_TYPE_FLOW_RATE || (size == 0 &&
                (type == EXANET_TYPE_ACK || type == EXANET_TYPE_RELEASE ||
                 type == EXANET_TYPE_AXI_RESPONSE))) {
                continue;
            }
            exanet_packet_encode(buf, &pkt);
            exanet_peer_words(t->peer, buf, EXANET_PACKET_WORDS + 2);
            bad++;
            exanet_wait(t, exanet_count(t, DROP_MALFORMED) == bad);
        }
    }
    exanet_assert_quiet(t);
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

static void test_replay(void)
{
    ExanetTest *t = exanet_start("");
    static const uint8_t data[600] = { 3, 1, 4, 1, 5 };
    ExanetBlock b = {
        .va = DST, .data = data, .len = 600, .tid = 8,
        .pdid = EXANET_TEST_PDID(0),
    };
    uint32_t seq = t->peer->tx_seq;

    exanet_peer_send_block(t->peer, &b);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 8, 0), ==,
                     EXANET_RESP_ACK);
    qtest_memset(t->qts, DST, 0x22, 600);
    t->peer->tx_seq = seq;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0x22, 600);
    exanet_stop(t);
}

/* Random bytes, with and without a valid frame header. */
static void test_garbage(void)
{
    ExanetTest *t = exanet_start("");
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(5));
    g_autofree uint8_t *buf = g_malloc(4096);

    for (unsigned i = 0; i < 20000; i++) {
        unsigned len = g_rand_int_range(rand, 1, 400);

        random_bytes(rand, buf, 512);
        switch (i % 3) {
        case 0:
            exanet_peer_raw(t->peer, buf, len);
            break;
        case 1:
            exanet_peer_words(t->peer, buf, len / EXANET_WORD_BYTES);
            break;
        default:
            /* a frame with valid addresses and random kind and count */
            exanet_peer_header(t->peer, (void *)buf, RNIC_LINK_DATA, 1);
            buf[15] = g_rand_int(rand);
            buf[18] = g_rand_int_range(rand, 0, 16);
            /* does not send DOWN and HELLO, which would take the link down */
            if (buf[15] == RNIC_LINK_DATA || buf[15] > RNIC_LINK_DOWN) {
                exanet_peer_raw(t->peer, buf, len);
            }
        }
    }
    exanet_settle(t);
    exanet_settle(t);
    g_assert_true(exanet_link_is(t, EXANET_PORT_STATUS_UP));
    g_assert_cmpuint(exanet_link_count(t, EXANET_REG_PORT_BAD_HEADER), >, 0);
    exanet_link_assert_works(t, 1);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/port/malformed-frames-t25", test_bad_frames);
    qtest_add_func("/exanet/port/malformed-no-bytes", test_no_bytes);
    qtest_add_func("/exanet/port/malformed-empty-frames-t25", test_empty_frames);
    qtest_add_func("/exanet/port/malformed-hello-t25", test_bad_hello);
    qtest_add_func("/exanet/port/malformed-stranger-t25", test_stranger);
    qtest_add_func("/exanet/port/malformed-truncated-packet-t25", test_truncated_packet);
    qtest_add_func("/exanet/port/malformed-packets-t25", test_bad_packets);
    qtest_add_func("/exanet/port/malformed-replay", test_replay);
    qtest_add_func("/exanet/port/malformed-garbage-t25", test_garbage);
    return g_test_run();
}
