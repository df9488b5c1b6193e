/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pvrdma at a device rnic-cable, whose other end is the test: frames on the cable while
 * the machine is saved and loaded, and the wake-ups for the frames of one doorbell.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "../common/machine.h"
#include "migrate.h"
#include "rc.h"

#define SQ_PSN      0xfffffa
#define RQ_PSN      0x2000
#define PACKETS     8               /* packets of a WRITE of the device */
#define SMALLS      5               /* number of frames that one doorbell may send */
#define LARGE       128             /* number of frames that a bottom half may send */
#define WAKE_BYTES  (64 * 1024)     /* a corked cable sends a wake-up after these bytes */
#define BYTES       (LARGE * RC_MTU)

static void start(Rc *rc)
{
    rc_start(rc, &(RcInit) { BYTES, SQ_PSN, RQ_PSN });
}

/* Rings the doorbell of the QP, and waits until @packets packets are in the ring. */
static void ring(Rc *rc, unsigned packets)
{
    uint64_t before = pvrdma_counter(rc->t, "tx-frames");

    pvrdma_ring_send(rc->t, &rc->qp);
    wait_until(pvrdma_counter(rc->t, "tx-frames") == before + packets, wait_pause());
}

/* Puts a WRITE of the first @packets packets of the region into the send queue. */
static void put_write(Rc *rc, uint64_t wr_id, unsigned packets)
{
    struct pvrdma_sq_wqe_hdr hdr = pvrdma_wr_rdma(wr_id, PVRDMA_WR_RDMA_WRITE,
                                                  RC_PEER_VA, RC_PEER_RKEY);
    PvrdmaTestSge sge = PVRDMA_TEST_SGE(&rc->mr, 0, packets * RC_MTU);

    pvrdma_put_send(rc->t, &rc->qp, &hdr, &sge, 1);
}

/* --- Saved machines -------------------------------------------------------- */

/* Sends the three packets of a WRITE, which the device acknowledges. */
static void parts_arrive(Rc *rc)
{
    static const uint8_t opcodes[RC_PARTS] = {
        ROCE_OP_WRITE_FIRST, ROCE_OP_WRITE_MIDDLE, ROCE_OP_WRITE_LAST,
    };

    for (unsigned i = 0; i < RC_PARTS; i++) {
        rc_send_part(rc, opcodes[i], RQ_PSN + i, 4 + i);
        rc_acked(rc, RQ_PSN + i);
    }
    for (unsigned i = 0; i < RC_PARTS; i++) {
        rc_assert_filled(rc, RC_PART_OFFSET + i * RC_MTU, 4 + i, RC_MTU);
    }
}

/* Acknowledges WRITE @wr_id of PACKETS packets, which ends with packet @psn. */
static void write_ends(Rc *rc, uint64_t wr_id, uint32_t psn)
{
    rc_ack(rc, psn);
    rc_done(rc, wr_id, PVRDMA_WC_SUCCESS);
}

/*
 * Saves or loads the snapshot of the machine, as @how says.  Asserts that the cable has
 * delivered no frame meanwhile, and that no part has changed the region.
 */
static void snapshot(Rc *rc, const char *how)
{
    uint64_t received = machine_cable_get(rc->t->qts, "wire", "received");

    migrate_snapshot(rc->t->qts, how);
    g_assert_cmpuint(machine_cable_get(rc->t->qts, "wire", "received"), ==, received);
    pvrdma_assert_mem(rc->t, rc->mr.pa + RC_PART_OFFSET, rc->data + RC_PART_OFFSET,
                      RC_PARTS * RC_MTU);
}

/*
 * The machine is saved while frames in both directions are in the rings, and goes back to
 * this snapshot twice.  A snapshot has no frames: the cable delivers the frames that were
 * in the rings before the load, and the QP repeats what was not acknowledged.
 */
