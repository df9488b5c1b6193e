/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: the AXI masters of this node; the initiator, which sends their
 * loads and stores to a node; and the target, which executes loads and stores of nodes.
 * A load or store may also be for this node itself.
 *
 *   CPU --> aperture.c --+                                    +--> memory of a process
 *           tgen.c ------+--> shm/initiator.c ==> crossbar ==> shm/target.c
 *           accel.c -----+       ^  responses  <== crossbar <==+--> block RAM
 *           cdma.c ------+-------+
 *
 * shm.c has the registers and the reset of the unit, shm/timing.c the duration of each
 * step.  Shared memory does not use the RDMA units of the engine.  [T §n] is the paper
 * that rnic/exanet/shm.h names.
 */
#ifndef HW_EXANET_SHM_SHM_H
#define HW_EXANET_SHM_SHM_H

#include "../engine/fault.h"
#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

extern const ExanetUnit exanet_shm_unit;
/*
 * Creates aperture_mr and all parts.  Returns false with @errp set, and creates nothing,
 * if a property is not valid.
 */
bool exanet_shm_init(ExanetState *s, Error **errp);
/* Ends all accesses as exanet_shm_abort(), and then ends all parts. */
void exanet_shm_fini(ExanetState *s);
/*
 * Frees the block RAM and the rest of the state, when the last reference to the device is
 * gone.
 */
void exanet_shm_finalize(ExanetState *s);
/*
 * Ends all transactions of the initiator, and all accesses of CPUs that are not issued
 * yet, with PROTECTION, before the device is reset or freed.
 */
void exanet_shm_abort(ExanetState *s);
/*
 * Computes the register at @offset before software reads the register.  @offset counts
 * from the block EXANET_SHM, in bytes.
 */
void exanet_shm_reg_sync(ExanetState *s, unsigned offset);
/*
 * Acts on a write to the register at @offset, which counts from the block EXANET_SHM, in
 * bytes.  @top: see ExanetRegBlock.
 */
void exanet_shm_reg_written(ExanetState *s, unsigned offset, bool top);
/*
 * Returns the number of stores and RDMA writes of context @c that have not ended.  Stores
 * of the aperture that are not issued yet count too.
 */
unsigned exanet_shm_stores(ExanetState *s, unsigned c);
/*
 * Returns the number of calls of exanet_shm_error() for context @c since the last reset,
 * modulo 2^32.
 */
uint32_t exanet_shm_errors(ExanetState *s, unsigned c);
/*
 * Handles the request @pkt: executes and answers @pkt, answers a duplicate without an
 * access, refuses or drops @pkt, or keeps a copy of @pkt for later.  @pkt has type
 * AXI_READ or AXI_WRITE, and is for memory or NI_BRAM.
 */
void exanet_shm_request(ExanetState *s, const ExanetPacket *pkt);
/* Sends error @resp to the source of request @pkt, which is not executed. */
void exanet_shm_refuse(ExanetState *s, const ExanetPacket *pkt,
                       enum exanet_resp resp);
/* Handles @pkt, a packet of type AXI_RESPONSE. */
void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_SHM_H */
