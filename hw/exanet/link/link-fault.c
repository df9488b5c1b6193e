/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet link port, a cable with faults: packets on their way to the frame of their
 * channel that vanish, come twice, or come later.  See inject.c for whom it hits.
 */
#include "qemu/osdep.h"
#include "inject.h"
#include "link.h"
#include "port.h"

/* Packets that are delayed at the same time; the others are spared. */
#define LATE_MAX 256
/* A packet that is to come behind the next one does not wait longer for it. */
#define HOLD_NS (1 * SCALE_MS)

/* A packet that comes later. */
typedef struct ExanetLate {
    int64_t due;
    unsigned vc;
    unsigned words;
    bool held;                      /* goes behind the next one of its channel */
    uint8_t buf[EXANET_PACKET_BYTES];
} ExanetLate;

/* Of two for the same time the one that came first is first. */
static int late_compare(gconstpointer queued, gconstpointer added, gpointer opaque)
{
    const ExanetLate *x = queued, *y = added;

    return x->due <= y->due ? -1 : 1;
}

static void late_add(ExanetPort *p, unsigned vc, const uint8_t *buf,
                     unsigned words, const ExanetFate *fate)
{
    ExanetLate *late = g_new(ExanetLate, 1);

    late->held = fate->kind == EXANET_FATE_HOLD && fate->delay <= 0;
    late->due = rnic_now() + (late->held ? HOLD_NS : fate->delay);
    late->vc = vc;
    late->words = words;
    memcpy(late->buf, buf, words * EXANET_WORD_BYTES);
    g_queue_insert_sorted(&p->late, late, late_compare, NULL);
}

int64_t exanet_link_late_due(ExanetPort *p)
{
    const ExanetLate *late = g_queue_peek_head(&p->late);

    return late ? late->due : INT64_MAX;
}

void exanet_link_late_run(ExanetPort *p)
{
    while (exanet_link_late_due(p) <= rnic_now()) {
        g_autofree ExanetLate *late = g_queue_pop_head(&p->late);

        exanet_link_append(p, late->vc, late->buf, late->words, false);
    }
}

unsigned exanet_link_late_drop(ExanetPort *p)
{
    unsigned packets = p->late.length;

    g_queue_clear_full(&p->late, g_free);
    return packets;
}

/* A packet of channel @vc has been added: those that it overtakes follow. */
static void held_release(ExanetPort *p, unsigned vc, bool urgent)
{
    for (GList *l = p->late.head, *next; l; l = next) {
        ExanetLate *late = l->data;

        next = l->next;
        if (late->held && late->vc == vc) {
            g_queue_delete_link(&p->late, l);
            exanet_link_append(p, vc, late->buf, late->words, urgent);
            g_free(late);
        }
    }
}

/* Takes a packet that @fate delays; false when there is no room for that. */
static bool late_take(ExanetPort *p, unsigned vc, const uint8_t *buf,
                      unsigned words, const ExanetFate *fate)
{
    unsigned copies = fate->kind == EXANET_FATE_DUPLICATE ? 2 : 1;

    if (p->late.length + copies > LATE_MAX) {
        return false;
    }
    while (copies--) {
        late_add(p, vc, buf, words, fate);
    }
    return true;
}

void exanet_link_fault(ExanetPort *p, unsigned vc, const uint8_t *packet,
                       unsigned words, bool urgent)
{
    uint8_t buf[EXANET_PACKET_BYTES];
    ExanetFate fate = { .kind = EXANET_FATE_PASS };

    memcpy(buf, packet, words * EXANET_WORD_BYTES);
    if (p->inject) {
        fate = exanet_inject_packet(p, buf, words);
    }
    if (fate.kind == EXANET_FATE_DROP) {
        return;
    }
    if ((fate.kind == EXANET_FATE_HOLD || fate.delay > 0) &&
        late_take(p, vc, buf, words, &fate)) {
        return;
    }
    exanet_link_append(p, vc, buf, words, urgent);
    if (fate.kind == EXANET_FATE_DUPLICATE) {
        exanet_link_append(p, vc, buf, words, urgent);
    }
    held_release(p, vc, urgent);
}
