/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ExaNet NIC in a box.  The input of the target is a program: the first byte has
 * flags, and records of EXANET_BOX_OP_BYTES follow, one for each operation.
 *
 * Cable 0 leads to an honest node, which answers requests.  Cable 1 leads to a hostile
 * node, and the program defines the frames of this node, except answers to HELLO.
 * Contexts 0 and 1 belong to hostile processes, context 2 to an honest process.  A packet
 * of the hostile node has the honest process' job only if the source field of the packet
 * names the honest node.  Without operations that need the kernel's rights, the kernel is
 * honest.
 */
#ifndef TESTS_FUZZ_EXANET_BOX_H
#define TESTS_FUZZ_EXANET_BOX_H

#define EXANET_BOX_OP_BYTES 32
/* Flag of the first byte: the program may use the kernel's rights. */
#define EXANET_BOX_KERNEL   0x01
/* Flag of the first byte: the properties peerN name the neighbours. */
#define EXANET_BOX_NAMED    0x02
/* Flag of the first byte: the device and its neighbours advertise runs. */
#define EXANET_BOX_RUNS     0x04
/*
 * Bits of the first byte: the router.  0: torus without rings, 1: torus with a ring, 2:
 * arithmetic router, 3: table router.
 */
#define EXANET_BOX_ROUTER   0x18
/* Flag of the first byte: property shm-timing is on. */
#define EXANET_BOX_TIMING   0x20
/* Flag of the first byte: links have a limited rate, and a latency. */
#define EXANET_BOX_RATE     0x40
/*
 * Flag of the first byte: cable 1 is an rnic-cable, so the device accepts packets without
 * payload CRCs by this cable.
 */
#define EXANET_BOX_NO_CRC   0x80
/*
 * Flag in the type of BOX_OP_PACKETS: the operation sends a run of 2 to 65 packets
 * instead of each packet of type WRITE.
 */
#define EXANET_BOX_RUN      0x80
/* Flag in the type of BOX_OP_PACKETS: the packets have no payload CRC. */
#define EXANET_BOX_BARE     0x40

/*
 * Flags of BOX_OP_STORE, in the byte that has the size.  VCPU: a vCPU does the store.
 * POLL: a vCPU stores to the register POLL, and the inner operation, which is next in the
 * same record, happens while the vCPU has released the big lock, if the vCPU releases the
 * lock often enough.  EXCLUSIVE: all other vCPUs stand still during the poll.
 */
#define EXANET_BOX_VCPU         0x80
/* a vCPU does this store, even without EXANET_BOX_VCPU */
#define EXANET_BOX_POLL         0x40
#define EXANET_BOX_EXCLUSIVE    0x20
#define EXANET_BOX_RELEASES     0x0c /* releases of the lock before the inner operation */
#define EXANET_BOX_STORE_BYTES  13 /* bytes of arguments before the inner operation */

/* Flags of BOX_OP_CDMA.  COPY_ENDS: the operation waits for the end of all copies. */
#define EXANET_BOX_SRC_REMOTE   0x01
#define EXANET_BOX_DST_REMOTE   0x02
#define EXANET_BOX_COPY_ENDS    0x04

typedef enum ExanetBoxOp {
    BOX_OP_PACKETS,                 /* packets of the hostile node on cable 1 */
    BOX_OP_HELLO,
    BOX_OP_LINK,                    /* frames of any kind, mostly invalid, on cable 1 */
    /* a store to a user page of a hostile context, or a poll by the context */
    BOX_OP_STORE,
    BOX_OP_MESSAGES,                /* messages that a hostile context sends */
    BOX_OP_CHANNEL,                 /* an RDMA write of a hostile context */
    BOX_OP_SEGMENTS,                /* segments of a hostile context, each with a store */
    /* a load or store of a CPU or a device, in the aperture or behind the aperture */
    BOX_OP_APERTURE,
    BOX_OP_CLOCK,
    BOX_OP_BLOCK,                   /* a netdev is blocked or unblocked */
    BOX_OP_CLOSE,
    BOX_OP_OPEN,
    BOX_OP_FLIP,                    /* a byte of RAM changes between two reads */
    BOX_OP_FAULTS,                  /* the kernel answers page faults */
    BOX_OP_CDMA,                    /* the kernel starts a copy for a hostile process */
    BOX_OP_PROCESS_OPS,
    /* only programs with EXANET_BOX_KERNEL have the operations from here on: */
    BOX_OP_MMIO = BOX_OP_PROCESS_OPS,
    BOX_OP_RESET,
    BOX_OP_REMAP,
    /* sets the effect of the next interrupt, see nic_irq() */
    BOX_OP_IRQ,
    BOX_OP_REGISTER,                /* a store to a block of registers */
    BOX_OP_UNPLUG,                  /* unplugs the device, and ends the program */
    BOX_OP_ACCEL,                   /* a job of the accelerator */
    BOX_OP_OPS,
} ExanetBoxOp;

#endif
