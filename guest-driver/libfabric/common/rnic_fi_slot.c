/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Slots: messages of medium size.  When a sender requests a ring of slots, the receiver
 * makes a ring for this sender if a place is free, and owns the memory of the slots.  The
 * sender fills the slots of a ring in cyclic order, and the receiver empties them in the
 * same order.
 */

#include <sys/mman.h>

#include "rnic_fi.h"

/*
 * Bytes of a slot, and number of slots, in the rings that this endpoint offers.  A copy of
 * a few pages costs less than the two additional trips of a rendezvous.
 */
#define RNIC_FI_SLOT_BYTES	32768
#define RNIC_FI_SLOTS		16

/*
 * Time (ms) without use after which the receiver may request the end of a ring, so that
 * another sender can have one.
 */
#define RNIC_FI_RING_IDLE_MS	1000

size_t rnic_fi_ring_limit = 64;

/*
 * Returns a ring with a mapping of @bytes that was released and may be reused now, or NULL
 * if there is none.
 */
static struct rnic_fi_ring *rnic_fi_ring_reuse(struct rnic_fi_domain *domain,
					       size_t bytes)
{
	uint64_t now = ofi_gettime_ms();
	struct rnic_fi_ring *ring;
	struct dlist_entry *item;

	dlist_foreach(&domain->rings, item) {
		ring = container_of(item, struct rnic_fi_ring, entry);
		if (ring->reuse_ms && ring->reuse_ms <= now &&
		    ring->alloc_bytes == bytes)
			return ring;
	}
	return NULL;
}

static struct rnic_fi_ring *rnic_fi_ring_map(struct rnic_fi_domain *domain,
					     size_t bytes)
{
	struct rnic_fi_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->alloc = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring->alloc == MAP_FAILED) {
		free(ring);
		return NULL;
	}
	/*
	 * Requests no huge pages, because a huge page that several rings share would keep
	 * the memory of freed rings.
	 */
	(void) madvise(ring->alloc, bytes, MADV_NOHUGEPAGE);
	ring->alloc_bytes = bytes;
	dlist_insert_tail(&ring->entry, &domain->rings);
	return ring;
}

static struct rnic_fi_ring *rnic_fi_ring_new(struct rnic_fi_domain *domain,
					     uint32_t slots, uint32_t slot_bytes)
{
	size_t bytes = (size_t)(slots + 1) * slot_bytes;
	struct rnic_fi_ring *ring = rnic_fi_ring_reuse(domain, bytes);

	if (!ring)
		ring = rnic_fi_ring_map(domain, bytes);
	if (!ring)
		return NULL;
	ring->mem = (uint8_t *)(((uintptr_t)ring->alloc + slot_bytes - 1) &
				~(uintptr_t)(slot_bytes - 1));
	ring->slots = slots;
	ring->slot_bytes = slot_bytes;
	ring->reuse_ms = 0;
	ring->filled = 0;
	ring->emptied = 0;
	ring->advertised = 0;
	ring->used = false;
	ring->used_ms = 0;
	ring->end_ms = 0;
	return ring;
}

/*
 * Frees the memory of @ring, but keeps its addresses mapped.  No other ring uses these
 * addresses before @reuse_ms (UINT64_MAX: never), because the NIC may write there until
 * then.
 */
static void rnic_fi_ring_release(const struct rnic_fi_domain *domain,
				 struct rnic_fi_ring *ring, uint64_t reuse_ms)
{
	if (madvise(ring->alloc, ring->alloc_bytes, MADV_DONTNEED))
		FI_WARN(rnic_fi_prov(domain), FI_LOG_EP_DATA, "madvise: %s\n",
			strerror(errno));
	ring->reuse_ms = reuse_ms;
}

void rnic_fi_rings_free(struct rnic_fi_domain *domain)
{
	struct rnic_fi_ring *ring;

	while (!dlist_empty(&domain->rings)) {
		ring = container_of(domain->rings.next, struct rnic_fi_ring,
				    entry);
		dlist_remove(&ring->entry);
		munmap(ring->alloc, ring->alloc_bytes);
		free(ring);
	}
}

static uint8_t *rnic_fi_slot_at(const struct rnic_fi_ring *ring, uint32_t index)
{
	return ring->mem + (size_t)(index & (ring->slots - 1)) *
	       ring->slot_bytes;
}

/* --- Sender ---------------------------------------------------------------- */

bool rnic_fi_slot_usable(struct rnic_fi_peer *peer, size_t len)
{
	const struct rnic_fi_ring *ring = peer->tx_ring;

	return ring && len <= rnic_fi_eager_size &&
	       len <= ring->slot_bytes - RNIC_FI_SLOT_HDR_BYTES &&
	       ring->filled - ring->emptied < ring->slots;
}

