/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests device rnic-cable with hostile other ends: impossible values in the shared
 * memory, wrong hellos and memory files, clients that send no hello or leave at once.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "common/wait.h"
#include "cable-end.h"
#include <sys/mman.h>
#include <sys/socket.h>

#define RING RNIC_CABLE_RING_BYTES
#define RECORD sizeof(struct rnic_cable_record)
#define FRAME_MAX RNIC_CABLE_FRAME_MAX

/* Impossible values in the memory end the connection; the next client is served. */
static void test_hostile_client(void)
{
    static const struct {
        uint32_t head, length, tail;
    } values[] = {
        { .head = RING + 8, .length = 8 },
        { .head = 12, .length = 8 },
        { .head = 16, .length = 0 },
        { .head = 16, .length = 9 },
        { .head = RING, .length = FRAME_MAX + 1 },
        { .head = RING, .length = UINT32_MAX },
        { .tail = 8 },
        { .tail = -(RING + 8) },
        { .tail = 4 },
    };
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
        char wake = RNIC_CABLE_WAKE;
        CableEnd e;

        cable_end_open(&m, &e);
        stl_he_p(e.tx_data, values[i].length);
        qatomic_set(&e.rx->tail, values[i].tail);
        qatomic_store_release(&e.tx->head, values[i].head);
        if (values[i].tail) {
            /* the server reads the tail when it sends */
            cable_wire_send(&m, 0, 64, 1);
        } else {
            g_assert_cmpint(send(e.fd, &wake, 1, MSG_NOSIGNAL), ==, 1);
        }
        cable_end_assert_closed(&e);
        cable_wait(&m, 0, "violations", i + 1);
        cable_end_close(&e);
        cable_assert_serves(&m);
    }
    g_assert_cmpuint(cable_get(&m, 0, "violations"), ==, ARRAY_SIZE(values));
    cable_machine_stop(&m);
}

/* A client that changes values without a pause gets frames or an end, QEMU goes on. */
static void test_hostile_race(void)
{
    CableMachine m;
    CableEnd e;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_open(&m, &e);
    for (unsigned i = 0; i < 20000; i++) {
        char wake = RNIC_CABLE_WAKE;

        /* the length of the record changes while QEMU reads it */
        stl_he_p(e.tx_data + e.tx->head % RING, 8 + i % 2 * 60000);
        qatomic_store_release(&e.tx->head, e.tx->head + 16);
        stl_he_p(e.tx_data + (e.tx->head - 16) % RING, 8);
        if (send(e.fd, &wake, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EPIPE) {
            break;
        }
        wire_peer_poll(&m.wire[0], 0, cable_frame_keep, &m.frames[0]);
    }
    cable_end_close(&e);
    while (wire_peer_poll(&m.wire[0], 100, cable_frame_keep, &m.frames[0])) {
        continue;
    }
    for (GList *l = m.frames[0].head; l; l = l->next) {
        g_assert_cmpuint(g_bytes_get_size(l->data), ==, 8);
    }
    g_queue_clear_full(&m.frames[0], (GDestroyNotify)g_bytes_unref);
    cable_assert_serves(&m);
    cable_machine_stop(&m);
}

/* Hellos of a client that QEMU refuses. */
static void test_hostile_client_hello(void)
{
    static const struct {
        struct rnic_cable_hello hello;
        size_t size;
    } bad[] = {
        { { 1, RNIC_CABLE_VERSION, RING }, sizeof(struct rnic_cable_hello) },
        { { RNIC_CABLE_MAGIC, 2, RING }, sizeof(struct rnic_cable_hello) },
        { { RNIC_CABLE_MAGIC, 1, RING / 2 }, sizeof(struct rnic_cable_hello) },
        { { RNIC_CABLE_MAGIC, RNIC_CABLE_VERSION, RING }, 15 },
    };
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        CableEnd e;

        cable_end_connect(&m, &e);
        cable_end_hello_send(&e, &bad[i].hello, bad[i].size, -1);
        cable_end_assert_closed(&e);
        cable_wait(&m, 0, "violations", i + 1);
        g_assert_false(cable_get(&m, 0, "connected"));
        cable_end_close(&e);
    }
    cable_assert_serves(&m);
    cable_machine_stop(&m);
}

