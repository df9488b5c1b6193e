// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: /sys/kernel/debug/exanet/exanetN
 *
 *   port<p>/inject    faults that the port injects into packets that the port sends: the
 *                     kind of fault, and any of every=N, count=N and type=PACKET. The kind
 *                     "none" ends the faults. A read shows as count the number of faults
 *                     that are left; 0: no limit.
 *   segments          a line for each segment: number, context, offset in the aperture, size
 *                     in bytes, GVA, PDID of the target, rights r, w and e (early)
 *
 * The driver makes port<p> only for ports that have a cable, and segments only if
 * exanet_shm.present is true.
 */
#include "exanet_debugfs.h"

#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "exanet.h"

#define EXANET_INJECT_TEXT_MAX	80

static struct dentry *exanet_debugfs_root;

static const char * const exanet_inject_kinds[] = {
#define EXANET_INJECT_WORD(name, value, word) \
	[value] = word,
	EXANET_INJECTS(EXANET_INJECT_WORD)
#undef EXANET_INJECT_WORD
};

static const struct {
	const char *name;
	u8 type;
} exanet_inject_types[] = {
	{ "all", EXANET_INJECT_TYPE_ALL },
#define EXANET_TYPE_WORD(name, value, text, form, group, ni) { text, value },
	EXANET_TYPES(EXANET_TYPE_WORD)
#undef EXANET_TYPE_WORD
};

static const char *exanet_inject_type_name(unsigned int type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(exanet_inject_types); i++)
		if (exanet_inject_types[i].type == type)
			return exanet_inject_types[i].name;
	return "?";
}

static int exanet_inject_show(struct seq_file *s, void *unused)
{
	const struct exanet_debugfs_port *port = s->private;
	u64 value = exanet_hw_port_inject(&port->xdev->hw, port->index);
	unsigned int kind = RNIC_GET(EXANET_INJECT_KIND, value);

	if (kind == EXANET_INJECT_NONE || kind >= ARRAY_SIZE(exanet_inject_kinds)) {
		seq_puts(s, "none\n");
		return 0;
	}
	seq_printf(s, "%s every=%u count=%u type=%s\n", exanet_inject_kinds[kind],
		   max_t(u32, 1, RNIC_GET(EXANET_INJECT_EVERY, value)),
		   (u32)RNIC_GET(EXANET_INJECT_COUNT, value),
		   exanet_inject_type_name(RNIC_GET(EXANET_INJECT_TYPE, value)));
	return 0;
}

static int exanet_inject_parse_type(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(exanet_inject_types); i++)
		if (!strcmp(name, exanet_inject_types[i].name))
			return exanet_inject_types[i].type;
	return -EINVAL;
}

/*
 * Sets the field of @value that @option ("name=value") names. @value is a value of
 * PORT_INJECT, fields EXANET_INJECT_*. Changes @option. Returns 0 or -EINVAL.
 */
static int exanet_inject_option(char *option, u64 *value)
{
	char *name = strsep(&option, "=");
	u32 number;
	int type;

	if (!option)
		return -EINVAL;
	if (!strcmp(name, "type")) {
		type = exanet_inject_parse_type(option);
		if (type < 0)
			return type;
		*value &= ~EXANET_INJECT_TYPE;
		*value |= RNIC_PREP(EXANET_INJECT_TYPE, type);
		return 0;
	}
	if (kstrtou32(option, 0, &number))
		return -EINVAL;
	if (!strcmp(name, "every") && number >= 1 && number <= U16_MAX) {
		*value &= ~EXANET_INJECT_EVERY;
		*value |= RNIC_PREP(EXANET_INJECT_EVERY, number);
		return 0;
	}
	if (!strcmp(name, "count")) {
		*value &= ~EXANET_INJECT_COUNT;
		*value |= RNIC_PREP(EXANET_INJECT_COUNT, number);
		return 0;
	}
	return -EINVAL;
}

