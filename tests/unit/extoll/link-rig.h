/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two ends of a link, and a cable between them that loses, damages and doubles words.
 * The packets that arrive are compared with the packets that were sent.
 */
#ifndef EXTOLL_LINK_RIG_H
#define EXTOLL_LINK_RIG_H

#include "hw/rnic/extoll/link/link.h"

#define STEP_NS 50000       /* time between two steps of the cable */
#define STEPS   20000       /* more steps than any test needs */

/* The two ends, the time, and faults of the cable. */
typedef struct LinkRig {
    ExtollLink end[2];
    int64_t now;
    GRand *rand;
    double lose, damage, twice;     /* probabilities; 0 and 1 need no @rand */
    unsigned lose_next;             /* number of the next words that get lost */
    unsigned budget;                /* words that an end sends in a step; 0: no limit */
    uint64_t sent[2][EXTOLL_VCS], got[2][EXTOLL_VCS];   /* packets */
    ExtollLinkStatus status;        /* worst status */
} LinkRig;

extern LinkRig rig;

/* Clears rig, and makes two ends with room for @room flits in each VC; both are down. */
void rig_start(uint32_t room);
void rig_end(void);
/* Lets both ends send all that they may send now. */
void rig_step(void);

bool rig_is_up(void);
/* Tell both ends that the port is up, and that it is down. */
void rig_both_up(void);
void rig_both_down(void);
/* Takes both ends up, and runs until packets can pass. */
void rig_connect(void);

/* Sends the next packet of end @e; returns false if the link does not take it. */
bool rig_packet_send(unsigned e, unsigned vc);
/* Takes the packets that have arrived at end @e; asserts that they are the next ones. */
void rig_packets_take(unsigned e);
/* Runs until all packets have arrived and are acknowledged. */
void rig_drain(void);

uint64_t rig_counter(unsigned e, enum extoll_link_counter c);

#endif /* EXTOLL_LINK_RIG_H */
