/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace events of ExaNet: the trace of a transfer between two machines is, on each
 * machine, the list of steps in "The path of a packet" of docs/design.rst.
 */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "../common/machine.h"
#include "device.h"

#define BYTES 256                   /* bytes of the transfer, in one packet */

typedef struct Pair {
    ExanetTest *t[2];
    char *dir, *path;
} Pair;

static Pair pair_start(void)
{
    Pair p = { .dir = g_dir_make_tmp("exanet-trace-XXXXXX", NULL) };

    g_assert_nonnull(p.dir);
    p.path = g_build_filename(p.dir, "wire", NULL);
    exanet_pair_start(p.t, p.path, "");
    for (unsigned i = 0; i < 2; i++) {
        exanet_msix_enable(p.t[i]);
        exanet_set32(p.t[i], EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
        exanet_set32(p.t[i], EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    }
    return p;
}

/* Traces all events from now on, except those of registers and of page tables. */
static void pair_trace(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        machine_trace(p->t[i]->qts, "exanet_*", true);
        machine_trace(p->t[i]->qts, "exanet_reg_*", false);
        machine_trace(p->t[i]->qts, "exanet_context_*", false);
    }
}

/* Asserts that node @i has traced exactly @steps, in this order. */
static void pair_assert(Pair *p, unsigned i, const char *steps)
{
    g_autofree char *found = machine_trace_steps(p->t[i]->log, "exanet_");

    g_assert_cmpstr(found, ==, steps);
}

static void pair_stop(Pair *p)
{
    for (unsigned i = 0; i < 2; i++) {
        exanet_stop(p->t[i]);
    }
    g_unlink(p->path);
    g_rmdir(p->dir);
    g_free(p->path);
    g_free(p->dir);
}

static void test_write(void)
{
    const ExanetTransfer x = {
        .src = EXANET_RAM_SRC,
        .dst = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_DST), .len = BYTES,
        .ctrl = EXANET_CHANNEL_NOTIFY | EXANET_CHANNEL_IRQ |
                EXANET_CHANNEL_IRQ_DONE | RNIC_PREP(EXANET_CHANNEL_DST_CTX, 1),
        .notify_gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_NOTE),
    };
    Pair p = pair_start();

    pair_trace(&p);
    exanet_channel_start(p.t[0], 0, 0, &x);
    exanet_pair_wait(p.t, exanet_msix_taken(p.t[0], EXANET_VEC_CONTEXT(0)), 0);
    exanet_pair_wait(p.t, exanet_msix_taken(p.t[1], EXANET_VEC_CONTEXT(1)), 0);
    pair_assert(&p, 0,
                "doorbell firmware_doorbell exadma_fetch exadma_decode "
                "exadma_control net_route exadma_gather exadma_build net_route "
                "link_port_tx link_port_rx rtmailbox_response firmware_response "
                "firmware_complete irq");
    pair_assert(&p, 1,
                "link_port_rx receiver_parse receiver_scatter receiver_complete "
                "receiver_respond net_route link_port_tx irq");
    pair_stop(&p);
}

static void test_message(void)
{
    static const uint8_t payload[64];
    Pair p = pair_start();

    exanet_mailbox_open(p.t[1], 1, 0, EXANET_RAM_RING, 3, 0);
    pair_trace(&p);
    exanet_pktz_start(p.t[0], 0, 0, exanet_gva(EXANET_TEST_PEER,
                      EXANET_NI_VA(EXANET_NI_MAILBOX)), payload, sizeof(payload),
                      EXANET_PKTZ_ACK | RNIC_PREP(EXANET_PKTZ_DST_CTX, 1));
    exanet_pair_wait(p.t, exanet_pktz_state(p.t[0], 0, 0) == EXANET_PKTZ_ACKED, 0);
    pair_assert(&p, 0,
                "doorbell packetizer_doorbell packetizer_build net_route "
                "link_port_tx link_port_rx packetizer_complete");
    pair_assert(&p, 1,
                "link_port_rx receiver_parse mailbox_complete receiver_respond "
                "net_route link_port_tx");
    pair_stop(&p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/trace/write", test_write);
    qtest_add_func("/exanet/trace/message", test_message);
    return g_test_run();
}
