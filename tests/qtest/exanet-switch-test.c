/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet switch: the device among several neighbours, all of which are this test.
 * Roles of ports, ways, what is passed on and what is not, and whose turn it is.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "exanet-common.h"

#define UPPER(n) ((n) << 14)
#define AT(fpga, x, y) (UPPER(5) | (fpga) << 12 | (y) << 4 | (x))
#define ELSEWHERE UPPER(6)          /* behind the uplink */
#define DST EXANET_RAM_DST

/* The device is F1 of QFDB (1,1) in a torus of 4x4; on its ports are: */
#define HERE AT(0, 1, 1)
enum { F2, F3, F4, XP, XM, YP, YM, UP, PORTS };
static const uint32_t around[PORTS] = {
    [F2] = AT(1, 1, 1), [F3] = AT(2, 1, 1), [F4] = AT(3, 1, 1),
    [XP] = AT(0, 2, 1), [XM] = AT(0, 0, 1),
    [YP] = AT(0, 1, 2), [YM] = AT(0, 1, 0), [UP] = ELSEWHERE,
};

static const enum exanet_type types[] = {
    EXANET_TYPE_WRITE, EXANET_TYPE_READ_REQ, EXANET_TYPE_CONTROL,
    EXANET_TYPE_NOTIFY, EXANET_TYPE_RELEASE, EXANET_TYPE_ACK,
    EXANET_TYPE_FLOW_RATE,
};

static ExanetTest *start(void)
{
    return exanet_start_ports(HERE, around, PORTS, ",dims=4x4");
}

/* --- Packets --------------------------------------------------------------- */

static uint64_t port_get(ExanetTest *t, unsigned port, unsigned reg)
{
    return exanet_get64(t, EXANET_PORT(port) + reg);
}

static uint32_t port_status(ExanetTest *t, unsigned port)
{
    return exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_STATUS);
}

static ExanetPacket new_packet(enum exanet_type type, uint32_t src, uint32_t dst,
                               unsigned path)
{
    static const uint8_t payload[EXANET_MTU] = { 0xe4, 0xa7, 1, 2, 3 };

    bool release = type == EXANET_TYPE_RELEASE;

    return (ExanetPacket) {
        .type = type, .src = src, .dst = dst, .path = path,
        .va = release ? EXANET_NI_VA(EXANET_NI_RECEIVER) : DST + 5,
        .size = release ? 0 : 77, .payload = payload,
        .epoch = type == EXANET_TYPE_ACK ? EXANET_TEST_EPOCH : 0x2a,
        .pdid = EXANET_TEST_PDID(0), .tid = 0x1234, .seq = 9, .ttl = 100,
        .hops = 3, .user = 0x35a, .small = 0x155, .first = true, .notify = true,
        .flow_dst = 0x12345, .current = 0x6b, .desired = 0x5a,
        .vc = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0,
    };
}

/* Sends @pkt by @port, in the channel that it says. */
static void push(ExanetTest *t, unsigned port, const ExanetPacket *pkt)
{
    t->ports[port]->vc = pkt->vc;
    exanet_peer_send(t->ports[port], pkt);
    t->ports[port]->vc = 0;
}

/* The same; when this returns the device has done with it what it does. */
static void send_by(ExanetTest *t, unsigned port, const ExanetPacket *pkt)
{
    uint64_t seen = port_get(t, port, EXANET_REG_PORT_RX_PACKETS) + 1;

    push(t, port, pkt);
    exanet_wait(t, port_get(t, port, EXANET_REG_PORT_RX_PACKETS) == seen);
}

/* Bytes of a packet but those that a switch may change. */
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

/* The next packet on @port is @pkt, one switch later, in channel @vc. */
static void expect(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
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


/* Asserts that @n packets were dropped for @why since the last call, and no other. */
static void assert_drops(ExanetTest *t, enum exanet_counter why, unsigned n)
{
    for (unsigned i = EXANET_CNT_DROP_HEADER_CRC;
         i <= EXANET_CNT_DROP_SOURCE; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_COUNTER(i)), ==,
                         i == why ? n : 0);
    }
    exanet_set64(t, EXANET_COUNTER(why), 0);
}

/* @pkt is dropped for @why when it comes by @port. */
static void assert_dropped(ExanetTest *t, unsigned port, const ExanetPacket *pkt,
                           enum exanet_counter why)
{
    bool protocol = why == EXANET_CNT_DROP_SOURCE ||
                    why == EXANET_CNT_DROP_MALFORMED;

    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_PROTOCOL);
    send_by(t, port, pkt);
    assert_drops(t, why, 1);
    g_assert_cmpint(!!(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                       EXANET_IRQ_PROTOCOL), ==, protocol);
    exanet_assert_quiet(t);
}

static void assert_passed(ExanetTest *t, unsigned in, unsigned out,
                          const ExanetPacket *pkt, unsigned vc)
{
    uint64_t forwarded = exanet_count(t, FORWARDED);

    send_by(t, in, pkt);
    expect(t, out, pkt, vc);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, forwarded + 1);
}

