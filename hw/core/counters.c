/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of a device, as QOM shows them. */
#include "qemu/osdep.h"
#include "qobject/qnum.h"
#include "counters.h"

char *rnic_qom_name(const char *name)
{
    return g_strdelimit(g_ascii_strdown(name, -1), "_", '-');
}

void rnic_put_uint(QDict *dict, const char *name, uint64_t value)
{
    qdict_put(dict, name, qnum_from_uint(value));
}

QDict *rnic_counters_dict(const char *const *names, const uint64_t *values,
                          unsigned count)
{
    QDict *dict = qdict_new();

    for (unsigned i = 0; i < count; i++) {
        g_autofree char *name = rnic_qom_name(names[i]);

        rnic_put_uint(dict, name, values[i]);
    }
    return dict;
}
