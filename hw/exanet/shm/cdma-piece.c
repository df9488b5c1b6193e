/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet CDMA: moves one piece from its source to its destination, and handles failures
 * of a piece.
 */
#include "qemu/osdep.h"
#include "cdma-internal.h"
#include "cdma.h"
#include "../engine/context.h"
#include "../exanet.h"
#include "../engine/fault.h"
#include "initiator.h"
#include "internal.h"
#include "../trace.h"

void exanet_cdma_abandon(CdmaChannel *ch)
{
    uint64_t in_flight = cdma_in_flight(ch);

    for (unsigned n = 0; n < CDMA_PIECES; n++) {
        if (in_flight & 1ULL << n) {
            cdma_move(&ch->piece[n], CDMA_STAGE_ORPHAN);
        } else if (ch->piece[n].stage != CDMA_STAGE_ORPHAN) {
            cdma_move(&ch->piece[n], CDMA_STAGE_FREE);
        }
    }
    ch->failed = 0;
    ch->left = 0;
    ch->failing = false;
    timer_del(ch->timer);
}

void exanet_cdma_fail(CdmaChannel *ch, const CdmaPiece *p)
{
    uint64_t in_flight = cdma_in_flight(ch);

    ch->error = *p;
    ch->failing = true;
    ch->state = EXANET_TRACKER_DRAIN;
    ch->left = 0;
    for (unsigned n = 0; n < CDMA_PIECES; n++) {
        if (!(in_flight & 1ULL << n) && ch->piece[n].stage != CDMA_STAGE_ORPHAN) {
            cdma_move(&ch->piece[n], CDMA_STAGE_FREE);
        }
    }
    if (!in_flight) {
        exanet_cdma_failed(ch);
    }
}

/*
 * Counts @p in @acked, and frees @p: @p is complete, or the data of @p is not needed,
 * because the transfer is failing.  If the transfer is failing and no request is under
 * way any more, ends the transfer.
 */
static void piece_done(CdmaPiece *p)
{
    CdmaChannel *ch = p->ch;

    ch->acked++;
    cdma_move(p, CDMA_STAGE_FREE);
    if (ch->failing && !cdma_in_flight(ch)) {
        exanet_cdma_failed(ch);
    }
}

/* Returns true if RELIABLE of SHM_CTRL is set and the error of @p is not permanent. */
static bool piece_repeatable(const CdmaPiece *p)
{
    return (exanet_shm_ctrl(p->ch->s) & EXANET_SHM_CTRL_RELIABLE) &&
           p->code != EXANET_RESP_DECODE &&
           p->code != EXANET_RESP_PROTECTION &&
           p->code != EXANET_RESP_MALFORMED;
}

/*
 * Handles the failure of @p with @resp.  Adds @p to the list of failed pieces, and makes
 * the transfer fail if piece_repeatable() is false.  If the transfer is failing already,
 * only frees @p, and ends the transfer if no request is under way.  @remote: the request
 * of @p failed, at the other node or at the initiator; otherwise the access to the local
 * side failed.
 */
static void piece_fail(CdmaPiece *p, enum exanet_resp resp, bool remote)
{
    CdmaChannel *ch = p->ch;

    p->code = resp;
    p->remote = remote;
    trace_exanet_cdma_piece_err(ch->s->node, ch->index, p->offset, p->size, resp);
    if (ch->failing) {
        cdma_move(p, CDMA_STAGE_FREE);
        if (!cdma_in_flight(ch)) {
            exanet_cdma_failed(ch);
        }
        return;
    }
    cdma_move(p, CDMA_STAGE_FAILED);
    ch->list[ch->failed++] = p->index;
    if (!piece_repeatable(p)) {
        exanet_cdma_fail(ch, p);
    }
}

/* --- Local sides -------------------------------------------------------------- */

/*
 * Accesses RAM at a physical address.  Returns ACK, or DECODE if the address is not RAM.
 * With @attrs QEMU refuses registers of devices, because an access to a register could
 * call this device again.
 */
