/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HELLO of a neighbour with the coordinates of another node: this neighbour must not
 * take over the node's traffic, but an honest node may restart, or move to another
 * cable.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"

/* A line along X: the device with the honest node and the hostile node at its sides. */
#define NODE   0x001
#define HONEST 0x000
#define EVIL   0x002
#define KEPT_NS (10000 * EXANET_MS)     /* time of a reservation */
#define AGE_NS (60000 * EXANET_MS) /* a node that is silent for this long is forgotten */
#define DST EXANET_RAM_DST

enum { NEAR, OTHER };                   /* ports */

static uint32_t status(ExanetTest *t, unsigned port)
{
    return exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_STATUS);
}

static bool is_up(ExanetTest *t, unsigned port)
{
    return status(t, port) & EXANET_PORT_STATUS_UP;
}

static bool in_conflict(ExanetTest *t, unsigned port)
{
    return status(t, port) & EXANET_PORT_STATUS_CONFLICT;
}

/* Sends HELLO with @coord and @epoch from the peer at @port. */
static void say(ExanetTest *t, unsigned port, uint32_t coord, uint8_t epoch)
{
    ExanetPeer *p = t->ports[port];

    p->coord = coord;
    p->epoch = epoch;
    exanet_peer_hello(p, false);
    exanet_settle(t);
}

/*
 * Sends HELLO as the peer on @port; asserts that the device counts a conflict of
 * coordinates and keeps the link down.
 */
static void say_in_vain(ExanetTest *t, unsigned port, uint32_t coord,
                        uint8_t epoch)
{
    uint64_t refused = exanet_count(t, LINK_CONFLICT);

    say(t, port, coord, epoch);
    g_assert_cmpuint(exanet_count(t, LINK_CONFLICT), ==, refused + 1);
    g_assert_true(in_conflict(t, port));
    g_assert_false(is_up(t, port));
    g_assert_cmphex(exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_PEER), ==,
                    0);
}

/* Sends HELLO, and asserts that the link comes up. */
static void say_well(ExanetTest *t, unsigned port, uint32_t coord, uint8_t epoch)
{
    say(t, port, coord, epoch);
    exanet_wait(t, is_up(t, port));
    g_assert_false(in_conflict(t, port));
    g_assert_cmphex(exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_PEER), ==,
                    coord);
}

static void say_down(ExanetTest *t, unsigned port)
{
    t->ports[port]->silent = true;
    exanet_peer_frame(t->ports[port], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !is_up(t, port));
    exanet_settle(t);
    t->ports[port]->silent = false;
}

/* Sends a block of one packet from @src with @epoch, by @port. */
static void send_block(ExanetTest *t, unsigned port, uint32_t src, uint8_t epoch,
                       unsigned tid, uint8_t byte)
{
    uint8_t data[256];
    ExanetBlock b = {
        .va = DST, .data = data, .len = sizeof(data), .tid = tid,
        .pdid = EXANET_TEST_PDID(0),
    };
    ExanetPacket pkt = exanet_block_packet(t->ports[port], &b, 0);

    memset(data, byte, sizeof(data));
    pkt.src = src;
    pkt.epoch = epoch;
    pkt.dst = exanet_get32(t, EXANET_REG_NODE);
    exanet_peer_send(t->ports[port], &pkt);
}

/* Checks that a block is written and acked. */
static void assert_works(ExanetTest *t, unsigned port, uint32_t src,
                         uint8_t epoch, unsigned tid)
{
    send_block(t, port, src, epoch, tid, tid);
    g_assert_cmpuint(exanet_peer_take_resp(t->ports[port], tid, 0), ==,
                     EXANET_RESP_ACK);
    exanet_assert_byte(t, DST, tid, 256);
}

/* Checks that a block is dropped: memory does not change, and no answer arrives. */
static void assert_dropped(ExanetTest *t, unsigned port, uint32_t src,
                           uint8_t epoch, unsigned tid)
{
    qtest_memset(t->qts, DST, 0x11, 256);
    send_block(t, port, src, epoch, tid, 0xab);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0x11, 256);
}

static ExanetTest *start(const char *props)
{
    static const uint32_t peers[] = { HONEST, EVIL };

    return exanet_start_ports(NODE, peers, 2, props);
}

/* --- Another node's coordinates ------------------------------------------------ */

static unsigned take_writes(ExanetTest *t, unsigned port)
{
    ExanetRxPacket *rx;
    unsigned writes = 0;

    while ((rx = g_queue_pop_head(&t->ports[port]->packets))) {
        writes += rx->pkt.type == EXANET_TYPE_WRITE;
        g_free(rx);
    }
    return writes;
}

