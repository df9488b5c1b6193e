/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole EXTOLL NIC of a hostile kernel, in a box (box.h), with two links.  An input is
 * a program of accesses to BAR 0, self-tests, changes of the memory map, resets, effects
 * of interrupts (a message may be a store to any register, a reset, or an unplug),
 * packets of the neighbours, faults of the cables, and hostile frames (box-peer.h), and
 * messages of VELO (box-velo.h).
 *
 * The target asserts that each access that meets no register is counted; that registers
 * have only values that they can have; that a self-test changes only its own memory, and
 * all or nothing unless the bus has refused the access; that other memory than mailboxes
 * does not change; that messages are those of three vectors and have an end, and that a
 * message to a register of the device has no effect;
 * that honest packets arrive as they should; that the memory is bounded; and that the
 * device works after a reset at the end.
 */
#include "../box.h"
#include "qapi/error.h"
#include "qemu/units.h"
#include "hw/rnic/extoll/extoll.h"
#include "box-peer.h"
#include "box-velo.h"

#define OPS_MAX     300
#define OP_BYTES    24              /* bytes of an operation in the input */
#define ITERATIONS  2000            /* limit of the main loop's iterations */
#define LIVE_MAX    (16 * MiB)      /* more memory than at the start of the program */
/* Interrupt messages of an operation. */
#define MESSAGES_MAX (2 * (EXTOLL_VECTORS + EXTOLL_VPIDS))
#define BAR         BOX_BAR(EXTOLL_BAR_REGS)

enum op {
    OP_LOAD, OP_STORE, OP_TEST, OP_IRQ, OP_REMAP, OP_STEP, OP_RESET,
    OP_SEND, OP_FAULT, OP_FRAME, OP_WORD, OP_WIRE,
    OP_VELO_SETUP, OP_VELO_REG, OP_VELO_STORE, OP_VELO_LOAD, OP_VELO_SEND,
    OP_VELO_HONEST, OP_MESSAGE, OPS,
};

/* Effects of the next interrupt message. */
enum effect { EFFECT_NONE, EFFECT_STORE, EFFECT_RESET, EFFECT_UNPLUG, EFFECTS };

typedef struct BoxNic {
    DeviceState dev;
    ExtollState extoll;
} BoxNic;

static struct {
    BoxNic *nic;
    ExtollState *s;
    bool gone;                      /* the device was unplugged */
    bool waits;                     /* a vCPU waits for room meanwhile */
    enum effect effect;
    uint32_t irq_offset;            /* EFFECT_STORE */
    uint32_t irq_value;
    unsigned messages;              /* since the start of the operation */
    unsigned resets;                /* since the start of the operation */
    size_t live;                    /* allocated bytes at the start of the program */
    uint32_t ram_bytes;
    uint8_t ram[BOX_RAM_BYTES];     /* expected content of RAM */
} box;

/* --- Registers -------------------------------------------------------------------- */

typedef struct Row {
    uint16_t offset;
    uint8_t bytes;
} Row;

#define ROW(name, offset, bytes, reset, writable, w1c) { offset, bytes },
static const Row global_rows[] = { EXTOLL_GLOBAL_REGS(ROW) };
static const Row port_rows[] = { EXTOLL_PORT_REGS(ROW) };
static const Row velo_rows[] = { EXTOLL_VELO_REGS(ROW) };
static const Row route_rows[] = { EXTOLL_ROUTE_REGS(ROW) };
static const Row vpid_rows[] = { EXTOLL_VELO_VPID_REGS(ROW) };
static const Row end_point_rows[] = { EXTOLL_END_POINT_REGS(ROW) };
static const Row rp_rows[] = { EXTOLL_RP_REGS(ROW) };
#undef ROW

static bool is_in(const Row *rows, unsigned count, uint32_t offset)
{
    for (unsigned i = 0; i < count; i++) {
        if (offset >= rows[i].offset && offset < rows[i].offset + rows[i].bytes) {
            return true;
        }
    }
    return false;
}

