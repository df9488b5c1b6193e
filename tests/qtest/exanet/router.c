/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device among several neighbours; see router.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "router.h"

#define STREAM_TTL 100

const uint32_t exanet_around[PORTS] = {
    [F2] = AT(1, 1, 1), [F3] = AT(2, 1, 1), [F4] = AT(3, 1, 1),
    [XP] = AT(0, 2, 1), [XM] = AT(0, 0, 1),
    [YP] = AT(0, 1, 2), [YM] = AT(0, 1, 0), [UP] = ELSEWHERE,
};

ExanetTest *exanet_router_start(void)
{
    g_autoptr(GString) props = g_string_new(",dims=4x4");

    /* without peerN the device would refuse neighbours after a test moves it */
    for (unsigned i = 0; i < PORTS; i++) {
        g_string_append_printf(props, ",peer%u=0x%x", i, exanet_around[i]);
    }
    return exanet_start_ports(HERE, exanet_around, PORTS, props->str);
}

uint64_t exanet_port_get(ExanetTest *t, unsigned port, unsigned reg)
{
    return exanet_get64(t, EXANET_PORT(port) + reg);
}

uint32_t exanet_port_status(ExanetTest *t, unsigned port)
{
    return exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_STATUS);
}

ExanetPacket exanet_router_packet(enum exanet_type type, uint32_t src,
                                  uint32_t dst, unsigned path)
{
    static const uint8_t payload[EXANET_MTU] = { 0xe4, 0xa7, 1, 2, 3 };

    bool release = type == EXANET_TYPE_RELEASE;

    return (ExanetPacket) {
        .type = type, .src = src, .dst = dst, .path = path,
        .va = release ? EXANET_NI_VA(EXANET_NI_RECEIVER) : EXANET_RAM_DST + 5,
        .size = release ? 0 : 77, .payload = payload,
        .epoch = type == EXANET_TYPE_ACK ? EXANET_TEST_EPOCH : 0x2a,
        .pdid = EXANET_TEST_PDID(0), .tid = 0x1234, .seq = 9, .ttl = STREAM_TTL,
        .hops = 3, .user = 0x35a, .small = 0x155, .first = true, .notify = true,
        .flow_dst = 0x12345, .current = 0x6b, .desired = 0x5a,
        .vc = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0,
    };
}

void exanet_router_send(ExanetTest *t, unsigned port, const ExanetPacket *pkt)
{
    uint64_t seen = exanet_port_get(t, port, EXANET_REG_PORT_RX_PACKETS) + 1;
    ExanetPeer *p = t->ports[port];

    p->vc = pkt->vc;
    exanet_peer_send(p, pkt);
    p->vc = 0;
    exanet_wait(t, exanet_port_get(t, port, EXANET_REG_PORT_RX_PACKETS) == seen);
}

/* Copies the bytes of a packet except those that a switch may change. */
static void still_bytes(const ExanetRxPacket *rx, uint8_t *buf)
{
    uint8_t *footer = buf + (rx->words - 1) * EXANET_WORD_BYTES;
    uint64_t vary[4] = { EXANET_HDR_LO_VC, 0, 0, 0 };

    memcpy(buf, rx->buf, rx->words * EXANET_WORD_BYTES);
    if (rx->pkt.type == EXANET_TYPE_ACK) {
        vary[1] = EXANET_ACK_HI_HOPS;
    } else if (rx->pkt.type == EXANET_TYPE_FLOW_RATE) {
        vary[0] |= EXANET_FLOW_LO_HOPS;
    } else {
        vary[2] = EXANET_FTR_LO_TTL_2_0;
        vary[3] = EXANET_FTR_HI_TTL_14_3;
    }
    stq_le_p(buf, ldq_le_p(buf) & ~vary[0]);
    stq_le_p(buf + 8, ldq_le_p(buf + 8) & ~vary[1]);
    stq_le_p(footer, ldq_le_p(footer) & ~vary[2]);
    stq_le_p(footer + 8, ldq_le_p(footer + 8) & ~vary[3]);
}

