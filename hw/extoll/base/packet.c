/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of packets; see packet.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "command.h"
#include "packet.h"

/* Parts of a packet by its command. */
enum {
    KNOWN = 1,          /* the command exists */
    PAYLOAD = 2,        /* there is a payload frame */
    ADDRESS_1 = 4,      /* word 1 is an address of SIZE bytes */
    ADDRESS_2 = 8,      /* word 2 is an address of SIZE bytes */
    SIZED = 16,         /* SIZE may be other than 0 */
};

static const uint8_t parts_of[16] = {
    [EXTOLL_CMD_GET_BYTES] = KNOWN | ADDRESS_1 | ADDRESS_2 | SIZED,
    [EXTOLL_CMD_GET] = KNOWN | ADDRESS_1 | ADDRESS_2 | SIZED,
    [EXTOLL_CMD_PUT_BYTES] = KNOWN | PAYLOAD | ADDRESS_1 | ADDRESS_2 | SIZED,
    [EXTOLL_CMD_PUT] = KNOWN | PAYLOAD | ADDRESS_1 | ADDRESS_2 | SIZED,
    [EXTOLL_CMD_LOCK] = KNOWN,
    [EXTOLL_CMD_NOTIFICATION] = KNOWN,
    [EXTOLL_CMD_IMMEDIATE] = KNOWN | ADDRESS_1 | SIZED,
    [EXTOLL_CMD_REFUSED] = KNOWN | SIZED,
    [EXTOLL_CMD_GET_BYTES_RESPONSE] = KNOWN | PAYLOAD | ADDRESS_1 | ADDRESS_2 | SIZED,
    [EXTOLL_CMD_GET_RESPONSE] = KNOWN | PAYLOAD | ADDRESS_1 | ADDRESS_2 | SIZED,
    [EXTOLL_CMD_LOCK_RESPONSE] = KNOWN,
};

static unsigned padded(unsigned bytes)
{
    return ROUND_UP(bytes, EXTOLL_WORD_BYTES);
}

static unsigned rma_length(uint64_t frame)
{
    unsigned bytes = RNIC_GET(EXTOLL_PKT_SIZE, frame) + 1;
    bool payload = parts_of[RNIC_GET(EXTOLL_PKT_COMMAND, frame)] & PAYLOAD;

    return EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME + (payload ? padded(bytes) : 0);
}

/* Returns OK if @count quadwords from @first on are a part of a message of @quadwords. */
static ExtollPacketStatus message_check(uint64_t frame)
{
    unsigned quadwords = RNIC_GET(EXTOLL_MSG_QUADWORDS, frame);
    unsigned first = RNIC_GET(EXTOLL_MSG_FIRST, frame);
    unsigned count = RNIC_GET(EXTOLL_MSG_COUNT, frame);
    bool whole = !first && count == quadwords;

    if (frame & EXTOLL_MSG_RESERVED) {
        return EXTOLL_PACKET_RESERVED;
    }
    if (!count || quadwords > EXTOLL_VELO_QUADWORDS || first + count > quadwords) {
        return EXTOLL_PACKET_BAD_FIELD;
    }
    if (!(frame & EXTOLL_MSG_SPLIT) && !(whole && (frame & EXTOLL_MSG_END))) {
        return EXTOLL_PACKET_BAD_FIELD;
    }
    return EXTOLL_PACKET_OK;
}

unsigned extoll_packet_measure(const uint8_t *buf, size_t len, ExtollPacketStatus *status)
{
    uint64_t frame;
    unsigned command;

    *status = EXTOLL_PACKET_SHORT;
    if (len < EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME) {
        return 0;
    }
    frame = ldq_le_p(buf + EXTOLL_ROUTING_BYTES);
    command = RNIC_GET(EXTOLL_PKT_COMMAND, frame);
    if (command == EXTOLL_CMD_VELO) {
        *status = message_check(frame);
        return *status == EXTOLL_PACKET_OK ?
               EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME +
               RNIC_GET(EXTOLL_MSG_COUNT, frame) * 8 : 0;
    }
    if (!(parts_of[command] & KNOWN)) {
        *status = EXTOLL_PACKET_UNKNOWN;
        return 0;
    }
    if (len < EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME) {
        return 0;
    }
    *status = EXTOLL_PACKET_OK;
    return rma_length(frame);
}

bool extoll_packet_is_message(const uint8_t *buf)
{
    return RNIC_GET(EXTOLL_PKT_COMMAND, ldq_le_p(buf + EXTOLL_ROUTING_BYTES)) ==
           EXTOLL_CMD_VELO;
}

