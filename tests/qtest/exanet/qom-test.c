/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Properties of the device in the monitor: compares them with known traffic and
 * registers.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qobject/qnum.h"
#include "qobject/qstring.h"
#include "qom.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define PORT EXANET_PORT(0)

static const char *const properties[] = {
    "node", "links", "contexts", "transfers", "rx-contexts", "counters",
};

static QDict *get_dict(ExanetTest *t, const char *name)
{
    QDict *dict = qobject_to(QDict, exanet_qom_get(t, name));

    g_assert_nonnull(dict);
    return dict;
}

static unsigned list_length(ExanetTest *t, const char *name)
{
    QObject *list = exanet_qom_get(t, name);
    unsigned n = qlist_size(qobject_to(QList, list));

    qobject_unref(list);
    return n;
}

/* Returns entry @n of the list that property @name holds; the caller unrefs it. */
static QDict *get_entry(ExanetTest *t, const char *name, unsigned n)
{
    QObject *list = exanet_qom_get(t, name);
    const QListEntry *e = qlist_first(qobject_to(QList, list));
    QDict *dict;

    while (n--) {
        e = qlist_next(e);
    }
    dict = qobject_to(QDict, qlist_entry_obj(e));
    g_assert_nonnull(dict);
    qobject_ref(dict);
    qobject_unref(list);
    return dict;
}

/* Reads all properties. */
static void get_all(ExanetTest *t)
{
    for (unsigned i = 0; i < ARRAY_SIZE(properties); i++) {
        qobject_unref(exanet_qom_get(t, properties[i]));
    }
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        g_autofree char *name = g_strdup_printf("faults%u", i);
        QObject *value = exanet_qom_get(t, name);

        g_assert_cmpstr(qstring_get_str(qobject_to(QString, value)), ==, "");
        qobject_unref(value);
    }
}

/* --- State ---------------------------------------------------------------- */

static void assert_coord(const QDict *dict, uint32_t coord)
{
    g_assert_cmphex(qdict_get_int(dict, "coord"), ==, coord);
    g_assert_cmpuint(qdict_get_int(dict, "upper"), ==,
                     RNIC_GET(EXANET_COORD_UPPER, coord));
    g_assert_cmpuint(qdict_get_int(dict, "offset"), ==,
                     RNIC_GET(EXANET_COORD_OFFSET, coord));
    g_assert_cmpuint(qdict_get_int(dict, "z"), ==,
                     RNIC_GET(EXANET_COORD_Z, coord));
    g_assert_cmpuint(qdict_get_int(dict, "y"), ==,
                     RNIC_GET(EXANET_COORD_Y, coord));
    g_assert_cmpuint(qdict_get_int(dict, "x"), ==,
                     RNIC_GET(EXANET_COORD_X, coord));
}

static void test_cold(void)
{
    ExanetTest *t = exanet_start_cold("", false);
    QDict *node = get_dict(t, "node");
    QDict *link = get_entry(t, "links", 0);

    assert_coord(node, EXANET_TEST_NODE);
    g_assert_cmpuint(qdict_get_int(node, "epoch"), ==, EXANET_TEST_EPOCH);
    g_assert_false(qdict_get_bool(node, "enabled"));
    g_assert_cmpuint(qdict_get_int(node, "links-up"), ==, 0);
    g_assert_cmpuint(list_length(t, "links"), ==, 1);
    g_assert_false(qdict_get_bool(link, "up"));
    g_assert_false(qdict_haskey(link, "peer"));
    g_assert_cmpuint(list_length(t, "contexts"), ==, 0);
    g_assert_cmpuint(list_length(t, "transfers"), ==, 0);
    g_assert_cmpuint(list_length(t, "rx-contexts"), ==, 0);
    get_all(t);
    qobject_unref(node);
    qobject_unref(link);
    exanet_stop(t);
}

static void test_node(void)
{
    ExanetTest *t = exanet_start("");
    QDict *node = get_dict(t, "node");

    g_assert_true(qdict_get_bool(node, "enabled"));
    g_assert_false(qdict_get_bool(node, "strict"));
    g_assert_cmpuint(qdict_get_int(node, "links-up"), ==, 1);
    g_assert_cmpstr(qdict_get_str(node, "firmware"), ==, "internal");
    qobject_unref(node);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_set32(t, EXANET_REG_NODE, 0x2a5c3);
    node = get_dict(t, "node");
    assert_coord(node, 0x2a5c3);
    g_assert_true(qdict_get_bool(node, "strict"));
    g_assert_cmpstr(qdict_get_str(node, "firmware"), ==, "external");
    qobject_unref(node);
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_OFF + 1);
    node = get_dict(t, "node");
    g_assert_cmpstr(qdict_get_str(node, "firmware"), ==, "off");
    qobject_unref(node);
    exanet_stop(t);
}

