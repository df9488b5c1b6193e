/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responder of pvrdma with a peer that breaks the rules, or a guest that removes an
 * object under way: each error has its NAK, counter, event and completion.
 */
#include "resp-device.h"
#include "hw/rnic/pvrdma/transport/resp.h"

#define RETH(at, len) .va = BED_VA + (at), .rkey = BED_KEY, .dma_len = (len)
#define ATOMIC(at) .va = BED_VA + (at), .rkey = BED_KEY

typedef struct Refusal {
    enum roce_nak nak;
    enum pvrdma_counter counter;
    int event;                      /* -1: none */
} Refusal;

static const Refusal bad_request = {
    ROCE_NAK_INVALID_REQUEST, PVRDMA_CNT_RX_BAD_REQUEST, PVRDMA_EVENT_QP_REQ_ERR,
};
static const Refusal bad_access = {
    ROCE_NAK_REMOTE_ACCESS, PVRDMA_CNT_RX_BAD_ACCESS, PVRDMA_EVENT_QP_ACCESS_ERR,
};

/*
 * Asserts that the QP has ended for the reason @why with a NAK of @psn, and that it drops
 * further packets.
 */
static void expect_refused(Bed *bed, const Refusal *why, uint32_t psn,
                           uint32_t msn)
{
    g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_ERR);
    g_assert_cmpuint(bed_counter(bed, why->counter), ==, 1);
    g_assert_cmpuint(bed->events, ==, why->event >= 0);
    if (why->event >= 0) {
        g_assert_cmpuint(bed->event, ==, why->event);
    }
    bed_expect_answer(bed, ROCE_AETH_SYN(ROCE_AETH_NAK, why->nak), psn, msn);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_TX_NAK_ERROR), ==, 1);
    PEER(bed, WRITE_ONLY, psn, RETH(0, 1), .payload_len = 1, .ack_req = true);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_RX_QP_STATE), ==, 1);
    bed_expect_quiet(bed);
}

/* --- Order of opcodes ----------------------------------------------------- */
/* Sends a packet with @opcode, valid if the right packets were before it. */
static void send_plain(Bed *bed, enum roce_opcode opcode, uint32_t psn)
{
    uint32_t flags = roce_opcode_info(opcode)->flags;
    RocePacket pkt = {
        .opcode = opcode,
        .psn = psn & ROCE_PSN_MASK,
        .qpn = BED_QPN,
        .pkey = ROCE_PKEY_DEFAULT,
        .va = BED_VA,
        .rkey = BED_KEY,
        .inv_rkey = BED_KEY,
        .dma_len = flags & ROCE_IS_LAST ? 1 : 3 * BED_MTU,
    };

    if (flags & ROCE_HAS_PAYLOAD) {
        pkt.payload_len = flags & ROCE_IS_LAST ? 1 : BED_MTU;
    }
    if (flags & ROCE_IS_WRITE && !(flags & ROCE_IS_FIRST)) {
        pkt.payload_len = BED_MTU;
    }
    bed_peer(bed, &pkt);
}

/*
 * Sends each opcode as a first packet, within a SEND and within a WRITE.  Asserts that
 * the responder accepts it only where it may follow.
 */
