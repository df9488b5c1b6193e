// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test of libexanet, driver and NIC together: loads and stores to other nodes, copies,
 * block RAM, accelerator.  Prints TAP.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib-harness.h"

#define PAGE	4096U
#define AT	AGENT_MARGIN	/* offset in the agent's area */
#define RW	(EXA_MAP_READ | EXA_MAP_WRITE)

static volatile uint8_t *map(uint32_t off, uint32_t len, unsigned int flags)
{
	void *p = exa_map_remote(t.dev, t.a_gva + off, len, t.agent.ctx, flags);

	if (!p)
		fail("map: %s", exa_strerror(errno));
	return p;
}

static void unmap(volatile uint8_t *p, uint32_t len)
{
	if (p)
		want("unmap", exa_unmap_remote(t.dev, (void *)p, len), 0);
}

/* --- loads and stores ----------------------------------------------------- */

static void store(volatile uint8_t *to, const uint8_t *from, unsigned int width)
{
	uint64_t word = 0;

	memcpy(&word, from, width);
	switch (width) {
	case 1:
		*to = word;
		break;
	case 2:
		*(volatile uint16_t *)to = word;
		break;
	case 4:
		*(volatile uint32_t *)to = word;
		break;
	default:
		*(volatile uint64_t *)to = word;
	}
}

static void load(uint8_t *to, const volatile uint8_t *from, unsigned int width)
{
	uint64_t word;

	switch (width) {
	case 1:
		word = *from;
		break;
	case 2:
		word = *(const volatile uint16_t *)from;
		break;
	case 4:
		word = *(const volatile uint32_t *)from;
		break;
	default:
		word = *(const volatile uint64_t *)from;
	}
	memcpy(to, &word, width);
}

/* Stores @len bytes of the pattern @seed by accesses of @width bytes. */
static void store_all(volatile uint8_t *p, uint32_t len, unsigned int width,
		      uint32_t seed)
{
	uint8_t buf[PAGE];
	uint32_t i;

	agent_fill(buf, len, seed);
	for (i = 0; i < len; i += width)
		store(p + i, buf + i, width);
}

/*
 * Loads @len bytes by accesses of @width bytes.  Returns how many of them differ from the
 * pattern @seed.
 */
static uint32_t load_bad(const volatile uint8_t *p, uint32_t len,
			 unsigned int width, uint32_t seed)
{
	uint8_t buf[PAGE];
	uint32_t i, bad = 0;

	for (i = 0; i < len; i += width)
		load(buf + i, p + i, width);
	for (i = 0; i < len; i++)
		bad += buf[i] != agent_byte(i, seed);
	return bad;
}

static void test_widths(unsigned int flags, const char *name)
{
	volatile uint8_t *p = map(AT, 2 * PAGE, flags);
	unsigned int width;

	for (width = 1; p && width <= 8; width *= 2) {
		want("clear", command(AGENT_CLEAR, AT + width, 512, 0), 0);
		store_all(p + width, 512, width, width);
		want("fence", exa_fence(t.dev), 0);
		want("bytes wrong at the target",
		     command(AGENT_VERIFY, AT + width, 512, width), 0);
		want("fill", command(AGENT_FILL, AT + PAGE, 512, 90 + width), 0);
		want("bytes wrong in loads", load_bad(p + PAGE, 512, width,
						      90 + width), 0);
		store_all(p, 64, width, 7 * width);
		want("stores that loads do not see",
		     load_bad(p, 64, width, 7 * width), 0);
	}
	want("errors", exa_remote_errors(t.dev), 0);
	unmap(p, 2 * PAGE);
	done(name);
}

static void test_places(void)
{
	volatile uint8_t *p, *q;

	want("clear", command(AGENT_CLEAR, AT, PAGE, 0), 0);
	p = map(AT + 4090, 6, RW);
	q = map(AT + 4090, 12, RW);
	if (!p || !q)
		goto out;
	want("place in the page", (uintptr_t)p % PAGE, (AT + 4090) % PAGE);
	p[5] = 0x55;
	q[6] = 0x66;
	want("fence", exa_fence(t.dev), 0);
	want("over one segment", q[5], 0x55);
	want("over the other", q[6], 0x66);
	want("neighbour", q[7], AGENT_BACKGROUND);
	want("wrong length", exa_unmap_remote(t.dev, (void *)p, 7), -EINVAL);
	want("wrong address", exa_unmap_remote(t.dev, (void *)(p + 1), 6), -EINVAL);
out:
	unmap(p, 6);
	unmap(q, 12);
	want("twice", exa_unmap_remote(t.dev, (void *)p, 6), -EINVAL);
	done("segments at any address");
}

