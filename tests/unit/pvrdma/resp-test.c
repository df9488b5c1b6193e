/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responder of pvrdma and a correct peer, on a wire that loses and repeats packets:
 * gaps, duplicates, and requests that wait for receive WQEs.
 */
#include "resp-device.h"

#define RETH(at, len) .va = BED_VA + (at), .rkey = BED_KEY, .dma_len = (len)
#define ATOMIC(at) .va = BED_VA + (at), .rkey = BED_KEY

static uint64_t word_at(Bed *bed, uint32_t at)
{
    return ldq_le_p(bed->mem + at);
}

static void expect_atomic(Bed *bed, uint32_t psn, uint64_t original, uint32_t msn)
{
    g_autofree BedSent *sent = NULL;

    bed_run(bed);
    sent = bed_sent(bed);
    g_assert_cmphex(sent->pkt.opcode, ==, ROCE_OP_ATOMIC_ACK);
    g_assert_cmphex(sent->pkt.psn, ==, psn & ROCE_PSN_MASK);
    g_assert_cmphex(sent->pkt.original, ==, original);
    g_assert_cmpuint(sent->pkt.msn, ==, msn);
}

/* --- Messages ------------------------------------------------------------- */
static void test_send(void)
{
    Bed *bed = bed_new();
    g_autofree PvrdmaWc *wc = NULL;

    bed_receive(bed, 1, 100);
    PEER(bed, SEND_ONLY, BED_PSN, .payload_len = 100, .ack_req = true,
         .solicited = true);
    wc = bed_wc(bed);
    g_assert_cmpuint(wc->status, ==, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(wc->opcode, ==, PVRDMA_WC_RECV);
    g_assert_cmpuint(wc->byte_len, ==, 100);
    g_assert_cmphex(wc->src_qp, ==, BED_PEER_QPN);
    g_assert_cmphex(wc->flags, ==, 0);
    g_assert_true(wc->solicited);
    for (unsigned i = 0; i < 100; i++) {
        g_assert_cmphex(bed->buffer[0][i], ==, bed_byte(BED_PSN, i));
    }
    EXPECT_ACK(bed, BED_PSN, 1);
    bed_free(bed);
}

/* Scatter elements end in the middle of packets, and the last packet is short. */
static void test_send_long(void)
{
    Bed *bed = bed_new();
    g_autofree PvrdmaWc *wc = NULL;

    bed_receive(bed, 7, 100);
    PEER(bed, SEND_FIRST, BED_PSN, .payload_len = BED_MTU);
    PEER(bed, SEND_MIDDLE, BED_PSN + 1, .payload_len = BED_MTU);
    g_assert_cmpuint(bed->wc.length, ==, 0);
    PEER(bed, SEND_LAST_IMM, BED_PSN + 2, .payload_len = 99, .ack_req = true,
         .imm = cpu_to_be32(0x01020304));
    wc = bed_wc(bed);
    g_assert_cmpuint(wc->byte_len, ==, 2 * BED_MTU + 99);
    g_assert_cmphex(wc->flags, ==, PVRDMA_WC_WITH_IMM);
    g_assert_cmphex(wc->imm, ==, cpu_to_be32(0x01020304));
    g_assert_false(wc->solicited);
    for (unsigned i = 0; i < wc->byte_len; i++) {
        g_assert_cmphex(bed->buffer[0][i], ==,
                        bed_byte((BED_PSN + i / BED_MTU) & ROCE_PSN_MASK,
                                 i % BED_MTU));
    }
    EXPECT_ACK(bed, BED_PSN + 2, 1);
    bed_free(bed);
}

static void test_send_invalidate(void)
{
    Bed *bed = bed_new();
    g_autofree PvrdmaWc *wc = NULL;

    bed_receive(bed, 1, 8);
    PEER(bed, SEND_ONLY_INV, BED_PSN, .payload_len = 8, .inv_rkey = BED_KEY);
    wc = bed_wc(bed);
    g_assert_cmpuint(wc->status, ==, PVRDMA_WC_SUCCESS);
    g_assert_cmphex(wc->flags, ==, PVRDMA_WC_WITH_INVALIDATE);
    g_assert_cmphex(le32_to_cpu(wc->imm), ==, BED_KEY);
    g_assert_cmphex(bed->invalidated, ==, BED_KEY);
    bed_expect_quiet(bed);              /* no packet has requested an acknowledgement */
    bed_free(bed);
}

static void test_write(void)
{
    Bed *bed = bed_new();
    g_autofree PvrdmaWc *wc = NULL;

    PEER(bed, WRITE_ONLY, BED_PSN, RETH(5, 33), .payload_len = 33);
    bed_expect_memory(bed, BED_VA + 5, BED_PSN, 0, 33);
    g_assert_cmpuint(bed->s.silent_writes, ==, 1);
    PEER(bed, WRITE_FIRST, BED_PSN + 1, RETH(1000, 2 * BED_MTU + 1),
         .payload_len = BED_MTU);
    PEER(bed, WRITE_MIDDLE, BED_PSN + 2, .payload_len = BED_MTU);
    bed_receive(bed, 1, 1);
    PEER(bed, WRITE_LAST_IMM, BED_PSN + 3, .payload_len = 1, .imm = 77,
         .solicited = true, .ack_req = true);
    for (unsigned i = 0; i < 3; i++) {
        bed_expect_memory(bed, BED_VA + 1000 + i * BED_MTU, BED_PSN + 1 + i, 0,
                          i < 2 ? BED_MTU : 1);
    }
    wc = bed_wc(bed);
    g_assert_cmpuint(wc->opcode, ==, PVRDMA_WC_RECV_RDMA_WITH_IMM);
    g_assert_cmpuint(wc->byte_len, ==, 2 * BED_MTU + 1);
    g_assert_cmphex(wc->flags, ==, PVRDMA_WC_WITH_IMM);
    g_assert_cmphex(wc->imm, ==, 77);
    g_assert_true(wc->solicited);
    EXPECT_ACK(bed, BED_PSN + 3, 2);    /* one acknowledgement for both messages */
    g_assert_cmpuint(bed->s.silent_writes, ==, 1);
    PEER(bed, WRITE_FIRST, BED_PSN + 4, RETH(0, BED_MTU + 1), .payload_len = BED_MTU);
    g_assert_cmpuint(bed->s.silent_writes, ==, 1);
    PEER(bed, WRITE_LAST, BED_PSN + 5, .payload_len = 1);
    PEER(bed, WRITE_LAST, BED_PSN + 5, .payload_len = 1);       /* a duplicate */
    g_assert_cmpuint(bed->s.silent_writes, ==, 2);
    EXPECT_ACK(bed, BED_PSN + 5, 3);    /* answers the duplicate */
    bed_free(bed);
}

/* The key is not checked if a request has no bytes. */
static void test_empty(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 0, 0);
    PEER(bed, SEND_ONLY, BED_PSN, .ack_req = true);
    g_free(bed_wc(bed));
    PEER(bed, WRITE_ONLY, BED_PSN + 1, .va = 1, .rkey = 2);
    bed_receive(bed, 0, 0);
    PEER(bed, WRITE_ONLY_IMM, BED_PSN + 2, .va = 1, .rkey = 2);
    g_free(bed_wc(bed));
    PEER(bed, READ_REQUEST, BED_PSN + 3, .va = 1, .rkey = 2);
    bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + 3, BED_VA, 0);
    PEER(bed, SEND_ONLY, BED_PSN + 4, .ack_req = true);
    EXPECT_RNR(bed, BED_PSN + 4, 4);
    bed_free(bed);
}

