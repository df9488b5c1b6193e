// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: /sys/class/exanet/exanetN
 *
 *   coord                 own coordinates; writable while no context is in use
 *   contexts, contexts_in_use
 *   counters/<name>       EXANET_COUNTERS, in lower case
 *   firmware/<tunable>    window, timeout_ns, retry_max
 *   port<p>/state, peer   up, down or conflict; coordinates behind the cable
 *   port<p>/<name>        the 64-bit registers of EXANET_PORT_REGS
 *
 * The tables are built from the register lists when the module is loaded.
 */
#include <linux/ctype.h>
#include <linux/sysfs.h>

#include "exanet.h"

static struct exanet_device *exanet_from_dev(struct device *dev)
{
	return container_of(dev, struct exanet_device, dev);
}

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
	/* Processes have told their peers where they are. */
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
	n = bitmap_weight(xdev->used, EXANET_CONTEXTS);
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

/* A device attribute that is told which register it shows. */
struct exanet_attr {
	struct device_attribute attr;
	unsigned int reg;	/* counter number or EXANET_REG_ */
	unsigned int port;
	char name[24];
};

static struct exanet_attr *exanet_attr(struct device_attribute *attr)
{
	return container_of(attr, struct exanet_attr, attr);
}

/* Fills @a; its name is @name in lower case. */
static void exanet_attr_init(struct exanet_attr *a, const char *name,
			     ssize_t (*show)(struct device *,
					     struct device_attribute *, char *))
{
	unsigned int i;

	for (i = 0; name[i] && i < sizeof(a->name) - 1; i++)
		a->name[i] = tolower(name[i]);
	sysfs_attr_init(&a->attr.attr);
	a->attr.attr.name = a->name;
	a->attr.attr.mode = 0444;
	a->attr.show = show;
}

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
				 exanet_counter_show);
		exanet_counters[n].reg = n;
		exanet_counter_attrs[n] = &exanet_counters[n].attr.attr;
	}
}

/* --- firmware ------------------------------------------------------------- */

struct exanet_fw_attr {
	struct device_attribute attr;
	unsigned int reg;
	bool wide;
	u64 min, max;
};

static ssize_t exanet_fw_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	struct exanet_fw_attr *a = container_of(attr, struct exanet_fw_attr, attr);

	return sysfs_emit(buf, "%llu\n",
			  exanet_hw_fw_read(&exanet_from_dev(dev)->hw, a->reg,
					    a->wide));
}

static ssize_t exanet_fw_store(struct device *dev, struct device_attribute *attr,
			       const char *buf, size_t count)
{
	struct exanet_fw_attr *a = container_of(attr, struct exanet_fw_attr, attr);
	u64 value;
	int ret = kstrtou64(buf, 0, &value);

	if (ret)
		return ret;
	if (value < a->min || value > a->max)
		return -EINVAL;
	exanet_hw_fw_write(&exanet_from_dev(dev)->hw, a->reg, a->wide, value);
	return count;
}

#define EXANET_FW_ATTR(_name, _reg, _wide, _min, _max)			\
	static struct exanet_fw_attr exanet_fw_##_name = {		\
		.attr = __ATTR(_name, 0644, exanet_fw_show, exanet_fw_store), \
		.reg = _reg, .wide = _wide, .min = _min, .max = _max,	\
	}

EXANET_FW_ATTR(window, EXANET_REG_FW_WINDOW, false, 1, 0x3ff);
/* An hour is forever, and far from any overflow when it is doubled. */
EXANET_FW_ATTR(timeout_ns, EXANET_REG_FW_TIMEOUT_NS, true, 1000, 3600000000000ULL);
EXANET_FW_ATTR(retry_max, EXANET_REG_FW_RETRY_MAX, false, 0, 0xfff);

static struct attribute *exanet_fw_attrs[] = {
	&exanet_fw_window.attr.attr,
	&exanet_fw_timeout_ns.attr.attr,
	&exanet_fw_retry_max.attr.attr,
	NULL
};

