/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Box of a device: sets its properties to their default values. */
#include "box.h"

const PropertyInfo qdev_prop_bool;
const PropertyInfo qdev_prop_uint8;
const PropertyInfo qdev_prop_uint16;
const PropertyInfo qdev_prop_uint32;
const PropertyInfo qdev_prop_size;
const PropertyInfo qdev_prop_string;
const PropertyInfo qdev_prop_netdev;

void box_properties(void *state, const Property *props, unsigned count)
{
    for (const Property *p = props; p < props + count; p++) {
        void *at = (uint8_t *)state + p->offset;

        if (!p->set_default) {
            continue;
        }
        if (p->info == &qdev_prop_bool) {
            *(bool *)at = p->defval.u;
        } else if (p->info == &qdev_prop_uint8) {
            *(uint8_t *)at = p->defval.u;
        } else if (p->info == &qdev_prop_uint16) {
            *(uint16_t *)at = p->defval.u;
        } else if (p->info == &qdev_prop_uint32) {
            *(uint32_t *)at = p->defval.u;
        } else if (p->info == &qdev_prop_size) {
            *(uint64_t *)at = p->defval.u;
        } else {
            g_assert_not_reached();
        }
    }
}