static void test_read(void)
{
    static const struct {
        uint32_t len;
        unsigned packets;
    } rows[] = {
        { 1, 1 }, { BED_MTU - 1, 1 }, { BED_MTU, 1 }, { BED_MTU + 1, 2 },
        { 2 * BED_MTU, 2 }, { 5 * BED_MTU - 3, 5 },
    };
    Bed *bed = bed_new();
    uint32_t psn = BED_PSN;

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        PEER(bed, READ_REQUEST, psn, RETH(100 + i, rows[i].len));
        for (unsigned n = 0; n < rows[i].packets; n++) {
            bool first = n == 0, last = n == rows[i].packets - 1;
            uint32_t at = n * BED_MTU;

            bed_expect_read(bed, first && last ? ROCE_OP_READ_RESP_ONLY :
                            first ? ROCE_OP_READ_RESP_FIRST :
                            last ? ROCE_OP_READ_RESP_LAST :
                            ROCE_OP_READ_RESP_MIDDLE,
                            psn++, BED_VA + 100 + i + at,
                            MIN(BED_MTU, rows[i].len - at));
        }
        bed_expect_quiet(bed);
    }
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_TX_READ_RESP), ==, 12);
    bed_free(bed);
}

/* A15: responses are in order, while other requests arrive and the port is blocked. */
static void test_read_and_write(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1, .ack_req = true);
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(4096, 3 * BED_MTU));
    g_assert_true(bed_run_some(bed, 1));
    PEER(bed, WRITE_FIRST, BED_PSN + 4, RETH(8192, BED_MTU + 7),
         .payload_len = BED_MTU);
    g_assert_true(bed_run_some(bed, 1));
    bed->s.port.blocked = true;
    PEER(bed, WRITE_LAST, BED_PSN + 5, .payload_len = 7, .ack_req = true);
    g_assert_true(bed_run_some(bed, 1));
    PEER(bed, READ_REQUEST, BED_PSN + 6, RETH(8192, 1));
    PEER(bed, FETCH_ADD, BED_PSN + 7, ATOMIC(0), .swap_add = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 8, RETH(16, 1), .payload_len = 1,
         .ack_req = true);
    bed->s.port.blocked = false;
    bed_expect_memory(bed, BED_VA + 8192, BED_PSN + 4, 0, BED_MTU);
    bed_expect_memory(bed, BED_VA + 8192 + BED_MTU, BED_PSN + 5, 0, 7);
    bed_expect_read(bed, ROCE_OP_READ_RESP_FIRST, BED_PSN + 1, BED_VA + 4096,
                    BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_MIDDLE, BED_PSN + 2,
                    BED_VA + 4096 + BED_MTU, BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_LAST, BED_PSN + 3,
                    BED_VA + 4096 + 2 * BED_MTU, BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + 6, BED_VA + 8192, 1);
    expect_atomic(bed, BED_PSN + 7, word_at(bed, 0) - 1, 5);
    EXPECT_ACK(bed, BED_PSN + 8, 6);
    bed_free(bed);
}

