/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet register file: IDs, reset values and masks of all registers in the lists of
 * regs.h, access sizes, resets, interrupts, info page and aliases.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "rnic/exanet/shm.h"
#include "../common/machine.h"
#include "../common/reg-table.h"
#include "device.h"

static const RegRow global_regs[] = { EXANET_GLOBAL_REGS(REG_ROW) };
static const RegRow ctx_regs[] = { EXANET_CTX_REGS(REG_ROW) };
static const RegRow port_regs[] = { EXANET_PORT_REGS(REG_ROW) };
static const RegRow switch_regs[] = { EXANET_SWITCH_REGS(REG_ROW) };
static const RegRow rtmbox_regs[] = { EXANET_RTMBOX_REGS(REG_ROW) };
static const RegRow fw_regs[] = { EXANET_FW_REGS(REG_ROW) };
static const RegRow fault_regs[] = { EXANET_FAULT_REGS(REG_ROW) };
static const RegRow shm_regs[] = { EXANET_SHM_REGS(REG_ROW) };
static const RegRow timer_regs[] = { EXANET_SHM_TIMER_REGS(REG_ROW) };
static const RegRow cam_regs[] = { EXANET_SHM_CAM_REGS(REG_ROW) };
static const RegRow map_regs[] = { EXANET_SHM_MAP_REGS(REG_ROW) };
static const RegRow tracker_regs[] = { EXANET_SHM_TRACKER_REGS(REG_ROW) };
static const RegRow arith_regs[] = { EXANET_ARITH_REGS(REG_ROW) };
static const RegRow tgen_regs[] = { EXANET_TGEN_REGS(REG_ROW) };
static const RegRow accel_regs[] = { EXANET_ACCEL_REGS(REG_ROW) };
static const RegRow cdma_regs[] = { EXANET_CDMA_REGS(REG_ROW) };

static const RegBlock blocks[] = {
    { global_regs, ARRAY_SIZE(global_regs), EXANET_GLOBAL, 0, 1 },
    { ctx_regs, ARRAY_SIZE(ctx_regs), EXANET_CTX(0),
      EXANET_CTX(1) - EXANET_CTX(0), EXANET_CONTEXTS },
    { port_regs, ARRAY_SIZE(port_regs), EXANET_PORT(0), 0, 1 },
    { switch_regs, ARRAY_SIZE(switch_regs), EXANET_SWITCH, 0, 1 },
    { rtmbox_regs, ARRAY_SIZE(rtmbox_regs), EXANET_RTMBOX, 0, 1 },
    { fw_regs, ARRAY_SIZE(fw_regs), EXANET_FW, 0, 1 },
    { fault_regs, ARRAY_SIZE(fault_regs), EXANET_FAULT, 0, 1 },
    { shm_regs, ARRAY_SIZE(shm_regs), EXANET_SHM, 0, 1 },
    { timer_regs, ARRAY_SIZE(timer_regs), EXANET_SHM_TIMER(0),
      EXANET_SHM_TIMER(1) - EXANET_SHM_TIMER(0), EXANET_SHM_TIMERS },
    { cam_regs, ARRAY_SIZE(cam_regs), EXANET_SHM_CAM(0),
      EXANET_SHM_CAM(1) - EXANET_SHM_CAM(0), 2 * EXANET_SHM_CAMS },
    { map_regs, ARRAY_SIZE(map_regs), EXANET_SHM_MAP(0),
      EXANET_SHM_MAP(1) - EXANET_SHM_MAP(0), EXANET_SHM_MAPS },
    { tracker_regs, ARRAY_SIZE(tracker_regs), EXANET_SHM_TRACKER(0),
      EXANET_SHM_TRACKER(1) - EXANET_SHM_TRACKER(0), EXANET_CDMA_CHANNELS },
    { arith_regs, ARRAY_SIZE(arith_regs), EXANET_SHM, 0, 1 },
    { tgen_regs, ARRAY_SIZE(tgen_regs), EXANET_SHM, 0, 1 },
    { accel_regs, ARRAY_SIZE(accel_regs), EXANET_SHM, 0, 1 },
    { cdma_regs, ARRAY_SIZE(cdma_regs), EXANET_CDMA(0),
      EXANET_CDMA(1) - EXANET_CDMA(0), EXANET_CDMA_CHANNELS },
};

