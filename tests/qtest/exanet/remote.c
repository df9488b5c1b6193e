/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The receiver of another node; see remote.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "remote.h"

void exanet_remote_init(ExanetRemote *r, uint64_t base, size_t bytes)
{
    *r = (ExanetRemote) { 0 };
    exanet_sink_init(&r->sink, base, bytes);
}

void exanet_remote_fini(ExanetRemote *r)
{
    exanet_sink_fini(&r->sink);
    g_clear_pointer(&r->rand, g_rand_free);
}

bool exanet_remote_take(ExanetRemote *r, const ExanetPacket *pkt)
{
    ExanetRemoteBlock *b = &r->block[RNIC_GET(EXANET_TID_INDEX, pkt->tid)];

    if (b->tid != pkt->tid || b->seq != pkt->seq) {
        b->data = b->control = false;
        b->tid = pkt->tid;
        b->seq = pkt->seq;
    }
    if (pkt->type == EXANET_TYPE_CONTROL) {
        for (unsigned i = 0; i < 4; i++) {
            r->control[i] = ldq_le_p(pkt->payload + 8 * i);
        }
        r->controls++;
        b->control = true;
    } else if (exanet_sink_store(&r->sink, pkt)) {
        b->data = true;
    } else {
        return false;
    }
    return b->data && (b->control || !pkt->notify);
}

/*
 * Handles all packets at @p, which is port @port of the device: stores them, acks
 * complete blocks, counts releases.
 */
static void remote_port(ExanetRemote *r, ExanetPeer *p, unsigned port)
{
    while (p && !g_queue_is_empty(&p->packets)) {
        g_autofree ExanetRxPacket *rx = exanet_peer_take(p);

        if (rx->pkt.type == EXANET_TYPE_ACK) {
            continue;
        }
        if (rx->pkt.type == EXANET_TYPE_RELEASE) {
            r->releases++;
            continue;
        }
        r->port[port] += rx->pkt.type == EXANET_TYPE_WRITE;
        if (exanet_remote_take(r, &rx->pkt)) {
            exanet_peer_ack(p, &rx->pkt, EXANET_RESP_ACK);
            r->blocks++;
        }
    }
}

void exanet_remote_run(ExanetTest *t, ExanetRemote *r)
{
    exanet_pump(t);
    remote_port(r, t->peer, 0);
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        remote_port(r, t->ports[i], i);
    }
}

void exanet_remote_assert(const ExanetRemote *r, uint64_t va, const void *want,
                          size_t len)
{
    g_assert_cmpmem(r->sink.image + (va - r->sink.base), len, want, len);
}

/* --- Channels of the device ------------------------------------------------ */

ExanetTransfer exanet_to_peer(uint64_t src, uint64_t va, uint32_t len)
{
    return (ExanetTransfer) {
        .src = src, .dst = exanet_gva(EXANET_TEST_PEER, va), .len = len,
    };
}

unsigned exanet_channel_error(ExanetTest *t, unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_CHSTAT_ERROR, exanet_channel_status(t, c, channel));
}

unsigned exanet_channel_acked(ExanetTest *t, unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_CHSTAT_ACKED, exanet_channel_status(t, c, channel));
}

unsigned exanet_channel_retries(ExanetTest *t, unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_CHSTAT_RETRIES,
                    exanet_channel_status(t, c, channel));
}

ExanetPacket exanet_take_single(ExanetPeer *p, unsigned seq)
{
    g_autofree ExanetRxPacket *rx = exanet_peer_take_type(p, EXANET_TYPE_WRITE);
    ExanetPacket pkt = rx->pkt;

    g_assert_true(pkt.first && pkt.last);
    g_assert_cmpuint(pkt.seq, ==, seq);
    pkt.payload = NULL;
    return pkt;
}

void exanet_take_release(ExanetPeer *p, const ExanetPacket *pkt)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(p, EXANET_TYPE_RELEASE);

    g_assert_cmphex(rx->pkt.va, ==, EXANET_NI_VA(EXANET_NI_RECEIVER));
    g_assert_cmphex(rx->pkt.dst, ==, pkt->dst);
    g_assert_cmphex(rx->pkt.tid, ==, pkt->tid);
    g_assert_cmphex(rx->pkt.pdid, ==, pkt->pdid);
    g_assert_cmpuint(rx->pkt.seq, ==, pkt->seq);
    g_assert_cmpuint(rx->pkt.size, ==, 0);
}

void exanet_fw_set(ExanetTest *t, unsigned reg, uint32_t value)
{
    exanet_set32(t, EXANET_FW + reg, value);
}

unsigned exanet_blocks_waiting(ExanetTest *t)
{
    unsigned blocks = 0;

    exanet_settle(t);
    for (GList *l = t->peer->packets.head; l; l = l->next) {
        blocks += ((ExanetRxPacket *)l->data)->pkt.last;
    }
    return blocks;
}

/* --- Reads ----------------------------------------------------------------- */

struct exanet_read_req exanet_read_of_peer(uint64_t src, uint64_t va,
                                           uint32_t len, uint64_t ctrl)
{
    return (struct exanet_read_req) {
        .src = cpu_to_le64(src),
        .dst = cpu_to_le64(exanet_gva(EXANET_TEST_PEER, va)),
        .notify_gva = cpu_to_le64(exanet_gva(EXANET_TEST_PEER, 0x7770)),
        .ctrl = cpu_to_le64(ctrl | len),
        .notify_data = cpu_to_le64(0x5151),
        .tag = cpu_to_le64(0x1234),
        /* wrong values, which the mailbox must replace */
        .origin = ~0ULL,
        .origin_seq = ~0ULL,
    };
}

void exanet_read_send_ctx(ExanetTest *t, const struct exanet_read_req *req,
                          unsigned ctx, unsigned gen, unsigned seq)
{
    ExanetPacket pkt = {
        .type = EXANET_TYPE_READ_REQ, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(ctx), .va = EXANET_NI_VA(EXANET_NI_RT_REQUEST),
        .size = sizeof(*req), .payload = (const uint8_t *)req,
        .tid = RNIC_PREP(EXANET_PTID_GEN, gen) | RNIC_PREP(EXANET_PTID_CTX, ctx) |
               RNIC_PREP(EXANET_PTID_CHANNEL, 1),
        .seq = seq, .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .first = true, .last = true,
    };

    exanet_peer_send(t->peer, &pkt);
}

void exanet_read_send(ExanetTest *t, const struct exanet_read_req *req,
                      unsigned gen, unsigned seq)
{
    exanet_read_send_ctx(t, req, 4, gen, seq);
}
