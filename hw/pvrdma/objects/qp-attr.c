/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: the state changes of a queue pair, and the attributes that each
 * change requires and permits.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "../base/caps.h"
#include "../wire/gid.h"
#include "../pvrdma.h"
#include "qp-attr.h"
#include "qp.h"
#include "../wire/roce.h"
#include "wq.h"

#define QP_TYPES (PVRDMA_QPT_UD + 1)
#define QP_STATES (PVRDMA_QPS_ERR + 1)
#define QP_HOP_LIMIT 64                 /* replaces the hop limit 0 of an address */
#define QP_FLOW_LABEL RNIC_FIELD(19, 0)

/* --- State changes [EXT: InfiniBand's, as in Linux] ----------------------- */
#define NAME(x) PVRDMA_QP_##x

/* Sets of attributes, without ALT_PATH, because the device has no alternate paths. */
#define RC_INIT (NAME(PKEY_INDEX) | NAME(PORT) | NAME(ACCESS_FLAGS))
#define RC_RTR  (NAME(AV) | NAME(PATH_MTU) | NAME(DEST_QPN) | NAME(RQ_PSN) | \
                 NAME(MAX_DEST_RD_ATOMIC) | NAME(MIN_RNR_TIMER))
#define RC_RETRY (NAME(TIMEOUT) | NAME(RETRY_CNT) | NAME(RNR_RETRY) | \
                  NAME(MAX_QP_RD_ATOMIC))
#define RC_CHANGEABLE (NAME(ACCESS_FLAGS) | NAME(MIN_RNR_TIMER) | \
                       NAME(PATH_MIG_STATE))
#define RC_RTS  (NAME(CUR_STATE) | RC_CHANGEABLE)
#define RC_SQD  (RC_CHANGEABLE | RC_RETRY | NAME(PORT) | NAME(AV) | \
                 NAME(MAX_DEST_RD_ATOMIC) | NAME(PKEY_INDEX))
#define UD_KEYS (NAME(PKEY_INDEX) | NAME(QKEY))
#define UD_INIT (UD_KEYS | NAME(PORT))
#define UD_RTS  (NAME(CUR_STATE) | NAME(QKEY))

typedef struct QpStep {
    bool allowed;
    struct {
        /*
         * Bits of the attributes that the change of state requires, and of optional ones.
         */
        uint32_t must, may;
    } of[QP_TYPES];
} QpStep;

#define DATAGRAM(...) \
    .of[PVRDMA_QPT_UD] = { __VA_ARGS__ }, .of[PVRDMA_QPT_GSI] = { __VA_ARGS__ }
#define CONNECTION(...) .of[PVRDMA_QPT_RC] = { __VA_ARGS__ }

static const QpStep qp_steps[QP_STATES][QP_STATES] = {
    [PVRDMA_QPS_RESET] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_INIT] = {
            true, CONNECTION(.must = RC_INIT),
            .of[PVRDMA_QPT_UD] = { .must = UD_INIT },
            .of[PVRDMA_QPT_GSI] = { .must = UD_KEYS, .may = NAME(PORT) },
        },
    },
    [PVRDMA_QPS_INIT] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_INIT] = {
            true, CONNECTION(.may = RC_INIT), DATAGRAM(.may = UD_INIT),
        },
        [PVRDMA_QPS_RTR] = {
            true, DATAGRAM(.may = UD_KEYS),
            CONNECTION(.must = RC_RTR,
                       .may = NAME(ACCESS_FLAGS) | NAME(PKEY_INDEX)),
        },
        [PVRDMA_QPS_ERR] = { true },
    },
    [PVRDMA_QPS_RTR] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_RTS] = {
            true, CONNECTION(.must = RC_RETRY | NAME(SQ_PSN), .may = RC_RTS),
            DATAGRAM(.must = NAME(SQ_PSN), .may = UD_RTS),
        },
        [PVRDMA_QPS_ERR] = { true },
    },
    [PVRDMA_QPS_RTS] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_RTS] = {
            true, CONNECTION(.may = RC_RTS), DATAGRAM(.may = UD_RTS),
        },
        [PVRDMA_QPS_SQD] = {
            true, CONNECTION(.may = NAME(EN_SQD_ASYNC_NOTIFY)),
            DATAGRAM(.may = NAME(EN_SQD_ASYNC_NOTIFY)),
        },
        [PVRDMA_QPS_ERR] = { true },
    },
    [PVRDMA_QPS_SQD] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_RTS] = {
            true, CONNECTION(.may = RC_RTS), DATAGRAM(.may = UD_RTS),
        },
        [PVRDMA_QPS_SQD] = {
            true, CONNECTION(.may = RC_SQD), DATAGRAM(.may = UD_KEYS),
        },
        [PVRDMA_QPS_ERR] = { true },
    },
    [PVRDMA_QPS_SQE] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_RTS] = { true, DATAGRAM(.may = UD_RTS) },
        [PVRDMA_QPS_ERR] = { true },
    },
    [PVRDMA_QPS_ERR] = {
        [PVRDMA_QPS_RESET] = { true },
        [PVRDMA_QPS_ERR] = { true },
    },
};

