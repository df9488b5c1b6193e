/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records each kind of packet and frame of a cable, for tests of programs that read
 * captures:
 *
 *   exanet-capture FILE [runs]
 *
 * drives a device and plays its peer as the tests do, while filter-dump writes FILE.
 * With the argument "runs" the peer accepts runs.
 * tests/scripts/wireshark.test lists the expected contents of FILE.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../qtest/exanet/device.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define WRITE_BYTES 20001       /* two blocks */
#define WRITE_VA 0x1234567895ULL

/* Returns byte @n of each transfer; wireshark.test computes the same. */
static uint8_t pattern(unsigned n)
{
    return n * 7 + (n >> 8);
}

static uint8_t *pattern_new(unsigned len)
{
    uint8_t *data = g_malloc(len);

    for (unsigned n = 0; n < len; n++) {
        data[n] = pattern(n);
    }
    return data;
}

/* The device writes two blocks.  The peer refuses the first copy of the first block. */
static void write_to_peer(ExanetTest *t)
{
    g_autofree uint8_t *data = pattern_new(WRITE_BYTES);
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, WRITE_VA),
        .len = WRITE_BYTES,
        .ctrl = EXANET_CHANNEL_NOTIFY | RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
        .notify_gva = exanet_gva(EXANET_TEST_PEER, 0x1000),
        .notify_data = 0x5eed,
    };
    ExanetSink sink;
    bool refused = false;

    exanet_sink_init(&sink, WRITE_VA, WRITE_BYTES);
    qtest_memwrite(t->qts, SRC, data, WRITE_BYTES);
    exanet_channel_start(t, 0, 0, &x);
    while (exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE) {
        g_autofree ExanetRxPacket *rx = NULL;

        exanet_pump(t);
        if (g_queue_is_empty(&t->peer->packets)) {
            continue;
        }
        rx = exanet_peer_take(t->peer);
        /* the control packet comes after all blocks */
        if (rx->pkt.type == EXANET_TYPE_CONTROL ||
            (exanet_sink_store(&sink, &rx->pkt) && !rx->pkt.notify)) {
            exanet_step(t, EXANET_MS);
            exanet_peer_ack(t->peer, &rx->pkt, refused ? EXANET_RESP_ACK :
                                                         EXANET_RESP_CRC);
            refused = true;
        }
    }
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_sink_fini(&sink);
}

static ExanetBlock block_for_device(const uint8_t *data, unsigned tid)
{
    return (ExanetBlock) {
        .va = DST + 5, .data = data, .len = 700, .tid = tid,
        .pdid = EXANET_TEST_PDID(1),
    };
}

/* The peer writes a block.  Its packets are not in order, and one is sent twice. */
static void write_to_device(ExanetTest *t)
{
    g_autofree uint8_t *data = pattern_new(700);
    ExanetBlock b = block_for_device(data, 0x0801);

    b.notify = true;
    exanet_peer_send_part(t->peer, &b, 1, 2);
    exanet_peer_send_part(t->peer, &b, 1, 2);
    exanet_peer_send_part(t->peer, &b, 0, 1);
    exanet_peer_send_part(t->peer, &b, 2, exanet_block_packets(&b));
    exanet_peer_send_control(t->peer, &b,
                             exanet_gva(EXANET_TEST_NODE, EXANET_RAM_NOTE),
                             0xfeed, 700);
    g_assert_cmpint(exanet_peer_take_resp(t->peer, 0x0801, 0), ==,
                    EXANET_RESP_ACK);
}

/*
 * One wrong bit in header, payload and footer of a packet.  The device responds only to
 * the packet with the wrong payload.
 */
static void corrupt(ExanetTest *t)
{
    g_autofree uint8_t *data = pattern_new(700);
    ExanetBlock b = block_for_device(data, 0x0802);
    uint8_t buf[EXANET_PACKET_BYTES];
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 1);
    unsigned words = exanet_peer_encode(buf, &pkt);
    const unsigned at[] = {
        7, EXANET_WORD_BYTES + 3, (words - 1) * EXANET_WORD_BYTES + 2,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
        buf[at[i]] ^= 0x10;
        exanet_peer_words(t->peer, buf, words);
        buf[at[i]] ^= 0x10;
    }
    g_assert_cmpint(exanet_peer_take_resp(t->peer, 0x0802, 0), ==,
                    EXANET_RESP_CRC);
}

/*
 * A block without its middle packets, and the release packet, by which the peer gives up.
 */
static void give_up(ExanetTest *t)
{
    g_autofree uint8_t *data = pattern_new(700);
    ExanetBlock b = block_for_device(data, 0x0803);
    ExanetPacket release;

    exanet_peer_send_part(t->peer, &b, 0, 1);
    exanet_peer_send_part(t->peer, &b, 2, exanet_block_packets(&b));
    release = exanet_block_packet(t->peer, &b, 0);
    release.type = EXANET_TYPE_RELEASE;
    release.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    release.size = 0;
    release.first = false;
    exanet_peer_send(t->peer, &release);
    exanet_settle(t);
}

