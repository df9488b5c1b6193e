/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of the R5: segmentation, timeouts and retransmission.  The test is the
 * receiver on the other node, and decides which packets are lost and which are
 * answered.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "remote.h"
#include "tables.h"

#define SRC EXANET_RAM_SRC
#define SINK_BASE EXANET_REMOTE_BASE
#define BLOCK EXANET_BLOCK_BYTES
#define FAULT_VA 0x5555deadb000ULL

#define TIMEOUT_NS ((int64_t)EXANET_FW_TIMEOUT_DEFAULT)

/* --- Segmentation ---------------------------------------------------------- */

static void check_segments(ExanetTest *t, const uint8_t *src, uint64_t offset,
                           uint32_t len, unsigned blocks)
{
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE + offset, len);
    uint64_t done = exanet_count(t, BLOCK_DONE);
    uint64_t result;
    ExanetRemote r;

    exanet_remote_init(&r, SINK_BASE, 2 * MiB);
    x.token = 0xabcd0000 + blocks;
    exanet_channel_start(t, 0, 3, &x);
    exanet_wait(t, (exanet_remote_run(t, &r),
                    exanet_channel_state(t, 0, 3) >= EXANET_CHANNEL_DONE));
    exanet_channel_wait(t, 0, 3, EXANET_CHANNEL_DONE);
    g_assert_cmpuint(r.blocks, ==, blocks);
    g_assert_cmpuint(exanet_count(t, BLOCK_DONE) - done, ==, blocks);
    g_assert_cmpuint(exanet_channel_acked(t, 0, 3), ==, len);
    g_assert_cmpuint(exanet_channel_error(t, 0, 3), ==, 0);
    g_assert_cmpuint(exanet_channel_retries(t, 0, 3), ==, 0);
    result = exanet_user_get(t, 0, EXANET_PAGE_SCRATCHPAD,
                             3 * EXANET_CHANNEL_BYTES +
                             offsetof(struct exanet_channel, done));
    g_assert_cmphex(RNIC_GET(EXANET_CHDONE_TOKEN, result), ==, x.token);
    g_assert_cmpuint(RNIC_GET(EXANET_CHDONE_NS, result), ==, 0);
    exanet_remote_assert(&r, SINK_BASE + offset, src, len);
    g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE), ==, 0);
    exanet_remote_fini(&r);
}

static void test_segments(void)
{
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *src = g_malloc(MiB + 1);

    exanet_fill(t, SRC, src, MiB + 1, 9);
    check_segments(t, src, 0, MiB, 64);
    check_segments(t, src, 1, MiB, 65);
    check_segments(t, src, 1, MiB + 1, 65);
    check_segments(t, src, 0, MiB + 1, 65);
    check_segments(t, src, 0x3fff, 2, 2);
    check_segments(t, src, 100, BLOCK, 2);
    check_segments(t, src, 0, BLOCK + 1, 2);
    check_segments(t, src, 0, 1, 1);
    /* blocks of 1000 bytes, by register FW_BLOCK */
    exanet_fw_set(t, EXANET_REG_FW_BLOCK, 1000);
    check_segments(t, src, 0, 10000, 10);
    exanet_fw_set(t, EXANET_REG_FW_BLOCK, BLOCK);
    exanet_fw_set(t, EXANET_REG_FW_CHAIN, 1);
    check_segments(t, src, 77, MiB, 65);
    exanet_stop(t);
}

static void test_time(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 2 * BLOCK);
    ExanetPacket first;
    uint64_t done;
    ExanetRemote r;

    exanet_remote_init(&r, SINK_BASE, 2 * BLOCK);
    exanet_channel_start(t, 0, 0, &x);
    exanet_step(t, 5000);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    g_assert_cmpuint(exanet_channel_acked(t, 0, 0), ==, 0);
    first = ((ExanetRxPacket *)g_queue_peek_head(&t->peer->packets))->pkt;
    exanet_peer_ack(t->peer, &first, EXANET_RESP_ACK);
    exanet_wait(t, exanet_channel_acked(t, 0, 0) == BLOCK);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    exanet_step(t, 7000);
    exanet_remote_run(t, &r);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    done = exanet_user_get(t, 0, EXANET_PAGE_SCRATCHPAD,
                           offsetof(struct exanet_channel, done));
    g_assert_cmpuint(RNIC_GET(EXANET_CHDONE_NS, done), ==, 12000);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/* --- Loss ------------------------------------------------------------------ */

