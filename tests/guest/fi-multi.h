/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For libfabric test programs: buffers that many messages are received into, one behind
 * the other, and the order in which messages were matched with their places.
 */
#ifndef FI_MULTI_H
#define FI_MULTI_H

#include "fi-check.h"

#define MULTI_POOLS 4

/* Buffers that messages are received into one behind the other. */
static struct {
    uint8_t bytes[MULTI_POOLS][4096];
    uint64_t posted[MULTI_POOLS];       /* the number of its last post */
    uint64_t posts;
} multi;

static void multi_post(unsigned int pool)
{
    struct iovec iov = { multi.bytes[pool], sizeof(multi.bytes[pool]) };
    struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1,
                          .addr = FI_ADDR_UNSPEC,
                          .context = multi.bytes[pool] };

    multi.posted[pool] = ++multi.posts;
    must("recvmsg", fi_recvmsg(me.ep, &msg, FI_MULTI_RECV));
}

/* The pool of a byte. */
static unsigned int multi_pool(const void *p)
{
    return ((const uint8_t *)p - multi.bytes[0]) / sizeof(multi.bytes[0]);
}

/* Returns a place that is higher for later posts, and within a post for higher bytes. */
static uint64_t multi_place(const void *p)
{
    unsigned int pool = multi_pool(p);

    if (pool >= MULTI_POOLS) {
        fail("a message in no buffer");
        return 0;
    }
    return multi.posted[pool] << 32 |
           ((const uint8_t *)p - multi.bytes[pool]);
}

/* FI_ORDER_SAS: messages are matched in the order in which they were sent. */
static void multi_check_order(const uint64_t *places, unsigned int count)
{
    unsigned int i;

    for (i = 1; i < count; i++) {
        if (places[i] <= places[i - 1]) {
            fail("message %u is at %#llx, the one before at %#llx", i,
                 (unsigned long long)places[i],
                 (unsigned long long)places[i - 1]);
            return;
        }
    }
}

#endif /* FI_MULTI_H */
