/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packetizer: nodes to which contexts send messages, and the generations of these
 * messages.  Only packetizer.c and packetizer-peer.c include this file.
 */
#ifndef HW_EXANET_ENGINE_PACKETIZER_PEER_H
#define HW_EXANET_ENGINE_PACKETIZER_PEER_H

#include "../exanet.h"

/* Allocate and free the tables of nodes, ExanetPktzPeers, of all contexts. */
void exanet_pktz_peers_init(ExanetState *s);
void exanet_pktz_peers_fini(ExanetState *s);
/*
 * Begins a message of channel @n (counted through all contexts) to node @coord.  Stores
 * in *@gen the generation of the message, which differs from @last, the generation of the
 * channel's last message.  Returns false if the node is new and the quota of the
 * context's job has no room for the node.  Also returns false if each generation that is
 * possible now must be shared with another node, and the job's quota of shared
 * generations is used up.
 */
bool exanet_pktz_peer_begin(ExanetState *s, unsigned n, uint32_t coord,
                            uint8_t last, uint8_t *gen);
/*
 * Records that a copy of the message of channel @n to node @coord had a route.  So the
 * node may have received the message.
 */
void exanet_pktz_peer_sent(ExanetState *s, unsigned n, uint32_t coord);
/*
 * Records the end of the message of channel @n to node @coord.  May free the entry of the
 * node.
 */
void exanet_pktz_peer_end(ExanetState *s, unsigned n, uint32_t coord);
/*
 * Stores in *@coord the node that may still answer the message of generation @gen of
 * channel @n, even if the message has ended.  Returns false, and stores nothing, if no
 * node may still answer.
 */
bool exanet_pktz_peer_asked(ExanetState *s, unsigned n, uint8_t gen,
                            uint32_t *coord);
/*
 * Records that the destination of the message of generation @gen of channel @n has
 * answered.  Does nothing if exanet_pktz_peer_asked() returns false for this message,
 * because any node can send an ack, also for a message to which no answer is due.
 */
void exanet_pktz_peer_answered(ExanetState *s, unsigned n, uint8_t gen);

#endif /* HW_EXANET_ENGINE_PACKETIZER_PEER_H */
