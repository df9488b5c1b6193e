/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Messages between two endpoints of the libfabric provider `exanet`.
 *
 * A message is the payload of one packet to a mailbox, 8 to 64 bytes, and starts
 * with one 64-bit header word.  The NIC adds coordinates and context of the sender,
 * which cannot be forged; the header adds its mailbox and its tag.  A tag is a random
 * number that an endpoint takes when it is enabled: it tells a new process from the
 * one that had the same context and mailbox before.
 *
 * All messages but NAK, LOOKUP, FOUND, PROBE, RING_END and RING_GONE carry a sequence
 * number per pair of endpoints, because packets overtake each other when they are resent.
 * The receiver puts them in order and drops duplicates; at most EXANET_FI_WINDOW of them
 * are in flight.
 *
 * Protocol selection, by the number of bytes that go with a send:
 *   inline      the message holds the data
 *   slot        RDMA write of header and data into a slot of a ring that the
 *               receiver has set up; the notification of the write is the message
 *   rendezvous  RTS names the source, the receiver fetches it with an RDMA read
 *               into the user's buffer and answers FIN
 *
 * Life of a ring: the sender requests it with an RTS, the receiver offers it with RING.
 * RING_END takes it back.  Either side sends RING_END or RING_GONE only while all its
 * numbered messages are acked: these are in the target's mailbox then, so no filled slot
 * and no RING can come after RING_GONE and RING_END.  Both have no number because they
 * must not fail the peer when its mailbox is full; the receiver repeats RING_END.
 *
 * Little-endian.  Version 2 added PROBE, RING_END and RING_GONE.  Endpoints of different
 * versions ignore each other's messages.
 */
#ifndef EXANET_FI_PROTO_H
#define EXANET_FI_PROTO_H

#include "rnic/bits.h"

#define EXANET_FI_VERSION	2

#define EXANET_FI_MSG_MAX	64	/* bytes of a message */
#define EXANET_FI_WINDOW	16	/* messages that may be in flight */

/* The header word. */
#define EXANET_FI_HDR_VERSION	RNIC_FIELD(7, 0)
#define EXANET_FI_HDR_OP	RNIC_FIELD(11, 8)	/* enum exanet_fi_op */
#define EXANET_FI_HDR_MBOX	RNIC_FIELD(13, 12)	/* of the sender */
#define EXANET_FI_HDR_CQ_DATA	RNIC_FIELD(15, 14)	/* enum exanet_fi_cq_data */
#define EXANET_FI_HDR_TAGGED	RNIC_BIT(16)		/* a tag follows */
#define EXANET_FI_HDR_FLAG	RNIC_BIT(17)		/* see the operation */
#define EXANET_FI_HDR_SEQ	RNIC_FIELD(31, 18)
#define EXANET_FI_HDR_SRC_TAG	RNIC_FIELD(47, 32)
#define EXANET_FI_HDR_DST_TAG	RNIC_FIELD(63, 48)
#define EXANET_FI_SEQ_MASK	0x3fff

enum exanet_fi_op {
	EXANET_FI_EAGER		= 1,	/* data follows to the end of the message */
	EXANET_FI_RTS		= 2,	/* struct exanet_fi_rts; FLAG: the sender
					 * would like to have a ring */
	EXANET_FI_FIN		= 3,	/* struct exanet_fi_fin */
	EXANET_FI_ATOMIC	= 4,	/* struct exanet_fi_atomic, operands */
	EXANET_FI_ATOMIC_RSP	= 5,	/* struct exanet_fi_fin, results */
	EXANET_FI_WRITE_DATA	= 6,	/* struct exanet_fi_write_data */
	EXANET_FI_NAK		= 7,	/* nothing: you mean somebody else; DST_TAG
					 * and SRC_TAG are those of the bad message,
					 * exchanged */
	EXANET_FI_PING		= 8,	/* nothing; its ack is the answer */
	EXANET_FI_RING		= 9,	/* struct exanet_fi_ring */
	EXANET_FI_CREDIT	= 10,	/* struct exanet_fi_credit */
	EXANET_FI_LOOKUP	= 11,	/* struct exanet_fi_service; DST_TAG is 0: asks the
					 * owner of the mailbox for this service; the
					 * answer is FOUND, or none */
	EXANET_FI_FOUND		= 12,	/* struct exanet_fi_service: of the sender */
	EXANET_FI_PROBE		= 13,	/* nothing; like PING, but without number */
	EXANET_FI_RING_END	= 14,	/* struct exanet_fi_ring_end: stop using it */
	EXANET_FI_RING_GONE	= 15,	/* struct exanet_fi_ring_end: the sender has no
					 * such ring, so its slots can be freed */
};

/* EAGER and RTS: header, le64 tag if TAGGED, then so many bytes of CQ data. */
enum exanet_fi_cq_data {
	EXANET_FI_CQ_NONE	= 0,
	EXANET_FI_CQ_4		= 1,
	EXANET_FI_CQ_8		= 2,
};

struct exanet_fi_rts {
	__le64 len;		/* of the message */
	__le64 va;		/* source, plain VA in the sender's context */
	__le32 id;		/* for FIN */
} __attribute__((packed));
RNIC_ASSERT_SIZE(struct exanet_fi_rts, 20);

struct exanet_fi_fin {
	__le32 id;		/* of RTS or ATOMIC */
	__le32 status;		/* 0 or a positive FI_E code */
};
RNIC_ASSERT_SIZE(struct exanet_fi_fin, 8);

