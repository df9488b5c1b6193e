/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA Receiver: placement, bitmap, sequence numbers, generations, tombstones,
 * every response code, control packets and notifications.  The test is the
 * sender, and breaks what it sends itself.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "exanet-tables.h"

#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define BLOCK EXANET_BLOCK_BYTES
#define FAULT_VA 0x1234560000ULL

static uint16_t wire_tid(unsigned index, unsigned gen)
{
    return RNIC_PREP(EXANET_TID_INDEX, index) | RNIC_PREP(EXANET_TID_GEN, gen);
}

static void fill(uint8_t *data, size_t len, unsigned seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);

    for (size_t i = 0; i < len; i++) {
        data[i] = g_rand_int(rand);
    }
}

/* A block to context 0 with random data; g_free(data). */
static ExanetBlock new_block(unsigned index, uint64_t va, unsigned len)
{
    uint8_t *data = g_malloc(len);

    fill(data, len, index + va + len);
    return (ExanetBlock) {
        .va = va,
        .data = data,
        .len = len,
        .tid = wire_tid(index, 0),
        .pdid = EXANET_TEST_PDID(0),
    };
}

static void free_block(ExanetBlock *b)
{
    g_free((void *)b->data);
}

static void send_packet(ExanetTest *t, const ExanetBlock *b, unsigned n)
{
    exanet_peer_send_part(t->peer, b, n, n + 1);
}

static void assert_resp(ExanetTest *t, const ExanetBlock *b,
                        enum exanet_resp resp)
{
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, b->tid, b->seq), ==, resp);
}

static void assert_acked(ExanetTest *t, const ExanetBlock *b)
{
    assert_resp(t, b, EXANET_RESP_ACK);
    exanet_assert_mem(t, b->va, b->data, b->len);
}

static void send_acked(ExanetTest *t, const ExanetBlock *b)
{
    exanet_peer_send_block(t->peer, b);
    assert_acked(t, b);
}

/* --- Placement ------------------------------------------------------------- */

static void check_placement(ExanetTest *t, unsigned index, uint64_t va,
                            unsigned len)
{
    ExanetBlock b = new_block(index, va, len);

    qtest_memset(t->qts, va - 64, 0xee, len + 128);
    send_acked(t, &b);
    exanet_assert_byte(t, va - 64, 0xee, 64);
    exanet_assert_byte(t, va + len, 0xee, 64);
    free_block(&b);
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
    /* up to the end of the 16-KB window */
    for (unsigned len = 1; len < 600; len += 7) {
        check_placement(t, index++, DST + BLOCK - len, len);
    }
    g_assert_cmpuint(exanet_count(t, RX_CTX_ALLOC), ==, index);
    g_assert_cmpuint(exanet_count(t, NACK_SENT), ==, 0);
    exanet_stop(t);
}

/* Response fields: the ack goes where the footer says. */
static void test_ack_fields(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(0x2ab, DST, 16);
    ExanetRxPacket *rx;
    ExanetPacket pkt;

    b.tid = wire_tid(0x2ab, 0xd);
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
    free_block(&b);
    exanet_stop(t);
}

static void test_windows(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(1, 0, 1000);
    uint64_t window5 = 5ULL << EXANET_WINDOW_BITS;

    exanet_set64(t, EXANET_CTX(0) + EXANET_CTX_WIN(5), EXANET_WIN_VALID);
    b.va = window5 + DST;
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST, b.data, b.len);
    /* not valid, and valid without memory behind it */
    b.va = (4ULL << EXANET_WINDOW_BITS) + DST;
    b.tid = wire_tid(1, 1);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_DECODE);
    exanet_set64(t, EXANET_CTX(0) + EXANET_CTX_WIN(4),
                 9ULL << EXANET_WINDOW_BITS | EXANET_WIN_VALID);
    b.tid = wire_tid(2, 0);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_DECODE);
    free_block(&b);
    exanet_stop(t);
}

/* What the debug window shows of a block that is half there, then finished. */
static void test_debug(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(77, DST + 256, 10 * 256);
    uint64_t at = 0, key = 0, state;

    b.tid = wire_tid(77, 4);
    b.seq = 5;
    exanet_step(t, 1000);
    send_packet(t, &b, 0);
    send_packet(t, &b, 2);
    send_packet(t, &b, 9);
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
    assert_acked(t, &b);
    g_assert_cmphex(exanet_get64(t, at + 8) & EXANET_RXC_KEY_VALID, ==, 0);
    g_assert_cmphex(exanet_get64(t, EXANET_TOMB_DEBUG), ==, EXANET_TOMB_VALID |
                    RNIC_PREP(EXANET_TOMB_TID, b.tid) |
                    RNIC_PREP(EXANET_TOMB_SRC, EXANET_TEST_PEER) |
                    RNIC_PREP(EXANET_TOMB_SEQ, 5) |
                    RNIC_PREP(EXANET_TOMB_EPOCH, t->peer->epoch));
    g_assert_cmpuint(exanet_get64(t, EXANET_TOMB_DEBUG + 8), ==,
                     exanet_get64(t, EXANET_REG_TIME));
    free_block(&b);
    exanet_stop(t);
}

/* --- Damage ---------------------------------------------------------------- */

enum damage { DAMAGE_HEADER, DAMAGE_PAYLOAD, DAMAGE_FOOTER };

static void send_damaged(ExanetTest *t, const ExanetBlock *b, unsigned n,
                         enum damage where)
{
    ExanetPacket pkt = exanet_block_packet(t->peer, b, n);
    uint8_t buf[EXANET_PACKET_BYTES];
    unsigned words = exanet_peer_encode(buf, &pkt);

