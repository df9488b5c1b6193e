/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queues of link ports: virtual channels that do not stop each other, FIFOs that
 * hold what is under way, who goes first, rate, latency and loop-back.
 *
 * The device is the middle one of three F1s in a row, and the test is the others:
 * what the left one sends to the right one waits in the device when it can't go on.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "device.h"

#define DST EXANET_RAM_DST
#define SRC EXANET_RAM_SRC
#define NODE(x, y) (RNIC_PREP(EXANET_COORD_UPPER, 5) | \
                    RNIC_PREP(EXANET_COORD_X, x) | RNIC_PREP(EXANET_COORD_Y, y))
#define LEFT NODE(0, 0)
#define MIDDLE NODE(1, 0)
#define RIGHT NODE(2, 0)
#define ABOVE NODE(1, 1)
/* Packets of 18 words: those of a frame, of an RX FIFO by default. */
#define FRAME_PACKETS 224
#define FIFO_PACKETS (16384 / EXANET_PACKET_WORDS)
#define PACKETS_MAX 65536
/* ns of a word at 1 Gb/s, and packets that take at most 50 us then. */
#define WORD_NS 128
#define RATE_KBPS 1000000
#define RATE_PACKETS 21
#define RATE_FRAME_NS (RATE_PACKETS * EXANET_PACKET_WORDS * WORD_NS)

enum { L, R, A };                   /* ports of the device */

static ExanetTest *start(const char *props)
{
    static const uint32_t peers[] = { LEFT, RIGHT, ABOVE };
    ExanetTest *t = exanet_start_ports(MIDDLE, peers, ARRAY_SIZE(peers), props);

    /* sources are not told of queues */
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    return t;
}

static uint64_t port_get(ExanetTest *t, unsigned port, unsigned reg)
{
    return exanet_get64(t, EXANET_PORT(port) + reg);
}

static uint32_t port_get32(ExanetTest *t, unsigned port, unsigned reg)
{
    return exanet_get32(t, EXANET_PORT(port) + reg);
}

static void port_set32(ExanetTest *t, unsigned port, unsigned reg,
                       uint32_t value)
{
    exanet_set32(t, EXANET_PORT(port) + reg, value);
}

static uint32_t port_status(ExanetTest *t, unsigned port, uint32_t field)
{
    return RNIC_GET(field, port_get32(t, port, EXANET_REG_PORT_STATUS));
}

static unsigned level(ExanetTest *t, unsigned port, uint32_t field)
{
    return RNIC_GET(field, port_get32(t, port, EXANET_REG_PORT_LEVEL));
}

/* Packet number @n from the peer on @from to node @dst, in channel @vc. */
static ExanetPacket packet(ExanetTest *t, unsigned from, uint32_t dst,
                           unsigned vc, unsigned n)
{
    static const uint8_t data[EXANET_MTU];
    ExanetPeer *p = t->ports[from];

    return (ExanetPacket) {
        .type = EXANET_TYPE_WRITE, .dst = dst, .src = p->coord,
        .epoch = p->epoch, .pdid = EXANET_TEST_PDID(0), .vc = vc,
        .path = vc & EXANET_VC_ORDER ? EXANET_PATH_ORDER : 0,
        .ttl = EXANET_TTL_MAX, .tid = n % EXANET_TIDS,
        .va = DST + n % PACKETS_MAX * EXANET_MTU, .size = EXANET_MTU,
        .payload = data, .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
    };
}

/* Sends packets @first to @first + @count - 1, in frames as long as they may be. */
static void send_to(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                    unsigned first, unsigned count)
{
    g_autofree uint8_t *buf = g_malloc0(FRAME_PACKETS * EXANET_PACKET_BYTES);
    ExanetPeer *p = t->ports[from];
    unsigned most = MIN(FRAME_PACKETS,
                        p->hello.max_words / EXANET_PACKET_WORDS);

    p->vc = vc;
    while (count) {
        unsigned n = MIN(count, most);
        unsigned words = 0;

        for (unsigned i = 0; i < n; i++) {
            ExanetPacket pkt = packet(t, from, dst, vc, first + i);

            words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
        }
        exanet_peer_words(p, buf, words);
        first += n;
        count -= n;
    }
}

