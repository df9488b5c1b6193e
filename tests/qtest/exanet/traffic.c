/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traffic and its ledger; see traffic.h. */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "traffic.h"
#include "../common/machine.h"

#define POOL_BYTES (2 * EXANET_TRAFFIC_MAX)
#define IDLE_STEP_MAX 64
#define PASS_STEPS 10
#define DRAIN_NS (50 * EXANET_MS)   /* longer than any fault delays a packet */
#define GUARD 64 /* bytes before and behind each target that must not change */
#define RING_LOG2 10
#define RING_ENTRIES (1u << RING_LOG2)
#define SENDER 0                    /* numbers of contexts */
#define TARGET 1
/* time after which a read whose owner was reset counts as lost */
#define LOST_READ_NS (25000 * EXANET_MS)

static const char *const kind_name[] = { "write", "read", "message" };

static uint64_t ring(unsigned c)
{
    return EXANET_RAM_RING + c * RING_ENTRIES * sizeof(struct exanet_message);
}

static char *describe(const ExanetOp *op)
{
    return g_strdup_printf("%s %" PRIu64 " of %u bytes, node %u to %u, channel "
                           "%u, pool +0x%x, target +0x%x: %s, error 0x%x, "
                           "%u arrived", kind_name[op->kind], op->id, op->len,
                           op->from, op->to, op->channel, op->src, op->dst,
                           !op->end ? "runs" : op->failed ? "failed" : "done",
                           op->error, op->arrived);
}

/* Returns the node whose memory or mailbox @op changes. */
static unsigned op_target(const ExanetOp *op)
{
    return op->kind == EXANET_OP_READ ? op->from : op->to;
}

/* --- Nodes ---------------------------------------------------------------- */

static void open_mailboxes(ExanetTraffic *tr, unsigned n)
{
    for (unsigned c = 0; c < EXANET_NETWORK_CONTEXTS; c++) {
        exanet_mailbox_open(tr->f->t[n], c, 0, ring(c), RING_LOG2, 0);
        tr->node[n].head[c] = 0;
    }
}

static void node_started(ExanetTraffic *tr, unsigned n)
{
    ExanetTrafficNode *node = &tr->node[n];

    exanet_fill(tr->f->t[n], EXANET_RAM_SRC, node->pool, POOL_BYTES, n + 1);
    memset(node->image, 0, EXANET_TRAFFIC_BYTES);
    open_mailboxes(tr, n);
}

ExanetTraffic *exanet_traffic_new(ExanetNetwork *f, uint32_t seed)
{
    ExanetTraffic *tr = g_new0(ExanetTraffic, 1);

    tr->f = f;
    tr->rand = g_rand_new_with_seed(seed);
    tr->ops = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    tr->old = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (unsigned n = 0; n < f->topo.nodes; n++) {
        if (f->t[n]) {
            tr->node[n].pool = g_malloc(POOL_BYTES);
            tr->node[n].image = g_malloc0(EXANET_TRAFFIC_BYTES);
            node_started(tr, n);
        }
    }
    return tr;
}

/* --- The ledger ----------------------------------------------------------- */

static void ledger_message(ExanetTraffic *tr, unsigned n,
                           const struct exanet_message *m)
{
    bool note = RNIC_GET(EXANET_MESSAGE_TYPE, m->origin) == EXANET_TYPE_NOTIFY;
    uint64_t id = note ? m->data : ldq_le_p(m->payload);
    ExanetOp *op = g_hash_table_lookup(tr->ops, &id);

    if (!op) {
        g_error("node %u got %s of %s operation %" PRIu64, n,
                note ? "a notification" : "a message",
                g_hash_table_contains(tr->old, &id) ? "the finished" :
                "the unknown", id);
    }
    g_assert_cmpuint(n, ==, op_target(op));
    if (note) {
        uint64_t status = ldq_le_p(m->payload +
                                   offsetof(struct exanet_notification, status));

        g_assert_cmphex(ldq_le_p(m->payload), ==, id);
        if (RNIC_GET(EXANET_NOTIFICATION_STATUS, status)) {
            op->failed = true;
            op->error = RNIC_GET(EXANET_NOTIFICATION_HANDLE, status);
        } else {
            g_assert_cmpuint(RNIC_GET(EXANET_NOTIFICATION_LENGTH, status), ==,
                             op->len);
        }
    } else {
        g_assert_cmphex(RNIC_GET(EXANET_MESSAGE_COORD, m->origin), ==,
                        tr->f->topo.coord[op->from]);
        g_assert_cmpuint(RNIC_GET(EXANET_MESSAGE_SIZE, m->origin), ==, op->len);
        g_assert_cmpmem(m->payload + 8, op->len - 8,
                        tr->node[op->from].pool + op->src, op->len - 8);
    }
    op->arrived++;
}