static void for_each_reg(ExanetTest *t, RegFn *fn)
{
    reg_table_foreach(blocks, ARRAY_SIZE(blocks), fn, t);
}

/* Returns the value after reset, also for registers whose value depends on properties. */
static uint64_t expected_reset(const RegRow *r, unsigned instance)
{
    if (g_str_equal(r->name, "CAP0")) {
        return RNIC_PREP(EXANET_CAP0_CONTEXTS, EXANET_CONTEXTS) |
               RNIC_PREP(EXANET_CAP0_OUTPUTS, EXANET_OUTPUTS) |
               RNIC_PREP(EXANET_CAP0_PORTS, 1) |
               RNIC_PREP(EXANET_CAP0_LOG2_TIDS, ctz32(EXANET_TIDS)) |
               RNIC_PREP(EXANET_CAP0_LOG2_RX, ctz32(EXANET_RX_CONTEXTS)) |
               RNIC_PREP(EXANET_CAP0_LOG2_WAYS, ctz32(EXANET_RX_WAYS)) |
               RNIC_PREP(EXANET_CAP0_PAGE_SHIFT, 12);
    }
    if (g_str_equal(r->name, "CAP1")) {
        return EXANET_CAP1_WINDOWS | EXANET_CAP1_DUP_SAFE |
               EXANET_CAP1_MULTIPATH | EXANET_CAP1_RELEASE |
               EXANET_CAP1_FLOW_RATE | EXANET_CAP1_FIRMWARE |
               EXANET_CAP1_JOB_LOCAL | EXANET_CAP1_POLL |
               EXANET_CAP1_APERTURE;
    }
    if (g_str_equal(r->name, "NODE") || g_str_equal(r->name, "ARITH_ADDR")) {
        return EXANET_TEST_NODE;
    }
    if (g_str_equal(r->name, "EPOCH")) {
        return EXANET_TEST_EPOCH;
    }
    if (g_str_equal(r->name, "CTX_PDID")) {
        return instance;
    }
    if (g_str_equal(r->name, "PORT_STATUS")) {
        return EXANET_PORT_STATUS_PRESENT;
    }
    if (g_str_equal(r->name, "SHM_APERTURE")) {
        return 7 * MiB;
    }
    if (g_str_equal(r->name, "SHM_BRAM")) {
        return 1 * MiB;
    }
    if (g_str_equal(r->name, "PORT_XOFF")) {
        return 16384 - EXANET_XOFF_MARGIN;
    }
    return r->reset;
}

static void check_reset(void *opaque, const RegRow *r, uint64_t at, unsigned instance)
{
    ExanetTest *t = opaque;
    uint64_t value = machine_load(t->qts, t->regs.addr + at, r->bytes);

    if (value != expected_reset(r, instance)) {
        g_error("%s at 0x%" PRIx64 " reads 0x%" PRIx64 " after reset, not "
                "0x%" PRIx64, r->name, at, value, expected_reset(r, instance));
    }
}

static void test_reset_values(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    for_each_reg(t, check_reset);
    for (unsigned n = 0; n < EXANET_COUNTER_COUNT; n++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_COUNTER(n)), ==, 0);
    }
    exanet_stop(t);
}

/*
 * Returns true for registers whose bits start an action; these have tests of their own.
 */
static bool acts(const RegRow *r)
{
    return g_str_equal(r->name, "CTRL") || g_str_equal(r->name, "CTX_CTRL") ||
           g_str_equal(r->name, "PORT_CTRL") ||
           g_str_equal(r->name, "PORT_INJECT") ||
           g_str_equal(r->name, "CTX_INV_CMD") ||
           g_str_equal(r->name, "TGEN_CFG") ||
           g_str_equal(r->name, "ACCEL_CTRL") ||
           g_str_has_prefix(r->name, "RT_REQ_") ||
           g_str_equal(r->name, "CDMA_CR") ||
           g_str_equal(r->name, "CDMA_BTT") ||
           g_str_has_prefix(r->name, "FAULT_");
}

static void check_masks(void *opaque, const RegRow *r, uint64_t at, unsigned instance)
{
    ExanetTest *t = opaque;

    if (!acts(r) && !g_str_equal(r->name, "TIME")) {
        reg_row_check_masks(t->qts, r, t->regs.addr + at);
    }
}

