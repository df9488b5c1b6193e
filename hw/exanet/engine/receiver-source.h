/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the files of the receiver share: receiver.c (blocks), receiver-run.c
 * (runs), receiver-message.c (messages and notifications) and receiver-source.c (state of
 * the nodes that send).  Apart from these files, shm/target.c and the fuzz tests include
 * this header.
 */
#ifndef HW_EXANET_ENGINE_RECEIVER_SOURCE_H
#define HW_EXANET_ENGINE_RECEIVER_SOURCE_H

#include "../exanet.h"
#include "receiver.h"

/*
 * Time without packets, ns, after which a receiver context, or a source that is not
 * proven, may be replaced [P].
 */
#define EXANET_RX_IDLE_NS (100 * (int64_t)SCALE_MS)
#define EXANET_RX_SENDERS (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)
#define EXANET_RX_RETIRED 4         /* number of old epochs that a source records */

/*
 * A record of a generation of a TID.  A record in ExanetSource.tomb says that the block
 * with this generation was completed, or (@seq is UINT16_MAX) that a packet two or more
 * generations ahead has moved the record; see tomb_check().  A record in
 * ExanetSource.refused says that rx_refuse() nacked the block with this generation, or
 * that the source released the block.
 */
typedef struct ExanetTidRecord {
    /* ns; in @tomb: last change; in @refused, if @released: the release */
    int64_t time;
    /*
     * sequence number of the last copy that was answered or released; UINT16_MAX: a later
     * packet has moved the record, so no copy of @gen gets an ack
     */
    uint16_t seq;
    uint8_t gen;
    bool valid;
    /* the source has released the block; a later copy or block clears this member */
    bool released;
} ExanetTidRecord;

/* A record of a delivered notification packet, to recognize duplicates of the packet. */
typedef struct ExanetReport {
    int64_t time;                   /* ns, time of delivery or of the last duplicate */
    uint64_t va;                    /* destination address in the packet */
    uint64_t data;                  /* member data of the payload, little-endian */
    uint16_t number;                /* wire TID of the packet */
    uint16_t pdid;                  /* PDID of the destination */
    bool valid;
} ExanetReport;

/* The state of a node that sends to this node. */
struct ExanetSource {
    /*
     * ns, time of the last release, or of the last packet that passed the check of its
     * context
     */
    int64_t time;
    int64_t created;                /* ns, time of the first packet */
    /* ns, time of the last packet that came through a switch and passed this check */
    int64_t far;
    uint32_t coord;                 /* coordinates of the node */
    uint8_t epoch;                  /* epoch of the node */
    uint8_t link;                   /* link of the first packet; EXANET_LINKS: none */
    /* a block, message, notification, load or store of the node was accepted */
    bool proven;
    struct {
        int64_t time;               /* ns, time when the epoch was replaced */
        uint8_t epoch;
        bool valid;
    } retired[EXANET_RX_RETIRED];   /* earlier values of @epoch, a ring */
    unsigned retired_next;          /* index to replace next, modulo EXANET_RX_RETIRED */
    ExanetTidRecord tomb[EXANET_TIDS];
    ExanetTidRecord refused[EXANET_TIDS];
    struct {
        int64_t time;               /* ns, last packet that was delivered or refused */
        uint8_t gen;                /* generation of the last message */
        bool valid;                 /* a message has arrived */
        bool done;                  /* the last message was delivered */
    } message[EXANET_RX_SENDERS];   /* indexed by the sender's context and channel */
    struct {
        ExanetReport report[EXANET_RX_REPORTS];     /* a ring */
        unsigned next;              /* index to replace next, modulo EXANET_RX_REPORTS */
    } reports[EXANET_CONTEXTS];     /* indexed by context of this node */
    /*
     * Order of the writes of the node (shm/order.h), or NULL.  shm/target.c sets
     * @higher_free together with @higher.  The receiver calls @higher_free(@higher) when
     * the node has a new epoch, and when the source is freed.
     */
    void *higher;
    void (*higher_free)(void *higher);
};

/* Frees the source @value.  GLib calls this function for ExanetReceiver.sources. */
void exanet_source_free(gpointer value);
/*
 * Looks up the source of @pkt, and stores the source in *@src.  @passed: @pkt has passed
 * the check of its context.  If @passed is true, the function adds an unknown node, a new
 * epoch resets the state of the source, and the function updates @time and, if @pkt->far,
 * @far of the source.  If @passed is false, *@src is NULL for an unknown node or epoch,
 * because the coordinates of a refused packet may be false and must allocate no memory.
 *
 * Returns false if @pkt must be dropped: its epoch is a recorded old epoch; or @passed is
 * true, and a neighbour that sent @pkt has advertised another epoch or there is no room
 * for a new source.  In these cases the function has counted @pkt, and has called @refuse
 * if there is no room.
 */
bool exanet_source_find(ExanetState *s, const ExanetPacket *pkt, bool passed,
                        void (*refuse)(ExanetState *s, const ExanetPacket *pkt),
                        ExanetSource **src);
/*
 * Nacks @pkt, because there is no room for its source: a write packet with NO_CONTEXT, a
 * notification or read request with FULL.  Of the write packets of a block, nacks only
 * the first packet.  Does nothing for packets of other types.
 */
void exanet_source_refuse(ExanetState *s, const ExanetPacket *pkt);

/*
 * Sends an ack or nack with code @resp to the source of @pkt.  Counts a nack in
 * NACK_SENT.
 */
void exanet_receiver_ack(ExanetState *s, const ExanetPacket *pkt,
                         enum exanet_resp resp);
/*
 * Returns a record, for exanet_fault_report(), of a page fault at a write by @pkt.  @unit
 * is the kind of access.  The caller must set member va of the record.
 */
ExanetPendingFault exanet_receiver_fault(const ExanetPacket *pkt,
                                         enum exanet_fault_unit unit);
/*
 * Delivers and counts notification @n (little-endian) to the 42-bit address @va of @pdid
 * on this node, a mailbox or memory.  @fault->peer and @fault->tid are source and TID of
 * the notification.  After a page fault in memory, reports @fault with the address; for a
 * page fault in a mailbox see exanet_mailbox_deliver().  If @n was delivered and @irq is
 * true or CTRL of the mailbox has IRQ, raises the interrupt of the context.  Returns ACK,
 * or the code of the error because of which @n was not delivered.
 */
enum exanet_resp exanet_receiver_notify(ExanetState *s, uint16_t pdid,
                                        uint64_t va,
                                        const struct exanet_notification *n,
                                        const ExanetPendingFault *fault,
                                        bool irq);

#endif /* HW_EXANET_ENGINE_RECEIVER_SOURCE_H */
