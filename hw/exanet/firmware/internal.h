/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the files of the firmware's model.  firmware.c has the transfers,
 * block.c the blocks of a transfer, peer.c the nodes to which blocks are sent, report.c
 * the reports of failed reads, and qom.c a list of transfers for QOM.
 */
#ifndef HW_EXANET_FIRMWARE_INTERNAL_H
#define HW_EXANET_FIRMWARE_INTERNAL_H

#include "../../core/deadline.h"
#include "../exanet.h"
#include "firmware.h"
#include "../engine/rtt.h"
#include "../engine/job-quota.h"

/* Maximal number of read requests in the queue of one context, which owns the data. */
#define FW_QUEUE 256
#define FW_REPORTS 256              /* maximal number of reports that await an answer */
#define FW_PEER_SLOTS 1024
#define FW_GENERATIONS 16
#define FW_TIDS (EXANET_TIDS / EXANET_CONTEXTS)     /* number of TIDs of a context */
#define FW_NEVER INT64_MAX
#define FW_NONE 0xffff              /* in a member for a TID: there is no TID */
/*
 * The sequence number of all reports, which no block has.  It is the largest number of
 * the 12 bits in an ack; the sequence numbers of blocks are smaller.
 */
#define FW_SEQ_NO_BLOCK ((1u << EXANET_ACK_SEQ_BITS) - 1)
#define FW_SEQ_MAX (FW_SEQ_NO_BLOCK - 1)

typedef enum FwState {
    FW_FREE = 0,
    FW_SENT,                        /* the last copy was passed to ExaDMA */
    /* ExaDMA has stopped the last copy; @errors of ExanetFirmware has the TID. */
    FW_STOPPED,
    /*
     * fw_hold() has stopped the last copy.  The firmware sends the next copy at the
     * deadline of the block, or earlier if an answer says that the page fault is
     * resolved.
     */
    FW_HOLD,
} FwState;

/*
 * Record of one TID and one peer.  From this record, fw_gen_step() and
 * exanet_fw_record_begin() compute the generation and the first sequence number of the
 * next block of this TID to this peer.
 */
typedef struct FwTidRecord {
    /* ns, time when the last block of the TID to the peer ended */
    int64_t used;
    /*
     * If not 0, the next block keeps generation @gen and begins with sequence number
     * @seq, unless fw_gen_taken() returns @gen.  In all other cases the next block has a
     * new generation and begins with sequence number 0.
     */
    uint16_t seq;
    /* generation of the last block; before the first block FwPeer.first_gen */
    uint8_t gen;
    /*
     * Distance of @gen from the last generation that the peer has surely recorded, or
     * from FwPeer.first_gen: 0 after an ack, at most 1 after a nack for which
     * fw_response_knows() is true.  exanet_fw_record_usable() may set @behind to 0 if
     * FW_RECEIVER_AGE_NS have passed since the end of the last block.
     */
    uint8_t behind;
    /*
     * 1 plus the distance of @gen from the last generation of which, as
     * exanet_fw_record_end() assumes, a delayed copy may still arrive.  0: there is no
     * such generation, or FW_STRAY_NS have passed since the end of the last block.
     */
    uint8_t strays;
} FwTidRecord;

/* The blocks on one path to a peer. */
typedef struct FwPath {
    int64_t last_ack;               /* ns, last end of a block by an ack on this path */
    uint64_t acked;                 /* highest FwBlock.order of these blocks */
    uint32_t bytes;                 /* bytes of the blocks under way on this path */
} FwPath;

