/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Frames on a cable between two ports [P].  The header wire.h of each family defines the
 * packets in a frame, and the addresses and flags that only this family uses.
 *
 * All fields are little-endian on the wire, except __be.
 */
#ifndef RNIC_LINK_H
#define RNIC_LINK_H

#include "rnic/bits.h"

#define RNIC_LINK_WORD	16	/* bytes of a word of a frame */
#define RNIC_LINK_VCS	4	/* maximal number of virtual channels of a link */

/*
 * Cable frame [P]: an Ethernet header and a link header, then whole packets.  Frames of
 * kind DATA have @count words of packets; each packet is whole in one frame.
 */
#define RNIC_ETHERTYPE		0x88b5	/* IEEE local experimental */
#define RNIC_LINK_VERSION	1
#define RNIC_FRAME_MAX		69632	/* bytes of the longest frame of a QEMU netdev */

enum rnic_link_kind {
	RNIC_LINK_DATA	= 0,
	RNIC_LINK_HELLO	= 1,	/* one struct rnic_hello */
	RNIC_LINK_XOFF	= 2,	/* the receiver of this frame must start no packet in
				 * this virtual channel */
	RNIC_LINK_XON	= 3,	/* the receiver of this frame may start packets in this
				 * virtual channel again */
	RNIC_LINK_DOWN	= 5,	/* the sender takes the link down */
};

enum rnic_link_family {
	RNIC_LINK_EXANET	= 0,
	RNIC_LINK_EXTOLL	= 1,
};

struct rnic_frame {
	__u8	dst[6];		/* MAC of the neighbour (24 bits of the family, then its
				 * coordinates in 24 bits), or ff:ff:ff:ff:ff:ff */
	__u8	src[6];		/* MAC of the sender: 24 bits of the family, then its
				 * coordinates in 24 bits */
	__be16	ethertype;	/* RNIC_ETHERTYPE */
	__u8	version;	/* RNIC_LINK_VERSION */
	__u8	kind;		/* enum rnic_link_kind */
	__u8	vc;		/* virtual channel of all packets in the frame; in XOFF and XON:
				 * the channel that the frame stops or starts */
	__u8	family;		/* enum rnic_link_family */
	__le16	count;		/* number of 128-bit words that follow */
	__le32	seq;		/* number of the frame; each port counts its frames from 0, and a
				 * reset does not restart the count */
};
RNIC_ASSERT_SIZE(struct rnic_frame, 24);

struct rnic_hello {
	__le32	coord;		/* coordinates of the sender, at most 24 bits */
	__u8	epoch;		/* changes with every reset of the sender */
	__u8	flags;		/* RNIC_HELLO_HEARD, and flags of the family */
	__u8	peer_epoch;	/* epoch of the receiver, if RNIC_HELLO_HEARD */
	__u8	reserved;	/* zero */
	__le32	rx_words;	/* size of the sender's receive FIFO, words */
	__le32	max_words;	/* maximal number of words in a frame to the sender of the
				 * HELLO */
};
RNIC_ASSERT_SIZE(struct rnic_hello, 16);
#define RNIC_HELLO_HEARD	0x01	/* the sender has received a HELLO from the receiver, and
					 * the epoch in this HELLO was peer_epoch */

#endif /* RNIC_LINK_H */
