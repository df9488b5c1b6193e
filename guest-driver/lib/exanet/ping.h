/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * exanet-ping: the protocol of client and server, and their common functions.
 *
 * Client and server send messages to mailbox PING_MBOX.  Each message below is a struct
 * ping_msg:
 *
 *	client		server
 *	HELLO ->			to each context of the server's node, or to the
 *					context that the user names; not acked
 *		<- WELCOME
 *	START ->			mode, size, count, addresses of the client's buffer
 *		<- READY		addresses of the server's buffer
 *	... the rounds of the mode ...
 *	CHECK ->			only in mode WRITE_BW
 *		<- RESULT		number of bytes of the server's buffer that differ
 *					from the pattern
 *	(START to RESULT again, for each size of each mode)
 *	BYE ->
 *		<- PROBE		after a HELLO of another client, if the client has
 *					sent nothing for some time; the client ignores PROBE,
 *					and its NIC acks PROBE while the client exists
 */
#ifndef EXANET_PING_H
#define EXANET_PING_H

#include "libexanet.h"

#define PING_MBOX	3		/* number of the mailbox of client and server */
#define PING_MBOX_LOG2	8		/* log2 of the number of the mailbox's entries */
#define PING_MAGIC	0x50455845	/* "EXEP" */
#define PING_VERSION	1
#define PING_SIZE_MAX	(256U << 20)	/* maximal size of a transfer, bytes */
#define PING_TIMEOUT_MS	30000		/* longer than the time for which the NIC retransmits by
					 * default if no answer comes */

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
	__le32 size;		/* START, CHECK: size of a transfer in bytes */
	__le32 count;		/* START: number of rounds, with those of the warm-up; RESULT:
				 * number of bytes that differ from the pattern */
	__le32 error;		/* READY: positive errno of the server, or 0 */
	/* The following members are zero in HELLO. */
	__le64 va;		/* VA of the sender's buffer */
	__le64 xva;		/* xva of the sender's buffer */
	__le64 rec_xva;		/* xva of the sender's notification record */
	__le64 reserved[2];
};
RNIC_ASSERT_SIZE(struct ping_msg, 64);

/*
 * The state of a client or server: device, mailbox, buffer and records of this program, and
 * addresses of the other program.
 */
struct ping_peer {
	struct exa_dev *dev;
	struct exa_mbox *mbox;
	struct exa_mbox_addr to;	/* mailbox of the other program */
	int chan;		/* channel of the last message of ping_peer_send(), until
				 * ping_peer_flush(); -1: no message */
	uint8_t *buf;
	size_t buf_bytes;
	uint64_t buf_xva;	/* xva of buf */
	struct exanet_notification *rec;	/* a page of records; the other program's
						 * writes use the first record */
	uint64_t rec_xva;	/* xva of rec */
	uint64_t dst_gva;	/* GVA of the other program's buffer */
	uint64_t dst_rec;	/* GVA of the other program's first record */
	uint64_t dst_va;	/* VA of the server's buffer; only in the client */
};

struct ping_options {
	const char *device;	/* name for exa_open(), or NULL */
	uint32_t coord;		/* coordinates of the server */
	int ctx;		/* context of the server; -1: the client searches in all
				 * contexts */
	unsigned int modes;	/* modes to measure; bit n: enum ping_mode n */
	const char *sizes;	/* list of sizes for ping_size_next(); NULL: default sizes of
				 * each mode */
	uint32_t count;		/* number of rounds of a row; 0: depends on the size */
	unsigned int window;	/* maximal number of transfers at a time in modes WRITE_BW and
				 * READ_BW */
	int wait_s;		/* about this time, s, the client searches for the server */
	bool json;		/* the client prints JSON instead of a table */
	bool once;		/* the server ends after one client */
	bool quiet;		/* the server does not print its address */
};

struct ping_result {
	enum ping_mode mode;
	uint32_t size;		/* bytes of a transfer */
	uint32_t count;		/* number of measured rounds */
	double min_us, median_us, p99_us;	/* time of a transfer.  MSG, WRITE: half of a
						 * round; READ: a whole read; WRITE_BW, READ_BW:
						 * the time of all transfers divided by their
						 * number, in all three members */
	double mbps;		/* 10^6 bytes per second */
	uint32_t bad;		/* number of bytes that differ from the pattern */
};

/*
 * Opens the device, and allocates mailbox, records and buffer of @peer.  Prints a message
 * after an error.  Returns 0 or a negative errno.
 */
int ping_peer_open(struct ping_peer *peer, const char *device);
/* Closes the device and frees the memory of @peer. */
void ping_peer_close(struct ping_peer *peer);

/*
 * Makes the buffer of @peer at least @bytes long.  A longer buffer may have another
 * address, and has no data of the old buffer.  Returns 0 or a negative errno.
 */
int ping_peer_buffer(struct ping_peer *peer, size_t bytes);

/*
 * Sends the @len (1..64) bytes at @buf to the other program as a message.  First waits for
 * the ack of the previous message.  Returns 0 or a negative errno, also for an error of the
 * previous message.
 */
int ping_peer_send(struct ping_peer *peer, const void *buf, size_t len);

/*
 * Wait until the message (ping_msg_wait()) or the RDMA write (ping_write_wait()) on channel
 * @chan has ended.  Return 0 or a negative errno.
 */
int ping_msg_wait(struct ping_peer *peer, int chan);
int ping_write_wait(struct ping_peer *peer, int chan);

/* Waits until the last message of ping_peer_send() is acked.  Returns 0 or a negative errno. */
int ping_peer_flush(struct ping_peer *peer);

/*
 * Sets magic, version and addresses in @msg, sends @msg and waits for the ack.  Returns 0
 * or a negative errno.
 */
int ping_peer_send_msg(struct ping_peer *peer, struct ping_msg *msg);

/* Returns true if the @len bytes at @buf are a struct ping_msg of this version. */
bool ping_msg_valid(const void *buf, int len);

/*
 * Starts an RDMA write of the first @size bytes of @peer's buffer to the other program's
 * buffer, with a notification in the other program's first record.  Returns the channel or
 * a negative errno.
 */
int ping_peer_write(struct ping_peer *peer, uint32_t size);

/* Fills the @len bytes at @buf with the pattern of @seed. */
void ping_fill(uint8_t *buf, size_t len, uint8_t seed);
/* Returns how many of the @len bytes at @buf differ from the pattern of @seed. */
uint32_t ping_differ(const uint8_t *buf, size_t len, uint8_t seed);

/* Returns the time of CLOCK_MONOTONIC in us. */
double ping_now_us(void);

/* Run the server or the client.  Return the exit status of the program. */
int ping_server(const struct ping_options *opt);
int ping_client(const struct ping_options *opt);

/* Print the client's output: the line of headings, a row for each result, and the end. */
void ping_print_begin(const struct ping_options *opt, const struct ping_peer *me);
void ping_print(const struct ping_options *opt, const struct ping_result *res);
void ping_print_end(const struct ping_options *opt);

extern const char *const ping_mode_names[PING_MODES];

/*
 * Stores the next size (bytes) of a list like "1,64,4K,1M" in @size, and moves *@list
 * behind this size.  Returns false at the end of the list, or if the next entry is not a
 * number from 1 to PING_SIZE_MAX.
 */
bool ping_size_next(const char **list, uint32_t *size);

#endif /* EXANET_PING_H */
