/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtio-net with a device rnic-cable, as a NIC that knows nothing of this project.  The
 * test is the driver of the NIC, and the other end of the cable.
 */
#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "libqos/malloc-pc.h"
#include "libqos/pci-pc.h"
#include "libqos/virtio.h"
#include "libqos/virtio-pci.h"
#include "standard-headers/linux/virtio_config.h"
#include "standard-headers/linux/virtio_net.h"
#include "common/wait.h"
#include "cable-end.h"

#define SLOT QPCI_DEVFN(4, 0)
#define HEADER sizeof(struct virtio_net_hdr_mrg_rxbuf)  /* before each frame */
#define RECEIVE 0                   /* numbers of the queues */
#define TRANSMIT 1
#define BUFFER_BYTES 65536

typedef struct Nic {
    CableMachine m;
    CableEnd end;
    QPCIBus *bus;
    QGuestAllocator alloc;
    QVirtioPCIDevice *pci;
    QVirtQueue *queue[2];
} Nic;

static void nic_start(Nic *n)
{
    QPCIAddress at = { .devfn = SLOT };

    cable_machine_init(&n->m);
    n->m.qts = qtest_initf("-machine q35 -vga none -m 128 -nodefaults "
                           "-device rnic-cable,id=c0,path=%s,server=on "
                           "-device virtio-net-pci,netdev=c0,disable-legacy=on,addr=4",
                           n->m.path);
    n->bus = qpci_new_pc(n->m.qts, NULL);
    pc_alloc_init(&n->alloc, n->m.qts, ALLOC_NO_FLAGS);
    n->pci = virtio_pci_new(n->bus, &at);
    g_assert_nonnull(n->pci);
    qvirtio_pci_device_enable(n->pci);
    qvirtio_start_device(&n->pci->vdev);
    qvirtio_set_features(&n->pci->vdev, 1ULL << VIRTIO_F_VERSION_1);
    for (unsigned i = 0; i < ARRAY_SIZE(n->queue); i++) {
        n->queue[i] = qvirtqueue_setup(&n->pci->vdev, &n->alloc, i);
    }
    qvirtio_set_driver_ok(&n->pci->vdev);
    cable_end_open(&n->m, &n->end);
}

static void nic_stop(Nic *n)
{
    cable_end_close(&n->end);
    for (unsigned i = 0; i < ARRAY_SIZE(n->queue); i++) {
        qvirtqueue_cleanup(n->pci->vdev.bus, n->queue[i], &n->alloc);
    }
    qvirtio_pci_destructor(&n->pci->obj);
    g_free(n->pci);
    alloc_destroy(&n->alloc);
    qpci_free_pc(n->bus);
    cable_machine_stop(&n->m);
}

/* Gives the buffer @at, of the header and @len bytes, to queue @q.  Kicks the queue. */
static void buffer_give(Nic *n, unsigned q, uint64_t at, uint32_t len)
{
    uint32_t head = qvirtqueue_add(n->m.qts, n->queue[q], at, HEADER + len,
                                   q == RECEIVE, false);

    qvirtqueue_kick(n->m.qts, &n->pci->vdev, n->queue[q], head);
}

/* Gives a new empty receive buffer to the NIC, and returns its address. */
static uint64_t receive_buffer_give(Nic *n)
{
    uint64_t at = guest_alloc(&n->alloc, HEADER + BUFFER_BYTES);

    buffer_give(n, RECEIVE, at, BUFFER_BYTES);
    return at;
}

/* Makes the NIC send a frame of @len bytes that depend on @seed.  Returns the buffer. */
static uint64_t frame_send(Nic *n, uint32_t len, unsigned seed)
{
    uint64_t at = guest_alloc(&n->alloc, HEADER + len);
    g_autofree uint8_t *buffer = g_malloc0(HEADER + len);

    cable_frame_fill(buffer + HEADER, len, seed);
    machine_write(n->m.qts, at, buffer, HEADER + len);
    buffer_give(n, TRANSMIT, at, len);
    return at;
}

/*
 * Waits until the NIC has used a buffer of queue @q.  Returns the bytes that the NIC has
 * written to the buffer.
 */
