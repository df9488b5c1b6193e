/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of the VELO requester and slots of mailboxes, against vectors and limits. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "extoll-vectors.h"

static void fill(ExtollVeloMsg *msg)
{
    for (unsigned i = 0; i < msg->count * 8; i++) {
        msg->data[i] = i + 1;
    }
}

static void test_vector_address(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(message_vectors); i++) {
        const ExtollVeloMsg *want = &message_vectors[i].msg;
        ExtollVeloMsg got;
        unsigned offset;

        g_assert_cmphex(extoll_velo_address_encode(want), ==, message_vectors[i].address);
        g_assert_cmpint(extoll_velo_address_decode(message_vectors[i].address, 8, &got,
                                                   &offset), ==, EXTOLL_VELO_OK);
        g_assert_cmpuint(offset, ==, 0);
        g_assert_cmpuint(got.dst_node, ==, want->dst_node);
        g_assert_cmpuint(got.dst_vpid, ==, want->dst_vpid);
        g_assert_cmpuint(got.src_vpid, ==, want->src_vpid);
        g_assert_cmpuint(got.mtt, ==, want->mtt);
        g_assert_cmpuint(got.quadwords, ==, want->quadwords);
        g_assert_cmpuint(got.count, ==, want->quadwords);
        g_assert_true(got.end && !got.split && !got.first);
        /* software fills in neither the source node nor the protection id */
        g_assert_true(!got.src_node && !got.prot);
    }
}

static void test_vector_slots(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(message_vectors); i++) {
        ExtollVeloMsg msg = message_vectors[i].msg;
        unsigned slots = message_vectors[i].slots;
        struct extoll_slot got[2];

        fill(&msg);
        memset(got, 0x5a, sizeof(got));
        g_assert_cmpuint(extoll_velo_slots_encode(&msg, got), ==, slots);
        g_assert_cmpmem(got, slots * EXTOLL_SLOT_BYTES,
                        message_vectors[i].slot, slots * EXTOLL_SLOT_BYTES);
    }
}

/* A status word is never 0, also for a message of zeros from node 0. */
static void test_status_nonzero(void)
{
    ExtollVeloMsg msg = { .quadwords = 1, .count = 1 };
    struct extoll_slot slots[2];

    g_assert_cmpuint(extoll_velo_slots_encode(&msg, slots), ==, 1);
    g_assert_cmphex(le64_to_cpu(slots[0].status), !=, 0);
}

/* All sizes and places of stores, for all lengths of messages. */
static void test_stores(void)
{
    for (unsigned quadwords = 0; quadwords < 16; quadwords++) {
        for (unsigned at = 0; at < 64; at++) {
            for (unsigned size = 1; size <= 64; size++) {
                uint32_t address = RNIC_PREP(EXTOLL_VELO_ADDR_QUADWORDS, quadwords) | at;
                ExtollVeloMsg msg = { .mtt = 9 };
                unsigned offset = 99;
                ExtollVeloStatus want = EXTOLL_VELO_OK;

                if (size != 4 && size != 8 && size != 16) {
                    want = EXTOLL_VELO_BAD_SIZE;
                } else if (quadwords < 1 || quadwords > 8) {
                    want = EXTOLL_VELO_BAD_LENGTH;
                } else if (at % size || at + size > 8 * quadwords) {
                    want = EXTOLL_VELO_BAD_PLACE;
                }
                g_assert_cmpint(extoll_velo_address_decode(address, size, &msg, &offset),
                                ==, want);
                g_assert_cmpuint(offset, ==, want == EXTOLL_VELO_OK ? at : 99);
                g_assert_cmpuint(msg.mtt, ==, want == EXTOLL_VELO_OK ? 0 : 9);
            }
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extoll/velo/vector-address", test_vector_address);
    g_test_add_func("/extoll/velo/vector-slots", test_vector_slots);
    g_test_add_func("/extoll/velo/status-nonzero", test_status_nonzero);
    g_test_add_func("/extoll/velo/stores", test_stores);
    return g_test_run();
}
