/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CDMA channels: registers, and copies of all sizes with local, translated and remote
 * addresses.  The remote node is this node.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "cdma.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
/* virtual address whose pages are mapped by page tables only */
#define VIRTUAL 0x7f0012340000ULL
#define REMOTE 0x4012340000ULL      /* the same offset in window 0 of the remote node */
#define MARGIN 64 /* bytes before and behind a copy that must keep their value */

#define IRQS ((uint32_t)(EXANET_CDMA_CR_IOC_IRQ | EXANET_CDMA_CR_ERR_IRQ))

static uint32_t irq_cause(ExanetTest *t)
{
    return exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_CDMA;
}

/*
 * Copies data from physical address @src to @dst by @c, whose addresses lead there;
 * asserts the data, the bytes around them, and the counts of the tracker.
 */
static void check_copy(ExanetTest *t, const ExanetCopy *c, uint64_t src, uint64_t dst)
{
    g_autofree uint8_t *data = g_malloc(c->len);

    exanet_fill(t, src, data, c->len, src + dst + c->len);
    qtest_memset(t->qts, dst - MARGIN, 0xee, c->len + 2 * MARGIN);
    exanet_copy_start(t, 0, c);
    exanet_copy_ends(t, 0, SR_DONE);
    exanet_assert_mem(t, dst, data, c->len);
    exanet_assert_mem(t, src, data, c->len);
    exanet_assert_byte(t, dst - MARGIN, 0xee, MARGIN);
    exanet_assert_byte(t, dst + c->len, 0xee, MARGIN);
    g_assert_cmpuint(tracker_get(t, 0, ISSUED), ==, tracker_get(t, 0, ACKED));
    g_assert_cmpuint(tracker_get(t, 0, FAILED), ==, 0);
}

static const uint32_t sizes[] = {
    1, 7, 8, 127, 128, 129, 256, 4095, 4097, 70001, 1 * MiB,
};

/* Copies of many sizes and alignments with @sides; GVAs are of this node. */
static void check_sides(uint32_t sides)
{
    ExanetTest *t = exanet_start("");
    uint64_t sa = sides & SA_GVA ? exanet_gva(EXANET_TEST_NODE, SRC) : SRC;
    uint64_t da = sides & DA_LOCAL ? DST : exanet_gva(EXANET_TEST_NODE, DST);

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        unsigned s = i * 3 % 16, d = 0xff1 + i * 5 % 16;
        ExanetCopy c = { sa + s, da + d, sizes[i], sides, EXANET_TEST_PDID(1) };

        check_copy(t, &c, SRC + s, DST + d);
    }
    for (unsigned s = 0; s < 8; s++) {
        for (unsigned d = 0; d < 8; d++) {
            ExanetCopy c = {
                sa + s, da + 0x1000 + d, 300, sides, EXANET_TEST_PDID(1)
            };

            check_copy(t, &c, SRC + s, DST + 0x1000 + d);
        }
    }
    exanet_stop(t);
}

/* --- Registers ---------------------------------------------------------------- */

static void test_registers(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        uint64_t base = EXANET_CDMA(ch);

        g_assert_cmphex(cdma_get(t, ch, CR), ==, EXANET_CDMA_CR_RESET_VALUE);
        g_assert_cmphex(cdma_get(t, ch, SR), ==, EXANET_CDMA_SR_IDLE);
        g_assert_cmpuint(cdma_get(t, ch, BURST), ==, 16);
        g_assert_cmpuint(cdma_get(t, ch, OUTSTANDING), ==, 5);
        /* bit SG stays 0, and RESET does not stay 1 */
        cdma_set(t, ch, CR, EXANET_CDMA_CR_SG | IRQS);
        g_assert_cmphex(cdma_get(t, ch, CR), ==,
                        EXANET_CDMA_CR_RESET_VALUE | IRQS);
        exanet_set64(t, base + EXANET_REG_CDMA_CURDESC, SRC);
        exanet_set64(t, base + EXANET_REG_CDMA_TAILDESC, SRC + 64);
        g_assert_cmphex(exanet_get64(t, base + EXANET_REG_CDMA_CURDESC), ==, 0);
        g_assert_cmphex(exanet_get64(t, base + EXANET_REG_CDMA_TAILDESC), ==, 0);
        exanet_set32(t, base + EXANET_REG_CDMA_SA, 0x01234567);
        exanet_set32(t, base + EXANET_REG_CDMA_SA + 4, 0x89abcdef);
        g_assert_cmphex(exanet_get64(t, base + EXANET_REG_CDMA_SA), ==,
                        0x89abcdef01234567ULL);
        cdma_set(t, ch, BURST, 32);
        cdma_set(t, ch, CR, EXANET_CDMA_CR_RESET | IRQS);
        g_assert_cmphex(cdma_get(t, ch, CR), ==, EXANET_CDMA_CR_RESET_VALUE);
        g_assert_cmphex(exanet_get64(t, base + EXANET_REG_CDMA_SA), ==, 0);
        g_assert_cmpuint(cdma_get(t, ch, BURST), ==, 16);
    }
    exanet_stop(t);
}

