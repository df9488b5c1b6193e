/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other end of a cable; see link.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "hw/rnic/extoll/base/packet.h"
#include "link.h"

#define WORD RNIC_LINK_WORD

static void take_frame(void *opaque, const uint8_t *buf, size_t len);

ExtollPeer *extoll_peer_new(unsigned link)
{
    ExtollPeer *p = g_new0(ExtollPeer, 1);

    if (machine_on_cable()) {
        wire_peer_init_cable(&p->wire, RNIC_FRAME_MAX);
    } else {
        wire_peer_init(&p->wire, false, RNIC_FRAME_MAX);
    }
    p->node = EXTOLL_PEER_NODE(link);
    p->epoch = EXTOLL_PEER_EPOCH;
    p->family = RNIC_LINK_EXTOLL;
    p->room = EXTOLL_ROOM_DEFAULT;
    g_queue_init(&p->out);
    g_queue_init(&p->packets);
    return p;
}

/* --- Sending -------------------------------------------------------------- */

static void put_mac(uint8_t *mac, uint32_t node)
{
    stl_be_p(mac, EXTOLL_MAC_PREFIX << 8 | node >> 16);
    stw_be_p(mac + 4, node);
}

/*
 * Sends all frames of @p->out.  A frame that arrives meanwhile must not start another
 * frame before this one has left as a whole, so answers wait in @p->out.
 */
static void frames_send(ExtollPeer *p)
{
    GByteArray *buf;

    p->busy = true;
    while ((buf = g_queue_pop_head(&p->out))) {
        wire_peer_send(&p->wire, buf->data, buf->len, take_frame, p);
        g_byte_array_unref(buf);
    }
    p->busy = false;
}

void extoll_peer_frame(ExtollPeer *p, unsigned kind, const void *data, unsigned words)
{
    GByteArray *buf = g_byte_array_new();
    struct rnic_frame frame = {
        .ethertype = cpu_to_be16(RNIC_ETHERTYPE),
        .version = RNIC_LINK_VERSION,
        .kind = kind,
        .family = p->family,
        .count = cpu_to_le16(words),
        .seq = cpu_to_le32(p->tx_frame++),
    };
    memset(frame.dst, 0xff, sizeof(frame.dst));
    put_mac(frame.src, p->node);
    g_byte_array_append(buf, (const uint8_t *)&frame, sizeof(frame));
    if (words) {
        g_byte_array_append(buf, data, words * WORD);
    }
    g_queue_push_tail(&p->out, buf);
    if (!p->busy) {
        frames_send(p);
    }
}

void extoll_peer_hello(ExtollPeer *p, bool heard)
{
    struct rnic_hello hello = {
        .coord = cpu_to_le32(p->node),
        .epoch = p->epoch,
        .flags = heard ? RNIC_HELLO_HEARD : 0,
        .peer_epoch = heard ? p->hello.epoch : 0,
        .rx_words = cpu_to_le32(65536),
        .max_words = cpu_to_le32(4096),
    };

    p->heard_sent = heard;
    p->heard_epoch = p->hello.epoch;
    extoll_peer_frame(p, RNIC_LINK_HELLO, &hello, sizeof(hello) / WORD);
}

void extoll_peer_control(ExtollPeer *p, const ExtollControl *c)
{
    uint8_t buf[WORD];

    extoll_control_encode(buf, c);
    extoll_peer_frame(p, RNIC_LINK_DATA, buf, 1);
}

void extoll_peer_start(ExtollPeer *p, unsigned flags)
{
    ExtollControl c = {
        .kind = EXTOLL_CONTROL_START,
        .flags = flags | (p->resume ? EXTOLL_START_RESUME : 0),
        .ack = p->rx_seq,
        .count = { p->room, p->room },
    };

    extoll_peer_control(p, &c);
}

void extoll_peer_state(ExtollPeer *p, unsigned flags)
{
    ExtollControl c = {
        .kind = EXTOLL_CONTROL_STATE,
        .flags = flags,
        .ack = p->rx_seq,
        .count = { p->rx_freed[0], p->rx_freed[1] },
    };

    extoll_peer_control(p, &c);
}

