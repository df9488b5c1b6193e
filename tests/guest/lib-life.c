// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test of libexanet, driver and NIC together: errors, waits, processes, threads.  Prints
 * TAP.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib-counter.h"
#include "lib-harness.h"
#include "rnic/exanet/regs.h"

/* --- errors --------------------------------------------------------------- */

/* Fails the test unless @ret is one of the errors of a bad address. */
static void want_bad(const char *what, int ret)
{
	if (ret != -ENXIO && ret != -EFAULT && ret != -EACCES)
		fail("%s: got %d (%s)", what, ret, exa_strerror(ret));
}

static void test_error_addresses(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 5000);
	uint8_t *hole = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	struct exa_read_attr rattr;

	attr.dst_gva = exa_gva(t.agent.coord, 6ULL << 39);
	want("window that is not mapped", exa_write(t.dev, &attr, NULL), -ENXIO);
	/* no process has memory at the first page of a window */
	attr.dst_gva = t.a_gva & ~EXANET_VA_OFFSET;
	want_bad("nothing there", exa_write(t.dev, &attr, NULL));
	attr = write_attr(0, AGENT_MARGIN, 5000);
	attr.src = hole;
	want("source that cannot be read", exa_write(t.dev, &attr, NULL), -EFAULT);
	attr.src = (void *)8;
	want("null page as source", exa_write(t.dev, &attr, NULL), -EFAULT);
	attr.src = (void *)0xffff888000000000ULL;
	want_bad("kernel memory as source", exa_write(t.dev, &attr, NULL));

	rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 5000);
	rattr.src_va = 8;
	want("read of a null page", exa_read(t.dev, &rattr, TEST_WAIT_MS), -EFAULT);
	rattr.src_va = 0xffff888000000000ULL;
	want_bad("read of kernel memory", exa_read(t.dev, &rattr, TEST_WAIT_MS));
	rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 5000);
	/* the owner's errors arrive as a notification, and so does this local one */
	rattr.dst = hole;
	want_bad("read to nowhere", exa_read(t.dev, &rattr, TEST_WAIT_MS));
	munmap(hole, 65536);
	done("errors: addresses");
}

static void test_error_read_only(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 12288);
	uint32_t page = AGENT_MARGIN + 4096;

	want("fill", command(AGENT_FILL, AGENT_MARGIN, 12288, 5), 0);
	want("lock", command(AGENT_LOCK, page, PROT_READ, 0), 0);
	agent_fill(t.area, 12288, 6);
	want_bad("read-only page", exa_write(t.dev, &attr, NULL));
	want("unlock", command(AGENT_LOCK, page, PROT_READ | PROT_WRITE, 0), 0);
	want("clear", command(AGENT_CLEAR, AGENT_MARGIN, 12288, 0), 0);
	want("write", exa_write(t.dev, &attr, NULL), 0);
	want("bytes wrong", command(AGENT_VERIFY, AGENT_MARGIN, 12288, 6), 0);
	done("errors: read-only page, and good again");
}

/* The NIC refuses a write and a message to a context that no process has opened. */
static void test_error_context(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 500);
	struct exa_mbox_addr to = t.agent;
	struct exa_status st;
	int ctx, ret, refused = 0;
	uint8_t byte = 0;

	for (ctx = 0; ctx < 16 && !refused; ctx++) {
		if (ctx == t.agent.ctx || (to.coord == exa_coord(t.dev) &&
					   (uint32_t)ctx == exa_ctx(t.dev)))
			continue;
		attr.dst_ctx = ctx;
		ret = exa_write(t.dev, &attr, &st);
		if (ret == -EACCES) {
			refused = 1;
			to.ctx = ctx;
			want("code", st.code, EXANET_RESP_PROTECTION);
		}
	}
	want("a context that is not open", refused, 1);
	if (refused)
		want("message there", exa_send(t.dev, &to, &byte, 1), -EACCES);
	to = t.agent;
	done("errors: context that is not open");
}

