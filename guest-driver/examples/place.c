// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * Places for the data of example programs, and the server, whose memory clients use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "place.h"

#define SERVER_BYTES	(4U << 20)
#define HELLO_MS	200

const char *const place_names[PLACES] = {
	[PLACE_DRAM]		= "dram",
	[PLACE_BRAM]		= "bram",
	[PLACE_REMOTE_BRAM]	= "remote-bram",
	[PLACE_REMOTE]		= "remote",
};

#define PLACES_NEAR	(1U << PLACE_DRAM | 1U << PLACE_BRAM)
#define PLACES_FAR	(1U << PLACE_REMOTE_BRAM | 1U << PLACE_REMOTE)

/*
 * Parses a list of place names with commas in between.  Returns a mask (bit n: enum
 * place_kind n), or 0 if a name is unknown.
 */
static unsigned int places_parse(const char *list)
{
	unsigned int places = 0;
	size_t len;
	int i;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		for (i = 0; i < PLACES; i++)
			if (strlen(place_names[i]) == len &&
			    !strncmp(list, place_names[i], len))
				break;
		if (i == PLACES)
			return 0;
		places |= 1U << i;
		if (!list[len])
			return places;
	}
}

int place_option(struct place_options *opt, int c, const char *arg)
{
	long long n;

	switch (c) {
	case 'd':
		opt->device = arg;
		return EXIT_RIGHT;
	case 'p':
		opt->places = places_parse(arg);
		return opt->places ? EXIT_RIGHT :
		       wrong_usage("'%s' is no list of places", arg);
	case 'W':
		if (!number(arg, 0, 86400, &n))
			return wrong_usage("--wait is 0 to 86400 seconds");
		opt->wait_s = n;
		return EXIT_RIGHT;
	case 'e':
		opt->early = true;
		return EXIT_RIGHT;
	case 's':
		opt->server = true;
		return EXIT_RIGHT;
	case '1':
		opt->once = true;
		return EXIT_RIGHT;
	case 'j':
		opt->json = true;
		return EXIT_RIGHT;
	default:
		return wrong_usage("unknown or incomplete option");
	}
}

int place_arguments(struct place_options *opt, int argc, char **argv)
{
	long long coord;

	if (opt->server)
		return argc ? wrong_usage("a server needs no coordinates") :
		       EXIT_RIGHT;
	if (argc > 1)
		return wrong_usage("too many arguments");
	if (argc) {
		if (!number(argv[0], 0, RNIC_GET(EXANET_COORD, ~0ULL), &coord))
			return wrong_usage("coordinates are 0 to 0x3fffff");
		opt->coord = coord;
		opt->have_coord = true;
	}
	if (!opt->places)
		opt->places = PLACES_NEAR | (opt->have_coord ? PLACES_FAR : 0);
	if ((opt->places & PLACES_FAR) && !opt->have_coord)
		return wrong_usage("remote places need the server's coordinates");
	return EXIT_RIGHT;
}

/* --- Client --------------------------------------------------------------- */

static int server_find(struct place_client *client)
{
	double end = now() + client->opt->wait_s;
	struct peer from;
	int op;

	do {
		peer_hello(&client->me, client->opt->coord);
		op = peer_listen(&client->me, &from, HELLO_MS);
		if (op == PEER_WELCOME && from.coord == client->opt->coord) {
			client->server = from;
			return EXIT_RIGHT;
		}
	} while ((op > 0 || op == -ETIMEDOUT) && now() < end);
	if (op < 0 && op != -ETIMEDOUT)
		return failed("cannot receive: %s", exa_strerror(op));
	return failed("no server at %#x: start one there with --server",
		      client->opt->coord);
}

int place_client_open(struct place_client *client,
		      const struct place_options *opt)
{
	*client = (struct place_client) { .opt = opt };
	if (!(opt->places & ~(1U << PLACE_DRAM)))
		return EXIT_RIGHT;
	if (me_open(&client->me, PEER_MEMORY, opt->device, 0))
		return EXIT_FAILED;
	if ((opt->places & PLACES_FAR) && server_find(client)) {
		place_client_close(client);
		return EXIT_FAILED;
	}
	return EXIT_RIGHT;
}

