/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Messages between two endpoints of a libfabric provider.
 *
 * A message is the payload of one packet to a mailbox, 8 to 64 bytes, and starts with one
 * 64-bit header word.  The NIC adds node and context of the sender, which the sender cannot
 * forge.  The header has the sender's mailbox and the tags of sender and receiver.  A tag
 * (not the tag of a tagged message of libfabric) is a random number that an endpoint
 * chooses when the endpoint is enabled.  The tag distinguishes a new endpoint from an
 * earlier endpoint at the same mailbox.
 *
 * Numbered messages have a sequence number for each direction of a pair of endpoints,
 * because packets overtake each other when the NIC retransmits.  All messages but NAK,
 * LOOKUP, FOUND, PROBE, RING_END and RING_GONE are numbered, and the notes of slots, too.
 * The receiver orders numbered messages and drops duplicates.  At most RNIC_FI_WINDOW
 * numbered messages to a peer are in flight.
 *
 * The sender selects the protocol of a send by the number of bytes and by the free slots,
 * and uses rendezvous for each send with FI_DELIVERY_COMPLETE:
 *   inline      the message EAGER contains the data
 *   slot        an RDMA write stores a slot header and the data in a slot of a ring, which
 *               is memory of the receiver; the notification of the write is the message
 *   rendezvous  the message RTS has the address of the source; the receiver reads the data
 *               into the user's buffer by RDMA, and answers FIN
 *
 * Life of a ring: the sender of data requests a ring by a flag in RTS, and the receiver
 * offers the ring by RING.  Later the receiver sends RING_END, and the sender answers
 * RING_GONE; then the receiver frees the ring.  The receiver sends RING_END, and a sender
 * that has the ring answers RING_GONE, only while all own numbered messages to the peer are
 * acked: these messages are in the peer's mailbox then.  So no RING can arrive after its
 * RING_END, and no filled slot after RING_GONE.  RING_END and RING_GONE have no number,
 * because a full mailbox must not make the peer fail; the receiver repeats RING_END.
 *
 * All fields are little-endian.  Version 2 added PROBE, RING_END and RING_GONE.  Endpoints
 * of different versions ignore each other's messages.
 */
#ifndef RNIC_FI_PROTO_H
#define RNIC_FI_PROTO_H

#include "rnic/bits.h"

#define RNIC_FI_VERSION	2

#define RNIC_FI_MSG_MAX	64	/* maximum bytes of a message */
#define RNIC_FI_WINDOW	16	/* maximum number of numbered messages in flight to a peer */
#define RNIC_FI_MBOXES	4	/* maximum number of mailboxes of a context */

/* The header word. */
#define RNIC_FI_HDR_VERSION	RNIC_FIELD(7, 0)
#define RNIC_FI_HDR_OP	RNIC_FIELD(11, 8)	/* enum rnic_fi_msg_op */
#define RNIC_FI_HDR_MBOX	RNIC_FIELD(13, 12)	/* mailbox of the sender */
#define RNIC_FI_HDR_CQ_DATA	RNIC_FIELD(15, 14)	/* enum rnic_fi_cq_data */
#define RNIC_FI_HDR_TAGGED	RNIC_BIT(16)		/* the le64 tag of a tagged message
							 * follows the header word */
#define RNIC_FI_HDR_FLAG	RNIC_BIT(17)		/* RTS: the sender requests a ring */
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
	RNIC_FI_NAK		= 7,	/* no body; refuses a message, because no endpoint at
					 * this mailbox has the DST_TAG of the message, or
					 * because the sender has failed here or, if the message
					 * is numbered, is unknown; DST_TAG and SRC_TAG of NAK
					 * are SRC_TAG and DST_TAG of the message */
	RNIC_FI_PING		= 8,	/* no body; the ack of the NIC is the answer */
	RNIC_FI_RING		= 9,	/* struct rnic_fi_msg_ring */
	RNIC_FI_CREDIT	= 10,	/* struct rnic_fi_msg_credit */
	RNIC_FI_LOOKUP	= 11,	/* struct rnic_fi_msg_service; DST_TAG is 0; an
					 * endpoint with this service answers FOUND, any
					 * other endpoint answers nothing */
	RNIC_FI_FOUND		= 12,	/* struct rnic_fi_msg_service: the sender has
					 * this service */
	RNIC_FI_PROBE		= 13,	/* no body; like PING, but without sequence number */
	RNIC_FI_RING_END	= 14,	/* struct rnic_fi_msg_ring_end: the receiver of
					 * data requests the end of the ring */
	RNIC_FI_RING_GONE	= 15,	/* struct rnic_fi_msg_ring_end: the sender of
					 * data does not use this ring any more, so that
					 * the receiver can free the slots */
};

/*
 * Bytes of CQ data in EAGER and RTS.  The CQ data follow the header and, if TAGGED is set,
 * the le64 tag.
 */
enum rnic_fi_cq_data {
	RNIC_FI_CQ_NONE	= 0,
	RNIC_FI_CQ_4		= 1,
	RNIC_FI_CQ_8		= 2,
};

struct rnic_fi_msg_rts {
	__le64 len;		/* bytes of the user's message */
	__le64 remote;		/* address of the source for the receiver's reads */
	__le32 id;		/* number of the send, which FIN repeats */
} __attribute__((packed));
RNIC_ASSERT_SIZE(struct rnic_fi_msg_rts, 20);

