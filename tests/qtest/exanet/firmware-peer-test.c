/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware's table of nodes: a process leaves room for the next owner of its
 * context, and a new block never has a generation that its node takes for an old one.
 */
#include "qemu/osdep.h"
#include "device.h"
#include "remote.h"

#define NODE 0x001
#define BEFORE 0x000                /* coordinates of the neighbour on port 0 */
/*
 * coordinates of the neighbour on port 1, by which the route to other upper coordinates
 * leads
 */
#define UPLINK 0x4000
#define CTX_PEERS 2048
#define JOB_PEERS (CTX_PEERS / 2)
#define FIRST_JOB (EXANET_TEST_JOB + 5)
#define ANSWER (100 * EXANET_MS)
#define FORGOTTEN (120000 * EXANET_MS)

static ExanetTest *start(void)
{
    static const uint32_t peers[] = { BEFORE, UPLINK };

    return exanet_start_ports(NODE, peers, ARRAY_SIZE(peers), "");
}

/* Returns the coordinates of node @i behind port 1. */
static uint32_t far_node(unsigned i)
{
    return RNIC_PREP(EXANET_COORD_UPPER, 2 + i / 4096) | i % 4096;
}

/* Drops all packets that have arrived at @p; returns the number of blocks. */
static unsigned drop_all(ExanetTest *t, ExanetPeer *p)
{
    unsigned blocks = 0;

    exanet_settle(t);
    while (!g_queue_is_empty(&p->packets)) {
        g_autofree ExanetRxPacket *rx = g_queue_pop_head(&p->packets);

        blocks += rx->pkt.type == EXANET_TYPE_WRITE;
    }
    return blocks;
}

static void start_write(ExanetTest *t, unsigned channel, uint32_t coord)
{
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(coord, EXANET_RAM_DST), .len = 256,
    };

    exanet_channel_start(t, 0, channel, &x);
}

static void new_owner(ExanetTest *t, unsigned job)
{
    exanet_close(t, 0);
    exanet_open(t, 0, job, EXANET_FORMAT_IDENTITY, 0);
}

/*
 * Starts writes to @count nodes from far_node(@first) on, which never answer; returns
 * the number of blocks that have left.  After each EXANET_WRITE_CHANNELS writes the
 * context is closed and opened again, for @job, or with @jobs for a new job each time.
 */
static unsigned flood(ExanetTest *t, unsigned first, unsigned count, unsigned job,
                      bool jobs)
{
    unsigned left = 0;

    for (unsigned i = 0; i < count; i += EXANET_WRITE_CHANNELS) {
        new_owner(t, job);
        for (unsigned k = 0; k < EXANET_WRITE_CHANNELS; k++) {
            start_write(t, k, far_node(first + i + k));
        }
        left += drop_all(t, t->ports[1]);
        job += jobs;
    }
    return left;
}

/*
 * Writes to @coord, which is neighbour @port or a node behind it, and acks the block;
 * returns the TID as on the cable.
 */
