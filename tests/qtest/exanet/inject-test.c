/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults of a cable: compares packets with each kind of fault byte by byte with the
 * same packets without faults; the property that defines faults, and the register.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "qom.h"
#include "sender.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define PORT EXANET_PORT(0)
#define INJECT (PORT + EXANET_REG_PORT_INJECT)
#define INJECTED (PORT + EXANET_REG_PORT_INJECTED)
#define US 1000

static uint64_t injected(ExanetSender *x, const char *kind)
{
    return exanet_link_member(x->t, "injected", kind);
}

/* --- Corrupted packets ---------------------------------------------------- */

enum { GOOD, HEADER, PAYLOAD, FOOTER };

/*
 * Returns the offset of the byte in which @have differs from @want, or -1 if they are
 * equal.  Asserts that only one bit differs.
 */
static int flipped_byte(const uint8_t *have, const uint8_t *want, size_t len)
{
    int at = -1;

    for (size_t i = 0; i < len; i++) {
        uint8_t diff = have[i] ^ want[i];

        if (diff) {
            g_assert_cmpint(at, ==, -1);
            g_assert_cmpuint(ctpop8(diff), ==, 1);
            at = i;
        }
    }
    return at;
}

/*
 * Returns the damaged part of a packet; asserts that the CRC of this part detects the
 * damage, and no other CRC.
 */
static int spoiled_part(const uint8_t *have, const uint8_t *want, unsigned words)
{
    size_t footer = (words - 1) * EXANET_WORD_BYTES;
    int at = flipped_byte(have, want, words * EXANET_WORD_BYTES);
    ExanetWireStatus status;
    ExanetPacket pkt;

    if (at >= 0 && at < EXANET_WORD_BYTES) {
        g_assert_cmpuint(exanet_packet_words(have, &status), ==, 0);
        g_assert_cmpint(status, ==, EXANET_WIRE_BAD_HEADER);
        return HEADER;
    }
    g_assert_cmpuint(exanet_packet_words(have, &status), ==, words);
    status = exanet_packet_decode(have, words, &pkt);
    if (at >= (int)footer) {
        g_assert_cmpint(status, ==, EXANET_WIRE_BAD_FOOTER);
        g_assert_cmpint(at, <, footer + offsetof(struct exanet_word, hi) + 4);
        return FOOTER;
    }
    g_assert_cmpint(status, ==, EXANET_WIRE_OK);
    g_assert_cmpint(pkt.bad_payload, ==, at >= 0);
    return at >= 0 ? PAYLOAD : GOOD;
}

/*
 * Takes all packets in order; adds the number of packets with damage in each part to
 * @parts.
 */
static void expect_spoiled(ExanetSender *x, unsigned *parts)
{
    exanet_sender_wait(x, EXANET_SENDER_PACKETS * EXANET_PACKET_WORDS);
    for (unsigned n = 0; n < EXANET_SENDER_PACKETS; n++) {
        parts[spoiled_part(x->dump->data + n * EXANET_PACKET_BYTES, x->clean[n],
                           EXANET_PACKET_WORDS)]++;
    }
    g_byte_array_set_size(x->dump, 0);
}

static void test_corrupt(void)
{
    static const struct {
        const char *text;
        const char *kind;
        unsigned part;
    } kinds[] = {
        { "corrupt-header=next:15", "corrupt-header", HEADER },
        { "corrupt-payload=next:15", "corrupt-payload", PAYLOAD },
        { "corrupt-footer=next:15", "corrupt-footer", FOOTER },
    };
    ExanetSender *x = exanet_sender_new();

    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        unsigned parts[4] = { 0 };

        exanet_faults_set(x->t, kinds[i].text);
        exanet_sender_play(x, "abcdefghijklmnop");
        expect_spoiled(x, parts);
        g_assert_cmpuint(parts[GOOD], ==, 1);
        g_assert_cmpuint(parts[kinds[i].part], ==, 15);
        g_assert_cmpuint(injected(x, kinds[i].kind), ==, 15);
        exanet_faults_assert(x->t, "");
    }
    g_assert_cmpuint(exanet_get64(x->t, INJECTED), ==, 45);
    exanet_sender_free(x);
}