static void test_btt_zero(void)
{
    ExanetTest *t = exanet_start("");
    const ExanetCopy c = { SRC, DST, 0, DA_LOCAL };

    exanet_copy_start(t, 2, &c);
    g_assert_cmphex(cdma_get(t, 2, SR), ==, SR_FAILED(EXANET_CDMA_SR_INT_ERR));
    g_assert_cmpuint(exanet_count(t, CDMA_FAILED), ==, 1);
    /*
     * the interrupt waits until it is enabled, and lasts until its bit in SR is cleared
     */
    g_assert_cmphex(irq_cause(t), ==, 0);
    cdma_set(t, 2, CR, EXANET_CDMA_CR_IOC_IRQ);
    g_assert_cmphex(irq_cause(t), ==, 0);
    cdma_set(t, 2, CR, EXANET_CDMA_CR_ERR_IRQ);
    g_assert_cmphex(irq_cause(t), !=, 0);
    cdma_set(t, 2, SR, EXANET_CDMA_SR_IOC);
    g_assert_cmphex(irq_cause(t), !=, 0);
    cdma_set(t, 2, SR, EXANET_CDMA_SR_ERR);
    g_assert_cmphex(irq_cause(t), ==, 0);
    g_assert_cmphex(cdma_get(t, 2, SR), ==,
                    EXANET_CDMA_SR_IDLE | EXANET_CDMA_SR_INT_ERR);
    t->guest_errors = true;
    exanet_stop(t);
}

/* The device sends one message, EXANET_VEC_ADMIN, for the ends of two channels. */
static void test_interrupt(void)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = { SRC, DST, 100, DA_LOCAL };

    if (exanet_on_axi()) {
        exanet_stop(t);
        return;
    }
    exanet_msix_enable(t);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_CDMA);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    exanet_copy_start(t, 1, &c);
    exanet_wait(t, exanet_cdma_idle(t, 1));
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_ADMIN));
    cdma_set(t, 1, SR, EXANET_CDMA_SR_IOC);
    for (unsigned ch = 1; ch < 3; ch++) {
        cdma_set(t, ch, CR, EXANET_CDMA_CR_IOC_IRQ);
        exanet_copy_start(t, ch, &c);
        exanet_wait(t, exanet_cdma_idle(t, ch));
        g_assert_cmpint(exanet_msix_taken(t, EXANET_VEC_ADMIN), ==, ch == 1);
        g_assert_cmphex(irq_cause(t), !=, 0);
    }
    /* the other channel raises the cleared cause again */
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_CDMA);
    cdma_set(t, 1, SR, EXANET_CDMA_SR_IOC);
    g_assert_true(exanet_msix_taken(t, EXANET_VEC_ADMIN));
    cdma_set(t, 2, SR, EXANET_CDMA_SR_IOC);
    g_assert_cmphex(irq_cause(t), ==, 0);
    /* IOC_IRQ enables no interrupt for an error */
    c.len = 0;
    exanet_copy_start(t, 1, &c);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_ADMIN));
    t->guest_errors = true;
    exanet_stop(t);
}

/* --- Local copies --------------------------------------------------------------- */

static void test_local(void)
{
    check_sides(DA_LOCAL);
}

static void test_local_virtual(void)
{
    check_sides(DA_LOCAL | TRANSLATE | 1);
}

