/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exanet-axi as a device of Arm machines: its addresses, its node in the device tree,
 * and its two interrupt lines.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <libfdt.h>
#include "device.h"
#include "../common/wire-peer.h"

#define VIRT_BUS 0x0c000000u        /* address of virt's platform bus */
#define VIRT_SPI 112                /* first interrupt of virt's platform bus */
#define CABLE "-netdev hubport,hubid=%u,id=c%u " \
              "-device exanet-axi,coord=%u,link0=c%u,user-page-shift=%u "

/* --- virt -------------------------------------------------------------------- */

/* Returns the device tree that virt generates for @devices, to be freed. */
static char *virt_tree(const char *devices)
{
    g_autofree char *path = NULL, *command = NULL;
    char *fdt = NULL;
    int status, fd = g_file_open_tmp("exanet-axi-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    command = g_strdup_printf("%s -M virt,dumpdtb=%s -nodefaults -display none "
                              "-accel qtest %s", getenv("QTEST_QEMU_BINARY"), path,
                              devices);
    g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, &status, NULL));
    g_assert_cmpint(status, ==, 0);
    g_assert_true(g_file_get_contents(path, &fdt, NULL, NULL));
    unlink(path);
    return fdt;
}

static void assert_cells(const char *fdt, int node, const char *name,
                         const uint32_t *want, unsigned count)
{
    int len;
    const fdt32_t *have = fdt_getprop(fdt, node, name, &len);

    g_assert_nonnull(have);
    g_assert_cmpint(len, ==, count * sizeof(*have));
    for (unsigned i = 0; i < count; i++) {
        g_assert_cmphex(fdt32_to_cpu(have[i]), ==, want[i]);
    }
}

static void test_tree(void)
{
    g_autofree char *devices = g_strdup_printf(CABLE CABLE, 0, 0, 1, 0, 12,
                                               0, 1, 2, 1, 16);
    g_autofree char *fdt = virt_tree(devices);
    const uint32_t first[] = {
        0, 0x100000, 0x100000, 0x40000, 0x800000, 0x800000
    };
    const uint32_t second[] = {
        0x200000, 0x100000, 0x400000, 0x400000, 0x1000000, 0x800000
    };
    int node = -1, count = 0;

    while ((node = fdt_node_offset_by_compatible(fdt, node,
                                                 EXANET_AXI_COMPATIBLE)) >= 0) {
        const fdt32_t *reg = fdt_getprop(fdt, node, "reg", NULL);
        unsigned nth = fdt32_to_cpu(reg[0]) != 0;
        const uint32_t irqs[] = {
            0, VIRT_SPI + 2 * nth, 4, 0, VIRT_SPI + 2 * nth + 1, 4
        };

        assert_cells(fdt, node, "reg", nth ? second : first,
                     2 * EXANET_AXI_REGIONS);
        assert_cells(fdt, node, "interrupts", irqs, 6);
        g_assert_nonnull(fdt_getprop(fdt, node, "dma-coherent", NULL));
        count++;
    }
    g_assert_cmpint(count, ==, 2);
}

static void test_virt(void)
{
    QTestState *qts = qtest_initf("-M virt -nodefaults " CABLE, 0, 0, 7, 0, 12);

    g_assert_cmphex(qtest_readl(qts, VIRT_BUS + EXANET_REG_ID), ==, EXANET_ID);
    g_assert_cmphex(qtest_readl(qts, VIRT_BUS + EXANET_REG_NODE), ==, 7);
    g_assert_cmphex(qtest_readl(qts, VIRT_BUS + EXANET_REGS_BYTES +
                                EXANET_PAGE_INFO * 4096), ==, EXANET_ID);
    qtest_quit(qts);
}

