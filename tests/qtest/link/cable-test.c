/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Device rnic-cable between honest ends: frames, wake-ups, links, options. */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "common/wait.h"
#include "cable-end.h"
#include <sys/socket.h>

#define RING RNIC_CABLE_RING_BYTES
#define RECORD sizeof(struct rnic_cable_record)
#define FRAME_MAX RNIC_CABLE_FRAME_MAX
/* QEMU runs other work after this number of frames, or of bytes. */
#define RUN_FRAMES 1024
#define RUN_BYTES (256 * 1024)

/* Frames of 60 bytes up to the longest frame cross a cable in both directions. */
static void test_frames(void)
{
    static const size_t sizes[] = { 60, 61, 64, 1514, 4096, 65535, FRAME_MAX };
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 2, ",server=on");
    cable_wait(&m, 0, "connected", 1);
    cable_wait(&m, 1, "connected", 1);
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        cable_wire_send(&m, 0, sizes[i], i);
        cable_wire_receive(&m, 1, sizes[i], i);
        cable_wire_send(&m, 1, sizes[i], i + 100);
        cable_wire_receive(&m, 0, sizes[i], i + 100);
    }
    for (unsigned cable = 0; cable < 2; cable++) {
        g_assert_cmpuint(cable_get(&m, cable, "sent"), ==, ARRAY_SIZE(sizes));
        g_assert_cmpuint(cable_get(&m, cable, "received"), ==, ARRAY_SIZE(sizes));
        g_assert_cmpuint(cable_get(&m, cable, "violations"), ==, 0);
    }
    cable_machine_stop(&m);
}

/*
 * Many frames in both directions at once keep their order, although the peers take no
 * frames for a while.
 */
static void test_order(void)
{
    /* at 4 KiB a frame: more than the sockets hold, less than a ring holds */
    unsigned frames = 1000, batch = RING / 4096 / 2;
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 2, ",server=on");
    cable_wait(&m, 1, "connected", 1);
    cable_wait(&m, 0, "connected", 1);
    for (unsigned begin = 0; begin < frames; begin += batch) {
        for (unsigned i = begin; i < begin + batch; i++) {
            cable_wire_send(&m, 0, 4000 + i % 50, i);
            cable_wire_send(&m, 1, 4000 + i % 60, i);
        }
        for (unsigned i = begin; i < begin + batch; i++) {
            cable_wire_receive(&m, 1, 4000 + i % 50, i);
            cable_wire_receive(&m, 0, 4000 + i % 60, i);
        }
    }
    cable_machine_stop(&m);
}

/* A reader that takes nothing fills the ring.  When it reads, the rest follows. */
static void test_full(void)
{
    /* one more frame waits in the queue of cable c0, and one more in the socket of w0 */
    unsigned room = RING / (65536 + RECORD), frames = room + 2;
    CableEnd e;
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_open(&m, &e);
    for (unsigned i = 0; i < frames; i++) {
        cable_wire_send(&m, 0, 65536, i);
    }
    wait_until(qatomic_read(&e.rx->full), wait_pause());
    g_assert_cmpuint(cable_get(&m, 0, "sent"), ==, room);
    for (unsigned i = 0; i < frames; i++) {
        cable_end_frame_receive(&e, 65536, i);
        if (qatomic_read(&e.rx->full) && i % 4 == 3) {
            char wake = RNIC_CABLE_WAKE;

            qatomic_set(&e.rx->full, 0);
            g_assert_cmpint(send(e.fd, &wake, 1, MSG_NOSIGNAL), ==, 1);
        }
    }
    g_assert_cmpuint(cable_get(&m, 0, "sent"), ==, frames);
    cable_end_close(&e);
    cable_machine_stop(&m);
}

