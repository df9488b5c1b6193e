/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The aperture and the block RAM behind it, without a vCPU: stores enter a FIFO, and
 * the device refuses loads.  The destination is this node, so that the test finds the
 * data in RAM, or the test's peer.  aperture-vcpu-test.c has accesses that wait.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "device.h"

#define TIMEOUT_NS  (50 * EXANET_MS)    /* reset value of SHM_TIMEOUT */
#define PEER_VA     0x123450000ULL
#define WINDOW      0x10000
#define FIFO        64

static uint64_t to_self(uint64_t offset)
{
    return exanet_gva(EXANET_TEST_NODE, EXANET_RAM_DST + offset);
}

static uint64_t to_peer(uint64_t offset)
{
    return exanet_gva(EXANET_TEST_PEER, PEER_VA + offset);
}

static uint64_t aperture_size(ExanetTest *t)
{
    return exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_APERTURE);
}

/* Offset of the block RAM in the BAR; needs a variable t. */
#define BRAM (aperture_size(t))

static ExanetTest *start_self(void)
{
    ExanetTest *t = exanet_start("");

    exanet_segment(t, 0, 0, WINDOW, to_self(0), EXANET_SEGMENT_ALL);
    return t;
}

static uint32_t info_get(ExanetTest *t, size_t field)
{
    return qtest_readl(t->qts, t->user.addr +
                       exanet_user(t, 0, EXANET_PAGE_INFO) + field);
}

static void drain(ExanetTest *t)
{
    exanet_wait(t, info_get(t, offsetof(struct exanet_info, stores)) == 0);
}

/*
 * Asserts that the first error has @class and @resp, clears the error, and returns its
 * GVA.
 */
static uint64_t take_error(ExanetTest *t, enum exanet_shm_class class,
                           enum exanet_resp resp)
{
    uint32_t info = exanet_shm_get(t, SHM_ERR_INFO);
    uint64_t gva = exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_ERR_GVA);

    g_assert_true(info & EXANET_SHM_ERR_VALID);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CLASS, info), ==, class);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CODE, info), ==, resp);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    exanet_shm_set(t, SHM_ERR_INFO, EXANET_SHM_ERR_VALID);
    return gva;
}

static void assert_no_error(ExanetTest *t)
{
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
}

/* --- Stores ----------------------------------------------------------------- */

/*
 * Stores of all sizes at all alignments around a border of packets change only their
 * bytes; a store across the border is two packets.
 */
static void test_sizes(void)
{
    ExanetTest *t = start_self();
    uint8_t want[3 * EXANET_MTU];
    unsigned stores = 0;

    exanet_fill(t, EXANET_RAM_DST, want, sizeof(want), 1);
    for (unsigned size = 1; size <= 8; size *= 2) {
        for (unsigned at = EXANET_MTU - 9; at <= EXANET_MTU + 9; at++) {
            uint64_t value = 0x0123456789abcdef * (size + at);
            bool split = at < EXANET_MTU && at + size > EXANET_MTU;

            exanet_store(t, at, value, size);
            stn_le_p(want + at, size, value);
            drain(t);
            exanet_assert_mem(t, EXANET_RAM_DST, want, sizeof(want));
            stores += 1 + split;
            g_assert_cmpuint(exanet_count(t, SHM_STORE), ==, stores);
        }
    }
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_STORE), ==, stores);
    g_assert_cmpuint(exanet_count(t, SHM_ACK), ==, stores);
    assert_no_error(t);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Writes of 1 to 40 bytes, which QEMU splits into stores of at most 8 bytes. */
static void test_buffers(void)
{
    ExanetTest *t = start_self();
    uint8_t want[2 * EXANET_MTU], buf[40];

    exanet_fill(t, EXANET_RAM_DST, want, sizeof(want), 1);
    for (unsigned size = 1; size <= sizeof(buf); size++) {
        unsigned at = 5 * size;

        for (unsigned i = 0; i < size; i++) {
            buf[i] = size + 7 * i;
        }
        qtest_bufwrite(t->qts, t->aperture.addr + at, buf, size);
        memcpy(want + at, buf, size);
        drain(t);
        exanet_assert_mem(t, EXANET_RAM_DST, want, sizeof(want));
    }
    assert_no_error(t);
    exanet_stop(t);
}

