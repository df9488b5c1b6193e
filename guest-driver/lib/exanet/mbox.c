// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: mailboxes.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define EXA_MBOX_LOG2_MAX	16
/*
 * Time that exa_recv() polls before exa_recv() sleeps, ns; several times as long as a
 * wake-up.
 */
#define EXA_RECV_SPIN_NS	2000000

/*
 * Allocates the ring of @mbox in whole pages.  The pages are present, because a message
 * whose store to the ring meets a page fault is delayed until its retransmission.  Children
 * do not get the ring, because fork() would make pages that a child shares read-only, so
 * that the NIC's next store would meet a page fault.  Returns 0 or a negative errno.
 */
static int exa_ring_alloc(struct exa_mbox *mbox)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *p;

	mbox->ring_bytes = sizeof(struct exanet_message) << mbox->log2;
	mbox->ring_bytes = (mbox->ring_bytes + page - 1) / page * page;
	p = mmap(NULL, mbox->ring_bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (madvise(p, mbox->ring_bytes, MADV_DONTFORK) < 0) {
		int err = -errno;

		munmap(p, mbox->ring_bytes);
		return err;
	}
	mbox->ring = p;
	return 0;
}

static int exa_mbox_new(struct exa_dev *dev, unsigned int nr, unsigned int log2,
			struct exa_mbox **out)
{
	struct exa_mbox *mbox = calloc(1, sizeof(*mbox));
	int ret;

	if (!mbox)
		return -ENOMEM;
	mbox->dev = dev;
	mbox->nr = nr;
	mbox->log2 = log2;
	mbox->batch = log2 > 2 ? 1U << (log2 - 2) : 1;
	ret = exa_ring_alloc(mbox);
	if (ret) {
		free(mbox);
		return ret;
	}
	*out = mbox;
	return 0;
}

void exa_mbox_irq_update(struct exa_mbox *mbox)
{
	uint64_t ctrl = RNIC_PREP(EXANET_MAILBOX_LOG2, mbox->log2) |
			EXANET_MAILBOX_ENABLE;

	if (mbox->irq_always || mbox->irq_recv || mbox->dev->armed)
		ctrl |= EXANET_MAILBOX_IRQ;
	if (ctrl != mbox->ctrl) {
		mbox->ctrl = ctrl;
		exa_store(&exa_mailbox(mbox->dev, mbox->nr)->ctrl, ctrl);
	}
}

EXA_API int exa_mbox_create(struct exa_dev *dev, unsigned int nr,
			    unsigned int log2, uint32_t flags,
			    struct exa_mbox **mbox)
{
	struct exa_mbox *m;
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	if (nr >= EXANET_MAILBOXES || log2 < 1 || log2 > EXA_MBOX_LOG2_MAX ||
	    flags & ~EXA_MBOX_IRQ)
		return -EINVAL;
	pthread_mutex_lock(&dev->lock);
	ret = -EBUSY;
	if (dev->mbox[nr])
		goto out;
	ret = exa_mbox_new(dev, nr, log2, &m);
	if (ret)
		goto out;
	m->irq_always = flags & EXA_MBOX_IRQ;
	exa_store(&exa_mailbox(dev, nr)->ring, (uintptr_t)m->ring);
	exa_wmb();
	exa_mbox_irq_update(m);
	dev->mbox[nr] = m;
	*mbox = m;
out:
	pthread_mutex_unlock(&dev->lock);
	return ret;
}

void exa_mbox_drop(struct exa_mbox *mbox, bool live)
{
	mbox->dev->mbox[mbox->nr] = NULL;
	if (live) {
		/*
		 * After this store the NIC does not write to the ring any more.  Omits the
		 * store if the NIC was removed, because a store to its pages would cause
		 * SIGBUS.
		 */
		if (!exa_gone(mbox->dev->fd))
			exa_store(&exa_mailbox(mbox->dev, mbox->nr)->ctrl, 0);
		munmap(mbox->ring, mbox->ring_bytes);
	}
	free(mbox);
}

EXA_API void exa_mbox_destroy(struct exa_mbox *mbox)
{
	struct exa_dev *dev;

	if (!mbox)
		return;
	dev = mbox->dev;
	pthread_mutex_lock(&dev->lock);
	exa_mbox_drop(mbox, exa_alive(dev));
	pthread_mutex_unlock(&dev->lock);
}

