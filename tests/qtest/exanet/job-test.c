/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local jobs: a context with a local job refuses every kind of packet from other nodes,
 * and communicates with contexts of its own node.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "blocks.h"
#include "cdma.h"
#include "remote.h"
#include "tgen.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define RING EXANET_RAM_RING
#define BRAM EXANET_NI_VA(EXANET_NI_BRAM)
#define LOCAL_PDID(c) (EXANET_CTX_PDID_LOCAL | EXANET_TEST_PDID(c))

/* Makes the job of contexts 0 and 1 local to this node, or common to all nodes. */
static void set_local(ExanetTest *t, bool local)
{
    for (unsigned c = 0; c < 2; c++) {
        exanet_set32(t, EXANET_CTX(c) + EXANET_REG_CTX_PDID,
                     local ? LOCAL_PDID(c) : EXANET_TEST_PDID(c));
    }
}

static void test_register(void)
{
    ExanetTest *t = exanet_start("");

    g_assert_true(exanet_get32(t, EXANET_REG_CAP1) & EXANET_CAP1_JOB_LOCAL);
    exanet_set32(t, EXANET_CTX(3) + EXANET_REG_CTX_PDID, UINT32_MAX);
    g_assert_cmphex(exanet_get32(t, EXANET_CTX(3) + EXANET_REG_CTX_PDID), ==,
                    EXANET_CTX_PDID_LOCAL | EXANET_PDID_JOB | 3);
    /* the process reads its PDID without LOCAL, because it gives the PDID to peers */
    g_assert_cmphex((uint32_t)(exanet_user_get(t, 3, EXANET_PAGE_INFO,
                        offsetof(struct exanet_info, coord)) >> 32), ==,
                    EXANET_PDID_JOB | 3);
    exanet_set32(t, EXANET_CTX(3) + EXANET_REG_CTX_PDID, 0);
    g_assert_cmphex(exanet_get32(t, EXANET_CTX(3) + EXANET_REG_CTX_PDID), ==, 3);
    /* a reset clears LOCAL like all other bits */
    set_local(t, true);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmphex(exanet_get32(t, EXANET_CTX(0) + EXANET_REG_CTX_PDID), ==, 0);
    exanet_stop(t);
}

/* --- Packets of the peer with the right job ------------------------------------ */

static enum exanet_resp try_block(ExanetTest *t, unsigned n)
{
    ExanetBlock b = exanet_block_new(n, DST, 200);
    enum exanet_resp resp;

    exanet_peer_send_block(t->peer, &b);
    resp = exanet_peer_take_resp(t->peer, b.tid, b.seq);
    exanet_block_free(&b);
    return resp;
}

static enum exanet_resp try_small_write(ExanetTest *t, unsigned n)
{
    static const uint8_t payload[64] = { 0xa5 };
    ExanetPacket pkt = {
        .type = EXANET_TYPE_WRITE, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(0), .va = DST, .size = sizeof(payload),
        .payload = payload,
        .tid = RNIC_PREP(EXANET_PTID_GEN, n) | RNIC_PREP(EXANET_PTID_CTX, 7),
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .first = true, .last = true,
    };

    exanet_peer_send(t->peer, &pkt);
    return exanet_peer_take_resp(t->peer, pkt.tid, pkt.seq);
}

static enum exanet_resp try_mailbox(ExanetTest *t, unsigned n)
{
    static const uint8_t payload[64] = { 0xa5 };
    ExanetPacket pkt = {
        .type = EXANET_TYPE_WRITE, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch,
        .pdid = EXANET_TEST_PDID(0), .va = EXANET_NI_VA(EXANET_NI_MAILBOX),
        .size = sizeof(payload), .payload = payload,
        .tid = RNIC_PREP(EXANET_PTID_GEN, n) | RNIC_PREP(EXANET_PTID_CTX, 6),
        .user = EXANET_SMALL(EXANET_NI_PACKETIZER),
        .first = true, .last = true,
    };

    exanet_peer_send(t->peer, &pkt);
    return exanet_peer_take_resp(t->peer, pkt.tid, pkt.seq);
}

static enum exanet_resp try_report(ExanetTest *t, unsigned n)
{
    struct exanet_notification note = {
        .data = cpu_to_le64(0x5a5a),
        .status = cpu_to_le64(EXANET_NOTIFICATION_VALID),
    };
    ExanetPacket pkt = {
        .type = EXANET_TYPE_NOTIFY, .dst = EXANET_TEST_NODE,
        .src = EXANET_TEST_PEER, .epoch = t->peer->epoch, .tid = 500 + n,
        .pdid = EXANET_TEST_PDID(0), .va = NOTE, .size = sizeof(note),
        .payload = (uint8_t *)&note, .first = true, .last = true,
    };

