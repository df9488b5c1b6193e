// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-ping: measures and checks the path between two ExaNet nodes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ping.h"

const char *const ping_mode_names[PING_MODES] = {
	[PING_MODE_MSG]		= "msg",
	[PING_MODE_WRITE]	= "write",
	[PING_MODE_WRITE_BW]	= "write-bw",
	[PING_MODE_READ]	= "read",
	[PING_MODE_READ_BW]	= "read-bw",
};

static const char ping_usage[] =
"Usage: exanet-ping [OPTIONS] COORD[:CTX]    measure against the server there\n"
"       exanet-ping [OPTIONS] --server       answer clients\n"
"       exanet-ping [OPTIONS] --loopback     both on this node\n"
"\n"
"  -d, --device NAME    NIC, default exanet0\n"
"  -m, --mode LIST      msg,write,write-bw,read,read-bw or all (default)\n"
"  -S, --sizes LIST     bytes, as 8,64,4K,1M\n"
"  -n, --count N        rounds of each row, default by size\n"
"  -w, --window N       transfers at a time for the -bw modes, 1..32, default 16\n"
"  -W, --wait SECONDS   for the server to appear, default 10\n"
"  -j, --json           print JSON instead of a table\n"
"  -s, --server         serve until killed\n"
"  -1, --once           with --server: end after one client\n"
"  -l, --loopback       start a server process of its own\n"
"  -h, --help           print this\n"
"\n"
"Exit status: 0 all data correct, 1 errors, 2 wrong usage.\n";

bool ping_size_next(const char **list, uint32_t *size)
{
	unsigned long long n;
	char *end;

	if (**list < '0' || **list > '9')
		return false;
	errno = 0;
	n = strtoull(*list, &end, 0);
	if (*end == 'K' || *end == 'k')
		n <<= 10, end++;
	else if (*end == 'M' || *end == 'm')
		n <<= 20, end++;
	if (errno || n < 1 || n > PING_SIZE_MAX || (*end && *end != ','))
		return false;
	*list = *end ? end + 1 : end;
	*size = n;
	return true;
}

static bool ping_sizes_valid(const char *list)
{
	uint32_t size;

	while (ping_size_next(&list, &size))
		if (!*list)
			return true;
	return false;
}

/*
 * Parses a list of names of modes, separated by commas, and sets the bit of each mode in
 * @modes.  The name "all" means all modes.  Returns false if a name is unknown.
 */
static bool ping_modes_parse(const char *list, unsigned int *modes)
{
	size_t len;
	int i;

	*modes = 0;
	for (;;) {
		len = strcspn(list, ",");
		if (len == 3 && !strncmp(list, "all", len)) {
			*modes = (1U << PING_MODES) - 1;
		} else {
			for (i = 0; i < PING_MODES; i++)
				if (strlen(ping_mode_names[i]) == len &&
				    !strncmp(list, ping_mode_names[i], len))
					break;
			if (i == PING_MODES)
				return false;
			*modes |= 1U << i;
		}
		if (!list[len])
			return true;
		list += len + 1;
	}
}

static bool ping_number(const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 0);
	return !errno && end != text && !*end && *value >= min && *value <= max;
}

/*
 * Parses "COORD" or "COORD:CTX", and stores the numbers in @opt.  Returns false if @text has
 * another form, or a number is beyond its limit.
 */
static bool ping_target_parse(const char *text, struct ping_options *opt)
{
	char *colon, *copy = strdup(text);
	long coord, ctx = -1;
	bool ok;

	if (!copy)
		return false;
	colon = strchr(copy, ':');
	if (colon)
		*colon++ = '\0';
	ok = ping_number(copy, 0, RNIC_GET(EXANET_COORD, ~0ULL), &coord) &&
	     (!colon || ping_number(colon, 0, 15, &ctx));
	free(copy);
	opt->coord = coord;
	opt->ctx = ctx;
	return ok;
}

static const char *ping_separator;

void ping_print_begin(const struct ping_options *opt, const struct ping_peer *me)
{
	if (opt->json) {
		printf("{\"coord\": %u, \"peer\": %u, \"peer_context\": %u, "
		       "\"results\": [", exa_coord(me->dev), me->to.coord,
		       me->to.ctx);
		ping_separator = "\n";
		return;
	}
	printf("from %#x to %#x, context %u; latencies one way, of reads whole\n",
	       exa_coord(me->dev), me->to.coord, me->to.ctx);
	printf("%-9s %10s %7s %10s %10s %10s %9s  %s\n", "mode", "bytes", "count",
	       "min us", "median us", "p99 us", "MB/s", "data");
}

void ping_print(const struct ping_options *opt, const struct ping_result *res)
{
	const char *name = ping_mode_names[res->mode];

	if (opt->json) {
		printf("%s  {\"mode\": \"%s\", \"bytes\": %u, \"count\": %u, "
		       "\"min_us\": %.3f, \"median_us\": %.3f, "
		       "\"p99_us\": %.3f, \"mb_per_s\": %.3f, "
		       "\"bad_bytes\": %u}", ping_separator, name, res->size,
		       res->count, res->min_us, res->median_us, res->p99_us,
		       res->mbps, res->bad);
		ping_separator = ",\n";
	} else {
		printf("%-9s %10u %7u %10.2f %10.2f %10.2f %9.2f  ", name,
		       res->size, res->count, res->min_us, res->median_us,
		       res->p99_us, res->mbps);
		if (res->bad)
			printf("%u bytes wrong\n", res->bad);
		else
			printf("ok\n");
	}
	fflush(stdout);
}

