/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic in a network, with a copy of all memory that the traffic may change, and a
 * list of all notifications and messages: each must arrive exactly once, with its data.
 *
 * A test starts operations, lets them run and checks them, in waves.  Memory that an
 * operation has written to is not reused soon, and is compared again at the end,
 * because nothing may change it after the operation.
 */
#ifndef EXANET_TRAFFIC_H
#define EXANET_TRAFFIC_H

#include "network.h"

/* Bytes that a node can receive, and bytes of the longest operation. */
#define EXANET_TRAFFIC_BYTES 0x1000000
#define EXANET_TRAFFIC_MAX 0x100000

enum exanet_op_kind {
    EXANET_OP_WRITE,
    EXANET_OP_READ,
    EXANET_OP_MESSAGE,              /* of the packetizer, to a mailbox */
    EXANET_OP_KINDS,
};

/* The notification at the end of a write. */
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
    uint32_t src;                   /* offset in the source's pool */
    uint32_t dst;                   /* offset from the target's EXANET_RAM_DST */
    uint32_t note_at; /* NOTE_MEMORY: offset of the notification from EXANET_RAM_DST */
    uint64_t id;                    /* unique; data of the notification */
    int64_t start;                  /* virtual time in ns */
    int64_t end;                    /* 0: the operation has not ended */
    bool failed;
    /* of a failed operation: CHSTAT_ERROR, PKTZSTAT_RESP or HANDLE of the notification */
    unsigned error;
    unsigned arrived;               /* its notifications and messages in mailboxes */
    /* the test allows: */
    bool may_fail;
    bool may_repeat;                /* more than one notification may arrive */
    bool forgotten;                 /* the target has lost its memory */
} ExanetOp;

typedef struct ExanetTrafficNode {
    uint8_t *pool;                  /* copy of the RAM from EXANET_RAM_SRC on */
    uint8_t *image;                 /* copy of the RAM from EXANET_RAM_DST on */
    /* offset in the image where the search for room begins; starts again after the end */
    uint32_t next;
    /* highest end of all rooms in the image: traffic_free compares that many bytes */
    uint32_t used;
    /* number of entries that the test has taken from each mailbox */
    uint32_t head[EXANET_NETWORK_CONTEXTS];
    /* the running operation of each channel, NULL: none; packet[]: reads and messages */
    ExanetOp *write[EXANET_WRITE_CHANNELS];
    ExanetOp *packet[EXANET_PKTZ_CHANNELS];
} ExanetTrafficNode;

typedef struct ExanetTraffic {
    ExanetNetwork *f;
    GRand *rand;
    GHashTable *ops;                /* id -> ExanetOp, owned, of this wave */
    GHashTable *old;                /* ids of the operations of earlier waves */
    uint64_t ids;
    /*
     * the test has other transfers under way, so exanet_traffic_run() does not wait for
     * firmware
     */
    bool others;
    bool restless; /* a node was reset or killed since the last exanet_traffic_run() */
    uint64_t ctrl;                  /* further EXANET_CHANNEL_ bits of writes */
    ExanetTrafficNode node[EXANET_NETWORK_NODES];
} ExanetTraffic;

ExanetTraffic *exanet_traffic_new(ExanetNetwork *f, uint32_t seed);
/*
 * Does the same as exanet_traffic_check(), compares all memory again, and frees @tr,
 * but not the network.
 */
void exanet_traffic_free(ExanetTraffic *tr);
/* Reset, kill or start again node @n in the middle of the traffic. */
void exanet_traffic_reset(ExanetTraffic *tr, unsigned n);
void exanet_traffic_kill(ExanetTraffic *tr, unsigned n);
void exanet_traffic_revive(ExanetTraffic *tr, unsigned n);

/* Start one operation each, and return it, or NULL if @from has no free channel. */
ExanetOp *exanet_traffic_write(ExanetTraffic *tr, unsigned from, unsigned to,
                               uint32_t len, enum exanet_op_note note);
ExanetOp *exanet_traffic_read(ExanetTraffic *tr, unsigned who, unsigned owner,
                              uint32_t len);
ExanetOp *exanet_traffic_message(ExanetTraffic *tr, unsigned from, unsigned to,
                                 unsigned size);
/*
 * Starts a random operation of at most @max bytes, mostly a short one.  A message has at
 * least 8 bytes.  Returns NULL if @from has no free channel.
 */
ExanetOp *exanet_traffic_random(ExanetTraffic *tr, unsigned from, unsigned to,
                                uint32_t max);
/*
 * Starts a random operation from each node to each node, also to itself, if both nodes
 * run and are not @passes.  Starts none if the node has no free channel.
 */
void exanet_traffic_all_to_all(ExanetTraffic *tr, uint32_t max);
/* Updates the state of the running operations; returns their number. */
unsigned exanet_traffic_poll(ExanetTraffic *tr);
/*
 * Advances time in steps of @ns, up to 64 times longer while no packet moves, until all
 * operations have ended and the firmware is idle.  Fails after @limit ns, and prints
 * the operations that have not ended.
 */
void exanet_traffic_run(ExanetTraffic *tr, int64_t ns, int64_t limit);
/*
 * Does the same as exanet_traffic_run() by exanet_network_pass(), but does not wait for
 * the firmware.
 */
void exanet_traffic_pass(ExanetTraffic *tr, int64_t step, int64_t limit);
/*
 * Asserts that all operations of this wave had the right effects, compares memory, and
 * frees the operations.
 */
void exanet_traffic_check(ExanetTraffic *tr);

#endif /* EXANET_TRAFFIC_H */
