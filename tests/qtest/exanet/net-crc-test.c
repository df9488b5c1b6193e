/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets without payload CRCs: the device sends and accepts them by an rnic-cable whose
 * other end accepts them, too, and by no other cable.
 *
 * The device is between LEFT, at an rnic-cable, and RIGHT, at a socket netdev or another
 * rnic-cable.  The test is both neighbours: the other end of an rnic-cable is in the same
 * QEMU and has a socket netdev instead of a NIC.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include <glib/gstdio.h>
#include "qobject/qdict.h"
#include "qom.h"
#include "router.h"
#include "transit.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define RUN_BYTES ((EXANET_RUN_MAX * EXANET_PAYLOAD_WORDS + EXANET_RUN_EXTRA) * \
                   EXANET_WORD_BYTES)
#define HELLO_NS (60 * EXANET_MS)   /* more than the time between two HELLOs */

typedef struct Middle {
    ExanetTest *t;
    ExanetPeer *left, *right;
    char *dir, *path[2];            /* path[n] is that of the rnic-cable of port n */
} Middle;

/* Sends a HELLO with the present flags of @p, and waits until the device has it. */
static void advertise(Middle *m, ExanetPeer *p)
{
    exanet_peer_hello(p, true);
    exanet_settle(m->t);
}

static bool is_up(Middle *m, unsigned port)
{
    return m->t->ports[port]->heard && transit_status(m->t, port, EXANET_PORT_STATUS_UP);
}

/*
 * Returns the options for port @n of the device with peer @p, by an rnic-cable (@cable)
 * or directly.
 */
static char *port_options(const Middle *m, unsigned n, ExanetPeer *p, bool cable)
{
    g_autofree char *netdev = exanet_peer_netdev(p);

    return cable ? g_strdup_printf("-netdev %s,id=peer%u "
                                   "-device rnic-cable,id=wire%u,path=%s,server=on "
                                   "-device rnic-cable,id=end%u,path=%s,netdev=peer%u ",
                                   netdev, n, n, m->path[n], n, m->path[n], n) :
                   g_strdup_printf("-netdev %s,id=wire%u ", netdev, n);
}

/*
 * Starts the device with @props.  LEFT and RIGHT accept runs; LEFT and, with @both, also
 * RIGHT are at an rnic-cable and accept packets without CRCs.
 */
