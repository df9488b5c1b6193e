/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two machines with one cable: writes, reads, messages and notifications with a check
 * of all data; and the effect on a node when the other node ends.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include <glib/gstdio.h>
#include "../common/machine.h"
#include "device.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE

static const uint32_t coord[] = { EXANET_TEST_NODE, EXANET_TEST_PEER };

typedef struct Pair {
    ExanetTest *t[2];
    char *dir;
    char *path;
} Pair;

static Pair pair_start(const char *props)
{
    Pair p = { 0 };

    p.dir = g_dir_make_tmp("exanet-pair-XXXXXX", NULL);
    g_assert_nonnull(p.dir);
    p.path = g_build_filename(p.dir, "wire", NULL);
    exanet_pair_start(p.t, p.path, props);
    return p;
}

static void pair_stop(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        exanet_stop(p->t[i]);
    }
    unlink(p->path);
    g_rmdir(p->dir);
    g_free(p->path);
    g_free(p->dir);
}

/* Waits without a step of time, so that no test depends on a retransmission. */
#define pair_wait(p, cond) exanet_pair_wait((p)->t, cond, 0)

static void check_write(Pair *p, unsigned from, unsigned channel, uint64_t s,
                        uint64_t d, uint32_t len)
{
    unsigned to = !from;
    g_autofree uint8_t *data = g_malloc(len);
    ExanetTransfer x = {
        .src = SRC + s, .dst = exanet_gva(coord[to], DST + d), .len = len,
    };

    exanet_fill(p->t[from], SRC + s, data, len, s * 31 + d * 7 + len);
    qtest_memset(p->t[to]->qts, DST + d - 64, 0xee, len + 128);
    exanet_channel_start(p->t[from], 0, channel, &x);
    pair_wait(p, exanet_channel_state(p->t[from], 0, channel) >=
              EXANET_CHANNEL_DONE);
    exanet_channel_wait(p->t[from], 0, channel, EXANET_CHANNEL_DONE);
    exanet_assert_mem(p->t[to], DST + d, data, len);
    exanet_assert_byte(p->t[to], DST + d - 64, 0xee, 64);
    exanet_assert_byte(p->t[to], DST + d + len, 0xee, 64);
}

static void test_write(void)
{
    static const uint32_t sizes[] = {
        1, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097, 16383, 16384, 16385,
        65535, 65536, 65537, MiB, 4 * MiB + 5,
    };
    static const struct { unsigned s, d; } align[] = {
        { 0, 0 }, { 3, 0 }, { 0, 5 }, { 7, 13 }, { 4095, 255 },
    };
    Pair p = pair_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        for (unsigned a = 0; a < ARRAY_SIZE(align); a++) {
            check_write(&p, (i + a) & 1, (i * 5 + a) % EXANET_WRITE_CHANNELS,
                        align[a].s, 64 + align[a].d, sizes[i]);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(exanet_count(p.t[i], RETRY_TIMEOUT), ==, 0);
        g_assert_cmpuint(exanet_count(p.t[i], NACK_SENT), ==, 0);
        g_assert_cmpuint(exanet_count(p.t[i], DROP_PAYLOAD_CRC), ==, 0);
    }
    pair_stop(&p);
}

static void assert_note(ExanetTest *t, uint64_t data, uint32_t len,
                        uint16_t handle)
{
    g_assert_cmphex(qtest_readq(t->qts, NOTE), ==, data);
    g_assert_cmphex(qtest_readq(t->qts, NOTE + 8), ==,
                    EXANET_NOTIFICATION_VALID | len |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, handle));
}

static void test_notify(void)
{
    static const uint32_t sizes[] = { 1, 16384, 100000 };
    Pair p = pair_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        g_autofree uint8_t *data = g_malloc(sizes[i]);
        ExanetTransfer x = {
            .src = SRC, .dst = exanet_gva(coord[1], DST + 9), .len = sizes[i],
            .ctrl = EXANET_CHANNEL_NOTIFY | RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
            .notify_gva = exanet_gva(coord[1], NOTE), .notify_data = 0xd0 + i,
            .token = 0x77,
        };

        exanet_fill(p.t[0], SRC, data, sizes[i], i);
        qtest_memset(p.t[1]->qts, NOTE, 0, 16);
        exanet_channel_start(p.t[0], 0, 0, &x);
        /* the data must be in memory when the notification is */
        pair_wait(&p, qtest_readq(p.t[1]->qts, NOTE + 8));
        exanet_assert_mem(p.t[1], DST + 9, data, sizes[i]);
        assert_note(p.t[1], 0xd0 + i, sizes[i], 0x77);
        pair_wait(&p, exanet_channel_state(p.t[0], 0, 0) ==
                  EXANET_CHANNEL_DONE);
    }
    g_assert_cmpuint(exanet_count(p.t[1], NOTIFY_DONE), ==, ARRAY_SIZE(sizes));
    pair_stop(&p);
}