static void test_atomics(void)
{
    Bed *bed = bed_new();

    stq_le_p(bed->mem + 64, 40);
    PEER(bed, FETCH_ADD, BED_PSN, ATOMIC(64), .swap_add = 2);
    expect_atomic(bed, BED_PSN, 40, 1);
    g_assert_cmphex(word_at(bed, 64), ==, 42);
    PEER(bed, COMPARE_SWAP, BED_PSN + 1, ATOMIC(64), .compare = 42,
         .swap_add = 0x123456789abcdef0);
    expect_atomic(bed, BED_PSN + 1, 42, 2);
    g_assert_cmphex(word_at(bed, 64), ==, 0x123456789abcdef0);
    PEER(bed, COMPARE_SWAP, BED_PSN + 2, ATOMIC(64), .compare = 42, .swap_add = 1);
    expect_atomic(bed, BED_PSN + 2, 0x123456789abcdef0, 3);
    g_assert_cmphex(word_at(bed, 64), ==, 0x123456789abcdef0);
    PEER(bed, FETCH_ADD, BED_PSN + 3, ATOMIC(64), .swap_add = -1ull);
    expect_atomic(bed, BED_PSN + 3, 0x123456789abcdef0, 4);
    g_assert_cmphex(word_at(bed, 64), ==, 0x123456789abcdeef);
    bed_free(bed);
}

/* --- Gaps ----------------------------------------------------------------- */
/*
 * A7: packets behind a gap are dropped, with one NAK, and the expected PSN does not
 * change.
 */
static void test_gap(void)
{
    Bed *bed = bed_new();
    uint8_t before = bed->mem[0];

    for (unsigned i = 1; i < 5; i++) {
        PEER(bed, WRITE_ONLY, BED_PSN + i, RETH(0, 1), .payload_len = 1,
             .ack_req = true);
    }
    g_assert_cmphex(bed->mem[0], ==, before);
    g_assert_cmphex(bed->qp.resp.epsn, ==, BED_PSN);
    EXPECT_NAK(bed, PSN_SEQUENCE, BED_PSN, 0);
    PEER(bed, WRITE_ONLY, BED_PSN + 5, RETH(0, 1), .payload_len = 1);
    bed_expect_quiet(bed);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_OUT_OF_SEQUENCE), ==, 5);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_TX_NAK), ==, 1);
    /* the peer repeats the packets; another gap causes another NAK */
    for (unsigned i = 0; i < 3; i++) {
        PEER(bed, WRITE_ONLY, BED_PSN + i, RETH(i, 1), .payload_len = 1,
             .ack_req = i == 2);
    }
    EXPECT_ACK(bed, BED_PSN + 2, 3);
    PEER(bed, WRITE_ONLY, BED_PSN + 4, RETH(0, 1), .payload_len = 1);
    EXPECT_NAK(bed, PSN_SEQUENCE, BED_PSN + 3, 3);
    bed_free(bed);
}

