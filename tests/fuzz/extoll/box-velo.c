/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VELO in extoll-box; see box-velo.h. */
#include "box-velo.h"
#include "box-peer.h"
#include "qemu/cutils.h"
#include "hw/rnic/extoll/base/route.h"

#define PAGES       (BOX_RAM_BYTES / VELO_PAGE)
#define HONEST_AT   0x20000             /* mailbox of the honest process */
#define HONEST_SLOTS (VELO_PAGE / EXTOLL_SLOT_BYTES)
#define HONEST_PROT 0xbeef
#define HONEST_MAX  512                 /* messages that are under way */
/* Messages in the FIFO up to which the honest process sends. */
#define HONEST_ROOM (EXTOLL_VELO_FIFO - 4 * EXTOLL_COMBINE_OUT)
#define DROPS_MAX   2                   /* dropped stores that end velo_op_send() */
#define ITERATIONS  2000                /* limit of the main loop's iterations */

/* Destinations: their numbers are those of the nodes, from the own one on. */
enum { TO_SELF, TO_PEER_0, TO_PEER_1, TO_NONE, TO_NO_LINK, TO_BAD, TO_RMA, TO_ANY, TOS };

/* Flags of velo_op_send(), and of velo_op_store(): VCPU, EXCLUSIVE and STOP. */
enum {
    SEND_VCPU = 1,                      /* a vCPU stores */
    SEND_EXCLUSIVE = 2,                 /* while all others stand still */
    SEND_STOP = 4,                      /* the vCPU must stop */
    SEND_HALVES = 8,                    /* stores of 4 bytes */
    SEND_COMMIT = 16,                   /* a load follows each message */
    SEND_BACKWARD = 32,                 /* the last part comes first */
};

/* A message of the honest process that is under way. */
typedef struct Sent {
    ExtollVeloMsg msg;
    unsigned got;                       /* quadwords that have arrived */
    bool may_lose;
} Sent;

static struct {
    ExtollState *s;
    const bool *gone;
    unsigned node;                      /* own node at the start */
    uint8_t epoch;                      /* of the state below */
    bool mailbox[PAGES];
    bool counters_cleared;              /* since the reset */
    uint32_t rp;                        /* honest process: its read pointer */
    uint64_t lost;                      /* sum of the counters of discards ... */
    uint64_t full;                      /* ... and the one of those without room */
    unsigned count;
    Sent sent[HONEST_MAX];
    uint8_t number;                     /* of the next honest message */
    FuzzInput in;                       /* of the operation during a wait */
    VeloOther *other;
} velo;

/* Counters that the corpus must reach. */
static const uint8_t counters[] = {
    EXTOLL_CNT_VELO_PIO, EXTOLL_CNT_VELO_TRIP, EXTOLL_CNT_VELO_DMA_WRITE,
    EXTOLL_CNT_VELO_SPLIT, EXTOLL_CNT_VELO_TORN, EXTOLL_CNT_VELO_BAD_STORE,
    EXTOLL_CNT_VELO_NO_VPID, EXTOLL_CNT_VELO_FULL, EXTOLL_CNT_VELO_DISABLED,
    EXTOLL_CNT_VELO_PROT, EXTOLL_CNT_VELO_BUS, EXTOLL_CNT_NO_ROUTE, EXTOLL_CNT_ROUTE_BAD,
    EXTOLL_CNT_CFCQ_WAIT, EXTOLL_CNT_CFCQ_DROPPED, EXTOLL_CNT_TXIO_FULL,
    EXTOLL_CNT_TXIO_TORN,
};
static uint64_t reached;                /* bits of counters that were not 0 */

/* Events that no counter has. */
enum {
    MET_ARRIVED = 1,                    /* a honest message arrived */
    MET_PARTS = 2,                      /* one arrived in parts */
    MET_LOST = 4,                       /* one was lost */
    MET_ACCEPTED = 8,                   /* a load committed a message */
    MET_RESERVE = 16,                   /* a vCPU that must stop used the reserve */
    MET_ROOM = 32,                      /* a vCPU waited, and got room */
    MET_ALL = 63,
};
static unsigned met;

