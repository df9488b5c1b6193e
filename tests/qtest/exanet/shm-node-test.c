/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The initiator's table of nodes: a process that stores to nodes that never answer
 * takes no room from other processes, and sequence numbers of stores never restart.
 */
#include "qemu/osdep.h"
#include "device.h"

#define NODES 16384
#define CTX_NODES 1024
#define SEGMENTS 16
#define BATCH 0x1000                /* distance of segments in bytes */
#define ANSWER (100 * EXANET_MS)
#define DST 0x123450000ULL

static uint64_t of_context(unsigned c)
{
    return EXANET_SHM_MAP_WRITE | RNIC_PREP(EXANET_SHM_MAP_CTX, c);
}

static void drop_all(ExanetTest *t)
{
    exanet_settle(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_free(g_queue_pop_head(&t->peer->packets));
    }
}

/*
 * Stores from context 0 to @count nodes that do not exist, and advances time by @step
 * after each SEGMENTS of them.
 */
static void flood(ExanetTest *t, unsigned count, int64_t step)
{
    for (unsigned i = 0; i < count; i += SEGMENTS) {
        for (unsigned m = 0; m < SEGMENTS; m++) {
            exanet_segment(t, m, m * BATCH, BATCH, exanet_gva(0x200000 + i + m, 0),
                           of_context(0));
            exanet_store(t, m * BATCH, 1, 8);
        }
        drop_all(t);
        exanet_close(t, 0);
        exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
        if (step) {
            exanet_step(t, step);
        }
    }
}

/* Stores from context @c to node @coord.  Returns SHM_ERR_INFO, or 0 without an error. */
static uint32_t store_error(ExanetTest *t, unsigned c, uint32_t coord)
{
    uint32_t info;

    exanet_shm_set(t, SHM_ERR_INFO, EXANET_SHM_ERR_VALID);
    exanet_segment(t, 0, 0, BATCH, exanet_gva(coord, DST), of_context(c));
    exanet_store(t, 0, 1, 8);
    exanet_settle(t);
    info = exanet_shm_get(t, SHM_ERR_INFO);
    return info & EXANET_SHM_ERR_VALID ? info : 0;
}

/*
 * Stores from context @c to the peer, which acks if @answer; returns the sequence
 * number.  Asserts that there is no error.
 */
static unsigned store(ExanetTest *t, unsigned c, bool answer)
{
    g_autofree ExanetRxPacket *rx = NULL;

    g_assert_cmphex(store_error(t, c, EXANET_TEST_PEER), ==, 0);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
    if (answer) {
        uint64_t acks = exanet_count(t, SHM_ACK);

        exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, NULL);
        exanet_wait(t, exanet_count(t, SHM_ACK) == acks + 1);
    }
    return rx->pkt.seq;
}

/*
 * Stores to more nodes than the table holds, at once and later over some time: another
 * context always has room.
 */
static void test_unanswered(void)
{
    ExanetTest *t = exanet_start("");

    flood(t, NODES, 0);
    store(t, 1, true);
    exanet_step(t, ANSWER);
    store(t, 0, true);
    flood(t, NODES, EXANET_MS / 4);
    store(t, 1, true);
    store(t, 0, true);
    exanet_stop(t);
}

/* Stores to too many nodes at once: only the context that stores to them is refused. */
static void test_quota(void)
{
    ExanetTest *t = exanet_start("");
    uint32_t info;

    flood(t, CTX_NODES, 0);
    info = store_error(t, 0, EXANET_TEST_PEER);
    g_assert_cmphex(info, !=, 0);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CODE, info), ==, EXANET_RESP_FULL);
    store(t, 1, true);
    /* kept nodes do not count for a context */
    store(t, 0, true);
    exanet_stop(t);
}

/* The sequence numbers of a node continue, even after its entry was removed. */
static void test_numbers(void)
{
    ExanetTest *t = exanet_start("");
    unsigned seq = store(t, 1, true);

    for (unsigned round = 0; round < 3; round++) {
        flood(t, 2 * CTX_NODES, 4 * EXANET_MS);
        g_assert_cmpuint(store(t, round & 1, true), ==, ++seq);
    }
    exanet_stop(t);
}

