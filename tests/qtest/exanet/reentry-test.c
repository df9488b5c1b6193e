/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events while the device is at work: interrupt messages to the device itself, calls
 * back from a netdev, stop of the machine, unplug.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/pci/pci_regs.h"
#include "../common/machine.h"
#include "device.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define NOTE EXANET_RAM_NOTE
#define VECTOR EXANET_VEC_CONTEXT(0)

/* --- Interrupts aimed at the device ----------------------------------------- */

static void irq_enable(ExanetTest *t)
{
    exanet_msix_enable(t);
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_MAILBOX);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
}

/*
 * Starts a transfer of the node to itself, whose notification interrupts while the
 * device is at work.
 */
static void notify_self(ExanetTest *t)
{
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_NODE, DST), .len = 100,
        .ctrl = EXANET_CHANNEL_NOTIFY | EXANET_CHANNEL_IRQ,
        .notify_gva = exanet_gva(EXANET_TEST_NODE, NOTE),
    };

    exanet_channel_start(t, 0, 0, &x);
}

static void test_irq_to_registers(void)
{
    ExanetTest *t = exanet_start("");

    irq_enable(t);
    exanet_set64(t, EXANET_REG_SCRATCH, 0x1234);
    machine_msix_aim(t->dev, VECTOR, t->regs.addr + EXANET_REG_CTRL,
                     EXANET_CTRL_RESET);
    notify_self(t);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    /* QEMU refuses accesses of a device to its own registers */
    g_assert_cmphex(exanet_get64(t, EXANET_REG_SCRATCH), ==, 0x1234);
    exanet_stop(t);
}

static void test_irq_to_doorbell(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t at = EXANET_CHANNEL_BYTES + EXANET_CHANNEL_DOORBELL;

    irq_enable(t);
    machine_msix_aim(t->dev, VECTOR, t->user.addr +
                     exanet_user(t, 1, EXANET_PAGE_SCRATCHPAD) + at, 7);
    notify_self(t);
    exanet_channel_wait(t, 0, 0, EXANET_CHANNEL_DONE);
    g_assert_cmphex(exanet_user_get(t, 1, EXANET_PAGE_SCRATCHPAD, at), ==, 0);
    t->guest_errors = true;
    exanet_stop(t);
}

/*
 * A message to the configuration space, which QEMU does not refuse, resets the device:
 * the device must survive.
 */
static void test_irq_to_flr(void)
{
    const uint64_t ecam = 0xb0000000;
    ExanetTest *t = exanet_start("");
    QPCIDevice *host = qpci_device_find(t->bus, QPCI_DEVFN(0, 0));
    uint8_t cap = qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);

    qpci_config_writel(host, 0x64, ecam >> 32);
    qpci_config_writel(host, 0x60, ecam | 1);
    irq_enable(t);
    machine_msix_aim(t->dev, VECTOR,
                     ecam + (t->dev->devfn << 12) + cap + PCI_EXP_DEVCTL,
                     PCI_EXP_DEVCTL_BCR_FLR);
    exanet_set64(t, EXANET_REG_SCRATCH, 0x1234);
    notify_self(t);
    exanet_settle(t);
    /* the reset has disabled memory decoding */
    qpci_device_enable(t->dev);
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0, t->regs.addr);
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_2, t->user.addr);
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_3, t->user.addr >> 32);
    g_assert_cmphex(exanet_get64(t, EXANET_REG_SCRATCH), ==, 0);
    g_assert_cmphex(exanet_get64(t, EXANET_RX_DEBUG), ==, 0);
    g_assert_cmphex(exanet_get64(t, EXANET_TOMB_DEBUG), ==, 0);
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_IDLE);
    g_assert_cmpuint(exanet_count(t, NOTIFY_DONE), ==, 0);
    g_free(host);
    exanet_stop(t);
}

/* --- The netdev -------------------------------------------------------------- */

/*
 * Starts a transfer to a peer that does not read, and waits until the netdev accepts no
 * more frames.
 */
