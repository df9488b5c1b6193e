/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Crossbar: sends each packet to the output that its routing string names.
 *
 * Inputs are the virtual channels of the links, and VELO's requester.  The packet at the
 * head of an input waits until the output link has credits for the whole packet.  Inputs
 * that wait for the same output get it one after the other.
 */
#ifndef HW_EXTOLL_NET_CROSSBAR_H
#define HW_EXTOLL_NET_CROSSBAR_H

#include "../../fabric/arbiter.h"
#include "rnic/extoll/wire.h"

typedef struct ExtollState ExtollState;

#define EXTOLL_LANES (EXTOLL_LINKS * EXTOLL_VCS)
/* Number of virtual channel @vc of link @link among all inputs and outputs. */
#define EXTOLL_LANE(link, vc) ((link) * EXTOLL_VCS + (vc))

/* Number of VELO's requester among all inputs. */
#define EXTOLL_INPUT_VELO EXTOLL_LANES
#define EXTOLL_INPUTS (EXTOLL_LANES + 1)

typedef struct ExtollCrossbar {
    uint32_t round;                     /* number of the present round, for @arbiter */
    RNicArbiter arbiter[EXTOLL_LANES];          /* by output */
    uint16_t waits;                             /* bit for each input whose head waits */
    int64_t waits_since[EXTOLL_INPUTS];         /* ns, by input */
    int64_t moved_at[EXTOLL_LANES];     /* ns, time of the last packet, by output */
    bool sent;                  /* this round has sent or dropped a packet */
    bool refused;               /* this round has refused an input at an open output */
    unsigned idle;              /* last rounds in a row with @refused and without @sent */
} ExtollCrossbar;

void extoll_crossbar_reset(ExtollState *s);
/*
 * Sends at most *@packets packets, and subtracts their number.  Drops and counts packets
 * without a route, and packets that wait longer than property `link-stall-ms` for an
 * output which takes no packet.  Returns true if a limit has ended the work.
 */
bool extoll_crossbar_run(ExtollState *s, unsigned *packets);

#endif /* HW_EXTOLL_NET_CROSSBAR_H */
