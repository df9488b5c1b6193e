/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VELO's completer: mailboxes accept messages or discard them with a cause, and
 * interrupt.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "velo.h"

#define OWN         3               /* VPID of the sender */
#define BOX         7               /* VPID of the receiver */
#define SLOTS       (EXTOLL_RING_MIN / EXTOLL_SLOT_BYTES)
#define BIT         (1u << BOX)

static VeloMsg msg(unsigned quadwords, unsigned number)
{
    return (VeloMsg) { .node = EXTOLL_TEST_NODE, .vpid = BOX, .own = OWN,
                       .mtt = number % 4, .quadwords = quadwords, .number = number };
}

static ExtollTest *start(unsigned links, const char *props)
{
    ExtollTest *t = velo_start(links, props);

    velo_mailbox(t, BOX, EXTOLL_RING_MIN);
    return t;
}

static void msg_send(ExtollTest *t, unsigned quadwords, unsigned number)
{
    VeloMsg m = msg(quadwords, number);

    velo_store(t, &m);
}

static void msg_take(ExtollTest *t, unsigned quadwords, unsigned number)
{
    VeloMsg m = msg(quadwords, number);

    velo_take(t, &m, EXTOLL_TEST_NODE);
}

/* Fills the memory of the mailbox with ones. */
static void memory_fill(ExtollTest *t)
{
    qtest_memset(t->qts, EXTOLL_RAM_MAILBOX(BOX), 0xff, EXTOLL_RING_MIN);
}

static uint64_t status_get(ExtollTest *t, unsigned slot)
{
    return qtest_readq(t->qts, EXTOLL_RAM_MAILBOX(BOX) + slot * EXTOLL_SLOT_BYTES);
}

static void enable_set(ExtollTest *t, uint32_t vpids)
{
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, vpids);
}

/*
 * Asserts that the device has discarded @n messages, all by the cause EXTOLL_CNT_@name,
 * and clears that counter.
 */
#define assert_discarded(t, name, n) \
    do { \
        uint64_t before_ = velo_count(t, DISCARDED); \
        g_assert_cmpuint(extoll_counter(t, name), ==, n); \
        extoll_set64(t, EXTOLL_COUNTER(EXTOLL_CNT_##name), 0); \
        assert_no_cause(t); \
        g_assert_cmpuint(before_ - discarded, ==, n); \
        discarded = before_; \
    } while (0)

/* Field DISCARDED of VELO_COUNT after the last assert_discarded(). */
static uint64_t discarded;

static void assert_no_cause(ExtollTest *t)
{
    g_assert_cmpuint(extoll_counter(t, VELO_FULL), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_DISABLED), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_PROT), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_BUS), ==, 0);
    g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, 0);
}

/* --- Ring ------------------------------------------------------------------- */

/* Pointers run free, and slots follow one another round the ring. */
static void test_wrap(void)
{
    ExtollTest *t = start(0, "");
    uint32_t first = -40u, slots = 0;

    velo_vpid_set(t, BOX, WPLT, first);
    velo_vpid_set(t, BOX, RPLT, first);
    for (unsigned n = 0; n < 200; n++) {
        unsigned q = 1 + n * 3 % 8;

        msg_send(t, q, n);
        slots += q == 8 ? 2 : 1;
        g_assert_cmphex(velo_vpid_get(t, BOX, WPLT), ==, (uint32_t)(first + slots));
        msg_take(t, q, n);
        g_assert_cmphex(velo_vpid_get(t, BOX, RPLT), ==, (uint32_t)(first + slots));
    }
    g_assert_cmpuint(extoll_counter(t, VELO_DMA_WRITE), ==, slots);
    discarded = 0;
    assert_discarded(t, VELO_FULL, 0);
    extoll_stop(t);
}

