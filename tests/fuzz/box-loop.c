/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Box of a device: the clocks, and the main loop.  Real time equals virtual time, so
 * that time limits do not depend on the machine.  The clock for short times,
 * get_clock(), advances by 1 us with each fourth call.
 */
#include "box.h"
#include <malloc.h>
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "block/aio.h"
#include "hw/core/cpu.h"
#include "system/cpu-timers.h"
#include "system/cpus.h"
#include "system/runstate.h"
#include "../bql-stubs.h"

#define START_NS    (1000 * NANOSECONDS_PER_SECOND)
#define TIMERS_MAX  100000          /* limit of timers that fire in one box_step() */
#define LOOKS_US    4               /* calls of get_clock() in a microsecond */

struct VMChangeStateEntry {
    VMChangeStateHandler *cb;
    void *opaque;
    QLIST_ENTRY(VMChangeStateEntry) next;
};

static struct {
    int64_t now;
    uint64_t looks;                 /* calls of get_clock() until now */
    bool vcpu;
    bool exclusive;
    /* arguments of box_meanwhile(): */
    void (*meanwhile)(void);
    unsigned wait; /* releases of the big lock before the one in which @meanwhile runs */
    unsigned releases;
    bool stopped;
    QLIST_HEAD(, VMChangeStateEntry) handlers;
} loop;

unsigned box_met;
static CPUState box_cpu;
__thread CPUState *current_cpu;
bool kvm_allowed;
bool tcg_allowed = true;
/*
 * Each thread has a big lock of its own, because QEMU's RCU thread may take the lock at
 * any time.
 */
static __thread bool bql;

int64_t cpus_get_virtual_clock(void)
{
    return loop.now;
}

void cpus_set_virtual_clock(int64_t new_time)
{
    loop.now = new_time;
}

gint64 g_get_monotonic_time(void)
{
    return loop.now / 1000;
}

/* Returns microseconds. */
gint64 g_get_real_time(void)
{
    return START_NS / 1000 + loop.looks++ / LOOKS_US;
}

/*
 * get_clock() calls this function, because box_init() has cleared use_rt_clock.  With the
 * host's time a poll could end before the operation that happens during the poll.
 */
int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
    int64_t us = g_get_real_time();

    tv->tv_sec = us / G_USEC_PER_SEC;
    tv->tv_usec = us % G_USEC_PER_SEC;
    return 0;
}

bool runstate_is_running(void)
{
    return !loop.stopped;
}

VMChangeStateEntry *qemu_add_vm_change_state_handler(VMChangeStateHandler *cb,
                                                     void *opaque)
{
    VMChangeStateEntry *e = g_new0(VMChangeStateEntry, 1);

    e->cb = cb;
    e->opaque = opaque;
    QLIST_INSERT_HEAD(&loop.handlers, e, next);
    return e;
}

void qemu_del_vm_change_state_handler(VMChangeStateEntry *e)
{
    QLIST_REMOVE(e, next);
    g_free(e);
}

void box_machine_run(bool run)
{
    VMChangeStateEntry *e;

    if (run != loop.stopped) {
        return;
    }
    loop.stopped = !run;
    QLIST_FOREACH(e, &loop.handlers, next) {
        e->cb(e->opaque, run, run ? RUN_STATE_RUNNING : RUN_STATE_PAUSED);
    }
}

void box_init(void)
{
    static bool done;
    sigset_t alarm;

    if (done) {
        return;
    }
    done = true;
    use_rt_clock = 0;
    bql = true;
    module_call_init(MODULE_INIT_QOM);
    qemu_init_main_loop(&error_abort);
    qemu_clock_enable(QEMU_CLOCK_VIRTUAL, true);
    /*
     * unblocks SIGALRM, by which libFuzzer ends an input that takes too long, because
     * QEMU's main loop would take this signal
     */
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
}

void box_loop_reset(void)
{
    loop.now = START_NS;
    loop.looks = 0;
    loop.stopped = false;
    loop.meanwhile = NULL;
    loop.releases = 0;
    box_vcpu(false);
    box_vcpu_stop(false);
}

