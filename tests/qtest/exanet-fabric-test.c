/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Networks of many nodes without faults: everybody talks to everybody, nothing is
 * lost, nobody starves and nothing locks up.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "exanet-traffic.h"

/* nothing is lost here, so nothing takes longer than a few time-outs */
#define LIMIT (2000 * EXANET_MS)

static void check_all_to_all(const ExanetTopology *topo, uint32_t max,
                             unsigned waves)
{
    ExanetFabric *f = exanet_fabric_start(topo, "");
    ExanetTraffic *tr = exanet_traffic_new(f, topo->nodes);

    for (unsigned i = 0; i < waves; i++) {
        exanet_traffic_all_to_all(tr, max);
        exanet_traffic_run(tr, EXANET_MS, LIMIT);
        exanet_traffic_check(tr);
    }
    exanet_traffic_free(tr);
    exanet_fabric_stop(f);
}

static void test_qfdb(void)
{
    ExanetTopology topo = exanet_topology_qfdb(1);

    check_all_to_all(&topo, 256 * KiB, 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/fabric/qfdb", test_qfdb);
    return g_test_run();
}
