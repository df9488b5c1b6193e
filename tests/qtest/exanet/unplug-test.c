/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest switches the power of the device's slot off by a message or frame of the
 * device itself, with another NIC on the same cable: the device is removed in the
 * middle of its work, and QEMU continues.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "libqos/pci-pc.h"
#include "device.h"
#include "../common/machine.h"

#define ECAM 0xb0000000ULL
#define MCH_PCIEXBAR 0x60 /* register of q35: address of configuration space */
#define PORT QPCI_DEVFN(7, 0)
#define PORT_BASE 0xe0000000ULL
#define PORT_LIMIT 0xe1000000ULL
#define OFF (PCI_EXP_SLTCTL_PWR_OFF | PCI_EXP_SLTCTL_PWR_IND_OFF)

/* registers of e1000 */
#define NIC QPCI_DEVFN(6, 0)
#define NIC_RCTL    0x100
#define NIC_RDBAL   0x2800
#define NIC_RDLEN   0x2808
#define NIC_RDH     0x2810
#define NIC_RDT     0x2818
#define NIC_EN_ALL  0x1a                /* receiver on, accepts all frames */
#define NIC_DESCS   64
#define NIC_FRAME_WORDS (4 * EXANET_PACKET_WORDS)   /* e1000 drops longer frames */
#define NIC_BUFFER  0x00e10000ULL
#define NIC_RINGS   0x00e00000ULL
/*
 * A peer has these coordinates, because the last bytes of its MAC address, written to
 * SLTCTL, have the value OFF.
 */
#define FATAL_PEER  (EXANET_TEST_PEER | 7)
#define FATAL_AT    4
/*
 * Offset of the EtherType in a frame; its value resets a function if it is written to
 * DEVCTL.
 */
#define RESET_AT    12

#define DST EXANET_RAM_DST
#define VECTOR(c) EXANET_VEC_CONTEXT(c)

/* --- Machine ----------------------------------------------------------------- */

/* Sets the port up as firmware does: bus 1 is behind the port, up to PORT_LIMIT. */
static void port_open(ExanetTest *t)
{
    QPCIDevice *port = qpci_device_find(t->bus, PORT);

    qpci_config_writeb(port, PCI_SECONDARY_BUS, 1);
    qpci_config_writeb(port, PCI_SUBORDINATE_BUS, 1);
    qpci_config_writew(port, PCI_MEMORY_BASE, PORT_BASE >> 16);
    qpci_config_writew(port, PCI_MEMORY_LIMIT, (PORT_LIMIT - 1) >> 16);
    qpci_device_enable(port);
    g_free(port);
}

static void map_device(ExanetTest *t)
{
    uint64_t size;

    t->bus = qpci_new_pc(t->qts, NULL);
    t->bus->mmio_alloc_ptr = PORT_BASE;
    port_open(t);
    t->dev = qpci_device_find(t->bus, 1 << 8);
    g_assert_nonnull(t->dev);
    qpci_device_enable(t->dev);
    t->regs = qpci_iomap(t->dev, EXANET_BAR_REGS, &size);
    t->user = qpci_iomap(t->dev, EXANET_BAR_USER, &size);
    t->page_bytes = 4096;
    exanet_msix_enable(t);
    /* BARs of other devices must be outside of the port's addresses */
    t->bus->mmio_alloc_ptr = PORT_LIMIT;
}

/*
 * Starts a machine with the device in a slot with power control, with its peer and
 * e1000 on a hub.  The link is up, and contexts 0 and 1 are open.
 */
