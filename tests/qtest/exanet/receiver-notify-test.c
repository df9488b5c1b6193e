/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RDMA Receiver: control packets, notifications, and page faults of data and
 * notifications.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "blocks.h"
#include "tables.h"

#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define FAULT_VA 0x1234560000ULL

/* --- Destination faults ---------------------------------------------------- */

static ExanetTest *start_x86(ExanetTables *tb)
{
    ExanetTest *t = exanet_start("");

    exanet_close(t, 1);
    exanet_tables_init(tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(tb, 1);
    return t;
}

static void test_fault(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock b = exanet_block_new(40, FAULT_VA + 4096 - 300, 600);
    struct exanet_fault f;

    b.pdid = EXANET_TEST_PDID(1);
    b.tid = exanet_wire_tid(40, 2);
    b.seq = 7;
    exanet_tables_map(&tb, FAULT_VA, DST, 0, EXANET_MAP_RW);
    exanet_step(t, 5000);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_FAULT);
    exanet_assert_quiet(t);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, FAULT_VA + 4096);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_CTX, f.info), ==, 1);
    g_assert_true(f.info & EXANET_FAULT_WRITE);
    g_assert_true(f.info & EXANET_FAULT_DST);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_UNIT, f.info), ==, EXANET_FAULT_RDMA);
    g_assert_cmphex(RNIC_GET(EXANET_FAULT_TID, f.info), ==, b.tid);
    g_assert_cmphex(RNIC_GET(EXANET_FAULT_COORD, f.info), ==, EXANET_TEST_PEER);
    g_assert_cmpuint(RNIC_GET(EXANET_FAULT_SEQ, f.info), ==, 7);
    g_assert_cmpuint(f.left, >=, 300);
    g_assert_cmpuint(f.time, ==, exanet_get64(t, EXANET_REG_TIME));
    g_assert_cmpuint(RNIC_GET(EXANET_CTX_STATUS_FAULTS,
                              exanet_get32(t, EXANET_CTX(1) +
                                           EXANET_REG_CTX_STATUS)), ==, 1);
    /*
     * the block is sent again before the fault is resolved: another FAULT, but no
     * second entry in the FIFO
     */
    b.seq = 8;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_FAULT);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 0);
    exanet_tables_map(&tb, FAULT_VA + 4096, DST + 4096, 0, EXANET_MAP_RW);
    exanet_fault_resolve(t, &f, true);
    exanet_assert_resp(t, &b, EXANET_RESP_RESOLVED);
    g_assert_cmpuint(RNIC_GET(EXANET_CTX_STATUS_FAULTS,
                              exanet_get32(t, EXANET_CTX(1) +
                                           EXANET_REG_CTX_STATUS)), ==, 0);
    b.seq = 9;
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST + 4096 - 300, b.data, b.len);
    exanet_assert_quiet(t);
    exanet_block_free(&b);
    exanet_stop(t);
}

static void test_fault_bad(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock b = exanet_block_new(41, FAULT_VA, 600);
    struct exanet_fault f;

    b.pdid = EXANET_TEST_PDID(1);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_FAULT);
    f = exanet_fault_take(t);
    exanet_fault_resolve(t, &f, false);
    exanet_assert_resp(t, &b, EXANET_RESP_DECODE);
    /* a RESOLVE without a pending fault has no effect */
    exanet_fault_resolve(t, &f, true);
    exanet_set64(t, EXANET_FAULT + EXANET_REG_FAULT_RESOLVE, ~0ULL);
    exanet_set32(t, EXANET_FAULT + EXANET_REG_FAULT_POP, 1);
    exanet_assert_quiet(t);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* Two blocks fault on the same page: one entry in the FIFO, and RESOLVED for both. */