/* A packet of this node for @dst leaves by @port; -1: nowhere. */
static void assert_own_way(ExanetTest *t, uint32_t dst, int port)
{
    g_autofree ExanetRxPacket *rx = NULL;
    uint64_t sent = exanet_count(t, TX_WRITE) + 1;

    exanet_pktz_start(t, 0, 0, exanet_gva(dst, DST), "r", 1, 0);
    exanet_wait(t, exanet_count(t, TX_WRITE) == sent);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, port < 0);
    if (port >= 0) {
        rx = exanet_peer_take(t->ports[port]);
        g_assert_cmphex(rx->pkt.dst, ==, dst);
        g_assert_cmphex(rx->pkt.src, ==, exanet_get32(t, EXANET_REG_NODE));
        g_assert_cmpuint(rx->pkt.ttl, ==, EXANET_TTL_MAX);
        g_assert_cmpuint(rx->pkt.vc & ~EXANET_VC_DATELINE, ==, 0);
    }
    exanet_assert_quiet(t);
}

/* --- Roles ----------------------------------------------------------------- */

static void assert_role(ExanetTest *t, unsigned port, enum exanet_role role)
{
    g_assert_cmpuint(RNIC_GET(EXANET_PORT_STATUS_ROLE, port_status(t, port)), ==,
                     role);
}

static void test_roles(void)
{
    static const enum exanet_role roles[PORTS] = {
        EXANET_ROLE_QFDB, EXANET_ROLE_QFDB, EXANET_ROLE_QFDB, EXANET_ROLE_X_PLUS,
        EXANET_ROLE_X_MINUS, EXANET_ROLE_Y_PLUS, EXANET_ROLE_Y_MINUS,
        EXANET_ROLE_UPLINK,
    };
    ExanetTest *t = start();

    for (unsigned i = 0; i < PORTS; i++) {
        assert_role(t, i, roles[i]);
    }
    /* another place, another role; the peer knows when its link is up again */
    exanet_set32(t, EXANET_REG_NODE, AT(0, 3, 1));
    exanet_wait(t, port_status(t, XM) & EXANET_PORT_STATUS_UP);
    exanet_wait(t, port_status(t, YM) & EXANET_PORT_STATUS_UP);
    assert_role(t, XM, EXANET_ROLE_X_PLUS);         /* round the ring */
    assert_role(t, YM, EXANET_ROLE_AUTO);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_DIMS, 0);
    assert_role(t, XM, EXANET_ROLE_AUTO);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_DIMS, 4);
    assert_role(t, XM, EXANET_ROLE_X_PLUS);
    /* as software wants it */
    exanet_set32(t, EXANET_PORT(YM) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, EXANET_ROLE_Z_PLUS));
    assert_role(t, YM, EXANET_ROLE_Z_PLUS);
    assert_own_way(t, AT(0, 3, 1) | 2 << 8, YM);
    exanet_set32(t, EXANET_PORT(YM) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE |
                 RNIC_PREP(EXANET_PORT_CTRL_ROLE, 15));
    assert_role(t, YM, EXANET_ROLE_AUTO);
    assert_own_way(t, AT(0, 3, 1) | 2 << 8, -1);
    /* without a link there is no role */
    exanet_peer_frame(t->ports[XM], EXANET_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(port_status(t, XM) & EXANET_PORT_STATUS_UP));
    assert_role(t, XM, EXANET_ROLE_AUTO);
    exanet_stop(t);
}

/* --- Ways ------------------------------------------------------------------ */

/*
 * All nodes of a torus of 2x2 QFDBs with four nodes each, from F1 and F2 of (0,0).
 * Each dimension is as long as its one cable: there is nothing to go round.
 */
static void test_ways_f1(void)
{
    static const uint32_t peers[] = {
        AT(1, 0, 0), AT(2, 0, 0), AT(3, 0, 0), AT(0, 1, 0), AT(0, 0, 1),
    };
    enum { PX = 3, PY };
    ExanetTest *t = exanet_start_ports(AT(0, 0, 0), peers, ARRAY_SIZE(peers),
                                       ",dims=2x2");

    for (unsigned n = 1; n < 16; n++) {
        unsigned f = n % 4, x = n / 4 % 2, y = n / 8;
        ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, peers[0], AT(f, x, y),
                                      EXANET_PATH_ORDER);
        int first = y ? PY : x ? PX : f - 1;

        assert_own_way(t, AT(f, x, y), first);
        if (x || y) {
            /* of F2, with the dimensions the other way round */
            assert_passed(t, 0, x ? PX : PY, &pkt, EXANET_VC_ORDER);
            pkt.path = 0;
            pkt.vc = 0;
            assert_passed(t, 0, first, &pkt, 0);
        } else if (f > 1) {
            assert_dropped(t, 0, &pkt, EXANET_CNT_DROP_SOURCE);
        }
    }
    assert_own_way(t, AT(0, 2, 0), PX);     /* whether there is one they know */
    assert_own_way(t, AT(0, 0, 0) | 1 << 8, -1);    /* no cable along Z */
    assert_own_way(t, UPPER(9), -1);
    exanet_stop(t);
}

