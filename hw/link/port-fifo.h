/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RX FIFO of a virtual channel: a queue of frames, each of which consists of packets.
 *
 * The memory of the FIFO grows as needed, because a neighbour that gets an XOFF has sent
 * frames before, which still arrive.  The port limits this growth.  rnic_port_fifo_trim()
 * frees memory again.  The packet at the head does not move until the next
 * rnic_port_fifo_put(), rnic_port_fifo_keep() or rnic_port_fifo_trim().
 *
 * An empty FIFO can borrow a frame: the frame stays in the memory of the lender, because
 * most frames are delivered before the lender needs this memory again.
 */
#ifndef HW_LINK_PORT_FIFO_H
#define HW_LINK_PORT_FIFO_H

#include "qemu/bswap.h"
#include "rnic/link.h"

typedef struct RNicPortFifo {
    /*
     * the rest of the borrowed frame, which is then the only frame; NULL: the FIFO
     * borrows no frame
     */
    const uint8_t *lent;
    uint8_t *buf;           /* owned; NULL: no memory */
    unsigned size;          /* 128-bit words of @buf */
    /*
     * Indices of words in @buf: the frames are from @head to before @tail.  The word
     * before each frame contains the length of the frame in words.
     */
    unsigned head;
    unsigned tail;
    /* words left of the first frame; 0: @head is the index of a length, if @count > 0 */
    unsigned left;
    unsigned count;         /* words of packets left in all frames */
} RNicPortFifo;

/*
 * Minimal number of words of memory that a FIFO allocates.  rnic_port_fifo_trim() does
 * not change a FIFO that has no more memory than this.  Half of this memory has room for
 * two frames of 4095 words.
 */
#define RNIC_PORT_FIFO_SIZE_MIN 16384

/*
 * Returns the number of words of memory in use, which includes the lengths of frames.  A
 * borrowed frame uses none.
 */
static inline unsigned rnic_port_fifo_used(const RNicPortFifo *f)
{
    return f->tail - f->head;
}

/* Returns the address of word @word of @f->buf.  For port-fifo.[ch] only. */
static inline uint8_t *rnic_port_fifo_at(const RNicPortFifo *f, unsigned word)
{
    return f->buf + (size_t)word * RNIC_LINK_WORD;
}

/* Appends a copy of the @count words at @words as a frame.  @count is at least 1. */
void rnic_port_fifo_put(RNicPortFifo *f, const uint8_t *words, unsigned count);

/* Does the work of rnic_port_fifo_keep(), which is the only caller. */
void rnic_port_fifo_keep_lent(RNicPortFifo *f);
/*
 * Borrows the @count words at @words as a frame.  @count is at least 1.  The FIFO must be
 * empty.  The words must not change or vanish until the caller calls
 * rnic_port_fifo_keep().
 */
static inline void rnic_port_fifo_borrow(RNicPortFifo *f, const uint8_t *words,
                                         unsigned count)
{
    f->lent = words;
    f->left = count;
    f->count = count;
}

/*
 * If the FIFO borrows a frame, copies the rest of the frame to the FIFO's own memory.
 * Afterwards the FIFO borrows nothing.
 */
static inline void rnic_port_fifo_keep(RNicPortFifo *f)
{
    if (unlikely(f->lent)) {
        rnic_port_fifo_keep_lent(f);
    }
}

/*
 * Returns the address of the words that are left of the first frame, and sets @f->left to
 * the number of these words.  Returns NULL if the FIFO is empty.
 */
static inline const uint8_t *rnic_port_fifo_head(RNicPortFifo *f)
{
    if (f->count == 0) {
        return NULL;
    }
    if (f->lent) {
        return f->lent;
    }
    if (f->left == 0) {
        f->left = ldl_he_p(rnic_port_fifo_at(f, f->head));
        f->head++;
    }
    return rnic_port_fifo_at(f, f->head);
}

/*
 * Removes all frames.  The words to which a result of rnic_port_fifo_head() points stay
 * readable until the next rnic_port_fifo_put(), rnic_port_fifo_trim() or
 * rnic_port_fifo_fini(), or, for a borrowed frame, until the caller of
 * rnic_port_fifo_borrow() needs its memory.
 */
static inline void rnic_port_fifo_clear(RNicPortFifo *f)
{
    f->lent = NULL;
    f->head = 0;
    f->tail = 0;
    f->left = 0;
    f->count = 0;
}

/* Removes the first @words words of the first frame.  @words is at most @f->left. */
static inline void rnic_port_fifo_skip(RNicPortFifo *f, unsigned words)
{
    if (f->lent) {
        f->lent += (size_t)words * RNIC_LINK_WORD;
    } else {
        f->head += words;
    }
    f->left -= words;
    f->count -= words;
    if (f->count == 0) {
        rnic_port_fifo_clear(f);
    }
}

/* Does the work of rnic_port_fifo_trim(), which is the only caller. */
void rnic_port_fifo_shrink(RNicPortFifo *f);
/*
 * Frees memory of a FIFO that has become large.  Afterwards @f->size is at most
 * RNIC_PORT_FIFO_SIZE_MIN, or less than eight times rnic_port_fifo_used().  The address
 * that rnic_port_fifo_head() has returned is not valid any more.
 */
static inline void rnic_port_fifo_trim(RNicPortFifo *f)
{
    if (unlikely(f->size > RNIC_PORT_FIFO_SIZE_MIN)) {
        rnic_port_fifo_shrink(f);
    }
}

/* Removes all frames and frees the memory. */
void rnic_port_fifo_fini(RNicPortFifo *f);

#endif /* HW_LINK_PORT_FIFO_H */
