/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Messages between two endpoints of a libfabric provider.
 *
 * A message is the payload of one packet to a mailbox, 8 to 64 bytes, and starts
 * with one 64-bit header word.  The NIC adds node and context of the sender,
 * which cannot be forged; the header adds its mailbox and its tag.  A tag is a random
 * number that an endpoint takes when it is enabled: it distinguishes a new process
 * from an earlier one with the same context and mailbox.
 *
 * All messages but NAK, LOOKUP, FOUND, PROBE, RING_END and RING_GONE carry a sequence
 * number per pair of endpoints, because packets overtake each other when they are resent.
 * The receiver puts them in order and drops duplicates; at most RNIC_FI_WINDOW of them
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
#ifndef RNIC_FI_PROTO_H
#define RNIC_FI_PROTO_H

#include "rnic/bits.h"

#define RNIC_FI_VERSION	2

#define RNIC_FI_MSG_MAX	64	/* bytes of a message */
#define RNIC_FI_WINDOW	16	/* messages that may be in flight */
#define RNIC_FI_MBOXES	4	/* most mailboxes of a context */

/* The header word. */
#define RNIC_FI_HDR_VERSION	RNIC_FIELD(7, 0)
#define RNIC_FI_HDR_OP	RNIC_FIELD(11, 8)	/* enum rnic_fi_msg_op */
#define RNIC_FI_HDR_MBOX	RNIC_FIELD(13, 12)	/* mailbox of the sender */
#define RNIC_FI_HDR_CQ_DATA	RNIC_FIELD(15, 14)	/* enum rnic_fi_cq_data */
#define RNIC_FI_HDR_TAGGED	RNIC_BIT(16)		/* a tag follows */
#define RNIC_FI_HDR_FLAG	RNIC_BIT(17)		/* see the operation */
#define RNIC_FI_HDR_SEQ	RNIC_FIELD(31, 18)
#define RNIC_FI_HDR_SRC_TAG	RNIC_FIELD(47, 32)
#define RNIC_FI_HDR_DST_TAG	RNIC_FIELD(63, 48)
#define RNIC_FI_SEQ_MASK	0x3fff

enum rnic_fi_msg_op {
	RNIC_FI_EAGER		= 1,	/* data, up to the end of the message */
	RNIC_FI_RTS		= 2,	/* struct rnic_fi_msg_rts; FLAG: the sender
					 * requests a ring */
	RNIC_FI_FIN		= 3,	/* struct rnic_fi_msg_fin */
	RNIC_FI_ATOMIC	= 4,	/* struct rnic_fi_msg_atomic, operands */
	RNIC_FI_ATOMIC_RSP	= 5,	/* struct rnic_fi_msg_fin, results */
	RNIC_FI_WRITE_DATA	= 6,	/* struct rnic_fi_msg_write_data */
	RNIC_FI_NAK		= 7,	/* no body; no endpoint here has the tag;
					 * DST_TAG and SRC_TAG are those of the bad
					 * message, exchanged */
	RNIC_FI_PING		= 8,	/* no body; its ack is the answer */
	RNIC_FI_RING		= 9,	/* struct rnic_fi_msg_ring */
	RNIC_FI_CREDIT	= 10,	/* struct rnic_fi_msg_credit */
	RNIC_FI_LOOKUP	= 11,	/* struct rnic_fi_msg_service; DST_TAG is 0; the
					 * owner of the mailbox answers FOUND if it
					 * has this service, else nothing */
	RNIC_FI_FOUND		= 12,	/* struct rnic_fi_msg_service, which the
					 * sender has */
	RNIC_FI_PROBE		= 13,	/* no body; like PING, but without number */
	RNIC_FI_RING_END	= 14,	/* struct rnic_fi_msg_ring_end: requests the
					 * end of the ring */
	RNIC_FI_RING_GONE	= 15,	/* struct rnic_fi_msg_ring_end: the sender has no
					 * such ring, so its slots can be freed */
};

/* Bytes of CQ data in EAGER and RTS, behind the header and, if TAGGED, the le64 tag. */
enum rnic_fi_cq_data {
	RNIC_FI_CQ_NONE	= 0,
	RNIC_FI_CQ_4		= 1,
	RNIC_FI_CQ_8		= 2,
};

struct rnic_fi_msg_rts {
	__le64 len;		/* bytes of the message */
	__le64 remote;		/* address of the source for the receiver's reads */
	__le32 id;		/* number that FIN repeats */
} __attribute__((packed));
RNIC_ASSERT_SIZE(struct rnic_fi_msg_rts, 20);

struct rnic_fi_msg_fin {
	__le32 id;		/* id in the RTS or ATOMIC */
	__le32 status;		/* 0 or a positive FI_E code */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_fin, 8);

/* Body of ATOMIC: an operation that the target's provider executes. */
struct rnic_fi_msg_atomic {
	__le64 key;		/* RNIC_FI_KEY_ */
	__le64 offset;		/* bytes from the start of the region */
	__le32 id;		/* number that ATOMIC_RSP repeats */
	__u8 op;		/* enum fi_op */
	__u8 datatype;		/* enum fi_datatype */
	__u8 count;		/* number of elements */
	__u8 kind;		/* enum rnic_fi_atomic_kind */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_atomic, 24);
