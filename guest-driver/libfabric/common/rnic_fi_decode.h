/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * Decoder of messages and slots, which other processes write.  It needs no libfabric and
 * no NIC, so unit tests run it alone.
 *
 * A function returns false if the bytes are no valid message of this version; the output
 * is undefined then.  Each byte is read once, and none behind the given size is read.
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
	uint8_t		cq_data;	/* enum rnic_fi_cq_data */
	bool		tagged;
	bool		flag;
	uint16_t	seq;
	uint16_t	src_tag;
	uint16_t	dst_tag;
};

/* Contents of a message behind the header word. */
struct rnic_fi_body {
	/* Of EAGER and RTS. */
	bool		has_cq_data;
	uint64_t	tag;
	uint64_t	cq_data;
	/*
	 * Data of EAGER, operands of ATOMIC, results of ATOMIC_RSP: the rest of the
	 * message; NULL and 0 in all others.
	 */
	const uint8_t	*data;
	size_t		len;
	union {
		struct {
			uint64_t len;
			uint64_t remote;
			uint32_t id;
		} rts;
		struct {
			uint32_t id;
			int	 err;	/* 0 or positive FI_E */
		} fin;			/* of FIN and ATOMIC_RSP */
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
		} ring;			/* RING; RING_END, RING_GONE: the number only */
		uint32_t emptied;	/* of CREDIT: slots emptied, modulo 2^32 */
		uint16_t service;	/* of LOOKUP and FOUND, not zero */
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

/* Decodes the header word of a message of @size bytes. */
bool rnic_fi_decode_hdr(const uint8_t *msg, size_t size, struct rnic_fi_hdr *hdr);

/* Returns true if messages with this operation have a sequence number. */
bool rnic_fi_hdr_numbered(const struct rnic_fi_hdr *hdr);

/* Decodes all of a message of @size bytes; @body points into @msg. */
bool rnic_fi_decode(const uint8_t *msg, size_t size, struct rnic_fi_hdr *hdr,
		    struct rnic_fi_body *body);

/* Decodes the note @word. */
bool rnic_fi_decode_note(uint64_t word, struct rnic_fi_slot_note *note);

/* Decodes the header of a slot; returns false if the data exceeds @slot_bytes. */
bool rnic_fi_decode_slot(const uint8_t *slot, size_t slot_bytes,
			 struct rnic_fi_slot_hdr *hdr);

#endif /* RNIC_FI_DECODE_H */
