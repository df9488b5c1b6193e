/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores of the peer that the device executes: memory, block RAM and devices,
 * protection, faults and the transaction tables.  shm-order-test.c has the order.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "tables.h"

#define DST EXANET_RAM_DST
#define BRAM EXANET_NI_VA(EXANET_NI_BRAM)
#define BRAM_BYTES (1 << 20)
#define VA 0x7fff00400000ULL        /* address of a process, in window 0 */
#define WORD 0x1122334455667788ULL

/* Returns a request of the peer to context @c. */
static ExanetPacket request(ExanetPeer *p, enum exanet_shm_class class,
                            unsigned c, uint64_t va, const void *data,
                            unsigned size)
{
    ExanetPacket pkt = exanet_axi_packet(p, class, va, data, size);

    pkt.pdid = EXANET_TEST_PDID(c);
    return pkt;
}

static void tid_set(ExanetPacket *pkt, unsigned slot, unsigned id)
{
    pkt->tid = (pkt->tid & EXANET_STID_CLASS) |
               RNIC_PREP(EXANET_STID_SLOT, slot) | RNIC_PREP(EXANET_STID_ID, id);
}

static enum exanet_resp ask(ExanetPeer *p, const ExanetPacket *pkt, void *data)
{
    exanet_peer_send(p, pkt);
    return exanet_peer_take_axi(p, pkt, data);
}

static unsigned next_seq(void)
{
    static unsigned seq;

    return seq++ & 0x3fff;
}

static enum exanet_resp store(ExanetTest *t, unsigned c, uint64_t va,
                              const void *data, unsigned size)
{
    ExanetPacket pkt = request(t->peer, EXANET_SHM_STORE, c, va, data, size);

    pkt.seq = next_seq();
    return ask(t->peer, &pkt, NULL);
}

static enum exanet_resp load(ExanetTest *t, unsigned c, uint64_t va, void *data,
                             unsigned size)
{
    ExanetPacket pkt = request(t->peer, EXANET_SHM_LOAD, c, va, NULL, size);

    return ask(t->peer, &pkt, data);
}

/* --- Memory -------------------------------------------------------------------- */

static void check_size(ExanetTest *t, unsigned at, unsigned size)
{
    uint8_t want[EXANET_MTU + 32], data[EXANET_MTU], back[EXANET_MTU];

    memset(want, 0x5c, sizeof(want));
    qtest_memset(t->qts, DST - 16, 0x5c, sizeof(want));
    for (unsigned i = 0; i < size; i++) {
        data[i] = want[16 + at + i] = i * 7 + size;
    }
    g_assert_cmpuint(store(t, 0, DST + at, data, size), ==, EXANET_RESP_ACK);
    exanet_assert_mem(t, DST - 16, want, sizeof(want));
    memset(back, 0, sizeof(back));
    g_assert_cmpuint(load(t, 0, DST + at, back, size), ==, EXANET_RESP_ACK);
    g_assert_cmpmem(back, size, data, size);
}

/*
 * Loads and stores of all sizes, at each alignment to 16 bytes and at the end of 256
 * bytes.
 */
static void test_sizes(void)
{
    ExanetTest *t = exanet_start("");
    unsigned done = 0;

    for (unsigned size = 1; size <= EXANET_MTU; size++) {
        for (unsigned at = 0; at < 17; at++) {
            unsigned place = at == 16 ? EXANET_MTU - size : at;

            if (place + size <= EXANET_MTU) {
                check_size(t, place, size);
                done++;
            }
        }
    }
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_STORE), ==, done);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_LOAD), ==, done);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_ERROR), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_CAM_NEW), ==, 2 * done);
    exanet_stop(t);
}

/* An access across a page comes as two packets; the pages are not adjacent. */
static void test_pages(void)
{
    ExanetTest *t = exanet_start("");
    uint8_t data[300], back[300];
    ExanetTables tb;

    exanet_tables_init(&tb, t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&tb, 0);
    exanet_tables_map(&tb, VA, DST + 0x5000, 0, EXANET_MAP_RW);
    exanet_tables_map(&tb, VA + 0x1000, DST + 0x2000, 0, EXANET_MAP_RW);
    exanet_set64(t, EXANET_CTX(0) + EXANET_CTX_WIN(0),
                 EXANET_WIN_VALID | (VA & EXANET_WIN_BASE));
    for (unsigned i = 0; i < sizeof(data); i++) {
        data[i] = i * 11;
    }
    qtest_memset(t->qts, DST, 0, 0x7000);
    for (unsigned cut = 1; cut < 256; cut += 51) {
        uint64_t va = (VA + 0x1000 - cut) & ~EXANET_WIN_BASE;

        g_assert_cmpuint(store(t, 0, va, data, cut), ==, EXANET_RESP_ACK);
        g_assert_cmpuint(store(t, 0, va + cut, data + cut, 256 - cut), ==,
                         EXANET_RESP_ACK);
        exanet_assert_mem(t, DST + 0x6000 - cut, data, cut);
        exanet_assert_mem(t, DST + 0x2000, data + cut, 256 - cut);
        exanet_assert_byte(t, DST + 0x6000, 0, 256);
        exanet_assert_byte(t, DST + 0x1f00, 0, 256);
        g_assert_cmpuint(load(t, 0, va, back, cut), ==, EXANET_RESP_ACK);
        g_assert_cmpuint(load(t, 0, va + cut, back + cut, 256 - cut), ==,
                         EXANET_RESP_ACK);
        g_assert_cmpmem(back, 256, data, 256);
    }
    exanet_stop(t);
}