/* Sends @count acks from the peer on @from to @dst, TIDs from 0 on. */
static void send_acks(ExanetTest *t, unsigned from, uint32_t dst,
                      unsigned count)
{
    g_autofree uint8_t *buf = g_malloc0(count * EXANET_WORD_BYTES);

    for (unsigned i = 0; i < count; i++) {
        ExanetPacket ack = {
            .type = EXANET_TYPE_ACK, .dst = dst, .tid = i,
            .small = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
        };

        exanet_ack_encode(buf + i * EXANET_WORD_BYTES, &ack);
    }
    t->ports[from]->vc = 0;
    exanet_peer_words(t->ports[from], buf, count);
}

/* The peer on @port stops, or lets go, channel @vc. */
static void flow(ExanetTest *t, unsigned port, unsigned vc, bool xoff)
{
    t->ports[port]->vc = vc;
    exanet_peer_frame(t->ports[port],
                      xoff ? EXANET_LINK_XOFF : EXANET_LINK_XON, NULL, 0);
    exanet_wait(t, xoff == !!(port_status(t, port,
                                          EXANET_PORT_STATUS_PEER_XOFF_VC) &
                              BIT(vc)));
}

static unsigned arrived(ExanetTest *t)
{
    exanet_settle(t);
    return g_queue_get_length(&t->ports[R]->packets);
}

/* Takes packets @first to @first + @count - 1, in this order, at the right. */
static void take(ExanetTest *t, unsigned vc, unsigned first, unsigned count)
{
    exanet_wait(t, g_queue_get_length(&t->ports[R]->packets) >= count);
    for (unsigned i = 0; i < count; i++) {
        g_autofree ExanetRxPacket *rx =
            g_queue_pop_head(&t->ports[R]->packets);

        g_assert_cmpuint(rx->pkt.type, ==, EXANET_TYPE_WRITE);
        g_assert_cmpuint(rx->pkt.vc, ==, vc);
        g_assert_cmphex(rx->pkt.va, ==,
                        DST + (first + i) % PACKETS_MAX * EXANET_MTU);
        g_assert_cmpuint(rx->pkt.ttl, ==, EXANET_TTL_MAX - 1);
    }
}

static void assert_none_lost(ExanetTest *t)
{
    for (unsigned port = L; port <= A; port++) {
        g_assert_cmpuint(port_get(t, port, EXANET_REG_PORT_DROPPED), ==, 0);
    }
    exanet_assert_quiet(t);
}

/* --- Virtual channels ------------------------------------------------------ */

static void test_channels(void)
{
    ExanetTest *t = start("");

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        send_to(t, L, RIGHT, vc, 10 * vc, 10);
        take(t, vc, 10 * vc, 10);
    }
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 10 * EXANET_VCS);
    assert_none_lost(t);
    exanet_stop(t);
}

/* XOFF of one channel stops it and no other. */
static void test_xoff_channel(void)
{
    ExanetTest *t = start("");

    for (unsigned stopped = 0; stopped < EXANET_VCS; stopped++) {
        flow(t, R, stopped, true);
        g_assert_cmphex(port_status(t, R, EXANET_PORT_STATUS_PEER_XOFF_VC),
                        ==, BIT(stopped));
        g_assert_cmphex(port_status(t, R, EXANET_PORT_STATUS_PEER_XOFF), ==, 1);
        send_to(t, L, RIGHT, stopped, 0, 2 * FRAME_PACKETS);
        for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
            if (vc != stopped) {
                send_to(t, L, RIGHT, vc, 500, 300);
                take(t, vc, 500, 300);
            }
        }
        exanet_assert_quiet(t);
        flow(t, R, stopped, false);
        take(t, stopped, 0, 2 * FRAME_PACKETS);
        g_assert_cmphex(port_status(t, R, EXANET_PORT_STATUS_PEER_XOFF), ==, 0);
    }
    g_assert_cmpuint(port_get(t, R, EXANET_REG_PORT_XOFF_RECEIVED), ==,
                     EXANET_VCS);
    assert_none_lost(t);
    exanet_stop(t);
}

/*
 * A channel that is full stops the sender in this channel alone; what is under way
 * nevertheless finds room, and packets for this node pass in the other ones.
 */