/* A node to which a context sends. */
typedef struct FwPeer {
    int64_t used;                   /* ns, last exanet_fw_peer() or last end of a block */
    ExanetRtt rtt;
    uint32_t coord;
    uint32_t blocks;                /* number of blocks under way */
    uint8_t next_path;              /* argument of fw_path_nth() for the next block */
    /* number of halvings of the block length; see fw_block_length() */
    uint8_t shorter;
    /*
     * number of blocks whose first copy was acked, since the last loss or ack of another
     * copy, modulo FW_BLOCK_CLEAN
     */
    uint8_t clean;
    bool routed;                    /* a block that has ended had a route to the peer */
    bool answered;                  /* the peer has answered a block at least once */
    /* FwTidRecord.gen of all TIDs before their first block */
    uint8_t first_gen;
    uint16_t job;                   /* job in whose quota this peer counts */
    FwPath path[EXANET_PATHS];
    FwTidRecord tid[FW_TIDS];       /* record of each TID of the context */
} FwPeer;

/*
 * Numbers of paths to a peer; the two members are 0 if there is no route.  Of the paths
 * that fw_path_nth() counts, the first @cables have bit EXANET_PATH_ORDER clear.
 */
typedef struct FwPaths {
    unsigned cables;                /* number of useful values of EXANET_PATH_CABLE */
    unsigned count;                 /* number of all paths */
} FwPaths;

/* A copy of a block, as its packets describe the copy. */
typedef struct FwCopy {
    uint16_t seq;                   /* sequence number */
    uint8_t gen;                    /* generation of the block */
    uint8_t path;                   /* fields EXANET_PATH_* */
} FwCopy;

typedef struct FwBlock {
    FwPeer *peer;                   /* destination of the block; NULL in state FW_FREE */
    uint64_t src;                   /* address at the source, 64 bits */
    uint64_t dst;                   /* address at the destination, a GVA */
    uint64_t order;                 /* number of the last copy, by ExanetFirmware.order */
    int64_t sent;                   /* ns, begin of the round trip of the first copy */
    /*
     * fields SENT and DONE of W3 of the descriptor, when the last timeout found the last
     * copy in ExaDMA
     */
    uint64_t progress;
    uint16_t len;                   /* bytes of the block; 0: the TID was never used */
    uint16_t transfer;              /* index in ExanetFirmware.transfer */
    uint16_t seq;                   /* sequence number of the last copy */
    uint16_t first_seq;             /* sequence number of the first copy */
    uint16_t retries;               /* number of losses by fw_may_retry(), saturating */
    /* number of losses since the last change of @progress_acked */
    uint16_t stalled;
    uint32_t progress_acked;        /* FwTransfer.acked at the last loss */
    uint32_t backoffs;              /* number of back-offs, at most FW_PF_RETRY_MAX */
    uint16_t next;                  /* TID of the successor in a chain, or FW_NONE */
    /*
     * TID of the predecessor in a chain, or FW_NONE.  Not valid if @next of the
     * predecessor is not the TID of this block.
     */
    uint16_t prev;
    uint8_t gen;                    /* generation of the block */
    uint8_t shorter;                /* FwPeer.shorter when the block was made */
    uint8_t path;                   /* path of the last copy, fields EXANET_PATH_* */
    uint8_t state;                  /* FwState */
    /* a route existed when a copy was sent or the block ended */
    bool routed;
    /* ExaDMA has built packets of an earlier copy, or has taken a control packet */
    bool left;
    bool measured;                  /* fw_rtt_sample() has measured the round trip */
    bool acked;
    bool nacked;                    /* a response says that no copy can succeed */
    /* a response shows that the receiver has recorded @gen */
    bool gen_known;
    /*
     * a timeout or a CRC nack shows that the receiver may have completed the block
     * although no ack came
     */
    bool maybe_done;
    /* in FW_STOPPED: why ExaDMA has stopped the block, enum exanet_resp */
    uint8_t error;
    /* in FW_STOPPED: the driver will answer the page fault by RESOLVE */
    bool reported;
    /* in FW_HOLD: RESOLVE of a source fault ends the wait */
    bool source;
    bool notify;                    /* the last block of a transfer with notification */
    /* the last copy, if FW_SENT, and all later copies have a control packet */
    bool control;
    /* in FW_SENT: the control packet waits in @controls of ExanetFirmware */
    bool control_due;
} FwBlock;

