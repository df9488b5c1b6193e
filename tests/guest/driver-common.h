/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to the NIC without a library, because the tests of the kernel driver must not
 * depend on libexanet.
 *
 * check() prints a TAP line without a number; driver.test adds the numbers.
 */
#ifndef DRIVER_COMMON_H
#define DRIVER_COMMON_H

#define _GNU_SOURCE	/* so this header must be the first include */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/uapi.h"
#include "rnic/exanet/wire.h"

#define NIC_DEVICE	"/dev/exanet0"
#define NIC_SYSFS	"/sys/class/exanet/exanet0/"
#define NIC_TIMEOUT	30.0	/* seconds; long, because the host that emulates both
				 * guests may be loaded */

#define PAGE		4096UL

#define FAILED_STATE(s)	(RNIC_GET(EXANET_CHSTAT_STATE, s) == EXANET_CHANNEL_FAILED)
#define DONE_STATE(s)	(RNIC_GET(EXANET_CHSTAT_STATE, s) == EXANET_CHANNEL_DONE)
#define STATUS_ERROR(s)	((unsigned int)RNIC_GET(EXANET_CHSTAT_ERROR, s))

struct nic {
	int fd;
	struct exanet_ioc_query q;
	volatile struct exanet_channel *channel;	/* the mapped scratchpad page */
	volatile struct exanet_info *info;
	uint32_t token;
};

/* Prints the result @ok of test @name; returns @ok. */
static inline bool check(bool ok, const char *name)
{
	printf("%s - %s\n", ok ? "ok" : "not ok", name);
	fflush(stdout);
	return ok;
}

/*
 * Calls check() with the result of @value == @expected.  Prints both values if they
 * differ.
 */
static inline bool check_value(long value, long expected, const char *name)
{
	if (value != expected)
		printf("# %s: %ld (0x%lx), expected %ld\n", name, value, value,
		       expected);
	return check(value == expected, name);
}

/* Ends the program unless @ok, a precondition of a test, is true. */
static inline void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("not ok - %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static inline void *nic_map(int fd, enum exanet_user_page page, int prot)
{
	return mmap(NULL, PAGE, prot, MAP_SHARED, fd,
		    (off_t)page << EXANET_MMAP_SHIFT);
}

static inline int nic_try_open(struct nic *nic)
{
	memset(nic, 0, sizeof(*nic));
	nic->fd = open(NIC_DEVICE, O_RDWR | O_CLOEXEC);
	return nic->fd < 0 ? -errno : 0;
}

static inline void nic_open(struct nic *nic)
{
	must(!nic_try_open(nic), "open " NIC_DEVICE);
	must(!ioctl(nic->fd, EXANET_IOC_QUERY, &nic->q), "QUERY");
	nic->channel = nic_map(nic->fd, EXANET_PAGE_SCRATCHPAD,
			       PROT_READ | PROT_WRITE);
	must(nic->channel != MAP_FAILED, "map scratchpad");
	nic->info = nic_map(nic->fd, EXANET_PAGE_INFO, PROT_READ);
	must(nic->info != MAP_FAILED, "map info page");
}

static inline void nic_close(struct nic *nic)
{
	munmap((void *)nic->channel, PAGE);
	munmap((void *)nic->info, PAGE);
	close(nic->fd);
}

/*
 * Maps a window of the NIC that contains @p.  Returns the GVA by which peers and this
 * process access @p.
 */
static inline uint64_t nic_gva(struct nic *nic, const volatile void *p)
{
	struct exanet_ioc_map_window m = { .va = (uintptr_t)p };

	must(!ioctl(nic->fd, EXANET_IOC_MAP_WINDOW, &m), "MAP_WINDOW");
	return RNIC_PREP(EXANET_GVA_COORD, nic->q.coord) |
	       RNIC_PREP(EXANET_VA_WINDOW, m.window) |
	       RNIC_PREP(EXANET_VA_OFFSET, m.va);
}

/*
 * Starts, by channel @ch, a write of @len bytes at @src to @gva of context @ctx.
 * @flags are bits EXANET_CHANNEL_* of the control word.
 */
static inline void nic_start(struct nic *nic, unsigned int ch, const void *src,
			     uint64_t gva, uint32_t len, unsigned int ctx,
			     uint64_t flags)
{
	volatile struct exanet_channel *c = &nic->channel[ch];

	if (!++nic->token)
		++nic->token;
	c->src = (uintptr_t)src;
	c->dst = gva;
	c->ctrl = RNIC_PREP(EXANET_CHANNEL_LENGTH, len) |
		  RNIC_PREP(EXANET_CHANNEL_DST_CTX, ctx) | flags;
	c->token = nic->token;
}

/* Returns true if channel @ch has no transfer under way. */
static inline bool nic_idle(struct nic *nic, unsigned int ch)
{
	uint64_t state = RNIC_GET(EXANET_CHSTAT_STATE, nic->channel[ch].status);

	return state != EXANET_CHANNEL_QUEUED && state != EXANET_CHANNEL_ACTIVE;
}

/*
 * Waits for the end of the last transfer of channel @ch.  Returns the status word of
 * the channel, or ~0 after NIC_TIMEOUT seconds.
 */
static inline uint64_t nic_wait(struct nic *nic, unsigned int ch)
{
	double end = seconds() + NIC_TIMEOUT;

	do {
		if (nic_idle(nic, ch))
			return nic->channel[ch].status;
	} while (seconds() < end);
	return ~0ULL;
}

/*
 * Copies @len bytes of this process from @src to @dst by an RDMA write.  Returns as
 * nic_wait().
 */
static inline uint64_t nic_copy(struct nic *nic, void *dst, const void *src,
				uint32_t len)
{
	nic_start(nic, 0, src, nic_gva(nic, dst), len, nic->q.context, 0);
	return nic_wait(nic, 0);
}

static inline void *memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(p != MAP_FAILED, "mmap");
	return p;
}

