/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of a device in QOM; see qom.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
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

/* The argument @opaque of view_get().  Never freed, because QOM never frees a class. */
typedef struct ViewProperty {
    const RNicView *view;
    RNicStateFn *state;
    bool (*built)(const void *state);
} ViewProperty;

static void view_get(Object *obj, Visitor *v, const char *name, void *opaque,
                     Error **errp)
{
    const ViewProperty *prop = opaque;
    void *state = prop->state(obj);
    QObject *value;

    if (!prop->built(state)) {
        error_setg(errp, "the device has not been built, or is gone");
        return;
    }
    value = prop->view->make(state);
    visit_type_any(v, name, &value, errp);
    qobject_unref(value);
}

void rnic_class_add_views(ObjectClass *klass, const RNicView *views, unsigned count,
                          RNicStateFn *state, bool (*built)(const void *state))
{
    for (unsigned i = 0; i < count; i++) {
        ViewProperty *prop = g_new(ViewProperty, 1);

        *prop = (ViewProperty) { .view = &views[i], .state = state, .built = built };
        object_class_property_add(klass, views[i].name, "any", view_get, NULL, NULL,
                                  prop);
        object_class_property_set_description(klass, views[i].name, views[i].text);
    }
}
