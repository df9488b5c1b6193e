// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/exanetN: segments of the aperture, block RAM, errors and their signal.  This node
 * is also the other node.
 */
#include "driver-common.h"

#include <dirent.h>
#include <sched.h>
#include <setjmp.h>

#define BYTES	(16 * PAGE)
#define RW	(EXANET_SEGMENT_READ | EXANET_SEGMENT_WRITE)

static sigjmp_buf hit;

static void on_hit(int sig)
{
	siglongjmp(hit, sig);
}

/* Returns the signal that a load from @p raises, or 0. */
static int load_signal(const volatile uint64_t *p)
{
	int sig = sigsetjmp(hit, 1);

	if (!sig)
		(void)*p;
	return sig;
}

static int ioctl_errno(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static struct exanet_ioc_segment_create request(struct nic *nic, const void *p,
						size_t len)
{
	return (struct exanet_ioc_segment_create) {
		.gva = nic_gva(nic, p),
		.len = len,
		.dst_ctx = nic->q.context,
		.flags = RW,
	};
}

static int create(struct nic *nic, struct exanet_ioc_segment_create *c)
{
	return ioctl_errno(nic->fd, EXANET_IOC_SEGMENT_CREATE, c);
}

static int destroy(struct nic *nic, uint32_t segment)
{
	struct exanet_ioc_segment_destroy d = { .segment = segment };

	return ioctl_errno(nic->fd, EXANET_IOC_SEGMENT_DESTROY, &d);
}

static void *map(struct nic *nic, const struct exanet_ioc_segment_create *c,
		 int prot)
{
	return mmap(NULL, c->len, prot, MAP_SHARED, nic->fd, c->offset);
}

/* Creates a segment of the @len bytes at @p, and returns its mapping. */
static volatile uint64_t *show(struct nic *nic, const void *p, size_t len,
			       struct exanet_ioc_segment_create *c)
{
	void *q;

	*c = request(nic, p, len);
	must(!create(nic, c), "SEGMENT_CREATE");
	q = map(nic, c, PROT_READ | PROT_WRITE);
	must(q != MAP_FAILED, "mmap of a segment");
	return q;
}

/* Waits until no store is under way; returns false after NIC_TIMEOUT seconds. */
static bool fence(struct nic *nic)
{
	double end = seconds() + NIC_TIMEOUT;

	while (nic->info->stores)
		if (seconds() > end)
			return false;
	return true;
}

/* --- life ----------------------------------------------------------------- */

static void test_life(struct nic *nic)
{
	struct exanet_ioc_segment_create c, d;
	uint64_t *a = memory(BYTES), *b = memory(BYTES);
	volatile uint64_t *p, *q;

	p = show(nic, a, BYTES, &c);
	check_value(sysfs_number("shm/segments_used"), 1, "sysfs knows the segment");
	p[3] = 0x1122334455667788;
	check(fence(nic), "a store comes to its end");
	check_value(a[3], 0x1122334455667788, "it is in memory");
	a[BYTES / 8 - 1] = 0x99;
	check_value(p[BYTES / 8 - 1], 0x99, "a load sees the memory");
	check_value(a[4], 0, "nothing else has changed");

	check_value(destroy(nic, c.segment), 0, "SEGMENT_DESTROY");
	check_value(load_signal(p), SIGBUS, "what is mapped of it raises SIGBUS");
	check_value(load_signal(p + PAGE), SIGBUS, "also where it was not touched");
	check_value(destroy(nic, c.segment), ENOENT, "it is gone");
	q = show(nic, b, BYTES, &d);
	check(d.offset == c.offset, "the next one gets its place");
	b[0] = 5;
	check_value(q[0], 5, "and works");
	check_value(load_signal(p), SIGBUS, "the old mapping does not reach it");
	munmap((void *)p, BYTES);
	check_value(q[0], 5, "munmap() of the old one changes nothing");
	munmap((void *)q, BYTES);
	check_value(load_signal(q), SIGSEGV, "munmap()");
	check_value(destroy(nic, d.segment), 0, "destroyed after munmap()");
	check_value(sysfs_number("shm/segments_used"), 0, "no segment is left");
	munmap(a, BYTES);
	munmap(b, BYTES);
}

/* --- refused requests ----------------------------------------------------- */

static void test_rights(struct nic *nic)
{
	uint64_t *a = memory(BYTES);
	struct exanet_ioc_segment_create c = request(nic, a, BYTES);
	void *p;

	c.flags = EXANET_SEGMENT_READ;
	must(!create(nic, &c), "SEGMENT_CREATE");
	check(map(nic, &c, PROT_READ | PROT_WRITE) == MAP_FAILED && errno == EACCES,
	      "a segment to read cannot be mapped for writing");
	check(map(nic, &c, PROT_READ | PROT_EXEC) == MAP_FAILED && errno == EACCES,
	      "nor for execution");
	p = map(nic, &c, PROT_READ);
	check(p != MAP_FAILED, "it can for reading");
	check(mprotect(p, PAGE, PROT_READ | PROT_WRITE) == -1 && errno == EACCES,
	      "and not be made writable");
	check(mremap(p, BYTES, 2 * BYTES, MREMAP_MAYMOVE) == MAP_FAILED,
	      "a mapping cannot grow");
	p = mremap(p, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		   memory(BYTES));
	a[1] = 77;
	check(p != MAP_FAILED && ((volatile uint64_t *)p)[1] == 77,
	      "it can move");
	munmap((uint8_t *)p + PAGE, PAGE);
	check_value(((volatile uint64_t *)p)[1], 77, "it can be cut in two");
	munmap(p, BYTES);
	check(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, nic->fd, c.offset) ==
	      MAP_FAILED && errno == EINVAL, "no private mapping");
	check(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, nic->fd, c.offset + BYTES) ==
	      MAP_FAILED && errno == EINVAL, "nothing behind it");
	check(mmap(NULL, BYTES, PROT_READ, MAP_SHARED, nic->fd, c.offset + PAGE) ==
	      MAP_FAILED && errno == EINVAL, "nothing across its end");
	a[PAGE / 8] = 78;
	p = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, nic->fd, c.offset + PAGE);
	check(p != MAP_FAILED && *(volatile uint64_t *)p == 78,
	      "a page in the middle");
	munmap(p, PAGE);
	must(!destroy(nic, c.segment), "SEGMENT_DESTROY");
	c.flags = EXANET_SEGMENT_WRITE;
	must(!create(nic, &c), "SEGMENT_CREATE");
	check(map(nic, &c, PROT_READ) == MAP_FAILED && errno == EACCES,
	      "a segment to write cannot be mapped for reading");
	must(!destroy(nic, c.segment), "SEGMENT_DESTROY");
	munmap(a, BYTES);
}