/* Checks that all data for the honest node leaves by the node's own cable. */
static void assert_own_cable(ExanetTest *t)
{
    const unsigned channels = 4;

    for (unsigned c = 0; c < channels; c++) {
        ExanetTransfer x = {
            .src = EXANET_RAM_SRC, .dst = exanet_gva(HONEST, DST), .len = 4096,
            .ctrl = RNIC_PREP(EXANET_CHANNEL_PATH, c),
        };

        exanet_channel_start(t, 0, c, &x);
    }
    exanet_settle(t);
    g_assert_cmpuint(take_writes(t, OTHER), ==, 0);
    g_assert_cmpuint(take_writes(t, NEAR), ==, channels * 4096 / EXANET_MTU);
}

static void test_take_over(void)
{
    ExanetTest *t = start("");
    uint8_t honest = t->ports[NEAR]->epoch, evil = t->ports[OTHER]->epoch;

    assert_works(t, NEAR, HONEST, honest, 1);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, HONEST, honest + 1);
    g_assert_true(is_up(t, NEAR));
    g_assert_false(in_conflict(t, NEAR));
    /* the honest node's epoch has not changed, neither now nor later */
    assert_works(t, NEAR, HONEST, honest, 2);
    exanet_step(t, AGE_NS - EXANET_MS);
    assert_works(t, NEAR, HONEST, honest, 3);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 0);
    assert_own_cable(t);
    /* the device drops all packets that arrive by cable OTHER */
    assert_dropped(t, OTHER, HONEST, honest + 1, 4);
    assert_dropped(t, OTHER, HONEST, honest, 5);
    /*
     * packets by OTHER are accepted after the peer at OTHER advertises its own
     * coordinates
     */
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, EVIL, evil);
    assert_works(t, OTHER, EVIL, evil, 6);
    exanet_stop(t);
}

/* A neighbour restarts on its cable, while another neighbour claims its coordinates. */
static void test_restart(void)
{
    ExanetTest *t = start("");
    uint8_t old = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, old, 1);
    say_well(t, NEAR, HONEST, old + 1);
    assert_dropped(t, NEAR, HONEST, old, 2);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 1);
    assert_works(t, NEAR, HONEST, old + 1, 1);
    /* NEAR restarts a second time, and its link goes down first */
    say_down(t, NEAR);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, HONEST, old + 7);
    exanet_step(t, KEPT_NS / 2);
    say_in_vain(t, OTHER, HONEST, old + 8);
    say_well(t, NEAR, HONEST, old + 2);
    assert_works(t, NEAR, HONEST, old + 2, 1);
    /* the link of NEAR goes down between two HELLOs, without DOWN */
    t->ports[NEAR]->silent = true;
    say(t, NEAR, HONEST, old + 3);
    g_assert_false(is_up(t, NEAR));
    say_in_vain(t, OTHER, HONEST, old + 3);
    say_in_vain(t, OTHER, HONEST, old + 4);
    t->ports[NEAR]->silent = false;
    say_well(t, NEAR, HONEST, old + 3);
    assert_works(t, NEAR, HONEST, old + 3, 1);
    exanet_stop(t);
}

/* A reset of the device keeps the coordinates of its neighbours reserved. */
static void test_reset(void)
{
    ExanetTest *t = start("");
    uint8_t epoch = t->ports[NEAR]->epoch;

    t->ports[NEAR]->silent = t->ports[OTHER]->silent = true;
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_settle(t);
    g_assert_false(is_up(t, NEAR));
    say_in_vain(t, OTHER, HONEST, epoch);
    exanet_step(t, KEPT_NS / 2);
    say_in_vain(t, OTHER, HONEST, epoch + 1);
    t->ports[NEAR]->silent = false;
    say_well(t, NEAR, HONEST, epoch);
    exanet_stop(t);
}

/* A node moves to another port. */
static void test_moved(void)
{
    ExanetTest *t = start("");
    uint8_t epoch = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, epoch, 1);
    say_down(t, OTHER);
    say_down(t, NEAR);
    t->ports[NEAR]->silent = true;
    /*
     * the node waits for the reservation of its old cable, although its epoch is
     * correct
     */
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, HONEST, epoch);
    exanet_step(t, KEPT_NS);
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, HONEST, epoch);
    assert_works(t, OTHER, HONEST, epoch, 2);
    /* the reservation of the new cable takes precedence over the old cable */
    say_down(t, OTHER);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, NEAR, HONEST, epoch);
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, HONEST, epoch);
    /* HONEST waits for its reservation with a new epoch, too */
    say_down(t, OTHER);
    t->ports[OTHER]->silent = true;
    t->ports[NEAR]->silent = false;
    say(t, NEAR, EVIL, epoch);
    exanet_wait(t, is_up(t, NEAR));
    say_in_vain(t, NEAR, HONEST, epoch + 1);
    exanet_step(t, KEPT_NS);
    say_well(t, NEAR, HONEST, epoch + 1);
    assert_works(t, NEAR, HONEST, epoch + 1, 1);
    exanet_stop(t);
}