static uint64_t counter(enum extoll_counter n)
{
    return velo.s->counter[n];
}

static uint64_t reg(uint32_t offset)
{
    return extoll_reg_get64(velo.s, offset);
}

static bool is_gone(void)
{
    return *velo.gone;
}

/* Stores to a register of 8 bytes, or 4 bytes of VELO. */
static void reg_store(uint32_t offset, unsigned size, uint64_t value)
{
    if (!is_gone()) {
        box_access(BOX_BAR(EXTOLL_BAR_REGS) + offset, &value, size, true);
        velo_stored(offset, size);
    }
}

/* --- Mailboxes ---------------------------------------------------------------- */

/* Returns the bytes of the mailbox of @vpid; 0: none. */
static uint64_t mailbox_bytes(unsigned vpid)
{
    uint64_t mask = reg(EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_MSLT);

    return mask & (mask + 1) || mask + 1 < EXTOLL_RING_MIN ? 0 : mask + 1;
}

/*
 * Notes the pages of all mailboxes.  Removes a mailbox that contains the honest process'
 * memory.
 */
static void mailboxes_note(void)
{
    for (unsigned vpid = 0; vpid < EXTOLL_VPIDS; vpid++) {
        uint64_t base = reg(EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_BALT);
        uint64_t bytes = mailbox_bytes(vpid);

        if (vpid != VELO_HONEST && HONEST_AT - base < bytes) {
            uint64_t none = 0;

            box_access(BOX_BAR(EXTOLL_BAR_REGS) + EXTOLL_VELO_VPID(vpid) +
                       EXTOLL_REG_MSLT, &none, 8, true);
            bytes = 0;
        }
        for (unsigned page = 0; page < PAGES && bytes; page++) {
            velo.mailbox[page] |= page * (uint64_t)VELO_PAGE - base < bytes;
        }
    }
}

bool velo_is_mailbox(unsigned page)
{
    return velo.mailbox[page];
}

static bool overlaps(uint32_t offset, unsigned size, uint32_t at, uint32_t bytes)
{
    return offset < at + bytes && at < offset + size;
}

bool velo_is_honest(uint32_t offset, unsigned size)
{
    return overlaps(offset, size, EXTOLL_VELO_VPID(VELO_HONEST), 0x40) ||
           overlaps(offset, size, EXTOLL_END_POINT(VELO_HONEST), 0x10) ||
           overlaps(offset, size, EXTOLL_VELO_RP(VELO_HONEST), 8);
}

void velo_stored(uint32_t offset, unsigned size)
{
    if (overlaps(offset, size, EXTOLL_COUNTER(0), 8 * EXTOLL_COUNTER_COUNT)) {
        velo.counters_cleared = true;
    }
    if (overlaps(offset, size, EXTOLL_VELO_VPID(0), 0x40 * EXTOLL_VPIDS) && !is_gone()) {
        mailboxes_note();
    }
}

/* --- Routes and rights -------------------------------------------------------- */

static unsigned node_of(unsigned to)
{
    return (velo.node + to) % EXTOLL_NODES;
}

static uint64_t route_to(unsigned to)
{
    ExtollHops hops[2] = {
        { .output = 0, .hops = { 1, 0 } },
        { .output = EXTOLL_OUTPUT_VELO, .hops = { 0, 1 } },
    };

    switch (to) {
    case TO_PEER_0:
        return extoll_route_encode(hops, 2);
    case TO_PEER_1:
        hops[0] = (ExtollHops) { .output = 1, .hops = { 0, 1 } };
        return extoll_route_encode(hops, 2);
    case TO_NONE:
        return 0;
    case TO_NO_LINK:
        hops[0].output = 3;
        return extoll_route_encode(hops, 2);
    case TO_BAD:
        hops[0].output = 13;
        return extoll_route_encode(hops, 2);
    case TO_RMA:
        hops[1].output = EXTOLL_OUTPUT_RMA;
        return extoll_route_encode(hops + 1, 1);
    default:
        return extoll_route_encode(hops + 1, 1);
    }
}

