/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RX FIFO of a virtual channel; see link-fifo.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "rnic/exanet/link.h"
#include "link-fifo.h"

/*
 * exanet_fifo_shrink() reduces the memory to less than SLACK times the words in use, but
 * not below EXANET_FIFO_SIZE_MIN.  If the FIFO is empty, the function frees all memory.
 */
#define SLACK 8

/* Makes room for @words words behind @f->tail.  May move the frames. */
static void fifo_reserve(ExanetFifo *f, unsigned words)
{
    unsigned used = exanet_fifo_used(f);

    if (f->tail + words <= f->size) {
        return;
    }
    /*
     * allocates more memory if the words in use and the new words need more than half of
     * the memory
     */
    if (used + words > f->size / 2) {
        f->size = MAX(2 * f->size, EXANET_FIFO_SIZE_MIN);
        while (used + words > f->size / 2) {
            f->size *= 2;
        }
        f->buf = g_realloc_n(f->buf, f->size, EXANET_LINK_WORD);
    }
    memmove(f->buf, exanet_fifo_at(f, f->head), (size_t)used * EXANET_LINK_WORD);
    f->head = 0;
    f->tail = used;
}

void exanet_fifo_keep_lent(ExanetFifo *f)
{
    const uint8_t *words = f->lent;
    unsigned count = f->left;

    exanet_fifo_clear(f);
    exanet_fifo_put(f, words, count);
}

void exanet_fifo_put(ExanetFifo *f, const uint8_t *words, unsigned count)
{
    exanet_fifo_keep(f);
    fifo_reserve(f, 1 + count);
    stl_he_p(exanet_fifo_at(f, f->tail), count);
    memcpy(exanet_fifo_at(f, f->tail + 1), words, (size_t)count * EXANET_LINK_WORD);
    f->tail += 1 + count;
    f->count += count;
}

void exanet_fifo_shrink(ExanetFifo *f)
{
    unsigned used = exanet_fifo_used(f);

    if (f->count == 0) {
        exanet_fifo_fini(f);
    } else if (used <= f->size / SLACK) {
        memmove(f->buf, exanet_fifo_at(f, f->head), (size_t)used * EXANET_LINK_WORD);
        f->head = 0;
        f->tail = used;
        while (f->size > EXANET_FIFO_SIZE_MIN && used <= f->size / SLACK) {
            f->size /= 2;
        }
        f->buf = g_realloc_n(f->buf, f->size, EXANET_LINK_WORD);
    }
}

void exanet_fifo_fini(ExanetFifo *f)
{
    g_free(f->buf);
    *f = (ExanetFifo) { };
}
