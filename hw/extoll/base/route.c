/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routing strings; see route.h. */
#include "qemu/osdep.h"
#include "route.h"

uint64_t extoll_route_encode(const ExtollHops *hops, unsigned n)
{
    uint64_t route = 0;

    assert(n <= EXTOLL_ROUTE_CHARACTERS);
    for (unsigned i = n; i-- > 0; ) {
        route = route << EXTOLL_ROUTE_BITS |
                RNIC_PREP(EXTOLL_ROUTE_OUTPUT, hops[i].output) |
                RNIC_PREP(EXTOLL_ROUTE_HOPS_0, hops[i].hops[0]) |
                RNIC_PREP(EXTOLL_ROUTE_HOPS_1, hops[i].hops[1]);
    }
    return route;
}

ExtollRouteStatus extoll_route_step(uint64_t *route, unsigned *output, unsigned *vc)
{
    unsigned hops0 = RNIC_GET(EXTOLL_ROUTE_HOPS_0, *route);
    unsigned hops1 = RNIC_GET(EXTOLL_ROUTE_HOPS_1, *route);
    unsigned out = RNIC_GET(EXTOLL_ROUTE_OUTPUT, *route);

    if (!hops0 && !hops1) {
        return EXTOLL_ROUTE_NONE;
    }
    if (out == EXTOLL_OUTPUT_VELO || out == EXTOLL_OUTPUT_RMA) {
        if (hops0 + hops1 > 1 || *route >> EXTOLL_ROUTE_BITS) {
            return EXTOLL_ROUTE_BAD;
        }
        *output = out;
        *route = 0;
        return EXTOLL_ROUTE_UNIT;
    }
    if (out >= EXTOLL_LINKS) {
        return EXTOLL_ROUTE_BAD;
    }
    *output = out;
    *vc = hops0 ? 0 : 1;
    *route -= hops0 ? RNIC_PREP(EXTOLL_ROUTE_HOPS_0, 1) :
                      RNIC_PREP(EXTOLL_ROUTE_HOPS_1, 1);
    if (hops0 + hops1 == 1) {
        *route >>= EXTOLL_ROUTE_BITS;
    }
    return EXTOLL_ROUTE_LINK;
}
