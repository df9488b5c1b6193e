/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RMA descriptors and notifications, against vectors and against malformed descriptors.
 */
#include "qemu/osdep.h"
#include "rnic/extoll/atu.h"
#include "rnic/extoll/regs.h"
#include "extoll-vectors.h"

#define ALL (EXTOLL_CAP_BYTES | EXTOLL_CAP_NOTIFY)

static void assert_same(const ExtollCommand *a, const ExtollCommand *b)
{
    g_assert_cmpuint(a->command, ==, b->command);
    g_assert_cmphex(a->notify, ==, b->notify);
    g_assert_cmpuint(a->own_vpid, ==, b->own_vpid);
    g_assert_cmpuint(a->vpid, ==, b->vpid);
    g_assert_cmpuint(a->node, ==, b->node);
    g_assert_cmphex(a->class, ==, b->class);
    g_assert_cmpint(a->lines, ==, b->lines);
    g_assert_cmpint(a->irq, ==, b->irq);
    g_assert_cmpint(a->physical, ==, b->physical);
    g_assert_cmpuint(a->bytes, ==, b->bytes);
    g_assert_cmpuint(a->lock, ==, b->lock);
    g_assert_cmpint(a->compare, ==, b->compare);
    g_assert_cmpint(a->add, ==, b->add);
    g_assert_cmphex(a->local, ==, b->local);
    g_assert_cmphex(a->remote, ==, b->remote);
    g_assert_cmphex(a->payload, ==, b->payload);
}

static void test_vector_decode(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(command_vectors); i++) {
        ExtollCommand got;

        g_assert_cmpint(extoll_command_decode(command_vectors[i].address,
                                              command_vectors[i].desc, ALL, &got),
                        ==, EXTOLL_COMMAND_OK);
        assert_same(&got, &command_vectors[i].cmd);
    }
}

static void test_vector_encode(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(command_vectors); i++) {
        uint64_t desc[2];

        g_assert_cmphex(extoll_command_encode(&command_vectors[i].cmd, desc), ==,
                        command_vectors[i].address);
        g_assert_cmphex(desc[0], ==, command_vectors[i].desc[0]);
        g_assert_cmphex(desc[1], ==, command_vectors[i].desc[1]);
    }
}

static void test_vector_notification(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(notification_vectors); i++) {
        struct extoll_notification got;

        extoll_notification_encode(&notification_vectors[i].noti, &got);
        g_assert_cmpmem(&got, sizeof(got), notification_vectors[i].bytes, sizeof(got));
    }
    g_assert_cmphex(extoll_notification_lock(1023, true, -2), ==, 0xfffffffe010003ffULL);
    g_assert_cmphex(extoll_notification_lock(0, false, 7), ==, 0x700000000ULL);
}

/*
 * Table 7-2 with both settings of CAP_NOTIFY: the notifications that remain of each
 * combination of bits, R requester, C completer, P responder.
 */
static void test_notify(void)
{
    enum { R = 1, C = 2, P = 4 };
    static const struct {
        uint8_t command;
        uint8_t strict[8];
        uint8_t more[8];
    } rows[] = {
        { EXTOLL_CMD_PUT, { 0, R, C, R | C, 0, R, C, R | C },
          { 0, R, C, R | C, 0, R, C, R | C } },
        { EXTOLL_CMD_GET, { 0, 0, C, C, 0, 0, C | P, C | P },
          { 0, 1, 2, 3, 4, 5, 6, 7 } },
        { EXTOLL_CMD_LOCK, { 0, 0, C, C, 0, 0, C | P, C | P },
          { 0, 1, 2, 3, 4, 5, 6, 7 } },
        { EXTOLL_CMD_IMMEDIATE, { 0, R, C, R | C, 0, R, C, R | C },
          { 0, R, C, R | C, 0, R, C, R | C } },
        { EXTOLL_CMD_NOTIFICATION, { C, R | C, C, R | C, C, R | C, C, R | C },
          { C, R | C, C, R | C, C, R | C, C, R | C } },
    };
    static const uint64_t desc[2];
    ExtollCommand cmd;

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        for (unsigned bits = 0; bits < 8; bits++) {
            uint32_t address = RNIC_PREP(EXTOLL_RMA_ADDR_COMMAND, rows[i].command) |
                               RNIC_PREP(EXTOLL_RMA_ADDR_NOTIFY, bits);

            g_assert_cmpint(extoll_command_decode(address, desc, 0, &cmd), ==,
                            EXTOLL_COMMAND_OK);
            g_assert_cmphex(cmd.notify, ==, rows[i].strict[bits]);
            g_assert_cmpint(extoll_command_decode(address, desc, ALL, &cmd), ==,
                            EXTOLL_COMMAND_OK);
            g_assert_cmphex(cmd.notify, ==, rows[i].more[bits]);
        }
    }
}

