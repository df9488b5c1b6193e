/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The firmware of the R5 processor [T §4], as a model: it takes RDMA writes from
 * the scratchpad and read requests from the RT mailbox, cuts them into blocks, gives
 * these to the ExaDMA and repeats them until the receiver has acknowledged.
 *
 * A transfer lives in a channel: 0..31 of a context are writes of its owner, 32..63
 * reads that are served for peers; from there on both are the same.  A block has a
 * transaction descriptor (TID) from its first start until its transfer has what it
 * wanted; the generation tells one block of a TID from the next.
 *
 * Everything happens in exanet_firmware_run(); MMIO and other units only leave
 * notes.  Like the R5 it knows time, descriptors and FIFO words, nothing of QEMU
 * but its one timer.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "qemu/log.h"
#include "exanet.h"
#include "segment.h"
#include "../trace.h"

#define FW_BUDGET 256               /* blocks started by one run */
#define FW_BACKOFF_SHIFT_MAX 10     /* back-off doubles up to x 1024 */
#define FW_TIMEOUT_MIN_NS 1000
#define FW_TIMEOUT_MAX_NS (1LL << 50)
#define FW_CHAIN_MAX 8              /* blocks of a chain */
#define FW_QUEUE 256                /* read requests of an owner that wait */
#define FW_NEVER INT64_MAX
#define FW_NONE 0xffff              /* no TID */
/* Acks carry 12 bits of the sequence; the last value is never used by a block. */
#define FW_SEQ_MAX ((1u << EXANET_ACK_SEQ_BITS) - 2)
#define FW_SEQ_NO_BLOCK ((1u << EXANET_ACK_SEQ_BITS) - 1)

typedef enum FwState {
    FW_FREE = 0,
    FW_SENT,                        /* the ExaDMA or the receiver has it */
    FW_STOPPED,                     /* by the ExaDMA; noted in errors[] */
    FW_HOLD,                        /* sent again at its deadline, or earlier */
} FwState;

typedef struct FwBlock {
    uint64_t src;
    uint64_t dst;
    uint16_t len;
    uint16_t transfer;
    uint16_t seq;                   /* retransmissions so far */
    uint16_t retries;               /* those that count for FW_RETRY_MAX */
    uint32_t backoffs;              /* those that count for FW_PF_RETRY_MAX */
    uint16_t next;                  /* TIDs of successor and predecessor in a */
    uint16_t prev;                  /* chain; valid if they agree */
    uint8_t gen;
    uint8_t state;                  /* FwState */
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
    uint8_t path;
    bool notify;
    bool notify_irq;
    bool irq_done;
} FwTransfer;

/* A FIFO of TIDs with room for all of them. */
typedef struct FwTids {
    uint16_t tid[EXANET_TIDS];
    unsigned head;
    unsigned count;
} FwTids;

typedef struct FwQueue {
    struct exanet_read_req req[FW_QUEUE];
    unsigned head;
    unsigned count;
} FwQueue;

struct ExanetFirmware {
    ExanetState *s;
    QEMUTimer *timer;

    /* registers, as they were when this run began */
    uint32_t window;
    uint32_t block_bytes;
    uint32_t retry_max;
    uint32_t pf_retry_max;
    int64_t timeout;
    int64_t backoff;
    bool chain;

    int64_t now;
    int64_t next;                   /* no deadline is earlier */
    int64_t armed;                  /* the timer's, FW_NEVER: not running */
    bool expired;

    int64_t deadline[EXANET_TIDS];
    FwBlock block[EXANET_TIDS];
    uint8_t gen[EXANET_TIDS];       /* of the last block */
    bool control_queued[EXANET_TIDS];
    FwTids free;
    FwTids errors;                  /* blocks that the ExaDMA stopped */
    FwTids controls;                /* control packets that wait for room */

    FwTransfer transfer[EXANET_CONTEXTS * EXANET_CHANNELS];
    uint64_t active[EXANET_CONTEXTS];       /* channels in use */
    uint64_t runnable[EXANET_CONTEXTS];     /* ... with blocks to start */
    uint16_t runnable_ctx;
    uint16_t tids[EXANET_CONTEXTS];         /* in use */
    unsigned turn_ctx;
    unsigned turn_channel[EXANET_CONTEXTS];
    FwQueue queue[EXANET_CONTEXTS];         /* of the data owner */
};

/* --- Small helpers ------------------------------------------------------------ */

static void fw_push(FwTids *q, unsigned tid)
{
    q->tid[(q->head + q->count++) % EXANET_TIDS] = tid;
}

static unsigned fw_pop(FwTids *q)
{
    unsigned tid = q->tid[q->head];

    q->head = (q->head + 1) % EXANET_TIDS;
    q->count--;
    return tid;
}

