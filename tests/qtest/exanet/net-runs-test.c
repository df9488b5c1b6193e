/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs have the effects of their packets: the same traffic once as packets and once as
 * runs, with the same memory, answers and counters; runs that a switch forwards or takes
 * apart; and runs that are not valid.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "../../seed.h"
#include "router.h"
#include "tables.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define RUN_BYTES ((EXANET_RUN_MAX * EXANET_PAYLOAD_WORDS + EXANET_RUN_EXTRA) * \
                   EXANET_WORD_BYTES)

/* Makes the peer @p advertise RUNS, and waits until the device has the HELLO. */
static void accept_runs(ExanetTest *t, ExanetPeer *p)
{
    p->runs = true;
    exanet_peer_hello(p, true);
    exanet_settle(t);
}

static ExanetTest *start(const char *props, bool runs)
{
    ExanetTest *t = exanet_start(props);

    if (runs) {
        accept_runs(t, t->peer);
    }
    return t;
}

/*
 * Adds all counters to the effects of some traffic, which are one text for each packet,
 * answer or counter.  SCHED_NO_SLOT depends on the frames, not on the packets.
 */
static void note_counters(ExanetTest *t, GPtrArray *notes)
{
    static const char *const names[] = {
#define COUNTER_NAME(name, text) #name,
        EXANET_COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
    };

    for (unsigned i = 0; i < EXANET_COUNTER_COUNT; i++) {
        if (i != EXANET_CNT_SCHED_NO_SLOT) {
            g_ptr_array_add(notes, g_strdup_printf("%s %" PRIu64, names[i],
                                                   exanet_get64(t, EXANET_COUNTER(i))));
        }
    }
    for (unsigned reg = EXANET_REG_PORT_TX_PACKETS; reg <= EXANET_REG_PORT_RX_WORDS;
         reg += 8) {
        g_ptr_array_add(notes, g_strdup_printf("port %u %" PRIu64, reg,
                                               exanet_port_get(t, 0, reg)));
    }
}

static int compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void assert_equal(const GPtrArray *a, const GPtrArray *b)
{
    for (unsigned i = 0; i < MIN(a->len, b->len); i++) {
        g_assert_cmpstr(a->pdata[i], ==, b->pdata[i]);
    }
    g_assert_cmpuint(a->len, ==, b->len);
}

/* --- Sending ------------------------------------------------------------------ */

/* Adds a note for each packet that the device sends until channel 0 has ended. */
static void note_packets(ExanetTest *t, GPtrArray *notes)
{
    do {
        ExanetRxPacket *rx;

        exanet_peer_poll(t->peer, 1);
        while ((rx = g_queue_pop_head(&t->peer->packets))) {
            const ExanetPacket *p = &rx->pkt;
            uint64_t sum = 0;

            for (unsigned i = 0; i < p->size; i++) {
                sum = sum * 31 + p->payload[i];
            }
            g_ptr_array_add(notes, g_strdup_printf(
                "%u va %" PRIx64 " size %u %d%d%d dst %x src %x pdid %x path %u ttl %u "
                "user %x epoch %u data %" PRIx64, p->type, p->va, p->size, p->first,
                p->last, p->notify, p->dst, p->src, p->pdid, p->path, p->ttl, p->user,
                p->epoch, sum));
            if (p->last) {
                exanet_peer_ack(t->peer, p, EXANET_RESP_ACK);
            }
            g_free(rx);
        }
    } while (exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE);
}

/* Does transfers of many sizes and alignments; returns notes, and the number of runs. */
static GPtrArray *sent(bool runs, const char *props, unsigned *number)
{
    static const struct { unsigned s, d, len; } cases[] = {
        { 0, 0, 512 }, { 0, 0, 511 }, { 0, 0, 513 }, { 0, 0, 16384 }, { 5, 0, 16384 },
        { 0, 7, 16384 }, { 4095, 255, 70000 }, { 256, 256, 40000 }, { 16, 0x3e00, 1024 },
        { 0, 0x3f00, 512 }, { 0, 0, 300000 }, { 100, 0, 255 }, { 3840, 0, 768 },
    };
    ExanetTest *t = start(props, runs);
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree uint8_t *data = g_malloc(512 * KiB);

    exanet_fill(t, SRC, data, 512 * KiB, 7);
    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        ExanetTransfer x = {
            .src = SRC + cases[i].s, .len = cases[i].len, .token = i + 1,
            .dst = exanet_gva(EXANET_TEST_PEER, DST + cases[i].d),
        };
        unsigned before = notes->len;

        exanet_channel_start(t, 0, 0, &x);
        note_packets(t, notes);
        g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_DONE);
        /* blocks may be sent in another order, and so may have other TIDs */
        qsort(notes->pdata + before, notes->len - before, sizeof(gpointer), compare);
    }
    note_counters(t, notes);
    *number = t->peer->runs_taken;
    exanet_stop(t);
    return notes;
}

