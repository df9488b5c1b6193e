/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HELLO of a neighbour that says it is somebody else: what it takes over, which must be
 * nothing, and how nodes that do start again or move to another cable are told from it.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "exanet-common.h"

/* A line along X: the device, the honest node and the hostile one at its sides. */
#define NODE   0x001
#define HONEST 0x000
#define EVIL   0x002
#define KEPT_NS (10000 * EXANET_MS)     /* coordinates stay with a cable that is down */
#define AGE_NS (60000 * EXANET_MS)      /* a node that sent through others is gone */
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

/* The peer at @port says that it is @coord with @epoch; nothing answers for it. */
static void say(ExanetTest *t, unsigned port, uint32_t coord, uint8_t epoch)
{
    ExanetPeer *p = t->ports[port];

    p->coord = coord;
    p->epoch = epoch;
    exanet_peer_hello(p, false);
    exanet_settle(t);
}

/* It says so, and is not believed. */
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

/* It says so, and the link comes up. */
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
    exanet_peer_frame(t->ports[port], EXANET_LINK_DOWN, NULL, 0);
    exanet_wait(t, !is_up(t, port));
    exanet_settle(t);
    t->ports[port]->silent = false;
}

/* A block of one packet of @src with @epoch, by @port. */
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

/* A block is done and acked. */
static void assert_works(ExanetTest *t, unsigned port, uint32_t src,
                         uint8_t epoch, unsigned tid)
{
    send_block(t, port, src, epoch, tid, tid);
    g_assert_cmpuint(exanet_peer_take_resp(t->ports[port], tid, 0), ==,
                     EXANET_RESP_ACK);
    exanet_assert_byte(t, DST, tid, 256);
}

/* A block is dropped: memory stays as it is, and no answer comes. */
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

/* All data for the honest node leaves by its own cable. */
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
    /* its epoch has not changed, neither now nor later */
    assert_works(t, NEAR, HONEST, honest, 2);
    exanet_step(t, AGE_NS - EXANET_MS);
    assert_works(t, NEAR, HONEST, honest, 3);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 0);
    assert_own_cable(t);
    /* nothing is believed that comes by that cable */
    assert_dropped(t, OTHER, HONEST, honest + 1, 4);
    assert_dropped(t, OTHER, HONEST, honest, 5);
    /* until it says who it is */
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, EVIL, evil);
    assert_works(t, OTHER, EVIL, evil, 6);
    exanet_stop(t);
}

/* A neighbour starts again on its cable, while another one wants to be it. */
static void test_restart(void)
{
    ExanetTest *t = start("");
    uint8_t old = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, old, 1);
    say_well(t, NEAR, HONEST, old + 1);
    assert_dropped(t, NEAR, HONEST, old, 2);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 1);
    assert_works(t, NEAR, HONEST, old + 1, 1);
    /* the same, with its link down in between */
    say_down(t, NEAR);
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, HONEST, old + 7);
    exanet_step(t, KEPT_NS / 2);
    say_in_vain(t, OTHER, HONEST, old + 8);
    say_well(t, NEAR, HONEST, old + 2);
    assert_works(t, NEAR, HONEST, old + 2, 1);
    exanet_stop(t);
}

/* A node is plugged into another port. */
static void test_moved(void)
{
    ExanetTest *t = start("");
    uint8_t epoch = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, epoch, 1);
    say_down(t, OTHER);
    say_down(t, NEAR);
    t->ports[NEAR]->silent = true;
    say_well(t, OTHER, HONEST, epoch);
    assert_works(t, OTHER, HONEST, epoch, 2);
    /* one that was started again too is believed when the old cable is forgotten */
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

