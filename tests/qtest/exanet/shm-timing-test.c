/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timing mode: compares times in virtual time with the measurements of the paper.  Up
 * to three nodes in a row are devices of one machine, so that they have one clock,
 * which advances from timer to timer.  So results do not depend on the steps of a test.
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "libqos/pci-pc.h"
#include "cdma.h"
#include "network.h"
#include "tgen.h"

#define NODES 3
#define SLOT 4                      /* PCI slot of the first device */
#define US 1000LL                   /* ns in a microsecond */

typedef struct Row {
    ExanetTest *t[NODES];
    uint32_t coord[NODES];
} Row;

/* --- Nodes ---------------------------------------------------------------- */

static void node_map(ExanetTest *t, unsigned slot)
{
    uint64_t size;

    t->dev = qpci_device_find(t->bus, QPCI_DEVFN(slot, 0));
    g_assert_nonnull(t->dev);
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, EXANET_BAR_REGS, &size);
    t->user = qpci_iomap(t->dev, EXANET_BAR_USER, &size);
    t->aperture = qpci_iomap(t->dev, EXANET_BAR_APERTURE, &size);
    t->page_bytes = 4096;
}

static bool row_up(Row *r)
{
    qtest_clock_step(r->t[0]->qts, 10 * EXANET_MS);
    for (unsigned i = 0; i < NODES; i++) {
        for (unsigned port = 0; port < 1 + (i == 1); port++) {
            if (!(exanet_get32(r->t[i], EXANET_PORT(port) +
                               EXANET_REG_PORT_STATUS) &
                  EXANET_PORT_STATUS_UP)) {
                return false;
            }
        }
    }
    return true;
}

static Row *row_start(const char *props)
{
    static const char *const links[NODES] = {
        "link0=a", "link0=b,link1=c", "link0=d",
    };
    g_autoptr(GString) args = g_string_new(
        "-machine q35 -vga none -m 128 -nodefaults "
        "-netdev hubport,hubid=0,id=a -netdev hubport,hubid=0,id=b "
        "-netdev hubport,hubid=1,id=c -netdev hubport,hubid=1,id=d");
    Row *r = g_new0(Row, 1);
    QTestState *qts;

    for (unsigned i = 0; i < NODES; i++) {
        r->coord[i] = exanet_coord(i, 0, 0, 0);
        g_string_append_printf(args, " -device exanet-pci,id=nic%u,addr=%u,"
                               "coord=0x%x,%s,link-timeout-ms=0%s", i, SLOT + i,
                               r->coord[i], links[i], props);
    }
    qts = qtest_init(args->str);
    for (unsigned i = 0; i < NODES; i++) {
        r->t[i] = g_new0(ExanetTest, 1);
        r->t[i]->qts = qts;
        r->t[i]->bus = i ? r->t[0]->bus : qpci_new_pc(qts, NULL);
        node_map(r->t[i], SLOT + i);
    }
    for (unsigned i = 0; i < NODES; i++) {
        exanet_set32(r->t[i], EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
        exanet_open(r->t[i], 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    exanet_wait(r->t[0], row_up(r));
    return r;
}

static void row_stop(Row *r)
{
    QTestState *qts = r->t[0]->qts;
    QPCIBus *bus = r->t[0]->bus;

    for (unsigned i = 0; i < NODES; i++) {
        g_free(r->t[i]->dev);
        g_free(r->t[i]);
    }
    qpci_free_pc(bus);
    qtest_quit(qts);
    g_free(r);
}

static void row_pass(Row *r, int64_t ns)
{
    exanet_step(r->t[0], ns);
}

/* --- Measures ------------------------------------------------------------- */

static double tgen_ns(Row *r)
{
    g_assert_false(exanet_tgen_busy(r->t[0]));
    g_assert_cmpuint(exanet_tgen_code(r->t[0]), ==, EXANET_RESP_ACK);
    return exanet_tgen_get(r->t[0], EXANET_REG_TGEN_TIME);
}

static unsigned to_cycles(double ns)
{
    return ns * 1000 / EXANET_SHM_CYCLE_PS + 0.5;
}

static void assert_near(const char *what, double value, double want,
                        double percent)
{
    g_test_message("%s: %.4g, expected %.4g", what, value, want);
    if (value < want * (1 - percent / 100) || value > want * (1 + percent / 100)) {
        g_error("%s: %g is not within %g %% of %g", what, value, percent, want);
    }
}

/* Returns the cycles of one transaction of @size bytes to block RAM of node @n. */
static unsigned round_trip(Row *r, unsigned n, unsigned size, uint32_t flags)
{
    const uint64_t gva = exanet_bram_gva(r->coord[n], 0x100);
    const ExanetTgenRun run = { .gva = &gva, .size = size, .flags = flags };

    exanet_tgen_start(r->t[0], &run);
    row_pass(r, 100 * US);
    return to_cycles(tgen_ns(r));
}

/*
 * Returns the ns per access of a loop in which each access waits for the one before and
 * for @think ns.
 */
static double loop_ns(Row *r, unsigned n, uint32_t flags, unsigned think)
{
    const uint64_t gva[] = {
        exanet_bram_gva(r->coord[n], 0x100), exanet_bram_gva(r->coord[n], 0x200),
    };
    const ExanetTgenRun run = {
        .gva = gva, .targets = 2, .size = 8, .flags = flags | EXANET_TGEN_REPEAT,
    };
    uint64_t done, time;

    exanet_shm_set(r->t[0], TGEN_THINK, think);
    exanet_tgen_start(r->t[0], &run);
    row_pass(r, 20 * US);
    done = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_DONE);
    time = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_TIME);
    row_pass(r, 500 * US);
    done = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_DONE) - done;
    time = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_TIME) - time;
    exanet_tgen_stop(r->t[0]);
    exanet_shm_set(r->t[0], TGEN_THINK, 0);
    row_pass(r, 10 * US);
    g_assert_cmpuint(exanet_tgen_code(r->t[0]), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(done, >, 100);
    return (double)time / done;
}