static void test_sent(void)
{
    unsigned number;
    g_autoptr(GPtrArray) alone = sent(false, "", &number);
    g_autoptr(GPtrArray) together = NULL;
    g_autoptr(GPtrArray) off = NULL;

    g_assert_cmpuint(number, ==, 0);
    together = sent(true, "", &number);
    /* each block of 16 KB is at least a run */
    g_assert_cmpuint(number, >=, (16384 * 3 + 70000 + 40000 + 300000) / 16384);
    assert_equal(alone, together);
    off = sent(true, ",runs=off", &number);
    g_assert_cmpuint(number, ==, 0);
    assert_equal(alone, off);
}

/* The published protocol, a rate and a latency need packets. */
static void test_plain_only(void)
{
    static const struct { const char *name; uint64_t reg; uint64_t value; } cases[] = {
        { "rate", EXANET_PORT(0) + EXANET_REG_PORT_RATE, 100000000 },
        { "latency", EXANET_PORT(0) + EXANET_REG_PORT_LATENCY, 1 },
        { "strict", EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT },
    };
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST), .len = 16384,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases) + 1; i++) {
        ExanetTest *t = start("", true);
        g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);

        if (i < ARRAY_SIZE(cases)) {
            g_test_message("%s", cases[i].name);
            exanet_set32(t, cases[i].reg, cases[i].value);
        }
        exanet_channel_start(t, 0, 0, &x);
        do {
            exanet_step(t, 10 * EXANET_MS);
            note_packets(t, notes);
        } while (exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE);
        g_assert_cmpuint(notes->len, >=, EXANET_BLOCK_PACKETS);
        if (i < ARRAY_SIZE(cases)) {
            g_assert_cmpuint(t->peer->runs_taken, ==, 0);
        } else {
            g_assert_cmpuint(t->peer->runs_taken, >, 0);
        }
        exanet_stop(t);
    }
}

/* --- Receiving --------------------------------------------------------------- */

#define TABLES EXANET_RAM_TABLES
#define PAGES 16                    /* pages of the window that blocks write */
#define BLOCKS 6

/* Part of a copy of a block, which the peer sends as packets or as runs. */
typedef struct Part {
    ExanetBlock block;
    unsigned from, to;              /* packets from @from up to, but not including, @to */
    bool epoch, far;                /* an old epoch; a source behind the peer */
    bool damaged;                   /* the payload CRC of each packet is wrong */
} Part;

/* Makes packet @n of @part; stores bytes at @buf, and returns the words. */
static unsigned part_packet(ExanetPeer *p, const Part *part, unsigned n, uint8_t *buf)
{
    ExanetPacket pkt = exanet_block_packet(p, &part->block, n);
    unsigned words;

    pkt.epoch -= part->epoch;
    pkt.src ^= part->far;
    words = exanet_peer_encode(buf, &pkt);
    if (part->damaged) {
        buf[words * EXANET_WORD_BYTES - 1] ^= 0xff;
    }
    return words;
}

/* Makes a run of @packets packets of @part, from @n on, at @buf; returns the words. */
static unsigned part_run(ExanetPeer *p, const Part *part, unsigned n, unsigned packets,
                         uint8_t *buf)
{
    ExanetPacket pkt = exanet_block_packet(p, &part->block, n);
    unsigned words;

    pkt.epoch -= part->epoch;
    pkt.src ^= part->far;
    words = exanet_peer_encode_run(buf, &pkt, packets,
                                   exanet_block_packet(p, &part->block,
                                                       n + packets - 1).last);
    if (part->damaged) {
        buf[words * EXANET_WORD_BYTES - 1] ^= 0xff;
    }
    return words;
}

