/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Operations: allocation, search, completion and end. */

#include "rnic_fi.h"

int rnic_fi_op_alloc(struct rnic_fi_peer *peer, enum rnic_fi_op_kind kind,
		     uint32_t ofi_op, void *context, uint64_t flags,
		     struct rnic_fi_op **op)
{
	struct rnic_fi_ep *ep = peer->ep;
	struct rnic_fi_op *new;

	if (kind != RNIC_FI_OP_RX && ep->tx_ops >= ep->tx_size)
		return -FI_EAGAIN;
	new = ofi_buf_alloc(ep->domain->op_pool);
	if (!new)
		return -FI_ENOMEM;
	memset(new, 0, sizeof(*new));
	new->ep = ep;
	new->peer = peer;
	new->kind = kind;
	new->ofi_op = ofi_op;
	new->context = context;
	new->flags = flags;
	new->id = ++ep->next_id;
	new->end = rnic_fi_op_end;
	dlist_insert_tail(&new->entry, &peer->ops);
	if (kind != RNIC_FI_OP_RX)
		ep->tx_ops++;
	*op = new;
	return 0;
}

void rnic_fi_op_hold(struct rnic_fi_op *op)
{
	rnic_fi_complete_tx(op->ep, op->ofi_op, op->context, op->flags, 0);
	op->held = true;
	op->peer->held++;
	op->ep->tx_ops--;
}

void rnic_fi_op_free(struct rnic_fi_op *op)
{
	struct rnic_fi_domain *domain = op->ep->domain;

	if (op->held)
		op->peer->held--;
	else if (op->kind != RNIC_FI_OP_RX)
		op->ep->tx_ops--;
	dlist_remove(&op->entry);
	if (op->exposed) {
		domain->transport->unexpose(domain->nic, op->base);
		domain->sources--;
	}
	free(op->bounce);
	ofi_buf_free(op);
}

struct rnic_fi_op *rnic_fi_op_find(struct rnic_fi_peer *peer,
				   enum rnic_fi_op_kind kind, uint32_t id)
{
	struct dlist_entry *item;
	struct rnic_fi_op *op;

	/*
	 * The search is short, because answers arrive roughly in the order of the requests,
	 * and the oldest operation is the first of peer->ops.
	 */
	dlist_foreach(&peer->ops, item) {
		op = container_of(item, struct rnic_fi_op, entry);
		if (op->kind == kind && op->id == id)
			return op;
	}
	return NULL;
}

void rnic_fi_complete_tx(struct rnic_fi_ep *ep, uint32_t ofi_op, void *context,
			 uint64_t flags, int err)
{
	struct util_ep *util_ep = &ep->util_ep;
	struct fi_cq_err_entry entry = {
		.op_context = context,
		.flags = ofi_tx_cq_flags(ofi_op),
		.err = err,
		.prov_errno = -err,
	};

	if (err) {
		ofi_ep_peer_tx_cntr_incerr(util_ep, ofi_op);
		if (util_ep->tx_cq &&
		    (flags & FI_COMPLETION || !(flags & FI_INJECT)))
			(void) ofi_peer_cq_write_error(util_ep->tx_cq, &entry);
		return;
	}
	ofi_ep_peer_tx_cntr_inc(util_ep, ofi_op);
	if (!util_ep->tx_cq || !(flags & FI_COMPLETION))
		return;
	if (ofi_peer_cq_write(util_ep->tx_cq, context, entry.flags, 0, NULL, 0,
			      0, FI_ADDR_NOTAVAIL))
		FI_WARN(rnic_fi_prov(ep->domain), FI_LOG_CQ, "completion lost\n");
}

void rnic_fi_op_put(struct rnic_fi_op *op, int err)
{
	if (err && !op->err)
		op->err = err < 0 ? -err : err;
	assert(op->pending);
	if (--op->pending)
		return;
	op->end(op);
}

void rnic_fi_op_end(struct rnic_fi_op *op)
{
	if (op->held && op->err)
		FI_WARN(rnic_fi_prov(op->ep->domain), FI_LOG_EP_DATA,
			"a message that had completed was not delivered: %s\n",
			fi_strerror(op->err));
	if (!op->held)
		rnic_fi_complete_tx(op->ep, op->ofi_op, op->context, op->flags,
				    op->err);
	rnic_fi_op_free(op);
}
