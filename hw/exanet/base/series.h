/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the series of polls of a device.  While polls of a vCPU follow each other,
 * the main loop neither wakes up for frames nor runs the units, because it would compete
 * with the vCPU for the big lock and, on a host with few cores, for a core.  The series
 * ends, and the main loop does both again, when no vCPU has polled for 150 to 500 us of
 * real time, or when a process asks for an interrupt.
 *
 * The caller of each function holds the big lock.
 */
#ifndef HW_EXANET_BASE_SERIES_H
#define HW_EXANET_BASE_SERIES_H

typedef struct ExanetSeries {
    /* makes the main loop watch the netdevs and run the units (@on), or not */
    void (*watch)(void *opaque, bool on);
    void *opaque;                   /* argument of @watch */
    int timer;                      /* timerfd that ends the series; -1: none */
    int64_t expiry;                 /* time at which @timer expires, ns of get_clock() */
    bool active;                    /* the netdevs do not watch for frames */
    bool polling;                   /* a vCPU takes frames now */
} ExanetSeries;

/*
 * Initializes @s.  Without a timerfd, for example if QEMU has no free descriptor, each
 * poll is a series.  @watch is not called while the device polls its netdevs.
 */
void exanet_series_init(ExanetSeries *s, void (*watch)(void *opaque, bool on),
                        void *opaque);
/*
 * Ends the series for ever, because the device is removed.  The caller may call this
 * function while a poll runs.
 */
void exanet_series_fini(ExanetSeries *s);

/*
 * Begins a series before a poll, unless a series is active.  Not after
 * exanet_series_fini().
 */
void exanet_series_poll_begin(ExanetSeries *s);
/* Continues the series after a poll.  Does nothing after exanet_series_fini(). */
void exanet_series_poll_end(ExanetSeries *s);

/*
 * Ends the series now, because a process has asked for an interrupt.  Does nothing if no
 * series is active.
 */
void exanet_series_end(ExanetSeries *s);

#endif /* HW_EXANET_BASE_SERIES_H */
