/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet: interface of /dev/exanetN.
 *
 * open() takes a context of the NIC and binds it to the address space of the
 * caller; close(), or the death of that process, gives it back.  A child after
 * fork() gets EPERM and must open its own.
 *
 * mmap() of page n of enum exanet_user_page at offset n << 12 (whatever the page
 * size), one page long, shared: scratchpad, packetizer and mailbox read-write,
 * info read-only.
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
 * Sets the job of the context, 1..4095.  The default is made from the caller's
 * user id, so that a user's processes on all nodes may talk to each other.
 * Another job than the default needs CAP_SYS_ADMIN.
 */
struct exanet_ioc_set_job {
	__u32 job;		/* in */
	__u32 reserved;		/* zero */
};

#define EXANET_IOC_QUERY	_IOR(EXANET_IOC, 0, struct exanet_ioc_query)
#define EXANET_IOC_MAP_WINDOW	_IOWR(EXANET_IOC, 1, struct exanet_ioc_map_window)
#define EXANET_IOC_EVENTFD	_IOW(EXANET_IOC, 2, struct exanet_ioc_eventfd)
#define EXANET_IOC_SET_JOB	_IOW(EXANET_IOC, 3, struct exanet_ioc_set_job)

#endif /* RNIC_EXANET_UAPI_H */