static void check_read(Pair *p, unsigned who, uint64_t s, uint64_t d,
                       uint32_t len)
{
    unsigned owner = !who;
    g_autofree uint8_t *data = g_malloc(len);
    struct exanet_read_req req = {
        .src = cpu_to_le64(SRC + s),
        .dst = cpu_to_le64(exanet_gva(coord[who], DST + d)),
        .notify_gva = cpu_to_le64(exanet_gva(coord[who], NOTE)),
        .ctrl = cpu_to_le64(len | EXANET_READ_REQ_NOTIFY |
                            RNIC_PREP(EXANET_READ_REQ_OWNER, 1)),
        .notify_data = cpu_to_le64(0xabcdef), .tag = cpu_to_le64(len & 0xffff),
    };

    exanet_fill(p->t[owner], SRC + s, data, len, len + s);
    qtest_memset(p->t[who]->qts, NOTE, 0, 16);
    qtest_memset(p->t[who]->qts, DST + d - 64, 0xee, len + 128);
    exanet_pktz_start(p->t[who], 0, 0, exanet_gva(coord[owner],
                      EXANET_NI_VA(EXANET_NI_RT_REQUEST)), &req,
                      EXANET_READ_REQ_USER_BYTES, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ));
    pair_wait(p, qtest_readq(p->t[who]->qts, NOTE + 8));
    assert_note(p->t[who], 0xabcdef, len, len);
    exanet_assert_mem(p->t[who], DST + d, data, len);
    exanet_assert_byte(p->t[who], DST + d - 64, 0xee, 64);
    exanet_assert_byte(p->t[who], DST + d + len, 0xee, 64);
    pair_wait(p, exanet_pktz_state(p->t[who], 0, 0) == EXANET_PKTZ_ACKED);
}

static void test_read(void)
{
    static const uint32_t sizes[] = { 1, 256, 4097, 16385, 300000 };
    Pair p = pair_start("");

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        check_read(&p, i & 1, i * 3, 64 + i * 5, sizes[i]);
    }
    pair_stop(&p);
}

/* The other node reports a failed read to the reader. */
static void test_bad_read(void)
{
    Pair p = pair_start("");
    struct exanet_read_req req = {
        .src = cpu_to_le64(EXANET_NO_RAM),
        .dst = cpu_to_le64(exanet_gva(coord[0], DST)),
        .notify_gva = cpu_to_le64(exanet_gva(coord[0], NOTE)),
        .ctrl = cpu_to_le64(100 | EXANET_READ_REQ_NOTIFY),
        .notify_data = cpu_to_le64(0x42),
    };
    uint64_t status;

    qtest_memset(p.t[0]->qts, NOTE, 0, 16);
    exanet_pktz_start(p.t[0], 0, 0, exanet_gva(coord[1],
                      EXANET_NI_VA(EXANET_NI_RT_REQUEST)), &req,
                      EXANET_READ_REQ_USER_BYTES, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ));
    pair_wait(&p, (status = qtest_readq(p.t[0]->qts, NOTE + 8)));
    g_assert_cmpuint(RNIC_GET(EXANET_NOTIFICATION_STATUS, status), ==, 1);
    g_assert_cmphex(RNIC_GET(EXANET_NOTIFICATION_HANDLE, status), ==,
                    EXANET_RESP_DECODE);
    pair_stop(&p);
}

static void test_messages(void)
{
    Pair p = pair_start("");
    uint64_t mailbox = EXANET_NI_VA(EXANET_NI_MAILBOX);
    uint8_t payload[EXANET_PKTZ_PAYLOAD_MAX];

    exanet_mailbox_open(p.t[1], 1, 0, EXANET_RAM_RING, 3, 0);
    for (unsigned n = 0; n < 40; n++) {
        unsigned size = 1 + (n * 7) % EXANET_PKTZ_PAYLOAD_MAX;
        unsigned channel = n % EXANET_PKTZ_CHANNELS;
        struct exanet_message m;

        memset(payload, 0x40 + n, sizeof(payload));
        exanet_pktz_start(p.t[0], 0, channel, exanet_gva(coord[1], mailbox),
                          payload, size, EXANET_PKTZ_ACK |
                          RNIC_PREP(EXANET_PKTZ_DST_CTX, 1));
        pair_wait(&p, exanet_pktz_state(p.t[0], 0, channel) ==
                  EXANET_PKTZ_ACKED);
        m = exanet_message_read(p.t[1], EXANET_RAM_RING, n % 8);
        g_assert_cmpuint(m.phase & 1, ==, !(n & 8));
        g_assert_cmpmem(m.payload, size, payload, size);
        g_assert_cmpuint(RNIC_GET(EXANET_MESSAGE_SIZE, m.origin), ==, size);
        g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_COORD, m.origin), ==, coord[0]);
        g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_PDID, m.origin), ==,
                        EXANET_TEST_PDID(0));
        exanet_user_set(p.t[1], 1, EXANET_PAGE_MAILBOX,
                        offsetof(struct exanet_mailbox, head), n + 1);
    }
    g_assert_cmpuint(exanet_count(p.t[1], MBOX_DELIVERED), ==, 40);
    pair_stop(&p);
}

