/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The libfabric provider decodes messages and slots from the input.  The target encodes
 * each accepted message again from the decoded values.  The encoded bytes must be those
 * of the input, so the decoder reads no field from a wrong place.  Inputs are in
 * allocations of exactly their size, so that the sanitizer detects each read behind
 * their end.
 */
#include "../fuzz.h"
#include "qemu/units.h"
#include "../../../guest-driver/libfabric/common/rnic_fi_decode.c"

#define SIZE_MAX_TRIED  (RNIC_FI_MSG_MAX + 16)

/* A message, encoded again from its decoded values. */
typedef struct Encoded {
    uint8_t bytes[SIZE_MAX_TRIED];
    size_t size;
} Encoded;

static void put(Encoded *out, uint64_t value, unsigned bytes)
{
    g_assert_cmpuint(out->size + bytes, <=, sizeof(out->bytes));
    stn_le_p(out->bytes + out->size, bytes, value);
    out->size += bytes;
}

static void put_data(Encoded *out, const struct rnic_fi_body *body)
{
    g_assert_cmpuint(out->size + body->len, <=, sizeof(out->bytes));
    if (body->len) {
        memcpy(out->bytes + out->size, body->data, body->len);
    }
    out->size += body->len;
}

static void put_hdr(Encoded *out, const struct rnic_fi_hdr *hdr)
{
    put(out, RNIC_FI_VERSION | (uint64_t)hdr->op << 8 | (uint64_t)hdr->mbox << 12 |
             (uint64_t)hdr->cq_data << 14 | (uint64_t)hdr->tagged << 16 |
             (uint64_t)hdr->flag << 17 | (uint64_t)hdr->seq << 18 |
             (uint64_t)hdr->src_tag << 32 | (uint64_t)hdr->dst_tag << 48, 8);
}

static void put_envelope(Encoded *out, const struct rnic_fi_hdr *hdr,
                         const struct rnic_fi_body *body)
{
    static const unsigned bytes[] = { 0, 4, 8 };

    g_assert_cmpuint(hdr->cq_data, <=, RNIC_FI_CQ_8);
    g_assert_cmpint(body->has_cq_data, ==, hdr->cq_data != RNIC_FI_CQ_NONE);
    if (hdr->tagged) {
        put(out, body->tag, 8);
    } else {
        g_assert_cmphex(body->tag, ==, 0);
    }
    if (hdr->cq_data) {
        put(out, body->cq_data, bytes[hdr->cq_data]);
    }
    if (hdr->cq_data != RNIC_FI_CQ_8) {
        g_assert_cmphex(body->cq_data >> 32, ==, 0);
    }
}

static void put_ring(Encoded *out, const struct rnic_fi_body *body)
{
    g_assert_true(is_power_of_2(body->ring.slots));
    g_assert_true(is_power_of_2(body->ring.slot_bytes));
    g_assert_cmpuint(body->ring.slot_bytes, >=, 64);
    g_assert_cmpuint((uint64_t)body->ring.slots * body->ring.slot_bytes, <=, MiB);
    put(out, body->ring.remote, 8);
    put(out, body->ring.slot_bytes, 4);
    put(out, body->ring.slots, 2);
    put(out, body->ring.number, 2);
}

static void put_body(Encoded *out, const struct rnic_fi_hdr *hdr,
                     const struct rnic_fi_body *body)
{
    switch (hdr->op) {
    case RNIC_FI_EAGER:
        put_envelope(out, hdr, body);
        put_data(out, body);
        break;
    case RNIC_FI_RTS:
        put_envelope(out, hdr, body);
        put(out, body->rts.len, 8);
        put(out, body->rts.remote, 8);
        put(out, body->rts.id, 4);
        break;
    case RNIC_FI_FIN:
    case RNIC_FI_ATOMIC_RSP:
        g_assert_cmpint(body->fin.err, >=, 0);
        put(out, body->fin.id, 4);
        put(out, body->fin.err, 4);
        put_data(out, body);
        break;
    case RNIC_FI_ATOMIC:
        g_assert_cmpuint(body->atomic.kind, <=, RNIC_FI_ATOMIC_COMPARE);
        put(out, body->atomic.key, 8);
        put(out, body->atomic.offset, 8);
        put(out, body->atomic.id, 4);
        put(out, body->atomic.op, 1);
        put(out, body->atomic.datatype, 1);
        put(out, body->atomic.count, 1);
        put(out, body->atomic.kind, 1);
        put_data(out, body);
        break;
    case RNIC_FI_WRITE_DATA:
        put(out, body->write.data, 8);
        put(out, body->write.len, 8);
        break;
    case RNIC_FI_RING:
        put_ring(out, body);
        break;
    case RNIC_FI_CREDIT:
        put(out, body->emptied, 4);
        break;
    case RNIC_FI_LOOKUP:
    case RNIC_FI_FOUND:
        g_assert_cmpuint(body->service, !=, 0);
        put(out, body->service, 2);
        break;
    case RNIC_FI_RING_END:
    case RNIC_FI_RING_GONE:
        put(out, body->ring.number, 2);
        break;
    case RNIC_FI_NAK:
    case RNIC_FI_PING:
    case RNIC_FI_PROBE:
        break;
    default:
        g_assert_not_reached();
    }
}

