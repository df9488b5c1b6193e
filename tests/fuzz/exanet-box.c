/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ExaNet NIC in a box: programs of frames, stores, registers and time; see
 * exanet-box.h.  Besides the sanitizers, the target asserts:
 *
 *   - work ends: bottom halves and frames, after each operation;
 *   - memory is bounded, and all of it is freed at the end;
 *   - the device changes memory of hostile processes only, unless the program used the
 *     kernel's rights;
 *   - the device accepts a block of the honest node while a receiver context is free;
 *   - a closed context becomes quiet, and its next owner can send a message to the
 *     honest node; 61 s after the close of all contexts the device is quiescent, and
 *     each context can also store to the honest node.
 */
#include "box.h"
#include "exanet-box.h"
#include "qapi/error.h"
#include "qemu/units.h"
#include "hw/rnic/exanet/class.h"
#include "hw/rnic/exanet/receiver.h"
#include "hw/rnic/exanet/shm.h"
#include "rnic/exanet/desc.h"
#include "system/stats.h"

#define NODE        0x005
#define HONEST_NODE 0x004
#define EVIL_NODE   0x006
#define PEER_EPOCH  33
#define HONEST      0               /* cables */
#define EVIL        1

#define EVIL_CTXS   2
#define HONEST_CTX  2
#define CTXS        3
#define HONEST_JOB  77
#define CTX_BYTES   0x8000          /* bytes of RAM, mapped at VA 0 */
#define CTX_PAGES   (CTX_BYTES / 4096)
#define DATA_AT(c)  ((c) * CTX_BYTES)
#define TABLE_AT(c) (CTXS * CTX_BYTES + (c) * 4 * 4096)
#define PATTERN     0x5a

#define TURNS       5000            /* limit of main loop turns after one operation */
#define REPEATS     24000           /* limit of repetitions, of all operations together */
#define OPS_MAX     256
#define LIVE_MAX    (192 * MiB)
#define APERTURE    (64 * KiB)
#define SEGMENT     0x1000
#define HOLD_NS     (61 * NANOSECONDS_PER_SECOND)
#define PATIENCE_NS (5 * NANOSECONDS_PER_SECOND)

typedef struct BoxNic {
    DeviceState dev;
    ExanetState exanet;
} BoxNic;

static struct {
    BoxNic *nic;
    ExanetState *s;
    bool kernel;                    /* EXANET_BOX_KERNEL */
    bool gone;
    unsigned repeats;
    uint8_t irq;                    /* effect of the next interrupt */
    uint32_t irq_reg, irq_value;
    uint16_t job[CTXS];
    /* State of the neighbours. */
    struct exanet_hello hello[BOX_WIRES];
    unsigned acks, nacks;           /* acks to blocks of the honest node */
    uint64_t stored;                /* the last store to the honest node */
    uint16_t tid;
} box;

/* --- Other functions that the device needs ---------------------------------------- */

void add_stats_callbacks(StatsProvider provider, StatRetrieveFunc *stats_fn,
                         SchemaRetrieveFunc *schemas_fn)
{
}

void add_stats_entry(StatsResultList **list, StatsProvider provider,
                     const char *path, StatsList *stats_list)
{
    g_assert_not_reached();
}

void add_stats_schema(StatsSchemaList **list, StatsProvider provider,
                      StatsTarget target, StatsSchemaValueList *values)
{
    g_assert_not_reached();
}

bool apply_str_list_filter(const char *string, strList *list)
{
    g_assert_not_reached();
}

/* --- Registers -------------------------------------------------------------------- */

static void mmio_set(unsigned bar, hwaddr at, uint64_t value, unsigned size)
{
    box_access(BOX_BAR(bar) + at, &value, size, true);
}

static uint64_t mmio_get(unsigned bar, hwaddr at, unsigned size)
{
    uint64_t value = 0;

    box_access(BOX_BAR(bar) + at, &value, size, false);
    return value;
}

static void reg32(hwaddr at, uint32_t value)
{
    mmio_set(EXANET_BAR_REGS, at, value, 4);
}

static void reg64(hwaddr at, uint64_t value)
{
    mmio_set(EXANET_BAR_REGS, at, value, 8);
}

static hwaddr user_at(unsigned c, unsigned page, hwaddr at)
{
    return (c * EXANET_USER_PAGES + page) * 4096 + at;
}

