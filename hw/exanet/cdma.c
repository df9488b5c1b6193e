/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: the AXI Central DMA beside the network interface, and the RDMA tracker.
 */
#include "qemu/osdep.h"
#include "shm.h"

void exanet_cdma_init(ExanetState *s)
{
}

void exanet_cdma_fini(ExanetState *s)
{
}

void exanet_cdma_reset(ExanetState *s)
{
}

bool exanet_cdma_run(ExanetState *s)
{
    return false;
}

void exanet_cdma_reg_sync(ExanetState *s, unsigned ch)
{
}

void exanet_cdma_reg_written(ExanetState *s, unsigned ch, unsigned reg,
                             bool top)
{
}

void exanet_cdma_tracker_sync(ExanetState *s, unsigned ch)
{
}

void exanet_cdma_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
}

void exanet_cdma_quiesce(ExanetState *s, unsigned c)
{
}

unsigned exanet_cdma_active(ExanetState *s, unsigned c)
{
    return 0;
}
