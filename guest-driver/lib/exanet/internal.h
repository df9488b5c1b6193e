/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * libexanet: declarations of its files.
 *
 * Ownership: an exa_dev owns its pages, mailboxes and channel shadows.  A channel
 * shadow is a copy of the words that the channel has.  Only the thread that has set the
 * channel's bit in the busy word uses it, so it needs no lock.
 */
#ifndef LIBEXANET_INTERNAL_H
#define LIBEXANET_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "libexanet.h"
#include "rnic/exanet/regs.h"

#define EXA_API __attribute__((visibility("default")))

#define EXA_WINDOWS	EXANET_WINDOW_NI	/* address windows of a context */
#define EXA_READ_SLOTS	32			/* maximum of exa_read() at a time */

struct exa_mbox {
	struct exa_dev *dev;
	struct exanet_message *ring;
	size_t ring_bytes;
	unsigned int nr;
	unsigned int log2;
	uint32_t head;		/* free-running index of the next entry to read */
	uint32_t head_stored;	/* value of head that the NIC got last */
	uint32_t batch;		/* entries that the NIC gets back together */
	/* dev->lock protects these members. */
	bool irq_always;	/* EXA_MBOX_IRQ */
	bool irq_recv;		/* exa_recv() sleeps */
	uint64_t ctrl;		/* value of the register CTRL, as stored last */
};

/* A segment that is mapped. */
struct exa_segment {
	struct exa_segment *next;
	uint8_t *base;		/* page aligned */
	size_t bytes;		/* whole pages */
	void *addr;		/* address that the user got */
	size_t len;		/* bytes that the user requested */
	uint32_t number;
};

struct exa_dev {
	int fd;
	bool has_poll;		/* the NIC has EXANET_MAILBOX_POLL */
	uint32_t *alive;	/* reads 0 in a child after fork() */
	uint8_t *page[EXANET_USER_PAGES];
	struct exa_place *place;	/* place of the mailbox page, or NULL */
	size_t page_size;
	uint32_t coord;
	uint32_t ctx;
	_Atomic uint64_t win[EXA_WINDOWS];	/* EXANET_WIN_ */

	_Atomic uint32_t write_busy;	/* bit n: write channel n is taken */
	_Atomic uint32_t pktz_busy;	/* bit n: packetizer channel n is taken */
	_Atomic uint32_t slot_busy;	/* bit n: read slot n is taken */
	_Atomic uint32_t slot_lost;	/* bit n: the read of slot n has timed out */
	struct exanet_channel write_shadow[EXANET_WRITE_CHANNELS];
	struct exanet_pktz_channel pktz_shadow[EXANET_PKTZ_CHANNELS];
	_Alignas(sizeof(struct exanet_notification))
	struct exanet_notification slot[EXA_READ_SLOTS];

	uint32_t errors_base;		/* errors of the info page at exa_open() */
	_Atomic uint32_t errors_seen;	/* errors of the info page at the last fence */

	pthread_mutex_t lock;		/* protects mailboxes, and members up to armed */
	struct exa_segment *segments;
	uint8_t *bram;
	size_t bram_bytes;
	struct exa_mbox *mbox[EXANET_MAILBOXES];
	bool armed;			/* between exa_arm() and exa_disarm() */
	pthread_mutex_t wait_lock;	/* protects poll() and read() of fd */
};

/*
 * Barriers between accesses of memory that the NIC uses, too, and accesses of the NIC's
 * pages.  x86 keeps the order of stores, and of loads; other processors need
 * instructions.
 */
#if defined(__x86_64__)
#define exa_wmb() __asm__ volatile("" ::: "memory")
#define exa_rmb() __asm__ volatile("" ::: "memory")
#define exa_mb() __asm__ volatile("mfence" ::: "memory")
#elif defined(__aarch64__)
#define exa_wmb() __asm__ volatile("dmb oshst" ::: "memory")
#define exa_rmb() __asm__ volatile("dmb oshld" ::: "memory")
#define exa_mb() __asm__ volatile("dsb sy" ::: "memory")	/* device stores end */
#else
#define exa_wmb() __sync_synchronize()
#define exa_rmb() __sync_synchronize()
#define exa_mb() __sync_synchronize()
#endif

/* Stores 64 bits in a user page; @value is in host byte order. */
static inline void exa_store(__le64 *word, uint64_t value)
{
	*(volatile __le64 *)word = htole64(value);
}

/* Stores @value if it differs from @shadow, because each store leaves the guest. */
static inline void exa_store_new(__le64 *word, __le64 *shadow, uint64_t value)
{
	if (*shadow != htole64(value)) {
		*shadow = htole64(value);
		exa_store(word, value);
	}
}

static inline uint64_t exa_load(const __le64 *word)
{
	return le64toh(*(const volatile __le64 *)word);
}

static inline uint32_t exa_load32(const __le32 *word)
{
	return le32toh(*(const volatile __le32 *)word);
}

static inline const struct exanet_info *exa_info(const struct exa_dev *dev)
{
	return (const struct exanet_info *)dev->page[EXANET_PAGE_INFO];
}

