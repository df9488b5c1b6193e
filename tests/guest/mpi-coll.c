/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collectives.  Each rank computes the expected result itself. */

#include <mpi.h>

#include "mpi-check.h"

#define MAX_COUNT 50000
static const int counts[] = { 1, 5, 11, 100, 1023, 2048, 4097, MAX_COUNT };
#define COUNTS ((int)(sizeof(counts) / sizeof(counts[0])))

static int64_t *in, *out;

static int64_t value(int from, int i)
{
    return (int64_t)from * 1000003 + i * 7 + 1;
}

static void expect(const char *what, int n, int i, int64_t want)
{
    if (out[i] != want) {
        fail("%s of %d: [%d] is %lld, not %lld", what, n, i,
             (long long)out[i], (long long)want);
    }
}

static void mine(int n)
{
    int i;

    for (i = 0; i < n; i++) {
        in[i] = value(rank, i);
    }
    memset(out, 0xff, sizeof(*out) * MAX_COUNT * ranks);
}

static int64_t sum(int i)
{
    int64_t s = 0;
    int r;

    for (r = 0; r < ranks; r++) {
        s += value(r, i);
    }
    return s;
}

static void bcast(void)
{
    int c, i, root;

    for (c = 0; c < COUNTS; c++) {
        for (root = 0; root < ranks; root++) {
            mine(counts[c]);
            if (rank == root) {
                memcpy(out, in, counts[c] * sizeof(*in));
            }
            MPI_Bcast(out, counts[c], MPI_INT64_T, root, MPI_COMM_WORLD);
            for (i = 0; i < counts[c]; i++) {
                expect("bcast", counts[c], i, value(root, i));
            }
        }
    }
}