/* Registers of units: @units of them, @stride bytes apart. */
static const struct {
    const Row *rows;
    unsigned count;
    uint32_t base, stride, units;
} blocks[] = {
#define ROWS(list) .rows = list, .count = ARRAY_SIZE(list)
    { ROWS(global_rows), EXTOLL_GLOBAL, 0x100, 1 },
    { ROWS(port_rows), EXTOLL_PORT(0), EXTOLL_PORT(1) - EXTOLL_PORT(0), BOX_WIRES },
    { ROWS(velo_rows), EXTOLL_VELO, 0x100, 1 },
    { ROWS(route_rows), EXTOLL_VELO_ROUTE(0), 8, EXTOLL_NODES },
    { ROWS(vpid_rows), EXTOLL_VELO_VPID(0), EXTOLL_VELO_VPID(1) - EXTOLL_VELO_VPID(0),
      EXTOLL_VPIDS },
    { ROWS(end_point_rows), EXTOLL_END_POINT(0),
      EXTOLL_END_POINT(1) - EXTOLL_END_POINT(0), EXTOLL_VPIDS },
    { ROWS(rp_rows), EXTOLL_VELO_RP(0), EXTOLL_VELO_RP(1) - EXTOLL_VELO_RP(0),
      EXTOLL_VPIDS },
#undef ROWS
};

/* Returns true if the 4 bytes at @offset belong to a register. */
static bool is_register(uint32_t offset)
{
    for (unsigned i = 0; i < ARRAY_SIZE(blocks); i++) {
        uint32_t bytes = blocks[i].stride * blocks[i].units;

        if (offset >= blocks[i].base && offset < blocks[i].base + bytes) {
            return is_in(blocks[i].rows, blocks[i].count,
                         (offset - blocks[i].base) % blocks[i].stride);
        }
    }
    return (offset >= EXTOLL_IRQ(0) && offset < EXTOLL_IRQ(EXTOLL_VECTORS) &&
            offset % 0x10 < 0xc) ||
           (offset >= EXTOLL_COUNTER(0) && offset < EXTOLL_COUNTER(EXTOLL_COUNTER_COUNT));
}

static bool is_good(uint32_t offset, unsigned size)
{
    return size >= 4 && offset % size == 0 && is_register(offset) &&
           (size == 4 || is_register(offset + 4));
}

static uint64_t load(uint32_t offset, unsigned size)
{
    uint64_t value = 0;

    box_access(BAR + offset, &value, size, false);
    return value;
}

static void store(uint32_t offset, unsigned size, uint64_t value)
{
    box_access(BAR + offset, &value, size, true);
    velo_stored(offset, size);
}

static uint64_t counter(enum extoll_counter n)
{
    return load(EXTOLL_COUNTER(n), 8);
}

/* Asserts that the registers of link @link have values that they can have. */
static void port_check(unsigned link)
{
    uint32_t at = EXTOLL_PORT(link), status = load(at + EXTOLL_REG_PORT_STATUS, 4);

    g_assert_true(status & EXTOLL_PORT_STATUS_PRESENT);
    g_assert_true((status & EXTOLL_PORT_STATUS_PEER) ||
                  !(status & EXTOLL_PORT_STATUS_UP));
    g_assert_cmpuint(load(at + EXTOLL_REG_PORT_PEER, 4), <, EXTOLL_NODES);
    g_assert_cmpuint(load(at + EXTOLL_REG_PORT_PEER_EPOCH, 4), <=, UINT8_MAX);
    g_assert_cmpuint(load(at + EXTOLL_REG_PORT_ROOM_0, 8), ==,
                     PEER_ROOM * 0x100000001ULL);
    g_assert_cmpuint(load(at + EXTOLL_REG_PORT_CREDIT_0, 4), <=, EXTOLL_ROOM_MAX);
    g_assert_cmpuint(load(at + EXTOLL_REG_PORT_CREDIT_1, 4), <=, EXTOLL_ROOM_MAX);
}

