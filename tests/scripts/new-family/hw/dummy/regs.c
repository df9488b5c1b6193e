/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "rnic/dummy/regs.h"
#include "regs.h"

uint32_t dummy_reg_reset(uint64_t addr)
{
#define RESET(name, offset, bytes, reset, writable, w1c) \
    if (addr == offset) { \
        return reset; \
    }
    DUMMY_REGS(RESET)
#undef RESET
    return 0;
}
