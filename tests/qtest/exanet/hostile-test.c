/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A network with a hostile node, which is the test, at the end of a line.  Asserts that
 * the honest nodes continue to work, and that their memory does not change.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "traffic.h"

#define HONEST 3 /* nodes 0 to 2; node 2 is the neighbour of the hostile node */
#define STEP_NS EXANET_MS
#define LIMIT (20000 * EXANET_MS)
#define RETRIES 10                  /* retransmissions, each after at most 30 s */
#define GIVE_UP_LIMIT (400000 * EXANET_MS)
#define FLOOD 256                   /* packets of one attack */
#define SECRET EXANET_RAM_NOTE      /* memory that no packet may change */
#define SECRET_BYTES 4096
#define OTHER_JOB ((EXANET_TEST_JOB + 1) << 4)

typedef struct Hostile {
    ExanetNetwork *f;
    ExanetTraffic *tr;
    ExanetPeer *alien;
    uint8_t secret[HONEST][SECRET_BYTES];
    uint16_t tid;
} Hostile;

static void start(Hostile *h, const char *props)
{
    ExanetTopology topo = exanet_topology_grid(HONEST + 1, 1, 1, false);

    topo.alien[HONEST] = true;
    h->f = exanet_network_start(&topo, props);
    h->tr = exanet_traffic_new(h->f, random_seed(31));
    h->alien = h->f->alien[HONEST];
    h->tid = 0;
    for (unsigned n = 0; n < HONEST; n++) {
        exanet_fill(h->f->t[n], SECRET, h->secret[n], SECRET_BYTES, n);
    }
}

static void finish(Hostile *h)
{
    for (unsigned n = 0; n < HONEST; n++) {
        exanet_assert_mem(h->f->t[n], SECRET, h->secret[n], SECRET_BYTES);
    }
    exanet_traffic_free(h->tr);
    exanet_network_stop(h->f);
}

static void discard(Hostile *h)
{
    ExanetRxPacket *rx;

    while ((rx = g_queue_pop_head(&h->alien->packets))) {
        g_free(rx);
    }
}

static void run_and_check(Hostile *h)
{
    exanet_traffic_run(h->tr, STEP_NS, LIMIT);
    exanet_traffic_check(h->tr);
    discard(h);
}

/* Returns a packet that would change the secret of node @n if that node accepted it. */
static ExanetPacket evil_write(Hostile *h, unsigned n)
{
    static const uint8_t data[EXANET_MTU];

    return (ExanetPacket) {
        .type = EXANET_TYPE_WRITE, .va = SECRET, .size = sizeof(data),
        .dst = h->f->topo.coord[n], .src = h->alien->coord,
        .pdid = OTHER_JOB, .tid = h->tid++ & 0x3fff, .ttl = EXANET_TTL_MAX,
        .epoch = h->alien->epoch, .first = true, .last = true, .payload = data,
    };
}

/* Sends @count packets like @pkt, each with another TID. */
static void flood(Hostile *h, ExanetPacket pkt, unsigned count)
{
    g_autofree uint8_t *buf = g_malloc(count * EXANET_PACKET_BYTES);
    unsigned words = 0;

    for (unsigned i = 0; i < count; i++) {
        pkt.tid = h->tid++ & 0x3fff;
        words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
    }
    for (unsigned at = 0; at < words; ) {
        ExanetWireStatus status;
        unsigned some = 0;

        while (at + some < words && some < 64 * EXANET_PACKET_WORDS) {
            some += exanet_packet_words(buf + (at + some) * EXANET_WORD_BYTES,
                                        &status);
        }
        exanet_peer_words(h->alien, buf + at * EXANET_WORD_BYTES, some);
        at += some;
    }
}

/* Runs operations of the honest nodes during @attack, four times. */
static void check(const char *props, void (*attack)(Hostile *h, unsigned round))
{
    Hostile h;

    start(&h, props);
    for (unsigned round = 0; round < 4; round++) {
        exanet_traffic_all_to_all(h.tr, 64 * KiB);
        attack(&h, round);
        run_and_check(&h);
    }
    finish(&h);
}

/* --- Packets ------------------------------------------------------------------ */

static void attack_job(Hostile *h, unsigned round)
{
    uint64_t refused = exanet_network_total(h->f, DROP_PROTECTION);

    flood(h, evil_write(h, round % HONEST), FLOOD);
    exanet_network_until(h->f, exanet_network_total(h->f, DROP_PROTECTION) ==
                         refused + FLOOD, 0, LIMIT);
}

static void test_other_job(void)
{
    check("", attack_job);
}

/*
 * Sends packets with wrong sources: the neighbour drops them, because it knows which
 * nodes are behind its cable.
 */
