/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accelerator computes one cell after the other.  For a cell, the accelerator loads
 * the maps, then loads the elements of y and x and the matrix, computes the new elements
 * of y, and stores these elements.  Several loads may be under way at a time.  The stores
 * may still be under way while the accelerator loads the next cell.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "accel.h"
#include "../exanet.h"
#include "../base/irq.h"
#include "../base/regs.h"
#include "initiator.h"
#include "internal.h"
#include "timing.h"
#include "../trace.h"

/* Limits of the work in one exanet_accel_run(), because other units and the loop wait. */
#define RUN_PIECES 16              /* limit of pieces that are moved or issued */
#define RUN_OPS 256                /* limit of multiply-adds */
/* Period of the watchdog, ns.  A job that makes no progress during one period ends. */
#define WATCHDOG_NS (60 * NANOSECONDS_PER_SECOND)
#define LOCAL_BYTES 4096            /* maximal size of a piece from or to block RAM */
/* Maximal number of entries of the list of cells that are loaded together. */
#define CELLS_AHEAD 64
#define PIECES_MAX (EXANET_SHM_LOADS + EXANET_SHM_TIMERS)

/* The arrays of a job, in the order of the bits EXANET_ACCEL_REMOTE_MATRIX to _CELLS. */
enum { MATRIX, X, Y, MAP1, MAP2, CELLS, ARRAYS };

typedef enum AccelPhase {
    PHASE_CELLS,                    /* loads a part of the list of cells */
    PHASE_MAPS,                     /* loads the maps of a cell */
    PHASE_DATA,                     /* loads columns of y and x, and the matrix */
    PHASE_COMPUTE,
    PHASE_STORE,                    /* stores the columns of y */
    /* Waits until accel_settle() can end the job: no load or store is under way. */
    PHASE_DRAIN,
} AccelPhase;

/* Bytes to move between an array and a buffer. */
typedef struct AccelMove {
    unsigned array;                 /* number of the array, MATRIX to CELLS */
    uint64_t at;                    /* offset in the array, bytes */
    uint8_t *buf;
    uint64_t bytes;
} AccelMove;

/* A load or store under way. */
typedef struct AccelPiece {
    uint64_t gva;
    uint8_t *buf;                   /* buffer for the data of a load; NULL: a store */
    uint16_t size;                  /* bytes */
    bool used;
} AccelPiece;

struct ExanetAccel {
    uint32_t run;                   /* job number; part of the handle of a piece */
    bool busy;                      /* a job is under way */
    bool done;                      /* the last job has ended */
    uint8_t code;                   /* first error of the job, enum exanet_resp */
    uint64_t err_addr;              /* address of this error; 0: none */
    uint64_t ops;                   /* number of multiply-adds of the job */
    /* number of bytes loaded or stored without an error */
    uint64_t bytes;
    int64_t start;                  /* ns, time of GO */
    int64_t time;                   /* ns, duration of the job; 0 until its end */
    int64_t next;                   /* with timing: tenths of ns, end of the last beat */
    QEMUTimer *timer;               /* watchdog of the job */
    uint64_t last_progress;         /* job_progress() when the watchdog ran last */

    /* Values of the registers when GO was written. */
    uint32_t ctrl;
    uint32_t pdid;
    uint64_t base[ARRAYS];
    unsigned ndf1;
    unsigned ndf2;
    unsigned nlayers;
    uint32_t ncells;
    unsigned burst;                 /* maximal size of a piece, bytes */
    /* Maximal number of loads under way; with timing, of loads and stores. */
    unsigned outstanding;

    AccelPhase phase;
    uint32_t cell;                  /* index of the current cell in the list */
    unsigned layer;                 /* layer and row (@row) to compute next */
    unsigned row;
    AccelMove move[2 + EXANET_ACCEL_NDF_MAX * 2];
    unsigned moves;
    unsigned moved;                 /* moves of which all pieces were issued */
    uint64_t move_at;               /* bytes of move[moved] that were issued or moved */
    AccelPiece piece[PIECES_MAX];
    unsigned loads;                 /* number of loads under way */
    unsigned stores;                /* number of stores under way */
    bool full;                      /* with timing: waits until no piece is under way */

