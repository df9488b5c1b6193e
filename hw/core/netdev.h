/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of a netdev on which a NIC may rely. */
#ifndef RNIC_CORE_NETDEV_H
#define RNIC_CORE_NETDEV_H

#include "net/net.h"

#define TYPE_RNIC_CABLE "rnic-cable"

/*
 * Returns true if @netdev is that of an rnic-cable, which damages no frame, because there
 * is only memory of this host between its two ends.
 */
static inline bool rnic_netdev_is_cable(const NetClientState *netdev)
{
    return g_strcmp0(netdev->model, TYPE_RNIC_CABLE) == 0;
}

/*
 * Returns true if a frame of @netdev cannot change while the NIC reads the frame, because
 * @netdev has a private copy.  A hub has none: a frame of another NIC on the hub may be
 * in guest memory.
 */
static inline bool rnic_netdev_frames_private(const NetClientState *netdev)
{
    switch (netdev->info->type) {
    case NET_CLIENT_DRIVER_STREAM:      /* rnic-cable has this type, too */
    case NET_CLIENT_DRIVER_DGRAM:
    case NET_CLIENT_DRIVER_SOCKET:
        return true;
    default:
        return false;
    }
}

#endif /* RNIC_CORE_NETDEV_H */