static void test_fault_shared(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock a = exanet_block_new(42, FAULT_VA, 64);
    ExanetBlock b = exanet_block_new(43, FAULT_VA + 64, 64);
    struct exanet_fault f;

    a.pdid = b.pdid = EXANET_TEST_PDID(1);
    exanet_peer_send_block(t->peer, &a);
    exanet_assert_resp(t, &a, EXANET_RESP_FAULT);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_FAULT);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 1);
    f = exanet_fault_take(t);
    exanet_tables_map(&tb, FAULT_VA, DST, 0, EXANET_MAP_RW);
    exanet_fault_resolve(t, &f, true);
    exanet_assert_resp(t, &a, EXANET_RESP_RESOLVED);
    exanet_assert_resp(t, &b, EXANET_RESP_RESOLVED);
    a.seq = b.seq = 1;
    exanet_peer_send_block(t->peer, &a);
    exanet_assert_resp(t, &a, EXANET_RESP_ACK);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST, a.data, 64);
    exanet_assert_mem(t, DST + 64, b.data, 64);
    exanet_block_free(&a);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * More faults than the FIFO holds: the overflow flag is set, and a block of another
 * context is accepted.
 */
static void test_fault_overflow(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    g_autofree uint8_t *data = g_malloc0(64);
    ExanetBlock ok = exanet_block_new(1000, DST, 300);
    unsigned count;

    for (unsigned i = 0; i < EXANET_FAULTS + 50; i++) {
        ExanetBlock b = {
            .data = data, .len = 64, .pdid = EXANET_TEST_PDID(1),
            /* few TIDs, because each block that waits uses a receiver context */
            .tid = i % 128, .seq = i / 128, .va = FAULT_VA + i * 4096,
        };

        exanet_peer_send_block(t->peer, &b);
        exanet_assert_resp(t, &b, EXANET_RESP_FAULT);
    }
    count = exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT);
    g_assert_cmpuint(count, >, EXANET_FAULTS / 2);
    g_assert_cmpuint(count, <=, EXANET_FAULTS);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW),
                     ==, 1);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) &
                  EXANET_IRQ_FAULT_OVERFLOW);
    exanet_send_acked(t, &ok);
    exanet_set32(t, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW, 1);
    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_OVERFLOW),
                     ==, 0);
    for (unsigned i = 0; i < count; i++) {
        struct exanet_fault f = exanet_fault_take(t);

        exanet_fault_resolve(t, &f, false);
    }
    for (unsigned i = 0; i < count; i++) {
        g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_ACK));
    }
    exanet_assert_quiet(t);
    g_assert_cmphex(exanet_get32(t, EXANET_CTX(1) + EXANET_REG_CTX_STATUS) &
                    EXANET_CTX_STATUS_FAULTS, ==, 0);
    exanet_block_free(&ok);
    exanet_stop(t);
}

/* --- Control packets and notifications ------------------------------------- */

static void test_control_order(void)
{
    ExanetTest *t = exanet_start("");

    /* the control packet comes before, between or after the data packets */
    for (unsigned at = 0; at <= 3; at++) {
        ExanetBlock b = exanet_block_new(50 + at, DST + 100, 600);

        b.notify = true;
        exanet_note_clear(t);
        for (unsigned n = 0; n < exanet_block_packets(&b); n++) {
            if (n == at) {
                exanet_send_note(t, &b, 0xfeed0000 + at);
            }
            exanet_send_packet(t, &b, n);
        }
        if (at == 3) {
            exanet_assert_quiet(t);
            exanet_assert_byte(t, NOTE, 0, 16);
            exanet_send_note(t, &b, 0xfeed0000 + at);
        }
        exanet_assert_acked(t, &b);
        exanet_assert_note(t, NOTE, 0xfeed0000 + at, b.len);
        exanet_block_free(&b);
    }
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 4);
    g_assert_cmpuint(exanet_count(t, RX_CONTROL), ==, 4);
    exanet_stop(t);
}