/* Asserts that the registers have values that they can have. */
static void registers_check(void)
{
    static const uint32_t causes[EXTOLL_VECTORS] = {
        [EXTOLL_VEC_EVENTS] = EXTOLL_EVENT_TEST | EXTOLL_EVENT_LINK,
        [EXTOLL_VEC_VELO] = ~0u,
    };
    uint32_t epoch = load(EXTOLL_REG_EPOCH, 4);

    g_assert_cmphex(load(EXTOLL_REG_VERSION, 8), ==, EXTOLL_VERSION);
    g_assert_cmphex(load(EXTOLL_REG_CAP, 8) & ~EXTOLL_CAP_LOG2_TLB, ==,
                    RNIC_PREP(EXTOLL_CAP_LINKS, BOX_WIRES) |
                    (box.s->strict ? 0 : EXTOLL_CAP_PROT | EXTOLL_CAP_TXIO));
    g_assert_cmphex(load(EXTOLL_REG_CTRL, 4) & ~EXTOLL_CTRL_ENABLE, ==, 0);
    g_assert_cmphex(load(EXTOLL_REG_STATUS, 4) & ~EXTOLL_STATUS_LINK, ==,
                    box.s->velo.fifo.count ? 0 : EXTOLL_STATUS_IDLE);
    g_assert_cmpuint(load(EXTOLL_REG_NODE, 4), <, EXTOLL_NODES);
    g_assert_true(epoch >= 1 && epoch <= UINT8_MAX);
    g_assert_cmpuint(load(EXTOLL_REG_TIME, 8), ==, box_now());
    g_assert_cmpuint(load(EXTOLL_REG_TEST_STATUS, 4), <=, EXTOLL_TEST_BUS);
    for (unsigned v = 0; v < EXTOLL_VECTORS; v++) {
        uint32_t cause = load(EXTOLL_IRQ(v) + EXTOLL_REG_IRQ_CAUSE, 4);

        g_assert_cmphex(cause & ~causes[v], ==, 0);
        g_assert_cmphex(load(EXTOLL_IRQ(v) + EXTOLL_REG_IRQ_CLEAR, 4), ==, 0);
    }
    /* counters of units that do not exist */
    for (unsigned n = EXTOLL_CNT_RMA_PIO; n < EXTOLL_CNT_NO_ROUTE; n++) {
        if (n != EXTOLL_CNT_HTAX_POSTED &&
            (n < EXTOLL_CNT_VELO_SPLIT || n > EXTOLL_CNT_VELO_BUS)) {
            g_assert_cmpuint(counter(n), ==, 0);
        }
    }
    for (unsigned link = 0; link < BOX_WIRES; link++) {
        port_check(link);
    }
}

/* --- Life ------------------------------------------------------------------------- */

static bool host_messages(void *opaque)
{
    return true;
}

static void host_irq(void *opaque, unsigned vector)
{
    enum effect effect = box.effect;
    uint64_t value = box.irq_value;

    g_assert_cmpuint(vector, <, EXTOLL_VECTORS);
    g_assert_false(box.gone);
    /* an access has at most two registers, each VPID becomes a cause at most once */
    g_assert_cmpuint(++box.messages, <=, MESSAGES_MAX * (1 + box.resets));
    box.effect = EFFECT_NONE;
    switch (effect) {
    case EFFECT_STORE:
        g_assert_cmpuint(box_access(BAR + box.irq_offset, &value, 4, true), ==,
                         MEMTX_ACCESS_ERROR);
        break;
    case EFFECT_RESET:
        box.resets++;
        extoll_reset(box.s);        /* function-level reset */
        break;
    case EFFECT_UNPLUG:
        box.gone = true;            /* power of the slot goes off */
        extoll_fini(box.s);
        break;
    default:
        break;
    }
}

static void type_register(void)
{
    static const TypeInfo type = {
        .name = "extoll-box", .parent = TYPE_OBJECT, .instance_size = sizeof(BoxNic),
    };
    static bool done;

    if (!done) {
        type_register_static(&type);
        done = true;
    }
}

