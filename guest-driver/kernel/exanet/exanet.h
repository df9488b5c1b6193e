/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet driver: declarations that its files share.
 *
 * exanet_pci.c      PCI shell: resources, then exanet_probe()
 * exanet_axi.c      the same for a node of the device tree
 * exanet_dma.c      an IOMMU between both and memory
 * exanet_main.c     one NIC, whatever its bus: probe, remove
 * exanet_irq.c      interrupts, and links that go up and down
 * exanet_context.c  a context: from open() to the death of the process
 * exanet_job.c      jobs: isolation of users' contexts
 * exanet_share.c    limits of a NIC's resources per user
 * exanet_fault.c    page faults of the NIC
 * exanet_shm.c      memory of other nodes: block RAM, errors of loads and stores
 * exanet_segment.c  ... segments of the aperture
 * exanet_cdma.c     ... copies
 * exanet_accel.c    the accelerator beside the NIC
 * exanet_event.c    interrupts of a context: poll(), read(), eventfd
 * exanet_file.c     /dev/exanetN
 * exanet_sysfs*.c   /sys/class/exanet/exanetN
 * exanet_debugfs.c  /sys/kernel/debug/exanet/exanetN
 * exanet_hw.c       registers
 *
 * Lifetime.  struct exanet_device lives as long as its struct device, which open
 * files hold through the cdev and contexts hold directly; the registers live only
 * until exanet_remove().  A context touches them under @hw_lock while @hw_on, or
 * under the device's @lock while @running.
 *
 * Lock order: link_lock, mmap_lock, exanet_device.lock, then one of slot_lock, hw_lock,
 * wait.lock, exanet_turns.lock and the lock of the jobs; wait.lock nests inside slot_lock.
 */
#ifndef EXANET_H
#define EXANET_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kfifo.h>
#include <linux/ioport.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/mm_types.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "exanet_compat.h"
#include "exanet_hw.h"
#include "rnic/exanet/uapi.h"
#include "rnic/exanet/wire.h"

#define EXANET_NICS	32	/* maximum of a machine */

struct eventfd_ctx;
struct exanet_job;

/* The user who owns a part of a NIC. */
struct exanet_user {
	kuid_t uid;
	bool unlimited;		/* has CAP_SYS_RESOURCE */
};

/* A scarce resource of the NIC that users take in turn. */
struct exanet_turns {
	spinlock_t lock;	/* protects the members below */
	struct list_head waiting;	/* first exanet_turn of each user */
	struct list_head granted;
	unsigned int free;
	kuid_t last;		/* user of the last grant */
};

struct exanet_turn {
	struct list_head link;	/* in waiting, granted or behind; all members: turns' lock */
	struct list_head behind;	/* of the first one: the user's others, in order */
	struct exanet_user user;
	struct completion done;	/* completes with the grant */
};

/* What a bus shell gives to exanet_probe(). */
struct exanet_resources {
	void __iomem *regs;		/* EXANET_REGS_BYTES */
	phys_addr_t user;		/* user pages of context 0 */
	resource_size_t user_bytes;
	phys_addr_t aperture;		/* and block RAM behind it */
	resource_size_t aperture_bytes;	/* 0: there is none */
	bool wired;			/* two wires rather than messages */
	int irq[EXANET_VECTORS];	/* Linux interrupt of each vector or wire */
};

/* dev_id of an interrupt. */
struct exanet_vector {
	struct exanet_device *xdev;
	unsigned int index;		/* of the vector or wire */
	char name[24];
};

/* What a file of debugfs is about. */
struct exanet_debugfs_port {
	struct exanet_device *xdev;
	unsigned int index;
};

/* A stretch of the aperture through which a context sees memory of another node. */
struct exanet_segment {
	struct kref ref;	/* table of segments, and mappings */
	struct exanet_device *xdev;
	struct exanet_context *ctx;	/* NULL: it has ended; device's lock */
	struct resource place;	/* in the aperture */
	unsigned int number;
	kuid_t uid;		/* of the user who owns it */
	u32 flags;		/* enum exanet_segment_flags */
	u32 ctrl;		/* EXANET_SHM_MAP_ */
	u64 gva;
};

