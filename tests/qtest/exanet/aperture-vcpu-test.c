/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The aperture with accesses of a processor, which wait: an x86 machine executes, by
 * TCG, machine code of the test.  The test is the node that answers loads and stores,
 * and observes the rest of the machine during the wait.
 *
 * Time is real here.  Assertions use only time limits that no busy host reaches.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "libqos/pci-pc.h"
#include "qobject/qnum.h"
#include "qom.h"
#include "../common/msi-source.h"
#include "../common/vcpu.h"

#define PEER_VA     0x123450000ULL
#define WINDOW      0x10000
#define LINE        64
#define SLOT        6 /* PCI slot of the device; a test unplugs the device from it */
/* register of fw_cfg: address, big-endian; a store to its second half starts DMA */
#define FW_CFG_DMA_PORT 0x514

/* RAM that the machine code uses. */
#define RAM_RESULT  0x10010
#define RAM_VALUE   0x10040

static char *bios_path;

static uint64_t to_peer(uint64_t offset)
{
    return exanet_gva(EXANET_TEST_PEER, PEER_VA + offset);
}

/* Leads segment 0 to the peer, and segment 1 to this node's own memory. */
static void segments(ExanetTest *t)
{
    exanet_segment(t, 0, 0, WINDOW, to_peer(0), EXANET_SEGMENT_ALL);
    exanet_segment(t, 1, WINDOW, WINDOW,
                   exanet_gva(EXANET_TEST_NODE, EXANET_RAM_DST),
                   EXANET_SEGMENT_ALL);
}

static void bring_up(ExanetTest *t)
{
    exanet_bring_up(t);
    for (unsigned c = 0; c < 2; c++) {
        exanet_open(t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    segments(t);
}

/*
 * Starts the machine with the processor stopped.  @props: properties of the device, and
 * further options of QEMU.
 */
static ExanetTest *start_cold(const char *machine, const char *accel,
                              const char *props)
{
    g_autofree char *all = g_strdup_printf(",addr=%u%s -machine %s -accel %s "
                                           "-bios %s -S", SLOT, props, machine,
                                           accel, bios_path);

    return exanet_start_cold(all, false);
}

/*
 * Starts the processor after the BARs have been sized, because a BAR overlaps the BIOS
 * during sizing.
 */
static void run(ExanetTest *t)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    bring_up(t);
}

/*
 * Starts the machine with a time limit for accesses that no test reaches, even on a
 * loaded host.
 */
static ExanetTest *start(const char *accel)
{
    ExanetTest *t = start_cold("pc", accel, ",aperture-timeout-ms=60000");

    run(t);
    return t;
}

/* --- The processor ---------------------------------------------------------- */

/* Emits code that moves @size bytes between a register and memory; @store: to memory. */
static void emit_move(VcpuCode *code, unsigned size, bool store, uint32_t address)
{
    switch (size) {
    case 1:                         /* al */
        vcpu_emit(code, store ? "\xa2" : "\xa0", 1, address);
        break;
    case 2:                         /* ax */
        vcpu_emit(code, store ? "\x66\xa3" : "\x66\xa1", 2, address);
        break;
    case 4:                         /* eax */
        vcpu_emit(code, store ? "\xa3" : "\xa1", 1, address);
        break;
    case 8:                         /* movq mm0 */
        vcpu_emit(code, store ? "\x0f\x7f\x05" : "\x0f\x6f\x05", 3, address);
        break;
    case 16:                        /* movups xmm0 */
        vcpu_emit(code, store ? "\x0f\x11\x05" : "\x0f\x10\x05", 3, address);
        break;
    default:
        g_assert_not_reached();
    }
}

static bool is_done(ExanetTest *t)
{
    return vcpu_is_done(t->qts);
}

static void load_go(ExanetTest *t, uint64_t offset, unsigned size)
{
    VcpuCode code = { .len = 0 };
    uint8_t none[16] = { 0 };

    qtest_bufwrite(t->qts, RAM_RESULT, none, sizeof(none));
    emit_move(&code, size, false, t->aperture.addr + offset);
    emit_move(&code, size, true, RAM_RESULT);
    vcpu_go(t->qts, &code);
}

static void store_go(ExanetTest *t, uint64_t offset, const void *value,
                     unsigned size)
{
    VcpuCode code = { .len = 0 };

    qtest_bufwrite(t->qts, RAM_VALUE, value, size);
    emit_move(&code, size, false, RAM_VALUE);
    emit_move(&code, size, true, t->aperture.addr + offset);
    vcpu_go(t->qts, &code);
}

static uint32_t result(ExanetTest *t)
{
    return qtest_readl(t->qts, RAM_RESULT);
}

/* Executes a load of 4 bytes at @offset of the aperture, and returns its packet. */
static ExanetPacket remote_load(ExanetTest *t, uint64_t offset)
{
    g_autofree ExanetRxPacket *rx = NULL;

    load_go(t, offset, 4);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);
    g_assert_cmphex(rx->pkt.va, ==, PEER_VA + offset);
    g_assert_cmpuint(rx->pkt.size, ==, 4);
    return rx->pkt;
}