    exanet_peer_send(t->peer, &pkt);
    return exanet_peer_take_resp(t->peer, pkt.tid, pkt.seq);
}

static enum exanet_resp try_access(ExanetTest *t, enum exanet_shm_class class,
                                   uint64_t va, unsigned n)
{
    uint64_t word = cpu_to_le64(0xa5a5a5a5a5a5a5a5ULL);
    bool write = class == EXANET_SHM_STORE;
    ExanetPacket pkt = exanet_axi_packet(t->peer, class, va,
                                         write ? &word : NULL, sizeof(word));

    pkt.pdid = EXANET_TEST_PDID(0);
    pkt.seq = n;
    exanet_peer_send(t->peer, &pkt);
    return exanet_peer_take_axi(t->peer, &pkt, write ? NULL : &word);
}

static enum exanet_resp try_store(ExanetTest *t, unsigned n)
{
    return try_access(t, EXANET_SHM_STORE, DST, n);
}

static enum exanet_resp try_load(ExanetTest *t, unsigned n)
{
    return try_access(t, EXANET_SHM_LOAD, DST, 0);
}

static enum exanet_resp try_block_ram(ExanetTest *t, unsigned n)
{
    return try_access(t, EXANET_SHM_LOAD, BRAM, 0);
}

static const struct {
    const char *name;
    enum exanet_resp (*attempt)(ExanetTest *t, unsigned n);
} attempts[] = {
    { "block", try_block }, { "small write", try_small_write },
    { "mailbox", try_mailbox }, { "report", try_report },
    { "store", try_store }, { "load", try_load },
    { "block RAM", try_block_ram },
};

static void attempt_all(ExanetTest *t, unsigned n, enum exanet_resp want)
{
    for (unsigned i = 0; i < ARRAY_SIZE(attempts); i++) {
        g_test_message("%s", attempts[i].name);
        g_assert_cmpuint(attempts[i].attempt(t, n), ==, want);
    }
}

static void test_other_node(void)
{
    ExanetTest *t = exanet_start("");

    exanet_mailbox_open(t, 0, 0, RING, 6, 0);
    exanet_note_clear(t);
    qtest_memset(t->qts, DST, 0, 4096);
    set_local(t, true);
    attempt_all(t, 1, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, DST, 0, 4096);
    exanet_assert_byte(t, NOTE, 0, 16);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 0);
    exanet_assert_quiet(t);
    /* all packets are accepted as soon as the job is common to all nodes */
    set_local(t, false);
    attempt_all(t, 2, EXANET_RESP_ACK);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 1);
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, 0x5a5a);
    exanet_stop(t);
}

/* The notification of a block has another destination context than the block. */
static void test_notify_elsewhere(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(9, DST, 200);
    struct exanet_control control = {
        .target = cpu_to_le64(exanet_gva(EXANET_TEST_NODE, NOTE)),
        .info = cpu_to_le64(exanet_note_info(200)),
        .block = cpu_to_le64(RNIC_PREP(EXANET_CONTROL_OFFSET, DST) |
                             RNIC_PREP(EXANET_CONTROL_BLOCK, 200) |
                             RNIC_PREP(EXANET_CONTROL_PDID,
                                       EXANET_TEST_PDID(0))),
    };
    ExanetPacket pkt;

    exanet_note_clear(t);
    exanet_set32(t, EXANET_CTX(0) + EXANET_REG_CTX_PDID, LOCAL_PDID(0));
    b.pdid = EXANET_TEST_PDID(1);
    b.notify = true;
    exanet_peer_send_block(t->peer, &b);
    pkt = exanet_block_packet(t->peer, &b, 0);
    pkt.type = EXANET_TYPE_CONTROL;
    pkt.va = EXANET_NI_VA(EXANET_NI_RECEIVER);
    pkt.size = sizeof(control);
    pkt.payload = (uint8_t *)&control;
    pkt.first = pkt.last = false;
    pkt.notify = true;
    exanet_peer_send(t->peer, &pkt);
    exanet_assert_resp(t, &b, EXANET_RESP_PROTECTION);
    exanet_assert_byte(t, NOTE, 0, 16);
    exanet_block_free(&b);
    exanet_stop(t);
}

