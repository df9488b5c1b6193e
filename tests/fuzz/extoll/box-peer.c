/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The neighbours of extoll-box; see box-peer.h. */
#include "box-peer.h"
#include "box-velo.h"
#include "hw/rnic/extoll/base/control.h"
#include "hw/rnic/extoll/base/flit.h"
#include "hw/rnic/extoll/base/packet.h"
#include "hw/rnic/extoll/base/route.h"

#define WORD        RNIC_LINK_WORD
#define FRAME_WORDS 1024            /* of a frame of a neighbour */
#define LANES       16              /* path numbers */
#define MAGIC       0x7a3ULL        /* upper bits of word1 of an honest packet */
#define ITERATIONS  2000            /* limit of the main loop's iterations */
#define UP_NS       (20 * NANOSECONDS_PER_SECOND)   /* limit until a link is up */

enum fault { FAULT_LOSE, FAULT_TWICE, FAULT_FLIP, FAULTS };

typedef struct Frame {
    struct rnic_frame head;
    uint8_t words[FRAME_WORDS * WORD];
} Frame;

typedef struct Peer {
    ExtollLink link;
    uint32_t node;
    uint8_t epoch;
    uint8_t device;                 /* the device's epoch; 0: no HELLO yet */
    bool up;
    bool hostile;                   /* frames that no honest neighbour sends */
    enum fault fault;
    unsigned faults;                /* frames that @fault still hits */
    uint16_t at;                    /* bit of FAULT_FLIP */
    uint32_t sent[LANES];           /* honest packets, by path number */
    uint32_t got[LANES];            /* numbers of those that came, plus 1 */
    uint32_t arrived;               /* honest packets, at this end */
} Peer;

static struct {
    ExtollState *s;
    unsigned node;
    Peer peer[BOX_WIRES];
} net;

/* --- Honest packets --------------------------------------------------------------- */

/* Returns the routing string of a packet from @wire with the path number @lane. */
static uint64_t route_of(unsigned wire, unsigned lane)
{
    ExtollHops hops[2] = {
        { .output = !wire, .hops = { 1, 0 } },
        { .output = EXTOLL_OUTPUT_RMA, .hops = { 0, 1 } },
    };
    unsigned n = 1;

    switch (lane % 8) {
    case PATH_OTHER_1:
        hops[0].hops[0] = 0;
        hops[0].hops[1] = 1;
        break;
    case PATH_FAR:
        hops[0].hops[1] = 2;
        n = 2;
        break;
    case PATH_BACK:
        hops[0].output = wire;
        break;
    case PATH_NO_LINK:
        hops[0].output = 3;
        break;
    case PATH_UNIT:
        hops[0].output = EXTOLL_OUTPUT_VELO;
        break;
    case PATH_NONE:
        n = 0;
        break;
    }
    return extoll_route_encode(hops, n);
}

/* Stores packet @number of @wire and @lane at @buf; returns its bytes. */
static unsigned packet_make(uint8_t *buf, unsigned wire, unsigned lane, uint32_t number,
                            uint64_t route)
{
    ExtollPacket pkt = {
        .command = EXTOLL_CMD_PUT_BYTES,
        .bytes = 1 + (number * 157 + lane * 31) % 500,
        .word1 = MAGIC << 52 | wire << 20 | lane << 12,
        .word2 = (uint64_t)number << 12,
    };

    memset(extoll_packet_payload(buf), number + lane, pkt.bytes);
    return extoll_packet_encode(buf, route, &pkt);
}

bool peers_are_hostile(void)
{
    return net.peer[0].hostile || net.peer[1].hostile;
}

/* Checks a message of VELO that has arrived. */
static void message_check(const ExtollArrived *a)
{
    ExtollVeloMsg msg;

    g_assert_cmpint(extoll_packet_message_decode(a->data, a->bytes, &msg), ==,
                    EXTOLL_PACKET_OK);
    g_assert_cmpuint(msg.src_node, <, EXTOLL_NODES);
    g_assert_cmpint(msg.dst_vpid == VELO_HONEST, ==, msg.src_vpid == VELO_HONEST);
}

/*
 * Checks the packet @a, which has arrived at @wire.  On its way from an honest cable to
 * an honest cable nothing may happen to it.
 */
