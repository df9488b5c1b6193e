// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet on PCI Express.
 */
#include "exanet_pci.h"

#include <linux/module.h>
#include <linux/pci.h>

#include "exanet.h"
#include "exanet_device.h"
#include "exanet_dma.h"

static int exanet_pci_vectors(struct pci_dev *pdev, struct exanet_resources *res)
{
	unsigned int n;
	int ret;

	ret = pci_alloc_irq_vectors(pdev, EXANET_VECTORS, EXANET_VECTORS,
				    PCI_IRQ_MSIX);
	if (ret < 0) {
		dev_err(&pdev->dev, "no %d MSI-X vectors: %d\n",
			EXANET_VECTORS, ret);
		return ret;
	}
	for (n = 0; n < EXANET_VECTORS; n++)
		res->irq[n] = pci_irq_vector(pdev, n);
	return 0;
}

static int exanet_pci_map(struct pci_dev *pdev, struct exanet_resources *res)
{
	if (pci_resource_len(pdev, EXANET_BAR_REGS) < EXANET_REGS_BYTES) {
		dev_err(&pdev->dev, "BAR %d is too short\n", EXANET_BAR_REGS);
		return -ENODEV;
	}
	res->regs = pci_iomap(pdev, EXANET_BAR_REGS, EXANET_REGS_BYTES);
	if (!res->regs)
		return -ENOMEM;
	res->user = pci_resource_start(pdev, EXANET_BAR_USER);
	res->user_bytes = pci_resource_len(pdev, EXANET_BAR_USER);
	res->aperture = pci_resource_start(pdev, EXANET_BAR_APERTURE);
	res->aperture_bytes = pci_resource_len(pdev, EXANET_BAR_APERTURE);
	return 0;
}

static int exanet_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct exanet_resources res = {};
	struct exanet_device *xdev;
	int ret;

	ret = exanet_dma_check(&pdev->dev);
	if (ret)
		return ret;
	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_regions(pdev, "exanet");
	if (ret)
		goto err_disable;
	ret = exanet_pci_map(pdev, &res);
	if (ret)
		goto err_regions;
	/* The NIC needs bus mastering for MSI-X messages, which are writes. */
	pci_set_master(pdev);
	ret = exanet_pci_vectors(pdev, &res);
	if (ret)
		goto err_unmap;

	xdev = exanet_device_probe(&pdev->dev, &res);
	if (IS_ERR(xdev)) {
		ret = PTR_ERR(xdev);
		goto err_vectors;
	}
	pci_set_drvdata(pdev, xdev);
	return 0;

err_vectors:
	pci_free_irq_vectors(pdev);
err_unmap:
	pci_clear_master(pdev);
	pci_iounmap(pdev, res.regs);
err_regions:
	pci_release_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void exanet_pci_remove(struct pci_dev *pdev)
{
	struct exanet_device *xdev = pci_get_drvdata(pdev);
	void __iomem *regs = xdev->res.regs;

	exanet_device_remove(xdev);
	pci_free_irq_vectors(pdev);
	pci_clear_master(pdev);
	pci_iounmap(pdev, regs);
	pci_release_regions(pdev);
	pci_disable_device(pdev);
}

static void exanet_pci_shutdown(struct pci_dev *pdev)
{
	exanet_device_shutdown(pci_get_drvdata(pdev));
}

static void exanet_pci_reset_prepare(struct pci_dev *pdev)
{
	exanet_device_reset_prepare(pci_get_drvdata(pdev));
}

static void exanet_pci_reset_done(struct pci_dev *pdev)
{
	exanet_device_reset_done(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers exanet_pci_errors = {
	.reset_prepare = exanet_pci_reset_prepare,
	.reset_done = exanet_pci_reset_done,
};

static const struct pci_device_id exanet_pci_ids[] = {
	{ PCI_DEVICE(EXANET_PCI_VENDOR_ID, EXANET_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, exanet_pci_ids);

static struct pci_driver exanet_pci_driver = {
	.name = "exanet",
	.id_table = exanet_pci_ids,
	.probe = exanet_pci_probe,
	.remove = exanet_pci_remove,
	.shutdown = exanet_pci_shutdown,
	.err_handler = &exanet_pci_errors,
};

int exanet_pci_register(void)
{
	return pci_register_driver(&exanet_pci_driver);
}

void exanet_pci_unregister(void)
{
	pci_unregister_driver(&exanet_pci_driver);
}
