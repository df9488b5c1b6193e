/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware of the R5 processor [T §4], as a model.  The firmware takes RDMA writes
 * from the scratchpad and read requests from the RT mailbox, and cuts the data into
 * blocks.  The firmware gives the blocks to ExaDMA, and retransmits a block until the
 * receiver acknowledges or refuses the block, a limit is reached, or the transfer ends
 * for another reason.
 *
 * A transfer has a channel.  Channels 0 to 31 of a context are writes by the context's
 * process.  Channels 32 to 63 are reads by peers of the context's data.  Blocks of writes
 * and reads are treated in the same way.
 *
 * A doorbell checks and stores a transfer; fw_run() sends the blocks.  The driver's
 * answer to the source fault of a block in FW_HOLD, a closed context and the end of mode
 * INTERNAL take effect at once, without fw_run().
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "../engine/context.h"
#include "../exanet.h"
#include "../engine/fault.h"
#include "internal.h"
#include "firmware.h"
#include "../base/irq.h"
#include "../base/regs.h"
#include "../engine/rtmailbox.h"
#include "../trace.h"

#define FW_TIMEOUT_MIN_NS 1000
#define FW_TIMEOUT_MAX_NS (1LL << 50)
/* Limit of the started blocks and failed transfers in a call of fw_pump(). */
#define FW_BUDGET 256
/*
 * Maximal number of TIDs of a context that are reserved for transfers with fewer than
 * FW_TIDS_FEW blocks under way.
 */
#define FW_TIDS_RESERVED 16
#define FW_TIDS_FEW 2

/* --- Transfers ------------------------------------------------------------------- */

/*
 * Returns true if @gva is a mailbox, or a 16-B aligned address outside the NI window, and
 * @gva has the same coordinates as the GVA @dst.
 */
static bool fw_notify_valid(uint64_t gva, uint64_t dst)
{
    uint64_t va = RNIC_GET(EXANET_GVA_VA, gva);

    if (RNIC_GET(EXANET_GVA_COORD, gva) != RNIC_GET(EXANET_GVA_COORD, dst)) {
        return false;
    }
    if (RNIC_GET(EXANET_VA_WINDOW, va) == EXANET_WINDOW_NI) {
        return (va & ~EXANET_VA_MAILBOX) ==
               EXANET_NI_VA(EXANET_NI_MAILBOX) &&
               RNIC_GET(EXANET_VA_MAILBOX, va) < EXANET_MAILBOXES;
    }
    return va % sizeof(struct exanet_notification) == 0;
}

/* Returns true if length, source, destination and notification of @t are valid. */
static bool fw_transfer_valid(const FwTransfer *t)
{
    uint64_t va = RNIC_GET(EXANET_GVA_VA, t->dst);

    return t->len > 0 &&
           t->src + (t->len - 1) >= t->src &&
           RNIC_GET(EXANET_VA_WINDOW, va) != EXANET_WINDOW_NI &&
           RNIC_GET(EXANET_VA_OFFSET, va) + t->len <=
           BIT_ULL(EXANET_WINDOW_BITS) &&
           (!t->notify || fw_notify_valid(t->notify_gva, t->dst));
}

static void fw_transfer_begin(ExanetState *s, ExanetFirmware *fw, FwTransfer *t)
{
    t->start = rnic_now();
    t->last = FW_NONE;
    fw->active[t->ctx] |= BIT_ULL(t->channel);
    fw_status(s, t, EXANET_CHANNEL_QUEUED, 0);
    fw_runnable(fw, t);
    exanet_schedule(s);
}

static void fw_read_next(ExanetState *s, ExanetFirmware *fw, unsigned owner);

/*
 * Publishes the end of @t, which has no blocks any more: writes DONE and STATUS of the
 * channel, and raises the interrupts that @t and @code demand.  If a read with a
 * notification has failed, sends a report to the requester.
 */
