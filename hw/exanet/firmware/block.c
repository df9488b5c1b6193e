/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware's model, lower half: blocks.  A block has a transaction descriptor (TID)
 * until the block is acknowledged or the transfer fails.  Generation and sequence number
 * distinguish successive blocks of a TID.  The next copy, with the next sequence number,
 * follows a response that permits a retransmission, a source page fault, or a timeout.
 */
#include "qemu/osdep.h"
#include "../../core/backoff.h"
#include "../net/net.h"
#include "../engine/exadma.h"
#include "../exanet.h"
#include "../engine/fault.h"
#include "internal.h"
#include "../engine/receiver.h"
#include "../base/regs.h"
#include "../engine/segment.h"
#include "../base/wire.h"
#include "../trace.h"

#define FW_BACKOFF_SHIFT_MAX 10     /* the back-off doubles up to x 1024 */
#define FW_CHAIN_MAX 8              /* maximal number of blocks in a chain */
/* Maximal timeout of a copy and maximal back-off, ns.  Receivers keep state longer. */
#define FW_PAUSE_MAX_NS (EXANET_TID_AGE_NS / 2)

/*
 * Empties ExaDMA's list of stopped transactions.  Blocks of the list that are FW_SENT
 * become FW_STOPPED, and their TIDs are added to @errors of @fw.
 */
static void fw_stopped_take(ExanetState *s, ExanetFirmware *fw)
{
    ExanetStopped stopped;

    while (s->exadma.stops.count && exanet_exadma_pop_stopped(s, &stopped)) {
        FwBlock *b = &fw->block[stopped.tid];

        if (b->state == FW_SENT) {
            b->state = FW_STOPPED;
            b->error = stopped.resp;
            b->reported = stopped.reported;
            fw_push(&fw->errors, stopped.tid);
        }
    }
}

void exanet_fw_enter(ExanetState *s, ExanetFirmware *fw)
{
    fw->now = rnic_now();
    /* wakes the firmware, because the caller may create work for the next run */
    s->awake |= EXANET_AWAKE_R5;
    fw_stopped_take(s, fw);
}

/* --- Deadlines ------------------------------------------------------------------ */

void exanet_fw_timer_expired(void *opaque)
{
    ExanetFirmware *fw = opaque;

    rnic_deadline_fired(&fw->timer);
    fw->expired = true;
    fw->s->awake |= EXANET_AWAKE_R5;
    exanet_schedule(fw->s);
}

static void fw_deadline(ExanetFirmware *fw, unsigned tid, int64_t when)
{
    fw->deadline[tid] = when;
    fw->next = MIN(fw->next, when);
}

/* The timer may fire early, because the end of a block does not disarm the timer. */
void exanet_fw_timer_update(ExanetFirmware *fw)
{
    rnic_deadline_at(&fw->timer, fw->next);
}

/* Sets the deadline for the answer to the last copy of @tid. */
static void fw_deadline_answer(ExanetFirmware *fw, unsigned tid)
{
    const FwBlock *b = &fw->block[tid];

    /* no deadline without the control packet, because the ack follows that packet */
    fw_deadline(fw, tid, b->notify && !b->control ? FW_NEVER :
                fw->now + rnic_backoff(fw_timeout_ns(fw, b->peer), b->retries,
                                       EXANET_FW_TIMEOUT_SHIFT_MAX, FW_PAUSE_MAX_NS));
}

/* --- Blocks ------------------------------------------------------------------------ */

static uint16_t fw_wire_tid(ExanetState *s, unsigned tid, unsigned gen)
{
    return tid | (s->strict ? 0 : RNIC_PREP(EXANET_TID_GEN, gen));
}

/*
 * Returns the TID that ExaDMA starts after @tid.  Returns FW_NONE if @tid has no
 * successor, or if the successor does not wait for @tid any more.
 */
static unsigned fw_successor(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    unsigned next = fw->block[tid].next;

    return next != FW_NONE && fw->block[next].prev == tid &&
           exanet_exadma_armed(&s->exadma, next) ? next : FW_NONE;
}

static unsigned fw_output(const FwBlock *b)
{
    return b->path % EXANET_OUTPUTS;
}