static void test_full_channel(void)
{
    ExanetTest *t = start("");
    unsigned count = 3 * FIFO_PACKETS;

    flow(t, R, 1, true);
    send_to(t, L, RIGHT, 1, 0, count);
    exanet_wait(t, t->ports[L]->xoff == BIT(1));
    exanet_wait(t, port_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                count * EXANET_PACKET_WORDS);
    g_assert_cmphex(port_status(t, L, EXANET_PORT_STATUS_XOFF_VC), ==, BIT(1));
    g_assert_cmphex(port_status(t, L, EXANET_PORT_STATUS_XOFF), ==, 1);
    g_assert_cmpuint(level(t, L, EXANET_PORT_LEVEL_RX), ==,
                     count * EXANET_PACKET_WORDS);
    g_assert_cmpuint(level(t, R, EXANET_PORT_LEVEL_TX), ==, 0);
    send_to(t, L, RIGHT, 0, 7, 300);
    take(t, 0, 7, 300);
    send_to(t, L, MIDDLE, 2, 0, 64);
    exanet_wait(t, exanet_count(t, RX_WRITE) == 64);
    /* the peer may not have got it: it is told again */
    g_assert_cmpuint(t->ports[L]->xoffs, ==, 1);
    exanet_step(t, 1000 * EXANET_MS);
    exanet_wait(t, t->ports[L]->xoffs == 2);
    g_assert_cmphex(t->ports[L]->xoff, ==, BIT(1));
    g_assert_cmpuint(port_get(t, L, EXANET_REG_PORT_XOFF_SENT), ==, 1);
    flow(t, R, 1, false);
    take(t, 1, 0, count);
    exanet_wait(t, t->ports[L]->xoff == 0);
    g_assert_cmpuint(level(t, L, EXANET_PORT_LEVEL_RX), ==, 0);
    assert_none_lost(t);
    exanet_stop(t);
}

/* A peer that goes on in spite of XOFF is held, and nothing is lost. */
static void test_held_netdev(void)
{
    ExanetTest *t = start("");
    unsigned frames = 4 * MiB / (FRAME_PACKETS * EXANET_PACKET_BYTES) + 3;
    unsigned count = frames * FRAME_PACKETS;
    uint64_t words;

    flow(t, R, 0, true);
    send_to(t, L, RIGHT, 0, 0, count);
    exanet_settle(t);
    exanet_wait(t, port_get(t, L, EXANET_REG_PORT_RX_WORDS) * EXANET_WORD_BYTES
                >= 4 * MiB);
    exanet_settle(t);
    words = port_get(t, L, EXANET_REG_PORT_RX_WORDS);
    g_assert_cmpuint(words, <, count * EXANET_PACKET_WORDS);
    exanet_settle(t);
    g_assert_cmpuint(port_get(t, L, EXANET_REG_PORT_RX_WORDS), ==, words);
    flow(t, R, 0, false);
    take(t, 0, 0, count);
    exanet_wait(t, t->ports[L]->xoff == 0);
    assert_none_lost(t);
    exanet_stop(t);
}

