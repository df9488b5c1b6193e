/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: the AXI Central DMA beside the network interface, and the RDMA tracker
 * that has it repeat what failed [T §4.4].
 *
 * A transfer is cut into pieces, one AXI burst each.  The DMA goes through all of them,
 * which is a pass, and then in rounds through those that failed; each time a piece is
 * read from its source anew.  Software sees the end when nothing is under way any more.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "qemu/timer.h"
#include "shm.h"
#include "../trace.h"

#define PIECES 64                   /* of a channel that the tracker knows of [P] */
/* Places of these that a list of failed pieces leaves for the DMA. */
#define PIECES_KEPT EXANET_CDMA_OUTSTANDING_MAX
#define PIECES_PER_TURN 64

#define BEAT_BYTES 8
#define BEATS_MAX (EXANET_MTU / BEAT_BYTES)
#define PAGE_BYTES (1ULL << EXANET_TLB_SHIFT)

/* Rounds for what is not ready at the other node wait: twice as long each time. */
#define BACKOFF_NS (20 * SCALE_US)
#define BACKOFF_SHIFT_MAX 16

#define SR_ERRORS (EXANET_CDMA_SR_INT_ERR | EXANET_CDMA_SR_SLV_ERR | \
                   EXANET_CDMA_SR_DEC_ERR)

typedef enum CdmaStage {
    STAGE_FREE,
    STAGE_FETCH,                    /* to be read from the source */
    STAGE_READ,                     /* asked of the source's node */
    STAGE_STORE,                    /* read, to be written */
    STAGE_WRITE,                    /* sent to the destination's node */
    STAGE_EARLY,                    /* the same, and acknowledged early */
    STAGE_FAULT,                    /* waits for a local page */
    STAGE_FAILED,                   /* in the list */
    STAGE_ORPHAN,                   /* under way, of a transfer that is no more */
    STAGES,
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
    bool failing;                   /* ends when nothing is under way any more */
    CdmaPiece error;                /* why */

    CdmaPiece piece[PIECES];
    uint64_t in[STAGES];            /* pieces by stage, one bit for each */
    uint8_t list[PIECES];           /* those that failed, in that order */
    unsigned failed;
    unsigned left;                  /* first ones of @list that this round is for */
};

struct ExanetCdma {
    CdmaChannel ch[EXANET_CDMA_CHANNELS];
};

static CdmaChannel *channel(ExanetState *s, unsigned ch)
{
    return &s->shm->cdma->ch[ch];
}

static unsigned channel_ctx(const CdmaChannel *ch)
{
    return RNIC_GET(EXANET_CDMA_SIDES_CTX, ch->sides);
}

static bool channel_busy(const CdmaChannel *ch)
{
    return ch->state == EXANET_TRACKER_PASS ||
           ch->state == EXANET_TRACKER_RETRY ||
           ch->state == EXANET_TRACKER_DRAIN;
}

/* ... and has not failed. */
static bool channel_going(const CdmaChannel *ch)
{
    return channel_busy(ch) && !ch->failing;
}

static uint32_t reg_get(const CdmaChannel *ch, unsigned reg)
{
    return exanet_reg_get32(ch->s, EXANET_CDMA(ch->index) + reg);
}

static void reg_set(const CdmaChannel *ch, unsigned reg, uint32_t value)
{
    exanet_reg_set32(ch->s, EXANET_CDMA(ch->index) + reg, value);
}

/* --- Interrupts and the end of transfers ------------------------------------ */

static void irq_update(ExanetState *s)
{
    uint32_t pending = 0;

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        const CdmaChannel *ch = channel(s, i);

        pending |= reg_get(ch, EXANET_REG_CDMA_SR) &
                   reg_get(ch, EXANET_REG_CDMA_CR) & EXANET_CDMA_SR_IRQS;
    }
    if (pending) {
        exanet_irq_raise(s, EXANET_IRQ_CDMA);
    } else {
        exanet_reg_set32(s, EXANET_REG_IRQ_CAUSE, ~EXANET_IRQ_CDMA &
                         exanet_reg_get32(s, EXANET_REG_IRQ_CAUSE));
    }
}

