/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines with pvrdma that continue in another QEMU; see migrate.h. */
#include "qemu/osdep.h"
#include "migrate.h"

PvrdmaTest *pvrdma_load(PvrdmaTest *from, const char *path, const char *props)
{
    g_autofree char *all = g_strconcat(props, MIGRATE_INCOMING, NULL);
    PvrdmaTest *t = from->mac == pvrdma_peer_mac ? pvrdma_start_cold_peer(all)
                                                 : pvrdma_start_cold(all);

    qtest_clock_set(t->qts, qtest_clock_step(from->qts, 1));
    migrate_load(t->qts, path);
    t->ram_next = from->ram_next;
    t->dsr = from->dsr;
    t->cmd_slot = from->cmd_slot;
    t->resp_slot = from->resp_slot;
    t->msix = from->msix;
    t->async = from->async;
    t->cqne = from->cqne;
    t->cookie = from->cookie;
    return t;
}

char *pvrdma_load_refused(const char *path, const char *props)
{
    g_autofree char *all = g_strconcat(props, MIGRATE_INCOMING, NULL);
    PvrdmaTest *t = pvrdma_start_cold(all);
    char *reason = migrate_load_refused(t->qts, path);

    /* a reset frees the objects of the partly loaded device */
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'system_reset' }");
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, 0);
    t->guest_errors = false;
    pvrdma_stop(t);
    return reason;
}

PvrdmaTest *pvrdma_migrate(PvrdmaTest *from)
{
    g_autofree char *path = migrate_save(from->qts);
    PvrdmaTest *to = pvrdma_load(from, path, "");

    unlink(path);
    pvrdma_settle(from);
    g_queue_clear_full(&from->frames, g_free);
    pvrdma_stop(from);
    return to;
}