/* Returns how many packets of @part, from @n on, are full. */
static unsigned part_full(ExanetPeer *p, const Part *part, unsigned n)
{
    unsigned full = 0;

    while (n + full < part->to &&
           exanet_block_packet(p, &part->block, n + full).size == EXANET_MTU) {
        full++;
    }
    return full;
}

/* Sends @part in one frame: as packets, or with @runs as runs of random lengths. */
static void part_send(ExanetPeer *p, const Part *part, bool runs, GRand *rand)
{
    g_autofree uint8_t *buf = g_malloc0(EXANET_BLOCK_PACKETS * EXANET_PACKET_BYTES);
    unsigned words = 0;

    for (unsigned n = part->from; n < part->to;) {
        uint8_t *at = buf + words * EXANET_WORD_BYTES;
        unsigned full = part_full(p, part, n);
        unsigned packets = full < 2 ? 1 : g_rand_int_range(rand, 1, full + 1);

        if (!runs || packets == 1) {
            for (unsigned i = 0; i < packets; i++) {
                words += part_packet(p, part, n + i, buf + words * EXANET_WORD_BYTES);
            }
        } else {
            words += part_run(p, part, n, packets, at);
        }
        n += packets;
    }
    exanet_peer_words(p, buf, words);
}

/* Takes a random part of a random copy of one of @blocks. */
static Part part_random(GRand *rand, ExanetBlock *blocks)
{
    ExanetBlock *b = &blocks[g_rand_int_range(rand, 0, BLOCKS)];
    unsigned packets = exanet_block_packets(b);
    Part part = { .to = packets };

    switch (g_rand_int_range(rand, 0, 12)) {
    case 0:                         /* the next block of the TID */
        b->tid = (b->tid + RNIC_PREP(EXANET_TID_GEN, 1)) & 0x3fff;
        b->seq = 1;
        break;
    case 1:
    case 2:                         /* another copy */
        b->seq++;
        break;
    case 3:
        part.damaged = true;
        break;
    case 4:
        part.epoch = true;
        break;
    case 5:
        part.far = true;
        break;
    default:
        break;
    }
    if (g_rand_boolean(rand)) {
        part.from = g_rand_int_range(rand, 0, packets);
        part.to = g_rand_int_range(rand, part.from + 1, packets + 1);
    }
    part.block = *b;
    if (g_rand_int_range(rand, 0, 16) == 0) {
        part.block.seq -= 1;        /* an old copy */
    }
    if (g_rand_int_range(rand, 0, 16) == 0) {
        part.block.pdid ^= 0x10;    /* another job */
    }
    return part;
}

static void blocks_init(ExanetBlock *blocks, const uint8_t *data, uint64_t base,
                        GRand *rand)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        unsigned off = g_rand_int_range(rand, 0, 600);

        blocks[i] = (ExanetBlock) {
            /* two blocks share each 16 KB of the window */
            .va = base + i / 2 * EXANET_BLOCK_BYTES + off,
            .data = data + i * 1111,
            .len = g_rand_int_range(rand, 1, EXANET_BLOCK_BYTES - off),
            .tid = i * 7 | RNIC_PREP(EXANET_TID_GEN, 1), .seq = 1,
            .pdid = EXANET_TEST_PDID(1), .notify = i == 5,
        };
    }
}

/*
 * Sends random parts of blocks to memory with @missing absent pages; returns notes: all
 * answers, all counters, all memory.  Only the form, packets or @runs, differs.
 */
