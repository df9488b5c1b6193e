/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Transport of the provider `exanet`: each request uses a channel of libexanet.
 *
 * A read uses a packetizer channel until the peer's NIC has accepted or refused the request,
 * and a notification record in rnic_fi_request.nic until the read has ended.  The
 * notification may arrive before the ack of the request.
 */

#include "exanet_fi.h"

#define EXANET_MBOX_LOG2	11	/* log2 of the entries of a mailbox ring */
#define EXANET_PEER_INFLIGHT	8	/* half of the packetizer channels of a context */
#define EXANET_NAMED_JOBS	"/sys/module/exanet/parameters/named_jobs"
#define EXANET_NAMED_JOBS_DEFAULT	2047

/*
 * A base has bits 47:0 of the VA, the window of the xva, and bits 60:48 of the VA, because
 * reads need the VA and writes need the xva.  A key has no room for bits 60:48, so memory
 * whose VA has a 1 in these bits can only be the source of a rendezvous or a ring of slots,
 * because neither needs a key.
 */
#define EXANET_BASE_WINDOW	RNIC_FIELD(50, 48)
#define EXANET_BASE_VA_HIGH	RNIC_FIELD(63, 51)	/* bits 60:48 of the VA */
#define EXANET_VA_HIGH		RNIC_FIELD(60, 48)

_Static_assert(EXANET_MAILBOXES <= RNIC_FI_MBOXES, "mailboxes of the messages");
_Static_assert(EXA_MSG_MAX == RNIC_FI_MSG_MAX, "bytes of a message");

struct exanet_nic {
	struct rnic_fi_nic	nic;
	struct exa_dev		*dev;
	struct exa_mbox		*mbox[EXANET_MAILBOXES];
	/*
	 * Request of each busy packetizer channel; NULL: a read that has ended before its
	 * channel.
	 */
	struct rnic_fi_request	*msg[EXANET_PKTZ_CHANNELS];
	struct rnic_fi_request	*write[EXANET_WRITE_CHANNELS];	/* request of each busy write
								 * channel */
	uint32_t		msg_busy;	/* bit n: packetizer channel n is busy */
	uint32_t		write_busy;	/* bit n: write channel n is busy */
	struct dlist_entry	reads;	/* struct exanet_read whose notification has not
					 * arrived */
};

/* Contents of rnic_fi_request.nic in a request of kind READ. */
struct exanet_read {
	struct exanet_notification rec;	/* first, because rec must be 16-byte aligned */
	struct dlist_entry	entry;	/* in exanet_nic.reads */
	int			chan;	/* packetizer channel; -1: the peer's NIC has accepted
					 * the request */
};
_Static_assert(sizeof(struct exanet_read) <= RNIC_FI_NIC_BYTES, "room in a request");

static struct exanet_nic *exanet_nic_of(struct rnic_fi_nic *nic)
{
	return container_of(nic, struct exanet_nic, nic);
}

static struct exanet_read *exanet_read_of(struct rnic_fi_request *req)
{
	return (struct exanet_read *)req->nic;
}

static void exanet_close(struct rnic_fi_nic *nic)
{
	if (!nic)
		return;
	exa_close(exanet_nic_of(nic)->dev);
	free(nic);
}

/*
 * Returns the highest number of a named job.  Jobs above this number are local: the NICs
 * of other nodes refuse them.  Without sysfs, as in some containers, returns the default of
 * the module parameter.
 */
static unsigned int exanet_named_jobs(void)
{
	FILE *file = fopen(EXANET_NAMED_JOBS, "re");
	unsigned int jobs;

	if (!file)
		return EXANET_NAMED_JOBS_DEFAULT;
	if (fscanf(file, "%u", &jobs) != 1)
		jobs = EXANET_NAMED_JOBS_DEFAULT;
	fclose(file);
	return jobs;
}

