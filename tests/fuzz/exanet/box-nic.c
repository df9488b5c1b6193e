/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The NIC of exanet-box; see box-nic.h.  This file also checks each frame that the
 * device sends.
 */
#include "box-nic.h"
#include "qapi/error.h"
#include "qemu/units.h"
#include "hw/rnic/exanet/class.h"
#include "hw/rnic/exanet/exanet.h"
#include "hw/rnic/link/port.h"
#include "hw/rnic/exanet/qom.h"
#include "hw/rnic/exanet/engine/walk.h"
#include "hw/rnic/exanet/base/wire.h"
#include "hw/rnic/core/netdev.h"

#define CTX_PAGES   (CTX_BYTES / 4096)
#define TABLE_AT(c) (CTXS * CTX_BYTES + (c) * 4 * 4096)
#define PATTERN     0x5a            /* content of the hostile processes' memory */
#define ITERATIONS  5000 /* limit of the main loop's iterations after an operation */
/*
 * Limits of the device's work after an operation: WORK_MIN, and WORK_EACH for each packet
 * that the neighbours have sent since the start of the program, because many of these
 * packets may have waited for room in the device.
 */
#define WORK_MIN    8192
#define WORK_EACH   4
#define LIVE_MAX    (192 * MiB)
/* limit of the accelerator's operations in one iteration of the main loop */
#define ITERATION_OPS 4096
/* limit of the time until a job ends that has CTRL cleared */
#define ACCEL_NS    (180 * NANOSECONDS_PER_SECOND)
/* time after the last poll at which a series of polls has ended */
#define SERIES_MAX_NS (500 * SCALE_US)

struct BoxNic {
    DeviceState dev;
    ExanetState exanet;
};

static const uint32_t peers[BOX_WIRES] = { HONEST_NODE, EVIL_NODE };

Box box;

/* --- RAM that changes ------------------------------------------------------------- */

/*
 * The device reads RAM through pointers, which box-memory.c does not see.  The linker
 * replaces these functions of the device (--wrap), so that a byte may change after each
 * read of a process' memory, and between translation and use.
 */
enum exanet_resp __wrap_exanet_context_read(ExanetState *s, unsigned c, uint64_t va,
                                            void *buf, size_t len, uint64_t *fault_va)
{
    enum exanet_resp resp = __real_exanet_context_read(s, c, va, buf, len, fault_va);

    box.work.reads++;
    box_ram_was_read();
    return resp;
}

enum exanet_resp __wrap_exanet_walk(const ExanetWalk *w, uint64_t va, bool write,
                                    ExanetLeaf *leaf)
{
    enum exanet_resp resp = __real_exanet_walk(w, va, write, leaf);

    box.work.walks++;
    box_ram_was_read();
    return resp;
}

/* --- Registers -------------------------------------------------------------------- */

void nic_mmio_set(unsigned bar, hwaddr at, uint64_t value, unsigned size)
{
    box_access(BOX_BAR(bar) + at, &value, size, true);
}

uint64_t nic_mmio_get(unsigned bar, hwaddr at, unsigned size)
{
    uint64_t value = 0;

    box_access(BOX_BAR(bar) + at, &value, size, false);
    return value;
}

void nic_reg32(hwaddr at, uint32_t value)
{
    nic_mmio_set(EXANET_BAR_REGS, at, value, 4);
}

void nic_reg64(hwaddr at, uint64_t value)
{
    nic_mmio_set(EXANET_BAR_REGS, at, value, 8);
}

hwaddr nic_user_at(unsigned c, unsigned page, hwaddr at)
{
    return (c * EXANET_USER_PAGES + page) * 4096 + at;
}

void nic_user64(unsigned c, unsigned page, hwaddr at, uint64_t value)
{
    nic_mmio_set(EXANET_BAR_USER, nic_user_at(c, page, at), value, 8);
}

