/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NIC of exanet-box, the honest kernel and the nodes at the cables of the NIC.  Each
 * node answers HELLO, unless its own HELLO has max_words 0.  The honest node also answers
 * requests.
 */
#ifndef TESTS_FUZZ_EXANET_BOX_NIC_H
#define TESTS_FUZZ_EXANET_BOX_NIC_H

#include "../box.h"
#include "box-program.h"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/exanet/engine/walk.h"
#include "hw/rnic/exanet/base/wire.h"
#include "rnic/exanet/desc.h"

/* Coordinates of nodes; NODE is the NIC. */
#define NODE        0x005
#define HONEST_NODE 0x004
#define FAR_NODE    0x003           /* this node's packets come by the honest node */
#define EVIL_NODE   0x006
#define PEER_EPOCH  33
/* Numbers of cables: to HONEST_NODE, and to EVIL_NODE. */
#define HONEST      0
#define EVIL        1

#define EVIL_CTXS   2
#define HONEST_CTX  2
#define CTXS        3
#define HONEST_JOB  77
#define CTX_BYTES   0x8000          /* bytes of RAM of each context, mapped at VA 0 */
#define DATA_AT(c)  ((c) * CTX_BYTES)
/* The secret: content of each aligned 8 bytes of the honest process' memory. */
#define SECRET      0x8f1d3b92c5e6740dULL

#define APERTURE    0x10000
#define SEGMENT     0x1000
/*
 * After this time without packets each unit of the device but the firmware may forget all
 * blocks and nodes.  The firmware keeps nodes for longer.
 */
#define HOLD_NS     (61 * NANOSECONDS_PER_SECOND)
/*
 * Limit of the time for which a link that went down reserves the coordinates of its
 * peer.
 */
#define RESERVED_NS (11 * NANOSECONDS_PER_SECOND)

typedef struct BoxNic BoxNic;

typedef struct Box {
    BoxNic *nic;
    ExanetState *s;
    uint8_t flags;                  /* the first byte of the program */
    bool kernel;                    /* flag EXANET_BOX_KERNEL; cleared by nic_restart() */
    bool gone;                      /* the device was unplugged */
    bool blocked;                   /* the program may have blocked the honest cable */
    bool far_named;                 /* the hostile node has sent packets as FAR_NODE */
    unsigned repeats;
    uint8_t irq;                    /* effect of the next interrupt, see nic_irq() */
    uint32_t irq_reg, irq_value;
    uint16_t job[CTXS];
    /* Copies by CDMA, one for each channel. */
    struct {
        int64_t end;                /* ns, limit of the copy; 0: the channel is free */
        unsigned ctx;               /* context of the process that copies */
    } copy[EXANET_CDMA_CHANNELS];
    /* State of the neighbours.  hello[]: HELLO of each neighbour, not yet with HEARD. */
    struct rnic_hello hello[BOX_WIRES];
    unsigned given;                 /* number of packets that the neighbours have sent */
    /* Work of the device since the last nic_settle() or nic_step(). */
    struct {
        unsigned packets;           /* sent packets */
        unsigned reads;             /* reads of memory of a process */
        unsigned walks;             /* walks of page tables */
    } work;
    unsigned acks, nacks; /* responses to the last copy of honest block @tid */
    uint8_t resp;                   /* enum exanet_resp of the last such response */
    uint16_t tid;
    uint64_t stored; /* data of the device's last 8-byte store to an honest node */
} Box;

extern Box box;

/*
 * Starts a NIC with links up and open contexts.  @flags: the first byte of the program,
 * flags EXANET_BOX_KERNEL to EXANET_BOX_RATE.
 */
void nic_start(uint8_t flags);
void nic_end(void);
/*
 * Ends the job of the accelerator, and asserts that the accelerator is idle after at most
 * 180 s.
 */
void nic_accel_end(void);
/*
 * Resets the device after a hostile kernel, fills RAM as nic_start() does, unblocks the
 * cables, waits for HOLD_NS, and opens the contexts again.  Clears box.kernel, because
 * the kernel is honest from then on.
 */
void nic_restart(void);
/*
 * Removes the device as a loss of power of its slot does; nic_end() must still be
 * called.
 */
void nic_unplug(void);
/*
 * nic_settle() runs the device until no work is left, but for at most 5000 iterations of
 * the main loop, and asserts that the allocated memory is limited.  Unless the program
 * has the kernel's rights, nic_settle() also asserts a limit of the packets, reads and
 * walks of the device since the last call of either function.  nic_step() advances the
 * clock by @ns.  Each of the two functions asserts that the work ends, unless the program
 * has the kernel's rights.
 */
void nic_settle(void);
void nic_step(int64_t ns);

/* --- Registers, and pages of contexts ---------------------------------------- */

void nic_mmio_set(unsigned bar, hwaddr at, uint64_t value, unsigned size);
uint64_t nic_mmio_get(unsigned bar, hwaddr at, unsigned size);
void nic_reg32(hwaddr at, uint32_t value);
void nic_reg64(hwaddr at, uint64_t value);
/* Returns the offset in the user BAR of byte @at of page @page of context @c. */
hwaddr nic_user_at(unsigned c, unsigned page, hwaddr at);
void nic_user64(unsigned c, unsigned page, hwaddr at, uint64_t value);
/*
 * Sends a message of 8 bytes by channel @channel of the packetizer page of context @c to
 * @gva.  @ctrl: the control word; the function sets its size and GO.
 */