static enum exanet_resp physical_access(ExanetState *s, hwaddr pa, void *buf,
                                        unsigned size, bool write)
{
    const MemTxAttrs attrs = { .memory = true };

    return address_space_rw(s->host.as, pa, attrs, buf, size, write) == MEMTX_OK ?
           EXANET_RESP_ACK : EXANET_RESP_DECODE;
}

/* Returns the TID that identifies the faults of @p, in the format of a wire TID. */
static uint16_t piece_tid(const CdmaPiece *p, bool write)
{
    return RNIC_PREP(EXANET_STID_CLASS, write ? EXANET_SHM_RDMA_WRITE :
                     EXANET_SHM_RDMA_READ) |
           RNIC_PREP(EXANET_STID_SLOT, p->index) |
           RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_CDMA) |
           RNIC_PREP(EXANET_AXI_ID_NUMBER, p->ch->index);
}

/*
 * Returns the coordinates of the node of the transfer's remote side.  If both sides are
 * remote, returns the node of the source.  If both sides are local, returns this node.
 */
static uint32_t channel_peer(const CdmaChannel *ch)
{
    if (ch->sides & EXANET_CDMA_SIDES_SA_GVA) {
        return RNIC_GET(EXANET_GVA_COORD, ch->sa);
    }
    return ch->sides & EXANET_CDMA_SIDES_DA_LOCAL ? ch->s->node :
           RNIC_GET(EXANET_GVA_COORD, ch->da);
}

/*
 * Reports the missing page at @va to the driver, and makes @p wait for the driver's
 * answer.  If the fault cannot be reported, makes @p fail.
 */
static void piece_fault(CdmaPiece *p, uint64_t va, bool write)
{
    CdmaChannel *ch = p->ch;
    uint64_t start = (write ? ch->da : ch->sa) + p->offset;
    ExanetPendingFault f = {
        .va = va,
        .peer = channel_peer(ch),
        .tid = piece_tid(p, write),
        .seq = ++p->faults & RNIC_GET(EXANET_FAULT_SEQ, ~0ULL),
        .ctx = cdma_ctx(ch),
        .unit = EXANET_FAULT_SHM,
        .write = write,
    };

    if (!exanet_fault_report(ch->s, &f, ch->length - p->offset - (va - start))) {
        piece_fail(p, EXANET_RESP_FAULT, false);
        return;
    }
    p->after = p->stage;
    cdma_move(p, CDMA_STAGE_FAULT);
}

/*
 * Reads the data of @p from the local source, or writes the data to the local destination
 * (@write).  Returns false if @p has failed or waits for a page.
 */
static bool piece_local(CdmaPiece *p, bool write)
{
    CdmaChannel *ch = p->ch;
    ExanetState *s = ch->s;
    uint64_t at = (write ? ch->da : ch->sa) + p->offset;
    uint64_t fault_va = at;
    enum exanet_resp resp;

    if (!(ch->sides & EXANET_CDMA_SIDES_TRANSLATE)) {
        resp = physical_access(s, at, p->data, p->size, write);
    } else if (write) {
        resp = exanet_context_write(s, cdma_ctx(ch), at, p->data, p->size,
                                    &fault_va);
    } else {
        resp = exanet_context_read(s, cdma_ctx(ch), at, p->data, p->size,
                                   &fault_va);
    }
    if (resp == EXANET_RESP_FAULT) {
        piece_fault(p, fault_va, write);
    } else if (resp != EXANET_RESP_ACK) {
        piece_fail(p, resp, false);
    }
    return resp == EXANET_RESP_ACK;
}

/* --- Remote sides -------------------------------------------------------------- */

/* Implements ExanetShmRequest.respond for a read. */
static void piece_read_answered(ExanetState *s, void *opaque,
                                enum exanet_resp resp, const uint8_t *data)
{
    CdmaPiece *p = opaque;

    if (p->stage == CDMA_STAGE_ORPHAN) {
        cdma_move(p, CDMA_STAGE_FREE);
    } else if (p->stage == CDMA_STAGE_READ) {
        if (resp != EXANET_RESP_ACK) {
            piece_fail(p, resp, true);
        } else if (p->ch->failing) {
            piece_done(p);
        } else {
            memcpy(p->data, data, p->size);
            cdma_move(p, CDMA_STAGE_STORE);
        }
    }
    exanet_shm_schedule(s);
}

