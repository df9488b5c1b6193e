// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-info: prints capabilities, state and counters of NICs.
 *
 * The program opens a context to find the capabilities and the job; other values are in
 * sysfs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "libexanet.h"
#include "rnic/exanet/regs.h"

#define INFO_CLASS	"/sys/class/exanet"
#define INFO_PATH_MAX	512
#define INFO_SECONDS_MAX 86400

static const char info_usage[] =
"Usage: exanet-info [OPTIONS] [DEVICE...]\n"
"Shows the ExaNet NICs of this node, all if none is named.\n"
"\n"
"  -c, --counters   the counters that are not zero, with their meaning\n"
"  -a, --all        all counters\n"
"  -j, --json       everything, as JSON\n"
"  -w, --watch [SECONDS]  a live table of links and retransmissions, every\n"
"                   second or as often as is said, until Ctrl-C\n"
"  -n, --count N    with --watch: end after N tables\n"
"  -h, --help       print this\n";

struct info_options {
	bool counters;
	bool all;
	bool json;
	bool watch;
	struct info_watch watching;
};

static const struct {
	const char *name;
	const char *text;
} info_counters[] = {
#define INFO_COUNTER(name, text) { #name, text },
	EXANET_COUNTERS(INFO_COUNTER)
#undef INFO_COUNTER
};
#define INFO_COUNTERS (sizeof(info_counters) / sizeof(info_counters[0]))

static const struct {
	uint32_t bit;
	const char *name;
} info_caps[] = {
	{ EXANET_CAP1_WINDOWS,	  "windows" },
	{ EXANET_CAP1_DUP_SAFE,	  "duplicate-safe" },
	{ EXANET_CAP1_APERTURE,	  "aperture" },
	{ EXANET_CAP1_TIMING,	  "timing" },
	{ EXANET_CAP1_MULTIPATH,  "multipath" },
	{ EXANET_CAP1_RELEASE,	  "release" },
	{ EXANET_CAP1_FLOW_RATE,  "flow-rate" },
	{ EXANET_CAP1_FIRMWARE,	  "firmware" },
	{ EXANET_CAP1_JOB_LOCAL,  "local-jobs" },
};

/* Files of a port in sysfs, in the order in which their values are printed. */
static const char *const info_port_values[] = {
	"state", "peer", "role", "rate_kbps", "latency_ns", "tx_packets",
	"tx_words", "rx_packets", "rx_words", "bad_header", "bad_payload",
	"bad_footer", "dropped", "xoff_sent", "xoff_received", "xoff_vc",
	"peer_xoff_vc", "level_rx", "level_tx", "injected",
};
#define INFO_PORT_VALUES \
	(sizeof(info_port_values) / sizeof(info_port_values[0]))

bool info_read(const char *dev, const char *attr, char value[INFO_VALUE_MAX])
{
	char path[INFO_PATH_MAX];
	FILE *f;
	int n;

	n = snprintf(path, sizeof(path), INFO_CLASS "/%s/%s", dev, attr);
	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(value, INFO_VALUE_MAX, f))
		value[0] = '\0';
	fclose(f);
	value[strcspn(value, "\n")] = '\0';
	return value[0] != '\0';
}

static bool info_counter(const char *dev, size_t n, char name[INFO_VALUE_MAX],
			 char value[INFO_VALUE_MAX])
{
	char attr[INFO_VALUE_MAX + 16];
	size_t i;

	for (i = 0; info_counters[n].name[i] && i < INFO_VALUE_MAX - 1; i++) {
		name[i] = info_counters[n].name[i];
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] += 'a' - 'A';
	}
	name[i] = '\0';
	snprintf(attr, sizeof(attr), "counters/%s", name);
	return info_read(dev, attr, value);
}

bool info_port(const char *dev, int port, const char *what,
	       char value[INFO_VALUE_MAX])
{
	char attr[INFO_VALUE_MAX];

	snprintf(attr, sizeof(attr), "port%d/%s", port, what);
	return info_read(dev, attr, value);
}

/*
 * Opens a context of NIC @name, stores the result of exa_query() in @attr, and closes the
 * context.  Returns false after an error, and stores the negative errno in *@error.
 */
static bool info_query(const char *name, struct exa_attr *attr, int *error)
{
	struct exa_dev *dev;

	*error = exa_open(name, &dev);
	if (*error)
		return false;
	*error = exa_query(dev, attr);
	exa_close(dev);
	return !*error;
}

