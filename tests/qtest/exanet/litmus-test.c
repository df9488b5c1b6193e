/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory order between nodes: litmus tests over cables that lose, duplicate, reorder or
 * delay packets.  An exploration of all orders [P Annex C] has found which forbidden
 * outcomes are possible under which rules.  The devices must show all of these, and no
 * others.
 */
#include "qemu/osdep.h"
#include "network.h"

#define WRITER 1
#define NEAR 0                      /* node with DATA, and with FLAG ... */
/* ...  unless the test is FAR_MP or FAR_MP_FENCE, where this node has FLAG */
#define FAR 2
#define DATA EXANET_RAM_DST
#define FLAG (EXANET_RAM_DST + 0x1000)
#define SEGMENT 0x10000 /* bytes of each of the two segments of the aperture */

#define TIMEOUT 1562500             /* 10 ms in cycles */
#define STEP (5 * EXANET_MS)
#define STEPS 8                     /* number of steps until all copies have arrived */

/* --- Rules and faults ------------------------------------------------------- */

typedef enum Test { MP, MP_FENCE, WAW, DUP, FAR_MP, FAR_MP_FENCE, TESTS } Test;

static const struct Rule {
    const char *name;
    uint32_t ctrl;                  /* value of SHM_CTRL */
    bool wait; /* the processor waits for the response to each store */
    bool strict;
    bool bad[TESTS];                /* the forbidden outcome is possible in this test */
} rules[] = {
    { "answered", EXANET_SHM_CTRL_ENABLE | EXANET_SHM_CTRL_RAW, .wait = true,
      .bad = { [WAW] = true, [DUP] = true } },
    { "early", EXANET_SHM_CTRL_ENABLE | EXANET_SHM_CTRL_RAW |
      EXANET_SHM_CTRL_EARLY,
      .bad = { [MP] = true, [WAW] = true, [DUP] = true, [FAR_MP] = true } },
    { "blocking", EXANET_SHM_CTRL_ENABLE | EXANET_SHM_CTRL_RAW |
      EXANET_SHM_CTRL_EARLY | EXANET_SHM_CTRL_WAW,
      .bad = { [MP] = true, [WAW] = true, [DUP] = true, [FAR_MP] = true } },
    { "order", EXANET_SHM_CTRL_ENABLE | EXANET_SHM_CTRL_RAW |
      EXANET_SHM_CTRL_EARLY | EXANET_SHM_CTRL_ORDER,
      .bad = { [FAR_MP] = true } },
    { "all", EXANET_SHM_CTRL_ALL, .bad = { [FAR_MP] = true } },
    { "strict", EXANET_SHM_CTRL_ALL, .strict = true,
      .bad = { [MP] = true, [WAW] = true, [DUP] = true, [FAR_MP] = true } },
};

/* A fault of packets on the cable to NEAR (stores), or back (@answer: responses). */
static const struct Fault {
    const char *name;
    enum exanet_inject kind;
    unsigned nth; /* number of the store or response that has the fault */
    bool answer;
    const char *delay;              /* delay of the first store, longer than a timeout */
} faults[] = {
    { "none", EXANET_INJECT_NONE },
    { "first store lost", EXANET_INJECT_DROP, 1 },
    { "second store lost", EXANET_INJECT_DROP, 2 },
    { "first store twice", EXANET_INJECT_DUPLICATE, 1 },
    { "second store twice", EXANET_INJECT_DUPLICATE, 2 },
    { "first store behind the second", EXANET_INJECT_HOLD, 1 },
    { "first answer lost", EXANET_INJECT_DROP, 1, .answer = true },
    { "second answer lost", EXANET_INJECT_DROP, 2, .answer = true },
    { "first answer twice", EXANET_INJECT_DUPLICATE, 1, .answer = true },
    { "first store late", EXANET_INJECT_NONE, .delay = "delay=next:1:15ms" },
};

/* --- The machines ------------------------------------------------------------- */

