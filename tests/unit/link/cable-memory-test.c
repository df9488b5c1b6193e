/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests the memory file of an rnic-cable: layout, and files that a hostile server
 * sends.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/rnic/link/cable-memory.h"
#include <sys/mman.h>

#define RING RNIC_CABLE_RING_BYTES

/* Two mappings of one file, as of a server and its client, show the same bytes. */
static void test_layout(void)
{
    int fd = rnic_cable_memory_new(&error_abort);
    RNicCableMemory a = { }, b = { };
    struct stat st;

    g_assert_cmpint(fstat(fd, &st), ==, 0);
    g_assert_cmpint(st.st_size, ==, RNIC_CABLE_BYTES);
    g_assert_true(rnic_cable_memory_map(&a, fd, &error_abort));
    g_assert_true(rnic_cable_memory_map(&b, fd, &error_abort));
    close(fd);
    for (unsigned ring = 0; ring < 2; ring++) {
        g_assert_true((uint8_t *)a.control[ring] == a.base + ring * 128);
        a.control[ring]->head = 11 + ring;
        g_assert_cmpuint(b.control[ring]->head, ==, 11 + ring);
        /* the second mapping of the data has the bytes of the first one */
        a.data[ring][0] = 21 + ring;
        a.data[ring][2 * RING - 1] = 31 + ring;
        g_assert_cmpuint(b.data[ring][RING], ==, 21 + ring);
        g_assert_cmpuint(b.data[ring][RING - 1], ==, 31 + ring);
    }
    rnic_cable_memory_unmap(&a);
    g_assert_null(a.base);
    rnic_cable_memory_unmap(&a);
    rnic_cable_memory_unmap(&b);
}

/* The size of the file cannot change, so no access is beyond its end. */
static void test_sealed(void)
{
    int fd = rnic_cable_memory_new(&error_abort);

    g_assert_cmpint(ftruncate(fd, 4096), <, 0);
    g_assert_cmpint(errno, ==, EPERM);
    g_assert_cmpint(ftruncate(fd, RNIC_CABLE_BYTES + 4096), <, 0);
    close(fd);
}

static void check_refused(int fd, const char *text)
{
    RNicCableMemory m = { };
    Error *err = NULL;

    g_assert_false(rnic_cable_memory_map(&m, fd, &err));
    g_assert_cmpstr(error_get_pretty(err), ==, text);
    g_assert_null(m.base);
    error_free(err);
}

static void test_refused(void)
{
    int fd = memfd_create("cable-memory-test", MFD_ALLOW_SEALING);
    int pipes[2];

    g_assert_cmpint(ftruncate(fd, RNIC_CABLE_BYTES), ==, 0);
    check_refused(fd, "the memory file may become shorter");
    g_assert_cmpint(ftruncate(fd, RNIC_CABLE_BYTES - 1), ==, 0);
    g_assert_cmpint(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
    check_refused(fd, "the memory file has another size than 2162688 bytes");
    close(fd);
    g_assert_cmpint(pipe(pipes), ==, 0);
    check_refused(pipes[0], "the memory file may become shorter");
    close(pipes[0]);
    close(pipes[1]);
    /* a file that does not permit stores */
    fd = memfd_create("cable-memory-test", MFD_ALLOW_SEALING);
    g_assert_cmpint(ftruncate(fd, RNIC_CABLE_BYTES), ==, 0);
    g_assert_cmpint(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), ==, 0);
    check_refused(fd, "the memory file cannot be mapped: Operation not permitted");
    close(fd);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/link/cable-memory/layout", test_layout);
    g_test_add_func("/link/cable-memory/sealed", test_sealed);
    g_test_add_func("/link/cable-memory/refused", test_refused);
    return g_test_run();
}