int rnic_fi_slot_send(struct rnic_fi_peer *peer, struct rnic_fi_op *op,
		      uint32_t ofi_op, const struct iovec *iov, size_t count,
		      uint64_t tag, uint64_t cq_data, uint64_t flags)
{
	struct rnic_fi_ring *ring = peer->tx_ring;
	struct rnic_fi_pkt *pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_SLOT);
	uint32_t index = ring->filled & (ring->slots - 1);
	uint8_t *slot = rnic_fi_slot_at(ring, index);
	struct rnic_fi_msg_slot hdr = { 0 };
	size_t len;

	if (!pkt)
		return -FI_ENOMEM;
	len = ofi_copy_from_iov(slot + sizeof(hdr),
				ring->slot_bytes - sizeof(hdr), iov, count, 0);
	hdr.tag = htole64(tag);
	hdr.cq_data = htole64(cq_data);
	hdr.len = htole32(len);
	hdr.flags = htole32(
		(ofi_op == ofi_op_tagged ? RNIC_FI_SLOT_TAGGED : 0) |
		(flags & FI_REMOTE_CQ_DATA ? RNIC_FI_SLOT_CQ_DATA : 0));
	memcpy(slot, &hdr, sizeof(hdr));
	pkt->op = op;
	pkt->slot = ring->filled++;
	pkt->req.wake = peer->ep->domain->timer_fd >= 0;
	pkt->req.len = sizeof(hdr) + len;
	pkt->req.remote = ring->remote + (uint64_t)index * ring->slot_bytes;
	pkt->req.local = slot;
	pkt->req.note = RNIC_PREP(RNIC_FI_SLOT_VERSION, RNIC_FI_VERSION) |
			RNIC_PREP(RNIC_FI_SLOT_RING, ring->number) |
			RNIC_PREP(RNIC_FI_SLOT_INDEX, index) |
			RNIC_PREP(RNIC_FI_SLOT_DST_TAG, peer->tag);
	rnic_fi_pkt_send(pkt);
	return 0;
}

void rnic_fi_slot_ring(struct rnic_fi_peer *peer, const struct rnic_fi_body *body)
{
	struct rnic_fi_ep *ep = peer->ep;
	struct rnic_fi_ring *ring;

	/*
	 * Ignores the offer if this sender has a ring of @peer already, has
	 * rnic_fi_ring_limit rings, or has no memory for a ring.  Without a ring, the
	 * sender sends longer messages by rendezvous, and answers RING_END by RING_GONE.
	 */
	if (peer->tx_ring || ep->tx_rings >= rnic_fi_ring_limit)
		return;
	ring = rnic_fi_ring_new(ep->domain, body->ring.slots,
				body->ring.slot_bytes);
	if (!ring)
		return;
	ring->remote = body->ring.remote;
	ring->number = body->ring.number;
	peer->tx_ring = ring;
	ep->tx_rings++;
}

void rnic_fi_slot_credit(struct rnic_fi_peer *peer, uint32_t emptied)
{
	struct rnic_fi_ring *ring = peer->tx_ring;

	if (ring && ring->filled - emptied <= ring->slots)
		ring->emptied = emptied;
}

/*
 * Frees the memory of @peer's send ring, and lets other rings use the addresses of this
 * ring.  All packets of the ring must have ended.
 */
static void rnic_fi_tx_ring_release(struct rnic_fi_peer *peer)
{
	rnic_fi_ring_release(peer->ep->domain, peer->tx_ring, ofi_gettime_ms());
	peer->tx_ring = NULL;
	peer->ep->tx_rings--;
}

void rnic_fi_slot_end(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		      uint16_t tag, uint16_t number)
{
	struct rnic_fi_peer *peer = rnic_fi_peer_find(ep, from, tag, false);
	struct rnic_fi_msg_ring_end body = { .ring = htole16(number) };

	if (peer && peer->tx_ring && peer->tx_ring->number == number) {
		/*
		 * Numbered messages are queued or posted.  The receiver repeats RING_END
		 * later.
		 */
		if (peer->queued || peer->inflight)
			return;
		rnic_fi_tx_ring_release(peer);
		peer->ask_ms = 0;
	}
	(void) rnic_fi_pkt_send_bare(ep, from, RNIC_FI_RING_GONE, tag, ep->tag,
				     &body, sizeof(body));
}

/* --- Receiver -------------------------------------------------------------- */

/*
 * Stores to each page of each slot that a message of up to eager_size bytes can use,
 * because a page fault of the NIC costs much more than a page fault of the processor.
 */
