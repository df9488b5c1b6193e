/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet packetizer: nodes to which contexts send messages, and the generations of these
 * messages.  Only packetizer.c includes this file.
 */
#ifndef HW_EXANET_ENGINE_PACKETIZER_PEER_H
#define HW_EXANET_ENGINE_PACKETIZER_PEER_H

#include "../exanet.h"

void exanet_pktz_peers_init(ExanetState *s);
void exanet_pktz_peers_fini(ExanetState *s);
/*
 * Begins a message of channel @n (counted through all contexts) to node @coord and
 * stores its generation, other than @last, in *@gen.  Returns false if the context's
 * table has no room for the node, or if too many nodes may still answer.
 */
bool exanet_pktz_peer_begin(ExanetState *s, unsigned n, uint32_t coord,
                            uint8_t last, uint8_t *gen);
/* Records that a copy of a message of channel @n to node @coord had a route. */
void exanet_pktz_peer_sent(ExanetState *s, unsigned n, uint32_t coord);
/* Ends the message of channel @n to node @coord. */
void exanet_pktz_peer_end(ExanetState *s, unsigned n, uint32_t coord);
/*
 * Stores in *@coord the node that may still answer the message of generation @gen of
 * channel @n, also if the message has ended.  Returns false if no node may answer.
 */
bool exanet_pktz_peer_asked(ExanetState *s, unsigned n, uint8_t gen,
                            uint32_t *coord);
/*
 * Records an answer to the message of generation @gen of channel @n.  Ignores an answer
 * when no node may still answer, because any node can send an ack.
 */
void exanet_pktz_peer_answered(ExanetState *s, unsigned n, uint8_t gen);

#endif /* HW_EXANET_ENGINE_PACKETIZER_PEER_H */