static void test_timeout(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt;
    int64_t wait = TIMEOUT_NS;

    exanet_fw_set(t, EXANET_REG_FW_DYN_TIMEOUT, 0);
    exanet_channel_start(t, 0, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    /* the timeout doubles, up to a limit */
    for (unsigned seq = 1; seq < 9; seq++) {
        ExanetPacket next;

        exanet_step(t, wait - 1000);
        exanet_assert_quiet(t);
        exanet_step(t, 1000);
        next = exanet_take_single(t->peer, seq);
        g_assert_cmphex(next.tid, ==, pkt.tid);
        g_assert_cmpuint(exanet_count(t, RETRY_TIMEOUT), ==, seq);
        g_assert_cmpuint(exanet_channel_retries(t, 0, 0), ==, seq);
        /* the device ignores the answer to an older copy */
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
        exanet_wait(t, exanet_count(t, ACK_STALE) == seq);
        pkt = next;
        wait = TIMEOUT_NS << MIN(seq, EXANET_FW_TIMEOUT_SHIFT_MAX);
    }
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_step(t, 100 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_retry_limit(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt;

    exanet_fw_set(t, EXANET_REG_FW_RETRY_MAX, 3);
    exanet_set64(t, EXANET_FW + EXANET_REG_FW_TIMEOUT_NS, 1000);
    x.token = 77;
    exanet_channel_start(t, 0, 31, &x);
    for (unsigned seq = 0; seq <= 3; seq++) {
        pkt = exanet_take_single(t->peer, seq);
        g_assert_cmpuint(exanet_channel_state(t, 0, 31), ==,
                         EXANET_CHANNEL_ACTIVE);
        exanet_step(t, 1000 << seq);
    }
    exanet_channel_wait(t, 0, 31, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 31), ==, EXANET_CHERR_RETRY_LIMIT);
    g_assert_cmpuint(exanet_channel_retries(t, 0, 31), ==, 3);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_TRANSFER);
    g_assert_cmpuint(exanet_user_get(t, 0, EXANET_PAGE_SCRATCHPAD,
                                     31 * EXANET_CHANNEL_BYTES +
                                     offsetof(struct exanet_channel, done)) &
                     EXANET_CHDONE_TOKEN, ==, 77);
    exanet_take_release(t->peer, &pkt);
    exanet_step(t, 1000 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    /* the channel is usable again */
    exanet_channel_start(t, 0, 31, &x);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 31, EXANET_CHANNEL_DONE);
    exanet_stop(t);
}

/* The effect of each response on a block of one packet. */
static void test_nacks(void)
{
    static const struct {
        enum exanet_resp resp;
        bool hold;                  /* the copy waits for a back-off */
        bool fails;
        enum exanet_counter count;
    } cases[] = {
        { EXANET_RESP_CRC, false, false, EXANET_CNT_RETRY_CRC },
        { EXANET_RESP_RESOLVED, false, false, EXANET_CNT_RETRY_FAULT },
        { EXANET_RESP_FAULT, true, false, EXANET_CNT_RETRY_FAULT },
        { EXANET_RESP_NO_CONTEXT, true, false, EXANET_CNT_RETRY_NO_CONTEXT },
        { EXANET_RESP_FULL, true, false, EXANET_CNT_RETRY_FULL },
        { EXANET_RESP_DECODE, false, true },
        { EXANET_RESP_PROTECTION, false, true },
        { EXANET_RESP_MALFORMED, false, true },
    };
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t before = exanet_get64(t, EXANET_COUNTER(cases[i].count));
        ExanetPacket pkt;

        exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_TRANSFER);
        exanet_channel_start(t, 0, i, &x);
        pkt = exanet_take_single(t->peer, 0);
        exanet_peer_ack(t->peer, &pkt, cases[i].resp);
        if (cases[i].fails) {
            exanet_channel_wait(t, 0, i, EXANET_CHANNEL_FAILED);
            g_assert_cmphex(exanet_channel_error(t, 0, i), ==, cases[i].resp);
            g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                          EXANET_IRQ_TRANSFER);
            exanet_take_release(t->peer, &pkt);
            exanet_assert_quiet(t);
            continue;
        }
        if (cases[i].hold) {
            exanet_assert_quiet(t);
            exanet_step(t, 20000 - 1);
            exanet_assert_quiet(t);
            exanet_step(t, 1);
        }
        pkt = exanet_take_single(t->peer, 1);
        g_assert_cmpuint(exanet_get64(t, EXANET_COUNTER(cases[i].count)), ==,
                         before + 1);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
        exanet_channel_wait(t, 0, i, EXANET_CHANNEL_DONE);
    }
    exanet_stop(t);
}