static void start(uint8_t flags)
{
    RNicHost host = {
        .as = &address_space_memory, .messages = host_messages, .irq = host_irq,
    };

    memset(&box, 0, sizeof(box));
    box_init();
    type_register();
    box_loop_reset();
    box_memory_reset();
    box_net_reset(peers_sent);
    box.ram_bytes = BOX_RAM_BYTES;
    box.nic = (BoxNic *)object_new("extoll-box");
    box.s = &box.nic->extoll;
    box.nic->dev.realized = true;
    host.dev = &box.nic->dev;
    box.s->node = flags % EXTOLL_NODES;
    box.s->epoch_first = flags ?: 1;
    box.s->strict = flags & 0x80;
    box.s->rx_flits = PEER_ROOM;
    box.s->link_timeout_ms = 5000;
    box.s->link_stall_ms = 1000;
    box.s->split = flags & 0x40 ? 3 : 0;
    box.s->cfcq_timeout_ms = 50;
    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        box.s->port[i].peer_named = RNIC_PEER_ANY;
    }
    for (unsigned wire = 0; wire < BOX_WIRES; wire++) {
        box.s->port[wire].conf.peers.ncs[0] = box_wire(wire);
    }
    peers_start(box.s, box.s->node);
    extoll_init(box.s, &host, &error_abort);
    extoll_reset(box.s);
    box_bar(EXTOLL_BAR_REGS, &box.s->regs_mr);
    box_bar(EXTOLL_BAR_VELO, &box.s->velo_mr);
    velo_start(box.s, &box.gone);
    box.live = box_live_bytes();
}

static void end(void)
{
    box_bars_remove();
    if (!box.gone) {
        extoll_fini(box.s);
    }
    g_assert_true(box_run(ITERATIONS));
    extoll_instance_fini(box.s);
    g_assert_cmpuint(OBJECT(box.nic)->ref, ==, 1);
    object_unref(OBJECT(box.nic));
    peers_end();
    box_net_reset(NULL);
    box_memory_reset();
}

/* --- Operations ------------------------------------------------------------------- */

/* Returns an offset of BAR 0, mostly near the registers. */
static uint32_t any_offset(FuzzInput *in)
{
    uint8_t kind = fuzz_u8(in);
    uint32_t at = fuzz_u32(in);

    return kind >= 0xf8 ? EXTOLL_VELO + at % (EXTOLL_VELO_VPID(EXTOLL_VPIDS) -
                                              EXTOLL_VELO) :
           kind >= 0xf0 ? EXTOLL_PORT(at % BOX_WIRES) + at / BOX_WIRES % 0x100 :
           kind < 0xa0 ? at % (EXTOLL_IRQ(EXTOLL_VECTORS) + 8) :
           kind < 0xc0 ? EXTOLL_COUNTER(0) - 8 + at % (8 * EXTOLL_COUNTER_COUNT + 16) :
           at % (EXTOLL_REGS_BYTES - 8);
}

/* Returns true if a store of @size bytes at @offset covers the register @reg. */
static bool covers(uint32_t offset, unsigned size, uint32_t reg)
{
    return reg < offset + size && offset < reg + 4;
}

static void op_access(FuzzInput *in, bool write)
{
    uint32_t offset = any_offset(in);
    unsigned size = 1u << fuzz_u8(in) % 4;
    uint64_t value = fuzz_u64(in);
    uint32_t bad_at = EXTOLL_COUNTER(EXTOLL_CNT_REG_BAD);
    uint64_t bad = counter(EXTOLL_CNT_REG_BAD);
    uint32_t epoch = load(EXTOLL_REG_EPOCH, 4);
    bool good = is_good(offset, size);

    if (write && good && (covers(offset, size, EXTOLL_REG_TEST_OP) ||
                          velo_is_honest(offset, size))) {
        return;                     /* others know what to expect */
    }
    if (write) {
        store(offset, size, value);
    } else {
        uint64_t got = load(offset, size);

        g_assert_true(good || size >= 4 || got == 0);
        g_assert_true(good || offset % size == 0 || got == 0);
    }
    if (box.gone || box.resets || load(EXTOLL_REG_EPOCH, 4) != epoch) {
        return;
    }
    if (!(write && good && (covers(offset, size, bad_at) ||
                            covers(offset, size, bad_at + 4)))) {
        g_assert_cmpuint(counter(EXTOLL_CNT_REG_BAD), ==, bad + !good);
    }
}

