/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Start of the provider, and the NICs that fi_getinfo() finds. */

#include <ofi_prov.h>

#include "exanet_fi.h"
#include "rnic_fi_nics.h"

/*
 * Stores in @path the path of the device file of NIC @name, which is a name as exa_open()
 * accepts it.
 */
static void exanet_nic_path(const char *name, char *path, size_t size)
{
	const char *form = "/dev/%s";

	if (strchr(name, '/'))
		form = "%s";
	else if (strspn(name, "0123456789") == strlen(name))
		form = "/dev/exanet%s";
	snprintf(path, size, form, name);
}

static struct rnic_fi_nics exanet_nics = {
	.transport = &exanet_transport,
	.name = "exanet",
	.variable = "EXANET_DEVICE",
	.path = exanet_nic_path,
	.attribute = "coord",
	.nodes_file = "/etc/exanet/nodes",
};

static int exanet_getinfo(uint32_t version, const char *node,
			  const char *service, uint64_t flags,
			  const struct fi_info *hints, struct fi_info **info)
{
	return rnic_fi_nics_getinfo(&exanet_nics, version, node, service, flags,
				    hints, info);
}

static int exanet_fabric_open(struct fi_fabric_attr *attr,
			      struct fid_fabric **fabric, void *context)
{
	return rnic_fi_fabric_open(&exanet_transport, attr, fabric, context);
}

static void exanet_cleanup(void)
{
}

struct fi_provider exanet_prov = {
	.name = "exanet",
	.version = OFI_VERSION_DEF_PROV,
	.fi_version = OFI_VERSION_LATEST,
	.getinfo = exanet_getinfo,
	.fabric = exanet_fabric_open,
	.cleanup = exanet_cleanup,
};

struct util_prov exanet_util_prov = {
	.prov = &exanet_prov,
	.info = &exanet_info,
	.flags = 0,
};

EXANET_INI
{
	rnic_fi_params(&exanet_prov);
	rnic_fi_nics_params(&exanet_nics);
	return &exanet_prov;
}