static bool fw_internal(ExanetState *s)
{
    return exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_MODE) ==
           EXANET_FW_INTERNAL;
}

static uint32_t fw_quota(ExanetState *s, unsigned c, uint64_t field)
{
    return RNIC_GET(field, exanet_reg_get32(s, EXANET_CTX(c) +
                                            EXANET_REG_CTX_QUOTA));
}

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
}

/* What every entry other than the doorbell needs before it acts on blocks. */
static void fw_enter(ExanetState *s, ExanetFirmware *fw)
{
    fw_config_load(s, fw);
    fw->now = exanet_now(s);
}

static FwTransfer *fw_transfer(ExanetFirmware *fw, unsigned tid)
{
    return &fw->transfer[fw->block[tid].transfer];
}

static uint8_t *fw_channel(ExanetState *s, const FwTransfer *t)
{
    return exanet_user_page(s, t->ctx, EXANET_PAGE_SCRATCHPAD) +
           EXANET_CHANNEL_BYTES * t->channel;
}

static void fw_status(ExanetState *s, const FwTransfer *t,
                      enum exanet_channel_state state, unsigned code)
{
    stq_le_p(fw_channel(s, t) + offsetof(struct exanet_channel, status),
             RNIC_PREP(EXANET_CHSTAT_STATE, state) |
             RNIC_PREP(EXANET_CHSTAT_ERROR, code) |
             RNIC_PREP(EXANET_CHSTAT_RETRIES, t->retries) |
             RNIC_PREP(EXANET_CHSTAT_ACKED, t->acked));
}

/* Keeps in mind whether @t has blocks that may be started. */
static void fw_runnable(ExanetFirmware *fw, const FwTransfer *t)
{
    uint64_t bit = BIT_ULL(t->channel);

    if ((fw->active[t->ctx] & bit) && t->issued < t->len &&
        t->inflight < fw->window) {
        fw->runnable[t->ctx] |= bit;
        fw->runnable_ctx |= BIT(t->ctx);
    } else {
        fw->runnable[t->ctx] &= ~bit;
        if (!fw->runnable[t->ctx]) {
            fw->runnable_ctx &= ~BIT(t->ctx);
        }
    }
}

/* --- Deadlines ------------------------------------------------------------------ */

static void fw_timer(void *opaque)
{
    ExanetFirmware *fw = opaque;

    fw->armed = FW_NEVER;
    fw->expired = true;
    exanet_schedule(fw->s);
}

static void fw_deadline(ExanetFirmware *fw, unsigned tid, int64_t when)
{
    fw->deadline[tid] = when;
    fw->next = MIN(fw->next, when);
}

/* The timer may fire too early, for a block that is done; never too late. */
static void fw_timer_update(ExanetFirmware *fw)
{
    if (fw->next < fw->armed) {
        fw->armed = fw->next;
        timer_mod_ns(fw->timer, fw->next);
    }
}

/* For the answer to the copy of @tid that was just sent. */
static void fw_deadline_answer(ExanetFirmware *fw, unsigned tid)
{
    const FwBlock *b = &fw->block[tid];
    unsigned shift = MIN(b->retries, EXANET_FW_TIMEOUT_SHIFT_MAX);

    /* without its control packet the receiver does not answer */
    fw_deadline(fw, tid, b->notify && !b->control ? FW_NEVER :
                fw->now + (fw->timeout << shift));
}

/* --- Blocks ------------------------------------------------------------------------ */

static uint16_t fw_wire_tid(ExanetState *s, unsigned tid, unsigned gen)
{
    return tid | (s->strict ? 0 : RNIC_PREP(EXANET_TID_GEN, gen));
}

/* The block that the ExaDMA starts after @tid, if it still waits for that. */
static unsigned fw_successor(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    unsigned next = fw->block[tid].next;

    return next != FW_NONE && fw->block[next].prev == tid &&
           exanet_exadma_armed(s, next) ? next : FW_NONE;
}

