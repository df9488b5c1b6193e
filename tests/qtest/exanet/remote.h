/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiver of another node.  The test acts as this receiver: the test stores the
 * packets of all cables, and acks a block when all packets of the block have arrived.
 */
#ifndef EXANET_REMOTE_H
#define EXANET_REMOTE_H

#include "device.h"

#define EXANET_REMOTE_BASE 0x8000000000ULL      /* an address in window 1 */

typedef struct ExanetRemoteBlock {
    bool data, control;             /* all data, or the control packet, have arrived */
    uint16_t tid, seq;
} ExanetRemoteBlock;

typedef struct ExanetRemote {
    ExanetSink sink;
    unsigned blocks;                /* number of acked blocks */
    unsigned controls;
    unsigned releases;
    uint64_t control[4];            /* words of the last control packet */
    unsigned port[EXANET_LINKS];    /* write packets from each port of the device */
    ExanetRemoteBlock block[EXANET_TIDS];
    GRand *rand;                    /* for the test, owned; NULL: none */
} ExanetRemote;

/* Clears @r, and makes an image of the memory [base, base + bytes). */
void exanet_remote_init(ExanetRemote *r, uint64_t base, size_t bytes);
void exanet_remote_fini(ExanetRemote *r);
/*
 * Stores data packet or control packet @pkt; returns true if the block is complete now.
 */
bool exanet_remote_take(ExanetRemote *r, const ExanetPacket *pkt);
/* Handles all packets that have arrived. */
void exanet_remote_run(ExanetTest *t, ExanetRemote *r);
void exanet_remote_assert(const ExanetRemote *r, uint64_t va, const void *want,
                          size_t len);

/* --- Channels of the device ------------------------------------------------ */

/* Returns a transfer of @len bytes to @va of EXANET_TEST_PEER. */
ExanetTransfer exanet_to_peer(uint64_t src, uint64_t va, uint32_t len);
/* Return the error, the acked bytes and the retries in a channel's status. */
unsigned exanet_channel_error(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_channel_acked(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_channel_retries(ExanetTest *t, unsigned c, unsigned channel);
/* Takes a block of one packet from @p; asserts that its sequence is @seq. */
ExanetPacket exanet_take_single(ExanetPeer *p, unsigned seq);
/* Takes the next packet; asserts that it releases the block of @pkt. */
void exanet_take_release(ExanetPeer *p, const ExanetPacket *pkt);
/* Writes register @reg (EXANET_REG_FW_) of 32 bits. */
void exanet_fw_set(ExanetTest *t, unsigned reg, uint32_t value);
/* Returns the number of blocks whose last packet waits at t->peer. */
unsigned exanet_blocks_waiting(ExanetTest *t);

/* --- Reads of the peer ----------------------------------------------------- */

/*
 * Returns a request for @len bytes at VA @src of the device's context that @ctrl names as
 * owner.  The data go to @va of the peer.  @ctrl has all bits of CTRL but the length.
 */
struct exanet_read_req exanet_read_of_peer(uint64_t src, uint64_t va,
                                           uint32_t len, uint64_t ctrl);
/* Sends the request as context 4, with generation @gen and sequence @seq. */
void exanet_read_send(ExanetTest *t, const struct exanet_read_req *req,
                      unsigned gen, unsigned seq);
/* Does the same as context @ctx of the peer. */
void exanet_read_send_ctx(ExanetTest *t, const struct exanet_read_req *req,
                          unsigned ctx, unsigned gen, unsigned seq);

#endif /* EXANET_REMOTE_H */