    switch (where) {
    case DAMAGE_HEADER:
        buf[3] ^= 0x10;
        break;
    case DAMAGE_PAYLOAD:
        buf[EXANET_WORD_BYTES + 9] ^= 0x01;
        break;
    case DAMAGE_FOOTER:
        buf[(words - 1) * EXANET_WORD_BYTES + 2] ^= 0x80;
        break;
    }
    exanet_peer_words(t->peer, buf, words);
}

static void test_crc(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(3, DST, 4 * 256);
    uint64_t port = EXANET_PORT(0);

    qtest_memset(t->qts, DST, 0, b.len);
    send_packet(t, &b, 0);
    send_damaged(t, &b, 1, DAMAGE_HEADER);
    send_damaged(t, &b, 2, DAMAGE_FOOTER);
    send_packet(t, &b, 3);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, DROP_HEADER_CRC), ==, 1);
    g_assert_cmpuint(exanet_count(t, DROP_FOOTER_CRC), ==, 1);
    g_assert_cmpuint(exanet_get64(t, port + EXANET_REG_PORT_BAD_HEADER), ==, 1);
    g_assert_cmpuint(exanet_get64(t, port + EXANET_REG_PORT_BAD_FOOTER), ==, 1);
    exanet_assert_byte(t, DST + 256, 0, 512);

    /* one NACK for the block, however many packets are bad */
    send_damaged(t, &b, 1, DAMAGE_PAYLOAD);
    assert_resp(t, &b, EXANET_RESP_CRC);
    send_damaged(t, &b, 2, DAMAGE_PAYLOAD);
    send_packet(t, &b, 1);
    send_packet(t, &b, 2);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST + 256, 0, 512);
    g_assert_cmpuint(exanet_count(t, DROP_PAYLOAD_CRC), ==, 2);
    g_assert_cmpuint(exanet_get64(t, port + EXANET_REG_PORT_BAD_PAYLOAD), ==,
                     2);
    b.seq = 1;
    send_acked(t, &b);
    exanet_assert_quiet(t);
    free_block(&b);
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
    g_autoptr(GRand) rand = g_rand_new_with_seed(10);
    unsigned order[EXANET_BLOCK_PACKETS];

    for (unsigned round = 0; round < 8; round++) {
        ExanetBlock b = new_block(round, DST, BLOCK);

        shuffle(order, EXANET_BLOCK_PACKETS, rand);
        /* everything but one, some of it twice */
        for (unsigned i = 1; i < EXANET_BLOCK_PACKETS; i++) {
            send_packet(t, &b, order[i]);
            if (i % 5 == 0) {
                send_packet(t, &b, order[i]);
            }
        }
        exanet_assert_quiet(t);
        send_packet(t, &b, order[0]);
        assert_acked(t, &b);
        /* late duplicates get no second ack */
        send_packet(t, &b, order[0]);
        send_packet(t, &b, order[30]);
        exanet_assert_quiet(t);
        free_block(&b);
    }
    g_assert_cmpuint(exanet_count(t, RX_DUPLICATE), ==, 8 * (12 + 2));
    exanet_stop(t);
}

static void test_sequence(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock old = new_block(9, DST, 3 * 256);
    ExanetBlock b = new_block(9, DST, 3 * 256);

    memset((uint8_t *)old.data, 0x55, old.len);
    send_packet(t, &old, 0);
    send_packet(t, &old, 1);
    /* a newer sequence forgets what was there ... */
    b.seq = 2;
    send_packet(t, &b, 2);
    exanet_assert_quiet(t);
    send_packet(t, &b, 0);
    exanet_settle(t);
    /* ... and an older one is not even written */
    old.seq = 1;
    exanet_peer_send_block(t->peer, &old);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 3);
    send_packet(t, &b, 1);
    assert_acked(t, &b);
    free_block(&b);
    free_block(&old);
    exanet_stop(t);
}

/* --- At least once, at most once ------------------------------------------- */

static uint64_t note_info(unsigned len)
{
    return RNIC_PREP(EXANET_CONTROL_LENGTH, len) |
           RNIC_PREP(EXANET_CONTROL_HANDLE, 0x1357);
}

static void note_clear(ExanetTest *t)
{
    qtest_memset(t->qts, NOTE, 0, sizeof(struct exanet_notification));
}

static void assert_note(ExanetTest *t, uint64_t pa, uint64_t data, unsigned len)
{
    g_assert_cmphex(qtest_readq(t->qts, pa), ==, data);
    g_assert_cmphex(qtest_readq(t->qts, pa + 8), ==,
                    EXANET_NOTIFICATION_VALID |
                    RNIC_PREP(EXANET_NOTIFICATION_LENGTH, len) |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, 0x1357));
}

static void send_note(ExanetTest *t, const ExanetBlock *b, uint64_t data)
{
    exanet_peer_send_control(t->peer, b, exanet_gva(EXANET_TEST_NODE, NOTE),
                             data, note_info(b->len));
}

static void test_lost_ack(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(12, DST, 700);

    b.notify = true;
    note_clear(t);
    send_note(t, &b, 0xabcdef);
    exanet_peer_send_block(t->peer, &b);
    assert_acked(t, &b);
    assert_note(t, NOTE, 0xabcdef, b.len);

    /* the application has taken the data; the ack got lost */
    qtest_memset(t->qts, DST, 0x77, b.len);
    note_clear(t);
    for (b.seq = 1; b.seq < 4; b.seq++) {
        send_note(t, &b, 0xabcdef);
        assert_resp(t, &b, EXANET_RESP_ACK);
        exanet_peer_send_block(t->peer, &b);
        exanet_assert_quiet(t);
        exanet_assert_byte(t, DST, 0x77, b.len);
        exanet_assert_byte(t, NOTE, 0, 16);
        g_assert_cmpuint(exanet_count(t, RX_REACK), ==, b.seq);
    }
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 1);
    free_block(&b);
    exanet_stop(t);
}