static void test_bad_requests(struct nic *nic)
{
	const uint64_t ni = RNIC_PREP(EXANET_GVA_COORD, nic->q.coord);
	static const struct {
		int64_t gva, len;	/* added to a valid request */
		uint32_t ctx, flags, reserved;
		int error;
		const char *name;
	} bad[] = {
		{ 8, 0, 0, RW, 0, EINVAL, "address within a page" },
		{ 0, 8, 0, RW, 0, EINVAL, "part of a page" },
		{ 0, -(int64_t)BYTES, 0, RW, 0, EINVAL, "nothing" },
		{ 0, 1LL << EXANET_WINDOW_BITS, 0, RW, 0, EINVAL,
		  "more than a window" },
		{ 0, 0, EXANET_CONTEXTS, RW, 0, EINVAL, "context 16" },
		{ 0, 0, 0, 0, 0, EINVAL, "no rights" },
		{ 0, 0, 0, EXANET_SEGMENT_EARLY, 0, EINVAL, "no rights, early" },
		{ 0, 0, 0, RW | 8, 0, EINVAL, "unknown flag" },
		{ 0, 0, 0, RW, 1, EINVAL, "reserved field" },
	};
	uint8_t *a = memory(BYTES);
	struct exanet_ioc_segment_create c;
	struct exanet_ioc_segment_destroy d = { .reserved = 1 };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		c = request(nic, a, BYTES);
		c.gva += bad[i].gva;
		c.len += bad[i].len;
		c.dst_ctx = bad[i].ctx;
		c.flags = bad[i].flags;
		c.reserved = bad[i].reserved;
		check_value(create(nic, &c), bad[i].error, bad[i].name);
	}
	for (i = 0; i < EXANET_NI_INDICES; i++) {
		c = request(nic, a, PAGE);
		c.gva = ni | EXANET_NI_VA(i);
		if (i != EXANET_NI_BRAM && create(nic, &c) != EACCES)
			break;
	}
	check_value(i, EXANET_NI_INDICES, "registers of a node are refused");
	c.gva = ni | EXANET_NI_VA(EXANET_NI_BRAM);
	c.len = (1ULL << 32) + PAGE;
	check_value(create(nic, &c), EINVAL, "across the end of block RAM");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_SEGMENT_CREATE, NULL), EFAULT,
		    "bad pointer");
	check_value(destroy(nic, EXANET_SHM_MAPS), ENOENT, "no such segment");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_SEGMENT_DESTROY, &d), EINVAL,
		    "DESTROY: reserved field");
	check_value(sysfs_number("shm/segments_used"), 0, "none came of all that");
	munmap(a, BYTES);
}