static void user64(unsigned c, unsigned page, hwaddr at, uint64_t value)
{
    mmio_set(EXANET_BAR_USER, user_at(c, page, at), value, 8);
}

/* Runs the device until all work has ended. */
static void settle(void)
{
    bool ended = box_run(TURNS);

    g_assert_true(ended || box.kernel);
    g_assert_cmpuint(box_live_bytes(), <, LIVE_MAX);
}

static void step(int64_t ns)
{
    bool ended = box_step(ns, TURNS);

    g_assert_true(ended || box.kernel);
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

static uint16_t pdid(unsigned c)
{
    return RNIC_PREP(EXANET_PDID_JOB, box.job[c]) | RNIC_PREP(EXANET_PDID_CTX, c);
}

static void ctx_open(unsigned c, uint16_t job)
{
    hwaddr base = EXANET_CTX(c);

    box.job[c] = job;
    reg64(base + EXANET_REG_CTX_PGD, TABLE_AT(c));
    reg32(base + EXANET_REG_CTX_PDID, RNIC_PREP(EXANET_PDID_JOB, job));
    reg64(base + EXANET_CTX_WIN(0), EXANET_WIN_VALID);
    reg32(base + EXANET_REG_CTX_CTRL, EXANET_CTX_CTRL_EN |
          RNIC_PREP(EXANET_CTX_CTRL_FORMAT, EXANET_FORMAT_X86_4));
}

/* Closes a context as the driver does; the context must become quiet. */
static void ctx_close(unsigned c)
{
    hwaddr base = EXANET_CTX(c);
    uint32_t ctrl = mmio_get(EXANET_BAR_REGS, base + EXANET_REG_CTX_CTRL, 4);
    int64_t end = box_now() + HOLD_NS;

    if (!(ctrl & EXANET_CTX_CTRL_EN)) {
        return;
    }
    reg32(base + EXANET_REG_CTX_CTRL, ctrl | EXANET_CTX_CTRL_QUIESCE);
    while (!(mmio_get(EXANET_BAR_REGS, base + EXANET_REG_CTX_STATUS, 4) &
             EXANET_CTX_STATUS_QUIESCED) && box_now() < end) {
        step(10 * SCALE_MS);
    }
    if (!box.kernel) {
        g_assert_cmpint(box_now(), <, end);
    }
    reg32(base + EXANET_REG_CTX_CTRL, 0);
}

static void segment(unsigned m, unsigned c, uint32_t coord, uint64_t va,
                    uint32_t ctrl)
{
    hwaddr base = EXANET_SHM_MAP(m);

    reg64(base + EXANET_REG_SHM_MAP_OFFSET, m * SEGMENT);
    reg64(base + EXANET_REG_SHM_MAP_SIZE, SEGMENT);
    reg64(base + EXANET_REG_SHM_MAP_GVA, RNIC_PREP(EXANET_GVA_COORD, coord) |
          (va & EXANET_GVA_VA & ~0xfffULL));
    reg64(base + EXANET_REG_SHM_MAP_CTRL, EXANET_SHM_MAP_VALID |
          (ctrl & (EXANET_SHM_MAP_READ | EXANET_SHM_MAP_EARLY)) |
          EXANET_SHM_MAP_WRITE | RNIC_PREP(EXANET_SHM_MAP_CTX, c) |
          RNIC_PREP(EXANET_SHM_MAP_PDID, RNIC_PREP(EXANET_PDID_JOB, box.job[c]) |
                    (ctrl & EXANET_PDID_CTX)));
}

static void faults_resolve(unsigned count, uint16_t good)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t info;

        if (!mmio_get(EXANET_BAR_REGS, EXANET_FAULT + EXANET_REG_FAULT_COUNT, 4)) {
            return;
        }
        info = mmio_get(EXANET_BAR_REGS, EXANET_FAULT + EXANET_REG_FAULT_INFO, 8);
        reg32(EXANET_FAULT + EXANET_REG_FAULT_POP, 1);
        reg64(EXANET_FAULT + EXANET_REG_FAULT_RESOLVE,
              EXANET_RESOLVE(info, good >> (i % 16) & 1));
    }
}

/* --- The cables ------------------------------------------------------------------- */

