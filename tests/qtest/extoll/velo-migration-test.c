/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VELO continues in another QEMU, and after a snapshot: stores that are no whole message
 * yet, staged messages, messages that wait for a link, mailboxes and interrupts.  Streams
 * with impossible messages are refused, and the device works after a reset.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "rnic/extoll/velo.h"
#include "link.h"

#define LINK        ",link0=c0 -netdev hubport,id=c0,hubid=0"
#define WINDOW      0x800000000ULL      /* guest address of BAR 2 */
#define RING        EXTOLL_RING_MIN
#define FAR         40                  /* a node behind link 0 */

/* VPIDs of this test. */
enum {
    BOX = 1,                            /* its mailbox gets all messages */
    PARTIAL, HALF, EVICTED, STAGED, TORN, WAITING, QUIET,
};

#define WAITS       20                  /* messages that wait for the link */

/* --- Driver ------------------------------------------------------------------- */

static void window_map(ExtollTest *t)
{
    unsigned at = PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_VELO;

    qpci_config_writel(t->dev, at, (uint32_t)WINDOW);
    qpci_config_writel(t->dev, at + 4, WINDOW >> 32);
}

static void mailbox_set(ExtollTest *t, unsigned vpid)
{
    extoll_set64(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_BALT,
                 EXTOLL_RAM_DATA + vpid * RING);
    extoll_set64(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_MSLT, RING - 1);
}

/* Enables VELO with two mailboxes, and routes to the own node and to FAR. */
static void driver_start(ExtollTest *t)
{
    uint64_t arrived = extoll_hop(EXTOLL_OUTPUT_VELO, 0, 0);

    window_map(t);
    extoll_msix_enable(t);
    extoll_set64(t, EXTOLL_VELO_ROUTE(EXTOLL_TEST_NODE), arrived);
    extoll_set64(t, EXTOLL_VELO_ROUTE(FAR), extoll_hop(0, 0, arrived));
    mailbox_set(t, BOX);
    mailbox_set(t, QUIET);
    extoll_set32(t, EXTOLL_VELO_VPID(STAGED) + EXTOLL_REG_TXIO, 1);
    extoll_set32(t, EXTOLL_VELO_VPID(TORN) + EXTOLL_REG_TXIO, 1);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, ~0u);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ, ~0u);
    extoll_irq_set(t, EXTOLL_VEC_VELO, MASK, ~0u);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
}

/* Returns the address of a message of @quadwords from VPID @from to @to at @node. */
static uint64_t place(unsigned node, unsigned to, unsigned from, unsigned quadwords)
{
    return WINDOW | RNIC_PREP(EXTOLL_VELO_ADDR_NODE, node) |
           RNIC_PREP(EXTOLL_VELO_ADDR_VPID, to) |
           RNIC_PREP(EXTOLL_VELO_ADDR_OWN, from) |
           RNIC_PREP(EXTOLL_VELO_ADDR_QUADWORDS, quadwords);
}

/* Returns quadword @q of message @n. */
static uint64_t word(unsigned n, unsigned q)
{
    return 0x1122334400000000ULL | n << 8 | q;
}

/* Stores quadword @q of message @n at the message's place @at. */
static void word_store(ExtollTest *t, uint64_t at, unsigned n, unsigned q)
{
    qtest_writeq(t->qts, at + 8 * q, word(n, q));
}

/*
 * Asserts that slot @slot of the mailbox of @vpid has quadwords @first to @first + @count
 * - 1 of the @quadwords of message @n from VPID @from.
 */
static void slot_check(ExtollTest *t, unsigned vpid, unsigned slot, unsigned from,
                       unsigned n, unsigned quadwords, unsigned first, unsigned count)
{
    uint64_t at = EXTOLL_RAM_DATA + vpid * RING + slot * EXTOLL_SLOT_BYTES;
    bool split = count != quadwords;

    g_assert_cmphex(qtest_readq(t->qts, at), ==,
                    RNIC_PREP(EXTOLL_SLOT_NODE, EXTOLL_TEST_NODE) |
                    RNIC_PREP(EXTOLL_SLOT_VPID, from) |
                    RNIC_PREP(EXTOLL_SLOT_END, first + count == quadwords) |
                    RNIC_PREP(EXTOLL_SLOT_SPLIT, split) |
                    RNIC_PREP(EXTOLL_SLOT_MESSAGE, quadwords * 8) |
                    RNIC_PREP(EXTOLL_SLOT_FRAGMENT, count * 8) |
                    RNIC_PREP(EXTOLL_SLOT_FIRST, first) | EXTOLL_SLOT_VALID);
    for (unsigned q = 0; q < count; q++) {
        g_assert_cmphex(qtest_readq(t->qts, at + 8 + 8 * q), ==, word(n, first + q));
    }
}

