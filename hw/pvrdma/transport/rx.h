/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames from the wire.
 */
#ifndef HW_PVRDMA_TRANSPORT_RX_H
#define HW_PVRDMA_TRANSPORT_RX_H

typedef struct PvrdmaState PvrdmaState;

/*
 * Checks a frame of @len bytes, finds its QP, and passes the packet to comp.c, resp.c or
 * ud.c.  Handles a CNP itself.  Drops and counts a frame that fails a check.
 */
void pvrdma_rx(PvrdmaState *s, const uint8_t *frame, size_t len);

#endif /* HW_PVRDMA_TRANSPORT_RX_H */
