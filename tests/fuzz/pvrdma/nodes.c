/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bed of pvrdma: the two nodes at the other end of the wire; see bed.h. */
#include "bed.h"

#define SPORT       0xc123

const uint8_t bed_mac[6] = { 0x52, 0x54, 0, 0x12, 0x34, 0x56 };
const uint8_t bed_peer_mac[6] = { 0x52, 0x54, 0, 0xab, 0xcd, 0xef };
const uint8_t bed_gid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
const uint8_t bed_honest_gid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };
const uint8_t bed_evil_gid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 3 };

/* Returns true if @value is equal to 4 consecutive bytes of the repeated secret. */
static bool is_secret(uint32_t value)
{
    for (unsigned i = 0; i < sizeof(uint64_t); i++) {
        if (value == (uint32_t)ror64(BED_SECRET, 8 * i)) {
            return true;
        }
    }
    return false;
}

void bed_assert_no_secret(const uint8_t *bytes, size_t len)
{
    const uint32_t tops = 0x80808080;

    for (size_t i = 0; i + sizeof(uint32_t) <= len; i++) {
        uint32_t value = ldl_le_p(bytes + i);

        g_assert_false((value & tops) == tops && is_secret(value));
    }
}

/* --- Frames --------------------------------------------------------------------- */

static void node_send(const uint8_t gid[16], const RocePacket *pkt,
                      const uint8_t *payload, uint32_t len, uint16_t damage_at,
                      uint8_t damage)
{
    uint8_t frame[ROCE_FRAME_MAX + 4] = { 0 };
    RocePath path = {
        .vlan = ROCE_NO_VLAN, .sport = SPORT, .hop_limit = 64,
        .network = bed.flags & BED_ROCE_V1 ? ROCE_NETWORK_V1 : ROCE_NETWORK_IPV4,
        .traffic_class = pkt->fecn ? ROCE_ECN_CE : 0,
    };
    size_t at;

    memcpy(path.smac, bed_peer_mac, sizeof(path.smac));
    memcpy(path.dmac, bed_mac, sizeof(path.dmac));
    memcpy(path.sgid, gid, sizeof(path.sgid));
    memcpy(path.dgid, bed_gid, sizeof(path.dgid));
    at = roce_frame_begin(frame, &path, pkt);
    len = MIN(len, ROCE_MTU_MAX);
    if (len) {
        memcpy(frame + at, payload, len);
    }
    len = roce_frame_end(frame, at, len);
    frame[damage_at % len] ^= damage;
    box_frame(0, frame, len);
}

void bed_evil_send(const RocePacket *pkt, const uint8_t *payload, uint32_t len,
                   uint16_t damage_at, uint8_t damage)
{
    node_send(bed_evil_gid, pkt, payload, len, damage_at, damage);
}

/* --- EVIL_NODE ------------------------------------------------------------------ */

static unsigned qp_mtu(unsigned qp)
{
    PvrdmaQp *state = bed_qp_state(qp);

    return state && state->mtu ? state->mtu : 256;
}

/*
 * Stores a request to EVIL_NODE that wants a response; forgets the oldest request if
 * the table is full.  Asserts that the packet does not contain the secret, unless the
 * kernel is hostile.
 */
static void evil_take(const RocePacket *pkt)
{
    uint32_t flags = roce_opcode_info(pkt->opcode)->flags;
    unsigned qp = pkt->qpn - BED_EVIL_QPN;
    BedPeer *peer = &bed.peer[qp % BED_QP_EVIL];
    uint8_t original[8];

    if (!bed_is_hostile_kernel()) {
        bed_assert_no_secret(pkt->payload, pkt->payload_len);
        /* original value in an ATOMIC ACK, in the byte order of memory */
        stq_le_p(original, pkt->original);
        bed_assert_no_secret(original, sizeof(original));
    }
    if (qp >= BED_QP_EVIL || !(flags & ROCE_IS_REQUEST)) {
        return;
    }
    peer->last_psn = pkt->psn;
    if (!pkt->ack_req && !(flags & (ROCE_IS_READ | ROCE_IS_ATOMIC))) {
        return;
    }
    if (peer->requests == BED_REQUESTS) {
        bed_evil_forget(qp, 1);
    }
    peer->request[peer->requests++] = (BedRequest) {
        .opcode = pkt->opcode, .ack_req = pkt->ack_req, .psn = pkt->psn,
        .packets = flags & ROCE_IS_READ ? roce_packets(pkt->dma_len, qp_mtu(qp)) : 1,
        .len = flags & ROCE_IS_READ ? pkt->dma_len : 0,
    };
}

void bed_evil_forget(unsigned qp, unsigned count)
{
    BedPeer *peer = &bed.peer[qp];

    count = MIN(count, peer->requests);
    peer->requests -= count;
    memmove(peer->request, peer->request + count,
            peer->requests * sizeof(*peer->request));
}

static uint8_t read_opcode(const BedRequest *r)
{
    bool first = !r->answered, last = r->answered + 1 == r->packets;

    return first ? (last ? ROCE_OP_READ_RESP_ONLY : ROCE_OP_READ_RESP_FIRST) :
                   (last ? ROCE_OP_READ_RESP_LAST : ROCE_OP_READ_RESP_MIDDLE);
}

