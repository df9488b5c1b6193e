/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dimension-order routing: steps of rings and meshes, orders, and the dateline. */
#include "qemu/osdep.h"
#include "hw/rnic/exanet/net/dor.h"

#define X 0
#define Y 1
#define Z 2

static const uint8_t xyz[EXANET_DIMENSIONS] = { X, Y, Z };

/* Makes a torus with a ring of @n nodes in dimension Y, and meshes in the others. */
static void ring_init(ExanetDor *dor, unsigned n)
{
    const uint8_t ring[EXANET_DIMENSIONS] = { 0, n, 0 };

    exanet_dor_init(dor, ring, xyz);
}

/* Returns the step from @c to @d in dimension Y; asserts that it exists. */
static ExanetDorStep step_y(const ExanetDor *dor, unsigned c, unsigned d)
{
    const uint8_t at[] = { 7, c, 2 }, to[] = { 7, d, 2 };
    ExanetDorStep step, back;

    g_assert_true(exanet_dor_step(dor, at, to, false, &step));
    g_assert_true(exanet_dor_step(dor, at, to, true, &back));
    g_assert_cmpuint(step.dim, ==, Y);
    g_assert_cmpuint(step.next, ==, exanet_dor_next(dor, Y, c, step.plus));
    /* with one dimension left, both orders have the same step */
    g_assert_cmpuint(back.dim, ==, Y);
    g_assert_cmpuint(back.next, ==, step.next);
    g_assert_cmpint(back.wrap, ==, step.wrap);
    return step;
}

static void test_init(void)
{
    static const struct {
        uint8_t order[EXANET_DIMENSIONS];
        bool valid;
    } orders[] = {
        { { X, Y, Z }, true }, { { Z, Y, X }, true }, { { Y, Z, X }, true },
        { { X, X, Z }, false }, { { 0, 0, 0 }, false }, { { X, Y, 3 }, false },
    };
    ExanetDor dor;

    for (unsigned i = 0; i < ARRAY_SIZE(orders); i++) {
        g_assert_cmpint(exanet_dor_order_valid(orders[i].order), ==, orders[i].valid);
    }
    exanet_dor_init(&dor, (const uint8_t[]) { 2, 3, 16 }, orders[2].order);
    g_assert_cmpuint(dor.ring[X], ==, 0);
    g_assert_cmpuint(dor.ring[Y], ==, 3);
    g_assert_cmpuint(dor.ring[Z], ==, 16);
    g_assert_cmpuint(dor.order[0], ==, Y);
    g_assert_cmpuint(dor.order[1], ==, Z);
    g_assert_cmpuint(dor.order[2], ==, X);
    exanet_dor_init(&dor, (const uint8_t[]) { 0, 1, 17 }, xyz);
    g_assert_cmpuint(dor.ring[X] | dor.ring[Y] | dor.ring[Z], ==, 0);
}

/* In a mesh, packets go straight, and no cable wraps. */
static void test_mesh(void)
{
    ExanetDor dor;

    ring_init(&dor, 0);
    for (unsigned c = 0; c < EXANET_DOR_SIDE_MAX; c++) {
        g_assert_true(exanet_dor_has(&dor, Y, c));
        g_assert_cmpint(exanet_dor_cable(&dor, Y, c, true), ==,
                        c < EXANET_DOR_SIDE_MAX - 1);
        g_assert_cmpint(exanet_dor_cable(&dor, Y, c, false), ==, c > 0);
        for (unsigned d = 0; d < EXANET_DOR_SIDE_MAX; d++) {
            if (c != d) {
                ExanetDorStep step = step_y(&dor, c, d);

                g_assert_cmpint(step.plus, ==, d > c);
                g_assert_cmpuint(step.next, ==, d > c ? c + 1 : c - 1);
                g_assert_false(step.wrap);
            }
        }
    }
}

static void test_cables(void)
{
    ExanetDor dor;

    ring_init(&dor, 5);
    for (unsigned c = 0; c < EXANET_DOR_SIDE_MAX; c++) {
        g_assert_cmpint(exanet_dor_has(&dor, Y, c), ==, c < 5);
        g_assert_cmpint(exanet_dor_cable(&dor, Y, c, true), ==, c < 5);
        g_assert_cmpint(exanet_dor_cable(&dor, Y, c, false), ==, c < 5);
    }
    g_assert_cmpuint(exanet_dor_next(&dor, Y, 4, true), ==, 0);
    g_assert_cmpuint(exanet_dor_next(&dor, Y, 0, false), ==, 4);
    g_assert_cmpuint(exanet_dor_next(&dor, Y, 2, true), ==, 3);
    g_assert_cmpuint(exanet_dor_next(&dor, Y, 2, false), ==, 1);
    /* the other dimensions are meshes of any size */
    g_assert_true(exanet_dor_has(&dor, X, 15));
    g_assert_cmpuint(exanet_dor_next(&dor, X, 15, true), ==, 0);
    g_assert_false(exanet_dor_cable(&dor, X, 15, true));
}

/* In a ring, packets take the shorter direction, and do not wrap if both are equal. */
static void test_ring(void)
{
    for (unsigned n = EXANET_DOR_RING_MIN; n <= EXANET_DOR_SIDE_MAX; n++) {
        ExanetDor dor;

        ring_init(&dor, n);
        for (unsigned c = 0; c < n; c++) {
            for (unsigned d = 0; d < n; d++) {
                unsigned up = (d + n - c) % n, down = n - up, steps = 0;
                bool plus = up < down || (up == down && d > c);

                for (unsigned at = c; at != d; steps++) {
                    ExanetDorStep step = step_y(&dor, at, d);

                    g_assert_cmpint(step.plus, ==, plus);
                    g_assert_cmpint(step.wrap, ==, at == (plus ? n - 1 : 0));
                    at = step.next;
                }
                g_assert_cmpuint(steps, ==, c == d ? 0 : MIN(up, down));
            }
        }
    }
}

