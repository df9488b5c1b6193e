/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCE frames: build, parse, ICRC, opcodes, arithmetic of sequence numbers.  The unit
 * has no QEMU state, so unit tests run it alone.  The formats are in
 * rnic/pvrdma/wire.h.
 */
#ifndef HW_PVRDMA_WIRE_ROCE_H
#define HW_PVRDMA_WIRE_ROCE_H

#include "rnic/pvrdma/wire.h"

/* --- Sequence numbers: 24 bits, with wrap --------------------------------- */
static inline uint32_t roce_psn_add(uint32_t psn, uint32_t n)
{
    return (psn + n) & ROCE_PSN_MASK;
}

/*
 * Returns @a - @b modulo 2^24, as a number from -2^23 to 2^23 - 1.  The result is
 * negative if @a is before @b.
 */
static inline int32_t roce_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

/* --- Opcodes ------------------------------------------------------------- */
/* Flags of an opcode: ROCE_HAS_* name the headers of a packet, ROCE_IS_* its meaning. */
enum {
    ROCE_HAS_RETH       = 1 << 0,
    ROCE_HAS_AETH       = 1 << 1,
    ROCE_HAS_ATOMIC     = 1 << 2,
    ROCE_HAS_ATOMIC_ACK = 1 << 3,
    ROCE_HAS_DETH       = 1 << 4,
    ROCE_HAS_IMM        = 1 << 5,
    ROCE_HAS_IETH       = 1 << 6,
    ROCE_HAS_PAYLOAD    = 1 << 7,       /* a payload is permitted, not required */
    ROCE_IS_SEND        = 1 << 8,
    ROCE_IS_WRITE       = 1 << 9,
    ROCE_IS_READ        = 1 << 10,      /* READ request or READ response */
    ROCE_IS_ATOMIC      = 1 << 11,      /* atomic request or atomic response */
    ROCE_IS_REQUEST     = 1 << 12,
    ROCE_IS_RESPONSE    = 1 << 13,      /* ACK, READ response or atomic response */
    ROCE_IS_FIRST       = 1 << 14,      /* first or only packet of a message */
    ROCE_IS_LAST        = 1 << 15,      /* last or only packet of a message */
    ROCE_IS_CNP         = 1 << 16,
};

typedef struct RoceOpcodeInfo {
    const char *name;           /* NULL: the device does not support the opcode */
    uint32_t flags;             /* bits ROCE_HAS_*, ROCE_IS_* */
    uint8_t header_bytes;       /* bytes of the BTH and the extended headers */
} RoceOpcodeInfo;

/* Indexed by enum roce_opcode.  All members are 0 for an opcode without support. */
extern const RoceOpcodeInfo roce_opcodes[256];

/* Returns the properties of @opcode; never NULL. */
static inline const RoceOpcodeInfo *roce_opcode_info(uint8_t opcode)
{
    return &roce_opcodes[opcode];
}

/* --- Frames -------------------------------------------------------------- */
#define ROCE_NO_VLAN 0xffff     /* value of RocePath.vlan: frames have no VLAN tag */

typedef enum RoceNetwork {      /* same values as enum pvrdma_network_type */
    ROCE_NETWORK_V1,
    ROCE_NETWORK_IPV4,
    ROCE_NETWORK_IPV6,
} RoceNetwork;

/*
 * Addresses of a frame: "s" in a name means the sender of the frame, "d" its destination.
 * MAC addresses and GIDs are in wire byte order.
 */
typedef struct RocePath {
    uint8_t smac[6], dmac[6];
    uint8_t sgid[16], dgid[16];     /* IPv4: ::ffff:a.b.c.d */
    uint32_t flow_label;            /* 20 bits; IPv4: not used */
    uint16_t vlan;                  /* VLAN tag control information, or ROCE_NO_VLAN */
    uint16_t sport;                 /* UDP source port; V1: not used */
    uint8_t network;                /* RoceNetwork */
    uint8_t traffic_class;          /* bits 1:0 are ECN */
    uint8_t hop_limit;
} RocePath;

#define ROCE_ECN        3           /* mask of the ECN bits in traffic_class */
#define ROCE_ECN_ECT0   2           /* the path supports ECN */
#define ROCE_ECN_CE     3           /* a switch marked the packet */

/*
 * A packet, in host byte order except @imm.  If the comment of a member names a header,
 * the member is valid only if packets with this opcode have the header.
 */
