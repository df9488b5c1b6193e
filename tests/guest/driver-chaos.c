/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random system calls on the NIC in four threads, among them fork() and close() of files
 * that other threads use, until the process ends or is killed.  Then the next process
 * does the same.  At the end the NIC must have all its resources again, and transfer
 * data.
 *
 *   driver-chaos [SECONDS [SEED]]
 *
 * The threads race, so a seed repeats the calls of each thread, but not their order.
 * Errors of the driver are in the kernel's log, which driver.test reads.
 */
#include "driver-common.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#define SECONDS		60
#define THREADS		4
#define FILES		4
#define ROUND_MS	1500	/* longest life of a process */
#define NEVER		1e6	/* seconds; no process lives so long */
#define USER		4711	/* user with two named jobs, and without privileges */
#define STRANGER	4712	/* user without a named job */
#define MAP		"job_map"

/*
 * All mappings are in the arena, at an address that the kernel never chooses, so that
 * no munmap() of a thread hits a stack or the C library.
 */
#define ARENA		((uint8_t *)(1UL << 44))
#define SLOT_PAGES	16
#define SLOT_BYTES	(SLOT_PAGES * PAGE)
#define SLOTS		32

enum slot_kind { HOLE, MEMORY, SCRATCHPAD, OTHER };

/* An open file of the NIC, its context, and this process's window over the arena. */
struct file {
	atomic_int fd;		/* -1: no file */
	unsigned int context, coord, window;	/* window: of the arena */
};

enum call {
	OPEN, CLOSE, QUERY, MAP_WINDOW, EVENTFD, SET_JOB, QUERY_SHM, SEGMENT_CREATE,
	SEGMENT_DESTROY, ERROR_SIGNAL, CDMA, ACCEL, BAD_IOCTL, POLL, READ, MMAP_PAGE,
	MMAP_SEGMENT, MMAP_BRAM, MMAP_MEMORY, MUNMAP, MREMAP, PROTECT, TOUCH, TRANSFER,
	FORK, CALLS
};

static const char *const call_name[CALLS] = {
	"open", "close", "query", "map_window", "eventfd", "set_job", "query_shm",
	"segment_create", "segment_destroy", "error_signal", "cdma", "accel", "bad_ioctl",
	"poll", "read", "mmap_page", "mmap_segment", "mmap_bram", "mmap_memory", "munmap",
	"mremap", "protect", "touch", "transfer", "fork",
};

/* Returns true for calls that succeed at least once in a minute of random calls. */
static bool call_must_succeed(enum call call)
{
	return call != BAD_IOCTL;
}

/* Counts of calls, which a process shares with its parent. */
struct tally {
	atomic_uint tried[CALLS], succeeded[CALLS];
};

/* State of one process. */
struct chaos {
	struct file files[FILES];
	/* enum slot_kind; may be out of date, as threads race */
	atomic_int kind[SLOTS];
	/* results of SEGMENT_CREATE; may be out of date */
	uint64_t segment_offset[16];
	struct tally *tally;
	double end;
};

struct thread {
	struct chaos *chaos;
	uint64_t random;
	pthread_t id;
};

/* Target of siglongjmp() after a bad access of this thread; NULL: none is expected. */
static __thread sigjmp_buf *volatile landing;

static uint64_t next_random(struct thread *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random * 0x2545f4914f6cdd1dULL;
}

/* Returns a random number below @n. */
static unsigned int below(struct thread *t, unsigned int n)
{
	return (next_random(t) >> 32) % n;
}

static bool one_in(struct thread *t, unsigned int n)
{
	return !below(t, n);
}

static void on_bad_access(int signo)
{
	if (landing)
		siglongjmp(*landing, 1);
	/* a defect of this program: the access is repeated, and ends the process */
	signal(signo, SIG_DFL);
}

static void on_nothing(int signo)
{
	(void)signo;
}

static struct file *any_file(struct thread *t)
{
	return &t->chaos->files[below(t, FILES)];
}

static uint8_t *any_place(struct thread *t)
{
	return ARENA + below(t, SLOTS * SLOT_PAGES) * PAGE;
}