static void test_control_sequence(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(55, DST, 300), newer;

    b.notify = true;
    newer = b;
    newer.seq = 2;
    exanet_note_clear(t);
    exanet_peer_send_part(t->peer, &b, 0, 1);
    /* a newer control packet completes the data of the first copy ... */
    exanet_send_note(t, &newer, 2);
    exanet_assert_quiet(t);
    /* ... and an older control packet is ignored */
    b.seq = 1;
    exanet_send_note(t, &b, 1);
    exanet_assert_quiet(t);
    g_assert_cmpuint(exanet_count(t, RX_OLD_SEQ), ==, 1);
    exanet_send_packet(t, &newer, 1);
    exanet_assert_acked(t, &newer);
    exanet_assert_note(t, NOTE, 2, b.len);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * Sends a block, and a control packet with the given errors: asserts the response @resp
 * and no notification.  @length_error: bytes by which the block's length differs.
 */
static void check_bad_control(ExanetTest *t, unsigned index, uint64_t target,
                              unsigned pdid, int length_error,
                              enum exanet_resp resp)
{
    ExanetBlock b = exanet_block_new(index, DST, 300), said;

    b.notify = true;
    said = b;
    said.len += length_error;
    exanet_note_clear(t);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_quiet(t);
    said.pdid = pdid;
    if (pdid == b.pdid) {
        exanet_peer_send_control(t->peer, &said, target, 1,
                                 exanet_note_info(300));
    } else {
        /* word 3 has another PDID than the header */
        struct exanet_control c = {
            .target = cpu_to_le64(target),
            .info = cpu_to_le64(exanet_note_info(300)),
            .block = cpu_to_le64(RNIC_PREP(EXANET_CONTROL_OFFSET, b.va) |
                                 RNIC_PREP(EXANET_CONTROL_BLOCK, b.len) |
                                 RNIC_PREP(EXANET_CONTROL_PDID, pdid)),
        };
        ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

        pkt.type = EXANET_TYPE_CONTROL;
        pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
        pkt.size = sizeof(c);
        pkt.payload = (uint8_t *)&c;
        pkt.first = pkt.last = false;
        exanet_peer_send(t->peer, &pkt);
    }
    exanet_assert_resp(t, &b, resp);
    exanet_assert_byte(t, NOTE, 0, 32);
    exanet_assert_quiet(t);
    exanet_block_free(&b);
}

static void test_bad_control(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t note = exanet_gva(EXANET_TEST_NODE, NOTE);
    uint16_t own = EXANET_TEST_PDID(0);
    ExanetBlock b = exanet_block_new(90, DST, 300);
    ExanetPacket pkt;

    /* a misaligned target, no RAM, no window, an NI index that takes no notification */
    check_bad_control(t, 80, note + 8, own, 0, EXANET_RESP_MALFORMED);
    check_bad_control(t, 81, exanet_gva(EXANET_TEST_NODE, EXANET_NO_RAM), own,
                      0, EXANET_RESP_DECODE);
    check_bad_control(t, 82, note | 3ULL << EXANET_WINDOW_BITS, own, 0,
                      EXANET_RESP_DECODE);
    check_bad_control(t, 83, exanet_gva(EXANET_TEST_NODE, EXANET_NI_VA(0)), own,
                      0, EXANET_RESP_DECODE);
    /* the length of the block is wrong */
    check_bad_control(t, 84, note, own, 1, EXANET_RESP_MALFORMED);
    check_bad_control(t, 85, note, own, -100, EXANET_RESP_MALFORMED);
    check_bad_control(t, 86, note, own, -300, EXANET_RESP_MALFORMED);
    /* another job, and a context that is not open */
    check_bad_control(t, 87, note, own ^ 0x10, 0, EXANET_RESP_PROTECTION);
    check_bad_control(t, 88, note, EXANET_TEST_PDID(9), 0,
                      EXANET_RESP_PROTECTION);
    /* the control packet itself has a wrong length */
    pkt = exanet_block_packet(t->peer, &b, 0);
    pkt.type = EXANET_TYPE_CONTROL;
    pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    pkt.size = 16;
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_resp(t, &b, EXANET_RESP_MALFORMED);
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 0);
    exanet_block_free(&b);
    exanet_stop(t);
}