/*
 * The scenario of the model check: the TID has a new block while packets of
 * the old one are still under way.  Returns whether the new block was
 * completed by an old packet.
 */
static bool reuse_scenario(ExanetTest *t)
{
    bool strict = exanet_get32(t, EXANET_REG_CTRL) & EXANET_CTRL_STRICT;
    ExanetBlock a = new_block(21, DST, 512);
    ExanetBlock b = new_block(21, DST, 512);
    bool completed, overwritten;
    uint8_t have[512];

    memset((uint8_t *)a.data, 0xaa, a.len);
    memset((uint8_t *)b.data, 0xbb, b.len);
    b.tid = strict ? a.tid : wire_tid(21, 1);
    exanet_peer_send_block(t->peer, &a);
    assert_acked(t, &a);
    send_packet(t, &b, 0);
    exanet_settle(t);
    send_packet(t, &a, 1);      /* the network's duplicate, late */
    exanet_settle(t);
    exanet_pump(t);
    completed = !g_queue_is_empty(&t->peer->packets);
    if (completed) {
        assert_resp(t, &b, EXANET_RESP_ACK);
        qtest_bufread(t->qts, DST, have, sizeof(have));
        g_assert_cmphex(have[0], ==, 0xbb);
        g_assert_cmphex(have[511], ==, 0xaa);
    }
    send_packet(t, &b, 1);
    if (!completed) {
        assert_acked(t, &b);
    }
    /* the application changes what it got; a late packet comes */
    qtest_memset(t->qts, DST, 0x11, 512);
    send_packet(t, &a, 0);
    exanet_settle(t);
    qtest_bufread(t->qts, DST, have, sizeof(have));
    overwritten = have[0] != 0x11;
    g_assert_cmpint(overwritten, ==, completed);
    free_block(&a);
    free_block(&b);
    return completed;
}

static void test_tid_reuse(void)
{
    ExanetTest *t = exanet_start("");

    g_assert_false(reuse_scenario(t));
    /* of the block that was finished last; then of the one before */
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

/* Strict: the data of an older sequence is ignored, but has been written. */
static void test_old_sequence_strict(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(22, DST, 512);

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    b.seq = 1;
    send_packet(t, &b, 0);
    exanet_settle(t);
    qtest_memset(t->qts, DST, 0x11, 256);
    b.seq = 0;
    send_packet(t, &b, 0);
    exanet_settle(t);
    exanet_assert_mem(t, DST, b.data, 256);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 1);
    b.seq = 1;
    send_packet(t, &b, 1);
    assert_resp(t, &b, EXANET_RESP_ACK);
    free_block(&b);
    exanet_stop(t);
}

/* All generations of a TID in turn, three times round. */
static void test_generations(void)
{
    ExanetTest *t = exanet_start("");

    for (unsigned g = 0; g < 48; g++) {
        ExanetBlock b = new_block(30, DST, 300);

        b.tid = wire_tid(30, g % 16);
        b.seq = g % 3;
        fill((uint8_t *)b.data, b.len, g);
        send_acked(t, &b);
        /* the block before comes again */
        b.tid = wire_tid(30, (g - 1) % 16);
        if (g) {
            exanet_peer_send_block(t->peer, &b);
            exanet_assert_quiet(t);
        }
        free_block(&b);
    }
    exanet_stop(t);
}

/* A new epoch of the source: nothing of before counts. */
static void test_epoch(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(31, DST, 300), half = new_block(32, DST, 600);

    send_acked(t, &b);
    send_packet(t, &half, 0);
    exanet_settle(t);
    t->peer->epoch++;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, t->peer->heard);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    /* same TID, generation and sequence, yet a new block */
    fill((uint8_t *)b.data, b.len, 1234);
    send_acked(t, &b);
    send_packet(t, &half, 1);
    send_packet(t, &half, 2);
    exanet_assert_quiet(t);
    send_packet(t, &half, 0);
    assert_acked(t, &half);
    /* packets with the old epoch are of a node that no longer is */
    t->peer->epoch--;
    send_packet(t, &half, 0);
    exanet_assert_quiet(t);
    t->peer->epoch++;
    b.seq = 1;
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, RX_REACK), ==, 1);
    free_block(&b);
    free_block(&half);
    exanet_stop(t);
}

/* --- No context ------------------------------------------------------------ */

static unsigned rx_set(unsigned tid)
{
    unsigned src = EXANET_TEST_PEER;

    return (tid ^ tid >> 4 ^ src ^ src >> 4 ^ src >> 8 ^ src >> 12) & 15;
}

/* TIDs of one set. */
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
        b[i] = new_block(tids[i], DST + i * BLOCK, 512);
        send_packet(t, &b[i], 0);
        exanet_settle(t);
    }
    assert_resp(t, &b[ways], EXANET_RESP_NO_CONTEXT);
    /* once for the block */
    send_packet(t, &b[ways], 1);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_CTX_FULL), ==, 2);
    b[ways].seq = 1;
    exanet_peer_send_block(t->peer, &b[ways]);
    assert_resp(t, &b[ways], EXANET_RESP_NO_CONTEXT);
    for (unsigned i = 0; i < ways; i++) {
        send_packet(t, &b[i], 1);
        assert_acked(t, &b[i]);
    }
    b[ways].seq = 2;
    send_acked(t, &b[ways]);
    for (unsigned i = 0; i <= ways; i++) {
        free_block(&b[i]);
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

    fill(data, 512, 1);
    for (unsigned i = 0; i <= EXANET_RX_CONTEXTS; i++) {
        b.tid = i;
        b.va = DST + i * BLOCK;
        send_packet(t, &b, 0);
    }
    assert_resp(t, &b, EXANET_RESP_NO_CONTEXT);
    exanet_assert_quiet(t);
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        b.tid = i;
        b.va = DST + i * BLOCK;
        send_packet(t, &b, 1);
        assert_acked(t, &b);
    }
    b.tid = EXANET_RX_CONTEXTS;
    b.va = DST + EXANET_RX_CONTEXTS * BLOCK;
    b.seq = 1;
    send_acked(t, &b);
    exanet_stop(t);
}