static bool qp_step_ok(const PvrdmaQp *qp, uint32_t mask,
                       const struct pvrdma_qp_attr *attr, uint32_t to)
{
    const QpStep *step;
    uint32_t must;

    if (to >= QP_STATES || ((mask & NAME(CUR_STATE)) &&
                            le32_to_cpu(attr->cur_qp_state) != qp->state)) {
        return false;
    }
    step = &qp_steps[qp->state][to];
    must = step->of[qp->type].must;
    mask &= ~NAME(STATE);
    return step->allowed && (mask & must) == must &&
           !(mask & ~(must | step->of[qp->type].may));
}

/* --- Numeric attributes --------------------------------------------------- */
typedef struct QpField {
    uint32_t mask;
    /* Offsets, bytes, of the attribute in struct pvrdma_qp_attr and in PvrdmaQpAttr. */
    uint16_t guest, device;
    uint8_t bytes;
    uint32_t min, max;
} QpField;

#define FIELD(name, of_guest, of_device, low, high) { \
    .mask = NAME(name), \
    .guest = offsetof(struct pvrdma_qp_attr, of_guest), \
    .device = offsetof(PvrdmaQpAttr, of_device), \
    .bytes = sizeof_field(PvrdmaQpAttr, of_device) + QEMU_BUILD_BUG_ON_ZERO( \
        sizeof_field(PvrdmaQpAttr, of_device) != \
        sizeof_field(struct pvrdma_qp_attr, of_guest)), \
    .min = (low), .max = (high), \
}

static const QpField qp_fields[] = {
    FIELD(EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify, en_sqd_async_notify,
          0, UINT8_MAX),
    FIELD(ACCESS_FLAGS, qp_access_flags, access, 0, UINT32_MAX),
    FIELD(PKEY_INDEX, pkey_index, pkey_index, 0, PVRDMA_PKEYS - 1),
    FIELD(PORT, port_num, port_num, 1, 1),
    FIELD(QKEY, qkey, qkey, 0, UINT32_MAX),
    FIELD(PATH_MTU, path_mtu, path_mtu, PVRDMA_MTU_256, PVRDMA_MTU_4096),
    FIELD(TIMEOUT, timeout, timeout, 0, 31),
    FIELD(RETRY_CNT, retry_cnt, retry_cnt, 0, 7),
    FIELD(RNR_RETRY, rnr_retry, rnr_retry, 0, 7),
    FIELD(RQ_PSN, rq_psn, rq_psn, 0, UINT32_MAX),
    FIELD(SQ_PSN, sq_psn, sq_psn, 0, UINT32_MAX),
    FIELD(MAX_QP_RD_ATOMIC, max_rd_atomic, max_rd_atomic,
          0, PVRDMA_MAX_RD_ATOMIC),
    FIELD(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, max_dest_rd_atomic,
          0, PVRDMA_MAX_RD_ATOMIC),
    FIELD(MIN_RNR_TIMER, min_rnr_timer, min_rnr_timer, 0, 31),
    FIELD(PATH_MIG_STATE, path_mig_state, path_mig_state,
          PVRDMA_MIG_MIGRATED, PVRDMA_MIG_MIGRATED),
    FIELD(DEST_QPN, dest_qp_num, dest_qpn, 0, ROCE_QPN_MASK),
};

