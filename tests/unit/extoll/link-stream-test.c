/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saved states of a link.  A link that is saved and loaded in the middle of its work goes
 * on: all packets arrive, once and in order, also if the other end has not noticed.  A
 * changed state is refused, or gives a link that works.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/extoll/base/flit.h"
#include "hw/rnic/extoll/link/link-stream.h"
#include "../../seed.h"
#include "link-rig.h"

#define ROOM    200
#define CHANGES 300                 /* changed copies of each state */

static GByteArray *save(unsigned e)
{
    GByteArray *bytes = g_byte_array_new();

    extoll_link_save(&rig.end[e], bytes);
    g_assert_cmpuint(bytes->len, <=, extoll_link_stream_max(ROOM));
    return bytes;
}

static void assert_empty(const ExtollLink *l)
{
    g_assert_false(l->resume);
    g_assert_cmpuint(extoll_replay_tx_kept(&l->tx), ==, 0);
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        g_assert_null(extoll_link_head(l, vc));
        g_assert_cmpuint(l->in[vc].part_flits, ==, 0);
        g_assert_cmpuint(l->in[vc].credit.room, ==, ROOM);
    }
    for (unsigned i = 0; i < EXTOLL_LINK_COUNTERS; i++) {
        g_assert_cmpuint(l->counter[i], ==, 0);
    }
}

/* Loads @bytes into a new link; asserts that a refused state leaves an empty link. */
static bool load(ExtollLink *l, const GByteArray *bytes)
{
    bool good;

    extoll_link_init(l, ROOM);
    good = extoll_link_load(l, bytes->data, bytes->len);
    g_assert_cmpint(l->phase, ==, EXTOLL_LINK_DOWN);
    if (!good) {
        assert_empty(l);
    }
    return good;
}

/* Moves end @e to another machine: the new link is down. */
static void move(unsigned e)
{
    g_autoptr(GByteArray) bytes = save(e), again = NULL;

    extoll_link_fini(&rig.end[e]);
    g_assert_true(load(&rig.end[e], bytes));
    again = save(e);
    g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
}

/* Runs a step in which something happens, by chance. */
static void work(void)
{
    rig_packet_send(g_rand_int_range(rig.rand, 0, 2), g_rand_int_range(rig.rand, 0, 2));
    rig.budget = g_rand_int_range(rig.rand, 1, 40);
    rig_step();
    if (g_rand_int_range(rig.rand, 0, 4) == 0) {
        rig_packets_take(g_rand_int_range(rig.rand, 0, 2));
    }
}

static void start(void)
{
    rig_start(ROOM);
    rig_connect();
}

/* --- States that are true --------------------------------------------------------- */

/* Goes on after end @e has moved; the other end has noticed if its port was down, too. */
static void go_on(unsigned e, bool noticed)
{
    if (noticed) {
        extoll_link_down(&rig.end[!e]);
        extoll_link_up(&rig.end[!e]);
    }
    extoll_link_up(&rig.end[e]);
}

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(12));
    unsigned moves = 0, parts = 0, kept = 0, packets = 0;

    start();
    rig.rand = rand;
    rig.lose = rig.damage = rig.twice = 0.01;
    for (unsigned n = 0; n < 6000; n++) {
        unsigned e = g_rand_int_range(rand, 0, 2);
        ExtollLink *l = &rig.end[e];

        work();
        if (g_rand_int_range(rand, 0, 20)) {
            continue;
        }
        moves++;
        parts += l->in[0].part_flits || l->in[1].part_flits;
        kept += extoll_replay_tx_kept(&l->tx) != 0;
        packets += extoll_link_head(l, 0) || extoll_link_head(l, 1);
        move(e);
        /* the link may move again before it is open, or both ends may move */
        go_on(e, g_rand_int_range(rand, 0, 2));
    }
    rig.budget = 0;
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    for (unsigned e = 0; e < 2; e++) {
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_DROPPED), ==, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_ERROR), ==, 0);
        g_assert_cmpuint(rig_counter(e, EXTOLL_LINK_RX_FLITS), ==,
                         rig_counter(!e, EXTOLL_LINK_TX_FLITS));
    }
    g_assert_cmpuint(moves, >, 100);
    g_assert_cmpuint(parts, >, 0);
    g_assert_cmpuint(kept, >, 0);
    g_assert_cmpuint(packets, >, 0);
    rig_end();
}

/* Sequences and counts that wrap around. */
static void test_wrap(void)
{
    start();
    for (unsigned e = 0; e < 2; e++) {
        ExtollLink *l = &rig.end[e];

        l->tx.oldest = l->tx.send = l->tx.sent = l->tx.next = l->rx.next = -5;
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            l->tx_credit[vc].sent = l->tx_credit[vc].returned = -5;
            l->in[vc].credit.arrived = l->in[vc].credit.freed = -5;
            l->in[vc].credit.advertised = -5;
        }
    }
    for (unsigned n = 0; n < 10; n++) {
        g_assert_true(rig_packet_send(0, 0));
        g_assert_true(rig_packet_send(1, 1));
        rig.budget = n;
        rig_step();
        move(n % 2);
        go_on(n % 2, n % 4 < 2);
        rig.budget = 0;
        rig_drain();
    }
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    rig_end();
}

