/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of several nodes at once: two nodes that send to each other through
 * small queues, and a network that loses packets, whose memory must finally equal a
 * reference.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "cdma.h"
#include "network.h"
#include "tgen.h"

#define STEP (2 * EXANET_MS)
#define LIMIT (200000 * EXANET_MS)
#define TIMEOUT 1562500             /* 10 ms in cycles */

static void masters_on(ExanetNetwork *f)
{
    for (unsigned n = 0; n < f->topo.nodes; n++) {
        exanet_shm_set(f->t[n], SHM_CTRL, EXANET_SHM_CTRL_ALL);
        exanet_shm_set(f->t[n], SHM_TIMEOUT, TIMEOUT);
    }
}

/* Returns the number of stores of context 0 without an answer. */
static uint32_t stores_waiting(ExanetTest *t)
{
    return exanet_user_get(t, 0, EXANET_PAGE_INFO,
                           offsetof(struct exanet_info, stores)) & 0xffffffff;
}

/* --- Two nodes flood each other -------------------------------------------------- */

#define FLOOD_ROUNDS 24
#define FLOOD_DONE 64               /* transactions of each generator in a round */
#define FLOOD_STORES 32             /* limit of waiting stores of a node's CPU */
#define FLOOD_COPY 0x4000           /* bytes of a channel's copy */

typedef struct Flood {
    ExanetNetwork *f;
    uint64_t done[2]; /* transactions of each generator at the start of the round */
    unsigned copies[2][2];          /* copies that have started, by node and channel */
} Flood;

static uint64_t flood_gva(Flood *fl, unsigned n, uint64_t at)
{
    return exanet_gva(fl->f->topo.coord[!n], at);
}

static void flood_tgen(Flood *fl, unsigned n, bool write)
{
    uint64_t gva[EXANET_TGEN_TARGETS];
    const ExanetTgenRun r = {
        .gva = gva, .targets = ARRAY_SIZE(gva), .size = 256, .outstanding = 16,
        .ids = 15, .flags = EXANET_TGEN_REPEAT |
                            (write ? EXANET_TGEN_WRITE | EXANET_TGEN_EARLY : 0),
    };

    for (unsigned i = 0; i < ARRAY_SIZE(gva); i++) {
        gva[i] = flood_gva(fl, n, EXANET_RAM_DST + 0x100 * i);
    }
    exanet_tgen_start(fl->f->t[n], &r);
    fl->done[n] = 0;
}

/* Starts copies on idle channels of node @n, and stores by its aperture. */
static void flood_feed(Flood *fl, unsigned n)
{
    ExanetTest *t = fl->f->t[n];
    const ExanetCopy copies[] = {
        { .sa = EXANET_RAM_SRC, .da = flood_gva(fl, n, EXANET_RAM_RING),
          .len = FLOOD_COPY, .pdid = EXANET_TEST_PDID(1) },
        { .sa = flood_gva(fl, n, EXANET_RAM_SRC), .da = EXANET_RAM_NOTE,
          .len = FLOOD_COPY, .sides = SA_GVA | DA_LOCAL,
          .pdid = EXANET_TEST_PDID(1) },
    };

    for (unsigned ch = 0; ch < ARRAY_SIZE(copies); ch++) {
        if (exanet_cdma_idle(t, ch)) {
            if (fl->copies[n][ch]++) {
                exanet_copy_ended(t, ch, SR_DONE);
            }
            exanet_copy_start(t, ch, &copies[ch]);
        }
    }
    /* more stores than timers, but not more than the FIFO holds */
    for (unsigned i = stores_waiting(t); i < FLOOD_STORES; i++) {
        exanet_store(t, 8 * i, i, 8);
    }
}

/*
 * Runs until both generators have done FLOOD_DONE transactions and each channel has
 * ended a copy; fails after WAIT_MS.
 */
