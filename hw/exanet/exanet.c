/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: properties, reset and life of the device, and the loop that runs the
 * units.  The shells for the buses are exanet-pci.c and exanet-axi.c.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "../core/epoch.h"
#include "../core/vcpu.h"
#include "bar.h"
#include "engine/context.h"
#include "net/net.h"
#include "engine/exadma.h"
#include "exanet.h"
#include "engine/fault.h"
#include "firmware/firmware.h"
#include "net/flow.h"
#include "base/irq.h"
#include "engine/mailbox.h"
#include "engine/packetizer.h"
#include "../link/port.h"
#include "port-regs.h"
#include "ports.h"
#include "engine/receiver.h"
#include "base/regs.h"
#include "net/route.h"
#include "engine/rtmailbox.h"
#include "shm/shm.h"
#include "sinks.h"
#include "stats.h"
#include "net/router-arith.h"
#include "net/router.h"
#include "trace.h"

#define RUN_ROUNDS 4        /* maximal number of rounds of a run of the loop */
#define RUN_PACKETS 512     /* limit of the scheduler of ExaDMA in a round, packets */

#define TLB_ENTRIES_MIN 16
#define TLB_ENTRIES_MAX 65536
#define RX_FIFO_WORDS_MAX 0xffff        /* maximum in PORT_LEVEL and PORT_XOFF */

/* --- Units -------------------------------------------------------------- */

/*
 * All units, in the order in which the device initializes, runs and resets the units.
 * The firmware runs before ExaDMA, because ExaDMA sends blocks that the firmware starts.
 */
static const ExanetUnit *const units[] = {
    &exanet_firmware_unit,
    &exanet_packetizer_unit,
    &exanet_shm_unit,
    &exanet_exadma_unit,
    &exanet_rtmailbox_unit,
    &exanet_receiver_unit,
    &exanet_mailbox_unit,
    &exanet_fault_unit,
    &exanet_context_unit,
    &exanet_flow_unit,
    &exanet_router_unit,
    NULL
};

/* --- Work --------------------------------------------------------------- */

/*
 * Runs once each port that has input and, if the device is enabled, each unit whose bit
 * in @s->awake is set.  The scheduler of ExaDMA builds at most *@packets packets.  Does
 * not change *@packets, because the limit is for each round.  Returns true if a port or a
 * unit could do more work now.
 */
static bool units_run(void *opaque, unsigned *packets)
{
    ExanetState *s = opaque;
    bool more = false;

    s->time = rnic_now();
    s->router.round++;
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        more |= rnic_port_rx_due(p) && rnic_port_rx_run(p);
    }
    for (const ExanetUnit *const *u = s->units; s->enabled && *u; u++) {
        if (s->awake & (*u)->awake) {
            s->awake &= ~(*u)->awake;
            more |= (*u)->run(s, *packets);
        }
    }
    return more;
}

static void units_end(void *opaque)
{
    ExanetState *s = opaque;

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        rnic_port_flush(p);
    }
}

static void units_reset(void *opaque)
{
    exanet_reset(opaque);
}

/* --- Init, reset and end -------------------------------------------------- */

/*
 * Sets all registers to their values after a reset, except some that depend on
 * properties: the resets of units and ports, which follow, set these registers.
 */
static void registers_reset(ExanetState *s)
{
    exanet_regs_reset(s);
    for (unsigned i = 0; i < EXANET_CONTEXTS; i++) {
        exanet_reg_set32(s, EXANET_CTX(i) + EXANET_REG_CTX_PDID, i);
    }
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_SHM_APERTURE, s->aperture_size);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_SHM_BRAM, s->bram_size);
    exanet_reg_set32(s, EXANET_REG_CAP0,
        RNIC_PREP(EXANET_CAP0_CONTEXTS, EXANET_CONTEXTS) |
        RNIC_PREP(EXANET_CAP0_OUTPUTS, EXANET_OUTPUTS) |
        RNIC_PREP(EXANET_CAP0_PORTS, s->ports.count) |
        RNIC_PREP(EXANET_CAP0_LOG2_TIDS, ctz32(EXANET_TIDS)) |
        RNIC_PREP(EXANET_CAP0_LOG2_RX, ctz32(EXANET_RX_CONTEXTS)) |
        RNIC_PREP(EXANET_CAP0_LOG2_WAYS, ctz32(s->receiver.ways)) |
        RNIC_PREP(EXANET_CAP0_PAGE_SHIFT, s->user_page_shift));
    exanet_reg_set32(s, EXANET_REG_CAP1,
        EXANET_CAP1_WINDOWS | EXANET_CAP1_DUP_SAFE | EXANET_CAP1_MULTIPATH |
        EXANET_CAP1_RELEASE | EXANET_CAP1_FLOW_RATE | EXANET_CAP1_FIRMWARE |
        EXANET_CAP1_JOB_LOCAL | EXANET_CAP1_POLL |
        EXANET_CAP1_APERTURE | (s->shm_timing ? EXANET_CAP1_TIMING : 0));
    exanet_reg_set32(s, EXANET_REG_NODE, s->coord);
    exanet_reg_set32(s, EXANET_REG_EPOCH, s->epoch);
    exanet_irq_load(s);
}