/* "corrupt" damages one part of each packet, and each part of more than four packets. */
static void test_corrupt_any(void)
{
    ExanetSender *x = exanet_sender_new();
    unsigned parts[4] = { 0 };

    exanet_faults_set(x->t, "corrupt=1");
    for (unsigned i = 0; i < 4; i++) {
        exanet_sender_play(x, "abcdefghijklmnop");
        expect_spoiled(x, parts);
    }
    g_assert_cmpuint(parts[GOOD], ==, 0);
    g_assert_cmpuint(parts[HEADER], ==, injected(x, "corrupt-header"));
    g_assert_cmpuint(parts[PAYLOAD], ==, injected(x, "corrupt-payload"));
    g_assert_cmpuint(parts[FOOTER], ==, injected(x, "corrupt-footer"));
    for (unsigned part = HEADER; part <= FOOTER; part++) {
        g_assert_cmpuint(parts[part], >, 4);
    }
    exanet_sender_free(x);
}

/* Sends a block as the peer, and waits until the device has sent the ack. */
static void ack_provoke(ExanetSender *x, unsigned tid)
{
    static const uint8_t data[16];
    ExanetBlock b = {
        .va = DST, .data = data, .len = sizeof(data), .tid = tid,
        .pdid = EXANET_TEST_PDID(0),
    };
    uint64_t sent = exanet_count(x->t, TX_ACK);

    exanet_peer_send_block(x->t->peer, &b);
    exanet_wait(x->t, exanet_count(x->t, TX_ACK) == sent + 1);
}

/* An ack consists of a header, so only its header can be damaged. */
static void test_corrupt_ack(void)
{
    ExanetSender *x = exanet_sender_new();
    const char *text = "corrupt-payload=next:1 corrupt-footer=next:1";
    ExanetWireStatus status;
    unsigned parts[4] = { 0 };

    exanet_faults_set(x->t, text);
    ack_provoke(x, 1);
    exanet_sender_wait(x, 1);
    g_assert_cmpuint(exanet_packet_words(x->dump->data, &status), ==, 1);
    exanet_faults_assert(x->t, text);
    g_byte_array_set_size(x->dump, 0);
    exanet_sender_play(x, "abcdefghijklmnop");
    expect_spoiled(x, parts);
    g_assert_cmpuint(parts[PAYLOAD], ==, 1);
    g_assert_cmpuint(parts[FOOTER], ==, 1);
    g_assert_cmpuint(parts[HEADER], ==, 0);

    exanet_faults_set(x->t, "corrupt=100%");
    for (unsigned i = 0; i < 64; i++) {
        ack_provoke(x, 2 + i);
    }
    exanet_sender_wait(x, 64);
    for (unsigned i = 0; i < 64; i++) {
        g_assert_cmpuint(exanet_packet_words(x->dump->data +
                                             i * EXANET_WORD_BYTES, &status),
                         ==, 0);
        g_assert_cmpint(status, ==, EXANET_WIRE_BAD_HEADER);
    }
    g_assert_cmpuint(injected(x, "corrupt-header"), ==, 64);
    exanet_sender_free(x);
}

/*
 * Damaged acks that wait for more frames than one: the port must count their words,
 * although their headers no longer have the length.
 */
static void test_corrupt_many(void)
{
    ExanetSender *x = exanet_sender_start_small();
    unsigned acks = 3 * EXANET_PACKET_WORDS;

    exanet_faults_set(x->t, "corrupt-header=100%");
    exanet_xoff(x->t);
    for (unsigned i = 0; i < acks; i++) {
        ack_provoke(x, i);
    }
    exanet_xon(x->t);
    exanet_sender_wait(x, acks);
    g_assert_cmpuint(injected(x, "corrupt-header"), ==, acks);
    exanet_sender_free(x);
}

/*
 * Acks wait for a neighbour, the first of them damaged, and the property is cleared
 * before they leave.  No packet follows the damaged ack in its frame, because the
 * neighbour could not find that packet.
 */
