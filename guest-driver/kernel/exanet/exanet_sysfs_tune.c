// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ExaNet: /sys/class/exanet/exanetN/quota, .../firmware, .../switch and .../shm
 *
 *   quota/writes                  maximal number of active write channels of a context
 *   quota/reads                   maximal number of active read channels of a context
 *   quota/tids                    maximal number of blocks in flight of a context
 *   firmware/window               register FW_WINDOW
 *   firmware/timeout_ns           register FW_TIMEOUT_NS
 *   firmware/retry_max            register FW_RETRY_MAX
 *   firmware/dyn_timeout          register FW_DYN_TIMEOUT
 *   firmware/policy               register FW_POLICY, as a word (see below)
 *   firmware/multipath            register FW_MULTIPATH, as a word
 *   firmware/rtt_ns               smoothed time from block to ack, ns
 *   switch/mode                   register SW_MODE, as a word
 *   switch/flow                   bits MARK and PACE of SW_FLOW, as a word
 *   switch/dims                   nodes in a ring of each dimension, as 4x4x1; 1: a mesh
 *   switch/order                  order of the dimensions in a route, as zyx
 *   switch/flow_target            percent of PORT_RATE that flows share
 *   switch/flow_window_ns         register SW_FLOW_WINDOW
 *   switch/local<n>               packets from FPGA n + 1 of the QFDB into the torus
 *   switch/local_out              packets from the torus to the QFDB
 *   switch/transit                packets from one torus link to another
 *   switch/flows                  number of flows at the outputs of the node
 *   switch/flows_paced            number of paced flows whose source is this node
 *   shm/aperture, bram            sizes of aperture and block RAM in bytes
 *   shm/segments, segments_used   maximal number of segments, and number in use
 *   shm/timeout_cycles            register SHM_TIMEOUT, in cycles of 6.4 ns
 *   shm/timeout_mode              register SHM_TIMEOUT_MODE, as a word
 *   shm/retry_max                 register SHM_RETRY_MAX
 *   shm/early_ack, raw, waw, in_order, priority, reliable    bits of SHM_CTRL
 *
 * A read of a file with words shows all words, with the current word in brackets.
 */
#include "exanet_sysfs_tune.h"

#include <linux/ctype.h>

#include "exanet.h"
#include "exanet_sysfs_attr.h"

/* An attribute that shows and, if writable, sets a field of a register. */
struct exanet_tune {
	struct device_attribute attr;
	u32 offset;		/* offset of the register in BAR 0 */
	u64 field;		/* mask of the field in the register */
	u64 min, max;		/* lowest and highest value that a user may write */
	/* words for the values 0 to max; NULL: the file shows a number */
	const char * const *words;
	bool wide;		/* true if the register has 8 bytes, false if it has 4 */
};

static u64 exanet_tune_read(struct device *dev, const struct exanet_tune *t)
{
	return exanet_hw_tune_read(&exanet_from_dev(dev)->hw, t->offset,
				   t->wide);
}

static ssize_t exanet_tune_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	struct exanet_tune *t = container_of(attr, struct exanet_tune, attr);
	u64 value = RNIC_GET(t->field, exanet_tune_read(dev, t));

	if (t->words)
		return exanet_attr_choice_show(buf, t->words, t->max + 1, value);
	return sysfs_emit(buf, "%llu\n", value);
}

static ssize_t exanet_tune_store(struct device *dev,
				 struct device_attribute *attr, const char *buf,
				 size_t count)
{
	struct exanet_tune *t = container_of(attr, struct exanet_tune, attr);
	struct exanet_device *xdev = exanet_from_dev(dev);
	u64 value;
	int ret;

	if (t->words) {
		ret = __sysfs_match_string(t->words, t->max + 1, buf);
		value = ret;
	} else {
		ret = kstrtou64(buf, 0, &value);
	}
	if (ret < 0)
		return ret;
	if (value < t->min || value > t->max)
		return -EINVAL;
	mutex_lock(&xdev->lock);
	exanet_hw_tune_write(&xdev->hw, t->offset, t->wide,
			     (exanet_tune_read(dev, t) & ~t->field) |
			     RNIC_PREP(t->field, value));
	mutex_unlock(&xdev->lock);
	return count;
}