/* Returns the smallest size of a valid message with the header @hdr. */
static size_t least(const struct rnic_fi_hdr *hdr)
{
    static const unsigned cq_bytes[] = { 0, 4, 8, 0 };
    static const unsigned bytes[] = {
        [RNIC_FI_RTS] = 20, [RNIC_FI_FIN] = 8, [RNIC_FI_ATOMIC] = 24,
        [RNIC_FI_ATOMIC_RSP] = 8, [RNIC_FI_WRITE_DATA] = 16,
        [RNIC_FI_RING] = 16, [RNIC_FI_CREDIT] = 8, [RNIC_FI_LOOKUP] = 8,
        [RNIC_FI_FOUND] = 8, [RNIC_FI_RING_END] = 8, [RNIC_FI_RING_GONE] = 8,
    };

    return 8 + bytes[hdr->op] +
           (hdr->op == RNIC_FI_EAGER || hdr->op == RNIC_FI_RTS ?
            cq_bytes[hdr->cq_data] + 8 * hdr->tagged : 0);
}

static void message(const uint8_t *bytes, size_t size)
{
    struct rnic_fi_hdr hdr, whole_hdr;
    struct rnic_fi_body body;
    Encoded out = { 0 };
    bool has_hdr = rnic_fi_decode_hdr(bytes, size, &hdr);
    bool valid = rnic_fi_decode(bytes, size, &whole_hdr, &body);

    g_assert_cmpint(has_hdr, ==,
                    size >= 8 && size <= RNIC_FI_MSG_MAX &&
                    bytes[0] == RNIC_FI_VERSION);
    if (!has_hdr) {
        g_assert_false(valid);
        return;
    }
    put_hdr(&out, &hdr);
    g_assert_cmpmem(out.bytes, 8, bytes, 8);
    g_assert_cmpint(rnic_fi_hdr_numbered(&hdr), ==,
                    hdr.op != RNIC_FI_NAK && hdr.op < RNIC_FI_LOOKUP);
    if (size < least(&hdr)) {
        g_assert_false(valid);
    }
    if (!valid) {
        return;
    }
    if (body.data) {
        g_assert_true(body.data + body.len == bytes + size);
    } else {
        g_assert_cmpuint(body.len, ==, 0);
    }
    put_body(&out, &hdr, &body);
    g_assert_cmpuint(out.size, <=, size);
    /* the decoder ignores the highest bit of the status */
    if (hdr.op == RNIC_FI_FIN || hdr.op == RNIC_FI_ATOMIC_RSP) {
        out.bytes[15] |= bytes[15] & 0x80;
    }
    g_assert_cmpmem(out.bytes, out.size, bytes, out.size);
}

static void note(uint64_t word)
{
    struct rnic_fi_slot_note n;
    bool valid = rnic_fi_decode_note(word, &n);

    g_assert_cmpint(valid, ==, (word & 0xff) == RNIC_FI_VERSION);
    g_assert_cmphex((word & 0xff) | (uint64_t)n.ring << 8 | (uint64_t)n.index << 24 |
                    (uint64_t)n.seq << 34 | (uint64_t)n.dst_tag << 48, ==, word);
}

static void slot(const uint8_t *bytes, size_t size)
{
    struct rnic_fi_slot_hdr hdr;

    if (!rnic_fi_decode_slot(bytes, size, &hdr)) {
        g_assert_true(size < RNIC_FI_SLOT_HDR_BYTES ||
                      ldl_le_p(bytes + 16) > size - RNIC_FI_SLOT_HDR_BYTES);
        return;
    }
    g_assert_cmpuint(RNIC_FI_SLOT_HDR_BYTES + hdr.len, <=, size);
    g_assert_cmphex(hdr.tag, ==, ldq_le_p(bytes));
    g_assert_cmphex(hdr.cq_data, ==, ldq_le_p(bytes + 8));
    g_assert_cmpint(hdr.tagged, ==, bytes[20] & 1);
    g_assert_cmpint(hdr.has_cq_data, ==, bytes[20] >> 1 & 1);
}

/* The first byte selects the decoder; the rest is its input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    uint8_t kind = fuzz_u8(&in) % 3;
    size_t len = MIN(in.left, SIZE_MAX_TRIED);
    g_autofree uint8_t *bytes = g_memdup2(in.at, len);

    if (kind == 0) {
        message(bytes, len);
    } else if (kind == 1) {
        note(fuzz_u64(&in));
    } else {
        slot(bytes, len);
    }
    return 0;
}