/* The firmware answers reads with a report or with the data. */
static void test_read(void)
{
    ExanetTest *t = exanet_start("");
    struct exanet_read_req req =
        exanet_read_of_peer(SRC, EXANET_REMOTE_BASE, 100, EXANET_READ_REQ_NOTIFY);
    ExanetRxPacket *rx;
    unsigned bytes = 0;
    bool acked = false;

    set_local(t, true);
    exanet_read_send(t, &req, 1, 0);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_ACK);
    g_free(rx);
    rx = exanet_peer_take_type(t->peer, EXANET_TYPE_NOTIFY);
    g_assert_cmphex(RNIC_GET(EXANET_NOTIFICATION_HANDLE,
                             ldq_le_p(rx->pkt.payload + 8)), ==,
                    EXANET_RESP_PROTECTION);
    exanet_peer_ack(t->peer, &rx->pkt, EXANET_RESP_ACK);
    g_free(rx);
    exanet_assert_quiet(t);

    set_local(t, false);
    exanet_read_send(t, &req, 2, 0);
    /* the ack of the request, and the block with its control packet */
    for (unsigned n = 0; n < 3; n++) {
        rx = exanet_peer_take(t->peer);
        if (rx->pkt.type == EXANET_TYPE_WRITE) {
            g_assert_cmpuint(rx->pkt.size, ==, 100);
            bytes += rx->pkt.size;
        } else if (rx->pkt.type == EXANET_TYPE_ACK) {
            g_assert_cmpuint(rx->pkt.resp, ==, EXANET_RESP_ACK);
            acked = true;
        }
        g_free(rx);
    }
    g_assert_cmpuint(bytes, ==, 100);
    g_assert_true(acked);
    exanet_stop(t);
}

/* --- Communication inside the node ---------------------------------------------- */

static void test_same_node(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t data[3000], word[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_NODE, DST),
        .len = sizeof(data), .ctrl = RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
    };

    set_local(t, true);
    exanet_fill(t, SRC, data, sizeof(data), 5);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    exanet_assert_mem(t, DST, data, sizeof(data));
    /* a message */
    exanet_mailbox_open(t, 1, 0, RING, 6, 0);
    exanet_pktz_start(t, 0, 0, exanet_gva(EXANET_TEST_NODE,
                                          EXANET_NI_VA(EXANET_NI_MAILBOX)),
                      word, sizeof(word), RNIC_PREP(EXANET_PKTZ_DST_CTX, 1) |
                      EXANET_PKTZ_ACK);
    exanet_wait(t, exanet_pktz_state(t, 0, 0) == EXANET_PKTZ_ACKED);
    g_assert_cmpuint(exanet_count(t, MBOX_DELIVERED), ==, 1);
    /* the number alone is not enough, because context 1 has another job now */
    exanet_set32(t, EXANET_CTX(1) + EXANET_REG_CTX_PDID, LOCAL_PDID(1) + 0x10);
    exanet_channel_start(t, 0, 1, &x);
    exanet_channel_wait(t, 0, 1, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 1), ==, EXANET_RESP_PROTECTION);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* A packet to another node fails at once, because this node would refuse the answer. */
static void test_to_other_node(void)
{
    ExanetTest *t = exanet_start("");
    ExanetTransfer x = exanet_to_peer(SRC, EXANET_REMOTE_BASE, 200);
    static const uint64_t word;

    set_local(t, true);
    exanet_channel_start(t, 0, 0, &x);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_channel_error(t, 0, 0), ==, EXANET_RESP_PROTECTION);
    exanet_pktz_start(t, 0, 0, exanet_gva(EXANET_TEST_PEER,
                                          EXANET_NI_VA(EXANET_NI_MAILBOX)),
                      &word, sizeof(word), EXANET_PKTZ_ACK);
    exanet_wait(t, exanet_pktz_state(t, 0, 0) == EXANET_PKTZ_FAILED);
    exanet_assert_quiet(t);
    exanet_stop(t);
}

/* --- Loads, stores and copies to another node ------------------------------------- */

static void aperture_store(ExanetTest *t, uint32_t node)
{
    exanet_segment(t, 0, 0, 0x1000, exanet_gva(node, DST), EXANET_SEGMENT_ALL |
                   RNIC_PREP(EXANET_SHM_MAP_CTX, 0));
    exanet_store(t, 0, 0x1234567890abcdefULL, 8);
}

static enum exanet_resp generate(ExanetTest *t, uint32_t node, uint32_t flags)
{
    uint64_t gva = exanet_gva(node, DST);
    ExanetTgenRun run = { .gva = &gva, .flags = flags, .ctx = 0 };

    return exanet_tgen_run(t, &run);
}

static void copy_start(ExanetTest *t, uint32_t node, bool to)
{
    ExanetCopy c = {
        .sa = to ? SRC : exanet_gva(node, DST),
        .da = to ? exanet_gva(node, DST) : SRC,
        .len = 64, .pdid = EXANET_TEST_PDID(0),
        .sides = (to ? 0 : SA_GVA | DA_LOCAL) |
                 RNIC_PREP(EXANET_CDMA_SIDES_CTX, 0),
    };

    exanet_copy_start(t, 0, &c);
}