/*
 * Implements ExanetShmRequest.respond for a write.  From now on the piece does not count
 * for the limit of outstanding pieces.  Ignores @resp, because piece_write_settled() gets
 * the result.
 */
static void piece_write_answered(ExanetState *s, void *opaque,
                                 enum exanet_resp resp, const uint8_t *data)
{
    CdmaPiece *p = opaque;

    if (p->stage == CDMA_STAGE_WRITE) {
        cdma_move(p, CDMA_STAGE_EARLY);
        exanet_shm_schedule(s);
    }
}

/* Implements ExanetShmRequest.settled for a write. */
static void piece_write_settled(ExanetState *s, void *opaque,
                                enum exanet_resp resp)
{
    CdmaPiece *p = opaque;

    if (p->stage == CDMA_STAGE_ORPHAN) {
        cdma_move(p, CDMA_STAGE_FREE);
    } else if (p->stage == CDMA_STAGE_WRITE || p->stage == CDMA_STAGE_EARLY) {
        if (resp == EXANET_RESP_ACK) {
            piece_done(p);
        } else {
            piece_fail(p, resp, true);
        }
    }
    exanet_shm_schedule(s);
}

/*
 * Issues a request of @class for @p to the initiator.  Returns false if the initiator
 * does not accept the request now.
 */
static bool piece_issue(CdmaPiece *p, enum exanet_shm_class class)
{
    CdmaChannel *ch = p->ch;
    bool write = class == EXANET_SHM_RDMA_WRITE;
    ExanetShmRequest req = {
        .gva = (write ? ch->da : ch->sa) + p->offset,
        .data = p->data,
        .size = p->size,
        .pdid = ch->pdid,
        .class = class,
        .axi_id = RNIC_PREP(EXANET_AXI_ID_MASTER, EXANET_AXI_CDMA) |
                  RNIC_PREP(EXANET_AXI_ID_NUMBER, ch->index),
        .ctx = cdma_ctx(ch),
        .early = true,
        .respond = write ? piece_write_answered : piece_read_answered,
        .settled = write ? piece_write_settled : NULL,
        .opaque = p,
    };

    if (!exanet_shm_issue(ch->s, &req)) {
        return false;
    }
    trace_exanet_cdma_issue(ch->s->node, ch->index, class, req.gva, p->size);
    p->class = class;
    cdma_move(p, write ? CDMA_STAGE_WRITE : CDMA_STAGE_READ);
    return true;
}

/*
 * Writes the data of @p to the destination.  Returns false if the initiator accepts no
 * request now.
 */
static bool piece_store(CdmaPiece *p)
{
    if (!(p->ch->sides & EXANET_CDMA_SIDES_DA_LOCAL)) {
        return piece_issue(p, EXANET_SHM_RDMA_WRITE);
    }
    if (piece_local(p, true)) {
        piece_done(p);
    }
    return true;
}

bool exanet_cdma_piece_step(CdmaPiece *p)
{
    if (p->stage == CDMA_STAGE_FETCH) {
        if (p->ch->sides & EXANET_CDMA_SIDES_SA_GVA) {
            return piece_issue(p, EXANET_SHM_RDMA_READ);
        }
        if (!piece_local(p, false)) {
            return true;
        }
        cdma_move(p, CDMA_STAGE_STORE);
    }
    return piece_store(p);
}

void exanet_cdma_resolved(ExanetState *s, const ExanetPendingFault *f, bool ok)
{
    CdmaChannel *ch = cdma_channel(s, RNIC_GET(EXANET_AXI_ID_NUMBER, f->tid) %
                                   EXANET_CDMA_CHANNELS);
    CdmaPiece *p = &ch->piece[RNIC_GET(EXANET_STID_SLOT, f->tid)];

    /* the transfer may have ended, and the piece may wait for another fault */
    if (p->stage != CDMA_STAGE_FAULT ||
        f->seq != (p->faults & RNIC_GET(EXANET_FAULT_SEQ, ~0ULL))) {
        return;
    }
    if (ok) {
        cdma_move(p, p->after);
    } else {
        piece_fail(p, EXANET_RESP_DECODE, false);
    }
    exanet_shm_schedule(s);
}