void nic_message(unsigned c, unsigned channel, uint64_t gva, uint64_t ctrl)
{
    hwaddr at = channel * EXANET_PKTZ_BYTES;

    nic_user64(c, EXANET_PAGE_PACKETIZER, at + EXANET_PKTZ_PAYLOAD, 0x1122334455667788);
    nic_user64(c, EXANET_PAGE_PACKETIZER, at, gva);
    nic_user64(c, EXANET_PAGE_PACKETIZER, at + EXANET_PKTZ_CTRL,
               (ctrl & ~EXANET_PKTZ_SIZE) | EXANET_PKTZ_GO |
               RNIC_PREP(EXANET_PKTZ_SIZE, 8));
}

/* --- Work ------------------------------------------------------------------------- */

static uint64_t accel_ops(void)
{
    return nic_mmio_get(EXANET_BAR_REGS, EXANET_SHM + EXANET_REG_ACCEL_OPS, 8);
}

/*
 * Runs the device like box_run(), and asserts that one iteration has a limited number of
 * operations of the accelerator, because all other units wait during it.  Returns true
 * when no work is left, and false after ITERATIONS or if the device is unplugged.
 */
static bool kernel_run(void)
{
    for (unsigned i = 0; i < ITERATIONS && !box.gone; i++) {
        uint64_t before = accel_ops();

        if (box_run(1)) {
            return true;
        }
        if (!box.gone && accel_ops() > before) {
            g_assert_cmpuint(accel_ops() - before, <=, ITERATION_OPS);
        }
    }
    return false;
}

/* Asserts that a port without packets to deliver has flushed the queue of its netdev. */
static void flushes_check(void)
{
    for (unsigned i = 0; i < BOX_WIRES && !box.gone; i++) {
        g_assert_true(!box_wire_refused(i) || rnic_port_rx_words(&box.s->port[i]));
    }
}

static void work_check(void)
{
    unsigned limit = WORK_MIN + WORK_EACH * box.given;

    if (!box.kernel) {
        g_assert_cmpuint(box.work.packets, <=, limit);
        g_assert_cmpuint(box.work.reads, <=, limit);
        g_assert_cmpuint(box.work.walks, <=, limit);
    }
    memset(&box.work, 0, sizeof(box.work));
}

void nic_settle(void)
{
    bool ended = box.kernel && !box.gone ? kernel_run() : box_run(ITERATIONS);

    g_assert_true(ended || box.kernel);
    g_assert_cmpuint(box_live_bytes(), <, LIVE_MAX);
    if (ended) {
        flushes_check();
    }
    work_check();
}

void nic_step(int64_t ns)
{
    bool ended;

    if (ns >= SERIES_MAX_NS && !box.gone) {
        /* the timer of the series counts real time, and a step takes almost none */
        exanet_series_end(&box.s->polls);
    }
    ended = box_step(ns, ITERATIONS);
    g_assert_true(ended || box.kernel);
    memset(&box.work, 0, sizeof(box.work));
}

void nic_accel_end(void)
{
    int64_t end = box_now() + ACCEL_NS;

    box.irq = 0;
    nic_reg32(EXANET_SHM + EXANET_REG_ACCEL_CTRL, 0);
    while (nic_mmio_get(EXANET_BAR_REGS, EXANET_SHM + EXANET_REG_ACCEL_STATUS, 4) &
           EXANET_ACCEL_STATUS_BUSY) {
        g_assert_cmpint(box_now(), <, end);
        nic_step(NANOSECONDS_PER_SECOND);
    }
}

/* --- The kernel ------------------------------------------------------------------- */

static void table_entry(uint64_t table, unsigned index, uint64_t value)
{
    stq_le_p(box_ram + table + 8 * index, value);
}

/* Writes x86-64 page tables for context @c, which map CTX_BYTES from VA 0. */
static void tables_make(unsigned c)
{
    const uint64_t flags = 0x67;    /* present, writable, user, accessed, dirty */
    uint64_t top = TABLE_AT(c);

    for (unsigned level = 0; level < 3; level++) {
        table_entry(top + level * 4096, 0, (top + (level + 1) * 4096) | flags);
    }
    for (unsigned i = 0; i < CTX_PAGES; i++) {
        table_entry(top + 3 * 4096, i, (DATA_AT(c) + i * 4096) | flags);
    }
}

