/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interface between the files of the firmware's model.  firmware.c has the transfers,
 * block.c the blocks of a transfer, peer.c the nodes to which blocks are sent, report.c
 * the reports of failed reads.  No other folder includes this header.
 *
 * Like the R5, the firmware knows time, descriptors and FIFO words.  Of QEMU it uses only
 * one timer.
 */
#ifndef HW_EXANET_FIRMWARE_INTERNAL_H
#define HW_EXANET_FIRMWARE_INTERNAL_H

#include "../../core/deadline.h"
#include "../exanet.h"
#include "firmware.h"
#include "../engine/rtt.h"
#include "../engine/job-quota.h"

/* Maximal number of waiting read requests of an owner. */
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
    FW_SENT,                        /* the ExaDMA or the receiver has the block */
    /* The ExaDMA has stopped the block, whose TID is in @errors. */
    FW_STOPPED,
    /* The block will be retransmitted at its deadline or after RESOLVED. */
    FW_HOLD,
} FwState;

/* State of a TID towards a peer: how far the receiver may remember the TID. */
typedef struct FwTidRecord {
    int64_t used;                   /* ns, end of the last block */
    /*
     * First sequence number of the next block, which has generation @gen; 0: the next
     * block takes a new generation.
     */
    uint16_t seq;
    uint8_t gen;                    /* generation of the last block */
    uint8_t behind;                 /* generations that the receiver may not know */
    /*
     * 1 plus the generations since the last block whose copies may still arrive; 0: no
     * copy of a block may still arrive.
     */
    uint8_t strays;
} FwTidRecord;

/* The blocks on one path to a peer. */
typedef struct FwPath {
    int64_t last_ack;               /* ns, time when the last ack arrived */
    uint64_t acked;                 /* highest FwBlock.order of an acked block */
    uint32_t bytes;                 /* bytes of the blocks under way */
} FwPath;

/* A node to which a context sends. */
typedef struct FwPeer {
    int64_t used;                   /* ns, time of the last use */
    ExanetRtt rtt;
    uint32_t coord;
    uint32_t blocks;                /* number of blocks under way */
    uint8_t next_path;              /* number of the path that the next block takes */
    uint8_t shorter;                /* maximal block length is FW_BLOCK >> @shorter */
    uint8_t clean;                  /* blocks acked in a row without another copy */
    bool routed;                    /* a route to the peer existed */
    bool answered;                  /* the peer has answered at least once */
    uint8_t first_gen;              /* generation before the first blocks */
    uint16_t job;                   /* job for which the entry counts in @peers_held */
    FwPath path[EXANET_PATHS];
    FwTidRecord tid[FW_TIDS];       /* records of the context's TIDs */
} FwPeer;

/*
 * Numbers of paths to a peer.  The first @cables paths have no EXANET_PATH_ORDER.
 */
typedef struct FwPaths {
    unsigned cables;
    unsigned count;                 /* number of all paths */
} FwPaths;

