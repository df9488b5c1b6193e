/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Quiet peers: which of their memory is freed, and when.
 *
 * Only messages of endpoints of the same job arrive, because the NIC refuses messages of
 * other jobs.  The NIC stores node and context of the sender in a message, and a new tag at
 * a mailbox makes the earlier peer fail.  So messages create at most one living peer for
 * each mailbox of the job.  This file finds endpoints that have gone, and frees rings, which
 * have most of the memory:
 *
 *   peer          is freed when quiet_ms have passed since the peer was marked as gone,
 *                 if by_addr of the own endpoint does not name the peer, its rings are
 *                 freed, and no packet, operation or unexpected message refers to the
 *                 peer; or when the own endpoint closes.
 *   early buffer  is freed by the watch when all its messages are handled, or the peer is
 *                 dead.
 *   ring          is freed when its peer has gone or the own endpoint closes.  A receive ring
 *                 also ends, with the send ring of the peer, by RING_END and RING_GONE,
 *                 when its peer has been quiet for quiet_ms, or when another
 *                 sender requests a ring, the limit (parameter rings) is reached, and the
 *                 ring was not used for a second.  The ring exists until the peer answers
 *                 RING_GONE, because the peer may fill slots at any time.
 *
 * The addresses of a ring stay mapped until the domain closes.  No other ring uses the
 * addresses of a gone peer's receive ring for RNIC_FI_GONE_MS, because the NIC may still
 * write there.
 *
 * The NIC of an endpoint that has gone refuses PROBE, unless the NIC reports only a full
 * mailbox (see mbox_close() in rnic_fi_transport.h), and a new endpoint at the same mailbox
 * answers NAK.  The time between two probes doubles up to RNIC_FI_PROBE_MAX_MS, because
 * probes must not fill the mailbox of a quiet endpoint that makes no progress.
 */

#include "rnic_fi.h"

size_t rnic_fi_quiet_ms = 60000;

/*
 * Returns true if memory of @peer could be freed if the endpoint of @peer were known to
 * have gone.
 */
static bool rnic_fi_quiet_holds(const struct rnic_fi_peer *peer)
{
	return peer->rx_ring || peer->tx_ring || !peer->names;
}

static void rnic_fi_quiet_probe(struct rnic_fi_peer *peer, uint64_t now)
{
	struct rnic_fi_domain *domain = peer->ep->domain;

	if (peer->gone || !rnic_fi_quiet_holds(peer) || now < peer->probe_ms ||
	    peer->queued || peer->inflight ||
	    !dlist_empty(&domain->msg_queue) ||
	    rnic_fi_pkts_posted(domain, RNIC_FI_PKT_PROBE) >= RNIC_FI_PROBES)
		return;
	peer->probe_ms = now + peer->probe_wait;
	peer->probe_wait = MIN(peer->probe_wait * 2, RNIC_FI_PROBE_MAX_MS);
	/*
	 * RING_END is not sent to a dead peer, because the endpoint of this peer may still
	 * exist and fill slots.
	 */
	if (peer->rx_ring && !peer->dead)
		rnic_fi_ring_end(peer);
	else
		rnic_fi_pkt_send_probe(peer, RNIC_FI_PROBE, NULL, 0);
}

static void rnic_fi_quiet_early(struct rnic_fi_peer *peer)
{
	unsigned int i;

	for (i = 0; peer->early && i < RNIC_FI_WINDOW; i++) {
		if (peer->early[i].size && !peer->dead)
			return;
	}
	free(peer->early);
	peer->early = NULL;
}

static void rnic_fi_quiet_watch(struct rnic_fi_peer *peer, uint64_t now)
{
	struct rnic_fi_ring *ring = peer->rx_ring;

	if (ring && ring->used) {
		ring->used = false;
		ring->used_ms = now;
	}
	if (peer->active || !peer->probe_wait) {
		peer->probe_wait = rnic_fi_quiet_ms;
		peer->probe_ms = now + rnic_fi_quiet_ms;
	}
	rnic_fi_quiet_early(peer);
	if (peer->gone)
		rnic_fi_rings_release(peer);
	else
		rnic_fi_quiet_probe(peer, now);
}

static bool rnic_fi_quiet_over(const struct rnic_fi_peer *peer, uint64_t now)
{
	return peer->gone && now >= peer->gone_ms + rnic_fi_quiet_ms &&
	       !peer->refs && !peer->names && !peer->queued &&
	       !peer->inflight && !peer->rx_ring && !peer->tx_ring &&
	       dlist_empty((struct dlist_entry *)&peer->ops);
}

void rnic_fi_peers_free(struct rnic_fi_ep *ep)
{
	struct rnic_fi_peer *peer;
	unsigned int i;

	rnic_fi_lookups_forget(ep, FI_ADDR_UNSPEC);
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
	/*
	 * The peer has acknowledged no message since the last watch, for example because
	 * the mailbox of the peer is full.  The peer may wait for a third process, which
	 * waits for this process, which waits for these completions.  The function
	 * completes the sends now to prevent this deadlock.  Acks of reads and writes do
	 * not matter, because the NIC of the peer sends them.
	 */
	if (!peer->takes && rnic_fi_peer_owes(peer) &&
	    (peer->inflight || peer->queued))
		rnic_fi_pkts_hold(peer);
	peer->takes = false;
	if (peer->active || !rnic_fi_peer_owes(peer)) {
		peer->active = false;
		peer->alive_ms = now;
		return;
	}
	/*
	 * A numbered message that is not acked yet serves as PING: its ack or error is the
	 * answer.
	 */
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
	for (n = 0; n < RNIC_FI_MBOXES; n++) {
		if (domain->eps[n])
			rnic_fi_ep_watch(domain->eps[n], now);
	}
}
