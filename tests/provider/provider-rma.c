/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads, writes and atomics in the common part of the providers, and keys of regions. */

#include "bed.h"

static uint8_t local[BED_WINDOW];

static uint64_t key(void)
{
    return fi_mr_key(bed.node[1].mr);
}

static void test_write(void)
{
    static const size_t sizes[] = { 1, 8, 31, 32, 33, 64, 4096, 60000 };
    size_t i, at;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        at = 113 * i;
        bed_fill(local, sizes[i], i);
        memset(bed.node[1].window, 0, BED_WINDOW);
        CHECK(!fi_write(bed.node[0].ep, local, sizes[i], NULL, 1, at, key(),
                        local));
        bed_done(0, local);
        CHECK(bed_filled(bed.node[1].window + at, sizes[i], i));
        CHECK(!at || !bed.node[1].window[at - 1]);
        CHECK(!bed.node[1].window[at + sizes[i]]);
    }
    CHECK(loop.posted[RNIC_FI_REQUEST_PUT] && loop.posted[RNIC_FI_REQUEST_WRITE]);
    CHECK(fi_cntr_read(bed.node[0].sent) == sizeof(sizes) / sizeof(sizes[0]));
}

/* A small write across a boundary of the NIC takes two requests. */
static void test_boundary(void)
{
    uint32_t boundary = loop_transport.put_boundary;

    bed_fill(local, 16, 1);
    CHECK(!fi_write(bed.node[0].ep, local, 16, NULL, 1, boundary - 16, key(),
                    local));
    bed_done(0, local);
    CHECK(loop.posted[RNIC_FI_REQUEST_PUT] == 1);
    CHECK(!fi_write(bed.node[0].ep, local, 16, NULL, 1, boundary - 7, key(),
                    local));
    bed_done(0, local);
    CHECK(loop.posted[RNIC_FI_REQUEST_PUT] == 3);
    CHECK(bed_filled(bed.node[1].window + boundary - 7, 16, 1));
}

/* The data of a write with FI_INJECT may change when the call has returned. */
static void test_inject(void)
{
    uint8_t data[RNIC_FI_INJECT_SIZE];

    CHECK(sizeof(data) > loop_transport.put_max);
    bed_fill(data, sizeof(data), 5);
    CHECK(!fi_inject_write(bed.node[0].ep, data, sizeof(data), 1, 0, key()));
    memset(data, 0, sizeof(data));
    bed_poll(2);
    CHECK(bed_filled(bed.node[1].window, sizeof(data), 5));
}

static void test_read(void)
{
    struct iovec iov[2] = { { local, 5000 }, { local + 6000, 3000 } };

    bed_fill(bed.node[1].window, 8000, 7);
    CHECK(!fi_readv(bed.node[0].ep, iov, NULL, 2, 1, 0, key(), iov));
    bed_done(0, iov);
    CHECK(loop.posted[RNIC_FI_REQUEST_READ] == 2);
    memmove(local + 5000, local + 6000, 3000);
    CHECK(bed_filled(local, 8000, 7));
}

static void test_write_data(void)
{
    struct fi_cq_tagged_entry entry;

    bed_fill(local, 1000, 3);
    CHECK(!fi_writedata(bed.node[0].ep, local, 1000, NULL, 0x1234567890ULL, 1, 0,
                        key(), local));
    CHECK(!bed_wait(1, &entry));
    CHECK(entry.flags & FI_REMOTE_CQ_DATA && entry.data == 0x1234567890ULL);
    /* the data arrive before the completion */
    CHECK(bed_filled(bed.node[1].window, 1000, 3));
    bed_done(0, local);
}

/* More writes than channels: the other writes wait for channels. */
static void test_channels(void)
{
    unsigned int i;

    loop.held = 1 << RNIC_FI_REQUEST_WRITE;
    for (i = 0; i < 5 * LOOP_WRITE_CHANNELS; i++) {
        bed_fill(local + i * 100, 100, i);
        CHECK(!fi_write(bed.node[0].ep, local + i * 100, 100, NULL, 1, i * 100,
                        key(), local));
    }
    CHECK(loop.busy);
    CHECK(loop.posted[RNIC_FI_REQUEST_WRITE] == LOOP_WRITE_CHANNELS);
    loop.held = 0;
    for (i = 0; i < 5 * LOOP_WRITE_CHANNELS; i++) {
        bed_done(0, local);
        CHECK(bed_filled(bed.node[1].window + i * 100, 100, i));
    }
}

