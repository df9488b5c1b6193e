// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: functions that return when a transfer has ended.
 */
#include "internal.h"

EXA_API int exa_write(struct exa_dev *dev, const struct exa_write_attr *attr,
		      struct exa_status *st)
{
	struct exa_pace pace;
	int chan, ret;

	exa_pace_start(&pace, dev, -1);
	while ((chan = exa_write_post(dev, attr)) == -EAGAIN)
		exa_pace_step(&pace);
	if (chan < 0)
		return chan;
	exa_pace_start(&pace, dev, -1);
	while ((ret = exa_write_test(dev, chan, st)) == -EINPROGRESS)
		exa_pace_step(&pace);
	return ret;
}

EXA_API int exa_send(struct exa_dev *dev, const struct exa_mbox_addr *to,
		     const void *buf, size_t len)
{
	struct exa_pace pace;
	int chan, ret;

	exa_pace_start(&pace, dev, -1);
	while ((chan = exa_msg_post(dev, to, buf, len, 0)) == -EAGAIN)
		exa_pace_step(&pace);
	if (chan < 0)
		return chan;
	exa_pace_start(&pace, dev, -1);
	while ((ret = exa_msg_test(dev, chan, NULL)) == -EINPROGRESS)
		exa_pace_step(&pace);
	return ret;
}

/*
 * Takes a record of @dev->slot for a read.  Returns the number of the record, or -EAGAIN if
 * no record is free.  If exa_read() has given up a read, its record is free again when the
 * notification has arrived in the record.
 */
static int exa_slot_take(struct exa_dev *dev)
{
	uint32_t lost = atomic_load(&dev->slot_lost);
	int n = exa_bit_take(&dev->slot_busy, EXA_READ_SLOTS);
	unsigned int i;

	if (n >= 0)
		return n;
	for (i = 0; i < EXA_READ_SLOTS; i++) {
		if (!(lost & RNIC_BIT(i)) ||
		    exa_notify_test(&dev->slot[i], NULL) == -EINPROGRESS)
			continue;
		/*
		 * Only one thread finds the bit set and clears it; this thread owns the
		 * record.
		 */
		if (atomic_fetch_and(&dev->slot_lost, ~(uint32_t)RNIC_BIT(i)) &
		    RNIC_BIT(i))
			return i;
	}
	return -EAGAIN;
}

/*
 * Waits for a free channel, and posts a read.  Returns the number of the channel,
 * -ETIMEDOUT after the deadline of @pace, or another negative errno.
 */
static int exa_read_start(struct exa_dev *dev, const struct exa_read_attr *attr,
			  struct exa_pace *pace)
{
	int chan;

	while ((chan = exa_read_post(dev, attr)) == -EAGAIN)
		if (!exa_pace_step(pace))
			return -ETIMEDOUT;
	return chan;
}

/*
 * Waits until the read request on channel @chan has ended, which frees the channel, even
 * after the deadline of @pace.  If the request has not failed, also waits until the
 * notification is in @rec, or until the deadline.  Returns the status of the read, the error
 * of the request, or -ETIMEDOUT.
 */
static int exa_read_finish(struct exa_dev *dev, int chan,
			   const struct exanet_notification *rec,
			   struct exa_pace *pace)
{
	int sent = -EINPROGRESS, done = -EINPROGRESS;
	bool in_time = true;

	for (;;) {
		if (sent == -EINPROGRESS)
			sent = exa_msg_test(dev, chan, NULL);
		if (done == -EINPROGRESS)
			done = exa_notify_test(rec, NULL);
		if (sent != -EINPROGRESS && done != -EINPROGRESS)
			return done;
		if (sent != -EINPROGRESS && (sent || !in_time))
			return sent ? sent : -ETIMEDOUT;
		in_time = exa_pace_step(pace) && in_time;
	}
}

EXA_API int exa_read(struct exa_dev *dev, const struct exa_read_attr *attr,
		     int timeout_ms)
{
	struct exa_read_attr own = *attr;
	struct exa_pace pace;
	int slot, chan, ret;

	if (!exa_alive(dev))
		return -EPERM;
	exa_pace_start(&pace, dev, timeout_ms);
	while ((slot = exa_slot_take(dev)) == -EAGAIN)
		if (!exa_pace_step(&pace))
			return -ETIMEDOUT;
	own.notify = &dev->slot[slot];
	chan = exa_read_start(dev, &own, &pace);
	if (chan < 0) {
		exa_bit_free(&dev->slot_busy, slot);
		return chan;
	}
	pace.steps = 0;
	ret = exa_read_finish(dev, chan, own.notify, &pace);
	/*
	 * Does not free the record of a read whose end is unknown, because the NIC may
	 * still store the notification.
	 */
	if (exa_notify_test(own.notify, NULL) == -EINPROGRESS &&
	    (ret == -ETIMEDOUT || ret == -ECANCELED))
		atomic_fetch_or(&dev->slot_lost, (uint32_t)RNIC_BIT(slot));
	else
		exa_bit_free(&dev->slot_busy, slot);
	return ret;
}
