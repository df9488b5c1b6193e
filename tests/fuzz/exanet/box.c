/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ExaNet NIC in a box: programs of frames, stores, registers and time; see
 * box-program.h.  Besides the sanitizers, the target asserts after each operation:
 *
 *   - memory is bounded, and all of it is freed at the end;
 *   - a poll of a vCPU reaches the device, and ends after 4 us;
 *   - a program without the kernel's rights: bottom halves and frames end;
 *   - a program with the kernel's rights: each turn of the main loop does a limited
 *     number of the accelerator's operations.  The traffic generator may work for ever.
 *
 * The following holds during a program without the kernel's rights.  After a program
 * with them, the job of the accelerator must end; then the target resets the device, and
 * from then on the following holds, too:
 *
 *   - the device changes memory of hostile processes only; the secret in the memory of
 *     the honest process reaches no memory or load of theirs, and not the hostile node;
 *   - packets for the honest node leave by the cable of the honest node, while this
 *     cable works;
 *   - the device accepts a block of the honest node: at once if each set of receiver
 *     contexts has a free or an idle one, else within 5 s; the same is true of a node
 *     behind it, unless the hostile node has sent packets in the name of that node;
 *     the honest process can send messages, stores, transfers and copies by CDMA to the
 *     honest node;
 *   - each transfer ends in bounded time, without a close of its context; each copy by
 *     CDMA ends within 60 s if the kernel answers page faults;
 *   - a closed context becomes quiet, and its next owner can send a message to the
 *     honest node; 61 s after the close of all contexts the device is quiescent, what
 *     nic_tables_check() says holds, and each context can also store to the honest node.
 */
#include "box-honest.h"
#include "qemu/units.h"
#include "hw/rnic/exanet/engine/context.h"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/exanet/base/wire.h"

#define REPEATS     24000           /* limit of all repetitions in one program */
#define OPS_MAX     256

/* --- Operations ------------------------------------------------------------------- */

/*
 * Returns how often an operation is done: a power of 2, or what is left of REPEATS;
 * counts these repetitions.
 */
static unsigned repeats(FuzzInput *in)
{
    unsigned n = 1u << (fuzz_u8(in) % 15);

    n = MIN(n, REPEATS - box.repeats);
    box.repeats += n;
    return n;
}

/* Returns coordinates that @raw selects, mostly those of a near node. */
static uint32_t coord_of(uint32_t raw)
{
    static const uint32_t near[] = {
        HONEST_NODE, EVIL_NODE, NODE, 0x007, 0x016, 0x406,
    };

    return raw & 0x80000000 ? raw & EXANET_COORD_MASK :
           near[raw % ARRAY_SIZE(near)];
}

/*
 * Makes @pkt a READ_REQ of its source, for bytes from VA @va of this node on.  @raw:
 * length / 64, and the context modulo CTXS + 1.  @payload: buffer that gets the
 * request.
 */
static void read_request(ExanetPacket *pkt, uint8_t *payload, uint64_t va, uint8_t raw)
{
    uint64_t to = RNIC_PREP(EXANET_GVA_COORD, pkt->src);
    struct exanet_read_req req = {
        .src = cpu_to_le64(va),
        .dst = cpu_to_le64(to | pkt->tid << 4),
        .notify_gva = cpu_to_le64(to | (pkt->first ? EXANET_NI_VA(EXANET_NI_MAILBOX) :
                                        0x40)),
        .ctrl = cpu_to_le64(RNIC_PREP(EXANET_READ_REQ_LENGTH, raw << 6) |
                            RNIC_PREP(EXANET_READ_REQ_OWNER, raw % (CTXS + 1)) |
                            RNIC_PREP(EXANET_READ_REQ_NOTIFY, pkt->notify) |
                            RNIC_PREP(EXANET_READ_REQ_IRQ, pkt->last)),
    };

    memcpy(payload, &req, EXANET_READ_REQ_USER_BYTES);
    pkt->size = EXANET_READ_REQ_USER_BYTES;
    pkt->va = EXANET_NI_VA(EXANET_NI_RT_REQUEST);
    pkt->user = EXANET_SMALL(EXANET_NI_PACKETIZER);
}