/* A client that sends no hello holds the cable for 5 s only. */
static void test_silent_client(void)
{
    CableMachine m;
    CableEnd e;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_connect(&m, &e);
    cable_end_assert_closed(&e);
    cable_end_close(&e);
    cable_assert_serves(&m);
    g_assert_cmpuint(cable_get(&m, 0, "violations"), ==, 0);
    cable_machine_stop(&m);
}

/* A second client does not disturb the first one. */
static void test_second_client(void)
{
    CableEnd e, other = { .memory_fd = -1 };
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_open(&m, &e);
    other.fd = cable_end_socket(&m);
    cable_end_assert_closed(&other);
    cable_end_close(&other);
    cable_end_frame_send(&e, 64, 1);
    cable_wire_receive(&m, 0, 64, 1);
    cable_end_close(&e);
    cable_assert_serves(&m);
    cable_machine_stop(&m);
}

/* Clients that connect and leave at once are no violations. */
static void test_leaving_clients(void)
{
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    for (unsigned i = 0; i < 50; i++) {
        close(cable_end_socket(&m));
    }
    cable_assert_serves(&m);
    g_assert_cmpuint(cable_get(&m, 0, "violations"), ==, 0);
    cable_machine_stop(&m);
}

/* Makes a memory file of @size bytes with @seals. */
static int memory_new(off_t size, int seals)
{
    int fd = memfd_create("cable-test", MFD_ALLOW_SEALING | MFD_CLOEXEC);

    g_assert_cmpint(ftruncate(fd, size), ==, 0);
    g_assert_cmpint(fcntl(fd, F_ADD_SEALS, seals), ==, 0);
    return fd;
}

/*
 * Hellos and memory files of a server that QEMU refuses, and after each of them QEMU
 * connects again.  Then a connection to an honest server, twice.
 */
static void test_server(void)
{
    const struct rnic_cable_hello good = {
        RNIC_CABLE_MAGIC, RNIC_CABLE_VERSION, RING,
    };
    struct rnic_cable_hello other = good;
    int server;
    CableEnd e;
    CableMachine m;

    cable_machine_init(&m);
    server = cable_end_listen(&m);
    cable_machine_start(&m, 1, "");
    other.version = 7;
    for (unsigned i = 0; i < 5; i++) {
        int fd = i == 0 ? -1 :
                 i == 1 ? memory_new(RNIC_CABLE_BYTES, 0) :
                 i == 2 ? memory_new(RNIC_CABLE_BYTES - 1, F_SEAL_SHRINK) :
                          memory_new(RNIC_CABLE_BYTES, F_SEAL_SHRINK);

        cable_end_accept(server, &e);
        cable_end_hello_send(&e, i == 3 ? &other : &good, sizeof(good) - (i == 4), fd);
        cable_end_assert_closed(&e);
        cable_wait(&m, 0, "violations", i + 1);
        if (fd >= 0) {
            close(fd);
        }
        cable_end_close(&e);
    }
    for (unsigned i = 0; i < 2; i++) {
        cable_end_accept(server, &e);
        e.memory_fd = memory_new(RNIC_CABLE_BYTES, F_SEAL_SHRINK);
        cable_end_map(&e, 0);
        cable_end_hello_send(&e, &good, sizeof(good), e.memory_fd);
        close(e.memory_fd);
        cable_end_hello_receive(&e);
        g_assert_cmpint(e.memory_fd, ==, -1);
        cable_wait(&m, 0, "connected", 1);
        cable_wire_send(&m, 0, 1000, i);
        cable_end_frame_receive(&e, 1000, i);
        cable_end_frame_send(&e, 1001, i);
        cable_wire_receive(&m, 0, 1001, i);
        cable_end_close(&e);
    }
    close(server);
    cable_machine_stop(&m);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/link/cable/hostile-client", test_hostile_client);
    qtest_add_func("/link/cable/hostile-race", test_hostile_race);
    qtest_add_func("/link/cable/hostile-hello", test_hostile_client_hello);
    qtest_add_func("/link/cable/silent-client", test_silent_client);
    qtest_add_func("/link/cable/second-client", test_second_client);
    qtest_add_func("/link/cable/leaving-clients", test_leaving_clients);
    qtest_add_func("/link/cable/hostile-server", test_server);
    return g_test_run();
}
