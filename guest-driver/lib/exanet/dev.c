// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: open, close, queries and address windows.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "rnic/exanet/uapi.h"

int exa_ioctl(struct exa_dev *dev, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = ioctl(dev->fd, cmd, arg);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

/*
 * Stores the path of the device file in @path, which has @size bytes.  @name is "1",
 * "exanet1" or "/dev/exanet1".  If @name is NULL, uses the environment variable
 * EXANET_DEVICE.  If @name or the variable is empty or the variable is not set, uses
 * exanet0.  Returns 0 or -ENAMETOOLONG.
 */
static int exa_path(const char *name, char *path, size_t size)
{
	const char *form = "/dev/%s";
	int n;

	if (!name)
		name = secure_getenv("EXANET_DEVICE");
	if (!name || !*name)
		name = "exanet0";
	if (strchr(name, '/'))
		form = "%s";
	else if (strspn(name, "0123456789") == strlen(name))
		form = "/dev/exanet%s";
	n = snprintf(path, size, form, name);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static void exa_unmap(struct exa_dev *dev)
{
	int i;

	for (i = 0; i < EXANET_USER_PAGES; i++) {
		if (!dev->page[i])
			continue;
		if (i == EXANET_PAGE_MAILBOX)
			exa_mailbox_unmap(dev);
		else
			munmap(dev->page[i], dev->page_size);
	}
}

static int exa_map_page(struct exa_dev *dev, int i)
{
	int prot = PROT_READ | (i == EXANET_PAGE_INFO ? 0 : PROT_WRITE);
	void *p;

	if (i == EXANET_PAGE_MAILBOX)
		return exa_mailbox_map(dev);
	p = mmap(NULL, dev->page_size, prot, MAP_SHARED, dev->fd,
		 (off_t)i << EXANET_MMAP_SHIFT);
	if (p == MAP_FAILED)
		return -errno;
	dev->page[i] = p;
	return 0;
}

static int exa_map(struct exa_dev *dev)
{
	int i, ret;

	for (i = 0; i < EXANET_USER_PAGES; i++) {
		ret = exa_map_page(dev, i);
		if (ret)
			return ret;
		/*
		 * An old driver does not set VM_DONTCOPY, so children would get the user
		 * pages.
		 */
		madvise(dev->page[i], dev->page_size, MADV_DONTFORK);
	}
	return 0;
}

/*
 * Allocates the word dev->alive, which is 1 in this process and 0 in a child after fork().
 * Returns 0 or a negative errno.
 */
static int exa_alive_init(struct exa_dev *dev)
{
	size_t size = sysconf(_SC_PAGESIZE);
	void *p;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (madvise(p, size, MADV_WIPEONFORK) < 0) {
		int err = -errno;

		munmap(p, size);
		return err;
	}
	dev->alive = p;
	*dev->alive = 1;
	return 0;
}

/*
 * Sets the job whose number is in the environment variable EXANET_JOB, unless the variable
 * is not set or empty.  By this variable a launcher (mpirun, Slurm) selects one of the
 * user's jobs.  A program with raised privileges ignores the variable, because root may
 * join any named job: the user who starts the program could then read all memory of the
 * program.  Returns 0 or a negative errno.
 */
static int exa_job_choose(struct exa_dev *dev)
{
	const char *text = secure_getenv("EXANET_JOB");
	struct exanet_ioc_set_job set = { 0 };
	unsigned long job;
	char *end;

	if (!text || !*text)
		return 0;
	job = strtoul(text, &end, 10);
	if (*end || !job || job > RNIC_GET(EXANET_PDID_JOB, ~0ULL))
		return -EINVAL;
	set.job = job;
	return exa_ioctl(dev, EXANET_IOC_SET_JOB, &set);
}

static int exa_setup(struct exa_dev *dev, const char *name)
{
	struct exanet_ioc_query query = { 0 };
	char path[256];
	int ret;

	ret = exa_path(name, path, sizeof(path));
	if (ret)
		return ret;
	dev->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (dev->fd < 0)	/* ENOSPC means that no context or no local job is free */
		return errno == ENOSPC ? -EBUSY : -errno;
	ret = exa_ioctl(dev, EXANET_IOC_QUERY, &query);
	if (ret)
		return ret == -ENOTTY ? -EPROTO : ret;
	if (query.abi != EXANET_ABI || query.page_size < 4096)
		return -EPROTO;
	dev->page_size = query.page_size;
	dev->coord = query.coord;
	dev->ctx = query.context;
	ret = exa_job_choose(dev);
	if (ret)
		return ret;
	dev->has_poll = query.cap1 & EXANET_CAP1_POLL;
	ret = exa_map(dev);
	if (ret)
		return ret;
	exa_remote_init(dev);
	return exa_alive_init(dev);
}

static void exa_teardown(struct exa_dev *dev, bool live)
{
	/*
	 * A child after fork() does not have the user pages, and may have other mappings at
	 * their addresses.
	 */
	if (live)
		exa_unmap(dev);
	exa_remote_drop(dev, live);
	if (dev->alive)
		munmap(dev->alive, sysconf(_SC_PAGESIZE));
	if (dev->fd >= 0)
		close(dev->fd);
	pthread_mutex_destroy(&dev->lock);
	pthread_mutex_destroy(&dev->wait_lock);
	free(dev);
}

EXA_API int exa_open(const char *name, struct exa_dev **dev)
{
	struct exa_dev *d;
	int ret;

	if (!dev)
		return -EINVAL;
	d = aligned_alloc(64, (sizeof(*d) + 63) & ~63UL);
	if (!d)
		return -ENOMEM;
	memset(d, 0, sizeof(*d));
	d->fd = -1;
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->wait_lock, NULL);
	ret = exa_setup(d, name);
	if (ret) {
		exa_teardown(d, true);
		return ret;
	}
	exa_hint_join(d);
	*dev = d;
	return 0;
}

EXA_API void exa_close(struct exa_dev *dev)
{
	bool live;
	int i;

	if (!dev)
		return;
	live = exa_alive(dev);
	for (i = 0; i < EXANET_MAILBOXES; i++)
		if (dev->mbox[i])
			exa_mbox_drop(dev->mbox[i], live);
	exa_teardown(dev, live);
}

EXA_API int exa_query(struct exa_dev *dev, struct exa_attr *attr)
{
	struct exanet_ioc_query query = { 0 };
	int ret;

	if (!exa_alive(dev))
		return -EPERM;
	ret = exa_ioctl(dev, EXANET_IOC_QUERY, &query);
	if (ret)
		return ret;
	*attr = (struct exa_attr) {
		.coord = query.coord,
		.pdid = query.pdid,
		.job = RNIC_GET(EXANET_PDID_JOB, query.pdid),
		.ctx = query.context,
		.page_size = query.page_size,
		.cap0 = query.cap0,
		.cap1 = query.cap1,
		.link_up = query.link_up,
	};
	return 0;
}

EXA_API uint32_t exa_coord(const struct exa_dev *dev)
{
	return dev->coord;
}

EXA_API uint32_t exa_ctx(const struct exa_dev *dev)
{
	return dev->ctx;
}

EXA_API int exa_job_set(struct exa_dev *dev, uint32_t job)
{
	struct exanet_ioc_set_job set = { .job = job };

	if (!exa_alive(dev))
		return -EPERM;
	return exa_ioctl(dev, EXANET_IOC_SET_JOB, &set);
}

EXA_API uint64_t exa_time(const struct exa_dev *dev)
{
	if (!exa_alive(dev))
		return 0;
	return exa_load(&exa_info(dev)->time);
}

EXA_API int exa_eventfd(struct exa_dev *dev, int fd)
{
	struct exanet_ioc_eventfd event = { .fd = fd };

	if (!exa_alive(dev))
		return -EPERM;
	return exa_ioctl(dev, EXANET_IOC_EVENTFD, &event);
}

/*
 * Returns the number of the window that begins at @base, or EXA_WINDOWS if no window of
 * @dev begins there.
 */
static unsigned int exa_window_find(struct exa_dev *dev, uint64_t base)
{
	unsigned int w;

	for (w = 0; w < EXA_WINDOWS; w++)
		if (atomic_load_explicit(&dev->win[w], memory_order_relaxed) ==
		    (base | EXANET_WIN_VALID))
			break;
	return w;
}

static int exa_window_map(struct exa_dev *dev, uint64_t base)
{
	struct exanet_ioc_map_window map = { .va = base };
	int ret;

	ret = exa_ioctl(dev, EXANET_IOC_MAP_WINDOW, &map);
	if (ret)
		return ret;
	if (map.window >= EXA_WINDOWS)
		return -EPROTO;
	/*
	 * This store needs no lock.  All threads store the same value, because the driver
	 * never moves a window to another base.
	 */
	atomic_store_explicit(&dev->win[map.window], base | EXANET_WIN_VALID,
			      memory_order_relaxed);
	return map.window;
}

EXA_API int exa_xva(struct exa_dev *dev, const void *ptr, size_t len,
		    uint64_t *xva)
{
	uint64_t va = (uintptr_t)ptr;
	uint64_t base = va & EXANET_WIN_BASE;
	int w;

	if (!exa_alive(dev))
		return -EPERM;
	if (len && len - 1 > EXANET_VA_OFFSET - (va & EXANET_VA_OFFSET))
		return -ERANGE;
	w = exa_window_find(dev, base);
	if (w == EXA_WINDOWS) {
		w = exa_window_map(dev, base);
		if (w < 0)
			return w;
	}
	*xva = RNIC_PREP(EXANET_VA_WINDOW, w) | (va & EXANET_VA_OFFSET);
	return 0;
}
