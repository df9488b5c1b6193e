/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames for tests of roce.c: vectors from a script, and frames that roce.c builds. */
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

/* Decodes pvrdma_vectors[] into frame_vectors[], which is empty before the call. */
void frame_vectors_init(void);
/* Returns the vector @name; aborts if there is no such vector. */
const FrameVector *frame_vector(const char *name);
/* Returns the offset of the BTH in the frame of @v. */
size_t frame_bth_at(const FrameVector *v);

/*
 * Builds a frame whose payload bytes are 0, 1, 2 ..., modulo 256; returns the length of
 * the frame.
 */
size_t frame_build(uint8_t *frame, const RocePath *path, const RocePacket *pkt);
/* Parses a frame, and returns the status of the parser. */
RoceStatus frame_parse(const uint8_t *frame, size_t len);
/* Asserts that the frame is valid, and has @path, @pkt and frame_build()'s payload. */
void frame_assert_parsed(const uint8_t *frame, size_t len, const RocePath *path,
                         const RocePacket *pkt);
/* Corrects the ICRC of a changed frame, and the checksum of an IPv4 header. */
void frame_seal(uint8_t *frame, size_t len);

#endif