static void test_order(void)
{
    static const uint8_t begins[] = {
        ROCE_OP_SEND_ONLY, ROCE_OP_SEND_FIRST, ROCE_OP_WRITE_FIRST,
    };

    for (unsigned opcode = 0; opcode <= ROCE_OP_SEND_ONLY_INV; opcode++) {
        uint32_t flags = roce_opcode_info(opcode)->flags;

        if (!(flags & ROCE_IS_REQUEST)) {
            continue;
        }
        for (unsigned i = 0; i < ARRAY_SIZE(begins); i++) {
            uint32_t kind = roce_opcode_info(begins[i])->flags &
                            (ROCE_IS_SEND | ROCE_IS_WRITE);
            bool good = i == 0 ? flags & ROCE_IS_FIRST
                               : !(flags & ROCE_IS_FIRST) && (flags & kind);
            uint32_t psn = BED_PSN;
            Bed *bed = bed_new();

            for (unsigned n = 0; n < 4; n++) {
                bed_receive(bed, 1, BED_BUFFER);
            }
            send_plain(bed, begins[i], psn++);
            if (i == 2 && good && flags & ROCE_IS_LAST) {
                send_plain(bed, ROCE_OP_WRITE_MIDDLE, psn++);
            }
            g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_RTS);
            send_plain(bed, opcode, psn);
            g_assert_cmpuint(bed->qp.state, ==,
                             good ? PVRDMA_QPS_RTS : PVRDMA_QPS_ERR);
            if (!good) {
                expect_refused(bed, &bad_request, psn, i == 0);
            }
            bed_run(bed);
            g_queue_clear_full(&bed->sent, g_free);
            g_queue_clear_full(&bed->wc, g_free);
            bed_free(bed);
        }
    }
}

/* The receive WQE of a SEND that another message interrupts completes in error. */
static void test_order_completion(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, BED_BUFFER);
    bed_receive(bed, 1, BED_BUFFER);
    PEER(bed, SEND_FIRST, BED_PSN, .payload_len = BED_MTU);
    PEER(bed, WRITE_ONLY, BED_PSN + 1, RETH(0, 1), .payload_len = 1);
    bed_expect_failed(bed, 0, PVRDMA_WC_REM_INV_REQ_ERR);
    bed_expect_failed(bed, 1, PVRDMA_WC_WR_FLUSH_ERR);
    expect_refused(bed, &bad_request, BED_PSN + 1, 0);
    bed_free(bed);
}

/* --- Lengths -------------------------------------------------------------- */
static void test_payload(void)
{
    static const struct {
        enum roce_opcode opcode;
        uint32_t len;
        bool begun;                 /* the packet is within a SEND */
    } rows[] = {
        { ROCE_OP_SEND_FIRST, BED_MTU - 4 }, { ROCE_OP_SEND_FIRST, BED_MTU + 4 },
        { ROCE_OP_SEND_FIRST, 0 }, { ROCE_OP_SEND_ONLY, BED_MTU + 1 },
        { ROCE_OP_SEND_MIDDLE, BED_MTU - 1, true },
        { ROCE_OP_SEND_MIDDLE, BED_MTU + 1, true },
        { ROCE_OP_SEND_LAST, 0, true }, { ROCE_OP_SEND_LAST, BED_MTU + 1, true },
        { ROCE_OP_SEND_LAST_IMM, 0, true }, { ROCE_OP_SEND_LAST_INV, 0, true },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        Bed *bed = bed_new();
        uint32_t psn = BED_PSN;

        bed_receive(bed, 1, BED_BUFFER);
        if (rows[i].begun) {
            PEER(bed, SEND_FIRST, psn++, .payload_len = BED_MTU);
        }
        bed_peer(bed, &(RocePacket) {
            .opcode = rows[i].opcode, .psn = psn & ROCE_PSN_MASK, .qpn = BED_QPN,
            .pkey = ROCE_PKEY_DEFAULT, .payload_len = rows[i].len,
            .inv_rkey = BED_KEY,
        });
        bed_expect_failed(bed, 0, rows[i].begun ? PVRDMA_WC_REM_INV_REQ_ERR
                                                : PVRDMA_WC_WR_FLUSH_ERR);
        expect_refused(bed, &bad_request, psn, 0);
        bed_free(bed);
    }
}