void extoll_peer_forget(ExtollPeer *p)
{
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        g_free(p->part[vc]);
        p->part[vc] = NULL;
        p->tx_flits[vc] = p->rx_flits[vc] = p->rx_freed[vc] = 0;
    }
    p->tx_seq = p->rx_seq = 0;
    p->state = (ExtollControl) { 0 };
    p->resume = p->nak_sent = false;
}

/* --- Receiving: control words --------------------------------------------- */

/* A START without HEARD is the first after the device's link was down. */
static void take_start(ExtollPeer *p, const ExtollControl *c)
{
    bool resume = c->flags & EXTOLL_START_RESUME;

    p->start = *c;
    p->starts++;
    if (p->mute) {
        return;
    }
    if (!(c->flags & EXTOLL_START_HEARD) || !p->open) {
        p->resume |= p->open;
        if (!resume && p->resume) {
            extoll_peer_forget(p);
        }
        if (p->resume) {
            g_assert_cmpuint((uint16_t)(p->tx_seq - c->ack), <=, EXTOLL_WINDOW);
        }
        p->open = resume == p->resume;
    }
    if (c->flags & EXTOLL_START_ANSWER) {
        extoll_peer_start(p, (p->open ? EXTOLL_START_HEARD : 0) |
                          (c->flags & EXTOLL_START_HEARD ? 0 : EXTOLL_START_ANSWER));
    }
}

static void take_state(ExtollPeer *p, const ExtollControl *c)
{
    g_assert_cmpuint((uint16_t)(p->tx_seq - c->ack), <=, EXTOLL_WINDOW);
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        g_assert_cmpuint(p->tx_flits[vc] - c->count[vc], <=, EXTOLL_ROOM_MAX);
    }
    p->state = *c;
    p->states++;
    p->naks += !!(c->flags & EXTOLL_STATE_NAK);
    if (c->flags & EXTOLL_STATE_ANSWER && !p->mute) {
        extoll_peer_state(p, 0);
    }
}

static void take_control(ExtollPeer *p, const uint8_t *buf)
{
    ExtollControl c;

    switch (extoll_control_decode(buf, &c)) {
    case EXTOLL_CONTROL_OK:
        break;
    case EXTOLL_CONTROL_BAD_CRC:
        g_assert_true(p->faults);
        p->bad++;
        return;
    default:
        g_error("malformed control word");
    }
    if (c.kind == EXTOLL_CONTROL_START) {
        take_start(p, &c);
    } else {
        take_state(p, &c);
    }
}

/* --- Receiving: flits ----------------------------------------------------- */

static void take_data(ExtollPeer *p, const ExtollFlit *flit, const uint8_t *data)
{
    ExtollRxPacket *rx = p->part[flit->vc];

    g_assert_cmpint(flit->first, ==, rx == NULL);
    g_assert_cmpuint(++p->rx_flits[flit->vc] - p->rx_freed[flit->vc], <=, p->room);
    if (!rx) {
        rx = p->part[flit->vc] = g_new0(ExtollRxPacket, 1);
        rx->vc = flit->vc;
    }
    g_assert_cmpuint(rx->bytes + flit->bytes, <=, sizeof(rx->buf));
    memcpy(rx->buf + rx->bytes, data, flit->bytes);
    rx->bytes += flit->bytes;
    if (flit->last) {
        g_queue_push_tail(&p->packets, rx);
        p->part[flit->vc] = NULL;
        p->rx_freed[flit->vc] += p->hold ? 0 : extoll_flits(rx->bytes);
    }
}

/* Takes a flit.  Returns true if the device must go back to flit @p->rx_seq. */
static bool take_flit(ExtollPeer *p, const uint8_t *buf, size_t len)
{
    ExtollFlit flit;
    ExtollFlitStatus status = extoll_flit_decode(buf, len, &flit);

    if (status == EXTOLL_FLIT_BAD_CRC) {
        g_assert_true(p->faults);
        p->bad++;
        return true;
    }
    g_assert_cmpint(status, ==, EXTOLL_FLIT_OK);
    p->flits++;
    if (flit.seq == p->rx_seq) {
        p->rx_seq++;
        p->nak_sent = false;
        take_data(p, &flit, buf + EXTOLL_FLIT_HEADER);
        return false;
    }
    if ((uint16_t)(p->rx_seq - flit.seq) <= EXTOLL_WINDOW) {
        p->again++;
        p->nak_sent = false;
        return false;
    }
    g_assert_true(p->faults);
    p->gaps++;
    return true;
}

