/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Places for the data of a program: the places of the document [T §6.2, §6.4], and memory
 * of a process on another node.  This process is the server.
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

/* Options that all programs with places have. */
struct place_options {
	const char *device;	/* name of the NIC; NULL: the default of exa_open() */
	unsigned int places;	/* places for the data; bit n: enum place_kind n */
	uint32_t coord;		/* coordinates of the server */
	bool have_coord;	/* the command line has COORD */
	bool server;		/* the program runs as server */
	bool once;		/* the server ends after one client */
	bool early;		/* stores to other nodes are acknowledged early */
	bool json;		/* the client prints JSON instead of a table */
	int wait_s;		/* maximal time to search the server, seconds */
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

/*
 * Stores option @c of getopt_long(), with argument @arg, in @opt.  Returns EXIT_RIGHT or,
 * after a message, EXIT_USAGE.
 */
int place_option(struct place_options *opt, int c, const char *arg);

/*
 * Stores the argument COORD, which may follow the options of a client, in @opt.  If no
 * option has selected places, selects the default places of a client.  With --server only
 * checks that there is no argument.  Returns EXIT_RIGHT or, after a message, EXIT_USAGE.
 */
int place_arguments(struct place_options *opt, int argc, char **argv);

/* Data of a program in one place. */
struct place {
	enum place_kind kind;
	volatile uint8_t *mem;	/* address of the data, 8-byte aligned */
	size_t bytes;
	uint64_t gva;		/* GVA of the first byte of a remote place */
	uint32_t ctx;		/* context of the server, for a remote place */
};

/* The NIC that a client has open, and the server of the client. */
struct place_client {
	const struct place_options *opt;
	struct me me;
	struct peer server;	/* server.known: the client has found the server */
};

/*
 * Fills @client.  Opens the NIC if @opt selects a place other than memory of this process,
 * and finds the server if @opt selects a remote place.  @opt must exist until
 * place_client_close().  Returns 0 or, after a message, EXIT_FAILED.
 */
int place_client_open(struct place_client *client,
		      const struct place_options *opt);
/* Sends BYE to the server, if the client has found the server, and closes the NIC. */
void place_client_close(struct place_client *client);

/*
 * Allocates or maps @bytes bytes, a multiple of 8, in a place of kind @kind, and describes
 * the place in @place.  The bytes may contain data of earlier programs.  Returns 0 or,
 * after a message, EXIT_FAILED.
 */
int place_open(struct place_client *client, enum place_kind kind, size_t bytes,
	       struct place *place);
/* Frees or unmaps @place.  Block RAM of this node stays mapped until the NIC is closed. */
void place_close(struct place_client *client, struct place *place);

/*
 * If @place is remote, waits by exa_fence() until all stores to other nodes have arrived.
 * Returns 0 or, after a message, EXIT_FAILED: an access to another node has failed since
 * the last exa_fence(), or stores are still under way after a minute.
 */
int place_settle(struct place_client *client, const struct place *place);

/*
 * Runs the program as a server, whose memory clients may use.  Returns the exit code after
 * an error or, with option --once, after the BYE of a client.
 */
int place_serve(const struct place_options *opt);

#endif /* EXAMPLES_PLACE_H */
