/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiver of another node.  The test acts as this receiver: it stores the write
 * packets and control packets that the device sends on all cables, and acks a block when
 * all packets of the block have arrived.
 */
#ifndef EXANET_REMOTE_H
#define EXANET_REMOTE_H

#include "device.h"

#define EXANET_REMOTE_BASE 0x8000000000ULL      /* VA where window 1 begins */

typedef struct ExanetRemoteBlock {
    bool data, control;             /* all data packets, or the control packet, arrived */
    uint16_t tid, seq;
} ExanetRemoteBlock;

typedef struct ExanetRemote {
    ExanetSink sink;
    unsigned blocks;                /* number of acks that the receiver has sent */
    unsigned controls;
    unsigned releases;
    uint64_t control[4];            /* words of the last control packet */
    unsigned port[EXANET_LINKS];    /* number of write packets from each device port */
    ExanetRemoteBlock block[EXANET_TIDS];
    GRand *rand;                    /* for the test, owned; NULL: none */
} ExanetRemote;

/*
 * Clears @r, and makes an image of memory for the VAs from @base to @base + @bytes - 1.
 */
void exanet_remote_init(ExanetRemote *r, uint64_t base, size_t bytes);
void exanet_remote_fini(ExanetRemote *r);
/*
 * Stores @pkt, a write packet or control packet.  Returns true if the receiver must ack
 * the block of @pkt now: @pkt is the last write packet or the control packet, all data
 * have arrived, and also the control packet, if @pkt requests a notification.
 */
bool exanet_remote_take(ExanetRemote *r, const ExanetPacket *pkt);
/*
 * Handles the packets of the device that have arrived: stores data and control packets,
 * acks complete blocks, counts releases and ignores acks.
 */
void exanet_remote_run(ExanetTest *t, ExanetRemote *r);
void exanet_remote_assert(const ExanetRemote *r, uint64_t va, const void *want,
                          size_t len);

/* --- Channels of the device ------------------------------------------------ */

/* Returns a transfer of @len bytes from VA @src to VA @va of node EXANET_TEST_PEER. */
ExanetTransfer exanet_to_peer(uint64_t src, uint64_t va, uint32_t len);
/*
 * Return fields of the status of @channel of context @c: error code, number of acked
 * bytes, number of retransmissions.
 */
unsigned exanet_channel_error(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_channel_acked(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_channel_retries(ExanetTest *t, unsigned c, unsigned channel);
/*
 * Takes the next packet from @p; asserts that it is a write packet, a whole block, and
 * has sequence number @seq.  The returned packet has no payload.
 */
ExanetPacket exanet_take_single(ExanetPeer *p, unsigned seq);
/* Takes the next packet from @p; asserts that it is a RELEASE of the block of @pkt. */
void exanet_take_release(ExanetPeer *p, const ExanetPacket *pkt);
/* Writes @value to the firmware's 32-bit register @reg (EXANET_REG_FW_*). */
void exanet_fw_set(ExanetTest *t, unsigned reg, uint32_t value);
/*
 * Settles; returns the number of packets with LAST that have arrived at @t->peer and that
 * the test has not taken.
 */
unsigned exanet_blocks_waiting(ExanetTest *t);

/* --- Reads of the peer ----------------------------------------------------- */

/*
 * Returns a request of the peer to read @len bytes from VA @src of the device to VA @va
 * of the peer.  @ctrl: word CTRL of the request without the length; its field OWNER is
 * the context of @src.
 */
struct exanet_read_req exanet_read_of_peer(uint64_t src, uint64_t va,
                                           uint32_t len, uint64_t ctrl);
/* Sends @req as context 4 of the peer, with generation @gen and sequence number @seq. */
void exanet_read_send(ExanetTest *t, const struct exanet_read_req *req,
                      unsigned gen, unsigned seq);
/* Does the same as exanet_read_send(), but as context @ctx of the peer. */
void exanet_read_send_ctx(ExanetTest *t, const struct exanet_read_req *req,
                          unsigned ctx, unsigned gen, unsigned seq);

#endif /* EXANET_REMOTE_H */
