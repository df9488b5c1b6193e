/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet NIC: the state of the bus-neutral device and the functions that its
 * units offer each other.  Formats are in include/rnic/exanet.
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
#include "net/net.h"
#include "qemu/bitmap.h"
#include "qemu/timer.h"
#include "rnic/exanet/regs.h"
#include "rnic/exanet/shm.h"
#include "rnic/exanet/wire.h"
#include "route.h"
#include "arith.h"
#include "port.h"
#include "walk.h"
#include "wire.h"

typedef struct ExanetState ExanetState;
typedef struct ExanetShm ExanetShm;

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

/* --- Contexts and translation: context.c; faults: fault.c --------------- */

#define EXANET_TLB_SHIFT 12         /* entries cover 4 KB, whatever the leaf */

/* One cached translation; only pages in RAM are cached. */
typedef struct ExanetTlbEntry {
    uint64_t va;                    /* page address */
    uint64_t stamp;                 /* valid while equal to the context's */
    uint8_t *host;                  /* the page */
    uint8_t ram;                    /* index of the range that @host is in */
    bool write;
} ExanetTlbEntry;

#define EXANET_RAM_RANGES 64

/* A stretch of physical RAM, held by reference until the memory map changes. */
typedef struct ExanetRam {
    hwaddr base;
    hwaddr size;
    MemoryRegionCache cache;
} ExanetRam;

typedef struct ExanetTlb {
    ExanetTlbEntry *entry;          /* sets of two, owned */
    uint64_t mask;                  /* entries - 1 */
    unsigned victim;                /* picks the next entry to be replaced */
    uint64_t stamp;                 /* last one that was given out; never reused */
    ExanetRam ram[EXANET_RAM_RANGES];
    unsigned rams;
    unsigned last;                  /* range that was used last */
    MemoryListener listener;
} ExanetTlb;

/* Decoded registers of a context; the register file keeps the raw ones. */
typedef struct ExanetContext {
    ExanetWalk walk;
    uint64_t stamp;                 /* of its valid TLB entries */
    uint64_t win[EXANET_WINDOW_NI]; /* base | EXANET_WIN_VALID */
    uint16_t pdid;
    bool local;                     /* the context's job is local to this node */
    bool enabled;
    bool quiesce;
    bool no_report;
    unsigned faults;                /* pending ones */
} ExanetContext;

/* A fault that waits for RESOLVE; what is needed to answer the peer then. */
typedef struct ExanetPendingFault {
    uint64_t va;                    /* page address */
    uint32_t peer;
    uint16_t tid;                   /* wire TID */
    uint16_t seq;
    uint16_t small;                 /* where the peer takes code 7 */
    uint8_t ctx;
    uint8_t unit;                   /* enum exanet_fault_unit */
    uint8_t epoch;                  /* of the peer, if @dst */
    bool write;
    bool dst;
    bool valid;                     /* of the table of pending faults */
} ExanetPendingFault;

typedef struct ExanetFaultUnit {
    struct exanet_fault fifo[EXANET_FAULTS];        /* host byte order */
    unsigned head;
    unsigned count;
    ExanetPendingFault pending[EXANET_FAULTS];
    unsigned used;                  /* of @pending */
} ExanetFaultUnit;

void exanet_context_init(ExanetState *s);
void exanet_context_fini(ExanetState *s);
void exanet_context_reset(ExanetState *s);
/* Refreshes the computed registers of context @c before a read. */
void exanet_context_reg_sync(ExanetState *s, unsigned c);
/*
 * Register @reg (EXANET_REG_CTX_) of context @c was written; @top tells that the
 * access covered its last lane, which is when a command register acts.
 */
void exanet_context_reg_written(ExanetState *s, unsigned c, unsigned reg,
                                bool top);
/*
 * Returns PROTECTION unless the context of @pdid is enabled and of the same job.  A
 * context with a local job communicates inside this node alone.  @node is the packet's
 * source or its destination.
 */
enum exanet_resp exanet_context_check(ExanetState *s, uint16_t pdid,
                                      uint32_t node);
/*
 * Full address of the 42-bit address @va of context @c; DECODE when the window is
 * not valid or @len bytes would leave it.
 */