static void cable_fill(ExanetTest *t)
{
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(EXANET_TEST_PEER, 0), .len = 8 * MiB,
    };
    uint32_t level = 0, last;

    exanet_channel_start(t, 0, 0, &x);
    do {
        last = level;
        g_usleep(20000);
        level = exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_LEVEL);
    } while (level == 0 || level != last);
}

/*
 * Takes the frames of the device, which the peer checks; returns the number of packets.
 */
static unsigned cable_drain(ExanetTest *t)
{
    unsigned packets = 0, idle = 0;

    while (idle < 20) {
        idle = exanet_peer_poll(t->peer, 10) ? 0 : idle + 1;
        packets += g_queue_get_length(&t->peer->packets);
        g_queue_clear_full(&t->peer->packets, g_free);
        exanet_get32(t, EXANET_REG_ID);
    }
    return packets;
}

/*
 * `stop' takes back the frame that the netdev keeps, half of which may have been sent:
 * no packet is lost or sent twice.
 */
static void test_stop(void)
{
    ExanetTest *t = exanet_start("");
    unsigned packets = EXANET_FW_WINDOW_DEFAULT * EXANET_BLOCK_PACKETS;

    for (unsigned i = 0; i < 2; i++) {
        cable_fill(t);
        qtest_qmp_assert_success(t->qts, "{ 'execute': 'stop' }");
        if (i) {
            exanet_peer_poll(t->peer, 10);
        }
        qtest_qmp_assert_success(t->qts, "{ 'execute': 'cont' }");
        g_assert_cmpuint(cable_drain(t), ==, packets);
        exanet_close(t, 0);
        g_assert_cmpuint(cable_drain(t), ==, EXANET_FW_WINDOW_DEFAULT);
        exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    exanet_stop(t);
}

/*
 * The netdev keeps a frame of a device that is unplugged, and must not call this
 * device.
 */
static void test_unplug(void)
{
    ExanetTest *t = exanet_start(",addr=6 -machine pc");

    cable_fill(t);
    qpci_unplug_acpi_device_test(t->qts, "nic", 6);
    for (unsigned i = 0; i < 20; i++) {
        exanet_peer_poll(t->peer, 10);
        qtest_clock_step(t->qts, EXANET_MS);
    }
    exanet_stop(t);
}

/*
 * A peer that sends many HELLOs and does not read: the device answers at most 200 of
 * 2000.
 */
static void test_hello_flood(void)
{
    ExanetTest *t = exanet_start("");
    unsigned hellos = t->peer->hellos;

    t->peer->silent = true;
    for (unsigned i = 0; i < 2000; i++) {
        exanet_peer_hello(t->peer, false);
    }
    cable_drain(t);
    g_assert_cmpuint(t->peer->hellos - hellos, <, 200);
    t->peer->silent = false;
    exanet_step(t, 100 * EXANET_MS);
    exanet_bring_up(t);
    exanet_stop(t);
}

/* The device repeats XON, because a lost XON would stop the peer for ever. */
static void test_xon_again(void)
{
    ExanetTest *t = exanet_start("");
    static const uint8_t data[256];
    ExanetBlock b = {
        .va = DST, .data = data, .len = sizeof(data), .tid = 1,
        .pdid = EXANET_TEST_PDID(0),
    };

    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_XOFF, 0);
    exanet_peer_send_block(t->peer, &b);
    exanet_wait(t, t->peer->xons == 1);
    exanet_step(t, 2000 * EXANET_MS);
    exanet_wait(t, t->peer->xons > 1);
    g_assert_false(t->peer->xoff);
    g_queue_clear_full(&t->peer->packets, g_free);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/device/reentry-irq-to-registers",
                   test_irq_to_registers);
    qtest_add_func("/exanet/device/reentry-irq-to-doorbell",
                   test_irq_to_doorbell);
    qtest_add_func("/exanet/device/reentry-irq-to-flr", test_irq_to_flr);
    qtest_add_func("/exanet/device/reentry-stop", test_stop);
    qtest_add_func("/exanet/device/reentry-unplug", test_unplug);
    qtest_add_func("/exanet/device/reentry-hello-flood", test_hello_flood);
    qtest_add_func("/exanet/device/reentry-xon-again-t25", test_xon_again);
    return g_test_run();
}
