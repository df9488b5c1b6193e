// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: /sys/class/exanet/exanetN/port<p>
 *
 *   state               "up", "down" or "conflict"
 *   peer                coordinates of the neighbour; 0: not known
 *   role                the nodes to which the port leads, or "none"; "(forced)" if a
 *                       store has set the role. A store of "auto" makes the NIC derive
 *                       the role from the coordinates of the nodes at both ends.
 *   rate_kbps           register PORT_RATE: limit of the rate, kb/s of link words; 0: no
 *                       limit
 *   latency_ns          register PORT_LATENCY, ns of virtual time
 *   xoff_vc             mask of virtual channels on which this port has stopped the
 *                       neighbour
 *   peer_xoff_vc        mask of virtual channels on which the neighbour has stopped this
 *                       port
 *   level_rx            words in the receive FIFOs of the port
 *   level_tx            words that wait until the port sends them
 *   <name>              a counter: each 64-bit register of EXANET_PORT_REGS except
 *                       PORT_INJECT. <name> is the name of the register without "PORT_",
 *                       in lower case.
 */
#include "exanet_sysfs_port.h"

#include "exanet.h"
#include "exanet_sysfs_attr.h"

static const char * const exanet_role_words[] = {
#define EXANET_ROLE_WORD(name, value, word) \
	[value] = word,
	EXANET_ROLES(EXANET_ROLE_WORD)
#undef EXANET_ROLE_WORD
};

static const struct {
	const char *name;
	unsigned int reg, bytes;
} exanet_port_regs[] = {
#define EXANET_PORT_REG(name, offset, bytes, reset, writable, w1c) \
	{ #name, offset, bytes },
	EXANET_PORT_REGS(EXANET_PORT_REG)
#undef EXANET_PORT_REG
};

/*
 * Maximal number of attributes of a port: one for each register, and 10 for fields of
 * registers.
 */
#define EXANET_PORT_ATTRS	(ARRAY_SIZE(exanet_port_regs) + 10)

static struct exanet_port_sysfs {
	struct attribute_group group;
	char name[16];
	struct exanet_attr attrs[EXANET_PORT_ATTRS];
	struct attribute *list[EXANET_PORT_ATTRS + 1];
	unsigned int count;
} exanet_ports[EXANET_LINKS];

static u32 exanet_port_read(struct device *dev, struct device_attribute *attr)
{
	struct exanet_attr *a = exanet_attr(attr);

	return exanet_hw_port_read(&exanet_from_dev(dev)->hw, a->port, a->reg);
}

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
	u32 status = exanet_port_read(dev, attr);

	return sysfs_emit(buf, "%s\n",
			  status & EXANET_PORT_STATUS_CONFLICT ? "conflict" :
			  status & EXANET_PORT_STATUS_UP ? "up" : "down");
}

static ssize_t exanet_port_peer_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%06x\n", exanet_port_read(dev, attr));
}

static const char *exanet_role_word(u32 role)
{
	return role < ARRAY_SIZE(exanet_role_words) && role != EXANET_ROLE_AUTO ?
	       exanet_role_words[role] : "none";
}

static ssize_t exanet_port_role_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	struct exanet_hw *hw = &exanet_from_dev(dev)->hw;
	unsigned int port = exanet_attr(attr)->port;
	u32 ctrl = exanet_hw_port_read(hw, port, EXANET_REG_PORT_CTRL);
	u32 status = exanet_hw_port_read(hw, port, EXANET_REG_PORT_STATUS);

	return sysfs_emit(buf, "%s%s\n",
			  exanet_role_word(RNIC_GET(EXANET_PORT_STATUS_ROLE,
						    status)),
			  RNIC_GET(EXANET_PORT_CTRL_ROLE, ctrl) ?
			  " (forced)" : "");
}

static ssize_t exanet_port_role_store(struct device *dev,
				      struct device_attribute *attr,
				      const char *buf, size_t count)
{
	struct exanet_device *xdev = exanet_from_dev(dev);
	unsigned int port = exanet_attr(attr)->port;
	int role = sysfs_match_string(exanet_role_words, buf);
	u32 ctrl;

	if (role < 0)
		return role;
	mutex_lock(&xdev->lock);
	ctrl = exanet_hw_port_read(&xdev->hw, port, EXANET_REG_PORT_CTRL);
	ctrl &= ~(u32)EXANET_PORT_CTRL_ROLE;
	exanet_hw_port_write(&xdev->hw, port, EXANET_REG_PORT_CTRL,
			     ctrl | RNIC_PREP(EXANET_PORT_CTRL_ROLE, role));
	mutex_unlock(&xdev->lock);
	return count;
}