/* Executed by the target's provider. */
struct exanet_fi_atomic {
	__le64 key;		/* EXANET_FI_KEY_ */
	__le64 offset;		/* from the start of the region */
	__le32 id;		/* for ATOMIC_RSP */
	__u8 op;		/* enum fi_op */
	__u8 datatype;		/* enum fi_datatype */
	__u8 count;		/* elements */
	__u8 kind;		/* enum exanet_fi_atomic_kind */
};
RNIC_ASSERT_SIZE(struct exanet_fi_atomic, 24);
#define EXANET_FI_ATOMIC_BYTES	32	/* operands or results of one message */

enum exanet_fi_atomic_kind {
	EXANET_FI_ATOMIC_WRITE	= 0,	/* count operands */
	EXANET_FI_ATOMIC_FETCH	= 1,	/* count operands, none for a plain read;
					 * count results */
	EXANET_FI_ATOMIC_COMPARE = 2,	/* count operands, count comparands; count
					 * results */
};

/* An RDMA write with remote CQ data has ended. */
struct exanet_fi_write_data {
	__le64 data;
	__le64 len;
};
RNIC_ASSERT_SIZE(struct exanet_fi_write_data, 16);

/* The receiver offers a ring of slots to this sender. */
struct exanet_fi_ring {
	__le64 xva;		/* of slot 0 */
	__le32 slot_bytes;	/* power of two, EXANET_FI_SLOT_BYTES_MIN..._MAX */
	__le16 slots;		/* power of two, up to EXANET_FI_SLOTS_MAX */
	__le16 ring;		/* number, to be named in EXANET_FI_SLOT_RING; unlike those
				 * of the last 63 rings that ended in the same place */
};
RNIC_ASSERT_SIZE(struct exanet_fi_ring, 16);

/* Body of RING_END and RING_GONE. */
struct exanet_fi_ring_end {
	__le16 ring;		/* number */
	__u8 reserved[6];	/* zero */
};
RNIC_ASSERT_SIZE(struct exanet_fi_ring_end, 8);

/* Body of LOOKUP and FOUND. */
struct exanet_fi_service {
	__le16 service;		/* number, not zero */
	__u8 reserved[6];	/* zero */
};
RNIC_ASSERT_SIZE(struct exanet_fi_service, 8);

/* Slots emptied since the ring exists, modulo 2^32. */
struct exanet_fi_credit {
	__le32 emptied;
	__le32 reserved;	/* zero */
};
RNIC_ASSERT_SIZE(struct exanet_fi_credit, 8);

/* Notification data of the RDMA write that fills a slot. */
#define EXANET_FI_SLOT_VERSION	RNIC_FIELD(7, 0)
#define EXANET_FI_SLOT_RING	RNIC_FIELD(23, 8)
#define EXANET_FI_SLOT_INDEX	RNIC_FIELD(33, 24)
#define EXANET_FI_SLOT_SEQ	RNIC_FIELD(47, 34)
#define EXANET_FI_SLOT_DST_TAG	RNIC_FIELD(63, 48)
#define EXANET_FI_SLOTS_MAX	1024
#define EXANET_FI_SLOT_BYTES_MIN 64
#define EXANET_FI_SLOT_BYTES_MAX 65536
#define EXANET_FI_RING_BYTES_MAX (1U << 20)	/* of all slots */

/* What stands at the start of a slot; the data follows. */
struct exanet_fi_slot {
	__le64 tag;
	__le64 cq_data;
	__le32 len;		/* of the data */
	__le32 flags;		/* EXANET_FI_SLOT_ */
};
RNIC_ASSERT_SIZE(struct exanet_fi_slot, 24);
#define EXANET_FI_SLOT_HDR_BYTES 24
#define EXANET_FI_SLOT_TAGGED	RNIC_BIT(0)
#define EXANET_FI_SLOT_CQ_DATA	RNIC_BIT(1)

/*
 * Name of an endpoint, as fi_getname() returns it, or name of a service, as
 * fi_getinfo() makes it from a node and a service number.  The name of a service has no
 * context, mailbox, tag and job, because LOOKUP finds the endpoint.
 */
struct exanet_fi_name {
	__le32 coord;		/* EXANET_COORD of the node */
	__u8 ctx;		/* 0..15; 0 of a service */
	__u8 mbox;		/* 0..3; 0 of a service */
	__le16 tag;		/* not zero; 0 of a service */
	__le16 job;		/* for people: the NIC checks its own; 0 of a service */
	__u8 version;		/* EXANET_FI_VERSION */
	__u8 reserved0;		/* zero */
	__le16 service;		/* 0 of an endpoint; of a service 1..65535 */
	__u8 reserved1[2];	/* zero */
};
RNIC_ASSERT_SIZE(struct exanet_fi_name, 16);

/*
 * The key of a memory region says all that an initiator needs: reads name memory by
 * its VA, writes by window and the low bits of the VA.  The length is rounded up to
 * 6 significant bits: mantissa if exponent is 0, else (32 + mantissa) << (exponent
 * - 1).  It lets initiators refuse most accesses beyond the end; atomics are checked
 * to the byte by the target.
 */
#define EXANET_FI_KEY_VA	RNIC_FIELD(47, 0)
#define EXANET_FI_KEY_WINDOW	RNIC_FIELD(50, 48)
#define EXANET_FI_KEY_READ	RNIC_BIT(51)	/* peers may read */
#define EXANET_FI_KEY_WRITE	RNIC_BIT(52)	/* peers may write */
#define EXANET_FI_KEY_MANTISSA	RNIC_FIELD(57, 53)
#define EXANET_FI_KEY_EXPONENT	RNIC_FIELD(63, 58)

#endif /* EXANET_FI_PROTO_H */
