/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paravirtual RDMA NIC: receive path.  A packet that fails a check is dropped and
 * counted.  Any other packet reaches its QP.
 */
#include "qemu/osdep.h"
#include "../base/caps.h"
#include "comp.h"
#include "../wire/dcqcn.h"
#include "../base/event.h"
#include "../wire/gid.h"
#include "../pvrdma.h"
#include "../objects/qp.h"
#include "resp.h"
#include "../wire/roce.h"
#include "rx.h"
#include "stuck.h"
#include "ud.h"
#include "../trace.h"

#define PKEY_KEY RNIC_FIELD(14, 0)      /* P_Key without the membership bit */
/* Minimum interval between congestion notifications of a QP [EXT]. */
#define CNP_INTERVAL_NS (50 * SCALE_US)

static void rx_drop(PvrdmaState *s, uint32_t qpn, enum pvrdma_counter counter)
{
    trace_pvrdma_rx_drop(s->port.netdev, qpn, counter);
    pvrdma_count(s, counter);
}

static void rx_drop_frame(PvrdmaState *s, RoceStatus status)
{
    static const uint8_t counters[] = {
        [ROCE_BAD_LENGTH] = PVRDMA_CNT_RX_BAD_LENGTH,
        [ROCE_BAD_IP] = PVRDMA_CNT_RX_BAD_IP,
        [ROCE_BAD_VERSION] = PVRDMA_CNT_RX_BAD_HEADER,
        [ROCE_BAD_OPCODE] = PVRDMA_CNT_RX_BAD_HEADER,
        [ROCE_BAD_ICRC] = PVRDMA_CNT_RX_BAD_ICRC,
    };

    if (status != ROCE_NOT_ROCE) {
        rx_drop(s, 0, counters[status]);
    }
}

/* --- Checks of a packet --------------------------------------------------- */
static bool rx_type(const PvrdmaQp *qp, const RocePacket *pkt, uint32_t flags)
{
    if (flags & ROCE_IS_CNP) {
        return qp->type == PVRDMA_QPT_RC;
    }
    switch (RNIC_GET(ROCE_OP_TRANSPORT, pkt->opcode)) {
    case ROCE_RC:
        return qp->type == PVRDMA_QPT_RC;
    case ROCE_UD:
        return qp->type == PVRDMA_QPT_UD || qp->type == PVRDMA_QPT_GSI;
    default:
        return false;
    }
}

/*
 * Returns true if the state of @qp permits a packet with @flags.  A QP accepts responses
 * only in states in which the QP may have sent requests.
 */
static bool rx_state(const PvrdmaQp *qp, uint32_t flags)
{
    unsigned first = flags & ROCE_IS_RESPONSE ? PVRDMA_QPS_RTS : PVRDMA_QPS_RTR;

    return qp->state >= first && qp->state < PVRDMA_QPS_ERR;
}

/*
 * Returns true if the QP accepts packets that arrive by @path.  A connection accepts only
 * the network type and the two GIDs of its path.  A datagram may have any sender, but
 * must have the device's version of RoCE and a GID of the device as destination.
 */
static bool rx_path(const PvrdmaQp *qp, const RocePath *path)
{
    if (qp->type != PVRDMA_QPT_RC) {
        return (path->network == ROCE_NETWORK_V1) == qp->s->roce_v1 &&
               pvrdma_gid_local(qp->s, path->dgid);
    }
    return path->network == qp->path.network &&
           !memcmp(path->sgid, qp->path.dgid, sizeof(path->sgid)) &&
           !memcmp(path->dgid, qp->path.sgid, sizeof(path->dgid));
}

/*
 * Returns the QP to which @pkt is addressed.  If a check of @pkt fails, counts @pkt and
 * returns NULL.
 */
