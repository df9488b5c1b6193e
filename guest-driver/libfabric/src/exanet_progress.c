/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Progress: messages out of the mailboxes, into order, to those who handle them. */

#include <sys/timerfd.h>

#include "exanet.h"

/* How often the clock is looked at, in rounds of progress; a power of two. */
#define EXANET_WATCH_ROUNDS	1024

static uint64_t exanet_get64(const uint8_t *p)
{
	__le64 v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static uint32_t exanet_get32(const uint8_t *p)
{
	__le32 v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

/* Takes tag and CQ data off the front of a message; false if it is too short. */
static bool exanet_rx_envelope(uint64_t hdr, const uint8_t **body, size_t *size,
			       struct exanet_rx_info *info)
{
	static const size_t cq_bytes[] = { 0, 4, 8, 0 };
	size_t cq = cq_bytes[RNIC_GET(EXANET_FI_HDR_CQ_DATA, hdr)];
	size_t tag = hdr & EXANET_FI_HDR_TAGGED ? sizeof(__le64) : 0;

	memset(info, 0, sizeof(*info));
	if (*size < tag + cq)
		return false;
	info->ofi_op = tag ? ofi_op_tagged : ofi_op_msg;
	if (tag)
		info->tag = exanet_get64(*body);
	if (cq) {
		info->flags = FI_REMOTE_CQ_DATA;
		info->cq_data = cq == 8 ? exanet_get64(*body + tag) :
					  exanet_get32(*body + tag);
	}
	*body += tag + cq;
	*size -= tag + cq;
	return true;
}

static void exanet_rx_rts(struct exanet_peer *peer, const uint8_t *body,
			  size_t size, struct exanet_rx_info *info)
{
	struct exanet_fi_rts rts;

	if (size < sizeof(rts))
		return;
	memcpy(&rts, body, sizeof(rts));
	info->len = le64toh(rts.len);
	info->va = le64toh(rts.va);
	info->id = le32toh(rts.id);
	exanet_rx_deliver(peer, info);
}

static void exanet_rx_fin(struct exanet_peer *peer, const uint8_t *body,
			  size_t size)
{
	struct exanet_fi_fin fin;
	struct exanet_op *op;

	if (size < sizeof(fin))
		return;
	memcpy(&fin, body, sizeof(fin));
	op = exanet_op_find(peer, EXANET_OP_RTS, le32toh(fin.id));
	if (op)
		exanet_op_put(op, le32toh(fin.status) & INT32_MAX);
}

static void exanet_rx_write_data(struct exanet_peer *peer, const uint8_t *body,
				 size_t size)
{
	struct util_ep *ep = &peer->ep->util_ep;
	struct exanet_fi_write_data wd;

	if (size < sizeof(wd))
		return;
	memcpy(&wd, body, sizeof(wd));
	ofi_ep_peer_rx_cntr_inc(ep, ofi_op_write);
	if (ep->rx_cq &&
	    ofi_peer_cq_write(ep->rx_cq, NULL,
			      ofi_rx_cq_flags(ofi_op_write) | FI_REMOTE_CQ_DATA,
			      le64toh(wd.len), NULL, le64toh(wd.data), 0,
			      peer->fi_addr))
		FI_WARN(&exanet_prov, FI_LOG_CQ, "completion lost\n");
}

static void exanet_rx_handle(struct exanet_peer *peer, const uint8_t *data,
			     size_t size)
{
	uint64_t hdr = exanet_get64(data);
	const uint8_t *body = data + sizeof(hdr);
	struct exanet_rx_info info;

	size -= sizeof(hdr);
	switch (RNIC_GET(EXANET_FI_HDR_OP, hdr)) {
	case EXANET_FI_EAGER:
		if (!exanet_rx_envelope(hdr, &body, &size, &info))
			break;
		info.data = body;
		info.len = size;
		exanet_rx_deliver(peer, &info);
		return;
	case EXANET_FI_RTS:
		if (!exanet_rx_envelope(hdr, &body, &size, &info))
			break;
		if (hdr & EXANET_FI_HDR_FLAG)
			exanet_slot_offer(peer);
		exanet_rx_rts(peer, body, size, &info);
		return;
	case EXANET_FI_FIN:
		exanet_rx_fin(peer, body, size);
		return;
	case EXANET_FI_ATOMIC:
		exanet_atomic_execute(peer, body, size);
		return;
	case EXANET_FI_ATOMIC_RSP:
		exanet_atomic_finish(peer, body, size);
		return;
	case EXANET_FI_WRITE_DATA:
		exanet_rx_write_data(peer, body, size);
		return;
	case EXANET_FI_RING:
		exanet_slot_ring(peer, body, size);
		return;
	case EXANET_FI_CREDIT:
		exanet_slot_credit(peer, body, size);
		return;
	case EXANET_FI_PING:
		return;
	default:
		break;
	}
	FI_WARN(&exanet_prov, FI_LOG_EP_DATA, "bad message 0x%" PRIx64 "\n",
		hdr);
}

static void exanet_rx_dispatch(struct exanet_peer *peer, bool slot,
			       const uint8_t *data, size_t size)
{
	if (slot)
		exanet_slot_arrive(peer, exanet_get64(data));
	else
		exanet_rx_handle(peer, data, size);
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

/* A slot was filled: the notification is the message. */
static void exanet_rx_notify(struct exanet_ep *ep,
			     const struct exanet_message *msg)
{
	uint64_t word = le64toh(msg->data);
	struct exanet_peer *peer = exanet_slot_peer(ep, word);
	uint8_t data[sizeof(word)];

	if (!peer || peer->dead)
		return;
	memcpy(data, &msg->data, sizeof(data));
	exanet_rx_order(peer, RNIC_GET(EXANET_FI_SLOT_SEQ, word), true, data,
			sizeof(data));
}

static void exanet_rx_message(struct exanet_ep *ep,
			      const struct exanet_message *msg)
{
	size_t size = exa_message_size(msg);
	struct exa_mbox_addr from = {
		.coord = exa_message_coord(msg),
		.ctx = exa_message_ctx(msg),
	};
	const uint8_t *body = msg->payload + sizeof(uint64_t);
	size_t body_size = size - sizeof(uint64_t);
	struct exanet_peer *peer;
	uint16_t src_tag, dst_tag;
	enum exanet_fi_op op;
	uint64_t hdr;

	if (size < sizeof(hdr) || size > sizeof(msg->payload))
		return;
	hdr = exanet_get64(msg->payload);
	if (RNIC_GET(EXANET_FI_HDR_VERSION, hdr) != EXANET_FI_VERSION) {
		FI_WARN(&exanet_prov, FI_LOG_EP_DATA,
			"message of another protocol version\n");
		return;
	}
	from.mbox = RNIC_GET(EXANET_FI_HDR_MBOX, hdr);
	src_tag = RNIC_GET(EXANET_FI_HDR_SRC_TAG, hdr);
	dst_tag = RNIC_GET(EXANET_FI_HDR_DST_TAG, hdr);
	op = RNIC_GET(EXANET_FI_HDR_OP, hdr);
	if (op == EXANET_FI_LOOKUP) {
		exanet_lookup_answer(ep, &from, src_tag, body, body_size);
		return;
	}
	if (op == EXANET_FI_NAK) {
		peer = dst_tag == ep->tag ?
		       exanet_peer_find(ep, &from, src_tag, false) : NULL;
		if (peer)
			exanet_peer_fail(peer, FI_ECONNRESET);
		return;
	}
	if (dst_tag != ep->tag) {
		/* A lost NAK does no harm, because the peer retransmits. */
		(void) exanet_pkt_send_bare(ep, &from, EXANET_FI_NAK, src_tag,
					    dst_tag, NULL, 0);
		return;
	}
	if (op == EXANET_FI_FOUND) {
		exanet_lookup_found(ep, &from, src_tag, body, body_size);
		return;
	}
	peer = exanet_peer_find(ep, &from, src_tag, true);
	if (peer && !peer->dead)
		exanet_rx_order(peer, RNIC_GET(EXANET_FI_HDR_SEQ, hdr), false,
				msg->payload, size);
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
