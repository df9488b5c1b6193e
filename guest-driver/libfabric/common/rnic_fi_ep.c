/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Endpoints.  Each endpoint has one mailbox. */

#include <sys/random.h>
#include <sys/timerfd.h>

#include "rnic_fi.h"

#define RNIC_FI_DRAIN_MS	5000	/* fi_close() of an endpoint waits so long without
					 * progress of its messages */

static int rnic_fi_ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	return -FI_ENOSYS;	/* the user cannot set the name: node, context, mailbox and tag
				 * form it */
}

static int rnic_fi_ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);
	struct rnic_fi_name name = { 0 };
	size_t room = *addrlen;

	*addrlen = sizeof(name);
	if (!ep->enabled)
		return -FI_EADDRNOTAVAIL;
	if (!addr || room < sizeof(name))
		return -FI_ETOOSMALL;
	name.node = htole32(ep->domain->nic->node);
	name.ctx = ep->domain->nic->ctx;
	name.mbox = ep->nr;
	name.tag = htole16(ep->tag);
	name.job = htole16(ep->domain->nic->job);
	name.version = RNIC_FI_VERSION;
	memcpy(addr, &name, sizeof(name));
	return 0;
}

static struct fi_ops_cm rnic_fi_cm_ops = {
	.size = sizeof(struct fi_ops_cm),
	.setname = rnic_fi_ep_setname,
	.getname = rnic_fi_ep_getname,
	.getpeer = fi_no_getpeer,
	.connect = fi_no_connect,
	.listen = fi_no_listen,
	.accept = fi_no_accept,
	.reject = fi_no_reject,
	.shutdown = fi_no_shutdown,
	.join = fi_no_join,
};

static ssize_t rnic_fi_ep_cancel(fid_t fid, void *context)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);

	return ep->srx->ops->cancel(&ep->srx->fid, context);
}

static int rnic_fi_ep_getopt(fid_t fid, int level, int name, void *val,
			     size_t *len)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);

	if (!ep->srx)
		return -FI_EOPBADSTATE;
	return ep->srx->ops->getopt(&ep->srx->fid, level, name, val, len);
}

static int rnic_fi_ep_setopt(fid_t fid, int level, int name, const void *val,
			     size_t len)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);

	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (len != sizeof(size_t))
		return -FI_EINVAL;
	ep->min_multi_recv = *(const size_t *)val;
	if (!ep->srx)
		return 0;
	return ep->srx->ops->setopt(&ep->srx->fid, level, name, val, len);
}

static struct fi_ops_ep rnic_fi_ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = rnic_fi_ep_cancel,
	.getopt = rnic_fi_ep_getopt,
	.setopt = rnic_fi_ep_setopt,
	.tx_ctx = fi_no_tx_ctx,
	.rx_ctx = fi_no_rx_ctx,
	.rx_size_left = fi_no_rx_size_left,
	.tx_size_left = fi_no_tx_size_left,
};

/* --- Wait objects ------------------------------------------------------------ */

/* Calls rnic_fi_domain_trywait() for the domain of the endpoint whose fid is @arg. */
static int rnic_fi_ep_try_fid(void *arg)
{
	struct rnic_fi_ep *ep = container_of(arg, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);

	return rnic_fi_domain_trywait(ep->domain);
}

/* Opens the timer of @domain unless it is open.  Returns 0 or a negative errno. */
static int rnic_fi_timer_open(struct rnic_fi_domain *domain)
{
	int ret = 0;

	rnic_fi_lock(domain);
	if (domain->timer_fd < 0) {
		domain->timer_fd = timerfd_create(CLOCK_MONOTONIC,
						  TFD_NONBLOCK | TFD_CLOEXEC);
		if (domain->timer_fd < 0)
			ret = -errno;
	}
	rnic_fi_unlock(domain);
	return ret;
}

/*
 * Adds the descriptors of the NIC and of the domain's timer to @wait, which may be NULL, so
 * that each of these descriptors wakes the threads that sleep on @wait.  If the kind of
 * @wait is FI_WAIT_YIELD, adds only the endpoint, because such threads poll.  @wait counts
 * how often a descriptor was added, but keeps the argument of the first call, so this
 * argument is the domain: the first endpoint may close before the others.  Returns 0; or a
 * negative errno, and has added nothing.
 */