static void pointers_check(ExtollTest *t, unsigned vpid, uint32_t wp, uint32_t rp)
{
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_WPLT), ==, wp);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_RPLT), ==, rp);
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO_RP(vpid)), ==, rp);
}

static void count_check(ExtollTest *t, unsigned received, unsigned discarded)
{
    g_assert_cmphex(extoll_get64(t, EXTOLL_VELO + EXTOLL_REG_VELO_COUNT), ==,
                    RNIC_PREP(EXTOLL_VELO_COUNT_SENT, received + discarded) |
                    RNIC_PREP(EXTOLL_VELO_COUNT_RECEIVED, received) |
                    RNIC_PREP(EXTOLL_VELO_COUNT_DISCARDED, discarded));
}

/* --- State -------------------------------------------------------------------- */

/* Places of messages that are stored in two parts. */
#define AT_PARTIAL  place(EXTOLL_TEST_NODE, BOX, PARTIAL, 2)
#define AT_HALF     place(EXTOLL_TEST_NODE, BOX, HALF, 1)
#define AT_EVICTED(i) place(EXTOLL_TEST_NODE, BOX + (i), EVICTED, 2)
#define AT_STAGED   place(EXTOLL_TEST_NODE, BOX, STAGED, 2)
#define AT_TORN     place(EXTOLL_TEST_NODE, BOX, TORN, 1)
#define AT_FAR      place(FAR, BOX, WAITING, 1)

/* Gives VELO a state of all kinds: slots 0 to 2 of the mailbox are filled. */
static void state_make(ExtollTest *t)
{
    uint64_t whole = place(EXTOLL_TEST_NODE, BOX, WAITING, 1);

    driver_start(t);
    word_store(t, whole, 1, 0);
    g_assert_cmphex(extoll_msix_taken(t), ==, 1u << EXTOLL_VEC_VELO);
    /* the second message does not interrupt, because software has not read the first */
    extoll_irq_set(t, EXTOLL_VEC_VELO, CLEAR, 1u << BOX);
    word_store(t, whole, 2, 0);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
    word_store(t, AT_PARTIAL, 3, 1);
    qtest_writel(t->qts, AT_HALF, (uint32_t)word(4, 0));
    /* the fifth message makes the first one leave its buffer */
    for (unsigned i = 0; i <= 4; i++) {
        word_store(t, AT_EVICTED(i), 5, 0);
    }
    word_store(t, AT_STAGED, 6, 1);
    word_store(t, AT_STAGED, 6, 0);
    word_store(t, AT_TORN, 7, 0);
    word_store(t, AT_TORN, 7, 0);
    for (unsigned i = 0; i < WAITS; i++) {
        word_store(t, AT_FAR, 10 + i, 0);
    }
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_STATUS), ==, 0);
}

/* Asserts what the loaded state has before the first store. */
static void state_check(ExtollTest *t)
{
    pointers_check(t, BOX, 3, 0);
    pointers_check(t, QUIET, 0, 0);
    slot_check(t, BOX, 0, WAITING, 1, 1, 0, 1);
    slot_check(t, BOX, 1, WAITING, 2, 1, 0, 1);
    slot_check(t, BOX, 2, EVICTED, 5, 2, 0, 1);
    count_check(t, 3, 0);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, 3 + WAITS);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_STATUS), ==, 0);
    g_assert_cmphex(extoll_msix_taken(t), ==, 0);
}

