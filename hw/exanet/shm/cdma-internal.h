/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: a transfer is cut into pieces, one AXI burst each.  cdma.c says which
 * piece is moved when, and tells software; cdma-piece.c moves it.
 */
#ifndef HW_EXANET_SHM_CDMA_INTERNAL_H
#define HW_EXANET_SHM_CDMA_INTERNAL_H

#include "qemu/timer.h"
#include "internal.h"

#define CDMA_PIECES 64                   /* of a channel that the tracker knows of [P] */

typedef enum CdmaStage {
    CDMA_STAGE_FREE,
    CDMA_STAGE_FETCH,                    /* to be read from the source */
    CDMA_STAGE_READ,                     /* asked of the source's node */
    CDMA_STAGE_STORE,                    /* read, to be written */
    CDMA_STAGE_WRITE,                    /* sent to the destination's node */
    CDMA_STAGE_EARLY,                    /* the same, and acknowledged early */
    CDMA_STAGE_FAULT,                    /* waits for a local page */
    CDMA_STAGE_FAILED,                   /* in the list */
    CDMA_STAGE_ORPHAN,                   /* under way, of a transfer that is no more */
    CDMA_STAGES,
} CdmaStage;

typedef struct CdmaChannel CdmaChannel;

typedef struct CdmaPiece {
    CdmaChannel *ch;
    uint32_t offset;
    uint16_t size;                  /* 1..256 */
    uint16_t faults;                /* tells answers to this fault from older ones */
    uint8_t index;
    uint8_t stage;                  /* CdmaStage */
    uint8_t after;                  /* the stage behind FAULT */
    uint8_t code;                   /* enum exanet_resp, if it failed ... */
    bool remote;                    /* ... at the other node */
    uint8_t class;                  /* enum exanet_shm_class of the last request */
    uint8_t data[EXANET_MTU];
} CdmaPiece;

struct CdmaChannel {
    ExanetState *s;
    QEMUTimer *timer;
    unsigned index;
    enum exanet_tracker_state state;

    /* of the transfer; software may write the registers meanwhile */
    uint64_t sa;
    uint64_t da;
    uint32_t sides;
    uint32_t length;
    uint16_t pdid;
    unsigned burst;                 /* bytes */
    unsigned outstanding;

    uint32_t next;                  /* offset that the pass has come to */
    uint32_t issued;
    uint32_t acked;
    uint32_t round;                 /* since the list was empty last */
    int64_t wait;                   /* ns, when the round begins */
    int64_t begin;                  /* when the pass does: exanet_timing_due() */
    bool failing;                   /* ends when nothing is under way any more */
    CdmaPiece error;                /* why */

    CdmaPiece piece[CDMA_PIECES];
    uint64_t in[CDMA_STAGES];            /* pieces by stage, one bit for each */
    uint8_t list[CDMA_PIECES];           /* those that failed, in that order */
    unsigned failed;
    unsigned left;                  /* first ones of @list that this round is for */
};

struct ExanetCdma {
    CdmaChannel ch[EXANET_CDMA_CHANNELS];
    unsigned first;                 /* whose turn it is to be the first */
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

/* Pieces that the initiator has. */
static inline uint64_t cdma_flying(const CdmaChannel *ch)
{
    return ch->in[CDMA_STAGE_READ] | ch->in[CDMA_STAGE_WRITE] | ch->in[CDMA_STAGE_EARLY];
}

/* Pieces that a step could bring on now. */
static inline uint64_t cdma_ready(const CdmaChannel *ch)
{
    return ch->in[CDMA_STAGE_FETCH] | ch->in[CDMA_STAGE_STORE];
}

/* Pieces that the DMA has in hand: it knows nothing of those acknowledged early. */
static inline uint64_t cdma_open(const CdmaChannel *ch)
{
    return cdma_ready(ch) | ch->in[CDMA_STAGE_READ] | ch->in[CDMA_STAGE_WRITE] |
           ch->in[CDMA_STAGE_FAULT];
}

/* --- cdma-piece.c ------------------------------------------------------------- */

/*
 * Brings @p, in FETCH or STORE, on as far as it goes now; false: the initiator does not
 * take it, and it is to be asked again in each turn.
 */
bool exanet_cdma_piece_step(CdmaPiece *p);
/* Forgets the transfer; answers to what is under way will go nowhere. */
void exanet_cdma_abandon(CdmaChannel *ch);
/*
 * The transfer fails because of @p; it ends when nothing is under way.  The list stays,
 * to be read.
 */
void exanet_cdma_fail(CdmaChannel *ch, const CdmaPiece *p);

/* --- cdma.c ------------------------------------------------------------------- */

/* The transfer has failed, by @ch->error, and nothing of it is under way. */
void exanet_cdma_failed(CdmaChannel *ch);

#endif /* HW_EXANET_SHM_CDMA_INTERNAL_H */
