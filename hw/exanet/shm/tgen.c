/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet traffic generator: loads and stores to the addresses in its target RAM
 * (EXANET_TGEN_TARGET).  No CPU waits for these accesses [T §5, "address mapper"].
 */
#include "qemu/osdep.h"
#include "../exanet.h"
#include "../base/regs.h"
#include "initiator.h"
#include "internal.h"
#include "timing.h"
#include "tgen.h"
#include "../trace.h"

#define RUN_PARTS 64               /* limit of packets per exanet_tgen_run() */
#define DATA_BYTES (EXANET_TGEN_WORDS * 8)
/*
 * Maximal number of transactions: 16 for OUTSTANDING, and one for each timer, because a
 * store that was acknowledged early occupies a timer until the target responds.
 */
#define OPS_MAX (16 + EXANET_SHM_TIMERS)

/* A transaction, which has one or several packets. */
typedef struct TgenOp {
    uint64_t gva;
    unsigned parts;                 /* number of packets */
    unsigned issued;                /* number of packets that were issued */
    unsigned open;                  /* number of issued packets without a response */
    /*
     * With WRITE and EARLY: number of issued packets for which tgen_settled() was not
     * called.
     */
    unsigned settling;
    /* offset of the transaction's data in the data RAM, bytes */
    unsigned data;
    uint8_t axi_id;
    bool used;
    bool failed;
} TgenOp;

struct ExanetTgen {
    uint16_t run;                   /* run number; part of the handle of a packet */
    bool busy;
    bool stopped;                   /* no further transaction begins in this run */
    bool begun;                     /* transaction @current has packets to issue */
    uint8_t code;                   /* first error of the run, enum exanet_resp */
    uint32_t cfg;                   /* @cfg, @ids, @pdid: registers at GO */
    uint32_t ids;
    uint16_t pdid;
    unsigned size;                  /* size of a transaction, bytes */
    unsigned target;                /* index of the next target */
    unsigned id;                    /* next AXI ID minus IDS_FIRST */
    /*
     * Number of transactions that have packets to issue, or packets without a response.
     */
    unsigned waiting;
    unsigned current;               /* index in @op of the transaction that began last */
    uint64_t done;                  /* number of transactions with all responses */
    uint64_t errors;                /* number of transactions that failed */
    /* bytes of packets with response ACK, also early ACK */
    uint64_t bytes;
    int64_t start;                  /* ns, time of GO */
    int64_t time;                   /* ns, from GO to the end of the last transaction */
    /* With timing: minimal time, ns, from the end of a transaction to the next begin. */
    unsigned think;
    int64_t next;                   /* with timing: earliest next begin, tenths of ns */
    TgenOp op[OPS_MAX];
};

static uint32_t tgen_get32(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SHM + reg);
}

/* --- Parts ---------------------------------------------------------------- */

/* Returns the offset, in bytes, of packet @n in a transaction to @gva. */
static unsigned part_at(uint64_t gva, unsigned n)
{
    return n ? n * EXANET_MTU - gva % EXANET_MTU : 0;
}

static unsigned part_bytes(const ExanetTgen *g, const TgenOp *op, unsigned n)
{
    return MIN(part_at(op->gva, n + 1), g->size) - part_at(op->gva, n);
}

/*
 * data_read() copies @len bytes from offset @at of the data RAM to @buf, data_write()
 * copies @len bytes from @buf to offset @at of the data RAM.  Word 0 of the data RAM
 * follows the last word.
 */
static void data_read(ExanetState *s, unsigned at, uint8_t *buf, unsigned len)
{
    for (unsigned i = 0; i < len; i++, at++) {
        unsigned word = at % DATA_BYTES / 8;

        buf[i] = exanet_reg_get64(s, EXANET_TGEN_DATA(word)) >> at % 8 * 8;
    }
}

static void data_write(ExanetState *s, unsigned at, const uint8_t *buf,
                       unsigned len)
{
    for (unsigned i = 0; i < len; i++, at++) {
        unsigned reg = EXANET_TGEN_DATA(at % DATA_BYTES / 8);
        unsigned shift = at % 8 * 8;

        exanet_reg_set64(s, reg, (uint64_t)buf[i] << shift |
                         (exanet_reg_get64(s, reg) & ~(0xffULL << shift)));
    }
}

/* --- Answers -------------------------------------------------------------- */

static void *part_handle(const ExanetTgen *g, const TgenOp *op, unsigned n)
{
    return GUINT_TO_POINTER((uint32_t)g->run << 16 | (op - g->op) << 8 | n);
}

/*
 * Returns the transaction that has the packet @handle, and stores the packet's number in
 * *@n.  Returns NULL if @handle belongs to an earlier run.
 */
static TgenOp *part_op(ExanetTgen *g, void *handle, unsigned *n)
{
    uint32_t value = GPOINTER_TO_UINT(handle);

    *n = value & 0xff;
    return value >> 16 == g->run ? &g->op[value >> 8 & 0xff] : NULL;
}

