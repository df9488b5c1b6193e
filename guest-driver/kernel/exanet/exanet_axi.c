// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet on AXI: a node of the device tree.
 */
#include "exanet_axi.h"

#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "exanet.h"
#include "exanet_device.h"
#include "exanet_dma.h"

/* Numbers of the memory regions in the node of the device tree. */
enum {
	EXANET_AXI_REGS,
	EXANET_AXI_USER,
	EXANET_AXI_APERTURE,
};

static int exanet_axi_map(struct platform_device *pdev,
			  struct exanet_resources *res)
{
	struct resource *mem;

	res->regs = devm_platform_get_and_ioremap_resource(pdev, EXANET_AXI_REGS,
							   &mem);
	if (IS_ERR(res->regs))
		return PTR_ERR(res->regs);
	if (resource_size(mem) < EXANET_REGS_BYTES) {
		dev_err(&pdev->dev, "the region of registers is too short\n");
		return -ENODEV;
	}
	mem = platform_get_resource(pdev, IORESOURCE_MEM, EXANET_AXI_USER);
	if (!mem) {
		dev_err(&pdev->dev, "no region of user pages\n");
		return -ENODEV;
	}
	if (!devm_request_mem_region(&pdev->dev, mem->start, resource_size(mem),
				     dev_name(&pdev->dev)))
		return -EBUSY;
	res->user = mem->start;
	res->user_bytes = resource_size(mem);

	/* The device tree node of a NIC without an aperture may lack this region. */
	mem = platform_get_resource(pdev, IORESOURCE_MEM, EXANET_AXI_APERTURE);
	if (!mem)
		return 0;
	if (!devm_request_mem_region(&pdev->dev, mem->start, resource_size(mem),
				     dev_name(&pdev->dev)))
		return -EBUSY;
	res->aperture = mem->start;
	res->aperture_bytes = resource_size(mem);
	return 0;
}

static int exanet_axi_lines(struct platform_device *pdev,
			    struct exanet_resources *res)
{
	unsigned int n;
	int irq;

	for (n = 0; n < EXANET_IRQ_LINES; n++) {
		irq = platform_get_irq(pdev, n);	/* platform_get_irq() logs errors */
		if (irq < 0)
			return irq;
		res->irq[n] = irq;
	}
	res->wired = true;
	return 0;
}

static void exanet_axi_remove(void *xdev)
{
	exanet_device_remove(xdev);
}

static int exanet_axi_probe(struct platform_device *pdev)
{
	struct exanet_resources res = {};
	struct exanet_device *xdev;
	int ret;

	ret = exanet_dma_check(&pdev->dev);
	if (ret)
		return ret;
	ret = exanet_axi_map(pdev, &res);
	if (ret)
		return ret;
	ret = exanet_axi_lines(pdev, &res);
	if (ret)
		return ret;
	xdev = exanet_device_probe(&pdev->dev, &res);
	if (IS_ERR(xdev))
		return PTR_ERR(xdev);
	platform_set_drvdata(pdev, xdev);
	/*
	 * The kernel calls exanet_axi_remove() before the kernel releases the resources of
	 * exanet_axi_map().
	 */
	return devm_add_action_or_reset(&pdev->dev, exanet_axi_remove, xdev);
}

static void exanet_axi_shutdown(struct platform_device *pdev)
{
	exanet_device_shutdown(platform_get_drvdata(pdev));
}

static const struct of_device_id exanet_axi_ids[] = {
	{ .compatible = EXANET_AXI_COMPATIBLE },
	{ }
};
MODULE_DEVICE_TABLE(of, exanet_axi_ids);

static struct platform_driver exanet_axi_driver = {
	.driver = {
		.name = "exanet-axi",
		.of_match_table = exanet_axi_ids,
	},
	.probe = exanet_axi_probe,
	.shutdown = exanet_axi_shutdown,
};

int exanet_axi_register(void)
{
	return platform_driver_register(&exanet_axi_driver);
}

void exanet_axi_unregister(void)
{
	platform_driver_unregister(&exanet_axi_driver);
}
