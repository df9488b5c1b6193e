/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Packets: requests to the NIC, queued or posted. */

#include "rnic_fi.h"

void rnic_fi_pkt_free(struct rnic_fi_pkt *pkt)
{
	if (pkt->peer)
		pkt->peer->refs--;
	ofi_buf_free(pkt);
}

static struct rnic_fi_domain *rnic_fi_pkt_domain(const struct rnic_fi_pkt *pkt)
{
	return pkt->peer->ep->domain;
}

static bool rnic_fi_pkt_numbered(const struct rnic_fi_pkt *pkt)
{
	return pkt->kind == RNIC_FI_PKT_MSG || pkt->kind == RNIC_FI_PKT_SLOT;
}

static enum rnic_fi_request_kind rnic_fi_pkt_request(enum rnic_fi_pkt_kind kind)
{
	static const uint8_t requests[] = {
		[RNIC_FI_PKT_MSG] = RNIC_FI_REQUEST_MESSAGE,
		[RNIC_FI_PKT_BARE] = RNIC_FI_REQUEST_MESSAGE,
		[RNIC_FI_PKT_LOOKUP] = RNIC_FI_REQUEST_DATAGRAM,
		[RNIC_FI_PKT_PROBE] = RNIC_FI_REQUEST_MESSAGE,
		[RNIC_FI_PKT_PUT] = RNIC_FI_REQUEST_PUT,
		[RNIC_FI_PKT_READ] = RNIC_FI_REQUEST_READ,
		[RNIC_FI_PKT_WRITE] = RNIC_FI_REQUEST_WRITE,
		[RNIC_FI_PKT_SLOT] = RNIC_FI_REQUEST_WRITE_NOTE,
	};

	return requests[kind];
}

struct rnic_fi_pkt *rnic_fi_pkt_alloc(struct rnic_fi_peer *peer,
				      enum rnic_fi_pkt_kind kind)
{
	struct rnic_fi_pkt *pkt = ofi_buf_alloc(peer->ep->domain->pkt_pool);

	if (!pkt)
		return NULL;
	dlist_init(&pkt->entry);
	pkt->peer = peer;
	peer->refs++;
	pkt->op = NULL;
	pkt->kind = kind;
	pkt->tries = 0;
	pkt->req.kind = rnic_fi_pkt_request(kind);
	pkt->req.to = peer->to;
	pkt->req.accepted = false;
	pkt->req.wake = false;
	pkt->req.len = 0;
	return pkt;
}

static void rnic_fi_pkt_word(struct rnic_fi_pkt *pkt, uint64_t word)
{
	__le64 le = htole64(word);

	memcpy(pkt->req.data, &le, sizeof(le));
}

uint8_t *rnic_fi_pkt_header(struct rnic_fi_pkt *pkt, enum rnic_fi_msg_op op,
			    uint64_t bits)
{
	struct rnic_fi_peer *peer = pkt->peer;

	rnic_fi_pkt_word(pkt, bits |
		RNIC_PREP(RNIC_FI_HDR_VERSION, RNIC_FI_VERSION) |
		RNIC_PREP(RNIC_FI_HDR_OP, op) |
		RNIC_PREP(RNIC_FI_HDR_MBOX, peer->ep->nr) |
		RNIC_PREP(RNIC_FI_HDR_SRC_TAG, peer->ep->tag) |
		RNIC_PREP(RNIC_FI_HDR_DST_TAG, peer->tag));
	pkt->req.len = sizeof(__le64);
	return pkt->req.data + pkt->req.len;
}

/*
 * Assigns the next sequence number to @pkt, and stores the number in the note or in the
 * header word of @pkt.
 */
static void rnic_fi_pkt_number(struct rnic_fi_pkt *pkt)
{
	__le64 word;

	pkt->seq = pkt->peer->tx_seq;
	pkt->peer->tx_seq = (pkt->seq + 1) & RNIC_FI_SEQ_MASK;
	if (pkt->kind == RNIC_FI_PKT_SLOT) {
		pkt->req.note |= RNIC_PREP(RNIC_FI_SLOT_SEQ, pkt->seq);
		return;
	}
	memcpy(&word, pkt->req.data, sizeof(word));
	rnic_fi_pkt_word(pkt, le64toh(word) |
			 RNIC_PREP(RNIC_FI_HDR_SEQ, pkt->seq));
}