static void ask_to_read(ExanetTest *t)
{
    struct exanet_read_req req = {
        .src = cpu_to_le64(0x7fff12345678),
        .dst = cpu_to_le64(exanet_gva(EXANET_TEST_NODE, DST)),
        .notify_gva = cpu_to_le64(exanet_gva(EXANET_TEST_NODE,
                                             EXANET_RAM_NOTE)),
        .ctrl = cpu_to_le64(4097 | EXANET_READ_REQ_NOTIFY |
                            RNIC_PREP(EXANET_READ_REQ_OWNER, 6)),
        .notify_data = cpu_to_le64(0xabcdef), .tag = cpu_to_le64(0x77),
    };
    g_autofree ExanetRxPacket *rx = NULL;

    exanet_pktz_start(t, 0, 3, exanet_gva(EXANET_TEST_PEER,
                      EXANET_NI_VA(EXANET_NI_RT_REQUEST)), &req,
                      EXANET_READ_REQ_USER_BYTES, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ));
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_READ_REQ);
    exanet_step(t, 3 * EXANET_MS);
    exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
    exanet_wait(t, exanet_pktz_state(t, 0, 3) == EXANET_PKTZ_ACKED);
}

static void notify(ExanetTest *t)
{
    struct exanet_notification note = {
        .data = cpu_to_le64(0xfeed),
        .status = cpu_to_le64(EXANET_NOTIFICATION_VALID | 700 |
                              RNIC_PREP(EXANET_NOTIFICATION_HANDLE, 0x77)),
    };
    ExanetBlock b = {
        .va = EXANET_RAM_NOTE, .data = (const uint8_t *)&note,
        .len = sizeof(note), .tid = 0x0804, .pdid = EXANET_TEST_PDID(1),
    };
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

    pkt.type = EXANET_TYPE_NOTIFY;
    exanet_peer_send(t->peer, &pkt);
    exanet_settle(t);
}

static void slow_down(ExanetTest *t)
{
    ExanetPacket pkt = {
        .type = EXANET_TYPE_FLOW_RATE, .dst = EXANET_TEST_NODE,
        .small = EXANET_SMALL(EXANET_NI_EXADMA), .hops = 2,
        .flow_dst = EXANET_TEST_PEER,
        .current = RNIC_PREP(EXANET_RATE_EXPONENT, 12) | 4,
        .desired = RNIC_PREP(EXANET_RATE_EXPONENT, 10) | 1,
    };
    uint8_t buf[EXANET_WORD_BYTES];

    exanet_flow_rate_encode(buf, &pkt);
    exanet_peer_words(t->peer, buf, 1);
    exanet_peer_frame(t->peer, RNIC_LINK_XOFF, NULL, 0);
    exanet_peer_frame(t->peer, RNIC_LINK_XON, NULL, 0);
    exanet_settle(t);
}

/* The peer stores and loads.  The first copy of the store is too early. */
static void load_and_store(ExanetTest *t)
{
    uint64_t word = cpu_to_le64(0x1122334455667788), back;
    ExanetPacket store = exanet_axi_packet(t->peer, EXANET_SHM_STORE, DST + 3,
                                           &word, 8);
    ExanetPacket load = exanet_axi_packet(t->peer, EXANET_SHM_LOAD, DST + 3,
                                          NULL, 8);

    /* drops packets that no earlier function has taken */
    g_queue_clear_full(&t->peer->packets, g_free);
    store.tid |= RNIC_PREP(EXANET_STID_SLOT, 9) |
                 RNIC_PREP(EXANET_STID_ID, EXANET_AXI_CPU << 4 | 5);
    store.seq = 77;
    store.first = false;
    store.pdid = load.pdid = EXANET_TEST_PDID(1);
    exanet_peer_send(t->peer, &store);
    exanet_step(t, EXANET_MS);
    store.first = true;
    store.user = RNIC_PREP(EXANET_SHM_USER_RETRIES, 1);
    exanet_peer_send(t->peer, &store);
    g_assert_cmpint(exanet_peer_take_axi(t->peer, &store, NULL), ==,
                    EXANET_RESP_ACK);
    exanet_peer_send(t->peer, &load);
    g_assert_cmpint(exanet_peer_take_axi(t->peer, &load, &back), ==,
                    EXANET_RESP_ACK);
    g_assert_cmphex(back, ==, word);
    load.va = EXANET_NO_RAM;
    load.seq = 1;
    exanet_peer_send(t->peer, &load);
    g_assert_cmpint(exanet_peer_take_axi(t->peer, &load, NULL), ==,
                    EXANET_RESP_DECODE);
}

int main(int argc, char **argv)
{
    g_autofree char *dump = NULL;
    ExanetTest *t;

    g_test_init(&argc, &argv, NULL);
    if (argc != 2 && (argc != 3 || strcmp(argv[2], "runs"))) {
        fprintf(stderr, "usage: %s FILE [runs]\n", argv[0]);
        return 2;
    }
    dump = g_strdup_printf(" -object filter-dump,id=dump,netdev=wire,file=%s,"
                           "maxlen=131072", argv[1]);
    t = exanet_start(dump);
    if (argc == 3) {
        t->peer->runs = true;
        exanet_peer_hello(t->peer, true);
        exanet_settle(t);
    }
    write_to_peer(t);
    write_to_device(t);
    corrupt(t);
    give_up(t);
    ask_to_read(t);
    notify(t);
    slow_down(t);
    load_and_store(t);
    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_CTRL, 0);
    exanet_wait(t, t->peer->downs);
    exanet_stop(t);
    return 0;
}
