/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Point-to-point messages of all sizes, alignments and modes. */

#include <mpi.h>
#include <unistd.h>

#include "mpi-check.h"

#define BIG (16 << 20)
#define SMALL_SIZES 36      /* first entries of edge_sizes, up to 64 KiB */

static const int offsets[][2] = { { 0, 0 }, { 1, 3 }, { 7, 0 }, { 8, 255 },
                                  { 63, 1 } };
#define OFFSETS ((int)(sizeof(offsets) / sizeof(offsets[0])))

static uint64_t seed(int from, int tag, int size)
{
    return (uint64_t)from << 48 ^ (uint64_t)tag << 32 ^ (unsigned)size;
}

static void send_one(int to, int tag, int size, int offset)
{
    uint8_t *buf = guarded_new(size, offset);

    fill(buf, size, seed(rank, tag, size));
    MPI_Send(buf, size, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    guarded_free(buf, size, offset, "send");
}

static void recv_one(int from, int tag, int size, int offset)
{
    uint8_t *buf = guarded_new(size, offset);
    MPI_Status st;
    int count;

    MPI_Recv(buf, size, MPI_BYTE, from, tag, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_BYTE, &count);
    if (count != size || st.MPI_TAG != tag || st.MPI_SOURCE != from) {
        fail("%d bytes with tag %d from %d, not %d with %d from %d", count,
             st.MPI_TAG, st.MPI_SOURCE, size, tag, from);
    }
    check(buf, size, seed(from, tag, size), "recv");
    guarded_free(buf, size, offset, "recv");
}

static void echo(int size, int src, int dst, int tag)
{
    int peer;

    for (peer = 1; peer < ranks; peer++) {
        if (!rank) {
            send_one(peer, tag, size, src);
            recv_one(peer, tag, size, dst);
        } else if (rank == peer) {
            recv_one(0, tag, size, dst);
            send_one(0, tag, size, src);
        }
    }
}

static void blocking(void)
{
    int i, o;

    for (i = 0; i < EDGES; i++) {
        for (o = 0; o < OFFSETS; o++) {
            echo(edge_sizes[i], offsets[o][0], offsets[o][1], i * OFFSETS + o);
        }
    }
}

static void every_small_size(void)
{
    int size;

    for (size = 0; size <= 300; size++) {
        echo(size, size % 8, (size / 3) % 16, 1000 + size);
    }
}

static void big(void)
{
    static const int sizes[] = { BIG - 1, BIG, 4 * 1000 * 1000 + 3 };
    int i;

    for (i = 0; i < 3; i++) {
        echo(sizes[i], 1 + i, 5 * i, 2000 + i);
    }
}

/*
 * Sends all messages around the ring at once.  They are received in the order of posting.
 */
static void nonblocking(void)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Request req[2 * SMALL_SIZES];
    uint8_t *in[SMALL_SIZES], *out[SMALL_SIZES];
    int i, round;

    for (round = 0; round < 5; round++) {
        for (i = 0; i < SMALL_SIZES; i++) {
            in[i] = guarded_new(edge_sizes[i], i);
            out[i] = guarded_new(edge_sizes[i], i / 2);
            fill(out[i], edge_sizes[i], seed(rank, round, i));
        }
        for (i = 0; i < SMALL_SIZES; i++) {
            MPI_Irecv(in[i], edge_sizes[i], MPI_BYTE, from, 7, MPI_COMM_WORLD,
                      &req[i]);
        }
        for (i = 0; i < SMALL_SIZES; i++) {
            MPI_Isend(out[i], edge_sizes[i], MPI_BYTE, to, 7, MPI_COMM_WORLD,
                      &req[SMALL_SIZES + i]);
        }
        MPI_Waitall(2 * SMALL_SIZES, req, MPI_STATUSES_IGNORE);
        for (i = 0; i < SMALL_SIZES; i++) {
            check(in[i], edge_sizes[i], seed(from, round, i), "irecv");
            guarded_free(in[i], edge_sizes[i], i, "irecv");
            guarded_free(out[i], edge_sizes[i], i / 2, "isend");
        }
    }
}

