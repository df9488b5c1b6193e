/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the receiver share: receiver.c has blocks, receiver-message.c
 * packets that are complete in themselves, receiver-source.c what is remembered of
 * the nodes that send, for which shm/target.c includes this, too.  Nobody else does.
 */
#ifndef HW_EXANET_ENGINE_RECEIVER_SOURCE_H
#define HW_EXANET_ENGINE_RECEIVER_SOURCE_H

#include "../exanet.h"
#include "receiver.h"

typedef struct ExanetShmSource ExanetShmSource;

/* What is idle for so long may make room for others [P]. */
#define EXANET_RX_IDLE_NS (100 * (int64_t)SCALE_MS)
#define EXANET_RX_SENDERS (EXANET_CONTEXTS * EXANET_PKTZ_CHANNELS)
#define EXANET_RX_RETIRED 4         /* epochs of a source */

/*
 * In tomb: the last block that a TID completed, or a later one that its source gave up.
 * In refused: the last block that was answered for without a context.
 */
typedef struct ExanetTidRecord {
    int64_t time;                   /* of the last answer, ns */
    uint16_t seq;                   /* answered up to here */
    uint8_t gen;
    bool valid;
    bool released;                  /* the source has given the block up */
} ExanetTidRecord;

/* A notification packet that was delivered: copies of it are duplicates. */
typedef struct ExanetReport {
    int64_t time;                   /* ns */
    uint64_t va;
    uint64_t data;                  /* as it came */
    uint16_t number;                /* its TID */
    uint16_t pdid;
    bool valid;
} ExanetReport;

struct ExanetSource {
    int64_t time;                   /* ns, last packet for a context of this node */
    int64_t born;                   /* ns, first packet */
    int64_t far;                    /* ns, last packet that other nodes forwarded */
    uint32_t coord;
    uint8_t epoch;
    uint8_t link;                   /* link of the first packet */
    bool proven;                    /* something of it was taken */
    struct {
        int64_t time;               /* when it was replaced, ns */
        uint8_t epoch;
        bool valid;
    } retired[EXANET_RX_RETIRED];   /* a ring */
    unsigned retired_next;
    ExanetTidRecord tomb[EXANET_TIDS];
    ExanetTidRecord refused[EXANET_TIDS];
    struct {
        int64_t time;               /* of the last packet, ns */
        uint8_t gen;                /* of the last message that arrived */
        bool valid;
        bool done;                  /* it was delivered: copies are duplicates */
    } message[EXANET_RX_SENDERS];   /* by sender's context and channel */
    struct {
        ExanetReport report[EXANET_RX_REPORTS];     /* a ring */
        unsigned next;
    } reports[EXANET_CONTEXTS];     /* by reader: no context forgets for another one */
    ExanetShmSource *shm;           /* of shared memory; owned, NULL: none yet */
};

/* Frees source @value, an element of ExanetReceiver.sources. */
void exanet_source_free(gpointer value);
/*
 * Looks up the source of @pkt.  If @passed, exanet_context_check() has passed @pkt: a
 * new node is added, and a new epoch resets the node's state.  Otherwise *src is NULL
 * for an unknown node or epoch, because the coordinates of a refused packet may be
 * false and must take no memory.  Returns false if @pkt must be dropped; the function
 * has then counted @pkt, and has called @refuse if there is no room for a new node.
 */
bool exanet_source_find(ExanetState *s, const ExanetPacket *pkt, bool passed,
                        void (*refuse)(ExanetState *s, const ExanetPacket *pkt),
                        ExanetSource **src);
/* Answers @pkt of a node for which there is no room, so that the node tries again. */
void exanet_source_refuse(ExanetState *s, const ExanetPacket *pkt);

/* Answers @pkt with @resp. */
void exanet_receiver_ack(ExanetState *s, const ExanetPacket *pkt,
                         enum exanet_resp resp);
/* A write fault that @pkt met, but for its address; acks to @pkt tell of it. */
ExanetPendingFault exanet_receiver_fault(const ExanetPacket *pkt,
                                         enum exanet_fault_unit unit);
/*
 * Delivers notification @n to the 42-bit address @va of @pdid on this node; @fault
 * is who sent it.  An interrupt follows if @irq.
 */
enum exanet_resp exanet_receiver_notify(ExanetState *s, uint16_t pdid,
                                        uint64_t va,
                                        const struct exanet_notification *n,
                                        const ExanetPendingFault *fault,
                                        bool irq);

#endif /* HW_EXANET_ENGINE_RECEIVER_SOURCE_H */
