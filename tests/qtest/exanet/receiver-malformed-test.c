/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA Receiver: protection, packets that no correct node sends, and blocks that arrive
 * completely although packets are lost, damaged and reordered.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "../common/random.h"
#include "blocks.h"

#define DST EXANET_RAM_DST
#define BLOCK EXANET_BLOCK_BYTES

/* --- Protection and malformed packets -------------------------------------- */

static void test_protection(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(70, DST, 300);
    struct { unsigned tid; uint16_t pdid; } refused[] = {
        { 70, EXANET_TEST_PDID(0) ^ 0x10 },     /* PDID of another job */
        { 71, EXANET_TEST_PDID(5) },            /* context 5 is not open */
        { 72, 0 },                              /* job 0 is no job */
    };

    qtest_memset(t->qts, DST, 0, 300);
    for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
        b.tid = refused[i].tid;
        b.pdid = refused[i].pdid;
        exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_PROTOCOL);
        exanet_peer_send_block(t->peer, &b);
        exanet_assert_resp(t, &b, EXANET_RESP_PROTECTION);
        exanet_assert_quiet(t);
        g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                      EXANET_IRQ_PROTOCOL);
    }
    /* each block has two packets */
    g_assert_cmpuint(exanet_count(t, DROP_PROTECTION), ==, 6);
    /* the context closes in the middle of a block */
    b.tid = 73;
    b.pdid = EXANET_TEST_PDID(1);
    exanet_send_packet(t, &b, 0);
    exanet_settle(t);
    exanet_close(t, 1);
    qtest_memset(t->qts, DST, 0, 300);
    exanet_send_packet(t, &b, 1);
    exanet_assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 300);
    /* the context has another owner when the block is sent again */
    exanet_open(t, 1, EXANET_TEST_JOB + 1, EXANET_FORMAT_IDENTITY, 0);
    b.seq = 1;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 300);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* Packets of one block have different PDIDs: the block is refused with PROTECTION. */
static void test_mixed_pdid(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(74, DST, 512);

    exanet_send_packet(t, &b, 0);
    exanet_settle(t);
    qtest_memset(t->qts, DST, 0, 512);
    b.pdid = EXANET_TEST_PDID(1);
    exanet_send_packet(t, &b, 1);
    exanet_assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 512);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * A context is closed and opened in the middle of a block: the rest does not complete
 * the block; its next copy does.
 */
static void test_next_owner(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(5, DST, 512);

    exanet_send_packet(t, &b, 0);
    exanet_close(t, 0);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_send_packet(t, &b, 1);
    exanet_assert_quiet(t);
    b.seq = 1;
    exanet_send_acked(t, &b);
    exanet_block_free(&b);
    exanet_stop(t);
}