static void ledger_drain(ExanetTraffic *tr, unsigned n, unsigned c)
{
    ExanetTest *t = tr->f->t[n];
    uint32_t *head = &tr->node[n].head[c];
    uint32_t tail = exanet_mailbox_get(t, c, 0,
                                       offsetof(struct exanet_mailbox, tail));

    g_assert_cmpuint(tail - *head, <=, RING_ENTRIES);
    if (*head == tail) {
        return;
    }
    for (; *head != tail; (*head)++) {
        struct exanet_message m = exanet_message_read(t, ring(c),
                                                      *head % RING_ENTRIES);

        g_assert_cmpuint(m.phase & 1, ==, !(*head & RING_ENTRIES));
        ledger_message(tr, n, &m);
    }
    exanet_user_set(t, c, EXANET_PAGE_MAILBOX,
                    offsetof(struct exanet_mailbox, head), tail);
}

static void ledger_drain_all(ExanetTraffic *tr)
{
    for (unsigned n = 0; n < tr->f->topo.nodes; n++) {
        for (unsigned c = 0; tr->f->t[n] && c < EXANET_NETWORK_CONTEXTS; c++) {
            ledger_drain(tr, n, c);
        }
    }
}

/* --- Starting ------------------------------------------------------------- */

static ExanetOp *op_new(ExanetTraffic *tr, enum exanet_op_kind kind,
                        unsigned from, unsigned to)
{
    ExanetOp *op = g_new0(ExanetOp, 1);

    op->kind = kind;
    op->from = from;
    op->to = to;
    op->id = ++tr->ids;
    op->start = tr->f->now;
    g_hash_table_insert(tr->ops, &op->id, op);
    return op;
}

/*
 * Reserves @len bytes in the image of node @n, with guards around them; returns the
 * offset.  @any: with any alignment, else aligned to 16.
 */
static uint32_t take_room(ExanetTraffic *tr, unsigned n, uint32_t len, bool any)
{
    ExanetTrafficNode *node = &tr->node[n];
    uint32_t at = ROUND_UP(node->next, 16) + GUARD;

    if (any && g_rand_int_range(tr->rand, 0, 4)) {
        at += g_rand_int_range(tr->rand, 0, 256);
    }
    if (at + len + GUARD > EXANET_TRAFFIC_BYTES) {
        at = GUARD;
    }
    node->next = at + len;
    node->used = MAX(node->used, node->next + GUARD);
    return at;
}

static uint32_t take_source(ExanetTraffic *tr, uint32_t len)
{
    g_assert_cmpuint(len, <=, EXANET_TRAFFIC_MAX);
    return g_rand_int_range(tr->rand, 0, POOL_BYTES - len);
}

static ExanetOp **free_channel(ExanetOp **list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!list[i]) {
            return list + i;
        }
    }
    return NULL;
}

ExanetOp *exanet_traffic_write(ExanetTraffic *tr, unsigned from, unsigned to,
                               uint32_t len, enum exanet_op_note note)
{
    ExanetOp **slot = free_channel(tr->node[from].write, EXANET_WRITE_CHANNELS);
    uint32_t coord = tr->f->topo.coord[to];
    ExanetTransfer x = { 0 };
    ExanetOp *op;

    if (!slot) {
        return NULL;
    }
    op = *slot = op_new(tr, EXANET_OP_WRITE, from, to);
    op->channel = slot - tr->node[from].write;
    op->len = len;
    op->note = note;
    op->src = take_source(tr, len);
    op->dst = take_room(tr, to, len, true);
    x.src = EXANET_RAM_SRC + op->src;
    x.dst = exanet_gva(coord, EXANET_RAM_DST + op->dst);
    x.len = len;
    x.ctrl = tr->ctrl | RNIC_PREP(EXANET_CHANNEL_DST_CTX, TARGET);
    if (note) {
        uint64_t va = EXANET_NI_VA(EXANET_NI_MAILBOX);

        if (note == EXANET_NOTE_MEMORY) {
            op->note_at = take_room(tr, to, sizeof(struct exanet_notification),
                                    false);
            va = EXANET_RAM_DST + op->note_at;
        }
        x.ctrl |= EXANET_CHANNEL_NOTIFY;
        x.notify_gva = exanet_gva(coord, va);
        x.notify_data = op->id;
    }
    exanet_channel_start(tr->f->t[from], SENDER, op->channel, &x);
    return op;
}

