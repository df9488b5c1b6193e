// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page faults of the NIC: on pages without memory, pages of files, huge pages, pages that
 * are shared after fork(), and pages that arrive late or never.
 */
#include "driver-common.h"

#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/syscall.h>

#define SIZE	(1UL << 20)
#define ODD	1237	/* crosses pages and blocks unaligned on both sides */

static void test_untouched(struct nic *nic)
{
	uint8_t *src = memory(SIZE + PAGE), *dst = memory(SIZE + PAGE);
	uint8_t *fresh = memory(SIZE);
	long long faults = sysfs_number("counters/fault_write");

	/* small pages, because a huge page would cause only one fault */
	madvise(dst, SIZE + PAGE, MADV_NOHUGEPAGE);
	madvise(fresh, SIZE, MADV_NOHUGEPAGE);
	fill(src, SIZE, 1);
	check(DONE_STATE(nic_copy(nic, dst, src, SIZE)),
	      "write to memory that was never touched");
	check(filled(dst, SIZE, 1), "the data is there");
	check(sysfs_number("counters/fault_write") > faults,
	      "the NIC had page faults on the way");

	memset(dst, 0xff, SIZE);
	check(DONE_STATE(nic_copy(nic, dst, fresh, SIZE)),
	      "write from memory that was never touched");
	check(all_bytes(dst, SIZE, 0), "it was zero");

	madvise(dst, SIZE + PAGE, MADV_DONTNEED);
	fill(src + 11, SIZE, 2);
	check(DONE_STATE(nic_copy(nic, dst + ODD, src + 11, SIZE)),
	      "unaligned write to memory that was given back");
	check(filled(dst + ODD, SIZE, 2), "the data is there");
	check(all_bytes(dst, ODD, 0), "nothing was written before it");
	check(all_bytes(dst + ODD + SIZE, PAGE - ODD, 0),
	      "nothing was written behind it");
	munmap(src, SIZE + PAGE);
	munmap(dst, SIZE + PAGE);
	munmap(fresh, SIZE);
}

/*
 * Returns how many bytes of the mapping of @p are in huge pages; -1 if there is no
 * mapping.
 */
static long huge_bytes(const void *p)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from, to, kb;
	bool ours = false;
	char line[512];
	long found = -1;

	must(f != NULL, "smaps");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			ours = (uintptr_t)p >= from && (uintptr_t)p < to;
		else if (ours && sscanf(line, "AnonHugePages: %lu kB", &kb) == 1)
			found = kb * 1024;
	}
	fclose(f);
	return found;
}

static void test_huge(struct nic *nic)
{
	const size_t huge = 2UL << 20;
	uint8_t *raw = memory(3 * huge), *src = memory(huge);
	uint8_t *dst = (uint8_t *)(((uintptr_t)raw + huge - 1) & ~(huge - 1));

	madvise(dst, huge, MADV_HUGEPAGE);
	fill(src, huge, 2);
	check(DONE_STATE(nic_copy(nic, dst, src, huge)),
	      "write to memory that may get a huge page");
	check(filled(dst, huge, 2), "the data is there");
	/* The NIC must not use translations that it cached during the first write. */
	must(!madvise(dst, huge, MADV_COLLAPSE), "MADV_COLLAPSE");
	check_value(huge_bytes(dst), huge, "it is one huge page now");
	fill(src, huge, 3);
	check(DONE_STATE(nic_copy(nic, dst, src, huge)), "write to a huge page");
	check(filled(dst, huge, 3), "the data is there");
	check_value(huge_bytes(dst), huge, "it is still one");
	memset(src, 0, huge);
	check(DONE_STATE(nic_copy(nic, src, dst, huge)), "write from a huge page");
	check(filled(src, huge, 3), "the data is there");
	munmap(raw, 3 * huge);
	munmap(src, huge);
}

static int temporary(size_t bytes)
{
	char name[] = "/var/tmp/driver-fault-XXXXXX";
	int fd = mkstemp(name);

	must(fd >= 0, "mkstemp");
	unlink(name);
	must(!ftruncate(fd, bytes), "ftruncate");
	return fd;
}