static ssize_t exanet_port_number_show(struct device *dev,
				       struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", exanet_port_read(dev, attr));
}

static ssize_t exanet_port_number_store(struct device *dev,
					struct device_attribute *attr,
					const char *buf, size_t count)
{
	struct exanet_attr *a = exanet_attr(attr);
	u32 value;
	int ret = kstrtou32(buf, 0, &value);

	if (ret)
		return ret;
	exanet_hw_port_write(&exanet_from_dev(dev)->hw, a->port, a->reg, value);
	return count;
}

static ssize_t exanet_port_xoff_vc_show(struct device *dev,
					struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%x\n",
			  (u32)RNIC_GET(EXANET_PORT_STATUS_XOFF_VC,
					exanet_port_read(dev, attr)));
}

static ssize_t exanet_port_peer_xoff_vc_show(struct device *dev,
					     struct device_attribute *attr,
					     char *buf)
{
	return sysfs_emit(buf, "0x%x\n",
			  (u32)RNIC_GET(EXANET_PORT_STATUS_PEER_XOFF_VC,
					exanet_port_read(dev, attr)));
}

static ssize_t exanet_port_level_rx_show(struct device *dev,
					 struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", (u32)RNIC_GET(EXANET_PORT_LEVEL_RX,
						     exanet_port_read(dev, attr)));
}

static ssize_t exanet_port_level_tx_show(struct device *dev,
					 struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", (u32)RNIC_GET(EXANET_PORT_LEVEL_TX,
						     exanet_port_read(dev, attr)));
}

/* Attributes of a port that are not counters. */
static const struct {
	const char *name;
	unsigned int reg;
	exanet_show_fn show;
	exanet_store_fn store;
} exanet_port_files[] = {
	{ "state", EXANET_REG_PORT_STATUS, exanet_port_state_show },
	{ "peer", EXANET_REG_PORT_PEER, exanet_port_peer_show },
	{ "role", EXANET_REG_PORT_CTRL, exanet_port_role_show,
	  exanet_port_role_store },
	{ "rate_kbps", EXANET_REG_PORT_RATE, exanet_port_number_show,
	  exanet_port_number_store },
	{ "latency_ns", EXANET_REG_PORT_LATENCY, exanet_port_number_show,
	  exanet_port_number_store },
	{ "xoff_vc", EXANET_REG_PORT_STATUS, exanet_port_xoff_vc_show },
	{ "peer_xoff_vc", EXANET_REG_PORT_STATUS,
	  exanet_port_peer_xoff_vc_show },
	{ "level_rx", EXANET_REG_PORT_LEVEL, exanet_port_level_rx_show },
	{ "level_tx", EXANET_REG_PORT_LEVEL, exanet_port_level_tx_show },
};

static void exanet_port_add(unsigned int p, const char *name, unsigned int reg,
			    exanet_show_fn show, exanet_store_fn store)
{
	struct exanet_port_sysfs *port = &exanet_ports[p];
	struct exanet_attr *a = &port->attrs[port->count];

	exanet_attr_init(a, name, show, store);
	a->port = p;
	a->reg = reg;
	port->list[port->count++] = &a->attr.attr;
}

static void exanet_port_init(unsigned int p)
{
	struct exanet_port_sysfs *port = &exanet_ports[p];
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(exanet_port_files) +
		     ARRAY_SIZE(exanet_port_regs) > EXANET_PORT_ATTRS);
	for (i = 0; i < ARRAY_SIZE(exanet_port_files); i++)
		exanet_port_add(p, exanet_port_files[i].name,
				exanet_port_files[i].reg,
				exanet_port_files[i].show,
				exanet_port_files[i].store);
	/* PORT_INJECT has 64 bits but is no counter; its file is in debugfs. */
	for (i = 0; i < ARRAY_SIZE(exanet_port_regs); i++)
		if (exanet_port_regs[i].bytes == 8 &&
		    exanet_port_regs[i].reg != EXANET_REG_PORT_INJECT)
			exanet_port_add(p, exanet_port_regs[i].name +
					strlen("PORT_"),
					exanet_port_regs[i].reg,
					exanet_port_counter_show, NULL);
	snprintf(port->name, sizeof(port->name), "port%u", p);
	port->group.name = port->name;
	port->group.attrs = port->list;
}

void exanet_sysfs_ports_init(void)
{
	unsigned int p;

	for (p = 0; p < EXANET_LINKS; p++)
		exanet_port_init(p);
}

const struct attribute_group *exanet_sysfs_port_group(unsigned int port)
{
	return &exanet_ports[port].group;
}