#define RNIC_FI_ATOMIC_BYTES	32	/* operands or results of one message */

enum rnic_fi_atomic_kind {
	RNIC_FI_ATOMIC_WRITE	= 0,	/* count operands */
	RNIC_FI_ATOMIC_FETCH	= 1,	/* count operands, none for a plain read;
					 * count results */
	RNIC_FI_ATOMIC_COMPARE = 2,	/* count operands, count comparands; count
					 * results */
};

/* Body of WRITE_DATA: an RDMA write with remote CQ data has ended. */
struct rnic_fi_msg_write_data {
	__le64 data;		/* the CQ data */
	__le64 len;		/* bytes of the write */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_write_data, 16);

/* Body of RING: the receiver offers a ring of slots to this sender. */
struct rnic_fi_msg_ring {
	__le64 remote;		/* address of slot 0 for writes by the sender */
	__le32 slot_bytes;	/* power of two, RNIC_FI_SLOT_BYTES_MIN..._MAX */
	__le16 slots;		/* power of two, up to RNIC_FI_SLOTS_MAX */
	__le16 ring;		/* number of the ring, which each note repeats as
				 * RNIC_FI_SLOT_RING; the last 63 rings in the same
				 * place of the receiver had other numbers */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_ring, 16);

/* Body of RING_END and RING_GONE. */
struct rnic_fi_msg_ring_end {
	__le16 ring;		/* number of the ring */
	__u8 reserved[6];	/* zero */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_ring_end, 8);

/* Body of LOOKUP and FOUND. */
struct rnic_fi_msg_service {
	__le16 service;		/* number of the service, not zero */
	__u8 reserved[6];	/* zero */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_service, 8);

/* Body of CREDIT: number of slots emptied since the ring exists, modulo 2^32. */
struct rnic_fi_msg_credit {
	__le32 emptied;
	__le32 reserved;	/* zero */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_credit, 8);

/*
 * Note: 64 bits that the RDMA write that fills a slot puts into the receiver's mailbox.
 */
#define RNIC_FI_SLOT_VERSION	RNIC_FIELD(7, 0)
#define RNIC_FI_SLOT_RING	RNIC_FIELD(23, 8)
#define RNIC_FI_SLOT_INDEX	RNIC_FIELD(33, 24)
#define RNIC_FI_SLOT_SEQ	RNIC_FIELD(47, 34)
#define RNIC_FI_SLOT_DST_TAG	RNIC_FIELD(63, 48)
#define RNIC_FI_SLOTS_MAX	1024
#define RNIC_FI_SLOT_BYTES_MIN 64
#define RNIC_FI_SLOT_BYTES_MAX 65536
#define RNIC_FI_RING_BYTES_MAX (1U << 20)	/* bytes of all slots */

/* Header of a slot; the data follows. */
struct rnic_fi_msg_slot {
	__le64 tag;
	__le64 cq_data;
	__le32 len;		/* bytes of the data */
	__le32 flags;		/* RNIC_FI_SLOT_ */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_slot, 24);
#define RNIC_FI_SLOT_HDR_BYTES 24
#define RNIC_FI_SLOT_TAGGED	RNIC_BIT(0)
#define RNIC_FI_SLOT_CQ_DATA	RNIC_BIT(1)

/*
 * Name of an endpoint, as fi_getname() returns it, or name of a service, as
 * fi_getinfo() makes it from a node and a service number.  The name of a service has no
 * context, mailbox, tag and job, because LOOKUP finds the endpoint.
 */
struct rnic_fi_name {
	__le32 node;		/* number of the node */
	__u8 ctx;		/* 0 of a service */
	__u8 mbox;		/* 0..3; 0 of a service */
	__le16 tag;		/* not zero; 0 of a service */
	__le16 job;		/* only informs; the NIC checks the job; 0 of a service */
	__u8 version;		/* RNIC_FI_VERSION */
	__u8 reserved0;		/* zero */
	__le16 service;		/* 0 of an endpoint; of a service 1..65535 */
	__u8 reserved1[2];	/* zero */
};
RNIC_ASSERT_SIZE(struct rnic_fi_name, 16);

/*
 * The key of a memory region says all that an initiator needs: the base names the memory,
 * and the transport makes addresses for reads and writes of it.  The length is rounded up
 * to 6 significant bits: mantissa if exponent is 0, else (32 + mantissa) << (exponent
 * - 1).  By the length, initiators refuse most accesses beyond the end.  The target
 * checks atomics to the byte.
 */
#define RNIC_FI_KEY_BASE	RNIC_FIELD(50, 0)
#define RNIC_FI_KEY_VA	RNIC_FIELD(47, 0)	/* VA, with FI_MR_VIRT_ADDR */
#define RNIC_FI_KEY_READ	RNIC_BIT(51)	/* peers may read */
#define RNIC_FI_KEY_WRITE	RNIC_BIT(52)	/* peers may write */
#define RNIC_FI_KEY_MANTISSA	RNIC_FIELD(57, 53)
#define RNIC_FI_KEY_EXPONENT	RNIC_FIELD(63, 58)

#endif /* RNIC_FI_PROTO_H */
