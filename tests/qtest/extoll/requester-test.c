/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VELO's requester: stores become messages, in whole or in parts, at once or by a commit.
 * A full FIFO refuses messages.
 */
#include "qemu/osdep.h"
#include "velo.h"

#define OWN         3               /* VPID of the sender */
#define BOX         7               /* VPID of the receiver */
#define RING        0x2000
#define SPLIT       EXTOLL_SLOT_SPLIT
#define END         EXTOLL_SLOT_END

/* A message to the own node, and one to the peer of link 0. */
static VeloMsg own_msg(unsigned quadwords, unsigned number)
{
    return (VeloMsg) { .node = EXTOLL_TEST_NODE, .vpid = BOX, .own = OWN,
                       .mtt = number % 4, .quadwords = quadwords, .number = number };
}

static VeloMsg peer_msg(unsigned quadwords, unsigned number)
{
    VeloMsg m = own_msg(quadwords, number);

    m.node = EXTOLL_PEER_NODE(0);
    return m;
}

/* Starts a machine with a mailbox for VPID BOX, and without a link. */
static ExtollTest *start(const char *props)
{
    ExtollTest *t = velo_start(0, props);

    velo_mailbox(t, BOX, RING);
    return t;
}

static void txio_set(ExtollTest *t, unsigned vpid, uint32_t value)
{
    extoll_set32(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_TXIO, value);
}

static void enable_set(ExtollTest *t, uint32_t vpids)
{
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, vpids);
}

/* Asserts that VELO has queued @queued packets, and that @sent of them have left. */
static void assert_sent(ExtollTest *t, unsigned queued, unsigned sent)
{
    extoll_settle(t);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, queued);
    g_assert_cmpuint(extoll_counter(t, VELO_TRIP), ==, sent);
    g_assert_cmpuint(velo_count(t, SENT), ==, sent);
}

/* --- Whole messages --------------------------------------------------------- */

/* Messages of all sizes, in one slot or two. */
static void test_sizes(void)
{
    ExtollTest *t = start("");
    unsigned n = 0, slots = 0;

    for (unsigned round = 0; round < 4; round++) {
        for (unsigned q = 1; q <= EXTOLL_VELO_QUADWORDS; q++, n++) {
            VeloMsg m = own_msg(q, n);

            m.own = (n * 5) % EXTOLL_VPIDS;
            m.mtt = round;
            velo_store(t, &m);
            velo_take(t, &m, EXTOLL_TEST_NODE);
            slots += q > 7 ? 2 : 1;
            velo_assert_empty(t, BOX);
        }
    }
    assert_sent(t, n, n);
    g_assert_cmpuint(velo_count(t, RECEIVED), ==, n);
    g_assert_cmpuint(velo_count(t, DISCARDED), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_DMA_WRITE), ==, slots);
    g_assert_cmpuint(extoll_counter(t, HTAX_POSTED), ==, n + slots);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, 0);
    extoll_stop(t);
}

/* All VPIDs have a mailbox, and each gets its own messages. */
static void test_vpids(void)
{
    ExtollTest *t = start("");

    for (unsigned v = 0; v < EXTOLL_VPIDS; v++) {
        velo_mailbox(t, v, EXTOLL_RING_MIN);
    }
    for (unsigned v = 0; v < EXTOLL_VPIDS; v++) {
        VeloMsg m = own_msg(2, v);

        m.vpid = v;
        m.own = EXTOLL_VPIDS - 1 - v;
        velo_store(t, &m);
    }
    for (unsigned v = 0; v < EXTOLL_VPIDS; v++) {
        VeloMsg m = own_msg(2, v);

        m.vpid = v;
        m.own = EXTOLL_VPIDS - 1 - v;
        velo_take(t, &m, EXTOLL_TEST_NODE);
        velo_assert_empty(t, v);
    }
    extoll_stop(t);
}

/* Stores of 4 and 8 bytes, in any order. */
static void test_order(void)
{
    ExtollTest *t = start("");

    for (unsigned q = 1; q <= EXTOLL_VELO_QUADWORDS; q++) {
        VeloMsg m = own_msg(q, q);

        for (unsigned i = 2 * q; i-- > 0;) {
            velo_assert_empty(t, BOX);
            velo_store_half(t, &m, i / 2, i & 1);
        }
        velo_take(t, &m, EXTOLL_TEST_NODE);
        m = own_msg(q, 100 + q);
        for (unsigned i = 0; i < q; i++) {
            unsigned at = (i * 3 + 1) % q;

            at = q % 3 ? at : q - 1 - i;
            velo_assert_empty(t, BOX);
            if (at & 1) {
                velo_store_part(t, &m, at, 1);
            } else {
                velo_store_half(t, &m, at, at & 2);
                velo_store_half(t, &m, at, !(at & 2));
            }
        }
        velo_take(t, &m, EXTOLL_TEST_NODE);
    }
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    assert_sent(t, 2 * EXTOLL_VELO_QUADWORDS, 2 * EXTOLL_VELO_QUADWORDS);
    extoll_stop(t);
}