/* Writes the descriptor of @tid, which starts it unless it is to wait. */
static void fw_desc_write(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                          bool wait)
{
    const FwBlock *b = &fw->block[tid];
    const FwTransfer *t = fw_transfer(fw, tid);
    uint64_t w3 = RNIC_PREP(EXANET_DESC_W3_PDID, t->src_pdid) |
                  RNIC_PREP(EXANET_DESC_W3_LENGTH, b->len) |
                  RNIC_PREP(EXANET_DESC_W3_NOTIFY, b->notify) |
                  RNIC_PREP(EXANET_DESC_W3_DB, wait);

    if (b->next != FW_NONE) {
        w3 |= EXANET_DESC_W3_CHAINED |
              RNIC_PREP(EXANET_DESC_W3_DEP, b->next);
    }
    exanet_exadma_desc_write(s, tid, 3,
        RNIC_PREP(EXANET_DESC_W4_PATH, t->path) |
        RNIC_PREP(EXANET_DESC_W4_SEQ, b->seq) |
        RNIC_PREP(EXANET_DESC_W4_DST_PDID, t->dst_pdid) |
        EXANET_DESC_W4_DST_VALID |
        RNIC_PREP(EXANET_DESC_W4_RESP, EXANET_SMALL(EXANET_NI_RT_RESPONSE)) |
        RNIC_PREP(EXANET_DESC_W4_GEN,
                  RNIC_GET(EXANET_TID_GEN, fw_wire_tid(s, tid, b->gen))));
    exanet_exadma_desc_write(s, tid, 0, b->src);
    exanet_exadma_desc_write(s, tid, 1, b->dst);
    exanet_exadma_desc_write(s, tid, 2, w3);
}

static void fw_control_write(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    const FwTransfer *t = fw_transfer(fw, tid);
    hwaddr addr = EXANET_CONTROL_ADDR(t->path, tid) - EXANET_CONTROL_WINDOW;

    exanet_exadma_control_write(s, addr, t->notify_gva, 8);
    exanet_exadma_control_write(s, addr, t->notify_data, 8);
    exanet_exadma_control_write(s, addr,
        RNIC_PREP(EXANET_CONTROL_LENGTH, t->len) |
        RNIC_PREP(EXANET_CONTROL_HANDLE, t->handle) |
        RNIC_PREP(EXANET_CONTROL_IRQ, t->notify_irq), 8);
}

/* Sends the control packet of @tid, now or when the queue has room. */
static void fw_control(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    if (!fw->controls.count &&
        exanet_exadma_control_room(s, fw_transfer(fw, tid)->path)) {
        fw_control_write(s, fw, tid);
        return;
    }
    fw->block[tid].control_due = true;
    if (!fw->control_queued[tid]) {
        fw->control_queued[tid] = true;
        fw_push(&fw->controls, tid);
    }
}

static void fw_controls_flush(ExanetState *s, ExanetFirmware *fw)
{
    for (unsigned n = fw->controls.count; n; n--) {
        unsigned tid = fw_pop(&fw->controls);
        FwBlock *b = &fw->block[tid];

        fw->control_queued[tid] = false;
        if (!b->control_due || b->state != FW_SENT) {
            continue;       /* the next copy brings it along */
        }
        if (exanet_exadma_control_room(s, fw_transfer(fw, tid)->path)) {
            b->control_due = false;
            fw_control_write(s, fw, tid);
        } else {
            fw->control_queued[tid] = true;
            fw_push(&fw->controls, tid);
        }
    }
}

/* Sends the first or another copy of @tid. */
static void fw_block_send(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];

    if (exanet_exadma_busy(s, tid)) {
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
 * The notification may go once all other blocks have arrived: the control packet
 * of the last one releases it [P §3.10].
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
        fw_control(s, fw, t->last);
        fw_deadline_answer(fw, t->last);
    }
}

/* Gives the TID of a block back; nothing of it is left in the ExaDMA. */
static void fw_block_free(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    FwTransfer *t = fw_transfer(fw, tid);

    if (exanet_exadma_busy(s, tid) || exanet_exadma_armed(s, tid)) {
        exanet_exadma_kill(s, tid);
    }
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
    fw_push(&fw->free, tid);
}

static unsigned fw_tid_take(ExanetState *s, ExanetFirmware *fw)
{
    for (unsigned n = fw->free.count; n; n--) {
        unsigned tid = fw_pop(&fw->free);

        /* somebody else may use the Pending_List at the same time */
        if (!exanet_exadma_busy(s, tid)) {
            return tid;
        }
        fw_push(&fw->free, tid);
    }
    return FW_NONE;
}

/* Cuts the next block from @t and gives it a TID; FW_NONE when there is none. */
static unsigned fw_block_new(ExanetState *s, ExanetFirmware *fw, FwTransfer *t)
{
    uint64_t dst = t->dst + t->issued;
    uint32_t len = exanet_segment(dst, t->len - t->issued, fw->block_bytes);
    unsigned tid = fw_tid_take(s, fw);

    if (tid == FW_NONE) {
        return FW_NONE;
    }
    fw->gen[tid] = (fw->gen[tid] + 1) % 16;
    fw->block[tid] = (FwBlock) {
        .src = t->src + t->issued,
        .dst = dst,
        .len = len,
        .transfer = t - fw->transfer,
        .next = FW_NONE,
        .prev = FW_NONE,
        .gen = fw->gen[tid],
        .state = FW_SENT,
        .notify = t->notify && t->issued + len == t->len,
    };
    t->issued += len;
    t->inflight++;
    fw->tids[t->ctx]++;
    if (fw->block[tid].notify) {
        t->last = tid;
    }
    return tid;
}