static void fw_transfer_end(ExanetState *s, ExanetFirmware *fw, FwTransfer *t,
                            unsigned code)
{
    uint64_t ns = rnic_now() - t->start;
    bool read = t->channel >= EXANET_WRITE_CHANNELS;

    trace_exanet_firmware_complete(s->node, t->ctx, t->channel, code, ns);
    stq_le_p(fw_channel(s, t) + offsetof(struct exanet_channel, done),
             RNIC_PREP(EXANET_CHDONE_TOKEN, t->token) |
             RNIC_PREP(EXANET_CHDONE_NS, MIN(ns, UINT32_MAX)));
    /* A vCPU polls STATUS without the big lock, so DONE must be written first. */
    smp_wmb();
    fw_status(s, t, code ? EXANET_CHANNEL_FAILED : EXANET_CHANNEL_DONE, code);
    if (t->irq_done) {
        exanet_irq_context(s, t->ctx);
    }
    if (code && code != EXANET_CHERR_BAD_REQUEST &&
        code != EXANET_CHERR_ABORTED) {
        exanet_irq_raise(s, EXANET_IRQ_TRANSFER);
    }
    if (code && read && t->notify) {
        exanet_fw_report(s, fw, t, code);
    }
}

void exanet_fw_transfer_finish(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned code)
{
    for (unsigned tid = 0; t->inflight && tid < EXANET_TIDS; tid++) {
        if (fw->block[tid].state != FW_FREE && fw_transfer(fw, tid) == t) {
            exanet_fw_block_free(s, fw, tid);
        }
    }
    fw->active[t->ctx] &= ~BIT_ULL(t->channel);
    fw_runnable(fw, t);
    fw_transfer_end(s, fw, t, code);
    if (t->channel >= EXANET_WRITE_CHANNELS) {
        fw_read_next(s, fw, t->ctx);
    }
}

/* --- RDMA write: the scratchpad ----------------------------------------------------- */

/*
 * Fills in @t from channel @channel of context @c.  Reads each field of the channel once.
 */
static void fw_transfer_load(ExanetState *s, FwTransfer *t, unsigned c,
                             unsigned channel)
{
    struct exanet_channel ch;
    uint64_t ctrl;
    uint16_t pdid = s->ctx[c].pdid;

    *t = (FwTransfer) { .ctx = c, .channel = channel };
    memcpy(&ch, fw_channel(s, t), sizeof(ch));
    ctrl = le64_to_cpu(ch.ctrl);
    t->src = le64_to_cpu(ch.src);
    t->dst = le64_to_cpu(ch.dst);
    t->notify_gva = le64_to_cpu(ch.notify_gva);
    t->notify_data = le64_to_cpu(ch.notify_data);
    t->len = RNIC_GET(EXANET_CHANNEL_LENGTH, ctrl);
    t->token = le64_to_cpu(ch.token);
    t->handle = t->token;
    t->src_pdid = pdid;
    t->dst_pdid = (pdid & EXANET_PDID_JOB) |
                  RNIC_GET(EXANET_CHANNEL_DST_CTX, ctrl);
    t->path = RNIC_GET(EXANET_CHANNEL_PATH, ctrl) % EXANET_PATHS;
    t->priority = RNIC_GET(EXANET_CHANNEL_PRIORITY, ctrl);
    t->multipath = ctrl & EXANET_CHANNEL_MULTIPATH;
    t->notify = ctrl & EXANET_CHANNEL_NOTIFY;
    t->notify_irq = ctrl & EXANET_CHANNEL_IRQ;
    t->irq_done = ctrl & EXANET_CHANNEL_IRQ_DONE;
}

/*
 * Starts the transfer of channel @channel of context @c.  Counts and ignores a doorbell
 * of a busy channel, and ignores a token of 0.  If the context, the quota of writes or a
 * parameter does not permit the transfer, ends the transfer with an error in STATUS.
 */
