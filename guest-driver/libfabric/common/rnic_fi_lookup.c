/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Services: lookup of the endpoint that owns a service.
 *
 * fi_getinfo() makes the name of a service from a node and a number.  The first operation
 * with such a name starts a lookup, which sends LOOKUP to every mailbox of the node.  The
 * NIC refuses a LOOKUP to a mailbox that does not exist or belongs to another job.  The
 * endpoint that owns the service answers FOUND; from then on the name of the service refers
 * to this endpoint.
 *
 * The endpoint may be opened later, so the lookup repeats LOOKUP in rounds.  The pauses
 * between rounds grow, because LOOKUP also uses room in the mailboxes of other programs of
 * the job.  LOOKUP is sent without ack: a message to a mailbox that is not enabled would
 * be retransmitted by the NIC for ten seconds, and a few of these messages would occupy all
 * channels that lookups may use.
 */
#include "rnic_fi.h"

#define RNIC_FI_LOOKUP_MS	10000	/* time (ms) after which a lookup fails */
#define RNIC_FI_LOOKUP_PAUSE_MS	200	/* time (ms) from the first round to the second; doubles
					 * with each round */
#define RNIC_FI_LOOKUP_PAUSE_MAX_MS 2000	/* maximum time (ms) between two rounds */
#define RNIC_FI_LOOKUP_INFLIGHT	4	/* maximum number of posted LOOKUPs of a domain */

/* Returns the number of mailboxes of a node. */
static uint16_t rnic_fi_lookup_mboxes(const struct rnic_fi_ep *ep)
{
	const struct rnic_fi_transport *transport = ep->domain->transport;

	return transport->contexts * transport->mboxes;
}

static struct rnic_fi_lookup *rnic_fi_lookup_find(struct rnic_fi_ep *ep,
						  fi_addr_t addr)
{
	struct rnic_fi_lookup *lookup;
	struct dlist_entry *item;

	dlist_foreach(&ep->domain->lookups, item) {
		lookup = container_of(item, struct rnic_fi_lookup, entry);
		if (lookup->ep == ep && lookup->addr == addr)
			return lookup;
	}
	return NULL;
}

static void rnic_fi_lookup_free(struct rnic_fi_lookup *lookup)
{
	dlist_remove(&lookup->entry);
	free(lookup);
}

int rnic_fi_lookup_poll(struct rnic_fi_ep *ep, fi_addr_t addr,
			const struct rnic_fi_name *name)
{
	struct rnic_fi_lookup *lookup = rnic_fi_lookup_find(ep, addr);
	int err;

	if (!lookup) {
		lookup = calloc(1, sizeof(*lookup));
		if (!lookup)
			return -FI_ENOMEM;
		lookup->ep = ep;
		lookup->addr = addr;
		lookup->node = le32toh(name->node);
		lookup->service = le16toh(name->service);
		lookup->round_ms = ofi_gettime_ms();
		lookup->end_ms = lookup->round_ms + RNIC_FI_LOOKUP_MS;
		lookup->pause_ms = RNIC_FI_LOOKUP_PAUSE_MS;
		lookup->next = rnic_fi_lookup_mboxes(ep);
		dlist_insert_tail(&lookup->entry, &ep->domain->lookups);
		return -FI_EAGAIN;
	}
	if (!lookup->err)
		return -FI_EAGAIN;
	/* The next operation with this name starts another lookup. */
	err = lookup->err;
	rnic_fi_lookup_free(lookup);
	return -err;
}

void rnic_fi_lookups_forget(struct rnic_fi_ep *ep, fi_addr_t addr)
{
	struct rnic_fi_lookup *lookup;
	struct dlist_entry *item, *tmp;

	dlist_foreach_safe(&ep->domain->lookups, item, tmp) {
		lookup = container_of(item, struct rnic_fi_lookup, entry);
		if (lookup->ep == ep &&
		    (addr == FI_ADDR_UNSPEC || lookup->addr == addr))
			rnic_fi_lookup_free(lookup);
	}
}

/*
 * Sends LOOKUP to mailbox @lookup->next of the node.  Returns 0, -FI_EAGAIN if no channel is
 * free, or another negative error.
 */