static ExanetOp *packet_op(ExanetTraffic *tr, enum exanet_op_kind kind,
                           unsigned from, unsigned to)
{
    ExanetOp **slot = free_channel(tr->node[from].packet, EXANET_PKTZ_CHANNELS);

    if (!slot) {
        return NULL;
    }
    *slot = op_new(tr, kind, from, to);
    (*slot)->channel = slot - tr->node[from].packet;
    return *slot;
}

ExanetOp *exanet_traffic_read(ExanetTraffic *tr, unsigned who, unsigned owner,
                              uint32_t len)
{
    ExanetOp *op = packet_op(tr, EXANET_OP_READ, who, owner);
    uint32_t coord = tr->f->topo.coord[who];
    struct exanet_read_req req;

    if (!op) {
        return NULL;
    }
    op->len = len;
    op->note = EXANET_NOTE_MAILBOX;
    op->src = take_source(tr, len);
    op->dst = take_room(tr, who, len, true);
    req = (struct exanet_read_req) {
        .src = cpu_to_le64(EXANET_RAM_SRC + op->src),
        .dst = cpu_to_le64(exanet_gva(coord, EXANET_RAM_DST + op->dst)),
        .notify_gva = cpu_to_le64(exanet_gva(coord, EXANET_NI_VA(
                                             EXANET_NI_MAILBOX))),
        .ctrl = cpu_to_le64(len | EXANET_READ_REQ_NOTIFY |
                            RNIC_PREP(EXANET_READ_REQ_OWNER, TARGET)),
        .notify_data = cpu_to_le64(op->id),
    };
    exanet_pktz_start(tr->f->t[who], SENDER, op->channel,
                      exanet_gva(tr->f->topo.coord[owner],
                                 EXANET_NI_VA(EXANET_NI_RT_REQUEST)),
                      &req, EXANET_READ_REQ_USER_BYTES, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_CODE, EXANET_TYPE_READ_REQ));
    return op;
}

ExanetOp *exanet_traffic_message(ExanetTraffic *tr, unsigned from, unsigned to,
                                 unsigned size)
{
    ExanetOp *op = packet_op(tr, EXANET_OP_MESSAGE, from, to);
    uint8_t payload[EXANET_PKTZ_PAYLOAD_MAX];

    if (!op) {
        return NULL;
    }
    op->len = CLAMP(size, 8, EXANET_PKTZ_PAYLOAD_MAX);
    op->note = EXANET_NOTE_MAILBOX;
    op->src = take_source(tr, op->len);
    stq_le_p(payload, op->id);
    memcpy(payload + 8, tr->node[from].pool + op->src, op->len - 8);
    exanet_pktz_start(tr->f->t[from], SENDER, op->channel,
                      exanet_gva(tr->f->topo.coord[to],
                                 EXANET_NI_VA(EXANET_NI_MAILBOX)),
                      payload, op->len, EXANET_PKTZ_ACK |
                      RNIC_PREP(EXANET_PKTZ_DST_CTX, TARGET));
    return op;
}

ExanetOp *exanet_traffic_random(ExanetTraffic *tr, unsigned from, unsigned to,
                                uint32_t max)
{
    unsigned bits = g_rand_int_range(tr->rand, 1, 32 - clz32(max));
    uint32_t len = g_rand_int_range(tr->rand, 1, MIN(max, 1u << bits) + 1);

    switch (g_rand_int_range(tr->rand, 0, 5)) {
    case 0:
        return exanet_traffic_message(tr, from, to, len % 65);
    case 1:
        return exanet_traffic_read(tr, from, to, len);
    default:
        return exanet_traffic_write(tr, from, to, len,
                                    g_rand_int_range(tr->rand, 0, 3));
    }
}

