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

/* Maximal number of waiting read requests for the data of one context. */
#define FW_QUEUE 256
#define FW_REPORTS 256              /* maximal number of reports that await an answer */
#define FW_PEER_SLOTS 1024
#define FW_GENERATIONS 16
#define FW_TIDS (EXANET_TIDS / EXANET_CONTEXTS)     /* number of TIDs of a context */
#define FW_NEVER INT64_MAX
#define FW_NONE 0xffff              /* no TID */
/*
 * A sequence number that no block has.  Acks carry 12 bits, and blocks use smaller
 * numbers.
 */
#define FW_SEQ_NO_BLOCK ((1u << EXANET_ACK_SEQ_BITS) - 1)
#define FW_SEQ_MAX (FW_SEQ_NO_BLOCK - 1)

typedef enum FwState {
    FW_FREE = 0,
    FW_SENT,                        /* the last copy was passed to ExaDMA */
    /* ExaDMA has stopped the block; @errors of ExanetFirmware has the TID. */
    FW_STOPPED,
    /* The block waits for its deadline, or until its page fault is resolved. */
    FW_HOLD,
} FwState;

/*
 * Record of one TID and one peer.  fw_gen_step() and exanet_fw_record_begin() compute
 * generation and first sequence number of the next block from this record.
 */
typedef struct FwTidRecord {
    int64_t used;                   /* ns, time when the last block ended */
    /*
     * Not 0: the next block keeps generation @gen and begins with this sequence number,
     * unless fw_gen_taken() forbids @gen.  0: the next block has a new generation and
     * begins with sequence number 0.
     */
    uint16_t seq;
    uint8_t gen;                    /* of the last block; at first: FwPeer.first_gen */
    /*
     * Number of new generations since the last generation that the peer has acked.  If
     * the peer has answered a block of @gen, but with no ack, the number is at most 1.
     * exanet_fw_record_usable() may set 0 after a pause of FW_RECEIVER_AGE_NS.
     */
    uint8_t behind;
    /*
     * 1 plus the number of new generations since the last generation of which a copy may
     * still arrive.  0: no copy of an ended block may still arrive.
     */
    uint8_t strays;
} FwTidRecord;

/* The blocks on one path to a peer. */
typedef struct FwPath {
    int64_t last_ack;               /* ns, time of the last ack on this path */
    uint64_t acked;                 /* highest FwBlock.order of an acked block */
    uint32_t bytes;                 /* bytes of the blocks under way */
} FwPath;

/* A node to which a context sends. */
typedef struct FwPeer {
    int64_t used;                   /* ns, time of the last use */
    ExanetRtt rtt;
    uint32_t coord;
    uint32_t blocks;                /* number of blocks under way */
    uint8_t next_path;              /* next path in turn, argument of fw_path_nth() */
    uint8_t shorter;                /* halvings of the block length, fw_block_length() */
    /* successive blocks acked without another copy, modulo FW_BLOCK_CLEAN */
    uint8_t clean;
    bool routed;                    /* a block that has ended had a route to the peer */
    bool answered;                  /* the peer has answered a block at least once */
    uint8_t first_gen;              /* generation before that of each TID's first block */
    uint16_t job;                   /* job that has this entry in its quota */
    FwPath path[EXANET_PATHS];
    FwTidRecord tid[FW_TIDS];       /* records of the context's TIDs */
} FwPeer;

/*
 * Numbers of paths to a peer, both 0 if there is no route.  The first @cables paths have
 * no EXANET_PATH_ORDER.
 */
typedef struct FwPaths {
    unsigned cables;                /* number of useful values of EXANET_PATH_CABLE */
    unsigned count;                 /* number of all paths */
} FwPaths;