static void test_local_refused(void)
{
    static const struct {
        ExanetCopy c;
        uint32_t bit;
    } cases[] = {
        { { EXANET_NO_RAM, DST, 8, DA_LOCAL }, EXANET_CDMA_SR_DEC_ERR },
        { { SRC, EXANET_NO_RAM, 8, DA_LOCAL }, EXANET_CDMA_SR_DEC_ERR },
        { { SRC, EXANET_NO_RAM, 8, DA_LOCAL | TRANSLATE },
          EXANET_CDMA_SR_DEC_ERR },
        { { ~0ULL - 6, DST, 8, DA_LOCAL }, EXANET_CDMA_SR_DEC_ERR },
        { { SRC, ~0ULL - 6, 8, DA_LOCAL | TRANSLATE },
          EXANET_CDMA_SR_DEC_ERR },
        /* a context that is not open */
        { { SRC, DST, 8, DA_LOCAL | TRANSLATE | 5 }, EXANET_CDMA_SR_INT_ERR },
        /* the next address behind a node's memory belongs to another node */
        { { SRC, EXANET_GVA_VA - 6, 8, 0 }, EXANET_CDMA_SR_DEC_ERR },
        { { EXANET_GVA_VA - 6, DST, 8, SA_GVA | DA_LOCAL },
          EXANET_CDMA_SR_DEC_ERR },
    };
    ExanetTest *t = exanet_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        exanet_copy_start(t, 3, &cases[i].c);
        exanet_copy_ends(t, 3, SR_FAILED(cases[i].bit));
        g_assert_cmpuint(exanet_count(t, CDMA_FAILED), ==, i + 1);
    }
    /* the initiator counts no failed load or store, because the error is the channel's */
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    check_copy(t, &(ExanetCopy) { SRC, DST, 1000, DA_LOCAL }, SRC, DST);
    t->guest_errors = true;
    exanet_stop(t);
}

/* The DMA neither reads nor writes registers of a device, such as the NIC itself. */
static void test_no_device(void)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = { SRC, t->regs.addr + EXANET_REG_CTRL, 4, DA_LOCAL };

    qtest_writel(t->qts, SRC, EXANET_CTRL_RESET);
    exanet_copy_start(t, 0, &c);
    exanet_copy_ends(t, 0, SR_FAILED(EXANET_CDMA_SR_DEC_ERR));
    g_assert_cmpuint(exanet_count(t, CDMA_FAILED), ==, 1);
    exanet_stop(t);
}

/* Invalid values of BURST and OUTSTANDING have the effect of the nearest valid value. */
static void test_burst(void)
{
    static const unsigned beats[][2] = {
        { 0, 1 }, { 1, 1 }, { 16, 16 }, { 32, 32 }, { 33, 32 }, { 127, 32 },
    };
    ExanetTest *t = exanet_start("");
    const ExanetCopy c = { SRC, DST, 8 * KiB, DA_LOCAL };

    for (unsigned i = 0; i < ARRAY_SIZE(beats); i++) {
        cdma_set(t, 0, BURST, beats[i][0]);
        cdma_set(t, 0, OUTSTANDING, i % 2 ? 0 : 31);
        check_copy(t, &c, SRC, DST);
        g_assert_cmpuint(tracker_get(t, 0, ISSUED), ==,
                         c.len / (8 * beats[i][1]));
    }
    g_assert_cmphex(exanet_get64(t, EXANET_SHM_TRACKER(0) +
                                 EXANET_REG_TRACKER_SA), ==, SRC);
    g_assert_cmphex(exanet_get64(t, EXANET_SHM_TRACKER(0) +
                                 EXANET_REG_TRACKER_DA), ==, DST);
    g_assert_cmpuint(RNIC_GET(EXANET_TRACKER_BYTES, tracker_get(t, 0, LENGTH)),
                     ==, c.len);
    exanet_stop(t);
}

/*
 * Maps one page of VIRTUAL to the page of @pa; check functions leave gaps, and fill
 * them after a fault.
 */
static void map_page(ExanetTables *tb, unsigned page, uint64_t pa)
{
    exanet_tables_map(tb, VIRTUAL + page * 4096, pa + page * 4096, 0,
                      EXANET_MAP_RW);
}