/* Starts stores or loads without end by node @from: bursts of @beats words to node @n. */
static void stream_start(Row *r, unsigned from, unsigned n, unsigned beats,
                         unsigned outstanding, uint32_t flags)
{
    uint64_t gva[8];
    const ExanetTgenRun run = {
        .gva = gva, .targets = ARRAY_SIZE(gva), .beats = beats,
        .outstanding = outstanding, .flags = flags | EXANET_TGEN_REPEAT,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        gva[i] = exanet_bram_gva(r->coord[n], 4096 * from + 512 * i);
    }
    exanet_tgen_start(r->t[from], &run);
}

static void stream_stop(Row *r, unsigned from)
{
    exanet_tgen_stop(r->t[from]);
    row_pass(r, 20 * US);
    g_assert_false(exanet_tgen_busy(r->t[from]));
    g_assert_cmpuint(exanet_tgen_code(r->t[from]), ==, EXANET_RESP_ACK);
}

/*
 * Returns the Gb/s of bursts of @beats words to node @n, @outstanding at the same time.
 */
static double rate(Row *r, unsigned n, unsigned beats, unsigned outstanding,
                   uint32_t flags)
{
    uint64_t bytes, time;

    stream_start(r, 0, n, beats, outstanding, flags);
    row_pass(r, 20 * US);
    bytes = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_BYTES);
    time = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_TIME);
    row_pass(r, 400 * US);
    bytes = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_BYTES) - bytes;
    time = exanet_tgen_get(r->t[0], EXANET_REG_TGEN_TIME) - time;
    stream_stop(r, 0);
    return 8.0 * bytes / time;
}

/* --- Tests ---------------------------------------------------------------- */

static void test_off(void)
{
    Row *r = row_start("");

    for (unsigned i = 0; i < NODES; i++) {
        g_assert_false(exanet_get32(r->t[i], EXANET_REG_CAP1) &
                       EXANET_CAP1_TIMING);
        g_assert_cmpuint(exanet_get32(r->t[i], EXANET_PORT(0) +
                                      EXANET_REG_PORT_LATENCY), ==, 0);
    }
    exanet_shm_set(r->t[0], TGEN_THINK, 1000);
    for (unsigned n = 0; n < NODES; n++) {
        const uint64_t gva[] = {
            exanet_bram_gva(r->coord[n], 0), exanet_bram_gva(r->coord[n], 64),
        };
        const ExanetTgenRun run = { .gva = gva, .targets = 2, .beats = 8 };

        g_assert_cmpuint(exanet_tgen_run(r->t[0], &run), ==, EXANET_RESP_ACK);
        g_assert_cmpfloat(tgen_ns(r), ==, 0);
    }
    row_stop(r);
}

