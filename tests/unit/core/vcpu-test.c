/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests rnic_vcpu_access(), rnic_vcpu_wait() and rnic_vcpu_unref(). The test simulates
 * the accelerator, the memory map, bottom halves and the big lock.
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
#include "hw/rnic/core/vcpu.h"
#include <linux/kvm.h>

#define BASE    0xfe000000ULL       /* address of @region */
#define BYTES   0x10000ULL
#define OTHER   0xfd000000ULL       /* address of @other */

static MemoryRegion region, other;
static struct kvm_run kvm;
static CPUState cpu = { .running = true, .kvm_run = &kvm };
static bool in_thread;

/* --- Functions that vcpu.c calls --------------------------------------------------- */

__thread CPUState *current_cpu;
bool tcg_allowed, kvm_allowed;
AddressSpace address_space_memory;

bool qemu_in_vcpu_thread(void)
{
    return in_thread;
}

MemoryRegion *flatview_translate(FlatView *fv, hwaddr addr, hwaddr *at,
                                 hwaddr *len, bool write, MemTxAttrs attrs)
{
    if (addr - BASE < BYTES) {
        *at = addr - BASE;
        return &region;
    }
    *at = addr - OTHER;
    return &other;
}

static int context;                     /* address of the main loop's AioContext */
static QEMUBHFunc *bh;                  /* scheduled bottom half, or NULL */
static void *bh_opaque;

AioContext *qemu_get_aio_context(void)
{
    return (AioContext *)&context;
}

void aio_bh_schedule_oneshot_full(AioContext *ctx, QEMUBHFunc *cb, void *opaque,
                                  const char *name)
{
    g_assert_true(ctx == qemu_get_aio_context() && !bh);
    bh = cb;
    bh_opaque = opaque;
}

static QemuCond cond;
static DeviceState dev;
static unsigned slices;                 /* calls of qemu_cond_timedwait_bql() */
static unsigned slice_stop;             /* the vCPU must stop in this slice; 0: never */

/* Other threads have the big lock in this time, and use the device. */
void qemu_cond_timedwait_bql(QemuCond *c, int ms)
{
    g_assert_true(c == &cond);
    g_assert_cmpint(ms, >, 0);
    g_assert_false(dev.mem_reentrancy_guard.engaged_in_io);
    g_assert_cmpuint(dev.parent_obj.ref, ==, 2);
    slices++;
    cpu.stop = slices == slice_stop;
    g_usleep(1000);
}

static void start(bool tcg)
{
    tcg_allowed = tcg;
    kvm_allowed = !tcg;
    cpu.running = true;
    cpu.exclusive_context_count = 0;
    cpu.kvm_run = tcg ? NULL : &kvm;
    in_thread = true;
    current_cpu = &cpu;
}

/* Calls rnic_vcpu_access() with @depth RCU read locks held. */
static bool ask(unsigned depth, hwaddr addr, bool write, MemTxAttrs attrs)
{
    bool mine;

    for (unsigned i = 0; i < depth; i++) {
        rcu_read_lock();
    }
    mine = rnic_vcpu_access(&region, addr, write, attrs);
    for (unsigned i = 0; i < depth; i++) {
        rcu_read_unlock();
    }
    return mine;
}

/* --- TCG ----------------------------------------------------------------------- */

static const MemTxAttrs plain;

static void test_tcg(void)
{
    start(true);
    g_assert_true(ask(1, 8, false, plain));
    g_assert_true(ask(1, 8, true, (MemTxAttrs) { .secure = 1, .user = 1 }));
    /* DMA; MSI of a device with requester ID 0; a page-table walk */
    g_assert_false(ask(2, 8, true, plain));
    g_assert_false(ask(3, 8, true, plain));
    /* attributes that a vCPU does not use */
    g_assert_false(ask(1, 8, true, MEMTXATTRS_UNSPECIFIED));
    g_assert_false(ask(1, 8, true, (MemTxAttrs) { .memory = 1 }));
    g_assert_false(ask(1, 8, true, (MemTxAttrs) { .requester_id = 0x10 }));
}

/* TCG executes an atomic instruction while all other vCPUs are stopped. */
static void test_tcg_atomic(void)
{
    start(true);
    cpu.exclusive_context_count = 1;
    g_assert_true(ask(0, 8, true, plain));
    g_assert_false(ask(1, 8, true, plain));
}

/* The vCPU's thread works for another thread, or the thread has no vCPU. */
static void test_threads(void)
{
    for (unsigned tcg = 0; tcg < 2; tcg++) {
        start(tcg);
        kvm = (struct kvm_run) {
            .exit_reason = KVM_EXIT_MMIO,
            .mmio = { .phys_addr = BASE, .len = 4, .is_write = 1 },
        };
        g_assert_true(ask(1, 0, true, plain));
        cpu.running = false;
        g_assert_false(ask(1, 0, true, plain));
        cpu.running = true;
        in_thread = false;
        g_assert_false(ask(1, 0, true, plain));
    }
    start(false);
    kvm_allowed = false;                /* an accelerator other than KVM */
    g_assert_false(ask(1, 0, true, plain));
}

/* --- KVM ----------------------------------------------------------------------- */

static void kvm_exit(uint32_t reason, uint64_t addr, uint32_t len, bool write)
{
    kvm = (struct kvm_run) {
        .exit_reason = reason,
        .mmio = { .phys_addr = addr, .len = len, .is_write = write },
    };
}

