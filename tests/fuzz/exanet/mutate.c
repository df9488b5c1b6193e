/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libFuzzer's mutator for programs of exanet-box.  A new operation has mostly values that
 * the device accepts.
 */
#include "../records.h"
#include "box-program.h"
#include "rnic/exanet/desc.h"
#include "rnic/exanet/wire.h"

#define BYTES EXANET_BOX_OP_BYTES

static void op_make(uint8_t *at, bool whole, GRand *rand);

static bool one_in(GRand *rand, unsigned n)
{
    return g_rand_int_range(rand, 0, n) == 0;
}

/*
 * Stores the exponent of the repetitions, a power of 2: mostly at most 4 repetitions,
 * sometimes more than a table has entries.
 */
static void repeats_make(uint8_t *at, GRand *rand)
{
    *at = g_rand_int_range(rand, 0, 3);
    if (one_in(rand, 8)) {
        *at = g_rand_int_range(rand, 0, 10);
    } else if (one_in(rand, 16)) {
        *at = g_rand_int_range(rand, 10, 15);
    }
}

/*
 * Makes the coordinates of a node, and the distance to the coordinates of the next
 * node.  @stride may be NULL.
 */
static void nodes_make(uint8_t *coord, uint8_t *stride, GRand *rand)
{
    if (!one_in(rand, 4)) {
        coord[3] &= ~0x80;          /* selects a near node */
    } else if (!one_in(rand, 3)) {
        stl_le_p(coord, 0x80000000 + g_rand_int_range(rand, 0, 0x40));
    }
    if (stride && !one_in(rand, 4)) {
        stw_le_p(stride, g_rand_int_range(rand, 0, 3));
    }
}

static void packets_make(uint8_t *at, GRand *rand)
{
    repeats_make(at, rand);
    nodes_make(at + 3, at + 7, rand);
    at[1] &= one_in(rand, 4) ? 0xff : ~EXANET_BOX_BARE;
    if (one_in(rand, 2)) {
        static const uint8_t small[] = {
            EXANET_NI_PACKETIZER, EXANET_NI_RT_RESPONSE, EXANET_NI_SHM, EXANET_NI_EXADMA,
        };

        stw_le_p(at + 22, EXANET_SMALL(small[g_rand_int_range(rand, 0,
                                                              ARRAY_SIZE(small))]));
    }
    /* at[24] & 0x80: the packet is damaged, which is rare */
    at[24] &= one_in(rand, 8) ? 0xff : 0x7f;
}

static void hello_make(uint8_t *at, GRand *rand)
{
    nodes_make(at, NULL, rand);
    at[4] &= one_in(rand, 4) ? 0xff : ~3;
    if (one_in(rand, 2)) {
        at[5] = 33;                 /* the epoch of the honest node */
    }
}

static void messages_make(uint8_t *at, GRand *rand)
{
    repeats_make(at, rand);
    nodes_make(at + 2, at + 6, rand);
    if (one_in(rand, 2)) {
        stq_le_p(at + 8, EXANET_NI_VA(EXANET_NI_MAILBOX));
    }
    if (!one_in(rand, 4)) {
        at[17] = (at[17] & 0xf0) | EXANET_TYPE_WRITE;
    }
}

static void channel_make(uint8_t *at, GRand *rand)
{
    at[1] &= EXANET_WRITE_CHANNELS - 1;
    nodes_make(at + 2, NULL, rand);
    /* the source VA; most of this range is mapped */
    stl_le_p(at + 6, g_rand_int_range(rand, 0, 0x9000));
    if (!one_in(rand, 4)) {
        stl_le_p(at + 16, ldl_le_p(at + 16) & 0xf);
    }
}

static void accel_make(uint8_t *at, GRand *rand)
{
    nodes_make(at + 2, NULL, rand);
    for (unsigned i = 7; i < 11; i++) {     /* sizes: most arrays fit into block RAM */
        at[i] = g_rand_int_range(rand, 0, one_in(rand, 4) ? 256 : 8);
    }
}

