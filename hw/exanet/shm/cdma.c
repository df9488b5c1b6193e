/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: the AXI Central DMA beside the network interface, and the RDMA tracker,
 * which makes the DMA repeat pieces that failed [T §4.4].
 *
 * The DMA cuts a transfer into pieces, one AXI burst each.  In a pass, the DMA moves new
 * pieces.  The pass ends when all pieces have begun, or when too many pieces have failed.
 * After the pass, the DMA repeats the failed pieces in rounds.  If the pass has not
 * reached the end of the transfer, another pass follows the rounds.  Each repetition
 * reads the piece from the source again.  A transfer ends when no request of the transfer
 * is under way any more.  If the context of the transfer is disabled or quiesced, or
 * software resets the channel, the transfer ends at once.
 */
#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "../../core/backoff.h"
#include "cdma-internal.h"
#include "cdma.h"
#include "../engine/context.h"
#include "../exanet.h"
#include "../base/irq.h"
#include "../base/regs.h"
#include "internal.h"
#include "timing.h"
#include "../trace.h"

#define PIECES_PER_RUN 64
/* A pass ends when this number or fewer of CdmaChannel.piece are not FAILED. */
#define PIECES_RESERVED EXANET_CDMA_OUTSTANDING_MAX

#define BEAT_BYTES 8
#define BEATS_MAX (EXANET_MTU / BEAT_BYTES)
#define PAGE_BYTES (1ULL << EXANET_TLB_SHIFT)

/*
 * First pause, ns, before a round after FULL or FAULT.  The pause doubles with each
 * round, up to the time in SHM_TIMEOUT if this time is longer than BACKOFF_NS.
 */
#define BACKOFF_NS (20 * SCALE_US)
#define BACKOFF_SHIFT_MAX 16

#define SR_ERRORS (EXANET_CDMA_SR_INT_ERR | EXANET_CDMA_SR_SLV_ERR | \
                   EXANET_CDMA_SR_DEC_ERR)