uint16_t nic_pdid(unsigned c)
{
    return RNIC_PREP(EXANET_PDID_JOB, box.job[c]) | RNIC_PREP(EXANET_PDID_CTX, c);
}

void nic_ctx_open(unsigned c, uint16_t job)
{
    hwaddr base = EXANET_CTX(c);

    box.job[c] = job;
    nic_reg64(base + EXANET_REG_CTX_PGD, TABLE_AT(c));
    nic_reg32(base + EXANET_REG_CTX_PDID, RNIC_PREP(EXANET_PDID_JOB, job));
    nic_reg64(base + EXANET_CTX_WIN(0), EXANET_WIN_VALID);
    nic_reg32(base + EXANET_REG_CTX_CTRL, EXANET_CTX_CTRL_EN |
              RNIC_PREP(EXANET_CTX_CTRL_FORMAT, EXANET_FORMAT_X86_4));
}

void nic_ctx_close(unsigned c)
{
    hwaddr base = EXANET_CTX(c);
    uint32_t ctrl = nic_mmio_get(EXANET_BAR_REGS, base + EXANET_REG_CTX_CTRL, 4);
    int64_t end = box_now() + HOLD_NS;

    if (!(ctrl & EXANET_CTX_CTRL_EN)) {
        return;
    }
    nic_reg32(base + EXANET_REG_CTX_CTRL, ctrl | EXANET_CTX_CTRL_QUIESCE);
    nic_copies_drop(c);
    while (!(nic_mmio_get(EXANET_BAR_REGS, base + EXANET_REG_CTX_STATUS, 4) &
             EXANET_CTX_STATUS_QUIESCED) && box_now() < end) {
        nic_step(10 * SCALE_MS);
    }
    if (!box.kernel) {
        g_assert_cmpint(box_now(), <, end);
    }
    nic_reg32(base + EXANET_REG_CTX_CTRL, 0);
}

void nic_segment(unsigned m, unsigned c, uint32_t coord, uint64_t va,
                 uint32_t ctrl)
{
    hwaddr base = EXANET_SHM_MAP(m);

    nic_reg64(base + EXANET_REG_SHM_MAP_OFFSET, m * SEGMENT);
    nic_reg64(base + EXANET_REG_SHM_MAP_SIZE, SEGMENT);
    nic_reg64(base + EXANET_REG_SHM_MAP_GVA, RNIC_PREP(EXANET_GVA_COORD, coord) |
              (va & EXANET_GVA_VA & ~0xfffULL));
    nic_reg64(base + EXANET_REG_SHM_MAP_CTRL, EXANET_SHM_MAP_VALID |
              (ctrl & (EXANET_SHM_MAP_READ | EXANET_SHM_MAP_EARLY)) |
              EXANET_SHM_MAP_WRITE | RNIC_PREP(EXANET_SHM_MAP_CTX, c) |
              RNIC_PREP(EXANET_SHM_MAP_PDID, RNIC_PREP(EXANET_PDID_JOB, box.job[c]) |
                        (ctrl & EXANET_PDID_CTX)));
}

void nic_faults_resolve(unsigned count, uint16_t good)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t info;

        if (!nic_mmio_get(EXANET_BAR_REGS, EXANET_FAULT + EXANET_REG_FAULT_COUNT, 4)) {
            return;
        }
        info = nic_mmio_get(EXANET_BAR_REGS, EXANET_FAULT + EXANET_REG_FAULT_INFO, 8);
        nic_reg32(EXANET_FAULT + EXANET_REG_FAULT_POP, 1);
        nic_reg64(EXANET_FAULT + EXANET_REG_FAULT_RESOLVE,
                  EXANET_RESOLVE(info, good >> (i % 16) & 1));
    }
}

/* --- The cables ------------------------------------------------------------------- */

