/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Endpoints on NICs of the loop transport, and checks. */
#ifndef BED_H
#define BED_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "loop.h"

#define BED_WINDOW 65536        /* bytes that peers may read and write */

/* An endpoint with a NIC of its own. */
struct bed_node {
    struct fid_domain *domain;
    struct fid_av *av;          /* after bed_open(): entry n is the address of node n */
    struct fid_cq *cq;          /* completions of sends, RMA, atomics, receives */
    struct fid_cntr *sent, *received;
    struct fid_ep *ep;
    struct fid_mr *mr;          /* memory region of @window */
    struct rnic_fi_name name;
    uint8_t window[BED_WINDOW];
};

struct bed {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct bed_node node[LOOP_NODES];
};
extern struct bed bed;

/* A test: its name, and the function that runs the test while all endpoints are open. */
struct bed_case {
    const char *name;
    void (*run)(void);
};
extern const struct bed_case fail_cases[], msg_cases[], name_cases[], rma_cases[];
extern const struct bed_case wait_cases[], exanet_cases[];

/* Number of failed checks of all cases. */
extern unsigned int bed_failures;

/* The next @bed_calloc_fails calls of calloc() for one object of @bed_calloc_size bytes fail. */
extern size_t bed_calloc_size;
extern unsigned int bed_calloc_fails;

/* Counts and prints the failure if @condition is false; returns @condition. */
#define CHECK(condition) bed_check(condition, #condition, __FILE__, __LINE__)
bool bed_check(bool good, const char *what, const char *file, int line);

/* Open and close the fabric, and the endpoints of all nodes. */
void bed_open(void);
void bed_close(void);

/*
 * Open and close the endpoint of node @nr with its domain, AV, CQ, counters and
 * region.
 */
void bed_node_open(unsigned int nr, enum fi_wait_obj wait);
void bed_node_close(unsigned int nr);

/* Polls each open endpoint @rounds times. */
void bed_poll(unsigned int rounds);

/*
 * Waits for the next completion of node @nr, and stores the completion in @entry.
 * Returns 0, the positive FI_E code of a completion with an error, FI_ETIMEDOUT after
 * ten seconds, or FI_EOTHER if a read of the CQ fails.
 */
int bed_wait(unsigned int nr, struct fi_cq_tagged_entry *entry);

/*
 * Waits for the next completion of node @nr.  Checks that the completion has no error
 * and has the context @context.
 */
void bed_done(unsigned int nr, void *context);

/* Fills the @len bytes at @buf with a pattern that depends on @seed. */
void bed_fill(void *buf, size_t len, uint32_t seed);
/* Returns true if the @len bytes at @buf have the pattern of bed_fill() with @seed. */
bool bed_filled(const void *buf, size_t len, uint32_t seed);

#endif