static void test_ways_f2(void)
{
    static const uint32_t peers[] = {
        AT(0, 0, 0), EXANET_TEST_NO_PEER, AT(2, 0, 0), AT(3, 0, 0),
    };
    ExanetTest *t = exanet_start_ports(AT(1, 0, 0), peers, ARRAY_SIZE(peers),
                                       ",dims=2x2");
    ExanetPacket pkt;

    for (unsigned n = 0; n < 16; n++) {
        unsigned f = n % 4, x = n / 4 % 2, y = n / 8;

        if (n != 1) {
            assert_own_way(t, AT(f, x, y), x || y ? 0 : f);
        }
    }
    /* what is beyond the uplink is beyond F1 */
    assert_own_way(t, ELSEWHERE, 0);
    /* it carries nothing for others of its QFDB */
    for (unsigned in = 0; in < 4; in++) {
        for (unsigned out = 0; out < 4; out++) {
            if (in == 1 || out == 1 || in == out) {
                continue;
            }
            pkt = new_packet(EXANET_TYPE_WRITE, peers[in], peers[out], 0);
            assert_dropped(t, in, &pkt, EXANET_CNT_DROP_SOURCE);
        }
    }
    /* without the cable to F3 there is no way through others */
    exanet_peer_frame(t->ports[2], EXANET_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(port_status(t, 2) & EXANET_PORT_STATUS_UP));
    assert_own_way(t, AT(2, 0, 0), -1);
    assert_own_way(t, AT(2, 1, 0), 0);
    exanet_stop(t);
}

/* By which port a packet leaves for all QFDBs of the torus, from F2. */
static void test_ways_torus(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    for (unsigned n = 0; n < 64; n++) {
        unsigned f = n % 4, x = n / 4 % 4, y = n / 16;
        /* from 1: 0 is one down, 2 one up, and 3 up, as it is not down round 0 */
        int by_x = x == 0 ? XM : x == 1 ? -1 : XP;
        int by_y = y == 0 ? YM : y == 1 ? -1 : YP;

        if (by_x < 0 && by_y < 0) {
            continue;
        }
        pkt = new_packet(EXANET_TYPE_WRITE, around[F2], AT(f, x, y), 0);
        assert_passed(t, F2, by_y >= 0 ? by_y : by_x, &pkt, 0);
        pkt = new_packet(EXANET_TYPE_ACK, around[F2], AT(f, x, y),
                         EXANET_PATH_ORDER);
        assert_passed(t, F2, by_x >= 0 ? by_x : by_y, &pkt, EXANET_VC_ORDER);
    }
    exanet_stop(t);
}

/* --- Passing on ------------------------------------------------------------ */

/* From every kind of port to every kind, each type of packet: nothing else changes. */
static void test_forward(void)
{
    static const struct {
        unsigned in, out;
        uint32_t src, dst;
        unsigned path;
    } ways[] = {
        { F2, XP, AT(1, 1, 1), AT(0, 2, 1), 0 },
        { F3, YM, AT(2, 1, 1), AT(3, 2, 0), 0 },
        { F4, UP, AT(3, 1, 1), ELSEWHERE | 0x1234, 0 },
        { XM, XP, AT(0, 0, 1), AT(0, 2, 1), 0 },
        { XM, XP, AT(3, 0, 1), AT(2, 2, 1), EXANET_PATH_ORDER },
        { YM, XP, AT(0, 1, 0), AT(0, 3, 1), 0 },
        { XM, YP, AT(0, 0, 1), AT(0, 1, 3), EXANET_PATH_ORDER },
        { YP, F4, AT(1, 1, 2), AT(3, 1, 1), 0 },
        { XP, F2, AT(0, 3, 1), AT(1, 1, 1), EXANET_PATH_ORDER },
        { UP, F3, ELSEWHERE | 0x21, AT(2, 1, 1), 0 },
        { UP, YM, ELSEWHERE, AT(0, 1, 0), 0 },
    };
    ExanetTest *t = start();

    for (unsigned i = 0; i < ARRAY_SIZE(ways); i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(types); k++) {
            ExanetPacket pkt = new_packet(types[k], ways[i].src, ways[i].dst,
                                          ways[i].path);

            if (types[k] == EXANET_TYPE_FLOW_RATE && ways[i].path) {
                continue;           /* has no path */
            }
            assert_passed(t, ways[i].in, ways[i].out, &pkt, pkt.vc);
        }
    }
    g_assert_cmpuint(exanet_count(t, TX_WRITE) + exanet_count(t, TX_ACK), ==, 0);
    g_assert_cmpuint(exanet_count(t, RX_WRITE) + exanet_count(t, RX_ACK), ==, 0);
    exanet_stop(t);
}