void nic_frame_send(unsigned wire, unsigned kind, unsigned vc, const void *words,
                    unsigned count)
{
    uint32_t coord = le32_to_cpu(box.hello[wire].coord);
    g_autofree struct rnic_frame *f =
        g_malloc0(sizeof(*f) + count * EXANET_WORD_BYTES);

    /* a frame has more packets only if the packets are small */
    box.given += 1 + count / (EXANET_PACKET_BYTES / EXANET_WORD_BYTES);
    memset(f->dst, 0xff, sizeof(f->dst));
    f->src[0] = EXANET_MAC_PREFIX >> 16;
    f->src[1] = EXANET_MAC_PREFIX >> 8 & 0xff;
    f->src[2] = EXANET_MAC_PREFIX & 0xff;
    f->src[3] = coord >> 16;
    f->src[4] = coord >> 8;
    f->src[5] = coord;
    stl_be_p(f->src + 2, coord);
    f->src[2] = EXANET_MAC_PREFIX & 0xff;
    f->ethertype = cpu_to_be16(RNIC_ETHERTYPE);
    f->version = RNIC_LINK_VERSION;
    f->kind = kind;
    f->vc = vc;
    f->count = cpu_to_le16(count);
    memcpy(f + 1, words, count * EXANET_WORD_BYTES);
    box_frame(wire, f, sizeof(*f) + count * EXANET_WORD_BYTES);
}

void nic_hello_send(unsigned wire, uint8_t heard)
{
    struct rnic_hello h = box.hello[wire];

    if (heard) {
        h.flags |= RNIC_HELLO_HEARD;
        h.peer_epoch = heard;
    }
    nic_frame_send(wire, RNIC_LINK_HELLO, 0, &h, 1);
}

unsigned nic_packet_encode(uint8_t *buf, const ExanetPacket *pkt)
{
    memset(buf, 0, EXANET_PACKET_BYTES);
    switch (pkt->type) {
    case EXANET_TYPE_ACK:
        exanet_ack_encode(buf, pkt);
        return 1;
    case EXANET_TYPE_FLOW_RATE:
        exanet_flow_rate_encode(buf, pkt);
        return 1;
    default:
        if (pkt->size && pkt->payload && pkt->type != EXANET_TYPE_AXI_READ) {
            memcpy(exanet_packet_payload(buf, pkt->va), pkt->payload, pkt->size);
        }
        return exanet_packet_encode(buf, pkt);
    }
}

unsigned nic_run_encode(uint8_t *buf, const ExanetPacket *pkt, unsigned packets,
                        uint8_t byte)
{
    ExanetPacket run = *pkt;

    memset(exanet_run_payload(buf), byte, packets * EXANET_MTU);
    run.packets = packets;
    run.size = EXANET_MTU;
    return exanet_run_encode(buf, &run);
}

void nic_packet_send(unsigned wire, const ExanetPacket *pkt)
{
    uint8_t buf[EXANET_PACKET_BYTES];

    nic_frame_send(wire, RNIC_LINK_DATA, 0, buf, nic_packet_encode(buf, pkt));
}

/*
 * Handles @pkt as the honest node or as FAR_NODE: answers a request, stores the data of
 * a store of 8 bytes, counts acks and nacks of block box.tid.
 */
static void honest_take(const ExanetPacket *pkt)
{
    ExanetPacket answer = {
        .type = EXANET_TYPE_ACK, .dst = pkt->src, .src = pkt->dst,
        .pdid = pkt->pdid & EXANET_PDID_CTX, .tid = pkt->tid, .seq = pkt->seq,
        .small = RNIC_GET(EXANET_FTR_USER_SMALL, pkt->user), .epoch = pkt->epoch,
    };

    switch (pkt->type) {
    case EXANET_TYPE_ACK:
        if (pkt->small == EXANET_SMALL(EXANET_NI_RT_RESPONSE) &&
            pkt->tid == box.tid) {
            *(pkt->resp ? &box.nacks : &box.acks) += 1;
            box.resp = pkt->resp;
        }
        return;
    case EXANET_TYPE_AXI_READ:
    case EXANET_TYPE_AXI_WRITE:
        if (pkt->type == EXANET_TYPE_AXI_WRITE && pkt->size == 8) {
            box.stored = ldq_le_p(pkt->payload);
        }
        answer = (ExanetPacket) {
            .type = EXANET_TYPE_AXI_RESPONSE, .dst = pkt->src, .src = pkt->dst,
            .epoch = PEER_EPOCH, .ttl = EXANET_TTL_MAX, .pdid = pkt->pdid,
            .tid = pkt->tid, .seq = pkt->seq,
            .va = EXANET_NI_VA(EXANET_NI_SHM) | (pkt->va & (EXANET_MTU - 1)),
            .user = pkt->user & (EXANET_SHM_USER_RETRIES | EXANET_SHM_USER_JOINED),
            .size = pkt->type == EXANET_TYPE_AXI_READ ? pkt->size : 0,
            .payload = box_ram,
        };
        break;
    case EXANET_TYPE_WRITE:
    case EXANET_TYPE_READ_REQ:
    case EXANET_TYPE_NOTIFY:
        if (!pkt->last && pkt->type == EXANET_TYPE_WRITE &&
            pkt->small == EXANET_SMALL(EXANET_NI_RT_RESPONSE)) {
            return;
        }
        break;
    default:
        return;
    }
    nic_packet_send(HONEST, &answer);
}