/* A node with two cables restarts. */
static void test_parallel(void)
{
    static const uint32_t peers[] = { HONEST, HONEST };
    ExanetTest *t = exanet_start_ports(NODE, peers, 2, "");
    uint8_t epoch = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, epoch, 1);
    /* the other cable still has the old epoch, which is no conflict */
    say(t, NEAR, HONEST, epoch + 1);
    g_assert_false(is_up(t, NEAR));
    g_assert_false(in_conflict(t, NEAR));
    g_assert_cmpuint(exanet_count(t, LINK_CONFLICT), ==, 0);
    say_well(t, OTHER, HONEST, epoch + 1);
    say_well(t, NEAR, HONEST, epoch + 1);
    g_assert_true(is_up(t, OTHER));
    assert_works(t, NEAR, HONEST, epoch + 1, 1);
    /* the other cable works too; acks leave by the first cable */
    send_block(t, OTHER, HONEST, epoch + 1, 2, 2);
    g_assert_cmpuint(exanet_peer_take_resp(t->ports[NEAR], 2, 0), ==,
                     EXANET_RESP_ACK);
    exanet_stop(t);
}

/*
 * A second cable with a neighbour's coordinates and epoch gets no packets for the
 * neighbour.
 */
static void test_second(void)
{
    ExanetTest *t = start("");
    uint8_t epoch = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, epoch, 1);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, HONEST, epoch);
    assert_own_cable(t);
    assert_dropped(t, OTHER, HONEST, epoch, 2);
    assert_works(t, NEAR, HONEST, epoch, 3);
    /* the reservation is for the first cable, with any epoch in HELLO of the second */
    say_down(t, NEAR);
    t->ports[NEAR]->silent = true;
    exanet_step(t, KEPT_NS - 1000 * EXANET_MS);
    say_in_vain(t, OTHER, HONEST, epoch);
    t->ports[NEAR]->silent = false;
    say_well(t, NEAR, HONEST, epoch);
    assert_works(t, NEAR, HONEST, epoch, 4);
    exanet_stop(t);
}

/*
 * Two cables join the same two nodes without peerN.  The device chooses one cable, its
 * peer the other one; the node with the smaller coordinates is right.
 */
static void test_crossed(void)
{
    for (unsigned larger = 0; larger < 2; larger++) {
        static const uint32_t peers[] = { HONEST, EVIL };
        uint32_t coord = larger ? EVIL : HONEST;
        ExanetTest *t = exanet_start_ports(NODE, peers, 2, "");
        unsigned right = larger ? OTHER : NEAR;

        for (unsigned i = 0; i < 2; i++) {
            say_down(t, i);
            t->ports[i]->silent = true;
        }
        exanet_step(t, KEPT_NS);
        for (unsigned i = 0; i < 2; i++) {
            say(t, i, coord, 77);
            g_assert_false(in_conflict(t, i));
        }
        /* the device chooses OTHER, because the peer is ready there first */
        exanet_peer_hello(t->ports[OTHER], true);
        exanet_wait(t, is_up(t, OTHER));
        exanet_peer_hello(t->ports[NEAR], true);
        exanet_wait(t, in_conflict(t, NEAR));
        /* the peer chooses NEAR: it refuses OTHER, and forgets what it has heard there */
        exanet_peer_hello(t->ports[OTHER], false);
        exanet_wait(t, !is_up(t, OTHER));
        if (!larger) {
            exanet_peer_hello(t->ports[OTHER], true);       /* a late HELLO */
            exanet_settle(t);
            g_assert_false(is_up(t, OTHER));
        }
        exanet_peer_hello(t->ports[right], true);
        exanet_wait(t, is_up(t, right));
        exanet_step(t, 2000 * EXANET_MS);
        g_assert_true(is_up(t, right));
        g_assert_false(is_up(t, !right));
        exanet_stop(t);
    }
}

