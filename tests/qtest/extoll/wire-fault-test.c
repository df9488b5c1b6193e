/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable by property faultsN: each packet still arrives once, in order and
 * with the right bytes.  Packets go from the peer at link IN to the peer at link OUT,
 * whose cable has the faults.
 */
#include "qemu/osdep.h"
#include "link.h"

enum { IN, OUT };

#define REST        extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0)
#define PACKETS     300     /* of each virtual channel */

static ExtollTest *start(const char *props)
{
    ExtollTest *t = extoll_start_links(2, props);

    t->peer[OUT]->faults = true;
    extoll_step(t, EXTOLL_TEST_MS);     /* the last STATE of the start leaves */
    return t;
}

static uint64_t injected(ExtollTest *t, const char *kind)
{
    return extoll_link_member(t, OUT, "injected", kind);
}

static unsigned bytes_of(unsigned number)
{
    return 40 + number * 8 % (EXTOLL_LONG_BYTES - 32);
}

static void send_mixed(ExtollTest *t, unsigned from, unsigned to, unsigned first,
                       unsigned count)
{
    for (unsigned n = first; n < first + count; n++) {
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            extoll_peer_send(t, from, vc, extoll_hop(to, vc, REST), bytes_of(n + vc), n,
                             1);
        }
    }
}

/* Takes all packets of both channels; steps time, so that timers may run. */
static void take_mixed(ExtollTest *t, unsigned at, unsigned first, unsigned count)
{
    ExtollPeer *p = t->peer[at];
    unsigned next[EXTOLL_VCS] = { first, first };

    for (unsigned left = EXTOLL_VCS * count; left; left--) {
        g_autofree ExtollRxPacket *rx = NULL;
        uint8_t want[EXTOLL_PACKET_MAX];
        unsigned bytes;

        wait_until(extoll_peer_arrived(p), extoll_step(t, EXTOLL_TEST_MS));
        rx = g_queue_pop_head(&p->packets);
        bytes = bytes_of(next[rx->vc] + rx->vc);
        extoll_packet_build(want, REST, bytes, next[rx->vc]++);
        g_assert_cmpmem(rx->buf, rx->bytes, want, bytes);
    }
    g_assert_cmpuint(next[0], ==, first + count);
    extoll_step(t, 2 * EXTOLL_TIMER_NS);
    g_assert_cmpuint(extoll_peer_arrived(p), ==, 0);
}

/* --- One kind ------------------------------------------------------------- */

/* A flit with a wrong bit: the peer sees it, sends NAK, and gets the flit again. */
static void test_corrupt(void)
{
    static const char *const kinds[] = { "corrupt-header", "corrupt-payload" };

    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        g_autofree char *text = g_strdup_printf("%s=next:1", kinds[i]);
        ExtollTest *t = start("");
        ExtollPeer *p = t->peer[OUT];

        for (unsigned n = 1; n <= 20; n++) {
            extoll_faults_set(t, OUT, text);
            send_mixed(t, IN, OUT, n, 1);
            take_mixed(t, OUT, n, 1);
            g_assert_cmpuint(injected(t, kinds[i]), ==, n);
            g_assert_cmpuint(p->bad, ==, n);
            g_assert_cmpuint(extoll_port64(t, OUT, RX_NAK), ==, n);
        }
        g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, 0);
        g_assert_cmpuint(extoll_port64(t, OUT, RESENT), >=, 20);
        g_assert_cmpuint(extoll_port64(t, OUT, RX_ERROR), ==, 0);
        extoll_stop(t);
    }
}

/* A flit that gets lost: the next flit shows the gap, or the timer repeats the flit. */
static void test_drop(void)
{
    ExtollTest *t = start("");
    ExtollPeer *p = t->peer[OUT];
    uint64_t route = extoll_hop(OUT, 0, REST);

    /* the last flit */
    extoll_faults_set(t, OUT, "drop=next:1");
    extoll_peer_send(t, IN, 0, route, EXTOLL_SHORT_BYTES, 0, 1);
    extoll_settle(t);
    extoll_step(t, EXTOLL_TIMER_NS - 1);
    g_assert_cmpuint(extoll_peer_arrived(p), ==, 0);
    g_assert_cmpuint(injected(t, "drop"), ==, 1);
    extoll_step(t, 1);
    extoll_peer_take(t, OUT, 0, REST, EXTOLL_SHORT_BYTES, 0, 1);
    g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, 1);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 1);
    g_assert_cmpuint(p->gaps, ==, 0);
    /* the first of many flits */
    extoll_faults_set(t, OUT, "drop=next:1");
    extoll_peer_send(t, IN, 0, route, EXTOLL_LONG_BYTES, 1, 1);
    extoll_peer_take(t, OUT, 0, REST, EXTOLL_LONG_BYTES, 1, 1);
    g_assert_cmpuint(p->gaps, ==, EXTOLL_LONG_FLITS - 1);
    g_assert_cmpuint(extoll_port64(t, OUT, RX_NAK), ==, 1);
    g_assert_cmpuint(extoll_port64(t, OUT, TIMEOUTS), ==, 1);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 1 + EXTOLL_LONG_FLITS);
    extoll_stop(t);
}

/* A flit that comes twice is taken once. */
static void test_duplicate(void)
{
    ExtollTest *t = start("");
    ExtollPeer *p = t->peer[OUT];

    extoll_faults_set(t, OUT, "duplicate=next:100");
    send_mixed(t, IN, OUT, 0, 20);
    take_mixed(t, OUT, 0, 20);
    g_assert_cmpuint(p->again, >=, 20);
    g_assert_cmpuint(injected(t, "duplicate"), ==, p->again);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 0);
    extoll_stop(t);
}