void ping_print_end(const struct ping_options *opt)
{
	if (opt->json)
		printf("\n]}\n");
	fflush(stdout);
}

/*
 * Stores the coordinates of this node in @opt.  Opens and closes the device for this
 * purpose.  Returns 0 or a negative errno.
 */
static int ping_own_coord(struct ping_options *opt)
{
	struct exa_dev *dev;
	int ret;

	ret = exa_open(opt->device, &dev);
	if (ret) {
		fprintf(stderr, "exanet-ping: cannot open the device: %s\n",
			exa_strerror(ret));
		return ret;
	}
	opt->coord = exa_coord(dev);
	exa_close(dev);
	return 0;
}

static int ping_loopback(struct ping_options *opt)
{
	int status, ret;
	pid_t child;

	if (ping_own_coord(opt))
		return 1;
	opt->ctx = -1;
	opt->once = true;
	opt->quiet = true;
	child = fork();
	if (child < 0) {
		perror("exanet-ping: fork");
		return 1;
	}
	if (!child)
		_exit(ping_server(opt));
	ret = ping_client(opt);
	if (ret)
		kill(child, SIGTERM);
	if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status))
		ret = 1;
	return ret;
}

static int ping_wrong(const char *what)
{
	fprintf(stderr, "exanet-ping: %s; --help tells more\n", what);
	return 2;
}

static const struct option ping_long[] = {
	{ "device",	required_argument, NULL, 'd' },
	{ "mode",	required_argument, NULL, 'm' },
	{ "sizes",	required_argument, NULL, 'S' },
	{ "count",	required_argument, NULL, 'n' },
	{ "window",	required_argument, NULL, 'w' },
	{ "wait",	required_argument, NULL, 'W' },
	{ "json",	no_argument,	   NULL, 'j' },
	{ "server",	no_argument,	   NULL, 's' },
	{ "once",	no_argument,	   NULL, '1' },
	{ "loopback",	no_argument,	   NULL, 'l' },
	{ "help",	no_argument,	   NULL, 'h' },
	{ NULL,		0,		   NULL, 0 },
};

/* The role of the program on the command line; if both members are false: client. */
struct ping_command {
	bool server;
	bool loopback;	/* server and client in one program */
};

/*
 * Stores option @c of getopt_long() in @opt or @cmd.  Returns NULL, or a text for the user
 * if the option is unknown or its argument is wrong.
 */
static const char *ping_option(int c, struct ping_options *opt,
			       struct ping_command *cmd)
{
	long n;

	switch (c) {
	case 'd':
		opt->device = optarg;
		return NULL;
	case 'm':
		return ping_modes_parse(optarg, &opt->modes) ? NULL :
		       "unknown mode";
	case 'S':
		opt->sizes = optarg;
		return ping_sizes_valid(optarg) ? NULL :
		       "sizes are numbers from 1 to 256M, with commas";
	case 'n':
		if (!ping_number(optarg, 1, 10000000, &n))
			return "count is 1 to 10000000";
		opt->count = n;
		return NULL;
	case 'w':
		if (!ping_number(optarg, 1, EXANET_WRITE_CHANNELS, &n))
			return "window is 1 to 32";
		opt->window = n;
		return NULL;
	case 'W':
		if (!ping_number(optarg, 0, 86400, &n))
			return "wait is 0 to 86400 seconds";
		opt->wait_s = n;
		return NULL;
	case 'j':
		opt->json = true;
		return NULL;
	case 's':
		cmd->server = true;
		return NULL;
	case '1':
		opt->once = true;
		return NULL;
	case 'l':
		cmd->loopback = true;
		return NULL;
	default:
		return "unknown option";
	}
}

int main(int argc, char **argv)
{
	struct ping_options opt = {
		.ctx = -1,
		.modes = (1U << PING_MODES) - 1,
		.window = 16,
		.wait_s = 10,
	};
	struct ping_command cmd = { 0 };
	const char *wrong;
	int c;

	while ((c = getopt_long(argc, argv, "d:m:S:n:w:W:js1lh", ping_long,
				NULL)) != -1) {
		if (c == 'h') {
			fputs(ping_usage, stdout);
			return 0;
		}
		wrong = ping_option(c, &opt, &cmd);
		if (wrong)
			return ping_wrong(wrong);
	}
	if (cmd.server && cmd.loopback)
		return ping_wrong("server or loopback, not both");
	if (cmd.server || cmd.loopback) {
		if (optind != argc)
			return ping_wrong("too many arguments");
		return cmd.server ? ping_server(&opt) : ping_loopback(&opt);
	}
	if (optind + 1 != argc)
		return ping_wrong("name the server's coordinates");
	if (!ping_target_parse(argv[optind], &opt))
		return ping_wrong("coordinates are 0 to 0x3fffff, contexts 0 to 15");
	return ping_client(&opt);
}
