/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Progress: messages out of the mailboxes, into order, to those who handle them. */

#include <sys/timerfd.h>

#include "rnic_fi.h"

/* How often the clock is looked at, in rounds of progress; a power of two. */
#define EXANET_WATCH_ROUNDS	1024

/* Fills @info from the envelope of EAGER or RTS. */
static void exanet_rx_envelope(const struct exanet_hdr *hdr,
			       const struct exanet_body *body,
			       struct exanet_rx_info *info)
{
	memset(info, 0, sizeof(*info));
	info->ofi_op = hdr->tagged ? ofi_op_tagged : ofi_op_msg;
	info->tag = body->tag;
	info->cq_data = body->cq_data;
	info->flags = body->has_cq_data ? FI_REMOTE_CQ_DATA : 0;
}

static void exanet_rx_inline(struct exanet_peer *peer,
			     const struct exanet_hdr *hdr,
			     const struct exanet_body *body)
{
	struct exanet_rx_info info;

	exanet_rx_envelope(hdr, body, &info);
	info.data = body->data;
	info.len = body->len;
	exanet_rx_deliver(peer, &info);
}

static void exanet_rx_rts(struct exanet_peer *peer,
			  const struct exanet_hdr *hdr,
			  const struct exanet_body *body)
{
	struct exanet_rx_info info;

	if (hdr->flag)
		exanet_slot_offer(peer);
	exanet_rx_envelope(hdr, body, &info);
	info.len = body->rts.len;
	info.va = body->rts.va;
	info.id = body->rts.id;
	exanet_rx_deliver(peer, &info);
}

static void exanet_rx_fin(struct exanet_peer *peer,
			  const struct exanet_body *body)
{
	struct exanet_op *op = exanet_op_find(peer, EXANET_OP_RTS,
					      body->fin.id);

	if (op)
		exanet_op_put(op, body->fin.err);
}

static void exanet_rx_write_data(struct exanet_peer *peer,
				 const struct exanet_body *body)
{
	struct util_ep *ep = &peer->ep->util_ep;

	ofi_ep_peer_rx_cntr_inc(ep, ofi_op_write);
	if (ep->rx_cq &&
	    ofi_peer_cq_write(ep->rx_cq, NULL,
			      ofi_rx_cq_flags(ofi_op_write) | FI_REMOTE_CQ_DATA,
			      body->write.len, NULL, body->write.data, 0,
			      peer->fi_addr))
		FI_WARN(&exanet_prov, FI_LOG_CQ, "completion lost\n");
}

static void exanet_rx_bad(const uint8_t *data, size_t size)
{
	FI_WARN(&exanet_prov, FI_LOG_EP_DATA,
		"bad message: operation %u, %zu bytes\n",
		data[1] & 0xf, size);
}

/* Handles a message that has its turn. */
static void exanet_rx_handle(struct exanet_peer *peer, const uint8_t *data,
			     size_t size)
{
	struct exanet_hdr hdr;
	struct exanet_body body;

	if (!exanet_decode(data, size, &hdr, &body)) {
		exanet_rx_bad(data, size);
		return;
	}
	switch (hdr.op) {
	case EXANET_FI_EAGER:
		exanet_rx_inline(peer, &hdr, &body);
		break;
	case EXANET_FI_RTS:
		exanet_rx_rts(peer, &hdr, &body);
		break;
	case EXANET_FI_FIN:
		exanet_rx_fin(peer, &body);
		break;
	case EXANET_FI_ATOMIC:
		exanet_atomic_execute(peer, &body);
		break;
	case EXANET_FI_ATOMIC_RSP:
		exanet_atomic_finish(peer, &body);
		break;
	case EXANET_FI_WRITE_DATA:
		exanet_rx_write_data(peer, &body);
		break;
	case EXANET_FI_RING:
		exanet_slot_ring(peer, &body);
		break;
	case EXANET_FI_CREDIT:
		exanet_slot_credit(peer, body.emptied);
		break;
	case EXANET_FI_PING:
		break;
	}
}