/* Adjacent and overlapping segments that lead to different addresses. */
static void test_segments(void)
{
    ExanetTest *t = start_self();
    uint64_t value = 0x1122334455667788;
    uint8_t want[8];

    exanet_segment(t, 5, WINDOW, 0x1000, to_self(0x100000),
                   EXANET_SEGMENT_ALL);
    stq_le_p(want, value);
    exanet_store(t, WINDOW - 3, value, 8);
    drain(t);
    exanet_assert_mem(t, EXANET_RAM_DST + WINDOW - 3, want, 3);
    exanet_assert_mem(t, EXANET_RAM_DST + 0x100000, want + 3, 5);
    exanet_assert_byte(t, EXANET_RAM_DST + WINDOW, 0, 8);

    /* a segment inside another segment: the entry with the lower number has priority */
    exanet_segment(t, 7, 0x1000, 0x1000, to_self(0x200000),
                   EXANET_SEGMENT_ALL);
    exanet_store(t, 0x1000, value, 8);
    drain(t);
    exanet_assert_mem(t, EXANET_RAM_DST + 0x1000, want, 8);
    exanet_assert_byte(t, EXANET_RAM_DST + 0x200000, 0, 8);

    /* the last bytes of the aperture */
    exanet_segment(t, 6, aperture_size(t) - 0x1000, 0x1000, to_self(0x300000),
                   EXANET_SEGMENT_ALL);
    exanet_store(t, aperture_size(t) - 8, value, 8);
    drain(t);
    exanet_assert_mem(t, EXANET_RAM_DST + 0x300ff8, want, 8);
    /* the store is half in the aperture, half in the block RAM */
    exanet_store(t, aperture_size(t) - 4, value, 8);
    drain(t);
    exanet_assert_mem(t, EXANET_RAM_DST + 0x300ffc, want, 4);
    g_assert_cmphex(exanet_load(t, aperture_size(t), 4), ==, value >> 32);
    assert_no_error(t);
    exanet_stop(t);
}

static void test_unmapped(void)
{
    ExanetTest *t = start_self();

    exanet_store(t, WINDOW, 1, 8);
    g_assert_true(exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_OUTSIDE);
    g_assert_cmphex(take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE), ==,
                    WINDOW);
    g_assert_cmpuint(exanet_count(t, SHM_UNMAPPED), ==, 1);
    g_assert_cmphex(exanet_load(t, WINDOW + 4, 4), ==, UINT32_MAX);
    g_assert_cmphex(take_error(t, EXANET_SHM_LOAD, EXANET_RESP_DECODE), ==,
                    WINDOW + 4);
    g_assert_cmpuint(exanet_count(t, SHM_UNMAPPED), ==, 2);

    /* half of the store is inside the segment */
    exanet_store(t, WINDOW - 2, 0x44332211, 4);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE);
    drain(t);
    exanet_assert_mem(t, EXANET_RAM_DST + WINDOW - 2, "\x11\x22", 2);
    g_assert_cmpuint(exanet_count(t, SHM_UNMAPPED), ==, 3);

    /* a segment of size 0, and a segment that is no longer valid */
    exanet_segment(t, 0, 0, 0, to_self(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE);
    exanet_segment(t, 0, 0, WINDOW, to_self(0), EXANET_SEGMENT_ALL);
    exanet_set64(t, EXANET_SHM_MAP(0) + EXANET_REG_SHM_MAP_CTRL, 0);
    exanet_store(t, 0, 1, 8);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE);
    /* without a segment the errors belong to no context */
    g_assert_cmpuint(info_get(t, offsetof(struct exanet_info, errors)), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 5);
    exanet_stop(t);
}

