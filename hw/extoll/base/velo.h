/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Codec of VELO: addresses of the requester, and slots of mailboxes.  The formats are in
 * rnic/extoll/velo.h.
 */
#ifndef RNIC_EXTOLL_BASE_VELO_H
#define RNIC_EXTOLL_BASE_VELO_H

#include "rnic/extoll/velo.h"

/*
 * A message, or a fragment of a message: quadwords @first to @first + @count - 1 of the
 * @quadwords of the message.
 */
typedef struct ExtollVeloMsg {
    uint16_t src_node;  /* the device fills this in, never software */
    uint16_t dst_node;  /* unused at the receiver */
    uint16_t prot;      /* protection id of the sender */
    uint8_t src_vpid;
    uint8_t dst_vpid;
    uint8_t mtt;
    uint8_t quadwords;  /* 1 to 8 */
    uint8_t first;
    uint8_t count;      /* 1 to 8 */
    bool split;         /* the message has several fragments */
    bool end;           /* last fragment of the message */
    uint8_t data[EXTOLL_VELO_BYTES];    /* @count quadwords */
} ExtollVeloMsg;

typedef enum ExtollVeloStatus {
    EXTOLL_VELO_OK,
    EXTOLL_VELO_BAD_SIZE,   /* the store has not 4, 8 or 16 bytes */
    EXTOLL_VELO_BAD_LENGTH, /* the address announces 0 or more than 8 quadwords */
    EXTOLL_VELO_BAD_PLACE,  /* the store is unaligned, or behind the end of the message */
} ExtollVeloStatus;

/*
 * Decodes the address of a store of @size bytes at offset @address of BAR 2.  Sets the
 * two ends, the MTT and the length of @msg; @msg is then one whole message without data.
 * Sets @offset to the place of the store in the message, bytes.  Changes neither if the
 * status is not OK.
 */
ExtollVeloStatus extoll_velo_address_decode(uint32_t address, unsigned size,
                                            ExtollVeloMsg *msg, unsigned *offset);

/* Returns the address in BAR 2 of the first byte of @msg. */
uint32_t extoll_velo_address_encode(const ExtollVeloMsg *msg);

/*
 * Stores @msg in one slot, or in two slots if it has more than EXTOLL_SLOT_DATA bytes.
 * Returns the number of slots.  Bytes of a slot behind the data are 0.
 */
unsigned extoll_velo_slots_encode(const ExtollVeloMsg *msg, struct extoll_slot slots[2]);

#endif /* RNIC_EXTOLL_BASE_VELO_H */