void exanet_traffic_all_to_all(ExanetTraffic *tr, uint32_t max)
{
    unsigned nodes = tr->f->topo.nodes;

    for (unsigned i = 0; i < nodes * nodes; i++) {
        unsigned from = i / nodes, to = i % nodes;

        if (tr->f->t[from] && tr->f->t[to] && !tr->f->topo.passes[from] &&
            !tr->f->topo.passes[to]) {
            exanet_traffic_random(tr, from, to, max);
        }
    }
}

/* --- Running -------------------------------------------------------------- */

static void op_end(ExanetTraffic *tr, ExanetOp *op, ExanetOp **slot,
                   bool failed, unsigned error)
{
    op->end = tr->f->now;
    if (failed) {
        op->failed = true;
        op->error = error;
    }
    *slot = NULL;
}

static unsigned poll_writes(ExanetTraffic *tr, unsigned n)
{
    ExanetTest *t = tr->f->t[n];
    struct exanet_channel page[EXANET_WRITE_CHANNELS];
    unsigned running = 0;

    qtest_bufread(t->qts, t->user.addr + exanet_user(t, SENDER,
                  EXANET_PAGE_SCRATCHPAD), page, sizeof(page));
    for (unsigned i = 0; i < EXANET_WRITE_CHANNELS; i++) {
        ExanetOp **slot = &tr->node[n].write[i];
        uint64_t status = le64_to_cpu(page[i].status);
        unsigned state = RNIC_GET(EXANET_CHSTAT_STATE, status);

        if (!*slot) {
            continue;
        }
        if (state >= EXANET_CHANNEL_DONE) {
            op_end(tr, *slot, slot, state != EXANET_CHANNEL_DONE,
                   RNIC_GET(EXANET_CHSTAT_ERROR, status));
        } else {
            running++;
        }
    }
    return running;
}

/*
 * Returns true if a read has ended: its notification has arrived, it has failed, or
 * after a reset LOST_READ_NS have passed.
 */
static bool read_ended(ExanetTraffic *tr, const ExanetOp *op, unsigned state)
{
    return state == EXANET_PKTZ_FAILED || op->arrived || op->failed ||
           (op->may_fail && tr->f->now - op->start > LOST_READ_NS);
}

static unsigned poll_packets(ExanetTraffic *tr, unsigned n)
{
    ExanetTest *t = tr->f->t[n];
    struct exanet_pktz_channel page[EXANET_PKTZ_CHANNELS];
    unsigned running = 0;

    qtest_bufread(t->qts, t->user.addr + exanet_user(t, SENDER,
                  EXANET_PAGE_PACKETIZER), page, sizeof(page));
    for (unsigned i = 0; i < EXANET_PKTZ_CHANNELS; i++) {
        ExanetOp **slot = &tr->node[n].packet[i];
        uint64_t status = le64_to_cpu(page[i].status);
        unsigned state = RNIC_GET(EXANET_PKTZSTAT_STATE, status);

        if (!*slot) {
            continue;
        }
        if (state == EXANET_PKTZ_WAITING ||
            ((*slot)->kind == EXANET_OP_READ &&
             !read_ended(tr, *slot, state))) {
            running++;
        } else {
            op_end(tr, *slot, slot, state != EXANET_PKTZ_ACKED ||
                   ((*slot)->kind == EXANET_OP_READ && !(*slot)->arrived),
                   RNIC_GET(EXANET_PKTZSTAT_RESP, status));
        }
    }
    return running;
}

static bool any(ExanetOp **list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (list[i]) {
            return true;
        }
    }
    return false;
}

unsigned exanet_traffic_poll(ExanetTraffic *tr)
{
    unsigned running = 0;

    ledger_drain_all(tr);
    for (unsigned n = 0; n < tr->f->topo.nodes; n++) {
        if (!tr->f->t[n]) {
            continue;
        }
        if (any(tr->node[n].write, EXANET_WRITE_CHANNELS)) {
            running += poll_writes(tr, n);
        }
        if (any(tr->node[n].packet, EXANET_PKTZ_CHANNELS)) {
            running += poll_packets(tr, n);
        }
    }
    return running;
}

static void tell_running(ExanetTraffic *tr)
{
    GHashTableIter it;
    ExanetOp *op;

    g_hash_table_iter_init(&it, tr->ops);
    while (g_hash_table_iter_next(&it, NULL, (gpointer *)&op)) {
        g_autofree char *text = describe(op);

        if (!op->end) {
            g_printerr("# %s\n", text);
        }
        if (!op->end && op->kind == EXANET_OP_WRITE) {
            g_printerr("#   status 0x%" PRIx64 "\n",
                       exanet_channel_status(tr->f->t[op->from], SENDER,
                                             op->channel));
        }
    }
}