/*
 * Fills the @bytes bytes at @p with a pattern: each byte depends on its position and
 * on @seed.
 */
static inline void fill(void *p, size_t bytes, unsigned int seed)
{
	uint8_t *b = p;
	size_t i;

	for (i = 0; i < bytes; i++)
		b[i] = i * 31 + (i >> 8) * 7 + (i >> 16) + seed;
}

static inline bool filled(const void *p, size_t bytes, unsigned int seed)
{
	const uint8_t *b = p;
	size_t i;

	for (i = 0; i < bytes; i++) {
		if (b[i] != (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16) + seed)) {
			printf("# byte %zu of %zu is 0x%02x\n", i, bytes, b[i]);
			return false;
		}
	}
	return true;
}

static inline bool all_bytes(const void *p, size_t bytes, uint8_t value)
{
	const uint8_t *b = p;
	size_t i;

	for (i = 0; i < bytes; i++)
		if (b[i] != value)
			return false;
	return true;
}

/*
 * Returns the number in file @name of folder NIC_SYSFS.  Ends the program if the file
 * cannot be read.
 */
static inline long long sysfs_number(const char *name)
{
	char path[256], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), NIC_SYSFS "%s", name);
	f = fopen(path, "r");
	must(f != NULL, path);
	must(fgets(text, sizeof(text), f) != NULL, path);
	fclose(f);
	return strtoll(text, NULL, 0);
}

/*
 * Waits until the number in file @name of folder NIC_SYSFS is @value.  Returns false
 * after NIC_TIMEOUT seconds.  The wait is needed because page faults of the NIC keep
 * an address space for a moment after the end of its process.
 */
static inline bool comes_to(const char *name, long long value)
{
	double end = seconds() + NIC_TIMEOUT;

	while (sysfs_number(name) != value) {
		if (seconds() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/*
 * Writes @text to parameter @name of the module exanet.  Returns 0 or the positive
 * errno of the write.
 */
static inline int set_parameter(const char *name, const char *text)
{
	char path[256];
	int fd, err;

	snprintf(path, sizeof(path), "/sys/module/exanet/parameters/%s", name);
	fd = open(path, O_WRONLY);
	must(fd >= 0, path);
	err = write(fd, text, strlen(text)) < 0 ? errno : 0;
	close(fd);
	return err;
}

/*
 * Changes this process to user @uid, with the group of the device file as its only
 * supplementary group.
 */
static inline void become(uid_t uid)
{
	struct stat st;

	must(!stat(NIC_DEVICE, &st), "stat " NIC_DEVICE);
	must(!setgroups(1, &st.st_gid), "setgroups");
	must(!setresgid(uid, uid, uid) && !setresuid(uid, uid, uid), "setresuid");
}

/*
 * Waits for the end of child @pid.  Returns the exit code, or 128 + the number of the
 * signal that ended the child.
 */
static inline int reap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0) == pid, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif /* DRIVER_COMMON_H */