/* All messages are sent before the receives are posted, which are in reverse order. */
static void unexpected(void)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    MPI_Request req[SMALL_SIZES];
    uint8_t *out[SMALL_SIZES];
    int i;

    for (i = 0; i < SMALL_SIZES; i++) {
        out[i] = guarded_new(edge_sizes[i], 3);
        fill(out[i], edge_sizes[i], seed(rank, i, edge_sizes[i]));
        MPI_Isend(out[i], edge_sizes[i], MPI_BYTE, to, i, MPI_COMM_WORLD,
                  &req[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = SMALL_SIZES - 1; i >= 0; i--) {
        recv_one(from, i, edge_sizes[i], i % 5);
    }
    MPI_Waitall(SMALL_SIZES, req, MPI_STATUSES_IGNORE);
    for (i = 0; i < SMALL_SIZES; i++) {
        guarded_free(out[i], edge_sizes[i], 3, "isend");
    }
}

#define ORDER_COUNT 400

static int order_size(int i)
{
    static const int sizes[] = { 8, 9000, 100, 0, 20000, 41, 8168, 40, 300 };

    return sizes[i % 9];
}

/* Small, medium and large messages of one tag must not overtake each other. */
static void order(void)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    static MPI_Request req[ORDER_COUNT];
    static uint8_t *out[ORDER_COUNT];
    int i;

    for (i = 0; i < ORDER_COUNT; i++) {
        out[i] = guarded_new(order_size(i), i % 3);
        fill(out[i], order_size(i), seed(rank, 5, i));
        MPI_Isend(out[i], order_size(i), MPI_BYTE, to, 5, MPI_COMM_WORLD,
                  &req[i]);
    }
    for (i = 0; i < ORDER_COUNT; i++) {
        uint8_t *in = guarded_new(20000, i % 7);
        MPI_Status st;
        int count;

        MPI_Recv(in, 20000, MPI_BYTE, from, 5, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_BYTE, &count);
        if (count != order_size(i)) {
            fail("message %d has %d bytes, not %d", i, count, order_size(i));
        } else {
            check(in, count, seed(from, 5, i), "in order");
        }
        guarded_free(in, 20000, i % 7, "in order");
    }
    MPI_Waitall(ORDER_COUNT, req, MPI_STATUSES_IGNORE);
    for (i = 0; i < ORDER_COUNT; i++) {
        guarded_free(out[i], order_size(i), i % 3, "isend");
    }
}

static void probe_recv(int i, int manner)
{
    MPI_Message msg = MPI_MESSAGE_NULL;
    MPI_Status st;
    int flag = 0, count;
    uint8_t *in;

    if (manner == 0) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    } else if (manner == 1) {
        while (!flag) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
        }
    } else {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &msg, &st);
    }
    MPI_Get_count(&st, MPI_BYTE, &count);
    in = guarded_new(count, i % 4);
    if (manner == 2) {
        MPI_Mrecv(in, count, MPI_BYTE, &msg, &st);
    } else {
        MPI_Recv(in, count, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG,
                 MPI_COMM_WORLD, &st);
    }
    if (count != edge_sizes[st.MPI_TAG]) {
        fail("tag %d brought %d bytes", st.MPI_TAG, count);
    }
    check(in, count, seed(st.MPI_SOURCE, st.MPI_TAG, count), "probe");
    guarded_free(in, count, i % 4, "probe");
}

static void any_source_and_probe(void)
{
    int i, n = SMALL_SIZES * (ranks - 1);

    if (rank) {
        for (i = 0; i < SMALL_SIZES; i++) {
            send_one(0, i, edge_sizes[i], 2);
        }
        return;
    }
    for (i = 0; i < n; i++) {
        probe_recv(i, i % 3);
    }
}

static void synchronous(void)
{
    int i;

    for (i = 0; i < SMALL_SIZES; i++) {
        if (rank % 2 && rank < ranks) {
            uint8_t *buf = guarded_new(edge_sizes[i], 1);

            fill(buf, edge_sizes[i], seed(rank, i, edge_sizes[i]));
            MPI_Ssend(buf, edge_sizes[i], MPI_BYTE, rank - 1, i,
                      MPI_COMM_WORLD);
            guarded_free(buf, edge_sizes[i], 1, "ssend");
        } else if (rank + 1 < ranks) {
            recv_one(rank + 1, i, edge_sizes[i], 0);
        }
    }
}

