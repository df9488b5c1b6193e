/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: poll of a vCPU for a process; see core/poll.h.  The vCPU reads frames from
 * the netdevs of all ports and runs the units, because a wake-up of the main loop takes
 * longer than a small message.
 */
#include "qemu/osdep.h"
#include "../core/poll.h"
#include "bar.h"
#include "exanet.h"
#include "../link/port.h"
#include "trace.h"

void exanet_poll_watch(void *opaque, bool on)
{
    ExanetState *s = opaque;

    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        rnic_port_watch(&s->port[i], on);
    }
    rnic_loop_polled(&s->loop, !on);
}

void exanet_poll(ExanetState *s, unsigned c)
{
    uint64_t before = s->counter[EXANET_CNT_RX_POLLED];
    RNicPoll poll;
    bool more;

    if (!s->ctx[c].enabled || s->ctx[c].quiesce) {
        return;
    }
    exanet_count(s, POLL);
    more = rnic_poll_begin(&poll, OBJECT(s->host.dev), &s->arrivals);
    if (more && s->enabled) {
        exanet_series_poll_begin(&s->polls);
    } else if (more) {
        /* takes no frames, so the main loop must drop them and find the end of a cable */
        exanet_series_end(&s->polls);
    }
    while (more && s->loop.bh && s->enabled && !s->loop.running) {
        for (unsigned i = 0; i < EXANET_LINKS; i++) {
            rnic_port_poll(&s->port[i]);
        }
        if (s->loop.due && s->loop.bh) {
            rnic_loop_run(&s->loop);
        }
        more = rnic_poll_again(&poll);
    }
    if (poll.polling) {
        exanet_series_poll_end(&s->polls);
    }
    trace_exanet_poll(s->node, c, s->counter[EXANET_CNT_RX_POLLED] - before);
    /*
     * may release the last reference to the device, if the guest has unplugged the device
     */
    rnic_poll_end(&poll);
}