/*
 * Responses with a wrong sequence, generation or TID, and responses after the end: all
 * are stale.
 */
static void test_stale(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt, wrong;
    unsigned stale = 0;

    exanet_channel_start(t, 0, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    for (unsigned resp = 0; resp < 16; resp++) {
        wrong = pkt;
        wrong.seq = 1;
        exanet_peer_ack(t->peer, &wrong, resp);
        wrong = pkt;
        wrong.tid ^= 1 << 10;       /* another generation */
        exanet_peer_ack(t->peer, &wrong, resp);
        wrong = pkt;
        wrong.tid ^= 1 << 9;        /* a TID without a block */
        exanet_peer_ack(t->peer, &wrong, resp);
        stale += 3;
        if (resp > EXANET_RESP_MALFORMED) {
            exanet_peer_ack(t->peer, &pkt, resp);
            stale++;
        }
    }
    exanet_wait(t, exanet_count(t, ACK_STALE) == stale);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_ACTIVE);
    exanet_assert_quiet(t);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_wait(t, exanet_count(t, ACK_STALE) == stale + 1);
    exanet_stop(t);
}

/*
 * The fault is never resolved: the back-off doubles, and the transfer fails at the
 * limit.
 */
static void test_fault_limit(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt;

    exanet_fw_set(t, EXANET_REG_FW_PF_RETRY_MAX, 4);
    exanet_channel_start(t, 0, 0, &x);
    for (unsigned n = 0; n < 4; n++) {
        pkt = exanet_take_single(t->peer, n);
        exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FAULT);
        exanet_assert_quiet(t);
        exanet_step(t, 20000LL << n);
    }
    pkt = exanet_take_single(t->peer, 4);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FAULT);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 0), ==, EXANET_RESP_FAULT);
    exanet_take_release(t->peer, &pkt);
    exanet_step(t, 100 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_fault_resolved(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt;

    exanet_channel_start(t, 0, 0, &x);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FAULT);
    exanet_assert_quiet(t);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_RESOLVED);
    pkt = exanet_take_single(t->peer, 1);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_FAULT);
    exanet_assert_quiet(t);
    /* the driver of the peer has found the address to be bad */
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_DECODE);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 0), ==, EXANET_RESP_DECODE);
    exanet_stop(t);
}

static void test_source_fault(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(FAULT_VA + 100, SINK_BASE, 3 * BLOCK);
    g_autofree uint8_t *src = g_malloc(64 * KiB);
    struct exanet_fault f;
    ExanetTables tb;
    ExanetRemote r;

    exanet_close(t, 1);
    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 1);
    exanet_fill(t, SRC, src, 64 * KiB, 12);
    exanet_remote_init(&r, SINK_BASE, 64 * KiB);
    exanet_channel_start(t, 1, 0, &x);
    /* the test resolves one fault after the other */
    while (exanet_channel_state(t, 1, 0) < EXANET_CHANNEL_DONE) {
        exanet_settle(t);
        exanet_remote_run(t, &r);
        if (exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT)) {
            f = exanet_fault_take(t);
            g_assert_cmphex(f.info & (EXANET_FAULT_DST | EXANET_FAULT_WRITE),
                            ==, 0);
            exanet_tables_map(&tb, f.va, SRC + (f.va - FAULT_VA), 0,
                              EXANET_MAP_READ_ONLY);
            exanet_fault_resolve(t, &f, true);
        }
    }
    exanet_channel_wait(t, 1, 0, EXANET_CHANNEL_DONE);
    exanet_remote_assert(&r, SINK_BASE, src + 100, 3 * BLOCK);
    g_assert_cmpuint(exanet_count(t, RETRY_FAULT), >=, 12);

    /* the driver answers that the address is bad */
    x.src = FAULT_VA + 0x100000;
    x.len = 100;
    exanet_channel_start(t, 1, 1, &x);
    f = exanet_fault_take(t);
    exanet_settle(t);
    exanet_fault_resolve(t, &f, false);
    exanet_channel_wait(t, 1, 1, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 1, 1), ==, EXANET_CHERR_SOURCE_FAULT);
    /* with NO_REPORT the driver is not asked */
    exanet_set32(t, EXANET_CTX(1) + EXANET_REG_CTX_CTRL, EXANET_CTX_CTRL_EN |
                 EXANET_CTX_CTRL_NO_REPORT |
                 RNIC_PREP(EXANET_CTX_CTRL_FORMAT, EXANET_FORMAT_X86_4));
    exanet_channel_start(t, 1, 2, &x);
    exanet_channel_wait(t, 1, 2, EXANET_CHANNEL_FAILED);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 0);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