static void frame_send(unsigned wire, unsigned kind, unsigned vc, const void *words,
                       unsigned count)
{
    uint32_t coord = le32_to_cpu(box.hello[wire].coord);
    g_autofree struct exanet_frame *f =
        g_malloc0(sizeof(*f) + count * EXANET_WORD_BYTES);

    memset(f->dst, 0xff, sizeof(f->dst));
    f->src[0] = EXANET_MAC_PREFIX >> 16;
    f->src[1] = EXANET_MAC_PREFIX >> 8 & 0xff;
    f->src[2] = EXANET_MAC_PREFIX & 0xff;
    f->src[3] = coord >> 16;
    f->src[4] = coord >> 8;
    f->src[5] = coord;
    stl_be_p(f->src + 2, coord);
    f->src[2] = EXANET_MAC_PREFIX & 0xff;
    f->ethertype = cpu_to_be16(EXANET_ETHERTYPE);
    f->version = EXANET_LINK_VERSION;
    f->kind = kind;
    f->vc = vc;
    f->count = cpu_to_le16(count);
    memcpy(f + 1, words, count * EXANET_WORD_BYTES);
    box_frame(wire, f, sizeof(*f) + count * EXANET_WORD_BYTES);
}

/* Sends HELLO.  @heard: the device's epoch that the neighbour has received, 0: none. */
static void hello_send(unsigned wire, uint8_t heard)
{
    struct exanet_hello h = box.hello[wire];

    if (heard) {
        h.flags |= EXANET_HELLO_HEARD;
        h.peer_epoch = heard;
    }
    frame_send(wire, EXANET_LINK_HELLO, 0, &h, 1);
}

static unsigned packet_encode(uint8_t *buf, const ExanetPacket *pkt)
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

static void packet_send(unsigned wire, const ExanetPacket *pkt)
{
    uint8_t buf[EXANET_PACKET_BYTES];

    frame_send(wire, EXANET_LINK_DATA, 0, buf, packet_encode(buf, pkt));
}