typedef struct FwBlock {
    FwPeer *peer;                   /* destination of the block; NULL: FW_FREE */
    uint64_t src;                   /* address at the source, 64 bits */
    uint64_t dst;                   /* address at the destination, a GVA */
    uint64_t order;                 /* ExanetFirmware.order at the last copy */
    int64_t sent;                   /* ns, begin of the round trip of the first copy */
    /* bits SENT and DONE of W3 at the last timeout at which ExaDMA had the copy */
    uint64_t progress;
    uint16_t len;                   /* bytes; not 0 after the first use of the TID */
    uint16_t transfer;              /* index in ExanetFirmware.transfer */
    uint16_t seq;                   /* sequence number of the last copy */
    uint16_t first_seq;             /* sequence number of the first copy */
    uint16_t retries;               /* losses that fw_may_retry() counted, saturating */
    uint16_t stalled;               /* losses since @progress_acked changed last */
    uint32_t progress_acked;        /* FwTransfer.acked at the last loss */
    uint32_t backoffs;              /* number of back-offs, at most FW_PF_RETRY_MAX */
    uint16_t next;                  /* TID of the successor in a chain, or FW_NONE */
    /*
     * TID of the predecessor in a chain, or FW_NONE.  Not valid if @next of the
     * predecessor is not the TID of this block.
     */
    uint16_t prev;
    uint8_t gen;                    /* generation */
    uint8_t shorter;                /* FwPeer.shorter when the block was made */
    uint8_t path;                   /* path of the last copy, EXANET_PATH_ */
    uint8_t state;                  /* FwState */
    /* a route existed when a copy was sent or the block ended */
    bool routed;
    /* packets of an earlier copy were built, or a control packet was queued */
    bool left;
    bool measured;                  /* the round trip was measured */
    bool acked;
    bool nacked;                    /* a response says that no copy can succeed */
    bool gen_known;                 /* a response shows that the receiver recorded @gen */
    bool maybe_done;                /* the block may be complete although no ack came */
    uint8_t error;                  /* FW_STOPPED: the error, enum exanet_resp */
    bool reported;                  /* FW_STOPPED: the driver will write RESOLVE */
    bool source;                    /* FW_HOLD: RESOLVE of a source fault ends the wait */
    bool notify;                    /* the last block of a transfer with notification */
    bool control;                   /* this and later copies have a control packet */
    bool control_due;               /* the control packet waits for room in its queue */
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
    uint32_t token;                 /* number from the user or the requester, for DONE */
    uint16_t src_pdid;
    uint16_t dst_pdid;
    uint16_t handle;                /* number that the notification carries */
    uint16_t retries;               /* copies after the first of each block, saturating */
    uint16_t inflight;              /* number of blocks under way */
    /* TID of the block with the notification; FW_NONE: there is no such block now */
    uint16_t last;
    uint8_t ctx;
    uint8_t channel;
    uint8_t path;                   /* path that the user requested; of a read: 0 */
    uint8_t priority;
    bool multipath;                 /* the firmware may choose the path of each block */
    bool notify;                    /* the last block carries a notification */
    bool notify_irq;                /* the notification raises an interrupt at its node */
    bool irq_done;                  /* the end raises an interrupt at this node */
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
    uint16_t number;                /* TID and GEN on the wire */
    uint16_t pdid;                  /* PDID of the reader */
    uint16_t retries;               /* copies that report_retry() has sent */
    uint16_t newer;                 /* newer reports to the same reader */
    bool used;
    bool hold;                      /* report_defer() has set @deadline */
} FwReport;

/* A FIFO of TIDs, with room for all TIDs. */
typedef struct FwTids {
    uint16_t tid[EXANET_TIDS];
    RNicFifo fifo;
} FwTids;

/* Read requests that wait for a channel. */
typedef struct FwQueue {
    struct exanet_read_req req[FW_QUEUE];
    RNicFifo fifo;
} FwQueue;

struct ExanetFirmware {
    ExanetState *s;
    RNicDeadline timer;             /* for @next */

    /* Registers, see fw_config_load() in firmware.c. */
    uint32_t window;                /* limit of blocks of a transfer under way */
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

    int64_t deadline[EXANET_TIDS];  /* ns; FW_NEVER: none */
    FwBlock block[EXANET_TIDS];
    uint64_t order;                 /* number of copies of all blocks so far */
    ExanetRtt rtt;                      /* round trips of all peers */
    GHashTable *peers[EXANET_CONTEXTS];     /* coordinates -> FwPeer, owned */
    ExanetJobQuota peers_held[EXANET_CONTEXTS]; /* entries of @peers, by job */
    /* FwPeer.first_gen of new peers, by hash of the coordinates. */
    uint8_t peers_gen[EXANET_CONTEXTS][FW_PEER_SLOTS];
    FwPeer *recent[EXANET_CONTEXTS];     /* last peer of exanet_fw_peer(), or NULL */
    bool control_queued[EXANET_TIDS];       /* the TID is in @controls */
    /* Free TIDs of each context.  Context c has the FW_TIDS TIDs from c * FW_TIDS on. */
    FwTids free[EXANET_CONTEXTS];
    FwTids errors;                  /* TIDs of blocks that ExaDMA has stopped */
    /*
     * TIDs whose control packet waits for room in ExaDMA's queue.  If the block of a TID
     * ends or is sent again meanwhile, fw_controls_flush() removes the TID later.
     */
    FwTids controls;