enum exanet_resp exanet_context_window(ExanetState *s, unsigned c, uint64_t va,
                                       uint64_t len, uint64_t *full);
/*
 * Copies between @buf and @len bytes (at most EXANET_ACCESS_MAX) of process memory
 * at the full address @va.  All pages are translated before a byte moves.  FAULT
 * sets *fault_va to the first address without translation; DECODE: no RAM there, or
 * tables that make no sense; PROTECTION: the context is disabled or quiesced, or
 * it faulted and wants no reports.  Page boundaries may be crossed.  A write of
 * 8 bytes to an 8-byte aligned address is one store, ordered after all earlier writes.
 */
#define EXANET_ACCESS_MAX 16384
enum exanet_resp exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                     void *buf, size_t len, uint64_t *fault_va);
enum exanet_resp exanet_context_write(ExanetState *s, unsigned c, uint64_t va,
                                      const void *buf, size_t len,
                                      uint64_t *fault_va);
/*
 * The physical address of @va, for devices' memory, which the two above give DECODE
 * for; else as they.  Good for the page of @va, until the next access.
 */
enum exanet_resp exanet_context_physical(ExanetState *s, unsigned c, uint64_t va,
                                         bool write, hwaddr *pa);
/*
 * Reports a fault to the driver, unless one of the same context, page, direction
 * and side is unresolved: then @f waits for the same answer.  @left is the hint for
 * faulting in ahead.  Returns whether RESOLVE for @f will come: false when the table
 * or the FIFO is full.
 */
bool exanet_fault_report(ExanetState *s, const ExanetPendingFault *f,
                         uint32_t left);
/* Drops what context @c waits for; nobody gets an answer. */
void exanet_fault_forget(ExanetState *s, unsigned c);
void exanet_fault_reg_sync(ExanetState *s);
void exanet_fault_reg_written(ExanetState *s, unsigned reg, bool top);

/* --- ExaDMA: exadma.c --------------------------------------------------- */

/* A packet that waits in an output buffer; @words = 0: dropped by KILL. */
typedef struct ExanetSlot {
    int route;
    uint16_t tid;                   /* index */
    uint16_t words;
    uint8_t data[EXANET_PACKET_BYTES];
} ExanetSlot;

#define EXANET_CONTROL_QUEUE 64
#define EXANET_CONTROL_WORDS 4      /* header, two of payload, footer */

/* A control packet that waits; @dead: dropped by KILL. */
typedef struct ExanetControlSlot {
    uint32_t dst;
    uint16_t tid;                   /* index */
    uint8_t path;
    bool dead;
    uint8_t data[EXANET_CONTROL_WORDS * EXANET_WORD_BYTES];
} ExanetControlSlot;

typedef struct ExanetOutput {
    ExanetSlot slot[EXANET_OUTPUT_SLOTS];
    unsigned head;
    unsigned count;
    /* the control-packet FSM [T §5.3.1.2], then its queue */
    uint64_t control_word[3];
    unsigned control_stage;
    unsigned control_tid;
    ExanetControlSlot control[EXANET_CONTROL_QUEUE];
    unsigned control_head;
    unsigned control_count;
} ExanetOutput;

typedef struct ExanetExadma {
    uint64_t desc[EXANET_TIDS][4];  /* the Pending_List, host byte order */
    uint8_t state[EXANET_TIDS];     /* see exadma.c */
    uint16_t buffered[EXANET_TIDS]; /* packets in output buffers and queues */
    bool queued[EXANET_TIDS];       /* in @fifo, even if killed since */
    uint16_t fifo[EXANET_TIDS];     /* the scheduler's; each TID at most once */
    unsigned fifo_head;
    unsigned fifo_count;
    uint16_t paced[EXANET_TIDS];    /* taken out of @fifo for the rest of a run */
    bool relieved;                  /* a control queue is not full any more */
    ExanetOutput output[EXANET_OUTPUTS];
} ExanetExadma;

void exanet_exadma_reset(ExanetState *s);
/* Sends at most @budget packets; true if there is more that could go on now. */
bool exanet_exadma_run(ExanetState *s, unsigned budget);
/* MMIO to Pending_List and control windows; @addr from the start of the block. */
uint64_t exanet_exadma_list_read(ExanetState *s, hwaddr addr, unsigned size);
void exanet_exadma_list_write(ExanetState *s, hwaddr addr, uint64_t value,
                              unsigned size);
