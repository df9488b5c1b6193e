/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA Receiver: placement, bitmap, sequence numbers, generations, tombstones and
 * contexts.  The test is the sender, and damages its packets.
 */
#include "qemu/osdep.h"
#include "../../seed.h"
#include "blocks.h"

#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define BLOCK EXANET_BLOCK_BYTES

/* --- Placement ------------------------------------------------------------- */

static void check_placement(ExanetTest *t, unsigned index, uint64_t va,
                            unsigned len)
{
    ExanetBlock b = exanet_block_new(index, va, len);

    qtest_memset(t->qts, va - 64, 0xee, len + 128);
    exanet_send_acked(t, &b);
    exanet_assert_byte(t, va - 64, 0xee, 64);
    exanet_assert_byte(t, va + len, 0xee, 64);
    exanet_block_free(&b);
}

static void test_alignment(void)
{
    static const unsigned lengths[] = {
        1, 2, 15, 16, 17, 255, 256, 257, 4095, BLOCK,
    };
    ExanetTest *t = exanet_start("");
    unsigned index = 0;

    for (unsigned d = 0; d < 16; d++) {
        for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
            check_placement(t, index++, DST + d, MIN(lengths[i], BLOCK - d));
        }
    }
    /* blocks that end at the end of a 16-KB window */
    for (unsigned len = 1; len < 600; len += 7) {
        check_placement(t, index++, DST + BLOCK - len, len);
    }
    g_assert_cmpuint(exanet_count(t, RX_CTX_ALLOC), ==, index);
    g_assert_cmpuint(exanet_count(t, NACK_SENT), ==, 0);
    exanet_stop(t);
}

/*
 * The ack goes to the response index in the footer of the block, with its TID, sequence
 * and PDID.
 */
static void test_ack_fields(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(0x2ab, DST, 16);
    ExanetRxPacket *rx;
    ExanetPacket pkt;

    b.tid = exanet_wire_tid(0x2ab, 0xd);
    b.seq = 0x3abc;
    b.pdid = EXANET_TEST_PDID(1);
    pkt = exanet_block_packet(t->peer, &b, 0);
    pkt.user = EXANET_SMALL(EXANET_NI_RT_RESPONSE) | 6;
    exanet_peer_send(t->peer, &pkt);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_ACK);
    g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
    g_assert_cmphex(rx->pkt.tid, ==, b.tid);
    g_assert_cmphex(rx->pkt.seq, ==, 0xabc);
    g_assert_cmphex(rx->pkt.pdid, ==, 1);
    g_assert_cmphex(rx->pkt.small, ==,
                    EXANET_SMALL(EXANET_NI_RT_RESPONSE) | 6);
    g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_ACK);
    g_assert_cmpuint(rx->pkt.vc, ==, 0);
    g_free(rx);
    exanet_block_free(&b);
    exanet_stop(t);
}

static void test_windows(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(1, 0, 1000);
    uint64_t window5 = 5ULL << EXANET_WINDOW_BITS;

    exanet_set64(t, EXANET_CTX(0) + EXANET_CTX_WIN(5), EXANET_WIN_VALID);
    b.va = window5 + DST;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST, b.data, b.len);
    /* an invalid window, and a valid window without RAM at its base */
    b.va = (4ULL << EXANET_WINDOW_BITS) + DST;
    b.tid = exanet_wire_tid(1, 1);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_DECODE);
    exanet_set64(t, EXANET_CTX(0) + EXANET_CTX_WIN(4),
                 9ULL << EXANET_WINDOW_BITS | EXANET_WIN_VALID);
    b.tid = exanet_wire_tid(2, 0);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_DECODE);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * The debug registers show a block of which some packets have arrived, and after the
 * last packet its tombstone.
 */