    uint32_t cells[CELLS_AHEAD];
    uint32_t map1[EXANET_ACCEL_NDF_MAX];
    uint32_t map2[EXANET_ACCEL_NDF_MAX];
    double *matrix;                 /* [nlayers][ndf1][ndf2] */
    double *x;                      /* [ndf2][nlayers] */
    double *y;                      /* elements of all columns of y, each element once */
    double *y_column[EXANET_ACCEL_NDF_MAX];     /* begin of each column in @y */
};

static uint32_t accel_get32(ExanetState *s, unsigned reg)
{
    return exanet_reg_get32(s, EXANET_SHM + reg);
}

static bool accel_remote(const ExanetAccel *a, unsigned array)
{
    return a->ctrl & EXANET_ACCEL_REMOTE_MATRIX << array;
}

/*
 * Makes the job fail with @resp at address @addr, unless the job has failed before.  The
 * job ends when no load or store is under way.
 */
static void accel_fail(ExanetAccel *a, enum exanet_resp resp, uint64_t addr)
{
    if (!a->code) {
        a->code = resp;
        a->err_addr = addr;
    }
    a->phase = PHASE_DRAIN;
}

/* --- Moving data ---------------------------------------------------------- */

static void move_add(ExanetAccel *a, unsigned array, uint64_t at, void *buf,
                     uint64_t bytes)
{
    assert(a->moves < ARRAY_SIZE(a->move));
    a->move[a->moves++] = (AccelMove) { array, at, buf, bytes };
}

static void moves_clear(ExanetAccel *a)
{
    a->moves = a->moved = 0;
    a->move_at = 0;
}

/* Returns true if all pieces of all moves were issued, and all loads have an answer. */
static bool moves_done(const ExanetAccel *a)
{
    return a->moved == a->moves && !a->loads;
}

/* Returns the bytes of the window of @gva or, in the NI window, the bytes of one unit. */
static uint64_t window_bytes(uint64_t gva)
{
    return RNIC_GET(EXANET_VA_WINDOW, gva) == EXANET_WINDOW_NI ?
           EXANET_NI_VA(1) - EXANET_NI_VA(0) : EXANET_VA_OFFSET + 1;
}

/* Returns true if @m is inside the block RAM or, if remote, the window of its array. */
static bool move_inside(ExanetState *s, const AccelMove *m)
{
    const ExanetAccel *a = s->shm->accel;
    bool remote = accel_remote(a, m->array);
    uint64_t base = a->base[m->array];
    uint64_t end = remote ? window_bytes(base) : s->bram_size;

    base = remote ? base % end : base;
    return base <= end && m->at <= end - base && m->bytes <= end - base - m->at;
}

/*
 * With timing, adds to @next the time of a piece of @bytes bytes.  The accelerator
 * handles one beat of 8 bytes after the other.
 */
static void beats_handle(ExanetState *s, ExanetAccel *a, unsigned bytes)
{
    a->next = exanet_timing_next(s, a->next, DIV_ROUND_UP(bytes, 8) *
                                 EXANET_TIMING_BEAT);
}

/* Implements ExanetShmRequest.respond.  Ignores responses to pieces of an earlier job. */
static void piece_respond(ExanetState *s, void *opaque, enum exanet_resp resp,
                          const uint8_t *data)
{
    ExanetAccel *a = s->shm->accel;
    uint32_t handle = GPOINTER_TO_UINT(opaque);
    AccelPiece *piece = &a->piece[handle & 0xff];

    if (handle >> 8 != (a->run & 0xffffff)) {
        return;
    }
    piece->used = false;
    if (piece->buf) {
        a->loads--;
    } else {
        a->stores--;
    }
    beats_handle(s, a, piece->size);
    if (resp != EXANET_RESP_ACK) {
        accel_fail(a, resp, piece->gva);
    } else {
        a->bytes += piece->size;
        if (piece->buf) {
            memcpy(piece->buf, data, piece->size);
        }
    }
    exanet_shm_schedule(s);
}

