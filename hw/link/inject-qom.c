/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Property faultsN of a device; see inject-qom.h. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "inject-qom.h"
#include "port.h"

/*
 * A property faultsN of a class.  This struct is never freed, because QOM never frees a
 * class.
 */
typedef struct FaultsProperty {
    const RNicFaults *faults;
    unsigned index;                 /* N of faultsN */
} FaultsProperty;

static RNicPort *property_port(const FaultsProperty *prop, Object *obj, bool *built)
{
    return prop->faults->ports(prop->faults->state(obj), built) + prop->index;
}

static void faults_get(Object *obj, Visitor *v, const char *name, void *opaque,
                       Error **errp)
{
    bool built;
    g_autofree char *text = rnic_inject_plan_get(property_port(opaque, obj, &built));

    visit_type_str(v, name, &text, errp);
}

static void faults_set(Object *obj, Visitor *v, const char *name, void *opaque,
                       Error **errp)
{
    const FaultsProperty *prop = opaque;
    bool built;
    RNicPort *p = property_port(prop, obj, &built);
    g_autofree char *text = NULL;

    if (!visit_type_str(v, name, &text, errp)) {
        return;
    }
    if (built && !rnic_port_exists(p)) {
        error_setg(errp, "there is no link%u", prop->index);
        return;
    }
    rnic_inject_plan_set(p, prop->faults->format, prop->index, text, errp);
}

void rnic_inject_class_init(ObjectClass *klass, const RNicFaults *faults)
{
    for (unsigned i = 0; i < faults->links; i++) {
        g_autofree char *name = g_strdup_printf("faults%u", i);
        FaultsProperty *prop = g_new(FaultsProperty, 1);

        *prop = (FaultsProperty) { .faults = faults, .index = i };
        /* not a qdev property, because qdev properties cannot change after realize */
        object_class_property_add(klass, name, "str", faults_get, faults_set,
                                  NULL, prop);
        object_class_property_set_description(klass, name,
            "Faults that the link makes when it sends, as drop=1%+seed=7; any time");
    }
}
