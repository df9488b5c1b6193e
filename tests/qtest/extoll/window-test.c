/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BAR 2 with stores of a processor, which waits while the FIFO is full: an x86 machine
 * executes, by TCG, machine code of the test.
 *
 * Time is real here.  Assertions use only time limits that no busy host reaches.
 */
#include "qemu/osdep.h"
#include "libqos/pci-pc.h"
#include "../common/vcpu.h"
#include "velo.h"

#define OWN         3               /* VPID of the sender */
#define BOX         7               /* VPID of the receiver */
#define SLOT        6               /* PCI slot of the device, for unplug */
#define FILLED      (EXTOLL_ROOM_MIN + EXTOLL_TEST_FIFO)
#define RESERVE     64              /* messages of processors that must stop */

/* RAM that the machine code uses. */
#define RAM_VALUE   0x10040
#define RAM_RESULT  0x10100

static char *bios_path;

static VeloMsg peer_msg(unsigned quadwords, unsigned number)
{
    return (VeloMsg) { .node = EXTOLL_PEER_NODE(0), .vpid = BOX, .own = OWN,
                       .mtt = number % 4, .quadwords = quadwords, .number = number };
}

/*
 * Starts the machine; the processor runs after the BARs have been sized, because a BAR
 * covers the BIOS during sizing.  The peer keeps its little room.
 */
static ExtollTest *start(const char *accel, const char *props)
{
    g_autofree char *all =
        g_strdup_printf(",addr=%u,link-stall-ms=0,link-timeout-ms=0%s -machine pc "
                        "-accel %s -bios %s -S", SLOT, props, accel, bios_path);
    ExtollTest *t = extoll_start_cold(1, all);

    t->peer[0]->room = EXTOLL_ROOM_MIN;
    t->peer[0]->hold = true;
    velo_enable(t);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    extoll_link_bring_up(t, 0);
    return t;
}

/* Does the same with a time limit that no test reaches, and fills the FIFO. */
static ExtollTest *start_full(const char *props)
{
    g_autofree char *all = g_strdup_printf(",cfcq-timeout-ms=600000%s", props);
    ExtollTest *t = start("tcg", all);

    for (unsigned n = 0; n < FILLED; n++) {
        VeloMsg m = peer_msg(1 + n % 8, n);

        velo_store(t, &m);
    }
    extoll_wait(t, extoll_counter(t, VELO_TRIP) == EXTOLL_ROOM_MIN);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, FILLED);
    return t;
}

/* Takes the messages of start_full(). */
static void take_filled(ExtollTest *t)
{
    t->peer[0]->hold = false;
    extoll_peer_free_room(t->peer[0]);
    for (unsigned n = 0; n < FILLED; n++) {
        VeloMsg m = peer_msg(1 + n % 8, n);

        velo_peer_take(t, 0, &m, 0, m.quadwords);
    }
}

/* --- The processor ---------------------------------------------------------- */

/* Emits code that moves 4 bytes (eax), 8 (mm0) or 16 (xmm0) from or to memory. */
static void emit_move(VcpuCode *code, unsigned size, bool store, uint32_t address)
{
    switch (size) {
    case 4:
        vcpu_emit(code, store ? "\xa3" : "\xa1", 1, address);
        break;
    case 8:
        vcpu_emit(code, store ? "\x0f\x7f\x05" : "\x0f\x6f\x05", 3, address);
        break;
    case 16:
        vcpu_emit(code, store ? "\x0f\x11\x05" : "\x0f\x10\x05", 3, address);
        break;
    default:
        g_assert_not_reached();
    }
}

/* Lets the processor store @m in pieces of @size bytes. */
static void store_go(ExtollTest *t, const VeloMsg *m, unsigned size)
{
    VcpuCode code = { .len = 0 };

    for (unsigned q = 0; q < m->quadwords; q++) {
        qtest_writeq(t->qts, RAM_VALUE + q * 8, velo_word(m, q));
    }
    for (unsigned at = 0; at < m->quadwords * 8; at += size) {
        unsigned piece = MIN(size, m->quadwords * 8 - at);

        emit_move(&code, piece, false, RAM_VALUE + at);
        emit_move(&code, piece, true, velo_address(m, 0) + at);
    }
    vcpu_go(t->qts, &code);
}