/* Returns an address for a self-test: in RAM, at its end, in the BAR, or anywhere. */
static uint64_t any_address(FuzzInput *in)
{
    uint8_t kind = fuzz_u8(in);
    uint64_t at = fuzz_u64(in);

    at = kind & 0x80 ? at : at & ~3ULL;
    return kind % 8 < 4 ? at % BOX_RAM_BYTES :
           kind % 8 == 4 ? box.ram_bytes - 128 + at % 256 :
           kind % 8 == 5 ? BAR + at % EXTOLL_REGS_BYTES :
           kind % 8 == 6 ? -(at % 512) : at;
}

/* Applies a self-test to @box.ram, as far as RAM reaches. */
static void test_expect(uint32_t op, uint64_t addr, uint32_t bytes, uint32_t data)
{
    for (uint64_t i = addr; i < addr + bytes && i < box.ram_bytes; i++) {
        box.ram[i] = op == EXTOLL_TEST_FILL ? data >> 8 * (i % 4) : ~box.ram[i];
    }
}

static void op_test(FuzzInput *in)
{
    uint64_t addr = any_address(in);
    uint32_t bytes = fuzz_u8(in), data = fuzz_u32(in), raw = fuzz_u32(in);
    uint32_t op = raw & 0x80 ? raw : raw % 3;
    bool valid = (op == EXTOLL_TEST_FILL || op == EXTOLL_TEST_INVERT) && bytes &&
                 bytes <= 128 && !(bytes % 4) && !(addr % 4) && addr + bytes > addr;
    bool whole = addr < box.ram_bytes && bytes <= box.ram_bytes - addr;
    enum extoll_test_status status;

    store(EXTOLL_REG_TEST_ADDR, 8, addr);
    store(EXTOLL_REG_TEST_BYTES, 4, bytes);
    store(EXTOLL_REG_TEST_DATA, 4, data);
    store(EXTOLL_REG_TEST_OP, 4, op);
    status = load(EXTOLL_REG_TEST_STATUS, 4);
    g_assert_cmpuint(status, ==, !valid ? EXTOLL_TEST_REFUSED :
                     whole ? EXTOLL_TEST_OK : EXTOLL_TEST_BUS);
    if (valid && (whole || op == EXTOLL_TEST_FILL)) {
        test_expect(op, addr, bytes, data);
    }
}

static void op_irq(FuzzInput *in)
{
    box.effect = fuzz_u8(in) % EFFECTS;
    box.irq_offset = any_offset(in);
    box.irq_value = fuzz_u32(in);
}

static void op_do(FuzzInput *in, enum op op);

/* VeloOther: does an operation of @in while a vCPU waits, or unplugs the device. */
static void op_other(FuzzInput *in)
{
    uint8_t op = fuzz_u8(in) % (OPS + 1);

    box.waits = true;
    if (op == OPS) {
        box.gone = true;
        extoll_fini(box.s);
    } else {
        op_do(in, op);
    }
    box.waits = false;
}

/* Does the operations of VELO and of messages. */
static void op_velo(FuzzInput *in, enum op op)
{
    switch (op) {
    case OP_VELO_SETUP:
        velo_op_setup(in);
        break;
    case OP_VELO_REG:
        velo_op_reg(in);
        break;
    case OP_VELO_STORE:
        velo_op_store(in);
        break;
    case OP_VELO_LOAD:
        velo_op_load(in);
        break;
    case OP_VELO_SEND:
        velo_op_send(in, box.waits ? NULL : op_other);
        break;
    case OP_VELO_HONEST:
        velo_op_honest(in);
        break;
    default:
        peer_op_message(in);
        break;
    }
}