/* Memory of other nodes; the device's lock protects space, segments and cdma_used. */
struct exanet_shm {
	bool present;
	void __iomem *user;	/* user pages */
	struct resource space;	/* the aperture: parent of the segments' places */
	struct exanet_segment *segments[EXANET_SHM_MAPS];
	struct exanet_turns cdma_turns;	/* of CDMA channels */
	DECLARE_BITMAP(cdma_used, EXANET_CDMA_CHANNELS);
	struct completion cdma_done[EXANET_CDMA_CHANNELS];
	struct exanet_turns accel_turns;	/* of the accelerator */
	struct completion accel_done;
};

struct exanet_device {
	struct device dev;
	struct cdev cdev;
	struct exanet_hw hw;
	struct exanet_caps caps;
	u32 table_format;	/* of all page tables, EXANET_CTX_CTRL_ */
	struct exanet_resources res;
	struct exanet_vector vectors[EXANET_VECTORS];
	const struct attribute_group *groups[EXANET_LINKS + 7];
	struct exanet_shm shm;
	struct dentry *debugfs;
	struct exanet_debugfs_port debugfs_ports[EXANET_LINKS];

	struct mutex link_lock;	/* protects the members below */
	struct delayed_work link_work;	/* reports changes within a pause */
	unsigned long link_told;	/* time of the last report, jiffies */
	u32 link_up;		/* bit p: port p is up in the last report */
	bool link_paused;	/* no register can be read */

	/* Protects what follows, and running, windows and job of contexts. */
	struct mutex lock;
	bool gone;		/* removed, or in reset: no new contexts */
	struct list_head contexts;	/* every open file */
	DECLARE_BITMAP(used, EXANET_CONTEXTS);
	/* Indices of stopped contexts with a page fault that is not finished. */
	DECLARE_BITMAP(lingering, EXANET_CONTEXTS);
	kuid_t holders[EXANET_CONTEXTS];	/* users of both sets */
	/* Jobs that the NIC may still use, of contexts that did not come to rest. */
	struct exanet_job *stuck_jobs[EXANET_CONTEXTS];
	unsigned int last;	/* index that was given out last */
	unsigned int frees;	/* number of indices that were given back */
	wait_queue_head_t freed;	/* woken up when an index is given back */
	u32 quota;		/* quota of each context, EXANET_QUOTA_ */

	/* Protects slots and their fault queues, and the fault FIFO. */
	spinlock_t slot_lock;
	struct exanet_context *slots[EXANET_CONTEXTS];
};

struct exanet_context {
	struct kref ref;	/* file and fault work */
	struct exanet_device *xdev;
	struct list_head link;	/* in xdev->contexts */
	struct mm_struct *mm;	/* mm_count is held */
	struct mmu_notifier notifier;
	struct address_space *mapping;	/* of the file, to zap it */
	unsigned int index;	/* valid while running or lingering */
	struct exanet_user user;

	bool running;		/* owns @index */
	struct exanet_job *job;	/* while running, as @default_job; else perhaps NULL */
	struct exanet_job *default_job;
	unsigned int job_users;	/* copies, accelerator jobs and segments that end: keep @job */
	u64 windows[EXANET_WINDOW_NI];	/* va >> EXANET_WINDOW_BITS ... */
	unsigned int window_count;	/* ... of so many */

	spinlock_t hw_lock;	/* protects hw_on and INV_VA with INV_CMD */
	bool hw_on;		/* the device may use our page table */

	wait_queue_head_t wait;	/* its lock protects events and eventfd */
	u64 events;		/* interrupts since the last read() */
	struct eventfd_ctx *eventfd;

	struct pid *signal_pid;	/* whom to tell of errors; this and below: slot_lock */
	int signo;		/* 0: nobody */
	u32 errors;		/* of loads and stores that have been told */

