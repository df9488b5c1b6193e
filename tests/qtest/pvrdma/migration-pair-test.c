/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two machines with pvrdma send each other messages of all kinds, over a wire that the
 * test carries and that loses some frames.  At random times one of them is moved in the
 * middle of this: each message takes effect once, and in order.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "migrate.h"

#define VA          0x50000000ULL
#define MESSAGES    160             /* messages of each machine */
#define OUTSTANDING 8
/* more than OUTSTANDING, so that a slot is checked before it is used again */
#define SLOTS       16
#define SLOT_BYTES  8192
#define LEN_MAX     6000
/* Offsets in a machine's region. */
#define SOURCE      0
#define SOURCE_BYTES (64 * 1024)
#define RECEIVED    SOURCE_BYTES
#define WRITTEN     (RECEIVED + SLOTS * SLOT_BYTES)
#define READ        (WRITTEN + SLOTS * SLOT_BYTES)
#define RESULTS     (READ + SLOTS * SLOT_BYTES)
#define COUNTER     (RESULTS + SLOTS * 8)
#define BYTES       (COUNTER + 8)
#define STEP_NS     (50 * PVRDMA_MS)
#define LOSS        40              /* one of LOSS frames is lost */
#define STAY        8               /* average number of rounds between moves */

typedef struct Side {
    PvrdmaTest *t;
    uint32_t pd;
    PvrdmaTestCq sends, receives;
    PvrdmaTestQp qp;
    PvrdmaTestMr mr;
    uint8_t *source;
    unsigned posted, done, asked; /* messages posted and completed; receive WQEs posted */
    unsigned received;              /* SENDs received from the other machine */
    unsigned added;                 /* atomics completed on the other machine's counter */
} Side;

typedef struct Message {
    enum pvrdma_wr_opcode opcode;
    uint32_t offset, len;           /* of the data in the source */
    unsigned slot;
} Message;

/* Returns the attributes of message @n of machine @i; both ends compute them. */
static Message message(unsigned i, unsigned n)
{
    static const enum pvrdma_wr_opcode opcodes[] = {
        PVRDMA_WR_SEND_WITH_IMM, PVRDMA_WR_RDMA_WRITE, PVRDMA_WR_RDMA_READ,
        PVRDMA_WR_ATOMIC_FETCH_AND_ADD,
    };
    uint32_t x = (n * 2 + i + 1) * 2654435761u;

    return (Message) {
        .opcode = opcodes[n % ARRAY_SIZE(opcodes)],
        .offset = (x >> 8) % (SOURCE_BYTES - LEN_MAX),
        .len = 1 + (x >> 4) % LEN_MAX,
        .slot = n % SLOTS,
    };
}

static void side_make(Side *s, bool peer)
{
    s->t = peer ? pvrdma_start_cold_peer("") : pvrdma_start_cold("");
    pvrdma_msix_enable(s->t);
    pvrdma_bring_up(s->t);
    s->pd = pvrdma_pd_create(s->t, 0);
    s->sends = pvrdma_cq_create(s->t, 0, 0, 64);
    s->receives = pvrdma_cq_create(s->t, 0, 0, 64);
    s->qp = pvrdma_qp_create(s->t, &(PvrdmaTestQpInit) {
        .pd = s->pd, .send_cq = &s->sends, .recv_cq = &s->receives,
    });
    s->mr = pvrdma_mr_create(s->t, s->pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    s->source = g_malloc(SOURCE_BYTES);
    pvrdma_fill(s->t, s->mr.pa + SOURCE, s->source, SOURCE_BYTES, 1 + peer);
}

static void sides_connect(Side side[2])
{
    for (unsigned i = 0; i < 2; i++) {
        const Side *other = &side[!i];

        pvrdma_qp_connect(side[i].t, &side[i].qp, &(PvrdmaTestQpAttr) {
            .sq_psn = 0xfffff0 + i, .rq_psn = 0xfffff0 + !i,
            .dest_qpn = other->qp.qpn, .dgid = other->t->gid,
            .dmac = other->t->mac,
        });
    }
}

/* --- Messages --------------------------------------------------------------- */

static void post(Side side[2], unsigned i)
{
    Side *s = &side[i];
    const PvrdmaTestMr *peer = &side[!i].mr;
    Message m = message(i, s->posted);
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(s->posted, m.opcode);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&s->mr, SOURCE + m.offset, m.len);

    switch (m.opcode) {
    case PVRDMA_WR_RDMA_WRITE:
        hdr = pvrdma_wr_rdma(s->posted, m.opcode, peer->va + WRITTEN +
                             m.slot * SLOT_BYTES, peer->rkey);
        break;
    case PVRDMA_WR_RDMA_READ:
        hdr = pvrdma_wr_rdma(s->posted, m.opcode, peer->va + SOURCE + m.offset,
                             peer->rkey);
        sge.addr = s->mr.va + READ + m.slot * SLOT_BYTES;
        break;
    case PVRDMA_WR_ATOMIC_FETCH_AND_ADD:
        hdr = pvrdma_wr_atomic(s->posted, m.opcode, peer, 1, 0);
        hdr.wr.atomic.remote_addr = cpu_to_le64(peer->va + COUNTER);
        sge.addr = s->mr.va + RESULTS + m.slot * 8;
        sge.length = 8;
        break;
    default:
        hdr.ex.imm_data = cpu_to_be32(s->posted);
        break;
    }
    pvrdma_post_send(s->t, &s->qp, &hdr, &sge, 1);
    s->posted++;
}

