// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: /sys/class/exanet/exanetN
 *
 *   coord                 coordinates of this node; a store fails with EBUSY while the
 *                         NIC may use a context
 *   contexts              number of contexts of the NIC
 *   contexts_in_use       number of contexts that are not free
 *   counters/<name>       a counter of EXANET_COUNTERS; <name> is its name in lower case
 *   quota/, firmware/, switch/, shm/    see exanet_sysfs_tune.c; shm/ only if
 *                         exanet_shm.present is true
 *   port<p>/              see exanet_sysfs_port.c; only for ports that have a cable
 *
 * exanet_sysfs_init() builds the tables for counters and ports from the lists in regs.h.
 */
#include "exanet_sysfs.h"

#include "exanet.h"
#include "exanet_context.h"
#include "exanet_sysfs_attr.h"
#include "exanet_sysfs_port.h"
#include "exanet_sysfs_tune.h"

/* --- the device ----------------------------------------------------------- */

static ssize_t coord_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "0x%06x\n",
			  exanet_hw_coord(&exanet_from_dev(dev)->hw));
}

static ssize_t coord_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct exanet_device *xdev = exanet_from_dev(dev);
	u32 coord;
	int ret;

	ret = kstrtou32(buf, 0, &coord);
	if (ret)
		return ret;
	if (coord & ~EXANET_COORD_MASK)
		return -EINVAL;
	mutex_lock(&xdev->lock);
	/*
	 * Refuses a change while the NIC may use a context, because the context's process may
	 * have sent the old coordinates to other nodes.
	 */
	if (bitmap_empty(xdev->used, EXANET_CONTEXTS))
		exanet_hw_set_coord(&xdev->hw, coord);
	else
		ret = -EBUSY;
	mutex_unlock(&xdev->lock);
	return ret ? ret : count;
}
static DEVICE_ATTR_RW(coord);

static ssize_t contexts_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%u\n", exanet_from_dev(dev)->caps.contexts);
}
static DEVICE_ATTR_RO(contexts);

static ssize_t contexts_in_use_show(struct device *dev,
				    struct device_attribute *attr, char *buf)
{
	struct exanet_device *xdev = exanet_from_dev(dev);
	unsigned int n;

	mutex_lock(&xdev->lock);
	n = exanet_contexts_used(xdev);
	mutex_unlock(&xdev->lock);
	return sysfs_emit(buf, "%u\n", n);
}
static DEVICE_ATTR_RO(contexts_in_use);

static struct attribute *exanet_device_attrs[] = {
	&dev_attr_coord.attr,
	&dev_attr_contexts.attr,
	&dev_attr_contexts_in_use.attr,
	NULL
};

static const struct attribute_group exanet_device_group = {
	.attrs = exanet_device_attrs,
};

/* --- counters ------------------------------------------------------------- */

static ssize_t exanet_counter_show(struct device *dev,
				   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n",
			  exanet_hw_counter(&exanet_from_dev(dev)->hw,
					    exanet_attr(attr)->reg));
}

static const char * const exanet_counter_names[] = {
#define EXANET_COUNTER_NAME(name, text) #name,
	EXANET_COUNTERS(EXANET_COUNTER_NAME)
#undef EXANET_COUNTER_NAME
};

static struct exanet_attr exanet_counters[EXANET_COUNTER_COUNT];
static struct attribute *exanet_counter_attrs[EXANET_COUNTER_COUNT + 1];

static const struct attribute_group exanet_counter_group = {
	.name = "counters",
	.attrs = exanet_counter_attrs,
};

static void exanet_counters_init(void)
{
	unsigned int n;

	for (n = 0; n < EXANET_COUNTER_COUNT; n++) {
		exanet_attr_init(&exanet_counters[n], exanet_counter_names[n],
				 exanet_counter_show, NULL);
		exanet_counters[n].reg = n;
		exanet_counter_attrs[n] = &exanet_counters[n].attr.attr;
	}
}

/* --- groups --------------------------------------------------------------- */

void exanet_sysfs_init(void)
{
	exanet_counters_init();
	exanet_sysfs_ports_init();
}

void exanet_sysfs_groups(struct exanet_device *xdev)
{
	const struct attribute_group **group = xdev->groups;
	unsigned int p;

	*group++ = &exanet_device_group;
	*group++ = &exanet_counter_group;
	*group++ = &exanet_quota_group;
	*group++ = &exanet_fw_group;
	*group++ = &exanet_switch_group;
	if (xdev->shm.present)
		*group++ = &exanet_shm_group;
	for (p = 0; p < xdev->caps.ports; p++)
		if (xdev->caps.present & BIT(p))
			*group++ = exanet_sysfs_port_group(p);
	*group = NULL;
	xdev->dev.groups = xdev->groups;
}

void exanet_sysfs_link_changed(struct exanet_device *xdev, unsigned int port)
{
	sysfs_notify(&xdev->dev.kobj, exanet_sysfs_port_group(port)->name,
		     "state");
}
