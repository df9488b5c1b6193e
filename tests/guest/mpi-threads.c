/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several threads of each rank exchange messages with those of the next rank, all at
 * once.
 */

#include <mpi.h>
#include <pthread.h>

#include "mpi-check.h"

#define THREADS 3
#define SIZES 40        /* number of entries of edge_sizes that are used */
#define ROUNDS 3

struct thread {
    pthread_t id;
    int number;
    int bad;
};

static void exchange(struct thread *t, int i, int round)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    size_t size = edge_sizes[i];
    uint8_t *in = malloc(size + 1), *out = malloc(size + 1);
    uint64_t seed = (uint64_t)t->number << 32 | round << 16 | i;
    MPI_Request req;

    fill(out, size, seed + ((uint64_t)rank << 40));
    MPI_Irecv(in, size, MPI_BYTE, from, t->number, MPI_COMM_WORLD, &req);
    MPI_Send(out, size, MPI_BYTE, to, t->number, MPI_COMM_WORLD);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    fill(out, size, seed + ((uint64_t)from << 40));
    t->bad += memcmp(in, out, size) != 0;
    free(in);
    free(out);
}

static void *run(void *arg)
{
    struct thread *t = arg;
    int i, round;

    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < SIZES; i++) {
            exchange(t, (i + t->number * 7) % SIZES, round);
        }
    }
    return NULL;
}

static void threads(void)
{
    struct thread t[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        t[i].number = i;
        t[i].bad = 0;
        if (pthread_create(&t[i].id, NULL, run, &t[i])) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(t[i].id, NULL);
        if (t[i].bad) {
            fail("thread %d: %d messages are wrong", i, t[i].bad);
        }
    }
}

static void level(void)
{
    int have;

    MPI_Query_thread(&have);
    if (have != MPI_THREAD_MULTIPLE) {
        fail("thread level is %d", have);
    }
}

int main(int argc, char **argv)
{
    start_threads(argc, argv);
    subtest("MPI_THREAD_MULTIPLE", level);
    subtest("threads", threads);
    return finish();
}
