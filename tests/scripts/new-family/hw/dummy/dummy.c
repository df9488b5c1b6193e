/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of the device. */
#include "qemu/osdep.h"
#include "rnic/dummy/regs.h"
#include "dummy.h"
#include "regs.h"
#include "trace.h"

static uint64_t dummy_read(void *opaque, hwaddr addr, unsigned size)
{
    DummyState *s = opaque;
    uint64_t value = addr == DUMMY_REG_SCRATCH ? s->scratch : dummy_reg_reset(addr);

    trace_dummy_reg_read(addr, value);
    return value;
}

static void dummy_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    DummyState *s = opaque;

    if (addr == DUMMY_REG_SCRATCH) {
        s->scratch = value;
    }
}

static const MemoryRegionOps dummy_ops = {
    .read = dummy_read,
    .write = dummy_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

void dummy_init(DummyState *s, DeviceState *dev)
{
    memory_region_init_io(&s->regs, OBJECT(dev), &dummy_ops, s, "dummy",
                          DUMMY_BAR_BYTES);
}

void dummy_reset(DummyState *s)
{
    s->scratch = dummy_reg_reset(DUMMY_REG_SCRATCH);
}