/* What waits is gone with the link, and the next one begins anew. */
static void test_down_drops(void)
{
    ExanetTest *t = start("");
    ExanetPeer *p = t->ports[L];

    flow(t, R, 0, true);
    send_to(t, L, RIGHT, 0, 0, 2 * FIFO_PACKETS);
    exanet_wait(t, p->xoff && port_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                2 * FIFO_PACKETS * EXANET_PACKET_WORDS);
    port_set32(t, L, EXANET_REG_PORT_CTRL, 0);
    exanet_wait(t, p->downs == 1);
    g_assert_cmpuint(level(t, L, EXANET_PORT_LEVEL_RX), ==, 0);
    g_assert_cmpuint(port_get(t, L, EXANET_REG_PORT_DROPPED), ==,
                     2 * FIFO_PACKETS);
    port_set32(t, L, EXANET_REG_PORT_CTRL, EXANET_PORT_CTRL_ENABLE);
    exanet_peer_hello(p, false);
    exanet_wait(t, p->heard && port_status(t, L, EXANET_PORT_STATUS_UP));
    g_assert_cmphex(port_status(t, L, EXANET_PORT_STATUS_XOFF), ==, 0);
    flow(t, R, 0, false);
    exanet_assert_quiet(t);
    send_to(t, L, RIGHT, 0, 9000, 5);
    take(t, 0, 9000, 5);
    g_assert_cmpuint(port_get(t, R, EXANET_REG_PORT_DROPPED), ==, 0);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* The same on the way out, where packets fill a frame and are under way in another. */
static void test_down_drops_sent(void)
{
    ExanetTest *t = start("");
    unsigned count = 20 * RATE_PACKETS, gone;

    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    port_set32(t, R, EXANET_REG_PORT_LATENCY, EXANET_MS);
    send_to(t, L, RIGHT, 0, 0, count);
    exanet_wait(t, port_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                count * EXANET_PACKET_WORDS);
    g_assert_cmpuint(arrived(t), ==, 0);
    gone = port_get(t, L, EXANET_REG_PORT_RX_PACKETS);
    g_assert_cmpuint(gone, >=, 2 * RATE_PACKETS);
    g_assert_cmpuint(gone, <, count);
    port_set32(t, R, EXANET_REG_PORT_CTRL, 0);
    exanet_settle(t);
    g_assert_cmpuint(port_get(t, R, EXANET_REG_PORT_DROPPED), ==, gone);
    /* the others find no way any more */
    g_assert_cmpuint(exanet_count(t, DROP_NO_ROUTE), ==, count - gone);
    g_assert_cmpuint(level(t, L, EXANET_PORT_LEVEL_RX), ==, 0);
    exanet_step(t, 10 * EXANET_MS);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_stop(t);
}

/* Processor time that QEMU has had, in clock ticks. */
static uint64_t ticks(ExanetTest *t)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", qtest_pid(t->qts));
    g_autofree char *text = NULL;
    g_auto(GStrv) field = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    /* behind the name, which may be anything: state is field 3, times 14 and 15 */
    field = g_strsplit(strrchr(text, ')') + 2, " ", -1);
    return g_ascii_strtoull(field[11], NULL, 10) +
           g_ascii_strtoull(field[12], NULL, 10);
}

/* Whoever waits sleeps: half a second costs far less than half a second. */
static void assert_asleep(ExanetTest *t)
{
    uint64_t before;

    exanet_settle(t);
    before = ticks(t);
    g_usleep(G_USEC_PER_SEC / 2);
    g_assert_cmpuint(ticks(t) - before, <, sysconf(_SC_CLK_TCK) / 4);
}

/* All units and transit at an output that stands still, in each way that it may. */
static void test_asleep(void)
{
    ExanetTest *t = start("");
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(RIGHT, DST), .len = MiB,
    };

    flow(t, R, 0, true);
    send_to(t, L, RIGHT, 0, 0, 2 * FIFO_PACKETS);
    exanet_channel_start(t, 0, 0, &x);
    exanet_pktz_start(t, 0, 0, x.dst, "r", 1, EXANET_PKTZ_ACK);
    exanet_wait(t, t->ports[L]->xoff);
    assert_asleep(t);
    flow(t, R, 0, false);
    port_set32(t, R, EXANET_REG_PORT_RATE, 1);
    assert_asleep(t);
    port_set32(t, R, EXANET_REG_PORT_LATENCY, 1000 * EXANET_MS);
    port_set32(t, R, EXANET_REG_PORT_RATE, 0);
    assert_asleep(t);
    exanet_stop(t);
}

/* Returns how often QEMU's main loop has slept. */
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

