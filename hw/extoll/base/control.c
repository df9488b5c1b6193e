/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of control words; see control.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <libdeflate.h>
#include "control.h"

QEMU_BUILD_BUG_ON(EXTOLL_CONTROL_STATE & ~RNIC_PREP(EXTOLL_FLIT_RESERVED, 3));
QEMU_BUILD_BUG_ON(EXTOLL_CONTROL_START & ~RNIC_PREP(EXTOLL_FLIT_RESERVED, 3));

static uint32_t control_crc(const struct extoll_control *raw)
{
    return libdeflate_crc32(0, raw, offsetof(struct extoll_control, crc));
}

static bool control_valid(const ExtollControl *c)
{
    switch (c->kind) {
    case EXTOLL_CONTROL_STATE:
        return !(c->flags & ~(EXTOLL_STATE_NAK | EXTOLL_STATE_ANSWER));
    case EXTOLL_CONTROL_START:
        return !(c->flags & ~(EXTOLL_START_RESUME | EXTOLL_START_HEARD |
                              EXTOLL_START_ANSWER)) &&
               extoll_room_valid(c->count[0]) && extoll_room_valid(c->count[1]);
    default:
        return false;
    }
}

ExtollControlStatus extoll_control_decode(const uint8_t *buf, ExtollControl *control)
{
    struct extoll_control raw;
    ExtollControl c;

    memcpy(&raw, buf, sizeof(raw));
    if (control_crc(&raw) != le32_to_cpu(raw.crc)) {
        return EXTOLL_CONTROL_BAD_CRC;
    }
    c = (ExtollControl) {
        .kind = raw.kind,
        .flags = raw.flags,
        .ack = le16_to_cpu(raw.ack),
        .count = { le32_to_cpu(raw.count[0]), le32_to_cpu(raw.count[1]) },
    };
    if (!control_valid(&c)) {
        return EXTOLL_CONTROL_MALFORMED;
    }
    *control = c;
    return EXTOLL_CONTROL_OK;
}

void extoll_control_encode(uint8_t *buf, const ExtollControl *control)
{
    struct extoll_control raw = {
        .kind = control->kind,
        .flags = control->flags,
        .ack = cpu_to_le16(control->ack),
        .count = { cpu_to_le32(control->count[0]), cpu_to_le32(control->count[1]) },
    };

    raw.crc = cpu_to_le32(control_crc(&raw));
    memcpy(buf, &raw, sizeof(raw));
}