/*
 * Gives @pkt the source @src and a job that a packet of this source may have.  Only the
 * first packet of an operation (@again false) may have the honest node as its source.
 */
static void packet_limit(ExanetPacket *pkt, uint32_t src, bool again)
{
    pkt->src = src & EXANET_COORD_MASK;
    if (again && pkt->src == HONEST_NODE) {
        pkt->src = EVIL_NODE;
    }
    box.far_named |= pkt->src == FAR_NODE;
    /*
     * packets of other nodes get another job, because packets with the honest job may
     * change the memory of the honest process
     */
    if (RNIC_GET(EXANET_PDID_JOB, pkt->pdid) == HONEST_JOB && pkt->src != HONEST_NODE) {
        pkt->pdid ^= RNIC_PREP(EXANET_PDID_JOB, 1);
    }
}

static void op_packets(FuzzInput *in)
{
    static const uint8_t types[] = {
        EXANET_TYPE_WRITE, EXANET_TYPE_RELEASE, EXANET_TYPE_CONTROL,
        EXANET_TYPE_AXI_READ, EXANET_TYPE_AXI_WRITE, EXANET_TYPE_NOTIFY,
        EXANET_TYPE_READ_REQ, EXANET_TYPE_ACK, EXANET_TYPE_AXI_RESPONSE,
        EXANET_TYPE_FLOW_RATE,
    };
    unsigned n = repeats(in);
    uint8_t type = fuzz_u8(in), flags = fuzz_u8(in);
    uint32_t src = coord_of(fuzz_u32(in)), stride = fuzz_u16(in);
    static uint8_t buf[(EXANET_RUN_MAX + 2) * EXANET_MTU];
    uint8_t payload[EXANET_MTU];
    ExanetPacket pkt = {
        .type = types[type % ARRAY_SIZE(types)],
        .dst = flags & 0x80 ? HONEST_NODE : NODE, .ttl = EXANET_TTL_MAX,
        .first = flags & 1, .last = flags & 2, .notify = flags & 4,
        .epoch = flags & 8 ? box.hello[EVIL].epoch : PEER_EPOCH,
        .no_crc = type & EXANET_BOX_BARE, .payload = payload,
    };
    uint8_t damage;
    uint64_t va;

    pkt.pdid = fuzz_u16(in);
    pkt.tid = fuzz_u16(in);
    pkt.size = fuzz_u8(in) + 1;
    pkt.va = fuzz_u64(in);
    pkt.user = fuzz_u16(in);
    damage = fuzz_u8(in);
    memset(payload, damage, sizeof(payload));
    if (flags & 0x40) {
        unsigned c = src == HONEST_NODE ? HONEST_CTX : flags >> 4 & 1;

        pkt.pdid = nic_pdid(c);
    }
    if (flags & 0x20) {
        pkt.va &= CTX_BYTES - 1;    /* a mapped VA of a context */
    }
    va = pkt.va;
    if (pkt.type == EXANET_TYPE_ACK && flags & 8) {
        pkt.epoch = box.s->epoch;
    }
    pkt.small = RNIC_GET(EXANET_FTR_USER_SMALL, pkt.user);
    pkt.resp = pkt.user >> 12;
    pkt.vc = pkt.user >> 10 & 3;
    pkt.flow_dst = src;
    pkt.desired = pkt.current = damage;
    if (pkt.type == EXANET_TYPE_RELEASE) {
        pkt.size = 0;
    }
    pkt.size = MIN(pkt.size, EXANET_MTU - (pkt.va & (EXANET_MTU - 1)));
    for (unsigned i = 0; i < n; i++) {
        unsigned words;

        packet_limit(&pkt, src, i);
        if (pkt.type == EXANET_TYPE_READ_REQ && flags & 0x20) {
            read_request(&pkt, payload, va, damage);
        }
        words = type & EXANET_BOX_RUN && pkt.type == EXANET_TYPE_WRITE ?
                nic_run_encode(buf, &pkt, 2 + pkt.tid % EXANET_RUN_MAX, damage) :
                nic_packet_encode(buf, &pkt);
        if (damage & 0x80 && n == 1) {
            buf[pkt.tid % (words * EXANET_WORD_BYTES)] ^= damage;
        }
        nic_frame_send(EVIL, RNIC_LINK_DATA, pkt.vc, buf, words);
        src += stride;
        pkt.tid += flags & 0x10 ? 1 : 0;
        if (i % 64 == 63) {
            nic_settle();
        }
    }
}

