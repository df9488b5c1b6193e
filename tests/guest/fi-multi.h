/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For libfabric test programs: FI_MULTI_RECV buffers, which receive many messages one
 * after the other, and a check that messages were matched in order.
 */
#ifndef FI_MULTI_H
#define FI_MULTI_H

#include "fi-check.h"

#define MULTI_POOLS 4

/* The FI_MULTI_RECV buffers, called pools. */
static struct {
    uint8_t bytes[MULTI_POOLS][4096];
    uint64_t posted[MULTI_POOLS];       /* for each pool: number of its last post */
    uint64_t posts;                     /* number of posts of all pools */
} multi;

/*
 * Posts the pool with number @pool as a FI_MULTI_RECV buffer for messages of all
 * sources.
 */
static void multi_post(unsigned int pool)
{
    struct iovec iov = { multi.bytes[pool], sizeof(multi.bytes[pool]) };
    struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1,
                          .addr = FI_ADDR_UNSPEC,
                          .context = multi.bytes[pool] };

    multi.posted[pool] = ++multi.posts;
    must("recvmsg", fi_recvmsg(me.ep, &msg, FI_MULTI_RECV));
}

/*
 * Returns the number of the pool that contains byte @p; MULTI_POOLS or more if no pool
 * contains @p.
 */
static unsigned int multi_pool(const void *p)
{
    return ((const uint8_t *)p - multi.bytes[0]) / sizeof(multi.bytes[0]);
}

/*
 * Returns the place of byte @p, a number for comparisons: bytes of a later post have
 * higher places, and so have later bytes of the same post.  Reports a failure and
 * returns 0 if no pool contains @p.
 */
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

/*
 * Checks that @count places increase: by FI_ORDER_SAS, messages match in the order of
 * their sends.
 */
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
