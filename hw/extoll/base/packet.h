/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of packets.  The formats are in rnic/extoll/wire.h. */
#ifndef RNIC_EXTOLL_BASE_PACKET_H
#define RNIC_EXTOLL_BASE_PACKET_H

#include "rnic/extoll/rma.h"
#include "rnic/extoll/wire.h"
#include "velo.h"

/* A packet of the RMA. */
typedef struct ExtollPacket {
    uint8_t command;        /* enum extoll_cmd, not VELO */
    uint8_t notify;         /* bits EXTOLL_NOTIFY_* */
    uint8_t src_vpid;
    uint8_t dst_vpid;
    bool lines;
    bool irq;
    bool physical;
    uint16_t src_node;      /* the device fills this in, never software */
    uint16_t prot;          /* protection id of the initiator */
    uint16_t bytes;         /* 1 to 4096; 1 for LOCK, LOCK_RESPONSE and NOTIFICATION */
    uint64_t word1;         /* rnic/extoll/wire.h lists the meanings by command */
    uint64_t word2;
} ExtollPacket;

typedef enum ExtollPacketStatus {
    EXTOLL_PACKET_OK,
    EXTOLL_PACKET_SHORT,        /* the packet ends inside its command frame */
    EXTOLL_PACKET_UNKNOWN,      /* no such command */
    EXTOLL_PACKET_BAD_LENGTH,   /* command frame and packet have different lengths */
    EXTOLL_PACKET_RESERVED,     /* a reserved bit is 1 */
    EXTOLL_PACKET_BAD_FIELD,    /* a field has a value that no sender uses */
    EXTOLL_PACKET_PAGE,         /* the packet crosses a page border */
} ExtollPacketStatus;

/*
 * Returns the length in bytes of the packet whose first @len bytes are at @buf, by its
 * command frame, or 0 with the cause in @status.  @len is 32 or the length of the packet,
 * if that is less.
 */
unsigned extoll_packet_measure(const uint8_t *buf, size_t len,
                               ExtollPacketStatus *status);

/* Returns true if the packet at @buf is a message.  The packet has its command frame. */
bool extoll_packet_is_message(const uint8_t *buf);

/*
 * Decodes the message at @buf, a packet of @len bytes, except @msg->dst_node.  Changes
 * @msg only if the status is OK.
 */
ExtollPacketStatus extoll_packet_message_decode(const uint8_t *buf, size_t len,
                                                ExtollVeloMsg *msg);

/* Stores the packet of @msg with the routing string @route in @buf; returns its bytes. */
unsigned extoll_packet_message_encode(uint8_t *buf, uint64_t route,
                                      const ExtollVeloMsg *msg);

/*
 * Decodes the RMA packet at @buf of @len bytes.  The payload stays at
 * extoll_packet_payload().  Changes @pkt only if the status is OK.
 */
ExtollPacketStatus extoll_packet_decode(const uint8_t *buf, size_t len,
                                        ExtollPacket *pkt);

/*
 * Stores routing string and command frame of @pkt in @buf, and zeros behind the payload
 * up to a multiple of 8 B.  The caller stores the payload at extoll_packet_payload().
 * Returns the bytes of the packet.
 */
unsigned extoll_packet_encode(uint8_t *buf, uint64_t route, const ExtollPacket *pkt);

/* Returns the bytes of payload of @pkt, without padding. */
unsigned extoll_packet_payload_bytes(const ExtollPacket *pkt);

/* Returns the payload of the RMA packet at @buf. */
static inline uint8_t *extoll_packet_payload(uint8_t *buf)
{
    return buf + EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME;
}

#endif /* RNIC_EXTOLL_BASE_PACKET_H */