static void info_caps_print(const char *name)
{
	struct exa_attr attr;
	int error;
	size_t i;

	if (!info_query(name, &attr, &error)) {
		printf("  capabilities    unknown: %s\n", exa_strerror(error));
		return;
	}
	printf("  capabilities   ");
	for (i = 0; i < sizeof(info_caps) / sizeof(info_caps[0]); i++)
		if (attr.cap1 & info_caps[i].bit)
			printf(" %s", info_caps[i].name);
	printf("\n  resources       %u transactions, %u receiver contexts in %u ways, %u outputs\n",
	       1U << RNIC_GET(EXANET_CAP0_LOG2_TIDS, attr.cap0),
	       1U << RNIC_GET(EXANET_CAP0_LOG2_RX, attr.cap0),
	       1U << RNIC_GET(EXANET_CAP0_LOG2_WAYS, attr.cap0),
	       (unsigned int)RNIC_GET(EXANET_CAP0_OUTPUTS, attr.cap0));
	printf("  your job        %u\n", attr.job);
}

static void info_coord_print(const char *value)
{
	uint32_t coord = strtoul(value, NULL, 0);

	printf("  coordinates     %#x (X %u, Y %u, Z %u, F%u, upper %u)\n", coord,
	       (unsigned int)RNIC_GET(EXANET_COORD_X, coord),
	       (unsigned int)RNIC_GET(EXANET_COORD_Y, coord),
	       (unsigned int)RNIC_GET(EXANET_COORD_Z, coord),
	       (unsigned int)RNIC_GET(EXANET_COORD_OFFSET, coord) + 1,
	       (unsigned int)RNIC_GET(EXANET_COORD_UPPER, coord));
}

/* Returns true if the number in the text @value is not zero. */
static bool info_is_news(const char *value)
{
	return strcmp(value, "0") && strcmp(value, "0x0");
}

static void info_port_print(const char *dev, int port, const char *state)
{
	char value[INFO_VALUE_MAX];
	size_t i;

	printf("  port %-2d         %s", port, state);
	if (!strcmp(state, "up") && info_port(dev, port, "peer", value))
		printf(", peer %#lx", strtoul(value, NULL, 0));
	if (info_port(dev, port, "role", value) && strcmp(value, "none"))
		printf(", %s", value);
	printf("\n");
	for (i = 3; i < INFO_PORT_VALUES; i++)
		if (info_port(dev, port, info_port_values[i], value) &&
		    info_is_news(value))
			printf("    %-14s %s\n", info_port_values[i], value);
}

static void info_ports_print(const char *dev)
{
	char value[INFO_VALUE_MAX];
	int port;

	/* A NIC may have no port with one of these numbers. */
	for (port = 0; port < EXANET_LINKS; port++)
		if (info_port(dev, port, "state", value))
			info_port_print(dev, port, value);
}

/*
 * Prints sizes of aperture and block RAM, and numbers of segments.  Prints nothing if the
 * NIC has no aperture.
 */
static void info_shm_print(const char *dev)
{
	char aperture[INFO_VALUE_MAX], bram[INFO_VALUE_MAX];
	char value[INFO_VALUE_MAX], used[INFO_VALUE_MAX];

	if (!info_read(dev, "shm/aperture", aperture) ||
	    !info_read(dev, "shm/bram", bram) ||
	    !info_read(dev, "shm/segments", value) ||
	    !info_read(dev, "shm/segments_used", used))
		return;
	printf("  aperture        %llu KiB, %s segments, %s in use\n",
	       strtoull(aperture, NULL, 0) / 1024, value, used);
	printf("  block RAM       %llu KiB\n", strtoull(bram, NULL, 0) / 1024);
}

static void info_counters_print(const char *dev, bool all)
{
	char name[INFO_VALUE_MAX], value[INFO_VALUE_MAX];
	size_t i;

	printf("  counters\n");
	for (i = 0; i < INFO_COUNTERS; i++)
		if (info_counter(dev, i, name, value) &&
		    (all || strcmp(value, "0")))
			printf("    %-18s %12s  %s\n", name, value,
			       info_counters[i].text);
}

