/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL self-test: vectors, and memory that the device fills and inverts, also behind a
 * bus that refuses the access.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci_regs.h"
#include "device.h"

#define DATA    EXTOLL_RAM_DATA
#define GUARD   16                  /* bytes around the memory that must not change */

/* --- Vectors ------------------------------------------------------------------- */

static void test_vectors(void)
{
    ExtollTest *t = extoll_start("");

    extoll_msix_enable(t);
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        extoll_set32(t, EXTOLL_REG_TEST_IRQ, v);
        g_assert_cmphex(extoll_msix_taken(t), ==, 1u << v);
        g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_IRQ), ==, 0);
    }
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, EXTOLL_EVENT_TEST);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 0);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_RMA, CAUSE), ==, 0);
    g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 0);
    extoll_stop(t);
}

static void test_no_such_vector(void)
{
    static const uint32_t vectors[] = {
        EXTOLL_VECTORS, EXTOLL_VECTORS + 1, 31, 32, 33, 64, 0x100, 0x10000, 0x7fffffff,
        0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
    };
    ExtollTest *t = extoll_start("");

    extoll_msix_enable(t);
    for (unsigned i = 0; i < ARRAY_SIZE(vectors); i++) {
        extoll_set32(t, EXTOLL_REG_TEST_IRQ, vectors[i]);
        g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, i + 1);
    }
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, 0);
    t->guest_errors = true;
    extoll_stop(t);
}

/* --- Memory -------------------------------------------------------------------- */

/*
 * Runs @op on @bytes bytes of RAM at @addr with a random content, and asserts the result
 * byte by byte, and that the bytes around it have not changed.
 */
static void check_memory(ExtollTest *t, enum extoll_test_op op, uint64_t addr,
                         uint32_t bytes)
{
    uint8_t want[EXTOLL_TEST_BYTES_MAX + 2 * GUARD];
    uint32_t data = g_test_rand_int();

    machine_fill(t->qts, addr - GUARD, want, bytes + 2 * GUARD, data);
    g_assert_cmpuint(extoll_selftest(t, op, addr, bytes, data), ==, EXTOLL_TEST_OK);
    for (unsigned i = GUARD; i < GUARD + bytes; i++) {
        want[i] = op == EXTOLL_TEST_FILL ? data >> 8 * (i % 4) : ~want[i];
    }
    machine_assert_mem(t->qts, addr - GUARD, want, bytes + 2 * GUARD);
}

static void test_memory(void)
{
    ExtollTest *t = extoll_start("");

    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_TEST_STATUS), ==, EXTOLL_TEST_NONE);
    for (uint32_t bytes = 4; bytes <= EXTOLL_TEST_BYTES_MAX; bytes += 4) {
        check_memory(t, EXTOLL_TEST_FILL, DATA + 4 * (bytes % 7), bytes);
        check_memory(t, EXTOLL_TEST_INVERT, DATA + 4 * (bytes % 5), bytes);
    }
    /* across a page, and up to the end of RAM */
    check_memory(t, EXTOLL_TEST_FILL, DATA + 4096 - 64, 128);
    check_memory(t, EXTOLL_TEST_INVERT, DATA + 4096 - 4, 8);
    check_memory(t, EXTOLL_TEST_FILL, EXTOLL_RAM_BYTES - GUARD - 128, 128);
    g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 0);
    extoll_stop(t);
}

