/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Peers: finding them, and what happens when one is gone. */

#include "rnic_fi.h"

static struct rnic_fi_peer **rnic_fi_peer_bucket(struct rnic_fi_ep *ep,
						 const struct exa_mbox_addr *at)
{
	uint32_t hash = at->coord * 61 + at->ctx * 4 + at->mbox;

	return &ep->buckets[hash % RNIC_FI_PEER_BUCKETS];
}

static bool rnic_fi_peer_at(const struct rnic_fi_peer *peer,
			    const struct exa_mbox_addr *at)
{
	return peer->to.coord == at->coord && peer->to.ctx == at->ctx &&
	       peer->to.mbox == at->mbox;
}

static fi_addr_t rnic_fi_peer_lookup(struct rnic_fi_peer *peer)
{
	struct rnic_fi_name name = {
		.coord = htole32(peer->to.coord),
		.ctx = peer->to.ctx,
		.mbox = peer->to.mbox,
		.tag = htole16(peer->tag),
		.job = htole16(peer->ep->domain->job),
		.version = RNIC_FI_VERSION,
	};

	return ofi_av_lookup_fi_addr(peer->ep->util_ep.av, &name);
}

static struct rnic_fi_peer *rnic_fi_peer_new(struct rnic_fi_ep *ep,
					     const struct exa_mbox_addr *at,
					     uint16_t tag)
{
	struct rnic_fi_peer **bucket = rnic_fi_peer_bucket(ep, at);
	struct rnic_fi_peer *peer;

	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return NULL;
	peer->ep = ep;
	peer->to = *at;
	peer->tag = tag;
	dlist_init(&peer->queue);
	dlist_init(&peer->wait_entry);
	dlist_init(&peer->ops);
	peer->fi_addr = rnic_fi_peer_lookup(peer);
	peer->next = *bucket;
	*bucket = peer;
	return peer;
}

struct rnic_fi_peer *rnic_fi_peer_find(struct rnic_fi_ep *ep,
				       const struct exa_mbox_addr *from,
				       uint16_t tag, bool make)
{
	struct rnic_fi_peer *peer;

	for (peer = *rnic_fi_peer_bucket(ep, from); peer; peer = peer->next) {
		if (rnic_fi_peer_at(peer, from) && peer->tag == tag)
			return peer;
	}
	if (!make)
		return NULL;
	/* Somebody new speaks from there: the one before is no more. */
	for (peer = *rnic_fi_peer_bucket(ep, from); peer; peer = peer->next) {
		if (rnic_fi_peer_at(peer, from))
			rnic_fi_peer_fail(peer, FI_ECONNRESET);
	}
	return rnic_fi_peer_new(ep, from, tag);
}

static int rnic_fi_peer_make(struct rnic_fi_ep *ep, fi_addr_t addr,
			     struct rnic_fi_peer **slot)
{
	struct util_av *av = ep->util_ep.av;
	const struct rnic_fi_name *name;
	struct exa_mbox_addr at = { 0 };
	struct rnic_fi_peer *peer;
	uint16_t tag;

	name = ofi_av_get_addr(av, addr);
	if (rnic_fi_name_is_service(name))
		return rnic_fi_lookup_poll(ep, addr, name);
	at.coord = le32toh(name->coord);
	at.ctx = name->ctx;
	at.mbox = name->mbox;
	tag = le16toh(name->tag);
	for (peer = *rnic_fi_peer_bucket(ep, &at); peer; peer = peer->next) {
		if (rnic_fi_peer_at(peer, &at) && peer->tag == tag)
			break;
	}
	if (!peer)
		peer = rnic_fi_peer_new(ep, &at, tag);
	if (!peer)
		return -FI_ENOMEM;
	peer->fi_addr = addr;
	rnic_fi_peer_name(slot, peer);
	return 0;
}

void rnic_fi_peer_name(struct rnic_fi_peer **slot, struct rnic_fi_peer *peer)
{
	if (peer)
		peer->names++;
	if (*slot)
		(*slot)->names--;
	*slot = peer;
}

int rnic_fi_peer_adopt(struct rnic_fi_ep *ep, fi_addr_t addr,
		       const struct exa_mbox_addr *at, uint16_t tag)
{
	struct rnic_fi_peer **slot = ofi_array_at(&ep->by_addr, addr);
	struct rnic_fi_peer *peer = rnic_fi_peer_find(ep, at, tag, true);

	if (!slot || !peer)
		return -FI_ENOMEM;
	if (peer->fi_addr == FI_ADDR_NOTAVAIL)
		peer->fi_addr = addr;
	rnic_fi_peer_name(slot, peer);
	return 0;
}

