// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * exanet-info: what a NIC is, and what it has done.
 *
 * All but capabilities and own PDID comes from sysfs, which needs no context.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libexanet.h"
#include "rnic/exanet/regs.h"

#define INFO_CLASS	"/sys/class/exanet"
#define INFO_PATH_MAX	512
#define INFO_VALUE_MAX	64

static const char info_usage[] =
"Usage: exanet-info [OPTIONS] [DEVICE...]\n"
"Shows the ExaNet NICs of this node, all if none is named.\n"
"\n"
"  -c, --counters   the counters that are not zero, with their meaning\n"
"  -a, --all        all counters\n"
"  -j, --json       everything, as JSON\n"
"  -h, --help       print this\n";

struct info_options {
	bool counters;
	bool all;
	bool json;
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
};

/* What a port shows, in order. */
static const char *const info_port_values[] = {
	"state", "peer", "tx_packets", "tx_words", "rx_packets", "rx_words",
	"bad_header", "bad_payload", "bad_footer", "dropped", "xoff_sent",
	"xoff_received",
};
#define INFO_PORT_VALUES \
	(sizeof(info_port_values) / sizeof(info_port_values[0]))

/* Reads INFO_CLASS/@dev/@attr without its newline; false if there is none. */
static bool info_read(const char *dev, const char *attr,
		      char value[INFO_VALUE_MAX])
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

static bool info_port(const char *dev, int port, const char *what,
		      char value[INFO_VALUE_MAX])
{
	char attr[INFO_VALUE_MAX];

	snprintf(attr, sizeof(attr), "port%d/%s", port, what);
	return info_read(dev, attr, value);
}

/* Capabilities are only told to an open context; false if there is none to be had. */
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

static void info_ports_print(const char *dev)
{
	char value[INFO_VALUE_MAX], peer[INFO_VALUE_MAX];
	int port;
	size_t i;

	for (port = 0; info_port(dev, port, "state", value); port++) {
		printf("  port %-2d         %s", port, value);
		if (!strcmp(value, "up") && info_port(dev, port, "peer", peer))
			printf(", peer %#lx", strtoul(peer, NULL, 0));
		printf("\n");
		for (i = 2; i < INFO_PORT_VALUES; i++)
			if (info_port(dev, port, info_port_values[i], value) &&
			    strcmp(value, "0"))
				printf("    %-14s %s\n", info_port_values[i],
				       value);
	}
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
	info_ports_print(dev);
	if (opt->counters || opt->all)
		info_counters_print(dev, opt->all);
	return 0;
}

/* Numbers as numbers, words as strings. */
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

static void info_json_ports(const char *dev)
{
	char value[INFO_VALUE_MAX];
	int port;
	size_t i;

	printf(",\n  \"ports\": [");
	for (port = 0; info_port(dev, port, "state", value); port++) {
		printf("%s\n    {", port ? "," : "");
		for (i = 0; i < INFO_PORT_VALUES; i++)
			if (info_port(dev, port, info_port_values[i], value))
				info_json_value(i ? ", " : "",
						info_port_values[i], value);
		printf("}");
	}
	printf("\n  ]");
}

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

/* Every device of the class; their number or -1. */
static int info_devices(struct dirent ***list)
{
	int n = scandir(INFO_CLASS, list, info_filter, versionsort);

	if (n <= 0)
		fprintf(stderr, "exanet-info: no ExaNet device (%s)\n",
			n < 0 ? "is the module loaded?" : "no NIC found");
	return n > 0 ? n : -1;
}

/* @first: JSON needs commas between devices only. */
static int info_show(const char *dev, const struct info_options *opt, bool first)
{
	if (opt->json)
		return info_json(dev, first ? "[\n" : ",\n");
	if (!first)
		printf("\n");
	return info_print(dev, opt);
}

static int info_all(const struct info_options *opt)
{
	struct dirent **list;
	int i, n, ret = 0;

	n = info_devices(&list);
	if (n < 0)
		return 1;
	for (i = 0; i < n; i++) {
		ret |= info_show(list[i]->d_name, opt, i == 0);
		free(list[i]);
	}
	free(list);
	return ret;
}

static const struct option info_long[] = {
	{ "counters",	no_argument, NULL, 'c' },
	{ "all",	no_argument, NULL, 'a' },
	{ "json",	no_argument, NULL, 'j' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL,		0,	     NULL, 0 },
};

int main(int argc, char **argv)
{
	struct info_options opt = { 0 };
	const char *name;
	int c, i, ret = 0;

	while ((c = getopt_long(argc, argv, "cajh", info_long, NULL)) != -1) {
		switch (c) {
		case 'c':
			opt.counters = true;
			break;
		case 'a':
			opt.all = true;
			break;
		case 'j':
			opt.json = true;
			break;
		case 'h':
			fputs(info_usage, stdout);
			return 0;
		default:
			fputs("exanet-info: --help tells more\n", stderr);
			return 2;
		}
	}
	if (optind == argc)
		ret = info_all(&opt);
	for (i = optind; i < argc; i++) {
		name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
		ret |= info_show(name, &opt, i == optind);
	}
	if (opt.json && !ret)
		printf("\n]\n");
	return ret;
}
