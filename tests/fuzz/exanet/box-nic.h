/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NIC of exanet-box, its honest kernel and the nodes at its cables.  The nodes
 * answer HELLO; the honest node also answers requests.
 */
#ifndef TESTS_FUZZ_EXANET_BOX_NIC_H
#define TESTS_FUZZ_EXANET_BOX_NIC_H

#include "../box.h"
#include "box-program.h"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/exanet/engine/walk.h"
#include "hw/rnic/exanet/base/wire.h"
#include "rnic/exanet/desc.h"

/* Coordinates. */
#define NODE        0x005
#define HONEST_NODE 0x004
#define FAR_NODE    0x003           /* behind the honest node */
#define EVIL_NODE   0x006
#define PEER_EPOCH  33
/* Cables. */
#define HONEST      0
#define EVIL        1

#define EVIL_CTXS   2
#define HONEST_CTX  2
#define CTXS        3
#define HONEST_JOB  77
#define CTX_BYTES   0x8000          /* bytes of RAM, mapped at VA 0 */
#define DATA_AT(c)  ((c) * CTX_BYTES)
/* Content of each 8 bytes of the honest process' memory. */
#define SECRET      0x8f1d3b92c5e6740dULL

#define APERTURE    0x10000
#define SEGMENT     0x1000
#define HOLD_NS     (61 * NANOSECONDS_PER_SECOND)

typedef struct BoxNic BoxNic;

typedef struct Box {
    BoxNic *nic;
    ExanetState *s;
    bool kernel;                    /* EXANET_BOX_KERNEL */
    bool named;                     /* EXANET_BOX_NAMED */
    bool gone;                      /* the device was unplugged */
    bool blocked;                   /* the honest node's cable was blocked */
    bool far_named;                 /* the hostile node has sent as FAR_NODE */
    unsigned repeats;
    uint8_t irq;                    /* effect of the next interrupt */
    uint32_t irq_reg, irq_value;
    uint16_t job[CTXS];
    /* State of the neighbours. */
    struct exanet_hello hello[BOX_WIRES];
    unsigned acks, nacks;           /* acks to the block @tid of an honest node */
    uint8_t resp;                   /* of the last one; enum exanet_resp */
    uint16_t tid;
    uint64_t stored;                /* the last store to the honest node */
} Box;

extern Box box;

/* Starts a NIC with open contexts; @flags: the first byte of the program. */
void nic_start(uint8_t flags);
void nic_end(void);
/* Ends the job of the accelerator, and asserts that the unit is free in bounded time. */
void nic_accel_end(void);
/*
 * Resets the device after a hostile kernel, clears RAM, waits until the device has
 * forgotten the nodes, and opens the contexts again.  The kernel is honest then.
 */
void nic_restart(void);
/* Removes the device: the power of its slot goes off. */
void nic_unplug(void);
/* Runs the device until all work has ended, which it must, or advances the clock. */
void nic_settle(void);
void nic_step(int64_t ns);

/* --- Registers, and pages of contexts ---------------------------------------- */

void nic_mmio_set(unsigned bar, hwaddr at, uint64_t value, unsigned size);
uint64_t nic_mmio_get(unsigned bar, hwaddr at, unsigned size);
void nic_reg32(hwaddr at, uint32_t value);
void nic_reg64(hwaddr at, uint64_t value);
/* Returns the offset of byte @at of page @page of context @c. */
hwaddr nic_user_at(unsigned c, unsigned page, hwaddr at);
void nic_user64(unsigned c, unsigned page, hwaddr at, uint64_t value);

/* --- The kernel -------------------------------------------------------------- */

uint16_t nic_pdid(unsigned c);
void nic_ctx_open(unsigned c, uint16_t job);
/* Closes a context as the driver does; the context must become quiet. */
void nic_ctx_close(unsigned c);
void nic_segment(unsigned m, unsigned c, uint32_t coord, uint64_t va, uint32_t ctrl);
/* Answers at most @count page faults; bits of @good: whether the page is there now. */
void nic_faults_resolve(unsigned count, uint16_t good);

/* --- The cables -------------------------------------------------------------- */

void nic_frame_send(unsigned wire, unsigned kind, unsigned vc, const void *words,
                    unsigned count);
/* Sends HELLO.  @heard: the device's epoch that the neighbour knows, or 0. */
void nic_hello_send(unsigned wire, uint8_t heard);
/* Encodes @pkt to @buf, EXANET_PACKET_BYTES; returns the length in words. */
unsigned nic_packet_encode(uint8_t *buf, const ExanetPacket *pkt);
void nic_packet_send(unsigned wire, const ExanetPacket *pkt);

/* --- Functions of the device, and what the linker replaces them by ------------ */

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

/* Remembers the table of the initiator's nodes. */
struct ShmNodes *__real_exanet_shm_nodes_new(void);
struct ShmNodes *__wrap_exanet_shm_nodes_new(void);

/* --- Tables: box-tables.c ---------------------------------------------- */

/*
 * Checks, 61 s after the close of all contexts, that sources and receiver contexts are
 * gone, and that the device can remove all nodes of packetizer and initiator; nodes of
 * the firmware 121 s after the close.  Checks meanwhile that reports of failed reads end,
 * and that the hostile neighbour's cable reserves no coordinates for long after its
 * carrier is lost.
 */
void nic_tables_check(void);
/* Returns how many reads for other nodes wait until earlier ones have ended. */
unsigned nic_reads_waiting(void);

/* --- The secret -------------------------------------------------------------- */

/* Returns true if the @len bytes at @at contain the secret. */
bool nic_has_secret(const uint8_t *at, size_t len);
/* Fills @len bytes from @va on of the honest process' memory with the secret. */
void nic_secret_fill(uint64_t va, size_t len);

#endif