static ExanetTest *start(void)
{
    ExanetTest *t = g_new0(ExanetTest, 1);
    g_autofree char *wire = NULL;

    /* freed memory gets other bytes, so that its use fails without a sanitizer, too */
    g_setenv("MALLOC_PERTURB_", "165", true);
    t->peer = exanet_peer_new(FATAL_PEER, false);
    t->peer->max_words = NIC_FRAME_WORDS;
    t->log = machine_log_new();
    wire = exanet_peer_netdev(t->peer);
    t->qts = qtest_initf("-machine q35 -vga none -m 128 -nodefaults "
        "-d guest_errors -D %s "
        "-global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off "
        "-netdev %s,id=outer -netdev hubport,hubid=0,id=port0,netdev=outer "
        "-netdev hubport,hubid=0,id=port1 -netdev hubport,hubid=0,id=port2 "
        "-device pcie-root-port,id=root,chassis=1,addr=7 "
        "-device e1000,netdev=port2,addr=6 "
        "-device exanet-pci,id=nic,bus=root,addr=0,coord=0x%x,epoch=%u,"
        "link-timeout-ms=0,link0=port1,aperture-size=1M,bram-size=64K",
        t->log, wire, EXANET_TEST_NODE, EXANET_TEST_EPOCH);
    exanet_peer_started(t->peer);
    map_device(t);
    exanet_bring_up(t);
    for (unsigned c = 0; c < 2; c++) {
        exanet_open(t, c, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    return t;
}

/* Returns the address where a write of OFF switches the power off. */
static uint64_t power_at(ExanetTest *t)
{
    QPCIDevice *host = qpci_device_find(t->bus, QPCI_DEVFN(0, 0));
    QPCIDevice *port = qpci_device_find(t->bus, PORT);
    uint8_t cap = qpci_find_capability(port, PCI_CAP_ID_EXP, 0);

    qpci_config_writel(host, MCH_PCIEXBAR + 4, ECAM >> 32);
    qpci_config_writel(host, MCH_PCIEXBAR, ECAM | 1);
    qpci_config_writew(port, cap + PCI_EXP_SLTCTL, PCI_EXP_SLTCTL_PWR_IND_ON);
    g_free(host);
    g_free(port);
    return ECAM + (PORT << 12) + cap + PCI_EXP_SLTCTL;
}

/* Returns the address where a write of an EtherType resets the device. */
static uint64_t reset_at(ExanetTest *t)
{
    return ECAM + (1 << 20) + PCI_EXP_DEVCTL +
           qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);
}

/* Makes e1000 store each frame that it receives from now on at @target. */
static void nic_aim(ExanetTest *t, uint64_t target)
{
    for (unsigned i = 0; i < NIC_DESCS; i++) {
        qtest_writeq(t->qts, NIC_RINGS + 16 * i, target);
    }
}

/* Makes e1000, whose BAR is @bar, store the next frame at @target. */
static void nic_aim_next(ExanetTest *t, QPCIDevice *nic, QPCIBar bar,
                         uint64_t target)
{
    qtest_writeq(t->qts, NIC_RINGS + 16 * qpci_io_readl(nic, bar, NIC_RDH),
                 target);
}

/* Returns the BAR of e1000, whose device is @nic. */
static QPCIBar nic_open(ExanetTest *t, QPCIDevice *nic)
{
    uint64_t size;
    QPCIBar bar;

    nic_aim(t, NIC_BUFFER);
    qpci_device_enable(nic);
    bar = qpci_iomap(nic, 0, &size);
    qpci_io_writel(nic, bar, NIC_RDBAL, NIC_RINGS);
    qpci_io_writel(nic, bar, NIC_RDLEN, NIC_DESCS * 16);
    qpci_io_writel(nic, bar, NIC_RDT, NIC_DESCS - 1);
    qpci_io_writel(nic, bar, NIC_RCTL, NIC_EN_ALL);
    exanet_step(t, 2000 * EXANET_MS);       /* e1000's link comes up after a while */
    return bar;
}

static void nic_start(ExanetTest *t)
{
    QPCIDevice *nic = qpci_device_find(t->bus, NIC);

    nic_open(t, nic);
    g_free(nic);
}

static bool is_gone(ExanetTest *t)
{
    g_autofree char *tree = qtest_hmp(t->qts, "info qtree");

    return !strstr(tree, "dev: exanet");
}

/* Checks that the device is removed, and that the rest of the machine works. */
static void assert_gone(ExanetTest *t)
{
    exanet_wait(t, is_gone(t));
    for (unsigned i = 0; i < 10; i++) {
        exanet_peer_hello(t->peer, true);
        qtest_clock_step(t->qts, 1000 * EXANET_MS);
        exanet_pump(t);
    }
    g_queue_clear_full(&t->peer->packets, g_free);
    exanet_stop(t);
}

/* --- Interrupts --------------------------------------------------------------- */

static void irq_start(ExanetTest *t)
{
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    for (unsigned c = 0; c < 2; c++) {
        exanet_mailbox_open(t, c, 0, EXANET_RAM_RING + 0x10000 * c, 4,
                            EXANET_MAILBOX_IRQ);
    }
}

/* Sends one frame with one message for each of the first @contexts mailboxes. */
static void send_messages(ExanetTest *t, unsigned contexts)
{
    static const uint8_t payload[16] = { 1 };
    uint8_t buf[2 * EXANET_PACKET_BYTES];
    unsigned words = 0;

    for (unsigned c = 0; c < contexts; c++) {
        ExanetPacket m = {
            .type = EXANET_TYPE_WRITE, .va = EXANET_NI_VA(EXANET_NI_MAILBOX),
            .size = sizeof(payload), .payload = payload,
            .dst = EXANET_TEST_NODE, .src = t->peer->coord,
            .epoch = t->peer->epoch, .pdid = EXANET_TEST_PDID(c),
            .user = EXANET_SMALL(EXANET_NI_PACKETIZER), .tid = 0x101 + c,
            .first = true, .last = true, .ttl = EXANET_TTL_MAX,
        };

        words += exanet_peer_encode(buf + words * EXANET_WORD_BYTES, &m);
    }
    exanet_peer_words(t->peer, buf, words);
}

/*
 * A received message raises the interrupt while the device handles the frame from its
 * netdev.
 */
static void test_message(void)
{
    ExanetTest *t = start();

    irq_start(t);
    machine_msix_aim(t->dev, VECTOR(0), power_at(t), OFF);
    send_messages(t, 1);
    assert_gone(t);
}

/* The first message switches the power off, and a second one is pending. */
static void test_two_messages(void)
{
    ExanetTest *t = start();
    uint64_t power = power_at(t);

    irq_start(t);
    for (unsigned c = 0; c < 2; c++) {
        machine_msix_aim(t->dev, VECTOR(c), power, OFF);
    }
    send_messages(t, 2);
    assert_gone(t);
}

/* The registers are unmapped, so no access to them holds a reference to the device. */
static void test_not_mapped(void)
{
    ExanetTest *t = start();
    uint64_t power = power_at(t);

    irq_start(t);
    for (unsigned c = 0; c < 2; c++) {
        machine_msix_aim(t->dev, VECTOR(c), power, OFF);
    }
    qpci_config_writew(t->dev, PCI_COMMAND, PCI_COMMAND_MASTER);
    send_messages(t, 2);
    assert_gone(t);
}

/* The node sends a message to itself during a register write of the guest. */
static void test_doorbell(void)
{
    ExanetTest *t = start();

    irq_start(t);
    machine_msix_aim(t->dev, VECTOR(0), power_at(t), OFF);
    exanet_pktz_start(t, 0, 0, exanet_gva(EXANET_TEST_NODE,
                                          EXANET_NI_VA(EXANET_NI_MAILBOX)),
                      "x", 1, EXANET_PKTZ_ACK);
    assert_gone(t);
}

/* A pending interrupt is sent when a register write unmasks it. */
static void test_register(void)
{
    ExanetTest *t = start();

    irq_start(t);
    machine_msix_aim(t->dev, VECTOR(0), power_at(t), OFF);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
    send_messages(t, 1);
    exanet_wait(t, exanet_get32(t, EXANET_REG_MBOX_PENDING));
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    assert_gone(t);
}

/* --- Frames ------------------------------------------------------------------- */

/* Starts a machine where the next frame of the device switches the slot's power off. */
static ExanetTest *start_fatal(void)
{
    ExanetTest *t = start();

    nic_start(t);
    /* only two bytes of a frame have an effect there */
    nic_aim(t, power_at(t) - FATAL_AT);
    return t;
}

/* The device sends the ack of a block while it has more blocks to handle. */
static void test_ack(void)
{
    static const uint8_t data[600] = { 1, 2, 3 };
    ExanetTest *t = start_fatal();

    for (unsigned i = 0; i < 4; i++) {
        ExanetBlock b = {
            .va = DST, .data = data, .len = sizeof(data), .tid = i,
            .pdid = EXANET_TEST_PDID(0),
        };

        exanet_peer_send_block(t->peer, &b);
    }
    assert_gone(t);
}

/* The device answers HELLO. */
static void test_hello(void)
{
    ExanetTest *t = start_fatal();

    t->peer->epoch++;
    exanet_peer_hello(t->peer, false);
    assert_gone(t);
}

/* The timer sends HELLO. */
static void test_hello_tick(void)
{
    ExanetTest *t = start_fatal();

    qtest_clock_step(t->qts, 2000 * EXANET_MS);
    assert_gone(t);
}

/*
 * The register write that starts the transfer sends frames, and so does the bottom
 * half.
 */
static void test_transfer(void)
{
    ExanetTest *t = start_fatal();
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(FATAL_PEER, 0), .len = 1 << 20,
    };

    exanet_channel_start(t, 0, 0, &x);
    assert_gone(t);
}

