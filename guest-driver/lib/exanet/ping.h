/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * exanet-ping: the protocol of client and server, and their common functions.
 *
 * Client and server send messages to mailbox PING_MBOX, one struct ping_msg each:
 *
 *	client		server
 *	HELLO ->			to every context of the node, unacked
 *		<- WELCOME
 *	START ->			mode, size, count, own buffer
 *		<- READY		the server's buffer
 *	... the rounds of the mode ...
 *	CHECK ->			requests the number of differing bytes
 *		<- RESULT
 *	(again from START)
 *	BYE ->
 */
#ifndef EXANET_PING_H
#define EXANET_PING_H

#include "libexanet.h"

#define PING_MBOX	3
#define PING_MBOX_LOG2	8
#define PING_MAGIC	0x50455845	/* "EXEP" */
#define PING_VERSION	1
#define PING_SIZE_MAX	(256U << 20)
#define PING_TIMEOUT_MS	30000		/* longer than the NIC retransmits a packet */

enum ping_op {
	PING_HELLO	= 1,
	PING_WELCOME	= 2,
	PING_START	= 3,
	PING_READY	= 4,
	PING_CHECK	= 5,
	PING_RESULT	= 6,
	PING_BYE	= 7,
};

enum ping_mode {
	PING_MODE_MSG		= 0,	/* messages, there and back */
	PING_MODE_WRITE		= 1,	/* RDMA writes with notification, there and back */
	PING_MODE_WRITE_BW	= 2,	/* many writes at a time */
	PING_MODE_READ		= 3,	/* one read at a time */
	PING_MODE_READ_BW	= 4,	/* many reads at a time */
	PING_MODES		= 5,
};

struct ping_msg {
	__le32 magic;
	__u8 version;
	__u8 op;		/* enum ping_op */
	__u8 mode;		/* START: enum ping_mode */
	__u8 seed;		/* START, CHECK: seed of the expected pattern */
	__le32 session;		/* chosen by the client */
	__le32 size;		/* START, CHECK: bytes of a transfer */
	__le32 count;		/* START: rounds; RESULT: differing bytes */
	__le32 error;		/* READY: errno, 0: none */
	__le64 va;		/* VA of the sender's buffer */
	__le64 xva;		/* xva of the sender's buffer */
	__le64 rec_xva;		/* xva of the sender's notification record */
	__le64 reserved[2];
};
RNIC_ASSERT_SIZE(struct ping_msg, 64);

/*
 * Client or server: device, mailbox, buffer, record, and addresses of the other
 * program.
 */
struct ping_peer {
	struct exa_dev *dev;
	struct exa_mbox *mbox;
	struct exa_mbox_addr to;
	int chan;		/* channel of the last message, or -1 */
	uint8_t *buf;
	size_t buf_bytes;
	uint64_t buf_xva;
	struct exanet_notification *rec;	/* first of a page of records */
	uint64_t rec_xva;
	uint64_t dst_gva;	/* GVA of the other program's buffer */
	uint64_t dst_rec;	/* GVA of its record */
	uint64_t dst_va;	/* VA of its buffer */
};

struct ping_options {
	const char *device;
	uint32_t coord;		/* coordinates of the server */
	int ctx;		/* context of the server; -1: search for it */
	unsigned int modes;	/* bit n: enum ping_mode n */
	const char *sizes;	/* list, NULL: a default for each mode */
	uint32_t count;		/* rounds; 0: depends on the size */
	unsigned int window;	/* transfers at a time in the _BW modes */
	int wait_s;		/* seconds to wait for the server */
	bool json;
	bool once;		/* server: ends after one client */
	bool quiet;
};

struct ping_result {
	enum ping_mode mode;
	uint32_t size;
	uint32_t count;
	double min_us, median_us, p99_us;	/* time of one way; of a whole read */
	double mbps;		/* 10^6 bytes per second */
	uint32_t bad;		/* bytes that differ */
};

/* Opens device and mailbox.  Returns 0 or, after a message, a negative errno. */
int ping_peer_open(struct ping_peer *peer, const char *device);
void ping_peer_close(struct ping_peer *peer);

/* Makes the buffer at least @bytes long.  Returns 0 or a negative errno. */
int ping_peer_buffer(struct ping_peer *peer, size_t bytes);

/*
 * Sends a message of @len bytes.  First waits for the ack of the previous message.
 * Returns 0 or a negative errno.
 */
int ping_peer_send(struct ping_peer *peer, const void *buf, size_t len);

/* Wait for the end of a message or a write.  Return 0 or a negative errno. */
int ping_msg_wait(struct ping_peer *peer, int chan);
int ping_write_wait(struct ping_peer *peer, int chan);

/* Waits for the ack of the last message.  Returns 0 or a negative errno. */
int ping_peer_flush(struct ping_peer *peer);

/*
 * Sets the members of @msg that all messages have, sends it and waits for its ack.
 * Returns 0 or a negative errno.
 */
int ping_peer_send_msg(struct ping_peer *peer, struct ping_msg *msg);

/* Returns true if the @len bytes at @buf are a message of this program. */
bool ping_msg_valid(const void *buf, int len);

/*
 * Starts an RDMA write of the first @size bytes of the buffer to the other program's
 * buffer, with notification.  Returns the channel or a negative errno.
 */
int ping_peer_write(struct ping_peer *peer, uint32_t size);

/* Fill @buf with the pattern of @seed; return the number of bytes that differ from it. */
void ping_fill(uint8_t *buf, size_t len, uint8_t seed);
uint32_t ping_differ(const uint8_t *buf, size_t len, uint8_t seed);

double ping_now_us(void);

/* The two programs.  Return the exit status. */
int ping_server(const struct ping_options *opt);
int ping_client(const struct ping_options *opt);

/* Print the output, in this order: begin, each result, end. */
void ping_print_begin(const struct ping_options *opt, const struct ping_peer *me);
void ping_print(const struct ping_options *opt, const struct ping_result *res);
void ping_print_end(const struct ping_options *opt);

extern const char *const ping_mode_names[PING_MODES];

/*
 * Stores the next size of a list like "1,64,4K,1M" in @size.  Returns false at its end.
 */
bool ping_size_next(const char **list, uint32_t *size);

#endif /* EXANET_PING_H */
