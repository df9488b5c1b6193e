/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet contexts: the state of an open file, its index in the NIC, its job, and
 * requests of its owner. exanet_binding.h opens, starts, stops and closes contexts.
 */
#ifndef EXANET_CONTEXT_H
#define EXANET_CONTEXT_H

#include <linux/kfifo.h>
#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/mmu_notifier.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "exanet_hw.h"
#include "exanet_user.h"
#include "rnic/exanet/uapi.h"

struct eventfd_ctx;
struct exanet_device;
struct exanet_job;

struct exanet_context {
	struct kref ref;	/* held by the file and by fault works */
	struct exanet_device *xdev;
	struct list_head link;	/* member of xdev->contexts */
	struct mm_struct *mm;	/* address space of the owner; mm_count is held */
	struct mmu_notifier notifier;
	struct address_space *mapping;	/* mappings of the file */
	unsigned int index;	/* valid while running or lingering */
	struct exanet_user user;

	/* The device's lock protects these members. */
	bool running;		/* the context owns @index */
	/* Valid while the context runs; may be NULL later. */
	struct exanet_job *job;
	struct exanet_job *default_job;	/* the job that open() took */
	unsigned int job_users;	/* copies, accelerator jobs and segments that use @job */
	u64 windows[EXANET_WINDOW_NI];	/* by window: va >> EXANET_WINDOW_BITS */
	unsigned int window_count;	/* number of windows in use */

	spinlock_t hw_lock;	/* protects hw_on, and the pair of INV_VA and INV_CMD */
	bool hw_on;		/* the NIC may use the page table of @mm */

	wait_queue_head_t wait;	/* its lock protects events and eventfd */
	u64 events;		/* number of interrupts since the last read() */
	struct eventfd_ctx *eventfd;

	/* The device's slot_lock protects these members. */
	struct pid *signal_pid;	/* process that gets a signal after an error */
	int signo;		/* 0: no signal */
	u32 errors;		/* loads and stores that failed, as reported last */
	struct work_struct fault_work;
	unsigned int fault_works;	/* works that are queued or run */
	bool lingers;		/* the stopped context keeps @index until its works end */
	DECLARE_KFIFO(faults, struct exanet_fault_entry, EXANET_FAULTS);

	atomic_t bad_copies;	/* page faults of CDMA that the driver refused */
};

/*
 * Makes a context of current's address space, with its default job. The context does
 * not run yet. @mapping belongs to the file. Returns the context or an ERR_PTR:
 * -ENOMEM, -ENOSPC.
 */
struct exanet_context *exanet_context_new(struct exanet_device *xdev,
					  struct address_space *mapping);
void exanet_context_get(struct exanet_context *ctx);
/* Drops a reference; the last one frees the context. */
void exanet_context_put(struct exanet_context *ctx);

/* --- index in the NIC: the device's lock is held --------------------------- */

/* Takes a free index for the user of @ctx. Returns the index, -EDQUOT or -ENOSPC. */
int exanet_context_take_index(struct exanet_context *ctx);
/*
 * Gives the index of a stopped context back. If @rest is false, the NIC may still use
 * the context, so index and job stay in use until a reset of the NIC. If @lingers, the
 * index stays in use until exanet_context_unlinger().
 */
void exanet_context_give_index(struct exanet_context *ctx, bool rest, bool lingers);
/* Returns how many indices are in use or linger. */
unsigned int exanet_contexts_used(struct exanet_device *xdev);
/* Frees the indices and jobs of contexts that did not come to rest, after a reset. */
void exanet_context_free_stuck(struct exanet_device *xdev);
/*
 * Frees the index of a lingering context after its last page fault. Takes the device's
 * lock; sleeps.
 */
void exanet_context_unlinger(struct exanet_context *ctx);

/* --- job ------------------------------------------------------------------- */

/* Returns the context's PDID; the device's lock is held. */
u32 exanet_context_pdid(const struct exanet_context *ctx);
/* Writes the context's PDID to the NIC; the device's lock is held. */
void exanet_context_write_pdid(struct exanet_context *ctx);
/* Drops the references to the jobs of a context that has stopped. */
void exanet_context_put_jobs(struct exanet_context *ctx);
/*
 * Sets the context's job. Returns 0, -EINVAL, -EPERM, -EBUSY: the job is in use, -ENODEV
 * or -ENOMEM.
 */
int exanet_context_set_job(struct exanet_context *ctx, u32 number);
/*
 * Keeps the context's job as it is until exanet_context_unfix_job(). Returns 0,
 * -ENODEV.
 */
int exanet_context_fix_job(struct exanet_context *ctx);
void exanet_context_unfix_job(struct exanet_context *ctx);

/* --- requests of the owner -------------------------------------------------- */

/*
 * Finds or takes the window that shows address @va. Returns its number, -EINVAL, -ENOSPC
 * or -ENODEV.
 */
int exanet_context_map_window(struct exanet_context *ctx, u64 va);
/* Fills @q with the state of the context. Returns 0, or -ENODEV if it has stopped. */
int exanet_context_query(struct exanet_context *ctx, struct exanet_ioc_query *q);
/*
 * Maps user page @page of the context at the address of @vmf, or returns
 * VM_FAULT_SIGBUS.
 */
vm_fault_t exanet_context_insert_page(struct exanet_context *ctx,
				      struct vm_fault *vmf, unsigned int page);

#endif /* EXANET_CONTEXT_H */
