/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Write-combining buffers: whole messages, fragments, torn messages. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/extoll/velo/combine.h"
#include "../../seed.h"

#define ROUNDS 20000
#define OPEN 10         /* messages that the random test stores at the same time */

static uint32_t address(unsigned own, unsigned node, unsigned quadwords)
{
    ExtollVeloMsg msg = {
        .src_vpid = own, .dst_node = node, .dst_vpid = 9, .mtt = 1,
        .quadwords = quadwords,
    };

    return extoll_velo_address_encode(&msg);
}

/* Stores quadword @q with the value @value; returns the number of fragments in @out. */
static unsigned store(ExtollCombine *c, uint32_t at, unsigned q, uint64_t value,
                      ExtollVeloMsg *out)
{
    uint8_t raw[8];
    unsigned n;

    stq_le_p(raw, value);
    g_assert_cmpint(extoll_combine_store(c, at + 8 * q, raw, 8, out, &n), ==,
                    EXTOLL_VELO_OK);
    return n;
}

static void assert_fragment(const ExtollVeloMsg *msg, unsigned first, unsigned count,
                            bool end, uint64_t value)
{
    g_assert_cmpuint(msg->first, ==, first);
    g_assert_cmpuint(msg->count, ==, count);
    g_assert_cmpint(msg->end, ==, end);
    g_assert_cmpint(msg->split, ==, count != msg->quadwords);
    for (unsigned q = 0; q < count; q++) {
        g_assert_cmphex(ldq_le_p(msg->data + 8 * q), ==, value + first + q);
    }
}

/* Each length, with stores of each size, from the first to the last and back. */
static void test_whole(void)
{
    static const unsigned sizes[] = { 4, 8, 16 };
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    uint8_t bytes[64];
    unsigned n;

    for (unsigned i = 0; i < 64; i++) {
        bytes[i] = i + 1;
    }
    for (unsigned quadwords = 1; quadwords <= 8; quadwords++) {
        for (unsigned s = 0; s < ARRAY_SIZE(sizes); s++) {
            unsigned stores = quadwords * 8 / sizes[s];

            if (quadwords * 8 % sizes[s]) {
                continue;
            }
            for (unsigned i = 0; i < 2 * stores; i++) {
                unsigned at = sizes[s] * (i < stores ? i : 2 * stores - 1 - i);

                g_assert_cmpint(extoll_combine_store(c, address(3, 5, quadwords) + at,
                                                     bytes + at, sizes[s], out, &n), ==,
                                EXTOLL_VELO_OK);
                g_assert_cmpuint(n, ==, (i + 1) % stores == 0);
            }
            g_assert_cmpuint(out[0].count, ==, quadwords);
            g_assert_true(out[0].end && !out[0].split && !out[0].first);
            g_assert_cmpuint(out[0].dst_node, ==, 5);
            g_assert_cmpmem(out[0].data, quadwords * 8, bytes, quadwords * 8);
        }
    }
    g_assert_cmpuint(c->torn, ==, 0);
}

static void test_refused(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    uint8_t bytes[64] = { 0 };
    unsigned n = 9;

    g_assert_cmpint(extoll_combine_store(c, address(1, 1, 1), bytes, 2, out, &n), ==,
                    EXTOLL_VELO_BAD_SIZE);
    g_assert_cmpuint(n, ==, 0);
    g_assert_cmpint(extoll_combine_store(c, address(1, 1, 9), bytes, 8, out, &n), ==,
                    EXTOLL_VELO_BAD_LENGTH);
    g_assert_cmpint(extoll_combine_store(c, address(1, 1, 1) + 8, bytes, 8, out, &n), ==,
                    EXTOLL_VELO_BAD_PLACE);
    g_assert_cmpuint(extoll_combine_drop(c, 1), ==, 0);
}

/*
 * The fifth message of a VPID evicts the oldest; the rest of the oldest completes later.
 */