static void test_notify_mailbox(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(60, DST, 300);
    struct exanet_message m;

    exanet_mailbox_open(t, 0, 2, EXANET_RAM_RING, 2, 0);
    b.notify = true;
    exanet_step(t, 4242);
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE,
                             EXANET_NI_VA(EXANET_NI_MAILBOX) |
                             RNIC_PREP(EXANET_VA_MAILBOX, 2)), 0x1122334455ULL,
                             exanet_note_info(300));
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_acked(t, &b);
    m = exanet_message_read(t, EXANET_RAM_RING, 0);
    g_assert_cmphex(m.data, ==, 0x1122334455ULL);
    g_assert_cmphex(ldq_le_p(m.payload), ==, 0x1122334455ULL);
    g_assert_cmphex(ldq_le_p(m.payload + 8), ==, EXANET_NOTIFICATION_VALID |
                    RNIC_PREP(EXANET_NOTIFICATION_LENGTH, 300) |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, EXANET_NOTE_HANDLE));
    g_assert_cmpuint(RNIC_GET(EXANET_MESSAGE_TYPE, m.origin), ==,
                     EXANET_TYPE_NOTIFY);
    g_assert_cmpuint(RNIC_GET(EXANET_MESSAGE_SIZE, m.origin), ==,
                     sizeof(struct exanet_notification));
    g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_COORD, m.origin), ==,
                    EXANET_TEST_PEER);
    g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_PDID, m.origin), ==,
                    EXANET_TEST_PDID(0));
    g_assert_cmpuint(m.time, ==, exanet_get64(t, EXANET_REG_TIME));
    g_assert_cmpuint(m.phase & 1, ==, 1);
    g_assert_cmpuint(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 0);
    exanet_block_free(&b);
    exanet_stop(t);
}

static void test_notify_irq(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(61, DST, 300);

    exanet_msix_enable(t);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    b.notify = true;
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE, NOTE), 1,
                             exanet_note_info(300) | EXANET_CONTROL_IRQ);
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_acked(t, &b);
    exanet_wait(t, exanet_msix_taken(t, EXANET_VEC_CONTEXT(0)));
    g_assert_cmphex(exanet_get32(t, EXANET_REG_MBOX_PENDING), ==, 1);
    exanet_set32(t, EXANET_REG_MBOX_PENDING, 1);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_MAILBOX,
                    ==, 0);
    exanet_block_free(&b);
    exanet_stop(t);
}

/*
 * A notification whose page is missing: the block is acked after the fault is resolved.
 */
static void test_notify_fault(void)
{
    ExanetTables tb;
    ExanetTest *t = start_x86(&tb);
    ExanetBlock b = exanet_block_new(62, FAULT_VA, 300);
    uint64_t note_va = FAULT_VA + 0x100000;
    struct exanet_fault f;

    exanet_tables_map(&tb, FAULT_VA, DST, 0, EXANET_MAP_RW);
    b.pdid = EXANET_TEST_PDID(1);
    b.notify = true;
    exanet_peer_send_block(t->peer, &b);
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE, note_va),
                             9, exanet_note_info(300));
    exanet_assert_resp(t, &b, EXANET_RESP_FAULT);
    f = exanet_fault_take(t);
    g_assert_cmphex(f.va, ==, note_va);
    exanet_tables_map(&tb, note_va, NOTE, 0, EXANET_MAP_RW);
    exanet_note_clear(t);
    exanet_fault_resolve(t, &f, true);
    exanet_assert_resp(t, &b, EXANET_RESP_RESOLVED);
    b.seq = 1;
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_NODE, note_va),
                             9, exanet_note_info(300));
    exanet_peer_send_block(t->peer, &b);
    exanet_assert_resp(t, &b, EXANET_RESP_ACK);
    exanet_assert_note(t, NOTE, 9, 300);
    /* a full mailbox: FULL instead of an ack */
    b.tid = exanet_wire_tid(62, 1);
    exanet_peer_send_block(t->peer, &b);
    exanet_peer_send_control(t->peer, &b,
                             exanet_gva(EXANET_TEST_NODE,
                                        EXANET_NI_VA(EXANET_NI_MAILBOX)),
                             9, exanet_note_info(300));
    exanet_assert_resp(t, &b, EXANET_RESP_FULL);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* Sends a notification packet, and asserts its response @resp. */
static void assert_report(ExanetTest *t, const ExanetPacket *pkt,
                          enum exanet_resp resp)
{
    exanet_peer_send(t->peer, pkt);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, pkt->tid, pkt->seq), ==,
                     resp);
}