static void fw_doorbell(ExanetState *s, ExanetFirmware *fw, unsigned c,
                        unsigned channel)
{
    FwTransfer *t = &fw->transfer[c * EXANET_CHANNELS + channel];
    unsigned writes = ctpop64(fw->active[c] &
                              MAKE_64BIT_MASK(0, EXANET_WRITE_CHANNELS));
    unsigned code = 0;

    if (fw->active[c] & BIT_ULL(channel)) {
        exanet_count(s, DOORBELL_BUSY);
        trace_exanet_firmware_err_busy(s->node, c, channel);
        return;
    }
    fw_transfer_load(s, t, c, channel);
    if (t->token == 0) {
        return;
    }
    trace_exanet_firmware_doorbell(s->node, c, channel, t->src, t->dst, t->len);
    if (t->irq_done) {
        /* the process of the guest may sleep now, so the main loop must take frames */
        exanet_series_end(&s->polls);
    }
    if (exanet_context_check(s, t->src_pdid,
                             RNIC_GET(EXANET_GVA_COORD, t->dst)) !=
        EXANET_RESP_ACK) {
        code = s->ctx[c].quiesce ? EXANET_CHERR_ABORTED :
                                   EXANET_RESP_PROTECTION;
    } else if (!fw_transfer_valid(t) ||
               writes >= RNIC_GET(EXANET_QUOTA_WRITES, s->ctx[c].quota)) {
        exanet_count(s, DOORBELL_BAD);
        code = EXANET_CHERR_BAD_REQUEST;
    }
    if (code) {
        t->start = rnic_now();
        fw_transfer_end(s, fw, t, code);
        return;
    }
    fw_transfer_begin(s, fw, t);
}

void exanet_firmware_scratchpad_write(ExanetState *s, unsigned c, hwaddr addr,
                                      uint64_t value, unsigned size,
                                      bool privileged)
{
    unsigned channel = addr / EXANET_CHANNEL_BYTES;
    unsigned off = addr % EXANET_CHANNEL_BYTES;

    if (channel >= EXANET_CHANNELS || off + size > EXANET_CHANNEL_BYTES ||
        (!privileged && (channel >= EXANET_WRITE_CHANNELS ||
                         off + size > offsetof(struct exanet_channel, status)))) {
        qemu_log_mask(LOG_GUEST_ERROR, "exanet: context %u: write to read-only "
                      "part 0x%" HWADDR_PRIx " of the scratchpad\n", c, addr);
        return;
    }
    stn_le_p(exanet_user_page(s, c, EXANET_PAGE_SCRATCHPAD) + addr, size, value);
    if (off == EXANET_CHANNEL_DOORBELL && channel < EXANET_WRITE_CHANNELS &&
        s->rt.internal) {
        fw_doorbell(s, s->firmware, c, channel);
    }
}

/* --- RDMA read: requests of peers ------------------------------------------- */

static void fw_read_load(FwTransfer *t, const struct exanet_read_req *req)
{
    uint64_t ctrl = le64_to_cpu(req->ctrl);
    uint16_t pdid = RNIC_GET(EXANET_READ_ORIGIN_PDID, le64_to_cpu(req->origin));
    unsigned owner = RNIC_GET(EXANET_READ_REQ_OWNER, ctrl);

    *t = (FwTransfer) {
        .src = le64_to_cpu(req->src),
        .dst = le64_to_cpu(req->dst),
        .notify_gva = le64_to_cpu(req->notify_gva),
        .notify_data = le64_to_cpu(req->notify_data),
        .len = RNIC_GET(EXANET_READ_REQ_LENGTH, ctrl),
        .token = le64_to_cpu(req->tag),
        .handle = le64_to_cpu(req->tag),
        .src_pdid = (pdid & EXANET_PDID_JOB) | owner,
        .dst_pdid = pdid,
        .last = FW_NONE,
        .ctx = owner,
        .notify = ctrl & EXANET_READ_REQ_NOTIFY,
        .notify_irq = ctrl & EXANET_READ_REQ_IRQ,
    };
}

/*
 * Refuses read request @req.  If @req has NOTIFY, and a valid address for the
 * notification at the requester's node, sends a report with @code to this address.
 */
static void fw_read_refuse(ExanetState *s, const struct exanet_read_req *req,
                           unsigned code)
{
    uint64_t origin = RNIC_PREP(EXANET_GVA_COORD,
        RNIC_GET(EXANET_READ_ORIGIN_COORD, le64_to_cpu(req->origin)));
    FwTransfer t;

    fw_read_load(&t, req);
    trace_exanet_firmware_complete(s->node, t.ctx, EXANET_CHANNELS, code, 0);
    if (t.notify && fw_notify_valid(t.notify_gva, origin)) {
        exanet_fw_report(s, s->firmware, &t, code);
    }
}

/*
 * Copies the parameters of read @t to the scratchpad, so that the process that owns the
 * data can read the parameters.
 */