/* Follows a packet from @c to @d; returns its first step behind the dateline, 0: none. */
static unsigned dateline(const ExanetDor *dor, unsigned c, unsigned d)
{
    unsigned n = 0, first = 0;
    bool behind = false;

    while (c != d) {
        ExanetDorStep step = step_y(dor, c, d);

        behind = exanet_dor_behind(step.wrap, n > 0, behind);
        n++;
        if (behind && !first) {
            first = n;
        }
        /* a packet stays behind the dateline until it leaves the ring */
        g_assert_cmpint(behind, ==, first != 0);
        c = step.next;
    }
    return first;
}

/* Packets that wrap are behind the dateline from this step on: odd and even rings. */
static void test_dateline(void)
{
    static const struct {
        unsigned n, c, d, first;
    } routes[] = {
        { 5, 0, 2, 0 }, { 5, 0, 3, 1 }, { 5, 1, 4, 2 }, { 5, 3, 0, 2 }, { 5, 4, 1, 1 },
        { 5, 2, 4, 0 }, { 5, 4, 2, 0 },
        { 6, 0, 3, 0 }, { 6, 3, 0, 0 }, { 6, 5, 2, 0 }, { 6, 0, 4, 1 }, { 6, 4, 0, 2 },
        { 6, 5, 1, 1 }, { 6, 1, 5, 2 }, { 6, 2, 5, 0 },
        { 3, 0, 2, 1 }, { 3, 2, 0, 1 }, { 3, 0, 1, 0 }, { 4, 3, 0, 1 }, { 4, 1, 3, 0 },
        { 16, 14, 3, 2 }, { 16, 3, 14, 4 }, { 16, 0, 8, 0 }, { 16, 0, 9, 1 },
        { 0, 0, 15, 0 }, { 0, 15, 0, 0 },
    };
    ExanetDor dor;

    for (unsigned i = 0; i < ARRAY_SIZE(routes); i++) {
        ring_init(&dor, routes[i].n);
        g_assert_cmpuint(dateline(&dor, routes[i].c, routes[i].d), ==, routes[i].first);
    }
    /* the step into another dimension is before the dateline of that dimension */
    g_assert_false(exanet_dor_behind(false, false, true));
    g_assert_true(exanet_dor_behind(true, false, false));
    g_assert_true(exanet_dor_behind(false, true, true));
    g_assert_false(exanet_dor_behind(false, true, false));
}

/*
 * A packet behind the dateline has less than half of the ring left, so it does not reach
 * the dateline again, and packets behind the dateline cannot wait in a circle.
 */
static void test_behind(void)
{
    for (unsigned n = EXANET_DOR_RING_MIN; n <= EXANET_DOR_SIDE_MAX; n++) {
        ExanetDor dor;

        ring_init(&dor, n);
        for (unsigned c = 0; c < n; c++) {
            for (unsigned d = 0; d < n; d++) {
                unsigned first = dateline(&dor, c, d);
                unsigned up = (d + n - c) % n;

                if (first) {
                    g_assert_cmpuint(MIN(up, n - up) - first, <, n / 2);
                }
            }
        }
    }
}

/* Dimensions have the given order, or the reversed order. */
static void test_order(void)
{
    static const uint8_t order[] = { Y, Z, X };
    const uint8_t from[] = { 1, 2, 3 }, to[] = { 3, 1, 3 };
    ExanetDor dor;

    exanet_dor_init(&dor, (const uint8_t[]) { 0, 0, 4 }, order);
    for (unsigned reverse = 0; reverse < 2; reverse++) {
        static const uint8_t dims[2][3] = { { Y, X, X }, { X, X, Y } };
        uint8_t at[EXANET_DIMENSIONS];
        ExanetDorStep step;

        memcpy(at, from, sizeof(at));
        for (unsigned i = 0; i < 3; i++) {
            g_assert_true(exanet_dor_step(&dor, at, to, reverse, &step));
            g_assert_cmpuint(step.dim, ==, dims[reverse][i]);
            g_assert_cmpint(step.plus, ==, step.dim == X);
            at[step.dim] = step.next;
        }
        g_assert_cmpmem(at, sizeof(at), to, sizeof(to));
        g_assert_false(exanet_dor_step(&dor, at, to, reverse, &step));
    }
}

/* Coordinates outside of a ring have no route in this dimension. */
static void test_outside(void)
{
    const uint8_t in[] = { 0, 1, 0 }, out[] = { 0, 4, 0 }, far[] = { 1, 4, 0 };
    ExanetDorStep step;
    ExanetDor dor;

    ring_init(&dor, 4);
    g_assert_false(exanet_dor_step(&dor, in, out, false, &step));
    g_assert_false(exanet_dor_step(&dor, out, in, false, &step));
    /* the step in another dimension comes first, or comes last */
    g_assert_true(exanet_dor_step(&dor, in, far, false, &step));
    g_assert_cmpuint(step.dim, ==, X);
    g_assert_false(exanet_dor_step(&dor, in, far, true, &step));
    g_assert_true(exanet_dor_step(&dor, out, far, false, &step));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exanet/dor/init", test_init);
    g_test_add_func("/exanet/dor/mesh", test_mesh);
    g_test_add_func("/exanet/dor/cables", test_cables);
    g_test_add_func("/exanet/dor/ring", test_ring);
    g_test_add_func("/exanet/dor/dateline", test_dateline);
    g_test_add_func("/exanet/dor/behind", test_behind);
    g_test_add_func("/exanet/dor/order", test_order);
    g_test_add_func("/exanet/dor/outside", test_outside);
    return g_test_run();
}