/* Refuses WRITEs whose RETH length is not the sum of their payloads. */
static void test_write_length(void)
{
    static const struct {
        /* RETH length; bytes of packets, 0: no such packet */
        uint32_t said, first, middle, last;
        bool only;
    } rows[] = {
        { .said = 2, .last = 1, .only = true },
        { .said = 1, .last = 2, .only = true },
        { .said = 0, .last = 1, .only = true },
        { .said = ROCE_MSG_MAX + 1, .last = 1, .only = true },
        { .said = BED_MTU, .first = BED_MTU },
        { .said = BED_MTU - 1, .first = BED_MTU },
        { .said = ROCE_MSG_MAX + 1, .first = BED_MTU },
        { .said = 2 * BED_MTU, .first = BED_MTU, .middle = BED_MTU },
        { .said = BED_MTU + 2, .first = BED_MTU, .last = 1 },
        { .said = BED_MTU + 2, .first = BED_MTU, .last = 3 },
        { .said = 2 * BED_MTU + 2, .first = BED_MTU, .middle = BED_MTU,
          .last = 1 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
        Bed *bed = bed_new();
        uint32_t psn = BED_PSN;

        if (rows[i].only) {
            PEER(bed, WRITE_ONLY, psn++, RETH(0, rows[i].said),
                 .payload_len = rows[i].last);
        } else {
            PEER(bed, WRITE_FIRST, psn++, RETH(0, rows[i].said),
                 .payload_len = rows[i].first);
            if (rows[i].middle) {
                PEER(bed, WRITE_MIDDLE, psn++, .payload_len = rows[i].middle);
            }
            if (rows[i].last) {
                PEER(bed, WRITE_LAST, psn++, .payload_len = rows[i].last);
            }
        }
        expect_refused(bed, &bad_request, psn - 1, 0);
        bed_free(bed);
    }
}

static void test_read_length(void)
{
    Bed *bed = bed_new();

    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, ROCE_MSG_MAX + 1));
    expect_refused(bed, &bad_request, BED_PSN, 0);
    bed_free(bed);
}

/* --- Memory --------------------------------------------------------------- */
typedef struct Bad {
    const char *what;
    const Refusal *refusal;
    uint32_t qp_access, mr_access;      /* rights that are removed */
    int64_t at;                         /* offset from the start of the region */
    uint32_t key, len;
} Bad;

/* A request without the rights for all its bytes changes no byte. */
static void test_rights(void)
{
    static const struct {
        enum roce_opcode opcode;
        uint32_t access;
    } ops[] = {
        { ROCE_OP_WRITE_ONLY, PVRDMA_ACCESS_REMOTE_WRITE },
        { ROCE_OP_WRITE_FIRST, PVRDMA_ACCESS_REMOTE_WRITE },
        { ROCE_OP_READ_REQUEST, PVRDMA_ACCESS_REMOTE_READ },
        { ROCE_OP_COMPARE_SWAP, PVRDMA_ACCESS_REMOTE_ATOMIC },
        { ROCE_OP_FETCH_ADD, PVRDMA_ACCESS_REMOTE_ATOMIC },
    };
    static const Bad bads[] = {
        { "the QP does not allow it", &bad_request, .qp_access = -1 },
        { "the region does not allow it", &bad_access, .mr_access = -1 },
        { "no such key", &bad_access, .key = BED_KEY ^ 1 },
        { "before the region", &bad_access, .at = -8 },
        { "behind the region", &bad_access, .at = BED_MEM },
        { "half inside", &bad_access, .at = BED_MEM - 8, .len = 16 },
        { "at the end of all addresses", &bad_access, .at = -(int64_t)BED_VA - 8 },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(ops) * ARRAY_SIZE(bads); i++) {
        const Bad *bad = &bads[i % ARRAY_SIZE(bads)];
        uint32_t flags, access = ops[i / ARRAY_SIZE(bads)].access;
        RocePacket pkt = {
            .opcode = ops[i / ARRAY_SIZE(bads)].opcode,
            .psn = BED_PSN,
            .qpn = BED_QPN,
            .pkey = ROCE_PKEY_DEFAULT,
            .va = BED_VA + bad->at,
            .rkey = bad->key ?: BED_KEY,
        };
        Bed *bed;

        flags = roce_opcode_info(pkt.opcode)->flags;
        if (flags & ROCE_IS_ATOMIC && bad->len) {
            continue;                   /* atomics are aligned, so never half inside */
        }
        bed = bed_new();
        bed->qp.attr.access &= ~(bad->qp_access & access);
        bed->access &= ~(bad->mr_access & access);
        pkt.dma_len = bad->len ?: 8;
        if (flags & ROCE_HAS_PAYLOAD) {
            pkt.dma_len = flags & ROCE_IS_LAST ? pkt.dma_len : BED_MTU + 8;
            pkt.payload_len = MIN(pkt.dma_len, BED_MTU);
        }
        bed_peer(bed, &pkt);
        g_test_message("%s: %s", roce_opcode_info(pkt.opcode)->name, bad->what);
        expect_refused(bed, bad->refusal, BED_PSN, 0);
        bed_expect_memory(bed, BED_VA + BED_MEM - 8, 0x5eed,
                          BED_GUARD + BED_MEM - 8, 8);
        bed_free(bed);
    }
}

