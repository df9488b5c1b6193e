/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pvrdma in a box.  The input of the target is a program: the first byte has flags
 * (BED_DCQCN to BED_KERNEL of bed.h), and records of BED_OP_BYTES follow, one for each
 * operation.
 *
 * Without BED_KERNEL, operations are those of process EVIL, node EVIL_NODE and the
 * hardware, and the kernel is honest.
 */
#ifndef TESTS_FUZZ_PVRDMA_BOX_H
#define TESTS_FUZZ_PVRDMA_BOX_H

/*
 * Flags and a field of operation PVRDMA_OP_DOORBELL, in the second argument.  POLL: a
 * vCPU stores the command POLL for a CQ of EVIL, and the next operation in the same
 * record happens while the vCPU has released the big lock.  EXCLUSIVE: all other vCPUs
 * stand still during the poll.  RELEASES: number of releases of the big lock before the
 * next operation.
 */
#define PVRDMA_BOX_POLL         0x80
#define PVRDMA_BOX_EXCLUSIVE    0x40
#define PVRDMA_BOX_RELEASES     0x0c

typedef enum PvrdmaBoxOp {
    PVRDMA_OP_POST,                 /* posts WQEs of EVIL, and rings the doorbell */
    PVRDMA_OP_ANSWER,               /* EVIL_NODE answers the oldest requests of a QP */
    PVRDMA_OP_CLOCK,
    PVRDMA_OP_FORGET,               /* EVIL_NODE forgets the oldest requests of a QP */
    PVRDMA_OP_POST_RECV,
    PVRDMA_OP_POLL,                 /* EVIL takes completions */
    PVRDMA_OP_FRAME,                /* any packets of EVIL_NODE */
    PVRDMA_OP_GARBAGE,              /* a frame of any bytes */
    PVRDMA_OP_QUEUE,                /* EVIL writes any bytes to a page of a queue */
    PVRDMA_OP_DOORBELL,             /* any access to EVIL's page of BAR 2, or a poll */
    PVRDMA_OP_WIRE,                 /* changes the netdev, the link or the machine */
    PVRDMA_OP_FLIP,                 /* a byte of RAM changes between two reads */
    PVRDMA_OP_CREATE,
    PVRDMA_OP_DESTROY,
    PVRDMA_OP_CONNECT,
    PVRDMA_OP_MODIFY,               /* any attributes of a QP */
    PVRDMA_OP_PROCESS_OPS,
    /* only programs with BED_KERNEL have the operations from here on: */
    PVRDMA_OP_MMIO = PVRDMA_OP_PROCESS_OPS,
    PVRDMA_OP_COMMAND,              /* a command with any bytes */
    PVRDMA_OP_RESET,                /* function-level reset, or reset by register CTL */
    PVRDMA_OP_REMAP,
    /* sets the effect of the next interrupt, see host_irq() */
    PVRDMA_OP_IRQ,
    PVRDMA_OP_UNPLUG,               /* unplugs the device, and ends the program */
    PVRDMA_OP_OPS,
} PvrdmaBoxOp;

#endif