static void test_evict(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);

    /* quadwords 0, 1 and 5 of 8 */
    g_assert_cmpuint(store(c, address(2, 0, 8), 0, 100, out), ==, 0);
    g_assert_cmpuint(store(c, address(2, 0, 8), 1, 101, out), ==, 0);
    g_assert_cmpuint(store(c, address(2, 0, 8), 5, 105, out), ==, 0);
    for (unsigned node = 1; node < 4; node++) {
        g_assert_cmpuint(store(c, address(2, node, 8), 0, 0, out), ==, 0);
    }
    /* another VPID has buffers of its own */
    g_assert_cmpuint(store(c, address(7, 0, 8), 0, 0, out), ==, 0);
    g_assert_cmpuint(store(c, address(2, 4, 8), 0, 0, out), ==, 2);
    assert_fragment(&out[0], 0, 2, false, 100);
    assert_fragment(&out[1], 5, 1, false, 100);
    g_assert_cmpuint(out[0].dst_node, ==, 0);
    for (unsigned q = 2; q < 7; q++) {
        unsigned n = q == 5 ? 0 : store(c, address(2, 0, 8), q, 100 + q, out);

        /* the message takes the buffer of node 1 */
        g_assert_cmpuint(n, ==, q == 2);
    }
    g_assert_cmpuint(store(c, address(2, 0, 8), 7, 107, out), ==, 2);
    assert_fragment(&out[0], 2, 3, false, 100);
    assert_fragment(&out[1], 6, 2, true, 100);
    g_assert_cmpuint(c->torn, ==, 0);
    /* a message to the same address is a new one */
    g_assert_cmpuint(store(c, address(2, 0, 8), 0, 55, out), ==, 0);
    g_assert_cmpuint(c->torn, ==, 0);
}

/* Fills the buffers of VPID 0; the oldest will leave as four fragments. */
static void fill_with_gaps(ExtollCombine *c)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];

    for (unsigned q = 0; q < 8; q += 2) {
        g_assert_cmpuint(store(c, address(0, 0, 8), q, q, out), ==, 0);
    }
    for (unsigned node = 1; node < 4; node++) {
        store(c, address(0, node, 8), 0, 0, out);
    }
}

/* The evicted message leaves as four fragments, and the completed message follows. */
static void test_many(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);

    fill_with_gaps(c);
    g_assert_cmpuint(store(c, address(0, 4, 1), 0, 9, out), ==, 5);
    assert_fragment(&out[3], 6, 1, false, 0);
    assert_fragment(&out[4], 0, 1, true, 9);
    for (unsigned q = 1; q < 7; q += 2) {
        g_assert_cmpuint(store(c, address(0, 0, 8), q, q, out), ==, 0);
    }
    g_assert_cmpuint(store(c, address(0, 0, 8), 7, 7, out), ==, 4);
    assert_fragment(&out[3], 7, 1, true, 0);
}

/*
 * Most fragments of one store: four of the evicted message, two of a message that the
 * store completes and the property split divides.
 */
static void test_most(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    uint8_t both[16] = { 0 };
    unsigned n;

    c->split = 1;
    fill_with_gaps(c);
    g_assert_cmpint(extoll_combine_store(c, address(0, 4, 2), both, 16, out, &n), ==,
                    EXTOLL_VELO_OK);
    g_assert_cmpuint(n, ==, EXTOLL_COMBINE_OUT);
    assert_fragment(&out[3], 6, 1, false, 0);
    assert_fragment(&out[4], 0, 1, false, 0);
    g_assert_cmpuint(out[5].first, ==, 1);
    g_assert_true(out[5].end);
}

/* The second quadword of a 16-byte store has left: the store begins another message. */
static void test_left_again(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    uint8_t both[16] = { 0 };
    unsigned n;

    store(c, address(0, 0, 3), 1, 0, out);
    for (unsigned node = 1; node < 5; node++) {
        n = store(c, address(0, node, 3), 0, 0, out);
    }
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpint(extoll_combine_store(c, address(0, 0, 3), both, 16, out, &n), ==,
                    EXTOLL_VELO_OK);
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpuint(out[0].dst_node, ==, 1);
    g_assert_cmpuint(c->torn, ==, 1);
    /* the new message completes with its third quadword and leaves whole */
    g_assert_cmpuint(store(c, address(0, 0, 3), 2, 0, out), ==, 1);
    g_assert_cmpuint(out[0].count, ==, 3);
    g_assert_true(out[0].end && !out[0].split);
}