static int info_print(const char *dev, const struct info_options *opt)
{
	char value[INFO_VALUE_MAX], used[INFO_VALUE_MAX];

	if (!info_read(dev, "coord", value)) {
		fprintf(stderr, "exanet-info: no ExaNet device \"%s\"\n", dev);
		return 1;
	}
	printf("%s\n", dev);
	info_coord_print(value);
	if (info_read(dev, "contexts", value) &&
	    info_read(dev, "contexts_in_use", used))
		printf("  contexts        %s, %s in use\n", value, used);
	info_caps_print(dev);
	info_shm_print(dev);
	info_ports_print(dev);
	if (opt->counters || opt->all)
		info_counters_print(dev, opt->all);
	return 0;
}

/*
 * Prints the JSON member @name: @value as a number if this text is a number, else as a
 * string.
 */
static void info_json_value(const char *separator, const char *name,
			    const char *value)
{
	unsigned long long n;
	char *end;

	n = strtoull(value, &end, 0);
	if (*value >= '0' && *value <= '9' && !*end)
		printf("%s\"%s\": %llu", separator, name, n);
	else
		printf("%s\"%s\": \"%s\"", separator, name, value);
}

static void info_json_shm(const char *dev)
{
	static const char *const values[] = { "aperture", "bram", "segments",
					      "segments_used" };
	char path[INFO_VALUE_MAX], value[INFO_VALUE_MAX];
	const char *separator = ",\n  \"shm\": {";
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(path, sizeof(path), "shm/%s", values[i]);
		if (!info_read(dev, path, value))
			return;
		info_json_value(separator, values[i], value);
		separator = ", ";
	}
	printf("}");
}

static void info_json_ports(const char *dev)
{
	char value[INFO_VALUE_MAX];
	const char *comma = "";
	int port;
	size_t i;

	printf(",\n  \"ports\": [");
	for (port = 0; port < EXANET_LINKS; port++) {
		if (!info_port(dev, port, "state", value))
			continue;
		printf("%s\n    {\"port\": %d", comma, port);
		for (i = 0; i < INFO_PORT_VALUES; i++)
			if (info_port(dev, port, info_port_values[i], value))
				info_json_value(", ", info_port_values[i], value);
		printf("}");
		comma = ",";
	}
	printf("\n  ]");
}

/*
 * Prints @separator and the JSON object of NIC @dev.  Returns 0, or 1 if the NIC does not
 * exist.
 */
static int info_json(const char *dev, const char *separator)
{
	static const char *const values[] = { "coord", "contexts",
					      "contexts_in_use" };
	char name[INFO_VALUE_MAX], value[INFO_VALUE_MAX];
	const char *comma = "";
	struct exa_attr attr;
	int error;
	size_t i;

	if (!info_read(dev, "coord", value)) {
		fprintf(stderr, "exanet-info: no ExaNet device \"%s\"\n", dev);
		return 1;
	}
	printf("%s{ \"device\": \"%s\"", separator, dev);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (info_read(dev, values[i], value))
			info_json_value(",\n  ", values[i], value);
	if (info_query(dev, &attr, &error))
		printf(",\n  \"cap0\": %u,\n  \"cap1\": %u,\n  \"job\": %u",
		       attr.cap0, attr.cap1, attr.job);
	info_json_shm(dev);
	info_json_ports(dev);
	printf(",\n  \"counters\": {");
	for (i = 0; i < INFO_COUNTERS; i++) {
		if (!info_counter(dev, i, name, value))
			continue;
		printf("%s\n    ", comma);
		info_json_value("", name, value);
		comma = ",";
	}
	printf("\n  } }");
	return 0;
}

