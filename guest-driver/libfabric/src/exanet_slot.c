/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Slots: messages of middle size.  The receiver owns a ring of slots per sender and
 * makes it when the sender first asks; slots are filled and emptied in turn.
 */

#include "exanet.h"

/*
 * A copy of a few pages costs less than the two extra trips of a rendezvous.  All but
 * the fullest slots are a single block of the NIC.
 */
#define EXANET_SLOT_BYTES	32768
#define EXANET_SLOTS		16

static struct exanet_ring *exanet_ring_new(struct exanet_domain *domain,
					   uint32_t slots, uint32_t slot_bytes)
{
	struct exanet_ring *ring = calloc(1, sizeof(*ring));
	uintptr_t start;

	if (!ring)
		return NULL;
	ring->alloc = malloc((size_t)(slots + 1) * slot_bytes);
	if (!ring->alloc) {
		free(ring);
		return NULL;
	}
	start = ((uintptr_t)ring->alloc + slot_bytes - 1) &
		~(uintptr_t)(slot_bytes - 1);
	ring->mem = (uint8_t *)start;
	ring->slots = slots;
	ring->slot_bytes = slot_bytes;
	dlist_insert_tail(&ring->entry, &domain->rings);
	return ring;
}

void exanet_rings_free(struct exanet_domain *domain)
{
	struct exanet_ring *ring;

	while (!dlist_empty(&domain->rings)) {
		ring = container_of(domain->rings.next, struct exanet_ring,
				    entry);
		dlist_remove(&ring->entry);
		free(ring->alloc);
		free(ring);
	}
}

static uint8_t *exanet_slot_at(const struct exanet_ring *ring, uint32_t index)
{
	return ring->mem + (size_t)(index & (ring->slots - 1)) *
	       ring->slot_bytes;
}

/* --- Sender ---------------------------------------------------------------- */

bool exanet_slot_usable(struct exanet_peer *peer, size_t len)
{
	const struct exanet_ring *ring = peer->tx_ring;

	return ring && len <= exanet_eager_size &&
	       len <= ring->slot_bytes - EXANET_FI_SLOT_HDR_BYTES &&
	       ring->filled - ring->emptied < ring->slots;
}

int exanet_slot_send(struct exanet_peer *peer, struct exanet_op *op,
		     uint32_t ofi_op, const struct iovec *iov, size_t count,
		     uint64_t tag, uint64_t cq_data, uint64_t flags)
{
	struct exanet_ring *ring = peer->tx_ring;
	struct exanet_pkt *pkt = exanet_pkt_alloc(peer, EXANET_PKT_SLOT);
	uint32_t index = ring->filled & (ring->slots - 1);
	uint8_t *slot = exanet_slot_at(ring, index);
	struct exanet_fi_slot hdr = { 0 };
	size_t len;

	if (!pkt)
		return -FI_ENOMEM;
	len = ofi_copy_from_iov(slot + sizeof(hdr),
				ring->slot_bytes - sizeof(hdr), iov, count, 0);
	hdr.tag = htole64(tag);
	hdr.cq_data = htole64(cq_data);
	hdr.len = htole32(len);
	hdr.flags = htole32(
		(ofi_op == ofi_op_tagged ? EXANET_FI_SLOT_TAGGED : 0) |
		(flags & FI_REMOTE_CQ_DATA ? EXANET_FI_SLOT_CQ_DATA : 0));
	memcpy(slot, &hdr, sizeof(hdr));
	pkt->op = op;
	pkt->slot = ring->filled++;
	pkt->wr = (struct exa_write_attr) {
		.src = slot,
		.dst_gva = exa_gva(peer->to.coord, ring->xva +
				   (uint64_t)index * ring->slot_bytes),
		.len = sizeof(hdr) + len,
		.dst_ctx = peer->to.ctx,
		.notify_gva = exa_mbox_gva(peer->to.coord, peer->to.mbox),
		.notify_data =
			RNIC_PREP(EXANET_FI_SLOT_VERSION, EXANET_FI_VERSION) |
			RNIC_PREP(EXANET_FI_SLOT_RING, ring->number) |
			RNIC_PREP(EXANET_FI_SLOT_INDEX, index) |
			RNIC_PREP(EXANET_FI_SLOT_DST_TAG, peer->tag),
		.flags = EXA_WRITE_NOTIFY | (peer->ep->domain->timer_fd >= 0 ?
					     EXA_WRITE_WAKE : 0),
	};
	exanet_pkt_send(pkt);
	return 0;
}

void exanet_slot_ring(struct exanet_peer *peer, const uint8_t *body,
		      size_t size)
{
	struct exanet_fi_ring offer;
	struct exanet_ring *ring;
	uint32_t slots, bytes;

	if (size < sizeof(offer) || peer->tx_ring)
		return;
	memcpy(&offer, body, sizeof(offer));
	slots = le16toh(offer.slots);
	bytes = le32toh(offer.slot_bytes);
	if (!slots || slots > EXANET_FI_SLOTS_MAX || slots & (slots - 1) ||
	    bytes < 64 || bytes > EXANET_FI_SLOT_BYTES_MAX ||
	    bytes & (bytes - 1))
		return;
	ring = exanet_ring_new(peer->ep->domain, slots, bytes);
	if (!ring)
		return;		/* rendezvous will do */
	ring->xva = le64toh(offer.xva);
	ring->number = le16toh(offer.ring);
	peer->tx_ring = ring;
}

