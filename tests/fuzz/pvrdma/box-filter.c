/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Box of a device: filters of netdevs, as far as devices use them.  The id of a netdev
 * is "wire" and its number.
 */
#include "../box.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "qom/object_interfaces.h"

static char *filter_netdev_get(Object *obj, Error **errp)
{
    return g_strdup(NETFILTER(obj)->netdev_id);
}

static void filter_netdev_set(Object *obj, const char *id, Error **errp)
{
    NETFILTER(obj)->netdev_id = g_strdup(id);
}

static char *filter_queue_get(Object *obj, Error **errp)
{
    return g_strdup("tx");
}

/* Refuses what the box does not do: it filters frames for the NIC only. */
static void filter_queue_set(Object *obj, const char *queue, Error **errp)
{
    if (strcmp(queue, "tx")) {
        error_setg(errp, "queue must be tx");
    }
}

static void filter_complete(UserCreatable *uc, Error **errp)
{
    NetFilterState *nf = NETFILTER(uc);
    unsigned wire;

    if (sscanf(nf->netdev_id, "wire%u", &wire) != 1 || wire >= BOX_WIRES) {
        error_setg(errp, "no netdev %s", nf->netdev_id);
        return;
    }
    nf->netdev = box_wire(wire);
    box_wire_filter(nf->netdev, nf);
}

static void filter_finalize(Object *obj)
{
    NetFilterState *nf = NETFILTER(obj);
    NetFilterClass *nfc = NETFILTER_GET_CLASS(obj);

    if (nfc->cleanup) {
        nfc->cleanup(nf);
    }
    if (nf->netdev) {
        box_wire_filter(nf->netdev, NULL);
    }
    g_free(nf->netdev_id);
}

static void filter_class_init(ObjectClass *oc, RNicClassData *data)
{
    USER_CREATABLE_CLASS(oc)->complete = filter_complete;
    object_class_property_add_str(oc, "netdev", filter_netdev_get,
                                  filter_netdev_set);
    object_class_property_add_str(oc, "queue", filter_queue_get, filter_queue_set);
}

static void filter_register_types(void)
{
    const TypeInfo type = {
        .name = TYPE_NETFILTER,
        .parent = TYPE_OBJECT,
        .abstract = true,
        .class_size = sizeof(NetFilterClass),
        .class_init = filter_class_init,
        .instance_size = sizeof(NetFilterState),
        .instance_finalize = filter_finalize,
        .interfaces = (InterfaceInfo[]) { { TYPE_USER_CREATABLE }, { } },
    };

    type_register_static(&type);
}

type_init(filter_register_types)
