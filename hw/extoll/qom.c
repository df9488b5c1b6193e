/* SPDX-License-Identifier: GPL-2.0-or-later */
/* EXTOLL in QOM and query-stats; see qom.h. */
#include "qemu/osdep.h"
#include "qobject/qlist.h"
#include "../link/inject-qom.h"
#include "extoll.h"
#include "link/wire-fault.h"
#include "ports.h"
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

/* --- Links ---------------------------------------------------------------- */

static const struct {
    const char *name;
    uint16_t offset;
    bool counts;                    /* the register is a counter: 8 bytes, read-only */
} port_regs[] = {
#define QOM_REG(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, (bytes) == 8 && !(writable) },
    EXTOLL_PORT_REGS(QOM_REG)
#undef QOM_REG
};

/* Calls @fn for each counter of link @link; the values are 0 if @s is NULL. */
static void link_counters(ExtollState *s, unsigned link, const char *prefix,
                          RNicStatFn *fn, void *opaque)
{
    for (unsigned i = 0; i < ARRAY_SIZE(port_regs); i++) {
        g_autofree char *name = NULL;

        if (!port_regs[i].counts) {
            continue;
        }
        name = rnic_qom_name(port_regs[i].name + strlen("PORT_"));
        fn(opaque, g_strconcat(prefix, name, NULL),
           s ? extoll_reg_get64(s, EXTOLL_PORT(link) + port_regs[i].offset) : 0);
    }
}

/* RNicStatFn: stores a counter in @opaque, a QDict. */
static void counter_put(void *opaque, char *name, uint64_t value)
{
    rnic_put_uint(opaque, name, value);
    g_free(name);
}

static QDict *link_injected(const RNicPort *p)
{
    QDict *dict = qdict_new();

    for (unsigned i = 0; i < RNIC_INJECTED_KINDS; i++) {
        rnic_put_uint(dict, rnic_inject_name(&extoll_fault_format, i), p->injected[i]);
    }
    return dict;
}

static const char *phase_name(const ExtollLink *l)
{
    if (l->phase == EXTOLL_LINK_DOWN) {
        return "down";
    }
    return extoll_link_is_up(l) ? "up" : "starting";
}

static QDict *link_make(ExtollState *s, RNicPort *p)
{
    ExtollLink *l = &s->link[p->index];
    g_autofree char *faults = rnic_inject_plan_get(p);
    NetClientState *netdev = qemu_get_queue(p->nic)->peer;
    QDict *dict = qdict_new(), *counters = qdict_new();

    rnic_put_uint(dict, "index", p->index);
    qdict_put_str(dict, "netdev", netdev ? netdev->name : "");
    qdict_put_bool(dict, "enabled", p->enabled);
    qdict_put_str(dict, "phase", phase_name(l));
    if (p->peer_known) {
        rnic_put_uint(dict, "peer", p->peer);
        rnic_put_uint(dict, "peer-epoch", p->peer_epoch);
    }
    rnic_put_uint(dict, "unacknowledged", extoll_replay_tx_kept(&l->tx));
    rnic_put_uint(dict, "credits-0", extoll_credit_tx_left(&l->tx_credit[0]));
    rnic_put_uint(dict, "credits-1", extoll_credit_tx_left(&l->tx_credit[1]));
    extoll_port_reg_sync(s, p->index, EXTOLL_PORT(p->index));
    link_counters(s, p->index, "", counter_put, counters);
    qdict_put(dict, "counters", counters);
    qdict_put_str(dict, "faults", faults);
    qdict_put(dict, "injected", link_injected(p));
    return dict;
}

static QObject *links_make(void *state)
{
    ExtollState *s = state;
    QList *list = qlist_new();

    for (RNicPort *p = NULL; (p = rnic_port_after(&s->ports, p));) {
        qlist_append(list, link_make(s, p));
    }
    return QOBJECT(list);
}

/* --- Counters and class ---------------------------------------------------- */

static QObject *counters_make(void *state)
{
    ExtollState *s = state;

    return QOBJECT(rnic_counters_dict(names, s->counter, ARRAY_SIZE(names)));
}

static const RNicView views[] = {
    { "state", "Number, epoch and modes", state_make },
    { "links", "Cables: state, peer, credits, counters, faults", links_make },
    { "counters", "All counters of the device", counters_make },
};

static bool is_built(const void *state)
{
    const ExtollState *s = state;

    return s->loop.bh;
}

static RNicPort *ports_of(void *state, bool *built)
{
    ExtollState *s = state;

    *built = s->loop.bh;
    return s->port;
}

void extoll_qom_class_init(ObjectClass *klass, RNicStateFn *state)
{
    RNicFaults *faults = g_new(RNicFaults, 1);

    *faults = (RNicFaults) {
        .format = &extoll_fault_format,
        .links = EXTOLL_LINKS,
        .state = state,
        .ports = ports_of,
    };
    rnic_inject_class_init(klass, faults);
    rnic_class_add_views(klass, views, ARRAY_SIZE(views), state, is_built);
}

void extoll_stats_foreach(void *device, RNicStatFn *fn, void *opaque)
{
    ExtollState *s = device;

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        fn(opaque, rnic_qom_name(names[i]), s ? s->counter[i] : 0);
    }
    for (unsigned link = 0; link < EXTOLL_LINKS; link++) {
        g_autofree char *prefix = g_strdup_printf("link%u-", link);

        if (s && !rnic_port_exists(&s->port[link])) {
            continue;
        } else if (s) {
            extoll_port_reg_sync(s, link, EXTOLL_PORT(link));
        }
        link_counters(s, link, prefix, fn, opaque);
    }
}