static void check_kvm(MemTxAttrs attrs)
{
    start(false);
    kvm_exit(KVM_EXIT_MMIO, BASE + 0x100, 8, true);
    g_assert_true(ask(1, 0x100, true, attrs));
    g_assert_true(ask(1, 0x104, true, attrs));      /* second half of the access */
    g_assert_false(ask(1, 0x108, true, attrs));
    g_assert_false(ask(1, 0xff, true, attrs));
    g_assert_false(ask(1, 0x100, false, attrs));
    kvm_exit(KVM_EXIT_MMIO, BASE + 0x100, 4, false);
    g_assert_true(ask(1, 0x100, false, attrs));
    g_assert_false(ask(1, 0x100, true, attrs));
}

static void test_kvm_x86(void)
{
    check_kvm(plain);
}

static void test_kvm_arm(void)
{
    check_kvm(MEMTXATTRS_UNSPECIFIED);
}

/* The vCPU writes to another device, which then accesses this device by DMA. */
static void test_kvm_dma(void)
{
    start(false);
    kvm_exit(KVM_EXIT_MMIO, OTHER + 0x100, 4, true);
    g_assert_false(ask(2, 0x100, false, MEMTXATTRS_UNSPECIFIED));
    g_assert_false(ask(2, 0x100, true, plain));
    g_assert_false(ask(1, 0x100, true, plain));
    /* the vCPU writes to the address to which the DMA goes */
    kvm_exit(KVM_EXIT_MMIO, BASE + 0x100, 4, true);
    g_assert_false(ask(2, 0x100, true, plain));
    /* a write to an I/O port; the union still has data of an older MMIO exit */
    kvm_exit(KVM_EXIT_IO, BASE + 0x100, 4, true);
    g_assert_false(ask(1, 0x100, true, plain));
}

/* --- References -------------------------------------------------------------------- */

/* The RCU read lock keeps the region, so the reference ends at once. */
static void test_unref(void)
{
    Object owner = { .ref = 2 };

    rcu_read_lock();
    rnic_vcpu_unref(&owner);
    rcu_read_unlock();
    g_assert_null(bh);
    g_assert_cmpuint(owner.ref, ==, 1);
}

/*
 * In an atomic instruction QEMU uses the region after the handler, and no RCU read lock
 * keeps the region.  The reference ends in the main loop.
 */
static void test_unref_atomic(void)
{
    Object owner = { .ref = 2 };

    rnic_vcpu_unref(&owner);
    g_assert_cmpuint(owner.ref, ==, 2);
    g_assert_nonnull(bh);
    bh(bh_opaque);
    g_assert_cmpuint(owner.ref, ==, 1);
    bh = NULL;
}

/* --- Waits ------------------------------------------------------------------------- */

static bool is_slice(void *opaque)
{
    return slices == *(unsigned *)opaque;
}

/* Waits for slice @last, for at most @ms; returns the number of slices. */
static unsigned wait_for(unsigned last, int64_t ms, bool engaged)
{
    start(true);
    dev.parent_obj.ref = 1;
    dev.mem_reentrancy_guard.engaged_in_io = engaged;
    slices = 0;
    rcu_read_lock();
    rnic_vcpu_wait(&dev, &cond, ms, is_slice, &last);
    rcu_read_unlock();
    g_assert_cmpuint(dev.parent_obj.ref, ==, 1);
    g_assert_true(dev.mem_reentrancy_guard.engaged_in_io == engaged);
    return slices;
}

static void test_wait(void)
{
    g_assert_cmpuint(wait_for(0, 60000, true), ==, 0);
    g_assert_cmpuint(wait_for(5, 60000, true), ==, 5);
    g_assert_cmpuint(wait_for(5, 60000, false), ==, 5);
}

static void test_wait_limit(void)
{
    int64_t begin = g_get_monotonic_time();

    g_assert_cmpuint(wait_for(UINT_MAX, 20, true), >, 0);
    g_assert_cmpint(g_get_monotonic_time() - begin, >=, 20000);
    g_assert_cmpuint(wait_for(UINT_MAX, 0, true), ==, 0);
}

/* The main loop waits for a vCPU that must stop, so nothing else can end the wait. */
static void test_wait_stop(void)
{
    slice_stop = 3;
    g_assert_cmpuint(wait_for(UINT_MAX, 60000, true), ==, 3);
    g_assert_true(rnic_vcpu_stops());
    slice_stop = 0;
    cpu.stop = false;
    g_assert_false(rnic_vcpu_stops());
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/vcpu/tcg", test_tcg);
    g_test_add_func("/core/vcpu/tcg-atomic", test_tcg_atomic);
    g_test_add_func("/core/vcpu/threads", test_threads);
    g_test_add_func("/core/vcpu/kvm-x86", test_kvm_x86);
    g_test_add_func("/core/vcpu/kvm-arm", test_kvm_arm);
    g_test_add_func("/core/vcpu/kvm-dma", test_kvm_dma);
    g_test_add_func("/core/vcpu/wait", test_wait);
    g_test_add_func("/core/vcpu/wait-limit", test_wait_limit);
    g_test_add_func("/core/vcpu/wait-stop", test_wait_stop);
    g_test_add_func("/core/vcpu/unref", test_unref);
    g_test_add_func("/core/vcpu/unref-atomic", test_unref_atomic);
    return g_test_run();
}
