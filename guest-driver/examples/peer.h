/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * How processes on several nodes learn of each other's memory: by messages into
 * mailbox PEER_MBOX.
 *
 *	HELLO ->		to every context of a node, as nobody knows which
 *		<- WELCOME	by the process there that is of the same kind
 *	BYE ->			the memory is not needed any more
 *
 * Both HELLO and WELCOME tell where the sender's memory is.
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

/* Who talks to whom. */
enum peer_kind {
	PEER_MEMORY	= 1,		/* a server of memory and who uses it */
	PEER_PGAS	= 2,
};

struct peer_msg {
	__le32 magic;
	__u8 op;
	__u8 kind;
	__le16 reserved;
	__le64 xva;
	__le64 bytes;
};
RNIC_ASSERT_SIZE(struct peer_msg, 24);

/* A process with memory. */
struct peer {
	uint32_t coord;
	uint32_t ctx;
	uint64_t xva;
	uint64_t bytes;
	bool known;		/* it has told us */
	bool told;		/* we have told it */
};

/* This process. */
struct me {
	struct exa_dev *dev;
	struct exa_mbox *mbox;
	enum peer_kind kind;
	void *mem;		/* NULL: it has none for others */
	uint64_t bytes;
	uint64_t xva;
};

/*
 * Opens NIC @device with a mailbox, and zeroed memory of @bytes (may be 0) for others.
 * 0, or negative errno after a message.
 */
int me_open(struct me *me, enum peer_kind kind, const char *device, size_t bytes);

/* Undoes it; a struct of zeros is allowed. */
void me_close(struct me *me);

/*
 * Sends to @to->coord and @to->ctx and waits until it is there.  0 or negative errno.
 */
int peer_tell(struct me *me, const struct peer *to, enum peer_op op);

/*
 * Says HELLO to all contexts of node @coord, without knowing whether anybody hears it.
 */
void peer_hello(struct me *me, uint32_t coord);

/*
 * Receives one message of this kind: its op, and in @from who sent it; -ETIMEDOUT after
 * @timeout_ms (negative: none), or another negative errno.
 */
int peer_listen(struct me *me, struct peer *from, int timeout_ms);

#endif /* EXAMPLES_PEER_H */