/* Wakes sleepers if a packet now needs polls; see rnic_fi_pkts_silent(). */
static void rnic_fi_pkts_wake(struct rnic_fi_domain *domain)
{
	if (domain->asleep && rnic_fi_pkts_silent(domain))
		rnic_fi_sleepers_wake(domain);
}

/* Handles the end of a posted packet.  The transport's reap() calls this function. */
static void rnic_fi_request_end(struct rnic_fi_request *req, int err)
{
	struct rnic_fi_pkt *pkt = container_of(req, struct rnic_fi_pkt, req);

	dlist_remove_init(&pkt->entry);
	rnic_fi_pkt_done(pkt, err);
}

static void rnic_fi_posted_reap(struct rnic_fi_domain *domain)
{
	/*
	 * reap() must not nest.  The end of a packet may send another packet, so
	 * rnic_fi_pkt_start() also checks rnic_fi_domain.reaping.
	 */
	if (domain->reaping)
		return;
	domain->reaping = true;
	domain->transport->reap(domain->nic, rnic_fi_request_end);
	domain->reaping = false;
	if (domain->doomed)
		rnic_fi_reads_fail(domain);
}

/*
 * Posts @pkt.  If all channels are in use, and reap() is not running, handles ended packets
 * and tries once more.  Returns 0, -FI_EAGAIN if all channels are still in use, or another
 * error of the transport.
 */
static int rnic_fi_pkt_start(struct rnic_fi_domain *domain,
			     struct rnic_fi_pkt *pkt)
{
	int ret = domain->transport->post(domain->nic, &pkt->req);

	if (ret == -FI_EAGAIN && !domain->reaping) {
		rnic_fi_posted_reap(domain);
		ret = domain->transport->post(domain->nic, &pkt->req);
	}
	if (ret)
		return ret;
	dlist_insert_tail(&pkt->entry, &domain->posted);
	if (pkt->kind == RNIC_FI_PKT_READ && pkt->peer->dead)
		domain->doomed = true;
	return 0;
}

static bool rnic_fi_peer_may_send(const struct rnic_fi_peer *peer,
				  const struct rnic_fi_pkt *pkt)
{
	return peer->inflight < peer->ep->domain->transport->peer_inflight &&
	       ((pkt->seq - peer->tx_una) & RNIC_FI_SEQ_MASK) <
	       RNIC_FI_WINDOW;
}

static void rnic_fi_peer_enqueue(struct rnic_fi_peer *peer,
				 struct rnic_fi_pkt *pkt, bool front)
{
	if (front)
		dlist_insert_head(&pkt->entry, &peer->queue);
	else
		dlist_insert_tail(&pkt->entry, &peer->queue);
	if (!peer->queued++)
		dlist_insert_tail(&peer->wait_entry,
				  &peer->ep->domain->waiting);
}

static void rnic_fi_peer_dequeue(struct rnic_fi_peer *peer,
				 struct rnic_fi_pkt *pkt)
{
	dlist_remove_init(&pkt->entry);
	if (!--peer->queued)
		dlist_remove_init(&peer->wait_entry);
}

static void rnic_fi_pkt_send_numbered(struct rnic_fi_pkt *pkt)
{
	struct rnic_fi_peer *peer = pkt->peer;
	int ret;

	rnic_fi_pkt_number(pkt);
	if (peer->queued || !rnic_fi_peer_may_send(peer, pkt)) {
		rnic_fi_peer_enqueue(peer, pkt, false);
		return;
	}
	peer->inflight++;
	ret = rnic_fi_pkt_start(peer->ep->domain, pkt);
	if (ret == -FI_EAGAIN) {
		peer->inflight--;
		rnic_fi_peer_enqueue(peer, pkt, false);
	} else if (ret) {
		rnic_fi_pkt_done(pkt, ret);
	}
}

void rnic_fi_pkt_send(struct rnic_fi_pkt *pkt)
{
	struct rnic_fi_domain *domain = rnic_fi_pkt_domain(pkt);
	struct dlist_entry *queue;
	int ret = -FI_EAGAIN;

	if (rnic_fi_pkt_numbered(pkt)) {
		rnic_fi_pkt_send_numbered(pkt);
		rnic_fi_pkts_wake(domain);
		return;
	}
	queue = pkt->kind == RNIC_FI_PKT_WRITE ? &domain->write_queue :
						&domain->msg_queue;
	if (dlist_empty(queue))
		ret = rnic_fi_pkt_start(domain, pkt);
	if (ret == -FI_EAGAIN)
		dlist_insert_tail(&pkt->entry, queue);
	else if (ret)
		rnic_fi_pkt_done(pkt, ret);
	rnic_fi_pkts_wake(domain);
}