static void fw_read_publish(ExanetState *s, const FwTransfer *t)
{
    struct exanet_channel ch = {
        .src = cpu_to_le64(t->src),
        .dst = cpu_to_le64(t->dst),
        .ctrl = cpu_to_le64(RNIC_PREP(EXANET_CHANNEL_LENGTH, t->len) |
            RNIC_PREP(EXANET_CHANNEL_DST_CTX,
                      RNIC_GET(EXANET_PDID_CTX, t->dst_pdid)) |
            RNIC_PREP(EXANET_CHANNEL_NOTIFY, t->notify) |
            RNIC_PREP(EXANET_CHANNEL_IRQ, t->notify_irq)),
        .notify_gva = cpu_to_le64(t->notify_gva),
        .notify_data = cpu_to_le64(t->notify_data),
        .token = cpu_to_le64(t->token),
    };

    memcpy(fw_channel(s, t), &ch, offsetof(struct exanet_channel, status));
}

/*
 * Starts or refuses read request @req.  The context that owns the data must have a free
 * channel for reads.
 */
static void fw_read_start(ExanetState *s, ExanetFirmware *fw,
                          const struct exanet_read_req *req)
{
    uint32_t origin = RNIC_GET(EXANET_READ_ORIGIN_COORD,
                               le64_to_cpu(req->origin));
    FwTransfer t;

    fw_read_load(&t, req);
    trace_exanet_firmware_request(s->node, origin, t.ctx, t.src, t.len);
    if (exanet_context_check(s, t.src_pdid, origin) != EXANET_RESP_ACK) {
        fw_read_refuse(s, req, EXANET_RESP_PROTECTION);
        return;
    }
    /* only the requester may get the data, not a third node */
    if (RNIC_GET(EXANET_GVA_COORD, t.dst) != origin || !fw_transfer_valid(&t)) {
        fw_read_refuse(s, req, EXANET_CHERR_BAD_REQUEST);
        return;
    }
    t.channel = ctz64(~fw->active[t.ctx] &
                      ~MAKE_64BIT_MASK(0, EXANET_WRITE_CHANNELS));
    fw_read_publish(s, &t);
    fw->transfer[t.ctx * EXANET_CHANNELS + t.channel] = t;
    fw_transfer_begin(s, fw,
                      &fw->transfer[t.ctx * EXANET_CHANNELS + t.channel]);
}

static bool fw_read_channel_free(ExanetState *s, ExanetFirmware *fw,
                                 unsigned owner)
{
    unsigned reads = ctpop64(fw->active[owner] >> EXANET_WRITE_CHANNELS);

    return reads < MIN(EXANET_READ_CHANNELS,
                       MAX(1, RNIC_GET(EXANET_QUOTA_READS, s->ctx[owner].quota)));
}

/* Starts or refuses waiting read requests for data of @owner while channels are free. */
static void fw_read_next(ExanetState *s, ExanetFirmware *fw, unsigned owner)
{
    FwQueue *q = &fw->queue[owner];

    while (q->fifo.count && fw_read_channel_free(s, fw, owner)) {
        fw_read_start(s, fw, &q->req[rnic_fifo_pop(&q->fifo, FW_QUEUE)]);
    }
}

/*
 * Puts read request @req into the queue of the context that owns the data, and starts
 * requests of this queue while channels are free.  Refuses @req if the requester has no
 * permission, or if the queue is full.  Each context has a queue, so that a context with
 * many requests does not delay other contexts.
 */
static void fw_request(ExanetState *s, ExanetFirmware *fw,
                       const struct exanet_read_req *req)
{
    unsigned owner = RNIC_GET(EXANET_READ_REQ_OWNER, le64_to_cpu(req->ctrl));
    uint16_t pdid = RNIC_GET(EXANET_READ_ORIGIN_PDID, le64_to_cpu(req->origin));
    uint32_t origin = RNIC_GET(EXANET_READ_ORIGIN_COORD,
                               le64_to_cpu(req->origin));
    FwQueue *q = &fw->queue[owner];

    if (exanet_context_check(s, (pdid & EXANET_PDID_JOB) | owner, origin) !=
        EXANET_RESP_ACK) {
        fw_read_refuse(s, req, EXANET_RESP_PROTECTION);
        return;
    }
    if (q->fifo.count == FW_QUEUE) {
        fw_read_refuse(s, req, EXANET_RESP_FULL);
        return;
    }
    q->req[rnic_fifo_push(&q->fifo, FW_QUEUE)] = *req;
    fw_read_next(s, fw, owner);
}