/*
 * The missing packet arrives before the NAK is sent; the NAK then requests the next
 * packet that was dropped.
 */
static void test_gap_closed(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(1, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    EXPECT_NAK(bed, PSN_SEQUENCE, BED_PSN + 1, 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 2, RETH(2, 1), .payload_len = 1);
    bed_expect_quiet(bed);              /* still the same gap */
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(1, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 3, RETH(3, 1), .payload_len = 1);
    /* when all dropped packets have arrived again, only an acknowledgement is left */
    PEER(bed, WRITE_ONLY, BED_PSN + 2, RETH(2, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 3, RETH(3, 1), .payload_len = 1);
    EXPECT_ACK(bed, BED_PSN + 3, 4);
    bed_free(bed);
}

/* Of two missing packets the first arrives before the NAK is sent. */
static void test_gap_of_two(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(1, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 3, RETH(3, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(1, 1), .payload_len = 1);
    EXPECT_NAK(bed, PSN_SEQUENCE, BED_PSN + 2, 2);
    bed_free(bed);
}

/* A duplicate of a packet before the gap does not replace the NAK. */
static void test_gap_and_duplicate(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN + 2, RETH(2, 1), .payload_len = 1);
    PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
    EXPECT_NAK(bed, PSN_SEQUENCE, BED_PSN + 1, 1);
    bed_free(bed);
}

/* A NAK does not overtake the READ before the gap. */
static void test_gap_behind_read(void)
{
    Bed *bed = bed_new();

    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 2 * BED_MTU));
    PEER(bed, WRITE_ONLY, BED_PSN + 3, RETH(0, 1), .payload_len = 1);
    bed_expect_read(bed, ROCE_OP_READ_RESP_FIRST, BED_PSN, BED_VA, BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_LAST, BED_PSN + 1, BED_VA + BED_MTU,
                    BED_MTU);
    EXPECT_NAK(bed, PSN_SEQUENCE, BED_PSN + 2, 1);
    bed_free(bed);
}

/* --- Duplicates ----------------------------------------------------------- */
/* A8: a duplicate is acknowledged, and is not executed. */
static void test_duplicate(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, 10);
    bed_receive(bed, 1, 10);
    PEER(bed, SEND_ONLY, BED_PSN, .payload_len = 10, .ack_req = true);
    g_free(bed_wc(bed));
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(0, 1), .payload_len = 1,
         .ack_req = true);
    EXPECT_ACK(bed, BED_PSN + 1, 2);
    /* the guest may change the byte after the WRITE */
    bed->mem[0] ^= 0xff;
    PEER(bed, SEND_ONLY, BED_PSN, .payload_len = 10);
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(0, 1), .payload_len = 1);
    g_assert_cmphex(bed->mem[0], ==, bed_byte((BED_PSN + 1) & ROCE_PSN_MASK, 0) ^
                                     0xff);
    g_assert_cmpuint(bed->fetched, ==, 1);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_DUPLICATE), ==, 2);
    EXPECT_ACK(bed, BED_PSN + 1, 2);
    g_assert_cmphex(bed->qp.resp.epsn, ==, roce_psn_add(BED_PSN, 2));
    bed_free(bed);
}