static void test_bram(void)
{
    static const unsigned sizes[] = { 1, 2, 4, 7, 8, 16, 17, 128, 255, 256 };
    ExanetTest *t = exanet_start("");
    uint8_t data[EXANET_MTU], back[EXANET_MTU];

    memset(data, 0xa7, sizeof(data));
    g_assert_cmpuint(load(t, 0, BRAM, back, EXANET_MTU), ==, EXANET_RESP_ACK);
    for (unsigned i = 0; i < EXANET_MTU; i++) {
        g_assert_cmphex(back[i], ==, 0);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        for (unsigned at = 0; at < 17 && at + sizes[i] <= EXANET_MTU; at++) {
            uint64_t va = BRAM + i * 0x1000 + at * EXANET_MTU + at;

            g_assert_cmpuint(store(t, 1, va, data, sizes[i]), ==,
                             EXANET_RESP_ACK);
            g_assert_cmpuint(load(t, 0, va - at, back, EXANET_MTU), ==,
                             EXANET_RESP_ACK);
            for (unsigned b = 0; b < EXANET_MTU; b++) {
                g_assert_cmphex(back[b], ==,
                                b >= at && b < at + sizes[i] ? 0xa7 : 0);
            }
            /* clears the bytes for the next round */
            memset(back, 0, sizeof(back));
            g_assert_cmpuint(store(t, 0, va - at, back, EXANET_MTU), ==,
                             EXANET_RESP_ACK);
        }
    }
    /* the end of block RAM, and an address behind it */
    g_assert_cmpuint(store(t, 0, BRAM + BRAM_BYTES - 8, data, 8), ==,
                     EXANET_RESP_ACK);
    g_assert_cmpuint(load(t, 0, BRAM + BRAM_BYTES - 8, back, 8), ==,
                     EXANET_RESP_ACK);
    g_assert_cmpmem(back, 8, data, 8);
    g_assert_cmpuint(store(t, 0, BRAM + BRAM_BYTES, data, 1), ==,
                     EXANET_RESP_DECODE);
    g_assert_cmpuint(load(t, 0, BRAM + 0xffffff00, back, 256), ==,
                     EXANET_RESP_DECODE);
    /* NI space has no pages and no faults, but a context that is not open is refused */
    g_assert_cmpuint(load(t, 5, BRAM, back, 8), ==, EXANET_RESP_PROTECTION);
    exanet_stop(t);
}

/* --- Devices ------------------------------------------------------------------- */

/* address of a register; selects the register at offset 16 */
#define IOAPIC 0xfec00000ULL
#define IOAPIC_VERSION 1
#define MCH_PCIEXBAR 0x60 /* register of q35: address of the configuration space */