void exanet_slot_credit(struct exanet_peer *peer, const uint8_t *body,
			size_t size)
{
	struct exanet_ring *ring = peer->tx_ring;
	struct exanet_fi_credit credit;
	uint32_t emptied;

	if (size < sizeof(credit) || !ring)
		return;
	memcpy(&credit, body, sizeof(credit));
	emptied = le32toh(credit.emptied);
	if (ring->filled - emptied <= ring->slots)
		ring->emptied = emptied;
}

/* --- Receiver -------------------------------------------------------------- */

/* Faults of the NIC cost a lot more than those of the processor. */
static void exanet_ring_touch(struct exanet_ring *ring)
{
	size_t used = MIN(exanet_eager_size + EXANET_FI_SLOT_HDR_BYTES,
			  ring->slot_bytes);
	uint32_t i;
	size_t at;

	for (i = 0; i < ring->slots; i++) {
		for (at = 0; at < used; at += EXANET_TOUCH_BYTES)
			exanet_slot_at(ring, i)[at] = 0;
	}
}

void exanet_slot_offer(struct exanet_peer *peer)
{
	struct exanet_ep *ep = peer->ep;
	struct exanet_ring *ring;
	struct exanet_peer **rings;
	struct exanet_fi_ring offer = {
		.slot_bytes = htole32(EXANET_SLOT_BYTES),
		.slots = htole16(EXANET_SLOTS),
		.ring = htole16(ep->ring_count),
	};

	if (peer->rx_ring || ep->ring_count > UINT16_MAX)
		return;
	rings = realloc(ep->rings, (ep->ring_count + 1) * sizeof(*rings));
	if (!rings)
		return;
	ep->rings = rings;
	ring = exanet_ring_new(ep->domain, EXANET_SLOTS, EXANET_SLOT_BYTES);
	if (!ring)
		return;
	if (exa_xva(ep->domain->dev, ring->mem,
		    EXANET_SLOTS * EXANET_SLOT_BYTES, &ring->xva))
		return;		/* freed with the domain */
	exanet_ring_touch(ring);
	ring->number = ep->ring_count;
	ep->rings[ep->ring_count++] = peer;
	peer->rx_ring = ring;
	offer.xva = htole64(ring->xva);
	if (exanet_pkt_send_simple(peer, EXANET_FI_RING, &offer,
				   sizeof(offer)))
		exanet_peer_fail(peer, FI_ENOMEM);
}

struct exanet_peer *exanet_slot_peer(struct exanet_ep *ep, uint64_t word)
{
	uint32_t number = RNIC_GET(EXANET_FI_SLOT_RING, word);

	if (RNIC_GET(EXANET_FI_SLOT_VERSION, word) != EXANET_FI_VERSION ||
	    RNIC_GET(EXANET_FI_SLOT_DST_TAG, word) != ep->tag ||
	    number >= ep->ring_count)
		return NULL;
	return ep->rings[number];
}

static void exanet_slot_emptied(struct exanet_peer *peer)
{
	struct exanet_ring *ring = peer->rx_ring;
	struct exanet_fi_credit credit = { 0 };

	if (++ring->emptied - ring->told < ring->slots / 2 || peer->dead)
		return;
	ring->told = ring->emptied;
	credit.emptied = htole32(ring->emptied);
	if (exanet_pkt_send_simple(peer, EXANET_FI_CREDIT, &credit,
				   sizeof(credit)))
		exanet_peer_fail(peer, FI_ENOMEM);
}

void exanet_slot_arrive(struct exanet_peer *peer, uint64_t word)
{
	struct exanet_ring *ring = peer->rx_ring;
	uint32_t index = RNIC_GET(EXANET_FI_SLOT_INDEX, word);
	struct exanet_rx_info info = { 0 };
	struct exanet_fi_slot hdr;
	const uint8_t *slot;

	if (index >= ring->slots)
		return;
	slot = exanet_slot_at(ring, index);
	memcpy(&hdr, slot, sizeof(hdr));
	info.len = le32toh(hdr.len);
	if (info.len > ring->slot_bytes - sizeof(hdr)) {
		FI_WARN(&exanet_prov, FI_LOG_EP_DATA, "bad slot\n");
		return;
	}
	info.ofi_op = le32toh(hdr.flags) & EXANET_FI_SLOT_TAGGED ?
		      ofi_op_tagged : ofi_op_msg;
	info.tag = le64toh(hdr.tag);
	if (le32toh(hdr.flags) & EXANET_FI_SLOT_CQ_DATA) {
		info.flags = FI_REMOTE_CQ_DATA;
		info.cq_data = le64toh(hdr.cq_data);
	}
	info.data = slot + sizeof(hdr);
	exanet_rx_deliver(peer, &info);
	exanet_slot_emptied(peer);
}