/* Completes all messages that were begun before. */
static void state_complete(ExtollTest *t)
{
    uint64_t quiet = place(EXTOLL_TEST_NODE, QUIET, WAITING, 1);

    extoll_port_set(t, 0, CTRL, EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    qtest_clock_step(t->qts, 200 * EXTOLL_TEST_MS);
    pointers_check(t, BOX, 3 + WAITS, 0);
    for (unsigned i = 0; i < WAITS; i++) {
        slot_check(t, BOX, 3 + i, WAITING, 10 + i, 1, 0, 1);
    }
    word_store(t, AT_PARTIAL, 3, 0);
    slot_check(t, BOX, 3 + WAITS, PARTIAL, 3, 2, 0, 2);
    qtest_writel(t->qts, AT_HALF + 4, word(4, 0) >> 32);
    slot_check(t, BOX, 4 + WAITS, HALF, 4, 1, 0, 1);
    word_store(t, AT_EVICTED(0), 5, 1);
    slot_check(t, BOX, 5 + WAITS, EVICTED, 5, 2, 1, 1);
    g_assert_cmphex(qtest_readq(t->qts, AT_STAGED), ==, EXTOLL_TXIO_ACCEPTED);
    slot_check(t, BOX, 6 + WAITS, STAGED, 6, 2, 0, 2);
    g_assert_cmphex(qtest_readq(t->qts, AT_TORN), ==, EXTOLL_TXIO_TORN);
    g_assert_cmphex(qtest_readq(t->qts, AT_STAGED), ==, EXTOLL_TXIO_TORN);
    pointers_check(t, BOX, 7 + WAITS, 0);
    /* the mailbox may not interrupt again until software has read a message */
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 0);
    word_store(t, quiet, 8, 0);
    slot_check(t, QUIET, 0, WAITING, 8, 1, 0, 1);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==, 1u << QUIET);
    extoll_set64(t, EXTOLL_VELO_RP(BOX), 2);
    g_assert_cmphex(extoll_irq_get(t, EXTOLL_VEC_VELO, CAUSE), ==,
                    1u << QUIET | 1u << BOX);
    g_assert_cmphex(extoll_msix_taken(t) & 1u << EXTOLL_VEC_VELO, ==,
                    1u << EXTOLL_VEC_VELO);
    /* the first message of EVICTED that left its buffer, and no other, was in parts */
    g_assert_cmpuint(extoll_counter(t, VELO_TORN), ==, 0);
    g_assert_cmpuint(extoll_counter(t, TXIO_TORN), ==, 2);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, 1);
    /* the store of EVICTED's rest made another message leave, which has no mailbox */
    count_check(t, 8 + WAITS, 1);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_STATUS) & EXTOLL_STATUS_IDLE, ==,
                    EXTOLL_STATUS_IDLE);
}

static void test_continues(void)
{
    ExtollTest *from = extoll_start(LINK), *to = extoll_start(LINK MIGRATE_INCOMING);
    g_autofree char *path = NULL;

    state_make(from);
    path = migrate_save(from->qts);
    extoll_stop(from);
    migrate_load(to->qts, path);
    unlink(path);
    state_check(to);
    state_complete(to);
    extoll_stop(to);
}

/* The same after a snapshot, and once more after the same snapshot. */
static void test_snapshot(void)
{
    ExtollTest *t = extoll_start(LINK);
    g_autofree char *path = g_strdup_printf("%s.disk", t->log);

    state_make(t);
    migrate_disk_add(t->qts, path);
    migrate_snapshot(t->qts, "snapshot-save");
    for (unsigned i = 0; i < 2; i++) {
        state_complete(t);
        extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
        migrate_snapshot(t->qts, "snapshot-load");
        state_check(t);
    }
    unlink(path);
    extoll_stop(t);
}