/* Blocks that nobody finishes do not hold their contexts for ever. */
static void test_ageing(void)
{
    ExanetTest *t = exanet_start("");
    unsigned tids[EXANET_RX_WAYS + 1];
    ExanetBlock b;

    collide(tids, ARRAY_SIZE(tids));
    for (unsigned i = 0; i < EXANET_RX_WAYS; i++) {
        b = new_block(tids[i], DST, 512);
        send_packet(t, &b, 0);
        exanet_settle(t);
        free_block(&b);
    }
    exanet_step(t, EXANET_MS);
    b = new_block(tids[EXANET_RX_WAYS], DST, 512);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_NO_CONTEXT);
    exanet_step(t, 600000 * EXANET_MS);
    b.seq = 1;
    send_acked(t, &b);
    g_assert_cmpuint(exanet_count(t, RX_CTX_EVICT), ==, 1);
    free_block(&b);
    exanet_stop(t);
}

/* --- Destination faults ---------------------------------------------------- */

static ExanetTest *start_x86(ExanetTables *tb)
{
    ExanetTest *t = exanet_start("");

    exanet_close(t, 1);
    exanet_tables_init(tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(tb, 1);
    return t;
}

static void test_fault(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock b = new_block(40, FAULT_VA + 4096 - 300, 600);
    struct exanet_fault f;

    b.pdid = EXANET_TEST_PDID(1);
    b.tid = wire_tid(40, 2);
    b.seq = 7;
    exanet_tables_map(&tb, FAULT_VA, DST, 0, EXANET_MAP_RW);
    exanet_step(t, 5000);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_FAULT);
    exanet_assert_quiet(t);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, FAULT_VA + 4096);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_CTX, f.info), ==, 1);
    g_assert_true(f.info & EXANET_FAULT_WRITE);
    g_assert_true(f.info & EXANET_FAULT_DST);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==, EXANET_FAULT_RDMA);
    g_assert_cmphex(RNIC_GET(EXANET_FAULT_TID, f.info), ==, b.tid);
    g_assert_cmphex(RNIC_GET(EXANET_FAULT_COORD, f.info), ==, EXANET_TEST_PEER);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_SEQ, f.info), ==, 7);
    g_assert_cmpuint(f.left, >=, 300);
    g_assert_cmpuint(f.time, ==, exanet_get64(t, EXANET_REG_TIME));
    g_assert_cmpuint(RNIC_GET(EXANET_CTX_STATUS_FAULTS,
                              exanet_get32(t, EXANET_CTX(1) +
                                           EXANET_REG_CTX_STATUS)), ==, 1);
    /* sent again before it is resolved: another NACK, no second entry */
    b.seq = 8;
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_FAULT);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 0);
    exanet_tables_map(&tb, FAULT_VA + 4096, DST + 4096, 0, EXANET_MAP_RW);
    exanet_fault_resolve(t, &f, true);
    assert_resp(t, &b, EXANET_RESP_RESOLVED);
    g_assert_cmpuint(RNIC_GET(EXANET_CTX_STATUS_FAULTS,
                              exanet_get32(t, EXANET_CTX(1) +
                                           EXANET_REG_CTX_STATUS)), ==, 0);
    b.seq = 9;
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST + 4096 - 300, b.data, b.len);
    exanet_assert_quiet(t);
    free_block(&b);
    exanet_stop(t);
}

static void test_fault_bad(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock b = new_block(41, FAULT_VA, 600);
    struct exanet_fault f;

    b.pdid = EXANET_TEST_PDID(1);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_FAULT);
    f = exanet_fault_take(t);
    exanet_fault_resolve(t, &f, false);
    assert_resp(t, &b, EXANET_RESP_DECODE);
    /* a RESOLVE that nobody waits for does nothing */
    exanet_fault_resolve(t, &f, true);
    exanet_set64(t, EXANET_FAULT + EXANET_REG_FAULT_RESOLVE, ~0ULL);
    exanet_set32(t, EXANET_FAULT + EXANET_REG_FAULT_POP, 1);
    exanet_assert_quiet(t);
    free_block(&b);
    exanet_stop(t);
}

/* Two blocks on one page: one entry, both are told. */
static void test_fault_shared(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock a = new_block(42, FAULT_VA, 64);
    ExanetBlock b = new_block(43, FAULT_VA + 64, 64);
    struct exanet_fault f;

    a.pdid = b.pdid = EXANET_TEST_PDID(1);
    exanet_peer_send_block(t->peer, &a);
    assert_resp(t, &a, EXANET_RESP_FAULT);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_FAULT);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 1);
    f = exanet_fault_take(t);
    exanet_tables_map(&tb, FAULT_VA, DST, 0, EXANET_MAP_RW);
    exanet_fault_resolve(t, &f, true);
    assert_resp(t, &a, EXANET_RESP_RESOLVED);
    assert_resp(t, &b, EXANET_RESP_RESOLVED);
    a.seq = b.seq = 1;
    exanet_peer_send_block(t->peer, &a);
    assert_resp(t, &a, EXANET_RESP_ACK);
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST, a.data, 64);
    exanet_assert_mem(t, DST + 64, b.data, 64);
    free_block(&a);
    free_block(&b);
    exanet_stop(t);
}

