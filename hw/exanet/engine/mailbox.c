/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet mailboxes: rings of messages in the memory of a process.
 *
 * All state of a mailbox is in the user page.  This file checks the values that the
 * process stores in RING and CTRL.  The process may store any value in HEAD.
 */
#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/log.h"
#include "context.h"
#include "../exanet.h"
#include "fault.h"
#include "../base/irq.h"
#include "mailbox.h"
#include "../base/wire.h"
#include "../trace.h"

#define RING_ALIGN sizeof(struct exanet_message)
#define LOG2_MAX 16

static struct exanet_mailbox *mailbox_regs(ExanetState *s, unsigned c,
                                           unsigned m)
{
    uint8_t *page = exanet_user_page(s, c, EXANET_PAGE_MAILBOX);

    return (struct exanet_mailbox *)page + m;
}

static uint32_t mailbox_entries(uint64_t ctrl)
{
    return 1u << RNIC_GET(EXANET_MAILBOX_LOG2, ctrl);
}

/* Adds 1, modulo 2^32, to field @field of REJECTED, which counts refused messages. */
static void mailbox_reject(struct exanet_mailbox *regs, uint64_t field)
{
    uint64_t rejected = ldq_le_p(&regs->rejected);
    uint64_t count = RNIC_GET(field, rejected) + 1;

    stq_le_p(&regs->rejected,
             (rejected & ~field) | RNIC_PREP(field, count));
}

static void mailbox_ctrl_write(ExanetState *s, unsigned c, unsigned m,
                               uint64_t value)
{
    struct exanet_mailbox *regs = mailbox_regs(s, c, m);
    uint64_t old = ldq_le_p(&regs->ctrl);
    unsigned log2 = RNIC_GET(EXANET_MAILBOX_LOG2, value);

    value &= EXANET_MAILBOX_LOG2 | EXANET_MAILBOX_ENABLE | EXANET_MAILBOX_IRQ;
    if (value & EXANET_MAILBOX_ENABLE) {
        if (old & EXANET_MAILBOX_ENABLE) {
            /* the size of a ring cannot change while the mailbox is enabled */
            value = (value & ~EXANET_MAILBOX_LOG2) | (old & EXANET_MAILBOX_LOG2);
        } else if (log2 < 1 || log2 > LOG2_MAX) {
            qemu_log_mask(LOG_GUEST_ERROR,
                          "exanet: context %u: mailbox %u with 2^%u entries\n",
                          c, m, log2);
            value &= ~EXANET_MAILBOX_ENABLE;
        } else {
            stq_le_p(&regs->head, 0);
            stq_le_p(&regs->tail, 0);
        }
    }
    if (value & ~old & EXANET_MAILBOX_IRQ) {
        /* the process of the guest may sleep now, so the main loop must take frames */
        exanet_series_end(&s->polls);
    }
    stq_le_p(&regs->ctrl, value);
    trace_exanet_mailbox_ctrl(s->node, c, m, value);
}

static void mailbox_ring_write(ExanetState *s, unsigned c, unsigned m,
                               uint64_t value)
{
    struct exanet_mailbox *regs = mailbox_regs(s, c, m);

    if (ldq_le_p(&regs->ctrl) & EXANET_MAILBOX_ENABLE) {
        qemu_log_mask(LOG_GUEST_ERROR,
                      "exanet: context %u: mailbox %u is enabled, ring kept\n",
                      c, m);
        return;
    }
    stq_le_p(&regs->ring, value & ~(uint64_t)(RING_ALIGN - 1));
}

void exanet_mailbox_write(ExanetState *s, unsigned c, hwaddr addr,
                          uint64_t value, unsigned size)
{
    unsigned m = addr / EXANET_MAILBOX_BYTES;
    unsigned offset = addr % EXANET_MAILBOX_BYTES;
    bool upper = offset & 4;
    uint64_t reg;

    if (m >= EXANET_MAILBOXES || size < 4 || offset % size ||
        !s->ctx[c].enabled || s->ctx[c].quiesce) {
        return;
    }
    offset &= ~7u;
    reg = ldq_le_p((uint8_t *)mailbox_regs(s, c, m) + offset);
    if (size == 4) {
        value = deposit64(reg, upper ? 32 : 0, 32, value);
    }
    switch (offset) {
    case offsetof(struct exanet_mailbox, ring):
        mailbox_ring_write(s, c, m, value);
        break;
    case offsetof(struct exanet_mailbox, ctrl):
        mailbox_ctrl_write(s, c, m, value);
        break;
    case offsetof(struct exanet_mailbox, head):
        stq_le_p(&mailbox_regs(s, c, m)->head, (uint32_t)value);
        break;
    }
}

/* Fills in @msg, the ring entry for @pkt, except member phase. */
static void mailbox_build(ExanetState *s, const ExanetPacket *pkt, uint64_t data,
                          struct exanet_message *msg)
{
    uint16_t pdid = pkt->pdid;

    if (pkt->type == EXANET_TYPE_WRITE) {
        /* the TID of a write, which a packetizer sent, has the context of the sender */
        pdid = (pdid & EXANET_PDID_JOB) |
               RNIC_PREP(EXANET_PDID_CTX, RNIC_GET(EXANET_PTID_CTX, pkt->tid));
    }
    *msg = (struct exanet_message) {
        .origin = cpu_to_le64(RNIC_PREP(EXANET_MESSAGE_PDID, pdid) |
                              RNIC_PREP(EXANET_MESSAGE_COORD, pkt->src) |
                              RNIC_PREP(EXANET_MESSAGE_SIZE, pkt->size) |
                              RNIC_PREP(EXANET_MESSAGE_TYPE, pkt->type) |
                              RNIC_PREP(EXANET_MESSAGE_TID, pkt->tid)),
        .data = cpu_to_le64(data),
        .time = cpu_to_le64(s->time),
    };
    memcpy(msg->payload, pkt->payload, pkt->size);
}

