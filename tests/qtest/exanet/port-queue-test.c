/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queues of link ports: virtual channels that do not stop each other, FIFOs with room
 * for packets under way, the order of packets, and loop-back.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "transit.h"

#define DST EXANET_RAM_DST
#define SRC EXANET_RAM_SRC
/* packets that fill an RX FIFO of the default size */
#define FIFO_PACKETS (16384 / EXANET_PACKET_WORDS)

/* --- Virtual channels ------------------------------------------------------ */

static void test_channels(void)
{
    ExanetTest *t = transit_start("");

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        transit_send(t, L, RIGHT, vc, 10 * vc, 10);
        transit_take(t, vc, 10 * vc, 10);
    }
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 10 * EXANET_VCS);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* XOFF of one channel stops only this channel. */
static void test_xoff_channel(void)
{
    ExanetTest *t = transit_start("");

    for (unsigned stopped = 0; stopped < EXANET_VCS; stopped++) {
        transit_flow(t, R, stopped, true);
        g_assert_cmphex(transit_status(t, R, EXANET_PORT_STATUS_PEER_XOFF_VC),
                        ==, BIT(stopped));
        g_assert_cmphex(transit_status(t, R, EXANET_PORT_STATUS_PEER_XOFF), ==, 1);
        transit_send(t, L, RIGHT, stopped, 0, 2 * FRAME_PACKETS);
        for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
            if (vc != stopped) {
                transit_send(t, L, RIGHT, vc, 500, 300);
                transit_take(t, vc, 500, 300);
            }
        }
        exanet_assert_quiet(t);
        transit_flow(t, R, stopped, false);
        transit_take(t, stopped, 0, 2 * FRAME_PACKETS);
        g_assert_cmphex(transit_status(t, R, EXANET_PORT_STATUS_PEER_XOFF), ==, 0);
    }
    g_assert_cmpuint(transit_get(t, R, EXANET_REG_PORT_XOFF_RECEIVED), ==,
                     EXANET_VCS);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/*
 * A full channel stops the sender in this channel only.  Packets that are under way
 * still find room, and packets for this node pass in the other channels.
 */
