/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Start of the provider, and fi_getinfo(), which finds the NICs of the machine. */

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <ofi_prov.h>

#include "exanet_fi.h"

#define EXANET_NICS_MAX	16	/* fi_getinfo() looks for exanet0 to exanet15 */
#define EXANET_CHAR_DEVICES	"/sys/dev/char"	/* one folder for each device, with name
						 * MAJOR:MINOR */

static const char *exanet_nodes_file = "/etc/exanet/nodes";

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

/*
 * Stores the coordinates of the NIC with device file @path in @coord.  The function finds
 * the NIC in sysfs by the device number, because the file may have any name.  Returns 0;
 * -FI_ENODATA: there is no such file, the file is not a NIC, or its coordinates cannot be
 * read; -FI_ENOSYS: sysfs has no folder for the device.
 */
static int exanet_nic_coord(const char *path, uint32_t *coord)
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
	if (!rnic_fi_number(text, EXANET_COORD_MASK, &value))
		return -FI_ENODATA;
	*coord = value;
	return 0;
}

/*
 * Stores the name of NIC @n in @name.  If the environment variable EXANET_DEVICE is not empty,
 * and the program has no raised privileges, NIC 0 is the NIC in this variable, and there is
 * no other NIC.  Returns false if there is no such NIC or no device file, or if the user may
 * not read and write the file.  Does not open the file.
 */
static bool exanet_nic_name(unsigned int n, char *name, size_t size)
{
	const char *forced = secure_getenv("EXANET_DEVICE");
	char path[256];

	if (forced && !*forced)
		forced = NULL;
	if (forced && n)
		return false;
	if (forced)
		snprintf(name, size, "%s", forced);
	else
		snprintf(name, size, "exanet%u", n);
	exanet_nic_path(name, path, sizeof(path));
	return !access(path, R_OK | W_OK);
}

static int exanet_info_name(struct fi_info *info, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -FI_ENOMEM;
	free(info->domain_attr->name);
	info->domain_attr->name = copy;
	return 0;
}

/*
 * Replaces *@addr, the source or destination address of a struct fi_info, by a copy of
 * @name, and stores the size of the copy in *@len.  Returns 0 or -FI_ENOMEM.
 */
static int exanet_info_addr(void **addr, size_t *len,
			    const struct rnic_fi_name *name)
{
	void *copy = mem_dup(name, sizeof(*name));

	if (!copy)
		return -FI_ENOMEM;
	free(*addr);
	*addr = copy;
	*len = sizeof(*name);
	return 0;
}

/*
 * Returns true if @info has no source address, or the source address is at the NIC with
 * coordinates @own.  If @own is NULL, the coordinates are not known, and no source address
 * fits.
 */
static bool exanet_src_fits(const struct fi_info *info, const uint32_t *own)
{
	struct rnic_fi_name name;

	if (!info->src_addr)
		return true;
	if (!own || info->src_addrlen != sizeof(name))
		return false;
	memcpy(&name, info->src_addr, sizeof(name));
	return name.version == RNIC_FI_VERSION && le32toh(name.node) == *own;
}

/*
 * Sets the addresses of @info from the arguments of fi_getinfo().  @own has the coordinates
 * of the NIC, or is NULL if the coordinates are not known.  With FI_SOURCE, @node and
 * @service are the source address.  Otherwise @node and @service, if given, are the
 * destination address, and the source address is the NIC, unless @info has a source address
 * already or @own is NULL.  Returns 0; -FI_ENODATA if the NIC is not the source address, if
 * @own is NULL but needed, or if @node or @service is invalid; or -FI_ENOMEM.
 */
static int exanet_info_addrs(struct fi_info *info, const uint32_t *own,
			     const char *node, const char *service,
			     uint64_t flags)
{
	struct rnic_fi_name name;
	uint16_t number = 0;
	uint32_t coord = 0;
	int ret = 0;

	/*
	 * The coordinates of this node are needed for the comparison with a source address,
	 * and as the destination address if @service is given without @node.
	 */
	if (!own && (flags & FI_SOURCE || (service && !node)))
		return -FI_ENODATA;
	if (node)
		ret = rnic_fi_node_number(&exanet_transport, exanet_nodes_file,
					  node, &coord);
	else if (own)
		coord = *own;
	if (!ret && service)
		ret = rnic_fi_service_number(&exanet_transport, service,
					     &number);
	if (ret)
		return ret;
	name = rnic_fi_name_of_service(coord, number);
	if (flags & FI_SOURCE)
		return coord != *own ? -FI_ENODATA :
		       exanet_info_addr(&info->src_addr, &info->src_addrlen,
					&name);
	if (node || service)
		ret = exanet_info_addr(&info->dest_addr, &info->dest_addrlen,
				       &name);
	if (ret || info->src_addr || !own)
		return ret;
	name = rnic_fi_name_of_service(*own, 0);
	return exanet_info_addr(&info->src_addr, &info->src_addrlen, &name);
}

static int exanet_getinfo_nic(uint32_t version, const char *node,
			      const char *service, uint64_t flags,
			      const struct fi_info *hints, const char *name,
			      struct fi_info **info)
{
	const uint32_t *own;
	uint32_t coord;
	char path[256];
	int ret;

	if (hints && hints->domain_attr && hints->domain_attr->name &&
	    strcmp(hints->domain_attr->name, name))
		return -FI_ENODATA;
	exanet_nic_path(name, path, sizeof(path));
	ret = exanet_nic_coord(path, &coord);
	if (ret == -FI_ENODATA)
		return ret;
	own = ret ? NULL : &coord;
	ret = util_getinfo(&exanet_util_prov, version, NULL, NULL,
			   flags & ~FI_SOURCE, hints, info);
	if (ret)
		return ret;
	ret = exanet_src_fits(*info, own) ? 0 : -FI_ENODATA;
	if (!ret)
		ret = exanet_info_addrs(*info, own, node, service, flags);
	if (!ret)
		ret = exanet_info_name(*info, name);
	if (ret)
		fi_freeinfo(*info);
	return ret;
}

static int exanet_getinfo(uint32_t version, const char *node,
			  const char *service, uint64_t flags,
			  const struct fi_info *hints, struct fi_info **info)
{
	struct fi_info **tail = info;
	char name[128];
	unsigned int n;
	int ret;

	*info = NULL;
	if (flags & FI_SOURCE && !node && !service)
		return -FI_EINVAL;
	for (n = 0; n < EXANET_NICS_MAX; n++) {
		if (!exanet_nic_name(n, name, sizeof(name)))
			continue;
		ret = exanet_getinfo_nic(version, node, service, flags, hints,
					 name, tail);
		if (ret == -FI_ENODATA) {
			*tail = NULL;
			continue;
		}
		if (ret) {
			*tail = NULL;
			fi_freeinfo(*info);
			*info = NULL;
			return ret;
		}
		tail = &(*tail)->next;
	}
	return *info ? 0 : -FI_ENODATA;
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
	fi_param_define(&exanet_prov, "nodes", FI_PARAM_STRING,
			"File with the coordinates and names of nodes, as hosts(5) "
			"has addresses (default: %s)", exanet_nodes_file);
	fi_param_get_str(&exanet_prov, "nodes", (char **)&exanet_nodes_file);
	return &exanet_prov;
}