/*
 * Does the same as remote_load(), and asserts that the processor waits for the
 * response.
 */
static ExanetPacket blocked_load(ExanetTest *t, uint64_t offset)
{
    ExanetPacket pkt = remote_load(t, offset);

    g_assert_false(is_done(t));
    return pkt;
}

/* Drops all packets that have arrived. */
static void forget_packets(ExanetTest *t)
{
    exanet_settle(t);
    while (!g_queue_is_empty(&t->peer->packets)) {
        g_free(exanet_peer_take(t->peer));
    }
}

static void assert_error(ExanetTest *t, enum exanet_shm_class class,
                         enum exanet_resp resp)
{
    uint32_t info = exanet_shm_get(t, SHM_ERR_INFO);

    g_assert_true(info & EXANET_SHM_ERR_VALID);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CLASS, info), ==, class);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CODE, info), ==, resp);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    exanet_shm_set(t, SHM_ERR_INFO, EXANET_SHM_ERR_VALID);
}

/*
 * Asserts that processor and device still work: the processor loads this node's own
 * memory.
 */
static void assert_alive(ExanetTest *t)
{
    qtest_writel(t->qts, EXANET_RAM_DST + 0x40, 0x600df00d);
    load_go(t, WINDOW + 0x40, 4);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, 0x600df00d);
}

/* --- Loads ------------------------------------------------------------------ */

static void check_loads(const char *accel)
{
    ExanetTest *t = start(accel);
    uint8_t want[3 * EXANET_MTU], have[16];

    exanet_fill(t, EXANET_RAM_DST, want, sizeof(want), 5);
    for (unsigned size = 1; size <= 16; size *= 2) {
        for (unsigned at = EXANET_MTU - 17; at <= EXANET_MTU + 1; at++) {
            load_go(t, WINDOW + at, size);
            exanet_wait(t, is_done(t));
            qtest_bufread(t->qts, RAM_RESULT, have, size);
            g_assert_cmpmem(have, size, want + at, size);
        }
    }
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

static void test_loads(void)
{
    check_loads("tcg");
}

/* All processors of the machine share one thread of QEMU. */
static void test_loads_single(void)
{
    check_loads("tcg,thread=single");
}

/* A load ends with the data of the response, and not before the response arrives. */
static void test_blocked(void)
{
    ExanetTest *t = start("tcg");
    ExanetPacket pkt = blocked_load(t, 0x38);

    g_assert_cmphex(RNIC_GET(EXANET_STID_ID, pkt.tid), ==, 0);
    /* the device executes another store during the wait */
    exanet_store(t, WINDOW + 8, 0x55, 1);
    exanet_wait(t, qtest_readb(t->qts, EXANET_RAM_DST + 8) == 0x55);
    g_assert_false(is_done(t));
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, "\x78\x56\x34\x12");
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, 0x12345678);
    /* the device retries a refused load; the processor does not notice */
    pkt = blocked_load(t, 0x40);
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_FULL, NULL);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ));
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, "\x78\x56\x34\x12");
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, 0x12345678);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

static void test_refused(void)
{
    ExanetTest *t = start("tcg");
    ExanetPacket pkt = blocked_load(t, 0);

    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_DECODE, NULL);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    assert_error(t, EXANET_SHM_LOAD, EXANET_RESP_DECODE);
    load_go(t, 3 * WINDOW, 4);      /* no segment */
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    assert_error(t, EXANET_SHM_LOAD, EXANET_RESP_DECODE);
    assert_alive(t);
    exanet_stop(t);
}

static void test_dead_peer(void)
{
    ExanetTest *t = start("tcg");

    exanet_shm_set(t, SHM_RETRY_MAX, 2);
    blocked_load(t, 0);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    assert_error(t, EXANET_SHM_LOAD, EXANET_RESP_ACK);
    forget_packets(t);
    assert_alive(t);
    exanet_stop(t);
}

