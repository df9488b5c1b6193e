/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses by the instruction that a vCPU executes.  The handler of such an access may
 * release the big lock.  Any other access in the vCPU's thread comes from a device or
 * another part of QEMU, which relies on the lock.
 */
#ifndef RNIC_CORE_VCPU_H
#define RNIC_CORE_VCPU_H

#include "compat.h"

/*
 * Returns true if the access is a load or (@write) a store by the instruction that this
 * thread's vCPU executes, and not an access by a device that works for this instruction.
 * The caller is the access handler of region @mr, which got @attrs; @addr is the offset
 * in @mr.  Returns false for DMA, a message-signalled interrupt, a walk of page tables,
 * work that another thread queued for the vCPU, and the monitor.  Returns false also for
 * accelerators other than TCG and KVM, and under TCG for CPUs whose accesses have no
 * attributes (RISC-V, Power).
 *
 * If the function returns true, the thread holds at most one RCU read lock: cpu_exec()
 * took the lock under TCG, address_space_rw() took the lock for the exit under KVM.  So
 * under TCG cpu_loop_exit_restore() with the vCPU's mem_io_pc is permitted.
 */
bool rnic_vcpu_access(const MemoryRegion *mr, hwaddr addr, bool write,
                      MemTxAttrs attrs);

/*
 * Makes the vCPU of this thread wait, without the big lock, until @done returns true, for
 * at most @timeout_ms of real time, because virtual time may stand still.  The caller is
 * the handler of an access for which rnic_vcpu_access() is true.  A signal of @cond makes
 * the function call @done, which gets @opaque and runs with the big lock.  Ends earlier
 * if the vCPU must stop, because the main loop waits for the vCPU then.  @dev may be
 * reset or unplugged meanwhile, but its memory stays.  Other accesses of @dev are
 * permitted meanwhile.
 */
void rnic_vcpu_wait(DeviceState *dev, QemuCond *cond, int64_t timeout_ms,
                    bool (*done)(void *opaque), void *opaque);
/* Returns true if the vCPU of this thread must stop. */
bool rnic_vcpu_stops(void);

/*
 * Releases a reference to the device @owner.  The handler of an access for which
 * rnic_vcpu_access() is true took the reference before the handler released the big lock,
 * because the device may be unplugged meanwhile.
 *
 * QEMU uses the MemoryRegion again after the handler.  Usually the vCPU's thread holds an
 * RCU read lock, which keeps the FlatView, and thus the region's owner.  An atomic
 * instruction under TCG runs without this lock.  Without the lock, a bottom half of the
 * main loop releases the reference, because the main loop gets the big lock only after
 * the access.
 */
void rnic_vcpu_unref(Object *owner);

#endif /* RNIC_CORE_VCPU_H */
