/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ExaNet virtual output queues; see voq.h. */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "net.h"
#include "../exanet.h"
#include "../../link/port.h"
#include "voq.h"

/*
 * Maximal number of packets that voq_send() sends, because the other queues wait
 * meanwhile.
 */
#define SEND_MAX (EXANET_VOQ_PACKETS / 2)

/* Returns the queues of packets that arrived by @from. */
static ExanetVoqs *voqs(const RNicPort *from)
{
    return &exanet_port_state(from)->router.voqs[from->index];
}

/*
 * Adds @words, which may be negative, to the number of words in @q, the number of words
 * that wait at the owner of @from, and the backlog of port @out.
 */
static void voq_account(RNicPort *from, unsigned out, ExanetVoq *q, int words)
{
    q->words += words;
    from->owner_words += words;
    exanet_port_state(from)->router.voqs[out].backlog += words;
}

bool exanet_voq_put(RNicPort *from, unsigned vc, int route,
                    const uint8_t *buf, unsigned words)
{
    unsigned out = EXANET_ROUTE_PORT(route);
    ExanetVoq **q = &voqs(from)->queue[vc][out];
    ExanetVoqSlot *slot;

    if (!*q) {
        *q = g_new0(ExanetVoq, 1);
    }
    if ((*q)->slots.count == EXANET_VOQ_PACKETS) {
        return false;
    }
    slot = &(*q)->slot[rnic_fifo_push(&(*q)->slots, EXANET_VOQ_PACKETS)];
    slot->route = route;
    slot->stamp = exanet_port_state(from)->router.stamp;
    slot->words = words;
    memcpy(slot->data, buf, words * EXANET_WORD_BYTES);
    voq_account(from, out, *q, words);
    voqs(from)->busy[vc] |= 1u << out;
    return true;
}

static void voq_pop(RNicPort *from, unsigned vc, unsigned out, ExanetVoq *q)
{
    unsigned n = rnic_fifo_pop(&q->slots, EXANET_VOQ_PACKETS);

    voq_account(from, out, q, -(int)q->slot[n].words);
    if (q->slots.count == 0) {
        voqs(from)->busy[vc] &= ~(1u << out);
    }
}

/*
 * Sends up to SEND_MAX packets of the queue from channel @vc of @from to port @out.
 * Returns true if the queue has sent SEND_MAX packets and still has packets.
 */
static bool voq_send(RNicPort *from, unsigned vc, unsigned out)
{
    ExanetVoq *q = voqs(from)->queue[vc][out];
    unsigned drops = from->rx_drops;

    for (unsigned n = 0; n < SEND_MAX; n++) {
        ExanetVoqSlot *slot = &q->slot[q->slots.head];

        if (slot->stamp != exanet_port_state(from)->router.stamp) {
            slot->route = EXANET_ROUTE_UNKNOWN;
        }
        if (!exanet_net_resume(from, vc, slot->route, slot->data,
                                    slot->words)) {
            return false;
        }
        if (drops != from->rx_drops) {
            return false;           /* exanet_net_resume() has dropped all packets */
        }
        voq_pop(from, vc, out, q);
        if (!q->slots.count) {
            return false;
        }
    }
    return true;
}

bool exanet_voq_run(RNicPort *from)
{
    bool more = false;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        for (unsigned busy = voqs(from)->busy[vc]; busy; busy &= busy - 1) {
            if (exanet_voq_waits(voqs(from), vc, ctz32(busy))) {
                more |= voq_send(from, vc, ctz32(busy));
            }
        }
    }
    return more;
}

unsigned exanet_voq_drop(RNicPort *from)
{
    unsigned packets = 0;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        while (voqs(from)->busy[vc]) {
            unsigned out = ctz32(voqs(from)->busy[vc]);

            voq_pop(from, vc, out, voqs(from)->queue[vc][out]);
            packets++;
        }
    }
    return packets;
}

unsigned exanet_voq_words(const RNicPort *from, unsigned out)
{
    unsigned words = 0;

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        words += voqs(from)->queue[vc][out] ? voqs(from)->queue[vc][out]->words : 0;
    }
    return words;
}

void exanet_voq_fini(ExanetVoqs *q)
{
    for (unsigned i = 0; i < EXANET_VCS * EXANET_LINKS; i++) {
        g_free(q->queue[i / EXANET_LINKS][i % EXANET_LINKS]);
    }
}
