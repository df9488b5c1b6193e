/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packet codec; see wire.h.
 *
 * The device computes the CRCs of header and footer of each packet, so the CRCs must be
 * fast.  There is one table for each byte position, so that the lookups do not depend on
 * each other; this is possible because a CRC is linear.  The compiler unrolls the loops
 * over the positions, because unrolled loops are faster.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../core/crc.h"
#include "wire.h"

#define COUNTERS_RDMA(name) \
    .tx_counter = EXANET_CNT_TX_##name, .rx_counter = EXANET_CNT_RX_##name
#define COUNTERS_NET(name) \
    .tx_counter = EXANET_CNT_TX_##name, .rx_counter = EXANET_COUNTER_COUNT
#define COUNTERS_AXI(name) \
    .tx_counter = EXANET_COUNTER_COUNT, .rx_counter = EXANET_COUNTER_COUNT
#define TYPE_INFO(type, value, text, _form, group, _ni) \
    [EXANET_TYPE_##type] = { \
        .name = text, .form = EXANET_FORM_##_form, .ni = _ni, \
        COUNTERS_##group(type), \
    },

const ExanetTypeInfo exanet_type_info[EXANET_TYPE_VALUES] = {
    EXANET_TYPES(TYPE_INFO)
};

QEMU_BUILD_BUG_ON(EXANET_COUNTER_COUNT > UINT8_MAX);

static uint16_t hdr_crc_table[EXANET_HDR_CRC_BYTES][256];
static uint8_t ftr_crc_table[EXANET_FTR_CRC_BYTES][256];
/*
 * The CRC of a header of zeros, which is not 0 because the initial value of the CRC is
 * all ones.  The CRC of any header is hdr_crc_init, combined by XOR with the table entry
 * of each byte.
 */
static uint16_t hdr_crc_init;

/*
 * Returns the CRC of @width bits, MSB first, over @byte and then @zeros bytes of 0.  @crc
 * is the initial value, @poly the polynomial.
 */
static uint32_t crc_byte(uint32_t crc, unsigned byte, unsigned zeros,
                         unsigned width, uint32_t poly)
{
    uint32_t top = 1u << (width - 1);

    crc ^= byte << (width - 8);
    for (unsigned bit = 0; bit < 8 * (zeros + 1); bit++) {
        crc = (crc & top) ? (crc << 1) ^ poly : crc << 1;
    }
    return crc & ((top << 1) - 1);
}

static void __attribute__((constructor)) exanet_crc_init(void)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        for (unsigned i = 0; i < EXANET_HDR_CRC_BYTES; i++) {
            hdr_crc_table[i][byte] =
                crc_byte(0, byte, EXANET_HDR_CRC_BYTES - 1 - i, 16, 0x1021);
        }
        for (unsigned i = 0; i < EXANET_FTR_CRC_BYTES; i++) {
            ftr_crc_table[i][byte] =
                crc_byte(0, byte, EXANET_FTR_CRC_BYTES - 1 - i, 8, 0x07);
        }
    }
    hdr_crc_init = crc_byte(0xffff, 0, EXANET_HDR_CRC_BYTES - 1, 16, 0x1021);
}

static uint16_t header_crc(uint64_t lo, uint64_t hi)
{
    uint16_t crc = hdr_crc_init;
    unsigned type = RNIC_GET(EXANET_HDR_LO_TYPE, lo);

    lo &= ~EXANET_HDR_LO_VC;
    if (likely(type < EXANET_TYPE_ACK)) {
        hi &= ~EXANET_HDR_HI_PATH;
    } else if (type == EXANET_TYPE_ACK) {
        hi &= ~(EXANET_HDR_HI_PATH | EXANET_ACK_HI_HOPS);
    } else if (type == EXANET_TYPE_FLOW_RATE) {
        lo &= ~EXANET_FLOW_LO_HOPS;
    } else {
        hi &= ~EXANET_HDR_HI_PATH;
    }
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++) {
        crc ^= hdr_crc_table[i][(lo >> (8 * i)) & 0xff];
    }
#pragma GCC unroll 8
    for (unsigned i = 8; i < EXANET_HDR_CRC_BYTES; i++) {
        crc ^= hdr_crc_table[i][(hi >> (8 * (i - 8))) & 0xff];
    }
    return crc;
}