/* Returns true if the channel has a transfer that is not failing. */
static bool channel_active(const CdmaChannel *ch)
{
    return cdma_busy(ch) && !ch->failing;
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

/*
 * Raises interrupt cause CDMA if a channel has bit IOC or ERR both in CDMA_SR and in
 * CDMA_CR.  Otherwise clears the cause.
 */
static void irq_update(ExanetState *s)
{
    uint32_t pending = 0;

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        const CdmaChannel *ch = cdma_channel(s, i);

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

/*
 * Makes the channel idle in @state, and sets IDLE and @bits in CDMA_SR.  The other bits
 * of CDMA_SR do not change.  Raises or clears the interrupt by irq_update().
 */
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

void exanet_cdma_failed(CdmaChannel *ch)
{
    const CdmaPiece *p = &ch->error;
    bool read = p->class == EXANET_SHM_RDMA_READ;

    ch->failing = false;
    exanet_count(ch->s, CDMA_FAILED);
    if (p->remote) {
        exanet_shm_error(ch->s, cdma_ctx(ch),
                         (read ? ch->sa : ch->da) + p->offset, p->class,
                         p->code == EXANET_RESP_NO_CONTEXT ? EXANET_RESP_ACK :
                         p->code, ch->round);
    }
    channel_idle(ch, EXANET_TRACKER_FAILED, error_bits(p->code));
}

/* --- The DMA ------------------------------------------------------------------ */

/* Returns the bytes from @address to the next higher multiple of @border. */
static unsigned room(uint64_t address, uint64_t border)
{
    return border - address % border;
}

/* Returns the size, in bytes, of the piece at @offset of the transfer. */
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
    CdmaPiece *p = &ch->piece[ctz64(ch->in[CDMA_STAGE_FREE])];

    p->offset = ch->next;
    p->size = piece_cut(ch, ch->next);
    ch->next += p->size;
    return p;
}

/*
 * Removes the oldest failed piece from @list of @ch, and returns the piece.  Counts the
 * piece in CDMA_RETRY.
 */
static CdmaPiece *piece_repeat(CdmaChannel *ch)
{
    CdmaPiece *p = &ch->piece[ch->list[0]];

    ch->left--;
    ch->failed--;
    memmove(ch->list, ch->list + 1, ch->failed * sizeof(ch->list[0]));
    exanet_count(ch->s, CDMA_RETRY);
    return p;
}

/* Returns true if the pass has ended: all pieces have begun, or too many have failed. */
static bool pass_over(const CdmaChannel *ch)
{
    return ch->next == ch->length || ch->failed >= CDMA_PIECES - PIECES_RESERVED;
}

/*
 * Moves the next piece to stage FETCH, and returns the piece.  Returns NULL if no piece
 * may begin now.
 */
static CdmaPiece *piece_next(CdmaChannel *ch)
{
    CdmaPiece *p = NULL;

    if (ch->in[CDMA_STAGE_FAULT] || ctpop64(cdma_outstanding(ch)) >= ch->outstanding) {
        return NULL;
    }
    if (ch->state == EXANET_TRACKER_RETRY && ch->left) {
        p = piece_repeat(ch);
    } else if (ch->state == EXANET_TRACKER_PASS && !pass_over(ch) &&
               ch->in[CDMA_STAGE_FREE]) {
        p = piece_new(ch);
    }
    if (p) {
        ch->issued++;
        cdma_move(p, CDMA_STAGE_FETCH);
    }
    return p;
}

/* --- The tracker --------------------------------------------------------------- */

/*
 * Returns the pause, ns, before the next round; 0 if no piece has failed with FULL or
 * FAULT.
 */
static int64_t round_wait(const CdmaChannel *ch)
{
    int64_t timeout = (uint64_t)EXANET_SHM_CYCLE_PS *
        exanet_reg_get32(ch->s, EXANET_SHM + EXANET_REG_SHM_TIMEOUT) / 1000;

    for (unsigned i = 0; i < ch->failed; i++) {
        uint8_t code = ch->piece[ch->list[i]].code;

        if (code == EXANET_RESP_FULL || code == EXANET_RESP_FAULT) {
            return rnic_backoff(BACKOFF_NS, ch->round - 1, BACKOFF_SHIFT_MAX,
                                MAX(timeout, BACKOFF_NS));
        }
    }
    return 0;
}

/*
 * Starts the next round for the failed pieces of @ch.  If SHM_RETRY_MAX rounds have
 * followed the last pass already, makes the transfer fail instead, with the error of the
 * oldest failed piece.
 */
static void round_begin(CdmaChannel *ch)
{
    int64_t wait;

    if (ch->round >= exanet_reg_get32(ch->s, EXANET_SHM +
                                      EXANET_REG_SHM_RETRY_MAX)) {
        exanet_cdma_fail(ch, &ch->piece[ch->list[0]]);
        return;
    }
    ch->round++;
    ch->left = ch->failed;
    ch->state = EXANET_TRACKER_RETRY;
    wait = round_wait(ch);
    ch->wait = rnic_now() + wait;
    if (wait) {
        timer_mod(ch->timer, ch->wait);
    }
    trace_exanet_cdma_round(ch->s->node, ch->index, ch->round, ch->failed, wait);
}

/*
 * If the DMA has nothing to do in the present @state of @ch, starts the next drain, round
 * or pass, or ends the transfer.  Returns true if a round or a pass has begun.  The round
 * may begin with a pause.
 */
static bool channel_advance(CdmaChannel *ch)
{
    if (ch->failing || cdma_runnable(ch) || ch->in[CDMA_STAGE_FAULT]) {
        return false;
    }
    if ((ch->state == EXANET_TRACKER_PASS && pass_over(ch)) ||
        (ch->state == EXANET_TRACKER_RETRY && !ch->left)) {
        ch->state = EXANET_TRACKER_DRAIN;
    }
    if (ch->state != EXANET_TRACKER_DRAIN || cdma_in_flight(ch)) {
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
    return cdma_busy(ch);
}

/* --- Work ----------------------------------------------------------------------- */

/*
 * Begins or tries to advance at most @budget pieces of @ch.  Returns the unused part of
 * @budget.
 */
static unsigned channel_step(CdmaChannel *ch, unsigned budget)
{
    bool open = true;
    CdmaPiece *p;

    for (uint64_t ready = cdma_runnable(ch); ready && budget && channel_active(ch);
         ready &= ready - 1, budget--) {
        open &= exanet_cdma_piece_step(&ch->piece[ctz64(ready)]);
    }
    while (open && budget && channel_active(ch) && (p = piece_next(ch))) {
        open = exanet_cdma_piece_step(p);
        budget--;
    }
    return budget;
}

/*
 * Does the work of a run for @ch.  Returns true if the limit PIECES_PER_RUN was reached,
 * so that the channel may be able to continue now.
 */
static bool channel_run(CdmaChannel *ch)
{
    unsigned budget = PIECES_PER_RUN;

    do {
        if (!cdma_busy(ch) || !exanet_timing_due(ch->s, ch->begin) ||
            (ch->left && ch->wait > rnic_now())) {
            return false;
        }
        budget = channel_step(ch, budget);
    } while (channel_advance(ch) && budget);
    return !budget;
}

bool exanet_cdma_run(ExanetState *s)
{
    bool more = false;

    /* each run begins with another channel, because the initiator has few slots */
    s->shm->cdma->first++;
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = cdma_channel(s, (s->shm->cdma->first + i) %
                                       EXANET_CDMA_CHANNELS);

        more |= channel_run(ch);
        exanet_shm_wake(s, cdma_busy(ch));
    }
    return more;
}

void exanet_cdma_quiesce(ExanetState *s, unsigned c)
{
    const CdmaPiece p = { .code = EXANET_RESP_PROTECTION };

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = cdma_channel(s, i);

        if (cdma_busy(ch) && cdma_ctx(ch) == c) {
            /* exanet_initiator_quiesce() ends the requests under way */
            exanet_cdma_abandon(ch);
            exanet_cdma_fail(ch, &p);
        }
    }
}