/* Loads and stores of registers of another device, 4 bytes wide. */
static void test_device(void)
{
    ExanetTest *t = exanet_start("");
    uint32_t index = cpu_to_le32(IOAPIC_VERSION), version = 0;
    uint8_t bytes[4];

    g_assert_cmpuint(store(t, 0, IOAPIC, &index, 4), ==, EXANET_RESP_ACK);
    g_assert_cmphex(qtest_readl(t->qts, IOAPIC), ==, IOAPIC_VERSION);
    g_assert_cmpuint(load(t, 0, IOAPIC + 0x10, &version, 4), ==,
                     EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(version), ==, qtest_readl(t->qts, IOAPIC + 0x10));
    g_assert_cmphex(version, !=, 0);
    g_assert_cmphex(version, !=, UINT32_MAX);
    /* a later store waits for a store to a device: the responses come in order */
    for (unsigned i = 0; i < 8; i++) {
        ExanetPacket pkt[2];
        uint32_t value = cpu_to_le32(i);

        pkt[0] = request(t->peer, EXANET_SHM_STORE, 0, IOAPIC, &value, 4);
        pkt[1] = request(t->peer, EXANET_SHM_STORE, 0, DST, &value, 4);
        pkt[0].seq = next_seq();
        pkt[1].seq = next_seq();
        pkt[1].first = false;
        exanet_peer_send(t->peer, &pkt[0]);
        exanet_peer_send(t->peer, &pkt[1]);
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt[0], NULL), ==,
                         EXANET_RESP_ACK);
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt[1], NULL), ==,
                         EXANET_RESP_ACK);
        g_assert_cmphex(qtest_readl(t->qts, IOAPIC), ==, i);
        exanet_assert_mem(t, DST, &value, 4);
    }
    g_assert_cmpuint(exanet_count(t, SHM_EARLY_STORE), ==, 0);
    /* a size that no register has, and an address without device */
    g_assert_cmpuint(load(t, 0, IOAPIC + 1, bytes, 3), ==, EXANET_RESP_ACK);
    g_assert_cmpuint(load(t, 0, EXANET_NO_RAM, bytes, 4), ==,
                     EXANET_RESP_DECODE);
    g_assert_cmpuint(store(t, 0, EXANET_NO_RAM, bytes, 4), ==,
                     EXANET_RESP_DECODE);
    exanet_stop(t);
}

/*
 * A copy of a load whose response was lost returns the first value, because a load may
 * change the device.
 */
static void test_device_again(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt = request(t->peer, EXANET_SHM_LOAD, 0, IOAPIC, NULL, 4);
    uint32_t value = 0;

    qtest_writel(t->qts, IOAPIC, 1);
    g_assert_cmpuint(ask(t->peer, &pkt, &value), ==, EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(value), ==, 1);
    qtest_writel(t->qts, IOAPIC, 2);
    for (unsigned retries = 1; retries < 3; retries++) {
        pkt.user = RNIC_PREP(EXANET_SHM_USER_RETRIES, retries);
        g_assert_cmpuint(ask(t->peer, &pkt, &value), ==, EXANET_RESP_ACK);
        g_assert_cmphex(le32_to_cpu(value), ==, 1);
        g_assert_cmpuint(exanet_count(t, SHM_DUPLICATE), ==, retries);
    }
    /* another sequence number is another load */
    pkt.seq = 1;
    g_assert_cmpuint(ask(t->peer, &pkt, &value), ==, EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(value), ==, 2);
    /*
     * a late first copy returns the old value; after 100 ms the same number is a new
     * load
     */
    pkt.seq = 0;
    pkt.user = 0;
    g_assert_cmpuint(ask(t->peer, &pkt, &value), ==, EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(value), ==, 1);
    exanet_step(t, 101 * EXANET_MS);
    g_assert_cmpuint(ask(t->peer, &pkt, &value), ==, EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(value), ==, 2);
    pkt.user = RNIC_PREP(EXANET_SHM_USER_RETRIES, 1);
    g_assert_cmpuint(ask(t->peer, &pkt, &value), ==, EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(value), ==, 2);
    exanet_stop(t);
}

/*
 * Accesses to this device itself: block RAM is allowed, registers and aperture are
 * refused.
 */
static void test_own_device(void)
{
    ExanetTest *t = exanet_start("");
    uint64_t aperture = exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_APERTURE);
    uint64_t bar = t->aperture.addr;
    uint64_t word = cpu_to_le64(WORD), back = 0;
    uint64_t forbidden[] = {
        t->regs.addr + EXANET_REG_CTRL, t->user.addr, bar, bar + aperture - 8,
        t->user.addr + exanet_user(t, 0, EXANET_PAGE_INFO),
    };

    g_assert_cmpuint(store(t, 0, bar + aperture + 0x108, &word, 8), ==,
                     EXANET_RESP_ACK);
    g_assert_cmpuint(load(t, 0, BRAM + 0x108, &back, 8), ==, EXANET_RESP_ACK);
    g_assert_cmphex(back, ==, word);
    back = 0;
    g_assert_cmpuint(load(t, 0, bar + aperture + 0x10a, &back, 4), ==,
                     EXANET_RESP_ACK);
    g_assert_cmphex(le64_to_cpu(back), ==, (WORD >> 16) & 0xffffffff);
    for (unsigned i = 0; i < ARRAY_SIZE(forbidden); i++) {
        g_assert_cmpuint(store(t, 0, forbidden[i], &back, 8), ==,
                         EXANET_RESP_DECODE);
        g_assert_cmpuint(load(t, 0, forbidden[i], &back, 8), ==,
                         EXANET_RESP_DECODE);
    }
    g_assert_cmphex(exanet_get32(t, EXANET_REG_CTRL), ==, EXANET_CTRL_ENABLE);
    exanet_stop(t);
}