static void test_denied(void)
{
    ExanetTest *t = start_self();
    uint64_t last = exanet_gva(EXANET_TEST_PEER, EXANET_GVA_VA & ~0xfffULL);

    exanet_segment(t, 1, WINDOW, 0x1000, to_self(0), EXANET_SHM_MAP_READ);
    exanet_segment(t, 2, 2 * WINDOW, 0x1000, to_self(0), EXANET_SHM_MAP_WRITE);
    exanet_store(t, WINDOW + 8, 1, 8);
    g_assert_false(exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_OUTSIDE);
    g_assert_cmphex(take_error(t, EXANET_SHM_STORE, EXANET_RESP_PROTECTION), ==,
                    to_self(8));
    exanet_assert_byte(t, EXANET_RAM_DST, 0, 16);
    g_assert_cmphex(exanet_load(t, 2 * WINDOW, 2), ==, UINT16_MAX);
    take_error(t, EXANET_SHM_LOAD, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_count(t, SHM_DENIED), ==, 2);

    /* the next address behind the node's memory would belong to another node */
    exanet_segment(t, 3, 3 * WINDOW, 0x2000, last, EXANET_SEGMENT_ALL);
    exanet_store(t, 3 * WINDOW + 0x1000, 1, 8);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_PROTECTION);

    /* a segment of a context that is not open */
    exanet_set64(t, EXANET_SHM_MAP(0) + EXANET_REG_SHM_MAP_CTRL,
                 EXANET_SHM_MAP_VALID | EXANET_SEGMENT_ALL |
                 RNIC_PREP(EXANET_SHM_MAP_CTX, 9));
    exanet_store(t, 0, 1, 8);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_count(t, SHM_DENIED), ==, 4);

    /* the device is disabled */
    exanet_segment(t, 0, 0, WINDOW, to_self(0), EXANET_SEGMENT_ALL);
    exanet_set32(t, EXANET_REG_CTRL, 0);
    exanet_store(t, 0, 1, 8);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_count(t, SHM_DENIED), ==, 5);
    g_assert_cmpuint(exanet_count(t, SHM_STORE), ==, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/*
 * The target answers with an error, because its context is closed or its address has no
 * RAM; the initiator reports the error.
 */
static void test_target_refuses(void)
{
    ExanetTest *t = start_self();

    exanet_close(t, 1);
    exanet_store(t, 0, 1, 8);
    exanet_wait(t, exanet_count(t, SHM_ESCALATED) == 1);
    g_assert_cmphex(take_error(t, EXANET_SHM_STORE, EXANET_RESP_PROTECTION), ==,
                    to_self(0));
    g_assert_cmpuint(info_get(t, offsetof(struct exanet_info, errors)), ==, 1);
    exanet_assert_byte(t, EXANET_RAM_DST, 0, 16);
    exanet_open(t, 1, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_segment(t, 0, 0, WINDOW,
                   exanet_gva(EXANET_TEST_NODE, EXANET_NO_RAM),
                   EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    exanet_wait(t, exanet_count(t, SHM_ESCALATED) == 2);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE);
    exanet_stop(t);
}

/* --- Who can't wait --------------------------------------------------------- */

static void test_loads_refused(void)
{
    ExanetTest *t = start_self();

    exanet_fill(t, EXANET_RAM_DST, NULL, 64, 3);
    g_assert_cmphex(exanet_load(t, 0, 1), ==, UINT8_MAX);
    g_assert_cmphex(exanet_load(t, 1, 2), ==, UINT16_MAX);
    g_assert_cmphex(exanet_load(t, 4, 4), ==, UINT32_MAX);
    g_assert_cmphex(exanet_load(t, 8, 8), ==, UINT64_MAX);
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 4);
    g_assert_cmpuint(exanet_count(t, SHM_LOAD), ==, 0);
    exanet_assert_quiet(t);
    assert_no_error(t);
    exanet_stop(t);
}

/*
 * More stores than timers and FIFO have room for: the device refuses the others, and
 * reports an error.
 */
static void test_storm(void)
{
    ExanetTest *t = exanet_start("");
    const unsigned taken = EXANET_SHM_TIMERS + FIFO;
    ExanetRxPacket *rx;

    exanet_segment(t, 0, 0, WINDOW, to_peer(0), EXANET_SEGMENT_ALL);
    for (unsigned i = 0; i < taken; i++) {
        exanet_store(t, i * 64, i, 8);
    }
    assert_no_error(t);
    for (unsigned i = 0; i < 20; i++) {
        exanet_store(t, i * 64, 0xbad, 8);
    }
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 20);
    g_assert_cmphex(take_error(t, EXANET_SHM_STORE, EXANET_RESP_FULL), ==,
                    to_peer(0));
    /* the accepted stores arrive in order */
    for (unsigned i = 0; i < taken; i++) {
        rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
        g_assert_cmphex(rx->pkt.va, ==, PEER_VA + i * 64);
        g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, i);
        g_assert_cmpuint(rx->pkt.seq, ==, i);
        exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, NULL);
        g_free(rx);
    }
    drain(t);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Asserts that the peer gets @n stores of context @c, with data 0 to @n - 1. */
