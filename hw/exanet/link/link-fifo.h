/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RX FIFO of a virtual channel: frames of whole packets.
 *
 * It grows with what a peer has under way when it is stopped, and the memory goes
 * when all has been taken; its user limits it.  A packet at the head stays where it
 * is until the next put.
 */
#ifndef HW_EXANET_LINK_LINK_FIFO_H
#define HW_EXANET_LINK_LINK_FIFO_H

typedef struct ExanetFifo {
    uint8_t *buf;           /* owned; NULL until there was a frame */
    unsigned size;          /* 128-bit words of @buf */
    /* Frames, each behind a word that holds its length, from @head to @tail. */
    unsigned head;
    unsigned tail;
    unsigned left;          /* words of the first frame from @head; 0: its length */
    unsigned count;         /* words of packets in all */
} ExanetFifo;

/* Appends a frame of @count words, at least one, at @words. */
void exanet_fifo_put(ExanetFifo *f, const uint8_t *words, unsigned count);
/* The first word that is left, behind which are @f->left - 1 more; NULL: none. */
uint8_t *exanet_fifo_head(ExanetFifo *f);
/* Takes @words words, at most @f->left, that exanet_fifo_head() has shown. */
void exanet_fifo_skip(ExanetFifo *f, unsigned words);
/* Forgets all frames.  What exanet_fifo_head() has shown can still be read. */
void exanet_fifo_clear(ExanetFifo *f);
/*
 * Frees memory of a FIFO that has become large.  Afterwards the FIFO has at most 16384
 * words of memory, or eight times as many words as it contains.  The function moves the
 * data that exanet_fifo_head() has returned.
 */
void exanet_fifo_trim(ExanetFifo *f);
void exanet_fifo_fini(ExanetFifo *f);

/* Words that it occupies, lengths of frames included. */
static inline unsigned exanet_fifo_used(const ExanetFifo *f)
{
    return f->tail - f->head;
}

#endif /* HW_EXANET_LINK_LINK_FIFO_H */
