/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random work requests to a correct peer, over a wire that loses packets in both
 * directions: each request is executed once and in order.  Time advances even while
 * answers are under way, and a repeated READ cancels the answer to the first request.
 * Half of the rounds take snapshots, after which all requests are repeated.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "req-device.h"
#include "hw/rnic/pvrdma/transport/req-internal.h"

#define MTU             256
#define ROUNDS          200
#define WQES            400
#define LOSS            25      /* on average one packet in this number is lost */
#define RNR             20      /* one SEND in this number finds no receive WQE */
#define PARK            50      /* one turn in this number takes a snapshot */
#define ITERATIONS_MAX  200000  /* limit of a round's iterations */
#define SPURIOUS        12      /* one turn in this number lets the timer fire early */
/* The peer's memory: ranges for WRITEs and READs, and the word of atomics. */
#define WRITE_BYTES     8192
#define READ_BYTES      (128 * 1024)
#define WRITE_VA        RIG_VA
#define READ_VA         (RIG_VA + (1 << 20))
#define ATOMIC_VA       (RIG_VA + (1 << 21))
/* rig.memory: first data that are sent, from here on data that are read */
#define LOCAL_READ      (64 * 1024)

typedef struct Answer {
    unsigned opcode;
    uint32_t psn;
    uint8_t syndrome;
    uint64_t original;
    uint32_t len;
    uint8_t payload[MTU];
} Answer;

static struct {
    uint32_t epsn;
    bool nak_sent, ack_due;
    uint8_t written[WRITE_BYTES];
    uint8_t readable[READ_BYTES];
    uint64_t word;
    GHashTable *originals;      /* answers to atomics, by PSN */
    /* PSN after the end of a READ, by PSN of each of its packets */
    GHashTable *read_ends;
    uint64_t write_at;
    GByteArray *received;       /* bytes of received SENDs */
    GQueue answers;
} peer;

/* --- Expected results -------------------------------------------------------- */

static struct {
    uint8_t written[WRITE_BYTES];
    GByteArray *received;
    unsigned registered, atomics, completed;
} want;

static unsigned loss;       /* a packet of this round is lost with probability 1 / loss */

static bool lost(void)
{
    return g_test_rand_int_range(0, loss) == 0;
}

/* --- The peer ---------------------------------------------------------------- */

static void answer(unsigned opcode, uint32_t psn, uint8_t syndrome,
                   const uint8_t *payload, uint32_t len, uint64_t original)
{
    Answer *a = g_new0(Answer, 1);

    *a = (Answer) { opcode, psn, syndrome, original, len };
    if (len) {
        memcpy(a->payload, payload, len);
    }
    g_queue_push_tail(&peer.answers, a);
}

static void peer_ack(uint32_t psn, unsigned kind, unsigned value)
{
    answer(ROCE_OP_ACK, psn & ROCE_PSN_MASK, ROCE_AETH_SYN(kind, value), NULL,
           0, 0);
}

/* Acknowledges earlier requests before the next answer, so that answers are in order. */
static void peer_ack_flush(void)
{
    if (peer.ack_due) {
        peer_ack(peer.epsn - 1, ROCE_AETH_ACK, ROCE_AETH_NO_CREDITS);
        peer.ack_due = false;
    }
}

/* A repeated READ must be a part of an earlier READ, or all of it. */
static void peer_check_read(const RocePacket *pkt, uint32_t packets, bool again)
{
    uint32_t end = roce_psn_add(pkt->psn, packets - 1);

    if (again) {
        gpointer known = g_hash_table_lookup(peer.read_ends,
                                             GUINT_TO_POINTER(pkt->psn));

        g_assert_nonnull(known);
        g_assert_cmpint(roce_psn_diff(GPOINTER_TO_UINT(known) - 1, end), >=, 0);
        return;
    }
    for (uint32_t i = 0; i < packets; i++) {
        g_hash_table_insert(peer.read_ends,
                            GUINT_TO_POINTER(roce_psn_add(pkt->psn, i)),
                            GUINT_TO_POINTER(end + 1));
    }
}