static void test_exhausted(struct nic *nic)
{
	struct exanet_ioc_segment_create c[EXANET_SHM_MAPS + 1];
	struct exanet_ioc_query_shm q;
	uint8_t *a = memory(BYTES);
	unsigned int i;

	for (i = 0; i <= EXANET_SHM_MAPS; i++) {
		c[i] = request(nic, a, BYTES);
		if (create(nic, &c[i]))
			break;
	}
	check_value(i, EXANET_SHM_MAPS, "there are 16 segments");
	check_value(errno, ENOSPC, "and then no more");
	check_value(ioctl_errno(nic->fd, EXANET_IOC_QUERY_SHM, &q), 0, "QUERY_SHM");
	check_value(q.segments, EXANET_SHM_MAPS, "it tells how many there are");
	check_value(q.segments_used, EXANET_SHM_MAPS, "and that all are used");
	must(!destroy(nic, c[5].segment), "SEGMENT_DESTROY");
	check_value(create(nic, &c[5]), 0, "one is free again");
	for (i = 0; i < EXANET_SHM_MAPS; i++)
		must(!destroy(nic, c[i].segment), "SEGMENT_DESTROY");
	c[0] = request(nic, a, PAGE);
	c[0].gva -= RNIC_GET(EXANET_VA_OFFSET, c[0].gva);
	c[0].len = q.aperture + PAGE;
	check_value(create(nic, &c[0]), ENOSPC, "more than the aperture");
	c[0].len = q.aperture;
	check_value(create(nic, &c[0]), 0, "one segment of all the aperture");
	c[1] = request(nic, a, PAGE);
	check_value(create(nic, &c[1]), ENOSPC, "then there is no room");
	must(!destroy(nic, c[0].segment), "SEGMENT_DESTROY");
	munmap(a, BYTES);
}

/* --- other processes ------------------------------------------------------ */

static int child(struct nic *nic, volatile uint64_t *p,
		 const struct exanet_ioc_segment_create *theirs)
{
	struct exanet_ioc_segment_create c;
	struct nic own;
	unsigned int i;
	uint8_t *a;

	/* first, because later mappings may use the same addresses */
	if (load_signal(p) != SIGSEGV || destroy(nic, theirs->segment) != EPERM)
		return 1;
	nic_open(&own);
	if (destroy(&own, theirs->segment) != ENOENT)
		return 2;
	if (map(&own, theirs, PROT_READ) != MAP_FAILED || errno != EINVAL)
		return 3;
	a = memory(BYTES);
	for (i = 0; i < 5; i++)
		show(&own, a, BYTES, &c)[0] = i;
	return sysfs_number("shm/segments_used") == 6 ? 0 : 4;
}