/* --- Policy ---------------------------------------------------------------- */

static void check_inflight(ExanetTest *t, unsigned blocks, unsigned limit)
{
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, blocks * BLOCK);
    ExanetRemote r;

    exanet_remote_init(&r, SINK_BASE, blocks * BLOCK);
    exanet_channel_start(t, 0, 0, &x);
    g_assert_cmpuint(exanet_blocks_waiting(t), ==, limit);
    exanet_wait(t, (exanet_remote_run(t, &r),
                    exanet_channel_state(t, 0, 0) >= EXANET_CHANNEL_DONE));
    g_assert_cmpuint(r.blocks, ==, blocks);
    exanet_remote_fini(&r);
}

static void test_window(void)
{
    ExanetTest *t = exanet_start("");

    exanet_fw_set(t, EXANET_REG_FW_WINDOW, 2);
    check_inflight(t, 10, 2);
    exanet_fw_set(t, EXANET_REG_FW_WINDOW, 7);
    check_inflight(t, 10, 7);
    exanet_fw_set(t, EXANET_REG_FW_WINDOW, EXANET_FW_WINDOW_DEFAULT);
    exanet_set32(t, EXANET_CTX(0) + EXANET_REG_CTX_QUOTA,
                 (EXANET_QUOTA_DEFAULT & ~EXANET_QUOTA_TIDS) |
                 RNIC_PREP(EXANET_QUOTA_TIDS, 3));
    check_inflight(t, 10, 3);
    exanet_stop(t);
}

static void test_quota(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 100);

    exanet_set32(t, EXANET_CTX(0) + EXANET_REG_CTX_QUOTA,
                 (EXANET_QUOTA_DEFAULT & ~EXANET_QUOTA_WRITES) |
                 RNIC_PREP(EXANET_QUOTA_WRITES, 2));
    for (unsigned ch = 0; ch < 3; ch++) {
        exanet_channel_start(t, 0, ch, &x);
    }
    exanet_channel_wait(t, 0, 2, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 2), ==, EXANET_CHERR_BAD_REQUEST);
    exanet_take_single(t->peer, 0);
    exanet_take_single(t->peer, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* Two transfers of different sizes get the link in turn, block by block. */
static void test_fairness(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer big = exanet_to_peer(SRC, SINK_BASE, 32 * BLOCK);
    ExanetTransfer small = exanet_to_peer(SRC, SINK_BASE + 32 * BLOCK, 100);
    bool found = false;

    exanet_fw_set(t, EXANET_REG_FW_WINDOW, 4);
    exanet_channel_start(t, 0, 0, &big);
    exanet_channel_start(t, 1, 5, &small);
    exanet_settle(t);
    for (GList *l = t->peer->packets.head; l; l = l->next) {
        found |= ((ExanetRxPacket *)l->data)->pkt.va == SINK_BASE + 32 * BLOCK;
    }
    g_assert_true(found);
    exanet_stop(t);
}

static void test_mode_off(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 3 * BLOCK);

    exanet_fw_set(t, EXANET_REG_FW_MODE, EXANET_FW_OFF);
    exanet_channel_start(t, 0, 0, &x);
    exanet_step(t, 10 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    exanet_fw_set(t, EXANET_REG_FW_MODE, EXANET_FW_INTERNAL);
    exanet_channel_start(t, 0, 0, &x);
    exanet_wait(t, exanet_blocks_waiting(t) == 3);
    /* an external R5 takes over during a transfer */
    exanet_fw_set(t, EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 0), ==, EXANET_CHERR_ABORTED);
    exanet_step(t, 10 * TIMEOUT_NS);
    exanet_stop(t);
}