/* A word that is stored again before the message is complete has its last value. */
static void test_again(void)
{
    ExtollTest *t = start("");
    VeloMsg m = own_msg(2, 9);

    qtest_writeq(t->qts, velo_address(&m, 0), 0);
    velo_store_part(t, &m, 0, 1);
    velo_store_part(t, &m, 1, 1);
    velo_take(t, &m, EXTOLL_TEST_NODE);
    velo_assert_empty(t, BOX);
    extoll_stop(t);
}

/* The stores of four messages of one VPID, and of other VPIDs, come one by one. */
static void test_interleaved(void)
{
    enum { MSGS = 8 };
    ExtollTest *t = start("");
    VeloMsg m[MSGS];

    for (unsigned i = 0; i < MSGS; i++) {
        m[i] = own_msg(5, i);               /* four values of MTT */
        m[i].own = OWN + i / 4;
    }
    for (unsigned q = 0; q < 5; q++) {
        for (unsigned i = 0; i < MSGS; i++) {
            velo_store_part(t, &m[i], (q + i) % 5, 1);
        }
    }
    for (unsigned i = 0; i < MSGS; i++) {
        velo_take(t, &m[i], EXTOLL_TEST_NODE);
    }
    velo_assert_empty(t, BOX);
    assert_sent(t, MSGS, MSGS);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, 0);
    extoll_stop(t);
}

/* --- Parts ------------------------------------------------------------------ */

/* A fifth message of a VPID makes the first leave in parts. */
static void test_evict(void)
{
    ExtollTest *t = start("");
    VeloMsg m[5];

    for (unsigned i = 0; i < 5; i++) {
        m[i] = own_msg(6, i);
        m[i].vpid = BOX + i / 4;
    }
    velo_store_part(t, &m[0], 0, 2);
    velo_store_part(t, &m[0], 3, 1);
    for (unsigned i = 1; i < 4; i++) {
        velo_store_part(t, &m[i], 0, 5);
    }
    velo_assert_empty(t, BOX);
    velo_mailbox(t, BOX + 1, RING);
    velo_store(t, &m[4]);
    velo_take_slot(t, &m[0], EXTOLL_TEST_NODE, 0, 2, SPLIT);
    velo_take_slot(t, &m[0], EXTOLL_TEST_NODE, 3, 1, SPLIT);
    velo_take(t, &m[4], EXTOLL_TEST_NODE);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, 0);
    velo_store_part(t, &m[0], 2, 1);
    velo_assert_empty(t, BOX);
    velo_store_part(t, &m[0], 4, 2);
    velo_take_slot(t, &m[0], EXTOLL_TEST_NODE, 2, 1, SPLIT);
    velo_take_slot(t, &m[0], EXTOLL_TEST_NODE, 4, 2, SPLIT | END);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, 1);
    for (unsigned i = 1; i < 4; i++) {
        velo_store_part(t, &m[i], 5, 1);
        velo_take(t, &m[i], EXTOLL_TEST_NODE);
    }
    velo_assert_empty(t, BOX);
    assert_sent(t, 4 + 4, 4 + 4);
    g_assert_cmpuint(extoll_counter(t, HTAX_POSTED), ==, 8 + 8);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    extoll_stop(t);
}

/* Half a quadword cannot leave: the message is torn. */
static void test_evict_half(void)
{
    ExtollTest *t = start("");
    VeloMsg m[5];

    for (unsigned i = 0; i < 5; i++) {
        m[i] = own_msg(3, i);
        m[i].vpid = BOX + i / 4;
        velo_store_part(t, &m[i], 0, 1);
        velo_store_half(t, &m[i], 1, false);
    }
    velo_take_slot(t, &m[0], EXTOLL_TEST_NODE, 0, 1, SPLIT);
    velo_assert_empty(t, BOX);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 1);
    assert_sent(t, 1, 1);
    extoll_stop(t);
}