/*
 * Checks that the processor waits until the limit @ms, although the initiator would
 * wait much longer; then the load returns ones and an error.
 */
static void check_limit(const char *props, int64_t ms)
{
    ExanetTest *t = start_cold("pc", "tcg", props);
    g_autoptr(QNum) limit = qobject_to(QNum, exanet_qom_get(t,
                                                           "aperture-timeout-ms"));
    ExanetPacket pkt;
    int64_t before;

    g_assert_cmpint(qnum_get_int(limit), ==, ms);
    run(t);
    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    before = g_get_monotonic_time();
    pkt = remote_load(t, 0);
    exanet_wait(t, is_done(t));
    g_assert_cmpint(g_get_monotonic_time() - before, >=, ms * 1000);
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    assert_error(t, EXANET_SHM_LOAD, EXANET_RESP_ACK);
    g_assert_true(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_LOADS);
    /* no access waits for this answer, so the answer is no second error */
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_DECODE, NULL);
    exanet_wait(t, !(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_LOADS));
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 1);
    assert_alive(t);
    exanet_stop(t);
}

/* The default limit is 900 ms. */
static void test_limit(void)
{
    check_limit("", 900);
}

static void test_limit_property(void)
{
    check_limit(",aperture-timeout-ms=2500", 2500);
}

/* --- Stores ----------------------------------------------------------------- */

static void test_stores(void)
{
    ExanetTest *t = start("tcg");
    uint8_t want[3 * EXANET_MTU], value[16];

    exanet_fill(t, EXANET_RAM_DST, want, sizeof(want), 5);
    for (unsigned size = 1; size <= 16; size *= 2) {
        for (unsigned at = EXANET_MTU - 17; at <= EXANET_MTU + 1; at++) {
            for (unsigned i = 0; i < size; i++) {
                value[i] = 3 * at + 5 * size + i;
            }
            store_go(t, WINDOW + at, value, size);
            exanet_wait(t, is_done(t));
            memcpy(want + at, value, size);
            exanet_wait(t, !(exanet_shm_get(t, SHM_STATUS) &
                             EXANET_SHM_STATUS_STORES));
            exanet_assert_mem(t, EXANET_RAM_DST, want, sizeof(want));
        }
    }
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

/* A store to a segment without EARLY waits for the ack of the target. */
static void test_not_early(void)
{
    ExanetTest *t = start("tcg");
    g_autofree ExanetRxPacket *early = NULL, *delayed = NULL;

    store_go(t, 0, "1234", 4);
    early = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    exanet_wait(t, is_done(t));
    exanet_peer_answer_axi(t->peer, &early->pkt, EXANET_RESP_ACK, NULL);

    exanet_segment(t, 0, 0, WINDOW, to_peer(0), EXANET_SHM_MAP_WRITE);
    store_go(t, LINE, "1234", 4);
    delayed = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    exanet_settle(t);
    g_assert_false(is_done(t));
    exanet_peer_answer_axi(t->peer, &delayed->pkt, EXANET_RESP_ACK, NULL);
    exanet_wait(t, is_done(t));
    exanet_stop(t);
}

/*
 * Lets the processor store once more than the initiator has timers; returns the first
 * packet.
 */
static ExanetPacket store_seventeen(ExanetTest *t)
{
    ExanetPacket first = { 0 };
    VcpuCode code = { .len = 0 };

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    for (unsigned i = 0; i <= EXANET_SHM_TIMERS; i++) {
        emit_move(&code, 4, true, t->aperture.addr + i * LINE);
    }
    vcpu_go(t->qts, &code);
    for (unsigned i = 0; i < EXANET_SHM_TIMERS; i++) {
        g_autofree ExanetRxPacket *rx =
            exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);

        if (i == 0) {
            first = rx->pkt;
        }
    }
    exanet_wait(t, exanet_count(t, SHM_TIMER_STALL) == 1);
    return first;
}

/* The seventeenth store, and so the processor, waits for a timer. */
static void test_timers(void)
{
    ExanetTest *t = start("tcg");
    ExanetPacket first = store_seventeen(t);

    exanet_assert_quiet(t);
    g_assert_false(is_done(t));
    exanet_peer_answer_axi(t->peer, &first, EXANET_RESP_ACK, NULL);
    exanet_wait(t, is_done(t));
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE));
    exanet_stop(t);
}