/* The largest ring; and a ring behind which nothing is stored. */
static void test_sizes(void)
{
    ExtollTest *t = start(0, "");
    uint64_t end = EXTOLL_RAM_MAILBOX(BOX) + EXTOLL_RING_MAX;
    unsigned most = EXTOLL_RING_MAX / EXTOLL_SLOT_BYTES;

    velo_mailbox(t, BOX, EXTOLL_RING_MAX);
    velo_vpid_set(t, BOX, WPLT, most - 1);
    velo_vpid_set(t, BOX, RPLT, most - 1);
    msg_send(t, 8, 1);
    g_assert_cmphex(qtest_readq(t->qts, end - EXTOLL_SLOT_BYTES), !=, 0);
    g_assert_cmphex(qtest_readq(t->qts, end), ==, 0);
    g_assert_cmphex(status_get(t, 0), !=, 0);
    g_assert_cmphex(status_get(t, 1), ==, 0);
    msg_take(t, 8, 1);
    /* full, when all slots are in use */
    velo_vpid_set(t, BOX, RPLT, (uint32_t)(most + 1 - (most - 1)));
    velo_vpid_set(t, BOX, WPLT, most + 1);
    msg_send(t, 1, 2);
    g_assert_cmpuint(extoll_counter(t, VELO_FULL), ==, 0);
    msg_send(t, 1, 3);
    g_assert_cmpuint(extoll_counter(t, VELO_FULL), ==, 1);
    extoll_stop(t);
}

static void test_full(void)
{
    ExtollTest *t = start(0, "");
    unsigned n;

    discarded = 0;
    for (n = 0; n < SLOTS; n++) {
        msg_send(t, 7, n);
    }
    assert_discarded(t, VELO_FULL, 0);
    msg_send(t, 1, 1000);
    msg_send(t, 8, 1001);
    assert_discarded(t, VELO_FULL, 2);
    g_assert_cmpuint(velo_vpid_get(t, BOX, WPLT), ==, SLOTS);
    msg_take(t, 7, 0);
    msg_send(t, 1, n);
    msg_send(t, 1, 1002);
    assert_discarded(t, VELO_FULL, 1);
    for (unsigned i = 1; i < SLOTS; i++) {
        msg_take(t, 7, i);
    }
    msg_take(t, 1, n);
    velo_assert_empty(t, BOX);
    g_assert_cmpuint(velo_count(t, RECEIVED), ==, SLOTS + 1);
    g_assert_cmpuint(extoll_counter(t, VELO_DMA_WRITE), ==, SLOTS + 1);
    extoll_stop(t);
}

/* A message of 64 B needs two slots, or none is stored. */
static void test_two_slots(void)
{
    ExtollTest *t = start(0, "");

    discarded = 0;
    for (unsigned n = 0; n < SLOTS - 1; n++) {
        msg_send(t, 1, n);
    }
    qtest_memset(t->qts, EXTOLL_RAM_MAILBOX(BOX) + (SLOTS - 1) * EXTOLL_SLOT_BYTES, 0xff,
                 EXTOLL_SLOT_BYTES);
    msg_send(t, 8, 1000);
    assert_discarded(t, VELO_FULL, 1);
    g_assert_cmphex(status_get(t, SLOTS - 1), ==, UINT64_MAX);
    g_assert_cmpuint(velo_vpid_get(t, BOX, WPLT), ==, SLOTS - 1);
    g_assert_cmpuint(extoll_counter(t, VELO_DMA_WRITE), ==, SLOTS - 1);
    msg_take(t, 1, 0);
    msg_send(t, 8, 1001);
    assert_discarded(t, VELO_FULL, 0);
    for (unsigned n = 1; n < SLOTS - 1; n++) {
        msg_take(t, 1, n);
    }
    msg_take(t, 8, 1001);
    velo_assert_empty(t, BOX);
    extoll_stop(t);
}