#define EXANET_TUNE(_var, _name, _mode, ...)				\
	static struct exanet_tune exanet_##_var = {			\
		.attr = __ATTR(_name, _mode, exanet_tune_show,		\
			       (_mode) & 0222 ? exanet_tune_store : NULL), \
		__VA_ARGS__						\
	}

#define EXANET_TUNE_RW(_var, _name, _offset, _wide, _field, _min, _max)	\
	EXANET_TUNE(_var, _name, 0644, .offset = _offset, .wide = _wide, \
		    .field = _field, .min = _min, .max = _max)

#define EXANET_TUNE_RO(_var, _name, _offset, _wide, _field)		\
	EXANET_TUNE(_var, _name, 0444, .offset = _offset, .wide = _wide, \
		    .field = _field)

#define EXANET_TUNE_WORDS(_var, _name, _offset, _field, _words)		\
	EXANET_TUNE(_var, _name, 0644, .offset = _offset, .field = _field, \
		    .words = _words, .max = ARRAY_SIZE(_words) - 1)

/* --- quota ---------------------------------------------------------------- */

/* An attribute for a field of CTX_QUOTA, which has the same value in all running contexts. */
struct exanet_quota {
	struct device_attribute attr;
	u32 field;
	u32 min, max;
};

static ssize_t exanet_quota_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	struct exanet_quota *q = container_of(attr, struct exanet_quota, attr);

	return sysfs_emit(buf, "%llu\n",
			  RNIC_GET(q->field,
				   READ_ONCE(exanet_from_dev(dev)->quota)));
}

static ssize_t exanet_quota_store(struct device *dev,
				  struct device_attribute *attr, const char *buf,
				  size_t count)
{
	struct exanet_quota *q = container_of(attr, struct exanet_quota, attr);
	struct exanet_device *xdev = exanet_from_dev(dev);
	unsigned int index;
	u32 value;
	int ret;

	ret = kstrtou32(buf, 0, &value);
	if (ret)
		return ret;
	if (value < q->min || value > q->max)
		return -EINVAL;
	mutex_lock(&xdev->lock);
	WRITE_ONCE(xdev->quota, (xdev->quota & ~q->field) |
				(u32)RNIC_PREP(q->field, value));
	for (index = 0; index < xdev->caps.contexts && !xdev->gone; index++)
		exanet_hw_context_set_quota(&xdev->hw, index, xdev->quota);
	mutex_unlock(&xdev->lock);
	return count;
}

#define EXANET_QUOTA(_name, _field, _min, _max)				\
	static struct exanet_quota exanet_quota_##_name = {		\
		.attr = __ATTR(_name, 0644, exanet_quota_show,		\
			       exanet_quota_store),			\
		.field = _field, .min = _min, .max = _max,		\
	}

EXANET_QUOTA(writes, EXANET_QUOTA_WRITES, 0, EXANET_WRITE_CHANNELS);
EXANET_QUOTA(reads, EXANET_QUOTA_READS, 1, EXANET_READ_CHANNELS);
EXANET_QUOTA(tids, EXANET_QUOTA_TIDS, 1, EXANET_TIDS);

static struct attribute *exanet_quota_attrs[] = {
	&exanet_quota_writes.attr.attr,
	&exanet_quota_reads.attr.attr,
	&exanet_quota_tids.attr.attr,
	NULL
};

const struct attribute_group exanet_quota_group = {
	.name = "quota",
	.attrs = exanet_quota_attrs,
};

/* --- firmware ------------------------------------------------------------- */

#define EXANET_ALL32	RNIC_FIELD(31, 0)
#define EXANET_ALL64	RNIC_FIELD(63, 0)
#define EXANET_FW_OFFSET(name)	(EXANET_FW + EXANET_REG_FW_##name)

static const char * const exanet_fw_policies[] = {
	[EXANET_FW_ROUND_ROBIN] = "round-robin",
	[EXANET_FW_PRIORITY] = "priority",
	[EXANET_FW_SHORTEST] = "shortest",
};

static const char * const exanet_fw_multipaths[] = {
	[EXANET_FW_PATH_HINT] = "hint",
	[EXANET_FW_PATH_ROUND_ROBIN] = "round-robin",
	[EXANET_FW_PATH_LEAST] = "least",
};