/*
 * Asserts the numbers of transfers and of receiver contexts in all properties that have
 * them.
 */
static void assert_busy(ExanetTest *t, unsigned transfers, unsigned blocks)
{
    QDict *node = get_dict(t, "node");

    g_assert_cmpuint(list_length(t, "transfers"), ==, transfers);
    g_assert_cmpuint(qdict_get_int(node, "transfers"), ==, transfers);
    g_assert_cmpuint(list_length(t, "rx-contexts"), ==, blocks);
    qobject_unref(node);
}

/* --- Links ---------------------------------------------------------------- */

static bool has_channel(const QDict *link, const char *name, unsigned vc)
{
    const QListEntry *e;

    QLIST_FOREACH_ENTRY(qdict_get_qlist(link, name), e) {
        if (qnum_get_uint(qobject_to(QNum, qlist_entry_obj(e))) == vc) {
            return true;
        }
    }
    return false;
}

static void test_links(void)
{
    static const uint8_t data[600] = { 4, 5, 6 };
    ExanetTest *t = exanet_start("");
    ExanetBlock b = {
        .va = DST, .data = data, .len = sizeof(data), .tid = 1,
        .pdid = EXANET_TEST_PDID(0),
    };
    QDict *link, *peer;

    exanet_peer_send_block(t->peer, &b);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 1, 0), ==, EXANET_RESP_ACK);
    exanet_set32(t, PORT + EXANET_REG_PORT_LATENCY, 3000);
    exanet_set32(t, PORT + EXANET_REG_PORT_RATE, 10000000);
    exanet_xoff(t);
    link = get_entry(t, "links", 0);
    peer = qdict_get_qdict(link, "peer");
    g_assert_cmpuint(qdict_get_int(link, "index"), ==, 0);
    g_assert_cmpstr(qdict_get_str(link, "netdev"), ==, "wire");
    g_assert_true(qdict_get_bool(link, "up"));
    g_assert_true(qdict_get_bool(link, "enabled"));
    g_assert_false(qdict_get_bool(link, "conflict"));
    assert_coord(peer, EXANET_TEST_PEER);
    g_assert_cmpuint(qdict_get_int(peer, "epoch"), ==, t->peer->epoch);
    g_assert_true(has_channel(link, "peer-xoff", 0));
    g_assert_false(has_channel(link, "xoff", 0));
    g_assert_cmpuint(qdict_get_int(link, "rate-kbps"), ==, 10000000);
    g_assert_cmpuint(qdict_get_int(link, "latency-ns"), ==, 3000);
    g_assert_cmpstr(qdict_get_str(link, "faults"), ==, "");
    g_assert_cmpuint(exanet_link_member(t, "counters", "rx-packets"), ==, 3);
    g_assert_cmpuint(exanet_link_member(t, "counters", "rx-words"), ==,
                     3 * 2 + DIV_ROUND_UP(sizeof(data), EXANET_WORD_BYTES));
    g_assert_cmpuint(exanet_link_member(t, "counters", "tx-packets"), ==, 1);
    g_assert_cmpuint(exanet_link_member(t, "counters", "xoff-received"), ==, 1);
    qobject_unref(link);

    /* an ack that waits for XON */
    b.tid = 2;
    exanet_peer_send_block(t->peer, &b);
    exanet_wait(t, exanet_link_member(t, NULL, "tx-waiting-words") == 1);
    exanet_xon(t);
    exanet_step(t, EXANET_MS);
    exanet_wait(t, exanet_link_member(t, NULL, "tx-waiting-words") == 0);
    exanet_stop(t);
}