static void peer_read(const RocePacket *pkt, bool again)
{
    uint32_t n = roce_packets(pkt->dma_len, MTU);
    uint64_t at = pkt->va - READ_VA;

    g_assert_cmpuint(at + pkt->dma_len, <=, READ_BYTES);
    peer_check_read(pkt, n, again);
    for (uint32_t i = 0; i < n; i++) {
        unsigned opcode = i ? ROCE_OP_READ_RESP_MIDDLE :
                              ROCE_OP_READ_RESP_FIRST;

        if (i == n - 1) {
            opcode = i ? ROCE_OP_READ_RESP_LAST : ROCE_OP_READ_RESP_ONLY;
        }
        answer(opcode, roce_psn_add(pkt->psn, i), 0,
               peer.readable + at + i * MTU,
               MIN(MTU, pkt->dma_len - i * MTU), 0);
    }
}

static void peer_atomic(const RocePacket *pkt, bool again)
{
    gpointer key = GUINT_TO_POINTER(pkt->psn);

    g_assert_cmphex(pkt->va, ==, ATOMIC_VA);
    if (!again) {
        g_hash_table_insert(peer.originals, key,
                            GUINT_TO_POINTER((guint)peer.word));
        peer.word += pkt->swap_add;
    }
    g_assert_true(g_hash_table_contains(peer.originals, key));
    answer(ROCE_OP_ATOMIC_ACK, pkt->psn, 0, NULL, 0,
           GPOINTER_TO_UINT(g_hash_table_lookup(peer.originals, key)));
}

static void peer_data(const RigPacket *p, uint32_t flags)
{
    if (flags & ROCE_IS_SEND) {
        g_byte_array_append(peer.received, p->payload, p->len);
        return;
    }
    if (flags & ROCE_HAS_RETH) {
        peer.write_at = p->pkt.va - WRITE_VA;
    }
    g_assert_cmpuint(peer.write_at + p->len, <=, WRITE_BYTES);
    memcpy(peer.written + peer.write_at, p->payload, p->len);
    peer.write_at += p->len;
}

/*
 * Restarts the responder at a repeated request, and drops its unsent answers.  The
 * responder sends 16 packets per visit, so it mostly stops at this boundary.
 */
static void peer_break_off(void)
{
    unsigned keep = g_test_rand_int_range(0, peer.answers.length + 1);

    if (g_test_rand_bit()) {
        keep -= keep % 16;
    }
    while (peer.answers.length > keep) {
        g_free(g_queue_pop_tail(&peer.answers));
    }
}

/* Answers a repeated request, and does not execute it again. */
static void peer_duplicate(const RigPacket *p, uint32_t flags)
{
    if (flags & ROCE_IS_READ) {
        peer_ack_flush();
        peer_break_off();
        peer_read(&p->pkt, true);
    } else if (flags & ROCE_IS_ATOMIC) {
        peer_ack_flush();
        peer_atomic(&p->pkt, true);
    } else {
        peer.ack_due = true;
    }
}

static void peer_expected(const RigPacket *p, uint32_t flags)
{
    uint32_t psns = 1;

    if (flags & ROCE_IS_SEND && flags & ROCE_IS_FIRST &&
        g_test_rand_int_range(0, RNR) == 0) {
        peer_ack_flush();
        peer_ack(peer.epsn, ROCE_AETH_RNR_NAK, 1);
        return;
    }
    peer.nak_sent = false;
    if (flags & (ROCE_IS_READ | ROCE_IS_ATOMIC)) {
        peer_ack_flush();
    }
    if (flags & ROCE_IS_READ) {
        psns = roce_packets(p->pkt.dma_len, MTU);
        peer_read(&p->pkt, false);
    } else if (flags & ROCE_IS_ATOMIC) {
        peer_atomic(&p->pkt, false);
    } else {
        peer_data(p, flags);
        peer.ack_due |= p->pkt.ack_req;
    }
    peer.epsn = roce_psn_add(peer.epsn, psns);
}

static void peer_rx(const RigPacket *p)
{
    uint32_t flags = roce_opcode_info(p->pkt.opcode)->flags;
    int32_t ahead = roce_psn_diff(p->pkt.psn, peer.epsn);

    g_assert_true(flags & ROCE_IS_REQUEST);
    if (ahead < 0) {
        peer_duplicate(p, flags);
    } else if (ahead == 0) {
        peer_expected(p, flags);
    } else if (!peer.nak_sent) {
        peer_ack_flush();
        peer_ack(peer.epsn, ROCE_AETH_NAK, ROCE_NAK_PSN_SEQUENCE);
        peer.nak_sent = true;
    }
}