/* A full FIFO stays full by a migration, and the target sends all its messages. */
static void test_full(void)
{
    ExtollTest *from = extoll_start(LINK), *to = extoll_start(LINK MIGRATE_INCOMING);
    g_autofree char *path = NULL;
    unsigned queued;

    driver_start(from);
    /* fills the FIFO, until it takes no message more */
    for (queued = 0; !extoll_counter(from, CFCQ_DROPPED); queued++) {
        word_store(from, AT_FAR, queued, 0);
    }
    queued--;
    path = migrate_save(from->qts);
    from->guest_errors = true;
    extoll_stop(from);
    migrate_load(to->qts, path);
    unlink(path);
    mailbox_set(to, BOX);
    extoll_set64(to, EXTOLL_VELO_VPID(BOX) + EXTOLL_REG_MSLT, 0x7fff);
    g_assert_cmpuint(extoll_counter(to, VELO_PIO), ==, queued);
    word_store(to, AT_FAR, 999, 0);
    g_assert_cmpuint(extoll_counter(to, CFCQ_DROPPED), ==, 2);
    extoll_port_set(to, 0, CTRL, EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    qtest_clock_step(to->qts, 200 * EXTOLL_TEST_MS);
    pointers_check(to, BOX, queued, 0);
    for (unsigned i = 0; i < queued; i++) {
        slot_check(to, BOX, i, WAITING, i, 1, 0, 1);
    }
    to->guest_errors = true;
    extoll_stop(to);
}

/* --- Streams that lie --------------------------------------------------------- */

/* Bytes of the parts of the stream of VELO, and places in a message and a buffer. */
enum {
    MSG_DST_NODE = 2, MSG_SRC_VPID = 6, MSG_DST_VPID, MSG_MTT, MSG_QUADWORDS, MSG_FIRST,
    MSG_COUNT, MSG_SPLIT, MSG_END, MSG_BYTES = 14 + EXTOLL_VELO_BYTES,
    BUFFER_STORED = MSG_BYTES, BUFFER_LEFT = MSG_BYTES + 2, BUFFER_BYTES = MSG_BYTES + 11,
    LEFT_ADDRESS = 0, LEFT_LEFT = 4, LEFT_BYTES = 13,
    STAGED_BYTES = 7 + EXTOLL_VELO_BYTES,
    BUFFERS = 4, LEFTS = 8, QUEUE = 256 + 64,
    /* parts, from the start of VELO */
    LEFT_AT = EXTOLL_VPIDS * BUFFERS * BUFFER_BYTES,
    STAGED_AT = LEFT_AT + EXTOLL_VPIDS * LEFTS * LEFT_BYTES + 12,
    HEAD_AT = STAGED_AT + EXTOLL_VPIDS * STAGED_BYTES,
    QUEUE_AT = HEAD_AT + 8,
    VELO_BYTES = QUEUE_AT + QUEUE * MSG_BYTES + 4,
    /* the first waiting message, the partial message, and the message that left */
    WAITING_AT = QUEUE_AT + 3 * MSG_BYTES,
    PARTIAL_AT = PARTIAL * BUFFERS * BUFFER_BYTES,
    EVICTED_AT = LEFT_AT + EVICTED * LEFTS * LEFT_BYTES,
};

/* Returns the place of VELO's state, which follows registers and links, in @text. */
static uint8_t *velo_of(uint8_t *text, size_t len)
{
    uint8_t first[4 + 8 + 4];
    uint8_t *at;

    stl_be_p(first, EXTOLL_REG_VERSION);
    stq_be_p(first + 4, EXTOLL_VERSION);
    stl_be_p(first + 12, EXTOLL_REG_CAP);
    at = memmem(text, len, first, sizeof(first));
    g_assert_nonnull(at);
    for (; ldl_be_p(at) != UINT32_MAX; at += 12) {
        g_assert_cmpuint(at - text, <, len);
    }
    for (at += 4; *at != UINT8_MAX; at += 9 + ldl_be_p(at + 5)) {
        g_assert_cmpuint(at - text, <, len);        /* a link */
    }
    at++;
    g_assert_cmpuint(at - text + VELO_BYTES, <, len);
    /* the table of places is right */
    g_assert_cmpuint(ldl_be_p(at + HEAD_AT), ==, 3);
    g_assert_cmpuint(ldl_be_p(at + HEAD_AT + 4), ==, 1);
    g_assert_cmpuint(at[WAITING_AT + MSG_DST_NODE + 1], ==, FAR);
    g_assert_cmpuint(at[WAITING_AT + MSG_QUADWORDS], ==, 1);
    g_assert_cmpuint(at[PARTIAL_AT + MSG_SRC_VPID], ==, PARTIAL);
    g_assert_cmphex(lduw_be_p(at + PARTIAL_AT + BUFFER_STORED), ==, 0xc);
    g_assert_cmphex(at[EVICTED_AT + LEFT_LEFT], ==, 1);
    return at;
}

/*
 * Returns the stream, of *@len bytes, of a machine with one message in the FIFO, and its
 * file in *@path.
 */
static char *stream_save(char **path, gsize *len)
{
    ExtollTest *t = extoll_start(LINK);
    char *text;

    driver_start(t);
    for (unsigned i = 0; i < 2; i++) {
        word_store(t, place(EXTOLL_TEST_NODE, BOX, WAITING, 1), i, 0);
    }
    word_store(t, AT_PARTIAL, 3, 1);
    for (unsigned i = 0; i <= 4; i++) {
        word_store(t, AT_EVICTED(i), 5, 0);
    }
    word_store(t, AT_STAGED, 6, 1);
    word_store(t, AT_FAR, 10, 0);
    *path = migrate_save(t->qts);
    extoll_stop(t);
    g_assert_true(g_file_get_contents(*path, &text, len, NULL));
    return text;
}

/* Asserts that VELO works after a reset of the machine. */
static void check_resettable(ExtollTest *t)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'system_reset' }");
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_REGS, t->regs.addr);
    qpci_device_enable(t->dev);
    g_assert_cmphex(extoll_get32(t, EXTOLL_REG_STATUS), ==, EXTOLL_STATUS_IDLE);
    count_check(t, 0, 0);
    driver_start(t);
    word_store(t, place(EXTOLL_TEST_NODE, BOX, WAITING, 1), 77, 0);
    slot_check(t, BOX, 0, WAITING, 77, 1, 0, 1);
    count_check(t, 1, 0);
}

