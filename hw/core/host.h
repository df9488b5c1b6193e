/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The services of a bus shell for its device: memory and interrupts.  The device does not
 * know the bus.
 */
#ifndef RNIC_CORE_HOST_H
#define RNIC_CORE_HOST_H

#include "compat.h"
#include "qemu/timer.h"

typedef struct RNicHost {
    DeviceState *dev;               /* owner of regions and bottom halves */
    AddressSpace *as;               /* address space for DMA */
    /*
     * Returns true if the guest has enabled messages.  If @messages is NULL, the device
     * uses @line, or @irq if @line is NULL.
     */
    bool (*messages)(void *opaque);
    /* Sends message @vector.  NULL: the bus has only wires. */
    void (*irq)(void *opaque, unsigned vector);
    /* Sets the level of wire @line.  NULL: the bus has only messages. */
    void (*line)(void *opaque, unsigned line, bool level);
    void *opaque;                   /* argument of the functions */
} RNicHost;

/* Returns the virtual time, ns. */
static inline int64_t rnic_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

#endif /* RNIC_CORE_HOST_H */
