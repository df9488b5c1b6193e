/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: the DMA cuts a transfer into pieces, one AXI burst each.  cdma.c schedules
 * the pieces and reports to software; cdma-piece.c moves the data of a piece.
 */
#ifndef HW_EXANET_SHM_CDMA_INTERNAL_H
#define HW_EXANET_SHM_CDMA_INTERNAL_H

#include "qemu/timer.h"
#include "internal.h"

/*
 * Number of elements of CdmaChannel.piece: limit of the pieces of a channel that have
 * begun and are not complete, failed pieces and orphans included [P].
 */
#define CDMA_PIECES 64

typedef enum CdmaStage {
    CDMA_STAGE_FREE,
    CDMA_STAGE_FETCH,                    /* must read its data from the source */
    /* The read request to the node of the source is under way. */
    CDMA_STAGE_READ,
    CDMA_STAGE_STORE,                    /* has its data, must write the data */
    /* The write request to the node of the destination is under way. */
    CDMA_STAGE_WRITE,
    /* As WRITE, but the DMA already has a response, perhaps an early response. */
    CDMA_STAGE_EARLY,
    CDMA_STAGE_FAULT,                    /* waits for the driver's answer to a fault */
    CDMA_STAGE_FAILED,                   /* has failed; CdmaChannel.list has its index */
    CDMA_STAGE_ORPHAN,                   /* has a request whose transfer has ended */
    CDMA_STAGES,
} CdmaStage;

typedef struct CdmaChannel CdmaChannel;

typedef struct CdmaPiece {
    CdmaChannel *ch;
    uint32_t offset;                /* bytes from the start of the transfer */
    uint16_t size;                  /* size in bytes, 1 to 256 */
    /*
     * Number of page faults of this element of CdmaChannel.piece, in all transfers.  The
     * driver's answer to a fault before the last fault is ignored.
     */
    uint16_t faults;
    uint8_t index;                  /* index of this piece in CdmaChannel.piece */
    uint8_t stage;                  /* CdmaStage */
    uint8_t after;                  /* stage that follows CDMA_STAGE_FAULT */
    uint8_t code;                   /* enum exanet_resp of the last failure */
    bool remote;                    /* the request failed; false: the local access */
    uint8_t class;                  /* enum exanet_shm_class of the last request */
    uint8_t data[EXANET_MTU];
} CdmaPiece;

struct CdmaChannel {
    ExanetState *s;
    QEMUTimer *timer;               /* ends the pause before a round */
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
    unsigned outstanding;           /* maximal number of pieces in cdma_outstanding() */

    uint32_t next;                  /* offset of the next new piece, bytes */
    uint32_t issued;                /* number of started pieces, with repetitions */
    uint32_t acked;                 /* number of pieces for which piece_done() ran */
    uint32_t round;                 /* number of rounds since the last pass began */
    int64_t wait;                   /* ns, end of the pause before this round */
    /* with timing: tenths of ns, when the first piece begins */
    int64_t begin;
    bool failing;                   /* the transfer has failed; requests are under way */
    CdmaPiece error;                /* the piece that made the transfer fail */

    CdmaPiece piece[CDMA_PIECES];
    /* by stage: bit n is set if piece n has the stage */
    uint64_t in[CDMA_STAGES];
    uint8_t list[CDMA_PIECES];           /* indices of failed pieces, oldest first */
    unsigned failed;                     /* number of pieces in @list */
    /* number of pieces that this round must still repeat */
    unsigned left;
};

struct ExanetCdma {
    CdmaChannel ch[EXANET_CDMA_CHANNELS];
    /* number of the channel that runs first, modulo EXANET_CDMA_CHANNELS */
    unsigned first;
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

/* Moves @p to @stage. */
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
 * Advances @p, whose stage is FETCH or STORE, as far as possible.  @p may end, fail or
 * wait for a page.  Returns false if the initiator does not accept the request of @p now;
 * then the caller tries again in a later run.
 */
bool exanet_cdma_piece_step(CdmaPiece *p);
/*
 * Drops all pieces of @ch, empties @list, and disarms the timer of @ch.  Does not wait
 * for the requests under way; the responses to these requests will be ignored.  Does not
 * change @state of @ch.
 */
void exanet_cdma_abandon(CdmaChannel *ch);
/*
 * Makes the transfer of @ch fail because of @p, which the function copies.  Frees all
 * pieces that have no request under way.  Ends the transfer when no piece of the transfer
 * has a request any more.  Software can still read the list of failed pieces.
 */
void exanet_cdma_fail(CdmaChannel *ch, const CdmaPiece *p);

/* --- cdma.c ------------------------------------------------------------------- */

/*
 * Ends the transfer of @ch as failed because of @ch->error.  No request of the transfer
 * may be under way.  Counts the failure, sets CDMA_SR, and calls exanet_shm_error() if
 * the error is that of a request (@remote of @ch->error).
 */
void exanet_cdma_failed(CdmaChannel *ch);

#endif /* HW_EXANET_SHM_CDMA_INTERNAL_H */
