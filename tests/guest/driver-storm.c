// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Address spaces that change while the NIC uses them.  The NIC must not write to unmapped
 * memory, and must use the memory that is mapped in its place.
 */
#include "driver-common.h"

#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS	200
#define BYTES	(8 * PAGE)

struct views {
	int fd;		/* memory of both areas */
	uint8_t *area;	/* target of the NIC: a mapping of one area, or other memory */
	uint8_t *page[2];	/* permanent mappings of both areas */
};

static void views_init(struct views *v)
{
	int i;

	v->fd = memfd_create("driver-storm", MFD_CLOEXEC);
	must(v->fd >= 0 && !ftruncate(v->fd, 2 * BYTES), "memfd");
	for (i = 0; i < 2; i++) {
		v->page[i] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				  MAP_SHARED, v->fd, i * BYTES);
		must(v->page[i] != MAP_FAILED, "mmap");
	}
	v->area = memory(BYTES);
}

static void views_show(struct views *v, int i)
{
	must(mmap(v->area, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		  v->fd, i * BYTES) == v->area, "mmap over");
}

static void views_free(struct views *v)
{
	munmap(v->area, BYTES);
	munmap(v->page[0], BYTES);
	munmap(v->page[1], BYTES);
	close(v->fd);
}

/* Maps other pages at the same address, again and again. */
static void test_replace(struct nic *nic)
{
	uint8_t *src = memory(BYTES);
	struct views v;
	int i, done = 0, right = 0, kept = 0;

	views_init(&v);
	for (i = 0; i < ROUNDS; i++) {
		views_show(&v, i & 1);
		fill(src, BYTES, i);
		done += DONE_STATE(nic_copy(nic, v.area, src, BYTES));
		right += filled(v.page[i & 1], BYTES, i);
		kept += !i || filled(v.page[!(i & 1)], BYTES, i - 1);
	}
	check_value(done, ROUNDS, "writes to pages that were replaced");
	check_value(right, ROUNDS, "all went to the new pages");
	check_value(kept, ROUNDS, "none went to the old ones");
	views_free(&v);
	munmap(src, BYTES);
}

/* The NIC reads the source from the pages that are mapped now. */
static void test_replace_source(struct nic *nic)
{
	uint8_t *dst = memory(BYTES);
	struct views v;
	int i, right = 0;

	views_init(&v);
	fill(v.page[0], BYTES, 100);
	fill(v.page[1], BYTES, 101);
	for (i = 0; i < ROUNDS; i++) {
		views_show(&v, i & 1);
		right += DONE_STATE(nic_copy(nic, dst, v.area, BYTES)) &&
			 filled(dst, BYTES, 100 + (i & 1));
	}
	check_value(right, ROUNDS, "writes from pages that were replaced");
	views_free(&v);
	munmap(dst, BYTES);
}