bool rnic_fi_addr_valid(struct util_av *av, fi_addr_t addr)
{
	struct ofi_bufpool *pool = av->av_entry_pool;

	return addr <= OFI_IDX_MAX_INDEX &&
	       addr / pool->attr.chunk_cnt < pool->region_cnt &&
	       ofi_bufpool_ibuf_is_valid(pool, addr);
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

/* @err 0: nobody is told. */
static void rnic_fi_peer_drop_queue(struct rnic_fi_peer *peer, int err)
{
	struct rnic_fi_pkt *pkt;
	struct rnic_fi_op *op;

	while (peer->queued) {
		pkt = container_of(peer->queue.next, struct rnic_fi_pkt, entry);
		dlist_remove(&pkt->entry);
		if (!--peer->queued)
			dlist_remove_init(&peer->wait_entry);
		op = pkt->op;
		rnic_fi_pkt_free(pkt);
		if (op && err)
			rnic_fi_op_put(op, err);
	}
}

void rnic_fi_peer_fail(struct rnic_fi_peer *peer, int err)
{
	struct dlist_entry *item, *tmp;
	struct rnic_fi_op *op;

	if (err == FI_ECONNRESET && !peer->gone) {
		peer->gone = true;
		peer->gone_ms = ofi_gettime_ms();
	}
	if (peer->dead)
		return;
	FI_INFO(&exanet_prov, FI_LOG_EP_DATA,
		"node 0x%x context %u mailbox %u is gone: %s\n",
		peer->to.coord, peer->to.ctx, peer->to.mbox, fi_strerror(err));
	peer->dead = err;
	rnic_fi_peer_drop_queue(peer, err);
	rnic_fi_reads_fail(peer, err);
	/* What is on a channel ends by itself; answers will not come. */
	dlist_foreach_safe(&peer->ops, item, tmp) {
		op = container_of(item, struct rnic_fi_op, entry);
		if (op->kind == RNIC_FI_OP_RTS || op->kind == RNIC_FI_OP_ATOMIC)
			rnic_fi_op_put(op, err);
	}
}

void rnic_fi_peers_resolve(struct rnic_fi_ep *ep)
{
	struct rnic_fi_peer *peer;
	unsigned int i;

	for (i = 0; i < RNIC_FI_PEER_BUCKETS; i++) {
		for (peer = ep->buckets[i]; peer; peer = peer->next) {
			if (peer->fi_addr == FI_ADDR_NOTAVAIL)
				peer->fi_addr = rnic_fi_peer_lookup(peer);
		}
	}
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
	/* A peer may have two entries: the endpoint's name and the service's name. */
	if ((*slot)->fi_addr == addr)
		(*slot)->fi_addr = FI_ADDR_NOTAVAIL;
	rnic_fi_peer_name(slot, NULL);
}

void rnic_fi_peer_free(struct rnic_fi_peer *peer)
{
	rnic_fi_peer_drop_queue(peer, 0);
	while (!dlist_empty(&peer->ops))
		rnic_fi_op_free(container_of(peer->ops.next, struct rnic_fi_op,
					     entry));
	free(peer->early);
	free(peer);
}

void rnic_fi_peers_free(struct rnic_fi_ep *ep)
{
	struct rnic_fi_peer *peer;
	unsigned int i;

	rnic_fi_lookups_forget(ep, FI_ADDR_UNSPEC);
	rnic_fi_reads_orphan(ep);
	rnic_fi_pkts_orphan(ep);
	for (i = 0; i < RNIC_FI_PEER_BUCKETS; i++) {
		while ((peer = ep->buckets[i])) {
			ep->buckets[i] = peer->next;
			rnic_fi_rings_release(peer);
			rnic_fi_peer_free(peer);
		}
	}
	ofi_array_destroy(&ep->by_addr);
	free(ep->places);
}

static bool rnic_fi_peer_owes(struct rnic_fi_peer *peer)
{
	return !peer->dead && !dlist_empty(&peer->ops);
}

static void rnic_fi_peer_watch(struct rnic_fi_peer *peer, uint64_t now)
{
	struct rnic_fi_pkt *pkt;

	rnic_fi_quiet_watch(peer, now);
	if (peer->active || !rnic_fi_peer_owes(peer)) {
		peer->active = false;
		peer->alive_ms = now;
		return;
	}
	/*
	 * The peer's mailbox is full; its program may wait for another process that
	 * waits for our completions, so completing held sends prevents a deadlock.
	 */
	if (peer->inflight || peer->queued)
		rnic_fi_pkts_hold(peer);
	/* Unacked messages are a question already. */
	if (now - peer->alive_ms < RNIC_FI_PING_MS || peer->inflight ||
	    peer->queued)
		return;
	peer->alive_ms = now;
	pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_MSG);
	if (!pkt)
		return;
	rnic_fi_pkt_header(pkt, RNIC_FI_PING, 0);
	rnic_fi_pkt_send(pkt);
}

static void rnic_fi_ep_watch(struct rnic_fi_ep *ep, uint64_t now)
{
	struct rnic_fi_peer **link, *peer;
	unsigned int i;

	for (i = 0; i < RNIC_FI_PEER_BUCKETS; i++) {
		for (link = &ep->buckets[i]; (peer = *link);) {
			rnic_fi_peer_watch(peer, now);
			if (rnic_fi_quiet_over(peer, now)) {
				*link = peer->next;
				rnic_fi_peer_free(peer);
			} else {
				link = &peer->next;
			}
		}
	}
}

void rnic_fi_peers_watch(struct rnic_fi_domain *domain)
{
	unsigned int n;
	uint64_t now = ofi_gettime_ms();

	if (now < domain->watch_ms)
		return;
	domain->watch_ms = now + RNIC_FI_WATCH_MS;
	for (n = 0; n < EXANET_MAILBOXES; n++) {
		if (domain->eps[n])
			rnic_fi_ep_watch(domain->eps[n], now);
	}
}
