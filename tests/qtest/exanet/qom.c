/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Properties of the device by QMP; see qom.h. */
#include "qemu/osdep.h"
#include "qobject/qstring.h"
#include "qom.h"

QObject *exanet_qom_get(ExanetTest *t, const char *name)
{
    QDict *reply = qtest_qmp(t->qts, "{ 'execute': 'qom-get', 'arguments': "
                             "{ 'path': %s, 'property': %s } }",
                             EXANET_QOM_PATH, name);
    QObject *value = qdict_get(reply, "return");

    g_assert_nonnull(value);
    qobject_ref(value);
    qobject_unref(reply);
    return value;
}

void exanet_faults_set(ExanetTest *t, const char *text)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'qom-set', 'arguments': "
                             "{ 'path': %s, 'property': 'faults0', "
                             "'value': %s } }", EXANET_QOM_PATH, text);
}

void exanet_qom_refused(ExanetTest *t, const char *name, const char *text,
                        const char *part)
{
    QDict *error = qtest_qmp_assert_failure_ref(t->qts,
        "{ 'execute': 'qom-set', 'arguments': { 'path': %s, 'property': %s, "
        "'value': %s } }", EXANET_QOM_PATH, name, text);
    const char *desc = qdict_get_str(error, "desc");

    if (!strstr(desc, part)) {
        g_error("'%s' is refused with '%s', not a word of '%s'", text, desc,
                part);
    }
    g_assert_null(strchr(desc, '\n'));
    g_assert_cmpuint(strlen(desc), <, 200);
    qobject_unref(error);
}

void exanet_faults_assert(ExanetTest *t, const char *text)
{
    QObject *value = exanet_qom_get(t, "faults0");

    g_assert_cmpstr(qstring_get_str(qobject_to(QString, value)), ==, text);
    qobject_unref(value);
}

uint64_t exanet_link_member(ExanetTest *t, const char *group, const char *name)
{
    QObject *links = exanet_qom_get(t, "links");
    QDict *link = qobject_to(QDict, qlist_peek(qobject_to(QList, links)));
    uint64_t value;

    value = qdict_get_int(group ? qdict_get_qdict(link, group) : link, name);
    qobject_unref(links);
    return value;
}