/*
 * The peer stores to the configuration space of the device, and so resets the device:
 * no request is answered, and the device works afterwards.
 */
static void test_own_reset(void)
{
    const uint64_t ecam = 0xb0000000;
    ExanetTest *t = exanet_start("");
    uint8_t cap = qpci_find_capability(t->dev, PCI_CAP_ID_EXP, 0);
    uint16_t flr = cpu_to_le16(qpci_config_readw(t->dev, cap + PCI_EXP_DEVCTL) |
                               PCI_EXP_DEVCTL_BCR_FLR);
    QPCIDevice *bridge = qpci_device_find(t->bus, QPCI_DEVFN(0, 0));
    uint64_t at = ecam | t->dev->devfn << 12 | (cap + PCI_EXP_DEVCTL);
    ExanetPacket pkt[2];
    uint32_t back = 0;

    qpci_config_writel(bridge, MCH_PCIEXBAR, ecam | 1);
    g_assert_cmpuint(load(t, 0, at & ~0xfffULL, &back, 4), ==, EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(back) >> 16, ==, EXANET_PCI_DEVICE_ID);
    pkt[0] = request(t->peer, EXANET_SHM_STORE, 0, at, &flr, 2);
    pkt[1] = request(t->peer, EXANET_SHM_LOAD, 0, at, NULL, 2);
    exanet_peer_send(t->peer, &pkt[0]);
    exanet_peer_send(t->peer, &pkt[1]);
    exanet_wait(t, qpci_config_readl(t->dev, PCI_BASE_ADDRESS_0) == 0);
    exanet_assert_quiet(t);
    /* the reset has disabled memory decoding */
    qpci_device_enable(t->dev);
    qpci_config_writel(t->dev, PCI_BASE_ADDRESS_0, t->regs.addr);
    g_assert_cmphex(exanet_get32(t, EXANET_REG_CTRL), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_STORE), ==, 0);
    exanet_bring_up(t);
    exanet_open(t, 0, EXANET_TEST_JOB, EXANET_FORMAT_IDENTITY, 0);
    check_size(t, 5, 8);
    g_free(bridge);
    exanet_stop(t);
}

/* --- Protection ---------------------------------------------------------------- */

static void assert_refused(ExanetTest *t, uint16_t pdid, uint64_t va,
                           enum exanet_resp resp)
{
    uint64_t errors = exanet_count(t, SHM_TARGET_ERROR), word = WORD;
    ExanetPacket pkt = request(t->peer, EXANET_SHM_STORE, 0, va, &word, 8);

    pkt.pdid = pdid;
    pkt.seq = next_seq();
    g_assert_cmpuint(ask(t->peer, &pkt, NULL), ==, resp);
    pkt = request(t->peer, EXANET_SHM_LOAD, 0, va, NULL, 8);
    pkt.pdid = pdid;
    g_assert_cmpuint(ask(t->peer, &pkt, NULL), ==, resp);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_ERROR), ==, errors + 2);
}

static void test_protection(void)
{
    ExanetTest *t = exanet_start("");
    const uint16_t good = EXANET_TEST_PDID(0);

    qtest_memset(t->qts, DST, 0, 64);
    assert_refused(t, EXANET_TEST_PDID(2), DST, EXANET_RESP_PROTECTION);
    assert_refused(t, good ^ 0x10, DST, EXANET_RESP_PROTECTION);
    assert_refused(t, good & EXANET_PDID_CTX, DST, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_count(t, DROP_PROTECTION), ==, 6);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_PROTOCOL);
    assert_refused(t, good, DST | 1ULL << EXANET_WINDOW_BITS,
                   EXANET_RESP_DECODE);
    exanet_set32(t, EXANET_SHM + EXANET_REG_SHM_CTRL, EXANET_SHM_CTRL_ALL &
                 ~EXANET_SHM_CTRL_ENABLE);
    assert_refused(t, good, DST, EXANET_RESP_PROTECTION);
    assert_refused(t, good, BRAM, EXANET_RESP_PROTECTION);
    exanet_set32(t, EXANET_SHM + EXANET_REG_SHM_CTRL, EXANET_SHM_CTRL_ALL);
    exanet_close(t, 0);
    assert_refused(t, good, DST, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_STORE), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_TARGET_LOAD), ==, 0);
    exanet_assert_byte(t, DST, 0, 64);
    exanet_stop(t);
}

/* --- Faults -------------------------------------------------------------------- */

typedef struct Process {
    ExanetTest *t;
    ExanetTables tb;
    uint64_t va;                    /* address of the missing page, 42 bits */
} Process;