/*
 * A load after a store to the same address waits for the ack of the store, and returns
 * its value.
 */
static void test_raw(void)
{
    ExanetTest *t = start("tcg");
    g_autofree ExanetRxPacket *store = NULL, *load = NULL;
    VcpuCode code = { .len = 0 };

    qtest_writel(t->qts, RAM_VALUE, 0x11223344);
    emit_move(&code, 4, false, RAM_VALUE);
    emit_move(&code, 4, true, t->aperture.addr + 4);
    emit_move(&code, 4, false, t->aperture.addr + 4);
    emit_move(&code, 4, true, RAM_RESULT);
    vcpu_go(t->qts, &code);
    store = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    exanet_wait(t, exanet_count(t, SHM_RAW_STALL) == 1);
    exanet_assert_quiet(t);
    exanet_peer_answer_axi(t->peer, &store->pkt, EXANET_RESP_ACK, NULL);
    load = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);
    exanet_peer_answer_axi(t->peer, &load->pkt, EXANET_RESP_ACK,
                           store->pkt.payload);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, 0x11223344);
    exanet_stop(t);
}

/* --- Devices that the processor sets to work ---------------------------------- */

/*
 * fw_cfg reads its command from the aperture by DMA during the processor's OUT: the
 * device refuses this load, because it is not the processor's.
 */
static void test_dma(void)
{
    ExanetTest *t = start("tcg");
    VcpuCode code = { .len = 0 };
    g_autofree ExanetRxPacket *store = NULL;

    vcpu_emit(&code, "\xba", 1, FW_CFG_DMA_PORT);               /* mov edx */
    vcpu_emit(&code, "\xb8", 1, 0);                             /* mov eax */
    code.byte[code.len++] = 0xef;                               /* out dx, eax */
    vcpu_emit(&code, "\xba", 1, FW_CFG_DMA_PORT + 4);
    vcpu_emit(&code, "\xb8", 1, bswap32(t->aperture.addr));
    code.byte[code.len++] = 0xef;
    vcpu_go(t->qts, &code);
    exanet_wait(t, is_done(t));
    g_assert_cmpuint(exanet_count(t, SHM_REFUSED), >=, 1);
    g_assert_cmpuint(exanet_count(t, SHM_LOAD), ==, 0);
    /* fw_cfg stores an error to the aperture; nothing waits for this store */
    store = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    exanet_peer_answer_axi(t->peer, &store->pkt, EXANET_RESP_ACK, NULL);
    exanet_assert_quiet(t);
    assert_alive(t);
    exanet_stop(t);
}

/*
 * Another device sends a message to the aperture while the processor writes a register
 * of that device.  The message is not a store of the processor, although its requester
 * ID is 0.  The message must not wait, because the other device is at work.
 */
static void test_message(void)
{
    ExanetTest *t = start_cold("q35", "tcg", ",aperture-timeout-ms=60000"
                               MSI_SOURCE_OPTIONS);
    MsiSource source = msi_source_start(t->bus);
    g_autofree ExanetRxPacket *store = NULL;
    VcpuCode code = { .len = 0 };

    run(t);
    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    exanet_segment(t, 0, 0, WINDOW, to_peer(0), EXANET_SHM_MAP_WRITE);
    msi_source_aim(&source, t->aperture.addr + 0x10, 0x11223344);
    msi_source_emit(&code, &source);
    vcpu_go(t->qts, &code);
    store = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    g_assert_cmphex(store->pkt.va, ==, PEER_VA + 0x10);
    g_assert_cmpmem(store->pkt.payload, 4, "\x44\x33\x22\x11", 4);
    for (unsigned i = 0; i < 200 && !is_done(t); i++) {
        exanet_settle(t);
        g_usleep(10000);
    }
    g_assert_true(is_done(t));
    exanet_peer_answer_axi(t->peer, &store->pkt, EXANET_RESP_ACK, NULL);
    assert_alive(t);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

/* --- What happens meanwhile --------------------------------------------------- */

static void test_context_ends(void)
{
    ExanetTest *t = start("tcg");
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    pkt = blocked_load(t, 0);
    exanet_close(t, 0);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, "1234");
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    segments(t);
    assert_alive(t);
    exanet_stop(t);
}