/* QEMU wakes the other end only if that end sleeps, and once for several frames. */
static void test_wake(void)
{
    CableEnd e;
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_open(&m, &e);
    cable_wire_send(&m, 0, 100, 1);
    cable_end_frame_receive(&e, 100, 1);
    g_assert_cmpuint(cable_end_wakes(&e), ==, 0);
    qatomic_set(&e.rx->sleeping, 1);
    for (unsigned i = 0; i < 5; i++) {
        cable_wire_send(&m, 0, 100, i);
    }
    for (unsigned i = 0; i < 5; i++) {
        cable_end_frame_receive(&e, 100, i);
    }
    cable_wait(&m, 0, "sent", 6);
    g_assert_cmpuint(cable_end_wakes(&e), ==, 1);
    g_assert_cmpuint(e.rx->sleeping, ==, 0);
    cable_end_frame_send(&e, 200, 7);
    cable_wire_receive(&m, 0, 200, 7);
    /* the server sleeps again, so the next wake-up is needed */
    wait_until(qatomic_read(&e.tx->sleeping), wait_pause());
    cable_end_frame_send(&e, 201, 8);
    cable_wire_receive(&m, 0, 201, 8);
    cable_end_close(&e);
    cable_machine_stop(&m);
}

/* A frame without bytes, which no cable carries, does not stop the frames after it. */
static void test_empty(void)
{
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 2, ",server=on");
    cable_wait(&m, 0, "connected", 1);
    cable_wait(&m, 1, "connected", 1);
    cable_wire_send(&m, 0, 0, 0);
    cable_wire_send(&m, 0, 64, 1);
    cable_wire_receive(&m, 1, 64, 1);
    cable_machine_stop(&m);
}

/* The last frames of an end that leaves arrive, and frames to nobody are lost. */
static void test_leave(void)
{
    CableMachine m;
    CableEnd e;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_open(&m, &e);
    for (unsigned i = 0; i < 3; i++) {
        cable_end_frame_send(&e, 500 + i, i);
    }
    cable_end_close(&e);
    for (unsigned i = 0; i < 3; i++) {
        cable_wire_receive(&m, 0, 500 + i, i);
    }
    cable_wait(&m, 0, "connected", 0);
    cable_wire_send(&m, 0, 64, 1);
    cable_assert_serves(&m);
    cable_machine_stop(&m);
}

/* All frames of a full ring arrive if their writer goes away before QEMU reads them. */
static void test_leave_full(void)
{
    unsigned frames = 3000;
    CableMachine m;
    CableEnd e;

    cable_machine_init(&m);
    cable_machine_start_hub(&m, ",server=on");
    cable_end_open(&m, &e);
    for (unsigned i = 0; i < frames; i++) {
        cable_end_frame_put(&e, 300, i);
    }
    cable_end_close(&e);
    cable_wait(&m, 0, "connected", 0);
    g_assert_cmpuint(cable_get(&m, 0, "received"), ==, frames);
    cable_machine_stop(&m);
}

/*
 * Writes @frames frames of @len bytes while QEMU sleeps, and wakes QEMU.  Asserts that
 * all of them arrive, @run frames without other work of the main loop.  Returns true if
 * QMP has been answered between two runs.
 */
static bool runs_are_seen(CableMachine *m, unsigned frames, uint32_t len, unsigned run)
{
    uint64_t before = cable_get(m, 0, "received"), received = 0;
    bool between = false;
    CableEnd e;

    cable_end_open(m, &e);
    for (unsigned i = 0; i < frames; i++) {
        cable_end_frame_put(&e, len, i);
    }
    g_assert_true(cable_end_wake(&e));
    wait_until(received == frames, {
        received = cable_get(m, 0, "received") - before;
        g_assert_cmpuint(received, <=, frames);
        g_assert_true(received == frames || received % run == 0);
        between |= received > 0 && received < frames;
    });
    g_assert_cmpuint(qatomic_read(&e.tx->tail), ==, e.tx->head);
    cable_end_close(&e);
    cable_wait(m, 0, "connected", 0);
    return between;
}

/*
 * A full ring does not keep the main loop from other work, and all its frames arrive.
 * Repeats this until the main loop has answered QMP before the last frame.
 */
static void test_runs(void)
{
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start_hub(&m, ",server=on");
    wait_until(runs_are_seen(&m, 14000, 60, RUN_FRAMES), wait_pause());
    wait_until(runs_are_seen(&m, 1000, 1000, DIV_ROUND_UP(RUN_BYTES, 1000)),
               wait_pause());
    g_assert_cmpuint(cable_get(&m, 0, "violations"), ==, 0);
    cable_machine_stop(&m);
}

