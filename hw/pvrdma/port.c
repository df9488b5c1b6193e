/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the paired NIC's wire.
 */
#include "qemu/osdep.h"
#include "pvrdma.h"

bool pvrdma_port_init(PvrdmaState *s, const char *netdev, Error **errp)
{
    return false;
}

void pvrdma_port_fini(PvrdmaState *s)
{
}

void pvrdma_port_reset(PvrdmaState *s)
{
}

bool pvrdma_port_up(PvrdmaState *s)
{
    return false;
}

void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6])
{
}

bool pvrdma_port_ready(PvrdmaState *s)
{
    return false;
}

uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt)
{
    return NULL;
}

void pvrdma_tx_end(PvrdmaState *s, size_t payload_len)
{
}

bool pvrdma_port_loop_run(PvrdmaState *s)
{
    return false;
}
