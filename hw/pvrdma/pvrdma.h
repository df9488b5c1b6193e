/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the paravirtual RDMA NIC, whose transport is RoCE v2 or v1.  The state does
 * not depend on the bus; pvrdma-pci.c is the bus shell.  Each unit has a header of its
 * own.
 *
 * Numbers are in host byte order, unless their type or their comment says otherwise.
 * Functions that execute a command of the driver return 0 or a positive errno, which the
 * driver reads.  A status of type uint8_t is enum pvrdma_wc_status.  The loop of
 * pvrdma.c sends the frames, except the last answers of a QP, which a command sends.
 * The handlers of arriving frames and of the QPs' timers send nothing: they activate the
 * QPs that have something to send.
 */
#ifndef HW_PVRDMA_PVRDMA_H
#define HW_PVRDMA_PVRDMA_H

#include "qemu/host-utils.h"
#include "qemu/queue.h"
#include "qemu/timer.h"
#include "../core/compat.h"
#include "../core/host.h"
#include "../core/loop.h"
#include "../core/stats.h"
#include <rdma/vmw_pvrdma-abi.h>
#include "rnic/pvrdma/regs.h"
#include "base/event.h"
#include "wire/gid.h"
#include "base/caps.h"
#include "wire/port.h"
#include "base/table.h"

typedef struct PvrdmaState PvrdmaState;
typedef struct PvrdmaQp PvrdmaQp;
typedef struct PvrdmaTransport PvrdmaTransport;

struct PvrdmaState {
    /* Services of the bus: interrupts, and DMA, which may pass an IOMMU. */
    RNicHost host;
    RNicStats stats;
    MemoryRegion regs_mr, uar_mr;
    RNicLoop loop;                  /* runs the QPs that have work */
    const PvrdmaTransport *transport;       /* functions of requester and responder */
    bool irqs_sending;              /* irq_messages() is running */
    bool gone;                      /* pvrdma_fini() was called */
    uint32_t mtu;                   /* property: largest path MTU, bytes */
    uint8_t version;                /* property: value of the register VERSION */
    bool roce_v1;                   /* property: RoCE v1 instead of v2 */
    bool dcqcn;                     /* property: congestion management by DCQCN */
    uint64_t dsr_addr;              /* DMA address of the shared region */
    bool dsr_valid;                 /* pvrdma_dsr_load() accepted the shared region */
    bool active;                    /* the driver has activated the device by CTL */
    /* The driver distinguishes QP handles from QP numbers. */
    bool qp_handles;
    uint32_t err, icr, imr;         /* values of the registers ERR, ICR and IMR */
    uint64_t cmd_slot, resp_slot;   /* DMA addresses of command and response slot */
    uint64_t uar_pfn;               /* driver's page frame number of doorbell page 0 */
    PvrdmaRing async, cqne;         /* rings of events and of CQ notifications */
    QEMUTimer *ring_timer;          /* calls pvrdma_rings_retry() */
    PvrdmaTable uc, pd, mr, cq, srq, qp;    /* PvrdmaState owns the objects */
    PvrdmaQp *gsi;                  /* the QP of type GSI, or NULL */
    /* Generation, bits 23:16, of the newest QP number that has a generation; 0: none. */
    uint8_t qpn_generation;
    uint8_t mr_generation;          /* bits 7:0 of the key of the next new region */
    PvrdmaGid gid[PVRDMA_GIDS];
    unsigned gid_last;              /* index in gid[] found last by pvrdma_gid_local() */
    /*
     * Number of pages of all objects and rings, plus PvrdmaReq.counted of all QPs; at
     * most PVRDMA_MAX_PAGES.
     */
    uint32_t pages_used;
    uint32_t qkey_violations, pkey_violations;
    QTAILQ_HEAD(, PvrdmaQp) active_qps;     /* QPs that the loop must visit */
    QTAILQ_HEAD(, PvrdmaQp) flush_qps;      /* QPs whose flush is scheduled */
    PvrdmaPort port;
    /* Property: virtual time, us, for which the device may delay an acknowledgement. */
    uint32_t ack_delay_us;
    QEMUTimer *ack_timer;           /* runs the loop, which sends delayed ACKs */
    /*
     * Number of completions written to all CQs, modulo 2^32.  A vCPU that polls reads
     * this number without the big lock.
     */
    uint32_t completions;
    uint32_t receives;              /* number of completions of receive WQEs */
    /*
     * Silent writes: RDMA writes of peers that had no completion.  Their number, modulo
     * 2^32, which a vCPU that polls reads without the big lock; and this number at the
     * start of the last poll that had a completion.
     */
    uint32_t silent_writes, silent_writes_polled;
    uint64_t counter[PVRDMA_COUNTER_COUNT];
};

/*
 * Builds the device on the netdev with the id @netdev.  The caller has set the members
 * that are properties, and all other members to 0.  Returns false, with @errp set and all
 * memory freed, if a property is not valid or pvrdma_port_init() fails.
 */
bool pvrdma_init(PvrdmaState *s, const RNicHost *host, const char *netdev,
                 Error **errp);
/*
 * Ends the device, and frees the memory to which the state points.  If the device is at
 * work (RNicLoop.running) or sends interrupts, a later bottom half frees the memory.
 */
void pvrdma_fini(PvrdmaState *s);
/*
 * Frees all objects, and resets registers and counters.  If the device is at work
 * (RNicLoop.running), the reset happens when the work has ended.  Does nothing after
 * pvrdma_fini().
 */
void pvrdma_reset(PvrdmaState *s);

/* Returns the property mtu as enum pvrdma_mtu. */
static inline enum pvrdma_mtu pvrdma_mtu_code(const PvrdmaState *s)
{
    return ctz32(s->mtu) - 7;
}

/* Returns the only type of GID that the device supports. */
static inline uint8_t pvrdma_gid_type(const PvrdmaState *s)
{
    return s->roce_v1 ? PVRDMA_GID_TYPE_FLAG_ROCE_V1 :
                        PVRDMA_GID_TYPE_FLAG_ROCE_V2;
}

/* Makes the loop run the QPs that have work; see rnic_loop_schedule(). */
static inline void pvrdma_schedule(PvrdmaState *s)
{
    rnic_loop_schedule(&s->loop);
}

static inline void pvrdma_count(PvrdmaState *s, enum pvrdma_counter counter)
{
    s->counter[counter]++;
}

#endif /* HW_PVRDMA_PVRDMA_H */
