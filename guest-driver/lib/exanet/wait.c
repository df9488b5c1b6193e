// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: notifications and waiting.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define EXA_PACE_HINT	64		/* number of steps before the first store to POLL */
#define EXA_PACE_HINTED	16		/* weight of a step that stores to POLL, in steps */
#define EXA_PACE_SPIN	1000		/* number of steps before the loop yields the CPU */
#define EXA_PACE_YIELD	4000		/* number of further steps before the loop sleeps */
#define EXA_PACE_NS	100000		/* ns of one sleep */
#define EXA_BUSY_NS	1000000		/* ns of the sleep of exa_wait() if another thread waits
					 * already */

/*
 * How often exa_drain() has read a descriptor, for all NICs of this process.  If the value
 * of exa_drains_seen of a thread differs, another thread may have read the event for which
 * this thread waits.
 */
static _Atomic uint64_t exa_drains;
static __thread uint64_t exa_drains_seen;	/* last value of exa_drains that the thread has
						 * read */

int64_t exa_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void exa_nap(long ns)
{
	struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

void exa_pace_start(struct exa_pace *pace, struct exa_dev *dev, int timeout_ms)
{
	pace->dev = dev;
	pace->no_poll = false;
	pace->next = 0;
	pace->steps = 0;
	pace->deadline_ns = timeout_ms < 0 ? -1 :
			    exa_now_ns() + timeout_ms * 1000000LL;
}

/*
 * Stores to POLL, but not in the first EXA_PACE_HINT steps, nor after a try that found no
 * register POLL.  Returns true if the function has stored to POLL.
 */
static bool exa_pace_hint(struct exa_pace *pace)
{
	bool hinted;

	if (pace->steps < EXA_PACE_HINT || pace->no_poll)
		return false;
	hinted = pace->dev ? exa_hint_dev(pace->dev) : exa_hint_any(&pace->next);
	pace->no_poll = !hinted;
	return hinted;
}

/*
 * Uses no "pause" instruction, because under TCG this instruction leaves the guest and
 * delays the device.
 */
bool exa_pace_step(struct exa_pace *pace)
{
	unsigned int steps = pace->steps;
	bool hinted = false;

	if (steps < EXA_PACE_SPIN + EXA_PACE_YIELD) {
		hinted = exa_pace_hint(pace);
		pace->steps += hinted ? EXA_PACE_HINTED : 1;
	}
	if (steps < EXA_PACE_SPIN && steps % 64 != 63 && !hinted)
		return true;
	if (pace->deadline_ns >= 0 && exa_now_ns() >= pace->deadline_ns)
		return false;
	if (steps >= EXA_PACE_SPIN + EXA_PACE_YIELD)
		exa_nap(EXA_PACE_NS);
	else if (steps >= EXA_PACE_SPIN)
		sched_yield();
	return true;
}

EXA_API void exa_notify_clear(struct exanet_notification *rec)
{
	rec->data = 0;
	exa_store(&rec->status, 0);
}

EXA_API int exa_notify_error(const struct exanet_notification *rec)
{
	uint64_t status = le64toh(rec->status);
	int error;

	if (!RNIC_GET(EXANET_NOTIFICATION_STATUS, status))
		return 0;
	error = exa_code_errno(RNIC_GET(EXANET_NOTIFICATION_HANDLE, status));
	return error ? error : -EIO;
}

EXA_API int exa_notify_test(const struct exanet_notification *rec,
			    uint64_t *data)
{
	if (!(exa_load(&rec->status) & EXANET_NOTIFICATION_VALID))
		return -EINPROGRESS;
	/*
	 * The NIC stores the status last, so rec->data and, after success, the bytes of the
	 * transfer are in memory.
	 */
	exa_rmb();
	if (data)
		*data = le64toh(rec->data);
	return exa_notify_error(rec);
}

EXA_API int exa_notify_wait(const struct exanet_notification *rec,
			    uint64_t *data, int timeout_ms)
{
	struct exa_pace pace;
	int ret;

	exa_pace_start(&pace, NULL, timeout_ms);
	do {
		ret = exa_notify_test(rec, data);
		if (ret != -EINPROGRESS)
			return ret;
	} while (exa_pace_step(&pace));
	return -ETIMEDOUT;
}

EXA_API int exa_fd(const struct exa_dev *dev)
{
	return dev->fd;
}

static int exa_arm_set(struct exa_dev *dev, bool on)
{
	int i;

	pthread_mutex_lock(&dev->lock);
	if (dev->armed != on) {
		dev->armed = on;
		for (i = 0; i < EXANET_MAILBOXES; i++)
			if (dev->mbox[i])
				exa_mbox_irq_update(dev->mbox[i]);
	}
	pthread_mutex_unlock(&dev->lock);
	return 0;
}

EXA_API int exa_arm(struct exa_dev *dev)
{
	if (!exa_alive(dev))
		return -EPERM;
	exa_drains_seen = atomic_load(&exa_drains);
	return exa_arm_set(dev, true);
}

/*
 * Reads the descriptor of @dev once, which removes its events, and counts the read in
 * exa_drains.  The caller holds wait_lock.  Returns 0 or a negative errno.
 */
static int exa_drain(struct exa_dev *dev)
{
	uint64_t count;
	ssize_t n;

	n = read(dev->fd, &count, sizeof(count));
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	exa_drains_seen = atomic_fetch_add(&exa_drains, 1) + 1;
	return 0;
}

EXA_API int exa_ack(struct exa_dev *dev)
{
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	/*
	 * The other thread that holds wait_lock reads the descriptor after an event, or returns
	 * from exa_wait() and tests for events.
	 */
	if (pthread_mutex_trylock(&dev->wait_lock))
		return 0;
	ret = exa_drain(dev);
	pthread_mutex_unlock(&dev->wait_lock);
	return ret;
}

EXA_API int exa_disarm(struct exa_dev *dev)
{
	if (!exa_alive(dev))
		return -EPERM;
	exa_arm_set(dev, false);
	return exa_ack(dev);
}

/* Does the work of exa_wait() for a caller that holds wait_lock.  Returns as exa_wait(). */
static int exa_wait_poll(struct exa_dev *dev, int timeout_ms)
{
	struct pollfd pfd = { .fd = dev->fd, .events = POLLIN };
	int n, ret;

	if (atomic_load(&exa_drains) != exa_drains_seen) {
		exa_drains_seen = atomic_load(&exa_drains);
		return 1;
	}
	n = poll(&pfd, 1, timeout_ms);
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	if (!n)
		return 0;
	if (pfd.revents & (POLLERR | POLLHUP | POLLNVAL))
		return -ENODEV;
	ret = exa_drain(dev);
	return ret ? ret : 1;
}

EXA_API int exa_wait(struct exa_dev *dev, int timeout_ms)
{
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	if (pthread_mutex_trylock(&dev->wait_lock)) {
		exa_nap(EXA_BUSY_NS);
		return 1;
	}
	ret = exa_wait_poll(dev, timeout_ms);
	pthread_mutex_unlock(&dev->wait_lock);
	return ret;
}