typedef struct FwTransfer {
    uint64_t src;                   /* address at the source, 64 bits */
    uint64_t dst;                   /* address at the destination, a GVA */
    uint64_t notify_gva;            /* address of the notification */
    uint64_t notify_data;           /* data that the notification carries */
    int64_t start;                  /* ns, when the transfer began */
    uint32_t len;                   /* bytes of the transfer */
    uint32_t issued;                /* bytes that were cut into blocks */
    uint32_t acked;                 /* bytes of blocks that were acked */
    /* number that the user or the requester chose; copied to DONE of the channel */
    uint32_t token;
    uint16_t src_pdid;
    uint16_t dst_pdid;
    uint16_t handle;                /* number that the notification carries */
    /* number of retransmissions of all blocks, saturating */
    uint16_t retries;
    uint16_t inflight;              /* number of blocks under way */
    /* TID of the block with the notification; FW_NONE: there is no such block now */
    uint16_t last;
    uint8_t ctx;
    uint8_t channel;
    uint8_t path;                   /* path that the user requested; of a read: 0 */
    uint8_t priority;
    bool multipath;                 /* the user lets the firmware choose the paths */
    bool notify;                    /* the last block carries a notification */
    bool notify_irq;                /* the notification raises an interrupt at its node */
    /* the end of the transfer raises an interrupt at this node */
    bool irq_done;
} FwTransfer;

/*
 * A report: a notification that a read has failed, for the reader.  The reader is the
 * context of a node that has requested the read.
 */
typedef struct FwReport {
    int64_t deadline;               /* ns, when the report is sent again or dropped */
    uint64_t gva;                   /* address of the notification */
    struct exanet_notification note;
    uint32_t backoffs;              /* number of times that @hold was set */
    uint16_t number;                /* number of the report; TID and GEN of its packets */
    uint16_t pdid;                  /* PDID of the reader */
    uint16_t retries;               /* copies that report_retry() has sent */
    uint16_t newer;                 /* number of newer reports to the same reader */
    bool used;
    bool hold;                      /* report_defer() has set @deadline */
} FwReport;

/* A FIFO of TIDs, with room for all TIDs. */
typedef struct FwTids {
    uint16_t tid[EXANET_TIDS];
    RNicFifo fifo;
} FwTids;

/* Read requests for data of one context that wait for a free read channel. */
typedef struct FwQueue {
    struct exanet_read_req req[FW_QUEUE];
    RNicFifo fifo;
} FwQueue;

struct ExanetFirmware {
    ExanetState *s;
    RNicDeadline timer;             /* timer for the time @next */

    /* Registers, see fw_config_load() in firmware.c. */
    uint32_t window;                /* maximal number of blocks under way of a transfer */
    uint32_t block_bytes;           /* maximal length of a block, bytes */
    uint32_t retry_max;
    uint32_t pf_retry_max;
    int64_t timeout;                /* ns, least result of fw_timeout_ns() */
    int64_t backoff;                /* ns, first back-off */
    enum exanet_fw_policy policy;
    enum exanet_fw_multipath multipath;
    bool chain;                     /* exanet_fw_issue() starts chains of blocks */
    bool dynamic;                   /* timeouts depend on round trips */

    int64_t now;                    /* ns, virtual time of the last exanet_fw_enter() */
    int64_t next;                   /* ns, no later than the earliest deadline */
    bool expired;                   /* exanet_fw_timeouts() must check all deadlines */

