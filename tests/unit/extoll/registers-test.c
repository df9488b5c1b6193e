/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of registers: places, sizes and bits do not contradict each other. */
#include "qemu/osdep.h"
#include "rnic/extoll/regs.h"
#include "rnic/extoll/rma.h"
#include "rnic/extoll/wire.h"

typedef struct Row {
    const char *name;
    unsigned offset;
    unsigned bytes;
    uint64_t reset;
    uint64_t writable;
    uint64_t w1c;
} Row;

#define ROW(name, offset, bytes, reset, writable, w1c) \
    { #name, offset, bytes, reset, writable, w1c },
#define BLOCK(list, size) do { \
        static const Row rows[] = { EXTOLL_##list##_REGS(ROW) }; \
        block(rows, ARRAY_SIZE(rows), size); \
    } while (0)

/* Asserts that the @n registers of a block of @bytes bytes are aligned and apart. */
static void block(const Row *rows, unsigned n, unsigned bytes)
{
    unsigned end = 0;

    for (unsigned i = 0; i < n; i++) {
        const Row *r = &rows[i];
        uint64_t all = r->bytes == 8 ? UINT64_MAX : UINT32_MAX;

        g_test_message("%s", r->name);
        g_assert_true(r->bytes == 4 || r->bytes == 8);
        g_assert_cmpuint(r->offset % r->bytes, ==, 0);
        g_assert_cmpuint(r->offset, >=, end);
        end = r->offset + r->bytes;
        g_assert_cmpuint(end, <=, bytes);
        g_assert_cmphex((r->reset | r->writable | r->w1c) & ~all, ==, 0);
        g_assert_cmphex(r->writable & r->w1c, ==, 0);
    }
}

static void test_blocks(void)
{
    BLOCK(GLOBAL, EXTOLL_IRQ(0) - EXTOLL_GLOBAL);
    BLOCK(IRQ, EXTOLL_IRQ(1) - EXTOLL_IRQ(0));
    BLOCK(PORT, EXTOLL_PORT(1) - EXTOLL_PORT(0));
    BLOCK(VELO, EXTOLL_VELO_ROUTE(0) - EXTOLL_VELO);
    BLOCK(VELO_VPID, EXTOLL_VELO_VPID(1) - EXTOLL_VELO_VPID(0));
    BLOCK(RMA, EXTOLL_RMA_ROUTE(0) - EXTOLL_RMA);
    BLOCK(RMA_VPID, EXTOLL_RMA_VPID(1) - EXTOLL_RMA_VPID(0));
    BLOCK(SNQ, EXTOLL_ATU - EXTOLL_SNQ);
    BLOCK(ATU, EXTOLL_GAT_BASE(0) - EXTOLL_ATU);
    BLOCK(END_POINT, EXTOLL_END_POINT(1) - EXTOLL_END_POINT(0));
}

static void test_map(void)
{
    static const unsigned borders[] = {
        EXTOLL_GLOBAL, EXTOLL_IRQ(0), EXTOLL_IRQ(EXTOLL_VECTORS), EXTOLL_PORT(0),
        EXTOLL_PORT(EXTOLL_LINKS), EXTOLL_VELO, EXTOLL_VELO_ROUTE(0),
        EXTOLL_VELO_ROUTE(EXTOLL_NODES), EXTOLL_VELO_VPID(0),
        EXTOLL_VELO_VPID(EXTOLL_VPIDS), EXTOLL_RMA, EXTOLL_RMA_ROUTE(0),
        EXTOLL_RMA_ROUTE(EXTOLL_NODES), EXTOLL_RMA_VPID(0), EXTOLL_RMA_VPID(EXTOLL_VPIDS),
        EXTOLL_SNQ, EXTOLL_ATU, EXTOLL_GAT_BASE(0), EXTOLL_GAT_BASE(EXTOLL_GATS),
        EXTOLL_COUNTER(0), EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT), EXTOLL_END_POINT(0),
        EXTOLL_END_POINT(EXTOLL_VPIDS), EXTOLL_VELO_RP(0), EXTOLL_VELO_RP(EXTOLL_VPIDS),
        EXTOLL_RMA_RP(0), EXTOLL_RMA_RP(EXTOLL_VPIDS), EXTOLL_REGS_BYTES,
    };

    for (unsigned i = 1; i < ARRAY_SIZE(borders); i++) {
        g_assert_cmphex(borders[i], >=, borders[i - 1]);
    }
    /* the version is at offset 0 [T §7.2] */
    g_assert_cmpuint(EXTOLL_GLOBAL + EXTOLL_REG_VERSION, ==, 0);
}

/* Fields fill the address spaces of the BARs, and the rings fit their registers. */
static void test_fields(void)
{
    g_assert_cmphex(EXTOLL_VELO_ADDR_NODE | EXTOLL_VELO_ADDR_VPID | EXTOLL_VELO_ADDR_OWN |
                    EXTOLL_VELO_ADDR_MTT | EXTOLL_VELO_ADDR_QUADWORDS |
                    EXTOLL_VELO_ADDR_OFFSET, ==, EXTOLL_VELO_BAR_BYTES - 1);
    g_assert_cmphex(EXTOLL_RMA_ADDR_PHYSICAL | EXTOLL_RMA_ADDR_OWN | EXTOLL_RMA_ADDR_IRQ |
                    EXTOLL_RMA_ADDR_COMMAND | EXTOLL_RMA_ADDR_NOTIFY |
                    EXTOLL_RMA_ADDR_LINES | EXTOLL_RMA_ADDR_OFFSET, ==,
                    EXTOLL_RMA_BAR_BYTES - 1);
    g_assert_cmphex(EXTOLL_NLA_GAT | EXTOLL_NLA_GATE | EXTOLL_NLA_OFFSET, ==,
                    (1ULL << EXTOLL_NLA_BITS) - 1);
    g_assert_cmpuint(RNIC_GET(EXTOLL_NLA_GAT, UINT64_MAX), ==, EXTOLL_GATS - 1);
    g_assert_cmpuint(RNIC_GET(EXTOLL_NLA_GATE, UINT64_MAX), ==, EXTOLL_GATES - 1);
    g_assert_cmphex(EXTOLL_GATE_VPID | EXTOLL_GATE_PAGE | EXTOLL_GATE_RESERVED |
                    EXTOLL_GATE_WRITE | EXTOLL_GATE_READ | EXTOLL_GATE_VALID, ==,
                    UINT64_MAX);
    g_assert_cmpuint(EXTOLL_RING_MAX - 1, ==, EXTOLL_RING_MASK);
    g_assert_cmphex(EXTOLL_LOCK_OFFSET(EXTOLL_VPIDS - 1, EXTOLL_LOCKS - 1), ==,
                    EXTOLL_VPIDS * 4096 - 4);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/device/blocks", test_blocks);
    g_test_add_func("/extoll/device/map", test_map);
    g_test_add_func("/extoll/device/fields", test_fields);
    return g_test_run();
}
