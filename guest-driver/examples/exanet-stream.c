// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-stream: runs the four kernels of the STREAM benchmark by accesses of 8 bytes to
 * memory of this process, to block RAM and to memory of another node [T §6.2].
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#include "place.h"

#define SCALAR		3.0
#define EPSILON		1e-13	/* maximal mean relative error of an array, as in STREAM */
/*
 * Maximal value of --times.  Each repetition multiplies the values by 15; 15^250 is below
 * the limit of a double, 1e308.
 */
#define TIMES_MAX	250

const char *program = "exanet-stream";

static const char usage[] =
"Usage: exanet-stream [OPTIONS] [COORD]    measure; COORD: a server's node\n"
"       exanet-stream [OPTIONS] --server   lend memory\n"
"\n"
"  -n, --elements N     of each of the three arrays; default 1000000 in dram,\n"
"                       20000 in bram, 500 elsewhere\n"
"  -t, --times N        runs of each kernel, 2 to 250, default 5\n"
PLACE_HELP
"\n"
"Exit status: 0 all results right, 1 errors, 2 wrong usage.\n";

enum kernel { COPY, SCALE, ADD, TRIAD, KERNELS };

static const struct {
	const char *name;
	unsigned int accesses;	/* number of accesses to memory for each element */
} kernels[KERNELS] = {
	[COPY]	= { "Copy", 2 },
	[SCALE]	= { "Scale", 2 },
	[ADD]	= { "Add", 3 },
	[TRIAD]	= { "Triad", 3 },
};

static const size_t default_elements[PLACES] = {
	[PLACE_DRAM]		= 1000000,
	[PLACE_BRAM]		= 20000,
	[PLACE_REMOTE_BRAM]	= 500,
	[PLACE_REMOTE]		= 500,
};

struct stream {
	volatile uint64_t *a, *b, *c;
	size_t n;
	double time[KERNELS][TIMES_MAX];
};

struct options {
	struct place_options place;
	size_t elements;	/* number of elements of an array; 0: depends on the place */
	unsigned int times;
};

/* --- The kernels ------------------------------------------------------------ */

static void copy(struct stream *s)
{
	for (size_t i = 0; i < s->n; i++)
		store_double(&s->c[i], load_double(&s->a[i]));
}

static void scale(struct stream *s)
{
	for (size_t i = 0; i < s->n; i++)
		store_double(&s->b[i], SCALAR * load_double(&s->c[i]));
}

static void add(struct stream *s)
{
	for (size_t i = 0; i < s->n; i++)
		store_double(&s->c[i],
			     load_double(&s->a[i]) + load_double(&s->b[i]));
}

static void triad(struct stream *s)
{
	for (size_t i = 0; i < s->n; i++)
		store_double(&s->a[i], load_double(&s->b[i]) +
			     SCALAR * load_double(&s->c[i]));
}

static void (*const run_kernel[KERNELS])(struct stream *) = {
	[COPY] = copy, [SCALE] = scale, [ADD] = add, [TRIAD] = triad,
};

/* --- Right or wrong --------------------------------------------------------- */

static bool array_right(const char *name, const volatile uint64_t *array,
			size_t n, double want)
{
	double error = 0;

	for (size_t i = 0; i < n; i++)
		error += fabs(load_double(&array[i]) - want);
	error = error / n / fabs(want);
	if (error <= EPSILON)	/* this comparison is false for NaN, the result of failed
				 * loads */
		return true;
	failed("array %s is wrong: mean relative error %g, expected %g", name,
	       error, want);
	return false;
}

/*
 * Computes the values that the elements of the arrays a, b and c should have.  Returns true
 * if the mean relative error of each array is at most EPSILON.  Otherwise prints messages
 * and returns false.
 */
static bool stream_right(const struct stream *s, unsigned int times)
{
	double a = 1, b = 2, c = 0;
	bool right;

	a = 2 * a;
	for (unsigned int t = 0; t < times; t++) {
		c = a;
		b = SCALAR * c;
		c = a + b;
		a = b + SCALAR * c;
	}
	right = array_right("a", s->a, s->n, a);
	right &= array_right("b", s->b, s->n, b);
	right &= array_right("c", s->c, s->n, c);
	return right;
}

/* --- One place ------------------------------------------------------------- */

static void stream_run(struct stream *s, unsigned int times,
		       struct place_client *client, const struct place *place)
{
	double begin;

