/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A19: the wire loses, repeats, delays and reorders packets, and the responder executes
 * each message once and in order.  The peer is a simple requester, which repeats packets
 * from the oldest unanswered one on.  The expected results are computed when the messages
 * are planned.
 */
#include "resp-device.h"

#define SEEDS           20              /* the fixed seeds 0, 1, ... */
#define FRESH           5               /* further random seeds in each run */
#define MESSAGES        400
#define WINDOW          16              /* limit of unanswered packets */
#define DELAYED         8               /* packets that the wire holds back */
#define TIMEOUT         4               /* rounds without progress before a timeout */
#define WRITE_BYTES     16384           /* WRITEs change bytes below this, */
#define COUNTER_AT      WRITE_BYTES     /* atomics the 8 bytes here, */
#define READ_AT         (WRITE_BYTES + 8)   /* and READs read from here on */
#define LEN_MAX         (4 * BED_MTU)

typedef enum Kind { SEND, WRITE, READ, ATOMIC, KINDS } Kind;

typedef struct Message {
    Kind kind;
    /* number of the first packet, from 0 on; number of packets */
    uint32_t at, psns;
    uint32_t va, len;
    bool imm;
} Message;

typedef struct Peer {
    Bed *bed;
    GRand *rand;
    unsigned percent;                   /* of packets delayed, doubled or lost */
    unsigned reads;                     /* limit of READs and atomics under way */
    Message message[MESSAGES];
    uint32_t packets;
    uint32_t una, next;                 /* first unanswered packet, first unsent one */
    unsigned idle;                      /* rounds without progress */
    uint64_t atomics;                   /* atomics that were answered */
    unsigned completions;
    RocePacket delayed[DELAYED];
    uint8_t memory[WRITE_BYTES];        /* expected bytes at the end */
} Peer;

static unsigned dice(Peer *p, unsigned sides)
{
    return g_rand_int_range(p->rand, 0, sides);
}

static bool unlucky(Peer *p)
{
    return dice(p, 100) < p->percent;
}

static uint32_t psn_of(uint32_t packet)
{
    return roce_psn_add(BED_PSN, packet);
}

static Message *message_of(Peer *p, uint32_t packet)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        Message *m = &p->message[i];

        if (packet - m->at < m->psns) {
            return m;
        }
    }
    g_assert_not_reached();
}

/* --- Requests ------------------------------------------------------------- */
static void plan(Peer *p)
{
    for (unsigned i = 0; i < MESSAGES; i++) {
        Message *m = &p->message[i];

        m->kind = dice(p, KINDS);
        m->at = p->packets;
        m->len = m->kind == ATOMIC ? 8 : dice(p, LEN_MAX + 1);
        m->psns = roce_packets(m->len, BED_MTU);
        m->imm = m->kind == WRITE && dice(p, 2);
        m->va = m->kind == WRITE ? dice(p, WRITE_BYTES - LEN_MAX) :
                m->kind == READ ? READ_AT + dice(p, BED_MEM - READ_AT - LEN_MAX) :
                COUNTER_AT;
        p->packets += m->psns;
        for (uint32_t n = 0; m->kind == WRITE && n < m->len; n++) {
            p->memory[m->va + n] = bed_byte(psn_of(m->at + n / BED_MTU),
                                            n % BED_MTU);
        }
    }
}

static uint8_t opcode_of(const Message *m, uint32_t n)
{
    static const uint8_t opcodes[2][2][2] = {       /* [is a WRITE][is first][is last] */
        { { ROCE_OP_SEND_MIDDLE, ROCE_OP_SEND_LAST },
          { ROCE_OP_SEND_FIRST, ROCE_OP_SEND_ONLY } },
        { { ROCE_OP_WRITE_MIDDLE, ROCE_OP_WRITE_LAST },
          { ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_ONLY } },
    };
    bool last = n == m->psns - 1;

    return m->kind == READ ? ROCE_OP_READ_REQUEST :
           m->kind == ATOMIC ? ROCE_OP_FETCH_ADD :
           opcodes[m->kind == WRITE][n == 0][last] + (m->imm && last);
}