static PvrdmaQp *rx_qp(PvrdmaState *s, const RocePath *path,
                       const RocePacket *pkt, uint32_t flags)
{
    PvrdmaQp *qp = pvrdma_qp_find(s, pkt->qpn);

    if (!qp || !rx_type(qp, pkt, flags)) {
        rx_drop(s, pkt->qpn, PVRDMA_CNT_RX_NO_QP);
        return NULL;
    }
    if (!rx_state(qp, flags)) {
        rx_drop(s, pkt->qpn, PVRDMA_CNT_RX_QP_STATE);
        return NULL;
    }
    if ((pkt->pkey ^ ROCE_PKEY_DEFAULT) & PKEY_KEY) {
        s->pkey_violations++;
        rx_drop(s, pkt->qpn, PVRDMA_CNT_RX_BAD_PKEY);
        return NULL;
    }
    if (!rx_path(qp, path)) {
        rx_drop(s, pkt->qpn, PVRDMA_CNT_RX_BAD_PATH);
        return NULL;
    }
    return qp;
}

/* --- State that any packet of a QP may change ----------------------------- */
/*
 * If a switch has marked the packet, counts the packet in RX_CE.  If the property dcqcn
 * is set, also schedules a congestion notification (CNP) to the peer of a connection, at
 * most one for each CNP_INTERVAL_NS.  A marked CNP causes no CNP, because otherwise two
 * QPs would send each other CNPs without end.
 */
static void rx_congestion(PvrdmaQp *qp, const RocePath *path, uint32_t flags)
{
    if ((path->traffic_class & ROCE_ECN) != ROCE_ECN_CE) {
        return;
    }
    pvrdma_count(qp->s, PVRDMA_CNT_RX_CE);
    if (qp->s->dcqcn && qp->type == PVRDMA_QPT_RC && !(flags & ROCE_IS_CNP) &&
        rnic_now() >= qp->resp.cnp_after) {
        qp->resp.cnp_after = rnic_now() + CNP_INTERVAL_NS;
        qp->resp.cnp_due = true;
        pvrdma_qp_activate(qp);
    }
}

/*
 * Makes the QP send with the VLAN tag of the request @pkt, or without a tag if @pkt has
 * none.  Does nothing if the QP's GID has a VLAN.  Only a packet with the expected PSN
 * changes the VLAN, because another sender than the peer can only guess this PSN.
 */
static void rx_vlan(PvrdmaQp *qp, const RocePath *path, const RocePacket *pkt)
{
    unsigned index = qp->attr.ah.grh.sgid_index;

    if (path->vlan != qp->path.vlan && pkt->psn == qp->resp.epsn &&
        index < PVRDMA_GIDS &&
        qp->s->gid[index].vlan == ROCE_NO_VLAN) {
        qp->path.vlan = path->vlan;
    }
}

static void rx_established(PvrdmaQp *qp)
{
    if (qp->state == PVRDMA_QPS_RTR && !qp->resp.established) {
        qp->resp.established = true;
        pvrdma_event(qp->s, PVRDMA_EVENT_COMM_EST, qp->handle);
    }
}

void pvrdma_rx(PvrdmaState *s, const uint8_t *frame, size_t len)
{
    RocePath path;
    RocePacket pkt;
    RoceStatus status = roce_frame_parse(frame, len, &path, &pkt);
    uint32_t flags;
    PvrdmaQp *qp;

    pvrdma_count(s, PVRDMA_CNT_RX_FRAMES);
    s->counter[PVRDMA_CNT_RX_BYTES] += len;
    if (status != ROCE_OK) {
        rx_drop_frame(s, status);
        return;
    }
    flags = roce_opcode_info(pkt.opcode)->flags;
    qp = rx_qp(s, &path, &pkt, flags);
    if (!qp) {
        return;
    }
    rx_congestion(qp, &path, flags);
    if (qp->type != PVRDMA_QPT_RC) {
        pvrdma_ud_rx(qp, &path, &pkt, frame);
        return;
    }
    rx_established(qp);
    if (flags & ROCE_IS_CNP) {
        pvrdma_count(s, PVRDMA_CNT_RX_CNP);
        if (s->dcqcn) {
            pvrdma_dcqcn_cnp(&qp->rate, rnic_now());
        }
    } else if (flags & ROCE_IS_REQUEST) {
        rx_vlan(qp, &path, &pkt);
        pvrdma_resp_rx(qp, &pkt);
    } else {
        pvrdma_comp_rx(qp, &pkt);
    }
    pvrdma_qp_check(qp);
}
