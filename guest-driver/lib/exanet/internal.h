/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * libexanet: declarations of its files.
 *
 * Ownership: an exa_dev owns its pages, mailboxes and channel shadows.  A channel's
 * shadow is a copy of the words that the library has stored in the channel.  Only the
 * thread that posts to the channel, or tests the channel, uses the shadow, so the shadow
 * needs no lock.
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
#define EXA_READ_SLOTS	32			/* records for exa_read() */

struct exa_mbox {
	struct exa_dev *dev;
	struct exanet_message *ring;	/* owned by the mailbox */
	size_t ring_bytes;	/* size of ring, a multiple of the page size */
	unsigned int nr;	/* number of the mailbox */
	unsigned int log2;	/* log2 of the number of entries */
	uint32_t head;		/* free-running index of the next entry to read */
	uint32_t head_stored;	/* value of the mailbox's register HEAD */
	uint32_t batch;		/* number of entries that one store to HEAD returns to the
				 * NIC */
	/* dev->lock protects the members from here on. */
	bool irq_always;	/* the mailbox has flag EXA_MBOX_IRQ */
	bool irq_recv;		/* exa_recv() sleeps until a message comes */
	uint64_t ctrl;		/* value that was stored last in the mailbox's register CTRL */
};

/* A segment that exa_map_remote() has mapped. */
struct exa_segment {
	struct exa_segment *next;
	uint8_t *base;		/* address of the segment's first page */
	size_t bytes;		/* size of the segment, a multiple of 4 KB */
	void *addr;		/* address that exa_map_remote() returned */
	size_t len;		/* bytes that the caller of exa_map_remote() requested */
	uint32_t number;	/* number of the segment in the driver */
};

struct exa_dev {
	int fd;
	bool has_poll;		/* the NIC has the register POLL */
	uint32_t *alive;	/* a word that is 0 in a child after fork(), else 1 */
	uint8_t *page[EXANET_USER_PAGES];
	struct exa_place *place;	/* place of the mailbox page (hint.c), or NULL */
	size_t page_size;
	uint32_t coord;
	uint32_t ctx;
	_Atomic uint64_t win[EXA_WINDOWS];	/* by window: fields EXANET_WIN_*; 0: this
						 * process has not used the window */

	_Atomic uint32_t write_busy;	/* bit n: write channel n is in use */
	_Atomic uint32_t pktz_busy;	/* bit n: packetizer channel n is in use */
	_Atomic uint32_t slot_busy;	/* bit n: slot[n] is in use */
	_Atomic uint32_t slot_lost;	/* bit n: exa_read() has given up the read of slot[n],
					 * and the NIC may still store the notification there */
	struct exanet_channel write_shadow[EXANET_WRITE_CHANNELS];
	struct exanet_pktz_channel pktz_shadow[EXANET_PKTZ_CHANNELS];
	_Alignas(sizeof(struct exanet_notification))
	struct exanet_notification slot[EXA_READ_SLOTS];

	uint32_t errors_base;		/* error count of the info page at exa_open() */
	_Atomic uint32_t errors_seen;	/* error count of the info page at the last exa_fence()
					 * that did not time out, or at exa_open() */

	pthread_mutex_t lock;		/* protects the members from segments to armed */
	struct exa_segment *segments;
	uint8_t *bram;
	size_t bram_bytes;
	struct exa_mbox *mbox[EXANET_MAILBOXES];
	bool armed;			/* true between exa_arm() and exa_disarm() */
	pthread_mutex_t wait_lock;	/* held by the thread that polls fd in exa_wait(), or
					 * reads fd */
};

/*
 * Barriers between accesses of memory that the NIC also uses, and accesses of the NIC's
 * user pages.  x86 does not change the order of stores, nor the order of loads; other
 * processors need instructions.
 */
#if defined(__x86_64__)
#define exa_wmb() __asm__ volatile("" ::: "memory")
#define exa_rmb() __asm__ volatile("" ::: "memory")
#define exa_mb() __asm__ volatile("mfence" ::: "memory")
#elif defined(__aarch64__)
#define exa_wmb() __asm__ volatile("dmb oshst" ::: "memory")
#define exa_rmb() __asm__ volatile("dmb oshld" ::: "memory")
/* exa_mb() waits until earlier stores to the NIC have ended. */
#define exa_mb() __asm__ volatile("dsb sy" ::: "memory")
#else
#define exa_wmb() __sync_synchronize()
#define exa_rmb() __sync_synchronize()
#define exa_mb() __sync_synchronize()
#endif

/* Stores 64 bits in a user page or a record; @value is in host byte order. */
static inline void exa_store(__le64 *word, uint64_t value)
{
	*(volatile __le64 *)word = htole64(value);
}

/*
 * Stores @value in @word and @shadow, but only if @value differs from @shadow, because each
 * store to @word leaves the guest.
 */
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

/* Returns false in a child after fork(), which does not have the user pages of @dev. */
static inline bool exa_alive(const struct exa_dev *dev)
{
	return *(volatile uint32_t *)dev->alive != 0;
}

