/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two rings that pvrdma fills, for events and CQ notifications, with the driver's
 * arithmetic of indices; interrupts by MSI-X and without it.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "verbs.h"

/*
 * Numbers of slots that the driver's masks use of the three pages of elements: fewer
 * than the pages have, because three pages are no power of two.
 */
#define EVENTS      512
#define NOTIFIES    1024
#define SRQS        3

typedef struct Source {
    PvrdmaTestSrq srq[SRQS];
    PvrdmaTestCq cq;
    PvrdmaTestQp qp;                    /* in ERR, so that its WQEs are flushed */
    unsigned made;                      /* number of events made */
} Source;

static Source source_make(PvrdmaTest *t)
{
    uint32_t pd = pvrdma_pd_create(t, 0);
    Source src = { .cq = pvrdma_cq_create(t, 0, 0, 16) };
    const PvrdmaTestQpAttr attr = { 0 };

    for (unsigned i = 0; i < SRQS; i++) {
        src.srq[i] = pvrdma_srq_create(t, pd, 0, 4, 1);
    }
    src.qp = pvrdma_qp_create(t, &(PvrdmaTestQpInit) {
        .pd = pd, .send_cq = &src.cq,
    });
    pvrdma_qp_init(t, &src.qp, &attr);
    pvrdma_qp_to(t, &src.qp, PVRDMA_QPS_ERR);
    return src;
}

static uint32_t event_info(const Source *src, unsigned n)
{
    return src->srq[n % SRQS].handle;
}

/* Makes an event: sets a limit that an SRQ has fewer WQEs than. */
static void event_make(PvrdmaTest *t, Source *src)
{
    union pvrdma_cmd_req req = {
        .modify_srq = {
            .srq_handle = cpu_to_le32(event_info(src, src->made++)),
            .attr_mask = cpu_to_le32(PVRDMA_SRQ_LIMIT),
            .attrs.srq_limit = cpu_to_le32(1),
        },
    };

    pvrdma_command_ok(t, PVRDMA_CMD_MODIFY_SRQ, &req, NULL);
}

static void event_check(PvrdmaTest *t, const Source *src, unsigned n)
{
    pvrdma_event_take(t, PVRDMA_EVENT_SRQ_LIMIT_REACHED, event_info(src, n));
}

/* Makes a notification: arms the CQ and posts a WQE, which is flushed. */
static void notify_make(PvrdmaTest *t, const Source *src)
{
    pvrdma_cq_arm(t, &src->cq, PVRDMA_UAR_CQ_ARM);
    pvrdma_post_recv(t, &src->qp, 7, NULL, 0);
    pvrdma_cq_expect(t, &src->cq, 7, PVRDMA_WC_WR_FLUSH_ERR);
}

static uint32_t ring_get(PvrdmaTest *t, const PvrdmaTestRing *ring, size_t field)
{
    return qtest_readl(t->qts, ring->at +
                       offsetof(struct pvrdma_ring_state, rx) + field);
}

static void ring_cons_set(PvrdmaTest *t, const PvrdmaTestRing *ring,
                          uint32_t value)
{
    qtest_writel(t->qts, ring->at +
                 offsetof(struct pvrdma_ring_state, rx.cons_head), value);
}

/* --- Events ------------------------------------------------------------- */

static void test_event_wrap(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);
    unsigned n;

    for (n = 0; n < 3 * EVENTS; n++) {
        event_make(t, &src);
        g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_ASYNC));
        event_check(t, &src, n);
    }
    g_assert_true(pvrdma_event_none(t));
    g_assert_cmpuint(pvrdma_counter(t, "event-overflow"), ==, 0);
    pvrdma_stop(t);
}

/* A full ring keeps its events, and further ones are written later. */
static void test_event_overflow(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);

    /* start at an index other than 0 */
    for (unsigned n = 0; n < 100; n++) {
        event_make(t, &src);
        event_check(t, &src, n);
    }
    for (unsigned n = 0; n < EVENTS + 5; n++) {
        event_make(t, &src);
        g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_ASYNC));
    }
    pvrdma_step(t, PVRDMA_SECOND);
    g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_ASYNC));
    for (unsigned n = 0; n < EVENTS; n++) {
        event_check(t, &src, 100 + n);
    }
    g_assert_true(pvrdma_event_none(t));
    /* the waiting events are written together with the next event */
    event_make(t, &src);
    g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_ASYNC));
    for (unsigned n = 0; n < 6; n++) {
        event_check(t, &src, 100 + EVENTS + n);
    }
    pvrdma_step(t, PVRDMA_SECOND);
    g_assert_true(pvrdma_event_none(t));
    g_assert_false(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_ASYNC));
    g_assert_cmpuint(pvrdma_counter(t, "event-overflow"), ==, 0);
    pvrdma_stop(t);
}

