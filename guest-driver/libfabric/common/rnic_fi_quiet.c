/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Quiet peers: which of their memory is freed, and when.
 *
 * Only endpoints of the same job can become peers, because the NIC drops messages of
 * others.  The NIC vouches for coordinates and context of a sender, so that the peers of
 * an endpoint are at most as many as the job has mailboxes: a new tag at a mailbox ends
 * the peer that was there before.  The rest of the work is to notice that endpoints have
 * gone, and to take rings back, which have most of the memory:
 *
 *   peer          is freed FI_EXANET_QUIET_MS after its endpoint has gone, if it is not
 *                 in the AV and no packet, operation, read or unexpected message refers
 *                 to it.
 *   early buffer  is freed when all its messages are handled.
 *   ring          is freed when its peer has gone; when its peer has been quiet for
 *                 FI_EXANET_QUIET_MS, by RING_END and RING_GONE; and when another sender
 *                 requests one, all FI_EXANET_RINGS of them exist, and this one was not
 *                 used for a second.  It stays while its peer cannot answer, because
 *                 that may fill slots at any time.
 *
 * The address space of a ring is never returned before the domain is closed, and gets a
 * new use RNIC_FI_GONE_MS after the old one only, because the NIC may still write there.
 *
 * The NIC of an endpoint that has gone refuses PROBE, and a new endpoint at this mailbox
 * answers NAK.  A quiet endpoint that makes no progress does not lose its mailbox to
 * probes: the time between two of them doubles up to RNIC_FI_PROBE_MAX_MS.
 */

#include "rnic_fi.h"

size_t rnic_fi_quiet_ms = 60000;

void rnic_fi_probe_send(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			const void *body, size_t len)
{
	struct rnic_fi_pkt *pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_PROBE);

	if (!pkt)
		return;		/* the next probe will do */
	rnic_fi_pkt_header(pkt, op, 0);
	if (len)
		memcpy(pkt->data + pkt->len, body, len);
	pkt->len += len;
	rnic_fi_pkt_send(pkt);
}

/* Returns true if the end of the endpoint of @peer would free memory. */
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
	    rnic_fi_pkts_on_channels(domain, RNIC_FI_PKT_PROBE) >= RNIC_FI_PROBES)
		return;
	peer->probe_ms = now + peer->probe_wait;
	peer->probe_wait = MIN(peer->probe_wait * 2, RNIC_FI_PROBE_MAX_MS);
	/* A dead peer that lives may fill slots without our knowledge. */
	if (peer->rx_ring && !peer->dead)
		rnic_fi_ring_end(peer);
	else
		rnic_fi_probe_send(peer, RNIC_FI_PROBE, NULL, 0);
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

void rnic_fi_quiet_watch(struct rnic_fi_peer *peer, uint64_t now)
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

bool rnic_fi_quiet_over(const struct rnic_fi_peer *peer, uint64_t now)
{
	return peer->gone && now >= peer->gone_ms + rnic_fi_quiet_ms &&
	       !peer->refs && !peer->names && !peer->queued &&
	       !peer->inflight && !peer->rx_ring && !peer->tx_ring &&
	       dlist_empty((struct dlist_entry *)&peer->ops);
}
