/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ring of an rnic-cable, with its writer, its reader, and a third party that stores to
 * the shared memory.  Asserts that both ends access only the ring, and that frames have
 * valid lengths.  Before the third party stores, each frame arrives whole and in order,
 * and an end that waits always gets its wake-up.
 */
#include "../fuzz.h"
#include "qemu/atomic.h"
#include "hw/rnic/link/ring.h"
#include <sys/mman.h>

#define RING RNIC_CABLE_RING_BYTES
#define OPS_MAX 1000

enum { OP_WRITE, OP_READ, OP_SLEEP, OP_AWAKE, OP_CONTROL, OP_DATA, OPS };

static struct rnic_cable_control control;

/* Returns the data of a ring, mapped twice, with a page without access on either side. */
static uint8_t *ring_data(void)
{
    static uint8_t *data;
    size_t page = qemu_real_host_page_size();
    int fd;

    if (data) {
        return data;
    }
    fd = memfd_create("fuzz-ring", 0);
    g_assert_cmpint(ftruncate(fd, RING), ==, 0);
    data = mmap(NULL, 2 * RING + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    g_assert_true(data != MAP_FAILED);
    data += page;
    for (unsigned i = 0; i < 2; i++) {
        g_assert_true(mmap(data + i * RING, RING, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
    }
    close(fd);
    return data;
}

/* Stores to the flag or counter of the control that @which selects. */
static void control_store(uint8_t which, uint32_t value)
{
    uint32_t *fields[] = {
        &control.head, &control.tail, &control.full, &control.sleeping,
    };

    *fields[which % ARRAY_SIZE(fields)] = value;
}

/* Returns true if the writer has written a frame of @length bytes of value @value. */
static bool frame_write(RNicRing *tx, uint32_t length, uint8_t value)
{
    uint8_t *to = rnic_ring_reserve(tx, length);

    if (!to) {
        g_assert_true(tx->broken || control.full);
        return false;
    }
    memset(to, value, length);
    rnic_ring_commit(tx, length);
    return true;
}

/*
 * Reads and checks the oldest frame.  @lengths has the lengths of all frames and *@value
 * is the value of the oldest one's bytes, or @lengths is NULL.
 */
static void frame_read(RNicRing *rx, GQueue *lengths, uint8_t *value)
{
    uint32_t length = 0;
    const uint8_t *frame = rnic_ring_peek(rx, &length);

    if (!frame) {
        g_assert_true(!lengths || g_queue_is_empty(lengths));
        return;
    }
    g_assert_cmpuint(length, >=, 1);
    g_assert_cmpuint(length, <=, RNIC_CABLE_FRAME_MAX);
    if (lengths) {
        g_assert_cmpuint(length, ==, GPOINTER_TO_UINT(g_queue_pop_head(lengths)));
        g_assert_cmphex(frame[0], ==, *value);
        (*value)++;
    }
    /*
     * Reads all bytes, because a byte beyond the ring is an error that a sanitizer
     * reports, or is in the page without access.
     */
    for (uint32_t i = 0; i < length; i++) {
        g_assert_true(qatomic_read(&frame[i]) == frame[0] || !lengths);
    }
    rnic_ring_release(rx, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };
    g_autoptr(GQueue) lengths = g_queue_new();
    uint8_t written = 0, read = 0;
    bool honest = true;
    RNicRing tx, rx;
    uint32_t start;

    memset(&control, 0, sizeof(control));
    rnic_ring_init(&tx, &control, ring_data());
    rnic_ring_init(&rx, &control, ring_data());
    /* the counters may be about to wrap */
    start = fuzz_u32(&in) & -RNIC_CABLE_ALIGN;
    control.head = control.tail = tx.at = rx.at = start;
    for (unsigned i = 0; in.left && i < OPS_MAX; i++) {
        uint8_t op = fuzz_u8(&in), which;
        uint32_t value;

        switch (op % OPS) {
        case OP_WRITE:
            value = 1 + fuzz_u32(&in) % RNIC_CABLE_FRAME_MAX;
            if (frame_write(&tx, value, written)) {
                g_queue_push_tail(lengths, GUINT_TO_POINTER(value));
                written++;
                g_assert_true(rnic_ring_must_wake_reader(&tx) || !control.sleeping);
            }
            break;
        case OP_READ:
            frame_read(&rx, honest ? lengths : NULL, &read);
            if (honest && g_queue_is_empty(lengths) && control.full) {
                g_assert_true(rnic_ring_must_wake_writer(&rx));
            }
            break;
        case OP_SLEEP:
            value = rnic_ring_sleep(&rx);
            g_assert_true(!honest || value == g_queue_is_empty(lengths));
            break;
        case OP_AWAKE:
            rnic_ring_awake(&rx);
            break;
        case OP_CONTROL:
            which = fuzz_u8(&in);
            control_store(which, fuzz_u32(&in));
            honest = false;
            break;
        default:
            value = fuzz_u32(&in) % (RING - 4);
            stl_he_p(ring_data() + value, fuzz_u32(&in));
            honest = false;
        }
        g_assert_false(honest && (tx.broken || rx.broken));
        g_assert_cmpuint(tx.at % RNIC_CABLE_ALIGN + rx.at % RNIC_CABLE_ALIGN, ==, 0);
    }
    return 0;
}
