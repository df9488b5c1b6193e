/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL registers: ids, values after a reset and masks of all registers in the lists of
 * regs.h, and accesses of all sizes at all offsets.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "../common/reg-table.h"
#include "device.h"

static const RegRow global_regs[] = { EXTOLL_GLOBAL_REGS(REG_ROW) };
static const RegRow irq_regs[] = { EXTOLL_IRQ_REGS(REG_ROW) };
static const RegRow velo_regs[] = { EXTOLL_VELO_REGS(REG_ROW) };
static const RegRow route_regs[] = { EXTOLL_ROUTE_REGS(REG_ROW) };
static const RegRow velo_vpid_regs[] = { EXTOLL_VELO_VPID_REGS(REG_ROW) };
static const RegRow end_point_regs[] = { EXTOLL_END_POINT_REGS(REG_ROW) };
static const RegRow rp_regs[] = { EXTOLL_RP_REGS(REG_ROW) };
static const RegRow counter_regs[] = { { "COUNTER", 0, 8, 0, 0, 0 } };

/* The blocks that exist. */
static const RegBlock blocks[] = {
    { global_regs, ARRAY_SIZE(global_regs), EXTOLL_GLOBAL, 0, 1 },
    { irq_regs, ARRAY_SIZE(irq_regs), EXTOLL_IRQ(0), EXTOLL_IRQ(1) - EXTOLL_IRQ(0),
      EXTOLL_VECTORS },
    { velo_regs, ARRAY_SIZE(velo_regs), EXTOLL_VELO, 0, 1 },
    { route_regs, ARRAY_SIZE(route_regs), EXTOLL_VELO_ROUTE(0), 8, EXTOLL_NODES },
    { velo_vpid_regs, ARRAY_SIZE(velo_vpid_regs), EXTOLL_VELO_VPID(0),
      EXTOLL_VELO_VPID(1) - EXTOLL_VELO_VPID(0), EXTOLL_VPIDS },
    { end_point_regs, ARRAY_SIZE(end_point_regs), EXTOLL_END_POINT(0),
      EXTOLL_END_POINT(1) - EXTOLL_END_POINT(0), EXTOLL_VPIDS },
    { rp_regs, ARRAY_SIZE(rp_regs), EXTOLL_VELO_RP(0),
      EXTOLL_VELO_RP(1) - EXTOLL_VELO_RP(0), EXTOLL_VPIDS },
    { counter_regs, ARRAY_SIZE(counter_regs), EXTOLL_COUNTER(0), 8,
      EXTOLL_COUNTER_COUNT },
};

/* Offsets in blocks of units that do not exist yet, and in holes of blocks. */
static const uint64_t absent[] = {
    EXTOLL_PORT(0) + EXTOLL_REG_PORT_CTRL,
    EXTOLL_PORT(EXTOLL_LINKS - 1) + EXTOLL_REG_PORT_RATE,
    EXTOLL_VELO + EXTOLL_REG_VELO_COUNT + 8, EXTOLL_VELO_ROUTE(0) - 8,
    EXTOLL_VELO_ROUTE(EXTOLL_NODES), EXTOLL_VELO_VPID(0) + EXTOLL_REG_TXIO + 8,
    EXTOLL_VELO_VPID(EXTOLL_VPIDS), EXTOLL_VELO_VPID(EXTOLL_VPIDS) - 8,
    EXTOLL_RMA + EXTOLL_REG_RMA_ENABLE, EXTOLL_RMA_ROUTE(EXTOLL_NODES - 1),
    EXTOLL_RMA_VPID(EXTOLL_VPIDS - 1) + EXTOLL_REG_NOTI_RP,
    EXTOLL_SNQ + EXTOLL_REG_SNQ_BASE, EXTOLL_ATU + EXTOLL_REG_ATU_FLUSH,
    EXTOLL_GAT_BASE(0), EXTOLL_GAT_BASE(EXTOLL_GATS - 1),
    EXTOLL_END_POINT(0) + EXTOLL_REG_PROT + 8, EXTOLL_END_POINT(EXTOLL_VPIDS),
    EXTOLL_VELO_RP(0) - 8, EXTOLL_VELO_RP(0) + EXTOLL_REG_RP + 8,
    EXTOLL_VELO_RP(EXTOLL_VPIDS), EXTOLL_RMA_RP(0), EXTOLL_RMA_RP(EXTOLL_VPIDS - 1),
    EXTOLL_REGS_BYTES - 8,
};