static void op_hello(FuzzInput *in)
{
    struct rnic_hello *h = &box.hello[EVIL];
    uint8_t flags;

    h->coord = cpu_to_le32(coord_of(fuzz_u32(in)));
    flags = fuzz_u8(in);
    h->epoch = fuzz_u8(in);
    h->max_words = cpu_to_le32(flags & 1 ? fuzz_u16(in) : 4032);
    nic_hello_send(EVIL, flags & 2 ? 0 : box.s->epoch);
    if (flags & 4) {
        h->coord = cpu_to_le32(EVIL_NODE);
    }
}

static void op_link(FuzzInput *in)
{
    uint8_t kind = fuzz_u8(in), vc = fuzz_u8(in), junk[64];
    unsigned len = fuzz_u8(in) % sizeof(junk);

    fuzz_bytes(in, junk, len);
    if (kind & 0x80) {
        box_frame(EVIL, junk, len);
    } else {
        nic_frame_send(EVIL, kind % 7, vc % 5, junk, len / EXANET_WORD_BYTES);
    }
}

/* --- Polls ------------------------------------------------------------------------ */

/*
 * Limit of releases of the big lock in one poll, with the polls of other vCPUs during
 * it.
 */
#define RELEASES_MAX 8

static void op_do(FuzzInput *in, ExanetBoxOp op);

/*
 * The operation that happens while the poll of context @ctx has released the lock.
 * @now: this operation runs.
 */
static struct {
    FuzzInput in;
    unsigned ctx;
    bool now;
} during;

static void other_operation(void)
{
    uint8_t op = fuzz_u8(&during.in) % (box.kernel ? BOX_OP_OPS : BOX_OP_PROCESS_OPS);

    if (box.gone) {
        return;
    }
    during.now = true;
    op_do(&during.in, op);
    during.now = false;
    box_met |= op == BOX_OP_RESET ? BOX_MET_RESET :
               op == BOX_OP_UNPLUG ? BOX_MET_UNPLUG : 0;
    if (!box.gone && !box.s->ctx[during.ctx].enabled) {
        box_met |= BOX_MET_CLOSE;
    }
}

/*
 * Stores to POLL of context @c by a vCPU, as a process does that has found no message;
 * the vCPU then takes frames.  The rest of @in is the operation that happens during the
 * poll.
 */
static void op_poll(FuzzInput *in, unsigned c, uint8_t how, uint64_t value)
{
    const ExanetContext *ctx = &box.s->ctx[c];
    const uint64_t *count = box.s->counter;
    uint64_t polls = count[EXANET_CNT_POLL] + (ctx->enabled && !ctx->quiesce);
    uint64_t frames = count[EXANET_CNT_RX_POLLED];
    unsigned releases = box_releases();
    bool outer = !during.now;

    if (outer) {
        during.in = *in;
        during.ctx = c;
        box_meanwhile(RNIC_GET(EXANET_BOX_RELEASES, how), other_operation);
    } else {
        box_met |= BOX_MET_POLL;
    }
    if (outer && how & EXANET_BOX_EXCLUSIVE) {
        box_vcpu_exclusive();
    } else {
        box_vcpu(true);
    }
    nic_mmio_set(EXANET_BAR_USER,
                 nic_user_at(c, EXANET_PAGE_MAILBOX, EXANET_MAILBOX_POLL), value,
                 1 << how % 4);
    box_vcpu(false);
    g_assert_cmpuint(box_releases() - releases, <=, RELEASES_MAX);
    if (outer) {
        box_meanwhile(0, NULL);
    }
    if (!box.kernel) {
        g_assert_cmpuint(count[EXANET_CNT_POLL], >=, polls);
    }
    if (!box.gone && count[EXANET_CNT_RX_POLLED] > frames) {
        box_met |= BOX_MET_FRAME;
    }
}