static void test_debug(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(77, DST + 256, 10 * 256);
    uint64_t at = 0, key = 0, state;

    b.tid = exanet_wire_tid(77, 4);
    b.seq = 5;
    exanet_step(t, 1000);
    exanet_send_packet(t, &b, 0);
    exanet_send_packet(t, &b, 2);
    exanet_send_packet(t, &b, 9);
    exanet_settle(t);
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        at = EXANET_RX_DEBUG + i * sizeof(struct exanet_rx_context);
        key = exanet_get64(t, at + offsetof(struct exanet_rx_context, key));
        if (key & EXANET_RXC_KEY_VALID) {
            break;
        }
    }
    g_assert_cmphex(key, ==,
                    RNIC_PREP(EXANET_RXC_KEY_TID, b.tid) |
                    RNIC_PREP(EXANET_RXC_KEY_SRC, EXANET_TEST_PEER) |
                    RNIC_PREP(EXANET_RXC_KEY_SEQ, 5) | EXANET_RXC_KEY_VALID |
                    EXANET_RXC_KEY_FIRST | EXANET_RXC_KEY_LAST |
                    RNIC_PREP(EXANET_RXC_KEY_FIRST_IDX, 1));
    state = exanet_get64(t, at + offsetof(struct exanet_rx_context, state));
    g_assert_cmphex(state, ==, RNIC_PREP(EXANET_RXC_LAST_IDX, 10) |
                    RNIC_PREP(EXANET_RXC_PDID, EXANET_TEST_PDID(0)) |
                    RNIC_PREP(EXANET_RXC_BYTES, 3 * 256) |
                    RNIC_PREP(EXANET_RXC_EPOCH, t->peer->epoch));
    g_assert_cmphex(exanet_get64(t, at), ==, 1 << 1 | 1 << 3 | 1 << 10);
    g_assert_cmphex(exanet_get64(t, at + offsetof(struct exanet_rx_context,
                                                  window)), ==, DST);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_acked(t, &b);
    g_assert_cmphex(exanet_get64(t, at + 8) & EXANET_RXC_KEY_VALID, ==, 0);
    g_assert_cmphex(exanet_get64(t, EXANET_TOMB_DEBUG), ==, EXANET_TOMB_VALID |
                    RNIC_PREP(EXANET_TOMB_TID, b.tid) |
                    RNIC_PREP(EXANET_TOMB_SRC, EXANET_TEST_PEER) |
                    RNIC_PREP(EXANET_TOMB_SEQ, 5) |
                    RNIC_PREP(EXANET_TOMB_EPOCH, t->peer->epoch));
    g_assert_cmpuint(exanet_get64(t, EXANET_TOMB_DEBUG + 8), ==,
                     exanet_get64(t, EXANET_REG_TIME));
    exanet_block_free(&b);
    exanet_stop(t);
}

/* --- Damage ---------------------------------------------------------------- */

static void test_crc(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(3, DST, 4 * 256);
    uint64_t port = EXANET_PORT(0);

    qtest_memset(t->qts, DST, 0, b.len);
    exanet_send_packet(t, &b, 0);
    exanet_send_damaged(t, &b, 1, EXANET_DAMAGE_HEADER);
    exanet_send_damaged(t, &b, 2, EXANET_DAMAGE_FOOTER);
    exanet_send_packet(t, &b, 3);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, DROP_HEADER_CRC), ==, 1);
    g_assert_cmpuint(exanet_count(t, DROP_FOOTER_CRC), ==, 1);
    g_assert_cmpuint(exanet_get64(t, port + EXANET_REG_PORT_BAD_HEADER), ==, 1);
    g_assert_cmpuint(exanet_get64(t, port + EXANET_REG_PORT_BAD_FOOTER), ==, 1);
    exanet_assert_byte(t, DST + 256, 0, 512);

    /* one NACK for each copy, whatever the number of its damaged packets */
    exanet_send_damaged(t, &b, 1, EXANET_DAMAGE_PAYLOAD);
    exanet_assert_resp(t, &b, EXANET_RESP_CRC);
    exanet_send_damaged(t, &b, 2, EXANET_DAMAGE_PAYLOAD);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST + 256, 0, 512);
    g_assert_cmpuint(exanet_count(t, DROP_PAYLOAD_CRC), ==, 2);
    g_assert_cmpuint(exanet_get64(t, port + EXANET_REG_PORT_BAD_PAYLOAD), ==,
                     2);
    b.seq = 1;
    exanet_send_acked(t, &b);
    exanet_assert_quiet(t);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * Intact packets of a copy count although another packet of this copy was damaged, and
 * a packet that has arrived may be damaged in a later copy.  Each copy has other
 * damaged packets, and the block becomes complete.
 */