    FwTransfer transfer[EXANET_CONTEXTS * EXANET_CHANNELS];
    /* Channels in use, one bit for each. */
    uint64_t active[EXANET_CONTEXTS];
    /* Channels in use for which FW_WINDOW permits another block, one bit for each. */
    uint64_t runnable[EXANET_CONTEXTS];
    uint16_t runnable_ctx;                  /* contexts with bits in @runnable */
    uint16_t tids[EXANET_CONTEXTS];         /* number of TIDs in use */
    uint16_t no_tid;                /* contexts skipped for the rest of the run, bits */
    unsigned last_ctx;                      /* context that fw_pick() chose last */
    unsigned last_channel[EXANET_CONTEXTS]; /* channel that fw_pick() chose last */
    FwQueue queue[EXANET_CONTEXTS];         /* by context that owns the data */
    FwReport report[FW_REPORTS];
    unsigned reports;                       /* number of reports so far */
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

/* --- firmware.c ------------------------------------------------------------ */

/*
 * Writes @state, @code, and the retries and acked bytes of @t to STATUS of the channel of
 * @t.  @code: enum exanet_resp or exanet_channel_error; 0: no error.
 */
void exanet_fw_status(ExanetState *s, const FwTransfer *t,
                      enum exanet_channel_state state, unsigned code);
/*
 * Sets the bit of @t in @runnable, and wakes the unit, if @t is active, has bytes that
 * are not in blocks yet, and FW_WINDOW permits another block.  Otherwise clears the bit.
 */
void exanet_fw_runnable(ExanetFirmware *fw, const FwTransfer *t);
/*
 * Ends @t with @code (0: all bytes are acked), frees the blocks and the channel of @t,
 * and publishes the end by fw_transfer_end().  If @t is a read, starts or refuses waiting
 * read requests for data of the same context.
 */
void exanet_fw_transfer_finish(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned code);

/* --- firmware/block.c ------------------------------------------------------- */

/*
 * Sets @now of @fw, empties ExaDMA's list of stopped transactions, and wakes the unit.
 * A function that other units call and that changes blocks calls exanet_fw_enter() first.
 */
void exanet_fw_enter(ExanetState *s, ExanetFirmware *fw);
/*
 * Starts the next block of @t.  With FW_CHAIN, starts up to @max blocks (@max > 0), but
 * at most FW_CHAIN_MAX, as one chain for each path.  Starts fewer blocks if FW_WINDOW or
 * the usable TIDs permit only fewer.  Returns the number of started blocks.  If the table
 * of peers has no room, fails @t with RETRY_LIMIT and returns 0.
 */
unsigned exanet_fw_issue(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                         unsigned max);
/*
 * Removes the block of @tid from ExaDMA and from the transfer, and frees @tid.  Sends
 * RELEASE to the receiver if the block was not acked, packets of the block may have left,
 * and a route existed.  Sends no RELEASE in the published protocol.
 */
void exanet_fw_block_free(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/*
 * Handles @word, an EXANET_RT_ word of the response FIFO, for a block or a report.
 * Counts in ACK_STALE a response for which no block and no report waits.  @word does not
 * name the node that sent the response.
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
/* Ends a run: sends the waiting control packets that have room, and arms the timer. */
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
 * *@paths.  Adds a new peer to the table of the context.  Returns NULL if the table has
 * no room for another peer of the context's job.
 */
FwPeer *exanet_fw_peer(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                       FwPaths *paths);
/* Returns true if the next block of @tid may be a block to @peer now. */
bool exanet_fw_record_usable(ExanetFirmware *fw, FwPeer *peer, unsigned tid);
/*
 * Sets the path, generation and first sequence number of @b, the next block of @t, and
 * counts @b in its peer.  FW_MULTIPATH determines the path.  The caller has set the peer
 * and the length of @b, and exanet_fw_record_usable() has returned true for @tid.
 * fw->block[tid] must still be the last block of @tid.
 */
void exanet_fw_record_begin(const ExanetFirmware *fw, const FwTransfer *t,
                            const FwPaths *paths, FwBlock *b, unsigned tid);
/*
 * Records the end of @b, the block of @tid.  @maybe_done: the receiver may have completed
 * the block although @b was not acked.  If @b was not acked and @maybe_done is false, the
 * next block may keep the generation, with a sequence number that is higher by
 * EXANET_SEQ_GAP.
 */
void exanet_fw_record_end(ExanetFirmware *fw, FwBlock *b, unsigned tid,
                          bool maybe_done);
/*
 * Records an answer to copy @seq (12 bits) of the last block of @tid, which may have
 * ended.  The answer has the generation of this block, and a code for which
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
 * Returns 0 if the last copy of @b, whose timeout has passed, counts as lost.  Otherwise
 * returns the time, ns, until which the retransmission is deferred.  With FW_DYN_TIMEOUT,
 * a retransmission is deferred while acks of older copies arrive on the same path and no
 * ack of a newer copy has arrived, because the copy may still be in a queue.
 */
int64_t exanet_fw_retry_deferred(const ExanetFirmware *fw, const FwBlock *b);
/* Selects another path for the next copy of @b, if the peer of @b has several paths. */
void exanet_fw_path_next(ExanetState *s, FwBlock *b);

/* --- firmware/report.c -------------------------------------------------------- */

/*
 * Sends a report with @code of the failed read @t to the node that requested the read
 * [P §2.11].  The new report may replace an older report, see report_place().
 */
void exanet_fw_report(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                      unsigned code);
/*
 * Handles @word, a word of the response FIFO with the sequence number FW_SEQ_NO_BLOCK.
 * Counts the answer in ACK_STALE if no report with the number in its TID waits.
 */
void exanet_fw_report_answer(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/*
 * Sends another copy of each report whose deadline has passed, or frees the report after
 * FW_RETRY_MAX retries.  A copy after a back-off is no retry.  Lowers @fw->next to the
 * earliest deadline of a report, if that deadline is earlier.
 */
void exanet_fw_reports_due(ExanetState *s, ExanetFirmware *fw);

#endif /* HW_EXANET_FIRMWARE_INTERNAL_H */
