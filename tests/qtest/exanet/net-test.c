/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NI crossbar: packets to this node, to the cable, or without a route; and the unit
 * that takes each packet.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"

#define DST EXANET_RAM_DST
#define LEN 1000
#define SHIFT 0x35 /* offset of the data, so that LEN bytes need 5 packets */
#define PACKETS 5
#define NOBODY 9                    /* an NI index without a unit */
#define RENAMED 0x162a2 /* new coordinates; the cable to the peer is still irregular */

static const struct {
    enum exanet_type type;
    enum exanet_counter received;
} types[] = {
    { EXANET_TYPE_WRITE, EXANET_CNT_RX_WRITE },
    { EXANET_TYPE_READ_REQ, EXANET_CNT_RX_READ_REQ },
    { EXANET_TYPE_CONTROL, EXANET_CNT_RX_CONTROL },
    { EXANET_TYPE_NOTIFY, EXANET_CNT_RX_NOTIFY },
    { EXANET_TYPE_RELEASE, EXANET_CNT_RX_RELEASE },
    { EXANET_TYPE_ACK, EXANET_CNT_RX_ACK },
    { EXANET_TYPE_FLOW_RATE, EXANET_CNT_RX_FLOW_RATE },
    { EXANET_TYPE_AXI_READ, EXANET_CNT_SHM_TARGET_LOAD },
    { EXANET_TYPE_AXI_WRITE, EXANET_CNT_SHM_TARGET_STORE },
    { EXANET_TYPE_AXI_RESPONSE, EXANET_CNT_SHM_STALE },
};
static const uint8_t payload[EXANET_MTU] = { 0x17, 0x2a };

static uint64_t port_get(ExanetTest *t, unsigned reg)
{
    return exanet_get64(t, EXANET_PORT(0) + reg);
}

/*
 * Asserts that @n packets were dropped for @why since the last call, and none for
 * another reason.
 */
static void assert_drops(ExanetTest *t, enum exanet_counter why, unsigned n)
{
    for (unsigned i = EXANET_CNT_DROP_HEADER_CRC;
         i <= EXANET_CNT_DROP_SOURCE; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_COUNTER(i)), ==,
                         i == why ? n : 0);
    }
    exanet_set64(t, EXANET_COUNTER(why), 0);
}

static void assert_nothing_sent(ExanetTest *t)
{
    exanet_assert_quiet(t);
    g_assert_cmpuint(port_get(t, EXANET_REG_PORT_TX_PACKETS), ==, 0);
    g_assert_cmpuint(t->peer->data_frames, ==, 0);
}

/* Returns true if the cause PROTOCOL was set; clears it. */
static bool protocol_irq_taken(ExanetTest *t)
{
    bool taken = exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_PROTOCOL;

    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_PROTOCOL);
    return taken;
}

/* Sends @pkt, and waits until the device has received or dropped it. */
static void send_packet(ExanetTest *t, const ExanetPacket *pkt)
{
    uint64_t seen = port_get(t, EXANET_REG_PORT_RX_PACKETS) +
                    port_get(t, EXANET_REG_PORT_DROPPED) + 1;

    exanet_peer_send(t->peer, pkt);
    exanet_wait(t, port_get(t, EXANET_REG_PORT_RX_PACKETS) +
                port_get(t, EXANET_REG_PORT_DROPPED) == seen);
}

/*
 * Returns a valid packet of the peer for context 0, with the size that packets of @type
 * have.
 */