#define done_wait(t) extoll_wait(t, vcpu_is_done((t)->qts))

/* Lets the processor store @m, a quadword, and waits until the processor waits. */
static void store_blocked(ExtollTest *t, const VeloMsg *m)
{
    store_go(t, m, 8);
    extoll_wait(t, extoll_counter(t, CFCQ_WAIT) == 1);
    for (unsigned i = 0; i < 5; i++) {
        extoll_settle(t);
        g_usleep(10000);
        g_assert_false(vcpu_is_done(t->qts));
    }
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, FILLED);
}

/* Asserts that processor, device and link still work. */
static void assert_alive(ExtollTest *t)
{
    VeloMsg m = peer_msg(4, 4000);

    store_go(t, &m, 8);
    velo_peer_take(t, 0, &m, 0, 4);
    done_wait(t);
}

/* --- Stores that need not wait ---------------------------------------------- */

/* Stores of 4, 8 and 16 bytes, and a message to the own node. */
static void check_stores(const char *accel)
{
    ExtollTest *t = start(accel, "");
    unsigned n = 0;

    t->peer[0]->hold = false;
    velo_mailbox(t, BOX, EXTOLL_RING_MIN);
    for (unsigned size = 4; size <= 16; size *= 2) {
        for (unsigned q = 1; q <= EXTOLL_VELO_QUADWORDS; q++) {
            VeloMsg m = peer_msg(q, n++);

            store_go(t, &m, size);
            velo_peer_take(t, 0, &m, 0, q);
            done_wait(t);
            m.node = EXTOLL_TEST_NODE;
            store_go(t, &m, size);
            velo_take(t, &m, EXTOLL_TEST_NODE);
            done_wait(t);
        }
    }
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, 2 * n);
    g_assert_cmpuint(extoll_counter(t, VELO_SPLIT), ==, 0);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 0);
    extoll_stop(t);
}

static void test_stores(void)
{
    check_stores("tcg");
}

/* All processors of the machine share one thread of QEMU. */
static void test_stores_single(void)
{
    check_stores("tcg,thread=single");
}

/* A full FIFO holds no store up that is staged, and its commit does not wait. */
static void test_staged(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);
    VcpuCode code = { .len = 0 };

    m.own = OWN + 1;
    extoll_set32(t, EXTOLL_VELO_VPID(m.own) + EXTOLL_REG_TXIO, 1);
    store_go(t, &m, 8);
    done_wait(t);
    emit_move(&code, 8, false, velo_address(&m, 0));
    emit_move(&code, 8, true, RAM_RESULT);
    vcpu_go(t->qts, &code);
    done_wait(t);
    g_assert_cmpuint(qtest_readq(t->qts, RAM_RESULT), ==, EXTOLL_TXIO_FULL);
    take_filled(t);
    code.len--;
    vcpu_go(t->qts, &code);
    velo_peer_take(t, 0, &m, 0, 1);
    done_wait(t);
    g_assert_cmpuint(qtest_readq(t->qts, RAM_RESULT), ==, EXTOLL_TXIO_ACCEPTED);
    g_assert_cmpuint(extoll_counter(t, TXIO_FULL), ==, 1);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 0);
    extoll_stop(t);
}

/* --- Stores that wait ------------------------------------------------------- */

/* The processor goes on when the peer frees room. */
static void test_wait(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    take_filled(t);
    velo_peer_take(t, 0, &m, 0, 1);
    done_wait(t);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 1);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 0);
    assert_alive(t);
    extoll_stop(t);
}

/* After the time limit, the store is dropped, and the processor goes on. */
static void test_timeout(void)
{
    ExtollTest *t = start_full(",cfcq-timeout-ms=300");
    VeloMsg m = peer_msg(1, 1000);
    int64_t before = g_get_monotonic_time();

    t->guest_errors = true;
    store_go(t, &m, 8);
    done_wait(t);
    g_assert_cmpint(g_get_monotonic_time() - before, >=, 300 * 1000);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 1);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 1);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, FILLED);
    take_filled(t);
    assert_alive(t);                /* the dropped message does not arrive */
    extoll_stop(t);
}

