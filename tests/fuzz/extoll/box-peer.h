/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The neighbours of extoll-box: two honest ends of cables, each with the link code of a
 * second device, and faults and hostile frames on these cables.
 *
 * Each honest packet has a number, from which its route and its content follow.  The
 * neighbours assert that honest packets that come back by an honest cable are those that
 * were sent, with the route counted down, in order, and each at most once.  A cable is
 * honest until the first hostile frame.
 */
#ifndef TESTS_FUZZ_EXTOLL_BOX_PEER_H
#define TESTS_FUZZ_EXTOLL_BOX_PEER_H

#include "../box.h"
#include "hw/rnic/extoll/extoll.h"

#define PEER_ROOM 64                /* flits of a VC, also of the device */

/* Where an honest packet goes; a path number is one of these plus 8 for VC 1. */
enum path {
    PATH_OTHER_0,                   /* to the other neighbour, in VC 0 */
    PATH_OTHER_1,                   /* the same in VC 1 */
    PATH_FAR,                       /* the same, and the route goes on there */
    PATH_BACK,                      /* back to the sender */
    PATH_NO_LINK,                   /* to a link without a netdev */
    PATH_UNIT,
    PATH_NONE,                      /* no route */
    PATHS,
};

/* Makes the neighbours of the device @s, whose number is @node. */
void peers_start(ExtollState *s, unsigned node);
void peers_end(void);
/* BoxSent: takes a frame of the device. */
void peers_sent(unsigned wire, const uint8_t *frame, size_t len);

/* Sends what is due, and checks and removes the packets that have arrived. */
void peers_run(void);

/* Returns true if a hostile frame was sent. */
bool peers_are_hostile(void);

/* Operations of a program.  Each takes its parameters from @in. */
void peer_op_send(FuzzInput *in);       /* honest packets */
void peer_op_fault(FuzzInput *in);      /* loss, doubles and damage of next frames */
void peer_op_frame(FuzzInput *in);      /* a hostile frame with valid header */
void peer_op_word(FuzzInput *in);       /* a hostile control word or flit, valid CRC */
void peer_op_message(FuzzInput *in);    /* messages of VELO, not for the honest VPID */
void peer_op_wire(FuzzInput *in);       /* netdev down or blocked; machine stopped */

/*
 * Asserts, after a reset of the device, that the links go up, and that each honest packet
 * arrives or is counted as dropped.
 */
void peers_works_check(void);

#endif /* TESTS_FUZZ_EXTOLL_BOX_PEER_H */
