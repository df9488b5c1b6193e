// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: the life of one NIC on any bus.
 */
#include "exanet_device.h"

#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "exanet.h"
#include "exanet_binding.h"
#include "exanet_compat.h"
#include "exanet_context.h"
#include "exanet_file.h"
#include "exanet_sysfs.h"

/*
 * Causes of interrupts that the driver enables. The driver does not enable
 * EXANET_IRQ_TRANSFER, because the channel of a failed transfer reports the failure to the
 * process. The driver does not enable EXANET_IRQ_PROTOCOL, because invalid packets are
 * common when processes end, and the NIC counts invalid packets. The driver does not use
 * EXANET_IRQ_RT and EXANET_IRQ_FAULT_OVERFLOW, either.
 */
#define EXANET_IRQS_USED	((u32)(EXANET_IRQ_FAULT | EXANET_IRQ_MAILBOX | \
				       EXANET_IRQ_LINK | EXANET_IRQ_SHM | \
				       EXANET_IRQ_CDMA | EXANET_IRQ_ACCEL))

static dev_t exanet_devt;
static DEFINE_IDA(exanet_ida);

static char *exanet_devnode(EXANET_DEVNODE_CONST struct device *dev,
			    umode_t *mode)
{
	if (mode)
		*mode = 0600;	/* the udev rule 60-exanet.rules sets group and mode later */
	return NULL;
}

static struct class exanet_class = {
	.name = "exanet",
	.devnode = exanet_devnode,
};

/* --- probe and remove ----------------------------------------------------- */

static void exanet_device_release(struct device *dev)
{
	struct exanet_device *xdev = container_of(dev, struct exanet_device, dev);

	ida_free(&exanet_ida, dev->devt - exanet_devt);
	mutex_destroy(&xdev->lock);
	mutex_destroy(&xdev->links.lock);
	kfree(xdev);
}

static struct exanet_device *exanet_device_new(struct device *parent,
					       const struct exanet_resources *res)
{
	struct exanet_device *xdev = kzalloc(sizeof(*xdev), GFP_KERNEL);
	int minor;

	if (!xdev)
		return ERR_PTR(-ENOMEM);
	minor = ida_alloc_max(&exanet_ida, EXANET_NICS - 1, GFP_KERNEL);
	if (minor < 0) {
		kfree(xdev);
		return ERR_PTR(minor);
	}
	mutex_init(&xdev->lock);
	spin_lock_init(&xdev->slot_lock);
	INIT_LIST_HEAD(&xdev->contexts);
	init_waitqueue_head(&xdev->freed);
	exanet_link_init(xdev);
	xdev->last = EXANET_CONTEXTS - 1;
	xdev->quota = EXANET_QUOTA_DEFAULT;
	xdev->res = *res;
	xdev->hw.regs = res->regs;

	device_initialize(&xdev->dev);
	xdev->dev.parent = parent;
	xdev->dev.class = &exanet_class;
	xdev->dev.devt = exanet_devt + minor;
	xdev->dev.release = exanet_device_release;
	cdev_init(&xdev->cdev, &exanet_file_ops);
	xdev->cdev.owner = THIS_MODULE;
	return xdev;
}

static int exanet_device_check(struct exanet_device *xdev)
{
	struct device *parent = xdev->dev.parent;
	struct exanet_caps *caps = &xdev->caps;
	int ret;

	ret = exanet_hw_identify(&xdev->hw, caps);
	if (ret) {
		dev_err(parent, "not an ExaNet NIC of a known version\n");
		return ret;
	}
	/*
	 * A mapping shows at least PAGE_SIZE bytes. If user pages were smaller, a mapping
	 * would show several user pages, perhaps of other contexts.
	 */
	if (caps->page_shift < PAGE_SHIFT) {
		dev_err(parent, "user pages of %lu bytes: too small for this kernel\n",
			BIT(caps->page_shift));
		return -ENODEV;
	}
	if (xdev->res.user_bytes < (resource_size_t)caps->contexts *
				   EXANET_USER_PAGES << caps->page_shift) {
		dev_err(parent, "user pages are missing\n");
		return -ENODEV;
	}
	xdev->table_format = exanet_binding_format();
	ret = exanet_hw_reset(&xdev->hw);
	if (ret)
		dev_err(parent, "no answer to reset\n");
	return ret;
}

