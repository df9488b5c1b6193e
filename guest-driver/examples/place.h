/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Places for the data of a program: those of the document [T §6.2, §6.4], and the memory
 * of a process on another node.
 */
#ifndef EXAMPLES_PLACE_H
#define EXAMPLES_PLACE_H

#include "peer.h"

enum place_kind {
	PLACE_DRAM		= 0,	/* memory of this process */
	PLACE_BRAM		= 1,	/* block RAM of this node */
	PLACE_REMOTE_BRAM	= 2,	/* block RAM of the server's node */
	PLACE_REMOTE		= 3,	/* memory of the server */
	PLACES			= 4,
};

extern const char *const place_names[PLACES];

/* Options that programs with places share. */
struct place_options {
	const char *device;
	unsigned int places;	/* bit n: enum place_kind n */
	uint32_t coord;		/* coordinates of the server */
	bool have_coord;	/* the command line has COORD */
	bool server;
	bool once;
	bool early;		/* stores are acknowledged early */
	bool json;
	int wait_s;
};

#define PLACE_SHORT	"d:p:W:es1jh"
#define PLACE_LONG \
	{ "device",	required_argument, NULL, 'd' }, \
	{ "place",	required_argument, NULL, 'p' }, \
	{ "wait",	required_argument, NULL, 'W' }, \
	{ "early",	no_argument,	   NULL, 'e' }, \
	{ "server",	no_argument,	   NULL, 's' }, \
	{ "once",	no_argument,	   NULL, '1' }, \
	{ "json",	no_argument,	   NULL, 'j' }, \
	{ "help",	no_argument,	   NULL, 'h' }
#define PLACE_HELP \
"  -d, --device NAME    NIC, default exanet0\n" \
"  -p, --place LIST     where the data is: dram, bram (block RAM of this node),\n" \
"                       remote-bram (of the server's node), remote (memory of the\n" \
"                       server); default all, without COORD the first two\n" \
"  -e, --early          stores to other nodes are acknowledged early\n" \
"  -W, --wait SECONDS   for the server to appear, default 10\n" \
"  -j, --json           print JSON instead of a table\n" \
"  -s, --server         let others use memory of this process, until killed\n" \
"  -1, --once           with --server: end after one client\n" \
"  -h, --help           print this\n"
#define PLACE_OPTIONS_DEFAULT { .wait_s = 10 }

/* Handles option @c with @arg.  Returns EXIT_RIGHT or, after a message, EXIT_USAGE. */
int place_option(struct place_options *opt, int c, const char *arg);

/* Handles the argument after the options, COORD.  Returns as place_option(). */
int place_arguments(struct place_options *opt, int argc, char **argv);

/* Data of a program in one place. */
struct place {
	enum place_kind kind;
	volatile uint8_t *mem;	/* 8-byte aligned */
	size_t bytes;
	uint64_t gva;		/* GVA of a remote place */
	uint32_t ctx;		/* context that owns a remote place */
};

/* The NIC that a client has open, and its server. */
struct place_client {
	const struct place_options *opt;
	struct me me;
	struct peer server;	/* server.known: the client has found it */
};

/*
 * Opens the NIC and finds the server, if the places in @opt need them.  Returns 0 or,
 * after a message, EXIT_FAILED.
 */
int place_client_open(struct place_client *client,
		      const struct place_options *opt);
void place_client_close(struct place_client *client);

/*
 * Provides @bytes bytes in a place.  They contain zeros, or data of earlier programs.
 * Returns 0 or, after a message, EXIT_FAILED.
 */
int place_open(struct place_client *client, enum place_kind kind, size_t bytes,
	       struct place *place);
void place_close(struct place_client *client, struct place *place);

/*
 * Waits until all stores to @place have arrived.  Returns 0 or, after a message,
 * EXIT_FAILED: an access has failed.
 */
int place_settle(struct place_client *client, const struct place *place);

/* Runs the program as a server, which gives memory to clients.  Returns the exit code. */
int place_serve(const struct place_options *opt);

#endif /* EXAMPLES_PLACE_H */