/* Read pointers that no software would write: the mailbox counts as full. */
static void test_pointer(void)
{
    static const uint32_t used[] = { -1u, -2u, -(uint32_t)SLOTS, 1u << 31, SLOTS + 1,
                                     2 * SLOTS };
    ExtollTest *t = start(0, "");

    discarded = 0;
    memory_fill(t);
    for (unsigned i = 0; i < ARRAY_SIZE(used); i++) {
        velo_vpid_set(t, BOX, WPLT, 1000);
        velo_vpid_set(t, BOX, RPLT, (uint32_t)(1000 - used[i]));
        msg_send(t, 1, i);
        assert_discarded(t, VELO_FULL, 1);
        g_assert_cmpuint(velo_vpid_get(t, BOX, WPLT), ==, 1000);
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        g_assert_cmphex(status_get(t, i), ==, UINT64_MAX);
    }
    velo_vpid_set(t, BOX, RPLT, 1000);
    msg_send(t, 8, 99);
    msg_take(t, 8, 99);
    extoll_stop(t);
}

/* A status word of zeros would be an empty slot; bytes behind the data are zeros. */
static void test_slot(void)
{
    ExtollTest *t = start(0, "");

    extoll_set32(t, EXTOLL_REG_NODE, 0);
    extoll_set64(t, EXTOLL_VELO_ROUTE(0), EXTOLL_ROUTE_OWN);
    for (unsigned q = 1; q <= 8; q++) {
        VeloMsg m = msg(q, q);
        unsigned slots = q == 8 ? 2 : 1;

        m.node = m.own = m.mtt = 0;
        memory_fill(t);
        velo_vpid_set(t, BOX, WPLT, 5);
        velo_vpid_set(t, BOX, RPLT, 5);
        velo_store(t, &m);
        for (unsigned i = 0; i < SLOTS; i++) {
            if (i >= 5 && i < 5 + slots) {
                g_assert_cmphex(status_get(t, i) & EXTOLL_SLOT_VALID, !=, 0);
            } else {
                g_assert_cmphex(status_get(t, i), ==, UINT64_MAX);
            }
        }
        velo_take(t, &m, 0);        /* asserts the zeros */
        velo_assert_empty(t, BOX);
    }
    extoll_stop(t);
}

/* --- Causes ----------------------------------------------------------------- */

static void test_disabled(void)
{
    static const uint32_t bad[] = { 0, 0x7ff, 0x3f, 0xfef, 0x1ffe, 0x2fff, 0xf0fff,
                                    0xffffe, 0x80fff };
    static const uint32_t good[] = { 0xfff, 0x1fff, 0x7ffff, 0xfffff };
    ExtollTest *t = start(1, "");
    VeloMsg m = msg(3, 77);

    discarded = 0;
    memory_fill(t);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        velo_vpid_set(t, BOX, MSLT, bad[i]);
        msg_send(t, 2, i);
        assert_discarded(t, VELO_DISABLED, 1);
    }
    velo_vpid_set(t, BOX, MSLT, EXTOLL_RING_MIN - 1);
    enable_set(t, ~BIT);
    msg_send(t, 2, 1);
    assert_discarded(t, VELO_DISABLED, 1);
    velo_peer_send(t, 0, &m, 0);
    assert_discarded(t, VELO_DISABLED, 1);
    enable_set(t, BIT);
    extoll_set32(t, EXTOLL_REG_CTRL, 0);
    velo_peer_send(t, 0, &m, 0);
    assert_discarded(t, VELO_DISABLED, 1);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
    for (unsigned i = 0; i < SLOTS; i++) {
        g_assert_cmphex(status_get(t, i), ==, UINT64_MAX);
    }
    velo_assert_empty(t, BOX);
    velo_peer_send(t, 0, &m, 0);
    velo_take(t, &m, EXTOLL_PEER_NODE(0));
    enable_set(t, UINT32_MAX);
    for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
        velo_vpid_set(t, BOX, MSLT, good[i]);
        msg_send(t, 2, i);
        msg_take(t, 2, i);
    }
    assert_discarded(t, VELO_DISABLED, 0);
    extoll_stop(t);
}