static void test_corrupt_cleared(void)
{
    ExanetSender *x = exanet_sender_new();
    unsigned frames = x->t->peer->data_frames;

    exanet_xoff(x->t);
    exanet_faults_set(x->t, "corrupt-header=next:1");
    ack_provoke(x, 1);
    exanet_faults_set(x->t, "");
    ack_provoke(x, 2);
    ack_provoke(x, 3);
    exanet_xon(x->t);
    exanet_sender_wait(x, 3);
    g_assert_cmpuint(injected(x, "corrupt-header"), ==, 1);
    g_assert_cmpuint(x->t->peer->data_frames, ==, frames + 2);
    g_assert_cmpuint(x->t->peer->last_words, ==, 2);
    exanet_sender_free(x);
}

/* --- The other kinds ------------------------------------------------------ */

static void test_drop(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_faults_set(x->t, "drop=next:3");
    exanet_sender_play(x, "abc");
    exanet_sender_expect(x, "");
    exanet_faults_assert(x->t, "");
    exanet_sender_play(x, "abcde");
    exanet_sender_expect(x, "abcde");
    g_assert_cmpuint(injected(x, "drop"), ==, 3);
    g_assert_cmpuint(exanet_get64(x->t, INJECTED), ==, 3);
    exanet_faults_set(x->t, "drop=next:3");
    exanet_sender_play(x, "ab");
    exanet_faults_assert(x->t, "drop=next:1");
    exanet_sender_play(x, "cd");
    exanet_sender_expect(x, "d");
    exanet_sender_free(x);
}

static void test_duplicate(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_faults_set(x->t, "duplicate=next:2");
    exanet_sender_play(x, "abc");
    exanet_sender_expect(x, "aabbc");
    g_assert_cmpuint(injected(x, "duplicate"), ==, 2);
    exanet_faults_set(x->t, "duplicate=100%");
    exanet_sender_play(x, "dcba");
    exanet_sender_expect(x, "ddccbbaa");
    exanet_sender_free(x);
}

static void test_reorder(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_faults_set(x->t, "reorder=next:1");
    exanet_sender_play(x, "abc");
    exanet_sender_expect(x, "bac");
    g_assert_cmpuint(injected(x, "reorder"), ==, 1);
    /* two packets in a row leave after the third */
    exanet_faults_set(x->t, "reorder=next:2");
    exanet_sender_play(x, "abcd");
    exanet_sender_expect(x, "cabd");
    /* without a packet behind it, a reordered packet leaves after a time */
    exanet_faults_set(x->t, "reorder=next:1");
    exanet_sender_play(x, "e");
    exanet_sender_expect(x, "");
    exanet_step(x->t, 2 * EXANET_MS);
    exanet_sender_expect(x, "e");
    exanet_sender_free(x);
}

static void test_delay(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_faults_set(x->t, "delay=next:1:200us");
    exanet_faults_assert(x->t, "delay=next:1:200000ns");
    exanet_sender_play(x, "ab");
    exanet_sender_expect(x, "b");
    exanet_step(x->t, 200 * US - 1);
    exanet_sender_expect(x, "");
    exanet_step(x->t, 1);
    exanet_sender_expect(x, "a");
    g_assert_cmpuint(injected(x, "delay"), ==, 1);
    /* all packets are delayed, so their order stays */
    exanet_faults_set(x->t, "delay=100%:1ms");
    exanet_sender_play(x, "cdef");
    exanet_sender_expect(x, "");
    exanet_step(x->t, 1 * EXANET_MS);
    exanet_sender_expect(x, "cdef");
    exanet_sender_free(x);
}

/*
 * Of several faults for one packet, the first in the order of faultsN takes place; only
 * a delay may be added to damage.
 */