void exanet_router_expect(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                          unsigned vc)
{
    g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[port]);
    uint8_t have[EXANET_PACKET_BYTES], want[EXANET_PACKET_BYTES];
    ExanetRxPacket sent = { .pkt = *pkt };

    sent.words = exanet_peer_encode(sent.buf, pkt);
    g_assert_cmpuint(rx->words, ==, sent.words);
    still_bytes(rx, have);
    still_bytes(&sent, want);
    g_assert_cmpmem(have, rx->words * EXANET_WORD_BYTES, want,
                    sent.words * EXANET_WORD_BYTES);
    g_assert_cmpuint(rx->pkt.vc, ==, vc);
    if (rx->words == 1) {
        g_assert_cmpuint(rx->pkt.hops, ==, pkt->hops + 1);
    } else {
        g_assert_cmpuint(rx->pkt.ttl, ==, pkt->ttl - 1);
    }
}

void exanet_assert_drops(ExanetTest *t, enum exanet_counter why, unsigned n)
{
    for (unsigned i = EXANET_CNT_DROP_HEADER_CRC;
         i <= EXANET_CNT_DROP_SOURCE; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_COUNTER(i)), ==,
                         i == why ? n : 0);
    }
    exanet_set64(t, EXANET_COUNTER(why), 0);
}

void exanet_assert_dropped(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                           enum exanet_counter why)
{
    bool protocol = why == EXANET_CNT_DROP_SOURCE ||
                    why == EXANET_CNT_DROP_MALFORMED;

    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_PROTOCOL);
    exanet_router_send(t, port, pkt);
    exanet_assert_drops(t, why, 1);
    g_assert_cmpint(!!(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                       EXANET_IRQ_PROTOCOL), ==, protocol);
    exanet_assert_quiet(t);
}

void exanet_assert_passed(ExanetTest *t, unsigned in, unsigned out,
                          const ExanetPacket *pkt, unsigned vc)
{
    uint64_t forwarded = exanet_count(t, FORWARDED);

    exanet_router_send(t, in, pkt);
    exanet_router_expect(t, out, pkt, vc);
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, forwarded + 1);
}

void exanet_assert_own_route(ExanetTest *t, uint32_t dst, int port)
{
    g_autofree ExanetRxPacket *rx = NULL;
    uint64_t sent = exanet_count(t, TX_WRITE) + 1;

    exanet_pktz_start(t, 0, 0, exanet_gva(dst, EXANET_RAM_DST), "r", 1, 0);
    exanet_wait(t, exanet_count(t, TX_WRITE) == sent);
    exanet_assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, port < 0);
    if (port >= 0) {
        rx = exanet_peer_take(t->ports[port]);
        g_assert_cmphex(rx->pkt.dst, ==, dst);
        g_assert_cmphex(rx->pkt.src, ==, exanet_get32(t, EXANET_REG_NODE));
        g_assert_cmpuint(rx->pkt.ttl, ==, EXANET_TTL_MAX);
        g_assert_cmpuint(rx->pkt.vc & ~EXANET_VC_DATELINE, ==, 0);
    }
    exanet_assert_quiet(t);
}

void exanet_port_stop(ExanetTest *t, unsigned port)
{
    exanet_peer_frame(t->ports[port], RNIC_LINK_XOFF, NULL, 0);
    exanet_wait(t, exanet_port_status(t, port) & EXANET_PORT_STATUS_PEER_XOFF);
}

unsigned exanet_port_level(ExanetTest *t, unsigned port)
{
    return RNIC_GET(EXANET_PORT_LEVEL_RX,
                    exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_LEVEL));
}

void exanet_stream_send(ExanetTest *t, unsigned port, uint32_t src, uint32_t dst,
                        unsigned from, unsigned to)
{
    g_autofree uint8_t *buf = g_malloc((to - from) * EXANET_PACKET_BYTES);
    ExanetPacket pkt = exanet_router_write(src, dst, 0);
    unsigned words = 0;

    for (unsigned i = from; i < to; i++) {
        pkt.tid = i;
        words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
    }
    exanet_peer_words(t->ports[port], buf, words);
}

void exanet_stream_take(ExanetTest *t, unsigned port, uint32_t src,
                        unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[port]);

        g_assert_cmphex(rx->pkt.src, ==, src);
        g_assert_cmpuint(rx->pkt.tid, ==, i);
        g_assert_cmpuint(rx->pkt.ttl, ==, STREAM_TTL - 1);
    }
}