static void process_start(Process *p)
{
    p->t = exanet_start("");
    p->va = VA & ~EXANET_WIN_BASE;
    exanet_tables_init(&p->tb, p->t, EXANET_FORMAT_X86_4, EXANET_RAM_TABLES);
    exanet_tables_open(&p->tb, 0);
    exanet_set64(p->t, EXANET_CTX(0) + EXANET_CTX_WIN(0),
                 EXANET_WIN_VALID | (VA & EXANET_WIN_BASE));
    exanet_tables_map(&p->tb, VA + 0x1000, DST + 0x1000, 0,
                      EXANET_MAP_READ_ONLY);
    qtest_memset(p->t->qts, DST, 0, 0x2000);
}

/* Takes the only fault, and asserts that it is of @pkt at the page of @va. */
static struct exanet_fault take_fault(ExanetTest *t, const ExanetPacket *pkt,
                                      uint64_t va, bool write)
{
    struct exanet_fault f = exanet_fault_take(t);

    g_assert_cmpuint(exanet_get32(t, EXANET_FAULT + EXANET_REG_FAULT_COUNT), ==,
                     0);
    g_assert_cmphex(f.va, ==, va & ~0xfffULL);
    g_assert_cmphex(f.info, ==, RNIC_PREP(EXANET_FAULT_CTX, 0) |
                    (write ? EXANET_FAULT_WRITE : 0) | EXANET_FAULT_DST |
                    RNIC_PREP(EXANET_FAULT_UNIT, EXANET_FAULT_SHM) |
                    RNIC_PREP(EXANET_FAULT_TID, pkt->tid) |
                    RNIC_PREP(EXANET_FAULT_COORD, EXANET_TEST_PEER) |
                    RNIC_PREP(EXANET_FAULT_SEQ, pkt->seq));
    g_assert_cmpuint(f.left, ==, pkt->size);
    return f;
}

/*
 * A missing page is mapped: the target reports RESOLVED to all requests that wait, and
 * executes their copies.
 */
static void test_fault(void)
{
    Process p;
    uint64_t word = WORD, back = 0;
    ExanetPacket pkt[3];
    struct exanet_fault f;

    process_start(&p);
    for (unsigned i = 0; i < 3; i++) {
        pkt[i] = request(p.t->peer, EXANET_SHM_RDMA_WRITE, 0,
                         p.va + 0x100 * i + 8, &word, 8);
        pkt[i].seq = i;
        pkt[i].first = i == 0;
        pkt[i].user = RNIC_PREP(EXANET_SHM_USER_RETRIES, i);
        tid_set(&pkt[i], i, 3);
        g_assert_cmpuint(ask(p.t->peer, &pkt[i], NULL), ==, EXANET_RESP_FAULT);
    }
    f = take_fault(p.t, &pkt[0], VA, true);
    exanet_tables_map(&p.tb, VA, DST, 0, EXANET_MAP_RW);
    exanet_assert_quiet(p.t);
    exanet_fault_resolve(p.t, &f, true);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(exanet_peer_take_axi(p.t->peer, &pkt[i], NULL), ==,
                         EXANET_RESP_RESOLVED);
    }
    exanet_assert_byte(p.t, DST, 0, 0x1000);
    for (unsigned i = 0; i < 3; i++) {
        g_assert_cmpuint(ask(p.t->peer, &pkt[i], NULL), ==, EXANET_RESP_ACK);
        exanet_assert_mem(p.t, DST + 0x100 * i + 8, &word, 8);
    }
    g_assert_cmpuint(load(p.t, 0, p.va + 8, &back, 8), ==, EXANET_RESP_ACK);
    g_assert_cmphex(back, ==, word);
    exanet_stop(p.t);
}

/*
 * A store to a read-only page, and a load of a page that is never mapped, end with
 * DECODE.
 */