/* Returns a slot of kind @kind, or a random slot if 2 * SLOTS tries find none. */
static unsigned int find_slot(struct thread *t, enum slot_kind kind)
{
	unsigned int slot = 0, i;

	for (i = 0; i < 2 * SLOTS; i++) {
		slot = below(t, SLOTS);
		if (t->chaos->kind[slot] == (int)kind)
			break;
	}
	return slot;
}

/* Returns an address in a slot; most often the slot has memory. */
static uint8_t *any_memory(struct thread *t)
{
	return ARENA + find_slot(t, MEMORY) * SLOT_BYTES + below(t, SLOT_BYTES);
}

/* Returns a GVA for the address @at; a few of them have another node or window. */
static uint64_t any_gva(struct thread *t, const struct file *f, const void *at)
{
	uint64_t coord = f->coord ^ (one_in(t, 8) ? 1 : 0);
	uint64_t window = one_in(t, 16) ? below(t, 8) : f->window;

	return RNIC_PREP(EXANET_GVA_COORD, coord) |
	       RNIC_PREP(EXANET_VA_WINDOW, window) |
	       RNIC_PREP(EXANET_VA_OFFSET, (uintptr_t)at);
}

/* --- files ---------------------------------------------------------------- */

static bool do_open(struct thread *t)
{
	struct exanet_ioc_map_window m = { .va = (uintptr_t)ARENA };
	struct exanet_ioc_query q;
	struct file *f = any_file(t);
	int fd, none = -1;

	fd = open(NIC_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (!ioctl(fd, EXANET_IOC_QUERY, &q) &&
	    !ioctl(fd, EXANET_IOC_MAP_WINDOW, &m) &&
	    atomic_compare_exchange_strong(&f->fd, &none, fd)) {
		f->context = q.context;
		f->coord = q.coord;
		f->window = m.window;
		return true;
	}
	close(fd);
	return true;
}

/*
 * Closes a file in one of four calls.  Mappings and calls of other threads may still use
 * it.
 */
static bool do_close(struct thread *t)
{
	int fd = one_in(t, 4) ? atomic_exchange(&any_file(t)->fd, -1) : -1;

	return fd >= 0 && !close(fd);
}

static bool do_poll(struct thread *t)
{
	struct pollfd p = { .fd = any_file(t)->fd, .events = POLLIN };

	return poll(&p, 1, below(t, 3)) >= 0;
}

static bool do_read(struct thread *t)
{
	uint64_t events;

	return read(any_file(t)->fd, &events, one_in(t, 8) ? 4 : 8) == 8;
}

/* --- ioctl() -------------------------------------------------------------- */

static bool do_query(struct thread *t)
{
	struct exanet_ioc_query q;

	return !ioctl(any_file(t)->fd, EXANET_IOC_QUERY,
		      one_in(t, 8) ? (void *)any_place(t) : &q);
}

static bool do_map_window(struct thread *t)
{
	struct exanet_ioc_map_window m = { .va = next_random(t) >> 16 };

	if (one_in(t, 2))
		m.va = (uintptr_t)ARENA;
	return !ioctl(any_file(t)->fd, EXANET_IOC_MAP_WINDOW, &m);
}

static bool do_eventfd(struct thread *t)
{
	int fd = one_in(t, 2) ? eventfd(0, EFD_CLOEXEC) : -1;
	struct exanet_ioc_eventfd e = { .fd = one_in(t, 8) ? 0 : fd };
	int ret = ioctl(any_file(t)->fd, EXANET_IOC_EVENTFD, &e);

	if (fd >= 0)
		close(fd);
	return !ret;
}

/*
 * Sets the job of an open file, or of a new file, because segments of most open files
 * prevent the change.
 */
static bool do_set_job(struct thread *t)
{
	struct exanet_ioc_set_job j = { .job = below(t, 4) };
	int fd = one_in(t, 2) ? open(NIC_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
	int ret = ioctl(fd >= 0 ? fd : any_file(t)->fd, EXANET_IOC_SET_JOB, &j);

	if (fd >= 0)
		close(fd);
	return !ret;
}

static bool do_query_shm(struct thread *t)
{
	struct exanet_ioc_query_shm q;

	return !ioctl(any_file(t)->fd, EXANET_IOC_QUERY_SHM, &q);
}

static bool do_segment_create(struct thread *t)
{
	struct file *f = any_file(t);
	struct exanet_ioc_segment_create c = {
		.gva = any_gva(t, f, any_place(t)),
		.len = (1 + below(t, SLOT_PAGES)) * PAGE,
		.dst_ctx = one_in(t, 8) ? below(t, 20) : f->context,
		.flags = one_in(t, 8) ? below(t, 16) : 1 + below(t, 3),
	};

	if (ioctl(f->fd, EXANET_IOC_SEGMENT_CREATE, &c))
		return false;
	if (c.segment < 16)
		t->chaos->segment_offset[c.segment] = c.offset;
	return true;
}

static bool do_segment_destroy(struct thread *t)
{
	struct exanet_ioc_segment_destroy d = { .segment = below(t, 17) };

	return !ioctl(any_file(t)->fd, EXANET_IOC_SEGMENT_DESTROY, &d);
}

static bool do_error_signal(struct thread *t)
{
	static const unsigned int numbers[] = { 0, SIGUSR1, SIGUSR1, 65 };
	struct exanet_ioc_error_signal s = { .signo = numbers[below(t, 4)] };

	return !ioctl(any_file(t)->fd, EXANET_IOC_ERROR_SIGNAL, &s);
}

static bool do_cdma(struct thread *t)
{
	struct file *f = any_file(t);
	struct exanet_ioc_cdma c = {
		.flags = below(t, 4),
		.dst_ctx = one_in(t, 8) ? below(t, 17) : f->context,
		.len = one_in(t, 16) ? 1UL << 30 : 1 + below(t, 2 * PAGE),
	};
	uint8_t *src = any_memory(t), *dst = any_memory(t);

	c.src = c.flags & EXANET_CDMA_SRC_REMOTE ? any_gva(t, f, src) :
						   (uintptr_t)src;
	c.dst = c.flags & EXANET_CDMA_DST_REMOTE ? any_gva(t, f, dst) :
						   (uintptr_t)dst;
	return !ioctl(f->fd, EXANET_IOC_CDMA, &c);
}

static bool do_accel(struct thread *t)
{
	struct file *f = any_file(t);
	struct exanet_ioc_accel a = {
		.ndf1 = 1 + below(t, 8),
		.ndf2 = 1 + below(t, 8),
		.nlayers = 1 + below(t, 4),
		.ncells = 1 + below(t, 4),
		.remote = one_in(t, 8) ? below(t, 256) : 0x3f,
		.dst_ctx = f->context,
	};

	a.matrix = any_gva(t, f, any_memory(t)) & ~63ULL;
	a.x = any_gva(t, f, any_memory(t)) & ~63ULL;
	a.y = any_gva(t, f, any_memory(t)) & ~63ULL;
	a.map1 = any_gva(t, f, any_memory(t)) & ~63ULL;
	a.map2 = any_gva(t, f, any_memory(t)) & ~63ULL;
	a.cells = any_gva(t, f, any_memory(t)) & ~63ULL;
	return !ioctl(f->fd, EXANET_IOC_ACCEL, &a);
}

/* Random numbers and random addresses as arguments. */
static bool do_bad_ioctl(struct thread *t)
{
	unsigned long number = one_in(t, 2) ? next_random(t) & 0xffffffff :
			       (unsigned long)_IOC(below(t, 4), EXANET_IOC,
						   below(t, 12), below(t, 128));

	return !ioctl(any_file(t)->fd, number, any_place(t) + below(t, PAGE));
}

/* --- address space -------------------------------------------------------- */

static bool map_file(struct thread *t, unsigned int slot, size_t bytes, uint64_t offset,
		     enum slot_kind kind)
{
	int prot = one_in(t, 8) ? (int)below(t, 8) : PROT_READ | PROT_WRITE;
	int flags = MAP_FIXED | (one_in(t, 16) ? MAP_PRIVATE : MAP_SHARED);

	if (kind == OTHER && one_in(t, 2))
		prot = PROT_READ;
	if (mmap(ARENA + slot * SLOT_BYTES, bytes, prot, flags, any_file(t)->fd,
		 offset) == MAP_FAILED)
		return false;
	t->chaos->kind[slot] = kind;
	return true;
}

static bool do_mmap_page(struct thread *t)
{
	unsigned int page = one_in(t, 2) ? EXANET_PAGE_SCRATCHPAD : below(t, 6);

	return map_file(t, below(t, SLOTS), one_in(t, 16) ? 2 * PAGE : PAGE,
			(off_t)page << EXANET_MMAP_SHIFT,
			page == EXANET_PAGE_SCRATCHPAD ? SCRATCHPAD : OTHER);
}

static bool do_mmap_segment(struct thread *t)
{
	uint64_t offset = t->chaos->segment_offset[below(t, 16)];

	return map_file(t, below(t, SLOTS), (1 + below(t, 4)) * PAGE,
			offset ? offset : EXANET_MMAP_APERTURE, OTHER);
}

static bool do_mmap_bram(struct thread *t)
{
	return map_file(t, below(t, SLOTS), (1 + below(t, SLOT_PAGES)) * PAGE,
			EXANET_MMAP_BRAM + below(t, 4) * PAGE, OTHER);
}

static bool do_mmap_memory(struct thread *t)
{
	unsigned int slot = below(t, SLOTS);

	if (mmap(ARENA + slot * SLOT_BYTES, SLOT_BYTES, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_ANONYMOUS |
		 (one_in(t, 4) ? MAP_SHARED : MAP_PRIVATE), -1, 0) == MAP_FAILED)
		return false;
	t->chaos->kind[slot] = MEMORY;
	return true;
}

static bool do_munmap(struct thread *t)
{
	unsigned int slot = below(t, SLOTS), page = 0, pages = SLOT_PAGES;

	if (one_in(t, 2)) {
		page = below(t, SLOT_PAGES);
		pages = 1 + below(t, SLOT_PAGES - page);
	} else {
		t->chaos->kind[slot] = HOLE;
	}
	return !munmap(ARENA + slot * SLOT_BYTES + page * PAGE, pages * PAGE);
}

static bool do_mremap(struct thread *t)
{
	unsigned int from = below(t, SLOTS), to = below(t, SLOTS);
	size_t old = one_in(t, 2) ? PAGE : (1 + below(t, SLOT_PAGES)) * PAGE;
	size_t new = one_in(t, 2) ? old : (1 + below(t, SLOT_PAGES)) * PAGE;
	uint8_t *at = ARENA + from * SLOT_BYTES;

	/* in place, which may shrink the mapping or fail; or into another slot */
	if (one_in(t, 4))
		return mremap(at, old, new, 0) != MAP_FAILED;
	if (mremap(at, old, new, MREMAP_MAYMOVE | MREMAP_FIXED,
		   ARENA + to * SLOT_BYTES) == MAP_FAILED)
		return false;
	t->chaos->kind[to] = t->chaos->kind[from];
	t->chaos->kind[from] = HOLE;
	return true;
}

static bool do_protect(struct thread *t)
{
	uint8_t *at = ARENA + below(t, SLOTS) * SLOT_BYTES;
	size_t bytes = (1 + below(t, SLOT_PAGES)) * PAGE;

	if (one_in(t, 2))
		return !madvise(at, bytes, MADV_DONTNEED);
	return !mprotect(at, bytes, one_in(t, 3) ? PROT_READ : PROT_READ | PROT_WRITE);
}

/* --- accesses ------------------------------------------------------------- */

/* Loads or stores one word at a random address of the arena. */
static bool do_touch(struct thread *t)
{
	volatile uint64_t *at = (volatile uint64_t *)
		(any_place(t) + (below(t, PAGE) & ~7U));
	bool store = one_in(t, 2);
	uint64_t value = next_random(t);
	sigjmp_buf here;

	if (sigsetjmp(here, 1)) {
		landing = NULL;
		return false;
	}
	landing = &here;
	if (store)
		*at = value;
	else
		(void)*at;
	landing = NULL;
	return true;
}

/* Starts an RDMA write, and does not wait for its end. */
static bool do_transfer(struct thread *t)
{
	unsigned int slot = find_slot(t, SCRATCHPAD);
	volatile struct exanet_channel *c = (volatile struct exanet_channel *)
		(ARENA + slot * SLOT_BYTES) + below(t, EXANET_WRITE_CHANNELS);
	struct file *f = any_file(t);
	unsigned int ctx = one_in(t, 8) ? below(t, 16) : f->context;
	uint32_t bytes = 1 + below(t, one_in(t, 8) ? SLOT_BYTES : PAGE);
	uint8_t *src = any_memory(t), *dst = any_memory(t);
	uint64_t gva = any_gva(t, f, dst), flags = 0;
	uint32_t token = 1 + below(t, 1000);
	sigjmp_buf here;

	if (one_in(t, 4))
		flags |= EXANET_CHANNEL_IRQ_DONE;
	/* only a scratchpad may get the stores, because memory would accept them too */
	if (t->chaos->kind[slot] != SCRATCHPAD)
		return false;
	if (sigsetjmp(here, 1)) {
		landing = NULL;
		return false;
	}
	landing = &here;
	c->src = (uintptr_t)src;
	c->dst = gva;
	c->ctrl = RNIC_PREP(EXANET_CHANNEL_LENGTH, bytes) |
		  RNIC_PREP(EXANET_CHANNEL_DST_CTX, ctx) | flags;
	c->token = token;
	landing = NULL;
	return true;
}

/* --- fork() and kill() ---------------------------------------------------- */

/* The child has the files, but no part in their contexts.  Does not return. */
static void in_child(struct thread *t)
{
	unsigned int i;

	for (i = below(t, 20); i; i--) {
		if (one_in(t, 3))
			do_open(t);
		else if (one_in(t, 2))
			do_query(t);
		else
			do_mmap_page(t);
	}
	if (one_in(t, 2))
		usleep(below(t, 5000));
	_exit(0);
}

static bool do_fork(struct thread *t)
{
	pid_t pid;

	if (!one_in(t, 8))
		return false;
	pid = fork();
	if (pid < 0)
		return false;
	if (!pid)
		in_child(t);
	if (one_in(t, 2)) {
		usleep(below(t, 3000));
		kill(pid, SIGKILL);
	}
	return waitpid(pid, NULL, 0) == pid;
}

/* --- threads and processes ------------------------------------------------ */

static bool (*const call_function[CALLS])(struct thread *) = {
	do_open, do_close, do_query, do_map_window, do_eventfd, do_set_job, do_query_shm,
	do_segment_create, do_segment_destroy, do_error_signal, do_cdma, do_accel,
	do_bad_ioctl, do_poll, do_read, do_mmap_page, do_mmap_segment, do_mmap_bram,
	do_mmap_memory, do_munmap, do_mremap, do_protect, do_touch, do_transfer, do_fork,
};

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	struct tally *tally = t->chaos->tally;
	enum call call;

	while (seconds() < t->chaos->end) {
		call = below(t, CALLS);
		if (one_in(t, 4))
			call = TRANSFER;
		tally->tried[call]++;
		if (call_function[call](t))
			tally->succeeded[call]++;
	}
	return NULL;
}

/*
 * Runs the threads of a process.  Does not return; the exit kills threads that wait in
 * the kernel.
 */
static void process_main(struct tally *tally, uint64_t seed, double life)
{
	static struct chaos chaos;
	static struct thread threads[THREADS];
	unsigned int i;

	if (seed & 1)
		become(seed & 2 ? USER : STRANGER);
	signal(SIGSEGV, on_bad_access);
	signal(SIGBUS, on_bad_access);
	signal(SIGUSR1, on_nothing);
	chaos.tally = tally;
	chaos.end = seconds() + life;
	for (i = 0; i < FILES; i++)
		chaos.files[i].fd = -1;
	for (i = 0; i < THREADS; i++) {
		threads[i].chaos = &chaos;
		threads[i].random = (seed * THREADS + i + 1) * 0x9e3779b97f4a7c15ULL;
	}
	/* memory and files to begin with, because most calls need a file */
	for (i = 0; i < SLOTS; i++)
		i % 2 ? do_mmap_memory(&threads[0]) : do_open(&threads[0]);
	for (i = 0; i < THREADS; i++) {
		if (i)
			must(!pthread_create(&threads[i].id, NULL, thread_main,
					     &threads[i]), "pthread_create");
	}
	thread_main(&threads[0]);
	_exit(0);
}

/* Waits for the end of a process; returns false after four times NIC_TIMEOUT. */
static bool reap_in_time(pid_t pid, int *status)
{
	double end = seconds() + 4 * NIC_TIMEOUT;
	pid_t got;

	while (!(got = waitpid(pid, status, WNOHANG))) {
		if (seconds() > end)
			return false;
		usleep(1000);
	}
	return got == pid;
}

/*
 * Runs processes one after the other for @length seconds.  Kills half of them, and checks
 * that each process ends in time, with exit code 0 or by SIGKILL.
 */
static void run_processes(struct tally *tally, uint64_t seed, double length)
{
	struct thread t = { .random = seed * 0x9e3779b97f4a7c15ULL + 1 };
	double end = seconds() + length;
	unsigned int rounds = 0, killed = 0, bad = 0;
	bool in_time = true;
	int status = 0;

	for (; in_time && seconds() < end; rounds++) {
		unsigned int life = 100 + below(&t, ROUND_MS - 100);
		bool kill_it = one_in(&t, 2);
		uint64_t process_seed = next_random(&t);
		pid_t pid = fork();

		must(pid >= 0, "fork");
		if (!pid)
			process_main(tally, process_seed,
				     kill_it ? NEVER : life / 1000.0);
		if (kill_it) {
			usleep(life * 1000);
			kill(pid, SIGKILL);
			killed++;
		}
		in_time = reap_in_time(pid, &status);
		if (WIFEXITED(status) ? WEXITSTATUS(status) :
		    WTERMSIG(status) != SIGKILL) {
			printf("# process %u ended with status 0x%x\n", rounds, status);
			bad++;
		}
	}
	printf("# %u processes, %u of them killed\n", rounds, killed);
	check(in_time, "processes with random calls end in time");
	check_value(bad, 0, "processes with random calls end well or by SIGKILL");
}

/* --- afterwards ----------------------------------------------------------- */

/*
 * Checks that each kind of call has succeeded.  In less than a minute random calls may
 * miss a kind, so only opens and transfers are checked then.
 */
static void check_tally(const struct tally *tally, double length)
{
	unsigned int c, missing = 0;

	for (c = 0; c < CALLS; c++) {
		printf("# %-16s %8u, %8u succeeded\n", call_name[c],
		       tally->tried[c], tally->succeeded[c]);
		missing += call_must_succeed(c) && !tally->succeeded[c];
	}
	check(tally->succeeded[OPEN] && tally->succeeded[TRANSFER],
	      "random calls have opened files and started transfers");
	if (length >= SECONDS)
		check_value(missing, 0, "random calls of each kind have succeeded");
}

/* Checks that a transfer and a copy of one process succeed. */
static void check_usable(void)
{
	const size_t bytes = 64 * PAGE;
	uint8_t *src = memory(bytes), *dst = memory(bytes);
	struct exanet_ioc_cdma c = { .len = bytes, .flags = EXANET_CDMA_DST_REMOTE };
	struct nic nic;

	nic_open(&nic);
	fill(src, bytes, 1);
	check(DONE_STATE(nic_copy(&nic, dst, src, bytes)) && filled(dst, bytes, 1),
	      "a transfer succeeds after random calls");
	fill(src, bytes, 2);
	c.src = (uintptr_t)src;
	c.dst = nic_gva(&nic, dst);
	c.dst_ctx = nic.q.context;
	check(!ioctl(nic.fd, EXANET_IOC_CDMA, &c) && filled(dst, bytes, 2),
	      "a copy succeeds after random calls");
	nic_close(&nic);
}

int main(int argc, char **argv)
{
	double length = argc > 1 ? strtod(argv[1], NULL) : SECONDS;
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t seed;

	must(tally != MAP_FAILED, "mmap");
	must(getrandom(&seed, sizeof(seed), 0) == sizeof(seed), "getrandom");
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	printf("# seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	must(!set_parameter(MAP, "4711:2 4711:3"), MAP);
	run_processes(tally, seed, length);
	check_tally(tally, length);
	check(comes_to("contexts_in_use", 0), "all contexts have been given back");
	check_value(set_parameter(MAP, "-4711:2 -4711:3"), 0,
		    "and all jobs of the processes");
	check(comes_to("shm/segments_used", 0), "all segments have been given back");
	check_usable();
	return 0;
}