static void test_bad_properties(void)
{
    static const struct { const char *arguments; const char *message; } bad[] = {
        { "-device exanet-axi,coord=1", "no cable" },
        { "-netdev hubport,hubid=0,id=c -device exanet-axi,coord=0x400000,link0=c",
          "'coord' must be at most" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *err = NULL, *command = NULL;
        int status;

        command = g_strdup_printf("%s -M virt -nodefaults -display none -accel "
                                  "qtest %s", getenv("QTEST_QEMU_BINARY"),
                                  bad[i].arguments);
        g_assert_true(g_spawn_command_line_sync(command, NULL, &err, &status,
                                                NULL));
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        g_assert_nonnull(strstr(err, bad[i].message));
    }
}

/* --- Wires --------------------------------------------------------------------- */

static void assert_lines(ExanetTest *t, bool admin, bool mailbox)
{
    exanet_settle(t);
    g_assert_cmpint(qtest_get_irq(t->qts, EXANET_LINE_ADMIN), ==, admin);
    g_assert_cmpint(qtest_get_irq(t->qts, EXANET_LINE_MAILBOX), ==, mailbox);
}

static ExanetTest *start(uint32_t mask)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_REG_IRQ_CAUSE, ~0u);
    exanet_set32(t, EXANET_REG_IRQ_MASK, mask);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    return t;
}

/*
 * The admin line is high while an unmasked cause is set and interrupts are enabled, in
 * whatever order these were set.
 */
static void test_admin_line(void)
{
    ExanetTest *t = start(EXANET_IRQ_LINK);

    assert_lines(t, false, false);
    exanet_peer_frame(t->peer, RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_LINK);
    assert_lines(t, true, false);
    exanet_set32(t, EXANET_REG_IRQ_MASK, 0);
    assert_lines(t, false, false);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_LINK);
    assert_lines(t, true, false);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    assert_lines(t, false, false);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    assert_lines(t, true, false);
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_LINK);
    assert_lines(t, false, false);
    exanet_stop(t);
}

static void note_for(ExanetTest *t, unsigned c)
{
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .len = 64,
        .dst = exanet_gva(EXANET_TEST_NODE, EXANET_RAM_DST),
        .ctrl = EXANET_CHANNEL_NOTIFY | EXANET_CHANNEL_IRQ |
                RNIC_PREP(EXANET_CHANNEL_DST_CTX, c),
        .notify_gva = exanet_gva(EXANET_TEST_NODE, EXANET_RAM_NOTE),
    };

    exanet_channel_start(t, 0, c, &x);
    exanet_channel_wait(t, 0, c, EXANET_CHANNEL_DONE);
}

/* The mailbox line is high until software has cleared the bits of all contexts. */
static void test_mailbox_line(void)
{
    ExanetTest *t = start(EXANET_IRQ_MAILBOX);

    note_for(t, 0);
    assert_lines(t, false, true);
    note_for(t, 1);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 3);
    exanet_set32(t, EXANET_REG_MBOX_PENDING, 1);
    assert_lines(t, false, true);
    exanet_set32(t, EXANET_REG_MBOX_PENDING, 2);
    assert_lines(t, false, false);
    /* a reset clears the cause together with the pending bits */
    note_for(t, 1);
    assert_lines(t, false, true);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    assert_lines(t, false, false);
    exanet_stop(t);
}

static void test_fault_line(void)
{
    ExanetTest *t = start(EXANET_IRQ_FAULT);
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .len = 64,
        .dst = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_DST),
    };
    struct exanet_fault f;

    /* an empty page table: nothing is mapped */
    qtest_memset(t->qts, EXANET_RAM_TABLES, 0, 4096);
    exanet_open(t, 2, EXANET_TEST_JOB, EXANET_FORMAT_ARM64_4K,
                EXANET_RAM_TABLES);
    exanet_channel_start(t, 2, 0, &x);
    exanet_wait(t, exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_FAULT);
    assert_lines(t, true, false);
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_FAULT);
    assert_lines(t, false, false);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, EXANET_RAM_SRC);
    exanet_fault_resolve(t, &f, false);
    exanet_channel_wait(t, 2, 0, EXANET_CHANNEL_FAILED);
    exanet_stop(t);
}