static void packet_check(unsigned wire, const ExtollArrived *a)
{
    uint64_t word1 = ldq_le_p(a->data + 16), word2 = ldq_le_p(a->data + 24), route;
    unsigned from = word1 >> 20 & 1, lane = word1 >> 12 & (LANES - 1), output, vc;
    Peer *p = &net.peer[from];
    uint32_t number = word2 >> 12;
    uint8_t want[EXTOLL_PACKET_MAX];

    g_assert_cmpuint(a->bytes, >=, 32);
    g_assert_cmphex(word1 >> 52, ==, MAGIC);
    route = route_of(from, lane);
    g_assert_cmpint(extoll_route_step(&route, &output, &vc), ==, EXTOLL_ROUTE_LINK);
    g_assert_cmpuint(output, ==, wire);
    g_assert_cmpuint(number, <, p->sent[lane]);
    g_assert_cmpuint(number, >=, p->got[lane]);
    g_assert_cmpmem(a->data, a->bytes, want,
                    packet_make(want, from, lane, number, route));
    p->got[lane] = number + 1;
    net.peer[wire].arrived++;
}

static void arrived_check(unsigned wire, const ExtollArrived *a)
{
    if (peers_are_hostile()) {
        return;
    }
    if (extoll_packet_is_message(a->data)) {
        message_check(a);
    } else {
        packet_check(wire, a);
    }
}

/* Sends a packet of @wire with the path number @lane, if its link takes one. */
static bool packet_send(unsigned wire, unsigned lane)
{
    Peer *p = &net.peer[wire];
    uint8_t buf[EXTOLL_PACKET_MAX];
    unsigned vc = lane / 8;
    unsigned bytes = packet_make(buf, wire, lane, p->sent[lane], route_of(wire, lane));

    if (!extoll_link_can_send(&p->link, vc, bytes)) {
        return false;
    }
    extoll_link_send(&p->link, vc, buf, bytes);
    p->sent[lane]++;
    return true;
}

/* --- Frames to the device ---------------------------------------------------------- */

/* Returns true if the next frame is to be hit by @fault. */
static bool is_hit(Peer *p, enum fault fault)
{
    if (!p->faults || p->fault != fault) {
        return false;
    }
    p->faults--;
    return true;
}

static void flip(const Peer *p, uint8_t *bytes, size_t len)
{
    bytes[p->at / 8 % len] ^= 1u << p->at % 8;
}

/* Sends @f, with @words words, to the device. */
static void frame_send(unsigned wire, Frame *f, unsigned kind, unsigned vc,
                       unsigned words)
{
    Peer *p = &net.peer[wire];
    size_t len = sizeof(f->head) + words * WORD;

    f->head = (struct rnic_frame) {
        .ethertype = cpu_to_be16(RNIC_ETHERTYPE), .version = RNIC_LINK_VERSION,
        .kind = kind, .vc = vc, .family = RNIC_LINK_EXTOLL, .count = cpu_to_le16(words),
    };
    memset(f->head.dst, 0xff, sizeof(f->head.dst));
    stl_be_p(f->head.src, EXTOLL_MAC_PREFIX << 8);
    stl_be_p(f->head.src + 2, (EXTOLL_MAC_PREFIX & 0xff) << 24 | p->node);
    if (is_hit(p, FAULT_LOSE)) {
        return;
    }
    if (is_hit(p, FAULT_FLIP)) {
        flip(p, (uint8_t *)f, len);
    }
    box_frame(wire, f, len);
    if (is_hit(p, FAULT_TWICE)) {
        box_frame(wire, f, len);
    }
}

static void hello_send(unsigned wire)
{
    Peer *p = &net.peer[wire];
    struct rnic_hello hello = {
        .coord = cpu_to_le32(p->node), .epoch = p->epoch,
        .flags = p->device ? RNIC_HELLO_HEARD : 0, .peer_epoch = p->device,
        .rx_words = cpu_to_le32(65536), .max_words = cpu_to_le32(4032),
    };
    Frame f;

    memcpy(f.words, &hello, sizeof(hello));
    frame_send(wire, &f, RNIC_LINK_HELLO, 0, 1);
}

