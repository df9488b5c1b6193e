/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the device, for its bus shell. */
#ifndef RNIC_DUMMY_H
#define RNIC_DUMMY_H

#include "../core/compat.h"

typedef struct DummyState {
    MemoryRegion regs;
    uint32_t scratch;
} DummyState;

/* Makes the region of registers, which @dev owns. */
void dummy_init(DummyState *s, DeviceState *dev);
void dummy_reset(DummyState *s);

#endif /* RNIC_DUMMY_H */
