/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device in a box: the functions of QEMU that device models call, for fuzz targets of
 * whole devices of any family.  QOM, bottom halves and timers are QEMU's own.  The box
 * simulates memory, netdevs, clock and CPU, so that a target controls each event.
 *
 *   box-memory.c   RAM, regions, MMIO; RAM may change between two reads
 *   box-net.c      NICs, and netdevs that record sent frames and may hold them
 *   box-filter.c   filters of netdevs (in pvrdma/)
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

/*
 * Clears RAM, removes all regions of the device, and cancels box_remap() and box_flip().
 */
void box_memory_reset(void);
/* Maps @mr as region @n of the device, at BOX_BAR(@n). */
void box_bar(unsigned n, MemoryRegion *mr);
/* Removes all regions of the device, as an unplug or the end of the device does. */
void box_bars_remove(void);
/*
 * Changes the memory map: from now on RAM has only the first @ram_bytes bytes, at most
 * BOX_RAM_BYTES.
 */
void box_remap(hwaddr ram_bytes);
/*
 * Sets the byte of RAM at @offset (modulo BOX_RAM_BYTES) to @value after @reads + 1 more
 * accesses of the device to RAM, because a guest may change memory between two reads.  A
 * DMA access counts once for each part of at most 8 bytes, and writes count too.
 * Replaces the previous call.
 */
void box_flip(unsigned reads, uint32_t offset, uint8_t value);
/*
 * Counts an access to RAM for box_flip(), and changes the byte at access @reads + 1.
 * Other files call this function after reads that the device does through pointers, and
 * after box_flip(0, ...), so that the previous box_flip() has no effect any more.
 */
void box_ram_was_read(void);
/*
 * Loads or stores (@write) @size bytes at @addr in a region of the device, as a CPU does.
 * Returns MEMTX_DECODE_ERROR if no region is at @addr or the region does not permit the
 * access, MEMTX_ACCESS_ERROR if QEMU's re-entrancy guard forbids the access, or else the
 * result of the region.
 */
MemTxResult box_access(hwaddr addr, uint64_t *value, unsigned size, bool write);

/* --- Netdevs: box-net.c ------------------------------------------------------ */

#define BOX_WIRES 2

/*
 * Gets each frame of @len bytes that the device sends to netdev @wire while the link of
 * the netdev is up.  The function must not call the device.
 */
typedef void BoxSent(unsigned wire, const uint8_t *frame, size_t len);

/*
 * Drops all queued and kept frames, unblocks the netdevs, brings their links up, and
 * forgets their NICs and filters.  From now on @sent gets the frames that the device
 * sends.
 */
void box_net_reset(BoxSent *sent);
/* Returns netdev @wire, for a property of the device. */
NetClientState *box_wire(unsigned wire);
/*
 * Adds a copy of the @len bytes at @frame to the queue of netdev @wire, from which
 * box_net_deliver() delivers frames to the device.  Drops the frame if 4096 frames wait
 * there.
 */
void box_frame(unsigned wire, const void *frame, size_t len);
/*
 * Offers the oldest queued frame of each netdev to the filter and then to the NIC at the
 * netdev, unless the NIC has refused that frame and has not flushed the queue since.
 * Drops the frame if the link is down.  Returns true if a frame has left its queue.
 */
bool box_net_deliver(void);
/*
 * Returns true if the NIC has refused the oldest queued frame of netdev @wire and has not
 * flushed the queue since.
 */
bool box_wire_refused(unsigned wire);
/*
 * Blocks (@on) or unblocks netdev @wire.  A blocked netdev keeps the next frame of the
 * device, which BoxSent gets at once, and the device must send no further frame.  When
 * the netdev is unblocked, the box reports to the device that this frame has left.
 */
void box_wire_block(unsigned wire, bool on);
void box_wire_link(unsigned wire, bool up);

/*
 * Makes a NIC of another device at netdev @wire, for a device that has no NIC, but sends
 * and receives frames at the netdev of this NIC.  The caller owns the NIC, and frees the
 * NIC by qemu_del_nic().
 */