/* Whoever wraps round a ring goes on in the odd channel, until it turns. */
static void test_dateline(void)
{
    static const uint32_t peers[] = {
        AT(0, 4, 0), AT(0, 1, 0), AT(0, 0, 1), AT(0, 0, 4), AT(1, 0, 0),
    };
    enum { LEFT, RIGHT, ABOVE, BELOW, SECOND };
    ExanetTest *t = exanet_start_ports(AT(0, 0, 0), peers, ARRAY_SIZE(peers),
                                       ",dims=5x5");
    ExanetPacket pkt;

    for (unsigned path = 0; path <= EXANET_PATH_ORDER;
         path += EXANET_PATH_ORDER) {
        unsigned order = path ? EXANET_VC_ORDER : 0;
        unsigned odd = order | EXANET_VC_DATELINE;

        /* in by the wrap-around cable, on in the same dimension */
        pkt = new_packet(EXANET_TYPE_WRITE, AT(0, 4, 0), AT(0, 1, 0), path);
        pkt.vc = odd;
        assert_passed(t, LEFT, RIGHT, &pkt, odd);
        /* the other way, out by it */
        pkt = new_packet(EXANET_TYPE_WRITE, AT(0, 1, 0), AT(0, 4, 0), path);
        assert_passed(t, RIGHT, LEFT, &pkt, odd);
        /* into the QFDB */
        pkt = new_packet(EXANET_TYPE_WRITE, AT(0, 4, 0), AT(1, 0, 0), path);
        pkt.vc = odd;
        assert_passed(t, LEFT, SECOND, &pkt, order);
        /* and out of it */
        pkt = new_packet(EXANET_TYPE_WRITE, AT(1, 0, 0), AT(0, 3, 0), path);
        assert_passed(t, SECOND, LEFT, &pkt, odd);
        pkt = new_packet(EXANET_TYPE_WRITE, AT(1, 0, 0), AT(0, 2, 0), path);
        assert_passed(t, SECOND, RIGHT, &pkt, order);
    }
    /* from Y to X, and in the other order from X to Y */
    pkt = new_packet(EXANET_TYPE_WRITE, AT(0, 0, 4), AT(0, 1, 0), 0);
    pkt.vc = EXANET_VC_DATELINE;
    assert_passed(t, BELOW, RIGHT, &pkt, 0);
    pkt = new_packet(EXANET_TYPE_ACK, 0, AT(0, 0, 1), EXANET_PATH_ORDER);
    pkt.vc |= EXANET_VC_DATELINE;
    assert_passed(t, LEFT, ABOVE, &pkt, EXANET_VC_ORDER);
    assert_own_way(t, AT(0, 3, 0), LEFT);
    exanet_stop(t);
}

static void test_ttl(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt;

    for (unsigned k = 0; k < ARRAY_SIZE(types); k++) {
        pkt = new_packet(types[k], around[XM], around[XP], 0);
        pkt.ttl = 0;
        pkt.hops = EXANET_HOPS_MAX;
        assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_TTL);
        pkt.ttl = 1;
        pkt.hops = EXANET_HOPS_MAX - 1;
        assert_passed(t, XM, XP, &pkt, 0);
        pkt.ttl = EXANET_TTL_MAX;
        pkt.hops = 0;
        assert_passed(t, XM, XP, &pkt, 0);
    }
    /* who is at its destination may be as old as it likes */
    pkt = new_packet(EXANET_TYPE_WRITE, around[XM], HERE, 0);
    pkt.ttl = 0;
    send_by(t, XM, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 1);
    assert_drops(t, EXANET_CNT_DROP_TTL, 0);
    exanet_stop(t);
}

static void test_no_way(void)
{
    static const struct {
        unsigned in;
        uint32_t dst;
    } nowhere[] = {
        { XM, AT(0, 0, 1) },            /* back */
        { XM, AT(2, 0, 1) }, { XP, AT(0, 3, 1) },
        { XM, AT(0, 5, 1) },            /* not in the ring */
        { XM, AT(0, 1, 1) | 1 << 8 },   /* no cable along Z */
        { UP, ELSEWHERE }, { UP, ELSEWHERE | 5 },
        { UP, UPPER(7) },               /* by an uplink in, by none out */
    };
    ExanetTest *t = start();
    ExanetPacket pkt;

    for (unsigned i = 0; i < ARRAY_SIZE(nowhere); i++) {
        for (unsigned k = 0; k < ARRAY_SIZE(types); k++) {
            pkt = new_packet(types[k], around[nowhere[i].in], nowhere[i].dst, 0);
            assert_dropped(t, nowhere[i].in, &pkt, EXANET_CNT_DROP_NO_ROUTE);
        }
    }
    /* a network interface alone, without a router */
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_MODE, EXANET_SW_MODE_NI);
    pkt = new_packet(EXANET_TYPE_WRITE, around[XM], around[XP], 0);
    assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    assert_own_way(t, AT(0, 3, 1), XP);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_MODE, EXANET_SW_MODE_ROUTER);
    assert_passed(t, XM, XP, &pkt, 0);
    exanet_set32(t, EXANET_REG_CTRL, 0);
    assert_dropped(t, XM, &pkt, EXANET_CNT_DROP_DISABLED);
    exanet_stop(t);
}

/* The dimension that is corrected first, by register. */
static void test_order(void)
{
    static const struct {
        uint32_t order;
        unsigned first;
    } orders[] = {
        { 2 << 4 | 1 << 2 | 0, XP }, { 0 << 4 | 1 << 2 | 2, YP },
        { 1 << 4 | 0 << 2 | 2, XP }, { 0, YP }, { 0x3f, YP },
    };
    ExanetTest *t = start();
    ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, around[F2], AT(0, 2, 2), 0);

    for (unsigned i = 0; i < ARRAY_SIZE(orders); i++) {
        exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_ORDER, orders[i].order);
        assert_passed(t, F2, orders[i].first, &pkt, 0);
    }
    exanet_stop(t);
}