/* --- Transfers ------------------------------------------------------------------- */

/* Reports a read that failed to its requester [P §2.11], who may be anybody. */
static void fw_read_report(ExanetState *s, const FwTransfer *t, unsigned code)
{
    uint8_t buf[EXANET_PACKET_BYTES];
    struct exanet_notification n = {
        .data = cpu_to_le64(t->notify_data),
        .status = cpu_to_le64(EXANET_NOTIFICATION_VALID |
            RNIC_PREP(EXANET_NOTIFICATION_STATUS, 1) |
            RNIC_PREP(EXANET_NOTIFICATION_HANDLE, code) |
            RNIC_PREP(EXANET_NOTIFICATION_LENGTH, t->len)),
    };
    ExanetPacket pkt = {
        .type = EXANET_TYPE_NOTIFY,
        .va = RNIC_GET(EXANET_GVA_VA, t->notify_gva),
        .dst = RNIC_GET(EXANET_GVA_COORD, t->notify_gva),
        .src = s->node,
        .pdid = t->dst_pdid,
        .size = sizeof(n),
        .seq = FW_SEQ_NO_BLOCK,     /* should anybody answer it */
        .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE),
        .first = true,
        .last = true,
        .ttl = EXANET_TTL_MAX,
        .epoch = s->epoch,
    };

    memcpy(exanet_packet_payload(buf, pkt.va), &n, sizeof(n));
    exanet_crossbar_respond(s, pkt.dst, buf, exanet_packet_encode(buf, &pkt));
    exanet_schedule(s);
}

/* A mailbox, or a 16-B aligned address in a window, on the node of @dst. */
static bool fw_notify_good(uint64_t gva, uint64_t dst)
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

/* Whether @t asks for something that can be done at all. */
static bool fw_transfer_good(const FwTransfer *t)
{
    uint64_t va = RNIC_GET(EXANET_GVA_VA, t->dst);

    return t->len > 0 &&
           t->src + (t->len - 1) >= t->src &&
           RNIC_GET(EXANET_VA_WINDOW, va) != EXANET_WINDOW_NI &&
           RNIC_GET(EXANET_VA_OFFSET, va) + t->len <=
           BIT_ULL(EXANET_WINDOW_BITS) &&
           (!t->notify || fw_notify_good(t->notify_gva, t->dst));
}

static void fw_transfer_begin(ExanetState *s, ExanetFirmware *fw, FwTransfer *t)
{
    t->start = exanet_now(s);
    t->last = FW_NONE;
    fw->active[t->ctx] |= BIT_ULL(t->channel);
    fw_status(s, t, EXANET_CHANNEL_QUEUED, 0);
    fw_runnable(fw, t);
    exanet_schedule(s);
}

static void fw_read_next(ExanetState *s, ExanetFirmware *fw, unsigned owner);

/* Tells how @t ended; it has no blocks any more. */
static void fw_transfer_end(ExanetState *s, FwTransfer *t, unsigned code)
{
    uint64_t ns = exanet_now(s) - t->start;
    bool read = t->channel >= EXANET_WRITE_CHANNELS;

    trace_exanet_firmware_complete(s->node, t->ctx, t->channel, code, ns);
    stq_le_p(fw_channel(s, t) + offsetof(struct exanet_channel, done),
             RNIC_PREP(EXANET_CHDONE_TOKEN, t->token) |
             RNIC_PREP(EXANET_CHDONE_NS, MIN(ns, UINT32_MAX)));
    /* a vCPU polls the status without the BQL */
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
        fw_read_report(s, t, code);
    }
}

/* Ends @t with @code (0: all bytes are acked) and takes back what it holds. */
static void fw_transfer_finish(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned code)
{
    for (unsigned tid = 0; t->inflight && tid < EXANET_TIDS; tid++) {
        if (fw->block[tid].state != FW_FREE && fw_transfer(fw, tid) == t) {
            fw_block_free(s, fw, tid);
        }
    }
    fw->active[t->ctx] &= ~BIT_ULL(t->channel);
    fw_runnable(fw, t);
    fw_transfer_end(s, t, code);
    if (t->channel >= EXANET_WRITE_CHANNELS) {
        fw_read_next(s, fw, t->ctx);
    }
}

/* --- Repeating blocks -------------------------------------------------------------- */