/* Parts of the blocks of VELO, with holes. */
static const struct { uint64_t from, to; } velo_parts[] = {
    { EXTOLL_VELO, EXTOLL_VELO + 0x20 },
    { EXTOLL_VELO_ROUTE(EXTOLL_NODES - 1) - 8, EXTOLL_VELO_ROUTE(EXTOLL_NODES) + 8 },
    { EXTOLL_VELO_VPID(0) - 8, EXTOLL_VELO_VPID(1) + 8 },
    { EXTOLL_VELO_VPID(EXTOLL_VPIDS - 1), EXTOLL_VELO_VPID(EXTOLL_VPIDS) + 8 },
    { EXTOLL_END_POINT(EXTOLL_VPIDS - 1) - 8, EXTOLL_END_POINT(EXTOLL_VPIDS) + 8 },
    { EXTOLL_VELO_RP(0) - 8, EXTOLL_VELO_RP(0) + 0x20 },
    { EXTOLL_VELO_RP(EXTOLL_VPIDS - 1) - 8, EXTOLL_VELO_RP(EXTOLL_VPIDS - 1) + 0x20 },
};

static void for_each_reg(ExtollTest *t, RegFn *fn)
{
    reg_table_foreach(blocks, ARRAY_SIZE(blocks), fn, t);
}

/* Returns the register that contains offset @at, or NULL. */
static const RegRow *reg_at(uint64_t at)
{
    for (unsigned b = 0; b < ARRAY_SIZE(blocks); b++) {
        uint64_t stride = blocks[b].stride ?: 0x1000;

        if (at < blocks[b].base || at >= blocks[b].base + blocks[b].units * stride) {
            continue;
        }
        for (unsigned r = 0; r < blocks[b].count; r++) {
            const RegRow *reg = &blocks[b].rows[r];
            uint64_t in_unit = (at - blocks[b].base) % stride;

            if (in_unit >= reg->offset && in_unit < reg->offset + reg->bytes) {
                return reg;
            }
        }
    }
    return NULL;
}

/* Returns the value after reset, also for registers that the device computes. */
static uint64_t expected_reset(const RegRow *r)
{
    return g_str_equal(r->name, "CAP") ?
               EXTOLL_CAP_PROT | EXTOLL_CAP_TXIO |
               RNIC_PREP(EXTOLL_CAP_LOG2_TLB, EXTOLL_CAP_NO_TLB) :
           g_str_equal(r->name, "STATUS") ? EXTOLL_STATUS_IDLE :
           g_str_equal(r->name, "NODE") ? EXTOLL_TEST_NODE :
           g_str_equal(r->name, "EPOCH") ? EXTOLL_TEST_EPOCH : r->reset;
}

static void check_reset(void *opaque, const RegRow *r, uint64_t at, unsigned unit)
{
    ExtollTest *t = opaque;
    uint64_t value = machine_load(t->qts, t->regs.addr + at, r->bytes);

    if (!g_str_equal(r->name, "TIME") && value != expected_reset(r)) {
        g_error("%s at 0x%" PRIx64 " reads 0x%" PRIx64 " after reset, not 0x%" PRIx64,
                r->name, at, value, expected_reset(r));
    }
}

/* --- Values ------------------------------------------------------------------ */

/* BAR 2 is 64 bits wide, prefetchable, and has 256 MiB. */
static void check_velo_bar(ExtollTest *t)
{
    unsigned at = PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_VELO;

    g_assert_cmphex(qpci_config_readl(t->dev, at) & 0xf, ==,
                    PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64 |
                    PCI_BASE_ADDRESS_MEM_PREFETCH);
    qpci_config_writel(t->dev, at, ~0u);
    qpci_config_writel(t->dev, at + 4, ~0u);
    g_assert_cmphex(qpci_config_readl(t->dev, at) & ~0xfu, ==,
                    -(uint32_t)EXTOLL_VELO_BAR_BYTES);
    g_assert_cmphex(qpci_config_readl(t->dev, at + 4), ==, ~0u);
}

static void test_ids(void)
{
    ExtollTest *t = extoll_start("");
    uint32_t bar;

    g_assert_cmphex(qpci_config_readw(t->dev, PCI_VENDOR_ID), ==, EXTOLL_PCI_VENDOR_ID);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_DEVICE_ID), ==, EXTOLL_PCI_DEVICE_ID);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_CLASS_DEVICE), ==, EXTOLL_PCI_CLASS);
    bar = qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_REGS);
    g_assert_cmphex(bar & 0xf, ==, PCI_BASE_ADDRESS_SPACE_MEMORY);
    check_velo_bar(t);
    /* the BAR of the RMA comes with this unit */
    for (unsigned i = EXTOLL_BAR_RMA; i < 6; i++) {
        qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * i, ~0u);
        g_assert_cmphex(qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * i), ==, 0);
    }
    extoll_msix_enable(t);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_VERSION), ==, EXTOLL_VERSION);
    extoll_stop(t);
}

