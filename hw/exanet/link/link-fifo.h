/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RX FIFO of a virtual channel: frames of whole packets.
 *
 * The FIFO grows as needed, because a neighbour that is stopped still has frames under
 * way; the port limits this growth.  exanet_fifo_trim() frees the memory.  The packet at
 * the head does not move until the next exanet_fifo_put() or exanet_fifo_trim().
 */
#ifndef HW_EXANET_LINK_LINK_FIFO_H
#define HW_EXANET_LINK_LINK_FIFO_H

#include "qemu/bswap.h"
#include "rnic/exanet/wire.h"

typedef struct ExanetFifo {
    uint8_t *buf;           /* owned; NULL: no memory yet */
    unsigned size;          /* 128-bit words of @buf */
    /* Frames, each behind a word that holds its length, from @head to @tail. */
    unsigned head;
    unsigned tail;
    unsigned left;          /* words left of the first frame; 0: @head is at a length */
    unsigned count;         /* words of packets left in all frames */
} ExanetFifo;

/* Words of memory that a FIFO keeps: room for two frames of any length. */
#define EXANET_FIFO_SIZE_MIN 16384

/* Returns the words of memory in use, with the words that hold lengths of frames. */
static inline unsigned exanet_fifo_used(const ExanetFifo *f)
{
    return f->tail - f->head;
}

/* Returns word @word of the memory; for this unit only. */
static inline uint8_t *exanet_fifo_at(const ExanetFifo *f, unsigned word)
{
    return f->buf + (size_t)word * EXANET_WORD_BYTES;
}

/* Appends a frame of @count words, at least one, at @words. */
void exanet_fifo_put(ExanetFifo *f, const uint8_t *words, unsigned count);

/*
 * Returns the @f->left words that are left of the first frame, or NULL if the FIFO is
 * empty.
 */
static inline uint8_t *exanet_fifo_head(ExanetFifo *f)
{
    if (f->count == 0) {
        return NULL;
    }
    if (f->left == 0) {
        f->left = ldl_he_p(exanet_fifo_at(f, f->head));
        f->head++;
    }
    return exanet_fifo_at(f, f->head);
}

/* Removes all frames.  The words that exanet_fifo_head() returned stay readable. */
static inline void exanet_fifo_clear(ExanetFifo *f)
{
    f->head = 0;
    f->tail = 0;
    f->left = 0;
    f->count = 0;
}

/* Removes the first @words words, at most @f->left, that exanet_fifo_head() returned. */
static inline void exanet_fifo_skip(ExanetFifo *f, unsigned words)
{
    f->head += words;
    f->left -= words;
    f->count -= words;
    if (f->count == 0) {
        exanet_fifo_clear(f);
    }
}

/* Frees memory of a FIFO that has more than EXANET_FIFO_SIZE_MIN words of memory. */
void exanet_fifo_shrink(ExanetFifo *f);
/*
 * Frees memory of a FIFO that has become large.  Afterwards the FIFO has at most
 * EXANET_FIFO_SIZE_MIN words of memory, or eight times as many words as it contains.  The
 * function moves the data that exanet_fifo_head() has returned.
 */
static inline void exanet_fifo_trim(ExanetFifo *f)
{
    if (unlikely(f->size > EXANET_FIFO_SIZE_MIN)) {
        exanet_fifo_shrink(f);
    }
}

void exanet_fifo_fini(ExanetFifo *f);

#endif /* HW_EXANET_LINK_LINK_FIFO_H */
