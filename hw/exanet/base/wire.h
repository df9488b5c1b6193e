/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packet codec: converts between the 128-bit words of rnic/exanet/wire.h and a C
 * struct in host byte order.  The codec uses no state of QEMU, because unit tests and
 * tests that act as a peer use this code too.
 */
#ifndef HW_EXANET_BASE_WIRE_H
#define HW_EXANET_BASE_WIRE_H

#include "qemu/bswap.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/wire.h"

/*
 * A decoded packet, or a packet to encode.  An ack has only @type, @dst, @pdid (only the
 * 4 bits of the context), @tid, @seq (12 bits), @resp, @small, @epoch (of @dst), @vc,
 * @path and @hops.  A flow-rate packet has only @type, @dst, @pdid, @small, @flow_dst,
 * @current, @desired, @vc and @hops.  exanet_packet_decode() sets the other members of
 * these packets to 0.
 */
typedef struct ExanetPacket {
    uint64_t va;            /* address at the destination, 42 bits */
    uint32_t dst;           /* destination coordinates */
    uint32_t src;           /* source coordinates */
    uint16_t pdid;          /* as in EXANET_HDR_LO_PDID; ack: EXANET_ACK_LO_PDID_CTX */
    uint16_t size;          /* payload bytes; in a load, requested bytes */
    uint16_t tid;           /* wire TID, 14 bits */
    /* number of the copy; in a load or store and its response, number of the request */
    uint16_t seq;
    uint16_t user;          /* footer user bits: address for acks, or EXANET_SHM_USER_* */
    uint16_t ttl;           /* switches that the packet may still pass */
    uint16_t small;         /* address of an ack or a flow-rate packet: EXANET_SMALL_* */
    uint8_t type;           /* enum exanet_type */
    uint8_t vc;
    uint8_t path;
    uint8_t epoch;          /* epoch of @src; in an ack, of @dst */
    uint8_t resp;           /* enum exanet_resp of an ack */
    uint8_t hops;           /* switches that an ack or a flow-rate packet has passed */
    uint8_t current;        /* present rate of the flow, fields EXANET_RATE_* */
    uint8_t desired;        /* rate that the flow should have, EXANET_RATE_* */
    uint32_t flow_dst;      /* destination coordinates of the flow */
    /*
     * exanet_packet_decode() sets @link and @far to 0.  The device sets @link and @far of
     * an arrived packet later, but not in acks and flow-rate packets.
     */
    uint8_t link;           /* link of arrival; EXANET_LINKS: none */
    bool far;               /* the source is not the neighbour of the link */
    bool first;             /* EXANET_FTR_LO_FIRST */
    bool last;              /* EXANET_FTR_LO_LAST */
    bool notify;            /* EXANET_FTR_LO_NOTIFY */
    bool no_crc;            /* EXANET_HDR_HI_NO_CRC: there is no payload CRC */
    bool bad_payload;       /* the payload CRC is wrong; the other fields are valid */
    /*
     * Number of packets in the run, of which @va, @first and @payload are those of the
     * first packet.  1: a single decoded packet.  0: a decoded ack or flow-rate packet,
     * or a single packet to encode.
     */
    uint8_t packets;
    /*
     * Address of the payload in the buffer that the caller of exanet_packet_decode()
     * owns.  Has no meaning if the packet has no payload.
     */
    const uint8_t *payload;
} ExanetPacket;

typedef enum ExanetWireStatus {
    EXANET_WIRE_OK,
    EXANET_WIRE_BAD_HEADER,     /* the header CRC is wrong, so no field is known */
    EXANET_WIRE_BAD_FOOTER,     /* the footer CRC is wrong, so the source is not known */
    EXANET_WIRE_MALFORMED,      /* see exanet_packet_words() and exanet_run_packets() */
} ExanetWireStatus;

/* Returns the length in words of a payload of @size bytes for address @va. [D §4] */
static inline unsigned exanet_payload_words(uint64_t va, unsigned size)
{
    return ((va & (EXANET_WORD_BYTES - 1)) + size + EXANET_WORD_BYTES - 1) /
           EXANET_WORD_BYTES;
}

/* Returns the address of the payload for VA @va in packet buffer @buf. */
static inline uint8_t *exanet_packet_payload(uint8_t *buf, uint64_t va)
{
    return buf + EXANET_WORD_BYTES + (va & (EXANET_WORD_BYTES - 1));
}

