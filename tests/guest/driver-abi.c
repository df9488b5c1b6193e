// SPDX-License-Identifier: GPL-2.0-or-later
/* /dev/exanetN: the operations that the driver permits, and those that it refuses. */
#include "driver-common.h"

#include <sys/eventfd.h>

static void test_query(struct nic *nic)
{
	check_value(nic->q.abi, EXANET_ABI, "QUERY tells the ABI");
	check_value(nic->q.page_size, PAGE, "QUERY tells the page size");
	check(nic->q.context < EXANET_CONTEXTS, "context number");
	check_value(RNIC_GET(EXANET_PDID_CTX, nic->q.pdid), nic->q.context,
		    "PDID holds the context");
	check_value(nic->info->pdid, nic->q.pdid, "info page shows the PDID");
	check_value(nic->info->coord, nic->q.coord,
		    "info page shows the coordinates");
	check_value(sysfs_number("coord"), nic->q.coord,
		    "sysfs shows the coordinates");
}

static int map_errno(int fd, size_t len, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, len, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, len);
	return 0;
}

static void test_mmap(struct nic *nic)
{
	const int rw = PROT_READ | PROT_WRITE;
	int fd = nic->fd;
	void *info = (void *)nic->info;
	off_t n;

	for (n = 0; n < EXANET_PAGE_INFO; n++)
		check_value(map_errno(fd, PAGE, rw, MAP_SHARED, n << 12), 0,
			    "mmap of a user page");
	check_value(map_errno(fd, PAGE, PROT_READ, MAP_SHARED, 3 << 12), 0,
		    "mmap of the info page");
	check_value(map_errno(fd, PAGE, rw, MAP_SHARED, 3 << 12), EACCES,
		    "info page cannot be mapped for writing");
	check(mprotect(info, PAGE, rw) == -1 && errno == EACCES,
	      "info page cannot be made writable");
	check_value(map_errno(fd, PAGE, rw, MAP_SHARED, 4 << 12), EINVAL,
		    "no fifth page");
	check_value(map_errno(fd, PAGE, rw, MAP_SHARED, 1L << 40), EINVAL,
		    "no page far away");
	check_value(map_errno(fd, 2 * PAGE, rw, MAP_SHARED, 0), EINVAL,
		    "no two pages at once");
	check_value(map_errno(fd, PAGE, rw, MAP_PRIVATE, 0), EINVAL,
		    "no private mapping");
	for (n = 0; n <= EXANET_PAGE_INFO; n++)
		check_value(map_errno(fd, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED,
				      n << 12), EACCES,
			    "a user page is no place for programs");
	check(mprotect(info, PAGE, PROT_READ | PROT_EXEC) == -1 &&
	      errno == EACCES, "nor can it be made one");
	check_value(map_errno(fd, PAGE, PROT_READ, MAP_PRIVATE, 3 << 12), EINVAL,
		    "no private mapping of the info page");
	check(mremap((void *)nic->channel, PAGE, 2 * PAGE, MREMAP_MAYMOVE) ==
	      MAP_FAILED, "a mapping cannot grow");
	check(mremap((void *)nic->channel, 0, PAGE, MREMAP_MAYMOVE) ==
	      MAP_FAILED, "a mapping cannot be doubled");
}

static int ioctl_errno(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static void test_windows(struct nic *nic)
{
	struct exanet_ioc_map_window m = { .va = (uintptr_t)nic };
	uint32_t first;
	int i, err, valid = 0;

	check_value(ioctl_errno(nic->fd, EXANET_IOC_MAP_WINDOW, &m), 0,
		    "MAP_WINDOW");
	first = m.window;
	check_value(nic->info->win[first], (m.va & ~0x7fffffffffULL) | 1,
		    "info page shows the window");
	m.va ^= PAGE;
	ioctl(nic->fd, EXANET_IOC_MAP_WINDOW, &m);
	check_value(m.window, first, "the same stretch has the same window");
	m.reserved = 1;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_MAP_WINDOW, &m), EINVAL,
		    "MAP_WINDOW: reserved field");
	m.reserved = 0;
	m.va = 1ULL << 63;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_MAP_WINDOW, &m), EINVAL,
		    "MAP_WINDOW: kernel address");
	/*
	 * None of these addresses is in the window of the first one, of a stack or of a
	 * heap.
	 */
	for (i = 0, err = 0; i < 16 && !err; i++) {
		m.va = (uint64_t)(i + 4) << EXANET_WINDOW_BITS;
		err = ioctl_errno(nic->fd, EXANET_IOC_MAP_WINDOW, &m);
	}
	check_value(err, ENOSPC, "MAP_WINDOW: all windows are taken");
	for (i = 0; i < EXANET_WINDOW_NI; i++)
		valid += nic->info->win[i] & EXANET_WIN_VALID;
	check_value(valid, EXANET_WINDOW_NI, "there are seven windows");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_MAP_WINDOW, NULL), EFAULT,
		    "MAP_WINDOW: bad pointer");
}

