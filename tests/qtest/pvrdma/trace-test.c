/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace events of pvrdma: the trace of a SEND between two machines is, on each machine,
 * the list of steps in "The path of a packet" of docs/design.rst.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <glib/gstdio.h>
#include "../common/machine.h"
#include "verbs.h"

#define VA 0x7fff12345000ULL
#define BYTES 256                   /* bytes of the SEND, in one packet */

typedef struct Side {
    PvrdmaTest *t;
    PvrdmaTestCq cq;
    PvrdmaTestMr mr;
    PvrdmaTestQp qp;
} Side;

static void side_make(Side *s, PvrdmaTest *t)
{
    PvrdmaTestQpInit init = { 0 };

    s->t = t;
    init.pd = pvrdma_pd_create(t, 0);
    s->cq = pvrdma_cq_create(t, 0, 0, 16);
    init.send_cq = &s->cq;
    s->mr = pvrdma_mr_create(t, init.pd, VA, BYTES, PVRDMA_TEST_ACCESS_ALL);
    s->qp = pvrdma_qp_create(t, &init);
}

/* Asserts that @s has traced @steps, in this order. */
static void side_assert(Side *s, const char *steps)
{
    g_autofree char *found = machine_trace_steps(s->t->log, "pvrdma_");

    g_assert_cmpstr(found, ==, steps);
}

static void test_send(void)
{
    const struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr(1, PVRDMA_WR_SEND);
    g_autofree char *dir = g_dir_make_tmp("pvrdma-trace-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);
    PvrdmaTest *t[2];
    Side side[2];

    pvrdma_pair_start(t, path, "");
    for (unsigned i = 0; i < 2; i++) {
        side_make(&side[i], t[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_qp_connect(t[i], &side[i].qp, &(PvrdmaTestQpAttr) {
            .dgid = t[!i]->gid, .dmac = t[!i]->mac, .dest_qpn = side[!i].qp.qpn,
        });
        pvrdma_cq_arm(t[i], &side[i].cq, PVRDMA_UAR_CQ_ARM);
    }
    pvrdma_post_recv(t[1], &side[1].qp, 2, &PVRDMA_TEST_SGE(&side[1].mr, 0, BYTES), 1);
    for (unsigned i = 0; i < 2; i++) {
        machine_trace(t[i]->qts, "pvrdma_*", true);
        machine_trace(t[i]->qts, "pvrdma_reg_*", false);
    }
    pvrdma_post_send(t[0], &side[0].qp, &hdr, &PVRDMA_TEST_SGE(&side[0].mr, 0, BYTES),
                     1);
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_cq_expect(t[i], &side[i].cq, 1 + i, PVRDMA_WC_SUCCESS);
        pvrdma_wait(t[i], pvrdma_msix_taken(t[i], PVRDMA_INTR_VECTOR_CQ));
        g_assert_cmpuint(pvrdma_cqne_take(t[i]), ==, side[i].cq.handle);
    }
    side_assert(&side[0],
                "doorbell req_fetch wq_decode req_gather req_build port_tx port_rx "
                "comp_parse cq_complete cq_notify irq");
    side_assert(&side[1],
                "port_rx resp_parse wq_receive resp_scatter cq_complete cq_notify "
                "resp_respond port_tx irq");
    for (unsigned i = 0; i < 2; i++) {
        pvrdma_stop(t[i]);
    }
    g_unlink(path);
    g_rmdir(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/trace/send", test_send);
    return g_test_run();
}
