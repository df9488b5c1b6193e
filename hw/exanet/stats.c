/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters of all ExaNet NICs for `query-stats`, as provider "exanet" of target
 * "vm": one result per device, which has its QOM path.  Names are those of the QOM
 * properties counters and links, the latter with "linkN-" in front.
 */
#include "qemu/osdep.h"
#include "system/stats.h"
#include "../core/qom.h"
#include "exanet.h"
#include "link/port.h"
#include "base/regs.h"
#include "stats.h"

static QLIST_HEAD(, ExanetState) devices = QLIST_HEAD_INITIALIZER(devices);

typedef void StatFn(void *opaque, char *name, uint64_t value);

static const struct {
    const char *name;
} counters[] = {
#define STATS_COUNTER(name, text) { #name },
    EXANET_COUNTERS(STATS_COUNTER)
#undef STATS_COUNTER
};

static const struct {
    const char *name;
    uint16_t offset;
    bool counts;
} port_regs[] = {
#define STATS_REG(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, (bytes) == 8 && !(writable) },
    EXANET_PORT_REGS(STATS_REG)
#undef STATS_REG
};

static void link_foreach(ExanetState *s, unsigned link, StatFn *fn, void *opaque)
{
    if (s && !exanet_port_exists(&s->port[link])) {
        return;
    } else if (s) {
        exanet_port_reg_sync(&s->port[link]);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(port_regs); i++) {
        if (port_regs[i].counts) {
            g_autofree char *name =
                rnic_qom_name(port_regs[i].name + strlen("PORT_"));

            fn(opaque, g_strdup_printf("link%u-%s", link, name), !s ? 0 :
               exanet_reg_get64(s, EXANET_PORT(link) + port_regs[i].offset));
        }
    }
}

/*
 * Calls @fn with the name, which it frees, and the value of each counter of @s; with
 * all names that there can be if @s is NULL.
 */
static void stats_foreach(ExanetState *s, StatFn *fn, void *opaque)
{
    for (unsigned i = 0; i < ARRAY_SIZE(counters); i++) {
        fn(opaque, rnic_qom_name(counters[i].name), s ? s->counter[i] : 0);
    }
    for (unsigned link = 0; link < EXANET_LINKS; link++) {
        link_foreach(s, link, fn, opaque);
    }
}

/* What stats_add() needs. */
typedef struct StatsQuery {
    strList *names;                 /* NULL: all */
    StatsList **tail;
} StatsQuery;

static void stats_add(void *opaque, char *name, uint64_t value)
{
    StatsQuery *q = opaque;
    Stats *stat;

    if (!apply_str_list_filter(name, q->names)) {
        g_free(name);
        return;
    }
    stat = g_new0(Stats, 1);
    stat->name = name;
    stat->value = g_new0(StatsValue, 1);
    stat->value->type = QTYPE_QNUM;
    stat->value->u.scalar = value;
    QAPI_LIST_APPEND(q->tail, stat);
}

static void stats_get(StatsResultList **result, StatsTarget target,
                      strList *names, strList *targets, Error **errp)
{
    ExanetState *s;

    if (target != STATS_TARGET_VM) {
        return;
    }
    QLIST_FOREACH(s, &devices, next) {
        g_autofree char *path = object_get_canonical_path(OBJECT(s->host.dev));
        StatsList *list = NULL;
        StatsQuery q = { .names = names, .tail = &list };

        stats_foreach(s, stats_add, &q);
        if (list) {
            add_stats_entry(result, STATS_PROVIDER_EXANET, path, list);
        }
    }
}

static void schema_add(void *opaque, char *name, uint64_t value)
{
    StatsSchemaValueList ***tail = opaque;
    StatsSchemaValue *schema = g_new0(StatsSchemaValue, 1);

    schema->name = name;
    schema->type = STATS_TYPE_CUMULATIVE;
    QAPI_LIST_APPEND(*tail, schema);
}

static void schemas_get(StatsSchemaList **result, Error **errp)
{
    StatsSchemaValueList *list = NULL, **tail = &list;

    stats_foreach(NULL, schema_add, &tail);
    add_stats_schema(result, STATS_PROVIDER_EXANET, STATS_TARGET_VM, list);
}

void exanet_stats_add(ExanetState *s)
{
    static bool known;

    if (!known) {
        add_stats_callbacks(STATS_PROVIDER_EXANET, stats_get, schemas_get);
        known = true;
    }
    QLIST_INSERT_HEAD(&devices, s, next);
}

void exanet_stats_remove(ExanetState *s)
{
    QLIST_REMOVE(s, next);
}