static GPtrArray *received(uint32_t seed, bool runs, bool strict, unsigned missing)
{
    ExanetTest *t = start("", runs);
    GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    /* the lengths of runs use another generator, because only one side has runs */
    g_autoptr(GRand) form = g_rand_new_with_seed(seed + 1);
    g_autofree uint8_t *data = g_malloc(64 * KiB), *image = g_malloc(PAGES * 4096);
    ExanetBlock blocks[BLOCKS];
    ExanetTables tables;

    for (unsigned i = 0; i < 64 * KiB; i++) {
        data[i] = i * 7 + (i >> 8);
    }
    qtest_memset(t->qts, DST, 0xee, PAGES * 4096);
    exanet_tables_init(&tables, t, EXANET_FORMAT_X86_4, TABLES);
    for (unsigned i = 0; i < PAGES; i++) {
        /* pages are not adjacent in memory, and some are read-only or absent */
        if (i >= missing || i % 2) {
            exanet_tables_map(&tables, 0x40000 + i * 4096, DST + (i ^ 5) * 4096, 0,
                              i == 9 && missing ? EXANET_MAP_READ_ONLY : EXANET_MAP_RW);
        }
    }
    exanet_close(t, 1);
    exanet_tables_open(&tables, 1);
    if (strict) {
        exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_STRICT);
    }
    blocks_init(blocks, data, 0x40000, rand);
    for (unsigned i = 0; i < 120; i++) {
        Part part = part_random(rand, blocks);
        uint64_t seen = exanet_port_get(t, 0, EXANET_REG_PORT_RX_PACKETS) +
                        part.to - part.from;
        ExanetRxPacket *rx;

        part_send(t->peer, &part, runs, form);
        exanet_wait(t, exanet_port_get(t, 0, EXANET_REG_PORT_RX_PACKETS) == seen);
        exanet_settle(t);
        while ((rx = g_queue_pop_head(&t->peer->packets))) {
            g_ptr_array_add(notes, g_strdup_printf(
                "part %u: type %u tid %x seq %u resp %u ctx %u", i, rx->pkt.type,
                rx->pkt.tid, rx->pkt.seq, rx->pkt.resp, rx->pkt.pdid));
            g_free(rx);
        }
    }
    qtest_memread(t->qts, DST, image, PAGES * 4096);
    g_ptr_array_add(notes, g_compute_checksum_for_data(G_CHECKSUM_SHA256, image,
                                                       PAGES * 4096));
    note_counters(t, notes);
    t->guest_errors = false;
    exanet_stop(t);
    return notes;
}

static void test_received(void)
{
    for (unsigned i = 0; i < 6; i++) {
        uint32_t seed = random_seed(40 + i);
        bool strict = i == 4;
        unsigned missing = i % 2 ? 6 : 0;
        g_autoptr(GPtrArray) alone = received(seed, false, strict, missing);
        g_autoptr(GPtrArray) together = received(seed, true, strict, missing);

        g_test_message("seed %u: %u notes", seed, alone->len);
        assert_equal(alone, together);
        /* blocks were completed, and pages were absent where wanted */
        if (missing && !strict) {
            g_assert_true(g_ptr_array_find_with_equal_func(alone, "FAULT_WRITE 0",
                                                           g_str_equal, NULL) == false);
        }
        g_assert_false(g_ptr_array_find_with_equal_func(alone, "TX_ACK 0", g_str_equal,
                                                        NULL));
    }
}

/* --- Bad runs ---------------------------------------------------------------- */

/* Returns a run of @packets packets of a block at @buf; returns the words. */
static unsigned good_run(ExanetPeer *p, unsigned packets, unsigned tid, uint8_t *buf)
{
    static const uint8_t data[EXANET_BLOCK_BYTES] = { 1, 2, 3 };
    const ExanetBlock b = {
        .va = DST, .data = data, .len = packets * EXANET_MTU, .seq = 1,
        .tid = tid | RNIC_PREP(EXANET_TID_GEN, 1), .pdid = EXANET_TEST_PDID(1),
    };
    const ExanetPacket pkt = exanet_block_packet(p, &b, 0);

    return exanet_peer_encode_run(buf, &pkt, packets, true);
}

/* Sends @words words; asserts that @n packets are counted for @why, and nothing else. */
static void send_bad(ExanetTest *t, const uint8_t *buf, unsigned words,
                     enum exanet_counter why, unsigned n)
{
    exanet_peer_words(t->peer, buf, words);
    exanet_wait(t, exanet_get64(t, EXANET_COUNTER(why)) == n);
    exanet_settle(t);
    exanet_assert_drops(t, why, n);
}

