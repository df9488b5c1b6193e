/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mailboxes: the device writes messages of the peer's packetizer to a ring of the
 * process.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "tables.h"

#define RING EXANET_RAM_RING
#define MAILBOX_VA(m) (EXANET_NI_VA(EXANET_NI_MAILBOX) | \
                       RNIC_PREP(EXANET_VA_MAILBOX, m))
#define FAULT_VA 0x7fff00000000ULL

static ExanetPacket message(ExanetTest *t, unsigned mailbox, unsigned gen,
                            const void *payload, unsigned size)
{
    return (ExanetPacket) {
        .type = EXANET_TYPE_WRITE, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(0), .va = MAILBOX_VA(mailbox), .size = size,
        .payload = payload,
        .tid = RNIC_PREP(EXANET_PTID_GEN, gen) | RNIC_PREP(EXANET_PTID_CTX, 7) |
               RNIC_PREP(EXANET_PTID_CHANNEL, 3),
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .first = true, .last = true,
    };
}

static enum exanet_resp deliver(ExanetTest *t, const ExanetPacket *pkt)
{
    exanet_peer_send(t->peer, pkt);
    return exanet_peer_take_resp(t->peer, pkt->tid, pkt->seq);
}

static enum exanet_resp send_message(ExanetTest *t, unsigned mailbox,
                                     unsigned gen, unsigned byte)
{
    uint8_t payload[64];
    ExanetPacket pkt = message(t, mailbox, gen % 64, payload, sizeof(payload));

    memset(payload, byte, sizeof(payload));
    return deliver(t, &pkt);
}

static uint32_t tail(ExanetTest *t, unsigned mailbox)
{
    return exanet_mailbox_get(t, 0, mailbox,
                              offsetof(struct exanet_mailbox, tail));
}

static void set_head(ExanetTest *t, unsigned mailbox, uint64_t head)
{
    exanet_user_set(t, 0, EXANET_PAGE_MAILBOX, mailbox * EXANET_MAILBOX_BYTES +
                    offsetof(struct exanet_mailbox, head), head);
}

static uint64_t rejected(ExanetTest *t, unsigned mailbox)
{
    return exanet_mailbox_get(t, 0, mailbox,
                              offsetof(struct exanet_mailbox, rejected));
}

static void test_sizes(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[64];

    for (unsigned i = 0; i < sizeof(payload); i++) {
        payload[i] = i ^ 0xa5;
    }
    qtest_memset(t->qts, RING, 0xee, 64 * sizeof(struct exanet_message));
    exanet_mailbox_open(t, 0, 1, RING, 6, 0);
    for (unsigned size = 1; size <= 64; size++) {
        ExanetPacket pkt = message(t, 1, size % 64, payload, size);
        struct exanet_message m;

        exanet_step(t, 1000);
        g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
        g_assert_cmpuint(tail(t, 1), ==, size);
        m = exanet_message_read(t, RING, size - 1);
        g_assert_cmpmem(m.payload, size, payload, size);
        for (unsigned i = size; i < 64; i++) {
            g_assert_cmphex(m.payload[i], ==, 0);
        }
        g_assert_cmphex(m.origin, ==,
                        RNIC_PREP(EXANET_MESSAGE_PDID, EXANET_TEST_PDID(7)) |
                        RNIC_PREP(EXANET_MESSAGE_COORD, EXANET_TEST_PEER) |
                        RNIC_PREP(EXANET_MESSAGE_SIZE, size) |
                        RNIC_PREP(EXANET_MESSAGE_TYPE, EXANET_TYPE_WRITE) |
                        RNIC_PREP(EXANET_MESSAGE_TID, pkt.tid));
        g_assert_cmphex(m.data, ==, 0);
        g_assert_cmpuint(m.time, ==, exanet_get64(t, EXANET_REG_TIME));
        g_assert_cmphex(m.phase & 1, ==, 1);
    }
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 64);
    exanet_stop(t);
}

/* Messages for several laps of the ring: the phase changes with each lap. */
static void test_wrap(void)
{
    ExanetTest *t = exanet_start("");
    unsigned gen = 0;

    for (unsigned log2 = 1; log2 <= 3; log2++) {
        unsigned entries = 1 << log2;

        exanet_mailbox_open(t, 0, 0, RING, log2, 0);
        for (unsigned n = 0; n < 5 * entries + 1; n++) {
            struct exanet_message m;

            g_assert_cmpuint(send_message(t, 0, ++gen, n), ==,
                             EXANET_RESP_ACK);
            m = exanet_message_read(t, RING, n % entries);
            g_assert_cmphex(m.phase & 1, ==, !(n / entries & 1));
            g_assert_cmphex(m.payload[63], ==, n);
            set_head(t, 0, n + 1);
        }
        exanet_user_set(t, 0, EXANET_PAGE_MAILBOX,
                        offsetof(struct exanet_mailbox, ctrl), 0);
    }
    exanet_stop(t);
}

