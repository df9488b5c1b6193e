/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A processor that stores to POLL, and takes frames from the netdevs during the store:
 * a machine executes, by TCG, a loop of the test.  Time is real here, but no assertion
 * depends on it.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "device.h"
#include "../common/machine.h"
#include "../common/msi-source.h"
#include "../common/vcpu.h"

#define DST     EXANET_RAM_DST
#define SLOT    64                  /* bytes from one block to the next */
#define BLOCKS  32                  /* blocks of a round */
#define ACPI_EJECT 0xae08
#define PCI_SLOT_NIC 6 /* PCI slot of the device; a test unplugs the device from it */

typedef struct Rig {
    ExanetTest *t;
    char *path[2];                  /* paths of the sockets of ports 0 and 1 */
    unsigned port;                  /* port of the peer */
    uint32_t sent;                  /* number of blocks sent since the start */
    MsiSource *source;              /* device whose messages store to POLL, or NULL */
} Rig;

static char *bios_path;

static uint64_t poll_register(ExanetTest *t, unsigned c)
{
    return t->user.addr + exanet_user(t, c, EXANET_PAGE_MAILBOX) +
           EXANET_MAILBOX_POLL;
}

/* --- Start and end ------------------------------------------------------------ */

static void peer_connect(Rig *r)
{
    ExanetPeer *p = r->t->peer;

    wire_peer_fini(&p->wire);
    wire_peer_connect(&p->wire, r->path[r->port], RNIC_FRAME_MAX);
}

/*
 * Starts a machine with two ports, each with a socket at which QEMU listens, and a peer
 * that is not yet connected to port @port.  The processor is stopped.
 */
static Rig rig_start_cold(const char *machine, const char *accel, unsigned port,
                          const char *options)
{
    Rig r = { .port = port };
    g_autofree char *netdevs = NULL, *props = NULL;

    for (unsigned i = 0; i < 2; i++) {
        r.path[i] = g_strdup_printf("%s.%u", bios_path, i);
    }
    netdevs = g_strdup_printf(
        "-netdev stream,id=p0,server=on,addr.type=unix,addr.path=%s "
        "-netdev stream,id=p1,server=on,addr.type=unix,addr.path=%s",
        r.path[0], r.path[1]);
    props = g_strdup_printf(",link0=p0,link1=p1,addr=%u -machine %s -accel %s "
                            "-bios %s -S%s", PCI_SLOT_NIC, machine, accel,
                            bios_path, options);
    r.t = exanet_start_node(netdevs, EXANET_TEST_NODE, props);
    r.t->peer = exanet_peer_new(EXANET_TEST_PEER, false);
    exanet_peer_started(r.t->peer);
    return r;
}

static bool is_up(Rig *r)
{
    return exanet_get32(r->t, EXANET_PORT(r->port) + EXANET_REG_PORT_STATUS) &
           EXANET_PORT_STATUS_UP;
}