static const struct attribute_group exanet_fw_group = {
	.name = "firmware",
	.attrs = exanet_fw_attrs,
};

/* --- ports ---------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned int reg, bytes;
} exanet_port_regs[] = {
#define EXANET_PORT_REG(name, offset, bytes, reset, writable, w1c) \
	{ #name, offset, bytes },
	EXANET_PORT_REGS(EXANET_PORT_REG)
#undef EXANET_PORT_REG
};

/* The registers of 64 bits, which are the counters, state and peer. */
#define EXANET_PORT_ATTRS	(ARRAY_SIZE(exanet_port_regs) + 2)

static struct exanet_port_sysfs {
	struct attribute_group group;
	char name[8];
	struct exanet_attr attrs[EXANET_PORT_ATTRS];
	struct attribute *list[EXANET_PORT_ATTRS + 1];
	unsigned int count;
} exanet_ports[EXANET_LINKS];

static ssize_t exanet_port_counter_show(struct device *dev,
					struct device_attribute *attr, char *buf)
{
	struct exanet_attr *a = exanet_attr(attr);

	return sysfs_emit(buf, "%llu\n",
			  exanet_hw_port_counter(&exanet_from_dev(dev)->hw,
						 a->port, a->reg));
}

static ssize_t exanet_port_state_show(struct device *dev,
				      struct device_attribute *attr, char *buf)
{
	u32 status = exanet_hw_port_read(&exanet_from_dev(dev)->hw,
					 exanet_attr(attr)->port,
					 EXANET_REG_PORT_STATUS);

	return sysfs_emit(buf, "%s\n",
			  status & EXANET_PORT_STATUS_CONFLICT ? "conflict" :
			  status & EXANET_PORT_STATUS_UP ? "up" : "down");
}

static ssize_t exanet_port_peer_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%06x\n",
			  exanet_hw_port_read(&exanet_from_dev(dev)->hw,
					      exanet_attr(attr)->port,
					      EXANET_REG_PORT_PEER));
}

static void exanet_port_add(unsigned int p, const char *name, unsigned int reg,
			    ssize_t (*show)(struct device *,
					    struct device_attribute *, char *))
{
	struct exanet_port_sysfs *port = &exanet_ports[p];
	struct exanet_attr *a = &port->attrs[port->count];

	exanet_attr_init(a, name, show);
	a->port = p;
	a->reg = reg;
	port->list[port->count++] = &a->attr.attr;
}

static void exanet_port_init(unsigned int p)
{
	struct exanet_port_sysfs *port = &exanet_ports[p];
	unsigned int r;

	exanet_port_add(p, "state", 0, exanet_port_state_show);
	exanet_port_add(p, "peer", 0, exanet_port_peer_show);
	for (r = 0; r < ARRAY_SIZE(exanet_port_regs); r++)
		if (exanet_port_regs[r].bytes == 8)
			exanet_port_add(p, exanet_port_regs[r].name +
					strlen("PORT_"),
					exanet_port_regs[r].reg,
					exanet_port_counter_show);
	snprintf(port->name, sizeof(port->name), "port%u", p);
	port->group.name = port->name;
	port->group.attrs = port->list;
}

/* -------------------------------------------------------------------------- */

void exanet_sysfs_init(void)
{
	unsigned int p;

	exanet_counters_init();
	for (p = 0; p < EXANET_LINKS; p++)
		exanet_port_init(p);
}

void exanet_sysfs_groups(struct exanet_device *xdev)
{
	const struct attribute_group **group = xdev->groups;
	unsigned int p;

	*group++ = &exanet_device_group;
	*group++ = &exanet_counter_group;
	*group++ = &exanet_fw_group;
	for (p = 0; p < xdev->caps.ports; p++)
		*group++ = &exanet_ports[p].group;
	*group = NULL;
	xdev->dev.groups = xdev->groups;
}

void exanet_sysfs_link_changed(struct exanet_device *xdev, unsigned int port)
{
	sysfs_notify(&xdev->dev.kobj, exanet_ports[port].name, "state");
}