static void test_crc_of_each_copy(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(3, DST, 4 * 256);

    qtest_memset(t->qts, DST, 0, b.len);
    exanet_send_damaged(t, &b, 0, EXANET_DAMAGE_PAYLOAD);
    exanet_assert_resp(t, &b, EXANET_RESP_CRC);
    exanet_send_packet(t, &b, 1);
    exanet_send_packet(t, &b, 2);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0, 256);
    b.seq = 1;
    exanet_send_damaged(t, &b, 1, EXANET_DAMAGE_PAYLOAD);
    exanet_send_damaged(t, &b, 2, EXANET_DAMAGE_PAYLOAD);
    exanet_assert_quiet(t);
    exanet_send_damaged(t, &b, 3, EXANET_DAMAGE_PAYLOAD);
    exanet_assert_resp(t, &b, EXANET_RESP_CRC);
    b.seq = 2;
    exanet_send_packet(t, &b, 3);
    exanet_assert_quiet(t);
    exanet_send_packet(t, &b, 0);
    exanet_assert_acked(t, &b);
    g_assert_cmpuint(exanet_count(t, RX_DUPLICATE), ==, 0);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* --- Order ----------------------------------------------------------------- */

static void shuffle(unsigned *order, unsigned n, GRand *rand)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned j = g_rand_int_range(rand, 0, i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

static void test_order(void)
{
    ExanetTest *t = exanet_start("");
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(10));
    unsigned order[EXANET_BLOCK_PACKETS];

    for (unsigned round = 0; round < 8; round++) {
        ExanetBlock b = exanet_block_new(round, DST, BLOCK);

        shuffle(order, EXANET_BLOCK_PACKETS, rand);
        /* all packets but one, every fifth twice */
        for (unsigned i = 1; i < EXANET_BLOCK_PACKETS; i++) {
            exanet_send_packet(t, &b, order[i]);
            if (i % 5 == 0) {
                exanet_send_packet(t, &b, order[i]);
            }
        }
        exanet_assert_quiet(t);
        exanet_send_packet(t, &b, order[0]);
        exanet_assert_acked(t, &b);
        /* late copies of packets get no second ack */
        exanet_send_packet(t, &b, order[0]);
        exanet_send_packet(t, &b, order[30]);
        exanet_assert_quiet(t);
        exanet_block_free(&b);
    }
    g_assert_cmpuint(exanet_count(t, RX_DUPLICATE), ==, 8 * (12 + 2));
    exanet_stop(t);
}

/* Packets of all copies of a block count, unless a newer copy has begun. */
static void test_sequence(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(9, DST, 4 * 256);
    ExanetBlock old = b;

    exanet_send_packet(t, &b, 0);
    exanet_send_packet(t, &b, 1);
    b.seq = 2;
    exanet_send_packet(t, &b, 3);
    old.seq = 1;
    exanet_send_packet(t, &old, 2);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 1);
    /* a packet that was written is not written again */
    qtest_memset(t->qts, DST, 0x77, 256);
    exanet_send_packet(t, &b, 0);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0x77, 256);
    qtest_memwrite(t->qts, DST, b.data, 256);
    exanet_send_packet(t, &b, 2);
    exanet_assert_acked(t, &b);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* A new block with a gap in the sequence discards the packets of the old block. */
