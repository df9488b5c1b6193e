/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the positions in a queue: order, ends of the array, an empty and a full queue. */
#include "qemu/osdep.h"
#include "hw/rnic/core/fifo.h"
#include "../../seed.h"

#define SIZE 5                      /* no power of two */

/* The queue fills, and empties in the same order, from each position of its head. */
static void test_order(void)
{
    for (unsigned first = 0; first < SIZE; first++) {
        RNicFifo f = { .head = first };

        for (unsigned n = 0; n < SIZE; n++) {
            g_assert_cmpuint(rnic_fifo_push(&f, SIZE), ==, (first + n) % SIZE);
            g_assert_cmpuint(f.count, ==, n + 1);
            g_assert_cmpuint(f.head, ==, first);
        }
        for (unsigned n = 0; n < SIZE; n++) {
            g_assert_cmpuint(rnic_fifo_at(&f, n, SIZE), ==, (first + n) % SIZE);
        }
        for (unsigned n = 0; n < SIZE; n++) {
            g_assert_cmpuint(rnic_fifo_pop(&f, SIZE), ==, (first + n) % SIZE);
            g_assert_cmpuint(f.count, ==, SIZE - n - 1);
        }
        g_assert_cmpuint(f.head, ==, first);
    }
}

/* An element before the oldest is the next to be removed. */
static void test_first(void)
{
    RNicFifo f = { 0 };

    g_assert_cmpuint(rnic_fifo_push_first(&f, SIZE), ==, SIZE - 1);
    g_assert_cmpuint(rnic_fifo_push(&f, SIZE), ==, 0);
    g_assert_cmpuint(rnic_fifo_push_first(&f, SIZE), ==, SIZE - 2);
    g_assert_cmpuint(f.count, ==, 3);
    g_assert_cmpuint(rnic_fifo_pop(&f, SIZE), ==, SIZE - 2);
    g_assert_cmpuint(rnic_fifo_pop(&f, SIZE), ==, SIZE - 1);
    g_assert_cmpuint(rnic_fifo_pop(&f, SIZE), ==, 0);
    g_assert_cmpuint(f.count, ==, 0);
    for (unsigned n = 0; n < SIZE; n++) {
        rnic_fifo_push_first(&f, SIZE);
    }
    g_assert_cmpuint(f.head, ==, 1);
    g_assert_cmpuint(f.count, ==, SIZE);
}

static void test_one(void)
{
    RNicFifo f = { 0 };

    for (unsigned n = 0; n < 3; n++) {
        g_assert_cmpuint(rnic_fifo_push(&f, 1), ==, 0);
        g_assert_cmpuint(rnic_fifo_pop(&f, 1), ==, 0);
        g_assert_cmpuint(rnic_fifo_push_first(&f, 1), ==, 0);
        g_assert_cmpuint(f.count, ==, 1);
        g_assert_cmpuint(rnic_fifo_pop(&f, 1), ==, 0);
        g_assert_cmpuint(f.count, ==, 0);
    }
}

/* Compares the queue with one of GLib. */
static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(1));
    unsigned values[SIZE];
    GQueue model = G_QUEUE_INIT;
    RNicFifo f = { 0 };

    for (unsigned n = 1; n <= 100000; n++) {
        unsigned action = g_rand_int_range(rand, 0, 4);

        if (action < 2 && f.count) {
            g_assert_cmpuint(values[rnic_fifo_pop(&f, SIZE)], ==,
                             GPOINTER_TO_UINT(g_queue_pop_head(&model)));
        } else if (action == 2 && f.count < SIZE) {
            values[rnic_fifo_push(&f, SIZE)] = n;
            g_queue_push_tail(&model, GUINT_TO_POINTER(n));
        } else if (action == 3 && f.count < SIZE) {
            values[rnic_fifo_push_first(&f, SIZE)] = n;
            g_queue_push_head(&model, GUINT_TO_POINTER(n));
        }
        g_assert_cmpuint(f.count, ==, g_queue_get_length(&model));
        g_assert_cmpuint(f.head, <, SIZE);
        for (unsigned i = 0; i < f.count; i++) {
            g_assert_cmpuint(values[rnic_fifo_at(&f, i, SIZE)], ==,
                             GPOINTER_TO_UINT(g_queue_peek_nth(&model, i)));
        }
    }
    g_queue_clear(&model);
}

/* Three wrong calls: elements for a full queue, and one of an empty queue. */
static void push_full(void)
{
    rnic_fifo_push(&(RNicFifo) { .head = 1, .count = SIZE }, SIZE);
}

static void push_first_full(void)
{
    rnic_fifo_push_first(&(RNicFifo) { .head = 1, .count = SIZE }, SIZE);
}

static void pop_empty(void)
{
    rnic_fifo_pop(&(RNicFifo) { .head = 1 }, SIZE);
}

/* The wrong call @opaque ends the program. */
static void test_wrong(gconstpointer opaque)
{
    void (*const *call)(void) = opaque;

    if (g_test_subprocess()) {
        (*call)();
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

int main(int argc, char **argv)
{
    static void (*const wrong[])(void) = { push_full, push_first_full, pop_empty };

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/fifo/order", test_order);
    g_test_add_func("/core/fifo/first", test_first);
    g_test_add_func("/core/fifo/one", test_one);
    g_test_add_func("/core/fifo/random", test_random);
    g_test_add_data_func("/core/fifo/push-full", &wrong[0], test_wrong);
    g_test_add_data_func("/core/fifo/push-first-full", &wrong[1], test_wrong);
    g_test_add_data_func("/core/fifo/pop-empty", &wrong[2], test_wrong);
    return g_test_run();
}