static ExanetPacket new_packet(ExanetTest *t, unsigned type, uint64_t va)
{
    return (ExanetPacket) {
        .type = type, .dst = t->peer->node, .src = t->peer->coord, .va = va,
        .epoch = type == EXANET_TYPE_ACK ? t->peer->hello.epoch : t->peer->epoch,
        .pdid = EXANET_TEST_PDID(0), .payload = payload,
        .size = type == EXANET_TYPE_READ_REQ ? EXANET_READ_REQ_USER_BYTES :
                type == EXANET_TYPE_CONTROL ? sizeof(struct exanet_control) :
                type == EXANET_TYPE_NOTIFY ? sizeof(struct exanet_notification) :
                type == EXANET_TYPE_RELEASE ? 0 : 64,
        .flow_dst = t->peer->coord, .first = true, .last = true,
        .tid = RNIC_PREP(EXANET_STID_CLASS, type == EXANET_TYPE_AXI_READ ?
                                            EXANET_SHM_LOAD : EXANET_SHM_STORE),
    };
}

/* Asserts that the node acks a valid write to @dst. */
static void assert_accepted(ExanetTest *t, uint32_t dst)
{
    ExanetPacket pkt = new_packet(t, EXANET_TYPE_WRITE, DST);

    pkt.dst = dst;
    send_packet(t, &pkt);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 0, 0), ==, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST, payload, pkt.size);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
}

/* Sends a packet with one byte to @node, without an ack. */
static void send_once(ExanetTest *t, uint32_t node)
{
    uint64_t sent = exanet_count(t, TX_WRITE) + 1;

    exanet_pktz_start(t, 0, 0, exanet_gva(node, DST), "r", 1, 0);
    exanet_wait(t, exanet_count(t, TX_WRITE) == sent);
}

/*
 * Sends one packet of each type from @src to @dst: asserts that all are dropped for
 * @why, interrupt if the source is wrong, and have no effect.
 */
static void assert_refused(ExanetTest *t, uint32_t dst, uint32_t src,
                           enum exanet_counter why)
{
    const bool liar = why == EXANET_CNT_DROP_SOURCE;

    qtest_memset(t->qts, DST, 0, EXANET_MTU);
    protocol_irq_taken(t);
    for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
        ExanetPacket pkt = new_packet(t, types[i].type, DST);
        uint64_t at = EXANET_COUNTER(types[i].received);
        uint64_t seen = exanet_get64(t, at);

        if (liar && EXANET_TYPE_SHORT(pkt.type)) {
            continue;               /* short packets have no source */
        }
        pkt.dst = dst;
        pkt.src = src;
        send_packet(t, &pkt);
        assert_drops(t, why, 1);
        g_assert_cmpint(protocol_irq_taken(t), ==, liar);
        g_assert_cmpuint(exanet_get64(t, at), ==, seen);
    }
    exanet_assert_byte(t, DST, 0, EXANET_MTU);
    assert_nothing_sent(t);
}

/* Asserts an RDMA write of node @self to itself. */
static void loop_back(ExanetTest *t, uint32_t self)
{
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC + 3, .dst = exanet_gva(self, DST + SHIFT),
        .len = LEN, .ctrl = RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
    };
    uint8_t data[LEN];

    for (unsigned i = 0; i <= EXANET_CNT_DROP_SOURCE; i++) {
        exanet_set64(t, EXANET_COUNTER(i), 0);
    }
    qtest_memset(t->qts, DST, 0x5c, 2 * LEN);
    exanet_fill(t, x.src, data, LEN, self);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_byte(t, DST, 0x5c, SHIFT);
    exanet_assert_mem(t, DST + SHIFT, data, LEN);
    exanet_assert_byte(t, DST + SHIFT + LEN, 0x5c, LEN - SHIFT);
    g_assert_cmpuint(exanet_count(t, TX_WRITE), ==, PACKETS);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, PACKETS);
    g_assert_cmpuint(exanet_count(t, TX_ACK), ==, 1);
    g_assert_cmpuint(exanet_count(t, RX_ACK), ==, 1);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    assert_nothing_sent(t);
}

/* With and without a link, the node's packets to itself do not leave by the cable. */
static void test_loop_back(void)
{
    ExanetTest *t = exanet_start_cold("", false);

    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    exanet_open(t, 1, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    t->peer->silent = true;
    loop_back(t, EXANET_TEST_NODE);
    send_once(t, EXANET_TEST_PEER);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 1);
    assert_nothing_sent(t);
    t->peer->silent = false;
    exanet_bring_up(t);
    loop_back(t, EXANET_TEST_NODE);
    exanet_stop(t);
}

