/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Progress: removes messages and notes from mailboxes, orders numbered messages, and calls
 * the function that handles each message.
 */

#include <sys/timerfd.h>

#include "rnic_fi.h"

/* Number of calls of rnic_fi_domain_progress() for one call of the watch; a power of two. */
#define RNIC_FI_WATCH_ROUNDS	1024

#define RNIC_FI_RX_BUDGET	64	/* maximum arrivals in one poll of a mailbox */
#define RNIC_FI_HINT_COUNTS	8	/* a call of hint() counts as so many idle polls */
#define RNIC_FI_IDLE_SLEEP_US	50	/* sleep of an idle process, between polls */

/* Fills @info with the kind, the tag and the CQ data of EAGER or RTS, and clears the rest. */
static void rnic_fi_rx_envelope(const struct rnic_fi_hdr *hdr,
				const struct rnic_fi_body *body,
				struct rnic_fi_rx_info *info)
{
	memset(info, 0, sizeof(*info));
	info->ofi_op = hdr->tagged ? ofi_op_tagged : ofi_op_msg;
	info->tag = body->tag;
	info->cq_data = body->cq_data;
	info->flags = body->has_cq_data ? FI_REMOTE_CQ_DATA : 0;
}

static void rnic_fi_rx_inline(struct rnic_fi_peer *peer,
			      const struct rnic_fi_hdr *hdr,
			      const struct rnic_fi_body *body)
{
	struct rnic_fi_rx_info info;

	rnic_fi_rx_envelope(hdr, body, &info);
	info.data = body->data;
	info.len = body->len;
	rnic_fi_rx_deliver(peer, &info);
}

static void rnic_fi_rx_rts(struct rnic_fi_peer *peer,
			   const struct rnic_fi_hdr *hdr,
			   const struct rnic_fi_body *body)
{
	struct rnic_fi_rx_info info;

	if (hdr->flag)
		rnic_fi_slot_offer(peer);
	rnic_fi_rx_envelope(hdr, body, &info);
	info.len = body->rts.len;
	info.remote = body->rts.remote;
	info.id = body->rts.id;
	rnic_fi_rx_deliver(peer, &info);
}

static void rnic_fi_rx_fin(struct rnic_fi_peer *peer,
			   const struct rnic_fi_body *body)
{
	struct rnic_fi_op *op = rnic_fi_op_find(peer, RNIC_FI_OP_RTS,
						body->fin.id);

	if (op)
		rnic_fi_op_put(op, body->fin.err);
}

static void rnic_fi_rx_write_data(struct rnic_fi_peer *peer,
				  const struct rnic_fi_body *body)
{
	struct util_ep *ep = &peer->ep->util_ep;

	ofi_ep_peer_rx_cntr_inc(ep, ofi_op_write);
	if (ep->rx_cq &&
	    ofi_peer_cq_write(ep->rx_cq, NULL,
			      ofi_rx_cq_flags(ofi_op_write) | FI_REMOTE_CQ_DATA,
			      body->write.len, NULL, body->write.data, 0,
			      peer->fi_addr))
		FI_WARN(rnic_fi_prov(peer->ep->domain), FI_LOG_CQ,
			"completion lost\n");
}

static void rnic_fi_rx_bad(const struct rnic_fi_ep *ep, const uint8_t *data,
			   size_t size)
{
	FI_WARN(rnic_fi_prov(ep->domain), FI_LOG_EP_DATA,
		"bad message: operation %u, %zu bytes\n",
		data[1] & 0xf, size);
}

/*
 * Handles a numbered message of @peer.  All messages with lower sequence numbers were
 * handled before.
 */
