/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other end of the cable; see peer.h. */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "../common/machine.h"
#include "peer.h"

static void take_frame(void *opaque, const uint8_t *buf, size_t len);

ExanetPeer *exanet_peer_new(uint32_t coord, bool dgram)
{
    ExanetPeer *p = g_new0(ExanetPeer, 1);

    if (machine_on_cable() && !dgram) {
        wire_peer_init_cable(&p->wire, RNIC_FRAME_MAX);
    } else {
        wire_peer_init(&p->wire, dgram, RNIC_FRAME_MAX);
    }
    p->coord = coord;
    p->epoch = 0x2a;
    p->max_words = EXANET_PEER_WORDS;
    g_queue_init(&p->packets);
    return p;
}

void exanet_peer_free(ExanetPeer *p)
{
    if (!p) {
        return;
    }
    wire_peer_fini(&p->wire);
    g_queue_clear_full(&p->packets, g_free);
    g_free(p);
}

char *exanet_peer_netdev(ExanetPeer *p)
{
    return wire_peer_netdev(&p->wire);
}

char *exanet_peer_options(ExanetPeer *p, const char *id)
{
    return wire_peer_options(&p->wire, id);
}

void exanet_peer_started(ExanetPeer *p)
{
    wire_peer_started(&p->wire);
}

/* --- Sending --------------------------------------------------------------- */

void exanet_peer_raw(ExanetPeer *p, const void *frame, size_t len)
{
    wire_peer_send(&p->wire, frame, len, take_frame, p);
}

static void put_mac(uint8_t *mac, uint32_t coord)
{
    stl_be_p(mac, EXANET_MAC_PREFIX << 8 | coord >> 16);
    stw_be_p(mac + 4, coord);
}

size_t exanet_peer_header(ExanetPeer *p, struct rnic_frame *frame,
                          unsigned kind, unsigned words)
{
    *frame = (struct rnic_frame) {
        .ethertype = cpu_to_be16(RNIC_ETHERTYPE),
        .version = RNIC_LINK_VERSION,
        .kind = kind,
        .vc = kind == RNIC_LINK_DATA || kind == RNIC_LINK_XOFF ||
              kind == RNIC_LINK_XON ? p->vc : 0,
        .count = cpu_to_le16(words),
        .seq = cpu_to_le32(p->tx_seq++),
    };
    memset(frame->dst, 0xff, sizeof(frame->dst));
    put_mac(frame->src, p->coord);
    return sizeof(*frame) + words * EXANET_WORD_BYTES;
}

void exanet_peer_frame(ExanetPeer *p, unsigned kind, const void *data,
                       unsigned words)
{
    g_autofree uint8_t *buf = g_malloc(sizeof(struct rnic_frame) +
                                       words * EXANET_WORD_BYTES);
    size_t len = exanet_peer_header(p, (struct rnic_frame *)buf, kind,
                                    words);

    if (words) {
        memcpy(buf + sizeof(struct rnic_frame), data,
               words * EXANET_WORD_BYTES);
    }
    exanet_peer_raw(p, buf, len);
}

void exanet_peer_hello(ExanetPeer *p, bool heard)
{
    struct rnic_hello hello = {
        .coord = cpu_to_le32(p->coord),
        .epoch = p->epoch,
        .flags = (heard ? RNIC_HELLO_HEARD : 0) | (p->runs ? EXANET_HELLO_RUNS : 0) |
                 (p->no_crc ? EXANET_HELLO_NO_CRC : 0),
        .peer_epoch = heard ? p->hello.epoch : 0,
        .rx_words = cpu_to_le32(16384),
        .max_words = cpu_to_le32(p->max_words),
    };

    p->heard_sent = heard;
    p->heard_epoch = p->hello.epoch;
    exanet_peer_frame(p, RNIC_LINK_HELLO, &hello,
                      sizeof(hello) / EXANET_WORD_BYTES);
}

void exanet_peer_words(ExanetPeer *p, const void *packets, unsigned words)
{
    exanet_peer_frame(p, RNIC_LINK_DATA, packets, words);
}

