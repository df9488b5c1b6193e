/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfers between two machines for hops.py, which counts calls between files:
 *
 *   transfers KIND PREPARED DONE
 *
 * One transfer of KIND warms the caches of the devices.  Then PREPARED transfers are
 * prepared; the first DONE of them are started and complete.  So two runs with different
 * DONE differ in the work of the devices from the doorbell to the completion.  No other
 * access reaches a register, because the test waits by reads of memory.
 *
 * The machines are as in the tests: virtual time stands still, so nothing is
 * retransmitted.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <glib/gstdio.h>
#include "../qtest/exanet/device.h"
#include "../qtest/pvrdma/verbs.h"

#define BYTES 256                   /* one packet, for both kinds */
#define PREPARED_MAX 100
#define VA 0x7fff12345000ULL

typedef struct Kind {
    const char *name;
    void (*start)(const char *path);
    /* Prepares transfer @i up to the doorbell, with all writes to registers. */
    void (*prepare)(unsigned i);
    /* Rings the doorbell of transfer @i, and waits for its completion. */
    void (*go)(unsigned i);
    void (*stop)(void);
} Kind;

/*
 * Waits with pauses, because each evaluation of @cond costs time of the devices' threads.
 */
#define wait_for(cond) wait_until(cond, wait_pause())

/* --- ExaNet: RDMA write of one block with notification --------------------- */

static ExanetTest *exanet[2];

