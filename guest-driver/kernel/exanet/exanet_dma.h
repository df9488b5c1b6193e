/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet behind an IOMMU.
 */
#ifndef EXANET_DMA_H
#define EXANET_DMA_H

struct device;

/*
 * Checks that no IOMMU translates addresses of accesses by @dev. A bus shell calls this
 * function first. Returns 0 or, after a message, -ENODEV: an IOMMU translates.
 */
int exanet_dma_check(struct device *dev);

#endif /* EXANET_DMA_H */