/*
 * The first frame of a transfer resets the function, the next one switches the power
 * off.
 */
static void test_reset_then_end(void)
{
    ExanetTest *t = start();
    QPCIDevice *nic = qpci_device_find(t->bus, NIC);
    QPCIBar bar = nic_open(t, nic);
    uint64_t power = power_at(t);
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(FATAL_PEER, 0), .len = 1 << 20,
    };

    nic_aim(t, power - FATAL_AT);
    nic_aim_next(t, nic, bar, reset_at(t) - RESET_AT);
    exanet_channel_start(t, 0, 0, &x);
    g_free(nic);
    assert_gone(t);
}

/* Data waits for the rate of the cable, and the timer sends it. */
static void test_rate(void)
{
    ExanetTest *t = start();
    ExanetTransfer x = {
        .src = EXANET_RAM_SRC, .dst = exanet_gva(FATAL_PEER, 0), .len = 1 << 20,
    };

    nic_start(t);
    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_RATE, 100000);
    exanet_channel_start(t, 0, 0, &x);
    exanet_settle(t);
    nic_aim(t, power_at(t) - FATAL_AT);
    qtest_clock_step(t->qts, 10 * EXANET_MS);
    assert_gone(t);
}

/* The driver disables the port, and the device sends DOWN. */
static void test_down(void)
{
    ExanetTest *t = start_fatal();

    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_CTRL, 0);
    assert_gone(t);
}

