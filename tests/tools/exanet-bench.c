/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the device model without a guest, one `name=value` on each line:
 *
 *   loopback.*   one device writes to its own node
 *   wire.*       to another QEMU process, through a unix socket
 *   *.instructions_per_*   counted by callgrind, if it is installed, in firmware and
 *                ExaDMA; the ExaDMA's count contains the receiver, because
 *                the device receives packets to its own node in the same run
 *
 * The machine is as in the tests: virtual time stands still, so no block is
 * retransmitted, and no guest competes for the processor.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include <glib/gstdio.h>
#include "../qtest/exanet/device.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST
#define BYTES (16 * MiB)
#define ROUNDS 16               /* transfers of BYTES bytes */
#define SMALL_BLOCK 64          /* bytes of a block, for the measurement of descriptors */
#define SMALL_BYTES (4 * MiB)
#define COUNTED_BYTES (4 * MiB) /* bytes of a transfer under callgrind */
#define COUNTED_DESCRIPTORS 4096

static void transfer(ExanetTest *t, uint32_t coord, uint32_t bytes)
{
    ExanetTransfer x = {
        .src = SRC, .dst = exanet_gva(coord, DST), .len = bytes,
    };

    exanet_channel_start(t, 0, 0, &x);
    while (exanet_channel_state(t, 0, 0) < EXANET_CHANNEL_DONE) {
        /* each look at the state costs time of the device's thread */
        g_usleep(200);
    }
    g_assert_cmpuint(exanet_channel_state(t, 0, 0), ==, EXANET_CHANNEL_DONE);
}

static double seconds(ExanetTest *t, uint32_t coord, uint32_t bytes,
                      unsigned rounds)
{
    int64_t start;

    transfer(t, coord, bytes);      /* page faults occur before the measurement */
    start = g_get_monotonic_time();
    for (unsigned i = 0; i < rounds; i++) {
        transfer(t, coord, bytes);
    }
    return (g_get_monotonic_time() - start) / 1e6;
}

static void set_block(ExanetTest *t, unsigned bytes)
{
    exanet_set32(t, EXANET_FW + EXANET_REG_FW_BLOCK, bytes);
}

static void report(const char *name, const char *what, double value)
{
    printf("%s.%s=%.1f\n", name, what, value);
    fflush(stdout);
}

static void bench(ExanetTest *t, const char *name, uint32_t coord)
{
    report(name, "bytes_per_s",
           (double)BYTES * ROUNDS / seconds(t, coord, BYTES, ROUNDS));
    set_block(t, SMALL_BLOCK);
    report(name, "descriptors_per_s", (double)SMALL_BYTES / SMALL_BLOCK /
           seconds(t, coord, SMALL_BYTES, 1));
    set_block(t, EXANET_BLOCK_BYTES);
}

static void bench_loopback(void)
{
    ExanetTest *t = exanet_start("");

    bench(t, "loopback", EXANET_TEST_NODE);
    exanet_stop(t);
}

static void bench_wire(void)
{
    g_autofree char *dir = g_dir_make_tmp("exanet-bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);
    ExanetTest *t[2];

    exanet_pair_start(t, path, "");
    bench(t[0], "wire", EXANET_TEST_PEER);
    exanet_stop(t[0]);
    exanet_stop(t[1]);
    unlink(path);
    g_rmdir(dir);
}

/* Returns the sum of all events in the file of callgrind. */
static double instructions(const char *path)
{
    g_autofree char *text = NULL;
    double events;
    char *totals;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    totals = strstr(text, "\ntotals: ");
    g_assert_nonnull(totals);
    events = g_ascii_strtod(totals + strlen("\ntotals: "), NULL);
    /* callgrind reports no error for a function that does not exist */
    g_assert_cmpfloat(events, >, 0);
    return events;
}

/*
 * Returns the instructions of fw_run() and exadma_run() from the start of a device to the
 * end of one transfer of @bytes in blocks of @block.
 */
static double count(const char *qemu, uint32_t bytes, unsigned block)
{
    g_autofree char *dir = g_dir_make_tmp("exanet-bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "callgrind", NULL);
    g_autofree char *binary = g_strdup_printf(
        "valgrind -q --tool=callgrind --callgrind-out-file=%s "
        "--toggle-collect=fw_run "
        "--toggle-collect=exadma_run %s", path, qemu);
    double result;
    ExanetTest *t;

    g_setenv("QTEST_QEMU_BINARY", binary, true);
    t = exanet_start("");
    set_block(t, block);
    transfer(t, EXANET_TEST_NODE, bytes);
    exanet_stop(t);
    result = instructions(path);
    g_unlink(path);
    g_rmdir(dir);
    g_setenv("QTEST_QEMU_BINARY", qemu, true);
    return result;
}

static void bench_instructions(void)
{
    g_autofree char *qemu = g_strdup(g_getenv("QTEST_QEMU_BINARY"));
    g_autofree char *valgrind = g_find_program_in_path("valgrind");
    double none;

    if (!valgrind) {
        fprintf(stderr, "no valgrind: instructions are not counted\n");
        return;
    }
    none = count(qemu, 1, EXANET_BLOCK_BYTES);
    report("loopback", "instructions_per_KiB",
           (count(qemu, COUNTED_BYTES, EXANET_BLOCK_BYTES) - none) /
           (COUNTED_BYTES / KiB));
    report("loopback", "instructions_per_descriptor",
           (count(qemu, COUNTED_DESCRIPTORS * SMALL_BLOCK, SMALL_BLOCK) -
            none) / COUNTED_DESCRIPTORS);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    bench_loopback();
    bench_wire();
    bench_instructions();
    return 0;
}
