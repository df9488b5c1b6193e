// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jobs: isolation of users' processes, on one node and between nodes, and limits of the
 * NIC's resources per user.
 *
 *   driver-job                     runs all tests for a single node
 *   driver-job target UID          as user UID: prints "JOB COORD CTX VA XVA" of its
 *                                  memory; at the end of its input prints "untouched"
 *                                  or "reached"
 *   driver-job attack UID WANT JOB COORD CTX VA XVA
 *                                  as user UID: tries to access this memory in all
 *                                  ways, with the result WANT (refused or allowed);
 *                                  JOB: the job of the memory; if it is a local job,
 *                                  the user first gets a job of this number
 *   driver-job attack-mapped UID JOB COORD CTX VA XVA
 *                                  as user 1000, mapped to user UID in a user namespace:
 *                                  tries to access this memory in all ways, which must
 *                                  be refused
 */
#include "driver-child.h"

#include <libexanet.h>

#define BYTES	(4 * PAGE)
#define SEED	77
#define MAP	"job_map"
#define ROOT_JOB 1	/* root's job in the guest image */

/* User ids that modulo 4095 would give root's job, and other user ids. */
static const uid_t users[] = { 4095, 8190, 61425, 102375, 1000, 5095, 65534 };

#define USERS	(sizeof(users) / sizeof(users[0]))

/* Memory of another process, and the job of that process. */
struct place {
	unsigned int job, coord, ctx;
	uint64_t va, xva;
};

static uint32_t named_jobs(void)
{
	FILE *f = fopen("/sys/module/exanet/parameters/named_jobs", "r");
	unsigned int n = 0;

	must(f && fscanf(f, "%u", &n) == 1, "named_jobs");
	fclose(f);
	return n;
}

static int job_of_user(uid_t uid)
{
	struct child c = child_start(uid, false, 0);

	child_end(&c);
	return c.job;
}

/* --- jobs ----------------------------------------------------------------- */

static void test_default(const struct nic *nic)
{
	struct child c[USERS], again;
	bool local = true, distinct = true;
	unsigned int i, k;

	check_value(job_of(nic), ROOT_JOB, "root has the named job of the image");
	for (i = 0; i < USERS; i++) {
		c[i] = child_start(users[i], false, 0);
		local &= c[i].job > (int)named_jobs() && c[i].job < 4096;
		for (k = 0; k < i; k++)
			distinct &= c[i].job != c[k].job;
	}
	check(local, "users without a named job have local ones");
	check(distinct, "no two users have the same");
	again = child_start(users[0], false, 0);
	check_value(again.job, c[0].job, "a user's processes have the same");
	child_end(&c[0]);
	check_value(job_of_user(users[0]), again.job,
		    "as long as one of them is left");
	child_end(&again);
	for (i = 1; i < USERS; i++)
		child_end(&c[i]);
	again = child_start(users[0], false, 0);
	check(again.job != c[0].job, "a number is not given out again at once");
	child_end(&again);
}

static void test_namespace(const struct nic *nic)
{
	struct child victim = child_start(102375, false, 0);
	struct child plain = child_start(1000, false, 0);
	struct child mapped, root;

	mapped = child_start(1000, true, 102375);
	check(mapped.job > (int)named_jobs() && mapped.job != victim.job &&
	      mapped.job != plain.job,
	      "a mapped user has neither the job of the user it is mapped to nor its maker's");
	root = child_start(0, true, 0);
	check(root.job > (int)named_jobs() && root.job != (int)job_of(nic),
	      "root of the node in a namespace does not have root's job");
	child_end(&root);
	child_end(&mapped);
	child_end(&plain);
	must(!set_parameter(MAP, "102375:33"), MAP);
	mapped = child_start(1000, true, 102375);
	check(mapped.job > (int)named_jobs(),
	      "a mapped user does not have a named job");
	child_end(&mapped);
	must(!set_parameter(MAP, "-102375:33"), MAP);
	child_end(&victim);
}