static void op_do(FuzzInput *in, enum op op)
{
    uint32_t n;

    if (op >= OP_VELO_SETUP) {
        op_velo(in, op);
        return;
    }

    switch (op) {
    case OP_LOAD:
    case OP_STORE:
        op_access(in, op == OP_STORE);
        break;
    case OP_TEST:
        op_test(in);
        break;
    case OP_IRQ:
        op_irq(in);
        break;
    case OP_REMAP:
        n = fuzz_u32(in);
        box.ram_bytes = 256 + n % (BOX_RAM_BYTES - 255) / 8 * 8;
        box_remap(box.ram_bytes);
        break;
    case OP_STEP:
        n = fuzz_u32(in);
        g_assert_true(box_step(n, ITERATIONS));
        break;
    case OP_SEND:
        peer_op_send(in);
        break;
    case OP_FAULT:
        peer_op_fault(in);
        break;
    case OP_FRAME:
        peer_op_frame(in);
        break;
    case OP_WORD:
        peer_op_word(in);
        break;
    case OP_WIRE:
        peer_op_wire(in);
        break;
    default:
        box.resets++;
        extoll_reset(box.s);
        break;
    }
}

/*
 * Asserts that RAM has the expected content, but for mailboxes, whose content becomes the
 * expected one.
 */
static void memory_check(void)
{
    for (unsigned at = 0; at < BOX_RAM_BYTES; at += VELO_PAGE) {
        if (velo_is_mailbox(at / VELO_PAGE)) {
            memcpy(box.ram + at, box_ram + at, VELO_PAGE);
        }
    }
    g_assert_true(!memcmp(box_ram, box.ram, sizeof(box.ram)));
}

/* Asserts that the device works after a reset: a self-test, and an interrupt. */
static void works_check(void)
{
    box.effect = EFFECT_NONE;
    box.ram_bytes = BOX_RAM_BYTES;
    box_remap(box.ram_bytes);
    extoll_reset(box.s);
    box.messages = 0;
    store(EXTOLL_REG_TEST_ADDR, 8, 64);
    store(EXTOLL_REG_TEST_BYTES, 4, 128);
    store(EXTOLL_REG_TEST_OP, 4, EXTOLL_TEST_INVERT);
    test_expect(EXTOLL_TEST_INVERT, 64, 128, 0);
    g_assert_cmpuint(load(EXTOLL_REG_TEST_STATUS, 4), ==, EXTOLL_TEST_OK);
    g_assert_true(!memcmp(box_ram, box.ram, sizeof(box.ram)));
    store(EXTOLL_REG_TEST_IRQ, 4, EXTOLL_VEC_EVENTS);
    g_assert_cmpuint(box.messages, ==, 1);
    store(EXTOLL_IRQ(EXTOLL_VEC_EVENTS) + EXTOLL_REG_IRQ_MASK, 4, EXTOLL_EVENT_TEST);
    g_assert_cmpuint(box.messages, ==, 2);
    for (unsigned n = 0; n < EXTOLL_COUNTER_COUNT; n++) {
        g_assert_cmpuint(counter(n), ==, 0);
    }
    velo_works_check();
    peers_works_check();
}

/* Asserts that the corpus has met all events of VELO, and a reset and an unplug. */
void fuzz_reached(void)
{
    g_assert_cmphex(box_met, ==, BOX_MET_RESET | BOX_MET_UNPLUG);
    velo_reached();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FuzzInput in = { data, size };

    start(fuzz_u8(&in));
    for (unsigned i = 0; in.left && !box.gone && i < OPS_MAX; i++) {
        uint8_t record[OP_BYTES];
        FuzzInput op = { record + 1, sizeof(record) - 1 };

        fuzz_bytes(&in, record, sizeof(record));
        box.messages = 0;
        box.resets = 0;
        velo_begin();
        op_do(&op, record[0] % OPS);
        g_assert_true(box_run(ITERATIONS));
        peers_run();
        g_assert_true(box_run(ITERATIONS));
        g_assert_cmpuint(box_live_bytes(), <, box.live + LIVE_MAX);
        memory_check();
        if (!box.gone) {
            velo_check();
        }
        if (!box.gone) {
            registers_check();
        }
    }
    if (!box.gone) {
        works_check();
    }
    end();
    return 0;
}