static void test_masks(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    for_each_reg(t, check_masks);
    for_each_reg(t, check_reset);
    exanet_stop(t);
}

static void test_ids(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    uint32_t bar;

    g_assert_cmphex(qpci_config_readw(t->dev, PCI_VENDOR_ID), ==,
                    EXANET_PCI_VENDOR_ID);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_DEVICE_ID), ==,
                    EXANET_PCI_DEVICE_ID);
    g_assert_cmphex(qpci_config_readw(t->dev, PCI_CLASS_DEVICE), ==,
                    EXANET_PCI_CLASS);
    bar = qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXANET_BAR_REGS);
    g_assert_cmphex(bar & 0xf, ==, PCI_BASE_ADDRESS_SPACE_MEMORY);
    bar = qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXANET_BAR_USER);
    g_assert_cmphex(bar & PCI_BASE_ADDRESS_MEM_TYPE_MASK, ==,
                    PCI_BASE_ADDRESS_MEM_TYPE_64);
    exanet_msix_enable(t);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_ID), ==, EXANET_ID);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_VERSION), ==, EXANET_VERSION);
    exanet_stop(t);
}

static void test_properties(void)
{
    ExanetTest *t = exanet_start_cold(",user-page-shift=16,ways=4,dims=4x2x3,"
                                      "rx-fifo-words=256", false);
    uint32_t cap0 = exanet_get32(t, EXANET_REG_CAP0);

    g_assert_cmpuint(RNIC_GET(EXANET_CAP0_PAGE_SHIFT, cap0), ==, 16);
    g_assert_cmpuint(RNIC_GET(EXANET_CAP0_LOG2_WAYS, cap0), ==, 2);
    g_assert_cmpuint(exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_XOFF),
                     ==, EXANET_RX_FIFO_WORDS - EXANET_XOFF_MARGIN);
    g_assert_cmpuint(exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_XON),
                     ==, EXANET_XOFF_MARGIN);
    g_assert_cmphex(exanet_get32(t, EXANET_SWITCH + EXANET_REG_SW_DIMS), ==,
                    0x030004);
    exanet_open(t, 3, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    g_assert_cmphex(exanet_user_get(t, 3, EXANET_PAGE_INFO,
                                    offsetof(struct exanet_info, coord)), ==,
                    (uint64_t)EXANET_TEST_PDID(3) << 32 | EXANET_TEST_NODE);
    exanet_stop(t);
}

/*
 * Compares with the table of the specification [P 2.5]: port and types of each NI
 * index.
 */
static void check_ni_map(ExanetTest *t)
{
    static const struct {
        enum exanet_ni_port port;
        uint32_t types;
    } want[EXANET_NI_INDICES] = {
        [EXANET_NI_RT_RESPONSE] = { EXANET_NI_PORT_RT_RESPONSE, 1 << 10 },
        [EXANET_NI_RT_REQUEST] = { EXANET_NI_PORT_RT_REQUEST, 1 << 1 },
        [EXANET_NI_MAILBOX] = { EXANET_NI_PORT_MAILBOX, 1 << 0 | 1 << 6 },
        [EXANET_NI_PACKETIZER] = { EXANET_NI_PORT_PACKETIZER, 1 << 10 },
        [EXANET_NI_RECEIVER] = { EXANET_NI_PORT_RECEIVER, 1 << 2 | 1 << 7 },
        [EXANET_NI_EXADMA] = { EXANET_NI_PORT_EXADMA, 1 << 18 },
        [EXANET_NI_SHM] = { EXANET_NI_PORT_SHM, 1 << 11 },
        [EXANET_NI_BRAM] = { EXANET_NI_PORT_BRAM, 1 << 3 | 1 << 9 },
    };

    for (unsigned i = 0; i < EXANET_NI_INDICES; i++) {
        g_assert_cmphex(exanet_get64(t, EXANET_NI_MAP(i)), ==,
                        !want[i].port ? 0 : EXANET_NI_MAP_VALID |
                        RNIC_PREP(EXANET_NI_MAP_PORT, want[i].port) |
                        RNIC_PREP(EXANET_NI_MAP_TYPES, want[i].types));
    }
}

