/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packets and runs as a port receives them: the target encodes and damages them,
 * puts packets in frames into the RX FIFO, finds the packets in the FIFO, and decodes
 * them.
 */
#include "../fuzz.h"
#include "hw/rnic/link/port-fifo.h"
#include "hw/rnic/exanet/base/wire.h"
#include "rnic/exanet/regs.h"

#define FRAME_PACKETS 4

typedef struct Made {
    uint8_t buf[EXANET_PACKET_BYTES];
    unsigned words;
    ExanetPacket pkt;
    bool damaged;
} Made;

static void packet_fields(FuzzInput *in, ExanetPacket *p)
{
    static const uint8_t types[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
        EXANET_TYPE_AXI_READ, EXANET_TYPE_NOTIFY, EXANET_TYPE_RELEASE,
        EXANET_TYPE_AXI_WRITE, EXANET_TYPE_ACK, EXANET_TYPE_AXI_RESPONSE,
        EXANET_TYPE_FLOW_RATE,
    };
    uint8_t type = fuzz_u8(in);
    uint16_t flags;

    *p = (ExanetPacket) {
        .type = type & 0x80 ? type & 0x1f : types[type % ARRAY_SIZE(types)],
    };
    p->va = fuzz_u64(in);
    p->dst = fuzz_u32(in);
    p->src = fuzz_u32(in);
    p->pdid = fuzz_u16(in);
    p->size = fuzz_u16(in);
    p->tid = fuzz_u16(in);
    p->seq = fuzz_u16(in);
    p->user = fuzz_u16(in);
    p->ttl = fuzz_u16(in);
    flags = fuzz_u16(in);
    p->first = flags & 1;
    p->last = flags & 2;
    p->notify = flags & 4;
    p->vc = flags >> 3 & 0x1f;
    p->path = flags >> 8 & 7;
    p->resp = flags >> 11 & 0xf;
    p->no_crc = flags >> 15;
    p->epoch = fuzz_u8(in);
    p->hops = fuzz_u8(in);
    p->small = p->user;
    p->flow_dst = p->src;
    p->current = p->tid;
    p->desired = p->seq;
}

/* Returns true if the encoder writes @p within EXANET_PACKET_BYTES. */
static bool packet_fits(const ExanetPacket *p)
{
    return p->type == EXANET_TYPE_AXI_READ || p->size == 0 ||
           exanet_payload_words(p->va, p->size) <= EXANET_PAYLOAD_WORDS;
}

static void packet_make(FuzzInput *in, Made *m)
{
    unsigned count = 0;

    packet_fields(in, &m->pkt);
    m->pkt.size &= RNIC_GET(EXANET_HDR_LO_SIZE, UINT64_MAX);
    if (m->pkt.type != EXANET_TYPE_AXI_READ) {
        m->pkt.size = packet_fits(&m->pkt) ? m->pkt.size : m->pkt.size % 241;
    }
    memset(m->buf, fuzz_u8(in), sizeof(m->buf));
    switch (m->pkt.type) {
    case EXANET_TYPE_ACK:
        exanet_ack_encode(m->buf, &m->pkt);
        m->words = 1;
        break;
    case EXANET_TYPE_FLOW_RATE:
        exanet_flow_rate_encode(m->buf, &m->pkt);
        m->words = 1;
        break;
    default:
        m->words = exanet_packet_encode(m->buf, &m->pkt);
    }
    g_assert_cmpuint(m->words, <=, EXANET_PACKET_WORDS);
    count = fuzz_u8(in) & 3;
    m->damaged = count;
    while (count--) {
        uint16_t at = fuzz_u16(in) % (m->words * EXANET_WORD_BYTES);

        m->buf[at] ^= fuzz_u8(in);
    }
}

/*
 * Asserts that the decoder has returned the packet that was encoded; called for
 * undamaged packets only.
 */
