/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet in QOM: properties faultsN, and views of the state of the device:
 * `qom-get /machine/peripheral/ID links`.
 *
 * The view `links` reads most values from the registers of the ports, so that view and
 * registers agree.
 */
#include "qemu/osdep.h"
#include "qobject/qdict.h"
#include "qobject/qlist.h"
#include "../core/qom.h"
#include "net/arith.h"
#include "engine/context.h"
#include "exanet.h"
#include "firmware/firmware.h"
#include "../link/inject-qom.h"
#include "../link/port.h"
#include "qom.h"
#include "engine/receiver.h"
#include "base/regs.h"
#include "net/route.h"
#include "net/wire-fault.h"
#include "port-regs.h"
#include "stats.h"

static void put_coord(QDict *dict, uint32_t coord)
{
    rnic_put_uint(dict, "coord", coord);
    rnic_put_uint(dict, "upper", RNIC_GET(EXANET_COORD_UPPER, coord));
    rnic_put_uint(dict, "offset", RNIC_GET(EXANET_COORD_OFFSET, coord));
    rnic_put_uint(dict, "z", RNIC_GET(EXANET_COORD_Z, coord));
    rnic_put_uint(dict, "y", RNIC_GET(EXANET_COORD_Y, coord));
    rnic_put_uint(dict, "x", RNIC_GET(EXANET_COORD_X, coord));
}

/* --- Node ----------------------------------------------------------------- */

static QObject *node_make(void *state)
{
    ExanetState *s = state;
    static const char *const mode[] = {
        [EXANET_FW_INTERNAL] = "internal",
        [EXANET_FW_EXTERNAL] = "external",
        [EXANET_FW_OFF] = "off",
        [EXANET_FW_OFF + 1] = "off",
    };
    QDict *node = qdict_new();
    unsigned transfers = 0, up = 0;

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        transfers += exanet_firmware_active(s, c);
    }
    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        up += p->up;
    }
    put_coord(node, s->node);
    rnic_put_uint(node, "epoch", s->epoch);
    qdict_put_bool(node, "enabled", s->enabled);
    qdict_put_bool(node, "strict", s->strict);
    qdict_put_str(node, "firmware",
                  mode[exanet_reg_get32(s, EXANET_FW + EXANET_REG_FW_MODE)]);
    rnic_put_uint(node, "links-up", up);
    rnic_put_uint(node, "transfers", transfers);
    rnic_put_uint(node, "blocks-queued", s->exadma.scheduled.count);
    rnic_put_uint(node, "faults-unread", s->fault.reports.count);
    rnic_put_uint(node, "time-ns", rnic_now());
    return QOBJECT(node);
}

/* --- Links ---------------------------------------------------------------- */

static const char *role_name(unsigned role)
{
    static const char *const names[] = {
#define ROLE_NAME(name, value, word) [value] = word,
        EXANET_ROLES(ROLE_NAME)
#undef ROLE_NAME
    };

    return role < ARRAY_SIZE(names) && role != EXANET_ROLE_AUTO ? names[role] : "none";
}

/* Returns a new list of the virtual channels whose bit is set in @bits. */
static QList *channel_list(unsigned bits)
{
    QList *list = qlist_new();

    for (unsigned vc = 0; vc < EXANET_VCS; vc++) {
        if (bits & 1u << vc) {
            qlist_append_int(list, vc);
        }
    }
    return list;
}

/*
 * RNicStatFn: stores a counter of a link in @opaque, a QDict.  Omits "injected", because
 * the view shows the number of faults of each kind.
 */
static void link_counter_put(void *opaque, char *name, uint64_t value)
{
    if (strcmp(name, "injected")) {
        rnic_put_uint(opaque, name, value);
    }
    g_free(name);
}

static QDict *link_counters(ExanetState *s, unsigned link)
{
    QDict *dict = qdict_new();

    exanet_stats_link(s, link, link_counter_put, dict);
    return dict;
}

static QDict *link_injected(const RNicPort *p)
{
    QDict *dict = qdict_new();

    for (unsigned i = 0; i < RNIC_INJECTED_KINDS; i++) {
        rnic_put_uint(dict, rnic_inject_name(&exanet_fault_format, i), p->injected[i]);
    }
    return dict;
}