static void test_ni_map(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    check_ni_map(t);
    for (unsigned i = 0; i < EXANET_NI_INDICES; i++) {
        exanet_set64(t, EXANET_NI_MAP(i), ~0ULL);
        g_assert_cmphex(exanet_get64(t, EXANET_NI_MAP(i)), ==,
                        EXANET_NI_MAP_WRITABLE);
        exanet_set32(t, EXANET_NI_MAP(i), i % 16);
        exanet_set32(t, EXANET_NI_MAP(i) + 4, i);
        g_assert_cmphex(exanet_get32(t, EXANET_NI_MAP(i) + 4), ==, i);
    }
    for (unsigned i = 0; i < EXANET_NI_INDICES; i++) {
        g_assert_cmphex(exanet_get64(t, EXANET_NI_MAP(i)), ==,
                        (uint64_t)i << 32 | i % 16);
    }
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    check_ni_map(t);
    exanet_stop(t);
}

static void test_scratch(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    exanet_set64(t, EXANET_REG_SCRATCH, 0x0123456789abcdefULL);
    g_assert_cmphex(exanet_get64(t, EXANET_REG_SCRATCH), ==,
                    0x0123456789abcdefULL);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_SCRATCH), ==, 0x89abcdef);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_SCRATCH + 4), ==, 0x01234567);
    exanet_set32(t, EXANET_REG_SCRATCH + 4, 0xfeedface);
    g_assert_cmphex(exanet_get64(t, EXANET_REG_SCRATCH), ==,
                    0xfeedface89abcdefULL);
    /* one access may cover two registers */
    g_assert_cmphex(exanet_get64(t, EXANET_REG_ID), ==,
                    (uint64_t)EXANET_VERSION << 32 | EXANET_ID);
    exanet_stop(t);
}

static void test_time(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    uint64_t before = exanet_get64(t, EXANET_REG_TIME);

    exanet_step(t, 12345);
    g_assert_cmpuint(exanet_get64(t, EXANET_REG_TIME), ==, before + 12345);
    exanet_stop(t);
}

/*
 * Accesses outside the registers, or of wrong sizes: loads return 0, stores have no
 * effect, and the log has a line.
 */
static void test_bad_access(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    static const uint64_t holes[] = {
        0x2c, 0x800, EXANET_CTX(0) + 0x7c, EXANET_PORT(5), EXANET_RTMBOX + 0x80,
        EXANET_FW + 0x800, EXANET_FAULT + 0x800,
        EXANET_COUNTER(EXANET_COUNTER_COUNT), 0x28000,
        EXANET_NI_MAP(EXANET_NI_INDICES),
        EXANET_REGS_BYTES - 4,
    };

    exanet_set64(t, EXANET_REG_SCRATCH, ~0ULL);
    for (unsigned i = 0; i < ARRAY_SIZE(holes); i++) {
        g_assert_cmphex(exanet_get32(t, holes[i]), ==, 0);
        exanet_set32(t, holes[i], 0xffffffff);
        g_assert_cmphex(exanet_get32(t, holes[i]), ==, 0);
    }
    qtest_writeb(t->qts, t->regs.addr + EXANET_REG_SCRATCH, 0);
    qtest_writew(t->qts, t->regs.addr + EXANET_REG_SCRATCH, 0);
    g_assert_cmphex(qtest_readb(t->qts, t->regs.addr + EXANET_REG_SCRATCH), ==, 0);
    g_assert_cmphex(exanet_get64(t, EXANET_REG_SCRATCH), ==, ~0ULL);
    t->guest_errors = true;
    exanet_stop(t);
}

static void spoil(ExanetTest *t)
{
    exanet_set64(t, EXANET_REG_SCRATCH, 1);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_ALL);
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_WINDOW, 2);
    exanet_set64(t, EXANET_CTX(2) + EXANET_CTX_WIN(3), ~0ULL);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_MODE, EXANET_SW_MODE_NI);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_DIMS, 0x050505);
    exanet_user_set(t, 0, EXANET_PAGE_SCRATCHPAD, 0, ~0ULL);
    exanet_user_set(t, 0, EXANET_PAGE_PACKETIZER, 0, ~0ULL);
    exanet_user_set(t, 0, EXANET_PAGE_MAILBOX, 0, ~0ULL);
}

/*
 * Asserts the value after reset, except for registers that depend on the connected
 * cable.
 */
