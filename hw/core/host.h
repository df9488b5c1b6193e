/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a bus shell lends to the device behind it, so that the device knows no bus.
 */
#ifndef RNIC_CORE_HOST_H
#define RNIC_CORE_HOST_H

#include "compat.h"
#include "qemu/timer.h"

typedef struct RNicHost {
    DeviceState *dev;               /* owner of regions and bottom halves */
    AddressSpace *as;               /* for DMA */
    /* Returns true if interrupts are messages now; NULL: they are as @irq and @line say. */
    bool (*messages)(void *opaque);
    /* Sends message @vector.  NULL: the bus has wires alone. */
    void (*irq)(void *opaque, unsigned vector);
    /* Sets the level of wire @line.  NULL: the bus has messages alone. */
    void (*line)(void *opaque, unsigned line, bool level);
    void *opaque;
} RNicHost;

/* Returns the virtual time, ns. */
static inline int64_t rnic_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

#endif /* RNIC_CORE_HOST_H */