/*
 * Returns true if another piece may be issued.  On hardware the inner loop is unrolled [T
 * §6.4]: the accesses of an iteration begin together, and the accesses of the next
 * iteration begin when all these accesses have an answer.  So with timing, @outstanding
 * pieces begin together.  Without timing, @outstanding limits only loads.
 */
static bool piece_room(ExanetState *s, ExanetAccel *a, bool store)
{
    unsigned open = a->loads + a->stores;

    if (likely(!s->shm->timing)) {
        return store || a->loads < a->outstanding;
    }
    a->full = open >= a->outstanding || (a->full && open);
    return !a->full;
}

/*
 * Issues the next piece of @m to the initiator.  Returns the size of the piece in bytes,
 * or 0 if the job must try again later.
 */
static unsigned piece_issue(ExanetState *s, ExanetAccel *a, const AccelMove *m)
{
    const bool store = a->phase == PHASE_STORE;
    uint64_t gva = a->base[m->array] + m->at + a->move_at;
    uint8_t *buf = m->buf + a->move_at;
    unsigned i;
    ExanetShmRequest req = {
        .gva = gva,
        .data = buf,
        .size = MIN(MIN(m->bytes - a->move_at, a->burst),
                    EXANET_MTU - gva % EXANET_MTU),
        .pdid = RNIC_GET(EXANET_ACCEL_PDID_TARGET, a->pdid),
        .class = store ? EXANET_SHM_STORE : EXANET_SHM_LOAD,
        .axi_id = RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_ACCEL),
        .ctx = RNIC_GET(EXANET_ACCEL_PDID_CTX, a->pdid),
        .respond = piece_respond,
    };

    if (!piece_room(s, a, store)) {
        return 0;
    }
    for (i = 0; i < PIECES_MAX && a->piece[i].used; i++) {
        ;
    }
    req.opaque = GUINT_TO_POINTER(a->run << 8 | i);
    if (i == PIECES_MAX || !exanet_shm_issue(s, &req)) {
        return 0;
    }
    a->piece[i] = (AccelPiece) {
        .gva = gva, .buf = store ? NULL : buf, .size = req.size, .used = true,
    };
    if (store) {
        a->stores++;
    } else {
        a->loads++;
    }
    return req.size;
}

/* Moves the next piece of @m from or to block RAM.  Returns the bytes of the piece. */
static unsigned piece_local(ExanetState *s, ExanetAccel *a, const AccelMove *m)
{
    unsigned size = MIN(m->bytes - a->move_at, LOCAL_BYTES);
    uint8_t *bram = s->shm->bram + a->base[m->array] + m->at + a->move_at;

    if (a->phase == PHASE_STORE) {
        memcpy(bram, m->buf + a->move_at, size);
    } else {
        memcpy(m->buf + a->move_at, bram, size);
    }
    a->bytes += size;
    beats_handle(s, a, size);
    return size;
}

/*
 * Moves or issues at most *@pieces pieces, and subtracts their number from *@pieces.
 * Returns false if the job must wait.  Makes the job fail if move_inside() is false.
 */
static bool moves_run(ExanetState *s, ExanetAccel *a, unsigned *pieces)
{
    for (; a->moved < a->moves && *pieces; --*pieces) {
        const AccelMove *m = &a->move[a->moved];
        unsigned size;

        if (!exanet_timing_due(s, a->next)) {
            return false;
        }
        if (!move_inside(s, m)) {
            accel_fail(a, EXANET_RESP_DECODE, a->base[m->array] + m->at);
            return true;
        }
        size = accel_remote(a, m->array) ? piece_issue(s, a, m) :
               piece_local(s, a, m);
        if (!size) {
            return false;
        }
        a->move_at += size;
        if (a->move_at == m->bytes) {
            a->move_at = 0;
            a->moved++;
        }
    }
    /* false: all pieces were issued, but a load has no answer yet */
    return a->moved < a->moves || !a->loads;
}

/* --- One cell ------------------------------------------------------------- */