static void test_unaligned(void)
{
    for (unsigned i = 1; i < 8; i++) {
        Bed *bed = bed_new();

        PEER(bed, FETCH_ADD, BED_PSN, ATOMIC(i), .swap_add = 1);
        expect_refused(bed, &bad_request, BED_PSN, 0);
        bed_free(bed);
    }
}

/* The region is destroyed after the first packet of a message. */
static void test_region_gone(void)
{
    Bed *bed = bed_new();

    PEER(bed, WRITE_FIRST, BED_PSN, RETH(0, 2 * BED_MTU), .payload_len = BED_MTU);
    bed->mr_gone = true;
    PEER(bed, WRITE_LAST, BED_PSN + 1, .payload_len = BED_MTU);
    expect_refused(bed, &bad_access, BED_PSN + 1, 0);
    bed_free(bed);
}

static void test_region_gone_in_read(void)
{
    Bed *bed = bed_new();

    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 3 * BED_MTU));
    PEER(bed, READ_REQUEST, BED_PSN + 3, RETH(0, 3 * BED_MTU));
    g_assert_true(bed_run_some(bed, 1));
    bed->mr_gone = true;
    bed_run(bed);
    bed_expect_read(bed, ROCE_OP_READ_RESP_FIRST, BED_PSN, BED_VA, BED_MTU);
    expect_refused(bed, &bad_access, BED_PSN + 1, 2);
    bed_free(bed);
}

/*
 * A repeated READ is not needed any more if the peer sends newer requests.  So its region
 * may be invalidated.
 */
static void test_region_gone_again(void)
{
    Bed *bed = bed_new();

    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 2 * BED_MTU));
    bed_run(bed);
    bed_expect_read(bed, ROCE_OP_READ_RESP_FIRST, BED_PSN, BED_VA, BED_MTU);
    bed_expect_read(bed, ROCE_OP_READ_RESP_LAST, BED_PSN + 1, BED_VA + BED_MTU,
                    BED_MTU);
    bed_receive(bed, 1, 8);
    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 2 * BED_MTU));
    PEER(bed, SEND_ONLY_INV, BED_PSN + 2, .payload_len = 8, .inv_rkey = BED_KEY,
         .ack_req = true);
    g_free(bed_wc(bed));
    EXPECT_ACK(bed, BED_PSN + 2, 2);
    bed_expect_quiet(bed);
    g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_RTS);
    bed_free(bed);
}

/*
 * A READ whose first response is not complete still needs its region, also when a part of
 * it was answered twice.
 */
static void test_region_gone_in_between(void)
{
    for (unsigned part = 0; part < 2; part++) {
        Bed *bed = bed_new();

        PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 3 * BED_MTU));
        g_assert_true(bed_run_some(bed, 2));
        g_free(bed_sent(bed));
        g_free(bed_sent(bed));
        if (part) {
            PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(BED_MTU, BED_MTU));
            bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + 1,
                            BED_VA + BED_MTU, BED_MTU);
        }
        PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(BED_MTU, 2 * BED_MTU));
        bed->mr_gone = true;
        bed_run(bed);
        expect_refused(bed, &bad_access, BED_PSN + 1, 1);
        bed_free(bed);
    }
}

