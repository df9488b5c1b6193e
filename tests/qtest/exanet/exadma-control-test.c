/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control packets of ExaDMA.  The test acts as the R5 and as the peer. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"

#define SINK_BASE 0x8000000000ULL   /* an address in window 1 of the peer */
#define SRC EXANET_RAM_SRC

static void control_write(ExanetTest *t, unsigned output, unsigned tid,
                          uint64_t p0, uint64_t p1, uint64_t p2)
{
    exanet_set64(t, EXANET_CONTROL_ADDR(output, tid), p0);
    exanet_set64(t, EXANET_CONTROL_ADDR(output, tid), p1);
    exanet_set64(t, EXANET_CONTROL_ADDR(output, tid), p2);
}

static void take_control(ExanetTest *t, unsigned tid, uint64_t p0, uint64_t p1,
                         uint64_t p2, unsigned offset, unsigned len)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_CONTROL);
    uint64_t p3 = ldq_le_p(rx->pkt.payload + 24);

    g_assert_cmphex(rx->pkt.va, ==, EXANET_NI_VA(EXANET_NI_RECEIVER));
    g_assert_cmpuint(rx->pkt.size, ==, sizeof(struct exanet_control));
    g_assert_cmpuint(rx->words, ==, 4);
    g_assert_cmphex(rx->pkt.tid, ==, tid);
    g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
    g_assert_true(rx->pkt.notify);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, p0);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload + 8), ==, p1);
    g_assert_cmphex(ldq_le_p(rx->pkt.payload + 16), ==, p2);
    g_assert_cmpuint(RNIC_GET(EXANET_CONTROL_OFFSET, p3), ==, offset);
    g_assert_cmpuint(RNIC_GET(EXANET_CONTROL_BLOCK, p3), ==, len);
    g_assert_cmphex(RNIC_GET(EXANET_CONTROL_PDID, p3), ==,
                    EXANET_TEST_PDID(0));
}

static void test_control(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE + 0x123, 100);

    d.w3 = EXANET_DESC_W3_NOTIFY;
    d.w4 = RNIC_PREP(EXANET_DESC_W4_SEQ, 2) | RNIC_PREP(EXANET_DESC_W4_GEN, 3);
    exanet_desc_write(t, 40, &d);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    for (unsigned output = 0; output < EXANET_OUTPUTS; output++) {
        control_write(t, output, 40, 1000 + output, ~0ULL, 3);
        take_control(t, 40 | 3 << 10, 1000 + output, ~0ULL, 3, 0x123, 100);
    }
    /* a store for another TID discards the unfinished words of the first TID */
    exanet_desc_write(t, 41, &d);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_set64(t, EXANET_CONTROL_ADDR(0, 40), 1);
    exanet_set64(t, EXANET_CONTROL_ADDR(0, 40), 2);
    exanet_set64(t, EXANET_CONTROL_ADDR(0, 41), 11);
    g_assert_cmpuint(exanet_count(t, CONTROL_RESTART), ==, 1);
    exanet_set64(t, EXANET_CONTROL_ADDR(0, 41), 12);
    exanet_assert_quiet(t);
    exanet_set64(t, EXANET_CONTROL_ADDR(0, 41), 13);
    take_control(t, 41 | 3 << 10, 11, 12, 13, 0x123, 100);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, TX_CONTROL), ==, EXANET_OUTPUTS + 1);
    exanet_stop(t);
}

/* Control packets leave before payload packets that wait for the link. */
static void test_control_priority(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, EXANET_BLOCK_BYTES);
    ExanetDesc note = exanet_desc_to_peer(SRC, SINK_BASE, 16);
    ExanetSink sink;

    exanet_sink_init(&sink, SINK_BASE, EXANET_BLOCK_BYTES);
    exanet_desc_write(t, 50, &note);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_xoff(t);
    exanet_desc_write(t, 51, &d);
    exanet_wait(t, exanet_desc_sent(t, 51) > 0);
    exanet_settle(t);
    control_write(t, 0, 50, 1, 2, 3);
    exanet_assert_quiet(t);
    exanet_xon(t);
    take_control(t, 50, 1, 2, 3, 0, 16);
    exanet_sink_block(t->peer, &sink, 51);
    exanet_sink_fini(&sink);
    exanet_stop(t);
}

static void test_control_dropped(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = exanet_desc_to_peer(SRC, SINK_BASE, 16);
    unsigned came = 0;

    /* the TID has no descriptor */
    control_write(t, 0, 60, 1, 2, 3);
    g_assert_cmpuint(exanet_count(t, CONTROL_DROPPED), ==, 1);
    /* only stores of 8 bytes to offset 0 count */
    exanet_set32(t, EXANET_CONTROL_ADDR(0, 60), 1);
    exanet_set64(t, EXANET_CONTROL_ADDR(0, 60) + 8, 1);
    exanet_assert_quiet(t);
    /* more control packets than the buffers hold, while the link is blocked */
    exanet_desc_write(t, 61, &d);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    exanet_xoff(t);
    for (unsigned i = 0; i < 200; i++) {
        control_write(t, 0, 61, i, 2, 3);
    }
    g_assert_cmpuint(exanet_count(t, CONTROL_DROPPED), >, 1);
    exanet_xon(t);
    exanet_settle(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        take_control(t, 61, came++, 2, 3, 0, 16);
    }
    g_assert_cmpuint(came, >=, 64);
    g_assert_cmpuint(came + exanet_count(t, CONTROL_DROPPED), ==, 201);
    t->guest_errors = true;
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/exadma/control-t19", test_control);
    qtest_add_func("/exanet/exadma/control-priority-t19",
                   test_control_priority);
    qtest_add_func("/exanet/exadma/control-dropped-t19", test_control_dropped);
    return g_test_run();
}
