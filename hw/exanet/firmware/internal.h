/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the firmware's model share; firmware.c has transfers,
 * firmware/block.c the blocks that they are cut into, firmware/peer.c the nodes that
 * these go to, firmware/report.c tells readers of reads that failed.  Nobody else
 * includes this.
 *
 * Like the R5 the firmware knows time, descriptors and FIFO words, nothing of QEMU
 * but one timer.
 */
#ifndef HW_EXANET_FIRMWARE_INTERNAL_H
#define HW_EXANET_FIRMWARE_INTERNAL_H

#include "../../core/deadline.h"
#include "../exanet.h"
#include "firmware.h"
#include "../engine/rtt.h"
#include "../engine/job-quota.h"

#define FW_QUEUE 256                /* read requests of an owner that wait */
#define FW_REPORTS 256              /* of failed reads that wait for an answer */
#define FW_PEER_SLOTS 1024
#define FW_GENERATIONS 16
#define FW_TIDS (EXANET_TIDS / EXANET_CONTEXTS)     /* of a context */
#define FW_NEVER INT64_MAX
#define FW_NONE 0xffff              /* no TID */
/* A sequence that no block has: acks carry 12 bits, and blocks stop before. */
#define FW_SEQ_NO_BLOCK ((1u << EXANET_ACK_SEQ_BITS) - 1)
#define FW_SEQ_MAX (FW_SEQ_NO_BLOCK - 1)

typedef enum FwState {
    FW_FREE = 0,
    FW_SENT,                        /* the ExaDMA or the receiver has it */
    FW_STOPPED,                     /* by the ExaDMA; noted in errors[] */
    FW_HOLD,                        /* sent again at its deadline, or earlier */
} FwState;

/* What a target may remember of a TID. */
typedef struct FwTidRecord {
    int64_t used;                   /* ns */
    /* The next block goes on with @gen and this; 0: it takes a new generation. */
    uint16_t seq;
    uint8_t gen;                    /* of the last block */
    uint8_t behind;                 /* generations since the last acked one */
    uint8_t strays;                 /* ... since there were late copies, or 0 */
} FwTidRecord;

/* What goes over one path to a peer. */
typedef struct FwPath {
    int64_t heard;                  /* ns, last ack */
    uint64_t acked;                 /* latest FwBlock.order of them */
    uint32_t bytes;                 /* of blocks under way */
} FwPath;

/* A node that a context sends to. */
typedef struct FwPeer {
    int64_t used;                   /* ns */
    ExanetRtt rtt;
    uint32_t coord;
    uint32_t blocks;                /* under way */
    uint8_t turn;                   /* number of the path that is next */
    uint8_t shorter;                /* length of blocks is FW_BLOCK >> shorter */
    uint8_t clean;                  /* blocks without a loss since the last change */
    bool reached;                   /* there was a way to it */
    bool answered;                  /* the peer has answered at least once */
    uint8_t first_gen;              /* generation before the first blocks */
    uint16_t job;                   /* job that the entry counts for */
    FwPath path[EXANET_PATHS];
    FwTidRecord tid[FW_TIDS];       /* of the context */
} FwPeer;

/* The different paths to a peer; first those without EXANET_PATH_ORDER. */
typedef struct FwWays {
    unsigned cables;
    unsigned count;                 /* of paths, all in all */
} FwWays;

typedef struct FwBlock {
    FwPeer *peer;                   /* has been counted in its @blocks */
    uint64_t src;
    uint64_t dst;
    uint64_t order;                 /* of the last copy among all that were sent */
    int64_t sent;                   /* ns, first copy */
    uint64_t progress;              /* of W3, when the deadline was looked at */
    uint16_t len;
    uint16_t transfer;
    uint16_t seq;                   /* retransmissions so far, from ... */
    uint16_t first_seq;
    uint16_t retries;               /* time-outs and CRC errors */
    uint16_t stalled;               /* time-outs and CRC errors without progress */
    uint32_t progress_acked;        /* FwTransfer.acked at the last loss */
    uint32_t backoffs;              /* those that count for FW_PF_RETRY_MAX */
    uint16_t next;                  /* TIDs of successor and predecessor in a */
    uint16_t prev;                  /* chain; valid if they agree */
    uint8_t gen;
    uint8_t path;                   /* of the last copy, EXANET_PATH_ */
    uint8_t state;                  /* FwState */
    bool somewhere;                 /* there was a way for one of the copies */
    bool left;                      /* packets of earlier copies have left */
    bool measured;                  /* its round trip has been taken */
    bool acked;
    bool nacked;                    /* the last copy, for good */
    bool heard;                     /* its node has told that it knows the generation */
    bool maybe;                     /* an earlier copy may have completed it */
    uint8_t error;                  /* enum exanet_resp while FW_STOPPED */
    bool reported;                  /* RESOLVE will come */
    bool source;                    /* FW_HOLD for a fault of the source */
    bool notify;                    /* the last one, with a notification */
    bool control;                   /* its control packet belongs to each copy */
    bool control_due;               /* ... and waits for room */
} FwBlock;