static void test_prot(void)
{
    ExtollTest *t = start(1, "");
    VeloMsg m = msg(8, 5);

    discarded = 0;
    memory_fill(t);
    velo_prot_set(t, OWN, 0x1234);
    velo_prot_set(t, BOX, 0x1235);
    msg_send(t, 2, 1);
    assert_discarded(t, VELO_PROT, 1);
    velo_prot_set(t, BOX, 0);
    msg_send(t, 2, 1);
    assert_discarded(t, VELO_PROT, 1);
    velo_prot_set(t, BOX, 0x1234);
    msg_send(t, 2, 2);
    msg_take(t, 2, 2);
    velo_peer_send(t, 0, &m, 0x9234);
    assert_discarded(t, VELO_PROT, 1);
    g_assert_cmphex(status_get(t, 1), ==, UINT64_MAX);
    velo_peer_send(t, 0, &m, 0x1234);
    velo_take(t, &m, EXTOLL_PEER_NODE(0));
    assert_discarded(t, VELO_PROT, 0);
    extoll_stop(t);
}

static void test_prot_strict(void)
{
    ExtollTest *t = start(1, ",strict=on");
    VeloMsg m = msg(4, 5);

    velo_prot_set(t, OWN, 0x1234);
    velo_prot_set(t, BOX, 0x1235);
    msg_send(t, 2, 1);
    msg_take(t, 2, 1);
    velo_peer_send(t, 0, &m, 0xffff);
    velo_take(t, &m, EXTOLL_PEER_NODE(0));
    discarded = 0;
    assert_discarded(t, VELO_PROT, 0);
    extoll_stop(t);
}

/* Memory that does not exist, and registers of this device. */
static void test_bus(void)
{
    ExtollTest *t = start(0, "");
    uint64_t scratch;

    discarded = 0;
    extoll_set64(t, EXTOLL_REG_SCRATCH, 0x1122334455667788);
    velo_vpid_set(t, BOX, BALT, EXTOLL_NO_RAM);
    msg_send(t, 2, 1);
    assert_discarded(t, VELO_BUS, 1);
    velo_vpid_set(t, BOX, BALT, t->regs.addr);
    msg_send(t, 8, 2);
    assert_discarded(t, VELO_BUS, 1);
    scratch = extoll_get64(t, EXTOLL_REG_SCRATCH);
    g_assert_cmphex(scratch, ==, 0x1122334455667788);
    g_assert_cmpuint(extoll_counter(t, REG_BAD), ==, 0);
    velo_vpid_set(t, BOX, BALT, EXTOLL_VELO_AT);
    msg_send(t, 2, 3);
    assert_discarded(t, VELO_BUS, 1);
    g_assert_cmpuint(extoll_counter(t, VELO_BAD_STORE), ==, 0);
    g_assert_cmpuint(velo_vpid_get(t, BOX, WPLT), ==, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_DMA_WRITE), ==, 0);
    velo_mailbox(t, BOX, EXTOLL_RING_MIN);
    msg_send(t, 8, 4);
    msg_take(t, 8, 4);
    extoll_stop(t);
}

/* --- Interrupts ------------------------------------------------------------- */

/* Returns true if the vector has been sent, and clears the cause. */
static bool irq_taken(ExtollTest *t)
{
    unsigned vectors;
    uint32_t cause;

    extoll_settle(t);
    vectors = extoll_msix_taken(t);
    cause = extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE);
    g_assert_cmphex(vectors, ==, cause ? 1u << EXTOLL_VEC_VELO : 0);
    g_assert_cmphex(cause & ~BIT, ==, 0);
    extoll_irq_set(t, EXTOLL_VEC_VELO, CLEAR, cause);
    return vectors;
}

static void irq_enable(ExtollTest *t)
{
    extoll_msix_enable(t);
    extoll_irq_set(t, EXTOLL_VEC_VELO, MASK, UINT32_MAX);
}

