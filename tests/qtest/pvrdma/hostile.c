/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hostile guest; see hostile.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../../seed.h"
#include "hostile.h"

void hostile_evil_make(Hostile *h)
{
    h->evil_at = h->t->ram_next;
    pvrdma_qp_pair_make(&h->evil, h->t, NULL);
}

void hostile_start(Hostile *h, uint32_t seed)
{
    *h = (Hostile) { .rand = g_rand_new_with_seed(random_seed(seed)) };
    pvrdma_qp_pair_start(&h->good);
    h->t = h->good.t;
    h->scratch = pvrdma_alloc(h->t, HOSTILE_SCRATCH_PAGES * PVRDMA_PAGE_BYTES);
    h->t->guest_errors = true;
    hostile_evil_make(h);
}

void hostile_discard(Hostile *h)
{
    PvrdmaFrame *f;

    while ((f = g_queue_pop_head(&h->t->frames))) {
        g_free(f);
    }
}

void hostile_check(Hostile *h)
{
    pvrdma_settle(h->t);
    hostile_discard(h);
    pvrdma_qp_pair_check(&h->good);
    hostile_discard(h);
}

void hostile_finish(Hostile *h)
{
    g_assert_cmpuint(pvrdma_counter(h->t, "guest-error"), >, 0);
    hostile_check(h);
    g_rand_free(h->rand);
    pvrdma_qp_pair_stop(&h->good);
}

uint32_t hostile_below(Hostile *h, uint32_t n)
{
    return g_rand_int_range(h->rand, 0, n);
}

bool hostile_often(Hostile *h)
{
    return hostile_below(h, 4);
}

void hostile_scribble(Hostile *h, uint64_t at, size_t len)
{
    g_autofree uint8_t *buf = g_malloc(len);

    random_bytes(h->rand, buf, len);
    qtest_bufwrite(h->t->qts, at, buf, len);
}

uint64_t hostile_any_page(Hostile *h)
{
    switch (hostile_below(h, 8)) {
    case 0:
        return PVRDMA_NO_RAM;
    case 1:
        return h->t->regs.addr;
    case 2:
        return h->t->uar.addr + hostile_below(h, 4) * PVRDMA_PAGE_BYTES;
    case 3:
        return random_u64(h->rand);
    case 4:
        return random_u64(h->rand) & ~(PVRDMA_PAGE_BYTES - 1ull);
    default:
        return h->scratch + hostile_below(h, HOSTILE_SCRATCH_PAGES) * PVRDMA_PAGE_BYTES;
    }
}

uint64_t hostile_any_pdir(Hostile *h)
{
    uint64_t dir = h->scratch, table = dir + PVRDMA_PAGE_BYTES;

    for (unsigned i = 0; i < 16; i++) {
        qtest_writeq(h->t->qts, dir + 8 * i, hostile_any_page(h));
        qtest_writeq(h->t->qts, table + 8 * i, hostile_any_page(h));
    }
    if (hostile_often(h)) {
        qtest_writeq(h->t->qts, dir, table);
        for (unsigned i = 0; i < 16; i++) {
            qtest_writeq(h->t->qts, table + 8 * i, hostile_any_page(h) &
                                                  ~(PVRDMA_PAGE_BYTES - 1ull));
        }
    }
    return hostile_often(h) ? dir : hostile_any_page(h);
}