/* A duplicate in the middle of a message is acknowledged only if the peer requests it. */
static void test_duplicate_long(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_FIRST, BED_PSN, RETH(0, 3 * BED_MTU), .payload_len = BED_MTU);
    PEER(bed, WRITE_MIDDLE, BED_PSN + 1, .payload_len = BED_MTU);
    PEER(bed, WRITE_LAST, BED_PSN + 2, .payload_len = BED_MTU, .ack_req = true);
    EXPECT_ACK(bed, BED_PSN + 2, 1);
    PEER(bed, WRITE_FIRST, BED_PSN, RETH(0, 3 * BED_MTU), .payload_len = BED_MTU);
    PEER(bed, WRITE_MIDDLE, BED_PSN + 1, .payload_len = BED_MTU);
    bed_expect_quiet(bed);
    PEER(bed, WRITE_MIDDLE, BED_PSN + 1, .payload_len = BED_MTU, .ack_req = true);
    EXPECT_ACK(bed, BED_PSN + 2, 1);
    PEER(bed, WRITE_LAST, BED_PSN + 2, .payload_len = BED_MTU);
    EXPECT_ACK(bed, BED_PSN + 2, 1);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_DUPLICATE), ==, 4);
    bed_free(bed);
}

/*
 * A READ is repeated from the start or from a later packet.  A repetition that exceeds
 * the first request is dropped.
 */
static void test_read_again(void)
{
    Bed *bed = bed_new();

    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 3 * BED_MTU));
    bed_run(bed);
    for (unsigned i = 0; i < 3; i++) {
        g_free(bed_sent(bed));
    }
    bed->mem[2 * BED_MTU] ^= 1;         /* the responder reads the memory again, too */
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(BED_MTU, 2 * BED_MTU));
    bed_expect_read(bed, ROCE_OP_READ_RESP_FIRST, BED_PSN + 1, BED_VA + BED_MTU,
                    BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_LAST, BED_PSN + 2,
                    BED_VA + 2 * BED_MTU, BED_MTU);
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(BED_MTU, 3 * BED_MTU));
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(0, ROCE_MSG_MAX));
    PEER(bed, READ_REQUEST, BED_PSN - 1, RETH(0, 1));
    PEER(bed, FETCH_ADD, BED_PSN + 1, ATOMIC(0), .swap_add = 1);
    bed_expect_quiet(bed);
    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 1));
    bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN, BED_VA, 1);
    g_assert_cmpuint(bed->qp.resp.msn, ==, 1);
    bed_free(bed);
}

/* READs behind a repeated READ are answered again, because responses must be in order. */
static void test_reads_again(void)
{
    Bed *bed = bed_new();

    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, BED_MTU + 1));
    PEER(bed, FETCH_ADD, BED_PSN + 2, ATOMIC(8), .swap_add = 5);
    PEER(bed, READ_REQUEST, BED_PSN + 3, RETH(512, BED_MTU + 1));
    g_assert_true(bed_run_some(bed, 4));
    for (unsigned i = 0; i < 4; i++) {
        g_free(bed_sent(bed));
    }
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(BED_MTU, 1));
    bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + 1, BED_VA + BED_MTU, 1);
    bed_expect_read(bed, ROCE_OP_READ_RESP_FIRST, BED_PSN + 3, BED_VA + 512,
                    BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_LAST, BED_PSN + 4,
                    BED_VA + 512 + BED_MTU, 1);
    bed_free(bed);
}

/*
 * The responder sends the result of a repeated atomic again, and does not execute it
 * again.
 */
static void test_atomic_again(void)
{
    Bed *bed = bed_new();

    stq_le_p(bed->mem, 7);
    PEER(bed, FETCH_ADD, BED_PSN, ATOMIC(0), .swap_add = 1);
    expect_atomic(bed, BED_PSN, 7, 1);
    PEER(bed, FETCH_ADD, BED_PSN + 1, ATOMIC(0), .swap_add = 1);
    expect_atomic(bed, BED_PSN + 1, 8, 2);
    PEER(bed, FETCH_ADD, BED_PSN, ATOMIC(0), .swap_add = 1);
    expect_atomic(bed, BED_PSN, 7, 1);
    PEER(bed, FETCH_ADD, BED_PSN + 1, ATOMIC(0), .swap_add = 1);
    expect_atomic(bed, BED_PSN + 1, 8, 2);
    g_assert_cmphex(word_at(bed, 0), ==, 9);
    /* max_dest_rd_atomic is four, so only the last four results are kept */
    for (unsigned i = 2; i < 6; i++) {
        PEER(bed, FETCH_ADD, BED_PSN + i, ATOMIC(0), .swap_add = 1);
        expect_atomic(bed, BED_PSN + i, 7 + i, 1 + i);
    }
    PEER(bed, FETCH_ADD, BED_PSN + 1, ATOMIC(0), .swap_add = 1);
    PEER(bed, READ_REQUEST, BED_PSN + 2, RETH(0, 1));
    bed_expect_quiet(bed);
    PEER(bed, FETCH_ADD, BED_PSN + 2, ATOMIC(0), .swap_add = 1);
    expect_atomic(bed, BED_PSN + 2, 9, 3);
    g_assert_cmphex(word_at(bed, 0), ==, 13);
    bed_free(bed);
}