static ExanetNetwork *litmus_start(const struct Rule *rule)
{
    ExanetTopology topo = exanet_topology_grid(3, 1, 1, false);
    ExanetNetwork *f = exanet_network_start(&topo, "");
    const unsigned target[] = { NEAR, FAR };

    for (unsigned n = 0; n < topo.nodes; n++) {
        exanet_shm_set(f->t[n], SHM_CTRL, rule->ctrl);
        exanet_shm_set(f->t[n], SHM_TIMEOUT, TIMEOUT);
        if (rule->strict) {
            exanet_set32(f->t[n], EXANET_REG_CTRL,
                         EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        exanet_segment(f->t[WRITER], i, i * SEGMENT, SEGMENT,
                       exanet_gva(topo.coord[target[i]], DATA),
                       EXANET_SEGMENT_ALL);
    }
    return f;
}

static void inject(ExanetNetwork *f, const struct Fault *fault)
{
    unsigned from = fault->answer ? NEAR : WRITER;
    unsigned to = fault->answer ? WRITER : NEAR;
    unsigned port = exanet_topology_port(&f->topo, from, to, 0);

    exanet_network_fault(f, from, port, fault->delay ?: "");
    exanet_set64(f->t[from], EXANET_PORT(port) + EXANET_REG_PORT_INJECT,
                 RNIC_PREP(EXANET_INJECT_KIND, fault->kind) |
                 RNIC_PREP(EXANET_INJECT_TYPE, fault->answer ?
                           EXANET_TYPE_AXI_RESPONSE : EXANET_TYPE_AXI_WRITE) |
                 RNIC_PREP(EXANET_INJECT_EVERY, fault->nth) |
                 RNIC_PREP(EXANET_INJECT_COUNT, 1));
}

static void inject_nothing(ExanetNetwork *f)
{
    static const struct Fault nothing = { .kind = EXANET_INJECT_NONE };
    static const struct Fault nor_answers = { .answer = true };

    inject(f, &nothing);
    inject(f, &nor_answers);
}

/* --- Programs ------------------------------------------------------------------ */

typedef struct Litmus {
    ExanetNetwork *f;
    const struct Rule *rule;
    Test test;
    bool bad;                       /* the forbidden outcome was observed */
    bool taken;                     /* the reader has cleared FLAG */
} Litmus;

static uint64_t memory(Litmus *l, unsigned node, uint64_t at)
{
    return qtest_readq(l->f->t[node]->qts, at);
}

/*
 * Reads FLAG and DATA as a program on the target does now; sets @bad for a forbidden
 * outcome.
 */
static void observe(Litmus *l)
{
    unsigned flag = l->test >= FAR_MP ? FAR : NEAR;

    switch (l->test) {
    case WAW:
        break;                      /* WAW: litmus_run() reads the final value */
    case DUP:
        if (memory(l, NEAR, FLAG)) {
            l->bad |= l->taken;
            l->taken = true;
            qtest_writeq(l->f->t[NEAR]->qts, FLAG, 0);
        }
        break;
    default:
        /* reads FLAG first, as the reader of a message does */
        l->bad |= memory(l, flag, FLAG) && !memory(l, NEAR, DATA);
    }
}

static void step(Litmus *l)
{
    exanet_network_step(l->f, STEP);
    observe(l);
}

static uint32_t stores_waiting(Litmus *l)
{
    return exanet_user_get(l->f->t[WRITER], 0, EXANET_PAGE_INFO,
                           offsetof(struct exanet_info, stores)) & 0xffffffff;
}

/* Stores 8 bytes at @offset of the aperture; with @wait waits for the response. */
static void store(Litmus *l, uint64_t offset, uint64_t value)
{
    exanet_store(l->f->t[WRITER], offset, value, 8);
    exanet_network_settle(l->f);
    observe(l);
    while (l->rule->wait && stores_waiting(l)) {
        step(l);
    }
}

static void fence(Litmus *l)
{
    exanet_shm_set(l->f->t[WRITER], SHM_FENCE, 1);
    while (exanet_shm_get(l->f->t[WRITER], SHM_FENCE)) {
        step(l);
    }
}

static void program(Litmus *l)
{
    const unsigned flag = FLAG - DATA;

    switch (l->test) {
    case MP:
        store(l, 0, 1);
        store(l, flag, 1);
        break;
    case MP_FENCE:
        store(l, 0, 1);
        fence(l);
        store(l, flag, 1);
        break;
    case WAW:
        store(l, 0, 1);
        store(l, 0, 2);
        break;
    case DUP:
        store(l, flag, 1);
        break;
    case FAR_MP:
        store(l, 0, 1);
        store(l, SEGMENT + flag, 1);
        break;
    case FAR_MP_FENCE:
        store(l, 0, 1);
        fence(l);
        store(l, SEGMENT + flag, 1);
        break;
    default:
        g_assert_not_reached();
    }
}

/* Runs one test with one fault; returns true if the forbidden outcome was observed. */
static bool litmus_run(ExanetNetwork *f, const struct Rule *rule, Test test,
                       const struct Fault *fault)
{
    Litmus l = { .f = f, .rule = rule, .test = test };

    for (unsigned n = 0; n < f->topo.nodes; n++) {
        qtest_memset(f->t[n]->qts, DATA, 0, SEGMENT);
    }
    inject(f, fault);
    program(&l);
    for (unsigned i = 0; i < STEPS; i++) {
        step(&l);
    }
    /* all stores arrive in the end, without an error */
    g_assert_cmpuint(stores_waiting(&l), ==, 0);
    g_assert_cmphex(exanet_shm_get(f->t[WRITER], SHM_ERR_INFO), ==, 0);
    switch (test) {
    case WAW:
        g_assert_cmpuint(memory(&l, NEAR, DATA), !=, 0);
        l.bad = memory(&l, NEAR, DATA) != 2;
        break;
    case DUP:
        g_assert_true(l.taken);
        break;
    default:
        g_assert_cmpuint(memory(&l, NEAR, DATA), ==, 1);
        g_assert_cmpuint(memory(&l, test >= FAR_MP ? FAR : NEAR, FLAG), ==, 1);
    }
    inject_nothing(f);
    return l.bad;
}

static void test_rule(const void *data)
{
    static const char *const names[TESTS] = {
        "MP", "MP+F", "WAW", "DUP", "MP to two nodes", "MP+F to two nodes",
    };
    const struct Rule *rule = data;
    ExanetNetwork *f = litmus_start(rule);

    for (Test test = 0; test < TESTS; test++) {
        unsigned bad = 0;

        for (unsigned i = 0; i < ARRAY_SIZE(faults); i++) {
            if (litmus_run(f, rule, test, &faults[i])) {
                g_test_message("%s, %s: seen", names[test], faults[i].name);
                bad++;
            }
        }
        if (rule->bad[test] ? !bad : bad) {
            exanet_network_dump(f);
            g_error("%s with rule %s: seen with %u faults", names[test],
                    rule->name, bad);
        }
    }
    exanet_network_stop(f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(rules); i++) {
        g_autofree char *path = g_strdup_printf("/exanet/shm/litmus-%s-t10",
                                                rules[i].name);

        qtest_add_data_func(path, &rules[i], test_rule);
    }
    return g_test_run();
}
