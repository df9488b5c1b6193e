/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accelerator: the matrix-vector update of a climate model.  The results must equal
 * those of a plain C loop in each bit, with arrays in any memory.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include <glib/gstdio.h>
#include "../../seed.h"
#include "accel.h"
#include "tgen.h"

#define LOCAL 0                     /* base address of an array in the node's block RAM */

static const unsigned remote_bit[ARRAYS] = {
    EXANET_ACCEL_REMOTE_MATRIX, EXANET_ACCEL_REMOTE_X, EXANET_ACCEL_REMOTE_Y,
    EXANET_ACCEL_REMOTE_MAP1, EXANET_ACCEL_REMOTE_MAP2,
    EXANET_ACCEL_REMOTE_CELLS,
};

/* --- The device ------------------------------------------------------------- */

static uint64_t accel_get(ExanetTest *t, unsigned reg)
{
    return exanet_get64(t, EXANET_SHM + reg);
}

static uint32_t accel_status(ExanetTest *t)
{
    return exanet_get32(t, EXANET_SHM + EXANET_REG_ACCEL_STATUS);
}

static void accel_set(ExanetTest *t, unsigned reg, uint32_t value)
{
    exanet_set32(t, EXANET_SHM + reg, value);
}

/* Writes all registers of a job but CTRL.  Array i is at base[i] + its offset. */
static void job_program(ExanetTest *t, const AccelJob *j, const uint64_t *base)
{
    accel_set(t, EXANET_REG_ACCEL_NDF, RNIC_PREP(EXANET_ACCEL_NDF1, j->ndf1) |
              RNIC_PREP(EXANET_ACCEL_NDF2, j->ndf2));
    accel_set(t, EXANET_REG_ACCEL_NLAYERS, j->nlayers);
    accel_set(t, EXANET_REG_ACCEL_NCELLS, j->listed);
    accel_set(t, EXANET_REG_ACCEL_PDID, EXANET_TEST_PDID(0) |
              RNIC_PREP(EXANET_ACCEL_PDID_CTX, 1));
    for (unsigned i = 0; i < ARRAYS; i++) {
        exanet_set64(t, EXANET_SHM + EXANET_REG_ACCEL_MATRIX + 8 * i,
                     base[i] + j->at[i]);
    }
}

static uint32_t job_ctrl(const uint64_t *base)
{
    uint32_t ctrl = EXANET_ACCEL_GO;

    for (unsigned i = 0; i < ARRAYS; i++) {
        ctrl |= base[i] != LOCAL ? remote_bit[i] : 0;
    }
    return ctrl;
}

static bool accel_done(ExanetTest *t)
{
    return accel_status(t) & EXANET_ACCEL_STATUS_DONE;
}

static enum exanet_resp accel_code(ExanetTest *t)
{
    g_assert_cmphex(accel_status(t) & EXANET_ACCEL_STATUS_BUSY, ==, 0);
    g_assert_cmphex(exanet_get32(t, EXANET_SHM + EXANET_REG_ACCEL_CTRL) &
                    EXANET_ACCEL_GO, ==, 0);
    return RNIC_GET(EXANET_ACCEL_STATUS_CODE, accel_status(t));
}

static enum exanet_resp job_run(ExanetTest *t, const AccelJob *j,
                                const uint64_t *base)
{
    job_program(t, j, base);
    accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
    exanet_wait(t, accel_done(t));
    return accel_code(t);
}

/* Returns the physical address of the block RAM of @t, which follows the aperture. */
static uint64_t bram_map(ExanetTest *t)
{
    return t->aperture.addr +
           exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_APERTURE);
}

static ExanetTest *start(void)
{
    ExanetTest *t = exanet_start(",bram-size=4M");

    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    return t;
}

/* Writes all arrays to physical address @at of @t. */
static void job_write(ExanetTest *t, const AccelJob *j, uint64_t at)
{
    for (unsigned i = 0; i < ARRAYS; i++) {
        qtest_memwrite(t->qts, at + j->at[i], j->data[i], j->bytes[i]);
    }
}

/*
 * Asserts that all arrays at @at equal j->data, where accel_job_reference() has updated
 * y.
 */
static void job_assert(ExanetTest *t, const AccelJob *j, uint64_t at)
{
    for (unsigned i = 0; i < ARRAYS; i++) {
        g_autofree uint8_t *got = g_malloc(j->bytes[i]);

        qtest_memread(t->qts, at + j->at[i], got, j->bytes[i]);
        g_assert_cmpmem(got, j->bytes[i], j->data[i], j->bytes[i]);
    }
}

