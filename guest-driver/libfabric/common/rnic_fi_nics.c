/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* NICs of the machine; see rnic_fi_nics.h. */

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "rnic_fi.h"
#include "rnic_fi_nics.h"

#define RNIC_FI_NICS_MAX	16	/* fi_getinfo() looks for NIC 0 to NIC 15 */
#define RNIC_FI_CHAR_DEVICES	"/sys/dev/char"	/* one folder for each device, with name
						 * MAJOR:MINOR */

/*
 * Stores the number of the node of the NIC with device file @path in @number.  The function
 * finds the NIC in sysfs by the device number, because the file may have any name.  Returns
 * 0; -FI_ENODATA: there is no such file, the file is not a NIC, or its number cannot be
 * read; -FI_ENOSYS: sysfs has no folder for the device.
 */
static int rnic_fi_nic_node(const struct rnic_fi_nics *nics, const char *path,
			    uint32_t *number)
{
	char folder[64], attr[128], text[32];
	struct stat st;
	uint64_t value;
	FILE *file;
	bool ok;

	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return -FI_ENODATA;
	snprintf(folder, sizeof(folder), "%s/%u:%u", RNIC_FI_CHAR_DEVICES,
		 major(st.st_rdev), minor(st.st_rdev));
	if (access(folder, F_OK))
		return -FI_ENOSYS;
	snprintf(attr, sizeof(attr), "%s/%s", folder, nics->attribute);
	file = fopen(attr, "re");
	if (!file)
		return -FI_ENODATA;
	ok = fgets(text, sizeof(text), file);
	fclose(file);
	text[ok ? strcspn(text, "\n") : 0] = '\0';
	if (!rnic_fi_number(text, nics->transport->node_max, &value))
		return -FI_ENODATA;
	*number = value;
	return 0;
}

/*
 * Stores the name of NIC @n in @name.  Returns false if there is no such NIC or no device
 * file, or if the user may not read and write the file.  Does not open the file.
 */
static bool rnic_fi_nic_name(const struct rnic_fi_nics *nics, unsigned int n,
			     char *name, size_t size)
{
	const char *forced = secure_getenv(nics->variable);
	char path[256];

	if (forced && !*forced)
		forced = NULL;
	if (forced && n)
		return false;
	if (forced)
		snprintf(name, size, "%s", forced);
	else
		snprintf(name, size, "%s%u", nics->name, n);
	nics->path(name, path, sizeof(path));
	return !access(path, R_OK | W_OK);
}

static int rnic_fi_info_name(struct fi_info *info, const char *name)
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
static int rnic_fi_info_addr(void **addr, size_t *len,
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
 * Returns true if @info has no source address, or the source address is at node *@own.  If
 * @own is NULL, the own node is not known, and no source address fits.
 */
static bool rnic_fi_src_fits(const struct fi_info *info, const uint32_t *own)
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
 * Sets the addresses of @info from the arguments of fi_getinfo().  @own has the number of the
 * own node, or is NULL if the number is not known.  With FI_SOURCE, @node and @service are the
 * source address.  Otherwise @node and @service, if given, are the destination address, and
 * the source address is the NIC, unless @info has a source address already or @own is NULL.
 * Returns 0; -FI_ENODATA if the NIC is not the source address, if @own is NULL but needed,
 * or if @node or @service is invalid; or -FI_ENOMEM.
 */
static int rnic_fi_info_addrs(const struct rnic_fi_nics *nics,
			      struct fi_info *info, const uint32_t *own,
			      const char *node, const char *service,
			      uint64_t flags)
{
	struct rnic_fi_name name;
	uint16_t number = 0;
	uint32_t to = 0;
	int ret = 0;

	/*
	 * The number of this node is needed for the comparison with a source address, and as
	 * the destination address if @service is given without @node.
	 */
	if (!own && (flags & FI_SOURCE || (service && !node)))
		return -FI_ENODATA;
	if (node)
		ret = rnic_fi_node_number(nics->transport, nics->nodes_file,
					  node, &to);
	else if (own)
		to = *own;
	if (!ret && service)
		ret = rnic_fi_service_number(nics->transport, service, &number);
	if (ret)
		return ret;
	name = rnic_fi_name_of_service(to, number);
	if (flags & FI_SOURCE)
		return to != *own ? -FI_ENODATA :
		       rnic_fi_info_addr(&info->src_addr, &info->src_addrlen,
					 &name);
	if (node || service)
		ret = rnic_fi_info_addr(&info->dest_addr, &info->dest_addrlen,
					&name);
	if (ret || info->src_addr || !own)
		return ret;
	name = rnic_fi_name_of_service(*own, 0);
	return rnic_fi_info_addr(&info->src_addr, &info->src_addrlen, &name);
}

static int rnic_fi_nic_getinfo(const struct rnic_fi_nics *nics,
			       uint32_t version, const char *node,
			       const char *service, uint64_t flags,
			       const struct fi_info *hints, const char *name,
			       struct fi_info **info)
{
	uint32_t number, *own;
	char path[256];
	int ret;

	if (hints && hints->domain_attr && hints->domain_attr->name &&
	    strcmp(hints->domain_attr->name, name))
		return -FI_ENODATA;
	nics->path(name, path, sizeof(path));
	ret = rnic_fi_nic_node(nics, path, &number);
	if (ret == -FI_ENODATA)
		return ret;
	own = ret ? NULL : &number;
	ret = util_getinfo(nics->transport->util_prov, version, NULL, NULL,
			   flags & ~FI_SOURCE, hints, info);
	if (ret)
		return ret;
	ret = rnic_fi_src_fits(*info, own) ? 0 : -FI_ENODATA;
	if (!ret)
		ret = rnic_fi_info_addrs(nics, *info, own, node, service, flags);
	if (!ret)
		ret = rnic_fi_info_name(*info, name);
	if (ret)
		fi_freeinfo(*info);
	return ret;
}

int rnic_fi_nics_getinfo(const struct rnic_fi_nics *nics, uint32_t version,
			 const char *node, const char *service, uint64_t flags,
			 const struct fi_info *hints, struct fi_info **info)
{
	struct fi_info **tail = info;
	char name[128];
	unsigned int n;
	int ret;

	*info = NULL;
	if (flags & FI_SOURCE && !node && !service)
		return -FI_EINVAL;
	for (n = 0; n < RNIC_FI_NICS_MAX; n++) {
		if (!rnic_fi_nic_name(nics, n, name, sizeof(name)))
			continue;
		ret = rnic_fi_nic_getinfo(nics, version, node, service, flags,
					  hints, name, tail);
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

void rnic_fi_nics_params(struct rnic_fi_nics *nics)
{
	const struct fi_provider *prov = nics->transport->util_prov->prov;

	fi_param_define(prov, "nodes", FI_PARAM_STRING,
			"File with the numbers and names of nodes, as hosts(5) "
			"has addresses (default: %s)", nics->nodes_file);
	fi_param_get_str((struct fi_provider *)prov, "nodes",
			 (char **)&nics->nodes_file);
}
