/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pvrdma in a box.  Its input is a program: the first byte has flags (BED_ of
 * bed.h), records of BED_OP_BYTES follow, one for each operation.
 *
 * Without BED_KERNEL, operations are those of process EVIL, node EVIL_NODE and the
 * hardware, and the kernel is honest.
 */
#ifndef TESTS_FUZZ_PVRDMA_BOX_H
#define TESTS_FUZZ_PVRDMA_BOX_H

/*
 * Flags of PVRDMA_OP_DOORBELL, in its second byte: a vCPU stores the command POLL for a
 * CQ of EVIL, while all other vCPUs stand still (EXCLUSIVE).  The next operation in the
 * same record happens while the poll has released the big lock.
 */
#define PVRDMA_BOX_POLL         0x80
#define PVRDMA_BOX_EXCLUSIVE    0x40
#define PVRDMA_BOX_RELEASES     0x0c    /* releases of the lock before the operation */
#define PVRDMA_BOX_POLL_BYTES   2       /* arguments before that operation */

typedef enum PvrdmaBoxOp {
    PVRDMA_OP_POST,                 /* WQEs with a doorbell */
    PVRDMA_OP_ANSWER,               /* EVIL_NODE answers */
    PVRDMA_OP_CLOCK,
    PVRDMA_OP_FORGET,               /* EVIL_NODE has lost requests */
    PVRDMA_OP_POST_RECV,
    PVRDMA_OP_POLL,                 /* EVIL takes completions */
    PVRDMA_OP_FRAME,                /* any packet of EVIL_NODE */
    PVRDMA_OP_GARBAGE,              /* any bytes in a frame */
    PVRDMA_OP_QUEUE,                /* any bytes in a page of a queue */
    PVRDMA_OP_DOORBELL,             /* any store to EVIL's page */
    PVRDMA_OP_WIRE,                 /* netdev, link, machine */
    PVRDMA_OP_FLIP,                 /* RAM changes between two reads */
    PVRDMA_OP_CREATE,
    PVRDMA_OP_DESTROY,
    PVRDMA_OP_CONNECT,
    PVRDMA_OP_MODIFY,               /* any attributes of a QP */
    PVRDMA_OP_PROCESS_OPS,
    /* only a kernel does these (BED_KERNEL) */
    PVRDMA_OP_MMIO = PVRDMA_OP_PROCESS_OPS,
    PVRDMA_OP_COMMAND,              /* any bytes in a command */
    PVRDMA_OP_RESET,                /* of the function, or by CTL */
    PVRDMA_OP_REMAP,
    PVRDMA_OP_IRQ,                  /* effect of the next interrupt */
    PVRDMA_OP_UNPLUG,               /* ends the program */
    PVRDMA_OP_OPS,
} PvrdmaBoxOp;

#endif