static void test_sequence_gap(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock old = exanet_block_new(9, DST, 3 * 256);
    ExanetBlock b = exanet_block_new(9, DST, 3 * 256);

    memset((uint8_t *)old.data, 0x55, old.len);
    exanet_send_packet(t, &old, 0);
    exanet_send_packet(t, &old, 1);
    b.seq = 64;
    exanet_send_packet(t, &b, 2);
    exanet_assert_quiet(t);
    exanet_send_packet(t, &b, 0);
    exanet_settle(t);
    /* packets of an older copy are not written */
    old.seq = 1;
    exanet_peer_send_block(t->peer, &old);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 3);
    exanet_send_packet(t, &b, 1);
    exanet_assert_acked(t, &b);
    exanet_block_free(&b);
    exanet_block_free(&old);
    exanet_stop(t);
}

/* --- At least once, at most once ------------------------------------------- */

static void test_lost_ack(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(12, DST, 700);

    b.notify = true;
    exanet_note_clear(t);
    exanet_send_note(t, &b, 0xabcdef);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_acked(t, &b);
    exanet_assert_note(t, NOTE, 0xabcdef, b.len);

    /* the application has changed the data, and the ack was lost */
    qtest_memset(t->qts, DST, 0x77, b.len);
    exanet_note_clear(t);
    for (b.seq = 1; b.seq < 4; b.seq++) {
        exanet_send_note(t, &b, 0xabcdef);
        exanet_assert_resp(t, &b, EXANET_RESP_ACK);
        exanet_peer_send_block(t->peer, &b);
        exanet_assert_quiet(t);
        exanet_assert_byte(t, DST, 0x77, b.len);
        exanet_assert_byte(t, NOTE, 0, 16);
        g_assert_cmpuint(exanet_count(t, RX_REACK), ==, b.seq);
    }
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 1);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * Plays the scenario of the model check: the TID has a new block while packets of the
 * old block are under way.  Returns true if a packet of the old block has completed the
 * new one.
 */
static bool reuse_scenario(ExanetTest *t)
{
    bool strict = exanet_get32(t, EXANET_REG_CTRL) & EXANET_CTRL_STRICT;
    ExanetBlock a = exanet_block_new(21, DST, 512);
    ExanetBlock b = exanet_block_new(21, DST, 512);
    bool completed, overwritten;
    uint8_t have[512];

    memset((uint8_t *)a.data, 0xaa, a.len);
    memset((uint8_t *)b.data, 0xbb, b.len);
    b.tid = strict ? a.tid : exanet_wire_tid(21, 1);
    exanet_peer_send_block(t->peer, &a);
    exanet_assert_acked(t, &a);
    exanet_send_packet(t, &b, 0);
    exanet_settle(t);
    exanet_send_packet(t, &a, 1);      /* a late copy of a packet of the old block */
    exanet_settle(t);
    exanet_pump(t);
    completed = !g_queue_is_empty(&t->peer->packets);
    if (completed) {
        exanet_assert_resp(t, &b, EXANET_RESP_ACK);
        qtest_bufread(t->qts, DST, have, sizeof(have));
        g_assert_cmphex(have[0], ==, 0xbb);
        g_assert_cmphex(have[511], ==, 0xaa);
    }
    exanet_send_packet(t, &b, 1);
    if (!completed) {
        exanet_assert_acked(t, &b);
    }
    /* the application changes the data, and a late packet of the old block arrives */
    qtest_memset(t->qts, DST, 0x11, 512);
    exanet_send_packet(t, &a, 0);
    exanet_settle(t);
    qtest_bufread(t->qts, DST, have, sizeof(have));
    overwritten = have[0] != 0x11;
    g_assert_cmpint(overwritten, ==, completed);
    exanet_block_free(&a);
    exanet_block_free(&b);
    return completed;
}

