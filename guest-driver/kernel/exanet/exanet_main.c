// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: load and unload of the module.
 */
#include <linux/module.h>

#include "exanet_axi.h"
#include "exanet_debugfs.h"
#include "exanet_device.h"
#include "exanet_fault.h"
#include "exanet_job.h"
#include "exanet_pci.h"
#include "exanet_sysfs.h"

static int __init exanet_init(void)
{
	int ret;

	ret = exanet_job_init();
	if (ret)
		return ret;
	exanet_sysfs_init();
	ret = exanet_fault_init();
	if (ret)
		return ret;
	exanet_debugfs_init();
	ret = exanet_device_init();
	if (ret)
		goto err_fault;
	ret = exanet_pci_register();
	if (ret)
		goto err_device;
	ret = exanet_axi_register();
	if (ret)
		goto err_pci;
	return 0;

err_pci:
	exanet_pci_unregister();
err_device:
	exanet_device_exit();
err_fault:
	exanet_debugfs_exit();
	exanet_fault_exit();
	return ret;
}

static void __exit exanet_exit(void)
{
	exanet_axi_unregister();
	exanet_pci_unregister();
	exanet_debugfs_exit();
	/*
	 * Waits for page fault works before the class is removed, because a work may have
	 * the last reference to a context and to the context's device.
	 */
	exanet_fault_exit();
	exanet_device_exit();
}

module_init(exanet_init);
module_exit(exanet_exit);
MODULE_DESCRIPTION("ExaNet RDMA NIC");
MODULE_LICENSE("GPL");
