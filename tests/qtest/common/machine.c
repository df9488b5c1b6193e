/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for tests of all devices; see machine.h. */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "machine.h"

#define MSIX_DATA 0xe4a70000u
/*
 * Maximum bytes of one request.  Both ends of qtest search a line from its start each
 * time a part of it arrives, so the time of a request is quadratic in its length.
 */
#define PIECE 4096

int machine_run(const char *args, char **out, char **err)
{
    g_autofree char *line = g_strdup_printf(
        "%s -machine q35 -nodefaults -display none -S -accel qtest "
        "-netdev hubport,hubid=0,id=wire %s", getenv("QTEST_QEMU_BINARY"), args);
    g_auto(GStrv) argv = g_strsplit(line, " ", 0);
    GError *error = NULL;
    int status;

    g_assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, out,
                               err, &status, &error));
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void machine_assert_described(const char *help, const char *const *properties,
                              unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *line = g_strdup_printf("\n  %s=", properties[i]);
        char *found = strstr(help, line);
        char *text;

        g_assert_nonnull(found);
        text = strstr(found + 1, " - ");
        g_assert_nonnull(text);
        g_assert_true(text < strchr(found + 1, '\n'));
        g_assert_cmpint(strcspn(text + 3, "\n("), >, 10);
    }
}

bool machine_on_cable(void)
{
    return !g_strcmp0(getenv("RNIC_TEST_WIRE"), "cable");
}

char *machine_cable(const char *id, const char *path, bool server)
{
    if (machine_on_cable()) {
        return g_strdup_printf("-device rnic-cable,id=%s,path=%s,server=%s", id, path,
                               server ? "on" : "off");
    }
    return g_strdup_printf("-netdev stream,id=%s,addr.type=unix,addr.path=%s,server=%s",
                           id, path, server ? "on" : "off,reconnect-ms=20");
}

uint64_t machine_cable_get(QTestState *qts, const char *id, const char *name)
{
    g_autofree char *path = g_strdup_printf("/machine/peripheral/%s", id);
    QDict *reply = qtest_qmp(qts, "{'execute': 'qom-get', 'arguments': {'path': %s, "
                             "'property': %s}}", path, name);
    QObject *value = qdict_get(reply, "return");
    uint64_t found;

    g_assert_nonnull(value);
    found = qobject_type(value) == QTYPE_QBOOL ? qdict_get_bool(reply, "return")
                                               : qdict_get_int(reply, "return");
    qobject_unref(reply);
    return found;
}

uint64_t machine_load(QTestState *qts, uint64_t pa, unsigned size)
{
    switch (size) {
    case 1:
        return qtest_readb(qts, pa);
    case 2:
        return qtest_readw(qts, pa);
    case 4:
        return qtest_readl(qts, pa);
    case 8:
        return qtest_readq(qts, pa);
    default:
        g_assert_not_reached();
    }
}

void machine_store(QTestState *qts, uint64_t pa, unsigned size, uint64_t value)
{
    switch (size) {
    case 1:
        qtest_writeb(qts, pa, value);
        break;
    case 2:
        qtest_writew(qts, pa, value);
        break;
    case 4:
        qtest_writel(qts, pa, value);
        break;
    case 8:
        qtest_writeq(qts, pa, value);
        break;
    default:
        g_assert_not_reached();
    }
}

void machine_read(QTestState *qts, uint64_t pa, void *buf, size_t len)
{
    for (size_t at = 0; at < len; at += PIECE) {
        qtest_bufread(qts, pa + at, (uint8_t *)buf + at, MIN(PIECE, len - at));
    }
}

void machine_write(QTestState *qts, uint64_t pa, const void *buf, size_t len)
{
    for (size_t at = 0; at < len; at += PIECE) {
        qtest_bufwrite(qts, pa + at, (const uint8_t *)buf + at,
                       MIN(PIECE, len - at));
    }
}

void machine_fill(QTestState *qts, uint64_t pa, uint8_t *copy, size_t len,
                  unsigned seed)
{
    g_autofree uint8_t *own = copy ? NULL : g_malloc(len);
    uint8_t *buf = copy ?: own;
    uint32_t x = seed * 2654435761u + 1;

    for (size_t i = 0; i < len; i++) {
        x = x * 1664525 + 1013904223;
        buf[i] = x >> 24;
    }
    machine_write(qts, pa, buf, len);
}

