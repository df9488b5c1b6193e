/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets, against vectors and against packets that no sender makes. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "extoll-vectors.h"

static void fill(uint8_t *to, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = i + 1;
    }
}

static void assert_same(const ExtollPacket *a, const ExtollPacket *b)
{
    g_assert_cmpuint(a->command, ==, b->command);
    g_assert_cmphex(a->notify, ==, b->notify);
    g_assert_cmpuint(a->src_vpid, ==, b->src_vpid);
    g_assert_cmpuint(a->dst_vpid, ==, b->dst_vpid);
    g_assert_cmpint(a->lines, ==, b->lines);
    g_assert_cmpint(a->irq, ==, b->irq);
    g_assert_cmpint(a->physical, ==, b->physical);
    g_assert_cmphex(a->src_node, ==, b->src_node);
    g_assert_cmphex(a->prot, ==, b->prot);
    g_assert_cmpuint(a->bytes, ==, b->bytes);
    g_assert_cmphex(a->word1, ==, b->word1);
    g_assert_cmphex(a->word2, ==, b->word2);
}

static void test_vector(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(packet_vectors); i++) {
        const uint8_t *bytes = packet_vectors[i].bytes;
        unsigned length = packet_vectors[i].length;
        uint8_t buf[EXTOLL_PACKET_MAX];
        ExtollPacketStatus status;
        ExtollPacket got;

        g_assert_cmpuint(extoll_packet_measure(bytes, MIN(length, 32), &status), ==,
                         length);
        g_assert_cmpint(status, ==, EXTOLL_PACKET_OK);
        g_assert_false(extoll_packet_is_message(bytes));
        g_assert_cmpint(extoll_packet_decode(bytes, length, &got), ==, EXTOLL_PACKET_OK);
        assert_same(&got, &packet_vectors[i].pkt);
        memset(buf, 0x5a, sizeof(buf));
        fill(extoll_packet_payload(buf), extoll_packet_payload_bytes(&got));
        g_assert_cmpuint(extoll_packet_encode(buf, VECTOR_ROUTE, &got), ==, length);
        g_assert_cmpmem(buf, length, bytes, length);
    }
}

static void test_vector_message(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(message_vectors); i++) {
        const uint8_t *bytes = message_vectors[i].packet;
        unsigned length = message_vectors[i].length;
        ExtollVeloMsg msg = message_vectors[i].msg, got;
        uint8_t buf[EXTOLL_FLIT_DATA];
        ExtollPacketStatus status;

        g_assert_cmpuint(extoll_packet_measure(bytes, MIN(length, 32), &status), ==,
                         length);
        g_assert_true(extoll_packet_is_message(bytes));
        g_assert_cmpint(extoll_packet_message_decode(bytes, length, &got), ==,
                        EXTOLL_PACKET_OK);
        fill(msg.data, msg.count * 8);
        g_assert_cmpuint(extoll_packet_message_encode(buf, VECTOR_ROUTE, &msg), ==,
                         length);
        g_assert_cmpmem(buf, length, bytes, length);
        msg.dst_node = 0;   /* no part of the packet */
        g_assert_cmpmem(&got, sizeof(got), &msg, sizeof(msg));
    }
}

