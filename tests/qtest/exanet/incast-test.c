/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion management in a network: seven nodes send to one node at once, over cables
 * with a given rate.  All times are virtual.
 *
 * The nodes are a line in Y, so flows to its end share more and more cables.
 * Back-pressure alone would give half of the last cable to the last node that joins,
 * and half of the rest to the node before it.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "traffic.h"

#define SENDERS 7
/* Cables are slow, because a clock step must be short compared with a transfer. */
#define RATE_KBPS 20000
/* a FIFO of such a cable takes seconds to drain, so link-stall-ms is off */
#define RATE ",link-rate-kbps=20000,link-stall-ms=0"
#define FLOW_WINDOW_NS (50 * EXANET_MS)
/* longer than any delay here, so that no packet is sent again */
#define TIMEOUT_NS (30000 * EXANET_MS)
#define STEP_NS (5 * EXANET_MS / 2)
#define SETTLE_NS (10 * FLOW_WINDOW_NS) /* time until the rates are settled */
#define WINDOW_NS (14 * FLOW_WINDOW_NS)
#define LIMIT (100000 * EXANET_MS)
#define BLOCK 4096                      /* bytes; acks count whole blocks */

typedef struct Incast {
    ExanetNetwork *f;
    ExanetTraffic *tr;
    unsigned target;
    unsigned first; /* number of the first sender; the other senders follow */
} Incast;

static void start(Incast *in, const ExanetTopology *topo)
{
    in->f = exanet_network_start(topo, RATE);
    in->tr = exanet_traffic_new(in->f, 21);
    for (unsigned n = 0; n < topo->nodes; n++) {
        exanet_set32(in->f->t[n], EXANET_FW + EXANET_REG_FW_BLOCK, BLOCK);
        exanet_set64(in->f->t[n], EXANET_FW + EXANET_REG_FW_TIMEOUT_NS,
                     TIMEOUT_NS);
        exanet_set32(in->f->t[n], EXANET_SWITCH + EXANET_REG_SW_FLOW_WINDOW,
                     FLOW_WINDOW_NS);
    }
}

static void finish(Incast *in)
{
    exanet_traffic_free(in->tr);
    exanet_network_stop(in->f);
}

static void run_for(ExanetNetwork *f, int64_t ns)
{
    exanet_network_pass(f, ns, STEP_NS);
}

/* Returns the number of bytes of node @n's transfers that have been acked. */
static uint64_t acked(ExanetNetwork *f, unsigned n)
{
    uint64_t sum = 0;

    for (unsigned c = 0; c < 4; c++) {
        sum += RNIC_GET(EXANET_CHSTAT_ACKED,
                        exanet_channel_status(f->t[n], 0, c));
    }
    return sum;
}

static double jain(const uint64_t *x, unsigned count)
{
    double sum = 0, squares = 0;

    for (unsigned i = 0; i < count; i++) {
        sum += x[i];
        squares += (double)x[i] * x[i];
    }
    return sum * sum / count / squares;
}

static void assert_lossless(ExanetNetwork *f)
{
    if (exanet_network_total(f, RETRY_TIMEOUT)) {
        exanet_network_dump(f);
    }
    g_assert_cmpuint(exanet_network_total(f, RETRY_TIMEOUT), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, RX_DUPLICATE), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, RX_REACK), ==, 0);
    g_assert_cmpuint(exanet_network_total(f, DROP_NO_ROUTE), ==, 0);
}

static void send_all(Incast *in, uint32_t bytes)
{
    for (unsigned i = 0; i < SENDERS; i++) {
        for (unsigned n = 0; n < bytes / MiB; n++) {
            exanet_traffic_write(in->tr, in->first + i, in->target, MiB,
                                 EXANET_NOTE_MAILBOX);
        }
    }
}

/*
 * Starts all senders, waits until rates are settled, and returns Jain's fairness index
 * of one window; *@total: bytes of all senders in this window.
 */
static double measure(Incast *in, uint64_t *total)
{
    uint64_t got[SENDERS];

    send_all(in, MiB);
    run_for(in->f, SETTLE_NS);
    for (unsigned i = 0; i < SENDERS; i++) {
        got[i] = acked(in->f, in->first + i);
    }
    run_for(in->f, WINDOW_NS);
    *total = 0;
    for (unsigned i = 0; i < SENDERS; i++) {
        got[i] = acked(in->f, in->first + i) - got[i];
        *total += got[i];
        g_test_message("sender %u: %" PRIu64 " bytes", i, got[i]);
    }
    /* asserts that no transfer has ended */
    g_assert_cmpuint(exanet_traffic_poll(in->tr), ==, SENDERS);
    return jain(got, SENDERS);
}

/* Returns the payload bytes that one cable can carry in the window. */
static double cable_bytes(void)
{
    return RATE_KBPS / 8 * (WINDOW_NS / 1e6) * EXANET_PAYLOAD_WORDS /
           EXANET_PACKET_WORDS;
}