void exanet_exadma_control_write(ExanetState *s, hwaddr addr, uint64_t value,
                                 unsigned size);
/* Stores word @w (0..3) of descriptor @tid, as an 8-byte write of the R5 does. */
void exanet_exadma_desc_write(ExanetState *s, unsigned tid, unsigned w,
                              uint64_t value);
/* Takes @tid out of the scheduler and the output buffers; sets its error bit. */
void exanet_exadma_kill(ExanetState *s, unsigned tid);
/* Whether @tid is scheduled or has packets in an output buffer. */
bool exanet_exadma_busy(ExanetState *s, unsigned tid);
/* Whether @tid waits for its predecessor in a chain. */
bool exanet_exadma_armed(ExanetState *s, unsigned tid);
/*
 * Where the transaction of wire TID @wire goes, or went if it was the last one of its
 * descriptor; false when that one has another generation, or never had any.
 */
bool exanet_exadma_target(ExanetState *s, uint16_t wire, uint32_t *dst);
/* Whether @output has room for a control packet. */
bool exanet_exadma_control_room(ExanetState *s, unsigned output);

/* --- RT mailbox: rtmailbox.c -------------------------------------------- */

typedef struct ExanetRtMailbox {
    uint32_t resp[EXANET_RT_RESPONSES];
    unsigned resp_head;
    unsigned resp_count;
    uint8_t req[EXANET_RT_REQUESTS_MAX][sizeof(struct exanet_read_req)];
    unsigned req_head;
    unsigned req_count;             /* messages */
    unsigned req_lane;              /* 32-bit lanes already read of the head */
} ExanetRtMailbox;

void exanet_rtmailbox_reset(ExanetState *s);
/* An ack for the RDMA engine arrived.  Never blocks: overflow drops and counts. */
void exanet_rtmailbox_response(ExanetState *s, const ExanetPacket *pkt);
/*
 * Returns PROTECTION unless the context that owns the data of request @pkt is of the
 * same job as @pkt.
 */
enum exanet_resp exanet_rtmailbox_check(ExanetState *s, const ExanetPacket *pkt);
/* A read request arrived; FULL when the FIFO is full, MALFORMED for a bad size. */
enum exanet_resp exanet_rtmailbox_request(ExanetState *s,
                                          const ExanetPacket *pkt);
/* The R5 takes the next response word; false when there is none. */
bool exanet_rtmailbox_pop_response(ExanetState *s, uint32_t *word);
/* The R5 takes the next message; false when there is none. */
bool exanet_rtmailbox_pop_request(ExanetState *s, struct exanet_read_req *req);
void exanet_rtmailbox_reg_sync(ExanetState *s, unsigned reg);
void exanet_rtmailbox_reg_written(ExanetState *s, unsigned reg, bool top);

/* --- Firmware, the model of the R5: firmware.c, -block.c, -peer.c ------- */

typedef struct ExanetFirmware ExanetFirmware;

/*
 * A receiver forgets a TID that was silent for so long; a source neither pauses so
 * long between copies of a block, nor trusts that it is forgotten before twice that.
 */
#define EXANET_TID_AGE_NS (60 * (int64_t)NANOSECONDS_PER_SECOND)
/*
 * Copies of one block have sequence numbers less than EXANET_SEQ_GAP apart.  Those of two
 * blocks of one TID and generation are farther apart [P].
 */
#define EXANET_SEQ_GAP 64

void exanet_firmware_init(ExanetState *s);
void exanet_firmware_fini(ExanetState *s);
void exanet_firmware_reset(ExanetState *s);
bool exanet_firmware_run(ExanetState *s);
/* Whether the model plays the R5: EXANET_FW_INTERNAL. */
bool exanet_firmware_internal(ExanetState *s);
/* Whether @ack answers a report of a failed read, and who was sent that. */
bool exanet_firmware_is_report(ExanetState *s, const ExanetPacket *ack);
bool exanet_firmware_report_target(ExanetState *s, const ExanetPacket *ack,
                                   uint32_t *dst);
