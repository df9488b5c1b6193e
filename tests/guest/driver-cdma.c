// SPDX-License-Identifier: GPL-2.0-or-later
/* /dev/exanetN: copies by the central DMA.  This node is also the other node. */
#include "driver-common.h"

#define MOST	(3UL << 20)	/* more than the driver copies in one step */
#define MARGIN	PAGE
#define TO	EXANET_CDMA_DST_REMOTE
#define FROM	EXANET_CDMA_SRC_REMOTE

static int copy_errno(struct nic *nic, uint64_t dst, uint64_t src, uint64_t len,
		      uint32_t flags)
{
	struct exanet_ioc_cdma c = {
		.src = src,
		.dst = dst,
		.len = len,
		.flags = flags,
		.dst_ctx = nic->q.context,
	};

	return ioctl(nic->fd, EXANET_IOC_CDMA, &c) ? errno : 0;
}

/* Copies between addresses of this process.  A remote address is given as GVA. */
static int copy(struct nic *nic, void *dst, const void *src, uint64_t len,
		uint32_t flags)
{
	return copy_errno(nic,
			  flags & TO ? nic_gva(nic, dst) : (uintptr_t)dst,
			  flags & FROM ? nic_gva(nic, src) : (uintptr_t)src,
			  len, flags);
}

static void test_sizes(struct nic *nic)
{
	static const size_t sizes[] = {
		1, 2, 7, 8, 9, 63, 64, 127, 128, 129, 255, 256, 257, 4095, 4096,
		4097, 65536, 100001, 1048576, MOST,
	};
	static const uint32_t directions[] = { TO, FROM, TO | FROM, 0 };
	static const char *const names[] = {
		"to a node", "from a node", "from node to node", "here",
	};
	uint8_t *src = memory(MOST + 2 * MARGIN), *dst = memory(MOST + 2 * MARGIN);
	unsigned int i, w, bad;
	char name[80];

	for (w = 0; w < 4; w++) {
		for (i = bad = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			size_t len = sizes[i], a = 3 * i % 17, b = 5 * i % 19;

			/*
			 * the destination has no pages in each copy, so that page faults
			 * occur
			 */
			madvise(dst, MOST + 2 * MARGIN, MADV_DONTNEED);
			fill(src + a, len, i + w);
			if (copy(nic, dst + MARGIN + b, src + a, len, directions[w]) ||
			    !filled(dst + MARGIN + b, len, i + w) ||
			    !all_bytes(dst, MARGIN + b, 0) ||
			    !all_bytes(dst + MARGIN + b + len, MARGIN - b, 0)) {
				printf("# %zu bytes: %s\n", len, strerror(errno));
				bad++;
			}
		}
		snprintf(name, sizeof(name), "copies of 1 byte to 3 MiB %s",
			 names[w]);
		check_value(bad, 0, name);
	}
	munmap(src, MOST + 2 * MARGIN);
	munmap(dst, MOST + 2 * MARGIN);
}

