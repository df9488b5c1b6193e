/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Messages by which processes of several nodes exchange the addresses of their memory.
 * The receiver of a message is mailbox PEER_MBOX of a context.
 *
 *	HELLO ->		to all contexts of a node, because the context of the
 *				other process is unknown
 *		<- WELCOME	answer of a process of the same kind
 *	BYE ->			the sender does not need the memory any more
 *
 * Each message contains the address of the sender's memory.
 */
#ifndef EXAMPLES_PEER_H
#define EXAMPLES_PEER_H

#include <libexanet.h>

#define PEER_MBOX	2
#define PEER_MAGIC	0x52455050	/* bytes in memory: "PPER" */

enum peer_op {
	PEER_HELLO	= 1,
	PEER_WELCOME	= 2,
	PEER_BYE	= 3,
};

/* Kinds of processes.  A process ignores messages of processes of other kinds. */
enum peer_kind {
	PEER_MEMORY	= 1,		/* a server of memory (place_serve()), and its
					 * clients */
	PEER_PGAS	= 2,		/* processes of exanet-pgas */
};

struct peer_msg {
	__le32 magic;		/* PEER_MAGIC */
	__u8 op;		/* enum peer_op */
	__u8 kind;		/* enum peer_kind */
	__le16 reserved;
	__le64 xva;		/* xva of the sender's memory */
	__le64 bytes;		/* size of this memory; 0: no memory */
};
RNIC_ASSERT_SIZE(struct peer_msg, 24);

/* Another process, and the memory of that process that this process may access. */
struct peer {
	uint32_t coord;		/* coordinates of the peer's node */
	uint32_t ctx;		/* context of the peer */
	uint64_t xva;		/* xva of the peer's memory */
	uint64_t bytes;		/* size of this memory; 0: no memory */
	bool known;		/* this process has the address of the peer's memory */
	bool informed;		/* the peer has the address of this process's memory */
};

/* The state of this process. */
struct me {
	struct exa_dev *dev;
	struct exa_mbox *mbox;
	enum peer_kind kind;
	void *mem;		/* memory that peers may access; NULL: none */
	uint64_t bytes;		/* size of this memory */
	uint64_t xva;		/* xva of this memory */
};

/*
 * Opens NIC @device (NULL: the default of exa_open()), and creates mailbox PEER_MBOX.
 * Allocates @bytes (0: none) of zeroed memory that peers may access.  Fills @me.  Returns 0
 * or, after a message, a negative errno.
 */
int me_open(struct me *me, enum peer_kind kind, const char *device, size_t bytes);

/*
 * Closes the NIC, frees the memory of me_open(), and zeroes @me.  If @me is zero, does
 * nothing.
 */
void me_close(struct me *me);

/*
 * Sends a message with op @op to context @to->ctx of node @to->coord, and waits until the
 * message is in the mailbox.  Returns 0 or a negative errno.
 */
int peer_send(struct me *me, const struct peer *to, enum peer_op op);

/*
 * Sends HELLO, once and without an ack, to all contexts of node @coord except the context
 * of this process.
 */
void peer_hello(struct me *me, uint32_t coord);

/*
 * Receives a message of a process of kind @me->kind, and stores address and memory of the
 * sender in @from.  Returns the op of the message, -ETIMEDOUT, or another negative errno.
 * A negative @timeout_ms means no time-out.  Messages that the function ignores may extend
 * the time to twice @timeout_ms.
 */
int peer_listen(struct me *me, struct peer *from, int timeout_ms);

#endif /* EXAMPLES_PEER_H */