/*
 * Asserts the bits of the packet in the specification, which the codec alone could not
 * prove.
 */
static void test_to_peer(void)
{
    static const uint64_t want[] = {
        0x4014002e04214860, 0x10c800048d159e25,
        0x0302010000000000, 0x0b0a090807060504,
        0x131211100f0e0d0c, 0x0000000000000014,
        0xe001bff054001005, 0xc0c9e7dc50000fff,
    };
    ExanetTest *t = exanet_start_cold(",epoch=255", false);
    static const uint8_t data[] = {
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    };
    ExanetDesc d = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(EXANET_TEST_NODE, 0x1234567895),
        .len = sizeof(data), .pdid = EXANET_TEST_PDID(0),
        .w4 = RNIC_PREP(EXANET_DESC_W4_SEQ, 3) | EXANET_DESC_W4_DST_VALID |
              RNIC_PREP(EXANET_DESC_W4_DST_PDID, EXANET_TEST_PDID(3)) |
              RNIC_PREP(EXANET_DESC_W4_GEN, 4),
    };
    g_autofree ExanetRxPacket *rx = NULL;

    /*
     * the packet's destination has the coordinates of the device, so device and peer
     * exchange their coordinates
     */
    t->peer->coord = EXANET_TEST_NODE;
    exanet_set32(t, EXANET_REG_NODE, EXANET_TEST_PEER);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_MODE, EXANET_FW_EXTERNAL);
    exanet_peer_hello(t->peer, false);
    exanet_wait(t, exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    qtest_bufwrite(t->qts, d.src, data, sizeof(data));
    exanet_desc_write(t, 5, &d);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
    g_assert_cmpuint(rx->words, ==, 4);
    for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
        g_assert_cmphex(ldq_le_p(rx->buf + 8 * i), ==, want[i]);
    }
    exanet_assert_quiet(t);
    g_assert_cmpuint(port_get(t, EXANET_REG_PORT_TX_PACKETS), ==, 1);
    g_assert_cmpuint(port_get(t, EXANET_REG_PORT_TX_WORDS), ==, 4);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 0);
    exanet_stop(t);
}

/* Of 256 nodes only this node and the peer can be reached. */
static void test_no_route(void)
{
    ExanetTest *t = exanet_start("");
    const uint32_t upper = EXANET_TEST_NODE & EXANET_COORD_UPPER;
    const uint32_t mask = 0x3133;   /* 4 FPGAs, 2 by 4 by 4 boards */
    ExanetRxPacket *rx;

    qtest_memset(t->qts, DST, 0, 2);
    for (uint32_t n = 0; n <= mask; n++) {
        if (!(n & ~mask)) {
            send_once(t, upper | n);
            send_once(t, (upper ^ 1 << 14) | n);
        }
    }
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE);
    g_assert_cmphex(rx->pkt.dst, ==, EXANET_TEST_PEER);
    g_free(rx);
    exanet_assert_quiet(t);
    g_assert_cmpuint(port_get(t, EXANET_REG_PORT_TX_PACKETS), ==, 1);
    g_assert_cmpuint(exanet_count(t, RX_WRITE), ==, 1);
    exanet_assert_mem(t, DST, "r", 2);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 2 * 128 - 2);
    exanet_stop(t);
}

/* A node with one cable forwards no packet, and accepts only packets of its peer. */
static void test_foreign(void)
{
    ExanetTest *t = exanet_start("");
    static const uint32_t others[] = {
        EXANET_TEST_ELSEWHERE, EXANET_TEST_PEER ^ 1 << 14,
        EXANET_TEST_NODE ^ 1 << 14, EXANET_TEST_NODE ^ 1, 0, EXANET_COORD,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
        assert_refused(t, others[i], t->peer->coord, EXANET_CNT_DROP_NO_ROUTE);
        assert_refused(t, t->peer->node, others[i], EXANET_CNT_DROP_SOURCE);
    }
    assert_refused(t, t->peer->coord, t->peer->coord, EXANET_CNT_DROP_NO_ROUTE);
    assert_refused(t, t->peer->node, t->peer->node, EXANET_CNT_DROP_SOURCE);
    exanet_stop(t);
}

