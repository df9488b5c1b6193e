/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of flits; see flit.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../core/crc.h"
#include "flit.h"

QEMU_BUILD_BUG_ON(EXTOLL_FLIT_HEADER + EXTOLL_FLIT_DATA != EXTOLL_FLIT_MAX);

/* Returns the CRC of a flit with the header @header and @bytes bytes at @data. */
static uint32_t flit_crc(uint64_t header, const uint8_t *data, unsigned bytes)
{
    uint8_t raw[EXTOLL_FLIT_CRC_BYTES];

    stl_le_p(raw, header);
    return rnic_crc32(rnic_crc32(0, raw, sizeof(raw)), data, bytes);
}

ExtollFlitStatus extoll_flit_decode(const uint8_t *buf, size_t len, ExtollFlit *flit)
{
    uint64_t header;
    unsigned bytes;

    if (len < EXTOLL_FLIT_HEADER) {
        return EXTOLL_FLIT_SHORT;
    }
    header = ldq_le_p(buf);
    bytes = RNIC_GET(EXTOLL_FLIT_BYTES, header);
    if (!bytes || bytes > EXTOLL_FLIT_DATA || bytes % EXTOLL_WORD_BYTES) {
        return EXTOLL_FLIT_BAD_LENGTH;
    }
    if (len - EXTOLL_FLIT_HEADER < bytes) {
        return EXTOLL_FLIT_SHORT;
    }
    if (flit_crc(header, buf + EXTOLL_FLIT_HEADER, bytes) !=
        RNIC_GET(EXTOLL_FLIT_CRC, header)) {
        return EXTOLL_FLIT_BAD_CRC;
    }
    if (RNIC_GET(EXTOLL_FLIT_VC, header) >= EXTOLL_VCS ||
        RNIC_GET(EXTOLL_FLIT_RESERVED, header) ||
        (!(header & EXTOLL_FLIT_LAST) && bytes != EXTOLL_FLIT_DATA)) {
        return EXTOLL_FLIT_MALFORMED;
    }
    *flit = (ExtollFlit) {
        .seq = RNIC_GET(EXTOLL_FLIT_SEQ, header),
        .vc = RNIC_GET(EXTOLL_FLIT_VC, header),
        .bytes = bytes,
        .first = header & EXTOLL_FLIT_FIRST,
        .last = header & EXTOLL_FLIT_LAST,
    };
    return EXTOLL_FLIT_OK;
}

unsigned extoll_flit_encode(uint8_t *buf, const ExtollFlit *flit)
{
    uint64_t header = RNIC_PREP(EXTOLL_FLIT_VC, flit->vc) |
                      (flit->first ? EXTOLL_FLIT_FIRST : 0) |
                      (flit->last ? EXTOLL_FLIT_LAST : 0) |
                      RNIC_PREP(EXTOLL_FLIT_SEQ, flit->seq) |
                      RNIC_PREP(EXTOLL_FLIT_BYTES, flit->bytes);

    header |= RNIC_PREP(EXTOLL_FLIT_CRC, flit_crc(header, buf + EXTOLL_FLIT_HEADER,
                                                  flit->bytes));
    stq_le_p(buf, header);
    return EXTOLL_FLIT_HEADER + flit->bytes;
}