static void test_fault_bad(void)
{
    Process p;
    uint64_t word = WORD, back = 1;
    ExanetPacket pkt;
    struct exanet_fault f;

    process_start(&p);
    g_assert_cmpuint(load(p.t, 0, p.va + 0x1000, &back, 8), ==,
                     EXANET_RESP_ACK);
    g_assert_cmphex(back, ==, 0);
    pkt = request(p.t->peer, EXANET_SHM_STORE, 0, p.va + 0x1000, &word, 8);
    pkt.seq = next_seq();
    g_assert_cmpuint(ask(p.t->peer, &pkt, NULL), ==, EXANET_RESP_FAULT);
    f = take_fault(p.t, &pkt, VA + 0x1000, true);
    exanet_fault_resolve(p.t, &f, false);
    g_assert_cmpuint(exanet_peer_take_axi(p.t->peer, &pkt, NULL), ==,
                     EXANET_RESP_DECODE);
    pkt = request(p.t->peer, EXANET_SHM_LOAD, 0, p.va, NULL, 8);
    g_assert_cmpuint(ask(p.t->peer, &pkt, NULL), ==, EXANET_RESP_FAULT);
    f = take_fault(p.t, &pkt, VA, false);
    exanet_fault_resolve(p.t, &f, false);
    g_assert_cmpuint(exanet_peer_take_axi(p.t->peer, &pkt, NULL), ==,
                     EXANET_RESP_DECODE);
    /* with NO_REPORT the driver is not asked, and the load is refused */
    exanet_set32(p.t, EXANET_CTX(0) + EXANET_REG_CTX_CTRL,
                 exanet_get32(p.t, EXANET_CTX(0) + EXANET_REG_CTX_CTRL) |
                 EXANET_CTX_CTRL_NO_REPORT);
    g_assert_cmpuint(load(p.t, 0, p.va, &back, 8), ==, EXANET_RESP_PROTECTION);
    g_assert_cmpuint(exanet_get32(p.t, EXANET_FAULT + EXANET_REG_FAULT_COUNT),
                     ==, 0);
    exanet_assert_byte(p.t, DST, 0, 0x2000);
    exanet_stop(p.t);
}

/* --- Transaction tables -------------------------------------------------------- */

static uint64_t cam(ExanetTest *t, unsigned e, unsigned reg)
{
    return exanet_get64(t, EXANET_SHM_CAM(e) + reg);
}

static void assert_entry(ExanetTest *t, unsigned e, const ExanetPacket *pkt,
                         unsigned count)
{
    bool write = pkt->type == EXANET_TYPE_AXI_WRITE;
    unsigned class = RNIC_GET(EXANET_STID_CLASS, pkt->tid);

    g_assert_cmphex(cam(t, e, EXANET_REG_SHM_CAM), ==, EXANET_SHM_CAM_VALID |
                    RNIC_PREP(EXANET_SHM_CAM_SRC, pkt->src) |
                    RNIC_PREP(EXANET_SHM_CAM_TID, pkt->tid) |
                    (class >= EXANET_SHM_RDMA_WRITE ? EXANET_SHM_CAM_RDMA : 0) |
                    (write ? EXANET_SHM_CAM_WRITE : 0));
    g_assert_cmphex(cam(t, e, EXANET_REG_SHM_CAM_STATE), ==,
                    RNIC_PREP(EXANET_SHM_CAM_NEW_ID, e % EXANET_SHM_CAMS) |
                    RNIC_PREP(EXANET_SHM_CAM_COUNT, count) |
                    RNIC_PREP(EXANET_SHM_CAM_PDID, pkt->pdid));
}

static void assert_free(ExanetTest *t)
{
    for (unsigned e = 0; e < 2 * EXANET_SHM_CAMS; e++) {
        g_assert_cmphex(cam(t, e, EXANET_REG_SHM_CAM), ==, 0);
        g_assert_cmphex(cam(t, e, EXANET_REG_SHM_CAM_STATE), ==, 0);
    }
}

/* Sends XOFF as @p at port @port, and waits until the device has handled it. */
static void hold(ExanetTest *t, ExanetPeer *p, unsigned port)
{
    exanet_peer_frame(p, RNIC_LINK_XOFF, NULL, 0);
    exanet_wait(t, exanet_get32(t, EXANET_PORT(port) + EXANET_REG_PORT_STATUS) &
                EXANET_PORT_STATUS_PEER_XOFF);
}

/*
 * Requests of one source, class and ID share an entry; others need another entry, and
 * get FULL if none is free.
 */