static int exanet_open(const char *name, struct rnic_fi_nic **out)
{
	struct exanet_nic *nic = calloc(1, sizeof(*nic));
	struct exa_attr attr;
	int ret;

	if (!nic)
		return -FI_ENOMEM;
	dlist_init(&nic->reads);
	ret = exa_open(name, &nic->dev);
	if (!ret)
		ret = exa_query(nic->dev, &attr);
	if (ret) {
		FI_WARN(&exanet_prov, FI_LOG_DOMAIN, "%s: %s\n", name,
			exa_strerror(ret));
		exanet_close(&nic->nic);
		return ret;
	}
	nic->nic.node = exa_coord(nic->dev);
	nic->nic.ctx = exa_ctx(nic->dev);
	nic->nic.job = attr.job;
	nic->nic.fd = exa_fd(nic->dev);
	if (attr.job > exanet_named_jobs())
		nic->nic.remedy = "root gives the user a named job by exanet-job(8)";
	*out = &nic->nic;
	return 0;
}

/* --- Mailboxes --------------------------------------------------------------- */

static int exanet_mbox_open(struct rnic_fi_nic *nic, unsigned int nr)
{
	struct exanet_nic *x = exanet_nic_of(nic);

	return exa_mbox_create(x->dev, nr, EXANET_MBOX_LOG2, 0, &x->mbox[nr]);
}

static void exanet_mbox_close(struct rnic_fi_nic *nic, unsigned int nr)
{
	exa_mbox_destroy(exanet_nic_of(nic)->mbox[nr]);
}

static void exanet_pop(struct rnic_fi_nic *nic, unsigned int nr)
{
	exa_mbox_pop(exanet_nic_of(nic)->mbox[nr]);
}

/*
 * Stores the message or note @msg in @in.  Returns false if the type of @msg is neither
 * WRITE nor NOTIFY.
 */
static bool exanet_arrival(const struct exanet_message *msg,
			   struct rnic_fi_arrival *in)
{
	switch (exa_message_type(msg)) {
	case EXANET_TYPE_WRITE:
		in->is_note = false;
		in->from.node = exa_message_coord(msg);
		in->from.ctx = exa_message_ctx(msg);
		in->data = msg->payload;
		in->size = exa_message_size(msg);
		return true;
	case EXANET_TYPE_NOTIFY:
		in->is_note = true;
		in->note = le64toh(msg->data);
		return true;
	default:
		return false;
	}
}

static bool exanet_peek(struct rnic_fi_nic *nic, unsigned int nr,
			struct rnic_fi_arrival *in)
{
	struct exa_mbox *mbox = exanet_nic_of(nic)->mbox[nr];
	const struct exanet_message *msg = exa_mbox_peek(mbox);

	while (msg && !exanet_arrival(msg, in)) {
		exa_mbox_pop(mbox);
		msg = exa_mbox_peek(mbox);
	}
	return msg;
}

/* --- Requests ---------------------------------------------------------------- */

static int exanet_post_message(struct exanet_nic *nic,
			       const struct rnic_fi_request *req)
{
	struct exa_mbox_addr to = {
		.coord = req->to.node,
		.ctx = req->to.ctx,
		.mbox = req->to.mbox,
	};

	return exa_msg_post(nic->dev, &to, req->data, req->len,
			    req->kind == RNIC_FI_REQUEST_DATAGRAM ?
			    EXA_MSG_UNRELIABLE : 0);
}

static int exanet_post_read(struct exanet_nic *nic, struct rnic_fi_request *req)
{
	struct exanet_read *read = exanet_read_of(req);
	struct exa_read_attr attr = {
		.dst = req->local,
		.src_va = req->remote,
		.src_coord = req->to.node,
		.src_ctx = req->to.ctx,
		.len = req->len,
		.flags = req->wake ? EXA_READ_NOTIFY_IRQ : 0,
		.notify = &read->rec,
		.tag = req->id,
	};
	int chan = exa_read_post(nic->dev, &attr);

	if (chan >= 0) {
		read->chan = chan;
		dlist_insert_tail(&read->entry, &nic->reads);
	}
	return chan;
}