static void test_refused(void)
{
	struct exa_shm_attr attr;
	void *p[64];
	unsigned int n;

	want("query", exa_shm_query(t.dev, &attr), 0);
	want("nothing", !exa_map_remote(t.dev, t.a_gva, 0, 0, RW) &&
	     errno == EINVAL, 1);
	want("too much", !exa_map_remote(t.dev, t.a_gva, -1, 0, RW) &&
	     errno == EINVAL, 1);
	want("more than the aperture",
	     !exa_map_remote(t.dev, t.a_gva, attr.aperture + 1, 0, RW) &&
	     errno == ENOSPC, 1);
	want("context 16", !exa_map_remote(t.dev, t.a_gva, 8, 16, RW) &&
	     errno == EINVAL, 1);
	want("no rights", !exa_map_remote(t.dev, t.a_gva, 8, 0, EXA_MAP_EARLY) &&
	     errno == EINVAL, 1);
	want("mailbox", !exa_map_remote(t.dev, exa_mbox_gva(t.agent.coord, 0), 8,
					t.agent.ctx, RW) && errno == EACCES, 1);
	for (n = 0; n < 64; n++) {
		p[n] = exa_map_remote(t.dev, t.a_gva, 8, t.agent.ctx, RW);
		if (!p[n])
			break;
	}
	want("errno", errno, ENOSPC);
	want("segments", n + attr.segments_used, attr.segments);
	while (n--)
		want("unmap", exa_unmap_remote(t.dev, p[n], 8), 0);
	want("query", exa_shm_query(t.dev, &attr), 0);
	want("segments left", attr.segments_used, 0);
	done("segments that cannot be");
}

static volatile sig_atomic_t signalled;

static void on_error(int sig)
{
	signalled = sig;
}

static void want_signal(uint32_t errors)
{
	unsigned int ms;

	for (ms = 0; ms < TEST_WAIT_MS && !signalled; ms++)
		agent_nap(1);
	want("signal", signalled, SIGUSR2);
	signalled = 0;
	want("errors", exa_remote_errors(t.dev), errors);
	want("fence", exa_fence(t.dev), -EIO);
	want("next fence", exa_fence(t.dev), 0);
}

static void test_errors(void)
{
	volatile uint8_t *p = map(AT, 3 * PAGE, RW | EXA_MAP_EARLY);

	signal(SIGUSR2, on_error);
	want("signal", exa_error_signal(t.dev, SIGUSR2), 0);
	want("no such signal", exa_error_signal(t.dev, 65), -EINVAL);
	want("lock", command(AGENT_LOCK, AT + PAGE, PROT_NONE, 0), 0);
	if (!p)
		goto out;
	p[0] = 1;
	want("good fence", exa_fence(t.dev), 0);
	want("load of no page", *(volatile uint64_t *)(p + PAGE), -1);
	want_signal(1);
	want("load of no page", *(volatile uint16_t *)(p + PAGE + 6), 0xffff);
	want_signal(2);
	p[PAGE] = 1;
	want_signal(3);
	want("lock", command(AGENT_LOCK, AT + PAGE, PROT_READ, 0), 0);
	*(volatile uint32_t *)(p + PAGE) = 1;
	want_signal(4);
	want("load", p[PAGE + 1] != 0xff, 1);
	want("unlock", command(AGENT_LOCK, AT + PAGE, PROT_READ | PROT_WRITE, 0), 0);
	p[PAGE] = 0x12;
	want("fence", exa_fence(t.dev), 0);
	want("load", p[PAGE], 0x12);
out:
	want("no signal", exa_error_signal(t.dev, 0), 0);
	unmap(p, 3 * PAGE);
	done("loads and stores that fail are reported");
}