static bool still_running(ExanetTraffic *tr, int64_t end)
{
    if (!exanet_traffic_poll(tr)) {
        return false;
    }
    if (tr->f->now >= end) {
        tell_running(tr);
        exanet_network_dump(tr->f);
        g_error("operations that have not ended");
    }
    return true;
}

static bool idle(ExanetNetwork *f)
{
    for (unsigned n = 0; n < f->topo.nodes; n++) {
        if (f->t[n] && exanet_get32(f->t[n],
                                    EXANET_FW + EXANET_REG_FW_ACTIVE)) {
            return false;
        }
    }
    return true;
}

/*
 * Waits until no firmware has an active transfer: the owner of data may not have the
 * last acks yet, and after a reset an owner may still serve reads of which the reader
 * knows nothing.
 */
static void drain(ExanetTraffic *tr, int64_t ns, int64_t limit)
{
    if (tr->restless) {
        exanet_network_step(tr->f, DRAIN_NS);
    }
    exanet_network_until(tr->f, tr->others || idle(tr->f), ns, limit);
    if (tr->restless) {
        exanet_network_step(tr->f, DRAIN_NS);
    }
    tr->restless = false;
}

void exanet_traffic_pass(ExanetTraffic *tr, int64_t step, int64_t limit)
{
    int64_t end = tr->f->now + limit;

    while (still_running(tr, end)) {
        exanet_network_pass(tr->f, PASS_STEPS * step, step);
    }
    exanet_network_settle(tr->f);
}

void exanet_traffic_run(ExanetTraffic *tr, int64_t ns, int64_t limit)
{
    int64_t end = tr->f->now + limit;
    int64_t step = ns;

    exanet_network_settle(tr->f);
    while (still_running(tr, end)) {
        /* longer steps while no packet moves, because timeouts may take seconds */
        step = exanet_network_step(tr->f, step) ? ns :
               MIN(step * 2, ns * IDLE_STEP_MAX);
    }
    drain(tr, ns, limit);
}

/* --- Resets --------------------------------------------------------------- */

static void end_all(ExanetTraffic *tr, ExanetOp **list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (list[i]) {
            op_end(tr, list[i], &list[i], true, EXANET_CHERR_ABORTED);
        }
    }
}

/*
 * Marks the operations of node @n, which is about to stop: those that run may fail, and
 * may take effect twice.  @forgets: its memory is lost, too.
 */
static void node_stops(ExanetTraffic *tr, unsigned n, bool forgets)
{
    GHashTableIter it;
    ExanetOp *op;

    /* takes the messages that have arrived, because the mailboxes are opened again */
    exanet_network_settle(tr->f);
    exanet_traffic_poll(tr);
    tr->restless = true;
    g_hash_table_iter_init(&it, tr->ops);
    while (g_hash_table_iter_next(&it, NULL, (gpointer *)&op)) {
        if (op->from != n && op->to != n) {
            continue;
        }
        op->may_fail |= !op->end;
        /*
         * a read may run for longer at its owner, which does not know yet that it has
         * ended
         */
        op->may_repeat |= !op->end || op->kind == EXANET_OP_READ;
        op->forgotten |= forgets && op_target(op) == n;
    }
    end_all(tr, tr->node[n].write, EXANET_WRITE_CHANNELS);
    end_all(tr, tr->node[n].packet, EXANET_PKTZ_CHANNELS);
}

void exanet_traffic_reset(ExanetTraffic *tr, unsigned n)
{
    node_stops(tr, n, false);
    exanet_network_reset(tr->f, n);
    open_mailboxes(tr, n);
}

void exanet_traffic_kill(ExanetTraffic *tr, unsigned n)
{
    node_stops(tr, n, true);
    exanet_network_kill(tr->f, n);
}

void exanet_traffic_revive(ExanetTraffic *tr, unsigned n)
{
    exanet_network_revive(tr->f, n);
    node_started(tr, n);
}

/* --- Checking ------------------------------------------------------------- */

