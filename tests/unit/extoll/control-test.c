/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control words: their bytes, and words that no sender makes. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <libdeflate.h>
#include "hw/rnic/extoll/base/control.h"

static const ExtollControl state = {
    .kind = EXTOLL_CONTROL_STATE,
    .flags = EXTOLL_STATE_NAK,
    .ack = 0x1234,
    .count = { 0x01020304, 0xfffffffe },
};
static const ExtollControl start = {
    .kind = EXTOLL_CONTROL_START,
    .flags = EXTOLL_START_RESUME | EXTOLL_START_HEARD | EXTOLL_START_ANSWER,
    .ack = 0xffff,
    .count = { EXTOLL_ROOM_MIN, EXTOLL_ROOM_MAX },
};

/* Computes the CRC of the word at @buf anew. */
static void seal(uint8_t *buf)
{
    stl_le_p(buf + 12, libdeflate_crc32(0, buf, 12));
}

static void assert_decodes(const ExtollControl *c)
{
    uint8_t buf[sizeof(struct extoll_control)];
    ExtollControl got;

    extoll_control_encode(buf, c);
    g_assert_true(extoll_control_is(buf));
    g_assert_cmpint(extoll_control_decode(buf, &got), ==, EXTOLL_CONTROL_OK);
    g_assert_cmpmem(&got, sizeof(got), c, sizeof(*c));
}

static void test_bytes(void)
{
    uint8_t buf[16], want[16] = {
        0x40, 0x01, 0x34, 0x12, 0x04, 0x03, 0x02, 0x01, 0xfe, 0xff, 0xff, 0xff,
    };
    ExtollControl ask = state;

    seal(want);
    extoll_control_encode(buf, &state);
    g_assert_cmpmem(buf, sizeof(buf), want, sizeof(want));
    assert_decodes(&state);
    assert_decodes(&start);
    ask.flags = EXTOLL_STATE_ANSWER;
    assert_decodes(&ask);
}

/* Each damaged bit is found, and the result keeps its value. */
static void test_damaged(void)
{
    uint8_t buf[sizeof(struct extoll_control)];
    ExtollControl got = start;

    extoll_control_encode(buf, &state);
    for (unsigned bit = 0; bit < 8 * sizeof(buf); bit++) {
        buf[bit / 8] ^= 1u << bit % 8;
        g_assert_cmpint(extoll_control_decode(buf, &got), ==, EXTOLL_CONTROL_BAD_CRC);
        buf[bit / 8] ^= 1u << bit % 8;
    }
    g_assert_cmpmem(&got, sizeof(got), &start, sizeof(start));
}

static void assert_malformed(ExtollControl c)
{
    uint8_t buf[sizeof(struct extoll_control)];
    ExtollControl got;

    extoll_control_encode(buf, &c);
    g_assert_cmpint(extoll_control_decode(buf, &got), ==, EXTOLL_CONTROL_MALFORMED);
}

static void test_malformed(void)
{
    static const uint32_t rooms[] = {
        0, EXTOLL_ROOM_MIN - 1, EXTOLL_ROOM_MAX + 1, UINT32_MAX,
    };
    ExtollControl c = state;

    c.kind = 0xc0;
    assert_malformed(c);
    c.kind = EXTOLL_CONTROL_STATE | 1;
    assert_malformed(c);
    for (unsigned bit = 2; bit < 8; bit++) {
        c = state;
        c.flags = 1u << bit;
        assert_malformed(c);
    }
    for (unsigned bit = 3; bit < 8; bit++) {
        c = start;
        c.flags = 1u << bit;
        assert_malformed(c);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(rooms); i++) {
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            g_assert_false(extoll_room_valid(rooms[i]));
            c = start;
            c.count[vc] = rooms[i];
            assert_malformed(c);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/control/bytes", test_bytes);
    g_test_add_func("/extoll/control/damaged", test_damaged);
    g_test_add_func("/extoll/control/malformed", test_malformed);
    return g_test_run();
}