/* A store that comes again begins another message, because the first lacks a store. */
static void test_again(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);

    store(c, address(0, 0, 3), 0, 1, out);
    store(c, address(0, 0, 3), 1, 1, out);
    /* quadword 2 of the first message is lost */
    g_assert_cmpuint(store(c, address(0, 0, 3), 0, 2, out), ==, 0);
    g_assert_cmpuint(c->torn, ==, 1);
    g_assert_cmpuint(store(c, address(0, 0, 3), 2, 2, out), ==, 0);
    g_assert_cmpuint(store(c, address(0, 0, 3), 1, 2, out), ==, 1);
    g_assert_cmpuint(out[0].count, ==, 3);
    g_assert_true(out[0].end && !out[0].split);
    g_assert_cmpuint(c->torn, ==, 1);
}

/* After a lost store, no part of its message mixes with the next message. */
static void test_tear(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);

    store(c, address(0, 0, 2), 0, 1, out);
    store(c, address(0, 1, 2), 0, 1, out);
    extoll_combine_tear(c, address(0, 0, 2) + 12);
    g_assert_cmpuint(c->torn, ==, 1);
    extoll_combine_tear(c, address(0, 0, 2));
    extoll_combine_tear(c, address(0, 0, 0));
    g_assert_cmpuint(c->torn, ==, 1);
    g_assert_cmpuint(store(c, address(0, 0, 2), 1, 1, out), ==, 0);
    g_assert_cmpuint(store(c, address(0, 1, 2), 1, 1, out), ==, 1);
}

static void test_torn(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    uint8_t half[4] = { 0 };
    unsigned n;

    /* a half of a quadword cannot leave */
    extoll_combine_store(c, address(0, 0, 8) + 12, half, 4, out, &n);
    store(c, address(0, 0, 8), 0, 0, out);
    for (unsigned node = 1; node < 5; node++) {
        n = store(c, address(0, node, 8), 0, 0, out);
    }
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpuint(c->torn, ==, 1);
    /* a quadword that has left comes again: node 1 leaves, and then its first quadword */
    g_assert_cmpuint(store(c, address(0, 5, 8), 0, 0, out), ==, 1);
    g_assert_cmpuint(store(c, address(0, 1, 8), 0, 0, out), ==, 1);
    g_assert_cmpuint(c->torn, ==, 2);
    /* more messages of which a part has left than the VPID remembers */
    for (unsigned node = 6; node < 18; node++) {
        store(c, address(0, node, 8), 0, 0, out);
    }
    g_assert_cmpuint(c->torn, >, 2);
}

static void test_drop(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);

    for (unsigned node = 0; node < 6; node++) {
        store(c, address(4, node, 2), 0, 0, out);
        store(c, address(5, node, 2), 0, 0, out);
    }
    g_assert_cmpuint(extoll_combine_drop(c, 4), ==, 6);
    g_assert_cmpuint(extoll_combine_drop(c, 4), ==, 0);
    /* the second quadword alone is no message */
    g_assert_cmpuint(store(c, address(4, 0, 2), 1, 0, out), ==, 0);
    g_assert_cmpuint(store(c, address(4, 5, 2), 1, 0, out), ==, 0);
    g_assert_cmpuint(store(c, address(5, 5, 2), 1, 1, out), ==, 1);
    g_assert_cmpuint(c->torn, ==, 0);
}