static void exanet_begin(const char *path)
{
    const ExanetTransfer x = {
        .src = EXANET_RAM_SRC,
        .dst = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_DST), .len = BYTES,
        .ctrl = EXANET_CHANNEL_NOTIFY | EXANET_CHANNEL_IRQ |
                EXANET_CHANNEL_IRQ_DONE | RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
        .notify_gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_NOTE),
        .notify_data = 0xd0,
    };

    exanet_pair_start(exanet, path, "");
    for (unsigned i = 0; i < 2; i++) {
        exanet_msix_enable(exanet[i]);
        exanet_set32(exanet[i], EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
        exanet_set32(exanet[i], EXANET_REG_CTRL,
                     EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    }
    /* the fields stay in the scratchpad, so later only the doorbell is written */
    exanet_channel_start(exanet[0], 0, 0, &x);
    wait_for(exanet_channel_state(exanet[0], 0, 0) == EXANET_CHANNEL_DONE);
}

static void exanet_prepare(unsigned i)
{
    for (unsigned n = 0; n < 2; n++) {
        exanet_set32(exanet[n], EXANET_REG_MBOX_PENDING, UINT32_MAX);
        qtest_memset(exanet[n]->qts, EXANET_RAM_MSIX, 0, EXANET_VECTORS * 4);
    }
    qtest_memset(exanet[1]->qts, EXANET_RAM_NOTE, 0,
                 sizeof(struct exanet_notification));
    qtest_memset(exanet[1]->qts, EXANET_RAM_DST, i, BYTES);
}

static void exanet_go(unsigned i)
{
    g_autofree uint8_t *data = g_malloc(BYTES);

    exanet_fill(exanet[0], EXANET_RAM_SRC, data, BYTES, i);
    exanet_user_set(exanet[0], 0, EXANET_PAGE_SCRATCHPAD, EXANET_CHANNEL_DOORBELL,
                    2 + i);
    wait_for(exanet_msix_taken(exanet[1], EXANET_VEC_CONTEXT(1)));
    wait_for(exanet_msix_taken(exanet[0], EXANET_VEC_CONTEXT(0)));
    g_assert_cmpuint(exanet_channel_state(exanet[0], 0, 0), ==,
                     EXANET_CHANNEL_DONE);
    g_assert_cmphex(qtest_readq(exanet[1]->qts, EXANET_RAM_NOTE), ==, 0xd0);
    exanet_assert_mem(exanet[1], EXANET_RAM_DST, data, BYTES);
}

static void exanet_end(void)
{
    for (unsigned i = 0; i < 2; i++) {
        exanet_stop(exanet[i]);
    }
}

/* --- pvrdma: SEND of a reliable connection --------------------------------- */

typedef struct Side {
    PvrdmaTest *t;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
} Side;

static Side side[2];

static void side_make(Side *s, PvrdmaTest *t)
{
    PvrdmaTestQpInit init = { .send_wr = 128, .recv_wr = 128 };

    s->t = t;
    init.pd = pvrdma_pd_create(t, 0);
    s->cq = pvrdma_cq_create(t, 0, 0, 256);
    init.send_cq = &s->cq;
    s->mr = pvrdma_mr_create(t, init.pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    s->qp = pvrdma_qp_create(t, &init);
}

static void send_prepare(unsigned i)
{
    for (unsigned n = 0; n < 2; n++) {
        while (pvrdma_cqne_take(side[n].t)) {
            continue;
        }
        pvrdma_msix_taken(side[n].t, PVRDMA_INTR_VECTOR_CQ);
        pvrdma_cq_arm(side[n].t, &side[n].cq, PVRDMA_UAR_CQ_ARM);
    }
}

static void send_go(unsigned i)
{
    const struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(i, PVRDMA_WR_SEND);
    g_autofree uint8_t *data = g_malloc(BYTES);

    pvrdma_fill(side[0].t, side[0].mr.pa, data, BYTES, i);
    pvrdma_post_send(side[0].t, &side[0].qp, &hdr,
                     &PVRDMA_TEST_SGE(&side[0].mr, 0, BYTES), 1);
    for (unsigned n = 2; n-- > 0;) {
        struct pvrdma_cqe cqe;

        wait_for(pvrdma_msix_taken(side[n].t, PVRDMA_INTR_VECTOR_CQ));
        g_assert_true(pvrdma_cq_poll(side[n].t, &side[n].cq, &cqe));
        g_assert_cmpuint(le32_to_cpu(cqe.status), ==, PVRDMA_WC_SUCCESS);
        g_assert_cmphex(le64_to_cpu(cqe.wr_id), ==, i);
    }
    pvrdma_assert_mem(side[1].t, side[1].mr.pa, data, BYTES);
}

static void send_begin(const char *path)
{
    PvrdmaTest *t[2];

    pvrdma_pair_start(t, path, "");
    for (unsigned i = 0; i < 2; i++) {
        side_make(&side[i], t[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_qp_connect(side[i].t, &side[i].qp, &(PvrdmaTestQpAttr) {
            .dgid = side[!i].t->gid, .dmac = side[!i].t->mac,
            .dest_qpn = side[!i].qp.qpn,
        });
    }
    for (unsigned i = 0; i < PREPARED_MAX; i++) {
        pvrdma_post_recv(side[1].t, &side[1].qp, i,
                         &PVRDMA_TEST_SGE(&side[1].mr, 0, BYTES), 1);
    }
}

static void send_end(void)
{
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_stop(side[i].t);
    }
}

/* --- Runs ------------------------------------------------------------------ */

static const Kind kinds[] = {
    { "exanet-write", exanet_begin, exanet_prepare, exanet_go, exanet_end },
    { "pvrdma-send", send_begin, send_prepare, send_go, send_end },
};

static void run(const Kind *kind, unsigned prepared, unsigned done)
{
    g_autofree char *dir = g_dir_make_tmp("transfers-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);

    kind->start(path);
    kind->prepare(0);
    kind->go(0);
    for (unsigned i = 1; i <= prepared; i++) {
        kind->prepare(i);
        if (i <= done) {
            kind->go(i);
        }
    }
    kind->stop();
    g_unlink(path);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    unsigned prepared, done;

    g_test_init(&argc, &argv, NULL);
    if (argc == 4) {
        prepared = atoi(argv[2]);
        done = atoi(argv[3]);
        for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
            if (!strcmp(argv[1], kinds[i].name) && done <= prepared &&
                prepared < PREPARED_MAX) {
                run(&kinds[i], prepared, done);
                return 0;
            }
        }
    }
    fprintf(stderr, "usage: %s exanet-write|pvrdma-send PREPARED DONE\n", argv[0]);
    return 2;
}