/* Takes flits and control words; then answers the flits. */
static void take_words(ExtollPeer *p, const uint8_t *buf, unsigned words)
{
    unsigned flits = 0;
    bool nak = false;

    while (words) {
        unsigned n = 1;

        if (extoll_control_is(buf)) {
            take_control(p, buf);
        } else {
            n = DIV_ROUND_UP(EXTOLL_FLIT_HEADER + buf[3], WORD);
            g_assert_cmpuint(n, <=, words);
            nak |= take_flit(p, buf, n * WORD);
            flits++;
        }
        buf += n * WORD;
        words -= n;
    }
    if (flits && !p->mute) {
        nak &= !p->nak_sent;
        p->nak_sent |= nak;
        extoll_peer_state(p, nak ? EXTOLL_STATE_NAK : 0);
    }
}

/* --- Receiving: frames ---------------------------------------------------- */

static void take_hello(ExtollPeer *p, const struct rnic_hello *hello)
{
    p->hello = *hello;
    p->hello.coord = le32_to_cpu(hello->coord);
    p->hello.rx_words = le32_to_cpu(hello->rx_words);
    p->hello.max_words = le32_to_cpu(hello->max_words);
    p->hellos++;
    p->heard = (hello->flags & RNIC_HELLO_HEARD) && hello->peer_epoch == p->epoch;
    g_assert_cmpuint(hello->reserved, ==, 0);
    if (!p->silent &&
        (!p->heard || !p->heard_sent || p->heard_epoch != hello->epoch)) {
        extoll_peer_hello(p, true);
    }
}

static void check_header(ExtollPeer *p, const struct rnic_frame *frame, size_t len)
{
    uint8_t mac[6];

    g_assert_cmphex(be16_to_cpu(frame->ethertype), ==, RNIC_ETHERTYPE);
    g_assert_cmpuint(frame->version, ==, RNIC_LINK_VERSION);
    g_assert_cmpuint(frame->vc, ==, 0);
    g_assert_cmpuint(frame->family, ==, RNIC_LINK_EXTOLL);
    g_assert_cmpuint(len, ==, sizeof(*frame) + le16_to_cpu(frame->count) * WORD);
    if (p->hellos && frame->kind == RNIC_LINK_DATA) {
        put_mac(mac, p->hello.coord);
        g_assert_cmpmem(frame->src, 6, mac, 6);
    }
    g_assert_cmpuint(le32_to_cpu(frame->seq), ==, p->rx_frame);
    p->rx_frame++;
}

static void take_frame(void *opaque, const uint8_t *buf, size_t len)
{
    ExtollPeer *p = opaque;
    const struct rnic_frame *frame = (const void *)buf;

    g_assert_cmpuint(len, >=, sizeof(*frame));
    check_header(p, frame, len);
    buf += sizeof(*frame);
    switch (frame->kind) {
    case RNIC_LINK_DATA:
        p->frames++;
        take_words(p, buf, le16_to_cpu(frame->count));
        break;
    case RNIC_LINK_HELLO:
        g_assert_cmpuint(le16_to_cpu(frame->count), ==, 1);
        take_hello(p, (const void *)buf);
        break;
    case RNIC_LINK_DOWN:
        p->downs++;
        p->heard = false;
        break;
    case RNIC_LINK_XOFF:
    case RNIC_LINK_XON:
        break;
    default:
        g_error("frame of kind %u", frame->kind);
    }
}

bool extoll_peer_poll(ExtollPeer *p, int ms)
{
    bool any;

    p->busy = true;
    any = wire_peer_poll(&p->wire, ms, take_frame, p);
    frames_send(p);
    return any;
}

/* --- Packets -------------------------------------------------------------- */

