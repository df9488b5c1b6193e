/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The services that a bus shell (for example, a PCIDevice) gives its device: memory and
 * interrupts.  The code of the device is the same on all buses.
 */
#ifndef RNIC_CORE_HOST_H
#define RNIC_CORE_HOST_H

#include "compat.h"
#include "qemu/timer.h"

typedef struct RNicHost {
    DeviceState *dev;               /* owner of regions and bottom halves */
    AddressSpace *as;               /* address space for DMA */
    /*
     * Returns true if the guest has enabled messages (MSI-X): then the device must call
     * @irq, otherwise @line.  A device that never calls @messages always calls @line, or
     * always calls @irq if @line is NULL.  @messages is NULL if the bus has only wires.
     */
    bool (*messages)(void *opaque);
    /* Sends message @vector.  NULL: the bus has only wires. */
    void (*irq)(void *opaque, unsigned vector);
    /* Sets the level of wire @line.  NULL: the device uses only messages. */
    void (*line)(void *opaque, unsigned line, bool level);
    void *opaque;                   /* first argument of @messages, @irq and @line */
} RNicHost;

/* Returns the virtual time, ns. */
static inline int64_t rnic_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

#endif /* RNIC_CORE_HOST_H */