/* Returns fields SENT and DONE of W3: the bytes of the last copy in built packets. */
static uint64_t fw_sent(ExanetState *s, unsigned tid)
{
    return s->exadma.desc[tid][2] & (EXANET_DESC_W3_SENT | EXANET_DESC_W3_DONE);
}

/* Returns true if there is a route for @b now. */
static bool fw_has_route(ExanetState *s, const FwBlock *b)
{
    return exanet_net_route(s, b->peer->coord, b->path) != EXANET_ROUTE_NONE;
}

/*
 * Writes the descriptor of @tid.  If @wait is false, the write starts the copy.
 * Otherwise ExaDMA starts the copy behind the predecessor in the chain.
 */
static void fw_desc_write(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                          bool wait)
{
    FwBlock *b = &fw->block[tid];
    const FwTransfer *t = fw_transfer(fw, tid);
    uint64_t w3 = RNIC_PREP(EXANET_DESC_W3_PDID, t->src_pdid) |
                  RNIC_PREP(EXANET_DESC_W3_LENGTH, b->len) |
                  RNIC_PREP(EXANET_DESC_W3_NOTIFY, b->notify) |
                  RNIC_PREP(EXANET_DESC_W3_DB, wait);

    if (b->seq == b->first_seq) {
        b->sent = fw->now;
    }
    b->routed |= fw_has_route(s, b);
    if (b->next != FW_NONE) {
        w3 |= EXANET_DESC_W3_CHAINED |
              RNIC_PREP(EXANET_DESC_W3_DEP, b->next);
    }
    exanet_exadma_desc_write(s, tid, (const uint64_t[EXANET_DESC_WORDS]) {
        b->src,
        b->dst,
        w3,
        RNIC_PREP(EXANET_DESC_W4_PATH, b->path) |
        RNIC_PREP(EXANET_DESC_W4_SEQ, b->seq) |
        RNIC_PREP(EXANET_DESC_W4_DST_PDID, t->dst_pdid) |
        EXANET_DESC_W4_DST_VALID |
        RNIC_PREP(EXANET_DESC_W4_RESP, EXANET_SMALL(EXANET_NI_RT_RESPONSE)) |
        RNIC_PREP(EXANET_DESC_W4_GEN,
                  RNIC_GET(EXANET_TID_GEN, fw_wire_tid(s, tid, b->gen))),
    });
}

/* Gives the control packet of @tid to ExaDMA.  Returns false if ExaDMA has no room. */
static bool fw_control_send(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    const FwTransfer *t = fw_transfer(fw, tid);
    FwBlock *b = &fw->block[tid];
    bool sent = exanet_exadma_control_send(s, fw_output(b), tid,
        (const uint64_t[EXANET_CONTROL_STORES]) {
            t->notify_gva,
            t->notify_data,
            RNIC_PREP(EXANET_CONTROL_LENGTH, t->len) |
            RNIC_PREP(EXANET_CONTROL_HANDLE, t->handle) |
            RNIC_PREP(EXANET_CONTROL_IRQ, t->notify_irq),
        });

    b->left |= sent;
    return sent;
}

/*
 * Sends the control packet of @tid.  If ExaDMA's queue is full, or @controls of @fw is
 * not empty, adds @tid to @controls; fw_controls_flush() sends the control packet later.
 */
static void fw_control(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    if (!fw->controls.fifo.count && fw_control_send(s, fw, tid)) {
        return;
    }
    fw->block[tid].control_due = true;
    if (!fw->control_queued[tid]) {
        fw->control_queued[tid] = true;
        fw_push(&fw->controls, tid);
    }
}

/* Sends the waiting control packets for which ExaDMA's queues have room now. */
static void fw_controls_flush(ExanetState *s, ExanetFirmware *fw)
{
    for (unsigned n = fw->controls.fifo.count; n; n--) {
        unsigned tid = fw_pop(&fw->controls);
        FwBlock *b = &fw->block[tid];

        fw->control_queued[tid] = false;
        if (!b->control_due || b->state != FW_SENT) {
            continue;       /* the block has ended or was stopped */
        }
        if (fw_control_send(s, fw, tid)) {
            b->control_due = false;
        } else {
            fw->control_queued[tid] = true;
            fw_push(&fw->controls, tid);
        }
    }
}