static uint32_t qp_mtu(uint32_t code)
{
    return 128u << code;
}

static bool qp_fields_ok(const PvrdmaQp *qp, uint32_t mask,
                         const struct pvrdma_qp_attr *attr)
{
    for (unsigned i = 0; i < ARRAY_SIZE(qp_fields); i++) {
        const QpField *f = &qp_fields[i];
        uint32_t value = ldn_le_p((const uint8_t *)attr + f->guest, f->bytes);

        if ((mask & f->mask) && (value < f->min || value > f->max)) {
            return false;
        }
    }
    return !(mask & NAME(PATH_MTU)) ||
           qp_mtu(le32_to_cpu(attr->path_mtu)) <= qp->s->mtu;
}

static void qp_fields_set(PvrdmaQp *qp, uint32_t mask,
                          const struct pvrdma_qp_attr *attr)
{
    for (unsigned i = 0; i < ARRAY_SIZE(qp_fields); i++) {
        const QpField *f = &qp_fields[i];
        uint32_t value = ldn_le_p((const uint8_t *)attr + f->guest, f->bytes);

        if (mask & f->mask) {
            stn_he_p((uint8_t *)&qp->attr + f->device, f->bytes, value);
        }
    }
    /* Truncates the PSNs, because applications may pass PSNs of more than 24 bits. */
    qp->attr.rq_psn &= ROCE_PSN_MASK;
    qp->attr.sq_psn &= ROCE_PSN_MASK;
}

/* --- Paths ---------------------------------------------------------------- */
/*
 * Returns the UDP source port.  The port depends only on the two QP numbers, because all
 * packets of a connection must follow the same route through the network.
 */
static uint16_t qp_sport(const PvrdmaQp *qp, uint32_t dest_qpn)
{
    uint32_t hash = (qp->qpn * 31 + dest_qpn) * 0x9e3779b1u;

    return ROCE_UDP_SPORT_MIN | hash >> 18;
}

bool pvrdma_qp_path(PvrdmaQp *qp, const PvrdmaAv *av, uint32_t dest_qpn,
                    RocePath *path)
{
    if (av->port != 1 ||
        !pvrdma_gid_path(qp->s, av->gid_index, av->dgid, av->dmac, path)) {
        return false;
    }
    path->flow_label = av->flow_label & QP_FLOW_LABEL;
    path->traffic_class = av->traffic_class;
    if (qp->s->dcqcn && !(path->traffic_class & ROCE_ECN)) {
        path->traffic_class |= ROCE_ECN_ECT0;
    }
    path->hop_limit = av->hop_limit ?: QP_HOP_LIMIT;
    path->sport = qp_sport(qp, dest_qpn);
    return true;
}

static bool qp_attr_path(PvrdmaQp *qp, uint32_t mask,
                         const struct pvrdma_qp_attr *attr, RocePath *path)
{
    const struct pvrdma_ah_attr *ah = &attr->ah_attr;
    PvrdmaAv av = {
        .gid_index = ah->grh.sgid_index,
        .hop_limit = ah->grh.hop_limit,
        .traffic_class = ah->grh.traffic_class,
        .flow_label = le32_to_cpu(ah->grh.flow_label),
        .port = ah->port_num,
    };
    uint32_t dest = mask & NAME(DEST_QPN) ? le32_to_cpu(attr->dest_qp_num)
                                          : qp->attr.dest_qpn;

    memcpy(av.dgid, ah->grh.dgid, sizeof(av.dgid));
    memcpy(av.dmac, ah->dmac, sizeof(av.dmac));
    return pvrdma_qp_path(qp, &av, dest, path);
}

