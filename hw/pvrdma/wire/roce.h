/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE frames: building and taking apart, ICRC, opcodes, arithmetic of sequence numbers.
 * Free of QEMU state, so that unit tests run it alone.  Formats: rnic/pvrdma/wire.h.
 */
#ifndef HW_PVRDMA_WIRE_ROCE_H
#define HW_PVRDMA_WIRE_ROCE_H

#include "rnic/pvrdma/wire.h"

/* --- Sequence numbers: 24 bits, and they wrap ---------------------------- */
static inline uint32_t roce_psn_add(uint32_t psn, uint32_t n)
{
    return (psn + n) & ROCE_PSN_MASK;
}

/* How far @a is behind @b: negative if before it; in -2^23 to 2^23 - 1. */
static inline int32_t roce_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* --- Opcodes ------------------------------------------------------------- */
/* What a packet has and is, by opcode: roce_opcode_info(). */
enum {
    ROCE_HAS_RETH       = 1 << 0,
    ROCE_HAS_AETH       = 1 << 1,
    ROCE_HAS_ATOMIC     = 1 << 2,
    ROCE_HAS_ATOMIC_ACK = 1 << 3,
    ROCE_HAS_DETH       = 1 << 4,
    ROCE_HAS_IMM        = 1 << 5,
    ROCE_HAS_IETH       = 1 << 6,
    ROCE_HAS_PAYLOAD    = 1 << 7,       /* may have */
    ROCE_IS_SEND        = 1 << 8,
    ROCE_IS_WRITE       = 1 << 9,
    ROCE_IS_READ        = 1 << 10,      /* request or response */
    ROCE_IS_ATOMIC      = 1 << 11,      /* request or response */
    ROCE_IS_REQUEST     = 1 << 12,
    ROCE_IS_RESPONSE    = 1 << 13,      /* to be handled by the requester */
    ROCE_IS_FIRST       = 1 << 14,      /* begins a message; also of "only" */
    ROCE_IS_LAST        = 1 << 15,      /* ends it; also of "only" */
    ROCE_IS_CNP         = 1 << 16,
};

typedef struct RoceOpcodeInfo {
    const char *name;           /* NULL: there is no such opcode */
    uint32_t flags;             /* ROCE_HAS_, ROCE_IS_ */
    uint8_t header_bytes;       /* BTH and what follows it, up to the payload */
} RoceOpcodeInfo;

/* Never NULL; of an unknown opcode all members are 0. */
const RoceOpcodeInfo *roce_opcode_info(uint8_t opcode);

/* --- Frames -------------------------------------------------------------- */
#define ROCE_NO_VLAN 0xffff

typedef enum RoceNetwork {      /* as enum pvrdma_network_type */
    ROCE_NETWORK_V1,
    ROCE_NETWORK_IPV4,
    ROCE_NETWORK_IPV6,
} RoceNetwork;

/* Between whom a frame travels, from the sender's point of view. */
typedef struct RocePath {
    uint8_t smac[6], dmac[6];
    uint8_t sgid[16], dgid[16];     /* IPv4: ::ffff:a.b.c.d */
    uint32_t flow_label;            /* 20 bits; V1 and IPv6 */
    uint16_t vlan;                  /* tag control information, or ROCE_NO_VLAN */
    uint16_t sport;                 /* UDP */
    uint8_t network;                /* RoceNetwork */
    uint8_t traffic_class;          /* with the two ECN bits, 1:0 */
    uint8_t hop_limit;
} RocePath;

#define ROCE_ECN        3           /* of traffic_class */
#define ROCE_ECN_ECT0   2           /* capable */
#define ROCE_ECN_CE     3           /* congestion was met */

/* A packet in host byte order; which members count is up to the opcode. */
typedef struct RocePacket {
    uint8_t opcode;                 /* enum roce_opcode */
    uint8_t syndrome;               /* AETH */
    bool solicited;
    bool ack_req;
    bool fecn, becn;
    uint16_t pkey;
    uint32_t qpn;                   /* destination */
    uint32_t psn;
    uint64_t va;                    /* RETH, AtomicETH */
    uint32_t rkey;                  /* RETH, AtomicETH, IETH */
    uint32_t dma_len;               /* RETH */
    uint64_t swap_add, compare;     /* AtomicETH */
    uint64_t original;              /* AtomicAckETH */
    uint32_t msn;                   /* AETH */
    uint32_t qkey, src_qpn;         /* DETH */
    uint32_t imm;                   /* as the __be32 that it is on the wire */
    uint32_t inv_rkey;              /* IETH */
    const uint8_t *payload;         /* of a parsed packet: inside the frame */
    uint32_t payload_len;           /* without padding */
} RocePacket;

typedef enum RoceStatus {
    ROCE_OK,
    ROCE_NOT_ROCE,                  /* somebody else's frame */
    ROCE_BAD_LENGTH,                /* lengths of the layers disagree */
    ROCE_BAD_IP,                    /* header checksum, fragment, options */
    ROCE_BAD_VERSION,               /* of the BTH */
    ROCE_BAD_OPCODE,
    ROCE_BAD_ICRC,
} RoceStatus;

/* Whether a frame is RoCE, by its EtherType or UDP port: quick, for every frame. */
bool roce_frame_is(const uint8_t *frame, size_t len);

/*
 * Begins a frame in @frame, of ROCE_FRAME_MAX bytes: all headers up to the payload.
 * Returns where the payload goes; @pkt->payload and payload_len do not count.
 */
size_t roce_frame_begin(uint8_t *frame, const RocePath *path,
                        const RocePacket *pkt);
/*
 * Ends it after @payload_len bytes of payload, ROCE_MTU_MAX at most: padding, lengths,
 * checksum, ICRC.  Returns the length of the frame, without Ethernet's FCS.
 */
size_t roce_frame_end(uint8_t *frame, size_t payload_at, size_t payload_len);

/*
 * Takes apart a frame of @len bytes.  @path is the sender's; on anything but ROCE_OK
 * what @path and @pkt hold is undefined.  Minimum-size padding of Ethernet is ignored.
 */
RoceStatus roce_frame_parse(const uint8_t *frame, size_t len, RocePath *path,
                            RocePacket *pkt);

/* Where the IP header or GRH of a frame that was parsed begins. */
size_t roce_frame_network_at(const uint8_t *frame);

/*
 * The 40 bytes that a datagram's receive buffer begins with: the GRH or IPv6 header; of
 * IPv4 20 zero bytes and the header.
 */
void roce_frame_grh(const uint8_t *frame, uint8_t grh[ROCE_GRH_BYTES]);

/* What ICRC such a frame must have; host order, of @len bytes with the ICRC. */
uint32_t roce_icrc(const uint8_t *frame, size_t len);

/* --- Times and sizes ----------------------------------------------------- */
/* Nanoseconds of an encoded receiver-not-ready time; 5 bits [EXT]. */
int64_t roce_rnr_ns(unsigned code);

/* Nanoseconds of an encoded ACK time-out, 4.096 us * 2^n; 0: none. */
static inline int64_t roce_timeout_ns(unsigned code)
{
    return code ? 4096LL << (code & 31) : 0;
}

/* Packets of a message of @len bytes; one for an empty one. */
static inline uint32_t roce_packets(uint32_t len, uint32_t mtu)
{
    return len ? (len - 1) / mtu + 1 : 1;
}

#endif /* HW_PVRDMA_WIRE_ROCE_H */