/* Properties of a packet type.  If all members are 0, the type does not exist. */
typedef struct ExanetTypeInfo {
    const char *name;       /* text of the type in EXANET_TYPES */
    uint8_t form;           /* enum exanet_form */
    /*
     * Counters (enum exanet_counter) of sent and of arrived packets;
     * EXANET_COUNTER_COUNT: no counter.
     */
    uint8_t tx_counter;
    uint8_t rx_counter;
    /* bit n: the unit that has NI index n after a reset accepts the type */
    uint8_t ni;
} ExanetTypeInfo;

/*
 * Indexed by enum exanet_type.  The entries of other values are zero, and
 * exanet_packet_words() refuses packets with these values as MALFORMED.
 */
extern const ExanetTypeInfo exanet_type_info[EXANET_TYPE_VALUES];

/*
 * Returns the length in words of the packet at @buf, and sets *@status to EXANET_WIRE_OK.
 * The function reads only the header, 16 bytes.  Returns 0 if the header CRC is wrong
 * (*@status is BAD_HEADER), or if the type does not exist or does not permit this VA and
 * size (*@status is MALFORMED).
 */
unsigned exanet_packet_words(const uint8_t *buf, ExanetWireStatus *status);

/*
 * Returns true if the word at @buf has the TYPE of a run word, the first word of a run.
 */
static inline bool exanet_run_word(const uint8_t *buf)
{
    return RNIC_GET(EXANET_HDR_LO_TYPE, ldq_le_p(buf)) == EXANET_RUN_TYPE;
}

/*
 * Returns the number of packets in the run at @buf, 2 to EXANET_RUN_MAX, and sets
 * *@status to EXANET_WIRE_OK.  The function reads only the run word, 16 bytes.  Returns 0
 * if the CRC of the run word is wrong (*@status is BAD_HEADER), or if its number of
 * packets is not valid or an unused bit is set (*@status is MALFORMED).
 */
unsigned exanet_run_packets(const uint8_t *buf, ExanetWireStatus *status);

/* Returns the length in words of a run of @packets packets. */
static inline unsigned exanet_run_words(unsigned packets)
{
    return EXANET_RUN_EXTRA + packets * EXANET_PAYLOAD_WORDS;
}

/* Returns the address of the header in the run at @buf; the caller may change it. */
static inline uint8_t *exanet_run_header(uint8_t *buf)
{
    return buf + EXANET_WORD_BYTES;
}

/* Returns the address of the header in the run at @buf; the caller only reads it. */
static inline const uint8_t *exanet_run_header_const(const uint8_t *buf)
{
    return buf + EXANET_WORD_BYTES;
}

/* Returns the address of the payloads in the run at @buf; the caller may change them. */
static inline uint8_t *exanet_run_payload(uint8_t *buf)
{
    return buf + 2 * EXANET_WORD_BYTES;
}

/* Returns the address of the payloads in the run at @buf; the caller only reads them. */
static inline const uint8_t *exanet_run_payload_const(const uint8_t *buf)
{
    return buf + 2 * EXANET_WORD_BYTES;
}

/*
 * Returns true if the header in the run of @packets packets at @buf is that of a full
 * packet of type WRITE, has the VC of the run word, and all packets of the run are for
 * one block of 16 KB.  @packets is the result of exanet_run_packets().
 */
bool exanet_run_valid(const uint8_t *buf, unsigned packets);

/*
 * Decodes the run at @buf as exanet_packet_decode() decodes a packet.  exanet_run_valid()
 * must have returned true for the run.  @pkt gets the fields of the first packet, except
 * @last, which is that of the last packet, and @packets.  @pkt->bad_payload is true if
 * the CRC over all payloads is wrong.
 */
ExanetWireStatus exanet_run_decode(const uint8_t *buf, ExanetPacket *pkt);

/*
 * Completes the run in @buf, whose payloads the caller has stored, with run word, header,
 * footer and CRCs.  @pkt has the fields of the first packet, except that @last is that of
 * the last packet, and @packets is the number of packets.  Returns the length of the run
 * in words.
 */
unsigned exanet_run_encode(uint8_t *buf, const ExanetPacket *pkt);

/*
 * Stores in *@pkt packet @n of the decoded run @run.  If @run->bad_payload is true, each
 * packet has a bad payload, because only the CRC of all payloads is known.
 */
void exanet_run_split(const ExanetPacket *run, unsigned n, ExanetPacket *pkt);