static void rnic_fi_rx_handle(struct rnic_fi_peer *peer, const uint8_t *data,
			      size_t size)
{
	struct rnic_fi_hdr hdr;
	struct rnic_fi_body body;

	if (!rnic_fi_decode(data, size, &hdr, &body)) {
		rnic_fi_rx_bad(peer->ep, data, size);
		return;
	}
	switch (hdr.op) {
	case RNIC_FI_EAGER:
		rnic_fi_rx_inline(peer, &hdr, &body);
		break;
	case RNIC_FI_RTS:
		rnic_fi_rx_rts(peer, &hdr, &body);
		break;
	case RNIC_FI_FIN:
		rnic_fi_rx_fin(peer, &body);
		break;
	case RNIC_FI_ATOMIC:
		rnic_fi_atomic_execute(peer, &body);
		break;
	case RNIC_FI_ATOMIC_RSP:
		rnic_fi_atomic_finish(peer, &body);
		break;
	case RNIC_FI_WRITE_DATA:
		rnic_fi_rx_write_data(peer, &body);
		break;
	case RNIC_FI_RING:
		rnic_fi_slot_ring(peer, &body);
		break;
	case RNIC_FI_CREDIT:
		rnic_fi_slot_credit(peer, body.emptied);
		break;
	case RNIC_FI_PING:
		break;
	}
}

static void rnic_fi_rx_dispatch(struct rnic_fi_peer *peer, bool slot,
				const uint8_t *data, size_t size)
{
	__le64 word;

	if (!slot) {
		rnic_fi_rx_handle(peer, data, size);
		return;
	}
	memcpy(&word, data, sizeof(word));
	rnic_fi_slot_arrive(peer, le64toh(word));
}

/* Copies a message to peer->early, because a message with a lower number is missing. */
static void rnic_fi_rx_keep(struct rnic_fi_peer *peer, uint16_t seq, bool slot,
			    const uint8_t *data, size_t size)
{
	struct rnic_fi_early *early;

	if (!peer->early)
		peer->early = calloc(RNIC_FI_WINDOW, sizeof(*peer->early));
	if (!peer->early) {
		rnic_fi_peer_fail(peer, FI_ENOMEM);
		return;
	}
	early = &peer->early[seq % RNIC_FI_WINDOW];
	early->size = size;
	early->slot = slot;
	memcpy(early->data, data, size);
}

static void rnic_fi_rx_order(struct rnic_fi_peer *peer, uint16_t seq, bool slot,
			     const uint8_t *data, size_t size)
{
	uint16_t ahead = (seq - peer->rx_seq) & RNIC_FI_SEQ_MASK;
	struct rnic_fi_early *early, copy;

	peer->active = peer->takes = true;
	if (ahead >= RNIC_FI_WINDOW)
		return;		/* a copy of a message that was handled before */
	if (ahead) {
		rnic_fi_rx_keep(peer, seq, slot, data, size);
		return;
	}
	peer->rx_seq = (peer->rx_seq + 1) & RNIC_FI_SEQ_MASK;
	rnic_fi_rx_dispatch(peer, slot, data, size);
	while (peer->early) {
		early = &peer->early[peer->rx_seq % RNIC_FI_WINDOW];
		if (!early->size)
			break;
		copy = *early;
		early->size = 0;
		peer->rx_seq = (peer->rx_seq + 1) & RNIC_FI_SEQ_MASK;
		rnic_fi_rx_dispatch(peer, copy.slot, copy.data, copy.size);
	}
}

/*
 * Sends NAK to the endpoint at @to, because no endpoint at the own mailbox has the tag
 * @dst_tag, or because the peer is unknown or has failed here.  @src_tag and @dst_tag are
 * the tags of the message that is refused.
 */
static void rnic_fi_rx_refuse(struct rnic_fi_ep *ep,
			      const struct rnic_fi_addr *to, uint16_t src_tag,
			      uint16_t dst_tag)
{
	/* A lost NAK does no harm: the peer's next numbered message gets another NAK. */
	(void) rnic_fi_pkt_send_bare(ep, to, RNIC_FI_NAK, src_tag, dst_tag,
				     NULL, 0);
}

/* Handles the note of a filled slot, which is a numbered message. */
static void rnic_fi_rx_note(struct rnic_fi_ep *ep, uint64_t data)
{
	__le64 word = htole64(data);
	struct rnic_fi_slot_note note;
	struct rnic_fi_peer *peer;

	if (!rnic_fi_decode_note(data, &note) ||
	    note.dst_tag != ep->tag)
		return;
	peer = rnic_fi_slot_peer(ep, note.ring);
	if (!peer)
		return;
	if (peer->dead)
		rnic_fi_rx_refuse(ep, &peer->to, peer->tag, ep->tag);
	else
		rnic_fi_rx_order(peer, note.seq, true,
				 (const uint8_t *)&word, sizeof(word));
}

