/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Box of a device: stubs of query-stats, because the box has no monitor. */
#include "box.h"
#include "system/stats.h"

void add_stats_callbacks(StatsProvider provider, StatRetrieveFunc *stats_fn,
                         SchemaRetrieveFunc *schemas_fn)
{
}

void add_stats_entry(StatsResultList **list, StatsProvider provider,
                     const char *path, StatsList *stats_list)
{
    g_assert_not_reached();
}

void add_stats_schema(StatsSchemaList **list, StatsProvider provider,
                      StatsTarget target, StatsSchemaValueList *values)
{
    g_assert_not_reached();
}

bool apply_str_list_filter(const char *string, strList *list)
{
    g_assert_not_reached();
}