static void test_bad(void)
{
    ExanetTest *t = exanet_start("");
    g_autofree uint8_t *buf = g_malloc0(RUN_BYTES);
    unsigned words = good_run(t->peer, 4, 1, buf);
    g_autofree ExanetRxPacket *rx = NULL;

    /* the peer has not advertised RUNS, so the device has not agreed to runs */
    send_bad(t, buf, words, EXANET_CNT_DROP_MALFORMED, 1);
    exanet_assert_quiet(t);
    accept_runs(t, t->peer);
    /* the run is longer than its frame */
    send_bad(t, buf, words - 1, EXANET_CNT_DROP_MALFORMED, 1);
    send_bad(t, buf, 1, EXANET_CNT_DROP_MALFORMED, 1);
    /* the run word has a wrong CRC; another channel than the header */
    buf[6] ^= 1;
    send_bad(t, buf, words, EXANET_CNT_DROP_HEADER_CRC, 1);
    buf[6] ^= 1;
    exanet_packet_vc_set(buf, 1);
    send_bad(t, buf, words, EXANET_CNT_DROP_MALFORMED, 1);
    exanet_packet_vc_set(buf, 0);
    /* the header has a wrong CRC: the words of the run are known, and are dropped */
    exanet_run_header(buf)[0] ^= 0x20;
    send_bad(t, buf, words, EXANET_CNT_DROP_MALFORMED, 1);
    exanet_run_header(buf)[0] ^= 0x20;
    /* the footer has a wrong CRC: the source of no packet is known */
    buf[words * EXANET_WORD_BYTES - 16] ^= 1;
    send_bad(t, buf, words, EXANET_CNT_DROP_FOOTER_CRC, 4);
    buf[words * EXANET_WORD_BYTES - 16] ^= 1;
    exanet_assert_quiet(t);
    /* the payloads have a wrong CRC: the copy is nacked once */
    exanet_run_payload(buf)[700] ^= 1;
    send_bad(t, buf, words, EXANET_CNT_DROP_PAYLOAD_CRC, 4);
    exanet_run_payload(buf)[700] ^= 1;
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_ACK);
    g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_CRC);
    exanet_assert_quiet(t);
    g_assert_cmphex(qtest_readb(t->qts, DST), !=, 1);
    /* the link still works */
    words = good_run(t->peer, 64, 2, buf);
    exanet_peer_words(t->peer, buf, words);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 2 | RNIC_PREP(EXANET_TID_GEN, 1), 1),
                     ==, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readb(t->qts, DST + 2), ==, 3);
    exanet_stop(t);
}

/* A run that is addressed to a unit, or whose packets are messages, is taken apart. */
static void test_no_block(void)
{
    ExanetTest *t = start("", true);
    g_autofree uint8_t *buf = g_malloc0(RUN_BYTES);
    static const uint8_t data[EXANET_BLOCK_BYTES];
    ExanetBlock b = {
        .va = EXANET_NI_VA(EXANET_NI_RECEIVER), .data = data, .len = 3 * EXANET_MTU,
        .tid = 5, .seq = 1, .pdid = EXANET_TEST_PDID(1),
    };
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

    send_bad(t, buf, exanet_peer_encode_run(buf, &pkt, 3, true),
             EXANET_CNT_DROP_NI_TYPE, 3);
    pkt.va = DST;
    pkt.user = EXANET_SMALL(EXANET_NI_PACKETIZER);
    exanet_peer_words(t->peer, buf, exanet_peer_encode_run(buf, &pkt, 3, true));
    exanet_wait(t, exanet_count(t, RX_WRITE) == 6);
    exanet_settle(t);
    g_assert_cmpuint(t->peer->packets.length, ==, 3);
    exanet_stop(t);
}

/* --- Switches ------------------------------------------------------------------ */

static ExanetTest *switch_start(bool runs)
{
    ExanetTest *t = exanet_router_start();

    accept_runs(t, t->ports[XM]);
    if (runs) {
        accept_runs(t, t->ports[XP]);
    }
    return t;
}

/* Sends a run of @packets packets from XM to XP; returns its first packet. */
static ExanetPacket switch_send(ExanetTest *t, unsigned packets, unsigned ttl)
{
    static uint8_t data[EXANET_BLOCK_BYTES];
    g_autofree uint8_t *buf = g_malloc0(RUN_BYTES);
    ExanetPacket pkt = exanet_router_write(exanet_around[XM], exanet_around[XP], 0);

    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = i + (i >> 8);
    }
    pkt.va = DST;
    pkt.size = EXANET_MTU;
    pkt.payload = data;
    pkt.ttl = ttl;
    exanet_peer_words(t->ports[XM], buf,
                      exanet_peer_encode_run(buf, &pkt, packets, true));
    return pkt;
}

