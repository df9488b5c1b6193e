/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet aperture: loads and stores of the CPUs.
 */
#include "qemu/osdep.h"
#include "shm.h"

void exanet_aperture_init(ExanetState *s)
{
}

void exanet_aperture_fini(ExanetState *s)
{
}

void exanet_aperture_finalize(ExanetState *s)
{
}

void exanet_aperture_reset(ExanetState *s)
{
}

bool exanet_aperture_run(ExanetState *s)
{
    return false;
}

void exanet_aperture_map_written(ExanetState *s, unsigned m)
{
}

void exanet_aperture_quiesce(ExanetState *s, unsigned c)
{
}

void exanet_aperture_guard(ExanetState *s, bool on)
{
}
