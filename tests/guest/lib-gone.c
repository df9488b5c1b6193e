// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libexanet: a process waits for a message, and then for a notification, when root
 * unbinds the driver from the NIC.  Prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libexanet.h>
#include "lib-counter.h"
#include "rnic/exanet/regs.h"

#define NIC		"/sys/class/exanet/exanet0"
#define COME_BACK_S	30

static char driver[PATH_MAX], device[PATH_MAX];
static unsigned int tests, failures;
static sigjmp_buf out;

static void leave(int signo)
{
	siglongjmp(out, signo);
}

static void result(bool good, const char *name)
{
	failures += !good;
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	fflush(stdout);
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Writes the name of the NIC's device to @file ("bind" or "unbind") of its driver. */
static void tell_driver(const char *file)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", driver, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, device, strlen(device)) < 0)
		die(path);
	close(fd);
}

static void nap(void)
{
	struct timespec ts = { .tv_nsec = 50000000 };

	nanosleep(&ts, NULL);
}

/*
 * Waits for a notification that never comes.  Returns 0 after the timeout, the number of
 * a signal that ended the wait, or another negative errno.
 */
static int wait_in_vain(void)
{
	struct exanet_notification rec = { 0 };
	int ret = sigsetjmp(out, 1);

	if (!ret)
		ret = exa_notify_wait(&rec, NULL, 20);
	return ret == -ETIMEDOUT ? 0 : ret;
}

/*
 * Receives from @mbox without a time limit, while a child unbinds the driver.  Returns the
 * result of exa_recv(), or the number of the signal that ended the wait.
 */
static int receive_in_vain(struct exa_mbox *mbox)
{
	char buf[64];
	int ret, status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		sleep(1);
		tell_driver("unbind");
		_exit(0);
	}
	ret = sigsetjmp(out, 1);
	if (!ret) {
		alarm(30);
		ret = exa_recv(mbox, buf, sizeof(buf), NULL, -1);
	}
	alarm(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("the child");
	return ret;
}

static bool fork_works(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* Opens the NIC when it is bound again; returns NULL after COME_BACK_S seconds. */
static struct exa_dev *open_again(void)
{
	struct exa_dev *dev;
	int i;

	for (i = 0; i < COME_BACK_S * 20; i++) {
		if (!exa_open(NULL, &dev))
			return dev;
		nap();
	}
	return NULL;
}

int main(void)
{
	struct sigaction act = { .sa_handler = leave };
	char path[PATH_MAX];
	struct exa_mbox *mbox;
	struct exa_dev *dev;
	struct exa_attr a;
	long long before;
	int ret;

	if (!realpath(NIC "/device/driver", driver) ||
	    !realpath(NIC "/device", path))
		die(NIC);
	strcpy(device, basename(path));
	ret = exa_open(NULL, &dev);
	if (ret || exa_query(dev, &a) || exa_mbox_create(dev, 0, 4, 0, &mbox)) {
		fprintf(stderr, "exa_open: %s\n", exa_strerror(ret));
		return 1;
	}
	sigaction(SIGBUS, &act, NULL);
	sigaction(SIGALRM, &act, NULL);

	ret = receive_in_vain(mbox);
	if (ret != -ENODEV)
		printf("# exa_recv: %d\n", ret);
	result(ret == -ENODEV, "exa_recv ends with -ENODEV when the NIC has gone");
	ret = wait_in_vain();
	if (ret)
		printf("# wait: %d\n", ret);
	result(!ret, "a wait ends with its time-out when the NIC has gone");
	/* a lock that the wait has not released would block these calls */
	signal(SIGALRM, SIG_DFL);
	alarm(30);
	result(fork_works(), "the process can fork");
	ret = sigsetjmp(out, 1);
	if (!ret)
		exa_close(dev);
	alarm(0);
	result(!ret, "the process can close the NIC that has gone");

	tell_driver("bind");
	dev = open_again();
	result(dev, "the NIC comes back");
	before = poll_stores();
	ret = wait_in_vain();
	result(dev && !ret && (poll_stores() > before) ==
	       !!(a.cap1 & EXANET_CAP1_POLL), "a wait tells the NIC that came back");
	exa_close(dev);
	printf("1..%u\n", tests);
	return failures != 0;
}
