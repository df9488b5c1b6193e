/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of flits and control words; see wire-fault.h. */
#include "qemu/osdep.h"
#include "../base/control.h"
#include "wire-fault.h"

/*
 * Bytes of the flit header that a fault may damage: SEQ and CRC.  A wrong length in byte
 * 3 would also damage the next flits.  Byte 0 tells a flit from a control word.
 */
static const uint8_t header_bytes[] = { 1, 2, 4, 5, 6, 7 };

static unsigned fault_type(const uint8_t *buf)
{
    return extoll_control_is(buf) ? EXTOLL_FAULT_CONTROL : EXTOLL_FAULT_FLIT;
}

static bool is_flit(unsigned type, unsigned words)
{
    return type == EXTOLL_FAULT_FLIT;
}

static bool is_control(unsigned type, unsigned words)
{
    return type == EXTOLL_FAULT_CONTROL;
}

static void bit_flip(GRand *rand, uint8_t *byte)
{
    *byte ^= 1u << g_rand_int_range(rand, 0, 8);
}

/*
 * Flips a bit of the sequence or of the CRC.  Flips no bit of the length, because then
 * the fault would damage the flits behind, too.
 */
static void header_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    unsigned i = g_rand_int_range(rand, 0, ARRAY_SIZE(header_bytes));

    bit_flip(rand, &buf[header_bytes[i]]);
}

static void payload_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    unsigned bytes = RNIC_GET(EXTOLL_FLIT_BYTES, (uint32_t)buf[3] << 24);

    bit_flip(rand, &buf[EXTOLL_FLIT_HEADER + g_rand_int_range(rand, 0, bytes)]);
}

/* Flips a bit of the CRC, so that the receiver drops the word. */
static void control_drop(GRand *rand, uint8_t *buf, unsigned words)
{
    unsigned at = offsetof(struct extoll_control, crc);

    bit_flip(rand, &buf[at + g_rand_int_range(rand, 0, sizeof(uint32_t))]);
}

static const RNicFaultPart parts[] = {
    { "corrupt-header", is_flit, header_flip },
    { "corrupt-payload", is_flit, payload_flip },
    { "drop-control", is_control, control_drop },
};
QEMU_BUILD_BUG_ON(ARRAY_SIZE(parts) > RNIC_FAULT_PARTS);

const RNicFaultFormat extoll_fault_format = {
    .part = parts,
    .parts = ARRAY_SIZE(parts),
    .seed = 0x45544c54,
    .type = fault_type,
};