struct exanet_device *exanet_device_probe(struct device *parent,
					  const struct exanet_resources *res)
{
	struct exanet_device *xdev;
	int ret;

	xdev = exanet_device_new(parent, res);
	if (IS_ERR(xdev))
		return xdev;
	ret = dev_set_name(&xdev->dev, "exanet%u", MINOR(xdev->dev.devt) -
			   MINOR(exanet_devt));
	if (ret)
		goto err_put;
	ret = exanet_device_check(xdev);
	if (ret)
		goto err_put;
	exanet_segment_init(xdev);
	exanet_cdma_init(xdev);
	exanet_accel_init(xdev);
	ret = exanet_shm_init(xdev);
	if (ret)
		goto err_put;
	exanet_sysfs_groups(xdev);
	ret = exanet_irq_request(xdev);
	if (ret)
		goto err_shm;
	ret = cdev_device_add(&xdev->cdev, &xdev->dev);
	if (ret)
		goto err_irqs;

	exanet_debugfs_add(xdev);
	exanet_hw_start(&xdev->hw, EXANET_IRQS_USED);
	dev_info(&xdev->dev, "coordinates 0x%06x, %u contexts, %u ports\n",
		 exanet_hw_coord(&xdev->hw), xdev->caps.contexts,
		 hweight32(xdev->caps.present));
	return xdev;

err_irqs:
	exanet_irq_free(xdev);
err_shm:
	exanet_shm_exit(xdev);
err_put:
	put_device(&xdev->dev);
	return ERR_PTR(ret);
}

void exanet_device_remove(struct exanet_device *xdev)
{
	exanet_debugfs_remove(xdev);
	/*
	 * Frees the interrupts before the removal of the files in sysfs, because interrupt
	 * handlers use these files.
	 */
	exanet_irq_free(xdev);
	/*
	 * Removes the device file and the files in sysfs before the contexts stop, so that
	 * no process opens a new context. Contexts must stop before the return, because
	 * contexts access registers.
	 */
	cdev_device_del(&xdev->cdev, &xdev->dev);
	exanet_device_reset_prepare(xdev);
	if (exanet_hw_reset(&xdev->hw))
		dev_err(xdev->dev.parent, "no answer to reset\n");
	mutex_lock(&xdev->lock);
	exanet_context_free_stuck(xdev);
	mutex_unlock(&xdev->lock);
	exanet_shm_exit(xdev);
	put_device(&xdev->dev);
}

void exanet_device_reset_prepare(struct exanet_device *xdev)
{
	/* On some CPUs the kernel crashes if a report reads a register during the reset. */
	exanet_link_pause(xdev);
	mutex_lock(&xdev->lock);
	xdev->gone = true;
	exanet_binding_stop_all(xdev);
	mutex_unlock(&xdev->lock);
	exanet_hw_stop(&xdev->hw);
}

void exanet_device_reset_done(struct exanet_device *xdev)
{
	/*
	 * Resets the whole NIC, because a reset by the bus may have reset only parts of the
	 * NIC.
	 */
	if (exanet_hw_reset(&xdev->hw)) {
		dev_err(xdev->dev.parent, "no answer to reset\n");
		return;
	}
	mutex_lock(&xdev->lock);
	exanet_context_free_stuck(xdev);
	exanet_hw_start(&xdev->hw, EXANET_IRQS_USED);
	xdev->gone = false;
	mutex_unlock(&xdev->lock);
	exanet_link_resume(xdev);
}

void exanet_device_shutdown(struct exanet_device *xdev)
{
	exanet_device_reset_prepare(xdev);
}

/* --- class ---------------------------------------------------------------- */

int exanet_device_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&exanet_devt, 0, EXANET_NICS, "exanet");
	if (ret)
		return ret;
	ret = class_register(&exanet_class);
	if (ret)
		unregister_chrdev_region(exanet_devt, EXANET_NICS);
	return ret;
}

void exanet_device_exit(void)
{
	class_unregister(&exanet_class);
	unregister_chrdev_region(exanet_devt, EXANET_NICS);
	ida_destroy(&exanet_ida);
}
