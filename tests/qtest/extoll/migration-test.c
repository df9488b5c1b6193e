/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An EXTOLL NIC continues in another QEMU with the registers, counters and epoch that it
 * had.  Streams with impossible registers, and streams that end early, are refused, and
 * the device can be reset afterwards.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "rnic/extoll/wire.h"
#include "device.h"

/* Distinct values of the registers of this test. */
#define SCRATCH     0x1122334455667788ULL
#define ADDR        (EXTOLL_RAM_DATA + 0x40)
#define DATA        0xa1b2c3d4u
#define PORT_UP     (EXTOLL_PORT_STATUS_UP | EXTOLL_PORT_STATUS_PEER | \
                     EXTOLL_PORT_STATUS_PRESENT)
#define MASK(v)     (0xf0f0f000u | EXTOLL_EVENT_TEST | (v))

static ExtollTest *start(void)
{
    ExtollTest *t = extoll_start("");

    extoll_msix_enable(t);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
    extoll_set32(t, EXTOLL_REG_NODE, 17);
    extoll_set64(t, EXTOLL_REG_SCRATCH, SCRATCH);
    g_assert_cmpuint(extoll_selftest(t, EXTOLL_TEST_FILL, ADDR, 64, DATA), ==,
                     EXTOLL_TEST_OK);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_EVENTS);
    extoll_get32(t, EXTOLL_SNQ);
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        extoll_irq_set(t, v, MASK, MASK(v));
    }
    extoll_msix_taken(t);
    t->guest_errors = true;
    return t;
}

static void check(ExtollTest *t)
{
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), ==, EXTOLL_TEST_EPOCH + 1);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_CTRL), ==, EXTOLL_CTRL_ENABLE);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_NODE), ==, 17);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_SCRATCH), ==, SCRATCH);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_TEST_ADDR), ==, ADDR);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_BYTES), ==, 64);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_TEST_DATA), ==, DATA);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_TEST_STATUS), ==, EXTOLL_TEST_OK);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, EXTOLL_EVENT_TEST);
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        g_assert_cmphex(extoll_irq_get(t, v, MASK), ==, MASK(v));
    }
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 1);
    g_assert_cmpuint(extoll_counter(t, TEST_BAD), ==, 0);
}

/*
 * The cause that has sent its vector sends no other one, and a new edge does, by the
 * vectors that the guest has set up before.
 */
static void check_irq(ExtollTest *t)
{
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, ~0u);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, 0);
    extoll_irq_set(t, EXTOLL_VEC_EVENTS, MASK, EXTOLL_EVENT_TEST);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_EVENTS);
}