/* Root may join any job.  A context then cannot reach those of the old job. */
static void test_error_job(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 500);
	struct exa_read_attr rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 500);
	struct exa_dev *dev;
	struct exa_attr a;

	if (!want("open", exa_open(NULL, &dev), 0)) {
		done("errors: other job");
		return;
	}
	want("query", exa_query(dev, &a), 0);
	want("job 0", exa_job_set(dev, 0), -EINVAL);
	want("job 4096", exa_job_set(dev, 4096), -EINVAL);
	want("job", exa_job_set(dev, a.job == 4095 ? 1 : a.job + 1), 0);
	want("write", exa_write(dev, &attr, NULL), -EACCES);
	want("message", exa_send(dev, &t.agent, &attr, 8), -EACCES);
	want("read", exa_read(dev, &rattr, TEST_WAIT_MS), -EACCES);
	want("job", exa_job_set(dev, a.job), 0);
	want("write in the right job", exa_write(dev, &attr, NULL), 0);
	exa_close(dev);
	done("errors: other job");
}

/*
 * The agent's pages are replaced and have no memory.  The NIC must not use old
 * translations, and needs no help of the process.
 */
static void test_remap(void)
{
	struct exa_write_attr attr = write_attr(9, AGENT_MARGIN + 1, 300000);
	unsigned int round;

	for (round = 0; round < 5 && !reason[0]; round++) {
		want("remap", command(AGENT_REMAP, 0, 0, 0), 0);
		/* the command writes only to guards, not to the target */
		want("clear", command(AGENT_CLEAR, AGENT_MARGIN, 1, 0), 0);
		want("clear", command(AGENT_CLEAR, AGENT_MARGIN + 300002, 1, 0), 0);
		if (!agent_remap(t.area))
			fail("remap");
		want("pages of zeros", exa_write(t.dev, &attr, NULL), 0);
		agent_fill(t.area + 9, 300000, round);
		want("write", exa_write(t.dev, &attr, NULL), 0);
		want("bytes wrong",
		     command(AGENT_VERIFY, AGENT_MARGIN + 1, 300000, round), 0);
	}
	done("pages that change and pages never touched");
}

/*
 * Transfers to a node that does not exist, and a device that is closed during a transfer.
 */
static void test_close_busy(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 100000);
	struct exa_mbox_addr to = t.agent;
	struct exa_dev *dev;
	int i;

	to.coord = attr.dst_gva = 0;
	to.coord = 0x155555;
	attr.dst_gva = exa_gva(to.coord, 0);
	if (want("open", exa_open(NULL, &dev), 0)) {
		for (i = 0; i < 8; i++) {
			want("post", exa_write_post(dev, &attr) >= 0, 1);
			want("post", exa_msg_post(dev, &to, &i, 4, 0) >= 0, 1);
		}
		attr = write_attr(0, AGENT_MARGIN, AGENT_TRANSFER);
		want("post", exa_write_post(dev, &attr) >= 0, 1);
		exa_close(dev);
	}
	/* the rest of these transfers must not affect this write */
	write_one(5, 6, 70000, 123);
	done("close with transfers in flight");
}

/* --- waiting -------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void test_wait_timeout(void)
{
	int64_t start;
	uint8_t byte;
	int ret, tries = 0;

	exa_arm(t.dev);
	exa_ack(t.dev);
	start = now_ms();
	do {
		ret = exa_wait(t.dev, 100);
	} while (ret == 1 && ++tries < 5);
	want("wait", ret, 0);
	if (now_ms() - start < 95)
		fail("woke after %d ms", (int)(now_ms() - start));
	exa_disarm(t.dev);
	start = now_ms();
	want("recv", exa_recv(t.echo, &byte, 1, NULL, 100), -ETIMEDOUT);
	if (now_ms() - start < 95)
		fail("recv ended after %d ms", (int)(now_ms() - start));
	done("waiting with time-out");
}

/* Waits for a message by exa_wait(), by poll() of the device, and by an eventfd. */
static void test_wait_message(void)
{
	struct agent_msg m = {
		.op = htole32(AGENT_LATER),
		.len = htole32(TEST_LATER_MS),
	};
	struct pollfd pfd = { .events = POLLIN };
	int efd = eventfd(0, EFD_NONBLOCK), mode, tries;
	uint64_t count;

	want("eventfd", exa_eventfd(t.dev, efd), 0);
	for (mode = 0; mode < 3 && !reason[0]; mode++) {
		pfd.fd = mode == 1 ? exa_fd(t.dev) : efd;
		command_post(&m);
		exa_arm(t.dev);
		for (tries = 0; !exa_mbox_peek(t.commands) && tries < 20; tries++) {
			if (mode == 0) {
				if (exa_wait(t.dev, TEST_WAIT_MS) == 0)
					fail("no wake-up");
				continue;
			}
			if (poll(&pfd, 1, TEST_WAIT_MS) != 1)
				fail("poll %d", mode);
			exa_ack(t.dev);
			if (mode == 2 && read(efd, &count, 8) != 8)
				fail("eventfd not readable");
		}
		if (tries == 20)
			fail("woken 20 times for nothing");
		exa_disarm(t.dev);
		want("answer", command_answer(&m), 0);
		if (read(efd, &count, 8) < 0 && errno != EAGAIN)
			fail("eventfd");
	}
	want("eventfd", exa_eventfd(t.dev, -1), 0);
	close(efd);
	done("waiting for a message by descriptor");
}

