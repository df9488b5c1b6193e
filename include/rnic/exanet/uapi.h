/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet: interface of /dev/exanetN.
 *
 * open() takes a context of the NIC and binds it to the address space of the caller
 * (ENOSPC: no context is free; EDQUOT: the user has reached the limit of module
 * parameter user_contexts).  close(), or the death of the process, frees the context,
 * at the latest when the page faults that the NIC has had are served.  So open() waits
 * up to half a second for a context, even with O_NONBLOCK, which is for read().
 * A child after fork() gets EPERM and must open its own.
 *
 * mmap() of page n of enum exanet_user_page at offset n << 12 (whatever the page
 * size), one page long, shared: scratchpad, packetizer and mailbox read-write,
 * info read-only.  Segments of remote memory and block RAM of this node are at
 * higher offsets, see below.
 *
 * poll() is readable when a mailbox or channel of this context has raised its
 * interrupt since the last read(); read() of 8 bytes returns the number of such
 * interrupts and clears it, as eventfd does.
 */
#ifndef RNIC_EXANET_UAPI_H
#define RNIC_EXANET_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXANET_ABI	1
#define EXANET_MMAP_SHIFT	12
#define EXANET_IOC	0xe4

struct exanet_ioc_query {
	__u32 abi;		/* out EXANET_ABI */
	__u32 context;		/* out context number */
	__u32 coord;		/* out own coordinates */
	__u32 pdid;		/* out own PDID */
	__u32 page_size;	/* out of the user pages */
	__u32 cap0;		/* out EXANET_CAP0_ */
	__u32 cap1;		/* out EXANET_CAP1_ */
	__u32 link_up;		/* out bit p: port p is up */
};

/*
 * Makes the 512-GB stretch that holds @va reachable through a window; the same
 * stretch gives the same window again.  ENOSPC when all seven are taken.
 */
struct exanet_ioc_map_window {
	__aligned_u64 va;	/* in */
	__u32 window;		/* out 0..6 */
	__u32 reserved;		/* zero */
};

/* Signals @fd whenever poll() would become readable; -1 takes it away. */
struct exanet_ioc_eventfd {
	__s32 fd;		/* in */
	__u32 reserved;		/* zero */
};

/*
 * Sets the job of the context.  Named jobs, 1 to module parameter named_jobs, mean the
 * same on all nodes; root grants them to users by parameter job_map.  open() takes the
 * first job of the effective user.  If the user has none, or is in a user namespace,
 * open() takes a local job, with a number above named_jobs up to 4095; the NIC refuses
 * packets of a local job from other nodes.
 *
 * EPERM: the job is neither the one that open() took nor one of the user's, without
 * CAP_SYS_ADMIN; EINVAL: with it, the job is no named job.
 * EBUSY: the context has segments, or a SEGMENT_DESTROY, a copy or a job of the
 * accelerator is under way.
 */
struct exanet_ioc_set_job {
	__u32 job;		/* in */
	__u32 reserved;		/* zero */
};

/* --- Memory of other nodes by load and store -------------------------------- */

/*
 * All of this is refused with EOPNOTSUPP by a NIC without aperture (EXANET_CAP1_).
 *
 * Accesses have to be single loads and stores of 1, 2, 4 or 8 bytes that do not cross
 * a multiple of their size: the mapping is one of device memory.  One that fails is
 * counted in the info page, reads all-ones, and raises the signal of ERROR_SIGNAL.
 */
#define EXANET_MMAP_APERTURE	(1ULL << 41)	/* and the offset in the aperture */
#define EXANET_MMAP_BRAM	(1ULL << 42)	/* ... in the block RAM of this node, for
						 * whom module parameter bram_users lets */

struct exanet_ioc_query_shm {
	__aligned_u64 aperture;	/* out bytes for segments of all processes */
	__aligned_u64 bram;	/* out bytes of block RAM of this node */
	__u32 segments;		/* out there may be so many, of all processes */
	__u32 segments_used;	/* out */
};

enum exanet_segment_flags {
	EXANET_SEGMENT_READ	= 1 << 0,
	EXANET_SEGMENT_WRITE	= 1 << 1,
	EXANET_SEGMENT_EARLY	= 1 << 2,	/* a store is over when it is in the NIC,
						 * not when it is in the memory */
};

/*
 * Takes a segment of the aperture for @len bytes from @gva on: memory of context
 * @dst_ctx of the caller's job there, or block RAM (NI space, EXANET_NI_BRAM) of that
 * node.  mmap() any pages of the segment at @offset, shared; rights beyond those of
 * the segment: EACCES.  The segment exists until SEGMENT_DESTROY or close().
 *
 * EINVAL: not whole pages of 4 KB, across a 512-GB window or the end of NI space's
 * block RAM, flags without READ and WRITE; EACCES: NI space besides block RAM, or
 * block RAM that the caller must not use; ENOSPC: no segment, or no stretch of the
 * aperture, is free; EDQUOT: the user has reached the limit of module parameter
 * user_segments or user_aperture.
 */