static void check_span(ExanetTraffic *tr, unsigned n, uint32_t at, uint32_t len)
{
    g_autofree uint8_t *have = g_malloc(len);
    const uint8_t *want = tr->node[n].image + at;

    machine_read(tr->f->t[n]->qts, EXANET_RAM_DST + at, have, len);
    for (uint32_t i = 0; i < len; i++) {
        if (have[i] != want[i]) {
            g_error("byte 0x%x of node %u is 0x%02x, not 0x%02x", at + i, n,
                    have[i], want[i]);
        }
    }
}

/*
 * Copies the target of a failed operation to the image, because it may have any
 * content.
 */
static void take_over(ExanetTraffic *tr, unsigned n, uint32_t at, uint32_t len)
{
    if (tr->f->t[n]) {
        machine_read(tr->f->t[n]->qts, EXANET_RAM_DST + at,
                     tr->node[n].image + at, len);
    }
}

static void check_count(const ExanetOp *op)
{
    g_autofree char *text = describe(op);
    bool ok = op->failed ? op->may_fail : true;

    if (op->note == EXANET_NOTE_MAILBOX && !op->failed) {
        ok = ok && op->arrived >= 1;
    }
    if (op->note != EXANET_NOTE_MAILBOX) {
        ok = ok && !op->arrived;
    } else if (!op->may_repeat) {
        ok = ok && op->arrived <= 1;
    }
    if (!ok || !op->end) {
        g_error("%s", text);
    }
}

static void expect_note(ExanetTraffic *tr, const ExanetOp *op)
{
    uint8_t *note = tr->node[op->to].image + op->note_at;

    stq_le_p(note + offsetof(struct exanet_notification, data), op->id);
    stq_le_p(note + offsetof(struct exanet_notification, status),
             EXANET_NOTIFICATION_VALID |
             RNIC_PREP(EXANET_NOTIFICATION_LENGTH, op->len) |
             RNIC_PREP(EXANET_NOTIFICATION_HANDLE, 1));
}

static void check_op(ExanetTraffic *tr, ExanetOp *op)
{
    unsigned target = op_target(op);
    unsigned source = op->kind == EXANET_OP_READ ? op->to : op->from;
    bool memory = op->note == EXANET_NOTE_MEMORY;

    check_count(op);
    if (op->kind == EXANET_OP_MESSAGE) {
        return;
    }
    if (op->failed || op->forgotten) {
        take_over(tr, target, op->dst, op->len);
        if (memory) {
            take_over(tr, target, op->note_at,
                      sizeof(struct exanet_notification));
        }
        return;
    }
    memcpy(tr->node[target].image + op->dst, tr->node[source].pool + op->src,
           op->len);
    if (memory) {
        expect_note(tr, op);
    }
}

static void check_memory(ExanetTraffic *tr, const ExanetOp *op)
{
    unsigned target = op_target(op);

    if (op->kind == EXANET_OP_MESSAGE || !tr->f->t[target]) {
        return;
    }
    check_span(tr, target, op->dst - GUARD, op->len + 2 * GUARD);
    if (op->note == EXANET_NOTE_MEMORY) {
        check_span(tr, target, op->note_at,
                   sizeof(struct exanet_notification));
    }
}

void exanet_traffic_check(ExanetTraffic *tr)
{
    GHashTableIter it;
    ExanetOp *op;

    ledger_drain_all(tr);
    g_hash_table_iter_init(&it, tr->ops);
    while (g_hash_table_iter_next(&it, NULL, (gpointer *)&op)) {
        check_op(tr, op);
    }
    g_hash_table_iter_init(&it, tr->ops);
    while (g_hash_table_iter_next(&it, NULL, (gpointer *)&op)) {
        check_memory(tr, op);
        g_hash_table_add(tr->old, g_memdup2(&op->id, sizeof(op->id)));
    }
    g_hash_table_remove_all(tr->ops);
}

void exanet_traffic_free(ExanetTraffic *tr)
{
    exanet_traffic_check(tr);
    for (unsigned n = 0; n < tr->f->topo.nodes; n++) {
        if (tr->f->t[n] && tr->node[n].used) {
            check_span(tr, n, 0, tr->node[n].used);
        }
        g_free(tr->node[n].pool);
        g_free(tr->node[n].image);
    }
    g_hash_table_unref(tr->ops);
    g_hash_table_unref(tr->old);
    g_rand_free(tr->rand);
    g_free(tr);
}