/* Table 2, and the cycles that each further switch and link adds, in both directions. */
static void test_round_trip(void)
{
    Row *r = row_start(",shm-timing=on");

    g_assert_true(exanet_get32(r->t[0], EXANET_REG_CAP1) & EXANET_CAP1_TIMING);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(round_trip(r, 1, 8, EXANET_TGEN_WRITE), ==, 232);
        g_assert_cmpuint(round_trip(r, 1, 8, 0), ==, 232);
        g_assert_cmpuint(round_trip(r, 2, 8, EXANET_TGEN_WRITE), ==,
                         232 + 2 * (9 + 100));
        g_assert_cmpuint(round_trip(r, 2, 8, 0), ==, 232 + 2 * (9 + 100));
        row_pass(r, 777);
    }
    /* N beats: 7 + N cycles to the target, 7 + 2 N back */
    g_assert_cmpuint(round_trip(r, 1, 128, EXANET_TGEN_WRITE), ==, 229 + 3 * 16);
    g_assert_cmpuint(round_trip(r, 1, 128, 0), ==, 229 + 3 * 16);
    row_stop(r);
}

/*
 * Two machines, whose clocks advance in steps of 8 ns, so that a cable adds at most one
 * step in each direction.
 */
static void test_machines(void)
{
    const int64_t step = 8;
    const uint64_t gva = exanet_bram_gva(EXANET_TEST_PEER, 0);
    const ExanetTgenRun run = {
        .gva = &gva, .size = 8, .flags = EXANET_TGEN_WRITE,
    };
    g_autofree char *dir = g_dir_make_tmp("exanet-timing-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);
    ExanetTest *t[2];
    uint64_t ns;

    exanet_pair_start(t, path, ",shm-timing=on");
    exanet_tgen_start(t[0], &run);
    exanet_pair_wait(t, !exanet_tgen_busy(t[0]), step);
    g_assert_cmpuint(exanet_tgen_code(t[0]), ==, EXANET_RESP_ACK);
    ns = exanet_tgen_get(t[0], EXANET_REG_TGEN_TIME);
    g_test_message("%" PRIu64 " ns", ns);
    g_assert_cmpuint(ns, >=, 1485 - 2 * step);
    g_assert_cmpuint(ns, <=, 1485 + 2 * step);
    exanet_stop(t[0]);
    exanet_stop(t[1]);
    g_unlink(path);
    g_rmdir(dir);
}

/* Early acknowledgement: a store ends when it has left, not when it is answered. */
static void test_early(void)
{
    Row *r = row_start(",shm-timing=on");

    g_assert_cmpuint(round_trip(r, 1, 8, EXANET_TGEN_WRITE | EXANET_TGEN_EARLY),
                     ==, 7 + 1 + 2);
    g_assert_cmpuint(exanet_count(r->t[0], SHM_ACK), ==, 1);
    assert_near("Gb/s, early, 512 B, two under way",
                rate(r, 1, 64, 2, EXANET_TGEN_WRITE | EXANET_TGEN_EARLY),
                8.56, 2);
    assert_near("Gb/s, early, 128 B, two under way",
                rate(r, 1, 16, 2, EXANET_TGEN_WRITE | EXANET_TGEN_EARLY),
                6.48, 2);
    row_stop(r);
}

/* Table 4: the processor waits for each access, and early acknowledgement is off. */
#define THINK_REMOTE 205
#define THINK_LOCAL 173

static void test_loop(void)
{
    Row *r = row_start(",shm-timing=on");

    for (unsigned write = 0; write < 2; write++) {
        uint32_t flags = write ? EXANET_TGEN_WRITE : 0;

        assert_near("ns, remote", loop_ns(r, 1, flags, THINK_REMOTE), 1690, 2);
        assert_near("ns, block RAM", loop_ns(r, 0, flags, THINK_LOCAL), 180, 2);
    }
    row_stop(r);
}

static void test_rate(void)
{
    Row *r = row_start(",shm-timing=on");
    double one;

    assert_near("Gb/s, 512 B", rate(r, 1, 64, 8, EXANET_TGEN_WRITE), 8.56, 2);
    assert_near("Gb/s, 128 B", rate(r, 1, 16, 16, EXANET_TGEN_WRITE), 6.48, 2);
    assert_near("Gb/s, loads, 512 B", rate(r, 1, 64, 8, 0), 8.56, 2);
    assert_near("Gb/s, 512 B, by a switch",
                rate(r, 2, 64, 8, EXANET_TGEN_WRITE), 8.56, 2);
    /* one burst at a time takes a round trip: 71 + 100 + 39 + 1 + 7 + 100 + 7 cycles */
    one = rate(r, 1, 16, 1, EXANET_TGEN_WRITE);
    assert_near("Gb/s, 128 B, one at a time", one,
                128 * 8 / ((229 + 3 * 16) * 6.4), 1);
    row_stop(r);
}

/*
 * Two nodes share a link: packets in transit and packets of the node itself get half of
 * the rate each.
 */
static void test_share(void)
{
    Row *r = row_start(",shm-timing=on");
    uint64_t bytes[2] = { 0, 0 };
    const int64_t ns = 400 * US;

    stream_start(r, 0, 2, 16, 16, EXANET_TGEN_WRITE);
    stream_start(r, 1, 2, 16, 16, EXANET_TGEN_WRITE);
    row_pass(r, 50 * US);
    for (unsigned i = 0; i < 2; i++) {
        bytes[i] = exanet_tgen_get(r->t[i], EXANET_REG_TGEN_BYTES);
    }
    row_pass(r, ns);
    for (unsigned i = 0; i < 2; i++) {
        bytes[i] = exanet_tgen_get(r->t[i], EXANET_REG_TGEN_BYTES) - bytes[i];
    }
    stream_stop(r, 0);
    stream_stop(r, 1);
    assert_near("Gb/s, 128 B, two nodes", 8.0 * (bytes[0] + bytes[1]) / ns, 6.48,
                3);
    assert_near("Gb/s, 128 B, one of them", 8.0 * bytes[0] / ns, 3.24, 10);
    row_stop(r);
}

/* --- Loss and reset ---------------------------------------------------------- */

static void row_fault(Row *r, unsigned n, const char *faults)
{
    g_autofree char *path = g_strdup_printf("/machine/peripheral/nic%u", n);

    qtest_qmp_assert_success(r->t[n]->qts, "{ 'execute': 'qom-set', 'arguments': "
        "{ 'path': %s, 'property': 'faults0', 'value': %s } }", path, faults);
}

/* Lost packets are sent again, and all stores are executed once. */
static void test_loss(void)
{
    Row *r = row_start(",shm-timing=on");
    uint64_t bram = exanet_get64(r->t[2], EXANET_SHM + EXANET_REG_SHM_APERTURE);
    uint64_t gva[EXANET_TGEN_TARGETS];
    const ExanetTgenRun run = {
        .gva = gva, .targets = ARRAY_SIZE(gva), .size = 8, .outstanding = 8,
        .flags = EXANET_TGEN_WRITE | EXANET_TGEN_EACH,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        gva[i] = exanet_bram_gva(r->coord[2], 64 * i);
        exanet_set64(r->t[0], EXANET_TGEN_DATA(i), 0x1111 * (i + 1));
    }
    /* SHM_TIMEOUT of ten round trips */
    exanet_shm_set(r->t[0], SHM_TIMEOUT, 4500);
    row_fault(r, 0, "drop=20% seed=3");
    row_fault(r, 2, "drop=20% seed=4");
    exanet_tgen_start(r->t[0], &run);
    row_pass(r, 20 * EXANET_MS);
    tgen_ns(r);
    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        g_assert_cmphex(exanet_load(r->t[2], bram + 64 * i, 8), ==,
                        0x1111 * (i + 1));
    }
    g_assert_cmpuint(exanet_count(r->t[0], SHM_REISSUE), >, 0);
    g_assert_cmpuint(exanet_count(r->t[2], SHM_TARGET_STORE), ==,
                     ARRAY_SIZE(gva));
    row_stop(r);
}