int rnic_fi_pkt_send_simple(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			    const void *body, size_t len)
{
	struct rnic_fi_pkt *pkt;

	if (peer->dead)
		return -peer->dead;
	pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_MSG);
	if (!pkt)
		return -FI_ENOMEM;
	memcpy(rnic_fi_pkt_header(pkt, op, 0), body, len);
	pkt->req.len += len;
	rnic_fi_pkt_send(pkt);
	return 0;
}

int rnic_fi_pkt_send_bare(struct rnic_fi_ep *ep, const struct rnic_fi_addr *to,
			  enum rnic_fi_msg_op op, uint16_t dst_tag,
			  uint16_t src_tag, const void *body, size_t len)
{
	struct rnic_fi_domain *domain = ep->domain;
	struct rnic_fi_pkt *pkt = ofi_buf_alloc(domain->pkt_pool);
	int ret;

	if (!pkt)
		return -FI_ENOMEM;
	memset(pkt, 0, sizeof(*pkt));
	pkt->kind = op == RNIC_FI_LOOKUP ? RNIC_FI_PKT_LOOKUP :
					     RNIC_FI_PKT_BARE;
	pkt->req.kind = rnic_fi_pkt_request(pkt->kind);
	pkt->req.to = *to;
	pkt->req.len = sizeof(__le64) + len;
	rnic_fi_pkt_word(pkt,
		RNIC_PREP(RNIC_FI_HDR_VERSION, RNIC_FI_VERSION) |
		RNIC_PREP(RNIC_FI_HDR_OP, op) |
		RNIC_PREP(RNIC_FI_HDR_MBOX, ep->nr) |
		RNIC_PREP(RNIC_FI_HDR_SRC_TAG, src_tag) |
		RNIC_PREP(RNIC_FI_HDR_DST_TAG, dst_tag));
	if (len)
		memcpy(pkt->req.data + sizeof(__le64), body, len);
	ret = rnic_fi_pkt_start(domain, pkt);
	if (ret)
		rnic_fi_pkt_free(pkt);
	else
		rnic_fi_pkts_wake(domain);
	return ret;
}

void rnic_fi_pkt_send_probe(struct rnic_fi_peer *peer, enum rnic_fi_msg_op op,
			    const void *body, size_t len)
{
	struct rnic_fi_pkt *pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_PROBE);

	if (!pkt)
		return;		/* the caller sends such a message again later */
	rnic_fi_pkt_header(pkt, op, 0);
	if (len)
		memcpy(pkt->req.data + pkt->req.len, body, len);
	pkt->req.len += len;
	rnic_fi_pkt_send(pkt);
}

unsigned int rnic_fi_pkts_posted(const struct rnic_fi_domain *domain,
				 enum rnic_fi_pkt_kind kind)
{
	const struct dlist_entry *item;
	unsigned int n = 0;

	for (item = domain->posted.next; item != &domain->posted;
	     item = item->next)
		n += container_of(item, struct rnic_fi_pkt, entry)->kind == kind;
	return n;
}

/*
 * If @err permits another attempt, the limit of attempts is not reached, and the peer is
 * not dead, puts @pkt in a queue again and returns true.  Otherwise returns false.  Always
 * returns false for a probe, and for a read that the peer's NIC has accepted.
 */
static bool rnic_fi_pkt_retry(struct rnic_fi_pkt *pkt, int err)
{
	struct rnic_fi_domain *domain = rnic_fi_pkt_domain(pkt);
	unsigned int limit = 0;

	if (pkt->kind == RNIC_FI_PKT_PROBE || pkt->req.accepted)
		limit = 0;
	else if (err == -FI_ENOBUFS || err == -FI_EBUSY)
		limit = RNIC_FI_FULL_RETRIES;
	else if (err == -FI_EFAULT && pkt->kind == RNIC_FI_PKT_MSG)
		limit = RNIC_FI_FAULT_RETRIES;
	if (pkt->tries >= limit || pkt->peer->dead)
		return false;
	pkt->tries++;
	if (rnic_fi_pkt_numbered(pkt)) {
		pkt->peer->inflight--;
		rnic_fi_peer_enqueue(pkt->peer, pkt, true);
	} else if (pkt->kind == RNIC_FI_PKT_WRITE) {
		dlist_insert_tail(&pkt->entry, &domain->write_queue);
	} else {
		dlist_insert_tail(&pkt->entry, &domain->msg_queue);
	}
	rnic_fi_pkts_wake(domain);
	return true;
}

