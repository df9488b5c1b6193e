/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of the paravirtual RDMA NIC.
 */
#ifndef HW_PVRDMA_BASE_CAPS_H
#define HW_PVRDMA_BASE_CAPS_H

#include "rnic/pvrdma/regs.h"

/* Limits, as the driver is told them. */
#define PVRDMA_QPS          16384       /* handles fit 16 bits: the driver masks so */
#define PVRDMA_CQS          16384
#define PVRDMA_SRQS         4096
#define PVRDMA_PDS          16384
#define PVRDMA_MRS          65536
#define PVRDMA_GIDS         128
#define PVRDMA_PKEYS        1
#define PVRDMA_MAX_WR       16384
#define PVRDMA_MAX_CQE      (1 << 18)
#define PVRDMA_MAX_SGE      32
#define PVRDMA_MAX_RD_ATOMIC 128        /* as soft-RoCE: peers ask for as many */
#define PVRDMA_MAX_MR_BYTES ((uint64_t)PVRDMA_PDIR_MAX_PAGES * PVRDMA_PAGE_BYTES)
/*
 * Pages of all objects together, 8 bytes of ours each: a guest must not have it all.
 * Send queues that have much under way take from the same.
 */
#define PVRDMA_MAX_PAGES    (16u << 20)

#endif /* HW_PVRDMA_BASE_CAPS_H */