static void test_move(struct nic *nic)
{
	uint8_t *src = memory(BYTES), *old = memory(BYTES), *to = memory(BYTES);
	uint8_t *new;

	fill(src, BYTES, 20);
	check(DONE_STATE(nic_copy(nic, old, src, BYTES)), "write before mremap()");
	new = mremap(old, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	must(new == to, "mremap");
	fill(src, BYTES, 21);
	check(FAILED_STATE(nic_copy(nic, old, src, BYTES)),
	      "nothing can be written to where it was");
	check(filled(new, BYTES, 20), "the pages are as they were");
	check(DONE_STATE(nic_copy(nic, new, src, BYTES)) &&
	      filled(new, BYTES, 21), "write to where it is");
	munmap(new, BYTES);
	munmap(src, BYTES);
}

static void test_protect(struct nic *nic)
{
	uint8_t *src = memory(BYTES), *dst = memory(BYTES);
	int i, right = 0;

	fill(dst, BYTES, 30);
	for (i = 0; i < 20; i++) {
		fill(src, BYTES, 31 + i);
		mprotect(dst, BYTES, PROT_READ);
		right += FAILED_STATE(nic_copy(nic, dst, src, BYTES)) &&
			 filled(dst, BYTES, 30 + i);
		mprotect(dst, BYTES, PROT_READ | PROT_WRITE);
		right += DONE_STATE(nic_copy(nic, dst, src, BYTES)) &&
			 filled(dst, BYTES, 31 + i);
	}
	check_value(right, 40, "mprotect() counts for the NIC at once");
	munmap(src, BYTES);
	munmap(dst, BYTES);
}

/* --- all changes at once -------------------------------------------------- */

#define STORM_BYTES	(64 * PAGE)
#define STORM_SECONDS	4
#define STORM_ROUNDS	10
#define STORM_CHANNELS	8

struct storm {
	uint8_t *area;		/* unmapped and mapped again, in turn */
	atomic_bool stop;
	unsigned int spoilt;
	atomic_uint rounds;
};

/*
 * Unmaps the area and allocates other memory, which probably gets the same pages.  Counts
 * the rounds in which the NIC writes to this memory.
 */
static void *storm_remap(void *arg)
{
	struct storm *s = arg;
	uint8_t *other;

	while (!s->stop) {
		madvise(s->area, STORM_BYTES, MADV_DONTNEED);
		munmap(s->area, STORM_BYTES);
		other = memory(STORM_BYTES);
		fill(other, STORM_BYTES, s->rounds);
		mprotect(other, STORM_BYTES, PROT_READ);
		usleep(1000);
		s->spoilt += !filled(other, STORM_BYTES, s->rounds);
		munmap(other, STORM_BYTES);
		must(mmap(s->area, STORM_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		     s->area, "mmap over");
		usleep(1000);
		s->rounds++;
	}
	return NULL;
}

static void test_storm(struct nic *nic)
{
	/*
	 * allocated now, because memory() must not return the address of the unmapped
	 * area later
	 */
	uint8_t *src = memory(STORM_BYTES);
	struct storm s = { .area = (uint8_t *)(1UL << 44) };
	double end = seconds() + STORM_SECONDS, last = end + NIC_TIMEOUT;
	unsigned int ended = 0, failed = 0, ch;
	uint64_t gva, status;
	pthread_t t;

	must(mmap(s.area, STORM_BYTES, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == s.area,
	     "mmap");
	gva = nic_gva(nic, s.area);
	fill(src, STORM_BYTES, 50);
	must(!pthread_create(&t, NULL, storm_remap, &s), "pthread_create");
	/* a loaded machine gets more time for its rounds */
	while (seconds() < end ||
	       (s.rounds <= STORM_ROUNDS && seconds() < last)) {
		for (ch = 0; ch < STORM_CHANNELS; ch++) {
			if (!nic_idle(nic, ch))
				continue;
			failed += FAILED_STATE(nic->channel[ch].status);
			ended++;
			nic_start(nic, ch, src, gva, STORM_BYTES,
				  nic->q.context, 0);
		}
	}
	s.stop = true;
	pthread_join(t, NULL);
	for (ch = 0, end = 0; ch < STORM_CHANNELS; ch++)
		end += nic_wait(nic, ch) == ~0ULL;
	printf("# %u transfers, %u of them failed, %u times other memory\n",
	       ended, failed, s.rounds);
	check_value(end, 0, "in a storm of munmap() all transfers end");
	check(ended > STORM_CHANNELS && s.rounds > STORM_ROUNDS, "there was a storm");
	check_value(s.spoilt, 0, "no memory was written that was not meant");
	status = nic_copy(nic, s.area, src, STORM_BYTES);
	if (!DONE_STATE(status))
		printf("# status 0x%llx\n", (unsigned long long)status);
	check(DONE_STATE(status), "afterwards writes end well");
	check(filled(s.area, STORM_BYTES, 50), "and bring the data");
	munmap(s.area, STORM_BYTES);
	munmap(src, STORM_BYTES);
}

int main(void)
{
	struct nic nic;

	nic_open(&nic);
	test_replace(&nic);
	test_replace_source(&nic);
	test_move(&nic);
	test_protect(&nic);
	test_storm(&nic);
	nic_close(&nic);
	return 0;
}
