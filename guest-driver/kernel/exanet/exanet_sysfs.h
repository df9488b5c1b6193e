/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: declarations for the files of /sys/class/exanet/exanetN.
 *
 * exanet_sysfs.c         the device, its counters, the list of groups
 * exanet_sysfs_port.c    portP
 * exanet_sysfs_tune.c    quota, firmware, switch and memory of other nodes
 */
#ifndef EXANET_SYSFS_H
#define EXANET_SYSFS_H

#include <linux/sysfs.h>

#include "exanet.h"

typedef ssize_t (*exanet_show_fn)(struct device *dev,
				  struct device_attribute *attr, char *buf);
typedef ssize_t (*exanet_store_fn)(struct device *dev,
				   struct device_attribute *attr,
				   const char *buf, size_t count);

/* A device attribute that is told which register it shows. */
struct exanet_attr {
	struct device_attribute attr;
	unsigned int reg;	/* counter number or EXANET_REG_ */
	unsigned int port;
	char name[24];
};

static inline struct exanet_attr *exanet_attr(struct device_attribute *attr)
{
	return container_of(attr, struct exanet_attr, attr);
}

static inline struct exanet_device *exanet_from_dev(struct device *dev)
{
	return container_of(dev, struct exanet_device, dev);
}

/* Fills @a; its name is @name in lower case. @store: NULL if it is read-only. */
void exanet_attr_init(struct exanet_attr *a, const char *name,
		      exanet_show_fn show, exanet_store_fn store);

/* Shows @count words, the @current one in brackets, as block schedulers do. */
ssize_t exanet_choice_show(char *buf, const char * const *words,
			   unsigned int count, unsigned int current_word);

/* exanet_sysfs_port.c: the tables, once; the group of port @port. */
void exanet_sysfs_ports_init(void);
const struct attribute_group *exanet_sysfs_port_group(unsigned int port);

/* exanet_sysfs_tune.c */
extern const struct attribute_group exanet_quota_group;
extern const struct attribute_group exanet_fw_group;
extern const struct attribute_group exanet_switch_group;
extern const struct attribute_group exanet_shm_group;	/* memory of other nodes */

#endif /* EXANET_SYSFS_H */