/* A notification packet from the peer, and one for the peer. */
static void test_notify_packet(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(63, DST, 300);
    struct exanet_notification n = {
        .data = cpu_to_le64(0x55), .status = cpu_to_le64(1ULL << 63),
    };
    ExanetPacket pkt = {
        .type = EXANET_TYPE_NOTIFY, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(0), .va = NOTE, .size = sizeof(n),
        .payload = (uint8_t *)&n, .first = true, .last = true,
    };

    exanet_note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readq(t->qts, NOTE + 8), ==, n.status);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, n.data);
    /* as if the ack was lost, a copy is acked, and not stored */
    exanet_note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, MSG_DUPLICATE), ==, 1);
    exanet_assert_byte(t, NOTE, 0, 16);
    /* later copies are not stored either, even after 60 s */
    for (unsigned i = 0; i < 3; i++) {
        exanet_step(t, 25000 * EXANET_MS);
        assert_report(t, &pkt, EXANET_RESP_ACK);
    }
    exanet_assert_byte(t, NOTE, 0, 16);
    /* the same TID with other data is another notification */
    n.data++;
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, n.data);
    /* 200 notifications to another context do not remove the record of this one */
    for (unsigned i = 1; i <= 200; i++) {
        pkt.tid = i;
        pkt.pdid = EXANET_TEST_PDID(1);
        assert_report(t, &pkt, EXANET_RESP_ACK);
    }
    pkt.tid = 0;
    pkt.pdid = EXANET_TEST_PDID(0);
    exanet_note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    exanet_assert_byte(t, NOTE, 0, 16);
    /*
     * 33 other notifications to this context remove its record, so that a copy is
     * stored
     */
    for (unsigned i = 0; i < 32; i++) {
        pkt.tid++;
        assert_report(t, &pkt, EXANET_RESP_ACK);
    }
    pkt.tid = 0;
    exanet_note_clear(t);
    assert_report(t, &pkt, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, n.data);
    /* malformed: wrong size, other job, no memory */
    exanet_note_clear(t);
    pkt.tid = 1000;
    pkt.size = 8;
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_quiet(t);
    pkt.size = 16;
    pkt.pdid ^= 0x10;
    assert_report(t, &pkt, EXANET_RESP_PROTECTION);
    pkt.pdid ^= 0x10;
    pkt.va = EXANET_NO_RAM;
    assert_report(t, &pkt, EXANET_RESP_DECODE);
    exanet_assert_byte(t, NOTE, 0, 16);
    /* the mailbox is not enabled, so the notification is refused */
    pkt.va = EXANET_NI_VA(EXANET_NI_MAILBOX);
    assert_report(t, &pkt, EXANET_RESP_FULL);

    b.notify = true;
    exanet_peer_send_block(t->peer, &b);
    exanet_peer_send_control(t->peer, &b, exanet_gva(EXANET_TEST_PEER, 0x1000),
                             0x66, exanet_note_info(300));
    /* DECODE, because the notification is for another node than the receiver's own */
    exanet_assert_resp(t, &b, EXANET_RESP_DECODE);
    exanet_block_free(&b);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/receiver/notify-fault-t16", test_fault);
    qtest_add_func("/exanet/receiver/notify-fault-bad-t16", test_fault_bad);
    qtest_add_func("/exanet/receiver/notify-fault-shared-t16",
                   test_fault_shared);
    qtest_add_func("/exanet/receiver/notify-fault-overflow-t16",
                   test_fault_overflow);
    qtest_add_func("/exanet/receiver/notify-control-order-t19",
                   test_control_order);
    qtest_add_func("/exanet/receiver/notify-control-sequence-t19",
                   test_control_sequence);
    qtest_add_func("/exanet/receiver/notify-bad-control-t19", test_bad_control);
    qtest_add_func("/exanet/receiver/notify-mailbox-t20",
                   test_notify_mailbox);
    qtest_add_func("/exanet/receiver/notify-irq-t20", test_notify_irq);
    qtest_add_func("/exanet/receiver/notify-fault-t20",
                   test_notify_fault);
    qtest_add_func("/exanet/receiver/notify-packet-t20",
                   test_notify_packet);
    return g_test_run();
}