	atomic_t bad_copies;	/* pages for CDMA that cannot be had */
	struct work_struct fault_work;
	unsigned int fault_works;	/* works under way; this and below: slot_lock */
	bool lingers;		/* the context keeps @index until they end */
	DECLARE_KFIFO(faults, struct exanet_fault_entry, EXANET_FAULTS);
};

/* --- exanet_main.c -------------------------------------------------------- */

/*
 * Makes a NIC on @parent out of @res, which stays valid until exanet_remove().
 * Gives the device or an ERR_PTR.
 */
struct exanet_device *exanet_probe(struct device *parent,
				   const struct exanet_resources *res);
/* After this the resources are unused; files that are open get ENODEV. */
void exanet_remove(struct exanet_device *xdev);
/* Around a reset from outside: contexts die, the NIC comes back. */
void exanet_reset_prepare(struct exanet_device *xdev);
void exanet_reset_done(struct exanet_device *xdev);
/* Stops the NIC for good, before the machine goes down. */
void exanet_shutdown(struct exanet_device *xdev);

/* --- exanet_pci.c --------------------------------------------------------- */

int exanet_pci_register(void);
void exanet_pci_unregister(void);

/* --- exanet_axi.c --------------------------------------------------------- */

int exanet_axi_register(void);
void exanet_axi_unregister(void);

/* --- exanet_dma.c --------------------------------------------------------- */

/*
 * Before anything else of a probe.  -ENODEV, after a message: the NIC is behind an IOMMU
 * that translates.
 */
int exanet_dma_check(struct device *dev);

/* --- exanet_irq.c --------------------------------------------------------- */

void exanet_link_init(struct exanet_device *xdev);
/* After the return nothing reads the state of a link until exanet_link_resume(). */
void exanet_link_pause(struct exanet_device *xdev);
/* Reports what has changed meanwhile, a little later. */
void exanet_link_resume(struct exanet_device *xdev);
int exanet_irq_request(struct exanet_device *xdev);
/* Frees the interrupts; after the return no handler and no work of them runs. */
void exanet_irq_free(struct exanet_device *xdev);

/* --- exanet_context.c ----------------------------------------------------- */

/* How the device has to walk the page tables of this kernel, EXANET_CTX_CTRL_. */
u32 exanet_context_format(void);
/*
 * Takes a context for current's address space; @mapping is that of the file.  If none
 * is free for the user, waits up to half a second for one.
 * ENOSPC: all are taken; EDQUOT: the user has the maximum; ENODEV: the NIC is gone.
 */
struct exanet_context *exanet_context_open(struct exanet_device *xdev,
					   struct address_space *mapping);
/* Gives the context back; the caller's reference is gone. */
void exanet_context_close(struct exanet_context *ctx);
void exanet_context_get(struct exanet_context *ctx);
void exanet_context_put(struct exanet_context *ctx);
/* Stops all contexts and takes their mappings away; xdev->lock is held. */
void exanet_context_stop_all(struct exanet_device *xdev);
/* After a reset of the NIC: frees indices and jobs of contexts that did not come to rest. */
void exanet_context_free_stuck(struct exanet_device *xdev);

/* Finds or takes a window; gives its number, -EINVAL, -ENOSPC or -ENODEV. */
int exanet_context_map_window(struct exanet_context *ctx, u64 va);
/* Returns how many contexts hold an index; xdev->lock is held. */
unsigned int exanet_contexts_used(struct exanet_device *xdev);
/* Frees the index of a lingering context after its last page fault; sleeps. */
void exanet_context_unlinger(struct exanet_context *ctx);
/* Sets the context's job; -EINVAL, -EPERM, -EBUSY, -ENODEV, -ENOMEM. */
int exanet_context_set_job(struct exanet_context *ctx, u32 number);
/* Keeps the context's job as it is until exanet_context_unfix_job(); -ENODEV. */
int exanet_context_fix_job(struct exanet_context *ctx);
void exanet_context_unfix_job(struct exanet_context *ctx);
/* -ENODEV */
int exanet_context_query(struct exanet_context *ctx, struct exanet_ioc_query *q);
/* Puts user page @page of the context at @vmf's address. */
vm_fault_t exanet_context_insert_page(struct exanet_context *ctx,
				      struct vm_fault *vmf, unsigned int page);