unsigned exanet_cdma_active(ExanetState *s, unsigned c)
{
    unsigned active = 0;

    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        const CdmaChannel *ch = cdma_channel(s, i);

        active += cdma_busy(ch) && cdma_ctx(ch) == c;
    }
    return active;
}

/* --- Registers -------------------------------------------------------------------- */

/*
 * Returns true if the range of @bytes (not 0) at @address does not wrap around.  @remote:
 * @address is a GVA, and the VA in the GVA must not wrap around.
 */
static bool side_valid(uint64_t address, uint32_t bytes, bool remote)
{
    if (remote) {
        return RNIC_GET(EXANET_GVA_VA, address) + bytes <= EXANET_GVA_VA + 1;
    }
    return address + bytes - 1 >= address;
}

/*
 * Returns the error bits of CDMA_SR for a transfer that is not valid; 0 if it is valid.
 */
static uint32_t channel_check(const CdmaChannel *ch)
{
    const ExanetContext *ctx = &ch->s->ctx[cdma_ctx(ch)];
    bool sa_remote = ch->sides & EXANET_CDMA_SIDES_SA_GVA;
    bool da_remote = !(ch->sides & EXANET_CDMA_SIDES_DA_LOCAL);

    if (ch->length == 0 || ctx->quiesce ||
        ((ch->sides & EXANET_CDMA_SIDES_TRANSLATE) && !ctx->enabled)) {
        return EXANET_CDMA_SR_ERR | EXANET_CDMA_SR_INT_ERR;
    }
    if (!side_valid(ch->sa, ch->length, sa_remote) ||
        !side_valid(ch->da, ch->length, da_remote)) {
        return EXANET_CDMA_SR_ERR | EXANET_CDMA_SR_DEC_ERR;
    }
    return 0;
}