typedef struct FwBlock {
    FwPeer *peer;                   /* peer that gets the block; NULL: FW_FREE */
    uint64_t src;                   /* address at the source, 64 bits */
    uint64_t dst;                   /* address at the destination, a GVA */
    uint64_t order;                 /* number of the last copy among all copies */
    int64_t sent;                   /* ns, when the first copy was sent */
    uint64_t progress;              /* progress bits of W3 at the last deadline */
    uint16_t len;                   /* bytes; not 0 after the first use of the TID */
    uint16_t transfer;              /* index in ExanetFirmware.transfer */
    uint16_t seq;                   /* sequence number of the last copy */
    uint16_t first_seq;             /* sequence number of the first copy */
    uint16_t retries;               /* timeouts and CRC errors */
    uint16_t stalled;               /* @retries since @progress_acked changed last */
    uint32_t progress_acked;        /* FwTransfer.acked at the last loss */
    uint32_t backoffs;              /* back-offs that count for FW_PF_RETRY_MAX */
    uint16_t next;                  /* TID of the successor in a chain */
    uint16_t prev;                  /* TID of the predecessor, if its @next is this TID */
    uint8_t gen;
    uint8_t path;                   /* path of the last copy, EXANET_PATH_ */
    uint8_t state;                  /* FwState */
    bool routed;                    /* a route existed when a copy was sent */
    bool left;                      /* packets of earlier copies have left */
    bool measured;                  /* the round trip was measured */
    bool acked;
    bool nacked;                    /* the last copy was refused for good */
    bool gen_known;                 /* the receiver knows the generation */
    bool maybe_done;                /* an earlier copy may have completed the block */
    uint8_t error;                  /* error while FW_STOPPED, enum exanet_resp */
    bool reported;                  /* the driver will resolve the fault */
    bool source;                    /* FW_HOLD because of a fault of the source */
    bool notify;                    /* the last block, with a notification */
    bool control;                   /* each copy has a control packet */
    bool control_due;               /* the control packet waits for room */
} FwBlock;

typedef struct FwTransfer {
    uint64_t src;
    uint64_t dst;                   /* address at the destination, a GVA */
    uint64_t notify_gva;
    uint64_t notify_data;
    int64_t start;                  /* ns, when the transfer began */
    uint32_t len;                   /* bytes of the transfer */
    uint32_t issued;                /* bytes that were cut into blocks */
    uint32_t acked;                 /* bytes of blocks that were acked */
    uint32_t token;                 /* number that the user gave, for DONE */
    uint16_t src_pdid;
    uint16_t dst_pdid;
    uint16_t handle;                /* number that the notification carries */
    uint16_t retries;               /* copies after the first of each block, saturating */
    uint16_t inflight;              /* number of blocks under way */
    uint16_t last;                  /* TID of the block with the notification */
    uint8_t ctx;
    uint8_t channel;
    uint8_t path;                   /* path that the user requested */
    uint8_t priority;
    bool multipath;                 /* successive blocks take different paths */
    bool notify;                    /* the last block carries a notification */
    bool notify_irq;                /* the notification raises an interrupt at its node */
    bool irq_done;                  /* the end raises an interrupt at this node */
} FwTransfer;

/* A report, which announces to a reader that its read failed. */
typedef struct FwReport {
    int64_t deadline;               /* ns, when the report is sent again */
    uint64_t gva;                   /* address of the notification */
    struct exanet_notification note;
    uint32_t backoffs;              /* number of times that @hold was set */
    uint16_t number;                /* TID and GEN on the wire */
    uint16_t pdid;                  /* PDID of the reader */
    uint16_t retries;               /* copies after timeouts and CRC errors */
    uint16_t newer;                 /* newer reports to the same context */
    bool used;
    bool hold;                      /* the reader could not accept the report */
} FwReport;

/* A FIFO of TIDs, with room for all TIDs. */
typedef struct FwTids {
    uint16_t tid[EXANET_TIDS];
    RNicFifo fifo;
} FwTids;

typedef struct FwQueue {
    struct exanet_read_req req[FW_QUEUE];
    RNicFifo fifo;
} FwQueue;

struct ExanetFirmware {
    ExanetState *s;
    RNicDeadline timer;             /* for all blocks and reports */

    /* Registers, see fw_config_load() in firmware.c. */
    uint32_t window;
    uint32_t block_bytes;
    uint32_t retry_max;
    uint32_t pf_retry_max;
    int64_t timeout;                /* ns */
    int64_t backoff;                /* ns, first back-off */
    enum exanet_fw_policy policy;
    enum exanet_fw_multipath multipath;
    bool chain;
    bool dynamic;                   /* timeouts depend on round trips */

    int64_t now;                    /* ns, virtual time of exanet_fw_enter() */
    int64_t next;                   /* ns, no later than the earliest deadline */
    bool expired;                   /* the timer has fired */

