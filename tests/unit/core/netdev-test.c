/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests what a NIC may assume about its netdev. */
#include "qemu/osdep.h"
#include "hw/rnic/core/netdev.h"

/*
 * Only netdevs that receive into a buffer of their own have private frames.  On a hub, a
 * frame may be in the guest memory from which virtio-net sends it.
 */
static void test_frames_private(void)
{
    for (unsigned type = 0; type < NET_CLIENT_DRIVER__MAX; type++) {
        NetClientInfo info = { .type = type };
        const NetClientState netdev = { .info = &info };
        bool own = type == NET_CLIENT_DRIVER_STREAM || type == NET_CLIENT_DRIVER_DGRAM ||
                   type == NET_CLIENT_DRIVER_SOCKET;

        g_assert_cmpint(rnic_netdev_frames_private(&netdev), ==, own);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/netdev/frames-private", test_frames_private);
    return g_test_run();
}