static void rnic_fi_ring_touch(struct rnic_fi_ring *ring)
{
	size_t used = MIN(rnic_fi_eager_size + RNIC_FI_SLOT_HDR_BYTES,
			  ring->slot_bytes);
	uint32_t i;
	size_t at;

	for (i = 0; i < ring->slots; i++) {
		for (at = 0; at < used; at += RNIC_FI_TOUCH_BYTES)
			rnic_fi_slot_at(ring, i)[at] = 0;
	}
}

/*
 * Returns the number of the ring in place @index.  The last 63 rings in this place had
 * other numbers, so that a late note for an earlier ring is not mistaken for a note for
 * this ring.
 */
static uint16_t rnic_fi_ring_number(const struct rnic_fi_ep *ep, uint32_t index)
{
	return ep->places[index].generation * RNIC_FI_RINGS_MAX + index;
}

/*
 * Sends RING_END for the receive ring of @ep that was not used for the longest time, at
 * least for RNIC_FI_RING_IDLE_MS.  Ignores the rings of dead peers, the rings of peers to
 * which numbered messages are queued or posted, and rings for which RING_END was sent in
 * the last RNIC_FI_PING_MS.  All places of @ep must be in use.
 */
static void rnic_fi_rings_reclaim(struct rnic_fi_ep *ep)
{
	uint64_t now = ofi_gettime_ms();
	struct rnic_fi_peer *peer, *oldest = NULL;
	struct rnic_fi_ring *ring;
	uint32_t i;

	for (i = 0; i < rnic_fi_ring_limit; i++) {
		peer = ep->places[i].peer;
		ring = peer->rx_ring;
		if (peer->dead || peer->queued || peer->inflight ||
		    ring->used || now < ring->used_ms + RNIC_FI_RING_IDLE_MS ||
		    (ring->end_ms && now < ring->end_ms + RNIC_FI_PING_MS))
			continue;
		if (!oldest || ring->used_ms < oldest->rx_ring->used_ms)
			oldest = peer;
	}
	if (oldest)
		rnic_fi_ring_end(oldest);
}

/*
 * Returns the index of the first free place of @ep for a ring.  A place whose peer has gone
 * counts as free, because many peers may come and go between two watches: the function
 * frees the rings of this peer.  If no place is free, requests the end of an idle ring, if
 * there is one, and returns -1.  Also returns -1 if memory is lacking or the limit is 0.
 */
static int rnic_fi_place_free(struct rnic_fi_ep *ep)
{
	struct rnic_fi_peer *peer;
	uint32_t i;

	if (!ep->places && rnic_fi_ring_limit)
		ep->places = calloc(rnic_fi_ring_limit, sizeof(*ep->places));
	if (!ep->places)
		return -1;
	for (i = 0; i < rnic_fi_ring_limit; i++) {
		peer = ep->places[i].peer;
		if (peer && peer->gone)
			rnic_fi_rings_release(peer);
		if (!ep->places[i].peer)
			return i;
	}
	rnic_fi_rings_reclaim(ep);
	return -1;
}

void rnic_fi_slot_offer(struct rnic_fi_peer *peer)
{
	struct rnic_fi_ep *ep = peer->ep;
	struct rnic_fi_ring *ring;
	struct rnic_fi_msg_ring offer = {
		.slot_bytes = htole32(RNIC_FI_SLOT_BYTES),
		.slots = htole16(RNIC_FI_SLOTS),
	};
	int index, ret;

	if (peer->rx_ring)
		return;
	index = rnic_fi_place_free(ep);
	if (index < 0)
		return;
	ring = rnic_fi_ring_new(ep->domain, RNIC_FI_SLOTS, RNIC_FI_SLOT_BYTES);
	if (!ring)
		return;
	ret = ep->domain->transport->expose(ep->domain->nic, ring->mem,
					    RNIC_FI_SLOTS * RNIC_FI_SLOT_BYTES,
					    FI_REMOTE_WRITE, &ring->base);
	if (ret) {
		/*
		 * Memory that the NIC cannot expose is not reused, except after -FI_ENOSPC,
		 * because the NIC may be able to expose this memory later.
		 */
		rnic_fi_ring_release(ep->domain, ring, ret == -FI_ENOSPC ?
				     ofi_gettime_ms() : UINT64_MAX);
		return;
	}
	ring->remote = ep->domain->transport->address(ring->base, 0, true);
	rnic_fi_ring_touch(ring);
	ring->number = rnic_fi_ring_number(ep, index);
	ring->used_ms = ofi_gettime_ms();
	ep->places[index].peer = peer;
	peer->rx_ring = ring;
	offer.ring = htole16(ring->number);
	offer.remote = htole64(ring->remote);
	if (rnic_fi_pkt_send_simple(peer, RNIC_FI_RING, &offer,
				    sizeof(offer)))
		rnic_fi_peer_fail(peer, FI_ENOMEM);
}