/* --- No receive WQE ------------------------------------------------------- */
static void test_not_ready(void)
{
    Bed *bed = bed_new();

    PEER(bed, SEND_FIRST, BED_PSN, .payload_len = BED_MTU);
    PEER(bed, SEND_LAST, BED_PSN + 1, .payload_len = 1, .ack_req = true);
    EXPECT_RNR(bed, BED_PSN, 0);
    bed_expect_quiet(bed);              /* no NAK for the packets behind the first one */
    bed_receive(bed, 1, 2 * BED_MTU);
    PEER(bed, SEND_FIRST, BED_PSN, .payload_len = BED_MTU);
    PEER(bed, SEND_LAST, BED_PSN + 1, .payload_len = 1, .ack_req = true);
    g_free(bed_wc(bed));
    EXPECT_ACK(bed, BED_PSN + 1, 1);
    /* a WRITE with immediate needs a WQE only for its last packet */
    PEER(bed, WRITE_FIRST, BED_PSN + 2, RETH(0, BED_MTU + 1),
         .payload_len = BED_MTU);
    PEER(bed, WRITE_LAST_IMM, BED_PSN + 3, .payload_len = 1, .ack_req = true);
    EXPECT_RNR(bed, BED_PSN + 3, 1);
    bed_receive(bed, 0, 0);
    PEER(bed, WRITE_LAST_IMM, BED_PSN + 3, .payload_len = 1, .ack_req = true);
    g_free(bed_wc(bed));
    bed_expect_memory(bed, BED_VA + BED_MTU, BED_PSN + 3, 0, 1);
    EXPECT_ACK(bed, BED_PSN + 3, 2);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_TX_RNR), ==, 2);
    bed_free(bed);
}

/* A WQE that is posted before the RNR NAK is sent is used, so the peer need not wait. */
static void test_ready_in_time(void)
{
    Bed *bed = bed_new();

    PEER(bed, SEND_ONLY, BED_PSN);
    bed_receive(bed, 0, 0);
    PEER(bed, SEND_ONLY, BED_PSN);
    g_free(bed_wc(bed));
    EXPECT_ACK(bed, BED_PSN, 1);
    bed_free(bed);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/resp/send", test_send);
    g_test_add_func("/pvrdma/resp/send-long", test_send_long);
    g_test_add_func("/pvrdma/resp/send-invalidate", test_send_invalidate);
    g_test_add_func("/pvrdma/resp/write", test_write);
    g_test_add_func("/pvrdma/resp/empty", test_empty);
    g_test_add_func("/pvrdma/resp/read", test_read);
    g_test_add_func("/pvrdma/resp/read-and-write-a15", test_read_and_write);
    g_test_add_func("/pvrdma/resp/atomics", test_atomics);
    g_test_add_func("/pvrdma/resp/gap-a07", test_gap);
    g_test_add_func("/pvrdma/resp/gap-closed", test_gap_closed);
    g_test_add_func("/pvrdma/resp/gap-of-two", test_gap_of_two);
    g_test_add_func("/pvrdma/resp/gap-and-duplicate", test_gap_and_duplicate);
    g_test_add_func("/pvrdma/resp/gap-behind-read", test_gap_behind_read);
    g_test_add_func("/pvrdma/resp/duplicate-a08", test_duplicate);
    g_test_add_func("/pvrdma/resp/duplicate-long", test_duplicate_long);
    g_test_add_func("/pvrdma/resp/read-again", test_read_again);
    g_test_add_func("/pvrdma/resp/reads-again", test_reads_again);
    g_test_add_func("/pvrdma/resp/atomic-again", test_atomic_again);
    g_test_add_func("/pvrdma/resp/not-ready", test_not_ready);
    g_test_add_func("/pvrdma/resp/ready-in-time", test_ready_in_time);
    return g_test_run();
}
