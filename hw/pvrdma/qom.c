/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: counters in QOM and query-stats; see qom.h.
 */
#include "qemu/osdep.h"
#include "qom.h"
#include "pvrdma.h"

static const char *const names[] = { PVRDMA_COUNTERS(RNIC_COUNTER_NAME) };

static QObject *counters_make(void *state)
{
    PvrdmaState *s = state;

    return QOBJECT(rnic_counters_dict(names, s->counter, ARRAY_SIZE(names)));
}

static const RNicView views[] = {
    { "counters", "All counters of the device", counters_make },
};

/* Returns true, because before the device is realized the counters exist and are 0. */
static bool is_built(const void *state)
{
    return true;
}

void pvrdma_qom_class_init(ObjectClass *klass, RNicStateFn *state)
{
    rnic_class_add_views(klass, views, ARRAY_SIZE(views), state, is_built);
}

void pvrdma_stats_foreach(void *device, RNicStatFn *fn, void *opaque)
{
    PvrdmaState *s = device;

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        fn(opaque, rnic_qom_name(names[i]), s ? s->counter[i] : 0);
    }
}