/* HELLO and packets of a neighbour do not replace a node behind switches. */
static void test_far(void)
{
    /* coordinates of an uplink, and of X + 1 */
    static const uint32_t peers[] = { 0x8000, 0x4001 };
    ExanetTest *t = exanet_start_ports(0x4000, peers, 2, "");
    const uint32_t far = 0x8002;
    uint8_t epoch = t->ports[OTHER]->epoch;
    g_autofree ExanetRxPacket *rx = NULL;

    send_block(t, NEAR, far, 7, 1, 1);
    rx = exanet_peer_take_type(t->ports[NEAR], EXANET_TYPE_ACK);
    g_assert_cmphex(rx->pkt.dst, ==, far);
    g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_ACK);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, far, 8);
    /* refused, because each node on the route knows the epoch of the far node */
    say_in_vain(t, OTHER, far, 7);
    exanet_step(t, AGE_NS / 2);
    say_in_vain(t, OTHER, far, 8);
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, peers[OTHER], epoch);
    /* HELLO defines a neighbour's epoch, even if its packets arrive by another cable */
    assert_works(t, OTHER, peers[OTHER], epoch, 2);
    say_down(t, OTHER);
    say_well(t, OTHER, 0x8001, epoch);              /* an uplink, too */
    assert_works(t, OTHER, 0x8001, epoch, 3);
    assert_dropped(t, NEAR, 0x8001, epoch + 1, 4);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 1);
    assert_works(t, OTHER, 0x8001, epoch, 5);
    /* the far node has been silent for long, so it may be a neighbour now */
    exanet_step(t, AGE_NS);
    say_well(t, OTHER, far, 8);
    assert_works(t, OTHER, far, 8, 1);
    exanet_stop(t);
}

/* --- Coordinates that are no neighbour's ---------------------------------------- */

static void test_neighbour(void)
{
    static const uint32_t peers[] = { EXANET_TEST_NO_PEER, 0x024 };
    ExanetTest *t;

    /* with a single cable any two nodes may be neighbours */
    t = exanet_start_ports(NODE, peers + 1, 1, "");
    assert_works(t, 0, 0x024, t->ports[0]->epoch, 1);
    exanet_stop(t);
    /* cables of non-neighbours do not begin a network */
    t = start("");
    say_down(t, NEAR);
    say_down(t, OTHER);
    say_well(t, NEAR, 0x024, 1);
    say_well(t, OTHER, 0x345, 1);
    /* one cable of a real neighbour excludes all cables of non-neighbours */
    say_well(t, NEAR, HONEST, 1);
    exanet_step(t, 1000 * EXANET_MS);
    g_assert_true(is_up(t, NEAR));
    g_assert_false(is_up(t, OTHER));
    g_assert_true(in_conflict(t, OTHER));
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, 0x024, 1);
    say_in_vain(t, OTHER, 0x1002, 1);               /* node behind F1 of another QFDB */
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, 0x2001, 1);                  /* node of this QFDB */
    say_well(t, OTHER, 0x4345, 1);                  /* an uplink */
    exanet_stop(t);
}

static void test_role(void)
{
    ExanetTest *t = start("");

    /* software sets the role of the port */
    exanet_set32(t, EXANET_PORT(OTHER) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_Y_PLUS));
    say_well(t, OTHER, 0x345, 1);
    exanet_stop(t);
}

/* --- Property peerN --------------------------------------------------------------- */

static void test_named(void)
{
    ExanetTest *t = start(",peer0=0x0");
    uint8_t epoch = t->ports[NEAR]->epoch;

    /* only the named node may be at port 0, and it may be at no other port */
    t->ports[NEAR]->silent = true;
    say_in_vain(t, NEAR, 0x101, 1);
    say_in_vain(t, NEAR, EVIL, t->ports[OTHER]->epoch);
    exanet_step(t, AGE_NS);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, HONEST, epoch);
    say_in_vain(t, OTHER, HONEST, epoch + 1);
    t->ports[NEAR]->silent = false;
    say_well(t, NEAR, HONEST, epoch + 1);
    assert_works(t, NEAR, HONEST, epoch + 1, 1);
    exanet_stop(t);
}

/* A cable to a node outside the network is allowed by property peerN. */
static void test_named_cable(void)
{
    static const uint32_t peers[] = { HONEST, 0x024 };
    ExanetTest *t = exanet_start_ports(NODE, peers, 2, ",peer1=0x24");

    exanet_step(t, 2000 * EXANET_MS);
    g_assert_true(is_up(t, OTHER));
    assert_works(t, OTHER, 0x024, t->ports[OTHER]->epoch, 1);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/port-hello/take-over", test_take_over);
    qtest_add_func("/exanet/port-hello/restart", test_restart);
    qtest_add_func("/exanet/port-hello/reset", test_reset);
    qtest_add_func("/exanet/port-hello/moved", test_moved);
    qtest_add_func("/exanet/port-hello/parallel", test_parallel);
    qtest_add_func("/exanet/port-hello/second", test_second);
    qtest_add_func("/exanet/port-hello/crossed", test_crossed);
    qtest_add_func("/exanet/port-hello/far", test_far);
    qtest_add_func("/exanet/port-hello/neighbour", test_neighbour);
    qtest_add_func("/exanet/port-hello/role", test_role);
    qtest_add_func("/exanet/port-hello/named", test_named);
    qtest_add_func("/exanet/port-hello/named-cable", test_named_cable);
    return g_test_run();
}
