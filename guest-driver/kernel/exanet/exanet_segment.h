/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet segments: parts of the aperture through which a process sees memory of another
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
	struct kref ref;	/* held by the table and by mappings */
	struct exanet_device *xdev;
	struct exanet_context *ctx;	/* NULL: the segment has ended; device's lock */
	struct resource place;	/* bytes of the aperture */
	unsigned int number;	/* index in exanet_segments.table */
	kuid_t uid;		/* owner of the segment */
	u32 flags;		/* enum exanet_segment_flags */
	u32 ctrl;		/* EXANET_SHM_MAP_ */
	u64 gva;		/* GVA of the first byte */
};

/* The segments of a NIC; the device's lock protects them. */
struct exanet_segments {
	struct resource space;	/* the aperture: parent of the segments' places */
	struct exanet_segment *table[EXANET_SHM_MAPS];
};

/* Sets the size of the aperture from the capabilities. */
void exanet_segment_init(struct exanet_device *xdev);
/*
 * Creates a segment as uapi.h says, and fills the output members of @c. Returns 0,
 * -EOPNOTSUPP, -ENODEV, -EINVAL, -EACCES, -ENOSPC, -EDQUOT or -ENOMEM.
 */
int exanet_segment_create(struct exanet_context *ctx,
			  struct exanet_ioc_segment_create *c);
/*
 * Destroys a segment. After the return no CPU accesses its memory. Returns 0,
 * -EOPNOTSUPP, -ENOENT or -ENODEV; sleeps.
 */
int exanet_segment_destroy(struct exanet_context *ctx, u32 number);
/*
 * Destroys the segments of a stopped context. No thread uses their PTEs, or the caller
 * removes the PTEs afterwards. The caller holds the device's lock.
 */
void exanet_segment_stop(struct exanet_context *ctx);
/* Makes @vma a mapping of a part of a segment. Returns 0, -EINVAL or -EACCES. */
int exanet_segment_mmap(struct exanet_context *ctx, struct vm_area_struct *vma);
/* Fills @q with sizes and use of the aperture. Returns 0, -EOPNOTSUPP or -ENODEV. */
int exanet_segment_query(struct exanet_context *ctx, struct exanet_ioc_query_shm *q);
/* Returns the number of segments; the device's lock is held. */
unsigned int exanet_segments_used(struct exanet_device *xdev);

#endif /* EXANET_SEGMENT_H */
