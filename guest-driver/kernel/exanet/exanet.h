/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet driver: the state of a NIC.
 *
 * The units of the driver, from the lowest to the highest. A unit calls units of its own
 * line and of lines above it in this list, and no two units call each other.
 *
 * base       exanet_hw.c        registers
 *            exanet_dma.c       an IOMMU between NIC and memory
 *            exanet_user.c      limits of a NIC's resources per user
 *            exanet_pool.c      resources that users get alternately
 *            exanet_job.c       jobs: isolation of users' contexts
 *            exanet_vma.h       mappings of device memory
 *            exanet_compat.h    differences between kernels
 * contexts   exanet_event.c     interrupts of a context: poll(), read(), eventfd
 *            exanet_context.c   the state of an open file, and its index in the NIC
 * memory     exanet_shm.c       rights of processes to memory of other nodes
 *            exanet_bram.c      block RAM
 *            exanet_segment.c   segments of the aperture
 *            exanet_error.c     errors of loads and stores
 *            exanet_fault.c     page faults of the NIC
 * transfers  exanet_cdma.c      copies
 *            exanet_accel.c     the accelerator beside the NIC
 * binding    exanet_binding.c   a context runs for a process: open, invalidate, close
 * files      exanet_file.c      /dev/exanetN
 *            exanet_sysfs*.c    /sys/class/exanet/exanetN
 *            exanet_debugfs.c   /sys/kernel/debug/exanet/exanetN
 * device     exanet_link.c      links that go up and down
 *            exanet_irq.c       interrupts
 *            exanet_device.c    one NIC on any bus: probe, remove, reset
 * buses      exanet_pci.c       PCI shell: resources, then exanet_device_probe()
 *            exanet_axi.c       the shell for a node of the device tree
 * module     exanet_main.c      load and unload
 *
 * Lifetime. struct exanet_device lives as long as its struct device, which open files hold
 * through the cdev, and contexts hold directly. The registers are mapped only until
 * exanet_device_remove() returns. A context accesses them under @hw_lock while @hw_on, or
 * under the device's @lock while @running.
 *
 * Lock order: links.lock, mmap_lock, exanet_device.lock, then one of slot_lock, hw_lock,
 * wait.lock, exanet_pool.lock and the lock of the jobs; wait.lock nests inside slot_lock.
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

#define EXANET_NICS	32	/* maximum of NICs in a machine */

struct exanet_context;
struct exanet_job;

/* The resources that a bus shell passes to exanet_device_probe(). */
struct exanet_resources {
	void __iomem *regs;		/* EXANET_REGS_BYTES */
	phys_addr_t user;		/* user pages of context 0, then of 1 ... */
	resource_size_t user_bytes;
	phys_addr_t aperture;		/* aperture; block RAM follows */
	resource_size_t aperture_bytes;	/* of both together; 0: the NIC has none */
	bool wired;			/* two wires instead of MSI-X messages */
	int irq[EXANET_VECTORS];	/* Linux interrupt of each vector or wire */
};

struct exanet_device {
	struct device dev;
	struct cdev cdev;
	struct exanet_hw hw;
	struct exanet_caps caps;
	u32 table_format;	/* format of all page tables, EXANET_CTX_CTRL_ */
	struct exanet_resources res;
	struct exanet_vector vectors[EXANET_VECTORS];
	const struct attribute_group *groups[EXANET_LINKS + 7];
	struct exanet_links links;
	struct exanet_shm shm;
	struct exanet_segments segments;
	struct exanet_cdma cdma;
	struct exanet_accel accel;
	struct exanet_debugfs debugfs;

	/* Protects the members below, segments, cdma.used, and members of contexts. */
	struct mutex lock;
	bool gone;		/* removed, or in reset: no new contexts */
	struct list_head contexts;	/* contexts of all open files */
	DECLARE_BITMAP(used, EXANET_CONTEXTS);
	/* Indices of stopped contexts with a page fault that is not finished. */
	DECLARE_BITMAP(lingering, EXANET_CONTEXTS);
	kuid_t holders[EXANET_CONTEXTS];	/* user of each such index */
	/* Jobs that the NIC may still use, of contexts that did not come to rest. */
	struct exanet_job *stuck_jobs[EXANET_CONTEXTS];
	unsigned int last;	/* index that a context took last */
	unsigned int frees;	/* how often an index was given back, modulo 2^32 */
	wait_queue_head_t freed;	/* woken up when an index is given back */
	u32 quota;		/* quota of each context, EXANET_QUOTA_ */

	/* Protects slots, the fault queues of contexts, and the fault FIFO. */
	spinlock_t slot_lock;
	struct exanet_context *slots[EXANET_CONTEXTS];	/* by index; NULL: none */
};

static inline struct exanet_device *exanet_from_dev(struct device *dev)
{
	return container_of(dev, struct exanet_device, dev);
}

#endif /* EXANET_H */