static void test_full_channel(void)
{
    ExanetTest *t = transit_start("");
    unsigned count = 3 * FIFO_PACKETS;

    transit_flow(t, R, 1, true);
    transit_send(t, L, RIGHT, 1, 0, count);
    exanet_wait(t, t->ports[L]->xoff == BIT(1));
    exanet_wait(t, transit_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                count * EXANET_PACKET_WORDS);
    g_assert_cmphex(transit_status(t, L, EXANET_PORT_STATUS_XOFF_VC), ==, BIT(1));
    g_assert_cmphex(transit_status(t, L, EXANET_PORT_STATUS_XOFF), ==, 1);
    g_assert_cmpuint(transit_level(t, L, EXANET_PORT_LEVEL_RX), ==,
                     count * EXANET_PACKET_WORDS);
    g_assert_cmpuint(transit_level(t, R, EXANET_PORT_LEVEL_TX), ==, 0);
    transit_send(t, L, RIGHT, 0, 7, 300);
    transit_take(t, 0, 7, 300);
    transit_send(t, L, MIDDLE, 2, 0, 64);
    exanet_wait(t, exanet_count(t, RX_WRITE) == 64);
    /* the device repeats XOFF, because the peer may have missed it */
    g_assert_cmpuint(t->ports[L]->xoffs, ==, 1);
    exanet_step(t, 1000 * EXANET_MS);
    exanet_wait(t, t->ports[L]->xoffs == 2);
    g_assert_cmphex(t->ports[L]->xoff, ==, BIT(1));
    g_assert_cmpuint(transit_get(t, L, EXANET_REG_PORT_XOFF_SENT), ==, 1);
    transit_flow(t, R, 1, false);
    transit_take(t, 1, 0, count);
    exanet_wait(t, t->ports[L]->xoff == 0);
    g_assert_cmpuint(transit_level(t, L, EXANET_PORT_LEVEL_RX), ==, 0);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* The device stops the netdev of a peer that ignores XOFF, and loses no packet. */
static void test_held_netdev(void)
{
    ExanetTest *t = transit_start("");
    unsigned frames = 4 * MiB / (FRAME_PACKETS * EXANET_PACKET_BYTES) + 3;
    unsigned count = frames * FRAME_PACKETS;
    uint64_t words;

    transit_flow(t, R, 0, true);
    transit_send(t, L, RIGHT, 0, 0, count);
    exanet_settle(t);
    exanet_wait(t, transit_get(t, L, EXANET_REG_PORT_RX_WORDS) * EXANET_WORD_BYTES
                >= 4 * MiB);
    exanet_settle(t);
    words = transit_get(t, L, EXANET_REG_PORT_RX_WORDS);
    g_assert_cmpuint(words, <, count * EXANET_PACKET_WORDS);
    exanet_settle(t);
    g_assert_cmpuint(transit_get(t, L, EXANET_REG_PORT_RX_WORDS), ==, words);
    transit_flow(t, R, 0, false);
    transit_take(t, 0, 0, count);
    exanet_wait(t, t->ports[L]->xoff == 0);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/*
 * Packets in the RX FIFO are dropped when their link goes down, and the next link
 * begins with empty FIFOs.
 */
static void test_down_drops(void)
{
    ExanetTest *t = transit_start("");
    ExanetPeer *p = t->ports[L];

    transit_flow(t, R, 0, true);
    transit_send(t, L, RIGHT, 0, 0, 2 * FIFO_PACKETS);
    exanet_wait(t, p->xoff && transit_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                2 * FIFO_PACKETS * EXANET_PACKET_WORDS);
    transit_set32(t, L, EXANET_REG_PORT_CTRL, 0);
    exanet_wait(t, p->downs == 1);
    g_assert_cmpuint(transit_level(t, L, EXANET_PORT_LEVEL_RX), ==, 0);
    g_assert_cmpuint(transit_get(t, L, EXANET_REG_PORT_DROPPED), ==,
                     2 * FIFO_PACKETS);
    transit_set32(t, L, EXANET_REG_PORT_CTRL, EXANET_PORT_CTRL_ENABLE);
    exanet_peer_hello(p, false);
    exanet_wait(t, p->heard && transit_status(t, L, EXANET_PORT_STATUS_UP));
    g_assert_cmphex(transit_status(t, L, EXANET_PORT_STATUS_XOFF), ==, 0);
    transit_flow(t, R, 0, false);
    exanet_assert_quiet(t);
    transit_send(t, L, RIGHT, 0, 9000, 5);
    transit_take(t, 0, 9000, 5);
    g_assert_cmpuint(transit_get(t, R, EXANET_REG_PORT_DROPPED), ==, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/*
 * Packets at the output are dropped when the link goes down: those in a frame that is
 * being filled, and those on a cable with latency.
 */
static void test_down_drops_sent(void)
{
    ExanetTest *t = transit_start("");
    unsigned count = 20 * RATE_PACKETS, gone;

    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    transit_set32(t, R, EXANET_REG_PORT_LATENCY, EXANET_MS);
    transit_send(t, L, RIGHT, 0, 0, count);
    exanet_wait(t, transit_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                count * EXANET_PACKET_WORDS);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    gone = transit_get(t, L, EXANET_REG_PORT_RX_PACKETS);
    g_assert_cmpuint(gone, >=, 2 * RATE_PACKETS);
    g_assert_cmpuint(gone, <, count);
    transit_set32(t, R, EXANET_REG_PORT_CTRL, 0);
    exanet_settle(t);
    g_assert_cmpuint(transit_get(t, R, EXANET_REG_PORT_DROPPED), ==, gone);
    /* the other packets have no route any more */
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, count - gone);
    g_assert_cmpuint(transit_level(t, L, EXANET_PORT_LEVEL_RX), ==, 0);
    exanet_step(t, 10 * EXANET_MS);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    exanet_stop(t);
}

/* Returns the processor time that QEMU has used, in clock ticks. */
static uint64_t ticks(ExanetTest *t)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", qtest_pid(t->qts));
    g_autofree char *text = NULL;
    g_auto(GStrv) field = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    /*
     * fields after the process name, which may contain spaces: the first is field 3,
     * the times are fields 14 and 15
     */
    field = g_strsplit(strrchr(text, ')') + 2, " ", -1);
    return g_ascii_strtoull(field[11], NULL, 10) +
           g_ascii_strtoull(field[12], NULL, 10);
}

/* Asserts that QEMU sleeps: it uses less than a quarter of half a second. */
static void assert_asleep(ExanetTest *t)
{
    uint64_t before;

    exanet_settle(t);
    before = ticks(t);
    g_usleep(G_USEC_PER_SEC / 2);
    g_assert_cmpuint(ticks(t) - before, <, sysconf(_SC_CLK_TCK) / 4);
}

/*
 * QEMU sleeps while all units and packets in transit wait for an output, because of
 * XOFF, a low rate or a latency.
 */
static void test_asleep(void)
{
    ExanetTest *t = transit_start("");
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(RIGHT, DST), .len = MiB,
    };

    transit_flow(t, R, 0, true);
    transit_send(t, L, RIGHT, 0, 0, 2 * FIFO_PACKETS);
    exanet_channel_start(t, 0, 0, &x);
    exanet_pktz_start(t, 0, 0, x.dst, "r", 1, EXANET_PKTZ_ACK);
    exanet_wait(t, t->ports[L]->xoff);
    assert_asleep(t);
    transit_flow(t, R, 0, false);
    transit_set32(t, R, EXANET_REG_PORT_RATE, 1);
    assert_asleep(t);
    transit_set32(t, R, EXANET_REG_PORT_LATENCY, 1000 * EXANET_MS);
    transit_set32(t, R, EXANET_REG_PORT_RATE, 0);
    assert_asleep(t);
    exanet_stop(t);
}

/* Returns how often QEMU's main loop has slept until now. */
static uint64_t sleeps(ExanetTest *t)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/status",
                                            qtest_pid(t->qts));
    g_autofree char *text = NULL;
    const char *line;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    line = strstr(text, "\nvoluntary_ctxt_switches:");
    g_assert_nonnull(line);
    return g_ascii_strtoull(strchr(line, ':') + 1, NULL, 10);
}