/* `stop` does not wait for room: the store is done, by the reserve, exactly once. */
static void test_stop(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, FILLED + 1);
    extoll_settle(t);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    done_wait(t);
    take_filled(t);
    velo_peer_take(t, 0, &m, 0, 1);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 0);
    assert_alive(t);
    g_assert_cmpuint(extoll_counter(t, CFCQ_WAIT), ==, 1);
    extoll_stop(t);
}

/* The reserve has an end: a store that neither waits nor finds room is dropped. */
static void test_reserve(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);
    VcpuCode code = { .len = 0 };
    unsigned n;

    t->guest_errors = true;
    qtest_writeq(t->qts, RAM_VALUE, velo_word(&m, 0));
    emit_move(&code, 8, false, RAM_VALUE);
    for (n = 0; n < RESERVE + 3; n++) {
        emit_move(&code, 8, true, velo_address(&m, 0));
    }
    vcpu_go(t->qts, &code);
    for (n = 1; n <= RESERVE + 2; n++) {
        extoll_wait(t, extoll_counter(t, CFCQ_WAIT) == n);
        qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
        g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, FILLED + MIN(n, RESERVE));
        g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==,
                         n > RESERVE ? n - RESERVE : 0);
        qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
    }
    g_assert_false(vcpu_is_done(t->qts));
    take_filled(t);
    for (n = 0; n < RESERVE + 1; n++) {
        velo_peer_take(t, 0, &m, 0, 1);
    }
    done_wait(t);
    assert_alive(t);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 2);
    extoll_stop(t);
}

/* A VPID that is disabled meanwhile: the store is refused when room comes. */
static void test_disable(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, ~(1u << OWN));
    done_wait(t);
    take_filled(t);
    g_assert_cmpuint(extoll_counter(t, VELO_NO_VPID), ==, 1);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 0);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, UINT32_MAX);
    assert_alive(t);
    extoll_stop(t);
}

/* --- Events during a wait --------------------------------------------------- */

/* The reset wakes the processor; its store belongs to the time before. */
static void test_reset(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    t->peer[0]->hold = false;
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    done_wait(t);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, 0);
    g_queue_clear_full(&t->peer[0]->packets, g_free);
    velo_enable(t);
    extoll_wait(t, extoll_link_up_get(t, 0));   /* the peer notices the reset */
    assert_alive(t);
    extoll_stop(t);
}

/* A store from before the reset is lost, also if VELO is enabled at once again. */
static void test_reset_enable(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    t->peer[0]->hold = false;
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    velo_enable(t);
    done_wait(t);
    g_assert_cmpuint(extoll_counter(t, VELO_PIO), ==, 0);
    g_assert_cmpuint(extoll_counter(t, CFCQ_DROPPED), ==, 0);
    extoll_stop(t);
}

static void test_system_reset(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    qtest_system_reset(t->qts);
    /* the reset processor repeats the store, which finds no mapped BAR */
    done_wait(t);
    extoll_stop(t);
}

static void test_unplug(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    qpci_unplug_acpi_device_test(t->qts, "nic", SLOT);
    done_wait(t);
    extoll_stop(t);
}

/* `quit` ends QEMU, and does not wait for room. */
static void test_quit(void)
{
    ExtollTest *t = start_full("");
    VeloMsg m = peer_msg(1, 1000);

    store_blocked(t, &m);
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    bios_path = vcpu_bios_new();
    qtest_add_func("/extoll/window/stores", test_stores);
    qtest_add_func("/extoll/window/stores-single", test_stores_single);
    qtest_add_func("/extoll/window/staged", test_staged);
    qtest_add_func("/extoll/window/wait", test_wait);
    qtest_add_func("/extoll/window/timeout", test_timeout);
    qtest_add_func("/extoll/window/stop", test_stop);
    qtest_add_func("/extoll/window/reserve", test_reserve);
    qtest_add_func("/extoll/window/disable", test_disable);
    qtest_add_func("/extoll/window/reset", test_reset);
    qtest_add_func("/extoll/window/reset-enable", test_reset_enable);
    qtest_add_func("/extoll/window/system-reset", test_system_reset);
    qtest_add_func("/extoll/window/unplug", test_unplug);
    qtest_add_func("/extoll/window/quit", test_quit);
    status = g_test_run();
    vcpu_bios_remove(bios_path);
    return status;
}
