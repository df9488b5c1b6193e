/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses by the instruction of a vCPU.
 *
 * The depth of the thread's RCU read locks distinguishes an access of the instruction
 * from an access of a device.  Under TCG cpu_exec() takes this lock once, and loads and
 * stores through the TLB do not take the lock.  Under KVM address_space_rw() takes the
 * lock once for the exit.  DMA, messages of a device and walks of page tables use
 * address_space_*(), which takes the lock once more.
 */
#include "qemu/osdep.h"
#include "block/aio.h"
#include "qemu/main-loop.h"
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

/* Time after which a vCPU that waits looks whether it must stop. */
#define WAIT_SLICE_MS 10

/*
 * Returns true if the instruction that TCG executes makes the access.  Requester ID 0
 * alone proves nothing, because the guest numbers its buses.  The check of @attrs
 * excludes accesses by MemoryRegionCache, which takes no RCU read lock.  The check also
 * excludes CPUs whose accesses have no attributes (RISC-V, Power).
 */
static bool tcg_access(const CPUState *cpu, MemTxAttrs attrs)
{
    /* cpu_exec_step_atomic() runs outside of cpu_exec(), without the RCU read lock */
    unsigned depth = cpu_in_exclusive_context(cpu) ? 0 : 1;

    return get_ptr_rcu_reader()->depth == depth && !attrs.unspecified &&
           !attrs.memory && !attrs.requester_id;
}

#ifdef CONFIG_LINUX
/*
 * Returns true if the access is the MMIO exit of KVM that the vCPU's thread handles now.
 * Does not use attributes, because KVM on Arm passes no attributes.
 */
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
    /*
     * CPUState.running is false while the thread does work that other threads have queued
     */
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

static void unref_bh(void *opaque)
{
    object_unref(opaque);
}

void rnic_vcpu_unref(Object *owner)
{
    if (get_ptr_rcu_reader()->depth) {
        object_unref(owner);
    } else {
        aio_bh_schedule_oneshot(qemu_get_aio_context(), unref_bh, owner);
    }
}

bool rnic_vcpu_stops(void)
{
    return current_cpu->stop;
}

void rnic_vcpu_wait(DeviceState *dev, QemuCond *cond, int64_t timeout_ms,
                    bool (*done)(void *opaque), void *opaque)
{
    int64_t end = g_get_monotonic_time() + timeout_ms * (G_USEC_PER_SEC / 1000);
    bool engaged = dev->mem_reentrancy_guard.engaged_in_io;

    object_ref(OBJECT(dev));
    /*
     * Clears the guard, because otherwise QEMU would refuse accesses of other vCPUs to
     * @dev, and the work of @dev in the main loop.
     */
    dev->mem_reentrancy_guard.engaged_in_io = false;
    while (!done(opaque) && !rnic_vcpu_stops() && g_get_monotonic_time() < end) {
        qemu_cond_timedwait_bql(cond, WAIT_SLICE_MS);
    }
    dev->mem_reentrancy_guard.engaged_in_io = engaged;
    rnic_vcpu_unref(OBJECT(dev));
}