static uint8_t footer_crc(uint64_t lo, uint64_t hi)
{
    uint8_t crc = 0;

    lo &= ~EXANET_FTR_LO_TTL_2_0;
    hi &= ~EXANET_FTR_HI_TTL_14_3;
#pragma GCC unroll 8
    for (unsigned i = 0; i < 8; i++) {
        crc ^= ftr_crc_table[i][(lo >> (8 * i)) & 0xff];
    }
#pragma GCC unroll 8
    for (unsigned i = 8; i < EXANET_FTR_CRC_BYTES; i++) {
        crc ^= ftr_crc_table[i][(hi >> (8 * (i - 8))) & 0xff];
    }
    return crc;
}

static uint64_t header_va(uint64_t lo, uint64_t hi)
{
    return RNIC_GET(EXANET_HDR_HI_VA_41_2, hi) << 2 |
           RNIC_GET(EXANET_HDR_LO_VA_1_0, lo);
}

/*
 * Returns true if @size is not 0 and the bytes from @va to @va + @size - 1 do not cross a
 * multiple of the MTU [T §5.1].
 */
static bool payload_valid(uint64_t va, unsigned size)
{
    return size > 0 && (va & (EXANET_MTU - 1)) + size <= EXANET_MTU;
}

/*
 * Returns the length in words of a packet with @form, @va and @size, or 0 if @form
 * excludes this VA and size.
 */
static unsigned form_words(enum exanet_form form, uint64_t va, unsigned size)
{
    switch (form) {
    case EXANET_FORM_OPTIONAL:
        if (size == 0) {
            return 2;
        }
        /* fallthrough */
    case EXANET_FORM_PAYLOAD:
        return payload_valid(va, size) ? 2 + exanet_payload_words(va, size) : 0;
    case EXANET_FORM_REQUEST:
        return payload_valid(va, size) ? 2 : 0;
    case EXANET_FORM_EMPTY:
        return size == 0 ? 2 : 0;
    case EXANET_FORM_HEADER:
        return size == 0 ? 1 : 0;
    case EXANET_FORM_RATES:
        return 1;
    default:
        return 0;
    }
}

unsigned exanet_packet_words(const uint8_t *buf, ExanetWireStatus *status)
{
    uint64_t lo = ldq_le_p(buf);
    uint64_t hi = ldq_le_p(buf + 8);
    unsigned words;

    if (header_crc(lo, hi) != RNIC_GET(EXANET_HDR_HI_CRC, hi)) {
        *status = EXANET_WIRE_BAD_HEADER;
        return 0;
    }
    words = form_words(exanet_type_info[RNIC_GET(EXANET_HDR_LO_TYPE, lo)].form,
                       header_va(lo, hi), RNIC_GET(EXANET_HDR_LO_SIZE, lo));
    *status = words ? EXANET_WIRE_OK : EXANET_WIRE_MALFORMED;
    return words;
}

static void ack_decode(uint64_t lo, uint64_t hi, ExanetPacket *pkt)
{
    *pkt = (ExanetPacket) {
        .type = EXANET_TYPE_ACK,
        .vc = RNIC_GET(EXANET_HDR_LO_VC, lo),
        .dst = RNIC_GET(EXANET_HDR_LO_COORD, lo),
        .pdid = RNIC_GET(EXANET_ACK_LO_PDID_CTX, lo),
        .seq = RNIC_GET(EXANET_ACK_LO_SEQ, lo),
        .small = RNIC_GET(EXANET_ACK_HI_SMALL_9_2, hi) << 2 |
                 RNIC_GET(EXANET_ACK_LO_SMALL_1_0, lo),
        .tid = RNIC_GET(EXANET_ACK_HI_TID, hi),
        .resp = RNIC_GET(EXANET_ACK_HI_RESP, hi),
        .hops = RNIC_GET(EXANET_ACK_HI_HOPS, hi),
        .epoch = RNIC_GET(EXANET_ACK_HI_EPOCH, hi),
        .path = RNIC_GET(EXANET_HDR_HI_PATH, hi),
    };
}

