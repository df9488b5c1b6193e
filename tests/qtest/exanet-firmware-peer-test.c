/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware's table of nodes: a process that sends blocks to nodes that never answer
 * takes no room from the next owner of its context.
 */
#include "qemu/osdep.h"
#include "exanet-common.h"

#define NODE 0x001
#define BEFORE 0x000                /* the neighbour on port 0 */
#define BEHIND 0x002                /* neighbour on port 1, route to other nodes */
#define CTX_PEERS 2048
#define ANSWER (100 * EXANET_MS)

/* Returns the coordinates of node @i behind port 1. */
static uint32_t far_node(unsigned i)
{
    return RNIC_PREP(EXANET_COORD_X, 3 + i % 12) |
           RNIC_PREP(EXANET_COORD_Y, i / 12) |
           RNIC_PREP(EXANET_COORD_Z, i / (12 * 16));
}

static unsigned drop_all(ExanetTest *t, ExanetPeer *p)
{
    unsigned dropped = 0;

    exanet_settle(t);
    for (; !g_queue_is_empty(&p->packets); dropped++) {
        g_free(g_queue_pop_head(&p->packets));
    }
    return dropped;
}

static void start_write(ExanetTest *t, unsigned channel, uint32_t coord)
{
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(coord, EXANET_RAM_DST), .len = 256,
    };

    exanet_channel_start(t, 0, channel, &x);
}

static void test_unanswered(void)
{
    const uint32_t peers[] = { BEFORE, BEHIND };
    ExanetTest *t = exanet_start_ports(NODE, peers, ARRAY_SIZE(peers), "");
    unsigned left = 0;
    ExanetRxPacket *rx;

    /* order X, Y, Z: port 1 leads to all nodes with a larger X */
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_ORDER,
                 RNIC_PREP(EXANET_SW_ORDER_SECOND, 1) |
                 RNIC_PREP(EXANET_SW_ORDER_THIRD, 2));
    for (unsigned i = 0; i < CTX_PEERS; i += EXANET_WRITE_CHANNELS) {
        for (unsigned k = 0; k < EXANET_WRITE_CHANNELS; k++) {
            start_write(t, k, far_node(i + k));
        }
        left += drop_all(t, t->ports[1]);
        exanet_close(t, 0);
        exanet_open(t, 0, EXANET_TEST_JOB + 5, EXANET_FORMAT_IDENTITY, 0);
    }
    g_assert_cmpuint(left, >=, CTX_PEERS);
    exanet_step(t, ANSWER + EXANET_MS);
    start_write(t, 0, BEFORE);
    exanet_settle(t);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    rx = exanet_peer_take_type(t->ports[0], EXANET_TYPE_WRITE);
    exanet_peer_ack(t->ports[0], &rx->pkt, EXANET_RESP_ACK);
    g_free(rx);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware-peer/unanswered", test_unanswered);
    return g_test_run();
}