/* --- exanet_job.c --------------------------------------------------------- */

/* Checks the module parameters; -EINVAL, after a message: one is out of range. */
int exanet_job_init(void);
/*
 * Takes the default job of current: the first named job that root has granted to its
 * user, or a local job of user and namespace if there is none; -ENOSPC, -ENOMEM.
 */
struct exanet_job *exanet_job_get_default(void);
/* Takes a named job that root has granted to current; -EINVAL, -EPERM, -ENOMEM. */
struct exanet_job *exanet_job_get(u32 number);
void exanet_job_hold(struct exanet_job *job);
void exanet_job_put(struct exanet_job *job);
u32 exanet_job_number(const struct exanet_job *job);
/* Returns true if the job is local to this node. */
bool exanet_job_is_local(const struct exanet_job *job);

/* --- exanet_share.c ------------------------------------------------------- */

/* Limits per NIC of a user without CAP_SYS_RESOURCE. */
extern unsigned int exanet_user_contexts;
extern unsigned int exanet_user_segments;
extern unsigned int exanet_user_aperture;	/* percent */
extern unsigned int exanet_user_copies;

/* Fills @user from current. */
void exanet_user_init(struct exanet_user *user);
void exanet_turns_init(struct exanet_turns *turns, unsigned int count);
/*
 * Waits until a resource is free for @user, with at most @most per user; -ERESTARTSYS:
 * killed.
 */
int exanet_turns_take(struct exanet_turns *turns, struct exanet_turn *turn,
		      const struct exanet_user *user, unsigned int most);
void exanet_turns_give(struct exanet_turns *turns, struct exanet_turn *turn,
		       unsigned int most);

/* --- exanet_fault.c ------------------------------------------------------- */

int exanet_fault_init(void);
void exanet_fault_exit(void);
void exanet_fault_context_init(struct exanet_context *ctx);
/* Lets faults of the context's index come to it. */
void exanet_fault_attach(struct exanet_context *ctx);
/*
 * Detaches the context from the fault FIFO; the device must have stopped using the
 * context.  Afterwards no fault reaches the context, and the FIFO has no fault of it.
 * Returns true if a page fault is still being handled, which may take long: its end
 * calls exanet_context_unlinger().
 */
bool exanet_fault_detach(struct exanet_context *ctx);
/* Takes a batch from the FIFO; true if there may be more. */
bool exanet_fault_drain(struct exanet_device *xdev);
/* Takes all; sleeps. */
void exanet_fault_drain_all(struct exanet_device *xdev);

/* --- exanet_shm.c --------------------------------------------------------- */

/* Without an aperture it does nothing, and the rest gives -EOPNOTSUPP; -ENOMEM. */
int exanet_shm_init(struct exanet_device *xdev);
void exanet_shm_exit(struct exanet_device *xdev);
/* -ENODEV */
int exanet_shm_query(struct exanet_context *ctx, struct exanet_ioc_query_shm *q);
/*
 * Whether current may name the @len bytes at @gva: 0, -EACCES: registers of a node, or
 * block RAM that is not for it, -EINVAL: none or too many.
 */
int exanet_shm_check_gva(u64 gva, u64 len);
/* Whether current may use block RAM, of this node and others. */
bool exanet_shm_bram_allowed(void);
/* The PDID of context @dst_ctx of the job of @ctx; the device's lock is held. */
u32 exanet_shm_pdid(const struct exanet_context *ctx, u32 dst_ctx);
/* Whether @vma shows block RAM. */
bool exanet_bram_is(const struct vm_area_struct *vma);
int exanet_bram_mmap(struct exanet_context *ctx, struct vm_area_struct *vma);
/* Loads or stores have failed; sleeps. */
void exanet_shm_error_irq(struct exanet_device *xdev);
/* A new owner of the context's index is not told of errors of the last one. */
void exanet_shm_attach(struct exanet_context *ctx);
/* Lets errors send current's process @signo, 0: nothing; -EINVAL. */
int exanet_shm_set_signal(struct exanet_context *ctx, u32 signo);