static void test_numbers_unanswered(void)
{
    ExanetTest *t = exanet_start("");
    unsigned seq = 0;

    for (unsigned round = 0; round < 3; round++) {
        g_assert_cmpuint(store(t, 0, false), ==, seq++);
        exanet_close(t, 0);
        exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
        flood(t, 2 * CTX_NODES, 4 * EXANET_MS);
    }
    exanet_stop(t);
}

/* Sends an ACK of the node of request @req, with sequence number @seq. */
static void answer(ExanetPeer *p, const ExanetPacket *req, uint16_t seq)
{
    const ExanetPacket pkt = {
        .type = EXANET_TYPE_AXI_RESPONSE,
        .dst = req->src,
        .src = req->dst,
        .epoch = p->epoch,
        .ttl = EXANET_TTL_MAX,
        .pdid = req->pdid,
        .tid = req->tid,
        .seq = seq,
        .va = EXANET_NI_VA(EXANET_NI_SHM) | (req->va & (EXANET_MTU - 1)),
        .user = req->user & EXANET_SHM_USER_RETRIES,
    };

    exanet_peer_send(p, &pkt);
}

/*
 * Stores from context 0 to each of SEGMENTS nodes from @first on, which answer behind
 * port @p.  @wrong is added to the sequence numbers of the answers.
 */
static void store_to_neighbours(ExanetTest *t, ExanetPeer *p, uint32_t first,
                                unsigned wrong)
{
    for (unsigned m = 0; m < SEGMENTS; m++) {
        exanet_segment(t, m, m * BATCH, BATCH, exanet_gva(first + m, 0),
                       of_context(0));
        exanet_store(t, m * BATCH, 1, 8);
    }
    exanet_settle(t);
    for (unsigned m = 0; m < SEGMENTS; m++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(p, EXANET_TYPE_AXI_WRITE);

        answer(p, &rx->pkt, rx->pkt.seq + wrong);
    }
}

/*
 * Responses that match no request do not count as answers of nodes, so they take no
 * room for nodes that have answered, which all contexts share.
 */
static void test_wrong_answers(void)
{
    const uint32_t uplink = RNIC_PREP(EXANET_COORD_UPPER, 1);
    ExanetTest *t = exanet_start_ports(0, &uplink, 1, "");
    ExanetPeer *p = t->ports[0];
    uint64_t stale = exanet_count(t, SHM_STALE);

    for (unsigned i = 0; i < NODES; i += SEGMENTS) {
        store_to_neighbours(t, p, uplink + 1 + i, 1);
        stale += SEGMENTS;
        exanet_wait(t, exanet_count(t, SHM_STALE) == stale);
        exanet_close(t, 0);
        exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
        exanet_step(t, 2 * EXANET_MS);
    }
    g_assert_cmphex(store_error(t, 1, uplink), ==, 0);
    exanet_stop(t);
}

/*
 * An accomplice of one job answers for more nodes than the table keeps: each job still
 * has room for new nodes.
 */
static void test_answered(void)
{
    const uint32_t uplink = RNIC_PREP(EXANET_COORD_UPPER, 1);
    ExanetTest *t = exanet_start_ports(0, &uplink, 1, "");
    ExanetPeer *p = t->ports[0];
    uint64_t acks = exanet_count(t, SHM_ACK);

    exanet_open(t, 1, EXANET_TEST_JOB + 1, EXANET_FORMAT_IDENTITY, 0);
    for (unsigned i = 0; i < NODES + CTX_NODES; i += SEGMENTS) {
        store_to_neighbours(t, p, uplink + 1 + i, 0);
        acks += SEGMENTS;
        exanet_wait(t, exanet_count(t, SHM_ACK) == acks);
        exanet_step(t, 2 * EXANET_MS);
    }
    g_assert_cmphex(store_error(t, 1, uplink), ==, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-node/unanswered", test_unanswered);
    qtest_add_func("/exanet/shm-node/quota", test_quota);
    qtest_add_func("/exanet/shm-node/numbers", test_numbers);
    qtest_add_func("/exanet/shm-node/numbers-unanswered",
                   test_numbers_unanswered);
    qtest_add_func("/exanet/shm-node/wrong-answers", test_wrong_answers);
    qtest_add_func("/exanet/shm-node/answered", test_answered);
    return g_test_run();
}