static void test_full(void)
{
    ExanetTest *t = exanet_start("");
    struct exanet_message m;

    exanet_mailbox_open(t, 0, 2, RING, 2, 0);
    for (unsigned n = 0; n < 4; n++) {
        g_assert_cmpuint(send_message(t, 2, n, n), ==, EXANET_RESP_ACK);
    }
    g_assert_cmpuint(send_message(t, 2, 4, 4), ==, EXANET_RESP_FULL);
    g_assert_cmpuint(send_message(t, 2, 4, 4), ==, EXANET_RESP_FULL);
    g_assert_cmpuint(RNIC_GET(EXANET_MAILBOX_REJ_FULL, rejected(t, 2)), ==, 2);
    g_assert_cmpuint(exanet_count(t, MBOX_FULL), ==, 2);
    m = exanet_message_read(t, RING, 0);
    g_assert_cmphex(m.payload[0], ==, 0);
    /*
     * the process has taken one message: the refused message is accepted, the next one
     * is refused
     */
    set_head(t, 2, 1);
    g_assert_cmpuint(send_message(t, 2, 4, 4), ==, EXANET_RESP_ACK);
    m = exanet_message_read(t, RING, 0);
    g_assert_cmphex(m.payload[0], ==, 4);
    g_assert_cmphex(m.phase & 1, ==, 0);
    g_assert_cmpuint(send_message(t, 2, 5, 5), ==, EXANET_RESP_FULL);
    /* an invalid HEAD makes the ring full, and has no other effect */
    set_head(t, 2, 1000);
    g_assert_cmpuint(send_message(t, 2, 5, 5), ==, EXANET_RESP_FULL);
    set_head(t, 2, ~0ULL);
    g_assert_cmpuint(send_message(t, 2, 5, 5), ==, EXANET_RESP_FULL);
    set_head(t, 2, 5);
    g_assert_cmpuint(send_message(t, 2, 5, 5), ==, EXANET_RESP_ACK);
    exanet_stop(t);
}

static void test_disabled(void)
{
    ExanetTest *t = exanet_start("");

    g_assert_cmpuint(send_message(t, 0, 1, 1), ==, EXANET_RESP_FULL);
    exanet_mailbox_open(t, 0, 0, RING, 2, 0);
    g_assert_cmpuint(send_message(t, 0, 1, 1), ==, EXANET_RESP_ACK);
    exanet_user_set(t, 0, EXANET_PAGE_MAILBOX,
                    offsetof(struct exanet_mailbox, ctrl), 0);
    g_assert_cmpuint(send_message(t, 0, 2, 1), ==, EXANET_RESP_FULL);
    /* the ring starts at entry 0 when it is enabled */
    exanet_mailbox_open(t, 0, 0, RING + 4096, 2, 0);
    g_assert_cmpuint(tail(t, 0), ==, 0);
    g_assert_cmpuint(send_message(t, 0, 2, 9), ==, EXANET_RESP_ACK);
    exanet_assert_byte(t, RING + 4096, 9, 64);
    exanet_stop(t);
}

static void test_bad_setup(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t ctrl;

    for (unsigned log2 = 0; log2 < 32; log2 += log2 ? 1 : 17) {
        exanet_mailbox_open(t, 0, 0, RING, log2, 0);
        ctrl = exanet_mailbox_get(t, 0, 0,
                                  offsetof(struct exanet_mailbox, ctrl));
        g_assert_cmphex(ctrl & EXANET_MAILBOX_ENABLE, ==, 0);
        g_assert_cmpuint(send_message(t, 0, 1, 1), ==, EXANET_RESP_FULL);
    }
    /* a store of another address or size does not change an enabled ring */
    exanet_mailbox_open(t, 0, 0, RING, 2, 0);
    g_assert_cmpuint(send_message(t, 0, 1, 1), ==, EXANET_RESP_ACK);
    exanet_mailbox_open(t, 0, 0, RING + 4096, 8, 0);
    g_assert_cmphex(exanet_mailbox_get(t, 0, 0, 0), ==, RING);
    g_assert_cmpuint(tail(t, 0), ==, 1);
    for (unsigned n = 2; n < 5; n++) {
        g_assert_cmpuint(send_message(t, 0, n, n), ==, EXANET_RESP_ACK);
    }
    g_assert_cmpuint(send_message(t, 0, 5, 5), ==, EXANET_RESP_FULL);
    /* a ring at an address without RAM */
    exanet_mailbox_open(t, 0, 1, EXANET_NO_RAM, 2, 0);
    g_assert_cmpuint(send_message(t, 1, 5, 5), ==, EXANET_RESP_DECODE);
    exanet_mailbox_open(t, 0, 2, ~0ULL, 16, 0);
    g_assert_cmpuint(send_message(t, 2, 6, 5), ==, EXANET_RESP_DECODE);
    t->guest_errors = true;
    exanet_stop(t);
}