static void test_continues(void)
{
    ExtollTest *from = start(), *to = extoll_start(MIGRATE_INCOMING);
    g_autofree char *path = migrate_save(from->qts);

    migrate_load(to->qts, path);
    unlink(path);
    extoll_stop(from);
    check(to);
    check_irq(to);
    g_assert_cmpuint(extoll_selftest(to, EXTOLL_TEST_INVERT, ADDR, 64, 0), ==,
                     EXTOLL_TEST_OK);
    g_assert_cmphex(qtest_readl(to->qts, ADDR + 60), ==, ~DATA);
    /* the next epoch follows from the loaded one */
    extoll_set32(to, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    g_assert_cmpuint(extoll_get32(to, EXTOLL_REG_EPOCH), ==, EXTOLL_TEST_EPOCH + 2);
    extoll_stop(to);
}

/* A snapshot is loaded into the same device, after other values and resets. */
static void test_snapshot(void)
{
    ExtollTest *t = start();
    g_autofree char *path = g_strdup_printf("%s.disk", t->log);

    migrate_disk_add(t->qts, path);
    migrate_snapshot(t->qts, "snapshot-save");
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    extoll_set64(t, EXTOLL_REG_SCRATCH, 1);
    extoll_irq_set(t, EXTOLL_VEC_RMA, MASK, 1);
    migrate_snapshot(t->qts, "snapshot-load");
    unlink(path);
    check(t);
    extoll_stop(t);
}

#define LINK ",link0=c0 -netdev hubport,id=c0,hubid=0"

/*
 * Registers of a port load with their effect: a link in loopback is up again, and goes
 * on, because its peer and its epoch are the same.
 */
static void test_port(void)
{
    ExtollTest *from = extoll_start(LINK), *to = extoll_start(LINK MIGRATE_INCOMING);
    g_autofree char *path = NULL;
    uint64_t port = EXTOLL_PORT(0);

    extoll_set32(from, port + EXTOLL_REG_PORT_LATENCY, 1000);
    extoll_set32(from, port + EXTOLL_REG_PORT_RATE, 8000000);
    extoll_set32(from, port + EXTOLL_REG_PORT_CTRL,
                 EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    qtest_clock_step(from->qts, 200 * 1000 * 1000);
    g_assert_cmphex(extoll_get32(from, port + EXTOLL_REG_PORT_STATUS), ==, PORT_UP);
    path = migrate_save(from->qts);
    extoll_stop(from);
    migrate_load(to->qts, path);
    unlink(path);
    g_assert_cmpuint(extoll_get32(to, port + EXTOLL_REG_PORT_LATENCY), ==, 1000);
    g_assert_cmpuint(extoll_get32(to, port + EXTOLL_REG_PORT_RATE), ==, 8000000);
    g_assert_cmphex(extoll_get32(to, port + EXTOLL_REG_PORT_CTRL), ==,
                    EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    qtest_clock_step(to->qts, 200 * 1000 * 1000);
    g_assert_cmphex(extoll_get32(to, port + EXTOLL_REG_PORT_STATUS), ==, PORT_UP);
    g_assert_cmpuint(extoll_get32(to, port + EXTOLL_REG_PORT_CREDIT_0), ==,
                     EXTOLL_ROOM_DEFAULT);
    g_assert_cmpuint(extoll_get64(to, port + EXTOLL_REG_PORT_RX_ERROR), ==, 0);
    extoll_stop(to);
}

/* --- Streams that lie ------------------------------------------------------------ */

/* Returns the stream, of *@len bytes, of a machine of start(), and its file in *@path. */
static char *stream_save(char **path, gsize *len)
{
    ExtollTest *from = start();
    char *text;

    *path = migrate_save(from->qts);
    extoll_stop(from);
    g_assert_true(g_file_get_contents(*path, &text, len, NULL));
    return text;
}

/* Properties that differ between the two ends. */
static void test_properties(void)
{
    static const char *const props[] = { "strict=on", "node=6", "rx-flits=50" };
    ExtollTest *from = start();
    g_autofree char *path = migrate_save(from->qts);

    extoll_stop(from);
    for (unsigned i = 0; i < ARRAY_SIZE(props); i++) {
        g_autofree char *all = g_strdup_printf(",%s" MIGRATE_INCOMING, props[i]);
        g_autofree char *reason = NULL;
        ExtollTest *to = extoll_start(all);

        reason = migrate_load_refused(to->qts, path);
        g_assert_nonnull(reason);
        extoll_stop(to);
    }
    unlink(path);
}

/*
 * Returns the place in the stream @text of the register at @offset of BAR 0: of its
 * offset, 4 bytes, which its value of 8 bytes follows.
 */
static uint8_t *place_of(uint8_t *text, size_t len, uint32_t offset)
{
    uint8_t first[4 + 8 + 4];
    uint8_t *found;

    /* the list begins with VERSION and its value, and then CAP */
    stl_be_p(first, EXTOLL_REG_VERSION);
    stq_be_p(first + 4, EXTOLL_VERSION);
    stl_be_p(first + 12, EXTOLL_REG_CAP);
    found = memmem(text, len, first, sizeof(first));
    g_assert_nonnull(found);
    while (ldl_be_p(found) != offset) {
        g_assert_cmphex(ldl_be_p(found), !=, UINT32_MAX);
        found += 12;
        g_assert_cmpuint(found - text, <, len);
    }
    return found;
}

/* Asserts that a reset gives the device, which has refused a stream, its usual values. */
static void check_resettable(ExtollTest *t)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'system_reset' }");
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_REGS, t->regs.addr);
    qpci_device_enable(t->dev);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_VERSION), ==, EXTOLL_VERSION);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_NODE), ==, EXTOLL_TEST_NODE);
    g_assert_cmphex(extoll_get64(t, EXTOLL_REG_SCRATCH), ==, 0);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_EVENTS, CAUSE), ==, 0);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), >=, 1);
    g_assert_cmpuint(extoll_get32(t, EXTOLL_REG_EPOCH), <=, UINT8_MAX);
}