/* A machine sleeps although a timer is due in 20 us, because the test stops the clock. */
static void test_asleep_with_timer(void)
{
    ExanetTest *t = start("");
    uint64_t before;

    exanet_step(t, EXANET_MS);
    port_set32(t, R, EXANET_REG_PORT_LATENCY, 20000);
    send_to(t, L, RIGHT, 0, 0, 1);
    exanet_settle(t);
    g_assert_cmpuint(arrived(t), ==, 0);
    before = sleeps(t);
    g_usleep(G_USEC_PER_SEC / 2);
    g_assert_cmpuint(sleeps(t) - before, <, 20);
    exanet_step(t, 20000);
    exanet_wait(t, arrived(t) == 1);
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

/* Acks of others overtake data that waits in their channel, if both can't go. */
static void test_urgent_transit(void)
{
    ExanetTest *t = start("");
    unsigned data = RATE_PACKETS - 1;
    unsigned acks = 2 * EXANET_PACKET_WORDS;

    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    send_to(t, L, RIGHT, 0, 0, RATE_PACKETS);
    take(t, 0, 0, RATE_PACKETS);
    send_to(t, L, RIGHT, 0, RATE_PACKETS, data);
    exanet_wait(t, exanet_count(t, FORWARDED) == RATE_PACKETS + data);
    send_acks(t, A, RIGHT, acks);
    exanet_wait(t, exanet_count(t, FORWARDED) == RATE_PACKETS + data + acks);
    g_assert_cmpuint(level(t, R, EXANET_PORT_LEVEL_TX), ==,
                     data * EXANET_PACKET_WORDS + acks);
    exanet_assert_quiet(t);
    exanet_step(t, RATE_FRAME_NS);
    g_assert_cmpuint(take_acks(t, acks), ==, acks);
    exanet_assert_quiet(t);
    exanet_step(t, acks * WORD_NS);
    take(t, 0, RATE_PACKETS, data);
    assert_none_lost(t);
    exanet_stop(t);
}

/* Sends packets to a context that is not open: each is answered with a nack. */
static void provoke_acks(ExanetTest *t, unsigned count)
{
    uint64_t before = exanet_count(t, TX_ACK);

    t->ports[R]->vc = 0;
    for (unsigned i = 0; i < count; i++) {
        ExanetPacket pkt = packet(t, R, MIDDLE, 0, i);

        pkt.pdid = EXANET_TEST_PDID(5);
        pkt.first = true;           /* an unknown source gets answers to these only */
        exanet_peer_send(t->ports[R], &pkt);
    }
    exanet_wait(t, exanet_count(t, TX_ACK) == before + count);
}

/* More acks than a frame holds: data has every other frame. */
static void test_urgent_fair(void)
{
    ExanetTest *t = start("");
    unsigned frame = 50000 / WORD_NS;

    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    send_to(t, L, RIGHT, 0, 0, 3 * RATE_PACKETS);
    take(t, 0, 0, RATE_PACKETS);
    provoke_acks(t, 2 * frame + 100);
    exanet_assert_quiet(t);
    exanet_step(t, EXANET_MS);
    g_assert_cmpuint(take_acks(t, frame + 1), ==, frame);
    take(t, 0, RATE_PACKETS, RATE_PACKETS);
    g_assert_cmpuint(take_acks(t, frame + 1), ==, frame);
    take(t, 0, 2 * RATE_PACKETS, RATE_PACKETS);
    g_assert_cmpuint(take_acks(t, 100), ==, 100);
    assert_none_lost(t);
    exanet_stop(t);
}

/* --- Rate and latency ------------------------------------------------------ */

static void test_rate(void)
{
    ExanetTest *t = start("");
    unsigned count = 60 * RATE_PACKETS;

    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    send_to(t, L, RIGHT, 0, 0, count);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    /* the rest is where the switch sees it */
    g_assert_cmpuint(level(t, R, EXANET_PORT_LEVEL_TX), ==,
                     RATE_PACKETS * EXANET_PACKET_WORDS);
    g_assert_cmpuint(level(t, L, EXANET_PORT_LEVEL_RX), ==,
                     (count - 2 * RATE_PACKETS) * EXANET_PACKET_WORDS);
    exanet_step(t, RATE_FRAME_NS - 1);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    exanet_step(t, 1);
    g_assert_cmpuint(arrived(t), ==, 2 * RATE_PACKETS);
    /* however time goes on, so much has passed by then */
    exanet_step(t, 10 * RATE_FRAME_NS);
    g_assert_cmpuint(arrived(t), ==, 12 * RATE_PACKETS);
    exanet_step(t, 5 * RATE_FRAME_NS + 3);
    g_assert_cmpuint(arrived(t), ==, 17 * RATE_PACKETS);
    exanet_step(t, RATE_FRAME_NS - 3);
    g_assert_cmpuint(arrived(t), ==, 18 * RATE_PACKETS);
    /* half of it from the next frame on */
    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS / 2);
    exanet_step(t, RATE_FRAME_NS);
    g_assert_cmpuint(arrived(t), ==, 19 * RATE_PACKETS);
    exanet_step(t, 2 * RATE_FRAME_NS - 1);
    g_assert_cmpuint(arrived(t), ==, 19 * RATE_PACKETS);
    exanet_step(t, 1);
    g_assert_cmpuint(arrived(t), ==, 19 * RATE_PACKETS + RATE_PACKETS / 2);
    port_set32(t, R, EXANET_REG_PORT_RATE, 0);
    take(t, 0, 0, count);
    assert_none_lost(t);
    exanet_stop(t);
}