static void test_combined(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_faults_set(x->t, "delay=next:1:100us;reorder=next:1+duplicate=next:1 "
                      "corrupt-payload=next:1 ; + drop=next:1");
    exanet_faults_assert(x->t, "drop=next:1 corrupt-payload=next:1 "
                         "duplicate=next:1 reorder=next:1 delay=next:1:100000ns");
    exanet_sender_play(x, "a");
    exanet_faults_assert(x->t, "corrupt-payload=next:1 duplicate=next:1 "
                         "reorder=next:1 delay=next:1:100000ns");
    exanet_sender_play(x, "b");
    exanet_faults_assert(x->t, "duplicate=next:1 reorder=next:1");
    exanet_sender_play(x, "c");
    exanet_faults_assert(x->t, "reorder=next:1");
    exanet_sender_play(x, "de");
    exanet_sender_expect(x, "cced");
    exanet_step(x->t, 100 * US);
    exanet_sender_wait(x, EXANET_PACKET_WORDS);
    g_assert_cmpint(spoiled_part(x->dump->data, x->clean[1],
                                 EXANET_PACKET_WORDS), ==, PAYLOAD);
    g_assert_cmpuint(exanet_get64(x->t, INJECTED), ==, 5);
    exanet_sender_free(x);
}

/* --- Rates ---------------------------------------------------------------- */

#define BLOCKS 157

/*
 * Sends more than 10000 packets, always the same; returns the packets that have
 * arrived, to be freed.
 */
static GByteArray *many_send(ExanetSender *x, const char *faults)
{
    ExanetDesc d = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST),
        .len = EXANET_BLOCK_BYTES, .pdid = EXANET_TEST_PDID(0),
    };
    GByteArray *dump;

    exanet_faults_set(x->t, faults);
    for (unsigned i = 0; i < BLOCKS; i++) {
        exanet_desc_write(x->t, i, &d);
        exanet_wait(x->t, exanet_desc_get(x->t, i, 3) & EXANET_DESC_W3_DONE);
    }
    exanet_step(x->t, 2 * EXANET_MS);   /* for packets that were reordered */
    dump = x->dump;
    x->t->peer->dump = x->dump = g_byte_array_new();
    return dump;
}