static void drop_caches(int file)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	must(!fsync(file), "fsync");
	must(fd >= 0 && write(fd, "1", 1) == 1, "drop_caches");
	close(fd);
}

static bool file_filled(int fd, size_t bytes, unsigned int seed)
{
	uint8_t *buf = malloc(bytes);
	bool ok;

	ok = pread(fd, buf, bytes, 0) == (ssize_t)bytes &&
	     filled(buf, bytes, seed);
	free(buf);
	return ok;
}

/* A write of the NIC makes pages of a file dirty, also after they were cleaned. */
static void test_file(struct nic *nic)
{
	const size_t bytes = 64 * PAGE;
	uint8_t *src = memory(bytes), *map;
	int fd = temporary(bytes);

	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(map != MAP_FAILED, "mmap of a file");
	fill(src, bytes, 4);
	check(DONE_STATE(nic_copy(nic, map, src, bytes)),
	      "write to a mapped file");
	check(file_filled(fd, bytes, 4), "the file holds it");

	must(!msync(map, bytes, MS_SYNC), "msync");
	fill(src, bytes, 5);
	check(DONE_STATE(nic_copy(nic, map, src, bytes)),
	      "write again after the pages were cleaned");
	munmap(map, bytes);
	drop_caches(fd);
	check(file_filled(fd, bytes, 5), "it has reached the disk");

	drop_caches(fd);
	map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	must(map != MAP_FAILED, "mmap of a file");
	memset(src, 0, bytes);
	check(DONE_STATE(nic_copy(nic, src, map, bytes)),
	      "write from a file that is not in memory");
	check(filled(src, bytes, 5), "the data is there");
	munmap(map, bytes);
	munmap(src, bytes);
	close(fd);
}

static void test_bad_address(struct nic *nic)
{
	const size_t bytes = 16 * PAGE;
	uint8_t *good = memory(bytes), *bad = memory(bytes);
	uint64_t status;

	fill(good, bytes, 6);
	mprotect(bad, bytes, PROT_READ);
	check(FAILED_STATE(nic_copy(nic, bad, good, bytes)),
	      "write to read-only memory fails");
	check(all_bytes(bad, bytes, 0), "and changes nothing");
	check(DONE_STATE(nic_copy(nic, good, bad, bytes)),
	      "write from read-only memory");

	mprotect(bad, bytes, PROT_NONE);
	status = nic_copy(nic, good, bad, bytes);
	check(FAILED_STATE(status) &&
	      STATUS_ERROR(status) == EXANET_CHERR_SOURCE_FAULT,
	      "write from PROT_NONE is a source fault");
	munmap(bad, bytes);
	status = nic_copy(nic, good, bad, bytes);
	check(FAILED_STATE(status) &&
	      STATUS_ERROR(status) == EXANET_CHERR_SOURCE_FAULT,
	      "write from nowhere is a source fault");
	check(FAILED_STATE(nic_copy(nic, bad, good, bytes)),
	      "write to nowhere fails");

	/* the first half exists, the second does not */
	munmap(good + bytes / 2, bytes / 2);
	check(FAILED_STATE(nic_copy(nic, memory(bytes), good, bytes)),
	      "write from memory that ends too early fails");
	check(FAILED_STATE(nic_copy(nic, memory(bytes),
				    (void *)0xffffffff81000000UL, 64)),
	      "write from kernel memory fails");
	check(FAILED_STATE(nic_copy(nic, memory(bytes),
				    (void *)nic->channel, 64)),
	      "write from the NIC's own pages fails");
	munmap(good, bytes / 2);
}

/* Waits for the parent.  Returns 0 if the pages of the child have not changed. */
static int cow_child(int wait_fd, uint8_t *page, unsigned int seed)
{
	char c;

	if (read(wait_fd, &c, 1) != 1)
		return 1;
	return filled(page, 4 * PAGE, seed) ? 0 : 2;
}

