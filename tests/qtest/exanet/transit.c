/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device between three peers; see transit.h. */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "transit.h"

#define DST EXANET_RAM_DST
#define PACKETS_MAX 65536

ExanetTest *transit_start(const char *props)
{
    static const uint32_t peers[] = { LEFT, RIGHT, ABOVE };
    ExanetTest *t = exanet_start_ports(MIDDLE, peers, ARRAY_SIZE(peers), props);

    /* sources get no FLOW_RATE, so that packets wait in the device */
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    return t;
}

uint64_t transit_get(ExanetTest *t, unsigned port, unsigned reg)
{
    return exanet_get64(t, EXANET_PORT(port) + reg);
}

uint32_t transit_get32(ExanetTest *t, unsigned port, unsigned reg)
{
    return exanet_get32(t, EXANET_PORT(port) + reg);
}

void transit_set32(ExanetTest *t, unsigned port, unsigned reg, uint32_t value)
{
    exanet_set32(t, EXANET_PORT(port) + reg, value);
}

uint32_t transit_status(ExanetTest *t, unsigned port, uint32_t field)
{
    return RNIC_GET(field, transit_get32(t, port, EXANET_REG_PORT_STATUS));
}

unsigned transit_level(ExanetTest *t, unsigned port, uint32_t field)
{
    return RNIC_GET(field, transit_get32(t, port, EXANET_REG_PORT_LEVEL));
}

ExanetPacket transit_packet(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                            unsigned n)
{
    static const uint8_t data[EXANET_MTU];
    ExanetPeer *p = t->ports[from];

    return (ExanetPacket) {
        .type = EXANET_TYPE_WRITE, .dst = dst, .src = p->coord,
        .epoch = p->epoch, .pdid = EXANET_TEST_PDID(0), .vc = vc,
        .path = vc & EXANET_VC_ORDER ? EXANET_PATH_ORDER : 0,
        .ttl = EXANET_TTL_MAX, .tid = n % EXANET_TIDS,
        .va = DST + n % PACKETS_MAX * EXANET_MTU, .size = EXANET_MTU,
        .payload = data, .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
    };
}

void transit_send(ExanetTest *t, unsigned from, uint32_t dst, unsigned vc,
                  unsigned first, unsigned count)
{
    g_autofree uint8_t *buf = g_malloc0(FRAME_PACKETS * EXANET_PACKET_BYTES);
    ExanetPeer *p = t->ports[from];
    unsigned most = MIN(FRAME_PACKETS,
                        p->hello.max_words / EXANET_PACKET_WORDS);

    p->vc = vc;
    while (count) {
        unsigned n = MIN(count, most);
        unsigned words = 0;

        for (unsigned i = 0; i < n; i++) {
            ExanetPacket pkt = transit_packet(t, from, dst, vc, first + i);

            words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
        }
        exanet_peer_words(p, buf, words);
        first += n;
        count -= n;
    }
}

void transit_send_acks(ExanetTest *t, unsigned from, uint32_t dst, unsigned count)
{
    g_autofree uint8_t *buf = g_malloc0(count * EXANET_WORD_BYTES);

    for (unsigned i = 0; i < count; i++) {
        ExanetPacket ack = {
            .type = EXANET_TYPE_ACK, .dst = dst, .tid = i,
            .small = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
        };

        exanet_ack_encode(buf + i * EXANET_WORD_BYTES, &ack);
    }
    t->ports[from]->vc = 0;
    exanet_peer_words(t->ports[from], buf, count);
}

void transit_flow(ExanetTest *t, unsigned port, unsigned vc, bool xoff)
{
    t->ports[port]->vc = vc;
    exanet_peer_frame(t->ports[port],
                      xoff ? RNIC_LINK_XOFF : RNIC_LINK_XON, NULL, 0);
    exanet_wait(t, xoff == !!(transit_status(t, port,
                                             EXANET_PORT_STATUS_PEER_XOFF_VC) &
                              BIT(vc)));
}

unsigned transit_arrived(ExanetTest *t)
{
    exanet_settle(t);
    return g_queue_get_length(&t->ports[R]->packets);
}

void transit_take(ExanetTest *t, unsigned vc, unsigned first, unsigned count)
{
    exanet_wait(t, g_queue_get_length(&t->ports[R]->packets) >= count);
    for (unsigned i = 0; i < count; i++) {
        g_autofree ExanetRxPacket *rx =
            g_queue_pop_head(&t->ports[R]->packets);

        g_assert_cmpuint(rx->pkt.type, ==, EXANET_TYPE_WRITE);
        g_assert_cmpuint(rx->pkt.vc, ==, vc);
        g_assert_cmphex(rx->pkt.va, ==,
                        DST + (first + i) % PACKETS_MAX * EXANET_MTU);
        g_assert_cmpuint(rx->pkt.ttl, ==, EXANET_TTL_MAX - 1);
    }
}

void transit_assert_none_lost(ExanetTest *t)
{
    for (unsigned port = L; port <= A; port++) {
        g_assert_cmpuint(transit_get(t, port, EXANET_REG_PORT_DROPPED), ==, 0);
    }
    exanet_assert_quiet(t);
}