static void test_bad_messages(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[128] = { 0 };
    ExanetPacket pkt = message(t, 0, 1, payload, 65);

    exanet_mailbox_open(t, 0, 0, RING, 2, 0);
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_MALFORMED);
    /* a mailbox that does not exist, or an address inside a mailbox's registers */
    pkt = message(t, EXANET_MAILBOXES, 2, payload, 8);
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_DECODE);
    pkt = message(t, 0, 3, payload, 8);
    pkt.va |= 0x100;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_DECODE);
    pkt = message(t, 0, 4, payload, 8);
    pkt.va |= 1;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_DECODE);
    /* another job, and a context that is not open */
    pkt = message(t, 0, 5, payload, 8);
    pkt.pdid ^= 0x10;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_PROTECTION);
    pkt = message(t, 0, 6, payload, 8);
    pkt.pdid = EXANET_TEST_PDID(12);
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(tail(t, 0), ==, 0);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 0);
    exanet_stop(t);
}

/*
 * Copies of a message are acked and not stored; a message of an older generation is
 * dropped.
 */
static void test_duplicates(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[8] = { 1 };
    ExanetPacket pkt = message(t, 0, 10, payload, 8);

    exanet_mailbox_open(t, 0, 0, RING, 6, 0);
    for (pkt.seq = 0; pkt.seq < 5; pkt.seq++) {
        g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    }
    g_assert_cmpuint(tail(t, 0), ==, 1);
    g_assert_cmpuint(exanet_count(t, MSG_DUPLICATE), ==, 4);
    pkt = message(t, 0, 11, payload, 8);
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(tail(t, 0), ==, 2);
    pkt = message(t, 0, 10, payload, 8);
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_OLD_GEN), ==, 1);
    g_assert_cmpuint(tail(t, 0), ==, 2);
    /* another channel has generations of its own */
    pkt.tid ^= 1;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(tail(t, 0), ==, 3);
    exanet_stop(t);
}

static void test_damaged(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[8] = { 1 }, buf[EXANET_PACKET_BYTES];
    ExanetPacket pkt = message(t, 0, 10, payload, 8);
    unsigned words = exanet_peer_encode(buf, &pkt);

    exanet_mailbox_open(t, 0, 0, RING, 6, 0);
    buf[EXANET_WORD_BYTES] ^= 1;
    exanet_peer_words(t->peer, buf, words);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, pkt.tid, 0), ==,
                     EXANET_RESP_CRC);
    g_assert_cmpuint(tail(t, 0), ==, 0);
    pkt.seq = 1;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(tail(t, 0), ==, 1);
    exanet_stop(t);
}

static void test_irq(void)
{
    ExanetTest *t = exanet_start("");

    exanet_msix_enable(t);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    exanet_mailbox_open(t, 0, 0, RING, 6, 0);
    exanet_mailbox_open(t, 0, 1, RING + 65536, 6, EXANET_MAILBOX_IRQ);
    g_assert_cmpuint(send_message(t, 0, 1, 1), ==, EXANET_RESP_ACK);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_CONTEXT(0)));
    g_assert_cmpuint(send_message(t, 1, 2, 1), ==, EXANET_RESP_ACK);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_CONTEXT(0)));
    g_assert_cmphex(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 1);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_MAILBOX);
    /* no second interrupt until the cause is cleared */
    g_assert_cmpuint(send_message(t, 1, 3, 1), ==, EXANET_RESP_ACK);
    exanet_settle(t);
    g_assert_false(exanet_msix_taken(t, EXANET_VEC_CONTEXT(0)));
    exanet_set32(t, EXANET_REG_MBOX_PENDING, 1);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_MAILBOX,
                    ==, 0);
    g_assert_cmpuint(send_message(t, 1, 4, 1), ==, EXANET_RESP_ACK);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_CONTEXT(0)));
    exanet_stop(t);
}

