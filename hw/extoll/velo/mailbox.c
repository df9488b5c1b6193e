/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VELO completer; see mailbox.h. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "../../core/dma.h"
#include "../base/packet.h"
#include "../extoll.h"
#include "../trace.h"
#include "mailbox.h"

#define SLOTS 2                     /* maximal number of slots of a packet */

/* Returns the slots of the mailbox of @vpid; 0 if register MSLT has no valid size. */
static uint32_t mailbox_slots(const ExtollState *s, unsigned vpid)
{
    uint64_t mask = extoll_reg_get64(s, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_MSLT);

    return mask & (mask + 1) || mask + 1 < EXTOLL_RING_MIN ? 0 :
           (mask + 1) / EXTOLL_SLOT_BYTES;
}

static uint32_t pointer_get(const ExtollState *s, unsigned vpid, unsigned reg)
{
    return extoll_reg_get64(s, EXTOLL_VELO_VPID(vpid) + reg);
}

static bool is_allowed(const ExtollState *s, const ExtollVeloMsg *msg)
{
    return !(extoll_reg_get64(s, EXTOLL_REG_CAP) & EXTOLL_CAP_PROT) ||
           extoll_reg_get32(s, EXTOLL_END_POINT(msg->dst_vpid) + EXTOLL_REG_PROT) ==
           msg->prot;
}

/* Stores the data of @slot, or its status word, in the slot at @addr. */
static bool data_write(ExtollState *s, uint64_t addr, const struct extoll_slot *slot)
{
    return rnic_dma_write(&s->host, addr + sizeof(slot->status), slot->data,
                          sizeof(slot->data));
}

static bool status_write(ExtollState *s, uint64_t addr, const struct extoll_slot *slot)
{
    return rnic_dma_write(&s->host, addr, &slot->status, sizeof(slot->status));
}

/*
 * Stores the @n @slots at the addresses @at: all data, then the status words, which
 * software polls, and the first one last.  Returns false if the bus refused a part; then
 * no status word of the first slot is stored.
 */
static bool slots_write(ExtollState *s, const uint64_t *at,
                        const struct extoll_slot *slots, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (!data_write(s, at[i], &slots[i])) {
            return false;
        }
    }
    smp_wmb();      /* software that sees a status word must see the data */
    for (unsigned i = n; i-- > 0; ) {
        if (!status_write(s, at[i], &slots[i])) {
            return false;
        }
    }
    return true;
}

static void interrupt(ExtollState *s, unsigned vpid)
{
    uint32_t bit = 1u << vpid;

    if (s->mailboxes.armed & bit &&
        extoll_reg_get32(s, EXTOLL_VELO + EXTOLL_REG_VELO_IRQ) & bit) {
        s->mailboxes.armed &= ~bit;
        extoll_irq_raise(s, EXTOLL_VEC_VELO, bit);
    }
}

/*
 * Stores @msg in its mailbox.  Returns the counter of the cause if the message is
 * discarded, or EXTOLL_COUNTER_COUNT.
 */
static enum extoll_counter deliver(ExtollState *s, const ExtollVeloMsg *msg)
{
    unsigned vpid = msg->dst_vpid;
    uint32_t size = mailbox_slots(s, vpid);
    uint32_t wp = pointer_get(s, vpid, EXTOLL_REG_WPLT);
    uint32_t used = wp - pointer_get(s, vpid, EXTOLL_REG_RPLT);
    uint64_t base = extoll_reg_get64(s, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_BALT);
    struct extoll_slot slots[SLOTS];
    uint64_t at[SLOTS];
    unsigned n;

    if (!extoll_velo_vpid_is_enabled(s, vpid) || !size) {
        return EXTOLL_CNT_VELO_DISABLED;
    }
    if (!is_allowed(s, msg)) {
        return EXTOLL_CNT_VELO_PROT;
    }
    n = extoll_velo_slots_encode(msg, slots);
    /* a read pointer beyond the write pointer makes @used larger than any size */
    if (used > size || n > size - used) {
        return EXTOLL_CNT_VELO_FULL;
    }
    for (unsigned i = 0; i < n; i++) {
        at[i] = base + (uint64_t)((wp + i) & (size - 1)) * EXTOLL_SLOT_BYTES;
    }
    if (!slots_write(s, at, slots, n)) {
        return EXTOLL_CNT_VELO_BUS;
    }
    s->counter[EXTOLL_CNT_VELO_DMA_WRITE] += n;
    s->counter[EXTOLL_CNT_HTAX_POSTED] += n;
    extoll_reg_set64(s, EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_WPLT, (uint32_t)(wp + n));
    return EXTOLL_COUNTER_COUNT;
}

void extoll_mailbox_take(ExtollState *s, const uint8_t *packet, unsigned bytes)
{
    enum extoll_counter cause;
    ExtollVeloMsg msg;

    if (extoll_packet_message_decode(packet, bytes, &msg) != EXTOLL_PACKET_OK) {
        extoll_count(s, PACKET_BAD);
        return;
    }
    cause = deliver(s, &msg);
    trace_extoll_mailbox_take(s->node, msg.src_node, msg.src_vpid, msg.dst_vpid,
                              msg.count * 8, cause == EXTOLL_COUNTER_COUNT);
    if (cause == EXTOLL_COUNTER_COUNT) {
        s->mailboxes.received++;
        interrupt(s, msg.dst_vpid);
    } else {
        s->mailboxes.discarded++;
        s->counter[cause]++;
    }
}

void extoll_mailbox_arm(ExtollState *s, unsigned vpid)
{
    s->mailboxes.armed |= 1u << vpid;
    if (pointer_get(s, vpid, EXTOLL_REG_WPLT) != pointer_get(s, vpid, EXTOLL_REG_RPLT)) {
        interrupt(s, vpid);
    }
}

void extoll_mailbox_reset(ExtollState *s)
{
    s->mailboxes = (ExtollMailboxes) { .armed = UINT32_MAX };
}