void exanet_firmware_reg_sync(ExanetState *s);
void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top);
/*
 * A write of @size (4 or 8) bytes to the scratchpad page of context @c;
 * @privileged when it came through the alias of BAR 0, which may write all of it.
 */
void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged);
/*
 * ExaDMA stopped @tid: FAULT (@reported: RESOLVE will come), DECODE or PROTECTION.
 */
void exanet_firmware_source_error(ExanetState *s, unsigned tid,
                                  enum exanet_resp resp, bool reported);
/* The driver resolved a source fault of @tid (index, not wire TID). */
void exanet_firmware_source_resolved(ExanetState *s, unsigned tid, bool ok);
/* Fails all transfers and requests of context @c with ABORTED. */
void exanet_firmware_quiesce(ExanetState *s, unsigned c);
/* Transfers of context @c that are not finished. */
unsigned exanet_firmware_active(ExanetState *s, unsigned c);
/*
 * Whether the firmware takes another read request for context @owner, if @more
 * messages are already on their way to it.
 */
bool exanet_firmware_request_room(ExanetState *s, unsigned owner,
                                  unsigned more);

/* --- Packetizer: packetizer.c ------------------------------------------- */

typedef struct ExanetPktzPeers ExanetPktzPeers;

/* A channel of the packetizer; its registers and payload are in the user page. */
typedef struct ExanetPktzChannel {
    int64_t start;                  /* ns, when GO was accepted */
    int64_t deadline;               /* ns, when it is sent again */
    uint32_t coord;                 /* destination node of the message */
    uint16_t seq;                   /* of the last packet */
    uint8_t gen;                    /* 6 bits */
    uint8_t timeouts;               /* without any answer in between */
    uint8_t nacks;                  /* answers without success, saturating */
    uint8_t resp;                   /* last answer */
    bool sent;                      /* at least once */
    bool backoff;                   /* @deadline follows a nack */
} ExanetPktzChannel;

#define EXANET_PKTZ_TOTAL (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)

typedef struct ExanetPacketizer {
    ExanetPktzChannel channel[EXANET_PKTZ_TOTAL];   /* by context, then number */
    ExanetPktzPeers *peers[EXANET_CONTEXTS];        /* owned; packetizer-peer.c */
    DECLARE_BITMAP(waiting, EXANET_PKTZ_TOTAL);     /* not done yet */
    DECLARE_BITMAP(send, EXANET_PKTZ_TOTAL);        /* when there is room */
    unsigned next;                  /* the round robin goes on here */
    QEMUTimer *timer;
    int64_t timer_at;               /* INT64_MAX: not armed */
    bool due;                       /* the timer has fired */
} ExanetPacketizer;

void exanet_packetizer_init(ExanetState *s);
void exanet_packetizer_fini(ExanetState *s);
void exanet_packetizer_reset(ExanetState *s);
bool exanet_packetizer_run(ExanetState *s);
void exanet_packetizer_write(ExanetState *s, unsigned c, hwaddr addr,
                             uint64_t value, unsigned size);
/* An ack with small address of NI index 3 arrived. */
void exanet_packetizer_response(ExanetState *s, const ExanetPacket *pkt);
/* Where the message of wire TID @wire goes; false when none with it waits. */
bool exanet_packetizer_target(ExanetState *s, uint16_t wire, uint32_t *dst);
/* Fails all waiting channels of context @c with PROTECTION. */
void exanet_packetizer_quiesce(ExanetState *s, unsigned c);
unsigned exanet_packetizer_active(ExanetState *s, unsigned c);

/* --- Mailbox: mailbox.c ------------------------------------------------- */

void exanet_mailbox_write(ExanetState *s, unsigned c, hwaddr addr,
                          uint64_t value, unsigned size);
/*
 * Stores a message in mailbox VA[7:4] of the context of @pkt->pdid.  @data goes to
 * the entry's data field, @irq asks for an interrupt even if the mailbox does not.
 * FULL, FAULT (reported), PROTECTION, DECODE.
 */
enum exanet_resp exanet_mailbox_deliver(ExanetState *s, const ExanetPacket *pkt,
                                        uint64_t data, bool irq);
/* Disables the mailboxes of context @c. */
void exanet_mailbox_quiesce(ExanetState *s, unsigned c);

/* --- Receiver: receiver.c, receiver-source.c, receiver-message.c -------- */