/*
 * Asserts that a machine refuses the stream of @len bytes at @text, and prints the error
 * of an impossible message at most once, and exactly once if @line is true.  Asserts that
 * the machine survives stores before a reset, and works after the reset.  Uses the file
 * @path.
 */
static void assert_refused(const char *path, const void *text, size_t len, bool line)
{
    g_autofree char *err = g_strdup_printf("%s.err", path), *lines = NULL, *reason = NULL;
    g_autofree char *props = g_strdup_printf(LINK MIGRATE_INCOMING " 2>%s", err);
    ExtollTest *to = extoll_start(props);
    const char *found;

    g_assert_true(g_file_set_contents(path, text, len, NULL));
    reason = migrate_load_refused(to->qts, path);
    g_assert_nonnull(reason);
    for (unsigned i = 0; i <= 4; i++) {
        word_store(to, AT_EVICTED(i), 5, 1);
        word_store(to, place(EXTOLL_TEST_NODE, BOX + i, PARTIAL, 2), 5, 0);
    }
    qtest_readq(to->qts, AT_STAGED);
    check_resettable(to);
    extoll_stop(to);
    g_assert_true(g_file_get_contents(err, &lines, NULL, NULL));
    unlink(err);
    found = strstr(lines, "extoll: the stream has an impossible message\n");
    g_assert_true(!line || found);
    g_assert_true(!found || !strstr(found + 1, "extoll: the stream has"));
}

static void test_lies(void)
{
    static const struct { uint32_t at; unsigned bytes; uint64_t value; } lies[] = {
        { HEAD_AT, 4, QUEUE }, { HEAD_AT, 4, UINT32_MAX },
        { HEAD_AT + 4, 4, QUEUE + 1 }, { HEAD_AT + 4, 4, UINT32_MAX },
        { HEAD_AT + 4, 4, 2 },          /* the second message was never stored */
        { WAITING_AT + MSG_DST_NODE, 2, EXTOLL_NODES },
        { WAITING_AT, 2, EXTOLL_NODES },
        { WAITING_AT + MSG_SRC_VPID, 1, EXTOLL_VPIDS },
        { WAITING_AT + MSG_DST_VPID, 1, EXTOLL_VPIDS },
        { WAITING_AT + MSG_MTT, 1, 4 },
        { WAITING_AT + MSG_QUADWORDS, 1, 0 }, { WAITING_AT + MSG_QUADWORDS, 1, 9 },
        { WAITING_AT + MSG_FIRST, 1, 1 }, { WAITING_AT + MSG_FIRST, 1, 255 },
        { WAITING_AT + MSG_COUNT, 1, 0 }, { WAITING_AT + MSG_COUNT, 1, 2 },
        { WAITING_AT + MSG_QUADWORDS, 1, 2 },   /* a part without SPLIT */
        { WAITING_AT + MSG_END, 1, 0 },
        { PARTIAL_AT + MSG_DST_NODE, 2, EXTOLL_NODES },
        { PARTIAL_AT + MSG_SRC_VPID, 1, PARTIAL + 1 },
        { PARTIAL_AT + MSG_DST_VPID, 1, EXTOLL_VPIDS },
        { PARTIAL_AT + MSG_QUADWORDS, 1, 0 }, { PARTIAL_AT + MSG_QUADWORDS, 1, 9 },
        { PARTIAL_AT + MSG_QUADWORDS, 1, 1 }, { PARTIAL_AT + MSG_FIRST, 1, 1 },
        { PARTIAL_AT + MSG_COUNT, 1, 1 }, { PARTIAL_AT + BUFFER_STORED, 2, 0x10 },
        { PARTIAL_AT + BUFFER_LEFT, 1, 4 },
        { PARTIAL_AT + BUFFER_LEFT, 1, 2 },     /* the quadword is stored, too */
        { PARTIAL_AT + BUFFER_STORED, 2, 0xf }, /* the message is complete */
        { EVICTED_AT + LEFT_LEFT, 1, 4 }, { EVICTED_AT + LEFT_LEFT, 1, 3 },
        { EVICTED_AT + LEFT_ADDRESS, 4, 0 },
    };
    g_autofree char *path = NULL, *text = NULL;
    gsize len;

    text = stream_save(&path, &len);
    for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
        g_autofree uint8_t *copy = g_memdup2(text, len);

        g_test_message("lie %u", i);
        stn_be_p(velo_of(copy, len) + lies[i].at, lies[i].bytes, lies[i].value);
        assert_refused(path, copy, len, true);
    }
    unlink(path);
}

