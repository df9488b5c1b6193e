/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/* Decoder of messages, notes and slots. */

#include <endian.h>
#include <string.h>

#include "rnic_fi_decode.h"

/* The part of a message that is not decoded yet. */
struct rnic_fi_rest {
	const uint8_t *at;
	size_t size;
};

/*
 * Copies the next @len bytes of @rest to @to, and removes the bytes from @rest.  Returns
 * false if @rest has fewer bytes.
 */
static bool rnic_fi_take(struct rnic_fi_rest *rest, void *to, size_t len)
{
	if (rest->size < len)
		return false;
	memcpy(to, rest->at, len);
	rest->at += len;
	rest->size -= len;
	return true;
}

/* Stores address and length of the rest of the message in @body. */
static void rnic_fi_take_data(struct rnic_fi_rest *rest, struct rnic_fi_body *body)
{
	body->data = rest->at;
	body->len = rest->size;
}

static bool rnic_fi_is_power_of_2(uint32_t n)
{
	return n && !(n & (n - 1));
}

static void rnic_fi_hdr_of(uint64_t word, struct rnic_fi_hdr *hdr)
{
	hdr->op = RNIC_GET(RNIC_FI_HDR_OP, word);
	hdr->mbox = RNIC_GET(RNIC_FI_HDR_MBOX, word);
	hdr->cq_data = RNIC_GET(RNIC_FI_HDR_CQ_DATA, word);
	hdr->tagged = word & RNIC_FI_HDR_TAGGED;
	hdr->flag = word & RNIC_FI_HDR_FLAG;
	hdr->seq = RNIC_GET(RNIC_FI_HDR_SEQ, word);
	hdr->src_tag = RNIC_GET(RNIC_FI_HDR_SRC_TAG, word);
	hdr->dst_tag = RNIC_GET(RNIC_FI_HDR_DST_TAG, word);
}

static bool rnic_fi_take_hdr(struct rnic_fi_rest *rest, struct rnic_fi_hdr *hdr)
{
	__le64 word;

	if (!rnic_fi_take(rest, &word, sizeof(word)) ||
	    RNIC_GET(RNIC_FI_HDR_VERSION, le64toh(word)) != RNIC_FI_VERSION)
		return false;
	rnic_fi_hdr_of(le64toh(word), hdr);
	return true;
}

/*
 * Decodes the tag and the CQ data of EAGER and RTS.  Stores 0 for a tag or for CQ data that
 * the message does not have.  Returns false if @rest is too short or hdr->cq_data is
 * invalid.
 */
static bool rnic_fi_take_envelope(struct rnic_fi_rest *rest,
				  const struct rnic_fi_hdr *hdr,
				  struct rnic_fi_body *body)
{
	static const size_t bytes[] = {
		[RNIC_FI_CQ_4] = 4, [RNIC_FI_CQ_8] = 8,
	};
	__le64 tag = 0, cq_data = 0;

	if (hdr->cq_data > RNIC_FI_CQ_8 ||
	    (hdr->tagged && !rnic_fi_take(rest, &tag, sizeof(tag))) ||
	    !rnic_fi_take(rest, &cq_data, bytes[hdr->cq_data]))
		return false;
	body->has_cq_data = hdr->cq_data;
	body->tag = le64toh(tag);
	body->cq_data = le64toh(cq_data);
	return true;
}

static bool rnic_fi_take_rts(struct rnic_fi_rest *rest, struct rnic_fi_body *body)
{
	struct rnic_fi_msg_rts rts;

	if (!rnic_fi_take(rest, &rts, sizeof(rts)))
		return false;
	body->rts.len = le64toh(rts.len);
	body->rts.remote = le64toh(rts.remote);
	body->rts.id = le32toh(rts.id);
	return true;
}

static bool rnic_fi_take_fin(struct rnic_fi_rest *rest, struct rnic_fi_body *body)
{
	struct rnic_fi_msg_fin fin;

	if (!rnic_fi_take(rest, &fin, sizeof(fin)))
		return false;
	body->fin.id = le32toh(fin.id);
	body->fin.err = le32toh(fin.status) & INT32_MAX;
	return true;
}

static bool rnic_fi_take_atomic(struct rnic_fi_rest *rest,
				struct rnic_fi_body *body)
{
	struct rnic_fi_msg_atomic at;

	if (!rnic_fi_take(rest, &at, sizeof(at)) ||
	    at.kind > RNIC_FI_ATOMIC_COMPARE)
		return false;
	body->atomic.key = le64toh(at.key);
	body->atomic.offset = le64toh(at.offset);
	body->atomic.id = le32toh(at.id);
	body->atomic.op = at.op;
	body->atomic.datatype = at.datatype;
	body->atomic.count = at.count;
	body->atomic.kind = at.kind;
	return true;
}

static bool rnic_fi_take_write(struct rnic_fi_rest *rest, struct rnic_fi_body *body)
{
	struct rnic_fi_msg_write_data wd;

	if (!rnic_fi_take(rest, &wd, sizeof(wd)))
		return false;
	body->write.data = le64toh(wd.data);
	body->write.len = le64toh(wd.len);
	return true;
}