/* The device gets new coordinates: packets for the old ones are dropped. */
static void test_renamed(void)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_REG_NODE, RENAMED);
    exanet_wait(t, t->peer->node == RENAMED &&
                (exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_LINK));
    loop_back(t, RENAMED);
    send_once(t, EXANET_TEST_NODE);
    assert_drops(t, EXANET_CNT_DROP_NO_ROUTE, 1);
    assert_refused(t, EXANET_TEST_NODE, EXANET_TEST_PEER,
                   EXANET_CNT_DROP_NO_ROUTE);
    /* the peer's packets still arrive, and the peer knows the new coordinates */
    send_once(t, EXANET_TEST_PEER);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_WRITE));
    assert_accepted(t, RENAMED);
    exanet_stop(t);
}

#define MEMORY -1                   /* address in memory, instead of an NI index */
#define EACH (2 * (16 + 1 + 1))     /* packets of each type */

/*
 * Returns true if the specification allows type @code at NI index @index; @message:
 * from a packetizer [P 2.5].
 */
static bool is_legal(unsigned code, int index, bool message)
{
    switch (code) {
    case EXANET_TYPE_WRITE:
        return index == MEMORY || (index == EXANET_NI_MAILBOX && message);
    case EXANET_TYPE_NOTIFY:
        return index == MEMORY || index == EXANET_NI_MAILBOX;
    case EXANET_TYPE_ACK:
        return index == EXANET_NI_RT_RESPONSE || index == EXANET_NI_PACKETIZER;
    case EXANET_TYPE_FLOW_RATE:
        return index == EXANET_NI_EXADMA;
    case EXANET_TYPE_RELEASE:
        return index == EXANET_NI_RECEIVER;
    case EXANET_TYPE_AXI_READ:
    case EXANET_TYPE_AXI_WRITE:
        return index == MEMORY || index == EXANET_NI_BRAM;
    case EXANET_TYPE_AXI_RESPONSE:
        return index == EXANET_NI_SHM;
    }
    return (code == EXANET_TYPE_CONTROL && index == EXANET_NI_RECEIVER) ||
           (code == EXANET_TYPE_READ_REQ && index == EXANET_NI_RT_REQUEST &&
            message);
}

static void try_packet(ExanetTest *t, unsigned code, int index, bool message)
{
    bool legal = is_legal(code, index, message);
    static unsigned tid;
    bool known = false;
    ExanetPacket pkt = new_packet(t, code, index == MEMORY ? DST :
                                           EXANET_NI_VA(index));

    for (unsigned i = 0; i < ARRAY_SIZE(types); i++) {
        known |= types[i].type == code;
    }
    if (code == EXANET_TYPE_AXI_READ || code == EXANET_TYPE_AXI_WRITE) {
        pkt.seq = tid++ % 4;        /* a new sequence, so that the store is no copy */
    } else {
        pkt.tid = tid++;
    }
    pkt.user = message ? EXANET_SMALL(EXANET_NI_PACKETIZER) : 0;
    pkt.small = EXANET_SMALL(index == MEMORY ? NOBODY : index);
    send_packet(t, &pkt);
    assert_drops(t, known ? EXANET_CNT_DROP_NI_TYPE : EXANET_CNT_DROP_MALFORMED,
                 !legal);
    g_assert_cmpint(protocol_irq_taken(t), ==, !legal);
}

