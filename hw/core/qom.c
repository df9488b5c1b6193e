/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What QOM shows of a device; see qom.h. */
#include "qemu/osdep.h"
#include "qobject/qnum.h"
#include "qom.h"

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

void rnic_class_describe(ObjectClass *klass, const RNicText *texts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        object_class_property_set_description(klass, texts[i].name, texts[i].text);
    }
}
