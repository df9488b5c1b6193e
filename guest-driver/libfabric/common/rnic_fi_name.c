/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Names: conversion of fi_getinfo()'s strings to numbers of nodes and services. */

#include <ctype.h>

#include "rnic_fi.h"

bool rnic_fi_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

/*
 * Returns true if @line, a line of the file of nodes, has the name @node, and begins with a
 * number of at most @max; stores this number in @number.  Changes @line.
 */
static bool rnic_fi_nodes_line(char *line, uint32_t max, const char *node,
			       uint32_t *number)
{
	char *save, *word;
	uint64_t value;

	line[strcspn(line, "#\n")] = '\0';
	word = strtok_r(line, " \t", &save);
	if (!word || !rnic_fi_number(word, max, &value))
		return false;
	while ((word = strtok_r(NULL, " \t", &save))) {
		if (!strcasecmp(word, node)) {
			*number = value;
			return true;
		}
	}
	return false;
}

static bool rnic_fi_nodes_find(const char *path, uint32_t max, const char *node,
			       uint32_t *number)
{
	FILE *file = fopen(path, "re");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) >= 0)
		found = rnic_fi_nodes_line(line, max, node, number);
	free(line);
	fclose(file);
	return found;
}

int rnic_fi_node_number(const struct rnic_fi_transport *transport,
			const char *file, const char *node, uint32_t *number)
{
	uint64_t value;

	if (rnic_fi_number(node, transport->node_max, &value)) {
		*number = value;
		return 0;
	}
	if (rnic_fi_nodes_find(file, transport->node_max, node, number))
		return 0;
	FI_INFO(transport->util_prov->prov, FI_LOG_CORE,
		"node %s: neither coordinates nor a name in %s\n", node, file);
	return -FI_ENODATA;
}

int rnic_fi_service_number(const struct rnic_fi_transport *transport,
			   const char *service, uint16_t *number)
{
	uint64_t value;

	if (!rnic_fi_number(service, UINT16_MAX, &value) || !value) {
		FI_INFO(transport->util_prov->prov, FI_LOG_CORE,
			"service %s: not a number from 1 to %u\n", service,
			UINT16_MAX);
		return -FI_ENODATA;
	}
	*number = value;
	return 0;
}

bool rnic_fi_name_is_endpoint(const struct rnic_fi_transport *transport,
			      const struct rnic_fi_name *name)
{
	return name->version == RNIC_FI_VERSION && name->tag &&
	       name->ctx < transport->contexts &&
	       name->mbox < transport->mboxes && !name->service &&
	       le32toh(name->node) <= transport->node_max;
}

bool rnic_fi_name_is_service(const struct rnic_fi_transport *transport,
			     const struct rnic_fi_name *name)
{
	return name->version == RNIC_FI_VERSION && name->service &&
	       !name->tag && !name->ctx && !name->mbox && !name->job &&
	       le32toh(name->node) <= transport->node_max;
}

struct rnic_fi_name rnic_fi_name_of_service(uint32_t node, uint16_t service)
{
	return (struct rnic_fi_name) {
		.node = htole32(node),
		.version = RNIC_FI_VERSION,
		.service = htole16(service),
	};
}
