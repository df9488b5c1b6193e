/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that the files of the receiver share: receiver.c (blocks),
 * receiver-message.c (messages and notifications) and receiver-source.c (state of the
 * nodes that send).  Apart from them only shm/target.c includes this header.
 */
#ifndef HW_EXANET_ENGINE_RECEIVER_SOURCE_H
#define HW_EXANET_ENGINE_RECEIVER_SOURCE_H

#include "../exanet.h"
#include "receiver.h"

typedef struct ExanetShmSource ExanetShmSource;

/*
 * Time without packets after which a receiver context, or a source that is not proven,
 * may be replaced [P].
 */
#define EXANET_RX_IDLE_NS (100 * (int64_t)SCALE_MS)
#define EXANET_RX_SENDERS (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)
#define EXANET_RX_RETIRED 4         /* old epochs that a source keeps */

/*
 * A record of a block.  ExanetSource.tomb: the last block of a TID that was completed, or
 * a later block that the source gave up.  ExanetSource.refused: the last block that was
 * nacked without a receiver context, or that the source released.
 */
typedef struct ExanetTidRecord {
    int64_t time;                   /* ns, time of the last ack, or of the release */
    uint16_t seq;                   /* sequence number of the last copy answered */
    uint8_t gen;                    /* generation of the block */
    bool valid;
    bool released;                  /* the source has released the block */
} ExanetTidRecord;

/* A notification packet that was delivered; another copy of it is a duplicate. */
typedef struct ExanetReport {
    int64_t time;                   /* ns, time of the last copy */
    uint64_t va;                    /* destination address of the packet */
    uint64_t data;                  /* little-endian, as in the packet */
    uint16_t number;                /* wire TID of the packet */
    uint16_t pdid;
    bool valid;
} ExanetReport;

struct ExanetSource {
    int64_t time;                   /* ns, last packet that passed the context's check */
    int64_t created;                /* ns, time of the first packet */
    int64_t far;                    /* ns, time of the last packet from another node */
    uint32_t coord;
    uint8_t epoch;
    uint8_t link;                   /* link of the first packet; EXANET_LINKS: none */
    bool proven;                    /* a block, message or notification was accepted */
    struct {
        int64_t time;               /* ns, time when the epoch was replaced */
        uint8_t epoch;
        bool valid;
    } retired[EXANET_RX_RETIRED];   /* old epochs, a ring */
    unsigned retired_next;          /* index to replace next, modulo EXANET_RX_RETIRED */
    ExanetTidRecord tomb[EXANET_TIDS];
    ExanetTidRecord refused[EXANET_TIDS];
    struct {
        int64_t time;               /* ns, time of the last packet */
        uint8_t gen;                /* generation of the last message */
        bool valid;
        bool done;                  /* the last message was delivered */
    } message[EXANET_RX_SENDERS];   /* indexed by the sender's context and channel */
    struct {
        ExanetReport report[EXANET_RX_REPORTS];     /* a ring */
        unsigned next;              /* index to replace next, modulo EXANET_RX_REPORTS */
    } reports[EXANET_CONTEXTS];     /* indexed by context of this node */
    ExanetShmSource *shm;           /* state of shared memory; owned, may be NULL */
};

/* Frees source @value, an element of ExanetReceiver.sources. */
void exanet_source_free(gpointer value);
/*
 * Looks up the source of @pkt, and stores it in *@src.  @passed: @pkt has passed the
 * check of its context.  If @passed is true, a new node is added, and a new epoch resets
 * the node's state.  Otherwise *@src is NULL for an unknown node or epoch, because the
 * coordinates of a refused packet may be false and must take no memory.  Returns false if
 * @pkt must be dropped; the function has then counted @pkt, and has called @refuse if
 * there is no room for a new node.
 */
bool exanet_source_find(ExanetState *s, const ExanetPacket *pkt, bool passed,
                        void (*refuse)(ExanetState *s, const ExanetPacket *pkt),
                        ExanetSource **src);
/*
 * Nacks @pkt, because there is no room for its node; the node retransmits.  Of a block,
 * nacks only the first packet; ignores control and release packets.
 */
void exanet_source_refuse(ExanetState *s, const ExanetPacket *pkt);

/* Sends an ack with @resp to the source of @pkt. */
void exanet_receiver_ack(ExanetState *s, const ExanetPacket *pkt,
                         enum exanet_resp resp);
/*
 * Returns a record of a page fault at a write of @pkt, for exanet_fault_report().  The
 * caller sets @va.
 */
ExanetPendingFault exanet_receiver_fault(const ExanetPacket *pkt,
                                         enum exanet_fault_unit unit);
/*
 * Delivers notification @n to the 42-bit address @va of @pdid on this node.  @fault names
 * the source, and is reported if a page is missing.  If @irq is true, raises the
 * interrupt of the context.  Returns ACK, or the reason why @n was not delivered.
 */
enum exanet_resp exanet_receiver_notify(ExanetState *s, uint16_t pdid,
                                        uint64_t va,
                                        const struct exanet_notification *n,
                                        const ExanetPendingFault *fault,
                                        bool irq);

#endif /* HW_EXANET_ENGINE_RECEIVER_SOURCE_H */
