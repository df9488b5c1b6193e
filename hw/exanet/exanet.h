/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the state of the bus-neutral device.  Each unit has a header
 * of its own.  Formats are in include/rnic/exanet.
 *
 *   scratchpad --> firmware --> exadma --+
 *   packetizer page --> packetizer ------+--> crossbar --> link --> netdev
 *                                        |        |
 *   mailbox rings <-- mailbox <----------+        +--> sinks of this node:
 *   memory <-- receiver <----------------+             rtmailbox, receiver,
 *   firmware <-- rtmailbox <-------------+             mailbox, packetizer
 *
 * One function, exanet_work(), does all work: link input, firmware, packetizer,
 * ExaDMA, then it flushes what they sent.  MMIO handlers and netdev callbacks
 * validate, store and call exanet_schedule(), which has a bottom half run it.  A
 * doorbell of a process and the arrival of a frame run it at once, a doorbell with a
 * small budget: to wake the main loop takes longer than a small message as a whole.
 * Everything runs under the BQL.
 *
 * Functions that return enum exanet_resp return the code that the peer or the
 * user will see; EXANET_RESP_ACK is success.
 */
#ifndef HW_EXANET_H
#define HW_EXANET_H

#include "../core/compat.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "context.h"
#include "exadma.h"
#include "fault.h"
#include "packetizer.h"
#include "port.h"
#include "receiver.h"
#include "rtmailbox.h"
#include "switch.h"
#include "wire.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetFirmware ExanetFirmware;
typedef struct ExanetFlowUnit ExanetFlowUnit;
typedef struct ExanetShm ExanetShm;

/*
 * Gives a packet for this node to its unit.  @from is the port by which the packet came,
 * or NULL if this node sent it.  The function may change the packet.
 */
typedef void ExanetSink(ExanetState *s, ExanetPort *from, ExanetPacket *pkt);

/* What the bus shell lends the device. */
typedef struct ExanetHost {
    DeviceState *dev;               /* owner of regions and bottom halves */
    /*
     * CPU physical addresses: the walker reads page tables, so that no vIOMMU may
     * be between.
     */
    AddressSpace *as;
    /* One of both: messages, EXANET_VEC_; or the levels of wires, EXANET_LINE_. */
    void (*irq)(void *opaque, unsigned vector);
    void (*line)(void *opaque, unsigned line, bool level);
    void *opaque;
} ExanetHost;

/*
 * The register file: blocks below the counters, those of shared memory, and those of
 * the CDMA channels, one behind the other.
 */
#define EXANET_FILE_LOW 0x7000
#define EXANET_FILE_CDMA_BYTES 0x80
#define EXANET_FILE_BYTES (EXANET_FILE_LOW + EXANET_SHM_BYTES + \
                           EXANET_CDMA_CHANNELS * EXANET_FILE_CDMA_BYTES)

/* Info page of one context. */
typedef struct ExanetInfoPage {
    ExanetState *s;
    MemoryRegion mr;
    unsigned ctx;
} ExanetInfoPage;

struct ExanetState {
    ExanetHost host;
    QLIST_ENTRY(ExanetState) next;  /* of all devices, for query-stats */
    MemoryRegion regs_mr;           /* BAR 0 */
    MemoryRegion user_mr;           /* user pages; reads are plain RAM */
    MemoryRegion aperture_mr;       /* aperture, and block RAM behind it */
    ExanetInfoPage info[EXANET_CONTEXTS];
    uint8_t *user;                  /* RAM of user_mr */

    /* properties */
    uint32_t coord;
    char *dims;                     /* NULL: no rings */
    char *router;                   /* NULL: torus */
    char *routes;                   /* NULL: no table */
    uint32_t rx_fifo_words;
    uint32_t link_timeout_ms;
    uint32_t link_stall_ms;
    uint32_t link_rate_kbps;
    uint32_t link_latency_ns;
    uint32_t tlb_entries;
    uint8_t user_page_shift;
    uint8_t epoch_fixed;
    uint64_t aperture_size;
    uint32_t aperture_timeout_ms;   /* real time, of one access of a vCPU */
    uint64_t bram_size;
    uint32_t cam_entries;
    bool shm_timing;