static bool rnic_fi_take_ring(struct rnic_fi_rest *rest, struct rnic_fi_body *body)
{
	struct rnic_fi_msg_ring ring;

	if (!rnic_fi_take(rest, &ring, sizeof(ring)))
		return false;
	body->ring.remote = le64toh(ring.remote);
	body->ring.slot_bytes = le32toh(ring.slot_bytes);
	body->ring.slots = le16toh(ring.slots);
	body->ring.number = le16toh(ring.ring);
	return rnic_fi_is_power_of_2(body->ring.slots) &&
	       body->ring.slots <= RNIC_FI_SLOTS_MAX &&
	       rnic_fi_is_power_of_2(body->ring.slot_bytes) &&
	       body->ring.slot_bytes >= RNIC_FI_SLOT_BYTES_MIN &&
	       body->ring.slot_bytes <= RNIC_FI_SLOT_BYTES_MAX &&
	       body->ring.slots * body->ring.slot_bytes <=
	       RNIC_FI_RING_BYTES_MAX;
}

static bool rnic_fi_take_ring_end(struct rnic_fi_rest *rest,
				  struct rnic_fi_body *body)
{
	struct rnic_fi_msg_ring_end end;

	if (!rnic_fi_take(rest, &end, sizeof(end)))
		return false;
	body->ring.number = le16toh(end.ring);
	return true;
}

static bool rnic_fi_take_credit(struct rnic_fi_rest *rest,
				struct rnic_fi_body *body)
{
	struct rnic_fi_msg_credit credit;

	if (!rnic_fi_take(rest, &credit, sizeof(credit)))
		return false;
	body->emptied = le32toh(credit.emptied);
	return true;
}

static bool rnic_fi_take_service(struct rnic_fi_rest *rest,
				 struct rnic_fi_body *body)
{
	struct rnic_fi_msg_service service;

	if (!rnic_fi_take(rest, &service, sizeof(service)))
		return false;
	body->service = le16toh(service.service);
	return body->service;
}

static bool rnic_fi_take_body(struct rnic_fi_rest *rest,
			      const struct rnic_fi_hdr *hdr,
			      struct rnic_fi_body *body)
{
	bool ok;

	switch (hdr->op) {
	case RNIC_FI_EAGER:
		ok = rnic_fi_take_envelope(rest, hdr, body);
		rnic_fi_take_data(rest, body);
		return ok;
	case RNIC_FI_RTS:
		return rnic_fi_take_envelope(rest, hdr, body) &&
		       rnic_fi_take_rts(rest, body);
	case RNIC_FI_FIN:
		return rnic_fi_take_fin(rest, body);
	case RNIC_FI_ATOMIC:
		ok = rnic_fi_take_atomic(rest, body);
		rnic_fi_take_data(rest, body);
		return ok;
	case RNIC_FI_ATOMIC_RSP:
		ok = rnic_fi_take_fin(rest, body);
		rnic_fi_take_data(rest, body);
		return ok;
	case RNIC_FI_WRITE_DATA:
		return rnic_fi_take_write(rest, body);
	case RNIC_FI_RING:
		return rnic_fi_take_ring(rest, body);
	case RNIC_FI_CREDIT:
		return rnic_fi_take_credit(rest, body);
	case RNIC_FI_LOOKUP:
	case RNIC_FI_FOUND:
		return rnic_fi_take_service(rest, body);
	case RNIC_FI_RING_END:
	case RNIC_FI_RING_GONE:
		return rnic_fi_take_ring_end(rest, body);
	case RNIC_FI_NAK:
	case RNIC_FI_PING:
	case RNIC_FI_PROBE:
		return true;
	default:
		return false;
	}
}

bool rnic_fi_decode_hdr(const uint8_t *msg, size_t size, struct rnic_fi_hdr *hdr)
{
	struct rnic_fi_rest rest = { msg, size };

	return size <= RNIC_FI_MSG_MAX && rnic_fi_take_hdr(&rest, hdr);
}

bool rnic_fi_hdr_numbered(const struct rnic_fi_hdr *hdr)
{
	switch (hdr->op) {
	case RNIC_FI_NAK:
	case RNIC_FI_LOOKUP:
	case RNIC_FI_FOUND:
	case RNIC_FI_PROBE:
	case RNIC_FI_RING_END:
	case RNIC_FI_RING_GONE:
		return false;
	default:
		return true;
	}
}

bool rnic_fi_decode(const uint8_t *msg, size_t size, struct rnic_fi_hdr *hdr,
		    struct rnic_fi_body *body)
{
	struct rnic_fi_rest rest = { msg, size };

	memset(body, 0, sizeof(*body));
	return size <= RNIC_FI_MSG_MAX && rnic_fi_take_hdr(&rest, hdr) &&
	       rnic_fi_take_body(&rest, hdr, body);
}

bool rnic_fi_decode_note(uint64_t word, struct rnic_fi_slot_note *note)
{
	note->ring = RNIC_GET(RNIC_FI_SLOT_RING, word);
	note->index = RNIC_GET(RNIC_FI_SLOT_INDEX, word);
	note->seq = RNIC_GET(RNIC_FI_SLOT_SEQ, word);
	note->dst_tag = RNIC_GET(RNIC_FI_SLOT_DST_TAG, word);
	return RNIC_GET(RNIC_FI_SLOT_VERSION, word) == RNIC_FI_VERSION;
}

bool rnic_fi_decode_slot(const uint8_t *slot, size_t slot_bytes,
			 struct rnic_fi_slot_hdr *hdr)
{
	struct rnic_fi_msg_slot raw;

	if (slot_bytes < sizeof(raw))
		return false;
	memcpy(&raw, slot, sizeof(raw));
	hdr->tagged = le32toh(raw.flags) & RNIC_FI_SLOT_TAGGED;
	hdr->has_cq_data = le32toh(raw.flags) & RNIC_FI_SLOT_CQ_DATA;
	hdr->tag = le64toh(raw.tag);
	hdr->cq_data = le64toh(raw.cq_data);
	hdr->len = le32toh(raw.len);
	return hdr->len <= slot_bytes - sizeof(raw);
}