static void segments_make(uint8_t *at, GRand *rand)
{
    repeats_make(at, rand);
    nodes_make(at + 2, at + 6, rand);
}

/*
 * Makes the arguments of BOX_OP_CDMA: mostly VAs in or near the memory of the contexts.
 */
static void cdma_make(uint8_t *at, GRand *rand)
{
    if (!one_in(rand, 4)) {
        at[2] %= 4;                 /* the context at the remote node */
    }
    for (unsigned side = 0; side < 2; side++) {
        nodes_make(at + 3 + side * 12, NULL, rand);
        if (!one_in(rand, 8)) {
            stq_le_p(at + 7 + side * 12, g_rand_int_range(rand, 0, 0x20000) &
                     (one_in(rand, 2) ? ~0 : ~7));
        }
    }
    stl_le_p(at + 27, g_rand_int_range(rand, 1, one_in(rand, 8) ? 0x40000 : 0x1000));
}

/*
 * Makes the arguments of BOX_OP_STORE: in two of three cases a poll with a new
 * operation inside, else a store.
 */
static void store_make(uint8_t *at, GRand *rand)
{
    uint8_t op[BYTES];

    if (one_in(rand, 3)) {
        at[4] &= ~EXANET_BOX_POLL;
        return;
    }
    at[4] |= EXANET_BOX_POLL;
    op_make(op, false, rand);
    memcpy(at + EXANET_BOX_STORE_BYTES, op, BYTES - 1 - EXANET_BOX_STORE_BYTES);
}

/*
 * Makes a new operation at @at.  If @whole, a store may be a poll with a second
 * operation inside.
 */
static void op_make(uint8_t *at, bool whole, GRand *rand)
{
    for (unsigned i = 0; i < BYTES; i++) {
        at[i] = g_rand_int(rand);
    }
    at[0] = g_rand_int_range(rand, 0, BOX_OP_OPS);
    switch (at[0]) {
    case BOX_OP_PACKETS:
        packets_make(at + 1, rand);
        break;
    case BOX_OP_HELLO:
        hello_make(at + 1, rand);
        break;
    case BOX_OP_STORE:
        if (whole) {
            store_make(at + 1, rand);
        }
        break;
    case BOX_OP_MESSAGES:
        messages_make(at + 1, rand);
        break;
    case BOX_OP_CHANNEL:
        channel_make(at + 1, rand);
        break;
    case BOX_OP_FLIP:
        at[1] %= 16;
        break;
    case BOX_OP_SEGMENTS:
        segments_make(at + 1, rand);
        break;
    case BOX_OP_CDMA:
        cdma_make(at + 1, rand);
        break;
    case BOX_OP_ACCEL:
        accel_make(at + 1, rand);
        break;
    }
}

static void record_make(uint8_t *at, GRand *rand)
{
    op_make(at, true, rand);
}

static bool flags_change(uint8_t *flags, uint8_t *at, GRand *rand)
{
    static const uint8_t bits[] = {
        EXANET_BOX_KERNEL, EXANET_BOX_KERNEL, EXANET_BOX_NAMED, EXANET_BOX_RUNS,
        EXANET_BOX_TIMING, EXANET_BOX_RATE, EXANET_BOX_NO_CRC,
    };
    unsigned i = g_rand_int_range(rand, 0, ARRAY_SIZE(bits) + 2);

    if (!one_in(rand, 8)) {
        return false;
    }
    if (i < ARRAY_SIZE(bits)) {
        *flags ^= bits[i];
    } else {
        *flags = (*flags & ~EXANET_BOX_ROUTER) |
                 RNIC_PREP(EXANET_BOX_ROUTER, g_rand_int_range(rand, 0, 4));
    }
    return true;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed)
{
    static const FuzzRecords records = { BYTES, record_make, flags_change };

    return fuzz_records_mutate(&records, data, size, max_size, seed);
}
