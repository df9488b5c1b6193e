/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Finds and makes the peers of the addresses in an AV. */

#include "rnic_fi.h"

bool rnic_fi_addr_valid(struct util_av *av, fi_addr_t addr)
{
	struct ofi_bufpool *pool = av->av_entry_pool;

	return addr <= OFI_IDX_MAX_INDEX &&
	       addr / pool->attr.chunk_cnt < pool->region_cnt &&
	       ofi_bufpool_ibuf_is_valid(pool, addr);
}

static int rnic_fi_peer_make(struct rnic_fi_ep *ep, fi_addr_t addr,
			     struct rnic_fi_peer **slot)
{
	struct util_av *av = ep->util_ep.av;
	const struct rnic_fi_name *name;
	struct rnic_fi_addr at = { 0 };
	struct rnic_fi_peer *peer;

	name = ofi_av_get_addr(av, addr);
	if (rnic_fi_name_is_service(ep->domain->transport, name))
		return rnic_fi_lookup_poll(ep, addr, name);
	at.node = le32toh(name->node);
	at.ctx = name->ctx;
	at.mbox = name->mbox;
	peer = rnic_fi_peer_at(ep, &at, le16toh(name->tag));
	if (!peer)
		return -FI_ENOMEM;
	peer->fi_addr = addr;
	rnic_fi_peer_name(slot, peer);
	return 0;
}

int rnic_fi_peer_get(struct rnic_fi_ep *ep, fi_addr_t addr,
		     struct rnic_fi_peer **peer)
{
	struct rnic_fi_peer **slot;
	int ret;

	if (addr > OFI_IDX_MAX_INDEX)
		return -FI_EINVAL;
	slot = ofi_array_at(&ep->by_addr, addr);
	if (!slot)
		return -FI_ENOMEM;
	if (!*slot) {
		if (!rnic_fi_addr_valid(ep->util_ep.av, addr))
			return -FI_EINVAL;
		ret = rnic_fi_peer_make(ep, addr, slot);
		if (ret)
			return ret;
	}
	*peer = *slot;
	return -(*slot)->dead;
}

void rnic_fi_peers_forget(struct rnic_fi_ep *ep, fi_addr_t addr)
{
	struct rnic_fi_peer **slot;

	if (addr > OFI_IDX_MAX_INDEX)
		return;
	rnic_fi_lookups_forget(ep, addr);
	slot = ofi_array_at(&ep->by_addr, addr);
	if (!slot || !*slot)
		return;
	/*
	 * A peer may have two entries in the AV: the name of its endpoint and the name of
	 * the service of this endpoint.
	 */
	if ((*slot)->fi_addr == addr)
		(*slot)->fi_addr = FI_ADDR_NOTAVAIL;
	rnic_fi_peer_name(slot, NULL);
}