static void rp_page_set(ExtollTest *t, uint32_t value)
{
    extoll_set64(t, EXTOLL_VELO_RP(BOX), value);
    g_assert_cmphex(velo_vpid_get(t, BOX, RPLT), ==, value);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_RP(BOX)), ==, value);
}

static void rplt_set(ExtollTest *t, uint32_t value)
{
    velo_vpid_set(t, BOX, RPLT, value);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_RP(BOX)), ==, value);
}

/* A VPID interrupts once for each store of its read pointer by @rp_set. */
static void check_irq(void (*rp_set)(ExtollTest *t, uint32_t value))
{
    ExtollTest *t = start(0, "");

    irq_enable(t);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ, BIT);
    g_assert_false(irq_taken(t));
    msg_send(t, 8, 0);
    g_assert_true(irq_taken(t));
    msg_send(t, 1, 1);
    msg_send(t, 1, 2);
    g_assert_false(irq_taken(t));
    rp_set(t, 2);                   /* two messages are left */
    g_assert_true(irq_taken(t));
    rp_set(t, 2);                   /* nothing was read, but software has looked */
    g_assert_true(irq_taken(t));
    msg_send(t, 1, 3);
    g_assert_false(irq_taken(t));
    rp_set(t, 5);
    g_assert_false(irq_taken(t));
    msg_send(t, 1, 4);
    g_assert_true(irq_taken(t));
    rp_set(t, 6);
    /* a message that is discarded does not interrupt */
    velo_vpid_set(t, BOX, MSLT, 0);
    msg_send(t, 1, 5);
    g_assert_false(irq_taken(t));
    velo_vpid_set(t, BOX, MSLT, EXTOLL_RING_MIN - 1);
    msg_send(t, 1, 6);
    g_assert_true(irq_taken(t));
    extoll_stop(t);
}

static void test_irq_register(void)
{
    check_irq(rplt_set);
}

static void test_irq_page(void)
{
    check_irq(rp_page_set);
}

/* VPIDs interrupt by themselves; VELO_IRQ permits it, also afterwards. */
static void test_irq_vpids(void)
{
    ExtollTest *t = start(0, "");
    VeloMsg m = msg(1, 1);

    irq_enable(t);
    velo_mailbox(t, BOX + 1, EXTOLL_RING_MIN);
    velo_mailbox(t, BOX + 2, EXTOLL_RING_MIN);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ, 4 * BIT);
    msg_send(t, 1, 0);
    m.vpid = BOX + 1;
    velo_store(t, &m);
    g_assert_false(irq_taken(t));
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 0);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ, 7 * BIT);
    extoll_settle(t);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_VELO);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 3 * BIT);
    m.vpid = BOX + 2;
    velo_store(t, &m);
    extoll_settle(t);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_VELO);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 7 * BIT);
    extoll_irq_set(t, EXTOLL_VEC_VELO, CLEAR, 7 * BIT);
    /* BOX may interrupt again, the others not */
    velo_vpid_set(t, BOX, RPLT, 1);
    for (unsigned i = 0; i < 3; i++) {
        m.vpid = BOX + i;
        velo_store(t, &m);
    }
    g_assert_true(irq_taken(t));
    extoll_stop(t);
}

/* A store of the upper half of a read pointer, which has no bits, changes nothing. */
static void test_rp_halves(void)
{
    ExtollTest *t = start(0, "");

    velo_vpid_set(t, BOX, RPLT, 5);
    extoll_set32(t, EXTOLL_VELO_RP(BOX) + 4, 0);
    g_assert_cmphex(velo_vpid_get(t, BOX, RPLT), ==, 5);
    extoll_set32(t, EXTOLL_VELO_RP(BOX), 6);
    g_assert_cmphex(velo_vpid_get(t, BOX, RPLT), ==, 6);
    extoll_set32(t, EXTOLL_VELO_RP(BOX) + 4, UINT32_MAX);
    g_assert_cmphex(velo_vpid_get(t, BOX, RPLT), ==, 6);
    extoll_set32(t, EXTOLL_VELO_VPID(BOX) + EXTOLL_REG_RPLT, 7);
    extoll_set32(t, EXTOLL_VELO_VPID(BOX) + EXTOLL_REG_RPLT + 4, 0);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_RP(BOX)), ==, 7);
    extoll_set64(t, EXTOLL_VELO_RP(BOX), UINT64_MAX);
    g_assert_cmphex(velo_vpid_get(t, BOX, RPLT), ==, UINT32_MAX);
    extoll_stop(t);
}

