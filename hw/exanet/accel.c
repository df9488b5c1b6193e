/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet accelerator.
 */
#include "qemu/osdep.h"
#include "shm.h"

void exanet_accel_init(ExanetState *s)
{
}

void exanet_accel_fini(ExanetState *s)
{
}

void exanet_accel_reset(ExanetState *s)
{
}

bool exanet_accel_run(ExanetState *s)
{
    return false;
}

void exanet_accel_reg_sync(ExanetState *s)
{
}

void exanet_accel_reg_written(ExanetState *s, unsigned reg, bool top)
{
}

void exanet_accel_quiesce(ExanetState *s, unsigned c)
{
}

unsigned exanet_accel_active(ExanetState *s, unsigned c)
{
    return 0;
}
