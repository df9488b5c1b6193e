/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL in QOM and query-stats; see qom.h. */
#include "qemu/osdep.h"
#include "extoll.h"
#include "qom.h"

static const char *const names[] = { EXTOLL_COUNTERS(RNIC_COUNTER_NAME) };

static QObject *state_make(void *state)
{
    ExtollState *s = state;
    QDict *dict = qdict_new();

    rnic_put_uint(dict, "node", extoll_reg_get32(s, EXTOLL_REG_NODE));
    rnic_put_uint(dict, "epoch", s->epoch);
    qdict_put_bool(dict, "enabled",
                   extoll_reg_get32(s, EXTOLL_REG_CTRL) & EXTOLL_CTRL_ENABLE);
    qdict_put_bool(dict, "strict", s->strict);
    rnic_put_uint(dict, "time-ns", rnic_now());
    return QOBJECT(dict);
}

static QObject *counters_make(void *state)
{
    ExtollState *s = state;

    return QOBJECT(rnic_counters_dict(names, s->counter, ARRAY_SIZE(names)));
}

static const RNicView views[] = {
    { "state", "Number, epoch and modes", state_make },
    { "counters", "All counters of the device", counters_make },
};

static bool is_built(const void *state)
{
    const ExtollState *s = state;

    return s->loop.bh;
}

void extoll_qom_class_init(ObjectClass *klass, RNicStateFn *state)
{
    rnic_class_add_views(klass, views, ARRAY_SIZE(views), state, is_built);
}

void extoll_stats_foreach(void *device, RNicStatFn *fn, void *opaque)
{
    ExtollState *s = device;

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        fn(opaque, rnic_qom_name(names[i]), s ? s->counter[i] : 0);
    }
}