/* Takes @packets packets at XP; asserts that they are those of a run from @pkt on. */
static void switch_expect(ExanetTest *t, ExanetPacket pkt, unsigned packets)
{
    for (unsigned i = 0; i < packets; i++) {
        pkt.last = i == packets - 1;
        exanet_router_expect(t, XP, &pkt, 0);
        pkt.va += EXANET_MTU;
        pkt.payload += EXANET_MTU;
        pkt.first = false;
    }
}

static void test_forward(void)
{
    for (unsigned runs = 0; runs < 2; runs++) {
        ExanetTest *t = switch_start(runs);
        ExanetPacket pkt;

        for (unsigned n = 2; n <= 64; n += 31) {
            uint64_t before = exanet_count(t, FORWARDED);

            pkt = switch_send(t, n, 100);
            switch_expect(t, pkt, n);
            g_assert_cmpuint(exanet_count(t, FORWARDED), ==, before + n);
        }
        g_assert_cmpuint(t->ports[XP]->runs_taken, ==, runs ? 3 : 0);
        g_assert_cmpuint(exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS), ==,
                         2 + 33 + 64);
        g_assert_cmpuint(exanet_port_get(t, XP, EXANET_REG_PORT_TX_PACKETS), ==,
                         2 + 33 + 64);
        g_assert_cmpuint(exanet_port_get(t, XM, EXANET_REG_PORT_RX_WORDS), ==,
                         (2 + 33 + 64) * EXANET_PACKET_WORDS);
        g_assert_cmpuint(exanet_port_get(t, XP, EXANET_REG_PORT_TX_WORDS), ==,
                         (2 + 33 + 64) * EXANET_PACKET_WORDS);
        /* the packets of a run with TTL 0 have passed too many switches */
        switch_send(t, 5, 0);
        exanet_wait(t, exanet_count(t, DROP_TTL) == 5);
        exanet_assert_drops(t, EXANET_CNT_DROP_TTL, 5);
        exanet_stop(t);
    }
}

/* A run waits while its output is stopped; nothing is lost, and nothing comes twice. */
static void test_stopped(void)
{
    for (unsigned runs = 0; runs < 2; runs++) {
        ExanetTest *t = switch_start(runs);
        ExanetPacket pkt;

        exanet_port_stop(t, XP);
        for (unsigned n = 0; n < 6; n++) {
            pkt = switch_send(t, 64, 100);
        }
        exanet_settle(t);
        g_assert_cmpuint(t->ports[XP]->packets.length, ==, 0);
        /* the frame of the output has 224 packets; the rest waits in the RX FIFO */
        g_assert_cmpuint(exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS), <, 6 * 64);
        exanet_peer_frame(t->ports[XP], RNIC_LINK_XON, NULL, 0);
        for (unsigned n = 0; n < 6; n++) {
            switch_expect(t, pkt, 64);
        }
        exanet_settle(t);
        g_assert_cmpuint(exanet_port_get(t, XM, EXANET_REG_PORT_RX_PACKETS), ==, 6 * 64);
        g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 6 * 64);
        exanet_stop(t);
    }
}

/* Packets of a run that were not forwarded when the link goes down count as dropped. */
static void test_dropped(void)
{
    ExanetTest *t = switch_start(false);
    uint64_t passed;

    exanet_port_stop(t, XP);
    for (unsigned n = 0; n < 6; n++) {
        switch_send(t, 64, 100);
    }
    exanet_settle(t);
    passed = exanet_count(t, FORWARDED);
    g_assert_cmpuint(passed, <, 6 * 64);
    exanet_peer_frame(t->ports[XM], RNIC_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(exanet_port_status(t, XM) & EXANET_PORT_STATUS_UP));
    g_assert_cmpuint(exanet_port_get(t, XM, EXANET_REG_PORT_DROPPED), ==,
                     6 * 64 - passed);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/net/runs-sent", test_sent);
    qtest_add_func("/exanet/net/runs-plain-only", test_plain_only);
    qtest_add_func("/exanet/net/runs-received", test_received);
    qtest_add_func("/exanet/net/runs-bad", test_bad);
    qtest_add_func("/exanet/net/runs-no-block", test_no_block);
    qtest_add_func("/exanet/net/runs-forward", test_forward);
    qtest_add_func("/exanet/net/runs-stopped", test_stopped);
    qtest_add_func("/exanet/net/runs-dropped", test_dropped);
    return g_test_run();
}
