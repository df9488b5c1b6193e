/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: a transfer is cut into pieces, one AXI burst each.  cdma.c schedules the
 * pieces and reports to software; cdma-piece.c moves the data of a piece.
 */
#ifndef HW_EXANET_SHM_CDMA_INTERNAL_H
#define HW_EXANET_SHM_CDMA_INTERNAL_H

#include "qemu/timer.h"
#include "internal.h"

/* Limit of the pieces of a channel that are not free: under way or failed [P]. */
#define CDMA_PIECES 64

typedef enum CdmaStage {
    CDMA_STAGE_FREE,
    CDMA_STAGE_FETCH,                    /* must be read from the source */
    /* The read request to the node of the source is under way. */
    CDMA_STAGE_READ,
    CDMA_STAGE_STORE,                    /* has been read, must be written */
    /* The write request to the node of the destination is under way. */
    CDMA_STAGE_WRITE,
    /* As WRITE, but the DMA has a response, perhaps an early response. */
    CDMA_STAGE_EARLY,
    CDMA_STAGE_FAULT,                    /* waits for RESOLVE of a local page fault */
    CDMA_STAGE_FAILED,                   /* has failed; @list has the piece's index */
    CDMA_STAGE_ORPHAN,                   /* has a request of a transfer that has ended */
    CDMA_STAGES,
} CdmaStage;

typedef struct CdmaChannel CdmaChannel;

typedef struct CdmaPiece {
    CdmaChannel *ch;
    uint32_t offset;                /* bytes from the start of the transfer */
    uint16_t size;                  /* size in bytes, 1 to 256 */
    /* Number of page faults so far; answers to faults before the last are ignored. */
    uint16_t faults;
    uint8_t index;                  /* index of this piece in CdmaChannel.piece */
    uint8_t stage;                  /* CdmaStage */
    uint8_t after;                  /* stage with which the piece continues after FAULT */
    uint8_t code;                   /* enum exanet_resp of the last failure */
    bool remote;                    /* true: a request failed; false: the local side */
    uint8_t class;                  /* enum exanet_shm_class of the last request */
    uint8_t data[EXANET_MTU];
} CdmaPiece;

struct CdmaChannel {
    ExanetState *s;
    QEMUTimer *timer;               /* for @wait */
    unsigned index;                 /* number of the channel */
    enum exanet_tracker_state state;

    /*
     * Values of the registers at the start of the transfer; software may change the
     * registers meanwhile.
     */
    uint64_t sa;
    uint64_t da;
    uint32_t sides;
    uint32_t length;
    uint16_t pdid;
    unsigned burst;                 /* maximal size of a piece, bytes */
    unsigned outstanding;           /* limit of pieces in cdma_outstanding() */

    uint32_t next;                  /* offset of the next new piece, bytes */
    uint32_t issued;                /* pieces that were started, with repetitions */
    uint32_t acked;                 /* pieces that are complete */
    uint32_t round;                 /* rounds since the last pass began */
    int64_t wait;                   /* ns, when the round begins */
    int64_t begin;                  /* with timing: tenths of ns, begin of first piece */
    bool failing;                   /* the transfer fails when no request is under way */
    CdmaPiece error;                /* the piece that made the transfer fail */

    CdmaPiece piece[CDMA_PIECES];
    uint64_t in[CDMA_STAGES];            /* pieces by stage, one bit for each piece */
    uint8_t list[CDMA_PIECES];           /* indices of failed pieces, oldest first */
    unsigned failed;                     /* number of pieces in @list */
    unsigned left;                       /* pieces that this round has still to repeat */
};

struct ExanetCdma {
    CdmaChannel ch[EXANET_CDMA_CHANNELS];
    unsigned first;         /* channel that runs first, modulo EXANET_CDMA_CHANNELS */
};

static inline CdmaChannel *cdma_channel(ExanetState *s, unsigned ch)
{
    return &s->shm->cdma->ch[ch];
}

static inline unsigned cdma_ctx(const CdmaChannel *ch)
{
    return RNIC_GET(EXANET_CDMA_SIDES_CTX, ch->sides);
}

/* Returns true if the channel has a transfer that has not ended. */
static inline bool cdma_busy(const CdmaChannel *ch)
{
    return ch->state == EXANET_TRACKER_PASS ||
           ch->state == EXANET_TRACKER_RETRY ||
           ch->state == EXANET_TRACKER_DRAIN;
}

/* Changes the stage of @p. */
static inline void cdma_move(CdmaPiece *p, CdmaStage stage)
{
    uint64_t bit = 1ULL << p->index;

    p->ch->in[p->stage] &= ~bit;
    p->ch->in[stage] |= bit;
    p->stage = stage;
}

/* Returns the pieces of the transfer that have a request under way, one bit for each. */
static inline uint64_t cdma_in_flight(const CdmaChannel *ch)
{
    return ch->in[CDMA_STAGE_READ] | ch->in[CDMA_STAGE_WRITE] | ch->in[CDMA_STAGE_EARLY];
}

/* Returns the pieces that exanet_cdma_piece_step() could advance, one bit for each. */
static inline uint64_t cdma_runnable(const CdmaChannel *ch)
{
    return ch->in[CDMA_STAGE_FETCH] | ch->in[CDMA_STAGE_STORE];
}

/*
 * Returns the pieces that count for the limit of outstanding pieces, one bit for each.
 * Pieces that were acknowledged early do not count.
 */
static inline uint64_t cdma_outstanding(const CdmaChannel *ch)
{
    return cdma_runnable(ch) | ch->in[CDMA_STAGE_READ] | ch->in[CDMA_STAGE_WRITE] |
           ch->in[CDMA_STAGE_FAULT];
}

/* --- cdma-piece.c ------------------------------------------------------------- */

/*
 * Advances @p, which is in FETCH or STORE, as far as possible.  @p may end, fail or wait
 * for a page.  Returns false if the initiator does not accept a request now; then the
 * caller tries again in a later run.
 */
bool exanet_cdma_piece_step(CdmaPiece *p);
/*
 * Drops all pieces, empties @list of @ch and disarms the timer of @ch.  Does not wait for
 * the requests under way; their responses will be ignored.  Does not change @state.
 */
void exanet_cdma_abandon(CdmaChannel *ch);
/*
 * Makes the transfer fail because of @p, which is copied: frees all pieces that have no
 * request under way, and ends the transfer when no piece of the transfer has a request.
 * Software can still read the list.
 */
void exanet_cdma_fail(CdmaChannel *ch, const CdmaPiece *p);

/* --- cdma.c ------------------------------------------------------------------- */

/*
 * Ends the transfer as failed because of @ch->error.  No request may be under way.
 * Counts the failure, sets SR, and reports an error of a request by exanet_shm_error().
 */
void exanet_cdma_failed(CdmaChannel *ch);

#endif /* HW_EXANET_SHM_CDMA_INTERNAL_H */