/* Implements ExanetRtMailbox.room. */
static bool fw_request_room(ExanetState *s, unsigned owner, unsigned more)
{
    return s->firmware->queue[owner].fifo.count + more < FW_QUEUE;
}

/* --- Work ------------------------------------------------------------------ */

/*
 * Returns the number of blocks that @t may start now as far as QUOTA_TIDS of its context
 * permits.  The caller checks FW_WINDOW.
 */
static unsigned fw_room(ExanetState *s, const ExanetFirmware *fw,
                        const FwTransfer *t)
{
    unsigned quota = MAX(1, MIN(FW_TIDS, RNIC_GET(EXANET_QUOTA_TIDS,
                                                  s->ctx[t->ctx].quota)));
    unsigned reserved = MIN(FW_TIDS_RESERVED, quota / 4);
    unsigned left = quota - MIN(quota, fw->tids[t->ctx]);

    unsigned room = left - MIN(left, reserved);

    /*
     * The last @reserved TIDs of the quota are for transfers with few blocks under way,
     * because a transfer whose target does not answer must not block other transfers.
     */
    return t->inflight >= FW_TIDS_FEW ? room :
           MAX(room, MIN(left, FW_TIDS_FEW - t->inflight));
}

/*
 * Returns true if FW_POLICY prefers @a to @b.  PRIORITY and SHORTEST are strict: a
 * transfer waits as long as preferred transfers can start blocks.
 */
static bool fw_preferred(const ExanetFirmware *fw, const FwTransfer *a,
                         const FwTransfer *b)
{
    switch (fw->policy) {
    case EXANET_FW_PRIORITY:
        return a->priority > b->priority;
    case EXANET_FW_SHORTEST:
        return a->len - a->issued < b->len - b->issued;
    default:
        return false;
    }
}

/*
 * Returns the runnable transfer of context @c that starts a block next.  Returns NULL if
 * the quota of TIDs permits no block of any runnable transfer.
 */
static FwTransfer *fw_pick_channel(ExanetState *s, ExanetFirmware *fw,
                                   unsigned c)
{
    uint64_t all = fw->runnable[c];
    uint64_t first = all & ~MAKE_64BIT_MASK(0, fw->last_channel[c] + 1);
    FwTransfer *best = NULL;

    for (unsigned round = 0; round < 2; round++) {
        uint64_t left = round ? all & ~first : first;

        for (; left; left &= left - 1) {
            FwTransfer *t = &fw->transfer[c * EXANET_CHANNELS + ctz64(left)];

            if ((!best || fw_preferred(fw, t, best)) && fw_room(s, fw, t)) {
                best = t;
                if (fw->policy == EXANET_FW_ROUND_ROBIN) {
                    return t;
                }
            }
        }
    }
    return best;
}

/*
 * Returns the transfer that starts a block next: by FW_POLICY, then round-robin over
 * contexts, then over channels.  Returns NULL if each context with runnable transfers is
 * in @no_tid or has used up its quota of TIDs.
 */
static FwTransfer *fw_pick(ExanetState *s, ExanetFirmware *fw)
{
    FwTransfer *best = NULL;

    for (unsigned i = 1; i <= EXANET_CONTEXTS; i++) {
        unsigned c = (fw->last_ctx + i) % EXANET_CONTEXTS;
        FwTransfer *t = NULL;

        /* skips a context for which exanet_fw_issue() has returned 0 in this run */
        if (fw->runnable[c] && !(fw->no_tid & BIT(c))) {
            t = fw_pick_channel(s, fw, c);
        }
        if (t && (!best || fw_preferred(fw, t, best))) {
            best = t;
            if (fw->policy == EXANET_FW_ROUND_ROBIN) {
                break;
            }
        }
    }
    if (best) {
        fw->last_ctx = best->ctx;
        fw->last_channel[best->ctx] = best->channel;
    }
    return best;
}

