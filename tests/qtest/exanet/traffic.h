/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic between the nodes of a network: writes, reads and messages, called operations.
 * The test keeps a copy of all memory that operations may change, and asserts that each
 * notification in memory has the right data, and that each message, and each notification
 * in a mailbox, arrives exactly once with the right data.  After a reset or a kill of a
 * node the test permits exceptions: see @may_fail, @may_repeat, @forgotten.
 *
 * A test works in waves.  In each wave the test starts operations, lets the operations
 * run and checks their effects.  The memory that an operation has changed is not reused
 * soon, and is compared again at the end of the test, because only a later operation that
 * reuses the memory may change the memory.
 */
#ifndef EXANET_TRAFFIC_H
#define EXANET_TRAFFIC_H

#include "network.h"

/*
 * Bytes of a node's RAM for targets of operations, from EXANET_RAM_DST on, and bytes of
 * the longest operation.
 */
#define EXANET_TRAFFIC_BYTES 0x1000000
#define EXANET_TRAFFIC_MAX 0x100000

enum exanet_op_kind {
    EXANET_OP_WRITE,
    EXANET_OP_READ,
    EXANET_OP_MESSAGE,              /* message of the packetizer to a mailbox */
    EXANET_OP_KINDS,
};

/* Where the notification at the end of a write goes. */
enum exanet_op_note {
    EXANET_NOTE_NONE,
    EXANET_NOTE_MAILBOX,
    EXANET_NOTE_MEMORY,
};

typedef struct ExanetOp {
    enum exanet_op_kind kind;
    enum exanet_op_note note;
    unsigned from;                  /* node that starts the operation */
    unsigned to; /* target of a write or message, owner of the data of a read */
    unsigned channel;
    uint32_t len;
    uint32_t src;                   /* offset of the data in the source node's pool */
    uint32_t dst;                   /* offset of the target from EXANET_RAM_DST */
    uint32_t note_at; /* NOTE_MEMORY: offset of the notification from EXANET_RAM_DST */
    uint64_t id;                    /* unique; data of the notification */
    int64_t start;                  /* virtual time of the start, ns */
    int64_t end;                    /* virtual time of the end, ns; 0: not ended */
    bool failed;
    /*
     * if the operation failed: field CHSTAT_ERROR, field PKTZSTAT_RESP, field HANDLE of
     * the notification, or EXANET_CHERR_ABORTED after a reset or kill of node @from
     */
    unsigned error;
    unsigned arrived;               /* mailbox entries that the operation has caused */
    /* results that the test allows after a reset or end of one of the two nodes: */
    bool may_fail;
    bool may_repeat;                /* more than one notification may arrive */
    bool forgotten;                 /* the target's memory is lost and not compared */
} ExanetOp;

typedef struct ExanetTrafficNode {
    uint8_t *pool;                  /* copy of the node's RAM from EXANET_RAM_SRC on */
    uint8_t *image;                 /* RAM from EXANET_RAM_DST on, as it should be */
    /*
     * offset in @image behind the last reserved target; the next target goes there, or to
     * the start of @image if the rest of @image is too small
     */
    uint32_t next;
    /*
     * end of the guard behind the highest target in @image: exanet_traffic_free()
     * compares up to here
     */
    uint32_t used;
    /*
     * number of entries that the test has taken from the mailbox of each context since
     * the mailbox was opened
     */
    uint32_t head[EXANET_NETWORK_CONTEXTS];
    /* operation that runs in each channel, NULL: none; packet[] has reads and messages */
    ExanetOp *write[EXANET_WRITE_CHANNELS];
    ExanetOp *packet[EXANET_PKTZ_CHANNELS];
} ExanetTrafficNode;

typedef struct ExanetTraffic {
    ExanetNetwork *f;
    GRand *rand;
    GHashTable *ops;                /* id -> ExanetOp of this wave, owned */
    GHashTable *old;                /* ids of the operations of earlier waves */
    uint64_t ids;
    /*
     * the test has other transfers under way, so exanet_traffic_run() does not wait until
     * the firmware is idle
     */
    bool others;
    bool restless; /* a node was reset or killed since the last exanet_traffic_run() */
    uint64_t ctrl;                  /* further bits of word CTRL of all writes */
    ExanetTrafficNode node[EXANET_NETWORK_NODES];
} ExanetTraffic;

ExanetTraffic *exanet_traffic_new(ExanetNetwork *f, uint32_t seed);
/*
 * Does the same as exanet_traffic_check(), compares the memory of all targets again in
 * the nodes that run, and frees @tr, but not the network.
 */
void exanet_traffic_free(ExanetTraffic *tr);
/* Reset, kill or start again (revive) node @n while operations run. */
void exanet_traffic_reset(ExanetTraffic *tr, unsigned n);
void exanet_traffic_kill(ExanetTraffic *tr, unsigned n);
void exanet_traffic_revive(ExanetTraffic *tr, unsigned n);

/*
 * Start one operation of node @from, or @who for a read, and return the operation.
 * Return NULL if this node has no free channel.  A message has @size bytes, or the
 * nearest size from 8 to EXANET_PKTZ_PAYLOAD_MAX.
 */
ExanetOp *exanet_traffic_write(ExanetTraffic *tr, unsigned from, unsigned to,
                               uint32_t len, enum exanet_op_note note);
ExanetOp *exanet_traffic_read(ExanetTraffic *tr, unsigned who, unsigned owner,
                              uint32_t len);
ExanetOp *exanet_traffic_message(ExanetTraffic *tr, unsigned from, unsigned to,
                                 unsigned size);
/*
 * Starts a random operation of at most @max bytes, mostly a short one; @max is at least
 * 2.  A message has at least 8 bytes.  Returns NULL if @from has no free channel for the
 * operation.
 */
ExanetOp *exanet_traffic_random(ExanetTraffic *tr, unsigned from, unsigned to,
                                uint32_t max);
/*
 * Starts a random operation from each node to each node, also to the same node.  Leaves
 * out nodes that do not run or are in topo.passes, and operations without a free channel.
 */
void exanet_traffic_all_to_all(ExanetTraffic *tr, uint32_t max);
/* Updates the state of all operations; returns the number of those that still run. */
unsigned exanet_traffic_poll(ExanetTraffic *tr);
/*
 * Advances virtual time until all operations have ended and, unless @tr->others, the
 * firmware of all nodes is idle.  A step is @ns, and up to 64 times longer while no
 * packet moves.  Fails if operations run for more than @limit ns, and prints these
 * operations; fails if the firmware is still active @limit ns later.
 */
void exanet_traffic_run(ExanetTraffic *tr, int64_t ns, int64_t limit);
/*
 * Advances virtual time by exanet_network_pass() in steps of @step ns until all
 * operations have ended, and settles.  Fails as exanet_traffic_run() if operations run
 * for more than @limit ns.  Does not wait until the firmware is idle.
 */
void exanet_traffic_pass(ExanetTraffic *tr, int64_t step, int64_t limit);
/*
 * Asserts that all operations of this wave have ended with the right effects, also in
 * memory, and frees the operations.
 */
void exanet_traffic_check(ExanetTraffic *tr);

#endif /* EXANET_TRAFFIC_H */
