/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guarantees for honest nodes and processes in exanet-box. */
#include "box-honest.h"
#include "hw/rnic/exanet/engine/receiver.h"
#include "hw/rnic/exanet/engine/receiver-source.h"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/link/port.h"
#include "hw/rnic/exanet/shm/shm.h"

#define TRANSFER    0x6000          /* bytes of the honest process' RDMA write */
#define TIMEOUT_NS  (5 * NANOSECONDS_PER_SECOND)    /* limit of honest work */
/* limit of the time without a transfer's end */
#define TRANSFER_NS (120 * NANOSECONDS_PER_SECOND)

/* Returns an array of CTX_BYTES that contains only the secret. */
static const uint8_t *secret_bytes(void)
{
    static uint8_t bytes[CTX_BYTES];

    if (!bytes[0]) {
        for (unsigned i = 0; i < CTX_BYTES; i += sizeof(uint64_t)) {
            stq_le_p(bytes + i, SECRET);
        }
    }
    return bytes;
}

void memory_check(void)
{
    g_assert_cmpmem(box_ram + DATA_AT(HONEST_CTX), CTX_BYTES, secret_bytes(), CTX_BYTES);
    g_assert_false(nic_has_secret(box_ram, DATA_AT(HONEST_CTX)));
}

/*
 * Returns true if the receiver must accept a block: each set of receiver contexts has a
 * context that is free or idle, and no packet of the hostile node can arrive before the
 * block.
 */
static bool receiver_has_room(void)
{
    const ExanetReceiver *r = &box.s->receiver;
    const RNicPort *evil = &box.s->port[EVIL];

    for (unsigned set = 0; set < EXANET_RX_CONTEXTS; set += EXANET_RX_WAYS) {
        unsigned used = 0;

        for (unsigned i = set; i < set + r->ways; i++) {
            used += r->ctx[i].valid && box_now() - r->ctx[i].time <= EXANET_RX_IDLE_NS;
        }
        if (used == r->ways) {
            return false;
        }
    }
    return !evil->rx_count && !evil->owner_words;
}

/*
 * Sends a copy of @pkt and waits at most TIMEOUT_NS for the response.  Returns true
 * after an ack.  Returns false after a nack, which must be NO_CONTEXT, and only if the
 * receiver had no room.
 */
static bool honest_copy(const ExanetPacket *pkt)
{
    int64_t end = box_now() + TIMEOUT_NS;
    bool room = receiver_has_room();

    box.acks = box.nacks = 0;
    nic_packet_send(HONEST, pkt);
    nic_step(SCALE_MS);
    /* earlier packets may wait for a neighbour without progress: link-stall-ms */
    while (!box.acks && !box.nacks && box_now() < end) {
        nic_step(50 * SCALE_MS);
    }
    g_assert_cmpuint(box.acks + box.nacks, ==, 1);
    if (box.nacks) {
        g_assert_cmpuint(box.resp, ==, EXANET_RESP_NO_CONTEXT);
        g_assert_false(room);
    }
    return box.acks;
}

void honest_block(uint32_t src)
{
    static const uint8_t data[64] = "a block of the honest node";
    ExanetPacket pkt = {
        .type = EXANET_TYPE_WRITE, .dst = NODE, .src = src,
        .epoch = PEER_EPOCH, .pdid = nic_pdid(HONEST_CTX), .ttl = EXANET_TTL_MAX,
        .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE), .first = true, .last = true,
        .va = 0x1000, .size = sizeof(data), .payload = data,
    };
    int64_t end = box_now() + TIMEOUT_NS;

    pkt.tid = ++box.tid;            /* a TID that differs from that of the last block */
    while (!honest_copy(&pkt)) {
        g_assert_cmpint(box_now(), <, end);
        pkt.seq++;
        nic_step(EXANET_RX_IDLE_NS);
    }
    g_assert_cmpmem(box_ram + DATA_AT(HONEST_CTX) + 0x1000, sizeof(data), data,
                    sizeof(data));
    nic_secret_fill(0x1000, sizeof(data));
}

static unsigned message_state(unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_PKTZSTAT_STATE,
                    nic_mmio_get(EXANET_BAR_USER, nic_user_at(c, EXANET_PAGE_PACKETIZER,
                                 channel * EXANET_PKTZ_BYTES + 0x10), 8));
}

/* Asserts that the honest node acks a message of context @c within TIMEOUT_NS. */
static void honest_message(unsigned c)
{
    int64_t end = box_now() + TIMEOUT_NS;

    nic_message(c, 15, RNIC_PREP(EXANET_GVA_COORD, HONEST_NODE) |
                EXANET_NI_VA(EXANET_NI_MAILBOX), EXANET_PKTZ_ACK |
                RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_WRITE));
    nic_settle();
    while (message_state(c, 15) == EXANET_PKTZ_WAITING && box_now() < end) {
        nic_step(50 * SCALE_MS);
    }
    g_assert_cmpuint(message_state(c, 15), ==, EXANET_PKTZ_ACKED);
}

/*
 * Asserts that an RDMA write of the honest process to the honest node ends within
 * TIMEOUT_NS.
 */