/* A link that was never open begins anew in the other machine, too, with its counters. */
static void test_new(void)
{
    rig_start(ROOM);
    rig.end[0].counter[EXTOLL_LINK_DROPPED] = 7;
    move(0);
    g_assert_false(rig.end[0].resume);
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, 7);
    extoll_link_up(&rig.end[0]);
    move(0);
    rig_connect();
    g_assert_true(rig_packet_send(0, 0));
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    rig_end();
}

/* The loaded end drops its packets if the other end has forgotten the link. */
static void test_forgotten(void)
{
    start();
    rig.lose = 1;
    g_assert_true(rig_packet_send(0, 0));
    rig_step();
    rig.lose = 0;
    move(0);
    extoll_link_down(&rig.end[1]);
    extoll_link_forget(&rig.end[1]);
    memset(rig.sent, 0, sizeof(rig.sent));
    rig_connect();
    g_assert_cmpuint(rig_counter(0, EXTOLL_LINK_DROPPED), ==, 1);
    g_assert_true(rig_packet_send(0, 0));
    rig_drain();
    g_assert_cmpint(rig.status, ==, EXTOLL_LINK_OK);
    rig_end();
}

/*
 * An old state is loaded although the ends have gone on: the ends notice, and both begin
 * anew.
 */
static void test_old(void)
{
    for (unsigned from = 0; from < 2; from++) {
        g_autoptr(GByteArray) bytes = NULL;

        start();
        g_assert_true(rig_packet_send(from, 0));
        rig_drain();
        bytes = save(0);
        g_assert_true(rig_packet_send(from, 0));
        rig_drain();
        extoll_link_fini(&rig.end[0]);
        g_assert_true(load(&rig.end[0], bytes));
        rig_both_down();
        rig_both_up();
        for (unsigned i = 0; rig.status == EXTOLL_LINK_OK; i++) {
            g_assert_cmpuint(i, <, STEPS);
            rig_step();
        }
        g_assert_cmpint(rig.status, ==, EXTOLL_LINK_BROKEN);
        rig_end();
    }
}

/* --- States that lie ---------------------------------------------------------------- */

/* Makes a link with flits that are kept, packets, and a packet that is not complete. */
static void start_busy(uint32_t seed)
{
    start();
    rig.rand = g_rand_new_with_seed(seed);
    while (!rig.end[0].in[0].part || rig.end[0].in[0].part_flits < 2 ||
           !extoll_link_head(&rig.end[0], 0) || !extoll_link_head(&rig.end[0], 1) ||
           extoll_replay_tx_kept(&rig.end[0].tx) < 20) {
        work();
    }
}

static void end_busy(void)
{
    g_rand_free(rig.rand);
    rig_end();
}

static void assert_refused(const GByteArray *bytes)
{
    ExtollLink l;

    g_assert_false(load(&l, bytes));
    extoll_link_fini(&l);
}

/* The state ends early, or has more than a link. */
static void test_length(void)
{
    g_autoptr(GByteArray) bytes = NULL;
    const uint8_t more = 0;

    start_busy(random_seed(13));
    bytes = save(0);
    g_byte_array_append(bytes, &more, 1);
    assert_refused(bytes);
    for (unsigned len = bytes->len - 2; len; len -= len < 100 ? 1 : 97) {
        g_byte_array_set_size(bytes, len);
        assert_refused(bytes);
    }
    g_byte_array_set_size(bytes, 0);
    assert_refused(bytes);
    end_busy();
}

static void lie_sent(ExtollLink *l)
{
    l->tx.sent = l->tx.next + 1;
}

static void lie_window(ExtollLink *l)
{
    l->tx.next = l->tx.oldest + EXTOLL_WINDOW + 1;
}

static void lie_seq(ExtollLink *l)
{
    memcpy(l->tx.flits[(l->tx.oldest + 1) % EXTOLL_WINDOW],
           l->tx.flits[l->tx.oldest % EXTOLL_WINDOW], EXTOLL_FLIT_MAX);
}

static void lie_crc(ExtollLink *l)
{
    l->tx.flits[l->tx.oldest % EXTOLL_WINDOW][EXTOLL_FLIT_HEADER] ^= 1;
}

static void lie_whole(ExtollLink *l)
{
    /* the youngest packet has no last flit */
    do {
        l->tx.next--;
    } while (ldl_le_p(l->tx.flits[(uint16_t)(l->tx.next - 1) % EXTOLL_WINDOW]) &
             EXTOLL_FLIT_LAST);
    l->tx.sent = l->tx.oldest;
}

static void lie_credit(ExtollLink *l)
{
    l->tx_credit[1].returned = l->tx_credit[1].sent - l->tx_credit[1].room - 1;
}

