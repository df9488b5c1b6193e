/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register file: resets, lanes, masks, and stores to half of a register. */
#include "qemu/osdep.h"
#include "hw/rnic/core/reg-file.h"

#define BYTES 64
/* Positions of two units' registers; nothing is at NOTHING. */
#define CTRL    0x00
#define CAUSE   0x04
#define ADDR    0x08
#define EVENTS  0x10
#define ID      0x18
#define NOTHING 0x1c
#define UNIT    0x20                /* position of the second unit */
#define BLOCK   3

#define REGS(X) \
    X(CTRL,   CTRL,   4, 0x11, 0xff, 0) \
    X(CAUSE,  CAUSE,  4, 0xf0f0, 0, 0xff00) \
    X(ADDR,   ADDR,   8, 0x1122334455667788ULL, 0x00ffffffffffff00ULL, 0) \
    X(EVENTS, EVENTS, 8, 0xffffffffffffffffULL, 0xf, 0xff00000000000000ULL) \
    X(ID,     ID,     4, 0xe8a7e7, 0, 0)

static const RNicRegInfo regs[] = { REGS(RNIC_REG_INFO) };

typedef union Bench {
    RNicRegFile f;
    uint8_t room[RNIC_REG_FILE_SIZE(BYTES) + 16];
} Bench;

/* Adds the registers of both units, as after a reset. */
static void units_add(RNicRegFile *f)
{
    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        rnic_reg_file_add(f, regs[i].offset, &regs[i], BLOCK);
        rnic_reg_file_add(f, UNIT + regs[i].offset, &regs[i], BLOCK + 1);
    }
}

static void bench_init(Bench *b)
{
    memset(b, 0x5a, sizeof(*b));
    rnic_reg_file_init(&b->f, BYTES);
    units_add(&b->f);
}

/* Asserts that no function has changed memory behind the file. */
static void bench_end(const Bench *b)
{
    for (unsigned i = RNIC_REG_FILE_SIZE(BYTES); i < sizeof(b->room); i++) {
        g_assert_cmphex(b->room[i], ==, 0x5a);
    }
}

static void assert_lane(const Bench *b, unsigned at, enum rnic_reg_lane kind,
                        unsigned block)
{
    const RNicRegLane *lane = rnic_reg_file_lane(&b->f, at);

    g_assert_cmpuint(lane->kind, ==, kind);
    g_assert_cmpuint(lane->block, ==, block);
}

static void test_reset(void)
{
    Bench b;

    rnic_reg_file_init(&b.f, BYTES);
    for (unsigned at = 0; at < BYTES; at += 8) {
        g_assert_cmphex(rnic_reg_file_get64(&b.f, at), ==, 0);
        assert_lane(&b, at, RNIC_REG_LANE_NONE, 0);
        assert_lane(&b, at + 4, RNIC_REG_LANE_NONE, 0);
    }
    bench_init(&b);
    for (unsigned unit = 0; unit <= UNIT; unit += UNIT) {
        g_assert_cmphex(rnic_reg_file_get32(&b.f, unit + CTRL), ==, 0x11);
        g_assert_cmphex(rnic_reg_file_get64(&b.f, unit + ADDR), ==,
                        0x1122334455667788ULL);
        g_assert_cmphex(rnic_reg_file_get64(&b.f, unit + EVENTS), ==, UINT64_MAX);
        g_assert_cmphex(rnic_reg_file_get32(&b.f, unit + ID), ==, 0xe8a7e7);
    }
    rnic_reg_file_store(&b.f, CTRL, 0x22, 4);
    rnic_reg_file_set32(&b.f, ID, 1);
    rnic_reg_file_clear(&b.f);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CTRL), ==, 0);
    g_assert_cmphex(rnic_reg_file_written64(&b.f, CTRL), ==, 0);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, ID), ==, 0);
    /* masks and lanes stay */
    rnic_reg_file_store(&b.f, CTRL, ~0u, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CTRL), ==, 0xff);
    assert_lane(&b, CTRL, RNIC_REG_LANE_WHOLE, BLOCK);
    rnic_reg_file_clear(&b.f);
    units_add(&b.f);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CTRL), ==, 0x11);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, ID), ==, 0xe8a7e7);
    bench_end(&b);
}

/* Each lane has the kind of its half, and the block of its register. */
static void test_lanes(void)
{
    Bench b;

    bench_init(&b);
    assert_lane(&b, CTRL, RNIC_REG_LANE_WHOLE, BLOCK);
    assert_lane(&b, CAUSE, RNIC_REG_LANE_WHOLE, BLOCK);
    assert_lane(&b, ADDR, RNIC_REG_LANE_LOW, BLOCK);
    assert_lane(&b, ADDR + 4, RNIC_REG_LANE_TOP, BLOCK);
    assert_lane(&b, ID, RNIC_REG_LANE_WHOLE, BLOCK);
    assert_lane(&b, NOTHING, RNIC_REG_LANE_NONE, 0);
    assert_lane(&b, UNIT + CTRL, RNIC_REG_LANE_WHOLE, BLOCK + 1);
    assert_lane(&b, UNIT + EVENTS, RNIC_REG_LANE_LOW, BLOCK + 1);
    assert_lane(&b, UNIT + EVENTS + 4, RNIC_REG_LANE_TOP, BLOCK + 1);
    assert_lane(&b, UNIT + NOTHING, RNIC_REG_LANE_NONE, 0);
    bench_end(&b);
}

