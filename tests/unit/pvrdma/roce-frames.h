/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames to test the RoCE codec with: vectors that were made without it, and its own. */
#ifndef PVRDMA_ROCE_FRAMES_H
#define PVRDMA_ROCE_FRAMES_H

#include "hw/rnic/pvrdma/wire/roce.h"
#include "pvrdma-vectors.h"

#define IPV4_HLEN       20
#define IPV6_HLEN       40
#define UDP_HLEN        8

typedef struct FrameVector {
    const char *name;
    RocePath path;
    RocePacket pkt;
    size_t len;
    uint8_t bytes[160];
} FrameVector;

#define FRAME_VECTORS ARRAY_SIZE(pvrdma_vectors)
extern FrameVector frame_vectors[FRAME_VECTORS];

/* To be called first. */
void frame_vectors_init(void);
/* The one with that name, which there must be. */
const FrameVector *frame_vector(const char *name);
/* Where its BTH begins. */
size_t frame_bth_at(const FrameVector *v);

/* Builds a frame whose payload is 0, 1, 2 ...; its length. */
size_t frame_build(uint8_t *frame, const RocePath *path, const RocePacket *pkt);
RoceStatus frame_parse(const uint8_t *frame, size_t len);
/* Parses what must be a frame with just that in it. */
void frame_assert_parsed(const uint8_t *frame, size_t len, const RocePath *path,
                         const RocePacket *pkt);
/* Makes a frame that was tampered with whole again: checksum and ICRC. */
void frame_seal(uint8_t *frame, size_t len);

#endif