/* Asserts that the corpus has caused each event of BOX_MET_ALL. */
void fuzz_reached(void)
{
    g_assert_cmphex(box_met, ==, BOX_MET_ALL);
}

static void op_store(FuzzInput *in)
{
    unsigned c = fuzz_u8(in) % EVIL_CTXS, page = fuzz_u8(in) % EXANET_PAGE_INFO;
    uint16_t at = fuzz_u16(in) & 0xfff;
    uint8_t how = fuzz_u8(in);
    unsigned size = 1 << how % 4;
    uint64_t value = fuzz_u64(in);

    if (how & EXANET_BOX_POLL) {
        op_poll(in, c, how, value);
        return;
    }
    box_vcpu(how & EXANET_BOX_VCPU);
    nic_mmio_set(EXANET_BAR_USER, nic_user_at(c, page, at & ~(size - 1)), value, size);
    box_vcpu(false);
}

static void op_messages(FuzzInput *in)
{
    unsigned n = repeats(in), c = fuzz_u8(in) % EVIL_CTXS;
    uint32_t dst = coord_of(fuzz_u32(in)), stride = fuzz_u16(in);
    uint64_t va = fuzz_u64(in), ctrl = fuzz_u32(in);

    for (unsigned i = 0; i < n; i++) {
        nic_message(c, i % EXANET_PKTZ_CHANNELS,
                    RNIC_PREP(EXANET_GVA_COORD, dst) | (va & EXANET_GVA_VA), ctrl);
        dst += stride;
        if (i % 16 == 15) {
            nic_settle();
        }
    }
}

static void op_channel(FuzzInput *in)
{
    unsigned c = fuzz_u8(in) % EVIL_CTXS, channel = fuzz_u8(in) % 64;
    hwaddr at = channel * EXANET_CHANNEL_BYTES;
    uint32_t dst = coord_of(fuzz_u32(in));
    uint64_t ctrl;

    nic_user64(c, EXANET_PAGE_SCRATCHPAD, at, fuzz_u32(in));
    nic_user64(c, EXANET_PAGE_SCRATCHPAD, at + 0x08,
               RNIC_PREP(EXANET_GVA_COORD, dst) | fuzz_u32(in));
    ctrl = fuzz_u16(in);
    ctrl |= (uint64_t)fuzz_u32(in) << 32;
    nic_user64(c, EXANET_PAGE_SCRATCHPAD, at + 0x10, ctrl);
    nic_user64(c, EXANET_PAGE_SCRATCHPAD, at + 0x18,
               RNIC_PREP(EXANET_GVA_COORD, dst) | fuzz_u32(in));
    nic_user64(c, EXANET_PAGE_SCRATCHPAD, at + EXANET_CHANNEL_DOORBELL,
               fuzz_u8(in) | 1);
}

static void op_segments(FuzzInput *in)
{
    unsigned n = repeats(in), c = fuzz_u8(in) % EVIL_CTXS;
    uint32_t dst = coord_of(fuzz_u32(in)), stride = fuzz_u16(in);
    uint64_t va = fuzz_u64(in);
    uint32_t ctrl = fuzz_u32(in);

    for (unsigned i = 0; i < n; i++) {
        unsigned m = i % 15;        /* segment 15 is for honest_store() */

        nic_segment(m, c, dst & EXANET_COORD_MASK, va, ctrl);
        nic_mmio_set(EXANET_BAR_APERTURE, m * SEGMENT, i, 8);
        dst += stride;
        if (m == 14 && n > 15) {
            nic_settle();
            nic_ctx_close(c);
            nic_ctx_open(c, box.job[c]);
        }
    }
}

static void op_aperture(FuzzInput *in)
{
    uint8_t how = fuzz_u8(in);
    bool write = how & 8;
    unsigned size = 1 << (how & 3);
    uint64_t at = fuzz_u32(in) % (2 * APERTURE), value = write ? fuzz_u64(in) : 0;

    if (how & 4 && how & 16) {
        box_vcpu_exclusive();
    } else {
        box_vcpu(how & 4);
    }
    box_access(BOX_BAR(EXANET_BAR_APERTURE) + at, &value, size, write);
    box_vcpu(false);
    g_assert_false(!write && !box.kernel && nic_is_secret(value, size));
}

