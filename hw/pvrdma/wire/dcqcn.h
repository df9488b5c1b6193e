/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate of a connection under congestion: the reaction point of DCQCN [EXT: Zhu et al.,
 * SIGCOMM 2015].  The unit has no QEMU state.  All times are in ns of the virtual clock;
 * @now is the current time.
 */
#ifndef HW_PVRDMA_WIRE_DCQCN_H
#define HW_PVRDMA_WIRE_DCQCN_H

/* Speed of the port, which query_port reports, and lowest rate; bits per second. */
#define PVRDMA_DCQCN_LINE_BPS   100000000000ULL
#define PVRDMA_DCQCN_MIN_BPS    10000000ULL
/*
 * Bytes that a connection may send without a delay after it has sent nothing for a
 * time.
 */
#define PVRDMA_DCQCN_BURST      16384
#define PVRDMA_DCQCN_ONE        (1u << 24)          /* unit of alpha */

/* State of a connection.  All members are 0 if it never met congestion. */
typedef struct PvrdmaDcqcn {
    bool limited;               /* the rate is below the line rate */
    bool alpha_valid;
    uint32_t alpha;             /* estimate of congestion, 0 to PVRDMA_DCQCN_ONE */
    uint64_t rate, target;      /* bits per second */
    int64_t alpha_at;           /* time of the next decrease of alpha */
    int64_t raise_at;           /* time of the next increase of the rate */
    /* Increases since the last notification, after an interval and after B bytes. */
    unsigned times, volumes;
    uint64_t bytes;             /* bytes sent since the last increase after B bytes */
    int64_t next;               /* time from which the next packet may be sent */
} PvrdmaDcqcn;

/* Reduces the rate after a congestion notification of the peer. */
void pvrdma_dcqcn_cnp(PvrdmaDcqcn *d, int64_t now);
/* Returns 0 if a packet may be sent now, or the time from which it may be sent. */
int64_t pvrdma_dcqcn_wait(PvrdmaDcqcn *d, int64_t now);
/* Delays the next packet after a packet of @len bytes was sent.  May raise the rate. */
void pvrdma_dcqcn_sent(PvrdmaDcqcn *d, int64_t now, size_t len);

#endif /* HW_PVRDMA_WIRE_DCQCN_H */