static bool same(const GByteArray *a, const GByteArray *b)
{
    return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static int packet_compare(const void *a, const void *b)
{
    return memcmp(a, b, EXANET_PACKET_BYTES);
}

/*
 * Sorts packets, because the place of a copy or a late packet depends on how full the
 * frames are.
 */
static void packets_sort(GByteArray *packets)
{
    g_assert_cmpuint(packets->len % EXANET_PACKET_BYTES, ==, 0);
    qsort(packets->data, packets->len / EXANET_PACKET_BYTES, EXANET_PACKET_BYTES,
          packet_compare);
}

/* Asserts that @count of @total packets have the rate @rate, within five sigma. */
static void assert_rate(uint64_t count, unsigned total, double rate)
{
    double off = count - total * rate;

    g_assert_cmpfloat(off * off, <, 5 * 5 * total * rate * (1 - rate));
}

static void test_rate(void)
{
    ExanetSender *x = exanet_sender_start("");
    unsigned total = BLOCKS * EXANET_BLOCK_PACKETS;
    g_autoptr(GByteArray) first = NULL;
    g_autoptr(GByteArray) second = NULL;
    g_autoptr(GByteArray) other = NULL;
    uint64_t drops;

    exanet_fill(x->t, SRC, NULL, EXANET_BLOCK_BYTES, 5);
    first = many_send(x, "seed=42 drop=10%");
    drops = injected(x, "drop");
    assert_rate(drops, total, 0.1);
    g_assert_cmpuint(first->len, ==, (total - drops) * EXANET_PACKET_BYTES);
    second = many_send(x, "drop=0.1;seed=42");
    g_assert_cmpuint(injected(x, "drop"), ==, 2 * drops);
    g_assert_true(same(first, second));
    other = many_send(x, "seed=43 drop=10%");
    g_assert_false(same(first, other));
    exanet_sender_free(x);
}

/* The rates of faults are independent, and equal seeds give equal packets. */
static void test_rates_all(void)
{
    ExanetSender *x = exanet_sender_start("");
    const char *faults = "seed=7 drop=2%+corrupt=2%+duplicate=2%+reorder=2%";
    unsigned total = BLOCKS * EXANET_BLOCK_PACKETS;
    g_autoptr(GByteArray) first = NULL;
    g_autoptr(GByteArray) second = NULL;
    uint64_t corrupt;

    exanet_fill(x->t, SRC, NULL, EXANET_BLOCK_BYTES, 5);
    first = many_send(x, faults);
    corrupt = injected(x, "corrupt-header") + injected(x, "corrupt-payload") +
              injected(x, "corrupt-footer");
    assert_rate(injected(x, "drop"), total, 0.02);
    assert_rate(corrupt, total, 0.02 * 0.98);
    assert_rate(injected(x, "duplicate"), total, 0.02 * 0.98 * 0.98);
    assert_rate(injected(x, "reorder"), total, 0.02 * 0.98 * 0.98 * 0.98);
    second = many_send(x, faults);
    packets_sort(first);
    packets_sort(second);
    g_assert_true(same(first, second));
    exanet_sender_free(x);
}

/* --- The property --------------------------------------------------------- */

static void test_strings(void)
{
    static const struct {
        const char *text;
        const char *reads;
    } good[] = {
        { "", "" }, { "  ;+", "" }, { "drop=1%", "drop=1%" },
        { "drop=0", "drop=0%" }, { "drop=100%", "drop=100%" },
        { "drop=0.3", "drop=30%" }, { "drop=1e-3", "drop=0.1%" },
        { "seed=0", "seed=0" }, { "seed=4294967295", "seed=4294967295" },
        { "down", "down" },
        { "down;delay=1%:3s+drop=next:4294967295",
          "drop=next:4294967295 delay=1%:3000000000ns down" },
        { "delay=0.5:1.5us", "delay=50%:1500ns" },
        { "delay=next:2:10s", "delay=next:2:10000000000ns" },
    };
    static const char *const bad[] = {
        "drop", "drop=", "drop=x", "drop=-1%", "drop=101%", "drop=1.5",
        "drop=1%%", "drop=nan", "drop=inf", "drop=next", "drop=next:",
        "drop=next:0", "drop=next:-1", "drop=next:4294967296", "drop=next:5x",
        "drop=next:5:1ms", "drop=5%:1ms", "drop=1%,", "Drop=1%", "lose=1%",
        "=1%", "corrupt-tail=1%", "delay=5%", "delay=5%:", "delay=5%:20",
        "delay=:20us", "delay=5%:20m", "delay=5%:0us", "delay=5%:-1us",
        "delay=5%:11s", "delay=5%:1e30s", "delay=next:5", "delay=20us",
        "seed", "seed=", "seed=-1", "seed=4294967296", "seed=1.5", "down=1",
        "down=", "up",
    };
    ExanetTest *t = exanet_start("");
    char endless[10000] = "";

    for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
        exanet_faults_set(t, good[i].text);
        exanet_faults_assert(t, good[i].reads);
        exanet_faults_set(t, good[i].reads);
        exanet_faults_assert(t, good[i].reads);
    }
    exanet_faults_set(t, "seed=3 drop=5%");
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *text = g_strdup_printf("duplicate=1%% %s", bad[i]);

        exanet_qom_refused(t, "faults0", text, bad[i]);
        exanet_faults_assert(t, "seed=3 drop=5%");
    }
    exanet_qom_refused(t, "faults0", "drop=1% drop=next:1", "twice");
    exanet_qom_refused(t, "faults0", "seed=1 seed=1", "twice");
    exanet_qom_refused(t, "faults0", "down down", "twice");
    exanet_qom_refused(t, "faults1", "drop=1%", "link1");
    exanet_faults_assert(t, "seed=3 drop=5%");
    /* the error message is one short line, for any text */
    exanet_qom_refused(t, "faults0", "drop=1%\nlose=1%", "'lose=1%'");
    memset(endless, 'x', sizeof(endless) - 1);
    exanet_qom_refused(t, "faults0", endless, "xxx'");
    exanet_faults_set(t, "seed=5\tdrop=1%\n");
    exanet_faults_assert(t, "seed=5 drop=1%");
    exanet_stop(t);
}

/* The property on QEMU's command line has effect from the start on. */
static void test_command_line(void)
{
    ExanetSender *x = exanet_sender_start(",faults0=seed=9+drop=next:2");

    exanet_faults_assert(x->t, "seed=9 drop=next:2");
    exanet_sender_play(x, "abc");
    exanet_sender_wait(x, EXANET_PACKET_WORDS);
    g_assert_cmpuint(injected(x, "drop"), ==, 2);
    exanet_faults_assert(x->t, "seed=9");
    exanet_sender_free(x);
}