/* Takes the link of @p down, and makes the device notice that. */
static void peer_restart(unsigned wire, bool forget)
{
    Peer *p = &net.peer[wire];

    p->up = false;
    p->device = 0;
    extoll_link_down(&p->link);
    if (forget) {
        extoll_link_forget(&p->link);
    }
    hello_send(wire);
}

static void status_take(unsigned wire, ExtollLinkStatus status)
{
    /* an honest device, at an honest cable, breaks no link */
    if (status == EXTOLL_LINK_DEAD || status == EXTOLL_LINK_BROKEN) {
        peer_restart(wire, status == EXTOLL_LINK_BROKEN);
    }
}

/* Sends all flits and control words that may leave. */
static void words_send(unsigned wire)
{
    Peer *p = &net.peer[wire];
    unsigned words = 0, more;
    Frame f;

    while (p->up && words + EXTOLL_FLIT_MAX / WORD <= FRAME_WORDS &&
           (more = extoll_link_next(&p->link, f.words + words * WORD, box_now()))) {
        words += more;
    }
    if (words) {
        frame_send(wire, &f, RNIC_LINK_DATA, 0, words);
    }
}

/* --- Frames of the device ----------------------------------------------------------- */

static void hello_take(unsigned wire, const struct rnic_hello *h)
{
    Peer *p = &net.peer[wire];
    bool heard = (h->flags & RNIC_HELLO_HEARD) && h->peer_epoch == p->epoch;
    bool same = p->device == h->epoch;

    if (!same || !heard) {
        p->up = false;
        extoll_link_down(&p->link);
    }
    if (!same && p->device) {
        extoll_link_forget(&p->link);
    }
    p->device = h->epoch;
    if (heard && !p->up) {
        p->up = true;
        extoll_link_up(&p->link);
        hello_send(wire);
    } else if (!heard) {
        hello_send(wire);
    }
}

static void data_take(unsigned wire, const uint8_t *buf, unsigned words)
{
    Peer *p = &net.peer[wire];

    while (p->up && words) {
        unsigned count = 1;

        if (!extoll_control_is(buf)) {
            unsigned bytes = RNIC_GET(EXTOLL_FLIT_BYTES, ldl_le_p(buf));

            count = DIV_ROUND_UP(EXTOLL_FLIT_HEADER + bytes, WORD);
            if (!bytes || bytes > EXTOLL_FLIT_DATA || count > words) {
                extoll_link_bad(&p->link, box_now());
                break;
            }
        }
        status_take(wire, extoll_link_take(&p->link, buf, count, box_now()));
        buf += count * WORD;
        words -= count;
    }
    words_send(wire);
}

static void frame_take(unsigned wire, const uint8_t *frame, size_t len)
{
    const uint8_t *words = frame + sizeof(struct rnic_frame);
    struct rnic_frame head;
    unsigned count;

    memcpy(&head, frame, sizeof(head));
    count = le16_to_cpu(head.count);
    if (len < sizeof(head) + count * WORD || head.family != RNIC_LINK_EXTOLL) {
        return;
    }
    if (head.kind == RNIC_LINK_HELLO && count) {
        struct rnic_hello hello;

        memcpy(&hello, words, sizeof(hello));
        hello_take(wire, &hello);
    } else if (head.kind == RNIC_LINK_DATA) {
        data_take(wire, words, count);
    } else if (head.kind == RNIC_LINK_DOWN) {
        net.peer[wire].up = false;
        extoll_link_down(&net.peer[wire].link);
    }
}

void peers_sent(unsigned wire, const uint8_t *frame, size_t len)
{
    g_autofree uint8_t *copy = g_memdup2(frame, len);
    Peer *p = &net.peer[wire];

    if (is_hit(p, FAULT_LOSE)) {
        return;
    }
    if (is_hit(p, FAULT_FLIP)) {
        flip(p, copy, len);
    }
    frame_take(wire, copy, len);
    if (is_hit(p, FAULT_TWICE)) {
        frame_take(wire, copy, len);
    }
}

