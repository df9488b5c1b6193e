/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Routing strings, which crossbars count down.  The format is in rnic/extoll/wire.h. */
#ifndef RNIC_EXTOLL_BASE_ROUTE_H
#define RNIC_EXTOLL_BASE_ROUTE_H

#include "rnic/extoll/wire.h"

#define EXTOLL_ROUTE_CHARACTERS 4

/* One character of a string: hops by the same output, first in VC 0, then in VC 1. */
typedef struct ExtollHops {
    uint8_t output;     /* number of a link, or enum extoll_output */
    uint8_t hops[EXTOLL_VCS];   /* each at most EXTOLL_ROUTE_HOPS_MAX */
} ExtollHops;

typedef enum ExtollRouteStatus {
    EXTOLL_ROUTE_LINK,      /* the packet leaves by a link */
    EXTOLL_ROUTE_UNIT,      /* the packet has arrived */
    EXTOLL_ROUTE_NONE,      /* the string is 0, or its first character has no hop left */
    EXTOLL_ROUTE_BAD,       /* no such output, or characters follow a unit */
} ExtollRouteStatus;

/* Returns the string of the first @n characters of @hops, at most four. */
uint64_t extoll_route_encode(const ExtollHops *hops, unsigned n);

/*
 * Takes one hop from the string @route, as each crossbar does.  Sets @output and, for a
 * link, the virtual channel @vc.  Changes nothing if the status is NONE or BAD.
 */
ExtollRouteStatus extoll_route_step(uint64_t *route, unsigned *output, unsigned *vc);

#endif /* RNIC_EXTOLL_BASE_ROUTE_H */
