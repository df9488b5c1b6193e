/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Decoder of messages, notes and slots, which other processes write.  The decoder needs no
 * libfabric and no NIC, so unit tests run the decoder alone.
 *
 * A function rnic_fi_decode...() returns false if the bytes are not valid, or of another
 * version; the output is undefined then.  The function reads each byte at most once, and no
 * byte behind the given size.
 */
#ifndef RNIC_FI_DECODE_H
#define RNIC_FI_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rnic_fi_proto.h"

/* The header word, in host byte order. */
struct rnic_fi_hdr {
	uint8_t		op;		/* 0..15, not always an enum rnic_fi_msg_op */
	uint8_t		mbox;		/* mailbox of the sender */
	uint8_t		cq_data;	/* 0..3, not always an enum rnic_fi_cq_data */
	bool		tagged;
	bool		flag;
	uint16_t	seq;
	uint16_t	src_tag;
	uint16_t	dst_tag;
};

/* Contents of a message behind the header word. */
struct rnic_fi_body {
	/* Tag and CQ data of EAGER and RTS, 0 if the message has none. */
	bool		has_cq_data;
	uint64_t	tag;
	uint64_t	cq_data;
	/*
	 * The rest of the message: data of EAGER, operands of ATOMIC, results of
	 * ATOMIC_RSP.  NULL and 0 in all other messages.
	 */
	const uint8_t	*data;
	size_t		len;	/* number of bytes at @data */
	union {
		struct {
			uint64_t len;
			uint64_t remote;
			uint32_t id;
		} rts;
		struct {
			uint32_t id;
			int	 err;	/* 0 or positive, not always an FI_E code */
		} fin;			/* body of FIN and ATOMIC_RSP */
		struct {
			uint64_t key;
			uint64_t offset;
			uint32_t id;
			uint8_t	 op;
			uint8_t	 datatype;
			uint8_t	 count;
			uint8_t	 kind;	/* 0..RNIC_FI_ATOMIC_COMPARE */
		} atomic;
		struct {
			uint64_t data;
			uint64_t len;
		} write;
		struct {
			uint64_t remote;
			uint32_t slot_bytes;	/* power of two */
			uint16_t slots;		/* power of two */
			uint16_t number;
		} ring;			/* body of RING; RING_END and RING_GONE: only @number */
		uint32_t emptied;	/* CREDIT: number of slots emptied since RING, modulo
					 * 2^32 */
		uint16_t service;	/* LOOKUP and FOUND: number of the service, not 0 */
	};
};

/* The note of a filled slot, in host byte order. */
struct rnic_fi_slot_note {
	uint16_t	ring;
	uint16_t	index;
	uint16_t	seq;
	uint16_t	dst_tag;
};

/* The header of a filled slot, in host byte order. */
struct rnic_fi_slot_hdr {
	bool		tagged;
	bool		has_cq_data;
	uint64_t	tag;
	uint64_t	cq_data;
	uint32_t	len;
};

/* Decodes the header word of the message of @size bytes at @msg. */
bool rnic_fi_decode_hdr(const uint8_t *msg, size_t size, struct rnic_fi_hdr *hdr);

/*
 * Returns true if messages with the operation in @hdr have a sequence number, or if the
 * operation is unknown.
 */
bool rnic_fi_hdr_numbered(const struct rnic_fi_hdr *hdr);

/* Decodes the whole message of @size bytes at @msg.  @body->data points into @msg. */
bool rnic_fi_decode(const uint8_t *msg, size_t size, struct rnic_fi_hdr *hdr,
		    struct rnic_fi_body *body);

/* Decodes the note @word. */
bool rnic_fi_decode_note(uint64_t word, struct rnic_fi_slot_note *note);

/*
 * Decodes the header of the slot of @slot_bytes bytes at @slot.  Also returns false if
 * header and data are longer than the slot.
 */
bool rnic_fi_decode_slot(const uint8_t *slot, size_t slot_bytes,
			 struct rnic_fi_slot_hdr *hdr);

#endif /* RNIC_FI_DECODE_H */