/* Sends another copy of @tid now. */
static void fw_retry(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    FwTransfer *t = fw_transfer(fw, tid);

    if (b->seq == FW_SEQ_MAX) {
        fw_transfer_finish(s, fw, t, EXANET_CHERR_RETRY_LIMIT);
        return;
    }
    b->seq++;
    t->retries = MIN(t->retries + 1, UINT16_MAX);
    trace_exanet_firmware_retry(s->node, tid, b->seq);
    fw_status(s, t, EXANET_CHANNEL_ACTIVE, 0);
    fw_block_send(s, fw, tid);
}

/* Repeats @tid at once, or gives up with @code after FW_RETRY_MAX times. */
static void fw_retry_counted(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                             unsigned code)
{
    FwBlock *b = &fw->block[tid];

    if (b->retries >= fw->retry_max) {
        fw_transfer_finish(s, fw, fw_transfer(fw, tid), code);
        return;
    }
    b->retries++;
    fw_retry(s, fw, tid);
}

/*
 * Repeats @tid after a back-off that grows (but is @least ns), or gives up with @code
 * after FW_PF_RETRY_MAX times.
 */
static void fw_hold(ExanetState *s, ExanetFirmware *fw, unsigned tid,
                    int64_t least, unsigned code)
{
    FwBlock *b = &fw->block[tid];
    int64_t delay = fw->backoff << MIN(b->backoffs, FW_BACKOFF_SHIFT_MAX);

    if (b->backoffs >= fw->pf_retry_max) {
        fw_transfer_finish(s, fw, fw_transfer(fw, tid), code);
        return;
    }
    if (exanet_exadma_busy(s, tid)) {
        exanet_exadma_kill(s, tid);     /* the receiver drops the rest anyway */
    }
    b->backoffs++;
    b->state = FW_HOLD;
    b->source = false;
    fw_deadline(fw, tid, fw->now + MAX(delay, least));
}

static void fw_timeout(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];

    if (b->state == FW_HOLD) {
        fw_retry(s, fw, tid);
        return;
    }
    if (!exanet_exadma_busy(s, tid) && !exanet_exadma_armed(s, tid)) {
        exanet_count(s, RETRY_TIMEOUT);
        fw_retry_counted(s, fw, tid, EXANET_CHERR_RETRY_LIMIT);
        return;
    }
    /* Not all sent yet: a copy would not be faster, but patience has an end. */
    if (b->retries >= fw->retry_max) {
        fw_transfer_finish(s, fw, fw_transfer(fw, tid),
                           EXANET_CHERR_RETRY_LIMIT);
        return;
    }
    b->retries++;
    fw_deadline_answer(fw, tid);
}

static void fw_timeouts(ExanetState *s, ExanetFirmware *fw)
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
}

static void fw_source_error(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwBlock *b = &fw->block[tid];
    FwTransfer *t = fw_transfer(fw, tid);

    if (b->state != FW_STOPPED) {
        return;         /* its transfer has failed meanwhile */
    }
    if (b->error != EXANET_RESP_FAULT) {
        fw_transfer_finish(s, fw, t, b->error);
        return;
    }
    if (s->ctx[t->ctx].no_report) {
        fw_transfer_finish(s, fw, t, EXANET_CHERR_SOURCE_FAULT);
        return;
    }
    exanet_count(s, RETRY_FAULT);
    fw_hold(s, fw, tid, b->reported ? fw->timeout : 0,
            EXANET_CHERR_SOURCE_FAULT);
    if (b->state == FW_HOLD) {
        b->source = b->reported;
    }
}

void exanet_firmware_source_error(ExanetState *s, unsigned tid,
                                  enum exanet_resp resp, bool reported)
{
    ExanetFirmware *fw = s->firmware;
    FwBlock *b = &fw->block[tid];

    if (b->state != FW_SENT) {
        return;         /* not ours: somebody else uses the Pending_List */
    }
    b->state = FW_STOPPED;
    b->error = resp;
    b->reported = reported;
    fw_push(&fw->errors, tid);
    exanet_schedule(s);
}

void exanet_firmware_source_resolved(ExanetState *s, unsigned tid, bool ok)
{
    ExanetFirmware *fw = s->firmware;
    FwBlock *b = &fw->block[tid];

    if (b->state == FW_STOPPED) {
        b->reported = false;            /* it need not wait for us */
        return;
    }
    if (b->state != FW_HOLD || !b->source) {
        return;
    }
    fw_enter(s, fw);
    if (ok) {
        fw_retry(s, fw, tid);
    } else {
        fw_transfer_finish(s, fw, fw_transfer(fw, tid),
                           EXANET_CHERR_SOURCE_FAULT);
    }
    fw_timer_update(fw);
}

/* --- Responses ------------------------------------------------------------- */