static void op_failed(ExanetTgen *g, TgenOp *op, enum exanet_resp resp)
{
    if (!op->failed) {
        op->failed = true;
        g->errors++;
    }
    g->code = g->code ?: resp;
}

/*
 * Frees @op if no packet of @op remains to be issued, all issued packets have responses,
 * and @settling is 0.  Makes the loop run the unit again.
 */
static void op_advance(ExanetState *s, ExanetTgen *g, TgenOp *op)
{
    if (op->issued == op->parts && !op->open && !op->settling) {
        op->used = false;
    }
    exanet_shm_schedule(s);
}

static void tgen_respond(ExanetState *s, void *opaque, enum exanet_resp resp,
                         const uint8_t *data)
{
    ExanetTgen *g = s->shm->tgen;
    unsigned n;
    TgenOp *op = part_op(g, opaque, &n);

    if (!op) {
        return;
    }
    if (resp != EXANET_RESP_ACK) {
        op_failed(g, op, resp);
    } else {
        g->bytes += part_bytes(g, op, n);
        if (data) {
            data_write(s, op->data + part_at(op->gva, n), data,
                       part_bytes(g, op, n));
        }
    }
    if (--op->open == 0 && op->issued == op->parts) {
        g->waiting--;
        g->done++;
        g->time = rnic_now() - g->start;
        g->next = exanet_timing_after(s, (int64_t)g->think * EXANET_TIMING_NS);
    }
    op_advance(s, g, op);
}

static void tgen_settled(ExanetState *s, void *opaque, enum exanet_resp resp)
{
    ExanetTgen *g = s->shm->tgen;
    unsigned n;
    TgenOp *op = part_op(g, opaque, &n);

    if (!op) {
        return;
    }
    if (resp != EXANET_RESP_ACK) {
        op_failed(g, op, resp);
    }
    op->settling--;
    op_advance(s, g, op);
}

/* --- Requests ------------------------------------------------------------- */

/*
 * Begins a transaction with the next target and AXI ID, and stores the transaction's
 * index in @current.  After the last target, begins no more transactions in this run, or
 * continues with the first target (REPEAT).  Returns false if no transaction may begin
 * now.
 */
static bool op_begin(ExanetState *s, ExanetTgen *g)
{
    unsigned ids = MAX(RNIC_GET(EXANET_TGEN_IDS_COUNT, g->ids), 1);
    unsigned i;

    if (g->stopped ||
        g->waiting > RNIC_GET(EXANET_TGEN_OUTSTANDING, g->cfg) ||
        !exanet_timing_due(s, g->next)) {
        return false;
    }
    for (i = 0; i < OPS_MAX && g->op[i].used; i++) {
        ;
    }
    if (i == OPS_MAX) {
        return false;
    }
    g->op[i] = (TgenOp) {
        .gva = exanet_reg_get64(s, EXANET_TGEN_TARGET(g->target)),
        .axi_id = (RNIC_GET(EXANET_TGEN_IDS_FIRST, g->ids) + g->id) & 0xf,
        .data = g->cfg & EXANET_TGEN_EACH ? 8 * g->target : 0,
        .used = true,
    };
    g->op[i].parts = (g->op[i].gva % EXANET_MTU + g->size + EXANET_MTU - 1) /
                     EXANET_MTU;
    g->current = i;
    g->begun = true;
    g->waiting++;
    g->id = (g->id + 1) % ids;
    if (++g->target == RNIC_GET(EXANET_TGEN_ENTRIES, g->cfg)) {
        g->target = 0;
        g->stopped = !(g->cfg & EXANET_TGEN_REPEAT);
    }
    return true;
}

/*
 * Issues the next packet of transaction @current to the initiator.  Returns false if the
 * initiator does not accept the packet now.
 */
static bool part_issue(ExanetState *s, ExanetTgen *g)
{
    TgenOp *op = &g->op[g->current];
    const bool write = g->cfg & EXANET_TGEN_WRITE;
    const bool early = write && (g->cfg & EXANET_TGEN_EARLY);
    unsigned at = part_at(op->gva, op->issued);
    uint8_t data[EXANET_MTU];
    ExanetShmRequest req = {
        /* a carry must not change the coordinates in the address */
        .gva = (op->gva & EXANET_GVA_COORD) |
               ((op->gva + at) & ~EXANET_GVA_COORD),
        .data = data,
        .size = part_bytes(g, op, op->issued),
        .pdid = g->pdid,
        .class = write ? EXANET_SHM_STORE : EXANET_SHM_LOAD,
        .axi_id = RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_TGEN) |
                  RNIC_PREP(EXANET_AXI_ID_NUMBER, op->axi_id),
        .ctx = RNIC_GET(EXANET_TGEN_IDS_CTX, g->ids),
        .early = early,
        .joined = op->issued,
        .respond = tgen_respond,
        .settled = early ? tgen_settled : NULL,
        .opaque = part_handle(g, op, op->issued),
    };

    if (write) {
        data_read(s, op->data + at, data, req.size);
    }
    if (!exanet_shm_issue(s, &req)) {
        return false;
    }
    op->open++;
    op->settling += early;
    g->begun = ++op->issued < op->parts;
    return true;
}

