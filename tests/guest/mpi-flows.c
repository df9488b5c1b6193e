/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams between ranks, all at the same time, by one-sided writes.
 *
 *   mpi-flows [-t SECONDS] [-b BYTES] [-w COUNT] SRC:DST...
 *
 * Each SRC writes BYTES to DST again and again for SECONDS, with COUNT writes between two
 * flushes.  DST checks the bytes at the end.  Rank 0 prints a line for each flow, in the
 * order of the arguments, with its rate.  A write counts when a flush has completed it.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FLOWS 256

struct flow {
	int src, dst;
	double bytes, seconds;
};

static struct flow flows[MAX_FLOWS];
static int count, rank, ranks;
static size_t size = 65536;
static int between = 8;
static double seconds = 2;

/* Returns byte `i` of the data that rank `src` writes. */
static unsigned char pattern(int src, size_t i)
{
	return ((uint32_t)i * 2654435761u + src * 40503u) >> 13;
}

static void usage(void)
{
	if (rank == 0)
		fprintf(stderr, "usage: mpi-flows [-t SECONDS] [-b BYTES] "
			"[-w COUNT] SRC:DST...\n");
	MPI_Finalize();
	exit(2);
}

static void arguments(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "t:b:w:")) != -1) {
		switch (c) {
		case 't':
			seconds = atof(optarg);
			break;
		case 'b':
			size = strtoul(optarg, NULL, 10);
			break;
		case 'w':
			between = atoi(optarg);
			break;
		default:
			usage();
		}
	}
	for (; optind < argc && count < MAX_FLOWS; optind++, count++) {
		struct flow *f = &flows[count];

		if (sscanf(argv[optind], "%d:%d", &f->src, &f->dst) != 2 ||
		    f->src < 0 || f->src >= ranks || f->dst < 0 ||
		    f->dst >= ranks || f->src == f->dst)
			usage();
	}
	if (!count || optind < argc || !size || size > 1 << 26 || between < 1 ||
	    seconds <= 0)
		usage();
}

/* Writes for one flow of this rank.  Flows of the same source run one after the other. */
static void stream(struct flow *f, const unsigned char *data, MPI_Win win)
{
	double start = MPI_Wtime();

	do {
		for (int i = 0; i < between; i++)
			MPI_Put(data, size, MPI_BYTE, f->dst,
				(MPI_Aint)f->src * size, size, MPI_BYTE, win);
		MPI_Win_flush(f->dst, win);
		f->bytes += (double)size * between;
		f->seconds = MPI_Wtime() - start;
	} while (f->seconds < seconds);
}

static int wrong(const struct flow *f, const unsigned char *slots)
{
	const unsigned char *p = slots + f->src * size;

	for (size_t i = 0; i < size; i++) {
		if (p[i] != pattern(f->src, i)) {
			fprintf(stderr, "rank %d: byte %zu of rank %d is "
				"0x%02x, not 0x%02x\n", rank, i, f->src, p[i],
				pattern(f->src, i));
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned char *slots, *data;
	MPI_Win win;
	int bad = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	arguments(argc, argv);
	MPI_Win_allocate((MPI_Aint)size * ranks, 1, MPI_INFO_NULL,
			 MPI_COMM_WORLD, &slots, &win);
	memset(slots, 0, size * ranks);
	data = malloc(size);
	if (!data)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (size_t i = 0; i < size; i++)
		data[i] = pattern(rank, i);

	MPI_Win_lock_all(0, win);
	/* makes connections and page faults before the measurement */
	for (int i = 0; i < count; i++) {
		if (flows[i].src == rank) {
			MPI_Put(data, size, MPI_BYTE, flows[i].dst,
				(MPI_Aint)rank * size, size, MPI_BYTE, win);
			MPI_Win_flush(flows[i].dst, win);
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < count; i++) {
		if (flows[i].src == rank)
			stream(&flows[i], data, win);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_unlock_all(win);

	for (int i = 0; i < count; i++) {
		double sums[2] = { flows[i].bytes, flows[i].seconds }, all[2];

		if (flows[i].dst == rank)
			bad |= wrong(&flows[i], slots);
		MPI_Reduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, 0,
			   MPI_COMM_WORLD);
		if (rank == 0)
			printf("flow=%d:%d bytes=%zu MBps=%.3f per_s=%.1f\n",
			       flows[i].src, flows[i].dst, size,
			       all[0] / all[1] / 1e6, all[0] / all[1] / size);
	}
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	free(data);
	MPI_Win_free(&win);
	MPI_Finalize();
	return bad;
}