/* More faults than the FIFO holds: the flag, and nobody else suffers. */
static void test_fault_overflow(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    g_autofree uint8_t *data = g_malloc0(64);
    ExanetBlock ok = new_block(1000, DST, 300);
    unsigned count;

    for (unsigned i = 0; i < EXANET_FAULTS + 50; i++) {
        ExanetBlock b = {
            .data = data, .len = 64, .pdid = EXANET_TEST_PDID(1),
            /* few TIDs: every one that waits holds a receiver context */
            .tid = i % 128, .seq = i / 128, .va = FAULT_VA + i * 4096,
        };

        exanet_peer_send_block(t->peer, &b);
        assert_resp(t, &b, EXANET_RESP_FAULT);
    }
    count = exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT);
    g_assert_cmpuint(count, >, EXANET_FAULTS / 2);
    g_assert_cmpuint(count, <=, EXANET_FAULTS);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW),
                     ==, 1);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                  EXANET_IRQ_FAULT_OVERFLOW);
    send_acked(t, &ok);
    exanet_set32(t, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW, 1);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW),
                     ==, 0);
    for (unsigned i = 0; i < count; i++) {
        struct exanet_fault f = exanet_fault_take(t);

        exanet_fault_resolve(t, &f, false);
    }
    for (unsigned i = 0; i < count; i++) {
        g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_ACK));
    }
    exanet_assert_quiet(t);
    g_assert_cmphex(exanet_get32(t, EXANET_CTX(1) + EXANET_REG_CTX_STATUS) &
                    EXANET_CTX_STATUS_FAULTS, ==, 0);
    free_block(&ok);
    exanet_stop(t);
}

/* --- Control packets and notifications ------------------------------------- */

static void test_control_order(void)
{
    ExanetTest *t = exanet_start("");

    /* before, between, and after the data */
    for (unsigned at = 0; at <= 3; at++) {
        ExanetBlock b = new_block(50 + at, DST + 100, 600);

        b.notify = true;
        note_clear(t);
        for (unsigned n = 0; n < exanet_block_packets(&b); n++) {
            if (n == at) {
                send_note(t, &b, 0xfeed0000 + at);
            }
            send_packet(t, &b, n);
        }
        if (at == 3) {
            exanet_assert_quiet(t);
            exanet_assert_byte(t, NOTE, 0, 16);
            send_note(t, &b, 0xfeed0000 + at);
        }
        assert_acked(t, &b);
        assert_note(t, NOTE, 0xfeed0000 + at, b.len);
        free_block(&b);
    }
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 4);
    g_assert_cmpuint(exanet_count(t, RX_CONTROL), ==, 4);
    exanet_stop(t);
}

static void test_control_sequence(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(55, DST, 300), newer;

    b.notify = true;
    newer = b;
    newer.seq = 2;
    note_clear(t);
    exanet_peer_send_part(t->peer, &b, 0, 1);
    /* a newer control packet flushes the data ... */
    send_note(t, &newer, 2);
    send_packet(t, &newer, 1);
    exanet_assert_quiet(t);
    /* ... and an older one is ignored */
    b.seq = 1;
    send_note(t, &b, 1);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 1);
    send_packet(t, &newer, 0);
    assert_acked(t, &newer);
    assert_note(t, NOTE, 2, b.len);
    free_block(&b);
    exanet_stop(t);
}

/* What control packets can say wrongly; code 8 unless said otherwise. */
static void check_bad_control(ExanetTest *t, unsigned index, uint64_t target,
                              unsigned pdid, int length_error,
                              enum exanet_resp resp)
{
    ExanetBlock b = new_block(index, DST, 300), said;

    b.notify = true;
    said = b;
    said.len += length_error;
    note_clear(t);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_quiet(t);
    said.pdid = pdid;
    if (pdid == b.pdid) {
        exanet_peer_send_control(t->peer, &said, target, 1, note_info(300));
    } else {
        /* P3 names another target than the header */
        struct exanet_control c = {
            .target = cpu_to_le64(target), .info = cpu_to_le64(note_info(300)),
            .block = cpu_to_le64(RNIC_PREP(EXANET_CONTROL_OFFSET, b.va) |
                                 RNIC_PREP(EXANET_CONTROL_BLOCK, b.len) |
                                 RNIC_PREP(EXANET_CONTROL_PDID, pdid)),
        };
        ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

        pkt.type = EXANET_TYPE_CONTROL;
        pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
        pkt.size = sizeof(c);
        pkt.payload = (uint8_t *)&c;
        pkt.first = pkt.last = false;
        exanet_peer_send(t->peer, &pkt);
    }
    assert_resp(t, &b, resp);
    exanet_assert_byte(t, NOTE, 0, 32);
    exanet_assert_quiet(t);
    free_block(&b);
}

static void test_bad_control(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t note = exanet_gva(EXANET_TEST_NODE, NOTE);
    uint16_t own = EXANET_TEST_PDID(0);
    ExanetBlock b = new_block(90, DST, 300);
    ExanetPacket pkt;

    /* misaligned, no memory, no window, no peripheral for it */
    check_bad_control(t, 80, note + 8, own, 0, EXANET_RESP_MALFORMED);
    check_bad_control(t, 81, exanet_gva(EXANET_TEST_NODE, EXANET_NO_RAM), own,
                      0, EXANET_RESP_DECODE);
    check_bad_control(t, 82, note | 3ULL << EXANET_WINDOW_BITS, own, 0,
                      EXANET_RESP_DECODE);
    check_bad_control(t, 83, exanet_gva(EXANET_TEST_NODE, EXANET_NI_VA(0)), own,
                      0, EXANET_RESP_DECODE);
    /* the block is not the one that came */
    check_bad_control(t, 84, note, own, 1, EXANET_RESP_MALFORMED);
    check_bad_control(t, 85, note, own, -100, EXANET_RESP_MALFORMED);
    check_bad_control(t, 86, note, own, -300, EXANET_RESP_MALFORMED);
    /* another job, and a context that is not open */
    check_bad_control(t, 87, note, own ^ 0x10, 0, EXANET_RESP_PROTECTION);
    check_bad_control(t, 88, note, EXANET_TEST_PDID(9), 0,
                      EXANET_RESP_PROTECTION);
    /* wrong length of the packet itself */
    pkt = exanet_block_packet(t->peer, &b, 0);
    pkt.type = EXANET_TYPE_CONTROL;
    pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    pkt.size = 16;
    exanet_peer_send(t->peer, &pkt);
    assert_resp(t, &b, EXANET_RESP_MALFORMED);
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 0);
    free_block(&b);
    exanet_stop(t);
}