static void test_bus_error(void)
{
    static const Refusal bad_bus = {
        ROCE_NAK_REMOTE_OPERATION, PVRDMA_CNT_RX_BAD_ACCESS, PVRDMA_EVENT_QP_FATAL,
    };

    for (unsigned i = 0; i < 3; i++) {
        Bed *bed = bed_new();

        bed->bus_error = true;
        if (i == 0) {
            PEER(bed, WRITE_ONLY, BED_PSN, RETH(0, 1), .payload_len = 1);
        } else if (i == 1) {
            PEER(bed, FETCH_ADD, BED_PSN, ATOMIC(0), .swap_add = 1);
        } else {
            PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 1));
            bed_run(bed);
        }
        expect_refused(bed, &bad_bus, BED_PSN, i == 2);
        bed_free(bed);
    }
}

static void test_bad_invalidation(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, 8);
    PEER(bed, SEND_ONLY_INV, BED_PSN, .payload_len = 8, .inv_rkey = BED_KEY + 1);
    bed_expect_failed(bed, 0, PVRDMA_WC_REM_ACCESS_ERR);
    expect_refused(bed, &bad_access, BED_PSN, 0);
    bed_free(bed);
}

/* --- READs and atomics at once -------------------------------------------- */
static void test_too_many(void)
{
    Bed *bed = bed_new();

    for (unsigned i = 0; i < 3; i++) {
        PEER(bed, READ_REQUEST, BED_PSN + i, RETH(i, 1));
    }
    PEER(bed, FETCH_ADD, BED_PSN + 3, ATOMIC(0), .swap_add = 1);
    g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_RTS);
    PEER(bed, READ_REQUEST, BED_PSN + 4, RETH(4, 1));
    /* the responder answers the accepted requests first */
    g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_ERR);
    for (unsigned i = 0; i < 3; i++) {
        bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + i, BED_VA + i, 1);
    }
    g_free(bed_sent(bed));
    expect_refused(bed, &bad_request, BED_PSN + 4, 4);
    bed_free(bed);
}

/* Repeated requests that the peer has got answers to do not count against the limit. */
static void test_not_too_many(void)
{
    Bed *bed = bed_new();

    for (unsigned i = 0; i < 4; i++) {
        PEER(bed, READ_REQUEST, BED_PSN + i, RETH(i, 1));
        bed_run(bed);
        g_free(bed_sent(bed));
    }
    for (unsigned i = 0; i < 4; i++) {
        PEER(bed, READ_REQUEST, BED_PSN + i, RETH(i, 1));
    }
    PEER(bed, READ_REQUEST, BED_PSN + 4, RETH(4, 1));
    for (unsigned i = 1; i < 5; i++) {
        bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + i, BED_VA + i, 1);
    }
    bed_free(bed);
}

/* The guest lowers the limit while READs wait: the responder still answers them. */
static void test_limit_lowered(void)
{
    for (unsigned again = 0; again < 2; again++) {
        Bed *bed = bed_new();

        PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 1));
        bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN, BED_VA, 1);
        for (unsigned i = 1; i < 4; i++) {
            PEER(bed, READ_REQUEST, BED_PSN + i, RETH(i, 1));
        }
        bed->qp.attr.max_dest_rd_atomic = again ? 4 : 2;
        PEER(bed, READ_REQUEST, BED_PSN + 4, RETH(4, 1));
        g_assert_cmpuint(bed->qp.state, ==,
                         again ? PVRDMA_QPS_RTS : PVRDMA_QPS_ERR);
        for (unsigned i = 1; i < 4 + again; i++) {
            bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN + i, BED_VA + i,
                            1);
        }
        if (!again) {
            expect_refused(bed, &bad_request, BED_PSN + 4, 4);
        }
        bed_free(bed);
    }
}