static uint16_t exchange(ExanetTest *t, unsigned port, uint32_t coord)
{
    g_autofree ExanetRxPacket *rx = NULL;

    start_write(t, 0, coord);
    exanet_settle(t);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    rx = exanet_peer_take_type(t->ports[port], EXANET_TYPE_WRITE);
    exanet_peer_ack(t->ports[port], &rx->pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    return rx->pkt.tid;
}

/* Asserts that a write to the new node @coord fails, because the table has no room. */
static void assert_no_room(ExanetTest *t, uint32_t coord)
{
    start_write(t, 0, coord);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmpuint(exanet_channel_error(t, 0, 0), ==, EXANET_CHERR_RETRY_LIMIT);
}

/*
 * Nodes that never answer leave room for another job at once, and for all jobs after
 * 100 ms.
 */
static void test_unanswered(void)
{
    ExanetTest *t = start();

    g_assert_cmpuint(flood(t, 0, JOB_PEERS, FIRST_JOB, false), ==, JOB_PEERS);
    new_owner(t, FIRST_JOB);
    assert_no_room(t, BEFORE);
    new_owner(t, EXANET_TEST_JOB);
    exchange(t, 0, BEFORE);
    /*
     * new jobs one after the other leave room, too, because a process may open the
     * device again and again
     */
    g_assert_cmpuint(flood(t, CTX_PEERS, CTX_PEERS, FIRST_JOB + 1, true), >=,
                     CTX_PEERS / 3);
    exanet_step(t, ANSWER + EXANET_MS);
    new_owner(t, EXANET_TEST_JOB + 1);
    exchange(t, 1, UPLINK);
    /* a job gets half of the room that the two neighbours leave */
    g_assert_cmpuint(flood(t, 3 * CTX_PEERS, JOB_PEERS, FIRST_JOB, false), ==,
                     JOB_PEERS - 1);
    exanet_stop(t);
}

/*
 * Nodes that have answered keep their entries for two minutes, and fill only the part
 * of their own job.
 */
static void test_quota(void)
{
    ExanetTest *t = start();

    for (unsigned i = 0; i < JOB_PEERS; i++) {
        exchange(t, 1, far_node(i));
    }
    assert_no_room(t, BEFORE);
    exanet_step(t, FORGOTTEN / 2);
    assert_no_room(t, BEFORE);
    new_owner(t, FIRST_JOB);
    exchange(t, 0, BEFORE);
    new_owner(t, EXANET_TEST_JOB);
    exanet_step(t, FORGOTTEN / 2 + EXANET_MS);
    exchange(t, 1, UPLINK);
    exanet_stop(t);
}

/*
 * A node gets a block but its ack is lost, and other nodes take its entry.  The next
 * block has a generation that is new for the node.
 */
static void test_generation_kept(void)
{
    ExanetTest *t = start();
    g_autofree ExanetRxPacket *rx = NULL;
    uint16_t next;

    start_write(t, 0, BEFORE);
    rx = exanet_peer_take_type(t->ports[0], EXANET_TYPE_WRITE);
    flood(t, 0, JOB_PEERS, FIRST_JOB, false);
    exanet_step(t, ANSWER + EXANET_MS);
    flood(t, CTX_PEERS, JOB_PEERS, FIRST_JOB, false);
    new_owner(t, EXANET_TEST_JOB);
    drop_all(t, t->ports[0]);
    next = exchange(t, 0, BEFORE);
    next = RNIC_GET(EXANET_TID_GEN, next) - RNIC_GET(EXANET_TID_GEN, rx->pkt.tid);
    g_assert_cmpuint(next % 16, >=, 1);
    g_assert_cmpuint(next % 16, <, 8);
    exanet_stop(t);
}

/* --- Blocks that end without an ack ------------------------------------------- */

#define TIDS 64                     /* number of TIDs of a context */
#define GENERATIONS 16
#define CHUNK 1024
#define CHUNKS 48                   /* blocks that a write has under way */
#define STRAY (100 * EXANET_MS)
#define MANY 100000                 /* packets and milliseconds; a limit of loops */

/* For each TID, the last generation that the neighbour has answered. */
typedef struct Known {
    bool valid[TIDS];
    uint8_t gen[TIDS];
    ExanetPacket last[TIDS];        /* first packet of the TID's last block */
} Known;

static void answer(ExanetTest *t, Known *k, const ExanetPacket *pkt,
                   enum exanet_resp resp)
{
    unsigned tid = RNIC_GET(EXANET_TID_INDEX, pkt->tid);

    exanet_peer_ack(t->ports[0], pkt, resp);
    k->valid[tid] = true;
    k->gen[tid] = RNIC_GET(EXANET_TID_GEN, pkt->tid);
}

/*
 * Starts a write of CHUNKS blocks.  Stores the TIDs of the blocks that leave to @tids,
 * and their number to *@n.  Asserts that the generation of each block is new for the
 * neighbour.
 */
static void blocks_start(ExanetTest *t, Known *k, unsigned tids[CHUNKS], unsigned *n)
{
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(BEFORE, EXANET_RAM_DST),
        .len = CHUNKS * CHUNK,
    };

    *n = 0;
    exanet_channel_start(t, 0, 0, &x);
    exanet_settle(t);
    while (!g_queue_is_empty(&t->ports[0]->packets)) {
        g_autofree ExanetRxPacket *rx = g_queue_pop_head(&t->ports[0]->packets);
        unsigned tid = RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid);
        unsigned gen = RNIC_GET(EXANET_TID_GEN, rx->pkt.tid);

        if (rx->pkt.type == EXANET_TYPE_WRITE && rx->pkt.first) {
            g_assert_cmpuint(tid, <, TIDS);
            g_assert_cmpuint(*n, <, CHUNKS);
            g_assert(!k->valid[tid] ||
                     (gen - k->gen[tid]) % GENERATIONS < GENERATIONS / 2 - 1);
            k->last[tid] = rx->pkt;
            tids[(*n)++] = tid;
        }
    }
}

/*
 * Writes fail again and again because of their first blocks, and the other blocks are
 * answered later: each write still finds TIDs for all its blocks.
 */