/* Cables between the same nodes: by path, and what is left when one is cut. */
static void test_parallel(void)
{
    static const uint32_t peers[] = {
        AT(1, 1, 1), AT(0, 2, 1), EXANET_TEST_NO_PEER, AT(0, 2, 1), AT(0, 2, 1),
    };
    static const unsigned cables[] = { 1, 3, 4 };
    ExanetTest *t = exanet_start_ports(HERE, peers, ARRAY_SIZE(peers), "");

    for (unsigned path = 0; path < EXANET_PATHS; path++) {
        unsigned vc = path & EXANET_PATH_ORDER ? EXANET_VC_ORDER : 0;
        ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, peers[0], AT(2, 3, 1),
                                      path);

        assert_passed(t, 0, cables[path % 4 % 3], &pkt, vc);
        pkt.dst = peers[1];
        assert_passed(t, 0, cables[path % 4 % 3], &pkt, vc);
    }
    exanet_peer_frame(t->ports[3], EXANET_LINK_DOWN, NULL, 0);
    exanet_wait(t, !(port_status(t, 3) & EXANET_PORT_STATUS_UP));
    for (unsigned path = 0; path < EXANET_PATH_ORDER; path++) {
        ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, peers[0], AT(2, 3, 1),
                                      path);

        assert_passed(t, 0, path % 2 ? 4 : 1, &pkt, 0);
    }
    exanet_stop(t);
}

static void test_uplinks(void)
{
    static const uint32_t peers[] = {
        UPPER(6), UPPER(7) | 3, AT(1, 0, 0), AT(0, 1, 0),
    };
    enum { SIX, SEVEN, SECOND, RIGHT };
    ExanetTest *t = exanet_start_ports(AT(0, 0, 0), peers, ARRAY_SIZE(peers), "");
    ExanetPacket pkt;

    /* to where it leads, else to any, by path */
    assert_own_way(t, UPPER(6) | 0x123, SIX);
    assert_own_way(t, UPPER(7), SEVEN);
    assert_own_way(t, UPPER(8), SIX);
    pkt = new_packet(EXANET_TYPE_WRITE, peers[SECOND], UPPER(8), 1);
    assert_passed(t, SECOND, SEVEN, &pkt, 0);
    /* from one to the other, in the odd channel; no further */
    pkt = new_packet(EXANET_TYPE_WRITE, UPPER(6) | 7, UPPER(7), 0);
    assert_passed(t, SIX, SEVEN, &pkt, EXANET_VC_DATELINE);
    pkt.dst = UPPER(8);
    assert_dropped(t, SIX, &pkt, EXANET_CNT_DROP_NO_ROUTE);
    /* who comes in by it is from outside */
    pkt = new_packet(EXANET_TYPE_WRITE, UPPER(8), AT(3, 2, 0), 0);
    assert_passed(t, SIX, RIGHT, &pkt, 0);
    pkt.src = AT(1, 0, 0);
    assert_dropped(t, SIX, &pkt, EXANET_CNT_DROP_SOURCE);
    exanet_stop(t);
}

/* A port in loop-back: what this node sends to itself takes the long way. */
static void test_loop_back(void)
{
    ExanetTest *t = start();
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(HERE, DST), .len = 1000,
        .ctrl = RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
    };
    ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, around[XM], around[XP], 0);
    uint8_t data[1000];

    exanet_set32(t, EXANET_PORT(UP) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE | EXANET_PORT_CTRL_LOOPBACK);
    g_assert_cmphex(exanet_get32(t, EXANET_PORT(UP) + EXANET_REG_PORT_PEER), ==,
                    HERE);
    assert_role(t, UP, EXANET_ROLE_AUTO);
    exanet_fill(t, x.src, data, sizeof(data), 1);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_mem(t, DST, data, sizeof(data));
    /* four packets and their ack */
    g_assert_cmpuint(port_get(t, UP, EXANET_REG_PORT_TX_PACKETS), ==, 5);
    g_assert_cmpuint(port_get(t, UP, EXANET_REG_PORT_RX_PACKETS), ==, 5);
    assert_drops(t, EXANET_CNT_DROP_SOURCE, 0);
    /* nobody else's way */
    assert_own_way(t, ELSEWHERE, -1);
    assert_passed(t, XM, XP, &pkt, 0);
    exanet_set32(t, EXANET_PORT(UP) + EXANET_REG_PORT_CTRL,
                 EXANET_PORT_CTRL_ENABLE);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- What others try ------------------------------------------------------- */