static enum exanet_resp accelerate(ExanetTest *t, uint32_t node)
{
    exanet_shm_set(t, ACCEL_NDF, RNIC_PREP(EXANET_ACCEL_NDF1, 1) |
                   RNIC_PREP(EXANET_ACCEL_NDF2, 1));
    exanet_shm_set(t, ACCEL_NLAYERS, 1);
    exanet_shm_set(t, ACCEL_NCELLS, 1);
    exanet_shm_set(t, ACCEL_PDID, EXANET_TEST_PDID(0));
    for (unsigned i = 0; i < 6; i++) {
        exanet_set64(t, EXANET_SHM + EXANET_REG_ACCEL_MATRIX + 8 * i,
                     exanet_gva(node, DST + 64 * i));
    }
    exanet_shm_set(t, ACCEL_CTRL, EXANET_ACCEL_GO | EXANET_ACCEL_REMOTE_ALL);
    exanet_wait(t, exanet_shm_get(t, ACCEL_STATUS) & EXANET_ACCEL_STATUS_DONE);
    return RNIC_GET(EXANET_ACCEL_STATUS_CODE, exanet_shm_get(t, ACCEL_STATUS));
}

/*
 * In a local job the units of the shared memory refuse accesses to another node, and do
 * those to their own node.
 */
static void test_shared_memory(void)
{
    ExanetTest *t = exanet_start("");
    uint32_t info;

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    qtest_memset(t->qts, DST, 0, 4096);
    set_local(t, true);

    aperture_store(t, EXANET_TEST_PEER);
    exanet_wait(t, exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_VALID);
    info = exanet_shm_get(t, SHM_ERR_INFO);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CODE, info), ==,
                     EXANET_RESP_PROTECTION);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CLASS, info), ==, EXANET_SHM_STORE);
    g_assert_cmpuint(RNIC_GET(EXANET_SHM_ERR_CTX, info), ==, 0);
    g_assert_cmpuint(generate(t, EXANET_TEST_PEER, 0), ==,
                     EXANET_RESP_PROTECTION);
    g_assert_cmpuint(generate(t, EXANET_TEST_PEER, EXANET_TGEN_WRITE), ==,
                     EXANET_RESP_PROTECTION);
    for (unsigned to = 0; to < 2; to++) {
        copy_start(t, EXANET_TEST_PEER, to);
        exanet_wait(t, exanet_cdma_idle(t, 0));
        g_assert_cmphex(cdma_get(t, 0, SR) & EXANET_CDMA_SR_ERR, ==,
                        EXANET_CDMA_SR_ERR);
        cdma_set(t, 0, CR, EXANET_CDMA_CR_RESET);
    }
    g_assert_cmpuint(accelerate(t, EXANET_TEST_PEER), ==, EXANET_RESP_PROTECTION);
    exanet_assert_quiet(t);

    aperture_store(t, EXANET_TEST_NODE);
    exanet_wait(t, qtest_readq(t->qts, DST) == 0x1234567890abcdefULL);
    g_assert_cmpuint(generate(t, EXANET_TEST_NODE, 0), ==, EXANET_RESP_ACK);
    for (unsigned to = 0; to < 2; to++) {
        copy_start(t, EXANET_TEST_NODE, to);
        exanet_wait(t, exanet_cdma_idle(t, 0));
        g_assert_cmphex(cdma_get(t, 0, SR) & EXANET_CDMA_SR_ERR, ==, 0);
    }
    qtest_memset(t->qts, DST, 0, 4096);
    g_assert_cmpuint(accelerate(t, EXANET_TEST_NODE), ==, EXANET_RESP_ACK);
    /* a job that is common to all nodes may access another node */
    set_local(t, false);
    aperture_store(t, EXANET_TEST_PEER);
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE));
    exanet_stop(t);
}

/* The peer sends packets with the coordinates of this node. */
static void test_forged_source(void)
{
    ExanetTest *t = exanet_start("");
    ExanetBlock b = exanet_block_new(11, DST, 100);
    ExanetPacket pkt = exanet_block_packet(t->peer, &b, 0);

    qtest_memset(t->qts, DST, 0, 100);
    set_local(t, true);
    pkt.src = EXANET_TEST_NODE;
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, DROP_SOURCE) == 1);
    exanet_assert_byte(t, DST, 0, 100);
    exanet_assert_quiet(t);
    exanet_block_free(&b);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/context/job-register", test_register);
    qtest_add_func("/exanet/context/job-other-node", test_other_node);
    qtest_add_func("/exanet/context/job-notify-elsewhere",
                   test_notify_elsewhere);
    qtest_add_func("/exanet/context/job-read", test_read);
    qtest_add_func("/exanet/context/job-same-node", test_same_node);
    qtest_add_func("/exanet/context/job-to-other-node", test_to_other_node);
    qtest_add_func("/exanet/context/job-shared-memory", test_shared_memory);
    qtest_add_func("/exanet/context/job-forged-source", test_forged_source);
    return g_test_run();
}