unsigned exanet_peer_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    if (pkt->type == EXANET_TYPE_ACK) {
        exanet_ack_encode(buf, pkt);
        return 1;
    }
    if (pkt->type == EXANET_TYPE_FLOW_RATE) {
        exanet_flow_rate_encode(buf, pkt);
        return 1;
    }
    if (pkt->size && pkt->type != EXANET_TYPE_AXI_READ) {
        memcpy(exanet_packet_payload(buf, pkt->va), pkt->payload, pkt->size);
    }
    return exanet_packet_encode(buf, pkt);
}

void exanet_peer_send(ExanetPeer *p, const ExanetPacket *pkt)
{
    uint8_t buf[EXANET_PACKET_BYTES];

    exanet_peer_words(p, buf, exanet_peer_encode(buf, pkt));
}

unsigned exanet_peer_encode_run(uint8_t *buf, const ExanetPacket *pkt, unsigned packets,
                                bool last)
{
    ExanetPacket run = *pkt;

    memcpy(exanet_run_payload(buf), pkt->payload, packets * EXANET_MTU);
    run.packets = packets;
    run.last = last;
    return exanet_run_encode(buf, &run);
}

void exanet_peer_ack(ExanetPeer *p, const ExanetPacket *pkt,
                     enum exanet_resp resp)
{
    ExanetPacket ack = {
        .type = EXANET_TYPE_ACK,
        .dst = pkt->src,
        .pdid = pkt->pdid & EXANET_PDID_CTX,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .small = RNIC_GET(EXANET_FTR_USER_SMALL, pkt->user),
        .epoch = pkt->epoch,
        .resp = resp,
    };

    exanet_peer_send(p, &ack);
}

/* --- Receiving ------------------------------------------------------------- */

static void take_packet(ExanetPeer *p, unsigned vc, const uint8_t *data, unsigned words)
{
    ExanetRxPacket *rx = g_new0(ExanetRxPacket, 1);

    rx->words = words;
    memcpy(rx->buf, data, words * EXANET_WORD_BYTES);
    g_assert_cmpint(exanet_packet_decode(rx->buf, words, &rx->pkt), ==, EXANET_WIRE_OK);
    g_assert_false(rx->pkt.bad_payload);
    g_assert_true(p->no_crc || !rx->pkt.no_crc);
    g_assert_cmpuint(rx->pkt.vc, ==, vc);
    g_queue_push_tail(&p->packets, rx);
}

/* Takes the packets of the run at @data; returns the words of the run. */
static unsigned take_run(ExanetPeer *p, unsigned vc, const uint8_t *data)
{
    uint8_t packet[EXANET_PACKET_BYTES];
    ExanetWireStatus status;
    ExanetPacket run;
    unsigned packets = exanet_run_packets(data, &status);

    g_assert_true(p->runs);
    g_assert_cmpint(status, ==, EXANET_WIRE_OK);
    g_assert_true(exanet_run_valid(data, packets));
    g_assert_cmpint(exanet_run_decode(data, &run), ==, EXANET_WIRE_OK);
    g_assert_false(run.bad_payload);
    for (unsigned n = 0; n < packets; n++) {
        exanet_run_packet(&run, n, packet);
        take_packet(p, vc, packet, EXANET_PACKET_WORDS);
    }
    p->runs_taken++;
    return exanet_run_words(packets);
}

static void take_packets(ExanetPeer *p, unsigned vc, const uint8_t *data,
                         unsigned words)
{
    while (words) {
        ExanetWireStatus status = EXANET_WIRE_OK;
        unsigned n = exanet_run_word(data) ? take_run(p, vc, data) :
                                             exanet_packet_words(data, &status);

        g_assert_cmpint(status, ==, EXANET_WIRE_OK);
        g_assert_cmpuint(n, <=, words);
        if (!exanet_run_word(data)) {
            take_packet(p, vc, data, n);
        }
        data += n * EXANET_WORD_BYTES;
        words -= n;
    }
}