/* Returns the request of @packet; a READ requests all packets from there on. */
static RocePacket packet_of(Peer *p, uint32_t packet)
{
    const Message *m = message_of(p, packet);
    uint32_t n = packet - m->at;
    uint32_t done = n * BED_MTU;

    return (RocePacket) {
        .opcode = opcode_of(m, n),
        .psn = psn_of(packet),
        .qpn = BED_QPN,
        .pkey = ROCE_PKEY_DEFAULT,
        .va = BED_VA + m->va + (m->kind == READ ? done : 0),
        .rkey = BED_KEY,
        .dma_len = m->len - (m->kind == READ ? done : 0),
        .swap_add = 1,
        .payload_len = m->kind <= WRITE ? MIN(m->len - done, BED_MTU) : 0,
        .ack_req = n == m->psns - 1,
    };
}

static void wire(Peer *p, const RocePacket *pkt)
{
    unsigned slot = dice(p, DELAYED);

    if (!unlucky(p)) {
        bed_peer(p->bed, pkt);
    } else if (dice(p, 2)) {            /* @pkt replaces a held packet, which arrives */
        if (p->delayed[slot].qpn) {
            bed_peer(p->bed, &p->delayed[slot]);
        }
        p->delayed[slot] = *pkt;
        if (dice(p, 2)) {               /* @pkt arrives now and later */
            bed_peer(p->bed, pkt);
        }
    }
}

static unsigned reads_outstanding(Peer *p)
{
    unsigned reads = 0;

    for (uint32_t packet = p->una; packet < p->next;) {
        const Message *m = message_of(p, packet);

        reads += m->kind == READ || m->kind == ATOMIC;
        packet = m->at + m->psns;
    }
    return reads;
}

static void send_window(Peer *p)
{
    while (p->next < p->packets && p->next - p->una < WINDOW) {
        const Message *m = message_of(p, p->next);
        RocePacket pkt = packet_of(p, p->next);

        if (m->kind >= READ && reads_outstanding(p) == p->reads) {
            return;
        }
        wire(p, &pkt);
        p->next = m->kind == READ ? m->at + m->psns : p->next + 1;
    }
}

/* --- Answers -------------------------------------------------------------- */
static void progress(Peer *p, uint32_t una)
{
    p->una = una;
    p->next = MAX(p->next, una);
    p->idle = 0;
}

/*
 * Acknowledges all packets before @end, but only up to a READ or atomic without a
 * response: the peer repeats it.
 */
static void acknowledged(Peer *p, uint32_t end)
{
    g_assert_cmpuint(end, <=, p->packets);
    while (p->una < end) {
        if (message_of(p, p->una)->kind >= READ) {
            p->next = p->una;
            return;
        }
        progress(p, p->una + 1);
    }
}

static void read_response(Peer *p, const BedSent *sent, const Message *m)
{
    uint32_t done = (p->una - m->at) * BED_MTU;
    uint32_t len = MIN(m->len - done, BED_MTU);

    g_assert_cmpmem(sent->payload, sent->pkt.payload_len,
                    p->bed->mem + m->va + done, len);
}

static void response(Peer *p, const BedSent *sent, uint32_t packet)
{
    const Message *m = message_of(p, packet);

    /* a response also acknowledges the packets before it */
    acknowledged(p, packet);
    if (p->una != packet) {
        return;
    }
    if (sent->pkt.opcode == ROCE_OP_ATOMIC_ACK) {
        g_assert_cmpint(m->kind, ==, ATOMIC);
        g_assert_cmpuint(sent->pkt.original, ==, p->atomics++);
    } else {
        g_assert_cmpint(m->kind, ==, READ);
        read_response(p, sent, m);
    }
    progress(p, packet + 1);
}

static void receive(Peer *p, const BedSent *sent)
{
    uint32_t packet = roce_psn_diff(sent->pkt.psn, BED_PSN);
    uint8_t value = sent->pkt.syndrome & ROCE_AETH_VALUE;

    if (sent->pkt.opcode != ROCE_OP_ACK) {
        if (packet >= p->una) {
            response(p, sent, packet);
        }
        return;
    }
    switch (RNIC_GET(ROCE_AETH_KIND, sent->pkt.syndrome)) {
    case ROCE_AETH_ACK:
        acknowledged(p, packet + 1);
        break;
    case ROCE_AETH_RNR_NAK:
        bed_receive(p->bed, 1, LEN_MAX);
        /* fall through */
    case ROCE_AETH_NAK:
        acknowledged(p, packet);
        g_assert_true(value == ROCE_NAK_PSN_SEQUENCE || value == BED_RNR);
        p->next = p->una;
        break;
    default:
        g_assert_not_reached();
    }
}