static void test_notify_mailbox(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(60, DST, 300);
    struct exanet_message m;

    exanet_mailbox_open(t, 0, 2, EXANET_RAM_RING, 2, 0);
    b.notify = true;
    exanet_step(t, 4242);
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE,
                             EXANET_NI_VA(EXANET_NI_MAILBOX) |
                             RNIC_PREP(EXANET_VA_MAILBOX, 2)), 0x1122334455ULL,
                             note_info(300));
    exanet_peer_send_block(t->peer, &b);
    assert_acked(t, &b);
    m = exanet_message_read(t, EXANET_RAM_RING, 0);
    g_assert_cmphex(m.data, ==, 0x1122334455ULL);
    g_assert_cmphex(ldq_le_p(m.payload), ==, 0x1122334455ULL);
    g_assert_cmphex(ldq_le_p(m.payload + 8), ==, EXANET_NOTIFICATION_VALID |
                    RNIC_PREP(EXANET_NOTIFICATION_LENGTH, 300) |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, 0x1357));
    g_assert_cmpuint(RNIC_GET(EXANET_MESSAGE_TYPE, m.origin), ==,
                     EXANET_TYPE_NOTIFY);
    g_assert_cmpuint(RNIC_GET(EXANET_MESSAGE_SIZE, m.origin), ==,
                     sizeof(struct exanet_notification));
    g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_COORD, m.origin), ==,
                    EXANET_TEST_PEER);
    g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_PDID, m.origin), ==,
                    EXANET_TEST_PDID(0));
    g_assert_cmpuint(m.time, ==, exanet_get64(t, EXANET_REG_TIME));
    g_assert_cmpuint(m.phase & 1, ==, 1);
    g_assert_cmpuint(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 0);
    free_block(&b);
    exanet_stop(t);
}

static void test_notify_irq(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(61, DST, 300);

    exanet_msix_enable(t);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    b.notify = true;
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE, NOTE), 1,
                             note_info(300) | EXANET_CONTROL_IRQ);
    exanet_peer_send_block(t->peer, &b);
    assert_acked(t, &b);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_CONTEXT(0)));
    g_assert_cmphex(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 1);
    exanet_set32(t, EXANET_REG_MBOX_PENDING, 1);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_MAILBOX,
                    ==, 0);
    free_block(&b);
    exanet_stop(t);
}

/* The notification cannot be stored: the block is not acked until it can. */
static void test_notify_fault(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock b = new_block(62, FAULT_VA, 300);
    uint64_t note_va = FAULT_VA + 0x100000;
    struct exanet_fault f;

    exanet_tables_map(&tb, FAULT_VA, DST, 0, EXANET_MAP_RW);
    b.pdid = EXANET_TEST_PDID(1);
    b.notify = true;
    exanet_peer_send_block(t->peer, &b);
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE, note_va),
                             9, note_info(300));
    assert_resp(t, &b, EXANET_RESP_FAULT);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, note_va);
    exanet_tables_map(&tb, note_va, NOTE, 0, EXANET_MAP_RW);
    note_clear(t);
    exanet_fault_resolve(t, &f, true);
    assert_resp(t, &b, EXANET_RESP_RESOLVED);
    b.seq = 1;
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE, note_va),
                             9, note_info(300));
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_ACK);
    assert_note(t, NOTE, 9, 300);
    /* full mailbox: code 6, the same way */
    b.tid = wire_tid(62, 1);
    exanet_peer_send_block(t->peer, &b);
    exanet_peer_send_control(t->peer, &b,
                             exanet_gva(EXANET_TEST_NODE,
                                        EXANET_NI_VA(EXANET_NI_MAILBOX)),
                             9, note_info(300));
    assert_resp(t, &b, EXANET_RESP_FULL);
    free_block(&b);
    exanet_stop(t);
}

/* A notification packet and its answer. */
static void assert_report(ExanetTest *t, const ExanetPacket *pkt,
                          enum exanet_resp resp)
{
    exanet_peer_send(t->peer, pkt);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, pkt->tid, pkt->seq), ==,
                     resp);
}

/* A notification packet from the peer, and one for the peer. */
static void test_notify_packet(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(63, DST, 300);
    struct exanet_notification n = {
        .data = cpu_to_le64(0x55), .status = cpu_to_le64(1ULL << 63),
    };
    ExanetPacket pkt = {
        .type = EXANET_TYPE_NOTIFY, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(0), .va = NOTE, .size = sizeof(n),
        .payload = (uint8_t *)&n, .first = true, .last = true,
    };

    note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readq(t->qts, NOTE + 8), ==, n.status);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, n.data);
    /* the ack was lost: once only */
    note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, MSG_DUPLICATE), ==, 1);
    exanet_assert_byte(t, NOTE, 0, 16);
    /* the same number, but another one */
    n.data++;
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, n.data);
    /* so many others that it is forgotten */
    for (unsigned i = 0; i < 128; i++) {
        pkt.tid++;
        assert_report(t, &pkt, EXANET_RESP_ACK);
    }
    pkt.tid -= 128;
    note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, n.data);
    /* malformed: wrong size, other job, no memory */
    note_clear(t);
    pkt.tid = 1000;
    pkt.size = 8;
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_quiet(t);
    pkt.size = 16;
    pkt.pdid ^= 0x10;
    assert_report(t, &pkt, EXANET_RESP_PROTECTION);
    pkt.pdid ^= 0x10;
    pkt.va = EXANET_NO_RAM;
    assert_report(t, &pkt, EXANET_RESP_DECODE);
    exanet_assert_byte(t, NOTE, 0, 16);
    /* mailbox full: refused until there is room, and then delivered */
    pkt.va = EXANET_NI_VA(EXANET_NI_MAILBOX);
    assert_report(t, &pkt, EXANET_RESP_FULL);

    b.notify = true;
    exanet_peer_send_block(t->peer, &b);
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_PEER, 0x1000),
                             0x66, note_info(300));
    /* a notification for another node than the one that can vouch for it */
    assert_resp(t, &b, EXANET_RESP_DECODE);
    free_block(&b);
    exanet_stop(t);
}