static void check_local_fault(bool write, bool ok)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = { VIRTUAL + 100, VIRTUAL + 0x100003, 10000,
               DA_LOCAL | TRANSLATE | 1 };
    g_autofree uint8_t *data = g_malloc(c.len);
    struct exanet_fault f;
    ExanetTables tb;

    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    for (unsigned page = 0; page < 3; page++) {
        if (page != 1 || write) {
            map_page(&tb, page, SRC);
        }
        if (page != 1 || !write) {
            map_page(&tb, 256 + page, DST - MiB);
        }
    }
    exanet_tables_open(&tb, 1);
    exanet_fill(t, SRC + 100, data, c.len, 5);
    exanet_copy_start(t, 1, &c);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, VIRTUAL + (write ? 0x101000 : 0x1000));
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==, EXANET_FAULT_SHM);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_CTX, f.info), ==, 1);
    g_assert_cmpint(!!(f.info & EXANET_FAULT_WRITE), ==, write);
    g_assert_false(f.info & EXANET_FAULT_DST);
    g_assert_cmpuint(f.left, ==, c.len - (write ? 4096 - 3 : 4096 - 100));
    exanet_settle(t);
    g_assert_false(exanet_cdma_idle(t, 1));
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT), ==,
                     0);
    map_page(&tb, write ? 257 : 1, write ? DST - MiB : SRC);
    exanet_fault_resolve(t, &f, ok);
    exanet_copy_ends(t, 1, ok ? SR_DONE : SR_FAILED(EXANET_CDMA_SR_DEC_ERR));
    if (ok) {
        exanet_assert_mem(t, DST + 3, data, c.len);
    }
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, 0);
    exanet_stop(t);
}

static void test_local_fault(void)
{
    check_local_fault(false, true);
    check_local_fault(true, true);
}

static void test_local_fault_bad(void)
{
    check_local_fault(false, false);
    check_local_fault(true, false);
}

/* The answer to a page fault has no effect after the channel was reset. */
static void test_fault_reset(void)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = { VIRTUAL, DST, 4096, DA_LOCAL | TRANSLATE | 1 };
    struct exanet_fault f;
    ExanetTables tb;

    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 1);
    exanet_copy_start(t, 0, &c);
    f = exanet_fault_take(t);
    cdma_set(t, 0, CR, EXANET_CDMA_CR_RESET);
    g_assert_true(exanet_cdma_idle(t, 0));
    exanet_fault_resolve(t, &f, false);
    exanet_settle(t);
    g_assert_cmphex(cdma_get(t, 0, SR), ==, EXANET_CDMA_SR_IDLE);
    /* the close of a context ends its copies */
    exanet_copy_start(t, 0, &c);
    f = exanet_fault_take(t);
    exanet_close(t, 1);
    exanet_copy_ends(t, 0, SR_FAILED(EXANET_CDMA_SR_SLV_ERR));
    exanet_stop(t);
}

/* --- Over the network interface, to this node ------------------------------------ */

static void test_write(void)
{
    check_sides(TRANSLATE | 1);
}

static void test_read(void)
{
    check_sides(SA_GVA | DA_LOCAL | TRANSLATE | 1);
}

static void test_remote(void)
{
    check_sides(SA_GVA);
}

/*
 * Checks a copy with a missing page of the remote node: the node reports the fault and,
 * after the answer @ok, retries; the copy ends well, or fails if not @ok.
 */
static void check_remote_fault(bool write, bool ok)
{
    ExanetTest *t = exanet_start("");
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, REMOTE + 0x800);
    ExanetCopy c = {
        write ? SRC : gva, write ? gva : DST, 10000,
        write ? 0 : SA_GVA | DA_LOCAL, EXANET_TEST_PDID(1)
    };
    g_autofree uint8_t *data = g_malloc(c.len);
    uint64_t far = write ? DST : SRC;
    struct exanet_fault f;
    ExanetTables tb;

    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    for (unsigned page = 0; page < 3; page += 2) {
        exanet_tables_map(&tb, REMOTE + page * 4096, far + page * 4096, 0,
                          EXANET_MAP_RW);
    }
    exanet_tables_open(&tb, 1);
    exanet_fill(t, write ? SRC : SRC + 0x800, data, c.len, 9);
    exanet_copy_start(t, 3, &c);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, REMOTE + 4096);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==, EXANET_FAULT_SHM);
    g_assert_true(f.info & EXANET_FAULT_DST);
    exanet_settle(t);
    g_assert_false(exanet_cdma_idle(t, 3));
    exanet_tables_map(&tb, REMOTE + 4096, far + 4096, 0, EXANET_MAP_RW);
    exanet_fault_resolve(t, &f, ok);
    /* the response of the remote node is enough; the copy ends without a step of time */
    exanet_copy_ends(t, 3, ok ? SR_DONE : SR_FAILED(EXANET_CDMA_SR_DEC_ERR));
    if (ok) {
        exanet_assert_mem(t, write ? DST + 0x800 : DST, data, c.len);
        g_assert_cmpuint(exanet_count(t, CDMA_RETRY), >, 0);
    }
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, !ok);
    exanet_stop(t);
}