static void take_stores(ExanetTest *t, unsigned c, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ExanetRxPacket *rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);

        g_assert_cmphex(rx->pkt.va, ==, PEER_VA + c * WINDOW + i * 64);
        g_assert_cmphex(ldq_le_p(rx->pkt.payload), ==, i);
        exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, NULL);
        g_free(rx);
    }
}

/* Makes segment c, WINDOW bytes of the peer, for each context c from 0 to @n - 1. */
static void segments_start(ExanetTest *t, unsigned n)
{
    for (unsigned c = 0; c < n; c++) {
        exanet_segment(t, c, c * WINDOW, WINDOW, to_peer(c * WINDOW),
                       (EXANET_SEGMENT_ALL & ~EXANET_SHM_MAP_CTX) |
                       RNIC_PREP(EXANET_SHM_MAP_CTX, c));
    }
}

/*
 * Two jobs have half of the timers and half of the FIFO each.  Stores of one job that
 * wait for their target do not delay stores of the other job.
 */
static void test_shares(void)
{
    ExanetTest *t = exanet_start("");
    const unsigned timers = EXANET_SHM_TIMERS / 2, taken = timers + FIFO / 2;
    uint64_t stalls;

    exanet_open(t, 1, EXANET_TEST_JOB + 1, EXANET_FORMAT_IDENTITY, 0);
    segments_start(t, 2);
    for (unsigned i = 0; i < taken + 3; i++) {
        exanet_store(t, i * 64, i, 8);
    }
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 3);
    for (unsigned i = 0; i < taken; i++) {
        exanet_store(t, WINDOW + i * 64, i, 8);
    }
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 3);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_STATUS_TIMERS, exanet_shm_get(t, SHM_STATUS)),
                     ==, EXANET_SHM_TIMERS);
    /* the first store of each job in the FIFO counts once, not in each run */
    stalls = exanet_count(t, SHM_TIMER_STALL);
    exanet_step(t, 1);
    exanet_shm_set(t, SHM_CTRL, exanet_shm_get(t, SHM_CTRL));
    exanet_step(t, 1);
    g_assert_cmpuint(exanet_count(t, SHM_TIMER_STALL), ==, stalls);
    g_assert_cmpuint(stalls, ==, 2);
    /* the first stores of both jobs leave before an answer arrives */
    take_stores(t, 0, timers);
    take_stores(t, 1, timers);
    exanet_stop(t);
}

/*
 * A timer stays free for a job that uses none, although jobs with stores under way began
 * when their shares were larger.
 */
static void test_shares_grow(void)
{
    ExanetTest *t = exanet_start("");
    const unsigned first = EXANET_SHM_TIMERS / 2, second = EXANET_SHM_TIMERS / 3;
    const unsigned third = EXANET_SHM_TIMERS - first - second - 1;

    exanet_open(t, 1, EXANET_TEST_JOB + 1, EXANET_FORMAT_IDENTITY, 0);
    segments_start(t, 4);
    for (unsigned i = 0; i < first; i++) {
        exanet_store(t, i * 64, i, 8);
    }
    exanet_open(t, 2, EXANET_TEST_JOB + 2, EXANET_FORMAT_IDENTITY, 0);
    for (unsigned i = 0; i < second; i++) {
        exanet_store(t, 2 * WINDOW + i * 64, i, 8);
    }
    exanet_open(t, 3, EXANET_TEST_JOB + 3, EXANET_FORMAT_IDENTITY, 0);
    for (unsigned i = 0; i < third + 1; i++) {
        exanet_store(t, 3 * WINDOW + i * 64, i, 8);
    }
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_STATUS_TIMERS, exanet_shm_get(t, SHM_STATUS)),
                     ==, EXANET_SHM_TIMERS - 1);
    exanet_store(t, WINDOW, 0, 8);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_STATUS_TIMERS, exanet_shm_get(t, SHM_STATUS)),
                     ==, EXANET_SHM_TIMERS);
    take_stores(t, 0, first);
    take_stores(t, 2, second);
    take_stores(t, 3, third);
    take_stores(t, 1, 1);
    exanet_stop(t);
}

