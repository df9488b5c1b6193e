/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic in a network, with a copy of all memory that it may change and a ledger of
 * all notifications and messages: each must come exactly once, and with its data.
 *
 * A test starts operations, lets them run and checks them, in waves.  What is written
 * to is not used again for long, and looked at once more in the end: nothing may
 * change it after its operation was done.
 */
#ifndef EXANET_TRAFFIC_H
#define EXANET_TRAFFIC_H

#include "network.h"

/* Room of each node for what comes, and longest operation. */
#define EXANET_TRAFFIC_BYTES 0x1000000
#define EXANET_TRAFFIC_MAX 0x100000

enum exanet_op_kind {
    EXANET_OP_WRITE,
    EXANET_OP_READ,
    EXANET_OP_MESSAGE,              /* of the packetizer, to a mailbox */
    EXANET_OP_KINDS,
};

/* How the target of a write learns that it is complete; bits. */
enum exanet_op_note {
    EXANET_NOTE_NONE,
    EXANET_NOTE_MAILBOX,
    EXANET_NOTE_MEMORY,
};

typedef struct ExanetOp {
    enum exanet_op_kind kind;
    enum exanet_op_note note;
    unsigned from;                  /* who starts it */
    unsigned to;                    /* target of a write, owner of what is read */
    unsigned channel;
    uint32_t len;
    uint32_t src;                   /* offset in the source's pool */
    uint32_t dst;                   /* offset in the target's room */
    uint32_t note_at;               /* NOTE_MEMORY: offset there */
    uint64_t id;                    /* unique; data of the notification */
    int64_t start;                  /* virtual ns */
    int64_t end;                    /* 0: not yet */
    bool failed;
    unsigned error;                 /* CHSTAT_ERROR, PKTZSTAT_RESP */
    unsigned arrived;               /* entries of the ledger */
    /* the test allows: */
    bool may_fail;
    bool may_repeat;                /* more than one notification */
    bool forgotten;                 /* the target's memory is another one now */
} ExanetOp;

typedef struct ExanetTrafficNode {
    uint8_t *pool;                  /* what its RAM holds from EXANET_RAM_SRC on */
    uint8_t *image;                 /* ... and what from EXANET_RAM_DST on */
    uint32_t next;                  /* in the image */
    uint32_t used;                  /* highest byte of it */
    uint32_t head[EXANET_NETWORK_CONTEXTS];  /* of its mailboxes */
    ExanetOp *write[EXANET_WRITE_CHANNELS]; /* running */
    ExanetOp *packet[EXANET_PKTZ_CHANNELS];
} ExanetTrafficNode;

typedef struct ExanetTraffic {
    ExanetNetwork *f;
    GRand *rand;
    GHashTable *ops;                /* id -> ExanetOp, owned, of this wave */
    GHashTable *old;                /* ids of those before */
    uint64_t ids;
    bool others;                    /* the test has transfers of its own under way */
    bool restless;                  /* a node was reset or killed in this wave */
    uint64_t ctrl;                  /* further EXANET_CHANNEL_ bits of writes */
    ExanetTrafficNode node[EXANET_NETWORK_NODES];
} ExanetTraffic;

ExanetTraffic *exanet_traffic_new(ExanetNetwork *f, uint32_t seed);
/* Looks at all memory again; the network stays. */
void exanet_traffic_free(ExanetTraffic *tr);
/* In the middle of the traffic: another epoch of node @n, or another life. */
void exanet_traffic_reset(ExanetTraffic *tr, unsigned n);
void exanet_traffic_kill(ExanetTraffic *tr, unsigned n);
void exanet_traffic_revive(ExanetTraffic *tr, unsigned n);

/* Each starts one operation, or returns NULL when @from has no channel left. */
ExanetOp *exanet_traffic_write(ExanetTraffic *tr, unsigned from, unsigned to,
                               uint32_t len, enum exanet_op_note note);
ExanetOp *exanet_traffic_read(ExanetTraffic *tr, unsigned who, unsigned owner,
                              uint32_t len);
ExanetOp *exanet_traffic_message(ExanetTraffic *tr, unsigned from, unsigned to,
                                 unsigned size);
/* Any of them, of any length up to @max, mostly short ones. */
ExanetOp *exanet_traffic_random(ExanetTraffic *tr, unsigned from, unsigned to,
                                uint32_t max);
/* The same from every node to each other one. */
void exanet_traffic_all_to_all(ExanetTraffic *tr, uint32_t max);
/* Looks at the operations that run; returns their number. */
unsigned exanet_traffic_poll(ExanetTraffic *tr);
/*
 * Steps of @ns, longer ones while nothing moves, until all have ended; fails, naming
 * those that have not, when that takes more than @limit ns.
 */
void exanet_traffic_run(ExanetTraffic *tr, int64_t ns, int64_t limit);
/* The same with exanet_network_pass(). */
void exanet_traffic_pass(ExanetTraffic *tr, int64_t step, int64_t limit);
/* Asserts that all is right with those of this wave, and forgets them. */
void exanet_traffic_check(ExanetTraffic *tr);

#endif /* EXANET_TRAFFIC_H */