/* Operations, lengths and addresses that are refused: no byte changes. */
static void test_refused(void)
{
    static const struct {
        uint32_t op, bytes;
        uint64_t addr;
    } bad[] = {
        { 0, 64, DATA }, { 3, 64, DATA }, { 0x101, 64, DATA }, { ~0u, 64, DATA },
        { 1, 0, DATA }, { 2, 0, DATA }, { 1, 1, DATA }, { 2, 63, DATA }, { 1, 66, DATA },
        { 1, 132, DATA }, { 2, 132, DATA }, { 1, 255, DATA }, { 1, 252, DATA },
        { 1, 64, DATA + 1 }, { 2, 64, DATA + 2 }, { 1, 64, DATA + 3 },
        { 1, 128, -128 }, { 2, 128, -128 }, { 1, 8, -4 }, { 2, 8, -4 }, { 1, 4, -1 },
    };
    ExtollTest *t = extoll_start("");
    uint8_t want[256];

    machine_fill(t->qts, DATA, want, sizeof(want), 1);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_assert_cmpuint(extoll_selftest(t, bad[i].op, bad[i].addr, bad[i].bytes, ~0u),
                         ==, EXTOLL_TEST_REFUSED);
        g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, i + 1);
        machine_assert_mem(t->qts, DATA, want, sizeof(want));
    }
    /* TEST_BYTES has only 8 bits */
    extoll_set32(t, EXTOLL_REG_TEST_BYTES, 0xffffff40);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_BYTES), ==, 0x40);
    check_memory(t, EXTOLL_TEST_FILL, DATA, 64);
    t->guest_errors = true;
    extoll_stop(t);
}

/*
 * Addresses without memory: holes of the address space, registers of this device and of
 * another one, addresses beyond all memory.
 */
static void test_no_memory(void)
{
    ExtollTest *t = extoll_start("");
    const uint64_t bad[] = {
        EXTOLL_NO_RAM, EXTOLL_RAM_BYTES, 1ULL << 52, -256ULL, -132ULL,
        t->regs.addr + EXTOLL_REG_SCRATCH, t->regs.addr + EXTOLL_REG_CTRL,
        /* HPET and the APIC of the IO */
        0xfed00000, 0xfec00000,
    };

    extoll_set64(t, EXTOLL_REG_SCRATCH, 0x123456789abcdef0ULL);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, bad[i], 8, ~0u), ==,
                         EXTOLL_TEST_BUS);
        g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_INVERT, bad[i], 8, 0), ==,
                         EXTOLL_TEST_BUS);
        g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 2 * (i + 1));
    }
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_SCRATCH), ==, 0x123456789abcdef0ULL);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), ==, EXTOLL_TEST_EPOCH);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_CTRL), ==, 0);
    t->guest_errors = true;
    extoll_stop(t);
}

/*
 * Memory ends inside the range: an inversion changes nothing, and a fill changes at most
 * the part in memory.
 */
static void test_border(void)
{
    const uint64_t begin = EXTOLL_RAM_BYTES - 128, at = EXTOLL_RAM_BYTES - 64;
    ExtollTest *t = extoll_start("");
    uint8_t want[128];

    machine_fill(t->qts, begin, want, sizeof(want), 9);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_INVERT, at, 128, 0), ==,
                     EXTOLL_TEST_BUS);
    machine_assert_mem(t->qts, begin, want, sizeof(want));
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, at, 128, 0), ==,
                     EXTOLL_TEST_BUS);
    machine_assert_mem(t->qts, begin, want, at - begin);
    t->guest_errors = true;
    extoll_stop(t);
}

/* Without bus mastering the bus refuses each access. */
static void test_no_master(void)
{
    ExtollTest *t = extoll_start("");
    uint16_t command = qpci_config_readw(t->dev, PCI_COMMAND);
    uint8_t want[8];

    machine_fill(t->qts, DATA, want, sizeof(want), 3);
    qpci_config_writew(t->dev, PCI_COMMAND, command & ~PCI_COMMAND_MASTER);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, DATA, 8, 0), ==,
                     EXTOLL_TEST_BUS);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_INVERT, DATA, 8, 0), ==,
                     EXTOLL_TEST_BUS);
    machine_assert_mem(t->qts, DATA, want, sizeof(want));
    qpci_config_writew(t->dev, PCI_COMMAND, command);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_INVERT, DATA, 8, 0), ==,
                     EXTOLL_TEST_OK);
    t->guest_errors = true;
    extoll_stop(t);
}

