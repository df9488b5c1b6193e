/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of failed reads: the device sends them until the reader's node answers.  The
 * test is that node.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "remote.h"
#include "router.h"

#define TIMEOUT_NS ((int64_t)EXANET_FW_TIMEOUT_DEFAULT)
#define BACKOFF_NS (100 * 1000)
#define COOKIE 0x5151 /* data of the notification of exanet_read_of_peer() */
#define NO_BLOCK 0xfff /* sequence number of all reports, which belong to no block */
#define READER 4 /* context of the peer that reads, unless a test names another */
#define READER_LIMIT 16 /* limit of the waiting reports for one context of a node */

static ExanetTest *start(void)
{
    ExanetTest *t = exanet_start("");

    exanet_fw_set(t, EXANET_REG_FW_DYN_TIMEOUT, 0);
    exanet_fw_set(t, EXANET_REG_FW_PF_BACKOFF_NS, BACKOFF_NS);
    return t;
}

static void take_ack(ExanetPeer *p)
{
    ExanetRxPacket *rx = exanet_peer_take_type(p, EXANET_TYPE_ACK);

    g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_ACK);
    g_free(rx);
}

/*
 * Sends a read by context @ctx of the peer, of a context that is not open; takes the
 * ack of the request.
 */
static void ask_ctx(ExanetTest *t, unsigned ctx, unsigned gen)
{
    struct exanet_read_req req = exanet_read_of_peer(EXANET_RAM_SRC,
        EXANET_REMOTE_BASE, 100, EXANET_READ_REQ_NOTIFY |
        RNIC_PREP(EXANET_READ_REQ_OWNER, 9));

    exanet_read_send_ctx(t, &req, ctx, gen % 64, 0);
    take_ack(t->peer);
}

static void ask(ExanetTest *t, unsigned gen)
{
    ask_ctx(t, READER, gen);
}

static ExanetPacket take_report(ExanetTest *t)
{
    g_autofree ExanetRxPacket *rx = exanet_peer_take_type(t->peer,
                                                          EXANET_TYPE_NOTIFY);
    uint64_t status = ldq_le_p(rx->pkt.payload + 8);

    g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, COOKIE);
    g_assert_true(status & EXANET_NOTIFICATION_VALID);
    g_assert_cmpuint(RNIC_GET(EXANET_NOTIFICATION_STATUS, status), ==, 1);
    g_assert_cmpuint(RNIC_GET(EXANET_NOTIFICATION_HANDLE, status), ==,
                     EXANET_RESP_PROTECTION);
    g_assert_cmpuint(rx->pkt.seq, ==, NO_BLOCK);
    return rx->pkt;
}