static int exanet_post_write(struct exanet_nic *nic, struct rnic_fi_request *req)
{
	struct exa_write_attr attr = {
		.src = req->local,
		.dst_gva = exa_gva(req->to.node, req->remote),
		.len = req->len,
		.dst_ctx = req->to.ctx,
		.flags = req->wake ? EXA_WRITE_WAKE : 0,
	};
	int chan;

	if (req->kind == RNIC_FI_REQUEST_WRITE_NOTE) {
		attr.notify_gva = exa_mbox_gva(req->to.node, req->to.mbox);
		attr.notify_data = req->note;
		attr.flags |= EXA_WRITE_NOTIFY;
	}
	chan = exa_write_post(nic->dev, &attr);
	if (chan < 0)
		return chan;
	nic->write[chan] = req;
	nic->write_busy |= 1U << chan;
	return 0;
}

static int exanet_post(struct rnic_fi_nic *nic, struct rnic_fi_request *req)
{
	struct exanet_nic *x = exanet_nic_of(nic);
	int chan;

	switch (req->kind) {
	case RNIC_FI_REQUEST_MESSAGE:
	case RNIC_FI_REQUEST_DATAGRAM:
		chan = exanet_post_message(x, req);
		break;
	case RNIC_FI_REQUEST_PUT:
		chan = exa_put_small(x->dev, exa_gva(req->to.node, req->remote),
				     req->to.ctx, req->data, req->len);
		break;
	case RNIC_FI_REQUEST_READ:
		chan = exanet_post_read(x, req);
		break;
	default:
		return exanet_post_write(x, req);
	}
	if (chan < 0)
		return chan;
	x->msg[chan] = req;
	x->msg_busy |= 1U << chan;
	return 0;
}

/* Calls @end for each read whose notification has arrived, with the status of this read. */
static void exanet_reap_reads(struct exanet_nic *nic, rnic_fi_end_fn *end)
{
	struct dlist_entry *item, *tmp;
	struct exanet_read *read;
	int err;

	dlist_foreach_safe(&nic->reads, item, tmp) {
		read = container_of(item, struct exanet_read, entry);
		err = exa_notify_test(&read->rec, NULL);
		if (err == -EINPROGRESS)
			continue;
		dlist_remove(&read->entry);
		/* The channel stays busy until the ack of the request arrives. */
		if (read->chan >= 0)
			nic->msg[read->chan] = NULL;
		((struct rnic_fi_request *)read)->accepted = true;
		end((struct rnic_fi_request *)read, err);
	}
}

/*
 * Handles the end of the packetizer channel of @req with status @err.  A read whose request
 * the peer's NIC has accepted (@err is 0) continues; for all other requests calls @end.
 */
static void exanet_msg_end(struct rnic_fi_request *req, int err,
			   rnic_fi_end_fn *end)
{
	struct exanet_read *read = exanet_read_of(req);

	if (req->kind == RNIC_FI_REQUEST_READ) {
		if (!err) {
			read->chan = -1;
			req->accepted = true;
			return;
		}
		dlist_remove(&read->entry);
	}
	end(req, err);
}

static void exanet_reap(struct rnic_fi_nic *nic, rnic_fi_end_fn *end)
{
	struct exanet_nic *x = exanet_nic_of(nic);
	unsigned int i;
	int err;

	if (!dlist_empty(&x->reads))
		exanet_reap_reads(x, end);
	for (i = 0; i < EXANET_PKTZ_CHANNELS && x->msg_busy >> i; i++) {
		if (!(x->msg_busy & (1U << i)))
			continue;
		err = exa_msg_test(x->dev, i, NULL);
		if (err == -EINPROGRESS)
			continue;
		x->msg_busy &= ~(1U << i);
		if (x->msg[i])
			exanet_msg_end(x->msg[i], err, end);
	}
	for (i = 0; i < EXANET_WRITE_CHANNELS && x->write_busy >> i; i++) {
		if (!(x->write_busy & (1U << i)))
			continue;
		err = exa_write_test(x->dev, i, NULL);
		if (err == -EINPROGRESS)
			continue;
		x->write_busy &= ~(1U << i);
		end(x->write[i], err);
	}
}