/* --- Behind an IOMMU ------------------------------------------------------------- */

/* Registers and tables of VT-d. */
#define VTD         0xfed90000ULL
#define VTD_GCMD    0x18
#define VTD_RTADDR  0x20
#define VTD_ENABLE  (1u << 31)
#define VTD_ROOT    (1u << 30)      /* takes the root table from RTADDR */
#define VTD_LARGE   0x80            /* a page of 2 MiB */
/* Tables in RAM: root, context, and two levels of 39-bit addresses. */
#define TABLES      0x01200000ULL
#define LARGE_BYTES 0x200000ULL
/* Addresses without RAM that the IOMMU translates to DATA. */
#define WINDOW      0x40000000ULL

/* Rights of the pages of the window, of 2 MiB each: read 1, write 2. */
static const uint8_t rights[] = { 3, 1, 2, 0 };

static void iommu_start(ExtollTest *t)
{
    uint64_t root = TABLES, context = root + 4096, top = context + 4096, low = top + 4096;

    qtest_memset(t->qts, TABLES, 0, 4 * 4096);
    qtest_writeq(t->qts, root, context | 1);
    qtest_writeq(t->qts, context + 16 * t->dev->devfn, top | 1);
    qtest_writeq(t->qts, context + 16 * t->dev->devfn + 8, 1 << 8 | 1);
    qtest_writeq(t->qts, top + 8 * (WINDOW >> 30), low | 3);
    for (unsigned i = 0; i < ARRAY_SIZE(rights); i++) {
        if (rights[i]) {
            qtest_writeq(t->qts, low + 8 * i, DATA | VTD_LARGE | rights[i]);
        }
    }
    qtest_writeq(t->qts, VTD + VTD_RTADDR, root);
    qtest_writel(t->qts, VTD + VTD_GCMD, VTD_ROOT);
    qtest_writel(t->qts, VTD + VTD_GCMD, VTD_ENABLE);
}

/* All addresses are those of the bus: the IOMMU translates them, or refuses an access. */
static void test_iommu(void)
{
    ExtollTest *t = extoll_start(" -device intel-iommu");
    enum extoll_test_status want;
    uint32_t value = 0x01020304;

    iommu_start(t);
    for (unsigned i = 0; i < ARRAY_SIZE(rights); i++) {
        uint64_t at = WINDOW + i * LARGE_BYTES;

        qtest_writel(t->qts, DATA, value);
        want = rights[i] & 2 ? EXTOLL_TEST_OK : EXTOLL_TEST_BUS;
        g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, at, 4, ~0u), ==, want);
        g_assert_cmphex(qtest_readl(t->qts, DATA), ==, rights[i] & 2 ? ~0u : value);
        qtest_writel(t->qts, DATA, value);
        want = rights[i] == 3 ? EXTOLL_TEST_OK : EXTOLL_TEST_BUS;
        g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_INVERT, at, 4, 0), ==, want);
        g_assert_cmphex(qtest_readl(t->qts, DATA), ==, rights[i] == 3 ? ~value : value);
    }
    /* the address of the RAM itself is not mapped */
    qtest_writel(t->qts, DATA, value);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, DATA, 4, 0), ==,
                     EXTOLL_TEST_BUS);
    g_assert_cmphex(qtest_readl(t->qts, DATA), ==, value);
    t->guest_errors = true;
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/selftest/vectors", test_vectors);
    qtest_add_func("/extoll/selftest/no-such-vector", test_no_such_vector);
    qtest_add_func("/extoll/selftest/memory", test_memory);
    qtest_add_func("/extoll/selftest/refused", test_refused);
    qtest_add_func("/extoll/selftest/no-memory", test_no_memory);
    qtest_add_func("/extoll/selftest/border", test_border);
    qtest_add_func("/extoll/selftest/no-master", test_no_master);
    qtest_add_func("/extoll/selftest/iommu", test_iommu);
    return g_test_run();
}