static void test_ioctl(struct nic *nic)
{
	struct exanet_ioc_eventfd e = { .fd = -1, .reserved = 1 };
	struct exanet_ioc_set_job j = { .job = 7, .reserved = 1 };
	struct exanet_ioc_query q;

	check_value(ioctl_errno(nic->fd, _IO(EXANET_IOC, 63), NULL), ENOTTY,
		    "unknown ioctl");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_QUERY, NULL), EFAULT,
		    "QUERY: bad pointer");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_EVENTFD, &e), EINVAL,
		    "EVENTFD: reserved field");
	e.reserved = 0;
	e.fd = nic->fd;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_EVENTFD, &e), EINVAL,
		    "EVENTFD: some other file");
	e.fd = -2;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_EVENTFD, &e), EINVAL,
		    "EVENTFD: no descriptor");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_SET_JOB, &j), EINVAL,
		    "SET_JOB: reserved field");
	j.reserved = 0;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_SET_JOB, &j), 0,
		    "SET_JOB by root");
	ioctl(nic->fd, EXANET_IOC_QUERY, &q);
	check_value(RNIC_GET(EXANET_PDID_JOB, q.pdid), 7, "QUERY tells the new job");
	check_value(nic->info->pdid, q.pdid, "the NIC knows the new job");
	j.job = 0;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_SET_JOB, &j), EINVAL,
		    "SET_JOB: no job 0");
	j.job = 4096;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_SET_JOB, &j), EINVAL,
		    "SET_JOB: no job 4096");
}

/*
 * Returns 0 if a process outside of the device file's group cannot open the NIC, else 1.
 */
static int unprivileged(void)
{
	struct nic nic;

	must(!setgroups(0, NULL), "setgroups");
	must(!setresgid(4711, 4711, 4711) && !setresuid(4711, 4711, 4711),
	     "setresuid");
	return nic_try_open(&nic) == -EACCES ? 0 : 1;
}

static void test_unprivileged(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(unprivileged());
	check_value(reap(pid), 0, "who is not in the group cannot open the NIC");
}

/*
 * Uses the file of the parent's context in a child; returns a bit for each wrong result.
 */
static int heir(struct nic *nic)
{
	struct exanet_ioc_query q;
	uint64_t n;
	int bad = 0;

	if (ioctl_errno(nic->fd, EXANET_IOC_QUERY, &q) != EPERM)
		bad |= 1;
	if (map_errno(nic->fd, PAGE, PROT_READ, MAP_SHARED, 0) != EPERM)
		bad |= 2;
	if (read(nic->fd, &n, sizeof(n)) != -1 || errno != EPERM)
		bad |= 4;
	/* msync() fails with ENOMEM, because the child has no mapping at that address. */
	if (!msync((void *)nic->channel, PAGE, MS_ASYNC) || errno != ENOMEM)
		bad |= 8;
	return bad;
}

static void test_fork(struct nic *nic)
{
	pid_t pid = fork();

	if (!pid)
		_exit(heir(nic));
	check_value(reap(pid), 0, "a child has no part in its parent's context");
	check_value(nic->info->id, EXANET_ID, "the parent keeps it");
}