static void flow_rate_decode(uint64_t lo, uint64_t hi, ExanetPacket *pkt)
{
    *pkt = (ExanetPacket) {
        .type = EXANET_TYPE_FLOW_RATE,
        .vc = RNIC_GET(EXANET_HDR_LO_VC, lo),
        .dst = RNIC_GET(EXANET_HDR_LO_COORD, lo),
        .pdid = RNIC_GET(EXANET_HDR_LO_PDID, lo),
        .small = RNIC_GET(EXANET_FLOW_HI_SMALL_9_2, hi) << 2 |
                 RNIC_GET(EXANET_FLOW_LO_SMALL_1_0, lo),
        .hops = RNIC_GET(EXANET_FLOW_LO_HOPS, lo),
        .flow_dst = RNIC_GET(EXANET_FLOW_HI_DST, hi),
        .current = RNIC_GET(EXANET_FLOW_HI_CURRENT, hi),
        .desired = RNIC_GET(EXANET_FLOW_HI_DESIRED, hi),
    };
}

ExanetWireStatus exanet_packet_decode(const uint8_t *buf, unsigned words,
                                      ExanetPacket *pkt)
{
    uint64_t lo = ldq_le_p(buf);
    uint64_t hi = ldq_le_p(buf + 8);
    unsigned payload = (words - 2) * EXANET_WORD_BYTES;
    const uint8_t *footer = buf + EXANET_WORD_BYTES + payload;
    uint64_t flo, fhi;

    if (words == 1) {
        if (RNIC_GET(EXANET_HDR_LO_TYPE, lo) == EXANET_TYPE_ACK) {
            ack_decode(lo, hi, pkt);
        } else {
            flow_rate_decode(lo, hi, pkt);
        }
        return EXANET_WIRE_OK;
    }
    flo = ldq_le_p(footer);
    fhi = ldq_le_p(footer + 8);
    if (footer_crc(flo, fhi) != RNIC_GET(EXANET_FTR_HI_CRC, fhi)) {
        return EXANET_WIRE_BAD_FOOTER;
    }
    *pkt = (ExanetPacket) {
        .type = RNIC_GET(EXANET_HDR_LO_TYPE, lo),
        .vc = RNIC_GET(EXANET_HDR_LO_VC, lo),
        .path = RNIC_GET(EXANET_HDR_HI_PATH, hi),
        .pdid = RNIC_GET(EXANET_HDR_LO_PDID, lo),
        .dst = RNIC_GET(EXANET_HDR_LO_COORD, lo),
        .size = RNIC_GET(EXANET_HDR_LO_SIZE, lo),
        .va = header_va(lo, hi),
        .tid = RNIC_GET(EXANET_FTR_LO_TID, flo),
        .src = RNIC_GET(EXANET_FTR_LO_SRC, flo),
        .epoch = RNIC_GET(EXANET_FTR_LO_EPOCH, flo),
        .first = RNIC_GET(EXANET_FTR_LO_FIRST, flo),
        .last = RNIC_GET(EXANET_FTR_LO_LAST, flo),
        .notify = RNIC_GET(EXANET_FTR_LO_NOTIFY, flo),
        .seq = RNIC_GET(EXANET_FTR_LO_SEQ, flo),
        .ttl = RNIC_GET(EXANET_FTR_HI_TTL_14_3, fhi) << 3 |
               RNIC_GET(EXANET_FTR_LO_TTL_2_0, flo),
        .user = RNIC_GET(EXANET_FTR_HI_USER, fhi),
        .packets = 1,
        .no_crc = RNIC_GET(EXANET_HDR_HI_NO_CRC, hi),
    };
    pkt->bad_payload = !pkt->no_crc &&
                       rnic_crc32(0, buf + EXANET_WORD_BYTES, payload) !=
                       RNIC_GET(EXANET_FTR_HI_PAY_CRC, fhi);
    pkt->payload = exanet_packet_payload((uint8_t *)buf, pkt->va);
    return EXANET_WIRE_OK;
}

static void header_store(uint8_t *buf, uint64_t lo, uint64_t hi)
{
    hi |= RNIC_PREP(EXANET_HDR_HI_CRC, header_crc(lo, hi));
    stq_le_p(buf, lo);
    stq_le_p(buf + 8, hi);
}

