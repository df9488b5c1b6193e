// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: attributes of sysfs that show registers.
 */
#include "exanet_sysfs_attr.h"

#include <linux/ctype.h>

void exanet_attr_init(struct exanet_attr *a, const char *name,
		      exanet_show_fn show, exanet_store_fn store)
{
	unsigned int i;

	for (i = 0; name[i] && i < sizeof(a->name) - 1; i++)
		a->name[i] = tolower(name[i]);
	sysfs_attr_init(&a->attr.attr);
	a->attr.attr.name = a->name;
	a->attr.attr.mode = store ? 0644 : 0444;
	a->attr.show = show;
	a->attr.store = store;
}

ssize_t exanet_attr_choice_show(char *buf, const char * const *words,
				unsigned int count, unsigned int current_word)
{
	ssize_t len = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		len += sysfs_emit_at(buf, len, i == current_word ? "%s[%s]" :
				     "%s%s", i ? " " : "", words[i]);
	return len + sysfs_emit_at(buf, len, "\n");
}