/* --- Leaving --------------------------------------------------------------- */

static void test_quiesce(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 10 * BLOCK);
    ExanetTransfer y = exanet_to_peer(SRC, SINK_BASE, 100);
    ExanetPacket pkt = { 0 };
    uint64_t stale;

    for (unsigned ch = 0; ch < 8; ch++) {
        exanet_channel_start(t, 1, ch, &x);
    }
    exanet_wait(t, exanet_blocks_waiting(t) > 10);
    pkt = ((ExanetRxPacket *)g_queue_peek_head(&t->peer->packets))->pkt;
    exanet_set32(t, EXANET_CTX(1) + EXANET_REG_CTX_CTRL,
                 EXANET_CTX_CTRL_EN | EXANET_CTX_CTRL_QUIESCE);
    exanet_wait(t, exanet_get32(t, EXANET_CTX(1) + EXANET_REG_CTX_STATUS) &
                EXANET_CTX_STATUS_QUIESCED);
    for (unsigned ch = 0; ch < 8; ch++) {
        g_assert_cmpuint(exanet_channel_state(t, 1, ch), ==,
                         EXANET_CHANNEL_FAILED);
        g_assert_cmphex(exanet_channel_error(t, 1, ch), ==, EXANET_CHERR_ABORTED);
    }
    exanet_settle(t);
    g_queue_clear_full(&t->peer->packets, g_free);
    /* the context refuses new transfers, retransmits nothing, and late acks are stale */
    exanet_channel_start(t, 1, 9, &y);
    exanet_channel_wait(t, 1, 9, EXANET_CHANNEL_FAILED);
    exanet_step(t, 100 * TIMEOUT_NS);
    exanet_assert_quiet(t);
    stale = exanet_count(t, ACK_STALE);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_wait(t, exanet_count(t, ACK_STALE) == stale + 1);
    /* another context continues */
    exanet_channel_start(t, 0, 0, &y);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    /* the next owner of the context finds an empty page */
    exanet_set32(t, EXANET_CTX(1) + EXANET_REG_CTX_CTRL, 0);
    exanet_open(t, 1, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    for (unsigned i = 0; i < 16 * EXANET_CHANNEL_BYTES; i += 8) {
        g_assert_cmphex(exanet_user_get(t, 1, EXANET_PAGE_SCRATCHPAD, i), ==,
                        0);
    }
    exanet_channel_start(t, 1, 0, &y);
    pkt = exanet_take_single(t->peer, 0);
    exanet_peer_ack(t->peer, &pkt, EXANET_RESP_ACK);
    exanet_channel_wait(t, 1, 0, EXANET_CHANNEL_DONE);
    exanet_stop(t);
}

static void test_reset(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, SINK_BASE, 20 * BLOCK);
    struct exanet_read_req req = exanet_read_of_peer(SRC, SINK_BASE, 40000, 0);

    for (unsigned round = 0; round < 4; round++) {
        for (unsigned ch = 0; ch < EXANET_WRITE_CHANNELS; ch++) {
            exanet_channel_start(t, 0, ch, &x);
        }
        exanet_read_send(t, &req, round + 1, 0);
        if (round & 1) {
            exanet_xoff(t);
        }
        exanet_step(t, TIMEOUT_NS / 2);
        exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
        g_assert_cmpuint(exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE), ==,
                         0);
        exanet_bring_up(t);
        exanet_settle(t);
        g_queue_clear_full(&t->peer->packets, g_free);
        exanet_step(t, 100 * TIMEOUT_NS);
        exanet_assert_quiet(t);
        g_assert_cmphex(exanet_channel_status(t, 0, 0), ==, 0);
        g_assert_cmpuint(exanet_count(t, RETRY_TIMEOUT), ==, 0);
        exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    exanet_stop(t);
}

/* --- Everything at once ---------------------------------------------------- */

/*
 * Serves packets as @r, and at random loses, repeats and refuses them, in different
 * ways.
 */
