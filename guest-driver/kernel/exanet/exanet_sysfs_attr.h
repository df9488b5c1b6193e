/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: attributes of sysfs that show registers.
 */
#ifndef EXANET_SYSFS_ATTR_H
#define EXANET_SYSFS_ATTR_H

#include <linux/device.h>
#include <linux/sysfs.h>

typedef ssize_t (*exanet_show_fn)(struct device *dev,
				  struct device_attribute *attr, char *buf);
typedef ssize_t (*exanet_store_fn)(struct device *dev,
				   struct device_attribute *attr,
				   const char *buf, size_t count);

/* A device attribute, and the register that the attribute shows. */
struct exanet_attr {
	struct device_attribute attr;
	unsigned int reg;	/* enum exanet_counter, or offset EXANET_REG_PORT_* in @port */
	unsigned int port;
	char name[24];
};

static inline struct exanet_attr *exanet_attr(struct device_attribute *attr)
{
	return container_of(attr, struct exanet_attr, attr);
}

/*
 * Fills @a, which is zeroed, except its members reg and port. The name of the attribute is
 * @name in lower case, at most 23 characters. @store is NULL for a read-only attribute.
 */
void exanet_attr_init(struct exanet_attr *a, const char *name,
		      exanet_show_fn show, exanet_store_fn store);
/*
 * Prints the @count words in @words to @buf, with word number @current_word in brackets.
 * Returns the number of bytes in @buf.
 */
ssize_t exanet_attr_choice_show(char *buf, const char * const *words,
				unsigned int count, unsigned int current_word);

#endif /* EXANET_SYSFS_ATTR_H */
