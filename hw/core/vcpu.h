/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses by the instruction that a vCPU executes.  Only such an access may release the
 * big lock, because any other access in the vCPU's thread comes from a device that relies
 * on the lock.
 */
#ifndef RNIC_CORE_VCPU_H
#define RNIC_CORE_VCPU_H

#include "compat.h"

/*
 * Returns true if the access is a load or (@write) a store by the instruction that this
 * thread's vCPU executes, and not an access by a device that works for this instruction.
 * The caller is the handler of @mr, which got @attrs; @addr is the offset.  Returns false
 * for DMA, a message-signalled interrupt, a walk of page tables, work that another thread
 * gave to the vCPU, the monitor, and accelerators other than TCG and KVM.
 *
 * If the function returns true, the thread holds only the RCU read lock of the
 * accelerator's loop; so under TCG cpu_loop_exit_restore() with the vCPU's mem_io_pc is
 * permitted.
 */
bool rnic_vcpu_access(const MemoryRegion *mr, hwaddr addr, bool write,
                      MemTxAttrs attrs);

#endif /* RNIC_CORE_VCPU_H */