/* Returns true if "info network" has @text. */
static bool info_has(CableMachine *m, const char *text)
{
    g_autofree char *info = qtest_hmp(m->qts, "info network");

    return strstr(info, text);
}

/* "info network" shows why a client has no connection. */
static void test_alone(void)
{
    CableMachine m;
    CableEnd e;
    int server;

    cable_machine_init(&m);
    cable_machine_start_hub(&m, "");
    wait_until(info_has(&m, "No such file or directory"), wait_pause());
    server = cable_end_listen(&m);
    cable_end_accept(server, &e);
    wait_until(info_has(&m, "no hello from the other end"), wait_pause());
    cable_end_close(&e);
    close(server);
    cable_machine_stop(&m);
}

static void link_set(CableMachine *m, const char *name, bool up)
{
    qtest_qmp_assert_success(m->qts, "{'execute': 'set_link', 'arguments': "
                             "{'name': %s, 'up': %i}}", name, up);
}

/* set_link takes the cable down and up.  A new connection does not change the setting. */
static void test_set_link(void)
{
    CableEnd e;
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 2, ",server=on");
    cable_wait(&m, 0, "connected", 1);
    cable_wait(&m, 1, "connected", 1);
    link_set(&m, "c0", false);
    cable_wire_send(&m, 0, 64, 1);
    cable_wire_send(&m, 1, 65, 1);
    cable_wait(&m, 1, "sent", 1);
    /* QEMU drops the frame to cable c0 before the link is up again */
    wait_settle(g_assert_cmpuint(cable_get(&m, 0, "sent"), ==, 0));
    link_set(&m, "c0", true);
    cable_wire_send(&m, 0, 66, 2);
    cable_wire_receive(&m, 1, 66, 2);
    cable_wire_send(&m, 1, 67, 2);
    cable_wire_receive(&m, 0, 67, 2);
    cable_machine_stop(&m);

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    link_set(&m, "c0", false);
    cable_end_open(&m, &e);
    cable_end_frame_send(&e, 68, 3);
    cable_wait(&m, 0, "received", 1);
    cable_wire_send(&m, 0, 69, 3);
    wait_settle(g_assert_cmpuint(cable_get(&m, 0, "sent"), ==, 0));
    link_set(&m, "c0", true);
    cable_wire_send(&m, 0, 70, 4);
    cable_end_frame_receive(&e, 70, 4);
    cable_end_frame_send(&e, 71, 4);
    cable_wire_receive(&m, 0, 71, 4);
    cable_end_close(&e);
    cable_machine_stop(&m);
}

/* set_link of the NIC does not change the cable, also without another end. */
static void test_set_link_nic(void)
{
    CableMachine m;
    CableEnd e;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    link_set(&m, "w0", false);
    link_set(&m, "w0", true);
    cable_assert_serves(&m);
    cable_end_open(&m, &e);
    link_set(&m, "w0", false);
    link_set(&m, "w0", true);
    cable_end_frame_send(&e, 68, 3);
    cable_wire_receive(&m, 0, 68, 3);
    cable_end_close(&e);
    cable_machine_stop(&m);
}

/* Sends a frame in each direction between cables c0 and c1. */
static void frames_cross(CableMachine *m)
{
    cable_wire_send(m, 0, FRAME_MAX, 1);
    cable_wire_receive(m, 1, FRAME_MAX, 1);
    cable_wire_send(m, 1, 100, 2);
    cable_wire_receive(m, 0, 100, 2);
}

/* Asserts that the file @dump has the frames of one frames_cross(), and deletes it. */
static void assert_dump(const char *dump)
{
    g_autofree char *bytes = NULL;
    gsize size;

    g_assert_true(g_file_get_contents(dump, &bytes, &size, NULL));
    /* header of the file, headers of two packets, bytes of two frames */
    g_assert_cmpuint(size, ==, 24 + 2 * 16 + FRAME_MAX + 100);
    unlink(dump);
}