/* --- Results ------------------------------------------------------------------ */

static const struct { unsigned ndf1, ndf2, nlayers, cells; } shapes[] = {
    { 1, 1, 1, 1 }, { 8, 6, 5, 9 }, { 6, 8, 40, 4 }, { 2, 1, 256, 2 },
    { 64, 64, 2, 2 }, { 3, 3, 1, 130 },
};

static void test_local(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    ExanetTest *t = start();
    uint64_t bram = bram_map(t);

    for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
        AccelJob *j = accel_job_new(shapes[i].ndf1, shapes[i].ndf2, shapes[i].nlayers,
                                    shapes[i].cells);

        job_write(t, j, bram);
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        job_assert(t, j, bram);
        g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_OPS), ==,
                         (uint64_t)j->cells * j->nlayers * j->ndf1 * j->ndf2);
        /* a second run adds to the result in y */
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        job_assert(t, j, bram);
        accel_job_free(j);
    }
    g_assert_cmpuint(exanet_count(t, SHM_LOAD), ==, 0);
    exanet_stop(t);
}

/*
 * Asserts the results of jobs whose arrays are in the memory of node @gva, at physical
 * address @pa.  The node is this one, so the crossbar returns the packets.
 */
static void check_remote(ExanetTest *t, uint64_t gva, uint64_t pa)
{
    const uint64_t base[ARRAYS] = { gva, gva, gva, gva, gva, gva };

    for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
        AccelJob *j = accel_job_new(shapes[i].ndf1, shapes[i].ndf2, shapes[i].nlayers,
                                    shapes[i].cells);
        uint64_t loads = exanet_count(t, SHM_LOAD);

        job_write(t, j, pa);
        accel_set(t, EXANET_REG_ACCEL_OUTSTANDING, 1 + i * 3);
        accel_set(t, EXANET_REG_ACCEL_BURST, i < 3 ? i : 32);
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        job_assert(t, j, pa);
        g_assert_cmpuint(exanet_count(t, SHM_LOAD), >, loads);
        accel_job_free(j);
    }
}

static void test_remote(void)
{
    ExanetTest *t = start();

    check_remote(t, exanet_gva(EXANET_TEST_NODE, EXANET_RAM_SRC),
                 EXANET_RAM_SRC);
    check_remote(t, exanet_bram_gva(EXANET_TEST_NODE, 0), bram_map(t));
    exanet_stop(t);
}

/* The matrix and the vectors are in memories of different nodes. */
static void test_mixed(void)
{
    ExanetTest *t = start();
    uint64_t gva = exanet_gva(EXANET_TEST_NODE, EXANET_RAM_SRC);
    AccelJob *j = accel_job_new(4, 5, 7, 6);

    for (unsigned far = 0; far < 1 << ARRAYS; far += 5) {
        uint64_t base[ARRAYS], at[ARRAYS];
        g_autofree uint8_t *got = g_malloc(j->bytes[Y]);

        for (unsigned i = 0; i < ARRAYS; i++) {
            base[i] = far & 1 << i ? gva : LOCAL;
            at[i] = j->at[i] + (far & 1 << i ? EXANET_RAM_SRC : bram_map(t));
            qtest_memwrite(t->qts, at[i], j->data[i], j->bytes[i]);
        }
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        qtest_memread(t->qts, at[Y], got, j->bytes[Y]);
        g_assert_cmpmem(got, j->bytes[Y], j->data[Y], j->bytes[Y]);
    }
    accel_job_free(j);
    exanet_stop(t);
}

/* Jobs with a list of some cells, and with an empty list. */
static void test_colours(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(3, 4, 6, 10);

    job_write(t, j, bram_map(t));
    for (j->listed = 0; j->listed < 10; j->listed += 3) {
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        job_assert(t, j, bram_map(t));
        g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_OPS), ==,
                         j->listed * 3 * 4 * 6);
    }
    accel_job_free(j);
    exanet_stop(t);
}

