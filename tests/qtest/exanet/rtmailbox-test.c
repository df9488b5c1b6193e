/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RT mailbox as software on the R5 uses it: the two FIFOs, their words and limits.  The
 * test acts as the R5 and as the peer.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"

static uint32_t rt_get(ExanetTest *t, unsigned reg)
{
    return exanet_get32(t, EXANET_RTMBOX + reg);
}

static void send_response(ExanetTest *t, unsigned tid, unsigned seq,
                          enum exanet_resp resp)
{
    ExanetPacket ack = {
        .type = EXANET_TYPE_ACK, .dst = EXANET_TEST_NODE, .tid = tid,
        .epoch = EXANET_TEST_EPOCH,
        .seq = seq, .resp = resp, .small = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
    };

    exanet_peer_send(t->peer, &ack);
}

static void send_request(ExanetTest *t, unsigned gen, const uint8_t *payload,
                         unsigned size)
{
    ExanetPacket pkt = {
        .type = EXANET_TYPE_READ_REQ, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(4), .va = EXANET_NI_VA(EXANET_NI_RT_REQUEST),
        .size = size, .payload = payload, .seq = 5,
        .tid = RNIC_PREP(EXANET_PTID_GEN, gen) | RNIC_PREP(EXANET_PTID_CTX, 4) |
               RNIC_PREP(EXANET_PTID_CHANNEL, 2),
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .first = true, .last = true,
    };

    exanet_peer_send(t->peer, &pkt);
}

static enum exanet_resp request_resp(ExanetTest *t, unsigned gen)
{
    return exanet_peer_take_resp(t->peer, gen << 8 | 4 << 4 | 2, 5);
}

static void test_responses(void)
{
    ExanetTest *t = exanet_start_external("");

    g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, 0);
    for (unsigned i = 0; i < 100; i++) {
        send_response(t, i * 163 & 0x3fff, i * 41 & 0xfff, i & 15);
    }
    exanet_wait(t, rt_get(t, EXANET_REG_RT_RESP_COUNT) == 100);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_RT);
    for (unsigned i = 0; i < 100; i++) {
        g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, EXANET_RT_VALID |
                        RNIC_PREP(EXANET_RT_TID, i * 163 & 0x3fff) |
                        RNIC_PREP(EXANET_RT_SEQ, i * 41 & 0xfff) |
                        RNIC_PREP(EXANET_RT_RESP, i & 15));
        g_assert_cmpuint(rt_get(t, EXANET_REG_RT_RESP_COUNT), ==, 99 - i);
    }
    g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, 0);
    exanet_stop(t);
}

static void test_response_overflow(void)
{
    ExanetTest *t = exanet_start_external("");
    unsigned over = 70;

    for (unsigned i = 0; i < EXANET_RT_RESPONSES + over; i++) {
        send_response(t, i & 0x3fff, 0, 0);
    }
    exanet_wait(t, exanet_count(t, RX_ACK) == EXANET_RT_RESPONSES + over);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_RESP_COUNT), ==,
                     EXANET_RT_RESPONSES);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_DROPS), ==, over);
    g_assert_cmpuint(exanet_count(t, RT_DROPPED), ==, over);
    for (unsigned i = 0; i < EXANET_RT_RESPONSES; i++) {
        g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==,
                        EXANET_RT_VALID | i);
    }
    g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, 0);
    exanet_stop(t);
}

/* Takes a message by 16 loads of 32 bits. */
static void read_message(ExanetTest *t, struct exanet_read_req *req)
{
    uint32_t *lane = (uint32_t *)req;
    uint32_t words = rt_get(t, EXANET_REG_RT_REQ_COUNT);

    for (unsigned i = 0; i < sizeof(*req) / 4; i++) {
        g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, words - i / 4);
        lane[i] = cpu_to_le32(rt_get(t, EXANET_REG_RT_REQ_DATA));
    }
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==,
                     words - EXANET_RT_MSG_WORDS);
}

static void assert_message(const struct exanet_read_req *req,
                           const uint8_t *payload, unsigned gen)
{
    g_assert_cmpmem(req, EXANET_READ_REQ_USER_BYTES, payload,
                    EXANET_READ_REQ_USER_BYTES);
    /* the origin comes from header and footer, not from the payload */
    g_assert_cmphex(le64_to_cpu(req->origin), ==,
                    RNIC_PREP(EXANET_READ_ORIGIN_PDID, EXANET_TEST_PDID(4)) |
                    RNIC_PREP(EXANET_READ_ORIGIN_COORD, EXANET_TEST_PEER) |
                    RNIC_PREP(EXANET_READ_ORIGIN_TID, gen << 8 | 4 << 4 | 2) |
                    RNIC_PREP(EXANET_READ_ORIGIN_TYPE, EXANET_TYPE_READ_REQ));
    g_assert_cmphex(le64_to_cpu(req->origin_seq), ==, 5);
}

static void fill(uint8_t *payload, unsigned seed)
{
    for (unsigned i = 0; i < sizeof(struct exanet_read_req); i++) {
        payload[i] = i * 3 + seed;
    }
}