void exanet_reset(ExanetState *s)
{
    if (!rnic_loop_reset_begin(&s->loop)) {
        return;
    }
    exanet_shm_abort(s);
    s->vectors = 0;
    s->enabled = false;
    s->strict = false;
    /*
     * Nodes remember old epochs for EXANET_TID_AGE_NS.  So the cycle of the first epochs
     * lasts at least twice this time.
     */
    QEMU_BUILD_BUG_ON(RNIC_EPOCH_STEP_NS * UINT8_MAX < 2 * EXANET_TID_AGE_NS);
    s->epoch = rnic_epoch_next(s->epoch, s->epoch_fixed);
    s->node = s->coord;
    exanet_ports_update(s);
    s->time = rnic_now();
    memset(s->counter, 0, sizeof(s->counter));
    registers_reset(s);
    for (const ExanetUnit *const *u = s->units; *u; u++) {
        if ((*u)->reset) {
            (*u)->reset(s);
        }
    }
    memset(s->user, 0, memory_region_size(&s->user_mr));
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        exanet_port_reg_reset(p);
        rnic_port_reset(p);
    }
    rnic_loop_reset_end(&s->loop);
}

/*
 * Checks the properties, except those that exanet_shm_init() checks.  Sets
 * @s->ports.count, and builds the table of property `routes`.  Returns false with @errp
 * set if a property is not valid.
 */
static bool properties_check(ExanetState *s, Error **errp)
{
    uint32_t dims;

    if (s->coord > EXANET_COORD_MASK) {
        error_setg(errp, "property 'coord' must be at most 0x%x (22 bits)",
                   EXANET_COORD_MASK);
        return false;
    }
    for (unsigned i = 0; i < EXANET_LINKS; i++) {
        if (s->port[i].conf.peers.ncs[0]) {
            s->ports.count = i + 1;
        }
        if (!rnic_port_conf_valid(&s->port[i], i, "coord", s->coord, EXANET_COORD_MASK,
                                  errp)) {
            return false;
        }
    }
    if (s->ports.count == 0) {
        error_setg(errp, "no cable: at least one of the properties 'link0' to "
                   "'link%u' must name a netdev", EXANET_LINKS - 1);
        return false;
    }
    if (s->dims && !exanet_route_dims(s->dims, &dims)) {
        error_setg(errp, "property 'dims' must be up to three numbers of at most "
                   "16, as '4x4' or '4x2x3', not '%s'", s->dims);
        return false;
    }
    if (!exanet_arith_init(s, errp)) {
        return false;
    }
    if (!is_power_of_2(s->receiver.ways) ||
        s->receiver.ways > EXANET_RX_WAYS) {
        error_setg(errp, "property 'ways' must be 1, 2, 4, 8 or 16");
        return false;
    }
    if (s->user_page_shift != 12 && s->user_page_shift != 16) {
        error_setg(errp, "property 'user-page-shift' must be 12 or 16");
        return false;
    }
    if (s->rx_fifo_words < EXANET_RX_FIFO_WORDS ||
        s->rx_fifo_words > RX_FIFO_WORDS_MAX) {
        error_setg(errp, "property 'rx-fifo-words' must be %u to %u",
                   EXANET_RX_FIFO_WORDS, RX_FIFO_WORDS_MAX);
        return false;
    }
    if (!is_power_of_2(s->tlb_entries) || s->tlb_entries < TLB_ENTRIES_MIN ||
        s->tlb_entries > TLB_ENTRIES_MAX) {
        error_setg(errp, "property 'tlb-entries' must be a power of two from %u "
                   "to %u", TLB_ENTRIES_MIN, TLB_ENTRIES_MAX);
        return false;
    }
    return true;
}

static void state_free(void *opaque)
{
    ExanetState *s = opaque;

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        rnic_port_fini(p);
    }
    for (const ExanetUnit *const *u = s->units; *u; u++) {
        if ((*u)->fini) {
            (*u)->fini(s);
        }
    }
}

static const RNicLoopOps loop_ops = {
    .end = units_end,
    .round = units_run,
    .irq_due = exanet_irq_due,
    .irq_flush = exanet_irq_flush,
    .reset = units_reset,
    .free = state_free,
    .guard = true,
    .rounds = RUN_ROUNDS,
    .packets = RUN_PACKETS,
};

bool exanet_init(ExanetState *s, const RNicHost *host, Error **errp)
{
    s->host = *host;
    if (!properties_check(s, errp) || !exanet_shm_init(s, errp)) {
        return false;
    }
    if (!exanet_bar_init(s, errp)) {
        exanet_shm_fini(s);
        return false;
    }
    exanet_regs_init(s, exanet_reg_blocks);
    rnic_loop_init(&s->loop, &loop_ops, s, host->dev);
    exanet_series_init(&s->polls, exanet_poll_watch, s);
    s->loop.timed = s->shm_timing;
    s->sink = exanet_sink;
    s->units = units;
    for (const ExanetUnit *const *u = units; *u; u++) {
        assert(!(*u)->run == !(*u)->awake);
        if ((*u)->init) {
            (*u)->init(s);
        }
    }
    exanet_ports_init(s);
    rnic_stats_add(&s->stats, host->dev, exanet_stats_foreach, s);
    return true;
}

void exanet_fini(ExanetState *s)
{
    rnic_stats_remove(&s->stats);
    exanet_bar_fini(s);
    exanet_series_fini(&s->polls);
    rnic_loop_fini(&s->loop);
}
