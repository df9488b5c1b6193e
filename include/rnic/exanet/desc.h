/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * ExaNet: descriptors, user pages, and all other records that software and device share
 * in memory or in a window of BAR 0.  All members are little-endian.
 *
 * Sources: [T §n] the thesis named in wire.h; [P] ours.
 */
#ifndef RNIC_EXANET_DESC_H
#define RNIC_EXANET_DESC_H

#include "rnic/bits.h"

/*
 * Transaction descriptor, entry n of the Pending_List at n * 32 [T §5.2].  A write that
 * covers W3[63:32] with DB = 0 starts the transaction if the transaction is not active and
 * the descriptor is valid.  A write that covers W3[63:32] with DB = 1 and length 0 kills an
 * active transaction.
 */
struct exanet_desc {
	__le64 w1;	/* source VA at this node, any alignment */
	__le64 w2;	/* destination GVA */
	__le64 w3;	/* fields EXANET_DESC_W3_* */
	__le64 w4;	/* fields EXANET_DESC_W4_* */
};
RNIC_ASSERT_SIZE(struct exanet_desc, 32);
#define EXANET_TIDS		1024
#define EXANET_DESC_TRIGGER	0x14	/* offset of W3[63:32] */

#define EXANET_DESC_W3_PDID	RNIC_FIELD(15, 0)
#define EXANET_DESC_W3_LENGTH	RNIC_FIELD(30, 16)	/* number of bytes of the block,
							 * 1..16384 */
#define EXANET_DESC_W3_CHAINED	RNIC_BIT(31)		/* 1: the block has a successor in a
							 * chain of blocks */
#define EXANET_DESC_W3_DEP	RNIC_FIELD(41, 32)	/* TID of the successor, if CHAINED is
							 * 1 */
#define EXANET_DESC_W3_SENT	RNIC_FIELD(56, 42)	/* RO: number of bytes of the block in
							 * packets that ExaDMA has built, sent or
							 * not */
#define EXANET_DESC_W3_DONE	RNIC_BIT(57)		/* RO, 1: ExaDMA has built the last
							 * packet */
#define EXANET_DESC_W3_ACKED	RNIC_BIT(58)		/* reserved; a write stores 0 */
#define EXANET_DESC_W3_NOTIFY	RNIC_BIT(59)		/* 1: footers of packets have NOTIFY */
#define EXANET_DESC_W3_ERROR	RNIC_BIT(60)		/* RO, 1: the device has refused the
							 * descriptor or killed the transaction
							 * [P] */
#define EXANET_DESC_W3_DB	RNIC_BIT(63)		/* 1: the transaction waits for its
							 * predecessor; with LENGTH 0: the write
							 * kills the transaction */

#define EXANET_DESC_W4_PATH	RNIC_FIELD(4, 0)	/* path, 0..7; packets that must wait use
							 * output buffer PATH % 4 */
#define EXANET_DESC_W4_SEQ	RNIC_FIELD(18, 5)	/* sequence number of the copy */
#define EXANET_DESC_W4_DST_PDID	RNIC_FIELD(34, 19)	/* [P] PDID of the receiver */
#define EXANET_DESC_W4_DST_VALID RNIC_BIT(35)		/* [P] 1: headers of packets have
							 * DST_PDID; 0: headers have W3_PDID */
#define EXANET_DESC_W4_RESP	RNIC_FIELD(45, 36)	/* [P] small address for acks */
#define EXANET_DESC_W4_GEN	RNIC_FIELD(49, 46)	/* [P] generation of the TID in
							 * packets */

/*
 * User pages [P].  Context c has EXANET_USER_PAGES pages of 1 << CAP0_PAGE_SHIFT bytes each
 * in BAR 2.  The first page of the context is page c * EXANET_USER_PAGES.
 */
enum exanet_user_page {
	EXANET_PAGE_SCRATCHPAD	= 0,	/* array of struct exanet_channel */
	EXANET_PAGE_PACKETIZER	= 1,	/* array of struct exanet_pktz_channel */
	EXANET_PAGE_MAILBOX	= 2,	/* array of struct exanet_mailbox, then POLL */
	EXANET_PAGE_INFO	= 3,	/* struct exanet_info, read only */
	EXANET_USER_PAGES	= 4,
};

