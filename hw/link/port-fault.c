/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Link port, a cable with faults: drops, duplicates and delays packets before the
 * port adds the packets to the frame of their channel.  inject.c chooses and corrupts
 * packets.
 */
#include "qemu/osdep.h"
#include "inject.h"
#include "port-internal.h"
#include "port.h"

/*
 * Maximal number of packets of a port that are delayed at the same time; further packets
 * are not delayed.
 */
#define DELAYED_MAX 256
/*
 * Longest time that a packet with RNIC_FATE_HOLD waits for the next packet of its
 * channel.
 */
#define HOLD_NS (1 * SCALE_MS)

/* A delayed packet. */
typedef struct RNicDelayed {
    int64_t due;                    /* ns, latest virtual time when the packet is sent */
    unsigned vc;
    unsigned words;                 /* words of the packet in @buf */
    bool held;                      /* held_release() may send the packet before @due */
    uint8_t buf[];
} RNicDelayed;

/*
 * Returns -1 if the packet @queued stays before the new packet @added, otherwise 1.
 * Packets with the same @due keep the order in which they were added.
 */
static int delayed_compare(gconstpointer queued, gconstpointer added, gpointer opaque)
{
    const RNicDelayed *x = queued, *y = added;

    return x->due <= y->due ? -1 : 1;
}

static void delayed_add(RNicPort *p, unsigned vc, const uint8_t *buf,
                     unsigned words, const RNicFate *fate)
{
    size_t len = words * RNIC_LINK_WORD;
    RNicDelayed *delayed = g_malloc(sizeof(*delayed) + len);

    delayed->held = fate->kind == RNIC_FATE_HOLD && fate->delay <= 0;
    delayed->due = rnic_now() + (delayed->held ? HOLD_NS : fate->delay);
    delayed->vc = vc;
    delayed->words = words;
    memcpy(delayed->buf, buf, len);
    g_queue_insert_sorted(&p->delayed, delayed, delayed_compare, NULL);
}

int64_t rnic_link_delayed_due(RNicPort *p)
{
    const RNicDelayed *delayed = g_queue_peek_head(&p->delayed);

    return delayed ? delayed->due : INT64_MAX;
}

void rnic_link_delayed_run(RNicPort *p)
{
    while (rnic_link_delayed_due(p) <= rnic_now()) {
        g_autofree RNicDelayed *delayed = g_queue_pop_head(&p->delayed);

        rnic_link_append(p, delayed->vc, delayed->buf, delayed->words, false);
    }
}

unsigned rnic_link_delayed_drop(RNicPort *p)
{
    unsigned packets = p->delayed.length;

    g_queue_clear_full(&p->delayed, g_free);
    return packets;
}

/*
 * Passes the held packets of channel @vc to rnic_link_append(), behind the packet for
 * which the packets were held.
 */
static void held_release(RNicPort *p, unsigned vc, bool urgent)
{
    for (GList *l = p->delayed.head, *next; l; l = next) {
        RNicDelayed *delayed = l->data;

        next = l->next;
        if (delayed->held && delayed->vc == vc) {
            g_queue_delete_link(&p->delayed, l);
            rnic_link_append(p, vc, delayed->buf, delayed->words, urgent);
            g_free(delayed);
        }
    }
}

/*
 * Adds a copy of the packet at @buf to @p->delayed, or two copies for a duplicate, with
 * the delay of @fate.  Returns false, without adding a copy, if too many packets are
 * delayed; in this case the caller sends the packet at once.
 */
static bool packet_delay(RNicPort *p, unsigned vc, const uint8_t *buf,
                      unsigned words, const RNicFate *fate)
{
    unsigned copies = fate->kind == RNIC_FATE_DUPLICATE ? 2 : 1;

    if (p->delayed.length + copies > DELAYED_MAX) {
        return false;
    }
    while (copies--) {
        delayed_add(p, vc, buf, words, fate);
    }
    return true;
}

void rnic_link_fault(RNicPort *p, unsigned vc, const uint8_t *packet,
                     unsigned words, bool urgent)
{
    size_t len = words * RNIC_LINK_WORD;
    g_autofree uint8_t *buf = memcpy(g_malloc(len), packet, len);
    RNicFate fate = { .kind = RNIC_FATE_PASS };

    if (p->inject) {
        fate = rnic_inject_packet(p, buf, words);
    }
    if (fate.kind == RNIC_FATE_DROP) {
        return;
    }
    if ((fate.kind == RNIC_FATE_HOLD || fate.delay > 0) &&
        packet_delay(p, vc, buf, words, &fate)) {
        return;
    }
    rnic_link_append(p, vc, buf, words, urgent);
    if (fate.kind == RNIC_FATE_DUPLICATE) {
        rnic_link_append(p, vc, buf, words, urgent);
    }
    held_release(p, vc, urgent);
}