ExtollPacketStatus extoll_packet_message_decode(const uint8_t *buf, size_t len,
                                                ExtollVeloMsg *msg)
{
    const uint8_t *data = buf + EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME;
    ExtollPacketStatus status;
    uint64_t frame;
    unsigned count;

    if (len < EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME) {
        return EXTOLL_PACKET_SHORT;
    }
    frame = ldq_le_p(buf + EXTOLL_ROUTING_BYTES);
    if (RNIC_GET(EXTOLL_PKT_COMMAND, frame) != EXTOLL_CMD_VELO) {
        return EXTOLL_PACKET_UNKNOWN;
    }
    status = message_check(frame);
    if (status != EXTOLL_PACKET_OK) {
        return status;
    }
    count = RNIC_GET(EXTOLL_MSG_COUNT, frame);
    if (len != EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME + count * 8) {
        return EXTOLL_PACKET_BAD_LENGTH;
    }
    *msg = (ExtollVeloMsg) {
        .src_node = RNIC_GET(EXTOLL_MSG_NODE, frame),
        .prot = RNIC_GET(EXTOLL_MSG_PROT, frame),
        .src_vpid = RNIC_GET(EXTOLL_MSG_SOURCE, frame),
        .dst_vpid = RNIC_GET(EXTOLL_MSG_VPID, frame),
        .mtt = RNIC_GET(EXTOLL_MSG_MTT, frame),
        .quadwords = RNIC_GET(EXTOLL_MSG_QUADWORDS, frame),
        .first = RNIC_GET(EXTOLL_MSG_FIRST, frame),
        .count = count,
        .split = frame & EXTOLL_MSG_SPLIT,
        .end = frame & EXTOLL_MSG_END,
    };
    memcpy(msg->data, data, count * 8);
    return EXTOLL_PACKET_OK;
}

unsigned extoll_packet_message_encode(uint8_t *buf, uint64_t route,
                                      const ExtollVeloMsg *msg)
{
    stq_le_p(buf, route);
    stq_le_p(buf + EXTOLL_ROUTING_BYTES,
             RNIC_PREP(EXTOLL_PKT_COMMAND, EXTOLL_CMD_VELO) |
             RNIC_PREP(EXTOLL_MSG_MTT, msg->mtt) |
             RNIC_PREP(EXTOLL_MSG_QUADWORDS, msg->quadwords) |
             RNIC_PREP(EXTOLL_MSG_FIRST, msg->first) |
             RNIC_PREP(EXTOLL_MSG_COUNT, msg->count) |
             RNIC_PREP(EXTOLL_MSG_SPLIT, msg->split) |
             RNIC_PREP(EXTOLL_MSG_END, msg->end) |
             RNIC_PREP(EXTOLL_MSG_SOURCE, msg->src_vpid) |
             RNIC_PREP(EXTOLL_MSG_VPID, msg->dst_vpid) |
             RNIC_PREP(EXTOLL_MSG_NODE, msg->src_node) |
             RNIC_PREP(EXTOLL_MSG_PROT, msg->prot));
    memcpy(buf + EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME, msg->data, msg->count * 8);
    return EXTOLL_ROUTING_BYTES + EXTOLL_MSG_FRAME + msg->count * 8;
}

/* Checks an address of a packet. */
static ExtollPacketStatus address_check(const ExtollPacket *pkt, uint64_t address)
{
    if (address >> EXTOLL_PA_BITS) {
        return EXTOLL_PACKET_RESERVED;
    }
    return extoll_one_page(address, pkt->bytes) ? EXTOLL_PACKET_OK : EXTOLL_PACKET_PAGE;
}

/* Checks the words of REFUSED. */
static ExtollPacketStatus refused_check(uint64_t word2)
{
    if (word2 & ~(EXTOLL_REFUSED_ERROR | EXTOLL_REFUSED_COMMAND)) {
        return EXTOLL_PACKET_RESERVED;
    }
    return RNIC_GET(EXTOLL_REFUSED_ERROR, word2) &&
           RNIC_GET(EXTOLL_REFUSED_COMMAND, word2) <= EXTOLL_CMD_IMMEDIATE ?
           EXTOLL_PACKET_OK : EXTOLL_PACKET_BAD_FIELD;
}