/* The channel is idle, with these bits of SR on top of those not cleared yet. */
static void channel_idle(CdmaChannel *ch, enum exanet_tracker_state state,
                         uint32_t bits)
{
    trace_exanet_cdma_end(ch->s->node, ch->index, state, bits);
    timer_del(ch->timer);
    ch->state = state;
    reg_set(ch, EXANET_REG_CDMA_SR, reg_get(ch, EXANET_REG_CDMA_SR) |
            EXANET_CDMA_SR_IDLE | bits);
    irq_update(ch->s);
}

static uint32_t error_bits(enum exanet_resp resp)
{
    return EXANET_CDMA_SR_ERR | (resp == EXANET_RESP_DECODE ?
                                 EXANET_CDMA_SR_DEC_ERR :
                                 EXANET_CDMA_SR_SLV_ERR);
}

/* The transfer has failed, and nothing of it is under way. */
static void channel_failed(CdmaChannel *ch)
{
    const CdmaPiece *p = &ch->error;
    bool read = p->class == EXANET_SHM_RDMA_READ;

    ch->failing = false;
    exanet_count(ch->s, CDMA_FAILED);
    if (p->remote) {
        exanet_shm_error(ch->s, channel_ctx(ch),
                         (read ? ch->sa : ch->da) + p->offset, p->class,
                         p->code == EXANET_RESP_NO_CONTEXT ? EXANET_RESP_ACK :
                         p->code, ch->round);
    }
    channel_idle(ch, EXANET_TRACKER_FAILED, error_bits(p->code));
}

/* --- Pieces ------------------------------------------------------------------ */

static void piece_move(CdmaPiece *p, CdmaStage stage)
{
    uint64_t bit = 1ULL << p->index;

    p->ch->in[p->stage] &= ~bit;
    p->ch->in[stage] |= bit;
    p->stage = stage;
}

/* Pieces that the initiator has. */
static uint64_t pieces_flying(const CdmaChannel *ch)
{
    return ch->in[STAGE_READ] | ch->in[STAGE_WRITE] | ch->in[STAGE_EARLY];
}

/* Pieces that a step could bring on now. */
static uint64_t pieces_ready(const CdmaChannel *ch)
{
    return ch->in[STAGE_FETCH] | ch->in[STAGE_STORE];
}

/* Pieces that the DMA has in hand: it knows nothing of those acknowledged early. */
static uint64_t pieces_open(const CdmaChannel *ch)
{
    return pieces_ready(ch) | ch->in[STAGE_READ] | ch->in[STAGE_WRITE] |
           ch->in[STAGE_FAULT];
}

/* Forgets the transfer; answers to what is under way will go nowhere. */
static void channel_abandon(CdmaChannel *ch)
{
    uint64_t flying = pieces_flying(ch);

    for (unsigned n = 0; n < PIECES; n++) {
        if (flying & 1ULL << n) {
            piece_move(&ch->piece[n], STAGE_ORPHAN);
        } else if (ch->piece[n].stage != STAGE_ORPHAN) {
            piece_move(&ch->piece[n], STAGE_FREE);
        }
    }
    ch->failed = 0;
    ch->left = 0;
    ch->failing = false;
    timer_del(ch->timer);
}

/*
 * The transfer fails because of @p; it ends when nothing is under way.  The list stays,
 * to be read.
 */
static void channel_fail(CdmaChannel *ch, const CdmaPiece *p)
{
    uint64_t flying = pieces_flying(ch);

    ch->error = *p;
    ch->failing = true;
    ch->state = EXANET_TRACKER_DRAIN;
    ch->left = 0;
    for (unsigned n = 0; n < PIECES; n++) {
        if (!(flying & 1ULL << n) && ch->piece[n].stage != STAGE_ORPHAN) {
            piece_move(&ch->piece[n], STAGE_FREE);
        }
    }
    if (!flying) {
        channel_failed(ch);
    }
}