/* --- CQ notifications --------------------------------------------------- */

static void test_notify_wrap(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);

    for (unsigned n = 0; n < 2 * NOTIFIES + 100; n++) {
        notify_make(t, &src);
        g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_CQ));
        g_assert_cmpuint(pvrdma_cqne_take(t), ==, src.cq.handle);
        g_assert_cmpuint(pvrdma_cqne_take(t), ==, 0);
    }
    g_assert_cmpuint(pvrdma_counter(t, "notify-overflow"), ==, 0);
    pvrdma_stop(t);
}

static void test_notify_overflow(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);

    for (unsigned n = 0; n < NOTIFIES + 3; n++) {
        notify_make(t, &src);
    }
    for (unsigned n = 0; n < NOTIFIES; n++) {
        g_assert_cmpuint(pvrdma_cqne_take(t), ==, src.cq.handle);
    }
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, 0);
    g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_CQ));
    pvrdma_step(t, PVRDMA_SECOND);
    g_assert_true(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_CQ));
    for (unsigned n = 0; n < 3; n++) {
        g_assert_cmpuint(pvrdma_cqne_take(t), ==, src.cq.handle);
    }
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, 0);
    g_assert_cmpuint(pvrdma_counter(t, "notify-overflow"), ==, 0);
    notify_make(t, &src);
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, src.cq.handle);
    pvrdma_stop(t);
}

/* A CQ that is not armed does not notify; one arming gives one notification. */
static void test_notify_once(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);

    pvrdma_post_recv(t, &src.qp, 1, NULL, 0);
    pvrdma_cq_expect(t, &src.cq, 1, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, 0);
    g_assert_false(pvrdma_msix_taken(t, PVRDMA_INTR_VECTOR_CQ));
    notify_make(t, &src);
    pvrdma_post_recv(t, &src.qp, 2, NULL, 0);
    pvrdma_cq_expect(t, &src.cq, 2, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, src.cq.handle);
    g_assert_cmpuint(pvrdma_cqne_take(t), ==, 0);
    pvrdma_stop(t);
}

/* --- Rings that are wrong ----------------------------------------------- */

/* With an invalid index the device writes nothing; it continues with a valid one. */
static void test_bad_index(void)
{
    static const uint32_t bad[] = {
        2 * EVENTS, UINT32_MAX, 1, /* 1: consumer index ahead of the producer index */
        EVENTS - 1,
    };
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        uint32_t tail = ring_get(t, &t->async,
                                 offsetof(struct pvrdma_ring, prod_tail));

        g_assert_cmpuint(tail, ==, 0);
        ring_cons_set(t, &t->async, bad[i]);
        pvrdma_expect_errors(t, 1, event_make(t, &src));
        g_assert_cmpuint(ring_get(t, &t->async,
                                  offsetof(struct pvrdma_ring, prod_tail)), ==,
                         tail);
    }
    ring_cons_set(t, &t->async, 0);
    event_make(t, &src);
    event_check(t, &src, ARRAY_SIZE(bad));
    ring_cons_set(t, &t->cqne, 2 * NOTIFIES);
    pvrdma_expect_errors(t, 1, notify_make(t, &src));
    pvrdma_stop(t);
}

/*
 * The first page, or a page of elements, is outside of memory: the device drops all
 * events, and never shows the driver an element that the device could not write.
 */
static void test_ring_nowhere(void)
{
    for (unsigned page = 0; page < 2; page++) {
        PvrdmaTest *t = pvrdma_start_cold("");
        uint64_t info, table;
        Source src;

        pvrdma_dsr_make(t);
        info = t->dsr + offsetof(struct pvrdma_device_shared_region,
                                 async_ring_pages);
        table = qtest_readq(t->qts, qtest_readq(t->qts, info +
            offsetof(struct pvrdma_ring_page_info, pdir_dma)));
        qtest_writeq(t->qts, table + 8 * page, PVRDMA_NO_RAM);
        g_assert_cmpuint(pvrdma_dsr_write(t), ==, 0);
        g_assert_cmpuint(pvrdma_ctl(t, PVRDMA_DEVICE_CTL_ACTIVATE), ==, 0);
        src = source_make(t);
        for (unsigned n = 0; n < EVENTS + 1; n++) {
            pvrdma_expect_errors(t, 1, event_make(t, &src));
        }
        pvrdma_stop(t);
    }
}

/* --- MSI-X -------------------------------------------------------------- */

static void assert_messages(PvrdmaTest *t, uint32_t causes)
{
    for (unsigned v = 0; v < PVRDMA_INTR_VECTORS; v++) {
        g_assert_cmpint(pvrdma_msix_taken(t, v), ==, !!(causes & 1u << v));
    }
}

