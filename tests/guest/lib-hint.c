// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libexanet: the NICs at which a wait for a notification stores to POLL, and the state
 * after a signal handler has left such a wait.  See lib-harness.h.
 *
 * A mailbox page without write permission turns each store to POLL into a signal.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib-harness.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/uapi.h"

#define OPENS	100
#define HANG_S	100
#define PAGES	16

static sigjmp_buf out;

static void leave(int signo)
{
	siglongjmp(out, signo);
}

/*
 * Waits for a notification that never comes.  Returns the signal that ended the wait, or
 * 0 after the timeout.
 */
static int wait_signal(void)
{
	struct exanet_notification rec = { 0 };
	int signo = sigsetjmp(out, 1);

	if (!signo)
		want("nothing comes", exa_notify_wait(&rec, NULL, 20), -ETIMEDOUT);
	return signo;
}

/* Finds up to @max mailbox pages of the process; returns their number. */
static unsigned int mailbox_pages(uint8_t **pages, unsigned int max)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned int count = 0;
	unsigned long offset;
	char line[512];
	void *start;

	while (f && count < max && fgets(line, sizeof(line), f))
		if (strstr(line, "/dev/exanet") &&
		    sscanf(line, "%p-%*x %*s %lx", &start, &offset) == 2 &&
		    offset == (unsigned long)EXANET_PAGE_MAILBOX << EXANET_MMAP_SHIFT)
			pages[count++] = start;
	if (f)
		fclose(f);
	return count;
}

/* Opens a NIC, and finds its mailbox page; returns false if the open fails. */
static bool open_nic(struct exa_dev **dev, uint8_t **page)
{
	uint8_t *old[PAGES], *pages[PAGES];
	unsigned int i, k, count, olds = mailbox_pages(old, PAGES);

	if (!want("open", exa_open(NULL, dev), 0))
		return false;
	count = mailbox_pages(pages, PAGES);
	want("mailbox pages", count, olds + 1);
	for (i = 0; i < count; i++) {
		for (k = 0; k < olds && old[k] != pages[i]; k++)
			;
		if (k == olds)
			*page = pages[i];
	}
	return true;
}

static void allow(uint8_t *page, int prot)
{
	want("mprotect", mprotect(page, sysconf(_SC_PAGESIZE), prot), 0);
}

/* Checks whether a wait stores to POLL of the NIC with mailbox page @page. */
static void want_signalled(uint8_t *page, bool signalled)
{
	allow(page, signalled ? PROT_READ : PROT_NONE);
	want("signal of a store", wait_signal(), signalled ? SIGSEGV : 0);
	allow(page, PROT_READ | PROT_WRITE);
}

/*
 * A wait stores to POLL of each open NIC, because any of them may bring the notification.
 */
static void test_all(void)
{
	struct exa_dev *first, *last;
	uint8_t *first_page, *last_page;

	if (!open_nic(&first, &first_page) || !open_nic(&last, &last_page))
		return;
	want_signalled(first_page, true);
	want_signalled(last_page, true);
	want("signal", wait_signal(), 0);
	exa_close(first);
	exa_close(last);
	done("all open NICs get the hint");
}

/* A NIC is gone: its file has hung up, and its pages cannot be accessed. */
static void test_gone(void)
{
	struct exa_dev *good, *gone;
	uint8_t *good_page, *gone_page;
	int fds[2];

	if (!open_nic(&good, &good_page) || !open_nic(&gone, &gone_page))
		return;
	want("pipe", pipe(fds), 0);
	close(fds[1]);
	want("dup2", dup2(fds[0], exa_fd(gone)), exa_fd(gone));
	close(fds[0]);
	want_signalled(gone_page, false);
	want_signalled(good_page, true);
	exa_close(good);
	exa_close(gone);
	done("a NIC that has gone gets no hint");
}

/*
 * After siglongjmp() out of a store, no lock remains that blocks fork() or exa_close().
 */
static void test_left(void)
{
	struct exa_dev *dev, *own;
	int status = -1, ret;
	uint8_t *page;
	pid_t pid;

	if (!open_nic(&dev, &page))
		return;
	want_signalled(page, true);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		ret = exa_open(NULL, &own);
		if (!ret && wait_signal())
			ret = -EFAULT;
		if (!ret)
			exa_close(own);
		exa_close(dev);
		_exit(ret || reason[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("child: status %#x", status);
	exa_close(dev);
	if (open_nic(&dev, &page))
		exa_close(dev);
	done("a wait that was left by siglongjmp()");
}

/*
 * After exa_close() the page still accepts a store, because a waiting thread may store to
 * it at that moment.
 */
static void test_closed(void)
{
	uint8_t *page, *again;
	struct exa_dev *dev;
	int signo;

	if (!open_nic(&dev, &page))
		return;
	exa_close(dev);
	signo = sigsetjmp(out, 1);
	if (!signo)
		*(volatile uint64_t *)(page + EXANET_MAILBOX_POLL) = 0;
	want("signal of a store after the end", signo, 0);
	if (!open_nic(&dev, &again))
		return;
	if (again != page)
		fail("the next NIC does not use the place again");
	exa_close(dev);
	done("the page of a NIC that was closed");
}

static void *opener_run(void *arg)
{
	struct exa_dev *dev;
	int i, ret = 0;

	for (i = 0; i < OPENS && !ret; i++) {
		ret = exa_open(NULL, &dev);
		if (!ret)
			exa_close(dev);
	}
	__atomic_store_n((int *)arg, ret ? ret : 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_meanwhile(void)
{
	struct exanet_notification rec = { 0 };
	pthread_t thread;
	int ended = 0;

	if (!want("thread", pthread_create(&thread, NULL, opener_run, &ended), 0))
		return;
	if (sigsetjmp(out, 1))
		fail("a signal");
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		exa_notify_wait(&rec, NULL, 2);
	pthread_join(thread, NULL);
	want("opens", ended, 1);
	done("another thread opens and closes NICs meanwhile");
}

static void run_all(void)
{
	struct sigaction act = { .sa_handler = leave };
	struct exa_attr a;

	want("query", exa_query(t.dev, &a), 0);
	if (!(a.cap1 & EXANET_CAP1_POLL)) {
		printf("# the NIC has no POLL register\n");
		return;
	}
	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGBUS, &act, NULL);
	/* a lock that a wait has not released would block the next call */
	alarm(HANG_S);
	test_all();
	test_gone();
	test_left();
	test_closed();
	test_meanwhile();
}
