/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The poll of a vCPU.  A process of the guest that finds no event in memory stores to the
 * device.  Inside this store the vCPU takes frames from the netdevs itself, because a
 * wake-up of the main loop takes longer than all other steps of a small message.
 *
 * The device polls its netdevs (qemu_net_busy_poll()) and does the work of the frames.
 * The functions of this header limit the time of a poll.  Between two polls of the
 * netdevs the functions release the big lock, because the threads that produce events
 * need this lock.
 */
#ifndef RNIC_CORE_POLL_H
#define RNIC_CORE_POLL_H

#include "qom/object.h"

/* State of one poll, on the stack of the vCPU's thread. */
typedef struct RNicPoll {
    Object *owner;                  /* the device; RNicPoll owns a reference */
    const uint32_t *events;         /* counter of the events of @owner */
    uint32_t seen;                  /* the event is any other value of *@events */
    int64_t end;                    /* end of the poll, ns of get_clock() */
    /* true: this vCPU takes frames; false: another vCPU does */
    bool polling;
} RNicPoll;

/*
 * Begins a poll of device @owner, in a store for which rnic_vcpu_access() is true.
 * *@events counts the events for which a process may wait; the device changes *@events
 * with qatomic_set().  Returns true if the caller must poll its netdevs now.  Returns
 * false if another vCPU of the machine polls: then the function has waited for an event,
 * for at most 4 us of real time, without the big lock.
 */
bool rnic_poll_begin(RNicPoll *p, Object *owner, const uint32_t *events);

/*
 * Returns false if the event counter of rnic_poll_begin() has changed since the start of
 * the poll, or if the poll has lasted 4 us of real time.  Otherwise waits for an event,
 * for at most 700 ns, without the big lock, and returns true: the caller must poll its
 * netdevs again.  During the wait the device may have been reset or unplugged; the QOM
 * object is still allocated.
 */
bool rnic_poll_again(RNicPoll *p);

/*
 * Continues a poll that has ended because of its event: until *@events differs from
 * @seen, for at most 4 us more.  Later calls of rnic_poll_again() wait for @events.
 * Returns the result of rnic_poll_again().  Returns false if the poll has ended because
 * of its time, or if the poll waits for @events already.
 */
bool rnic_poll_continue(RNicPoll *p, const uint32_t *events, uint32_t seen);

/*
 * Ends a poll and releases the reference to the device by rnic_vcpu_unref().  The caller
 * must call this function also if rnic_poll_begin() has returned false.
 */
void rnic_poll_end(RNicPoll *p);

#endif /* RNIC_CORE_POLL_H */