static int rnic_fi_wait_add(struct rnic_fi_ep *ep, struct util_wait *wait)
{
	struct rnic_fi_domain *domain = ep->domain;
	struct fid *fid = &domain->util_domain.domain_fid.fid;
	int ret;

	if (!wait)
		return 0;
	ret = rnic_fi_timer_open(domain);
	if (ret)
		return ret;
	if (wait->wait_obj == FI_WAIT_YIELD)
		return ofi_wait_add_fid(wait, &ep->util_ep.ep_fid.fid, 0,
					rnic_fi_ep_try_fid);
	ret = ofi_wait_add_fd(wait, domain->nic->fd, POLLIN,
			      rnic_fi_domain_trywait, domain, fid);
	if (ret)
		return ret;
	ret = ofi_wait_add_fd(wait, domain->timer_fd, POLLIN,
			      rnic_fi_domain_trywait, domain, fid);
	if (ret)
		ofi_wait_del_fd(wait, domain->nic->fd);
	return ret;
}

static void rnic_fi_wait_del(struct rnic_fi_ep *ep, struct util_wait *wait)
{
	if (!wait)
		return;
	if (wait->wait_obj == FI_WAIT_YIELD) {
		ofi_wait_del_fid(wait, &ep->util_ep.ep_fid.fid);
		return;
	}
	ofi_wait_del_fd(wait, ep->domain->nic->fd);
	ofi_wait_del_fd(wait, ep->domain->timer_fd);
}

static void rnic_fi_waits_del(struct rnic_fi_ep *ep)
{
	struct util_ep *util_ep = &ep->util_ep;
	int i;

	if (util_ep->tx_cq)
		rnic_fi_wait_del(ep, util_ep->tx_cq->wait);
	if (util_ep->rx_cq && util_ep->rx_cq != util_ep->tx_cq)
		rnic_fi_wait_del(ep, util_ep->rx_cq->wait);
	for (i = 0; i < CNTR_CNT; i++) {
		if (util_ep->cntrs[i] && i == ep->cntr_first[i])
			rnic_fi_wait_del(ep, util_ep->cntrs[i]->wait);
	}
}

/* --- Binding and enabling ---------------------------------------------------- */

/*
 * The functions that bind keep this invariant, even if libfabric fails after it has bound the
 * object, or succeeds without binding: the wait object of each bound CQ and counter has the
 * endpoint's descriptors once, because rnic_fi_waits_del() removes them once.
 */

static bool rnic_fi_ep_has_cq(const struct rnic_fi_ep *ep, const struct util_cq *cq)
{
	return ep->util_ep.tx_cq == cq || ep->util_ep.rx_cq == cq;
}

static int rnic_fi_ep_bind_cq(struct rnic_fi_ep *ep, struct util_cq *cq,
			      uint64_t flags)
{
	bool known = rnic_fi_ep_has_cq(ep, cq);
	int ret = known ? 0 : rnic_fi_wait_add(ep, cq->wait);

	if (ret)
		return ret;
	ret = ofi_ep_bind_cq(&ep->util_ep, cq, flags);
	if (!known && !rnic_fi_ep_has_cq(ep, cq))
		rnic_fi_wait_del(ep, cq->wait);
	return ret;
}

static bool rnic_fi_ep_has_cntr(const struct rnic_fi_ep *ep,
				const struct util_cntr *cntr)
{
	int i;

	for (i = 0; i < CNTR_CNT; i++) {
		if (ep->util_ep.cntrs[i] == cntr)
			return true;
	}
	return false;
}

static int rnic_fi_ep_bind_cntr(struct rnic_fi_ep *ep, struct util_cntr *cntr,
				uint64_t flags)
{
	bool known = rnic_fi_ep_has_cntr(ep, cntr);
	int ret = known ? 0 : rnic_fi_wait_add(ep, cntr->wait);
	int i, j;

	if (ret)
		return ret;
	ret = ofi_ep_bind_cntr(&ep->util_ep, cntr, flags);
	if (!known && !rnic_fi_ep_has_cntr(ep, cntr))
		rnic_fi_wait_del(ep, cntr->wait);
	/*
	 * A counter that is bound several times, for example for sends and for receives,
	 * adds the descriptors to its wait object only once.  cntr_first serves to remove
	 * the descriptors only once.
	 */
	for (i = 0; i < CNTR_CNT; i++) {
		for (j = 0; ep->util_ep.cntrs[j] != ep->util_ep.cntrs[i]; j++)
			;
		ep->cntr_first[i] = j;
	}
	return ret;
}