static void test_lost(void)
{
    ExanetTest *t = start();
    ExanetPacket first, again;

    ask(t, 1);
    first = take_report(t);
    exanet_step(t, TIMEOUT_NS / 2);
    exanet_assert_quiet(t);
    exanet_step(t, TIMEOUT_NS / 2);
    again = take_report(t);
    g_assert_cmphex(again.tid, ==, first.tid);
    /* the next timeout is twice as long */
    exanet_step(t, TIMEOUT_NS);
    exanet_assert_quiet(t);
    exanet_step(t, TIMEOUT_NS);
    again = take_report(t);
    exanet_peer_ack(t->peer, &again, EXANET_RESP_ACK);
    exanet_settle(t);
    exanet_step(t, 1000 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    /* the next report has another TID */
    ask(t, 2);
    again = take_report(t);
    g_assert_cmphex(again.tid, !=, first.tid);
    exanet_peer_ack(t->peer, &first, EXANET_RESP_ACK);      /* a late ack */
    exanet_wait(t, exanet_count(t, ACK_STALE) == 1);
    exanet_step(t, TIMEOUT_NS);
    first = take_report(t);
    g_assert_cmphex(again.tid, ==, first.tid);
    exanet_stop(t);
}

static void test_answers(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    ask(t, 1);
    pkt = take_report(t);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_CRC);
    pkt = take_report(t);
    for (unsigned i = 0; i < 3; i++) {
        exanet_peer_ack(t->peer, &pkt, i == 1 ? EXANET_RESP_FAULT :
                        EXANET_RESP_FULL);
        exanet_assert_quiet(t);
        exanet_step(t, (BACKOFF_NS << i) - 1);
        exanet_assert_quiet(t);
        exanet_step(t, 1);
        pkt = take_report(t);
    }
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FAULT);
    exanet_assert_quiet(t);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_RESOLVED);
    pkt = take_report(t);
    /* the process of the reader has ended */
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_PROTECTION);
    exanet_settle(t);
    exanet_step(t, 1000 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_limits(void)
{
    ExanetTest *t = start();
    unsigned n = 0;
    ExanetPacket pkt;

    exanet_fw_set(t, EXANET_REG_FW_RETRY_MAX, 5);
    exanet_fw_set(t, EXANET_REG_FW_PF_RETRY_MAX, 3);
    ask(t, 1);
    take_report(t);
    for (unsigned i = 0; i < 200; i++) {
        exanet_step(t, TIMEOUT_NS);
        exanet_pump(t);
        while (!g_queue_is_empty(&t->peer->packets)) {
            take_report(t);
            n++;
        }
    }
    g_assert_cmpuint(n, ==, 5);

    ask(t, 2);
    for (n = 0; n < 4; n++) {
        pkt = take_report(t);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FULL);
        exanet_settle(t);
        exanet_step(t, BACKOFF_NS << n);
    }
    exanet_step(t, 1000 * TIMEOUT_NS);
    exanet_assert_quiet(t);

    /*
     * RESOLVED without a fault before it repeats the report, for a limited number of
     * times
     */
    ask(t, 3);
    for (n = 0; n < 6; n++) {
        pkt = take_report(t);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_RESOLVED);
        exanet_settle(t);
    }
    exanet_step(t, 1000 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Of a context that never answers, only the last READER_LIMIT reports are repeated. */
static void test_crowd(void)
{
    ExanetTest *t = start();
    uint16_t tid[READER_LIMIT + 8];
    unsigned again = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(tid); i++) {
        ask(t, i);
        tid[i] = take_report(t).tid;
    }
    exanet_step(t, TIMEOUT_NS);
    exanet_pump(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        ExanetPacket pkt = take_report(t);
        unsigned i = 0;

        while (tid[i] != pkt.tid) {
            g_assert_cmpuint(++i, <, ARRAY_SIZE(tid));
        }
        g_assert_cmpuint(i, >=, ARRAY_SIZE(tid) - READER_LIMIT);
        again++;
    }
    g_assert_cmpuint(again, ==, READER_LIMIT);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_step(t, 100 * TIMEOUT_NS);
    exanet_pump(t);
    g_assert_true(g_queue_is_empty(&t->peer->packets));
    exanet_stop(t);
}

/*
 * Advances time by TIMEOUT_NS, and counts the reports that @peer gets again, for each
 * context.
 */
static void count_repeated(ExanetTest *t, ExanetPeer *peer,
                           unsigned repeated[EXANET_CONTEXTS])
{
    memset(repeated, 0, EXANET_CONTEXTS * sizeof(*repeated));
    exanet_step(t, TIMEOUT_NS);
    exanet_pump(t);
    while (!g_queue_is_empty(&peer->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take_type(peer,
                                                              EXANET_TYPE_NOTIFY);

        repeated[RNIC_GET(EXANET_PDID_CTX, rx->pkt.pdid)]++;
    }
}

/*
 * Failed reads of one context do not remove the reports to another context of its node.
 */
static void test_neighbour(void)
{
    ExanetTest *t = start();
    unsigned repeated[EXANET_CONTEXTS];
    ExanetPacket first, pkt;

    /* neither without any answers ... */
    ask_ctx(t, 5, 1);
    first = take_report(t);
    for (unsigned i = 0; i < 40; i++) {
        ask(t, i);
        take_report(t);
    }
    count_repeated(t, t->peer, repeated);
    g_assert_cmpuint(repeated[5], ==, 1);
    g_assert_cmpuint(repeated[READER], ==, READER_LIMIT);
    /* ...  nor if the busy context has used all of its reports */
    for (unsigned i = 40; i < 240; i++) {
        ask(t, i);
        pkt = take_report(t);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    }
    count_repeated(t, t->peer, repeated);
    g_assert_cmpuint(repeated[5], ==, 0); /* the second timeout is twice as long */
    count_repeated(t, t->peer, repeated);
    g_assert_cmpuint(repeated[5], ==, 1);
    exanet_peer_ack(t->peer, &first, EXANET_RESP_ACK);
    exanet_settle(t);
    g_assert_cmpuint(exanet_count(t, ACK_STALE), ==, 0);
    exanet_stop(t);
}

/*
 * The context whose data were to be read closes: the device repeats the report until
 * the reader answers.
 */
static void test_quiesce(void)
{
    ExanetTest *t = start();
    struct exanet_read_req req = exanet_read_of_peer(EXANET_RAM_SRC,
        EXANET_REMOTE_BASE, 100, EXANET_READ_REQ_NOTIFY |
        RNIC_PREP(EXANET_READ_REQ_OWNER, 1));

    exanet_read_send(t, &req, 1, 0);
    exanet_wait(t, exanet_blocks_waiting(t) == 1);
    exanet_close(t, 1);
    exanet_pump(t);
    for (unsigned i = 0; i < 3; i++) {
        unsigned n = 0;

        while (!g_queue_is_empty(&t->peer->packets)) {
            g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);

            if (rx->pkt.type == EXANET_TYPE_NOTIFY) {
                g_assert_cmpuint(RNIC_GET(EXANET_NOTIFICATION_HANDLE,
                                          ldq_le_p(rx->pkt.payload + 8)), ==,
                                 EXANET_CHERR_ABORTED);
                n++;
            }
        }
        g_assert_cmpuint(n, ==, 1);
        exanet_step(t, TIMEOUT_NS << i);
        exanet_pump(t);
    }
    exanet_stop(t);
}

