/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Provider "rnic" of query-stats; see stats.h.
 */
#include "qemu/osdep.h"
#include "system/stats.h"
#include "stats.h"

static QLIST_HEAD(, RNicStats) devices = QLIST_HEAD_INITIALIZER(devices);
/* The RNicStatsForeach of each family that has, or had, a device in this process. */
static GPtrArray *families;

/* --- Values ----------------------------------------------------------------- */

typedef struct StatsQuery {
    strList *names;                 /* names of the counters to return; NULL: all */
    StatsList **tail;               /* end of the list of results */
} StatsQuery;

static void stats_append(void *opaque, char *name, uint64_t value)
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

static void stats_get(StatsResultList **result, StatsTarget target, strList *names,
                      strList *targets, Error **errp)
{
    RNicStats *device;

    if (target != STATS_TARGET_VM) {
        return;
    }
    QLIST_FOREACH(device, &devices, next) {
        g_autofree char *path = object_get_canonical_path(OBJECT(device->dev));
        StatsList *list = NULL;
        StatsQuery q = { .names = names, .tail = &list };

        device->foreach(device->device, stats_append, &q);
        if (list) {
            add_stats_entry(result, STATS_PROVIDER_RNIC, path, list);
        }
    }
}

/* --- Names ------------------------------------------------------------------ */

static void schema_append(void *opaque, char *name, uint64_t value)
{
    StatsSchemaValueList ***tail = opaque;
    StatsSchemaValue *schema = g_new0(StatsSchemaValue, 1);

    schema->name = name;
    schema->type = STATS_TYPE_CUMULATIVE;
    QAPI_LIST_APPEND(*tail, schema);
}

/*
 * Lists the counters' names of all families.  The names of a family have the order in
 * which stats_get() lists the values, because `info stats` searches a name only after the
 * previous name of the list.  So the list contains a name twice if two families use the
 * name.
 */
static void schemas_get(StatsSchemaList **result, Error **errp)
{
    StatsSchemaValueList *list = NULL, **tail = &list;

    for (unsigned i = 0; i < families->len; i++) {
        RNicStatsForeach *foreach = g_ptr_array_index(families, i);

        foreach(NULL, schema_append, &tail);
    }
    add_stats_schema(result, STATS_PROVIDER_RNIC, STATS_TARGET_VM, list);
}

/* --- Devices ---------------------------------------------------------------- */

void rnic_stats_add(RNicStats *stats, DeviceState *dev, RNicStatsForeach *foreach,
                    void *device)
{
    if (!families) {
        families = g_ptr_array_new();
        add_stats_callbacks(STATS_PROVIDER_RNIC, stats_get, schemas_get);
    }
    if (!g_ptr_array_find(families, foreach, NULL)) {
        g_ptr_array_add(families, foreach);
    }
    *stats = (RNicStats) { .dev = dev, .foreach = foreach, .device = device };
    QLIST_INSERT_HEAD(&devices, stats, next);
}

void rnic_stats_remove(RNicStats *stats)
{
    QLIST_REMOVE(stats, next);
}