/* Property dump captures frames in both directions. */
static void test_dump(void)
{
    g_autofree char *dump = NULL, *options = NULL;
    CableMachine m;

    cable_machine_init(&m);
    dump = g_build_filename(m.folder, "dump", NULL);
    options = g_strdup_printf(",server=on,dump=%s", dump);
    cable_machine_start(&m, 2, options);
    cable_wait(&m, 0, "connected", 1);
    cable_wait(&m, 1, "connected", 1);
    frames_cross(&m);
    assert_dump(dump);
    cable_machine_stop(&m);
}

/* A filter-dump that is added captures frames from now on, until it is deleted. */
static void test_filter_dump(void)
{
    g_autofree char *dump = NULL;
    CableMachine m;

    cable_machine_init(&m);
    dump = g_build_filename(m.folder, "dump", NULL);
    cable_machine_start(&m, 2, ",server=on");
    cable_wait(&m, 0, "connected", 1);
    cable_wait(&m, 1, "connected", 1);
    cable_wire_send(&m, 0, 200, 1);
    cable_wire_receive(&m, 1, 200, 1);
    qtest_qmp_assert_success(m.qts, "{'execute': 'object-add', 'arguments': {"
                             "'qom-type': 'filter-dump', 'id': 'f', 'netdev': 'c0', "
                             "'file': %s, 'maxlen': %u}}", dump, (unsigned)FRAME_MAX);
    frames_cross(&m);
    qtest_qmp_assert_success(m.qts, "{'execute': 'object-del', 'arguments': {"
                             "'id': 'f'}}");
    cable_wire_send(&m, 0, 300, 4);
    cable_wire_receive(&m, 1, 300, 4);
    assert_dump(dump);
    cable_machine_stop(&m);
}

/* Frames to and from a stopped machine wait, and arrive when the machine continues. */
static void test_stopped(void)
{
    CableEnd e;
    CableMachine m;

    cable_machine_init(&m);
    cable_machine_start(&m, 1, ",server=on");
    cable_end_open(&m, &e);
    for (unsigned round = 0; round < 2; round++) {
        qtest_qmp_assert_success(m.qts, "{'execute': 'stop'}");
        for (unsigned i = 0; i < 3; i++) {
            cable_end_frame_send(&e, 300 + i, i);
        }
        cable_wire_send(&m, 0, 400, round);
        /* QEMU keeps the first frame, the others stay in the ring */
        cable_wait(&m, 0, "received", 3 * round + 1);
        wait_settle(g_assert_cmpuint(cable_get(&m, 0, "received"), ==, 3 * round + 1));
        g_assert_cmpuint(cable_get(&m, 0, "sent"), ==, round);
        qtest_qmp_assert_success(m.qts, "{'execute': 'cont'}");
        for (unsigned i = 0; i < 3; i++) {
            cable_wire_receive(&m, 0, 300 + i, i);
        }
        cable_end_frame_receive(&e, 400, round);
    }
    cable_end_close(&e);
    cable_machine_stop(&m);
}

/* Two cables on a hub: a frame of one cable leaves by the other one. */
static void test_hub(void)
{
    CableMachine m[2];
    CableEnd e[2];

    cable_machine_init(&m[0]);
    m[1] = (CableMachine) { .path = g_strdup_printf("%s.1", m[0].path) };
    m[0].qts = m[1].qts = qtest_initf(
        "-machine none -nodefaults -netdev hubport,id=w0,hubid=0 "
        "-netdev hubport,id=w1,hubid=0 "
        "-device rnic-cable,id=c0,path=%s,netdev=w0,server=on "
        "-device rnic-cable,id=c1,path=%s,netdev=w1,server=on", m[0].path, m[1].path);
    for (unsigned i = 0; i < 2; i++) {
        cable_end_connect(&m[i], &e[i]);
        cable_end_map(&e[i], 1);
        cable_end_hello_send(&e[i], &e[i].hello, sizeof(e[i].hello), -1);
        cable_wait(&m[0], i, "connected", 1);
    }
    for (unsigned i = 0; i < 20; i++) {
        cable_end_frame_send(&e[i % 2], 60 + 100 * i, i);
        cable_end_frame_receive(&e[!(i % 2)], 60 + 100 * i, i);
    }
    /* a cable without another end does not stop the other cables of the hub */
    cable_end_close(&e[1]);
    cable_wait(&m[0], 1, "connected", 0);
    cable_end_frame_send(&e[0], 500, 1);
    cable_wait(&m[0], 0, "received", 11);
    cable_end_close(&e[0]);
    unlink(m[1].path);
    g_free(m[1].path);
    cable_machine_stop(&m[0]);
}

