/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Address vectors: tables of names. */

#include "rnic_fi.h"

static int rnic_fi_av_close(struct fid *fid)
{
	struct util_av *av = container_of(fid, struct util_av, av_fid.fid);
	int ret = ofi_av_close(av);

	if (!ret)
		free(av);
	return ret;
}

static fi_addr_t rnic_fi_av_get_addr(struct fi_peer_rx_entry *rx)
{
	struct rnic_fi_unexp *unexp = rx->peer_context;

	return unexp->peer->fi_addr;
}

/*
 * Sets the source addresses of peers and of unexpected messages whose senders were not in
 * the AV before, but are in the AV now.
 */
static void rnic_fi_av_resolve(struct util_av *av)
{
	struct dlist_entry *item;
	struct fid_peer_srx *srx;
	struct rnic_fi_ep *ep;

	ofi_genlock_lock(&av->ep_list_lock);
	dlist_foreach(&av->ep_list, item) {
		ep = container_of(item, struct rnic_fi_ep, util_ep.av_entry);
		rnic_fi_lock(ep->domain);
		rnic_fi_peers_resolve(ep);
		rnic_fi_unlock(ep->domain);
		if (!ep->srx)
			continue;
		srx = util_get_peer_srx(ep->srx);
		srx->owner_ops->foreach_unspec_addr(srx, rnic_fi_av_get_addr);
	}
	ofi_genlock_unlock(&av->ep_list_lock);
}

static int rnic_fi_av_insert(struct fid_av *av_fid, const void *addr,
			     size_t count, fi_addr_t *fi_addr, uint64_t flags,
			     void *context)
{
	struct util_av *av = container_of(av_fid, struct util_av, av_fid);
	const struct rnic_fi_transport *transport =
		rnic_fi_domain_of(&av->domain->domain_fid)->transport;
	const struct rnic_fi_name *names = addr;
	int *errs = flags & FI_SYNC_ERR ? context : NULL;
	fi_addr_t index;
	size_t i, done = 0;
	int ret;

	ret = ofi_verify_av_insert(av, flags, context);
	if (ret)
		return ret;
	for (i = 0; i < count; i++) {
		struct rnic_fi_name name;

		memcpy(&name, &names[i], sizeof(name));
		ret = -FI_EINVAL;
		index = FI_ADDR_NOTAVAIL;
		if (rnic_fi_name_is_endpoint(transport, &name) ||
		    rnic_fi_name_is_service(transport, &name)) {
			ofi_genlock_lock(&av->lock);
			ret = ofi_av_insert_addr(av, &name, &index);
			ofi_genlock_unlock(&av->lock);
		}
		if (fi_addr)
			fi_addr[i] = ret ? FI_ADDR_NOTAVAIL : index;
		if (errs)
			errs[i] = -ret;
		done += !ret;
	}
	rnic_fi_av_resolve(av);
	return done;
}

static int rnic_fi_av_remove(struct fid_av *av_fid, fi_addr_t *fi_addr,
			     size_t count, uint64_t flags)
{
	struct util_av *av = container_of(av_fid, struct util_av, av_fid);
	struct dlist_entry *item;
	struct rnic_fi_ep *ep;
	size_t i;
	int ret = 0;

	if (flags)
		return -FI_EINVAL;
	for (i = 0; i < count && !ret; i++) {
		ofi_genlock_lock(&av->ep_list_lock);
		dlist_foreach(&av->ep_list, item) {
			ep = container_of(item, struct rnic_fi_ep,
					  util_ep.av_entry);
			rnic_fi_lock(ep->domain);
			rnic_fi_peers_forget(ep, fi_addr[i]);
			rnic_fi_unlock(ep->domain);
		}
		ofi_genlock_unlock(&av->ep_list_lock);
		ofi_genlock_lock(&av->lock);
		ret = ofi_av_remove_addr(av, fi_addr[i]);
		ofi_genlock_unlock(&av->lock);
	}
	return ret;
}

static int rnic_fi_av_lookup(struct fid_av *av_fid, fi_addr_t fi_addr,
			     void *addr, size_t *addrlen)
{
	struct util_av *av = container_of(av_fid, struct util_av, av_fid);

	if (!rnic_fi_addr_valid(av, fi_addr))
		return -FI_EINVAL;
	memcpy(addr, ofi_av_get_addr(av, fi_addr),
	       MIN(*addrlen, sizeof(struct rnic_fi_name)));
	*addrlen = sizeof(struct rnic_fi_name);
	return 0;
}

static const char *rnic_fi_av_straddr(struct fid_av *av_fid, const void *addr,
				      char *buf, size_t *len)
{
	struct util_av *av = container_of(av_fid, struct util_av, av_fid);
	struct rnic_fi_name name;
	char text[64];
	size_t need;

	memcpy(&name, addr, sizeof(name));
	if (name.service)
		need = snprintf(text, sizeof(text), "%s://0x%x:%u",
				av->prov->name, le32toh(name.node), le16toh(name.service)) + 1;
	else
		need = snprintf(text, sizeof(text), "%s://0x%x/%u/%u/%04x",
				av->prov->name, le32toh(name.node), name.ctx, name.mbox,
				le16toh(name.tag)) + 1;
	if (buf && *len) {
		memcpy(buf, text, MIN(*len, need));
		buf[MIN(*len, need) - 1] = '\0';
	}
	*len = need;
	return buf;
}

static struct fi_ops rnic_fi_av_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rnic_fi_av_close,
	.bind = fi_no_bind,
	.control = fi_no_control,
	.ops_open = fi_no_ops_open,
};

static struct fi_ops_av rnic_fi_av_ops = {
	.size = sizeof(struct fi_ops_av),
	.insert = rnic_fi_av_insert,
	.insertsvc = fi_no_av_insertsvc,
	.insertsym = fi_no_av_insertsym,
	.remove = rnic_fi_av_remove,
	.lookup = rnic_fi_av_lookup,
	.straddr = rnic_fi_av_straddr,
};

int rnic_fi_av_open(struct fid_domain *domain_fid, struct fi_av_attr *attr,
		    struct fid_av **av_fid, void *context)
{
	struct util_domain *domain = container_of(domain_fid,
						  struct util_domain,
						  domain_fid);
	struct util_av_attr util_attr = {
		.addrlen = sizeof(struct rnic_fi_name),
	};
	struct util_av *av;
	int ret;

	if (!attr)
		return -FI_EINVAL;
	if (attr->type == FI_AV_UNSPEC)
		attr->type = domain->av_type != FI_AV_UNSPEC ?
			     domain->av_type : FI_AV_TABLE;
	av = calloc(1, sizeof(*av));
	if (!av)
		return -FI_ENOMEM;
	ret = ofi_av_init(domain, attr, &util_attr, av, context);
	if (ret) {
		free(av);
		return ret;
	}
	av->av_fid.fid.ops = &rnic_fi_av_fi_ops;
	av->av_fid.ops = &rnic_fi_av_ops;
	*av_fid = &av->av_fid;
	return 0;
}