static void piece_done(CdmaPiece *p)
{
    CdmaChannel *ch = p->ch;

    ch->acked++;
    piece_move(p, STAGE_FREE);
    if (ch->failing && !pieces_flying(ch)) {
        channel_failed(ch);
    }
}

/* Whether it may be another time; what a copy says of itself never changes. */
static bool piece_repeatable(const CdmaPiece *p)
{
    return (exanet_shm_ctrl(p->ch->s) & EXANET_SHM_CTRL_RELIABLE) &&
           p->code != EXANET_RESP_DECODE &&
           p->code != EXANET_RESP_PROTECTION &&
           p->code != EXANET_RESP_MALFORMED;
}

/* @p could not be moved; @remote: as the other node says, or does not say. */
static void piece_fail(CdmaPiece *p, enum exanet_resp resp, bool remote)
{
    CdmaChannel *ch = p->ch;

    p->code = resp;
    p->remote = remote;
    trace_exanet_cdma_piece_err(ch->s->node, ch->index, p->offset, p->size, resp);
    if (ch->failing) {
        piece_move(p, STAGE_FREE);
        if (!pieces_flying(ch)) {
            channel_failed(ch);
        }
        return;
    }
    piece_move(p, STAGE_FAILED);
    ch->list[ch->failed++] = p->index;
    if (!piece_repeatable(p)) {
        channel_fail(ch, p);
    }
}

/* --- Local sides -------------------------------------------------------------- */

/*
 * Physical addresses reach RAM alone: what a register of some device does to us in
 * the middle of our work cannot be known.
 */
static enum exanet_resp physical_access(ExanetState *s, hwaddr pa, void *buf,
                                        unsigned size, bool write)
{
    const MemTxAttrs attrs = { .memory = true };

    return address_space_rw(s->host.as, pa, attrs, buf, size, write) == MEMTX_OK ?
           EXANET_RESP_ACK : EXANET_RESP_DECODE;
}

/* The wire TID of @p, which faults are told apart by. */
static uint16_t piece_tid(const CdmaPiece *p, bool write)
{
    return RNIC_PREP(EXANET_STID_CLASS, write ? EXANET_SHM_RDMA_WRITE :
                     EXANET_SHM_RDMA_READ) |
           RNIC_PREP(EXANET_STID_SLOT, p->index) |
           RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_CDMA) |
           RNIC_PREP(EXANET_AXI_ID_NUMBER, p->ch->index);
}

/* The other node of the transfer, ours if there is none. */
static uint32_t channel_peer(const CdmaChannel *ch)
{
    if (ch->sides & EXANET_CDMA_SIDES_SA_GVA) {
        return RNIC_GET(EXANET_GVA_COORD, ch->sa);
    }
    return ch->sides & EXANET_CDMA_SIDES_DA_LOCAL ? ch->s->node :
           RNIC_GET(EXANET_GVA_COORD, ch->da);
}

/* A page is missing: @p waits for it, in the stage that it is in. */
static void piece_fault(CdmaPiece *p, uint64_t va, bool write)
{
    CdmaChannel *ch = p->ch;
    uint64_t start = (write ? ch->da : ch->sa) + p->offset;
    ExanetPendingFault f = {
        .va = va,
        .peer = channel_peer(ch),
        .tid = piece_tid(p, write),
        .seq = ++p->faults & RNIC_GET(EXANET_FAULT_SEQ, ~0ULL),
        .ctx = channel_ctx(ch),
        .unit = EXANET_FAULT_SHM,
        .write = write,
    };

    if (!exanet_fault_report(ch->s, &f, ch->length - p->offset - (va - start))) {
        piece_fail(p, EXANET_RESP_FAULT, false);
        return;
    }
    p->after = p->stage;
    piece_move(p, STAGE_FAULT);
}

