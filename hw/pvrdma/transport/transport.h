/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the queue pairs ask of the sending and the receiving side.
 */
#ifndef HW_PVRDMA_TRANSPORT_TRANSPORT_H
#define HW_PVRDMA_TRANSPORT_TRANSPORT_H

#include "../objects/qp.h"

extern const PvrdmaTransport pvrdma_transport;

#endif /* HW_PVRDMA_TRANSPORT_TRANSPORT_H */