static void flood_round(Flood *fl)
{
    int64_t end = wait_end();
    unsigned copies[2][2];
    bool more = true;

    memcpy(copies, fl->copies, sizeof(copies));
    while (more) {
        more = false;
        exanet_network_pass(fl->f, STEP, STEP / 10);
        for (unsigned n = 0; n < 2; n++) {
            uint64_t done = exanet_tgen_get(fl->f->t[n], EXANET_REG_TGEN_DONE);

            flood_feed(fl, n);
            more |= done < fl->done[n] + FLOOD_DONE;
            more |= fl->copies[n][0] == copies[n][0] ||
                    fl->copies[n][1] == copies[n][1];
        }
        if (g_get_monotonic_time() > end) {
            exanet_network_dump(fl->f);
            g_error("no progress");
        }
    }
    for (unsigned n = 0; n < 2; n++) {
        fl->done[n] = exanet_tgen_get(fl->f->t[n], EXANET_REG_TGEN_DONE);
    }
}

static void flood_stop(Flood *fl)
{
    for (unsigned n = 0; n < 2; n++) {
        exanet_tgen_stop(fl->f->t[n]);
    }
    exanet_network_until(fl->f, !exanet_tgen_busy(fl->f->t[0]) &&
                         !exanet_tgen_busy(fl->f->t[1]), STEP, LIMIT);
    for (unsigned n = 0; n < 2; n++) {
        g_assert_cmpuint(exanet_tgen_get(fl->f->t[n], EXANET_REG_TGEN_ERR), ==,
                         0);
    }
}

static void test_flood(void)
{
    ExanetTopology topo = exanet_topology_grid(2, 1, 1, false);
    Flood fl = { exanet_network_start(&topo, ",cam-entries=1,rx-fifo-words=256") };

    masters_on(fl.f);
    for (unsigned n = 0; n < 2; n++) {
        exanet_segment(fl.f->t[n], 0, 0, 0x1000,
                       flood_gva(&fl, n, EXANET_RAM_TABLES), EXANET_SEGMENT_ALL);
    }
    for (unsigned i = 0; i < 4; i++) {
        /* stores against stores, loads against stores, and loads against loads */
        flood_tgen(&fl, 0, i & 1);
        flood_tgen(&fl, 1, i & 2);
        for (unsigned round = 0; round < FLOOD_ROUNDS / 4; round++) {
            flood_round(&fl);
        }
        flood_stop(&fl);
    }
    exanet_network_until(fl.f, exanet_cdma_idle(fl.f->t[0], 0) &&
                         exanet_cdma_idle(fl.f->t[0], 1) &&
                         exanet_cdma_idle(fl.f->t[1], 0) &&
                         exanet_cdma_idle(fl.f->t[1], 1), STEP, LIMIT);
    g_assert_cmpuint(exanet_network_total(fl.f, SHM_CAM_FULL), >, 0);
    g_assert_cmpuint(exanet_network_total(fl.f, SHM_ESCALATED), ==, 0);
    exanet_network_stop(fl.f);
}

/* --- Four nodes, bad cables -------------------------------------------------------- */

#define NODES 4
#define WAVES 40
#define SEED 20181

/* Each master of each node writes to a region of its own on each node. */
#define REGION 0x10000
enum { BY_TGEN, BY_CPU, BY_CDMA0, BY_CDMA1, MASTERS };
#define OWN (MASTERS * REGION)
#define IMAGE (NODES * OWN)
#define IMAGE_AT EXANET_RAM_DST
/* address of data that channel @ch has copied back */
#define BACK_AT(ch) (EXANET_RAM_NOTE + REGION * (ch))

typedef struct Mix {
    ExanetNetwork *f;
    GRand *rand;
    uint8_t *image[NODES];          /* reference for the memory of each node */
    uint8_t source[NODES][REGION];
    /* loads and copies back of a wave, and the data that they must return */
    unsigned loads[NODES];
    uint8_t loaded[NODES][EXANET_TGEN_WORDS * 8];
    unsigned back[NODES][2];        /* bytes of the copy back; 0: none */
    uint8_t copied[NODES][2][REGION];
} Mix;

static unsigned pick(Mix *m, unsigned count)
{
    return g_rand_int_range(m->rand, 0, count);
}

static unsigned pick_other(Mix *m, unsigned n)
{
    return (n + 1 + pick(m, NODES - 1)) % NODES;
}

/* Returns the offset in each node's image where master @by of node @n may write. */
static unsigned region(unsigned n, unsigned by)
{
    return n * OWN + by * REGION;
}

