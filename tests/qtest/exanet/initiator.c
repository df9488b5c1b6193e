/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads and stores to other nodes; see initiator.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "initiator.h"

uint64_t initiator_gva(uint64_t offset)
{
    return exanet_gva(EXANET_TEST_PEER, INITIATOR_PEER_VA + offset);
}

ExanetTest *initiator_start(void)
{
    ExanetTest *t = exanet_start("");

    exanet_segment(t, 0, 0, 0x10000, initiator_gva(0), EXANET_SEGMENT_ALL);
    return t;
}

ExanetPacket initiator_take_store(ExanetTest *t, uint64_t offset)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_WRITE);
    ExanetPacket pkt = rx->pkt;

    g_assert_cmphex(pkt.va, ==, INITIATOR_PEER_VA + offset);
    pkt.payload = NULL;
    return pkt;
}

void initiator_ack(ExanetTest *t, const ExanetPacket *pkt)
{
    exanet_peer_answer_axi(t->peer, pkt, EXANET_RESP_ACK, NULL);
}

unsigned initiator_retries(const ExanetPacket *pkt)
{
    return RNIC_GET(EXANET_SHM_USER_RETRIES, pkt->user);
}

uint64_t initiator_timer(ExanetTest *t, unsigned n)
{
    return exanet_get64(t, EXANET_SHM_TIMER(n) + EXANET_REG_SHM_TIMER);
}

unsigned initiator_timers_busy(ExanetTest *t)
{
    return RNIC_GET(EXANET_SHM_STATUS_TIMERS, exanet_shm_get(t, SHM_STATUS));
}

/* Returns the 4-byte member @field of context @c's info page. */
static uint32_t info_get(ExanetTest *t, unsigned c, size_t field)
{
    return qtest_readl(t->qts, t->user.addr +
                       exanet_user(t, c, EXANET_PAGE_INFO) + field);
}

uint32_t initiator_pending(ExanetTest *t, unsigned c)
{
    return info_get(t, c, offsetof(struct exanet_info, stores));
}

uint32_t initiator_errors(ExanetTest *t, unsigned c)
{
    return info_get(t, c, offsetof(struct exanet_info, errors));
}

int64_t initiator_step_until_packet(ExanetTest *t, int64_t step)
{
    int64_t passed = 0;

    while (g_queue_is_empty(&t->peer->packets)) {
        exanet_step(t, step);
        passed += step;
        g_assert_cmpint(passed, <, INITIATOR_FOREVER);
    }
    return passed;
}

void initiator_load_start(ExanetTest *t, uint64_t offset, unsigned size)
{
    exanet_set64(t, EXANET_TGEN_TARGET(0), initiator_gva(offset));
    exanet_shm_set(t, TGEN_SIZE, size);
    exanet_shm_set(t, TGEN_PDID, EXANET_TEST_PDID(1));
    exanet_shm_set(t, TGEN_CFG, EXANET_TGEN_GO |
                   RNIC_PREP(EXANET_TGEN_ENTRIES, 1));
}

ExanetPacket initiator_take_load(ExanetTest *t, uint64_t offset, unsigned size)
{
    g_autofree ExanetRxPacket *rx =
        exanet_peer_take_type(t->peer, EXANET_TYPE_AXI_READ);
    ExanetPacket pkt = rx->pkt;

    g_assert_cmphex(pkt.va, ==, INITIATOR_PEER_VA + offset);
    g_assert_cmpuint(pkt.size, ==, size);
    g_assert_cmpuint(RNIC_GET(EXANET_STID_CLASS, pkt.tid), ==, EXANET_SHM_LOAD);
    return pkt;
}

void initiator_assert_no_error(ExanetTest *t)
{
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, 0);
    g_assert_cmpuint(exanet_count(t, SHM_ESCALATED), ==, 0);
    g_assert_false(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
}

void initiator_assert_error(ExanetTest *t, uint64_t gva,
                            enum exanet_shm_class class, enum exanet_resp resp,
                            unsigned retries)
{
    exanet_wait(t, exanet_shm_get(t, SHM_ERR_INFO) & EXANET_SHM_ERR_VALID);
    g_assert_cmphex(exanet_shm_get(t, SHM_ERR_INFO), ==, EXANET_SHM_ERR_VALID |
                    RNIC_PREP(EXANET_SHM_ERR_CODE, resp) |
                    RNIC_PREP(EXANET_SHM_ERR_RETRIES, retries) |
                    RNIC_PREP(EXANET_SHM_ERR_CLASS, class));
    g_assert_cmphex(exanet_get64(t, EXANET_SHM + EXANET_REG_SHM_ERR_GVA), ==,
                    gva);
    g_assert_true(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    g_assert_true(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_ERROR);
    exanet_shm_set(t, SHM_ERR_INFO, EXANET_SHM_ERR_VALID);
    g_assert_false(exanet_get32(t, EXANET_REG_IRQ_CAUSE) & EXANET_IRQ_SHM);
    g_assert_false(exanet_shm_get(t, SHM_STATUS) & EXANET_SHM_STATUS_ERROR);
}

void initiator_link_set(ExanetTest *t, bool up)
{
    exanet_set32(t, EXANET_PORT(0) + EXANET_REG_PORT_CTRL,
                 up ? EXANET_PORT_CTRL_ENABLE : 0);
    if (up) {
        exanet_peer_hello(t->peer, false);
    }
    exanet_wait(t, !!(exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_STATUS) &
                      EXANET_PORT_STATUS_UP) == up);
}
