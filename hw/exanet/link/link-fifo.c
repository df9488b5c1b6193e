/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RX FIFO of a virtual channel; see link-fifo.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "rnic/exanet/wire.h"
#include "link-fifo.h"

/* Room for two frames of any length. */
#define SIZE_MIN 16384
/* Memory that exanet_fifo_trim() leaves, as a multiple of the FIFO's contents. */
#define SLACK 8

static uint8_t *fifo_at(ExanetFifo *f, unsigned word)
{
    return f->buf + (size_t)word * EXANET_WORD_BYTES;
}

/* Makes room for @words words behind the tail. */
static void fifo_reserve(ExanetFifo *f, unsigned words)
{
    unsigned used = exanet_fifo_used(f);

    if (f->tail + words <= f->size) {
        return;
    }
    /* moves the contents without more memory only if they fill at most half of it */
    if (used + words > f->size / 2) {
        f->size = MAX(2 * f->size, SIZE_MIN);
        while (used + words > f->size / 2) {
            f->size *= 2;
        }
        f->buf = g_realloc_n(f->buf, f->size, EXANET_WORD_BYTES);
    }
    memmove(f->buf, fifo_at(f, f->head), (size_t)used * EXANET_WORD_BYTES);
    f->head = 0;
    f->tail = used;
}

void exanet_fifo_put(ExanetFifo *f, const uint8_t *words, unsigned count)
{
    fifo_reserve(f, 1 + count);
    stl_he_p(fifo_at(f, f->tail), count);
    memcpy(fifo_at(f, f->tail + 1), words, (size_t)count * EXANET_WORD_BYTES);
    f->tail += 1 + count;
    f->count += count;
}

uint8_t *exanet_fifo_head(ExanetFifo *f)
{
    if (f->count == 0) {
        return NULL;
    }
    if (f->left == 0) {
        f->left = ldl_he_p(fifo_at(f, f->head));
        f->head++;
    }
    return fifo_at(f, f->head);
}

void exanet_fifo_skip(ExanetFifo *f, unsigned words)
{
    f->head += words;
    f->left -= words;
    f->count -= words;
    if (f->count == 0) {
        exanet_fifo_clear(f);
    }
}

void exanet_fifo_clear(ExanetFifo *f)
{
    f->head = 0;
    f->tail = 0;
    f->left = 0;
    f->count = 0;
}

void exanet_fifo_trim(ExanetFifo *f)
{
    unsigned used = exanet_fifo_used(f);

    if (f->size <= SIZE_MIN) {
        return;
    }
    if (f->count == 0) {
        exanet_fifo_fini(f);
    } else if (used <= f->size / SLACK) {
        memmove(f->buf, fifo_at(f, f->head), (size_t)used * EXANET_WORD_BYTES);
        f->head = 0;
        f->tail = used;
        while (f->size > SIZE_MIN && used <= f->size / SLACK) {
            f->size /= 2;
        }
        f->buf = g_realloc_n(f->buf, f->size, EXANET_WORD_BYTES);
    }
}

void exanet_fifo_fini(ExanetFifo *f)
{
    g_free(f->buf);
    *f = (ExanetFifo) { };
}