/* Resets of each node while packets wait: times are the same afterwards. */
static void test_reset(void)
{
    Row *r = row_start(",shm-timing=on");

    for (unsigned n = 0; n < NODES; n++) {
        stream_start(r, 0, 2, 64, 8, EXANET_TGEN_WRITE);
        row_pass(r, 10 * US + 333 * n);
        exanet_set32(r->t[n], EXANET_REG_CTRL, EXANET_CTRL_RESET);
        exanet_set32(r->t[n], EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
        exanet_open(r->t[n], 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
        exanet_tgen_stop(r->t[0]);
        exanet_wait(r->t[0], row_up(r));
        /* waits until all stores are answered or given up */
        row_pass(r, 3000 * EXANET_MS);
        g_assert_false(exanet_tgen_busy(r->t[0]));
        g_assert_cmpuint(round_trip(r, 2, 8, EXANET_TGEN_WRITE), ==,
                         232 + 2 * (9 + 100));
    }
    row_stop(r);
}

/* A node is unplugged while packets wait at it. */
static void test_unplug(void)
{
    QTestState *qts = qtest_init("-machine pc -nodefaults "
        "-netdev hubport,hubid=0,id=a -netdev hubport,hubid=0,id=b "
        "-device exanet-pci,link0=a,coord=1,addr=4,shm-timing=on "
        "-device exanet-pci,link0=b,coord=2,addr=5,shm-timing=on,id=goes");
    Row r = { .coord = { 1, 2 } };
    ExanetTest t[2] = { 0 };

    for (unsigned i = 0; i < 2; i++) {
        r.t[i] = &t[i];
        t[i].qts = qts;
        t[i].bus = i ? t[0].bus : qpci_new_pc(qts, NULL);
        node_map(&t[i], SLOT + i);
        exanet_set32(&t[i], EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
        exanet_open(&t[i], 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    row_pass(&r, 3000 * EXANET_MS);
    stream_start(&r, 0, 1, 64, 8, EXANET_TGEN_WRITE);
    stream_start(&r, 1, 0, 64, 8, 0);
    row_pass(&r, 50 * US);
    g_assert_cmpuint(exanet_tgen_get(&t[0], EXANET_REG_TGEN_DONE), >, 0);
    g_assert_cmpuint(exanet_tgen_get(&t[1], EXANET_REG_TGEN_DONE), >, 0);
    qpci_unplug_acpi_device_test(qts, "goes", SLOT + 1);
    exanet_tgen_stop(&t[0]);
    row_pass(&r, 20000 * EXANET_MS);
    g_assert_false(exanet_tgen_busy(&t[0]));
    g_assert_cmpuint(exanet_tgen_get(&t[0], EXANET_REG_TGEN_ERR), >, 0);
    for (unsigned i = 0; i < 2; i++) {
        g_free(t[i].dev);
    }
    qpci_free_pc(t[0].bus);
    qtest_quit(qts);
}

/* --- RDMA ----------------------------------------------------------------- */

/* Returns the ns of a copy of @len bytes to block RAM of node 1, in units of @step. */
static int64_t copy_ns(Row *r, uint32_t len, int64_t step)
{
    const ExanetCopy c = {
        .sa = EXANET_RAM_SRC, .da = exanet_bram_gva(r->coord[1], 0), .len = len,
        .pdid = EXANET_TEST_PDID(0),
    };
    int64_t ns = 0;

    exanet_copy_start(r->t[0], 0, &c);
    while (!exanet_cdma_idle(r->t[0], 0)) {
        g_assert_cmpint(ns, <, 10 * EXANET_MS);
        qtest_clock_step(r->t[0]->qts, step);
        ns += step;
    }
    exanet_copy_ended(r->t[0], 0, SR_DONE);
    return ns;
}

static void test_rdma(void)
{
    const uint32_t len = 256 * 1024;
    Row *r = row_start(",shm-timing=on");
    uint32_t ctrl = exanet_shm_get(r->t[0], SHM_CTRL);
    double early, normal;

    for (unsigned size = 8; size <= 64; size *= 2) {
        assert_near("us, RDMA, small", copy_ns(r, size, 5) / 1000.0, 1.9, 6);
    }
    early = copy_ns(r, len, 100);
    exanet_shm_set(r->t[0], SHM_CTRL, ctrl & ~EXANET_SHM_CTRL_EARLY);
    normal = copy_ns(r, len, 100);
    for (unsigned size = 8; size <= 64; size *= 2) {
        assert_near("us, RDMA, small, not early", copy_ns(r, size, 5) / 1000.0,
                    1.9, 6);
    }
    assert_near("Gb/s, RDMA, early", 8.0 * len / early, 6.48, 2);
    /* five requests under way, 277 cycles each; the paper's curve is not available */
    assert_near("Gb/s, RDMA, not early", 8.0 * len / normal,
                5 * 128 * 8 / (277 * 6.4), 2);
    assert_near("RDMA, early / not early", normal / early, 2, 15);
    row_stop(r);
}

/* --- Climate kernel -------------------------------------------------------- */

/* A job on block RAM with one cell, without columns in common. */
#define NDF1 8
#define NDF2 6
#define NLAYERS 20

enum { CELLS_AT = 0, MAP1_AT = 8, MAP2_AT = 64, X_AT = 128,
       Y_AT = X_AT + 8 * NDF2 * NLAYERS,
       MATRIX_AT = Y_AT + 8 * NDF1 * NLAYERS };

static void job_fill(Row *r, unsigned n)
{
    ExanetTest *t = r->t[n];
    uint64_t bram = exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_APERTURE);

    for (unsigned i = 0; i < NDF1; i++) {
        exanet_store(t, bram + MAP1_AT + 4 * i, i * NLAYERS, 4);
    }
    for (unsigned i = 0; i < NDF2; i++) {
        exanet_store(t, bram + MAP2_AT + 4 * i, i * NLAYERS, 4);
    }
}

/* Returns the ns per access of the accelerator of node 0 to block RAM of node @n. */
static double accel_ns(Row *r, unsigned n)
{
    static const struct { unsigned reg, at; } array[] = {
        { EXANET_REG_ACCEL_MATRIX, MATRIX_AT }, { EXANET_REG_ACCEL_X, X_AT },
        { EXANET_REG_ACCEL_Y, Y_AT }, { EXANET_REG_ACCEL_MAP1, MAP1_AT },
        { EXANET_REG_ACCEL_MAP2, MAP2_AT }, { EXANET_REG_ACCEL_CELLS, CELLS_AT },
    };
    const unsigned accesses = (NDF1 * NDF2 + NDF2 + 2 * NDF1) * NLAYERS +
                              (NDF1 + NDF2) / 2 + 1;
    ExanetTest *t = r->t[0];

    job_fill(r, n);
    for (unsigned i = 0; i < ARRAY_SIZE(array); i++) {
        exanet_set64(t, EXANET_SHM + array[i].reg, n == 0 ? array[i].at :
                     exanet_bram_gva(r->coord[n], array[i].at));
    }
    exanet_shm_set(t, ACCEL_NDF, RNIC_PREP(EXANET_ACCEL_NDF1, NDF1) |
                   RNIC_PREP(EXANET_ACCEL_NDF2, NDF2));
    exanet_shm_set(t, ACCEL_NLAYERS, NLAYERS);
    exanet_shm_set(t, ACCEL_NCELLS, 1);
    exanet_shm_set(t, ACCEL_PDID, EXANET_TEST_PDID(0));
    exanet_shm_set(t, ACCEL_BURST, 1);
    exanet_shm_set(t, ACCEL_OUTSTANDING, 3);
    exanet_shm_set(t, ACCEL_CTRL, EXANET_ACCEL_GO |
                   (n ? EXANET_ACCEL_REMOTE_ALL : 0));
    row_pass(r, 10 * EXANET_MS);
    g_assert_cmphex(exanet_shm_get(t, ACCEL_STATUS), ==,
                    EXANET_ACCEL_STATUS_DONE);
    g_assert_cmpuint(exanet_get64(t, EXANET_SHM + EXANET_REG_ACCEL_BYTES), ==,
                     8 * accesses - 4);
    return (double)exanet_get64(t, EXANET_SHM + EXANET_REG_ACCEL_TIME) / accesses;
}

/* The ratios of table 5 without its first row. */
static void test_climate(void)
{
    Row *r = row_start(",shm-timing=on");
    double cpu = loop_ns(r, 0, 0, THINK_LOCAL);
    double cpu_remote = loop_ns(r, 1, 0, THINK_REMOTE);
    double fpga = accel_ns(r, 0);
    double fpga_remote = accel_ns(r, 1);

    assert_near("CPU, remote / local", cpu_remote / cpu, 68.232 / 7.520, 10);
    assert_near("FPGA, remote / local", fpga_remote / fpga, 24.186 / 2.533, 10);
    assert_near("CPU / FPGA, local", cpu / fpga, 7.520 / 2.533, 10);
    assert_near("CPU / FPGA, remote", cpu_remote / fpga_remote,
                68.232 / 24.186, 10);
    row_stop(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-timing/off", test_off);
    qtest_add_func("/exanet/shm-timing/round-trip", test_round_trip);
    qtest_add_func("/exanet/shm-timing/machines", test_machines);
    qtest_add_func("/exanet/shm-timing/early", test_early);
    qtest_add_func("/exanet/shm-timing/loop", test_loop);
    qtest_add_func("/exanet/shm-timing/rate", test_rate);
    qtest_add_func("/exanet/shm-timing/share", test_share);
    qtest_add_func("/exanet/shm-timing/loss", test_loss);
    qtest_add_func("/exanet/shm-timing/reset", test_reset);
    qtest_add_func("/exanet/shm-timing/unplug", test_unplug);
    qtest_add_func("/exanet/shm-timing/rdma", test_rdma);
    qtest_add_func("/exanet/shm-timing/climate", test_climate);
    return g_test_run();
}