static void take_hello(ExanetPeer *p, const struct rnic_hello *hello)
{
    p->hello = *hello;
    p->hello.coord = le32_to_cpu(hello->coord);
    p->hello.rx_words = le32_to_cpu(hello->rx_words);
    p->hello.max_words = le32_to_cpu(hello->max_words);
    p->node = p->hello.coord;
    p->hellos++;
    p->heard = (hello->flags & RNIC_HELLO_HEARD) &&
               hello->peer_epoch == p->epoch;
    g_assert_cmpuint(hello->reserved, ==, 0);
    g_assert_cmphex(p->hello.coord & ~EXANET_COORD, ==, 0);
    if (!p->silent &&
        (!p->heard || !p->heard_sent || p->heard_epoch != hello->epoch)) {
        exanet_peer_hello(p, true);
    }
}

static void check_header(ExanetPeer *p, const struct rnic_frame *frame,
                         size_t len)
{
    unsigned words = le16_to_cpu(frame->count);
    uint32_t seq = le32_to_cpu(frame->seq);
    uint8_t mac[6];

    g_assert_cmphex(be16_to_cpu(frame->ethertype), ==, RNIC_ETHERTYPE);
    g_assert_cmpuint(frame->version, ==, RNIC_LINK_VERSION);
    g_assert_cmpuint(frame->vc, <, EXANET_VCS);
    g_assert_cmpuint(frame->family, ==, RNIC_LINK_EXANET);
    g_assert_cmpuint(len, ==, sizeof(*frame) + words * EXANET_WORD_BYTES);
    /* a DOWN from the new coordinates may precede the HELLO with them */
    if (p->hellos && frame->kind != RNIC_LINK_HELLO &&
        frame->kind != RNIC_LINK_DOWN) {
        put_mac(mac, p->node);
        g_assert_cmpmem(frame->src, 6, mac, 6);
    }
    /* a reset of the device sets the sequence number to 0 */
    if (seq != 0 && !p->rx_gap) {
        g_assert_cmpuint(seq, ==, p->rx_seq);
    }
    p->rx_gap = false;
    p->rx_seq = seq + 1;
}

static void take_frame(void *opaque, const uint8_t *buf, size_t len)
{
    ExanetPeer *p = opaque;
    const struct rnic_frame *frame = (const void *)buf;
    unsigned words;

    g_assert_cmpuint(len, >=, sizeof(*frame));
    check_header(p, frame, len);
    words = le16_to_cpu(frame->count);
    buf += sizeof(*frame);
    switch (frame->kind) {
    case RNIC_LINK_DATA:
        g_assert_cmpuint(words, >, 0);
        g_assert_cmpuint(words, <=, p->max_words);
        p->data_frames++;
        p->last_words = words;
        if (p->dump) {
            g_byte_array_append(p->dump, buf, words * EXANET_WORD_BYTES);
        } else {
            take_packets(p, frame->vc, buf, words);
        }
        break;
    case RNIC_LINK_HELLO:
        g_assert_cmpuint(words, ==, 1);
        take_hello(p, (const void *)buf);
        break;
    case RNIC_LINK_XOFF:
        p->xoffs++;
        p->xoff |= BIT(frame->vc);
        break;
    case RNIC_LINK_XON:
        p->xons++;
        p->xoff &= ~BIT(frame->vc);
        break;
    case RNIC_LINK_DOWN:
        p->downs++;
        p->heard = false;
        break;
    default:
        g_error("frame of kind %u", frame->kind);
    }
}

bool exanet_peer_poll(ExanetPeer *p, int ms)
{
    return wire_peer_poll(&p->wire, ms, take_frame, p);
}

ExanetRxPacket *exanet_peer_take(ExanetPeer *p)
{
    return wire_peer_take(&p->wire, &p->packets, take_frame, p);
}

ExanetRxPacket *exanet_peer_take_type(ExanetPeer *p, enum exanet_type type)
{
    ExanetRxPacket *rx = exanet_peer_take(p);

    g_assert_cmpuint(rx->pkt.type, ==, type);
    if (!EXANET_TYPE_SHORT(type)) {
        g_assert_cmphex(rx->pkt.src, ==, p->node);
        g_assert_cmphex(rx->pkt.epoch, ==, p->hello.epoch);
    }
    return rx;
}

