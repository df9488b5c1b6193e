/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of register blocks: which functions a load or a store calls, with which unit
 * and address, and accesses without a register.  The test is the device.
 */
#include "qemu/osdep.h"
#include "hw/rnic/core/regs.h"

/*
 * Offsets in the BAR.  There is one unit of block ONE, and three of block MANY, of which
 * number 1 does not exist.
 */
#define CTRL    0x00
#define ADDR    0x08
#define LAST    0x14
#define ONE     0x100
#define MANY(n) (0x8000 + 0x20 * (n))
#define WINDOW  0x40                /* bytes of block ONE in the register file */
#define BYTES   (WINDOW + 3 * 0x20)

typedef enum Call { CALL_NONE, CALL_SYNC, CALL_WRITTEN } Call;

typedef union Rig {
    RNicRegs t;
    uint8_t room[RNIC_REGS_SIZE(BYTES)];
} Rig;

static Rig rig;
/* calls since the last took() */
static struct {
    Call call;
    unsigned unit;
    hwaddr addr;
    bool top;
} calls[4];
static unsigned count;

static void called(void *opaque, Call call, unsigned unit, hwaddr addr, bool top)
{
    g_assert_true(opaque == &rig);
    g_assert_cmpuint(count, <, ARRAY_SIZE(calls));
    calls[count].call = call;
    calls[count].unit = unit;
    calls[count].addr = addr;
    calls[count++].top = top;
}

static void block_sync(void *opaque, unsigned unit, hwaddr addr)
{
    called(opaque, CALL_SYNC, unit, addr, false);
}

static void block_written(void *opaque, unsigned unit, hwaddr addr, bool top)
{
    called(opaque, CALL_WRITTEN, unit, addr, top);
}

static bool block_exists(void *opaque, unsigned unit)
{
    return unit != 1;
}

static unsigned at(hwaddr addr)
{
    return addr >= ONE && addr < ONE + WINDOW ? addr - ONE :
           addr >= MANY(0) && addr < MANY(3) ? WINDOW + (addr - MANY(0)) :
           RNIC_REGS_NONE;
}

#define REGS(X) \
    X(CTRL, CTRL, 4, 0x5, 0xff, 0) \
    X(ADDR, ADDR, 8, 0x1122334455667788ULL, 0xffffffffffffff00ULL, 0) \
    X(LAST, LAST, 4, 0, 0, 0xf0)

static const RNicRegInfo regs[] = { REGS(RNIC_REG_INFO) };

static const RNicRegBlock blocks[] = {
    { ONE, 0, 1, regs, ARRAY_SIZE(regs) },
    { MANY(0), MANY(1) - MANY(0), 3, regs, ARRAY_SIZE(regs), block_exists, block_sync,
      block_written },
    { 0 }
};

static void start(void)
{
    rnic_regs_init(&rig.t, blocks, at, &rig, BYTES);
    rnic_regs_reset(&rig.t);
    count = 0;
}

/* Asserts that call @n of the last access was @call for @unit at @addr. */
static void took(unsigned n, Call call, unsigned unit, hwaddr addr, bool top)
{
    g_assert_cmpuint(n, <, count);
    g_assert_cmpuint(calls[n].call, ==, call);
    g_assert_cmpuint(calls[n].unit, ==, unit);
    g_assert_cmphex(calls[n].addr, ==, addr);
    g_assert_cmpint(calls[n].top, ==, top);
}

static uint64_t load(hwaddr addr, unsigned size, bool all)
{
    uint64_t value;

    count = 0;
    g_assert_cmpint(rnic_regs_read(&rig.t, addr, size, &value), ==, all);
    return value;
}

static void store(hwaddr addr, unsigned size, uint64_t value, bool all)
{
    count = 0;
    g_assert_cmpint(rnic_regs_write(&rig.t, addr, value, size), ==, all);
}

static void test_reset(void)
{
    rnic_regs_init(&rig.t, blocks, at, &rig, BYTES);
    g_assert_cmphex(load(ONE + CTRL, 4, false), ==, 0);
    start();
    store(ONE + CTRL, 4, 0x77, true);
    store(MANY(2) + ADDR, 8, 0, true);
    rnic_regs_reset(&rig.t);
    g_assert_cmphex(load(ONE + CTRL, 4, true), ==, 0x5);
    g_assert_cmphex(load(MANY(0) + ADDR, 8, true), ==, 0x1122334455667788ULL);
    g_assert_cmphex(load(MANY(2) + ADDR, 8, true), ==, 0x1122334455667788ULL);
}

/* A load calls sync() once for each register, and for the half that it loads. */
static void test_loads(void)
{
    start();
    load(ONE + CTRL, 4, true);
    g_assert_cmpuint(count, ==, 0);
    load(MANY(2) + CTRL, 4, true);
    took(0, CALL_SYNC, 2, MANY(2) + CTRL, false);
    g_assert_cmpuint(count, ==, 1);
    load(MANY(0) + ADDR, 8, true);
    took(0, CALL_SYNC, 0, MANY(0) + ADDR, false);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmphex(load(MANY(0) + ADDR + 4, 4, true), ==, 0x11223344);
    took(0, CALL_SYNC, 0, MANY(0) + ADDR + 4, false);
    g_assert_cmpuint(count, ==, 1);
}

/* A store calls written() at the register's address, and says which half is the last. */
static void test_stores(void)
{
    start();
    store(ONE + CTRL, 4, 0x1234, true);
    g_assert_cmphex(load(ONE + CTRL, 4, true), ==, 0x34);
    store(MANY(2) + CTRL, 4, 0x1234, true);
    took(0, CALL_WRITTEN, 2, MANY(2) + CTRL, true);
    g_assert_cmpuint(count, ==, 1);
    store(MANY(0) + ADDR, 8, 0x0102030405060708ULL, true);
    took(0, CALL_WRITTEN, 0, MANY(0) + ADDR, true);
    g_assert_cmpuint(count, ==, 1);
    store(MANY(0) + ADDR, 4, 0xaabbccdd, true);
    took(0, CALL_WRITTEN, 0, MANY(0) + ADDR, false);
    store(MANY(0) + ADDR + 4, 4, 0x99, true);
    took(0, CALL_WRITTEN, 0, MANY(0) + ADDR, true);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmphex(load(MANY(0) + ADDR, 8, true), ==, 0x00000099aabbcc88ULL);
}

/* Parts of accesses without a register: a hole, and a unit that does not exist. */
static void test_holes(void)
{
    start();
    g_assert_cmphex(load(ONE + CTRL, 8, false), ==, 0x5);
    store(ONE + CTRL, 8, 0xffffffff00000042ULL, false);
    g_assert_cmphex(load(ONE + CTRL, 8, false), ==, 0x42);
    /* the hole is below the register */
    store(MANY(0) + LAST - 4, 8, 0xffffffffffffffffULL, false);
    took(0, CALL_WRITTEN, 0, MANY(0) + LAST, true);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmphex(load(MANY(0) + LAST - 4, 8, false), ==, 0);
    took(0, CALL_SYNC, 0, MANY(0) + LAST, false);
    for (unsigned addr = MANY(1); addr < MANY(2); addr += 8) {
        store(addr, 8, ~0ULL, false);
        g_assert_cmpuint(count, ==, 0);
        g_assert_cmphex(load(addr, 8, false), ==, 0);
        g_assert_cmpuint(count, ==, 0);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/regs/reset", test_reset);
    g_test_add_func("/core/regs/loads", test_loads);
    g_test_add_func("/core/regs/stores", test_stores);
    g_test_add_func("/core/regs/holes", test_holes);
    return g_test_run();
}
