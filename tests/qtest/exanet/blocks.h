/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that a test sends to the device's receiver packet by packet, with or without
 * damage, and notifications of these blocks.
 */
#ifndef EXANET_BLOCKS_H
#define EXANET_BLOCKS_H

#include "device.h"

/*
 * Returns the TID of a packet on the cable: @index is the number of the transaction at
 * its source, @gen is the generation of this number.
 */
uint16_t exanet_wire_tid(unsigned index, unsigned gen);
/* Writes @len bytes to @data that depend on @seed only. */
void exanet_random_bytes(uint8_t *data, size_t len, unsigned seed);

/*
 * Returns a block of @len random bytes for @va (42 bits) of context 0, with TID @index of
 * generation 0.  Before the caller sends the block, it may change all members except data
 * and length.  The caller frees the data by exanet_block_free().
 */
ExanetBlock exanet_block_new(unsigned index, uint64_t va, unsigned len);
/* Frees the data of the block. */
void exanet_block_free(ExanetBlock *b);

/* --- Packets of t->peer ---------------------------------------------------- */

/* Sends packet number @n of block @b, from 0 on. */
void exanet_send_packet(ExanetTest *t, const ExanetBlock *b, unsigned n);

/* The part of a packet in which exanet_send_damaged() inverts a bit. */
enum exanet_damage {
    EXANET_DAMAGE_HEADER,
    EXANET_DAMAGE_PAYLOAD,
    EXANET_DAMAGE_FOOTER,
};
/*
 * Does the same as exanet_send_packet(), but inverts one bit in part @where of the packet
 * after the computation of the CRCs.
 */
void exanet_send_damaged(ExanetTest *t, const ExanetBlock *b, unsigned n,
                         enum exanet_damage where);
/*
 * Takes the next packet of the device; asserts that it is a response to block @b with
 * code @resp.
 */
void exanet_assert_resp(ExanetTest *t, const ExanetBlock *b,
                        enum exanet_resp resp);
/*
 * Takes the next packet of the device; asserts that it is an ack of block @b, and that
 * the data of @b are at physical address @b->va.
 */
void exanet_assert_acked(ExanetTest *t, const ExanetBlock *b);
/* Sends all packets of block @b, and asserts the same as exanet_assert_acked(). */
void exanet_send_acked(ExanetTest *t, const ExanetBlock *b);

/* --- Notifications at EXANET_RAM_NOTE -------------------------------------- */

#define EXANET_NOTE_HANDLE 0x1357

/*
 * Returns word INFO of a control packet for a transfer of @len bytes, with handle
 * EXANET_NOTE_HANDLE.
 */
uint64_t exanet_note_info(unsigned len);
/* Writes zeros to the notification at EXANET_RAM_NOTE. */
void exanet_note_clear(ExanetTest *t);
/*
 * Sends the control packet of block @b, which requests a notification with @data at
 * EXANET_RAM_NOTE.
 */
void exanet_send_note(ExanetTest *t, const ExanetBlock *b, uint64_t data);
/*
 * Asserts that a notification is at physical address @pa, with @data, EXANET_NOTE_HANDLE
 * and @len as the length of the transfer.
 */
void exanet_assert_note(ExanetTest *t, uint64_t pa, uint64_t data,
                        unsigned len);

#endif /* EXANET_BLOCKS_H */