/* Packets of each length; nothing behind the end is read. */
static void test_lengths(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(packet_vectors); i++) {
        unsigned length = packet_vectors[i].length;

        for (unsigned len = 0; len <= length; len += 4) {
            g_autofree uint8_t *buf = g_memdup2(packet_vectors[i].bytes, MAX(len, 1));
            ExtollPacketStatus measured;
            ExtollPacket got;
            int want = len < 32 ? EXTOLL_PACKET_SHORT :
                       len < length ? EXTOLL_PACKET_BAD_LENGTH : EXTOLL_PACKET_OK;

            g_assert_cmpint(extoll_packet_decode(buf, len, &got), ==, want);
            g_assert_cmpuint(extoll_packet_measure(buf, len, &measured), ==,
                             len < 32 ? 0 : length);
            g_assert_cmpint(measured, ==, len < 32 ? EXTOLL_PACKET_SHORT :
                                                     EXTOLL_PACKET_OK);
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(message_vectors); i++) {
        unsigned length = message_vectors[i].length;

        for (unsigned len = 0; len <= length; len++) {
            g_autofree uint8_t *buf = g_memdup2(message_vectors[i].packet, MAX(len, 1));
            ExtollVeloMsg got;

            g_assert_cmpint(extoll_packet_message_decode(buf, len, &got), ==,
                            len < 16 ? EXTOLL_PACKET_SHORT :
                            len < length ? EXTOLL_PACKET_BAD_LENGTH : EXTOLL_PACKET_OK);
        }
    }
}

static ExtollPacketStatus check(const ExtollPacket *pkt)
{
    uint8_t buf[EXTOLL_PACKET_MAX] = { 0 };
    unsigned length = extoll_packet_encode(buf, VECTOR_ROUTE, pkt);
    ExtollPacket got = { .prot = 99 };
    ExtollPacketStatus status = extoll_packet_decode(buf, length, &got);

    g_assert_true(status == EXTOLL_PACKET_OK || got.prot == 99);
    return status;
}

static void test_commands(void)
{
    for (unsigned command = 0; command < 16; command++) {
        ExtollPacket pkt = { .command = command, .bytes = 1, .word2 = 0 };
        bool known = command != 7 && command != EXTOLL_CMD_VELO && command != 12 &&
                     command <= EXTOLL_CMD_LOCK_RESPONSE;
        int want = !known ? EXTOLL_PACKET_UNKNOWN : command == EXTOLL_CMD_REFUSED ?
                   EXTOLL_PACKET_BAD_FIELD : EXTOLL_PACKET_OK;

        g_assert_cmpint(check(&pkt), ==, want);
    }
}

static void test_reserved(void)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t word = 1ULL << bit;
        ExtollPacket lock = { .command = EXTOLL_CMD_LOCK, .bytes = 1, .word2 = word };
        ExtollPacket noti = { .command = EXTOLL_CMD_NOTIFICATION, .bytes = 1,
                              .word2 = word };
        ExtollPacket answer = { .command = EXTOLL_CMD_LOCK_RESPONSE, .bytes = 1,
                                .word2 = word };
        ExtollPacket put = { .command = EXTOLL_CMD_PUT, .bytes = 1, .word1 = word };
        ExtollPacket get = { .command = EXTOLL_CMD_GET, .bytes = 1, .word2 = word };
        ExtollPacket refused = { .command = EXTOLL_CMD_REFUSED, .bytes = 1,
                                 .word2 = EXTOLL_ERROR_OWNER | word };

        g_assert_cmpint(check(&lock), ==, bit < 10 ? EXTOLL_PACKET_OK :
                                                     EXTOLL_PACKET_RESERVED);
        g_assert_cmpint(check(&noti), ==, bit < 8 ? EXTOLL_PACKET_OK :
                                                    EXTOLL_PACKET_RESERVED);
        g_assert_cmpint(check(&answer), ==, EXTOLL_PACKET_RESERVED);
        g_assert_cmpint(check(&put), ==, bit < 52 ? EXTOLL_PACKET_OK :
                                                    EXTOLL_PACKET_RESERVED);
        g_assert_cmpint(check(&get), ==, bit < 52 ? EXTOLL_PACKET_OK :
                                                    EXTOLL_PACKET_RESERVED);
        g_assert_cmpint(check(&refused), ==, bit < 3 || (bit > 3 && bit < 7) ?
                        EXTOLL_PACKET_OK : bit == 7 ? EXTOLL_PACKET_BAD_FIELD :
                        EXTOLL_PACKET_RESERVED);
    }
}

