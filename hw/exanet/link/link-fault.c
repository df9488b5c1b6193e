/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet link port, a cable with faults: drops, duplicates and delays packets before the
 * port adds the packets to the frame of their channel.  inject.c chooses and corrupts
 * packets.
 */
#include "qemu/osdep.h"
#include "inject.h"
#include "link.h"
#include "port.h"

/*
 * Maximal number of packets of a port that are delayed at the same time; further packets
 * are not delayed.
 */
#define DELAYED_MAX 256
/*
 * Longest time that a packet with EXANET_FATE_HOLD waits for the next packet of its
 * channel.
 */
#define HOLD_NS (1 * SCALE_MS)

/* A delayed packet. */
typedef struct ExanetDelayed {
    int64_t due;                    /* ns, latest virtual time when the packet is sent */
    unsigned vc;
    unsigned words;                 /* words of the packet in @buf */
    bool held;                      /* held_release() may send the packet before @due */
    uint8_t buf[];
} ExanetDelayed;

/*
 * Returns -1 if the packet @queued stays before the new packet @added, otherwise 1.
 * Packets with the same @due keep the order in which they were added.
 */
static int delayed_compare(gconstpointer queued, gconstpointer added, gpointer opaque)
{
    const ExanetDelayed *x = queued, *y = added;

    return x->due <= y->due ? -1 : 1;
}

static void delayed_add(ExanetPort *p, unsigned vc, const uint8_t *buf,
                     unsigned words, const ExanetFate *fate)
{
    size_t len = words * EXANET_LINK_WORD;
    ExanetDelayed *delayed = g_malloc(sizeof(*delayed) + len);

    delayed->held = fate->kind == EXANET_FATE_HOLD && fate->delay <= 0;
    delayed->due = rnic_now() + (delayed->held ? HOLD_NS : fate->delay);
    delayed->vc = vc;
    delayed->words = words;
    memcpy(delayed->buf, buf, len);
    g_queue_insert_sorted(&p->delayed, delayed, delayed_compare, NULL);
}

int64_t exanet_link_delayed_due(ExanetPort *p)
{
    const ExanetDelayed *delayed = g_queue_peek_head(&p->delayed);

    return delayed ? delayed->due : INT64_MAX;
}

void exanet_link_delayed_run(ExanetPort *p)
{
    while (exanet_link_delayed_due(p) <= rnic_now()) {
        g_autofree ExanetDelayed *delayed = g_queue_pop_head(&p->delayed);

        exanet_link_append(p, delayed->vc, delayed->buf, delayed->words, false);
    }
}

unsigned exanet_link_delayed_drop(ExanetPort *p)
{
    unsigned packets = p->delayed.length;

    g_queue_clear_full(&p->delayed, g_free);
    return packets;
}

/*
 * Passes the held packets of channel @vc to exanet_link_append(), behind the packet for
 * which the packets were held.
 */
static void held_release(ExanetPort *p, unsigned vc, bool urgent)
{
    for (GList *l = p->delayed.head, *next; l; l = next) {
        ExanetDelayed *delayed = l->data;

        next = l->next;
        if (delayed->held && delayed->vc == vc) {
            g_queue_delete_link(&p->delayed, l);
            exanet_link_append(p, vc, delayed->buf, delayed->words, urgent);
            g_free(delayed);
        }
    }
}

/*
 * Adds a copy of the packet at @buf to @p->delayed, or two copies for a duplicate, with
 * the delay of @fate.  Returns false, without adding a copy, if too many packets are
 * delayed; in this case the caller sends the packet at once.
 */
static bool packet_delay(ExanetPort *p, unsigned vc, const uint8_t *buf,
                      unsigned words, const ExanetFate *fate)
{
    unsigned copies = fate->kind == EXANET_FATE_DUPLICATE ? 2 : 1;

    if (p->delayed.length + copies > DELAYED_MAX) {
        return false;
    }
    while (copies--) {
        delayed_add(p, vc, buf, words, fate);
    }
    return true;
}

void exanet_link_fault(ExanetPort *p, unsigned vc, const uint8_t *packet,
                       unsigned words, bool urgent)
{
    size_t len = words * EXANET_LINK_WORD;
    g_autofree uint8_t *buf = memcpy(g_malloc(len), packet, len);
    ExanetFate fate = { .kind = EXANET_FATE_PASS };

    if (p->inject) {
        fate = exanet_inject_packet(p, buf, words);
    }
    if (fate.kind == EXANET_FATE_DROP) {
        return;
    }
    if ((fate.kind == EXANET_FATE_HOLD || fate.delay > 0) &&
        packet_delay(p, vc, buf, words, &fate)) {
        return;
    }
    exanet_link_append(p, vc, buf, words, urgent);
    if (fate.kind == EXANET_FATE_DUPLICATE) {
        exanet_link_append(p, vc, buf, words, urgent);
    }
    held_release(p, vc, urgent);
}
