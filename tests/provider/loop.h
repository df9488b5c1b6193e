/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transport whose NICs, network and nodes are memory of this process.
 *
 * A NIC executes its requests in reap(), in the order of post(), by copying bytes.  A test
 * can let requests fail or wait, stop and kill nodes, and change the order.  Bases are
 * numbers of regions, not addresses, and a request that leaves its region fails, so that a
 * test notices a wrong address.  Threads may use NICs at the same time.
 */
#ifndef LOOP_H
#define LOOP_H

#include "rnic_fi.h"

#define LOOP_NODES          3
#define LOOP_MSG_CHANNELS   8
#define LOOP_WRITE_CHANNELS 4
#define LOOP_MBOX_ENTRIES   32
#define LOOP_REGIONS        16      /* that a NIC can expose at a time */
#define LOOP_KINDS          (RNIC_FI_REQUEST_WRITE_NOTE + 1)

/* Settings of the tests, and counts of all NICs. */
struct loop {
    uint32_t held;          /* bit k: requests of kind k wait */
    uint32_t stopped;       /* bit n: the mailboxes of node n show no arrivals */
    uint32_t dead;          /* bit n: node n refuses messages, and answers no reads */
    bool reverse;           /* requests are executed in reverse order */
    bool wide;              /* new bases have bits that keys do not carry */
    bool keep;              /* a read has its channel until the reap() after its end */
    unsigned int patience;  /* reap()s after which a full mailbox refuses a message */
    /* The next @fails requests of kind @fail_kind end with @fail_err. */
    enum rnic_fi_request_kind fail_kind;
    int fail_err;
    unsigned int fails;
    bool fail_late;         /* only reads that the peer's NIC has accepted fail */

    unsigned int posted[LOOP_KINDS];
    unsigned int busy;      /* calls of post() that found no free channel */
    unsigned int full;      /* requests that found a full mailbox */
    unsigned int hints;
    unsigned int arms;
    unsigned int leaks;     /* expose()s without unexpose(), and the reverse */
};
extern struct loop loop;

extern struct fi_provider loop_prov;
extern const struct rnic_fi_transport loop_transport;

/* Sets the settings to their defaults, and the counts to 0. */
void loop_reset(void);

/*
 * Executes held messages at once, and other held requests at the next progress.  Wakes the
 * processes that wait for an arrival or an end.
 */
void loop_release(void);

#endif
