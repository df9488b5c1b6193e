/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses of a device to memory.  The test is the bus. */
#include "qemu/osdep.h"
#include "hw/rnic/core/dma.h"

#define AT 0x123456789abcULL

static struct {
    AddressSpace as;
    MemTxResult result;             /* answer of the bus */
    uint8_t memory[64];             /* from address AT on */
    unsigned reads, writes;
} bus;

static void check(AddressSpace *as, hwaddr addr, MemTxAttrs attrs, hwaddr len)
{
    g_assert_true(as == &bus.as);
    g_assert_cmphex(addr, ==, AT);
    g_assert_cmpuint(len, <=, sizeof(bus.memory));
    /* the bus must not access registers */
    g_assert_true(attrs.memory);
}

MemTxResult address_space_read_full(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                    void *buf, hwaddr len)
{
    check(as, addr, attrs, len);
    memcpy(buf, bus.memory, len);
    bus.reads++;
    return bus.result;
}

MemTxResult address_space_write(AddressSpace *as, hwaddr addr, MemTxAttrs attrs,
                                const void *buf, hwaddr len)
{
    check(as, addr, attrs, len);
    memcpy(bus.memory, buf, len);
    bus.writes++;
    return bus.result;
}

static void test_copies(void)
{
    RNicHost host = { .as = &bus.as };
    uint8_t buf[8];

    memset(&bus, 0, sizeof(bus));
    g_assert_true(rnic_dma_write(&host, AT, "to guest", 8));
    g_assert_cmpmem(bus.memory, 9, "to guest", 9);
    memcpy(bus.memory, "by guest", 8);
    g_assert_true(rnic_dma_read(&host, AT, buf, 8));
    g_assert_cmpmem(buf, 8, "by guest", 8);
    g_assert_cmpuint(bus.reads, ==, 1);
    g_assert_cmpuint(bus.writes, ==, 1);
}

static void test_refused(void)
{
    static const MemTxResult results[] = {
        MEMTX_ERROR, MEMTX_DECODE_ERROR, MEMTX_ACCESS_ERROR,
        MEMTX_ERROR | MEMTX_DECODE_ERROR,
    };
    RNicHost host = { .as = &bus.as };
    uint8_t buf[8] = { 0 };

    for (unsigned i = 0; i < ARRAY_SIZE(results); i++) {
        bus.result = results[i];
        g_assert_false(rnic_dma_read(&host, AT, buf, 8));
        g_assert_false(rnic_dma_write(&host, AT, buf, 8));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/core/dma/copies", test_copies);
    g_test_add_func("/core/dma/refused", test_refused);
    return g_test_run();
}