struct rnic_fi_peer *rnic_fi_slot_peer(struct rnic_fi_ep *ep, uint16_t number)
{
	uint32_t index = number % RNIC_FI_RINGS_MAX;

	if (!ep->places || index >= rnic_fi_ring_limit ||
	    !ep->places[index].peer ||
	    ep->places[index].peer->rx_ring->number != number)
		return NULL;
	return ep->places[index].peer;
}

/*
 * Frees the receive ring of @peer and ends its exposure.  A NIC that cannot stop writes in
 * flight may write to the ring's addresses until @reuse_ms.
 */
static void rnic_fi_rx_ring_release(struct rnic_fi_peer *peer, uint64_t reuse_ms)
{
	struct rnic_fi_domain *domain = peer->ep->domain;
	struct rnic_fi_place *place =
		&peer->ep->places[peer->rx_ring->number % RNIC_FI_RINGS_MAX];

	place->peer = NULL;
	place->generation++;
	domain->transport->unexpose(domain->nic, peer->rx_ring->base);
	rnic_fi_ring_release(domain, peer->rx_ring, reuse_ms);
	peer->rx_ring = NULL;
}

void rnic_fi_ring_end(struct rnic_fi_peer *peer)
{
	struct rnic_fi_msg_ring_end body = {
		.ring = htole16(peer->rx_ring->number),
	};

	if (peer->queued || peer->inflight)
		return;
	peer->rx_ring->end_ms = ofi_gettime_ms();
	rnic_fi_pkt_send_probe(peer, RNIC_FI_RING_END, &body, sizeof(body));
}

void rnic_fi_slot_gone(struct rnic_fi_ep *ep, const struct rnic_fi_addr *from,
		       uint16_t tag, uint16_t number)
{
	struct rnic_fi_peer *peer = rnic_fi_peer_find(ep, from, tag, false);

	if (peer && peer->rx_ring && peer->rx_ring->number == number &&
	    peer->rx_ring->end_ms)
		rnic_fi_rx_ring_release(peer, ofi_gettime_ms());
}

void rnic_fi_rings_release(struct rnic_fi_peer *peer)
{
	/*
	 * A peer that has not gone may fill slots at any time, so no other ring ever uses
	 * the addresses of this receive ring.
	 */
	if (peer->rx_ring)
		rnic_fi_rx_ring_release(peer, peer->gone ?
					ofi_gettime_ms() + RNIC_FI_GONE_MS :
					UINT64_MAX);
	/* The NIC may still read the slot of a posted packet. */
	if (peer->tx_ring && !peer->queued && !peer->inflight)
		rnic_fi_tx_ring_release(peer);
}

static void rnic_fi_slot_emptied(struct rnic_fi_peer *peer)
{
	struct rnic_fi_ring *ring = peer->rx_ring;
	struct rnic_fi_msg_credit credit = { 0 };

	if (++ring->emptied - ring->advertised < ring->slots / 2 || peer->dead)
		return;
	ring->advertised = ring->emptied;
	credit.emptied = htole32(ring->emptied);
	if (rnic_fi_pkt_send_simple(peer, RNIC_FI_CREDIT, &credit,
				    sizeof(credit)))
		rnic_fi_peer_fail(peer, FI_ENOMEM);
}

void rnic_fi_slot_arrive(struct rnic_fi_peer *peer, uint64_t word)
{
	struct rnic_fi_ring *ring = peer->rx_ring;
	struct rnic_fi_rx_info info = { 0 };
	struct rnic_fi_slot_note note;
	struct rnic_fi_slot_hdr hdr;
	const uint8_t *slot;

	/* A note that rnic_fi_rx_keep() has kept may be handled after the end of its ring. */
	if (!rnic_fi_decode_note(word, &note) || !ring ||
	    note.ring != ring->number || note.index >= ring->slots)
		return;
	ring->used = true;
	slot = rnic_fi_slot_at(ring, note.index);
	if (!rnic_fi_decode_slot(slot, ring->slot_bytes, &hdr)) {
		FI_WARN(rnic_fi_prov(peer->ep->domain), FI_LOG_EP_DATA,
			"bad slot\n");
		return;
	}
	info.ofi_op = hdr.tagged ? ofi_op_tagged : ofi_op_msg;
	info.tag = hdr.tag;
	if (hdr.has_cq_data) {
		info.flags = FI_REMOTE_CQ_DATA;
		info.cq_data = hdr.cq_data;
	}
	info.len = hdr.len;
	info.data = slot + RNIC_FI_SLOT_HDR_BYTES;
	rnic_fi_rx_deliver(peer, &info);
	rnic_fi_slot_emptied(peer);
}
