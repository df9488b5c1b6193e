/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Codec of VELO; see velo.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "velo.h"

ExtollVeloStatus extoll_velo_address_decode(uint32_t address, unsigned size,
                                            ExtollVeloMsg *msg, unsigned *offset)
{
    unsigned quadwords = RNIC_GET(EXTOLL_VELO_ADDR_QUADWORDS, address);
    unsigned place = RNIC_GET(EXTOLL_VELO_ADDR_OFFSET, address);

    if (size != 4 && size != 8 && size != 16) {
        return EXTOLL_VELO_BAD_SIZE;
    }
    if (quadwords < 1 || quadwords > EXTOLL_VELO_QUADWORDS) {
        return EXTOLL_VELO_BAD_LENGTH;
    }
    if (place % size || place + size > quadwords * 8) {
        return EXTOLL_VELO_BAD_PLACE;
    }
    *msg = (ExtollVeloMsg) {
        .dst_node = RNIC_GET(EXTOLL_VELO_ADDR_NODE, address),
        .dst_vpid = RNIC_GET(EXTOLL_VELO_ADDR_VPID, address),
        .src_vpid = RNIC_GET(EXTOLL_VELO_ADDR_OWN, address),
        .mtt = RNIC_GET(EXTOLL_VELO_ADDR_MTT, address),
        .quadwords = quadwords,
        .count = quadwords,
        .end = true,
    };
    *offset = place;
    return EXTOLL_VELO_OK;
}

uint32_t extoll_velo_address_encode(const ExtollVeloMsg *msg)
{
    return RNIC_PREP(EXTOLL_VELO_ADDR_NODE, msg->dst_node) |
           RNIC_PREP(EXTOLL_VELO_ADDR_VPID, msg->dst_vpid) |
           RNIC_PREP(EXTOLL_VELO_ADDR_OWN, msg->src_vpid) |
           RNIC_PREP(EXTOLL_VELO_ADDR_MTT, msg->mtt) |
           RNIC_PREP(EXTOLL_VELO_ADDR_QUADWORDS, msg->quadwords);
}

/* Stores @count quadwords of @msg, from quadword @at of its data, in @slot. */
static void slot_encode(struct extoll_slot *slot, const ExtollVeloMsg *msg,
                        unsigned at, unsigned count)
{
    bool last = at + count == msg->count;

    memset(slot, 0, sizeof(*slot));
    memcpy(slot->data, msg->data + at * 8, count * 8);
    slot->status = cpu_to_le64(
        RNIC_PREP(EXTOLL_SLOT_NODE, msg->src_node) |
        RNIC_PREP(EXTOLL_SLOT_VPID, msg->src_vpid) |
        RNIC_PREP(EXTOLL_SLOT_MTT, msg->mtt) |
        RNIC_PREP(EXTOLL_SLOT_END, msg->end && last) |
        RNIC_PREP(EXTOLL_SLOT_SPLIT, msg->split) |
        RNIC_PREP(EXTOLL_SLOT_MESSAGE, msg->quadwords * 8) |
        RNIC_PREP(EXTOLL_SLOT_FRAGMENT, count * 8) |
        RNIC_PREP(EXTOLL_SLOT_FIRST, msg->first + at) |
        EXTOLL_SLOT_VALID);
}

unsigned extoll_velo_slots_encode(const ExtollVeloMsg *msg, struct extoll_slot slots[2])
{
    unsigned most = EXTOLL_SLOT_DATA / 8;

    if (msg->count <= most) {
        slot_encode(&slots[0], msg, 0, msg->count);
        return 1;
    }
    slot_encode(&slots[0], msg, 0, most);
    slot_encode(&slots[1], msg, most, msg->count - most);
    return 2;
}
