/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the device model without a guest, one `name=value` on each line:
 *
 *   loopback.*   one device writes to its own node
 *   wire.*       one device writes to another QEMU process, through a unix socket
 *   wire.tx.*    the device that writes
 *   wire.rx.*    the device to which it writes
 *   cable.*      the same as wire.*, but through an rnic-cable, without payload CRCs
 *   *.instructions_per_*   counted by callgrind, if it is installed
 *   *.copies     bytes copied in the process for each byte that arrives
 *
 * Instructions of loopback are those of firmware and ExaDMA; the ExaDMA's count contains
 * the receiver, because the device receives packets to its own node in the same run.
 * Instructions of an end of the wire are those of all units, ports and the netdev, while
 * the device works or stores a frame.  They do not contain copies by memcpy(), whose
 * number depends on the processor; copies.c counts the bytes of these.
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
#define COUNTED_MESSAGES 1024
#define MESSAGES_LOG2 12        /* the mailbox has room for all messages */

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

/*
 * Starts the device at end @end (0 or 1) of the wire at @path.  The wire is an rnic-cable
 * if @cable is true, otherwise a unix socket.
 */
static ExanetTest *end_start(bool cable, const char *path, unsigned end)
{
    static const uint32_t coord[] = { EXANET_TEST_NODE, EXANET_TEST_PEER };
    g_autofree char *options = NULL;

    if (cable) {
        options = g_strdup_printf("-device rnic-cable,id=wire,path=%s,server=%s", path,
                                  end ? "off" : "on");
    } else {
        options = g_strdup_printf("-netdev stream,id=wire,server=%s,addr.type=unix,"
                                  "addr.path=%s", end ? "off,reconnect-ms=20" : "on",
                                  path);
    }
    return exanet_start_node(options, coord[end], ",link0=wire");
}

static void bench_wire(const char *name, bool cable)
{
    g_autofree char *dir = g_dir_make_tmp("exanet-bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);
    ExanetTest *t[2];

    for (unsigned i = 0; i < 2; i++) {
        t[i] = end_start(cable, path, i);
    }
    exanet_pair_bring_up(t);
    bench(t[0], name, EXANET_TEST_PEER);
    exanet_stop(t[0]);
    exanet_stop(t[1]);
    unlink(path);
    g_rmdir(dir);
}

/* --- Instructions ---------------------------------------------------------- */

/* A program under callgrind, and with the library of copies.c. */
typedef struct Counted {
    char *dir;
    char *calls;                    /* file of callgrind */
    char *copies;                   /* file of copies.c */
    char *command;                  /* for QTEST_QEMU_BINARY */
} Counted;

/*
 * Prepares a run of @qemu in which callgrind counts inside the functions @inside, a list
 * that ends with NULL.  Counting stops if one of these functions calls one of them.
 */
static void counted_init(Counted *c, const char *qemu, const char *const *inside)
{
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(self);
    g_autoptr(GString) toggles = g_string_new(NULL);

    for (; *inside; inside++) {
        g_string_append_printf(toggles, "--toggle-collect=%s ", *inside);
    }
    c->dir = g_dir_make_tmp("exanet-bench-XXXXXX", NULL);
    c->calls = g_build_filename(c->dir, "callgrind", NULL);
    c->copies = g_build_filename(c->dir, "copies", NULL);
    c->command = g_strdup_printf(
        "env LD_PRELOAD=%s/librnic-copies.so RNIC_COPIES=%s "
        "valgrind -q --tool=callgrind --compress-strings=no --compress-pos=no "
        "--callgrind-out-file=%s %s%s",
        folder, c->copies, c->calls, toggles->str, qemu);
}

static void counted_fini(Counted *c)
{
    g_unlink(c->calls);
    g_unlink(c->copies);
    g_rmdir(c->dir);
    g_free(c->calls);
    g_free(c->copies);
    g_free(c->dir);
    g_free(c->command);
}

/* Returns the instructions of the run @c, except those in the library of copies.c. */
static double counted_instructions(const Counted *c)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;
    double sum = 0;
    bool copies = false, call = false;

    g_assert_true(g_file_get_contents(c->calls, &text, NULL, NULL));
    lines = g_strsplit(text, "\n", -1);
    for (char **l = lines; *l; l++) {
        if (g_str_has_prefix(*l, "ob=")) {
            copies = strstr(*l, "librnic-copies") != NULL;
        } else if (g_str_has_prefix(*l, "calls=")) {
            call = true;            /* the next line is the cost of the called function */
        } else if (g_ascii_isdigit(**l)) {
            if (!call && !copies) {
                sum += g_ascii_strtod(strrchr(*l, ' '), NULL);
            }
            call = false;
        }
    }
    /* callgrind reports no error for a function that does not exist */
    g_assert_cmpfloat(sum, >, 0);
    return sum;
}

static double counted_copies(const Counted *c)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents(c->copies, &text, NULL, NULL));
    return g_ascii_strtod(text, NULL);
}

/*
 * Returns the instructions of fw_run() and exadma_run() from the start of a device to the
 * end of one transfer of @bytes in blocks of @block.
 */