void place_client_close(struct place_client *client)
{
	if (client->server.known)
		peer_send(&client->me, &client->server, PEER_BYE);
	me_close(&client->me);
	client->server.known = false;
}

static int place_too_small(const struct place *place, uint64_t have)
{
	return failed("%s has %llu bytes, %zu are needed",
		      place_names[place->kind], (unsigned long long)have,
		      place->bytes);
}

static int place_open_bram(struct place_client *client, struct place *place)
{
	size_t have;

	place->mem = exa_bram(client->me.dev, &have);
	if (!place->mem)
		return failed("cannot use block RAM: %s", exa_strerror(errno));
	return have < place->bytes ? place_too_small(place, have) : EXIT_RIGHT;
}

/*
 * Checks a remote place by a load of its last 8 bytes, because the block RAM of the other
 * node may have fewer bytes, or the other node may refuse the access.  Returns EXIT_RIGHT
 * or, after a message, EXIT_FAILED.  After EXIT_FAILED the place is closed.
 */
static int place_probe(struct place_client *client, struct place *place)
{
	load64(place->mem + place->bytes - 8);
	if (!exa_fence(client->me.dev))
		return EXIT_RIGHT;
	failed("%s of node %#x has no %zu bytes, or must not be used",
	       place_names[place->kind], client->server.coord, place->bytes);
	place_close(client, place);
	return EXIT_FAILED;
}

static int place_open_remote(struct place_client *client, struct place *place)
{
	const struct peer *server = &client->server;
	unsigned int flags = EXA_MAP_READ | EXA_MAP_WRITE |
			     (client->opt->early ? EXA_MAP_EARLY : 0);

	if (place->kind == PLACE_REMOTE && server->bytes < place->bytes)
		return place_too_small(place, server->bytes);
	place->gva = place->kind == PLACE_REMOTE ?
		     exa_gva(server->coord, server->xva) :
		     exa_bram_gva(server->coord);
	place->ctx = server->ctx;
	place->mem = exa_map_remote(client->me.dev, place->gva, place->bytes,
				    place->ctx, flags);
	if (place->mem)
		return place_probe(client, place);
	return failed("cannot map memory of node %#x: %s", server->coord,
		      exa_strerror(errno));
}

int place_open(struct place_client *client, enum place_kind kind, size_t bytes,
	       struct place *place)
{
	*place = (struct place) { .kind = kind, .bytes = bytes };
	if (kind == PLACE_DRAM) {
		place->mem = calloc(1, bytes);
		return place->mem ? EXIT_RIGHT : failed("out of memory");
	}
	return kind == PLACE_BRAM ? place_open_bram(client, place) :
	       place_open_remote(client, place);
}

void place_close(struct place_client *client, struct place *place)
{
	if (place->kind == PLACE_DRAM)
		free((void *)place->mem);
	else if (place->kind != PLACE_BRAM && place->mem)
		exa_unmap_remote(client->me.dev, (void *)place->mem,
				 place->bytes);
	place->mem = NULL;
}

int place_settle(struct place_client *client, const struct place *place)
{
	int ret;

	if (place->kind == PLACE_DRAM || place->kind == PLACE_BRAM)
		return EXIT_RIGHT;
	ret = exa_fence(client->me.dev);
	return ret ? failed("an access to node %#x has failed: %s",
			    client->server.coord, exa_strerror(ret)) :
	       EXIT_RIGHT;
}

/* --- Server --------------------------------------------------------------- */

int place_serve(const struct place_options *opt)
{
	struct peer from;
	struct me me;
	int op;

	if (me_open(&me, PEER_MEMORY, opt->device, SERVER_BYTES))
		return EXIT_FAILED;
	do {
		op = peer_listen(&me, &from, -1);
		if (op == PEER_HELLO)
			peer_send(&me, &from, PEER_WELCOME);
	} while (op >= 0 && !(op == PEER_BYE && opt->once));
	me_close(&me);
	return op < 0 ? failed("cannot receive: %s", exa_strerror(op)) :
	       EXIT_RIGHT;
}
