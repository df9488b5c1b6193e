/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses by the instruction that a vCPU executes.  The handler of such an access may
 * release the big lock.  Any other access in the vCPU's thread comes from a device, which
 * relies on the lock.
 */
#ifndef RNIC_CORE_VCPU_H
#define RNIC_CORE_VCPU_H

#include "compat.h"

/*
 * Returns true if the access is a load or (@write) a store by the instruction that this
 * thread's vCPU executes, and not an access by a device that works for this instruction.
 * The caller is the handler of @mr that got @attrs; @addr is the offset in @mr.  Returns
 * false for DMA, a message-signalled interrupt, a walk of page tables, work that another
 * thread queued for the vCPU, and the monitor.  Returns false also for accelerators other
 * than TCG and KVM, and under TCG for CPUs whose accesses have no attributes (RISC-V,
 * Power).
 *
 * If the function returns true, the thread holds at most one RCU read lock: that of
 * cpu_exec() under TCG, that of address_space_rw() for the exit under KVM.  So under TCG
 * cpu_loop_exit_restore() with the vCPU's mem_io_pc is permitted.
 */
bool rnic_vcpu_access(const MemoryRegion *mr, hwaddr addr, bool write,
                      MemTxAttrs attrs);

/*
 * Releases a reference to the device @owner.  The handler of an access for which
 * rnic_vcpu_access() is true took the reference before it released the big lock, because
 * the device may be unplugged meanwhile.
 *
 * QEMU uses the MemoryRegion again after the handler.  Usually the RCU read lock of the
 * accelerator's loop keeps the FlatView, and thus the region's owner.  An atomic
 * instruction under TCG runs without this lock.  Then a bottom half of the main loop
 * releases the reference, because it gets the big lock only after the access.
 */
void rnic_vcpu_unref(Object *owner);

#endif /* RNIC_CORE_VCPU_H */