static bool port_up(ExanetTest *t)
{
    return exanet_get32(t, PORT + EXANET_REG_PORT_STATUS) &
           EXANET_PORT_STATUS_UP;
}

static void test_down(void)
{
    ExanetSender *x = exanet_sender_new();
    ExanetPeer *p = x->t->peer;

    for (unsigned i = 0; i < 2; i++) {
        unsigned downs = p->downs;

        exanet_faults_set(x->t, i ? "down drop=next:1" : "down");
        exanet_wait(x->t, !port_up(x->t) && p->downs == downs + 1);
        exanet_peer_hello(p, true);
        exanet_step(x->t, 2000 * EXANET_MS);
        g_assert_false(port_up(x->t));
        exanet_sender_play(x, "ab");
        exanet_sender_expect(x, "");
        exanet_faults_set(x->t, i ? "drop=next:1" : "");
        exanet_bring_up(x->t);
        exanet_sender_play(x, "ab");
        exanet_sender_expect(x, i ? "b" : "ab");
    }
    exanet_sender_free(x);
}

/* "down" has effect from the start on, and a reset of the device keeps it. */
static void test_down_stays(void)
{
    ExanetTest *t = exanet_start_cold(",faults0=down", false);

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_peer_hello(t->peer, false);
    exanet_step(t, 2000 * EXANET_MS);
    g_assert_cmpuint(t->peer->hellos, ==, 0);
    g_assert_false(port_up(t));
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_peer_hello(t->peer, false);
    exanet_step(t, 2000 * EXANET_MS);
    g_assert_false(port_up(t));
    exanet_faults_assert(t, "down");
    exanet_faults_set(t, "");
    exanet_bring_up(t);
    exanet_stop(t);
}

/* --- The register --------------------------------------------------------- */

static uint64_t inject_word(enum exanet_inject kind, unsigned type, unsigned every,
                            uint32_t count)
{
    return RNIC_PREP(EXANET_INJECT_KIND, kind) |
           RNIC_PREP(EXANET_INJECT_TYPE, type) |
           RNIC_PREP(EXANET_INJECT_EVERY, every) |
           RNIC_PREP(EXANET_INJECT_COUNT, count);
}

static void inject_set(ExanetSender *x, enum exanet_inject kind, unsigned every,
                       uint32_t count)
{
    exanet_set64(x->t, INJECT, inject_word(kind, EXANET_INJECT_TYPE_ALL, every,
                                           count));
}

static void test_register_kinds(void)
{
    static const struct {
        enum exanet_inject kind;
        const char *name;
        const char *sent; /* packets that arrive of abcd; NULL: a packet is damaged */
        int part;
    } kinds[] = {
        { EXANET_INJECT_DROP, "drop", "bcd" },
        { EXANET_INJECT_HEADER, "corrupt-header", NULL, HEADER },
        { EXANET_INJECT_PAYLOAD, "corrupt-payload", NULL, PAYLOAD },
        { EXANET_INJECT_FOOTER, "corrupt-footer", NULL, FOOTER },
        { EXANET_INJECT_DUPLICATE, "duplicate", "aabcd" },
        { EXANET_INJECT_HOLD, "reorder", "bacd" },
    };
    ExanetSender *x = exanet_sender_new();

    for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
        inject_set(x, kinds[i].kind, 0, 1);
        if (kinds[i].sent) {
            exanet_sender_play(x, "abcd");
            exanet_sender_expect(x, kinds[i].sent);
        } else {
            unsigned parts[4] = { 0 };

            exanet_sender_play(x, "abcdefghijklmnop");
            expect_spoiled(x, parts);
            g_assert_cmpuint(parts[kinds[i].part], ==, 1);
            g_assert_cmpuint(parts[GOOD], ==, EXANET_SENDER_PACKETS - 1);
        }
        g_assert_cmphex(exanet_get64(x->t, INJECT), ==,
                        inject_word(EXANET_INJECT_NONE, EXANET_INJECT_TYPE_ALL,
                                    0, 0));
        g_assert_cmpuint(exanet_get64(x->t, INJECTED), ==, i + 1);
        g_assert_cmpuint(injected(x, kinds[i].name), ==, 1);
    }
    exanet_sender_free(x);
}