/*
 * Sets the lowest clear bit among the low @count bits (at most 32) of @busy.  Returns the
 * number of the bit, or -EAGAIN if no bit is clear.
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

/* Returns true if @n is in 0..@count-1, and bit @n of @busy is set. */
static inline bool exa_bit_taken(_Atomic uint32_t *busy, int n,
				 unsigned int count)
{
	return n >= 0 && (unsigned int)n < count &&
	       (atomic_load_explicit(busy, memory_order_relaxed) >> n & 1);
}

/*
 * The pace of a loop that polls.  The loop has four stages.  In the first stage the loop
 * only polls, because the answer usually comes soon.  In the second stage the loop also
 * stores to the register POLL.  In the third stage the loop also stores to POLL and yields
 * the CPU.  In the fourth stage the loop sleeps between polls.  After a try that found no
 * register POLL, the loop does not store to POLL.
 */
struct exa_pace {
	struct exa_dev *dev;	/* NIC to whose POLL the loop stores; NULL: all NICs in turn */
	bool no_poll;		/* the last try found no register POLL */
	unsigned int next;	/* argument of exa_hint_any() */
	unsigned int steps;	/* number of polls before the last stage; a poll with a store to
				 * POLL counts as EXA_PACE_HINTED polls */
	int64_t deadline_ns;	/* time of CLOCK_MONOTONIC; negative: no deadline */
};

/*
 * Initializes @pace for a loop of at most @timeout_ms (negative: for ever).  @dev is the
 * NIC that the loop polls; NULL: all NICs of the process.
 */
void exa_pace_start(struct exa_pace *pace, struct exa_dev *dev, int timeout_ms);

/*
 * Does the work of the present stage between two polls: stores to POLL, yields or sleeps.
 * Returns false if the deadline has passed.  The loop may last longer than the deadline,
 * because the function does not compare the time at each step, and does not shorten a
 * sleep of the last stage (100 us).
 */
bool exa_pace_step(struct exa_pace *pace);

/*
 * Map and unmap the mailbox page.  exa_mailbox_map() returns 0 or a negative errno.  If the
 * page has a place (hint.c), exa_mailbox_unmap() maps ordinary memory at its address,
 * because another thread may store to POLL at the same time.
 */
int exa_mailbox_map(struct exa_dev *dev);
void exa_mailbox_unmap(struct exa_dev *dev);

/*
 * Makes exa_hint_any() store to POLL of @dev until exa_mailbox_unmap(), if @dev has POLL
 * and a place (hint.c).
 */
void exa_hint_join(struct exa_dev *dev);

/*
 * Stores to POLL of @dev.  Returns false if @dev has no POLL, or if this process is a
 * child after fork().
 */
bool exa_hint_dev(struct exa_dev *dev);

/*
 * Stores to POLL of the next NIC that exa_hint_join() has added and that was not removed or
 * reset.  Returns false if there is no such NIC.  *@next is the position of the search, 0
 * before the first call; the function advances *@next.
 */
bool exa_hint_any(unsigned int *next);

/*
 * Returns true if poll() reports an error or a hang-up of @fd, the descriptor of a NIC,
 * because the NIC was removed or reset.  Returns false also if poll() itself fails.
 */
bool exa_gone(int fd);

/* Returns the time of CLOCK_MONOTONIC in ns. */
int64_t exa_now_ns(void);

/*
 * Returns the negative errno for @code, which is an enum exanet_resp or an enum
 * exanet_channel_error.  Returns 0 for EXANET_RESP_ACK.
 */
int exa_code_errno(uint32_t code);

/*
 * Calls ioctl() of the device, and repeats the call after EINTR.  Returns 0 or a negative
 * errno.
 */
int exa_ioctl(struct exa_dev *dev, unsigned long cmd, void *arg);

/*
 * Stores the error count of the info page in @dev, because exa_fence() and
 * exa_remote_errors() must not report errors of earlier owners of the context.
 */
void exa_remote_init(struct exa_dev *dev);

/*
 * Frees the exa_segments of @dev.  If @live is true, also unmaps segments and block
 * RAM; @live is false in a child after fork(), which does not have these mappings.
 */
void exa_remote_drop(struct exa_dev *dev, bool live);

/*
 * Enables @mbox.  Enables the interrupt of @mbox if EXA_MBOX_IRQ, exa_arm() or exa_recv()
 * needs the interrupt, and otherwise disables the interrupt.  Stores to the NIC only if the
 * value of the register CTRL changes.  The caller holds dev->lock.
 */
void exa_mbox_irq_update(struct exa_mbox *mbox);

/*
 * Removes @mbox from its device, and frees @mbox.  If @live is true, also disables the mailbox
 * in the NIC, unless the NIC was removed or reset, and unmaps the ring.  @live is false in a
 * child after fork(), which does not have the ring and the user pages.
 * The caller holds dev->lock, or is the last user of the device.
 */
void exa_mbox_drop(struct exa_mbox *mbox, bool live);

#endif /* LIBEXANET_INTERNAL_H */