EXANET_TUNE_RW(fw_window, window, EXANET_FW_OFFSET(WINDOW), false,
	       EXANET_ALL32, 1, 0x3ff);
/* The maximum of FW_TIMEOUT_NS is an hour. The firmware doubles the timeout up to 5 times. */
EXANET_TUNE_RW(fw_timeout_ns, timeout_ns, EXANET_FW_OFFSET(TIMEOUT_NS), true,
	       EXANET_ALL64, 1000, 3600000000000ULL);
EXANET_TUNE_RW(fw_retry_max, retry_max, EXANET_FW_OFFSET(RETRY_MAX), false,
	       EXANET_ALL32, 0, 0xfff);
EXANET_TUNE_RW(fw_dyn_timeout, dyn_timeout, EXANET_FW_OFFSET(DYN_TIMEOUT),
	       false, EXANET_ALL32, 0, 1);
EXANET_TUNE_RO(fw_rtt_ns, rtt_ns, EXANET_FW_OFFSET(RTT_NS), true,
	       EXANET_ALL64);
EXANET_TUNE_WORDS(fw_policy, policy, EXANET_FW_OFFSET(POLICY), EXANET_ALL32,
		  exanet_fw_policies);
EXANET_TUNE_WORDS(fw_multipath, multipath, EXANET_FW_OFFSET(MULTIPATH),
		  EXANET_ALL32, exanet_fw_multipaths);

static struct attribute *exanet_fw_attrs[] = {
	&exanet_fw_window.attr.attr,
	&exanet_fw_timeout_ns.attr.attr,
	&exanet_fw_retry_max.attr.attr,
	&exanet_fw_dyn_timeout.attr.attr,
	&exanet_fw_rtt_ns.attr.attr,
	&exanet_fw_policy.attr.attr,
	&exanet_fw_multipath.attr.attr,
	NULL
};

const struct attribute_group exanet_fw_group = {
	.name = "firmware",
	.attrs = exanet_fw_attrs,
};

/* --- switch --------------------------------------------------------------- */

#define EXANET_SW_OFFSET(name)	(EXANET_SWITCH + EXANET_REG_SW_##name)

static const char * const exanet_sw_modes[] = {
	[EXANET_SW_MODE_NI] = "ni",
	[EXANET_SW_MODE_ROUTER] = "router",
};

/* Words for the values of the field of bits MARK (value 1) and PACE (value 2). */
static const char * const exanet_sw_flow_words[] = {
	"off", "mark", "pace", "both",
};

EXANET_TUNE_WORDS(sw_mode, mode, EXANET_SW_OFFSET(MODE), EXANET_ALL32,
		  exanet_sw_modes);
EXANET_TUNE_WORDS(sw_flow, flow, EXANET_SW_OFFSET(FLOW),
		  EXANET_SW_FLOW_MARK | EXANET_SW_FLOW_PACE, exanet_sw_flow_words);
EXANET_TUNE_RW(sw_flow_target, flow_target, EXANET_SW_OFFSET(FLOW), false,
	       EXANET_SW_FLOW_TARGET, 1, 100);
EXANET_TUNE_RW(sw_flow_window_ns, flow_window_ns, EXANET_SW_OFFSET(FLOW_WINDOW),
	       false, EXANET_ALL32, EXANET_SW_FLOW_WINDOW_MIN, U32_MAX);
EXANET_TUNE_RO(sw_local0, local0, EXANET_SW_OFFSET(LOCAL0), true, EXANET_ALL64);
EXANET_TUNE_RO(sw_local1, local1, EXANET_SW_OFFSET(LOCAL1), true, EXANET_ALL64);
EXANET_TUNE_RO(sw_local2, local2, EXANET_SW_OFFSET(LOCAL2), true, EXANET_ALL64);
EXANET_TUNE_RO(sw_local3, local3, EXANET_SW_OFFSET(LOCAL3), true, EXANET_ALL64);
EXANET_TUNE_RO(sw_local_out, local_out, EXANET_SW_OFFSET(LOCAL_OUT), true,
	       EXANET_ALL64);