    int64_t deadline[EXANET_TIDS];  /* ns; FW_NEVER: none */
    FwBlock block[EXANET_TIDS];
    uint64_t order;                 /* number of copies sent */
    ExanetRtt rtt;                      /* round trips of all peers */
    GHashTable *peers[EXANET_CONTEXTS];     /* coordinates -> FwPeer, owned */
    ExanetJobQuota peers_held[EXANET_CONTEXTS];
    /* First generations of new peers, by hash of the coordinates. */
    uint8_t peers_gen[EXANET_CONTEXTS][FW_PEER_SLOTS];
    FwPeer *recent[EXANET_CONTEXTS];        /* the peer that was found last, or NULL */
    bool control_queued[EXANET_TIDS];       /* the TID is in @controls */
    /* free TIDs of each context, which has TIDs of its own, FW_TIDS of them */
    FwTids free[EXANET_CONTEXTS];
    FwTids errors;                  /* TIDs of blocks that the ExaDMA has stopped */
    FwTids controls;                /* TIDs whose control packet waits for room */

    FwTransfer transfer[EXANET_CONTEXTS * EXANET_CHANNELS];
    uint64_t active[EXANET_CONTEXTS];       /* channels in use */
    uint64_t runnable[EXANET_CONTEXTS];     /* channels in use with blocks to start */
    uint16_t runnable_ctx;                  /* contexts with channels in @runnable */
    uint16_t tids[EXANET_CONTEXTS];         /* number of TIDs in use */
    uint16_t no_tid;                        /* contexts without a usable TID */
    unsigned last_ctx;                      /* context that started a block last */
    unsigned last_channel[EXANET_CONTEXTS]; /* channel that started a block last */
    FwQueue queue[EXANET_CONTEXTS];         /* read requests, by owner of the data */
    FwReport report[FW_REPORTS];
    unsigned reports;                       /* number of reports so far */
};

static inline void fw_push(FwTids *q, unsigned tid)
{
    q->tid[rnic_fifo_push(&q->fifo, EXANET_TIDS)] = tid;
}

static inline unsigned fw_pop(FwTids *q)
{
    return q->tid[rnic_fifo_pop(&q->fifo, EXANET_TIDS)];
}

static inline FwTransfer *fw_transfer(ExanetFirmware *fw, unsigned tid)
{
    return &fw->transfer[fw->block[tid].transfer];
}

/* Returns the timeout for an answer of @peer, ns, before it is doubled. */
static inline int64_t fw_timeout_ns(const ExanetFirmware *fw, const FwPeer *peer)
{
    const ExanetRtt *rtt = peer->rtt.mean ? &peer->rtt : &fw->rtt;

    return !fw->dynamic ? fw->timeout :
           MAX(fw->timeout, exanet_rtt_timeout(rtt));
}

/* --- firmware.c ------------------------------------------------------------ */

/* Writes @state, @code and progress of @t to STATUS of its channel. */
void exanet_fw_status(ExanetState *s, const FwTransfer *t,
                      enum exanet_channel_state state, unsigned code);
/* Sets or clears the bit of @t in @runnable: @t has blocks that may be started. */
void exanet_fw_runnable(ExanetFirmware *fw, const FwTransfer *t);
/*
 * Ends @t with @code (0: all bytes are acked), and frees its blocks and its channel.  A
 * read that waits for the channel begins.
 */
void exanet_fw_transfer_finish(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned code);

/* --- firmware/block.c ------------------------------------------------------- */

/*
 * Reads the clock and the list of stopped transactions.  Each function through which
 * other units enter the firmware calls this function before it uses blocks.
 */
void exanet_fw_enter(ExanetState *s, ExanetFirmware *fw);
/*
 * Starts the next block of @t, or a chain of up to @max blocks (@max > 0).  Returns the
 * number of blocks; 0: there is no usable TID, or @t has failed, because the table of
 * peers is full.
 */
