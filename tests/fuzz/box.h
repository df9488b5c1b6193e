/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device in a box: what of QEMU the device models use, for fuzz targets of whole
 * devices of any family.  QOM, bottom halves and timers are QEMU's own; memory, netdevs,
 * clock and CPU are played here, so that a target decides when anything happens.
 *
 *   box-memory.c   RAM, regions, MMIO; RAM may change between two reads
 *   box-net.c      NICs, whose netdevs record what is sent and may hold it
 *   box-qdev.c     defaults of properties
 *   box-loop.c     clock, timers, bottom halves, the CPU that waits
 */
#ifndef TESTS_FUZZ_BOX_H
#define TESTS_FUZZ_BOX_H

#include "fuzz.h"
#include "hw/rnic/core/compat.h"
#include "net/net.h"

/* --- Memory: box-memory.c ---------------------------------------------------- */

#define BOX_RAM_BYTES   (256 * 1024)
#define BOX_BARS        6
#define BOX_BAR_SHIFT   32
/* Where region @n of the device is in the address space. */
#define BOX_BAR(n)      (((hwaddr)(n) + 1) << BOX_BAR_SHIFT)

extern uint8_t box_ram[BOX_RAM_BYTES];

/* Empty RAM, no regions, nothing armed. */
void box_memory_reset(void);
/* Region @n of the device. */
void box_bar(unsigned n, MemoryRegion *mr);
/* The address space changes: RAM has only @ram_bytes from now on. */
void box_remap(hwaddr ram_bytes);
/*
 * The byte at @offset of RAM is @value after @reads more reads of RAM by the device: a
 * guest that changes its mind between two reads.
 */
void box_flip(unsigned reads, uint32_t offset, uint8_t value);
/* A read of RAM that box-memory.c does not see itself has been done. */
void box_ram_was_read(void);
/* An access by a CPU; larger than 8 bytes, or to nothing: MEMTX_DECODE_ERROR. */
MemTxResult box_access(hwaddr addr, uint64_t *value, unsigned size, bool write);

/* --- Netdevs: box-net.c ------------------------------------------------------ */

#define BOX_WIRES 2

/* Called with each frame that the device sends; not to call the device. */
typedef void BoxSent(unsigned wire, const uint8_t *frame, size_t len);

void box_net_reset(BoxSent *sent);
/* The netdev, for a property of the device. */
NetClientState *box_wire(unsigned wire);
/* A frame for the device; it is copied and delivered by box_run(). */
void box_frame(unsigned wire, const void *frame, size_t len);
/* Delivers the oldest frame of each netdev; true if there was one that was taken. */
bool box_net_deliver(void);
/* While it is blocked the netdev keeps one frame of the device. */
void box_wire_block(unsigned wire, bool on);
void box_wire_link(unsigned wire, bool up);

/* --- Properties: box-qdev.c --------------------------------------------------- */

/* Sets the defaults of properties in @state, what DEFINE_PROP_ took as its type. */
void box_properties(void *state, const Property *props, unsigned count);

/* --- Time: box-loop.c -------------------------------------------------------- */

/* Once for the process. */
void box_init(void);
/* The clock is back at its start, and nothing waits. */
void box_loop_reset(void);
int64_t box_now(void);
/*
 * Runs bottom halves and delivers frames until nothing is left, at most @turns turns;
 * false if there is more.
 */
bool box_run(unsigned turns);
/* Lets @ns pass, in steps from timer to timer; false if one of them did not end. */
bool box_step(int64_t ns, unsigned turns);
/* The next accesses come from a vCPU, which may wait; or from a device. */
void box_vcpu(bool on);

/* --- Assertions -------------------------------------------------------------- */

/* The number of bytes that are allocated. */
size_t box_live_bytes(void);

#endif