/*
 * Starts blocks of the transfers that fw_pick() returns, as far as windows, quotas and
 * TIDs allow.  For the rest of the call, skips a context of which exanet_fw_issue() could
 * start no block.  Fails a runnable transfer that exanet_context_check() does not permit
 * any more.  Stops when FW_BUDGET is used up: each started block counts 1, and each
 * transfer that fails this check counts 1.  The last chain may exceed the budget.
 * Returns true if the budget was used up while a transfer was runnable.
 */
static bool fw_pump(ExanetState *s, ExanetFirmware *fw)
{
    unsigned budget = FW_BUDGET;

    fw->no_tid = 0;
    while (fw->runnable_ctx) {
        FwTransfer *t;
        unsigned n;

        if (!budget) {
            return true;
        }
        t = fw_pick(s, fw);
        if (!t) {
            break;
        }
        if (exanet_context_check(s, t->src_pdid, s->node) != EXANET_RESP_ACK) {
            exanet_fw_transfer_finish(s, fw, t, EXANET_RESP_PROTECTION);
            budget--;
            continue;
        }
        n = exanet_fw_issue(s, fw, t, fw_room(s, fw, t));
        if (!n) {
            fw->no_tid |= BIT(t->ctx);
        }
        budget -= MIN(budget, n);
    }
    if (fw->no_tid) {
        /*
         * makes the firmware run again after FW_TIMEOUT_NS, because no event shows that a
         * TID becomes usable
         */
        fw->next = MIN(fw->next, fw->now + fw->timeout);
    }
    return false;
}

/* --- Life ------------------------------------------------------------------ */

static bool fw_idle(ExanetState *s, const ExanetFirmware *fw)
{
    return !s->rt.responses.count && !s->rt.requests.count && !fw->errors.fifo.count &&
           !s->exadma.stops.count && !fw->expired && !fw->controls.fifo.count &&
           !fw->runnable_ctx;
}

static bool fw_run(ExanetState *s, unsigned packets)
{
    ExanetFirmware *fw = s->firmware;
    struct exanet_read_req req;
    uint32_t word;
    bool more;

    if (fw_idle(s, fw) || !s->rt.internal) {
        /* new work, or a write of INTERNAL to FW_MODE, wakes the unit */
        return false;
    }
    exanet_fw_enter(s, fw);
    /* handles responses first, because responses free TIDs and windows */
    while (exanet_rtmailbox_pop_response(&s->rt, &word)) {
        exanet_fw_response(s, fw, word);
    }
    while (fw->errors.fifo.count) {
        exanet_fw_stopped(s, fw, fw_pop(&fw->errors));
    }
    while (s->rt.requests.count && exanet_rtmailbox_pop_request(s, &req)) {
        fw_request(s, fw, &req);
    }
    if (fw->expired) {
        exanet_fw_timeouts(s, fw);
    }
    more = fw_pump(s, fw);
    exanet_fw_leave(s, fw);
    if (fw_idle(s, fw)) {
        s->awake &= ~EXANET_AWAKE_R5;
    }
    return more;
}

/*
 * Refuses with ABORTED all read requests in the queue of context @c, and then ends with
 * ABORTED all transfers of @c.
 */
static void fw_quiesce(ExanetState *s, unsigned c)
{
    ExanetFirmware *fw = s->firmware;
    FwQueue *q = &fw->queue[c];

    exanet_fw_enter(s, fw);
    while (q->fifo.count) {
        fw_read_refuse(s, &q->req[rnic_fifo_pop(&q->fifo, FW_QUEUE)],
                       EXANET_CHERR_ABORTED);
    }
    while (fw->active[c]) {
        unsigned channel = ctz64(fw->active[c]);

        exanet_fw_transfer_finish(s, fw, &fw->transfer[c * EXANET_CHANNELS + channel],
                                  EXANET_CHERR_ABORTED);
    }
    exanet_fw_timer_update(fw);
}

unsigned exanet_firmware_active(ExanetState *s, unsigned c)
{
    return ctpop64(s->firmware->active[c]) + s->firmware->queue[c].fifo.count;
}