static Middle middle_start(const char *props, bool both)
{
    g_autofree char *left = NULL, *right = NULL, *options = NULL, *links = NULL;
    Middle m = {
        .left = exanet_peer_new(LEFT, false),
        .right = exanet_peer_new(RIGHT, false),
        .dir = g_dir_make_tmp("exanet-crc-XXXXXX", NULL),
    };

    g_assert_nonnull(m.dir);
    for (unsigned n = 0; n < 2; n++) {
        m.path[n] = g_strdup_printf("%s/%u", m.dir, n);
    }
    left = port_options(&m, 0, m.left, true);
    right = port_options(&m, 1, m.right, both);
    options = g_strconcat(left, right, NULL);
    links = g_strdup_printf(",link0=wire0,link1=wire1%s", props);
    m.left->runs = m.right->runs = m.left->no_crc = true;
    m.right->no_crc = both;
    m.t = exanet_start_node(options, MIDDLE, links);
    m.t->ports[L] = m.left;
    m.t->ports[R] = m.right;
    exanet_peer_started(m.left);
    exanet_peer_started(m.right);
    exanet_set32(m.t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    wait_until(is_up(&m, L) && is_up(&m, R), exanet_step(m.t, HELLO_NS));
    for (unsigned c = 0; c < 2; c++) {
        exanet_open(m.t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    return m;
}

static void middle_stop(Middle *m)
{
    exanet_stop(m->t);
    for (unsigned n = 0; n < 2; n++) {
        unlink(m->path[n]);
        g_free(m->path[n]);
    }
    g_rmdir(m->dir);
    g_free(m->dir);
}

/* --- Sending ------------------------------------------------------------------ */

/*
 * Writes @len bytes to the node @to, and takes the packets of the transfer.  Asserts that
 * each data packet has a payload CRC (@crc) or has none, and that the data is right.
 */
static void check_sent(Middle *m, ExanetPeer *to, unsigned offset, unsigned len, bool crc)
{
    g_autofree uint8_t *data = g_malloc(len);
    unsigned runs = to->runs_taken, left = len;
    ExanetTransfer x = {
        .src = SRC + offset, .dst = exanet_gva(to->coord, DST), .len = len,
    };

    exanet_fill(m->t, SRC + offset, data, len, len);
    exanet_channel_start(m->t, 0, 0, &x);
    while (left) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take_type(to, EXANET_TYPE_WRITE);

        g_assert_cmpint(rx->pkt.no_crc, ==, !crc);
        g_assert_cmpmem(rx->pkt.payload, rx->pkt.size, data + (rx->pkt.va - DST),
                        rx->pkt.size);
        left -= rx->pkt.size;
        if (rx->pkt.last) {
            exanet_peer_ack(to, &rx->pkt, EXANET_RESP_ACK);
        }
    }
    exanet_channel_wait(m->t, 0, 0, EXANET_CHANNEL_DONE);
    g_assert_cmpint(to->runs_taken > runs, ==, len >= 8 * KiB && to->runs);
}

/*
 * Data leaves without a payload CRC only by the rnic-cable, both as runs and as single
 * packets.
 */
static void test_sent(void)
{
    Middle m = middle_start("", false);

    g_assert_true(m.left->hello.flags & EXANET_HELLO_NO_CRC);
    g_assert_false(m.right->hello.flags & EXANET_HELLO_NO_CRC);
    /* a transfer has runs, and at borders of pages packets alone */
    check_sent(&m, m.left, 0, 100, false);
    check_sent(&m, m.left, 5, 40000, false);
    check_sent(&m, m.right, 5, 40000, true);
    /* RIGHT claims to accept packets without CRCs, but its cable is no rnic-cable */
    m.right->no_crc = true;
    advertise(&m, m.right);
    check_sent(&m, m.right, 0, 40000, true);
    m.left->no_crc = false;
    advertise(&m, m.left);
    check_sent(&m, m.left, 0, 40000, true);
    m.left->no_crc = true;
    m.left->runs = false;
    advertise(&m, m.left);
    check_sent(&m, m.left, 0, 40000, false);
    middle_stop(&m);
}

/* With crc=on, and in the published protocol, all packets have payload CRCs. */
static void test_property(void)
{
    Middle m = middle_start(",crc=on", false);

    g_assert_false(m.left->hello.flags & EXANET_HELLO_NO_CRC);
    check_sent(&m, m.left, 0, 40000, true);
    middle_stop(&m);
    m = middle_start("", false);
    m.left->runs = false;
    advertise(&m, m.left);
    exanet_set32(m.t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    check_sent(&m, m.left, 0, 40000, true);
    middle_stop(&m);
}

/* Packets have payload CRCs while the cable has faults. */
static void test_faults(void)
{
    Middle m = middle_start("", false);

    m.left->runs = false;
    advertise(&m, m.left);
    check_sent(&m, m.left, 0, 4096, false);
    exanet_faults_set(m.t, "drop=0.0001% seed=1");
    check_sent(&m, m.left, 0, 4096, true);
    exanet_faults_set(m.t, "");
    check_sent(&m, m.left, 0, 4096, false);
    middle_stop(&m);
}

/* --- Receiving ---------------------------------------------------------------- */

/*
 * Returns a block for the device: the @len bytes at @data, with TID @tid.  block_send()
 * names the peer that sends the block.
 */
static ExanetBlock block_to(const uint8_t *data, unsigned len, unsigned tid)
{
    return (ExanetBlock) {
        .va = DST, .data = data, .len = len, .seq = 1,
        .tid = tid | RNIC_PREP(EXANET_TID_GEN, 1), .pdid = EXANET_TEST_PDID(1),
    };
}

/*
 * Sends block @b as @p, as a run or as packets, with payload CRCs (@crc) or without.
 * Damages byte @damage of the block.
 */
static void block_send(ExanetPeer *p, const ExanetBlock *b, bool run, bool crc,
                       unsigned damage)
{
    g_autofree uint8_t *buf = g_malloc0(RUN_BYTES);
    ExanetPacket pkt = exanet_block_packet(p, b, 0);
    unsigned n = exanet_block_packets(b);

    pkt.no_crc = !crc;
    if (run) {
        unsigned words = exanet_peer_encode_run(buf, &pkt, n, true);

        exanet_run_payload(buf)[damage] ^= 0xff;
        exanet_peer_words(p, buf, words);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned words;

        pkt = exanet_block_packet(p, b, i);
        pkt.no_crc = !crc;
        words = exanet_peer_encode(buf, &pkt);
        if (damage / EXANET_MTU == i) {
            exanet_packet_payload(buf, pkt.va)[damage % EXANET_MTU] ^= 0xff;
        }
        exanet_peer_words(p, buf, words);
    }
}

/* A packet without a CRC is accepted from LEFT as it is, and is malformed from RIGHT. */
static void test_received(void)
{
    static uint8_t data[8 * EXANET_MTU];
    Middle m = middle_start("", false);

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = i * 7;
    }
    for (unsigned run = 0; run < 2; run++) {
        ExanetBlock b = block_to(data, sizeof(data), 1 + run);

        qtest_memset(m.t->qts, DST, 0, sizeof(data));
        block_send(m.left, &b, run, false, 700);
        g_assert_cmpuint(exanet_peer_take_resp(m.left, b.tid, 1), ==, EXANET_RESP_ACK);
        data[700] ^= 0xff;
        exanet_assert_mem(m.t, DST, data, sizeof(data));
        data[700] ^= 0xff;
        exanet_assert_drops(m.t, EXANET_CNT_DROP_PAYLOAD_CRC, 0);
        qtest_memset(m.t->qts, DST, 0xee, sizeof(data));
        b.tid += 4;
        block_send(m.right, &b, run, false, 700);
        exanet_wait(m.t, exanet_count(m.t, DROP_MALFORMED) == (run ? 1 : 8));
        exanet_assert_quiet(m.t);
        exanet_assert_drops(m.t, EXANET_CNT_DROP_MALFORMED, run ? 1 : 8);
        exanet_assert_byte(m.t, DST, 0xee, sizeof(data));
    }
    middle_stop(&m);
}

/*
 * A payload CRC is checked even if the packet arrives by the rnic-cable.  After LEFT has
 * sent a HELLO without NO_CRC, packets of LEFT without a CRC are malformed.
 */
static void test_checked(void)
{
    static const uint8_t data[8 * EXANET_MTU];
    ExanetBlock b = block_to(data, sizeof(data), 1);
    Middle m = middle_start("", false);

    qtest_memset(m.t->qts, DST, 0xee, sizeof(data));
    block_send(m.left, &b, true, true, 700);
    g_assert_cmpuint(exanet_peer_take_resp(m.left, b.tid, 1), ==, EXANET_RESP_CRC);
    exanet_assert_drops(m.t, EXANET_CNT_DROP_PAYLOAD_CRC, 8);
    exanet_assert_byte(m.t, DST, 0xee, sizeof(data));
    m.left->no_crc = false;
    advertise(&m, m.left);
    b.tid++;
    block_send(m.left, &b, true, false, 700);
    exanet_wait(m.t, exanet_count(m.t, DROP_MALFORMED) == 1);
    exanet_assert_drops(m.t, EXANET_CNT_DROP_MALFORMED, 1);
    exanet_assert_quiet(m.t);
    middle_stop(&m);
}

/* --- Switches ----------------------------------------------------------------- */

/*
 * Takes packet @n of a stream from @p; asserts that all its bytes are @byte, and that it
 * has a payload CRC (@crc) or none.
 */
static void take_passed(ExanetPeer *p, unsigned n, uint8_t byte, bool crc)
{
    g_autofree ExanetRxPacket *rx = exanet_peer_take(p);

    g_assert_cmpint(rx->pkt.no_crc, ==, !crc);
    g_assert_cmpuint(rx->pkt.ttl, ==, EXANET_TTL_MAX - 1);
    g_assert_cmphex(rx->pkt.va, ==, DST + n * EXANET_MTU);
    for (unsigned i = 0; i < rx->pkt.size; i++) {
        g_assert_cmphex(rx->pkt.payload[i], ==, byte);
    }
}

/*
 * Sends a run of four packets as LEFT, the first of which is @pkt, with bytes @byte;
 * checks the packets at RIGHT as take_passed() does.
 */
static void check_run_passed(Middle *m, const ExanetPacket *pkt, uint8_t byte, bool crc)
{
    g_autofree uint8_t *buf = g_malloc0(RUN_BYTES);

    exanet_peer_words(m->left, buf, exanet_peer_encode_run(buf, pkt, 4, false));
    for (unsigned i = 0; i < 4; i++) {
        take_passed(m->right, i, byte, crc);
    }
}

/*
 * Sends a packet and a run without payload CRCs as LEFT, with bytes @byte; checks both at
 * RIGHT as take_passed() does.  Returns the packet, whose payload is at @data.
 */
static ExanetPacket check_passed(Middle *m, uint8_t data[4 * EXANET_MTU], uint8_t byte,
                                 bool crc)
{
    ExanetPacket pkt = transit_packet(m->t, L, RIGHT, 0, 0);

    memset(data, byte, 4 * EXANET_MTU);
    pkt.payload = data;
    pkt.no_crc = true;
    exanet_peer_send(m->left, &pkt);
    take_passed(m->right, 0, byte, crc);
    check_run_passed(m, &pkt, byte, crc);
    g_assert_cmpuint(m->right->runs_taken, ==, 1);
    return pkt;
}

/*
 * A switch computes the missing payload CRC of a packet or run that goes on by another
 * cable; the neighbour there checks the CRC.
 */
static void test_passed(void)
{
    uint8_t data[4 * EXANET_MTU];
    Middle m = middle_start("", false);
    ExanetPacket pkt = check_passed(&m, data, 0x5a, true);

    /* an output that takes only packets gets the packets of the run with CRCs */
    m.right->runs = false;
    advertise(&m, m.right);
    check_run_passed(&m, &pkt, 0x5a, true);
    middle_stop(&m);
}

/* Between two rnic-cables, packets and runs pass without a payload CRC. */
static void test_passed_without(void)
{
    uint8_t data[4 * EXANET_MTU];
    Middle m = middle_start("", true);
    ExanetPacket pkt = check_passed(&m, data, 0xa5, false);

    /* a node that uses the published protocol, and a cable with faults, need the CRC */
    exanet_set32(m.t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    exanet_peer_send(m.left, &pkt);
    take_passed(m.right, 0, 0xa5, true);
    exanet_set32(m.t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    pkt.src = RIGHT;
    pkt.dst = LEFT;
    exanet_peer_send(m.right, &pkt);
    take_passed(m.left, 0, 0xa5, false);
    exanet_faults_set(m.t, "drop=0.0001% seed=1");
    exanet_peer_send(m.right, &pkt);
    take_passed(m.left, 0, 0xa5, true);
    middle_stop(&m);
}

/*
 * A packet that was damaged on a cable before the rnic-cable keeps its wrong CRC, so its
 * destination finds the damage.
 */
static void test_damaged(void)
{
    Middle m = middle_start("", false);
    ExanetPacket pkt = transit_packet(m.t, R, LEFT, 0, 0);
    uint8_t buf[EXANET_PACKET_BYTES];
    ExanetPacket got;
    unsigned words = exanet_peer_encode(buf, &pkt);

    m.left->dump = g_byte_array_new();
    exanet_packet_payload(buf, pkt.va)[9] ^= 1;
    exanet_peer_words(m.right, buf, words);
    exanet_wait(m.t, m.left->dump->len == sizeof(buf));
    g_assert_cmpint(exanet_packet_decode(m.left->dump->data, words, &got), ==,
                    EXANET_WIRE_OK);
    g_assert_false(got.no_crc);
    g_assert_true(got.bad_payload);
    g_byte_array_unref(g_steal_pointer(&m.left->dump));
    /* an undamaged packet keeps its CRC, which is right */
    exanet_peer_send(m.right, &pkt);
    take_passed(m.left, 0, 0, true);
    middle_stop(&m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/net/crc-sent", test_sent);
    qtest_add_func("/exanet/net/crc-property", test_property);
    qtest_add_func("/exanet/net/crc-faults", test_faults);
    qtest_add_func("/exanet/net/crc-received", test_received);
    qtest_add_func("/exanet/net/crc-checked", test_checked);
    qtest_add_func("/exanet/net/crc-passed", test_passed);
    qtest_add_func("/exanet/net/crc-passed-without", test_passed_without);
    qtest_add_func("/exanet/net/crc-damaged", test_damaged);
    return g_test_run();
}
