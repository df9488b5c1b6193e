/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate of a connection under congestion: the reaction point of DCQCN [EXT: Zhu et al.,
 * SIGCOMM 2015].  It has no QEMU state.  All times are arguments, in ns.
 */
#ifndef HW_PVRDMA_WIRE_DCQCN_H
#define HW_PVRDMA_WIRE_DCQCN_H

/* Speed of the port, as query_port reports it. */
#define PVRDMA_DCQCN_LINE_BPS   100000000000ULL
#define PVRDMA_DCQCN_MIN_BPS    10000000ULL
/* Bytes that may be sent at once after a pause. */
#define PVRDMA_DCQCN_BURST      16384
#define PVRDMA_DCQCN_ONE        (1u << 24)          /* unit of alpha */

/* State of a connection.  All members are 0 if it never met congestion. */
typedef struct PvrdmaDcqcn {
    bool limited;               /* the rate is below the line rate */
    bool alpha_valid;
    uint32_t alpha;             /* estimate of congestion, 0 to PVRDMA_DCQCN_ONE */
    uint64_t rate, target;      /* bits per second */
    int64_t alpha_at;           /* when alpha decreases next */
    int64_t raise_at;           /* when the rate increases next */
    /* Increases since the last notification, by time and by bytes. */
    unsigned times, volumes;
    uint64_t bytes;             /* bytes sent since the last increase by bytes */
    int64_t next;               /* when the next packet may leave */
} PvrdmaDcqcn;

/* Handles a congestion notification. */
void pvrdma_dcqcn_cnp(PvrdmaDcqcn *d, int64_t now);
/* Returns 0 if a packet may leave now, or the time when it may leave. */
int64_t pvrdma_dcqcn_wait(PvrdmaDcqcn *d, int64_t now);
/* Counts a packet of @len bytes that left. */
void pvrdma_dcqcn_sent(PvrdmaDcqcn *d, int64_t now, size_t len);

#endif /* HW_PVRDMA_WIRE_DCQCN_H */