static void attack_source(Hostile *h, unsigned round)
{
    uint64_t refused = exanet_network_total(h->f, DROP_SOURCE);
    unsigned dst = round % HONEST;

    for (unsigned n = 0; n <= HONEST; n++) {
        ExanetPacket pkt = evil_write(h, dst);

        pkt.src = n < HONEST ? h->f->topo.coord[n] : exanet_coord(0, 1, 0, 0);
        pkt.pdid = EXANET_TEST_PDID(1);
        pkt.epoch = n < HONEST ? h->f->epoch[n] : 1;
        flood(h, pkt, FLOOD);
    }
    exanet_network_until(h->f, exanet_network_total(h->f, DROP_SOURCE) ==
                         refused + (HONEST + 1) * FLOOD, 0, LIMIT);
    /* the neighbour drops them, so other cables do not carry them */
    g_assert_cmpuint(h->f->count[HONEST - 1][EXANET_CNT_DROP_SOURCE], ==,
                     refused + (HONEST + 1) * FLOOD);
}

static void test_source(void)
{
    check("", attack_source);
}

static void attack_ttl(Hostile *h, unsigned round)
{
    uint64_t refused = exanet_network_total(h->f, DROP_TTL);
    ExanetPacket pkt = evil_write(h, round % (HONEST - 1));

    pkt.ttl = 0;
    flood(h, pkt, FLOOD);
    exanet_network_until(h->f, exanet_network_total(h->f, DROP_TTL) ==
                         refused + FLOOD, 0, LIMIT);
}

static void test_ttl(void)
{
    check("", attack_ttl);
}

/*
 * Sends packets to nodes that do not exist, and to the cable on which the packet
 * arrived.
 */
static void attack_nowhere(Hostile *h, unsigned round)
{
    uint64_t refused = exanet_network_total(h->f, DROP_NO_ROUTE) +
                       exanet_network_total(h->f, DROP_SOURCE);
    const uint32_t dst[] = {
        exanet_coord(0, 1, 0, 0), exanet_coord(9, 0, 0, 0),
        exanet_coord(1, 0, 0, 2), h->alien->coord,
    };
    ExanetPacket pkt = evil_write(h, 0);

    pkt.dst = dst[round];
    flood(h, pkt, FLOOD);
    exanet_network_until(h->f, exanet_network_total(h->f, DROP_NO_ROUTE) +
                         exanet_network_total(h->f, DROP_SOURCE) >=
                         refused + FLOOD, 0, LIMIT);
}

static void test_nowhere(void)
{
    check("", attack_nowhere);
}

/*
 * Sends packets to NI indices without a unit, or of a unit that accepts other types, at
 * near and far nodes.
 */
static void attack_ni(Hostile *h, unsigned round)
{
    static const struct {
        enum exanet_type type;
        unsigned index;
    } bad[] = {
        { EXANET_TYPE_WRITE, EXANET_NI_RT_REQUEST },
        { EXANET_TYPE_READ_REQ, EXANET_NI_MAILBOX },
        { EXANET_TYPE_NOTIFY, EXANET_NI_INDICES - 1 },
        { EXANET_TYPE_ACK, EXANET_NI_RECEIVER },
    };
    uint64_t refused = exanet_network_total(h->f, DROP_NI_TYPE);
    unsigned n = round % HONEST;
    ExanetPacket pkt = evil_write(h, n);

    pkt.type = bad[round].type;
    pkt.va = EXANET_NI_VA(bad[round].index);
    pkt.small = EXANET_SMALL(bad[round].index);
    flood(h, pkt, FLOOD);
    exanet_network_until(h->f, exanet_network_total(h->f, DROP_NI_TYPE) ==
                         refused + FLOOD, 0, LIMIT);
}

static void test_ni(void)
{
    check("", attack_ni);
}

/*
 * Sends virtual channels that do not exist, or that differ from the channel of the
 * frame.
 */
static void attack_vc(Hostile *h, unsigned round)
{
    uint64_t bad = exanet_network_total(h->f, DROP_MALFORMED);
    uint8_t buf[sizeof(struct rnic_frame) + EXANET_PACKET_BYTES];
    struct rnic_frame *frame = (void *)buf;
    unsigned vcs = round < 2 ? 32 : EXANET_VCS;

    for (unsigned vc = 1; vc < vcs; vc++) {
        ExanetPacket pkt = evil_write(h, round % HONEST);
        unsigned words;
        size_t len;

        pkt.vc = round & 1 ? 0 : vc;
        words = exanet_peer_encode(buf + sizeof(*frame), &pkt);
        len = exanet_peer_header(h->alien, frame, RNIC_LINK_DATA, words);
        frame->vc = vc;
        exanet_peer_raw(h->alien, buf, len);
    }
    exanet_network_settle(h->f);
    if (round & 1) {
        g_assert_cmpuint(exanet_network_total(h->f, DROP_MALFORMED), >=,
                         bad + EXANET_VCS - 1);
    }
}