typedef struct RocePacket {
    uint8_t opcode;                 /* enum roce_opcode */
    uint8_t syndrome;               /* AETH: ROCE_AETH_KIND and ROCE_AETH_VALUE */
    bool solicited;
    bool ack_req;
    bool fecn, becn;
    uint16_t pkey;
    uint32_t qpn;                   /* number of the destination QP */
    uint32_t psn;
    uint64_t va;                    /* RETH, AtomicETH */
    uint32_t rkey;                  /* RETH, AtomicETH */
    uint32_t dma_len;               /* RETH: bytes of the message */
    uint64_t swap_add, compare;     /* AtomicETH */
    uint64_t original;              /* AtomicAckETH */
    uint32_t msn;                   /* AETH */
    uint32_t qkey, src_qpn;         /* DETH */
    uint32_t imm;                   /* ImmDt: in wire byte order, __be32 */
    uint32_t inv_rkey;              /* IETH: key that the receiver invalidates */
    const uint8_t *payload;         /* parsed packet: points into the frame */
    uint32_t payload_len;           /* parsed packet: bytes without padding */
} RocePacket;

typedef enum RoceStatus {
    ROCE_OK,
    ROCE_NOT_ROCE,                  /* a frame of another protocol */
    ROCE_BAD_LENGTH,                /* frame too short or long, or lengths disagree */
    /*
     * IPv4: wrong version or checksum, options, or a first fragment; IPv6: wrong version;
     * GRH: wrong version or next header.
     */
    ROCE_BAD_IP,
    ROCE_BAD_VERSION,               /* unknown version of the BTH */
    ROCE_BAD_OPCODE,
    ROCE_BAD_ICRC,
} RoceStatus;

/*
 * Returns true if the EtherType or the UDP destination port of a frame is that of RoCE.
 * Returns false if the frame is too short, or is a later fragment of an IPv4 packet.
 * roce_frame_parse() checks the other fields.
 */
bool roce_frame_is(const uint8_t *frame, size_t len);

/*
 * Builds all headers of a frame in @frame, which has ROCE_FRAME_MAX bytes, but sets no
 * lengths, no number of padding bytes, and no IPv4 checksum.  Ignores payload and
 * payload_len of @pkt.  Returns the offset of the payload in the frame.
 */
size_t roce_frame_begin(uint8_t *frame, const RocePath *path,
                        const RocePacket *pkt);
/*
 * Ends a frame after @payload_len bytes of payload, at most ROCE_MTU_MAX.  @payload_at is
 * the result of roce_frame_begin().  Adds padding, lengths, IPv4 checksum and ICRC.
 * Returns the length of the frame without Ethernet's FCS, bytes.
 */
size_t roce_frame_end(uint8_t *frame, size_t payload_at, size_t payload_len);

/*
 * Parses a frame of @len bytes into @path and @pkt.  @path is the path from the sender
 * of the frame to this port.  If the result is not ROCE_OK, @path and @pkt are undefined.
 * Ignores bytes behind the packet, because Ethernet pads short frames.
 */
RoceStatus roce_frame_parse(const uint8_t *frame, size_t len, RocePath *path,
                            RocePacket *pkt);

/* Returns the offset of the IP header or GRH in a RoCE frame. */
size_t roce_frame_network_at(const uint8_t *frame);

/*
 * Stores in @grh the first 40 bytes of the receive buffer for the datagram in @frame: the
 * GRH, the IPv6 header, or 20 zero bytes and the IPv4 header.
 */
void roce_frame_grh(const uint8_t *frame, uint8_t grh[ROCE_GRH_BYTES]);

/*
 * Computes and returns the ICRC of a frame, in host byte order.  @len is the number of
 * bytes of the frame, with the 4 bytes of the ICRC.
 */
uint32_t roce_icrc(const uint8_t *frame, size_t len);

/* --- Times and sizes ----------------------------------------------------- */
/* Returns the time of the RNR wait with the 5-bit code @code, ns [EXT]. */
int64_t roce_rnr_ns(unsigned code);

/*
 * Returns the ACK timeout with the code @code, 4.096 us * 2^@code, in ns.  Returns 0 for
 * code 0, which means no timeout.
 */
static inline int64_t roce_timeout_ns(unsigned code)
{
    return code ? 4096LL << (code & 31) : 0;
}

/*
 * Returns the number of packets of a message of @len bytes: 1 for an empty message.  @mtu
 * is the path MTU in bytes.
 */
static inline uint32_t roce_packets(uint32_t len, uint32_t mtu)
{
    return len ? (len - 1) / mtu + 1 : 1;
}

#endif /* HW_PVRDMA_WIRE_ROCE_H */