static void test_reset_values(void)
{
    ExtollTest *t = extoll_start("");

    for_each_reg(t, check_reset);
    extoll_stop(t);
}

static void test_properties(void)
{
    static const char *const properties[] = {
        "epoch", "node", "strict", "split", "cfcq-timeout-ms",
        "peer0", "peer1", "peer2", "peer3", "peer4", "peer5",
    };
    static const char *const bad[] = { "node=64", "node=255", "node=256", "epoch=256" };
    g_autofree char *help = NULL;
    ExtollTest *t = extoll_start(",node=63,epoch=1,strict=on");

    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_NODE), ==, 63);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), ==, 1);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_CAP) & ~EXTOLL_CAP_LOG2_TLB, ==, 0);
    extoll_stop(t);
    /* the first epoch depends on the time of day, and is never 0 */
    t = extoll_start(",epoch=0");
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), !=, 0);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), <=, UINT8_MAX);
    extoll_stop(t);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *args = g_strdup_printf("-device extoll-pci,%s", bad[i]);
        g_autofree char *err = NULL;

        g_assert_cmpint(machine_run(args, NULL, &err), ==, 1);
        g_assert_nonnull(strstr(err, "node") ?: strstr(err, "epoch"));
    }
    g_assert_cmpint(machine_run("-device extoll-pci,help", &help, NULL), ==, 0);
    machine_assert_described(help, properties, ARRAY_SIZE(properties));
}

static void check_masks(void *opaque, const RegRow *r, uint64_t at, unsigned unit)
{
    ExtollTest *t = opaque;

    /* registers that start an action have tests of their own */
    if (!g_str_equal(r->name, "TEST_IRQ") && !g_str_equal(r->name, "TEST_OP") &&
        !g_str_equal(r->name, "CTRL") && !g_str_equal(r->name, "TIME") &&
        !g_str_equal(r->name, "COUNTER")) {
        reg_row_check_masks(t->qts, r, t->regs.addr + at);
    }
}

static void test_masks(void)
{
    ExtollTest *t = extoll_start("");

    for_each_reg(t, check_masks);
    for_each_reg(t, check_reset);
    extoll_set32(t, EXTOLL_REG_CTRL, ~(uint32_t)EXTOLL_CTRL_RESET);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_CTRL), ==, EXTOLL_CTRL_ENABLE);
    extoll_set32(t, EXTOLL_REG_CTRL, 0);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_CTRL), ==, 0);
    extoll_stop(t);
}

static void test_time(void)
{
    ExtollTest *t = extoll_start("");
    uint64_t before = extoll_get64(t, EXTOLL_REG_TIME);

    qtest_clock_step(t->qts, 12345);
    g_assert_cmpuint(extoll_get64(t, EXTOLL_REG_TIME), ==, before + 12345);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TIME), ==, (uint32_t)(before + 12345));
    extoll_stop(t);
}

/* --- Bad accesses -------------------------------------------------------------- */

static uint64_t load(ExtollTest *t, uint64_t at, unsigned size)
{
    return machine_load(t->qts, t->regs.addr + at, size);
}

static void store(ExtollTest *t, uint64_t at, unsigned size, uint64_t value)
{
    machine_store(t->qts, t->regs.addr + at, size, value);
}

/* Returns the byte at offset @at in the registers after a reset. */
static uint8_t byte_at(uint64_t at)
{
    const RegRow *r = reg_at(at);

    return r ? expected_reset(r) >> 8 * ((at - r->offset) % 8) : 0;
}

/*
 * Loads @size bytes at @at.  Asserts the value by the table of registers, and that the
 * load is counted in REG_BAD if a part has no register.  *@bad is the present count.
 */
static void sweep_load(ExtollTest *t, uint64_t at, unsigned size, uint64_t *bad)
{
    bool whole = size >= 4 && at % size == 0;
    uint64_t want = 0;

    for (unsigned i = 0; i < size && whole; i++) {
        want |= (uint64_t)byte_at(at + i) << 8 * i;
    }
    g_assert_cmphex(load(t, at, size), ==, want);
    for (unsigned i = 0; i < size; i += 4) {
        whole = whole && reg_at(at + i);
    }
    *bad += !whole;
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, *bad);
}

