/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two machines with a cable: messages of all sizes in both directions arrive in order and
 * whole, also if the cable loses frames or is cut for some time.
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "qemu/bswap.h"
#include "velo.h"

#define MACHINES    2
#define CABLE       0               /* link of the cable, of both machines */
#define OWN         3               /* VPID of the sender */
#define BOX         7               /* VPID of the receiver */
#define MESSAGES    2000            /* of each direction */
#define AHEAD       40              /* messages that the receiver has not taken */

typedef struct Pair {
    ExtollTest *t[MACHINES];
    char *dir, *path;
    unsigned sent[MACHINES];        /* messages that machine n has stored */
    unsigned taken[MACHINES];       /* messages from machine n that the other took */
} Pair;

/* Moves the time of both machines. */
static void step(Pair *p, int64_t ns)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        qtest_clock_step(p->t[i]->qts, ns);
    }
    for (unsigned i = 0; i < MACHINES; i++) {
        extoll_settle(p->t[i]);
    }
}

static bool is_up(Pair *p)
{
    return extoll_link_up_get(p->t[0], CABLE) && extoll_link_up_get(p->t[1], CABLE);
}

static void up_wait(Pair *p)
{
    wait_until(is_up(p), step(p, 60 * EXTOLL_TEST_MS));
}

static Pair *pair_start(const char *props)
{
    g_autofree char *all = g_strdup_printf(",link0=cable,link-stall-ms=0%s", props);
    Pair *p = g_new0(Pair, 1);

    p->dir = g_dir_make_tmp("extoll-velo-XXXXXX", NULL);
    g_assert_nonnull(p->dir);
    p->path = g_strdup_printf("%s/0", p->dir);
    for (unsigned i = 0; i < MACHINES; i++) {
        g_autofree char *cable = machine_cable("cable", p->path, i == 0);
        g_autofree char *options = g_strdup_printf("%s ", cable);

        p->t[i] = extoll_start_node(options, i, all);
        velo_enable(p->t[i]);
        extoll_set64(p->t[i], EXTOLL_VELO_ROUTE(1 - i), EXTOLL_ROUTE_BY(CABLE));
        velo_mailbox(p->t[i], BOX, EXTOLL_RING_MAX);
    }
    up_wait(p);
    return p;
}

static void pair_stop(Pair *p)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        extoll_stop(p->t[i]);
    }
    unlink(p->path);
    g_rmdir(p->dir);
    g_free(p->path);
    g_free(p->dir);
    g_free(p);
}

static void faults_set(Pair *p, const char *text)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        g_autofree char *all = g_strdup_printf("%s seed=%u", text, 7 + i);

        extoll_faults_set(p->t[i], CABLE, all);
    }
}

/* Returns message @n of machine @from. */
static VeloMsg msg_of(unsigned from, unsigned n)
{
    return (VeloMsg) {
        .node = 1 - from, .vpid = BOX, .own = (OWN + n) % EXTOLL_VPIDS, .mtt = n / 8 % 4,
        .quadwords = 1 + (n * 5 + from) % 8, .number = 2 * n + from,
    };
}

/* Stores the next @count messages of both machines. */
static void pair_store(Pair *p, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        for (unsigned i = 0; i < MACHINES; i++) {
            VeloMsg m = msg_of(i, p->sent[i]++);

            velo_store(p->t[i], &m);
        }
    }
}

/* Takes the messages of machine @from that have arrived whole; each must be the next. */
static void pair_take(Pair *p, unsigned from)
{
    ExtollTest *t = p->t[1 - from];
    uint32_t wp = velo_vpid_get(t, BOX, WPLT), rp = velo_vpid_get(t, BOX, RPLT);

    while (rp != wp) {
        VeloMsg m = msg_of(from, p->taken[from]++);

        g_assert_cmpuint(p->taken[from], <=, p->sent[from]);
        velo_take(t, &m, from);
        rp += m.quadwords == 8 ? 2 : 1;
    }
}

/* Takes messages until at most @left of each direction are missing. */
static void take_all(Pair *p, unsigned left)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        pair_take(p, i);
        wait_until(p->sent[i] - p->taken[i] <= left,
                   step(p, EXTOLL_TEST_MS); pair_take(p, i));
    }
}

/* Asserts that all messages have arrived once, and that no machine has lost any. */
static void assert_all(Pair *p)
{
    step(p, 2 * EXTOLL_TIMER_NS);
    for (unsigned i = 0; i < MACHINES; i++) {
        ExtollTest *t = p->t[i];
        unsigned sent = p->sent[i], got = p->sent[1 - i];

        velo_assert_empty(t, BOX);
        g_assert_cmpuint(velo_count(t, SENT), ==, sent);
        g_assert_cmpuint(velo_count(t, RECEIVED), ==, got);
        g_assert_cmpuint(velo_count(t, DISCARDED), ==, 0);
        g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, sent);
        g_assert_cmpuint(extoll_counter(t, VELO_TRIP), ==, sent);
        g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, 0);
        g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 0);
        g_assert_cmpuint(extoll_counter(t, FORWARDED), ==, 0);
        g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 0);
        g_assert_cmpuint(extoll_port64(t, CABLE, RX_ERROR), ==, 0);
        g_assert_cmpuint(extoll_port64(t, CABLE, DROPPED), ==, 0);
    }
}

static void traffic(Pair *p)
{
    while (p->sent[0] < MESSAGES) {
        pair_store(p, 1);
        take_all(p, AHEAD);
    }
    take_all(p, 0);
    assert_all(p);
}