static int rnic_fi_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);
	int ret;

	ret = ofi_ep_bind_valid(rnic_fi_prov(ep->domain), bfid, flags);
	if (ret)
		return ret;
	switch (bfid->fclass) {
	case FI_CLASS_AV:
		return ofi_ep_bind_av(&ep->util_ep,
			container_of(bfid, struct util_av, av_fid.fid));
	case FI_CLASS_CQ:
		return rnic_fi_ep_bind_cq(ep,
			container_of(bfid, struct util_cq, cq_fid.fid), flags);
	case FI_CLASS_CNTR:
		return rnic_fi_ep_bind_cntr(ep,
			container_of(bfid, struct util_cntr, cntr_fid.fid),
			flags);
	case FI_CLASS_EQ:
		return ofi_ep_bind_eq(&ep->util_ep,
			container_of(bfid, struct util_eq, eq_fid.fid));
	default:
		return -FI_EINVAL;
	}
}

static void rnic_fi_srx_update(struct util_srx_ctx *srx,
			       struct util_rx_entry *rx)
{
	/* No action, because endpoints do not share a receive context. */
}

static int rnic_fi_ep_open_srx(struct rnic_fi_ep *ep)
{
	struct util_domain *domain = &ep->domain->util_domain;
	int ret;

	if (!ep->util_ep.rx_cq)
		return 0;	/* the endpoint cannot receive messages */
	ret = util_ep_srx_context(domain, ep->rx_size, RNIC_FI_IOV_LIMIT,
				  ep->min_multi_recv, rnic_fi_srx_update,
				  &domain->lock, &ep->srx);
	if (ret)
		return ret;
	util_get_peer_srx(ep->srx)->peer_ops = &rnic_fi_srx_peer_ops;
	return util_srx_bind(&ep->srx->fid, &ep->util_ep.rx_cq->cq_fid.fid,
			     FI_RECV);
}

/* Returns true if @ep has a service that an enabled endpoint of the domain has, too. */
static bool rnic_fi_service_taken(const struct rnic_fi_ep *ep)
{
	unsigned int nr;

	for (nr = 0; ep->service && nr < RNIC_FI_MBOXES; nr++) {
		if (ep->domain->eps[nr] &&
		    ep->domain->eps[nr]->service == ep->service)
			return true;
	}
	return false;
}

static int rnic_fi_ep_open_mbox(struct rnic_fi_ep *ep)
{
	struct rnic_fi_domain *domain = ep->domain;
	const struct rnic_fi_transport *transport = domain->transport;
	unsigned int nr;
	int ret;

	do {
		if (getrandom(&ep->tag, sizeof(ep->tag), 0) !=
		    sizeof(ep->tag))
			return -FI_EIO;
	} while (!ep->tag);
	rnic_fi_lock(domain);
	if (rnic_fi_service_taken(ep)) {
		rnic_fi_unlock(domain);
		return -FI_EADDRINUSE;
	}
	for (nr = 0; nr < transport->mboxes && domain->eps[nr]; nr++)
		;
	ret = nr == transport->mboxes ? -FI_ENOSPC :
	      transport->mbox_open(domain->nic, nr);
	if (!ret) {
		ep->enabled = true;
		ep->nr = nr;
		domain->eps[nr] = ep;
		domain->ep_end = MAX(domain->ep_end, nr + 1);
	}
	rnic_fi_unlock(domain);
	if (ret)
		FI_WARN(rnic_fi_prov(domain), FI_LOG_EP_CTRL, "no mailbox: %s\n",
			fi_strerror(-ret));
	return ret;
}

static int rnic_fi_ep_enable(struct rnic_fi_ep *ep)
{
	struct util_ep *util_ep = &ep->util_ep;
	int ret;

	if (ep->enabled)
		return -FI_EOPBADSTATE;
	if ((ofi_needs_rx(util_ep->caps) && !util_ep->rx_cq) ||
	    (ofi_needs_tx(util_ep->caps) && !util_ep->tx_cq))
		return -FI_ENOCQ;
	if (!util_ep->av)
		return -FI_ENOAV;
	ret = ep->srx ? 0 : rnic_fi_ep_open_srx(ep);
	return ret ? ret : rnic_fi_ep_open_mbox(ep);
}

static int rnic_fi_ep_control(struct fid *fid, int command, void *arg)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);

	return command == FI_ENABLE ? rnic_fi_ep_enable(ep) : -FI_ENOSYS;
}

/* --- Closing ----------------------------------------------------------------- */

/*
 * Returns the number of numbered messages of @ep that are not acked, plus the number of
 * held sends of @ep that have not ended.  Does not count messages and sends to dead peers.
 */
static uint64_t rnic_fi_ep_unsent(struct rnic_fi_ep *ep)
{
	struct rnic_fi_peer *peer;
	uint64_t unsent = 0;
	unsigned int i;

	for (i = 0; i < RNIC_FI_PEER_BUCKETS; i++) {
		for (peer = ep->buckets[i]; peer; peer = peer->next) {
			if (!peer->dead)
				unsent += peer->queued + peer->inflight +
					  peer->held;
		}
	}
	return unsent;
}

