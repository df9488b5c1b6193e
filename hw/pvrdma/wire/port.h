/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port: sends and receives frames by the netdev of the paired NIC. */
#ifndef HW_PVRDMA_WIRE_PORT_H
#define HW_PVRDMA_WIRE_PORT_H

#include "qemu/queue.h"
#include "qemu/timer.h"
#include "net/net.h"
#include "system/runstate.h"
#include "../../core/fifo.h"
#include "roce.h"

typedef struct PvrdmaState PvrdmaState;

/* Capacity, in frames, of the ring PvrdmaPort.loop. */
#define PVRDMA_LOOP_FRAMES  256
/* Number of frames in PvrdmaPort.loop from which on the QPs stop sending. */
#define PVRDMA_LOOP_FULL    (PVRDMA_LOOP_FRAMES / 2)
/* Maximal length of the virtio header that a netdev may require before a frame, bytes. */
#define PVRDMA_VNET_BYTES   32

typedef struct PvrdmaPort {
    /* Handles a RoCE frame of @len bytes from the wire or from this device. */
    void (*rx)(PvrdmaState *s, const uint8_t *frame, size_t len);
    /* Filter of the paired NIC's netdev; NULL: QEMU has deleted the filter. */
    struct NetFilterState *filter;
    /* Id of the netdev, by which traces name the device. */
    char *netdev;
    /* The netdev has queued a frame and will call port_sent(). */
    bool blocked;
    /* Virtual time, ns, at which the netdev queued the frame or the machine continued. */
    int64_t blocked_at;
    /* The netdev was blocked for STUCK_NS or longer, so frames to it are dropped. */
    bool stuck;
    NetClientState *sender;         /* sender of the queued frame; may be freed already */
    bool link_up;                   /* link state at the last check or reset */
    QEMUTimer *timer;               /* calls port_tick() */
    VMChangeStateEntry *vm_state;
    /*
     * Ring of PVRDMA_LOOP_FRAMES frames to this device, ROCE_FRAME_MAX bytes for each;
     * NULL: not allocated yet.
     */
    uint8_t *loop;
    RNicFifo loop_fifo;
    uint16_t loop_len[PVRDMA_LOOP_FRAMES];  /* length of each frame in @loop */
    /* The frame between pvrdma_tx_begin() and pvrdma_tx_end(): */
    uint8_t *building;              /* first byte of the frame, in @loop or @buf */
    size_t payload_at;              /* offset of the frame's payload, bytes */
    bool looped;                    /* the frame's destination is this device */
    uint8_t buf[PVRDMA_VNET_BYTES + ROCE_FRAME_MAX] QEMU_ALIGNED(8);
    QLIST_ENTRY(PvrdmaPort) next;
} PvrdmaPort;

/*
 * Adds a filter to the netdev with the id @netdev, and starts PvrdmaPort.timer.  Returns
 * false with @errp set if the netdev does not exist, accepts no filter, or already has a
 * pvrdma.
 */
bool pvrdma_port_init(PvrdmaState *s, const char *netdev, Error **errp);
/* Removes the filter, and frees PvrdmaPort.timer, .loop and .netdev. */
void pvrdma_port_fini(PvrdmaState *s);
/* Drops the frames in PvrdmaPort.loop, and updates link_up. */
void pvrdma_port_reset(PvrdmaState *s);
/* Returns true if the paired NIC exists and its link is up. */
bool pvrdma_port_up(PvrdmaState *s);
/*
 * Stores the current MAC of the paired NIC, which the guest may have changed, in @mac.
 * Stores zeroes if the NIC or its netdev was deleted.
 */
void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6]);
/*
 * Returns true if the port accepts a frame now.  If the result is false, the loop runs
 * again as soon as the port accepts a frame.
 */
static inline bool pvrdma_port_may_send(const PvrdmaPort *p)
{
    return !p->blocked && p->loop_fifo.count < PVRDMA_LOOP_FULL && runstate_is_running();
}

/*
 * The functions begin and end of RNicLoopOps; @opaque is the PvrdmaState.  The netdev may
 * collect the frames that are sent between the two calls, and write these frames
 * together.
 */
void pvrdma_port_cork(void *opaque);
void pvrdma_port_uncork(void *opaque);
/*
 * Lets the netdev deliver frames that have arrived, in the thread of a vCPU that polls,
 * and counts the RoCE frames in RX_POLLED.
 */
void pvrdma_port_poll(PvrdmaState *s);
/*
 * Ends a series of calls of pvrdma_port_poll(): the netdev watches for frames again.
 * Does nothing if there is no NIC.
 */
void pvrdma_port_poll_end(PvrdmaState *s);
/*
 * Builds the headers of a frame in the port's memory.  Returns the address at which the
 * caller stores up to ROCE_MTU_MAX bytes of payload.  The caller may abandon the frame,
 * because only pvrdma_tx_end() sends a frame.
 */
uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt);
/*
 * Sends the frame of pvrdma_tx_begin(), with @payload_len bytes of payload.  A frame to
 * this device is lost if PvrdmaPort.loop is full.  Any other frame is lost if the NIC was
 * deleted, the link is down, the netdev is stuck, or the virtio header of the netdev is
 * longer than PVRDMA_VNET_BYTES.
 */
void pvrdma_tx_end(PvrdmaState *s, size_t payload_len);
/*
 * Handles and removes the frames that PvrdmaPort.loop contains at the time of the call.
 * Returns true if PvrdmaPort.loop was not empty.
 */
bool pvrdma_port_loop_run(PvrdmaState *s);

#endif /* HW_PVRDMA_WIRE_PORT_H */