static void check_reset_connected(void *t, const RegRow *r, uint64_t at,
                                  unsigned instance)
{
    if (g_str_has_prefix(r->name, "PORT_") || g_str_equal(r->name, "EPOCH") ||
        g_str_equal(r->name, "STATUS") || g_str_equal(r->name, "TIME") ||
        g_str_equal(r->name, "IRQ_CAUSE")) {
        return;
    }
    check_reset(t, r, at, instance);
}

static void check_after_reset(ExanetTest *t)
{
    for_each_reg(t, check_reset_connected);
    g_assert_cmphex(exanet_user_get(t, 0, EXANET_PAGE_SCRATCHPAD, 0), ==, 0);
    g_assert_cmphex(exanet_user_get(t, 0, EXANET_PAGE_PACKETIZER, 0), ==, 0);
    g_assert_cmphex(exanet_user_get(t, 0, EXANET_PAGE_MAILBOX, 0), ==, 0);
}

static void test_soft_reset(void)
{
    ExanetTest *t = exanet_start("");
    unsigned hellos = t->peer->hellos;

    spoil(t);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_RESET);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_CTRL), ==, 0);
    check_after_reset(t);
    /* the device announces the reset by the new epoch of a HELLO */
    exanet_wait(t, t->peer->hellos > hellos);
    g_assert_cmpuint(t->peer->hello.epoch, !=, EXANET_TEST_EPOCH);
    exanet_bring_up(t);
    exanet_stop(t);
}

/* A reset chooses a new epoch, so that the peer discards its state of the old epoch. */
static void test_reset_epoch(void)
{
    ExanetTest *t = exanet_start(",epoch=0");
    uint8_t epoch = t->peer->hello.epoch;

    g_assert_cmpuint(exanet_get32(t, EXANET_REG_EPOCH), ==, epoch);
    for (unsigned i = 0; i < 4; i++) {
        exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
        exanet_bring_up(t);
        exanet_wait(t, t->peer->hello.epoch ==
                    exanet_get32(t, EXANET_REG_EPOCH));
        g_assert_cmpuint(t->peer->hello.epoch, !=, epoch);
        epoch = t->peer->hello.epoch;
    }
    exanet_stop(t);
}

static void test_flr(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t cap = qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);

    g_assert_cmphex(cap, !=, 0);
    g_assert_true(qpci_config_readl(t->dev, cap + PCI_EXP_DEVCAP) &
                  PCI_EXP_DEVCAP_FLR);
    spoil(t);
    qpci_config_writew(t->dev, cap + PCI_EXP_DEVCTL,
                       PCI_EXP_DEVCTL_BCR_FLR);
    /* the reset clears the BARs, as for any PCI function */
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXANET_BAR_REGS,
                       t->regs.addr);
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXANET_BAR_USER,
                       t->user.addr);
    qpci_device_enable(t->dev);
    check_after_reset(t);
    exanet_bring_up(t);
    exanet_stop(t);
}

static void test_info_page(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t page = exanet_user(t, 1, EXANET_PAGE_INFO);
    struct exanet_info info;

    exanet_set64(t, EXANET_CTX(1) + EXANET_CTX_WIN(2),
                 5ULL << EXANET_WINDOW_BITS | EXANET_WIN_VALID);
    exanet_step(t, 777);
    for (unsigned i = 0; i < sizeof(info); i += 8) {
        uint64_t q = qtest_readq(t->qts, t->user.addr + page + i);

        memcpy((uint8_t *)&info + i, &q, 8);
    }
    g_assert_cmphex(info.id, ==, EXANET_ID);
    g_assert_cmphex(info.version, ==, EXANET_VERSION);
    g_assert_cmphex(info.cap0, ==, exanet_get32(t, EXANET_REG_CAP0));
    g_assert_cmphex(info.cap1, ==, exanet_get32(t, EXANET_REG_CAP1));
    g_assert_cmphex(info.coord, ==, EXANET_TEST_NODE);
    g_assert_cmphex(info.pdid, ==, EXANET_TEST_PDID(1));
    g_assert_cmpuint(info.time, ==, exanet_get64(t, EXANET_REG_TIME));
    g_assert_cmphex(info.win[0], ==, EXANET_WIN_VALID);
    g_assert_cmphex(info.win[2], ==,
                    5ULL << EXANET_WINDOW_BITS | EXANET_WIN_VALID);
    g_assert_cmphex(info.win[7], ==, 0);
    /* stores to the info page have no effect */
    qtest_writel(t->qts, t->user.addr + page, 0);
    g_assert_cmphex(qtest_readl(t->qts, t->user.addr + page), ==, EXANET_ID);
    t->guest_errors = true;
    exanet_stop(t);
}