static int rnic_fi_lookup_ask(struct rnic_fi_lookup *lookup)
{
	uint8_t mboxes = lookup->ep->domain->transport->mboxes;
	struct rnic_fi_addr to = {
		.node = lookup->node,
		.ctx = lookup->next / mboxes,
		.mbox = lookup->next % mboxes,
	};
	struct rnic_fi_msg_service body = {
		.service = htole16(lookup->service),
	};

	return rnic_fi_pkt_send_bare(lookup->ep, &to, RNIC_FI_LOOKUP, 0,
				     lookup->ep->tag, &body, sizeof(body));
}

static void rnic_fi_lookup_progress(struct rnic_fi_lookup *lookup, uint64_t now)
{
	struct rnic_fi_domain *domain = lookup->ep->domain;
	uint16_t mboxes = rnic_fi_lookup_mboxes(lookup->ep);

	if (lookup->err)
		return;
	if (now >= lookup->end_ms) {
		FI_INFO(rnic_fi_prov(domain), FI_LOG_EP_CTRL,
			"node 0x%x: no endpoint has service %u\n",
			lookup->node, lookup->service);
		lookup->err = FI_ECONNREFUSED;
		return;
	}
	if (lookup->next == mboxes) {
		if (now < lookup->round_ms)
			return;
		lookup->round_ms = now + lookup->pause_ms;
		lookup->pause_ms = MIN(2 * lookup->pause_ms,
				       RNIC_FI_LOOKUP_PAUSE_MAX_MS);
		lookup->next = 0;
	}
	/*
	 * If a LOOKUP fails with another error than -FI_EAGAIN, the mailbox gets its next
	 * LOOKUP in the next round.
	 */
	while (lookup->next < mboxes &&
	       rnic_fi_pkts_posted(domain, RNIC_FI_PKT_LOOKUP) <
	       RNIC_FI_LOOKUP_INFLIGHT &&
	       rnic_fi_lookup_ask(lookup) != -FI_EAGAIN)
		lookup->next++;
}

void rnic_fi_lookups_progress(struct rnic_fi_domain *domain)
{
	uint64_t now = ofi_gettime_ms();
	struct dlist_entry *item;

	dlist_foreach(&domain->lookups, item)
		rnic_fi_lookup_progress(container_of(item, struct rnic_fi_lookup,
						     entry), now);
}

bool rnic_fi_lookups_pending(const struct rnic_fi_domain *domain)
{
	const struct dlist_entry *item;

	for (item = domain->lookups.next; item != &domain->lookups;
	     item = item->next) {
		if (!container_of(item, struct rnic_fi_lookup, entry)->err)
			return true;
	}
	return false;
}

void rnic_fi_lookup_answer(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			   uint16_t tag, uint16_t service)
{
	struct rnic_fi_msg_service body = { .service = htole16(service) };

	if (service != ep->service)
		return;
	/* If this FOUND is lost, the peer's next LOOKUP gets another FOUND. */
	(void) rnic_fi_pkt_send_bare(ep, to, RNIC_FI_FOUND, tag, ep->tag,
				     &body, sizeof(body));
}

/*
 * Makes @addr, the name of a service in the AV, refer to the peer at @at with @tag.  Returns
 * 0, or -FI_ENOMEM if memory is lacking.
 */
static int rnic_fi_lookup_adopt(struct rnic_fi_ep *ep, fi_addr_t addr,
				const struct rnic_fi_addr *at, uint16_t tag)
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

void rnic_fi_lookup_found(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
			  uint16_t tag, uint16_t service)
{
	struct rnic_fi_lookup *lookup;
	struct dlist_entry *item, *tmp;

	if (!tag)
		return;
	dlist_foreach_safe(&ep->domain->lookups, item, tmp) {
		lookup = container_of(item, struct rnic_fi_lookup, entry);
		if (lookup->ep != ep || lookup->node != from->node ||
		    lookup->service != service)
			continue;
		/*
		 * If memory is lacking, the lookup continues, and a later FOUND may end the
		 * lookup.
		 */
		if (!rnic_fi_lookup_adopt(ep, lookup->addr, from, tag))
			rnic_fi_lookup_free(lookup);
	}
}