/* Property split=3: each third message leaves in two parts; 8 B cannot be divided. */
static void test_split(void)
{
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);

    c->split = 3;
    for (unsigned i = 1; i < 20; i++) {
        unsigned n;

        g_assert_cmpuint(store(c, address(1, 1, 1), 0, 9, out), ==, 1);
        assert_fragment(&out[0], 0, 1, true, 9);
        store(c, address(1, 1, 3), 0, 10, out);
        store(c, address(1, 1, 3), 2, 12, out);
        n = store(c, address(1, 1, 3), 1, 11, out);
        g_assert_cmpuint(n, ==, i % 3 ? 1 : 2);
        if (n == 1) {
            assert_fragment(&out[0], 0, 3, true, 10);
        } else {
            assert_fragment(&out[0], 0, 1, false, 10);
            assert_fragment(&out[1], 1, 2, true, 10);
        }
    }
}

/* --- Random stores ------------------------------------------------------------ */

/* A message that is being stored, and that part of it that has left. */
typedef struct Open {
    uint8_t data[64];
    uint32_t words;         /* bit n: word n of 32 bits is still to store */
    uint8_t arrived;        /* bit n: quadword n has left */
    unsigned quadwords;     /* 0: no message */
} Open;

static void open_fragment(Open *open, const ExtollVeloMsg *msg)
{
    Open *o = &open[msg->dst_node];
    unsigned bits = ((1u << msg->count) - 1) << msg->first;

    g_assert_cmpuint(o->quadwords, ==, msg->quadwords);
    g_assert_false(o->arrived & bits);
    g_assert_cmpmem(msg->data, msg->count * 8, o->data + msg->first * 8, msg->count * 8);
    o->arrived |= bits;
    g_assert_cmpint(msg->end, ==, o->arrived == (1u << o->quadwords) - 1);
    if (msg->end) {
        g_assert_cmphex(o->words, ==, 0);
        o->quadwords = 0;
    }
}

/* Stores a piece of @o that is not stored yet; returns the number of fragments. */
static unsigned open_store(ExtollCombine *c, GRand *rand, Open *o, unsigned node,
                           ExtollVeloMsg *out)
{
    unsigned size = 8 << g_rand_int_range(rand, 0, 2), at, n;
    uint32_t bits;

    do {
        at = size * g_rand_int_range(rand, 0, 64 / size);
        bits = ((1u << size / 4) - 1) << at / 4;
        if ((o->words & bits) != bits) {
            size = 8;
        }
    } while ((o->words & bits) != bits);
    o->words &= ~bits;
    g_assert_cmpint(extoll_combine_store(c, address(6, node, o->quadwords) + at,
                                         o->data + at, size, out, &n), ==,
                    EXTOLL_VELO_OK);
    return n;
}

static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(17));
    g_autofree ExtollCombine *c = g_new0(ExtollCombine, 1);
    ExtollVeloMsg out[EXTOLL_COMBINE_OUT];
    Open open[OPEN] = { 0 };
    unsigned messages = 0;

    while (messages < ROUNDS) {
        unsigned node = g_rand_int_range(rand, 0, OPEN);
        Open *o = &open[node];

        if (!o->quadwords) {
            *o = (Open) { .quadwords = g_rand_int_range(rand, 1, 9) };
            o->words = (1ULL << 2 * o->quadwords) - 1;
            for (unsigned i = 0; i < 8 * o->quadwords; i++) {
                o->data[i] = g_rand_int(rand);
            }
            messages++;
        }
        for (unsigned i = 0, n = open_store(c, rand, o, node, out); i < n; i++) {
            open_fragment(open, &out[i]);
        }
    }
    g_assert_cmpuint(c->torn, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/combine/whole", test_whole);
    g_test_add_func("/extoll/combine/refused", test_refused);
    g_test_add_func("/extoll/combine/evict", test_evict);
    g_test_add_func("/extoll/combine/many", test_many);
    g_test_add_func("/extoll/combine/most", test_most);
    g_test_add_func("/extoll/combine/left-again", test_left_again);
    g_test_add_func("/extoll/combine/again", test_again);
    g_test_add_func("/extoll/combine/tear", test_tear);
    g_test_add_func("/extoll/combine/torn", test_torn);
    g_test_add_func("/extoll/combine/drop", test_drop);
    g_test_add_func("/extoll/combine/split", test_split);
    g_test_add_func("/extoll/combine/random", test_random);
    return g_test_run();
}