static void test_remote_fault(void)
{
    check_remote_fault(true, true);
    check_remote_fault(false, true);
}

static void test_remote_fault_bad(void)
{
    check_remote_fault(true, false);
    check_remote_fault(false, false);
}

/*
 * The remote node refuses the copy: SR has the kind of the error, and the error is
 * reported once.
 */
static void test_denied(void)
{
    static const struct {
        uint64_t va;
        uint16_t pdid;
        enum exanet_resp resp;
        uint32_t bit;
    } cases[] = {
        { DST, EXANET_TEST_PDID(1) + 0x10, EXANET_RESP_PROTECTION,
          EXANET_CDMA_SR_SLV_ERR },
        { DST, EXANET_TEST_PDID(6), EXANET_RESP_PROTECTION,
          EXANET_CDMA_SR_SLV_ERR },
        /* an invalid window, and an address without RAM */
        { 1ULL << 39, EXANET_TEST_PDID(1), EXANET_RESP_DECODE,
          EXANET_CDMA_SR_DEC_ERR },
        { EXANET_NO_RAM, EXANET_TEST_PDID(1), EXANET_RESP_DECODE,
          EXANET_CDMA_SR_DEC_ERR },
    };
    ExanetTest *t = exanet_start("");
    uint32_t info;

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ExanetCopy c = {
            SRC, exanet_gva(EXANET_TEST_NODE, cases[i].va), 5000, TRANSLATE | 1,
            cases[i].pdid
        };

        exanet_copy_start(t, 0, &c);
        exanet_copy_ends(t, 0, SR_FAILED(cases[i].bit));
        info = exanet_get32(t, EXANET_SHM + EXANET_REG_SHM_ERR_INFO);
        g_assert_cmphex(info, ==, EXANET_SHM_ERR_VALID |
                        RNIC_PREP(EXANET_SHM_ERR_CODE, cases[i].resp) |
                        RNIC_PREP(EXANET_SHM_ERR_CLASS, EXANET_SHM_RDMA_WRITE) |
                        RNIC_PREP(EXANET_SHM_ERR_CTX, 1));
        g_assert_cmphex(exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_ERR_GVA), ==,
                        c.da);
        shm_set(t, ERR_INFO, EXANET_SHM_ERR_VALID);
        g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, i + 1);
    }
    g_assert_cmpuint(exanet_count(t, CDMA_RETRY), ==, 0);
    check_copy(t, &(ExanetCopy) { SRC, exanet_gva(EXANET_TEST_NODE, DST), 5000, 0,
                                  EXANET_TEST_PDID(0) }, SRC, DST);
    exanet_stop(t);
}

/*
 * Copies of all channels at the same time; in each channel other addresses are local or
 * global.
 */
static void test_channels(void)
{
    static const uint32_t sides[EXANET_CDMA_CHANNELS] = {
        0, SA_GVA | DA_LOCAL, SA_GVA, DA_LOCAL | TRANSLATE,
    };
    ExanetTest *t = exanet_start("");
    const uint32_t len = 300000;
    uint8_t *data[EXANET_CDMA_CHANNELS];

    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        uint64_t src = SRC + ch * MiB + ch, dst = DST + ch * MiB + 3 * ch;
        ExanetCopy c = {
            sides[ch] & SA_GVA ? exanet_gva(EXANET_TEST_NODE, src) : src,
            sides[ch] & DA_LOCAL ? dst : exanet_gva(EXANET_TEST_NODE, dst),
            len, sides[ch], EXANET_TEST_PDID(0),
        };

        data[ch] = g_malloc(len);
        exanet_fill(t, src, data[ch], len, ch);
        exanet_copy_start(t, ch, &c);
    }
    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        exanet_copy_ends(t, ch, SR_DONE);
        exanet_assert_mem(t, DST + ch * MiB + 3 * ch, data[ch], len);
        g_free(data[ch]);
    }
    exanet_stop(t);
}

static uint64_t pick(GRand *rand, const uint64_t *of, unsigned count)
{
    return of[g_rand_int_range(rand, 0, count)];
}