static void lie_credit_more(ExtollLink *l)
{
    l->tx_credit[1].returned = l->tx_credit[1].sent + 1;
}

static void lie_room(ExtollLink *l)
{
    l->tx_credit[0].room = EXTOLL_ROOM_MAX + 1;
}

static void lie_arrived(ExtollLink *l)
{
    l->in[0].credit.arrived++;
}

static void lie_freed(ExtollLink *l)
{
    l->in[1].credit.freed = l->in[1].credit.arrived - ROOM - 1;
}

static void lie_packet(ExtollLink *l)
{
    extoll_link_head(l, 1)->data[EXTOLL_ROUTING_BYTES] ^= 0xf;
}

/* The stream has a packet of 0 bytes, and credits without the flits of this packet. */
static void lie_packet_empty(ExtollLink *l)
{
    ExtollArrived *a = extoll_link_head(l, 1);

    l->in[1].credit.freed += extoll_flits(a->bytes);
    a->bytes = 0;
}

static void lie_part(ExtollLink *l)
{
    l->in[0].part->data[EXTOLL_ROUTING_BYTES] ^= 0xf;
}

static void lie_part_flits(ExtollLink *l)
{
    l->in[0].part_flits--;
    l->in[0].credit.freed++;
}

static void lie_part_many(ExtollLink *l)
{
    g_free(l->in[0].part);
    l->in[0].part = NULL;
    l->in[0].credit.arrived += EXTOLL_PACKET_FLITS + 1 - l->in[0].part_flits;
    l->in[0].part_flits = EXTOLL_PACKET_FLITS + 1;
}

static void test_lies(void)
{
    static void (*const lies[])(ExtollLink *) = {
        lie_sent, lie_window, lie_seq, lie_crc, lie_whole, lie_credit, lie_credit_more,
        lie_room, lie_arrived, lie_freed, lie_packet, lie_packet_empty, lie_part,
        lie_part_flits, lie_part_many,
    };
    uint32_t seed = random_seed(14);

    for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();

        start_busy(seed);
        lies[i](&rig.end[0]);
        extoll_link_save(&rig.end[0], bytes);
        g_test_message("lie %u", i);
        assert_refused(bytes);
        end_busy();
    }
}

/* Connects @l with a new end, after errors also anew, and sends a packet each way. */
static void assert_works(void)
{
    rig.lose = rig.damage = rig.twice = rig.budget = 0;
    rig_both_down();
    rig_both_up();
    for (unsigned i = 0; i < 500; i++) {
        rig.status = EXTOLL_LINK_OK;
        rig_step();
        if (rig.status >= EXTOLL_LINK_DEAD) {
            rig_both_down();
            extoll_link_forget(&rig.end[0]);
            extoll_link_forget(&rig.end[1]);
            rig_both_up();
        }
    }
    rig_both_down();
    extoll_link_forget(&rig.end[0]);
    extoll_link_forget(&rig.end[1]);
    memset(rig.sent, 0, sizeof(rig.sent));
    memset(rig.got, 0, sizeof(rig.got));
    rig_connect();
    g_assert_true(rig_packet_send(0, 0) && rig_packet_send(1, 1));
    rig_drain();
}

/* Changes of one to eight bytes: the link refuses the state, or has it, and works. */
static void test_damaged(void)
{
    uint32_t seed = random_seed(15);
    unsigned refused = 0, taken = 0;

    for (unsigned i = 0; i < CHANGES; i++) {
        g_autoptr(GByteArray) bytes = NULL, again = NULL;
        unsigned at, count;

        start_busy(seed + i);
        bytes = save(0);
        extoll_link_fini(&rig.end[0]);
        count = g_rand_int_range(rig.rand, 1, 9);
        /* most bytes are payload, so half of the changes are in the first numbers */
        at = i % 2 ? g_rand_int_range(rig.rand, 0, bytes->len) :
                     g_rand_int_range(rig.rand, 0, 16);
        for (unsigned n = at; n < MIN(at + count, bytes->len); n++) {
            bytes->data[n] ^= g_rand_int_range(rig.rand, 1, 256);
        }
        if (load(&rig.end[0], bytes)) {
            taken++;
            again = save(0);
            g_assert_cmpmem(bytes->data, bytes->len, again->data, again->len);
        } else {
            refused++;
        }
        assert_works();
        end_busy();
    }
    g_assert_cmpuint(refused, >, 0);
    g_assert_cmpuint(taken, >, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/link-stream/random", test_random);
    g_test_add_func("/extoll/link-stream/wrap", test_wrap);
    g_test_add_func("/extoll/link-stream/new", test_new);
    g_test_add_func("/extoll/link-stream/forgotten", test_forgotten);
    g_test_add_func("/extoll/link-stream/old", test_old);
    g_test_add_func("/extoll/link-stream/length", test_length);
    g_test_add_func("/extoll/link-stream/lies", test_lies);
    g_test_add_func("/extoll/link-stream/damaged", test_damaged);
    return g_test_run();
}