static void test_fields(void)
{
    ExtollPacket pkt = { .command = EXTOLL_CMD_LOCK, .bytes = 2 };

    g_assert_cmpint(check(&pkt), ==, EXTOLL_PACKET_BAD_FIELD);
    pkt = (ExtollPacket) { .command = EXTOLL_CMD_IMMEDIATE, .bytes = 9 };
    g_assert_cmpint(check(&pkt), ==, EXTOLL_PACKET_BAD_FIELD);
    pkt = (ExtollPacket) { .command = EXTOLL_CMD_PUT, .bytes = 4096, .word1 = 8 };
    g_assert_cmpint(check(&pkt), ==, EXTOLL_PACKET_PAGE);
    pkt = (ExtollPacket) { .command = EXTOLL_CMD_GET, .bytes = 4096, .word2 = 1 };
    g_assert_cmpint(check(&pkt), ==, EXTOLL_PACKET_PAGE);
    pkt = (ExtollPacket) { .command = EXTOLL_CMD_IMMEDIATE, .bytes = 8, .word1 = 0xff9 };
    g_assert_cmpint(check(&pkt), ==, EXTOLL_PACKET_PAGE);
}

/* All lengths and places of the parts of a message. */
static void test_messages(void)
{
    for (unsigned n = 0; n < 0x10000; n++) {
        unsigned quadwords = n & 15, first = n >> 4 & 7, count = n >> 7 & 15;
        bool split = n >> 11 & 1, end = n >> 12 & 1;
        unsigned reserved = n >> 13 & 7;
        uint8_t buf[EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME + 15 * 8] = { 0 };
        ExtollPacketStatus status, want = EXTOLL_PACKET_OK;
        ExtollVeloMsg got;

        stq_le_p(buf + 8, RNIC_PREP(EXTOLL_PKT_COMMAND, EXTOLL_CMD_VELO) |
                          RNIC_PREP(EXTOLL_MSG_QUADWORDS, quadwords) |
                          RNIC_PREP(EXTOLL_MSG_FIRST, first) |
                          RNIC_PREP(EXTOLL_MSG_COUNT, count) |
                          RNIC_PREP(EXTOLL_MSG_SPLIT, split) |
                          RNIC_PREP(EXTOLL_MSG_END, end) |
                          RNIC_PREP(EXTOLL_MSG_RESERVED, reserved));
        if (reserved) {
            want = EXTOLL_PACKET_RESERVED;
        } else if (!count || quadwords > 8 || first + count > quadwords ||
                   (!split && (count != quadwords || !end))) {
            want = EXTOLL_PACKET_BAD_FIELD;
        }
        g_assert_cmpint(extoll_packet_message_decode(buf, 16 + 8 * count, &got), ==,
                        want);
        g_assert_cmpuint(extoll_packet_measure(buf, 16, &status), ==,
                         want == EXTOLL_PACKET_OK ? 16 + 8 * count : 0);
        g_assert_cmpint(status, ==, want);
    }
}

/* Each decoder refuses the packets of the other. */
static void test_other(void)
{
    ExtollVeloMsg msg;
    ExtollPacket pkt;

    g_assert_cmpint(extoll_packet_message_decode(packet_vectors[0].bytes, 32, &msg), ==,
                    EXTOLL_PACKET_UNKNOWN);
    g_assert_cmpint(extoll_packet_decode(message_vectors[0].packet, 56, &pkt), ==,
                    EXTOLL_PACKET_UNKNOWN);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/packet/vector", test_vector);
    g_test_add_func("/extoll/packet/vector-message", test_vector_message);
    g_test_add_func("/extoll/packet/lengths", test_lengths);
    g_test_add_func("/extoll/packet/commands", test_commands);
    g_test_add_func("/extoll/packet/reserved", test_reserved);
    g_test_add_func("/extoll/packet/fields", test_fields);
    g_test_add_func("/extoll/packet/messages", test_messages);
    g_test_add_func("/extoll/packet/other", test_other);
    return g_test_run();
}