/* Checks that completions are those of the messages that have one, in order. */
static void completions(Peer *p)
{
    while (p->bed->wc.length) {
        g_autofree PvrdmaWc *wc = bed_wc(p->bed);
        const Message *m = &p->message[p->completions];
        const uint8_t *buffer = p->bed->buffer[wc->wr_id % BED_DEPTH];

        while (m->kind != SEND && !m->imm) {
            m++;
        }
        p->completions = m - p->message + 1;
        g_assert_cmpuint(wc->status, ==, PVRDMA_WC_SUCCESS);
        g_assert_cmpuint(wc->byte_len, ==, m->len);
        g_assert_cmpuint(wc->opcode, ==, m->kind == SEND ? PVRDMA_WC_RECV :
                                         PVRDMA_WC_RECV_RDMA_WITH_IMM);
        for (uint32_t n = 0; m->kind == SEND && n < m->len; n++) {
            g_assert_cmphex(buffer[n], ==,
                            bed_byte(psn_of(m->at + n / BED_MTU), n % BED_MTU));
        }
    }
}

static void step(Peer *p)
{
    Bed *bed = p->bed;

    if (p->idle++ == TIMEOUT) {
        p->next = p->una;
        p->idle = 0;
    }
    if (!dice(p, 4) && bed->posted - bed->fetched < 4) {
        bed_receive(bed, 1, LEN_MAX);
    }
    send_window(p);
    completions(p);
    bed_run_some(bed, dice(p, 8));
    while (bed->sent.length) {
        g_autofree BedSent *sent = bed_sent(bed);

        if (!unlucky(p)) {
            receive(p, sent);
        }
    }
}

static void test_wire(gconstpointer percent)
{
    static const uint8_t reads[] = { 1, 2, 4, 7, PVRDMA_RESP_RESOURCES };

    for (unsigned round = 0; round < SEEDS + FRESH; round++) {
        Peer *p = g_new0(Peer, 1);
        /* a random seed derives from glib's seed, which --seed sets */
        uint32_t seed = round < SEEDS ? round : g_test_rand_int();
        unsigned steps = 0;

        p->bed = bed_new();
        p->reads = reads[round % ARRAY_SIZE(reads)];
        p->bed->qp.attr.max_dest_rd_atomic = p->reads;
        p->rand = g_rand_new_with_seed(seed);
        p->percent = GPOINTER_TO_UINT(percent);
        memcpy(p->memory, p->bed->mem, WRITE_BYTES);
        memset(p->bed->mem + COUNTER_AT, 0, 8);
        plan(p);
        while (p->una < p->packets) {
            step(p);
            g_assert_cmpuint(steps++, <, 100000);
        }
        g_assert_cmpuint(p->bed->qp.state, ==, PVRDMA_QPS_RTS);
        g_assert_cmpuint(p->bed->qp.resp.msn, ==, MESSAGES);
        g_assert_cmpmem(p->bed->mem, WRITE_BYTES, p->memory, WRITE_BYTES);
        g_assert_cmpuint(ldq_le_p(p->bed->mem + COUNTER_AT), ==, p->atomics);
        if (p->percent) {
            g_assert_cmpuint(bed_counter(p->bed, PVRDMA_CNT_RX_DUPLICATE), >, 0);
            g_assert_cmpuint(bed_counter(p->bed, PVRDMA_CNT_TX_NAK), >, 0);
        }
        bed_run(p->bed);
        g_queue_clear_full(&p->bed->sent, g_free);
        bed_free(p->bed);
        g_rand_free(p->rand);
        g_free(p);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/pvrdma/resp/random-good-wire-a19",
                         GUINT_TO_POINTER(0), test_wire);
    g_test_add_data_func("/pvrdma/resp/random-bad-wire-a19",
                         GUINT_TO_POINTER(10), test_wire);
    g_test_add_data_func("/pvrdma/resp/random-worst-wire-a19",
                         GUINT_TO_POINTER(40), test_wire);
    return g_test_run();
}