/* --- Protection and malformed packets -------------------------------------- */

static void test_protection(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(70, DST, 300);
    struct { unsigned tid; uint16_t pdid; } refused[] = {
        { 70, EXANET_TEST_PDID(0) ^ 0x10 },     /* other job */
        { 71, EXANET_TEST_PDID(5) },            /* not open */
        { 72, 0 },                              /* job 0 is nobody */
    };

    qtest_memset(t->qts, DST, 0, 300);
    for (unsigned i = 0; i < ARRAY_SIZE(refused); i++) {
        b.tid = refused[i].tid;
        b.pdid = refused[i].pdid;
        exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_PROTOCOL);
        exanet_peer_send_block(t->peer, &b);
        assert_resp(t, &b, EXANET_RESP_PROTECTION);
        exanet_assert_quiet(t);
        g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                      EXANET_IRQ_PROTOCOL);
    }
    /* each block has two packets */
    g_assert_cmpuint(exanet_count(t, DROP_PROTECTION), ==, 6);
    /* a context that leaves in the middle of a block */
    b.tid = 73;
    b.pdid = EXANET_TEST_PDID(1);
    send_packet(t, &b, 0);
    exanet_settle(t);
    exanet_close(t, 1);
    qtest_memset(t->qts, DST, 0, 300);
    send_packet(t, &b, 1);
    assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 300);
    /* and is somebody else's when the rest comes */
    exanet_open(t, 1, EXANET_TEST_JOB + 1, EXANET_FORMAT_IDENTITY, 0);
    b.seq = 1;
    exanet_peer_send_block(t->peer, &b);
    assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 300);
    free_block(&b);
    exanet_stop(t);
}

/* One block, two PDIDs. */
static void test_mixed_pdid(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(74, DST, 512);

    send_packet(t, &b, 0);
    exanet_settle(t);
    qtest_memset(t->qts, DST, 0, 512);
    b.pdid = EXANET_TEST_PDID(1);
    send_packet(t, &b, 1);
    assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 512);
    free_block(&b);
    exanet_stop(t);
}

static void test_malformed_block(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(75, DST, 1024);
    ExanetPacket pkt;

    /* two windows in one block */
    send_packet(t, &b, 0);
    pkt = exanet_block_packet(t->peer, &b, 1);
    pkt.va += BLOCK;
    exanet_peer_send(t->peer, &pkt);
    assert_resp(t, &b, EXANET_RESP_MALFORMED);
    /* the last packet lies before the first */
    b.tid = 76;
    pkt = exanet_block_packet(t->peer, &b, 3);
    pkt.last = false;
    pkt.first = true;
    exanet_peer_send(t->peer, &pkt);
    pkt = exanet_block_packet(t->peer, &b, 1);
    pkt.last = true;
    exanet_peer_send(t->peer, &pkt);
    assert_resp(t, &b, EXANET_RESP_MALFORMED);
    exanet_assert_quiet(t);
    free_block(&b);
    exanet_stop(t);
}

/* Everything that no user can send, from the cable [P 2.5]. */
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
    ExanetBlock b = new_block(78, DST, 300);
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

    qtest_memset(t->qts, DST, 0, 300);
    pkt.dst = EXANET_TEST_ELSEWHERE;
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_NO_ROUTE) == 1);
    pkt.dst = EXANET_TEST_NODE ^ 1 << 14;       /* upper bits */
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_NO_ROUTE) == 2);
    pkt.dst = EXANET_TEST_NODE;
    pkt.src = EXANET_TEST_ELSEWHERE;
    exanet_peer_send(t->peer, &pkt);
    pkt.src = EXANET_TEST_NODE;                 /* our own */
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_SOURCE) == 2);
    exanet_set32(t, EXANET_REG_CTRL, 0);
    pkt.src = EXANET_TEST_PEER;
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_DISABLED) == 1);
    exanet_assert_quiet(t);
    exanet_assert_byte(t, DST, 0, 300);
    free_block(&b);
    exanet_stop(t);
}

/* --- Everything at once ---------------------------------------------------- */

#define STORM_BLOCKS 120

typedef struct Storm {
    ExanetBlock b[STORM_BLOCKS];
    bool done[STORM_BLOCKS];
    GRand *rand;
} Storm;