void nic_message(unsigned c, unsigned channel, uint64_t gva, uint64_t ctrl);

/* --- The kernel -------------------------------------------------------------- */

uint16_t nic_pdid(unsigned c);
void nic_ctx_open(unsigned c, uint16_t job);
/*
 * Sets QUIESCE of context @c, waits at most HOLD_NS for QUIESCED, and disables the
 * context, as the driver does.  Returns at once if the context is not enabled.  Asserts
 * that QUIESCED is set in time, unless the program has the kernel's rights.
 */
void nic_ctx_close(unsigned c);
void nic_segment(unsigned m, unsigned c, uint32_t coord, uint64_t va, uint32_t ctrl);
/*
 * Answers at most @count page faults of the device's fault queue.  Bit i % 16 of @good:
 * the page of the i-th fault is present now.
 */
void nic_faults_resolve(unsigned count, uint16_t good);

/* --- The cables -------------------------------------------------------------- */

void nic_frame_send(unsigned wire, unsigned kind, unsigned vc, const void *words,
                    unsigned count);
/*
 * Sends the neighbour's HELLO by cable @wire.  @heard: the epoch of the device that the
 * neighbour has received, or 0 if the neighbour has received no HELLO.
 */
void nic_hello_send(unsigned wire, uint8_t heard);
/* Encodes @pkt to @buf, which has EXANET_PACKET_BYTES; returns the length in words. */
unsigned nic_packet_encode(uint8_t *buf, const ExanetPacket *pkt);
/*
 * Encodes a run of @packets packets (at most 65), the first of which is @pkt, to @buf,
 * which has room for the run.  All payload bytes are @byte.  Returns the length in words.
 */
unsigned nic_run_encode(uint8_t *buf, const ExanetPacket *pkt, unsigned packets,
                        uint8_t byte);
void nic_packet_send(unsigned wire, const ExanetPacket *pkt);

/* --- Functions of the device, and the functions by which the linker replaces them --- */

enum exanet_resp __real_exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                            void *buf, size_t len,
                                            uint64_t *fault_va);
enum exanet_resp __wrap_exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                            void *buf, size_t len,
                                            uint64_t *fault_va);
enum exanet_resp __real_exanet_walk(const ExanetWalk *w, uint64_t va, bool write,
                                    ExanetLeaf *leaf);
enum exanet_resp __wrap_exanet_walk(const ExanetWalk *w, uint64_t va, bool write,
                                    ExanetLeaf *leaf);

/* Stores the pointer to the initiator's table of nodes, for nic_tables_check(). */
struct ShmNodes *__real_exanet_shm_nodes_new(void);
struct ShmNodes *__wrap_exanet_shm_nodes_new(void);

/* --- Copies by CDMA: box-cdma.c ---------------------------------------------- */

/* A copy that a process wants, with the arguments of EXANET_IOC_CDMA. */
typedef struct BoxCopy {
    unsigned ctx;                   /* context of the process */
    uint64_t src;                   /* VA of the process, or (@src_remote) a GVA */
    uint64_t dst;                   /* VA of the process, or (@dst_remote) a GVA */
    uint32_t bytes;
    bool src_remote;
    bool dst_remote;
    unsigned dst_ctx;               /* context at the remote node */
} BoxCopy;

/*
 * Starts @copy, and returns its channel.  Copies at most 128 KiB.  Returns -1 if the
 * driver refuses the copy, or if @copy must wait for a channel.
 */
int nic_copy_start(const BoxCopy *copy);
/* Returns true if the copy of channel @ch has not ended. */
bool nic_copy_busy(unsigned ch);
/*
 * Frees the channels whose copies have ended.  Resets the channels whose copies have
 * lasted for 60 s.
 */
void nic_copies_poll(void);
/*
 * Frees the channels of context @c, which the driver has quiesced.  Asserts that the
 * copies of @c have ended, unless the program has the kernel's rights.
 */
void nic_copies_drop(unsigned c);
/*
 * Answers page faults, asserts that all copies end within 60 s, and frees the channels.
 */
void nic_copies_end(void);

/* --- Tables: box-tables.c ---------------------------------------------- */

/*
 * Checks the tables of the device.  The caller has waited HOLD_NS since the close of all
 * contexts.  Asserts that the receiver has no source and no valid receiver context, that
 * all pieces of CDMA are free, and that packetizer and initiator can remove all their
 * nodes.  Then asserts that reports of failed reads end, and that the port of the hostile
 * node reserves the node's coordinates for at most 11 s after the loss of the carrier.
 * Finally, at least 121 s after the close of the contexts, asserts that the firmware can
 * remove all its nodes.
 */
void nic_tables_check(void);
/*
 * Returns the number of read requests in the firmware's queues, which wait until earlier
 * reads have ended.
 */
unsigned nic_reads_waiting(void);

/* --- The secret -------------------------------------------------------------- */

/*
 * Returns true if the @size bytes of @value are the secret, or if @size is 4 and @value
 * is a half of the secret.  Returns false for other sizes, because less than 4 bytes may
 * equal a part of the secret by chance.
 */
bool nic_is_secret(uint64_t value, unsigned size);
/* Returns true if any 8 consecutive bytes of the @len bytes at @at are the secret. */
bool nic_has_secret(const uint8_t *at, size_t len);
/*
 * Fills @len bytes (a multiple of 8) of the honest process' memory, from VA @va on, with
 * the secret.
 */
void nic_secret_fill(uint64_t va, size_t len);

#endif
