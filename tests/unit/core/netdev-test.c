/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests the properties of a netdev on which a NIC may rely. */
#include "qemu/osdep.h"
#include "hw/rnic/core/netdev.h"

/*
 * stream, dgram and socket have private frames, because they receive into a buffer of
 * their own.  All other types count as not private.  For example, a frame on a hub may
 * still be in guest memory, from which virtio-net sends the frame.
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

/* A netdev is an rnic-cable by its model; a netdev need not have a model. */
static void test_is_cable(void)
{
    char cable[] = "rnic-cable", stream[] = "stream";
    NetClientState netdev = { .model = cable };

    g_assert_true(rnic_netdev_is_cable(&netdev));
    netdev.model = stream;
    g_assert_false(rnic_netdev_is_cable(&netdev));
    netdev.model = NULL;
    g_assert_false(rnic_netdev_is_cable(&netdev));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/netdev/frames-private", test_frames_private);
    g_test_add_func("/core/netdev/is-cable", test_is_cable);
    return g_test_run();
}