/* Moves the data of @p from or to its local side; false: it is done with. */
static bool piece_local(CdmaPiece *p, bool write)
{
    CdmaChannel *ch = p->ch;
    ExanetState *s = ch->s;
    uint64_t at = (write ? ch->da : ch->sa) + p->offset;
    uint64_t fault_va = at;
    enum exanet_resp resp;

    if (!(ch->sides & EXANET_CDMA_SIDES_TRANSLATE)) {
        resp = physical_access(s, at, p->data, p->size, write);
    } else if (write) {
        resp = exanet_context_write(s, channel_ctx(ch), at, p->data, p->size,
                                    &fault_va);
    } else {
        resp = exanet_context_read(s, channel_ctx(ch), at, p->data, p->size,
                                   &fault_va);
    }
    if (resp == EXANET_RESP_FAULT) {
        piece_fault(p, fault_va, write);
    } else if (resp != EXANET_RESP_ACK) {
        piece_fail(p, resp, false);
    }
    return resp == EXANET_RESP_ACK;
}

/* --- Remote sides -------------------------------------------------------------- */

static void piece_read_answered(ExanetState *s, void *opaque,
                                enum exanet_resp resp, const uint8_t *data)
{
    CdmaPiece *p = opaque;

    if (p->stage == STAGE_ORPHAN) {
        piece_move(p, STAGE_FREE);
    } else if (p->stage == STAGE_READ) {
        if (resp != EXANET_RESP_ACK) {
            piece_fail(p, resp, true);
        } else if (p->ch->failing) {
            piece_done(p);
        } else {
            memcpy(p->data, data, p->size);
            piece_move(p, STAGE_STORE);
        }
    }
    exanet_schedule(s);
}

/* What the DMA hears, perhaps early; the tracker waits for what follows. */
static void piece_write_answered(ExanetState *s, void *opaque,
                                 enum exanet_resp resp, const uint8_t *data)
{
    CdmaPiece *p = opaque;

    if (p->stage == STAGE_WRITE) {
        piece_move(p, STAGE_EARLY);
        exanet_schedule(s);
    }
}

static void piece_write_settled(ExanetState *s, void *opaque,
                                enum exanet_resp resp)
{
    CdmaPiece *p = opaque;

    if (p->stage == STAGE_ORPHAN) {
        piece_move(p, STAGE_FREE);
    } else if (p->stage == STAGE_WRITE || p->stage == STAGE_EARLY) {
        if (resp == EXANET_RESP_ACK) {
            piece_done(p);
        } else {
            piece_fail(p, resp, true);
        }
    }
    exanet_schedule(s);
}

/* Hands @p to the initiator; false: it does not take it now. */
static bool piece_issue(CdmaPiece *p, enum exanet_shm_class class)
{
    CdmaChannel *ch = p->ch;
    bool write = class == EXANET_SHM_RDMA_WRITE;
    ExanetShmRequest req = {
        .gva = (write ? ch->da : ch->sa) + p->offset,
        .data = p->data,
        .size = p->size,
        .pdid = ch->pdid,
        .class = class,
        .axi_id = RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_CDMA) |
                  RNIC_PREP(EXANET_AXI_ID_NUMBER, ch->index),
        .ctx = channel_ctx(ch),
        .early = true,
        .respond = write ? piece_write_answered : piece_read_answered,
        .settled = write ? piece_write_settled : NULL,
        .opaque = p,
    };

    if (!exanet_shm_issue(ch->s, &req)) {
        return false;
    }
    trace_exanet_cdma_issue(ch->s->node, ch->index, class, req.gva, p->size);
    p->class = class;
    piece_move(p, write ? STAGE_WRITE : STAGE_READ);
    return true;
}

/* --- The DMA ------------------------------------------------------------------ */

static bool piece_store(CdmaPiece *p)
{
    if (!(p->ch->sides & EXANET_CDMA_SIDES_DA_LOCAL)) {
        return piece_issue(p, EXANET_SHM_RDMA_WRITE);
    }
    if (piece_local(p, true)) {
        piece_done(p);
    }
    return true;
}