/* --- The wire ---------------------------------------------------------------- */

static void carry_requests(void)
{
    while (rig.packets.length) {
        g_autofree RigPacket *p = g_queue_pop_head(&rig.packets);

        if (!lost()) {
            peer_rx(p);
        }
    }
    peer_ack_flush();
}

static void carry_answers(void)
{
    /* delivers the first @n answers; the others wait for a later call */
    unsigned n = g_test_rand_int_range(0, peer.answers.length + 1);

    while (n--) {
        g_autofree Answer *a = g_queue_pop_head(&peer.answers);

        if (lost()) {
            continue;
        }
        if (a->opcode == ROCE_OP_ATOMIC_ACK) {
            rig_atomic(a->psn, a->original);
        } else {
            rig_answer(a->opcode, a->psn, a->syndrome, a->payload, a->len);
        }
    }
}

/* --- The guest --------------------------------------------------------------- */

static void post_data(unsigned opcode)
{
    uint32_t len = g_test_rand_int_range(0, 6 * MTU);
    uint32_t to = g_test_rand_int_range(0, WRITE_BYTES - len);
    RigWqe *w = rig_post(opcode, len);

    w->at = g_test_rand_int_range(0, LOCAL_READ - len);
    w->remote = WRITE_VA + to;
    if (opcode == PVRDMA_WR_SEND) {
        g_byte_array_append(want.received, rig.memory + w->at, len);
    } else {
        memcpy(want.written + to, rig.memory + w->at, len);
    }
}

static void post_read(void)
{
    static const unsigned cuts[] = {
        PVRDMA_REQ_REPEAT_PACKETS, 2 * PVRDMA_REQ_REPEAT_PACKETS,
        PVRDMA_REQ_READ_PACKETS, 2 * PVRDMA_REQ_READ_PACKETS,
    };
    unsigned cut = cuts[g_test_rand_int_range(0, ARRAY_SIZE(cuts))];
    unsigned kind = g_test_rand_int_range(0, 8);
    /* any length; or a length near a limit of READs; or a short one */
    uint32_t len = kind == 0 ? g_test_rand_int_range(0, 300 * MTU) :
                   kind == 1 ? g_test_rand_int_range((cut - 2) * MTU,
                                                     (cut + 2) * MTU) :
                               g_test_rand_int_range(0, 4 * MTU);
    RigWqe *w = rig_post(PVRDMA_WR_RDMA_READ, len);

    w->at = LOCAL_READ;
    w->remote = READ_VA + g_test_rand_int_range(0, READ_BYTES - len);
}

static void post_atomic(void)
{
    RigWqe *w = rig_post(PVRDMA_WR_ATOMIC_FETCH_AND_ADD, 8);

    /* each atomic has a result of its own, so that round_end() can check all */
    w->at = RIG_MEMORY - 8 * ++want.atomics;
    w->remote = ATOMIC_VA;
    w->compare_add = 1;
}

static void post(void)
{
    RigWqe *w;

    switch (g_test_rand_int_range(0, 8)) {
    case 0:
        post_read();
        break;
    case 1:
        post_atomic();
        break;
    case 2:
        rig_post(PVRDMA_WR_FAST_REG_MR, 0);
        want.registered++;
        break;
    case 3:
        rig_post(PVRDMA_WR_LOCAL_INV, 0);
        break;
    case 4 ... 5:
        post_data(PVRDMA_WR_SEND);
        break;
    default:
        post_data(PVRDMA_WR_RDMA_WRITE);
    }
    w = &rig.wqe[rig.posted - 1];
    if (g_test_rand_int_range(0, 6) == 0) {
        w->flags |= PVRDMA_SEND_FENCE;
    }
}

/* Checks that completions are in order, and the data of the last READ. */
static void check_completions(void)
{
    while (rig.wcs) {
        const RigWqe *w = &rig.wqe[want.completed];

        rig_done(want.completed++, PVRDMA_WC_SUCCESS);
        if (w->opcode == PVRDMA_WR_RDMA_READ && want.completed == rig.posted) {
            /* the last WQE of all: no later READ has overwritten its data */
            g_assert_true(memcmp(rig.memory + w->at, peer.readable +
                                 (w->remote - READ_VA), w->length) == 0);
        }
    }
}