static QDict *link_make(RNicPort *p)
{
    ExanetState *s = exanet_port_state(p);
    unsigned base = EXANET_PORT(p->index);
    g_autofree char *faults = rnic_inject_plan_get(p);
    NetClientState *netdev = qemu_get_queue(p->nic)->peer;
    QDict *dict = qdict_new();
    uint32_t status, level;

    exanet_port_reg_sync(p);
    status = exanet_reg_get32(s, base + EXANET_REG_PORT_STATUS);
    level = exanet_reg_get32(s, base + EXANET_REG_PORT_LEVEL);
    rnic_put_uint(dict, "index", p->index);
    qdict_put_str(dict, "netdev", netdev ? netdev->name : "");
    qdict_put_bool(dict, "enabled", p->enabled);
    qdict_put_bool(dict, "up", status & EXANET_PORT_STATUS_UP);
    qdict_put_bool(dict, "conflict", status & EXANET_PORT_STATUS_CONFLICT);
    qdict_put_str(dict, "role",
                  role_name(RNIC_GET(EXANET_PORT_STATUS_ROLE, status)));
    if (p->peer_known) {
        QDict *peer = qdict_new();

        put_coord(peer, p->peer);
        rnic_put_uint(peer, "epoch", p->peer_epoch);
        qdict_put(dict, "peer", peer);
    }
    qdict_put(dict, "xoff",
              channel_list(RNIC_GET(EXANET_PORT_STATUS_XOFF_VC, status)));
    qdict_put(dict, "peer-xoff",
              channel_list(RNIC_GET(EXANET_PORT_STATUS_PEER_XOFF_VC, status)));
    rnic_put_uint(dict, "tx-waiting-words", RNIC_GET(EXANET_PORT_LEVEL_TX, level));
    rnic_put_uint(dict, "rx-waiting-words", RNIC_GET(EXANET_PORT_LEVEL_RX, level));
    rnic_put_uint(dict, "rate-kbps", exanet_reg_get32(s, base + EXANET_REG_PORT_RATE));
    rnic_put_uint(dict, "latency-ns",
                  exanet_reg_get32(s, base + EXANET_REG_PORT_LATENCY));
    qdict_put(dict, "counters", link_counters(s, p->index));
    qdict_put_str(dict, "faults", faults);
    qdict_put(dict, "injected", link_injected(p));
    return dict;
}

static QObject *links_make(void *state)
{
    ExanetState *s = state;
    QList *list = qlist_new();

    for (RNicPort *p = NULL; (p = exanet_port_next(s, p));) {
        qlist_append(list, link_make(p));
    }
    return QOBJECT(list);
}

/* --- Contexts ------------------------------------------------------------- */

static const char *format_name(unsigned format)
{
    static const char *const name[] = {
        [EXANET_FORMAT_IDENTITY] = "identity",
        [EXANET_FORMAT_X86_4] = "x86-4-level",
        [EXANET_FORMAT_X86_5] = "x86-5-level",
        [EXANET_FORMAT_ARM64_4K] = "arm64-4k",
        [EXANET_FORMAT_ARM64_16K] = "arm64-16k",
        [EXANET_FORMAT_ARM64_64K] = "arm64-64k",
        [EXANET_FORMAT_ARM64_4K_LPA2] = "arm64-4k-lpa2",
        [EXANET_FORMAT_ARM64_16K_LPA2] = "arm64-16k-lpa2",
    };

    return format < ARRAY_SIZE(name) ? name[format] : "unknown";
}

static QList *context_windows(const ExanetContext *ctx)
{
    QList *list = qlist_new();

    for (unsigned w = 0; w < EXANET_WINDOW_NI; w++) {
        if (ctx->win[w] & EXANET_WIN_VALID) {
            QDict *window = qdict_new();

            rnic_put_uint(window, "index", w);
            rnic_put_uint(window, "base", ctx->win[w] & EXANET_WIN_BASE);
            qlist_append(list, window);
        }
    }
    return list;
}