/* Each cause has its own message, and a masked cause stays pending. */
static void test_mask(void)
{
    PvrdmaTest *t = pvrdma_start("");
    Source src = source_make(t);

    assert_messages(t, 0);
    event_make(t, &src);
    assert_messages(t, PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_ASYNC));
    notify_make(t, &src);
    assert_messages(t, PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_CQ));

    pvrdma_set(t, PVRDMA_REG_IMR, PVRDMA_INTR_ALL);
    event_make(t, &src);
    notify_make(t, &src);
    event_make(t, &src);
    assert_messages(t, 0);
    pvrdma_set(t, PVRDMA_REG_IMR, PVRDMA_INTR_ALL &
               ~PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_CQ));
    assert_messages(t, PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_CQ));
    pvrdma_set(t, PVRDMA_REG_IMR, 0);
    assert_messages(t, PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_ASYNC));
    /* sending a message clears its cause */
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==, 0);
    pvrdma_stop(t);
}

/* --- Without MSI-X ------------------------------------------------------ */

static bool line(PvrdmaTest *t)
{
    return qpci_config_readw(t->dev, PCI_STATUS) & PCI_STATUS_INTERRUPT;
}

static PvrdmaTest *start_line(void)
{
    PvrdmaTest *t = pvrdma_start_cold("");

    pvrdma_bring_up(t);
    /* binding GIDs has left no cause pending */
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==, 0);
    g_assert_false(line(t));
    return t;
}

static void test_line(void)
{
    PvrdmaTest *t = start_line();
    union pvrdma_cmd_req req = { .query_port.port_num = 1 };
    Source src;

    g_assert_cmpuint(qpci_config_readb(t->dev, PCI_INTERRUPT_PIN), ==, 1);
    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PORT, &req, NULL);
    g_assert_true(line(t));
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==,
                    PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_RESPONSE));
    g_assert_false(line(t));
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==, 0);

    /*
     * with a response, an event and a notification pending, each read of ICR gives one
     * cause, the lowest first
     */
    src = source_make(t);
    event_make(t, &src);
    notify_make(t, &src);
    g_assert_true(line(t));
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==,
                    PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_RESPONSE));
    g_assert_true(line(t));
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==,
                    PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_ASYNC));
    g_assert_true(line(t));
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_ICR), ==,
                    PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_CQ));
    g_assert_false(line(t));
    pvrdma_stop(t);
}

static void test_line_mask(void)
{
    PvrdmaTest *t = start_line();
    union pvrdma_cmd_req req = { .query_port.port_num = 1 };

    pvrdma_set(t, PVRDMA_REG_IMR,
               PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_RESPONSE));
    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PORT, &req, NULL);
    g_assert_false(line(t));
    pvrdma_set(t, PVRDMA_REG_IMR, 0);
    g_assert_true(line(t));
    pvrdma_set(t, PVRDMA_REG_IMR, PVRDMA_INTR_ALL);
    g_assert_false(line(t));
    pvrdma_set(t, PVRDMA_REG_IMR, 0);
    /* a reset by the driver lowers the line */
    g_assert_true(line(t));
    pvrdma_ctl(t, PVRDMA_DEVICE_CTL_RESET);
    g_assert_false(line(t));
    pvrdma_stop(t);
}

/* A cause that holds the line is sent as a message when MSI-X is enabled. */
static void test_line_to_messages(void)
{
    PvrdmaTest *t = start_line();
    union pvrdma_cmd_req req = { .query_port.port_num = 1 };

    pvrdma_command_ok(t, PVRDMA_CMD_QUERY_PORT, &req, NULL);
    g_assert_true(line(t));
    pvrdma_msix_enable(t);
    g_assert_false(line(t));
    pvrdma_set(t, PVRDMA_REG_IMR, 0);
    assert_messages(t, PVRDMA_INTR_CAUSE(PVRDMA_INTR_VECTOR_RESPONSE));
    g_assert_false(line(t));
    pvrdma_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/event/wrap", test_event_wrap);
    qtest_add_func("/pvrdma/event/overflow", test_event_overflow);
    qtest_add_func("/pvrdma/event/notify-wrap", test_notify_wrap);
    qtest_add_func("/pvrdma/event/notify-overflow", test_notify_overflow);
    qtest_add_func("/pvrdma/event/notify-once", test_notify_once);
    qtest_add_func("/pvrdma/event/bad-index", test_bad_index);
    qtest_add_func("/pvrdma/event/ring-nowhere", test_ring_nowhere);
    qtest_add_func("/pvrdma/event/mask", test_mask);
    qtest_add_func("/pvrdma/event/line", test_line);
    qtest_add_func("/pvrdma/event/line-mask", test_line_mask);
    qtest_add_func("/pvrdma/event/line-to-messages", test_line_to_messages);
    return g_test_run();
}