static void test_snapshot(void)
{
    const uint32_t next = SQ_PSN + PACKETS;
    g_autofree char *path = NULL;
    Rc rc;
    int fd = g_file_open_tmp("pvrdma-disk-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    start(&rc);
    migrate_disk_add(rc.t->qts, path);
    put_write(&rc, 1, PACKETS);
    ring(&rc, PACKETS);
    wire_peer_cork(&rc.t->wire, true);
    rc_send_part(&rc, ROCE_OP_WRITE_FIRST, RQ_PSN, 4);
    rc_send_part(&rc, ROCE_OP_WRITE_MIDDLE, RQ_PSN + 1, 5);
    snapshot(&rc, "snapshot-save");
    wire_peer_cork(&rc.t->wire, false);
    rc_sent_write(&rc, SQ_PSN, 0, PACKETS, PACKETS);
    /* the cable delivers both parts together, so they have one ACK */
    rc_acked(&rc, RQ_PSN + 1);
    write_ends(&rc, 1, next - 1);
    for (unsigned i = 0; i < 2; i++) {
        put_write(&rc, 2, PACKETS);
        ring(&rc, PACKETS);
        wire_peer_cork(&rc.t->wire, true);
        rc_send_part(&rc, ROCE_OP_WRITE_LAST, RQ_PSN + 2, 0xee);
        snapshot(&rc, "snapshot-load");
        rc_sent_write(&rc, next, 0, PACKETS, PACKETS);
        rc_sent_write(&rc, SQ_PSN, 0, PACKETS, PACKETS);
        wire_peer_cork(&rc.t->wire, false);
        rc_naked(&rc, RQ_PSN, ROCE_NAK_PSN_SEQUENCE);
        parts_arrive(&rc);
        write_ends(&rc, 1, next - 1);
    }
    put_write(&rc, 2, PACKETS);
    ring(&rc, PACKETS);
    rc_sent_write(&rc, next, 0, PACKETS, PACKETS);
    write_ends(&rc, 2, next + PACKETS - 1);
    rc_stop(&rc);
    unlink(path);
}

/* Moves the machine to a new QEMU with a new cable.  @rc has a WRITE on the old cable. */
static void move(Rc *rc, uint32_t psn)
{
    PvrdmaTest *old = rc->t;
    g_autofree char *path = migrate_save(old->qts);
    PvrdmaTest *new;

    /* the old machine has stopped, so this frame is lost */
    rc_send_part(rc, ROCE_OP_WRITE_FIRST, RQ_PSN, 0xee);
    new = pvrdma_load(old, path, "");
    unlink(path);
    g_assert_cmpuint(machine_cable_get(new->qts, "wire", "received"), ==, 0);
    rc_sent_write(rc, psn, 0, PACKETS, PACKETS);
    pvrdma_stop(old);
    rc->t = new;
}

/*
 * The machine moves to another QEMU and from there to a third one by a file, while frames
 * in both directions are on its cable.  The old cable keeps its frames, and the QP
 * repeats them on the new one.
 */
static void test_migration(void)
{
    Rc rc;

    start(&rc);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t psn = SQ_PSN + i * PACKETS;

        put_write(&rc, i, PACKETS);
        ring(&rc, PACKETS);
        move(&rc, psn);
        rc_sent_write(&rc, psn, 0, PACKETS, PACKETS);
        write_ends(&rc, i, psn + PACKETS - 1);
    }
    parts_arrive(&rc);
    rc_stop(&rc);
}

/* --- Wake-ups --------------------------------------------------------------- */

/* A reader that sleeps again at once, so that QEMU could wake it for each frame. */
typedef struct Sleeper {
    struct rnic_cable_control *control;
    bool ended;
} Sleeper;

static gpointer sleeper_run(gpointer opaque)
{
    Sleeper *s = opaque;

    while (!qatomic_read(&s->ended)) {
        qatomic_set(&s->control->sleeping, 1);
    }
    return NULL;
}

/* Takes frames, and returns the number of wake-ups since @before. */
static unsigned wakes_since(Rc *rc, unsigned before)
{
    rnic_ring_awake(&rc->t->wire.rx);
    pvrdma_pump(rc->t);
    return rc->t->wire.wakes - before;
}

/* Does ring() with a Sleeper, and returns the number of wake-ups that QEMU has sent. */
static unsigned ring_wakes(Rc *rc, unsigned packets)
{
    WirePeer *w = &rc->t->wire;
    unsigned before = w->wakes;
    Sleeper s = { .control = w->rx.control };
    GThread *thread = g_thread_new("sleeper", sleeper_run, &s);

    wait_until(qatomic_read(&s.control->sleeping), wait_pause());
    ring(rc, packets);
    qatomic_set(&s.ended, true);
    g_thread_join(thread);
    return wakes_since(rc, before);
}