static QDict *context_make(ExanetState *s, unsigned c)
{
    const ExanetContext *ctx = &s->ctx[c];
    unsigned base = EXANET_CTX(c);
    QDict *dict = qdict_new();
    uint32_t status;

    exanet_context_reg_sync(s, c);
    status = exanet_reg_get32(s, base + EXANET_REG_CTX_STATUS);
    rnic_put_uint(dict, "number", c);
    rnic_put_uint(dict, "pdid", ctx->pdid);
    rnic_put_uint(dict, "job", RNIC_GET(EXANET_PDID_JOB, ctx->pdid));
    qdict_put_bool(dict, "job-local", ctx->local);
    qdict_put_str(dict, "format", format_name(
        RNIC_GET(EXANET_CTX_CTRL_FORMAT,
                 exanet_reg_get32(s, base + EXANET_REG_CTX_CTRL))));
    qdict_put(dict, "windows", context_windows(ctx));
    qdict_put_bool(dict, "quiesced", ctx->quiesce);
    rnic_put_uint(dict, "pending-faults", ctx->faults);
    rnic_put_uint(dict, "operations", RNIC_GET(EXANET_CTX_STATUS_OPS, status));
    return dict;
}

static QObject *contexts_make(void *state)
{
    ExanetState *s = state;
    QList *list = qlist_new();

    for (unsigned c = 0; c < EXANET_CONTEXTS; c++) {
        if (s->ctx[c].enabled) {
            qlist_append(list, context_make(s, c));
        }
    }
    return QOBJECT(list);
}

/* --- Other views ---------------------------------------------------------- */

static QObject *transfers_make(void *state)
{
    ExanetState *s = state;
    return QOBJECT(exanet_firmware_transfers(s));
}

static QDict *rx_context_make(ExanetState *s, unsigned i)
{
    const ExanetRxContext *c = &s->receiver.ctx[i];
    QDict *dict = qdict_new();

    rnic_put_uint(dict, "index", i);
    rnic_put_uint(dict, "source", c->src);
    rnic_put_uint(dict, "tid", RNIC_GET(EXANET_TID_INDEX, c->tid));
    rnic_put_uint(dict, "generation", RNIC_GET(EXANET_TID_GEN, c->tid));
    rnic_put_uint(dict, "seq", c->seq);
    rnic_put_uint(dict, "pdid", c->pdid);
    rnic_put_uint(dict, "window", c->window);
    rnic_put_uint(dict, "bitmap", c->bitmap);
    rnic_put_uint(dict, "bytes", c->bytes);
    qdict_put_bool(dict, "nacked", c->nack != EXANET_RESP_ACK);
    rnic_put_uint(dict, "age-ns", rnic_now() - c->time);
    return dict;
}

static QObject *rx_contexts_make(void *state)
{
    ExanetState *s = state;
    QList *list = qlist_new();

    for (unsigned i = 0; i < EXANET_RX_CONTEXTS; i++) {
        if (s->receiver.ctx[i].valid) {
            qlist_append(list, rx_context_make(s, i));
        }
    }
    return QOBJECT(list);
}

static QObject *counters_make(void *state)
{
    ExanetState *s = state;
    static const char *const names[] = { EXANET_COUNTERS(RNIC_COUNTER_NAME) };

    return QOBJECT(rnic_counters_dict(names, s->counter, ARRAY_SIZE(names)));
}

/* --- Properties ----------------------------------------------------------- */

static const RNicView views[] = {
    { "node", "Coordinates, epoch and modes", node_make },
    { "links", "Cables: state, peer, what waits, counters, faults", links_make },
    { "contexts", "Contexts that are enabled", contexts_make },
    { "transfers", "RDMA transfers in progress", transfers_make },
    { "rx-contexts", "Receiver contexts in use: blocks that are arriving",
      rx_contexts_make },
    { "counters", "All counters of the device", counters_make },
};

static bool is_built(const void *state)
{
    const ExanetState *s = state;

    return s->loop.bh;
}

static RNicPort *ports_of(void *state, bool *built)
{
    ExanetState *s = state;

    *built = s->loop.bh;
    return s->port;
}

void exanet_qom_class_init(ObjectClass *klass, RNicStateFn *state)
{
    RNicFaults *faults = g_new(RNicFaults, 1);

    *faults = (RNicFaults) {
        .format = &exanet_fault_format,
        .links = EXANET_LINKS,
        .state = state,
        .ports = ports_of,
    };
    rnic_inject_class_init(klass, faults);
    rnic_class_add_views(klass, views, ARRAY_SIZE(views), state, is_built);
}
