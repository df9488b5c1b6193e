/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register file; see reg-file.h. */
#include "qemu/osdep.h"
#include "reg-file.h"

void rnic_reg_file_init(RNicRegFile *f, unsigned bytes)
{
    f->bytes = bytes;
    memset(f->array, 0, RNIC_REG_FILE_SIZE(bytes) - sizeof(*f));
}

void rnic_reg_file_clear(RNicRegFile *f)
{
    /* clears the array of present values, and the array of stored values behind it */
    memset(f->array, 0, 2 * f->bytes);
}

void rnic_reg_file_add(RNicRegFile *f, unsigned at, const RNicRegInfo *info,
                       unsigned block)
{
    RNicRegLane *lane = (RNicRegLane *)(f->array + 4 * f->bytes) + at / 4;
    bool wide = info->bytes == 8;
    uint8_t *val = f->array + at;

    stn_le_p(val, info->bytes, info->reset);
    stn_le_p(val + 2 * f->bytes, info->bytes, info->writable);
    stn_le_p(val + 3 * f->bytes, info->bytes, info->w1c);
    lane[0] = (RNicRegLane) {
        .kind = wide ? RNIC_REG_LANE_LOW : RNIC_REG_LANE_WHOLE, .block = block,
    };
    if (wide) {
        lane[1] = (RNicRegLane) { .kind = RNIC_REG_LANE_TOP, .block = block };
    }
}
