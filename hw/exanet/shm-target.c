/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores of other nodes.
 */
#include "qemu/osdep.h"
#include "shm.h"

void exanet_shm_request(ExanetState *s, const ExanetPacket *pkt)
{
}

void exanet_target_resolved(ExanetState *s, const ExanetPendingFault *f,
                            bool ok)
{
}

void exanet_target_init(ExanetState *s)
{
}

void exanet_target_fini(ExanetState *s)
{
}

void exanet_target_reset(ExanetState *s)
{
}

bool exanet_target_run(ExanetState *s)
{
    return false;
}

void exanet_target_reg_sync(ExanetState *s)
{
}