static void test_clean(void)
{
    Pair *p = pair_start("");

    traffic(p);
    g_assert_cmpuint(extoll_port64(p->t[0], CABLE, TIMEOUTS), ==, 0);
    pair_stop(p);
}

/* Frames are damaged, lost and doubled in both directions. */
static void test_faults(void)
{
    Pair *p = pair_start("");

    faults_set(p, "drop=1% corrupt=1% duplicate=1%");
    traffic(p);
    for (unsigned i = 0; i < MACHINES; i++) {
        g_assert_cmpuint(extoll_port64(p->t[i], CABLE, RESENT), >, 0);
        g_assert_cmpuint(extoll_port64(p->t[i], CABLE, RX_AGAIN), >, 0);
        g_assert_cmpuint(extoll_port64(p->t[i], CABLE, RX_BAD), >, 0);
    }
    pair_stop(p);
}

/* Each second message leaves in two parts, which arrive one after the other. */
static void test_split(void)
{
    Pair *p = pair_start(",split=1");

    faults_set(p, "drop=1%");
    for (unsigned n = 0; n < 200; n++) {
        VeloMsg m = msg_of(0, n);
        unsigned half = m.quadwords / 2;

        velo_store(p->t[0], &m);
        wait_until(velo_vpid_get(p->t[1], BOX, WPLT) -
                   velo_vpid_get(p->t[1], BOX, RPLT) == (half ? 2 : 1),
                   step(p, EXTOLL_TEST_MS));
        if (half) {
            velo_take_slot(p->t[1], &m, 0, 0, half, EXTOLL_SLOT_SPLIT);
            velo_take_slot(p->t[1], &m, 0, half, m.quadwords - half,
                           EXTOLL_SLOT_SPLIT | EXTOLL_SLOT_END);
        } else {
            velo_take(p->t[1], &m, 0);
        }
    }
    g_assert_cmpuint(extoll_counter(p->t[0], VELO_SPLIT), ==, 175);
    pair_stop(p);
}

/*
 * Cuts the cable if @up is false, and joins it again if @up is true: by property faults0
 * of machine @end if @fault is true, otherwise by its register PORT_CTRL.
 */
static void cable_set(Pair *p, unsigned end, bool fault, bool up)
{
    if (fault) {
        extoll_faults_set(p->t[end], CABLE, up ? "" : "down");
    } else {
        extoll_port_set(p->t[end], CABLE, CTRL, up ? EXTOLL_PORT_CTRL_ENABLE : 0);
    }
}

/*
 * The cable is cut again and again while messages are on it, at both ends.  Messages
 * wait meanwhile, and none is lost or doubled.
 */
static void test_cut(void)
{
    Pair *p = pair_start("");

    for (unsigned n = 0; n < 24; n++) {
        unsigned end = n & 1;
        bool fault = n & 2;

        pair_store(p, 60);
        cable_set(p, end, fault, false);
        wait_until(!extoll_link_up_get(p->t[end], CABLE), step(p, EXTOLL_TEST_MS));
        pair_store(p, 60);
        step(p, 50 * EXTOLL_TEST_MS);
        for (unsigned i = 0; i < MACHINES; i++) {
            pair_take(p, i);
            g_assert_cmpuint(p->sent[i] - p->taken[i], >=, 60);
            g_assert_cmpuint(velo_count(p->t[i], SENT), <=, p->sent[i]);
        }
        cable_set(p, end, fault, true);
        up_wait(p);
        take_all(p, 0);
    }
    assert_all(p);
    pair_stop(p);
}

/* A mailbox that is full discards messages, and does not hold up other mailboxes. */
static void test_full(void)
{
    enum { OTHER = 9, SLOTS = EXTOLL_RING_MIN / EXTOLL_SLOT_BYTES };
    Pair *p = pair_start("");
    VeloMsg m = msg_of(0, 7);

    velo_mailbox(p->t[1], BOX, EXTOLL_RING_MIN);
    velo_mailbox(p->t[1], OTHER, EXTOLL_RING_MIN);
    m.quadwords = 3;
    for (unsigned n = 0; n < 2 * SLOTS; n++) {
        velo_store(p->t[0], &m);
        m.number++;
    }
    m.vpid = OTHER;
    velo_store(p->t[0], &m);
    wait_until(velo_vpid_get(p->t[1], OTHER, WPLT) == 1, step(p, EXTOLL_TEST_MS));
    velo_take(p->t[1], &m, 0);
    g_assert_cmpuint(extoll_counter(p->t[1], VELO_FULL), ==, SLOTS);
    g_assert_cmpuint(velo_count(p->t[1], RECEIVED), ==, SLOTS + 1);
    g_assert_cmpuint(velo_count(p->t[1], DISCARDED), ==, SLOTS);
    m.vpid = BOX;
    m.number = msg_of(0, 7).number;
    for (unsigned n = 0; n < SLOTS; n++) {
        velo_take(p->t[1], &m, 0);
        m.number++;
    }
    velo_assert_empty(p->t[1], BOX);
    pair_stop(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/pair/velo-clean", test_clean);
    qtest_add_func("/extoll/pair/velo-faults", test_faults);
    qtest_add_func("/extoll/pair/velo-split", test_split);
    qtest_add_func("/extoll/pair/velo-cut", test_cut);
    qtest_add_func("/extoll/pair/velo-full", test_full);
    return g_test_run();
}