/* A fault plan, set by QMP, takes the port down, and the device sends DOWN. */
static void test_fault_plan(void)
{
    ExanetTest *t = start_fatal();

    qtest_qmp_send(t->qts, "{ 'execute': 'qom-set', 'arguments': {"
                   "'path': '/machine/peripheral/nic', 'property': 'faults0',"
                   "'value': 'down' } }");
    qobject_unref(qtest_qmp_receive(t->qts));
    assert_gone(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/device/unplug-message", test_message);
    qtest_add_func("/exanet/device/unplug-two-messages", test_two_messages);
    qtest_add_func("/exanet/device/unplug-not-mapped", test_not_mapped);
    qtest_add_func("/exanet/device/unplug-doorbell", test_doorbell);
    qtest_add_func("/exanet/device/unplug-register", test_register);
    qtest_add_func("/exanet/device/unplug-ack", test_ack);
    qtest_add_func("/exanet/device/unplug-hello", test_hello);
    qtest_add_func("/exanet/device/unplug-hello-tick", test_hello_tick);
    qtest_add_func("/exanet/device/unplug-transfer", test_transfer);
    qtest_add_func("/exanet/device/unplug-reset-then-end", test_reset_then_end);
    qtest_add_func("/exanet/device/unplug-rate", test_rate);
    qtest_add_func("/exanet/device/unplug-down", test_down);
    qtest_add_func("/exanet/device/unplug-fault-plan", test_fault_plan);
    return g_test_run();
}
