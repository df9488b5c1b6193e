/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs of the accelerator with random data, and a C loop that computes the right result
 * of a job.
 */
#ifndef EXANET_ACCEL_H
#define EXANET_ACCEL_H

enum { MATRIX, X, Y, MAP1, MAP2, CELLS, ARRAYS };

typedef struct AccelJob {
    unsigned ndf1, ndf2, nlayers, cells;
    size_t bytes[ARRAYS];
    uint8_t *data[ARRAYS];          /* contents of each array, little-endian */
    uint64_t at[ARRAYS];            /* offset of each array in the memory of the job */
    uint64_t end;                   /* an offset behind the end of the last array */
    unsigned listed;                /* number of cells in array CELLS that the job does */
} AccelJob;

AccelJob *accel_job_new(unsigned ndf1, unsigned ndf2, unsigned nlayers, unsigned cells);
void accel_job_free(AccelJob *j);
/* Does job @j in C: adds the job's sums to the values in @j->data[Y]. */
void accel_job_reference(AccelJob *j);

#endif /* EXANET_ACCEL_H */