static void test_table(void)
{
    ExanetTest *t = exanet_start_external("");

    exanet_mailbox_open(t, 0, 0, EXANET_RAM_RING, 4, 0);
    protocol_irq_taken(t);
    for (unsigned code = 0; code < 32; code++) {
        for (unsigned i = 0; i < EACH; i++) {
            int index = i / 2 == 16 ? 127 : i / 2 == 17 ? MEMORY : i / 2;

            try_packet(t, code, index, i % 2);
        }
    }
    for (unsigned i = EXANET_CNT_RX_WRITE; i <= EXANET_CNT_RX_ACK; i++) {
        g_assert_cmpuint(exanet_get64(t, EXANET_COUNTER(i)), ==, EACH);
    }
    /* the valid packets have reached their units */
    g_assert_cmpuint(exanet_count(t, RX_RELEASE), ==, 2);
    g_assert_cmpuint(exanet_count(t, RX_FLOW_RATE), ==, 2);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 1 + 2);
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 4);
    g_assert_cmpuint(exanet_count(t, RX_CTX_ALLOC), ==, 3);
    g_assert_cmpuint(exanet_count(t, ACK_STALE), ==, 2);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_LOAD), ==, 4);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_STORE) +
                     exanet_count(t, SHM_DUPLICATE), ==, 4);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_ERROR), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_STALE), ==, 2);
    /* acks of blocks, of the read request, of notifications */
    g_assert_cmpuint(exanet_count(t, TX_ACK), ==, 3 + 1 + 4);
    g_assert_cmpuint(exanet_count(t, NACK_SENT), ==, 0);
    g_assert_cmpuint(exanet_get32(t, EXANET_RTMBOX + EXANET_REG_RT_REQ_COUNT),
                     ==, EXANET_RT_MSG_WORDS);
    g_assert_cmpuint(exanet_get32(t, EXANET_RTMBOX + EXANET_REG_RT_RESP_COUNT),
                     ==, 2);
    exanet_stop(t);
}

/* Sends @pkt, and asserts that it is taken, or dropped because of the NI map. */
static void assert_ni(ExanetTest *t, const ExanetPacket *pkt, bool taken)
{
    send_packet(t, pkt);
    assert_drops(t, EXANET_CNT_DROP_NI_TYPE, !taken);
    g_assert_cmpint(protocol_irq_taken(t), ==, !taken);
}

/*
 * The NI map defines the unit and the types of an index; an invalid entry accepts no
 * packet.
 */
static void test_ni_map(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetPacket message = new_packet(t, EXANET_TYPE_WRITE,
                                      EXANET_NI_VA(NOBODY));
    ExanetPacket control = new_packet(t, EXANET_TYPE_CONTROL,
                                      EXANET_NI_VA(EXANET_NI_RECEIVER));
    ExanetPacket ack = new_packet(t, EXANET_TYPE_ACK, 0);
    ExanetPacket load = new_packet(t, EXANET_TYPE_AXI_READ, EXANET_NI_VA(NOBODY));
    ExanetPacket response = new_packet(t, EXANET_TYPE_AXI_RESPONSE,
                                       EXANET_NI_VA(NOBODY));
    uint64_t mailbox = exanet_get64(t, EXANET_NI_MAP(EXANET_NI_MAILBOX));
    uint64_t receiver = exanet_get64(t, EXANET_NI_MAP(EXANET_NI_RECEIVER));

    exanet_mailbox_open(t, 0, 0, EXANET_RAM_RING, 4, 0);
    protocol_irq_taken(t);
    message.user = EXANET_SMALL(EXANET_NI_PACKETIZER);
    assert_ni(t, &message, false);
    exanet_set64(t, EXANET_NI_MAP(NOBODY), mailbox);
    assert_ni(t, &message, true);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 1);
    /* another index for each unit: type and port must match */
    exanet_set64(t, EXANET_NI_MAP(NOBODY), mailbox & ~EXANET_NI_MAP_VALID);
    assert_ni(t, &message, false);
    for (unsigned port = 0; port < 16; port++) {
        exanet_set64(t, EXANET_NI_MAP(NOBODY), EXANET_NI_MAP_VALID |
                     EXANET_NI_MAP_TYPES | RNIC_PREP(EXANET_NI_MAP_PORT, port));
        message.tid++;
        assert_ni(t, &message, port == EXANET_NI_PORT_MAILBOX);
        ack.small = EXANET_SMALL(NOBODY);
        assert_ni(t, &ack, port == EXANET_NI_PORT_RT_RESPONSE ||
                           port == EXANET_NI_PORT_PACKETIZER);
        control.va = EXANET_NI_VA(NOBODY);
        control.tid++;
        assert_ni(t, &control, port == EXANET_NI_PORT_RECEIVER);
        assert_ni(t, &load, port == EXANET_NI_PORT_BRAM);
        assert_ni(t, &response, port == EXANET_NI_PORT_SHM);
    }
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_LOAD), ==, 1);
    g_assert_cmpuint(exanet_count(t, SHM_STALE), ==, 1);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 2);
    g_assert_cmpuint(exanet_count(t, RX_CTX_ALLOC), ==, 1);
    /* the unit's index without the type of the unit */
    exanet_set64(t, EXANET_NI_MAP(EXANET_NI_RECEIVER), receiver &
                 ~RNIC_PREP(EXANET_NI_MAP_TYPES, 1u << EXANET_TYPE_CONTROL));
    control.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    assert_ni(t, &control, false);
    exanet_stop(t);
}