EXANET_TUNE_RO(sw_transit, transit, EXANET_SW_OFFSET(TRANSIT), true,
	       EXANET_ALL64);
EXANET_TUNE_RO(sw_flows, flows, EXANET_SW_OFFSET(FLOWS), false,
	       RNIC_FIELD(15, 0));
EXANET_TUNE_RO(sw_flows_paced, flows_paced, EXANET_SW_OFFSET(FLOWS), false,
	       RNIC_FIELD(31, 16));

static const u64 exanet_dims_fields[] = {
	EXANET_SW_DIMS_X, EXANET_SW_DIMS_Y, EXANET_SW_DIMS_Z,
};

#define EXANET_DIMS	ARRAY_SIZE(exanet_dims_fields)
#define EXANET_RING_MAX	16

static ssize_t dims_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	u32 dims = exanet_hw_tune_read(&exanet_from_dev(dev)->hw,
				       EXANET_SW_OFFSET(DIMS), false);
	ssize_t len = 0;
	unsigned int i;

	for (i = 0; i < EXANET_DIMS; i++)
		len += sysfs_emit_at(buf, len, "%s%u", i ? "x" : "",
				     max_t(u32, 1, RNIC_GET(exanet_dims_fields[i],
							    dims)));
	return len + sysfs_emit_at(buf, len, "\n");
}

/*
 * Sets SW_DIMS from up to three numbers, for X, Y and Z, with "x" between the numbers. A
 * dimension without a number is a mesh.
 */
static ssize_t dims_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t count)
{
	char text[16], *rest = text, *word;
	unsigned int n = 0;
	u32 dims = 0;
	u8 ring;

	if (strscpy(text, buf, sizeof(text)) < 0)
		return -EINVAL;
	while ((word = strsep(&rest, "x"))) {
		if (n == EXANET_DIMS || kstrtou8(word, 10, &ring) ||
		    ring > EXANET_RING_MAX)
			return -EINVAL;
		/* A number below 3 means a mesh. */
		dims |= RNIC_PREP(exanet_dims_fields[n], ring > 2 ? ring : 0);
		n++;
	}
	exanet_hw_tune_write(&exanet_from_dev(dev)->hw, EXANET_SW_OFFSET(DIMS),
			     false, dims);
	return count;
}
static DEVICE_ATTR_RW(dims);

static const u64 exanet_order_fields[] = {
	EXANET_SW_ORDER_FIRST, EXANET_SW_ORDER_SECOND, EXANET_SW_ORDER_THIRD,
};

static const char exanet_dim_letters[] = "xyz";

static ssize_t order_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	u32 order = exanet_hw_tune_read(&exanet_from_dev(dev)->hw,
					EXANET_SW_OFFSET(ORDER), false);
	char text[EXANET_DIMS + 1] = "";
	unsigned int i, dim, seen = 0;

	for (i = 0; i < EXANET_DIMS; i++) {
		dim = RNIC_GET(exanet_order_fields[i], order);
		seen |= BIT(dim);
		text[i] = dim < EXANET_DIMS ? exanet_dim_letters[dim] : '?';
	}
	/*
	 * The router uses order zyx if the value of SW_ORDER is no permutation of x, y and
	 * z.
	 */
	return sysfs_emit(buf, "%s\n", seen == BIT(EXANET_DIMS) - 1 ? text :
			  "zyx");
}

static ssize_t order_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	unsigned int i, seen = 0;
	const char *at;
	u32 order = 0;

	for (i = 0; i < EXANET_DIMS; i++) {
		at = buf[i] ? strchr(exanet_dim_letters, tolower(buf[i])) : NULL;
		if (!at)
			return -EINVAL;
		seen |= BIT(at - exanet_dim_letters);
		order |= RNIC_PREP(exanet_order_fields[i],
				   at - exanet_dim_letters);
	}
	if (seen != BIT(EXANET_DIMS) - 1 || (buf[i] && !sysfs_streq(buf + i, "")))
		return -EINVAL;
	exanet_hw_tune_write(&exanet_from_dev(dev)->hw, EXANET_SW_OFFSET(ORDER),
			     false, order);
	return count;
}
static DEVICE_ATTR_RW(order);

