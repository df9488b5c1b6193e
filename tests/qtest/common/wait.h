/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for what a machine does, in real time. */
#ifndef RNIC_WAIT_H
#define RNIC_WAIT_H

/* A test fails when it has waited so long for something, even on a busy host. */
#define WAIT_MS 60000

/* Requests after which QEMU has run all bottom halves and sockets that were due. */
#define WAIT_REQUESTS 8

/* Returns when a wait that begins now fails; the argument of wait_check(). */
static inline int64_t wait_end(void)
{
    return g_get_monotonic_time() + WAIT_MS * 1000;
}

/* Fails if the wait has lasted too long.  A macro, so that the message has the line. */
#define wait_check(end) g_assert_cmpint(g_get_monotonic_time(), <, end)

/* Repeats the statement @work until @cond, a C expression, is true. */
#define wait_until(cond, work) \
    do { \
        int64_t end_ = wait_end(); \
        while (!(cond)) { \
            wait_check(end_); \
            work; \
        } \
    } while (0)

/* The @work of a wait for what QEMU does alone. */
static inline void wait_pause(void)
{
    g_usleep(1000);
}

/*
 * Lets QEMU finish what it can without time passing.  @work sends it one request, and
 * receives what the device has sent.
 */
#define wait_settle(work) \
    do { \
        for (unsigned i_ = 0; i_ < WAIT_REQUESTS; i_++) { \
            work; \
        } \
    } while (0)

#endif /* RNIC_WAIT_H */