/* Stores to a dead link fail and are counted, and stores to other nodes continue. */
static void test_storm_dead(void)
{
    ExanetTest *t = exanet_start("");
    unsigned total = 300;

    exanet_segment(t, 0, 0, WINDOW, to_peer(0), EXANET_SEGMENT_ALL);
    exanet_segment(t, 1, WINDOW, WINDOW, to_self(0), EXANET_SEGMENT_ALL);
    exanet_shm_set(t, SHM_RETRY_MAX, 4);
    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_CTRL, 0);
    for (unsigned i = 0; i < total; i++) {
        exanet_store(t, i * 64, i, 8);
    }
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==,
                     total - EXANET_SHM_TIMERS - FIFO);
    for (unsigned i = 0; i < 5; i++) {
        exanet_step(t, TIMEOUT_NS + 1);
    }
    exanet_settle(t);
    g_assert_cmpuint(info_get(t, offsetof(struct exanet_info, stores)), ==, 0);
    g_assert_cmpuint(info_get(t, offsetof(struct exanet_info, errors)), ==,
                     total);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_FULL);
    for (unsigned i = 0; i < total; i++) {
        exanet_store(t, i * 64, i, 8);
    }
    exanet_settle(t);
    g_assert_cmpuint(info_get(t, offsetof(struct exanet_info, errors)), ==,
                     2 * total);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_ACK);
    exanet_store(t, WINDOW, 0x77, 1);
    drain(t);
    exanet_assert_byte(t, EXANET_RAM_DST, 0x77, 1);
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, 0);
    exanet_stop(t);
}

/* --- The device itself ------------------------------------------------------ */

/*
 * The page of a process is the aperture itself: the target refuses a store to this
 * page, because the store would wait for another store of the aperture.
 */
static void test_loop(void)
{
    ExanetTest *t = start_self();

    exanet_segment(t, 1, WINDOW, WINDOW,
                   exanet_gva(EXANET_TEST_NODE, t->aperture.addr),
                   EXANET_SEGMENT_ALL);
    exanet_store(t, WINDOW, 0x1234, 8);
    exanet_wait(t, exanet_count(t, SHM_ESCALATED) == 1);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE);
    drain(t);
    exanet_assert_byte(t, EXANET_RAM_DST, 0, 8);
    exanet_store(t, 0, 0x1234, 8);
    drain(t);
    exanet_assert_mem(t, EXANET_RAM_DST, "\x34\x12", 2);
    exanet_stop(t);
}

static void test_reset(void)
{
    ExanetTest *t = exanet_start("");

    exanet_segment(t, 0, 0, WINDOW, to_peer(0), EXANET_SEGMENT_ALL);
    for (unsigned i = 0; i < EXANET_SHM_TIMERS + FIFO; i++) {
        exanet_store(t, i * 64, i, 8);
    }
    exanet_store(t, BRAM, 0x1234, 8);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmpuint(info_get(t, offsetof(struct exanet_info, stores)), ==, 0);
    g_assert_cmphex(exanet_load(t, BRAM, 8), ==, 0);
    exanet_store(t, 0, 1, 8);
    g_assert_cmpuint(exanet_count(t, SHM_UNMAPPED), ==, 1);
    exanet_step(t, 10 * TIMEOUT_NS);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 1);
    exanet_stop(t);
}

/* --- Block RAM -------------------------------------------------------------- */

static void test_bram(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t want[64] = { 0 }, have[64];

    g_assert_cmphex(exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_BRAM), ==,
                    1 * MiB);
    for (unsigned size = 1; size <= 8; size *= 2) {
        for (unsigned at = 0; at < 17; at++) {
            uint64_t value = 0xfedcba9876543210 * (at + size);

            exanet_store(t, BRAM + 0x100 + at, value, size);
            stn_le_p(want + at, size, value);
            g_assert_cmphex(exanet_load(t, BRAM + 0x100 + at, size), ==,
                            ldn_le_p(want + at, size));
            qtest_bufread(t->qts, t->aperture.addr + BRAM + 0x100, have,
                          sizeof(have));
            g_assert_cmpmem(have, sizeof(have), want, sizeof(want));
        }
    }
    exanet_store(t, BRAM + 1 * MiB - 8, 0x55, 8);
    g_assert_cmphex(exanet_load(t, BRAM + 1 * MiB - 8, 8), ==, 0x55);
    /* the store is partly behind the end of the block RAM */
    exanet_store(t, BRAM + 1 * MiB - 4, UINT64_MAX, 8);
    g_assert_cmphex(exanet_load(t, BRAM + 1 * MiB - 8, 8), ==,
                    0xffffffff00000055);
    g_assert_cmphex(exanet_load(t, BRAM + 1 * MiB - 1, 8), ==, 0xff);
    assert_no_error(t);
    exanet_stop(t);
}

/*
 * Other nodes reach the block RAM by index EXANET_NI_BRAM of NI space; here the other
 * node is this node.
 */
