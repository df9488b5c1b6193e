/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire: the netdev of the paired NIC.
 */
#ifndef HW_PVRDMA_WIRE_PORT_H
#define HW_PVRDMA_WIRE_PORT_H

#include "qemu/queue.h"
#include "qemu/timer.h"
#include "net/net.h"
#include "system/runstate.h"
#include "../../core/fifo.h"
#include "roce.h"

typedef struct PvrdmaState PvrdmaState;

#define PVRDMA_LOOP_FRAMES  256
/* Level of the ring of frames to this device at which the QPs stop sending. */
#define PVRDMA_LOOP_FULL    (PVRDMA_LOOP_FRAMES / 2)
/* Maximal length of the header that a netdev has before a frame, bytes. */
#define PVRDMA_VNET_BYTES   32

typedef struct PvrdmaPort {
    /* Handles a RoCE frame from the wire or from this device. */
    void (*rx)(PvrdmaState *s, const uint8_t *frame, size_t len);
    /* Filter of the paired NIC's netdev; NULL: it was deleted. */
    struct NetFilterState *filter;
    /* Id of the netdev, by which traces name the device. */
    char *netdev;
    /* The netdev has queued a frame and will call port_sent(). */
    bool blocked;
    int64_t blocked_at;             /* virtual time, ns, at which it queued the frame */
    /* The frame is queued for too long, so later frames are dropped. */
    bool stuck;
    NetClientState *sender;         /* NIC that sent the queued frame; may be freed */
    bool link_up;                   /* link state that the last event reported */
    QEMUTimer *timer;               /* checks the link and a blocked netdev */
    VMChangeStateEntry *vm_state;
    /* Frames to this device: a ring of PVRDMA_LOOP_FRAMES; NULL: not allocated yet. */
    uint8_t *loop;
    RNicFifo loop_fifo;
    uint16_t loop_len[PVRDMA_LOOP_FRAMES];
    /* The frame that is being built. */
    uint8_t *building;              /* first byte of the frame, in @loop or @buf */
    size_t payload_at;              /* offset of the frame's payload, bytes */
    bool looped;                    /* the frame's destination is this device */
    uint8_t buf[PVRDMA_VNET_BYTES + ROCE_FRAME_MAX] QEMU_ALIGNED(8);
    QLIST_ENTRY(PvrdmaPort) next;
} PvrdmaPort;

/* Adds a filter to netdev @netdev.  Returns false with @errp set on errors. */
bool pvrdma_port_init(PvrdmaState *s, const char *netdev, Error **errp);
void pvrdma_port_fini(PvrdmaState *s);
/* Drops the frames to this device, and reads the link state anew. */
void pvrdma_port_reset(PvrdmaState *s);
/* Returns true if the paired NIC exists and its link is up. */
bool pvrdma_port_up(PvrdmaState *s);
/*
 * Stores the MAC of the paired NIC, as the guest set it, in @mac; zeroes if the NIC was
 * deleted.
 */
void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6]);
/*
 * Returns true if a frame may be sent now.  If not, the event that permits it calls
 * pvrdma_schedule().
 */
static inline bool pvrdma_port_may_send(const PvrdmaPort *p)
{
    return !p->blocked && p->loop_fifo.count < PVRDMA_LOOP_FULL && runstate_is_running();
}

/*
 * Functions of RNicLoopOps, of which @opaque is the PvrdmaState.  They bracket the
 * sending of several frames, which the netdev may write together.
 */
void pvrdma_port_cork(void *opaque);
void pvrdma_port_uncork(void *opaque);
/* Takes frames that the netdev has received, and handles them, for a vCPU that polls. */
void pvrdma_port_poll(PvrdmaState *s);
/*
 * Builds the headers of a frame.  Returns the address at which the caller stores up to
 * ROCE_MTU_MAX bytes of payload.  Only pvrdma_tx_end() sends the frame, so the caller may
 * abandon it.
 */
uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt);
/*
 * Sends the frame of pvrdma_tx_begin(), with @payload_len bytes of payload.  The frame
 * is lost if the link is down, or if the ring of frames to this device is full.
 */
void pvrdma_tx_end(PvrdmaState *s, size_t payload_len);
/*
 * Handles the frames to this device that are in the ring.  Returns true if the ring was
 * not empty.
 */
bool pvrdma_port_loop_run(PvrdmaState *s);

#endif /* HW_PVRDMA_WIRE_PORT_H */