static void test_errors(struct nic *nic)
{
	const size_t bytes = 4 * PAGE;
	uint8_t *good = memory(bytes), *hole = memory(bytes);
	uint64_t gva = nic_gva(nic, good), here = (uintptr_t)good;
	const uint64_t ni = RNIC_PREP(EXANET_GVA_COORD, nic->q.coord);
	struct exanet_ioc_cdma c = { .src = here, .dst = gva, .len = PAGE,
				     .flags = TO };
	uint64_t nowhere;

	munmap(hole + PAGE, PAGE);
	nowhere = nic_gva(nic, hole);
	check_value(copy_errno(nic, gva, (uintptr_t)hole, 2 * PAGE, TO), EFAULT,
		    "source that is not there");
	check_value(copy_errno(nic, (uintptr_t)hole, gva, 2 * PAGE, FROM), EFAULT,
		    "destination that is not there");
	check(copy_errno(nic, nowhere, here, 2 * PAGE, TO) != 0,
	      "destination that is not there at the node");
	check(copy_errno(nic, here, nowhere, 2 * PAGE, FROM) != 0,
	      "source that is not there at the node");
	mprotect(hole, PAGE, PROT_READ);
	check(copy_errno(nic, nowhere, here, 8, TO) != 0,
	      "destination at the node that may not be written");
	check_value(copy_errno(nic, ni | RNIC_PREP(EXANET_VA_WINDOW, 6), here, 8,
			       TO), ENXIO, "a window that is not open");
	check_value(copy_errno(nic, ni | EXANET_NI_VA(EXANET_NI_MAILBOX), here, 8,
			       TO), EACCES, "registers of a node");
	check_value(copy_errno(nic, gva, 1ULL << 63, 8, TO), EFAULT,
		    "kernel memory");
	check_value(copy_errno(nic, gva, here, 0, TO), EINVAL, "nothing");
	check_value(copy_errno(nic, gva, here, 1ULL << 60, TO), EFAULT,
		    "more than there is");
	check_value(copy_errno(nic, gva, here, 8, 4), EINVAL, "unknown flag");
	c.dst_ctx = EXANET_CONTEXTS;
	check(ioctl(nic->fd, EXANET_IOC_CDMA, &c) && errno == EINVAL,
	      "context 16");
	c.dst_ctx = (nic->q.context + 1) % EXANET_CONTEXTS;
	check(ioctl(nic->fd, EXANET_IOC_CDMA, &c) && errno == EACCES,
	      "a context that is not open");
	check(ioctl(nic->fd, EXANET_IOC_CDMA, NULL) && errno == EFAULT,
	      "bad pointer");
	fill(good, PAGE, 9);
	check_value(copy(nic, good + 2 * PAGE, good, PAGE, TO), 0,
		    "good ones work after that");
	check(filled(good + 2 * PAGE, PAGE, 9), "and have the data");
	munmap(good, bytes);
	munmap(hole, bytes);
}

static void test_accel(struct nic *nic)
{
	struct exanet_ioc_accel a = { .remote = ~0U, .ops = 7, .err_addr = 8 };

	check(ioctl(nic->fd, EXANET_IOC_ACCEL, &a) && errno == EINVAL,
	      "accelerator: unknown array");
	check(!a.ops && !a.err_addr, "then it has done nothing");
	a = (struct exanet_ioc_accel) { .dst_ctx = EXANET_CONTEXTS };
	check(ioctl(nic->fd, EXANET_IOC_ACCEL, &a) && errno == EINVAL,
	      "accelerator: context 16");
	a = (struct exanet_ioc_accel) {
		.remote = EXANET_ACCEL_X,
		.x = EXANET_NI_VA(EXANET_NI_MAILBOX),
	};
	check(ioctl(nic->fd, EXANET_IOC_ACCEL, &a) && errno == EACCES,
	      "accelerator: registers of a node");
	check(ioctl(nic->fd, EXANET_IOC_ACCEL, NULL) && errno == EFAULT,
	      "accelerator: bad pointer");
}

static int many(unsigned int seed)
{
	const size_t bytes = 200000;
	uint8_t *src = memory(bytes), *dst = memory(bytes);
	struct nic nic;
	unsigned int i;

	nic_open(&nic);
	for (i = 0; i < 10; i++) {
		fill(src, bytes, seed + i);
		if (copy(&nic, dst, src, bytes, i & 1 ? TO : FROM) ||
		    !filled(dst, bytes, seed + i))
			return 1;
	}
	return 0;
}

/* Ten processes copy at once, more than there are channels; one of them is killed. */
static void test_processes(void)
{
	pid_t pid[10];
	unsigned int i, bad = 0;

	fflush(stdout);
	for (i = 0; i < 10; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(many(i * 16));
	}
	usleep(100000);
	kill(pid[0], SIGKILL);
	bad += reap(pid[0]) == 1;
	for (i = 1; i < 10; i++)
		bad += reap(pid[i]) != 0;
	check_value(bad, 0, "ten processes copy at a time");
	check(comes_to("contexts_in_use", 1), "their contexts are given back");
}

int main(void)
{
	struct nic nic;

	nic_open(&nic);
	test_sizes(&nic);
	test_errors(&nic);
	test_accel(&nic);
	test_processes();
	nic_close(&nic);
	return 0;
}