static void test_forged(void)
{
    static const struct {
        unsigned in;
        uint32_t src, dst;
        unsigned path;
    } lies[] = {
        { F2, AT(2, 1, 1), HERE, 0 },           /* one FPGA as another */
        { F2, AT(0, 0, 1), HERE, 0 }, { F2, HERE, HERE, 0 },
        { XM, HERE, HERE, 0 }, { XM, AT(1, 1, 1), HERE, 0 },
        { XM, AT(0, 2, 1), HERE, 0 },           /* that comes by XP */
        { YP, AT(0, 0, 2), HERE, 0 },           /* Y first: by XM */
        { XM, AT(0, 0, 2), HERE, EXANET_PATH_ORDER },   /* X first: by YP */
        { XP, AT(0, 0, 1), HERE, 0 },
        { UP, AT(1, 1, 1), HERE, 0 }, { UP, AT(0, 3, 3), HERE, 0 },
        /* ... and through us */
        { F2, AT(2, 1, 1), AT(0, 2, 1), 0 }, { F2, AT(0, 0, 1), AT(0, 2, 1), 0 },
        { F2, AT(1, 1, 1), AT(2, 1, 1), 0 },    /* they have a cable */
        { XM, AT(0, 0, 1), AT(0, 1, 2), 0 },    /* X before Y */
        { XM, AT(1, 1, 1), AT(0, 2, 1), 0 }, { XM, HERE, AT(0, 2, 1), 0 },
        { YP, AT(0, 1, 0), AT(0, 2, 1), 0 },
        { UP, AT(0, 1, 0), AT(0, 2, 1), 0 },
        { XM, AT(0, 0, 1), ELSEWHERE, 0 },      /* F1s have their own */
        { F3, ELSEWHERE, UPPER(9), 0 },         /* from outside, and out again */
    };
    ExanetTest *t = start();
    ExanetPacket pkt;

    for (unsigned i = 0; i < ARRAY_SIZE(lies); i++) {
        for (unsigned k = 0; k < 5; k++) {      /* types that tell */
            pkt = new_packet(types[k], lies[i].src, lies[i].dst, lies[i].path);
            assert_dropped(t, lies[i].in, &pkt, EXANET_CNT_DROP_SOURCE);
        }
    }
    g_assert_cmpuint(exanet_count(t, RX_WRITE) + exanet_count(t, RX_CONTROL), ==,
                     0);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 0);
    /* this is how it is done */
    pkt = new_packet(EXANET_TYPE_WRITE, AT(2, 0, 2), HERE, 0);
    send_by(t, YP, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 0);
    assert_drops(t, EXANET_CNT_DROP_SOURCE, 1);         /* Y first, from (0,2) */
    send_by(t, XM, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 1);
    pkt.path = EXANET_PATH_ORDER;
    pkt.vc = EXANET_VC_ORDER;
    send_by(t, YP, &pkt);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 2);
    assert_drops(t, EXANET_CNT_DROP_SOURCE, 0);
    exanet_stop(t);
}

/* A footer that was damaged on the way tells nothing; who is asked is the end. */
static void test_damaged(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, around[XM], around[XP], 0);
    uint8_t buf[EXANET_PACKET_BYTES];
    unsigned words = exanet_peer_encode(buf, &pkt);
    unsigned bit = 15;                          /* of the source */

    buf[(words - 1) * EXANET_WORD_BYTES + bit / 8] ^= 1 << bit % 8;
    t->ports[XP]->dump = g_byte_array_new();
    exanet_peer_words(t->ports[XM], buf, words);
    exanet_wait(t, t->ports[XP]->dump->len);
    g_assert_cmpuint(t->ports[XP]->dump->len, ==, words * EXANET_WORD_BYTES);
    assert_drops(t, EXANET_CNT_DROP_SOURCE, 0);
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 1);
    g_byte_array_unref(g_steal_pointer(&t->ports[XP]->dump));
    exanet_stop(t);
}

/* A packet says in which channel it is, and it is in no other. */
static void test_wrong_vc(void)
{
    ExanetTest *t = start();

    for (unsigned vc = 0; vc < 32; vc++) {
        for (unsigned channel = 0; channel < EXANET_VCS; channel++) {
            ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, around[XM],
                                          around[XP], 0);
            uint64_t seen = port_get(t, XM, EXANET_REG_PORT_RX_PACKETS) + 1;

            pkt.vc = vc;
            t->ports[XM]->vc = channel;
            exanet_peer_send(t->ports[XM], &pkt);
            exanet_wait(t, port_get(t, XM, EXANET_REG_PORT_RX_PACKETS) == seen);
            assert_drops(t, EXANET_CNT_DROP_MALFORMED, vc != channel);
            if (vc == channel) {
                /* the class comes from the path, the dateline from the link */
                expect(t, XP, &pkt, vc & EXANET_VC_DATELINE);
            }
        }
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- Back-pressure --------------------------------------------------------- */

static void stop_port(ExanetTest *t, unsigned port)
{
    exanet_peer_frame(t->ports[port], EXANET_LINK_XOFF, NULL, 0);
    exanet_wait(t, port_status(t, port) & EXANET_PORT_STATUS_PEER_XOFF);
}

static unsigned port_level(ExanetTest *t, unsigned port)
{
    return RNIC_GET(EXANET_PORT_LEVEL_RX,
                    exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_LEVEL));
}

#define STREAM 40

/* Sends packets @from to @to of a stream, numbered by TID. */
static void stream(ExanetTest *t, unsigned port, uint32_t src, uint32_t dst,
                   unsigned from, unsigned to)
{
    g_autofree uint8_t *buf = g_malloc((to - from) * EXANET_PACKET_BYTES);
    ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, src, dst, 0);
    unsigned words = 0;

    for (unsigned i = from; i < to; i++) {
        pkt.tid = i;
        words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
    }
    exanet_peer_words(t->ports[port], buf, words);
}

