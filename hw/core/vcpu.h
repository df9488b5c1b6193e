/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses that a vCPU makes itself.  Only such an access may give up the big lock: what
 * else runs in the thread of a vCPU is work of a device, which relies on that lock.
 */
#ifndef RNIC_CORE_VCPU_H
#define RNIC_CORE_VCPU_H

#include "compat.h"

/*
 * Returns true if the access of the caller, a handler of @mr at offset @addr that got
 * @attrs, is a load or (@write) a store of the instruction that the vCPU of this thread
 * executes, with no device's work in between.  False: DMA, a message-signalled
 * interrupt, a walk of page tables, work that another thread gave to the vCPU, the
 * monitor, an accelerator other than TCG and KVM.
 *
 * True also means that the thread holds no RCU read lock but that of the accelerator's
 * loop: under TCG cpu_loop_exit_restore() with the vCPU's mem_io_pc is permitted.
 */
bool rnic_vcpu_access(const MemoryRegion *mr, hwaddr addr, bool write,
                      MemTxAttrs attrs);

#endif /* RNIC_CORE_VCPU_H */