/* Property split: each second message of more than a quadword leaves in two parts. */
static void test_split(void)
{
    ExtollTest *t = start(",split=2");
    unsigned n = 0, parts = 0;

    for (unsigned q = 1; q <= EXTOLL_VELO_QUADWORDS; q++) {
        for (unsigned i = 0; i < 4; i++) {
            VeloMsg m = own_msg(q, n++);

            velo_store(t, &m);
            if (q > 1 && i & 1) {
                velo_take_slot(t, &m, EXTOLL_TEST_NODE, 0, q / 2, SPLIT);
                velo_take_slot(t, &m, EXTOLL_TEST_NODE, q / 2, q - q / 2, SPLIT | END);
                parts++;
            } else {
                velo_take(t, &m, EXTOLL_TEST_NODE);
            }
            velo_assert_empty(t, BOX);
        }
    }
    assert_sent(t, n + parts, n + parts);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, parts);
    extoll_stop(t);
}

/* --- Refusals --------------------------------------------------------------- */

static void test_bad_store(void)
{
    ExtollTest *t = start("");
    VeloMsg m = own_msg(3, 1);
    uint64_t at = velo_address(&m, 0);
    unsigned bad = 0;

    for (unsigned i = 0; i < 24; i++) {
        qtest_writeb(t->qts, at + i, 1);
        qtest_writew(t->qts, at + (i & ~1), 1);
        bad += 2;
    }
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, bad);
    for (unsigned i = 1; i < 8; i++) {
        qtest_writeq(t->qts, at + i, 1);
        bad++;
    }
    for (unsigned i = 1; i < 4; i++) {
        qtest_writel(t->qts, at + i, 1);
        bad++;
    }
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, bad);
    for (unsigned q = 3; q < 8; q++) {
        qtest_writeq(t->qts, velo_address(&m, q), 1);
        qtest_writel(t->qts, velo_address(&m, q), 1);
        bad += 2;
    }
    for (unsigned q = 0; q < 16; q++) {
        if (q == 0 || q > EXTOLL_VELO_QUADWORDS) {
            m.quadwords = q;
            qtest_writeq(t->qts, velo_address(&m, 0), 1);
            bad++;
        }
    }
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, bad);
    g_assert_cmphex(qtest_readl(t->qts, at), ==, 0);
    g_assert_cmphex(qtest_readb(t->qts, at), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, bad + 2);
    assert_sent(t, 0, 0);
    velo_assert_empty(t, BOX);
    m = own_msg(3, 2);
    velo_store(t, &m);
    velo_take(t, &m, EXTOLL_TEST_NODE);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    extoll_stop(t);
}

/* A VPID that is not enabled, and a device that is not enabled. */
static void test_no_vpid(void)
{
    ExtollTest *t = start("");
    VeloMsg m = own_msg(2, 1);

    enable_set(t, ~(1u << OWN));
    velo_store(t, &m);
    g_assert_cmpuint(extoll_counter(t, VELO_NO_VPID), ==, 2);
    g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_TORN);
    g_assert_cmpuint(extoll_counter(t, VELO_NO_VPID), ==, 3);
    enable_set(t, UINT32_MAX);
    extoll_set32(t, EXTOLL_REG_CTRL, 0);
    velo_store(t, &m);
    g_assert_cmpuint(extoll_counter(t, VELO_NO_VPID), ==, 5);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
    velo_assert_empty(t, BOX);
    assert_sent(t, 0, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    velo_store(t, &m);
    velo_take(t, &m, EXTOLL_TEST_NODE);
    extoll_stop(t);
}

static void test_no_route(void)
{
    ExtollTest *t = start("");
    VeloMsg m = own_msg(2, 1);

    m.node = EXTOLL_NODES - 1;
    velo_store(t, &m);
    assert_sent(t, 1, 0);
    g_assert_cmpuint(extoll_counter(t, NO_ROUTE), ==, 1);
    g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 0);
    g_assert_true(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_IDLE);
    /* the next message passes */
    m = own_msg(2, 2);
    velo_store(t, &m);
    velo_take(t, &m, EXTOLL_TEST_NODE);
    assert_sent(t, 2, 1);
    /* a route that ends at the RMA, or by a link without a netdev */
    extoll_set64(t, EXTOLL_VELO_ROUTE(1), extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0));
    extoll_set64(t, EXTOLL_VELO_ROUTE(2), EXTOLL_ROUTE_BY(5));
    for (unsigned node = 1; node <= 2; node++) {
        m.node = node;
        velo_store(t, &m);
        extoll_settle(t);
        g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, node);
    }
    g_assert_cmpuint(extoll_counter(t, NO_ROUTE), ==, 1);
    velo_assert_empty(t, BOX);
    extoll_stop(t);
}

