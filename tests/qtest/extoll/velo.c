/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages by VELO; see velo.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "hw/pci/pci_regs.h"
#include "velo.h"

#define BAR_OFFSET  (PCI_BASE_ADDRESS_0 + 4 * EXTOLL_BAR_VELO)
#define SLOT_MOST   (EXTOLL_SLOT_DATA / 8)  /* quadwords of a slot */

/* --- Device ----------------------------------------------------------------- */

void velo_map(ExtollTest *t)
{
    qpci_config_writel(t->dev, BAR_OFFSET, EXTOLL_VELO_AT);
    qpci_config_writel(t->dev, BAR_OFFSET + 4, 0);
}

static void bar_check(ExtollTest *t)
{
    qpci_config_writel(t->dev, BAR_OFFSET, UINT32_MAX);
    g_assert_cmphex(qpci_config_readl(t->dev, BAR_OFFSET), ==,
                    (0u - EXTOLL_VELO_BAR_BYTES) | PCI_BASE_ADDRESS_MEM_TYPE_64 |
                    PCI_BASE_ADDRESS_MEM_PREFETCH);
}

void velo_enable(ExtollTest *t)
{
    uint32_t node = extoll_get32(t, EXTOLL_REG_NODE);

    /* not again: a BAR covers the firmware of a running processor during its sizing */
    if ((qpci_config_readl(t->dev, BAR_OFFSET) & ~0xfu) != EXTOLL_VELO_AT) {
        bar_check(t);
        velo_map(t);
    }
    extoll_set32(t, EXTOLL_REG_CTRL, EXTOLL_CTRL_ENABLE);
    extoll_set32(t, EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, UINT32_MAX);
    extoll_set64(t, EXTOLL_VELO_ROUTE(node), EXTOLL_ROUTE_OWN);
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        if (t->peer[i]) {
            extoll_set64(t, EXTOLL_VELO_ROUTE(EXTOLL_PEER_NODE(i)), EXTOLL_ROUTE_BY(i));
        }
    }
}

ExtollTest *velo_start(unsigned count, const char *props)
{
    ExtollTest *t = extoll_start_links(count, props);

    velo_enable(t);
    return t;
}

ExtollTest *velo_start_full(const char *props)
{
    ExtollTest *t = extoll_start_cold(1, props);

    t->peer[0]->room = EXTOLL_ROOM_MIN;
    t->peer[0]->hold = true;
    extoll_link_bring_up(t, 0);
    velo_enable(t);
    return t;
}

void velo_mailbox(ExtollTest *t, unsigned vpid, uint32_t bytes)
{
    velo_vpid_set(t, vpid, BALT, EXTOLL_RAM_MAILBOX(vpid));
    velo_vpid_set(t, vpid, MSLT, bytes - 1);
    velo_vpid_set(t, vpid, WPLT, 0);
    velo_vpid_set(t, vpid, RPLT, 0);
}

/* --- Sender ----------------------------------------------------------------- */

uint64_t velo_address(const VeloMsg *m, unsigned q)
{
    return EXTOLL_VELO_AT + q * 8 +
           RNIC_PREP(EXTOLL_VELO_ADDR_NODE, m->node) +
           RNIC_PREP(EXTOLL_VELO_ADDR_VPID, m->vpid) +
           RNIC_PREP(EXTOLL_VELO_ADDR_OWN, m->own) +
           RNIC_PREP(EXTOLL_VELO_ADDR_MTT, m->mtt) +
           RNIC_PREP(EXTOLL_VELO_ADDR_QUADWORDS, m->quadwords);
}

uint64_t velo_word(const VeloMsg *m, unsigned q)
{
    return (m->number * 8ULL + q + 1) * 0x9e3779b97f4a7c15ULL;
}

void velo_store_part(ExtollTest *t, const VeloMsg *m, unsigned first, unsigned count)
{
    for (unsigned q = first; q < first + count; q++) {
        qtest_writeq(t->qts, velo_address(m, q), velo_word(m, q));
    }
}

void velo_store(ExtollTest *t, const VeloMsg *m)
{
    velo_store_part(t, m, 0, m->quadwords);
}

void velo_store_half(ExtollTest *t, const VeloMsg *m, unsigned q, bool upper)
{
    qtest_writel(t->qts, velo_address(m, q) + (upper ? 4 : 0),
                 velo_word(m, q) >> (upper ? 32 : 0));
}

enum extoll_txio velo_commit(ExtollTest *t, const VeloMsg *m)
{
    return qtest_readq(t->qts, velo_address(m, 0));
}

/* --- Receiver --------------------------------------------------------------- */