static void test_register_count(void)
{
    ExanetSender *x = exanet_sender_new();

    /* drops every third packet, twice */
    inject_set(x, EXANET_INJECT_DROP, 3, 2);
    exanet_sender_play(x, "abcd");
    exanet_sender_expect(x, "abd");
    g_assert_cmphex(exanet_get64(x->t, INJECT), ==,
                    inject_word(EXANET_INJECT_DROP, EXANET_INJECT_TYPE_ALL, 3,
                                1));
    exanet_sender_play(x, "efghijk");
    exanet_sender_expect(x, "eghijk");
    /* count 0: without a limit, until the next store */
    inject_set(x, EXANET_INJECT_DROP, 2, 0);
    exanet_sender_play(x, "abcdefgh");
    exanet_sender_expect(x, "aceg");
    inject_set(x, EXANET_INJECT_NONE, 0, 0);
    exanet_sender_play(x, "ab");
    exanet_sender_expect(x, "ab");
    g_assert_cmpuint(exanet_get64(x->t, INJECTED), ==, 6);
    /* two 4-byte stores: the second store starts the fault */
    inject_set(x, EXANET_INJECT_DROP, 0, 0);
    exanet_set32(x->t, INJECT, EXANET_INJECT_DUPLICATE |
                 EXANET_INJECT_TYPE_ALL << 8);
    exanet_sender_play(x, "ab");
    exanet_sender_expect(x, "ab");
    exanet_set32(x->t, INJECT + 4, 1);
    exanet_sender_play(x, "ab");
    exanet_sender_expect(x, "aab");
    exanet_sender_free(x);
}

static void test_register_type(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_set64(x->t, INJECT, inject_word(EXANET_INJECT_DROP, EXANET_TYPE_ACK,
                                           0, 2));
    exanet_sender_play(x, "abc");
    exanet_sender_expect(x, "abc");
    for (unsigned i = 0; i < 3; i++) {
        ack_provoke(x, 1 + i);
    }
    exanet_sender_wait(x, 1);
    g_byte_array_set_size(x->dump, 0);
    exanet_set64(x->t, INJECT, inject_word(EXANET_INJECT_DROP, EXANET_TYPE_WRITE,
                                           0, 1));
    ack_provoke(x, 9);
    exanet_sender_wait(x, 1);
    g_byte_array_set_size(x->dump, 0);
    exanet_sender_play(x, "ab");
    exanet_sender_expect(x, "b");
    /* acks have no payload, so they are not counted */
    inject_set(x, EXANET_INJECT_PAYLOAD, 2, 1);
    exanet_sender_play(x, "a");
    exanet_sender_expect(x, "a");
    ack_provoke(x, 10);
    exanet_sender_wait(x, 1);
    g_byte_array_set_size(x->dump, 0);
    exanet_sender_play(x, "b");
    exanet_sender_wait(x, EXANET_PACKET_WORDS);
    g_assert_cmpint(spoiled_part(x->dump->data, x->clean[1],
                                 EXANET_PACKET_WORDS), ==, PAYLOAD);
    exanet_sender_free(x);
}

static void test_register_bad(void)
{
    ExanetSender *x = exanet_sender_new();

    x->t->guest_errors = true;
    inject_set(x, EXANET_INJECT_DROP, 0, 0);
    inject_set(x, EXANET_INJECT_HOLD + 1, 0, 5);
    g_assert_cmphex(RNIC_GET(EXANET_INJECT_KIND, exanet_get64(x->t, INJECT)), ==,
                    EXANET_INJECT_NONE);
    inject_set(x, 255, 0, 5);
    exanet_sender_play(x, "ab");
    exanet_sender_expect(x, "ab");
    exanet_sender_free(x);
}

/*
 * Faults of property and register at the same time; a reset of the device clears those
 * of the register only.
 */