typedef struct ExanetRxContext {
    uint64_t bitmap;
    uint64_t window;                /* full VA of the 16-KB window */
    uint64_t control[4];            /* P0..P3 */
    int64_t time;                   /* last activity, ns */
    uint32_t src;
    uint32_t bytes;
    uint16_t tid;                   /* wire TID */
    uint16_t seq;
    uint16_t pdid;
    uint16_t user;
    uint8_t first_idx;
    uint8_t last_idx;
    uint8_t epoch;
    uint8_t nack;                   /* enum exanet_resp; 0: not nacked */
    bool valid;
    bool first;
    bool last;
    bool notify;
    bool control_seen;
} ExanetRxContext;

/*
 * Delivered notification packets that the receiver remembers for each of its contexts of
 * each node that sends [P].
 */
#define EXANET_RX_REPORTS 32

/* State of one node that sends to this node; see receiver.h. */
typedef struct ExanetSource ExanetSource;

typedef struct ExanetReceiver {
    ExanetRxContext ctx[EXANET_RX_CONTEXTS];
    uint32_t ways;                  /* property */
    GHashTable *sources;            /* coordinates -> ExanetSource, owned */
    ExanetSource *recent;           /* the one looked up last */
    /* Number of sources by the link of their first packet; EXANET_LINKS: no link. */
    unsigned by_link[EXANET_LINKS + 1];
    int64_t full_until[EXANET_LINKS + 1];   /* ns; no source can be forgotten before */
    int64_t swept;                  /* ns, time of the last sweep of idle sources */
    struct {
        uint64_t key;               /* EXANET_TOMB_ */
        int64_t time;
    } tomb[EXANET_TOMBSTONES];      /* most recent completions, a ring */
    unsigned tomb_next;
} ExanetReceiver;

void exanet_receiver_init(ExanetState *s);
void exanet_receiver_fini(ExanetState *s);
void exanet_receiver_reset(ExanetState *s);
/* A packet of a block: data for memory, or a control packet. */
void exanet_receiver_rx(ExanetState *s, const ExanetPacket *pkt);
/* A packet of a packetizer: duplicates, delivery, ack. */
void exanet_receiver_message(ExanetState *s, const ExanetPacket *pkt);
/* A notification packet of others' firmware: duplicates, delivery, ack. */
void exanet_receiver_notification(ExanetState *s, const ExanetPacket *pkt);
/* The source gave a block up: its context goes, unless it is for a newer copy. */
void exanet_receiver_release(ExanetState *s, const ExanetPacket *pkt);
/* HELLO told that the node at @src has a new epoch: forget what it sent before. */
void exanet_receiver_new_epoch(ExanetState *s, uint32_t src, uint8_t epoch);
/*
 * Returns true if the node at @coord has lately sent packets through switches; stores its
 * epoch in *@epoch.
 */
bool exanet_receiver_elsewhere(ExanetState *s, uint32_t coord, uint8_t *epoch);
/* Forgets nodes that have long been silent; the caller calls this periodically. */
void exanet_receiver_sweep(ExanetState *s);
/* Drops blocks for context @c that are not complete: its memory goes. */
void exanet_receiver_forget(ExanetState *s, unsigned c);
/* The driver resolved a destination fault: tell the source (code 7 or 4). */
void exanet_receiver_resolved(ExanetState *s, const ExanetPendingFault *f,
                              bool ok);
/* Debug windows, @addr from the start of the block, 8-byte aligned. */
uint64_t exanet_receiver_debug_read(ExanetState *s, hwaddr addr);
uint64_t exanet_receiver_tomb_read(ExanetState *s, hwaddr addr);

/* --- Crossbar: crossbar.c; its ways and turns: switch.c ------------------- */

/* Where a packet goes next: a virtual channel of a port, or one of these. */
#define EXANET_ROUTE_LOCAL (-1)
#define EXANET_ROUTE_NONE  (-2)
#define EXANET_ROUTE_UNKNOWN (-3)   /* of exanet_crossbar_resume() alone */
#define EXANET_ROUTE(port, vc) ((int)((port) * EXANET_VCS + (vc)))
#define EXANET_ROUTE_PORT(route) ((unsigned)(route) / EXANET_VCS)
#define EXANET_ROUTE_VC(route) ((unsigned)(route) % EXANET_VCS)