/*
 * Scratchpad channel, 64 B; 64 channels in a page [T §4.1], layout [P].  Software fills the
 * channel and writes the token; if FW_MODE is INTERNAL, the device copies the channel at
 * that moment.  In this mode the device ignores a token of 0, and ignores and counts
 * (DOORBELL_BUSY) a token for a channel that is QUEUED or ACTIVE.
 */
#define EXANET_CHANNELS		64
#define EXANET_WRITE_CHANNELS	32	/* channels 0..31, for RDMA writes of this context */
#define EXANET_READ_CHANNELS	32	/* channels 32..63, read only: transfers of this
					 * context's memory that read requests have started */
#define EXANET_CHANNEL_BYTES	64
struct exanet_channel {
	__le64 src;		/* 0x00 source VA, full 64 bits */
	__le64 dst;		/* 0x08 destination GVA */
	__le64 ctrl;		/* 0x10 fields EXANET_CHANNEL_* */
	__le64 notify_gva;	/* 0x18 GVA of the notification, on the node of dst */
	__le64 notify_data;	/* 0x20 data of the notification */
	__le64 token;		/* 0x28 doorbell: a token, [31:0] not zero */
	__le64 status;		/* 0x30 RO fields EXANET_CHSTAT_* */
	__le64 done;		/* 0x38 RO fields EXANET_CHDONE_* */
};
RNIC_ASSERT_SIZE(struct exanet_channel, EXANET_CHANNEL_BYTES);
#define EXANET_CHANNEL_DOORBELL	0x28
#define EXANET_CHANNEL_LENGTH	RNIC_FIELD(31, 0)	/* number of bytes, 1..2^32-1 */
#define EXANET_CHANNEL_DST_CTX	RNIC_FIELD(35, 32)	/* number of the target's context */
#define EXANET_CHANNEL_NOTIFY	RNIC_BIT(36)		/* 1: notifies the target when all data
							 * has arrived; a write that fails sends
							 * no notification */
#define EXANET_CHANNEL_IRQ	RNIC_BIT(37)		/* 1, with NOTIFY: the notification
							 * interrupts the target */
#define EXANET_CHANNEL_MULTIPATH RNIC_BIT(38)		/* 1: the firmware may choose the path */
#define EXANET_CHANNEL_PATH	RNIC_FIELD(43, 39)	/* path, if the firmware does not
							 * choose */
#define EXANET_CHANNEL_PRIORITY	RNIC_FIELD(47, 44)	/* priority of the transfer if FW_POLICY
							 * is PRIORITY */
#define EXANET_CHANNEL_IRQ_DONE	RNIC_BIT(48)		/* 1: interrupts the owner of the channel
							 * when the transfer has ended */
#define EXANET_CHSTAT_STATE	RNIC_FIELD(7, 0)	/* enum exanet_channel_state */
#define EXANET_CHSTAT_ERROR	RNIC_FIELD(15, 8)	/* enum exanet_resp or
							 * exanet_channel_error */
#define EXANET_CHSTAT_RETRIES	RNIC_FIELD(31, 16)	/* number of retransmissions of blocks,
							 * saturating */
#define EXANET_CHSTAT_ACKED	RNIC_FIELD(63, 32)	/* number of acked bytes of the
							 * transfer */
#define EXANET_CHDONE_TOKEN	RNIC_FIELD(31, 0)	/* token of the transfer that has
							 * ended last */
#define EXANET_CHDONE_NS	RNIC_FIELD(63, 32)	/* duration of that transfer, ns,
							 * saturating */

enum exanet_channel_state {
	EXANET_CHANNEL_IDLE	= 0,
	EXANET_CHANNEL_QUEUED	= 1,
	EXANET_CHANNEL_ACTIVE	= 2,
	EXANET_CHANNEL_DONE	= 3,
	EXANET_CHANNEL_FAILED	= 4,
};