/*
 * Clears the padding, that is the bytes before and behind the @size payload bytes in the
 * words at @payload, because the CRC covers whole words.  @va is the address of the
 * payload at the destination.  Returns the number of words.
 */
static unsigned payload_pad(uint8_t *payload, uint64_t va, unsigned size)
{
    unsigned words = exanet_payload_words(va, size);
    unsigned before = va & (EXANET_WORD_BYTES - 1);
    unsigned after = words * EXANET_WORD_BYTES - before - size;

    if (unlikely(before | after)) {
        memset(payload, 0, before);
        memset(payload + before + size, 0, after);
    }
    return words;
}

/*
 * Stores the header of @pkt, with its CRC, in @buf.  The compiler must inline this
 * function and footer_encode(), because most packets are sent outside runs and need one
 * call of each.
 */
static inline QEMU_ALWAYS_INLINE void header_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    header_store(buf,
                 RNIC_PREP(EXANET_HDR_LO_VC, pkt->vc) |
                 RNIC_PREP(EXANET_HDR_LO_PDID, pkt->pdid) |
                 RNIC_PREP(EXANET_HDR_LO_COORD, pkt->dst) |
                 RNIC_PREP(EXANET_HDR_LO_TYPE, pkt->type) |
                 RNIC_PREP(EXANET_HDR_LO_SIZE, pkt->size) |
                 RNIC_PREP(EXANET_HDR_LO_VA_1_0, pkt->va),
                 RNIC_PREP(EXANET_HDR_HI_VA_41_2, pkt->va >> 2) |
                 RNIC_PREP(EXANET_HDR_HI_NO_CRC, pkt->no_crc) |
                 RNIC_PREP(EXANET_HDR_HI_PATH, pkt->path));
}

/* Stores the footer of @pkt behind the @bytes bytes of payload words at @payload. */
static inline QEMU_ALWAYS_INLINE void
footer_encode(uint8_t *payload, size_t bytes, const ExanetPacket *pkt)
{
    uint8_t *footer = payload + bytes;
    uint64_t lo, hi;

    lo = RNIC_PREP(EXANET_FTR_LO_TID, pkt->tid) |
         RNIC_PREP(EXANET_FTR_LO_SRC, pkt->src) |
         RNIC_PREP(EXANET_FTR_LO_EPOCH, pkt->epoch) |
         RNIC_PREP(EXANET_FTR_LO_FIRST, pkt->first) |
         RNIC_PREP(EXANET_FTR_LO_LAST, pkt->last) |
         RNIC_PREP(EXANET_FTR_LO_NOTIFY, pkt->notify) |
         RNIC_PREP(EXANET_FTR_LO_SEQ, pkt->seq) |
         RNIC_PREP(EXANET_FTR_LO_TTL_2_0, pkt->ttl);
    hi = RNIC_PREP(EXANET_FTR_HI_TTL_14_3, pkt->ttl >> 3) |
         RNIC_PREP(EXANET_FTR_HI_USER, pkt->user);
    hi |= RNIC_PREP(EXANET_FTR_HI_CRC, footer_crc(lo, hi));
    if (!pkt->no_crc) {
        hi |= RNIC_PREP(EXANET_FTR_HI_PAY_CRC, rnic_crc32(0, payload, bytes));
    }
    stq_le_p(footer, lo);
    stq_le_p(footer + 8, hi);
}

unsigned exanet_packet_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    uint8_t *payload = buf + EXANET_WORD_BYTES;
    unsigned words = 0;

    header_encode(buf, pkt);
    if (pkt->size && pkt->type != EXANET_TYPE_AXI_READ) {
        words = payload_pad(payload, pkt->va, pkt->size);
    }
    footer_encode(payload, words * EXANET_WORD_BYTES, pkt);
    return words + 2;
}

