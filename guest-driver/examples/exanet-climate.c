// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-climate: runs the kernel of a climate model on data in several places.  The
 * processor or the accelerator beside the NIC does the computation [T §6.4].
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rnic/exanet/shm.h>

#include "climate.h"
#include "common.h"
#include "place.h"

/*
 * Maximal number of cells in a direction: three digits.  The check of this maximum also
 * refuses "-1", which sscanf() converts to the largest unsigned number.
 */
#define MESH_MAX	999

const char *program = "exanet-climate";

static const char usage[] =
"Usage: exanet-climate [OPTIONS] [COORD]    compute; COORD: a server's node\n"
"       exanet-climate [OPTIONS] --server   lend memory\n"
"\n"
"  -m, --mesh XxY       cells, default 4x4\n"
"  -l, --layers N       of each cell, 1 to 256, default 4\n"
"  -t, --steps N        updates of all cells, default 1\n"
"  -a, --accel          the accelerator computes, not the processor; not in dram\n"
PLACE_HELP
"\n"
"Exit status: 0 the same bits everywhere, 1 errors, 2 wrong usage.\n";

struct options {
	struct place_options place;
	unsigned int nx, ny;
	unsigned int nlayers;
	unsigned int steps;
	bool accel;
};

/* A mesh, and three buffers of climate.bytes in ordinary memory. */
struct expected {
	struct climate climate;
	uint8_t *begin;		/* initial data */
	uint8_t *end;		/* expected data after all steps */
	uint8_t *found;		/* data of a place after all steps */
};

/*
 * Copies @bytes bytes, a multiple of 8, to memory that may belong to a device, by 8-byte
 * stores.
 */
static void copy_in(volatile uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t value;

		memcpy(&value, from + i, 8);
		store64(to + i, value);
	}
}

static void copy_out(uint8_t *to, const volatile uint8_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t value = load64(from + i);

		memcpy(to + i, &value, 8);
	}
}

static int expect(struct expected *e, const struct options *opt)
{
	const struct climate *c = &e->climate;

	climate_layout(&e->climate, opt->nx, opt->ny, opt->nlayers);
	e->begin = malloc(c->bytes);
	e->end = malloc(c->bytes);
	e->found = malloc(c->bytes);
	if (!e->begin || !e->end || !e->found)
		return failed("out of memory");
	climate_fill(c, e->begin);
	memcpy(e->end, e->begin, c->bytes);
	for (unsigned int step = 0; step < opt->steps; step++)
		for (int colour = 0; colour < CLIMATE_COLOURS; colour++)
			climate_update(c, e->end, colour);
	return EXIT_RIGHT;
}

/*
 * Updates the cells of colour @colour in @place by a job of the accelerator.  Returns an
 * exit code.
 */
static int accelerate(struct place_client *client, const struct climate *c,
		      const struct place *place, unsigned int colour)
{
	uint64_t base = place->kind == PLACE_BRAM ? 0 : place->gva;
	struct exa_accel_job job = {
		.matrix = base + c->matrix,
		.x = base + c->x,
		.y = base + c->y,
		.map1 = base + c->map,
		.map2 = base + c->map,
		.cells = base + c->cells + 4 * c->colour[colour],
		.ndf1 = CLIMATE_NDF,
		.ndf2 = CLIMATE_NDF,
		.nlayers = c->nlayers,
		.ncells = c->colour[colour + 1] - c->colour[colour],
		.remote = place->kind == PLACE_BRAM ? 0 : EXA_ACCEL_ALL,
		.dst_ctx = place->ctx,
	};
	int ret = job.ncells ? exa_accel(client->me.dev, &job) : 0;

	return ret ? failed("the accelerator has failed at %#llx: %s",
			    (unsigned long long)job.err_addr,
			    exa_strerror(ret)) : EXIT_RIGHT;
}

static int update(struct place_client *client, const struct options *opt,
		  const struct climate *c, const struct place *place)
{
	int ret = EXIT_RIGHT;

	for (unsigned int step = 0; step < opt->steps && !ret; step++) {
		for (int colour = 0; colour < CLIMATE_COLOURS; colour++) {
			if (!opt->accel)
				climate_update(c, place->mem, colour);
			else if (!ret)
				ret = accelerate(client, c, place, colour);
		}
	}
	return ret ? ret : place_settle(client, place);
}

static int compare(const struct expected *e, const char *place)
{
	const struct climate *c = &e->climate;
	const uint64_t *found = (const uint64_t *)e->found;
	const uint64_t *end = (const uint64_t *)e->end;

	for (size_t i = 0; i < c->bytes / 8; i++)
		if (found[i] != end[i])
			return failed("%s: word %zu is %016llx, not %016llx",
				      place, i, (unsigned long long)found[i],
				      (unsigned long long)end[i]);
	return EXIT_RIGHT;
}

