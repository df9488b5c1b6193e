// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-pgas: a lock and a barrier among processes on several nodes.  The lock and the
 * barrier use only loads, stores and fences.  The lock is Lamport's bakery; the barrier is
 * the dissemination barrier.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "peer.h"

#define NODES_MAX	16
#define LEVELS_MAX	4	/* log2 of NODES_MAX */
#define HELLO_MS	200
#define LOCK_HOME	0	/* rank of the process in whose memory the lock is */
/* Rank of the process in whose memory the counter is. */
#define COUNTER_HOME(p)	((p)->nodes - 1)

const char *program = "exanet-pgas";

static const char usage[] =
"Usage: exanet-pgas [OPTIONS]    on each of the nodes at once\n"
"\n"
"  -N, --nodes LIST     coordinates of all, 1 to 16 of them, in the same order\n"
"                       everywhere; default 0,1,0x10,0x11: a 2x2 torus\n"
"  -r, --rounds N       of each node, default 20\n"
"  -u, --unlocked       do not take the lock, to see that this is noticed\n"
"  -W, --wait SECONDS   for another node, default 60\n"
"  -d, --device NAME    NIC, default exanet0\n"
"  -h, --help           print this\n"
"\n"
"Exit status: 0 no other node was ever in between, 1 errors, 2 wrong usage.\n";

/*
 * The memory of each process that all processes access.  The processes use @choosing and
 * @ticket only in the memory of LOCK_HOME, and @counter and @owner only in the memory of
 * COUNTER_HOME.
 */
struct shared {
	uint64_t choosing[NODES_MAX];	/* by rank: 1 while the process computes a ticket */
	uint64_t ticket[NODES_MAX];	/* by rank: ticket for the lock; 0: the process has no
					 * ticket */
	/*
	 * By level of the barrier: number of the last barrier that the peer process of this
	 * level has reached.
	 */
	uint64_t flag[LEVELS_MAX];
	uint64_t counter;		/* counter that inside() increments; protected by the
					 * lock */
	uint64_t owner;			/* if the processes use the lock: rank + 1 of the
					 * process that is in inside(); 0: no process */
	/*
	 * Number of calls of inside() in which this process has found another process in
	 * inside().
	 */
	uint64_t intruders;
};

#define SHARED_BYTES	4096

struct pgas {
	struct me me;
	struct peer peer[NODES_MAX];
	volatile struct shared *at[NODES_MAX];	/* by rank: memory of the process */
	unsigned int nodes;		/* number of processes, one on each node */
	unsigned int rank;		/* index of this process in the list of nodes */
	uint64_t barriers;		/* number of calls of barrier() in this process */
	double deadline;		/* end of the present wait, in seconds of now() */
	int wait_s;			/* maximal time of a wait, seconds */
	const char *device;		/* name of the NIC; NULL: the default of exa_open() */
	long long rounds;
	bool unlocked;			/* the processes do not use the lock */
	bool broken;			/* an access or a fence has failed, or a wait has timed
					 * out */
};

/* --- Order ---------------------------------------------------------------- */

/*
 * Orders all earlier stores before all later loads and stores.  exa_fence() orders stores
 * to other nodes.  The fence of the processor orders stores to memory of this node.
 */
static void fence(struct pgas *p)
{
	int ret;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ret = exa_fence(p->me.dev);
	if (ret && !p->broken) {
		failed("node %u: the fence has failed: %s", p->rank,
		       exa_strerror(ret));
		p->broken = true;
	}
}

/*
 * Yields the processor in a loop that waits for another node.  Returns false if the loop
 * must end, because an access or a fence has failed or @p->deadline has passed.
 */
static bool may_wait(struct pgas *p)
{
	if (!p->broken && exa_remote_errors(p->me.dev)) {
		failed("node %u: an access to another node has failed", p->rank);
		p->broken = true;
	}
	if (!p->broken && now() > p->deadline) {
		failed("node %u: waited %d s for another node", p->rank,
		       p->wait_s);
		p->broken = true;
	}
	sched_yield();	/* the other process may need this processor */
	return !p->broken;
}

static void wait_begin(struct pgas *p)
{
	p->deadline = now() + p->wait_s;
}

/* --- The barrier ----------------------------------------------------------- */