void machine_assert_mem(QTestState *qts, uint64_t pa, const void *want,
                        size_t len)
{
    g_autofree uint8_t *have = g_malloc(len);

    machine_read(qts, pa, have, len);
    for (size_t i = 0; i < len; i++) {
        if (have[i] != ((const uint8_t *)want)[i]) {
            g_error("byte %zu of %zu at 0x%" PRIx64 " is 0x%02x, not 0x%02x",
                    i, len, pa, have[i], ((const uint8_t *)want)[i]);
        }
    }
}

void machine_msix_aim(QPCIDevice *dev, unsigned v, uint64_t at, uint32_t data)
{
    uint64_t entry = dev->msix_table_off + 16 * v;

    qpci_io_writel(dev, dev->msix_table_bar, entry, at);
    qpci_io_writel(dev, dev->msix_table_bar, entry + 4, at >> 32);
    qpci_io_writel(dev, dev->msix_table_bar, entry + 8, data);
}

void machine_msix_enable(QTestState *qts, QPCIDevice *dev, uint64_t at,
                         unsigned vectors)
{
    qpci_msix_enable(dev);
    g_assert_cmpuint(qpci_msix_table_size(dev), ==, vectors);
    for (unsigned v = 0; v < vectors; v++) {
        qtest_writel(qts, at + 4 * v, 0);
        machine_msix_aim(dev, v, at + 4 * v, MSIX_DATA | v);
        /* clears the mask bit of the vector */
        qpci_io_writel(dev, dev->msix_table_bar, dev->msix_table_off + 16 * v + 12,
                       0);
    }
}

bool machine_msix_taken(QTestState *qts, uint64_t at, unsigned v)
{
    uint32_t data = qtest_readl(qts, at + 4 * v);

    if (!data) {
        return false;
    }
    g_assert_cmphex(data, ==, MSIX_DATA | v);
    qtest_writel(qts, at + 4 * v, 0);
    return true;
}

char *machine_log_new(void)
{
    char *path;
    int fd = g_file_open_tmp("rnic-test-XXXXXX", &path, NULL);

    g_assert_cmpint(fd, >=, 0);
    close(fd);
    return path;
}

/*
 * Returns true if @line is a trace event of a device: in a guest error of the device, a
 * colon follows the name.
 */
static bool is_trace(const char *line)
{
    return g_regex_match_simple("^(exanet|extoll|pvrdma|rnic)_\\w+ ", line, 0, 0);
}

static char **log_lines(const char *path)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return g_strsplit(text, "\n", -1);
}

/*
 * Returns the lines of the log that are not trace events, to be freed.  Deletes the log
 * and frees @path.
 */
static char *log_take(char *path)
{
    g_auto(GStrv) lines = log_lines(path);
    g_autoptr(GString) text = g_string_new(NULL);

    for (char **line = lines; *line; line++) {
        if (**line && !is_trace(*line)) {
            g_string_append_printf(text, "%s\n", *line);
        }
    }
    unlink(path);
    g_free(path);
    return g_string_free(g_steal_pointer(&text), false);
}

void machine_log_check(char *path, const char *device, bool expected, bool others)
{
    g_autofree char *text = log_take(path);

    if (expected) {
        g_assert_nonnull(strstr(text, device));
    } else if (others) {
        g_assert_null(strstr(text, device));
    } else {
        g_assert_cmpstr(text, ==, "");
    }
}

/* --- Trace events ----------------------------------------------------------- */

void machine_trace(QTestState *qts, const char *pattern, bool on)
{
    qtest_qmp_assert_success(qts, "{ 'execute': 'trace-event-set-state',"
                             " 'arguments': { 'name': %s, 'enable': %i } }",
                             pattern, on);
}

char *machine_trace_steps(const char *path, const char *prefix)
{
    g_auto(GStrv) lines = log_lines(path);
    g_autoptr(GString) steps = g_string_new(NULL);
    g_autofree char *last = g_strdup("");

    for (char **line = lines; *line; line++) {
        if (is_trace(*line) && g_str_has_prefix(*line, prefix)) {
            const char *name = *line + strlen(prefix);
            char *step = g_strndup(name, strcspn(name, " "));

            if (strcmp(step, last)) {
                g_string_append_printf(steps, "%s%s", steps->len ? " " : "", step);
            }
            g_free(last);
            last = step;
        }
    }
    return g_string_free(g_steal_pointer(&steps), false);
}