int64_t box_now(void)
{
    return loop.now;
}

bool box_run(unsigned iterations)
{
    while (iterations--) {
        bool more = aio_bh_poll(qemu_get_aio_context());

        if (!(box_net_deliver() | more)) {
            return true;
        }
    }
    return false;
}

bool box_step(int64_t ns, unsigned iterations)
{
    int64_t end = loop.now + ns;
    bool ended = box_run(iterations);

    for (unsigned i = 0; i < TIMERS_MAX; i++) {
        int64_t wait = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL,
                                                  QEMU_TIMER_ATTR_ALL);

        if (wait < 0 || wait > end - loop.now) {
            loop.now = end;
            return ended & box_run(iterations);
        }
        loop.now += wait;
        qemu_clock_run_timers(QEMU_CLOCK_VIRTUAL);
        ended &= box_run(iterations);
    }
    return false;
}

/* --- CPU ---------------------------------------------------------------------- */

/*
 * Begins or ends accesses by a vCPU.  TCG holds the RCU read lock of cpu_exec() during
 * a load or store that is not @exclusive, so the box holds this lock too.
 */
static void vcpu_set(bool on, bool exclusive)
{
    bool lock = on && !exclusive, locked = loop.vcpu && !loop.exclusive;

    if (lock && !locked) {
        rcu_read_lock();
    } else if (!lock && locked) {
        rcu_read_unlock();
    }
    loop.vcpu = on;
    loop.exclusive = exclusive;
    box_cpu.running = on;
    box_cpu.exclusive_context_count = exclusive;
    current_cpu = on ? &box_cpu : NULL;
}

void box_vcpu(bool on)
{
    vcpu_set(on, false);
}

void box_vcpu_exclusive(void)
{
    vcpu_set(true, true);
}

void box_vcpu_stop(bool on)
{
    box_cpu.stop = on;
}

bool box_vcpu_is_exclusive(void)
{
    return loop.vcpu && loop.exclusive;
}

bool qemu_in_vcpu_thread(void)
{
    return loop.vcpu;
}

/* Does the work of another thread, which holds the big lock meanwhile. */
static void other_thread_work(void (*work)(void))
{
    bool exclusive = loop.exclusive;

    loop.meanwhile = NULL;
    vcpu_set(false, false);
    work();
    vcpu_set(true, exclusive);
}

/*
 * Advances the clock by @ms and runs the device, because the vCPU waits without the big
 * lock.
 */
void qemu_cond_timedwait_bql(QemuCond *cond, int ms)
{
    bool exclusive = loop.exclusive;

    if (loop.meanwhile && !loop.wait--) {
        other_thread_work(loop.meanwhile);
    }
    box_vcpu(false);
    box_step(ms * (int64_t)SCALE_MS, 64);
    vcpu_set(true, exclusive);
}

void cpu_loop_exit_restore(CPUState *cpu, uintptr_t pc)
{
    g_assert_not_reached();         /* the box never stops the vCPU */
}

/* --- Big lock ----------------------------------------------------------------- */

bool bql_locked(void)
{
    return bql;
}

void bql_block_unlock(bool increase)
{
}

void box_meanwhile(unsigned releases, void (*work)(void))
{
    loop.meanwhile = work;
    loop.wait = releases;
}

unsigned box_releases(void)
{
    return loop.releases;
}

void bql_unlock(void)
{
    g_assert_true(bql);
    if (current_cpu) {              /* the thread is not RCU's */
        loop.releases++;
        if (loop.meanwhile && !loop.wait--) {
            other_thread_work(loop.meanwhile);
        }
    }
    bql = false;
}

void bql_lock_impl(const char *file, int line)
{
    g_assert_false(bql);
    bql = true;
}

/* --- Assertions --------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
size_t box_live_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes();
}
#else
size_t box_live_bytes(void)
{
    return mallinfo2().uordblks;
}
#endif