static void op_cdma(FuzzInput *in)
{
    BoxCopy copy = { .ctx = fuzz_u8(in) % EVIL_CTXS };
    uint8_t flags = fuzz_u8(in);
    uint32_t coord;

    copy.src_remote = flags & EXANET_BOX_SRC_REMOTE;
    copy.dst_remote = flags & EXANET_BOX_DST_REMOTE;
    copy.dst_ctx = fuzz_u8(in) % EXANET_CONTEXTS;
    coord = coord_of(fuzz_u32(in));
    copy.src = fuzz_u64(in);
    if (copy.src_remote) {
        copy.src = RNIC_PREP(EXANET_GVA_COORD, coord) | (copy.src & EXANET_GVA_VA);
    }
    coord = coord_of(fuzz_u32(in));
    copy.dst = fuzz_u64(in);
    if (copy.dst_remote) {
        copy.dst = RNIC_PREP(EXANET_GVA_COORD, coord) | (copy.dst & EXANET_GVA_VA);
    }
    copy.bytes = fuzz_u32(in);
    nic_copy_start(&copy);
    nic_settle();
    if (flags & EXANET_BOX_COPY_ENDS && !during.now && !box.kernel) {
        nic_copies_end();
    }
}

static void op_open(FuzzInput *in)
{
    unsigned c = fuzz_u8(in) % EVIL_CTXS;
    uint16_t job = fuzz_u16(in) & 0xfff;

    nic_ctx_close(c);
    nic_ctx_open(c, job == HONEST_JOB ? 1 : job);
}

static void op_register(FuzzInput *in)
{
    static const uint32_t blocks[] = {
        EXANET_GLOBAL, EXANET_CTX(0), EXANET_PORT(0), EXANET_SWITCH, EXANET_RTMBOX,
        EXANET_FW, EXANET_FAULT, EXANET_SHM, EXANET_CDMA(0), EXANET_CDMA(1),
        EXANET_SHM + 0x400, EXANET_SHM + 0x800, EXANET_SHM + 0xc00,
    };
    unsigned at = blocks[fuzz_u8(in) % ARRAY_SIZE(blocks)];

    at += fuzz_u16(in) & 0x3f8;
    if (fuzz_u8(in) & 1) {
        nic_reg64(at, fuzz_u64(in));
    } else {
        at += fuzz_u8(in) & 4;
        nic_reg32(at, fuzz_u32(in));
    }
}

static void op_mmio(FuzzInput *in)
{
    static const uint8_t bars[] = {
        EXANET_BAR_REGS, EXANET_BAR_USER, EXANET_BAR_APERTURE,
    };
    uint8_t how = fuzz_u8(in);
    hwaddr at = fuzz_u32(in) % (2 * MiB);
    uint64_t value = fuzz_u64(in);

    box_access(BOX_BAR(bars[how % ARRAY_SIZE(bars)]) + at, &value, 1 << (how >> 6),
               how & 0x20);
}

/*
 * Returns the address of an array: an offset in block RAM, or (@remote) in the memory
 * of node @coord.
 */
static uint64_t array_at(uint16_t raw, bool remote, uint32_t coord)
{
    return (raw & ~7u) | (remote ? RNIC_PREP(EXANET_GVA_COORD, coord) : 0);
}