/*
 * Handles a message with a sequence number.  Returns false if the sender is new and memory
 * for its peer is lacking.
 */
static bool rnic_fi_rx_numbered(struct rnic_fi_ep *ep,
				const struct rnic_fi_addr *from,
				const struct rnic_fi_hdr *hdr,
				const uint8_t *data, size_t size)
{
	/*
	 * The first messages of a sender have low sequence numbers.  A message with a
	 * higher number from an unknown sender is a late message of an endpoint that has
	 * gone, unless the watch has freed the peer.
	 */
	bool make = hdr->seq < RNIC_FI_WINDOW;
	struct rnic_fi_peer *peer = rnic_fi_peer_find(ep, from, hdr->src_tag,
						      make);

	if (!peer && make)
		return false;
	/*
	 * The endpoint of a peer that has failed here may still exist.  Without a NAK the
	 * peer would wait for answers for ever.
	 */
	if (peer && !peer->dead)
		rnic_fi_rx_order(peer, hdr->seq, false, data, size);
	else
		rnic_fi_rx_refuse(ep, from, hdr->src_tag, hdr->dst_tag);
	return true;
}

static void rnic_fi_rx_nak(struct rnic_fi_ep *ep,
			   const struct rnic_fi_addr *from,
			   const struct rnic_fi_hdr *hdr)
{
	struct rnic_fi_peer *peer = hdr->dst_tag == ep->tag ?
		rnic_fi_peer_find(ep, from, hdr->src_tag, false) : NULL;

	if (peer)
		rnic_fi_peer_fail(peer, FI_ECONNRESET);
}

static void rnic_fi_rx_probe(struct rnic_fi_ep *ep,
			     const struct rnic_fi_addr *from,
			     const struct rnic_fi_hdr *hdr)
{
	struct rnic_fi_peer *peer = rnic_fi_peer_find(ep, from, hdr->src_tag,
						      false);

	if (peer && peer->dead)
		rnic_fi_rx_refuse(ep, from, hdr->src_tag, hdr->dst_tag);
}

/* Handles a message without sequence number. */
static void rnic_fi_rx_bare(struct rnic_fi_ep *ep,
			    const struct rnic_fi_addr *from,
			    const struct rnic_fi_hdr *hdr,
			    const struct rnic_fi_body *body)
{
	switch (hdr->op) {
	case RNIC_FI_NAK:
		rnic_fi_rx_nak(ep, from, hdr);
		break;
	case RNIC_FI_LOOKUP:
		rnic_fi_lookup_answer(ep, from, hdr->src_tag, body->service);
		break;
	case RNIC_FI_FOUND:
		rnic_fi_lookup_found(ep, from, hdr->src_tag, body->service);
		break;
	case RNIC_FI_PROBE:
		rnic_fi_rx_probe(ep, from, hdr);
		break;
	case RNIC_FI_RING_END:
		rnic_fi_slot_end(ep, from, hdr->src_tag, body->ring.number);
		break;
	case RNIC_FI_RING_GONE:
		rnic_fi_slot_gone(ep, from, hdr->src_tag, body->ring.number);
		break;
	}
}

/* Handles a message.  Returns false if the message must stay in the mailbox. */
static bool rnic_fi_rx_message(struct rnic_fi_ep *ep,
			       const struct rnic_fi_arrival *in)
{
	struct rnic_fi_addr from = in->from;
	struct rnic_fi_hdr hdr;
	struct rnic_fi_body body;

	if (!rnic_fi_decode_hdr(in->data, in->size, &hdr)) {
		FI_WARN(rnic_fi_prov(ep->domain), FI_LOG_EP_DATA,
			"message without header or of another version\n");
		return true;
	}
	from.mbox = hdr.mbox;
	/*
	 * A LOOKUP has no destination tag.  A NAK must not be answered by a NAK, because
	 * two endpoints would then exchange NAKs without end.
	 */
	if (hdr.op != RNIC_FI_LOOKUP && hdr.op != RNIC_FI_NAK &&
	    hdr.dst_tag != ep->tag)
		rnic_fi_rx_refuse(ep, &from, hdr.src_tag, hdr.dst_tag);
	else if (rnic_fi_hdr_numbered(&hdr))
		return rnic_fi_rx_numbered(ep, &from, &hdr, in->data, in->size);
	else if (rnic_fi_decode(in->data, in->size, &hdr, &body))
		rnic_fi_rx_bare(ep, &from, &hdr, &body);
	else
		rnic_fi_rx_bad(ep, in->data, in->size);
	return true;
}