/* Answers packet @pkt as the honest node. */
static void honest_take(const ExanetPacket *pkt)
{
    ExanetPacket answer = {
        .type = EXANET_TYPE_ACK, .dst = pkt->src,
        .pdid = pkt->pdid & EXANET_PDID_CTX, .tid = pkt->tid, .seq = pkt->seq,
        .small = RNIC_GET(EXANET_FTR_USER_SMALL, pkt->user), .epoch = pkt->epoch,
    };

    switch (pkt->type) {
    case EXANET_TYPE_ACK:
        if (pkt->small == EXANET_SMALL(EXANET_NI_RT_RESPONSE) &&
            pkt->tid == box.tid) {
            *(pkt->resp ? &box.nacks : &box.acks) += 1;
        }
        return;
    case EXANET_TYPE_AXI_READ:
    case EXANET_TYPE_AXI_WRITE:
        if (pkt->type == EXANET_TYPE_AXI_WRITE && pkt->size == 8) {
            box.stored = ldq_le_p(pkt->payload);
        }
        answer = (ExanetPacket) {
            .type = EXANET_TYPE_AXI_RESPONSE, .dst = pkt->src, .src = HONEST_NODE,
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
    packet_send(HONEST, &answer);
}

/* Checks that a frame of the device holds whole packets only. */
static void packets_check(unsigned wire, const uint8_t *at, unsigned words)
{
    while (words) {
        ExanetWireStatus status;
        unsigned n = exanet_packet_words(at, &status);
        ExanetPacket pkt;

        if (box.kernel && (!n || n > words)) {
            return;                 /* a register can make the cable damage packets */
        }
        g_assert_cmpuint(n, >, 0);
        g_assert_cmpuint(n, <=, words);
        if (exanet_packet_decode(at, n, &pkt) == EXANET_WIRE_OK &&
            wire == HONEST && pkt.dst == HONEST_NODE) {
            honest_take(&pkt);
        }
        at += n * EXANET_WORD_BYTES;
        words -= n;
    }
}

static void frame_sent(unsigned wire, const uint8_t *frame, size_t len)
{
    struct exanet_frame f;
    struct exanet_hello h;
    unsigned words;

    g_assert_cmpuint(len, >=, sizeof(f));
    memcpy(&f, frame, sizeof(f));
    words = le16_to_cpu(f.count);
    g_assert_cmpuint(len, ==, sizeof(f) + words * EXANET_WORD_BYTES);
    if (f.kind == EXANET_LINK_HELLO) {
        g_assert_cmpuint(words, ==, 1);
        memcpy(&h, frame + sizeof(f), sizeof(h));
        if (box.hello[wire].max_words) {
            hello_send(wire, h.epoch);
        }
    } else if (f.kind == EXANET_LINK_DATA) {
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
        reg32(box.irq_reg % EXANET_REGS_BYTES & ~3u, box.irq_value);
        break;
    case 2:
        user64(box.irq_reg % CTXS, box.irq_reg >> 8 & 3, box.irq_reg >> 12 & 0xff8,
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

static ExanetState *nic_state(Object *obj)
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

static void nic_new(void)
{
    static const Property props[] = { EXANET_PROPERTIES(BoxNic, exanet) };
    ExanetHost host = { .as = &address_space_memory, .irq = nic_irq };
    ExanetState *s;

    box.nic = (BoxNic *)object_new("exanet-box");
    box.s = s = &box.nic->exanet;
    box.nic->dev.realized = true;
    host.dev = &box.nic->dev;
    box_properties(box.nic, props, ARRAY_SIZE(props));
    s->coord = NODE;
    s->epoch_fixed = 81;
    s->tlb_entries = 256;
    s->aperture_size = APERTURE;
    s->bram_size = 64 * KiB;
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        s->port[i].conf.peers.ncs[0] = box_wire(i);
    }
    exanet_init(s, &host, &error_abort);
    box_bar(EXANET_BAR_REGS, &s->regs_mr);
    box_bar(EXANET_BAR_USER, &s->user_mr);
    box_bar(EXANET_BAR_APERTURE, &s->aperture_mr);
    exanet_reset(s);
}

static void nic_end(void)
{
    for (unsigned i = 0; i < BOX_BARS; i++) {
        box_bar(i, NULL);
    }
    if (!box.gone) {
        exanet_fini(box.s);
    }
    box_run(TURNS);
    g_assert_cmpuint(OBJECT(box.nic)->ref, ==, 1);
    object_unref(OBJECT(box.nic));
}

static void start(bool kernel)
{
    static const uint32_t coord[BOX_WIRES] = { HONEST_NODE, EVIL_NODE };

    memset(&box, 0, sizeof(box));
    box.kernel = kernel;
    box_loop_reset();
    box_memory_reset();
    box_net_reset(frame_sent);
    memset(box_ram, PATTERN, CTXS * CTX_BYTES);
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        box.hello[i] = (struct exanet_hello) {
            .coord = cpu_to_le32(coord[i]), .epoch = PEER_EPOCH,
            .rx_words = cpu_to_le32(16384), .max_words = cpu_to_le32(4032),
        };
    }
    nic_new();
    for (unsigned c = 0; c < CTXS; c++) {
        tables_make(c);
    }
    reg32(EXANET_REG_IRQ_MASK, EXANET_IRQ_ALL);
    reg32(EXANET_REG_CTRL, EXANET_CTRL_ENABLE | EXANET_CTRL_IRQ);
    step(200 * SCALE_MS);
    for (unsigned c = 0; c < CTXS; c++) {
        ctx_open(c, c == HONEST_CTX ? HONEST_JOB : 1 + c);
    }
    g_assert_true(box.s->port[HONEST].up && box.s->port[EVIL].up);
}

/* --- Operations ------------------------------------------------------------------- */

/* Returns how often an operation is done: mostly once. */
static unsigned repeats(FuzzInput *in)
{
    unsigned n = 1u << (fuzz_u8(in) % 15);

    n = MIN(n, REPEATS - box.repeats);
    box.repeats += n;
    return n;
}

/* Returns the coordinates of a node, mostly of a near one. */
static uint32_t coord_of(uint32_t raw)
{
    static const uint32_t near[] = {
        HONEST_NODE, EVIL_NODE, NODE, 0x007, 0x016, 0x406,
    };

    return raw & 0x80000000 ? raw & EXANET_COORD_MASK :
           near[raw % ARRAY_SIZE(near)];
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
    uint8_t buf[EXANET_PACKET_BYTES], payload[EXANET_MTU];
    ExanetPacket pkt = {
        .type = types[type % ARRAY_SIZE(types)],
        .dst = flags & 0x80 ? HONEST_NODE : NODE, .ttl = EXANET_TTL_MAX,
        .first = flags & 1, .last = flags & 2, .notify = flags & 4,
        .epoch = flags & 8 ? box.s->epoch : PEER_EPOCH,
        .payload = payload,
    };
    uint8_t damage;

    pkt.pdid = fuzz_u16(in);
    pkt.tid = fuzz_u16(in);
    pkt.size = fuzz_u8(in) + 1;
    pkt.va = fuzz_u64(in);
    pkt.user = fuzz_u16(in);
    damage = fuzz_u8(in);
    memset(payload, damage, sizeof(payload));
    if (RNIC_GET(EXANET_PDID_JOB, pkt.pdid) == HONEST_JOB && src != HONEST_NODE) {
        pkt.pdid ^= RNIC_PREP(EXANET_PDID_JOB, 1);
    } else if (flags & 0x40) {
        unsigned c = src == HONEST_NODE ? HONEST_CTX : flags >> 4 & 1;

        pkt.pdid = pdid(c);
    }
    if (flags & 0x20) {
        pkt.va &= CTX_BYTES - 1;    /* a mapped address */
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

        pkt.src = src & EXANET_COORD_MASK;
        if (i && pkt.src == HONEST_NODE) {
            pkt.src = EVIL_NODE;
        }
        words = packet_encode(buf, &pkt);
        if (damage & 0x80 && n == 1) {
            buf[pkt.tid % (words * EXANET_WORD_BYTES)] ^= damage;
        }
        frame_send(EVIL, EXANET_LINK_DATA, pkt.vc, buf, words);
        src += stride;
        pkt.tid += flags & 0x10 ? 1 : 0;
        if (i % 64 == 63) {
            settle();
        }
    }
}

static void op_hello(FuzzInput *in)
{
    struct exanet_hello *h = &box.hello[EVIL];
    uint8_t flags;

    h->coord = cpu_to_le32(coord_of(fuzz_u32(in)));
    flags = fuzz_u8(in);
    h->epoch = fuzz_u8(in);
    h->max_words = cpu_to_le32(flags & 1 ? fuzz_u16(in) : 4032);
    hello_send(EVIL, flags & 2 ? 0 : box.s->epoch);
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
        frame_send(EVIL, kind % 7, vc % 5, junk, len / EXANET_WORD_BYTES);
    }
}

static void op_store(FuzzInput *in)
{
    unsigned c = fuzz_u8(in) % EVIL_CTXS, page = fuzz_u8(in) % EXANET_PAGE_INFO;
    uint16_t at = fuzz_u16(in) & 0xfff;
    unsigned size = 1 << fuzz_u8(in) % 4;

    mmio_set(EXANET_BAR_USER, user_at(c, page, at & ~(size - 1)), fuzz_u64(in),
             size);
}

static void message_send(unsigned c, unsigned channel, uint64_t gva, uint64_t ctrl)
{
    hwaddr at = channel * EXANET_PKTZ_BYTES;

    user64(c, EXANET_PAGE_PACKETIZER, at + EXANET_PKTZ_PAYLOAD, 0x1122334455667788);
    user64(c, EXANET_PAGE_PACKETIZER, at, gva);
    user64(c, EXANET_PAGE_PACKETIZER, at + EXANET_PKTZ_CTRL,
           (ctrl & ~EXANET_PKTZ_SIZE) | EXANET_PKTZ_GO |
           RNIC_PREP(EXANET_PKTZ_SIZE, 8));
}

static void op_messages(FuzzInput *in)
{
    unsigned n = repeats(in), c = fuzz_u8(in) % EVIL_CTXS;
    uint32_t dst = coord_of(fuzz_u32(in)), stride = fuzz_u16(in);
    uint64_t va = fuzz_u64(in), ctrl = fuzz_u32(in);

    for (unsigned i = 0; i < n; i++) {
        message_send(c, i % EXANET_PKTZ_CHANNELS,
                     RNIC_PREP(EXANET_GVA_COORD, dst) | (va & EXANET_GVA_VA), ctrl);
        dst += stride;
        if (i % 16 == 15) {
            settle();
        }
    }
}

static void op_channel(FuzzInput *in)
{
    unsigned c = fuzz_u8(in) % EVIL_CTXS, channel = fuzz_u8(in) % 64;
    hwaddr at = channel * EXANET_CHANNEL_BYTES;
    uint32_t dst = coord_of(fuzz_u32(in));
    uint64_t ctrl;

    user64(c, EXANET_PAGE_SCRATCHPAD, at, fuzz_u32(in));
    user64(c, EXANET_PAGE_SCRATCHPAD, at + 0x08,
           RNIC_PREP(EXANET_GVA_COORD, dst) | fuzz_u32(in));
    ctrl = fuzz_u16(in);
    ctrl |= (uint64_t)fuzz_u32(in) << 32;
    user64(c, EXANET_PAGE_SCRATCHPAD, at + 0x10, ctrl);
    user64(c, EXANET_PAGE_SCRATCHPAD, at + 0x18,
           RNIC_PREP(EXANET_GVA_COORD, dst) | fuzz_u32(in));
    user64(c, EXANET_PAGE_SCRATCHPAD, at + EXANET_CHANNEL_DOORBELL,
           fuzz_u8(in) | 1);
}

static void op_segments(FuzzInput *in)
{
    unsigned n = repeats(in), c = fuzz_u8(in) % EVIL_CTXS;
    uint32_t dst = coord_of(fuzz_u32(in)), stride = fuzz_u16(in);
    uint64_t va = fuzz_u64(in);
    uint32_t ctrl = fuzz_u32(in);

    for (unsigned i = 0; i < n; i++) {
        unsigned m = i % 15;        /* the last segment is for the honest process */

        segment(m, c, dst & EXANET_COORD_MASK, va, ctrl);
        mmio_set(EXANET_BAR_APERTURE, m * SEGMENT, i, 8);
        dst += stride;
        if (m == 14 && n > 15) {
            settle();
            ctx_close(c);
            ctx_open(c, box.job[c]);
        }
    }
}

static void op_aperture(FuzzInput *in)
{
    uint8_t how = fuzz_u8(in);
    unsigned size = 1 << (how & 3);
    uint64_t at = fuzz_u32(in) % (2 * APERTURE), value = fuzz_u64(in);

    box_vcpu(how & 4);
    box_access(BOX_BAR(EXANET_BAR_APERTURE) + at, &value, size, how & 8);
    box_vcpu(false);
}

static void op_open(FuzzInput *in)
{
    unsigned c = fuzz_u8(in) % EVIL_CTXS;
    uint16_t job = fuzz_u16(in) & 0xfff;

    ctx_close(c);
    ctx_open(c, job == HONEST_JOB ? 1 : job);
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
        reg64(at, fuzz_u64(in));
    } else {
        at += fuzz_u8(in) & 4;
        reg32(at, fuzz_u32(in));
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
        step(1LL << fuzz_u8(in) % 34);
        break;
    case BOX_OP_BLOCK:
        arg = fuzz_u8(in);
        box_wire_block(arg & 1, arg & 2);
        break;
    case BOX_OP_CLOSE:
        ctx_close(fuzz_u8(in) % EVIL_CTXS);
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
        faults_resolve(arg % 32, fuzz_u16(in));
        break;
    default:
        op_kernel(in, op);
    }
}

/* --- Guarantees for honest nodes and processes -------------------------------------- */

/* Checks that the device has changed memory of hostile processes only. */
static void memory_check(void)
{
    for (unsigned i = DATA_AT(HONEST_CTX); i < DATA_AT(CTXS); i++) {
        g_assert_cmphex(box_ram[i], ==, PATTERN);
    }
}

/* Checks that a block of the honest node for the honest process arrives. */
static void honest_block(void)
{
    static const uint8_t data[64] = "a block of the honest node";
    ExanetPacket pkt = {
        .type = EXANET_TYPE_WRITE, .dst = NODE, .src = HONEST_NODE,
        .epoch = PEER_EPOCH, .pdid = pdid(HONEST_CTX), .ttl = EXANET_TTL_MAX,
        .user = EXANET_SMALL(EXANET_NI_RT_RESPONSE), .first = true, .last = true,
        .va = 0x1000, .size = sizeof(data), .payload = data,
    };
    int64_t end = box_now() + PATIENCE_NS;

    box.tid = pkt.tid = 3;
    box.acks = box.nacks = 0;
    packet_send(HONEST, &pkt);
    step(SCALE_MS);
    /* earlier packets may wait for a stalled neighbour: link-stall-ms */
    while (!box.acks && !box.nacks && box_now() < end) {
        step(50 * SCALE_MS);
    }
    g_assert_cmpuint(box.nacks, ==, 0);
    g_assert_cmpuint(box.acks, ==, 1);
    g_assert_cmpmem(box_ram + DATA_AT(HONEST_CTX) + 0x1000, sizeof(data), data,
                    sizeof(data));
    memset(box_ram + DATA_AT(HONEST_CTX) + 0x1000, PATTERN, sizeof(data));
}

static unsigned message_state(unsigned c, unsigned channel)
{
    return RNIC_GET(EXANET_PKTZSTAT_STATE,
                    mmio_get(EXANET_BAR_USER, user_at(c, EXANET_PAGE_PACKETIZER,
                             channel * EXANET_PKTZ_BYTES + 0x10), 8));
}

/* Checks that the honest node acks a message of context @c. */
static void honest_message(unsigned c)
{
    int64_t end = box_now() + PATIENCE_NS;

    message_send(c, 15, RNIC_PREP(EXANET_GVA_COORD, HONEST_NODE) |
                 EXANET_NI_VA(EXANET_NI_MAILBOX), EXANET_PKTZ_ACK |
                 RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_WRITE));
    settle();
    while (message_state(c, 15) == EXANET_PKTZ_WAITING && box_now() < end) {
        step(50 * SCALE_MS);
    }
    g_assert_cmpuint(message_state(c, 15), ==, EXANET_PKTZ_ACKED);
}

