/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs of the accelerator with random data, and their results, computed by a C loop. */
#ifndef EXANET_ACCEL_H
#define EXANET_ACCEL_H

enum { MATRIX, X, Y, MAP1, MAP2, CELLS, ARRAYS };

typedef struct AccelJob {
    unsigned ndf1, ndf2, nlayers, cells;
    size_t bytes[ARRAYS];
    uint8_t *data[ARRAYS];          /* contents of the arrays, little-endian */
    uint64_t at[ARRAYS];            /* offset of each array in memory or block RAM */
    uint64_t end;                   /* an offset behind the last array */
    unsigned listed;                /* number of cells in the list CELLS */
} AccelJob;

AccelJob *accel_job_new(unsigned ndf1, unsigned ndf2, unsigned nlayers, unsigned cells);
void accel_job_free(AccelJob *j);
/* Does the whole job in j->data, and changes only j->data[Y]. */
void accel_job_reference(AccelJob *j);

#endif /* EXANET_ACCEL_H */
