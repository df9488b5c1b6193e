/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: rings of the device, interrupts.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

int pvrdma_ring_init(PvrdmaState *s, PvrdmaRing *ring, uint64_t pdir,
                     uint32_t pages, unsigned elem_bytes)
{
    return 0;
}

void pvrdma_ring_fini(PvrdmaState *s, PvrdmaRing *ring)
{
}

void pvrdma_event(PvrdmaState *s, enum pvrdma_event type, uint32_t info)
{
}

void pvrdma_cq_notify(PvrdmaState *s, uint32_t cq)
{
}

void pvrdma_irq_raise(PvrdmaState *s, enum pvrdma_intr_vector vector)
{
}
