/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Peers: creation, search, failure and end. */

#include "rnic_fi.h"

static struct rnic_fi_peer **rnic_fi_peer_bucket(struct rnic_fi_ep *ep,
						 const struct rnic_fi_addr *at)
{
	uint32_t hash = at->node * 61 + at->ctx * 4 + at->mbox;

	return &ep->buckets[hash % RNIC_FI_PEER_BUCKETS];
}

static bool rnic_fi_peer_has(const struct rnic_fi_peer *peer,
			     const struct rnic_fi_addr *at)
{
	return peer->to.node == at->node && peer->to.ctx == at->ctx &&
	       peer->to.mbox == at->mbox;
}

static fi_addr_t rnic_fi_peer_lookup(struct rnic_fi_peer *peer)
{
	struct rnic_fi_name name = {
		.node = htole32(peer->to.node),
		.ctx = peer->to.ctx,
		.mbox = peer->to.mbox,
		.tag = htole16(peer->tag),
		.job = htole16(peer->ep->domain->nic->job),
		.version = RNIC_FI_VERSION,
	};

	return ofi_av_lookup_fi_addr(peer->ep->util_ep.av, &name);
}

static struct rnic_fi_peer *rnic_fi_peer_new(struct rnic_fi_ep *ep,
					     const struct rnic_fi_addr *at,
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

static struct rnic_fi_peer *rnic_fi_peer_known(struct rnic_fi_ep *ep,
					       const struct rnic_fi_addr *at,
					       uint16_t tag)
{
	struct rnic_fi_peer *peer;

	for (peer = *rnic_fi_peer_bucket(ep, at); peer; peer = peer->next) {
		if (rnic_fi_peer_has(peer, at) && peer->tag == tag)
			return peer;
	}
	return NULL;
}

struct rnic_fi_peer *rnic_fi_peer_at(struct rnic_fi_ep *ep,
				     const struct rnic_fi_addr *at, uint16_t tag)
{
	struct rnic_fi_peer *peer = rnic_fi_peer_known(ep, at, tag);

	return peer ? peer : rnic_fi_peer_new(ep, at, tag);
}

struct rnic_fi_peer *rnic_fi_peer_find(struct rnic_fi_ep *ep,
				       const struct rnic_fi_addr *from,
				       uint16_t tag, bool make)
{
	struct rnic_fi_peer *peer = rnic_fi_peer_known(ep, from, tag);

	if (peer || !make)
		return peer;
	/*
	 * A new endpoint has mailbox @from, so the earlier endpoints of this mailbox have
	 * gone.
	 */
	for (peer = *rnic_fi_peer_bucket(ep, from); peer; peer = peer->next) {
		if (rnic_fi_peer_has(peer, from))
			rnic_fi_peer_fail(peer, FI_ECONNRESET);
	}
	return rnic_fi_peer_new(ep, from, tag);
}

void rnic_fi_peer_name(struct rnic_fi_peer **slot, struct rnic_fi_peer *peer)
{
	if (peer)
		peer->names++;
	if (*slot)
		(*slot)->names--;
	*slot = peer;
}

/*
 * Frees all packets in the queue of @peer.  If @err is not 0, ends with @err the parts of
 * operations that wait for these packets.
 */
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

/*
 * Warns, at most once for each domain, that @peer at another node has failed, if the NICs of
 * other nodes refuse the own job (rnic_fi_nic.remedy).  The user must see this warning,
 * because a send of fi_inject() has no completion that reports the error.  libfabric shows
 * warnings only on request, so without this request the function writes to standard error.
 */
static void rnic_fi_peer_warn(const struct rnic_fi_peer *peer)
{
	struct rnic_fi_domain *domain = peer->ep->domain;
	const struct fi_provider *prov = rnic_fi_prov(domain);
	static const char text[] = "job %u does not reach node 0x%x: %s\n";

	if (domain->warned || !domain->nic->remedy ||
	    peer->to.node == domain->nic->node)
		return;
	domain->warned = true;
	if (fi_log_enabled(prov, FI_LOG_WARN, FI_LOG_EP_DATA)) {
		FI_WARN(prov, FI_LOG_EP_DATA, text, domain->nic->job,
			peer->to.node, domain->nic->remedy);
		return;
	}
	fprintf(stderr, "libfabric: %s: ", prov->name);
	fprintf(stderr, text, domain->nic->job, peer->to.node,
		domain->nic->remedy);
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
	FI_INFO(rnic_fi_prov(peer->ep->domain), FI_LOG_EP_DATA,
		"node 0x%x context %u mailbox %u is gone: %s\n",
		peer->to.node, peer->to.ctx, peer->to.mbox, fi_strerror(err));
	if (err == FI_ECONNRESET)
		rnic_fi_peer_warn(peer);
	peer->dead = err;
	rnic_fi_peer_drop_queue(peer, err);
	rnic_fi_reads_fail(peer->ep->domain);
	/*
	 * The answers to RTS and ATOMIC never arrive.  Operations of other kinds wait
	 * only for packets, and end with their packets.
	 */
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

void rnic_fi_peer_free(struct rnic_fi_peer *peer)
{
	rnic_fi_peer_drop_queue(peer, 0);
	while (!dlist_empty(&peer->ops))
		rnic_fi_op_free(container_of(peer->ops.next, struct rnic_fi_op,
					     entry));
	free(peer->early);
	free(peer);
}