/* --- Counts and malformed packets ------------------------------------------- */

static void test_count(void)
{
    ExtollTest *t = start(1, "");
    VeloMsg m = msg(8, 0);

    for (unsigned n = 0; n < 10; n++) {
        msg_send(t, 1, n);
    }
    for (unsigned n = 0; n < 4; n++) {
        velo_peer_send(t, 0, &m, 0);
    }
    for (unsigned n = 0; n < 3; n++) {
        velo_peer_send(t, 0, &m, 1);
    }
    m.node = EXTOLL_PEER_NODE(0);
    velo_store(t, &m);
    velo_peer_take(t, 0, &m, 0, 8);
    g_assert_cmpuint(velo_count(t, SENT), ==, 11);
    g_assert_cmpuint(velo_count(t, RECEIVED), ==, 14);
    g_assert_cmpuint(velo_count(t, DISCARDED), ==, 3);
    g_assert_cmpuint(extoll_counter(t, VELO_TRIP), ==, 11);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO + EXTOLL_REG_VELO_COUNT), ==, 0);
    extoll_stop(t);
}

static void frame_send(ExtollTest *t, uint64_t route, uint64_t frame, unsigned quadwords)
{
    uint64_t packet[2 + EXTOLL_VELO_QUADWORDS + 1] = { cpu_to_le64(route),
                                                       cpu_to_le64(frame) };

    velo_peer_send_raw(t, 0, packet, (2 + quadwords) * 8);
}

static uint64_t field_set(uint64_t frame, uint64_t field, unsigned value)
{
    return (frame & ~field) | RNIC_PREP(field, value);
}

/* Frames that no sender makes: none is stored, and the link goes on. */
static void test_malformed(void)
{
    VeloMsg m = msg(3, 9);
    uint64_t good = velo_frame(&m, EXTOLL_PEER_NODE(0), 0);
    const struct { uint64_t frame; unsigned quadwords; } bad[] = {
        { field_set(good, EXTOLL_MSG_RESERVED, 1), 3 },
        { field_set(good, EXTOLL_MSG_RESERVED, 4), 3 },
        { field_set(good, EXTOLL_MSG_COUNT, 0), 1 },
        { field_set(good, EXTOLL_MSG_QUADWORDS, 0), 3 },
        { field_set(good, EXTOLL_MSG_QUADWORDS, 9), 3 },
        { field_set(good, EXTOLL_MSG_QUADWORDS, 15), 3 },
        { field_set(good, EXTOLL_MSG_FIRST, 1), 3 },
        { field_set(good, EXTOLL_MSG_FIRST, 7), 3 },
        { field_set(good, EXTOLL_MSG_COUNT, 2), 2 },
        { field_set(good, EXTOLL_MSG_COUNT, 4), 4 },
        { field_set(good, EXTOLL_MSG_END, 0), 3 },
        { field_set(good | EXTOLL_MSG_SPLIT, EXTOLL_MSG_FIRST, 1), 3 },
        { good, 2 }, { good, 4 }, { good, 1 },
        { field_set(good, EXTOLL_PKT_COMMAND, 15), 3 },
    };
    ExtollTest *t = start(1, "");

    memory_fill(t);
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        frame_send(t, EXTOLL_ROUTE_OWN, bad[i].frame, bad[i].quadwords);
        g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, i + 1);
    }
    g_assert_cmpuint(extoll_port64(t, 0, RX_ERROR), ==, 0);
    g_assert_cmpuint(velo_count(t, RECEIVED), ==, 0);
    g_assert_cmpuint(velo_count(t, DISCARDED), ==, 0);
    g_assert_cmphex(status_get(t, 0), ==, UINT64_MAX);
    /* a message for the RMA, and a command of the RMA for VELO */
    frame_send(t, extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0), good, 3);
    g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 1);
    frame_send(t, EXTOLL_ROUTE_OWN, EXTOLL_CMD_NOTIFICATION, 2);
    g_assert_cmpuint(extoll_counter(t, ROUTE_BAD), ==, 2);
    g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, ARRAY_SIZE(bad));
    velo_assert_empty(t, BOX);
    velo_peer_send(t, 0, &m, 0);
    velo_take(t, &m, EXTOLL_PEER_NODE(0));
    extoll_stop(t);
}