/* Every counter of a port has its register's value. */
static void test_link_counters(void)
{
#define PORT_REG(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, bytes == 8 && !(writable) },
    static const struct {
        const char *name;
        unsigned offset;
        bool counts;
    } regs[] = { EXANET_PORT_REGS(PORT_REG) };
#undef PORT_REG
    ExanetTest *t = exanet_start("");
    unsigned seen = 0;
    QDict *link = get_entry(t, "links", 0);
    QDict *counters = qdict_get_qdict(link, "counters");

    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        g_autofree char *name = g_strdelimit(
            g_ascii_strdown(regs[i].name + strlen("PORT_"), -1), "_", '-');

        if (regs[i].counts && regs[i].offset != EXANET_REG_PORT_INJECTED) {
            g_assert_cmpuint(qdict_get_int(counters, name), ==,
                             exanet_get64(t, PORT + regs[i].offset));
            seen++;
        }
    }
    g_assert_cmpuint(qdict_size(counters), ==, seen);
    qobject_unref(link);
    exanet_stop(t);
}

/* --- Contexts ------------------------------------------------------------- */

static void test_contexts(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer w = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST), .len = 64,
    };
    QDict *ctx, *window;

    exanet_open(t, 5, 0x123, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_set64(t, EXANET_CTX(5) + EXANET_CTX_WIN(3),
                 EXANET_WIN_VALID | 0x7f8000000000ULL);
    g_assert_cmpuint(list_length(t, "contexts"), ==, 3);
    ctx = get_entry(t, "contexts", 2);
    g_assert_cmpuint(qdict_get_int(ctx, "number"), ==, 5);
    g_assert_cmphex(qdict_get_int(ctx, "job"), ==, 0x123);
    g_assert_false(qdict_get_bool(ctx, "job-local"));
    g_assert_cmphex(qdict_get_int(ctx, "pdid"), ==, 0x1235);
    g_assert_cmpstr(qdict_get_str(ctx, "format"), ==, "x86-4-level");
    g_assert_cmpuint(qlist_size(qdict_get_qlist(ctx, "windows")), ==, 2);
    window = qobject_to(QDict, qlist_entry_obj(qlist_next(
        qlist_first(qdict_get_qlist(ctx, "windows")))));
    g_assert_cmpuint(qdict_get_int(window, "index"), ==, 3);
    g_assert_cmphex(qdict_get_int(window, "base"), ==, 0x7f8000000000ULL);
    g_assert_false(qdict_get_bool(ctx, "quiesced"));
    g_assert_cmpuint(qdict_get_int(ctx, "pending-faults"), ==, 0);
    g_assert_cmpuint(qdict_get_int(ctx, "operations"), ==, 0);
    qobject_unref(ctx);

    /* the page tables of context 5 are empty, so the transfer faults */
    exanet_channel_start(t, 5, 0, &w);
    exanet_wait(t, exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT));
    ctx = get_entry(t, "contexts", 2);
    g_assert_cmpuint(qdict_get_int(ctx, "pending-faults"), ==, 1);
    g_assert_cmpuint(qdict_get_int(ctx, "operations"), ==, 1);
    qobject_unref(ctx);
    exanet_set32(t, EXANET_CTX(5) + EXANET_REG_CTX_CTRL, EXANET_CTX_CTRL_QUIESCE |
                 exanet_get32(t, EXANET_CTX(5) + EXANET_REG_CTX_CTRL));
    ctx = get_entry(t, "contexts", 2);
    g_assert_true(qdict_get_bool(ctx, "quiesced"));
    qobject_unref(ctx);
    exanet_close(t, 5);
    g_assert_cmpuint(list_length(t, "contexts"), ==, 2);
    exanet_stop(t);
}

/* --- What is under way ---------------------------------------------------- */

/* Takes the packets of one block; returns the last one. */
static ExanetPacket block_take(ExanetTest *t)
{
    ExanetPacket pkt;

    do {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);

        pkt = rx->pkt;
    } while (!pkt.last);
    return pkt;
}