    QEMUBH *bh;
    uint32_t news;                  /* packets for this node; read without the BQL */
    bool running;                   /* exanet_enter(): the device is at work */
    bool engaged;                   /* QEMU's re-entrancy guard before exanet_enter() */
    bool pending;                   /* exanet_schedule() was called meanwhile */
    bool due;                       /* the bottom half has work */
    bool reset_wanted;              /* exanet_reset() was called meanwhile */
    bool fini_wanted;               /* exanet_fini() was called: see fini_late() */
    uint32_t vectors;               /* to be sent when the work is done */
    bool line[EXANET_IRQ_LINES];    /* levels of the wires, where there are such */
    bool enabled;                   /* CTRL_ENABLE */
    bool strict;                    /* CTRL_STRICT */
    uint8_t epoch;
    uint32_t node;                  /* register NODE */
    int64_t time;                   /* ns, when the units began their round */

    /* register file: value, as written last, masks */
    uint8_t val[EXANET_FILE_BYTES];
    uint8_t wr[EXANET_FILE_BYTES];
    uint8_t writable[EXANET_FILE_BYTES];
    uint8_t w1c[EXANET_FILE_BYTES];
    uint8_t lane[EXANET_FILE_BYTES / 4];    /* what a 32-bit lane is part of */
    uint64_t counter[EXANET_COUNTER_COUNT];

    ExanetContext ctx[EXANET_CONTEXTS];
    ExanetTlb tlb;
    ExanetFaultUnit fault;
    ExanetExadma exadma;
    ExanetRtMailbox rt;
    ExanetFirmware *firmware;
    ExanetPacketizer packetizer;
    ExanetReceiver receiver;
    ExanetSink *sink;
    ExanetSwitch sw;
    ExanetFlowUnit *flow;
    unsigned flows_paced;           /* destinations */
    ExanetShm *shm;                 /* see shm.h */
    ExanetPort port[EXANET_LINKS];
    unsigned links;                 /* up to the last one that exists */
    uint8_t local[EXANET_PACKET_BYTES];     /* a packet to this node */
};

#define exanet_count(s, name) ((void)(s)->counter[EXANET_CNT_##name]++)

/* Counts in @counter (enum exanet_counter); COUNTER_COUNT: in none. */
static inline void exanet_count_by(ExanetState *s, unsigned counter)
{
    if (counter < EXANET_COUNTER_COUNT) {
        s->counter[counter]++;
    }
}

/* Whether @ack answers nothing that was sent since the last reset; it is counted then. */
static inline bool exanet_ack_stale(ExanetState *s, const ExanetPacket *ack)
{
    if (ack->epoch == s->epoch) {
        return false;
    }
    exanet_count(s, ACK_STALE);
    return true;
}

/* Checks properties and builds the device; false with @errp set on user errors. */
bool exanet_init(ExanetState *s, const ExanetHost *host, Error **errp);
void exanet_fini(ExanetState *s);
/* Everything as after power-up, with a new epoch. */
void exanet_reset(ExanetState *s);
/* The existing port after @p, the first one after NULL; NULL when there is none. */
ExanetPort *exanet_port_next(ExanetState *s, const ExanetPort *p);
/*
 * Lets the vCPU of this thread take frames from the netdevs, because a process of context
 * @c has looked for a packet in vain.
 */
void exanet_poll(ExanetState *s, unsigned c);
/* Runs the units soon. */
void exanet_schedule(ExanetState *s);
/*
 * Marks the device as at work; each entry by a netdev, a timer or a vCPU calls this
 * function first.  Returns false if the device is at work already: for example, a hub
 * has sent its own frame back.  Until exanet_leave() a nested call only stores its data
 * and returns.  Reset and end of the device wait, because the caller still uses the
 * state that they would free.
 */
bool exanet_enter(ExanetState *s);
/*
 * Runs the units if work is pending, and ends the work.  @entered is the result of
 * exanet_enter().  The bottom half sends the interrupts later, because the guest may
 * aim an interrupt at the power of this device's slot; the queue of the calling netdev
 * must not be freed before its call returns.
 */
void exanet_leave(ExanetState *s, bool entered);
/* Runs the units now, unless they are running already. */
void exanet_run_now(ExanetState *s);
/* Register file; @offset from the start of BAR 0, naturally aligned. */
uint32_t exanet_reg_get32(ExanetState *s, unsigned offset);
uint64_t exanet_reg_get64(ExanetState *s, unsigned offset);
void exanet_reg_set32(ExanetState *s, unsigned offset, uint32_t value);
void exanet_reg_set64(ExanetState *s, unsigned offset, uint64_t value);
/* What software wrote last, for command registers. */
uint64_t exanet_reg_written64(ExanetState *s, unsigned offset);
/* RAM of page @page of the user pages of context @c; little-endian inside. */
uint8_t *exanet_user_page(ExanetState *s, unsigned c, unsigned page);
/* Virtual time in ns, from the one place that knows it. */
int64_t exanet_now(ExanetState *s);

#endif /* HW_EXANET_H */
