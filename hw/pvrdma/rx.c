/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: what came from the wire.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

void pvrdma_rx(PvrdmaState *s, const uint8_t *frame, size_t len)
{
}
