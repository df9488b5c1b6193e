/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: what the ports ask of the device, see port.h.  Packets go to the crossbar,
 * news of a peer to the switch and to the receiver.
 */
#include "qemu/osdep.h"
#include "net/net.h"
#include "exanet.h"
#include "link/port.h"
#include "ports.h"
#include "engine/receiver.h"
#include "net/router.h"
#include "net/voq.h"

static bool port_take(ExanetPort *p, unsigned vc, uint8_t *buf, unsigned words)
{
    return exanet_net_take(p->s, p, vc, buf, words);
}

static void port_changed(ExanetPort *p)
{
    exanet_router_port_changed(p->s, p);
}

static void port_restarted(ExanetPort *p, uint32_t coord, uint8_t epoch)
{
    exanet_receiver_new_epoch(p->s, coord, epoch);
}

/*
 * Returns true if the node at @coord with @epoch is reached through switches, so that it
 * is not the peer of a port.  A neighbour in a ring may have sent packets the other way
 * round before its cable is up; then the epochs agree.
 */
static bool is_elsewhere(ExanetState *s, uint32_t coord, uint8_t epoch)
{
    uint8_t known;

    return exanet_receiver_elsewhere(s, coord, &known) &&
           (known != epoch || !exanet_router_near(s, coord));
}

static const char *port_doubt(ExanetPort *p, uint32_t coord, uint8_t epoch, bool known)
{
    if (!known && is_elsewhere(p->s, coord, epoch)) {
        return "which is reached through others";
    }
    return exanet_router_neighbour(p, coord) ? NULL :
           "which is no neighbour in this network (property 'peerN' allows it)";
}

static void port_tick(ExanetPort *p)
{
    exanet_receiver_sweep(p->s);
}

const ExanetPortOwner exanet_port_owner = {
    .take = port_take,
    .held_run = exanet_voq_run,
    .held_drop = exanet_voq_drop,
    .held_words = exanet_voq_held,
    .changed = port_changed,
    .restarted = port_restarted,
    .doubt = port_doubt,
    .tick = port_tick,
};