static void barrier(struct pgas *p)
{
	unsigned int distance = 1, level;

	fence(p);
	p->barriers++;
	wait_begin(p);
	for (level = 0; distance < p->nodes; level++, distance *= 2) {
		store64(&p->at[(p->rank + distance) % p->nodes]->flag[level],
			p->barriers);
		while (load64(&p->at[p->rank]->flag[level]) < p->barriers &&
		       may_wait(p))
			;
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* --- The lock --------------------------------------------------------------- */

static bool before(uint64_t ticket, unsigned int rank, uint64_t other_ticket,
		   unsigned int other)
{
	return ticket < other_ticket || (ticket == other_ticket && rank < other);
}

static void lock(struct pgas *p)
{
	volatile struct shared *home = p->at[LOCK_HOME];
	uint64_t ticket = 0, other;
	unsigned int i;

	store64(&home->choosing[p->rank], 1);
	fence(p);
	for (i = 0; i < p->nodes; i++) {
		other = load64(&home->ticket[i]);
		if (other > ticket)
			ticket = other;
	}
	store64(&home->ticket[p->rank], ++ticket);
	fence(p);
	store64(&home->choosing[p->rank], 0);
	fence(p);
	wait_begin(p);
	for (i = 0; i < p->nodes; i++) {
		while (load64(&home->choosing[i]) && may_wait(p))
			;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		while ((other = load64(&home->ticket[i])) && i != p->rank &&
		       before(other, i, ticket, p->rank) && may_wait(p))
			;
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void unlock(struct pgas *p)
{
	fence(p);	/* the stores that the lock protects may go to another node than
			 * LOCK_HOME */
	store64(&p->at[LOCK_HOME]->ticket[p->rank], 0);
}

/* --- Work under the lock ------------------------------------------------------ */

/*
 * Increments the counter.  Counts an intruder if member owner shows that another process is
 * in this function at the same time.  With option --unlocked a barrier in this function
 * ensures that all processes are in this function at the same time.
 */
static void inside(struct pgas *p)
{
	volatile struct shared *home = p->at[COUNTER_HOME(p)];
	uint64_t count, intruder;

	intruder = load64(&home->owner);
	store64(&home->owner, p->rank + 1);
	fence(p);
	count = load64(&home->counter);
	if (p->unlocked)
		barrier(p);
	else
		sched_yield();	/* lets another process run, to find errors of the lock */
	store64(&home->counter, count + 1);
	fence(p);
	if (intruder || load64(&home->owner) != p->rank + 1)
		p->at[p->rank]->intruders++;
	store64(&home->owner, 0);
}

/*
 * Reads the results of all processes, and prints the results at rank 0.  Returns the exit
 * code.  All nodes return the same exit code, unless an access has failed or a wait was too
 * long.
 */
static int verdict(struct pgas *p, double seconds)
{
	uint64_t want = p->nodes * p->rounds, count, intruders = 0;
	unsigned int i;

	barrier(p);
	count = load64(&p->at[COUNTER_HOME(p)]->counter);
	for (i = 0; i < p->nodes; i++)
		intruders += load64(&p->at[i]->intruders);
	barrier(p);	/* no process ends before all other processes have read its memory */
	fence(p);
	if (p->broken)
		return EXIT_FAILED;
	if (p->rank == 0)
		printf("%u nodes, %lld rounds each: counter %llu of %llu, "
		       "%llu intruders, %.2f ms a round\n", p->nodes, p->rounds,
		       (unsigned long long)count, (unsigned long long)want,
		       (unsigned long long)intruders, seconds * 1e3 / want);
	return count == want && !intruders ? EXIT_RIGHT :
	       failed("mutual exclusion is broken");
}

static int run(struct pgas *p)
{
	double begin;

	barrier(p);
	begin = now();
	for (long long i = 0; i < p->rounds && !p->broken; i++) {
		if (!p->unlocked)
			lock(p);
		inside(p);
		if (!p->unlocked)
			unlock(p);
	}
	return verdict(p, now() - begin);
}

/* --- Addresses of the other processes ------------------------------------------ */

static struct peer *peer_find(struct pgas *p, uint32_t coord)
{
	for (unsigned int i = 0; i < p->nodes; i++)
		if (p->peer[i].coord == coord)
			return &p->peer[i];
	return NULL;
}

static bool all_known(const struct pgas *p)
{
	for (unsigned int i = 0; i < p->nodes; i++)
		if (!p->peer[i].known || !p->peer[i].informed)
			return false;
	return true;
}

/*
 * Receives a message by peer_listen().  If the sender's node is in the list of nodes, and
 * the sender's memory is large enough, stores the sender's address in @p->peer, and answers
 * HELLO.  Returns 0, also without a message, or a negative errno.
 */
static int message_serve(struct pgas *p)
{
	struct peer from, *peer;
	int op = peer_listen(&p->me, &from, HELLO_MS);

	if (op < 0)
		return op == -ETIMEDOUT ? 0 : op;
	peer = peer_find(p, from.coord);
	if (!peer || from.bytes < sizeof(struct shared))
		return 0;
	/* The sender of a WELCOME has the address of this process, from a HELLO. */
	from.informed = peer->informed || op == PEER_WELCOME;
	*peer = from;
	if (op == PEER_HELLO && !peer_send(&p->me, peer, PEER_WELCOME))
		peer->informed = true;
	return 0;
}

static int meet(struct pgas *p)
{
	struct peer *self = peer_find(p, exa_coord(p->me.dev));
	int ret = 0;

	if (!self)
		return failed("this node, %#x, is not in the list",
			      exa_coord(p->me.dev));
	p->rank = self - p->peer;
	self->known = self->informed = true;
	wait_begin(p);
	while (!ret && !all_known(p) && now() < p->deadline) {
		/*
		 * Repeats HELLO, because a process that starts later has not received the
		 * first HELLO.
		 */
		for (unsigned int i = 0; i < p->nodes; i++)
			if (!p->peer[i].informed)
				peer_hello(&p->me, p->peer[i].coord);
		ret = message_serve(p);
	}
	if (ret)
		return failed("cannot receive: %s", exa_strerror(ret));
	for (unsigned int i = 0; i < p->nodes; i++)
		if (!p->peer[i].known || !p->peer[i].informed)
			return failed("nothing was heard of node %#x",
				      p->peer[i].coord);
	return EXIT_RIGHT;
}

static int map_all(struct pgas *p)
{
	for (unsigned int i = 0; i < p->nodes; i++) {
		const struct peer *peer = &p->peer[i];

		p->at[i] = i == p->rank ? p->me.mem :
			exa_map_remote(p->me.dev, exa_gva(peer->coord, peer->xva),
				       SHARED_BYTES, peer->ctx, EXA_MAP_READ |
				       EXA_MAP_WRITE | EXA_MAP_EARLY);
		if (!p->at[i])
			return failed("cannot map memory of node %#x: %s",
				      peer->coord, exa_strerror(errno));
	}
	return EXIT_RIGHT;
}

/* --- The program ------------------------------------------------------------ */

static int nodes_parse(struct pgas *p, char *list)
{
	long long coord;
	char *text;

	p->nodes = 0;
	for (text = strtok(list, ","); text; text = strtok(NULL, ",")) {
		if (p->nodes == NODES_MAX)
			return wrong_usage("there are at most %d nodes",
					   NODES_MAX);
		if (!number(text, 0, RNIC_GET(EXANET_COORD, ~0ULL), &coord))
			return wrong_usage("coordinates are 0 to 0x3fffff");
		if (peer_find(p, coord))
			return wrong_usage("node %s is named twice", text);
		p->peer[p->nodes++] = (struct peer) { .coord = coord };
	}
	return p->nodes ? EXIT_RIGHT : wrong_usage("--nodes names none");
}

static const struct option long_options[] = {
	{ "nodes",	required_argument, NULL, 'N' },
	{ "rounds",	required_argument, NULL, 'r' },
	{ "unlocked",	no_argument,	   NULL, 'u' },
	{ "wait",	required_argument, NULL, 'W' },
	{ "device",	required_argument, NULL, 'd' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ NULL,		0,		   NULL, 0 },
};

static int option(struct pgas *p, int c, char *arg)
{
	long long n;

	switch (c) {
	case 'N':
		return nodes_parse(p, arg);
	case 'r':
		return number(arg, 1, 1000000, &p->rounds) ? EXIT_RIGHT :
		       wrong_usage("--rounds is 1 to 1000000");
	case 'u':
		p->unlocked = true;
		return EXIT_RIGHT;
	case 'W':
		if (!number(arg, 1, 86400, &n))
			return wrong_usage("--wait is 1 to 86400 seconds");
		p->wait_s = n;
		return EXIT_RIGHT;
	case 'd':
		p->device = arg;
		return EXIT_RIGHT;
	default:
		return wrong_usage("unknown or incomplete option");
	}
}

int main(int argc, char **argv)
{
	static struct pgas p = { .rounds = 20, .wait_s = 60 };
	char torus[] = "0,1,0x10,0x11";
	int c, ret;

	nodes_parse(&p, torus);
	opterr = 0;
	while ((c = getopt_long(argc, argv, "N:r:uW:d:h", long_options,
				NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return EXIT_RIGHT;
		}
		ret = option(&p, c, optarg);
		if (ret)
			return ret;
	}
	if (optind != argc)
		return wrong_usage("too many arguments");
	if (me_open(&p.me, PEER_PGAS, p.device, SHARED_BYTES))
		return EXIT_FAILED;
	ret = meet(&p);
	if (!ret)
		ret = map_all(&p);
	if (!ret)
		ret = run(&p);
	me_close(&p.me);	/* also unmaps the segments */
	return ret;
}