	for (size_t i = 0; i < s->n; i++) {
		store_double(&s->a[i], 1);
		store_double(&s->b[i], 2);
		store_double(&s->c[i], 0);
	}
	for (size_t i = 0; i < s->n; i++)
		store_double(&s->a[i], 2 * load_double(&s->a[i]));
	for (unsigned int t = 0; t < times; t++) {
		for (int k = 0; k < KERNELS; k++) {
			begin = now();
			run_kernel[k](s);
			/*
			 * The time includes the arrival of stores that were
			 * acknowledged early.
			 */
			if (client->opt->early)
				place_settle(client, place);
			s->time[k][t] = now() - begin;
		}
	}
}

static void stream_print(const struct stream *s, const char *place,
			 const struct options *opt)
{
	double sum, min, max, accesses;

	for (int k = 0; k < KERNELS; k++) {
		sum = max = 0;
		min = INFINITY;
		for (unsigned int t = 1; t < opt->times; t++) {	/* skips the first run */
			sum += s->time[k][t];
			min = fmin(min, s->time[k][t]);
			max = fmax(max, s->time[k][t]);
		}
		sum /= opt->times - 1;
		accesses = (double)kernels[k].accesses * s->n;
		if (opt->place.json)
			printf("{\"place\": \"%s\", \"kernel\": \"%s\", "
			       "\"elements\": %zu, \"mb_per_s\": %.6f, "
			       "\"avg_s\": %.9f, \"min_s\": %.9f, \"max_s\": "
			       "%.9f, \"access_us\": %.6f}\n", place,
			       kernels[k].name, s->n, accesses * 8 / min / 1e6,
			       sum, min, max, min / accesses * 1e6);
		else
			printf("%-12s %-6s %9zu %11.3f %10.6f %10.6f %10.6f "
			       "%11.4f\n", place, kernels[k].name, s->n,
			       accesses * 8 / min / 1e6, sum, min, max,
			       min / accesses * 1e6);
	}
	fflush(stdout);
}

static int stream_place(struct place_client *client, enum place_kind kind,
			const struct options *opt)
{
	static struct stream s;
	struct place place;
	int ret;

	s.n = opt->elements ? opt->elements : default_elements[kind];
	ret = place_open(client, kind, 3 * s.n * sizeof(*s.a), &place);
	if (ret)
		return ret;
	s.a = (volatile uint64_t *)place.mem;
	s.b = s.a + s.n;
	s.c = s.b + s.n;
	stream_run(&s, opt->times, client, &place);
	ret = place_settle(client, &place);
	if (!ret && !stream_right(&s, opt->times))
		ret = EXIT_FAILED;
	if (!ret)
		ret = place_settle(client, &place);
	if (!ret)
		stream_print(&s, place_names[kind], opt);
	place_close(client, &place);
	return ret;
}

/* --- The program ------------------------------------------------------------ */

static const struct option long_options[] = {
	{ "elements",	required_argument, NULL, 'n' },
	{ "times",	required_argument, NULL, 't' },
	PLACE_LONG,
	{ NULL,		0,		   NULL, 0 },
};

static int option(struct options *opt, int c, const char *arg)
{
	long long n;

	switch (c) {
	case 'n':
		if (!number(arg, 1, 100000000, &n))
			return wrong_usage("--elements is 1 to 100000000");
		opt->elements = n;
		return EXIT_RIGHT;
	case 't':
		if (!number(arg, 2, TIMES_MAX, &n))
			return wrong_usage("--times is 2 to %d", TIMES_MAX);
		opt->times = n;
		return EXIT_RIGHT;
	default:
		return place_option(&opt->place, c, arg);
	}
}

static int measure(const struct options *opt)
{
	struct place_client client;
	int ret;

	ret = place_client_open(&client, &opt->place);
	if (ret)
		return ret;
	if (!opt->place.json)
		printf("%-12s %-6s %9s %11s %10s %10s %10s %11s\n", "place",
		       "kernel", "elements", "best MB/s", "avg s", "min s",
		       "max s", "us/access");
	for (int kind = 0; kind < PLACES && !ret; kind++)
		if (opt->place.places & 1U << kind)
			ret = stream_place(&client, kind, opt);
	place_client_close(&client);
	if (!ret && !opt->place.json)
		puts("all results are right");
	return ret;
}

int main(int argc, char **argv)
{
	struct options opt = { .place = PLACE_OPTIONS_DEFAULT, .times = 5 };
	int c, ret;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "n:t:" PLACE_SHORT, long_options,
				NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return EXIT_RIGHT;
		}
		ret = option(&opt, c, optarg);
		if (ret)
			return ret;
	}
	ret = place_arguments(&opt.place, argc - optind, argv + optind);
	if (ret)
		return ret;
	return opt.place.server ? place_serve(&opt.place) : measure(&opt);
}