/*
 * QEMU sleeps although a timer is due in 20 us, because the test stops the virtual
 * clock.
 */
static void test_asleep_with_timer(void)
{
    ExanetTest *t = transit_start("");
    uint64_t before;

    exanet_step(t, EXANET_MS);
    transit_set32(t, R, EXANET_REG_PORT_LATENCY, 20000);
    transit_send(t, L, RIGHT, 0, 0, 1);
    exanet_settle(t);
    g_assert_cmpuint(transit_arrived(t), ==, 0);
    before = sleeps(t);
    g_usleep(G_USEC_PER_SEC / 2);
    g_assert_cmpuint(sleeps(t) - before, <, 20);
    exanet_step(t, 20000);
    exanet_wait(t, transit_arrived(t) == 1);
    exanet_stop(t);
}

/* --- Who goes first -------------------------------------------------------- */

static unsigned take_acks(ExanetTest *t, unsigned count)
{
    unsigned n = 0;

    exanet_wait(t, g_queue_get_length(&t->ports[R]->packets) >= count);
    while (n < count) {
        ExanetRxPacket *rx = g_queue_peek_head(&t->ports[R]->packets);

        if (rx->pkt.type != EXANET_TYPE_ACK) {
            break;
        }
        g_free(g_queue_pop_head(&t->ports[R]->packets));
        n++;
    }
    return n;
}

