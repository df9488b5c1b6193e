/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of functions by which queue pairs use requester and responder.
 */
#ifndef HW_PVRDMA_TRANSPORT_TRANSPORT_H
#define HW_PVRDMA_TRANSPORT_TRANSPORT_H

#include "../objects/qp.h"

extern const PvrdmaTransport pvrdma_transport;

#endif /* HW_PVRDMA_TRANSPORT_TRANSPORT_H */
