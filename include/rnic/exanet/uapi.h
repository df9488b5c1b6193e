/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet: interface of /dev/exanetN.
 *
 * open() allocates a context of the NIC and binds the context to the address space of the
 * caller (ENOSPC: no context, or no number for a local job, is free; EDQUOT: the user has
 * reached the limit of module parameter user_contexts; EACCES: the user gets a local job,
 * but the NIC does not have EXANET_CAP1_JOB_LOCAL).  close(), or the end of the process,
 * frees the context when the driver has served all page faults of the context.  Because
 * this takes time, open() waits up to half a second for a free context, even with
 * O_NONBLOCK, which is for read().  A child after fork() gets EPERM, or POLLERR from
 * poll(), and must open the device itself.
 *
 * Page n of enum exanet_user_page is mapped by mmap() with offset n << EXANET_MMAP_SHIFT,
 * a length of one page, and MAP_SHARED: scratchpad, packetizer and mailbox are
 * read-write, info is read-only.  Segments of remote memory, and block RAM of this
 * node, have higher offsets, see below.
 *
 * poll() reports POLLIN when the context has got an interrupt (of a mailbox, of a channel,
 * or of a notification in memory) since the last read().  read() of 8 bytes returns the
 * number of these interrupts and clears the number, as read() of an eventfd does.
 *
 * Members marked "in" are set by the caller of ioctl(), members marked "out" by the driver.
 * ioctl() and read() may return ENODEV after the driver has stopped the context, because
 * the NIC was removed, shut down or reset.
 */
#ifndef RNIC_EXANET_UAPI_H
#define RNIC_EXANET_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXANET_ABI	1
#define EXANET_MMAP_SHIFT	12
#define EXANET_IOC	0xe4

struct exanet_ioc_query {
	__u32 abi;		/* out: EXANET_ABI */
	__u32 context;		/* out: number of the context in the NIC */
	__u32 coord;		/* out: coordinates of this node */
	__u32 pdid;		/* out: PDID of the context */
	__u32 page_size;	/* out: bytes of a user page that mmap() maps */
	__u32 cap0;		/* out: value of CAP0, fields EXANET_CAP0_* */
	__u32 cap1;		/* out: bits EXANET_CAP1_*: CAP1, but APERTURE is 0 if the bus has
				 * no room for the aperture */
	__u32 link_up;		/* out: bit p: the link of port p is up */
};

/*
 * Makes the 512-GB range around @va reachable through a window.  A second call for the
 * same range returns the same window.  ENOSPC: all seven windows are in use; EINVAL: @va
 * is no address of a process.
 */
struct exanet_ioc_map_window {
	__aligned_u64 va;	/* in: any address in the 512-GB range */
	__u32 window;		/* out: number of the window, 0..6 */
	__u32 reserved;		/* zero */
};

/*
 * Makes the driver signal eventfd @fd for each interrupt that poll() reports, when the
 * driver stops the context, and once now if poll() would report POLLIN.  @fd -1: the driver
 * signals no eventfd.
 */
struct exanet_ioc_eventfd {
	__s32 fd;		/* in: descriptor of an eventfd, or -1 */
	__u32 reserved;		/* zero */
};

/*
 * Sets the job of the context.  Named jobs, 1 to module parameter named_jobs, mean the
 * same on all nodes; root grants named jobs to users by parameter job_map.  open() sets the
 * first job of the effective user.  If the user has no job, or is in a user namespace,
 * open() sets a local job, with a number above named_jobs up to 4095; the NIC refuses
 * packets of other nodes for a context with a local job.
 *
 * EPERM: the caller has no CAP_SYS_ADMIN, and the job is neither the job that open() set
 * nor a job of the user; EINVAL: the number is 0 or above 4095, or the caller has
 * CAP_SYS_ADMIN and the job is neither a named job nor the job that open() set.
 * EBUSY: the context has segments, or a SEGMENT_DESTROY, a copy or a job of the
 * accelerator is under way.
 */
struct exanet_ioc_set_job {
	__u32 job;		/* in: number of the job */
	__u32 reserved;		/* zero */
};

/* --- Memory of other nodes by load and store -------------------------------- */

/*
 * EOPNOTSUPP: the NIC has no aperture (EXANET_CAP1_APERTURE).
 *
 * The mapping is device memory: an access must be a single load or store of 1, 2, 4 or
 * 8 bytes at a multiple of its size.  The NIC counts each access that fails in the info
 * page, and the driver sends the signal of ERROR_SIGNAL; a load that fails reads
 * all-ones.
 */
#define EXANET_MMAP_APERTURE	(1ULL << 41)	/* mmap() offset of a segment: this value plus
						 * the offset in the aperture */
#define EXANET_MMAP_BRAM	(1ULL << 42)	/* mmap() offset of block RAM of this node: this
						 * value plus the offset in the block RAM; needs
						 * module parameter bram_users, or
						 * CAP_SYS_ADMIN */

struct exanet_ioc_query_shm {
	__aligned_u64 aperture;	/* out: bytes of the aperture, for segments of all processes */
	__aligned_u64 bram;	/* out: bytes of block RAM of this node */
	__u32 segments;		/* out: maximal number of segments of all processes */
	__u32 segments_used;	/* out: number of segments of all processes now */
};