/* A VPID that is disabled loses the stores that have left no message. */
static void test_disable(void)
{
    ExtollTest *t = start("");
    VeloMsg m[2] = { own_msg(3, 1), own_msg(4, 2) };
    VeloMsg other = own_msg(2, 3);

    other.own = OWN + 1;
    velo_store_part(t, &other, 0, 1);
    velo_store_part(t, &m[0], 0, 2);
    velo_store_half(t, &m[1], 0, true);
    enable_set(t, ~(1u << OWN));
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 2);
    enable_set(t, UINT32_MAX);
    velo_store_part(t, &m[0], 2, 1);
    velo_assert_empty(t, BOX);
    assert_sent(t, 0, 0);
    velo_store_part(t, &other, 1, 1);
    velo_take(t, &other, EXTOLL_TEST_NODE);
    /* of the message, quadword 2 is stored again, and then the rest */
    velo_store_part(t, &m[0], 0, 2);
    velo_take(t, &m[0], EXTOLL_TEST_NODE);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 2);
    extoll_stop(t);
}

/* --- Identity --------------------------------------------------------------- */

/* The device fills in node, VPID and protection id; @prot as they arrive. */
static void check_identity(const char *props, unsigned prot)
{
    ExtollTest *t = velo_start(1, props);

    velo_prot_set(t, OWN, 0xbeef);
    velo_prot_set(t, OWN + 1, 0x1234);
    for (unsigned q = 1; q <= EXTOLL_VELO_QUADWORDS; q++) {
        VeloMsg m = peer_msg(q, q);
        ExtollVeloMsg got;

        velo_store(t, &m);
        got = velo_peer_take(t, 0, &m, 0, q);
        g_assert_cmpuint(got.src_node, ==, EXTOLL_TEST_NODE);
        g_assert_cmphex(got.prot, ==, prot);
        g_assert_true(got.end);
        g_assert_false(got.split);
    }
    extoll_set32(t, EXTOLL_REG_NODE, 33);
    extoll_link_bring_up(t, 0);
    for (unsigned i = 0; i < 2; i++) {
        VeloMsg m = peer_msg(3, 70 + i);
        ExtollVeloMsg got;

        m.own += i;
        velo_store(t, &m);
        got = velo_peer_take(t, 0, &m, 0, 3);
        g_assert_cmpuint(got.src_node, ==, 33);
        g_assert_cmphex(got.prot, ==, !prot ? 0 : i ? 0x1234 : prot);
    }
    assert_sent(t, 10, 10);
    extoll_stop(t);
}

static void test_identity(void)
{
    check_identity("", 0xbeef);
}

static void test_identity_strict(void)
{
    check_identity(",strict=on", 0);
}

/* --- Transactional stores --------------------------------------------------- */

static void test_txio(void)
{
    ExtollTest *t = start("");

    txio_set(t, OWN, 1);
    for (unsigned q = 1; q <= EXTOLL_VELO_QUADWORDS; q++) {
        VeloMsg m = own_msg(q, q);

        velo_store_part(t, &m, 1, q - 1);
        velo_store_half(t, &m, 0, true);
        velo_store_half(t, &m, 0, false);
        velo_assert_empty(t, BOX);
        assert_sent(t, q - 1, q - 1);
        g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_ACCEPTED);
        velo_take(t, &m, EXTOLL_TEST_NODE);
        velo_assert_empty(t, BOX);
        /* there is nothing to commit any more */
        g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_TORN);
        g_assert_cmpuint(extoll_counter(t, TXIO_TORN), ==, q);
    }
    assert_sent(t, EXTOLL_VELO_QUADWORDS, EXTOLL_VELO_QUADWORDS);
    g_assert_cmpuint(extoll_counter(t, TXIO_FULL), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    extoll_stop(t);
}

/* Asserts that the commit of @m is refused, and that a whole @m is accepted then. */
static void assert_torn(ExtollTest *t, const VeloMsg *m, unsigned n)
{
    g_assert_cmpuint(velo_commit(t, m), ==, EXTOLL_TXIO_TORN);
    g_assert_cmpuint(extoll_counter(t, TXIO_TORN), ==, n);
    velo_assert_empty(t, BOX);
    velo_store(t, m);
    g_assert_cmpuint(velo_commit(t, m), ==, EXTOLL_TXIO_ACCEPTED);
    velo_take(t, m, EXTOLL_TEST_NODE);
}