static void mailbox_set(unsigned vpid, uint64_t base, uint64_t bytes)
{
    reg_store(EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_BALT, 8, base);
    reg_store(EXTOLL_VELO_VPID(vpid) + EXTOLL_REG_MSLT, 8, bytes - 1);
}

/* Gives the honest process its mailbox, if it has none. */
static void honest_setup(void)
{
    uint32_t at = EXTOLL_VELO_VPID(VELO_HONEST);

    if (reg(at + EXTOLL_REG_BALT) != HONEST_AT) {
        mailbox_set(VELO_HONEST, HONEST_AT, VELO_PAGE);
        reg_store(EXTOLL_END_POINT(VELO_HONEST) + EXTOLL_REG_PROT, 4, HONEST_PROT);
    }
}

/*
 * Enables VELO with a mailbox for each VPID, and with routes.  @in chooses the first and
 * the size of the mailboxes, and which VPIDs interrupt.
 */
void velo_op_setup(FuzzInput *in)
{
    uint32_t first = fuzz_u8(in) % PAGES * VELO_PAGE, irqs = fuzz_u32(in);
    unsigned shift = fuzz_u8(in) % 3;

    honest_setup();
    for (unsigned vpid = 0; vpid < VELO_HONEST; vpid++) {
        mailbox_set(vpid, first + vpid * VELO_PAGE, VELO_PAGE << shift);
    }
    for (unsigned to = 0; to < TOS; to++) {
        reg_store(EXTOLL_VELO_ROUTE(node_of(to)), 8, route_to(to));
    }
    reg_store(EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE, 4, ~0u);
    reg_store(EXTOLL_VELO + EXTOLL_REG_VELO_IRQ, 4, irqs);
    reg_store(EXTOLL_IRQ(EXTOLL_VEC_VELO) + EXTOLL_REG_IRQ_MASK, 4, irqs);
    reg_store(EXTOLL_REG_CTRL, 4, EXTOLL_CTRL_ENABLE);
}

/* Returns a bus address: in RAM, around its end, in a BAR, at the end, or anywhere. */
static uint64_t any_base(FuzzInput *in)
{
    uint8_t kind = fuzz_u8(in);
    uint64_t at = fuzz_u32(in);

    return kind % 8 < 3 ? at % BOX_RAM_BYTES :
           kind % 8 < 5 ? BOX_RAM_BYTES - at % (4 * VELO_PAGE) :
           kind % 8 == 5 ? BOX_BAR(EXTOLL_BAR_REGS) + at % EXTOLL_REGS_BYTES :
           kind % 8 == 6 ? BOX_BAR(EXTOLL_BAR_VELO) + at : -(at % 0x200000);
}