static void test_malformed_block(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(75, DST, 1024);
    ExanetPacket pkt;

    /* the block crosses two 16-KB windows */
    exanet_send_packet(t, &b, 0);
    pkt = exanet_block_packet(t->peer, &b, 1);
    pkt.va += BLOCK;
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_resp(t, &b, EXANET_RESP_MALFORMED);
    /* the last packet lies before the first */
    b.tid = 76;
    pkt = exanet_block_packet(t->peer, &b, 3);
    pkt.last = false;
    pkt.first = true;
    exanet_peer_send(t->peer, &pkt);
    pkt = exanet_block_packet(t->peer, &b, 1);
    pkt.last = true;
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_resp(t, &b, EXANET_RESP_MALFORMED);
    exanet_assert_quiet(t);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* Packets that no user can send, because type and NI index do not match [P 2.5]. */
static void test_ni_table(void)
{
    ExanetTest *t = exanet_start("");
    static const struct {
        unsigned type, index;
        bool packetizer;
    } wrong[] = {
        { EXANET_TYPE_WRITE, EXANET_NI_RT_RESPONSE, false },
        { EXANET_TYPE_WRITE, EXANET_NI_MAILBOX, false },
        { EXANET_TYPE_WRITE, EXANET_NI_RT_REQUEST, true },
        { EXANET_TYPE_WRITE, EXANET_NI_RECEIVER, true },
        { EXANET_TYPE_READ_REQ, EXANET_NI_MAILBOX, true },
        { EXANET_TYPE_READ_REQ, EXANET_NI_RT_REQUEST, false },
        { EXANET_TYPE_CONTROL, EXANET_NI_RT_REQUEST, false },
        { EXANET_TYPE_CONTROL, 127, false },
        { EXANET_TYPE_NOTIFY, EXANET_NI_RECEIVER, false },
    };
    static const uint8_t payload[64];
    ExanetPacket pkt = {
        .dst = EXANET_TEST_NODE, .src = EXANET_TEST_PEER, .size = 64,
        .epoch = t->peer->epoch, .pdid = EXANET_TEST_PDID(0),
        .payload = payload, .first = true, .last = true,
    };
    ExanetPacket ack = {
        .type = EXANET_TYPE_ACK, .dst = EXANET_TEST_NODE,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        pkt.type = wrong[i].type;
        pkt.va = EXANET_NI_VA(wrong[i].index);
        pkt.user = wrong[i].packetizer ? EXANET_SMALL(EXANET_NI_PACKETIZER) :
                                         EXANET_SMALL(EXANET_NI_RT_RESPONSE);
        exanet_peer_send(t->peer, &pkt);
        exanet_wait(t, exanet_count(t, DROP_NI_TYPE) == i + 1);
    }
    /* a read request or control packet for memory */
    pkt.va = DST;
    pkt.type = EXANET_TYPE_READ_REQ;
    exanet_peer_send(t->peer, &pkt);
    pkt.type = EXANET_TYPE_CONTROL;
    exanet_peer_send(t->peer, &pkt);
    for (unsigned index = 0; index < 128; index++) {
        if (index != EXANET_NI_RT_RESPONSE && index != EXANET_NI_PACKETIZER) {
            ack.small = EXANET_SMALL(index);
            exanet_peer_send(t->peer, &ack);
        }
    }
    exanet_wait(t, exanet_count(t, DROP_NI_TYPE) ==
                ARRAY_SIZE(wrong) + 2 + 126);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_wrong_nodes(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(78, DST, 300);
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

    qtest_memset(t->qts, DST, 0, 300);
    pkt.dst = EXANET_TEST_ELSEWHERE;
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_NO_ROUTE) == 1);
    pkt.dst = EXANET_TEST_NODE ^ 1 << 14;       /* wrong upper part of the coordinates */
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_NO_ROUTE) == 2);
    pkt.dst = EXANET_TEST_NODE;
    pkt.src = EXANET_TEST_ELSEWHERE;
    exanet_peer_send(t->peer, &pkt);
    pkt.src = EXANET_TEST_NODE;                 /* the coordinates of the device itself */
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_SOURCE) == 2);
    exanet_set32(t, EXANET_REG_CTRL, 0);
    pkt.src = EXANET_TEST_PEER;
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_DISABLED) == 1);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0, 300);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* --- Everything at once ---------------------------------------------------- */

#define STORM_BLOCKS 120

typedef struct Storm {
    ExanetBlock b[STORM_BLOCKS];
    bool done[STORM_BLOCKS];
    GRand *rand;
} Storm;

/*
 * Sends all packets of the unfinished blocks in random order; one in ten is lost, and
 * one in twenty is sent with damage, too.
 */
static void storm_send(ExanetTest *t, Storm *s)
{
    g_autofree uint32_t *list = g_new(uint32_t, STORM_BLOCKS * 64);
    unsigned n = 0;

    for (unsigned i = 0; i < STORM_BLOCKS; i++) {
        for (unsigned p = 0; !s->done[i] && p < exanet_block_packets(&s->b[i]);
             p++) {
            list[n++] = i << 8 | p;
        }
    }
    for (unsigned i = n; i-- > 0;) {
        unsigned j = g_rand_int_range(s->rand, 0, i + 1);
        uint32_t x = list[j];

        list[j] = list[i];
        if (g_rand_int_range(s->rand, 0, 10)) {
            exanet_send_packet(t, &s->b[x >> 8], x & 0xff);
        }
        if (g_rand_int_range(s->rand, 0, 20) == 0) {
            exanet_send_damaged(t, &s->b[x >> 8], x & 0xff,
                                g_rand_int_range(s->rand, 0, 3));
        }
    }
}

static void storm_answers(ExanetTest *t, Storm *s)
{
    exanet_settle(t);
    exanet_settle(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_ACK);
        unsigned i = RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid);

        g_assert_cmpuint(i, <, STORM_BLOCKS);
        if (rx->pkt.resp == EXANET_RESP_ACK) {
            s->done[i] = true;
        } else {
            g_assert_true(rx->pkt.resp == EXANET_RESP_CRC ||
                          rx->pkt.resp == EXANET_RESP_NO_CONTEXT);
        }
    }
}