void exanet_firmware_reg_sync(ExanetState *s)
{
    uint32_t active = 0;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        active += exanet_firmware_active(s, c);
    }
    exanet_reg_set32(s, EXANET_FW + EXANET_REG_FW_ACTIVE, active);
    exanet_reg_set64(s, EXANET_FW + EXANET_REG_FW_RTT_NS, s->firmware->rtt.mean);
}

/*
 * Copies the registers of the firmware to @fw, after a reset or a write by software, and
 * replaces values that are not valid.
 */
static void fw_config_load(ExanetState *s, ExanetFirmware *fw)
{
    uint32_t bytes = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_BLOCK);
    uint64_t timeout = exanet_reg_get64(s, EXANET_FW + EXANET_REG_FW_TIMEOUT_NS);

    fw->window = MAX(1, exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_WINDOW));
    fw->block_bytes = bytes == 0 || bytes > EXANET_BLOCK_MAX ?
                      EXANET_BLOCK_MAX : bytes;
    fw->retry_max = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_RETRY_MAX);
    fw->pf_retry_max =
        exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_PF_RETRY_MAX);
    fw->timeout = MIN(MAX(timeout, FW_TIMEOUT_MIN_NS), FW_TIMEOUT_MAX_NS);
    fw->backoff = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_PF_BACKOFF_NS);
    fw->chain = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_CHAIN);
    fw->dynamic = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_DYN_TIMEOUT);
    fw->policy = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_POLICY);
    fw->multipath = exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_MULTIPATH);
}

void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top)
{
    ExanetFirmware *fw = s->firmware;

    fw_config_load(s, fw);
    exanet_rtmailbox_mode_load(s);
    if (reg == EXANET_REG_FW_MODE && !s->rt.internal) {
        /* only software controls the Pending_List now */
        for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
            fw_quiesce(s, c);
        }
        return;
    }
    exanet_fw_enter(s, fw);
    for (unsigned i = 0; i < ARRAY_SIZE(fw->transfer); i++) {
        fw_runnable(fw, &fw->transfer[i]);      /* the window may have grown */
    }
    exanet_schedule(s);
}

static void fw_reset(ExanetState *s)
{
    ExanetFirmware *fw = s->firmware;
    RNicDeadline timer = fw->timer;
    GHashTable *peers[EXANET_CONTEXTS];

    rnic_deadline_cancel(&timer);
    memcpy(peers, fw->peers, sizeof(peers));
    memset(fw, 0, sizeof(*fw));
    memcpy(fw->peers, peers, sizeof(peers));
    fw->s = s;
    fw->timer = timer;
    fw->next = FW_NEVER;
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        g_hash_table_remove_all(fw->peers[c]);
        memset(fw->peers_gen[c], s->epoch % FW_GENERATIONS, FW_PEER_SLOTS);
    }
    fw_config_load(s, fw);
    exanet_fw_enter(s, fw);
    for (unsigned i = 0; i < ARRAY_SIZE(fw->transfer); i++) {
        fw->transfer[i].ctx = i / EXANET_CHANNELS;
        fw->transfer[i].channel = i % EXANET_CHANNELS;
    }
    for (unsigned tid = 0; tid < EXANET_TIDS; tid++) {
        fw->deadline[tid] = FW_NEVER;
        fw_push(&fw->free[tid / FW_TIDS], tid);
    }
}

static void fw_init(ExanetState *s)
{
    ExanetFirmware *fw = g_new0(ExanetFirmware, 1);

    rnic_deadline_init(&fw->timer, exanet_fw_timer_expired, fw);
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        fw->peers[c] = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    }
    s->firmware = fw;
    s->rt.room = fw_request_room;
    fw_reset(s);
}

static void fw_fini(ExanetState *s)
{
    rnic_deadline_fini(&s->firmware->timer);
    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        g_hash_table_unref(s->firmware->peers[c]);
    }
    g_free(s->firmware);
    s->firmware = NULL;
}

const ExanetUnit exanet_firmware_unit = {
    .init = fw_init,
    .fini = fw_fini,
    .reset = fw_reset,
    .run = fw_run,
    .awake = EXANET_AWAKE_R5,
    .active = exanet_firmware_active,
    .quiesce = fw_quiesce,
    .resolved = exanet_fw_source_resolved,
};