/*
 * Handles arrivals in the mailbox of @ep.  A message for which memory is lacking stays in the
 * mailbox until a later poll.  If the mailbox then becomes full, the NICs refuse more messages,
 * so that their senders try again.  A NAK would not do: if it were lost for want of memory, the
 * next messages of the sender would have no predecessor.  Returns true if the mailbox is empty.
 */
static bool rnic_fi_mbox_progress(struct rnic_fi_ep *ep)
{
	const struct rnic_fi_transport *transport = ep->domain->transport;
	struct rnic_fi_nic *nic = ep->domain->nic;
	struct rnic_fi_arrival in;
	int i;

	for (i = 0; i < RNIC_FI_RX_BUDGET; i++) {
		if (!transport->peek(nic, ep->nr, &in))
			return true;
		if (in.is_note)
			rnic_fi_rx_note(ep, in.note);
		else if (!rnic_fi_rx_message(ep, &in))
			return false;
		transport->pop(nic, ep->nr);
		ep->domain->idle = 0;
	}
	return false;
}

bool rnic_fi_domain_progress(struct rnic_fi_domain *domain)
{
	bool empty = true;
	unsigned int i;

	for (i = 0; i < domain->ep_end; i++) {
		if (domain->eps[i])
			empty &= rnic_fi_mbox_progress(domain->eps[i]);
	}
	rnic_fi_pkts_progress(domain);
	if (!dlist_empty(&domain->lookups))
		rnic_fi_lookups_progress(domain);
	domain->idle++;
	if (!(++domain->spins & (RNIC_FI_WATCH_ROUNDS - 1)))
		rnic_fi_peers_watch(domain);
	return empty;
}

/* All domains of the process that this copy of the common part has opened. */
static struct {
	pthread_mutex_t		lock;	/* locked before, never after, the lock of a domain */
	struct dlist_entry	list;	/* struct rnic_fi_domain */
	unsigned int		count;	/* number of domains in list; read without lock */
} rnic_fi_domains = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.list = DLIST_INIT(&rnic_fi_domains.list),
};

void rnic_fi_progress_join(struct rnic_fi_domain *domain)
{
	pthread_mutex_lock(&rnic_fi_domains.lock);
	dlist_insert_tail(&domain->entry, &rnic_fi_domains.list);
	__atomic_add_fetch(&rnic_fi_domains.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&rnic_fi_domains.lock);
}

void rnic_fi_progress_leave(struct rnic_fi_domain *domain)
{
	pthread_mutex_lock(&rnic_fi_domains.lock);
	dlist_remove(&domain->entry);
	__atomic_sub_fetch(&rnic_fi_domains.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&rnic_fi_domains.lock);
}

static void rnic_fi_others_progress(const struct rnic_fi_domain *except)
{
	struct rnic_fi_domain *domain;
	struct dlist_entry *item;

	/* Another thread that has the lock makes this progress, or changes the list. */
	if (pthread_mutex_trylock(&rnic_fi_domains.lock))
		return;
	dlist_foreach(&rnic_fi_domains.list, item) {
		domain = container_of(item, struct rnic_fi_domain, entry);
		if (domain == except)
			continue;
		rnic_fi_lock(domain);
		(void) rnic_fi_domain_progress(domain);
		rnic_fi_unlock(domain);
	}
	pthread_mutex_unlock(&rnic_fi_domains.lock);
}

/*
 * Handles the end of a poll that found @idle in rnic_fi_domain.idle.  If @hint, informs the
 * NIC, because an emulated NIC then delivers messages.  If @idle is above idle_polls, sleeps
 * for a moment, because the thread of the NIC, or the guest at the other end, may need the
 * processor.  If idle_polls is 0, never sleeps.  The caller holds no lock of a domain.
 */
static void rnic_fi_idle(struct rnic_fi_domain *domain, uint32_t idle, bool hint)
{
	if (hint)
		domain->transport->hint(domain->nic);
	else if (rnic_fi_idle_polls && idle > rnic_fi_idle_polls)
		usleep(RNIC_FI_IDLE_SLEEP_US);
}