static void exanet_rx_dispatch(struct exanet_peer *peer, bool slot,
			       const uint8_t *data, size_t size)
{
	__le64 word;

	if (!slot) {
		exanet_rx_handle(peer, data, size);
		return;
	}
	memcpy(&word, data, sizeof(word));
	exanet_slot_arrive(peer, le64toh(word));
}

/* Keeps a message whose predecessor is still missing. */
static void exanet_rx_keep(struct exanet_peer *peer, uint16_t seq, bool slot,
			   const uint8_t *data, size_t size)
{
	struct exanet_early *early;

	if (!peer->early)
		peer->early = calloc(EXANET_FI_WINDOW, sizeof(*peer->early));
	if (!peer->early) {
		exanet_peer_fail(peer, FI_ENOMEM);
		return;
	}
	early = &peer->early[seq % EXANET_FI_WINDOW];
	early->size = size;
	early->slot = slot;
	memcpy(early->data, data, size);
}

static void exanet_rx_order(struct exanet_peer *peer, uint16_t seq, bool slot,
			    const uint8_t *data, size_t size)
{
	uint16_t ahead = (seq - peer->rx_seq) & EXANET_FI_SEQ_MASK;
	struct exanet_early *early, copy;

	peer->active = true;
	if (ahead >= EXANET_FI_WINDOW)
		return;		/* sent twice */
	if (ahead) {
		exanet_rx_keep(peer, seq, slot, data, size);
		return;
	}
	peer->rx_seq = (peer->rx_seq + 1) & EXANET_FI_SEQ_MASK;
	exanet_rx_dispatch(peer, slot, data, size);
	while (peer->early) {
		early = &peer->early[peer->rx_seq % EXANET_FI_WINDOW];
		if (!early->size)
			break;
		copy = *early;
		early->size = 0;
		peer->rx_seq = (peer->rx_seq + 1) & EXANET_FI_SEQ_MASK;
		exanet_rx_dispatch(peer, copy.slot, copy.data, copy.size);
	}
}

/* Tells the sender at @to that no endpoint here knows it. */
static void exanet_rx_refuse(struct exanet_ep *ep,
			     const struct exa_mbox_addr *to, uint16_t src_tag,
			     uint16_t dst_tag)
{
	/* A lost NAK does no harm, because the peer retransmits. */
	(void) exanet_pkt_send_bare(ep, to, EXANET_FI_NAK, src_tag, dst_tag,
				    NULL, 0);
}

/* A slot was filled: the notification is the message. */
static void exanet_rx_notify(struct exanet_ep *ep,
			     const struct exanet_message *msg)
{
	struct exanet_slot_note note;
	struct exanet_peer *peer;

	if (!exanet_decode_note(le64toh(msg->data), &note) ||
	    note.dst_tag != ep->tag)
		return;
	peer = exanet_slot_peer(ep, note.ring);
	if (!peer)
		return;
	if (peer->dead)
		exanet_rx_refuse(ep, &peer->to, peer->tag, ep->tag);
	else
		exanet_rx_order(peer, note.seq, true,
				(const uint8_t *)&msg->data, sizeof(msg->data));
}

/* Handles a message with a sequence number. */
static void exanet_rx_numbered(struct exanet_ep *ep,
			       const struct exa_mbox_addr *from,
			       const struct exanet_hdr *hdr,
			       const uint8_t *data, size_t size)
{
	/*
	 * The first messages of a sender have low numbers.  Higher numbers from an
	 * unknown sender are late messages of an endpoint that has gone.
	 */
	bool make = hdr->seq < EXANET_FI_WINDOW;
	struct exanet_peer *peer = exanet_peer_find(ep, from, hdr->src_tag,
						    make);

	/*
	 * A peer that failed here may live; if it learned nothing, it would wait for
	 * answers for ever.
	 */
	if (peer && !peer->dead)
		exanet_rx_order(peer, hdr->seq, false, data, size);
	else if (peer || !make)
		exanet_rx_refuse(ep, from, hdr->src_tag, hdr->dst_tag);
}