/*
 * A page of the ring is missing: the device answers FAULT, puts an entry into the fault
 * FIFO, and stores the message when it is sent again.
 */
static void test_fault(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[64];
    ExanetPacket pkt = message(t, 0, 1, payload, 64);
    struct exanet_fault f;
    ExanetTables tb;

    memset(payload, 0x3c, sizeof(payload));
    exanet_close(t, 0);
    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 0);
    exanet_mailbox_open(t, 0, 0, FAULT_VA, 6, 0);
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_FAULT);
    g_assert_cmpuint(tail(t, 0), ==, 0);
    g_assert_cmpuint(RNIC_GET(EXANET_MAILBOX_REJ_FAULT, rejected(t, 0)), ==, 1);
    g_assert_cmpuint(exanet_count(t, MBOX_FAULT), ==, 1);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, FAULT_VA);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==,
                     EXANET_FAULT_MESSAGE);
    g_assert_true(f.info & EXANET_FAULT_WRITE);
    g_assert_true(f.info & EXANET_FAULT_DST);
    g_assert_cmpuint(f.left, ==, 64 * sizeof(struct exanet_message));
    exanet_tables_map(&tb, FAULT_VA, RING, 0, EXANET_MAP_RW);
    exanet_fault_resolve(t, &f, true);
    /* no answer follows, because the packetizer retransmits by its timer */
    exanet_assert_quiet(t);
    pkt.seq = 1;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    exanet_assert_mem(t, RING, payload, 64);
    /* a packet of the packetizer to memory faults in the same way */
    pkt = message(t, 0, 2, payload, 64);
    pkt.va = 0x123456000ULL;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_FAULT);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, 0x123456000ULL);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==,
                     EXANET_FAULT_MESSAGE);
    exanet_stop(t);
}

/* A packetizer writes to memory instead of a mailbox. */
static void test_memory(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t payload[64];
    ExanetPacket pkt = message(t, 0, 1, payload, 64);

    memset(payload, 0x42, sizeof(payload));
    qtest_memset(t->qts, EXANET_RAM_DST, 0, 256);
    pkt.va = EXANET_RAM_DST + 11;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    exanet_assert_byte(t, EXANET_RAM_DST, 0, 11);
    exanet_assert_mem(t, EXANET_RAM_DST + 11, payload, 64);
    exanet_assert_byte(t, EXANET_RAM_DST + 75, 0, 100);
    /* a copy does not overwrite later changes of the application */
    qtest_memset(t->qts, EXANET_RAM_DST, 0, 256);
    pkt.seq = 1;
    g_assert_cmpuint(deliver(t, &pkt), ==, EXANET_RESP_ACK);
    exanet_assert_byte(t, EXANET_RAM_DST, 0, 256);
    exanet_stop(t);
}

static void test_quiesce(void)
{
    ExanetTest *t = exanet_start("");

    exanet_mailbox_open(t, 0, 0, RING, 6, 0);
    g_assert_cmpuint(send_message(t, 0, 1, 1), ==, EXANET_RESP_ACK);
    exanet_close(t, 0);
    g_assert_cmpuint(send_message(t, 0, 2, 1), ==, EXANET_RESP_PROTECTION);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    g_assert_cmpuint(send_message(t, 0, 3, 1), ==, EXANET_RESP_FULL);
    g_assert_cmpuint(tail(t, 0), ==, 0);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/mailbox/sizes-t23", test_sizes);
    qtest_add_func("/exanet/mailbox/wrap-t23", test_wrap);
    qtest_add_func("/exanet/mailbox/full-t23", test_full);
    qtest_add_func("/exanet/mailbox/disabled-t23", test_disabled);
    qtest_add_func("/exanet/mailbox/bad-setup", test_bad_setup);
    qtest_add_func("/exanet/mailbox/bad-messages-t24", test_bad_messages);
    qtest_add_func("/exanet/mailbox/duplicates-t23", test_duplicates);
    qtest_add_func("/exanet/mailbox/damaged-t09", test_damaged);
    qtest_add_func("/exanet/mailbox/irq-t23", test_irq);
    qtest_add_func("/exanet/mailbox/fault-t16", test_fault);
    qtest_add_func("/exanet/mailbox/memory-t23", test_memory);
    qtest_add_func("/exanet/mailbox/quiesce-t24", test_quiesce);
    return g_test_run();
}
