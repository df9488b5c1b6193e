/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The RX FIFO of a virtual channel: frames are put, words are taken, memory grows and
 * shrinks.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/link/port-fifo.h"
#include "../../seed.h"

#define FRAME_MAX 4352              /* words of the longest frame of a netdev */

/* Writes word number @n of the test's stream to @word. */
static void word_put(uint8_t *word, uint32_t n)
{
    memset(word, n, RNIC_LINK_WORD);
    stl_le_p(word, n);
}

/* Returns a frame of the words @first to @first + @count - 1; the caller frees it. */
static uint8_t *frame_new(uint32_t first, unsigned count)
{
    uint8_t *words = g_malloc(count * RNIC_LINK_WORD);

    for (unsigned i = 0; i < count; i++) {
        word_put(words + i * RNIC_LINK_WORD, first + i);
    }
    return words;
}

static void frame_put(RNicPortFifo *f, uint32_t first, unsigned count)
{
    g_autofree uint8_t *words = frame_new(first, count);

    rnic_port_fifo_put(f, words, count);
}

/* Takes @count words; asserts that they are the words @first, @first + 1, ... */
static void words_take(RNicPortFifo *f, uint32_t first, unsigned count)
{
    const uint8_t *head = rnic_port_fifo_head(f);

    g_assert_nonnull(head);
    g_assert_cmpuint(f->left, >=, count);
    for (unsigned i = 0; i < count; i++) {
        uint8_t want[RNIC_LINK_WORD];

        word_put(want, first + i);
        g_assert_cmpmem(head + i * RNIC_LINK_WORD, sizeof(want), want,
                        sizeof(want));
    }
    rnic_port_fifo_skip(f, count);
}

static void test_frames(void)
{
    RNicPortFifo f = { };

    g_assert_null(rnic_port_fifo_head(&f));
    frame_put(&f, 0, 10);
    frame_put(&f, 10, 1);
    g_assert_cmpuint(f.count, ==, 11);
    g_assert_cmpuint(rnic_port_fifo_used(&f), ==, 13);
    words_take(&f, 0, 4);
    g_assert_cmpuint(f.left, ==, 6);
    words_take(&f, 4, 6);
    words_take(&f, 10, 1);
    g_assert_null(rnic_port_fifo_head(&f));
    g_assert_cmpuint(rnic_port_fifo_used(&f), ==, 0);
    rnic_port_fifo_fini(&f);
}

/* A frame that is put while the head is in use does not change the head. */
static void test_put_behind_head(void)
{
    RNicPortFifo f = { };

    frame_put(&f, 0, 5);
    g_assert_nonnull(rnic_port_fifo_head(&f));
    frame_put(&f, 5, 5);
    g_assert_cmpuint(f.left, ==, 5);
    words_take(&f, 0, 5);
    words_take(&f, 5, 5);
    g_assert_cmpuint(f.count, ==, 0);
    rnic_port_fifo_fini(&f);
}

/* Lends a frame to the empty FIFO, takes its first @taken words, and frees the frame. */
static void frame_lend(RNicPortFifo *f, uint32_t first, unsigned count, unsigned taken)
{
    g_autofree uint8_t *words = frame_new(first, count);

    rnic_port_fifo_borrow(f, words, count);
    words_take(f, first, taken);
    rnic_port_fifo_keep(f);
}

/* A borrowed frame needs no memory; rnic_port_fifo_keep() copies only what is left. */
static void test_borrow(void)
{
    g_autofree uint8_t *words = frame_new(0, 10);
    RNicPortFifo f = { };

    /* the FIFO has more memory than it needs; rnic_port_fifo_trim() may free it */
    for (unsigned i = 0; i < 20; i++) {
        frame_put(&f, 0, FRAME_MAX);
    }
    rnic_port_fifo_clear(&f);
    rnic_port_fifo_borrow(&f, words, 10);
    g_assert_true(rnic_port_fifo_head(&f) == words);
    g_assert_cmpuint(f.count, ==, 10);
    g_assert_cmpuint(rnic_port_fifo_used(&f), ==, 0);
    words_take(&f, 0, 4);
    rnic_port_fifo_trim(&f);
    g_assert_true(rnic_port_fifo_head(&f) == words + 4 * RNIC_LINK_WORD);
    rnic_port_fifo_keep(&f);
    memset(words, 0xff, 10 * RNIC_LINK_WORD);
    g_assert_cmpuint(f.count, ==, 6);
    g_assert_cmpuint(rnic_port_fifo_used(&f), ==, 7);
    rnic_port_fifo_keep(&f);
    words_take(&f, 4, 5);
    frame_put(&f, 10, 1);
    words_take(&f, 9, 1);
    words_take(&f, 10, 1);
    g_assert_null(rnic_port_fifo_head(&f));
    rnic_port_fifo_fini(&f);
}