uint64_t extoll_hop(unsigned output, unsigned vc, uint64_t rest)
{
    ExtollHops hops = { .output = output };

    hops.hops[vc] = 1;
    return extoll_route_encode(&hops, 1) | rest << EXTOLL_ROUTE_BITS;
}

void extoll_packet_build(uint8_t *buf, uint64_t route, unsigned bytes, unsigned number)
{
    ExtollPacket pkt = {
        .command = EXTOLL_CMD_PUT_BYTES,
        .src_node = EXTOLL_TEST_NODE,
        .bytes = bytes - EXTOLL_ROUTING_BYTES - EXTOLL_RMA_FRAME,
        .word1 = 0x1000000,
        .word2 = (uint64_t)number << 12,
    };
    uint8_t *payload = extoll_packet_payload(buf);

    for (unsigned i = 0; i < pkt.bytes; i++) {
        payload[i] = number * 31 + i * 7 + i / 256;
    }
    g_assert_cmpuint(extoll_packet_encode(buf, route, &pkt), ==, bytes);
}

unsigned extoll_peer_flits(ExtollPeer *p, uint8_t *buf, unsigned vc,
                           const uint8_t *packet, unsigned bytes)
{
    unsigned words = 0;

    for (unsigned at = 0; at < bytes; at += EXTOLL_FLIT_DATA) {
        ExtollFlit flit = {
            .seq = p->tx_seq++,
            .vc = vc,
            .bytes = MIN(bytes - at, EXTOLL_FLIT_DATA),
            .first = at == 0,
            .last = at + EXTOLL_FLIT_DATA >= bytes,
        };
        uint8_t *to = buf + words * WORD;

        memset(to, 0, EXTOLL_FLIT_MAX);
        memcpy(to + EXTOLL_FLIT_HEADER, packet + at, flit.bytes);
        words += DIV_ROUND_UP(extoll_flit_encode(to, &flit), WORD);
        p->tx_flits[vc]++;
    }
    return words;
}

uint32_t extoll_peer_credits(const ExtollPeer *p, unsigned vc)
{
    return p->start.count[vc] - (p->tx_flits[vc] - p->state.count[vc]);
}

/* Sends the flits in @buf, unless there are none. */
static unsigned flush(ExtollPeer *p, const uint8_t *buf, unsigned words)
{
    if (words) {
        extoll_peer_frame(p, RNIC_LINK_DATA, buf, words);
    }
    return 0;
}

void extoll_peer_send(ExtollTest *t, unsigned link, unsigned vc, uint64_t route,
                      unsigned bytes, unsigned first, unsigned count)
{
    const unsigned most = 2048;         /* words of a frame */
    g_autofree uint8_t *buf = g_malloc(most * WORD);
    ExtollPeer *p = t->peer[link];
    uint8_t packet[EXTOLL_PACKET_MAX];
    unsigned words = 0;

    for (unsigned n = first; n < first + count; n++) {
        if (words + EXTOLL_FRAME_WORDS > most ||
            extoll_peer_credits(p, vc) < extoll_flits(bytes)) {
            words = flush(p, buf, words);
        }
        extoll_wait(t, extoll_peer_credits(p, vc) >= extoll_flits(bytes));
        extoll_packet_build(packet, route, bytes, n);
        words += extoll_peer_flits(p, buf + words * WORD, vc, packet, bytes);
    }
    flush(p, buf, words);
}

unsigned extoll_peer_arrived(ExtollPeer *p)
{
    return g_queue_get_length(&p->packets);
}

void extoll_peer_take(ExtollTest *t, unsigned link, unsigned vc, uint64_t route,
                      unsigned bytes, unsigned first, unsigned count)
{
    ExtollPeer *p = t->peer[link];
    uint8_t want[EXTOLL_PACKET_MAX];

    for (unsigned n = first; n < first + count; n++) {
        g_autofree ExtollRxPacket *rx = NULL;

        extoll_wait(t, extoll_peer_arrived(p));
        rx = g_queue_pop_head(&p->packets);
        extoll_packet_build(want, route, bytes, n);
        g_assert_cmpuint(rx->vc, ==, vc);
        g_assert_cmpmem(rx->buf, rx->bytes, want, bytes);
    }
}

