/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the functions of poll.h. The test simulates the big lock and other threads.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "hw/rnic/core/poll.h"
#include "hw/rnic/core/vcpu.h"
#include "../../bql-stubs.h"

#define POLL_NS 4000
#define TRIES   1000

static uint32_t news;
static bool locked = true;
static unsigned releases;           /* releases of the big lock */
/* work of another thread, run by bql_unlock() with the lock held */
static void (*meanwhile)(void);
static unsigned unrefs;             /* calls of rnic_vcpu_unref() */
static Object owner = { .ref = 1 };

/* --- Functions that the poll calls ------------------------------------------------- */

bool bql_locked(void)
{
    return locked;
}

void bql_block_unlock(bool increase)
{
}

void bql_unlock(void)
{
    void (*work)(void) = meanwhile;

    g_assert_true(locked);
    locked = false;
    releases++;
    if (work) {
        meanwhile = NULL;
        locked = true;
        work();
        locked = false;
    }
}

void bql_lock_impl(const char *file, int line)
{
    g_assert_false(locked);
    locked = true;
}

void rnic_vcpu_unref(Object *obj)
{
    g_assert_true(obj == &owner && locked);
    g_assert_cmpuint(obj->ref, >, 1);
    obj->ref--;
    unrefs++;
}

static void news_arrive(void)
{
    qatomic_set(&news, news + 1);
}

/* --- Tests ------------------------------------------------------------------------- */

/* Polls without news; returns the number of looks at the netdevs. */
static unsigned poll_in_vain(void)
{
    int64_t before = get_clock();
    unsigned looks = 1;
    RNicPoll p;

    releases = unrefs = 0;
    g_assert_true(rnic_poll_begin(&p, &owner, &news));
    g_assert_cmpuint(owner.ref, ==, 2);
    g_assert_cmpuint(releases, ==, 0);
    while (rnic_poll_again(&p)) {
        g_assert_cmpuint(releases, ==, looks++);
        g_assert_true(locked);
    }
    g_assert_cmpint(get_clock() - before, >=, POLL_NS);
    g_assert_cmpuint(unrefs, ==, 0);
    rnic_poll_end(&p);
    g_assert_cmpuint(unrefs, ==, 1);
    g_assert_cmpuint(owner.ref, ==, 1);
    return looks;
}

/* Without news a poll takes 4 us, and releases the lock between any two looks. */
static void test_vain(void)
{
    unsigned most = 0;

    /* tries again, because on a loaded machine the 4 us may end before the second look */
    for (unsigned i = 0; i < TRIES && most < 2; i++) {
        most = poll_in_vain();
    }
    g_assert_cmpuint(most, >=, 2);
}

/*
 * Polls while news arrive, after which the poll must end.  Returns false if the 4 us were
 * over before the second look.
 */
static bool poll_with_news(void)
{
    RNicPoll p;
    bool more;

    news_arrive();          /* news before the poll must not end the poll */
    releases = 0;
    g_assert_true(rnic_poll_begin(&p, &owner, &news));
    meanwhile = news_arrive;
    more = rnic_poll_again(&p);
    meanwhile = NULL;
    g_assert_cmpuint(releases, ==, more);
    g_assert_false(more && rnic_poll_again(&p));
    rnic_poll_end(&p);
    return more;
}

/* News while the lock is released, or during a look, ends the poll. */
static void test_news(void)
{
    unsigned tries = 0;
    RNicPoll p;

    while (!poll_with_news()) {
        g_assert_cmpuint(++tries, <, TRIES);
    }
    releases = 0;
    g_assert_true(rnic_poll_begin(&p, &owner, &news));
    news_arrive();
    g_assert_false(rnic_poll_again(&p));
    g_assert_cmpuint(releases, ==, 0);
    rnic_poll_end(&p);
}

/*
 * Polls with news, and then waits for @other in vain.  Returns false if the 4 us were
 * over before the second look.
 */
static bool poll_continued(const uint32_t *other)
{
    int64_t before;
    RNicPoll p;
    bool more;

    g_assert_true(rnic_poll_begin(&p, &owner, &news));
    g_assert_false(rnic_poll_continue(&p, other, *other));      /* no news yet */
    news_arrive();
    before = get_clock();
    more = rnic_poll_continue(&p, other, *other);
    g_assert_false(rnic_poll_continue(&p, other, *other));
    while (rnic_poll_again(&p)) {
        g_assert_true(locked);
    }
    g_assert_cmpint(get_clock() - before, >=, POLL_NS);
    rnic_poll_end(&p);
    return more;
}

/*
 * A poll that has had its news can wait for other news, once.  These news may have come
 * before.
 */
static void test_continue(void)
{
    static uint32_t other = 7;
    unsigned tries = 0;
    RNicPoll p;

    while (!poll_continued(&other)) {
        g_assert_cmpuint(++tries, <, TRIES);
    }
    g_assert_true(rnic_poll_begin(&p, &owner, &news));
    news_arrive();
    releases = 0;
    g_assert_false(rnic_poll_continue(&p, &other, other - 1));
    g_assert_cmpuint(releases, ==, 0);
    rnic_poll_end(&p);
}

/* Polls as a second vCPU, which must not look at netdevs, but waits without the lock. */
static void second_vcpu(void)
{
    int64_t before = get_clock();
    RNicPoll p;

    releases = 0;
    g_assert_false(rnic_poll_begin(&p, &owner, &news));
    g_assert_cmpint(get_clock() - before, >=, POLL_NS);
    g_assert_cmpuint(releases, ==, 1);
    rnic_poll_end(&p);
}

/* One vCPU of a machine takes frames at a time, until its poll ends. */
static void test_one(void)
{
    RNicPoll p;

    for (unsigned i = 0; i < 2; i++) {
        g_assert_true(rnic_poll_begin(&p, &owner, &news));
        second_vcpu();
        second_vcpu();
        g_assert_cmpuint(owner.ref, ==, 2);
        rnic_poll_end(&p);
        g_assert_cmpuint(owner.ref, ==, 1);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/poll/vain", test_vain);
    g_test_add_func("/core/poll/news", test_news);
    g_test_add_func("/core/poll/continue", test_continue);
    g_test_add_func("/core/poll/one", test_one);
    return g_test_run();
}
