/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters by query-stats, compared with those of QOM. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qobject/qjson.h"
#include "qobject/qstring.h"
#include "qom.h"

#define DST EXANET_RAM_DST

/* Returns the list that @command with @arguments returns; the caller unrefs it. */
static QList *query(ExanetTest *t, const char *command, const char *arguments)
{
    QDict *reply = qtest_qmp(t->qts, "{ 'execute': %s, 'arguments': %p }", command,
                             qobject_from_json(arguments, &error_abort));
    QList *list = qdict_get_qlist(reply, "return");

    g_assert_nonnull(list);
    qobject_ref(list);
    qobject_unref(reply);
    return list;
}

static QDict *first(const QList *list)
{
    QDict *dict = qobject_to(QDict, qlist_peek((QList *)list));

    g_assert_nonnull(dict);
    return dict;
}

/* Sends a block, and takes its ack. */
static void traffic(ExanetTest *t)
{
    static const uint8_t data[600] = { 4, 5, 6 };
    ExanetBlock b = {
        .va = DST, .data = data, .len = sizeof(data), .tid = 1,
        .pdid = EXANET_TEST_PDID(0),
    };

    exanet_peer_send_block(t->peer, &b);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, 1, 0), ==, EXANET_RESP_ACK);
}

/* query-stats returns all counters of the device and of its link, and no others. */
static void test_all(void)
{
    ExanetTest *t = exanet_start("");
    QList *results, *links;
    QDict *counters, *link;
    const QListEntry *e;
    unsigned n = 0;

    traffic(t);
    results = query(t, "query-stats", "{ 'target': 'vm' }");
    counters = qobject_to(QDict, exanet_qom_get(t, "counters"));
    links = qobject_to(QList, exanet_qom_get(t, "links"));
    link = qdict_get_qdict(first(links), "counters");
    g_assert_cmpuint(qlist_size(results), ==, 1);
    g_assert_cmpstr(qdict_get_str(first(results), "provider"), ==, "rnic");
    g_assert_cmpstr(qdict_get_str(first(results), "qom-path"), ==,
                    EXANET_QOM_PATH);
    QLIST_FOREACH_ENTRY(qdict_get_qlist(first(results), "stats"), e) {
        const QDict *stat = qobject_to(QDict, qlist_entry_obj(e));
        const char *name = qdict_get_str(stat, "name");

        if (!strcmp(name, "link0-injected")) {
            g_assert_cmpint(qdict_get_int(stat, "value"), ==, 0);
        } else if (g_str_has_prefix(name, "link0-")) {
            g_assert_cmpint(qdict_get_int(stat, "value"), ==,
                            qdict_get_int(link, name + strlen("link0-")));
        } else {
            g_assert_cmpint(qdict_get_int(stat, "value"), ==,
                            qdict_get_int(counters, name));
        }
        n++;
    }
    g_assert_cmpuint(n, ==, qdict_size(counters) + qdict_size(link) + 1);
    qobject_unref(links);
    qobject_unref(counters);
    qobject_unref(results);
    exanet_stop(t);
}

/* query-stats returns only the counters that were asked for. */
static void test_names(void)
{
    ExanetTest *t = exanet_start("");
    const QDict *stat;
    QList *results;

    traffic(t);
    results = query(t, "query-stats",
                    "{ 'target': 'vm', 'providers': [ { 'provider': 'rnic', "
                    "'names': [ 'rx-write' ] } ] }");
    stat = first(qdict_get_qlist(first(results), "stats"));
    g_assert_cmpuint(qlist_size(qdict_get_qlist(first(results), "stats")), ==, 1);
    g_assert_cmpstr(qdict_get_str(stat, "name"), ==, "rx-write");
    g_assert_cmpint(qdict_get_int(stat, "value"), ==, 3);
    qobject_unref(results);

    results = query(t, "query-stats",
                    "{ 'target': 'vm', 'providers': [ { 'provider': 'rnic', "
                    "'names': [ 'no-such-counter', 'link1-rx-words' ] } ] }");
    g_assert_true(qlist_empty(results));
    qobject_unref(results);
    results = query(t, "query-stats", "{ 'target': 'vcpu' }");
    g_assert_true(qlist_empty(results));
    qobject_unref(results);
    exanet_stop(t);
}

/* `info stats` shows the counters by their schema. */
static void test_hmp(void)
{
    ExanetTest *t = exanet_start("");
    QList *schemas = query(t, "query-stats-schemas", "{ 'provider': 'rnic' }");
    g_autofree char *text = NULL;

    g_assert_cmpuint(qlist_size(schemas), ==, 1);
    g_assert_cmpstr(qdict_get_str(first(schemas), "target"), ==, "vm");
    qobject_unref(schemas);
    traffic(t);
    text = qtest_hmp(t->qts, "info stats vm");
    g_assert_nonnull(strstr(text, "provider: rnic"));
    g_assert_nonnull(strstr(text, "rx-write (cumulative): 3"));
    g_assert_nonnull(strstr(text, "link0-rx-packets (cumulative): 3"));
    g_assert_null(strstr(text, "link1-"));
    g_assert_null(strstr(text, "Error"));
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/stats/all", test_all);
    qtest_add_func("/exanet/stats/names", test_names);
    qtest_add_func("/exanet/stats/hmp", test_hmp);
    return g_test_run();
}
