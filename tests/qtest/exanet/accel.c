/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs of the accelerator; see accel.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <math.h>
#include "accel.h"

#define COLUMNS 7                   /* columns of elements that a cell may share in x */

static double get_double(const uint8_t *p)
{
    uint64_t bits = ldq_le_p(p);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void put_double(uint8_t *p, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    stq_le_p(p, bits);
}

static uint32_t map_get(const AccelJob *j, unsigned array, unsigned cell, unsigned df)
{
    unsigned ndf = array == MAP1 ? j->ndf1 : j->ndf2;

    return ldl_le_p(j->data[array] + 4 * (cell * ndf + df));
}

/*
 * Fills a map as the model does.  A cell has degrees of freedom on its lower face and
 * on its upper face; those of the upper face are in the same column, one layer up.
 * Cells share columns of x (MAP2); each column of y belongs to one cell.
 */
static void fill_map(AccelJob *j, unsigned array, GRand *rand)
{
    unsigned ndf = array == MAP1 ? j->ndf1 : j->ndf2;
    unsigned column = j->nlayers + 1;

    for (unsigned c = 0; c < j->cells; c++) {
        for (unsigned df = 0; df < ndf; df++) {
            uint32_t at = (c * ndf + df / 2 * 2) * column + (df & 1);

            if (array == MAP2) {
                at = g_rand_int_range(rand, 0, COLUMNS) * column + (df & 1);
            }
            stl_le_p(j->data[array] + 4 * (c * ndf + df), at);
        }
    }
}

static void fill_doubles(uint8_t *p, size_t bytes, GRand *rand)
{
    for (size_t i = 0; i < bytes; i += 8) {
        /*
         * values of very different sizes, so that another order of additions changes
         * the sum
         */
        put_double(p + i, ldexp(g_rand_double_range(rand, -1, 1),
                                g_rand_int_range(rand, -20, 20)));
    }
}

/* Lists every cell of @j once, in random order. */
static void fill_cells(AccelJob *j, GRand *rand)
{
    for (unsigned i = 0; i < j->cells; i++) {
        stl_le_p(j->data[CELLS] + 4 * i, i);
    }
    for (unsigned i = j->cells - 1; i; i--) {
        unsigned k = g_rand_int_range(rand, 0, i + 1);
        uint32_t cell = ldl_le_p(j->data[CELLS] + 4 * i);

        stl_le_p(j->data[CELLS] + 4 * i, ldl_le_p(j->data[CELLS] + 4 * k));
        stl_le_p(j->data[CELLS] + 4 * k, cell);
    }
}

AccelJob *accel_job_new(unsigned ndf1, unsigned ndf2, unsigned nlayers, unsigned cells)
{
    GRand *rand = g_rand_new_with_seed(ndf1 * 1000 + ndf2 * 100 + nlayers);
    AccelJob *j = g_new0(AccelJob, 1);

    *j = (AccelJob) {
        .ndf1 = ndf1, .ndf2 = ndf2, .nlayers = nlayers, .cells = cells,
        .listed = cells,
        .bytes = {
            [MATRIX] = 8 * cells * nlayers * ndf1 * ndf2,
            [X] = 8 * COLUMNS * (nlayers + 1),
            [Y] = 8 * (cells * ndf1 + 1) * (nlayers + 1),
            [MAP1] = 4 * cells * ndf1,
            [MAP2] = 4 * cells * ndf2,
            [CELLS] = 4 * cells,
        },
        .end = 0x40,
    };
    for (unsigned i = 0; i < ARRAYS; i++) {
        j->data[i] = g_malloc0(j->bytes[i]);
        j->at[i] = j->end;
        j->end = ROUND_UP(j->end + j->bytes[i], 8) + 8 * i;
        if (i < MAP1) {
            fill_doubles(j->data[i], j->bytes[i], rand);
        }
    }
    fill_map(j, MAP1, rand);
    fill_map(j, MAP2, rand);
    fill_cells(j, rand);
    g_rand_free(rand);
    return j;
}

void accel_job_free(AccelJob *j)
{
    for (unsigned i = 0; i < ARRAYS; i++) {
        g_free(j->data[i]);
    }
    g_free(j);
}

/* Updates y of one cell in j->data by the loop of rnic/exanet/shm.h. */
static void reference(AccelJob *j, unsigned cell)
{
    const uint8_t *row = j->data[MATRIX] +
                         8 * (size_t)cell * j->nlayers * j->ndf1 * j->ndf2;

    for (unsigned k = 0; k < j->nlayers; k++) {
        for (unsigned df1 = 0; df1 < j->ndf1; df1++) {
            uint8_t *y = j->data[Y] + 8 * (map_get(j, MAP1, cell, df1) + k);
            double sum = 0;

            for (unsigned df2 = 0; df2 < j->ndf2; df2++, row += 8) {
                /* volatile, so that every host rounds the product before the addition */
                volatile double product = get_double(row) *
                    get_double(j->data[X] +
                               8 * (map_get(j, MAP2, cell, df2) + k));

                sum += product;
            }
            put_double(y, get_double(y) + sum);
        }
    }
}

void accel_job_reference(AccelJob *j)
{
    for (unsigned i = 0; i < j->listed; i++) {
        reference(j, ldl_le_p(j->data[CELLS] + 4 * i));
    }
}
