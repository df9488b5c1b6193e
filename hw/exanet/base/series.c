/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet NIC: the series of polls of a device; see series.h. */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#ifdef CONFIG_TIMERFD
#include <sys/timerfd.h>
#endif
#include "series.h"

#define SERIES_NS 500000    /* real time, ns, from the setting of the timer to the end */
/*
 * Remaining time, ns, below which a poll sets the timer again.  Not each poll sets the
 * timer, because on a host that is a virtual machine this takes about 10 us.
 */
#define SERIES_LEFT_NS 150000

#ifdef CONFIG_TIMERFD
static int timer_open(void)
{
    return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
}

static void timer_set(int timer)
{
    const struct itimerspec in = { .it_value.tv_nsec = SERIES_NS };

    timerfd_settime(timer, 0, &in, NULL);
}
#else
static int timer_open(void)
{
    return -1;
}

static void timer_set(int timer)
{
}
#endif

static void series_continue(ExanetSeries *s)
{
    s->expiry = get_clock() + SERIES_NS;
    timer_set(s->timer);
}

/* Ends the series if no poll runs, because the timer has expired. */
static void series_expired(void *opaque)
{
    ExanetSeries *s = opaque;
    uint64_t times;

    if (read(s->timer, &times, sizeof(times)) != sizeof(times)) {
        return;
    }
    if (s->polling) {
        series_continue(s);
    } else {
        exanet_series_end(s);
    }
}

void exanet_series_init(ExanetSeries *s, void (*watch)(void *opaque, bool on),
                        void *opaque)
{
    *s = (ExanetSeries) {
        .watch = watch,
        .opaque = opaque,
        .timer = timer_open(),
    };
    if (s->timer >= 0) {
        qemu_set_fd_handler(s->timer, series_expired, NULL, s);
    }
}

void exanet_series_fini(ExanetSeries *s)
{
    exanet_series_end(s);
    if (s->timer >= 0) {
        qemu_set_fd_handler(s->timer, NULL, NULL, NULL);
        close(s->timer);
        s->timer = -1;
    }
}

void exanet_series_poll_begin(ExanetSeries *s)
{
    s->polling = true;
    if (!s->active) {
        s->active = true;
        s->watch(s->opaque, false);
        series_continue(s);
    }
}

void exanet_series_poll_end(ExanetSeries *s)
{
    s->polling = false;
    if (s->timer < 0) {
        exanet_series_end(s);
    } else if (s->active && s->expiry - get_clock() < SERIES_LEFT_NS) {
        series_continue(s);
    }
}

void exanet_series_end(ExanetSeries *s)
{
    if (s->active) {
        s->active = false;
        s->watch(s->opaque, true);
    }
}