void velo_take_slot(ExtollTest *t, const VeloMsg *m, unsigned node, unsigned first,
                    unsigned count, uint64_t flags)
{
    uint64_t base = velo_vpid_get(t, m->vpid, BALT);
    uint64_t mask = velo_vpid_get(t, m->vpid, MSLT);
    uint64_t rp = velo_vpid_get(t, m->vpid, RPLT);
    uint64_t slot[EXTOLL_SLOT_BYTES / 8];

    extoll_wait(t, velo_vpid_get(t, m->vpid, WPLT) != rp);
    qtest_memread(t->qts, base + (rp * EXTOLL_SLOT_BYTES & mask), slot, sizeof(slot));
    g_assert_cmphex(le64_to_cpu(slot[0]), ==,
                    RNIC_PREP(EXTOLL_SLOT_NODE, node) |
                    RNIC_PREP(EXTOLL_SLOT_VPID, m->own) |
                    RNIC_PREP(EXTOLL_SLOT_MTT, m->mtt) |
                    RNIC_PREP(EXTOLL_SLOT_MESSAGE, m->quadwords * 8) |
                    RNIC_PREP(EXTOLL_SLOT_FRAGMENT, count * 8) |
                    RNIC_PREP(EXTOLL_SLOT_FIRST, first) |
                    EXTOLL_SLOT_VALID | flags);
    for (unsigned q = 0; q < SLOT_MOST; q++) {
        g_assert_cmphex(le64_to_cpu(slot[1 + q]), ==,
                        q < count ? velo_word(m, first + q) : 0);
    }
    velo_vpid_set(t, m->vpid, RPLT, (uint32_t)(rp + 1));
}

void velo_take(ExtollTest *t, const VeloMsg *m, unsigned node)
{
    if (m->quadwords > SLOT_MOST) {
        velo_take_slot(t, m, node, 0, SLOT_MOST, 0);
        velo_take_slot(t, m, node, SLOT_MOST, m->quadwords - SLOT_MOST, EXTOLL_SLOT_END);
    } else {
        velo_take_slot(t, m, node, 0, m->quadwords, EXTOLL_SLOT_END);
    }
}

void velo_assert_empty(ExtollTest *t, unsigned vpid)
{
    extoll_settle(t);
    g_assert_cmphex(velo_vpid_get(t, vpid, WPLT), ==, velo_vpid_get(t, vpid, RPLT));
}

/* --- Test peer -------------------------------------------------------------- */

ExtollVeloMsg velo_peer_take(ExtollTest *t, unsigned link, const VeloMsg *m,
                             unsigned first, unsigned count)
{
    ExtollPeer *p = t->peer[link];
    g_autofree ExtollRxPacket *rx = NULL;
    ExtollVeloMsg msg;

    extoll_wait(t, extoll_peer_arrived(p));
    rx = g_queue_pop_head(&p->packets);
    g_assert_cmphex(ldq_le_p(rx->buf), ==, EXTOLL_ROUTE_OWN);
    g_assert_cmpint(extoll_packet_message_decode(rx->buf, rx->bytes, &msg), ==,
                    EXTOLL_PACKET_OK);
    g_assert_cmpuint(msg.src_vpid, ==, m->own);
    g_assert_cmpuint(msg.dst_vpid, ==, m->vpid);
    g_assert_cmpuint(msg.mtt, ==, m->mtt);
    g_assert_cmpuint(msg.quadwords, ==, m->quadwords);
    g_assert_cmpuint(msg.first, ==, first);
    g_assert_cmpuint(msg.count, ==, count);
    for (unsigned q = 0; q < count; q++) {
        g_assert_cmphex(ldq_le_p(msg.data + q * 8), ==, velo_word(m, first + q));
    }
    return msg;
}

void velo_peer_send_raw(ExtollTest *t, unsigned link, const void *packet,
                        unsigned bytes)
{
    uint8_t buf[EXTOLL_FRAME_WORDS * RNIC_LINK_WORD];
    ExtollPeer *p = t->peer[link];
    unsigned words = extoll_peer_flits(p, buf, 0, packet, bytes);

    extoll_peer_frame(p, RNIC_LINK_DATA, buf, words);
    extoll_wait(t, extoll_port64(t, link, RX_FLITS) == p->tx_flits[0]);
    extoll_settle(t);
}

uint64_t velo_frame(const VeloMsg *m, unsigned node, unsigned prot)
{
    return RNIC_PREP(EXTOLL_PKT_COMMAND, EXTOLL_CMD_VELO) |
           RNIC_PREP(EXTOLL_MSG_MTT, m->mtt) |
           RNIC_PREP(EXTOLL_MSG_QUADWORDS, m->quadwords) |
           RNIC_PREP(EXTOLL_MSG_COUNT, m->quadwords) | EXTOLL_MSG_END |
           RNIC_PREP(EXTOLL_MSG_SOURCE, m->own) |
           RNIC_PREP(EXTOLL_MSG_VPID, m->vpid) |
           RNIC_PREP(EXTOLL_MSG_NODE, node) |
           RNIC_PREP(EXTOLL_MSG_PROT, prot);
}

void velo_peer_send(ExtollTest *t, unsigned link, const VeloMsg *m, unsigned prot)
{
    uint64_t packet[2 + EXTOLL_VELO_QUADWORDS];

    packet[0] = cpu_to_le64(EXTOLL_ROUTE_OWN);
    packet[1] = cpu_to_le64(velo_frame(m, EXTOLL_PEER_NODE(link), prot));
    for (unsigned q = 0; q < m->quadwords; q++) {
        packet[2 + q] = cpu_to_le64(velo_word(m, q));
    }
    velo_peer_send_raw(t, link, packet, (2 + m->quadwords) * 8);
}