void exanet_ack_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    header_store(buf,
                 RNIC_PREP(EXANET_HDR_LO_VC, pkt->vc) |
                 RNIC_PREP(EXANET_ACK_LO_PDID_CTX, pkt->pdid) |
                 RNIC_PREP(EXANET_ACK_LO_SEQ, pkt->seq) |
                 RNIC_PREP(EXANET_HDR_LO_COORD, pkt->dst) |
                 RNIC_PREP(EXANET_HDR_LO_TYPE, EXANET_TYPE_ACK) |
                 RNIC_PREP(EXANET_ACK_LO_SMALL_1_0, pkt->small),
                 RNIC_PREP(EXANET_ACK_HI_SMALL_9_2, pkt->small >> 2) |
                 RNIC_PREP(EXANET_ACK_HI_TID, pkt->tid) |
                 RNIC_PREP(EXANET_ACK_HI_RESP, pkt->resp) |
                 RNIC_PREP(EXANET_ACK_HI_HOPS, pkt->hops) |
                 RNIC_PREP(EXANET_ACK_HI_EPOCH, pkt->epoch) |
                 RNIC_PREP(EXANET_HDR_HI_PATH, pkt->path));
}

void exanet_flow_rate_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    header_store(buf,
                 RNIC_PREP(EXANET_HDR_LO_VC, pkt->vc) |
                 RNIC_PREP(EXANET_HDR_LO_PDID, pkt->pdid) |
                 RNIC_PREP(EXANET_HDR_LO_COORD, pkt->dst) |
                 RNIC_PREP(EXANET_HDR_LO_TYPE, EXANET_TYPE_FLOW_RATE) |
                 RNIC_PREP(EXANET_FLOW_LO_HOPS, pkt->hops) |
                 RNIC_PREP(EXANET_FLOW_LO_SMALL_1_0, pkt->small),
                 RNIC_PREP(EXANET_FLOW_HI_SMALL_9_2, pkt->small >> 2) |
                 RNIC_PREP(EXANET_FLOW_HI_DST, pkt->flow_dst) |
                 RNIC_PREP(EXANET_FLOW_HI_CURRENT, pkt->current) |
                 RNIC_PREP(EXANET_FLOW_HI_DESIRED, pkt->desired));
}

/* --- Runs ------------------------------------------------------------------ */

unsigned exanet_run_packets(const uint8_t *buf, ExanetWireStatus *status)
{
    uint64_t lo = ldq_le_p(buf);
    uint64_t hi = ldq_le_p(buf + 8);
    unsigned packets = RNIC_GET(EXANET_RUN_LO_PACKETS, lo);

    if (header_crc(lo, hi) != RNIC_GET(EXANET_HDR_HI_CRC, hi)) {
        *status = EXANET_WIRE_BAD_HEADER;
        return 0;
    }
    lo &= ~(EXANET_HDR_LO_VC | EXANET_HDR_LO_TYPE | EXANET_RUN_LO_PACKETS);
    if (lo || (hi & ~EXANET_HDR_HI_CRC) || packets < 2 || packets > EXANET_RUN_MAX) {
        *status = EXANET_WIRE_MALFORMED;
        return 0;
    }
    *status = EXANET_WIRE_OK;
    return packets;
}

bool exanet_run_valid(const uint8_t *buf, unsigned packets)
{
    const uint8_t *header = buf + EXANET_WORD_BYTES;
    uint64_t lo = ldq_le_p(header);
    ExanetWireStatus status;

    /* a packet with a full payload begins at a multiple of EXANET_MTU */
    return exanet_packet_words(header, &status) == EXANET_PACKET_WORDS &&
           RNIC_GET(EXANET_HDR_LO_TYPE, lo) == EXANET_TYPE_WRITE &&
           RNIC_GET(EXANET_HDR_LO_SIZE, lo) == EXANET_MTU &&
           exanet_packet_vc(header) == exanet_packet_vc(buf) &&
           header_va(lo, ldq_le_p(header + 8)) % EXANET_BLOCK_BYTES +
           packets * EXANET_MTU <= EXANET_BLOCK_BYTES;
}

ExanetWireStatus exanet_run_decode(const uint8_t *buf, ExanetPacket *pkt)
{
    unsigned packets = RNIC_GET(EXANET_RUN_LO_PACKETS, ldq_le_p(buf));
    ExanetWireStatus status = exanet_packet_decode(buf + EXANET_WORD_BYTES,
                                                   exanet_run_words(packets) - 1, pkt);

    if (status == EXANET_WIRE_OK) {
        pkt->packets = packets;
    }
    return status;
}