/* Acks in transit overtake data of their channel that wait for the same output. */
static void test_urgent_transit(void)
{
    ExanetTest *t = transit_start("");
    unsigned data = RATE_PACKETS - 1;
    unsigned acks = 2 * EXANET_PACKET_WORDS;

    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    transit_send(t, L, RIGHT, 0, 0, RATE_PACKETS);
    transit_take(t, 0, 0, RATE_PACKETS);
    transit_send(t, L, RIGHT, 0, RATE_PACKETS, data);
    exanet_wait(t, exanet_count(t, FORWARDED) == RATE_PACKETS + data);
    transit_send_acks(t, A, RIGHT, acks);
    exanet_wait(t, exanet_count(t, FORWARDED) == RATE_PACKETS + data + acks);
    g_assert_cmpuint(transit_level(t, R, EXANET_PORT_LEVEL_TX), ==,
                     data * EXANET_PACKET_WORDS + acks);
    exanet_assert_quiet(t);
    exanet_step(t, RATE_FRAME_NS);
    g_assert_cmpuint(take_acks(t, acks), ==, acks);
    exanet_assert_quiet(t);
    exanet_step(t, acks * WORD_NS);
    transit_take(t, 0, RATE_PACKETS, data);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/*
 * Sends packets to a context that is not open, and waits until the device has answered
 * each with a nack.
 */
static void provoke_acks(ExanetTest *t, unsigned count)
{
    uint64_t before = exanet_count(t, TX_ACK);

    t->ports[R]->vc = 0;
    for (unsigned i = 0; i < count; i++) {
        ExanetPacket pkt = transit_packet(t, R, MIDDLE, 0, i);

        pkt.pdid = EXANET_TEST_PDID(5);
        pkt.first = true; /* the receiver answers unknown sources only if FIRST is set */
        exanet_peer_send(t->ports[R], &pkt);
    }
    exanet_wait(t, exanet_count(t, TX_ACK) == before + count);
}

/* If more acks wait than a frame holds, every other frame has data. */
static void test_urgent_fair(void)
{
    ExanetTest *t = transit_start("");
    unsigned frame = 50000 / WORD_NS;

    transit_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    transit_send(t, L, RIGHT, 0, 0, 3 * RATE_PACKETS);
    transit_take(t, 0, 0, RATE_PACKETS);
    provoke_acks(t, 2 * frame + 100);
    exanet_assert_quiet(t);
    exanet_step(t, EXANET_MS);
    g_assert_cmpuint(take_acks(t, frame + 1), ==, frame);
    transit_take(t, 0, RATE_PACKETS, RATE_PACKETS);
    g_assert_cmpuint(take_acks(t, frame + 1), ==, frame);
    transit_take(t, 0, 2 * RATE_PACKETS, RATE_PACKETS);
    g_assert_cmpuint(take_acks(t, 100), ==, 100);
    transit_assert_none_lost(t);
    exanet_stop(t);
}

/* --- Loop-back ------------------------------------------------------------- */

static void loopback_set(ExanetTest *t, bool on)
{
    transit_set32(t, R, EXANET_REG_PORT_CTRL, EXANET_PORT_CTRL_ENABLE |
                  (on ? EXANET_PORT_CTRL_LOOPBACK : 0));
}

static void check_loopback(uint32_t kbps, uint32_t latency)
{
    ExanetTest *t = transit_start(",rx-fifo-words=256");
    g_autofree uint8_t *src = g_malloc(MiB);
    unsigned downs = t->ports[R]->downs;
    unsigned left = 1000;           /* limit of steps, 10 times as many as needed */
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(MIDDLE, DST), .len = MiB,
    };

    loopback_set(t, true);
    exanet_wait(t, t->ports[R]->downs == downs + 1);
    g_assert_cmphex(transit_status(t, R, EXANET_PORT_STATUS_UP), ==, 1);
    g_assert_cmphex(transit_get32(t, R, EXANET_REG_PORT_PEER), ==, MIDDLE);
    transit_set32(t, R, EXANET_REG_PORT_RATE, kbps);
    transit_set32(t, R, EXANET_REG_PORT_LATENCY, latency);
    exanet_fill(t, SRC, src, MiB, 5);
    exanet_channel_start(t, 0, 0, &x);
    while (kbps && exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE) {
        exanet_step(t, 10000);
        g_assert_cmpint(left--, >, 0);
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_mem(t, DST, src, MiB);
    g_assert_cmpuint(transit_get(t, R, EXANET_REG_PORT_TX_PACKETS), >=,
                     MiB / EXANET_MTU + MiB / EXANET_BLOCK_BYTES);
    g_assert_cmpuint(transit_get(t, R, EXANET_REG_PORT_RX_PACKETS), ==,
                     transit_get(t, R, EXANET_REG_PORT_TX_PACKETS));
    /* in loop-back the port drops frames from the cable */
    g_assert_cmpuint(transit_get(t, R, EXANET_REG_PORT_DROPPED), ==, 0);
    exanet_peer_hello(t->ports[R], true);
    exanet_wait(t, transit_get(t, R, EXANET_REG_PORT_DROPPED) == 1);
    g_assert_cmphex(transit_get32(t, R, EXANET_REG_PORT_PEER), ==, MIDDLE);
    exanet_assert_quiet(t);

    loopback_set(t, false);
    transit_set32(t, R, EXANET_REG_PORT_RATE, 0);
    transit_set32(t, R, EXANET_REG_PORT_LATENCY, 0);
    exanet_peer_hello(t->ports[R], false);
    exanet_wait(t, t->ports[R]->heard &&
                transit_get32(t, R, EXANET_REG_PORT_PEER) == RIGHT &&
                transit_status(t, R, EXANET_PORT_STATUS_UP));
    transit_send(t, L, RIGHT, 0, 0, 3);
    transit_take(t, 0, 0, 3);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

static void test_loopback(void)
{
    check_loopback(0, 0);
}

static void test_loopback_timed(void)
{
    check_loopback(8 * RATE_KBPS, 1500);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/port/queue-channels", test_channels);
    qtest_add_func("/exanet/port/queue-xoff-channel", test_xoff_channel);
    qtest_add_func("/exanet/port/queue-full-channel", test_full_channel);
    qtest_add_func("/exanet/port/queue-held-netdev", test_held_netdev);
    qtest_add_func("/exanet/port/queue-down-drops", test_down_drops);
    qtest_add_func("/exanet/port/queue-down-drops-sent", test_down_drops_sent);
    qtest_add_func("/exanet/port/queue-asleep", test_asleep);
    qtest_add_func("/exanet/port/queue-asleep-with-timer",
                   test_asleep_with_timer);
    qtest_add_func("/exanet/port/queue-urgent-transit", test_urgent_transit);
    qtest_add_func("/exanet/port/queue-urgent-fair", test_urgent_fair);
    qtest_add_func("/exanet/port/queue-loopback", test_loopback);
    qtest_add_func("/exanet/port/queue-loopback-timed", test_loopback_timed);
    return g_test_run();
}