EXA_API const struct exanet_message *exa_mbox_peek(struct exa_mbox *mbox)
{
	const struct exanet_message *msg;
	uint32_t want = !(mbox->head >> mbox->log2 & 1);

	if (!exa_alive(mbox->dev))
		return NULL;
	msg = &mbox->ring[mbox->head & ((1U << mbox->log2) - 1)];
	if ((exa_load(&msg->phase) & 1) != want)
		return NULL;
	/*
	 * The NIC stores the phase of an entry last, so the other members of the entry are
	 * valid.
	 */
	exa_rmb();
	return msg;
}

EXA_API void exa_mbox_pop(struct exa_mbox *mbox)
{
	if (!exa_alive(mbox->dev))
		return;
	mbox->head++;
	if (mbox->head - mbox->head_stored >= mbox->batch) {
		mbox->head_stored = mbox->head;
		/*
		 * All reads of the entries must end before the NIC may overwrite the
		 * entries.
		 */
		atomic_thread_fence(memory_order_release);
		exa_wmb();
		exa_store(&exa_mailbox(mbox->dev, mbox->nr)->head, mbox->head);
	}
}

EXA_API void exa_mbox_rejected(const struct exa_mbox *mbox, uint32_t *full,
			       uint32_t *fault)
{
	uint64_t rejected = 0;

	if (exa_alive(mbox->dev))
		rejected = exa_load(&exa_mailbox(mbox->dev, mbox->nr)->rejected);
	if (full)
		*full = RNIC_GET(EXANET_MAILBOX_REJ_FULL, rejected);
	if (fault)
		*fault = RNIC_GET(EXANET_MAILBOX_REJ_FAULT, rejected);
}

static void exa_recv_irq(struct exa_mbox *mbox, bool on)
{
	pthread_mutex_lock(&mbox->dev->lock);
	mbox->irq_recv = on;
	exa_mbox_irq_update(mbox);
	pthread_mutex_unlock(&mbox->dev->lock);
}

static const struct exanet_message *exa_recv_spin(struct exa_mbox *mbox,
						  int64_t until)
{
	struct exa_pace pace = { .dev = mbox->dev, .deadline_ns = until };
	const struct exanet_message *msg;

	do {
		msg = exa_mbox_peek(mbox);
	} while (!msg && exa_pace_step(&pace));
	return msg;
}

/*
 * Sleeps until @mbox has a message, and stores the address of the message in *@msg; or
 * until the time @deadline (ns; -1: never), and stores NULL in *@msg.  Returns 0, or a
 * negative errno if exa_wait() fails and @mbox has no message.
 */
static int exa_recv_sleep(struct exa_mbox *mbox, int64_t deadline,
			  const struct exanet_message **msg)
{
	int64_t left;
	int ms = -1, ret = 0;

	exa_recv_irq(mbox, true);
	while (!(*msg = exa_mbox_peek(mbox)) && ret >= 0) {
		if (deadline >= 0) {
			left = deadline - exa_now_ns();
			if (left <= 0)
				break;
			ms = (left + 999999) / 1000000;
		}
		ret = exa_wait(mbox->dev, ms);
	}
	/*
	 * Does not store to the NIC after an error of exa_wait(), because a store to the
	 * pages of a NIC that was removed would cause SIGBUS.
	 */
	if (ret >= 0)
		exa_recv_irq(mbox, false);
	return *msg || ret > 0 ? 0 : ret;
}

EXA_API int exa_recv(struct exa_mbox *mbox, void *buf, size_t len,
		     struct exanet_message *origin, int timeout_ms)
{
	const struct exanet_message *msg;
	int64_t spin, deadline = -1;
	uint32_t size;
	int ret;

	if (!exa_alive(mbox->dev))
		return -EPERM;
	msg = exa_mbox_peek(mbox);
	if (!msg && timeout_ms) {
		spin = exa_now_ns() + EXA_RECV_SPIN_NS;
		if (timeout_ms > 0) {
			deadline = exa_now_ns() + timeout_ms * 1000000LL;
			spin = spin < deadline ? spin : deadline;
		}
		msg = exa_recv_spin(mbox, spin);
		if (!msg) {
			ret = exa_recv_sleep(mbox, deadline, &msg);
			if (ret)
				return ret;
		}
	}
	if (!msg)
		return -ETIMEDOUT;
	size = exa_message_size(msg);
	/*
	 * The field EXANET_MESSAGE_SIZE has 7 bits, so its value could exceed the size of
	 * the payload.
	 */
	if (size > sizeof(msg->payload))
		size = sizeof(msg->payload);
	memcpy(buf, msg->payload, len < size ? len : size);
	if (origin)
		*origin = *msg;
	exa_mbox_pop(mbox);
	return size;
}