void velo_op_reg(FuzzInput *in)
{
    unsigned which = fuzz_u8(in) % 9, vpid = fuzz_u8(in) % VELO_HONEST;
    uint32_t at = EXTOLL_VELO_VPID(vpid), n = fuzz_u32(in);

    switch (which) {
    case 0:
        reg_store(at + EXTOLL_REG_BALT, 8, any_base(in));
        break;
    case 1:
        /* mostly a valid size */
        reg_store(at + EXTOLL_REG_MSLT, 8,
                  n & 0x80 ? n >> 8 : (EXTOLL_RING_MIN << n % 9) - 1);
        break;
    case 2:
        reg_store(at + EXTOLL_REG_WPLT, 8, n & 0x80 ? n : n % 256);
        break;
    case 3:
        reg_store(at + EXTOLL_REG_RPLT, 8, n & 0x80 ? n : n % 256);
        break;
    case 4:
        reg_store(at + EXTOLL_REG_TXIO, 4, n);
        break;
    case 5:
        reg_store(EXTOLL_END_POINT(vpid) + EXTOLL_REG_PROT, 4, n);
        break;
    case 6:
        reg_store(EXTOLL_VELO_RP(vpid), n & 1 ? 8 : 4,
                  n & 2 ? n >> 2 : reg(at + EXTOLL_REG_WPLT));
        break;
    case 7:
        reg_store(EXTOLL_VELO + (n & 1 ? EXTOLL_REG_VELO_IRQ : EXTOLL_REG_VELO_ENABLE),
                  4, n & 2 ? 0 : fuzz_u32(in));
        break;
    default:
        reg_store(EXTOLL_VELO_ROUTE(node_of(n % TOS)), 8,
                  n & 0x80 ? fuzz_u64(in) : route_to((n >> 4) % TOS));
        break;
    }
}

/* --- BAR 2 -------------------------------------------------------------------- */

/* Replaces the honest VPID in the address @at of BAR 2 by another one. */
static uint32_t address_of_others(uint32_t at)
{
    if (RNIC_GET(EXTOLL_VELO_ADDR_OWN, at) == VELO_HONEST) {
        at &= ~RNIC_PREP(EXTOLL_VELO_ADDR_OWN, 1);
    }
    if (RNIC_GET(EXTOLL_VELO_ADDR_VPID, at) == VELO_HONEST) {
        at &= ~RNIC_PREP(EXTOLL_VELO_ADDR_VPID, 1);
    }
    return at;
}

static uint32_t any_message(FuzzInput *in)
{
    uint8_t kind = fuzz_u8(in);
    uint32_t at = fuzz_u32(in) % EXTOLL_VELO_BAR_BYTES;

    if (kind & 1) {
        at &= ~EXTOLL_VELO_ADDR_NODE;
        at |= RNIC_PREP(EXTOLL_VELO_ADDR_NODE, node_of(kind >> 1 & 7));
    }
    return address_of_others(at);
}

static void vcpu_begin(unsigned flags)
{
    if (flags & SEND_EXCLUSIVE && flags & SEND_VCPU) {
        box_vcpu_exclusive();
    } else {
        box_vcpu(flags & SEND_VCPU);
    }
    box_vcpu_stop(flags & SEND_STOP);
}

static void vcpu_end(void)
{
    box_vcpu(false);
    box_vcpu_stop(false);
}

static void velo_store(uint32_t at, unsigned size, uint64_t value)
{
    box_access(BOX_BAR(EXTOLL_BAR_VELO) + at, &value, size, true);
}

void velo_op_store(FuzzInput *in)
{
    uint32_t at = any_message(in);
    uint8_t how = fuzz_u8(in);
    uint64_t value = fuzz_u64(in);

    vcpu_begin(how >> 4);
    velo_store(at, 1u << how % 4, value);
    vcpu_end();
}

/* Loads @size bytes at @at, and asserts that the value is one that a load can have. */
static uint64_t velo_load(uint32_t at, unsigned size)
{
    uint64_t value = 0;

    box_access(BOX_BAR(EXTOLL_BAR_VELO) + at, &value, size, false);
    g_assert_cmphex(value, <=, size == 8 ? EXTOLL_TXIO_TORN : 0);
    return value;
}

void velo_op_load(FuzzInput *in)
{
    uint32_t at = any_message(in);
    uint8_t how = fuzz_u8(in);

    velo_load(at, 1u << how % 4);
}