void rnic_fi_ep_progress(struct util_ep *util_ep)
{
	struct rnic_fi_ep *ep = container_of(util_ep, struct rnic_fi_ep, util_ep);
	struct rnic_fi_domain *domain = ep->domain;
	uint32_t idle;
	bool hint;

	rnic_fi_lock(domain);
	(void) rnic_fi_domain_progress(domain);
	idle = domain->idle;
	hint = rnic_fi_hint_polls && idle > rnic_fi_hint_polls &&
	       !(rnic_fi_idle_polls && idle > rnic_fi_idle_polls);
	/*
	 * Counts the call of hint() before the call, because the lock protects the count, and
	 * an arrival that another thread handles during the call must end the idle time.
	 */
	if (hint)
		domain->idle += RNIC_FI_HINT_COUNTS;
	rnic_fi_unlock(domain);
	if (__atomic_load_n(&rnic_fi_domains.count, __ATOMIC_RELAXED) > 1)
		rnic_fi_others_progress(domain);
	rnic_fi_idle(domain, idle, hint);
}

/*
 * Restarts the timer that wakes a sleeper for the next watch, and calls the watch, because
 * a lost answer may cause no event, and the watch then sends PING.
 */
static void rnic_fi_timer_set(struct rnic_fi_domain *domain)
{
	struct itimerspec t = {
		.it_value.tv_sec = RNIC_FI_WATCH_MS / 1000,
		.it_value.tv_nsec = RNIC_FI_WATCH_MS % 1000 * 1000000L,
	};
	uint64_t count;

	if (read(domain->timer_fd, &count, sizeof(count)) < 0 &&
	    errno != EAGAIN)
		FI_WARN(rnic_fi_prov(domain), FI_LOG_EP_CTRL, "timer: %s\n",
			strerror(errno));
	if (timerfd_settime(domain->timer_fd, 0, &t, NULL))
		FI_WARN(rnic_fi_prov(domain), FI_LOG_EP_CTRL, "timer: %s\n",
			strerror(errno));
	rnic_fi_peers_watch(domain);
}

static void rnic_fi_wait_signal(struct util_wait *wait)
{
	if (wait)
		wait->signal(wait);
}

/*
 * Signals each wait object by its own descriptor.  The timer would not do, because another
 * thread that prepares to sleep may read the timer before the sleeper runs.
 */
void rnic_fi_sleepers_wake(struct rnic_fi_domain *domain)
{
	struct util_ep *ep;
	unsigned int nr;
	int i;

	if (!domain->asleep)
		return;
	domain->asleep = false;
	for (nr = 0; nr < domain->ep_end; nr++) {
		if (!domain->eps[nr])
			continue;
		ep = &domain->eps[nr]->util_ep;
		if (ep->tx_cq)
			rnic_fi_wait_signal(ep->tx_cq->wait);
		if (ep->rx_cq)
			rnic_fi_wait_signal(ep->rx_cq->wait);
		for (i = 0; i < CNTR_CNT; i++) {
			if (ep->cntrs[i])
				rnic_fi_wait_signal(ep->cntrs[i]->wait);
		}
	}
}

int rnic_fi_domain_trywait(void *arg)
{
	struct rnic_fi_domain *domain = arg;
	int ret = FI_SUCCESS;

	rnic_fi_lock(domain);
	if (domain->transport->arm(domain->nic))
		ret = -FI_EAGAIN;
	rnic_fi_timer_set(domain);
	/*
	 * The caller must not sleep if only a poll can find an ack, or post a packet, or
	 * handle the arrivals that this poll has left, because these have woken the caller
	 * already.
	 */
	if (!rnic_fi_domain_progress(domain))
		ret = -FI_EAGAIN;
	if (rnic_fi_pkts_silent(domain) || rnic_fi_lookups_pending(domain))
		ret = -FI_EAGAIN;
	/*
	 * The caller may poll only until its own completion, and arm() may have taken the
	 * event of another sleeper, so the other sleepers poll, too.
	 */
	if (ret)
		rnic_fi_sleepers_wake(domain);
	else
		domain->asleep = true;
	rnic_fi_unlock(domain);
	return ret;
}