    int64_t deadline[EXANET_TIDS];  /* ns, deadline of each TID; FW_NEVER: none */
    FwBlock block[EXANET_TIDS];
    uint64_t order;                 /* number of copies of all blocks so far */
    ExanetRtt rtt;                      /* round trips of all peers */
    GHashTable *peers[EXANET_CONTEXTS];     /* FwPeer by coordinates, owned */
    ExanetJobQuota peers_held[EXANET_CONTEXTS]; /* entries of @peers, by job */
    /* FwPeer.first_gen of new peers, by hash of the coordinates. */
    uint8_t peers_gen[EXANET_CONTEXTS][FW_PEER_SLOTS];
    FwPeer *recent[EXANET_CONTEXTS];     /* last result of exanet_fw_peer(), or NULL */
    bool control_queued[EXANET_TIDS];       /* the TID is in @controls */
    /* Free TIDs of each context.  Context c has the FW_TIDS TIDs from c * FW_TIDS on. */
    FwTids free[EXANET_CONTEXTS];
    /* TIDs of blocks that ExaDMA has stopped, for exanet_fw_stopped() */
    FwTids errors;
    /*
     * TIDs whose control packet waits for room in ExaDMA's queue, or behind other TIDs of
     * @controls.  If the block of a TID ends or is not FW_SENT any more,
     * fw_controls_flush() later removes the TID without a packet.
     */
    FwTids controls;

    FwTransfer transfer[EXANET_CONTEXTS * EXANET_CHANNELS];
    /*
     * Channels of each context that have an unfinished transfer, one bit for each
     * channel.
     */
    uint64_t active[EXANET_CONTEXTS];
    /*
     * Channels of each context whose transfer has bytes that are not in blocks yet, and
     * for which FW_WINDOW permits another block; one bit for each channel.
     */
    uint64_t runnable[EXANET_CONTEXTS];
    /* contexts with bits in @runnable, one bit for each */
    uint16_t runnable_ctx;
    uint16_t tids[EXANET_CONTEXTS];         /* number of TIDs in use, by context */
    /* contexts that fw_pick() skips until the end of the run, one bit for each */
    uint16_t no_tid;
    unsigned last_ctx;                      /* context that fw_pick() chose last */
    unsigned last_channel[EXANET_CONTEXTS]; /* channel that fw_pick() chose last */
    /* waiting read requests, by the context that owns the data */
    FwQueue queue[EXANET_CONTEXTS];
    FwReport report[FW_REPORTS];
    /* number of reports that exanet_fw_report() has sent so far */
    unsigned reports;
};

/* Adds @tid at the end of @q, which has room. */
static inline void fw_push(FwTids *q, unsigned tid)
{
    q->tid[rnic_fifo_push(&q->fifo, EXANET_TIDS)] = tid;
}

/* Removes and returns the oldest TID of @q, which must not be empty. */
static inline unsigned fw_pop(FwTids *q)
{
    return q->tid[rnic_fifo_pop(&q->fifo, EXANET_TIDS)];
}

/* Returns the transfer of the last block of @tid. */
static inline FwTransfer *fw_transfer(ExanetFirmware *fw, unsigned tid)
{
    return &fw->transfer[fw->block[tid].transfer];
}

/*
 * Returns the timeout, ns, for an answer of @peer to the first copy of a block.
 * fw_deadline_answer() doubles the timeout for each loss, and limits the result.
 */
static inline int64_t fw_timeout_ns(const ExanetFirmware *fw, const FwPeer *peer)
{
    const ExanetRtt *rtt = peer->rtt.mean ? &peer->rtt : &fw->rtt;

    return !fw->dynamic ? fw->timeout :
           MAX(fw->timeout, exanet_rtt_timeout(rtt));
}

/* --- Transfers -------------------------------------------------------------- */

/*
 * Returns the address of the channel of @t in the scratchpad, which is little-endian RAM.
 */
static inline uint8_t *fw_channel(ExanetState *s, const FwTransfer *t)
{
    return exanet_user_page(s, t->ctx, EXANET_PAGE_SCRATCHPAD) +
           EXANET_CHANNEL_BYTES * t->channel;
}
/*
 * Writes @state, @code, and the retries and acked bytes of @t to STATUS of the channel of
 * @t.  @code: enum exanet_resp or exanet_channel_error; 0: no error.
 */
