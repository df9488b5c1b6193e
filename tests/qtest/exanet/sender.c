/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device that sends single packets; see sender.h. */
#include "qemu/osdep.h"
#include "sender.h"

#define SRC EXANET_RAM_SRC
#define DST EXANET_RAM_DST

/* Sends packet @n, which always has the same bytes. */
static void packet_send(ExanetSender *x, unsigned n)
{
    ExanetDesc d = {
        .src = SRC + n * EXANET_MTU,
        .dst = exanet_gva(EXANET_TEST_PEER, DST + n * EXANET_MTU),
        .len = EXANET_MTU, .pdid = EXANET_TEST_PDID(0),
    };

    exanet_desc_write(x->t, n, &d);
    exanet_wait(x->t, exanet_desc_get(x->t, n, 3) & EXANET_DESC_W3_DONE);
}

void exanet_sender_wait(ExanetSender *x, unsigned words)
{
    exanet_wait(x->t, x->dump->len >= words * EXANET_WORD_BYTES);
    exanet_settle(x->t);
    g_assert_cmpuint(x->dump->len, ==, words * EXANET_WORD_BYTES);
}

ExanetSender *exanet_sender_start(const char *props)
{
    ExanetSender *x = g_new0(ExanetSender, 1);

    x->t = exanet_start_external(props);
    x->t->peer->dump = x->dump = g_byte_array_new();
    exanet_fill(x->t, SRC, NULL, EXANET_SENDER_PACKETS * EXANET_MTU, 11);
    return x;
}

ExanetSender *exanet_sender_start_small(void)
{
    ExanetSender *x = exanet_sender_start("");

    x->t->peer->max_words = EXANET_PACKET_WORDS;
    exanet_peer_hello(x->t->peer, true);
    exanet_settle(x->t);
    return x;
}

ExanetSender *exanet_sender_new(void)
{
    ExanetSender *x = exanet_sender_start("");

    for (unsigned n = 0; n < EXANET_SENDER_PACKETS; n++) {
        packet_send(x, n);
    }
    exanet_sender_wait(x, EXANET_SENDER_PACKETS * EXANET_PACKET_WORDS);
    memcpy(x->clean, x->dump->data, sizeof(x->clean));
    g_byte_array_set_size(x->dump, 0);
    return x;
}

void exanet_sender_free(ExanetSender *x)
{
    exanet_stop(x->t);
    g_byte_array_unref(x->dump);
    g_free(x);
}

void exanet_sender_play(ExanetSender *x, const char *packets)
{
    for (; *packets; packets++) {
        packet_send(x, *packets - 'a');
    }
}

void exanet_sender_expect(ExanetSender *x, const char *packets)
{
    exanet_sender_wait(x, strlen(packets) * EXANET_PACKET_WORDS);
    for (unsigned i = 0; packets[i]; i++) {
        g_assert_cmpmem(x->dump->data + i * EXANET_PACKET_BYTES,
                        EXANET_PACKET_BYTES, x->clean[packets[i] - 'a'],
                        EXANET_PACKET_BYTES);
    }
    g_byte_array_set_size(x->dump, 0);
}