static int set_job(struct nic *nic, uint32_t number)
{
	struct exanet_ioc_set_job j = { .job = number };

	return ioctl(nic->fd, EXANET_IOC_SET_JOB, &j) ? errno : 0;
}

/*
 * Changes jobs as user 4711, whose first job is @own.  Returns a bit for each wrong
 * result.
 */
static int change_jobs(uint32_t own, uint32_t others, uint32_t second)
{
	struct nic nic;
	int bad = 0;

	become(4711);
	nic_open(&nic);
	bad |= job_of(&nic) != own ? 1 : 0;
	bad |= set_job(&nic, ROOT_JOB) != EPERM ? 2 : 0;
	bad |= set_job(&nic, others) != EPERM ? 4 : 0;
	bad |= set_job(&nic, 44) != EPERM ? 8 : 0;
	bad |= set_job(&nic, second) ? 16 : 0;
	bad |= set_job(&nic, own) ? 32 : 0;
	bad |= set_job(&nic, 0) != EINVAL ? 64 : 0;
	bad |= set_job(&nic, 4096) != EINVAL ? 128 : 0;
	return bad;
}

static int change_jobs_as_user(uint32_t own, uint32_t others, uint32_t second)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(change_jobs(own, others, second));
	return reap(pid);
}

/*
 * A context with a segment cannot change its job, because the segment would remain in the
 * old job, which root may give to another user.
 */
static void test_set_job_segment(struct nic *nic)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct exanet_ioc_segment_create c = {
		.gva = nic_gva(nic, page), .len = sizeof(page),
		.dst_ctx = nic->q.context,
		.flags = EXANET_SEGMENT_READ | EXANET_SEGMENT_WRITE,
	};
	struct exanet_ioc_segment_destroy d = { 0 };

	if (ioctl(nic->fd, EXANET_IOC_SEGMENT_CREATE, &c)) {
		check_value(errno, EOPNOTSUPP, "there is no aperture");
		return;
	}
	check_value(set_job(nic, 44), EBUSY,
		    "the job of a context with segments stays");
	d.segment = c.segment;
	must(!ioctl(nic->fd, EXANET_IOC_SEGMENT_DESTROY, &d), "SEGMENT_DESTROY");
}

static void test_set_job(struct nic *nic)
{
	struct child other = child_start(1000, false, 0);
	struct child own = child_start(4711, false, 0);

	check_value(change_jobs_as_user(own.job, other.job, own.job), 0,
		    "a user has his own job and no other");
	child_end(&own);
	must(!set_parameter(MAP, "4711:7,4711:8"), MAP);
	check_value(change_jobs_as_user(7, other.job, 8), 0,
		    "a user may change between the jobs that root gave him");
	must(!set_parameter(MAP, "-4711:7 -4711:8"), MAP);
	check_value(set_job(nic, 44), 0, "root may take any named job");
	check_value(set_job(nic, other.job), EINVAL, "but no local one");
	check_value(set_parameter(MAP, "4711:44"), EBUSY,
		    "a job in which there are processes cannot be given away");
	check_value(set_job(nic, ROOT_JOB), 0, "and go back");
	check_value(set_parameter(MAP, "4711:44"), 0, "then it can");
	check_value(set_parameter(MAP, "-4711:44"), 0, "and taken away");
	child_end(&other);
}

static bool map_is(const char *text)
{
	char line[256] = "";
	FILE *f = fopen("/sys/module/exanet/parameters/" MAP, "r");

	must(f && fgets(line, sizeof(line), f), MAP);
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (strcmp(line, text))
		printf("# " MAP " is '%s'\n", line);
	return !strcmp(line, text);
}

