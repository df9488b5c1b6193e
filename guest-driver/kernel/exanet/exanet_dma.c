// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet behind an IOMMU.
 *
 * The NIC walks page tables of processes. These tables contain physical addresses, which an
 * IOMMU must not translate. So the NIC needs an identity domain of the IOMMU. A module
 * cannot choose the domain. A udev rule (60-exanet.rules) chooses the domain before the
 * driver is bound, because the kernel refuses to change the domain later.
 */
#include "exanet_dma.h"

#include <linux/device.h>
#include <linux/iommu.h>

int exanet_dma_check(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);
	struct iommu_group *group;

	if (!domain || domain->type == IOMMU_DOMAIN_IDENTITY)
		return 0;
	group = iommu_group_get(dev);
	dev_err(dev, "its IOMMU translates, but page tables have physical addresses: write identity to /sys/kernel/iommu_groups/%d/type and bind it again, or boot with iommu.passthrough=1\n",
		group ? iommu_group_id(group) : -1);
	iommu_group_put(group);
	return -ENODEV;
}
