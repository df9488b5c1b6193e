/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet driver: the state of a NIC.
 *
 * The source files (units) of the driver form groups (rooms). The list below begins with
 * the lowest room. A unit uses units of its own room and of lower rooms. No units use each
 * other in a circle.
 *
 * base       exanet_hw.c        registers
 *            exanet_dma.c       checks that no IOMMU translates the NIC's addresses
 *            exanet_user.c      limits of a NIC's resources per user
 *            exanet_pool.c      grants resources to users alternately
 *            exanet_job.c       jobs: isolation of users' contexts
 *            exanet_vma.h       mappings of device memory
 *            exanet_compat.h    differences between kernels
 * contexts   exanet_event.c     interrupts of a context: poll(), read(), eventfd
 *            exanet_context.c   the state of an open file, and its index in the NIC
 * memory     exanet_shm.c       rights of processes to memory of other nodes
 *            exanet_bram.c      block RAM
 *            exanet_segment.c   segments of the aperture
 *            exanet_error.c     errors of loads, stores and copies
 *            exanet_fault.c     page faults of the NIC
 * transfers  exanet_cdma.c      copies
 *            exanet_accel.c     the accelerator beside the NIC
 * binding    exanet_binding.c   runs a context for a process: open, invalidate, close
 * files      exanet_file.c      /dev/exanetN
 *            exanet_sysfs*.c    /sys/class/exanet/exanetN
 *            exanet_debugfs.c   /sys/kernel/debug/exanet/exanetN
 * device     exanet_link.c      links that go up and down
 *            exanet_irq.c       interrupts
 *            exanet_device.c    one NIC on any bus: probe, remove, reset
 * buses      exanet_pci.c       shell for PCI Express: calls exanet_device_probe()
 *            exanet_axi.c       shell for a node of the device tree, likewise
 * module     exanet_main.c      load and unload
 *
 * Lifetime. struct exanet_device lives as long as its struct device. An open file has a
 * reference to this struct device through the cdev, and a context has its own reference.
 * The registers are mapped only until exanet_device_remove() returns. System calls and
 * page faults of a context access registers under exanet_context.hw_lock while hw_on is
 * true, or under exanet_device.lock while the context runs or exanet_device.gone is false.
 *
 * Lock order: a thread takes links.lock before mmap_lock, and mmap_lock before
 * exanet_device.lock. Inside these locks a thread may take one of slot_lock, hw_lock,
 * wait.lock, exanet_pool.lock and exanet_job_lock (exanet_job.c). Inside slot_lock a thread
 * may also take wait.lock. An allocation inside exanet_job_lock may take hw_lock, because
 * the kernel may unmap pages to free memory.
 */
#ifndef EXANET_H
#define EXANET_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>

#include "exanet_accel.h"
#include "exanet_cdma.h"
#include "exanet_debugfs.h"
#include "exanet_hw.h"
#include "exanet_irq.h"
#include "exanet_link.h"
#include "exanet_segment.h"
#include "exanet_shm.h"

#define EXANET_NICS	32	/* maximal number of NICs in a machine */

struct exanet_context;
struct exanet_job;

/* The resources that a bus shell passes to exanet_device_probe(). */
struct exanet_resources {
	void __iomem *regs;		/* EXANET_REGS_BYTES of registers */
	/* Physical address of the user pages of all contexts, in order of context index. */
	phys_addr_t user;
	resource_size_t user_bytes;
	/* Physical address of the aperture; the block RAM follows the aperture. */
	phys_addr_t aperture;
	/* Bytes of the bus's region for aperture and block RAM; 0: no such region. */
	resource_size_t aperture_bytes;
	bool wired;			/* the NIC interrupts by two wires, not by MSI-X */
	int irq[EXANET_VECTORS];	/* by vector or wire: number of the Linux interrupt */
};

struct exanet_device {
	struct device dev;
	struct cdev cdev;
	struct exanet_hw hw;
	struct exanet_caps caps;
	/*
	 * Format of this kernel's page tables, as exanet_binding_format() returns the
	 * format.
	 */
	u32 table_format;
	struct exanet_resources res;
	struct exanet_vector vectors[EXANET_VECTORS];
	const struct attribute_group *groups[EXANET_LINKS + 7];
	struct exanet_links links;
	struct exanet_shm shm;
	struct exanet_segments segments;
	struct exanet_cdma cdma;
	struct exanet_accel accel;
	struct exanet_debugfs debugfs;

	/*
	 * Protects segments, cdma.used, the members from @gone to @quota, and the members
	 * of struct exanet_context that exanet_context.h lists for this lock.
	 */
	struct mutex lock;
	/* No new contexts: the NIC is removed, shut down, in reset, or silent after a reset. */
	bool gone;
	struct list_head contexts;	/* contexts of all open files */
	/* Indices of running contexts, and of stopped contexts that the NIC may still use. */
	DECLARE_BITMAP(used, EXANET_CONTEXTS);
	/* Indices of stopped contexts whose page fault works have not ended. */
	DECLARE_BITMAP(lingering, EXANET_CONTEXTS);
	/* By index that is in @used or @lingering: user of the context. */
	kuid_t holders[EXANET_CONTEXTS];
	/* By index: job of a stopped context that the NIC may still use; NULL: no such job. */
	struct exanet_job *stuck_jobs[EXANET_CONTEXTS];
	unsigned int last;	/* context index reserved last; at first EXANET_CONTEXTS - 1 */
	unsigned int frees;	/* how often the driver has woken up @freed, modulo 2^32 */
	/*
	 * Threads in open() that wait for an index. The driver wakes up these threads when a
	 * context has stopped, or has given up its index after the stop.
	 */
	wait_queue_head_t freed;
	/* Value of CTX_QUOTA of each running context, fields EXANET_QUOTA_*. */
	u32 quota;

	/*
	 * Protects @slots, the NIC's fault FIFO, and the members of struct exanet_context that
	 * exanet_context.h lists for this lock.
	 */
	spinlock_t slot_lock;
	/*
	 * By index: context from exanet_fault_attach() until exanet_fault_detach(); NULL: no
	 * such context.
	 */
	struct exanet_context *slots[EXANET_CONTEXTS];
};

static inline struct exanet_device *exanet_from_dev(struct device *dev)
{
	return container_of(dev, struct exanet_device, dev);
}

#endif /* EXANET_H */