/* Takes packets @from to @to of a stream; none is missing, none is twice. */
static void take_stream(ExanetTest *t, unsigned port, uint32_t src,
                        unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[port]);

        g_assert_cmphex(rx->pkt.src, ==, src);
        g_assert_cmpuint(rx->pkt.tid, ==, i);
    }
}

/*
 * Own NI, F2, F3 and F4 enter the router by a port each: streams to four neighbours,
 * one of which stands still, do not wait for each other.
 */
static void test_local_ports(void)
{
    static const unsigned out[] = { YP, XP, XM, YM };
    ExanetTest *t = start();

    stop_port(t, XP);
    stream(t, F2, around[F2], around[XP], 0, STREAM);
    stream(t, F3, around[F3], around[XM], 0, STREAM);
    stream(t, F4, around[F4], around[YM], 0, STREAM);
    take_stream(t, XM, around[F3], 0, STREAM);
    take_stream(t, YM, around[F4], 0, STREAM);
    for (unsigned i = 0; i < STREAM; i++) {
        assert_own_way(t, around[YP], YP);
    }
    g_assert_cmpuint(port_level(t, F2), >, 0);
    g_assert_cmpuint(port_level(t, F3), ==, 0);
    g_assert_cmpuint(port_level(t, F4), ==, 0);
    g_assert_true(g_queue_is_empty(&t->ports[XP]->packets));
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                                      8 * i), ==, i == 1 ? 0 : STREAM);
    }
    exanet_peer_frame(t->ports[XP], EXANET_LINK_XON, NULL, 0);
    take_stream(t, XP, around[F2], 0, STREAM);
    exanet_assert_quiet(t);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                                      8 * i), ==, STREAM);
        g_assert_cmpuint(port_get(t, out[i], EXANET_REG_PORT_TX_PACKETS), ==,
                         STREAM);
    }
    g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL_OUT), ==,
                     0);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* What passes the router from outside, and what ends in the QFDB. */
static void test_router_counters(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, around[XM], around[XP], 0);

    assert_passed(t, XM, XP, &pkt, 0);
    pkt = new_packet(EXANET_TYPE_WRITE, around[YM], around[XP], 0);
    assert_passed(t, YM, XP, &pkt, 0);
    g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_TRANSIT), ==,
                     2);
    pkt.dst = around[F4];
    assert_passed(t, YM, F4, &pkt, 0);
    pkt.dst = HERE;
    send_by(t, YM, &pkt);
    g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL_OUT), ==,
                     2);
    /* inside the QFDB there is no router [T 6.4] */
    assert_own_way(t, around[F2], F2);
    for (unsigned i = 0; i < 4; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_SWITCH + EXANET_REG_SW_LOCAL0 +
                                      8 * i), ==, 0);
    }
    g_assert_cmpuint(exanet_count(t, FORWARDED), ==, 3);
    exanet_stop(t);
}

/* One channel of a cable stands still, the others go on. */
static void test_channels(void)
{
    ExanetTest *t = start();
    ExanetPacket pkt = new_packet(EXANET_TYPE_WRITE, around[XM], around[XP],
                                  EXANET_PATH_ORDER);

    stop_port(t, XP);
    stream(t, XM, around[XM], around[XP], 0, STREAM);
    for (unsigned i = 0; i < STREAM; i++) {
        assert_passed(t, XM, XP, &pkt, EXANET_VC_ORDER);
    }
    g_assert_cmpuint(port_level(t, XM), >, 0);
    exanet_peer_frame(t->ports[XP], EXANET_LINK_XON, NULL, 0);
    take_stream(t, XP, around[XM], 0, STREAM);
    exanet_stop(t);
}

/* A cable is cut that packets wait for: they are dropped, the others move up. */
static void test_cut(void)
{
    ExanetTest *t = start();

    stop_port(t, XP);
    stream(t, F2, around[F2], around[XP], 0, STREAM);
    stream(t, F2, around[F2], around[XM], 0, STREAM);
    exanet_settle(t);
    g_assert_true(g_queue_is_empty(&t->ports[XM]->packets));
    exanet_peer_frame(t->ports[XP], EXANET_LINK_DOWN, NULL, 0);
    take_stream(t, XM, around[F2], 0, STREAM);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, STREAM);
    g_assert_cmpuint(port_level(t, F2), ==, 0);
    exanet_stop(t);
}

/* --- Contention ------------------------------------------------------------ */

#define CROWD 4                     /* F2, F3, F4, and this node's ExaDMA */
#define CROWD_PACKETS 256           /* of each */
#define FAIR_WINDOW (CROWD * 2 * 16)

static const uint32_t crowd_src[CROWD] = {
    AT(1, 1, 1), AT(2, 1, 1), AT(3, 1, 1), HERE,
};

/* Everybody has something for XP, which stands still. */
static void crowd_gather(ExanetTest *t)
{
    stop_port(t, XP);
    for (unsigned i = 0; i < CROWD - 1; i++) {
        stream(t, F2 + i, crowd_src[i], around[XP], 0, CROWD_PACKETS);
    }
    for (unsigned tid = 0; tid < CROWD_PACKETS / EXANET_BLOCK_PACKETS; tid++) {
        ExanetDesc d = {
            .src = EXANET_RAM_SRC, .dst = exanet_gva(around[XP], DST),
            .len = EXANET_BLOCK_BYTES, .pdid = EXANET_TEST_PDID(0),
        };

        exanet_desc_write(t, tid, &d);
    }
    exanet_settle(t);
    exanet_assert_quiet(t);
}