static void assert_refused(const char *path, const void *text, size_t len)
{
    ExtollTest *to = extoll_start(MIGRATE_INCOMING);
    g_autofree char *reason = NULL;

    g_assert_true(g_file_set_contents(path, text, len, NULL));
    reason = migrate_load_refused(to->qts, path);
    g_assert_nonnull(reason);
    check_resettable(to);
    extoll_stop(to);
}

/* A register with a value that it cannot have, or a register that does not exist. */
static void test_registers(void)
{
    static const struct {
        uint32_t offset;
        uint32_t other;             /* offset that replaces @offset */
        uint64_t value;
    } lies[] = {
        { EXTOLL_REG_VERSION, EXTOLL_REG_VERSION, EXTOLL_VERSION + 1 },
        { EXTOLL_REG_CAP, EXTOLL_REG_CAP, EXTOLL_CAP_SNQ },
        { EXTOLL_REG_CTRL, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET },
        { EXTOLL_REG_NODE, EXTOLL_REG_NODE, EXTOLL_NODES },
        { EXTOLL_REG_NODE, EXTOLL_REG_NODE, 1ULL << 32 },
        { EXTOLL_REG_EPOCH, EXTOLL_REG_EPOCH, 0 },
        { EXTOLL_REG_EPOCH, EXTOLL_REG_EPOCH, 256 },
        { EXTOLL_REG_TEST_STATUS, EXTOLL_REG_TEST_STATUS, EXTOLL_TEST_BUS + 1 },
        { EXTOLL_REG_TEST_OP, EXTOLL_REG_TEST_OP, EXTOLL_TEST_FILL },
        { EXTOLL_REG_TEST_BYTES, EXTOLL_REG_TEST_BYTES, 256 },
        { EXTOLL_IRQ(0) + EXTOLL_REG_IRQ_CAUSE, EXTOLL_IRQ(0) + EXTOLL_REG_IRQ_CAUSE,
          EXTOLL_EVENT_SNQ },
        { EXTOLL_IRQ(2) + EXTOLL_REG_IRQ_CAUSE, EXTOLL_IRQ(2) + EXTOLL_REG_IRQ_CAUSE, 1 },
        { EXTOLL_IRQ(2) + EXTOLL_REG_IRQ_CLEAR, EXTOLL_IRQ(2) + EXTOLL_REG_IRQ_CLEAR, 1 },
        { EXTOLL_REG_SCRATCH, EXTOLL_VELO + EXTOLL_REG_VELO_COUNT, 1 },
        { EXTOLL_REG_SCRATCH, EXTOLL_VELO_VPID(0) + EXTOLL_REG_BALT, 1 },
        { EXTOLL_REG_SCRATCH, EXTOLL_VELO_VPID(1) + EXTOLL_REG_MSLT, 0x1fffff },
        { EXTOLL_REG_SCRATCH, EXTOLL_VELO_VPID(2) + EXTOLL_REG_WPLT, 1ULL << 32 },
        { EXTOLL_REG_SCRATCH, EXTOLL_VELO_VPID(31) + EXTOLL_REG_TXIO, 2 },
        { EXTOLL_REG_SCRATCH, EXTOLL_END_POINT(31) + EXTOLL_REG_PROT, 0x10000 },
        { EXTOLL_REG_SCRATCH, EXTOLL_VELO_ROUTE(EXTOLL_NODES), 0 },
        /* the upper half of a register, holes, and offsets outside of BAR 0 */
        { EXTOLL_REG_SCRATCH, EXTOLL_REG_SCRATCH + 4, 0 },
        { EXTOLL_REG_SCRATCH, EXTOLL_REG_SCRATCH + 1, 0 },
        { EXTOLL_REG_SCRATCH, EXTOLL_IRQ(EXTOLL_VECTORS), 0 },
        { EXTOLL_REG_SCRATCH, EXTOLL_PORT(0), 0 },
        { EXTOLL_REG_SCRATCH, EXTOLL_COUNTER(0) + 4, 0 },
        { EXTOLL_REG_SCRATCH, EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT), 0 },
        { EXTOLL_REG_SCRATCH, EXTOLL_REGS_BYTES, 0 },
        { EXTOLL_REG_SCRATCH, 0xfffffffc, 0 },
    };
    g_autofree char *path = NULL, *text = NULL;
    gsize len;

    text = stream_save(&path, &len);
    for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
        g_autofree uint8_t *copy = g_memdup2(text, len);
        uint8_t *place = place_of(copy, len, lies[i].offset);

        stl_be_p(place, lies[i].other);
        stq_be_p(place + 4, lies[i].value);
        assert_refused(path, copy, len);
    }
    unlink(path);
}

