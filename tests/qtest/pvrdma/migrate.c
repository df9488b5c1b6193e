/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machines that go on in another QEMU; see migrate.h. */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "migrate.h"

/* A member of what @command returns; to be freed. */
static char *ask(PvrdmaTest *t, const char *command, const char *member)
{
    QDict *answer = qtest_qmp(t->qts, "{ 'execute': %s }", command);
    QDict *result = qdict_get_qdict(answer, "return");
    char *value;

    g_assert_nonnull(result);
    value = g_strdup(qdict_get_try_str(result, member));
    qobject_unref(answer);
    return value;
}

/* Waits until the migration, in or out, is no longer under way; how it ended. */
static char *wait_end(PvrdmaTest *t)
{
    int64_t end = g_get_monotonic_time() + WIRE_PEER_WAIT_MS * 1000;

    for (;;) {
        char *status = ask(t, "query-migrate", "status");

        if (status && (!strcmp(status, "completed") || !strcmp(status, "failed"))) {
            return status;
        }
        g_free(status);
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
}

static void assert_completed(PvrdmaTest *t)
{
    g_autofree char *status = wait_end(t);

    g_assert_cmpstr(status, ==, "completed");
}

char *pvrdma_save(PvrdmaTest *t)
{
    char *path;
    g_autofree char *uri = NULL;
    int fd = g_file_open_tmp("pvrdma-saved-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    uri = g_strdup_printf("file:%s", path);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate', "
                             "'arguments': { 'uri': %s } }", uri);
    assert_completed(t);
    return path;
}

static PvrdmaTest *incoming(const char *path, const char *props, bool peer,
                            int64_t now)
{
    g_autofree char *all = g_strdup_printf("%s -incoming defer", props);
    g_autofree char *uri = g_strdup_printf("file:%s", path);
    PvrdmaTest *t = peer ? pvrdma_start_cold_peer(all) : pvrdma_start_cold(all);

    if (now) {
        qtest_clock_set(t->qts, now);
    }
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'migrate-incoming', "
                             "'arguments': { 'uri': %s, 'exit-on-error': false } }",
                             uri);
    return t;
}

PvrdmaTest *pvrdma_load(PvrdmaTest *from, const char *path, const char *props)
{
    PvrdmaTest *t = incoming(path, props, from->mac == pvrdma_peer_mac,
                             qtest_clock_step(from->qts, 1));
    g_autofree char *status = NULL;

    assert_completed(t);
    status = ask(t, "query-status", "status");
    g_assert_cmpstr(status, ==, "running");
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
    PvrdmaTest *t = incoming(path, props, false, 0);
    g_autofree char *status = wait_end(t);
    char *reason;

    g_assert_cmpstr(status, ==, "failed");
    reason = ask(t, "query-migrate", "error-desc");
    /* what was loaded can be used no more, but goes away */
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'system_reset' }");
    g_assert_cmphex(pvrdma_get(t, PVRDMA_REG_DSRLOW), ==, 0);
    t->guest_errors = false;
    pvrdma_stop(t);
    return reason;
}

PvrdmaTest *pvrdma_migrate(PvrdmaTest *from)
{
    g_autofree char *path = pvrdma_save(from);
    PvrdmaTest *to = pvrdma_load(from, path, "");

    unlink(path);
    pvrdma_settle(from);
    g_queue_clear_full(&from->frames, g_free);
    pvrdma_stop(from);
    return to;
}

/* --- Snapshots on a disk -------------------------------------------------- */

/* Waits until the job has ended well. */
static void job_wait(PvrdmaTest *t)
{
    int64_t end = g_get_monotonic_time() + WIRE_PEER_WAIT_MS * 1000;

    for (;;) {
        QDict *answer = qtest_qmp(t->qts, "{ 'execute': 'query-jobs' }");
        QDict *job = qobject_to(QDict,
                                qlist_peek(qdict_get_qlist(answer, "return")));
        bool done = !strcmp(qdict_get_str(job, "status"), "concluded");

        g_assert_null(qdict_get_try_str(job, "error"));
        qobject_unref(answer);
        if (done) {
            break;
        }
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        g_usleep(1000);
    }
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'job-dismiss', "
                             "'arguments': { 'id': 'job' } }");
}

void pvrdma_snapshot_disk(PvrdmaTest *t, const char *path)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'blockdev-create', "
        "'arguments': { 'job-id': 'job', 'options': { 'driver': 'file', "
        "'filename': %s, 'size': 0 } } }", path);
    job_wait(t);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'blockdev-add', "
        "'arguments': { 'driver': 'file', 'node-name': 'file', "
        "'filename': %s } }", path);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'blockdev-create', "
        "'arguments': { 'job-id': 'job', 'options': { 'driver': 'qcow2', "
        "'file': 'file', 'size': 1048576 } } }");
    job_wait(t);
    qtest_qmp_assert_success(t->qts, "{ 'execute': 'blockdev-add', "
        "'arguments': { 'driver': 'qcow2', 'node-name': 'disk', "
        "'file': 'file' } }");
}

void pvrdma_snapshot(PvrdmaTest *t, const char *how)
{
    qtest_qmp_assert_success(t->qts, "{ 'execute': %s, 'arguments': { "
        "'job-id': 'job', 'tag': 'one', 'vmstate': 'disk', "
        "'devices': [ 'disk' ] } }", how);
    job_wait(t);
}