static double count(const char *qemu, uint32_t bytes, unsigned block)
{
    static const char *const inside[] = { "fw_run", "exadma_run", NULL };
    Counted c;
    double result;
    ExanetTest *t;

    counted_init(&c, qemu, inside);
    g_setenv("QTEST_QEMU_BINARY", c.command, true);
    t = exanet_start("");
    set_block(t, block);
    transfer(t, EXANET_TEST_NODE, bytes);
    exanet_stop(t);
    result = counted_instructions(&c);
    counted_fini(&c);
    g_setenv("QTEST_QEMU_BINARY", qemu, true);
    return result;
}

/* Work whose instructions are counted at both ends of a wire. */
typedef struct Work {
    unsigned transfers;             /* number of transfers between the same buffers */
    uint32_t bytes;                 /* bytes of a transfer */
    unsigned block;                 /* bytes of its blocks */
    unsigned messages;              /* messages of 8 bytes */
} Work;

static void work_do(ExanetTest *t[2], const Work *w)
{
    static const uint64_t word = 0x0807060504030201;

    set_block(t[0], w->block);
    for (unsigned i = 0; i < w->transfers; i++) {
        transfer(t[0], EXANET_TEST_PEER, w->bytes);
    }
    exanet_mailbox_open(t[1], 0, 0, EXANET_RAM_RING, MESSAGES_LOG2, 0);
    for (unsigned i = 0; i < w->messages; i++) {
        exanet_pktz_start(t[0], 0, 0,
                          exanet_gva(EXANET_TEST_PEER,
                                     EXANET_NI_VA(EXANET_NI_MAILBOX)),
                          &word, sizeof(word), EXANET_PKTZ_ACK);
        while (exanet_pktz_state(t[0], 0, 0) == EXANET_PKTZ_WAITING) {
            g_usleep(200);
        }
        g_assert_cmpuint(exanet_pktz_state(t[0], 0, 0), ==, EXANET_PKTZ_ACKED);
    }
}

/* An end of a wire or an rnic-cable. */
typedef struct End {
    const char *name;
    bool cable;
    bool receiver;
} End;

/*
 * Does @w over a wire or an rnic-cable, and counts at @end from the start of the device
 * on.  Stores the number of instructions in *@instructions and the bytes that were copied
 * in *@copies.
 */
static void count_wire(const char *qemu, const End *end, const Work *w,
                       double *instructions, double *copies)
{
    /* the units and the ports work in the first function; the second stores a frame */
    static const char *const inside[] = { "loop_work*", "rnic_port_fifo_put", NULL };
    g_autofree char *path = NULL;
    ExanetTest *t[2];
    Counted c;

    counted_init(&c, qemu, inside);
    path = g_build_filename(c.dir, "wire", NULL);
    for (unsigned i = 0; i < 2; i++) {
        g_setenv("QTEST_QEMU_BINARY", i == end->receiver ? c.command : qemu, true);
        t[i] = end_start(end->cable, path, i);
    }
    exanet_pair_bring_up(t);
    work_do(t, w);
    exanet_stop(t[0]);
    exanet_stop(t[1]);
    *instructions = counted_instructions(&c);
    *copies = counted_copies(&c);
    g_unlink(path);
    counted_fini(&c);
    g_setenv("QTEST_QEMU_BINARY", qemu, true);
}

/* Reports what both ends of each kind need for 1 KiB, a descriptor and a message. */
static void bench_wire_instructions(const char *qemu)
{
    static const Work once = { 1, COUNTED_BYTES, EXANET_BLOCK_BYTES, 0 };
    /* the translations of all pages are cached during the second transfer */
    static const Work twice = { 2, COUNTED_BYTES, EXANET_BLOCK_BYTES, 0 };
    static const Work none = { 1, 1, EXANET_BLOCK_BYTES, 0 };
    static const Work small = { 1, COUNTED_DESCRIPTORS * SMALL_BLOCK, SMALL_BLOCK, 0 };
    static const Work messages = { 1, 1, EXANET_BLOCK_BYTES, COUNTED_MESSAGES };

    static const End ends[] = {
        { "wire.tx", false, false }, { "wire.rx", false, true },
        { "cable.tx", true, false }, { "cable.rx", true, true },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(ends); i++) {
        const End *end = &ends[i];
        const char *name = end->name;
        double base, first, n, copies, first_copies;

        count_wire(qemu, end, &once, &first, &first_copies);
        count_wire(qemu, end, &twice, &n, &copies);
        report(name, "instructions_per_KiB", (n - first) / (COUNTED_BYTES / KiB));
        report(name, "copies", (copies - first_copies) / COUNTED_BYTES);
        count_wire(qemu, end, &none, &base, &copies);
        report(name, "instructions_per_KiB_first",
               (first - base) / (COUNTED_BYTES / KiB));
        count_wire(qemu, end, &small, &n, &copies);
        report(name, "instructions_per_descriptor", (n - base) / COUNTED_DESCRIPTORS);
        count_wire(qemu, end, &messages, &n, &copies);
        report(name, "instructions_per_message", (n - base) / COUNTED_MESSAGES);
    }
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
    bench_wire_instructions(qemu);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    bench_loopback();
    bench_wire("wire", false);
    bench_wire("cable", true);
    bench_instructions();
    return 0;
}