unsigned exanet_run_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    header_store(buf, RNIC_PREP(EXANET_HDR_LO_VC, pkt->vc) |
                      RNIC_PREP(EXANET_HDR_LO_TYPE, EXANET_RUN_TYPE) |
                      RNIC_PREP(EXANET_RUN_LO_PACKETS, pkt->packets), 0);
    header_encode(exanet_run_header(buf), pkt);
    footer_encode(exanet_run_payload(buf), pkt->packets * EXANET_MTU, pkt);
    return exanet_run_words(pkt->packets);
}

void exanet_run_split(const ExanetPacket *run, unsigned n, ExanetPacket *pkt)
{
    *pkt = *run;
    pkt->va += n * EXANET_MTU;
    pkt->payload += n * EXANET_MTU;
    pkt->first = run->first && n == 0;
    pkt->last = run->last && n == run->packets - 1;
    pkt->packets = 1;
}

void exanet_run_packet(const ExanetPacket *run, unsigned n, uint8_t *buf)
{
    uint8_t *footer = buf + EXANET_PACKET_BYTES - EXANET_WORD_BYTES;
    ExanetPacket pkt;

    exanet_run_split(run, n, &pkt);
    memcpy(exanet_packet_payload(buf, pkt.va), pkt.payload, EXANET_MTU);
    exanet_packet_encode(buf, &pkt);
    if (run->bad_payload) {
        /* makes only the payload CRC wrong, because the footer CRC does not cover it */
        stq_le_p(footer + 8, ldq_le_p(footer + 8) ^ EXANET_FTR_HI_PAY_CRC);
    }
}

/* --- Switches ------------------------------------------------------------- */

bool exanet_packet_footer_valid(const uint8_t *buf, unsigned words)
{
    const uint8_t *footer = buf + (words - 1) * EXANET_WORD_BYTES;
    uint64_t hi = ldq_le_p(footer + 8);

    return footer_crc(ldq_le_p(footer), hi) == RNIC_GET(EXANET_FTR_HI_CRC, hi);
}

void exanet_packet_crc_add(uint8_t *buf, unsigned words)
{
    unsigned payload = (words - 2) * EXANET_WORD_BYTES;
    uint8_t *footer = buf + EXANET_WORD_BYTES + payload;
    uint64_t drop = EXANET_HDR_HI_NO_CRC | EXANET_HDR_HI_CRC;

    header_store(buf, ldq_le_p(buf), ldq_le_p(buf + 8) & ~drop);
    /* the footer CRC does not cover the payload CRC */
    stl_le_p(footer + 12, rnic_crc32(0, buf + EXANET_WORD_BYTES, payload));
}

/*
 * Adds 1 to field @mask of the little-endian uint64_t at @p.  Returns false, without a
 * change, if the field is @max or more.
 */
static bool field_count(uint8_t *p, uint64_t mask, unsigned max)
{
    uint64_t value = ldq_le_p(p);

    if (RNIC_GET(mask, value) >= max) {
        return false;
    }
    stq_le_p(p, (value & ~mask) | RNIC_PREP(mask, RNIC_GET(mask, value) + 1));
    return true;
}

bool exanet_packet_hop(uint8_t *buf, unsigned words)
{
    uint8_t *footer = buf + (words - 1) * EXANET_WORD_BYTES;
    uint64_t lo, hi;
    unsigned ttl;

    if (words == 1) {
        return exanet_packet_type(buf) == EXANET_TYPE_ACK ?
               field_count(buf + 8, EXANET_ACK_HI_HOPS, EXANET_HOPS_MAX) :
               field_count(buf, EXANET_FLOW_LO_HOPS, EXANET_HOPS_MAX);
    }
    lo = ldq_le_p(footer);
    hi = ldq_le_p(footer + 8);
    ttl = RNIC_GET(EXANET_FTR_HI_TTL_14_3, hi) << 3 |
          RNIC_GET(EXANET_FTR_LO_TTL_2_0, lo);
    if (ttl == 0) {
        return false;
    }
    ttl--;
    stq_le_p(footer, (lo & ~EXANET_FTR_LO_TTL_2_0) |
                     RNIC_PREP(EXANET_FTR_LO_TTL_2_0, ttl));
    stq_le_p(footer + 8, (hi & ~EXANET_FTR_HI_TTL_14_3) |
                         RNIC_PREP(EXANET_FTR_HI_TTL_14_3, ttl >> 3));
    return true;
}