static void test_processes(struct nic *nic)
{
	struct exanet_ioc_segment_create c;
	uint64_t *a = memory(BYTES);
	volatile uint64_t *p = show(nic, a, BYTES, &c);
	pid_t pid;

	p[0] = 1;
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child(nic, p, &c));
	check_value(reap(pid), 0, "a child has no part in a segment");
	check(comes_to("shm/segments_used", 1), "segments die with their process");
	a[7] = 7;
	check_value(p[7], 7, "those of others do not");
	must(!destroy(nic, c.segment), "SEGMENT_DESTROY");
	munmap((void *)p, BYTES);
	munmap(a, BYTES);
}

/* --- accesses that fail --------------------------------------------------- */

static volatile sig_atomic_t signals, signals_before;

static void on_error(int sig)
{
	signals += sig == SIGUSR1;
	signals_before += sig == SIGUSR2;
}

/*
 * Waits for a signal and for @count errors more than @before.  Returns false if they do
 * not come within NIC_TIMEOUT seconds, or if there are more errors.
 */
static bool errors_come(struct nic *nic, uint32_t before, uint32_t count)
{
	double end = seconds() + NIC_TIMEOUT;

	while (nic->info->errors - before < count || !signals)
		if (seconds() > end)
			break;
	if (nic->info->errors - before != count || !signals)
		printf("# %u errors, %d signals\n", nic->info->errors - before,
		       (int)signals);
	return nic->info->errors - before == count && signals;
}

static void test_failing(struct nic *nic)
{
	struct exanet_ioc_error_signal s = { .signo = SIGUSR1 };
	struct exanet_ioc_segment_create c, d;
	uint64_t *a = memory(BYTES);
	volatile uint64_t *p = show(nic, a, BYTES, &c), *q;
	uint32_t before = nic->info->errors;

	signal(SIGUSR1, on_error);
	check_value(ioctl_errno(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), 0,
		    "ERROR_SIGNAL");
	munmap((uint8_t *)a + PAGE, PAGE);
	check_value(p[PAGE / 8], -1, "a page that is not there reads all-ones");
	check(errors_come(nic, before, 1), "that is counted and signalled");
	a[0] = 1;
	check_value(p[0], 1, "its neighbours can be read");

	signals = 0;
	mprotect((uint8_t *)a + 2 * PAGE, PAGE, PROT_READ);
	a[0] = a[2 * PAGE / 8];
	p[2 * PAGE / 8] = 5;
	check(errors_come(nic, before, 2), "a store to a read-only page fails");
	check_value(a[2 * PAGE / 8], 0, "and changes nothing");
	check_value(p[2 * PAGE / 8], 0, "it can be read");

	signals = 0;
	d = request(nic, a, PAGE);
	d.dst_ctx = (nic->q.context + 1) % EXANET_CONTEXTS;
	must(!create(nic, &d), "SEGMENT_CREATE");
	q = map(nic, &d, PROT_READ);
	must(q != MAP_FAILED, "mmap");
	check_value(q[0], -1, "a context that is not open reads all-ones");
	check(errors_come(nic, before, 3), "that is reported, too");
	s.signo = 0;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), 0,
		    "ERROR_SIGNAL: none");
	signals = 0;
	check_value(q[0], -1, "all-ones again");
	check(nic->info->errors - before == 4 && !signals, "counted, not signalled");
	s.signo = 65;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), EINVAL,
		    "ERROR_SIGNAL: no such signal");
	munmap((void *)p, BYTES);
	munmap((void *)q, PAGE);
	must(!destroy(nic, c.segment) && !destroy(nic, d.segment),
	     "SEGMENT_DESTROY");
	munmap(a, BYTES);
}

