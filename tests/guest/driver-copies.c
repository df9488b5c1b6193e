// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies by the central DMA: if one user copies again and again, another user can still
 * copy.
 *
 * The copiers are processes of user 1000.  Each of their copies reads a page that does
 * not exist yet, so the copy stops in a page fault and keeps its channel.  This program
 * gives tickets; each ticket lets one copy get its page and end.  So the tests can count
 * copies, and need not measure seconds.
 */
#include "driver-common.h"

#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define COPIERS		12	/* more than twice the number of channels */
#define PAGES		256	/* maximal number of copies of a copier */
#define BYTES		8	/* of a copier's copy, which causes only one page fault */
#define OTHERS_BYTES	(3UL << 20)	/* more than the driver copies in one step */
#define OTHERS_COPIES	4

/* Counters of the processes, in memory that they share. */
static struct {
	int ready;	/* copiers whose next step is their first copy */
	int held;	/* copies that occupy a channel, and wait for a ticket */
	int most;	/* maximum of held */
	int tickets;	/* tickets that no copy has taken */
	int taken;	/* tickets that copies have taken: at least the copies that ended */
	bool stop;	/* copies need no ticket, and copiers end */
	bool done;	/* the copies of the other user have ended */
} *shared;

static int get(int *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

static int add(int *counter, int n)
{
	return __atomic_add_fetch(counter, n, __ATOMIC_SEQ_CST);
}

static bool is_set(bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void set(bool *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_SEQ_CST);
}

/* Waits until @counter is @value.  Returns false after NIC_TIMEOUT seconds. */
static bool becomes(int *counter, int value)
{
	double end = seconds() + NIC_TIMEOUT;

	while (get(counter) != value) {
		if (seconds() > end) {
			printf("# %d, expected %d\n", get(counter), value);
			return false;
		}
		usleep(1000);
	}
	return true;
}

/* --- copiers ---------------------------------------------------------------- */

/* Memory of a copier, whose pages serve_pages() supplies. */
struct missing {
	uint8_t *p;
	int uffd;
};

/*
 * Makes the pages at @m->p missing.  The caller is root, because other users' userfaultfd
 * does not serve page faults in the kernel.
 */
static void missing_init(struct missing *m)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = {
		.range = { .len = PAGES * PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	m->p = memory(PAGES * PAGE);
	r.range.start = (uintptr_t)m->p;
	m->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	must(m->uffd >= 0, "userfaultfd");
	must(!ioctl(m->uffd, UFFDIO_API, &api), "UFFDIO_API");
	must(!ioctl(m->uffd, UFFDIO_REGISTER, &r), "UFFDIO_REGISTER");
}

static void take_ticket(void)
{
	int n;

	while (!is_set(&shared->stop)) {
		n = get(&shared->tickets);
		if (n && __atomic_compare_exchange_n(&shared->tickets, &n, n - 1, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return;
		usleep(1000);
	}
}

/* Counts the copy whose page is missing, waits for a ticket, and supplies the page. */
static void *serve_pages(void *opaque)
{
	struct missing *m = opaque;
	struct uffdio_zeropage zero = { .range = { .len = PAGE } };
	struct uffd_msg msg;
	int n, most;

	while (read(m->uffd, &msg, sizeof(msg)) == sizeof(msg)) {
		n = add(&shared->held, 1);
		for (most = get(&shared->most); n > most; )
			if (__atomic_compare_exchange_n(&shared->most, &most, n, false,
							__ATOMIC_SEQ_CST,
							__ATOMIC_SEQ_CST))
				break;
		take_ticket();
		/* before the copy ends, because the next copy then has a channel at once */
		add(&shared->held, -1);
		add(&shared->taken, 1);
		zero.range.start = msg.arg.pagefault.address & ~(PAGE - 1);
		must(!ioctl(m->uffd, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");
	}
	return NULL;
}

/* Copies @len bytes of this process by CDMA.  Returns 0 or the positive errno. */
static int copy(struct nic *nic, void *dst, const void *src, uint64_t len)
{
	struct exanet_ioc_cdma c = {
		.src = (uintptr_t)src,
		.dst = nic_gva(nic, dst),
		.len = len,
		.flags = EXANET_CDMA_DST_REMOTE,
		.dst_ctx = nic->q.context,
	};

	return ioctl(nic->fd, EXANET_IOC_CDMA, &c) ? errno : 0;
}

/* Copies again and again as user 1000.  Returns 0 if all copies succeed. */
static int copier(void)
{
	uint8_t *dst = memory(PAGE);
	struct missing m;
	pthread_t thread;
	struct nic nic;
	int i;

	missing_init(&m);
	become(1000);
	/* only now, because the change of user in become() clears this setting */
	must(!prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
	nic_open(&nic);
	memset(dst, 1, PAGE);
	must(!pthread_create(&thread, NULL, serve_pages, &m), "pthread_create");
	add(&shared->ready, 1);
	for (i = 0; i < PAGES && !is_set(&shared->stop); i++)
		if (copy(&nic, dst, m.p + i * PAGE, BYTES))
			return 1;
	return 0;
}

static void copiers_start(pid_t *pids)
{
	int i;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	for (i = 0; i < COPIERS; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(copier());
	}
	must(becomes(&shared->ready, COPIERS), "copiers");
}

static void copiers_end(const pid_t *pids)
{
	int i, bad = 0;

	set(&shared->stop, true);
	for (i = 0; i < COPIERS; i++)
		bad += reap(pids[i]) != 0;
	check_value(bad, 0, "the user's own copies end well");
	check(comes_to("contexts_in_use", 0), "the contexts are given back");
}

/* --- another user ----------------------------------------------------------- */

/* Copies as user 1001.  Returns 0 if the copies are right. */
static int other(void)
{
	uint8_t *src = memory(OTHERS_BYTES), *dst = memory(OTHERS_BYTES);
	struct nic nic;
	int i;

	become(1001);
	nic_open(&nic);
	for (i = 0; i < OTHERS_COPIES; i++) {
		fill(src, OTHERS_BYTES, i);
		if (copy(&nic, dst, src, OTHERS_BYTES) || !filled(dst, OTHERS_BYTES, i))
			return 1;
	}
	set(&shared->done, true);
	return 0;
}

/* Copies once as user 1001.  The copy is short, so it needs a channel once. */
static int other_once(void)
{
	uint8_t *area = memory(2 * PAGE);
	struct nic nic;
	int ret;

	become(1001);
	nic_open(&nic);
	memset(area, 1, 2 * PAGE);
	ret = copy(&nic, area, area + PAGE, BYTES);
	set(&shared->done, true);
	return ret != 0;
}

static pid_t other_start(int (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(run());
	return pid;
}

/* Waits until the other user's copies have ended.  Returns false after @limit seconds. */
static bool other_ends(double limit)
{
	double end = seconds() + limit;

	while (!is_set(&shared->done)) {
		if (seconds() > end)
			return false;
		usleep(1000);
	}
	return true;
}

/* --- tests ------------------------------------------------------------------ */

/*
 * Checks that at most @limit copies of a user occupy channels, and that another user can
 * copy meanwhile.
 */
static void test_limit(int limit)
{
	char text[16], name[100];
	pid_t pids[COPIERS], pid;

	snprintf(text, sizeof(text), "%d", limit);
	must(!set_parameter("user_copies", text), "user_copies");
	copiers_start(pids);
	snprintf(name, sizeof(name), "user_copies=%d: a user has this number of channels",
		 limit);
	check(becomes(&shared->held, limit), name);
	pid = other_start(other);
	check(other_ends(NIC_TIMEOUT),
	      "another user's copies end before the first of these copies");
	add(&shared->tickets, 2 * COPIERS);
	check(becomes(&shared->taken, 2 * COPIERS), "then the user's copies go on");
	snprintf(name, sizeof(name), "never more than %d at a time", limit);
	check(becomes(&shared->held, limit), "and as many as before have a channel");
	check_value(get(&shared->most), limit, name);
	copiers_end(pids);
	check_value(reap(pid), 0, "the other user's copies are right");
}

/*
 * One user occupies all channels, and more copies of this user wait.  Checks that another
 * user's copy gets one of the first four channels that become free.
 */
static void test_alternation(void)
{
	enum { TICKETS = 4 };	/* fewer than the copiers that wait */
	pid_t pids[COPIERS], pid;
	int n;

	must(!set_parameter("user_copies", "4"), "user_copies");
	copiers_start(pids);
	check(becomes(&shared->held, EXANET_CDMA_CHANNELS), "a user has all channels");
	usleep(100000);		/* the other copiers wait for a channel now */
	pid = other_start(other_once);
	check(!other_ends(0.5), "another user's copy waits");
	for (n = 0; n < TICKETS && !is_set(&shared->done); n++) {
		add(&shared->tickets, 1);
		must(becomes(&shared->taken, n + 1), "ticket");
		other_ends(2);
	}
	printf("# after %d copies of the first user\n", n);
	check(is_set(&shared->done), "it ends after at most four copies of the first user");
	check_value(get(&shared->most), EXANET_CDMA_CHANNELS,
		    "no more copies run than there are channels");
	copiers_end(pids);
	check_value(reap(pid), 0, "the other user's copy ends well");
}

int main(void)
{
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "mmap");
	must(!set_parameter("user_contexts", "14"), "user_contexts");
	test_limit(1);
	test_limit(3);
	test_alternation();
	must(!set_parameter("user_copies", "2"), "user_copies");
	must(!set_parameter("user_contexts", "8"), "user_contexts");
	return 0;
}