static void test_none_allowed(void)
{
    Bed *bed = bed_new();

    bed->qp.attr.max_dest_rd_atomic = 0;
    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 1));
    expect_refused(bed, &bad_request, BED_PSN, 0);
    bed_free(bed);
}

/* --- Receive WQEs --------------------------------------------------------- */
static void test_too_long(void)
{
    static const Refusal too_long = {
        ROCE_NAK_INVALID_REQUEST, PVRDMA_CNT_RX_BAD_REQUEST, -1,
    };
    Bed *bed = bed_new();

    bed_receive(bed, 1, BED_MTU + 9);
    PEER(bed, SEND_FIRST, BED_PSN, .payload_len = BED_MTU);
    PEER(bed, SEND_LAST, BED_PSN + 1, .payload_len = 10);
    bed_expect_failed(bed, 0, PVRDMA_WC_LOC_LEN_ERR);
    expect_refused(bed, &too_long, BED_PSN + 1, 0);
    /* no byte of the last packet is stored */
    g_assert_cmphex(bed->buffer[0][BED_MTU], ==, 0);
    bed_free(bed);
}

static const Refusal bad_buffer = {
    ROCE_NAK_REMOTE_OPERATION, PVRDMA_CNT_RX_BAD_ACCESS, -1,
};

static void test_bad_buffer(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, 8);
    bed->sg_status = PVRDMA_WC_LOC_PROT_ERR;
    PEER(bed, SEND_ONLY, BED_PSN, .payload_len = 8);
    bed_expect_failed(bed, 0, PVRDMA_WC_LOC_PROT_ERR);
    g_assert_cmpuint(bed_counter(bed, PVRDMA_CNT_GUEST_ERROR), ==, 1);
    expect_refused(bed, &bad_buffer, BED_PSN, 0);
    bed_free(bed);
}

static void test_bad_wqe(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, 8);
    bed->rqe[0].status = PVRDMA_WC_LOC_QP_OP_ERR;
    PEER(bed, SEND_ONLY, BED_PSN);
    bed_expect_failed(bed, 0, PVRDMA_WC_LOC_QP_OP_ERR);
    expect_refused(bed, &bad_buffer, BED_PSN, 0);
    bed_free(bed);
}

static void test_bad_queue(void)
{
    static const Refusal bad_queue = {
        ROCE_NAK_REMOTE_OPERATION, PVRDMA_CNT_RX_BAD_ACCESS, PVRDMA_EVENT_QP_FATAL,
    };
    Bed *bed = bed_new();

    bed->rq_broken = true;
    PEER(bed, SEND_ONLY, BED_PSN);
    expect_refused(bed, &bad_queue, BED_PSN, 0);
    bed_free(bed);
}

/* --- Other ends ----------------------------------------------------------- */
/* The guest ends the QP: the responder sends no more answers, and flushes all WQEs. */
static void test_ended(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, BED_BUFFER);
    bed_receive(bed, 1, BED_BUFFER);
    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, 3 * BED_MTU));
    PEER(bed, SEND_FIRST, BED_PSN + 3, .payload_len = BED_MTU, .ack_req = true);
    g_assert_true(bed_run_some(bed, 1));
    pvrdma_qp_error(&bed->qp, -1);
    g_free(bed_sent(bed));
    bed_expect_quiet(bed);
    bed_expect_failed(bed, 0, PVRDMA_WC_WR_FLUSH_ERR);
    bed_expect_failed(bed, 1, PVRDMA_WC_WR_FLUSH_ERR);
    bed_receive(bed, 1, 1);             /* a WQE posted after the end */
    pvrdma_resp_flush(&bed->qp);
    bed_expect_failed(bed, 2, PVRDMA_WC_WR_FLUSH_ERR);
    bed_free(bed);
}