/* --- Page tables in the aperture -------------------------------------------------- */

#define WALK_CODE   0x20000u        /* address of the processor's first instruction */
#define WALK_VBAR   0x30000u        /* address of 16 exception vectors */
#define WALK_LOOP   0x14000000u     /* instruction: a branch to itself */

/*
 * Emits code that turns the MMU on, with page tables for low addresses at @ttbr, below
 * 4 GiB.
 */
static void walk_code(ExanetTest *t, uint32_t ttbr)
{
    const uint32_t code[] = {
        0xd2a00060,                             /* movz x0, #3, lsl #16 */
        0xd518c000,                             /* msr vbar_el1, x0 */
        0xd2800320,                             /* movz x0, #0x19: 39 bits */
        0xf2a01000,                             /* movk x0, #0x80, lsl #16: EPD1 */
        0xd5182040,                             /* msr tcr_el1, x0 */
        0xd2800000 | (ttbr & 0xffff) << 5,      /* movz x0 */
        0xf2a00000 | ttbr >> 16 << 5,           /* movk x0, lsl #16 */
        0xd5182000,                             /* msr ttbr0_el1, x0 */
        0xd5033fdf,                             /* isb */
        0xd5381000,                             /* mrs x0, sctlr_el1 */
        0xb2400000,                             /* orr x0, x0, #1 */
        0xd5181000,                             /* msr sctlr_el1, x0 */
        0xd5033fdf,                             /* isb */
    };

    for (unsigned i = 0; i < 16; i++) {
        qtest_writel(t->qts, WALK_VBAR + 0x80 * i, WALK_LOOP);
    }
    /*
     * The processor waits at the first instruction.  The test stops it during the
     * write, because QEMU keeps a stale translation if the write meets the translation
     * of the same page.
     */
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    for (unsigned i = 0; i < ARRAY_SIZE(code); i++) {
        qtest_writel(t->qts, WALK_CODE + 4 * i, code[i]);
    }
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
}

/*
 * A walk of page tables is no load of the processor.  The device refuses the walk,
 * because the walk holds an RCU read lock, which a stop during the wait would never
 * release.  QEMU waits for all RCU readers before it answers a failed device_add.
 */
static void test_walk(void)
{
    g_autofree char *props = g_strdup_printf(" -accel tcg -S -device loader,"
                                             "addr=0x%x,cpu-num=0", WALK_CODE);
    ExanetTest *t = exanet_start_cold(props, false);

    qtest_writel(t->qts, WALK_CODE, WALK_LOOP);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    exanet_bring_up(t);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    exanet_segment(t, 0, 0, 0x10000, exanet_gva(EXANET_TEST_PEER, 0),
                   EXANET_SEGMENT_ALL);
    walk_code(t, t->aperture.addr);
    exanet_wait(t, exanet_count(t, SHM_LOAD) + exanet_count(t, SHM_REFUSED));
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    qtest_system_reset(t->qts);
    alarm(WAIT_MS / 1000);
    qobject_unref(qtest_qmp_assert_failure_ref(t->qts, "{ 'execute': 'device_add',"
                                               "  'arguments': { 'driver': 'no' } }"));
    alarm(0);
    g_assert_cmpuint(exanet_count(t, SHM_LOAD), ==, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/axi/tree", test_tree);
    qtest_add_func("/exanet/axi/virt", test_virt);
    qtest_add_func("/exanet/axi/bad-properties", test_bad_properties);
    qtest_add_func("/exanet/axi/admin-line", test_admin_line);
    qtest_add_func("/exanet/axi/mailbox-line", test_mailbox_line);
    qtest_add_func("/exanet/axi/fault-line", test_fault_line);
    qtest_add_func("/exanet/axi/walk", test_walk);
    return g_test_run();
}