/* User pages of BAR 2 are visible in BAR 0, too. */
static void test_aliases(void)
{
    ExanetTest *t = exanet_start("");
    static const struct {
        enum exanet_user_page page;
        uint64_t alias;
    } pages[] = {
        { EXANET_PAGE_SCRATCHPAD, EXANET_SCRATCHPAD },
        { EXANET_PAGE_PACKETIZER, EXANET_PACKETIZER },
        { EXANET_PAGE_MAILBOX, EXANET_MAILBOX_ALIAS },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(pages); i++) {
        for (unsigned c = 0; c < EXANET_CONTEXTS; c += 5) {
            uint64_t value = 0x1111111111111100ULL * (i + 1) + c * 128;

            exanet_open(t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
            exanet_user_set(t, c, pages[i].page, 0, value);
            g_assert_cmphex(exanet_get64(t, pages[i].alias +
                                         c * EXANET_ALIAS_PAGE), ==, value);
            g_assert_cmphex(exanet_get32(t, pages[i].alias + 4 +
                                         c * EXANET_ALIAS_PAGE), ==,
                            value >> 32);
        }
    }
    exanet_stop(t);
}

/* Stores to fields that only the device writes have no effect. */
static void test_user_read_only(void)
{
    ExanetTest *t = exanet_start("");
    static const struct {
        enum exanet_user_page page;
        unsigned offset;
    } fields[] = {
        { EXANET_PAGE_SCRATCHPAD, offsetof(struct exanet_channel, status) },
        { EXANET_PAGE_SCRATCHPAD, offsetof(struct exanet_channel, done) },
        { EXANET_PAGE_PACKETIZER,
          offsetof(struct exanet_pktz_channel, status) },
        { EXANET_PAGE_MAILBOX, offsetof(struct exanet_mailbox, tail) },
        { EXANET_PAGE_MAILBOX, offsetof(struct exanet_mailbox, rejected) },
    };
    uint64_t read_channel = EXANET_WRITE_CHANNELS * EXANET_CHANNEL_BYTES;

    for (unsigned i = 0; i < ARRAY_SIZE(fields); i++) {
        exanet_user_set(t, 0, fields[i].page, fields[i].offset, ~0ULL);
        g_assert_cmphex(exanet_user_get(t, 0, fields[i].page,
                                        fields[i].offset), ==, 0);
    }
    for (unsigned i = 0; i < EXANET_CHANNEL_BYTES; i += 8) {
        exanet_user_set(t, 0, EXANET_PAGE_SCRATCHPAD, read_channel + i, ~0ULL);
        g_assert_cmphex(exanet_user_get(t, 0, EXANET_PAGE_SCRATCHPAD,
                                        read_channel + i), ==, 0);
    }
    exanet_assert_quiet(t);
    t->guest_errors = true;
    exanet_stop(t);
}

static void test_user_access_sizes(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t page = exanet_user(t, 0, EXANET_PAGE_SCRATCHPAD);

    qtest_writeq(t->qts, t->user.addr + page, 0x1122334455667788ULL);
    qtest_writel(t->qts, t->user.addr + page + 4, 0xaabbccdd);
    g_assert_cmphex(qtest_readq(t->qts, t->user.addr + page), ==,
                    0xaabbccdd55667788ULL);
    g_assert_cmphex(qtest_readl(t->qts, t->user.addr + page + 4), ==, 0xaabbccdd);
    g_assert_cmphex(qtest_readw(t->qts, t->user.addr + page + 2), ==, 0x5566);
    g_assert_cmphex(qtest_readb(t->qts, t->user.addr + page + 7), ==, 0xaa);
    qtest_writew(t->qts, t->user.addr + page, 0);
    qtest_writeb(t->qts, t->user.addr + page + 7, 0);
    g_assert_cmphex(qtest_readq(t->qts, t->user.addr + page), ==,
                    0xaabbccdd55667788ULL);
    t->guest_errors = true;
    exanet_stop(t);
}

/* --- Interrupts ------------------------------------------------------------ */

static void cause_link_change(ExanetTest *t)
{
    bool up = exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_STATUS) &
              EXANET_PORT_STATUS_UP;

    if (up) {
        exanet_peer_frame(t->peer, RNIC_LINK_DOWN, NULL, 0);
    } else {
        exanet_peer_hello(t->peer, false);
    }
    exanet_wait(t, up != !!(exanet_get32(t, EXANET_PORT(0) +
                                         EXANET_REG_PORT_STATUS) &
                            EXANET_PORT_STATUS_UP));
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_LINK);
}