/* Only the interrupt can end this wait, because the thread does not poll memory. */
static void test_wait_write(void)
{
	struct exa_write_attr attr = write_attr(0, AGENT_MARGIN, 2000000);
	int chan, ret, tries = 0;

	exa_ack(t.dev);
	attr.flags = EXA_WRITE_WAKE;
	chan = exa_write_post(t.dev, &attr);
	while ((ret = exa_write_test(t.dev, chan, NULL)) == -EINPROGRESS &&
	       tries++ < 20)
		if (exa_wait(t.dev, TEST_WAIT_MS) == 0)
			fail("no wake-up");
	want("write", ret, 0);
	if (!tries)
		printf("# the write was done before the wait\n");
	done("waiting for the end of a write");
}

static void test_wait_notify(void)
{
	struct agent_msg m = {
		.op = htole32(AGENT_WRITE),
		.off = htole32(AGENT_MARGIN),
		.len = htole32(30000),
		.data = htole64(99),
	};
	uint64_t data = 0;
	int tries = 0, ret;

	m.gva = htole64(exa_gva(exa_coord(t.dev), t.xva + AGENT_MARGIN));
	m.rec_xva = htole64(t.rec_xva);
	want("fill", command(AGENT_FILL, AGENT_MARGIN, 30000, 31), 0);
	agent_clear(t.area + AGENT_MARGIN, 30000);
	exa_notify_clear(t.rec);
	exa_ack(t.dev);
	command_post(&m);
	while ((ret = exa_notify_test(t.rec, &data)) == -EINPROGRESS &&
	       tries++ < 20)
		if (exa_wait(t.dev, TEST_WAIT_MS) == 0)
			fail("no wake-up");
	want("record", ret, 0);
	want("data", data, 99);
	want("bytes wrong", agent_verify(t.area + AGENT_MARGIN, 30000, 31), 0);
	want("agent's write", command_answer(&m), 0);
	done("waiting for a write of the peer");
}

/*
 * A mailbox is closed although poll() fails, as with a limit of 0 descriptors.  The NIC
 * would otherwise write messages to memory that is not the ring any more.
 */
static void test_mbox_destroy(void)
{
	struct exa_mbox_addr to = {
		.coord = exa_coord(t.dev),
		.ctx = exa_ctx(t.dev),
		.mbox = 3,
	};
	struct rlimit old, none;
	struct exa_mbox *mbox;
	uint8_t byte = 0;

	if (want("mailbox", exa_mbox_create(t.dev, to.mbox, 4, 0, &mbox), 0)) {
		want("limit", getrlimit(RLIMIT_NOFILE, &old), 0);
		none = old;
		none.rlim_cur = 0;
		want("limit", setrlimit(RLIMIT_NOFILE, &none), 0);
		exa_mbox_destroy(mbox);
		want("limit", setrlimit(RLIMIT_NOFILE, &old), 0);
		/* a message to an open mailbox without a ring would fail with EFAULT */
		want("message", exa_send(t.dev, &to, &byte, 1), -ENOBUFS);
	}
	done("a mailbox is closed without descriptors");
}