/* The device sets values without masks; a load returns them, little-endian. */
static void test_values(void)
{
    Bench b;

    bench_init(&b);
    rnic_reg_file_set32(&b.f, ID, 0x01020304);
    rnic_reg_file_set64(&b.f, EVENTS, 0x0a0b0c0d0e0f1011ULL);
    g_assert_cmphex(rnic_reg_file_load(&b.f, ID, 4), ==, 0x01020304);
    g_assert_cmphex(rnic_reg_file_load(&b.f, EVENTS, 8), ==, 0x0a0b0c0d0e0f1011ULL);
    g_assert_cmphex(rnic_reg_file_load(&b.f, EVENTS, 4), ==, 0x0e0f1011);
    g_assert_cmphex(rnic_reg_file_load(&b.f, EVENTS + 4, 4), ==, 0x0a0b0c0d);
    /* 8 bytes of two registers */
    g_assert_cmphex(rnic_reg_file_load(&b.f, CTRL, 8), ==, 0x0000f0f000000011ULL);
    /* the device has written, not software */
    g_assert_cmphex(rnic_reg_file_written64(&b.f, EVENTS), ==, 0);
    bench_end(&b);
}

static void test_masks(void)
{
    Bench b;

    bench_init(&b);
    rnic_reg_file_store(&b.f, CTRL, 0xabcdef42, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CTRL), ==, 0x42);
    g_assert_cmphex((uint32_t)rnic_reg_file_written64(&b.f, CTRL), ==, 0xabcdef42);
    rnic_reg_file_store(&b.f, ADDR, 0xa0a1a2a3a4a5a6a7ULL, 8);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, ADDR), ==, 0x11a1a2a3a4a5a688ULL);
    g_assert_cmphex(rnic_reg_file_written64(&b.f, ADDR), ==, 0xa0a1a2a3a4a5a6a7ULL);
    rnic_reg_file_store(&b.f, ID, 0, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, ID), ==, 0xe8a7e7);
    rnic_reg_file_store(&b.f, NOTHING, 0x12345678, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, NOTHING), ==, 0);
    /* the registers of the second unit, and of the neighbours, are unchanged */
    g_assert_cmphex(rnic_reg_file_get32(&b.f, UNIT + CTRL), ==, 0x11);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, UNIT + ADDR), ==, 0x1122334455667788ULL);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CAUSE), ==, 0xf0f0);
    bench_end(&b);
}

/* A store of 1 clears a bit, a store of 0 keeps the bit, and no store sets the bit. */
static void test_w1c(void)
{
    Bench b;

    bench_init(&b);
    rnic_reg_file_store(&b.f, CAUSE, 0x3000, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CAUSE), ==, 0xc0f0);
    rnic_reg_file_store(&b.f, CAUSE, 0, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CAUSE), ==, 0xc0f0);
    rnic_reg_file_store(&b.f, CAUSE, 0x3000, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CAUSE), ==, 0xc0f0);
    rnic_reg_file_store(&b.f, CAUSE, ~0u, 4);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CAUSE), ==, 0x00f0);
    /* one register has writable bits and bits that a store of 1 clears */
    rnic_reg_file_store(&b.f, EVENTS, 0x8100000000000005ULL, 8);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, EVENTS), ==, 0x7efffffffffffff5ULL);
    /* 8 bytes of two registers, each with its masks */
    rnic_reg_file_set32(&b.f, CAUSE, 0xff00);
    rnic_reg_file_store(&b.f, CTRL, 0x0000420000000033ULL, 8);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CTRL), ==, 0x33);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, CAUSE), ==, 0xbd00);
    bench_end(&b);
}

/* Stores to half of an 8-byte register change this half, with its masks. */
static void test_halves(void)
{
    Bench b;

    bench_init(&b);
    rnic_reg_file_store(&b.f, ADDR, 0xaabbccdd, 4);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, ADDR), ==, 0x11223344aabbcc88ULL);
    g_assert_cmphex(rnic_reg_file_written64(&b.f, ADDR), ==, 0xaabbccddULL);
    rnic_reg_file_store(&b.f, ADDR + 4, 0x99001122, 4);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, ADDR), ==, 0x11001122aabbcc88ULL);
    g_assert_cmphex(rnic_reg_file_written64(&b.f, ADDR), ==, 0x99001122aabbccddULL);
    /* bits that a store of 1 clears are in the top half */
    rnic_reg_file_store(&b.f, EVENTS, 0xff000000, 4);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, EVENTS), ==, 0xfffffffffffffff0ULL);
    rnic_reg_file_store(&b.f, EVENTS + 4, 0x0f000000, 4);
    g_assert_cmphex(rnic_reg_file_get64(&b.f, EVENTS), ==, 0xf0fffffffffffff0ULL);
    g_assert_cmphex(rnic_reg_file_get32(&b.f, ID), ==, 0xe8a7e7);
    bench_end(&b);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/reg-file/reset", test_reset);
    g_test_add_func("/core/reg-file/lanes", test_lanes);
    g_test_add_func("/core/reg-file/values", test_values);
    g_test_add_func("/core/reg-file/masks", test_masks);
    g_test_add_func("/core/reg-file/w1c", test_w1c);
    g_test_add_func("/core/reg-file/halves", test_halves);
    return g_test_run();
}