static void fw_acked(ExanetState *s, ExanetFirmware *fw, unsigned tid)
{
    FwTransfer *t = fw_transfer(fw, tid);
    unsigned next = fw_successor(s, fw, tid);

    t->acked += fw->block[tid].len;
    fw_block_free(s, fw, tid);
    if (next != FW_NONE) {
        /* acked before it was sent: a peer lies, but the chain must go on */
        fw_block_send(s, fw, next);
    }
    if (t->acked == t->len) {
        fw_transfer_finish(s, fw, t, 0);
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
        fw_transfer_finish(s, fw, fw_transfer(fw, tid), resp);
        break;
    }
}

/*
 * Whether the response is for the copy that was sent last.  An answer to an older
 * copy must not complete the block: the newer one is still being read.  While the
 * block is on hold only what ends the waiting counts, of whatever copy.
 */
static bool fw_response_fits(ExanetState *s, const FwBlock *b, unsigned tid,
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

static void fw_response(ExanetState *s, ExanetFirmware *fw, uint32_t word)
{
    unsigned tid = RNIC_GET(EXANET_TID_INDEX, RNIC_GET(EXANET_RT_TID, word));
    enum exanet_resp resp = RNIC_GET(EXANET_RT_RESP, word);
    FwBlock *b = &fw->block[tid];

    if (!fw_response_fits(s, b, tid, word)) {
        exanet_count(s, ACK_STALE);
        return;
    }
    trace_exanet_firmware_response(s->node, RNIC_GET(EXANET_RT_TID, word),
                                   b->seq, resp);
    if (resp == EXANET_RESP_ACK) {
        fw_acked(s, fw, tid);
    } else if (b->state == FW_HOLD && resp == EXANET_RESP_RESOLVED) {
        fw_retry(s, fw, tid);       /* was counted when it was put on hold */
    } else {
        fw_nacked(s, fw, tid, resp);
    }
}

/* --- Starting blocks -------------------------------------------------------- */

/* Starts blocks of @t that follow each other as one chain; how many. */
static unsigned fw_issue_chain(ExanetState *s, ExanetFirmware *fw,
                               FwTransfer *t, unsigned max)
{
    unsigned tids[FW_CHAIN_MAX];
    unsigned n = 0;

    while (n < max && t->issued < t->len && t->inflight < fw->window) {
        unsigned tid = fw_block_new(s, fw, t);

        if (tid == FW_NONE) {
            break;
        }
        if (n) {
            fw->block[tid].prev = tids[n - 1];
            fw->block[tids[n - 1]].next = tid;
        }
        tids[n++] = tid;
    }
    /* tail first: the engine must never meet an unwritten successor */
    for (unsigned i = n; i-- > 1;) {
        fw_desc_write(s, fw, tids[i], true);
        fw_deadline_answer(fw, tids[i]);
    }
    if (n) {
        fw_block_send(s, fw, tids[0]);
    }
    return n;
}

/* Starts the next block of @t, or a chain of them; how many. */
static unsigned fw_issue(ExanetState *s, ExanetFirmware *fw, FwTransfer *t)
{
    uint32_t quota = MAX(1, fw_quota(s, t->ctx, EXANET_QUOTA_TIDS));
    bool begins = t->issued == 0;
    unsigned n;

    n = fw_issue_chain(s, fw, t, fw->chain ?
                       MIN(FW_CHAIN_MAX, quota - fw->tids[t->ctx]) : 1);
    if (n) {
        if (begins) {
            fw_status(s, t, EXANET_CHANNEL_ACTIVE, 0);
        }
        fw_runnable(fw, t);
        fw_control_check(s, fw, t);
    }
    return n;
}

/* Whose turn it is: one context after the other, and so their channels. */
static FwTransfer *fw_pick(ExanetState *s, ExanetFirmware *fw)
{
    for (unsigned i = 1; i <= EXANET_CONTEXTS; i++) {
        unsigned c = (fw->turn_ctx + i) % EXANET_CONTEXTS;
        uint64_t channels = fw->runnable[c];
        uint64_t later;
        unsigned ch;

        if (!channels ||
            fw->tids[c] >= MAX(1, fw_quota(s, c, EXANET_QUOTA_TIDS))) {
            continue;
        }
        later = channels & ~MAKE_64BIT_MASK(0, fw->turn_channel[c] + 1);
        ch = ctz64(later ? later : channels);
        fw->turn_ctx = c;
        fw->turn_channel[c] = ch % (EXANET_CHANNELS - 1);
        return &fw->transfer[c * EXANET_CHANNELS + ch];
    }
    return NULL;
}

/* Starts blocks as far as windows, quotas and TIDs go; true if there are more. */
static bool fw_pump(ExanetState *s, ExanetFirmware *fw)
{
    unsigned budget = FW_BUDGET;

    while (fw->runnable_ctx && fw->free.count) {
        FwTransfer *t;
        unsigned n;

        if (!budget) {
            return true;
        }
        t = fw_pick(s, fw);
        if (!t) {
            return false;
        }
        if (exanet_context_check(s, t->src_pdid) != EXANET_RESP_ACK) {
            fw_transfer_finish(s, fw, t, EXANET_RESP_PROTECTION);
            budget--;
            continue;
        }
        n = fw_issue(s, fw, t);
        if (!n) {
            return false;
        }
        budget -= MIN(budget, n);
    }
    return false;
}

/* --- RDMA write: the scratchpad ----------------------------------------------------- */

/* The fields of a channel as the user left them; read once. */
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
    t->path = RNIC_GET(EXANET_CHANNEL_PATH, ctrl) % EXANET_OUTPUTS;
    t->notify = ctrl & EXANET_CHANNEL_NOTIFY;
    t->notify_irq = ctrl & EXANET_CHANNEL_IRQ;
    t->irq_done = ctrl & EXANET_CHANNEL_IRQ_DONE;
}

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
    if (exanet_context_check(s, t->src_pdid) != EXANET_RESP_ACK) {
        code = s->ctx[c].quiesce ? EXANET_CHERR_ABORTED :
                                   EXANET_RESP_PROTECTION;
    } else if (!fw_transfer_good(t) ||
               writes >= fw_quota(s, c, EXANET_QUOTA_WRITES)) {
        exanet_count(s, DOORBELL_BAD);
        code = EXANET_CHERR_BAD_REQUEST;
    }
    if (code) {
        t->start = exanet_now(s);
        fw_transfer_end(s, t, code);
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
        fw_internal(s)) {
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

/* Refuses or drops a request that has no channel. */
static void fw_read_refuse(ExanetState *s, const struct exanet_read_req *req,
                           unsigned code)
{
    uint64_t origin = RNIC_PREP(EXANET_GVA_COORD,
        RNIC_GET(EXANET_READ_ORIGIN_COORD, le64_to_cpu(req->origin)));
    FwTransfer t;

    fw_read_load(&t, req);
    trace_exanet_firmware_complete(s->node, t.ctx, EXANET_CHANNELS, code, 0);
    if (t.notify && fw_notify_good(t.notify_gva, origin)) {
        fw_read_report(s, &t, code);
    }
}

/* What the owner may see of a read, for debugging. */
static void fw_read_show(ExanetState *s, const FwTransfer *t)
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

static void fw_read_start(ExanetState *s, ExanetFirmware *fw,
                          const struct exanet_read_req *req)
{
    uint32_t origin = RNIC_GET(EXANET_READ_ORIGIN_COORD,
                               le64_to_cpu(req->origin));
    FwTransfer t;

    fw_read_load(&t, req);
    trace_exanet_firmware_request(s->node, origin, t.ctx, t.src, t.len);
    if (exanet_context_check(s, t.src_pdid) != EXANET_RESP_ACK) {
        fw_read_refuse(s, req, EXANET_RESP_PROTECTION);
        return;
    }
    /* who asks gets the data, not a third node */
    if (RNIC_GET(EXANET_GVA_COORD, t.dst) != origin || !fw_transfer_good(&t)) {
        fw_read_refuse(s, req, EXANET_CHERR_BAD_REQUEST);
        return;
    }
    t.channel = ctz64(~fw->active[t.ctx] &
                      ~MAKE_64BIT_MASK(0, EXANET_WRITE_CHANNELS));
    fw_read_show(s, &t);
    fw->transfer[t.ctx * EXANET_CHANNELS + t.channel] = t;
    fw_transfer_begin(s, fw,
                      &fw->transfer[t.ctx * EXANET_CHANNELS + t.channel]);
}

static bool fw_read_channel_free(ExanetState *s, ExanetFirmware *fw,
                                 unsigned owner)
{
    unsigned reads = ctpop64(fw->active[owner] >> EXANET_WRITE_CHANNELS);

    return reads < MIN(EXANET_READ_CHANNELS,
                       MAX(1, fw_quota(s, owner, EXANET_QUOTA_READS)));
}

/* Starts requests that waited for a read channel of @owner. */
static void fw_read_next(ExanetState *s, ExanetFirmware *fw, unsigned owner)
{
    FwQueue *q = &fw->queue[owner];

    while (q->count && fw_read_channel_free(s, fw, owner)) {
        const struct exanet_read_req *req = &q->req[q->head];

        q->head = (q->head + 1) % FW_QUEUE;
        q->count--;
        fw_read_start(s, fw, req);
    }
}

/* Each owner has its own queue: one with many requests does not hold up others. */
static void fw_request(ExanetState *s, ExanetFirmware *fw,
                       const struct exanet_read_req *req)
{
    unsigned owner = RNIC_GET(EXANET_READ_REQ_OWNER, le64_to_cpu(req->ctrl));
    FwQueue *q = &fw->queue[owner];

    if (q->count == FW_QUEUE) {
        fw_read_refuse(s, req, EXANET_RESP_FULL);
        return;
    }
    q->req[(q->head + q->count++) % FW_QUEUE] = *req;
    fw_read_next(s, fw, owner);
}

bool exanet_firmware_request_room(ExanetState *s, unsigned owner,
                                  unsigned more)
{
    return s->firmware->queue[owner].count + more < FW_QUEUE;
}

/* --- Life ------------------------------------------------------------------ */

static bool fw_idle(ExanetState *s, const ExanetFirmware *fw)
{
    return !s->rt.resp_count && !s->rt.req_count && !fw->errors.count &&
           !fw->expired && !fw->controls.count && !fw->runnable_ctx;
}

bool exanet_firmware_run(ExanetState *s)
{
    ExanetFirmware *fw = s->firmware;
    struct exanet_read_req req;
    uint32_t word;
    bool more;

    if (fw_idle(s, fw) || !s->enabled || !fw_internal(s)) {
        return false;
    }
    fw_enter(s, fw);
    /* responses first: they free what the rest needs */
    while (exanet_rtmailbox_pop_response(s, &word)) {
        fw_response(s, fw, word);
    }
    while (fw->errors.count) {
        fw_source_error(s, fw, fw_pop(&fw->errors));
    }
    while (exanet_rtmailbox_pop_request(s, &req)) {
        fw_request(s, fw, &req);
    }
    if (fw->expired) {
        fw_timeouts(s, fw);
    }
    more = fw_pump(s, fw);
    fw_controls_flush(s, fw);
    fw_timer_update(fw);
    return more;
}

void exanet_firmware_quiesce(ExanetState *s, unsigned c)
{
    ExanetFirmware *fw = s->firmware;
    FwQueue *q = &fw->queue[c];

    fw_enter(s, fw);
    for (; q->count; q->count--, q->head = (q->head + 1) % FW_QUEUE) {
        fw_read_refuse(s, &q->req[q->head], EXANET_CHERR_ABORTED);
    }
    while (fw->active[c]) {
        unsigned channel = ctz64(fw->active[c]);

        fw_transfer_finish(s, fw, &fw->transfer[c * EXANET_CHANNELS + channel],
                           EXANET_CHERR_ABORTED);
    }
}

unsigned exanet_firmware_active(ExanetState *s, unsigned c)
{
    return ctpop64(s->firmware->active[c]) + s->firmware->queue[c].count;
}

void exanet_firmware_reg_sync(ExanetState *s)
{
    uint32_t active = 0;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        active += exanet_firmware_active(s, c);
    }
    exanet_reg_set32(s, EXANET_FW + EXANET_REG_FW_ACTIVE, active);
}