/* Brings @p on as far as it goes now; false: the initiator is in the way. */
static bool piece_step(CdmaPiece *p)
{
    if (p->stage == STAGE_FETCH) {
        if (p->ch->sides & EXANET_CDMA_SIDES_SA_GVA) {
            return piece_issue(p, EXANET_SHM_RDMA_READ);
        }
        if (!piece_local(p, false)) {
            return true;
        }
        piece_move(p, STAGE_STORE);
    }
    return piece_store(p);
}

static unsigned room(uint64_t address, uint64_t border)
{
    return border - address % border;
}

/* Bytes of the piece at @offset of the transfer. */
static unsigned piece_cut(const CdmaChannel *ch, uint32_t offset)
{
    unsigned size = MIN(ch->burst, ch->length - offset);

    size = MIN(size, room(ch->sa + offset, ch->sides & EXANET_CDMA_SIDES_SA_GVA ?
                          EXANET_MTU : PAGE_BYTES));
    return MIN(size, room(ch->da + offset,
                          ch->sides & EXANET_CDMA_SIDES_DA_LOCAL ?
                          PAGE_BYTES : EXANET_MTU));
}

static CdmaPiece *piece_new(CdmaChannel *ch)
{
    CdmaPiece *p = &ch->piece[ctz64(ch->in[STAGE_FREE])];

    p->offset = ch->next;
    p->size = piece_cut(ch, ch->next);
    ch->next += p->size;
    return p;
}

static CdmaPiece *piece_again(CdmaChannel *ch)
{
    CdmaPiece *p = &ch->piece[ch->list[0]];

    ch->left--;
    ch->failed--;
    memmove(ch->list, ch->list + 1, ch->failed * sizeof(ch->list[0]));
    exanet_count(ch->s, CDMA_RETRY);
    return p;
}

/* The pass has come to its end, or the list is full. */
static bool pass_over(const CdmaChannel *ch)
{
    return ch->next == ch->length || ch->failed >= PIECES - PIECES_KEPT;
}

/* The piece that the DMA begins with next; NULL if there is none now. */
static CdmaPiece *piece_next(CdmaChannel *ch)
{
    CdmaPiece *p = NULL;

    if (ch->in[STAGE_FAULT] || ctpop64(pieces_open(ch)) >= ch->outstanding) {
        return NULL;
    }
    if (ch->state == EXANET_TRACKER_RETRY && ch->left) {
        p = piece_again(ch);
    } else if (ch->state == EXANET_TRACKER_PASS && !pass_over(ch) &&
               ch->in[STAGE_FREE]) {
        p = piece_new(ch);
    }
    if (p) {
        ch->issued++;
        piece_move(p, STAGE_FETCH);
    }
    return p;
}

/* --- The tracker --------------------------------------------------------------- */

/* How long the next round waits; nothing, if all that failed may succeed at once. */
static int64_t round_wait(const CdmaChannel *ch)
{
    uint64_t timeout = (uint64_t)EXANET_SHM_CYCLE_PS *
        exanet_reg_get32(ch->s, EXANET_SHM + EXANET_REG_SHM_TIMEOUT) / 1000;

    for (unsigned i = 0; i < ch->failed; i++) {
        uint8_t code = ch->piece[ch->list[i]].code;

        if (code == EXANET_RESP_FULL || code == EXANET_RESP_FAULT) {
            return MIN((uint64_t)BACKOFF_NS <<
                       MIN(ch->round - 1, BACKOFF_SHIFT_MAX), timeout);
        }
    }
    return 0;
}

