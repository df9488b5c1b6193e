/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU that polls for its guest: the guest's process has looked in vain and says so by
 * a store to the device, inside which the vCPU takes frames from netdevs itself.  To wake
 * the main loop up for a frame takes longer than all the rest of a small message.
 *
 * The device looks at its netdevs (qemu_net_busy_poll()) and does what the frames ask
 * for; these functions say how often, and give up the big lock in between, because the
 * vCPU would keep out with it all others that bring something.
 */
#ifndef RNIC_CORE_POLL_H
#define RNIC_CORE_POLL_H

#include "qom/object.h"

/* One poll of a vCPU, on its stack. */
typedef struct RNicPoll {
    Object *owner;
    const uint32_t *news;
    uint32_t seen;                  /* value of *news in the beginning */
    int64_t end;                    /* get_clock() */
    bool looking;                   /* this vCPU is the one that takes frames */
} RNicPoll;

/*
 * Begins a poll of device @owner, in a store that rnic_vcpu_access() has found to be the
 * vCPU's own.  @news: number of things that a process may wait for, which the device
 * changes with qatomic_set().  Returns true if the caller is to look at its netdevs now;
 * false if another vCPU of the machine does so: the function has then waited for news
 * for as long as a poll takes.
 */
bool rnic_poll_begin(RNicPoll *p, Object *owner, const uint32_t *news);

/*
 * Releases the big lock for a moment.  Returns true if the caller must look at its
 * netdevs again; false if *@news has changed, or if the poll has taken 4 us.  The device
 * may have been reset or unplugged meanwhile; its state is still allocated.
 */
bool rnic_poll_again(RNicPoll *p);

/* Ends a poll, whatever rnic_poll_begin() has returned. */
void rnic_poll_end(RNicPoll *p);

#endif /* RNIC_CORE_POLL_H */
