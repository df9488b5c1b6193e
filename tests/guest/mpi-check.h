/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For MPI test programs: subtests with TAP output on rank 0, patterns that depend on the
 * position, and buffers with guards.
 */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 64
#define GUARD_BYTE 0xa5

static int rank, ranks;
static int subtests, failures, failed;

/* Sizes (bytes) around the limits of packets, pages, blocks and protocols. */
static const int edge_sizes[] = {
    0, 1, 7, 8, 15, 39, 40, 41, 44, 45, 56, 57, 63, 64, 65, 128, 255, 256, 257,
    511, 513, 1000, 4071, 4072, 4095, 4096, 4097, 8167, 8168, 8169, 8191, 8192,
    8193, 12287, 16359, 16360, 16361, 16383, 16384, 16385, 32767, 32769, 65535,
    65536, 65537, 262143, 262144, 262145, 1048575, 1048576, 1048577,
};
#define EDGES ((int)(sizeof(edge_sizes) / sizeof(edge_sizes[0])))
#define EDGE_MAX 1048577

/*
 * Counts a mismatch that this rank has found, and prints the first five mismatches of
 * this rank in each subtest.
 */
static inline void __attribute__((format(printf, 1, 2)))
fail(const char *format, ...)
{
    va_list args;

    if (failed++ < 5) {
        printf("# rank %d: ", rank);
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        printf("\n");
        fflush(stdout);
    }
}

static inline void start_at(int argc, char **argv, int level)
{
    int have;

    MPI_Init_thread(&argc, &argv, level, &have);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline void start(int argc, char **argv)
{
    start_at(argc, argv, MPI_THREAD_SINGLE);
}

static inline void start_threads(int argc, char **argv)
{
    start_at(argc, argv, MPI_THREAD_MULTIPLE);
}

/* Runs a subtest on all ranks.  The subtest is ok if no rank has a mismatch. */
static inline void subtest(const char *name, void (*run)(void))
{
    int all;
    double from = MPI_Wtime();

    failed = 0;
    run();
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    subtests++;
    failures += all != 0;
    if (!rank) {
        printf("%sok %d - %s # %.1f s\n", all ? "not " : "", subtests, name,
               MPI_Wtime() - from);
        fflush(stdout);
    }
}

static inline int finish(void)
{
    if (!rank) {
        printf("1..%d\n", subtests);
        fflush(stdout);
    }
    MPI_Finalize();
    return failures != 0;
}

static inline uint64_t mix(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ULL +
                 i * 0xd1342543de82ef95ULL;

    return x ^ x >> 29;
}

static inline void fill(void *buf, size_t len, uint64_t seed)
{
    uint8_t *p = buf;
    uint64_t word;
    size_t i;

    for (i = 0; i + 8 <= len; i += 8) {
        word = mix(seed, i);
        memcpy(p + i, &word, 8);
    }
    word = mix(seed, i);
    memcpy(p + i, &word, len - i);
}

static inline void check(const void *buf, size_t len, uint64_t seed,
                         const char *what)
{
    const uint8_t *p = buf;
    uint64_t word, have;
    size_t i;

    for (i = 0; i + 8 <= len; i += 8) {
        word = mix(seed, i);
        memcpy(&have, p + i, 8);
        if (have != word) {
            fail("%s: %zu bytes: byte %zu.. is %016llx, not %016llx", what, len,
                 i, (unsigned long long)have, (unsigned long long)word);
            return;
        }
    }
    word = mix(seed, i);
    if (memcmp(p + i, &word, len - i)) {
        fail("%s: %zu bytes: the last %zu are wrong", what, len, len - i);
    }
}

/*
 * Returns a buffer of @len bytes between two guards of GUARD bytes.  The buffer
 * begins @offset bytes behind a multiple of GUARD.  guarded_free() frees the buffer.
 */
static inline uint8_t *guarded_new(size_t len, size_t offset)
{
    uint8_t *base = NULL;

    if (posix_memalign((void **)&base, 4096, len + offset + 2 * GUARD)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(base, GUARD_BYTE, GUARD + offset);
    memset(base + GUARD + offset + len, GUARD_BYTE, GUARD);
    return base + GUARD + offset;
}

/*
 * Checks the guards of @buf, which guarded_new() has returned for @len and @offset,
 * and frees the buffer.
 */
static inline void guarded_free(uint8_t *buf, size_t len, size_t offset,
                                const char *what)
{
    int i;

    for (i = 1; i <= GUARD; i++) {
        if (buf[-i] != GUARD_BYTE) {
            fail("%s: %zu bytes: wrote %d before the buffer", what, len, i);
            break;
        }
    }
    for (i = 0; i < GUARD; i++) {
        if (buf[len + i] != GUARD_BYTE) {
            fail("%s: %zu bytes: wrote %d behind the buffer", what, len, i);
            break;
        }
    }
    free(buf - GUARD - offset);
}

#endif /* MPI_CHECK_H */
