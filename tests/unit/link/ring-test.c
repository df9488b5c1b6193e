/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests a ring of an rnic-cable.  The memory is a file that is mapped twice, as in the
 * device.  In most tests the writer and the reader are this thread.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "hw/rnic/link/ring.h"
#include "../../seed.h"
#include <sys/mman.h>

#define RING RNIC_CABLE_RING_BYTES
#define RECORD sizeof(struct rnic_cable_record)
#define FRAME_MAX RNIC_CABLE_FRAME_MAX
/* value of @full or @sleeping that no function of the ring stores */
#define UNTOUCHED 7

typedef struct Rig {
    struct rnic_cable_control control;
    uint8_t *data;
    RNicRing tx, rx;
} Rig;

static void rig_init(Rig *rig)
{
    int fd = memfd_create("ring-test", 0);

    *rig = (Rig) { };
    g_assert_cmpint(ftruncate(fd, RING), ==, 0);
    /* A page without access follows the second mapping. */
    rig->data = mmap(NULL, 2 * RING + qemu_real_host_page_size(), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(rig->data != MAP_FAILED);
    for (unsigned i = 0; i < 2; i++) {
        g_assert_true(mmap(rig->data + i * RING, RING, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
    }
    close(fd);
    rnic_ring_init(&rig->tx, &rig->control, rig->data);
    rnic_ring_init(&rig->rx, &rig->control, rig->data);
}

static void rig_fini(Rig *rig)
{
    munmap(rig->data, 2 * RING + qemu_real_host_page_size());
}

/* Writes a frame of @length bytes of value @value.  Returns false without room. */
static bool put(Rig *rig, uint32_t length, uint8_t value)
{
    uint8_t *to = rnic_ring_reserve(&rig->tx, length);

    if (!to) {
        return false;
    }
    memset(to, value, length);
    rnic_ring_commit(&rig->tx, length);
    return true;
}

/* Reads a frame and checks that it has @length bytes of value @value. */
static void get(Rig *rig, uint32_t length, uint8_t value)
{
    uint32_t found = 0;
    const uint8_t *frame = rnic_ring_peek(&rig->rx, &found);

    g_assert_nonnull(frame);
    g_assert_cmpuint(found, ==, length);
    g_assert_cmpuint(frame[0], ==, value);
    g_assert_false(memcmp(frame, frame + 1, length - 1));
    rnic_ring_release(&rig->rx, length);
}

static void check_empty(Rig *rig)
{
    uint32_t length = 1;

    g_assert_null(rnic_ring_peek(&rig->rx, &length));
    g_assert_cmpuint(length, ==, 1);
    g_assert_false(rig->rx.broken);
}

/* A record has the bytes of the data sheet, and moves the counters @head and @tail. */
static void test_layout(void)
{
    Rig rig;

    rig_init(&rig);
    check_empty(&rig);
    g_assert_true(put(&rig, 3, 0xab));
    g_assert_cmpuint(rig.control.head, ==, 16);
    g_assert_cmpuint(rig.control.tail, ==, 0);
    g_assert_cmphex(ldl_he_p(rig.data), ==, 3);
    g_assert_cmphex(ldl_he_p(rig.data + 4), ==, 0);
    g_assert_false(memcmp(rig.data + 8, "\xab\xab\xab\0\0\0\0\0", 8));
    g_assert_true(put(&rig, 8, 0xcd));
    g_assert_cmpuint(rig.control.head, ==, 32);
    get(&rig, 3, 0xab);
    g_assert_cmpuint(rig.control.tail, ==, 16);
    get(&rig, 8, 0xcd);
    g_assert_cmpuint(rig.control.tail, ==, 32);
    check_empty(&rig);
    rig_fini(&rig);
}

/* Frames of all sizes cross the end of the memory, and the counters cross 2^32. */
static void test_random(void)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(random_seed(1));
    g_autoptr(GArray) lengths = g_array_new(false, false, sizeof(uint32_t));
    uint32_t start = -(uint32_t)4 * RING;
    unsigned full = 0, at = 0;
    Rig rig;

    rig_init(&rig);
    rig.control.head = rig.control.tail = rig.tx.at = rig.rx.at = start;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t length = g_rand_boolean(rand) ? g_rand_int_range(rand, 1, 256) :
                          g_rand_int_range(rand, 1, FRAME_MAX + 1);

        if (g_rand_int_range(rand, 0, 16) < 9) {
            if (put(&rig, length, lengths->len)) {
                g_array_append_val(lengths, length);
            } else {
                full++;
            }
        } else if (at < lengths->len) {
            get(&rig, g_array_index(lengths, uint32_t, at), at);
            at++;
        } else {
            check_empty(&rig);
        }
    }
    g_assert_cmpuint(full, >, 100);
    g_assert_cmpuint(rig.rx.at, <, start);          /* the counter has wrapped */
    rig_fini(&rig);
}

/*
 * A writer without room sets the flag full.  The reader wakes the writer when a quarter
 * of the ring is free, once.
 */
static void test_full(void)
{
    unsigned frames = RING / 4096, freed = 0;
    Rig rig;

    rig_init(&rig);
    for (unsigned i = 0; i < frames; i++) {
        g_assert_cmpuint(rig.control.full, ==, 0);
        g_assert_true(put(&rig, 4096 - RECORD, i));
    }
    g_assert_cmpuint(rig.control.head, ==, RING);
    g_assert_false(put(&rig, 1, 0));
    g_assert_cmpuint(rig.control.full, ==, 1);
    while (!rnic_ring_must_wake_writer(&rig.rx)) {
        get(&rig, 4096 - RECORD, freed++);
    }
    g_assert_cmpuint(freed, ==, frames / 4);
    g_assert_cmpuint(rig.control.full, ==, 0);
    get(&rig, 4096 - RECORD, freed++);
    g_assert_false(rnic_ring_must_wake_writer(&rig.rx));
    g_assert_true(put(&rig, FRAME_MAX, 1));
    rig_fini(&rig);
}

/* The writer wakes a reader that sleeps, once; a reader with a record does not sleep. */
static void test_sleep(void)
{
    Rig rig;

    rig_init(&rig);
    g_assert_true(put(&rig, 64, 1));
    g_assert_false(rnic_ring_must_wake_reader(&rig.tx));
    g_assert_false(rnic_ring_sleep(&rig.rx));
    g_assert_cmpuint(rig.control.sleeping, ==, 0);
    get(&rig, 64, 1);
    g_assert_true(rnic_ring_sleep(&rig.rx));
    g_assert_cmpuint(rig.control.sleeping, ==, 1);
    g_assert_true(put(&rig, 64, 2));
    g_assert_true(rnic_ring_must_wake_reader(&rig.tx));
    g_assert_true(put(&rig, 64, 3));
    g_assert_false(rnic_ring_must_wake_reader(&rig.tx));
    get(&rig, 64, 2);
    get(&rig, 64, 3);
    g_assert_true(rnic_ring_sleep(&rig.rx));
    rnic_ring_awake(&rig.rx);
    g_assert_true(put(&rig, 64, 4));
    g_assert_false(rnic_ring_must_wake_reader(&rig.tx));
    rig_fini(&rig);
}

/* Checks that the reader refuses the value @head with a record of @length bytes. */
static void check_reader(uint32_t head, uint32_t length)
{
    uint32_t found = UNTOUCHED;
    Rig rig;

    rig_init(&rig);
    stl_he_p(rig.data, length);
    rig.control.head = head;
    g_assert_null(rnic_ring_peek(&rig.rx, &found));
    g_assert_true(rig.rx.broken);
    /* A broken ring stays broken, and never sleeps. */
    rig.control.head = 16;
    stl_he_p(rig.data, 8);
    g_assert_null(rnic_ring_peek(&rig.rx, &found));
    g_assert_false(rnic_ring_sleep(&rig.rx));
    g_assert_cmpuint(rig.control.tail, ==, 0);
    rig_fini(&rig);
}

static void test_hostile_writer(void)
{
    check_reader(RING + 8, 8);
    check_reader(-8, 8);
    check_reader(17, 8);                    /* no multiple of the alignment */
    check_reader(16, 0);
    check_reader(16, 9);                    /* longer than what was written */
    check_reader(RING, FRAME_MAX + 1);
    check_reader(RING, -1);
    check_reader(RING, -8);                 /* record of 0 bytes modulo 2^32 */
    check_reader(8, 1);
}

/* Checks that the writer refuses the value @tail. */
static void check_writer(uint32_t tail)
{
    Rig rig;

    rig_init(&rig);
    g_assert_true(put(&rig, 8, 1));
    rig.control.tail = tail;
    g_assert_null(rnic_ring_reserve(&rig.tx, 8));
    g_assert_true(rig.tx.broken);
    rig.control.tail = 16;
    g_assert_null(rnic_ring_reserve(&rig.tx, 8));
    g_assert_cmpuint(rig.control.head, ==, 16);
    rig_fini(&rig);
}

static void test_hostile_reader(void)
{
    check_writer(24);                       /* has read more than was written */
    check_writer(16 - RING - 8);
    check_writer(12);
}

/* The other end's flags may have any value. */
static void test_hostile_flags(void)
{
    Rig rig;

    rig_init(&rig);
    rig.control.sleeping = rig.control.full = UINT32_MAX;
    g_assert_true(put(&rig, 8, 1));
    g_assert_true(rnic_ring_must_wake_reader(&rig.tx));
    g_assert_cmpuint(rig.control.sleeping, ==, 0);
    get(&rig, 8, 1);
    g_assert_true(rnic_ring_must_wake_writer(&rig.rx));
    g_assert_cmpuint(rig.control.full, ==, 0);
    rig_fini(&rig);
}

/* Two threads with wake-ups in place of a socket. */
typedef struct Race {
    Rig rig;
    GMutex lock;
    GCond cond;
    unsigned wakes[2];                      /* to the reader, to the writer */
    unsigned waits[2];
    uint32_t seed;
} Race;

#define RACE_FRAMES 200000

static void race_wake(Race *race, unsigned who)
{
    g_mutex_lock(&race->lock);
    race->wakes[who]++;
    g_cond_broadcast(&race->cond);
    g_mutex_unlock(&race->lock);
}

/* Waits for a wake-up.  A lost wake-up fails the test after 30 s. */
static void race_wait(Race *race, unsigned who)
{
    int64_t end = g_get_monotonic_time() + 30 * G_TIME_SPAN_SECOND;

    g_mutex_lock(&race->lock);
    race->waits[who]++;
    while (race->wakes[who] == 0) {
        g_assert_true(g_cond_wait_until(&race->cond, &race->lock, end));
    }
    race->wakes[who] = 0;
    g_mutex_unlock(&race->lock);
}

static void *race_write(void *opaque)
{
    Race *race = opaque;
    g_autoptr(GRand) rand = g_rand_new_with_seed(race->seed);

    for (unsigned i = 0; i < RACE_FRAMES; ) {
        uint32_t length = g_rand_int_range(rand, 8, 4096);
        uint8_t *to;

        while (!(to = rnic_ring_reserve(&race->rig.tx, length))) {
            g_assert_false(race->rig.tx.broken);
            race_wait(race, 1);
        }
        stl_he_p(to, i);
        stl_he_p(to + length - 4, i);
        rnic_ring_commit(&race->rig.tx, length);
        if (rnic_ring_must_wake_reader(&race->rig.tx)) {
            race_wake(race, 0);
        }
        i++;
    }
    return NULL;
}

/* No frame and no wake-up is lost between two threads. */
static void test_race(void)
{
    g_autofree Race *race = g_new0(Race, 1);
    uint32_t length;
    GThread *writer;

    rig_init(&race->rig);
    race->seed = random_seed(2);
    writer = g_thread_new("writer", race_write, race);
    for (unsigned i = 0; i < RACE_FRAMES; ) {
        const uint8_t *frame = rnic_ring_peek(&race->rig.rx, &length);

        if (frame) {
            g_assert_cmpuint(ldl_he_p(frame), ==, i);
            g_assert_cmpuint(ldl_he_p(frame + length - 4), ==, i);
            rnic_ring_release(&race->rig.rx, length);
            i++;
            if (rnic_ring_must_wake_writer(&race->rig.rx)) {
                race_wake(race, 1);
            }
        } else if (rnic_ring_sleep(&race->rig.rx)) {
            race_wait(race, 0);
        }
    }
    g_thread_join(writer);
    g_test_message("the reader waited %u times, the writer %u times", race->waits[0],
                   race->waits[1]);
    g_assert_cmpuint(race->waits[0] + race->waits[1], >, 0);
    rig_fini(&race->rig);
}

/* A writer that changes the length of a record while the reader reads it. */
typedef struct Flip {
    Rig rig;
    bool end;
} Flip;

static void *flip_write(void *opaque)
{
    Flip *flip = opaque;

    while (!qatomic_read(&flip->end)) {
        qatomic_set((uint32_t *)flip->rig.data, 8);
        qatomic_set((uint32_t *)flip->rig.data, UINT32_MAX);
    }
    return NULL;
}

/* A length that the writer changes at any time breaks the ring or is a possible one. */
static void test_hostile_length(void)
{
    g_autofree Flip *flip = g_new0(Flip, 1);
    unsigned frames = 0, broken = 0;
    GThread *writer;

    rig_init(&flip->rig);
    flip->rig.control.head = RING;
    writer = g_thread_new("writer", flip_write, flip);
    while (frames < 100000 || broken < 100000) {
        uint32_t length = 0;

        if (rnic_ring_peek(&flip->rig.rx, &length)) {
            g_assert_cmpuint(length, ==, 8);
            frames++;
        } else {
            g_assert_true(flip->rig.rx.broken);
            flip->rig.rx.broken = false;
            broken++;
        }
    }
    qatomic_set(&flip->end, true);
    g_thread_join(writer);
    rig_fini(&flip->rig);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/link/ring/layout", test_layout);
    g_test_add_func("/link/ring/random", test_random);
    g_test_add_func("/link/ring/full", test_full);
    g_test_add_func("/link/ring/sleep", test_sleep);
    g_test_add_func("/link/ring/hostile-writer", test_hostile_writer);
    g_test_add_func("/link/ring/hostile-reader", test_hostile_reader);
    g_test_add_func("/link/ring/hostile-flags", test_hostile_flags);
    g_test_add_func("/link/ring/hostile-length", test_hostile_length);
    g_test_add_func("/link/ring/race", test_race);
    return g_test_run();
}
