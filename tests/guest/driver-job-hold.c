// SPDX-License-Identifier: GPL-2.0-or-later
/* Jobs: objects that keep a context in its job, and the end of these objects. */
#include "driver-common.h"

#include <libexanet.h>
#include <pthread.h>
#include <sys/socket.h>

#define MAP		"job_map"
#define BYTES		(8UL << 20)
#define ARRAYS_AT	((void *)(1UL << 40))	/* start of a window */

static uint32_t job_of(const struct nic *nic)
{
	return RNIC_GET(EXANET_PDID_JOB, nic->q.pdid);
}

/* --- files without a process ---------------------------------------------- */

static void send_file(int sock, int fd)
{
	char byte = 0, space[CMSG_SPACE(sizeof(fd))] = "";
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	must(sendmsg(sock, &m, 0) == 1, "sendmsg");
}

static int receive_file(int sock)
{
	char byte, space[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = space, .msg_controllen = sizeof(space),
	};
	int fd;

	must(recvmsg(sock, &m, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&m),
	     "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/*
 * Returns an open file of the NIC.  The process that opened it, of user @uid in job @job,
 * has ended.
 */
static int file_of_the_dead(uid_t uid, uint32_t job)
{
	int sock[2], fd;
	struct nic nic;
	pid_t pid;

	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, sock), "socketpair");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		become(uid);
		nic_open(&nic);
		send_file(sock[1], nic.fd);
		_exit(job_of(&nic) != job);
	}
	fd = receive_file(sock[0]);
	check_value(reap(pid), 0, "a process opens the NIC, passes the file on, and ends");
	close(sock[0]);
	close(sock[1]);
	return fd;
}

static void test_dead(void)
{
	struct exanet_ioc_set_job set = { .job = 21 };
	double end;
	int fd, ret;

	must(!set_parameter(MAP, "5000:20 5000:21"), MAP);
	fd = file_of_the_dead(5000, 20);
	end = seconds() + NIC_TIMEOUT;
	do {
		ret = set_parameter(MAP, "-5000:20");
	} while (ret == EBUSY && seconds() < end);
	check_value(ret, 0, "nobody is in the job, though the file is open");
	check(ioctl(fd, EXANET_IOC_SET_JOB, &set) < 0, "the file gets into no job");
	check_value(set_parameter(MAP, "-5000:21"), 0, "nor does that keep one");
	close(fd);
}

/* --- work under way --------------------------------------------------------- */

struct worker {
	struct exa_dev *dev;
	int (*work)(struct worker *w);
	bool stop;	/* set by the main thread */
	int ret;
};

/* Copies within this process by CDMA until w->stop.  Returns 0 or a negative errno. */
static int work_copies(struct worker *w)
{
	uint8_t *src = memory(BYTES), *dst = memory(BYTES);
	struct exa_copy_attr c = {
		.src = (uintptr_t)src, .len = BYTES, .dst_ctx = exa_ctx(w->dev),
		.flags = EXA_COPY_DST_REMOTE,
	};
	uint64_t xva;
	int ret;

	fill(src, BYTES, 3);
	memset(dst, 0, BYTES);
	exa_xva(w->dev, dst, BYTES, &xva);
	c.dst = exa_gva(exa_coord(w->dev), xva);
	do {
		ret = exa_cdma_copy(w->dev, &c);
	} while (!ret && !__atomic_load_n(&w->stop, __ATOMIC_RELAXED));
	return ret ?: filled(dst, BYTES, 3) ? 0 : -EIO;
}