static void test_cow(struct nic *nic)
{
	uint8_t *src = memory(4 * PAGE), *dst = memory(4 * PAGE);
	int fds[2];
	pid_t pid;

	must(!pipe(fds), "pipe");
	fill(src, 4 * PAGE, 7);
	fill(dst, 4 * PAGE, 8);
	/* the NIC may now have cached that the pages are writable */
	check(DONE_STATE(nic_copy(nic, dst, dst, 4 * PAGE)),
	      "write before fork()");
	pid = fork();
	if (!pid)
		_exit(cow_child(fds[0], dst, 8));
	check(DONE_STATE(nic_copy(nic, dst, src, 4 * PAGE)),
	      "write to pages that a child shares");
	check(filled(dst, 4 * PAGE, 7), "the parent has the data");
	must(write(fds[1], "", 1) == 1, "write");
	check_value(reap(pid), 0, "the child still has what it had");
	close(fds[0]);
	close(fds[1]);
	munmap(src, 4 * PAGE);
	munmap(dst, 4 * PAGE);
}

/* --- pages that arrive late, or never --------------------------------------- */

/* Registers memory whose pages a program supplies; returns its userfaultfd. */
static int missing_memory(void *p, size_t bytes)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = {
		.range = { .start = (uintptr_t)p, .len = bytes },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	must(fd >= 0, "userfaultfd");
	must(!ioctl(fd, UFFDIO_API, &api), "UFFDIO_API");
	must(!ioctl(fd, UFFDIO_REGISTER, &r), "UFFDIO_REGISTER");
	return fd;
}

static bool fault_arrives(int uffd)
{
	struct pollfd p = { .fd = uffd, .events = POLLIN };
	struct uffd_msg msg;

	return poll(&p, 1, NIC_TIMEOUT * 1000) == 1 &&
	       read(uffd, &msg, sizeof(msg)) == sizeof(msg) &&
	       msg.event == UFFD_EVENT_PAGEFAULT;
}

/* Copies between new pages in a context of its own.  Returns 0 if the copy is right. */
static int bystander(void)
{
	uint8_t *src = memory(SIZE), *dst = memory(SIZE);
	struct nic nic;

	nic_open(&nic);
	fill(src, SIZE, 9);
	return DONE_STATE(nic_copy(&nic, dst, src, SIZE)) &&
	       filled(dst, SIZE, 9) ? 0 : 1;
}

static void test_missing(struct nic *nic)
{
	uint8_t *missing = memory(PAGE), *dst = memory(PAGE), *page = memory(PAGE);
	uint8_t *here = memory(SIZE), *there = memory(SIZE);
	int uffd = missing_memory(missing, PAGE);
	struct uffdio_copy copy = {
		.dst = (uintptr_t)missing, .src = (uintptr_t)page, .len = PAGE,
	};
	pid_t pid;

	fill(page, PAGE, 10);
	fill(here, SIZE, 11);
	memset(there, 0, SIZE);
	nic_start(nic, 2, missing, nic_gva(nic, dst), PAGE, nic->q.context, 0);
	check(fault_arrives(uffd), "the NIC asks for a page that is late");
	check(DONE_STATE(nic_copy(nic, there, here, SIZE)) &&
	      filled(there, SIZE, 11),
	      "other transfers of the process go on meanwhile");
	pid = fork();
	if (!pid)
		_exit(bystander());
	check_value(reap(pid), 0, "other processes' page faults are served");
	check(!nic_idle(nic, 2), "the transfer still waits");
	must(!ioctl(uffd, UFFDIO_COPY, &copy), "UFFDIO_COPY");
	check(DONE_STATE(nic_wait(nic, 2)), "it ends when the page is there");
	check(filled(dst, PAGE, 10), "the data is there");
	close(uffd);
}