/* One packet in a frame, when the rate leaves room for no more in 50 us. */
static void test_rate_low(void)
{
    ExanetTest *t = start("");
    int64_t ns = EXANET_PACKET_WORDS * WORD_NS * 1000;

    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS / 1000);
    send_to(t, L, RIGHT, 0, 0, 10);
    for (unsigned i = 1; i <= 10; i++) {
        g_assert_cmpuint(arrived(t), ==, i);
        exanet_step(t, ns - 1);
        g_assert_cmpuint(arrived(t), ==, i);
        exanet_step(t, 1);
    }
    /* an idle cable owes nothing */
    exanet_step(t, 100 * ns);
    send_to(t, L, RIGHT, 0, 10, 3);
    g_assert_cmpuint(arrived(t), ==, 11);
    exanet_step(t, 2 * ns);
    take(t, 0, 0, 13);
    assert_none_lost(t);
    exanet_stop(t);
}

/* A cable that takes seconds for a packet is slow, and nothing is wrong with its end. */
static void test_rate_crawl(void)
{
    ExanetTest *t = start("");
    int64_t ns = (int64_t)EXANET_PACKET_WORDS * WORD_NS * RATE_KBPS;

    port_set32(t, R, EXANET_REG_PORT_RATE, 1);
    send_to(t, L, RIGHT, 0, 0, 8);
    for (unsigned i = 0; i < 8; i++) {
        exanet_step(t, ns);
    }
    take(t, 0, 0, 8);
    assert_none_lost(t);
    exanet_stop(t);
}

/* Levels that make no sense: whoever was stopped goes on when the FIFO is empty. */
static void test_xon_never(void)
{
    ExanetTest *t = start("");

    port_set32(t, L, EXANET_REG_PORT_XOFF, 0);
    port_set32(t, L, EXANET_REG_PORT_XON, 0);
    for (unsigned i = 0; i < 4; i++) {
        send_to(t, L, RIGHT, 0, i, 1);
        take(t, 0, i, 1);
        exanet_wait(t, t->ports[L]->xons == i + 1);
    }
    assert_none_lost(t);
    exanet_stop(t);
}

/* Channels share the rate. */
static void test_rate_channels(void)
{
    ExanetTest *t = start("");
    unsigned seen[EXANET_VCS] = { 0 };

    port_set32(t, R, EXANET_REG_PORT_RATE, RATE_KBPS);
    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        send_to(t, L, RIGHT, vc, 0, 20 * RATE_PACKETS);
    }
    exanet_settle(t);
    /* not more at once than a socket takes */
    for (unsigned i = 0; i < 3; i++) {
        exanet_step(t, 13 * RATE_FRAME_NS);
    }
    g_assert_cmpuint(arrived(t), ==, 40 * RATE_PACKETS);
    while (!g_queue_is_empty(&t->ports[R]->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[R]);

        seen[rx->pkt.vc]++;
    }
    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        g_assert_cmpuint(seen[vc], >=, 9 * RATE_PACKETS);
        g_assert_cmpuint(seen[vc], <=, 11 * RATE_PACKETS);
    }
    for (unsigned i = 0; i < 4; i++) {
        exanet_step(t, 10 * RATE_FRAME_NS);
    }
    g_assert_cmpuint(arrived(t), ==, 40 * RATE_PACKETS);
    g_queue_clear_full(&t->ports[R]->packets, g_free);
    assert_none_lost(t);
    exanet_stop(t);
}