static void test_disabled(void)
{
    ExanetTest *t = exanet_start("");

    exanet_set32(t, EXANET_REG_CTRL, 0);
    assert_refused(t, EXANET_TEST_NODE, EXANET_TEST_PEER,
                   EXANET_CNT_DROP_DISABLED);
    exanet_pktz_start(t, 0, 0, exanet_gva(EXANET_TEST_NODE, DST), "x", 1, 0);
    exanet_wait(t, exanet_pktz_state(t, 0, 0) == EXANET_PKTZ_FAILED);
    g_assert_cmpuint(exanet_count(t, TX_WRITE), ==, 0);
    assert_nothing_sent(t);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    assert_accepted(t, EXANET_TEST_NODE);
    exanet_stop(t);
}

/*
 * A block to this node whose response index has no unit: the data arrive, the ack is
 * dropped.
 */
static void test_ack_to_nobody(void)
{
    ExanetTest *t = exanet_start_external("");
    ExanetDesc d = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(EXANET_TEST_NODE, DST),
        .len = 64, .pdid = EXANET_TEST_PDID(0),
        .w4 = RNIC_PREP(EXANET_DESC_W4_RESP, EXANET_SMALL(NOBODY)),
    };
    uint8_t data[64];

    protocol_irq_taken(t);
    exanet_fill(t, d.src, data, sizeof(data), 3);
    exanet_desc_write(t, 0, &d);
    exanet_wait(t, exanet_count(t, RX_ACK) == 1);
    exanet_assert_mem(t, DST, data, sizeof(data));
    assert_drops(t, EXANET_CNT_DROP_NI_TYPE, 1);
    g_assert_true(protocol_irq_taken(t));
    g_assert_cmpuint(exanet_get32(t, EXANET_RTMBOX + EXANET_REG_RT_RESP_COUNT),
                     ==, 0);
    assert_nothing_sent(t);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/net/loop-back-t26", test_loop_back);
    qtest_add_func("/exanet/net/to-peer", test_to_peer);
    qtest_add_func("/exanet/net/no-route-t26", test_no_route);
    qtest_add_func("/exanet/net/no-route-foreign-t26", test_foreign);
    qtest_add_func("/exanet/net/renamed-t26", test_renamed);
    qtest_add_func("/exanet/net/table-t24", test_table);
    qtest_add_func("/exanet/net/ni-map-t24", test_ni_map);
    qtest_add_func("/exanet/net/disabled", test_disabled);
    qtest_add_func("/exanet/net/ack-to-nobody", test_ack_to_nobody);
    return g_test_run();
}