/* Starts the machine @m with cable c0 at the path of @at.  @options are those of c0. */
static void machine_join(CableMachine *m, const CableMachine *at, const char *options)
{
    m->folder = g_strdup(at->folder);
    m->path = g_strdup(at->path);
    cable_machine_start(m, 1, options);
}

/* The QEMU that is the server of the cable quits, and a new QEMU takes its place. */
static void test_restart(void)
{
    CableMachine server, client = { };

    cable_machine_init(&server);
    machine_join(&client, &server, "");
    for (unsigned i = 0; i < 3; i++) {
        cable_machine_start(&server, 1, ",server=on");
        cable_wait(&client, 0, "connected", 1);
        cable_wait(&server, 0, "connected", 1);
        cable_wire_send(&server, 0, 300 + i, i);
        cable_wire_receive(&client, 0, 300 + i, i);
        cable_wire_send(&client, 0, 400 + i, i);
        cable_wire_receive(&server, 0, 400 + i, i);
        if (i < 2) {
            qtest_quit(server.qts);
            wire_peer_fini(&server.wire[0]);
            cable_wait(&client, 0, "connected", 0);
        }
    }
    cable_machine_stop(&client);
    cable_machine_stop(&server);
}

/* Options that QEMU refuses, with its message. */
static void test_options(void)
{
    g_autofree char *longest = g_strnfill(108, 'x');
    g_autofree char *too_long = g_strdup_printf("-device rnic-cable,id=c,path=/%s",
                                                longest);
    const struct {
        const char *args, *text;
    } cases[] = {
        { "-device rnic-cable,path=/nowhere/c", "id and path are needed" },
        { "-device rnic-cable,id=c", "id and path are needed" },
        { "-device rnic-cable,id=c,path=", "id and path are needed" },
        { too_long, "path is longer than 107 bytes" },
        { "-device rnic-cable,id=c,path=/nowhere/c,netdev=none",
          "netdev none does not exist" },
        { "-device rnic-cable,id=c,path=/nowhere/c,netdev=wire "
          "-device rnic-cable,id=d,path=/nowhere/d,netdev=wire",
          "netdev wire is connected already" },
        { "-device rnic-cable,id=wire,path=/nowhere/c", "there is another netdev wire" },
        { "-device rnic-cable,id=c,path=/nowhere/c,server=on",
          "Failed to bind socket to /nowhere/c" },
        { "-device rnic-cable,id=c,path=/nowhere/c,dump=/nowhere/d", "/nowhere/d" },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
        g_autofree char *out = NULL, *err = NULL;

        g_assert_cmpint(machine_run(cases[i].args, &out, &err), ==, 1);
        if (!strstr(err, cases[i].text)) {
            g_test_message("%s: %s", cases[i].args, err);
            g_test_fail();
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/link/cable/frames", test_frames);
    qtest_add_func("/link/cable/order", test_order);
    qtest_add_func("/link/cable/full", test_full);
    qtest_add_func("/link/cable/wake", test_wake);
    qtest_add_func("/link/cable/empty", test_empty);
    qtest_add_func("/link/cable/leave", test_leave);
    qtest_add_func("/link/cable/leave-full", test_leave_full);
    qtest_add_func("/link/cable/runs", test_runs);
    qtest_add_func("/link/cable/alone", test_alone);
    qtest_add_func("/link/cable/set-link", test_set_link);
    qtest_add_func("/link/cable/set-link-nic", test_set_link_nic);
    qtest_add_func("/link/cable/dump", test_dump);
    qtest_add_func("/link/cable/filter-dump", test_filter_dump);
    qtest_add_func("/link/cable/stopped", test_stopped);
    qtest_add_func("/link/cable/hub", test_hub);
    qtest_add_func("/link/cable/restart", test_restart);
    qtest_add_func("/link/cable/options", test_options);
    return g_test_run();
}