static int info_filter(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/*
 * Stores the names of all NICs in @list, which the caller frees.  Returns the number of
 * NICs or, after a message, -1 if there is no NIC.
 */
static int info_devices(struct dirent ***list)
{
	int n = scandir(INFO_CLASS, list, info_filter, versionsort);

	if (n <= 0)
		fprintf(stderr, "exanet-info: no ExaNet device (%s)\n",
			n < 0 ? "is the module loaded?" : "no NIC found");
	return n > 0 ? n : -1;
}

/*
 * Prints a JSON list with an object for each of the @count devices that exists.  Returns the
 * exit status: 1 if a device does not exist.
 */
static int info_json_these(char *const *names, int count)
{
	const char *separator = "\n";
	int i, ret = 0;

	printf("[");
	for (i = 0; i < count; i++) {
		if (info_json(names[i], separator))
			ret = 1;
		else
			separator = ",\n";
	}
	printf("\n]\n");
	return ret;
}

/* Prints @count devices, once or repeatedly with --watch.  Returns the exit status. */
static int info_these(char *const *names, int count,
		      const struct info_options *opt)
{
	int i, ret = 0;

	if (opt->watch)
		return info_watch(names, count, &opt->watching);
	if (opt->json)
		return info_json_these(names, count);
	for (i = 0; i < count; i++) {
		if (i)
			printf("\n");
		ret |= info_print(names[i], opt);
	}
	return ret;
}

static int info_all(const struct info_options *opt)
{
	struct dirent **list;
	char **names;
	int i, n, ret = 1;

	n = info_devices(&list);
	if (n < 0)
		return 1;
	names = calloc(n, sizeof(*names));
	for (i = 0; names && i < n; i++)
		names[i] = list[i]->d_name;
	if (names)
		ret = info_these(names, n, opt);
	else
		perror("exanet-info");
	for (i = 0; i < n; i++)
		free(list[i]);
	free(list);
	free(names);
	return ret;
}

static const struct option info_long[] = {
	{ "counters",	no_argument, NULL, 'c' },
	{ "all",	no_argument, NULL, 'a' },
	{ "json",	no_argument, NULL, 'j' },
	{ "watch",	optional_argument, NULL, 'w' },
	{ "count",	required_argument, NULL, 'n' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL,		0,	     NULL, 0 },
};

/*
 * Stores the time after --watch in @seconds.  @arg is the argument of the option.  If @arg
 * is NULL, the time is the next argument of the command line, if this argument begins with
 * a digit or a point, because the name of a device does not begin so; the function skips
 * this argument.  If there is no time, stores 1.  Returns false, after a message, if the
 * time is wrong.
 */
static bool info_seconds(const char *arg, char **argv, double *seconds)
{
	bool own = arg;
	char *end;

	if (!own)
		arg = argv[optind];
	*seconds = 1;
	if (!arg || (!own && *arg != '.' && (*arg < '0' || *arg > '9')))
		return true;
	*seconds = strtod(arg, &end);
	if (end == arg || *end || !isfinite(*seconds) || *seconds < 0.1 ||
	    *seconds > INFO_SECONDS_MAX) {
		fprintf(stderr, "exanet-info: --watch takes 0.1 to %d seconds, not \"%s\"\n",
			INFO_SECONDS_MAX, arg);
		return false;
	}
	optind += !own;
	return true;
}

static bool info_count(const char *arg, unsigned long *count)
{
	char *end;

	errno = 0;
	*count = strtoul(arg, &end, 10);
	if (*arg >= '0' && *arg <= '9' && !*end && *count && !errno)
		return true;
	fprintf(stderr, "exanet-info: --count takes a number from 1 on, not \"%s\"\n",
		arg);
	return false;
}

/*
 * Returns true if the options can be combined.  Otherwise prints a message and returns
 * false.
 */
static bool info_fit(const struct info_options *opt)
{
	if (opt->watch && (opt->json || opt->counters || opt->all))
		fputs("exanet-info: --watch goes with --count only\n", stderr);
	else if (opt->watching.count && !opt->watch)
		fputs("exanet-info: --count needs --watch\n", stderr);
	else
		return true;
	return false;
}

/*
 * Parses the command line.  Returns false if the command line is wrong.  Option --help ends
 * the program.
 */
static bool info_parse(int argc, char **argv, struct info_options *opt)
{
	bool good = true;
	int c;

	while ((c = getopt_long(argc, argv, "cajw::n:h", info_long,
				NULL)) != -1) {
		switch (c) {
		case 'c':
			opt->counters = true;
			break;
		case 'a':
			opt->all = true;
			break;
		case 'j':
			opt->json = true;
			break;
		case 'w':
			opt->watch = true;
			good &= info_seconds(optarg, argv,
					     &opt->watching.seconds);
			break;
		case 'n':
			good &= info_count(optarg, &opt->watching.count);
			break;
		case 'h':
			fputs(info_usage, stdout);
			exit(0);
		default:
			good = false;
		}
	}
	return good && info_fit(opt);
}

int main(int argc, char **argv)
{
	struct info_options opt = { 0 };
	char *slash;
	int i;

	if (!info_parse(argc, argv, &opt)) {
		fputs("exanet-info: --help tells more\n", stderr);
		return 2;
	}
	if (optind == argc)
		return info_all(&opt);
	for (i = optind; i < argc; i++) {
		slash = strrchr(argv[i], '/');
		argv[i] = slash ? slash + 1 : argv[i];
	}
	return info_these(argv + optind, argc - optind, &opt);
}
