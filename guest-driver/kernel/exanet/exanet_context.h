/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet contexts. A context is the state of an open file: an index in the NIC, a job,
 * and requests of the owner, which is the process that opened the file.
 * exanet_binding.h opens, starts, stops and closes contexts.
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
	struct kref ref;	/* references: one of the file, one of each fault work */
	struct exanet_device *xdev;
	struct list_head link;	/* member of xdev->contexts */
	struct mm_struct *mm;	/* address space of the owner; reference of mmgrab() */
	struct mmu_notifier notifier;
	struct address_space *mapping;	/* f_mapping of the file */
	/* Index in the NIC; does not change after the start of the context. */
	unsigned int index;
	struct exanet_user user;

	/*
	 * exanet_device.lock protects the members from here to @window_count. Some readers of
	 * @running do not take the lock.
	 */
	bool running;		/* the context has started, and has not stopped */
	/* @job and @default_job are NULL after the context has stopped. */
	struct exanet_job *job;	/* present job of the context */
	struct exanet_job *default_job;	/* job that the context had after open() */
	/* Number of segments, copies and accelerator jobs that forbid a change of @job. */
	unsigned int job_users;
	/* By window: number of the 512 GB that the window shows, va >> EXANET_WINDOW_BITS. */
	u64 windows[EXANET_WINDOW_NI];
	unsigned int window_count;	/* number of windows in use */

	/*
	 * Protects @hw_on. A thread that invalidates a range of addresses holds this lock for
	 * its writes of CTX_INV_VA and CTX_INV_CMD, so no other thread writes CTX_INV_VA in
	 * between.
	 */
	spinlock_t hw_lock;
	/* The context may be enabled in the NIC: the MMU notifier invalidates translations. */
	bool hw_on;

	/* Threads that wait for an interrupt. wait.lock protects @events and @eventfd. */
	wait_queue_head_t wait;
	u64 events;		/* number of interrupts since the last read() */
	struct eventfd_ctx *eventfd;	/* eventfd that each interrupt signals, or NULL */

	/* exanet_device.slot_lock protects the members from here to @faults. */
	struct pid *signal_pid;	/* process that gets a signal after an error, or NULL */
	int signo;		/* number of the signal; 0: no signal */
	u32 errors;		/* value of the NIC's error count of @index at the last read */
	struct work_struct fault_work;
	/* 1 if @fault_work is queued, plus 1 if @fault_work runs */
	unsigned int fault_works;
	/* The context has stopped, but keeps @index until @fault_works is 0. */
	bool lingers;
	DECLARE_KFIFO(faults, struct exanet_fault_entry, EXANET_FAULTS);

	atomic_t bad_copies;	/* number of CDMA page faults that the driver could not serve */
};

/*
 * Makes a context of current's address space, in current's default job. The context does
 * not run yet. @mapping is f_mapping of the file. Returns a reference to the context, or
 * an ERR_PTR: -ENOMEM, or -ENOSPC if no local job is free.
 */
struct exanet_context *exanet_context_new(struct exanet_device *xdev,
					  struct address_space *mapping);
/* Adds a reference. */
void exanet_context_get(struct exanet_context *ctx);
/* Drops a reference. The drop of the last reference frees the context. */
void exanet_context_put(struct exanet_context *ctx);

/* --- index in the NIC: the caller holds the device's lock, except in unlinger() --- */

/*
 * Reserves a free index for @ctx; the caller stores the index in @ctx->index. Returns the
 * index, -EDQUOT: the user has the maximal number of contexts, or -ENOSPC: no index is
 * free.
 */
int exanet_context_take_index(struct exanet_context *ctx);
/*
 * Frees the index of a context that has stopped, and wakes threads that wait in open().
 * @rest is false if the NIC may still use the context: index and job stay in use until
 * exanet_context_free_stuck(). @lingers is true if a page fault work of the context has not
 * ended: the index stays in use until exanet_context_unlinger().
 */
void exanet_context_give_index(struct exanet_context *ctx, bool rest, bool lingers);
/* Returns the number of indices that are not free. */
unsigned int exanet_contexts_used(struct exanet_device *xdev);
/*
 * Ends the use of the indices and jobs of contexts that have stopped with @rest false. An
 * index that also lingers stays in use. Must be called when no context runs, after a reset of
 * the NIC.
 */
void exanet_context_free_stuck(struct exanet_device *xdev);
/*
 * Ends the time for which a stopped context keeps its index because of page fault works,
 * and wakes threads that wait in open(). Takes the device's lock; sleeps.
 */
void exanet_context_unlinger(struct exanet_context *ctx);

/* --- job ------------------------------------------------------------------- */

/* Returns the PDID of a running context. The caller holds the device's lock. */
u32 exanet_context_pdid(const struct exanet_context *ctx);
/* Writes the PDID of a running context to the NIC. The caller holds the device's lock. */
void exanet_context_write_pdid(struct exanet_context *ctx);
/* Drops the references to the jobs of a context that does not run. */
void exanet_context_put_jobs(struct exanet_context *ctx);
/*
 * Changes the context's job to job @number. Returns 0, -EBUSY: a segment, copy or
 * accelerator job of the context uses the present job, -ENODEV: the context has stopped,
 * or, if @number is not the context's default job, an error of exanet_job_get().
 */
int exanet_context_set_job(struct exanet_context *ctx, u32 number);
/*
 * Forbids a change of the context's job until the caller calls exanet_context_unfix_job().
 * Returns 0, or -ENODEV if the context has stopped. After -ENODEV the caller must not call
 * exanet_context_unfix_job().
 */
int exanet_context_fix_job(struct exanet_context *ctx);
void exanet_context_unfix_job(struct exanet_context *ctx);

/* --- requests of the owner -------------------------------------------------- */

/*
 * Finds the window that shows address @va, or sets up a free window for @va. Returns
 * the number of the window, -EINVAL: @va is no user address, -ENOSPC: no window is free,
 * or -ENODEV: the context has stopped.
 */
int exanet_context_map_window(struct exanet_context *ctx, u64 va);
/*
 * Fills @q with the state of context and NIC. Returns 0, or -ENODEV: the context has
 * stopped.
 */
int exanet_context_query(struct exanet_context *ctx, struct exanet_ioc_query *q);
/*
 * Maps user page @page (enum exanet_user_page) of the context at the address of @vmf.
 * Returns the result of vmf_insert_pfn(), or VM_FAULT_SIGBUS if the context has stopped.
 */
vm_fault_t exanet_context_insert_page(struct exanet_context *ctx,
				      struct vm_fault *vmf, unsigned int page);

#endif /* EXANET_CONTEXT_H */