static void packet_same(const ExanetPacket *a, const ExanetPacket *b)
{
    g_assert_cmpuint(a->type, ==, b->type);
    g_assert_cmphex(a->dst, ==, b->dst & EXANET_COORD_MASK);
    g_assert_cmpuint(a->vc, ==, b->vc & 0x1f);
    if (a->type == EXANET_TYPE_ACK) {
        g_assert_cmphex(a->small, ==, b->small & 0x3ff);
        g_assert_cmphex(a->tid, ==, b->tid & 0x3fff);
        g_assert_cmpuint(a->resp, ==, b->resp);
        g_assert_cmpuint(a->epoch, ==, b->epoch);
    } else if (a->type == EXANET_TYPE_FLOW_RATE) {
        g_assert_cmphex(a->flow_dst, ==, b->flow_dst & EXANET_COORD_MASK);
        g_assert_cmpuint(a->desired, ==, b->desired);
    } else {
        g_assert_cmphex(a->src, ==, b->src & EXANET_COORD_MASK);
        g_assert_cmphex(a->va, ==, b->va & EXANET_GVA_VA);
        g_assert_cmpuint(a->size, ==, b->size);
        g_assert_cmphex(a->pdid, ==, b->pdid);
        g_assert_cmphex(a->tid, ==, b->tid & 0x3fff);
        g_assert_cmphex(a->seq, ==, b->seq & 0x3fff);
        g_assert_cmphex(a->user, ==, b->user & 0xfff);
        g_assert_cmphex(a->ttl, ==, b->ttl & EXANET_TTL_MAX);
        g_assert_cmpint(a->no_crc, ==, b->no_crc);
        g_assert_false(a->bad_payload);
    }
}

/*
 * Computes the payload CRC of the decoded packet @got of @words words at @buf, as a
 * switch does: then the packet has a valid CRC, and no other field has changed.
 */
static void crc_add(uint8_t *buf, unsigned words, const ExanetPacket *got)
{
    ExanetWireStatus status;
    ExanetPacket after;

    if (!exanet_packet_no_crc(buf, words)) {
        g_assert_false(words > 1 && got->no_crc);
        return;
    }
    exanet_packet_crc_add(buf, words);
    g_assert_cmpuint(exanet_packet_words(buf, &status), ==, words);
    g_assert_cmpint(exanet_packet_decode(buf, words, &after), ==, EXANET_WIRE_OK);
    g_assert_false(after.no_crc || after.bad_payload);
    g_assert_cmphex(after.va, ==, got->va);
    g_assert_cmphex(after.src, ==, got->src);
    g_assert_cmphex(after.seq, ==, got->seq);
    g_assert_cmpuint(after.ttl, ==, got->ttl);
    g_assert_cmpuint(after.path, ==, got->path);
    g_assert_true(after.payload == got->payload);
}

static void packet_read(const uint8_t *buf, unsigned words, const ExanetPacket *sent)
{
    uint8_t copy[EXANET_PACKET_BYTES];
    ExanetWireStatus status;
    ExanetPacket got;
    unsigned ttl;

    memcpy(copy, buf, words * EXANET_WORD_BYTES);
    status = exanet_packet_decode(copy, words, &got);
    if (status != EXANET_WIRE_OK) {
        g_assert_null(sent);
        return;
    }
    if (sent) {
        packet_same(&got, sent);
    }
    crc_add(copy, words, &got);
    if (words > 2 || (words == 2 && got.size && got.type != EXANET_TYPE_AXI_READ)) {
        g_assert_true(got.payload >= copy + EXANET_WORD_BYTES);
        g_assert_true(got.payload + got.size <=
                      copy + (words - 1) * EXANET_WORD_BYTES);
    }
    /* a switch may change fields that no CRC covers */
    ttl = got.ttl;
    exanet_packet_vc_set(copy, 3);
    if (exanet_packet_hop(copy, words)) {
        g_assert_cmpuint(exanet_packet_words(copy, &status), ==, words);
        g_assert_cmpint(exanet_packet_decode(copy, words, &got), ==,
                        EXANET_WIRE_OK);
        g_assert_cmpuint(got.vc, ==, 3);
        if (words > 1) {
            g_assert_cmpuint(got.ttl, ==, ttl - 1);
            g_assert_cmphex(exanet_packet_src(copy, words), ==, got.src);
        }
    } else if (words > 1) {
        g_assert_cmpuint(ttl, ==, 0);
    }
    g_assert_cmphex(exanet_packet_dst(copy), ==, got.dst);
    g_assert_cmpuint(exanet_packet_path(copy), <, EXANET_PATHS);
}

/*
 * Splits one frame of the FIFO into packets, as a port does, and compares them with
 * @made.
 */