static void reduce(void)
{
    int c, i, root;

    for (c = 0; c < COUNTS; c++) {
        root = c % ranks;
        mine(counts[c]);
        MPI_Reduce(in, out, counts[c], MPI_INT64_T, MPI_SUM, root,
                   MPI_COMM_WORLD);
        for (i = 0; rank == root && i < counts[c]; i++) {
            expect("reduce", counts[c], i, sum(i));
        }
        mine(counts[c]);
        MPI_Allreduce(in, out, counts[c], MPI_INT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
        for (i = 0; i < counts[c]; i++) {
            expect("allreduce", counts[c], i, sum(i));
        }
        mine(counts[c]);
        MPI_Allreduce(in, out, counts[c], MPI_INT64_T, MPI_MAX,
                      MPI_COMM_WORLD);
        for (i = 0; i < counts[c]; i++) {
            expect("max", counts[c], i, value(ranks - 1, i));
        }
    }
}

static void gather_scatter(void)
{
    int64_t *all = malloc(sizeof(*all) * MAX_COUNT * ranks);
    int c, i, r, root;

    for (c = 0; c < COUNTS; c++) {
        root = (c + 1) % ranks;
        mine(counts[c]);
        MPI_Gather(in, counts[c], MPI_INT64_T, out, counts[c], MPI_INT64_T,
                   root, MPI_COMM_WORLD);
        for (i = 0; rank == root && i < counts[c] * ranks; i++) {
            expect("gather", counts[c], i, value(i / counts[c], i % counts[c]));
        }
        for (r = 0; r < ranks; r++) {
            for (i = 0; i < counts[c]; i++) {
                all[r * counts[c] + i] = value(r + 10, i);
            }
        }
        mine(counts[c]);
        MPI_Scatter(all, counts[c], MPI_INT64_T, out, counts[c], MPI_INT64_T,
                    root, MPI_COMM_WORLD);
        for (i = 0; i < counts[c]; i++) {
            expect("scatter", counts[c], i, value(rank + 10, i));
        }
        mine(counts[c]);
        MPI_Allgather(in, counts[c], MPI_INT64_T, out, counts[c], MPI_INT64_T,
                      MPI_COMM_WORLD);
        for (i = 0; i < counts[c] * ranks; i++) {
            expect("allgather", counts[c], i,
                   value(i / counts[c], i % counts[c]));
        }
    }
    free(all);
}

/* Each pair of ranks exchanges a different amount. */
static void alltoall(void)
{
    int sc[64], sd[64], rc[64], rd[64], r, i, n = 0, m = 0;
    int64_t *all = malloc(sizeof(*all) * MAX_COUNT * ranks);

    for (r = 0; r < ranks; r++) {
        sc[r] = 1 + ((rank * 5 + r * 3) * 997) % 9000;
        rc[r] = 1 + ((r * 5 + rank * 3) * 997) % 9000;
        sd[r] = n;
        rd[r] = m;
        n += sc[r];
        m += rc[r];
        for (i = 0; i < sc[r]; i++) {
            all[sd[r] + i] = value(rank * 64 + r, i);
        }
    }
    mine(1);
    MPI_Alltoallv(all, sc, sd, MPI_INT64_T, out, rc, rd, MPI_INT64_T,
                  MPI_COMM_WORLD);
    for (r = 0; r < ranks; r++) {
        for (i = 0; i < rc[r]; i++) {
            expect("alltoallv", rc[r], rd[r] + i, value(r * 64 + rank, i));
        }
    }
    for (r = 0; r < ranks * 1000; r++) {
        all[r] = value(rank, r);
    }
    MPI_Alltoall(all, 1000, MPI_INT64_T, out, 1000, MPI_INT64_T,
                 MPI_COMM_WORLD);
    for (r = 0; r < ranks; r++) {
        for (i = 0; i < 1000; i++) {
            expect("alltoall", 1000, r * 1000 + i, value(r, rank * 1000 + i));
        }
    }
    free(all);
}

static void scans(void)
{
    int64_t want;
    int c, i, r;

    for (c = 0; c < COUNTS; c++) {
        mine(counts[c]);
        MPI_Scan(in, out, counts[c], MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (i = 0; i < counts[c]; i++) {
            for (want = 0, r = 0; r <= rank; r++) {
                want += value(r, i);
            }
            expect("scan", counts[c], i, want);
        }
        if (counts[c] * ranks > MAX_COUNT) {
            continue;
        }
        mine(counts[c] * ranks);
        MPI_Reduce_scatter_block(in, out, counts[c], MPI_INT64_T, MPI_SUM,
                                 MPI_COMM_WORLD);
        for (i = 0; i < counts[c]; i++) {
            expect("reduce_scatter", counts[c], i, sum(rank * counts[c] + i));
        }
    }
}

static void nonblocking(void)
{
    int64_t *more = malloc(sizeof(*more) * 4096);
    MPI_Request req[3];
    int i;

    mine(4096);
    for (i = 0; i < 4096; i++) {
        more[i] = rank ? -1 : value(9, i);
    }
    MPI_Iallreduce(in, out, 4096, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD,
                   &req[0]);
    MPI_Ibcast(more, 4096, MPI_INT64_T, 0, MPI_COMM_WORLD, &req[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &req[2]);
    MPI_Waitall(3, req, MPI_STATUSES_IGNORE);
    for (i = 0; i < 4096; i++) {
        expect("iallreduce", 4096, i, sum(i));
        if (more[i] != value(9, i)) {
            fail("ibcast: [%d] is %lld", i, (long long)more[i]);
        }
    }
    free(more);
}

static void many_barriers(void)
{
    int i, n = 0, all;

    for (i = 0; i < 200; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        n++;
    }
    MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all != 200) {
        fail("%d barriers", all);
    }
}

static void split(void)
{
    MPI_Comm half;
    int n, r, s, want = 0;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Allreduce(&rank, &s, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_size(half, &n);
    for (r = rank % 2; r < ranks; r += 2) {
        want += r;
    }
    if (s != want) {
        fail("sum %d of a half of %d, not %d", s, n, want);
    }
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    in = malloc(sizeof(*in) * MAX_COUNT);
    out = malloc(sizeof(*out) * MAX_COUNT * ranks);
    subtest("barriers", many_barriers);
    subtest("bcast", bcast);
    subtest("reduce, allreduce", reduce);
    subtest("gather, scatter, allgather", gather_scatter);
    subtest("alltoall, alltoallv", alltoall);
    subtest("scan, reduce_scatter", scans);
    subtest("non-blocking collectives", nonblocking);
    subtest("split communicators", split);
    free(in);
    free(out);
    return finish();
}
