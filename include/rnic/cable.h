/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * rnic-cable: an Ethernet cable of shared memory between two QEMUs on one host [P].
 *
 * One end, the server, listens at a Unix stream socket.  For each client that connects,
 * the server makes a memory file of RNIC_CABLE_BYTES and sends a struct
 * rnic_cable_hello with this one file descriptor (SCM_RIGHTS).  The file is sealed
 * against a change of its size, because an access beyond the end of a file ends a
 * process.  The client checks the struct, the size and the seals, and answers with the
 * same struct.  Afterwards each end may send bytes of value RNIC_CABLE_WAKE.  A closed
 * socket ends the connection, and the next connection gets a new memory file.
 *
 * All values are in host byte order, because both ends run on the same host.
 *
 * The memory file has two rings.  Ring 0 carries frames from the server to the client,
 * ring 1 carries frames from the client to the server.  The file begins with the
 * controls of ring 0 and ring 1.  The data of ring 0 begins at byte RNIC_CABLE_DATA,
 * the data of ring 1 follows.
 *
 * A ring carries records.  A record is a struct rnic_cable_record, the bytes of the
 * frame, and up to 7 bytes that round the record up to a multiple of RNIC_CABLE_ALIGN.
 * Bytes after the last byte of the ring's data continue at the first byte.
 *
 * Neither end trusts the other one.  An end keeps its own counter in private memory,
 * and checks each value that it reads from the shared memory.
 */
#ifndef RNIC_CABLE_H
#define RNIC_CABLE_H

#include <linux/types.h>
#include "bits.h"

#define RNIC_CABLE_MAGIC 0x63696e72		/* "rnic" on a little-endian host */
#define RNIC_CABLE_VERSION 1

#define RNIC_CABLE_RING_BYTES (1U << 20)	/* data of a ring; a power of two */
#define RNIC_CABLE_DATA (1U << 16)		/* a multiple of every host's page size */
#define RNIC_CABLE_BYTES (RNIC_CABLE_DATA + 2 * RNIC_CABLE_RING_BYTES)
#define RNIC_CABLE_ALIGN 8			/* alignment of records, bytes */
#define RNIC_CABLE_FRAME_MAX 69632		/* longest frame of a QEMU netdev, bytes */

#define RNIC_CABLE_WAKE 0x77			/* value of the bytes on the socket */

/* First message in each direction of the socket. */
struct rnic_cable_hello {
	__u32 magic;		/* RNIC_CABLE_MAGIC */
	__u32 version;		/* RNIC_CABLE_VERSION */
	__u32 ring_bytes;	/* RNIC_CABLE_RING_BYTES */
	__u32 reserved;		/* 0 */
};
RNIC_ASSERT_SIZE(struct rnic_cable_hello, 16);

/*
 * Control of a ring.  The writer of the ring stores to the first 64 bytes, and the reader
 * to the last 64 bytes; both clear the other end's flag when they send a wake-up.  The
 * counters count bytes of records since the connection began, modulo 2^32.  At most
 * RNIC_CABLE_RING_BYTES are between @tail and @head.
 */
struct rnic_cable_control {
	__u32 head;		/* bytes that the writer has written */
	/*
	 * The writer sets this flag to 1 before it waits for room.  A reader that has
	 * made room for a longest frame clears the flag and sends a wake-up.
	 */
	__u32 full;
	__u32 pad0[14];
	__u32 tail;		/* bytes that the reader has read */
	/*
	 * The reader sets this flag to 1 before it waits for records.  A writer that has
	 * written a record clears the flag and sends a wake-up.
	 */
	__u32 sleeping;
	__u32 pad1[14];
};
RNIC_ASSERT_SIZE(struct rnic_cable_control, 128);

/* Head of a record. */
struct rnic_cable_record {
	__u32 length;		/* bytes of the frame, 1 to RNIC_CABLE_FRAME_MAX */
	__u32 reserved;		/* 0; a reader ignores the value */
};
RNIC_ASSERT_SIZE(struct rnic_cable_record, 8);

#endif /* RNIC_CABLE_H */