NICState *box_nic(unsigned wire, const uint8_t mac[6]);
/*
 * Sets the filter of @netdev, which gets the frames for the NIC before the NIC does;
 * NULL: no filter.
 */
void box_wire_filter(NetClientState *netdev, NetFilterState *filter);

/* --- Properties: box-qdev.c --------------------------------------------------- */

/*
 * Sets the @count properties @props of @state to their default values.  @state is a
 * structure of the type that the macros DEFINE_PROP_* of @props name.  A property without
 * a default value keeps its value.
 */
void box_properties(void *state, const Property *props, unsigned count);

/* --- Time: box-loop.c -------------------------------------------------------- */

/* Initializes QEMU's main loop at the first call of the process. */
void box_init(void);
/*
 * Sets the clock to its start, starts the machine, clears the count of box_releases(),
 * and cancels box_meanwhile() and box_vcpu().
 */
void box_loop_reset(void);
/* Returns the time of the box's clock, ns. */
int64_t box_now(void);
/*
 * Runs or stops the machine, and calls the state handlers if the state changes.
 * box_step() advances the clock also while the machine is stopped.
 */
void box_machine_run(bool run);
/*
 * Runs bottom halves and delivers frames until an iteration finds no work, but in at most
 * @iterations iterations of the main loop.  Returns false if the last iteration still
 * found work.
 */
bool box_run(unsigned iterations);
/*
 * Advances the clock by @ns, stops at each time for which a timer is armed, and runs the
 * timer.  Calls box_run(@iterations) at the start, after each stop, and at the end.
 * Returns false if a box_run() has returned false, or if the clock has stopped 100000
 * times before the end.
 */
bool box_step(int64_t ns, unsigned iterations);
/*
 * Makes the next accesses come from a vCPU, which may release the big lock (@on is true),
 * or from a device (@on is false).
 */
void box_vcpu(bool on);
/*
 * Makes the next accesses come from an instruction that the vCPU executes while all other
 * vCPUs stand still.  During such an instruction TCG holds no RCU read lock.  So if the
 * device is unplugged during the access, only a reference that the device itself has
 * taken keeps the device allocated.  box_vcpu(false) ends the effect of this function.
 */
void box_vcpu_exclusive(void);
bool box_vcpu_is_exclusive(void);
/* Makes the vCPU one that must stop, or one that may go on. */
void box_vcpu_stop(bool on);
/*
 * Calls @work once, as another thread that holds the big lock, when vCPUs have released
 * this lock @releases + 1 times from now on.  Each slice of a wait for a condition
 * releases the lock once.  If @work is NULL, cancels the previous call.
 */
void box_meanwhile(unsigned releases, void (*work)(void));
/*
 * Returns how often vCPUs have released the big lock since box_loop_reset(), but for
 * waits for a condition.
 */
unsigned box_releases(void);

/*
 * Bits of box_met: events during polls by vCPUs.  All events but BOX_MET_FRAME happen
 * while the polling vCPU has released the big lock.
 */
enum {
    BOX_MET_FRAME = 1,              /* the polling vCPU has taken a frame */
    /* the context of the poll is not open any more, or an object is destroyed */
    BOX_MET_CLOSE = 2,
    BOX_MET_RESET = 4,
    BOX_MET_UNPLUG = 8,
    BOX_MET_POLL = 16,              /* another vCPU polls */
    BOX_MET_ALL = 31,
};

/*
 * Bits BOX_MET_* of the events that the programs (inputs of the fuzzer) of this process
 * have caused so far.  fuzz_reached() asserts that all bits are set.
 */
extern unsigned box_met;

/* --- Assertions -------------------------------------------------------------- */

/* Returns the number of bytes that are allocated on the heap. */
size_t box_live_bytes(void);

/*
 * Returns the sanitizer's number of allocated bytes.  The declaration is here because
 * GCC lacks <sanitizer/allocator_interface.h>.
 */
size_t __sanitizer_get_current_allocated_bytes(void);

#endif