/* The first machine computes on the memory of the second machine. */
static void test_pair(void)
{
    g_autofree char *dir = g_dir_make_tmp("exanet-accel-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(dir, "wire", NULL);
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_SRC);
    const uint64_t base[ARRAYS] = { gva, gva, gva, gva, gva, gva };
    AccelJob *j = accel_job_new(8, 6, 5, 9);
    ExanetTest *t[2];

    exanet_pair_start(t, path, "");
    for (unsigned i = 0; i < 2; i++) {
        exanet_shm_set(t[i], SHM_CTRL, EXANET_SHM_CTRL_ALL);
    }
    job_write(t[1], j, EXANET_RAM_SRC);
    job_program(t[0], j, base);
    accel_set(t[0], EXANET_REG_ACCEL_CTRL, job_ctrl(base));
    exanet_pair_wait(t, accel_done(t[0]), 0);
    g_assert_cmpuint(accel_code(t[0]), ==, EXANET_RESP_ACK);
    accel_job_reference(j);
    job_assert(t[1], j, EXANET_RAM_SRC);
    g_assert_cmpuint(exanet_count(t[0], SHM_REISSUE), ==, 0);
    for (unsigned i = 0; i < 2; i++) {
        exanet_stop(t[i]);
    }
    accel_job_free(j);
    unlink(path);
    g_rmdir(dir);
}

/* --- Errors --------------------------------------------------------------------- */

static void test_bad_jobs(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    static const struct { unsigned reg; uint32_t value; } bad[] = {
        { EXANET_REG_ACCEL_NDF, 0 }, { EXANET_REG_ACCEL_NDF, 4 },
        { EXANET_REG_ACCEL_NDF, 4 << 16 }, { EXANET_REG_ACCEL_NDF, 0x10041 },
        { EXANET_REG_ACCEL_NDF, 0x410001 },
        { EXANET_REG_ACCEL_NDF, 0xffffffff },
        { EXANET_REG_ACCEL_NLAYERS, 0 }, { EXANET_REG_ACCEL_NLAYERS, 257 },
        { EXANET_REG_ACCEL_NLAYERS, 0xffffffff },
        { EXANET_REG_ACCEL_MATRIX, 4 }, { EXANET_REG_ACCEL_X, 1 },
        { EXANET_REG_ACCEL_Y, 0x104 }, { EXANET_REG_ACCEL_MAP1, 2 },
        { EXANET_REG_ACCEL_MAP2, 1 }, { EXANET_REG_ACCEL_CELLS, 3 },
    };
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(4, 4, 4, 4);

    job_write(t, j, bram_map(t));
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        job_program(t, j, base);
        accel_set(t, bad[i].reg, bad[i].value);
        accel_set(t, EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_GO);
        g_assert_true(accel_done(t));
        g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_MALFORMED);
    }
    job_program(t, j, base);
    exanet_shm_set(t, SHM_CTRL, 0);
    accel_set(t, EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_GO);
    g_assert_true(accel_done(t));
    g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_PROTECTION);
    job_assert(t, j, bram_map(t));
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * Arrays, cell numbers and map entries outside block RAM, a node or a window: the job
 * ends with DECODE, and changes no array.
 */
static void test_beyond(void)
{
    const uint64_t ends[] = {
        4 * 1024 * 1024, 0, exanet_gva(EXANET_TEST_NODE + 1, 0),
        exanet_gva(EXANET_TEST_NODE, EXANET_VA_OFFSET + 1),
        exanet_gva(EXANET_TEST_NODE, EXANET_NI_VA(EXANET_NI_BRAM + 1)),
    };
    ExanetTest *t = start();
    uint64_t bram = bram_map(t);
    AccelJob *j = accel_job_new(2, 2, 2, 2);

    for (unsigned i = 0; i < ARRAYS; i++) {
        for (unsigned far = 0; far < ARRAY_SIZE(ends); far++) {
            const uint64_t base[ARRAYS] = { LOCAL };

            job_write(t, j, bram);
            job_program(t, j, base);
            exanet_set64(t, EXANET_SHM + EXANET_REG_ACCEL_MATRIX + 8 * i,
                         ends[far] - (i < MAP1 ? 8 : 4));
            accel_set(t, EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_GO |
                      (far > 1 ? remote_bit[i] : 0));
            exanet_wait(t, accel_done(t));
            g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_DECODE);
            job_assert(t, j, bram);
        }
    }
    for (unsigned i = MAP1; i < ARRAYS; i++) {
        uint64_t base[ARRAYS] = { LOCAL };

        job_write(t, j, bram);
        qtest_writel(t->qts, bram + j->at[i], 0xffffffff);
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_DECODE);
        qtest_writel(t->qts, bram + j->at[i], 0xfffff);
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_DECODE);
    }
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * A list with more cells than an array has room for: the device refuses the job before
 * any work.
 */
