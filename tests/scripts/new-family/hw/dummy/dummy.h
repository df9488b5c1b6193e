/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the dummy device; struct DummyPCI contains this state. */
#ifndef RNIC_DUMMY_H
#define RNIC_DUMMY_H

#include "../core/compat.h"

typedef struct DummyState {
    MemoryRegion regs;
    uint32_t scratch;
} DummyState;

/* Initializes @s->regs, the memory region of the registers; @dev owns this region. */
void dummy_init(DummyState *s, DeviceState *dev);
void dummy_reset(DummyState *s);

#endif /* RNIC_DUMMY_H */
