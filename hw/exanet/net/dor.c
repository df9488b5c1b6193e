/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dimension-order routing; see dor.h. */
#include "qemu/osdep.h"
#include "dor.h"

bool exanet_dor_order_valid(const uint8_t *order)
{
    unsigned seen = 0;

    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        seen |= 1u << order[i];
    }
    return seen == (1u << EXANET_DIMENSIONS) - 1;
}

void exanet_dor_init(ExanetDor *dor, const uint8_t *ring, const uint8_t *order)
{
    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        bool valid = ring[i] >= EXANET_DOR_RING_MIN && ring[i] <= EXANET_DOR_SIDE_MAX;

        dor->ring[i] = valid ? ring[i] : 0;
        dor->order[i] = order[i];
    }
}

bool exanet_dor_has(const ExanetDor *dor, unsigned dim, unsigned c)
{
    return !dor->ring[dim] || c < dor->ring[dim];
}

/* Returns the number of coordinates that dimension @dim has. */
static unsigned dor_side(const ExanetDor *dor, unsigned dim)
{
    return dor->ring[dim] ?: EXANET_DOR_SIDE_MAX;
}

unsigned exanet_dor_next(const ExanetDor *dor, unsigned dim, unsigned c, bool plus)
{
    unsigned n = dor_side(dor, dim);

    return plus ? (c + 1) % n : (c + n - 1) % n;
}

/*
 * Returns true if the step from coordinate @c, upwards if @plus is true, otherwise
 * downwards, is between the last coordinate and 0.
 */
static bool dor_wraps(const ExanetDor *dor, unsigned dim, unsigned c, bool plus)
{
    return c == (plus ? dor_side(dor, dim) - 1 : 0);
}

bool exanet_dor_cable(const ExanetDor *dor, unsigned dim, unsigned c, bool plus)
{
    return exanet_dor_has(dor, dim, c) &&
           (dor->ring[dim] || !dor_wraps(dor, dim, c, plus));
}

/*
 * Returns true if the route from coordinate @c of dimension @dim to another coordinate @d
 * goes upwards.
 */
static bool dor_plus(const ExanetDor *dor, unsigned dim, unsigned c, unsigned d)
{
    unsigned n = dor->ring[dim];
    unsigned direct = d > c ? d - c : c - d;

    return n && 2 * direct > n ? d < c : d > c;
}

bool exanet_dor_step(const ExanetDor *dor, const uint8_t *at, const uint8_t *to,
                     bool reverse, ExanetDorStep *step)
{
    for (unsigned i = 0; i < EXANET_DIMENSIONS; i++) {
        unsigned dim = dor->order[reverse ? EXANET_DIMENSIONS - 1 - i : i];
        unsigned c = at[dim], d = to[dim];
        bool plus = dor_plus(dor, dim, c, d);

        if (c == d) {
            continue;
        }
        *step = (ExanetDorStep) {
            .dim = dim,
            .plus = plus,
            .wrap = dor_wraps(dor, dim, c, plus),
            .next = exanet_dor_next(dor, dim, c, plus),
        };
        return exanet_dor_has(dor, dim, c) && exanet_dor_has(dor, dim, d);
    }
    *step = (ExanetDorStep) { .next = at[0] };
    return false;
}
