/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* NICs of the machine: fi_getinfo() of a provider. */
#ifndef RNIC_FI_NICS_H
#define RNIC_FI_NICS_H

#include "rnic_fi_transport.h"

struct fi_info;

/* The NICs of a provider. */
struct rnic_fi_nics {
	const struct rnic_fi_transport *transport;
	const char *name;	/* NIC n has the name @name followed by n */
	const char *variable;	/* environment variable that names the only NIC */
	/* Stores the path of the device file of NIC @name, as open() accepts it, in @path. */
	void (*path)(const char *name, char *path, size_t size);
	const char *attribute;	/* path, from the folder of the device in sysfs, of the file with
				 * the number of the own node */
	const char *nodes_file;	/* see rnic_fi_node_number() */
};

/*
 * Defines parameter `nodes` of the provider, the file with the names of nodes, and stores its
 * value in @nics->nodes_file.
 */
void rnic_fi_nics_params(struct rnic_fi_nics *nics);

/*
 * fi_getinfo() for @nics.  If the environment variable @nics->variable is not empty, and the
 * program has no raised privileges, NIC 0 is the NIC in this variable, and there is no other
 * NIC.
 */
int rnic_fi_nics_getinfo(const struct rnic_fi_nics *nics, uint32_t version,
			 const char *node, const char *service, uint64_t flags,
			 const struct fi_info *hints, struct fi_info **info);

#endif /* RNIC_FI_NICS_H */
