/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* RDMA reads: of the user, and of rendezvous receives. */

#include "rnic_fi.h"

/*
 * Makes the pages writable and dirty as the NIC needs them: a fault of the processor
 * costs far less than one of the NIC.  The buffer is ours until the read is over.
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

int rnic_fi_read_start(struct rnic_fi_op *op, void *dst, uint64_t va, size_t len)
{
	struct rnic_fi_domain *domain = op->ep->domain;
	struct rnic_fi_peer *peer = op->peer;
	struct rnic_fi_read *read = ofi_buf_alloc(domain->read_pool);
	struct rnic_fi_pkt *pkt;

	if (!read)
		return -FI_ENOMEM;
	pkt = rnic_fi_pkt_alloc(peer, RNIC_FI_PKT_READ);
	if (!pkt) {
		ofi_buf_free(read);
		return -FI_ENOMEM;
	}
	rnic_fi_read_touch(dst, len);
	exa_notify_clear(&read->rec);
	read->op = op;
	read->peer = peer;
	peer->refs++;
	read->pkt = pkt;
	dlist_insert_tail(&read->entry, &domain->reads);
	pkt->read = read;
	pkt->rd = (struct exa_read_attr) {
		.dst = dst,
		.src_va = va,
		.src_coord = peer->to.coord,
		.src_ctx = peer->to.ctx,
		.len = len,
		.flags = domain->timer_fd >= 0 ? EXA_READ_NOTIFY_IRQ : 0,
		.notify = &read->rec,
		.tag = op->id,
	};
	op->pending++;
	rnic_fi_pkt_send(pkt);
	return 0;
}

void rnic_fi_read_done(struct rnic_fi_read *read, int err)
{
	struct rnic_fi_op *op = read->op;

	if (read->pkt) {
		/* The data was faster than the ack of the request. */
		read->pkt->read = NULL;
		read->pkt->peer = NULL;
		read->peer->refs--;
	}
	read->peer->refs--;
	dlist_remove(&read->entry);
	ofi_buf_free(read);
	op->ep->domain->idle = 0;
	if (!err)
		op->peer->active = true;
	rnic_fi_op_put(op, err);
}

void rnic_fi_reads_fail(struct rnic_fi_peer *peer, int err)
{
	struct rnic_fi_domain *domain = peer->ep->domain;
	struct dlist_entry *item, *tmp;
	struct rnic_fi_read *read;
	struct rnic_fi_op *op;

	dlist_foreach_safe(&domain->reads, item, tmp) {
		read = container_of(item, struct rnic_fi_read, entry);
		if (read->peer != peer || read->pkt)
			continue;
		/*
		 * The NIC may still write to the record: it stays where it is,
		 * until the pool goes together with the context.
		 */
		dlist_remove(&read->entry);
		peer->refs--;
		op = read->op;
		read->op = NULL;
		rnic_fi_op_put(op, err);
	}
}

void rnic_fi_reads_orphan(struct rnic_fi_ep *ep)
{
	struct dlist_entry *item, *tmp;
	struct rnic_fi_read *read;

	dlist_foreach_safe(&ep->domain->reads, item, tmp) {
		read = container_of(item, struct rnic_fi_read, entry);
		if (read->peer->ep == ep)
			dlist_remove(&read->entry);
	}
}

void rnic_fi_reads_progress(struct rnic_fi_domain *domain)
{
	struct dlist_entry *item, *tmp, done;
	struct rnic_fi_read *read;

	/* The end of one may, by a peer's death, be the end of others. */
	dlist_init(&done);
	dlist_foreach_safe(&domain->reads, item, tmp) {
		read = container_of(item, struct rnic_fi_read, entry);
		read->err = exa_notify_test(&read->rec, NULL);
		if (read->err == -EINPROGRESS)
			continue;
		dlist_remove(&read->entry);
		dlist_insert_tail(&read->entry, &done);
	}
	while (!dlist_empty(&done)) {
		read = container_of(done.next, struct rnic_fi_read, entry);
		rnic_fi_read_done(read, read->err);
	}
}