/* Reprograms the DMA for what has failed, unless that was done too often. */
static void round_begin(CdmaChannel *ch)
{
    int64_t wait;

    if (ch->round >= exanet_reg_get32(ch->s, EXANET_SHM +
                                      EXANET_REG_SHM_RETRY_MAX)) {
        channel_fail(ch, &ch->piece[ch->list[0]]);
        return;
    }
    ch->round++;
    ch->left = ch->failed;
    ch->state = EXANET_TRACKER_RETRY;
    wait = round_wait(ch);
    ch->wait = exanet_now(ch->s) + wait;
    if (wait) {
        timer_mod(ch->timer, ch->wait);
    }
    trace_exanet_cdma_round(ch->s->node, ch->index, ch->round, ch->failed, wait);
}

/* What follows when the DMA is through; true if it has something to do again. */
static bool channel_advance(CdmaChannel *ch)
{
    if (ch->failing || pieces_ready(ch) || ch->in[STAGE_FAULT]) {
        return false;
    }
    if ((ch->state == EXANET_TRACKER_PASS && pass_over(ch)) ||
        (ch->state == EXANET_TRACKER_RETRY && !ch->left)) {
        ch->state = EXANET_TRACKER_DRAIN;
    }
    if (ch->state != EXANET_TRACKER_DRAIN || pieces_flying(ch)) {
        return false;
    }
    if (ch->failed) {
        round_begin(ch);
    } else if (ch->next < ch->length) {
        ch->state = EXANET_TRACKER_PASS;
        ch->round = 0;
    } else {
        channel_idle(ch, EXANET_TRACKER_IDLE, EXANET_CDMA_SR_IOC);
    }
    return channel_busy(ch);
}

/* --- Work ----------------------------------------------------------------------- */

/* Brings pieces on, at most @budget; how many steps are left of that. */
static unsigned channel_step(CdmaChannel *ch, unsigned budget)
{
    bool open = true;
    CdmaPiece *p;

    for (uint64_t ready = pieces_ready(ch); ready && budget;
         ready &= ready - 1, budget--) {
        if (!channel_going(ch)) {
            return budget;
        }
        open &= piece_step(&ch->piece[ctz64(ready)]);
    }
    while (open && budget && channel_going(ch) && (p = piece_next(ch))) {
        open = piece_step(p);
        budget--;
    }
    return budget;
}

/* One turn of a channel; true if it could go on at once. */
static bool channel_run(CdmaChannel *ch)
{
    unsigned budget = PIECES_PER_TURN;

    do {
        if (!channel_busy(ch) ||
            (ch->left && ch->wait > exanet_now(ch->s))) {
            return false;
        }
        budget = channel_step(ch, budget);
    } while (channel_advance(ch) && budget);
    return !budget;
}

bool exanet_cdma_run(ExanetState *s)
{
    bool more = false;

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        more |= channel_run(channel(s, i));
    }
    return more;
}

void exanet_cdma_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
    CdmaChannel *ch = channel(s, RNIC_GET(EXANET_AXI_ID_NUMBER, f->tid) %
                              EXANET_CDMA_CHANNELS);
    CdmaPiece *p = &ch->piece[RNIC_GET(EXANET_STID_SLOT, f->tid)];

    /* the transfer that had the fault may be gone */
    if (p->stage != STAGE_FAULT ||
        f->seq != (p->faults & RNIC_GET(EXANET_FAULT_SEQ, ~0ULL))) {
        return;
    }
    if (ok) {
        piece_move(p, p->after);
    } else {
        piece_fail(p, EXANET_RESP_DECODE, false);
    }
    exanet_schedule(s);
}

void exanet_cdma_quiesce(ExanetState *s, unsigned c)
{
    const CdmaPiece p = { .code = EXANET_RESP_PROTECTION };

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = channel(s, i);

        if (channel_busy(ch) && channel_ctx(ch) == c) {
            /* the initiator forgets what is under way */
            channel_abandon(ch);
            channel_fail(ch, &p);
        }
    }
}

unsigned exanet_cdma_active(ExanetState *s, unsigned c)
{
    unsigned active = 0;

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        const CdmaChannel *ch = channel(s, i);

        active += channel_busy(ch) && channel_ctx(ch) == c;
    }
    return active;
}