struct rnic_fi_msg_fin {
	__le32 id;		/* id in the RTS or ATOMIC */
	__le32 status;		/* 0, or a positive errno or FI_E code */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_fin, 8);

/* Body of ATOMIC: an operation that the target's provider executes. */
struct rnic_fi_msg_atomic {
	__le64 key;		/* key of the region, with the fields RNIC_FI_KEY_* */
	__le64 offset;		/* bytes from the start of the region */
	__le32 id;		/* number of the atomic, which ATOMIC_RSP repeats */
	__u8 op;		/* enum fi_op */
	__u8 datatype;		/* enum fi_datatype */
	__u8 count;		/* number of elements of the target */
	__u8 kind;		/* enum rnic_fi_atomic_kind */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_atomic, 24);
#define RNIC_FI_ATOMIC_BYTES	32	/* maximum bytes of operands and comparands, or of
					 * results, in a message */

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

/* Body of RING: the receiver of data offers a ring of slots to the sender of data. */
struct rnic_fi_msg_ring {
	__le64 remote;		/* address of slot 0 for the sender's writes */
	__le32 slot_bytes;	/* bytes of a slot, a power of two, from RNIC_FI_SLOT_BYTES_MIN
				 * to RNIC_FI_SLOT_BYTES_MAX */
	__le16 slots;		/* number of slots, a power of two, up to
				 * RNIC_FI_SLOTS_MAX */
	__le16 ring;		/* number of the ring, which each note repeats in
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

/* Body of CREDIT: the receiver has emptied slots. */
struct rnic_fi_msg_credit {
	__le32 emptied;		/* number of slots emptied since RING, modulo 2^32 */
	__le32 reserved;	/* zero */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_credit, 8);

/*
 * The note of a filled slot: 64 bits that arrive in the receiver's mailbox after the data of
 * the RDMA write.
 */
#define RNIC_FI_SLOT_VERSION	RNIC_FIELD(7, 0)
#define RNIC_FI_SLOT_RING	RNIC_FIELD(23, 8)
#define RNIC_FI_SLOT_INDEX	RNIC_FIELD(33, 24)
#define RNIC_FI_SLOT_SEQ	RNIC_FIELD(47, 34)
#define RNIC_FI_SLOT_DST_TAG	RNIC_FIELD(63, 48)
#define RNIC_FI_SLOTS_MAX	1024
#define RNIC_FI_SLOT_BYTES_MIN 64
#define RNIC_FI_SLOT_BYTES_MAX 65536
#define RNIC_FI_RING_BYTES_MAX (1U << 20)	/* maximum bytes of all slots of a ring */

/* Header of a slot; the data follows. */
struct rnic_fi_msg_slot {
	__le64 tag;		/* tag, if flags has TAGGED */
	__le64 cq_data;		/* CQ data, if flags has CQ_DATA */
	__le32 len;		/* bytes of the data */
	__le32 flags;		/* RNIC_FI_SLOT_TAGGED, RNIC_FI_SLOT_CQ_DATA */
};
RNIC_ASSERT_SIZE(struct rnic_fi_msg_slot, 24);
#define RNIC_FI_SLOT_HDR_BYTES 24
#define RNIC_FI_SLOT_TAGGED	RNIC_BIT(0)
#define RNIC_FI_SLOT_CQ_DATA	RNIC_BIT(1)

/*
 * Name of an endpoint, as fi_getname() returns it, or name of a service, as
 * fi_getinfo() makes it from a node and a service number.  The name of a service has no
 * context, mailbox, tag and job, because LOOKUP finds the endpoint.  Without a service number
 * fi_getinfo() makes a name that has only the node.
 */
struct rnic_fi_name {
	__le32 node;		/* number of the node */
	__u8 ctx;		/* number of the context; 0 for a service */
	__u8 mbox;		/* number of the mailbox; 0 for a service */
	__le16 tag;		/* tag of the endpoint, not 0; 0 for a service */
	__le16 job;		/* number of the endpoint's job; 0 for a service */
	__u8 version;		/* RNIC_FI_VERSION */
	__u8 reserved0;		/* zero */
	__le16 service;		/* number of the service, not 0; 0 for an endpoint */
	__u8 reserved1[2];	/* zero */
};
RNIC_ASSERT_SIZE(struct rnic_fi_name, 16);

/*
 * The key of a memory region contains all that an initiator needs.  From the base the
 * transport makes the addresses for reads and writes of the memory.  The length in the key
 * is the length of the region, rounded up to 6 significant bits: mantissa if exponent is 0,
 * else (32 + mantissa) << (exponent - 1).  So initiators refuse most, but not all, accesses
 * beyond the end of the region.  The target checks an atomic against the exact length.
 */
#define RNIC_FI_KEY_BASE	RNIC_FIELD(50, 0)
#define RNIC_FI_KEY_VA	RNIC_FIELD(47, 0)	/* virtual address, with FI_MR_VIRT_ADDR */
#define RNIC_FI_KEY_READ	RNIC_BIT(51)	/* peers may read */
#define RNIC_FI_KEY_WRITE	RNIC_BIT(52)	/* peers may write */
#define RNIC_FI_KEY_MANTISSA	RNIC_FIELD(57, 53)
#define RNIC_FI_KEY_EXPONENT	RNIC_FIELD(63, 58)

#endif /* RNIC_FI_PROTO_H */