static ExtollCommandStatus decode(unsigned command, uint64_t word0, uint64_t word1,
                                  uint64_t cap)
{
    const uint64_t desc[2] = { word0, word1 };
    ExtollCommand cmd = { .lock = 99 };
    ExtollCommandStatus status;

    status = extoll_command_decode(RNIC_PREP(EXTOLL_RMA_ADDR_COMMAND, command), desc, cap,
                                   &cmd);
    /* a refused descriptor changes nothing */
    g_assert_true(status == EXTOLL_COMMAND_OK || cmd.lock == 99);
    return status;
}

static void test_unknown(void)
{
    g_assert_cmpint(decode(7, 0, 0, ALL), ==, EXTOLL_COMMAND_UNKNOWN);
    g_assert_cmpint(decode(EXTOLL_CMD_PUT_BYTES, 0, 0, EXTOLL_CAP_NOTIFY), ==,
                    EXTOLL_COMMAND_UNKNOWN);
    g_assert_cmpint(decode(EXTOLL_CMD_GET_BYTES, 0, 0, 0), ==, EXTOLL_COMMAND_UNKNOWN);
    g_assert_cmpint(decode(EXTOLL_CMD_GET_BYTES, 0, 0, EXTOLL_CAP_BYTES), ==,
                    EXTOLL_COMMAND_OK);
}

static void test_place(void)
{
    static const uint64_t desc[2];
    ExtollCommand cmd;

    for (unsigned at = 0; at < 32; at++) {
        uint32_t address = RNIC_PREP(EXTOLL_RMA_ADDR_COMMAND, EXTOLL_CMD_PUT) | at;

        g_assert_cmpint(extoll_command_decode(address, desc, ALL, &cmd), ==,
                        at ? EXTOLL_COMMAND_BAD_PLACE : EXTOLL_COMMAND_OK);
    }
}

/* Each bit that no field of the command has must be 0. */
static void test_reserved(void)
{
    static const struct {
        uint8_t command;
        uint64_t used[2];
    } rows[] = {
        { EXTOLL_CMD_PUT, { UINT64_MAX, 0x1ffffffffffffffULL } },
        { EXTOLL_CMD_GET, { UINT64_MAX, 0x1ffffffffffffffULL } },
        { EXTOLL_CMD_PUT_BYTES, { UINT64_MAX, INT64_MAX } },
        { EXTOLL_CMD_GET_BYTES, { UINT64_MAX, INT64_MAX } },
        { EXTOLL_CMD_LOCK, { 0xfc0003ffffffffffULL, 0x1f00000ffffffffULL } },
        { EXTOLL_CMD_NOTIFICATION, { UINT64_MAX, 0x7ff00000000000ffULL } },
        { EXTOLL_CMD_IMMEDIATE, { UINT64_MAX, INT64_MAX } },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        for (unsigned bit = 0; bit < 128; bit++) {
            uint64_t word[2] = { 0, 0 };
            bool used = rows[i].used[bit / 64] >> (bit % 64) & 1;

            word[bit / 64] = 1ULL << (bit % 64);
            g_assert_cmpint(decode(rows[i].command, word[0], word[1], ALL) ==
                            EXTOLL_COMMAND_RESERVED, ==, !used);
        }
    }
}