static void bring_up(Rig *r)
{
    exanet_set32(r->t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    exanet_peer_hello(r->t->peer, false);
    exanet_wait(r->t, is_up(r) && r->t->peer->heard_sent);
    for (unsigned c = 0; c < 2; c++) {
        exanet_open(r->t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
}

static void rig_run(Rig *r)
{
    qtest_qmp_assert_success(r->t->qts, "{ 'execute': 'cont' }");
    peer_connect(r);
    bring_up(r);
}

static Rig rig_start(const char *accel, unsigned port)
{
    Rig r = rig_start_cold("q35", accel, port, "");

    rig_run(&r);
    return r;
}

static void rig_stop(Rig *r)
{
    exanet_stop(r->t);
    for (unsigned i = 0; i < 2 && r->path[i]; i++) {
        unlink(r->path[i]);
        g_free(r->path[i]);
    }
}

/* Returns true if the device rnic-cable "wire" is connected. */
static bool cable_is_connected(ExanetTest *t)
{
    return machine_cable_get(t->qts, "wire", "connected");
}

/* --- What the processor and the peer do ---------------------------------------- */

static uint32_t stamp(uint32_t i)
{
    return 0x5eed0000 + i;
}

static uint32_t slot(uint32_t i)
{
    return DST + i % BLOCKS * SLOT;
}

/*
 * Lets the processor poll until block @last has arrived: by its own stores to POLL of
 * context @c, or by messages of @source.
 */
static void poll_go(Rig *r, unsigned c, uint32_t last)
{
    VcpuCode code = { .len = 0 };

    /* again: POLL = 7; if (word of the slot != stamp of @last) jmp again */
    if (r->source) {
        msi_source_emit(&code, r->source);
    } else {
        vcpu_emit(&code, "\xc7\x05", 2, poll_register(r->t, c));
        vcpu_emit(&code, "", 0, 7);
    }
    vcpu_emit(&code, "\x81\x3d", 2, slot(last));
    vcpu_emit(&code, "", 0, stamp(last));
    vcpu_emit(&code, "\x0f\x85", 2, -(code.len + 6));
    vcpu_go(r->t->qts, &code);
}

static void peer_send(Rig *r, uint32_t i)
{
    uint8_t data[SLOT];

    memset(data, i, sizeof(data));
    stl_le_p(data, stamp(i));
    exanet_peer_send_block(r->t->peer, &(ExanetBlock) {
        .va = slot(i), .data = data, .len = sizeof(data),
        .tid = i % EXANET_TIDS, .pdid = EXANET_TEST_PDID(0),
    });
}

static void assert_received(Rig *r, uint32_t i)
{
    uint8_t want[SLOT];

    memset(want, i, sizeof(want));
    stl_le_p(want, stamp(i));
    exanet_assert_mem(r->t, slot(i), want, sizeof(want));
}

/*
 * Sends BLOCKS blocks while the processor polls; asserts their data, and an ack for
 * each.
 */
static void round_of(Rig *r)
{
    uint32_t first = r->sent, last = first + BLOCKS - 1;

    poll_go(r, 0, last);
    for (uint32_t i = first; i <= last; i++) {
        peer_send(r, i);
        g_usleep(100);              /* the processor polls without a frame for a while */
    }
    exanet_wait(r->t, vcpu_is_done(r->t->qts));
    for (uint32_t i = first; i <= last; i++) {
        assert_received(r, i);
        g_assert_cmpuint(exanet_peer_take_resp(r->t->peer, i % EXANET_TIDS, 0),
                         ==, EXANET_RESP_ACK);
    }
    r->sent += BLOCKS;
}

/*
 * Sends a block while no processor polls, asserts its data and an ack, and that no poll
 * has taken the block.
 */
static void assert_main_loop(Rig *r)
{
    uint64_t polls = exanet_count(r->t, POLL), polled = exanet_count(r->t, RX_POLLED);
    uint32_t i = r->sent++;

    peer_send(r, i);
    g_assert_cmpuint(exanet_peer_take_resp(r->t->peer, i % EXANET_TIDS, 0), ==,
                     EXANET_RESP_ACK);
    assert_received(r, i);
    g_assert_cmpuint(exanet_count(r->t, POLL), ==, polls);
    g_assert_cmpuint(exanet_count(r->t, RX_POLLED), ==, polled);
}

/* Ends the processor's loop: writes block @last to memory itself. */
static void poll_end(Rig *r, uint32_t last)
{
    qtest_writel(r->t->qts, slot(last), stamp(last));
    exanet_wait(r->t, vcpu_is_done(r->t->qts));
}

/* --- Tests ---------------------------------------------------------------------- */

/*
 * Runs rounds until the processor has taken a frame; the main loop may take frames,
 * too.
 */
static void check_frames(const char *accel, unsigned port)
{
    Rig r = rig_start(accel, port);

    g_assert_true(exanet_get32(r.t, EXANET_REG_CAP1) & EXANET_CAP1_POLL);
    exanet_wait(r.t, (round_of(&r), exanet_count(r.t, RX_POLLED) > 0));
    g_assert_cmpuint(exanet_count(r.t, POLL), >, 0);
    rig_stop(&r);
}

static void test_frames(void)
{
    check_frames("tcg", 0);
}

/* A poll looks at all ports of a router. */
static void test_second_port(void)
{
    check_frames("tcg", 1);
}

/* All processors of the machine share one thread of QEMU. */
static void test_frames_single(void)
{
    check_frames("tcg,thread=single", 0);
}

/*
 * A message of another device to POLL takes no frames, although it looks like a store
 * of a CPU, because the other device relies on the big lock during its work.
 */
static void test_message(void)
{
    Rig r = rig_start_cold("q35", "tcg", 0, MSI_SOURCE_OPTIONS);
    MsiSource source = msi_source_start(r.t->bus);

    rig_run(&r);
    msi_source_aim(&source, poll_register(r.t, 0), 0);
    r.source = &source;
    for (unsigned i = 0; i < 4; i++) {
        round_of(&r);
    }
    g_assert_cmpuint(exanet_count(r.t, POLL), ==, 0);
    g_assert_cmpuint(exanet_count(r.t, RX_POLLED), ==, 0);
    rig_stop(&r);
}

/* A store by qtest, or to the page of a context that is not open, does not poll. */
static void test_ignored(void)
{
    Rig r = rig_start("tcg", 0);
    uint64_t page = exanet_user(r.t, 0, EXANET_PAGE_MAILBOX);

    qtest_writel(r.t->qts, r.t->user.addr + page + EXANET_MAILBOX_POLL, 1);
    g_assert_cmpuint(exanet_count(r.t, POLL), ==, 0);
    g_assert_cmphex(exanet_user_get(r.t, 0, EXANET_PAGE_MAILBOX,
                                    EXANET_MAILBOX_POLL), ==, 0);
    poll_go(&r, 5, 0);              /* context 5 is not open */
    peer_send(&r, 0);
    exanet_wait(r.t, vcpu_is_done(r.t->qts));
    g_assert_cmpuint(exanet_count(r.t, POLL), ==, 0);
    rig_stop(&r);
}

/* The main loop takes frames again when no processor polls any more. */
static void test_main_loop(void)
{
    Rig r = rig_start("tcg", 0);

    assert_main_loop(&r);
    exanet_wait(r.t, (round_of(&r), exanet_count(r.t, RX_POLLED) > 0));
    for (unsigned i = 0; i < 3; i++) {
        assert_main_loop(&r);
    }
    round_of(&r);
    assert_main_loop(&r);
    rig_stop(&r);
}

/* Emits a store of @value to offset @offset of the mailbox page of context 0. */
static void emit_store(VcpuCode *code, Rig *r, unsigned offset, uint32_t value)
{
    uint64_t page = exanet_user(r->t, 0, EXANET_PAGE_MAILBOX);

    vcpu_emit(code, "\xc7\x05", 2, r->t->user.addr + page + offset);
    vcpu_emit(code, "", 0, value);
}

/*
 * A process enables the interrupt of its mailbox between two polls, which follow each
 * other closely: the main loop takes frames meanwhile.
 */
static void test_interrupt(void)
{
    const unsigned ctrl = offsetof(struct exanet_mailbox, ctrl);
    const uint32_t enable = EXANET_MAILBOX_ENABLE | RNIC_PREP(EXANET_MAILBOX_LOG2, 4);
    VcpuCode code = { .len = 0 };
    Rig r = rig_start("tcg", 0);
    uint32_t last = BLOCKS - 1, taken = 0;

    exanet_mailbox_open(r.t, 0, 0, EXANET_RAM_RING, 4, 0);
    /*
     * again: POLL = 7; CTRL with IRQ; ecx = 10000; loop: dec ecx; jnz loop; CTRL without;
     * if (word of the slot != stamp) jmp again
     */
    emit_store(&code, &r, EXANET_MAILBOX_POLL, 7);
    emit_store(&code, &r, ctrl, enable | EXANET_MAILBOX_IRQ);
    vcpu_emit(&code, "\xb9", 1, 10000);
    vcpu_emit(&code, "\x49\x0f\x85", 3, -7);
    emit_store(&code, &r, ctrl, enable);
    vcpu_emit(&code, "\x81\x3d", 2, slot(last));
    vcpu_emit(&code, "", 0, stamp(last));
    vcpu_emit(&code, "\x0f\x85", 2, -(code.len + 6));
    vcpu_go(r.t->qts, &code);
    exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
    /* until the main loop has taken a block */
    for (uint32_t i = 0; taken <= exanet_count(r.t, RX_POLLED); i++) {
        peer_send(&r, i % last);
        g_assert_cmpuint(exanet_peer_take_resp(r.t->peer, i % last % EXANET_TIDS, 0),
                         ==, EXANET_RESP_ACK);
        taken++;
        g_assert_cmpuint(taken, <, 100000);
    }
    g_assert_false(vcpu_is_done(r.t->qts));
    poll_end(&r, last);
    rig_stop(&r);
}

/*
 * A processor that polls a device which the kernel has disabled leaves the frames to the
 * main loop, which drops them and finds the end of the connection.
 */
static void test_disabled(void)
{
    Rig r = rig_start("tcg", 0);

    poll_go(&r, 0, BLOCKS - 1);
    exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
    exanet_set32(r.t, EXANET_REG_CTRL, 0);
    wire_peer_fini(&r.t->peer->wire);
    wire_peer_init_closed(&r.t->peer->wire);
    qtest_qmp_eventwait(r.t->qts, "NETDEV_STREAM_DISCONNECTED");
    g_assert_false(vcpu_is_done(r.t->qts));
    poll_end(&r, BLOCKS - 1);
    rig_stop(&r);
}

/* The peer leaves while the processor polls, and another one comes later. */
static void test_leave(void)
{
    Rig r = rig_start("tcg", 0);
    uint64_t polls;

    poll_go(&r, 0, 0);
    exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
    wire_peer_fini(&r.t->peer->wire);
    wire_peer_init_closed(&r.t->peer->wire);
    qtest_qmp_eventwait(r.t->qts, "NETDEV_STREAM_DISCONNECTED");
    polls = exanet_count(r.t, POLL);
    wait_until(exanet_count(r.t, POLL) > polls, wait_pause());
    g_assert_false(vcpu_is_done(r.t->qts));
    peer_connect(&r);
    r.t->peer->rx_gap = true;       /* HELLOs were lost with the old connection */
    peer_send(&r, 0);
    exanet_wait(r.t, vcpu_is_done(r.t->qts));
    assert_received(&r, 0);
    rig_stop(&r);
}

/*
 * A poll leaves the end of a connection to the main loop, which accepts the next
 * connection.
 */
static void test_cut(void)
{
    Rig r = rig_start("tcg", 0);

    poll_go(&r, 0, 0);
    exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
    peer_connect(&r);
    r.t->peer->rx_gap = true;       /* a HELLO may be lost with the old connection */
    g_assert_false(vcpu_is_done(r.t->qts));
    peer_send(&r, 0);
    exanet_wait(r.t, vcpu_is_done(r.t->qts));
    assert_received(&r, 0);
    rig_stop(&r);
}

/* The device is reset and enabled again while the processor polls. */
static void test_reset(void)
{
    Rig r = rig_start("tcg", 0);

    poll_go(&r, 0, BLOCKS - 1);
    exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
    exanet_set32(r.t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    exanet_settle(r.t);
    g_assert_cmpuint(exanet_count(r.t, POLL), ==, 0);
    g_assert_false(vcpu_is_done(r.t->qts));
    poll_end(&r, BLOCKS - 1);
    rig_stop(&r);
}

/*
 * Unplugs the device while the processor polls: further stores have no effect.  Returns
 * after the end of the processor's loop.
 */
static void unplug(Rig *r)
{
    poll_go(r, 0, BLOCKS - 1);
    exanet_wait(r->t, exanet_count(r->t, POLL) > 0);
    qtest_qmp_device_del_send(r->t->qts, "nic");
    qtest_outl(r->t->qts, ACPI_EJECT, 1u << PCI_SLOT_NIC);
    g_assert_false(vcpu_is_done(r->t->qts));
    qtest_writel(r->t->qts, slot(BLOCKS - 1), stamp(BLOCKS - 1));
    vcpu_wait(r->t->qts);
    /*
     * the device is freed only now, because the processor's loop is one RCU read
     * section
     */
    qtest_qmp_eventwait(r->t->qts, "DEVICE_DELETED");
}

static void test_unplug(void)
{
    Rig r = rig_start_cold("pc", "tcg", 0, "");

    rig_run(&r);
    unplug(&r);
    rig_stop(&r);
}

/* Adds a NIC to the netdev of the NIC that was unplugged, and maps its registers. */
static void replug(Rig *r)
{
    qtest_qmp_assert_success(r->t->qts, "{ 'execute': 'stop' }");   /* see vcpu.h */
    qtest_qmp_device_add(r->t->qts, "exanet-pci", "nic",
                         "{ 'link0': 'p0', 'coord': %u, 'epoch': %u,"
                         "  'addr': '" stringify(PCI_SLOT_NIC) "',"
                         "  'link-timeout-ms': 0 }", EXANET_TEST_NODE,
                         EXANET_TEST_EPOCH + 1);
    g_free(r->t->dev);
    r->t->dev = qpci_device_find(r->t->bus, QPCI_DEVFN(PCI_SLOT_NIC, 0));
    g_assert_nonnull(r->t->dev);
    qpci_device_enable(r->t->dev);
    r->t->regs = qpci_iomap(r->t->dev, EXANET_BAR_REGS, NULL);
    r->t->user = qpci_iomap(r->t->dev, EXANET_BAR_USER, NULL);
    qtest_qmp_assert_success(r->t->qts, "{ 'execute': 'cont' }");
}

/*
 * The device is unplugged while the processor polls.  A new device on the same netdev
 * gets frames from the main loop, and from polls.
 */
static void test_replug(void)
{
    Rig r = rig_start_cold("pc", "tcg", 0, "");

    rig_run(&r);
    unplug(&r);
    replug(&r);
    r.t->peer->rx_gap = true;
    r.t->peer->heard = false;
    bring_up(&r);
    assert_main_loop(&r);
    exanet_wait(r.t, (round_of(&r), exanet_count(r.t, RX_POLLED) > 0));
    assert_main_loop(&r);
    rig_stop(&r);
}

/*
 * The netdev is removed while the processor polls.  The end of the series of polls does
 * not use the socket, which is closed.
 */
static void test_netdev_del(void)
{
    Rig r = rig_start("tcg", 0);

    poll_go(&r, 0, 0);
    exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
    qtest_qmp_assert_success(r.t->qts, "{ 'execute': 'netdev_del',"
                             " 'arguments': { 'id': 'p0' } }");
    /* without a poll the series ends within 500 us of real time */
    qtest_qmp_assert_success(r.t->qts, "{ 'execute': 'stop' }");
    g_usleep(20000);
    g_assert_false(is_up(&r));
    rig_stop(&r);
}

/*
 * QEMU ends while the processor polls.  QEMU closes its sockets before the series of
 * polls ends.
 */
static void test_quit(void)
{
    /* several times, because QEMU may also end after the series */
    for (unsigned i = 0; i < 4; i++) {
        Rig r = rig_start("tcg", 0);

        poll_go(&r, 0, 0);
        exanet_wait(r.t, exanet_count(r.t, POLL) > 0);
        rig_stop(&r);
    }
}

/*
 * On a hub with another NIC a poll takes no frames: the main loop brings each frame to
 * both NICs.
 */
static void test_hub(void)
{
    ExanetPeer *peer = exanet_peer_new(EXANET_TEST_PEER, false);
    g_autofree char *netdev = exanet_peer_netdev(peer);
    g_autofree char *netdevs = g_strdup_printf(
        "-netdev %s,id=wire -netdev hubport,id=h0,hubid=0,netdev=wire "
        "-netdev hubport,id=h1,hubid=0 -netdev hubport,id=h2,hubid=0 "
        "-device vmxnet3,netdev=h2", netdev);
    g_autofree char *props = g_strdup_printf(",link0=h1 -accel tcg -bios %s -S",
                                             bios_path);
    Rig r = { .t = exanet_start_node(netdevs, EXANET_TEST_NODE, props) };

    r.t->peer = peer;
    exanet_peer_started(peer);
    qtest_qmp_assert_success(r.t->qts, "{ 'execute': 'cont' }");
    bring_up(&r);
    round_of(&r);
    g_assert_cmpuint(exanet_count(r.t, POLL), >, 0);
    g_assert_cmpuint(exanet_count(r.t, RX_POLLED), ==, 0);
    exanet_stop(r.t);
}

/*
 * Starts a node whose port has a device rnic-cable.  Stores in *@far a second QEMU, which
 * has the other end, and forwards frames between the cable and the peer.
 */
static Rig rig_start_cable(const char *machine, QTestState **far)
{
    ExanetPeer *peer = exanet_peer_new(EXANET_TEST_PEER, false);
    g_autofree char *netdev = exanet_peer_netdev(peer);
    g_autofree char *path = g_strdup_printf("%s.cable", bios_path);
    g_autofree char *cable = g_strdup_printf("-device rnic-cable,id=wire,path=%s", path);
    g_autofree char *props = g_strdup_printf(",link0=wire,addr=%u -machine %s "
                                             "-accel tcg -bios %s -S", PCI_SLOT_NIC,
                                             machine, bios_path);
    Rig r = { .path = { g_steal_pointer(&path) } };

    *far = qtest_initf("-machine none -nodefaults -netdev %s,id=outer -device rnic-cable,"
                       "id=cable,path=%s,server=on,netdev=outer", netdev, r.path[0]);
    exanet_peer_started(peer);
    r.t = exanet_start_node(cable, EXANET_TEST_NODE, props);
    r.t->peer = peer;
    qtest_qmp_assert_success(r.t->qts, "{ 'execute': 'cont' }");
    exanet_wait(r.t, cable_is_connected(r.t));
    bring_up(&r);
    return r;
}

static void test_cable(void)
{
    QTestState *far;
    Rig r = rig_start_cable("q35", &far);

    exanet_wait(r.t, (round_of(&r), exanet_count(r.t, RX_POLLED) > 0));
    rig_stop(&r);
    qtest_quit(far);
}

/* The other end of a cable ends while the processor polls. */
static void test_cable_gone(void)
{
    QTestState *far;
    Rig r = rig_start_cable("q35", &far);
    uint64_t polls;

    round_of(&r);
    poll_go(&r, 0, BLOCKS);
    qtest_quit(far);
    exanet_wait(r.t, !cable_is_connected(r.t));
    polls = exanet_count(r.t, POLL);
    exanet_wait(r.t, exanet_count(r.t, POLL) > polls);
    g_assert_false(vcpu_is_done(r.t->qts));
    poll_end(&r, BLOCKS);
    rig_stop(&r);
}

/*
 * The device at a cable is unplugged while the processor polls.  No device ends this
 * poll, so the cable does: the main loop takes the next frames, and QEMU drops them.
 */
static void test_cable_unplug(void)
{
    QTestState *far;
    Rig r = rig_start_cable("pc", &far);
    uint64_t received;

    unplug(&r);
    received = machine_cable_get(r.t->qts, "wire", "received");
    for (unsigned i = 0; i < 3; i++) {
        exanet_peer_hello(r.t->peer, false);
    }
    wait_until(machine_cable_get(r.t->qts, "wire", "received") >= received + 3,
               wait_pause());
    g_assert_true(cable_is_connected(r.t));
    rig_stop(&r);
    qtest_quit(far);
}

int main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    bios_path = vcpu_bios_new();
    qtest_add_func("/exanet/poll/frames", test_frames);
    qtest_add_func("/exanet/poll/second-port", test_second_port);
    qtest_add_func("/exanet/poll/frames-single", test_frames_single);
    qtest_add_func("/exanet/poll/message", test_message);
    qtest_add_func("/exanet/poll/ignored", test_ignored);
    qtest_add_func("/exanet/poll/main-loop", test_main_loop);
    qtest_add_func("/exanet/poll/interrupt", test_interrupt);
    qtest_add_func("/exanet/poll/disabled", test_disabled);
    qtest_add_func("/exanet/poll/leave", test_leave);
    qtest_add_func("/exanet/poll/cut", test_cut);
    qtest_add_func("/exanet/poll/reset", test_reset);
    qtest_add_func("/exanet/poll/unplug", test_unplug);
    qtest_add_func("/exanet/poll/replug", test_replug);
    qtest_add_func("/exanet/poll/netdev-del", test_netdev_del);
    qtest_add_func("/exanet/poll/quit", test_quit);
    qtest_add_func("/exanet/poll/hub", test_hub);
    qtest_add_func("/exanet/poll/cable", test_cable);
    qtest_add_func("/exanet/poll/cable-gone", test_cable_gone);
    qtest_add_func("/exanet/poll/cable-unplug", test_cable_unplug);
    status = g_test_run();
    vcpu_bios_remove(bios_path);
    return status;
}
