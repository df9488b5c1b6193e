/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of the device [P].  The driver reads most of them from the shared region.
 */
#ifndef HW_PVRDMA_BASE_CAPS_H
#define HW_PVRDMA_BASE_CAPS_H

#include "rnic/pvrdma/dsr.h"

#define PVRDMA_QPS          16384       /* the driver uses 16 bits of a handle */
#define PVRDMA_CQS          16384
#define PVRDMA_SRQS         4096
#define PVRDMA_PDS          16384
#define PVRDMA_MRS          65536
#define PVRDMA_GIDS         128
#define PVRDMA_PKEYS        1
#define PVRDMA_MAX_WR       16384
#define PVRDMA_MAX_CQE      (1 << 18)
#define PVRDMA_MAX_SGE      32
/* The limit of soft-RoCE, which many peers request. */
#define PVRDMA_MAX_RD_ATOMIC 128
#define PVRDMA_MAX_MR_BYTES ((uint64_t)PVRDMA_PDIR_MAX_PAGES * PVRDMA_PAGE_BYTES)
/*
 * Pages of all objects together.  Each takes 8 bytes of host memory, so the guest must
 * not use it without a limit.  The rings of send queues (PvrdmaReq) are counted as
 * pages, too.
 */
#define PVRDMA_MAX_PAGES    (16u << 20)

#endif /* HW_PVRDMA_BASE_CAPS_H */