/* Errors of a channel, in addition to those of enum exanet_resp. */
enum exanet_channel_error {
	EXANET_CHERR_SOURCE_FAULT = 0x80,	/* a source page is missing for good, or still
						 * missing after FW_PF_RETRY_MAX back-offs */
	EXANET_CHERR_RETRY_LIMIT  = 0x81,	/* a block without ack after FW_RETRY_MAX losses,
						 * or no sequence number or table entry is free */
	EXANET_CHERR_BAD_REQUEST  = 0x82,	/* length, address or notification is not valid,
						 * or QUOTA_WRITES is reached */
	EXANET_CHERR_ABORTED	  = 0x83,	/* the context is quiesced, or was disabled during
						 * the transfer, or FW_MODE has changed from
						 * INTERNAL */
};

/*
 * Packetizer channel, 256 B; 16 channels in a page [P].  A store of CTRL with GO sends the
 * payload as one packet.  The device ignores all stores to a channel that is WAITING, and
 * counts such a store with GO in MSG_BUSY.
 */
#define EXANET_PKTZ_CHANNELS	16
#define EXANET_PKTZ_BYTES	256
#define EXANET_PKTZ_PAYLOAD_MAX	64
struct exanet_pktz_channel {
	__le64 dst;		/* 0x00 GVA of memory, or of NI index 1 or 2 */
	__le64 ctrl;		/* 0x08 fields EXANET_PKTZ_* */
	__le64 status;		/* 0x10 RO fields EXANET_PKTZSTAT_* */
	__le64 reserved[5];
	__u8 payload[EXANET_PKTZ_PAYLOAD_MAX];	/* 0x40 payload of the packet */
	__u8 unused[128];
};
RNIC_ASSERT_SIZE(struct exanet_pktz_channel, EXANET_PKTZ_BYTES);
#define EXANET_PKTZ_CTRL	0x08
#define EXANET_PKTZ_PAYLOAD	0x40
#define EXANET_PKTZ_SIZE	RNIC_FIELD(6, 0)	/* number of payload bytes, 1..64 */
#define EXANET_PKTZ_CODE	RNIC_FIELD(11, 8)	/* EXANET_TYPE_WRITE or
							 * EXANET_TYPE_READ_REQ */
#define EXANET_PKTZ_DST_CTX	RNIC_FIELD(15, 12)	/* context of the receiver, if CODE is
							 * WRITE */
#define EXANET_PKTZ_ACK		RNIC_BIT(16)	/* 1: retransmits until an ack or
						 * a failure; 0: sends once */
#define EXANET_PKTZ_GO		RNIC_BIT(31)	/* self-clearing */
#define EXANET_PKTZSTAT_STATE	RNIC_FIELD(1, 0)	/* enum exanet_pktz_state */
#define EXANET_PKTZSTAT_RESP	RNIC_FIELD(7, 4)	/* enum exanet_resp */
#define EXANET_PKTZSTAT_RETRIES	RNIC_FIELD(15, 8)	/* number of retransmissions,
							 * saturating */
#define EXANET_PKTZSTAT_GEN	RNIC_FIELD(21, 16)	/* generation of the last
							 * packet, as in its wire TID */
#define EXANET_PKTZSTAT_TIMEOUT	RNIC_BIT(24)	/* 1: STATE is FAILED because of too many
						 * time-outs, or after 10 s with nacks; in this
						 * case RESP is the last response, or 0 if there
						 * was no response */

enum exanet_pktz_state {
	EXANET_PKTZ_IDLE	= 0,
	EXANET_PKTZ_WAITING	= 1,	/* the packet is not acked yet, or not sent yet */
	EXANET_PKTZ_ACKED	= 2,	/* the packet is acked, or was sent without PKTZ_ACK */
	EXANET_PKTZ_FAILED	= 3,
};

/*
 * Read request: the payload of a packet of TYPE_READ_REQ, and a message of the RT mailbox
 * [P].  The requester fills the first 48 bytes.  The RT mailbox of the data owner
 * overwrites the last 16 bytes of the request with fields of packet header and footer,
 * which the requester cannot forge ("protected payload" [T §6.2]).
 */
