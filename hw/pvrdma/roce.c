/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: frames.
 */
#include "qemu/osdep.h"
#include "roce.h"

const RoceOpcodeInfo *roce_opcode_info(uint8_t opcode)
{
    return NULL;
}

bool roce_frame_is(const uint8_t *frame, size_t len)
{
    return false;
}

size_t roce_frame_begin(uint8_t *frame, const RocePath *path,
                        const RocePacket *pkt)
{
    return 0;
}

size_t roce_frame_end(uint8_t *frame, size_t payload_at, size_t payload_len)
{
    return 0;
}

RoceStatus roce_frame_parse(const uint8_t *frame, size_t len, RocePath *path,
                            RocePacket *pkt)
{
    return 0;
}

size_t roce_frame_network_at(const uint8_t *frame)
{
    return 0;
}

void roce_frame_grh(const uint8_t *frame, uint8_t grh[ROCE_GRH_BYTES])
{
}

uint32_t roce_icrc(const uint8_t *frame, size_t len)
{
    return 0;
}

int64_t roce_rnr_ns(unsigned code)
{
    return 0;
}