/* --- Registers -------------------------------------------------------------------- */

/* Whether @bytes from @address on are addresses of this side. */
static bool side_good(uint64_t address, uint32_t bytes, bool remote)
{
    if (remote) {
        return RNIC_GET(EXANET_GVA_VA, address) + bytes <= EXANET_GVA_VA + 1;
    }
    return address + bytes - 1 >= address;
}

/* Bits of SR that tell why the transfer cannot begin; 0: it can. */
static uint32_t channel_check(const CdmaChannel *ch)
{
    const ExanetContext *ctx = &ch->s->ctx[channel_ctx(ch)];
    bool sa_remote = ch->sides & EXANET_CDMA_SIDES_SA_GVA;
    bool da_remote = !(ch->sides & EXANET_CDMA_SIDES_DA_LOCAL);

    if (ch->length == 0 || ctx->quiesce ||
        ((ch->sides & EXANET_CDMA_SIDES_TRANSLATE) && !ctx->enabled)) {
        return EXANET_CDMA_SR_ERR | EXANET_CDMA_SR_INT_ERR;
    }
    if (!side_good(ch->sa, ch->length, sa_remote) ||
        !side_good(ch->da, ch->length, da_remote)) {
        return EXANET_CDMA_SR_ERR | EXANET_CDMA_SR_DEC_ERR;
    }
    return 0;
}

/* Keeps what the registers say for the time of the transfer. */
static void channel_latch(CdmaChannel *ch)
{
    unsigned base = EXANET_CDMA(ch->index);
    unsigned beats = reg_get(ch, EXANET_REG_CDMA_BURST);
    unsigned outstanding = reg_get(ch, EXANET_REG_CDMA_OUTSTANDING);

    ch->sa = exanet_reg_get64(ch->s, base + EXANET_REG_CDMA_SA);
    ch->da = exanet_reg_get64(ch->s, base + EXANET_REG_CDMA_DA);
    ch->sides = reg_get(ch, EXANET_REG_CDMA_SIDES);
    ch->length = reg_get(ch, EXANET_REG_CDMA_BTT);
    ch->pdid = reg_get(ch, EXANET_REG_CDMA_PDID);
    ch->burst = MIN(MAX(beats, 1), BEATS_MAX) * BEAT_BYTES;
    ch->outstanding = MIN(MAX(outstanding, 1), EXANET_CDMA_OUTSTANDING_MAX);
    ch->next = 0;
    ch->issued = 0;
    ch->acked = 0;
    ch->round = 0;
}

static void channel_start(CdmaChannel *ch)
{
    uint32_t bits;

    if (channel_busy(ch)) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: BTT of CDMA channel %u written "
                      "while it is busy\n", ch->index);
        reg_set(ch, EXANET_REG_CDMA_BTT, ch->length);
        return;
    }
    channel_abandon(ch);
    channel_latch(ch);
    reg_set(ch, EXANET_REG_CDMA_SR, reg_get(ch, EXANET_REG_CDMA_SR) &
            ~(uint32_t)(SR_ERRORS | EXANET_CDMA_SR_IDLE));
    trace_exanet_cdma_start(ch->s->node, ch->index, ch->sa, ch->da, ch->length,
                            ch->sides);
    bits = channel_check(ch);
    if (bits) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: CDMA channel %u refuses %u bytes "
                      "from 0x%" PRIx64 " to 0x%" PRIx64 "\n", ch->index,
                      ch->length, ch->sa, ch->da);
        exanet_count(ch->s, CDMA_FAILED);
        channel_idle(ch, EXANET_TRACKER_FAILED, bits);
        return;
    }
    ch->state = EXANET_TRACKER_PASS;
    exanet_schedule(ch->s);
}