static void test_too_many_cells(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    const uint64_t bram = 4 * 1024 * 1024;
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(4, 3, 5, 4);
    const uint64_t bytes[ARRAYS] = {        /* bytes that one cell has in each array */
        [MATRIX] = 8 * 4 * 3 * 5, [Y] = 8 * 5, [MAP1] = 4 * 4, [MAP2] = 4 * 3,
        [CELLS] = 4,
    };

    job_write(t, j, bram_map(t));
    for (unsigned i = 0; i < ARRAYS; i++) {
        uint64_t at = ROUND_UP(bram - 4 * bytes[i] + 1, 8);

        if (i == X) {
            continue;               /* cells share the elements of X */
        }
        job_program(t, j, base);
        exanet_set64(t, EXANET_SHM + EXANET_REG_ACCEL_MATRIX + 8 * i, at);
        accel_set(t, EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_GO);
        g_assert_true(accel_done(t));
        g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_DECODE);
        g_assert_cmphex(accel_get(t, EXANET_REG_ACCEL_ERR_ADDR), ==, at);
        g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_OPS), ==, 0);
        g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_BYTES), ==, 0);
    }
    /* the cells exceed the block RAM of a node too, or a window of a process */
    j->listed = 0xffffffff;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t far = i ? exanet_gva(EXANET_TEST_PEER, 0) :
                           exanet_bram_gva(EXANET_TEST_PEER, 0);
        const uint64_t remote[ARRAYS] = { far, far, far, far, far, far };

        job_program(t, j, remote);
        accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(remote));
        g_assert_true(accel_done(t));
        g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_DECODE);
        g_assert_cmphex(accel_get(t, EXANET_REG_ACCEL_ERR_ADDR), ==,
                        far + j->at[MATRIX]);
    }
    exanet_assert_quiet(t);
    job_assert(t, j, bram_map(t));
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * Random maps: a job with entries inside y has the right result; a job with any entries
 * ends.
 */
static void test_random_maps(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    GRand *rand = g_rand_new_with_seed(random_seed(4711));
    ExanetTest *t = start();
    uint64_t bram = bram_map(t);
    AccelJob *j = accel_job_new(7, 5, 9, 3);

    for (unsigned round = 0; round < 50; round++) {
        job_write(t, j, bram);
        for (unsigned i = 0; i < 3 * 7 * 4; i += 4) {
            /* overlapping columns, all inside y */
            uint32_t at = g_rand_int_range(rand, 0, 3 * 7 * 10 - 9);

            stl_le_p(j->data[MAP1] + i, at);
            qtest_writel(t->qts, bram + j->at[MAP1] + i, at);
        }
        g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        job_assert(t, j, bram);
    }
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 3 * 7 * 4; i += 4) {
            qtest_writel(t->qts, bram + j->at[MAP1] + i,
                         g_rand_int(rand) >> g_rand_int_range(rand, 0, 24));
        }
        job_run(t, j, base);
    }
    g_rand_free(rand);
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * Serves the requests of the job from and to @j until the job ends.  Request number
 * @bad is answered with @resp.
 */
static void serve(ExanetTest *t, AccelJob *j, unsigned bad, enum exanet_resp resp)
{
    uint64_t va = EXANET_RAM_SRC;
    unsigned seen = 0;

    while (!accel_done(t)) {
        g_autofree ExanetRxPacket *rx = NULL;
        uint8_t *data = NULL;

        exanet_settle(t);
        if (g_queue_is_empty(&t->peer->packets)) {
            continue;
        }
        rx = exanet_peer_take(t->peer);
        for (unsigned i = 0; i < ARRAYS; i++) {
            uint64_t start = va + j->at[i];

            if (rx->pkt.va >= start && rx->pkt.va < start + j->bytes[i]) {
                g_assert_cmphex(rx->pkt.va + rx->pkt.size, <=,
                                start + j->bytes[i]);
                data = j->data[i] + (rx->pkt.va - start);
            }
        }
        g_assert_nonnull(data);
        if (seen++ == bad) {
            exanet_peer_answer_axi(t->peer, &rx->pkt, resp, NULL);
        } else if (rx->pkt.type == EXANET_TYPE_AXI_WRITE) {
            memcpy(data, rx->pkt.payload, rx->pkt.size);
            exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, NULL);
        } else {
            exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK, data);
        }
    }
}

/*
 * Lets one request of a job fail, first the first one, then the second, and so on:
 * asserts the error.  The last job has no failure and the right result.
 */
