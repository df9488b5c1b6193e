/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A network of machines; see network.h. */
#include "qemu/osdep.h"
#include <glib/gstdio.h>
#include "network.h"

static char *cable_path(const ExtollNetwork *f, unsigned c)
{
    return g_strdup_printf("%s/%u", f->dir, c);
}

/* --- Start and end -------------------------------------------------------- */

static void node_start(ExtollNetwork *f, unsigned n, const char *props)
{
    const ExtollTopology *topo = f->topo;
    g_autoptr(GString) netdevs = g_string_new(NULL);
    g_autoptr(GString) all = g_string_new(props);

    for (unsigned c = 0; c < topo->cables; c++) {
        for (unsigned end = 0; end < 2; end++) {
            unsigned link = topo->cable[c].link[end];
            g_autofree char *id = g_strdup_printf("wire%u", link);
            g_autofree char *path = cable_path(f, c);
            g_autofree char *cable = NULL;

            if (topo->cable[c].node[end] == n) {
                /* the node with the smaller number starts first, and listens */
                cable = machine_cable(id, path, n < topo->cable[c].node[!end]);
                g_string_append_printf(netdevs, "%s ", cable);
                g_string_append_printf(all, ",link%u=%s", link, id);
            }
        }
    }
    f->t[n] = extoll_start_node(netdevs->str, n, all->str);
    velo_enable(f->t[n]);
    for (unsigned to = 0; to < topo->nodes; to++) {
        extoll_set64(f->t[n], EXTOLL_VELO_ROUTE(to), topo->route[n][to]);
    }
}

ExtollNetwork *extoll_network_start(const ExtollTopology *topo, const char *props)
{
    ExtollNetwork *f = g_new0(ExtollNetwork, 1);

    f->topo = topo;
    f->dir = g_dir_make_tmp("extoll-network-XXXXXX", NULL);
    g_assert_nonnull(f->dir);
    for (unsigned n = 0; n < topo->nodes; n++) {
        node_start(f, n, props);
    }
    extoll_network_wait_up(f);
    return f;
}

void extoll_network_stop(ExtollNetwork *f)
{
    for (unsigned n = 0; n < f->topo->nodes; n++) {
        /* sends SIGTERM to all nodes first, because the end of each takes time */
        kill(qtest_pid(f->t[n]->qts), SIGTERM);
    }
    for (unsigned n = 0; n < f->topo->nodes; n++) {
        extoll_stop(f->t[n]);
    }
    for (unsigned c = 0; c < f->topo->cables; c++) {
        g_autofree char *path = cable_path(f, c);

        unlink(path);
    }
    g_rmdir(f->dir);
    g_free(f->dir);
    g_free(f);
}

/* --- Time and cables ------------------------------------------------------ */

void extoll_network_step(ExtollNetwork *f, int64_t ns)
{
    for (unsigned n = 0; n < f->topo->nodes; n++) {
        qtest_clock_step(f->t[n]->qts, ns);
    }
    for (unsigned n = 0; n < f->topo->nodes; n++) {
        extoll_settle(f->t[n]);
    }
}

bool extoll_network_is_up(ExtollNetwork *f, unsigned c)
{
    const ExtollCable *cable = &f->topo->cable[c];

    return extoll_link_up_get(f->t[cable->node[0]], cable->link[0]) &&
           extoll_link_up_get(f->t[cable->node[1]], cable->link[1]);
}

void extoll_network_wait_up(ExtollNetwork *f)
{
    for (unsigned c = 0; c < f->topo->cables; c++) {
        wait_until(extoll_network_is_up(f, c),
                   extoll_network_step(f, 60 * EXTOLL_TEST_MS));
    }
}

void extoll_network_cable_set(ExtollNetwork *f, unsigned c, unsigned end, bool fault,
                              bool up)
{
    const ExtollCable *cable = &f->topo->cable[c];
    ExtollTest *t = f->t[cable->node[end]];

    if (fault) {
        extoll_faults_set(t, cable->link[end], up ? "" : "down");
    } else {
        extoll_port_set(t, cable->link[end], CTRL, up ? EXTOLL_PORT_CTRL_ENABLE : 0);
    }
}

void extoll_network_faults_set(ExtollNetwork *f, const char *faults, uint32_t seed)
{
    for (unsigned i = 0; i < 2 * f->topo->cables; i++) {
        const ExtollCable *cable = &f->topo->cable[i / 2];
        g_autofree char *text = g_strdup_printf("%s seed=%u", faults, seed + i);

        extoll_faults_set(f->t[cable->node[i & 1]], cable->link[i & 1], text);
    }
}

unsigned extoll_network_hops(const ExtollTopology *topo, unsigned a, unsigned b)
{
    uint64_t route = topo->route[a][b];
    unsigned hops = 0;

    for (; route >> EXTOLL_ROUTE_BITS; route >>= EXTOLL_ROUTE_BITS) {
        hops += RNIC_GET(EXTOLL_ROUTE_HOPS_0, route) +
                RNIC_GET(EXTOLL_ROUTE_HOPS_1, route);
    }
    return hops;
}