static void test_txio_torn(void)
{
    ExtollTest *t = start("");
    VeloMsg m = own_msg(3, 1), other = own_msg(3, 2);

    txio_set(t, OWN, 1);
    velo_store_part(t, &m, 0, 2);                   /* incomplete */
    velo_store_half(t, &m, 2, false);
    assert_torn(t, &m, 1);
    velo_store(t, &m);                              /* a part comes twice */
    velo_store_half(t, &m, 1, true);
    assert_torn(t, &m, 2);
    velo_store(t, &m);
    velo_store(t, &m);
    assert_torn(t, &m, 3);
    velo_store(t, &m);                              /* another message between */
    velo_store(t, &other);
    assert_torn(t, &m, 4);
    velo_store_part(t, &other, 0, 1);
    velo_store(t, &m);
    assert_torn(t, &m, 5);
    velo_store(t, &m);                              /* a load from another place */
    g_assert_cmpuint(velo_commit(t, &other), ==, EXTOLL_TXIO_TORN);
    assert_torn(t, &m, 7);
    velo_store(t, &m);                              /* the VPID is disabled meanwhile */
    enable_set(t, ~(1u << OWN));
    enable_set(t, UINT32_MAX);
    assert_torn(t, &m, 8);
    velo_store(t, &m);                              /* TXIO is switched meanwhile */
    txio_set(t, OWN, 0);
    txio_set(t, OWN, 1);
    assert_torn(t, &m, 9);
    qtest_writeb(t->qts, velo_address(&m, 0), 1);
    qtest_writeq(t->qts, velo_address(&m, 3), 1);
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, 2);
    assert_torn(t, &m, 10);
    /* each VPID has its own staged message */
    other.own = OWN + 1;
    txio_set(t, OWN + 1, 1);
    velo_store_part(t, &m, 0, 2);
    velo_store(t, &other);
    velo_store_part(t, &m, 2, 1);
    g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_ACCEPTED);
    g_assert_cmpuint(velo_commit(t, &other), ==, EXTOLL_TXIO_ACCEPTED);
    velo_take(t, &m, EXTOLL_TEST_NODE);
    velo_take(t, &other, EXTOLL_TEST_NODE);
    assert_sent(t, 11, 11);
    extoll_stop(t);
}

/* A commit without TXIO, and TXIO of a strict device: stores leave at once. */
static void check_no_txio(const char *props, uint32_t value)
{
    ExtollTest *t = start(props);
    VeloMsg m = own_msg(2, 1);

    txio_set(t, OWN, value);
    velo_store(t, &m);
    velo_take(t, &m, EXTOLL_TEST_NODE);
    g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_TORN);
    g_assert_cmpuint(extoll_counter(t, TXIO_TORN), ==, 1);
    velo_assert_empty(t, BOX);
    assert_sent(t, 1, 1);
    extoll_stop(t);
}

static void test_no_txio(void)
{
    check_no_txio("", 0);
}

static void test_txio_strict(void)
{
    check_no_txio(",strict=on", 1);
}

/* --- Full FIFO -------------------------------------------------------------- */

/* Stores messages to the peer, until its room and the FIFO are full. */
static void fill(ExtollTest *t)
{
    for (unsigned n = 0; n < EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO; n++) {
        VeloMsg m = peer_msg(1 + n % 8, n);

        velo_store(t, &m);
    }
    assert_sent(t, EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO, EXTOLL_ROOM_MIN);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 0);
    g_assert_false(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_IDLE);
}

/* Takes the messages of fill() and one more, @last, which the device accepts later. */
static void drain(ExtollTest *t, const VeloMsg *last)
{
    for (unsigned n = 0; n < EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO; n++) {
        VeloMsg m = peer_msg(1 + n % 8, n);

        velo_peer_take(t, 0, &m, 0, m.quadwords);
    }
    velo_peer_take(t, 0, last, 0, last->quadwords);
    extoll_settle(t);
    g_assert_cmpuint(extoll_peer_arrived(t->peer[0]), ==, 0);
    g_assert_true(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_IDLE);
    assert_sent(t, EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO + 1,
                EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO + 1);
}

/*
 * The commit is refused without an effect, also again, until the crossbar has taken a
 * message.
 */
