/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet shared memory: loads and stores of this node on their way to others.
 */
#include "qemu/osdep.h"
#include "shm.h"

bool exanet_shm_issue(ExanetState *s, const ExanetShmRequest *req)
{
    return false;
}

unsigned exanet_shm_stores(ExanetState *s, unsigned c)
{
    return 0;
}

void exanet_shm_response(ExanetState *s, const ExanetPacket *pkt)
{
}

void exanet_initiator_init(ExanetState *s)
{
}

void exanet_initiator_fini(ExanetState *s)
{
}

void exanet_initiator_reset(ExanetState *s)
{
}

bool exanet_initiator_run(ExanetState *s)
{
    return false;
}

void exanet_initiator_reg_sync(ExanetState *s)
{
}

void exanet_initiator_fence(ExanetState *s)
{
}

void exanet_initiator_quiesce(ExanetState *s, unsigned c)
{
}

unsigned exanet_initiator_active(ExanetState *s, unsigned c)
{
    return 0;
}