/* --- Memory ------------------------------------------------------------------ */

/*
 * Stores the base of @ptr.  Peers can read all memory of the process by VA.  Peers write
 * by xva, so the function needs a window of the NIC if @access has FI_REMOTE_WRITE.
 */
static int exanet_expose(struct rnic_fi_nic *nic, const void *ptr, size_t len,
			 uint64_t access, uint64_t *base)
{
	uint64_t va = (uintptr_t)ptr, xva = 0;
	int ret;

	if (va & ~(EXANET_VA_HIGH | RNIC_FI_KEY_VA))
		return -FI_EINVAL;
	if (access & FI_REMOTE_WRITE) {
		ret = exa_xva(exanet_nic_of(nic)->dev, ptr, len, &xva);
		if (ret)
			return ret;
	}
	*base = RNIC_PREP(RNIC_FI_KEY_VA, va) |
		RNIC_PREP(EXANET_BASE_WINDOW, RNIC_GET(EXANET_VA_WINDOW, xva)) |
		RNIC_PREP(EXANET_BASE_VA_HIGH, RNIC_GET(EXANET_VA_HIGH, va));
	return 0;
}

/*
 * Does nothing, because the NIC has no record of an exposure.  The NIC only has windows,
 * which exist until the NIC closes the context.
 */
static void exanet_unexpose(struct rnic_fi_nic *nic, uint64_t base)
{
}

static uint64_t exanet_address(uint64_t base, uint64_t offset, bool write)
{
	uint64_t va = RNIC_GET(RNIC_FI_KEY_VA, base) |
		      RNIC_PREP(EXANET_VA_HIGH,
				RNIC_GET(EXANET_BASE_VA_HIGH, base));

	va += offset;
	if (!write)
		return va;
	return RNIC_PREP(EXANET_VA_WINDOW, RNIC_GET(EXANET_BASE_WINDOW, base)) |
	       RNIC_PREP(EXANET_VA_OFFSET, va);
}

/* --- Waiting ----------------------------------------------------------------- */

static int exanet_arm(struct rnic_fi_nic *nic)
{
	struct exa_dev *dev = exanet_nic_of(nic)->dev;
	int ret = exa_arm(dev);

	return ret ? ret : exa_ack(dev);
}

/*
 * Returns true if a packetizer channel is busy, because the end of a request on such a
 * channel raises no interrupt.  The channel of a read that has ended does not count.  This
 * channel may stay busy until after the next post(), because the common part calls reap()
 * only while requests are posted.
 */
static bool exanet_silent(const struct rnic_fi_nic *nic)
{
	const struct exanet_nic *x =
		container_of(nic, const struct exanet_nic, nic);
	unsigned int i;

	for (i = 0; i < EXANET_PKTZ_CHANNELS && x->msg_busy >> i; i++) {
		if (x->msg_busy & (1U << i) && x->msg[i])
			return true;
	}
	return false;
}

static void exanet_hint(struct rnic_fi_nic *nic)
{
	exa_poll_hint(exanet_nic_of(nic)->dev);
}

const struct rnic_fi_transport exanet_transport = {
	.util_prov = &exanet_util_prov,
	.node_max = EXANET_COORD_MASK,
	.contexts = EXANET_CONTEXTS,
	.mboxes = EXANET_MAILBOXES,
	.peer_inflight = EXANET_PEER_INFLIGHT,
	.put_max = EXA_MSG_MAX,
	.put_boundary = EXA_PUT_BOUNDARY,
	.open = exanet_open,
	.close = exanet_close,
	.mbox_open = exanet_mbox_open,
	.mbox_close = exanet_mbox_close,
	.peek = exanet_peek,
	.pop = exanet_pop,
	.post = exanet_post,
	.reap = exanet_reap,
	.expose = exanet_expose,
	.unexpose = exanet_unexpose,
	.address = exanet_address,
	.arm = exanet_arm,
	.silent = exanet_silent,
	.hint = exanet_hint,
};