void peers_run(void)
{
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        ExtollLink *l = &net.peer[wire].link;

        status_take(wire, extoll_link_expire(l, box_now()));
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            ExtollArrived *a;

            while ((a = extoll_link_head(l, vc))) {
                arrived_check(wire, a);
                extoll_link_pop(l, vc, box_now());
            }
        }
        words_send(wire);
    }
}

/* --- Operations ------------------------------------------------------------------ */

static unsigned any_wire(FuzzInput *in)
{
    return fuzz_u8(in) % BOX_WIRES;
}

void peer_op_send(FuzzInput *in)
{
    unsigned wire = any_wire(in), count = fuzz_u8(in) % 16 + 1;

    for (unsigned i = 0; i < count; i++) {
        packet_send(wire, fuzz_u8(in) % LANES);
    }
    hello_send(wire);
    words_send(wire);
}

/*
 * Sends messages, of which the device discards those with other protection ids or without
 * room.  Each is a whole message or the part of one.
 */
void peer_op_message(FuzzInput *in)
{
    unsigned wire = any_wire(in), count = fuzz_u8(in) % 16 + 1, kind = fuzz_u8(in);
    ExtollHops hops = { .output = EXTOLL_OUTPUT_VELO, .hops = { 0, 1 } };
    Peer *p = &net.peer[wire];
    ExtollVeloMsg msg = { .src_node = p->node, .quadwords = kind % 8 + 1, .end = true };

    msg.dst_vpid = fuzz_u8(in) % VELO_HONEST;
    msg.src_vpid = fuzz_u8(in) % EXTOLL_VPIDS;
    msg.prot = fuzz_u16(in);
    msg.count = msg.quadwords;
    if (kind & 0x80 && msg.quadwords > 1) {
        msg.split = true;
        msg.first = kind & 0x40 ? 1 : 0;
        msg.end = kind & 0x40;
        msg.count--;
    }
    for (unsigned i = 0; i < count; i++) {
        uint8_t buf[EXTOLL_PACKET_MAX];
        unsigned bytes;

        memset(msg.data, i, sizeof(msg.data));
        bytes = extoll_packet_message_encode(buf, extoll_route_encode(&hops, 1), &msg);
        if (extoll_link_can_send(&p->link, i % EXTOLL_VCS, bytes)) {
            extoll_link_send(&p->link, i % EXTOLL_VCS, buf, bytes);
        }
    }
    hello_send(wire);
    words_send(wire);
}

void peer_op_fault(FuzzInput *in)
{
    Peer *p = &net.peer[any_wire(in)];

    p->fault = fuzz_u8(in) % FAULTS;
    p->faults = fuzz_u8(in) % 32;
    p->at = fuzz_u16(in);
}

void peer_op_frame(FuzzInput *in)
{
    unsigned wire = any_wire(in), kind = fuzz_u8(in), vc = fuzz_u8(in) % 8;
    unsigned words = fuzz_u8(in);
    Frame f;

    net.peer[wire].hostile = true;
    fuzz_bytes(in, f.words, WORD);
    for (unsigned i = 1; i < words; i++) {
        memcpy(f.words + i * WORD, f.words, WORD);
    }
    frame_send(wire, &f, kind, vc % 4 == 3 ? vc : 0, words);
}

void peer_op_word(FuzzInput *in)
{
    unsigned wire = any_wire(in), kind = fuzz_u8(in), flags = fuzz_u8(in);
    uint16_t ack = fuzz_u16(in), next = net.peer[wire].link.tx.next;
    uint32_t number = fuzz_u32(in), count = fuzz_u32(in);
    Frame f = { 0 };
    unsigned words = 1;

    net.peer[wire].hostile = true;
    if (kind & 3) {
        ExtollControl c = {
            .kind = kind & 1 ? EXTOLL_CONTROL_STATE : EXTOLL_CONTROL_START,
            .flags = flags % 8, .ack = ack, .count = { number, count },
        };

        extoll_control_encode(f.words, &c);
    } else {
        ExtollFlit flit = {
            .seq = kind & 4 ? ack : next + ack % 8, .vc = flags & 1,
            .bytes = 8 * (count % 15 + 1), .first = flags & 2, .last = flags & 4,
        };

        stq_le_p(f.words + EXTOLL_FLIT_HEADER, number);
        stq_le_p(f.words + EXTOLL_FLIT_HEADER + EXTOLL_ROUTING_BYTES,
                 RNIC_PREP(EXTOLL_PKT_COMMAND, kind >> 4) | (uint64_t)count << 8);
        words = DIV_ROUND_UP(extoll_flit_encode(f.words, &flit), WORD);
    }
    frame_send(wire, &f, RNIC_LINK_DATA, 0, words);
}