static void test_vc(void)
{
    check("", attack_vc);
}

/* Sends random frames and packets. */
static void attack_garbage(Hostile *h, unsigned round)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(round));
    uint8_t junk[sizeof(struct rnic_frame) + 64 * EXANET_WORD_BYTES];

    for (unsigned i = 0; i < 200; i++) {
        size_t len = sizeof(struct rnic_frame) +
                     g_rand_int_range(rand, 0, 65) * EXANET_WORD_BYTES;
        struct rnic_frame *frame = (void *)junk;

        for (size_t k = 0; k < sizeof(junk); k++) {
            junk[k] = g_rand_int(rand);
        }
        if (i & 1) {
            exanet_peer_header(h->alien, frame, RNIC_LINK_DATA,
                               (len - sizeof(*frame)) / EXANET_WORD_BYTES);
        }
        exanet_peer_raw(h->alien, junk, len);
    }
    exanet_network_settle(h->f);
}

static void test_garbage(void)
{
    check("", attack_garbage);
}

/* --- Not taking what it is sent -------------------------------------------------- */

/*
 * Starts writes of all honest nodes to the hostile node, which accepts no packet; the
 * writes continue during other operations.
 */
static void send_to_alien(Hostile *h)
{
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .len = MiB,
        .dst = exanet_gva(h->alien->coord, EXANET_RAM_DST),
    };

    for (unsigned n = 0; n < HONEST; n++) {
        for (unsigned c = 0; c < 4; c++) {
            exanet_channel_start(h->f->t[n], 0, EXANET_WRITE_CHANNELS - 1 - c,
                                 &x);
        }
    }
    exanet_network_settle(h->f);
    h->tr->others = true;
}

static void assert_failed(Hostile *h)
{
    for (unsigned n = 0; n < HONEST; n++) {
        exanet_network_until(h->f, exanet_channel_state(h->f->t[n], 0,
                            EXANET_WRITE_CHANNELS - 1) >= EXANET_CHANNEL_DONE,
                            1000 * EXANET_MS, GIVE_UP_LIMIT);
        exanet_channel_wait(h->f->t[n], 0, EXANET_WRITE_CHANNELS - 1,
                            EXANET_CHANNEL_FAILED);
    }
}

static void check_blocked(void (*block)(Hostile *h))
{
    Hostile h;

    start(&h, ",rx-fifo-words=256");
    for (unsigned n = 0; n < HONEST; n++) {
        exanet_set32(h.f->t[n], EXANET_FW + EXANET_REG_FW_RETRY_MAX, RETRIES);
    }
    block(&h);
    send_to_alien(&h);
    for (unsigned round = 0; round < 4; round++) {
        exanet_traffic_all_to_all(h.tr, 64 * KiB);
        run_and_check(&h);
    }
    assert_failed(&h);
    finish(&h);
}

static void block_xoff(Hostile *h)
{
    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        struct rnic_frame frame;
        size_t len = exanet_peer_header(h->alien, &frame, RNIC_LINK_XOFF, 0);

        frame.vc = vc;
        exanet_peer_raw(h->alien, &frame, len);
    }
    exanet_network_settle(h->f);
}

static void test_xoff(void)
{
    check_blocked(block_xoff);
}

/*
 * Stops the hostile node's reads, and sends packets that cause nacks until its
 * neighbour's socket is full.
 */
static void block_deaf(Hostile *h)
{
    ExanetPacket pkt = evil_write(h, HONEST - 1);

    h->f->deaf = true;
    for (unsigned i = 0; i < 64; i++) {
        flood(h, pkt, FLOOD);
        exanet_network_settle(h->f);
    }
}

static void test_deaf(void)
{
    check_blocked(block_deaf);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/network/hostile-other-job", test_other_job);
    qtest_add_func("/exanet/network/hostile-source", test_source);
    qtest_add_func("/exanet/network/hostile-ttl", test_ttl);
    qtest_add_func("/exanet/network/hostile-nowhere", test_nowhere);
    qtest_add_func("/exanet/network/hostile-ni", test_ni);
    qtest_add_func("/exanet/network/hostile-vc", test_vc);
    qtest_add_func("/exanet/network/hostile-garbage", test_garbage);
    qtest_add_func("/exanet/network/hostile-xoff", test_xoff);
    qtest_add_func("/exanet/network/hostile-deaf", test_deaf);
    return g_test_run();
}