/* Parts of a message from a peer: each has its slots, also a part of 64 B. */
static void test_parts(void)
{
    ExtollTest *t = start(1, "");
    VeloMsg m = msg(8, 0);
    uint64_t frame = velo_frame(&m, EXTOLL_PEER_NODE(0), 0) | EXTOLL_MSG_SPLIT;
    uint64_t slot;

    frame_send(t, EXTOLL_ROUTE_OWN, field_set(frame, EXTOLL_MSG_END, 0), 8);
    frame = field_set(field_set(frame, EXTOLL_MSG_FIRST, 5), EXTOLL_MSG_COUNT, 3);
    frame_send(t, EXTOLL_ROUTE_OWN, frame, 3);
    g_assert_cmpuint(velo_vpid_get(t, BOX, WPLT), ==, 3);
    for (unsigned i = 0; i < 3; i++) {
        static const struct { unsigned first, count; bool end; } want[] = {
            { 0, 7, false }, { 7, 1, false }, { 5, 3, true },
        };

        slot = status_get(t, i);
        g_assert_cmpuint(RNIC_GET(EXTOLL_SLOT_FIRST, slot), ==, want[i].first);
        g_assert_cmpuint(RNIC_GET(EXTOLL_SLOT_FRAGMENT, slot), ==, want[i].count * 8);
        g_assert_cmpuint(RNIC_GET(EXTOLL_SLOT_MESSAGE, slot), ==, 64);
        g_assert_cmpint(!!(slot & EXTOLL_SLOT_END), ==, want[i].end);
        g_assert_true(slot & EXTOLL_SLOT_SPLIT);
        g_assert_false(slot & EXTOLL_SLOT_ERROR);
    }
    g_assert_cmpuint(extoll_counter(t, PACKET_BAD), ==, 0);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/mailbox/wrap", test_wrap);
    qtest_add_func("/extoll/mailbox/sizes", test_sizes);
    qtest_add_func("/extoll/mailbox/full", test_full);
    qtest_add_func("/extoll/mailbox/two-slots", test_two_slots);
    qtest_add_func("/extoll/mailbox/pointer", test_pointer);
    qtest_add_func("/extoll/mailbox/slot", test_slot);
    qtest_add_func("/extoll/mailbox/disabled", test_disabled);
    qtest_add_func("/extoll/mailbox/prot", test_prot);
    qtest_add_func("/extoll/mailbox/prot-strict", test_prot_strict);
    qtest_add_func("/extoll/mailbox/bus", test_bus);
    qtest_add_func("/extoll/mailbox/irq-register", test_irq_register);
    qtest_add_func("/extoll/mailbox/irq-page", test_irq_page);
    qtest_add_func("/extoll/mailbox/irq-vpids", test_irq_vpids);
    qtest_add_func("/extoll/mailbox/rp-halves", test_rp_halves);
    qtest_add_func("/extoll/mailbox/count", test_count);
    qtest_add_func("/extoll/mailbox/malformed", test_malformed);
    qtest_add_func("/extoll/mailbox/parts", test_parts);
    return g_test_run();
}