unsigned exanet_fw_issue(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                         unsigned max);
/*
 * Removes the block of @tid from the ExaDMA and from its transfer, and frees @tid.  Sends
 * RELEASE to the receiver if the block was not acked but packets have left.
 */
void exanet_fw_block_free(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/* Handles @word of the response FIFO, which any node may have sent. */
void exanet_fw_response(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/* Handles a block that the ExaDMA has stopped. */
void exanet_fw_stopped(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/* Handles all deadlines of blocks and reports that have passed. */
void exanet_fw_timeouts(ExanetState *s, ExanetFirmware *fw);
/* Ends a run: sends control packets that waited for room, and arms the timer. */
void exanet_fw_leave(ExanetState *s, ExanetFirmware *fw);
/* Arms the timer for @fw->next. */
void exanet_fw_timer_update(ExanetFirmware *fw);
/* The timer's callback: makes the next run handle deadlines; @opaque: ExanetFirmware. */
void exanet_fw_timer_expired(void *opaque);

/* Implements ExanetUnit.resolved. */
bool exanet_fw_source_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);

/* --- firmware/peer.c --------------------------------------------------------- */

/*
 * Returns the peer that @t sends to, and the number of its paths, or NULL if the context
 * has too many peers.
 */
FwPeer *exanet_fw_peer(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                       FwPaths *paths);
/* Returns true if @tid may carry a block to @peer now. */
bool exanet_fw_record_usable(ExanetFirmware *fw, FwPeer *peer, unsigned tid);
/*
 * Sets path, by FW_MULTIPATH, generation and sequence of @b, the next block of @t by the
 * usable @tid.  The peer of @b is set.  fw->block[tid] must still be the last block.
 */
void exanet_fw_record_begin(const ExanetFirmware *fw, const FwTransfer *t,
                            const FwPaths *paths, FwBlock *b, unsigned tid);
/*
 * Records the end of @b, the block of @tid.  @maybe_done: the block may be complete
 * although it was not acked.  If the block is certainly not complete, the next block has
 * the same generation and a higher sequence number.
 */
void exanet_fw_record_end(ExanetFirmware *fw, FwBlock *b, unsigned tid,
                          bool maybe_done);
/*
 * Records an answer to copy @seq (12 bits) of the last block of @tid, by which the
 * receiver shows that it knows the generation.  @acked: the block is complete.
 */
void exanet_fw_record_answer(ExanetFirmware *fw, unsigned tid, unsigned seq, bool acked);
/* Returns the maximal length of the next block to @peer, bytes. */
uint32_t exanet_fw_block_bytes(const ExanetState *s, const ExanetFirmware *fw,
                               const FwPeer *peer);
/* Records that the last copy of @b was lost or damaged; blocks may become shorter. */
void exanet_fw_lost(const ExanetFirmware *fw, FwBlock *b);
/*
 * Returns 0 if @b counts as lost, or the time, ns, until which its retransmission is
 * deferred.  A retransmission is deferred while acks for older blocks of the same path
 * arrive, because @b may only be in a queue.
 */
int64_t exanet_fw_retry_deferred(const ExanetFirmware *fw, const FwBlock *b);
/* Moves the next copy of @b to another path, if there is one. */
void exanet_fw_path_next(ExanetState *s, FwBlock *b);

/* --- firmware/report.c -------------------------------------------------------- */

/*
 * Sends a report with @code of the failed read @t to its requester, which may be any node
 * [P §2.11].  Another report may be given up for it.
 */
void exanet_fw_report(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                      unsigned code);
/* Handles a word of the response FIFO with the sequence FW_SEQ_NO_BLOCK. */
void exanet_fw_report_answer(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/*
 * Sends another copy of each report whose deadline has passed, or frees a report that was
 * sent too often.
 */
void exanet_fw_reports_due(ExanetState *s, ExanetFirmware *fw);

#endif /* HW_EXANET_FIRMWARE_INTERNAL_H */