/*
 * Starts a run of node @n's generator, and updates the images.  Targets may overlap,
 * because stores of one ID are done in order.
 */
static void mix_tgen(Mix *m, unsigned n)
{
    uint64_t gva[8];
    uint8_t data[EXANET_TGEN_WORDS * 8];
    bool write = pick(m, 3);
    ExanetTgenRun r = {
        .gva = gva, .targets = 1 + pick(m, ARRAY_SIZE(gva)),
        .size = write ? 1 + pick(m, 400) : 8, .outstanding = 1 + pick(m, 16),
        .ids = 1, .flags = EXANET_TGEN_EACH | (write ? EXANET_TGEN_WRITE : 0) |
                           (write && pick(m, 2) ? EXANET_TGEN_EARLY : 0),
    };

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = pick(m, 256);
    }
    for (unsigned i = 0; i < r.targets; i++) {
        unsigned to = pick_other(m, n);
        unsigned at = region(n, BY_TGEN) + pick(m, 1000);

        gva[i] = exanet_gva(m->f->topo.coord[to], IMAGE_AT + at);
        if (!write) {
            memcpy(m->loaded[n] + 8 * i, m->image[to] + at, 8);
        }
        for (unsigned b = 0; write && b < r.size; b++) {
            m->image[to][at + b] = data[(8 * i + b) % sizeof(data)];
        }
    }
    m->loads[n] = write ? 0 : r.targets;
    exanet_tgen_fill(m->f->t[n], data, sizeof(data));
    exanet_tgen_start(m->f->t[n], &r);
}

/* Stores by the aperture of node @n, whose segment of each node has REGION bytes. */
static void mix_stores(Mix *m, unsigned n)
{
    for (unsigned count = pick(m, 16); count; count--) {
        unsigned to = pick_other(m, n);
        unsigned size = 1 << pick(m, 4);
        unsigned at = pick(m, 1000) * size;
        uint64_t value = g_rand_int(m->rand) * 0x100000001ULL;
        uint8_t buf[8];

        stq_le_p(buf, value);
        memcpy(m->image[to] + region(n, BY_CPU) + at, buf, size);
        exanet_store(m->f->t[n], to * REGION + at, value, size);
    }
}

static void mix_copy(Mix *m, unsigned n, unsigned ch)
{
    unsigned to = pick_other(m, n);
    unsigned len = 1 + pick(m, 5000);
    unsigned at = region(n, BY_CDMA0 + ch) + pick(m, REGION - len);
    uint64_t gva = exanet_gva(m->f->topo.coord[to], IMAGE_AT + at);
    ExanetCopy c = { .len = len, .pdid = EXANET_TEST_PDID(1) };

    m->back[n][ch] = 0;
    if (pick(m, 2)) {
        unsigned from = pick(m, REGION - len);

        c.sa = EXANET_RAM_SRC + from;
        c.da = gva;
        memcpy(m->image[to] + at, m->source[n] + from, len);
    } else {
        c.sa = gva;
        c.da = BACK_AT(ch);
        c.sides = SA_GVA | DA_LOCAL;
        memcpy(m->copied[n][ch], m->image[to] + at, len);
        m->back[n][ch] = len;
    }
    exanet_copy_start(m->f->t[n], ch, &c);
}

static bool node_done(ExanetTest *t)
{
    return !exanet_tgen_busy(t) && exanet_cdma_idle(t, 0) &&
           exanet_cdma_idle(t, 1) &&
           !(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_STORES);
}

static bool mix_done(Mix *m)
{
    for (unsigned n = 0; n < NODES; n++) {
        if (!node_done(m->f->t[n])) {
            return false;
        }
    }
    return true;
}

/*
 * Asserts that all work of node @n has succeeded, and that loads and copies have
 * returned the right data.
 */