/* --- processes and threads ------------------------------------------------ */

/*
 * Makes each call in a child.  Returns 0, or the number of the first call whose result is
 * not -EPERM.
 */
static int child_try(void)
{
	struct exa_write_attr wattr = write_attr(0, AGENT_MARGIN, 1);
	struct exa_read_attr rattr = read_attr(AGENT_MARGIN, AGENT_MARGIN, 1);
	struct exa_mbox *mbox;
	struct exa_attr attr;
	uint64_t xva;
	uint8_t byte = 0;

	const int got[] = {
		exa_query(t.dev, &attr), exa_xva(t.dev, t.area, 1, &xva),
		exa_write_post(t.dev, &wattr), exa_write_test(t.dev, 0, NULL),
		exa_read_post(t.dev, &rattr), exa_read(t.dev, &rattr, 10),
		exa_msg_post(t.dev, &t.agent, &byte, 1, 0),
		exa_msg_test(t.dev, 0, NULL),
		exa_put_small(t.dev, t.a_gva, 0, &byte, 1),
		exa_mbox_create(t.dev, 3, 4, 0, &mbox),
		exa_recv(t.echo, &byte, 1, NULL, 10),
		exa_wait(t.dev, 10), exa_arm(t.dev), exa_disarm(t.dev),
		exa_ack(t.dev), exa_eventfd(t.dev, -1), exa_job_set(t.dev, 1),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(got); i++)
		if (got[i] != -EPERM)
			return i + 1;
	exa_close(t.dev);
	return 0;
}

static void test_fork(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	agent_fill(t.area, AGENT_AREA, 50);
	pid = fork();
	if (!pid)
		_exit(child_try());
	/* the child shares the pages now, so a write copies them */
	write_one(1, 2, 100000, 51);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		fail("child: status %#x", status);
	else
		want("call in the child", WEXITSTATUS(status), 0);
	write_one(1, 2, 100000, 52);
	done("fork");
}

/* A wait stores to POLL if the NIC has that register.  A child has no NIC to store to. */
static void test_poll_hint(void)
{
	struct exanet_notification rec = { 0 };
	long long before = poll_stores();
	struct exa_attr a;
	int status = 0;
	pid_t pid;

	want("query", exa_query(t.dev, &a), 0);
	want("nothing comes", exa_notify_wait(&rec, NULL, 20), -ETIMEDOUT);
	want("stores to POLL", poll_stores() > before,
	     !!(a.cap1 & EXANET_CAP1_POLL));
	before = poll_stores();
	exa_poll_hint(t.dev);
	want("one more store to POLL", poll_stores() > before,
	     !!(a.cap1 & EXANET_CAP1_POLL));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		exa_poll_hint(t.dev);
		_exit(exa_notify_wait(&rec, NULL, 20) == -ETIMEDOUT ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("child: status %#x", status);
	done("waits tell the NIC");
}

struct worker {
	pthread_t thread;
	unsigned int id;
	char reason[128];
};

#define WORKERS		4
#define WORKER_BYTES	50000

/*
 * Writes to its own part of the agent's area, reads it back, and does small writes, all
 * 20 times.  A failure is described in @reason of the worker @arg.
 */
static void *worker_run(void *arg)
{
	struct worker *w = arg;
	uint32_t mine = AGENT_MARGIN + w->id * 2 * WORKER_BYTES;
	struct exa_write_attr wattr = write_attr(mine, mine, WORKER_BYTES);
	struct exa_read_attr rattr = read_attr(mine, mine, WORKER_BYTES);
	unsigned int round, i;
	uint32_t word;
	int ret, chan;

	rattr.dst = t.area + mine + WORKER_BYTES;
	for (round = 0; round < 20 && !w->reason[0]; round++) {
		agent_fill(t.area + mine, WORKER_BYTES, round + w->id);
		word = htole32(round * 1000 + w->id);
		memcpy(t.area + mine, &word, 4);
		ret = exa_write(t.dev, &wattr, NULL);
		if (!ret)
			ret = exa_read(t.dev, &rattr, TEST_WAIT_MS);
		if (ret || memcmp(t.area + mine, rattr.dst, WORKER_BYTES))
			snprintf(w->reason, sizeof(w->reason),
				 "thread %u, round %u: %s", w->id, round,
				 ret ? exa_strerror(ret) : "data differ");
		for (i = 0; i < 8; i++) {
			while ((chan = exa_put_small(t.dev, t.a_gva + mine +
						     WORKER_BYTES, t.agent.ctx,
						     &word, 4)) == -EAGAIN)
				;
			while ((ret = exa_msg_test(t.dev, chan, NULL)) ==
			       -EINPROGRESS)
				;
			if (ret && !w->reason[0])
				snprintf(w->reason, sizeof(w->reason),
					 "thread %u: put: %s", w->id,
					 exa_strerror(ret));
		}
	}
	return NULL;
}

static void test_threads(void)
{
	struct worker w[WORKERS] = { 0 };
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		w[i].id = i;
		if (pthread_create(&w[i].thread, NULL, worker_run, &w[i]))
			fail("pthread_create");
	}
	for (i = 0; i < WORKERS; i++) {
		pthread_join(w[i].thread, NULL);
		if (w[i].reason[0])
			fail("%s", w[i].reason);
	}
	done("four threads on one device");
}