static void test_tid_reuse(void)
{
    ExanetTest *t = exanet_start("");

    g_assert_false(reuse_scenario(t));
    /* one late packet of the last finished block, and one of the block before */
    g_assert_cmpuint(exanet_count(t, RX_DUPLICATE), ==, 1);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 1);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_tid_reuse_strict(void)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    g_assert_true(reuse_scenario(t));
    exanet_stop(t);
}

/*
 * In strict mode the receiver writes packets of an older sequence, but does not count
 * them.
 */
static void test_old_sequence_strict(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(22, DST, 512);

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    b.seq = 1;
    exanet_send_packet(t, &b, 0);
    exanet_settle(t);
    qtest_memset(t->qts, DST, 0x11, 256);
    b.seq = 0;
    exanet_send_packet(t, &b, 0);
    exanet_settle(t);
    exanet_assert_mem(t, DST, b.data, 256);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 1);
    b.seq = 1;
    exanet_send_packet(t, &b, 1);
    exanet_assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* All generations of a TID, three times each. */
static void test_generations(void)
{
    ExanetTest *t = exanet_start("");

    for (unsigned g = 0; g < 48; g++) {
        ExanetBlock b = exanet_block_new(30, DST, 300);

        b.tid = exanet_wire_tid(30, g % 16);
        b.seq = g % 3;
        exanet_random_bytes((uint8_t *)b.data, b.len, g);
        exanet_send_acked(t, &b);
        /* packets with the previous generation are dropped */
        b.tid = exanet_wire_tid(30, (g - 1) % 16);
        if (g) {
            exanet_peer_send_block(t->peer, &b);
            exanet_assert_quiet(t);
        }
        exanet_block_free(&b);
    }
    exanet_stop(t);
}

/*
 * More blocks fail in a row than there are generations.  The receiver answers each
 * block, accepts the next valid one, and drops copies of the last bad one.
 */
static void test_generations_failed(void)
{
    static const struct {
        uint64_t va;
        uint16_t pdid;
        enum exanet_resp resp;
    } bad[] = {
        { (4ULL << EXANET_WINDOW_BITS) + DST, EXANET_TEST_PDID(0), EXANET_RESP_DECODE },
        { DST, EXANET_TEST_PDID(5), EXANET_RESP_PROTECTION },
    };
    ExanetTest *t = exanet_start("");
    unsigned gen = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        ExanetBlock good = exanet_block_new(30, DST, 300);
        ExanetBlock b = exanet_block_new(30, bad[i].va, 300);

        good.tid = exanet_wire_tid(30, gen++ % 16);
        exanet_send_acked(t, &good);
        b.pdid = bad[i].pdid;
        for (unsigned n = 0; n < 20; n++) {
            b.tid = exanet_wire_tid(30, gen++ % 16);
            exanet_peer_send_block(t->peer, &b);
            exanet_assert_resp(t, &b, bad[i].resp);
        }
        good.tid = exanet_wire_tid(30, gen++ % 16);
        exanet_random_bytes((uint8_t *)good.data, good.len, gen);
        exanet_send_acked(t, &good);
        for (b.seq = 1; b.seq < 3; b.seq++) {
            exanet_peer_send_block(t->peer, &b);
            exanet_assert_quiet(t);
        }
        exanet_block_free(&good);
        exanet_block_free(&b);
    }
    exanet_stop(t);
}

/* After a skipped generation: copies of the skipped block get no ack. */
static void test_generation_skipped(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(30, DST, 600);
    ExanetBlock skipped = exanet_block_new(30, DST + BLOCK, 600);

    exanet_send_acked(t, &b);
    b.tid = exanet_wire_tid(30, 2);
    exanet_send_packet(t, &b, 0);
    skipped.tid = exanet_wire_tid(30, 1);
    for (; skipped.seq < 3; skipped.seq++) {
        exanet_peer_send_block(t->peer, &skipped);
        exanet_assert_quiet(t);
    }
    exanet_assert_byte(t, DST + BLOCK, 0, 600);
    exanet_send_packet(t, &b, 1);
    exanet_send_packet(t, &b, 2);
    exanet_assert_acked(t, &b);
    exanet_block_free(&b);
    exanet_block_free(&skipped);
    exanet_stop(t);
}