/*
 * Beside the path of a packet: all such packets for a node take the same one of several
 * ports, where the switch would else choose for each.
 */
#define EXANET_PATH_STEADY EXANET_PATHS
/* The way of a packet of this node to node @dst; @path: EXANET_PATH_. */
int exanet_crossbar_route(ExanetState *s, uint32_t dst, unsigned path);
/*
 * How many paths to @dst differ by now: paths 0 to this - 1 of EXANET_PATH_CABLE, and
 * again as many with PATH_ORDER if *order; 0 when there is no way.
 */
unsigned exanet_crossbar_paths(ExanetState *s, uint32_t dst, bool *order);
/* Number @n of the paths that exanet_crossbar_paths() told, counted round. */
static inline unsigned exanet_path_nth(unsigned cables, bool order, unsigned n)
{
    n %= order ? 2 * cables : cables;
    return n < cables ? n : (n - cables) | EXANET_PATH_ORDER;
}
/*
 * Whether a full packet can be taken for @route now.  NONE is always ready: the
 * packet is dropped and counted.  Once it was false, exanet_schedule() is called when
 * it has become true.
 */
bool exanet_crossbar_ready(ExanetState *s, int route);
/*
 * Room for one packet of EXANET_PACKET_BYTES on a route that is ready; the caller
 * fills it and commits, or leaves it.
 */
uint8_t *exanet_crossbar_begin(ExanetState *s, int route);
/* Sends the @words words that were put where exanet_crossbar_begin() pointed. */
void exanet_crossbar_commit(ExanetState *s, int route, unsigned words);
/*
 * Sends a response (ack, or notification packet): never blocks, goes ahead of
 * data.  @words words at @buf are copied.
 */
void exanet_crossbar_respond(ExanetState *s, uint32_t dst, const uint8_t *buf,
                             unsigned words);
/*
 * Takes the packet of @words words at @buf that came in by channel @vc of @from:
 * hands it to the unit it is for, passes it on, or drops and counts it.  False: its
 * way is not open now; exanet_schedule() is called when it is, offer it again then.
 * The packet may be changed.
 */
bool exanet_crossbar_take(ExanetState *s, ExanetPort *from, unsigned vc,
                          uint8_t *buf, unsigned words);
/*
 * The same for a packet that has waited in a queue for @route; UNKNOWN: by now its way
 * may be another one.
 */
bool exanet_crossbar_resume(ExanetPort *from, unsigned vc, int route,
                            uint8_t *buf, unsigned words);
/* Gives to the cables what the units have sent. */
void exanet_crossbar_flush(ExanetState *s);
/*
 * Sends an ack: @ack has @dst, @small, @pdid (the context), @tid, @seq, @resp and
 * @epoch, that of the packet that is answered.
 */
void exanet_ack_send(ExanetState *s, const ExanetPacket *ack);

/* The way to a node, as it was looked up last. */
typedef struct ExanetWay {
    uint32_t key;                   /* destination, path */
    uint32_t stamp;                 /* valid while equal to the switch's */
    int route;                      /* of a packet of this node */
    unsigned cables;                /* ports that lead there as well */
    ExanetHop hop;                  /* AUTO: no link of the network */
    bool exact;                     /* to a peer with the same upper bits */
    ExanetArithWay arith;           /* where ARITH_MODE is not OFF */
} ExanetWay;

/* Whether packets of a node may come by a port. */
typedef struct ExanetSourceCheck {
    uint64_t key;                   /* destination, source, port, order */
    uint32_t stamp;
    bool ok;
} ExanetSourceCheck;

/* Whose turn it is at an output; inputs as bits, see switch.c. */
typedef struct ExanetTurn {
    uint64_t waiting;               /* refused in this round ... */
    uint64_t before;                /* ... and in the one before it */
    uint32_t round;
    uint8_t holder;                 /* input that was served last */
    uint8_t used;                   /* packets that it has had in a row */
} ExanetTurn;