void exanet_fw_leave(ExanetState *s, ExanetFirmware *fw)
{
    fw_controls_flush(s, fw);
    exanet_fw_timer_update(fw);
}

/*
 * Starts copy FwBlock.seq of @tid, with a control packet if FwBlock.control is set, and
 * sets the deadline for the answer.  Stops an older copy that ExaDMA still sends.
 */
static void fw_block_send(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];

    if (exanet_exadma_busy(&s->exadma, tid)) {
        exanet_exadma_kill(s, tid);
    }
    b->next = fw_successor(s, fw, tid);
    b->state = FW_SENT;
    b->control_due = false;
    fw_desc_write(s, fw, tid, false);
    if (b->control) {
        fw_control(s, fw, tid);
    }
    fw_deadline_answer(fw, tid);
}

/*
 * If all other blocks of @t were acked, sends the control packet of the last block.  If
 * the last block is not FW_SENT, its next copy has the control packet instead.  The
 * control packet must be last, because the packet permits the notification [P §3.10].
 */
static void fw_control_check(ExanetState *s, ExanetFirmware *fw, FwTransfer *t)
{
    FwBlock *b;

    if (t->last == FW_NONE || t->inflight != 1) {
        return;
    }
    b = &fw->block[t->last];
    if (b->control) {
        return;
    }
    b->control = true;
    if (b->state == FW_SENT) {
        if (b->seq == b->first_seq) {
            b->sent = fw->now;      /* no ack can come before the control packet */
        }
        fw_control(s, fw, t->last);
        fw_deadline_answer(fw, t->last);
    }
}

/*
 * Sends RELEASE, which frees the receiver context of the block of @tid.  This node sends
 * no more packets of the block [P §3.6].
 */
static void fw_release(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    const FwBlock *b = &fw->block[tid];
    uint8_t buf[2 * EXANET_WORD_BYTES];
    ExanetPacket pkt = {
        .type = EXANET_TYPE_RELEASE,
        .va = EXANET_NI_VA(EXANET_NI_RECEIVER),
        .dst = b->peer->coord,
        .src = s->node,
        .path = b->path,
        .pdid = fw_transfer(fw, tid)->dst_pdid,
        .tid = fw_wire_tid(s, tid, b->gen),
        .seq = b->seq,
        .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
        .ttl = EXANET_TTL_MAX,
        .epoch = s->epoch,
    };

    exanet_net_respond(s, pkt.dst, buf, exanet_packet_encode(buf, &pkt));
    exanet_schedule(s);
}

/*
 * Records the end of the block of @tid.  Sends RELEASE if the block was not acked,
 * packets of the block may have left, a route existed, and CTRL_STRICT is not set.
 */
static void fw_block_end(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    bool routed = b->routed || fw_has_route(s, b);
    uint64_t sent = fw_sent(s, tid);
    bool maybe_done = b->maybe_done || (b->state == FW_SENT && !b->nacked &&
                                        (sent & EXANET_DESC_W3_DONE));

    b->routed = routed;
    exanet_fw_record_end(fw, b, tid, routed && maybe_done);
    if (!b->acked && routed && (b->left || sent) && !s->strict) {
        fw_release(s, fw, tid);
    }
    b->peer = NULL;
}

void exanet_fw_block_free(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    FwTransfer *t = fw_transfer(fw, tid);

    if (exanet_exadma_busy(&s->exadma, tid) || exanet_exadma_armed(&s->exadma, tid)) {
        exanet_exadma_kill(s, tid);
    }
    fw_block_end(s, fw, tid);
    if (t->last == tid) {
        t->last = FW_NONE;
    }
    t->inflight--;
    fw->tids[t->ctx]--;
    b->state = FW_FREE;
    b->next = FW_NONE;
    b->prev = FW_NONE;
    b->control_due = false;
    fw->deadline[tid] = FW_NEVER;
    fw_push(&fw->free[t->ctx], tid);
}

