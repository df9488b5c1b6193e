/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu/osdep.h"
#include "hw/rnic/dummy/regs.h"
#include "../fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size) {
        dummy_reg_reset(data[0]);
    }
    return 0;
}