/* Begins to load a part of the list of cells. */
static void phase_cells(ExanetAccel *a)
{
    moves_clear(a);
    move_add(a, CELLS, 4ULL * a->cell, a->cells,
             4 * MIN(a->ncells - a->cell, CELLS_AHEAD));
    a->phase = PHASE_CELLS;
}

static uint64_t cell_number(const ExanetAccel *a)
{
    return le32_to_cpu(a->cells[a->cell % CELLS_AHEAD]);
}

static void phase_maps(ExanetAccel *a)
{
    uint64_t cell = cell_number(a);

    moves_clear(a);
    move_add(a, MAP1, cell * a->ndf1 * 4, a->map1, a->ndf1 * 4);
    move_add(a, MAP2, cell * a->ndf2 * 4, a->map2, a->ndf2 * 4);
    a->phase = PHASE_MAPS;
}

/*
 * Adds the moves for the columns of y.  Columns that overlap or touch become one move, so
 * that the buffer @y has each shared element once.
 */
static void columns_add(ExanetAccel *a)
{
    unsigned order[EXANET_ACCEL_NDF_MAX];
    uint64_t start = 0, end = 0;
    double *buf = a->y;

    for (unsigned i = 0; i < a->ndf1; i++) {
        unsigned at = i;

        for (; at && a->map1[order[at - 1]] > a->map1[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (unsigned i = 0; i < a->ndf1; i++) {
        uint64_t column = a->map1[order[i]];

        if (i == 0 || column > end) {
            buf += end - start;
            start = end = column;
            move_add(a, Y, 8 * start, buf, 0);
        }
        end = column + a->nlayers;
        a->move[a->moves - 1].bytes = 8 * (end - start);
        a->y_column[order[i]] = buf + (column - start);
    }
}

static void phase_data(ExanetAccel *a)
{
    uint64_t matrix = 8ULL * a->nlayers * a->ndf1 * a->ndf2;

    moves_clear(a);
    for (unsigned i = 0; i < a->ndf1; i++) {
        le32_to_cpus(&a->map1[i]);
    }
    columns_add(a);
    for (unsigned i = 0; i < a->ndf2; i++) {
        move_add(a, X, 8ULL * le32_to_cpu(a->map2[i]), a->x + i * a->nlayers,
                 8 * a->nlayers);
    }
    move_add(a, MATRIX, cell_number(a) * matrix, a->matrix, matrix);
    a->phase = PHASE_DATA;
}

/* Swaps the bytes of each value on a big-endian host, because memory is little-endian. */
static void swap_doubles(double *values, uint64_t count)
{
#if HOST_BIG_ENDIAN
    for (uint64_t i = 0; i < count; i++) {
        stq_le_p(&values[i], ldq_he_p(&values[i]));
    }
#endif
}

/* Returns the number of elements in the buffer @y. */
static uint64_t y_count(const ExanetAccel *a)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < a->moves; i++) {
        bytes += a->move[i].array == Y ? a->move[i].bytes : 0;
    }
    return bytes / 8;
}

static void phase_compute(ExanetAccel *a)
{
    swap_doubles(a->matrix, (uint64_t)a->nlayers * a->ndf1 * a->ndf2);
    swap_doubles(a->x, (uint64_t)a->ndf2 * a->nlayers);
    swap_doubles(a->y, y_count(a));
    a->layer = a->row = 0;
    a->phase = PHASE_COMPUTE;
}

/* Returns the scalar product of @row, a matrix row, and the elements of x in layer @k. */
static double row_product(const ExanetAccel *a, const double *row, unsigned k)
{
    double sum = 0;

    for (unsigned i = 0; i < a->ndf2; i++) {
        /*
         * volatile makes the compiler round the product before the sum, so that all hosts
         * have the same result.
         */
        volatile double product = row[i] * a->x[i * a->nlayers + k];

        sum += product;
    }
    return sum;
}

/*
 * Computes at most RUN_OPS multiply-adds, in whole rows.  Returns true if all rows of all
 * layers are computed.
 */
static bool rows_compute(ExanetAccel *a)
{
    for (unsigned rows = RUN_OPS / a->ndf2; rows && a->layer < a->nlayers; rows--) {
        size_t row = (size_t)a->layer * a->ndf1 + a->row;

        a->y_column[a->row][a->layer] += row_product(a, a->matrix + row * a->ndf2,
                                                     a->layer);
        a->ops += a->ndf2;
        if (++a->row == a->ndf1) {
            a->row = 0;
            a->layer++;
        }
    }
    return a->layer == a->nlayers;
}

/* Begins to store the columns of y, which are the first elements of @move. */
static void phase_store(ExanetAccel *a)
{
    unsigned columns = 0;

    swap_doubles(a->y, y_count(a));
    while (a->move[columns].array == Y) {
        columns++;
    }
    a->moves = columns;
    a->moved = 0;
    a->phase = PHASE_STORE;
}

/* Begins the next cell, or PHASE_DRAIN after the last cell. */
static void cell_next(ExanetAccel *a)
{
    a->cell++;
    if (a->cell == a->ncells) {
        a->phase = PHASE_DRAIN;
    } else if (a->cell % CELLS_AHEAD == 0) {
        phase_cells(a);
    } else {
        phase_maps(a);
    }
}

/* --- The job -------------------------------------------------------------- */

static void buffers_free(ExanetAccel *a)
{
    g_clear_pointer(&a->matrix, g_free);
    g_clear_pointer(&a->x, g_free);
    g_clear_pointer(&a->y, g_free);
}

static void accel_end(ExanetState *s, ExanetAccel *a)
{
    unsigned ctrl = EXANET_SHM + EXANET_REG_ACCEL_CTRL;

    buffers_free(a);
    timer_del(a->timer);
    a->busy = false;
    a->done = true;
    a->time = rnic_now() - a->start;
    exanet_reg_set32(s, ctrl, exanet_reg_get32(s, ctrl) & ~EXANET_ACCEL_GO);
    trace_exanet_accel_end(s->node, a->code, a->err_addr, a->ops, a->bytes);
    if (a->ctrl & EXANET_ACCEL_IRQ) {
        exanet_irq_raise(s, EXANET_IRQ_ACCEL);
    }
}

/* Starts the next phase.  moves_done() must be true. */
static void phase_next(ExanetAccel *a)
{
    switch (a->phase) {
    case PHASE_CELLS:
        phase_maps(a);
        break;
    case PHASE_MAPS:
        phase_data(a);
        break;
    case PHASE_DATA:
        phase_compute(a);
        break;
    case PHASE_STORE:
        cell_next(a);
        break;
    default:
        g_assert_not_reached();
    }
}

/* Does the work of a run.  Returns true if the job could continue now. */
static bool phases_run(ExanetState *s, ExanetAccel *a)
{
    unsigned pieces = RUN_PIECES;

    while (a->phase < PHASE_DRAIN && pieces) {
        if (a->phase == PHASE_COMPUTE) {
            if (rows_compute(a)) {
                phase_store(a);
            }
            return true;
        }
        if (!moves_run(s, a, &pieces)) {
            return false;
        }
        if (a->phase < PHASE_DRAIN && moves_done(a)) {
            phase_next(a);
        }
    }
    return a->phase < PHASE_DRAIN;
}

/*
 * Ends the job if @phase of the job is PHASE_DRAIN, no load or store is under way, and,
 * with timing, the last beat has ended.
 */
static void accel_settle(ExanetState *s, ExanetAccel *a)
{
    if (a->phase == PHASE_DRAIN && !a->loads && !a->stores &&
        exanet_timing_due(s, a->next)) {
        accel_end(s, a);
    }
}

bool exanet_accel_run(ExanetState *s)
{
    ExanetAccel *a = s->shm->accel;
    bool more = false;

    if (a->busy) {
        if (exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ENABLE) {
            more = phases_run(s, a);
        }
        accel_settle(s, a);
    }
    exanet_shm_wake(s, a->busy);
    return more;
}

/* --- Start and watchdog --------------------------------------------------- */

static uint64_t job_progress(const ExanetAccel *a)
{
    return a->ops + a->bytes;
}

/*
 * Ends the job if the job has made no progress since the last call or since its begin,
 * because other processes may wait for the accelerator.  The error is NO_CONTEXT, unless
 * the job has failed before.  Later responses to the loads and stores of the job are
 * ignored.  If the job has made progress, or the device is at work, arms the timer again.
 */
static void accel_watchdog(void *opaque)
{
    ExanetState *s = opaque;
    ExanetAccel *a = s->shm->accel;
    bool entered = rnic_loop_enter(&s->loop);

    if (entered && job_progress(a) == a->last_progress) {
        accel_fail(a, EXANET_RESP_NO_CONTEXT, 0);
        a->run++;
        accel_end(s, a);
    } else {
        a->last_progress = job_progress(a);
        timer_mod(a->timer, rnic_now() + WATCHDOG_NS);
    }
    rnic_loop_leave(&s->loop, entered);
}

/*
 * Returns the minimal number of bytes of array @i that a cell shares with no other cell.
 */
static uint64_t cell_bytes(const ExanetAccel *a, unsigned i)
{
    switch (i) {
    case MATRIX:
        return 8ULL * a->nlayers * a->ndf1 * a->ndf2;
    case Y:
        return 8ULL * a->nlayers;       /* columns of y may overlap */
    case MAP1:
        return 4ULL * a->ndf1;
    case MAP2:
        return 4ULL * a->ndf2;
    case CELLS:
        return 4;
    default:
        return 0;                       /* cells share elements of x */
    }
}

/*
 * Returns the first array that has no room for @ncells different cells.  Returns ARRAYS
 * if all arrays have room.
 */
static unsigned job_beyond(ExanetState *s, const ExanetAccel *a)
{
    for (unsigned i = 0; i < ARRAYS; i++) {
        const AccelMove all = { .array = i, .bytes = a->ncells * cell_bytes(a, i) };

        if (a->ncells && !move_inside(s, &all)) {
            return i;
        }
    }
    return ARRAYS;
}

/*
 * Checks the registers of a job.  Returns ACK, PROTECTION, MALFORMED or DECODE.  Stores
 * in *@addr the base of the array that is too small (DECODE), otherwise 0.
 */
static enum exanet_resp job_check(ExanetState *s, const ExanetAccel *a,
                                  uint64_t *addr)
{
    unsigned beyond;

    *addr = 0;
    if (!s->enabled || !(exanet_shm_ctrl(s) & EXANET_SHM_CTRL_ENABLE)) {
        return EXANET_RESP_PROTECTION;
    }
    if (a->ndf1 < 1 || a->ndf1 > EXANET_ACCEL_NDF_MAX ||
        a->ndf2 < 1 || a->ndf2 > EXANET_ACCEL_NDF_MAX ||
        a->nlayers < 1 || a->nlayers > EXANET_ACCEL_NLAYERS_MAX) {
        return EXANET_RESP_MALFORMED;
    }
    for (unsigned i = 0; i < ARRAYS; i++) {
        if (a->base[i] % (i < MAP1 ? 8 : 4)) {
            return EXANET_RESP_MALFORMED;
        }
    }
    beyond = job_beyond(s, a);
    if (beyond < ARRAYS) {
        *addr = a->base[beyond];
        return EXANET_RESP_DECODE;
    }
    return EXANET_RESP_ACK;
}

/* Begins a job with the values of the registers.  Ends a refused job at once. */
static void accel_begin(ExanetState *s, ExanetAccel *a)
{
    uint32_t ndf = accel_get32(s, EXANET_REG_ACCEL_NDF);
    unsigned burst = accel_get32(s, EXANET_REG_ACCEL_BURST);
    unsigned outstanding = accel_get32(s, EXANET_REG_ACCEL_OUTSTANDING);
    enum exanet_resp resp;
    uint64_t addr;

    *a = (ExanetAccel) {
        .run = a->run + 1,
        .timer = a->timer,
        .busy = true,
        .start = rnic_now(),
        .ctrl = accel_get32(s, EXANET_REG_ACCEL_CTRL),
        .pdid = accel_get32(s, EXANET_REG_ACCEL_PDID),
        .ndf1 = RNIC_GET(EXANET_ACCEL_NDF1, ndf),
        .ndf2 = RNIC_GET(EXANET_ACCEL_NDF2, ndf),
        .nlayers = accel_get32(s, EXANET_REG_ACCEL_NLAYERS),
        .ncells = accel_get32(s, EXANET_REG_ACCEL_NCELLS),
        .burst = 8 * MIN(MAX(burst, 1), EXANET_MTU / 8),
        .outstanding = MIN(MAX(outstanding, 1), EXANET_SHM_LOADS),
    };
    for (unsigned i = 0; i < ARRAYS; i++) {
        a->base[i] = exanet_reg_get64(s, EXANET_SHM + EXANET_REG_ACCEL_MATRIX +
                                      8 * i);
    }
    trace_exanet_accel_begin(s->node, a->ctrl, a->ndf1, a->ndf2, a->nlayers,
                             a->ncells);
    resp = job_check(s, a, &addr);
    if (resp != EXANET_RESP_ACK) {
        accel_fail(a, resp, addr);
        accel_end(s, a);
        return;
    }
    a->matrix = g_new0(double, a->nlayers * a->ndf1 * a->ndf2);
    a->x = g_new0(double, a->ndf2 * a->nlayers);
    a->y = g_new0(double, a->ndf1 * a->nlayers);
    if (a->ncells) {
        phase_cells(a);
    } else {
        a->phase = PHASE_DRAIN;
    }
    timer_mod(a->timer, rnic_now() + WATCHDOG_NS);
    exanet_shm_schedule(s);
}

/* --- Registers, init and reset -------------------------------------------- */

void exanet_accel_reg_written(ExanetState *s, unsigned reg, bool top)
{
    ExanetAccel *a = s->shm->accel;
    bool go = accel_get32(s, EXANET_REG_ACCEL_CTRL) & EXANET_ACCEL_GO;

    if (reg != EXANET_REG_ACCEL_CTRL) {
        return;
    }
    if (!a->busy && go) {
        accel_begin(s, a);
    } else if (a->busy && !go) {
        accel_fail(a, EXANET_RESP_PROTECTION, 0);
        accel_settle(s, a);
    }
}

void exanet_accel_reg_sync(ExanetState *s)
{
    ExanetAccel *a = s->shm->accel;

    exanet_reg_set32(s, EXANET_SHM + EXANET_REG_ACCEL_STATUS,
                     (a->busy ? EXANET_ACCEL_STATUS_BUSY : 0) |
                     (a->done ? EXANET_ACCEL_STATUS_DONE : 0) |
                     RNIC_PREP(EXANET_ACCEL_STATUS_CODE, a->code));
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_ACCEL_OPS, a->ops);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_ACCEL_BYTES, a->bytes);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_ACCEL_TIME, a->time);
    exanet_reg_set64(s, EXANET_SHM + EXANET_REG_ACCEL_ERR_ADDR, a->err_addr);
}

void exanet_accel_init(ExanetState *s)
{
    s->shm->accel = g_new0(ExanetAccel, 1);
    s->shm->accel->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, accel_watchdog, s);
}

void exanet_accel_fini(ExanetState *s)
{
    buffers_free(s->shm->accel);
    timer_free(s->shm->accel->timer);
    g_clear_pointer(&s->shm->accel, g_free);
}

void exanet_accel_reset(ExanetState *s)
{
    ExanetAccel *a = s->shm->accel;

    buffers_free(a);
    timer_del(a->timer);
    *a = (ExanetAccel) { .run = a->run + 1, .timer = a->timer };
}

static bool accel_works_for(const ExanetAccel *a, unsigned c)
{
    return a->busy && RNIC_GET(EXANET_ACCEL_PDID_CTX, a->pdid) == c;
}

void exanet_accel_quiesce(ExanetState *s, unsigned c)
{
    ExanetAccel *a = s->shm->accel;

    if (accel_works_for(a, c)) {
        accel_fail(a, EXANET_RESP_PROTECTION, 0);
        accel_settle(s, a);
    }
}

unsigned exanet_accel_active(ExanetState *s, unsigned c)
{
    return accel_works_for(s->shm->accel, c);
}