static void test_contexts(void)
{
	struct nic nics[EXANET_CONTEXTS + 1];
	long total = sysfs_number("contexts");
	long n, in_use = sysfs_number("contexts_in_use");
	int err = 0;
	unsigned int seen = 0;

	for (n = 0; n <= EXANET_CONTEXTS; n++) {
		err = nic_try_open(&nics[n]);
		if (err)
			break;
		must(!ioctl(nics[n].fd, EXANET_IOC_QUERY, &nics[n].q), "QUERY");
		seen |= 1U << nics[n].q.context;
	}
	check_value(n, total - in_use, "all contexts can be taken");
	check_value(__builtin_popcount(seen), n, "no context is given twice");
	check_value(err, -ENOSPC, "then there are none");
	check_value(sysfs_number("contexts_in_use"), total, "sysfs counts them");
	close(nics[0].fd);
	check_value(nic_try_open(&nics[0]), 0, "what is closed can be had again");
	while (n--)
		close(nics[n].fd);
	check_value(sysfs_number("contexts_in_use"), in_use, "all are given back");
}

/*
 * A context belongs to the process that opened it, and ends with that process, even if
 * another process has the file.
 */
static void test_orphan(void)
{
	long in_use = sysfs_number("contexts_in_use");
	int fds[2];
	struct nic nic;
	pid_t owner, heir;
	char c;

	must(!pipe(fds), "pipe");
	owner = fork();
	if (!owner) {
		nic_open(&nic);
		heir = fork();
		if (!heir) {
			/* keeps the file open until the pipe is closed */
			close(fds[1]);
			_exit(read(fds[0], &c, 1) ? 1 : 0);
		}
		_exit(0);
	}
	check_value(reap(owner), 0, "a process leaves its file to a child");
	check_value(sysfs_number("contexts_in_use"), in_use,
		    "its context is given back all the same");
	close(fds[1]);
	close(fds[0]);
}

static void test_events(struct nic *nic)
{
	struct pollfd p = { .fd = nic->fd, .events = POLLIN };
	struct exanet_ioc_eventfd e = { .fd = eventfd(0, EFD_NONBLOCK) };
	uint8_t *buf = memory(2 * PAGE);
	uint64_t n = 0;

	must(e.fd >= 0, "eventfd");
	must(!ioctl(nic->fd, EXANET_IOC_EVENTFD, &e), "EVENTFD");
	fcntl(nic->fd, F_SETFL, O_NONBLOCK);
	check(read(nic->fd, &n, sizeof(n)) == -1 && errno == EAGAIN,
	      "nothing to read before an interrupt");
	check(read(nic->fd, &n, 4) == -1 && errno == EINVAL, "read() wants 8 bytes");
	check_value(poll(&p, 1, 0), 0, "poll() finds nothing");

	nic_start(nic, 1, buf, nic_gva(nic, buf + PAGE), 100, nic->q.context,
		  EXANET_CHANNEL_IRQ_DONE);
	check_value(poll(&p, 1, NIC_TIMEOUT * 1000), 1,
		    "poll() wakes up when a transfer is done");
	check_value(p.revents, POLLIN, "with POLLIN");
	check(DONE_STATE(nic_wait(nic, 1)), "the transfer is done");
	check_value(read(nic->fd, &n, sizeof(n)), sizeof(n), "read()");
	check_value(n, 1, "read() gives one interrupt");
	check_value(poll(&p, 1, 0), 0, "read() clears it");
	n = 0;
	check(read(e.fd, &n, sizeof(n)) == sizeof(n) && n == 1,
	      "eventfd was signalled once");

	close(e.fd);
	e.fd = -1;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_EVENTFD, &e), 0,
		    "EVENTFD: take it away");
	fcntl(nic->fd, F_SETFL, 0);
	nic_start(nic, 1, buf, nic_gva(nic, buf + PAGE), 100, nic->q.context,
		  EXANET_CHANNEL_IRQ_DONE);
	check_value(read(nic->fd, &n, sizeof(n)), sizeof(n),
		    "read() waits for an interrupt");
}

int main(void)
{
	struct nic nic;

	nic_open(&nic);
	test_query(&nic);
	test_mmap(&nic);
	test_fork(&nic);
	test_events(&nic);
	test_windows(&nic);
	test_ioctl(&nic);
	nic_close(&nic);
	test_unprivileged();
	test_contexts();
	test_orphan();
	return 0;
}