/* Removes and returns a free TID of context @c that is usable for @peer, or FW_NONE. */
static unsigned fw_tid_take(ExanetState *s, ExanetFirmware *fw, unsigned c,
                            FwPeer *peer)
{
    FwTids *free = &fw->free[c];

    for (unsigned n = free->fifo.count; n; n--) {
        unsigned tid = fw_pop(free);

        /* software of the guest may have started the TID in the Pending_List */
        if (!exanet_exadma_busy(&s->exadma, tid) &&
            exanet_fw_record_usable(fw, peer, tid)) {
            return tid;
        }
        fw_push(free, tid);
    }
    return FW_NONE;
}

/*
 * Cuts the next block, of at most @max bytes, from @t, and returns the block's TID.  The
 * caller starts the block.  Returns FW_NONE if no TID is usable.
 */
static unsigned fw_block_new(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                             FwPeer *peer, const FwPaths *paths, uint32_t max)
{
    uint64_t dst = t->dst + t->issued;
    uint32_t len = exanet_segment(dst, t->len - t->issued, max);
    unsigned tid = fw_tid_take(s, fw, t->ctx, peer);
    FwBlock *b;
    FwCopy first;

    if (tid == FW_NONE) {
        return FW_NONE;
    }
    first = exanet_fw_record_begin(fw, t, peer, paths, tid, len);
    b = &fw->block[tid];
    *b = (FwBlock) {
        .peer = peer,
        .src = t->src + t->issued, .dst = dst, .len = len,
        .transfer = t - fw->transfer,
        .order = ++fw->order,
        .seq = first.seq, .first_seq = first.seq, .gen = first.gen, .path = first.path,
        .next = FW_NONE, .prev = FW_NONE,
        .shorter = peer->shorter,
        .state = FW_SENT,
        .notify = t->notify && t->issued + len == t->len,
    };
    t->issued += len;
    t->inflight++;
    fw->tids[t->ctx]++;
    if (b->notify) {
        t->last = tid;
    }
    return tid;
}

/* --- Retransmission ------------------------------------------------------- */

/*
 * Sends another copy of @tid now, on another path if the peer has several.  Fails the
 * transfer with RETRY_LIMIT if the block has used the last sequence number.
 */
static void fw_retry(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    FwTransfer *t = fw_transfer(fw, tid);

    if (b->seq == FW_SEQ_MAX) {
        exanet_fw_transfer_finish(s, fw, t, EXANET_CHERR_RETRY_LIMIT);
        return;
    }
    b->left |= fw_sent(s, tid) != 0;
    b->seq++;
    b->order = ++fw->order;
    exanet_fw_path_next(s, b);      /* a cable of the last path may be cut */
    t->retries = MIN(t->retries + 1, UINT16_MAX);
    trace_exanet_firmware_retry(s->node, tid, b->seq);
    fw_status(s, t, EXANET_CHANNEL_ACTIVE, 0);
    fw_block_send(s, fw, tid);
}

/*
 * Counts a loss of @tid and returns true.  Returns false, and counts nothing, if @tid has
 * had FW_RETRY_MAX losses since a block of the transfer was acked last.
 */
static bool fw_may_retry(ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    uint32_t acked = fw_transfer(fw, tid)->acked;

    if (acked != b->progress_acked) {
        b->progress_acked = acked;
        b->stalled = 0;
    }
    if (b->stalled >= fw->retry_max) {
        return false;
    }
    b->stalled++;
    b->retries += b->retries < UINT16_MAX;
    return true;
}

/*
 * Counts a loss of @tid and retransmits the block.  Fails the transfer with @code if
 * fw_may_retry() permits no other copy.
 */
static void fw_retry_counted(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                             unsigned code)
{
    if (!fw_may_retry(fw, tid)) {
        exanet_fw_transfer_finish(s, fw, fw_transfer(fw, tid), code);
        return;
    }
    exanet_fw_lost(fw, &fw->block[tid]);
    fw_retry(s, fw, tid);
}

/*
 * Stops the last copy of @tid, and schedules a retransmission after a back-off; or fails
 * the transfer with @code if the block has had FW_PF_RETRY_MAX back-offs.  The back-off
 * begins with FW_PF_BACKOFF_NS, doubles each time up to 1024 times this value, and is at
 * least @least ns and at most FW_PAUSE_MAX_NS.
 */
