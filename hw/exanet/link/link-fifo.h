/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RX FIFO of a virtual channel: frames of whole packets.
 *
 * The FIFO grows as needed, because a neighbour that is stopped still has frames under
 * way; its user limits it.  exanet_fifo_trim() frees the memory.  The packet at the head
 * does not move until the next exanet_fifo_put() or exanet_fifo_trim().
 */
#ifndef HW_EXANET_LINK_LINK_FIFO_H
#define HW_EXANET_LINK_LINK_FIFO_H

typedef struct ExanetFifo {
    uint8_t *buf;           /* owned; NULL: no memory yet */
    unsigned size;          /* 128-bit words of @buf */
    /* Frames, each behind a word that holds its length, from @head to @tail. */
    unsigned head;
    unsigned tail;
    unsigned left;          /* words of the frame at @head; 0: its length is at @head */
    unsigned count;         /* words of packets in all frames */
} ExanetFifo;

/* Appends a frame of @count words, at least one, at @words. */
void exanet_fifo_put(ExanetFifo *f, const uint8_t *words, unsigned count);
/*
 * Returns the @f->left words that are left of the first frame, or NULL if the FIFO is
 * empty.
 */
uint8_t *exanet_fifo_head(ExanetFifo *f);
/* Removes the first @words words, at most @f->left, that exanet_fifo_head() returned. */
void exanet_fifo_skip(ExanetFifo *f, unsigned words);
/* Removes all frames.  The words that exanet_fifo_head() returned stay readable. */
void exanet_fifo_clear(ExanetFifo *f);
/*
 * Frees memory of a FIFO that has become large.  Afterwards the FIFO has at most 16384
 * words of memory, or eight times as many words as it contains.  The function moves the
 * data that exanet_fifo_head() has returned.
 */
void exanet_fifo_trim(ExanetFifo *f);
void exanet_fifo_fini(ExanetFifo *f);

/* Returns the words of memory in use, with the words that hold lengths of frames. */
static inline unsigned exanet_fifo_used(const ExanetFifo *f)
{
    return f->tail - f->head;
}

#endif /* HW_EXANET_LINK_LINK_FIFO_H */
