/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * exanet-ping: the protocol of client and server, and their common functions.
 *
 * Client and server send messages to mailbox PING_MBOX.  Each message below is a struct
 * ping_msg:
 *
 *	client		server
 *	HELLO ->			to each context of the node, or to the context that
 *					the user names; not acked
 *		<- WELCOME
 *	START ->			mode, size, count, addresses of the client's buffer
 *		<- READY		addresses of the server's buffer
 *	... the rounds of the mode ...
 *	CHECK ->			only in mode WRITE_BW: requests the number of bytes
 *					of the server's buffer that differ from the pattern
 *		<- RESULT		this number
 *	(START to RESULT again, for each size of each mode)
 *	BYE ->
 *		<- PROBE		after a HELLO of another client; the client ignores the
 *					message, and the NIC acks it while the client exists
 */
#ifndef EXANET_PING_H
#define EXANET_PING_H

#include "libexanet.h"

#define PING_MBOX	3		/* number of the mailbox */
#define PING_MBOX_LOG2	8		/* log2 of the mailbox's entries */
#define PING_MAGIC	0x50455845	/* "EXEP" */
#define PING_VERSION	1
#define PING_SIZE_MAX	(256U << 20)	/* bytes */
#define PING_TIMEOUT_MS	30000		/* longer than the NIC retransmits by default if
					 * no answer comes */

enum ping_op {
	PING_HELLO	= 1,
	PING_WELCOME	= 2,
	PING_START	= 3,
	PING_READY	= 4,
	PING_CHECK	= 5,
	PING_RESULT	= 6,
	PING_BYE	= 7,
	PING_PROBE	= 8,
};

enum ping_mode {
	PING_MODE_MSG		= 0,	/* a message to the server, and back */
	PING_MODE_WRITE		= 1,	/* an RDMA write to the server, and back */
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
	__le32 session;		/* number that the client has chosen, not 0 */
	__le32 size;		/* START, CHECK: bytes of a transfer */
	__le32 count;		/* START: rounds, with those of the warm-up; RESULT:
				 * differing bytes */
	__le32 error;		/* READY: positive errno, or 0 */
	/* The following members are zero in HELLO. */
	__le64 va;		/* VA of the sender's buffer */
	__le64 xva;		/* xva of the sender's buffer */
	__le64 rec_xva;		/* xva of the sender's notification record */
	__le64 reserved[2];
};
RNIC_ASSERT_SIZE(struct ping_msg, 64);

/*
 * Client or server: device, mailbox, buffer and records of this program, and addresses of
 * the other program.
 */
struct ping_peer {
	struct exa_dev *dev;
	struct exa_mbox *mbox;
	struct exa_mbox_addr to;	/* mailbox of the other program */
	int chan;		/* channel of the message that is not acked yet, or -1 */
	uint8_t *buf;
	size_t buf_bytes;
	uint64_t buf_xva;	/* xva of buf */
	struct exanet_notification *rec;	/* a page of records; the other program's
						 * writes use the first record */
	uint64_t rec_xva;	/* xva of rec */
	uint64_t dst_gva;	/* GVA of the other program's buffer */
	uint64_t dst_rec;	/* GVA of the other program's first record */
	uint64_t dst_va;	/* client: VA of the server's buffer */
};

struct ping_options {
	const char *device;	/* name for exa_open(), or NULL */
	uint32_t coord;		/* coordinates of the server */
	int ctx;		/* context of the server; -1: any context */
	unsigned int modes;	/* bit n: enum ping_mode n */
	const char *sizes;	/* list for ping_size_next(); NULL: a default for each mode */
	uint32_t count;		/* rounds; 0: depends on the size */
	unsigned int window;	/* transfers at a time in the _BW modes */
	int wait_s;		/* seconds to wait for the server */
	bool json;		/* the client prints JSON instead of a table */
	bool once;		/* the server ends after one client */
	bool quiet;		/* the server does not print its address */
};

struct ping_result {
	enum ping_mode mode;
	uint32_t size;		/* bytes of a transfer */
	uint32_t count;		/* rounds that are measured */
	double min_us, median_us, p99_us;	/* MSG, WRITE: half of a round; READ: a
						 * whole transfer; _BW: all three are
						 * the time of all transfers, divided
						 * by their number */
	double mbps;		/* 10^6 bytes per second */
	uint32_t bad;		/* number of bytes that differ from the pattern */
};

/*
 * Opens the device, and allocates mailbox, records and buffer.  After an error prints a
 * message.  Returns 0 or a negative errno.
 */
int ping_peer_open(struct ping_peer *peer, const char *device);
/* Closes the device and frees the memory of @peer. */
void ping_peer_close(struct ping_peer *peer);

/*
 * Makes the buffer at least @bytes long.  A longer buffer may have another address, and has
 * no data of the old buffer.  Returns 0 or a negative errno.
 */
int ping_peer_buffer(struct ping_peer *peer, size_t bytes);

/*
 * Sends the @len (1..64) bytes at @buf to the other program as a message.  First waits for
 * the ack of the previous message.  Returns 0 or a negative errno.
 */
int ping_peer_send(struct ping_peer *peer, const void *buf, size_t len);

/*
 * Wait for the end of the message or write of channel @chan.  Return 0 or a negative
 * errno.
 */
int ping_msg_wait(struct ping_peer *peer, int chan);
int ping_write_wait(struct ping_peer *peer, int chan);

/* Waits for the ack of the last message.  Returns 0 or a negative errno. */
int ping_peer_flush(struct ping_peer *peer);

/*
 * Sets magic, version and addresses in @msg, sends @msg and waits for the ack.  Returns 0
 * or a negative errno.
 */
int ping_peer_send_msg(struct ping_peer *peer, struct ping_msg *msg);

/* Returns true if the @len bytes at @buf are a struct ping_msg of this version. */
bool ping_msg_valid(const void *buf, int len);

/*
 * Starts an RDMA write of the first @size bytes of the buffer to the other program's
 * buffer, with notification.  Returns the channel or a negative errno.
 */
int ping_peer_write(struct ping_peer *peer, uint32_t size);

/* Fills @buf with the pattern of @seed. */
void ping_fill(uint8_t *buf, size_t len, uint8_t seed);
/* Returns the number of bytes of @buf that differ from the pattern of @seed. */
uint32_t ping_differ(const uint8_t *buf, size_t len, uint8_t seed);

/* Returns CLOCK_MONOTONIC in us. */
double ping_now_us(void);

/* Run the server or the client.  Return the exit status of the program. */
int ping_server(const struct ping_options *opt);
int ping_client(const struct ping_options *opt);

/* Print the client's output, in this order: begin, each result, end. */
void ping_print_begin(const struct ping_options *opt, const struct ping_peer *me);
void ping_print(const struct ping_options *opt, const struct ping_result *res);
void ping_print_end(const struct ping_options *opt);

extern const char *const ping_mode_names[PING_MODES];

/*
 * Stores the next size (bytes) of a list like "1,64,4K,1M" in @size, and moves *@list behind
 * this size.  Returns false at the end of the list, or if the next size is not a number
 * from 1 to PING_SIZE_MAX.
 */
bool ping_size_next(const char **list, uint32_t *size);

#endif /* EXANET_PING_H */