static void fw_hold(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                    int64_t least, unsigned code)
{
    FwBlock *b = &fw->block[tid];
    int64_t delay = rnic_backoff(fw->backoff, b->backoffs, FW_BACKOFF_SHIFT_MAX,
                                 INT64_MAX);

    if (b->backoffs >= fw->pf_retry_max) {
        exanet_fw_transfer_finish(s, fw, fw_transfer(fw, tid), code);
        return;
    }
    if (exanet_exadma_busy(&s->exadma, tid)) {
        /* the rest of the copy cannot complete the block */
        exanet_exadma_kill(s, tid);
    }
    b->backoffs++;
    b->state = FW_HOLD;
    b->source = false;
    fw_deadline(fw, tid, fw->now + MIN(MAX(delay, least), FW_PAUSE_MAX_NS));
}

/* Handles the deadline of @tid, which has passed.  The block is FW_SENT or FW_HOLD. */
static void fw_timeout(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    int64_t until;

    if (b->state == FW_HOLD) {
        fw_retry(s, fw, tid);
        return;
    }
    until = exanet_fw_retry_deferred(fw, b);
    if (until) {
        fw_deadline(fw, tid, until);
        return;
    }
    if (!exanet_exadma_busy(&s->exadma, tid) && !exanet_exadma_armed(&s->exadma, tid)) {
        exanet_count(s, RETRY_TIMEOUT);
        b->maybe_done = true;
        fw_retry_counted(s, fw, tid, EXANET_CHERR_RETRY_LIMIT);
        return;
    }
    /*
     * ExaDMA has not sent the copy completely, so another copy would not be faster.  A
     * copy without progress counts as a loss.  No loss is counted for a block that waits
     * in a chain, because the limit of the predecessor's losses ends the transfer.
     */
    if (exanet_exadma_armed(&s->exadma, tid) || fw_sent(s, tid) != b->progress) {
        b->progress = fw_sent(s, tid);
    } else if (!fw_may_retry(fw, tid)) {
        exanet_fw_transfer_finish(s, fw, fw_transfer(fw, tid),
                                  EXANET_CHERR_RETRY_LIMIT);
        return;
    }
    fw_deadline_answer(fw, tid);
}

void exanet_fw_timeouts(ExanetState *s, ExanetFirmware *fw)
{
    fw->expired = false;
    fw->next = FW_NEVER;
    for (unsigned tid = 0; tid < EXANET_TIDS; tid++) {
        if (fw->deadline[tid] <= fw->now) {
            fw->deadline[tid] = FW_NEVER;
            if (fw->block[tid].state == FW_SENT ||
                fw->block[tid].state == FW_HOLD) {
                fw_timeout(s, fw, tid);
            }
        }
        fw->next = MIN(fw->next, fw->deadline[tid]);
    }
    exanet_fw_reports_due(s, fw);
}

void exanet_fw_stopped(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    FwTransfer *t = fw_transfer(fw, tid);

    if (b->state != FW_STOPPED) {
        return;         /* the transfer has ended since ExaDMA stopped the block */
    }
    if (b->error != EXANET_RESP_FAULT) {
        exanet_fw_transfer_finish(s, fw, t, b->error);
        return;
    }
    if (s->ctx[t->ctx].no_report) {
        exanet_fw_transfer_finish(s, fw, t, EXANET_CHERR_SOURCE_FAULT);
        return;
    }
    exanet_count(s, RETRY_FAULT);
    fw_hold(s, fw, tid, b->reported ? fw->timeout : 0,
            EXANET_CHERR_SOURCE_FAULT);
    if (b->state == FW_HOLD) {
        b->source = b->reported;
    }
}

/*
 * Handles the driver's answer to a source fault of @tid (index, not wire TID).  If the
 * block is in FW_HOLD for this answer, sends another copy (@ok) or fails the transfer.
 */
static void fw_source_resolved(ExanetState *s, unsigned tid, bool ok)
{
    ExanetFirmware *fw = s->firmware;
    FwBlock *b = &fw->block[tid];

    exanet_fw_enter(s, fw);
    if (b->state == FW_STOPPED) {
        b->reported = false;    /* makes exanet_fw_stopped() wait only for the back-off */
        return;
    }
    if (b->state != FW_HOLD || !b->source) {
        return;
    }
    if (ok) {
        fw_retry(s, fw, tid);
    } else {
        exanet_fw_transfer_finish(s, fw, fw_transfer(fw, tid),
                                  EXANET_CHERR_SOURCE_FAULT);
    }
    exanet_fw_timer_update(fw);
}