/*
 * Parses @text, and stores the value for register PORT_INJECT in @value. Changes @text.
 * Returns 0 or -EINVAL.
 */
static int exanet_inject_parse(char *text, u64 *value)
{
	char *rest = strim(text), *word = strsep(&rest, " \t");
	int ret = match_string(exanet_inject_kinds,
			       ARRAY_SIZE(exanet_inject_kinds), word);

	if (ret < 0)
		return -EINVAL;
	*value = RNIC_PREP(EXANET_INJECT_KIND, ret) |
		 RNIC_PREP(EXANET_INJECT_TYPE, EXANET_INJECT_TYPE_ALL);
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		ret = exanet_inject_option(word, value);
		if (ret)
			return ret;
	}
	return 0;
}

static int exanet_inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, exanet_inject_show, inode->i_private);
}

static ssize_t exanet_inject_write(struct file *file, const char __user *buf,
				   size_t count, loff_t *pos)
{
	struct exanet_debugfs_port *port =
		((struct seq_file *)file->private_data)->private;
	char text[EXANET_INJECT_TEXT_MAX];
	u64 value;
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buf, count))
		return -EFAULT;
	text[count] = '\0';
	ret = exanet_inject_parse(text, &value);
	if (ret)
		return ret;
	exanet_hw_port_set_inject(&port->xdev->hw, port->index, value);
	return count;
}

static const struct file_operations exanet_inject_fops = {
	.owner = THIS_MODULE,
	.open = exanet_inject_open,
	.read = seq_read,
	.write = exanet_inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int exanet_segments_show(struct seq_file *s, void *unused)
{
	struct exanet_device *xdev = s->private;
	const struct exanet_segment *seg;
	unsigned int m;

	mutex_lock(&xdev->lock);
	for (m = 0; m < EXANET_SHM_MAPS; m++) {
		seg = xdev->segments.table[m];
		if (!seg)
			continue;
		seq_printf(s, "%u %llu 0x%llx %llu 0x%016llx 0x%04llx %c%c%c\n", m,
			   RNIC_GET(EXANET_SHM_MAP_CTX, seg->ctrl),
			   (u64)seg->place.start, (u64)resource_size(&seg->place),
			   seg->gva, RNIC_GET(EXANET_SHM_MAP_PDID, seg->ctrl),
			   seg->flags & EXANET_SEGMENT_READ ? 'r' : '-',
			   seg->flags & EXANET_SEGMENT_WRITE ? 'w' : '-',
			   seg->flags & EXANET_SEGMENT_EARLY ? 'e' : '-');
	}
	mutex_unlock(&xdev->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(exanet_segments);

void exanet_debugfs_add(struct exanet_device *xdev)
{
	struct dentry *dir;
	unsigned int p;
	char name[16];

	xdev->debugfs.folder = debugfs_create_dir(dev_name(&xdev->dev),
						  exanet_debugfs_root);
	if (xdev->shm.present)
		debugfs_create_file("segments", 0400, xdev->debugfs.folder, xdev,
				    &exanet_segments_fops);
	for (p = 0; p < xdev->caps.ports; p++) {
		if (!(xdev->caps.present & BIT(p)))
			continue;
		xdev->debugfs.ports[p].xdev = xdev;
		xdev->debugfs.ports[p].index = p;
		snprintf(name, sizeof(name), "port%u", p);
		dir = debugfs_create_dir(name, xdev->debugfs.folder);
		debugfs_create_file("inject", 0600, dir,
				    &xdev->debugfs.ports[p],
				    &exanet_inject_fops);
	}
}

void exanet_debugfs_remove(struct exanet_device *xdev)
{
	debugfs_remove_recursive(xdev->debugfs.folder);
}

void exanet_debugfs_init(void)
{
	exanet_debugfs_root = debugfs_create_dir("exanet", NULL);
}

void exanet_debugfs_exit(void)
{
	debugfs_remove_recursive(exanet_debugfs_root);
}
