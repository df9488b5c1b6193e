/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ping-pong and stream between ranks 0 and 1, with a check of each byte.
 *
 *   mpi-pingpong [-m] [-t SECONDS] [SIZE]...
 *
 * -m prints one line for each size, for programs; -t is the time of each measurement.
 * Latency is half of a round trip.  Bandwidth is that of a stream with WINDOW messages
 * under way, which an empty answer ends.  Checks take time, so a separate pass makes
 * them, and the buffers are checked once more after the measurement.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW 8
#define CHECKED_ROUNDS 3
#define MAX_ROUNDS 100000

static const size_t default_sizes[] = {
	0, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304,
};

static int rank;
static unsigned char *out, *in;	/* WINDOW slots of `slot` bytes each */
static size_t slot;

/* Returns byte `i` of message `seq` of rank `from`. */
static unsigned char pattern(int from, unsigned int seq, size_t i)
{
	uint32_t x = (uint32_t)i * 2654435761u + seq * 40503u + from * 77u;

	return x >> 13;
}

static void fill(unsigned char *p, size_t size, unsigned int seq)
{
	for (size_t i = 0; i < size; i++)
		p[i] = pattern(rank, seq, i);
}

static void check(const unsigned char *p, size_t size, unsigned int seq)
{
	for (size_t i = 0; i < size; i++) {
		if (p[i] == pattern(!rank, seq, i))
			continue;
		fprintf(stderr, "rank %d: size %zu message %u byte %zu is "
			"0x%02x, not 0x%02x\n", rank, size, seq, i, p[i],
			pattern(!rank, seq, i));
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void round_trip(size_t size)
{
	if (rank == 0) {
		MPI_Send(out, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(in, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(in, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Send(out, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	}
}

/* Sends WINDOW messages from rank 0 to rank 1, then an empty answer. */
static void stream(size_t size)
{
	MPI_Request req[WINDOW];

	for (int i = 0; i < WINDOW; i++) {
		if (rank == 0)
			MPI_Isend(out + i * slot, size, MPI_BYTE, 1, 2,
				  MPI_COMM_WORLD, &req[i]);
		else
			MPI_Irecv(in + i * slot, size, MPI_BYTE, 0, 2,
				  MPI_COMM_WORLD, &req[i]);
	}
	MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
	if (rank == 0)
		MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	else
		MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
}

/*
 * Returns the mean seconds of one call of `once`.  Measures as many calls as fit into
 * `budget` seconds, but at least 4 and at most MAX_ROUNDS, after five unmeasured calls.
 */
static double measure(void (*once)(size_t), size_t size, double budget)
{
	double start, took;
	int rounds;

	for (int i = 0; i < 2; i++)	/* warm caches and page tables */
		once(size);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < 3; i++)
		once(size);
	took = (MPI_Wtime() - start) / 3;
	rounds = budget / (took > 1e-7 ? took : 1e-7);
	rounds = rounds < 4 ? 4 : rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
	MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < rounds; i++)
		once(size);
	return (MPI_Wtime() - start) / rounds;
}

static void verify(size_t size)
{
	for (unsigned int seq = 0; seq < CHECKED_ROUNDS; seq++) {
		fill(out, size, seq);
		memset(in, 0xee, size);
		MPI_Barrier(MPI_COMM_WORLD);
		round_trip(size);
		check(in, size, seq);
	}
	for (int i = 0; i < WINDOW; i++) {
		fill(out + i * slot, size, i);
		memset(in + i * slot, 0xee, size);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	stream(size);
	for (int i = 0; rank == 1 && i < WINDOW; i++)
		check(in + i * slot, size, i);
}

static void run_size(size_t size, double budget, bool machine)
{
	double latency, bandwidth;

	verify(size);
	latency = measure(round_trip, size, budget) / 2 * 1e6;
	/* round trips use only slot 0, which still has message 0 */
	check(in, size, 0);
	bandwidth = WINDOW * size / measure(stream, size, budget) / 1e6;
	for (int i = 0; rank == 1 && i < WINDOW; i++)
		check(in + i * slot, size, i);
	if (rank != 0)
		return;
	if (machine)
		printf("size=%zu latency_us=%.3f bandwidth_MBps=%.3f\n", size,
		       latency, bandwidth);
	else
		printf("%10zu %12.2f %12.2f\n", size, latency, bandwidth);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t sizes[64], count = 0, largest = 1;
	bool machine = false;
	double budget = 0.5;
	int opt, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	while ((opt = getopt(argc, argv, "mt:")) != -1) {
		if (opt == 'm')
			machine = true;
		else if (opt == 't')
			budget = atof(optarg);
		else
			MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (; optind < argc && count < 64; optind++)
		sizes[count++] = strtoull(argv[optind], NULL, 0);
	if (!count) {
		count = sizeof(default_sizes) / sizeof(default_sizes[0]);
		memcpy(sizes, default_sizes, sizeof(default_sizes));
	}
	for (size_t i = 0; i < count; i++)
		largest = sizes[i] > largest ? sizes[i] : largest;
	slot = (largest + 4095) & ~(size_t)4095;
	out = aligned_alloc(4096, WINDOW * slot);
	in = aligned_alloc(4096, WINDOW * slot);
	if (ranks != 2 || !out || !in) {
		fprintf(stderr, "mpi-pingpong: %s\n",
			ranks != 2 ? "needs two ranks" : "no memory");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (rank == 0 && !machine)
		printf("%10s %12s %12s\n", "bytes", "one way, us", "MB/s");
	for (size_t i = 0; i < count; i++)
		run_size(sizes[i], budget, machine);
	MPI_Finalize();
	return 0;
}
