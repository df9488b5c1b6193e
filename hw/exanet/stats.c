/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and values of the counters of an ExaNet NIC; see stats.h.
 */
#include "qemu/osdep.h"
#include "../core/qom.h"
#include "exanet.h"
#include "../link/port.h"
#include "port-regs.h"
#include "base/regs.h"
#include "stats.h"

static const struct {
    const char *name;
    uint16_t offset;
    bool counts;                    /* the register is a counter: 8 bytes, read-only */
} port_regs[] = {
#define STATS_REG(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, (bytes) == 8 && !(writable) },
    EXANET_PORT_REGS(STATS_REG)
#undef STATS_REG
};

void exanet_stats_link(ExanetState *s, unsigned link, RNicStatFn *fn, void *opaque)
{
    for (unsigned i = 0; i < ARRAY_SIZE(port_regs); i++) {
        if (port_regs[i].counts) {
            fn(opaque, rnic_qom_name(port_regs[i].name + strlen("PORT_")), !s ? 0 :
               exanet_reg_get64(s, EXANET_PORT(link) + port_regs[i].offset));
        }
    }
}

typedef struct LinkStats {
    unsigned link;
    RNicStatFn *fn;
    void *opaque;
} LinkStats;

static void link_stat(void *opaque, char *name, uint64_t value)
{
    const LinkStats *l = opaque;

    l->fn(l->opaque, g_strdup_printf("link%u-%s", l->link, name), value);
    g_free(name);
}

void exanet_stats_foreach(void *device, RNicStatFn *fn, void *opaque)
{
    static const char *const names[] = { EXANET_COUNTERS(RNIC_COUNTER_NAME) };
    ExanetState *s = device;

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        fn(opaque, rnic_qom_name(names[i]), s ? s->counter[i] : 0);
    }
    for (unsigned link = 0; link < EXANET_LINKS; link++) {
        LinkStats l = { .link = link, .fn = fn, .opaque = opaque };

        if (s && !rnic_port_exists(&s->port[link])) {
            continue;
        } else if (s) {
            exanet_port_reg_sync(&s->port[link]);
        }
        exanet_stats_link(s, link, link_stat, &l);
    }
}
