/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Frames on a cable between two ports [P].  Header wire.h defines the packets in a frame,
 * and the addresses and flags that only ExaNet uses.
 *
 * All fields are little-endian on the wire, except __be.
 */
#ifndef RNIC_EXANET_LINK_H
#define RNIC_EXANET_LINK_H

#include "rnic/bits.h"

#define EXANET_LINK_WORD	16	/* bytes of a word of a frame */
#define EXANET_LINK_VCS		4	/* maximal number of virtual channels of a link */

/*
 * Cable frame [P]: an Ethernet header and a link header, then whole packets.  Frames of
 * kind DATA have @count words of packets; each packet is whole in one frame.
 */
#define EXANET_ETHERTYPE	0x88b5	/* IEEE local experimental */
#define EXANET_LINK_VERSION	1
#define EXANET_FRAME_MAX	69632	/* bytes of the longest frame of a QEMU netdev */

enum exanet_link_kind {
	EXANET_LINK_DATA	= 0,
	EXANET_LINK_HELLO	= 1,	/* one struct exanet_hello */
	EXANET_LINK_XOFF	= 2,	/* the receiver of this frame must start no packet in
					 * this virtual channel */
	EXANET_LINK_XON		= 3,	/* the receiver of this frame may start packets in this
					 * virtual channel again */
	EXANET_LINK_DOWN	= 5,	/* the sender takes the link down */
};

struct exanet_frame {
	__u8	dst[6];		/* MAC of the neighbour (02:45:58, then its coordinates in 24
				 * bits), or ff:ff:ff:ff:ff:ff */
	__u8	src[6];		/* MAC of the sender: 02:45:58, then its coordinates in 24
				 * bits */
	__be16	ethertype;	/* EXANET_ETHERTYPE */
	__u8	version;	/* EXANET_LINK_VERSION */
	__u8	kind;		/* enum exanet_link_kind */
	__u8	vc;		/* virtual channel of all packets in the frame; in XOFF and XON:
				 * the channel that the frame stops or starts */
	__u8	reserved;	/* zero */
	__le16	count;		/* number of 128-bit words that follow */
	__le32	seq;		/* number of the frame; each port counts its frames from 0, and a
				 * reset does not restart the count */
};
RNIC_ASSERT_SIZE(struct exanet_frame, 24);

struct exanet_hello {
	__le32	coord;		/* EXANET_COORD of the sender, upper bits zero */
	__u8	epoch;		/* changes with every reset of the sender */
	__u8	flags;		/* bits EXANET_HELLO_HEARD, EXANET_HELLO_RUNS and
				 * EXANET_HELLO_NO_CRC */
	__u8	peer_epoch;	/* epoch of the receiver, if EXANET_HELLO_HEARD */
	__u8	reserved;	/* zero */
	__le32	rx_words;	/* size of the sender's receive FIFO, words */
	__le32	max_words;	/* maximal number of words in a frame to the sender of the
				 * HELLO */
};
RNIC_ASSERT_SIZE(struct exanet_hello, 16);
#define EXANET_HELLO_HEARD	0x01	/* the sender has received a HELLO from the receiver, and
					 * the epoch in this HELLO was peer_epoch */

#endif /* RNIC_EXANET_LINK_H */
