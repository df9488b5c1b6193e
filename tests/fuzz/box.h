/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device in a box: the functions of QEMU that device models call, for fuzz targets of
 * whole devices of any family.  QOM, bottom halves and timers are QEMU's own.  The box
 * simulates memory, netdevs, clock and CPU, so that a target controls each event.
 *
 *   box-memory.c   RAM, regions, MMIO; RAM may change between two reads
 *   box-net.c      NICs, and netdevs that record sent frames and may hold them
 *   box-filter.c   filters of netdevs
 *   box-qdev.c     defaults of properties
 *   box-stats.c    query-stats
 *   box-loop.c     clocks, timers, bottom halves, the CPU that waits, the big lock
 */
#ifndef TESTS_FUZZ_BOX_H
#define TESTS_FUZZ_BOX_H

#include "fuzz.h"
#include "hw/rnic/core/compat.h"
#include "net/filter.h"
#include "net/net.h"

/* --- Memory: box-memory.c ---------------------------------------------------- */

#define BOX_RAM_BYTES   (256 * 1024)
#define BOX_BARS        6
#define BOX_BAR_SHIFT   32
/* Address of region @n of the device. */
#define BOX_BAR(n)      (((hwaddr)(n) + 1) << BOX_BAR_SHIFT)

extern uint8_t box_ram[BOX_RAM_BYTES];

/* Clears RAM, and removes all regions and flips. */
void box_memory_reset(void);
/* Adds region @n of the device. */
void box_bar(unsigned n, MemoryRegion *mr);
/* Removes all regions, because the device is unplugged. */
void box_bars_remove(void);
/* Changes the address space: RAM has only @ram_bytes from now on. */
void box_remap(hwaddr ram_bytes);
/*
 * Sets the byte at @offset of RAM to @value after @reads more reads of RAM by the
 * device, because a guest may change memory between two reads.
 */
void box_flip(unsigned reads, uint32_t offset, uint8_t value);
/* Counts a read of RAM that box-memory.c does not see. */
void box_ram_was_read(void);
/*
 * Accesses @addr like a CPU.  Returns MEMTX_DECODE_ERROR if @size exceeds 8 or if @addr
 * is not mapped.
 */
MemTxResult box_access(hwaddr addr, uint64_t *value, unsigned size, bool write);

/* --- Netdevs: box-net.c ------------------------------------------------------ */

#define BOX_WIRES 2

/* Called with each frame that the device sends; must not call the device. */
typedef void BoxSent(unsigned wire, const uint8_t *frame, size_t len);

void box_net_reset(BoxSent *sent);
/* Returns the netdev for a property of the device. */
NetClientState *box_wire(unsigned wire);
/* Copies a frame for the device; box_run() delivers the frame. */
void box_frame(unsigned wire, const void *frame, size_t len);
/* Delivers the oldest frame of each netdev; returns true if the device took a frame. */
bool box_net_deliver(void);
/* Blocks or unblocks a netdev; a blocked netdev keeps one frame of the device. */
void box_wire_block(unsigned wire, bool on);
void box_wire_link(unsigned wire, bool up);

/*
 * A NIC of another device at a netdev, for devices that share the wire of a NIC.  The
 * caller owns the NIC, and ends it with qemu_del_nic().
 */
NICState *box_nic(unsigned wire, const uint8_t mac[6]);
/* Sets the filter that gets each frame for the NIC first; NULL: none. */
void box_wire_filter(NetClientState *netdev, NetFilterState *filter);

/* --- Properties: box-qdev.c --------------------------------------------------- */

/*
 * Sets the properties in @state, a structure of the type given to DEFINE_PROP_, to
 * their default values.
 */
void box_properties(void *state, const Property *props, unsigned count);

/* --- Time: box-loop.c -------------------------------------------------------- */

/* Initializes QEMU's main loop, once per process. */
void box_init(void);
/* Resets the clock to its start, and removes pending work. */
void box_loop_reset(void);
int64_t box_now(void);
/* Stops or continues the machine; the clock of the box can go on meanwhile. */
void box_machine_run(bool run);
/*
 * Runs bottom halves and delivers frames until no work is left, at most @turns turns;
 * returns false if work is left.
 */
bool box_run(unsigned turns);
/*
 * Advances the clock by @ns, from timer to timer; returns false if the work of one step
 * did not end.
 */
bool box_step(int64_t ns, unsigned turns);
/* Makes the next accesses come from a vCPU, which may wait (@on), or from a device. */
void box_vcpu(bool on);
/*
 * The same for an instruction that the vCPU executes while all other vCPUs stand still.
 * TCG holds no RCU read lock then, so nothing but the device itself keeps a device that
 * is unplugged meanwhile.
 */
void box_vcpu_exclusive(void);
bool box_vcpu_is_exclusive(void);
/*
 * Calls @work once, as another thread, when a vCPU has released the big lock for the
 * @releases'th time from now on (0: the first time).  NULL: nothing happens then.
 */
void box_meanwhile(unsigned releases, void (*work)(void));
/* Returns how often a vCPU has released the big lock. */
unsigned box_releases(void);

/* Events in polls by vCPUs; all but the first happen while the big lock is released. */
enum {
    BOX_MET_FRAME = 1,              /* the vCPU has taken a frame */
    BOX_MET_CLOSE = 2,              /* of a context, or of an object */
    BOX_MET_RESET = 4,
    BOX_MET_UNPLUG = 8,
    BOX_MET_POLL = 16,              /* by another vCPU */
    BOX_MET_ALL = 31,
};

/* The events in all programs of this run are kept here, for fuzz_reached(). */
extern unsigned box_met;

/* --- Assertions -------------------------------------------------------------- */

/* Returns the number of allocated bytes. */
size_t box_live_bytes(void);

/* Returns the bytes on the heap: <sanitizer/allocator_interface.h>, which GCC lacks. */
size_t __sanitizer_get_current_allocated_bytes(void);

#endif