/* Checks that a store of context @c to the honest node completes. */
static void honest_store(unsigned c)
{
    uint32_t errors = box.s->shm->errors[c];
    uint64_t value = 0x600d000000000000 + c;
    int64_t end = box_now() + PATIENCE_NS;

    box.stored = 0;
    segment(15, c, HONEST_NODE, 0x2000, 0);
    mmio_set(EXANET_BAR_APERTURE, 15 * SEGMENT, value, 8);
    settle();
    while (box.stored != value && box_now() < end) {
        step(50 * SCALE_MS);
    }
    g_assert_cmphex(box.stored, ==, value);
    g_assert_cmpuint(box.s->shm->errors[c], ==, errors);
}

static bool receiver_idle(void)
{
    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (box.s->receiver.ctx[i].valid) {
            return false;
        }
    }
    return true;
}

static void honest_check(void)
{
    memory_check();
    for (unsigned i = 0; i < BOX_WIRES; i++) {
        box_wire_block(i, false);
    }
    settle();
    if (receiver_idle()) {
        honest_block();
    }
    for (unsigned c = 0; c < CTXS; c++) {
        ctx_close(c);
        ctx_open(c, HONEST_JOB);
        honest_message(c);
        ctx_close(c);
    }
    step(HOLD_NS);
    g_assert_true(mmio_get(EXANET_BAR_REGS, EXANET_REG_STATUS, 4) &
                  EXANET_STATUS_QUIESCENT);
    g_assert_true(receiver_idle());
    g_assert_true(box.s->port[HONEST].up);
    for (unsigned c = 0; c < CTXS; c++) {
        ctx_open(c, HONEST_JOB);
        honest_message(c);
        honest_store(c);
    }
    honest_block();
    memory_check();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    box_init();
    nic_type_register();
    start(fuzz_u8(&in) & EXANET_BOX_KERNEL);
    for (unsigned i = 0; in.left && !box.gone && i < OPS_MAX; i++) {
        uint8_t record[EXANET_BOX_OP_BYTES];
        FuzzInput op = { record + 1, sizeof(record) - 1 };

        fuzz_bytes(&in, record, sizeof(record));
        op_do(&op, record[0] % (box.kernel ? BOX_OP_OPS : BOX_OP_PROCESS_OPS));
        settle();
    }
    if (!box.kernel) {
        honest_check();
    }
    nic_end();
    box_net_reset(NULL);
    box_memory_reset();
    return 0;
}