bool nic_is_secret(uint64_t value, unsigned size)
{
    return (size == sizeof(uint64_t) && value == SECRET) ||
           (size == sizeof(uint32_t) &&
            (value == (uint32_t)SECRET || value == SECRET >> 32));
}

/*
 * Does not call memmem(), because libFuzzer copies the arguments of memmem() into
 * inputs.  memchr() is fast, because most memory does not contain the first byte of the
 * secret.
 */
bool nic_has_secret(const uint8_t *at, size_t len)
{
    const uint8_t *end = at + len;

    while (end - at >= (ptrdiff_t)sizeof(uint64_t)) {
        at = memchr(at, (uint8_t)SECRET, end - at - (sizeof(uint64_t) - 1));
        if (!at) {
            return false;
        }
        if (ldq_le_p(at) == SECRET) {
            return true;
        }
        at++;
    }
    return false;
}

/*
 * Asserts that a packet of the device for the honest node does not leave by the cable
 * of the hostile node.  Asserts nothing once the honest node's cable was blocked.
 */
static void evil_check(const ExanetPacket *pkt)
{
    if (!box.blocked && pkt->src == NODE) {
        g_assert_cmphex(pkt->dst, !=, HONEST_NODE);
    }
}

/*
 * Asserts that a frame of the device holds whole packets only, and that a frame to the
 * hostile node does not contain the secret.  Gives packets for the honest nodes to
 * honest_take().  With the kernel's rights only honest_take() is left.
 */
static void packets_check(unsigned wire, const uint8_t *at, unsigned words)
{
    if (wire == EVIL && !box.kernel) {
        g_assert_false(nic_has_secret(at, words * EXANET_WORD_BYTES));
    }
    while (words) {
        ExanetWireStatus status;
        bool run = exanet_run_word(at);
        unsigned n = run ? exanet_run_packets(at, &status) :
                           exanet_packet_words(at, &status);
        ExanetPacket pkt;

        n = run && n ? exanet_run_words(n) : n;
        if (box.kernel && (!n || n > words)) {
            return;                 /* a register can make the port damage packets */
        }
        g_assert_cmpuint(n, >, 0);
        g_assert_cmpuint(n, <=, words);
        g_assert_true(box.flags & EXANET_BOX_RUNS || !run);
        box.work.packets += run ? exanet_run_packets(at, &status) : 1;
        if ((run ? exanet_run_decode(at, &pkt) : exanet_packet_decode(at, n, &pkt)) ==
            EXANET_WIRE_OK) {
            g_assert_true(!pkt.no_crc ||
                          (wire == EVIL && box.flags & EXANET_BOX_NO_CRC));
            if (wire == EVIL && !box.kernel) {
                evil_check(&pkt);
            } else if (wire == HONEST &&
                       (pkt.dst == HONEST_NODE || pkt.dst == FAR_NODE)) {
                honest_take(&pkt);
            }
        }
        at += n * EXANET_WORD_BYTES;
        words -= n;
    }
}