struct exanet_read_req {
	__le64 src;		/* VA at the data owner, full 64 bits */
	__le64 dst;		/* GVA of the data at the requester */
	__le64 notify_gva;	/* GVA of the notification at the requester */
	__le64 ctrl;		/* fields EXANET_READ_REQ_* */
	__le64 notify_data;	/* data of the notification */
	__le64 tag;		/* any value; a notification of success has [15:0] as HANDLE */
	__le64 origin;		/* fields EXANET_READ_ORIGIN_*, from the RT mailbox */
	__le64 origin_seq;	/* [13:0] sequence number, from the RT mailbox */
};
RNIC_ASSERT_SIZE(struct exanet_read_req, 64);
#define EXANET_READ_REQ_USER_BYTES	48
#define EXANET_READ_REQ_LENGTH	RNIC_FIELD(31, 0)	/* bytes */
#define EXANET_READ_REQ_OWNER	RNIC_FIELD(35, 32)	/* context that owns the data */
#define EXANET_READ_REQ_NOTIFY	RNIC_BIT(36)		/* 1: notifies the requester when the
							 * read has ended */
#define EXANET_READ_REQ_IRQ	RNIC_BIT(37)		/* 1, with NOTIFY: the notification
							 * interrupts the requester */
#define EXANET_READ_ORIGIN_PDID	RNIC_FIELD(15, 0)
#define EXANET_READ_ORIGIN_COORD RNIC_FIELD(37, 16)
#define EXANET_READ_ORIGIN_TID	RNIC_FIELD(51, 38)
#define EXANET_READ_ORIGIN_TYPE	RNIC_FIELD(56, 52)

/*
 * If a read request has READ_REQ_NOTIFY and a valid notify_gva, and fails after its ack,
 * the firmware of the data owner's node sends a notification with STATUS = 1 to notify_gva.
 * The HANDLE of this notification is the error (enum exanet_resp or exanet_channel_error)
 * [P].  A request that the RT mailbox refuses gets a nack and no notification.
 */

/*
 * Word that RT_RESP returns: a response from the FIFO of the RT mailbox [D §6.2], layout
 * [P].
 */
#define EXANET_RT_TID		RNIC_FIELD(13, 0)	/* wire TID */
#define EXANET_RT_RESP		RNIC_FIELD(17, 14)	/* enum exanet_resp */
#define EXANET_RT_SEQ		RNIC_FIELD(29, 18)	/* low 12 bits of the sequence number */
#define EXANET_RT_REQUESTS	RNIC_BIT(30)	/* 1: the request FIFO is not empty [T] */
#define EXANET_RT_VALID		RNIC_BIT(31)	/* 1: the word has a response; 0: the response
						 * FIFO was empty, or FW_MODE is INTERNAL */

/* Mailbox registers, 64 B; 4 mailboxes in a page [P]. */
#define EXANET_MAILBOXES	4
#define EXANET_MAILBOX_BYTES	64
struct exanet_mailbox {
	__le64 ring;		/* 0x00 VA of the ring, 128-B aligned */
	__le64 ctrl;		/* 0x08 fields EXANET_MAILBOX_* */
	__le64 head;		/* 0x10 index of the next message that the process reads, counts
				 * modulo 2^32 */
	__le64 tail;		/* 0x18 RO index of the next message that the device stores,
				 * counts modulo 2^32 */
	__le64 rejected;	/* 0x20 RO fields EXANET_MAILBOX_REJ_* */
	__le64 reserved[3];
};
RNIC_ASSERT_SIZE(struct exanet_mailbox, EXANET_MAILBOX_BYTES);
#define EXANET_MAILBOX_LOG2	RNIC_FIELD(4, 0)	/* log2 of the number of entries,
							 * 1..16 */
#define EXANET_MAILBOX_ENABLE	RNIC_BIT(8)	/* a change from 0 to 1 sets head and tail to 0;
						 * ENABLE stays 0 if LOG2 is not valid */