static void test_transfers(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer w = {
        .src = SRC + 5, .dst = exanet_gva(EXANET_TEST_PEER, DST),
        .len = 3 * EXANET_BLOCK_BYTES, .token = 77,
    };
    ExanetPacket last[3];
    QDict *x;
    int64_t age;

    exanet_channel_start(t, 1, 9, &w);
    for (unsigned i = 0; i < 3; i++) {
        last[i] = block_take(t);
    }
    assert_busy(t, 1, 0);
    x = get_entry(t, "transfers", 0);
    g_assert_cmpuint(qdict_get_int(x, "context"), ==, 1);
    g_assert_cmpuint(qdict_get_int(x, "channel"), ==, 9);
    g_assert_cmpstr(qdict_get_str(x, "kind"), ==, "write");
    g_assert_cmphex(qdict_get_int(x, "source"), ==, SRC + 5);
    g_assert_cmphex(qdict_get_int(x, "destination-node"), ==, EXANET_TEST_PEER);
    g_assert_cmphex(qdict_get_int(x, "destination"), ==, DST);
    g_assert_cmpuint(qdict_get_int(x, "bytes"), ==, w.len);
    g_assert_cmpuint(qdict_get_int(x, "issued"), ==, w.len);
    g_assert_cmpuint(qdict_get_int(x, "acked"), ==, 0);
    g_assert_cmpuint(qdict_get_int(x, "blocks-in-flight"), ==, 3);
    g_assert_cmpuint(qdict_get_int(x, "retries"), ==, 0);
    g_assert_cmpuint(qdict_get_int(x, "token"), ==, 77);
    age = qdict_get_int(x, "age-ns");
    qobject_unref(x);

    exanet_step(t, 1000);
    exanet_peer_ack(t->peer, &last[1], EXANET_RESP_ACK);
    exanet_peer_ack(t->peer, &last[0], EXANET_RESP_CRC);
    last[0] = block_take(t);
    x = get_entry(t, "transfers", 0);
    g_assert_cmpuint(qdict_get_int(x, "acked"), ==, EXANET_BLOCK_BYTES);
    g_assert_cmpuint(qdict_get_int(x, "blocks-in-flight"), ==, 2);
    g_assert_cmpuint(qdict_get_int(x, "retries"), ==, 1);
    g_assert_cmpint(qdict_get_int(x, "age-ns"), ==, age + 1000);
    qobject_unref(x);
    exanet_peer_ack(t->peer, &last[0], EXANET_RESP_ACK);
    exanet_peer_ack(t->peer, &last[2], EXANET_RESP_ACK);
    exanet_channel_wait(t, 1, 9, EXANET_CHANNEL_DONE);
    assert_busy(t, 0, 0);
    exanet_stop(t);
}

static void test_rx_contexts(void)
{
    g_autofree uint8_t *data = g_malloc0(EXANET_BLOCK_BYTES);
    ExanetTest *t = exanet_start("");
    ExanetBlock b = {
        .va = DST, .data = data, .len = EXANET_BLOCK_BYTES,
        .tid = RNIC_PREP(EXANET_TID_INDEX, 333) | RNIC_PREP(EXANET_TID_GEN, 5),
        .seq = 2, .pdid = EXANET_TEST_PDID(1),
    };
    QDict *x;

    exanet_peer_send_part(t->peer, &b, 0, 2);
    exanet_peer_send_part(t->peer, &b, 62, 64);
    exanet_wait(t, exanet_count(t, RX_WRITE) == 4);
    exanet_step(t, 500);
    assert_busy(t, 0, 1);
    x = get_entry(t, "rx-contexts", 0);
    g_assert_cmphex(qdict_get_int(x, "source"), ==, EXANET_TEST_PEER);
    g_assert_cmpuint(qdict_get_int(x, "tid"), ==, 333);
    g_assert_cmpuint(qdict_get_int(x, "generation"), ==, 5);
    g_assert_cmpuint(qdict_get_int(x, "seq"), ==, 2);
    g_assert_cmphex(qdict_get_int(x, "pdid"), ==, EXANET_TEST_PDID(1));
    g_assert_cmphex(qdict_get_int(x, "window"), ==, DST);
    g_assert_cmphex(qnum_get_uint(qobject_to(QNum, qdict_get(x, "bitmap"))), ==,
                    0xc000000000000003ULL);
    g_assert_cmpuint(qdict_get_int(x, "bytes"), ==, 4 * EXANET_MTU);
    g_assert_false(qdict_get_bool(x, "nacked"));
    g_assert_cmpint(qdict_get_int(x, "age-ns"), ==, 500);
    qobject_unref(x);
    exanet_peer_send_part(t->peer, &b, 2, 62);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, b.tid, 2), ==,
                     EXANET_RESP_ACK);
    assert_busy(t, 0, 0);
    exanet_stop(t);
}

/* --- Counters ------------------------------------------------------------- */