/* Stores @msg, whole.  Ends when the device is gone. */
static void message_store(const ExtollVeloMsg *msg, unsigned flags)
{
    uint32_t at = extoll_velo_address_encode(msg);
    unsigned size = flags & SEND_HALVES ? 4 : 8, bytes = msg->quadwords * 8;

    vcpu_begin(flags);
    for (unsigned i = 0; i < bytes && !is_gone(); i += size) {
        unsigned offset = flags & SEND_BACKWARD ? bytes - size - i : i;

        velo_store(at + offset, size, ldn_le_p(msg->data + offset, size));
    }
    vcpu_end();
}

static void other_do(void)
{
    uint8_t epoch = velo.s->epoch;

    if (!is_gone()) {
        velo.other(&velo.in);
        box_met |= is_gone() ? BOX_MET_UNPLUG :
                   velo.s->epoch != epoch ? BOX_MET_RESET : 0;
    }
}

void velo_op_send(FuzzInput *in, VeloOther *other)
{
    uint8_t flags = fuzz_u8(in), from = fuzz_u8(in), to = fuzz_u8(in);
    uint8_t node = fuzz_u8(in), kind = fuzz_u8(in), count = fuzz_u8(in);
    uint8_t releases = fuzz_u8(in);
    uint64_t end = counter(EXTOLL_CNT_CFCQ_DROPPED) + DROPS_MAX;
    ExtollVeloMsg msg = {
        .src_vpid = from % VELO_HONEST, .dst_vpid = to % VELO_HONEST,
        .dst_node = node_of(node % TOS), .quadwords = kind % 8 + 1, .mtt = kind >> 6,
    };

    if (other) {
        velo.in = *in;
        velo.other = other;
        box_meanwhile(releases % 8, other_do);
    }
    for (unsigned i = 0; i < 2 * count + 1 && !is_gone(); i++) {
        uint64_t waits = counter(EXTOLL_CNT_CFCQ_WAIT);
        uint64_t dropped = counter(EXTOLL_CNT_CFCQ_DROPPED);
        uint64_t taken = counter(EXTOLL_CNT_VELO_PIO);

        memset(msg.data, i, sizeof(msg.data));
        message_store(&msg, flags);
        if (counter(EXTOLL_CNT_CFCQ_WAIT) > waits && !(flags & SEND_STOP) &&
            counter(EXTOLL_CNT_CFCQ_DROPPED) == dropped &&
            counter(EXTOLL_CNT_VELO_PIO) > taken) {
            met |= MET_ROOM;
        }
        if (flags & SEND_COMMIT && !is_gone() &&
            velo_load(extoll_velo_address_encode(&msg), 8) == EXTOLL_TXIO_ACCEPTED) {
            met |= MET_ACCEPTED;
        }
        if (counter(EXTOLL_CNT_CFCQ_DROPPED) >= end) {
            break;
        }
        met |= velo.s->velo.fifo.count > EXTOLL_VELO_FIFO ? MET_RESERVE : 0;
    }
    if (other) {
        box_meanwhile(0, NULL);
    }
}

/* --- The honest process ------------------------------------------------------- */

/* Returns true if messages of the honest process may leave. */
static bool may_send(void)
{
    return reg(EXTOLL_REG_CTRL) & EXTOLL_CTRL_ENABLE &&
           reg(EXTOLL_VELO + EXTOLL_REG_VELO_ENABLE) & 1u << VELO_HONEST;
}

/*
 * Returns true if messages of the honest process to @node arrive if their mailbox has
 * room.
 */
static bool may_arrive(unsigned node)
{
    return may_send() && reg(EXTOLL_VELO_ROUTE(node)) == route_to(TO_SELF) &&
           reg(EXTOLL_VELO_VPID(VELO_HONEST) + EXTOLL_REG_BALT) == HONEST_AT;
}

/* Returns the number of messages that were discarded anywhere. */
static uint64_t discarded(void)
{
    return counter(EXTOLL_CNT_VELO_FULL) + counter(EXTOLL_CNT_VELO_DISABLED) +
           counter(EXTOLL_CNT_VELO_PROT) + counter(EXTOLL_CNT_VELO_BUS);
}

