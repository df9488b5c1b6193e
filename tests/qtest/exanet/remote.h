/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The receiver of another node, as the device's firmware sees it: a test that stores
 * what comes, on whatever cable, and acks a block when all of it is there.
 */
#ifndef EXANET_REMOTE_H
#define EXANET_REMOTE_H

#include "device.h"

#define EXANET_REMOTE_BASE 0x8000000000ULL      /* in window 1 */

typedef struct ExanetRemoteBlock {
    bool data, control;             /* what has come */
    uint16_t tid, seq;
} ExanetRemoteBlock;

typedef struct ExanetRemote {
    ExanetSink sink;
    unsigned blocks;                /* acked */
    unsigned controls;
    unsigned releases;
    uint64_t control[4];            /* of the last one */
    unsigned port[EXANET_LINKS];    /* write packets that came by each */
    ExanetRemoteBlock block[EXANET_TIDS];
    GRand *rand;                    /* of the test; NULL: none */
} ExanetRemote;

/* An image of the memory behind [base, base + bytes). */
void exanet_remote_init(ExanetRemote *r, uint64_t base, size_t bytes);
void exanet_remote_fini(ExanetRemote *r);
/* Notes @pkt, data or control; true when its block is complete. */
bool exanet_remote_take(ExanetRemote *r, const ExanetPacket *pkt);
/* Handles what has come so far. */
void exanet_remote_run(ExanetTest *t, ExanetRemote *r);
void exanet_remote_assert(const ExanetRemote *r, uint64_t va, const void *want,
                          size_t len);

/* --- Channels of the device ------------------------------------------------ */

/* @len bytes to @va of EXANET_TEST_PEER. */
ExanetTransfer exanet_to_peer(uint64_t src, uint64_t va, uint32_t len);
/* Fields of a channel's status. */
unsigned exanet_channel_error(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_channel_acked(ExanetTest *t, unsigned c, unsigned channel);
unsigned exanet_channel_retries(ExanetTest *t, unsigned c, unsigned channel);
/* Takes a block of one packet from @p, which must have sequence @seq. */
ExanetPacket exanet_take_single(ExanetPeer *p, unsigned seq);
/* The device tells that it has given the block of @pkt up. */
void exanet_take_release(ExanetPeer *p, const ExanetPacket *pkt);
/* Register @reg (EXANET_REG_FW_) of 32 bits. */
void exanet_fw_set(ExanetTest *t, unsigned reg, uint32_t value);
/* Blocks whose last packet has come to t->peer and was not taken. */
unsigned exanet_blocks_waiting(ExanetTest *t);

/* --- Reads of the peer ----------------------------------------------------- */

/* @len bytes from @src of the owner in @ctrl to @va of EXANET_TEST_PEER. */
struct exanet_read_req exanet_read_of_peer(uint64_t src, uint64_t va,
                                           uint32_t len, uint64_t ctrl);
/* Asks for it as context 4, with generation @gen and sequence @seq. */
void exanet_read_send(ExanetTest *t, const struct exanet_read_req *req,
                      unsigned gen, unsigned seq);
/* Like exanet_read_send(), from context @ctx of the peer instead of 4. */
void exanet_read_send_ctx(ExanetTest *t, const struct exanet_read_req *req,
                          unsigned ctx, unsigned gen, unsigned seq);

#endif /* EXANET_REMOTE_H */