static void test_requests(void)
{
    ExanetTest *t = exanet_start_external("");
    uint8_t payload[sizeof(struct exanet_read_req)];
    struct exanet_read_req req;

    g_assert_cmphex(rt_get(t, EXANET_REG_RT_REQ_DATA), ==, 0);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, 0);
    for (unsigned gen = 1; gen <= 3; gen++) {
        fill(payload, gen);
        send_request(t, gen, payload, sizeof(payload));
        g_assert_cmpuint(request_resp(t, gen), ==, EXANET_RESP_ACK);
    }
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==,
                     3 * EXANET_RT_MSG_WORDS);
    /* bit REQUESTS of the response FIFO, with and without a response */
    g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, EXANET_RT_REQUESTS);
    for (unsigned gen = 1; gen <= 3; gen++) {
        fill(payload, gen);
        read_message(t, &req);
        assert_message(&req, payload, gen);
    }
    g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, 0);
    /* a message with only the words of the user is complete */
    fill(payload, 9);
    send_request(t, 4, payload, EXANET_READ_REQ_USER_BYTES);
    g_assert_cmpuint(request_resp(t, 4), ==, EXANET_RESP_ACK);
    read_message(t, &req);
    assert_message(&req, payload, 4);
    /* one byte less is refused */
    send_request(t, 5, payload, EXANET_READ_REQ_USER_BYTES - 1);
    g_assert_cmpuint(request_resp(t, 5), ==, EXANET_RESP_MALFORMED);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, 0);
    exanet_stop(t);
}

static void test_resync(void)
{
    ExanetTest *t = exanet_start_external("");
    uint8_t payload[sizeof(struct exanet_read_req)];
    struct exanet_read_req req;

    for (unsigned gen = 1; gen <= 2; gen++) {
        fill(payload, gen);
        send_request(t, gen, payload, sizeof(payload));
        g_assert_cmpuint(request_resp(t, gen), ==, EXANET_RESP_ACK);
    }
    /* at the start of a message RESYNC has no effect */
    exanet_set32(t, EXANET_RTMBOX + EXANET_REG_RT_REQ_RESYNC, 1);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, 8);
    for (unsigned i = 0; i < 5; i++) {
        rt_get(t, EXANET_REG_RT_REQ_DATA);
    }
    exanet_set32(t, EXANET_RTMBOX + EXANET_REG_RT_REQ_RESYNC, 1);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, 4);
    read_message(t, &req);
    assert_message(&req, payload, 2);
    exanet_set32(t, EXANET_RTMBOX + EXANET_REG_RT_REQ_RESYNC, 1);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, 0);
    exanet_stop(t);
}

/* A full request FIFO refuses requests with FULL, and does not hide responses. */
static void test_request_full(void)
{
    ExanetTest *t = exanet_start_external("");
    uint8_t payload[sizeof(struct exanet_read_req)];
    struct exanet_read_req req;
    unsigned gen = 0;

    fill(payload, 0);
    for (unsigned i = 0; i < EXANET_RT_REQUESTS_MAX; i++) {
        gen = (gen + 1) % 64;
        send_request(t, gen, payload, sizeof(payload));
        g_assert_cmpuint(request_resp(t, gen), ==, EXANET_RESP_ACK);
    }
    gen = (gen + 1) % 64;
    send_request(t, gen, payload, sizeof(payload));
    g_assert_cmpuint(request_resp(t, gen), ==, EXANET_RESP_FULL);
    g_assert_cmpuint(exanet_count(t, RT_REQ_FULL), ==, 1);
    for (unsigned i = 0; i < 10; i++) {
        send_response(t, i, 0, 0);
    }
    exanet_wait(t, rt_get(t, EXANET_REG_RT_RESP_COUNT) == 10);
    for (unsigned i = 0; i < 10; i++) {
        g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP), ==, EXANET_RT_VALID |
                        EXANET_RT_REQUESTS | i);
    }
    /* the refused message is accepted when there is room */
    read_message(t, &req);
    send_request(t, gen, payload, sizeof(payload));
    g_assert_cmpuint(request_resp(t, gen), ==, EXANET_RESP_ACK);
    for (unsigned i = 0; i < EXANET_RT_REQUESTS_MAX; i++) {
        read_message(t, &req);
    }
    assert_message(&req, payload, gen);
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==, 0);
    exanet_stop(t);
}

/* As if the mailbox's ack was lost: the packetizer's copy is acked, and not stored. */
static void test_request_duplicate(void)
{
    ExanetTest *t = exanet_start_external("");
    uint8_t payload[sizeof(struct exanet_read_req)] = { 0 };

    for (unsigned i = 0; i < 5; i++) {
        send_request(t, 7, payload, sizeof(payload));
        g_assert_cmpuint(request_resp(t, 7), ==, EXANET_RESP_ACK);
    }
    g_assert_cmpuint(rt_get(t, EXANET_REG_RT_REQ_COUNT), ==,
                     EXANET_RT_MSG_WORDS);
    g_assert_cmpuint(exanet_count(t, MSG_DUPLICATE), ==, 4);
    exanet_stop(t);
}

/* While the model of the R5 runs, loads of the test take no entry of its FIFOs. */
static void test_internal(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(EXANET_TEST_PEER, 0x1000),
        .len = 64,
    };
    ExanetRxPacket *rx;

    exanet_channel_start(t, 0, 0, &x);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
    exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
    for (unsigned i = 0; i < 20; i++) {
        g_assert_cmphex(rt_get(t, EXANET_REG_RT_RESP) & EXANET_RT_VALID, ==, 0);
        g_assert_cmphex(rt_get(t, EXANET_REG_RT_REQ_DATA), ==, 0);
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    g_free(rx);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/rtmailbox/responses-t22", test_responses);
    qtest_add_func("/exanet/rtmailbox/response-overflow-t22",
                   test_response_overflow);
    qtest_add_func("/exanet/rtmailbox/requests-t21", test_requests);
    qtest_add_func("/exanet/rtmailbox/resync-t22", test_resync);
    qtest_add_func("/exanet/rtmailbox/request-full-t22", test_request_full);
    qtest_add_func("/exanet/rtmailbox/request-duplicate-t21",
                   test_request_duplicate);
    qtest_add_func("/exanet/rtmailbox/internal", test_internal);
    return g_test_run();
}