static void test_line(void)
{
    ExanetTopology topo = exanet_topology_grid(1, SENDERS + 1, 1, false);
    Incast in = { .target = 0, .first = 1 };
    uint64_t total;
    double index;

    start(&in, &topo);
    index = measure(&in, &total);
    g_test_message("Jain %.3f, %.3f of the cable", index,
                   total / cable_bytes());
    g_assert_cmpfloat(index, >, 0.95);
    g_assert_cmpfloat(total, >, 0.75 * cable_bytes());
    exanet_traffic_pass(in.tr, STEP_NS, LIMIT);
    exanet_traffic_check(in.tr);
    assert_lossless(in.f);
    g_assert_cmpuint(exanet_network_total(in.f, TX_FLOW_RATE), >, 0);
    finish(&in);
}

/*
 * Without congestion management the line is unfair: the nearest sender gets more than
 * three times as much as the farthest.
 */
static void test_line_unmanaged(void)
{
    ExanetTopology topo = exanet_topology_grid(1, SENDERS + 1, 1, false);
    Incast in = { .target = 0, .first = 1 };
    uint64_t total;

    start(&in, &topo);
    for (unsigned n = 0; n < topo.nodes; n++) {
        exanet_set32(in.f->t[n], EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    }
    for (unsigned i = 0; i < SENDERS; i++) {
        exanet_traffic_write(in.tr, in.first + i, in.target, MiB,
                             EXANET_NOTE_MAILBOX);
    }
    run_for(in.f, 5 * FLOW_WINDOW_NS);
    total = acked(in.f, 1);
    g_assert_cmpuint(total, >, 3 * acked(in.f, SENDERS));
    exanet_traffic_pass(in.tr, STEP_NS, LIMIT);
    exanet_traffic_check(in.tr);
    assert_lossless(in.f);
    finish(&in);
}

/*
 * A ring: the target has two cables; four senders share one cable, three share the
 * other.
 */
static void test_ring(void)
{
    ExanetTopology topo = exanet_topology_grid(SENDERS + 1, 1, 1, true);
    Incast in = { .target = 0, .first = 1 };
    uint64_t total;

    start(&in, &topo);
    g_assert_cmpfloat(measure(&in, &total), >, 0.95);
    g_assert_cmpfloat(total, >, 2 * 0.75 * cable_bytes());
    exanet_traffic_pass(in.tr, STEP_NS, LIMIT);
    exanet_traffic_check(in.tr);
    assert_lossless(in.f);
    finish(&in);
}

/* --- A bystander ------------------------------------------------------------- */

/*
 * Returns the bytes in a window of a flow from the farthest sender to F2 of the second
 * farthest.  The cable to F2 has half of the rate.  Before it the flow shares one cable
 * and all queues with the @incast, whose share leaves room for the flow.
 */
static double bystander(bool incast)
{
    ExanetTopology topo = exanet_topology_grid(1, SENDERS + 1, 1, false);
    unsigned side = exanet_topology_node(&topo, exanet_coord(0, SENDERS - 1, 0,
                                                             1));
    Incast in = { .target = 0, .first = 1 };
    unsigned half[] = { SENDERS - 1, side };
    uint64_t before, after;

    exanet_topology_cable(&topo, half[0], half[1]);
    start(&in, &topo);
    for (unsigned i = 0; i < 2; i++) {
        unsigned port = exanet_topology_port(&topo, half[i], half[!i], 0);

        exanet_set32(in.f->t[half[i]], EXANET_PORT(port) +
                     EXANET_REG_PORT_RATE, RATE_KBPS / 2);
    }
    /* the flow uses channels 0 to 3 */
    for (unsigned i = 0; i < 4; i++) {
        exanet_traffic_write(in.tr, SENDERS, side, MiB, EXANET_NOTE_MAILBOX);
    }
    if (incast) {
        send_all(&in, MiB);
    }
    run_for(in.f, SETTLE_NS);
    before = acked(in.f, SENDERS);
    run_for(in.f, WINDOW_NS);
    after = acked(in.f, SENDERS);
    g_assert_cmpuint(exanet_traffic_poll(in.tr), >=, 4 * 1);
    exanet_traffic_pass(in.tr, STEP_NS, LIMIT);
    exanet_traffic_check(in.tr);
    assert_lossless(in.f);
    finish(&in);
    return after - before;
}

static void test_bystander(void)
{
    double alone = bystander(false), shared = bystander(true);

    g_test_message("alone %.0f bytes, beside an incast %.0f", alone, shared);
    g_assert_cmpfloat(alone, >, 0.75 * cable_bytes() / 2);
    g_assert_cmpfloat(shared, >, 0.9 * alone);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/flow/incast-line", test_line);
    qtest_add_func("/exanet/flow/incast-line-unmanaged", test_line_unmanaged);
    qtest_add_func("/exanet/flow/incast-ring", test_ring);
    qtest_add_func("/exanet/flow/incast-bystander", test_bystander);
    return g_test_run();
}