static void test_reset(void)
{
    ExanetSender *x = exanet_sender_new();

    exanet_faults_set(x->t, "drop=next:1 duplicate=next:1");
    inject_set(x, EXANET_INJECT_DUPLICATE, 2, 0);
    exanet_sender_play(x, "abc");
    exanet_sender_expect(x, "bbcc");
    exanet_faults_set(x->t, "drop=next:2");
    exanet_set32(x->t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_bring_up(x->t);
    g_assert_cmphex(exanet_get64(x->t, INJECT), ==, 0);
    g_assert_cmpuint(exanet_get64(x->t, INJECTED), ==, 0);
    g_assert_cmpuint(injected(x, "drop"), ==, 0);
    exanet_faults_assert(x->t, "drop=next:2");
    exanet_sender_free(x);
}

/* --- What it is for ------------------------------------------------------- */

/* Transfers between two devices end well while faults change. */
static void test_recovery(void)
{
    const char *faults[] = {
        "drop=0.5%", "corrupt=0.5%", "duplicate=5%", "reorder=5%",
        "delay=5%:300us",
        "drop=0.3% corrupt=0.3% duplicate=1% reorder=1% delay=1%:300us", "",
    };
    g_autofree char *dir = g_dir_make_tmp("exanet-inject-XXXXXX", NULL);
    g_autofree char *path = g_strdup_printf("%s/link", dir);
    g_autofree uint8_t *data = g_malloc(16 * EXANET_BLOCK_BYTES);
    ExanetTest *t[2];

    exanet_pair_start(t, path, "");
    for (unsigned i = 0; i < ARRAY_SIZE(faults); i++) {
        ExanetTransfer w = {
            .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, DST),
            .len = 16 * EXANET_BLOCK_BYTES,
        };

        exanet_fill(t[0], SRC, data, w.len, 20 + i);
        exanet_channel_start(t[0], 0, 0, &w);
        /* the transfer is under way, or starts soon */
        exanet_faults_set(t[0], faults[i]);
        exanet_faults_set(t[1], faults[i]);
        exanet_pair_wait(t, exanet_channel_state(t[0], 0, 0) >=
                         EXANET_CHANNEL_DONE, EXANET_MS);
        g_assert_cmpuint(exanet_channel_state(t[0], 0, 0), ==,
                         EXANET_CHANNEL_DONE);
        exanet_assert_mem(t[1], DST, data, w.len);
    }
    g_assert_cmpuint(exanet_get64(t[0], INJECTED), >, 0);
    g_assert_cmpuint(exanet_get64(t[1], INJECTED), >, 0);
    g_assert_cmpuint(exanet_count(t[0], RETRY_TIMEOUT), >, 0);
    exanet_stop(t[0]);
    exanet_stop(t[1]);
    unlink(path);
    rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/inject/drop", test_drop);
    qtest_add_func("/exanet/inject/corrupt", test_corrupt);
    qtest_add_func("/exanet/inject/corrupt-any", test_corrupt_any);
    qtest_add_func("/exanet/inject/corrupt-ack", test_corrupt_ack);
    qtest_add_func("/exanet/inject/corrupt-many", test_corrupt_many);
    qtest_add_func("/exanet/inject/corrupt-cleared", test_corrupt_cleared);
    qtest_add_func("/exanet/inject/duplicate", test_duplicate);
    qtest_add_func("/exanet/inject/reorder", test_reorder);
    qtest_add_func("/exanet/inject/delay", test_delay);
    qtest_add_func("/exanet/inject/combined", test_combined);
    qtest_add_func("/exanet/inject/rate", test_rate);
    qtest_add_func("/exanet/inject/rates-all", test_rates_all);
    qtest_add_func("/exanet/inject/strings", test_strings);
    qtest_add_func("/exanet/inject/command-line", test_command_line);
    qtest_add_func("/exanet/inject/down", test_down);
    qtest_add_func("/exanet/inject/down-stays", test_down_stays);
    qtest_add_func("/exanet/inject/register-kinds", test_register_kinds);
    qtest_add_func("/exanet/inject/register-count", test_register_count);
    qtest_add_func("/exanet/inject/register-type", test_register_type);
    qtest_add_func("/exanet/inject/register-bad", test_register_bad);
    qtest_add_func("/exanet/inject/reset", test_reset);
    qtest_add_func("/exanet/inject/recovery", test_recovery);
    return g_test_run();
}