static uint32_t buffer_used(Nic *n, unsigned q)
{
    uint32_t len;

    wait_until(qvirtqueue_get_buf(n->m.qts, n->queue[q], NULL, &len), wait_pause());
    return len;
}

/* Waits for a frame in the buffer @at, checks its @len bytes, and frees the buffer. */
static void frame_receive(Nic *n, uint64_t at, uint32_t len, unsigned seed)
{
    g_autofree uint8_t *want = g_malloc(len);

    g_assert_cmpuint(buffer_used(n, RECEIVE), ==, HEADER + len);
    cable_frame_fill(want, len, seed);
    machine_assert_mem(n->m.qts, at + HEADER, want, len);
    guest_free(&n->alloc, at);
}

/* Frames of all sizes cross the cable in both directions. */
static void test_frames(void)
{
    /* libqos reads only 16 bits of the bytes of a buffer that the NIC has written */
    static const uint32_t sizes[] = { 60, 61, 64, 1514, 4096, UINT16_MAX - HEADER };
    Nic n;

    nic_start(&n);
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        uint64_t to = receive_buffer_give(&n), from;

        cable_end_frame_send(&n.end, sizes[i], i);
        frame_receive(&n, to, sizes[i], i);
        from = frame_send(&n, sizes[i], i + 100);
        cable_end_frame_receive(&n.end, sizes[i], i + 100);
        g_assert_cmpuint(buffer_used(&n, TRANSMIT), ==, 0);
        guest_free(&n.alloc, from);
    }
    g_assert_cmpuint(cable_get(&n.m, 0, "received"), ==, ARRAY_SIZE(sizes));
    g_assert_cmpuint(cable_get(&n.m, 0, "sent"), ==, ARRAY_SIZE(sizes));
    nic_stop(&n);
}

/* Frames that arrive before there are receive buffers wait, and keep their order. */
static void test_no_buffer(void)
{
    const unsigned frames = 5;
    Nic n;

    nic_start(&n);
    for (unsigned i = 0; i < frames; i++) {
        cable_end_frame_send(&n.end, 100 + i, i);
    }
    /* QEMU keeps the first frame, the others stay in the ring */
    cable_wait(&n.m, 0, "received", 1);
    wait_settle(g_assert_cmpuint(cable_get(&n.m, 0, "received"), ==, 1));
    for (unsigned i = 0; i < frames; i++) {
        frame_receive(&n, receive_buffer_give(&n), 100 + i, i);
        cable_wait(&n.m, 0, "received", MIN(i + 2, frames));
    }
    nic_stop(&n);
}

/* The NIC waits while the ring is full, and sends the rest when the other end reads. */
static void test_full(void)
{
    const uint32_t len = 60000;
    const unsigned room = RNIC_CABLE_RING_BYTES / (len + 8), frames = room + 4;
    uint64_t at[RNIC_CABLE_RING_BYTES / 60000 + 4];
    Nic n;

    nic_start(&n);
    for (unsigned i = 0; i < frames; i++) {
        at[i] = frame_send(&n, len, i);
    }
    for (unsigned i = 0; i < room; i++) {
        buffer_used(&n, TRANSMIT);
    }
    wait_settle(g_assert_false(qvirtqueue_get_buf(n.m.qts, n.queue[TRANSMIT], NULL,
                                                  NULL)));
    g_assert_cmpuint(cable_get(&n.m, 0, "sent"), ==, room);
    g_assert_cmpuint(qatomic_read(&n.end.rx->full), ==, 1);
    for (unsigned i = 0; i < room; i++) {
        cable_end_frame_receive(&n.end, len, i);
    }
    qatomic_set(&n.end.rx->full, 0);
    g_assert_true(cable_end_wake(&n.end));
    for (unsigned i = room; i < frames; i++) {
        cable_end_frame_receive(&n.end, len, i);
        buffer_used(&n, TRANSMIT);
    }
    g_assert_cmpuint(cable_get(&n.m, 0, "sent"), ==, frames);
    for (unsigned i = 0; i < frames; i++) {
        guest_free(&n.alloc, at[i]);
    }
    nic_stop(&n);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/link/cable/virtio-frames", test_frames);
    qtest_add_func("/link/cable/virtio-no-buffer", test_no_buffer);
    qtest_add_func("/link/cable/virtio-full", test_full);
    return g_test_run();
}
