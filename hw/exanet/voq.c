/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet virtual output queues; see voq.h. */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "crossbar.h"
#include "exanet.h"
#include "port.h"
#include "voq.h"

/* What a queue sends in a row, so that all get their turn. */
#define SEND_MAX (EXANET_VOQ_PACKETS / 2)

static void voq_account(ExanetPort *from, unsigned out, ExanetVoq *q, int words)
{
    q->words += words;
    from->voq_words += words;
    from->s->port[out].voq_due += words;
}

bool exanet_voq_put(ExanetPort *from, unsigned vc, int route,
                    const uint8_t *buf, unsigned words)
{
    unsigned out = EXANET_ROUTE_PORT(route);
    ExanetVoq **q = &from->voq[vc][out];
    ExanetVoqSlot *slot;

    if (!*q) {
        *q = g_new0(ExanetVoq, 1);
    }
    if ((*q)->count == EXANET_VOQ_PACKETS) {
        return false;
    }
    slot = &(*q)->slot[((*q)->head + (*q)->count++) % EXANET_VOQ_PACKETS];
    slot->route = route;
    slot->stamp = from->s->sw.stamp;
    slot->words = words;
    memcpy(slot->data, buf, words * EXANET_WORD_BYTES);
    voq_account(from, out, *q, words);
    from->voq_busy[vc] |= 1u << out;
    return true;
}

static void voq_pop(ExanetPort *from, unsigned vc, unsigned out, ExanetVoq *q)
{
    voq_account(from, out, q, -(int)q->slot[q->head].words);
    q->head = (q->head + 1) % EXANET_VOQ_PACKETS;
    if (--q->count == 0) {
        from->voq_busy[vc] &= ~(1u << out);
    }
}

/* True if it may have more to send. */
static bool voq_send(ExanetPort *from, unsigned vc, unsigned out)
{
    ExanetVoq *q = from->voq[vc][out];
    unsigned drops = from->rx_drops;

    for (unsigned n = 0; n < SEND_MAX; n++) {
        ExanetVoqSlot *slot = &q->slot[q->head];

        if (slot->stamp != from->s->sw.stamp) {
            slot->route = EXANET_ROUTE_UNKNOWN;
        }
        if (!exanet_crossbar_resume(from, vc, slot->route, slot->data,
                                    slot->words)) {
            return false;
        }
        if (drops != from->rx_drops) {
            return false;           /* the link went down meanwhile */
        }
        voq_pop(from, vc, out, q);
        if (!q->count) {
            return false;
        }
    }
    return true;
}

bool exanet_voq_run(ExanetPort *from)
{
    bool more = false;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        for (unsigned busy = from->voq_busy[vc]; busy; busy &= busy - 1) {
            if (exanet_voq_waits(from, vc, ctz32(busy))) {
                more |= voq_send(from, vc, ctz32(busy));
            }
        }
    }
    return more;
}

unsigned exanet_voq_drop(ExanetPort *from)
{
    unsigned packets = 0;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        while (from->voq_busy[vc]) {
            unsigned out = ctz32(from->voq_busy[vc]);

            voq_pop(from, vc, out, from->voq[vc][out]);
            packets++;
        }
    }
    return packets;
}

unsigned exanet_voq_words(const ExanetPort *from, unsigned out)
{
    unsigned words = 0;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        words += from->voq[vc][out] ? from->voq[vc][out]->words : 0;
    }
    return words;
}

void exanet_voq_fini(ExanetPort *from)
{
    exanet_voq_drop(from);
    for (unsigned i = 0; i < EXANET_VCS * EXANET_LINKS; i++) {
        g_free(from->voq[i / EXANET_LINKS][i % EXANET_LINKS]);
        from->voq[i / EXANET_LINKS][i % EXANET_LINKS] = NULL;
    }
}
