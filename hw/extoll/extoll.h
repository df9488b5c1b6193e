/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EXTOLL NIC: the state of the device, which is the same on any bus.  Each unit has a
 * header of its own.  Formats are in include/rnic/extoll.
 *
 * The device has registers, interrupts, a self-test, links, a crossbar and VELO.  RMA,
 * ATU and SNQ do not exist yet.
 */
#ifndef HW_EXTOLL_EXTOLL_H
#define HW_EXTOLL_EXTOLL_H

#include "../core/host.h"
#include "../core/loop.h"
#include "../core/stats.h"
#include "../link/port.h"
#include "system/runstate.h"
#include "rnic/extoll/regs.h"
#include "base/irq.h"
#include "base/regs.h"
#include "link/link.h"
#include "net/crossbar.h"
#include "velo/mailbox.h"
#include "velo/requester.h"

typedef struct ExtollState ExtollState;

/* The other end of a cable, whose flits and sequences a link has; see ExtollLink. */
typedef struct ExtollPeer {
    uint16_t node;
    uint8_t epoch;                  /* 0: the link has not been up */
    bool loopback;                  /* the other end is the port itself */
} ExtollPeer;

struct ExtollState {
    RNicHost host;                  /* @host.as: addresses are those of the bus */
    RNicStats stats;
    MemoryRegion regs_mr;           /* BAR 0 */
    MemoryRegion velo_mr;           /* BAR 2 */

    /* Properties; extoll-pci.c has the description of each. */
    uint8_t node;                   /* register NODE after a reset */
    uint8_t epoch_first;            /* 0: the first epoch depends on the time of day */
    bool strict;                    /* no function beyond the document */
    uint32_t rx_flits;              /* room of each virtual channel of a link */
    uint32_t link_rate_kbps;        /* registers PORT_RATE after a reset */
    uint32_t link_latency_ns;       /* registers PORT_LATENCY after a reset */
    uint32_t link_timeout_ms;
    uint32_t link_stall_ms;         /* see extoll_crossbar_run(); 0: never */
    uint32_t split;                 /* see ExtollCombine.split */
    uint32_t cfcq_timeout_ms;       /* maximal time that a store waits for room */

    RNicLoop loop;
    ExtollRegs regs;
    ExtollIrq irq;
    bool test_started;              /* a round of the loop does operation @test_op */
    uint32_t test_op;
    RNicPort port[EXTOLL_LINKS];
    RNicPortGroup ports;
    ExtollLink link[EXTOLL_LINKS];  /* above the port of the same number */
    ExtollPeer peer[EXTOLL_LINKS];
    uint8_t links_up;               /* links that are up, as of the last EVENT_LINK */
    ExtollCrossbar crossbar;
    ExtollVeloRequester velo;
    ExtollMailboxes mailboxes;
    VMChangeStateEntry *vm_state;   /* notices that the machine runs again */
    uint8_t epoch;                  /* register EPOCH, 1 to 255; 0: no reset yet */
    uint64_t counter[EXTOLL_COUNTER_COUNT];
};

#define extoll_count(s, name) ((void)(s)->counter[EXTOLL_CNT_##name]++)

/*
 * Checks the properties and builds the device.  The function copies @host.  Returns false
 * with @errp set, and does not build the device, if a property is not valid.
 */
bool extoll_init(ExtollState *s, const RNicHost *host, Error **errp);
/*
 * Ends the device.  If functions of the device have not returned yet, the state of the
 * device is freed after these functions have returned; see rnic_loop_fini().
 */
void extoll_fini(ExtollState *s);
/* Frees what properties have allocated, also if extoll_init() was not called. */
void extoll_instance_fini(ExtollState *s);
/*
 * Resets the device, with a new epoch.  If the device is at work, the reset happens when
 * the work ends.  Does nothing if the device has ended.
 */
void extoll_reset(ExtollState *s);

#endif /* HW_EXTOLL_EXTOLL_H */
