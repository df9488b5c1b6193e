/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Division of a transfer into blocks, and of a block into packets [T §4, §5.1].  The
 * functions use no state of QEMU, because a unit test calls them with the numbers of the
 * paper.
 */
#ifndef HW_EXANET_ENGINE_SEGMENT_H
#define HW_EXANET_ENGINE_SEGMENT_H

#include "rnic/exanet/wire.h"

#define EXANET_SOURCE_PAGE 4096 /* bytes; each source read is in one page [T §5.1] */

/*
 * Returns the number of bytes of the next block of a transfer.  The transfer has @len
 * bytes left, and its next byte is for address @dst.  The block has at most @max bytes
 * (1..16384), and crosses no multiple of 16 KB at the destination.
 */
static inline uint32_t exanet_segment(uint64_t dst, uint64_t len, uint32_t max)
{
    uint32_t room = EXANET_BLOCK_BYTES - (dst & (EXANET_BLOCK_BYTES - 1));

    if (room > max) {
        room = max;
    }
    return len < room ? len : room;
}

/*
 * Returns the number of payload bytes of the packet that begins at offset @off of a block
 * of @len bytes to address @dst.  A payload crosses no multiple of 256 B at the
 * destination.
 */
static inline uint32_t exanet_packetize(uint64_t dst, uint32_t len,
                                        uint32_t off)
{
    uint32_t room = EXANET_MTU - ((dst + off) & (EXANET_MTU - 1));

    return len - off < room ? len - off : room;
}

/* Returns the number of source reads, 1 or 2, for @bytes (1..256) at address @src. */
static inline unsigned exanet_source_reads(uint64_t src, uint32_t bytes)
{
    return (src & (EXANET_SOURCE_PAGE - 1)) + bytes > EXANET_SOURCE_PAGE ? 2 : 1;
}

/*
 * Returns the number, 0 to 63, of the bit of a packet to @dst in a bitmap of the block's
 * packets [D §0.2].
 */
static inline unsigned exanet_packet_bit(uint64_t dst)
{
    return (dst / EXANET_MTU) % EXANET_BLOCK_PACKETS;
}

/* Returns true if @len bytes (1..16384) from @dst on cross a multiple of 16 KB. */
static inline bool exanet_block_crosses(uint64_t dst, uint32_t len)
{
    return (dst & (EXANET_BLOCK_BYTES - 1)) + len > EXANET_BLOCK_BYTES;
}

#endif /* HW_EXANET_ENGINE_SEGMENT_H */