enum exanet_resp exanet_peer_take_resp(ExanetPeer *p, unsigned tid,
                                       unsigned seq)
{
    g_autofree ExanetRxPacket *rx = exanet_peer_take_type(p, EXANET_TYPE_ACK);

    g_assert_cmphex(rx->pkt.dst, ==, p->coord);
    g_assert_cmphex(rx->pkt.tid, ==, tid);
    g_assert_cmpuint(rx->pkt.seq, ==, seq);
    return rx->pkt.resp;
}

/* --- Blocks ---------------------------------------------------------------- */

unsigned exanet_block_packets(const ExanetBlock *b)
{
    return (b->va + b->len - 1) / EXANET_MTU - b->va / EXANET_MTU + 1;
}

ExanetPacket exanet_block_packet(ExanetPeer *p, const ExanetBlock *b,
                                 unsigned n)
{
    uint64_t start = (b->va / EXANET_MTU + n) * EXANET_MTU;
    uint64_t end = start + EXANET_MTU;
    ExanetPacket pkt = {
        .type = EXANET_TYPE_WRITE,
        .dst = p->node,
        .src = p->coord,
        .epoch = p->epoch,
        .pdid = b->pdid,
        .tid = b->tid,
        .seq = b->seq,
        .ttl = EXANET_TTL_MAX,
        .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
        .first = n == 0,
        .last = n == exanet_block_packets(b) - 1,
        .notify = b->notify,
    };

    pkt.va = MAX(start, b->va);
    pkt.size = MIN(end, b->va + b->len) - pkt.va;
    pkt.payload = b->data + (pkt.va - b->va);
    return pkt;
}

void exanet_peer_send_part(ExanetPeer *p, const ExanetBlock *b, unsigned from,
                           unsigned to)
{
    g_autofree uint8_t *buf = g_malloc0((to - from) * EXANET_PACKET_BYTES);
    unsigned words = 0;

    for (unsigned n = from; n < to; n++) {
        ExanetPacket pkt = exanet_block_packet(p, b, n);

        words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &pkt);
    }
    exanet_peer_words(p, buf, words);
}

void exanet_peer_send_block(ExanetPeer *p, const ExanetBlock *b)
{
    exanet_peer_send_part(p, b, 0, exanet_block_packets(b));
}

void exanet_peer_send_control(ExanetPeer *p, const ExanetBlock *b,
                              uint64_t target, uint64_t data, uint64_t info)
{
    struct exanet_control control = {
        .target = cpu_to_le64(target),
        .data = cpu_to_le64(data),
        .info = cpu_to_le64(info),
        .block = cpu_to_le64(
            RNIC_PREP(EXANET_CONTROL_OFFSET, b->va) |
            RNIC_PREP(EXANET_CONTROL_BLOCK, b->len) |
            RNIC_PREP(EXANET_CONTROL_PDID, b->pdid)),
    };
    ExanetPacket pkt = exanet_block_packet(p, b, 0);

    pkt.type = EXANET_TYPE_CONTROL;
    pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    pkt.size = sizeof(control);
    pkt.payload = (const uint8_t *)&control;
    pkt.first = pkt.last = false;
    pkt.notify = true;
    exanet_peer_send(p, &pkt);
}

/* --- Loads and stores -------------------------------------------------------- */

ExanetPacket exanet_axi_packet(ExanetPeer *p, enum exanet_shm_class class,
                               uint64_t va, const void *data, unsigned size)
{
    bool write = class == EXANET_SHM_STORE || class == EXANET_SHM_RDMA_WRITE;

    return (ExanetPacket) {
        .type = write ? EXANET_TYPE_AXI_WRITE : EXANET_TYPE_AXI_READ,
        .dst = p->node,
        .src = p->coord,
        .epoch = p->epoch,
        .ttl = EXANET_TTL_MAX,
        .tid = RNIC_PREP(EXANET_STID_CLASS, class),
        .first = true,
        .va = va,
        .size = size,
        .payload = write ? data : NULL,
    };
}

