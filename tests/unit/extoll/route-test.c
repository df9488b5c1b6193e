/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routing strings, against vectors and against strings that lead nowhere. */
#include "qemu/osdep.h"
#include "extoll-vectors.h"
#include "../../seed.h"

static void test_vector_encode(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(route_vectors); i++) {
        g_assert_cmphex(extoll_route_encode(route_vectors[i].hops,
                                            route_vectors[i].characters), ==,
                        route_vectors[i].route);
    }
}

/* Crossbars count each string down to its unit. */
static void test_vector_steps(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(route_vectors); i++) {
        uint64_t route = route_vectors[i].route;
        unsigned last = route_vectors[i].steps - 1;
        unsigned output, vc;

        for (unsigned n = 0; n < last; n++) {
            g_assert_cmpint(extoll_route_step(&route, &output, &vc), ==,
                            EXTOLL_ROUTE_LINK);
            g_assert_cmpuint(output, ==, route_vectors[i].outputs[n]);
            g_assert_cmpuint(vc, ==, route_vectors[i].vcs[n]);
        }
        g_assert_cmpint(extoll_route_step(&route, &output, &vc), ==, EXTOLL_ROUTE_UNIT);
        g_assert_cmpuint(output, ==, route_vectors[i].outputs[last]);
        g_assert_cmphex(route, ==, 0);
        g_assert_cmpint(extoll_route_step(&route, &output, &vc), ==, EXTOLL_ROUTE_NONE);
    }
}

static ExtollRouteStatus step(uint64_t route)
{
    uint64_t after = route;
    unsigned output = 77, vc = 77;
    ExtollRouteStatus status = extoll_route_step(&after, &output, &vc);

    if (status == EXTOLL_ROUTE_NONE || status == EXTOLL_ROUTE_BAD) {
        g_assert_cmphex(after, ==, route);
        g_assert_cmpuint(output, ==, 77);
        g_assert_cmpuint(vc, ==, 77);
    }
    return status;
}

/* All first characters, alone and in front of another character. */
static void test_characters(void)
{
    for (unsigned c = 0; c < 0x10000; c++) {
        unsigned output = c & 15, hops0 = c >> 4 & 63, hops1 = c >> 10;
        bool unit = output == 8 || output == 9;
        ExtollRouteStatus alone = EXTOLL_ROUTE_BAD, more;

        if (!hops0 && !hops1) {
            alone = EXTOLL_ROUTE_NONE;
        } else if (output < 6) {
            alone = EXTOLL_ROUTE_LINK;
        } else if (unit && hops0 + hops1 == 1) {
            alone = EXTOLL_ROUTE_UNIT;
        }
        more = alone == EXTOLL_ROUTE_UNIT ? EXTOLL_ROUTE_BAD : alone;
        g_assert_cmpint(step(c), ==, alone);
        g_assert_cmpint(step(c | 0x180000), ==, more);
    }
}

/* Any string ends after at most as many hops as it has. */
static void test_ends(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(3));

    for (unsigned i = 0; i < 100000; i++) {
        uint64_t route = (uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand);
        unsigned steps = 0, output, vc;

        while (extoll_route_step(&route, &output, &vc) == EXTOLL_ROUTE_LINK) {
            g_assert_cmpuint(output, <, EXTOLL_LINKS);
            g_assert_cmpuint(vc, <, EXTOLL_VCS);
            steps++;
        }
        g_assert_cmpuint(steps, <=, 4 * 2 * EXTOLL_ROUTE_HOPS_MAX);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/route/vector-encode", test_vector_encode);
    g_test_add_func("/extoll/route/vector-steps", test_vector_steps);
    g_test_add_func("/extoll/route/characters", test_characters);
    g_test_add_func("/extoll/route/ends", test_ends);
    return g_test_run();
}
