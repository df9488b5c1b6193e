/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packet codec: between the 128-bit words of rnic/exanet/wire.h and one
 * neutral C struct.  Free of QEMU state, so that unit tests and a test that plays
 * the wire peer use the same code.
 */
#ifndef HW_EXANET_BASE_WIRE_H
#define HW_EXANET_BASE_WIRE_H

#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

/*
 * A packet as the units see it.  An ack has only @type, @dst, @pdid (the context
 * nibble), @tid, @seq (12 bits), @resp, @small, @epoch (of @dst), @vc, @path
 * and @hops; a flow-rate packet only @type, @dst, @pdid, @small, @flow_dst, @current,
 * @desired, @vc and @hops.
 */
typedef struct ExanetPacket {
    uint64_t va;            /* destination, 42 bits */
    uint32_t dst;           /* destination coordinates */
    uint32_t src;           /* source coordinates */
    uint16_t pdid;          /* the destination's */
    uint16_t size;          /* payload bytes */
    uint16_t tid;           /* wire TID, 14 bits */
    uint16_t seq;           /* retransmissions */
    uint16_t user;          /* footer user bits: where acks go */
    uint16_t ttl;
    uint16_t small;         /* small address of an ack */
    uint8_t type;           /* enum exanet_type */
    uint8_t vc;
    uint8_t path;
    uint8_t epoch;          /* of the source */
    uint8_t resp;           /* enum exanet_resp of an ack */
    uint8_t hops;           /* switches passed */
    uint8_t current;        /* rates, EXANET_RATE_ */
    uint8_t desired;
    uint32_t flow_dst;      /* where the flow goes */
    uint8_t link;           /* not on the wire: link of arrival; EXANET_LINKS: none */
    bool far;               /* not on the wire: the source is not the link's peer */
    bool first;
    bool last;
    bool notify;
    bool bad_payload;       /* decoded, but the payload CRC does not fit */
    /* First of @size valid bytes, in the buffer given to exanet_packet_decode. */
    const uint8_t *payload;
} ExanetPacket;

typedef enum ExanetWireStatus {
    EXANET_WIRE_OK,
    EXANET_WIRE_BAD_HEADER,     /* header CRC: no field can be trusted */
    EXANET_WIRE_BAD_FOOTER,     /* footer CRC: the source is unknown */
    EXANET_WIRE_MALFORMED,      /* unknown type, or a size that it can't have */
} ExanetWireStatus;

/* Payload words of @size bytes whose first goes to @va. [D §4] */
static inline unsigned exanet_payload_words(uint64_t va, unsigned size)
{
    return ((va & (EXANET_WORD_BYTES - 1)) + size + EXANET_WORD_BYTES - 1) /
           EXANET_WORD_BYTES;
}

/* Where in a packet buffer the payload for address @va begins. */
static inline uint8_t *exanet_packet_payload(uint8_t *buf, uint64_t va)
{
    return buf + EXANET_WORD_BYTES + (va & (EXANET_WORD_BYTES - 1));
}

/* What is known of a type of packets; all zero: there is no such type. */
typedef struct ExanetTypeInfo {
    const char *name;
    uint8_t form;           /* enum exanet_form */
    uint8_t tx_counter;     /* enum exanet_counter; COUNTER_COUNT: none */
    uint8_t rx_counter;     /* counts packets before a unit takes them */
    uint8_t ni;             /* NI indices that accept it, one bit for each */
} ExanetTypeInfo;

/* By enum exanet_type. */
extern const ExanetTypeInfo exanet_type_info[EXANET_TYPE_VALUES];

/*
 * Length in words of the packet that begins at @buf, by its header alone;
 * 0 when the header CRC is wrong (@status BAD_HEADER) or type and size make no
 * packet (@status MALFORMED).  Reads 16 bytes.
 */
unsigned exanet_packet_words(const uint8_t *buf, ExanetWireStatus *status);

/*
 * Decodes the packet of @words words at @buf, @words as exanet_packet_words gave
 * it.  @pkt is valid when EXANET_WIRE_OK is returned; look at bad_payload then.
 */
ExanetWireStatus exanet_packet_decode(const uint8_t *buf, unsigned words,
                                      ExanetPacket *pkt);

/*
 * Completes the packet in @buf (EXANET_PACKET_BYTES long), whose payload the caller
 * has put at exanet_packet_payload(): header, padding, footer, CRCs.  Returns the
 * length in words.  Not for acks.
 */
unsigned exanet_packet_encode(uint8_t *buf, const ExanetPacket *pkt);

/* Writes the one word of the ack @pkt to @buf. */
void exanet_ack_encode(uint8_t *buf, const ExanetPacket *pkt);

/* Writes the one word of the flow-rate packet @pkt to @buf. */
void exanet_flow_rate_encode(uint8_t *buf, const ExanetPacket *pkt);

/*
 * What a switch reads and rewrites; @buf is a packet that exanet_packet_words()
 * has accepted.  No CRC covers what they change.
 */
uint32_t exanet_packet_dst(const uint8_t *buf);
unsigned exanet_packet_type(const uint8_t *buf);
unsigned exanet_packet_path(const uint8_t *buf);
unsigned exanet_packet_vc(const uint8_t *buf);
/* Of a packet of more than one word; true if the CRC of its footer is right. */
bool exanet_packet_footer_good(const uint8_t *buf, unsigned words);
uint32_t exanet_packet_src(const uint8_t *buf, unsigned words);
void exanet_packet_vc_set(uint8_t *buf, unsigned vc);
/* Counts one switch more; false when the packet has passed too many. */
bool exanet_packet_hop(uint8_t *buf, unsigned words);

#endif /* HW_EXANET_BASE_WIRE_H */
