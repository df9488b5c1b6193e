/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One-sided communication: put, get, accumulate, atomics, locks. */

#include <mpi.h>

#include "mpi-check.h"

#define WIN_BYTES (2 << 20)

static MPI_Win win;
static uint8_t *mem;

static int right(void)
{
    return (rank + 1) % ranks;
}

static int left(void)
{
    return (rank + ranks - 1) % ranks;
}

static void clear(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mem, 0, WIN_BYTES);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Puts each edge size at an odd offset of the right rank, and gets it back. */
static void put_get(void)
{
    uint8_t *buf;
    int i, size, at;

    for (i = 0; i < EDGES; i++) {
        size = edge_sizes[i];
        at = (i * 37) % 300;
        clear();
        buf = guarded_new(size, i % 9);
        fill(buf, size, (uint64_t)rank << 32 | i);
        MPI_Win_fence(0, win);
        MPI_Put(buf, size, MPI_BYTE, right(), at, size, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        check(mem + at, size, (uint64_t)left() << 32 | i, "put");
        if ((at && mem[at - 1]) || mem[at + size]) {
            fail("put of %d touched its neighbours", size);
        }
        memset(buf, 0, size);
        MPI_Get(buf, size, MPI_BYTE, right(), at, size, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        check(buf, size, (uint64_t)rank << 32 | i, "get");
        guarded_free(buf, size, i % 9, "put and get");
    }
}

/* Many operations are under way in one lock epoch, with flushes. */
static void passive(void)
{
    uint8_t *out = guarded_new(200 * 1000, 1), *in = guarded_new(200 * 1000, 2);
    int i;

    clear();
    fill(out, 200 * 1000, 100 + rank);
    MPI_Win_lock_all(0, win);
    for (i = 0; i < 200; i++) {
        MPI_Put(out + i * 1000, 1000, MPI_BYTE, right(), i * 1000, 1000,
                MPI_BYTE, win);
    }
    MPI_Win_flush(right(), win);
    for (i = 0; i < 200; i++) {
        MPI_Get(in + i * 1000, 1000, MPI_BYTE, right(), i * 1000, 1000,
                MPI_BYTE, win);
    }
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    check(in, 200 * 1000, 100 + rank, "passive");
    guarded_free(in, 200 * 1000, 2, "passive");
    guarded_free(out, 200 * 1000, 1, "passive");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void accumulate(void)
{
    int64_t *vals = (int64_t *)mem, add[1000];
    int i, r, want;

    clear();
    for (i = 0; i < 1000; i++) {
        add[i] = rank + i;
    }
    MPI_Win_fence(0, win);
    for (r = 0; r < ranks; r++) {
        MPI_Accumulate(add, 1000, MPI_INT64_T, r, 0, 1000, MPI_INT64_T,
                       MPI_SUM, win);
    }
    MPI_Win_fence(0, win);
    for (i = 0; i < 1000; i++) {
        want = ranks * (ranks - 1) / 2 + ranks * i;
        if (vals[i] != want) {
            fail("accumulate: [%d] is %lld, not %d", i, (long long)vals[i],
                 want);
            break;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

#define ROUNDS 200

/* All ranks increment a counter of rank 0.  Each value is fetched exactly once. */
static void fetch_and_op(void)
{
    static char seen[64 * ROUNDS];
    int64_t one = 1, old, total;
    int i, n = 0;

    clear();
    memset(seen, 0, sizeof(seen));
    MPI_Win_lock_all(0, win);
    for (i = 0; i < ROUNDS; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (old < 0 || old >= ranks * ROUNDS || seen[old]) {
            fail("fetched %lld", (long long)old);
        } else {
            seen[old] = 1;
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, seen, ranks * ROUNDS, MPI_CHAR, MPI_SUM,
                  MPI_COMM_WORLD);
    for (i = 0; i < ranks * ROUNDS; i++) {
        n += seen[i] == 1;
    }
    if (n != ranks * ROUNDS) {
        fail("%d of %d values were seen once", n, ranks * ROUNDS);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&total, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock(0, win);
    if (total != ranks * ROUNDS) {
        fail("total is %lld", (long long)total);
    }
}

/* A lock made of compare-and-swap protects a counter that is changed by get and put. */
static void compare_and_swap(void)
{
    int64_t zero = 0, me = rank + 1, old, count;
    int i;

    clear();
    MPI_Win_lock_all(0, win);
    for (i = 0; i < 20; i++) {
        do {
            MPI_Compare_and_swap(&me, &zero, &old, MPI_INT64_T, 0, 0, win);
            MPI_Win_flush(0, win);
        } while (old);
        MPI_Get(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        count++;
        MPI_Put(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
        MPI_Win_flush(0, win);
        MPI_Compare_and_swap(&zero, &me, &old, MPI_INT64_T, 0, 0, win);
        MPI_Win_flush(0, win);
        if (old != me) {
            fail("the lock was %lld's", (long long)old);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&count, 1, MPI_INT64_T, 0, 64, 1, MPI_INT64_T, win);
    MPI_Win_unlock(0, win);
    if (count != 20 * ranks) {
        fail("count is %lld, not %d", (long long)count, 20 * ranks);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Reads, changes and writes a counter under an exclusive lock, also of the own rank. */
static void exclusive_lock(void)
{
    int32_t count;
    int i, target;

    clear();
    for (i = 0; i < 20; i++) {
        target = i % ranks;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&count, 1, MPI_INT32_T, target, 12, 1, MPI_INT32_T, win);
        MPI_Win_flush(target, win);
        count++;
        MPI_Put(&count, 1, MPI_INT32_T, target, 12, 1, MPI_INT32_T, win);
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    memcpy(&count, mem + 12, sizeof(count));
    MPI_Win_unlock(rank, win);
    i = (20 / ranks + (rank < 20 % ranks)) * ranks;
    if (count != i) {
        fail("count is %d, not %d", count, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void get_accumulate(void)
{
    double add[50], got[50];
    double *vals = (double *)(mem + 4096);
    int i, n;

    clear();
    for (n = 0; n < 10; n++) {
        for (i = 0; i < 50; i++) {
            add[i] = 0.5 * (i + 1);
        }
        MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
        MPI_Get_accumulate(add, 50, MPI_DOUBLE, got, 50, MPI_DOUBLE, right(),
                           4096, 50, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_unlock(right(), win);
        for (i = 0; i < 50; i++) {
            if (got[i] != 0.5 * (i + 1) * n) {
                fail("round %d: [%d] was %f", n, i, got[i]);
                break;
            }
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (i = 0; i < 50; i++) {
        if (vals[i] != 5.0 * (i + 1)) {
            fail("[%d] is %f", i, vals[i]);
            break;
        }
    }
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Only the two partners synchronize. */
static void post_start(void)
{
    MPI_Group world, to, from;
    uint8_t *buf = guarded_new(70000, 3);
    int r = right(), l = left();

    clear();
    fill(buf, 70000, 300 + rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &r, &to);
    MPI_Group_incl(world, 1, &l, &from);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Put(buf, 70000, MPI_BYTE, r, 11, 70000, MPI_BYTE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check(mem + 11, 70000, 300 + l, "post and start");
    guarded_free(buf, 70000, 3, "post and start");
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Runs each operator by all ranks at once on the same 300 elements of rank 0. */
static void operators(void)
{
    static const MPI_Op ops[] = {
        MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR,
    };
    uint32_t mine[300], want, begin = 0x00ff0f33;
    uint32_t *vals = (uint32_t *)(mem + 8);
    int i, r, op;

    for (op = 0; op < 6; op++) {
        clear();
        for (i = 0; i < 300; i++) {
            mine[i] = mix(op, i * 64 + rank) >> 7 | 1;
        }
        if (!rank) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            for (i = 0; i < 300; i++) {
                vals[i] = begin;
            }
            MPI_Win_unlock(0, win);
        }
        MPI_Win_fence(0, win);
        MPI_Accumulate(mine, 300, MPI_UINT32_T, 0, 8, 300, MPI_UINT32_T,
                       ops[op], win);
        MPI_Win_fence(0, win);
        for (i = 0; !rank && i < 300; i++) {
            want = begin;
            for (r = 0; r < ranks; r++) {
                mine[0] = mix(op, i * 64 + r) >> 7 | 1;
                MPI_Reduce_local(mine, &want, 1, MPI_UINT32_T, ops[op]);
            }
            if (vals[i] != want) {
                fail("operator %d: [%d] is %x, not %x", op, i, vals[i], want);
                break;
            }
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Atomics on 4 bytes in both halves of a word; replace; fetch without a change. */
static void narrow_atomics(void)
{
    int32_t me = rank, old, one = 1, minus = -1, none = 0, counts[4];
    int i, half = rank & 1;

    clear();
    MPI_Win_lock_all(0, win);
    for (i = 0; i < 50; i++) {
        MPI_Fetch_and_op(half ? &minus : &one, &old, MPI_INT32_T, 0,
                         8 + 4 * half, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Fetch_and_op(&me, &old, MPI_INT32_T, right(), 64, MPI_REPLACE, win);
    MPI_Win_flush(right(), win);
    if (old) {
        fail("replaced %d, not 0", old);
    }
    MPI_Fetch_and_op(&none, &old, MPI_INT32_T, right(), 64, MPI_NO_OP, win);
    MPI_Win_flush(right(), win);
    if (old != rank) {
        fail("read %d, not %d", old, rank);
    }
    MPI_Compare_and_swap(&minus, &me, &old, MPI_INT32_T, right(), 64, win);
    MPI_Compare_and_swap(&one, &me, &none, MPI_INT32_T, right(), 64, win);
    MPI_Win_flush(right(), win);
    if (old != rank || none != -1) {
        fail("swapped %d and %d, not %d and -1", old, none, rank);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(counts, 4, MPI_INT32_T, 0, 4, 4, MPI_INT32_T, win);
    MPI_Win_unlock(0, win);
    if (counts[0] || counts[1] != (ranks + 1) / 2 * 50 ||
        counts[2] != -(ranks / 2) * 50 || counts[3]) {
        fail("counts are %d %d %d %d", counts[0], counts[1], counts[2],
             counts[3]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Waits for each request on its own, the last request first. */
static void requests(void)
{
    uint8_t *out = guarded_new(20 * 3000, 5), *in = guarded_new(20 * 3000, 6);
    MPI_Request request[20];
    int i;

    clear();
    fill(out, 20 * 3000, 400 + rank);
    MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win);
    for (i = 0; i < 20; i++) {
        MPI_Rput(out + i * 3000, 3000, MPI_BYTE, right(), 1 + i * 3000, 3000,
                 MPI_BYTE, win, &request[i]);
    }
    MPI_Waitall(20, request, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right(), win);
    for (i = 0; i < 20; i++) {
        MPI_Rget(in + i * 3000, 3000, MPI_BYTE, right(), 1 + i * 3000, 3000,
                 MPI_BYTE, win, &request[i]);
    }
    for (i = 19; i >= 0; i--) {
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
    MPI_Win_unlock(right(), win);
    check(in, 20 * 3000, 400 + rank, "requests");
    guarded_free(in, 20 * 3000, 6, "requests");
    guarded_free(out, 20 * 3000, 5, "requests");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Puts every second element of the own rank to every third element of the right rank. */
static void strided(void)
{
    int32_t out[1000], *vals = (int32_t *)mem;
    MPI_Datatype second, third;
    int i, want;

    clear();
    for (i = 0; i < 1000; i++) {
        out[i] = rank * 1000 + i;
    }
    MPI_Type_vector(500, 1, 2, MPI_INT32_T, &second);
    MPI_Type_vector(500, 1, 3, MPI_INT32_T, &third);
    MPI_Type_commit(&second);
    MPI_Type_commit(&third);
    MPI_Win_fence(0, win);
    MPI_Put(out, 1, second, right(), 0, 1, third, win);
    MPI_Win_fence(0, win);
    for (i = 0; i < 1500; i++) {
        want = i % 3 ? 0 : left() * 1000 + i / 3 * 2;
        if (vals[i] != want) {
            fail("strided: [%d] is %d, not %d", i, vals[i], want);
            break;
        }
    }
    MPI_Type_free(&second);
    MPI_Type_free(&third);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A window over existing memory, with a different size on each rank. */
static void created(void)
{
    size_t bytes = 5000 + 1000 * rank;
    uint8_t *own = guarded_new(bytes, 7), *buf = guarded_new(5000, 3);
    MPI_Win other;

    memset(own, 0, bytes);
    fill(buf, 5000, 500 + rank);
    MPI_Win_create(own, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right(), 0, other);
    MPI_Put(buf, 5000, MPI_BYTE, right(), 1000 * right(), 5000, MPI_BYTE,
            other);
    MPI_Win_unlock(right(), other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, other);
    check(own + 1000 * rank, 5000, 500 + left(), "created");
    MPI_Win_unlock(rank, other);
    MPI_Win_free(&other);
    guarded_free(buf, 5000, 3, "created");
    guarded_free(own, bytes, 7, "created");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    MPI_Win_allocate(WIN_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    subtest("put and get, sizes around edges, unaligned", put_get);
    subtest("many puts and gets under a lock", passive);
    subtest("accumulate", accumulate);
    subtest("get_accumulate", get_accumulate);
    subtest("fetch_and_op", fetch_and_op);
    subtest("compare_and_swap", compare_and_swap);
    subtest("exclusive lock", exclusive_lock);
    subtest("post, start, complete, wait", post_start);
    subtest("operators", operators);
    subtest("atomics of 4 bytes, replace, no operation", narrow_atomics);
    subtest("requests", requests);
    subtest("strided datatypes", strided);
    subtest("window over own memory", created);
    MPI_Win_free(&win);
    return finish();
}
