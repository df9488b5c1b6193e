/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Messages by which processes of several nodes exchange the addresses of their memory.
 * These messages go to mailbox PEER_MBOX.
 *
 *	HELLO ->		to every context of a node, because the context of the
 *				other process is unknown
 *		<- WELCOME	from the process of that node of the same kind
 *	BYE ->			the sender does not need the memory any more
 *
 * HELLO and WELCOME contain the address of the sender's memory.
 */
#ifndef EXAMPLES_PEER_H
#define EXAMPLES_PEER_H

#include <libexanet.h>

#define PEER_MBOX	2
#define PEER_MAGIC	0x52455050	/* "PPER" */

enum peer_op {
	PEER_HELLO	= 1,
	PEER_WELCOME	= 2,
	PEER_BYE	= 3,
};

/* Kinds of processes; a process answers only its own kind. */
enum peer_kind {
	PEER_MEMORY	= 1,		/* a server of memory, and its clients */
	PEER_PGAS	= 2,
};

struct peer_msg {
	__le32 magic;
	__u8 op;		/* enum peer_op */
	__u8 kind;		/* enum peer_kind */
	__le16 reserved;
	__le64 xva;		/* xva of the sender's memory */
	__le64 bytes;		/* bytes of this memory */
};
RNIC_ASSERT_SIZE(struct peer_msg, 24);

/* Another process, and its memory. */
struct peer {
	uint32_t coord;
	uint32_t ctx;
	uint64_t xva;
	uint64_t bytes;
	bool known;		/* this process has the peer's address */
	bool informed;		/* the peer has this process's address */
};

/* This process. */
struct me {
	struct exa_dev *dev;
	struct exa_mbox *mbox;
	enum peer_kind kind;
	void *mem;		/* memory for others; NULL: none */
	uint64_t bytes;
	uint64_t xva;
};

/*
 * Opens NIC @device with a mailbox, and allocates @bytes (may be 0) of zeroed memory for
 * others.  Returns 0 or, after a message, a negative errno.
 */
int me_open(struct me *me, enum peer_kind kind, const char *device, size_t bytes);

/* Closes the NIC and frees the memory of me_open().  @me may be all zeros. */
void me_close(struct me *me);

/*
 * Sends message @op to @to->coord and @to->ctx, and waits for its ack.  Returns 0 or a
 * negative errno.
 */
int peer_send(struct me *me, const struct peer *to, enum peer_op op);

/*
 * Sends HELLO, once and without an ack, to all contexts of node @coord.
 */
void peer_hello(struct me *me, uint32_t coord);

/*
 * Receives a message of this kind, and stores its sender in @from.  Returns its op,
 * -ETIMEDOUT after @timeout_ms (negative: none), or another negative errno.
 */
int peer_listen(struct me *me, struct peer *from, int timeout_ms);

#endif /* EXAMPLES_PEER_H */
