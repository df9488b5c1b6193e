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
/* Equal to the limit of soft-RoCE, because many peers request as much. */
#define PVRDMA_MAX_RD_ATOMIC 128
#define PVRDMA_MAX_MR_BYTES ((uint64_t)PVRDMA_PDIR_MAX_PAGES * PVRDMA_PAGE_BYTES)
/*
 * Limit of the pages of all objects together, because each page takes 8 bytes of host
 * memory.  The memory of the rings of send queues (PvrdmaReq) counts as pages, too.
 */
#define PVRDMA_MAX_PAGES    (16u << 20)

#endif /* HW_PVRDMA_BASE_CAPS_H */