static void bad_network_run(ExanetTest *t, ExanetRemote *r)
{
    exanet_pump(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->peer);
        unsigned dice = g_rand_int_range(r->rand, 0, 1000);
        ExanetRemoteBlock *b =
            &r->block[RNIC_GET(EXANET_TID_INDEX, rx->pkt.tid)];
        bool broken = b->tid == rx->pkt.tid && b->seq == rx->pkt.seq &&
                      GPOINTER_TO_UINT(
                          g_hash_table_lookup(r->sink.blocks, b)) == 1;

        if (rx->pkt.type == EXANET_TYPE_ACK || broken) {
            continue;
        }
        /* the packet is lost, so this copy of the block is never complete */
        if (dice < 2) {
            b->tid = rx->pkt.tid;
            b->seq = rx->pkt.seq;
            b->data = b->control = false;
            g_hash_table_insert(r->sink.blocks, b, GUINT_TO_POINTER(1));
            if (dice == 0) {
                exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_CRC);
            }
            continue;
        }
        if (b->tid != rx->pkt.tid || b->seq != rx->pkt.seq) {
            g_hash_table_remove(r->sink.blocks, b);
        }
        if (exanet_remote_take(r, &rx->pkt)) {
            if (dice < 100) {
                continue;   /* the ack is lost */
            }
            if (dice < 200) {
                exanet_peer_ack(t->peer, &rx->pkt, dice & 1 ?
                                EXANET_RESP_NO_CONTEXT : EXANET_RESP_FAULT);
                continue;
            }
            exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
            if (dice < 300) {
                exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
            }
        }
    }
}

static void check_bad_network(unsigned chain)
{
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *src = g_malloc(MiB);
    uint32_t len[16];
    unsigned rounds = 0;
    ExanetRemote r;

    exanet_fill(t, SRC, src, MiB, 31);
    exanet_remote_init(&r, SINK_BASE, 16 * MiB);
    r.rand = g_rand_new_with_seed(random_seed(2 + chain));
    exanet_fw_set(t, EXANET_REG_FW_CHAIN, chain);
    for (unsigned i = 0; i < 16; i++) {
        ExanetTransfer x;

        len[i] = g_rand_int_range(r.rand, 1, 200000);
        x = exanet_to_peer(SRC + i, SINK_BASE + i * MiB + 3 * i, len[i]);
        if (i & 1) {
            x.ctrl = EXANET_CHANNEL_NOTIFY;
            x.notify_gva = exanet_gva(EXANET_TEST_PEER, 0x100 * i);
        }
        exanet_channel_start(t, i / 8, i, &x);
    }
    while (exanet_get32(t, EXANET_FW + EXANET_REG_FW_ACTIVE)) {
        g_assert_cmpuint(rounds++, <, 2000);
        exanet_settle(t);
        bad_network_run(t, &r);
        if (rounds % 4 == 0) {
            exanet_step(t, TIMEOUT_NS / 4);
        }
    }
    for (unsigned i = 0; i < 16; i++) {
        exanet_channel_wait(t, i / 8, i, EXANET_CHANNEL_DONE);
        exanet_remote_assert(&r, SINK_BASE + i * MiB + 3 * i, src + i, len[i]);
    }
    g_assert_cmpuint(exanet_count(t, RETRY_TIMEOUT), >, 0);
    exanet_remote_fini(&r);
    exanet_stop(t);
}

static void test_bad_network(void)
{
    check_bad_network(0);
    check_bad_network(1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/firmware/segments-t06", test_segments);
    qtest_add_func("/exanet/firmware/time", test_time);
    qtest_add_func("/exanet/firmware/timeout-t11", test_timeout);
    qtest_add_func("/exanet/firmware/retry-limit-t11", test_retry_limit);
    qtest_add_func("/exanet/firmware/nacks-t11", test_nacks);
    qtest_add_func("/exanet/firmware/stale-t13", test_stale);
    qtest_add_func("/exanet/firmware/source-fault-t15", test_source_fault);
    qtest_add_func("/exanet/firmware/fault-limit-t16", test_fault_limit);
    qtest_add_func("/exanet/firmware/fault-resolved-t16", test_fault_resolved);
    qtest_add_func("/exanet/firmware/window", test_window);
    qtest_add_func("/exanet/firmware/quota-t24", test_quota);
    qtest_add_func("/exanet/firmware/fairness", test_fairness);
    qtest_add_func("/exanet/firmware/mode-off", test_mode_off);
    qtest_add_func("/exanet/firmware/quiesce-t24", test_quiesce);
    qtest_add_func("/exanet/firmware/reset", test_reset);
    qtest_add_func("/exanet/firmware/bad-network", test_bad_network);
    return g_test_run();
}