/*
 * Takes all that comes; while all of them have something to send, each has its share
 * of every window.
 */
static void crowd_take(ExanetTest *t, int64_t ns)
{
    unsigned all[CROWD] = { 0 }, window[CROWD] = { 0 };
    bool finished = false;
    unsigned n = 0;

    while (n < CROWD * CROWD_PACKETS) {
        g_autofree ExanetRxPacket *rx = NULL;
        unsigned i;

        if (ns && g_queue_is_empty(&t->ports[XP]->packets)) {
            exanet_step(t, ns);
            continue;
        }
        rx = exanet_peer_take(t->ports[XP]);
        for (i = 0; rx->pkt.src != crowd_src[i]; i++) {
            g_assert_cmpuint(i, <, CROWD - 1);
        }
        if (i < CROWD - 1) {
            g_assert_cmpuint(rx->pkt.tid, ==, all[i]);
        }
        window[i]++;
        finished |= ++all[i] == CROWD_PACKETS;
        if (++n % FAIR_WINDOW == 0) {
            for (unsigned k = 0; k < CROWD && !finished; k++) {
                g_assert_cmpuint(window[k], >=, FAIR_WINDOW / CROWD / 2);
            }
            memset(window, 0, sizeof(window));
        }
    }
    g_assert_cmpuint(n, ==, CROWD * CROWD_PACKETS);
    exanet_assert_quiet(t);
}

static void test_contention(void)
{
    ExanetTest *t = start();

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    for (unsigned round = 0; round < 3; round++) {
        crowd_gather(t);
        exanet_peer_frame(t->ports[XP], EXANET_LINK_XON, NULL, 0);
        crowd_take(t, 0);
    }
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* The same on a cable of 1 Gb/s, where a frame has room for few packets. */
static void test_contention_slow(void)
{
    ExanetTest *t = start();

    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_set32(t, EXANET_PORT(XP) + EXANET_REG_PORT_RATE, 1000000);
    exanet_set32(t, EXANET_SWITCH + EXANET_REG_SW_FLOW, 0);
    crowd_gather(t);
    exanet_peer_frame(t->ports[XP], EXANET_LINK_XON, NULL, 0);
    crowd_take(t, 20000);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* Who has come first keeps nobody waiting, and who wants no more neither. */
static void test_contention_uneven(void)
{
    ExanetTest *t = start();
    unsigned n = 0;

    stop_port(t, XP);
    stream(t, F2, crowd_src[0], around[XP], 0, CROWD_PACKETS);
    exanet_settle(t);
    stream(t, F3, crowd_src[1], around[XP], 0, 3);
    stream(t, F4, crowd_src[2], around[XP], 0, 20);
    exanet_settle(t);
    exanet_peer_frame(t->ports[XP], EXANET_LINK_XON, NULL, 0);
    for (unsigned left = 23; left; n++) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(t->ports[XP]);

        left -= rx->pkt.src != crowd_src[0];
    }
    g_assert_cmpuint(n, <=, 23 + 3 * 16);
    for (; n < CROWD_PACKETS + 23; n++) {
        g_free(exanet_peer_take(t->ports[XP]));
    }
    exanet_assert_quiet(t);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/switch/roles", test_roles);
    qtest_add_func("/exanet/switch/t26-ways-f1", test_ways_f1);
    qtest_add_func("/exanet/switch/t26-ways-f2", test_ways_f2);
    qtest_add_func("/exanet/switch/t26-ways-torus", test_ways_torus);
    qtest_add_func("/exanet/switch/t26-forward", test_forward);
    qtest_add_func("/exanet/switch/dateline", test_dateline);
    qtest_add_func("/exanet/switch/t26-ttl", test_ttl);
    qtest_add_func("/exanet/switch/t26-no-way", test_no_way);
    qtest_add_func("/exanet/switch/order", test_order);
    qtest_add_func("/exanet/switch/parallel", test_parallel);
    qtest_add_func("/exanet/switch/uplinks", test_uplinks);
    qtest_add_func("/exanet/switch/t26-loop-back", test_loop_back);
    qtest_add_func("/exanet/switch/t24-forged", test_forged);
    qtest_add_func("/exanet/switch/damaged", test_damaged);
    qtest_add_func("/exanet/switch/t24-wrong-vc", test_wrong_vc);
    qtest_add_func("/exanet/switch/t26-local-ports", test_local_ports);
    qtest_add_func("/exanet/switch/t26-router-counters", test_router_counters);
    qtest_add_func("/exanet/switch/t25-channels", test_channels);
    qtest_add_func("/exanet/switch/cut", test_cut);
    qtest_add_func("/exanet/switch/contention", test_contention);
    qtest_add_func("/exanet/switch/contention-slow", test_contention_slow);
    qtest_add_func("/exanet/switch/contention-uneven", test_contention_uneven);
    return g_test_run();
}