static void test_remote_error(void)
{
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_SRC);
    const uint64_t base[ARRAYS] = { gva, gva, gva, gva, gva, gva };
    ExanetTest *t = start();
    bool failed = true;

    for (unsigned bad = 0; failed; bad++) {
        enum exanet_resp resp = bad & 1 ? EXANET_RESP_PROTECTION :
                                          EXANET_RESP_DECODE;
        AccelJob *j = accel_job_new(3, 2, 8, 2);
        AccelJob *want = accel_job_new(3, 2, 8, 2);

        job_program(t, j, base);
        accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
        serve(t, j, bad, resp);
        failed = accel_code(t);
        if (failed) {
            g_assert_cmpuint(accel_code(t), ==, resp);
            g_assert_cmphex(accel_get(t, EXANET_REG_ACCEL_ERR_ADDR), >=,
                            gva + j->at[MATRIX]);
            g_assert_cmphex(accel_get(t, EXANET_REG_ACCEL_ERR_ADDR), <,
                            gva + j->end);
        } else {
            g_assert_cmpuint(bad, >, 10);
            accel_job_reference(want);
            g_assert_cmpmem(j->data[Y], j->bytes[Y], want->data[Y],
                            want->bytes[Y]);
        }
        g_assert_cmpuint(bad, <, 1000);
        exanet_assert_quiet(t);
        accel_job_free(j);
        accel_job_free(want);
    }
    exanet_stop(t);
}

/*
 * Asserts that ACCEL_OUTSTANDING loads are on the cable, and that all have the ID of
 * the accelerator.
 */
static void test_outstanding(void)
{
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_SRC);
    const uint64_t base[ARRAYS] = { gva, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL };
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(8, 8, 10, 1);

    job_write(t, j, bram_map(t));
    for (unsigned n = 1; n <= EXANET_SHM_LOADS; n += 5) {
        accel_set(t, EXANET_REG_ACCEL_OUTSTANDING, n);
        job_program(t, j, base);
        accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
        for (unsigned i = 0; i < n; i++) {
            g_autofree ExanetRxPacket *rx =
                exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);

            g_assert_cmpuint(RNIC_GET(EXANET_AXI_ID_MASTER, rx->pkt.tid), ==,
                             EXANET_AXI_ACCEL);
            g_assert_cmpuint(rx->pkt.pdid, ==, EXANET_TEST_PDID(0));
        }
        exanet_assert_quiet(t);
        /* software stops the job and closes its context */
        accel_set(t, EXANET_REG_ACCEL_CTRL, 0);
        g_assert_true(accel_status(t) & EXANET_ACCEL_STATUS_BUSY);
        exanet_close(t, 1);
        exanet_wait(t, accel_done(t));
        g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_PROTECTION);
        exanet_open(t, 1, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    }
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * The device is reset during a job; then a job uses a node that does not answer.  Both
 * jobs end.
 */
static void test_ended(void)
{
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_SRC);
    const uint64_t base[ARRAYS] = { gva, gva, gva, gva, gva, gva };
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(2, 2, 2, 2);

    job_program(t, j, base);
    accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
    g_free(exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ));
    g_assert_false(exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_QUIESCENT);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_RESET);
    g_assert_cmphex(accel_status(t), ==, 0);
    g_assert_true(exanet_get32(t, EXANET_REG_STATUS) & EXANET_STATUS_QUIESCENT);

    exanet_bring_up(t);
    exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_shm_set(t, SHM_RETRY_MAX, 1);
    job_program(t, j, base);
    accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
    for (unsigned i = 0; i < 20 && !accel_done(t); i++) {
        exanet_step(t, 60 * EXANET_MS);
    }
    g_assert_true(accel_done(t));
    g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_NO_CONTEXT);
    g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_TIME), >, 0);
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * A job that gets no data ends with NO_CONTEXT after at most 121 s, and the next job
 * runs.
 */