static void test_counters(void)
{
    static const struct { const char *name; } counter[] = {
#define COUNTER_NAME(name, text) { #name },
        EXANET_COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
    };
    static const uint8_t data[16];
    ExanetTest *t = exanet_start("");
    ExanetBlock b = {
        .va = DST, .data = data, .len = sizeof(data), .tid = 1,
        .pdid = EXANET_TEST_PDID(0),
    };
    QDict *counters;

    exanet_peer_send_block(t->peer, &b);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 1, 0), ==, EXANET_RESP_ACK);
    counters = get_dict(t, "counters");
    g_assert_cmpuint(qdict_get_int(counters, "rx-write"), ==, 1);
    g_assert_cmpuint(qdict_get_int(counters, "tx-ack"), ==, 1);
    g_assert_cmpuint(qdict_size(counters), ==, EXANET_COUNTER_COUNT);
    for (unsigned i = 0; i < EXANET_COUNTER_COUNT; i++) {
        g_autofree char *name = g_strdelimit(
            g_ascii_strdown(counter[i].name, -1), "_", '-');

        g_assert_cmpuint(qdict_get_int(counters, name), ==,
                         exanet_get64(t, EXANET_COUNTER(i)));
    }
    qobject_unref(counters);
    exanet_stop(t);
}

/* --- Access --------------------------------------------------------------- */

/* Reading all properties during transfers does not change the transfers. */
static void test_traffic(void)
{
    g_autofree uint8_t *data = g_malloc(EXANET_BLOCK_BYTES);
    ExanetTest *t = exanet_start("");
    ExanetTransfer w = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST),
        .len = 20 * EXANET_BLOCK_BYTES,
    };
    unsigned acks = 0, blocks = 0;

    memset(data, 0x3c, EXANET_BLOCK_BYTES);
    exanet_channel_start(t, 0, 0, &w);
    for (unsigned i = 0; i < 20; i++) {
        ExanetBlock b = {
            .va = DST + i * EXANET_BLOCK_BYTES, .data = data,
            .len = EXANET_BLOCK_BYTES, .tid = i, .pdid = EXANET_TEST_PDID(0),
        };

        exanet_peer_send_part(t->peer, &b, 0, 30);
        get_all(t);
        exanet_peer_send_part(t->peer, &b, 30, EXANET_BLOCK_PACKETS);
    }
    while (acks < 20 || blocks < 20) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);

        if (rx->pkt.type == EXANET_TYPE_ACK) {
            g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_ACK);
            acks++;
        } else if (rx->pkt.last) {
            exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
            get_all(t);
            blocks++;
        }
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_byte(t, DST, 0x3c, 20 * EXANET_BLOCK_BYTES);
    get_all(t);
    exanet_stop(t);
}

static void test_hmp(void)
{
    ExanetTest *t = exanet_start(",faults0=seed=1");

    for (unsigned i = 0; i < ARRAY_SIZE(properties); i++) {
        g_autofree char *text = qtest_hmp(t->qts, "qom-get %s %s",
                                          EXANET_QOM_PATH, properties[i]);

        g_assert_true(text[0] == '[' || text[0] == '{');
        if (!strcmp(properties[i], "links")) {
            g_assert_nonnull(strstr(text, "\"rx-packets\": 0"));
            g_assert_nonnull(strstr(text, "\"faults\": \"seed=1\""));
        }
    }
    exanet_stop(t);
}

static void test_read_only(void)
{
    ExanetTest *t = exanet_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(properties); i++) {
        exanet_qom_refused(t, properties[i], "1", properties[i]);
    }
    get_all(t);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/qom/cold", test_cold);
    qtest_add_func("/exanet/qom/node", test_node);
    qtest_add_func("/exanet/qom/links", test_links);
    qtest_add_func("/exanet/qom/link-counters", test_link_counters);
    qtest_add_func("/exanet/qom/contexts", test_contexts);
    qtest_add_func("/exanet/qom/transfers", test_transfers);
    qtest_add_func("/exanet/qom/rx-contexts", test_rx_contexts);
    qtest_add_func("/exanet/qom/counters", test_counters);
    qtest_add_func("/exanet/qom/traffic", test_traffic);
    qtest_add_func("/exanet/qom/hmp", test_hmp);
    qtest_add_func("/exanet/qom/read-only", test_read_only);
    return g_test_run();
}