static void round_start(void)
{
    uint32_t psn = (0xffff00 + g_test_rand_int_range(0, 0x200)) & ROCE_PSN_MASK;

    rig_start(MTU, psn);
    rig.qp.attr.retry_cnt = 7;
    rig.qp.attr.rnr_retry = 7;
    rig.qp.attr.max_rd_atomic = 1 << g_test_rand_int_range(0, 5);
    loss = g_test_rand_bit() ? LOSS : 40 * LOSS;
    rig.qp.sq.entries = 1 << g_test_rand_int_range(0, 8);
    pvrdma_req_init(&rig.qp);
    memset(&peer, 0, sizeof(peer));
    memset(&want, 0, sizeof(want));
    peer.epsn = psn;
    peer.originals = g_hash_table_new(NULL, NULL);
    peer.read_ends = g_hash_table_new(NULL, NULL);
    peer.received = g_byte_array_new();
    want.received = g_byte_array_new();
    for (unsigned i = 0; i < READ_BYTES; i++) {
        peer.readable[i] = i * 7 ^ i >> 8;
    }
}

static void round_end(void)
{
    g_assert_true(memcmp(peer.written, want.written, WRITE_BYTES) == 0);
    g_assert_cmpmem(peer.received->data, peer.received->len,
                    want.received->data, want.received->len);
    g_assert_cmpuint(peer.word, ==, want.atomics);
    for (unsigned i = 0; i < want.atomics; i++) {
        g_assert_cmpuint(ldq_le_p(rig.memory + RIG_MEMORY - 8 * (i + 1)), ==, i);
    }
    g_assert_cmpuint(rig.registered, ==, want.registered);
    g_assert_cmpuint(rig.consumed, ==, WQES);
    g_assert_cmpuint(pvrdma_req_reads(&rig.qp.req), ==, 0);
    g_assert_true(pvrdma_req_idle(&rig.qp));
    g_hash_table_unref(peer.originals);
    g_hash_table_unref(peer.read_ends);
    g_byte_array_unref(peer.received);
    g_byte_array_unref(want.received);
    g_queue_clear_full(&peer.answers, g_free);
    rig_end();
}

/* Asserts that each kind of recovery has occurred. */
static void check_coverage(const uint64_t *sum)
{
    static const enum pvrdma_counter must[] = {
        PVRDMA_CNT_TX_RETRY, PVRDMA_CNT_TIMEOUT, PVRDMA_CNT_RX_NAK,
        PVRDMA_CNT_RX_RNR, PVRDMA_CNT_RX_STALE,
    };

    for (unsigned i = 0; i < ARRAY_SIZE(must); i++) {
        g_assert_cmpuint(sum[must[i]], >, 0);
    }
}

static void test_random(void)
{
    uint64_t sum[PVRDMA_COUNTER_COUNT] = { 0 };

    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned iterations = 0;

        round_start();
        while (want.completed < WQES) {
            unsigned n = g_test_rand_int_range(0, 20);

            while (n-- && rig.posted < WQES &&
                   rig.posted - rig.consumed < rig.qp.sq.entries) {
                post();
            }
            rig_run();
            carry_requests();
            carry_answers();
            check_completions();
            if (round % 2 && g_test_rand_int_range(0, PARK) == 0) {
                pvrdma_req_park(&rig.qp);
            }
            if (g_test_rand_int_range(0, SPURIOUS) == 0) {
                /* the timeout expires, even if answers are under way */
                rig_clock(roce_timeout_ns(RIG_TIMEOUT) << 9);
            }
            rig_clock(roce_timeout_ns(RIG_TIMEOUT) / 16);
            /*
             * retries are unlimited, because the peer is alive even if its answers are
             * late
             */
            rig.qp.req.retries = 7;
            g_assert_cmpuint(++iterations, <, ITERATIONS_MAX);
        }
        for (unsigned i = 0; i < PVRDMA_COUNTER_COUNT; i++) {
            sum[i] += rig_count(i);
        }
        round_end();
    }
    check_coverage(sum);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/req/random", test_random);
    return g_test_run();
}
