/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport whose NICs, network and nodes are memory of this process.
 *
 * A NIC executes its requests in reap(), in the order of post(), by copying bytes.  A
 * test can let requests fail or wait, stop and kill nodes, and reverse the order.  Bases
 * are numbers of regions, not addresses.  A request that exceeds its region fails, so
 * that a test detects a wrong address.  Several threads may use NICs at the same time.
 */
#ifndef LOOP_H
#define LOOP_H

#include "rnic_fi.h"

#define LOOP_NODES          3
#define LOOP_MSG_CHANNELS   8
#define LOOP_WRITE_CHANNELS 4
#define LOOP_MBOX_ENTRIES   32      /* default of @mbox_entries */
#define LOOP_MBOX_MAX       512     /* maximum of @mbox_entries */
#define LOOP_REGIONS        16      /* regions that a NIC can expose at a time */
#define LOOP_KINDS          (RNIC_FI_REQUEST_WRITE_NOTE + 1)

/* Settings that tests change, and counts of all NICs together. */
struct loop {
    uint32_t held;          /* bit k: requests with kind k end only by @fails */
    uint32_t stopped;       /* bit n: the mailboxes of node n show no arrivals */
    /*
     * Bit n: node n is dead.  Requests to node n fail, but datagrams are lost, and
     * accepted reads wait.
     */
    uint32_t dead;
    bool reverse;           /* NICs execute requests in reverse order */
    bool wide;              /* new bases have a bit that keys cannot contain */
    bool keep;              /* a read keeps its channel until the reap() after its end */
    unsigned int mbox_entries;  /* a mailbox with so many messages is full */
    unsigned int waits_max; /* attempts that find a full mailbox and do not fail */
    /* The next @fails requests with kind @fail_kind end with @fail_err. */
    enum rnic_fi_request_kind fail_kind;
    int fail_err;
    unsigned int fails;
    bool fail_accepted;     /* only reads that the peer's NIC has accepted fail */

    void (*on_hint)(void);  /* hint() calls this function, unless it is NULL */

    unsigned int posted[LOOP_KINDS];
    unsigned int busy;      /* calls of post() that found no free channel */
    unsigned int full;      /* attempts to store a message in a full mailbox */
    unsigned int hints;     /* calls of hint() */
    unsigned int arms;      /* calls of arm() */
    unsigned int leaks;     /* expose() without unexpose(), and the reverse */
};
extern struct loop loop;

extern struct fi_provider loop_prov;
extern const struct rnic_fi_transport loop_transport;

/* Sets all settings to their defaults, and all counts to 0. */
void loop_reset(void);

/*
 * Clears @held.  If a held request has @wake (a READ only after the peer's NIC has
 * accepted the request), wakes the process of the request if it has armed its NIC.
 * Delivers held messages for which their mailbox has room at once, and wakes each
 * receiver that has armed its NIC.  The next reap() continues all other held requests.
 */
void loop_release(void);

#endif