/* Loads and stores to pages of the target that have no memory cause page faults there. */
static void test_faults(void)
{
	volatile uint8_t *p = map(AT, 64 * PAGE, RW | EXA_MAP_EARLY);
	uint32_t errors = exa_remote_errors(t.dev);
	uint32_t i, bad = 0;

	want("remap", command(AGENT_REMAP, 0, 0, 0), 0);
	for (i = 0; p && i < 64; i++)
		*(volatile uint64_t *)(p + i * PAGE + 8 * i) = 0x100 + i;
	want("fence", exa_fence(t.dev), 0);
	for (i = 0; p && i < 64; i++)
		bad += *(volatile uint64_t *)(p + i * PAGE + 8 * i) != 0x100 + i;
	want("words wrong", bad, 0);
	want("remap", command(AGENT_REMAP, 0, 0, 0), 0);
	for (i = 0, bad = 0; p && i < 64; i++)
		bad += *(volatile uint64_t *)(p + i * PAGE) != 0;
	want("words wrong of fresh pages", bad, 0);
	want("errors", exa_remote_errors(t.dev), errors);
	unmap(p, 64 * PAGE);
	done("pages that were never touched");
}

static void test_fork(void)
{
	volatile uint8_t *p = map(AT, 8, RW);
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct exa_shm_attr attr;

		if (exa_shm_query(t.dev, &attr) != -EPERM ||
		    exa_fence(t.dev) != -EPERM ||
		    exa_unmap_remote(t.dev, (void *)p, 8) != -EPERM ||
		    exa_map_remote(t.dev, t.a_gva, 8, 0, RW) ||
		    exa_bram(t.dev, NULL))
			_exit(1);
		exa_close(t.dev);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	want("child", status, 0);
	/*
	 * in loop-back the agent is this process, whose pages are now copied on a write
	 */
	want("clear", command(AGENT_CLEAR, AT, PAGE, 0), 0);
	if (p) {
		p[0] = 0x42;
		want("segment of the parent", p[0], 0x42);
	}
	unmap(p, 8);
	done("fork");
}

/* --- copies --------------------------------------------------------------- */

static int copy(void *here, uint64_t gva, uint64_t len, bool to)
{
	struct exa_copy_attr attr = {
		.src = to ? (uintptr_t)here : gva,
		.dst = to ? gva : (uintptr_t)here,
		.len = len,
		.dst_ctx = t.agent.ctx,
		.flags = to ? EXA_COPY_DST_REMOTE : EXA_COPY_SRC_REMOTE,
	};

	return exa_cdma_copy(t.dev, &attr);
}

static void test_copy(void)
{
	static const uint32_t sizes[] = { 1, 7, 64, 255, 4097, 70001, 1500000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes) && !reason[0]; i++) {
		uint32_t len = sizes[i], a = AT + 3 * i, b = AT + 5 * i;

		agent_fill(t.area + a, len, i);
		want("clear", command(AGENT_CLEAR, b, len, 0), 0);
		want("copy", copy(t.area + a, t.a_gva + b, len, true), 0);
		want("bytes wrong at the target",
		     command(AGENT_VERIFY, b, len, i), 0);
		want("fill", command(AGENT_FILL, b, len, 50 + i), 0);
		agent_clear(t.area + a, len);
		want("copy", copy(t.area + a, t.a_gva + b, len, false), 0);
		want("bytes wrong here",
		     agent_verify(t.area + a, len, 50 + i), 0);
	}
	done("copies of 1 byte to 1.5 MB, both ways");
}

static void test_copy_errors(void)
{
	struct exa_copy_attr attr = { .len = 8 };

	want("lock", command(AGENT_LOCK, AT + PAGE, PROT_NONE, 0), 0);
	want("page that is not there",
	     copy(t.area, t.a_gva + AT, 2 * PAGE, true) < 0, 1);
	want("fence", exa_fence(t.dev), -EIO);
	want("unlock", command(AGENT_LOCK, AT + PAGE, PROT_READ | PROT_WRITE, 0), 0);
	want("source here", copy((void *)8, t.a_gva + AT, 8, true), -EFAULT);
	want("window", copy(t.area, exa_gva(t.agent.coord, 6ULL << 39), 8, true),
	     -ENXIO);
	want("mailbox", copy(t.area, exa_mbox_gva(t.agent.coord, 0), 8, true),
	     -EACCES);
	want("nothing", copy(t.area, t.a_gva + AT, 0, true), -EINVAL);
	attr.flags = 4;
	want("flags", exa_cdma_copy(t.dev, &attr), -EINVAL);
	want("good again", copy(t.area, t.a_gva + AT, 8, true), 0);
	exa_fence(t.dev);
	done("copies that fail");
}

