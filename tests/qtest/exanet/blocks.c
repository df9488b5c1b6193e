/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks to the receiver; see blocks.h. */
#include "qemu/osdep.h"
#include "../common/random.h"
#include "blocks.h"

uint16_t exanet_wire_tid(unsigned index, unsigned gen)
{
    return RNIC_PREP(EXANET_TID_INDEX, index) | RNIC_PREP(EXANET_TID_GEN, gen);
}

void exanet_random_bytes(uint8_t *data, size_t len, unsigned seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);

    random_bytes(rand, data, len);
}

ExanetBlock exanet_block_new(unsigned index, uint64_t va, unsigned len)
{
    uint8_t *data = g_malloc(len);

    exanet_random_bytes(data, len, index + va + len);
    return (ExanetBlock) {
        .va = va,
        .data = data,
        .len = len,
        .tid = exanet_wire_tid(index, 0),
        .pdid = EXANET_TEST_PDID(0),
    };
}

void exanet_block_free(ExanetBlock *b)
{
    g_free((void *)b->data);
}

void exanet_send_packet(ExanetTest *t, const ExanetBlock *b, unsigned n)
{
    exanet_peer_send_part(t->peer, b, n, n + 1);
}

void exanet_assert_resp(ExanetTest *t, const ExanetBlock *b,
                        enum exanet_resp resp)
{
    g_assert_cmpuint(exanet_peer_take_resp(t->peer, b->tid, b->seq), ==, resp);
}

void exanet_assert_acked(ExanetTest *t, const ExanetBlock *b)
{
    exanet_assert_resp(t, b, EXANET_RESP_ACK);
    exanet_assert_mem(t, b->va, b->data, b->len);
}

void exanet_send_acked(ExanetTest *t, const ExanetBlock *b)
{
    exanet_peer_send_block(t->peer, b);
    exanet_assert_acked(t, b);
}

void exanet_send_damaged(ExanetTest *t, const ExanetBlock *b, unsigned n,
                         enum exanet_damage where)
{
    ExanetPacket pkt = exanet_block_packet(t->peer, b, n);
    uint8_t buf[EXANET_PACKET_BYTES];
    unsigned words = exanet_peer_encode(buf, &pkt);

    switch (where) {
    case EXANET_DAMAGE_HEADER:
        buf[3] ^= 0x10;
        break;
    case EXANET_DAMAGE_PAYLOAD:
        buf[EXANET_WORD_BYTES + 9] ^= 0x01;
        break;
    case EXANET_DAMAGE_FOOTER:
        buf[(words - 1) * EXANET_WORD_BYTES + 2] ^= 0x80;
        break;
    }
    exanet_peer_words(t->peer, buf, words);
}

uint64_t exanet_note_info(unsigned len)
{
    return RNIC_PREP(EXANET_CONTROL_LENGTH, len) |
           RNIC_PREP(EXANET_CONTROL_HANDLE, EXANET_NOTE_HANDLE);
}

void exanet_note_clear(ExanetTest *t)
{
    qtest_memset(t->qts, EXANET_RAM_NOTE, 0,
                 sizeof(struct exanet_notification));
}

void exanet_assert_note(ExanetTest *t, uint64_t pa, uint64_t data,
                        unsigned len)
{
    g_assert_cmphex(qtest_readq(t->qts, pa), ==, data);
    g_assert_cmphex(qtest_readq(t->qts, pa + 8), ==,
                    EXANET_NOTIFICATION_VALID |
                    RNIC_PREP(EXANET_NOTIFICATION_LENGTH, len) |
                    RNIC_PREP(EXANET_NOTIFICATION_HANDLE, EXANET_NOTE_HANDLE));
}

void exanet_send_note(ExanetTest *t, const ExanetBlock *b, uint64_t data)
{
    exanet_peer_send_control(t->peer, b,
                             exanet_gva(EXANET_TEST_NODE, EXANET_RAM_NOTE),
                             data, exanet_note_info(b->len));
}