static void test_failed(void)
{
    ExanetTest *t = start();
    g_autofree Known *k = g_new0(Known, 1);
    unsigned tids[CHUNKS], n;

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_BLOCK, CHUNK);
    for (unsigned round = 0; round < 60; round++) {
        blocks_start(t, k, tids, &n);
        g_assert_cmpuint(n, ==, CHUNKS);
        answer(t, k, &k->last[tids[0]], EXANET_RESP_DECODE);
        exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
        for (unsigned i = 1; i < n; i++) {
            answer(t, k, &k->last[tids[i]],
                   round % 2 ? EXANET_RESP_FAULT : EXANET_RESP_PROTECTION);
        }
        exanet_settle(t);
        exanet_step(t, STRAY + EXANET_MS);
    }
    exanet_stop(t);
}

/*
 * The context closes while its blocks have no answer, until all TIDs rest.  The next
 * write waits, and continues when answers to the last blocks arrive.
 */
static void test_resting(void)
{
    ExanetTest *t = start();
    g_autofree Known *k = g_new0(Known, 1);
    unsigned tids[CHUNKS], n, round;

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_BLOCK, CHUNK);
    for (round = 0; blocks_start(t, k, tids, &n), n; round++) {
        g_assert_cmpuint(round, <, GENERATIONS);
        new_owner(t, EXANET_TEST_JOB);
        exanet_step(t, STRAY + EXANET_MS);
    }
    g_assert_cmpuint(round, >=, GENERATIONS / 2 - 1);
    /* NO_CONTEXT: the node may have forgotten all generations */
    for (unsigned i = 0; i < TIDS; i++) {
        exanet_peer_ack(t->ports[0], &k->last[i], EXANET_RESP_NO_CONTEXT);
    }
    drop_all(t, t->ports[0]);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_QUEUED);
    for (unsigned i = 0; i < TIDS; i++) {
        answer(t, k, &k->last[i], EXANET_RESP_PROTECTION);
    }
    g_assert_cmpuint(drop_all(t, t->ports[0]), ==, CHUNKS * CHUNK / EXANET_MTU);
    exanet_stop(t);
}

/*
 * Waits until the first packets of @count blocks have left, or copies of blocks that left
 * before.  Keeps the first packet of each TID in @k.
 */
static void blocks_wait(ExanetTest *t, Known *k, unsigned count)
{
    for (unsigned i = 0; count; i++) {
        g_autofree ExanetRxPacket *rx = g_queue_pop_head(&t->ports[0]->packets);

        if (!rx) {
            g_assert_cmpuint(i, <, MANY);
            exanet_step(t, EXANET_MS);
            exanet_settle(t);
        } else if (rx->pkt.type == EXANET_TYPE_WRITE && rx->pkt.first) {
            k->last[RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid)] = rx->pkt;
            count--;
        }
    }
}

/* All blocks of a window are lost twice, so later blocks have half of the length. */
static void test_halved(void)
{
    ExanetTest *t = start();
    g_autofree Known *k = g_new0(Known, 1);
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(BEFORE, EXANET_RAM_DST),
        .len = 4 * 8 * CHUNK,
    };
    unsigned blocks = 0;

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_BLOCK, 8 * CHUNK);
    exanet_channel_start(t, 0, 0, &x);
    blocks_wait(t, k, 4 * 3);
    for (unsigned tid = 0; tid < TIDS; tid++) {
        if (k->last[tid].first) {
            exanet_peer_ack(t->ports[0], &k->last[tid], EXANET_RESP_ACK);
        }
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    drop_all(t, t->ports[0]);
    exanet_channel_start(t, 0, 0, &x);
    exanet_settle(t);
    while (!g_queue_is_empty(&t->ports[0]->packets)) {
        g_autofree ExanetRxPacket *rx = g_queue_pop_head(&t->ports[0]->packets);

        blocks += rx->pkt.type == EXANET_TYPE_WRITE && rx->pkt.first;
    }
    g_assert_cmpuint(blocks, ==, 8);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware-peer/unanswered", test_unanswered);
    qtest_add_func("/exanet/firmware-peer/quota", test_quota);
    qtest_add_func("/exanet/firmware-peer/generation-kept",
                   test_generation_kept);
    qtest_add_func("/exanet/firmware-peer/failed", test_failed);
    qtest_add_func("/exanet/firmware-peer/resting", test_resting);
    qtest_add_func("/exanet/firmware-peer/halved", test_halved);
    return g_test_run();
}
