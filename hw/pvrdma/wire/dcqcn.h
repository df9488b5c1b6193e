/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate of a connection under congestion: the reaction point of DCQCN [EXT: Zhu et al.,
 * SIGCOMM 2015].  The unit has no QEMU state.  All times are in ns of the virtual clock;
 * @now is the current time.
 */
#ifndef HW_PVRDMA_WIRE_DCQCN_H
#define HW_PVRDMA_WIRE_DCQCN_H

/*
 * Speed of the port, which query_port reports, and lowest rate of a limited connection;
 * bits per second.
 */
#define PVRDMA_DCQCN_LINE_BPS   100000000000ULL
#define PVRDMA_DCQCN_MIN_BPS    10000000ULL
/* Bytes that a limited connection may send ahead of its rate after a pause. */
#define PVRDMA_DCQCN_BURST      16384
#define PVRDMA_DCQCN_ONE        (1u << 24)          /* value of alpha that means 1 */

/*
 * State of DCQCN for a connection.  All members are 0 until the first congestion
 * notification.
 */
typedef struct PvrdmaDcqcn {
    bool limited;               /* @rate limits the connection; false: no limit */
    bool alpha_valid;           /* a notification has arrived, so @alpha has a value */
    uint32_t alpha;             /* estimate of congestion, 0 to PVRDMA_DCQCN_ONE */
    uint64_t rate, target;      /* @rate rises towards @target; bits per second */
    int64_t alpha_at;           /* time of the next decrease of alpha */
    int64_t raise_at;           /* time of the next increase of @rate by time */
    /* Numbers of increases of @rate since the last notification: by time, by bytes. */
    unsigned times, volumes;
    /*
     * Payload bytes sent while @limited was true, since the last notification or the last
     * increase by bytes sent, whichever was later.
     */
    uint64_t bytes;
    int64_t next;               /* time from which the next packet may be sent */
} PvrdmaDcqcn;

/*
 * First performs the increases of the rate that raise_at has scheduled up to @now.  Then
 * reduces the rate, but not below PVRDMA_DCQCN_MIN_BPS, because a congestion notification
 * of the peer has arrived.
 */
void pvrdma_dcqcn_cnp(PvrdmaDcqcn *d, int64_t now);
/*
 * First performs the increases of the rate that raise_at has scheduled up to @now.
 * Returns 0 if a packet may be sent now, or the time from which a packet may be sent.
 */
int64_t pvrdma_dcqcn_wait(PvrdmaDcqcn *d, int64_t now);
/*
 * Sets the time from which the next packet may be sent, because a packet with @len bytes
 * of payload was sent.  May raise the rate.  Does nothing if the rate is not limited.
 */
void pvrdma_dcqcn_sent(PvrdmaDcqcn *d, int64_t now, size_t len);

#endif /* HW_PVRDMA_WIRE_DCQCN_H */