bool exanet_fw_source_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
    unsigned tid = RNIC_GET(EXANET_TID_INDEX, f->tid);

    if (f->unit != EXANET_FAULT_RDMA || f->dst) {
        return false;
    }
    /* ignores the answer if the TID has a block of another generation now */
    if (RNIC_GET(EXANET_DESC_W4_GEN, s->exadma.desc[tid][3]) ==
        RNIC_GET(EXANET_TID_GEN, f->tid)) {
        fw_source_resolved(s, tid, ok);
    }
    return true;
}

/* --- Responses ------------------------------------------------------------- */

static void fw_acked(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwTransfer *t = fw_transfer(fw, tid);
    unsigned next = fw_successor(s, fw, tid);

    t->acked += fw->block[tid].len;
    fw->block[tid].acked = true;
    exanet_fw_block_free(s, fw, tid);
    if (next != FW_NONE) {
        /* the ack came before the last packet was built, so the successor still waits */
        fw_block_send(s, fw, next);
    }
    if (t->acked == t->len) {
        exanet_fw_transfer_finish(s, fw, t, 0);
        return;
    }
    fw_status(s, t, EXANET_CHANNEL_ACTIVE, 0);
    fw_runnable(fw, t);
    fw_control_check(s, fw, t);
}

static void fw_nacked(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                      enum exanet_resp resp)
{
    switch (resp) {
    case EXANET_RESP_CRC:
        exanet_count(s, RETRY_CRC);
        /*
         * The receiver may keep the packets that have arrived.  So the next copy may
         * complete the block before all packets of that copy have left.
         */
        fw->block[tid].maybe_done = true;
        fw_retry_counted(s, fw, tid, resp);
        break;
    case EXANET_RESP_RESOLVED:
        exanet_count(s, RETRY_FAULT);
        fw_retry_counted(s, fw, tid, EXANET_RESP_FAULT);
        break;
    case EXANET_RESP_FAULT:
        exanet_count(s, RETRY_FAULT);
        fw_hold(s, fw, tid, 0, resp);
        break;
    case EXANET_RESP_NO_CONTEXT:
        exanet_count(s, RETRY_NO_CONTEXT);
        fw_hold(s, fw, tid, 0, resp);
        break;
    case EXANET_RESP_FULL:
        exanet_count(s, RETRY_FULL);
        fw_hold(s, fw, tid, 0, resp);
        break;
    default:
        fw->block[tid].nacked = true;
        exanet_fw_transfer_finish(s, fw, fw_transfer(fw, tid), resp);
        break;
    }
}

/*
 * Returns true if response @word has the wire TID of block @b and a known code, and is
 * valid in the state of @b.  In FW_SENT the response must answer the last copy.  In
 * FW_HOLD only RESOLVED and codes that fail the transfer are valid, for any copy.  In
 * other states no response is valid.
 */
static bool fw_response_matches(ExanetState *s, const FwBlock *b, unsigned tid,
                                uint32_t word)
{
    unsigned seq = RNIC_GET(EXANET_RT_SEQ, word);
    unsigned resp = RNIC_GET(EXANET_RT_RESP, word);

    if (RNIC_GET(EXANET_RT_TID, word) != fw_wire_tid(s, tid, b->gen) ||
        resp > EXANET_RESP_MALFORMED) {
        return false;
    }
    switch (b->state) {
    case FW_SENT:
        return seq == b->seq;
    case FW_HOLD:
        return seq <= b->seq &&
               (resp == EXANET_RESP_RESOLVED || resp == EXANET_RESP_DECODE ||
                resp == EXANET_RESP_PROTECTION ||
                resp == EXANET_RESP_MALFORMED);
    default:
        return false;
    }
}

/*
 * Returns true if the firmware may assume after response @resp that the receiver has
 * recorded the generation of the block.  A receiver without room (NO_CONTEXT, FULL) may
 * have recorded nothing.
 */