/* Sends all packets of the open blocks in random order, one in ten lost. */
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
            send_packet(t, &s->b[x >> 8], x & 0xff);
        }
        if (g_rand_int_range(s->rand, 0, 20) == 0) {
            send_damaged(t, &s->b[x >> 8], x & 0xff,
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
    Storm s = { .rand = g_rand_new_with_seed(99) };
    unsigned open = STORM_BLOCKS;

    for (unsigned i = 0; i < STORM_BLOCKS; i++) {
        unsigned len = g_rand_int_range(s.rand, 1, 3000);

        s.b[i] = new_block(i, DST + i * BLOCK +
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
        free_block(&s.b[i]);
    }
    g_rand_free(s.rand);
    exanet_stop(t);
}

/* Packets with good CRCs and random contents, from a node gone mad. */
static void test_random_packets(void)
{
    ExanetTest *t = exanet_start("");
    g_autoptr(GRand) rand = g_rand_new_with_seed(1717);
    static const uint8_t types[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
        EXANET_TYPE_NOTIFY, EXANET_TYPE_ACK,
    };
    uint8_t payload[256];
    ExanetBlock b = new_block(0, DST, 5000);

    for (unsigned i = 0; i < 20000; i++) {
        bool near = g_rand_boolean(rand);
        ExanetPacket pkt = {
            .type = types[g_rand_int_range(rand, 0, 5)],
            .dst = EXANET_TEST_NODE, .src = EXANET_TEST_PEER,
            .va = near ? DST + g_rand_int_range(rand, 0, 1 << 20) :
                  g_rand_boolean(rand) ?
                  EXANET_NI_VA(g_rand_int_range(rand, 0, 6)) :
                  ((uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)) &
                  EXANET_GVA_VA,
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
        for (unsigned p = 0; p < sizeof(payload); p += 4) {
            stl_le_p(payload + p, g_rand_int(rand));
        }
        if (g_rand_int_range(rand, 0, 50) == 0) {
            pkt.epoch = g_rand_int(rand);
        }
        exanet_peer_send(t->peer, &pkt);
        exanet_peer_poll(t->peer, 0);
    }
    exanet_settle(t);
    exanet_settle(t);
    /* a node with a new life starts cleanly */
    t->peer->epoch ^= 0xff;
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    exanet_settle(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    send_acked(t, &b);
    free_block(&b);
    exanet_stop(t);
}

/* The node gets other coordinates: peers count generations for it anew. */
static void test_renamed(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(5, DST, 600);

    send_acked(t, &b);
    free_block(&b);
    exanet_set32(t, EXANET_REG_NODE, 0x2a2a2);
    exanet_wait(t, t->peer->node == 0x2a2a2);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    /* the same TID and generation, and yet not the same block */
    b = new_block(5, DST, 600);
    b.data = memset((uint8_t *)b.data, 0x5c, b.len);
    b.seq = 1;
    exanet_peer_send_block(t->peer, &b);
    assert_acked(t, &b);
    exanet_assert_mem(t, DST, b.data, b.len);
    free_block(&b);
    exanet_stop(t);
}

/* Half of a block is in the memory of a process that has gone. */
static void test_next_owner(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = new_block(5, DST, 512);

    send_packet(t, &b, 0);
    exanet_close(t, 0);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    send_packet(t, &b, 1);
    exanet_assert_quiet(t);
    b.seq = 1;
    send_acked(t, &b);
    free_block(&b);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/receiver/t03-alignment", test_alignment);
    qtest_add_func("/exanet/receiver/ack-fields", test_ack_fields);
    qtest_add_func("/exanet/receiver/windows", test_windows);
    qtest_add_func("/exanet/receiver/debug", test_debug);
    qtest_add_func("/exanet/receiver/t09-crc", test_crc);
    qtest_add_func("/exanet/receiver/t10-order", test_order);
    qtest_add_func("/exanet/receiver/t11-sequence", test_sequence);
    qtest_add_func("/exanet/receiver/t12-lost-ack", test_lost_ack);
    qtest_add_func("/exanet/receiver/t13-tid-reuse", test_tid_reuse);
    qtest_add_func("/exanet/receiver/t13-tid-reuse-strict",
                   test_tid_reuse_strict);
    qtest_add_func("/exanet/receiver/t13-old-sequence-strict",
                   test_old_sequence_strict);
    qtest_add_func("/exanet/receiver/t13-generations", test_generations);
    qtest_add_func("/exanet/receiver/t13-epoch", test_epoch);
    qtest_add_func("/exanet/receiver/t14-no-context", test_no_context);
    qtest_add_func("/exanet/receiver/t14-ways", test_ways);
    qtest_add_func("/exanet/receiver/t14-257-blocks", test_257_blocks);
    qtest_add_func("/exanet/receiver/t14-ageing", test_ageing);
    qtest_add_func("/exanet/receiver/t16-fault", test_fault);
    qtest_add_func("/exanet/receiver/t16-fault-bad", test_fault_bad);
    qtest_add_func("/exanet/receiver/t16-fault-shared", test_fault_shared);
    qtest_add_func("/exanet/receiver/t16-fault-overflow", test_fault_overflow);
    qtest_add_func("/exanet/receiver/t19-control-order", test_control_order);
    qtest_add_func("/exanet/receiver/t19-control-sequence",
                   test_control_sequence);
    qtest_add_func("/exanet/receiver/t19-bad-control", test_bad_control);
    qtest_add_func("/exanet/receiver/t20-notify-mailbox", test_notify_mailbox);
    qtest_add_func("/exanet/receiver/t20-notify-irq", test_notify_irq);
    qtest_add_func("/exanet/receiver/t20-notify-fault", test_notify_fault);
    qtest_add_func("/exanet/receiver/t20-notify-packet", test_notify_packet);
    qtest_add_func("/exanet/receiver/t24-protection", test_protection);
    qtest_add_func("/exanet/receiver/t24-mixed-pdid", test_mixed_pdid);
    qtest_add_func("/exanet/receiver/malformed-block", test_malformed_block);
    qtest_add_func("/exanet/receiver/t24-ni-table", test_ni_table);
    qtest_add_func("/exanet/receiver/wrong-nodes", test_wrong_nodes);
    qtest_add_func("/exanet/receiver/storm", test_storm);
    qtest_add_func("/exanet/receiver/random-packets", test_random_packets);
    qtest_add_func("/exanet/receiver/renamed", test_renamed);
    qtest_add_func("/exanet/receiver/t24-next-owner", test_next_owner);
    return g_test_run();
}