/* Control words of the device get lost: a later one says the same or more. */
static void test_drop_control(void)
{
    ExtollTest *t = start("");
    ExtollPeer *p = t->peer[OUT];
    unsigned states;

    extoll_step(t, EXTOLL_TEST_MS);
    states = p->states;
    extoll_faults_set(t, OUT, "drop-control=next:2");
    for (unsigned i = 1; i <= 3; i++) {
        extoll_peer_send(t, OUT, 0, extoll_hop(IN, 0, REST), EXTOLL_SHORT_BYTES, i, 1);
        extoll_peer_take(t, IN, 0, REST, EXTOLL_SHORT_BYTES, i, 1);
        extoll_step(t, EXTOLL_TEST_MS);
        extoll_wait(t, p->bad == MIN(i, 2));
    }
    g_assert_cmpuint(injected(t, "drop-control"), ==, 2);
    extoll_wait(t, p->states == states + 1);
    g_assert_cmpuint(p->state.ack, ==, 3);
    g_assert_cmpuint(p->state.count[0], ==, 3);
    /* flits are not hit */
    extoll_faults_set(t, OUT, "drop-control=100%");
    extoll_peer_send(t, IN, 0, extoll_hop(OUT, 0, REST), EXTOLL_LONG_BYTES, 0, 9);
    extoll_peer_take(t, OUT, 0, REST, EXTOLL_LONG_BYTES, 0, 9);
    g_assert_cmpuint(extoll_port64(t, OUT, RESENT), ==, 0);
    extoll_stop(t);
}

/* A START that gets lost is repeated. */
static void test_start(void)
{
    ExtollTest *t = extoll_start_cold(1, "");
    ExtollPeer *p = t->peer[0];

    p->faults = true;
    extoll_faults_set(t, 0, "drop=next:2 drop-control=next:2");
    extoll_peer_hello(p, false);
    extoll_wait(t, p->heard);
    extoll_settle(t);
    g_assert_false(extoll_link_up_get(t, 0));
    wait_until(extoll_link_up_get(t, 0), extoll_step(t, EXTOLL_TIMER_NS));
    g_assert_cmpuint(p->bad, ==, 2);
    g_assert_cmpuint(extoll_port64(t, 0, RX_ERROR), ==, 0);
    extoll_stop(t);
}

/* --- All kinds ------------------------------------------------------------ */

/* Many packets in both directions for each plan of faults, with a seed. */
static void test_rates(void)
{
    static const char *const plans[] = {
        "corrupt-header=3% seed=1", "corrupt-payload=3% seed=2", "drop=3% seed=3",
        "duplicate=10% seed=4", "drop-control=50% seed=5", "reorder=5% seed=6",
        "delay=5%:300us seed=7",
        "drop=1% corrupt=1% duplicate=2% reorder=2% delay=1%:100us seed=8",
    };
    ExtollTest *t = start("");
    uint64_t resent = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(plans); i++) {
        extoll_faults_set(t, OUT, plans[i]);
        send_mixed(t, IN, OUT, i * PACKETS, PACKETS);
        take_mixed(t, OUT, i * PACKETS, PACKETS);
        g_assert_cmpuint(extoll_port64(t, OUT, RX_ERROR), ==, 0);
        g_assert_cmpuint(extoll_port64(t, OUT, DROPPED), ==, 0);
        if (i < 3) {
            g_assert_cmpuint(extoll_port64(t, OUT, RESENT), >, resent);
        }
        resent = extoll_port64(t, OUT, RESENT);
    }
    g_assert_true(extoll_link_up_get(t, OUT));
    extoll_stop(t);
}

/* Sends PACKETS flits, one by one, with faults of @seed; returns damaged flits. */
static void seeded(unsigned seed, unsigned *bad, uint64_t *resent)
{
    g_autofree char *text = g_strdup_printf("corrupt=10%% seed=%u", seed);
    ExtollTest *t = start("");

    extoll_faults_set(t, OUT, text);
    for (unsigned n = 0; n < PACKETS; n++) {
        extoll_peer_send(t, IN, 0, extoll_hop(OUT, 0, REST), EXTOLL_SHORT_BYTES, n, 1);
        /* a flit that is damaged again waits for the timer */
        wait_until(extoll_peer_arrived(t->peer[OUT]), extoll_step(t, EXTOLL_TEST_MS));
        extoll_peer_take(t, OUT, 0, REST, EXTOLL_SHORT_BYTES, n, 1);
        extoll_settle(t);
    }
    *bad = t->peer[OUT]->bad;
    *resent = extoll_port64(t, OUT, RESENT);
    extoll_stop(t);
}

/* The same seed makes the same faults. */
static void test_seed(void)
{
    unsigned bad[3];
    uint64_t resent[3];

    for (unsigned i = 0; i < 3; i++) {
        seeded(i == 2 ? 99 : 7, &bad[i], &resent[i]);
        g_assert_cmpuint(bad[i], >, 0);
        g_assert_cmpuint(resent[i], ==, bad[i]);
    }
    g_assert_cmpuint(bad[0], ==, bad[1]);
    g_assert_cmpuint(bad[0], !=, bad[2]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/wire-fault/corrupt", test_corrupt);
    qtest_add_func("/extoll/wire-fault/drop", test_drop);
    qtest_add_func("/extoll/wire-fault/duplicate", test_duplicate);
    qtest_add_func("/extoll/wire-fault/drop-control", test_drop_control);
    qtest_add_func("/extoll/wire-fault/start", test_start);
    qtest_add_func("/extoll/wire-fault/rates", test_rates);
    qtest_add_func("/extoll/wire-fault/seed", test_seed);
    return g_test_run();
}