static void truncation(void)
{
    static const int sizes[] = { 30, 5000, 100000 };
    uint8_t *in;
    int i, err, class;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < 3; i++) {
        if (rank == 1) {
            send_one(0, i, sizes[i], 0);
        } else if (!rank) {
            in = guarded_new(sizes[i] / 2, 0);
            err = MPI_Recv(in, sizes[i] / 2, MPI_BYTE, 1, i, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
            MPI_Error_class(err, &class);
            if (class != MPI_ERR_TRUNCATE) {
                fail("%d bytes into %d: error class %d", sizes[i],
                     sizes[i] / 2, class);
            }
            guarded_free(in, sizes[i] / 2, 0, "truncated");
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    echo(1000, 0, 0, 77);
}

#define FLOOD 3000

/* More messages than any ring holds, to a rank that sleeps first. */
static void many_to_one(void)
{
    int i, n, count[64] = { 0 };
    uint32_t word[8];
    MPI_Status st;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank) {
        for (i = 0; i < FLOOD; i++) {
            memset(word, i, sizeof(word));
            word[0] = i;
            MPI_Send(word, sizeof(word), MPI_BYTE, 0, 9, MPI_COMM_WORLD);
        }
        return;
    }
    usleep(300000);
    for (n = 0; n < FLOOD * (ranks - 1); n++) {
        MPI_Recv(word, sizeof(word), MPI_BYTE, MPI_ANY_SOURCE, 9,
                 MPI_COMM_WORLD, &st);
        i = count[st.MPI_SOURCE]++;
        if (word[0] != (uint32_t)i || (word[7] & 0xff) != (i & 0xffU)) {
            fail("message %d of %d is %u", i, st.MPI_SOURCE, word[0]);
        }
    }
}

static void to_self(void)
{
    uint8_t *in, *out;
    int i;

    for (i = 0; i < EDGES; i++) {
        in = guarded_new(edge_sizes[i], 1);
        out = guarded_new(edge_sizes[i], 2);
        fill(out, edge_sizes[i], seed(rank, 3, i));
        MPI_Sendrecv(out, edge_sizes[i], MPI_BYTE, rank, 3, in, edge_sizes[i],
                     MPI_BYTE, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(in, edge_sizes[i], seed(rank, 3, i), "self");
        guarded_free(in, edge_sizes[i], 1, "self");
        guarded_free(out, edge_sizes[i], 2, "self");
    }
}

/* Sends and receives 24 of each 48 bytes. */
static void strided(void)
{
    static const int blocks[] = { 1, 3, 100, 1000, 20000 };
    int peer = rank ^ 1, i, b;
    MPI_Datatype type;
    uint8_t *in, *out;

    for (i = 0; i < 5 && peer < ranks; i++) {
        size_t bytes = (size_t)blocks[i] * 48;

        MPI_Type_vector(blocks[i], 24, 48, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        in = guarded_new(bytes, 5);
        out = guarded_new(bytes, 9);
        memset(in, 0, bytes);
        fill(out, bytes, seed(rank, 4, i));
        MPI_Sendrecv(out, 1, type, peer, 4, in, 1, type, peer, 4,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fill(out, bytes, seed(peer, 4, i));
        for (b = 0; b < blocks[i]; b++) {
            if (memcmp(in + b * 48, out + b * 48, 24)) {
                fail("block %d of %d is wrong", b, blocks[i]);
                break;
            }
        }
        guarded_free(in, bytes, 5, "strided");
        guarded_free(out, bytes, 9, "strided");
        MPI_Type_free(&type);
    }
}

/* Sends in both directions at once, by all ranks. */
static void exchange_big(void)
{
    int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
    uint8_t *in = guarded_new(BIG, 13), *out = guarded_new(BIG, 4);

    fill(out, BIG, seed(rank, 6, 0));
    MPI_Sendrecv(out, BIG, MPI_BYTE, to, 6, in, BIG, MPI_BYTE, from, 6,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in, BIG, seed(from, 6, 0), "exchange");
    guarded_free(in, BIG, 13, "exchange");
    guarded_free(out, BIG, 4, "exchange");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    subtest("blocking, sizes around edges, unaligned", blocking);
    subtest("blocking, every size up to 300", every_small_size);
    subtest("16 MiB", big);
    subtest("16 MiB both ways at once", exchange_big);
    subtest("non-blocking", nonblocking);
    subtest("unexpected messages", unexpected);
    subtest("order", order);
    subtest("any source, probe, iprobe, mprobe", any_source_and_probe);
    subtest("synchronous send", synchronous);
    subtest("truncation", truncation);
    subtest("many to one", many_to_one);
    subtest("to self", to_self);
    subtest("strided datatypes", strided);
    return finish();
}