struct exanet_ioc_segment_create {
	__aligned_u64 gva;	/* in */
	__aligned_u64 len;	/* in */
	__u32 dst_ctx;		/* in 0..15 */
	__u32 flags;		/* in enum exanet_segment_flags */
	__aligned_u64 offset;	/* out for mmap() */
	__u32 segment;		/* out number */
	__u32 reserved;		/* zero */
};

/*
 * Gives a segment back; what is mapped of it raises SIGBUS from then on.  Stores that
 * were acknowledged early go on.  ENOENT: not a segment of this context.
 */
struct exanet_ioc_segment_destroy {
	__u32 segment;		/* in */
	__u32 reserved;		/* zero */
};

/* Sends @signo to this process when a load or store of it has failed; 0: none. */
struct exanet_ioc_error_signal {
	__u32 signo;		/* in */
	__u32 reserved;		/* zero */
};

enum exanet_cdma_flags {
	EXANET_CDMA_SRC_REMOTE	= 1 << 0,	/* @src is a GVA */
	EXANET_CDMA_DST_REMOTE	= 1 << 1,	/* @dst is a GVA */
};

/*
 * Copies @len bytes, and returns when the last one has arrived.  Addresses are those of
 * the caller's memory or GVAs as with SEGMENT_CREATE, of any alignment.  When it fails
 * or is killed, any part may have been copied.
 *
 * EFAULT: a page cannot be had; ENXIO: the GVA leads to no memory; EACCES: not
 * allowed there; ETIMEDOUT: no answer; EIO: another error; ECANCELED: reset; EINVAL.
 */
struct exanet_ioc_cdma {
	__aligned_u64 src;	/* in */
	__aligned_u64 dst;	/* in */
	__aligned_u64 len;	/* in, 1..2^42 */
	__u32 flags;		/* in enum exanet_cdma_flags */
	__u32 dst_ctx;		/* in 0..15, of what is remote */
};

/* Arrays of a job, and their bits in struct exanet_ioc_accel.remote. */
enum exanet_accel_array {
	EXANET_ACCEL_MATRIX	= 1 << 0,
	EXANET_ACCEL_X		= 1 << 1,
	EXANET_ACCEL_Y		= 1 << 2,
	EXANET_ACCEL_MAP1	= 1 << 3,
	EXANET_ACCEL_MAP2	= 1 << 4,
	EXANET_ACCEL_CELLS	= 1 << 5,
};

/*
 * Runs a job on the accelerator beside the NIC (rnic/exanet/shm.h) and waits for its
 * end; the accelerator runs one job at a time.  The GVA of an array names its memory:
 * memory of context @dst_ctx of the caller's job, on this or another node.  If the
 * array's bit in @remote is clear, the array is at an offset in this node's block RAM.
 *
 * Errors are those of CDMA; EINVAL: sizes or alignment; ETIMEDOUT also: the job
 * exceeded module parameter accel_seconds.  The "out" members are set even if a job
 * has failed.
 */
struct exanet_ioc_accel {
	__aligned_u64 matrix;	/* in; GVA or offset, as the next five */
	__aligned_u64 x;
	__aligned_u64 y;
	__aligned_u64 map1;
	__aligned_u64 map2;
	__aligned_u64 cells;
	__u32 ndf1;		/* in */
	__u32 ndf2;		/* in */
	__u32 nlayers;		/* in */
	__u32 ncells;		/* in */
	__u32 remote;		/* in enum exanet_accel_array */
	__u32 dst_ctx;		/* in 0..15 */
	__aligned_u64 ops;	/* out multiply-adds */
	__aligned_u64 bytes;	/* out loaded and stored */
	__aligned_u64 ns;	/* out virtual time of the job */
	__aligned_u64 err_addr;	/* out where it failed */
};

#define EXANET_IOC_QUERY	_IOR(EXANET_IOC, 0, struct exanet_ioc_query)
#define EXANET_IOC_MAP_WINDOW	_IOWR(EXANET_IOC, 1, struct exanet_ioc_map_window)
#define EXANET_IOC_EVENTFD	_IOW(EXANET_IOC, 2, struct exanet_ioc_eventfd)
#define EXANET_IOC_SET_JOB	_IOW(EXANET_IOC, 3, struct exanet_ioc_set_job)
#define EXANET_IOC_QUERY_SHM	_IOR(EXANET_IOC, 4, struct exanet_ioc_query_shm)
#define EXANET_IOC_SEGMENT_CREATE \
	_IOWR(EXANET_IOC, 5, struct exanet_ioc_segment_create)
#define EXANET_IOC_SEGMENT_DESTROY \
	_IOW(EXANET_IOC, 6, struct exanet_ioc_segment_destroy)
#define EXANET_IOC_ERROR_SIGNAL	_IOW(EXANET_IOC, 7, struct exanet_ioc_error_signal)
#define EXANET_IOC_CDMA		_IOW(EXANET_IOC, 8, struct exanet_ioc_cdma)
#define EXANET_IOC_ACCEL	_IOWR(EXANET_IOC, 9, struct exanet_ioc_accel)

#endif /* RNIC_EXANET_UAPI_H */
