/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Child processes of other users that hold a context, for programs that test the
 * driver.
 */
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
	int in, out;	/* ends of the pipe to the process and of the pipe from the
			 * process */
	/*
	 * The number that the process writes first.  child_hold() writes the job of
	 * its context, or -errno if the open failed.
	 */
	int job;
};

/* Opens the NIC in a child, writes the job to @out, and waits for the end of @in. */
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
 * Closes descriptors 3 to 255 except @a and @b, because a child inherits the pipes to
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

/*
 * Maps user @inner of the namespace of process @pid to user @outer of the node, as
 * newuidmap does.  @file is the name of the map in /proc/PID.
 */
static void map_user(pid_t pid, const char *file, uid_t inner, uid_t outer)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	snprintf(text, sizeof(text), "%u %u 1", inner, outer);
	write_file(path, text);
}

/*
 * Starts a process of user @uid that runs @run.  Waits for the int that @run first
 * writes to its pipe @out, and returns the process with this int as member job.  With
 * @ns the process first creates a user namespace, whose only user is user @outer of
 * the node.
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