static void test_latency(void)
{
    ExanetTest *t = start("");

    port_set32(t, R, EXANET_REG_PORT_LATENCY, 5000);
    send_to(t, L, RIGHT, 0, 0, 3);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_step(t, 3000);
    send_to(t, L, RIGHT, 2, 3, 1);
    exanet_settle(t);
    exanet_step(t, 1999);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_step(t, 1);
    take(t, 0, 0, 3);
    exanet_step(t, 2999);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_step(t, 1);
    take(t, 2, 3, 1);
    /* a latency that becomes shorter does not make anything overtake */
    send_to(t, L, RIGHT, 0, 4, 1);
    exanet_settle(t);
    port_set32(t, R, EXANET_REG_PORT_LATENCY, 0);
    send_to(t, L, RIGHT, 0, 5, 1);
    exanet_settle(t);
    exanet_step(t, 4999);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_step(t, 1);
    take(t, 0, 4, 2);
    send_to(t, L, RIGHT, 0, 6, 1);
    take(t, 0, 6, 1);
    assert_none_lost(t);
    exanet_stop(t);
}

/* So much is under way at most; the rest waits, and all arrives in order. */
static void test_latency_bound(void)
{
    ExanetTest *t = start("");
    unsigned count = 2 * MiB / EXANET_PACKET_BYTES;

    port_set32(t, R, EXANET_REG_PORT_LATENCY, EXANET_MS);
    send_to(t, L, RIGHT, 0, 0, count);
    exanet_wait(t, port_get(t, L, EXANET_REG_PORT_RX_WORDS) ==
                count * EXANET_PACKET_WORDS);
    g_assert_cmpuint(level(t, L, EXANET_PORT_LEVEL_RX), >, 0);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_step(t, EXANET_MS);
    g_assert_cmpuint(arrived(t), >=, MiB / EXANET_PACKET_BYTES);
    g_assert_cmpuint(arrived(t), <, count);
    exanet_step(t, EXANET_MS);
    exanet_step(t, EXANET_MS);
    take(t, 0, 0, count);
    assert_none_lost(t);
    exanet_stop(t);
}

/* The properties are what the registers are after a reset. */
static void test_properties(void)
{
    ExanetTest *t = start(",link-rate-kbps=1000000,link-latency-ns=700");

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned port = L; port <= A; port++) {
            g_assert_cmpuint(port_get32(t, port, EXANET_REG_PORT_RATE), ==,
                             RATE_KBPS);
            g_assert_cmpuint(port_get32(t, port, EXANET_REG_PORT_LATENCY), ==,
                             700);
            port_set32(t, port, EXANET_REG_PORT_RATE, 5);
            port_set32(t, port, EXANET_REG_PORT_LATENCY, 6);
        }
        if (i == 0) {
            exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
        }
    }
    exanet_stop(t);
}

/* Both, from a property: each frame comes so much later than without latency. */
static void test_rate_latency(void)
{
    ExanetTest *t = start(",link-rate-kbps=1000000,link-latency-ns=700");

    send_to(t, L, RIGHT, 0, 0, 3 * RATE_PACKETS);
    g_assert_cmpuint(arrived(t), ==, 0);
    exanet_step(t, 700);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    exanet_step(t, RATE_FRAME_NS - 1);
    g_assert_cmpuint(arrived(t), ==, RATE_PACKETS);
    exanet_step(t, 1);
    g_assert_cmpuint(arrived(t), ==, 2 * RATE_PACKETS);
    exanet_step(t, RATE_FRAME_NS);
    take(t, 0, 0, 3 * RATE_PACKETS);
    assert_none_lost(t);
    exanet_stop(t);
}

/* --- Loop-back ------------------------------------------------------------- */

static void loopback_set(ExanetTest *t, bool on)
{
    port_set32(t, R, EXANET_REG_PORT_CTRL, EXANET_PORT_CTRL_ENABLE |
               (on ? EXANET_PORT_CTRL_LOOPBACK : 0));
}