static void exanet_rx_nak(struct exanet_ep *ep,
			  const struct exa_mbox_addr *from,
			  const struct exanet_hdr *hdr)
{
	struct exanet_peer *peer = hdr->dst_tag == ep->tag ?
		exanet_peer_find(ep, from, hdr->src_tag, false) : NULL;

	if (peer)
		exanet_peer_fail(peer, FI_ECONNRESET);
}

static void exanet_rx_probe(struct exanet_ep *ep,
			    const struct exa_mbox_addr *from,
			    const struct exanet_hdr *hdr)
{
	struct exanet_peer *peer = exanet_peer_find(ep, from, hdr->src_tag,
						    false);

	if (peer && peer->dead)
		exanet_rx_refuse(ep, from, hdr->src_tag, hdr->dst_tag);
}

/* Handles a message without sequence number. */
static void exanet_rx_bare(struct exanet_ep *ep,
			   const struct exa_mbox_addr *from,
			   const struct exanet_hdr *hdr,
			   const struct exanet_body *body)
{
	switch (hdr->op) {
	case EXANET_FI_NAK:
		exanet_rx_nak(ep, from, hdr);
		break;
	case EXANET_FI_LOOKUP:
		exanet_lookup_answer(ep, from, hdr->src_tag, body->service);
		break;
	case EXANET_FI_FOUND:
		exanet_lookup_found(ep, from, hdr->src_tag, body->service);
		break;
	case EXANET_FI_PROBE:
		exanet_rx_probe(ep, from, hdr);
		break;
	case EXANET_FI_RING_END:
		exanet_slot_end(ep, from, hdr->src_tag, body->ring.number);
		break;
	case EXANET_FI_RING_GONE:
		exanet_slot_gone(ep, from, hdr->src_tag, body->ring.number);
		break;
	}
}

static void exanet_rx_message(struct exanet_ep *ep,
			      const struct exanet_message *msg)
{
	size_t size = exa_message_size(msg);
	struct exa_mbox_addr from = {
		.coord = exa_message_coord(msg),
		.ctx = exa_message_ctx(msg),
	};
	struct exanet_hdr hdr;
	struct exanet_body body;

	if (!exanet_decode_hdr(msg->payload, size, &hdr)) {
		FI_WARN(&exanet_prov, FI_LOG_EP_DATA,
			"message without header or of another version\n");
		return;
	}
	from.mbox = hdr.mbox;
	/* LOOKUP knows no tag yet, and NAK would answer NAK. */
	if (hdr.op != EXANET_FI_LOOKUP && hdr.op != EXANET_FI_NAK &&
	    hdr.dst_tag != ep->tag)
		exanet_rx_refuse(ep, &from, hdr.src_tag, hdr.dst_tag);
	else if (exanet_hdr_numbered(&hdr))
		exanet_rx_numbered(ep, &from, &hdr, msg->payload, size);
	else if (exanet_decode(msg->payload, size, &hdr, &body))
		exanet_rx_bare(ep, &from, &hdr, &body);
	else
		exanet_rx_bad(msg->payload, size);
}

static void exanet_mbox_progress(struct exanet_ep *ep)
{
	const struct exanet_message *msg;
	int i;

	for (i = 0; i < EXANET_RX_BUDGET; i++) {
		msg = exa_mbox_peek(ep->mbox);
		if (!msg)
			return;
		switch (exa_message_type(msg)) {
		case EXANET_TYPE_WRITE:
			exanet_rx_message(ep, msg);
			break;
		case EXANET_TYPE_NOTIFY:
			exanet_rx_notify(ep, msg);
			break;
		}
		exa_mbox_pop(ep->mbox);
		ep->domain->idle = 0;
	}
}

void exanet_domain_progress(struct exanet_domain *domain)
{
	unsigned int i;

	for (i = 0; i < EXANET_MAILBOXES; i++) {
		if (domain->eps[i])
			exanet_mbox_progress(domain->eps[i]);
	}
	if (!dlist_empty(&domain->reads))
		exanet_reads_progress(domain);
	exanet_pkts_progress(domain);
	if (!dlist_empty(&domain->lookups))
		exanet_lookups_progress(domain);
	domain->idle++;
	if (!(++domain->spins & (EXANET_WATCH_ROUNDS - 1)))
		exanet_peers_watch(domain);
}