/*
 * Stores in @buf (EXANET_PACKET_BYTES long) packet @n of the decoded run @run, as the
 * packet would have been sent without a run.  If @run->bad_payload is true, the packet
 * has a wrong payload CRC.
 */
void exanet_run_packet(const ExanetPacket *run, unsigned n, uint8_t *buf);

/*
 * Decodes the packet of @words words at @buf; exanet_packet_words() has returned @words.
 * Returns EXANET_WIRE_OK or EXANET_WIRE_BAD_FOOTER.  @pkt is set only if the result is
 * EXANET_WIRE_OK.  The payload is valid unless @pkt->bad_payload is true.
 */
ExanetWireStatus exanet_packet_decode(const uint8_t *buf, unsigned words,
                                      ExanetPacket *pkt);

/*
 * Completes the packet in @buf (EXANET_PACKET_BYTES long) with header, padding, footer
 * and CRCs.  The caller has stored the payload, if there is one, at
 * exanet_packet_payload(); @pkt->payload is not used.  Returns the length of the packet
 * in words.  @pkt must not be an ack or a flow-rate packet.
 */
unsigned exanet_packet_encode(uint8_t *buf, const ExanetPacket *pkt);

/* Stores the ack @pkt, one word, in @buf. */
void exanet_ack_encode(uint8_t *buf, const ExanetPacket *pkt);

/* Stores the flow-rate packet @pkt, one word, in @buf. */
void exanet_flow_rate_encode(uint8_t *buf, const ExanetPacket *pkt);

/*
 * The functions from here to the end of the file are for switches.  Each returns, checks
 * or changes a part of the packet at @buf, for which exanet_packet_words() has returned a
 * length, @words.  For a run, @buf is the result of exanet_run_header(), and @words the
 * length of the run without the run word; the functions of the VC also accept a run word.
 * Only exanet_packet_crc_add() changes a CRC, because the CRCs are computed as if the
 * fields that switches change were 0.
 */
static inline uint32_t exanet_packet_dst(const uint8_t *buf)
{
    return RNIC_GET(EXANET_HDR_LO_COORD, ldq_le_p(buf));
}

static inline unsigned exanet_packet_type(const uint8_t *buf)
{
    return RNIC_GET(EXANET_HDR_LO_TYPE, ldq_le_p(buf));
}

/* Returns the path, or 0 for a flow-rate packet, which has no path. */
static inline unsigned exanet_packet_path(const uint8_t *buf)
{
    return exanet_packet_type(buf) == EXANET_TYPE_FLOW_RATE ? 0 :
           RNIC_GET(EXANET_HDR_HI_PATH, ldq_le_p(buf + 8));
}

static inline unsigned exanet_packet_vc(const uint8_t *buf)
{
    return RNIC_GET(EXANET_HDR_LO_VC, ldq_le_p(buf));
}

static inline void exanet_packet_vc_set(uint8_t *buf, unsigned vc)
{
    stq_le_p(buf, (ldq_le_p(buf) & ~EXANET_HDR_LO_VC) |
                  RNIC_PREP(EXANET_HDR_LO_VC, vc));
}

/*
 * Returns true if the packet, of @words words, has a footer and EXANET_HDR_HI_NO_CRC.  A
 * flow-rate packet has another field at the place of this bit.
 */
static inline bool exanet_packet_no_crc(const uint8_t *buf, unsigned words)
{
    return words > 1 && RNIC_GET(EXANET_HDR_HI_NO_CRC, ldq_le_p(buf + 8));
}

/* Computes the payload CRC of a packet for which exanet_packet_no_crc() returns true. */
void exanet_packet_crc_add(uint8_t *buf, unsigned words);

/*
 * Returns the source coordinates.  @words must be more than 1, because acks and flow-rate
 * packets have no source.
 */
static inline uint32_t exanet_packet_src(const uint8_t *buf, unsigned words)
{
    return RNIC_GET(EXANET_FTR_LO_SRC,
                    ldq_le_p(buf + (words - 1) * EXANET_WORD_BYTES));
}

/* Returns true if the CRC of the footer is right.  @words must be more than 1. */
bool exanet_packet_footer_valid(const uint8_t *buf, unsigned words);
/*
 * Subtracts 1 from TTL or, in a packet of one word, adds 1 to HOPS.  Returns false,
 * without a change, if TTL is 0 or HOPS is EXANET_HOPS_MAX.
 */
bool exanet_packet_hop(uint8_t *buf, unsigned words);

#endif /* HW_EXANET_BASE_WIRE_H */