/* Runs a job of the accelerator that takes longer than its deadline. */
static int work_accel(struct worker *w)
{
	struct exa_accel_job job = {
		.ndf1 = 8, .ndf2 = 8, .nlayers = 64, .ncells = 1 << 18,
		.remote = EXA_ACCEL_ALL, .dst_ctx = exa_ctx(w->dev),
	};
	void *p = mmap(ARRAYS_AT, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		       MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	uint64_t xva;

	must(p == ARRAYS_AT, "mmap");
	exa_xva(w->dev, p, BYTES, &xva);
	job.matrix = exa_gva(exa_coord(w->dev), xva);
	job.y = job.matrix + BYTES / 2;
	job.x = job.map1 = job.map2 = job.cells = job.matrix;
	return exa_accel(w->dev, &job);
}

static void *worker_run(void *opaque)
{
	struct worker *w = opaque;

	w->ret = w->work(w);
	return NULL;
}

/*
 * Changes the job of a context: during @work the change must fail with EBUSY, and after
 * @work it must succeed.  @work must return @want.  Returns a bit for each wrong result.
 */
static int change_at_work(int (*work)(struct worker *w), int want)
{
	struct worker w = { .work = work };
	double end = seconds() + 10;
	pthread_t thread;
	int ret, bad = 0;

	become(5000);
	must(!exa_open(NULL, &w.dev), "exa_open");
	must(!pthread_create(&thread, NULL, worker_run, &w), "pthread_create");
	do {
		ret = exa_job_set(w.dev, 20);
	} while (!ret && seconds() < end);
	bad |= ret != -EBUSY ? 1 : 0;
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	bad |= w.ret != want ? 2 : 0;
	if (w.ret != want)
		printf("# the work ended with %d\n", w.ret);
	bad |= exa_job_set(w.dev, 21) ? 4 : 0;
	exa_close(w.dev);
	fflush(stdout);
	return bad;
}

static void check_at_work(int (*work)(struct worker *w), int want,
			  const char *name)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(change_at_work(work, want));
	check_value(reap(pid), 0, name);
}

static void test_at_work(void)
{
	must(!set_parameter(MAP, "5000:20 5000:21"), MAP);
	must(!set_parameter("accel_seconds", "2"), "accel_seconds");
	check_at_work(work_copies, 0, "the job stays while a copy is under way");
	check_at_work(work_accel, -ETIMEDOUT,
		      "the job stays while a job of the accelerator is under way");
	must(!set_parameter("accel_seconds", "60"), "accel_seconds");
	must(!set_parameter(MAP, "-5000:20 -5000:21"), MAP);
}

/* --- segments that end ------------------------------------------------------ */

#define MAPPINGS	2000	/* their removal takes many milliseconds */
#define ROUNDS		20

struct ending {
	struct nic nic;
	struct exanet_ioc_segment_create c;
};

static void *ending_run(void *opaque)
{
	struct ending *e = opaque;
	struct exanet_ioc_segment_destroy d = { .segment = e->c.segment };

	must(!ioctl(e->nic.fd, EXANET_IOC_SEGMENT_DESTROY, &d), "SEGMENT_DESTROY");
	return NULL;
}

/*
 * Destroys the segment and changes the job as soon as that is permitted.  Returns the
 * number of segments at the change; then restores the job.
 */
static long change_at_end(struct ending *e)
{
	struct exanet_ioc_set_job set = { .job = 21 };
	double end = seconds() + NIC_TIMEOUT;
	pthread_t thread;
	long left;

	must(!pthread_create(&thread, NULL, ending_run, e), "pthread_create");
	while (ioctl(e->nic.fd, EXANET_IOC_SET_JOB, &set))
		must(errno == EBUSY && seconds() < end, "SET_JOB");
	left = sysfs_number("shm/segments_used");
	pthread_join(thread, NULL);
	set.job = 20;
	must(!ioctl(e->nic.fd, EXANET_IOC_SET_JOB, &set), "SET_JOB back");
	return left;
}

/* Returns the number of rounds in which the job changed while the NIC had the segment. */
static int change_at_ends(void)
{
	uint8_t *page = memory(PAGE), *maps[MAPPINGS];
	struct ending e;
	int i, round, bad = 0;

	become(5000);
	nic_open(&e.nic);
	for (round = 0; round < ROUNDS; round++) {
		e.c = (struct exanet_ioc_segment_create) {
			.gva = nic_gva(&e.nic, page), .len = PAGE,
			.dst_ctx = e.nic.q.context, .flags = EXANET_SEGMENT_READ,
		};
		must(!ioctl(e.nic.fd, EXANET_IOC_SEGMENT_CREATE, &e.c),
		     "SEGMENT_CREATE");
		for (i = 0; i < MAPPINGS; i++) {
			maps[i] = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, e.nic.fd,
				       e.c.offset);
			must(maps[i] != MAP_FAILED, "mmap");
		}
		bad += change_at_end(&e) != 0;
		for (i = 0; i < MAPPINGS; i++)
			munmap(maps[i], PAGE);
	}
	nic_close(&e.nic);
	return bad;
}

static void test_ending_segment(void)
{
	pid_t pid;

	must(!set_parameter(MAP, "5000:20 5000:21"), MAP);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(change_at_ends());
	check_value(reap(pid), 0, "the job stays until a segment has gone from the NIC");
	must(!set_parameter(MAP, "-5000:20 -5000:21"), MAP);
}

int main(void)
{
	test_dead();
	test_at_work();
	test_ending_segment();
	return 0;
}