static void test_bram_remote(void)
{
    ExanetTest *t = exanet_start("");

    exanet_segment(t, 0, 0, WINDOW, exanet_gva(EXANET_TEST_NODE,
                   EXANET_NI_VA(EXANET_NI_BRAM) + 0x4000), EXANET_SEGMENT_ALL);
    exanet_store(t, 0x13, 0x99aabbccddeeff00, 8);
    drain(t);
    g_assert_cmphex(exanet_load(t, BRAM + 0x4013, 8), ==, 0x99aabbccddeeff00);
    exanet_segment(t, 0, 0, WINDOW, exanet_gva(EXANET_TEST_NODE,
                   EXANET_NI_VA(EXANET_NI_BRAM) + 1 * MiB), EXANET_SEGMENT_ALL);
    exanet_store(t, 0, 1, 8);
    drain(t);
    take_error(t, EXANET_SHM_STORE, EXANET_RESP_DECODE);
    exanet_stop(t);
}

/* --- Properties ------------------------------------------------------------- */

static void check_refused(const char *props, const char *message)
{
    g_autofree char *command = NULL, *err = NULL;
    int status;

    command = g_strdup_printf("%s -M %s -nodefaults -display none -audio none "
        "-accel qtest -netdev hubport,hubid=0,id=c "
        "-device exanet-%s,coord=1,link0=c,%s",
        getenv("QTEST_QEMU_BINARY"), exanet_on_axi() ? "xlnx-zcu102" : "q35",
        exanet_on_axi() ? "axi" : "pci", props);
    g_assert_true(g_spawn_command_line_sync(command, NULL, &err, &status, NULL));
    g_assert_cmpint(status, !=, 0);
    g_assert_nonnull(strstr(err, message));
}

static void test_properties(void)
{
    ExanetTest *t;

    check_refused("aperture-size=4097", "'aperture-size' must be a multiple");
    check_refused("aperture-size=2T", "'aperture-size' must be a multiple");
    check_refused("bram-size=1", "'bram-size' must be a multiple");
    check_refused("bram-size=128M", "'bram-size' must be a multiple");
    check_refused("aperture-timeout-ms=0", "'aperture-timeout-ms' must be 1 to");
    check_refused("aperture-timeout-ms=60001",
                  "'aperture-timeout-ms' must be 1 to");
    check_refused("bram-size=0,aperture-size=0", "must not be 0");

    t = exanet_start(",aperture-size=12K,bram-size=0");
    g_assert_cmphex(aperture_size(t), ==, 12 * KiB);
    exanet_segment(t, 0, 0x2000, 0x1000, to_self(0), EXANET_SEGMENT_ALL);
    exanet_store(t, 0x2ff8, 0x66, 1);
    drain(t);
    exanet_assert_byte(t, EXANET_RAM_DST + 0xff8, 0x66, 1);
    exanet_store(t, 0x3000, 0x66, 1);   /* no memory is behind the aperture */
    assert_no_error(t);
    exanet_stop(t);

    t = exanet_start(",aperture-size=0,bram-size=8K");
    exanet_store(t, 0x1ff8, 0x66, 8);
    g_assert_cmphex(exanet_load(t, 0x1ff8, 8), ==, 0x66);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/aperture/sizes", test_sizes);
    qtest_add_func("/exanet/aperture/buffers", test_buffers);
    qtest_add_func("/exanet/aperture/segments", test_segments);
    qtest_add_func("/exanet/aperture/unmapped", test_unmapped);
    qtest_add_func("/exanet/aperture/denied", test_denied);
    qtest_add_func("/exanet/aperture/target-refuses", test_target_refuses);
    qtest_add_func("/exanet/aperture/loads-refused", test_loads_refused);
    qtest_add_func("/exanet/aperture/storm", test_storm);
    qtest_add_func("/exanet/aperture/shares", test_shares);
    qtest_add_func("/exanet/aperture/shares-grow", test_shares_grow);
    qtest_add_func("/exanet/aperture/storm-dead", test_storm_dead);
    qtest_add_func("/exanet/aperture/loop", test_loop);
    qtest_add_func("/exanet/aperture/reset", test_reset);
    qtest_add_func("/exanet/aperture/bram", test_bram);
    qtest_add_func("/exanet/aperture/bram-remote", test_bram_remote);
    qtest_add_func("/exanet/aperture/properties", test_properties);
    return g_test_run();
}