static void test_device_reset(void)
{
    ExanetTest *t = start("tcg");

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    blocked_load(t, 0);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    bring_up(t);
    assert_alive(t);
    exanet_stop(t);
}

static void test_system_reset(void)
{
    ExanetTest *t = start("tcg");

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    blocked_load(t, 0);
    qtest_system_reset(t->qts);
    /* the reset processor repeats the load, which finds no mapped BAR */
    exanet_wait(t, is_done(t));
    exanet_stop(t);
}

/* `stop` does not wait for the load, which the processor repeats after `cont`. */
static void test_stop(void)
{
    ExanetTest *t = start("tcg");
    g_autofree ExanetRxPacket *again = NULL;
    ExanetPacket pkt;

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    pkt = blocked_load(t, 0x20);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    exanet_settle(t);
    g_assert_false(is_done(t));
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    again = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);
    g_assert_cmphex(again->pkt.va, ==, PEER_VA + 0x20);
    g_assert_false(is_done(t));
    exanet_peer_answer_axi(t->peer, &pkt, EXANET_RESP_ACK, "1234");
    exanet_peer_answer_axi(t->peer, &again->pkt, EXANET_RESP_ACK,
                           "\x78\x56\x34\x12");
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, 0x12345678);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    exanet_stop(t);
}

/* A store that waits for a timer during `stop` and `cont` is done exactly once. */
static void test_stop_store(void)
{
    ExanetTest *t = start("tcg");
    ExanetPacket first = store_seventeen(t);

    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    exanet_wait(t, is_done(t));
    exanet_assert_quiet(t);
    exanet_peer_answer_axi(t->peer, &first, EXANET_RESP_ACK, NULL);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE));
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, SHM_STORE), ==, EXANET_SHM_TIMERS + 1);
    exanet_stop(t);
}

static void test_disable(void)
{
    ExanetTest *t = start("tcg");

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    blocked_load(t, 0);
    exanet_set32(t, EXANET_REG_CTRL, 0);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    exanet_stop(t);
}

static void test_unplug(void)
{
    ExanetTest *t = start("tcg");

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    blocked_load(t, 0);
    qpci_unplug_acpi_device_test(t->qts, "nic", SLOT);
    exanet_wait(t, is_done(t));
    g_assert_cmphex(result(t), ==, UINT32_MAX);
    exanet_stop(t);
}

/* `quit` ends QEMU, and does not wait for the load. */
static void test_quit(void)
{
    ExanetTest *t = start("tcg");

    exanet_shm_set(t, SHM_TIMEOUT, UINT32_MAX);
    blocked_load(t, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    bios_path = vcpu_bios_new();
    qtest_add_func("/exanet/aperture/vcpu-loads", test_loads);
    qtest_add_func("/exanet/aperture/vcpu-loads-single", test_loads_single);
    qtest_add_func("/exanet/aperture/vcpu-blocked", test_blocked);
    qtest_add_func("/exanet/aperture/vcpu-refused", test_refused);
    qtest_add_func("/exanet/aperture/vcpu-dead-peer", test_dead_peer);
    qtest_add_func("/exanet/aperture/vcpu-limit", test_limit);
    qtest_add_func("/exanet/aperture/vcpu-limit-property", test_limit_property);
    qtest_add_func("/exanet/aperture/vcpu-stores", test_stores);
    qtest_add_func("/exanet/aperture/vcpu-not-early", test_not_early);
    qtest_add_func("/exanet/aperture/vcpu-timers", test_timers);
    qtest_add_func("/exanet/aperture/vcpu-raw", test_raw);
    qtest_add_func("/exanet/aperture/vcpu-dma", test_dma);
    qtest_add_func("/exanet/aperture/vcpu-message", test_message);
    qtest_add_func("/exanet/aperture/vcpu-context-ends", test_context_ends);
    qtest_add_func("/exanet/aperture/vcpu-device-reset", test_device_reset);
    qtest_add_func("/exanet/aperture/vcpu-system-reset", test_system_reset);
    qtest_add_func("/exanet/aperture/vcpu-stop", test_stop);
    qtest_add_func("/exanet/aperture/vcpu-stop-store", test_stop_store);
    qtest_add_func("/exanet/aperture/vcpu-disable", test_disable);
    qtest_add_func("/exanet/aperture/vcpu-unplug", test_unplug);
    qtest_add_func("/exanet/aperture/vcpu-quit", test_quit);
    status = g_test_run();
    vcpu_bios_remove(bios_path);
    return status;
}