/* --- All attributes ------------------------------------------------------- */
int pvrdma_qp_attr_set(PvrdmaQp *qp, uint32_t mask,
                       const struct pvrdma_qp_attr *attr, uint8_t *state)
{
    uint32_t to = mask & NAME(STATE) ? le32_to_cpu(attr->qp_state) : qp->state;
    RocePath path;

    if (!qp_step_ok(qp, mask, attr, to) || !qp_fields_ok(qp, mask, attr) ||
        ((mask & NAME(AV)) && !qp_attr_path(qp, mask, attr, &path))) {
        return EINVAL;
    }
    if (to == PVRDMA_QPS_SQD && qp->state == PVRDMA_QPS_RTS) {
        /*
         * The guest must request the event SQ_DRAINED again in each change from RTS to
         * SQD.
         */
        qp->attr.en_sqd_async_notify = 0;
    }
    qp_fields_set(qp, mask, attr);
    if (mask & NAME(AV)) {
        qp->attr.ah = attr->ah_attr;
        qp->path = path;
    }
    if (mask & NAME(PATH_MTU)) {
        qp->mtu = qp_mtu(qp->attr.path_mtu);
    }
    *state = to;
    return 0;
}

static bool qp_fields_resume(const PvrdmaQp *qp)
{
    for (unsigned i = 0; i < ARRAY_SIZE(qp_fields); i++) {
        const QpField *f = &qp_fields[i];
        uint32_t value = ldn_he_p((const uint8_t *)&qp->attr + f->device, f->bytes);

        /* Accepts 0, because an attribute that was never set is 0. */
        if (value && (value < f->min || value > f->max)) {
            return false;
        }
    }
    return !((qp->attr.rq_psn | qp->attr.sq_psn) & ~ROCE_PSN_MASK);
}

bool pvrdma_qp_attr_resume(PvrdmaQp *qp)
{
    bool connection = qp->type == PVRDMA_QPT_RC;
    bool connected = qp->state >= PVRDMA_QPS_RTR && qp->state < PVRDMA_QPS_ERR;

    if (qp->state >= QP_STATES || (qp->state == PVRDMA_QPS_SQE && connection) ||
        !qp_fields_resume(qp) || qp->path.network > ROCE_NETWORK_IPV6 ||
        (qp->path.flow_label & ~QP_FLOW_LABEL)) {
        return false;
    }
    if (!connection) {
        qp->mtu = qp->state >= PVRDMA_QPS_RTR ? qp->s->mtu : 0;
        return true;
    }
    qp->mtu = qp->attr.path_mtu ? qp_mtu(qp->attr.path_mtu) : 0;
    if (qp->mtu > qp->s->mtu ||
        (qp->mtu && (qp->path.network == ROCE_NETWORK_V1) != qp->s->roce_v1)) {
        return false;
    }
    return qp->mtu || !connected;
}

/*
 * Replaces initial PSNs in @attr by current PSNs: rq_psn of a connection in the states
 * RTR to SQE, and sq_psn of any QP in the states RTS to SQE.
 */
static void qp_psns_get(const PvrdmaQp *qp, struct pvrdma_qp_attr *attr)
{
    bool connected = qp->state >= PVRDMA_QPS_RTR && qp->state < PVRDMA_QPS_ERR;

    if (qp->type == PVRDMA_QPT_RC && connected) {
        attr->rq_psn = cpu_to_le32(qp->resp.epsn);
    }
    if (connected && qp->state != PVRDMA_QPS_RTR) {
        attr->sq_psn = cpu_to_le32(qp->type == PVRDMA_QPT_RC ? qp->req.next_psn
                                                             : qp->ud_psn);
    }
}

void pvrdma_qp_attr_get(const PvrdmaQp *qp, struct pvrdma_qp_attr *attr)
{
    attr->qp_state = attr->cur_qp_state = cpu_to_le32(qp->state);
    attr->sq_draining = qp->sq_draining;
    attr->cap = qp->cap;
    attr->ah_attr = qp->attr.ah;
    for (unsigned i = 0; i < ARRAY_SIZE(qp_fields); i++) {
        const QpField *f = &qp_fields[i];

        stn_le_p((uint8_t *)attr + f->guest, f->bytes,
                 ldn_he_p((const uint8_t *)&qp->attr + f->device, f->bytes));
    }
    qp_psns_get(qp, attr);
}