static void test_txio_full(void)
{
    ExtollTest *t = velo_start_full("");
    VeloMsg m = peer_msg(5, 1000);

    fill(t);
    m.own = OWN + 1;
    txio_set(t, m.own, 1);
    velo_store(t, &m);
    for (unsigned i = 1; i <= 3; i++) {
        g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_FULL);
        g_assert_cmpuint(extoll_counter(t, TXIO_FULL), ==, i);
    }
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==,
                     EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO);
    t->peer[0]->hold = false;
    extoll_peer_free_room(t->peer[0]);
    extoll_wait(t, extoll_counter(t, VELO_TRIP) > EXTOLL_ROOM_MIN);
    g_assert_cmpuint(velo_commit(t, &m), ==, EXTOLL_TXIO_ACCEPTED);
    drain(t, &m);
    g_assert_cmpuint(extoll_counter(t, TXIO_FULL), ==, 3);
    g_assert_cmpuint(extoll_counter(t, TXIO_TORN), ==, 0);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 0);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 0);
    extoll_stop(t);
}

/* A store that is no processor's cannot wait: it is dropped, and leaves no trace. */
static void test_full(void)
{
    ExtollTest *t = velo_start_full("");
    VeloMsg m = peer_msg(2, 2000), own = own_msg(2, 2000);

    t->guest_errors = true;
    velo_mailbox(t, BOX, RING);
    fill(t);
    velo_store(t, &m);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 0);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 2);
    /* the FIFO is that of all VPIDs and routes */
    own.own = OWN + 1;
    velo_store(t, &own);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 4);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==,
                     EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO);
    velo_assert_empty(t, BOX);
    t->peer[0]->hold = false;
    extoll_peer_free_room(t->peer[0]);
    extoll_wait(t, extoll_counter(t, VELO_TRIP) > EXTOLL_ROOM_MIN);
    velo_store_part(t, &m, 1, 1);
    extoll_settle(t);
    velo_store_part(t, &m, 0, 1);
    drain(t, &m);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 4);
    extoll_stop(t);
}

/* A reset drops all messages, and what is stored of others. */
static void test_reset(void)
{
    ExtollTest *t = velo_start_full("");
    VeloMsg part = own_msg(2, 1), staged = own_msg(2, 2);

    fill(t);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    t->peer[0]->hold = false;
    extoll_peer_forget(t->peer[0]);
    extoll_link_bring_up(t, 0);
    velo_enable(t);
    assert_sent(t, 0, 0);
    g_assert_true(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_IDLE);
    velo_mailbox(t, BOX, RING);
    staged.own = OWN + 1;
    txio_set(t, OWN + 1, 1);
    velo_store_part(t, &part, 0, 1);
    velo_store(t, &staged);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    velo_enable(t);
    velo_mailbox(t, BOX, RING);
    txio_set(t, OWN + 1, 1);
    velo_store_part(t, &part, 1, 1);
    g_assert_cmpuint(velo_commit(t, &staged), ==, EXTOLL_TXIO_TORN);
    velo_assert_empty(t, BOX);
    assert_sent(t, 0, 0);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/requester/sizes", test_sizes);
    qtest_add_func("/extoll/requester/vpids", test_vpids);
    qtest_add_func("/extoll/requester/order", test_order);
    qtest_add_func("/extoll/requester/again", test_again);
    qtest_add_func("/extoll/requester/interleaved", test_interleaved);
    qtest_add_func("/extoll/requester/evict", test_evict);
    qtest_add_func("/extoll/requester/evict-half", test_evict_half);
    qtest_add_func("/extoll/requester/split", test_split);
    qtest_add_func("/extoll/requester/bad-store", test_bad_store);
    qtest_add_func("/extoll/requester/no-vpid", test_no_vpid);
    qtest_add_func("/extoll/requester/no-route", test_no_route);
    qtest_add_func("/extoll/requester/disable", test_disable);
    qtest_add_func("/extoll/requester/identity", test_identity);
    qtest_add_func("/extoll/requester/identity-strict", test_identity_strict);
    qtest_add_func("/extoll/requester/txio", test_txio);
    qtest_add_func("/extoll/requester/txio-torn", test_txio_torn);
    qtest_add_func("/extoll/requester/no-txio", test_no_txio);
    qtest_add_func("/extoll/requester/txio-strict", test_txio_strict);
    qtest_add_func("/extoll/requester/txio-full", test_txio_full);
    qtest_add_func("/extoll/requester/full", test_full);
    qtest_add_func("/extoll/requester/reset", test_reset);
    return g_test_run();
}