static bool fw_response_knows(enum exanet_resp resp)
{
    return resp <= EXANET_RESP_MALFORMED && resp != EXANET_RESP_NO_CONTEXT &&
           resp != EXANET_RESP_FULL;
}

void exanet_fw_response(ExanetState *s, ExanetFirmware *fw, uint32_t word)
{
    unsigned tid = RNIC_GET(EXANET_TID_INDEX, RNIC_GET(EXANET_RT_TID, word));
    enum exanet_resp resp = RNIC_GET(EXANET_RT_RESP, word);
    FwBlock *b = &fw->block[tid];
    bool ours = RNIC_GET(EXANET_RT_TID, word) == fw_wire_tid(s, tid, b->gen);

    if (RNIC_GET(EXANET_RT_SEQ, word) == FW_SEQ_NO_BLOCK) {
        exanet_fw_report_answer(s, fw, word);
        return;
    }
    if (ours && fw_response_knows(resp)) {
        exanet_fw_record_answer(fw, tid, RNIC_GET(EXANET_RT_SEQ, word),
                                resp == EXANET_RESP_ACK);
    }
    if (!fw_response_matches(s, b, tid, word)) {
        exanet_count(s, ACK_STALE);
        return;
    }
    b->peer->answered = true;
    trace_exanet_firmware_response(s->node, RNIC_GET(EXANET_RT_TID, word),
                                   b->seq, resp);
    if (resp == EXANET_RESP_ACK) {
        fw_acked(s, fw, tid);
    } else if (b->state == FW_HOLD && resp == EXANET_RESP_RESOLVED) {
        fw_retry(s, fw, tid);       /* no loss: fw_hold() has counted the back-off */
    } else {
        fw_nacked(s, fw, tid, resp);
    }
}

/* --- Starting blocks -------------------------------------------------------- */

/*
 * Starts up to @max blocks of @t (at most FW_CHAIN_MAX), as one chain for each path, as
 * far as FW_WINDOW and TIDs allow.  Returns the number of started blocks.
 */
static unsigned fw_issue_chains(ExanetState *s, ExanetFirmware *fw,
                                FwTransfer *t, FwPeer *peer, const FwPaths *paths,
                                unsigned max)
{
    uint32_t bytes = exanet_fw_block_bytes(s, fw, peer);
    unsigned tids[FW_CHAIN_MAX];
    unsigned tail[EXANET_PATHS];
    unsigned n = 0;

    for (unsigned i = 0; i < EXANET_PATHS; i++) {
        tail[i] = FW_NONE;
    }
    while (n < max && t->issued < t->len && t->inflight < fw->window) {
        unsigned tid = fw_block_new(s, fw, t, peer, paths, bytes);
        unsigned *last;

        if (tid == FW_NONE) {
            break;
        }
        last = &tail[fw->block[tid].path];
        if (*last != FW_NONE) {
            fw->block[tid].prev = *last;
            fw->block[*last].next = tid;
        }
        *last = tid;
        tids[n++] = tid;
    }
    /* writes tails first, because ExaDMA must not start an unwritten descriptor */
    for (unsigned i = n; i-- > 0;) {
        if (fw->block[tids[i]].prev != FW_NONE) {
            fw_desc_write(s, fw, tids[i], true);
            fw_deadline_answer(fw, tids[i]);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (fw->block[tids[i]].prev == FW_NONE) {
            fw_block_send(s, fw, tids[i]);
        }
    }
    return n;
}

unsigned exanet_fw_issue(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                         unsigned max)
{
    FwPaths paths;
    FwPeer *peer = exanet_fw_peer(s, fw, t, &paths);
    bool begins = t->issued == 0;
    unsigned n;

    if (!peer) {
        /* the job has used up its quota of peers, because these peers are still needed */
        exanet_fw_transfer_finish(s, fw, t, EXANET_CHERR_RETRY_LIMIT);
        return 0;
    }
    n = fw_issue_chains(s, fw, t, peer, &paths, fw->chain ? MIN(FW_CHAIN_MAX, max) : 1);
    if (n) {
        if (begins) {
            fw_status(s, t, EXANET_CHANNEL_ACTIVE, 0);
        }
        fw_runnable(fw, t);
        fw_control_check(s, fw, t);
    }
    return n;
}