static void test_irq(void)
{
    ExanetTest *t = exanet_start("");
    uint32_t on = EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ;

    exanet_msix_enable(t);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE), ==,
                    EXANET_IRQ_LINK);

    /* a pending cause interrupts when mask and CTRL_IRQ are both set, in any order */
    exanet_set32(t, EXANET_REG_CTRL, on);
    exanet_settle(t);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_ADMIN));
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_LINK);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_ADMIN));
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_set32(t, EXANET_REG_CTRL, on);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_ADMIN));

    /* a cause that is pending does not interrupt again */
    cause_link_change(t);
    exanet_settle(t);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_ADMIN));

    /* stores of other bits, or of 0, clear no cause */
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_ALL & ~EXANET_IRQ_LINK);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE), ==,
                    EXANET_IRQ_LINK);
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_LINK);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE), ==, 0);
    cause_link_change(t);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_ADMIN));

    /* a masked cause does not interrupt */
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_LINK);
    exanet_set32(t, EXANET_REG_IRQ_MASK, 0);
    cause_link_change(t);
    exanet_settle(t);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_ADMIN));
    for (unsigned v = 0; v < EXANET_VECTORS; v++) {
        g_assert_false(exanet_msix_taken(t, v));
    }
    exanet_stop(t);
}

/* An interrupt message to a doorbell of the device itself has no effect. */
static void test_irq_to_itself(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(EXANET_TEST_NODE,
                                                 EXANET_RAM_DST),
        .len = 100, .ctrl = EXANET_CHANNEL_IRQ_DONE,
    };
    uint64_t entry;

    exanet_msix_enable(t);
    entry = t->dev->msix_table_off + 16 * EXANET_VEC_CONTEXT(0);
    qpci_io_writel(t->dev, t->dev->msix_table_bar, entry, t->user.addr +
                   exanet_user(t, 0, EXANET_PAGE_SCRATCHPAD) +
                   EXANET_CHANNEL_DOORBELL);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_ALL);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    for (unsigned i = 0; i < 3; i++) {
        exanet_channel_start(t, 0, 0, &x);
        exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
        exanet_set32(t, EXANET_REG_MBOX_PENDING, ~0U);
    }
    exanet_settle(t);
    g_assert_cmpuint(exanet_count(t, BLOCK_DONE), ==, 3);
    t->guest_errors = true;
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/regs/ids-t01", test_ids);
    qtest_add_func("/exanet/regs/reset-values-t01", test_reset_values);
    qtest_add_func("/exanet/regs/masks-t01", test_masks);
    qtest_add_func("/exanet/regs/scratch-t01", test_scratch);
    qtest_add_func("/exanet/regs/ni-map-t01", test_ni_map);
    qtest_add_func("/exanet/regs/bad-access-t01", test_bad_access);
    qtest_add_func("/exanet/regs/properties", test_properties);
    qtest_add_func("/exanet/regs/time", test_time);
    qtest_add_func("/exanet/regs/soft-reset", test_soft_reset);
    qtest_add_func("/exanet/regs/reset-epoch", test_reset_epoch);
    qtest_add_func("/exanet/regs/flr", test_flr);
    qtest_add_func("/exanet/regs/info-page", test_info_page);
    qtest_add_func("/exanet/regs/aliases", test_aliases);
    qtest_add_func("/exanet/regs/user-read-only-t24", test_user_read_only);
    qtest_add_func("/exanet/regs/user-access-sizes", test_user_access_sizes);
    qtest_add_func("/exanet/regs/irq", test_irq);
    qtest_add_func("/exanet/regs/irq-to-itself", test_irq_to_itself);
    return g_test_run();
}