/* Soft reset: all is as after that of the device; what is under way is forgotten. */
static void channel_reset(CdmaChannel *ch)
{
#define REG_RESET(name, offset, bytes, reset, writable, w1c) \
    if (bytes == 8) { \
        exanet_reg_set64(ch->s, EXANET_CDMA(ch->index) + offset, reset); \
    } else { \
        reg_set(ch, offset, reset); \
    }
    EXANET_CDMA_REGS(REG_RESET)
#undef REG_RESET
    channel_abandon(ch);
    channel_latch(ch);
    ch->state = EXANET_TRACKER_IDLE;
}

void exanet_cdma_reg_sync(ExanetState *s, unsigned ch)
{
    /* all are written when they change */
}

void exanet_cdma_reg_written(ExanetState *s, unsigned ch, unsigned reg,
                             bool top)
{
    uint64_t written = exanet_reg_written64(s, EXANET_CDMA(ch) + reg);

    switch (reg) {
    case EXANET_REG_CDMA_CR:
        if (written & EXANET_CDMA_CR_RESET) {
            trace_exanet_cdma_reset(s->node, ch);
            channel_reset(channel(s, ch));
        }
        irq_update(s);
        break;
    case EXANET_REG_CDMA_SR:
        irq_update(s);
        break;
    case EXANET_REG_CDMA_BTT:
        channel_start(channel(s, ch));
        break;
    }
}

void exanet_cdma_tracker_sync(ExanetState *s, unsigned i)
{
    const CdmaChannel *ch = channel(s, i);
    unsigned base = EXANET_SHM_TRACKER(i);

    exanet_reg_set64(s, base + EXANET_REG_TRACKER_SA, ch->sa);
    exanet_reg_set64(s, base + EXANET_REG_TRACKER_DA, ch->da);
    exanet_reg_set32(s, base + EXANET_REG_TRACKER_LENGTH,
                     RNIC_PREP(EXANET_TRACKER_BYTES, ch->length) |
                     RNIC_PREP(EXANET_TRACKER_STATE, ch->state));
    exanet_reg_set32(s, base + EXANET_REG_TRACKER_ISSUED, ch->issued);
    exanet_reg_set32(s, base + EXANET_REG_TRACKER_ACKED, ch->acked);
    exanet_reg_set32(s, base + EXANET_REG_TRACKER_FAILED, ch->failed);
    exanet_reg_set32(s, base + EXANET_REG_TRACKER_ROUND, ch->round);
    for (unsigned n = 0; n < 3; n++) {
        const CdmaPiece *p = &ch->piece[ch->list[n]];

        exanet_reg_set64(s, base + EXANET_REG_TRACKER_HEAD0 + 8 * n,
                         n >= ch->failed ? 0 :
                         RNIC_PREP(EXANET_TRACKER_HEAD_OFFSET, p->offset) |
                         RNIC_PREP(EXANET_TRACKER_HEAD_LENGTH, p->size) |
                         RNIC_PREP(EXANET_TRACKER_HEAD_CODE, p->code));
    }
}

/* --- Life -------------------------------------------------------------------------- */

static void channel_timer(void *opaque)
{
    exanet_schedule(opaque);
}

void exanet_cdma_init(ExanetState *s)
{
    s->shm->cdma = g_new0(ExanetCdma, 1);
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = channel(s, i);

        ch->s = s;
        ch->index = i;
        ch->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, channel_timer, s);
        for (unsigned n = 0; n < PIECES; n++) {
            ch->piece[n].ch = ch;
            ch->piece[n].index = n;
        }
        ch->in[STAGE_FREE] = ~0ULL;
    }
}

void exanet_cdma_fini(ExanetState *s)
{
    for (unsigned i = 0; s->shm->cdma && i < EXANET_CDMA_CHANNELS; i++) {
        timer_free(channel(s, i)->timer);
    }
    g_free(g_steal_pointer(&s->shm->cdma));
}

void exanet_cdma_reset(ExanetState *s)
{
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = channel(s, i);

        channel_reset(ch);
        /* the initiator is reset as well */
        for (unsigned n = 0; n < PIECES; n++) {
            piece_move(&ch->piece[n], STAGE_FREE);
        }
    }
}
