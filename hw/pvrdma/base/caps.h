/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of the device [P].  The driver reads most limits from the shared region.
 * PVRDMA_QPS to PVRDMA_MRS are sizes of handle tables.  A table of n handles contains at
 * most n - 1 objects, because handle 0 is not used.
 */
#ifndef HW_PVRDMA_BASE_CAPS_H
#define HW_PVRDMA_BASE_CAPS_H

#include "rnic/pvrdma/dsr.h"

/*
 * PVRDMA_QPS is at most 65536, because the driver uses only bits 15:0 of the QP handle in
 * a completion.
 */
#define PVRDMA_QPS          16384
#define PVRDMA_CQS          16384
#define PVRDMA_SRQS         4096
#define PVRDMA_PDS          16384
#define PVRDMA_MRS          65536
#define PVRDMA_GIDS         128
#define PVRDMA_PKEYS        1
#define PVRDMA_MAX_WR       16384
#define PVRDMA_MAX_CQE      (1 << 18)
#define PVRDMA_MAX_SGE      32
/*
 * Maximal number of requests for READs and atomics of a QP that have no complete
 * response.  The limit of soft-RoCE is the same [EXT].
 */
#define PVRDMA_MAX_RD_ATOMIC 128
#define PVRDMA_MAX_MR_BYTES ((uint64_t)PVRDMA_PDIR_MAX_PAGES * PVRDMA_PAGE_BYTES)
/*
 * Limit of PvrdmaState.pages_used, the pages of all objects and rings together.  The
 * limit exists because the address of each page needs 8 bytes of host memory.
 * PvrdmaReq.counted adds the memory of large rings of WQEs, in units of 8 bytes.
 */
#define PVRDMA_MAX_PAGES    (16u << 20)

#endif /* HW_PVRDMA_BASE_CAPS_H */