static void test_cam(void)
{
    static const struct {
        enum exanet_shm_class class;
        unsigned id, seq;
        enum exanet_resp resp;
    } step[] = {
        { EXANET_SHM_STORE, 1, 0, EXANET_RESP_ACK },
        { EXANET_SHM_STORE, 1, 1, EXANET_RESP_ACK },
        { EXANET_SHM_STORE, 1, 2, EXANET_RESP_ACK },
        { EXANET_SHM_RDMA_WRITE, 1, 0, EXANET_RESP_ACK },
        { EXANET_SHM_STORE, 2, 3, EXANET_RESP_FULL },
        { EXANET_SHM_RDMA_WRITE, 2, 1, EXANET_RESP_FULL },
        { EXANET_SHM_LOAD, 1, 0, EXANET_RESP_ACK },
        { EXANET_SHM_RDMA_READ, 1, 0, EXANET_RESP_ACK },
        { EXANET_SHM_LOAD, 0, 0, EXANET_RESP_FULL },
    };
    ExanetTest *t = exanet_start(",cam-entries=2");
    ExanetPacket pkt[ARRAY_SIZE(step)];
    uint8_t byte = 0x17;

    hold(t, t->peer, 0);
    assert_free(t);
    for (unsigned i = 0; i < ARRAY_SIZE(step); i++) {
        pkt[i] = request(t->peer, step[i].class, i % 2, DST + i, &byte, 1);
        tid_set(&pkt[i], i, step[i].id);
        pkt[i].seq = step[i].seq;
        pkt[i].first = step[i].seq == 0;
        exanet_peer_send(t->peer, &pkt[i]);
    }
    exanet_wait(t, exanet_count(t, SHM_CAM_FULL) == 3);
    assert_entry(t, 0, &pkt[2], 3);
    assert_entry(t, 1, &pkt[3], 1);
    g_assert_cmphex(cam(t, 2, EXANET_REG_SHM_CAM), ==, 0);
    assert_entry(t, EXANET_SHM_CAMS, &pkt[6], 1);
    assert_entry(t, EXANET_SHM_CAMS + 1, &pkt[7], 1);
    g_assert_cmpuint(exanet_count(t, SHM_CAM_HIT), ==, 2);
    g_assert_cmpuint(exanet_count(t, SHM_CAM_NEW), ==, 4);
    exanet_step(t, 12345);
    g_assert_cmpuint(cam(t, 0, EXANET_REG_SHM_CAM_AGE), ==, 12345);
    exanet_xon(t);
    for (unsigned i = 0; i < ARRAY_SIZE(step); i++) {
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt[i], NULL), ==,
                         step[i].resp);
    }
    assert_free(t);
    /* the refused requests are accepted now */
    for (unsigned i = 0; i < ARRAY_SIZE(step); i++) {
        if (step[i].resp == EXANET_RESP_FULL) {
            g_assert_cmpuint(ask(t->peer, &pkt[i], NULL), ==, EXANET_RESP_ACK);
        }
    }
    exanet_stop(t);
}

/*
 * Eight entries as in the paper: a request with a ninth key is refused until an entry
 * is free.
 */
static void test_cam_ninth(void)
{
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt[EXANET_SHM_CAMS + 1];
    uint32_t value[2] = { 0 };

    qtest_writel(t->qts, DST, 0x11223344);
    hold(t, t->peer, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(pkt); i++) {
        pkt[i] = request(t->peer, EXANET_SHM_LOAD, 0, DST, NULL, 4);
        tid_set(&pkt[i], i, i);
        pkt[i].seq = i;
        exanet_peer_send(t->peer, &pkt[i]);
    }
    exanet_wait(t, exanet_count(t, SHM_CAM_FULL) == 1);
    for (unsigned i = 0; i < EXANET_SHM_CAMS; i++) {
        assert_entry(t, EXANET_SHM_CAMS + i, &pkt[i], 1);
    }
    exanet_xon(t);
    for (unsigned i = 0; i < EXANET_SHM_CAMS; i++) {
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt[i], value), ==,
                         EXANET_RESP_ACK);
    }
    g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt[EXANET_SHM_CAMS], NULL),
                     ==, EXANET_RESP_FULL);
    assert_free(t);
    g_assert_cmpuint(ask(t->peer, &pkt[EXANET_SHM_CAMS], value), ==,
                     EXANET_RESP_ACK);
    g_assert_cmphex(le32_to_cpu(value[0]), ==, 0x11223344);
    exanet_stop(t);
}

/* Responses wait in a queue of 128; refusals of further requests do not wait there. */
static void test_queue(void)
{
    const unsigned room = 128, n = room + 12;
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt = request(t->peer, EXANET_SHM_LOAD, 0, DST, NULL, 64);

    hold(t, t->peer, 0);
    for (unsigned i = 0; i < n; i++) {
        pkt.seq = i;
        exanet_peer_send(t->peer, &pkt);
    }
    exanet_wait(t, exanet_count(t, SHM_CAM_FULL) == n - room);
    pkt.seq = n - 1;
    assert_entry(t, EXANET_SHM_CAMS, &(ExanetPacket) {
        .type = pkt.type, .src = pkt.src, .tid = pkt.tid, .pdid = pkt.pdid,
    }, room);
    exanet_xon(t);
    /* refusals leave before the responses */
    for (unsigned i = room; i < n; i++) {
        pkt.seq = i;
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==,
                         EXANET_RESP_FULL);
    }
    for (unsigned i = 0; i < room; i++) {
        pkt.seq = i;
        g_assert_cmpuint(exanet_peer_take_axi(t->peer, &pkt, NULL), ==,
                         EXANET_RESP_ACK);
    }
    assert_free(t);
    exanet_stop(t);
}

