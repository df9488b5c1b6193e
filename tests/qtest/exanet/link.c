/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port of a device with one cable; see link.h. */
#include "qemu/osdep.h"
#include "link.h"

bool exanet_link_is(ExanetTest *t, uint32_t bits)
{
    return (exanet_get32(t, EXANET_PORT(0) + EXANET_REG_PORT_STATUS) & bits) == bits;
}

uint64_t exanet_link_count(ExanetTest *t, unsigned reg)
{
    return exanet_get64(t, EXANET_PORT(0) + reg);
}

void exanet_link_assert_works(ExanetTest *t, unsigned tid)
{
    static const uint8_t data[600] = { 1, 2, 3 };
    ExanetBlock b = {
        .va = EXANET_RAM_DST, .data = data, .len = sizeof(data), .tid = tid,
        .pdid = EXANET_TEST_PDID(0),
    };

    exanet_peer_send_block(t->peer, &b);
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, tid, 0), ==,
                     EXANET_RESP_ACK);
    exanet_assert_mem(t, EXANET_RAM_DST, data, sizeof(data));
}

void exanet_link_send_acks(ExanetTest *t, unsigned words)
{
    g_autofree uint8_t *buf = g_malloc0(words * EXANET_WORD_BYTES);
    ExanetPacket ack = {
        .type = EXANET_TYPE_ACK, .dst = EXANET_TEST_NODE,
        .small = EXANET_SMALL(EXANET_NI_RT_RESPONSE), .tid = 1,
    };

    for (unsigned i = 0; i < words; i++) {
        exanet_ack_encode(buf + i * EXANET_WORD_BYTES, &ack);
    }
    exanet_peer_words(t->peer, buf, words);
}
