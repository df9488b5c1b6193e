/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet sinks: pass packets for this node to units.
 */
#ifndef HW_EXANET_SINKS_H
#define HW_EXANET_SINKS_H

#include "exanet.h"

/* Passes a packet for this node to a unit, or counts and drops the packet. */
ExanetSink exanet_sink;

#endif /* HW_EXANET_SINKS_H */