static void rnic_fi_pkt_acked(struct rnic_fi_pkt *pkt)
{
	struct rnic_fi_peer *peer = pkt->peer;

	peer->takes = true;
	peer->stuck = false;
	peer->tx_acked |= 1U << ((pkt->seq - peer->tx_una) &
				 RNIC_FI_SEQ_MASK);
	while (peer->tx_acked & 1) {
		peer->tx_acked >>= 1;
		peer->tx_una = (peer->tx_una + 1) & RNIC_FI_SEQ_MASK;
	}
}

/*
 * Returns the positive error with which a peer fails after the error @err of a numbered
 * message.
 */
static int rnic_fi_pkt_error(int err)
{
	switch (err) {
	case -FI_EACCES:
	case -ENXIO:
		return FI_ECONNRESET;
	case -FI_ENOBUFS:
	case -FI_EBUSY:
		return FI_EHOSTUNREACH;
	default:
		return -err;
	}
}

void rnic_fi_pkt_done(struct rnic_fi_pkt *pkt, int err)
{
	struct rnic_fi_peer *peer = pkt->peer;
	struct rnic_fi_op *op = pkt->op;

	if (!peer) {
		rnic_fi_pkt_free(pkt);
		return;
	}
	peer->ep->domain->idle = 0;
	/*
	 * If the receiver has emptied the slot, the write has arrived in spite of @err.
	 */
	if (err && pkt->kind == RNIC_FI_PKT_SLOT &&
	    (int32_t)(peer->tx_ring->emptied - pkt->slot) > 0)
		err = 0;
	if (err && rnic_fi_pkt_retry(pkt, err))
		return;
	if (!err && pkt->kind != RNIC_FI_PKT_PROBE)
		peer->active = true;
	if (pkt->kind == RNIC_FI_PKT_PROBE) {
		/*
		 * Errors other than -FI_EACCES and -ENXIO, for example of a full mailbox,
		 * do not prove that the endpoint has gone.
		 */
		if (err == -FI_EACCES || err == -ENXIO)
			rnic_fi_peer_fail(peer, FI_ECONNRESET);
	} else if (rnic_fi_pkt_numbered(pkt)) {
		peer->inflight--;
		if (err) {
			err = rnic_fi_pkt_error(err);
			rnic_fi_peer_fail(peer, err);
		} else {
			rnic_fi_pkt_acked(pkt);
		}
	}
	rnic_fi_pkt_free(pkt);
	if (op)
		rnic_fi_op_put(op, err);
}

static void rnic_fi_queue_push(struct rnic_fi_domain *domain,
			       struct dlist_entry *queue)
{
	struct rnic_fi_pkt *pkt;
	int ret;

	while (!dlist_empty(queue)) {
		pkt = container_of(queue->next, struct rnic_fi_pkt, entry);
		dlist_remove_init(&pkt->entry);
		ret = pkt->peer ? rnic_fi_pkt_start(domain, pkt) : -FI_ECANCELED;
		if (ret == -FI_EAGAIN) {
			dlist_insert_head(&pkt->entry, queue);
			return;
		}
		if (ret)
			rnic_fi_pkt_done(pkt, ret);
	}
}

/*
 * Posts packets from the queue of @peer, as many as may be in flight.  Returns false if
 * all channels are in use.
 */
static bool rnic_fi_peer_push(struct rnic_fi_peer *peer)
{
	struct rnic_fi_pkt *pkt;
	int ret;

	while (peer->queued) {
		pkt = container_of(peer->queue.next, struct rnic_fi_pkt, entry);
		if (!rnic_fi_peer_may_send(peer, pkt))
			return true;
		rnic_fi_peer_dequeue(peer, pkt);
		peer->inflight++;
		ret = rnic_fi_pkt_start(peer->ep->domain, pkt);
		if (ret == -FI_EAGAIN) {
			peer->inflight--;
			rnic_fi_peer_enqueue(peer, pkt, true);
			return false;
		}
		if (ret)
			rnic_fi_pkt_done(pkt, ret);
	}
	return true;
}