/* A QP with an SRQ flushes only the WQE that it has fetched from the SRQ. */
static void test_ended_shared(void)
{
    Bed *bed = bed_new();
    PvrdmaSrq srq = { 0 };

    bed->qp.srq = &srq;
    bed_receive(bed, 1, BED_BUFFER);
    bed_receive(bed, 1, BED_BUFFER);
    PEER(bed, SEND_FIRST, BED_PSN, .payload_len = BED_MTU);
    pvrdma_qp_error(&bed->qp, -1);
    bed_expect_failed(bed, 0, PVRDMA_WC_WR_FLUSH_ERR);
    g_assert_cmpuint(bed->fetched, ==, 1);
    bed_free(bed);
}

/* The responder does not acknowledge a message whose completion found the CQ full. */
static void test_cq_full(void)
{
    Bed *bed = bed_new();

    bed_receive(bed, 1, 8);
    bed->cq_full = true;
    PEER(bed, SEND_ONLY, BED_PSN, .payload_len = 8, .ack_req = true);
    g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_ERR);
    bed_expect_quiet(bed);
    bed_free(bed);
}

/* Requests before a refusal are answered, even if the path is congested. */
static void test_congested(void)
{
    Bed *bed = bed_new();

    bed->congested = true;
    PEER(bed, READ_REQUEST, BED_PSN, RETH(0, BED_MTU));
    g_assert_false(bed_run_some(bed, 1));
    g_assert_cmpuint(bed->sent.length, ==, 0);
    PEER(bed, READ_REQUEST, BED_PSN + 1, RETH(BED_MEM, 1));
    g_assert_cmpuint(bed->qp.state, ==, PVRDMA_QPS_ERR);
    bed_expect_read(bed, ROCE_OP_READ_RESP_ONLY, BED_PSN, BED_VA, BED_MTU);
    expect_refused(bed, &bad_access, BED_PSN + 1, 1);
    bed_free(bed);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pvrdma/resp/refuse-order", test_order);
    g_test_add_func("/pvrdma/resp/refuse-order-completion",
                    test_order_completion);
    g_test_add_func("/pvrdma/resp/refuse-payload", test_payload);
    g_test_add_func("/pvrdma/resp/refuse-write-length", test_write_length);
    g_test_add_func("/pvrdma/resp/refuse-read-length", test_read_length);
    g_test_add_func("/pvrdma/resp/refuse-rights-a12", test_rights);
    g_test_add_func("/pvrdma/resp/refuse-unaligned", test_unaligned);
    g_test_add_func("/pvrdma/resp/refuse-region-gone", test_region_gone);
    g_test_add_func("/pvrdma/resp/refuse-region-gone-in-read",
                    test_region_gone_in_read);
    g_test_add_func("/pvrdma/resp/refuse-region-gone-again",
                    test_region_gone_again);
    g_test_add_func("/pvrdma/resp/refuse-region-gone-in-between",
                    test_region_gone_in_between);
    g_test_add_func("/pvrdma/resp/refuse-bus-error", test_bus_error);
    g_test_add_func("/pvrdma/resp/refuse-bad-invalidation",
                    test_bad_invalidation);
    g_test_add_func("/pvrdma/resp/refuse-too-many", test_too_many);
    g_test_add_func("/pvrdma/resp/refuse-not-too-many", test_not_too_many);
    g_test_add_func("/pvrdma/resp/refuse-limit-lowered", test_limit_lowered);
    g_test_add_func("/pvrdma/resp/refuse-none-allowed", test_none_allowed);
    g_test_add_func("/pvrdma/resp/refuse-too-long", test_too_long);
    g_test_add_func("/pvrdma/resp/refuse-bad-buffer", test_bad_buffer);
    g_test_add_func("/pvrdma/resp/refuse-bad-wqe", test_bad_wqe);
    g_test_add_func("/pvrdma/resp/refuse-bad-queue", test_bad_queue);
    g_test_add_func("/pvrdma/resp/refuse-ended", test_ended);
    g_test_add_func("/pvrdma/resp/refuse-ended-shared", test_ended_shared);
    g_test_add_func("/pvrdma/resp/refuse-cq-full", test_cq_full);
    g_test_add_func("/pvrdma/resp/refuse-congested", test_congested);
    return g_test_run();
}