static void mix_check(Mix *m, unsigned n)
{
    ExanetTest *t = m->f->t[n];
    uint8_t got[sizeof(m->loaded[n])];

    g_assert_cmpuint(exanet_tgen_code(t), ==, EXANET_RESP_ACK);
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, 0);
    if (m->loads[n]) {
        exanet_tgen_result(t, got, 8 * m->loads[n]);
        g_assert_cmpmem(got, 8 * m->loads[n], m->loaded[n], 8 * m->loads[n]);
    }
    for (unsigned ch = 0; ch < 2; ch++) {
        exanet_copy_ended(t, ch, SR_DONE);
        if (m->back[n][ch]) {
            exanet_assert_mem(t, BACK_AT(ch), m->copied[n][ch], m->back[n][ch]);
        }
    }
}

static void mix_wave(Mix *m)
{
    for (unsigned n = 0; n < NODES; n++) {
        mix_tgen(m, n);
        mix_stores(m, n);
        mix_copy(m, n, 0);
        mix_copy(m, n, 1);
    }
    exanet_network_until(m->f, mix_done(m), STEP, LIMIT);
    for (unsigned n = 0; n < NODES; n++) {
        mix_check(m, n);
    }
}

static Mix *mix_new(ExanetTopology topo, const char *props)
{
    Mix *m = g_new0(Mix, 1);

    m->rand = g_rand_new_with_seed(random_seed(SEED));
    m->f = exanet_network_start(&topo, props);
    masters_on(m->f);
    for (unsigned n = 0; n < NODES; n++) {
        m->image[n] = g_malloc0(IMAGE);
        qtest_memset(m->f->t[n]->qts, IMAGE_AT, 0, IMAGE);
        exanet_fill(m->f->t[n], EXANET_RAM_SRC, m->source[n], REGION, n);
        for (unsigned to = 0; to < NODES; to++) {
            exanet_segment(m->f->t[n], to, to * REGION, REGION,
                           exanet_gva(topo.coord[to],
                                      IMAGE_AT + region(n, BY_CPU)),
                           EXANET_SEGMENT_ALL);
        }
    }
    return m;
}

static void check_mix(ExanetTopology topo, const char *props)
{
    Mix *m = mix_new(topo, props);

    /* a delay longer than the timeout, so that some packets arrive after their copies */
    exanet_network_fault_all(m->f, "drop=1% duplicate=1% reorder=1% corrupt=0.5% "
                             "delay=0.5%:15ms", random_seed(7));
    for (unsigned wave = 0; wave < WAVES; wave++) {
        mix_wave(m);
    }
    exanet_network_fault_all(m->f, "", 0);
    exanet_network_step(m->f, 20 * EXANET_MS);
    for (unsigned n = 0; n < NODES; n++) {
        exanet_assert_mem(m->f->t[n], IMAGE_AT, m->image[n], IMAGE);
        g_free(m->image[n]);
    }
    g_assert_cmpuint(exanet_network_total(m->f, SHM_REISSUE), >, 0);
    g_assert_cmpuint(exanet_network_total(m->f, SHM_DUPLICATE), >, 0);
    g_assert_cmpuint(exanet_network_total(m->f, SHM_EARLY_STORE), >, 0);
    exanet_network_stop(m->f);
    g_rand_free(m->rand);
    g_free(m);
}

static void test_grid(void)
{
    check_mix(exanet_topology_grid(2, 2, 1, false), "");
}

/* Two cabinets of two chassis, with arithmetic routing, the router of the paper. */
static void test_cabinets(void)
{
    ExanetTopology topo = { .dims = { 1, 1, 1 } };

    for (unsigned n = 0; n < NODES; n++) {
        exanet_topology_node(&topo, RNIC_PREP(EXANET_ARITH_CABINET, 5 + n / 2) |
                                    RNIC_PREP(EXANET_ARITH_CHASSIS, 1 + n % 2) |
                                    RNIC_PREP(EXANET_ARITH_CARD, 3 + n));
    }
    for (unsigned n = 0; n < 2; n++) {
        exanet_topology_cable(&topo, 2 * n, 2 * n + 1);
        exanet_topology_cable(&topo, n, n + 2);
    }
    check_mix(topo, ",router=arithmetic");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm/soak-flood-t15", test_flood);
    qtest_add_func("/exanet/shm/soak-grid-t20", test_grid);
    qtest_add_func("/exanet/shm/soak-cabinets-t20", test_cabinets);
    return g_test_run();
}
