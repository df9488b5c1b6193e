/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of ExaNet packets that a fault of a cable may damage; see wire-fault.h.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "wire-fault.h"
#include "../base/wire.h"

/*
 * Flips a random bit of the 128-bit word at @word.  @lo and @hi are the masks of the bits
 * that may be flipped, in the low and in the high 64 bits of the word.
 */
static void word_flip(GRand *rand, uint8_t *word, uint64_t lo, uint64_t hi)
{
    unsigned bit = g_rand_int_range(rand, 0, ctpop64(lo) + ctpop64(hi));

    if (bit >= ctpop64(lo)) {
        bit -= ctpop64(lo);
        lo = hi;
        word += sizeof(lo);
    }
    while (bit--) {
        lo &= lo - 1;
    }
    stq_le_p(word, ldq_le_p(word) ^ (lo & -lo));
}

/*
 * Flips a bit of the header's CRC, or a bit that this CRC covers, but no bit of the type,
 * because the type determines which bits the CRC covers.
 */
static void header_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    unsigned type = exanet_packet_type(buf);
    uint64_t lo = ~(EXANET_HDR_LO_VC | EXANET_HDR_LO_TYPE);
    uint64_t hi = ~EXANET_HDR_HI_PATH;

    if (type == EXANET_TYPE_ACK) {
        hi &= ~EXANET_ACK_HI_HOPS;
    } else if (type == EXANET_TYPE_FLOW_RATE) {
        lo &= ~EXANET_FLOW_LO_HOPS;
    }
    word_flip(rand, buf, lo, hi);
}

static void payload_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    unsigned word = g_rand_int_range(rand, 1, words - 1);

    word_flip(rand, buf + word * EXANET_WORD_BYTES, UINT64_MAX, UINT64_MAX);
}

/*
 * Flips a bit of the footer: of the footer's CRC, or of the fields that this CRC covers.
 * No fault flips the CRC of the payload, which is in the footer too.
 */
static void footer_flip(GRand *rand, uint8_t *buf, unsigned words)
{
    word_flip(rand, buf + (words - 1) * EXANET_WORD_BYTES,
              ~EXANET_FTR_LO_TTL_2_0,
              EXANET_FTR_HI_USER | EXANET_FTR_HI_CRC);
}

static bool header_present(unsigned type, unsigned words)
{
    return true;
}

static bool payload_present(unsigned type, unsigned words)
{
    return words > 2;
}

static bool footer_present(unsigned type, unsigned words)
{
    return words > 1;
}

static const RNicFaultPart parts[] = {
    { "corrupt-header", header_present, header_flip },
    { "corrupt-payload", payload_present, payload_flip },
    { "corrupt-footer", footer_present, footer_flip },
};
QEMU_BUILD_BUG_ON(ARRAY_SIZE(parts) > RNIC_FAULT_PARTS);

const RNicFaultFormat exanet_fault_format = {
    .part = parts,
    .parts = ARRAY_SIZE(parts),
    .seed = 0x45584e54,
    .type = exanet_packet_type,
};
