/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines that continue in another QEMU; see migrate.h. */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "migrate.h"
#include "wait.h"

/* Sends @command, and returns the string @member of the answer, to be freed. */
static char *ask(QTestState *qts, const char *command, const char *member)
{
    QDict *answer = qtest_qmp(qts, "{ 'execute': %s }", command);
    QDict *result = qdict_get_qdict(answer, "return");
    char *value;

    g_assert_nonnull(result);
    value = g_strdup(qdict_get_try_str(result, member));
    qobject_unref(answer);
    return value;
}

static bool has_ended(QTestState *qts)
{
    g_autofree char *status = ask(qts, "query-migrate", "status");

    return status && (!strcmp(status, "completed") || !strcmp(status, "failed"));
}

/*
 * Waits for the end of the migration, out of this QEMU or into this QEMU, and asserts
 * that the status of the migration is @want.
 */
static void assert_ends(QTestState *qts, const char *want)
{
    g_autofree char *status = NULL;

    wait_until(has_ended(qts), wait_pause());
    status = ask(qts, "query-migrate", "status");
    g_assert_cmpstr(status, ==, want);
}

char *migrate_save(QTestState *qts)
{
    char *path;
    g_autofree char *uri = NULL;
    int fd = g_file_open_tmp("rnic-saved-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    uri = g_strdup_printf("file:%s", path);
    qtest_qmp_assert_success(qts, "{ 'execute': 'migrate', "
                             "'arguments': { 'uri': %s } }", uri);
    assert_ends(qts, "completed");
    return path;
}

char *migrate_save_refused(QTestState *qts)
{
    QDict *error = qtest_qmp_assert_failure_ref(qts, "{ 'execute': 'migrate', "
        "'arguments': { 'uri': 'exec:cat >/dev/null' } }");
    char *reason = g_strdup(qdict_get_str(error, "desc"));

    qobject_unref(error);
    return reason;
}

static void load(QTestState *qts, const char *path)
{
    g_autofree char *uri = g_strdup_printf("file:%s", path);

    qtest_qmp_assert_success(qts, "{ 'execute': 'migrate-incoming', "
                             "'arguments': { 'uri': %s, 'exit-on-error': false } }",
                             uri);
}

void migrate_load(QTestState *qts, const char *path)
{
    g_autofree char *status = NULL;

    load(qts, path);
    assert_ends(qts, "completed");
    status = ask(qts, "query-status", "status");
    g_assert_cmpstr(status, ==, "running");
}

char *migrate_load_refused(QTestState *qts, const char *path)
{
    load(qts, path);
    assert_ends(qts, "failed");
    return ask(qts, "query-migrate", "error-desc");
}

/* --- Snapshots on a disk -------------------------------------------------- */

static bool job_has_ended(QTestState *qts)
{
    QDict *answer = qtest_qmp(qts, "{ 'execute': 'query-jobs' }");
    QDict *job = qobject_to(QDict, qlist_peek(qdict_get_qlist(answer, "return")));
    bool ended = !strcmp(qdict_get_str(job, "status"), "concluded");

    g_assert_null(qdict_get_try_str(job, "error"));
    qobject_unref(answer);
    return ended;
}

/* Waits until the job has ended, and asserts that the job has no error. */
static void job_wait(QTestState *qts)
{
    wait_until(job_has_ended(qts), wait_pause());
    qtest_qmp_assert_success(qts, "{ 'execute': 'job-dismiss', "
                             "'arguments': { 'id': 'job' } }");
}

void migrate_disk_add(QTestState *qts, const char *path)
{
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-create', "
        "'arguments': { 'job-id': 'job', 'options': { 'driver': 'file', "
        "'filename': %s, 'size': 0 } } }", path);
    job_wait(qts);
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', "
        "'arguments': { 'driver': 'file', 'node-name': 'file', "
        "'filename': %s } }", path);
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-create', "
        "'arguments': { 'job-id': 'job', 'options': { 'driver': 'qcow2', "
        "'file': 'file', 'size': 1048576 } } }");
    job_wait(qts);
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', "
        "'arguments': { 'driver': 'qcow2', 'node-name': 'disk', "
        "'file': 'file' } }");
}

void migrate_snapshot(QTestState *qts, const char *how)
{
    qtest_qmp_assert_success(qts, "{ 'execute': %s, 'arguments': { "
        "'job-id': 'job', 'tag': 'one', 'vmstate': 'disk', "
        "'devices': [ 'disk' ] } }", how);
    job_wait(qts);
}