/* --- Several nodes ------------------------------------------------------------ */

/*
 * Sends a read of a context of node @here that is not open, by context @ctx of node
 * @coord.  The packet arrives by @port and has @epoch.
 */
static void ask_from(ExanetTest *t, unsigned port, uint32_t here, uint32_t coord,
                     uint8_t epoch, unsigned ctx, unsigned gen)
{
    struct exanet_read_req req = exanet_read_of_peer(EXANET_RAM_SRC,
        EXANET_REMOTE_BASE, 100, EXANET_READ_REQ_NOTIFY |
        RNIC_PREP(EXANET_READ_REQ_OWNER, 9));
    ExanetPacket ask = exanet_router_packet(EXANET_TYPE_READ_REQ, coord, here, 0);

    req.dst = cpu_to_le64(exanet_gva(coord, EXANET_REMOTE_BASE));
    req.notify_gva = cpu_to_le64(exanet_gva(coord, 0x7770));
    ask.va = EXANET_NI_VA(EXANET_NI_RT_REQUEST);
    ask.size = sizeof(req);
    ask.payload = (const uint8_t *)&req;
    ask.epoch = epoch;
    ask.user = EXANET_SMALL(EXANET_NI_PACKETIZER);
    ask.pdid = EXANET_TEST_PDID(ctx);
    ask.tid = RNIC_PREP(EXANET_PTID_GEN, gen) | RNIC_PREP(EXANET_PTID_CTX, ctx);
    ask.last = true;
    ask.notify = false;
    exanet_router_send(t, port, &ask);
    take_ack(t->ports[port]);
}

/* Sends a read of a context that is not open, by context @ctx of the node at @port. */
static void ask_port(ExanetTest *t, unsigned port, unsigned ctx, unsigned gen)
{
    ask_from(t, port, HERE, exanet_around[port], t->ports[port]->epoch, ctx, gen);
}

/*
 * One node uses all reports: another node still gets a report, and each context of the
 * first node loses at most one report.
 */
static void test_full(void)
{
    ExanetTest *t = exanet_router_start();
    unsigned repeated[EXANET_CONTEXTS], sum = 0;

    exanet_fw_set(t, EXANET_REG_FW_DYN_TIMEOUT, 0);
    for (unsigned i = 0; i < READER_LIMIT * EXANET_CONTEXTS; i++) {
        ask_port(t, XP, i % EXANET_CONTEXTS, i / EXANET_CONTEXTS);
        g_free(exanet_peer_take_type(t->ports[XP], EXANET_TYPE_NOTIFY));
    }
    for (unsigned i = 0; i < 4; i++) {
        ask_port(t, F3, i, 1);
        g_free(exanet_peer_take_type(t->ports[F3], EXANET_TYPE_NOTIFY));
    }
    count_repeated(t, t->ports[XP], repeated);
    for (unsigned ctx = 0; ctx < EXANET_CONTEXTS; ctx++) {
        g_assert_cmpuint(repeated[ctx], >=, READER_LIMIT - 1);
        sum += repeated[ctx];
    }
    g_assert_cmpuint(sum, ==, READER_LIMIT * EXANET_CONTEXTS - 4);
    for (unsigned i = 0; i < 4; i++) {
        g_free(exanet_peer_take_type(t->ports[F3], EXANET_TYPE_NOTIFY));
    }
    exanet_stop(t);
}