/* Forgets all messages: the device was reset. */
static void honest_forget(void)
{
    velo.epoch = velo.s->epoch;
    velo.counters_cleared = false;
    velo.rp = 0;
    velo.lost = 0;
    velo.full = 0;
    velo.count = 0;
}

static void sent_pop(void)
{
    velo.count--;
    memmove(velo.sent, velo.sent + 1, velo.count * sizeof(velo.sent[0]));
}

/* Sends message @msg to the honest process itself.  Returns false if it has not left. */
static bool honest_send(ExtollVeloMsg *msg, unsigned flags)
{
    uint32_t txio = EXTOLL_VELO_VPID(VELO_HONEST) + EXTOLL_REG_TXIO;

    msg->src_node = msg->dst_node = extoll_reg_get32(velo.s, EXTOLL_REG_NODE);
    if (extoll_reg_get32(velo.s, txio) != !!(flags & SEND_COMMIT)) {
        reg_store(txio, 4, !!(flags & SEND_COMMIT));
    }
    if (is_gone() || velo.s->epoch != velo.epoch || !may_send() ||
        velo.count == HONEST_MAX || velo.s->velo.fifo.count > HONEST_ROOM) {
        return false;
    }
    velo.sent[velo.count++] = (Sent) {
        .msg = *msg, .may_lose = !may_arrive(msg->dst_node),
    };
    message_store(msg, flags & ~(SEND_VCPU | SEND_EXCLUSIVE | SEND_STOP));
    if (flags & SEND_COMMIT && !is_gone() && velo.s->epoch == velo.epoch) {
        g_assert_cmphex(velo_load(extoll_velo_address_encode(msg), 8), ==,
                        velo.s->strict ? EXTOLL_TXIO_TORN : EXTOLL_TXIO_ACCEPTED);
    }
    return true;
}

static void message_fill(ExtollVeloMsg *msg)
{
    velo.number++;
    for (unsigned i = 0; i < sizeof(msg->data); i++) {
        msg->data[i] = velo.number * 29 + i;
    }
}

void velo_op_honest(FuzzInput *in)
{
    unsigned count = fuzz_u8(in) % 16 + 1;

    honest_setup();
    for (unsigned i = 0; i < count; i++) {
        uint8_t kind = fuzz_u8(in), flags = fuzz_u8(in);
        ExtollVeloMsg msg = {
            .src_vpid = VELO_HONEST, .dst_vpid = VELO_HONEST,
            .quadwords = kind % 8 + 1, .mtt = kind >> 6,
        };

        message_fill(&msg);
        if (!honest_send(&msg, flags)) {
            break;
        }
    }
}

/* Returns true if @slot is a part of @sent, from the next quadword on. */
static bool is_part(const Sent *sent, const struct extoll_slot *slot)
{
    const ExtollVeloMsg *msg = &sent->msg;
    uint64_t status = le64_to_cpu(slot->status);
    unsigned bytes = RNIC_GET(EXTOLL_SLOT_FRAGMENT, status);

    return RNIC_GET(EXTOLL_SLOT_FIRST, status) == sent->got && bytes && bytes % 8 == 0 &&
           bytes <= EXTOLL_SLOT_DATA && sent->got + bytes / 8 <= msg->quadwords &&
           RNIC_GET(EXTOLL_SLOT_NODE, status) == msg->src_node &&
           RNIC_GET(EXTOLL_SLOT_VPID, status) == msg->src_vpid &&
           RNIC_GET(EXTOLL_SLOT_MTT, status) == msg->mtt &&
           RNIC_GET(EXTOLL_SLOT_MESSAGE, status) == msg->quadwords * 8u &&
           !!(status & EXTOLL_SLOT_END) == (sent->got + bytes / 8 == msg->quadwords) &&
           status & EXTOLL_SLOT_VALID && !(status & EXTOLL_SLOT_ERROR) &&
           !memcmp(slot->data, msg->data + sent->got * 8, bytes) &&
           buffer_is_zero(slot->data + bytes, sizeof(slot->data) - bytes);
}

