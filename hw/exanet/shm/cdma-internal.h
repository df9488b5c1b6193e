/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: a transfer is cut into pieces, one AXI burst each.  cdma.c schedules the
 * pieces and reports to software; cdma-piece.c moves the data of a piece.
 */
#ifndef HW_EXANET_SHM_CDMA_INTERNAL_H
#define HW_EXANET_SHM_CDMA_INTERNAL_H

#include "qemu/timer.h"
#include "internal.h"

/* Pieces of a channel that the tracker knows [P]. */
#define CDMA_PIECES 64

typedef enum CdmaStage {
    CDMA_STAGE_FREE,
    CDMA_STAGE_FETCH,                    /* must be read from the source */
    /* The request to the source's node is under way. */
    CDMA_STAGE_READ,
    CDMA_STAGE_STORE,                    /* was read, must be written */
    /* The write to the destination's node is under way. */
    CDMA_STAGE_WRITE,
    CDMA_STAGE_EARLY,                    /* as WRITE, and acknowledged early */
    CDMA_STAGE_FAULT,                    /* waits for a local page */
    CDMA_STAGE_FAILED,                   /* failed; it is in the list */
    CDMA_STAGE_ORPHAN,                   /* under way, but its transfer has ended */
    CDMA_STAGES,
} CdmaStage;

typedef struct CdmaChannel CdmaChannel;

typedef struct CdmaPiece {
    CdmaChannel *ch;
    uint32_t offset;
    uint16_t size;                  /* size in bytes, 1 to 256 */
    /* Number of the fault; distinguishes delayed answers. */
    uint16_t faults;
    uint8_t index;
    uint8_t stage;                  /* CdmaStage */
    uint8_t after;                  /* the stage to continue after FAULT */
    uint8_t code;                   /* enum exanet_resp of a failure */
    bool remote;                    /* the failure was at the other node */
    uint8_t class;                  /* enum exanet_shm_class of the last request */
    uint8_t data[EXANET_MTU];
} CdmaPiece;

struct CdmaChannel {
    ExanetState *s;
    QEMUTimer *timer;
    unsigned index;
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
    unsigned outstanding;

    uint32_t next;                  /* offset of the next new piece */
    uint32_t issued;
    uint32_t acked;
    uint32_t round;                 /* rounds since the list was empty last */
    int64_t wait;                   /* ns, when the round begins */
    int64_t begin;                  /* when the pass begins, for exanet_timing_due() */
    bool failing;                   /* the transfer ends when nothing is under way */
    CdmaPiece error;                /* the piece that made the transfer fail */

    CdmaPiece piece[CDMA_PIECES];
    uint64_t in[CDMA_STAGES];            /* pieces by stage, one bit for each piece */
    uint8_t list[CDMA_PIECES];           /* indices of failed pieces, oldest first */
    unsigned failed;
    unsigned left;                       /* pieces of @list that this round repeats */
};

struct ExanetCdma {
    CdmaChannel ch[EXANET_CDMA_CHANNELS];
    unsigned first;                 /* channel that runs first */
};

static inline CdmaChannel *cdma_channel(ExanetState *s, unsigned ch)
{
    return &s->shm->cdma->ch[ch];
}

static inline unsigned cdma_ctx(const CdmaChannel *ch)
{
    return RNIC_GET(EXANET_CDMA_SIDES_CTX, ch->sides);
}

static inline bool cdma_busy(const CdmaChannel *ch)
{
    return ch->state == EXANET_TRACKER_PASS ||
           ch->state == EXANET_TRACKER_RETRY ||
           ch->state == EXANET_TRACKER_DRAIN;
}

static inline void cdma_move(CdmaPiece *p, CdmaStage stage)
{
    uint64_t bit = 1ULL << p->index;

    p->ch->in[p->stage] &= ~bit;
    p->ch->in[stage] |= bit;
    p->stage = stage;
}

/* Returns the pieces that the initiator has, as a mask. */
static inline uint64_t cdma_in_flight(const CdmaChannel *ch)
{
    return ch->in[CDMA_STAGE_READ] | ch->in[CDMA_STAGE_WRITE] | ch->in[CDMA_STAGE_EARLY];
}

/* Returns the pieces that a step could advance now. */
static inline uint64_t cdma_runnable(const CdmaChannel *ch)
{
    return ch->in[CDMA_STAGE_FETCH] | ch->in[CDMA_STAGE_STORE];
}

/*
 * Returns the pieces that the DMA counts as outstanding.  Pieces that were acknowledged
 * early are not among them.
 */
static inline uint64_t cdma_outstanding(const CdmaChannel *ch)
{
    return cdma_runnable(ch) | ch->in[CDMA_STAGE_READ] | ch->in[CDMA_STAGE_WRITE] |
           ch->in[CDMA_STAGE_FAULT];
}

/* --- cdma-piece.c ------------------------------------------------------------- */

/*
 * Advances @p, in FETCH or STORE, as far as possible.  Returns false if the initiator
 * does not accept its request now; then each run tries again.
 */
bool exanet_cdma_piece_step(CdmaPiece *p);
/* Ends the transfer without waiting; responses to its pieces are ignored. */
void exanet_cdma_abandon(CdmaChannel *ch);
/*
 * Makes the transfer fail because of @p.  It ends when nothing is under way.  Software
 * can still read the list.
 */
void exanet_cdma_fail(CdmaChannel *ch, const CdmaPiece *p);

/* --- cdma.c ------------------------------------------------------------------- */

/* Reports the failure of the transfer by @ch->error.  Nothing of it is under way. */
void exanet_cdma_failed(CdmaChannel *ch);

#endif /* HW_EXANET_SHM_CDMA_INTERNAL_H */