/* Transfers of all channels of both nodes at once, in both directions. */
static void test_both_directions(void)
{
    Pair p = pair_start(",rx-fifo-words=256");
    g_autofree uint8_t *data[2] = { g_malloc(MiB), g_malloc(MiB) };
    const unsigned count = 24;

    for (unsigned i = 0; i < 2; i++) {
        exanet_fill(p.t[i], SRC, data[i], MiB, 50 + i);
    }
    for (unsigned n = 0; n < count; n++) {
        for (unsigned i = 0; i < 2; i++) {
            ExanetTransfer x = {
                .src = SRC + n * 1000,
                .dst = exanet_gva(coord[!i], DST + n * 512 * KiB + n),
                .len = 400000 - n * 1111,
            };

            exanet_channel_start(p.t[i], n & 1, n, &x);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        pair_wait(&p, !exanet_get32(p.t[i], EXANET_FW + EXANET_REG_FW_ACTIVE));
    }
    for (unsigned n = 0; n < count; n++) {
        for (unsigned i = 0; i < 2; i++) {
            exanet_channel_wait(p.t[i], n & 1, n, EXANET_CHANNEL_DONE);
            exanet_assert_mem(p.t[!i], DST + n * 512 * KiB + n,
                              data[i] + n * 1000, 400000 - n * 1111);
        }
    }
    pair_stop(&p);
}

/*
 * The other node is reset during a transfer: the transfer ends, with or without an
 * error.
 */
static void test_peer_reset(void)
{
    Pair p = pair_start("");
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(coord[1], DST), .len = 16 * MiB,
    };

    for (unsigned i = 0; i < 3; i++) {
        exanet_channel_start(p.t[0], 0, i, &x);
        exanet_set32(p.t[1], EXANET_REG_CTRL, EXANET_CTRL_RESET);
        exanet_pair_bring_up(p.t);
        exanet_pair_wait(p.t, exanet_channel_state(p.t[0], 0, i) >=
                         EXANET_CHANNEL_DONE, 20 * EXANET_MS);
    }
    check_write(&p, 0, 9, 1, 65, 50000);
    check_write(&p, 1, 9, 1, 65, 50000);
    pair_stop(&p);
}

/* The other node ends; later another node connects to the same cable. */
static void test_peer_leaves(void)
{
    Pair p = pair_start("");
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(coord[1], DST), .len = 16 * MiB,
    };
    g_autofree char *cable = machine_cable("wire", p.path, false);

    exanet_stop(p.t[1]);
    exanet_settle(p.t[0]);
    exanet_channel_start(p.t[0], 0, 0, &x);
    for (unsigned i = 0; i < 2000 && exanet_channel_state(p.t[0], 0, 0) <
         EXANET_CHANNEL_DONE; i++) {
        exanet_step(p.t[0], 100 * EXANET_MS);
    }
    exanet_channel_wait(p.t[0], 0, 0, EXANET_CHANNEL_FAILED);
    g_assert_cmphex(exanet_get32(p.t[0], EXANET_REG_STATUS) &
                    EXANET_STATUS_LINK, ==, 0);
    p.t[1] = exanet_start_node(cable, coord[1], ",link0=wire");
    exanet_pair_bring_up(p.t);
    check_write(&p, 0, 0, 1, 65, 50000);
    check_write(&p, 1, 0, 1, 65, 50000);
    pair_stop(&p);
}

/*
 * Two nodes with the same coordinates: the link stays down, and both report the
 * conflict.
 */
static void test_conflict(void)
{
    g_autofree char *dir = g_dir_make_tmp("exanet-pair-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);
    ExanetTest *t[2];

    for (unsigned i = 0; i < 2; i++) {
        g_autofree char *netdev =
            g_strdup_printf("stream,server=%s,addr.type=unix,addr.path=%s",
                            i ? "off,reconnect-ms=20" : "on", path);

        t[i] = exanet_start_netdev(netdev, EXANET_TEST_NODE, "");
    }
    for (unsigned i = 0; i < 2; i++) {
        exanet_pair_wait(t, exanet_get32(t[i], EXANET_PORT(0) +
                                         EXANET_REG_PORT_STATUS) &
                         EXANET_PORT_STATUS_CONFLICT, 100 * EXANET_MS);
        g_assert_cmphex(exanet_get32(t[i], EXANET_REG_STATUS) &
                        EXANET_STATUS_LINK, ==, 0);
    }
    exanet_stop(t[0]);
    exanet_stop(t[1]);
    unlink(path);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/pair/write-t03", test_write);
    qtest_add_func("/exanet/pair/notify-t20", test_notify);
    qtest_add_func("/exanet/pair/read-t21", test_read);
    qtest_add_func("/exanet/pair/bad-read-t21", test_bad_read);
    qtest_add_func("/exanet/pair/messages-t23", test_messages);
    qtest_add_func("/exanet/pair/both-directions", test_both_directions);
    qtest_add_func("/exanet/pair/peer-reset", test_peer_reset);
    qtest_add_func("/exanet/pair/peer-leaves", test_peer_leaves);
    qtest_add_func("/exanet/pair/conflict", test_conflict);
    return g_test_run();
}