void exanet_firmware_reg_written(ExanetState *s, unsigned reg, bool top)
{
    ExanetFirmware *fw = s->firmware;

    if (reg == EXANET_REG_FW_MODE && !fw_internal(s)) {
        /* the Pending_List belongs to somebody else now */
        for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
            exanet_firmware_quiesce(s, c);
        }
        return;
    }
    fw_config_load(s, fw);
    for (unsigned i = 0; i < ARRAY_SIZE(fw->transfer); i++) {
        fw_runnable(fw, &fw->transfer[i]);      /* the window may have grown */
    }
    exanet_schedule(s);
}

void exanet_firmware_reset(ExanetState *s)
{
    ExanetFirmware *fw = s->firmware;
    QEMUTimer *timer = fw->timer;

    timer_del(timer);
    memset(fw, 0, sizeof(*fw));
    fw->s = s;
    fw->timer = timer;
    fw->next = FW_NEVER;
    fw->armed = FW_NEVER;
    fw_config_load(s, fw);
    for (unsigned i = 0; i < ARRAY_SIZE(fw->transfer); i++) {
        fw->transfer[i].ctx = i / EXANET_CHANNELS;
        fw->transfer[i].channel = i % EXANET_CHANNELS;
    }
    for (unsigned tid = 0; tid < EXANET_TIDS; tid++) {
        fw->deadline[tid] = FW_NEVER;
        fw->gen[tid] = s->epoch % 16;
        fw_push(&fw->free, tid);
    }
}

void exanet_firmware_init(ExanetState *s)
{
    ExanetFirmware *fw = g_new0(ExanetFirmware, 1);

    fw->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, fw_timer, fw);
    s->firmware = fw;
    exanet_firmware_reset(s);
}

void exanet_firmware_fini(ExanetState *s)
{
    timer_free(s->firmware->timer);
    g_free(s->firmware);
    s->firmware = NULL;
}