/* --- block RAM ------------------------------------------------------------ */

static void test_bram(void)
{
	uint64_t gva = exa_bram_gva(t.agent.coord);
	volatile uint8_t *far = exa_map_remote(t.dev, gva, 2 * PAGE, t.agent.ctx,
					       RW);
	volatile uint8_t *near;
	size_t bytes = 0;

	near = exa_bram(t.dev, &bytes);
	if (!near || !far) {
		fail("map: %s", exa_strerror(errno));
		done("block RAM");
		return;
	}
	want("mapped once", exa_bram(t.dev, NULL) == near, 1);
	store_all(near + bytes - 512, 512, 8, 3);
	want("bytes wrong here", load_bad(near + bytes - 512, 512, 4, 3), 0);
	store_all(far + PAGE - 256, 512, 4, 4);
	want("bytes wrong there", load_bad(far + PAGE - 256, 512, 8, 4), 0);
	agent_fill(t.area, PAGE, 5);
	want("copy", copy(t.area, gva + 13, 3001, true), 0);
	memset(t.area, 0, PAGE);
	want("copy", copy(t.area + 5, gva + 13, 3001, false), 0);
	want("byte", t.area[5 + 3000], agent_byte(3000, 5));
	want("behind it", copy(t.area, gva + bytes, 8, true), -ENXIO);
	want("fence", exa_fence(t.dev), -EIO);
	unmap(far, 2 * PAGE);
	done("block RAM of both nodes");
}

/* --- accelerator ---------------------------------------------------------- */

enum { NDF1 = 4, NDF2 = 3, LAYERS = 5, CELLS = 3 };

/* All arrays of a job of the accelerator. */
struct job {
	double matrix[CELLS][LAYERS][NDF1][NDF2];
	double x[64];
	double y[128];
	uint32_t map1[CELLS][NDF1];
	uint32_t map2[CELLS][NDF2];
	uint32_t cells[CELLS];
};

static void job_fill(struct job *j)
{
	double *m = &j->matrix[0][0][0][0];
	unsigned int c, i;

	for (i = 0; i < CELLS * LAYERS * NDF1 * NDF2; i++)
		m[i] = i % 23;
	for (i = 0; i < ARRAY_SIZE(j->x); i++)
		j->x[i] = i * 3 % 31;
	for (i = 0; i < ARRAY_SIZE(j->y); i++)
		j->y[i] = i;
	for (c = 0; c < CELLS; c++) {
		j->cells[c] = CELLS - 1 - c;
		for (i = 0; i < NDF1; i++)
			j->map1[c][i] = (c * NDF1 + i) * 8;
		for (i = 0; i < NDF2; i++)
			j->map2[c][i] = (c + i) * 6;
	}
}

static void job_do(struct job *j)
{
	unsigned int c, k, a, b;

	for (c = 0; c < CELLS; c++)
		for (k = 0; k < LAYERS; k++)
			for (a = 0; a < NDF1; a++)
				for (b = 0; b < NDF2; b++)
					j->y[j->map1[c][a] + k] +=
						j->matrix[c][k][a][b] *
						j->x[j->map2[c][b] + k];
}

static struct exa_accel_job job_at(uint64_t base, uint32_t remote)
{
	return (struct exa_accel_job) {
		.matrix = base + offsetof(struct job, matrix),
		.x = base + offsetof(struct job, x),
		.y = base + offsetof(struct job, y),
		.map1 = base + offsetof(struct job, map1),
		.map2 = base + offsetof(struct job, map2),
		.cells = base + offsetof(struct job, cells),
		.ndf1 = NDF1,
		.ndf2 = NDF2,
		.nlayers = LAYERS,
		.ncells = CELLS,
		.remote = remote,
		.dst_ctx = t.agent.ctx,
	};
}

