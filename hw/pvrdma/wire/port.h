/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wire.
 */
#ifndef HW_PVRDMA_WIRE_PORT_H
#define HW_PVRDMA_WIRE_PORT_H

#include "qemu/queue.h"
#include "qemu/timer.h"
#include "net/net.h"
#include "roce.h"

typedef struct PvrdmaState PvrdmaState;

#define PVRDMA_LOOP_FRAMES  256
#define PVRDMA_VNET_BYTES   32          /* longest header of a netdev before a frame */

typedef struct PvrdmaPort {
    /* Takes a RoCE frame that has arrived. */
    void (*rx)(PvrdmaState *s, const uint8_t *frame, size_t len);
    struct NetFilterState *filter;  /* of the paired NIC's netdev; NULL: it is gone */
    char *netdev;                   /* its id, by which traces name the device */
    bool blocked;                   /* the netdev has a frame of ours; it will tell */
    int64_t blocked_at;             /* since when */
    bool stuck;                     /* it has it for too long: others are lost */
    NetClientState *sender;         /* in whose name; may be gone */
    bool link_up;                   /* as the guest was last told */
    QEMUTimer *timer;
    VMChangeStateEntry *vm_state;
    /* Frames to ourselves: a ring of PVRDMA_LOOP_FRAMES, NULL: never used. */
    uint8_t *loop;
    unsigned loop_first, loop_count;
    uint16_t loop_len[PVRDMA_LOOP_FRAMES];
    /* The frame that is being built. */
    uint8_t *building;              /* in the ring, or in buf */
    size_t payload_at;
    bool looped;                    /* it is to ourselves */
    uint8_t buf[PVRDMA_VNET_BYTES + ROCE_FRAME_MAX] QEMU_ALIGNED(8);
    QLIST_ENTRY(PvrdmaPort) next;
} PvrdmaPort;

bool pvrdma_port_init(PvrdmaState *s, const char *netdev, Error **errp);
void pvrdma_port_fini(PvrdmaState *s);
void pvrdma_port_reset(PvrdmaState *s);
bool pvrdma_port_up(PvrdmaState *s);
/* MAC of the paired NIC, as the guest has set it; zeroes if it is gone. */
void pvrdma_port_mac(PvrdmaState *s, uint8_t mac[6]);
/* False: send nothing, a call of pvrdma_schedule() will come. */
bool pvrdma_port_ready(PvrdmaState *s);
/* Around what sends several frames: the netdev may write them together. */
void pvrdma_port_cork(PvrdmaState *s, bool cork);
/* Takes frames that are there, for a CPU that waits for one. */
void pvrdma_port_poll(PvrdmaState *s);
/*
 * Begins a frame; returns where up to ROCE_MTU_MAX bytes of payload go.  Nothing is
 * sent before pvrdma_tx_end(): a caller may change its mind.
 */
uint8_t *pvrdma_tx_begin(PvrdmaState *s, const RocePath *path,
                         const RocePacket *pkt);
void pvrdma_tx_end(PvrdmaState *s, size_t payload_len);
/* Hands frames to ourselves to pvrdma_rx(); true if there were any. */
bool pvrdma_port_loop_run(PvrdmaState *s);

#endif /* HW_PVRDMA_WIRE_PORT_H */
