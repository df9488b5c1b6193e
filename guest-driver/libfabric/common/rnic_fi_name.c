/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Names: conversion of fi_getinfo()'s strings to coordinates and service numbers.
 *
 * FI_EXANET_NODES names a file with one node a line, like hosts(5): coordinates, then
 * the names of the node; "#" begins a comment.
 */
#include <ctype.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rnic_fi.h"

#define EXANET_CHAR_DEVICES	"/sys/dev/char"	/* by number */

const char *exanet_nodes_file = "/etc/exanet/nodes";

/* Converts @text to @value; returns false unless all of @text is a number up to @max. */
static bool rnic_fi_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

/* Searches for @node among the names in one line of the file of nodes. */
static bool rnic_fi_nodes_line(char *line, const char *node, uint32_t *coord)
{
	char *save, *word;
	uint64_t value;

	line[strcspn(line, "#\n")] = '\0';
	word = strtok_r(line, " \t", &save);
	if (!word || !rnic_fi_number(word, RNIC_GET(EXANET_COORD, ~0ULL), &value))
		return false;
	while ((word = strtok_r(NULL, " \t", &save))) {
		if (!strcasecmp(word, node)) {
			*coord = value;
			return true;
		}
	}
	return false;
}

static bool rnic_fi_nodes_find(const char *node, uint32_t *coord)
{
	FILE *file = fopen(exanet_nodes_file, "re");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) >= 0)
		found = rnic_fi_nodes_line(line, node, coord);
	free(line);
	fclose(file);
	return found;
}

int rnic_fi_node_coord(const char *node, uint32_t *coord)
{
	uint64_t value;

	if (rnic_fi_number(node, RNIC_GET(EXANET_COORD, ~0ULL), &value)) {
		*coord = value;
		return 0;
	}
	if (rnic_fi_nodes_find(node, coord))
		return 0;
	FI_INFO(&exanet_prov, FI_LOG_CORE,
		"node %s: neither coordinates nor a name in %s\n", node,
		exanet_nodes_file);
	return -FI_ENODATA;
}

int rnic_fi_service_number(const char *service, uint16_t *number)
{
	uint64_t value;

	if (!rnic_fi_number(service, UINT16_MAX, &value) || !value) {
		FI_INFO(&exanet_prov, FI_LOG_CORE,
			"service %s: not a number from 1 to %u\n", service,
			UINT16_MAX);
		return -FI_ENODATA;
	}
	*number = value;
	return 0;
}

/* The device file may have any name, so its number leads to the NIC. */
int exanet_nic_coord(const char *path, uint32_t *coord)
{
	char folder[64], attr[80], text[32];
	struct stat st;
	uint64_t value;
	FILE *file;
	bool ok;

	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return -FI_ENODATA;
	snprintf(folder, sizeof(folder), "%s/%u:%u", EXANET_CHAR_DEVICES,
		 major(st.st_rdev), minor(st.st_rdev));
	if (access(folder, F_OK))
		return -FI_ENOSYS;
	snprintf(attr, sizeof(attr), "%s/coord", folder);
	file = fopen(attr, "re");
	if (!file)
		return -FI_ENODATA;
	ok = fgets(text, sizeof(text), file);
	fclose(file);
	text[ok ? strcspn(text, "\n") : 0] = '\0';
	if (!rnic_fi_number(text, RNIC_GET(EXANET_COORD, ~0ULL), &value))
		return -FI_ENODATA;
	*coord = value;
	return 0;
}

bool rnic_fi_name_is_endpoint(const struct rnic_fi_name *name)
{
	return name->version == RNIC_FI_VERSION && name->tag &&
	       name->ctx < EXANET_CONTEXTS && name->mbox < EXANET_MAILBOXES &&
	       !name->service &&
	       !(le32toh(name->coord) & ~RNIC_GET(EXANET_COORD, ~0ULL));
}

bool rnic_fi_name_is_service(const struct rnic_fi_name *name)
{
	return name->version == RNIC_FI_VERSION && name->service &&
	       !name->tag && !name->ctx && !name->mbox && !name->job &&
	       !(le32toh(name->coord) & ~RNIC_GET(EXANET_COORD, ~0ULL));
}

struct rnic_fi_name rnic_fi_name_of_service(uint32_t coord, uint16_t service)
{
	return (struct rnic_fi_name) {
		.coord = htole32(coord),
		.version = RNIC_FI_VERSION,
		.service = htole16(service),
	};
}