enum exanet_resp exanet_peer_take_axi(ExanetPeer *p, const ExanetPacket *req,
                                      void *data)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(p, EXANET_TYPE_AXI_RESPONSE);
    enum exanet_resp resp = RNIC_GET(EXANET_SHM_USER_RESP, rx->pkt.user);

    g_assert_cmphex(rx->pkt.dst, ==, req->src);
    g_assert_cmphex(rx->pkt.tid, ==, req->tid);
    g_assert_cmpuint(rx->pkt.seq, ==, req->seq);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_USER_RETRIES, rx->pkt.user), ==,
                     RNIC_GET(EXANET_SHM_USER_RETRIES, req->user));
    g_assert_cmpuint(rx->pkt.size, ==, req->type == EXANET_TYPE_AXI_READ &&
                     resp == EXANET_RESP_ACK ? req->size : 0);
    g_assert_cmphex(rx->pkt.va & ~(uint64_t)(EXANET_MTU - 1), ==,
                    EXANET_NI_VA(EXANET_NI_SHM));
    if (rx->pkt.size) {
        g_assert_cmphex(rx->pkt.va & (EXANET_MTU - 1), ==,
                        req->va & (EXANET_MTU - 1));
        if (data) {
            memcpy(data, rx->pkt.payload, rx->pkt.size);
        }
    }
    return resp;
}

void exanet_peer_answer_axi(ExanetPeer *p, const ExanetPacket *req,
                            enum exanet_resp resp, const void *data)
{
    ExanetPacket pkt = {
        .type = EXANET_TYPE_AXI_RESPONSE,
        .dst = req->src,
        .src = p->coord,
        .epoch = p->epoch,
        .ttl = EXANET_TTL_MAX,
        .pdid = req->pdid,
        .tid = req->tid,
        .seq = req->seq,
        .va = EXANET_NI_VA(EXANET_NI_SHM) | (req->va & (EXANET_MTU - 1)),
        .user = (req->user & EXANET_SHM_USER_RETRIES) |
                RNIC_PREP(EXANET_SHM_USER_RESP, resp),
        .size = data ? req->size : 0,
        .payload = data,
    };

    exanet_peer_send(p, &pkt);
}

/* --- Sink ------------------------------------------------------------------ */

void exanet_sink_init(ExanetSink *sink, uint64_t base, size_t bytes)
{
    *sink = (ExanetSink) {
        .base = base,
        .bytes = bytes,
        .image = g_malloc0(bytes),
        .blocks = g_hash_table_new(NULL, NULL),
    };
}

void exanet_sink_fini(ExanetSink *sink)
{
    g_free(sink->image);
    g_hash_table_unref(sink->blocks);
}

/*
 * The device sends the packets of a block in order, so the packet with LAST completes
 * the block.
 */
bool exanet_sink_store(ExanetSink *sink, const ExanetPacket *pkt)
{
    gpointer key = GUINT_TO_POINTER((pkt->tid << 14 | pkt->seq) + 1);
    uint64_t next = GPOINTER_TO_SIZE(g_hash_table_lookup(sink->blocks, key));

    g_assert_cmpuint(pkt->type, ==, EXANET_TYPE_WRITE);
    g_assert_cmphex(pkt->va, >=, sink->base);
    g_assert_cmphex(pkt->va + pkt->size, <=, sink->base + sink->bytes);
    g_assert_cmpint(pkt->first, ==, next == 0);
    if (next) {
        g_assert_cmphex(pkt->va, ==, next);
    }
    memcpy(sink->image + (pkt->va - sink->base), pkt->payload, pkt->size);
    sink->packets++;
    if (pkt->last) {
        g_hash_table_remove(sink->blocks, key);
        return true;
    }
    g_hash_table_insert(sink->blocks, key,
                        GSIZE_TO_POINTER(pkt->va + pkt->size));
    return false;
}

void exanet_sink_block(ExanetPeer *p, ExanetSink *sink, unsigned tid)
{
    bool complete;

    do {
        g_autofree ExanetRxPacket *rx = exanet_peer_take_type(p, EXANET_TYPE_WRITE);

        g_assert_cmphex(rx->pkt.tid, ==, tid);
        complete = exanet_sink_store(sink, &rx->pkt);
    } while (!complete);
}