/* Copies the registers of @ch into @ch, and sets the progress of the transfer to 0. */
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

/*
 * Starts the transfer that the registers of @ch describe.  If the transfer is not valid,
 * logs and counts the error, and sets the bits of the error in CDMA_SR.  If the channel
 * is busy, only logs the error and restores CDMA_BTT.
 */
static void channel_start(CdmaChannel *ch)
{
    uint32_t bits;

    if (cdma_busy(ch)) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: BTT of CDMA channel %u written "
                      "while it is busy\n", ch->index);
        reg_set(ch, EXANET_REG_CDMA_BTT, ch->length);
        return;
    }
    exanet_cdma_abandon(ch);
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
    ch->begin = exanet_timing_after(ch->s, EXANET_TIMING_CDMA);
    exanet_shm_schedule(ch->s);
}

/*
 * Resets the registers of @ch, and drops the transfer.  Pieces with a request under way
 * become ORPHAN, and the responses to these requests are ignored.
 */
static void channel_reset(CdmaChannel *ch)
{
#define REG_RESET(name, offset, bytes, reset, writable, w1c) \
    { offset, bytes, reset },
    static const struct {
        uint16_t offset;
        uint8_t bytes;
        uint64_t reset;
    } regs[] = { EXANET_CDMA_REGS(REG_RESET) };
#undef REG_RESET

    for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
        if (regs[i].bytes == 8) {
            exanet_reg_set64(ch->s, EXANET_CDMA(ch->index) + regs[i].offset,
                             regs[i].reset);
        } else {
            reg_set(ch, regs[i].offset, regs[i].reset);
        }
    }
    exanet_cdma_abandon(ch);
    channel_latch(ch);
    ch->state = EXANET_TRACKER_IDLE;
}

void exanet_cdma_reg_written(ExanetState *s, unsigned ch, unsigned reg)
{
    uint64_t written = exanet_reg_written64(s, EXANET_CDMA(ch) + reg);

    switch (reg) {
    case EXANET_REG_CDMA_CR:
        if (written & EXANET_CDMA_CR_RESET) {
            trace_exanet_cdma_reset(s->node, ch);
            channel_reset(cdma_channel(s, ch));
        }
        irq_update(s);
        break;
    case EXANET_REG_CDMA_SR:
        irq_update(s);
        break;
    case EXANET_REG_CDMA_BTT:
        channel_start(cdma_channel(s, ch));
        break;
    }
}

void exanet_cdma_tracker_sync(ExanetState *s, unsigned i)
{
    const CdmaChannel *ch = cdma_channel(s, i);
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

/* --- Init and reset ------------------------------------------------------- */

static void channel_timer(void *opaque)
{
    exanet_shm_schedule(opaque);
}

void exanet_cdma_init(ExanetState *s)
{
    s->shm->cdma = g_new0(ExanetCdma, 1);
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = cdma_channel(s, i);

        ch->s = s;
        ch->index = i;
        ch->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, channel_timer, s);
        for (unsigned n = 0; n < CDMA_PIECES; n++) {
            ch->piece[n].ch = ch;
            ch->piece[n].index = n;
        }
        ch->in[CDMA_STAGE_FREE] = ~0ULL;
    }
}

void exanet_cdma_fini(ExanetState *s)
{
    for (unsigned i = 0; s->shm->cdma && i < EXANET_CDMA_CHANNELS; i++) {
        timer_free(cdma_channel(s, i)->timer);
    }
    g_free(g_steal_pointer(&s->shm->cdma));
}

void exanet_cdma_reset(ExanetState *s)
{
    for (unsigned i = 0; i < EXANET_CDMA_CHANNELS; i++) {
        CdmaChannel *ch = cdma_channel(s, i);

        channel_reset(ch);
        /* no request is under way, because exanet_shm_abort() has ended all requests */
        for (unsigned n = 0; n < CDMA_PIECES; n++) {
            cdma_move(&ch->piece[n], CDMA_STAGE_FREE);
        }
    }
}
