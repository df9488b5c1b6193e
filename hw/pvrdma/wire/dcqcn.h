/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate of a connection whose packets meet congestion: the reaction point of DCQCN
 * [EXT: Zhu et al., SIGCOMM 2015].  Free of QEMU state; time is given, in ns.
 */
#ifndef HW_PVRDMA_WIRE_DCQCN_H
#define HW_PVRDMA_WIRE_DCQCN_H

#define PVRDMA_DCQCN_LINE_BPS   100000000000ULL     /* as the port says it is */
#define PVRDMA_DCQCN_MIN_BPS    10000000ULL
/* Bytes that may leave at once after a pause. */
#define PVRDMA_DCQCN_BURST      16384
#define PVRDMA_DCQCN_ONE        (1u << 24)          /* of alpha */

/* All zero: nothing was ever congested. */
typedef struct PvrdmaDcqcn {
    bool limited;               /* the rate is below that of the line */
    bool known;                 /* alpha is */
    uint32_t alpha;             /* estimate of congestion, 0 to PVRDMA_DCQCN_ONE */
    uint64_t rate, target;      /* bits per second */
    int64_t alpha_at;           /* when alpha gets smaller next */
    int64_t raise_at;           /* when the rate is raised next */
    unsigned times, volumes;    /* how often it was, by time and by bytes sent */
    uint64_t bytes;             /* since the last time by bytes */
    int64_t next;               /* when the next packet may leave */
} PvrdmaDcqcn;

/* A notification came. */
void pvrdma_dcqcn_cnp(PvrdmaDcqcn *d, int64_t now);
/* 0 if a packet may leave now, or else when. */
int64_t pvrdma_dcqcn_wait(PvrdmaDcqcn *d, int64_t now);
/* A packet of @len bytes left. */
void pvrdma_dcqcn_sent(PvrdmaDcqcn *d, int64_t now, size_t len);

#endif /* HW_PVRDMA_WIRE_DCQCN_H */