/*
 * Receives 20 messages, which must hold 0 to 19 in order; sleeps until each arrives.
 * Returns NULL, or the mailbox @arg after a failure.
 */
static void *receiver_run(void *arg)
{
	struct exa_mbox *mbox = arg;
	uint32_t i, word;

	for (i = 0; i < 20; i++)
		if (exa_recv(mbox, &word, sizeof(word), NULL, TEST_WAIT_MS) !=
		    sizeof(word) || word != i)
			return mbox;
	return NULL;
}

static void test_receivers(void)
{
	static const uint8_t numbers[] = { 1, 3 };
	struct exa_mbox *mbox[2] = { NULL };
	struct exa_mbox_addr to = { .coord = exa_coord(t.dev),
				    .ctx = exa_ctx(t.dev) };
	pthread_t thread[2];
	void *bad = NULL;
	uint32_t i, n;

	for (n = 0; n < 2; n++) {
		want("create", exa_mbox_create(t.dev, numbers[n], 4, 0, &mbox[n]),
		     0);
		pthread_create(&thread[n], NULL, receiver_run, mbox[n]);
	}
	for (i = 0; i < 20; i++)
		for (n = 0; n < 2; n++) {
			to.mbox = numbers[n];
			agent_nap(3);
			want("send", exa_send(t.dev, &to, &i, sizeof(i)), 0);
		}
	for (n = 0; n < 2; n++) {
		pthread_join(thread[n], &bad);
		if (bad)
			fail("mailbox %u", numbers[n]);
		exa_mbox_destroy(mbox[n]);
	}
	done("two threads sleep on two mailboxes");
}

static void test_misc(void)
{
	struct exa_dev *dev;
	uint64_t before = exa_time(t.dev);
	int err;

	for (err = -200; err < 200; err++)
		if (!exa_strerror(err) || !*exa_strerror(err))
			fail("no text for %d", err);
	want("text", strcmp(exa_strerror(-EFAULT), exa_strerror(EFAULT)), 0);
	want("no such device", exa_open("77", &dev), -ENOENT);
	want("no NIC", exa_open("/dev/null", &dev), -EPROTO);
	agent_nap(2);
	if (exa_time(t.dev) <= before)
		fail("time stands still at %lu", (unsigned long)before);
	exa_close(NULL);
	exa_mbox_destroy(NULL);
	done("texts, names and time");
}

/* -------------------------------------------------------------------------- */

static void run_all(void)
{
	test_misc();
	test_error_addresses();
	test_error_read_only();
	test_error_context();
	test_error_job();
	test_remap();
	test_wait_timeout();
	test_wait_message();
	test_wait_write();
	test_wait_notify();
	test_mbox_destroy();
	test_fork();
	test_poll_hint();
	test_threads();
	test_receivers();
	test_close_busy();
}
