/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ExaNet: /sys/class/exanet/exanetN/quota, .../firmware, .../switch and .../shm
 */
#ifndef EXANET_SYSFS_TUNE_H
#define EXANET_SYSFS_TUNE_H

#include <linux/sysfs.h>

extern const struct attribute_group exanet_quota_group;
extern const struct attribute_group exanet_fw_group;
extern const struct attribute_group exanet_switch_group;
extern const struct attribute_group exanet_shm_group;

#endif /* EXANET_SYSFS_TUNE_H */