static void test_stalled(void)
{
    uint64_t gva = exanet_gva(EXANET_TEST_PEER, EXANET_RAM_SRC);
    const uint64_t base[ARRAYS] = { LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, gva };
    const uint64_t local[ARRAYS] = { LOCAL };
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(2, 2, 2, 2);

    job_write(t, j, bram_map(t));
    for (unsigned round = 0; round < 3; round++) {
        g_autofree ExanetRxPacket *rx = NULL;

        job_program(t, j, base);
        accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
        rx = exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);
        /* software disables the accelerator, or the whole device */
        if (round == 1) {
            exanet_set32(t, EXANET_REG_CTRL, 0);
        } else {
            exanet_shm_set(t, SHM_CTRL, 0);
        }
        if (round == 2) {
            exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK,
                                   j->data[CELLS]);
        }
        exanet_settle(t);
        exanet_step(t, 59000 * EXANET_MS);
        if (round == 2) {
            g_assert_false(accel_done(t));
        }
        exanet_step(t, 62000 * EXANET_MS);
        g_assert_true(accel_done(t));
        g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_NO_CONTEXT);
        g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_OPS), ==, 0);
        exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE);
        exanet_shm_set(t, SHM_CTRL, EXANET_SHM_CTRL_ALL);
        exanet_settle(t);
        while (!g_queue_is_empty(&t->peer->packets)) {
            g_free(exanet_peer_take(t->peer));
        }
        /* a late response has no effect */
        exanet_peer_answer_axi(t->peer, &rx->pkt, EXANET_RESP_ACK,
                               j->data[CELLS]);
        g_assert_cmpuint(job_run(t, j, local), ==, EXANET_RESP_ACK);
        accel_job_reference(j);
        job_assert(t, j, bram_map(t));
    }
    accel_job_free(j);
    exanet_stop(t);
}

/*
 * A large job computes in many small iterations of the main loop.  Asserts that a test
 * that reads OPS in between finds the job in the middle of a layer five times.
 */
static void test_iterations(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    const uint64_t layer = 64 * 64;
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(64, 64, 30, 1);
    int64_t end = wait_end();
    unsigned inside = 0;

    job_write(t, j, bram_map(t));
    /* on a busy host most jobs may end before the first read */
    while (inside < 5) {
        wait_check(end);
        job_program(t, j, base);
        accel_set(t, EXANET_REG_ACCEL_CTRL, job_ctrl(base));
        while (!accel_done(t)) {
            inside += accel_get(t, EXANET_REG_ACCEL_OPS) % layer != 0;
        }
        g_assert_cmpuint(accel_code(t), ==, EXANET_RESP_ACK);
        g_assert_cmpuint(accel_get(t, EXANET_REG_ACCEL_OPS), ==, 30 * layer);
        accel_job_reference(j);
    }
    job_assert(t, j, bram_map(t));
    accel_job_free(j);
    exanet_stop(t);
}

static bool interrupted(ExanetTest *t)
{
    return exanet_on_axi() ? qtest_get_irq(t->qts, EXANET_LINE_ADMIN) :
                             exanet_msix_taken(t, EXANET_VEC_ADMIN);
}

static void test_irq(void)
{
    static const uint64_t base[ARRAYS] = { LOCAL };
    ExanetTest *t = start();
    AccelJob *j = accel_job_new(2, 2, 2, 2);

    if (!exanet_on_axi()) {
        exanet_msix_enable(t);
    }
    exanet_set32(t, EXANET_REG_IRQ_MASK, EXANET_IRQ_ACCEL);
    exanet_set32(t, EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    job_write(t, j, bram_map(t));
    g_assert_cmpuint(job_run(t, j, base), ==, EXANET_RESP_ACK);
    g_assert_false(interrupted(t));
    accel_set(t, EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_GO | EXANET_ACCEL_IRQ);
    exanet_wait(t, interrupted(t));
    g_assert_true(accel_done(t));
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_ACCEL, ==,
                    EXANET_IRQ_ACCEL);
    exanet_set32(t, EXANET_REG_IRQ_CAUSE, EXANET_IRQ_ACCEL);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_ACCEL, ==,
                    0);
    accel_job_free(j);
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/accel/local", test_local);
    qtest_add_func("/exanet/accel/remote", test_remote);
    qtest_add_func("/exanet/accel/mixed", test_mixed);
    qtest_add_func("/exanet/accel/colours", test_colours);
    qtest_add_func("/exanet/accel/pair", test_pair);
    qtest_add_func("/exanet/accel/bad-jobs", test_bad_jobs);
    qtest_add_func("/exanet/accel/beyond", test_beyond);
    qtest_add_func("/exanet/accel/too-many-cells", test_too_many_cells);
    qtest_add_func("/exanet/accel/stalled", test_stalled);
    qtest_add_func("/exanet/accel/iterations", test_iterations);
    qtest_add_func("/exanet/accel/random-maps", test_random_maps);
    qtest_add_func("/exanet/accel/remote-error", test_remote_error);
    qtest_add_func("/exanet/accel/outstanding", test_outstanding);
    qtest_add_func("/exanet/accel/ended", test_ended);
    qtest_add_func("/exanet/accel/irq", test_irq);
    return g_test_run();
}