/* Inputs of the crossbar: each virtual channel of a port, and this node. */
#define EXANET_INPUT(port, vc) ((port) * EXANET_VCS + (vc))
#define EXANET_INPUT_NI EXANET_INPUT(EXANET_LINKS, 0)
#define EXANET_SWITCH_INPUTS (EXANET_INPUT_NI + 1)
#define EXANET_SWITCH_WAYS 256
#define EXANET_SWITCH_SOURCES 256

/* Counters of the router in F1, in the order of their registers. */
enum exanet_switch_counter {
    EXANET_SWITCH_LOCAL,            /* ... LOCAL3: by where packets entered */
    EXANET_SWITCH_LOCAL_OUT = 4,
    EXANET_SWITCH_TRANSIT,
    EXANET_SWITCH_COUNTERS,
};

typedef struct ExanetSwitch {
    ExanetRouteConfig config;
    uint32_t stamp;                 /* of valid ways and checks */
    uint32_t round;                 /* of the units */
    ExanetWay way[EXANET_SWITCH_WAYS];
    ExanetSourceCheck source[EXANET_SWITCH_SOURCES];
    ExanetTurn turn[EXANET_LINKS * EXANET_VCS];     /* by route */
    uint64_t ni_map[EXANET_NI_INDICES];
    uint64_t counter[EXANET_SWITCH_COUNTERS];
    enum exanet_arith_mode arith;   /* ARITH_MODE */
    enum exanet_arith_mode initial; /* property router */
    ExanetArithTable *table;        /* property routes, owned; NULL: none */
    uint64_t hol;                   /* ARITH_HOL */
} ExanetSwitch;

void exanet_switch_reset(ExanetState *s);
/* Coordinates of this node or registers of the switch have changed. */
void exanet_switch_configure(ExanetState *s);
/* @p went up or down, has another peer, or another role by PORT_CTRL. */
void exanet_switch_port_changed(ExanetState *s, ExanetPort *p);
/*
 * Returns true if the node at @coord may be the peer of @p.  The node must be a
 * neighbour in the network; if no other cable belongs to a network, any node may be the
 * peer.
 */
bool exanet_switch_neighbour(ExanetPort *p, uint32_t coord);
/* Returns true if the node at @coord is a neighbour in this node's torus or QFDB. */
bool exanet_switch_near(ExanetState *s, uint32_t coord);
/* The way to @dst by @path; valid until the next call. */
const ExanetWay *exanet_switch_way(ExanetState *s, uint32_t dst, unsigned path);
/* The way of a packet for another node that came by channel @vc of @from. */
int exanet_switch_transit(ExanetState *s, ExanetPort *from, unsigned vc,
                          uint32_t dst, unsigned path);
/* Whether a packet of @src for @dst can have come by @from. */
bool exanet_switch_source_ok(ExanetState *s, ExanetPort *from, uint32_t src,
                             uint32_t dst, unsigned path);
/*
 * Whether a switch on the way of our packets to @dst, or @dst, can send us a packet by
 * @from: only these have a say in how fast we send there.
 */
bool exanet_switch_teller_ok(ExanetState *s, ExanetPort *from, uint32_t dst);
/*
 * Whether @input may send a packet to the port of @route now.  If not, it is to ask in
 * each round of the units; exanet_schedule() is called as for crossbar_ready.
 */
bool exanet_switch_ready(ExanetState *s, int route, unsigned input);
/* It was ready, and @input has sent. */
void exanet_switch_served(ExanetState *s, int route, unsigned input);
void exanet_switch_reg_sync(ExanetState *s);
void exanet_switch_reg_written(ExanetState *s, unsigned reg);
/* The NI map; @addr from the start of the block. */
uint64_t exanet_switch_ni_map_read(ExanetState *s, hwaddr addr);
void exanet_switch_ni_map_write(ExanetState *s, hwaddr addr, uint64_t value,
                                unsigned size);

/* --- Congestion management: flow.c ---------------------------------------- */

typedef struct ExanetFlowUnit ExanetFlowUnit;

void exanet_flow_init(ExanetState *s);
void exanet_flow_fini(ExanetState *s);
void exanet_flow_reset(ExanetState *s);
/*
 * At an output with a RATE: the packet of @words words at @buf goes into the queue of
 * @p.  Sources that fill it faster than it drains are told so.
 */
static inline void exanet_flow_queued(ExanetState *s, ExanetPort *p,
                                      const uint8_t *buf, unsigned words);