void extoll_peer_free_room(ExtollPeer *p)
{
    for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
        g_assert_null(p->part[vc]);
        p->rx_freed[vc] = p->rx_flits[vc];
    }
    extoll_peer_state(p, 0);
}

void extoll_link_assert_works(ExtollTest *t, unsigned from, unsigned to, unsigned number)
{
    uint64_t rest = extoll_hop(EXTOLL_OUTPUT_RMA, 0, 0);

    extoll_peer_send(t, from, 0, extoll_hop(to, 0, rest), EXTOLL_LONG_BYTES, number, 1);
    extoll_peer_take(t, to, 0, rest, EXTOLL_LONG_BYTES, number, 1);
}

/* --- Machines ------------------------------------------------------------- */

void extoll_pump(ExtollTest *t)
{
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        if (t->peer[i]) {
            extoll_peer_poll(t->peer[i], 0);
        }
    }
}

void extoll_settle(ExtollTest *t)
{
    wait_settle(extoll_get64(t, EXTOLL_REG_VERSION); extoll_pump(t));
}

void extoll_step(ExtollTest *t, int64_t ns)
{
    qtest_clock_step(t->qts, ns);
    extoll_settle(t);
}

void extoll_link_bring_up(ExtollTest *t, unsigned link)
{
    ExtollPeer *p = t->peer[link];

    extoll_peer_hello(p, false);
    extoll_wait(t, p->heard && extoll_link_up_get(t, link));
}

ExtollTest *extoll_start_cold(unsigned count, const char *props)
{
    g_autoptr(GString) netdevs = g_string_new(NULL);
    g_autoptr(GString) all = g_string_new(NULL);
    ExtollPeer *peer[EXTOLL_LINKS] = { NULL };
    ExtollTest *t;

    for (unsigned i = 0; i < count; i++) {
        g_autofree char *id = g_strdup_printf("wire%u", i);
        g_autofree char *options = NULL;

        peer[i] = extoll_peer_new(i);
        options = wire_peer_options(&peer[i]->wire, id);
        g_string_append_printf(netdevs, "%s ", options);
        g_string_append_printf(all, ",link%u=%s", i, id);
    }
    g_string_append(all, props);
    t = extoll_start_node(netdevs->str, EXTOLL_TEST_NODE, all->str);
    for (unsigned i = 0; i < count; i++) {
        t->peer[i] = peer[i];
        wire_peer_started(&peer[i]->wire);
    }
    return t;
}

ExtollTest *extoll_start_links(unsigned count, const char *props)
{
    ExtollTest *t = extoll_start_cold(count, props);

    for (unsigned i = 0; i < count; i++) {
        extoll_link_bring_up(t, i);
    }
    return t;
}

void extoll_peers_free(ExtollTest *t)
{
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        ExtollPeer *p = t->peer[i];

        if (!p) {
            continue;
        }
        wire_peer_fini(&p->wire);
        for (unsigned vc = 0; vc < EXTOLL_VCS; vc++) {
            g_free(p->part[vc]);
        }
        g_queue_clear_full(&p->packets, g_free);
        g_free(p);
    }
}

void extoll_faults_set(ExtollTest *t, unsigned link, const char *text)
{
    g_autofree char *name = g_strdup_printf("faults%u", link);

    qtest_qmp_assert_success(t->qts, "{ 'execute': 'qom-set', 'arguments': "
                             "{ 'path': '/machine/peripheral/nic', 'property': %s, "
                             "'value': %s } }", name, text);
}

uint64_t extoll_link_member(ExtollTest *t, unsigned n, const char *group,
                            const char *name)
{
    QDict *reply = qtest_qmp(t->qts, "{ 'execute': 'qom-get', 'arguments': { "
                             "'path': '/machine/peripheral/nic', "
                             "'property': 'links' } }");
    const QListEntry *e = qlist_first(qdict_get_qlist(reply, "return"));
    QDict *link;
    uint64_t value;

    while (n--) {
        e = qlist_next(e);
    }
    link = qobject_to(QDict, qlist_entry_obj(e));
    value = qdict_get_int(group ? qdict_get_qdict(link, group) : link, name);
    qobject_unref(reply);
    return value;
}
