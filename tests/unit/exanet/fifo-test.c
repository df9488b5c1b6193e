/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The RX FIFO of a virtual channel: frames are put, words are taken, memory grows and
 * shrinks.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/rnic/exanet/link/link-fifo.h"
#include "rnic/exanet/wire.h"
#include "../../seed.h"

#define FRAME_MAX 4352              /* words of the longest frame of a netdev */

/* Writes word number @n of the test's stream to @word. */
static void word_put(uint8_t *word, uint32_t n)
{
    memset(word, n, EXANET_WORD_BYTES);
    stl_le_p(word, n);
}

/* Returns a frame of the words @first to @first + @count - 1; the caller frees it. */
static uint8_t *frame_new(uint32_t first, unsigned count)
{
    uint8_t *words = g_malloc(count * EXANET_WORD_BYTES);

    for (unsigned i = 0; i < count; i++) {
        word_put(words + i * EXANET_WORD_BYTES, first + i);
    }
    return words;
}

static void frame_put(ExanetFifo *f, uint32_t first, unsigned count)
{
    g_autofree uint8_t *words = frame_new(first, count);

    exanet_fifo_put(f, words, count);
}

/* Takes @count words; asserts that they are the words @first, @first + 1, ... */
static void words_take(ExanetFifo *f, uint32_t first, unsigned count)
{
    const uint8_t *head = exanet_fifo_head(f);

    g_assert_nonnull(head);
    g_assert_cmpuint(f->left, >=, count);
    for (unsigned i = 0; i < count; i++) {
        uint8_t want[EXANET_WORD_BYTES];

        word_put(want, first + i);
        g_assert_cmpmem(head + i * EXANET_WORD_BYTES, sizeof(want), want,
                        sizeof(want));
    }
    exanet_fifo_skip(f, count);
}

static void test_frames(void)
{
    ExanetFifo f = { };

    g_assert_null(exanet_fifo_head(&f));
    frame_put(&f, 0, 10);
    frame_put(&f, 10, 1);
    g_assert_cmpuint(f.count, ==, 11);
    g_assert_cmpuint(exanet_fifo_used(&f), ==, 13);
    words_take(&f, 0, 4);
    g_assert_cmpuint(f.left, ==, 6);
    words_take(&f, 4, 6);
    words_take(&f, 10, 1);
    g_assert_null(exanet_fifo_head(&f));
    g_assert_cmpuint(exanet_fifo_used(&f), ==, 0);
    exanet_fifo_fini(&f);
}

/* A frame that is put while the head is in use does not change the head. */
static void test_put_behind_head(void)
{
    ExanetFifo f = { };

    frame_put(&f, 0, 5);
    g_assert_nonnull(exanet_fifo_head(&f));
    frame_put(&f, 5, 5);
    g_assert_cmpuint(f.left, ==, 5);
    words_take(&f, 0, 5);
    words_take(&f, 5, 5);
    g_assert_cmpuint(f.count, ==, 0);
    exanet_fifo_fini(&f);
}

/* Lends a frame to the empty FIFO, takes its first @taken words, and frees the frame. */
static void frame_lend(ExanetFifo *f, uint32_t first, unsigned count, unsigned taken)
{
    g_autofree uint8_t *words = frame_new(first, count);

    exanet_fifo_borrow(f, words, count);
    words_take(f, first, taken);
    exanet_fifo_keep(f);
}

/* A borrowed frame needs no memory, and exanet_fifo_keep() copies only what is left. */
static void test_borrow(void)
{
    g_autofree uint8_t *words = frame_new(0, 10);
    ExanetFifo f = { };

    /* the FIFO has more memory than it needs; exanet_fifo_trim() may free it */
    for (unsigned i = 0; i < 20; i++) {
        frame_put(&f, 0, FRAME_MAX);
    }
    exanet_fifo_clear(&f);
    exanet_fifo_borrow(&f, words, 10);
    g_assert_true(exanet_fifo_head(&f) == words);
    g_assert_cmpuint(f.count, ==, 10);
    g_assert_cmpuint(exanet_fifo_used(&f), ==, 0);
    words_take(&f, 0, 4);
    exanet_fifo_trim(&f);
    g_assert_true(exanet_fifo_head(&f) == words + 4 * EXANET_WORD_BYTES);
    exanet_fifo_keep(&f);
    memset(words, 0xff, 10 * EXANET_WORD_BYTES);
    g_assert_cmpuint(f.count, ==, 6);
    g_assert_cmpuint(exanet_fifo_used(&f), ==, 7);
    exanet_fifo_keep(&f);
    words_take(&f, 4, 5);
    frame_put(&f, 10, 1);
    words_take(&f, 9, 1);
    words_take(&f, 10, 1);
    g_assert_null(exanet_fifo_head(&f));
    exanet_fifo_fini(&f);
}