static void tgen_end(ExanetState *s, ExanetTgen *g)
{
    unsigned cfg = EXANET_SHM + EXANET_REG_TGEN_CFG;

    g->busy = false;
    exanet_reg_set32(s, cfg, exanet_reg_get32(s, cfg) & ~EXANET_TGEN_GO);
    trace_exanet_tgen_end(s->node, g->done, g->errors, g->bytes);
}

bool exanet_tgen_run(ExanetState *s)
{
    ExanetTgen *g = s->shm->tgen;
    unsigned parts = 0;
    bool used = false;

    if (!g->busy) {
        return false;
    }
    if (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ENABLE) {
        while (parts < RUN_PARTS && (g->begun || op_begin(s, g)) &&
               part_issue(s, g)) {
            parts++;
        }
    }
    for (unsigned i = 0; i < OPS_MAX; i++) {
        used |= g->op[i].used;
    }
    if (g->stopped && !used) {
        tgen_end(s, g);
    }
    exanet_shm_wake(s, g->busy);
    return parts == RUN_PARTS;
}

/* --- Registers, init and reset -------------------------------------------- */

static void tgen_begin(ExanetState *s, ExanetTgen *g)
{
    uint32_t cfg = tgen_get32(s, EXANET_REG_TGEN_CFG);
    uint32_t size = tgen_get32(s, EXANET_REG_TGEN_SIZE);
    unsigned entries = RNIC_GET(EXANET_TGEN_ENTRIES, cfg);

    *g = (ExanetTgen) {
        .run = g->run + 1,
        .busy = true,
        .cfg = cfg,
        .ids = tgen_get32(s, EXANET_REG_TGEN_IDS),
        .pdid = tgen_get32(s, EXANET_REG_TGEN_PDID),
        .size = size ?: 8 * (RNIC_GET(EXANET_TGEN_BEATS, cfg) + 1),
        .start = rnic_now(),
        .think = tgen_get32(s, EXANET_REG_TGEN_THINK),
    };
    trace_exanet_tgen_begin(s->node, cfg, g->size);
    if (entries < 1 || entries > EXANET_TGEN_TARGETS) {
        g->code = EXANET_RESP_MALFORMED;
        g->stopped = true;
    }
    exanet_shm_schedule(s);
}

/*
 * Stops the run: no transaction begins any more, and the packets of transaction @current
 * that are not issued yet are dropped.
 */
static void tgen_abandon(ExanetState *s, ExanetTgen *g)
{
    TgenOp *op = &g->op[g->current];

    g->stopped = true;
    if (g->begun) {
        g->begun = false;
        op->parts = op->issued;
        g->waiting -= !op->open;
        op_advance(s, g, op);
    }
}

void exanet_tgen_reg_written(ExanetState *s, unsigned reg, bool top)
{
    ExanetTgen *g = s->shm->tgen;
    unsigned cfg = EXANET_SHM + EXANET_REG_TGEN_CFG;

    if (reg != EXANET_REG_TGEN_CFG) {
        return;
    }
    if (g->busy) {
        g->stopped |= !(exanet_reg_get32(s, cfg) & EXANET_TGEN_GO);
        exanet_shm_schedule(s);
    } else if (exanet_reg_get32(s, cfg) & EXANET_TGEN_GO) {
        if (s->enabled && (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ENABLE)) {
            tgen_begin(s, g);
        } else {
            exanet_reg_set32(s, cfg, exanet_reg_get32(s, cfg) &
                             ~EXANET_TGEN_GO);
        }
    }
}

void exanet_tgen_reg_sync(ExanetState *s)
{
    ExanetTgen *g = s->shm->tgen;

    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_TGEN_DONE, g->done);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_TGEN_ERR, g->errors);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_TGEN_BYTES, g->bytes);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_TGEN_TIME, g->time);
    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_TGEN_STATUS,
                     (g->busy ? EXANET_TGEN_STATUS_BUSY : 0) |
                     RNIC_PREP(EXANET_TGEN_STATUS_CODE, g->code));
}

void exanet_tgen_init(ExanetState *s)
{
    s->shm->tgen = g_new0(ExanetTgen, 1);
}

void exanet_tgen_fini(ExanetState *s)
{
    g_clear_pointer(&s->shm->tgen, g_free);
}

void exanet_tgen_reset(ExanetState *s)
{
    ExanetTgen *g = s->shm->tgen;

    *g = (ExanetTgen) { .run = g->run + 1 };
}

void exanet_tgen_quiesce(ExanetState *s, unsigned c)
{
    ExanetTgen *g = s->shm->tgen;

    if (g->busy && RNIC_GET(EXANET_TGEN_IDS_CTX, g->ids) == c) {
        tgen_abandon(s, g);
    }
}

unsigned exanet_tgen_active(ExanetState *s, unsigned c)
{
    ExanetTgen *g = s->shm->tgen;

    return g->busy && RNIC_GET(EXANET_TGEN_IDS_CTX, g->ids) == c;
}
