/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine with one EXTOLL NIC.  The test acts as the driver.
 *
 * The machine's processor executes nothing, so all RAM belongs to the test.  Virtual time
 * stands still unless the test moves it.  The device does all work in the store that asks
 * for the work.
 */
#ifndef EXTOLL_DEVICE_H
#define EXTOLL_DEVICE_H

#include "libqtest.h"
#include "libqos/pci.h"
#include "rnic/extoll/regs.h"
#include "../common/machine.h"
#include "../common/migrate.h"

#define EXTOLL_TEST_NODE    5
#define EXTOLL_TEST_EPOCH   200
/* Places in RAM, and the end of RAM. */
#define EXTOLL_RAM_DATA     0x01000000ULL
#define EXTOLL_RAM_MSIX     0x01100000ULL
#define EXTOLL_RAM_BYTES    0x08000000ULL
#define EXTOLL_NO_RAM       0x40000000ULL   /* an address without RAM or device */

typedef struct ExtollPeer ExtollPeer;       /* see link.h */

typedef struct ExtollTest {
    QTestState *qts;
    QPCIBus *bus;
    QPCIDevice *dev;
    QPCIBar regs;
    char *log;                      /* path of the log of guest errors */
    bool guest_errors;              /* the test provokes guest errors */
    ExtollPeer *peer[EXTOLL_LINKS]; /* NULL: the link has no peer */
} ExtollTest;

/*
 * Starts a machine, and enables the device's PCI function.  @props: further properties of
 * the device, each as ",a=b", and then further options of QEMU, or "".
 */
ExtollTest *extoll_start(const char *props);
/*
 * Does the same for a device with register NODE @node.  @netdevs: options of QEMU for the
 * device's netdevs, or "".
 */
ExtollTest *extoll_start_node(const char *netdevs, unsigned node, const char *props);
/*
 * Ends QEMU, and frees @t with its peers.  If @t->guest_errors is set, asserts that QEMU
 * has logged guest errors of the device.  Otherwise asserts that QEMU has logged no guest
 * error.
 */
void extoll_stop(ExtollTest *t);

/* Read and write a register of 32 or 64 bits at @offset in BAR 0. */
uint32_t extoll_get32(ExtollTest *t, uint64_t offset);
uint64_t extoll_get64(ExtollTest *t, uint64_t offset);
void extoll_set32(ExtollTest *t, uint64_t offset, uint32_t value);
void extoll_set64(ExtollTest *t, uint64_t offset, uint64_t value);
#define extoll_counter(t, name) \
    extoll_get64(t, EXTOLL_COUNTER(EXTOLL_CNT_##name))

/* Read and write register EXTOLL_REG_IRQ_@name of @vector. */
#define extoll_irq_get(t, vector, name) \
    extoll_get32(t, EXTOLL_IRQ(vector) + EXTOLL_REG_IRQ_##name)
#define extoll_irq_set(t, vector, name, value) \
    extoll_set32(t, EXTOLL_IRQ(vector) + EXTOLL_REG_IRQ_##name, value)

/* Enables MSI-X; vector v stores its message in the 32-bit word v at EXTOLL_RAM_MSIX. */
void extoll_msix_enable(ExtollTest *t);
/*
 * Returns a set of the vectors, bit v for vector v, that the device has sent since
 * extoll_msix_enable(), or since the last call.
 */
unsigned extoll_msix_taken(ExtollTest *t);

/*
 * Runs self-test @op on @bytes bytes at @addr, and returns register TEST_STATUS.  @data
 * is the value of FILL.
 */
enum extoll_test_status extoll_selftest(ExtollTest *t, enum extoll_test_op op,
                                        uint64_t addr, uint32_t bytes, uint32_t data);

/* Resets the function by its express capability (FLR), and enables the function again. */
void extoll_flr(ExtollTest *t);

#endif /* EXTOLL_DEVICE_H */