/* Sends the next packet of the response to @r. */
static void evil_answer_one(unsigned qp, BedRequest *r)
{
    static const uint8_t data[ROCE_MTU_MAX] = { 0x11, 0x22, 0x33 };
    uint32_t flags = roce_opcode_info(r->opcode)->flags, mtu = qp_mtu(qp);
    RocePacket pkt = {
        .opcode = flags & ROCE_IS_READ ? read_opcode(r) :
                  flags & ROCE_IS_ATOMIC ? ROCE_OP_ATOMIC_ACK : ROCE_OP_ACK,
        .syndrome = ROCE_AETH_NO_CREDITS, .pkey = ROCE_PKEY_DEFAULT,
        .qpn = bed.qp[qp].key, .psn = roce_psn_add(r->psn, r->answered),
        .msn = ++bed.peer[qp].msn, .original = 5,
    };
    uint32_t len = MIN(r->len - MIN(r->len, r->answered * mtu), mtu);

    bed_evil_send(&pkt, data, len, 0, 0);
    r->answered++;
}

void bed_evil_answer(unsigned qp, unsigned count)
{
    BedPeer *peer = &bed.peer[qp];

    while (count-- && peer->requests) {
        evil_answer_one(qp, &peer->request[0]);
        if (peer->request[0].answered == peer->request[0].packets) {
            bed_evil_forget(qp, 1);
        }
    }
}

/* --- HONEST_NODE ---------------------------------------------------------------- */

static void honest_reply(const RocePacket *pkt, const uint8_t *payload, uint32_t len)
{
    RocePacket reply = *pkt;

    reply.pkey = ROCE_PKEY_DEFAULT;
    reply.qpn = bed.qp[BED_QP_HONEST].key;
    node_send(bed_honest_gid, &reply, payload, len, 0, 0);
}

static void honest_ack(uint8_t syndrome, uint32_t psn)
{
    honest_reply(&(RocePacket) {
        .opcode = ROCE_OP_ACK, .syndrome = syndrome, .psn = psn,
        .msn = bed.msn & 0xffffff,
    }, NULL, 0);
}

static void honest_read(const RocePacket *pkt)
{
    uint32_t mtu = qp_mtu(BED_QP_HONEST);
    BedRequest r = { .packets = roce_packets(pkt->dma_len, mtu) };

    g_assert_cmpuint(pkt->va - BED_VA + pkt->dma_len, <=, sizeof(bed.honest_bytes));
    for (; r.answered < r.packets; r.answered++) {
        uint32_t at = r.answered * mtu;

        honest_reply(&(RocePacket) {
            .opcode = read_opcode(&r), .syndrome = ROCE_AETH_NO_CREDITS,
            .psn = roce_psn_add(pkt->psn, r.answered), .msn = bed.msn & 0xffffff,
        }, bed.honest_bytes + (pkt->va - BED_VA) + at, MIN(mtu, pkt->dma_len - at));
    }
}

static void honest_write(const RocePacket *pkt, uint32_t flags)
{
    if (flags & ROCE_IS_FIRST) {
        bed.write_at = pkt->va - BED_VA;
    }
    g_assert_cmpuint(bed.write_at + pkt->payload_len, <=, sizeof(bed.honest_bytes));
    memcpy(bed.honest_bytes + bed.write_at, pkt->payload, pkt->payload_len);
    bed.write_at += pkt->payload_len;
}

/*
 * Serves a request of HONEST: executes it once, and answers with data, an ACK or a NAK.
 * Counts ACKs of the node's own message.
 */
static void honest_take(const RocePacket *pkt)
{
    uint32_t flags = roce_opcode_info(pkt->opcode)->flags;
    int32_t ahead = roce_psn_diff(pkt->psn, bed.epsn);

    if (flags & ROCE_IS_RESPONSE) {
        bed.acked += pkt->opcode == ROCE_OP_ACK && !(pkt->syndrome & 0x60) &&
                     pkt->psn == bed.honest_psn;
        return;
    }
    if (ahead > 0) {
        honest_ack(ROCE_AETH_SYN(ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE), bed.epsn);
        return;
    }
    if (!ahead) {
        bed.msn += !!(flags & ROCE_IS_LAST) || (flags & ROCE_IS_READ);
        bed.sends += flags & ROCE_IS_SEND && flags & ROCE_IS_LAST;
        if (flags & ROCE_IS_WRITE) {
            honest_write(pkt, flags);
        }
        bed.epsn = roce_psn_add(bed.epsn, flags & ROCE_IS_READ ?
                   roce_packets(pkt->dma_len, qp_mtu(BED_QP_HONEST)) : 1);
    }
    if (flags & ROCE_IS_READ) {
        honest_read(pkt);
    } else if (pkt->ack_req || ahead) {
        honest_ack(ROCE_AETH_NO_CREDITS, roce_psn_add(bed.epsn, ROCE_PSN_MASK));
    }
}

void bed_honest_send(void)
{
    static const uint8_t text[] = "a message of the honest node";

    honest_reply(&(RocePacket) {
        .opcode = ROCE_OP_SEND_ONLY, .psn = bed.honest_psn, .ack_req = true,
    }, text, sizeof(text));
}

void bed_frame_sent(unsigned wire, const uint8_t *frame, size_t len)
{
    RocePath path;
    RocePacket pkt;

    g_assert_cmpint(roce_frame_parse(frame, len, &path, &pkt), ==, ROCE_OK);
    g_assert_cmpuint(pkt.payload_len, <=, bed.s->mtu);
    if (!memcmp(path.dgid, bed_honest_gid, sizeof(path.dgid))) {
        if (RNIC_GET(ROCE_OP_TRANSPORT, pkt.opcode) == ROCE_RC &&
            pkt.qpn == BED_EVIL_QPN + BED_QP_HONEST && !bed_is_hostile_kernel()) {
            honest_take(&pkt);
        }
    } else {
        evil_take(&pkt);
    }
}