static void frame_read(RNicPortFifo *f, const Made *made, unsigned count)
{
    bool synchronous = true;
    const uint8_t *head;

    for (unsigned i = 0; (head = rnic_port_fifo_head(f)); i++) {
        ExanetWireStatus status;
        unsigned words = exanet_packet_words(head, &status);

        g_assert_cmpuint(words, <=, EXANET_PACKET_WORDS);
        g_assert_cmpint(status == EXANET_WIRE_OK, ==, words != 0);
        synchronous = synchronous && i < count && !made[i].damaged;
        if (synchronous && words) {
            g_assert_cmpuint(words, ==, made[i].words);
        } else if (synchronous) {
            g_assert_cmpint(status, ==, EXANET_WIRE_MALFORMED);
        }
        if (words == 0 || words > f->left) {
            rnic_port_fifo_skip(f, f->left);
            return;
        }
        packet_read(head, words, synchronous ? &made[i].pkt : NULL);
        rnic_port_fifo_skip(f, words);
        if (!f->left) {
            return;
        }
    }
}

/*
 * Encodes a run, damages the run, and reads the run as a port does.  An undamaged run
 * gives the packets that were encoded, bit for bit.
 */
static void run_check(FuzzInput *in)
{
    static uint8_t buf[(EXANET_RUN_MAX + 2) * EXANET_MTU];
    unsigned packets = 2 + fuzz_u8(in) % (EXANET_RUN_MAX - 1), damage, n;
    uint8_t split[EXANET_PACKET_BYTES], alone[EXANET_PACKET_BYTES];
    ExanetPacket pkt, run, one;
    ExanetWireStatus status;

    packet_fields(in, &pkt);
    pkt.type = EXANET_TYPE_WRITE;
    pkt.size = EXANET_MTU;
    pkt.va &= ~(uint64_t)(EXANET_MTU - 1);
    pkt.payload = exanet_run_payload(buf);
    pkt.packets = packets;
    memset(exanet_run_payload(buf), fuzz_u8(in), packets * EXANET_MTU);
    exanet_run_encode(buf, &pkt);
    damage = fuzz_u8(in) & 3;
    for (unsigned i = 0; i < damage; i++) {
        uint16_t at = fuzz_u16(in) % (exanet_run_words(packets) * EXANET_WORD_BYTES);

        buf[at] ^= fuzz_u8(in);
    }
    n = exanet_run_word(buf) ? exanet_run_packets(buf, &status) : 0;
    g_assert_cmpuint(n, <=, EXANET_RUN_MAX);
    g_assert_true(n != 1 && (damage || n == packets));
    if (!n || n > packets || !exanet_run_valid(buf, n) ||
        exanet_run_decode(buf, &run) != EXANET_WIRE_OK) {
        g_assert_true(damage || pkt.va % EXANET_BLOCK_BYTES + packets * EXANET_MTU >
                                EXANET_BLOCK_BYTES);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        exanet_run_packet(&run, i, split);
        g_assert_cmpint(exanet_packet_decode(split, EXANET_PACKET_WORDS, &one), ==,
                        EXANET_WIRE_OK);
        g_assert_cmpint(one.bad_payload, ==, run.bad_payload);
        g_assert_cmphex(one.va, ==, run.va + i * EXANET_MTU);
        if (!damage) {
            exanet_run_split(&pkt, i, &one);
            memcpy(exanet_packet_payload(alone, one.va),
                   exanet_run_payload(buf) + i * EXANET_MTU, EXANET_MTU);
            exanet_packet_encode(alone, &one);
            g_assert_cmpmem(split, sizeof(split), alone, sizeof(alone));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    RNicPortFifo f = { };
    Made made[FRAME_PACKETS];
    uint8_t frame[FRAME_PACKETS * EXANET_PACKET_BYTES + EXANET_WORD_BYTES];

    while (in.left) {
        unsigned count = 0, words = 0, cut;
        uint8_t how = fuzz_u8(&in);

        if (how & 0x20) {
            run_check(&in);
            continue;
        }
        for (; count <= how % FRAME_PACKETS; count++) {
            packet_make(&in, &made[count]);
            memcpy(frame + words * EXANET_WORD_BYTES, made[count].buf,
                   made[count].words * EXANET_WORD_BYTES);
            words += made[count].words;
        }
        cut = how & 0x10 ? fuzz_u8(&in) % words : 0;
        rnic_port_fifo_put(&f, frame, words - cut);
        /* packets are compared only if the last packet is whole */
        frame_read(&f, made, cut ? 0 : count);
        g_assert_cmpuint(f.count, ==, 0);
        rnic_port_fifo_trim(&f);
    }
    rnic_port_fifo_fini(&f);
    return 0;
}