/*
 * Waits until the messages of @ep to living peers have arrived and the held sends of @ep
 * have ended, because the user may already have their completions.  Gives up, and logs a
 * warning, if the number of these messages and sends reaches no new minimum for
 * RNIC_FI_DRAIN_MS.
 */
static void rnic_fi_ep_drain(struct rnic_fi_ep *ep)
{
	uint64_t unsent, least = UINT64_MAX, end = 0;

	do {
		rnic_fi_lock(ep->domain);
		(void) rnic_fi_domain_progress(ep->domain);
		unsent = rnic_fi_ep_unsent(ep);
		rnic_fi_unlock(ep->domain);
		if (unsent < least) {
			least = unsent;
			end = ofi_gettime_ms() + RNIC_FI_DRAIN_MS;
		}
		if (unsent)
			sched_yield();
	} while (unsent && ofi_gettime_ms() < end);
	if (unsent)
		FI_WARN(rnic_fi_prov(ep->domain), FI_LOG_EP_CTRL,
			"%" PRIu64 " messages were not delivered\n", unsent);
}

static int rnic_fi_ep_close(struct fid *fid)
{
	struct rnic_fi_ep *ep = container_of(fid, struct rnic_fi_ep,
					     util_ep.ep_fid.fid);
	struct rnic_fi_domain *domain = ep->domain;

	if (ep->enabled)
		rnic_fi_ep_drain(ep);
	rnic_fi_waits_del(ep);
	if (ep->enabled) {
		rnic_fi_lock(domain);
		domain->eps[ep->nr] = NULL;
		domain->transport->mbox_close(domain->nic, ep->nr);
		rnic_fi_unlock(domain);
	}
	if (ep->srx)
		(void) util_srx_close(&ep->srx->fid);
	rnic_fi_lock(domain);
	rnic_fi_peers_free(ep);
	rnic_fi_unlock(domain);
	ofi_endpoint_close(&ep->util_ep);
	free(ep);
	return 0;
}

static struct fi_ops rnic_fi_ep_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = rnic_fi_ep_close,
	.bind = rnic_fi_ep_bind,
	.control = rnic_fi_ep_control,
	.ops_open = fi_no_ops_open,
};

static void rnic_fi_ep_by_addr_init(struct ofi_dyn_arr *arr, void *item)
{
	*(struct rnic_fi_peer **)item = NULL;
}

/* Returns the service in the source address of @info, or 0 if @info has no service. */
static uint16_t rnic_fi_ep_service(const struct rnic_fi_domain *domain,
				   const struct fi_info *info)
{
	struct rnic_fi_name name;

	if (!info->src_addr || info->src_addrlen != sizeof(name))
		return 0;
	memcpy(&name, info->src_addr, sizeof(name));
	return rnic_fi_name_is_service(domain->transport, &name) ?
	       le16toh(name.service) : 0;
}

int rnic_fi_ep_open(struct fid_domain *domain_fid, struct fi_info *info,
		    struct fid_ep **ep_fid, void *context)
{
	struct rnic_fi_domain *domain = rnic_fi_domain_of(domain_fid);
	struct rnic_fi_ep *ep = calloc(1, sizeof(*ep));
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	ret = ofi_endpoint_init(domain_fid, domain->transport->util_prov, info,
				&ep->util_ep, context, rnic_fi_ep_progress);
	if (ret) {
		free(ep);
		return ret;
	}
	ep->domain = domain;
	ep->service = rnic_fi_ep_service(domain, info);
	ep->tx_size = info->tx_attr->size;
	ep->rx_size = info->rx_attr->size;
	ep->min_multi_recv = RNIC_FI_MSG_MAX;
	ofi_array_init(&ep->by_addr, sizeof(struct rnic_fi_peer *),
		       rnic_fi_ep_by_addr_init);
	ep->util_ep.ep_fid.fid.ops = &rnic_fi_ep_fi_ops;
	ep->util_ep.ep_fid.ops = &rnic_fi_ep_ops;
	ep->util_ep.ep_fid.cm = &rnic_fi_cm_ops;
	ep->util_ep.ep_fid.msg = &rnic_fi_msg_ops;
	ep->util_ep.ep_fid.tagged = &rnic_fi_tagged_ops;
	ep->util_ep.ep_fid.rma = &rnic_fi_rma_ops;
	ep->util_ep.ep_fid.atomic = &rnic_fi_atomic_ops;
	*ep_fid = &ep->util_ep.ep_fid;
	return 0;
}