/* Logs each frame that the device sends, and each wake-up. */
static void trace(Rc *rc, bool on)
{
    machine_trace(rc->t->qts, "pvrdma_port_tx", on);
    machine_trace(rc->t->qts, "rnic_cable_wake", on);
}

/* Takes SMALLS packets from @psn on, which are WRITEs, and ends these. */
static void smalls_end(Rc *rc, uint32_t psn)
{
    for (unsigned n = 0; n < SMALLS; n++) {
        rc_sent(rc, ROCE_OP_WRITE_ONLY, psn + n, 0, RC_MTU);
    }
    rc_ack(rc, psn + SMALLS - 1);
    for (unsigned n = 0; n < SMALLS; n++) {
        rc_done(rc, n, PVRDMA_WC_SUCCESS);
    }
}

/*
 * The frames of one doorbell need one wake-up, which follows the last frame, and no more
 * than that if the reader sleeps again.  A reader that is awake gets none.
 */
static void test_cork(void)
{
    g_autofree char *steps = NULL;
    uint32_t psn = SQ_PSN;
    Rc rc;

    start(&rc);
    for (unsigned i = 0; i < 20; i++, psn += SMALLS) {
        for (unsigned n = 0; n < SMALLS; n++) {
            put_write(&rc, n, 1);
        }
        if (i == 0) {
            ring(&rc, SMALLS);
            g_assert_cmpuint(wakes_since(&rc, 0), ==, 0);
            trace(&rc, true);
        } else {
            g_assert_cmpuint(ring_wakes(&rc, SMALLS), ==, 1);
            trace(&rc, false);
        }
        smalls_end(&rc, psn);
    }
    steps = machine_trace_steps(rc.t->log, "");
    g_assert_cmpstr(steps, ==, "pvrdma_port_tx rnic_cable_wake");
    rc_stop(&rc);
}

/* Returns the number of frames that the log at @path has before the first wake-up. */
static unsigned frames_before_wake(const char *path)
{
    g_autofree char *text = NULL;
    const char *wake, *at;
    unsigned frames = 0;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    wake = strstr(text, "rnic_cable_wake");
    g_assert_nonnull(wake);
    for (at = text; (at = strstr(at, "pvrdma_port_tx")) && at < wake; at++) {
        frames++;
    }
    return frames;
}

/* Returns the number of the first frames in the queue that have WAKE_BYTES together. */
static unsigned frames_of_wake(PvrdmaTest *t)
{
    unsigned frames = 0, bytes = 0;

    for (GList *l = t->frames.head; bytes < WAKE_BYTES; l = l->next) {
        g_assert_nonnull(l);
        bytes += ((PvrdmaFrame *)l->data)->len;
        frames++;
    }
    return frames;
}

/* Of many frames that the device sends together, the first 64 KiB wake the reader. */
static void test_cork_large(void)
{
    Rc rc;

    start(&rc);
    /* a stopped machine begins with all WQEs when it continues, not with a doorbell */
    qtest_qmp_assert_success(rc.t->qts, "{ 'execute': 'stop' }");
    put_write(&rc, 1, LARGE);
    ring(&rc, 0);
    trace(&rc, true);
    g_assert_true(rnic_ring_sleep(&rc.t->wire.rx));
    qtest_qmp_assert_success(rc.t->qts, "{ 'execute': 'cont' }");
    wait_until(machine_cable_get(rc.t->qts, "wire", "sent") == LARGE, wait_pause());
    g_assert_cmpuint(wakes_since(&rc, 0), ==, 1);
    g_assert_cmpuint(frames_of_wake(rc.t), <, LARGE / 2);
    g_assert_cmpuint(frames_before_wake(rc.t->log), ==, frames_of_wake(rc.t));
    rc_sent_write(&rc, SQ_PSN, 0, LARGE, LARGE);
    write_ends(&rc, 1, SQ_PSN + LARGE - 1);
    rc_stop(&rc);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_setenv("RNIC_TEST_WIRE", "cable", true);
    qtest_add_func("/pvrdma/cable/snapshot", test_snapshot);
    qtest_add_func("/pvrdma/cable/migration", test_migration);
    qtest_add_func("/pvrdma/cable/cork", test_cork);
    qtest_add_func("/pvrdma/cable/cork-large", test_cork_large);
    return g_test_run();
}
