/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL NIC: loads and stores of BAR 0; see bar.h. */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "bar.h"
#include "trace.h"

static bool access_valid(hwaddr addr, unsigned size)
{
    return size >= 4 && addr % size == 0 && extoll_reg_at(addr) != RNIC_REGS_NONE;
}

static void access_bad(ExtollState *s, const char *access, hwaddr addr, unsigned size)
{
    extoll_count(s, REG_BAD);
    qemu_log_mask(LOG_GUEST_ERROR, "extoll: %s of %u bytes at 0x%" HWADDR_PRIx
                  ", where no such register is\n", access, size, addr);
}

static uint64_t regs_read(void *opaque, hwaddr addr, unsigned size)
{
    ExtollState *s = opaque;
    uint64_t value = 0;

    if (!s->loop.bh) {
        return 0;
    }
    if (!access_valid(addr, size) ||
        !rnic_regs_read(&s->regs.table, addr, size, &value)) {
        access_bad(s, "load", addr, size);
    }
    trace_extoll_reg_read(s->node, addr, value, size);
    return value;
}

static void regs_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    ExtollState *s = opaque;

    /*
     * drops a store that this device itself causes, as QEMU's re-entrancy guard would do
     */
    if (!s->loop.bh || !rnic_loop_enter(&s->loop)) {
        return;
    }
    trace_extoll_reg_write(s->node, addr, value, size);
    if (!access_valid(addr, size) ||
        !rnic_regs_write(&s->regs.table, addr, value, size)) {
        access_bad(s, "store", addr, size);
    }
    /* a self-test ends in the store that starts it */
    rnic_loop_leave_vcpu(&s->loop, true);
}

/* Takes accesses of all sizes and alignments, so that the device counts bad ones. */
static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

void extoll_bar_init(ExtollState *s)
{
    memory_region_init_io(&s->regs_mr, OBJECT(s->host.dev), &regs_ops, s, "extoll-regs",
                          EXTOLL_REGS_BYTES);
}
