/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses that a vCPU makes itself.
 *
 * The thread's depth of RCU read locks tells an access of the instruction from one below
 * it.  cpu_exec() of TCG takes the lock once, and loads and stores of its TLB take none.
 * Under KVM address_space_rw() takes it for the exit.  DMA and messages of a device, and
 * walks of page tables, come by address_space_*(), which takes it once more.
 */
#include "qemu/osdep.h"
#include "qemu/rcu.h"
#include "exec/cpu-common.h"
#include "hw/core/cpu.h"
#include "system/cpus.h"
#include "system/kvm.h"
#include "system/tcg.h"
#include "vcpu.h"
#ifdef CONFIG_LINUX
#include <linux/kvm.h>
#endif

/*
 * Requester ID 0 is no proof, because the guest numbers its buses.  The attributes refuse
 * accesses by MemoryRegionCache, which takes no RCU read lock.  CPUs that do not give
 * attributes (RISC-V, Power) are refused with them.
 */
static bool tcg_access(const CPUState *cpu, MemTxAttrs attrs)
{
    /* cpu_exec_step_atomic() is not in cpu_exec() */
    unsigned depth = cpu_in_exclusive_context(cpu) ? 0 : 1;

    return get_ptr_rcu_reader()->depth == depth && !attrs.unspecified &&
           !attrs.memory && !attrs.requester_id;
}

#ifdef CONFIG_LINUX
/* KVM on Arm gives no attributes: the exit says what the vCPU does. */
static bool kvm_access(const CPUState *cpu, const MemoryRegion *mr, hwaddr addr,
                       bool write)
{
    const struct kvm_run *run = cpu->kvm_run;
    hwaddr at, len;

    if (get_ptr_rcu_reader()->depth != 1 ||
        run->exit_reason != KVM_EXIT_MMIO || run->mmio.is_write != write) {
        return false;
    }
    len = run->mmio.len;
    return address_space_translate(&address_space_memory, run->mmio.phys_addr,
                                   &at, &len, write,
                                   MEMTXATTRS_UNSPECIFIED) == mr &&
           addr - at < run->mmio.len;
}
#endif

bool rnic_vcpu_access(const MemoryRegion *mr, hwaddr addr, bool write,
                      MemTxAttrs attrs)
{
    /* outside of cpu_exec_start() and _end() the vCPU does work for other threads */
    if (!qemu_in_vcpu_thread() || !current_cpu->running) {
        return false;
    }
    if (tcg_enabled()) {
        return tcg_access(current_cpu, attrs);
    }
#ifdef CONFIG_LINUX
    if (kvm_enabled()) {
        return kvm_access(current_cpu, mr, addr, write);
    }
#endif
    return false;
}