static ExtollPacketStatus words_check(const ExtollPacket *pkt)
{
    unsigned parts = parts_of[pkt->command];
    ExtollPacketStatus status = EXTOLL_PACKET_OK;

    if (!(parts & SIZED) && pkt->bytes != 1) {
        return EXTOLL_PACKET_BAD_FIELD;
    }
    if (parts & ADDRESS_1) {
        status = address_check(pkt, pkt->word1);
    }
    if (status == EXTOLL_PACKET_OK && (parts & ADDRESS_2)) {
        status = address_check(pkt, pkt->word2);
    }
    if (status != EXTOLL_PACKET_OK) {
        return status;
    }
    switch (pkt->command) {
    case EXTOLL_CMD_LOCK:
        return pkt->word2 & ~EXTOLL_LOCK_2_NUMBER ? EXTOLL_PACKET_RESERVED :
                                                    EXTOLL_PACKET_OK;
    case EXTOLL_CMD_NOTIFICATION:
        return pkt->word2 & ~EXTOLL_DESC_1_CLASS ? EXTOLL_PACKET_RESERVED :
                                                   EXTOLL_PACKET_OK;
    case EXTOLL_CMD_LOCK_RESPONSE:
        return pkt->word2 ? EXTOLL_PACKET_RESERVED : EXTOLL_PACKET_OK;
    case EXTOLL_CMD_IMMEDIATE:
        return pkt->bytes > 8 ? EXTOLL_PACKET_BAD_FIELD : EXTOLL_PACKET_OK;
    case EXTOLL_CMD_REFUSED:
        return refused_check(pkt->word2);
    default:
        return EXTOLL_PACKET_OK;
    }
}

ExtollPacketStatus extoll_packet_decode(const uint8_t *buf, size_t len, ExtollPacket *pkt)
{
    ExtollPacketStatus status;
    ExtollPacket p;
    uint64_t frame;

    if (len < EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME) {
        return EXTOLL_PACKET_SHORT;
    }
    frame = ldq_le_p(buf + EXTOLL_ROUTING_BYTES);
    p = (ExtollPacket) {
        .command = RNIC_GET(EXTOLL_PKT_COMMAND, frame),
        .notify = RNIC_GET(EXTOLL_PKT_NOTIFY, frame),
        .src_vpid = RNIC_GET(EXTOLL_PKT_SOURCE, frame),
        .dst_vpid = RNIC_GET(EXTOLL_PKT_VPID, frame),
        .lines = frame & EXTOLL_PKT_LINES,
        .irq = frame & EXTOLL_PKT_IRQ,
        .physical = frame & EXTOLL_PKT_PHYSICAL,
        .src_node = RNIC_GET(EXTOLL_PKT_NODE, frame),
        .prot = RNIC_GET(EXTOLL_PKT_PROT, frame),
        .bytes = RNIC_GET(EXTOLL_PKT_SIZE, frame) + 1,
        .word1 = ldq_le_p(buf + EXTOLL_ROUTING_BYTES + 8),
        .word2 = ldq_le_p(buf + EXTOLL_ROUTING_BYTES + 16),
    };
    if (!(parts_of[p.command] & KNOWN)) {
        return EXTOLL_PACKET_UNKNOWN;
    }
    if (len != rma_length(frame)) {
        return EXTOLL_PACKET_BAD_LENGTH;
    }
    status = words_check(&p);
    if (status == EXTOLL_PACKET_OK) {
        *pkt = p;
    }
    return status;
}

unsigned extoll_packet_payload_bytes(const ExtollPacket *pkt)
{
    return parts_of[pkt->command] & PAYLOAD ? pkt->bytes : 0;
}

unsigned extoll_packet_encode(uint8_t *buf, uint64_t route, const ExtollPacket *pkt)
{
    unsigned payload = extoll_packet_payload_bytes(pkt);

    stq_le_p(buf, route);
    stq_le_p(buf + EXTOLL_ROUTING_BYTES,
             RNIC_PREP(EXTOLL_PKT_COMMAND, pkt->command) |
             RNIC_PREP(EXTOLL_PKT_NOTIFY, pkt->notify) |
             (pkt->lines ? EXTOLL_PKT_LINES : 0) |
             RNIC_PREP(EXTOLL_PKT_SIZE, pkt->bytes - 1) |
             RNIC_PREP(EXTOLL_PKT_SOURCE, pkt->src_vpid) |
             RNIC_PREP(EXTOLL_PKT_VPID, pkt->dst_vpid) |
             (pkt->irq ? EXTOLL_PKT_IRQ : 0) |
             (pkt->physical ? EXTOLL_PKT_PHYSICAL : 0) |
             RNIC_PREP(EXTOLL_PKT_NODE, pkt->src_node) |
             RNIC_PREP(EXTOLL_PKT_PROT, pkt->prot));
    stq_le_p(buf + EXTOLL_ROUTING_BYTES + 8, pkt->word1);
    stq_le_p(buf + EXTOLL_ROUTING_BYTES + 16, pkt->word2);
    memset(extoll_packet_payload(buf) + payload, 0, padded(payload) - payload);
    return EXTOLL_ROUTING_BYTES + EXTOLL_RMA_FRAME + padded(payload);
}