/* The words of a borrowed frame come before those of a frame that is put behind it. */
static void test_put_behind_borrowed(void)
{
    g_autofree uint8_t *words = frame_new(0, 3);
    ExanetFifo f = { };

    exanet_fifo_borrow(&f, words, 3);
    words_take(&f, 0, 1);
    frame_put(&f, 3, 2);
    memset(words, 0xff, 3 * EXANET_WORD_BYTES);
    words_take(&f, 1, 2);
    words_take(&f, 3, 2);
    /* a borrowed frame that is read to its end, or removed, leaves nothing */
    exanet_fifo_borrow(&f, words, 1);
    exanet_fifo_skip(&f, 1);
    g_assert_null(exanet_fifo_head(&f));
    exanet_fifo_borrow(&f, words, 2);
    exanet_fifo_clear(&f);
    exanet_fifo_keep(&f);
    g_assert_cmpuint(f.count, ==, 0);
    g_assert_null(exanet_fifo_head(&f));
    exanet_fifo_fini(&f);
}

/* Random puts and takes keep the order.  The memory depends on the words in the FIFO. */
static void test_mixture(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(3));
    ExanetFifo f = { };
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
        } else if (exanet_fifo_head(&f)) {
            unsigned count = g_rand_int_range(rand, 1, f.left + 1);

            words_take(&f, out, count);
            out += count;
        }
        g_assert_cmpuint(f.count, ==, in - out);
        g_assert_cmpuint(f.tail, <=, f.size);
        g_assert_cmpuint(f.size, <=, 4 * (f.count + 65536));
        if (round % 3 == 0) {
            exanet_fifo_trim(&f);
            g_assert_cmpuint(f.size, <=, MAX(16384, 8 * exanet_fifo_used(&f)));
        }
    }
    while (exanet_fifo_head(&f)) {
        unsigned count = f.left;

        words_take(&f, out, count);
        out += count;
    }
    g_assert_cmpuint(out, ==, in);
    exanet_fifo_fini(&f);
}

static void test_memory(void)
{
    ExanetFifo f = { };
    unsigned small;

    frame_put(&f, 0, FRAME_MAX);
    small = f.size;
    words_take(&f, 0, FRAME_MAX);
    exanet_fifo_trim(&f);
    g_assert_cmpuint(f.size, ==, small);
    for (unsigned i = 0; i < 60; i++) {
        frame_put(&f, i * FRAME_MAX, FRAME_MAX);
    }
    g_assert_cmpuint(f.size, >, small);
    exanet_fifo_trim(&f);           /* the FIFO keeps memory while it is well filled */
    for (unsigned i = 0; i < 59; i++) {
        words_take(&f, i * FRAME_MAX, FRAME_MAX);
    }
    /* one waiting word does not keep the memory of many words */
    words_take(&f, 59 * FRAME_MAX, FRAME_MAX - 1);
    exanet_fifo_trim(&f);
    g_assert_cmpuint(f.size, ==, small);
    words_take(&f, 60 * FRAME_MAX - 1, 1);
    for (unsigned i = 0; i < 60; i++) {
        frame_put(&f, i * FRAME_MAX, FRAME_MAX);
    }
    words_take(&f, 0, FRAME_MAX);
    exanet_fifo_clear(&f);
    g_assert_null(exanet_fifo_head(&f));
    exanet_fifo_trim(&f);
    g_assert_null(f.buf);
    frame_put(&f, 7, 3);
    words_take(&f, 7, 3);
    exanet_fifo_fini(&f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/link-fifo/frames", test_frames);
    g_test_add_func("/exanet/link-fifo/put-behind-head", test_put_behind_head);
    g_test_add_func("/exanet/link-fifo/borrow", test_borrow);
    g_test_add_func("/exanet/link-fifo/put-behind-borrowed", test_put_behind_borrowed);
    g_test_add_func("/exanet/link-fifo/mixture", test_mixture);
    g_test_add_func("/exanet/link-fifo/memory", test_memory);
    return g_test_run();
}