enum exanet_segment_flags {
	EXANET_SEGMENT_READ	= 1 << 0,
	EXANET_SEGMENT_WRITE	= 1 << 1,
	EXANET_SEGMENT_EARLY	= 1 << 2,	/* permits early acknowledgement: a store ends
						 * when this NIC has accepted the store */
};

/*
 * Allocates a segment of the aperture for the @len bytes from @gva on: memory of context
 * @dst_ctx of the caller's job at the node of @gva, or block RAM of that node (NI space,
 * EXANET_NI_BRAM).  mmap() with MAP_SHARED maps any pages of the segment, from @offset on;
 * mmap() returns EACCES for rights that the segment does not have.  The segment exists
 * until SEGMENT_DESTROY, or until the context ends.
 *
 * EINVAL: @gva or @len is not a multiple of 4 KB, @len is 0, the segment crosses the end
 *         of a 512-GB window or of 4 GB of NI space, @flags has neither READ nor WRITE or
 *         an unknown bit, @dst_ctx is above 15, or @reserved is not 0
 * EACCES: @gva is NI space but not block RAM, or the caller must not use block RAM
 * ENOSPC: no segment, or no range of the aperture of this length, is free
 * EDQUOT: the user has reached the limit of user_segments or user_aperture
 */
struct exanet_ioc_segment_create {
	__aligned_u64 gva;	/* in: first byte at the other node */
	__aligned_u64 len;	/* in: number of bytes */
	__u32 dst_ctx;		/* in: context of @gva, 0..15 */
	__u32 flags;		/* in: bits of enum exanet_segment_flags */
	__aligned_u64 offset;	/* out: offset of the segment for mmap() */
	__u32 segment;		/* out: number of the segment */
	__u32 reserved;		/* zero */
};

/*
 * Frees a segment.  Later accesses to mapped pages of the segment raise SIGBUS.  The NIC
 * still sends stores that were acknowledged early.  ENOENT: the context has no such
 * segment.
 */
struct exanet_ioc_segment_destroy {
	__u32 segment;		/* in: number of the segment */
	__u32 reserved;		/* zero */
};

/*
 * Makes the driver send signal @signo to the calling process when a load or store of the
 * context or of its jobs on the accelerator, or an access of a copy to a GVA, fails; 0: no
 * signal.  EINVAL: there is no such signal.
 */
struct exanet_ioc_error_signal {
	__u32 signo;		/* in: number of the signal, or 0 */
	__u32 reserved;		/* zero */
};

enum exanet_cdma_flags {
	EXANET_CDMA_SRC_REMOTE	= 1 << 0,	/* @src is a GVA */
	EXANET_CDMA_DST_REMOTE	= 1 << 1,	/* @dst is a GVA */
};

/*
 * Copies @len bytes, and returns when the last byte has arrived.  An address is a virtual
 * address of the caller, or a GVA as in SEGMENT_CREATE, with any alignment.  A copy that
 * fails, or whose caller is killed, may have copied any part.
 *
 * EFAULT: a page is missing for good, or a local range is outside of the address space;
 * ENXIO: there is no memory at the GVA; EACCES: the caller has no right to this memory;
 * ETIMEDOUT: no response in time, or a MB took longer than a minute; EIO: another error;
 * ECANCELED: the driver has stopped the context; EINVAL: @flags has an unknown bit,
 * @dst_ctx is above 15, @len is 0, or a range of GVAs crosses the end of its window or of
 * 4 GB of NI space.
 */
struct exanet_ioc_cdma {
	__aligned_u64 src;	/* in: address of the source */
	__aligned_u64 dst;	/* in: address of the destination */
	__aligned_u64 len;	/* in: number of bytes, at least 1 */
	__u32 flags;		/* in: bits of enum exanet_cdma_flags */
	__u32 dst_ctx;		/* in: context of the GVAs, 0..15 */
};

/* Bits of the member remote of struct exanet_ioc_accel, one for each array. */
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
 * end.  The accelerator runs one job at a time.  An array whose bit in @remote is set is
 * at a GVA as in SEGMENT_CREATE, at this or another node.  An array whose bit is clear is
 * at an offset in this node's block RAM.
 *
 * Errors are those of CDMA.  EINVAL: a size, an alignment, @remote or @dst_ctx is not
 * valid; ETIMEDOUT, too: the job took longer than module parameter accel_seconds, and the
 * user has no CAP_SYS_RESOURCE.  The "out" members are valid even if the job has failed,
 * and 0 if the job has not run.
 */
struct exanet_ioc_accel {
	__aligned_u64 matrix;	/* in: GVA or offset, like the next five members */
	__aligned_u64 x;
	__aligned_u64 y;
	__aligned_u64 map1;
	__aligned_u64 map2;
	__aligned_u64 cells;
	__u32 ndf1;		/* in: rows of a matrix */
	__u32 ndf2;		/* in: columns of a matrix */
	__u32 nlayers;		/* in: layers of a column */
	__u32 ncells;		/* in: number of entries of cells */
	__u32 remote;		/* in: bits of enum exanet_accel_array */
	__u32 dst_ctx;		/* in: context of the GVAs, 0..15 */
	__aligned_u64 ops;	/* out: number of multiply-adds done */
	__aligned_u64 bytes;	/* out: number of bytes loaded and stored */
	__aligned_u64 ns;	/* out: duration of the job, ns of virtual time */
	__aligned_u64 err_addr;	/* out: address of the first error, as in ACCEL_ERR_ADDR */
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