/*
 * Sets the phase of @msg, and stores @msg in the ring entry of the free-running index
 * @tail.  Stores the phase last, because the process polls the phase.  Returns the result
 * of exanet_context_write(), which sets *@fault_va on an error.
 */
static enum exanet_resp mailbox_store(ExanetState *s, unsigned c,
                                      const struct exanet_mailbox *regs,
                                      uint32_t tail, struct exanet_message *msg,
                                      uint64_t *fault_va)
{
    uint32_t entries = mailbox_entries(ldq_le_p(&regs->ctrl));
    uint64_t va = ldq_le_p(&regs->ring) +
                  (uint64_t)(tail & (entries - 1)) * sizeof(*msg);
    const size_t body = offsetof(struct exanet_message, phase);
    enum exanet_resp resp;

    msg->phase = cpu_to_le64(!(tail & entries));
    resp = exanet_context_write(s, c, va, msg, body, fault_va);
    if (resp == EXANET_RESP_ACK) {
        resp = exanet_context_write(s, c, va + body, &msg->phase,
                                    sizeof(msg->phase), fault_va);
    }
    return resp;
}

/*
 * Counts and reports a page fault at address @va, in the ring of mailbox @regs, that the
 * message @pkt met.
 */
static void mailbox_fault(ExanetState *s, unsigned c,
                          const struct exanet_mailbox *regs, uint64_t va,
                          const ExanetPacket *pkt)
{
    ExanetPendingFault fault = {
        .va = va,
        .peer = pkt->src,
        .tid = pkt->tid,
        .seq = pkt->seq,
        .small = RNIC_GET(EXANET_FTR_USER_SMALL, pkt->user),
        .ctx = c,
        .unit = EXANET_FAULT_MESSAGE,
        .write = true,
        .dst = true,
    };
    uint64_t bytes = (uint64_t)mailbox_entries(ldq_le_p(&regs->ctrl)) *
                     sizeof(struct exanet_message);

    exanet_count(s, MBOX_FAULT);
    /* the last argument is a hint: later messages may fill the ring from @va on */
    exanet_fault_report(s, &fault, ldq_le_p(&regs->ring) + bytes - va);
}

enum exanet_resp exanet_mailbox_deliver(ExanetState *s, const ExanetPacket *pkt,
                                        uint64_t data, bool irq)
{
    unsigned c = RNIC_GET(EXANET_PDID_CTX, pkt->pdid);
    unsigned m = RNIC_GET(EXANET_VA_MAILBOX, pkt->va);
    struct exanet_mailbox *regs;
    struct exanet_message msg;
    enum exanet_resp resp;
    uint64_t ctrl, fault_va = 0;
    uint32_t tail;

    resp = exanet_context_check(s, pkt->pdid, pkt->src);
    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    if (m >= EXANET_MAILBOXES ||
        pkt->va != (EXANET_NI_VA(EXANET_NI_MAILBOX) |
                    RNIC_PREP(EXANET_VA_MAILBOX, m))) {
        return EXANET_RESP_DECODE;
    }
    if (!pkt->size || pkt->size > sizeof(msg.payload)) {
        return EXANET_RESP_MALFORMED;
    }
    regs = mailbox_regs(s, c, m);
    ctrl = ldq_le_p(&regs->ctrl);
    tail = ldq_le_p(&regs->tail);
    /* the ring also counts as full if the process has set HEAD ahead of TAIL */
    if (!(ctrl & EXANET_MAILBOX_ENABLE) ||
        tail - (uint32_t)ldq_le_p(&regs->head) >= mailbox_entries(ctrl)) {
        mailbox_reject(regs, EXANET_MAILBOX_REJ_FULL);
        exanet_count(s, MBOX_FULL);
        return EXANET_RESP_FULL;
    }
    mailbox_build(s, pkt, data, &msg);
    resp = mailbox_store(s, c, regs, tail, &msg, &fault_va);
    trace_exanet_mailbox_complete(s->node, c, m, tail, resp);
    if (resp == EXANET_RESP_FAULT) {
        mailbox_reject(regs, EXANET_MAILBOX_REJ_FAULT);
        mailbox_fault(s, c, regs, fault_va, pkt);
    }
    if (resp != EXANET_RESP_ACK) {
        return resp;
    }
    stq_le_p(&regs->tail, (uint32_t)(tail + 1));
    exanet_count(s, MBOX_DELIVERED);
    if (irq || (ctrl & EXANET_MAILBOX_IRQ)) {
        exanet_irq_context(s, c);
    }
    return EXANET_RESP_ACK;
}

static void mailbox_quiesce(ExanetState *s, unsigned c)
{
    for (unsigned m = 0; m < EXANET_MAILBOXES; m++) {
        struct exanet_mailbox *regs = mailbox_regs(s, c, m);

        stq_le_p(&regs->ctrl, ldq_le_p(&regs->ctrl) & ~EXANET_MAILBOX_ENABLE);
    }
}

const ExanetUnit exanet_mailbox_unit = {
    .quiesce = mailbox_quiesce,
};