typedef struct FwTransfer {
    uint64_t src;
    uint64_t dst;                   /* GVA */
    uint64_t notify_gva;
    uint64_t notify_data;
    int64_t start;                  /* ns */
    uint32_t len;
    uint32_t issued;                /* bytes cut into blocks */
    uint32_t acked;
    uint32_t token;
    uint16_t src_pdid;
    uint16_t dst_pdid;
    uint16_t handle;
    uint16_t retries;
    uint16_t inflight;              /* blocks */
    uint16_t last;                  /* TID of the block with the notification */
    uint8_t ctx;
    uint8_t channel;
    uint8_t path;                   /* hint */
    uint8_t priority;
    bool multipath;
    bool notify;
    bool notify_irq;
    bool irq_done;
} FwTransfer;

/* Tells a reader that its read failed. */
typedef struct FwReport {
    int64_t deadline;               /* ns: sent again then */
    uint64_t gva;                   /* of the notification */
    struct exanet_notification note;
    uint32_t backoffs;
    uint16_t number;                /* on the wire: TID, GEN */
    uint16_t pdid;                  /* the reader's */
    uint16_t retries;
    uint16_t later;                 /* reports to the same context since then */
    bool used;
    bool hold;                      /* the reader could not take it */
} FwReport;

/* A FIFO of TIDs with room for all of them. */
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
    RNicDeadline timer;             /* of all blocks and reports */

    /* registers, as they were when this run began */
    uint32_t window;
    uint32_t block_bytes;
    uint32_t retry_max;
    uint32_t pf_retry_max;
    int64_t timeout;
    int64_t backoff;
    enum exanet_fw_policy policy;
    enum exanet_fw_multipath multipath;
    bool chain;
    bool dynamic;                   /* time-outs follow round trips */

    int64_t now;
    int64_t next;                   /* no deadline is earlier */
    bool expired;

    int64_t deadline[EXANET_TIDS];
    FwBlock block[EXANET_TIDS];
    uint64_t order;                 /* copies sent so far */
    ExanetRtt rtt;                      /* of all peers */
    GHashTable *peers[EXANET_CONTEXTS];     /* coordinates -> FwPeer, owned */
    ExanetJobQuota peers_held[EXANET_CONTEXTS];
    /* first generations of new peers, by hash of the coordinates */
    uint8_t peers_gen[EXANET_CONTEXTS][FW_PEER_SLOTS];
    FwPeer *recent[EXANET_CONTEXTS];        /* the ones looked up last */
    bool control_queued[EXANET_TIDS];
    FwTids free[EXANET_CONTEXTS];   /* FW_TIDS each: nobody can use up another's */
    FwTids errors;                  /* blocks that the ExaDMA stopped */
    FwTids controls;                /* control packets that wait for room */

    FwTransfer transfer[EXANET_CONTEXTS * EXANET_CHANNELS];
    uint64_t active[EXANET_CONTEXTS];       /* channels in use */
    uint64_t runnable[EXANET_CONTEXTS];     /* ... with blocks to start */
    uint16_t runnable_ctx;
    uint16_t tids[EXANET_CONTEXTS];         /* in use */
    uint16_t stuck;                         /* contexts without a usable TID */
    unsigned turn_ctx;
    unsigned turn_channel[EXANET_CONTEXTS];
    FwQueue queue[EXANET_CONTEXTS];         /* of the data owner */
    FwReport report[FW_REPORTS];
    unsigned reports;                       /* so far */
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

/* --- firmware.c ------------------------------------------------------------ */

/* Publishes the progress of @t in its channel. */
void exanet_fw_status(ExanetState *s, const FwTransfer *t,
                      enum exanet_channel_state state, unsigned code);
/* Keeps in mind whether @t has blocks that may be started. */
void exanet_fw_runnable(ExanetFirmware *fw, const FwTransfer *t);
/* Ends @t with @code (0: all bytes are acked) and takes back what it holds. */
void exanet_fw_transfer_finish(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned code);

/* --- firmware/block.c ------------------------------------------------------- */