static inline void fw_status(ExanetState *s, const FwTransfer *t,
                             enum exanet_channel_state state, unsigned code)
{
    stq_le_p(fw_channel(s, t) + offsetof(struct exanet_channel, status),
             RNIC_PREP(EXANET_CHSTAT_STATE, state) |
             RNIC_PREP(EXANET_CHSTAT_ERROR, code) |
             RNIC_PREP(EXANET_CHSTAT_RETRIES, t->retries) |
             RNIC_PREP(EXANET_CHSTAT_ACKED, t->acked));
}
/*
 * Sets the bit of @t in @runnable, and wakes the firmware, if @t is active, has bytes
 * that are not in blocks yet, and FW_WINDOW permits another block.  Otherwise clears the
 * bit.
 */
static inline void fw_runnable(ExanetFirmware *fw, const FwTransfer *t)
{
    uint64_t bit = BIT_ULL(t->channel);

    if ((fw->active[t->ctx] & bit) && t->issued < t->len &&
        t->inflight < fw->window) {
        fw->runnable[t->ctx] |= bit;
        fw->runnable_ctx |= BIT(t->ctx);
        fw->s->awake |= EXANET_AWAKE_R5;
    } else {
        fw->runnable[t->ctx] &= ~bit;
        if (!fw->runnable[t->ctx]) {
            fw->runnable_ctx &= ~BIT(t->ctx);
        }
    }
}

/* --- firmware.c ------------------------------------------------------------ */

/*
 * Ends @t with @code (0: all bytes are acked), frees the blocks and the channel of @t,
 * and publishes the end by fw_transfer_end().  If @t is a read, starts or refuses waiting
 * read requests for data of the same context.
 */
void exanet_fw_transfer_finish(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned code);

/* --- firmware/block.c ------------------------------------------------------- */

/*
 * Sets @now of @fw, empties ExaDMA's list of stopped transactions by fw_stopped_take(),
 * and wakes the firmware.  A function that other units call and that changes blocks calls
 * exanet_fw_enter() first.
 */
void exanet_fw_enter(ExanetState *s, ExanetFirmware *fw);
/*
 * Starts the next block of @t.  With FW_CHAIN, starts up to @max blocks (@max > 0), but
 * at most FW_CHAIN_MAX, as one chain for each path.  Starts fewer blocks if FW_WINDOW,
 * the usable TIDs or the rest of @t permit only fewer.  Returns the number of started
 * blocks.  If the table of peers has no room, fails @t with RETRY_LIMIT and returns 0.
 */
unsigned exanet_fw_issue(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                         unsigned max);
/*
 * Removes the block of @tid from ExaDMA and from the transfer, and frees @tid.  Sends
 * RELEASE to the receiver if the block was not acked, packets of the block may have left,
 * and a route existed.  With CTRL_STRICT, sends no RELEASE.
 */