static inline struct exanet_channel *exa_channel(const struct exa_dev *dev,
						 unsigned int n)
{
	return (struct exanet_channel *)dev->page[EXANET_PAGE_SCRATCHPAD] + n;
}

static inline struct exanet_pktz_channel *exa_pktz(const struct exa_dev *dev,
						   unsigned int n)
{
	return (struct exanet_pktz_channel *)dev->page[EXANET_PAGE_PACKETIZER] + n;
}

static inline struct exanet_mailbox *exa_mailbox(const struct exa_dev *dev,
						 unsigned int n)
{
	return (struct exanet_mailbox *)dev->page[EXANET_PAGE_MAILBOX] + n;
}

/* Returns false in a child after fork(), which does not have the pages. */
static inline bool exa_alive(const struct exa_dev *dev)
{
	return *(volatile uint32_t *)dev->alive != 0;
}

/*
 * Sets the lowest clear bit of @count bits.  Returns its number, -EAGAIN: none is
 * clear.
 */
static inline int exa_bit_take(_Atomic uint32_t *busy, unsigned int count)
{
	uint32_t all = (uint32_t)(RNIC_BIT(count) - 1);
	uint32_t old = atomic_load_explicit(busy, memory_order_relaxed);
	uint32_t bit;

	do {
		if ((~old & all) == 0)
			return -EAGAIN;
		bit = ~old & all;
		bit &= -bit;
	} while (!atomic_compare_exchange_weak_explicit(busy, &old, old | bit,
							memory_order_acquire,
							memory_order_relaxed));
	return __builtin_ctz(bit);
}

static inline void exa_bit_free(_Atomic uint32_t *busy, unsigned int n)
{
	atomic_fetch_and_explicit(busy, ~(uint32_t)RNIC_BIT(n),
				  memory_order_release);
}

/* Returns true if @n is the number of one of @count bits, and the bit is set. */
static inline bool exa_bit_taken(_Atomic uint32_t *busy, int n,
				 unsigned int count)
{
	return n >= 0 && (unsigned int)n < count &&
	       (atomic_load_explicit(busy, memory_order_relaxed) >> n & 1);
}

/*
 * The pace of a loop that polls.  The loop first only polls, because the answer usually
 * comes soon; then it also writes POLL; then it yields the CPU; then it sleeps.
 */
struct exa_pace {
	struct exa_dev *dev;	/* gets POLL; NULL: all NICs of the process in turn */
	bool no_poll;		/* no NIC has POLL */
	unsigned int next;	/* position for exa_hint_any() */
	unsigned int steps;	/* polls, and EXA_PACE_HINTED for each POLL */
	int64_t deadline_ns;	/* time of CLOCK_MONOTONIC; negative: no deadline */
};

/* Starts a loop of at most @timeout_ms (negative: for ever). */
void exa_pace_start(struct exa_pace *pace, struct exa_dev *dev, int timeout_ms);

/* Waits between two polls, as the pace says.  Returns false after the deadline. */
bool exa_pace_step(struct exa_pace *pace);

/*
 * Map and unmap the mailbox page.  After the unmapping its address stays mapped to
 * ordinary memory, because another thread may store to POLL at the same time.
 */
int exa_mailbox_map(struct exa_dev *dev);
void exa_mailbox_unmap(struct exa_dev *dev);

/* Makes exa_hint_any() use @dev, until exa_mailbox_unmap(). */
void exa_hint_join(struct exa_dev *dev);

/*
 * Stores to POLL of @dev.  Returns false if @dev has no POLL, or if the parent of this
 * process has opened @dev.
 */
bool exa_hint_dev(struct exa_dev *dev);

/*
 * Stores to POLL of the next open NIC that was not removed or reset.  Returns false if
 * no NIC has POLL.  *@next is the position of the search, 0 before the first call.
 */
bool exa_hint_any(unsigned int *next);

/* Returns CLOCK_MONOTONIC in ns. */
int64_t exa_now_ns(void);

/* Returns the negative errno of an enum exanet_resp or exanet_channel_error; 0: ack. */
int exa_code_errno(uint32_t code);

/* Calls ioctl() of the device, again after EINTR.  Returns 0 or a negative errno. */
int exa_ioctl(struct exa_dev *dev, unsigned long cmd, void *arg);

/*
 * Stores the count of errors at exa_open(), because earlier owners caused these errors.
 */
void exa_remote_init(struct exa_dev *dev);

/*
 * Frees segments, and unmaps them and block RAM if @live: they are mapped in this
 * process.
 */
void exa_remote_drop(struct exa_dev *dev, bool live);

/*
 * Enables the interrupt of a mailbox if a flag or a waiter needs it; dev->lock is held.
 */
void exa_mbox_irq_update(struct exa_mbox *mbox);

/*
 * Frees a mailbox.  If @live, disables it and unmaps its ring; otherwise this process
 * is a child without the pages.  The caller holds dev->lock, or is the last user of the
 * device.
 */
void exa_mbox_drop(struct exa_mbox *mbox, bool live);

#endif /* LIBEXANET_INTERNAL_H */
