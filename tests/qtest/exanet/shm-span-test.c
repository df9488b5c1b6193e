/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sequence numbers of stores and RDMA writes under way: their distance must not exceed
 * the limit of the target, which is the test; and RDMA writes that may still arrive
 * late.
 */
#include "qemu/osdep.h"
#include "cdma.h"

#define FAR 0x1234500000ULL         /* address of the peer's memory */
#define BURST_BYTES 128             /* bytes of a request with the reset value of BURST */
#define STORES 1024                 /* stores that may follow a store without an answer */
#define RDMA_WRITES 128
#define TIMEOUT_MS 50               /* reset value of SHM_TIMEOUT in ms */

static ExanetCopy copy_far(uint32_t len)
{
    return (ExanetCopy) {
        EXANET_RAM_SRC, exanet_gva(EXANET_TEST_PEER, FAR), len, 0, 0x1235,
    };
}

static ExanetPacket take_write(ExanetTest *t)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    ExanetPacket pkt = rx->pkt;

    pkt.payload = NULL;
    return pkt;
}

static void ack(ExanetTest *t, const ExanetPacket *pkt)
{
    exanet_peer_answer_axi(t->peer, pkt, EXANET_RESP_ACK, NULL);
}

/* Answers all requests until no more arrive; returns their number. */
static unsigned answer_all(ExanetTest *t)
{
    unsigned count = 0;

    for (exanet_settle(t); !g_queue_is_empty(&t->peer->packets);
         exanet_settle(t)) {
        while (!g_queue_is_empty(&t->peer->packets)) {
            ExanetPacket pkt = take_write(t);

            ack(t, &pkt);
            count++;
        }
    }
    return count;
}

static void test_stores(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket first, pkt;

    exanet_segment(t, 0, 0, 0x10000, exanet_gva(EXANET_TEST_PEER, FAR),
                   EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    first = take_write(t);
    for (unsigned i = 1; i < STORES; i++) {
        exanet_store(t, 8 * i, 1, 8);
        pkt = take_write(t);
        g_assert_cmpuint(pkt.seq, ==, first.seq + i);
        ack(t, &pkt);
    }
    exanet_store(t, 8 * STORES, 1, 8);
    exanet_assert_quiet(t);
    ack(t, &first);
    pkt = take_write(t);
    g_assert_cmphex(pkt.va, ==, FAR + 8 * STORES);
    g_assert_true(pkt.first);
    ack(t, &pkt);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_REISSUE), ==, 0);
    exanet_stop(t);
}

static void test_rdma_writes(void)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = copy_far(3 * RDMA_WRITES * BURST_BYTES);
    ExanetPacket first;

    exanet_copy_start(t, 0, &c);
    first = take_write(t);
    g_assert_cmpuint(answer_all(t), ==, RDMA_WRITES - 1);
    g_assert_false(exanet_cdma_idle(t, 0));
    ack(t, &first);
    g_assert_cmpuint(answer_all(t), ==, 2 * RDMA_WRITES);
    exanet_copy_ends(t, 0, SR_DONE);
    exanet_stop(t);
}

/*
 * A request without an answer may arrive after its copy.  The copy has FIRST and waits
 * until all other requests are answered, because targets execute no earlier request
 * after FIRST.
 */
static void test_delayed(void)
{
    ExanetTest *t = exanet_start("");
    ExanetCopy c = copy_far(BURST_BYTES), other = copy_far(3 * BURST_BYTES);
    ExanetPacket delayed, pkt[3], again;

    other.da += 0x10000;
    exanet_copy_start(t, 0, &c);
    delayed = take_write(t);
    exanet_step(t, (TIMEOUT_MS - 10) * EXANET_MS);
    exanet_copy_start(t, 1, &other);
    for (unsigned i = 0; i < ARRAY_SIZE(pkt); i++) {
        pkt[i] = take_write(t);
        g_assert_false(pkt[i].first);
    }
    exanet_step(t, 11 * EXANET_MS);
    exanet_wait(t, tracker_get(t, 0, ROUND) == 1);
    exanet_assert_quiet(t);
    for (unsigned i = 0; i < ARRAY_SIZE(pkt); i++) {
        ack(t, &pkt[i]);
    }
    again = take_write(t);
    g_assert_cmphex(again.va, ==, delayed.va);
    g_assert_cmpuint(again.seq, !=, delayed.seq);
    g_assert_true(again.first);
    exanet_copy_ends(t, 1, SR_DONE);
    /* the delayed answer is ignored */
    ack(t, &delayed);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);
    g_assert_false(exanet_cdma_idle(t, 0));
    ack(t, &again);
    exanet_copy_ends(t, 0, SR_DONE);
    exanet_stop(t);
}

/*
 * No request of a round has an answer: their copies leave at once, and only the first
 * has FIRST.
 */
static void test_round(void)
{
    const unsigned count = 4;
    ExanetTest *t = exanet_start("");
    ExanetCopy c = copy_far(count * BURST_BYTES);

    exanet_copy_start(t, 0, &c);
    for (unsigned i = 0; i < 2 * count; i++) {
        ExanetPacket pkt = take_write(t);

        g_assert_cmpint(pkt.first, ==, i % count == 0);
        if (i == count - 1) {
            exanet_step(t, (TIMEOUT_MS + 1) * EXANET_MS);
        } else if (i >= count) {
            exanet_wait(t, i > count || g_queue_get_length(&t->peer->packets) ==
                        count - 1);
            ack(t, &pkt);
        }
    }
    exanet_copy_ends(t, 0, SR_DONE);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-initiator/span-stores", test_stores);
    qtest_add_func("/exanet/shm-initiator/span-rdma-writes", test_rdma_writes);
    qtest_add_func("/exanet/shm-initiator/span-delayed", test_delayed);
    qtest_add_func("/exanet/shm-initiator/span-round", test_round);
    return g_test_run();
}