/*
 * Copies the arrays to the global address @gva, runs a job with its arrays at @base, and
 * checks the result.  @gva and @base must be the same memory.
 */
static void job_run(const char *what, uint64_t gva, uint64_t base, uint32_t remote)
{
	struct exa_accel_job request = job_at(base, remote);
	struct job *j = (struct job *)t.area;
	struct job wanted;

	job_fill(j);
	wanted = *j;
	job_do(&wanted);
	want("copy", copy(j, gva, sizeof(*j), true), 0);
	want(what, exa_accel(t.dev, &request), 0);
	want("multiply-adds", request.ops, CELLS * LAYERS * NDF1 * NDF2);
	memset(j, 0, sizeof(*j));
	want("copy", copy(j, gva, sizeof(*j), false), 0);
	want("result", memcmp(j, &wanted, sizeof(*j)), 0);
}

static void test_accel(void)
{
	struct exa_accel_job bad = job_at(t.a_gva + AT, EXA_ACCEL_ALL);

	job_run("remote data", t.a_gva + AT, t.a_gva + AT, EXA_ACCEL_ALL);
	job_run("remote block RAM", exa_bram_gva(t.agent.coord),
		exa_bram_gva(t.agent.coord), EXA_ACCEL_ALL);
	/*
	 * only with an agent on this node: addresses that are not remote use the caller's
	 * context
	 */
	if (t.agent.coord == exa_coord(t.dev))
		job_run("block RAM", exa_bram_gva(t.agent.coord), 0, 0);
	bad.nlayers = 0;
	want("no layers", exa_accel(t.dev, &bad), -EINVAL);
	bad = job_at(t.a_gva + AT, 0x40);
	want("unknown array", exa_accel(t.dev, &bad), -EINVAL);
	bad = job_at(t.a_gva + AT, EXA_ACCEL_ALL);
	bad.x = exa_mbox_gva(t.agent.coord, 0);
	want("mailbox", exa_accel(t.dev, &bad), -EACCES);
	bad = job_at(exa_gva(t.agent.coord, 6ULL << 39), EXA_ACCEL_ALL);
	want("window", exa_accel(t.dev, &bad), -ENXIO);
	done("accelerator");
}

/*
 * Runs @count jobs on its own memory.  Returns 0, 1 if the NIC is not available, or 2
 * after a wrong result.
 */
static int jobs_do(unsigned int count)
{
	static struct job job;
	struct exa_accel_job request;
	struct exa_dev *dev;
	struct job wanted;
	uint64_t xva;

	if (exa_open(NULL, &dev) || exa_xva(dev, &job, sizeof(job), &xva))
		return 1;
	request = job_at(exa_gva(exa_coord(dev), xva), EXA_ACCEL_ALL);
	request.dst_ctx = exa_ctx(dev);
	while (count--) {
		job_fill(&job);
		wanted = job;
		job_do(&wanted);
		if (exa_accel(dev, &request) ||
		    memcmp(&job, &wanted, sizeof(job)))
			return 2;
	}
	return 0;
}

static void test_accel_many(void)
{
	pid_t pid[4];
	int status;
	unsigned int i;

	fflush(stdout);
	for (i = 0; i < ARRAY_SIZE(pid); i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(jobs_do(i ? 10 : -1));
	}
	agent_nap(TEST_LATER_MS);
	kill(pid[0], SIGKILL);
	for (i = 0; i < ARRAY_SIZE(pid); i++) {
		waitpid(pid[i], &status, 0);
		want(i ? "other process" : "killed process", status,
		     i ? 0 : SIGKILL);
	}
	done("accelerator, four processes, of which one is killed");
}

/* -------------------------------------------------------------------------- */

static void run_all(void)
{
	test_widths(RW, "loads and stores of all widths");
	test_widths(RW | EXA_MAP_EARLY,
		    "loads and stores of all widths, early acknowledgement");
	test_places();
	test_refused();
	test_errors();
	test_faults();
	test_fork();
	test_copy();
	test_copy_errors();
	test_bram();
	test_accel();
	test_accel_many();
}