static void frame_sent(unsigned wire, const uint8_t *frame, size_t len)
{
    struct rnic_frame f;
    struct rnic_hello h;
    unsigned words;

    g_assert_cmpuint(len, >=, sizeof(f));
    memcpy(&f, frame, sizeof(f));
    words = le16_to_cpu(f.count);
    g_assert_cmpuint(len, ==, sizeof(f) + words * EXANET_WORD_BYTES);
    if (f.kind == RNIC_LINK_HELLO) {
        g_assert_cmpuint(words, ==, 1);
        memcpy(&h, frame + sizeof(f), sizeof(h));
        if (box.hello[wire].max_words) {
            nic_hello_send(wire, h.epoch);
        }
    } else if (f.kind == RNIC_LINK_DATA) {
        packets_check(wire, frame + sizeof(f), words);
    }
}

/* --- Life ------------------------------------------------------------------------- */

static void nic_irq(void *opaque, unsigned vector)
{
    uint8_t what = box.irq;

    g_assert_cmpuint(vector, <, EXANET_VECTORS);
    g_assert_false(box.gone);
    box.irq = 0;
    switch (what % 8) {
    case 1:
        nic_reg32(box.irq_reg % EXANET_REGS_BYTES & ~3u, box.irq_value);
        break;
    case 2:
        nic_user64(box.irq_reg % CTXS, box.irq_reg >> 8 & 3, box.irq_reg >> 12 & 0xff8,
                   box.irq_value);
        break;
    case 3:
        exanet_reset(box.s);        /* function-level reset */
        break;
    case 4:
        box.gone = true;            /* power of the slot goes off */
        exanet_fini(box.s);
        break;
    }
}

static void nic_finalize(Object *obj)
{
    exanet_instance_fini(&((BoxNic *)obj)->exanet);
}

static void *nic_state(Object *obj)
{
    return &((BoxNic *)obj)->exanet;
}

static void nic_class_init(ObjectClass *klass, RNicClassData *data)
{
    exanet_qom_class_init(klass, nic_state);
}

static void nic_type_register(void)
{
    static const TypeInfo type = {
        .name = "exanet-box",
        .parent = TYPE_OBJECT,
        .instance_size = sizeof(BoxNic),
        .instance_finalize = nic_finalize,
        .class_init = nic_class_init,
    };
    static bool done;

    if (!done) {
        type_register_static(&type);
        done = true;
    }
}

/* Sets the properties of @s by flags EXANET_BOX_NAMED to EXANET_BOX_RATE of @flags. */
static void nic_configure(ExanetState *s, uint8_t flags)
{
    static const struct {
        const char *name, *dims, *routes;
    } routers[] = {
        { 0 },
        { .dims = "8x1" },
        { .name = "arithmetic" },
        { .name = "table",
          .routes = "0x4/0x3fffff>0;0x3/0x3fffff>0;0x406/0x3fffff>0+1;0/0>1" },
    };
    unsigned router = RNIC_GET(EXANET_BOX_ROUTER, flags);

    s->router_name = (char *)routers[router].name;
    s->dims = (char *)routers[router].dims;
    s->routes = (char *)routers[router].routes;
    s->runs = flags & EXANET_BOX_RUNS;
    s->shm_timing = flags & EXANET_BOX_TIMING;
    if (flags & EXANET_BOX_RATE) {
        s->link_rate_kbps = 10000000;
        s->link_latency_ns = 500;
    }
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        s->port[i].peer_named = flags & EXANET_BOX_NAMED ? peers[i] : RNIC_PEER_ANY;
    }
}

