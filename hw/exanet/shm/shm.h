/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores between nodes.  This folder has the AXI masters,
 * the initiator and the target; see internal.h.  Files of other folders include only this
 * header of the folder.  [T §n] is section n of the paper that rnic/exanet/shm.h names.
 */
#ifndef HW_EXANET_SHM_SHM_H
#define HW_EXANET_SHM_SHM_H

#include "../base/wire.h"
#include "../base/unit.h"

typedef struct ExanetState ExanetState;

extern const ExanetUnit exanet_shm_unit;
/*
 * Creates ExanetState.aperture_mr and all parts of shared memory.  Returns false with
 * @errp set, and creates nothing, if a property is not valid.
 */
bool exanet_shm_init(ExanetState *s, Error **errp);
/* Ends all accesses and parts.  exanet_shm_finalize() frees state that a vCPU may use. */
void exanet_shm_fini(ExanetState *s);
/* Frees the block RAM and the rest, if any, when the last reference to @s is gone. */
void exanet_shm_finalize(ExanetState *s);
/*
 * Ends all transactions of the initiator, and all accesses of CPUs that are not issued
 * yet, with PROTECTION, before the device is reset or freed.
 */
void exanet_shm_abort(ExanetState *s);
/*
 * exanet_shm_reg_sync() computes the register at @offset, if necessary, before a read.
 * exanet_shm_reg_written() acts on a write to the register at @offset.  @offset is in
 * bytes from the start of the block EXANET_SHM, and may be in a block EXANET_CDMA()
 * behind this block.  @top: see RNicRegBlock.written.
 */
void exanet_shm_reg_sync(ExanetState *s, unsigned offset);
void exanet_shm_reg_written(ExanetState *s, unsigned offset, bool top);
/* Returns the default of PORT_LATENCY, ns, without link-latency-ns.  0: no shm-timing. */
uint32_t exanet_shm_latency(const ExanetState *s);
/*
 * Returns the number of stores and RDMA writes of context @c that the initiator has
 * accepted and that have not ended, plus the number of stores of the aperture that are
 * not issued yet.  Returns 0 after exanet_shm_fini().
 */
unsigned exanet_shm_stores(ExanetState *s, unsigned c);
/* Returns the number of calls of exanet_shm_error() for context @c since the reset. */
uint32_t exanet_shm_errors(ExanetState *s, unsigned c);
/*
 * Handles the request @pkt: executes and answers @pkt, answers a duplicate without an
 * access, refuses or drops @pkt, or keeps a copy of @pkt for later.  @pkt has type
 * AXI_READ or AXI_WRITE, and its address is in a window of a context or in the NI space
 * of the block RAM.
 */
void exanet_shm_request(ExanetState *s, const ExanetPacket *pkt);
/* Handles @pkt, a packet of type AXI_RESPONSE, now or, with shm-timing, later. */
void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt);

#endif /* HW_EXANET_SHM_SHM_H */
