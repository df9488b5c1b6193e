/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* RDMA reads, for fi_read() of the user and for rendezvous receives. */

#include "rnic_fi.h"

/*
 * Makes the pages of the @len bytes at @dst present and writable for the NIC, because a page
 * fault of the processor costs far less than a page fault of the NIC.  The stores lose no
 * data, because the user does not use the buffer during the read.
 */
static void rnic_fi_read_touch(void *dst, size_t len)
{
	volatile uint8_t *p = dst;
	size_t at = 0;

	while (at < len) {
		p[at] = p[at];
		at += RNIC_FI_TOUCH_BYTES -
		      ((uintptr_t)dst + at) % RNIC_FI_TOUCH_BYTES;
	}
}

int rnic_fi_read_start(struct rnic_fi_op *op, void *dst, uint64_t remote,
		       size_t len)
{
	struct rnic_fi_pkt *pkt = rnic_fi_pkt_alloc(op->peer, RNIC_FI_PKT_READ);

	if (!pkt)
		return -FI_ENOMEM;
	rnic_fi_read_touch(dst, len);
	pkt->req.wake = op->ep->domain->timer_fd >= 0;
	pkt->req.len = len;
	pkt->req.id = op->id;
	pkt->req.remote = remote;
	pkt->req.local = dst;
	pkt->op = op;
	op->pending++;
	rnic_fi_pkt_send(pkt);
	return 0;
}

void rnic_fi_reads_fail(struct rnic_fi_domain *domain)
{
	struct dlist_entry *item, *tmp;
	struct rnic_fi_peer *peer;
	struct rnic_fi_pkt *pkt;
	struct rnic_fi_op *op;

	domain->doomed = false;
	dlist_foreach_safe(&domain->posted, item, tmp) {
		pkt = container_of(item, struct rnic_fi_pkt, entry);
		peer = pkt->peer;
		if (pkt->kind != RNIC_FI_PKT_READ || !peer || !peer->dead)
			continue;
		if (!pkt->req.accepted) {
			domain->doomed = true;
			continue;
		}
		/*
		 * The NIC uses @pkt until the request ends or the domain closes, so @pkt
		 * stays posted.
		 */
		op = pkt->op;
		pkt->op = NULL;
		pkt->peer = NULL;
		peer->refs--;
		rnic_fi_op_put(op, peer->dead);
	}
}
