/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet segments: parts of the aperture by which a process accesses memory of another
 * node.
 */
#ifndef EXANET_SEGMENT_H
#define EXANET_SEGMENT_H

#include <linux/ioport.h>
#include <linux/kref.h>
#include <linux/uidgid.h>

#include "rnic/exanet/shm.h"
#include "rnic/exanet/uapi.h"

struct exanet_context;
struct exanet_device;
struct vm_area_struct;

struct exanet_segment {
	/* References: one of exanet_segments.table, one of each mapping. */
	struct kref ref;
	struct exanet_device *xdev;
	/*
	 * Context that has created the segment; NULL: the segment has ended. The device's lock
	 * protects this member.
	 */
	struct exanet_context *ctx;
	struct resource place;	/* range of the segment in the aperture, in bytes */
	unsigned int number;	/* index in exanet_segments.table */
	kuid_t uid;		/* user of the context, exanet_user.uid */
	u32 flags;		/* enum exanet_segment_flags */
	u32 ctrl;		/* register SHM_MAP_CTRL, fields EXANET_SHM_MAP_* */
	u64 gva;		/* GVA of the first byte */
};

/* The segments of a NIC. The device's lock protects all members. */
struct exanet_segments {
	struct resource space;	/* the aperture: parent of the segments' places */
	struct exanet_segment *table[EXANET_SHM_MAPS];
};

/* Sets the name of @xdev->segments.space, and its size to the size of the aperture. */
void exanet_segment_init(struct exanet_device *xdev);
/*
 * Creates segment @c of EXANET_IOC_SEGMENT_CREATE (uapi.h), and fills the output members of
 * @c. Returns 0, -EOPNOTSUPP: there is no aperture, -ENODEV: the context has stopped,
 * -EINVAL, -EACCES, -ENOSPC, -EDQUOT or -ENOMEM.
 */
int exanet_segment_create(struct exanet_context *ctx,
			  struct exanet_ioc_segment_create *c);
/*
 * Destroys segment @number of the context; sleeps. Returns 0: no CPU can access memory by the
 * segment any more, -EOPNOTSUPP: there is no aperture, -ENOENT: the context has no such
 * segment, or another thread destroys the segment, or -ENODEV: the context has stopped.
 */
int exanet_segment_destroy(struct exanet_context *ctx, u32 number);
/*
 * Destroys the segments of a stopped context, but not their PTEs. The caller either knows
 * that no thread can use the PTEs, or removes the PTEs after this call. The caller holds the
 * device's lock.
 */
void exanet_segment_stop(struct exanet_context *ctx);
/*
 * Makes @vma a mapping of a part of a segment of the context. Returns 0, -EINVAL: the
 * mapping is private, or is not inside a segment of the context, or -EACCES: the mapping
 * needs a right that the segment does not have.
 */
int exanet_segment_mmap(struct exanet_context *ctx, struct vm_area_struct *vma);
/*
 * Fills @q with the state of aperture, block RAM and segments. Returns 0, -EOPNOTSUPP: there
 * is no aperture, or -ENODEV: the context has stopped.
 */
int exanet_segment_query(struct exanet_context *ctx, struct exanet_ioc_query_shm *q);
/* Returns the number of segments of all contexts. The caller holds the device's lock. */
unsigned int exanet_segments_used(struct exanet_device *xdev);

#endif /* EXANET_SEGMENT_H */