/* Stores the program name of process @pid in @comm; returns false if it has none. */
static bool process_name(pid_t pid, char *comm, size_t bytes)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = pid > 0 ? fopen(path, "r") : NULL;
	comm[0] = '\0';
	if (f && fgets(comm, bytes, f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	return comm[0];
}

/*
 * Moves the driver's interrupt threads to the CPUs in @set.  Returns the number of moved
 * threads.
 */
static int move_interrupts(const cpu_set_t *set)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char comm[32];
	int moved = 0;

	while (proc && (entry = readdir(proc)))
		if (process_name(atoi(entry->d_name), comm, sizeof(comm)) &&
		    !strncmp(comm, "irq/", 4) && strstr(comm, "exanet"))
			moved += !sched_setaffinity(atoi(entry->d_name),
						    sizeof(*set), set);
	if (proc)
		closedir(proc);
	return moved;
}

/*
 * An error occurs between two ERROR_SIGNAL requests, and its interrupt is handled after
 * both.  The error belongs to the earlier request.  The driver's threads cannot run in
 * between, because this thread has a higher priority on their CPU.
 */
static void test_signal_of_earlier_error(struct nic *nic)
{
	struct exanet_ioc_error_signal s = { .signo = SIGUSR2 };
	struct sched_param highest = { .sched_priority = 99 }, none = { 0 };
	struct exanet_ioc_segment_create c;
	uint64_t *a = memory(BYTES);
	volatile uint64_t *p = show(nic, a, BYTES, &c);
	uint32_t before = nic->info->errors;
	cpu_set_t here, others;

	munmap(a, BYTES);
	signal(SIGUSR1, on_error);
	signal(SIGUSR2, on_error);
	signals = signals_before = 0;
	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	memset(&others, 0xff, sizeof(others));
	CPU_CLR(sched_getcpu(), &others);
	must(!ioctl(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), "ERROR_SIGNAL");
	must(!sched_setscheduler(0, SCHED_FIFO, &highest), "sched_setscheduler");
	check(move_interrupts(&here) > 0, "the driver's threads share this CPU");
	check_value(p[0], -1, "a load fails between two requests for a signal");
	check_value(signals_before, 0, "the interrupt is not handled yet");
	s.signo = SIGUSR1;
	check_value(ioctl_errno(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), 0,
		    "ERROR_SIGNAL before the error's interrupt is handled");
	must(!sched_setscheduler(0, SCHED_OTHER, &none), "sched_setscheduler");
	usleep(200000);
	move_interrupts(&others);
	check_value(nic->info->errors - before, 1, "the error is counted");
	check_value(signals_before, 1, "the earlier request gets its signal");
	check_value(signals, 0, "the later request gets none");
	check_value(p[0], -1, "another load fails");
	check(errors_come(nic, before, 2), "the later request gets a signal now");
	check_value(signals_before, 1, "and the earlier request no other");
	s.signo = 0;
	must(!ioctl(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), "ERROR_SIGNAL");
	munmap((void *)p, BYTES);
	must(!destroy(nic, c.segment), "SEGMENT_DESTROY");
}

/*
 * Waits until process @pid runs program @name; returns false after NIC_TIMEOUT seconds.
 */
static bool is_named(pid_t pid, const char *name)
{
	double end = seconds() + NIC_TIMEOUT;
	char comm[32];

	while (seconds() < end) {
		if (process_name(pid, comm, sizeof(comm)) && !strcmp(comm, name))
			return true;
		usleep(10000);
	}
	return false;
}

/*
 * A child that shares the memory requests a signal and then runs another program, which
 * must not get the signal, because it may belong to another user.
 */
static void test_signal_of_another(struct nic *nic)
{
	struct exanet_ioc_error_signal s = { .signo = SIGKILL };
	struct exanet_ioc_segment_create c;
	uint64_t *a = memory(BYTES);
	volatile uint64_t *p = show(nic, a, BYTES, &c);
	uint32_t before = nic->info->errors;
	pid_t pid;
	int status;

	munmap(a, BYTES);
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		if (!ioctl(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s))
			execlp("sleep", "sleep", "600", NULL);
		_exit(1);
	}
	/* vfork() returns before the child has its new memory and name */
	check(is_named(pid, "sleep"), "the child becomes another program");
	signals = 0;
	check_value(p[0], -1, "a load fails after a child has asked for a signal");
	usleep(200000);
	s.signo = SIGUSR1;
	must(!ioctl(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), "ERROR_SIGNAL");
	check_value(p[0], -1, "and after we have");
	check(errors_come(nic, before, 2), "the library reports the errors");
	check_value(waitpid(pid, &status, WNOHANG), 0,
		    "what the child has become is not");
	kill(pid, SIGKILL);
	reap(pid);
	s.signo = 0;
	must(!ioctl(nic->fd, EXANET_IOC_ERROR_SIGNAL, &s), "ERROR_SIGNAL");
	munmap((void *)p, BYTES);
	must(!destroy(nic, c.segment), "SEGMENT_DESTROY");
}

