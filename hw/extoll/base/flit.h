/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of flits.  The format is in rnic/extoll/wire.h. */
#ifndef RNIC_EXTOLL_BASE_FLIT_H
#define RNIC_EXTOLL_BASE_FLIT_H

#include "rnic/extoll/wire.h"

typedef struct ExtollFlit {
    uint16_t seq;
    uint8_t vc;
    uint8_t bytes;      /* bytes of the packet in this flit */
    bool first;         /* first flit of a packet */
    bool last;
} ExtollFlit;

typedef enum ExtollFlitStatus {
    EXTOLL_FLIT_OK,
    EXTOLL_FLIT_SHORT,      /* the frame ends inside the flit */
    EXTOLL_FLIT_BAD_LENGTH, /* no flit has such BYTES, so the next flit cannot be found */
    EXTOLL_FLIT_BAD_CRC,
    EXTOLL_FLIT_MALFORMED,  /* the CRC is right, but no such flit can be sent */
} ExtollFlitStatus;

/*
 * Decodes the flit at @buf, of which @len bytes are there.  The status is MALFORMED if
 * the virtual channel does not exist, a reserved bit is 1, or a flit is not full although
 * more flits of its packet follow.  Changes @flit only if the status is OK.
 */
ExtollFlitStatus extoll_flit_decode(const uint8_t *buf, size_t len, ExtollFlit *flit);

/*
 * Stores the header of @flit, with the CRC, in front of the @flit->bytes bytes at
 * @buf + EXTOLL_FLIT_HEADER.  Returns the bytes of the flit.
 */
unsigned extoll_flit_encode(uint8_t *buf, const ExtollFlit *flit);

/* Returns the number of flits of a packet of @bytes bytes. */
static inline unsigned extoll_flits(unsigned bytes)
{
    return (bytes + EXTOLL_FLIT_DATA - 1) / EXTOLL_FLIT_DATA;
}

#endif /* RNIC_EXTOLL_BASE_FLIT_H */