/*
 * A neighbour sends reads in the names of many nodes: the report to another reader
 * remains.
 */
static void test_strangers(void)
{
    /* the neighbour at X - 1, and the one behind an uplink */
    static const uint32_t peers[] = { 0x000, 0x4000 };
    const uint32_t here = 0x001;
    ExanetTest *t = exanet_start_ports(here, peers, ARRAY_SIZE(peers), "");
    unsigned repeated[EXANET_CONTEXTS];

    exanet_fw_set(t, EXANET_REG_FW_DYN_TIMEOUT, 0);
    for (unsigned i = 0; i < READER_LIMIT * EXANET_CONTEXTS + 100; i++) {
        if (i == READER_LIMIT * EXANET_CONTEXTS) {
            ask_from(t, 0, here, peers[0], t->ports[0]->epoch, READER, 1);
            g_free(exanet_peer_take_type(t->ports[0], EXANET_TYPE_NOTIFY));
        }
        ask_from(t, 1, here, 0x8000 + i, 7, 0, 1);
        g_free(exanet_peer_take_type(t->ports[1], EXANET_TYPE_NOTIFY));
    }
    count_repeated(t, t->ports[0], repeated);
    g_assert_cmpuint(repeated[READER], ==, 1);
    exanet_stop(t);
}

/* --- Whose answer it is ----------------------------------------------------- */

/*
 * The device takes an answer to a report only from the port where the report went, even
 * if a block to the answer's source had the TID of the report.
 */
static void test_forged(void)
{
    ExanetTest *t = exanet_router_start();
    ExanetDesc block = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(exanet_around[F3], EXANET_RAM_DST),
        .len = 64, .pdid = EXANET_TEST_PDID(0),
        .w4 = RNIC_PREP(EXANET_DESC_W4_RESP, EXANET_SMALL(EXANET_NI_RT_RESPONSE)),
    };
    g_autofree ExanetRxPacket *data = NULL, *report = NULL, *again = NULL;
    ExanetPacket ack;

    exanet_fw_set(t, EXANET_REG_FW_DYN_TIMEOUT, 0);
    /* the TID of the first report is 0 */
    exanet_desc_write(t, 0, &block);
    data = exanet_peer_take_type(t->ports[F3], EXANET_TYPE_WRITE);
    g_assert_cmphex(data->pkt.tid, ==, 0);

    ask_port(t, XP, 0, 0);
    report = exanet_peer_take_type(t->ports[XP], EXANET_TYPE_NOTIFY);
    g_assert_cmphex(report->pkt.tid, ==, 0);

    ack = (ExanetPacket) {
        .type = EXANET_TYPE_ACK, .dst = HERE, .epoch = EXANET_TEST_EPOCH,
        .tid = report->pkt.tid, .seq = report->pkt.seq,
        .small = report->pkt.user & EXANET_FTR_USER_SMALL,
    };
    for (unsigned port = 0; port < PORTS; port++) {
        if (port != XP) {
            exanet_assert_dropped(t, port, &ack, EXANET_CNT_DROP_SOURCE);
        }
    }
    exanet_step(t, TIMEOUT_NS);
    again = exanet_peer_take_type(t->ports[XP], EXANET_TYPE_NOTIFY);
    exanet_peer_ack(t->ports[XP], &again->pkt, EXANET_RESP_ACK);
    exanet_settle(t);
    exanet_assert_drops(t, EXANET_CNT_DROP_SOURCE, 0);
    exanet_step(t, 1000 * TIMEOUT_NS);
    exanet_pump(t);
    g_assert_true(g_queue_is_empty(&t->ports[XP]->packets));
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware-report/lost", test_lost);
    qtest_add_func("/exanet/firmware-report/answers", test_answers);
    qtest_add_func("/exanet/firmware-report/limits", test_limits);
    qtest_add_func("/exanet/firmware-report/crowd", test_crowd);
    qtest_add_func("/exanet/firmware-report/neighbour", test_neighbour);
    qtest_add_func("/exanet/firmware-report/full", test_full);
    qtest_add_func("/exanet/firmware-report/strangers", test_strangers);
    qtest_add_func("/exanet/firmware-report/quiesce", test_quiesce);
    qtest_add_func("/exanet/firmware-report/forged", test_forged);
    return g_test_run();
}
