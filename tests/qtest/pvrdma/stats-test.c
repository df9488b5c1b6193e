/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of pvrdma in query-stats, alone and beside an ExaNet NIC. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qobject/qdict.h"
#include "qobject/qjson.h"
#include "qobject/qlist.h"
#include "verbs.h"

#define EXANET " -netdev hubport,id=cable,hubid=7 -device exanet-pci,id=exa,link0=cable"

/* Makes the guest's first refused command, so that the counter cmd-error is 1. */
static void command_refused(PvrdmaTest *t)
{
    union pvrdma_cmd_req req = { 0 };

    pvrdma_command_fails(t, PVRDMA_CMD_DESTROY_PD, &req, EINVAL);
}

/* Returns the results of all devices, with a reference for the caller. */
static QList *query(PvrdmaTest *t)
{
    QDict *reply = qtest_qmp(t->qts, "{ 'execute': 'query-stats', 'arguments': "
                             "{ 'target': 'vm', 'providers': [ { 'provider': 'rnic' } ] } }");
    QList *list = qobject_ref(qdict_get_qlist(reply, "return"));

    qobject_unref(reply);
    return list;
}

/* Returns the counters of the device at @path, or NULL. */
static QList *stats_of(QList *results, const char *path)
{
    const QListEntry *e;

    QLIST_FOREACH_ENTRY(results, e) {
        const QDict *result = qobject_to(QDict, qlist_entry_obj(e));

        if (!strcmp(qdict_get_str(result, "qom-path"), path)) {
            return qdict_get_qlist(result, "stats");
        }
    }
    return NULL;
}

/* Each counter has the value that the property `counters` shows. */
static void test_all(void)
{
    PvrdmaTest *t = pvrdma_start("");
    QList *results, *stats;
    const QListEntry *e;
    bool seen = false;

    command_refused(t);
    results = query(t);
    g_assert_cmpuint(qlist_size(results), ==, 1);
    stats = stats_of(results, "/machine/peripheral/nic");
    g_assert_cmpuint(qlist_size(stats), ==, PVRDMA_COUNTER_COUNT);
    QLIST_FOREACH_ENTRY(stats, e) {
        const QDict *stat = qobject_to(QDict, qlist_entry_obj(e));
        const char *name = qdict_get_str(stat, "name");

        g_assert_cmpint(qdict_get_int(stat, "value"), ==, pvrdma_counter(t, name));
        if (!strcmp(name, "cmd-error")) {
            g_assert_cmpint(qdict_get_int(stat, "value"), ==, 1);
            seen = true;
        }
    }
    g_assert_true(seen);
    qobject_unref(results);
    pvrdma_stop(t);
}

/*
 * Devices of two families have a result each, and `info stats` finds the names of both in
 * the schema, also names that both families have.
 */
static void test_families(void)
{
    PvrdmaTest *t = pvrdma_start(EXANET);
    g_autofree char *text = NULL;
    QList *results;

    command_refused(t);
    results = query(t);
    g_assert_cmpuint(qlist_size(results), ==, 2);
    g_assert_nonnull(stats_of(results, "/machine/peripheral/nic"));
    g_assert_nonnull(stats_of(results, "/machine/peripheral/exa"));
    qobject_unref(results);
    text = qtest_hmp(t->qts, "info stats vm");
    g_assert_nonnull(strstr(text, "cmd-error (cumulative): 1"));
    g_assert_nonnull(strstr(text, "link0-rx-packets (cumulative): 0"));
    g_assert_null(strstr(text, "Error"));
    g_assert_null(strstr(text, "failed to find"));
    pvrdma_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/pvrdma/stats/all", test_all);
    qtest_add_func("/pvrdma/stats/families", test_families);
    return g_test_run();
}