/* A new epoch of the source: the receiver discards all blocks of the old epoch. */
static void test_epoch(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(31, DST, 300);
    ExanetBlock half = exanet_block_new(32, DST, 600);

    exanet_send_acked(t, &b);
    exanet_send_packet(t, &half, 0);
    exanet_settle(t);
    t->peer->epoch++;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, t->peer->heard);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    /* in the new epoch the same TID, generation and sequence number are a new block */
    exanet_random_bytes((uint8_t *)b.data, b.len, 1234);
    exanet_send_acked(t, &b);
    exanet_send_packet(t, &half, 1);
    exanet_send_packet(t, &half, 2);
    exanet_assert_quiet(t);
    exanet_send_packet(t, &half, 0);
    exanet_assert_acked(t, &half);
    /* packets with the old epoch are dropped */
    t->peer->epoch--;
    exanet_send_packet(t, &half, 0);
    exanet_assert_quiet(t);
    t->peer->epoch++;
    b.seq = 1;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RX_REACK), ==, 1);
    exanet_block_free(&b);
    exanet_block_free(&half);
    exanet_stop(t);
}

/*
 * The device gets other coordinates: its state of sources is discarded, because peers
 * start new generations for these coordinates.
 */
static void test_renamed(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(5, DST, 600);

    exanet_send_acked(t, &b);
    exanet_block_free(&b);
    exanet_set32(t, EXANET_REG_NODE, 0x2a2a2);
    exanet_wait(t, t->peer->node == 0x2a2a2);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    /* for the new coordinates the same TID and generation are a new block */
    b = exanet_block_new(5, DST, 600);
    b.data = memset((uint8_t *)b.data, 0x5c, b.len);
    b.seq = 1;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_acked(t, &b);
    exanet_assert_mem(t, DST, b.data, b.len);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* --- No context ------------------------------------------------------------ */

static unsigned rx_set(unsigned tid)
{
    unsigned src = EXANET_TEST_PEER;

    return (tid ^ tid >> 4 ^ src ^ src >> 4 ^ src >> 8 ^ src >> 12) & 15;
}

/* Returns @count TIDs whose blocks need a context of the same set. */
static void collide(unsigned *tids, unsigned count)
{
    unsigned n = 0;

    for (unsigned tid = 0; n < count; tid++) {
        if (rx_set(tid) == 7) {
            tids[n++] = tid;
        }
    }
}

static void check_collisions(const char *props, unsigned ways)
{
    ExanetTest *t = exanet_start(props);
    unsigned tids[EXANET_RX_WAYS + 1];
    ExanetBlock b[EXANET_RX_WAYS + 1];

    collide(tids, ways + 1);
    for (unsigned i = 0; i <= ways; i++) {
        b[i] = exanet_block_new(tids[i], DST + i * BLOCK, 512);
        exanet_send_packet(t, &b[i], 0);
        exanet_settle(t);
    }
    exanet_assert_resp(t, &b[ways], EXANET_RESP_NO_CONTEXT);
    /* one NO_CONTEXT for each copy of a block */
    exanet_send_packet(t, &b[ways], 1);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_CTX_FULL), ==, 2);
    b[ways].seq = 1;
    exanet_peer_send_block(t->peer, &b[ways]);
    exanet_assert_resp(t, &b[ways], EXANET_RESP_NO_CONTEXT);
    for (unsigned i = 0; i < ways; i++) {
        exanet_send_packet(t, &b[i], 1);
        exanet_assert_acked(t, &b[i]);
    }
    b[ways].seq = 2;
    exanet_send_acked(t, &b[ways]);
    for (unsigned i = 0; i <= ways; i++) {
        exanet_block_free(&b[i]);
    }
    exanet_stop(t);
}

static void test_no_context(void)
{
    check_collisions("", 16);
}