static void check_loopback(uint32_t kbps, uint32_t latency)
{
    ExanetTest *t = start(",rx-fifo-words=256");
    g_autofree uint8_t *src = g_malloc(MiB);
    unsigned downs = t->ports[R]->downs;
    unsigned left = 1000;           /* steps: 10 times as long as it takes */
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(MIDDLE, DST), .len = MiB,
    };

    loopback_set(t, true);
    exanet_wait(t, t->ports[R]->downs == downs + 1);
    g_assert_cmphex(port_status(t, R, EXANET_PORT_STATUS_UP), ==, 1);
    g_assert_cmphex(port_get32(t, R, EXANET_REG_PORT_PEER), ==, MIDDLE);
    port_set32(t, R, EXANET_REG_PORT_RATE, kbps);
    port_set32(t, R, EXANET_REG_PORT_LATENCY, latency);
    exanet_fill(t, SRC, src, MiB, 5);
    exanet_channel_start(t, 0, 0, &x);
    while (kbps && exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE) {
        exanet_step(t, 10000);
        g_assert_cmpint(left--, >, 0);
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_mem(t, DST, src, MiB);
    g_assert_cmpuint(port_get(t, R, EXANET_REG_PORT_TX_PACKETS), >=,
                     MiB / EXANET_MTU + MiB / EXANET_BLOCK_BYTES);
    g_assert_cmpuint(port_get(t, R, EXANET_REG_PORT_RX_PACKETS), ==,
                     port_get(t, R, EXANET_REG_PORT_TX_PACKETS));
    /* what comes from the cable is of no interest */
    g_assert_cmpuint(port_get(t, R, EXANET_REG_PORT_DROPPED), ==, 0);
    exanet_peer_hello(t->ports[R], true);
    exanet_wait(t, port_get(t, R, EXANET_REG_PORT_DROPPED) == 1);
    g_assert_cmphex(port_get32(t, R, EXANET_REG_PORT_PEER), ==, MIDDLE);
    exanet_assert_quiet(t);

    loopback_set(t, false);
    port_set32(t, R, EXANET_REG_PORT_RATE, 0);
    port_set32(t, R, EXANET_REG_PORT_LATENCY, 0);
    exanet_peer_hello(t->ports[R], false);
    exanet_wait(t, t->ports[R]->heard &&
                port_get32(t, R, EXANET_REG_PORT_PEER) == RIGHT &&
                port_status(t, R, EXANET_PORT_STATUS_UP));
    send_to(t, L, RIGHT, 0, 0, 3);
    take(t, 0, 0, 3);
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
    qtest_add_func("/exanet/link/queue-channels", test_channels);
    qtest_add_func("/exanet/link/queue-xoff-channel", test_xoff_channel);
    qtest_add_func("/exanet/link/queue-full-channel", test_full_channel);
    qtest_add_func("/exanet/link/queue-held-netdev", test_held_netdev);
    qtest_add_func("/exanet/link/queue-down-drops", test_down_drops);
    qtest_add_func("/exanet/link/queue-down-drops-sent", test_down_drops_sent);
    qtest_add_func("/exanet/link/queue-asleep", test_asleep);
    qtest_add_func("/exanet/link/queue-asleep-with-timer",
                   test_asleep_with_timer);
    qtest_add_func("/exanet/link/queue-xon-never", test_xon_never);
    qtest_add_func("/exanet/link/queue-urgent-transit", test_urgent_transit);
    qtest_add_func("/exanet/link/queue-urgent-fair", test_urgent_fair);
    qtest_add_func("/exanet/link/queue-rate", test_rate);
    qtest_add_func("/exanet/link/queue-rate-low", test_rate_low);
    qtest_add_func("/exanet/link/queue-rate-crawl", test_rate_crawl);
    qtest_add_func("/exanet/link/queue-rate-channels", test_rate_channels);
    qtest_add_func("/exanet/link/queue-latency", test_latency);
    qtest_add_func("/exanet/link/queue-latency-bound", test_latency_bound);
    qtest_add_func("/exanet/link/queue-properties", test_properties);
    qtest_add_func("/exanet/link/queue-rate-latency", test_rate_latency);
    qtest_add_func("/exanet/link/queue-loopback", test_loopback);
    qtest_add_func("/exanet/link/queue-loopback-timed", test_loopback_timed);
    return g_test_run();
}