/*
 * A response that waits when the node gets new coordinates frees its place in the
 * queue.
 */
static void test_renamed(void)
{
    const unsigned room = 128;
    ExanetTest *t = exanet_start("");
    ExanetPacket pkt = request(t->peer, EXANET_SHM_LOAD, 0, DST, NULL, 64);

    hold(t, t->peer, 0);
    exanet_peer_send(t->peer, &pkt);
    exanet_wait(t, exanet_count(t, SHM_TARGET_LOAD) == 1);
    /* the response is now for this node, which has sent no request */
    exanet_set32(t, EXANET_REG_NODE, EXANET_TEST_PEER);
    exanet_wait(t, exanet_count(t, SHM_STALE) == 1);
    assert_free(t);
    exanet_set32(t, EXANET_REG_NODE, EXANET_TEST_NODE);
    exanet_bring_up(t);

    hold(t, t->peer, 0);
    for (unsigned i = 0; i < room; i++) {
        pkt.seq = i;
        exanet_peer_send(t->peer, &pkt);
    }
    exanet_wait(t, exanet_count(t, SHM_TARGET_LOAD) +
                   exanet_count(t, SHM_CAM_FULL) == 1 + room);
    g_assert_cmpuint(exanet_count(t, SHM_CAM_FULL), ==, 0);
    exanet_stop(t);
}

/*
 * The same ID from two nodes: each gets its own response, and neither waits for the
 * other.
 */
static void test_two_sources(void)
{
    static const uint32_t peers[] = {
        EXANET_TEST_NODE ^ 1 << 12, EXANET_TEST_NODE ^ 2 << 12,
    };
    ExanetTest *t = exanet_start_ports(EXANET_TEST_NODE, peers, 2, "");
    uint64_t word[] = { 0x1111111111111111, 0x2222222222222222 }, back;
    ExanetPacket pkt[2];

    hold(t, t->ports[0], 0);
    for (unsigned i = 0; i < 2; i++) {
        pkt[i] = request(t->ports[i], EXANET_SHM_STORE, 0, DST + 8 * i, &word[i],
                         8);
        tid_set(&pkt[i], 5, 7);
        exanet_peer_send(t->ports[i], &pkt[i]);
        exanet_wait(t, exanet_count(t, SHM_TARGET_STORE) == i + 1);
    }
    /* the response to the second node has left, because its cable is not blocked */
    g_assert_cmpuint(exanet_peer_take_axi(t->ports[1], &pkt[1], NULL), ==,
                     EXANET_RESP_ACK);
    assert_entry(t, 0, &pkt[0], 1);
    g_assert_cmpuint(exanet_count(t, SHM_CAM_NEW), ==, 2);
    g_assert_cmpuint(exanet_count(t, SHM_CAM_HIT), ==, 0);
    exanet_peer_frame(t->ports[0], RNIC_LINK_XON, NULL, 0);
    g_assert_cmpuint(exanet_peer_take_axi(t->ports[0], &pkt[0], NULL), ==,
                     EXANET_RESP_ACK);
    exanet_assert_quiet(t);
    assert_free(t);
    for (unsigned i = 0; i < 2; i++) {
        pkt[i] = request(t->ports[i], EXANET_SHM_LOAD, 0, DST + 8 * !i, NULL, 8);
        g_assert_cmpuint(ask(t->ports[i], &pkt[i], &back), ==, EXANET_RESP_ACK);
        g_assert_cmphex(back, ==, word[!i]);
    }
    exanet_stop(t);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/exanet/shm-target/sizes", test_sizes);
    qtest_add_func("/exanet/shm-target/pages", test_pages);
    qtest_add_func("/exanet/shm-target/bram", test_bram);
    qtest_add_func("/exanet/shm-target/own-device", test_own_device);
    if (!exanet_on_axi()) {
        qtest_add_func("/exanet/shm-target/device", test_device);
        qtest_add_func("/exanet/shm-target/device-again", test_device_again);
        qtest_add_func("/exanet/shm-target/own-reset", test_own_reset);
    }
    qtest_add_func("/exanet/shm-target/protection", test_protection);
    qtest_add_func("/exanet/shm-target/fault", test_fault);
    qtest_add_func("/exanet/shm-target/fault-bad", test_fault_bad);
    qtest_add_func("/exanet/shm-target/cam", test_cam);
    qtest_add_func("/exanet/shm-target/cam-ninth", test_cam_ninth);
    qtest_add_func("/exanet/shm-target/queue", test_queue);
    qtest_add_func("/exanet/shm-target/renamed", test_renamed);
    qtest_add_func("/exanet/shm-target/two-sources", test_two_sources);
    return g_test_run();
}