static struct attribute *exanet_switch_attrs[] = {
	&dev_attr_dims.attr,
	&dev_attr_order.attr,
	&exanet_sw_mode.attr.attr,
	&exanet_sw_flow.attr.attr,
	&exanet_sw_flow_target.attr.attr,
	&exanet_sw_flow_window_ns.attr.attr,
	&exanet_sw_local0.attr.attr,
	&exanet_sw_local1.attr.attr,
	&exanet_sw_local2.attr.attr,
	&exanet_sw_local3.attr.attr,
	&exanet_sw_local_out.attr.attr,
	&exanet_sw_transit.attr.attr,
	&exanet_sw_flows.attr.attr,
	&exanet_sw_flows_paced.attr.attr,
	NULL
};

const struct attribute_group exanet_switch_group = {
	.name = "switch",
	.attrs = exanet_switch_attrs,
};

/* --- memory of other nodes ------------------------------------------------ */

#define EXANET_SHM_OFFSET(name)	(EXANET_SHM + EXANET_REG_SHM_##name)

static const char * const exanet_shm_timeout_modes[] = {
	[EXANET_SHM_TIMEOUT_STATIC] = "static",
	[EXANET_SHM_TIMEOUT_DYNAMIC] = "dynamic",
};

EXANET_TUNE_RO(shm_aperture, aperture, EXANET_SHM_OFFSET(APERTURE), true,
	       EXANET_ALL64);
EXANET_TUNE_RO(shm_bram, bram, EXANET_SHM_OFFSET(BRAM), true, EXANET_ALL64);
EXANET_TUNE_RW(shm_timeout_cycles, timeout_cycles, EXANET_SHM_OFFSET(TIMEOUT),
	       false, EXANET_ALL32, 1, U32_MAX);
EXANET_TUNE_WORDS(shm_timeout_mode, timeout_mode,
		  EXANET_SHM_OFFSET(TIMEOUT_MODE), EXANET_ALL32,
		  exanet_shm_timeout_modes);
EXANET_TUNE_RW(shm_retry_max, retry_max, EXANET_SHM_OFFSET(RETRY_MAX), false,
	       EXANET_ALL32, 0, 0xffff);

#define EXANET_TUNE_SHM_CTRL(_name, _bit)				\
	EXANET_TUNE_RW(shm_##_name, _name, EXANET_SHM_OFFSET(CTRL), false, \
		       EXANET_SHM_CTRL_##_bit, 0, 1)

EXANET_TUNE_SHM_CTRL(early_ack, EARLY);
EXANET_TUNE_SHM_CTRL(raw, RAW);
EXANET_TUNE_SHM_CTRL(waw, WAW);
EXANET_TUNE_SHM_CTRL(in_order, ORDER);
EXANET_TUNE_SHM_CTRL(priority, PRIORITY);
EXANET_TUNE_SHM_CTRL(reliable, RELIABLE);

static ssize_t segments_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%u\n", EXANET_SHM_MAPS);
}
static DEVICE_ATTR_RO(segments);

static ssize_t segments_used_show(struct device *dev,
				  struct device_attribute *attr, char *buf)
{
	struct exanet_device *xdev = exanet_from_dev(dev);
	unsigned int n;

	mutex_lock(&xdev->lock);
	n = exanet_segments_used(xdev);
	mutex_unlock(&xdev->lock);
	return sysfs_emit(buf, "%u\n", n);
}
static DEVICE_ATTR_RO(segments_used);

static struct attribute *exanet_shm_attrs[] = {
	&exanet_shm_aperture.attr.attr,
	&exanet_shm_bram.attr.attr,
	&dev_attr_segments.attr,
	&dev_attr_segments_used.attr,
	&exanet_shm_timeout_cycles.attr.attr,
	&exanet_shm_timeout_mode.attr.attr,
	&exanet_shm_retry_max.attr.attr,
	&exanet_shm_early_ack.attr.attr,
	&exanet_shm_raw.attr.attr,
	&exanet_shm_waw.attr.attr,
	&exanet_shm_in_order.attr.attr,
	&exanet_shm_priority.attr.attr,
	&exanet_shm_reliable.attr.attr,
	NULL
};

const struct attribute_group exanet_shm_group = {
	.name = "shm",
	.attrs = exanet_shm_attrs,
};
