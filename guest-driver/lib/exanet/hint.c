// SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause
/*
 * libexanet: the register POLL, by which a process informs a NIC that the process polls.
 *
 * The record of a notification does not name the NIC.  So exa_notify_wait() stores to POLL
 * of one open NIC after the other; up to EXA_PLACES NICs have a place for this purpose in
 * the table exa_places.  No lock protects the store, because a handler of SIGBUS may leave
 * exa_notify_wait() by siglongjmp().  Another thread may close the NIC at the same time.
 * Therefore the address of a mailbox page with a place stays mapped: exa_close() maps
 * ordinary memory at the address, and a later exa_open() may map the mailbox page of its
 * NIC at this address.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "rnic/exanet/uapi.h"

#define EXA_PLACES	32	/* maximal number of exa_devs to whose POLL exa_hint_any()
				 * stores */

/* An address at which a mailbox page is mapped, or was mapped. */
struct exa_place {
	uint8_t *page;		/* address, which stays mapped; NULL: not used yet */
	size_t bytes;		/* size of the mailbox page */
	bool used;		/* an exa_dev uses this place, or exa_place_give() has failed */
	/*
	 * 1 + descriptor of the open NIC whose mailbox page is at @page, if the NIC has
	 * POLL; otherwise 0.  exa_hint_join() stores this member after @page, because
	 * exa_hint_any() reads both members without a lock.
	 */
	_Atomic int fd_plus_1;
};

/*
 * All places.  MADV_WIPEONFORK makes this memory zero in a child after fork(), because the
 * child does not have the mailbox pages.  So the child has only empty places, and an
 * unlocked mutex.
 */
struct exa_places {
	/*
	 * Protects exa_place.used, and the members page and bytes of places whose used is
	 * false.
	 */
	pthread_mutex_t lock;
	struct exa_place place[EXA_PLACES];
};

static pthread_once_t exa_places_once = PTHREAD_ONCE_INIT;
static struct exa_places *_Atomic exa_places;	/* NULL: exa_places_init() has not allocated the
						 * table */

static void exa_places_init(void)
{
	void *p = mmap(NULL, sizeof(*exa_places), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	if (madvise(p, sizeof(*exa_places), MADV_WIPEONFORK) < 0) {
		munmap(p, sizeof(*exa_places));
		return;
	}
	exa_places = p;
}

/*
 * Takes a free place for a mailbox page of @bytes.  Returns the place, or NULL if no place
 * is free or the table of places could not be allocated.
 */
static struct exa_place *exa_place_take(size_t bytes)
{
	struct exa_place *place, *found = NULL;

	pthread_once(&exa_places_once, exa_places_init);
	if (!exa_places)
		return NULL;
	pthread_mutex_lock(&exa_places->lock);
	for (place = exa_places->place;
	     place < exa_places->place + EXA_PLACES && !found; place++)
		if (!place->used && (!place->page || place->bytes == bytes))
			found = place;
	if (found)
		found->used = true;
	pthread_mutex_unlock(&exa_places->lock);
	return found;
}

/*
 * Frees a place.  First maps ordinary memory at the address of the place, because threads
 * may still store to POLL.  If this mmap() fails, the place stays used for ever.
 */
static void exa_place_give(struct exa_place *place)
{
	if (place->page &&
	    mmap(place->page, place->bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return;
	pthread_mutex_lock(&exa_places->lock);
	place->used = false;
	pthread_mutex_unlock(&exa_places->lock);
}

int exa_mailbox_map(struct exa_dev *dev)
{
	struct exa_place *place = exa_place_take(dev->page_size);
	uint8_t *at = place ? place->page : NULL;
	void *p;

	p = mmap(at, dev->page_size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | (at ? MAP_FIXED : 0), dev->fd,
		 (off_t)EXANET_PAGE_MAILBOX << EXANET_MMAP_SHIFT);
	if (p == MAP_FAILED) {
		int err = -errno;

		if (place)
			exa_place_give(place);
		return err;
	}
	dev->page[EXANET_PAGE_MAILBOX] = p;
	dev->place = place;
	if (place) {
		place->page = p;
		place->bytes = dev->page_size;
	}
	return 0;
}

void exa_mailbox_unmap(struct exa_dev *dev)
{
	if (!dev->place) {
		munmap(dev->page[EXANET_PAGE_MAILBOX], dev->page_size);
		return;
	}
	atomic_store(&dev->place->fd_plus_1, 0);
	exa_place_give(dev->place);
}

void exa_hint_join(struct exa_dev *dev)
{
	if (dev->place && dev->has_poll)
		atomic_store(&dev->place->fd_plus_1, dev->fd + 1);
}

static void exa_hint_store(uint8_t *page)
{
	exa_store((__le64 *)(page + EXANET_MAILBOX_POLL), 0);
}

bool exa_hint_dev(struct exa_dev *dev)
{
	if (!dev->has_poll || !exa_alive(dev))
		return false;
	exa_hint_store(dev->page[EXANET_PAGE_MAILBOX]);
	return true;
}

bool exa_gone(int fd)
{
	struct pollfd pfd = { .fd = fd };
	int ret;

	/*
	 * Repeats poll() after a signal.  Another failure of poll(), by a limit of
	 * descriptors, does not mean that the NIC is gone.
	 */
	do {
		ret = poll(&pfd, 1, 0);
	} while (ret < 0 && errno == EINTR);
	return ret > 0;
}

bool exa_hint_any(unsigned int *next)
{
	struct exa_place *place;
	unsigned int i;
	int fd_plus_1;

	for (i = 0; exa_places && i < EXA_PLACES; i++) {
		place = &exa_places->place[(*next)++ % EXA_PLACES];
		fd_plus_1 = atomic_load(&place->fd_plus_1);
		if (fd_plus_1 && !exa_gone(fd_plus_1 - 1)) {
			exa_hint_store(place->page);
			return true;
		}
	}
	return false;
}

EXA_API void exa_poll_hint(struct exa_dev *dev)
{
	exa_hint_dev(dev);
}