static void test_addresses(void)
{
    uint64_t nla = 1ULL << EXTOLL_NLA_BITS;

    g_assert_cmpint(decode(EXTOLL_CMD_PUT, nla - 8, 0, ALL), ==, EXTOLL_COMMAND_OK);
    g_assert_cmpint(decode(EXTOLL_CMD_PUT, nla, 0, ALL), ==, EXTOLL_COMMAND_BAD_ADDRESS);
    g_assert_cmpint(decode(EXTOLL_CMD_GET, 0, nla, ALL), ==, EXTOLL_COMMAND_BAD_ADDRESS);
    for (unsigned low = 1; low < 8; low++) {
        g_assert_cmpint(decode(EXTOLL_CMD_PUT, low, 0, ALL), ==,
                        EXTOLL_COMMAND_BAD_ADDRESS);
        g_assert_cmpint(decode(EXTOLL_CMD_GET, 0, low, ALL), ==,
                        EXTOLL_COMMAND_BAD_ADDRESS);
        g_assert_cmpint(decode(EXTOLL_CMD_IMMEDIATE, 0, low, 0), ==,
                        EXTOLL_COMMAND_BAD_ADDRESS);
        g_assert_cmpint(decode(EXTOLL_CMD_IMMEDIATE, 0, low, ALL), ==, EXTOLL_COMMAND_OK);
        g_assert_cmpint(decode(EXTOLL_CMD_PUT_BYTES, low, low, ALL), ==,
                        EXTOLL_COMMAND_OK);
    }
    g_assert_cmpint(decode(EXTOLL_CMD_IMMEDIATE, 0, nla << 3, ALL), ==,
                    EXTOLL_COMMAND_BAD_ADDRESS);
    /*
     * without CAP_BYTES an immediate put has 8 B, and these bits are part of the address
     */
    g_assert_cmpint(decode(EXTOLL_CMD_IMMEDIATE, 0, nla, 0), ==,
                    EXTOLL_COMMAND_BAD_ADDRESS);
}

/* All sizes at all places of a page, for both addresses. */
static void test_pages(void)
{
    for (unsigned lines = 0; lines < 2; lines++) {
        for (unsigned units = 1; units <= 64; units++) {
            for (unsigned at = 0; at < 4096; at += 8) {
                uint32_t address = RNIC_PREP(EXTOLL_RMA_ADDR_COMMAND, EXTOLL_CMD_PUT) |
                                   RNIC_PREP(EXTOLL_RMA_ADDR_LINES, lines);
                unsigned bytes = units * (lines ? 64 : 8);
                uint64_t size = RNIC_PREP(EXTOLL_DESC_0_SIZE, units - 1);
                const uint64_t local[2] = { size | at, 0 };
                const uint64_t remote[2] = { size, at };
                int want = at + bytes <= 4096 ? EXTOLL_COMMAND_OK : EXTOLL_COMMAND_PAGE;
                ExtollCommand cmd = { .bytes = bytes };

                g_assert_cmpint(extoll_command_decode(address, local, 0, &cmd), ==, want);
                g_assert_cmpuint(cmd.bytes, ==, bytes);
                g_assert_cmpint(extoll_command_decode(address, remote, 0, &cmd), ==,
                                want);
                g_assert_cmpuint(cmd.bytes, ==, bytes);
            }
        }
    }
    /* 8 B that begin in the last 4 B of a page */
    g_assert_cmpint(decode(EXTOLL_CMD_IMMEDIATE, 0, 0xffc, ALL), ==, EXTOLL_COMMAND_PAGE);
    g_assert_cmpint(decode(EXTOLL_CMD_IMMEDIATE, 0,
                           0xffc | RNIC_PREP(EXTOLL_DESC_1_SHORT, 4), ALL), ==,
                    EXTOLL_COMMAND_OK);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/command/vector-decode", test_vector_decode);
    g_test_add_func("/extoll/command/vector-encode", test_vector_encode);
    g_test_add_func("/extoll/command/vector-notification", test_vector_notification);
    g_test_add_func("/extoll/command/notify", test_notify);
    g_test_add_func("/extoll/command/unknown", test_unknown);
    g_test_add_func("/extoll/command/place", test_place);
    g_test_add_func("/extoll/command/reserved", test_reserved);
    g_test_add_func("/extoll/command/addresses", test_addresses);
    g_test_add_func("/extoll/command/pages", test_pages);
    return g_test_run();
}