/* Random values in all registers: each channel becomes idle, at the latest by RESET. */
static void test_hostile(void)
{
    ExanetTest *t = exanet_start("");
    const uint64_t bytes[] = {
        0, 1, 255, 4097, 20000, EXANET_CDMA_BTT_BYTES, ~0ULL,
    };
    const uint64_t at[] = {
        0, SRC, SRC + 4095, DST + 1, EXANET_RAM_END - 7, EXANET_NO_RAM, ~0ULL,
        EXANET_GVA_VA, t->regs.addr, t->user.addr, EXANET_TEST_PDID(1),
        exanet_gva(EXANET_TEST_NODE, DST + 77), exanet_gva(EXANET_TEST_NODE, SRC),
        exanet_gva(EXANET_TEST_NODE, EXANET_NI_VA(EXANET_NI_BRAM)),
        exanet_gva(EXANET_TEST_NODE, EXANET_NI_VA(EXANET_NI_MAILBOX)),
        exanet_gva(EXANET_TEST_PEER, SRC), exanet_gva(EXANET_TEST_ELSEWHERE, 0),
    };
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(12));

    shm_set(t, RETRY_MAX, 1);
    for (unsigned i = 0; i < 400; i++) {
        unsigned ch = g_rand_int(rand) % EXANET_CDMA_CHANNELS;
        ExanetCopy c = {
            pick(rand, at, ARRAY_SIZE(at)), pick(rand, at, ARRAY_SIZE(at)),
            pick(rand, bytes, ARRAY_SIZE(bytes)), g_rand_int(rand) & ~14,
            EXANET_TEST_PDID(g_rand_int(rand) % 3)
        };

        cdma_set(t, ch, CR, g_rand_int(rand) & ~(g_rand_int(rand) & 4));
        cdma_set(t, ch, BURST, g_rand_int(rand));
        cdma_set(t, ch, OUTSTANDING, g_rand_int(rand));
        cdma_set(t, ch, SR, g_rand_int(rand));
        exanet_copy_start(t, ch, &c);
        if (i % 8 == 0) {
            exanet_step(t, 60 * EXANET_MS);
        }
        /* drops all requests, so the peer does not answer */
        g_queue_clear_full(&t->peer->packets, g_free);
    }
    g_assert_cmpuint(exanet_count(t, CDMA_FAILED), >, 0);
    for (unsigned ch = 0; ch < EXANET_CDMA_CHANNELS; ch++) {
        cdma_set(t, ch, CR, EXANET_CDMA_CR_RESET);
        g_assert_cmphex(cdma_get(t, ch, SR), ==, EXANET_CDMA_SR_IDLE);
    }
    exanet_step(t, 60 * EXANET_MS);
    check_copy(t, &(ExanetCopy) { SRC, exanet_gva(EXANET_TEST_NODE, DST), 5000, 0,
                                  EXANET_TEST_PDID(0) }, SRC, DST);
    t->guest_errors = true;
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/cdma/registers", test_registers);
    qtest_add_func("/exanet/cdma/btt-zero", test_btt_zero);
    qtest_add_func("/exanet/cdma/interrupt", test_interrupt);
    qtest_add_func("/exanet/cdma/local", test_local);
    qtest_add_func("/exanet/cdma/local-virtual", test_local_virtual);
    qtest_add_func("/exanet/cdma/local-refused", test_local_refused);
    qtest_add_func("/exanet/cdma/no-device", test_no_device);
    qtest_add_func("/exanet/cdma/burst", test_burst);
    qtest_add_func("/exanet/cdma/local-fault", test_local_fault);
    qtest_add_func("/exanet/cdma/local-fault-bad", test_local_fault_bad);
    qtest_add_func("/exanet/cdma/fault-reset", test_fault_reset);
    qtest_add_func("/exanet/cdma/write", test_write);
    qtest_add_func("/exanet/cdma/read", test_read);
    qtest_add_func("/exanet/cdma/remote", test_remote);
    qtest_add_func("/exanet/cdma/remote-fault", test_remote_fault);
    qtest_add_func("/exanet/cdma/remote-fault-bad", test_remote_fault_bad);
    qtest_add_func("/exanet/cdma/denied", test_denied);
    qtest_add_func("/exanet/cdma/channels", test_channels);
    qtest_add_func("/exanet/cdma/hostile", test_hostile);
    return g_test_run();
}