/* The words of a borrowed frame come before those of a frame that is put behind it. */
static void test_put_behind_borrowed(void)
{
    g_autofree uint8_t *words = frame_new(0, 3);
    RNicPortFifo f = { };

    rnic_port_fifo_borrow(&f, words, 3);
    words_take(&f, 0, 1);
    frame_put(&f, 3, 2);
    memset(words, 0xff, 3 * RNIC_LINK_WORD);
    words_take(&f, 1, 2);
    words_take(&f, 3, 2);
    /* a borrowed frame that is read to its end, or removed, leaves nothing */
    rnic_port_fifo_borrow(&f, words, 1);
    rnic_port_fifo_skip(&f, 1);
    g_assert_null(rnic_port_fifo_head(&f));
    rnic_port_fifo_borrow(&f, words, 2);
    rnic_port_fifo_clear(&f);
    rnic_port_fifo_keep(&f);
    g_assert_cmpuint(f.count, ==, 0);
    g_assert_null(rnic_port_fifo_head(&f));
    rnic_port_fifo_fini(&f);
}

/* Random puts and takes keep the order.  The memory depends on the words in the FIFO. */
static void test_mixture(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(3));
    RNicPortFifo f = { };
    uint32_t in = 0, out = 0;

    for (unsigned round = 0; round < 4000; round++) {
        /* the FIFO grows in the first half, and shrinks in the second */
        bool put = g_rand_int_range(rand, 0, 10) < (round < 2000 ? 6 : 4);

        if (put) {
            unsigned count = g_rand_int_range(rand, 1, round % 7 ? 200 :
                                              FRAME_MAX);

            if (f.count) {
                frame_put(&f, in, count);
            } else {
                frame_lend(&f, in, count, g_rand_int_range(rand, 0, count + 1));
                out += count - f.count;
            }
            in += count;
        } else if (rnic_port_fifo_head(&f)) {
            unsigned count = g_rand_int_range(rand, 1, f.left + 1);

            words_take(&f, out, count);
            out += count;
        }
        g_assert_cmpuint(f.count, ==, in - out);
        g_assert_cmpuint(f.tail, <=, f.size);
        g_assert_cmpuint(f.size, <=, 4 * (f.count + 65536));
        if (round % 3 == 0) {
            rnic_port_fifo_trim(&f);
            g_assert_cmpuint(f.size, <=, MAX(16384, 8 * rnic_port_fifo_used(&f)));
        }
    }
    while (rnic_port_fifo_head(&f)) {
        unsigned count = f.left;

        words_take(&f, out, count);
        out += count;
    }
    g_assert_cmpuint(out, ==, in);
    rnic_port_fifo_fini(&f);
}

static void test_memory(void)
{
    RNicPortFifo f = { };
    unsigned small;

    frame_put(&f, 0, FRAME_MAX);
    small = f.size;
    words_take(&f, 0, FRAME_MAX);
    rnic_port_fifo_trim(&f);
    g_assert_cmpuint(f.size, ==, small);
    for (unsigned i = 0; i < 60; i++) {
        frame_put(&f, i * FRAME_MAX, FRAME_MAX);
    }
    g_assert_cmpuint(f.size, >, small);
    rnic_port_fifo_trim(&f);        /* the FIFO keeps memory while it is well filled */
    for (unsigned i = 0; i < 59; i++) {
        words_take(&f, i * FRAME_MAX, FRAME_MAX);
    }
    /* one waiting word does not keep the memory of many words */
    words_take(&f, 59 * FRAME_MAX, FRAME_MAX - 1);
    rnic_port_fifo_trim(&f);
    g_assert_cmpuint(f.size, ==, small);
    words_take(&f, 60 * FRAME_MAX - 1, 1);
    for (unsigned i = 0; i < 60; i++) {
        frame_put(&f, i * FRAME_MAX, FRAME_MAX);
    }
    words_take(&f, 0, FRAME_MAX);
    rnic_port_fifo_clear(&f);
    g_assert_null(rnic_port_fifo_head(&f));
    rnic_port_fifo_trim(&f);
    g_assert_null(f.buf);
    frame_put(&f, 7, 3);
    words_take(&f, 7, 3);
    rnic_port_fifo_fini(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/link/port-fifo/frames", test_frames);
    g_test_add_func("/link/port-fifo/put-behind-head", test_put_behind_head);
    g_test_add_func("/link/port-fifo/borrow", test_borrow);
    g_test_add_func("/link/port-fifo/put-behind-borrowed", test_put_behind_borrowed);
    g_test_add_func("/link/port-fifo/mixture", test_mixture);
    g_test_add_func("/link/port-fifo/memory", test_memory);
    return g_test_run();
}
