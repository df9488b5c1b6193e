/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Seeds of random tests; see seed.h. */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "seed.h"

uint32_t random_seed(uint32_t fixed)
{
    const char *fresh = getenv("RNIC_TEST_SEED");
    unsigned add = 0;
    uint32_t seed;

    if (fresh) {
        g_assert_cmpint(qemu_strtoui(fresh, NULL, 0, &add), ==, 0);
    }
    seed = fixed + add;
    g_test_message("random seed %u; again: RNIC_TEST_SEED=%s", seed,
                   fresh ? fresh : "0");
    return seed;
}
