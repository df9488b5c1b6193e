/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks of the tables of exanet-box's device.  The device keeps most entries until it
 * needs their room, so this file removes entries by the functions with which the device
 * makes room.  These functions are private, so this file includes the files that define
 * them.
 */
#include "box-nic.h"
#include "hw/rnic/exanet/firmware/peer.c"
#include "hw/rnic/exanet/engine/packetizer-peer.c"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/exanet/firmware/internal.h"
#include "hw/rnic/exanet/engine/job-quota.h"
#include "hw/rnic/link/port.h"
#include "hw/rnic/exanet/engine/receiver.h"
#include "hw/rnic/exanet/shm/cdma-internal.h"
#include "hw/rnic/exanet/shm/node.c"

/*
 * Limit of the age of a report.  The firmware sends a report FW_RETRY_MAX (16) times,
 * and once more after a back-off, and waits at most half of EXANET_TID_AGE_NS each
 * time.
 */
#define REPORTS_NS  (18 * EXANET_TID_AGE_NS / 2)
/*
 * Time after HOLD_NS until the firmware has forgotten all nodes, because the firmware
 * keeps a node for longer than the other units.
 */
#define FORGOTTEN_BY_ALL_NS (FW_RECEIVER_AGE_NS + NANOSECONDS_PER_SECOND - HOLD_NS)

static ShmNodes *shm_nodes;         /* the initiator's table of nodes */

ShmNodes *__wrap_exanet_shm_nodes_new(void)
{
    shm_nodes = __real_exanet_shm_nodes_new();
    return shm_nodes;
}

static void quota_check(const ExanetJobQuota *q)
{
    g_assert_cmpuint(q->total, ==, 0);
    for (unsigned job = 0; job < EXANET_JOBS; job++) {
        g_assert_cmpuint(q->held[job], ==, 0);
    }
}

static void packetizer_check(unsigned c)
{
    ExanetPktzPeers *p = box.s->packetizer.peers[c];

    peers_sweep(p, rnic_now());
    g_assert_cmpuint(g_hash_table_size(p->nodes), ==, 0);
    quota_check(&p->held);
    quota_check(&p->unknown);
}

static void firmware_check(unsigned c)
{
    ExanetFirmware *fw = box.s->firmware;

    exanet_fw_enter(box.s, fw);
    fw_peers_sweep(fw, c);
    quota_check(&fw->peers_held[c]);
    g_assert_cmpuint(g_hash_table_size(fw->peers[c]), ==, 0);
    g_assert_cmpuint(fw->free[c].fifo.count, ==, FW_TIDS);
    g_assert_cmpuint(fw->tids[c], ==, 0);
    g_assert_cmpuint(fw->queue[c].fifo.count, ==, 0);
}

unsigned nic_reads_waiting(void)
{
    unsigned count = 0;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        count += box.s->firmware->queue[c].fifo.count;
    }
    return count;
}

static void initiator_list_check(ShmNodeList *list, int64_t ns)
{
    while (node_evict(shm_nodes, list, rnic_now(), ns)) {
        ;
    }
    g_assert_true(QTAILQ_EMPTY(list));
}

static void initiator_check(void)
{
    for (unsigned c = 0; c <= EXANET_CONTEXTS; c++) {
        initiator_list_check(&shm_nodes->unkept[c], ANSWER_NS);
        g_assert_cmpuint(shm_nodes->unkept_count[c], ==, 0);
    }
    initiator_list_check(&shm_nodes->kept, IDLE_NS);
    quota_check(&shm_nodes->quota);
    g_assert_cmpuint(g_hash_table_size(shm_nodes->nodes), ==, 0);
}

static void cdma_check(void)
{
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        const CdmaChannel *ch = cdma_channel(box.s, i);

        g_assert_false(cdma_busy(ch));
        g_assert_cmphex(ch->in[CDMA_STAGE_FREE] | ch->in[CDMA_STAGE_FAILED], ==, ~0ULL);
        g_assert_false(timer_pending(ch->timer));
    }
}

static void receiver_check(void)
{
    const ExanetReceiver *r = &box.s->receiver;

    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        g_assert_false(r->ctx[i].valid);
    }
    g_assert_cmpuint(g_hash_table_size(r->sources), ==, 0);
    for (unsigned i = 0; i <= EXANET_LINKS; i++) {
        g_assert_cmpuint(r->by_link[i], ==, 0);
    }
}

static bool reports_wait(void)
{
    for (unsigned i = 0; i < FW_REPORTS; i++) {
        if (box.s->firmware->report[i].used) {
            return true;
        }
    }
    return false;
}

/* Asserts that reports end although their nodes do not answer. */
static void reports_end(void)
{
    int64_t end = box_now() + REPORTS_NS;

    while (reports_wait()) {
        g_assert_cmpint(box_now(), <, end);
        nic_step(NANOSECONDS_PER_SECOND);
    }
}

/*
 * Asserts that a cable without carrier reserves its neighbour's coordinates for less
 * than RESERVED_NS.
 */
static void reservation_ends(void)
{
    const RNicPort *p = &box.s->port[EVIL];

    box_wire_link(EVIL, false);
    nic_step(RESERVED_NS);
    g_assert_false(p->up);
    g_assert_cmpint(p->peer_until, <=, box_now());
    box_wire_link(EVIL, true);
    nic_settle();
}

void nic_tables_check(void)
{
    receiver_check();
    cdma_check();
    initiator_check();
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        packetizer_check(c);
    }
    reports_end();
    reservation_ends();
    nic_step(FORGOTTEN_BY_ALL_NS);
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        firmware_check(c);
    }
}