static void rnic_fi_peers_push(struct rnic_fi_domain *domain)
{
	struct dlist_entry later;
	struct rnic_fi_peer *peer;

	/* Each peer that was handled moves to the end of domain->waiting, for fairness. */
	dlist_init(&later);
	while (!dlist_empty(&domain->waiting)) {
		peer = container_of(domain->waiting.next, struct rnic_fi_peer,
				    wait_entry);
		dlist_remove(&peer->wait_entry);
		dlist_insert_tail(&peer->wait_entry, &later);
		if (!rnic_fi_peer_push(peer))
			break;
	}
	while (!dlist_empty(&later)) {
		peer = container_of(later.next, struct rnic_fi_peer, wait_entry);
		dlist_remove(&peer->wait_entry);
		dlist_insert_tail(&peer->wait_entry, &domain->waiting);
	}
}

static void rnic_fi_pkt_hold(struct rnic_fi_pkt *pkt)
{
	struct rnic_fi_op *op = pkt->op;

	if (!op || !rnic_fi_pkt_numbered(pkt) || op->kind != RNIC_FI_OP_TX ||
	    (op->ofi_op != ofi_op_msg && op->ofi_op != ofi_op_tagged) ||
	    op->flags & (FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE))
		return;
	pkt->op = NULL;
	rnic_fi_op_put(op, 0);
}

void rnic_fi_pkts_hold(struct rnic_fi_peer *peer)
{
	struct rnic_fi_domain *domain = peer->ep->domain;
	struct dlist_entry *item;
	struct rnic_fi_pkt *pkt;

	peer->stuck = true;
	dlist_foreach(&peer->queue, item)
		rnic_fi_pkt_hold(container_of(item, struct rnic_fi_pkt, entry));
	dlist_foreach(&domain->posted, item) {
		pkt = container_of(item, struct rnic_fi_pkt, entry);
		if (pkt->peer == peer)
			rnic_fi_pkt_hold(pkt);
	}
}

void rnic_fi_pkts_progress(struct rnic_fi_domain *domain)
{
	if (!dlist_empty(&domain->posted))
		rnic_fi_posted_reap(domain);
	if (!dlist_empty(&domain->msg_queue))
		rnic_fi_queue_push(domain, &domain->msg_queue);
	if (!dlist_empty(&domain->write_queue))
		rnic_fi_queue_push(domain, &domain->write_queue);
	if (!dlist_empty(&domain->waiting))
		rnic_fi_peers_push(domain);
}

/*
 * Returns true if a READ, WRITE or SLOT is posted whose end wakes no sleeper, because no wait
 * object was bound when the packet was made.  The transport does not count such packets.
 * Nothing waits for a packet without peer.
 */
static bool rnic_fi_posted_silent(const struct rnic_fi_domain *domain)
{
	const struct dlist_entry *item;
	const struct rnic_fi_pkt *pkt;

	for (item = domain->posted.next; item != &domain->posted;
	     item = item->next) {
		pkt = container_of(item, struct rnic_fi_pkt, entry);
		if (pkt->peer && !pkt->req.wake &&
		    (pkt->kind == RNIC_FI_PKT_READ ||
		     pkt->kind == RNIC_FI_PKT_WRITE ||
		     pkt->kind == RNIC_FI_PKT_SLOT))
			return true;
	}
	return false;
}

bool rnic_fi_pkts_silent(struct rnic_fi_domain *domain)
{
	return domain->transport->silent(domain->nic) ||
	       rnic_fi_posted_silent(domain) ||
	       !dlist_empty(&domain->msg_queue) ||
	       !dlist_empty(&domain->write_queue) ||
	       !dlist_empty(&domain->waiting);
}

static void rnic_fi_queue_orphan(struct dlist_entry *queue,
				 const struct rnic_fi_ep *ep)
{
	struct dlist_entry *item, *tmp;
	struct rnic_fi_pkt *pkt;

	dlist_foreach_safe(queue, item, tmp) {
		pkt = container_of(item, struct rnic_fi_pkt, entry);
		if (!pkt->peer || pkt->peer->ep != ep)
			continue;
		dlist_remove(&pkt->entry);
		rnic_fi_pkt_free(pkt);
	}
}

void rnic_fi_pkts_orphan(struct rnic_fi_ep *ep)
{
	struct rnic_fi_domain *domain = ep->domain;
	struct dlist_entry *item;
	struct rnic_fi_pkt *pkt;

	rnic_fi_queue_orphan(&domain->msg_queue, ep);
	rnic_fi_queue_orphan(&domain->write_queue, ep);
	dlist_foreach(&domain->posted, item) {
		pkt = container_of(item, struct rnic_fi_pkt, entry);
		if (!pkt->peer || pkt->peer->ep != ep)
			continue;
		pkt->peer->refs--;
		pkt->peer = NULL;
		pkt->op = NULL;
	}
}