/* At a source: a flow-rate packet arrived. */
void exanet_flow_receive(ExanetState *s, const ExanetPacket *pkt);
/*
 * At a source: whether the next packet of data for @dst may leave now.  If not,
 * exanet_schedule() is called when it may.
 */
static inline bool exanet_flow_may_send(ExanetState *s, uint32_t dst);
/* At a source: @words words of data for @dst have left. */
static inline void exanet_flow_sent(ExanetState *s, uint32_t dst,
                                    unsigned words);
/* At a source: whether data for @dst is paced now. */
static inline bool exanet_flow_paced(ExanetState *s, uint32_t dst);
void exanet_flow_reg_sync(ExanetState *s);
/* The same, where there is something to be paced or an output with a RATE. */
bool exanet_flow_paced_dst(ExanetState *s, uint32_t dst);
bool exanet_flow_paced_may_send(ExanetState *s, uint32_t dst);
void exanet_flow_paced_sent(ExanetState *s, uint32_t dst, unsigned words);
void exanet_flow_output(ExanetState *s, ExanetPort *p, const uint8_t *buf,
                        unsigned words);

/* --- Interrupts: irq.c ----------------------------------------------------- */

/*
 * Sets cause bits (EXANET_IRQ_).  The interrupts, if they are enabled, are sent at the
 * end of the MMIO write or of the work.  A caller outside of both calls
 * exanet_schedule() too.
 */
void exanet_irq_raise(ExanetState *s, uint32_t cause);
/* Sets MBOX_PENDING[@c] and raises the context's interrupt. */
void exanet_irq_context(ExanetState *s, unsigned c);
/* Raises the interrupts that were pending while the causes @newly were masked. */
void exanet_irq_unmasked(ExanetState *s, uint32_t newly);
/* Returns true if exanet_irq_flush() has interrupts to send. */
bool exanet_irq_due(ExanetState *s);
/*
 * Sends the interrupts.  The caller calls this function last, when no unit is at work,
 * because the guest may aim a message at a register that resets, moves or unplugs this
 * very device.
 */
void exanet_irq_flush(ExanetState *s);

/* --- QOM properties: qom.c ------------------------------------------------- */

/*
 * Adds faultsN and, to be looked at, `node`, `links`, `contexts`, `transfers`,
 * `rx-contexts` and `counters` to @klass, whose objects have the state that @state
 * gives.
 */
void exanet_qom_class_init(ObjectClass *klass,
                           ExanetState *(*state)(Object *obj));
/* query-stats: the device is one of those that have been built: stats.c. */
void exanet_stats_add(ExanetState *s);
void exanet_stats_remove(ExanetState *s);
/* The transfers that are under way, as a new list: firmware-qom.c. */
QList *exanet_firmware_transfers(ExanetState *s);

/* --- The device: exanet.c ----------------------------------------------- */

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
    ExanetSwitch sw;
    ExanetFlowUnit *flow;
    unsigned flows_paced;           /* destinations */
    ExanetShm *shm;                 /* see shm.h */
    ExanetPort port[EXANET_LINKS];
    unsigned links;                 /* up to the last one that exists */
    uint8_t local[EXANET_PACKET_BYTES];     /* a packet to this node */
};

#define exanet_count(s, name) ((void)(s)->counter[EXANET_CNT_##name]++)

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

/* --- Congestion management where there is none ------------------------------ */

static inline void exanet_flow_queued(ExanetState *s, ExanetPort *p,
                                      const uint8_t *buf, unsigned words)
{
    if (unlikely(p->rate)) {
        exanet_flow_output(s, p, buf, words);
    }
}

static inline bool exanet_flow_paced(ExanetState *s, uint32_t dst)
{
    return unlikely(s->flows_paced) && exanet_flow_paced_dst(s, dst);
}

static inline bool exanet_flow_may_send(ExanetState *s, uint32_t dst)
{
    return likely(!s->flows_paced) || exanet_flow_paced_may_send(s, dst);
}

static inline void exanet_flow_sent(ExanetState *s, uint32_t dst,
                                    unsigned words)
{
    if (unlikely(s->flows_paced)) {
        exanet_flow_paced_sent(s, dst, words);
    }
}

#endif /* HW_EXANET_H */