static void report(const struct expected *e, const struct options *opt,
		   const char *place, double seconds)
{
	const char *who = opt->accel ? "accel" : "cpu";
	double accesses = climate_accesses(&e->climate) * opt->steps;
	unsigned long long sum = climate_checksum(&e->climate, e->found);

	if (opt->place.json)
		printf("{\"by\": \"%s\", \"place\": \"%s\", \"seconds\": %.9f, "
		       "\"accesses\": %.0f, \"access_us\": %.6f, "
		       "\"checksum\": \"%016llx\"}\n", who, place, seconds,
		       accesses, seconds / accesses * 1e6, sum);
	else
		printf("%-6s %-12s %12.6f %12.4f  %016llx\n", who, place, seconds,
		       seconds / accesses * 1e6, sum);
	fflush(stdout);
}

static int climate_place(struct place_client *client, enum place_kind kind,
			 const struct options *opt, const struct expected *e)
{
	const struct climate *c = &e->climate;
	struct place place;
	double begin;
	int ret;

	ret = place_open(client, kind, c->bytes, &place);
	if (ret)
		return ret;
	copy_in(place.mem, e->begin, c->bytes);
	ret = place_settle(client, &place);
	begin = now();
	if (!ret)
		ret = update(client, opt, c, &place);
	begin = now() - begin;
	if (!ret) {
		copy_out(e->found, place.mem, c->bytes);
		ret = place_settle(client, &place);
	}
	if (!ret)
		ret = compare(e, place_names[kind]);
	if (!ret)
		report(e, opt, place_names[kind], begin);
	place_close(client, &place);
	return ret;
}

static int compute(const struct options *opt)
{
	struct place_client client;
	struct expected e = { 0 };
	int ret;

	ret = expect(&e, opt);
	if (!ret)
		ret = place_client_open(&client, &opt->place);
	if (!ret) {
		if (!opt->place.json)
			printf("%-6s %-12s %12s %12s  %s\n", "by", "place",
			       "seconds", "us/access", "checksum");
		for (int kind = 0; kind < PLACES && !ret; kind++)
			if (opt->place.places & 1U << kind)
				ret = climate_place(&client, kind, opt, &e);
		place_client_close(&client);
	}
	free(e.begin);
	free(e.end);
	free(e.found);
	return ret;
}

/* --- The program ------------------------------------------------------------ */

static const struct option long_options[] = {
	{ "mesh",	required_argument, NULL, 'm' },
	{ "layers",	required_argument, NULL, 'l' },
	{ "steps",	required_argument, NULL, 't' },
	{ "accel",	no_argument,	   NULL, 'a' },
	PLACE_LONG,
	{ NULL,		0,		   NULL, 0 },
};

static int option(struct options *opt, int c, const char *arg)
{
	long long n;
	int end = 0;

	switch (c) {
	case 'm':
		if (sscanf(arg, "%3ux%3u%n", &opt->nx, &opt->ny, &end) == 2 &&
		    !arg[end] && opt->nx - 1 < MESH_MAX && opt->ny - 1 < MESH_MAX)
			return EXIT_RIGHT;
		return wrong_usage("--mesh is two numbers from 1 to %d, as 4x4",
				   MESH_MAX);
	case 'l':
		if (!number(arg, 1, EXANET_ACCEL_NLAYERS_MAX, &n))
			return wrong_usage("--layers is 1 to %d",
					   EXANET_ACCEL_NLAYERS_MAX);
		opt->nlayers = n;
		return EXIT_RIGHT;
	case 't':
		if (!number(arg, 1, 1000000, &n))
			return wrong_usage("--steps is 1 to 1000000");
		opt->steps = n;
		return EXIT_RIGHT;
	case 'a':
		opt->accel = true;
		return EXIT_RIGHT;
	default:
		return place_option(&opt->place, c, arg);
	}
}

int main(int argc, char **argv)
{
	struct options opt = {
		.place = PLACE_OPTIONS_DEFAULT,
		.nx = 4, .ny = 4, .nlayers = 4, .steps = 1,
	};
	bool chosen;
	int c, ret;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "m:l:t:a" PLACE_SHORT, long_options,
				NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return EXIT_RIGHT;
		}
		ret = option(&opt, c, optarg);
		if (ret)
			return ret;
	}
	chosen = opt.place.places;
	ret = place_arguments(&opt.place, argc - optind, argv + optind);
	if (ret)
		return ret;
	if (opt.accel && (opt.place.places & 1U << PLACE_DRAM)) {
		if (chosen)
			return wrong_usage("the accelerator does not reach dram");
		opt.place.places &= ~(1U << PLACE_DRAM);
	}
	return opt.place.server ? place_serve(&opt.place) : compute(&opt);
}
