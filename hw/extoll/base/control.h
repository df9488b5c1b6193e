/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of control words.  The format is in rnic/extoll/wire.h. */
#ifndef RNIC_EXTOLL_BASE_CONTROL_H
#define RNIC_EXTOLL_BASE_CONTROL_H

#include "rnic/extoll/wire.h"

typedef struct ExtollControl {
    uint8_t kind;           /* enum extoll_control_kind */
    uint8_t flags;          /* EXTOLL_STATE_* or EXTOLL_START_* */
    uint16_t ack;
    uint32_t count[EXTOLL_VCS];
} ExtollControl;

typedef enum ExtollControlStatus {
    EXTOLL_CONTROL_OK,
    EXTOLL_CONTROL_BAD_CRC,
    EXTOLL_CONTROL_MALFORMED,   /* the CRC is right, but no such word can be sent */
} ExtollControlStatus;

/* Returns true if a receiver may have room for @room flits of a virtual channel. */
static inline bool extoll_room_valid(uint32_t room)
{
    return room >= EXTOLL_ROOM_MIN && room <= EXTOLL_ROOM_MAX;
}

/* Returns true if the word at @buf is a control word, and no flit begins there. */
static inline bool extoll_control_is(const uint8_t *buf)
{
    return RNIC_GET(EXTOLL_FLIT_RESERVED, buf[0]);
}

/*
 * Decodes the control word at @buf.  The status is MALFORMED if there is no such kind, or
 * a flag that the kind does not have is 1, or START has a room that no receiver can have.
 * Changes @control only if the status is OK.
 */
ExtollControlStatus extoll_control_decode(const uint8_t *buf, ExtollControl *control);

/* Stores @control, with its CRC, in the sizeof(struct extoll_control) bytes at @buf. */
void extoll_control_encode(uint8_t *buf, const ExtollControl *control);

#endif /* RNIC_EXTOLL_BASE_CONTROL_H */
