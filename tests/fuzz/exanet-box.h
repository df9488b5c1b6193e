/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ExaNet NIC in a box.  Its input is a program: the first byte has flags, records of
 * EXANET_BOX_OP_BYTES follow, one for each operation.
 *
 * Cable 0 leads to an honest node, which answers what it is asked.  Cable 1 leads to a
 * hostile one, whose frames are the program's.  Contexts 0 and 1 belong to hostile
 * processes, context 2 to an honest one, whose job no hostile node names as its own.
 * While the program does nothing that takes the kernel's rights, the kernel is honest.
 */
#ifndef TESTS_FUZZ_EXANET_BOX_H
#define TESTS_FUZZ_EXANET_BOX_H

#define EXANET_BOX_OP_BYTES 32
/* Flag of the first byte: the program may do what the kernel may. */
#define EXANET_BOX_KERNEL   0x01

typedef enum ExanetBoxOp {
    BOX_OP_PACKETS,                 /* on cable 1 */
    BOX_OP_HELLO,
    BOX_OP_LINK,                    /* XOFF, XON, DOWN, and frames that are none */
    BOX_OP_STORE,                   /* to a user page of a hostile context */
    BOX_OP_MESSAGES,                /* of a hostile context */
    BOX_OP_CHANNEL,                 /* RDMA write of one */
    BOX_OP_SEGMENTS,                /* of one, each with a store */
    BOX_OP_APERTURE,                /* load or store of a CPU */
    BOX_OP_CLOCK,
    BOX_OP_BLOCK,                   /* a netdev takes nothing, or does again */
    BOX_OP_CLOSE,
    BOX_OP_OPEN,
    BOX_OP_FLIP,                    /* RAM changes between two reads */
    BOX_OP_FAULTS,                  /* the kernel answers page faults */
    BOX_OP_PROCESS_OPS,
    /* with EXANET_BOX_KERNEL */
    BOX_OP_MMIO = BOX_OP_PROCESS_OPS,
    BOX_OP_RESET,
    BOX_OP_REMAP,
    BOX_OP_IRQ,                     /* what the next interrupt does */
    BOX_OP_REGISTER,                /* a register that exists */
    BOX_OP_OPS,
} ExanetBoxOp;

#endif