void exanet_fw_block_free(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/*
 * Handles @word, a word of the response FIFO (fields EXANET_RT_*), which answers a block
 * or a report.  Counts in ACK_STALE a response for which no block and no report waits.
 * @word does not name the node that sent the response.
 */
void exanet_fw_response(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/*
 * Handles the block of @tid, which ExaDMA has stopped.  If a source page is missing and
 * the context reports faults, schedules a retransmission after a back-off.  Otherwise, or
 * after FW_PF_RETRY_MAX back-offs of the block, fails the transfer.  Has no effect if the
 * block has ended.
 */
void exanet_fw_stopped(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/*
 * Handles all deadlines of blocks and reports that have passed, and computes @next of @fw
 * again.
 */
void exanet_fw_timeouts(ExanetState *s, ExanetFirmware *fw);
/*
 * Ends a run of the firmware: sends the waiting control packets for which ExaDMA's queues
 * have room, and arms the timer of @fw for @fw->next.
 */
void exanet_fw_leave(ExanetState *s, ExanetFirmware *fw);
/*
 * Arms the timer for @fw->next, unless @fw->next is FW_NEVER or the timer is armed for
 * that time or earlier.
 */
void exanet_fw_timer_update(ExanetFirmware *fw);
/*
 * Makes the next run handle deadlines, and schedules the run.  The timer of the firmware
 * calls this function.  @opaque: ExanetFirmware.
 */
void exanet_fw_timer_expired(void *opaque);

/* Implements ExanetUnit.resolved. */
bool exanet_fw_source_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);

/* --- firmware/peer.c --------------------------------------------------------- */

/*
 * Returns the peer to which @t sends, and stores the numbers of the peer's paths in
 * *@paths.  If the table of the context does not have this peer, adds the peer.  Returns
 * NULL if the table has no room for another peer of the context's job.
 */
FwPeer *exanet_fw_peer(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                       FwPaths *paths);
/* Returns true if the next block of @tid may be a block to @peer now. */
bool exanet_fw_record_usable(ExanetFirmware *fw, FwPeer *peer, unsigned tid);
/*
 * Returns the first copy of the next block of @t and of @tid, which has @len bytes: its
 * path (fw_path_first()), generation and sequence number.  Counts the block in @peer.
 * exanet_fw_record_usable() has returned true for @tid.  fw->block[tid] must still be the
 * last block of @tid, because the generation depends on it.
 */
FwCopy exanet_fw_record_begin(const ExanetFirmware *fw, const FwTransfer *t,
                              FwPeer *peer, const FwPaths *paths, unsigned tid,
                              uint32_t len);
/*
 * Records the end of @b, the block of @tid.  @maybe_done: the receiver may have completed
 * the block although @b was not acked.  If @b was not acked and @maybe_done is false, the
 * next block of @tid to the same peer may keep the generation of @b; its first sequence
 * number is then higher by EXANET_SEQ_GAP than the last one of @b.
 */
void exanet_fw_record_end(ExanetFirmware *fw, FwBlock *b, unsigned tid,
                          bool maybe_done);
/*
 * Records an answer to copy @seq (12 bits) of the last block of @tid.  This block may
 * have ended.  The answer has the generation of the block, and a code for which
 * fw_response_knows() is true.  @acked: the answer is an ack.
 */
void exanet_fw_record_answer(ExanetFirmware *fw, unsigned tid, unsigned seq, bool acked);
/* Returns the maximal length of the next block to @peer, bytes. */
uint32_t exanet_fw_block_bytes(const ExanetState *s, const ExanetFirmware *fw,
                               const FwPeer *peer);
/*
 * Records that the last copy of @b was lost or damaged, or met a page fault that the
 * receiver has resolved.  May halve the length of later blocks to the same peer.  The
 * caller has counted the loss by fw_may_retry().
 */
void exanet_fw_lost(const ExanetFirmware *fw, FwBlock *b);
/*
 * Returns the time, ns, until which the retransmission of @b, whose timeout has passed,
 * is deferred, or 0 if the retransmission is not deferred.  With FW_DYN_TIMEOUT, a
 * retransmission is deferred while acks of older copies arrive on the same path and no
 * ack of a newer copy has arrived, because the copy may still be in a queue.
 */
int64_t exanet_fw_retry_deferred(const ExanetFirmware *fw, const FwBlock *b);
/* Selects another path for the next copy of @b, if the peer of @b has several paths. */
void exanet_fw_path_next(ExanetState *s, FwBlock *b);

/* --- firmware/report.c -------------------------------------------------------- */

/*
 * Sends a report that read @t has failed with @code to the node that requested the read
 * [P §2.11].  The new report may replace an older report, see report_place().
 */
void exanet_fw_report(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                      unsigned code);
/*
 * Handles @word, a word of the response FIFO with the sequence number FW_SEQ_NO_BLOCK.
 * Counts the answer in ACK_STALE if no waiting report has the TID of @word as its number.
 */
void exanet_fw_report_answer(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/*
 * Sends another copy of each report whose deadline has passed, or frees the report after
 * FW_RETRY_MAX retries.  A copy after a back-off is no retry.  Lowers @fw->next to the
 * earliest deadline of a report, if that deadline is earlier.
 */
void exanet_fw_reports_due(ExanetState *s, ExanetFirmware *fw);

#endif /* HW_EXANET_FIRMWARE_INTERNAL_H */