/* Reads clock and registers; comes before any of the following. */
void exanet_fw_enter(ExanetState *s, ExanetFirmware *fw);
/*
 * Starts the next block of @t, or a chain of up to @max (not 0) of them; how many:
 * 0 when there is no TID.
 */
unsigned exanet_fw_issue(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                         unsigned max);
/* Gives the TID of a block back; nothing of it is left in the ExaDMA. */
void exanet_fw_block_free(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/* Handles a word of the response FIFO, whoever has sent it. */
void exanet_fw_response(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/* Handles a block that the ExaDMA has stopped. */
void exanet_fw_stopped(ExanetState *s, ExanetFirmware *fw, unsigned tid);
/* Handles all deadlines that are over. */
void exanet_fw_timeouts(ExanetState *s, ExanetFirmware *fw);
/* Writes control packets that waited for room. */
void exanet_fw_controls_flush(ExanetState *s, ExanetFirmware *fw);
/* Sets the timer for the next deadline; and what it calls. */
void exanet_fw_timer_update(ExanetFirmware *fw);
void exanet_fw_timer_expired(void *opaque);

/* As ExanetUnit.resolved. */
bool exanet_fw_source_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok);

/* --- firmware/peer.c --------------------------------------------------------- */

/* The node of @dst, to which context @c sends; NULL when it has too many. */
FwPeer *exanet_fw_peer(ExanetState *s, ExanetFirmware *fw, unsigned c,
                       uint64_t dst);
/* Whether there is no way to @peer now. */
bool exanet_fw_nowhere(ExanetState *s, const FwPeer *peer, unsigned path);
/* Whether @tid may carry a block to @peer now. */
bool exanet_fw_record_usable(ExanetFirmware *fw, FwPeer *peer, unsigned tid);
/*
 * Gives @b, the next block of the usable @tid, with peer and path, its generation and
 * sequence.  The last block is still in its place.
 */
void exanet_fw_record_begin(const ExanetFirmware *fw, FwBlock *b, unsigned tid);
/*
 * Notes how the block of @tid ended.  One that certainly did not complete (not
 * @maybe) leaves its generation to the next one, which goes on with the sequence.
 */
void exanet_fw_record_end(ExanetFirmware *fw, FwBlock *b, unsigned tid,
                          bool maybe);
/* Notes an answer for the last block of the idle @tid; @acked: the block did complete. */
void exanet_fw_record_late(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                           bool acked);
/* Returns how long the next block to @peer may be, bytes. */
uint32_t exanet_fw_block_bytes(const ExanetState *s, const ExanetFirmware *fw,
                               const FwPeer *peer);
/* Notes that the last copy of @b was lost or damaged. */
void exanet_fw_lost(const ExanetFirmware *fw, FwBlock *b);
/* An ack for copy @seq (12 bits) of @b arrived: takes its round trip. */
void exanet_fw_rtt_sample(ExanetFirmware *fw, FwBlock *b, unsigned seq);
/* How long to wait for an answer of @peer, ns; before doubling. */
int64_t exanet_fw_timeout_ns(const ExanetFirmware *fw, const FwPeer *peer);
/* The last copy of @b was acked. */
void exanet_fw_heard(ExanetFirmware *fw, const FwBlock *b);
/*
 * Until when @b need not be sent again though its time is over: what went before it
 * by the same path is still being answered, so it may just stand in a queue.  0: it
 * is lost.
 */
int64_t exanet_fw_patience(const ExanetFirmware *fw, const FwBlock *b);
/* The paths to @peer. */
FwWays exanet_fw_ways(ExanetState *s, const FwPeer *peer);
/* The path that FW_MULTIPATH chooses for the next block of @t. */
unsigned exanet_fw_path_first(const ExanetFirmware *fw, const FwTransfer *t,
                              FwPeer *peer, const FwWays *ways);
/* Another path for the next copy of @b, if there is one. */
void exanet_fw_path_next(ExanetState *s, FwBlock *b);

/* --- firmware/report.c -------------------------------------------------------- */

/* Tells the requester of read @t, who may be anybody, that it failed [P §2.11]. */
void exanet_fw_report(ExanetState *s, ExanetFirmware *fw, const FwTransfer *t,
                      unsigned code);
/* Handles a word of the response FIFO with the sequence FW_SEQ_NO_BLOCK. */
void exanet_fw_report_answer(ExanetState *s, ExanetFirmware *fw, uint32_t word);
/* Sends those again whose time has come. */
void exanet_fw_reports_due(ExanetState *s, ExanetFirmware *fw);

#endif /* HW_EXANET_FIRMWARE_INTERNAL_H */