void peer_op_wire(FuzzInput *in)
{
    unsigned wire = any_wire(in), kind = fuzz_u8(in) % 3;
    bool on = fuzz_u8(in) & 1;

    switch (kind) {
    case 0:
        box_wire_link(wire, on);
        break;
    case 1:
        box_wire_block(wire, on);
        break;
    default:
        box_machine_run(on);
    }
}

/* --- Life ------------------------------------------------------------------------ */

/* Makes an honest neighbour anew, with another epoch. */
static void peer_begin(unsigned wire, uint8_t epoch)
{
    Peer *p = &net.peer[wire];

    *p = (Peer) { .node = (net.node + 1 + wire) % EXTOLL_NODES, .epoch = epoch };
    extoll_link_init(&p->link, PEER_ROOM);
}

void peers_start(ExtollState *s, unsigned node)
{
    net.s = s;
    net.node = node;
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        peer_begin(wire, 100 + wire);
    }
}

void peers_end(void)
{
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        extoll_link_fini(&net.peer[wire].link);
    }
}

/* Runs for @ns. */
static void time_pass(int64_t ns)
{
    for (int64_t end = box_now() + ns; box_now() < end;) {
        peers_run();
        g_assert_true(box_step(5 * SCALE_MS, ITERATIONS));
    }
    peers_run();
}

static void links_wait(void)
{
    int64_t end = box_now() + UP_NS;
    bool up = false;

    while (!up) {
        up = true;
        for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
            up &= extoll_link_is_up(&net.s->link[wire]) &&
                  extoll_link_is_up(&net.peer[wire].link);
        }
        g_assert_cmpint(box_now(), <, end);
        for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
            hello_send(wire);
        }
        time_pass(100 * SCALE_MS);
    }
}

/* Asserts that each packet arrives, or is counted, when nothing disturbs the cables. */
static void packets_check(void)
{
    uint64_t bad = net.s->counter[EXTOLL_CNT_ROUTE_BAD];
    uint64_t forwarded = net.s->counter[EXTOLL_CNT_FORWARDED];
    unsigned lost = 0, good = 0;

    for (unsigned i = 0; i < 2 * BOX_WIRES * LANES; i++) {
        unsigned wire = i % BOX_WIRES, lane = i / BOX_WIRES % LANES;

        if (lane % 8 >= PATHS) {
            continue;
        }
        while (!packet_send(wire, lane)) {
            time_pass(5 * SCALE_MS);
        }
        *(lane % 8 < PATH_NO_LINK ? &good : &lost) += 1;
    }
    time_pass(200 * SCALE_MS);
    g_assert_cmpuint(net.peer[0].arrived + net.peer[1].arrived, ==, good);
    g_assert_cmpuint(net.s->counter[EXTOLL_CNT_FORWARDED] - forwarded, ==, good);
    g_assert_cmpuint(net.s->counter[EXTOLL_CNT_ROUTE_BAD] - bad, ==, lost);
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        ExtollLink *l = &net.s->link[wire];

        g_assert_cmpuint(extoll_replay_tx_kept(&l->tx), ==, 0);
        g_assert_cmpuint(extoll_replay_tx_kept(&net.peer[wire].link.tx), ==, 0);
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            g_assert_null(extoll_link_head(l, vc));
            g_assert_cmpuint(extoll_credit_tx_left(&l->tx_credit[vc]), ==, PEER_ROOM);
        }
    }
}

void peers_works_check(void)
{
    box_machine_run(true);
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        net.peer[wire].faults = 0;
        box_wire_block(wire, false);
        box_wire_link(wire, true);
    }
    /* what was under way arrives before the neighbours begin anew */
    time_pass(100 * SCALE_MS);
    peers_end();
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        peer_begin(wire, 200 + wire);
        hello_send(wire);
    }
    links_wait();
    packets_check();
}