/* The stream ends inside the registers. */
static void test_truncated(void)
{
    static const uint32_t ends[] = {
        EXTOLL_REG_VERSION, EXTOLL_REG_SCRATCH, EXTOLL_IRQ(1) + EXTOLL_REG_IRQ_MASK,
        EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT - 1),
    };
    g_autofree char *path = NULL, *text = NULL;
    gsize len;

    text = stream_save(&path, &len);
    for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
        uint8_t *place = place_of((uint8_t *)text, len, ends[i]);

        assert_refused(path, text, place - (uint8_t *)text + 4 * (i % 3));
    }
    unlink(path);
}

/* A stream of an earlier device, which lacks registers: these keep their reset values. */
static void test_fewer(void)
{
    ExtollTest *to = extoll_start(MIGRATE_INCOMING);
    g_autofree char *path = NULL, *text = NULL;
    uint8_t *scratch, *addr;
    gsize len;

    text = stream_save(&path, &len);
    /* register SCRATCH is twice in the stream, and TEST_ADDR is not */
    scratch = place_of((uint8_t *)text, len, EXTOLL_REG_SCRATCH);
    addr = place_of((uint8_t *)text, len, EXTOLL_REG_TEST_ADDR);
    memcpy(addr, scratch, 12);
    g_assert_true(g_file_set_contents(path, text, len, NULL));
    migrate_load(to->qts, path);
    unlink(path);
    g_assert_cmphex(extoll_get64(to, EXTOLL_REG_SCRATCH), ==, SCRATCH);
    g_assert_cmphex(extoll_get64(to, EXTOLL_REG_TEST_ADDR), ==, 0);
    extoll_stop(to);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/migration/continues", test_continues);
    qtest_add_func("/extoll/migration/snapshot", test_snapshot);
    qtest_add_func("/extoll/migration/port", test_port);
    qtest_add_func("/extoll/migration/properties", test_properties);
    qtest_add_func("/extoll/migration/registers", test_registers);
    qtest_add_func("/extoll/migration/truncated", test_truncated);
    qtest_add_func("/extoll/migration/fewer", test_fewer);
    return g_test_run();
}
