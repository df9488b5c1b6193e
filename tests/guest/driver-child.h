/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of other users that hold a context, for programs that test the driver. */
#ifndef DRIVER_CHILD_H
#define DRIVER_CHILD_H

#include "driver-common.h"

#include <sched.h>

static uint32_t job_of(const struct nic *nic)
{
	return RNIC_GET(EXANET_PDID_JOB, nic->q.pdid);
}

/* A process that holds a context, or runs another function of a test. */
struct child {
	pid_t pid;
	int in, out;	/* pipes to the process, and from it */
	/*
	 * The number that the process reports first: child_hold() reports the job of
	 * its context, or -errno of the open.
	 */
	int job;
};

/* Opens the NIC as a child, reports the job, and waits for the end of its input. */
static int child_hold(int in, int out)
{
	struct nic nic;
	int job = nic_try_open(&nic);
	char c;

	if (!job) {
		must(!ioctl(nic.fd, EXANET_IOC_QUERY, &nic.q), "QUERY");
		job = job_of(&nic);
	}
	must(write(out, &job, sizeof(job)) == sizeof(job), "write");
	while (read(in, &c, 1) > 0)
		;
	return 0;
}

/*
 * Closes descriptors 3 to 255 except @a and @b, because a child inherits the pipes of
 * other children.
 */
static void keep_two(int a, int b)
{
	int fd;

	for (fd = 3; fd < 256; fd++)
		if (fd != a && fd != b)
			close(fd);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	     path);
	close(fd);
}

/* Maps user @inner to user @outer, as newuidmap does.  @file is the map file of @pid. */
static void map_user(pid_t pid, const char *file, uid_t inner, uid_t outer)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	snprintf(text, sizeof(text), "%u %u 1", inner, outer);
	write_file(path, text);
}

/*
 * Starts a process of user @uid that runs @run.  Waits for the int that @run first writes
 * to its pipe @out, and returns the process with this int as @job.  With @ns the process
 * first creates a user namespace, with user @outer of the node as its only user.
 */
static struct child child_run(uid_t uid, bool ns, uid_t outer,
			      int (*run)(int in, int out))
{
	int to[2], from[2];
	struct child c;
	char ok;

	must(!pipe(to) && !pipe(from), "pipe");
	fflush(stdout);
	c.pid = fork();
	if (!c.pid) {
		keep_two(to[0], from[1]);
		become(uid);
		if (ns) {
			must(!unshare(CLONE_NEWUSER), "unshare");
			must(write(from[1], "u", 1) == 1, "write");
			must(read(to[0], &ok, 1) == 1, "read");
			must(!setresuid(7, 7, 7), "setresuid in the namespace");
		}
		_exit(run(to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	c.in = to[1];
	c.out = from[0];
	if (ns) {
		must(read(c.out, &ok, 1) == 1, "namespace");
		map_user(c.pid, "uid_map", 7, outer);
		must(write(c.in, "m", 1) == 1, "write");
	}
	must(read(c.out, &c.job, sizeof(c.job)) == sizeof(c.job), "child");
	return c;
}

/* Starts a process of user @uid that runs child_hold(); see child_run(). */
static struct child child_start(uid_t uid, bool ns, uid_t outer)
{
	return child_run(uid, ns, outer, child_hold);
}

static void child_end(struct child *c)
{
	close(c->in);
	close(c->out);
	reap(c->pid);
}


#endif /* DRIVER_CHILD_H */
