/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RX FIFO of a virtual channel; see port-fifo.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "rnic/link.h"
#include "port-fifo.h"

/*
 * rnic_port_fifo_shrink() reduces the memory to less than SLACK times the words in use,
 * but not below RNIC_PORT_FIFO_SIZE_MIN.  If the FIFO is empty, the function frees all
 * memory.
 */
#define SLACK 8

/* Makes room for @words words behind @f->tail.  May move the frames. */
static void fifo_reserve(RNicPortFifo *f, unsigned words)
{
    unsigned used = rnic_port_fifo_used(f);

    if (f->tail + words <= f->size) {
        return;
    }
    /*
     * allocates more memory if the words in use and the new words need more than half of
     * the memory
     */
    if (used + words > f->size / 2) {
        f->size = MAX(2 * f->size, RNIC_PORT_FIFO_SIZE_MIN);
        while (used + words > f->size / 2) {
            f->size *= 2;
        }
        f->buf = g_realloc_n(f->buf, f->size, RNIC_LINK_WORD);
    }
    memmove(f->buf, rnic_port_fifo_at(f, f->head), (size_t)used * RNIC_LINK_WORD);
    f->head = 0;
    f->tail = used;
}

void rnic_port_fifo_keep_lent(RNicPortFifo *f)
{
    const uint8_t *words = f->lent;
    unsigned count = f->left;

    rnic_port_fifo_clear(f);
    rnic_port_fifo_put(f, words, count);
}

void rnic_port_fifo_put(RNicPortFifo *f, const uint8_t *words, unsigned count)
{
    rnic_port_fifo_keep(f);
    fifo_reserve(f, 1 + count);
    stl_he_p(rnic_port_fifo_at(f, f->tail), count);
    memcpy(rnic_port_fifo_at(f, f->tail + 1), words, (size_t)count * RNIC_LINK_WORD);
    f->tail += 1 + count;
    f->count += count;
}

void rnic_port_fifo_shrink(RNicPortFifo *f)
{
    unsigned used = rnic_port_fifo_used(f);

    if (f->count == 0) {
        rnic_port_fifo_fini(f);
    } else if (used <= f->size / SLACK) {
        memmove(f->buf, rnic_port_fifo_at(f, f->head), (size_t)used * RNIC_LINK_WORD);
        f->head = 0;
        f->tail = used;
        while (f->size > RNIC_PORT_FIFO_SIZE_MIN && used <= f->size / SLACK) {
            f->size /= 2;
        }
        f->buf = g_realloc_n(f->buf, f->size, RNIC_LINK_WORD);
    }
}

void rnic_port_fifo_fini(RNicPortFifo *f)
{
    g_free(f->buf);
    *f = (RNicPortFifo) { };
}