static void test_storm(void)
{
    ExanetTest *t = exanet_start(",ways=8");
    Storm s = { .rand = g_rand_new_with_seed(random_seed(99)) };
    unsigned open = STORM_BLOCKS;

    for (unsigned i = 0; i < STORM_BLOCKS; i++) {
        unsigned len = g_rand_int_range(s.rand, 1, 3000);

        s.b[i] = exanet_block_new(i, DST + i * BLOCK +
                                  g_rand_int_range(s.rand, 0, BLOCK - len), len);
    }
    for (unsigned round = 0; open; round++) {
        g_assert_cmpuint(round, <, 200);
        storm_send(t, &s);
        storm_answers(t, &s);
        open = 0;
        for (unsigned i = 0; i < STORM_BLOCKS; i++) {
            open += !s.done[i];
            s.b[i].seq++;
        }
    }
    for (unsigned i = 0; i < STORM_BLOCKS; i++) {
        exanet_assert_mem(t, s.b[i].va, s.b[i].data, s.b[i].len);
        exanet_block_free(&s.b[i]);
    }
    g_rand_free(s.rand);
    exanet_stop(t);
}

/*
 * Packets with correct CRCs and random contents: the receiver works again after the
 * sender has a new epoch.
 */
static void test_random_packets(void)
{
    ExanetTest *t = exanet_start("");
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(1717));
    static const uint8_t types[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
        EXANET_TYPE_NOTIFY, EXANET_TYPE_ACK,
    };
    uint8_t payload[256];
    ExanetBlock b = exanet_block_new(0, DST, 5000);

    for (unsigned i = 0; i < 20000; i++) {
        bool near = g_rand_boolean(rand);
        ExanetPacket pkt = {
            .type = types[g_rand_int_range(rand, 0, 5)],
            .dst = EXANET_TEST_NODE, .src = EXANET_TEST_PEER,
            .va = near ? DST + g_rand_int_range(rand, 0, 1 << 20) :
                  g_rand_boolean(rand) ?
                  EXANET_NI_VA(g_rand_int_range(rand, 0, 6)) :
                  random_u64(rand) & EXANET_GVA_VA,
            .epoch = t->peer->epoch,
            .pdid = g_rand_boolean(rand) ? EXANET_TEST_PDID(0) :
                                           g_rand_int(rand),
            .tid = g_rand_int(rand) & 0x3fff, .seq = g_rand_int(rand) & 0x3fff,
            .user = g_rand_boolean(rand) ? EXANET_SMALL(EXANET_NI_PACKETIZER) :
                    g_rand_int(rand) & 0xfff,
            .small = g_rand_int(rand) & 0x3ff, .resp = g_rand_int(rand) & 15,
            .first = g_rand_boolean(rand), .last = g_rand_boolean(rand),
            .notify = g_rand_boolean(rand), .payload = payload,
        };

        pkt.size = g_rand_int_range(rand, 1, 257 - (pkt.va & 255));
        random_bytes(rand, payload, sizeof(payload));
        if (g_rand_int_range(rand, 0, 50) == 0) {
            pkt.epoch = g_rand_int(rand);
        }
        exanet_peer_send(t->peer, &pkt);
        exanet_peer_poll(t->peer, 0);
    }
    exanet_settle(t);
    exanet_settle(t);
    /* with a new epoch of the sender the receiver accepts a block */
    t->peer->epoch ^= 0xff;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    exanet_settle(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    exanet_send_acked(t, &b);
    exanet_block_free(&b);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/receiver/malformed-protection-t24",
                   test_protection);
    qtest_add_func("/exanet/receiver/malformed-mixed-pdid-t24",
                   test_mixed_pdid);
    qtest_add_func("/exanet/receiver/malformed-block",
                   test_malformed_block);
    qtest_add_func("/exanet/receiver/malformed-ni-table-t24", test_ni_table);
    qtest_add_func("/exanet/receiver/malformed-wrong-nodes", test_wrong_nodes);
    qtest_add_func("/exanet/receiver/malformed-storm", test_storm);
    qtest_add_func("/exanet/receiver/malformed-random-packets",
                   test_random_packets);
    qtest_add_func("/exanet/receiver/malformed-next-owner-t24",
                   test_next_owner);
    return g_test_run();
}