/* A key contains the region, its length and its rights. */
static void test_keys(void)
{
    struct fid_mr *read_only, *write_only;
    struct fi_cq_tagged_entry entry;
    static uint8_t region[64];
    uint64_t bad = key() ^ RNIC_PREP(RNIC_FI_KEY_BASE, 1ULL << 40);

    CHECK(!fi_mr_reg(bed.node[1].domain, region, sizeof(region), FI_REMOTE_READ, 0,
                     0, 0, &read_only, NULL));
    CHECK(!fi_mr_reg(bed.node[1].domain, region, sizeof(region), FI_REMOTE_WRITE,
                     0, 0, 0, &write_only, NULL));
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 0, fi_mr_key(read_only),
                    local));
    CHECK(bed_wait(0, &entry) == FI_EACCES);
    CHECK(!fi_read(bed.node[0].ep, local, 8, NULL, 1, 0, fi_mr_key(write_only),
                   local));
    CHECK(bed_wait(0, &entry) == FI_EACCES);
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 57, fi_mr_key(write_only),
                    local));
    CHECK(bed_wait(0, &entry) == FI_EACCES);
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 56, fi_mr_key(write_only),
                    local));
    CHECK(!bed_wait(0, &entry));
    /* the NIC refuses a region that does not exist; the peer stays usable */
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 0, bad, local));
    CHECK(bed_wait(0, &entry) == ENXIO);
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 0, key(), local));
    CHECK(!bed_wait(0, &entry));
    CHECK(!fi_close(&read_only->fid));
    CHECK(!fi_close(&write_only->fid));
}

/* A NIC that can expose no more memory; a region that is closed makes room. */
static void test_regions(void)
{
    struct fid_mr *mr[LOOP_REGIONS], *more;
    struct fi_cq_tagged_entry entry;
    static uint8_t region[64];
    unsigned int i;
    uint64_t old;

    /* One region is the window. */
    for (i = 1; i < LOOP_REGIONS; i++) {
        CHECK(!fi_mr_reg(bed.node[1].domain, region, sizeof(region),
                         FI_REMOTE_WRITE, 0, 0, 0, &mr[i], NULL));
    }
    CHECK(fi_mr_reg(bed.node[1].domain, region, sizeof(region), FI_REMOTE_WRITE, 0,
                    0, 0, &more, NULL) == -FI_ENOSPC);
    old = fi_mr_key(mr[1]);
    CHECK(!fi_close(&mr[1]->fid));
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 0, old, local));
    CHECK(bed_wait(0, &entry) == ENXIO);
    CHECK(!fi_mr_reg(bed.node[1].domain, region, sizeof(region), FI_REMOTE_WRITE, 0,
                     0, 0, &mr[1], NULL));
    CHECK(!fi_write(bed.node[0].ep, local, 8, NULL, 1, 0, fi_mr_key(mr[1]), local));
    bed_done(0, local);
    for (i = 1; i < LOOP_REGIONS; i++) {
        CHECK(!fi_close(&mr[i]->fid));
    }
}

static void test_atomics(void)
{
    uint64_t *at = (uint64_t *)bed.node[1].window + 3;
    uint64_t operand = 5, compare = 15, result = 0;
    struct fi_cq_tagged_entry entry;

    *at = 10;
    CHECK(!fi_atomic(bed.node[0].ep, &operand, 1, NULL, 1, 24, key(), FI_UINT64,
                     FI_SUM, &operand));
    bed_done(0, &operand);
    CHECK(*at == 15);
    operand = 99;
    CHECK(!fi_compare_atomic(bed.node[0].ep, &operand, 1, NULL, &compare, NULL,
                             &result, NULL, 1, 24, key(), FI_UINT64, FI_CSWAP,
                             &result));
    bed_done(0, &result);
    CHECK(result == 15 && *at == 99);
    operand = 3;
    CHECK(!fi_fetch_atomic(bed.node[0].ep, &operand, 1, NULL, &result, NULL, 1, 24,
                           key(), FI_UINT64, FI_BXOR, &result));
    bed_done(0, &result);
    CHECK(result == 99 && *at == (99 ^ 3));
    /* the target checks the range */
    CHECK(!fi_atomic(bed.node[0].ep, &operand, 1, NULL, 1, BED_WINDOW, key(),
                     FI_UINT64, FI_SUM, &operand));
    CHECK(bed_wait(0, &entry) == FI_EACCES);
    CHECK(!fi_atomicvalid(bed.node[0].ep, FI_UINT64, FI_SUM, &(size_t) { 0 }));
    CHECK(fi_atomicvalid(bed.node[0].ep, FI_LONG_DOUBLE, FI_SUM,
                         &(size_t) { 0 }) == -FI_EOPNOTSUPP);
}

const struct bed_case rma_cases[] = {
    { "rma/write", test_write },
    { "rma/boundary", test_boundary },
    { "rma/inject", test_inject },
    { "read/pieces", test_read },
    { "rma/write-data", test_write_data },
    { "pkt/channels", test_channels },
    { "mr/keys", test_keys },
    { "mr/regions", test_regions },
    { "atomic/kinds", test_atomics },
    { NULL },
};