/*
 * Asserts the effect of the oldest message of machine @i, which is complete; counts it.
 */
static void check_sent(Side side[2], unsigned i)
{
    Side *s = &side[i], *other = &side[!i];
    Message m = message(i, s->done++);

    switch (m.opcode) {
    case PVRDMA_WR_RDMA_WRITE:
        pvrdma_assert_mem(other->t, other->mr.pa + WRITTEN + m.slot * SLOT_BYTES,
                          s->source + m.offset, m.len);
        break;
    case PVRDMA_WR_RDMA_READ:
        pvrdma_assert_mem(s->t, s->mr.pa + READ + m.slot * SLOT_BYTES,
                          other->source + m.offset, m.len);
        break;
    case PVRDMA_WR_ATOMIC_FETCH_AND_ADD:
        g_assert_cmpuint(qtest_readq(s->t->qts, s->mr.pa + RESULTS + m.slot * 8),
                         ==, s->added++);
        break;
    default:
        break;
    }
}

/* Asserts that @cqe is the next SEND of the other machine, with its data; counts it. */
static void check_received(Side side[2], unsigned i, const struct pvrdma_cqe *cqe)
{
    Side *s = &side[i];
    unsigned n = be32_to_cpu(cqe->imm_data);
    Message m = message(!i, n);

    g_assert_cmpuint(n, ==, s->received * 4);
    g_assert_cmpuint(le32_to_cpu(cqe->status), ==, PVRDMA_WC_SUCCESS);
    g_assert_cmpuint(le64_to_cpu(cqe->wr_id), ==, s->received);
    g_assert_cmpuint(le32_to_cpu(cqe->byte_len), ==, m.len);
    pvrdma_assert_mem(s->t, s->mr.pa + RECEIVED +
                      s->received % SLOTS * SLOT_BYTES,
                      side[!i].source + m.offset, m.len);
    s->received++;
}

/*
 * Polls the CQs of machine @i and posts new WQEs; returns false if there was nothing to
 * do.
 */
static bool work(Side side[2], unsigned i)
{
    Side *s = &side[i];
    struct pvrdma_cqe cqe;
    bool any = false;

    while (pvrdma_cq_poll(s->t, &s->receives, &cqe)) {
        check_received(side, i, &cqe);
        any = true;
    }
    while (s->asked < s->received + OUTSTANDING) {
        PvrdmaTestSge sge = PVRDMA_TEST_SGE(&s->mr, RECEIVED + s->asked % SLOTS *
                                            SLOT_BYTES, SLOT_BYTES);

        pvrdma_post_recv(s->t, &s->qp, s->asked++, &sge, 1);
    }
    while (pvrdma_cq_poll(s->t, &s->sends, &cqe)) {
        g_assert_cmpuint(le32_to_cpu(cqe.status), ==, PVRDMA_WC_SUCCESS);
        g_assert_cmpuint(le64_to_cpu(cqe.wr_id), ==, s->done);
        check_sent(side, i);
        any = true;
    }
    while (s->posted < MESSAGES && s->posted < s->done + OUTSTANDING) {
        post(side, i);
        any = true;
    }
    return any;
}

/* --- Wire ------------------------------------------------------------------- */

static bool carry(PvrdmaTest *from, PvrdmaTest *to)
{
    bool any = false;

    pvrdma_get(from, PVRDMA_REG_VERSION);
    pvrdma_pump(from);
    while (!g_queue_is_empty(&from->frames)) {
        g_autofree PvrdmaFrame *f = g_queue_pop_head(&from->frames);

        if (g_test_rand_int_range(0, LOSS)) {
            pvrdma_wire_send_raw(to, f->buf, f->len);
        }
        any = true;
    }
    return any;
}

static bool all_done(const Side side[2])
{
    return side[0].done == MESSAGES && side[1].done == MESSAGES;
}

static void test_moving(void)
{
    int64_t end = g_get_monotonic_time() + 3 * WAIT_MS * 1000;
    unsigned moves = 0, rounds = 0, idle = 0;
    Side side[2] = { 0 };

    for (unsigned i = 0; i < 2; i++) {
        side_make(&side[i], i);
    }
    sides_connect(side);
    while (!all_done(side)) {
        bool any = work(side, 0) | work(side, 1);

        any |= carry(side[0].t, side[1].t) | carry(side[1].t, side[0].t);
        idle = any ? 0 : idle + 1;
        if (idle > 4) {
            idle = 0;
            for (unsigned i = 0; i < 2; i++) {
                qtest_clock_step(side[i].t->qts, STEP_NS);
            }
        }
        rounds++;
        if (!g_test_rand_int_range(0, STAY) || (!moves && rounds > STAY)) {
            Side *s = &side[g_test_rand_bit()];

            s->t = pvrdma_migrate(s->t);
            moves++;
        }
        wait_check(end);
    }
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(qtest_readq(side[i].t->qts, side[i].mr.pa + COUNTER), ==,
                         MESSAGES / 4);
        g_assert_cmpuint(side[i].received, ==, MESSAGES / 4);
    }
    g_assert_cmpuint(moves, >, 0);
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_settle(side[i].t);
        g_queue_clear_full(&side[i].t->frames, g_free);
        pvrdma_stop(side[i].t);
        g_free(side[i].source);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/migration/pair-moving", test_moving);
    return g_test_run();
}