/* The stream ends inside VELO, behind impossible messages. */
static void test_truncated(void)
{
    static const uint32_t ends[] = {
        PARTIAL_AT + MSG_BYTES + 1, LEFT_AT, HEAD_AT + 4, QUEUE_AT,
        WAITING_AT + MSG_BYTES,
    };
    g_autofree char *path = NULL, *text = NULL;
    uint8_t *velo;
    gsize len;

    text = stream_save(&path, &len);
    velo = velo_of((uint8_t *)text, len);
    velo[PARTIAL_AT + MSG_QUADWORDS] = 200;
    stw_be_p(velo + PARTIAL_AT + BUFFER_STORED, UINT16_MAX);
    stl_be_p(velo + HEAD_AT, UINT32_MAX);
    for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
        assert_refused(path, text, (char *)velo + ends[i] - text, false);
    }
    unlink(path);
}

/* The stream that the lies are made from is good. */
static void test_truth(void)
{
    ExtollTest *to = extoll_start(LINK MIGRATE_INCOMING);
    g_autofree char *path = NULL, *text = NULL;
    gsize len;

    text = stream_save(&path, &len);
    g_assert_nonnull(velo_of((uint8_t *)text, len));
    migrate_load(to->qts, path);
    unlink(path);
    extoll_port_set(to, 0, CTRL, EXTOLL_PORT_CTRL_ENABLE | EXTOLL_PORT_CTRL_LOOPBACK);
    qtest_clock_step(to->qts, 200 * EXTOLL_TEST_MS);
    slot_check(to, BOX, 3, WAITING, 10, 1, 0, 1);
    word_store(to, AT_PARTIAL, 3, 0);
    slot_check(to, BOX, 4, PARTIAL, 3, 2, 0, 2);
    extoll_stop(to);
}

/* The page of a read pointer has the value of RPLT, which the stream has. */
static void test_read_pointer(void)
{
    ExtollTest *from = extoll_start(LINK), *to = extoll_start(LINK MIGRATE_INCOMING);
    g_autofree char *path = NULL;

    extoll_set64(from, EXTOLL_VELO_VPID(7) + EXTOLL_REG_RPLT, 0x1234);
    path = migrate_save(from->qts);
    migrate_load(to->qts, path);
    unlink(path);
    extoll_stop(from);
    extoll_set32(to, EXTOLL_VELO_RP(7) + 4, 0);
    g_assert_cmphex(extoll_get64(to, EXTOLL_VELO_VPID(7) + EXTOLL_REG_RPLT), ==, 0x1234);
    extoll_stop(to);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/velo-migration/continues", test_continues);
    qtest_add_func("/extoll/velo-migration/snapshot", test_snapshot);
    qtest_add_func("/extoll/velo-migration/full", test_full);
    qtest_add_func("/extoll/velo-migration/truth", test_truth);
    qtest_add_func("/extoll/velo-migration/lies", test_lies);
    qtest_add_func("/extoll/velo-migration/truncated", test_truncated);
    qtest_add_func("/extoll/velo-migration/read-pointer", test_read_pointer);
    return g_test_run();
}