/* All sizes at all offsets up to the registers' end, and around it. */
static void test_loads(void)
{
    static const unsigned sizes[] = { 1, 2, 4, 8 };
    ExtollTest *t = extoll_start("");
    uint64_t bad = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        for (uint64_t at = 0; at < EXTOLL_IRQ(EXTOLL_VECTORS) + 16; at++) {
            sweep_load(t, at, sizes[i], &bad);
        }
        for (unsigned n = 0; n < ARRAY_SIZE(velo_parts); n++) {
            for (uint64_t at = velo_parts[n].from; at < velo_parts[n].to; at++) {
                sweep_load(t, at, sizes[i], &bad);
            }
        }
        for (unsigned n = 0; n < ARRAY_SIZE(absent); n++) {
            sweep_load(t, absent[n], sizes[i], &bad);
        }
        sweep_load(t, EXTOLL_COUNTER(0) - 8, sizes[i], &bad);
        sweep_load(t, EXTOLL_COUNTER(0), sizes[i], &bad);
        sweep_load(t, EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT), sizes[i], &bad);
    }
    g_assert_cmpuint(bad, >, 0);
    t->guest_errors = true;
    extoll_stop(t);
}

/*
 * Stores @size bytes at all offsets from @from to @to where the store has no effect, and
 * adds the number of these stores to *@bad.
 */
static void sweep_stores(ExtollTest *t, uint64_t from, uint64_t to, unsigned size,
                         uint64_t *bad)
{
    for (uint64_t at = from; at < to; at++) {
        if (size < 4 || at % size || !(reg_at(at) || reg_at(at + size - 4))) {
            store(t, at, size, ~0ULL);
            ++*bad;
        }
    }
}

/*
 * Stores of all sizes at all offsets without effect: after them all registers have their
 * values after a reset, and the counter has counted each store.
 */
static void test_stores(void)
{
    static const unsigned sizes[] = { 1, 2, 4, 8 };
    ExtollTest *t = extoll_start("");
    uint64_t bad = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        unsigned size = sizes[i];

        sweep_stores(t, 0, EXTOLL_IRQ(EXTOLL_VECTORS) + 16, size, &bad);
        for (unsigned n = 0; n < ARRAY_SIZE(velo_parts); n++) {
            sweep_stores(t, velo_parts[n].from, velo_parts[n].to, size, &bad);
        }
        for (unsigned n = 0; n < ARRAY_SIZE(absent); n++) {
            store(t, absent[n], size, ~0ULL);
            g_assert_cmphex(load(t, absent[n], 8), ==, 0);
            bad += 2;
        }
    }
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, bad);
    extoll_set64(t, EXTOLL_COUNTER(EXTOLL_CNT_REG_BAD), 0);
    for_each_reg(t, check_reset);
    t->guest_errors = true;
    extoll_stop(t);
}

/* One access may cover two registers, or a register and a hole. */
static void test_wide(void)
{
    ExtollTest *t = extoll_start("");

    extoll_set64(t, EXTOLL_REG_TEST_BYTES, 0x1234567800000040ULL);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_BYTES), ==, 0x40);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_DATA), ==, 0x12345678);
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 0);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_TEST_STATUS), ==, EXTOLL_TEST_NONE);
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 1);
    extoll_irq_set(t, EXTOLL_VEC_VELO, MASK, 7);
    extoll_set64(t, EXTOLL_IRQ(EXTOLL_VEC_VELO) + EXTOLL_REG_IRQ_CLEAR, ~0ULL);
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 2);
    t->guest_errors = true;
    extoll_stop(t);
}

/* --- Counters ------------------------------------------------------------------ */

/* Any store clears a counter, also a store to one half, and clears no other counter. */
static void test_counters(void)
{
    const uint64_t at = EXTOLL_COUNTER(EXTOLL_CNT_REG_BAD);
    ExtollTest *t = extoll_start("");

    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VECTORS);
    for (unsigned half = 0; half <= 4; half += 4) {
        extoll_get32(t, EXTOLL_SNQ);
        extoll_get32(t, EXTOLL_SNQ);
        g_assert_cmpuint(extoll_get64(t, at), ==, 2);
        g_assert_cmpuint(extoll_get32(t, at), ==, 2);
        g_assert_cmpuint(extoll_get32(t, at + 4), ==, 0);
        extoll_set32(t, at + half, ~0u);
        g_assert_cmpuint(extoll_get64(t, at), ==, 0);
    }
    g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 1);
    extoll_set64(t, EXTOLL_COUNTER(EXTOLL_CNT_TEST_BAD), 5);
    g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 0);
    t->guest_errors = true;
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/regs/ids", test_ids);
    qtest_add_func("/extoll/regs/reset-values", test_reset_values);
    qtest_add_func("/extoll/regs/properties", test_properties);
    qtest_add_func("/extoll/regs/masks", test_masks);
    qtest_add_func("/extoll/regs/time", test_time);
    qtest_add_func("/extoll/regs/loads", test_loads);
    qtest_add_func("/extoll/regs/stores", test_stores);
    qtest_add_func("/extoll/regs/wide", test_wide);
    qtest_add_func("/extoll/regs/counters", test_counters);
    return g_test_run();
}
