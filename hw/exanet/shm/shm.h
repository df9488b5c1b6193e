/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the AXI masters of this node, what carries their loads and
 * stores to other nodes, and what does those of other nodes here.
 *
 *   CPU --> aperture.c --+                                    +--> memory of a process
 *           tgen.c ------+--> shm/initiator.c ==> crossbar ==> shm/target.c
 *           accel.c -----+       ^  responses  <== crossbar <==+--> block RAM
 *           cdma.c ------+-------+
 *
 * shm.c has the registers and the life of the unit, shm/timing.c knows how long all
 * takes.  None of these knows the RDMA engine; [T §n] is the paper of rnic/exanet/shm.h.
 */
#ifndef HW_EXANET_SHM_SHM_H
#define HW_EXANET_SHM_SHM_H

#include "../engine/fault.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

extern const ExanetUnit exanet_shm_unit;
/* Makes aperture_mr and all parts; false with @errp set on bad properties. */
bool exanet_shm_init(ExanetState *s, Error **errp);
void exanet_shm_fini(ExanetState *s);
/* What lasts until the last reference to the device is gone. */
void exanet_shm_finalize(ExanetState *s);
/*
 * Answers all that is under way with PROTECTION, and takes nothing meanwhile: the device
 * is about to be reset, or to go.
 */
void exanet_shm_abort(ExanetState *s);
/* As the functions of other units; @offset from the start of the block EXANET_SHM. */
void exanet_shm_reg_sync(ExanetState *s, unsigned offset);
void exanet_shm_reg_written(ExanetState *s, unsigned offset, bool top);
/* Stores and RDMA writes of context @c that have no genuine response by now. */
unsigned exanet_shm_stores(ExanetState *s, unsigned c);
/* Returns how many loads and stores of context @c have failed. */
uint32_t exanet_shm_errors(ExanetState *s, unsigned c);
/* A packet of type AXI_READ or AXI_WRITE arrived, for memory or NI_BRAM. */
void exanet_shm_request(ExanetState *s, const ExanetPacket *pkt);
/* Answers the request @pkt with @resp, and does nothing else. */
void exanet_shm_refuse(ExanetState *s, const ExanetPacket *pkt,
                       enum exanet_resp resp);
/* A packet of type AXI_RESPONSE arrived. */
void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_SHM_H */
