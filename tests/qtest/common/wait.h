/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits, in real time, for events of a machine. */
#ifndef RNIC_WAIT_H
#define RNIC_WAIT_H

/* A wait fails after this time, which no event needs even on a busy host. */
#define WAIT_MS 60000

/*
 * Number of qtest requests after which QEMU has run all bottom halves, and the
 * handlers of all sockets, that were ready before.
 */
#define WAIT_REQUESTS 8

/*
 * Returns the monotonic time (us) at which a wait that begins now fails, for
 * wait_check().
 */
static inline int64_t wait_end(void)
{
    return g_get_monotonic_time() + WAIT_MS * 1000;
}

/*
 * Fails if the time @end of wait_end() has passed.  This is a macro, so that the
 * message has the line of the wait.
 */
#define wait_check(end) g_assert_cmpint(g_get_monotonic_time(), <, end)

/*
 * Repeats the statement @work until @cond, a C expression, is true.  Fails after WAIT_MS.
 */
#define wait_until(cond, work) \
    do { \
        int64_t end_ = wait_end(); \
        while (!(cond)) { \
            wait_check(end_); \
            work; \
        } \
    } while (0)

/*
 * Sleeps 1 ms.  This is the @work of wait_until() if the test has nothing to do
 * during the wait.
 */
static inline void wait_pause(void)
{
    g_usleep(1000);
}

/*
 * Lets QEMU finish all work that needs no virtual time, by WAIT_REQUESTS executions
 * of @work.  The statement @work sends one request to QEMU, and receives the frames
 * that the device has sent.
 */
#define wait_settle(work) \
    do { \
        for (unsigned i_ = 0; i_ < WAIT_REQUESTS; i_++) { \
            work; \
        } \
    } while (0)

#endif /* RNIC_WAIT_H */