/* --- block RAM ------------------------------------------------------------ */

static volatile uint64_t *bram_map(struct nic *nic, size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, nic->fd,
		    (off_t)EXANET_MMAP_BRAM);
}

static void test_bram(struct nic *nic)
{
	size_t bytes = sysfs_number("shm/bram");
	struct exanet_ioc_segment_create c = {
		.gva = RNIC_PREP(EXANET_GVA_COORD, nic->q.coord) |
		       EXANET_NI_VA(EXANET_NI_BRAM),
		.len = bytes,
		.dst_ctx = nic->q.context,
		.flags = RW,
	};
	volatile uint64_t *bram = bram_map(nic, bytes), *p;

	must(bram != MAP_FAILED, "mmap of block RAM");
	must(!create(nic, &c), "SEGMENT_CREATE");
	p = map(nic, &c, PROT_READ | PROT_WRITE);
	must(p != MAP_FAILED, "mmap of a segment");
	bram[1] = 0x0123456789abcdef;
	((volatile uint8_t *)bram)[8] = 0x11;
	((volatile uint16_t *)bram)[5] = 0x2222;
	((volatile uint32_t *)bram)[3] = 0x33333333;
	check_value(bram[1], 0x333333332222cd11, "block RAM, all widths");
	check_value(p[1], 0x333333332222cd11, "other nodes see it");
	p[bytes / 8 - 1] = 4;
	check(fence(nic), "a store of theirs");
	check_value(bram[bytes / 8 - 1], 4, "it is there");
	check(bram_map(nic, bytes + PAGE) == MAP_FAILED && errno == EINVAL,
	      "nothing behind it");
	munmap((void *)bram, bytes);
	munmap((void *)p, bytes);
	must(!destroy(nic, c.segment), "SEGMENT_DESTROY");
}

/*
 * Maps block RAM and creates a segment of it as an ordinary user.  Returns the errno of
 * both, or 255 if they differ.
 */
static int bram_as_user(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct exanet_ioc_segment_create c = {
			.gva = EXANET_NI_VA(EXANET_NI_BRAM),
			.len = PAGE,
			.flags = RW,
		};
		struct nic nic;
		int err;

		become(65534);
		nic_open(&nic);
		err = bram_map(&nic, PAGE) == MAP_FAILED ? errno : 0;
		_exit(create(&nic, &c) == err ? err : 255);
	}
	return reap(pid);
}

static void test_bram_users(struct nic *nic)
{
	check_value(bram_as_user(), EACCES, "ordinary users may not use block RAM");
	check(bram_map(nic, PAGE) != MAP_FAILED, "the administrator may");
	must(!set_parameter("bram_users", "Y"), "bram_users");
	check_value(bram_as_user(), 0, "others may if the administrator says so");
	must(!set_parameter("bram_users", "N"), "bram_users");
}

int main(void)
{
	struct nic nic;

	signal(SIGBUS, on_hit);
	signal(SIGSEGV, on_hit);
	nic_open(&nic);
	test_life(&nic);
	test_rights(&nic);
	test_bad_requests(&nic);
	test_exhausted(&nic);
	test_processes(&nic);
	test_failing(&nic);
	test_signal_of_earlier_error(&nic);
	test_signal_of_another(&nic);
	test_bram(&nic);
	test_bram_users(&nic);
	nic_close(&nic);
	return 0;
}