/* Two cables to one node, which starts again. */
static void test_parallel(void)
{
    static const uint32_t peers[] = { HONEST, HONEST };
    ExanetTest *t = exanet_start_ports(NODE, peers, 2, "");
    uint8_t epoch = t->ports[NEAR]->epoch;

    assert_works(t, NEAR, HONEST, epoch, 1);
    say_in_vain(t, NEAR, HONEST, epoch + 1);        /* the other says the old one */
    say_well(t, OTHER, HONEST, epoch + 1);
    say_well(t, NEAR, HONEST, epoch + 1);
    g_assert_true(is_up(t, OTHER));
    assert_works(t, NEAR, HONEST, epoch + 1, 1);
    /* by the other cable, too; acks of its path take the first one */
    send_block(t, OTHER, HONEST, epoch + 1, 2, 2);
    g_assert_cmpuint(exanet_peer_take_resp(t->ports[NEAR], 2, 0), ==,
                     EXANET_RESP_ACK);
    exanet_stop(t);
}

/* A node that is behind others: neither HELLO nor packets of a neighbour replace it. */
static void test_far(void)
{
    static const uint32_t peers[] = { 0x8000, 0x4001 };     /* an uplink, X + 1 */
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
    exanet_step(t, AGE_NS / 2);
    say_in_vain(t, OTHER, far, 8);
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, peers[OTHER], epoch);
    /* a neighbour's epoch is what its HELLO says, whoever passes its packets on */
    assert_works(t, OTHER, peers[OTHER], epoch, 2);
    say_down(t, OTHER);
    say_well(t, OTHER, 0x8001, epoch);              /* an uplink, too */
    assert_works(t, OTHER, 0x8001, epoch, 3);
    assert_dropped(t, NEAR, 0x8001, epoch + 1, 4);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 1);
    assert_works(t, OTHER, 0x8001, epoch, 5);
    /* the far node has been silent for long: it may have come nearer */
    exanet_step(t, AGE_NS);
    say_well(t, OTHER, far, 8);
    assert_works(t, OTHER, far, 8, 1);
    exanet_stop(t);
}

/* --- Coordinates that no neighbour has ------------------------------------------ */

static void test_neighbour(void)
{
    static const uint32_t peers[] = { EXANET_TEST_NO_PEER, 0x024 };
    ExanetTest *t;

    /* back to back any two nodes may be */
    t = exanet_start_ports(NODE, peers + 1, 1, "");
    assert_works(t, 0, 0x024, t->ports[0]->epoch, 1);
    exanet_stop(t);
    /* nor does a network begin with cables that are of none */
    t = start("");
    say_down(t, NEAR);
    say_down(t, OTHER);
    say_well(t, NEAR, 0x024, 1);
    say_well(t, OTHER, 0x345, 1);
    /* but one that is has no others beside it */
    say_well(t, NEAR, HONEST, 1);
    exanet_step(t, 1000 * EXANET_MS);
    g_assert_true(is_up(t, NEAR));
    g_assert_false(is_up(t, OTHER));
    g_assert_true(in_conflict(t, OTHER));
    t->ports[OTHER]->silent = true;
    say_in_vain(t, OTHER, 0x024, 1);
    say_in_vain(t, OTHER, 0x1002, 1);               /* behind F1 of another QFDB */
    t->ports[OTHER]->silent = false;
    say_well(t, OTHER, 0x2001, 1);                  /* of this QFDB */
    say_well(t, OTHER, 0x4345, 1);                  /* an uplink */
    exanet_stop(t);
}

static void test_role(void)
{
    ExanetTest *t = start("");

    /* software says what the port is for */
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

    /* the named node alone is there, and nowhere else */
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

/* A cable of no network, which is allowed by name. */
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
    qtest_add_func("/exanet/link-hello/take-over", test_take_over);
    qtest_add_func("/exanet/link-hello/restart", test_restart);
    qtest_add_func("/exanet/link-hello/moved", test_moved);
    qtest_add_func("/exanet/link-hello/parallel", test_parallel);
    qtest_add_func("/exanet/link-hello/far", test_far);
    qtest_add_func("/exanet/link-hello/neighbour", test_neighbour);
    qtest_add_func("/exanet/link-hello/role", test_role);
    qtest_add_func("/exanet/link-hello/named", test_named);
    qtest_add_func("/exanet/link-hello/named-cable", test_named_cable);
    return g_test_run();
}