#define EXANET_MAILBOX_IRQ	RNIC_BIT(9)	/* 1: each message interrupts; 0: only
						 * notifications with CONTROL_IRQ, and reports of
						 * failed reads, interrupt */
#define EXANET_MAILBOX_REJ_FULL	RNIC_FIELD(31, 0)	/* refusals because the ring was full or
							 * the mailbox disabled; each copy of a
							 * message counts */
#define EXANET_MAILBOX_REJ_FAULT RNIC_FIELD(63, 32)	/* refusals because of a page fault; each
							 * copy of a message counts */

/*
 * Register POLL, behind the mailboxes, write only; exists if CAP1_POLL is set [P].  A
 * process that polls memory stores any value here when the poll has found no message.
 * During the store, for up to 4 us, the process's vCPU processes frames that arrive on the
 * links, if the context is enabled and not quiesced, and no other vCPU polls.
 */
#define EXANET_MAILBOX_POLL	0x100

/* Ring entry of a mailbox, 128 B, in memory of the process [P]. */
struct exanet_message {
	__u8 payload[64];	/* payload of the packet, padded with zeros */
	__le64 origin;		/* fields EXANET_MESSAGE_* */
	__le64 data;		/* data of a notification; 0 in other messages */
	__le64 time;		/* time of the store, ns, virtual clock of the receiver */
	__le64 reserved[4];
	__le64 phase;		/* [0]: 1 in the first pass of the device through the ring, 0 in
				 * the second, 1 in the third ...; the device writes phase
				 * last */
};
RNIC_ASSERT_SIZE(struct exanet_message, 128);
#define EXANET_MESSAGE_PDID	RNIC_FIELD(15, 0)	/* PDID of the sender; in a
							 * notification: of the receiver */
#define EXANET_MESSAGE_COORD	RNIC_FIELD(37, 16)	/* coordinates of the sender */
#define EXANET_MESSAGE_SIZE	RNIC_FIELD(44, 38)	/* number of payload bytes, 1..64 */
#define EXANET_MESSAGE_TYPE	RNIC_FIELD(49, 45)	/* enum exanet_type */
#define EXANET_MESSAGE_TID	RNIC_FIELD(63, 50)	/* wire TID of the packet */

/* Info page, read only [P]. */
struct exanet_info {
	__le32 id;		/* 0x00 EXANET_ID */
	__le32 version;		/* 0x04 fields EXANET_VERSION_* */
	__le32 cap0;		/* 0x08 fields EXANET_CAP0_* */
	__le32 cap1;		/* 0x0c fields EXANET_CAP1_* */
	__le32 coord;		/* 0x10 coordinates of this node */
	__le32 pdid;		/* 0x14 PDID of this context */
	__le64 time;		/* 0x18 present time, ns, virtual clock */
	__le32 stores;		/* 0x20 number of stores and RDMA writes of this context that
				 * have no response yet */
	__le32 errors;		/* 0x24 number, modulo 2^32, of failed loads and stores of this
				 * context, and of its CDMA copies that failed at a GVA */
	__le64 reserved[3];
	__le64 win[8];		/* 0x40 values of CTX_WIN0 to CTX_WIN6, fields EXANET_WIN_* */
};
RNIC_ASSERT_SIZE(struct exanet_info, 128);

/*
 * Receiver context in the debug window, read only [P]: the state of a block that arrives.
 */
struct exanet_rx_context {
	__le64 bitmap;		/* bit n: packet n of the window has arrived */
	__le64 key;		/* fields EXANET_RXC_KEY_* */
	__le64 state;		/* fields EXANET_RXC_* */
	__le64 window;		/* VA of the 16-KB window of the block */
	__le64 p0, p1, p2;	/* words P0 to P2 of the control packet, see struct
				 * exanet_control */
	__le64 time;		/* virtual time when the last packet arrived, ns */
};
RNIC_ASSERT_SIZE(struct exanet_rx_context, 64);
#define EXANET_RX_CONTEXTS	256
#define EXANET_RX_WAYS		16
#define EXANET_RXC_KEY_TID	RNIC_FIELD(13, 0)
#define EXANET_RXC_KEY_SRC	RNIC_FIELD(35, 14)
#define EXANET_RXC_KEY_SEQ	RNIC_FIELD(49, 36)
#define EXANET_RXC_KEY_VALID	RNIC_BIT(50)
#define EXANET_RXC_KEY_FIRST	RNIC_BIT(51)		/* 1: the first packet has arrived */
#define EXANET_RXC_KEY_LAST	RNIC_BIT(52)		/* 1: the last packet has arrived */
#define EXANET_RXC_KEY_FIRST_IDX RNIC_FIELD(58, 53)	/* number of the first packet, as in
							 * bitmap */