static void test_ways(void)
{
    check_collisions(",ways=1", 1);
    check_collisions(",ways=4", 4);
}

static void test_257_blocks(void)
{
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *data = g_malloc(512);
    ExanetBlock b = {
        .data = data, .len = 512, .pdid = EXANET_TEST_PDID(0),
    };

    exanet_random_bytes(data, 512, 1);
    for (unsigned i = 0; i <= EXANET_RX_CONTEXTS; i++) {
        b.tid = i;
        b.va = DST + i * BLOCK;
        exanet_send_packet(t, &b, 0);
    }
    exanet_assert_resp(t, &b, EXANET_RESP_NO_CONTEXT);
    exanet_assert_quiet(t);
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        b.tid = i;
        b.va = DST + i * BLOCK;
        exanet_send_packet(t, &b, 1);
        exanet_assert_acked(t, &b);
    }
    b.tid = EXANET_RX_CONTEXTS;
    b.va = DST + EXANET_RX_CONTEXTS * BLOCK;
    b.seq = 1;
    exanet_send_acked(t, &b);
    exanet_stop(t);
}

/* Contexts of unfinished blocks become free after a time. */
static void test_ageing(void)
{
    ExanetTest *t = exanet_start("");
    unsigned tids[EXANET_RX_WAYS + 1];
    ExanetBlock b;

    collide(tids, ARRAY_SIZE(tids));
    for (unsigned i = 0; i < EXANET_RX_WAYS; i++) {
        b = exanet_block_new(tids[i], DST, 512);
        exanet_send_packet(t, &b, 0);
        exanet_settle(t);
        exanet_block_free(&b);
    }
    exanet_step(t, EXANET_MS);
    b = exanet_block_new(tids[EXANET_RX_WAYS], DST, 512);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_NO_CONTEXT);
    exanet_step(t, 600000 * EXANET_MS);
    b.seq = 1;
    exanet_send_acked(t, &b);
    g_assert_cmpuint(exanet_count(t, RX_CTX_EVICT), ==, 1);
    exanet_block_free(&b);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/receiver/alignment-t03", test_alignment);
    qtest_add_func("/exanet/receiver/ack-fields", test_ack_fields);
    qtest_add_func("/exanet/receiver/windows", test_windows);
    qtest_add_func("/exanet/receiver/debug", test_debug);
    qtest_add_func("/exanet/receiver/crc-t09", test_crc);
    qtest_add_func("/exanet/receiver/crc-of-each-copy", test_crc_of_each_copy);
    qtest_add_func("/exanet/receiver/order-t10", test_order);
    qtest_add_func("/exanet/receiver/sequence-t11", test_sequence);
    qtest_add_func("/exanet/receiver/sequence-gap-t11", test_sequence_gap);
    qtest_add_func("/exanet/receiver/lost-ack-t12", test_lost_ack);
    qtest_add_func("/exanet/receiver/tid-reuse-t13", test_tid_reuse);
    qtest_add_func("/exanet/receiver/tid-reuse-strict-t13",
                   test_tid_reuse_strict);
    qtest_add_func("/exanet/receiver/old-sequence-strict-t13",
                   test_old_sequence_strict);
    qtest_add_func("/exanet/receiver/generations-t13", test_generations);
    qtest_add_func("/exanet/receiver/generations-failed-t13",
                   test_generations_failed);
    qtest_add_func("/exanet/receiver/generation-skipped-t13",
                   test_generation_skipped);
    qtest_add_func("/exanet/receiver/epoch-t13", test_epoch);
    qtest_add_func("/exanet/receiver/no-context-t14", test_no_context);
    qtest_add_func("/exanet/receiver/ways-t14", test_ways);
    qtest_add_func("/exanet/receiver/257-blocks-t14", test_257_blocks);
    qtest_add_func("/exanet/receiver/ageing-t14", test_ageing);
    qtest_add_func("/exanet/receiver/renamed", test_renamed);
    return g_test_run();
}
