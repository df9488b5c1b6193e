/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that a test sends to the receiver packet by packet, with or without damage,
 * and their notifications.
 */
#ifndef EXANET_BLOCKS_H
#define EXANET_BLOCKS_H

#include "device.h"

/* Returns the TID as on the cable: number @index of a source, generation @gen. */
uint16_t exanet_wire_tid(unsigned index, unsigned gen);
/* Writes @len bytes to @data that depend on @seed only. */
void exanet_random_bytes(uint8_t *data, size_t len, unsigned seed);

/*
 * Returns a block of generation 0 to context 0 with random data; @va: 42 bits.  The
 * caller may change all but the data and the length before it sends the block, and frees
 * the data by exanet_block_free().
 */
ExanetBlock exanet_block_new(unsigned index, uint64_t va, unsigned len);
/* Frees the data. */
void exanet_block_free(ExanetBlock *b);

/* --- Packets of t->peer ---------------------------------------------------- */

/* Sends packet @n of the block. */
void exanet_send_packet(ExanetTest *t, const ExanetBlock *b, unsigned n);

/* The part of a packet that has a wrong bit. */
enum exanet_damage {
    EXANET_DAMAGE_HEADER,
    EXANET_DAMAGE_PAYLOAD,
    EXANET_DAMAGE_FOOTER,
};
/*
 * Does the same as exanet_send_packet(), with one bit inverted after the CRCs were
 * computed.
 */
void exanet_send_damaged(ExanetTest *t, const ExanetBlock *b, unsigned n,
                         enum exanet_damage where);
/*
 * Takes the next packet of the device, and asserts that it is the response @resp to the
 * block.
 */
void exanet_assert_resp(ExanetTest *t, const ExanetBlock *b,
                        enum exanet_resp resp);
/*
 * Asserts an ack as exanet_assert_resp() does, and the block's data at physical address
 * b->va.
 */
void exanet_assert_acked(ExanetTest *t, const ExanetBlock *b);
/* Sends all packets of the block, and asserts the same as exanet_assert_acked(). */
void exanet_send_acked(ExanetTest *t, const ExanetBlock *b);

/* --- Notifications at EXANET_RAM_NOTE -------------------------------------- */

#define EXANET_NOTE_HANDLE 0x1357

/* Returns word INFO of a control packet for a transfer of @len bytes. */
uint64_t exanet_note_info(unsigned len);
/* Writes zeros to the notification. */
void exanet_note_clear(ExanetTest *t);
/* Sends the control packet of @b; its notification carries @data. */
void exanet_send_note(ExanetTest *t, const ExanetBlock *b, uint64_t data);
/* Asserts that physical address @pa has a notification of @len bytes with @data. */
void exanet_assert_note(ExanetTest *t, uint64_t pa, uint64_t data,
                        unsigned len);

#endif /* EXANET_BLOCKS_H */