/* --- exanet_segment.c ----------------------------------------------------- */

/* As in uapi.h; fills what is out; -ENODEV, -EINVAL, -EACCES, -ENOSPC, -EDQUOT. */
int exanet_segment_create(struct exanet_context *ctx,
			  struct exanet_ioc_segment_create *c);
/* When this returns, no CPU reaches what was the segment; -ENOENT, -ENODEV. */
int exanet_segment_destroy(struct exanet_context *ctx, u32 number);
/* Ends the segments of a context that nobody can run on; device's lock held. */
void exanet_segment_stop(struct exanet_context *ctx);
/* Returns true if a context has segments; device's lock held. */
bool exanet_segment_any(struct exanet_context *ctx);
int exanet_segment_mmap(struct exanet_context *ctx, struct vm_area_struct *vma);
/* How many there are; device's lock held. */
unsigned int exanet_segments_used(struct exanet_device *xdev);

/* --- exanet_cdma.c -------------------------------------------------------- */

void exanet_cdma_init(struct exanet_device *xdev);
void exanet_cdma_irq(struct exanet_device *xdev);
/* Lets those who wait see that their context has stopped. */
void exanet_cdma_hangup(struct exanet_device *xdev);
/* As in uapi.h, with -EINTR when killed; sleeps; changes @c. */
int exanet_cdma_copy(struct exanet_context *ctx, struct exanet_ioc_cdma *c);

/* --- exanet_accel.c ------------------------------------------------------- */

void exanet_accel_init(struct exanet_device *xdev);
void exanet_accel_irq(struct exanet_device *xdev);
/* As exanet_cdma_copy(); fills what is out. */
int exanet_accel_job(struct exanet_context *ctx, struct exanet_ioc_accel *a);

/* --- exanet_event.c ------------------------------------------------------- */

void exanet_event_init(struct exanet_context *ctx);
void exanet_event_exit(struct exanet_context *ctx);
/* Context @index, which need not be taken, has messages. */
void exanet_event_deliver(struct exanet_device *xdev, unsigned int index);
/* Wakes everybody who waits: the context has stopped. */
void exanet_event_hangup(struct exanet_context *ctx);
/* Waits for interrupts if @block; gives their number and clears it. */
int exanet_event_read(struct exanet_context *ctx, bool block, u64 *events);
__poll_t exanet_event_poll(struct exanet_context *ctx, struct file *file,
			   poll_table *wait);
/* Signals @fd with each interrupt; -1: nobody. */
int exanet_event_set_fd(struct exanet_context *ctx, int fd);

/* --- exanet_file.c -------------------------------------------------------- */

extern const struct file_operations exanet_fops;
/* Makes @vma one of device memory that children do not get; clears flags @forbid. */
void exanet_vma_device(struct vm_area_struct *vma, vm_flags_t forbid);

/* --- exanet_sysfs.c ------------------------------------------------------- */

/* Builds the attribute tables; once, before the first device. */
void exanet_sysfs_init(void);
/* Fills xdev->groups from its capabilities. */
void exanet_sysfs_groups(struct exanet_device *xdev);
/* Tells pollers of the attribute that a port went up or down. */
void exanet_sysfs_link_changed(struct exanet_device *xdev, unsigned int port);

/* --- exanet_debugfs.c ----------------------------------------------------- */

void exanet_debugfs_init(void);
void exanet_debugfs_exit(void);
/* Makes the device's files, whose registers stay valid until they are removed. */
void exanet_debugfs_add(struct exanet_device *xdev);
void exanet_debugfs_remove(struct exanet_device *xdev);

#endif /* EXANET_H */
