/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Operations, from the call of the user to the completion. */

#include "rnic_fi.h"

int exanet_op_alloc(struct exanet_peer *peer, enum exanet_op_kind kind,
		    uint32_t ofi_op, void *context, uint64_t flags,
		    struct exanet_op **op)
{
	struct exanet_ep *ep = peer->ep;
	struct exanet_op *new;

	if (kind != EXANET_OP_RX && ep->tx_ops >= ep->tx_size)
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
	dlist_insert_tail(&new->entry, &peer->ops);
	if (kind != EXANET_OP_RX)
		ep->tx_ops++;
	*op = new;
	return 0;
}

void exanet_op_hold(struct exanet_op *op)
{
	exanet_complete_tx(op->ep, op->ofi_op, op->context, op->flags, 0);
	op->held = true;
	op->peer->held++;
	op->ep->tx_ops--;
}

void exanet_op_free(struct exanet_op *op)
{
	if (op->held)
		op->peer->held--;
	else if (op->kind != EXANET_OP_RX)
		op->ep->tx_ops--;
	dlist_remove(&op->entry);
	free(op->bounce);
	ofi_buf_free(op);
}

struct exanet_op *exanet_op_find(struct exanet_peer *peer,
				 enum exanet_op_kind kind, uint32_t id)
{
	struct dlist_entry *item;
	struct exanet_op *op;

	/* Answers come about in the order of the questions. */
	dlist_foreach(&peer->ops, item) {
		op = container_of(item, struct exanet_op, entry);
		if (op->kind == kind && op->id == id)
			return op;
	}
	return NULL;
}

void exanet_complete_tx(struct exanet_ep *ep, uint32_t ofi_op, void *context,
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
		FI_WARN(&exanet_prov, FI_LOG_CQ, "completion lost\n");
}

/* All bytes are there: tells the target, if the user wants that. */
static bool exanet_op_announce(struct exanet_op *op)
{
	struct exanet_fi_write_data body = {
		.data = htole64(op->cq_data),
		.len = htole64(op->len),
	};
	struct exanet_pkt *pkt;

	if (op->err || op->ofi_op != ofi_op_write ||
	    !(op->flags & FI_REMOTE_CQ_DATA))
		return false;
	op->flags &= ~FI_REMOTE_CQ_DATA;
	op->err = op->peer->dead;
	pkt = op->err ? NULL : exanet_pkt_alloc(op->peer, EXANET_PKT_MSG);
	if (!pkt) {
		op->err = op->err ? op->err : FI_ENOMEM;
		return false;
	}
	memcpy(exanet_pkt_header(pkt, EXANET_FI_WRITE_DATA, 0), &body,
	       sizeof(body));
	pkt->len += sizeof(body);
	pkt->op = op;
	op->pending = 1;
	exanet_pkt_send(pkt);
	return true;
}

void exanet_op_put(struct exanet_op *op, int err)
{
	if (err && !op->err)
		op->err = err < 0 ? -err : err;
	assert(op->pending);
	if (--op->pending)
		return;
	if (op->kind == EXANET_OP_RX) {
		exanet_rx_finish(op);
		return;
	}
	if (exanet_op_announce(op))
		return;
	if (op->held && op->err)
		FI_WARN(&exanet_prov, FI_LOG_EP_DATA,
			"a message that had completed was not delivered: %s\n",
			fi_strerror(op->err));
	if (!op->held)
		exanet_complete_tx(op->ep, op->ofi_op, op->context, op->flags,
				   op->err);
	exanet_op_free(op);
}