#define EXANET_RXC_LAST_IDX	RNIC_FIELD(5, 0)	/* number of the last packet, as in
							 * bitmap */
#define EXANET_RXC_NOTIFY	RNIC_BIT(6)		/* 1: the block needs a control packet */
#define EXANET_RXC_CONTROL	RNIC_BIT(7)		/* 1: the control packet has arrived */
#define EXANET_RXC_NACKED	RNIC_BIT(8)		/* 1: the receiver has nacked the copy */
#define EXANET_RXC_NACK		RNIC_FIELD(12, 9)	/* enum exanet_resp of the nack */
#define EXANET_RXC_PDID		RNIC_FIELD(28, 13)
#define EXANET_RXC_BYTES	RNIC_FIELD(43, 29)	/* number of bytes that have arrived */
#define EXANET_RXC_EPOCH	RNIC_FIELD(51, 44)	/* epoch of the source node */

/*
 * Tombstone in the debug window, read only [P]: the record of a block that was complete; the
 * most recent tombstone is first.  The receiver recognizes delayed copies by other records,
 * one for each source and TID.
 */
struct exanet_tombstone {
	__le64 key;		/* fields EXANET_TOMB_* */
	__le64 time;		/* virtual time when the block was complete, ns */
};
RNIC_ASSERT_SIZE(struct exanet_tombstone, 16);
#define EXANET_TOMBSTONES	1024
#define EXANET_TOMB_TID		RNIC_FIELD(13, 0)
#define EXANET_TOMB_SRC		RNIC_FIELD(35, 14)
#define EXANET_TOMB_SEQ		RNIC_FIELD(49, 36)
#define EXANET_TOMB_EPOCH	RNIC_FIELD(57, 50)
#define EXANET_TOMB_VALID	RNIC_BIT(63)

/* Entry of the fault FIFO [P]. */
struct exanet_fault {
	__le64 va;		/* VA of the fault, rounded down to a multiple of 4 KB */
	__le64 info;		/* fields EXANET_FAULT_* */
	__le64 left;		/* [31:0] hint: bytes from the faulting byte on that the
				 * same block, message, ring, load, store or copy may access */
	__le64 time;		/* virtual time of the fault, ns */
};
RNIC_ASSERT_SIZE(struct exanet_fault, 32);
#define EXANET_FAULTS		256
#define EXANET_FAULT_CTX	RNIC_FIELD(3, 0)
#define EXANET_FAULT_WRITE	RNIC_BIT(4)		/* 0: the access was a read, 1: a
							 * write */
#define EXANET_FAULT_DST	RNIC_BIT(5)		/* 0: the fault was at the source, 1: at
							 * the destination */
#define EXANET_FAULT_UNIT	RNIC_FIELD(7, 6)	/* enum exanet_fault_unit */
#define EXANET_FAULT_TID	RNIC_FIELD(21, 8)	/* wire TID */
#define EXANET_FAULT_COORD	RNIC_FIELD(43, 22)	/* coordinates of the other node */
#define EXANET_FAULT_SEQ	RNIC_FIELD(57, 44)

enum exanet_fault_unit {
	EXANET_FAULT_RDMA	= 0,
	EXANET_FAULT_MESSAGE	= 1,	/* message to memory, or ring of a mailbox */
	EXANET_FAULT_SHM	= 2,	/* load or store of any node, or CDMA of this node */
};

#endif /* RNIC_EXANET_DESC_H */