/* Takes @slot: messages before its own may be missing only if they may be lost. */
static void slot_take(const struct extoll_slot *slot)
{
    Sent *sent = &velo.sent[0];
    uint64_t status = le64_to_cpu(slot->status);

    while (velo.count && !is_part(sent, slot)) {
        g_assert_true(sent->may_lose);
        met |= MET_LOST;
        sent_pop();
    }
    g_assert_cmpuint(velo.count, >, 0);
    sent->got += RNIC_GET(EXTOLL_SLOT_FRAGMENT, status) / 8;
    met |= MET_ARRIVED | (status & EXTOLL_SLOT_SPLIT ? MET_PARTS : 0);
    if (status & EXTOLL_SLOT_END) {
        sent_pop();
    }
}

/*
 * Returns the number of discarded messages.  Those without room count only if the honest
 * messages that are under way may need more slots than their mailbox has, because each
 * operation begins with an empty mailbox.
 */
static uint64_t discarded_lawfully(void)
{
    unsigned slots = 0;

    for (unsigned i = 0; i < velo.count; i++) {
        const ExtollVeloMsg *msg = &velo.sent[i].msg;

        slots += msg->quadwords * 8 > EXTOLL_SLOT_DATA || velo.s->split ? 2 : 1;
    }
    return discarded() - counter(EXTOLL_CNT_VELO_FULL) +
           (slots > HONEST_SLOTS ? counter(EXTOLL_CNT_VELO_FULL) : velo.full);
}

/* Takes all messages from the honest process' mailbox, and frees their slots. */
static void honest_take(void)
{
    uint32_t at = EXTOLL_VELO_VPID(VELO_HONEST), wp = reg(at + EXTOLL_REG_WPLT);
    uint64_t lost = discarded_lawfully();

    for (unsigned i = 0; i < velo.count; i++) {
        velo.sent[i].may_lose |= lost != velo.lost || velo.counters_cleared ||
                                 !may_arrive(velo.sent[i].msg.dst_node);
    }
    velo.lost = discarded();
    velo.full = counter(EXTOLL_CNT_VELO_FULL);
    if (velo.s->strict && peers_are_hostile()) {
        /* without protection ids, hostile messages come to the honest process */
        velo.rp = wp;
        velo.count = 0;
    }
    g_assert_cmpuint(wp - velo.rp, <=, HONEST_SLOTS);
    if (wp == velo.rp) {
        return;
    }
    for (; velo.rp != wp; velo.rp++) {
        struct extoll_slot slot;

        memcpy(&slot, box_ram + HONEST_AT + velo.rp % HONEST_SLOTS * sizeof(slot),
               sizeof(slot));
        slot_take(&slot);
    }
    reg_store(wp & 1 ? at + EXTOLL_REG_RPLT : EXTOLL_VELO_RP(VELO_HONEST), 8, wp);
}

/* --- Checks ------------------------------------------------------------------- */

/* Returns the number of packets that the crossbar and the links have dropped. */
static uint64_t crossbar_drops(void)
{
    uint64_t drops = counter(EXTOLL_CNT_ROUTE_BAD);

    for (unsigned i = 0; i < EXTOLL_LINKS; i++) {
        drops += velo.s->link[i].counter[EXTOLL_LINK_DROPPED];
    }
    return drops;
}