static void test_map(void)
{
	static const char *const bad[] = {
		"", "4711", "4711:", ":5", "4711:0", "4711:2048", "4711:-1", "x:5",
		"4711:5:0", "4711:2000:49", "4711:5:1:1", "4294967295:5",
		"4294967290:5:6", "4711:99999999999",
	};
	struct child c;
	unsigned int i;

	check(map_is("0:1"), "the map is that of the image");
	for (i = 1; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (set_parameter(MAP, bad[i]) != EINVAL)
			break;
	check(i == sizeof(bad) / sizeof(bad[0]), "what is no grant is refused");
	check_value(set_parameter(MAP, "5000:20 5001:x"), EINVAL,
		    "one bad word of two");
	check(map_is("0:1"), "changes nothing");
	must(!set_parameter(MAP, "5000:20:10\n"), MAP);
	check_value(set_parameter(MAP, "5000:20:10"), 0, "the same again");
	check(map_is("0:1 5000:20:10"), "is there once");
	check_value(set_parameter(MAP, "6000:29"), EEXIST,
		    "a job cannot have two users");
	check_value(set_parameter(MAP, "6000:15:6"), EEXIST,
		    "nor a stretch of jobs that meets another");
	c = child_start(5003, false, 0);
	check_value(c.job, 23, "each user of a stretch has a job of it");
	check_value(set_parameter(MAP, "-5000:20:10"), EBUSY,
		    "a job in which there are processes cannot be taken away");
	child_end(&c);
	check(job_of_user(5010) > (int)named_jobs(), "the user behind it has none");
	check_value(set_parameter(MAP, "-5000:20:9"), ENOENT,
		    "what was not given cannot be taken away");
	check_value(set_parameter(MAP, "-5000:20:10"), 0,
		    "then it can be taken away");
	check(map_is("0:1"), "the map is as before");
}

/* --- limits --------------------------------------------------------------- */

/* Returns how many contexts user @uid can open.  @err gets the errno of the next open. */
static int contexts_of(uid_t uid, bool ns, int *err)
{
	struct child c[EXANET_CONTEXTS + 1];
	int n, i;

	for (n = 0; n <= EXANET_CONTEXTS; n++) {
		/* each namespace maps a different user */
		c[n] = child_start(uid, ns, 100000 + n);
		if (c[n].job < 0) {
			*err = -c[n].job;
			child_end(&c[n]);
			break;
		}
	}
	for (i = 0; i < n; i++)
		child_end(&c[i]);
	return n;
}

static void test_user_contexts(void)
{
	struct child c;
	int err = 0;

	must(!set_parameter("user_contexts", "3"), "user_contexts");
	check_value(contexts_of(1000, false, &err), 3,
		    "a user has as many contexts as a user may have");
	check_value(err, EDQUOT, "and then EDQUOT");
	check_value(contexts_of(1000, true, &err), 3,
		    "namespaces with other users in them give no more");
	check_value(err, EDQUOT, "but EDQUOT");
	c = child_start(1001, false, 0);
	check(c.job > 0, "another user has his own");
	child_end(&c);
	must(!set_parameter("user_contexts", "8"), "user_contexts");
	check(comes_to("contexts_in_use", 1), "all are given back");
}

/* Returns how many segments user 1000 can create until EDQUOT; or 100 + another errno. */
static int segments_as_user(void)
{
	struct exanet_ioc_segment_create c = {
		.len = PAGE, .flags = EXANET_SEGMENT_READ,
	};
	struct nic nic;
	int n = 0;

	become(1000);
	nic_open(&nic);
	c.gva = nic_gva(&nic, &nic) & ~(PAGE - 1);
	c.dst_ctx = nic.q.context;
	while (n <= EXANET_SHM_MAPS &&
	       !ioctl(nic.fd, EXANET_IOC_SEGMENT_CREATE, &c))
		n++;
	return errno == EDQUOT ? n : 100 + errno;
}

/*
 * Creates the largest possible segments until the aperture or the limit is exhausted.
 * Reports their sum in percent of the aperture, and holds them until the end of its
 * input.
 */
static int child_aperture(int in, int out)
{
	struct exanet_ioc_segment_create c = { .flags = EXANET_SEGMENT_READ };
	struct exanet_ioc_query_shm q;
	uint64_t len, sum = 0;
	struct nic nic;
	int percent;
	char byte;

	nic_open(&nic);
	must(!ioctl(nic.fd, EXANET_IOC_QUERY_SHM, &q), "QUERY_SHM");
	/* the start of a window, because a segment must not cross the window's end */
	c.gva = nic_gva(&nic, &nic) & ~EXANET_VA_OFFSET;
	c.dst_ctx = nic.q.context;
	for (len = q.aperture; len >= PAGE; ) {
		c.len = len;
		if (!ioctl(nic.fd, EXANET_IOC_SEGMENT_CREATE, &c))
			sum += len;
		else
			len = len / 2 & ~(PAGE - 1);
	}
	percent = sum * 100 / q.aperture;
	must(write(out, &percent, sizeof(percent)) == sizeof(percent), "write");
	while (read(in, &byte, 1) > 0)
		;
	return 0;
}

/*
 * Checks that one user cannot take more than half of the aperture, unless root permits
 * it.
 */
static void test_user_aperture(void)
{
	struct child greedy, other;

	greedy = child_run(1000, false, 0, child_aperture);
	check_value(greedy.job, 50, "a user gets half of the aperture");
	other = child_run(1001, false, 0, child_aperture);
	check_value(other.job, 50, "another user gets the other half");
	child_end(&other);
	child_end(&greedy);
	check(comes_to("shm/segments_used", 0), "all is given back");
	must(!set_parameter("user_aperture", "100"), "user_aperture");
	greedy = child_run(1000, false, 0, child_aperture);
	check_value(greedy.job, 100, "a user gets all of it if root says so");
	child_end(&greedy);
	must(!set_parameter("user_aperture", "50"), "user_aperture");
	check(comes_to("shm/segments_used", 0), "and gives it back");
}

/*
 * Runs a job of the accelerator as user 1000, which would take hours.  Returns 0 if the
 * job ends with a timeout.  The arrays are at the start of a window, because the NIC
 * refuses a job that exceeds the window.
 */
static int accel_as_user(void)
{
	enum { CELLS = 1 << 15, NDF = 64, LAYERS = 256 };
	size_t bytes = NDF * NDF * LAYERS * sizeof(double);
	double *matrix = mmap((void *)(1UL << 40), bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			      -1, 0);
	struct exa_dev *dev;
	struct exa_accel_job job = {
		.ndf1 = NDF, .ndf2 = NDF, .nlayers = LAYERS, .ncells = CELLS,
		.remote = EXA_ACCEL_ALL,
	};
	uint8_t *zero = memory(CELLS * 4UL);
	double *x = memory(1 << 20), *y = memory(1 << 20);
	uint64_t xva;
	int ret;

	become(1000);
	if (exa_open(NULL, &dev))
		return 1;
	job.dst_ctx = exa_ctx(dev);
	must(matrix != MAP_FAILED, "mmap");
	exa_xva(dev, matrix, bytes, &xva);
	job.matrix = exa_gva(exa_coord(dev), xva);
	exa_xva(dev, x, 1 << 20, &xva);
	job.x = exa_gva(exa_coord(dev), xva);
	exa_xva(dev, y, 1 << 20, &xva);
	job.y = exa_gva(exa_coord(dev), xva);
	exa_xva(dev, zero, CELLS * 4UL, &xva);
	job.cells = job.map1 = job.map2 = exa_gva(exa_coord(dev), xva);
	ret = exa_accel(dev, &job);
	if (ret != -ETIMEDOUT)
		printf("# the job ended with %d\n", ret);
	return ret == -ETIMEDOUT ? 0 : 2;
}

static int as_child(int (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int ret = run();

		fflush(stdout);
		_exit(ret);
	}
	return reap(pid);
}

static void test_user_shares(void)
{
	double start;

	must(!set_parameter("user_segments", "5"), "user_segments");
	check_value(as_child(segments_as_user), 5,
		    "a user has as many segments as a user may have");
	must(!set_parameter("user_segments", "8"), "user_segments");
	must(!set_parameter("accel_seconds", "2"), "accel_seconds");
	start = seconds();
	check_value(as_child(accel_as_user), 0,
		    "a job of the accelerator ends at its deadline");
	check(seconds() - start >= 2, "not before");
	check_value(as_child(accel_as_user), 0, "then it takes the next one");
	must(!set_parameter("accel_seconds", "60"), "accel_seconds");
}

static void test_quota(struct nic *nic)
{
	uint8_t *p = memory(2 * PAGE);

	write_file(NIC_SYSFS "quota/writes", "0");
	check_value(STATUS_ERROR(nic_copy(nic, p, p + PAGE, PAGE)),
		    EXANET_CHERR_BAD_REQUEST, "without a quota of writes: none");
	write_file(NIC_SYSFS "quota/writes", "32");
	check(DONE_STATE(nic_copy(nic, p, p + PAGE, PAGE)), "with one: they go");
	munmap(p, 2 * PAGE);
}

/* --- attacks -------------------------------------------------------------- */

enum access {
	ACCESS_WRITE		= 1 << 0,
	ACCESS_READ		= 1 << 1,
	ACCESS_PUT		= 1 << 2,
	ACCESS_MESSAGE		= 1 << 3,
	ACCESS_COPY_TO		= 1 << 4,
	ACCESS_COPY_FROM	= 1 << 5,
	ACCESS_STORE		= 1 << 6,
	ACCESS_LOAD		= 1 << 7,
};

/* no loads and stores, because a CPU must not wait for its own node */
#define ACCESSES_HERE	(ACCESS_STORE - 1)
#define ACCESSES_APART	(2 * ACCESS_LOAD - 1)

static unsigned int try_rdma(struct exa_dev *dev, const struct place *to,
			     uint8_t *mine)
{
	struct exa_mbox_addr box = { .coord = to->coord, .ctx = to->ctx };
	uint64_t gva = exa_gva(to->coord, to->xva);
	struct exa_write_attr w = {
		.src = mine, .dst_gva = gva, .len = PAGE, .dst_ctx = to->ctx,
	};
	struct exa_read_attr r = {
		.dst = mine, .src_va = to->va, .src_coord = to->coord,
		.src_ctx = to->ctx, .len = PAGE,
	};
	unsigned int accesses = 0;
	int ch;

	memset(mine, 0, PAGE);
	accesses |= exa_read(dev, &r, NIC_TIMEOUT * 1000) ? 0 : ACCESS_READ;
	accesses |= !all_bytes(mine, PAGE, 0) ? ACCESS_READ : 0;
	accesses |= exa_write(dev, &w, NULL) ? 0 : ACCESS_WRITE;
	ch = exa_put_small(dev, gva + PAGE, to->ctx, "attack", 6);
	must(ch >= 0, "exa_put_small");
	while ((errno = -exa_msg_test(dev, ch, NULL)) == EINPROGRESS)
		;
	accesses |= errno ? 0 : ACCESS_PUT;
	accesses |= exa_send(dev, &box, "attack", 6) ? 0 : ACCESS_MESSAGE;
	return accesses;
}

static unsigned int try_copy(struct exa_dev *dev, const struct place *to,
			     uint8_t *mine)
{
	struct exa_copy_attr c = {
		.src = (uintptr_t)mine, .dst = exa_gva(to->coord, to->xva),
		.len = PAGE, .dst_ctx = to->ctx, .flags = EXA_COPY_DST_REMOTE,
	};
	unsigned int accesses = exa_cdma_copy(dev, &c) ? 0 : ACCESS_COPY_TO;

	memset(mine, 0, PAGE);
	c.src = c.dst;
	c.dst = (uintptr_t)mine;
	c.flags = EXA_COPY_SRC_REMOTE;
	accesses |= exa_cdma_copy(dev, &c) ? 0 : ACCESS_COPY_FROM;
	accesses |= !all_bytes(mine, PAGE, 0) ? ACCESS_COPY_FROM : 0;
	return accesses;
}

static unsigned int try_segment(struct exa_dev *dev, const struct place *to)
{
	unsigned int accesses = 0;
	volatile uint64_t *p;
	uint32_t errors;

	p = exa_map_remote(dev, exa_gva(to->coord, to->xva), PAGE, to->ctx,
			   EXA_MAP_READ | EXA_MAP_WRITE);
	must(p != NULL, "exa_map_remote");
	accesses |= *p != ~0ULL ? ACCESS_LOAD : 0;
	errors = exa_remote_errors(dev);
	*p = 5;
	exa_fence(dev);
	accesses |= exa_remote_errors(dev) == errors ? ACCESS_STORE : 0;
	exa_unmap_remote(dev, (void *)p, PAGE);
	return accesses;
}

/* Returns the ways by which this process can access @to, as bits of enum way. */
static unsigned int try_all(struct exa_dev *dev, const struct place *to)
{
	uint8_t *mine = memory(BYTES);
	unsigned int accesses;

	accesses = try_rdma(dev, to, mine);
	accesses |= try_copy(dev, to, mine);
	if (to->coord != exa_coord(dev))
		accesses |= try_segment(dev, to);
	munmap(mine, BYTES);
	return accesses;
}

/*
 * Opens the NIC as user @uid, @uid + 1, ... until the job has the number @job; 0: any
 * job.  Returns NULL after 64 users.
 */
static struct exa_dev *open_in_job(uid_t uid, unsigned int job)
{
	struct exa_attr attr;
	struct exa_dev *dev;
	unsigned int n;

	for (n = 0; n < 64; n++) {
		must(!setresuid(uid + n, 0, 0), "setresuid");
		must(!seteuid(uid + n), "seteuid");
		must(!exa_open(NULL, &dev), "exa_open");
		must(!exa_query(dev, &attr), "exa_query");
		if (!job || attr.job == job)
			return dev;
		exa_close(dev);
		must(!seteuid(0), "seteuid");
	}
	return NULL;
}

static int attack(uid_t uid, bool allowed, unsigned int job,
		  const struct place *to)
{
	struct exa_dev *dev;
	unsigned int accesses;
	struct stat st;
	char name[100];

	must(!stat(NIC_DEVICE, &st) && !setgroups(1, &st.st_gid), "setgroups");
	dev = open_in_job(uid, job);
	must(dev != NULL, "the job that was asked for");
	accesses = try_all(dev, to);
	snprintf(name, sizeof(name), "user %u in job %u: all ways to job %u are %s",
		 uid, job, to->job, allowed ? "allowed" : "refused");
	check_value(accesses, !allowed ? 0 : to->coord == exa_coord(dev) ?
					 ACCESSES_HERE : ACCESSES_APART, name);
	exa_close(dev);
	return 0;
}

static const struct place *mapped_place;	/* argument of child_attack() */

/* Attacks as a mapped user, and reports the ways that succeeded. */
static int child_attack(int in, int out)
{
	struct exa_dev *dev;
	int accesses;

	must(!exa_open(NULL, &dev), "exa_open");
	accesses = try_all(dev, mapped_place);
	must(write(out, &accesses, sizeof(accesses)) == sizeof(accesses), "write");
	exa_close(dev);
	return 0;
}

/*
 * Attacks a process of user @victim as user 1000, mapped to @victim in a namespace.  All
 * ways must fail.
 */
static void attack_mapped(uid_t victim, const struct place *to)
{
	char name[100];
	struct child c;

	mapped_place = to;
	c = child_run(1000, true, victim, child_attack);
	child_end(&c);
	snprintf(name, sizeof(name),
		 "user 1000, mapped to user %u: all ways to job %u are refused",
		 victim, to->job);
	check_value(c.job, 0, name);
}

static int target(uid_t uid)
{
	uint8_t *area = memory(BYTES), *before = memory(BYTES);
	struct exa_mbox *box;
	struct exa_attr attr;
	struct exa_dev *dev;
	uint64_t xva;
	bool same;
	char c;

	become(uid);
	fill(area, BYTES, SEED);
	fill(before, BYTES, SEED);
	must(!exa_open(NULL, &dev) && !exa_query(dev, &attr), "exa_open");
	must(!exa_mbox_create(dev, 0, 4, 0, &box), "exa_mbox_create");
	must(!exa_xva(dev, area, BYTES, &xva), "exa_xva");
	printf("%u %u %u %llu %llu\n", attr.job, attr.coord, attr.ctx,
	       (unsigned long long)(uintptr_t)area, (unsigned long long)xva);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	same = !memcmp(area, before, BYTES) && !exa_mbox_peek(box);
	puts(same ? "untouched" : "reached");
	exa_close(dev);
	return 0;
}

static void read_place(FILE *f, struct place *p)
{
	unsigned long long va, xva;

	must(fscanf(f, "%u %u %u %llu %llu", &p->job, &p->coord, &p->ctx, &va,
		    &xva) == 5, "target");
	p->va = va;
	p->xva = xva;
}

/* Starts a target of user @victim on this node, and attacks it as user @attacker. */
static void attack_here(uid_t victim, uid_t attacker, bool allowed)
{
	int to[2], from[2];
	char word[32] = "";
	struct place p;
	pid_t pid, by;
	FILE *f;

	must(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		target(victim);
		fflush(stdout);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	f = fdopen(from[0], "r");
	read_place(f, &p);
	if (!allowed)
		attack_mapped(victim, &p);
	by = fork();
	if (!by) {
		close(to[1]);
		attack(attacker, allowed, 0, &p);
		fflush(stdout);
		_exit(0);
	}
	check_value(reap(by), 0, "the attacker comes to its end");
	close(to[1]);
	must(fscanf(f, "%31s", word) == 1, "target");
	check(!strcmp(word, allowed ? "reached" : "untouched"),
	      allowed ? "the memory was reached" : "the memory is untouched");
	fclose(f);
	reap(pid);
}

static void test_attacks_here(void)
{
	attack_here(0, 4095, false);
	attack_here(0, 61425, false);
	attack_here(1000, 5095, false);
	attack_here(1000, 1000, true);
}

/* Returns the place that the arguments JOB COORD CTX VA XVA describe. */
static struct place place_of(char **arg)
{
	return (struct place) {
		.job = atoi(arg[0]), .coord = atoi(arg[1]), .ctx = atoi(arg[2]),
		.va = strtoull(arg[3], NULL, 10), .xva = strtoull(arg[4], NULL, 10),
	};
}

int main(int argc, char **argv)
{
	struct place p;
	struct nic nic;

	if (argc == 3 && !strcmp(argv[1], "target"))
		return target(atoi(argv[2]));
	if (argc == 9 && !strcmp(argv[1], "attack")) {
		p = place_of(argv + 4);
		return attack(atoi(argv[2]), !strcmp(argv[3], "allowed"),
			      p.job > named_jobs() ? p.job : 0, &p);
	}
	if (argc == 8 && !strcmp(argv[1], "attack-mapped")) {
		p = place_of(argv + 3);
		attack_mapped(atoi(argv[2]), &p);
		return 0;
	}
	nic_open(&nic);
	test_default(&nic);
	test_namespace(&nic);
	test_set_job(&nic);
	test_set_job_segment(&nic);
	test_map();
	test_user_contexts();
	test_quota(&nic);
	nic_close(&nic);
	test_user_shares();
	test_user_aperture();
	test_attacks_here();
	return 0;
}
