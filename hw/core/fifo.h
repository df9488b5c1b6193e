/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Positions in a queue.  The elements of the queue are in an array, which the owner of
 * the queue has.  In all functions @size is the number of elements of this array.
 */
#ifndef RNIC_CORE_FIFO_H
#define RNIC_CORE_FIFO_H

/* Head and count of a queue; a queue with all members 0 is empty. */
typedef struct RNicFifo {
    unsigned head;                  /* index of the oldest element */
    unsigned count;                 /* number of elements in the queue */
} RNicFifo;

/* Returns the index of the @n-th element after the oldest; @n = 0: the oldest element. */
static inline unsigned rnic_fifo_at(const RNicFifo *f, unsigned n, unsigned size)
{
    return (f->head + n) % size;
}

/*
 * Adds an element behind the newest element, and returns the array index of the new
 * element.  The caller stores the element at this index.  The queue must not be full.
 */
static inline unsigned rnic_fifo_push(RNicFifo *f, unsigned size)
{
    assert(f->count < size);
    return rnic_fifo_at(f, f->count++, size);
}

/*
 * Adds an element before the oldest element, and returns the array index of the new
 * element.  The caller stores the element at this index.  The queue must not be full.
 */
static inline unsigned rnic_fifo_push_first(RNicFifo *f, unsigned size)
{
    assert(f->count < size);
    f->head = (f->head + size - 1) % size;
    f->count++;
    return f->head;
}

/*
 * Removes the oldest element and returns its array index.  The queue must not be empty.
 */
static inline unsigned rnic_fifo_pop(RNicFifo *f, unsigned size)
{
    unsigned head = f->head;

    assert(f->count);
    f->head = (head + 1) % size;
    f->count--;
    return head;
}

#endif /* RNIC_CORE_FIFO_H */
