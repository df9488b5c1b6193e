/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views of an EXTOLL NIC in QOM, its counters in query-stats, and its trace events. */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "device.h"

static QDict *view(ExtollTest *t, const char *name)
{
    QDict *reply = qtest_qmp(t->qts, "{ 'execute': 'qom-get', 'arguments': { "
                             "'path': '/machine/peripheral/nic', 'property': %s } }",
                             name);
    QDict *value = qobject_ref(qdict_get_qdict(reply, "return"));

    qobject_unref(reply);
    g_assert_nonnull(value);
    return value;
}

static void test_state(void)
{
    ExtollTest *t = extoll_start(",strict=on");
    QDict *state;

    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
    extoll_set32(t, EXTOLL_REG_NODE, 9);
    qtest_clock_step(t->qts, 1000);
    state = view(t, "state");
    g_assert_cmpint(qdict_get_int(state, "node"), ==, 9);
    g_assert_cmpint(qdict_get_int(state, "epoch"), ==, EXTOLL_TEST_EPOCH);
    g_assert_true(qdict_get_bool(state, "enabled"));
    g_assert_true(qdict_get_bool(state, "strict"));
    g_assert_cmpint(qdict_get_int(state, "time-ns"), ==,
                    extoll_get64(t, EXTOLL_REG_TIME));
    qobject_unref(state);
    extoll_stop(t);
}

/* The view and query-stats have all counters, with equal values. */
static void test_counters(void)
{
    ExtollTest *t = extoll_start("");
    QDict *counters, *reply, *result;
    QList *stats;
    const QListEntry *e;
    unsigned n = 0;

    extoll_get32(t, EXTOLL_SNQ);
    extoll_get32(t, EXTOLL_SNQ);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VECTORS);
    counters = view(t, "counters");
    g_assert_cmpuint(qdict_size(counters), ==, EXTOLL_COUNTER_COUNT);
    g_assert_cmpint(qdict_get_int(counters, "reg-bad"), ==, 2);
    g_assert_cmpint(qdict_get_int(counters, "test-bad"), ==, 1);
    g_assert_cmpint(qdict_get_int(counters, "velo-pio"), ==, 0);
    reply = qtest_qmp(t->qts, "{ 'execute': 'query-stats', 'arguments': { "
                      "'target': 'vm', 'providers': [ { 'provider': 'rnic' } ] } }");
    result = qobject_to(QDict, qlist_peek(qdict_get_qlist(reply, "return")));
    stats = qdict_get_qlist(result, "stats");
    QLIST_FOREACH_ENTRY(stats, e) {
        const QDict *stat = qobject_to(QDict, qlist_entry_obj(e));

        g_assert_cmpint(qdict_get_int(stat, "value"), ==,
                        qdict_get_int(counters, qdict_get_str(stat, "name")));
        n++;
    }
    g_assert_cmpuint(n, ==, EXTOLL_COUNTER_COUNT);
    qobject_unref(reply);
    qobject_unref(counters);
    t->guest_errors = true;
    extoll_stop(t);
}

static void test_trace(void)
{
    ExtollTest *t = extoll_start("");
    g_autofree char *steps = NULL;

    extoll_msix_enable(t);
    machine_trace(t->qts, "extoll_*", true);
    extoll_selftest(t, EXTOLL_TEST_FILL, EXTOLL_RAM_DATA, 4, 0);
    extoll_set32(t, EXTOLL_REG_TEST_IRQ, EXTOLL_VEC_RMA);
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_RESET);
    machine_trace(t->qts, "extoll_*", false);
    steps = machine_trace_steps(t->log, "extoll_");
    g_assert_cmpstr(steps, ==,
                    "reg_write selftest reg_read reg_write irq reg_write reset");
    extoll_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/extoll/qom/state", test_state);
    qtest_add_func("/extoll/qom/counters", test_counters);
    qtest_add_func("/extoll/qom/trace", test_trace);
    return g_test_run();
}