/* Asserts that the counters of VELO agree with each other and with VELO_COUNT. */
static void counters_check(void)
{
    uint64_t count = 0, dma = counter(EXTOLL_CNT_VELO_DMA_WRITE), received, left;

    box_access(BOX_BAR(EXTOLL_BAR_REGS) + EXTOLL_VELO + EXTOLL_REG_VELO_COUNT, &count, 8,
               false);
    received = RNIC_GET(EXTOLL_VELO_COUNT_RECEIVED, count);
    g_assert_cmphex(count >> 63, ==, 0);
    g_assert_cmpuint(RNIC_GET(EXTOLL_VELO_COUNT_SENT, count), ==,
                     counter(EXTOLL_CNT_VELO_TRIP));
    g_assert_cmpuint(RNIC_GET(EXTOLL_VELO_COUNT_DISCARDED, count), ==, discarded());
    g_assert_cmpuint(received, <=, dma);
    g_assert_cmpuint(dma, <=, 2 * received + counter(EXTOLL_CNT_VELO_BUS));
    g_assert_cmpuint(counter(EXTOLL_CNT_HTAX_POSTED), ==,
                     counter(EXTOLL_CNT_VELO_PIO) + dma);
    left = counter(EXTOLL_CNT_VELO_TRIP) + counter(EXTOLL_CNT_NO_ROUTE) +
           velo.s->velo.fifo.count;
    /* the crossbar also counts the packets of links that it drops */
    g_assert_cmpuint(counter(EXTOLL_CNT_VELO_PIO), >=, left);
    g_assert_cmpuint(counter(EXTOLL_CNT_VELO_PIO), <=, left + crossbar_drops());
    g_assert_cmpuint(counter(EXTOLL_CNT_VELO_SPLIT), <=, counter(EXTOLL_CNT_VELO_PIO));
}

void velo_begin(void)
{
    memset(velo.mailbox, 0, sizeof(velo.mailbox));
    mailboxes_note();
}

void velo_check(void)
{
    ExtollVeloRequester *v = &velo.s->velo;

    for (unsigned i = 0; i < ARRAY_SIZE(counters); i++) {
        reached |= counter(counters[i]) ? 1ULL << i : 0;
    }
    if (velo.s->epoch != velo.epoch) {
        honest_forget();
    }
    g_assert_cmpuint(v->fifo.count, <=, EXTOLL_VELO_QUEUE);
    if (!velo.counters_cleared) {
        counters_check();
    }
    honest_take();
    if (!is_gone() && velo.s->epoch == velo.epoch && !v->fifo.count) {
        for (; velo.count; sent_pop()) {
            g_assert_true(velo.sent[0].may_lose);
            met |= MET_LOST;
        }
    }
}

void velo_works_check(void)
{
    uint8_t none[8] = { 0, 0xff, 0xff, 0xff, 0xff };
    FuzzInput in = { none, sizeof(none) };
    uint64_t received = velo.s->mailboxes.received;

    honest_forget();
    velo_begin();
    velo_op_setup(&in);
    for (unsigned quadwords = 1; quadwords <= EXTOLL_VELO_QUADWORDS; quadwords++) {
        ExtollVeloMsg msg = {
            .src_vpid = VELO_HONEST, .dst_vpid = VELO_HONEST, .quadwords = quadwords,
        };

        message_fill(&msg);
        g_assert_true(honest_send(&msg, quadwords & 1 ? SEND_COMMIT : SEND_BACKWARD));
        g_assert_true(box_run(ITERATIONS));
        velo_check();
        g_assert_cmpuint(velo.count, ==, 0);
    }
    g_assert_cmpuint(velo.s->mailboxes.received - received, >=, EXTOLL_VELO_QUADWORDS);
    g_assert_cmpuint(discarded(), ==, 0);
}

void velo_reached(void)
{
    for (unsigned i = 0; i < ARRAY_SIZE(counters); i++) {
        if (!(reached & 1ULL << i)) {
            g_error("no input has counted counter %u", counters[i]);
        }
    }
    g_assert_cmphex(met, ==, MET_ALL);
}

void velo_start(ExtollState *s, const bool *gone)
{
    memset(&velo, 0, sizeof(velo));
    velo.s = s;
    velo.gone = gone;
    velo.node = s->node;
    honest_forget();
}