static void nic_new(uint8_t flags)
{
    static const Property props[] = { EXANET_PROPERTIES(BoxNic, exanet) };
    RNicHost host = { .as = &address_space_memory, .irq = nic_irq };
    ExanetState *s;

    box.nic = (BoxNic *)object_new("exanet-box");
    box.s = s = &box.nic->exanet;
    box.nic->dev.realized = true;
    host.dev = &box.nic->dev;
    box_properties(box.nic, props, ARRAY_SIZE(props));
    nic_configure(s, flags);
    s->coord = NODE;
    s->epoch_fixed = 81;
    s->tlb_entries = 256;
    s->aperture_size = APERTURE;
    s->bram_size = 64 * KiB;
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        s->port[i].conf.peers.ncs[0] = box_wire(i);
        box_wire(i)->model = i == EVIL && flags & EXANET_BOX_NO_CRC ?
                             (char *)TYPE_RNIC_CABLE : NULL;
    }
    exanet_init(s, &host, &error_abort);
    box_bar(EXANET_BAR_REGS, &s->regs_mr);
    box_bar(EXANET_BAR_USER, &s->user_mr);
    box_bar(EXANET_BAR_APERTURE, &s->aperture_mr);
    exanet_reset(s);
}

void nic_end(void)
{
    box_bars_remove();
    if (!box.gone) {
        exanet_fini(box.s);
    }
    box_run(ITERATIONS);
    if (box.nic) {
        g_assert_cmpuint(OBJECT(box.nic)->ref, ==, 1);
        object_unref(OBJECT(box.nic));
    }
    box_net_reset(NULL);
    box_memory_reset();
}

void nic_unplug(void)
{
    box.gone = true;
    box_bars_remove();
    exanet_fini(box.s);
    box_run(ITERATIONS);
    object_unref(OBJECT(box.nic));
    box.nic = NULL;
    box.s = NULL;
}

void nic_secret_fill(uint64_t va, size_t len)
{
    for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
        stq_le_p(box_ram + DATA_AT(HONEST_CTX) + va + i, SECRET);
    }
}

/*
 * Fills RAM: the pattern for hostile processes, the secret for the honest process, and
 * the page tables.
 */
static void memory_make(void)
{
    memset(box_ram, 0, BOX_RAM_BYTES);
    memset(box_ram, PATTERN, DATA_AT(HONEST_CTX));
    nic_secret_fill(0, CTX_BYTES);
    for (unsigned c = 0; c < CTXS; c++) {
        tables_make(c);
    }
}

static void neighbours_make(void)
{
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        box.hello[i] = (struct rnic_hello) {
            .coord = cpu_to_le32(peers[i]), .epoch = PEER_EPOCH,
            .rx_words = cpu_to_le32(16384), .max_words = cpu_to_le32(4032),
            .flags = (box.flags & EXANET_BOX_RUNS ? EXANET_HELLO_RUNS : 0) |
                     (i == EVIL && box.flags & EXANET_BOX_NO_CRC ?
                      EXANET_HELLO_NO_CRC : 0),
        };
    }
}

/*
 * Enables the device, waits for @ns, opens the contexts, and asserts that the links are
 * up.
 */
static void bring_up(int64_t ns)
{
    nic_reg32(EXANET_REG_IRQ_MASK, EXANET_IRQ_ALL);
    nic_reg32(EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    nic_step(ns);
    for (unsigned c = 0; c < CTXS; c++) {
        nic_ctx_open(c, c == HONEST_CTX ? HONEST_JOB : 1 + c);
    }
    g_assert_true(box.s->port[HONEST].up && box.s->port[EVIL].up);
}

void nic_start(uint8_t flags)
{
    box_init();
    nic_type_register();
    memset(&box, 0, sizeof(box));
    box.flags = flags;
    box.kernel = flags & EXANET_BOX_KERNEL;
    box_loop_reset();
    box_memory_reset();
    box_net_reset(frame_sent);
    memory_make();
    neighbours_make();
    nic_new(flags);
    bring_up(200 * SCALE_MS);
}

/* Cancels box_flip(), makes all of RAM accessible, and fills RAM again. */
static void memory_restore(void)
{
    box_flip(0, 0, 0);
    box_ram_was_read();
    box_remap(BOX_RAM_BYTES);
    memory_make();
}

void nic_restart(void)
{
    memory_restore();
    neighbours_make();
    memset(box.copy, 0, sizeof(box.copy));
    box.kernel = false;
    exanet_reset(box.s);
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        box_wire_block(i, false);
    }
    nic_settle();
    bring_up(HOLD_NS);
    box.blocked = false;
}