static void op_accel(FuzzInput *in)
{
    uint32_t remote = fuzz_u16(in) & EXANET_ACCEL_REMOTE_ALL;
    uint32_t coord = coord_of(fuzz_u32(in)), ndf;
    unsigned c = fuzz_u8(in) % CTXS;

    ndf = RNIC_PREP(EXANET_ACCEL_NDF1, 1 + fuzz_u8(in) % EXANET_ACCEL_NDF_MAX);
    ndf |= RNIC_PREP(EXANET_ACCEL_NDF2, 1 + fuzz_u8(in) % EXANET_ACCEL_NDF_MAX);
    nic_reg32(EXANET_SHM + EXANET_REG_ACCEL_NDF, ndf);
    nic_reg32(EXANET_SHM + EXANET_REG_ACCEL_NLAYERS, 1 + fuzz_u8(in));
    nic_reg32(EXANET_SHM + EXANET_REG_ACCEL_NCELLS, fuzz_u8(in));
    nic_reg32(EXANET_SHM + EXANET_REG_ACCEL_PDID,
              RNIC_PREP(EXANET_ACCEL_PDID_TARGET, nic_pdid(c)) |
              RNIC_PREP(EXANET_ACCEL_PDID_CTX, c));
    for (unsigned i = 0; i < 6; i++) { /* addresses of matrix, x, y, two maps, cells */
        nic_reg64(EXANET_SHM + EXANET_REG_ACCEL_MATRIX + 8 * i,
                  array_at(fuzz_u16(in), remote & EXANET_ACCEL_REMOTE_MATRIX << i,
                           coord));
    }
    nic_reg32(EXANET_SHM + EXANET_REG_ACCEL_CTRL, EXANET_ACCEL_GO | remote);
}

static void op_kernel(FuzzInput *in, ExanetBoxOp op)
{
    switch (op) {
    case BOX_OP_MMIO:
        op_mmio(in);
        break;
    case BOX_OP_RESET:
        exanet_reset(box.s);
        break;
    case BOX_OP_REMAP:
        box_remap(fuzz_u32(in) % (2 * BOX_RAM_BYTES));
        break;
    case BOX_OP_IRQ:
        box.irq = fuzz_u8(in);
        box.irq_reg = fuzz_u32(in);
        box.irq_value = fuzz_u32(in);
        break;
    case BOX_OP_UNPLUG:
        nic_unplug();
        break;
    case BOX_OP_ACCEL:
        op_accel(in);
        break;
    default:
        op_register(in);
    }
}

static void op_do(FuzzInput *in, ExanetBoxOp op)
{
    uint32_t at;
    uint8_t arg;

    switch (op) {
    case BOX_OP_PACKETS:
        op_packets(in);
        break;
    case BOX_OP_HELLO:
        op_hello(in);
        break;
    case BOX_OP_LINK:
        op_link(in);
        break;
    case BOX_OP_STORE:
        op_store(in);
        break;
    case BOX_OP_MESSAGES:
        op_messages(in);
        break;
    case BOX_OP_CHANNEL:
        op_channel(in);
        break;
    case BOX_OP_SEGMENTS:
        op_segments(in);
        break;
    case BOX_OP_APERTURE:
        op_aperture(in);
        break;
    case BOX_OP_CLOCK:
        nic_step(1LL << fuzz_u8(in) % 34);
        break;
    case BOX_OP_BLOCK:
        arg = fuzz_u8(in);
        box.blocked |= (arg & 1) == HONEST && arg & 2;
        box_wire_block(arg & 1, arg & 2);
        break;
    case BOX_OP_CLOSE:
        nic_ctx_close(fuzz_u8(in) % EVIL_CTXS);
        break;
    case BOX_OP_OPEN:
        op_open(in);
        break;
    case BOX_OP_FLIP:
        arg = fuzz_u8(in);
        at = fuzz_u16(in) % (EVIL_CTXS * CTX_BYTES);
        box_flip(arg, at, fuzz_u8(in));
        break;
    case BOX_OP_FAULTS:
        arg = fuzz_u8(in);
        nic_faults_resolve(arg % 32, fuzz_u16(in));
        break;
    case BOX_OP_CDMA:
        op_cdma(in);
        break;
    default:
        op_kernel(in, op);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    nic_start(fuzz_u8(&in));
    honest_block(HONEST_NODE);
    for (unsigned i = 0; in.left && !box.gone && i < OPS_MAX; i++) {
        uint8_t record[EXANET_BOX_OP_BYTES];
        FuzzInput op = { record + 1, sizeof(record) - 1 };

        fuzz_bytes(&in, record, sizeof(record));
        op_do(&op, record[0] % (box.kernel ? BOX_OP_OPS : BOX_OP_PROCESS_OPS));
        nic_settle();
        nic_copies_poll();
        if (!box.kernel) {
            memory_check();
        }
    }
    if (!box.gone) {
        if (box.kernel) {
            nic_accel_end();
            nic_restart();
        }
        honest_check();
    }
    nic_end();
    return 0;
}