/* All domains of the process. */
static struct {
	pthread_mutex_t		lock;	/* before that of any domain */
	struct dlist_entry	list;
	unsigned int		count;	/* read without lock */
} exanet_domains = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.list = DLIST_INIT(&exanet_domains.list),
};

void exanet_progress_join(struct exanet_domain *domain)
{
	pthread_mutex_lock(&exanet_domains.lock);
	dlist_insert_tail(&domain->entry, &exanet_domains.list);
	__atomic_add_fetch(&exanet_domains.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&exanet_domains.lock);
}

void exanet_progress_leave(struct exanet_domain *domain)
{
	pthread_mutex_lock(&exanet_domains.lock);
	dlist_remove(&domain->entry);
	__atomic_sub_fetch(&exanet_domains.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&exanet_domains.lock);
}

static void exanet_others_progress(const struct exanet_domain *except)
{
	struct exanet_domain *domain;
	struct dlist_entry *item;

	/* Whoever holds it does our work. */
	if (pthread_mutex_trylock(&exanet_domains.lock))
		return;
	dlist_foreach(&exanet_domains.list, item) {
		domain = container_of(item, struct exanet_domain, entry);
		if (domain == except)
			continue;
		exanet_lock(domain);
		exanet_domain_progress(domain);
		exanet_unlock(domain);
	}
	pthread_mutex_unlock(&exanet_domains.lock);
}

/*
 * A process that polls in vain tells the NIC, which then brings what has arrived.  One
 * that polls for long waits for something that takes long, and that may need the
 * processor of the host which runs the process: the thread that is the NIC, or the guest
 * at the other end.
 */
static void exanet_idle(struct exanet_domain *domain)
{
	if (exanet_idle_polls && domain->idle > exanet_idle_polls) {
		usleep(EXANET_IDLE_SLEEP_US);
	} else if (exanet_hint_polls && domain->idle > exanet_hint_polls) {
		exa_poll_hint(domain->dev);
		domain->idle += EXANET_HINT_COUNTS;
	}
}

void exanet_ep_progress(struct util_ep *util_ep)
{
	struct exanet_ep *ep = container_of(util_ep, struct exanet_ep, util_ep);

	exanet_lock(ep->domain);
	exanet_domain_progress(ep->domain);
	exanet_unlock(ep->domain);
	if (__atomic_load_n(&exanet_domains.count, __ATOMIC_RELAXED) > 1)
		exanet_others_progress(ep->domain);
	exanet_idle(ep->domain);
}

/* While somebody owes us an answer, nobody sleeps longer than the watch. */
static void exanet_timer_set(struct exanet_domain *domain)
{
	struct itimerspec t = {
		.it_value.tv_sec = EXANET_WATCH_MS / 1000,
		.it_value.tv_nsec = EXANET_WATCH_MS % 1000 * 1000000L,
	};
	uint64_t count;

	if (read(domain->timer_fd, &count, sizeof(count)) < 0 &&
	    errno != EAGAIN)
		FI_WARN(&exanet_prov, FI_LOG_EP_CTRL, "timer: %s\n",
			strerror(errno));
	if (timerfd_settime(domain->timer_fd, 0, &t, NULL))
		FI_WARN(&exanet_prov, FI_LOG_EP_CTRL, "timer: %s\n",
			strerror(errno));
	exanet_peers_watch(domain);
}

int exanet_ep_trywait(void *arg)
{
	struct exanet_ep *ep = arg;
	struct exanet_domain *domain = ep->domain;
	int ret = FI_SUCCESS;

	exanet_lock(domain);
	/* What comes after these two makes the descriptor readable again. */
	if (exa_arm(domain->dev) || exa_ack(domain->dev))
		ret = -FI_EAGAIN;
	exanet_timer_set(domain);
	exanet_domain_progress(domain);
	/*
	 * No interrupt announces acks or the time of the next LOOKUP, so the caller
	 * must poll.
	 */
	if (exanet_pkts_silent(domain) || exanet_lookups_pending(domain))
		ret = -FI_EAGAIN;
	exanet_unlock(domain);
	return ret;
}