/* A process is killed while the NIC waits for a page that never arrives. */
static void test_never(void)
{
	long in_use = sysfs_number("contexts_in_use");
	struct nic nic;
	uint8_t *missing, *dst;
	int uffd, fds[2];
	pid_t pid;
	char c;

	must(!pipe(fds), "pipe");
	pid = fork();
	if (!pid) {
		nic_open(&nic);
		missing = memory(PAGE);
		dst = memory(PAGE);
		uffd = missing_memory(missing, PAGE);
		nic_start(&nic, 0, missing, nic_gva(&nic, dst), PAGE,
			  nic.q.context, 0);
		if (fault_arrives(uffd) && write(fds[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	check(read(fds[0], &c, 1) == 1, "the NIC asks for a page that never comes");
	kill(pid, SIGKILL);
	check_value(reap(pid), 128 + SIGKILL, "the process can be killed");
	check(comes_to("contexts_in_use", in_use), "its context is given back");
	close(fds[0]);
}

/* --- contexts that are closed while a page is late -------------------------- */

#define STUCK	(EXANET_CONTEXTS - 1)	/* the last context is for another user */

/*
 * Makes the NIC request a late page, then closes the context.  Returns false if there was
 * no request.
 */
static bool stick(uint8_t *missing, int uffd)
{
	uint8_t *dst = memory(PAGE);
	struct nic nic;
	bool arrived;

	nic_open(&nic);
	nic_start(&nic, 0, missing, nic_gva(&nic, dst), PAGE, nic.q.context, 0);
	arrived = fault_arrives(uffd);
	nic_close(&nic);
	return arrived;
}

/*
 * Closes contexts with late pages until an open fails.  Reports the number of contexts
 * and the error of that open; then waits for the parent, supplies the pages, and waits
 * again.
 */
static void stuck_user(int in, int out)
{
	uint8_t *missing[STUCK + 1], *page = memory(PAGE);
	int uffd[STUCK + 1], said[2] = { 0, 0 };
	struct nic nic;
	char c;
	int i;

	for (i = 0; i <= STUCK; i++) {
		missing[i] = memory(PAGE);
		uffd[i] = missing_memory(missing[i], PAGE);
	}
	become(1000);
	for (i = 0; i <= STUCK && !said[1]; i++) {
		said[1] = nic_try_open(&nic);
		if (said[1])
			break;
		close(nic.fd);
		said[0] += stick(missing[i], uffd[i]);
	}
	if (write(out, said, sizeof(said)) != sizeof(said) || read(in, &c, 1) < 0)
		_exit(1);
	while (i--) {
		struct uffdio_copy copy = {
			.dst = (uintptr_t)missing[i], .src = (uintptr_t)page,
			.len = PAGE,
		};

		if (ioctl(uffd[i], UFFDIO_COPY, &copy))
			_exit(2);
	}
	_exit(read(in, &c, 1) ? 3 : 0);
}

/*
 * A context that is closed while it waits for a page still counts for its user.  If all
 * contexts but one wait so, page faults of the last context are not delayed.
 */
static void test_stuck(void)
{
	long in_use = sysfs_number("contexts_in_use");
	int to[2], from[2], said[2] = { 0, 0 };
	pid_t pid, other;

	must(!set_parameter("user_contexts", "15"), "user_contexts");
	must(!pipe(to) && !pipe(from), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(to[1]);
		stuck_user(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	must(read(from[0], said, sizeof(said)) == sizeof(said), "child");
	check_value(said[0], STUCK,
		    "a user may wait for pages with as many contexts as he may have");
	check_value(said[1], -EDQUOT, "though he has closed them");
	check_value(sysfs_number("contexts_in_use"), in_use + STUCK,
		    "their numbers are not given out again");
	other = fork();
	if (!other)
		_exit(bystander());
	check_value(reap(other), 0, "page faults of other users are served");
	must(write(to[1], "", 1) == 1, "write");
	check(comes_to("contexts_in_use", in_use),
	      "they are given back when the pages have come");
	must(!set_parameter("user_contexts", "8"), "user_contexts");
	close(to[1]);
	close(from[0]);
	check_value(reap(pid), 0, "the user comes to his end");
}

/* --- contexts that are freed after a moment -------------------------------- */

#define MOMENT_US	50000	/* delay of a late page */

/* A page that arrives late, and its userfaultfd. */
struct missing {
	int uffd;
	uint8_t *at;
};

/* Supplies a late page after MOMENT_US. */
static void *supply(void *opaque)
{
	const struct missing *missing = opaque;
	uint8_t *page = memory(PAGE);
	struct uffdio_copy copy = {
		.dst = (uintptr_t)missing->at, .src = (uintptr_t)page, .len = PAGE,
	};

	usleep(MOMENT_US);
	must(!ioctl(missing->uffd, UFFDIO_COPY, &copy), "UFFDIO_COPY");
	munmap(page, PAGE);
	return NULL;
}

/*
 * As user 1000, waits for a late page in the only context, reports the page, and sleeps.
 */
static void stuck_until_killed(int out)
{
	struct missing missing = { .at = memory(PAGE) };
	uint8_t *dst = memory(PAGE);
	struct nic nic;

	missing.uffd = missing_memory(missing.at, PAGE);
	become(1000);
	nic_open(&nic);
	nic_start(&nic, 0, missing.at, nic_gva(&nic, dst), PAGE, nic.q.context, 0);
	if (fault_arrives(missing.uffd) &&
	    write(out, &missing, sizeof(missing)) == sizeof(missing))
		pause();
	_exit(1);
}

/* Returns 0, or the errno of an open by user 1000. */
static int open_as_user(void)
{
	pid_t pid = fork();
	struct nic nic;

	if (!pid) {
		become(1000);
		_exit(-nic_try_open(&nic));
	}
	return reap(pid);
}

/*
 * A process is killed while the NIC waits for its late page: the next open waits until
 * the context is free.
 */
static void test_open_after_kill(void)
{
	long in_use = sysfs_number("contexts_in_use");
	struct missing missing;
	int fds[2], pidfd;
	pthread_t thread;
	pid_t pid;

	must(!pipe(fds), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid)
		stuck_until_killed(fds[1]);
	close(fds[1]);
	must(read(fds[0], &missing, sizeof(missing)) == sizeof(missing), "child");
	close(fds[0]);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	must(pidfd >= 0, "pidfd_open");
	missing.uffd = syscall(SYS_pidfd_getfd, pidfd, missing.uffd, 0);
	must(missing.uffd >= 0, "pidfd_getfd");
	kill(pid, SIGKILL);
	reap(pid);
	check_value(sysfs_number("contexts_in_use"), in_use + 1,
		    "the context of a dead process is not free yet");
	must(!pthread_create(&thread, NULL, supply, &missing), "pthread_create");
	check_value(open_as_user(), 0, "open() waits a moment for it");
	pthread_join(thread, NULL);
	close(missing.uffd);
	close(pidfd);
}

/* Closes a context that waits for a late page.  Returns the errno of the next open. */
static int open_after_close(void)
{
	struct missing missing = { .at = memory(PAGE) };
	pthread_t thread;
	struct nic nic;
	int ret;

	missing.uffd = missing_memory(missing.at, PAGE);
	become(1000);
	if (!stick(missing.at, missing.uffd))
		return 1;
	must(!pthread_create(&thread, NULL, supply, &missing), "pthread_create");
	ret = -nic_try_open(&nic);
	pthread_join(thread, NULL);
	return ret;
}

/* An open waits until a context of the same user, which was just closed, is free. */
static void test_open_again(void)
{
	long in_use = sysfs_number("contexts_in_use");
	pid_t pid;

	must(!set_parameter("user_contexts", "1"), "user_contexts");
	test_open_after_kill();
	check(comes_to("contexts_in_use", in_use), "it is given back");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(open_after_close());
	check_value(reap(pid), 0, "open() waits for a context that was closed, too");
	check(comes_to("contexts_in_use", in_use), "it is given back");
	must(!set_parameter("user_contexts", "0"), "user_contexts");
	check_value(open_as_user(), EDQUOT, "open() does not wait for ever");
	must(!set_parameter("user_contexts", "8"), "user_contexts");
}

int main(void)
{
	struct nic nic;

	nic_open(&nic);
	test_untouched(&nic);
	test_huge(&nic);
	test_file(&nic);
	test_bad_address(&nic);
	test_cow(&nic);
	test_missing(&nic);
	nic_close(&nic);
	test_never();
	test_stuck();
	test_open_again();
	return 0;
}