static void honest_transfer(void)
{
    int64_t end = box_now() + TIMEOUT_NS;
    unsigned state;

    nic_user64(HONEST_CTX, EXANET_PAGE_SCRATCHPAD, 0, 0x2000);
    nic_user64(HONEST_CTX, EXANET_PAGE_SCRATCHPAD, 0x08,
               RNIC_PREP(EXANET_GVA_COORD, HONEST_NODE) | 0x10000);
    nic_user64(HONEST_CTX, EXANET_PAGE_SCRATCHPAD, 0x10,
               RNIC_PREP(EXANET_CHANNEL_LENGTH, TRANSFER) | EXANET_CHANNEL_MULTIPATH);
    nic_user64(HONEST_CTX, EXANET_PAGE_SCRATCHPAD, EXANET_CHANNEL_DOORBELL, 1);
    nic_settle();
    do {
        state = RNIC_GET(EXANET_CHSTAT_STATE,
                         nic_mmio_get(EXANET_BAR_USER, nic_user_at(HONEST_CTX,
                                      EXANET_PAGE_SCRATCHPAD, 0x30), 8));
        nic_step(10 * SCALE_MS);
    } while ((state == EXANET_CHANNEL_QUEUED || state == EXANET_CHANNEL_ACTIVE) &&
             box_now() < end);
    g_assert_cmpuint(state, ==, EXANET_CHANNEL_DONE);
}

/*
 * Asserts that a store of context @c to the honest node arrives within TIMEOUT_NS,
 * without a new error.
 */
static void honest_store(unsigned c)
{
    uint32_t errors = exanet_shm_errors(box.s, c);
    uint64_t value = 0x600d000000000000 + c;
    int64_t end = box_now() + TIMEOUT_NS;

    box.stored = 0;
    nic_segment(15, c, HONEST_NODE, 0x2000, 0);
    nic_mmio_set(EXANET_BAR_APERTURE, 15 * SEGMENT, value, 8);
    nic_settle();
    while (box.stored != value && box_now() < end) {
        nic_step(50 * SCALE_MS);
    }
    g_assert_cmphex(box.stored, ==, value);
    g_assert_cmpuint(exanet_shm_errors(box.s, c), ==, errors);
}

/*
 * Asserts that a copy of 8 bytes by CDMA from the honest process to the honest node
 * arrives within TIMEOUT_NS.  All other copies have ended.
 */
static void honest_cdma(void)
{
    const BoxCopy copy = {
        .ctx = HONEST_CTX, .src = 0x3000, .bytes = sizeof(uint64_t), .dst_remote = true,
        .dst = RNIC_PREP(EXANET_GVA_COORD, HONEST_NODE) | 0x2000,
    };
    int64_t end = box_now() + TIMEOUT_NS;
    int ch;

    box.stored = 0;
    ch = nic_copy_start(&copy);
    g_assert_cmpint(ch, >=, 0);
    nic_settle();
    while (nic_copy_busy(ch) && box_now() < end) {
        nic_step(50 * SCALE_MS);
    }
    g_assert_false(nic_copy_busy(ch));
    g_assert_cmphex(box.stored, ==, SECRET);
    nic_copies_poll();
}

/*
 * Asserts that all transfers end without a close of their contexts, and answers their
 * page faults.  Reads for other nodes wait in a queue until earlier reads have ended,
 * so the time limit starts again when this queue becomes shorter.
 */
static void transfers_end(void)
{
    int64_t end = box_now() + TRANSFER_NS;
    unsigned waiting = nic_reads_waiting();

    while (!(nic_mmio_get(EXANET_BAR_REGS, EXANET_REG_STATUS, 4) &
             EXANET_STATUS_QUIESCENT)) {
        if (nic_reads_waiting() < waiting) {
            waiting = nic_reads_waiting();
            end = box_now() + TRANSFER_NS;
        }
        g_assert_cmpint(box_now(), <, end);
        nic_faults_resolve(32, 0);
        nic_step(100 * SCALE_MS);
    }
}

/*
 * Makes the hostile node use its own coordinates, if the device believes that the honest
 * node is at the hostile cable.  Asserts that this happens only if the honest cable was
 * blocked and no property peerN names the neighbours, because the device reserves the
 * coordinates of a neighbour for a limited time after the loss of its link.
 */
static void impostor_end(void)
{
    if (box.s->port[EVIL].up && box.s->port[EVIL].peer == HONEST_NODE) {
        g_assert_true(box.blocked);
        g_assert_false(box.flags & EXANET_BOX_NAMED);
        box.hello[EVIL].coord = cpu_to_le32(EVIL_NODE);
        nic_hello_send(EVIL, box.s->epoch);
        nic_step(RESERVED_NS);
    }
}

void honest_check(void)
{
    memory_check();
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        box_wire_block(i, false);
    }
    nic_settle();
    impostor_end();
    honest_block(HONEST_NODE);
    if (!box.far_named) {
        honest_block(FAR_NODE);
    }
    honest_message(HONEST_CTX);
    honest_store(HONEST_CTX);
    honest_transfer();
    nic_copies_end();
    honest_cdma();
    memory_check();
    transfers_end();
    for (unsigned c = 0; c < CTXS; c++) {
        nic_ctx_close(c);
        nic_ctx_open(c, HONEST_JOB);
        honest_message(c);
        nic_ctx_close(c);
    }
    nic_step(HOLD_NS);
    g_assert_true(nic_mmio_get(EXANET_BAR_REGS, EXANET_REG_STATUS, 4) &
                  EXANET_STATUS_QUIESCENT);
    nic_tables_check();
    g_assert_true(box.s->port[HONEST].up);
    for (unsigned c = 0; c < CTXS; c++) {
        nic_ctx_open(c, HONEST_JOB);
        honest_message(c);
        honest_store(c);
    }
    honest_block(HONEST_NODE);
    memory_check();
}
